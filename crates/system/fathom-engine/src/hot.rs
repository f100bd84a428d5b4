//! The hot loop: one thread owns its engine, slots, random numbers and histograms. No lock, no allocation, no atomic
//! read-modify-write and no virtual call per I/O; one clock reading and one load of the deadline per batch.

mod completion;
mod marks;
mod parts;
mod syncs;
mod variant;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use fathom_plan::{Op, SyncEvery, SyncKind};
use fathom_random::Rng;

use crate::backend::{Backend, Io, SubmitStamp};
use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::data::Content;
use crate::depth_search::DepthSearch;
use crate::draw::Draw;
use crate::op_rates::OpLimits;
use crate::open_loop::Arrivals;
use crate::pacing::Pacer;
use crate::priority::IoMarks;
use crate::rig::Rig;
use crate::sequence::{Next, Sequences};
use crate::shared::{FromWorker, Shared, Window};
use crate::tally::{ALL_OPS, Failures, OPS, OpTotals, SYNC, Tallies, op_index};
use crate::target::Trimmer;
use crate::trace::Recorder;
use crate::verify::Ledger;

use completion::Group;
pub(crate) use parts::Parts;
use syncs::Syncs;
pub(crate) use variant::{Closed, ClosedStamped, Open, OpenStamped, Plain, Variant};

/// The part of a target, the unit in it, and the I/O itself where a sequence makes it.
type NextPlace = (u16, u64, Option<Next>);

/// One batch in so many is split to learn when it was submitted and what the batch stamp costs. A power of two.
const SAMPLE_EVERY: u64 = 64;
/// Of a quick thread with several targets one batch in so many is measured target by target, and stands for so many; all are
/// counted. A power of two.
pub(crate) const MEASURE_PARTS_EVERY: u64 = 16;
/// A thread that spends more than this on an I/O submits each at once: a call for each costs it little, while a batch
/// would reach the device in a burst and leave it less to do between bursts. Half of it per I/O, and calls are what counts:
/// then full batches. In between it goes on as before, so that it does not waver.
const SINGLY_FROM_NS: u64 = 4_000;
/// One I/O in flight.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The begin of its latency. Closed loop: when the slot became free, that is when its last I/O was reaped: a slot that
    /// waits for its next submission is depth that was asked for and that the device does not see. Open loop: when it was due.
    begins_ns: u64,
    /// Open loop: the time it was made.
    made_ns: u64,
    /// 0: this batch was not stamped.
    submitted_ns: u64,
    offset: u64,
    len: u32,
    /// Which of the thread's targets it is on.
    part: u16,
    op: u8,
}

/// Everything a worker's loop owns, except the engine and its buffers, which a [`Rig`] owns.
pub(crate) struct Hot {
    pub(crate) index: u32,
    pub(crate) clock: Clock,
    pub(crate) shared: Arc<Shared>,
    pub(crate) to_collector: Sender<FromWorker>,
    pub(crate) spare_tallies: Receiver<Tallies>,
    /// Those of the rig, while the loop runs.
    pub(crate) buffers: Buffers,
    pub(crate) parts: Parts,
    /// `[part]`, in the place of offsets and draws, for orders beyond a pattern; empty: none.
    pub(crate) sequences: Sequences,
    pub(crate) draw: Draw,
    pub(crate) rng: Rng,
    pub(crate) content: Content,
    /// `[part]`; empty: nothing is trimmed.
    pub(crate) trimmers: Vec<Trimmer>,
    /// `[part]`; empty: nothing is verified.
    pub(crate) ledgers: Vec<Ledger>,
    pub(crate) arrivals: Option<Arrivals>,
    /// Rate limits of single operations in a closed loop.
    pub(crate) op_limits: Option<OpLimits>,
    pub(crate) pacer: Option<Pacer>,
    /// Where the depth is searched for a latency.
    pub(crate) search: Option<DepthSearch>,
    /// Where the kernel is told more of single I/Os.
    pub(crate) marks: Option<IoMarks>,
    /// Where what is done is written down.
    pub(crate) recorder: Option<Recorder>,
    pub(crate) limits: Limits,
    pub(crate) used_ops: [bool; OPS],
    pub(crate) state: State,
}

