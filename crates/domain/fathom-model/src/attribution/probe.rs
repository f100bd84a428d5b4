//! Neighbouring steps as probes, and the probes that a plan lacks.

use fathom_message::Quantity;
use fathom_plan::{EngineName, Mode, Phase, Placement, Step};

use super::neighbour::{ProbeChange, ProbeResult};
use super::seen::Seen;
use super::{Confidence, LimitName, Observation, cpu, judge};

/// Doubling the queue depth must raise IOPS by this factor before depth is called the limit.
pub(super) const DEPTH_HELPS_PER_DOUBLING: f64 = 1.22;
/// Relief that raises IOPS by this factor confirms the part that was relieved.
pub(super) const RELIEF_HELPS: f64 = 1.2;
/// More load that raises IOPS by less than this factor shows a part at its limit.
pub(super) const LOAD_USELESS: f64 = 1.1;

/// A neighbour: what it had in flight, of threads or of targets, and its IOPS over this step's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    step_index: u32,
    pub(super) count: u32,
    pub(super) gain: f64,
    /// Half the width of the gain's 95 % interval, as a share of it; a step too short for an interval adds nothing.
    pub(super) gain_rel_half_width: f64,
}

impl Neighbour {
    /// What another step gave in IOPS.
    pub(super) fn of_iops(count: u32, this: &Observation, other: &Observation) -> Neighbour {
        Neighbour::new(count, this, other, Observation::iops)
    }

    /// What another step gave in bytes per second.
    pub(super) fn of_bytes(count: u32, this: &Observation, other: &Observation) -> Neighbour {
        Neighbour::new(count, this, other, Observation::bytes_per_s)
    }

    /// `of`: what is compared, of a step. Errors of two steps add as those of independent figures do.
    fn new(count: u32, this: &Observation, other: &Observation, of: impl Fn(&Observation) -> f64) -> Neighbour {
        let half_width = |o: &Observation| o.rel_half_width().unwrap_or(0.0);
        Neighbour {
            step_index: other.step.index,
            count,
            gain: of(other) / of(this),
            gain_rel_half_width: half_width(this).hypot(half_width(other)),
        }
    }

    /// Lowest and highest gain that the intervals of both steps allow.
    fn gain_ci95(&self) -> [f64; 2] {
        let off = 1.0 + self.gain_rel_half_width;
        [self.gain / off, self.gain * off]
    }

    /// The gain, with its interval where the steps have one.
    pub(super) fn gain_quantity(&self) -> Quantity {
        let ci95 = (self.gain_rel_half_width > 0.0).then(|| self.gain_ci95());
        Quantity::times(self.gain).with_ci95(ci95)
    }

    /// What it showed as a probe that changed this.
    pub(super) fn result(&self, change: ProbeChange) -> ProbeResult {
        ProbeResult { step_index: Some(self.step_index), change, gain: self.gain_quantity() }
    }

    /// Whether the intervals of both steps leave room for no gain at all.
    pub(super) fn may_give_nothing(&self) -> bool {
        self.gain_ci95()[0] <= 1.0
    }

    /// Gain for each doubling of the count, against `from`.
    pub(super) fn per_doubling(&self, from: u32) -> f64 {
        self.gain.powf(1.0 / (f64::from(self.count) / f64::from(from)).log2())
    }
}

fn same_but_load(a: &Step, b: &Step) -> bool {
    same_work(a, b) && a.engine == b.engine && a.placement == b.placement && a.targets == b.targets
}

/// Steps that condition a target are no neighbours, nor are steps under other settings of the host.
fn same_work(a: &Step, b: &Step) -> bool {
    let judged = |s: &Step| matches!(s.phase, Phase::Measure | Phase::Probe) && !s.load.has_rates();
    let same_hosts = a.role.settings == b.role.settings && a.role.ranks == b.role.ranks;
    a.workload == b.workload && same_hosts && judged(a) && judged(b)
}

