//! The engine that does nothing: what remains is the cost of the loop.

use std::io;

use fathom_plan::SyncKind;
use fathom_record::FeatureUse;

use super::{Backend, Io, SubmitStamp};

/// Completes every I/O at the next `reap`.
pub(crate) struct Null {
    pending: Vec<(u32, u32)>,
    calls: u64,
}

impl Null {
    /// Room for `queue_depth` I/Os.
    pub(crate) fn new(queue_depth: u32) -> Self {
        Null { pending: Vec::with_capacity(queue_depth as usize), calls: 0 }
    }
}

impl Backend for Null {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        self.pending.push((io.slot, io.len));
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, _part: u16, _kind: SyncKind) {
        self.pending.push((slot, 0));
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.calls += 1;
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, _min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for &(slot, len) in &self.pending {
            done(slot, len as i32);
        }
        self.pending.clear();
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn discard(&mut self) {
        self.pending.clear();
    }

    fn poll(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}
