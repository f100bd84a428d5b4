//! Rates that are a share of what a closed loop gave before: which step of the plan that is, and the rate once it is known.

use fathom_message::{Message, msg};

use crate::condition::Planned;
use crate::knobs::push_note;
use crate::label::{label_message, set_label};
use crate::rate_pair::{RatePair, of_mix};
use crate::role::{RateShare, Role};
use crate::step::{Phase, Rate, Step};

impl Step {
    /// Whether I/Os are due at a rate, also while the rate is not known yet.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.load.rate.is_some() || self.role.rate_share.is_some() || self.role.rate_pair.is_some()
    }

    /// Whether the rate is a share that still has to be made; such a step cannot be run.
    #[must_use]
    pub fn lacks_rate(&self) -> bool {
        self.load.rate.is_none() && self.is_open_loop()
    }

    /// The share of which the rate still has to be made; such a step cannot be run.
    #[must_use]
    pub fn missing_rate(&self) -> Option<RateShare> {
        self.role.rate_share.filter(|_| self.load.rate.is_none())
    }

    /// The step with the rate that its share makes of what `earlier` steps gave, each with its IOPS; without a rate when
    /// none of them is a base for it. A rate that the share made in another run is replaced. Other steps stay as they are.
    #[must_use]
    pub fn with_rate_of<'s>(&self, earlier: impl IntoIterator<Item = (&'s Step, f64)>) -> Step {
        let mut step = self.clone();
        if let Some(share) = self.role.rate_share {
            step.load.rate = rate_base(self, earlier)
                .map(|(_, iops)| Rate { iops: iops * f64::from(share.pct) / 100.0, process: share.process });
        } else if let Some(pair) = self.role.rate_pair {
            let earlier: Vec<(&Step, f64)> = earlier.into_iter().collect();
            let found = pair.rates(self, &earlier);
            step.load.rate = found.map(|(rate, _)| rate);
            step.workload.mix = found.map_or(pair.mix(), |(_, mix)| mix);
        }
        step
    }
}

/// The step of `earlier` with the highest IOPS of which the rate of `step` is a share: a closed loop with the same work
/// on the same targets of the group. In a comparison that is a step of the reference, so that its sides get the same
/// rate; elsewhere one issued and placed like `step`. `None`: there is no such step with an I/O.
#[must_use]
pub fn rate_base<'s>(step: &Step, earlier: impl IntoIterator<Item = (&'s Step, f64)>) -> Option<(&'s Step, f64)> {
    let ranked =
        earlier.into_iter().filter(|(_, iops)| *iops > 0.0).filter_map(|(s, iops)| Some((rank(s, step)?, s, iops)));
    let best = ranked.min_by(|a, b| a.0.cmp(&b.0).then(b.2.total_cmp(&a.2)));
    best.map(|(_, base, iops)| (base, iops))
}

/// How good a base of `step` another is, 0 the best; `None`: it is none.
fn rank(base: &Step, step: &Step) -> Option<u8> {
    let same_work = base.workload == step.workload && base.role.footprint_pct == step.role.footprint_pct;
    let same_targets = base.group == step.group && base.targets == step.targets;
    if base.phase != Phase::Measure || base.is_open_loop() || !same_work || !same_targets {
        return None;
    }
    let arm = |s: &Step| s.role.block.as_ref().map(|b| b.arm_index);
    let same_way = base.engine == step.engine
        && base.placement == step.placement
        && base.role.settings == step.role.settings
        && base.role.ranks == step.role.ranks;
    match (arm(step), arm(base)) {
        (Some(_), None | Some(0)) => Some(0),
        // The sides differ in the work itself, so that the reference has none like it.
        (Some(of_step), Some(of_base)) => (of_step == of_base).then_some(1),
        (None, _) => same_way.then_some(0),
    }
}

/// Puts a closed loop of the same load before each step whose rate is a share of one and that has none before it.
pub(crate) fn with_bases(planned: &[Planned], notes: &mut Vec<Message>) -> Vec<Planned> {
    let mut out: Vec<Planned> = Vec::with_capacity(planned.len());
    for (at, one) in planned.iter().enumerate() {
        let has_base = || out.iter().rev().any(|p| rank(&p.step, &one.step).is_some());
        if one.step.missing_rate().is_some() && !has_base() {
            let base = base_of(&planned[at..]);
            push_note(notes, msg!("plan-base-first", step = label_message(&base.step)));
            out.push(base);
        }
        for mix in one.step.role.rate_pair.into_iter().flat_map(RatePair::bases) {
            let alone = of_mix(&one.step, mix);
            if !out.iter().rev().any(|p| rank(&p.step, &alone).is_some()) {
                let mut base = Planned { step: alone, ..one.clone() };
                base.step.role = Role { rate_pair: None, latency_goal: None, ..base.step.role };
                set_label(&mut base.step);
                push_note(notes, msg!("plan-base-first", step = label_message(&base.step)));
                out.push(base);
            }
        }
        out.push(one.clone());
    }
    out
}

