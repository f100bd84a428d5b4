//! Conditioning: the purge, fill, precondition and settle steps that a plan needs before its steps may measure.

use crate::arrange::Arrangement;
use crate::durability::Durability;
use crate::knobs::{KnobError, Knobs, RUNTIME_MAX_NS};
use crate::label::set_label;
use crate::plan::RunLength;
use crate::role::{Conditioning, LabelPart, Metric, Part, Precondition, PurgeMeans, Role, Round};
use crate::step::{BlockSize, EngineName, EngineSpec, Load, Mode, OpMix, Pattern, Phase, Placement, Step, TargetId};

/// Fewest rounds that can be judged: SNIA PTS looks at five.
pub const ROUNDS_MIN: u32 = 5;
/// Most rounds that a plan may ask for.
pub const ROUNDS_MAX: u32 = 1_000;

/// Rounds of a settle loop unless the plan says otherwise (SNIA PTS).
pub(crate) const ROUNDS_DEFAULT: u32 = 25;
const ROUND_NS_DEFAULT: u64 = 60_000_000_000;
/// Parts that a sequential pass is cut into, so that a run that is killed loses at most one of them.
const PARTS: u32 = 4;
/// Passes of the workload-independent precondition (SNIA PTS: twice the capacity).
const SNIA_PASSES: u32 = 2;

/// How the targets of a step are to be conditioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) method: Precondition,
    /// `None`: no purge, unless the method has one.
    pub(crate) purge: Option<PurgeMeans>,
    /// Threads and queue depth of the settle rounds.
    pub(crate) load: (u32, u32),
    pub(crate) rounds_max: u32,
    pub(crate) round_ns: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            method: Precondition::None,
            purge: None,
            load: (16, 16),
            rounds_max: ROUNDS_DEFAULT,
            round_ns: ROUND_NS_DEFAULT,
        }
    }
}

/// A step that measures, before its conditioning is known.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) conditions: Conditions,
    /// What is made of the targets.
    pub(crate) arrangement: Arrangement,
    /// All targets of the group, of which the step may use some.
    pub(crate) group_targets: Vec<TargetId>,
}

impl Planned {
    /// A step that `knobs` made for `targets`.
    pub(crate) fn new(step: Step, knobs: &Knobs, targets: Vec<TargetId>) -> Planned {
        let arrangement = knobs.arrangement();
        let group_targets = if arrangement.makes_targets() { step.targets.clone() } else { targets };
        Planned { step, conditions: knobs.conditions, arrangement, group_targets }
    }

    /// Puts it on the targets of another group.
    ///
    /// # Errors
    /// They make no such array.
    pub(crate) fn put_on(&mut self, group: &str, targets: &[TargetId]) -> Result<(), KnobError> {
        self.step.group = group.to_owned();
        self.arrangement.put_on(&mut self.step, targets)?;
        let are_made = self.arrangement.makes_targets();
        self.group_targets = if are_made { self.step.targets.clone() } else { targets.to_vec() };
        if are_made {
            set_label(&mut self.step);
        }
        Ok(())
    }
}

/// What the targets were conditioned for.
#[derive(Clone, Debug, PartialEq)]
enum State {
    /// A workload of its own; the step is kept as the example.
    Workload(Box<Step>, Precondition),
    /// A loop that is its own conditioning.
    Loop(u32),
}

/// One target and the state the plan has brought it to so far.
struct Known {
    target: TargetId,
    filled: bool,
    state: Option<(State, Conditioning)>,
}

/// Puts the conditioning steps before the steps that need them. A target that is conditioned for the workload already
/// is not conditioned again; a step of another workload that writes ends that state.
pub(crate) fn with_conditioning(planned: Vec<Planned>) -> Vec<Step> {
    let loops = planned.iter().filter_map(|p| p.step.role.round).map(|r| r.loop_id + 1).max().unwrap_or(0);
    let mut conditioner = Conditioner { steps: Vec::new(), known: Vec::new(), next_loop: loops };
    for one in planned {
        conditioner.add(one);
    }
    conditioner.steps
}

struct Conditioner {
    steps: Vec<Step>,
    known: Vec<Known>,
    next_loop: u32,
}

