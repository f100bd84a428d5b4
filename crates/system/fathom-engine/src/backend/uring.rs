//! io_uring: batches both ways, one system call to submit and wait, everything registered that can be.

use std::io;
use std::os::fd::OwnedFd;

use fathom_plan::{EngineSpec, Mode, Op};
use fathom_record::{FeatureUse, StepFailure};
use io_uring::{cqueue, opcode, squeue};

use super::ring::{Ring, setup_refused};
use super::{Backend, Io, SubmitStamp, refused};
use crate::buffer::Area;
use crate::target::Target;

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
    rest: [u16; 11],
}

const _: () = assert!(size_of::<RawEntry>() == 64);
const _: () = assert!(size_of::<RawEntry>() == size_of::<squeue::Entry>());

/// A ring of reads and writes.
pub(crate) struct Uring {
    ring: Ring<squeue::Entry, cqueue::Entry>,
    /// Entries of the batch, written field by field here and copied into the ring together: copying one right after
    /// writing it would stall the CPU, whose wide loads cannot be served from narrow stores still under way.
    batch: Box<[RawEntry]>,
    batch_len: usize,
}

impl Uring {
    /// A ring for `depth` I/Os on `target` with the buffers of `area`. Must be called by the thread that will use it.
    /// Reads one block, to learn how the kernel carries the I/O out.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the mode; a refused registration only becomes a row of `features`.
    pub(crate) fn new(target: &Target, depth: u32, spec: EngineSpec, area: &Area) -> Result<Self, StepFailure> {
        let mut uring = Uring::bare(target.open()?, depth, spec)?;
        uring.ring.register(depth, spec, area);
        uring.probe(target, spec, area)?;
        Ok(uring)
    }

    fn bare(fd: OwnedFd, depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        let ring = Ring::new(fd, depth, spec)?;
        Ok(Uring { ring, batch: vec![RawEntry::default(); depth as usize].into_boxed_slice(), batch_len: 0 })
    }

    /// Reads one block: refuses polling where the device cannot, and notices when the kernel hands I/O to a worker
    /// thread because the device cannot be submitted to without blocking.
    fn probe(&mut self, target: &Target, spec: EngineSpec, area: &Area) -> Result<(), StepFailure> {
        let len = u32::try_from(area.slot_bytes()).unwrap_or(u32::MAX);
        let offset = target.span.first_offset_bytes;
        self.push(&Io { slot: 0, op: Op::Read, len, offset, buffer: area.slot(0) });
        let mut result = None;
        while result.is_none() {
            let waited = self.submit_and_wait(1, None);
            waited.map_err(|e| setup_refused(&e, spec, 1))?;
            self.reap(|_, moved| result = Some(moved));
        }
        if spec.mode == Mode::Iopoll && result == Some(-libc::EOPNOTSUPP) {
            return Err(refused(
                format!("mode iopoll on {}", target.path),
                "the device has no poll queues",
                "load the driver with some (for NVMe: `nvme.poll_queues=4` on the kernel command line), or use \
                 `--mode interrupt`",
            ));
        }
        if spec.mode != Mode::Sqpoll {
            self.ring.note_worker();
        }
        Ok(())
    }

    /// Writes the entry of `io` into the batch.
    #[inline(always)]
    fn stage(&mut self, io: &Io) {
        let fixed = self.ring.slots_per_buffer > 0;
        let buffer_index = self.ring.buffer_index(io.slot);
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = match (fixed, io.op == Op::Read) {
            (true, true) => opcode::ReadFixed::CODE,
            (true, false) => opcode::WriteFixed::CODE,
            (false, true) => opcode::Read::CODE,
            (false, false) => opcode::Write::CODE,
        };
        entry.flags = self.ring.entry_flags;
        entry.fd = self.ring.entry_fd;
        entry.offset = io.offset;
        entry.address = io.buffer as u64;
        entry.len = io.len;
        entry.user_data = u64::from(io.slot);
        entry.buffer_index = buffer_index;
        self.batch_len += 1;
    }

    /// Copies the batch into the ring.
    #[inline(always)]
    fn flush(&mut self) {
        if self.batch_len == 0 {
            return;
        }
        let batch = self.batch[..self.batch_len].as_ptr().cast::<squeue::Entry>();
        // SAFETY: both types are the kernel's 64-byte entry (`repr(C)`, sizes asserted above), and `batch_len` of them
        // were written; buffers and file named by them outlive the I/O (see `Backend::push` and the field order of
        // `Ring`).
        unsafe { self.ring.stage(std::slice::from_raw_parts(batch, self.batch_len)) };
        self.batch_len = 0;
    }
}

impl Backend for Uring {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        self.stage(io);
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
            done(entry.user_data() as u32, entry.result());
        }
    }

    fn submit_calls(&self) -> u64 {
        self.ring.calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.ring.features.clone()
    }
}

/// A ring of NOPs: what io_uring itself costs.
pub(crate) struct NopRing(Uring);

impl NopRing {
    /// A ring for `depth` NOPs.
    ///
    /// # Errors
    /// When the kernel refuses the ring.
    pub(crate) fn new(depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        // NOPs touch no file, but the ring's owner wants one.
        let fd = std::fs::File::open("/dev/null").map_err(|e| refused("NOP bench", e.to_string(), ""))?;
        let uring = Uring::bare(OwnedFd::from(fd), depth, spec)?;
        Ok(NopRing(uring))
    }

    /// Stages one entry.
    #[inline(always)]
    pub(crate) fn push_entry(&mut self, entry: &squeue::Entry) {
        // SAFETY: only NOPs come this way; they name neither a buffer nor a file.
        unsafe { self.0.ring.stage(std::slice::from_ref(entry)) };
    }

    /// Submits what is staged and waits for `min` completions.
    ///
    /// # Errors
    /// When the kernel refuses the call.
    #[inline(always)]
    pub(crate) fn submit_and_wait_for(&mut self, min: u32) -> io::Result<()> {
        self.0.flush();
        self.0.ring.enter(min, true, None)
    }

    /// Reaps and counts.
    #[inline(always)]
    pub(crate) fn count_done(&mut self) -> u32 {
        self.0.ring.completions().map(|_| 1).sum()
    }
}

impl Backend for NopRing {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        // The slot and the length come back: a NOP's own result is 0.
        let tag = u64::from(io.slot) | u64::from(io.len) << 32;
        let entry = &mut self.0.batch[self.0.batch_len];
        entry.opcode = opcode::Nop::CODE;
        entry.user_data = tag;
        self.0.batch_len += 1;
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.0.submit()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.0.submit_and_wait(min, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for entry in self.0.ring.completions() {
            let tag = entry.user_data();
            done(tag as u32, if entry.result() < 0 { entry.result() } else { (tag >> 32) as i32 });
        }
    }

    fn submit_calls(&self) -> u64 {
        self.0.ring.calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.0.ring.features.clone()
    }
}