/// How much at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) queue_depth: u32,
    pub(crate) batch_submit: u32,
    /// Whether smaller batches are used when the device, not the thread, sets the pace.
    pub(crate) adaptive: bool,
    pub(crate) batch_complete_min: u32,
    /// Completions taken from one look at the engine, of a loop that stamps each I/O.
    pub(crate) batch_complete_max: u32,
    pub(crate) sync: Option<SyncEvery>,
    /// Whether what was written is made durable once all is.
    pub(crate) sync_at_end: bool,
    /// No sync follows the last I/O, as in jobs of fio.
    pub(crate) syncs_stand_between: bool,
}

impl Limits {
    /// True if completions are taken as fio takes them: at most so many, once the queue is full. Latencies then begin when
    /// an I/O is made.
    fn takes_in_batches(&self) -> bool {
        self.batch_complete_max != u32::MAX
    }
}

/// What changes while the loop runs.
pub(crate) struct State {
    slots: Box<[Slot]>,
    /// The one that has been free for longest comes first: none waits for ever while others come back faster than they start.
    free: VecDeque<u32>,
    /// Buffers of the batch being submitted.
    batch: Vec<u32>,
    /// Results that did not come from the engine: trims.
    aside: Vec<(u32, i32)>,
    /// Results that came from the engine and wait for their turn, where not all are taken at once.
    ready: VecDeque<(u32, i32)>,
    /// The trim that must end before the write of its block, or anything after that write, may start.
    trim_before_write: Option<u32>,
    /// Buffers to issue again after EAGAIN or EINTR.
    again: Vec<u32>,
    in_flight: u32,
    /// Of a loop with syncs, `[part]`: what it owes.
    syncs: Box<[Syncs]>,
    /// Submitting calls before the window began.
    calls_before: u64,
    window: Window,
    counting: bool,
    next_mark_ns: u64,
    tallies: Tallies,
    /// For how many the I/Os of this batch stand in the latencies of their targets; 0: they are not measured.
    part_weight: u64,
    /// Whether the thread spends so little on an I/O that measuring each for its target would slow it down.
    is_quick: bool,
    /// Draws which batches are measured: a rhythm might meet the same target again and again.
    part_draw: u64,
    exhausted: bool,
    /// The next I/O, where it was asked for before it could start, with the operation that its rates ask for.
    ahead: Option<(Option<Op>, NextPlace)>,
    /// Whether slots may be free because the load asks for it: they then wait for nothing.
    paced: bool,
    /// I/Os per submission now; at most what the limits say.
    batch_submit: u32,
    /// When the pace was last looked at, and how many I/Os were completed then.
    pace_seen: (u64, u64),
    batches: u64,
    completed: u64,
    completed_before_failure: u64,
    failing_since_ns: u64,
    failures: Failures,
    pub(crate) outcome: Outcome,
}

/// What the loop leaves behind.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) totals: [OpTotals; OPS],
    pub(crate) failures: Vec<fathom_record::IoFailure>,
    /// `[part]`: failed I/Os.
    pub(crate) errors: Vec<u64>,
    pub(crate) first_submit_ns: Option<u64>,
    pub(crate) finished_ns: u64,
    pub(crate) ios: u64,
    pub(crate) in_flight_area: u128,
    /// As `in_flight_area`, of the slots that hold an I/O or wait for their next: the depth that was asked for.
    pub(crate) occupied_area: u128,
    /// Summed ages of what was occupied (open loop: in flight) at both ends of the window.
    pub(crate) age_ns: [u64; 2],
    pub(crate) in_flight_max: u32,
    /// Paused because the load says so.
    pub(crate) paused_ns: u64,
    pub(crate) cpus_seen: Vec<u32>,
    pub(crate) stamp_error_ns: (u64, u64),
    pub(crate) submitted_ios: u64,
    pub(crate) submit_calls: u64,
    pub(crate) passes_done: bool,
    pub(crate) gave_up: bool,
}