/// Steps that differ from this one in their load only, itself among them.
pub(super) fn ladder<'a>(all: &'a Seen<'_>, this: &Observation) -> impl Iterator<Item = &'a Observation> {
    all.iter().filter(|o| same_but_load(&o.step, &this.step) && o.is_neighbour())
}

/// Whether a step of the ladder says what depth brings: its threads were not held by their cores, or it is this one.
pub(super) fn is_of_depth(o: &Observation, this: &Observation) -> bool {
    std::ptr::eq(o, this) || !cpu::is_held_by_threads(o)
}

/// Nearest step that differs in I/Os in flight only.
pub(super) fn depth(all: &Seen<'_>, this: &Observation, deeper: bool) -> Option<Neighbour> {
    nearest_depth(all, this, deeper).map(|o| Neighbour::new(o.in_flight(), this, o, Observation::iops))
}

fn nearest_depth<'a>(all: &'a Seen<'_>, this: &Observation, deeper: bool) -> Option<&'a Observation> {
    let n = this.in_flight();
    all.iter()
        .filter(|o| same_but_load(&o.step, &this.step) && o.is_neighbour())
        .filter(|o| if deeper { o.in_flight() > n } else { o.in_flight() < n })
        // With equal depth change prefer the same number of threads, so that one knob moved.
        .min_by_key(|o| (o.step.load.threads != this.step.load.threads, o.in_flight().abs_diff(n)))
}

/// Nearest step at least [`FAR_DEPTH`] times as deep: noise that hides one doubling does not hide three.
pub(super) fn far_depth(all: &Seen<'_>, this: &Observation) -> Option<Neighbour> {
    let n = this.in_flight();
    all.iter()
        .filter(|o| same_but_load(&o.step, &this.step) && o.is_neighbour() && o.in_flight() >= FAR_DEPTH * n)
        .min_by_key(|o| (o.step.load.threads != this.step.load.threads, o.in_flight()))
        .map(|o| Neighbour::new(o.in_flight(), this, o, Observation::iops))
}

/// Step with more threads at no less depth per thread. Threads that were held to listed CPUs may have cores of their own
/// there: only that relieves the core.
pub(super) fn threads(all: &Seen<'_>, this: &Observation) -> Option<Neighbour> {
    let freed = |o: &Observation| {
        matches!(this.step.placement, Placement::Cpus(_))
            && o.step.placement == Placement::Cores
            && same_work(&o.step, &this.step)
            && o.step.engine == this.step.engine
            && o.step.targets == this.step.targets
    };
    all.iter()
        .filter(|o| (same_but_load(&o.step, &this.step) || freed(o)) && o.is_neighbour())
        .filter(|o| {
            o.step.load.threads > this.step.load.threads && o.step.load.queue_depth >= this.step.load.queue_depth
        })
        .min_by_key(|o| (o.step.load.queue_depth.abs_diff(this.step.load.queue_depth), o.step.load.threads))
        .map(|o| Neighbour::new(o.step.load.threads, this, o, Observation::iops))
}

/// Step with the same load by another engine or mode that gave most.
pub(super) fn engine(all: &Seen<'_>, this: &Observation) -> Option<ProbeResult> {
    all.iter()
        .filter(|o| same_work(&o.step, &this.step) && o.step.targets == this.step.targets && o.is_neighbour())
        .filter(|o| o.step.load == this.step.load && o.step.placement == this.step.placement)
        .filter(|o| o.step.engine.name != this.step.engine.name || o.step.engine.mode != this.step.engine.mode)
        .max_by(|a, b| a.iops().total_cmp(&b.iops()))
        .map(|o| {
            let change = ProbeChange::OtherEngine { engine: o.step.engine.name, mode: o.step.engine.mode };
            Neighbour::new(o.threads(), this, o, Observation::iops).result(change)
        })
}

/// As [`engine`], where it relieved the CPUs enough to confirm them as the limit.
pub(super) fn cheaper_engine(all: &Seen<'_>, this: &Observation) -> Option<ProbeResult> {
    engine(all, this).filter(|probe| probe.gain.value >= RELIEF_HELPS)
}

