//! How long a plan takes, how much it writes, and fitting it into a time.

use fathom_message::{Message, Quantity, Say, msg, say_error};

use crate::condition::{Planned, ROUNDS_DEFAULT, ROUNDS_MIN, with_conditioning};
use crate::knobs::{KnobError, Knobs, RUNTIME_MAX_NS};
use crate::label::tell_apart;
use crate::plan::{Plan, StudyHead};
use crate::ranks::TakePart;
use crate::role::Round;
use crate::stage::STAGE_UNIT_NS;
use crate::step::{Phase, Step, TargetId};
use crate::stream::{at_once, gathered, name_streams, slices};
use crate::study::IO;

/// Least measured time that scaling leaves to a step.
pub const STEP_NS_MIN: u64 = 100_000_000;
/// Wall time that a step is taken to need beside its length: buffers, counters of the host, its commit.
const STEP_EXTRA_NS: u64 = 100_000_000;

const SECOND_NS: u64 = 1_000_000_000;

/// A time budget too short for the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBudgetError {
    /// Asked for.
    pub budget_ns: u64,
    /// Least that gives each step [`STEP_NS_MIN`] and the time around it.
    pub needed_ns: u64,
    /// Number of steps.
    pub steps: usize,
}

impl Say for TimeBudgetError {
    fn message(&self) -> Message {
        msg!("plan-time-too-short", time = Quantity::duration_ns(self.budget_ns), steps = self.steps)
    }

    fn help(&self) -> Option<Message> {
        let least = Quantity::duration_ns(self.needed_ns.next_multiple_of(SECOND_NS));
        Some(msg!("plan-time-too-short-help", least = least))
    }
}

say_error!(TimeBudgetError);

/// What a plan writes: bytes where they are known, else for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedWrites {
    /// Most bytes of the steps that write so many passes over a region, or at a rate.
    pub bytes_max: u64,
    /// Most time of the steps that write as much as the target takes, in ns.
    pub open_ns: u64,
    /// Whether there are also whole passes over regions whose size is not known yet.
    pub passes_over_unknown: bool,
}

impl PlannedWrites {
    /// Whether nothing is written at all.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == PlannedWrites::default()
    }
}

/// Whether only passes over the region end the step.
fn is_bounded_by_passes_alone(step: &Step) -> bool {
    step.length.passes.is_some() && step.length.budget_ns >= RUNTIME_MAX_NS
}

impl Plan {
    /// Makes the one-step plan of `fathom io`. `command_line` is kept as the source.
    ///
    /// # Errors
    /// Knobs that contradict each other, or no target.
    pub fn from_io(knobs: &Knobs, targets: Vec<TargetId>, command_line: &str) -> Result<Plan, KnobError> {
        Plan::from_io_streams(vec![(knobs.clone(), targets)], command_line)
    }

    /// The same with several loads that run at once, called A, B and so on.
    ///
    /// # Errors
    /// As [`Plan::from_io`], and a stream that writes what another one verifies.
    pub fn from_io_streams(loads: Vec<(Knobs, Vec<TargetId>)>, command_line: &str) -> Result<Plan, KnobError> {
        let mut notes = Vec::new();
        let mut streams = Vec::new();
        let mut made_by = Vec::new();
        for (index, (knobs, targets)) in (0..).zip(loads) {
            let step = knobs.build(0, "A", &targets, &mut notes)?;
            if let Some(pair) = step.role.rate_pair {
                let key = if pair.read_pct > 0 { "read_rate" } else { "write_rate" };
                return Err(KnobError {
                    key: key.to_owned(),
                    unknown_key: false,
                    message: msg!("knob-pair-of-unknown"),
                    help: Some(msg!("knob-pair-of-unknown-help")),
                });
            }
            if let Some(share) = step.missing_rate() {
                return Err(KnobError {
                    key: "rate_iops".to_owned(),
                    unknown_key: false,
                    message: msg!("knob-share-of-nothing", share = format!("{}%", share.pct)),
                    help: Some(msg!("knob-share-of-nothing-help")),
                });
            }
            streams.push((letters(index), step));
            made_by.push((knobs, targets));
        }
        let tied = at_once(0, streams).map_err(|e| KnobError {
            key: "verify".to_owned(),
            unknown_key: false,
            message: e.message,
            help: Some(e.help),
        })?;
        let planned = tied.into_iter().zip(made_by).map(|(step, (knobs, targets))| Planned::new(step, &knobs, targets));
        let mut steps = gathered(with_conditioning(planned.collect()));
        for (index, step) in (0u32..).zip(steps.iter_mut()) {
            step.index = index;
            step.seed = step.seed.wrapping_add(step.role.stream.as_ref().map_or(0, |s| u64::from(s.index)));
        }
        name_streams(steps.iter_mut());
        let study = StudyHead::new(IO, "");
        Ok(Plan {
            study,
            source: command_line.to_owned(),
            steps,
            notes,
            job_files: Vec::new(),
            machine: None,
            ranks: None,
        })
    }

