//! The event loop: I/Os on their way through threads, CPUs, links, drives and back, in virtual time.
//!
//! Stages that serve in the order of arrival are reserved without an event; an event stands only where the order can
//! change: at the end of a CPU's job, of the media's work, and on arrival at the host.

use crate::agenda::{Agenda, Heap};
use crate::array::{ArrayState, Rounds};
use crate::cpu::{Cpu, Job, Thread};
use crate::drive::{DOWN, DriveState, MediaState, Next, UP};
use crate::fault::Alarm;
use crate::load::{Draw, READ};
use crate::meter::{Completed, Meter};
use crate::pipe::{Pipe, first_ps, transfer_ps};

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;
/// Slots from here on are alarms, not I/Os.
pub(crate) const ALARM_BASE: u32 = 1 << 23;
/// Picoseconds of a nanosecond, the tick of the clock that stamps I/Os.
pub(crate) const NS: u64 = 1_000;

/// What the next event of an I/O means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No event is planned: it waits in a queue, or is free.
    Waiting,
    /// A CPU is done with its job for it.
    Job,
    /// It reaches the drive.
    AtDrive,
    /// The mapping entry has been read.
    Map,
    /// The media are done.
    Media,
    /// The channel is done.
    Channel,
    /// It reaches this shared link on the way up.
    Uplink(u16),
    /// Its completion reaches whoever asked: host or array.
    Back,
    /// It reaches the array's controller.
    Array,
    /// The array's parity computation is done.
    Parity,
    /// The array's answer reaches the host.
    Home,
}

/// An I/O of a thread, or a part of one on its way to a member of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    pub(crate) offset_bytes: u64,
    pub(crate) due_ns: u64,
    pub(crate) created_ns: u64,
    pub(crate) submitted_ns: u64,
    pub(crate) arrived_ps: u64,
    pub(crate) thread: u32,
    /// Which of the thread's targets it is on.
    pub(crate) lane: u16,
    /// Next in the queue it waits in.
    pub(crate) next: u32,
    /// The array's I/O that it is a part of.
    pub(crate) parent: u32,
    /// Parts that are still out.
    pub(crate) parts_out: u16,
    pub(crate) drive: u16,
    pub(crate) class: u16,
    pub(crate) op: u8,
    pub(crate) job: Job,
    pub(crate) stage: Stage,
    /// Which of an array's rounds of parts is under way.
    pub(crate) round: u8,
    /// Its interrupt was taken together with another.
    pub(crate) merged: bool,
    /// Counted as in flight; false between the I/Os of a thread.
    pub(crate) in_flight: bool,
    /// Counted as inside its drive.
    pub(crate) in_drive: bool,
    /// CPU that works for it, or did last.
    pub(crate) cpu: u32,
}

impl Io {
    pub(crate) fn idle(thread: u32, lane: u16) -> Self {
        Io {
            offset_bytes: 0,
            due_ns: 0,
            created_ns: 0,
            submitted_ns: 0,
            arrived_ps: 0,
            thread,
            lane,
            next: NONE,
            parent: NONE,
            parts_out: 0,
            drive: 0,
            class: 0,
            op: READ,
            job: Job::Submit,
            stage: Stage::Waiting,
            round: 0,
            merged: false,
            in_flight: false,
            in_drive: false,
            cpu: 0,
        }
    }
}

/// A link that drives share.
#[derive(Debug)]
pub(crate) struct Uplink {
    pub(crate) name: String,
    pub(crate) bytes_per_s: u64,
    pub(crate) upstream: Option<usize>,
    pub(crate) down: Pipe,
    pub(crate) up: Pipe,
}

/// Where a thread's I/O goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A drive.
    Drive(u16),
    /// An array.
    Array(u16),
    /// Nowhere (engine null).
    Nowhere,
}

impl Place {
    /// Whether it is that array.
    pub(crate) fn is_array(self, array: u16) -> bool {
        self == Place::Array(array)
    }
}

/// The machine at work on one step.
pub(crate) struct World {
    pub(crate) agenda: Heap,
    pub(crate) ios: Vec<Io>,
    pub(crate) spare_ios: Vec<u32>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) drives: Vec<DriveState>,
    pub(crate) arrays: Vec<ArrayState>,
    pub(crate) plans: Rounds,
    pub(crate) uplinks: Vec<Uplink>,
    pub(crate) alarms: Vec<Alarm>,
    pub(crate) draw: Draw,
    /// Bytes of each class.
    pub(crate) sizes: Vec<u32>,
    pub(crate) meter: Meter,
    pub(crate) counters: Counters,
    /// Interrupts: `[drive, nowhere, array][cpu]`.
    pub(crate) vectors: Vec<Vec<u64>>,
    /// Longest time a job went on after its completion was stamped: how far events can be out of order.
    pub(crate) stamp_slack_ps: u64,
    /// End of the window, once it is known.
    pub(crate) end_ns: u64,
    /// Age at the end of the window of I/Os that were reaped just after it.
    pub(crate) late_age_ns: u64,
    /// Part of `late_age_ns` that lies before the window.
    pub(crate) late_age_before_ns: u64,
    pub(crate) last_reaped_ns: u64,
    /// Share of reads that the host's memory answers, percent.
    pub(crate) cache_hit_pct: u64,
    pub(crate) copy_bytes_per_s: u64,
    /// How much longer a job takes while the sibling works, 1/65536.
    pub(crate) smt_stretch_q16: u64,
    /// Where a search for an idle CPU begins.
    pub(crate) idle_hint: u32,
}

