//! Syncs between the writes of a loop: a slot each, beside whose time the rest of the loop is nothing.

use fathom_plan::{SyncEvery, SyncKind};

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