impl State {
    /// All slots free, nothing counted, of a loop over so many parts.
    pub(crate) fn new(queue_depth: u32, parts: usize, used_ops: [bool; OPS]) -> Self {
        let depth = queue_depth as usize;
        State {
            slots: vec![Slot::default(); depth].into_boxed_slice(),
            free: (0..queue_depth).collect(),
            batch: Vec::with_capacity(depth),
            aside: Vec::with_capacity(depth),
            ready: VecDeque::with_capacity(depth),
            trim_before_write: None,
            again: Vec::with_capacity(depth),
            in_flight: 0,
            syncs: vec![Syncs::default(); parts].into_boxed_slice(),
            calls_before: 0,
            window: Window { start_ns: u64::MAX, interval_ns: 1 },
            counting: false,
            next_mark_ns: u64::MAX,
            tallies: Tallies::new(parts, used_ops),
            part_weight: 1,
            is_quick: false,
            part_draw: 1,
            exhausted: false,
            ahead: None,
            paced: false,
            batch_submit: 1,
            pace_seen: (0, 0),
            batches: 0,
            completed: 0,
            completed_before_failure: 0,
            failing_since_ns: 0,
            failures: Failures::new(parts),
            outcome: Outcome::default(),
        }
    }
}

impl State {
    /// Chooses the batch by the pace since the last look.
    #[cold]
    fn adapt(&mut self, now: u64, batch_max: u32) {
        let (seen_ns, seen_ios) = self.pace_seen;
        let ios = self.completed - seen_ios;
        if ios < SAMPLE_EVERY {
            return;
        }
        self.pace_seen = (now, self.completed);
        match (now - seen_ns) / ios {
            // The first look has no earlier one to compare with.
            _ if seen_ns == 0 => {}
            pace if pace > SINGLY_FROM_NS => (self.batch_submit, self.is_quick) = (1, false),
            pace if pace < SINGLY_FROM_NS / 2 => (self.batch_submit, self.is_quick) = (batch_max, true),
            _ => {}
        }
    }

    /// Slots that hold an I/O, and in a closed loop those that wait for their next.
    #[inline(always)]
    fn occupied<V: Variant>(&self) -> u32 {
        if V::OPEN || self.exhausted || self.paced { self.in_flight } else { self.slots.len() as u32 }
    }

    #[cold]
    fn age_of_occupied_ns<V: Variant>(&self, at_ns: u64) -> u64 {
        let mut occupied = vec![true; self.slots.len()];
        if V::OPEN || self.exhausted || self.paced {
            for &slot in &self.free {
                occupied[slot as usize] = false;
            }
        }
        let ages = self.slots.iter().zip(occupied).filter(|(_, occupied)| *occupied);
        ages.map(|(io, _)| at_ns.saturating_sub(if V::OPEN { io.made_ns } else { io.begins_ns })).sum()
    }

    /// Counts an I/O that moved `moved` bytes to its target, where there are several.
    #[inline(always)]
    fn count_part(&mut self, io: Slot, moved: i32, lat_ns: u64) {
        if !self.counting || usize::from(io.op) == SYNC {
            return;
        }
        let Some(tally) = self.tallies.parts.get_mut(usize::from(io.part)) else { return };
        tally.ios += 1;
        tally.bytes += u64::from(moved as u32);
        if self.part_weight > 0
            && let Some(lat) = &mut tally.lat
        {
            lat.record_n(lat_ns, self.part_weight);
        }
    }

    /// For how many the I/Os of the next batch stand in the latencies of their targets.
    #[inline(always)]
    fn draw_part_weight(&mut self) -> u64 {
        if !self.is_quick {
            return 1;
        }
        // Knuth's multiplier and increment; the load's own random numbers stay as they are.
        self.part_draw = self.part_draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let is_measured = self.part_draw >> (u64::BITS - MEASURE_PARTS_EVERY.trailing_zeros()) == 0;
        if is_measured { MEASURE_PARTS_EVERY } else { 0 }
    }

