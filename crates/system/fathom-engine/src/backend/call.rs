//! Engines whose one call is the whole I/O: it is done when `push` returns.

use std::io;

use fathom_plan::SyncKind;
use fathom_record::FeatureUse;

use super::{Backend, Io, SubmitStamp};

/// The call.
pub(crate) trait Call {
    /// Does the I/O; bytes moved, or a negative errno.
    fn call(&mut self, io: &Io) -> i32;

    /// Makes what was written to a target durable; 0, or a negative errno.
    fn sync(&mut self, part: u16, kind: SyncKind) -> i32;

    /// What was asked of the kernel and whether it is in force.
    fn features(&self) -> Vec<FeatureUse>;
}

/// An engine of one I/O in flight, made of its call.
pub(crate) struct Synchronous<C> {
    call: C,
    done: Option<(u32, i32)>,
    calls: u64,
}

impl<C: Call> Synchronous<C> {
    /// Does I/O by `call`.
    pub(crate) fn new(call: C) -> Self {
        Synchronous { call, done: None, calls: 0 }
    }
}

impl<C: Call> Backend for Synchronous<C> {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Never;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        debug_assert!(self.done.is_none(), "a synchronous engine has one I/O in flight");
        self.calls += 1;
        self.done = Some((io.slot, self.call.call(io)));
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind) {
        debug_assert!(self.done.is_none(), "a synchronous engine has one I/O in flight");
        self.calls += 1;
        self.done = Some((slot, self.call.sync(part, kind)));
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, _min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        if let Some((slot, result)) = self.done.take() {
            done(slot, result);
        }
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn discard(&mut self) {}

    fn poll(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.call.features()
    }
}
