//! Runs a step on a simulated machine, in virtual time.

use fathom_hist::Histogram;
use fathom_message::{Message, msg};
use fathom_plan::{EngineName, Phase, Step, TargetId};
use fathom_record::{
    Progress, PurgeMethod, PurgeReport, RunControl, Runner, StepFailure, StepRecord, Warning, WhyShortened,
};

use crate::assemble::{Ended, assemble};
use crate::build::{Builder, Fresh, amplification, ps, refused};
use crate::drive::MediaState;
use crate::laws::{LAW_ERROR_MAX, LawErrors, Utilisation};
use crate::machine::Machine;
use crate::snapshot::Snapshot;
use crate::target::{Resolved, target_name};
use crate::window::{Course, Extent, Looks, WarmUp, Window, halve};
use crate::world::{NS, Place, World};

/// Conditioning is analytic: this much of it is run for its figures.
const CONDITIONING_NS_MAX: u64 = 1_000_000_000;
/// The ramp is run in pieces, so that a stop is noticed.
const RAMP_PIECE_NS: u64 = 100_000_000;
/// A warm-up whose length is not known yet begins with pieces of this length.
const WARM_UP_PIECE_NS: u64 = 1_000_000;
/// A beginning of the window that lies beyond every event.
const NOT_YET_NS: u64 = u64::MAX / 2;

/// What is known of a run beside its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// How far the operational laws were off.
    pub laws: LawErrors,
    /// Busy share of every part.
    pub utilisation: Vec<Utilisation>,
    /// Events that the run took.
    pub events: u64,
    /// Completed I/Os, ramp included.
    pub ios: u64,
    /// Programs per unit of host data on flash, over the run: (drive, write amplification).
    pub write_amplification: Vec<(String, f64)>,
}

/// A simulated machine that runs steps. Same machine, same step, same seed: the same record, bit by bit.
#[derive(Clone, Debug)]
pub struct SimRunner {
    machine: Machine,
    started_unix_ns: u64,
    extent: Extent,
    fresh: Fresh,
    truth: Option<Truth>,
}

impl SimRunner {
    /// A runner for `machine`; `started_unix_ns` stands in the records, for nothing here reads a clock.
    #[must_use]
    pub fn new(machine: Machine, started_unix_ns: u64) -> Self {
        SimRunner { machine, started_unix_ns, extent: Extent::Whole, fresh: Fresh::new(), truth: None }
    }