    /// Adds up what is in flight and what is occupied over a stretch of time.
    #[inline(always)]
    fn advance<V: Variant>(&mut self, ns: u64) {
        self.outcome.in_flight_area += u128::from(u64::from(self.in_flight) * ns);
        self.outcome.occupied_area += u128::from(u64::from(self.occupied::<V>()) * ns);
    }
}

impl Hot {
    /// Runs until the deadline or the end of the passes, then drains.
    ///
    /// # Errors
    /// When the engine itself fails; what was counted stays in the state.
    pub(crate) fn run<B: Backend, V: Variant>(&mut self, rig: &mut Rig<B>, window: Window) -> std::io::Result<()> {
        self.state.window = window;
        self.state.paced = self.pacer.is_some() || self.search.is_some();
        self.state.next_mark_ns = window.start_ns;
        self.state.batch_submit = self.limits.batch_submit;
        self.state.calls_before = rig.backend.submit_calls();
        // SAFETY: they are used within this function alone, which has the rig with the area to itself.
        self.buffers = unsafe { rig.area.buffers() };
        let backend = &mut *rig.backend;
        let ran = self.run_window::<B, V>(backend);
        self.finish();
        self.state.outcome.submit_calls = backend.submit_calls() - self.state.calls_before;
        ran?;
        self.drain(backend)?;
        if self.limits.sync_at_end && !self.state.outcome.passes_done {
            // The window is over and counted: only a failure is still to be told.
            self.sync_parts_at_end(backend)?;
            self.note_failures();
        }
        Ok(())
    }

    fn run_window<B: Backend, V: Variant>(&mut self, backend: &mut B) -> std::io::Result<()> {
        let mut now = self.clock.now();
        self.state.slots.iter_mut().for_each(|slot| slot.begins_ns = now);
        loop {
            if now >= self.shared.deadline_ns() {
                break;
            }
            if self.state.outcome.first_submit_ns.is_none() {
                self.state.outcome.first_submit_ns = Some(now);
            }
            let sampled = V::PARANOID || self.state.batches.is_multiple_of(SAMPLE_EVERY);
            if V::MANY && !V::PARANOID && !V::OPEN {
                self.state.part_weight = self.state.draw_part_weight();
            }
            if sampled && self.limits.adaptive {
                self.state.adapt(now, self.limits.batch_submit);
            }
            if V::PARANOID && self.limits.sync.is_some() {
                self.start_syncs::<B, V>(backend, now);
            }
            self.fill::<B, V>(backend, now, sampled);
            if self.state.in_flight == 0 {
                let owes = V::PARANOID && !self.limits.syncs_stand_between && self.part_to_sync().is_some();
                if self.state.exhausted && !owes {
                    self.state.outcome.passes_done = true;
                    if self.limits.sync_at_end {
                        now = self.sync_in_window::<B, V>(backend, now)?;
                    }
                    break;
                }
                if backend.works_beside() {
                    backend.work_until(self.idle_until_ns(now))?;
                }
                now = self.wait_for_arrival::<V>(now, backend.submit_calls());
                continue;
            }
            self.issue::<B, V>(backend, now, sampled)?;
            let before = now;
            now = self.clock.now();
            if now >= self.state.next_mark_ns.min(self.shared.deadline_ns()) {
                self.cross_mark::<V>(before, now, backend.submit_calls());
            } else {
                self.state.advance::<V>(now - before);
            }
            self.reap::<B, V>(backend, now);
        }
        self.state.outcome.finished_ns = now;
        Ok(())
    }