/// What the host counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) interrupts: u64,
    pub(crate) context_switches: u64,
    pub(crate) cache_hits: u64,
    pub(crate) events: u64,
    /// Commands that the started I/Os must send to drives: what forced flow is checked with.
    pub(crate) commands_planned: u64,
}

impl World {
    /// Works off events until one lies beyond `until_ps`; false when none is left.
    pub(crate) fn run_until(&mut self, until_ps: u64) -> bool {
        while let Some((now, slot)) = self.agenda.pop() {
            if now > until_ps {
                self.agenda.put_back();
                return true;
            }
            self.counters.events += 1;
            self.event(now, slot);
        }
        false
    }

    /// Lets the window begin at `start_ns`, which no completion has passed yet.
    pub(crate) fn begin_window(&mut self, start_ns: u64, interval_ns: u64) {
        self.meter.begin_window(start_ns, interval_ns);
        self.threads.iter_mut().for_each(|thread| thread.window_start_ns = start_ns);
    }

    #[inline]
    fn event(&mut self, now: u64, slot: u32) {
        if slot >= ALARM_BASE {
            self.alarm(now, slot - ALARM_BASE);
            return;
        }
        match self.ios[slot as usize].stage {
            Stage::Job => self.job_done(now, slot),
            Stage::Media => self.media_done(now, slot),
            Stage::Back => self.back(now, slot),
            Stage::AtDrive => self.at_drive(now, slot),
            Stage::Map => {
                let io = self.ios[slot as usize];
                let done = self.drives[io.drive as usize].read_mapped(now, io.class, io.offset_bytes);
                self.plan(done, slot, Stage::Media);
            }
            Stage::Channel => self.past_channel(now, slot),
            Stage::Uplink(link) => self.uplink(now, slot, link),
            Stage::Array => self.at_array(now, slot),
            Stage::Parity => self.parity_done(now, slot),
            Stage::Home => self.completed(now, slot),
            Stage::Waiting => unreachable!("a waiting I/O has no event"),
        }
    }

    #[inline(always)]
    pub(crate) fn plan(&mut self, time_ps: u64, slot: u32, stage: Stage) {
        self.ios[slot as usize].stage = stage;
        self.agenda.push(time_ps, slot);
    }

    /// A thread's I/O leaves the CPU.
    #[inline]
    pub(crate) fn dispatch(&mut self, now: u64, slot: u32) {
        let Io { thread, lane, .. } = self.ios[slot as usize];
        let lane = self.threads[thread as usize].lane(lane);
        let (place, serial_ps) = (lane.place, lane.costs.serial_ps);
        match place {
            Place::Drive(drive) => {
                self.counters.commands_planned += 1;
                let io = &mut self.ios[slot as usize];
                io.drive = drive;
                io.parent = NONE;
                if serial_ps == 0 {
                    self.at_drive(now, slot);
                } else {
                    let after = self.drives[drive as usize].lock.reserve(now, serial_ps);
                    self.plan(after, slot, Stage::AtDrive);
                }
            }
            Place::Array(array) => self.enter_array(now, slot, array),
            Place::Nowhere => self.completed(now, slot),
        }
    }

    /// A command reaches a drive.
    #[inline]
    pub(crate) fn at_drive(&mut self, now: u64, slot: u32) {
        let io = &mut self.ios[slot as usize];
        io.arrived_ps = now;
        io.in_drive = true;
        let drive = &mut self.drives[io.drive as usize];
        drive.arrive(now);
        if drive.has_room() {
            self.enter_drive(now, slot);
        } else {
            drive.waiting.push_back(slot);
            self.ios[slot as usize].stage = Stage::Waiting;
        }
    }

    #[inline]
    fn enter_drive(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let (mut t, mut upstream_ps) = (now, 0);
        if let Some(link) = self.drives[io.drive as usize].upstream {
            let bytes = self.drives[io.drive as usize].costs(io.class, io.op).wire[DOWN];
            (t, upstream_ps) = self.down_uplinks(t, link, bytes);
        }
        match self.drives[io.drive as usize].enter(t, upstream_ps, io.op, io.class, io.offset_bytes) {
            Next::Media(done) => self.plan(done, slot, Stage::Media),
            Next::Map(done) => self.plan(done, slot, Stage::Map),
        }
    }