    /// How much of the time that the steps from here on ask for is simulated; all of it unless this says otherwise.
    pub fn set_extent(&mut self, extent: Extent) {
        self.extent = extent;
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to be changed between steps.
    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Whether a drive was purged and is not preconditioned since: then what it gives depends on the steps before.
    #[must_use]
    pub fn has_fresh_drives(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// What is known of the last run; `None` before the first.
    #[must_use]
    pub fn truth(&self) -> Option<&Truth> {
        self.truth.as_ref()
    }

    /// Marks drives as purged; no I/O is needed for that.
    fn purge(&mut self, machine: &Machine, targets: &[Resolved]) -> StepRecord {
        let mut purges = Vec::new();
        for target in targets {
            let drives = drives_of(machine, target.place);
            let bytes = drives.iter().map(|d| machine.drives[*d].device.capacity_bytes).sum();
            for drive in drives {
                self.fresh.insert(machine.drives[drive].name.clone(), 0.0);
            }
            purges.push(PurgeReport {
                target: target.id.clone(),
                method: PurgeMethod::NvmeFormat,
                bytes,
                detail: msg!("sim-purged"),
            });
        }
        StepRecord { started_unix_ns: self.started_unix_ns, purges, ..StepRecord::default() }
    }
}

/// Targets of a step, each a drive or an array.
fn resolve(machine: &Machine, step: &Step) -> Result<Vec<Resolved>, StepFailure> {
    if step.engine.name == EngineName::Fio {
        return Err(refused(msg!("sim-by-fio"), msg!("sim-by-fio-why"), msg!("sim-by-fio-help")));
    }
    if step.engine.name == EngineName::Spdk {
        return Err(refused(msg!("sim-by-spdk"), msg!("sim-by-spdk-why"), msg!("sim-by-spdk-help")));
    }
    if step.engine.name == EngineName::Files {
        return Err(refused(msg!("sim-files"), msg!("sim-files-why"), msg!("sim-files-help")));
    }
    let mut out = Vec::new();
    for target in &step.targets {
        if step.engine.name == EngineName::Null {
            out.push(Resolved { id: target.clone(), place: Place::Nowhere });
            continue;
        }
        if target.array().is_some() {
            // It was put there for this step.
            out.extend(machine.place_of(target.as_str()).map(|place| Resolved { id: target.clone(), place }));
            continue;
        }
        let name = target_name(target.as_str());
        let part = name.map_or(Some(target.as_str()), |name| name.part);
        let members = machine.members_of(part).map_err(|why| {
            refused(msg!("sim-target", target = target.as_str().to_owned()), why, msg!("sim-parts-help"))
        })?;
        for member in members {
            let place = machine.place_of(&member).expect("members are drives and arrays");
            // A target of several drives stands for each of them.
            let target = if name.is_some_and(|n| n.part == Some(member.as_str())) || members_is_one(machine, part) {
                target.clone()
            } else {
                TargetId::new(format!("sim:{}/{member}", name.map_or("", |n| n.machine)))
            };
            out.push(Resolved { id: target, place });
        }
    }
    Ok(out)
}

fn members_is_one(machine: &Machine, part: Option<&str>) -> bool {
    machine.members_of(part).is_ok_and(|members| members.len() == 1)
}

/// Drives behind a place.
fn drives_of(machine: &Machine, place: Place) -> Vec<usize> {
    match place {
        Place::Drive(d) => vec![d as usize],
        Place::Array(a) => {
            let mut members = machine.arrays[a as usize].members.clone();
            members.sort_unstable();
            members.dedup();
            members
        }
        Place::Nowhere => Vec::new(),
    }
}

impl Runner for SimRunner {
    fn run(&mut self, step: &Step, control: &mut RunControl<'_>) -> Result<StepRecord, StepFailure> {
        let machine = self.machine.for_step(step)?.into_owned();
        let targets = resolve(&machine, step)?;
        if step.phase == Phase::Purge {
            return Ok(self.purge(&machine, &targets));
        }
        let mut step = step.clone();
        let conditioning = Builder::is_conditioning(&step);
        if conditioning {
            step.length.passes = None;
            step.length.ramp_ns = 0;
            step.length.budget_ns = step.length.budget_ns.clamp(1_000_000, CONDITIONING_NS_MAX);
            step.length.floor_ns = step.length.budget_ns;
        }
        let drives: Vec<usize> = targets.iter().flat_map(|t| drives_of(&machine, t.place)).collect();
        let course = Course::of(self.extent, &machine, &step, &drives, &self.fresh);
        let interval_ns = interval_ns(step.length.budget_ns);
        let start_ns = if course == Course::Whole { step.length.ramp_ns } else { NOT_YET_NS };
        let builder =
            Builder { machine: &machine, step: &step, targets: &targets, fresh: &self.fresh, start_ns, interval_ns };
        builder.check_stages()?;
        let world = builder.world()?;
        let fresh = &mut self.fresh;
        let ended =
            Drive { machine: &machine, fresh, step: &step, drives: &drives, course, world }.run(control, interval_ns);
        self.settle_history(&machine, &step, &targets);
        let (mut record, truth) = assemble(&machine, &step, &targets, ended, self.started_unix_ns);
        let largest = truth.laws.largest();
        let laws = truth.laws;
        self.truth = Some(truth);
        if largest > LAW_ERROR_MAX {
            return Err(StepFailure::Failed {
                what: msg!("sim-law-broken"),
                why: Message::verbatim(format!("{laws:?}")),
                help: msg!("sim-law-broken-help"),
            });
        }
        if conditioning {
            record.warnings.push(Warning::Note { text: msg!("sim-conditioned-analytically") });
        }
        Ok(record)
    }
}

impl SimRunner {
    /// What the step leaves on purged drives.
    fn settle_history(&mut self, machine: &Machine, step: &Step, targets: &[Resolved]) {
        let drives: Vec<usize> = targets.iter().flat_map(|t| drives_of(machine, t.place)).collect();
        for drive in drives {
            let name = &machine.drives[drive].name;
            match step.phase {
                Phase::Fill => {
                    if let Some(fills) = self.fresh.get_mut(name) {
                        *fills = fills.max(1.0);
                    }
                }
                Phase::Precondition | Phase::Settle => {
                    self.fresh.remove(name);
                }
                // Purges have their own way, and what a measurement writes is counted while it runs.
                _ => {}
            }
        }
    }
}

/// Intervals as an engine on a real host makes them: 100 ms up to a minute, shorter for short windows, longer beyond.
fn interval_ns(budget_ns: u64) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    if budget_ns < SECOND {
        (budget_ns / 10).max(1_000)
    } else if budget_ns <= 60 * SECOND {
        SECOND / 10
    } else {
        SECOND * budget_ns.div_ceil(1_200 * SECOND).max(1)
    }
}

/// Drives a world through ramp and window.
struct Drive<'a> {
    machine: &'a Machine,
    fresh: &'a mut Fresh,
    step: &'a Step,
    /// Drives behind the step's targets.
    drives: &'a [usize],
    course: Course,
    world: World,
}

