//! CPUs and the threads on them: each CPU is a server of jobs, first in first out, shared by its threads and interrupts.

use fathom_plan::RateProcess;
use fathom_random::Rng;

use crate::exponential::exponential;
use crate::load::{READ, Span};
use crate::machine::EngineCosts;
use crate::pipe::transfer_ps;
use crate::world::{NONE, NS, Place, Stage, World};

/// What a CPU does for an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Makes and submits it.
    Submit,
    /// Takes its completion, then makes and submits the next in its place.
    Cycle,
    /// Takes its interrupt for a thread on another CPU.
    Interrupt,
    /// Submits it for the thread (kernel poller).
    PollerSubmit,
    /// Reads or writes memory in place of a drive.
    Access,
    /// Copies it from the page cache.
    CacheCopy,
    /// Cuts it up for the members of an array of user space, or puts it together again.
    Array,
}

/// A logical CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub(crate) busy: bool,
    pub(crate) sibling: Option<u32>,
    head: u32,
    tail: u32,
    last_thread: u32,
    /// End of the interrupt that is being taken: completions until then share it.
    interrupt_until_ps: u64,
    /// Of the running job: what comes after the stamp of its completion.
    after_ps: u64,
    /// Whether the running job submits another I/O.
    reissue: bool,
    pub(crate) user_ps: u64,
    pub(crate) system_ps: u64,
    pub(crate) irq_ps: u64,
    /// Time line: busy up to here, less the gaps.
    pub(crate) free_ps: u64,
    pub(crate) idle_ps: u64,
    pub(crate) delay_ps: u64,
}

impl Cpu {
    pub(crate) fn new(sibling: Option<u32>) -> Self {
        Cpu {
            busy: false,
            sibling,
            head: NONE,
            tail: NONE,
            last_thread: NONE,
            interrupt_until_ps: 0,
            after_ps: 0,
            reissue: false,
            user_ps: 0,
            system_ps: 0,
            irq_ps: 0,
            free_ps: 0,
            idle_ps: 0,
            delay_ps: 0,
        }
    }

    /// Utilisation law: time line against the sum of what the jobs cost.
    pub(crate) fn utilisation_law(&self) -> (u64, u64) {
        (self.free_ps - self.idle_ps - self.delay_ps, self.user_ps + self.system_ps + self.irq_ps)
    }
}

/// When the I/Os of an open loop are due.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    pub(crate) gap_ps: u64,
    pub(crate) process: RateProcess,
    pub(crate) next_due_ps: u64,
    /// All slots were taken when the last one fell due.
    starved: bool,
    rng: Rng,
    /// Sum and number of submit delays: `[interval]`.
    pub(crate) delays: Vec<(u64, u64)>,
}

impl Arrivals {
    pub(crate) fn new(gap_ps: u64, process: RateProcess, first_due_ps: u64, rng: Rng) -> Self {
        Arrivals { gap_ps, process, next_due_ps: first_due_ps, starved: false, rng, delays: Vec::new() }
    }

    fn take(&mut self) -> u64 {
        let due = self.next_due_ps;
        self.next_due_ps += match self.process {
            // A step that replays a trace is not simulated.
            RateProcess::Fixed | RateProcess::Recorded => self.gap_ps,
            RateProcess::Poisson => exponential(&mut self.rng, self.gap_ps),
        };
        due
    }
}

/// What a thread does on one target.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) place: Place,
    /// Index of the step's target.
    pub(crate) target: u32,
    /// CPU of its interrupts, if it is a fixed one.
    pub(crate) interrupt_cpu: Option<u32>,
    pub(crate) costs: EngineCosts,
    pub(crate) remote_ps: u64,
    pub(crate) span: Span,
    /// I/Os that may still be submitted.
    pub(crate) issue_left: u64,
}

