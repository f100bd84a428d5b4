//! io_uring_cmd: NVMe commands handed to the driver through the namespace's character device, past the block layer.

use std::io;

use fathom_nvme::Status;
use fathom_plan::{EngineSpec, Mode, Op};
use fathom_record::{FeatureUse, StepFailure};
use io_uring::{cqueue, opcode, squeue};

use super::ring::{Ring, setup_refused};
use super::{Backend, Io, NVME_STATUS, SubmitStamp, refused};
use crate::buffer::Area;
use crate::target::{Namespace, Target};

/// `NVME_URING_CMD_IO`, linux/nvme_ioctl.h: _IOWR('N', 0x80, struct nvme_uring_cmd).
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;
/// `IORING_URING_CMD_FIXED`, linux/io_uring.h.
const URING_CMD_FIXED: u32 = 1;
/// Opcodes of the NVM command set.
const NVME_WRITE: u8 = 0x01;
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
    namespace: u32,
    block_shift: u32,
}

impl UringCmd {
    /// A ring for `depth` commands on `target` with the buffers of `area`. Must be called by the thread that will use
    /// it. Reads one block, to learn what kernel and drive take.
    ///
    /// # Errors
    /// When the target is no NVMe character device, or the kernel refuses the ring, the mode or the block size.
    pub(crate) fn new(target: &Target, depth: u32, spec: EngineSpec, area: &Area) -> Result<Self, StepFailure> {
        let Some(namespace) = target.namespace else {
            return Err(refused(
                format!("engine io_uring_cmd on {}", target.path),
                "it is no character device of an NVMe namespace",
                "name one (/dev/ng0n1), or use `--engine io_uring`",
            ));
        };
        refuse_unpolled(target, namespace, spec)?;
        let ring = Ring::new(target.open()?, depth, spec)?;
        let mut commands = UringCmd {
            ring,
            batch: vec![RawCommand::default(); depth as usize].into_boxed_slice(),
            batch_len: 0,
            lens: vec![0; depth as usize].into_boxed_slice(),
            namespace: namespace.id,
            block_shift: namespace.block_bytes.trailing_zeros(),
        };
        commands.ring.register(depth, spec, area);
        commands.probe(target, spec, area)?;
        Ok(commands)
    }

    fn read_once(&mut self, target: &Target, spec: EngineSpec, area: &Area) -> Result<i32, StepFailure> {
        let len = u32::try_from(area.slot_bytes()).unwrap_or(u32::MAX);
        let offset = target.span.first_offset_bytes;
        self.push(&Io { slot: 0, op: Op::Read, len, offset, buffer: area.slot(0) });
        let mut result = None;
        while result.is_none() {
            self.submit_and_wait(1, None).map_err(|e| setup_refused(&e, spec, 1))?;
            self.reap(|_, moved| result = Some(moved));
        }
        Ok(result.unwrap_or(0))
    }

    /// Reads one block. Kernels before 6.1 take passthrough but no registered buffers with it: then without.
    fn probe(&mut self, target: &Target, spec: EngineSpec, area: &Area) -> Result<(), StepFailure> {
        let mut result = self.read_once(target, spec, area)?;
        if result == -libc::EINVAL && self.ring.slots_per_buffer > 0 {
            self.ring.forget_buffers("this kernel takes no registered buffers for passthrough");
            result = self.read_once(target, spec, area)?;
        }
        let what = format!("engine io_uring_cmd, mode {}, on {}", spec.mode.as_str(), target.path);
        match -result {
            libc::EOPNOTSUPP if spec.mode == Mode::Iopoll => Err(refused(
                what,
                "this kernel cannot poll for passthrough commands (it can from 6.1 on)",
                "use `--mode interrupt`, or a newer kernel",
            )),
            libc::EOPNOTSUPP => Err(refused(
                what,
                "this kernel has no passthrough by io_uring (it came with 5.19)",
                "use `--engine io_uring` on the block device",
            )),
            libc::EACCES | libc::EPERM => {
                Err(refused(what, "the kernel lets this user pass no commands to the drive", "run as root"))
            }
            // Past the block layer nobody splits a request that is too large for the drive.
            libc::EINVAL => Err(refused(
                what,
                format!("the kernel refuses a command of {} bytes: passthrough splits nothing", area.slot_bytes()),
                "use a smaller block size (the drive's limit is queue/max_hw_sectors_kb of its block device)",
            )),
            _ => Ok(()),
        }
    }

    /// Copies the batch into the ring.
    #[inline(always)]
    fn flush(&mut self) {
        if self.batch_len == 0 {
            return;
        }
        let batch = self.batch[..self.batch_len].as_ptr().cast::<squeue::Entry128>();
        // SAFETY: both types are the kernel's 128-byte entry (`repr(C)`, sizes asserted above), and `batch_len` of them
        // were written; buffers and file named by them outlive the I/O (see `Backend::push` and the field order of
        // `Ring`).
        unsafe { self.ring.stage(std::slice::from_raw_parts(batch, self.batch_len)) };
        self.batch_len = 0;
    }
}

/// On a drive without poll queues the kernel takes polled commands all the same and completes them by interrupt.
fn refuse_unpolled(target: &Target, namespace: Namespace, spec: EngineSpec) -> Result<(), StepFailure> {
    if spec.mode != Mode::Iopoll || namespace.can_poll != Some(false) {
        return Ok(());
    }
    Err(refused(
        format!("mode iopoll on {}", target.path),
        "the device has no poll queues",
        "load the driver with some (`nvme.poll_queues=4` on the kernel command line), or use `--mode interrupt`",
    ))
}

impl Backend for UringCmd {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        let fixed = self.ring.slots_per_buffer > 0;
        let first_block = io.offset >> self.block_shift;
        self.lens[io.slot as usize] = io.len;
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = opcode::UringCmd80::CODE;
        entry.flags = self.ring.entry_flags;
        entry.fd = self.ring.entry_fd;
        entry.command = NVME_URING_CMD_IO;
        entry.command_flags = if fixed { URING_CMD_FIXED } else { 0 };
        entry.user_data = u64::from(io.slot);
        entry.buffer_index = self.ring.buffer_index(io.slot);
        entry.nvme_opcode = if io.op == Op::Read { NVME_READ } else { NVME_WRITE };
        entry.namespace = self.namespace;
        entry.data = io.buffer as u64;
        entry.data_bytes = io.len;
        entry.first_block = [first_block as u32, (first_block >> 32) as u32];
        entry.blocks_below = (io.len >> self.block_shift).wrapping_sub(1);
        self.batch_len += 1;
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.flush();
        self.ring.submit()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.flush();
        self.ring.submit_and_wait(min, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for entry in self.ring.completions() {
            let slot = entry.user_data() as u32;
            // 0: done; above: the drive's status; below: the kernel's errno.
            let moved = match entry.result() {
                0 => self.lens[slot as usize] as i32,
                status @ 1.. => -(NVME_STATUS | i32::from(Status::of(status as u16).field())),
                errno => errno,
            };
            done(slot, moved);
        }
    }

    fn submit_calls(&self) -> u64 {
        self.ring.calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.ring.features.clone()
    }
}