impl Drive<'_> {
    fn run(mut self, control: &mut RunControl<'_>, interval_ns: u64) -> Ended {
        let (window, mut interrupted) = match self.course {
            Course::Whole => (Window::whole(self.step, interval_ns), self.ramp(control)),
            Course::UntilKnown | Course::Aging => self.warm_up(control),
        };
        let start_ns = window.start_ns;
        let before = Snapshot::of(&self.world, ps(start_ns));
        self.world.end_ns = start_ns.saturating_add(window.length_ns);
        if interrupted {
            self.world.end_ns = start_ns + window.interval_ns;
        }
        let mut looks = Looks::new(self.course, &window);
        let mut shortened = (self.course == Course::Aging).then_some(WhyShortened::DrivesAged);
        let mut cpu_busy = Vec::new();
        let mut last = before.clone();
        loop {
            let end = self.world.meter.interval_end_ns().min(self.world.end_ns);
            let more = self.advance_to(end);
            if !more {
                self.world.end_ns = end.min(self.world.last_reaped_ns.max(start_ns) + 1);
            }
            let now = Snapshot::of(&self.world, ps(end));
            cpu_busy.push(now.busy_shares_since(&last));
            last = now;
            let end = end.min(self.world.end_ns);
            self.world.meter.close_interval(end);
            self.age_flash(window.aging);
            (control.on_progress)(&self.progress(end - start_ns));
            if end >= self.world.end_ns {
                break;
            }
            if self.course == Course::UntilKnown && halve(&mut self.world.meter.intervals, &mut cpu_busy) {
                self.world.meter.double_intervals();
            }
            let enough = looks.look(end - start_ns, control, &self.world.meter.intervals, self.step);
            interrupted |= control.stopped();
            if enough.is_some() || interrupted {
                self.world.end_ns = self.world.end_ns.min(end + self.world.meter.interval_ns);
            }
            shortened = shortened.or(enough.filter(|_| self.course == Course::UntilKnown));
        }
        let shortened = shortened.filter(|_| self.world.end_ns - start_ns < self.step.length.budget_ns);
        Ended { world: self.world, before, after: last, cpu_busy, interrupted, shortened }
    }

    /// Runs the ramp that was asked for; true when the user stopped it.
    fn ramp(&mut self, control: &RunControl<'_>) -> bool {
        let (mut at, mut interrupted) = (0, false);
        while at < self.step.length.ramp_ns && !interrupted {
            at = (at + RAMP_PIECE_NS).min(self.step.length.ramp_ns);
            self.advance_to(at);
            interrupted = control.stopped();
        }
        interrupted
    }

    /// Runs until the beginning is forgotten; the window that follows, and whether the user stopped.
    fn warm_up(&mut self, control: &RunControl<'_>) -> (Window, bool) {
        let wanted = WarmUp::of(self.machine, self.step, self.drives, self.world.ios.len() as u64);
        let (mut at, mut interrupted) = (0, false);
        let ios_per_s = loop {
            let piece_ns = (at / 4).clamp(WARM_UP_PIECE_NS, RAMP_PIECE_NS);
            let (ios_before, _) = self.world.meter.before_window;
            let more = self.advance_to(at + piece_ns);
            at += piece_ns;
            interrupted |= control.stopped();
            let (ios, bytes) = self.world.meter.before_window;
            if interrupted || !more || wanted.is_over(at, ios, bytes) {
                break (ios - ios_before) as f64 * 1e9 / piece_ns as f64;
            }
        };
        // Some events beyond the time are past already.
        let start_ns = at + self.world.stamp_slack_ps / NS + 2;
        let window = Window::shortened(self.course, self.step, wanted, start_ns, ios_per_s);
        self.world.begin_window(start_ns, window.interval_ns);
        self.advance_to(start_ns);
        // What was written so far did not age them faster.
        self.age_flash(1.0);
        (window, interrupted)
    }

    /// Runs until every completion stamped before `at_ns` is counted; false when nothing is left to happen.
    fn advance_to(&mut self, at_ns: u64) -> bool {
        loop {
            let slack = self.world.stamp_slack_ps;
            let more = self.world.run_until(ps(at_ns).saturating_add(slack));
            if !more || self.world.stamp_slack_ps == slack {
                return more;
            }
        }
    }

    /// Purged drives fill up, `times` as fast as they are written to: their write amplification follows.
    fn age_flash(&mut self, times: f64) {
        let sequential = matches!(self.step.workload.pattern, fathom_plan::Pattern::Sequential);
        for drive in self.drives {
            let spec = &self.machine.drives[*drive];
            let state = &mut self.world.drives[*drive];
            let written = state.count.bytes[crate::load::WRITE as usize];
            let MediaState::Nand(nand) = &mut state.media else { continue };
            let Some(fills) = self.fresh.get_mut(&spec.name) else { continue };
            let new = written - std::mem::replace(&mut nand.written_before, written);
            *fills += times * new as f64 / spec.device.capacity_bytes as f64;
            let rho = nand.spec().spare_pct / 100.0;
            nand.set_amplification(amplification(rho, sequential, Some(*fills)));
        }
    }

    fn progress(&self, elapsed_ns: u64) -> Progress {
        let last = self.world.meter.intervals.last();
        let seconds = last.map_or(1.0, |i| i.length_ns.max(1) as f64 / 1e9);
        let sum = |of: fn(&fathom_record::DirectionInterval) -> u64| {
            last.map_or(0, |i| i.directions.iter().map(of).sum::<u64>()) as f64 / seconds
        };
        let p99_ns = last.and_then(|interval| {
            let mut merged = Histogram::new();
            interval.directions.iter().for_each(|d| merged.merge(&d.lat));
            if merged.count() >= 100 { merged.quantile(0.99) } else { None }
        });
        Progress {
            elapsed_ns,
            remaining_ns: self.step.length.budget_ns.saturating_sub(elapsed_ns),
            iops: sum(|d| d.ios),
            bytes_per_s: sum(|d| d.bytes),
            bytes_done: self.world.meter.bytes_done,
            p99_ns,
            activity: None,
        }
    }
}