/// The closed loop of the first of these steps, with the heaviest load of all that it is a base for.
fn base_of(planned: &[Planned]) -> Planned {
    let mut base = planned[0].clone();
    base.step.role = Role { rate_share: None, stages: Vec::new(), block: None, round: None, ..base.step.role };
    let served = planned.iter().map(|p| &p.step).filter(|s| s.missing_rate().is_some());
    let loads = served.filter(|s| rank(&base.step, s).is_some()).map(|s| s.load);
    let heaviest = loads.max_by_key(|load| load.threads * load.queue_depth);
    base.step.load = heaviest.unwrap_or(base.step.load);
    set_label(&mut base.step);
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::Knobs;
    use crate::role::{Block, HostSetting};
    use crate::step::{EngineName, OpMix, RateProcess, TargetId};

    fn step(share: Option<&str>) -> Step {
        let mut knobs = Knobs::new();
        for (key, value) in share.map(|s| ("rate_iops", s)).into_iter().chain([("iodepth", "8")]) {
            knobs.set(key, value).expect("a knob");
        }
        knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new()).expect("a step")
    }

    fn rate(step: &Step, earlier: &[(Step, f64)]) -> Option<f64> {
        step.with_rate_of(earlier.iter().map(|(s, iops)| (s, *iops))).load.rate.map(|r| r.iops)
    }

    #[test]
    fn the_rate_is_the_share_of_the_highest_closed_loop_of_the_same_work() {
        let closed = |depth| {
            let mut step = step(None);
            step.load.queue_depth = depth;
            step
        };
        let mut open = step(None);
        open.load.rate = Some(Rate { iops: 900.0, process: RateProcess::Fixed });
        let all = [(closed(1), 100.0), (closed(64), 400.0), (closed(128), 380.0), (open, 900.0)];
        assert_eq!(rate(&step(Some("75%")), &all), Some(300.0));
        assert_eq!(rate(&step(Some("200%")), &all), Some(800.0), "more than the most is an overload on purpose");
        assert_eq!(rate(&step(Some("50%")), &[]), None);
        assert_eq!(rate(&step(Some("50%")), &[(closed(1), 0.0)]), None, "nothing came of it");
        assert_eq!(rate(&step(Some("20k")), &all), Some(20_000.0), "a rate in IOPS stays");
        let again = step(Some("50%")).with_rate_of([(&all[0].0, 100.0)]);
        assert_eq!(rate(&again, &all), Some(200.0), "a share is made again of what this run measured");
        assert_eq!(rate(&again, &[]), None);
    }

    #[test]
    fn a_step_that_differs_in_work_targets_or_the_way_to_them_is_no_base() {
        let changes: [fn(&mut Step); 8] = [
            |s| s.workload.mix = OpMix::WRITE,
            |s| s.workload.block_sizes[0].bytes = 8192,
            |s| s.targets[0] = "g".into(),
            |s| s.group = "B".into(),
            |s| s.engine.name = EngineName::Libaio,
            |s| s.role.settings = vec![HostSetting { name: "scheduler".into(), value: "none".into() }],
            |s| s.phase = Phase::Settle,
            |s| s.phase = Phase::Probe,
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut other = step(None);
            change(&mut other);
            assert_eq!(rate(&step(Some("50%")), &[(other, 100.0)]), None, "change {i}");
        }
    }

    #[test]
    fn the_sides_of_a_comparison_get_the_rate_of_its_reference() {
        let arm = |mut step: Step, arm_index| {
            step.role.block = Some(Block::new(0, 0, arm_index, Vec::new()));
            if arm_index > 0 {
                step.engine.name = EngineName::Libaio;
            }
            step
        };
        let all = [(arm(step(None), 0), 100.0), (arm(step(None), 1), 900.0)];
        for index in [0, 1] {
            assert_eq!(rate(&arm(step(Some("50%")), index), &all), Some(50.0), "side {index}");
        }
        // Sides that differ in the work have no rate in common.
        let other = |mut step: Step| {
            step.workload.block_sizes[0].bytes = 8192;
            step
        };
        let all = [all[0].clone(), (other(arm(step(None), 1)), 60.0)];
        assert_eq!(rate(&other(arm(step(Some("50%")), 1)), &all), Some(30.0));
    }
}
