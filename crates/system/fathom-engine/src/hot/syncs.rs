//! Syncs between the writes of a loop: a slot each, beside whose time the rest of the loop is nothing.

use std::io;

use fathom_plan::{Op, SyncEvery, SyncKind};

use super::{Hot, Slot};
use crate::backend::Backend;
use crate::tally::SYNC;

impl Hot {
    /// Starts the syncs that are due, as far as slots are free: each takes one, as fio's does.
    #[cold]
    pub(super) fn start_syncs<B: Backend, const OPEN: bool>(&mut self, backend: &mut B, now: u64) {
        while self.syncs_due() > 0
            && let Some(slot) = self.state.free.pop()
        {
            let free = &mut self.state.slots[slot as usize];
            let since_ns = if OPEN { now } else { free.since_ns };
            *free = Slot { since_ns, submitted_ns: 0, intended_ns: now, offset: 0, len: 0, op: SYNC as u8 };
            let state = &mut self.state;
            state.syncs += 1;
            state.outcome.submitted_ios += 1;
            state.in_flight += 1;
            state.outcome.in_flight_max = state.outcome.in_flight_max.max(state.in_flight);
            self.push_sync(backend, slot);
        }
    }

    /// The sync at the end of a loop that ran out of blocks: its time belongs to the window. When it was done.
    #[cold]
    pub(super) fn sync_in_window<B: Backend, const OPEN: bool>(
        &mut self,
        backend: &mut B,
        began_ns: u64,
    ) -> io::Result<u64> {
        let mut before = began_ns;
        loop {
            let is_done = self.sync_at_end(backend)?;
            let now = self.clock.now();
            if now >= self.state.next_mark_ns.min(self.shared.deadline_ns()) {
                self.cross_mark::<OPEN>(before, now, backend.submit_calls());
            } else {
                self.state.advance::<OPEN>(now - before);
            }
            before = now;
            if is_done {
                return Ok(now);
            }
        }
    }

    /// Makes what was written durable, with nothing else in flight: no sync of the record. False: it was interrupted before
    /// it did anything.
    #[cold]
    pub(super) fn sync_at_end<B: Backend>(&mut self, backend: &mut B) -> io::Result<bool> {
        // Nothing is in flight: any slot is free.
        backend.push_sync(0, SyncKind::Fsync);
        let mut answer = None;
        while answer.is_none() {
            backend.submit_and_wait(1, None)?;
            backend.reap(|_, result| answer = Some(result));
        }
        let result = answer.unwrap_or(0);
        if result == -libc::EINTR || result == -libc::EAGAIN {
            return Ok(false);
        }
        if result < 0 {
            self.state.failures.add(Op::Sync, -result, 0);
        }
        Ok(true)
    }

    pub(super) fn push_sync<B: Backend>(&self, backend: &mut B, slot: u32) {
        let sync = self.limits.sync.map_or(SyncKind::Fsync, |sync| sync.kind);
        backend.push_sync(slot, sync);
    }

    /// Syncs that completed writes ask for and that were not started yet.
    #[cold]
    pub(super) fn syncs_due(&self) -> u64 {
        let asked = |sync: SyncEvery| self.state.writes / u64::from(sync.writes);
        self.limits.sync.map_or(0, asked) - self.state.syncs
    }
}
