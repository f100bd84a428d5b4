//! io_uring: batches both ways, one system call to submit and wait, everything registered that can be.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use fathom_host::TargetKind;
use fathom_message::msg;
use fathom_plan::{EngineSpec, Mode, Op, SyncKind};
use fathom_record::{FeatureName, FeatureUse, StepFailure};
use io_uring::{cqueue, opcode, squeue};

use super::first_read::{read_once, submission};
use super::ring::{Ring, no_poll_queues, setup_refused};
use super::{Backend, Io, Mark, SubmitStamp, Unready, no_detail, os_words};
use crate::buffer::Area;
use crate::rig::Rig;
use crate::worker::Part;

/// `struct io_uring_sqe`, linux/io_uring.h: what this engine sets of it, the rest stays zero.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
struct RawEntry {
    opcode: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    len: u32,
    rw_flags: u32,
    user_data: u64,
    buffer_index: u16,
    personality: u16,
    file_index: u32,
    /// Where `offset` holds the command: its second address, of a discard how many bytes.
    address3: u64,
    rest: u64,
}

/// linux/io_uring.h
const IORING_FSYNC_DATASYNC: u32 = 1;
/// linux/blkdev.h, since Linux 6.12: `_IO(0x12, 0)`.
const BLOCK_URING_CMD_DISCARD: u64 = 0x12 << 8;

const _: () = assert!(size_of::<RawEntry>() == 64);
const _: () = assert!(size_of::<RawEntry>() == size_of::<squeue::Entry>());

/// A ring of reads and writes.
pub(crate) struct Uring {
    pub(super) ring: Ring<squeue::Entry, cqueue::Entry>,
    /// Entries of the batch, written field by field here and copied into the ring together: copying one right after
    /// writing it would stall the CPU, whose wide loads cannot be served from narrow stores still under way.
    batch: Box<[RawEntry]>,
    batch_len: usize,
    /// `[part]`: whether the ring trims it; empty: none is trimmed.
    trims: Box<[bool]>,
}

impl Uring {
    /// A ring for `depth` I/Os on `fds` with the buffers of `area`. Must be called by the thread that will use it.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the mode; a refused registration only becomes a row of `features`.
    pub(crate) fn new(fds: Vec<OwnedFd>, depth: u32, spec: EngineSpec, area: &Area) -> Result<Self, StepFailure> {
        let mut uring = Uring::bare(fds, depth, spec)?;
        uring.ring.register(depth, spec, area);
        Ok(uring)
    }

    pub(super) fn bare(fds: Vec<OwnedFd>, depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        let ring = Ring::new(fds, depth, spec)?;
        let batch = vec![RawEntry::default(); depth as usize].into_boxed_slice();
        Ok(Uring { ring, batch, batch_len: 0, trims: Box::default() })
    }

    /// Gives up registered buffers, if there are any: kernels (6.12 and 6.18 seen) answer atomic writes from them with EINVAL.
    pub(crate) fn write_atomically(&mut self) {
        if self.ring.slots_per_buffer > 0 {
            self.ring.forget_buffers(msg!("engine-atomic-no-buffers"));
        }
    }