    /// The load of a plan by hand once for each of these numbers of ranks; what conditions its targets stays before it.
    #[must_use]
    pub fn over_ranks(mut self, counts: &[u32]) -> Plan {
        let is_measured = |step: &Step| step.phase == Phase::Measure && step.role.stream.is_none();
        let (measured, mut steps): (Vec<Step>, Vec<Step>) = self.steps.into_iter().partition(is_measured);
        let mut ladder = Vec::new();
        for (at, count) in (0u32..).zip(counts) {
            for step in &measured {
                let mut step = step.clone();
                step.index = steps.len() as u32 + ladder.len() as u32;
                step.seed = step.seed.wrapping_add(at.into());
                step.role.ranks = Some(TakePart::of(*count));
                ladder.push(step);
            }
        }
        tell_apart(ladder.iter_mut());
        steps.extend(ladder);
        self.steps = steps;
        self
    }

    /// Most time the steps run, warm-ups included, in ns; laying out files comes on top. `None` when a step ends only
    /// after its passes over the region.
    #[must_use]
    pub fn time_budget_ns(&self) -> Option<u64> {
        let time = |s: &Step| {
            (!is_bounded_by_passes_alone(s))
                .then(|| (s.length.delay_ns + s.length.ramp_ns).saturating_add(s.length.budget_ns))
        };
        // Streams run at once: the longest counts.
        let times = slices(&self.steps)
            .map(|at_once| at_once.iter().map(time).try_fold(0, |longest: u64, time| Some(longest.max(time?))));
        times.sum::<Option<u64>>()
    }

    /// Whether any step writes or trims, or is on an array that writes beside the load.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.steps.iter().any(|s| s.workload.mix.is_destructive() || !s.written().is_empty())
    }

    /// Most bytes the steps can write to all targets, laying out files not counted. `None` when that depends on the
    /// speed of the target (a closed loop without a number of passes).
    #[must_use]
    pub fn bytes_written_max_estimate(&self) -> Option<u64> {
        self.steps.iter().map(step_bytes_written_max).try_fold(0u64, |sum, b| Some(sum.saturating_add(b?)))
    }

    /// What the plan writes to all targets together, laying out files not counted.
    #[must_use]
    pub fn writes(&self) -> PlannedWrites {
        let mut writes = PlannedWrites::default();
        for step in self.steps.iter().filter(|s| s.workload.mix.write_pct > 0) {
            match step_bytes_written_max(step) {
                Some(bytes) => writes.bytes_max = writes.bytes_max.saturating_add(bytes),
                None if is_bounded_by_passes_alone(step) => writes.passes_over_unknown = true,
                None => writes.open_ns = writes.open_ns.saturating_add(step.length.ramp_ns + step.length.budget_ns),
            }
        }
        writes
    }

    /// Fits the plan into `budget_ns`: first loops lose rounds (five are left, the fewest that can be judged), then all
    /// steps are stretched or shrunk in proportion, so that warm-ups, budgets and the time around the steps add up to
    /// `budget_ns` at most. Conditioning gets a third of the time at most; other steps bounded by their passes alone
    /// share equally with the mean of the others. What that costs in precision stands in the notes.
    ///
    /// # Errors
    /// Less than [`STEP_NS_MIN`] per step beside the time around it; the plan is then unchanged.
    pub fn scale_to_time_budget(&mut self, budget_ns: u64) -> Result<(), TimeBudgetError> {
        let full_ns = wall_ns(&self.steps, |s| !is_bounded_by_passes_alone(s));
        let rounds_left = rounds_left(&self.steps, full_ns, budget_ns);
        let is_left = |step: &Step| rounds_left.is_none_or(|left| step.role.round.is_none_or(|r| left.keeps(r)));
        let steps = slices(&self.steps).filter(|at_once| at_once.iter().any(is_left)).count();
        let needed_ns = (STEP_NS_MIN + STEP_EXTRA_NS).saturating_mul(steps as u64);
        if budget_ns < needed_ns {
            return Err(TimeBudgetError { budget_ns, needed_ns, steps });
        }
        self.steps.retain(|step| is_left(step));
        for (index, step) in (0u32..).zip(self.steps.iter_mut()) {
            step.index = index;
            if let (Some(left), Some(round)) = (rounds_left, &mut step.role.round) {
                round.max = left.of(round.max);
            }
        }
        let measuring = |steps: &[Step]| steps.iter().filter(|s| !conditions(s)).map(step_ns).sum::<u128>();
        bound_passes_by_time(&mut self.steps);
        let before_ns = measuring(&self.steps);
        share_out(&mut self.steps, budget_ns - needed_ns);
        let kept = measuring(&self.steps) as f64 / before_ns.max(1) as f64;
        self.notes.extend(budget_note(full_ns, budget_ns, kept, rounds_left));
        Ok(())
    }
}

