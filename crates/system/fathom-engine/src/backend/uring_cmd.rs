//! io_uring_cmd: NVMe commands handed to the driver through the namespace's character device, past the block layer.

use std::io;

use fathom_message::msg;
use fathom_nvme::Status;
use fathom_plan::{EngineSpec, Mode, Op, SyncKind};
use fathom_record::{FeatureUse, StepFailure};
use io_uring::{cqueue, opcode, squeue};

use super::first_read::read_once;
use super::ring::{Ring, mode_on_target, no_poll_queues};
use super::{Backend, Io, NVME_STATUS, SubmitStamp, Unready, refused};
use crate::buffer::Area;
use crate::rig::Rig;
use crate::target::{Namespace, Target, engine_on_target};
use crate::worker::Part;

/// `NVME_URING_CMD_IO`, linux/nvme_ioctl.h: _IOWR('N', 0x80, struct nvme_uring_cmd).
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;
/// `IORING_URING_CMD_FIXED`, linux/io_uring.h.
const URING_CMD_FIXED: u32 = 1;
/// Opcodes of the NVM command set.
const NVME_WRITE: u8 = 0x01;
const NVME_FLUSH: u8 = 0x00;
const NVME_READ: u8 = 0x02;

/// `struct io_uring_sqe` of 128 bytes with `struct nvme_uring_cmd` in its second part: what this engine sets of it, the
/// rest stays zero.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
struct RawCommand {
    // struct io_uring_sqe
    opcode: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    command: u32,
    pad: u32,
    address: u64,
    len: u32,
    command_flags: u32,
    user_data: u64,
    buffer_index: u16,
    personality: u16,
    file_index: u32,
    // struct nvme_uring_cmd
    nvme_opcode: u8,
    nvme_flags: u8,
    reserved_1: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    first_block: [u32; 2],
    /// Dword 12: blocks, counted from 0.
    blocks_below: u32,
    dwords_13_15: [u32; 3],
    timeout_ms: u32,
    reserved_2: u32,
    tail: [u32; 2],
}

const _: () = assert!(size_of::<RawCommand>() == 128);
const _: () = assert!(size_of::<RawCommand>() == size_of::<squeue::Entry128>());
const _: () = assert!(std::mem::offset_of!(RawCommand, nvme_opcode) == 48);
const _: () = assert!(std::mem::offset_of!(RawCommand, blocks_below) == 48 + 48);

/// A ring of NVMe commands.
pub(crate) struct UringCmd {
    ring: Ring<squeue::Entry128, cqueue::Entry32>,
    batch: Box<[RawCommand]>,
    batch_len: usize,
    /// Bytes of the I/O in each slot: a completion tells only whether it went well.
    lens: Box<[u32]>,
    /// `[part]`
    namespaces: Box<[Addressing]>,
}

/// How commands address a namespace.
#[derive(Clone, Copy)]
struct Addressing {
    namespace: u32,
    block_shift: u32,
}

impl UringCmd {
    /// A ring for `depth` commands on the targets of `parts` with the buffers of `area`. Must be called by the thread that will use
    /// it.
    ///
    /// # Errors
    /// When a target is no NVMe character device, or the kernel refuses the ring, the mode or the block size.
    pub(crate) fn new(parts: &[Part], depth: u32, spec: EngineSpec, area: &Area) -> Result<Self, StepFailure> {
        let addressing = |Part { target, .. }: &Part| {
            let Some(namespace) = target.namespace else {
                let what = engine_on_target(spec.name, &target.id);
                return Err(refused(what, msg!("engine-no-namespace"), msg!("engine-passthrough-kind-help")));
            };
            refuse_unpolled(target, namespace, spec)?;
            Ok(Addressing { namespace: namespace.id, block_shift: namespace.block_bytes.trailing_zeros() })
        };
        let namespaces = parts.iter().map(addressing).collect::<Result<_, StepFailure>>()?;
        let fds = parts.iter().map(|part| part.target.open()).collect::<Result<_, _>>()?;
        let ring = Ring::new(fds, depth, spec)?;
        let mut commands = UringCmd {
            ring,
            batch: vec![RawCommand::default(); depth as usize].into_boxed_slice(),
            batch_len: 0,
            lens: vec![0; depth as usize].into_boxed_slice(),
            namespaces,
        };
        commands.ring.register(depth, spec, area);
        Ok(commands)
    }

