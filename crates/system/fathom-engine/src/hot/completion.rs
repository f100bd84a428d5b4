//! Completions: results are taken from the engine, stamped, counted and recorded, and their slots become free.

use crate::backend::Backend;
use crate::system::code;
use crate::tally::{ALL_OPS, SYNC, op_index};

use super::{Hot, Slot, Variant};
use fathom_plan::Op;

/// A worker gives up after so many failures in a row ...
const FAILURES_IN_A_ROW_MAX: u64 = 1_000;
/// ... that lasted at least so long.
const FAILING_NS_MAX: u64 = 1_000_000_000;

/// I/Os of one reap whose slots became free together: they share all stamps, so they are recorded at once.
#[derive(Default)]
pub(super) struct Group {
    begins_ns: u64,
    submitted_ns: u64,
    op: u8,
    ios: u64,
    bytes: u64,
}

impl Hot {
    /// Takes every finished I/O, of a loop that stamps each as many as the limits allow.
    #[inline(always)]
    pub(super) fn reap<B: Backend, V: Variant>(&mut self, backend: &mut B, now: u64) {
        let mut group = Group::default();
        while let Some((slot, result)) = self.state.aside.pop() {
            self.complete::<V>(slot, result, now, &mut group);
        }
        if V::PARANOID {
            self.flush(&mut group, now);
            let state = &self.state;
            let fills = !V::OPEN && !state.paced && !state.exhausted && !state.free.is_empty();
            if self.limits.takes_in_batches() && fills && state.trim_before_write.is_none() {
                // As fio, which takes completions once its queue is full again.
                return;
            }
            if self.state.ready.is_empty() {
                backend.reap(|slot, result| self.state.ready.push_back((slot, result)));
            }
            for _ in 0..self.limits.batch_complete_max {
                let Some((slot, result)) = self.state.ready.pop_front() else { break };
                self.complete_stamped::<V>(slot, result);
            }
            return;
        }
        backend.reap(
            #[inline(always)]
            |slot, result| self.complete::<V>(slot, result, now, &mut group),
        );
        self.flush(&mut group, now);
    }

    /// Completes an I/O with a stamp of its own.
    #[inline(always)]
    fn complete_stamped<V: Variant>(&mut self, slot: u32, result: i32) {
        let now = self.clock.now();
        let io = self.state.slots[slot as usize];
        let is_written = usize::from(io.op) == op_index(Op::Write) && result > 0;
        self.state.syncs[usize::from(io.part)].writes += u64::from(is_written);
        if let Some(pacer) = &mut self.pacer {
            pacer.completed();
        }
        if let Some(search) = self.search.as_mut().filter(|_| usize::from(io.op) != SYNC && result > 0) {
            search.completed(now, now.saturating_sub(io.begins_ns));
        }
        let mut group = Group::default();
        self.complete::<V>(slot, result, now, &mut group);
        self.flush(&mut group, now);
    }

    #[inline(always)]
    pub(super) fn complete<V: Variant>(&mut self, slot: u32, result: i32, now: u64, group: &mut Group) {
        let mut io = self.state.slots[slot as usize];
        if !V::MANY {
            // Known to the compiler.
            io.part = 0;
        }
        let mut ok = result as u32 == io.len;
        if let Some(ledger) = self.ledgers.get_mut(usize::from(io.part))
            && usize::from(io.op) != SYNC
        {
            let block = self.buffers.bytes_mut(slot, io.len as usize);
            ledger.after(slot, ALL_OPS[usize::from(io.op)], ok, io.offset, block);
        }
        if !ok {
            if result == -code::EAGAIN || result == -code::EINTR {
                self.state.again.push(slot);
                return;
            }
            ok = self.count_unusual(io, result, now);
        }
        if ok {
            if V::OPEN {
                self.record_open(io, result, now);
            } else {
                let is_of_group =
                    io.op == group.op && (io.begins_ns, io.submitted_ns) == (group.begins_ns, group.submitted_ns);
                if !is_of_group {
                    self.flush(group, now);
                    group.begins_ns = io.begins_ns;
                    group.submitted_ns = io.submitted_ns;
                    group.op = io.op;
                }
                if V::MANY {
                    self.state.count_part(io, result, now.saturating_sub(io.begins_ns));
                }
                group.ios += 1;
                group.bytes += u64::from(result as u32);
            }
        }
        if V::PARANOID && self.state.trim_before_write == Some(slot) {
            self.state.trim_before_write = None;
        }
        self.state.in_flight -= 1;
        if !V::OPEN {
            self.state.slots[slot as usize].begins_ns = now;
        }
        self.state.free.push_back(slot);
    }

    /// Records the I/Os of a group.
    #[inline(always)]
    pub(super) fn flush(&mut self, group: &mut Group, now: u64) {
        if group.ios == 0 {
            return;
        }
        let state = &mut self.state;
        state.completed += group.ios;
        if state.counting {
            let op = usize::from(group.op);
            let tally = &mut state.tallies.ops[op];
            tally.ios += group.ios;
            tally.bytes += group.bytes;
            if let Some(lat) = &mut tally.lat {
                lat.record_n(now.saturating_sub(group.begins_ns), group.ios);
            }
            if group.submitted_ns != 0 {
                let totals = &mut state.outcome.totals[op];
                let slat = group.submitted_ns.saturating_sub(group.begins_ns);
                totals.slat.get_or_insert_default().record_n(slat, group.ios);
                totals.clat.get_or_insert_default().record_n(now.saturating_sub(group.submitted_ns), group.ios);
            }
        }
        group.ios = 0;
        group.bytes = 0;
    }

    fn record_open(&mut self, io: Slot, result: i32, now: u64) {
        let state = &mut self.state;
        state.completed += 1;
        if !state.counting {
            return;
        }
        let op = usize::from(io.op);
        let lat_ns = now.saturating_sub(io.begins_ns);
        state.count_part(io, result, lat_ns);
        let tally = &mut state.tallies.ops[op];
        tally.ios += 1;
        tally.bytes += u64::from(result as u32);
        if let Some(lat) = &mut tally.lat {
            lat.record(lat_ns);
        }
        let totals = &mut state.outcome.totals[op];
        totals.service.get_or_insert_default().record(now.saturating_sub(io.made_ns));
        if io.submitted_ns != 0 {
            totals.slat.get_or_insert_default().record(io.submitted_ns.saturating_sub(io.made_ns));
            totals.clat.get_or_insert_default().record(now.saturating_sub(io.submitted_ns));
        }
    }

    /// Counts a short or failed I/O; true when it moved something and so counts as completed.
    #[cold]
    fn count_unusual(&mut self, io: Slot, result: i32, now: u64) -> bool {
        let state = &mut self.state;
        if result > 0 {
            state.outcome.totals[usize::from(io.op)].short_ios += u64::from(state.counting);
            return true;
        }
        if state.completed != state.completed_before_failure || state.failures.in_a_row == 0 {
            state.completed_before_failure = state.completed;
            state.failures.in_a_row = 0;
            state.failing_since_ns = now;
        }
        if state.counting {
            state.failures.add(ALL_OPS[usize::from(io.op)], -result, io.offset, io.part);
        } else {
            state.failures.in_a_row += 1;
        }
        let long = now.saturating_sub(state.failing_since_ns) > FAILING_NS_MAX;
        if long && state.failures.in_a_row > FAILURES_IN_A_ROW_MAX {
            state.outcome.gave_up = true;
            self.shared.end_by(now);
        }
        false
    }
}