/// Whether a step is on some of the targets of another. An array over them is one target, and none of them.
fn is_on_fewer(o: &Observation, this: &Observation) -> bool {
    let (some, all) = (&o.step.targets, &this.step.targets);
    some.len() < all.len() && some.iter().all(|target| all.contains(target))
}

/// Step with the same load per target on fewer targets: their number, and IOPS per target over this step's.
pub(super) fn fewer_targets(all: &Seen<'_>, this: &Observation) -> Option<Neighbour> {
    let per_target = |o: &Observation| o.iops() / o.step.targets.len() as f64;
    all.iter()
        .filter(|o| same_work(&o.step, &this.step) && o.step.engine == this.step.engine && o.is_neighbour())
        .filter(|o| o.step.load == this.step.load && is_on_fewer(o, this))
        .min_by_key(|o| o.step.targets.len())
        .map(|o| Neighbour::new(o.step.targets.len() as u32, this, o, per_target))
}

/// The fewest targets that gave most, with whatever load: their number, and IOPS per target over this step's. What some of
/// the targets give alone in any load, all of them could give together if they shared nothing.
pub(super) fn fewer_targets_at_best(all: &Seen<'_>, this: &Observation) -> Option<Neighbour> {
    let per_target = |o: &Observation| o.iops() / o.step.targets.len() as f64;
    all.iter()
        .filter(|o| same_work(&o.step, &this.step) && o.step.engine == this.step.engine && o.is_neighbour())
        .filter(|o| is_on_fewer(o, this))
        .max_by(|a, b| per_target(a).total_cmp(&per_target(b)))
        .map(|o| Neighbour::new(o.step.targets.len() as u32, this, o, per_target))
}

/// Steps of the same load on as many other targets.
pub(super) fn other_targets<'a>(all: &'a Seen<'_>, this: &'a Observation) -> impl Iterator<Item = &'a Observation> {
    all.iter().filter(|o| {
        let (a, b) = (&o.step, &this.step);
        let is_same = same_work(a, b) && a.engine == b.engine && a.load == b.load && o.is_neighbour();
        // Arrays over the same members are no other drives.
        let is_plain = || a.targets.iter().chain(&b.targets).all(|target| target.array().is_none());
        is_same && a.targets != b.targets && a.targets.len() == b.targets.len() && is_plain()
    })
}

/// Steps of other block sizes on the same targets, with the same mix.
pub(super) fn other_blocks<'a>(all: &'a Seen<'_>, this: &'a Observation) -> impl Iterator<Item = &'a Observation> {
    let block = this.step.workload.block_bytes_max();
    all.iter()
        .filter(|o| {
            o.step.targets == this.step.targets && o.step.workload.mix == this.step.workload.mix && o.is_neighbour()
        })
        .filter(move |o| o.step.workload.block_bytes_max() != block && o.in_flight() >= this.in_flight().min(4))
}

/// The label of the step that is explained, and what the probe changes.
fn label(this: &Step, probe: &Step) -> String {
    let mut changes = Vec::new();
    if probe.load.queue_depth != this.load.queue_depth {
        changes.push(format!("QD{}", probe.load.queue_depth));
    }
    if probe.load.threads != this.load.threads {
        changes.push(format!("T{}", probe.load.threads));
    }
    if probe.engine != this.engine {
        changes.push(probe.engine.name.as_str().to_owned());
    }
    if probe.targets.len() != this.targets.len() {
        changes.push(format!("{} drives", probe.targets.len()));
    }
    format!("{} (probe: {})", this.label, changes.join(", "))
}

/// A step that would show whether a part is the limit, because it relieves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The step to run; its index is that of the step it explains.
    pub step: Step,
    /// What it relieves.
    pub relieves: LimitName,
}

/// How much deeper a second probe is.
const FAR_DEPTH: u32 = 8;
/// Deepest queue of a probe.
pub(super) const DEPTH_MAX: u32 = 4096;
/// Most probes of one step.
const PROBES_MAX: usize = 3;

