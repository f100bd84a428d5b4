//! Syncs between the writes of a loop: a slot each, beside whose time the rest of the loop is nothing.

use std::io;

use fathom_plan::{Op, SyncEvery, SyncKind};

use super::{Hot, Slot, Variant};
use crate::backend::Backend;
use crate::system::code;
use crate::tally::SYNC;

/// What a target is owed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Syncs {
    /// Completed writes.
    pub(super) writes: u64,
    /// Syncs started.
    started: u64,
}

impl Hot {
    /// Starts the syncs that are due, as far as slots are free: each takes one, as fio's does.
    #[cold]
    pub(super) fn start_syncs<B: Backend, V: Variant>(&mut self, backend: &mut B, now: u64) {
        while let Some(part) = self.part_to_sync()
            && (!self.limits.syncs_stand_between || self.has_next::<V>(now))
            && let Some(slot) = self.state.free.pop_front()
        {
            let free = &mut self.state.slots[slot as usize];
            let begins_ns = if V::OPEN { now } else { free.begins_ns };
            *free = Slot { begins_ns, made_ns: now, submitted_ns: 0, offset: 0, len: 0, part, op: SYNC as u8 };
            let state = &mut self.state;
            state.syncs[usize::from(part)].started += 1;
            state.outcome.submitted_ios += 1;
            state.in_flight += 1;
            state.outcome.in_flight_max = state.outcome.in_flight_max.max(state.in_flight);
            if let Some(recorder) = &mut self.recorder {
                let kind = self.limits.sync.map_or(SyncKind::Fsync, |sync| sync.kind);
                recorder.note(self.clock.now(), part, Op::Sync, kind, (0, 0));
            }
            self.push_sync(backend, slot, part);
        }
    }

    /// Fetches the next I/O and keeps it until it starts. Returns false at the end of the load.
    fn has_next<V: Variant>(&mut self, now: u64) -> bool {
        if self.state.ahead.is_none()
            && !self.state.exhausted
            && let Some(&slot) = self.state.free.front()
        {
            let asked = self.asked_op::<V>(now);
            self.state.ahead = self.next_place::<V>(slot, asked).map(|place| (asked, place));
            self.state.exhausted = self.state.ahead.is_none();
        }
        self.state.ahead.is_some()
    }

    /// The sync at the end of a loop that ran out of blocks: its time belongs to the window. When it was done.
    #[cold]
    pub(super) fn sync_in_window<B: Backend, V: Variant>(&mut self, backend: &mut B, began_ns: u64) -> io::Result<u64> {
        let (mut before, mut part) = (began_ns, 0);
        loop {
            part += u16::from(self.sync_at_end(backend, part)?);
            let now = self.clock.now();
            if now >= self.state.next_mark_ns.min(self.shared.deadline_ns()) {
                self.cross_mark::<V>(before, now, backend.submit_calls());
            } else {
                self.state.advance::<V>(now - before);
            }
            before = now;
            if usize::from(part) == self.parts.count() {
                return Ok(now);
            }
        }
    }

    /// The syncs at the end of a loop whose window is over.
    #[cold]
    pub(super) fn sync_parts_at_end<B: Backend>(&mut self, backend: &mut B) -> io::Result<()> {
        let mut part = 0;
        while usize::from(part) < self.parts.count() {
            part += u16::from(self.sync_at_end(backend, part)?);
        }
        Ok(())
    }

    /// Makes what was written to a target durable, with nothing else in flight: no sync of the record. False: it was
    /// interrupted before it did anything.
    #[cold]
    fn sync_at_end<B: Backend>(&mut self, backend: &mut B, part: u16) -> io::Result<bool> {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(self.clock.now(), part, Op::Sync, SyncKind::Fsync, (0, 0));
        }
        // Nothing is in flight: any slot is free.
        backend.push_sync(0, part, SyncKind::Fsync);
        let mut answer = None;
        while answer.is_none() {
            backend.submit_and_wait(1, None)?;
            backend.reap(|_, result| answer = Some(result));
        }
        let result = answer.unwrap_or(0);
        if result == -code::EINTR || result == -code::EAGAIN {
            return Ok(false);
        }
        if result < 0 {
            self.state.failures.add(Op::Sync, -result, 0, part);
        }
        Ok(true)
    }

    pub(super) fn push_sync<B: Backend>(&self, backend: &mut B, slot: u32, part: u16) {
        let sync = self.limits.sync.map_or(SyncKind::Fsync, |sync| sync.kind);
        backend.push_sync(slot, part, sync);
    }

    /// A target whose completed writes ask for a sync that was not started yet.
    #[cold]
    pub(super) fn part_to_sync(&self) -> Option<u16> {
        let SyncEvery { writes, .. } = self.limits.sync?;
        let is_due = |syncs: &Syncs| syncs.writes / u64::from(writes) > syncs.started;
        self.state.syncs.iter().position(is_due).map(|part| part as u16)
    }
}