/// `A` to `Z`, then `A2` and so on.
fn letters(index: u32) -> String {
    let letter = char::from_u32(u32::from('A') + index % 26).unwrap_or('A');
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26 + 1) }
}

fn step_ns(step: &Step) -> u128 {
    u128::from(step.length.ramp_ns) + u128::from(step.length.budget_ns)
}

/// Time that these steps take, of streams that run at once the longest.
fn wall_ns(steps: &[Step], which: impl Fn(&Step) -> bool) -> u128 {
    slices(steps).map(|at_once| at_once.iter().filter(|s| which(s)).map(step_ns).max().unwrap_or(0)).sum()
}

/// Share of the rounds that a short run keeps.
#[derive(Clone, Copy)]
struct RoundsLeft {
    share: f64,
}

impl RoundsLeft {
    fn of(self, max: u32) -> u32 {
        ((f64::from(max) * self.share) as u32).clamp(ROUNDS_MIN.min(max), max)
    }

    fn keeps(self, round: Round) -> bool {
        round.index < self.of(round.max)
    }
}

/// `None`: all rounds are kept.
fn rounds_left(steps: &[Step], full_ns: u128, budget_ns: u64) -> Option<RoundsLeft> {
    let loops = steps.iter().any(|s| s.role.round.is_some());
    (loops && full_ns > u128::from(budget_ns)).then(|| RoundsLeft { share: budget_ns as f64 / full_ns as f64 })
}

fn bound_passes_by_time(steps: &mut [Step]) {
    let timed: Vec<u128> = steps.iter().filter(|s| !is_bounded_by_passes_alone(s)).map(step_ns).collect();
    let sum: u128 = timed.iter().sum();
    let mean_ns = sum.checked_div(timed.len() as u128).map_or(STEP_NS_MIN, |m| m as u64);
    let is_pass = |s: &&mut Step| matches!(s.phase, Phase::Fill | Phase::Precondition);
    let conditioning = steps.iter_mut().filter(is_pass).count() as u128;
    // A third of the others' time is a quarter of the whole.
    let part_ns = (sum / 3).checked_div(conditioning).map_or(mean_ns, |p| p as u64);
    for step in steps.iter_mut().filter(|s| is_bounded_by_passes_alone(s)) {
        let ns = if matches!(step.phase, Phase::Fill | Phase::Precondition) { part_ns } else { mean_ns };
        step.length.ramp_ns = 0;
        step.length.floor_ns = ns;
        step.length.budget_ns = ns;
    }
}

/// Whether a step brings targets into their state rather than measuring them.
fn conditions(step: &Step) -> bool {
    matches!(step.phase, Phase::Purge | Phase::Fill | Phase::Precondition | Phase::Settle)
}

