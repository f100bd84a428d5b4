//! A ring of NOPs: what io_uring itself costs.

use crate::system::OwnedFd;
use std::io;

use fathom_message::msg;
use fathom_plan::EngineSpec;
use fathom_record::{FeatureUse, StepFailure};
use io_uring::squeue;

use super::uring::Uring;
use super::{Backend, Io, SubmitStamp, no_detail};

/// The ring.
pub(crate) struct NopRing(Uring);

impl NopRing {
    /// A ring for `depth` NOPs.
    ///
    /// # Errors
    /// When the kernel refuses the ring.
    pub(crate) fn new(depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        // NOPs touch no file, but the ring's owner wants one.
        let fd = std::fs::File::open("/dev/null")
            .map_err(|error| StepFailure::failed(msg!("engine-nop-bench"), &error, no_detail()))?;
        let uring = Uring::bare(vec![OwnedFd::from(fd)], depth, spec)?;
        Ok(NopRing(uring))
    }

    /// Stages one entry.
    ///
    /// # Errors
    /// When the queue is full.
    #[inline(always)]
    pub(crate) fn push_entry(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: only NOPs come this way; they name neither a buffer nor a file.
        unsafe { self.0.ring.stage(std::slice::from_ref(entry)) }
    }

    /// Submits what is staged and waits for `min` completions.
    ///
    /// # Errors
    /// When the kernel refuses the call.
    #[inline(always)]
    pub(crate) fn submit_and_wait_for(&mut self, min: u32) -> io::Result<()> {
        self.0.flush()?;
        self.0.ring.enter(min, true, None)
    }

    /// Reaps and counts.
    #[inline(always)]
    pub(crate) fn count_done(&mut self) -> u32 {
        let mut count = 0;
        self.0.ring.reap(|_| count += 1);
        count
    }
}

impl Backend for NopRing {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        // The slot and the length come back: a NOP's own result is 0.
        self.0.stage_nop(u64::from(io.slot) | u64::from(io.len) << 32);
    }

    fn push_sync(&mut self, _slot: u32, _part: u16, _kind: fathom_plan::SyncKind) {
        unreachable!("NOPs are benched without syncs");
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
        self.0.ring.reap(
            #[inline(always)]
            |entry| {
                let tag = entry.user_data();
                done(tag as u32, if entry.result() < 0 { entry.result() } else { (tag >> 32) as i32 });
            },
        );
    }

    fn in_flight(&self) -> u32 {
        self.0.in_flight()
    }

    fn discard(&mut self) {
        self.0.discard();
    }

    fn poll(&mut self) -> io::Result<()> {
        self.0.poll()
    }

    fn submit_calls(&self) -> u64 {
        self.0.submit_calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.0.features()
    }
}