/// The probes that `all[index]` lacks: double depth, twice the threads, a cheaper engine, half the drives. Empty when its
/// limit is confirmed already. Against noise alone, a step eight times as deep is the one that may help.
///
/// # Panics
/// When `index` is out of range.
#[must_use]
pub fn missing_probes(all: &[Observation], index: usize) -> Vec<Probe> {
    missing(&Seen::new(all), index)
}

/// As [`missing_probes`].
pub(super) fn missing(all: &Seen<'_>, index: usize) -> Vec<Probe> {
    let this = &all[index];
    let limit = judge(all, index);
    // A core that its counters alone confirm has still to show what another would bring.
    let is_shown = limit.name != LimitName::Core || !limit.probes.is_empty();
    // What fio is given stands in the job's own words: a change to the step would change nothing; and what other programs do is a
    // check on ours. Files need room, which
    // was looked for as the step asked.
    let is_fixed = this.step.load.has_rates()
        || this.step.engine.name.is_of_another_program()
        || this.step.engine.name == EngineName::Files
        // No change of the load gives it the CPUs that others have.
        || limit.name == LimitName::CpuTaken;
    if (limit.confidence == Confidence::Confirmed && is_shown) || is_fixed {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut add = |relieves: LimitName, change: &dyn Fn(&mut Step)| {
        let mut step = this.step.clone();
        change(&mut step);
        out.push(Probe { step, relieves });
    };
    // Twice the depth decides most; where that leaves it open or to noise, eight times.
    let factor = match depth(all, this, true) {
        None => Some(2),
        Some(_) if far_depth(all, this).is_none() => Some(FAR_DEPTH),
        Some(_) => None,
    };
    if let Some(factor) = factor.filter(|f| this.step.load.queue_depth <= DEPTH_MAX / f) {
        let relieves = if factor == FAR_DEPTH { LimitName::Device } else { LimitName::QueueDepth };
        if this.step.engine.name.is_synchronous() {
            add(relieves, &|s| s.load.threads *= factor);
        } else {
            add(relieves, &|s| s.load.queue_depth *= factor);
        }
    }
    if threads(all, this).is_none() && !this.step.engine.name.is_synchronous() {
        add(LimitName::Core, &|s| s.load.threads *= 2);
    }
    if engine(all, this).is_none() && matches!(this.step.engine.name, EngineName::Libaio | EngineName::Psync) {
        add(LimitName::AllCores, &|s| {
            s.engine.name = EngineName::IoUring;
            s.engine.mode = Mode::Interrupt;
        });
    }
    if this.step.targets.len() > 1 && fewer_targets(all, this).is_none() {
        add(LimitName::Uplink, &|s| s.targets.truncate(s.targets.len() / 2));
    }
    // Between the queue and the device only depth decides.
    let of_depth = |name| matches!(name, LimitName::QueueDepth | LimitName::Device);
    out.retain(|p| !of_depth(limit.name) || depth(all, this, true).is_none() || of_depth(p.relieves));
    out.truncate(PROBES_MAX);
    for probe in &mut out {
        if let Placement::Cpus(list) = &probe.step.placement
            && probe.relieves == LimitName::Core
            && (list.len() as u32) < probe.step.load.threads
        {
            // Threads that share the listed CPUs relieve no core.
            probe.step.placement = Placement::Cores;
        }
        beside(&this.step, &mut probe.step);
    }
    out
}

/// The nearest deeper rung, or else the nearest shallower one, once more: against the noise that it was measured with.
pub(super) fn again(all: &Seen<'_>, this: &Observation) -> Option<Probe> {
    let deeper = nearest_depth(all, this, true).map(|o| (o, LimitName::QueueDepth));
    let (rung, relieves) = deeper.or_else(|| Some((nearest_depth(all, this, false)?, LimitName::Device)))?;
    let mut step = Step { load: rung.step.load, ..this.step.clone() };
    beside(&this.step, &mut step);
    Some(Probe { step, relieves })
}

/// Makes a changed copy of a step a probe of it.
fn beside(this: &Step, step: &mut Step) {
    step.label = label(this, step);
    step.phase = Phase::Probe;
    step.role = this.role.beside();
}