/// Gives each step the least length and its share of `spare_ns`; all conditioning together a third of it at most.
fn share_out(steps: &mut [Step], spare_ns: u64) {
    let sum = |which: bool| wall_ns(steps, |s| conditions(s) == which) as f64;
    let (conditioning, measuring) = (sum(true), sum(false));
    let too_long = measuring > 0.0 && conditioning > measuring / 2.0;
    let conditioning_weight = if too_long { measuring / 2.0 / conditioning } else { 1.0 };
    let total = (conditioning * conditioning_weight + measuring).max(1.0);
    for step in steps {
        let step_ns = step_ns(step);
        let weight = if conditions(step) { conditioning_weight } else { 1.0 };
        let l = &mut step.length;
        let share_ns = u128::from(STEP_NS_MIN) + (spare_ns as f64 * (step_ns as f64 * weight / total)) as u128;
        let part = |ns: u64| (u128::from(ns) * share_ns / step_ns.max(1)) as u64;
        (l.ramp_ns, l.floor_ns, l.budget_ns) = (part(l.ramp_ns), part(l.floor_ns), part(l.budget_ns));
        if !step.role.stages.is_empty() {
            for stage in &mut step.role.stages {
                stage.length_ns = (part(stage.length_ns) / STAGE_UNIT_NS).max(1) * STAGE_UNIT_NS;
            }
            l.budget_ns = step.role.stages.iter().map(|stage| stage.length_ns).sum();
            l.floor_ns = l.budget_ns;
        }
    }
}

/// What a shorter run costs: the width of an interval goes with the root of the time, of which `kept` is left.
fn budget_note(full_ns: u128, budget_ns: u64, kept: f64, rounds_left: Option<RoundsLeft>) -> Option<Message> {
    if kept > 0.9 {
        return None;
    }
    let time = Quantity::duration_ns(budget_ns);
    let full = Quantity::duration_ns(u64::try_from(full_ns).unwrap_or(u64::MAX));
    let width = format!("{:.1}", (1.0 / kept).sqrt());
    Some(match rounds_left {
        None => msg!("plan-scaled", time = time, full = full, width = width),
        Some(left) => msg!(
            "plan-scaled-rounds",
            time = time,
            full = full,
            width = width,
            rounds = left.of(ROUNDS_DEFAULT),
            usual = ROUNDS_DEFAULT
        ),
    })
}

fn step_bytes_written_max(step: &Step) -> Option<u64> {
    let mix = step.workload.mix;
    if mix.write_pct == 0 {
        return Some(0);
    }
    // A thread that owns a part of a target passes over that alone, so this is the most.
    let passers: usize = step.workers_by_target().iter().map(Vec::len).sum();
    let by_passes = step.length.passes.and_then(|passes| {
        let region = u128::from(step.workload.region.size_bytes?);
        // Of a pass that is asked to move more than the region has.
        let region = region.max(step.workload.order.pass_bytes.unwrap_or(0).into());
        let region = step.role.part.filter(|p| !p.is_cut).map_or(region, |part| region / u128::from(part.of.max(1)));
        Some(region * u128::from(passes) * passers as u128)
    });
    let share = f64::from(mix.write_pct) / 100.0;
    let by_passes = by_passes.map(|bytes| match step.load.op_rates {
        // A write follows each trim.
        None if step.workload.order.trims_first => bytes,
        None => bytes * u128::from(mix.write_pct) / 100,
        // Writes take the place of reads that are ahead of their rate, so that they may be all of the I/Os.
        Some(rates) => (bytes as f64 * rates.write_share().unwrap_or(1.0)) as u128,
    });
    let of_ops = step.load.op_rates.and_then(|rates| rates.write_iops);
    let writes_per_s = of_ops.or(step.load.rate.map(|rate| rate.iops * share));
    let by_rate = writes_per_s.map(|iops| {
        let seconds = step.length.ramp_ns.saturating_add(step.length.budget_ns) as f64 / 1e9;
        (iops * seconds * f64::from(step.workload.block_bytes_max())) as u128
    });
    let written = match (by_passes, by_rate) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    u64::try_from(written).ok()
}