    /// Down through the shared links, the host's end first; when it is past the last, and over what time it came.
    pub(crate) fn down_uplinks(&mut self, now: u64, link: usize, bytes: u64) -> (u64, u64) {
        let (t, upstream_ps) = match self.uplinks[link].upstream {
            Some(upper) => self.down_uplinks(now, upper, bytes),
            None => (now, 0),
        };
        let link = &mut self.uplinks[link];
        let service = transfer_ps(bytes, link.bytes_per_s);
        (link.down.follow(t, upstream_ps, service), service)
    }

    #[inline]
    fn media_done(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        match self.drives[io.drive as usize].channel(now, io.op, io.class, io.offset_bytes) {
            Some(done) => self.plan(done, slot, Stage::Channel),
            None => self.past_channel(now, slot),
        }
    }

    #[inline]
    fn past_channel(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let drive = &mut self.drives[io.drive as usize];
        let t = drive.leave(now, io.op, io.class);
        match drive.upstream {
            Some(link) => {
                // It comes there with its first data.
                let bytes = drive.costs(io.class, io.op).wire[UP];
                let service = transfer_ps(bytes, self.uplinks[link].bytes_per_s);
                let first = first_ps(t, drive.up_ps(io.op, io.class), service);
                self.plan(first, slot, Stage::Uplink(link as u16));
            }
            None => {
                let back = t + drive.fixed_ps + self.remote_ps(&io);
                self.plan(back, slot, Stage::Back);
            }
        }
    }

    fn uplink(&mut self, now: u64, slot: u32, link: u16) {
        let io = self.ios[slot as usize];
        let drive = &self.drives[io.drive as usize];
        let (bytes, fixed_ps) = (drive.costs(io.class, io.op).wire[UP], drive.fixed_ps);
        let link = &mut self.uplinks[link as usize];
        let service = transfer_ps(bytes, link.bytes_per_s);
        let t = if io.op == READ { link.up.reserve(now, service) } else { link.up.slip_in(now, service) };
        match link.upstream {
            Some(upper) => {
                let next = transfer_ps(bytes, self.uplinks[upper].bytes_per_s);
                self.plan(first_ps(t, service, next), slot, Stage::Uplink(upper as u16));
            }
            None => {
                let back = t + fixed_ps + self.remote_ps(&io);
                self.plan(back, slot, Stage::Back);
            }
        }
    }

    /// Extra time of a drive on another socket.
    #[inline]
    fn remote_ps(&self, io: &Io) -> u64 {
        if io.parent == NONE { self.threads[io.thread as usize].lane(io.lane).remote_ps } else { 0 }
    }

    /// A completion leaves the drive for the host or the array.
    #[inline]
    fn back(&mut self, now: u64, slot: u32) {
        let io = &mut self.ios[slot as usize];
        io.in_drive = false;
        let io = *io;
        let drive = &mut self.drives[io.drive as usize];
        let bytes = drive.costs(io.class, io.op).bytes;
        drive.depart(now, io.arrived_ps, io.op, bytes);
        if let Some(waiting) = drive.waiting.pop_front() {
            self.enter_drive(now, waiting);
        }
        if io.parent == NONE {
            self.completed(now, slot);
        } else {
            self.part_done(now, slot);
        }
    }

    /// Stamps and counts a completion at the end of its job; `reaped_ps` is when the thread had it.
    #[inline]
    pub(crate) fn record(&mut self, slot: u32, reaped_ps: u64) {
        let io = &mut self.ios[slot as usize];
        io.in_flight = false;
        let thread = &mut self.threads[io.thread as usize];
        let reaped_ns = reaped_ps / NS;
        thread.advance(reaped_ns.min(self.end_ns));
        thread.in_flight -= 1;
        if reaped_ns >= self.end_ns {
            // It was in flight when the window ended.
            self.late_age_ns += self.end_ns - io.created_ns.min(self.end_ns);
            self.late_age_before_ns += self.meter.start_ns.saturating_sub(io.created_ns);
            return;
        }
        self.last_reaped_ns = self.last_reaped_ns.max(reaped_ns);
        thread.ios += u64::from(reaped_ns >= self.meter.start_ns);
        self.meter.record(&Completed {
            op: io.op,
            bytes: self.sizes[io.class as usize],
            due_ns: io.due_ns,
            created_ns: io.created_ns,
            submitted_ns: io.submitted_ns,
            reaped_ns,
            target: thread.lane(io.lane).target,
        });
    }

    /// Whether an access of this place is the CPU's own.
    #[inline(always)]
    pub(crate) fn is_memory(&self, place: Place) -> bool {
        matches!(place, Place::Drive(d) if matches!(self.drives[d as usize].media, MediaState::Memory { .. }))
    }
}