    /// Reads a block of each target, to learn what kernel and drive take. Kernels before 6.1 take passthrough but no registered buffers
    /// with it: then without.
    ///
    /// # Errors
    /// A refusal, or that the step was stopped before the drive answered.
    pub(crate) fn look(
        rig: &mut Rig<UringCmd>,
        parts: &[Part],
        spec: EngineSpec,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Unready> {
        (0..).zip(parts).try_for_each(|(part, of)| UringCmd::look_at(rig, part, &of.target, spec, stopped))
    }

    fn look_at(
        rig: &mut Rig<UringCmd>,
        part: u16,
        target: &Target,
        spec: EngineSpec,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Unready> {
        let len = u32::try_from(rig.area.slot_bytes()).unwrap_or(u32::MAX);
        let at = (part, target.span.first_offset_bytes);
        let mut result = read_once(rig, at, len, spec, stopped)?;
        if result == -libc::EINVAL && rig.backend.ring.slots_per_buffer > 0 {
            rig.backend.ring.forget_buffers(msg!("engine-passthrough-no-buffers"));
            result = read_once(rig, at, len, spec, stopped)?;
        }
        let (why, help) = match -result {
            libc::EOPNOTSUPP if spec.mode == Mode::Iopoll => {
                (msg!("engine-passthrough-no-polling"), msg!("engine-passthrough-no-polling-help"))
            }
            libc::EOPNOTSUPP => (msg!("engine-no-passthrough"), msg!("engine-no-passthrough-help")),
            libc::EACCES | libc::EPERM => (msg!("engine-passthrough-forbidden"), msg!("engine-as-root")),
            // Past the block layer nobody splits a request that is too large for the drive.
            libc::EINVAL => {
                (msg!("engine-passthrough-too-large", bytes = len), msg!("engine-passthrough-too-large-help"))
            }
            _ => return Ok(()),
        };
        Err(refused(mode_on_target(spec, &target.id), why, help).into())
    }

    /// Copies the batch into the ring.
    #[inline(always)]
    fn flush(&mut self) -> io::Result<()> {
        if self.batch_len == 0 {
            return Ok(());
        }
        let batch = self.batch[..self.batch_len].as_ptr().cast::<squeue::Entry128>();
        // SAFETY: both types are the kernel's 128-byte entry (`repr(C)`, sizes asserted above), and `batch_len` of them
        // were written; buffers and file named by them outlive the I/O (see `Rig`).
        unsafe { self.ring.stage(std::slice::from_raw_parts(batch, self.batch_len)) }?;
        self.batch_len = 0;
        Ok(())
    }
}

/// On a drive without poll queues the kernel takes polled commands all the same and completes them by interrupt.
fn refuse_unpolled(target: &Target, namespace: Namespace, spec: EngineSpec) -> Result<(), StepFailure> {
    if spec.mode != Mode::Iopoll || namespace.can_poll != Some(false) {
        return Ok(());
    }
    Err(no_poll_queues(spec, &target.id))
}

impl Backend for UringCmd {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        let fixed = self.ring.slots_per_buffer > 0;
        let file = self.ring.files[usize::from(io.part)];
        let Addressing { namespace, block_shift } = self.namespaces[usize::from(io.part)];
        let first_block = io.offset >> block_shift;
        self.lens[io.slot as usize] = io.len;
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = opcode::UringCmd80::CODE;
        entry.flags = file.flags;
        entry.fd = file.fd;
        entry.command = NVME_URING_CMD_IO;
        entry.command_flags = if fixed { URING_CMD_FIXED } else { 0 };
        entry.user_data = u64::from(io.slot);
        entry.buffer_index = self.ring.buffer_index(io.slot);
        entry.nvme_opcode = if io.op == Op::Read { NVME_READ } else { NVME_WRITE };
        entry.namespace = namespace;
        entry.data = io.buffer as u64;
        entry.data_bytes = io.len;
        entry.first_block = [first_block as u32, (first_block >> 32) as u32];
        entry.blocks_below = (io.len >> block_shift).wrapping_sub(1);
        self.batch_len += 1;
    }

    /// A Flush names a namespace and nothing else. Reads and writes set all fields that it sets.
    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, _kind: SyncKind) {
        self.lens[slot as usize] = 0;
        let file = self.ring.files[usize::from(part)];
        let namespace = self.namespaces[usize::from(part)].namespace;
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = opcode::UringCmd80::CODE;
        entry.flags = file.flags;
        entry.fd = file.fd;
        entry.command = NVME_URING_CMD_IO;
        entry.user_data = u64::from(slot);
        entry.nvme_opcode = NVME_FLUSH;
        entry.namespace = namespace;
        (entry.data, entry.data_bytes, entry.first_block, entry.blocks_below) = (0, 0, [0, 0], 0);
        (entry.command_flags, entry.buffer_index) = (0, 0);
        self.batch_len += 1;
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.flush()?;
        self.ring.submit()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.flush()?;
        self.ring.submit_and_wait(min, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        let lens = &self.lens;
        self.ring.reap(
            #[inline(always)]
            |entry| {
                let slot = entry.user_data() as u32;
                // 0: done; above: the drive's status; below: the kernel's errno.
                let moved = match entry.result() {
                    0 => lens[slot as usize] as i32,
                    status @ 1.. => -(NVME_STATUS | i32::from(Status::of(status as u16).field())),
                    errno => errno,
                };
                done(slot, moved);
            },
        );
    }

    fn in_flight(&self) -> u32 {
        self.ring.in_flight()
    }

    fn discard(&mut self) {
        self.batch_len = 0;
        self.ring.discard();
    }

    fn poll(&mut self) -> io::Result<()> {
        self.ring.poll()
    }

    fn submit_calls(&self) -> u64 {
        self.ring.calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.ring.features.clone()
    }
}