impl Conditioner {
    fn add(&mut self, planned: Planned) {
        let Planned { mut step, conditions, group_targets, arrangement: _ } = planned;
        if conditions.method == Precondition::None && conditions.purge.is_none() || step.engine.name == EngineName::Null
        {
            if step.workload.mix.is_destructive() || !step.written().is_empty() {
                self.forget(|target| step.targets.iter().any(|written| touches(written, target)));
            }
            self.steps.push(step);
            return;
        }
        let state = match step.role.round {
            Some(round) => State::Loop(round.loop_id),
            None => State::Workload(Box::new(step.clone()), conditions.method),
        };
        let conditioning = match self.conditioned(&step.targets, &state) {
            Some(conditioning) => conditioning,
            None => self.condition(&step, &conditions, &group_targets, &state),
        };
        step.role.conditioning = Some(conditioning);
        self.steps.push(step);
    }

    fn conditioned(&self, targets: &[TargetId], state: &State) -> Option<Conditioning> {
        let mut found = None;
        for target in targets {
            let known = self.known.iter().find(|k| k.target == *target)?;
            let (had, conditioning) = known.state.as_ref()?;
            if !is_same(had, state) {
                return None;
            }
            found = Some(*conditioning);
        }
        found
    }

    fn forget(&mut self, is_written: impl Fn(&TargetId) -> bool) {
        for known in self.known.iter_mut().filter(|k| is_written(&k.target)) {
            known.state = None;
        }
    }

    /// Appends the steps that bring `targets` to `state`.
    fn condition(&mut self, step: &Step, conditions: &Conditions, targets: &[TargetId], state: &State) -> Conditioning {
        let method = conditions.method;
        // What is conditioned in another way, as an array or as its members, is so no more.
        self.forget(|target| targets.iter().any(|written| written != target && touches(written, target)));
        let whole =
            Step { targets: targets.to_vec(), role: Role { devices: None, ..step.role.clone() }, ..step.clone() };
        let by_method = (method == Precondition::Snia).then_some(PurgeMeans::Best);
        if let Some(means) = conditions.purge.or(by_method) {
            self.steps.push(purge_step(&whole, means));
            self.set_filled(targets, false);
        }
        match method {
            Precondition::Snia => self.sequential(&whole, Phase::Precondition, SNIA_PASSES),
            Precondition::Same | Precondition::Quick if !self.is_filled(targets) => {
                self.sequential(&whole, Phase::Fill, 1);
            }
            Precondition::Same | Precondition::Quick | Precondition::None => {}
        }
        if method != Precondition::None {
            self.set_filled(targets, true);
        }
        let own_loop = step.role.round.map(|r| r.loop_id);
        let loop_id = own_loop.or_else(|| (method != Precondition::None).then(|| self.settle(&whole, conditions)));
        let conditioning = Conditioning { method, loop_id };
        for target in targets {
            self.of(target).state = Some((state.clone(), conditioning));
        }
        conditioning
    }

    /// Appends the rounds of the step's own workload; the number of their loop.
    fn settle(&mut self, step: &Step, conditions: &Conditions) -> u32 {
        let loop_id = self.next_loop;
        self.next_loop += 1;
        let quick = conditions.method == Precondition::Quick;
        let max = if quick { ROUNDS_MIN } else { conditions.rounds_max };
        for index in 0..max {
            let round = Round { loop_id, index, max, metric: Some(metric_of(step)) };
            let mut settle = settle_step(step, conditions);
            settle.role.round = Some(round);
            settle.role.label_parts = quick.then_some(LabelPart::Quick).into_iter().chain([LabelPart::Round]).collect();
            set_label(&mut settle);
            self.steps.push(settle);
        }
        loop_id
    }

    fn sequential(&mut self, step: &Step, phase: Phase, passes: u32) {
        for pass in 0..passes {
            for index in 0..PARTS {
                let mut part = sequential_step(step, phase);
                part.role.part = Some(Part { index, of: PARTS, is_cut: false });
                let of_passes = (passes > 1).then_some(LabelPart::Pass { number: pass + 1, of: passes });
                part.role.label_parts = of_passes.into_iter().chain([LabelPart::Part]).collect();
                set_label(&mut part);
                self.steps.push(part);
            }
        }
    }