    /// Reads a block of each target: refuses polling where the device cannot, and learns how the thread's I/O gets there.
    ///
    /// # Errors
    /// A refusal, or that the step was stopped before a device answered.
    pub(crate) fn look(
        rig: &mut Rig<Uring>,
        parts: &[Part],
        spec: EngineSpec,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Unready> {
        let len = u32::try_from(rig.area.slot_bytes()).unwrap_or(u32::MAX);
        let mut submissions = Vec::new();
        for (part, Part { target, .. }) in (0..).zip(parts) {
            let at = (part, target.span.first_offset_bytes);
            let result = read_once(rig, at, len, spec, stopped)?;
            if spec.mode == Mode::Iopoll && result == -libc::EOPNOTSUPP {
                return Err(no_poll_queues(spec, &target.id).into());
            }
            // Buffered I/O is copied by the thread or by a worker as the page cache has it. A polling thread of the kernel
            // has workers of its own.
            if target.is_direct() && spec.mode != Mode::Sqpoll {
                submissions.push(submission(rig, part, target.span, spec, stopped)?);
            }
        }
        // Targets of one step are all direct or none is.
        if !submissions.is_empty() {
            rig.backend.ring.note_submission(&submissions);
        }
        Ok(())
    }

    /// Learns which parts the kernel discards blocks of beside the thread: of devices, where neither it nor the mode is too old.
    ///
    /// # Errors
    /// As [`Uring::look`].
    pub(crate) fn look_at_trims(
        rig: &mut Rig<Uring>,
        parts: &[Part],
        spec: EngineSpec,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Unready> {
        let mut trims = Vec::new();
        let mut refusal = None;
        for (part, Part { target, .. }) in (0..).zip(parts) {
            // A file's blocks are punched out by a call, and a polling ring takes no commands to a block device.
            if target.kind != TargetKind::Block || spec.mode == Mode::Iopoll {
                trims.push(false);
                continue;
            }
            let result = if rig.backend.ring.knows(opcode::UringCmd16::CODE) {
                // No block at all: refused as such by a kernel that knows the command, and nothing is discarded.
                rig.backend.stage_trim(0, part, 0, 0);
                let answer = rig.answer(stopped).map_err(|error| setup_refused(&error, spec, 1))?;
                answer.ok_or(Unready::Stopped)?
            } else {
                -libc::EOPNOTSUPP
            };
            trims.push(result == -libc::EINVAL);
            refusal = refusal.or((result != -libc::EINVAL).then(|| io::Error::from_raw_os_error(-result)));
        }
        if trims.contains(&true) || refusal.is_some() {
            let outcome = refusal.map_or(Ok(no_detail()), |error| Err(os_words(&error)));
            rig.backend.ring.note(FeatureName::AsyncTrim, outcome);
        } else {
            rig.backend.ring.note_not_asked(FeatureName::AsyncTrim);
        }
        rig.backend.trims = trims.into_boxed_slice();
        Ok(())
    }

    /// Puts the entry of a discard into the ring. The upper half of its user data holds its length, which no completion tells.
    fn stage_trim(&mut self, slot: u32, part: u16, offset: u64, len: u32) {
        let file = self.ring.files[usize::from(part)];
        self.stage_apart(RawEntry {
            opcode: opcode::UringCmd16::CODE,
            flags: file.flags,
            fd: file.fd,
            offset: BLOCK_URING_CMD_DISCARD,
            address: offset,
            address3: u64::from(len),
            user_data: u64::from(slot) | u64::from(len) << 32,
            ..RawEntry::default()
        });
    }

    /// Puts an entry that is no read or write into the ring and takes it out of the batch again: reads and writes leave fields
    /// of its entries as they are, and the kernel refuses others that name a buffer.
    fn stage_apart(&mut self, entry: RawEntry) {
        let at = self.batch_len;
        let plain = self.batch[at];
        self.batch[at] = entry;
        self.batch_len += 1;
        // Where the ring does not take it, it stays in the batch, and the next submission says why.
        if self.flush().is_ok() {
            self.batch[at] = plain;
        }
    }

    /// The descriptor that the I/O on a part names.
    pub(super) fn target(&self, part: u16) -> BorrowedFd<'_> {
        self.ring.target(part)
    }

    /// Writes the entry of `io` into the batch.
    #[inline(always)]
    fn stage(&mut self, io: &Io) {
        let fixed = self.ring.slots_per_buffer > 0;
        let buffer_index = self.ring.buffer_index(io.slot);
        let file = self.ring.files[usize::from(io.part)];
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = match (fixed, io.op == Op::Read) {
            (true, true) => opcode::ReadFixed::CODE,
            (true, false) => opcode::WriteFixed::CODE,
            (false, true) => opcode::Read::CODE,
            (false, false) => opcode::Write::CODE,
        };
        entry.flags = file.flags;
        entry.fd = file.fd;
        entry.offset = io.offset;
        entry.address = io.buffer as u64;
        entry.len = io.len;
        entry.user_data = u64::from(io.slot);
        entry.buffer_index = buffer_index;
        self.batch_len += 1;
    }

    /// Writes the entry of a NOP into the batch.
    #[cfg(feature = "bench")]
    #[inline(always)]
    pub(super) fn stage_nop(&mut self, user_data: u64) {
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = opcode::Nop::CODE;
        entry.user_data = user_data;
        self.batch_len += 1;
    }

    /// Copies the batch into the ring.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.batch_len == 0 {
            return Ok(());
        }
        let batch = self.batch[..self.batch_len].as_ptr().cast::<squeue::Entry>();
        // SAFETY: both types are the kernel's 64-byte entry (`repr(C)`, sizes asserted above), and `batch_len` of them
        // were written; buffers and file named by them outlive the I/O (see `Rig`).
        unsafe { self.ring.stage(std::slice::from_raw_parts(batch, self.batch_len)) }?;
        self.batch_len = 0;
        Ok(())
    }
}

impl Backend for Uring {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        self.stage(io);
    }

    #[inline(always)]
    fn mark(&mut self, _slot: u32, mark: Mark) {
        let entry = &mut self.batch[self.batch_len];
        (entry.priority, entry.rw_flags) = (mark.priority, mark.flags);
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind) {
        let rw_flags = match kind {
            SyncKind::Fsync => 0,
            SyncKind::Fdatasync => IORING_FSYNC_DATASYNC,
        };
        let file = self.ring.files[usize::from(part)];
        self.stage_apart(RawEntry {
            opcode: opcode::Fsync::CODE,
            flags: file.flags,
            fd: file.fd,
            user_data: u64::from(slot),
            rw_flags,
            ..RawEntry::default()
        });
    }

    #[inline(always)]
    fn takes_trims(&self, part: u16) -> bool {
        self.trims.get(usize::from(part)).is_some_and(|takes| *takes)
    }

    fn push_trim(&mut self, io: &Io) {
        self.stage_trim(io.slot, io.part, io.offset, io.len);
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
        self.ring.reap(
            #[inline(always)]
            |entry| {
                let (data, result) = (entry.user_data(), entry.result());
                // What is no trim has nothing in the upper half.
                done(data as u32, if result == 0 { (data >> 32) as i32 } else { result });
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

#[cfg(test)]
mod tests;