    /// Creates I/Os for free slots, at most a batch.
    #[inline(always)]
    fn fill<B: Backend, V: Variant>(&mut self, backend: &mut B, now: u64, sampled: bool) {
        self.state.batch.clear();
        if !self.state.again.is_empty() {
            self.push_again(backend);
        }
        let mut staged = 0;
        // The slots of a batch matter only when they are going to be stamped.
        let remember = B::SUBMIT_STAMP == SubmitStamp::Always || (B::SUBMIT_STAMP == SubmitStamp::Sampled && sampled);
        for _ in 0..self.state.batch_submit {
            let Some(&slot) = self.state.free.front().filter(|_| !self.state.exhausted) else { break };
            let mut due_ns = 0;
            if V::OPEN {
                let arrivals = self.arrivals.as_ref().expect("an open loop has arrivals");
                due_ns = arrivals.next_due_ns();
                if due_ns > now {
                    break;
                }
            }
            if V::PARANOID
                && let Some(search) = &mut self.search
            {
                self.state.exhausted |= search.is_over();
                if self.state.exhausted || !search.starts(now, self.state.in_flight + staged) {
                    break;
                }
            }
            if V::PARANOID && self.state.trim_before_write.is_some() {
                break;
            }
            if V::PARANOID && self.pacer.as_mut().is_some_and(|pacer| !pacer.starts()) {
                break;
            }
            let ahead = if V::PARANOID { self.state.ahead.take() } else { None };
            let asked = if let Some((asked, _)) = ahead { asked } else { self.asked_op::<V>(now) };
            let place = if let Some((_, place)) = ahead { Some(place) } else { self.next_place::<V>(slot, asked) };
            let Some((part, unit, of_sequence)) = place else {
                self.state.exhausted = true;
                break;
            };
            self.state.free.pop_front();
            if V::OPEN {
                let arrivals = self.arrivals.as_mut().expect("an open loop has arrivals");
                arrivals.take(&mut self.rng, now);
                if V::PARANOID
                    && let Some(after_first_ns) = self.sequences.next_due_ns()
                {
                    arrivals.due(after_first_ns);
                }
            }
            let (op, len, offset) = match of_sequence {
                Some(next) if V::PARANOID => (next.op, next.len, next.offset),
                _ => {
                    let op = asked.unwrap_or_else(|| self.draw.op(&mut self.rng));
                    let len = self.draw.len(&mut self.rng);
                    (op, len, self.parts.offset_of::<V>(part, unit))
                }
            };
            let is_paced = self.state.paced;
            let free = &mut self.state.slots[slot as usize];
            let made_ns = match V::OPEN {
                true if V::PARANOID => self.clock.now(),
                true => now,
                false => 0,
            };
            let begins_ns = match V::OPEN {
                true => due_ns,
                false if V::PARANOID && (is_paced || self.limits.takes_in_batches()) => self.clock.now(),
                false => free.begins_ns,
            };
            *free = Slot { begins_ns, made_ns, submitted_ns: 0, offset, len, part, op: op_index(op) as u8 };
            if remember {
                self.state.batch.push(slot);
            }
            staged += 1;
            let sync = of_sequence.map_or(SyncKind::Fsync, |next| next.sync);
            if V::PARANOID
                && let Some(recorder) = &mut self.recorder
            {
                recorder.note(self.clock.now(), part, op, sync, (offset, len));
            }
            if V::PARANOID && op == Op::Sync {
                backend.push_sync(slot, part, sync);
                continue;
            }
            if V::PARANOID
                && let Some(marks) = &mut self.marks
            {
                backend.mark(slot, marks.draw(slot, op, len));
            }
            self.start(backend, Io { slot, part, op, len, offset, buffer: self.buffers.slot(slot) }, unit);
            if V::PARANOID && op == Op::Trim && self.sequences.are_pairs() {
                // A trim that the kernel did at once is over, unless it failed and is perhaps tried again.
                let is_over = self.state.aside.last().is_some_and(|(trimmed, result)| *trimmed == slot && *result > 0);
                self.state.trim_before_write = (!is_over).then_some(slot);
            }
        }
        let state = &mut self.state;
        state.outcome.submitted_ios += u64::from(staged);
        state.in_flight += staged;
        state.outcome.in_flight_max = state.outcome.in_flight_max.max(state.in_flight);
    }