/// A worker thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) first: Lane,
    /// Those after the first, of a thread that drives several targets.
    pub(crate) others: Vec<Lane>,
    /// Where slots have no target of their own: the lane whose turn it is.
    pub(crate) turn: Option<u16>,
    pub(crate) cpu: u32,
    /// Not pinned.
    pub(crate) floating: bool,
    /// Asks for completions instead of sleeping.
    pub(crate) polled: bool,
    /// CPU of its kernel poller.
    pub(crate) poller: Option<u32>,
    pub(crate) rng: Rng,
    /// I/Os it may still submit on all its targets.
    pub(crate) issue_left: u64,
    pub(crate) arrivals: Option<Arrivals>,
    pub(crate) spare: Vec<u32>,
    /// Jobs of the thread that wait or run.
    pub(crate) jobs: u32,
    pub(crate) wakes: u32,
    pub(crate) in_flight: u32,
    pub(crate) in_flight_max: u32,
    pub(crate) area_ns: u128,
    pub(crate) last_ns: u64,
    pub(crate) window_start_ns: u64,
    pub(crate) ios: u64,
    pub(crate) user_ps: u64,
    pub(crate) system_ps: u64,
    pub(crate) poller_ps: u64,
    pub(crate) cpus_seen: Vec<u32>,
    /// Completions held back by interrupt coalescing.
    pub(crate) held: Vec<u32>,
    pub(crate) held_until_ps: u64,
}

impl Thread {
    #[inline(always)]
    pub(crate) fn lane(&self, lane: u16) -> &Lane {
        if lane == 0 { &self.first } else { &self.others[usize::from(lane) - 1] }
    }

    #[inline(always)]
    fn lane_mut(&mut self, lane: u16) -> &mut Lane {
        if lane == 0 { &mut self.first } else { &mut self.others[usize::from(lane) - 1] }
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The lane of the next I/O of a slot that was on `home`: as `hot/parts.rs` of the engine chooses it.
    fn next_lane(&mut self, home: u16) -> u16 {
        let count = 1 + self.others.len() as u16;
        let wish = self.turn.unwrap_or(home);
        let lane = (0..count).map(|step| (wish + step) % count).find(|lane| self.lane(*lane).issue_left > 0);
        let lane = lane.unwrap_or(wish);
        if self.turn.is_some() {
            self.turn = Some((lane + 1) % count);
        }
        let left = &mut self.lane_mut(lane).issue_left;
        *left = left.saturating_sub(1);
        lane
    }

    /// Whether the slot that is being emptied takes another I/O at once; in a closed loop it is counted as issued.
    #[inline]
    fn may_issue(&mut self, now: u64) -> bool {
        if let Some(arrivals) = &self.arrivals {
            return arrivals.next_due_ps <= now;
        }
        let may = self.issue_left > 0;
        self.issue_left -= u64::from(may);
        may
    }

    /// Adds to the integral of I/Os in flight over the window.
    #[inline]
    pub(crate) fn advance(&mut self, now_ns: u64) {
        let from = self.last_ns.max(self.window_start_ns);
        if now_ns > from {
            self.area_ns += u128::from(now_ns - from) * u128::from(self.in_flight);
        }
        self.last_ns = self.last_ns.max(now_ns);
    }
}

/// Time of a job by kind, before and after the moment its completion is stamped.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    delay: u64,
    irq: u64,
    system_before: u64,
    user_before: u64,
    user_after: u64,
    system_after: u64,
    /// Not stretched when the sibling works: the CPU waits for memory.
    access: u64,
}

/// Row of [`World::vectors`] for a place.
#[inline(always)]
fn vector_of(place: Place, drives: usize) -> usize {
    match place {
        Place::Drive(d) => d as usize,
        Place::Array(a) => drives + 1 + a as usize,
        Place::Nowhere => drives,
    }
}

impl World {
    /// A completion reaches the host.
    #[inline]
    pub(crate) fn completed(&mut self, now: u64, slot: u32) {
        let thread = self.ios[slot as usize].thread as usize;
        match self.coalescing(slot) {
            Some(limits) if !self.threads[thread].polled => self.hold(now, slot, limits),
            _ => self.interrupt(now, slot, false),
        }
    }

    /// Interrupts whoever is to be; `merged`: an interrupt that is already counted tells of it.
    pub(crate) fn interrupt(&mut self, now: u64, slot: u32, merged: bool) {
        let io = &mut self.ios[slot as usize];
        let thread = &self.threads[io.thread as usize];
        let own = thread.cpu;
        if thread.polled {
            io.merged = true;
            self.enqueue_thread(now, slot, Job::Cycle);
            return;
        }
        let cpu = thread.lane(io.lane).interrupt_cpu.unwrap_or(own);
        io.merged = merged || now < self.cpus[cpu as usize].interrupt_until_ps;
        if cpu == own {
            self.enqueue_thread(now, slot, Job::Cycle);
        } else {
            io.job = Job::Interrupt;
            self.enqueue(now, cpu, slot);
        }
    }