    fn of(&mut self, target: &TargetId) -> &mut Known {
        let at = self.known.iter().position(|k| k.target == *target).unwrap_or_else(|| {
            self.known.push(Known { target: target.clone(), filled: false, state: None });
            self.known.len() - 1
        });
        &mut self.known[at]
    }

    fn is_filled(&mut self, targets: &[TargetId]) -> bool {
        targets.iter().all(|t| self.of(t).filled)
    }

    fn set_filled(&mut self, targets: &[TargetId], filled: bool) {
        for target in targets {
            let known = self.of(target);
            known.filled = filled;
            known.state = None;
        }
    }
}

/// Whether what is written to one target changes the other: itself, an array and its member, two arrays with a common one.
fn touches(written: &TargetId, target: &TargetId) -> bool {
    written == target || written.opened().iter().any(|member| target.opened().contains(member))
}

fn is_same(a: &State, b: &State) -> bool {
    match (a, b) {
        (State::Loop(a), State::Loop(b)) => a == b,
        (State::Workload(a, with), State::Workload(b, by)) => {
            with == by && a.workload == b.workload && a.role.footprint_pct == b.role.footprint_pct
        }
        (State::Loop(_), State::Workload(..)) | (State::Workload(..), State::Loop(_)) => false,
    }
}

/// From this block size on bandwidth is what a test is about.
const BANDWIDTH_BLOCK_BYTES: u32 = 64 << 10;

fn metric_of(step: &Step) -> Metric {
    if step.workload.block_bytes_max() >= BANDWIDTH_BLOCK_BYTES { Metric::BytesPerS } else { Metric::Iops }
}

/// A step of the run itself: what it measures is not a result, and its place is before those of the study.
fn conditioning_step(step: &Step, phase: Phase) -> Step {
    let role = Role {
        test: step.role.test.clone(),
        footprint_pct: step.role.footprint_pct,
        settings: Vec::new(),
        ..Role::default()
    };
    Step { phase, role, placement: Placement::Unpinned, ..step.clone() }
}

fn purge_step(step: &Step, means: PurgeMeans) -> Step {
    let mut purge = conditioning_step(step, Phase::Purge);
    purge.role.purge = Some(means);
    purge.workload.mix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
    purge.workload.pattern = Pattern::Sequential;
    purge.workload.verify = None;
    purge.workload.durability = Durability::default();
    purge.length = RunLength::fixed(0, 0);
    set_label(&mut purge);
    purge
}

/// libaio needs no privilege and has no modes: what conditions a drive must run wherever the study may be read. Only the
/// target of passthrough, a character device, takes nothing else.
fn plain_engine(engine: EngineSpec) -> EngineSpec {
    let name = match engine.name {
        own @ (EngineName::IoUring | EngineName::IoUringCmd) => own,
        _ => EngineName::Libaio,
    };
    EngineSpec { name, mode: Mode::Interrupt, sqpoll_cpu: None, paranoid: false, ..EngineSpec::default() }
}

fn sequential_step(step: &Step, phase: Phase) -> Step {
    let mut part = conditioning_step(step, phase);
    let (block, queue_depth) = if phase == Phase::Fill { (1 << 20, 8) } else { (128 << 10, 32) };
    part.workload.mix = OpMix::WRITE;
    part.workload.pattern = Pattern::Sequential;
    part.workload.block_sizes = vec![BlockSize { bytes: block, share_pct: 100 }];
    part.workload.verify = None;
    part.workload.durability = Durability::default();
    part.load = Load::closed(1, queue_depth);
    part.engine = plain_engine(step.engine);
    part.length = RunLength { passes: Some(1), ..RunLength::fixed(0, RUNTIME_MAX_NS) };
    part
}

fn settle_step(step: &Step, conditions: &Conditions) -> Step {
    let mut settle = conditioning_step(step, Phase::Settle);
    let (threads, queue_depth) = conditions.load;
    settle.workload.verify = None;
    settle.load = Load::closed(threads, queue_depth);
    settle.engine = plain_engine(step.engine);
    settle.length = RunLength::fixed(0, conditions.round_ns);
    settle
}