    /// The operation of the next I/O where rates decide it; `None`: the mix does.
    #[inline(always)]
    fn asked_op<V: Variant>(&mut self, now: u64) -> Option<Op> {
        if V::OPEN {
            return self.arrivals.as_ref().and_then(Arrivals::next_op);
        }
        if V::PARANOID
            && let Some(limits) = &mut self.op_limits
        {
            let drawn = self.draw.op(&mut self.rng);
            return Some(limits.choose(drawn, now, &mut self.rng));
        }
        None
    }

    /// The unit of the next I/O, and the I/O itself where a sequence makes it.
    #[inline(always)]
    fn next_place<V: Variant>(&mut self, slot: u32, asked: Option<Op>) -> Option<NextPlace> {
        if V::PARANOID && !self.sequences.is_empty() {
            let (part, next) = self.sequences.next(&mut self.rng, asked)?;
            return Some((part, next.unit, Some(next)));
        }
        let (part, unit) = self.parts.next::<V>(slot, &mut self.rng)?;
        Some((part, unit, None))
    }

    #[inline(always)]
    fn start<B: Backend>(&mut self, backend: &mut B, io: Io, unit: u64) {
        match io.op {
            Op::Read => {
                if let Some(ledger) = self.ledgers.get_mut(usize::from(io.part)) {
                    ledger.before_read(io.slot, unit);
                }
            }
            Op::Write => {
                let block = self.buffers.bytes_mut(io.slot, io.len as usize);
                self.content.renew(block, &mut self.rng);
                if let Some(ledger) = self.ledgers.get_mut(usize::from(io.part)) {
                    ledger.before_write(io.slot, unit, io.offset, block);
                }
            }
            Op::Trim if backend.takes_trims(io.part) => return backend.push_trim(&io),
            // No mix draws syncs.
            Op::Trim | Op::Sync => {
                let trimmed = self.trimmers[usize::from(io.part)].trim(io.offset, io.len);
                self.state.aside.push((io.slot, trimmed));
                return;
            }
        }
        backend.push(&io);
    }

    #[cold]
    fn push_again<B: Backend>(&mut self, backend: &mut B) {
        while let Some(slot) = self.state.again.pop() {
            let Slot { offset, len, part, op, .. } = self.state.slots[slot as usize];
            // Still counted as in flight, with its first stamps and its content.
            let op = ALL_OPS[usize::from(op)];
            match op {
                Op::Trim if backend.takes_trims(part) => {
                    backend.push_trim(&Io { slot, part, op, len, offset, buffer: self.buffers.slot(slot) });
                }
                Op::Trim => {
                    let trimmed = self.trimmers[usize::from(part)].trim(offset, len);
                    self.state.aside.push((slot, trimmed));
                }
                Op::Sync => self.push_sync(backend, slot, part),
                Op::Read | Op::Write => {
                    if let Some(marks) = &self.marks {
                        backend.mark(slot, marks.of(slot));
                    }
                    let buffer = self.buffers.slot(slot);
                    backend.push(&Io { slot, part, op, len, offset, buffer });
                }
            }
        }
    }

    /// Hands the batch to the engine and waits as long as it makes sense.
    #[inline(always)]
    fn issue<B: Backend, V: Variant>(&mut self, backend: &mut B, now: u64, sampled: bool) -> std::io::Result<()> {
        self.state.batches += 1;
        let stamp_submit = match B::SUBMIT_STAMP {
            SubmitStamp::Never => false,
            SubmitStamp::Always => true,
            SubmitStamp::Sampled => sampled,
        };
        if stamp_submit && !self.state.batch.is_empty() {
            if V::OPEN && sampled && !V::PARANOID {
                let prepared = self.clock.now();
                self.note_stamp_error(now, prepared);
            }
            backend.submit()?;
            let submitted_ns = self.clock.now();
            for &slot in &self.state.batch {
                self.state.slots[slot as usize].submitted_ns = submitted_ns;
            }
        }
        let (min, timeout_ns) = self.patience::<V>(now);
        backend.submit_and_wait(min, timeout_ns)
    }