    /// Gives a job to the thread's CPU; a thread that floats and has nothing under way may go elsewhere.
    #[inline]
    pub(crate) fn enqueue_thread(&mut self, now: u64, slot: u32, job: Job) {
        let io = &mut self.ios[slot as usize];
        io.job = job;
        let index = io.thread as usize;
        let thread = &mut self.threads[index];
        if thread.floating && thread.jobs == 0 {
            thread.wakes = thread.wakes.wrapping_add(1);
            if self.cpus[thread.cpu as usize].busy || thread.wakes.is_multiple_of(64) {
                self.migrate(index);
            }
        }
        let thread = &mut self.threads[index];
        thread.jobs += 1;
        let cpu = thread.cpu;
        self.enqueue(now, cpu, slot);
    }

    /// Moves a thread to an idle CPU, one with an idle sibling if there is any.
    fn migrate(&mut self, thread: usize) {
        let n = self.cpus.len() as u32;
        let idle = |cpu: &Cpu| !cpu.busy;
        let order = (1..=n).map(|i| (self.idle_hint + i) % n);
        let mut second = None;
        let mut chosen = None;
        for cpu in order {
            let candidate = &self.cpus[cpu as usize];
            if !idle(candidate) {
                continue;
            }
            if candidate.sibling.is_none_or(|s| idle(&self.cpus[s as usize])) {
                chosen = Some(cpu);
                break;
            }
            second = second.or(Some(cpu));
        }
        if let Some(cpu) = chosen.or(second) {
            self.idle_hint = cpu;
            let thread = &mut self.threads[thread];
            thread.cpu = cpu;
            if !thread.cpus_seen.contains(&cpu) {
                thread.cpus_seen.push(cpu);
            }
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, now: u64, cpu: u32, slot: u32) {
        self.ios[slot as usize].cpu = cpu;
        let server = &mut self.cpus[cpu as usize];
        if !server.busy {
            self.start_job(now, cpu, slot, true);
            return;
        }
        let tail = server.tail;
        server.tail = slot;
        if tail == NONE {
            server.head = slot;
        } else {
            self.ios[tail as usize].next = slot;
        }
        let io = &mut self.ios[slot as usize];
        io.next = NONE;
        io.stage = Stage::Waiting;
    }

    /// Begins a job; `was_idle`: the CPU had nothing to do.
    #[inline]
    fn start_job(&mut self, now: u64, cpu: u32, slot: u32, was_idle: bool) {
        let mut parts = self.parts_of(now, cpu, slot, was_idle);
        let sibling_works = self.cpus[cpu as usize].sibling.is_some_and(|s| self.cpus[s as usize].busy);
        if sibling_works {
            self.stretch(&mut parts);
        }
        if self.ios[slot as usize].job == Job::Access {
            parts.access = self.access_ps(now, slot);
        }
        let io = &self.ios[slot as usize];
        let before = parts.delay + parts.irq + parts.system_before + parts.user_before + parts.access;
        let after = parts.user_after + parts.system_after;
        let thread = &mut self.threads[io.thread as usize];
        let system = parts.system_before + parts.system_after + parts.access;
        match io.job {
            Job::PollerSubmit => thread.poller_ps += system,
            Job::Interrupt => {}
            _ => {
                thread.user_ps += parts.user_before + parts.user_after;
                thread.system_ps += system;
            }
        }
        let server = &mut self.cpus[cpu as usize];
        server.busy = true;
        server.last_thread = io.thread;
        if parts.irq > 0 {
            server.interrupt_until_ps = now + parts.delay + parts.irq;
        }
        server.after_ps = after;
        server.user_ps += parts.user_before + parts.user_after;
        server.system_ps += system;
        server.irq_ps += parts.irq;
        server.delay_ps += parts.delay;
        server.idle_ps += now - server.free_ps;
        server.free_ps = now + before + after;
        self.stamp_slack_ps = self.stamp_slack_ps.max(after);
        self.plan(now + before + after, slot, Stage::Job);
    }

    /// What a job costs this CPU.
    #[inline]
    fn parts_of(&mut self, now: u64, cpu: u32, slot: u32, was_idle: bool) -> Parts {
        let io = &self.ios[slot as usize];
        let thread = &mut self.threads[io.thread as usize];
        let Lane { costs, place, .. } = *thread.lane(io.lane);
        let mut parts = Parts::default();
        let server = &mut self.cpus[cpu as usize];
        let woken = was_idle && !thread.polled;
        if io.job == Job::Interrupt {
            if !io.merged {
                parts.irq = costs.interrupt_ps;
                self.counters.interrupts += 1;
                self.vectors[vector_of(place, self.drives.len())][cpu as usize] += 1;
            }
            // The completion itself is seen here; the thread only collects it.
            parts.irq += costs.complete_ps / 2;
            return parts;
        }
        if io.job == Job::PollerSubmit {
            parts.system_before = costs.submit_ps;
            return parts;
        }
        if woken {
            parts.delay = costs.wake_delay_ps;
            parts.system_before += if thread.floating { costs.migrate_ps } else { 0 };
        }
        if woken || server.last_thread != io.thread {
            parts.system_before += costs.wake_ps;
            self.counters.context_switches += 1;
        }
        let submit_ps = if thread.poller.is_some() { 0 } else { costs.submit_ps };
        match io.job {
            Job::Submit => {
                parts.user_after = costs.user_ps;
                parts.system_after = submit_ps;
                server.reissue = true;
            }
            Job::Cycle => {
                if !io.merged {
                    parts.irq = costs.interrupt_ps;
                    self.counters.interrupts += 1;
                    self.vectors[vector_of(place, self.drives.len())][cpu as usize] += 1;
                }
                parts.system_before += costs.complete_ps;
                parts.user_before = costs.user_ps / 2;
                server.reissue = thread.may_issue(now);
                if server.reissue {
                    parts.user_after = costs.user_ps - costs.user_ps / 2;
                    parts.system_after = submit_ps;
                }
            }
            Job::Access | Job::CacheCopy => {
                parts.user_before = costs.user_ps;
                parts.system_before += costs.submit_ps + costs.complete_ps;
                if io.job == Job::CacheCopy {
                    parts.access = transfer_ps(u64::from(self.sizes[io.class as usize]), self.copy_bytes_per_s);
                }
                server.reissue = thread.may_issue(now);
            }
            Job::Array => parts.user_before = io.arrived_ps,
            Job::Interrupt | Job::PollerSubmit => unreachable!("returned above"),
        }
        parts
    }

    /// The sibling works too: everything takes longer.
    fn stretch(&self, parts: &mut Parts) {
        for part in [
            &mut parts.irq,
            &mut parts.system_before,
            &mut parts.user_before,
            &mut parts.user_after,
            &mut parts.system_after,
        ] {
            *part = (*part * self.smt_stretch_q16) >> 16;
        }
    }

    fn access_ps(&mut self, at: u64, slot: u32) -> u64 {
        let io = &mut self.ios[slot as usize];
        let Place::Drive(drive) = self.threads[io.thread as usize].lane(io.lane).place else { return 0 };
        io.drive = drive;
        io.arrived_ps = at;
        io.in_drive = true;
        self.counters.commands_planned += 1;
        let drive = &mut self.drives[drive as usize];
        drive.arrive(at);
        drive.access(at, io.op, io.class, io.offset_bytes)
    }

    /// A CPU has finished its job for an I/O.
    #[inline]
    pub(crate) fn job_done(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let server = &mut self.cpus[io.cpu as usize];
        server.busy = false;
        let (after, reissue) = (server.after_ps, server.reissue);
        let first = server.head;
        if first != NONE {
            server.head = self.ios[first as usize].next;
            if server.head == NONE {
                server.tail = NONE;
            }
            // Whoever waited goes first; what the finished job leads to comes behind.
            self.start_job(now, io.cpu, first, false);
        }
        match io.job {
            Job::Submit => {
                self.threads[io.thread as usize].jobs -= 1;
                self.begin(now, slot, now - after);
            }
            Job::Cycle | Job::CacheCopy => {
                self.threads[io.thread as usize].jobs -= 1;
                self.record(slot, now - after);
                self.go_on(now, slot, now - after, reissue);
            }
            Job::Access => {
                self.threads[io.thread as usize].jobs -= 1;
                self.ios[slot as usize].in_drive = false;
                let bytes = self.sizes[io.class as usize];
                self.drives[io.drive as usize].depart(now, io.arrived_ps, io.op, bytes);
                self.record(slot, now);
                self.go_on(now, slot, now, reissue);
            }
            Job::Interrupt => {
                self.ios[slot as usize].merged = true;
                self.enqueue_thread(now, slot, Job::Cycle);
            }
            Job::PollerSubmit => {
                self.ios[slot as usize].submitted_ns = now / NS;
                self.dispatch(now, slot);
            }
            Job::Array => {
                self.threads[io.thread as usize].jobs -= 1;
                self.array_worked(now, slot);
            }
        }
    }

    /// The slot of a finished I/O takes the next, or is free.
    #[inline]
    fn go_on(&mut self, now: u64, slot: u32, created_ps: u64, reissue: bool) {
        if reissue {
            self.begin(now, slot, created_ps);
        } else {
            let thread = self.ios[slot as usize].thread;
            self.threads[thread as usize].spare.push(slot);
        }
        let thread = self.ios[slot as usize].thread;
        if let Some(arrivals) = &mut self.threads[thread as usize].arrivals
            && arrivals.starved
            && arrivals.next_due_ps > now
        {
            arrivals.starved = false;
            let at = arrivals.next_due_ps;
            self.set_due_alarm(thread, at);
        }
    }

    /// An arrival of an open loop falls due.
    pub(crate) fn arrival_due(&mut self, now: u64, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let Some(slot) = state.spare.pop() else {
            if let Some(arrivals) = &mut state.arrivals {
                arrivals.starved = true;
            }
            return;
        };
        let arrivals = state.arrivals.as_mut().expect("only open loops have arrivals");
        let due = arrivals.take();
        let next = arrivals.next_due_ps;
        self.ios[slot as usize].due_ns = due / NS;
        self.set_due_alarm(thread, next);
        if self.is_memory(self.threads[thread as usize].first.place) {
            self.begin_with_due(now, slot, now, due);
        } else {
            self.enqueue_thread(now, slot, Job::Submit);
        }
    }

    /// Makes an I/O in `slot`, created at `created_ps`, and sends it off.
    #[inline]
    pub(crate) fn begin(&mut self, now: u64, slot: u32, created_ps: u64) {
        let io = &self.ios[slot as usize];
        let due_ps = match &mut self.threads[io.thread as usize].arrivals {
            None => created_ps,
            // A submission that was due has its time already; the next in place of a completed one is due by now.
            Some(_) if io.job == Job::Submit => io.due_ns * NS,
            Some(arrivals) => arrivals.take(),
        };
        self.begin_with_due(now, slot, created_ps, due_ps);
    }

    #[inline]
    fn begin_with_due(&mut self, now: u64, slot: u32, created_ps: u64, due_ps: u64) {
        let io = &mut self.ios[slot as usize];
        let thread = &mut self.threads[io.thread as usize];
        if !thread.others.is_empty() {
            io.lane = thread.next_lane(io.lane);
        }
        let span =
            if io.lane == 0 { &mut thread.first.span } else { &mut thread.others[usize::from(io.lane) - 1].span };
        let wish = self.draw.next(span, &mut thread.rng);
        io.op = wish.op;
        io.class = wish.class;
        io.offset_bytes = wish.offset_bytes;
        io.created_ns = created_ps / NS;
        io.due_ns = (due_ps / NS).min(io.created_ns);
        io.submitted_ns = now / NS;
        io.in_flight = true;
        thread.advance(io.created_ns.min(self.end_ns));
        thread.in_flight += 1;
        thread.in_flight_max = thread.in_flight_max.max(thread.in_flight);
        if thread.arrivals.is_some() {
            self.note_delay(slot);
        }
        let io = &self.ios[slot as usize];
        let thread = &mut self.threads[io.thread as usize];
        if self.cache_hit_pct > 0 && io.op == READ && thread.rng.below(100) < self.cache_hit_pct {
            self.counters.cache_hits += 1;
            self.enqueue_thread(now, slot, Job::CacheCopy);
        } else if let Some(poller) = thread.poller {
            self.ios[slot as usize].job = Job::PollerSubmit;
            self.enqueue(now, poller, slot);
        } else if self.is_memory(self.threads[self.ios[slot as usize].thread as usize].first.place) {
            self.enqueue_thread(now, slot, Job::Access);
        } else {
            self.dispatch(now, slot);
        }
    }

    fn note_delay(&mut self, slot: u32) {
        let io = &self.ios[slot as usize];
        let Some(in_window) = io.created_ns.checked_sub(self.meter.start_ns) else { return };
        let interval = (in_window / self.meter.interval_ns) as usize;
        let Some(arrivals) = &mut self.threads[io.thread as usize].arrivals else { return };
        if arrivals.delays.len() <= interval {
            arrivals.delays.resize(interval + 1, (0, 0));
        }
        arrivals.delays[interval].0 += io.created_ns - io.due_ns;
        arrivals.delays[interval].1 += 1;
    }
}