    /// Completions to wait for, and for how long.
    #[inline(always)]
    fn patience<V: Variant>(&self, now: u64) -> (u32, Option<u64>) {
        let state = &self.state;
        let engine_ios = state.in_flight - state.aside.len() as u32;
        if !state.aside.is_empty() || engine_ios == 0 || (V::PARANOID && !state.ready.is_empty()) {
            return (0, None);
        }
        let can_start_more = !state.free.is_empty() && !state.exhausted;
        if V::PARANOID && state.trim_before_write.is_some() {
            return (1, None);
        }
        if V::OPEN && can_start_more {
            return self.arrivals.as_ref().expect("an open loop has arrivals").patience(now);
        }
        if can_start_more && !(V::PARANOID && self.only_waits()) {
            return (0, None);
        }
        (self.limits.batch_complete_min.min(engine_ios), None)
    }

    /// Whether what holds the load back lets nothing start before something came back.
    fn only_waits(&self) -> bool {
        let by_depth = self.search.as_ref().is_some_and(|search| search.only_waits(self.state.in_flight));
        by_depth || self.pacer.as_ref().is_some_and(Pacer::only_waits)
    }

    #[inline]
    fn note_stamp_error(&mut self, stamp: u64, real: u64) {
        let error = &mut self.state.outcome.stamp_error_ns;
        error.0 += real.saturating_sub(stamp);
        error.1 += 1;
    }

    fn finish(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.leave();
        }
        self.shared.beat(self.index);
        self.state.counting = false;
        self.note_cpu();
        if !self.state.tallies.is_empty() {
            self.send_tallies();
        }
        self.note_failures();
    }

    fn note_failures(&mut self) {
        let state = &mut self.state;
        state.outcome.failures = state.failures.kinds().to_vec();
        state.outcome.errors = state.failures.by_part().to_vec();
    }

    /// Waits for everything in flight. Not counted, but still checked when verifying.
    fn drain<B: Backend>(&mut self, backend: &mut B) -> std::io::Result<()> {
        while let Some((slot, result)) = self.state.ready.pop_front() {
            let (now, mut group) = (self.clock.now(), Group::default());
            self.complete::<Closed>(slot, result, now, &mut group);
            self.flush(&mut group, now);
        }
        while self.state.in_flight > 0 {
            let before = self.state.in_flight;
            self.state.batch.clear();
            self.push_again(backend);
            backend.submit_and_wait(u32::from(self.state.aside.is_empty()), None)?;
            let now = self.clock.now();
            self.reap::<B, Closed>(backend, now);
            if self.state.in_flight < before {
                self.shared.beat(self.index);
            }
        }
        Ok(())
    }

    /// Until when nothing is due, while nothing is in flight; no later than marks and the deadline.
    #[cold]
    fn idle_until_ns(&self, now: u64) -> u64 {
        let due = match (&self.arrivals, &self.pacer) {
            (Some(arrivals), _) => arrivals.next_due_ns(),
            (None, Some(pacer)) => pacer.held_until_ns(now),
            (None, None) => now,
        };
        due.min(self.state.next_mark_ns).min(self.shared.deadline_ns())
    }

    /// Nothing is in flight and nothing is due: sleeps until shortly before the next arrival.
    #[cold]
    fn wait_for_arrival<V: Variant>(&mut self, now: u64, submit_calls: u64) -> u64 {
        let deadline_ns = self.shared.deadline_ns();
        if let Some(pacer) = &mut self.pacer {
            pacer.pause(&self.clock, deadline_ns);
        }
        let idle_until = match &self.arrivals {
            Some(arrivals) => arrivals.wait(&self.clock, self.shared.deadline_ns(), self.clock.now()),
            None => self.clock.now(),
        };
        if self.state.paced && self.state.counting {
            self.state.outcome.paused_ns += idle_until.min(deadline_ns).saturating_sub(now);
        }
        if idle_until >= self.state.next_mark_ns.min(self.shared.deadline_ns()) {
            self.cross_mark::<V>(now, idle_until, submit_calls);
        }
        idle_until
    }
}
