//! Ladders over queue depth, rate, threads, drives and ranks: which steps belong together, how much of proportion each point
//! gives, and where the knee is. Verdicts, tables and pictures take them from here.

use fathom_message::Quantity;
use fathom_model::LimitName;
use fathom_plan::Phase;

use crate::compare::effect;
use crate::document::{ComparedFigure, KneeView, LadderAxis, LadderPoint, LadderView, StepView};
use crate::predicted::median_of_sizes;

/// Below this share of proportional growth a ladder has bent.
const PROPORTIONAL: f64 = 0.9;
/// This share of the most is nearly all of it.
const ENOUGH: f64 = 0.95;

/// All ladders of a run: each load once over queue depth or rate, then those over threads, drives and ranks.
#[must_use]
pub fn ladders(steps: &[StepView]) -> Vec<LadderView> {
    let loads = representatives(steps);
    let of = |axis: LadderAxis| along(axis, &loads).into_iter();
    let depths = of(LadderAxis::QueueDepth).chain(of(LadderAxis::Rate));
    let several = [LadderAxis::Threads, LadderAxis::Devices, LadderAxis::Ranks].into_iter().flat_map(of);
    let several = several.filter(|l| l.points.len() > 1);
    depths.chain(several).map(|ladder| ladder.view()).collect()
}

/// The step of these whose IOPS are their median; `None` of none.
#[must_use]
pub fn median_step<'a>(steps: &[&'a StepView]) -> Option<&'a StepView> {
    let mut by_iops: Vec<&StepView> = steps.to_vec();
    by_iops.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    by_iops.get(by_iops.len() / 2).copied()
}

/// One step for each load, in the order of the plan: of rounds the last, which the conditioning ends with; of repeats the
/// one with the median IOPS.
pub(crate) fn representatives(steps: &[StepView]) -> Vec<&StepView> {
    let mut loads: Vec<Vec<&StepView>> = Vec::new();
    for step in steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0) {
        match loads.iter_mut().find(|load| is_same_load(load[0], step)) {
            Some(load) => load.push(step),
            None => loads.push(vec![step]),
        }
    }
    loads.iter().filter_map(|load| representative(load)).collect()
}

fn representative<'a>(load: &[&'a StepView]) -> Option<&'a StepView> {
    match load.iter().any(|s| s.role.round.is_some()) {
        true => load.last().copied(),
        false => median_step(load),
    }
}

/// Whether both were asked for the same.
fn is_same_load(a: &StepView, b: &StepView) -> bool {
    differs_in(a, b).is_empty()
}

/// The axes along which two steps of one workload differ; all of them also stand for steps
/// whose workload is another.
fn differs_in(a: &StepView, b: &StepView) -> Vec<LadderAxis> {
    if !is_same_workload(a, b) {
        return LadderAxis::ALL.to_vec();
    }
    // More drives are other targets; as many others are another load altogether.
    if a.devices == b.devices && a.targets != b.targets {
        return LadderAxis::ALL.to_vec();
    }
    let differs = |axis: &LadderAxis| match axis {
        LadderAxis::QueueDepth => a.queue_depth != b.queue_depth,
        LadderAxis::Rate => a.rate_iops != b.rate_iops,
        LadderAxis::Threads => a.threads != b.threads,
        LadderAxis::Devices => a.devices != b.devices,
        LadderAxis::Ranks => a.rank_count() != b.rank_count(),
    };
    LadderAxis::ALL.iter().copied().filter(differs).collect()
}

/// Whether two steps do the same by the same means, however much of it at once.
fn is_same_workload(a: &StepView, b: &StepView) -> bool {
    let what = |s: &StepView| (s.block_size_bytes, s.read_pct, s.direct, s.footprint_bytes, s.rate_iops.is_some());
    let means = |s: &StepView| (s.engine, s.mode, s.fixed_buffers, s.fixed_files, s.placement);
    what(a) == what(b)
        && means(a) == means(b)
        && a.pattern == b.pattern
        && a.op == b.op
        && a.durability == b.durability
        && a.order == b.order
        && a.pacing == b.pacing
        && a.drop_cache == b.drop_cache
        && a.priorities == b.priorities
        && a.spread == b.spread
        && a.array_words() == b.array_words()
        && a.group == b.group
        && a.role.stream == b.role.stream
        && a.role.settings == b.role.settings
        && a.role.new_file == b.role.new_file
}

/// The ladders along one axis among steps that are one load each, in the order of their first steps.
pub(crate) fn along<'a>(axis: LadderAxis, loads: &[&'a StepView]) -> Vec<Ladder<'a>> {
    let mut families: Vec<Vec<&'a StepView>> = Vec::new();
    // A ladder of rates is one of open loops, every other one of closed loops.
    for step in loads.iter().filter(|s| s.rate_iops.is_some() == (axis == LadderAxis::Rate)) {
        // An open loop's queue depth is a bound that follows its rate.
        let only =
            |other: &LadderAxis| *other == axis || (axis == LadderAxis::Rate && *other == LadderAxis::QueueDepth);
        match families.iter_mut().find(|family| differs_in(family[0], step).iter().all(only)) {
            Some(family) => family.push(step),
            None => families.push(vec![step]),
        }
    }
    families.into_iter().map(|family| Ladder::of(axis, family)).collect()
}

/// Steps that differ in one thing alone.
pub(crate) struct Ladder<'a> {
    pub(crate) axis: LadderAxis,
    /// By their place on the axis, rising; at least one.
    pub(crate) points: Vec<(f64, &'a StepView)>,
}

impl<'a> Ladder<'a> {
    fn of(axis: LadderAxis, steps: Vec<&'a StepView>) -> Ladder<'a> {
        let at = |step: &StepView| match axis {
            LadderAxis::QueueDepth => f64::from(step.queue_depth),
            LadderAxis::Rate => step.rate_iops.unwrap_or_default(),
            LadderAxis::Threads => f64::from(step.threads),
            LadderAxis::Devices => f64::from(step.devices),
            LadderAxis::Ranks => f64::from(step.rank_count()),
        };
        let mut points: Vec<(f64, &StepView)> = steps.into_iter().map(|s| (at(s), s)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.queue_depth.cmp(&b.1.queue_depth)));
        Ladder { axis, points }
    }

    /// Rate at a point over that of as many times the first.
    pub(crate) fn efficiency(&self, at: usize) -> f64 {
        let (first, one) = self.points[0];
        let (n, step) = self.points[at];
        step.iops / (one.iops * n / first)
    }

    /// 95 % interval of it; `None` for the first point, which is its measure, and without intervals of the rates.
    fn efficiency_ci95(&self, at: usize) -> Option<[f64; 2]> {
        let ((first, one), (n, step)) = (self.points[0], self.points[at]);
        let (low, high) = effect(ComparedFigure::Iops, &[one], &[step]).filter(|_| at > 0)?.ci95();
        Some([low * first / n, high * first / n])
    }

    /// The same as a figure, percent.
    pub(crate) fn share(&self, at: usize) -> Quantity {
        let ci95 = self.efficiency_ci95(at).map(|ends| ends.map(|share| share * 100.0));
        Quantity::share(self.efficiency(at)).with_ci95(ci95)
    }

    /// The first point below [`PROPORTIONAL`] with its whole interval; without an interval it may be noise. A rate is asked for,
    /// and has none.
    pub(crate) fn knee(&self) -> Option<usize> {
        let is_below = |at: &usize| self.efficiency_ci95(*at).is_some_and(|[_, high]| high < PROPORTIONAL);
        let grows = self.axis != LadderAxis::Rate;
        (1..self.points.len()).filter(|_| grows).find(is_below)
    }

    pub(crate) fn last(&self) -> usize {
        self.points.len() - 1
    }

    /// Whether the last point may lie below [`PROPORTIONAL`] although no point is below it for sure.
    pub(crate) fn may_bend(&self) -> bool {
        let grows = self.axis != LadderAxis::Rate;
        let least = self.efficiency_ci95(self.last()).map_or(self.efficiency(self.last()), |[low, _]| low);
        grows && self.points.len() > 1 && self.knee().is_none() && least < PROPORTIONAL
    }

    /// The knee, or the last point of a ladder that stays straight.
    pub(crate) fn end(&self) -> &'a StepView {
        self.points[self.knee().unwrap_or(self.last())].1
    }

    fn view(&self) -> LadderView {
        let grows = self.axis != LadderAxis::Rate;
        let point = |(index, (at, step)): (usize, &(f64, &StepView))| LadderPoint {
            step: step.index,
            at: *at,
            efficiency: Some(self.efficiency(index)).filter(|share| grows && share.is_finite()),
            efficiency_ci95: self.efficiency_ci95(index).filter(|_| grows),
        };
        let error = |(_, step): &(f64, &StepView)| step.predicted.as_ref()?.iops_error_pct;
        LadderView {
            axis: self.axis,
            points: self.points.iter().enumerate().map(point).collect(),
            knee: self.knee().map(|knee| self.knee_view(knee)),
            may_bend: self.may_bend(),
            enough: self.enough().map(|step| step.index),
            iops_error_pct_median: median_of_sizes(self.points.iter().filter_map(error)),
        }
    }

    fn knee_view(&self, knee: usize) -> KneeView {
        let is_straight = |at: &usize| self.efficiency_ci95(*at).is_some_and(|[low, _]| low >= PROPORTIONAL);
        let straight = (1..knee).rev().find(is_straight).unwrap_or(0);
        let (at, step) = self.points[knee];
        let takes_over = self.limit_from(knee, self.points[straight].1.limit.name);
        KneeView { step: step.index, at, between: [self.points[straight].0, at], takes_over }
    }

    /// The limit that takes over from `before`, from a point on. Depth takes over from nothing: it ends there.
    fn limit_from(&self, knee: usize, before: LimitName) -> Option<LimitName> {
        let is_part = |name: &LimitName| {
            *name != LimitName::Unknown && (self.axis, *name) != (LadderAxis::QueueDepth, LimitName::QueueDepth)
        };
        let named = || self.points[knee..].iter().map(|(_, step)| step.limit.name).filter(is_part);
        named().find(|name| *name != before).or_else(|| named().next())
    }

    /// The first point that gives nearly all of the most.
    fn enough(&self) -> Option<&'a StepView> {
        let most = self.points.iter().map(|(_, step)| step.iops).reduce(f64::max).filter(|most| *most > 0.0)?;
        let grows = self.axis != LadderAxis::Rate && self.points.len() > 1;
        self.points.iter().map(|(_, step)| *step).find(|step| grows && step.iops >= ENOUGH * most)
    }
}

#[cfg(test)]
mod tests {
    use fathom_plan::{
        Block, Durability, EngineName, Rate, RateProcess, Round, Spread, Step, SyncEvery, SyncKind, TargetId, Think,
        WriteThrough,
    };

    use super::*;
    use crate::document::PredictedView;
    use crate::samples;

    fn step(index: u32, threads: u32, queue_depth: u32) -> Step {
        let mut step = samples::step();
        (step.index, step.load.threads, step.load.queue_depth) = (index, threads, queue_depth);
        step
    }

    /// Steps over the queue depth with these IOPS, known to 0.5 %.
    fn depths(iops: &[f64]) -> Vec<StepView> {
        (0..).zip(iops).map(|(i, iops)| samples::view(&step(i, 1, 1 << i), *iops, 100.0)).collect()
    }

    fn indexes(ladder: &LadderView) -> Vec<u32> {
        ladder.points.iter().map(|p| p.step).collect()
    }

    #[test]
    fn plain_and_durable_writes_are_different_loads() {
        let durable = |sync: Option<SyncEvery>, write_through| {
            let mut step = step(1, 1, 1);
            step.workload.durability = Durability { sync, write_through, ..Durability::default() };
            samples::view(&step, 1e3, 100.0)
        };
        let plain = samples::view(&step(0, 1, 1), 10e3, 100.0);
        let fsync = |writes| Some(SyncEvery { kind: SyncKind::Fsync, writes });
        for other in [durable(fsync(1), WriteThrough::None), durable(None, WriteThrough::Dsync)] {
            let found = ladders(&[plain.clone(), other]);
            assert!(found.iter().all(|ladder| ladder.points.len() == 1), "no ladder holds both: {found:?}");
        }
        assert!(!is_same_workload(&durable(fsync(1), WriteThrough::None), &durable(fsync(8), WriteThrough::None)));
    }

    #[test]
    fn arrays_of_different_levels_and_a_file_alone_are_different_loads() {
        let on = |index: u32, target: &str| {
            let mut step = step(index, 1, 1 << index);
            step.targets = vec![TargetId::new(target)];
            samples::view(&step, 1e3, 100.0)
        };
        let names = ["/a", "raid5:64k:/a,/b,/c,/d", "raid6:64k:/a,/b,/c,/d", "raid5:64k:/a,/b,missing,/d"];
        let views: Vec<StepView> = (0..).zip(names).map(|(index, name)| on(index, name)).collect();
        let found = ladders(&views);
        assert!(found.iter().all(|ladder| ladder.points.len() == 1), "no ladder holds two of them: {found:?}");
        assert!(is_same_workload(&on(0, names[1]), &on(1, names[1])));
    }

    #[test]
    fn another_order_a_pause_or_a_cold_cache_is_another_load() {
        let changes: [fn(&mut Step); 4] = [
            |step| step.workload.order.stride_bytes = 8192,
            |step| step.load.pacing.think = Some(Think { pause_ns: 1, spin_ns: 0, ios: 1 }),
            |step| step.load.spread = Spread::AllTargets,
            |step| step.workload.drop_cache = true,
        ];
        let plain = samples::view(&step(0, 1, 1), 10e3, 100.0);
        for change in changes {
            let mut other = step(1, 1, 2);
            change(&mut other);
            let other = samples::view(&other, 20e3, 100.0);
            assert!(ladders(&[plain.clone(), other]).iter().all(|ladder| ladder.points.len() == 1));
        }
    }

    #[test]
    fn the_knee_is_the_first_point_below_nine_tenths_of_proportion_for_sure() {
        let [ladder] = &ladders(&depths(&[10e3, 20e3, 39e3, 60e3, 61e3]))[..] else { panic!("one ladder") };
        assert_eq!((ladder.axis, indexes(ladder)), (LadderAxis::QueueDepth, vec![0, 1, 2, 3, 4]));
        assert_eq!(ladder.knee, Some(KneeView { step: 3, at: 8.0, between: [4.0, 8.0], takes_over: None }));
        assert_eq!((ladder.points[0].efficiency, ladder.points[0].efficiency_ci95), (Some(1.0), None));
        assert_eq!(ladder.points[3].efficiency, Some(0.75));
        assert!(ladder.points[3].efficiency_ci95.is_some_and(|[low, high]| low > 0.74 && high < 0.76));
        let straight = &ladders(&depths(&[10e3, 19.8e3]))[0];
        assert_eq!((straight.knee, straight.may_bend), (None, false));
    }

    #[test]
    fn without_an_interval_a_point_is_no_knee_and_may_bend() {
        let mut steps = depths(&[10e3, 20e3, 22e3]);
        steps[2].iops_ci95 = None;
        let ladder = ladders(&steps).remove(0);
        assert_eq!((ladder.knee, ladder.may_bend), (None, true));
    }

    #[test]
    fn the_knee_is_named_by_the_part_that_takes_over_and_the_least_that_is_enough_is_told() {
        let mut steps = depths(&[10e3, 20e3, 38e3, 60e3, 63e3, 62e3]);
        let limits = [LimitName::QueueDepth; 4].into_iter().chain([LimitName::Unknown, LimitName::Device]);
        steps.iter_mut().zip(limits).for_each(|(step, name)| step.limit.name = name);
        let ladder = ladders(&steps).remove(0);
        let knee = ladder.knee.expect("bends");
        assert_eq!((knee.step, knee.between, knee.takes_over), (3, [4.0, 8.0], Some(LimitName::Device)));
        assert_eq!(ladder.enough, Some(3), "60 of 63 thousand");
        steps[5].limit.name = LimitName::QueueDepth;
        assert_eq!(ladders(&steps)[0].knee.expect("bends").takes_over, None, "depth takes over from nothing");
    }

    #[test]
    fn a_point_that_may_lie_on_either_side_is_no_knee_but_widens_where_it_is() {
        let mut steps = depths(&[10e3, 17.9e3]);
        steps[1].iops_ci95 = Some([17e3, 18.8e3]);
        let open = &ladders(&steps)[0];
        assert_eq!((open.knee, open.may_bend), (None, true));
        let mut steps = depths(&[10e3, 20e3, 35.8e3, 50e3]);
        steps[2].iops_ci95 = Some([34e3, 37.6e3]);
        assert_eq!(ladders(&steps)[0].knee, Some(KneeView { step: 3, at: 8.0, between: [2.0, 8.0], takes_over: None }));
    }

    #[test]
    fn steps_that_differ_in_more_than_one_thing_are_no_ladder() {
        let mut steps = depths(&[10e3, 20e3]);
        let mut libaio = step(2, 1, 4);
        libaio.engine.name = EngineName::Libaio;
        steps.push(samples::view(&libaio, 30e3, 100.0));
        steps.push(samples::view(&step(3, 2, 1), 20e3, 100.0));
        let mut drives = step(4, 1, 1);
        drives.targets = vec![TargetId::new("a"), TargetId::new("b")];
        steps.push(samples::view(&drives, 20e3, 100.0));
        let found: Vec<(LadderAxis, Vec<u32>)> = ladders(&steps).iter().map(|l| (l.axis, indexes(l))).collect();
        let depth = LadderAxis::QueueDepth;
        assert_eq!(
            found,
            [
                (depth, vec![0, 1]),
                (depth, vec![2]),
                (depth, vec![3]),
                (depth, vec![4]),
                (LadderAxis::Threads, vec![0, 3]),
                (LadderAxis::Devices, vec![0, 4]),
            ]
        );
    }

    #[test]
    fn repeats_count_once_by_their_median_and_rounds_by_the_last() {
        let block = |pass| Some(Block { cell: 0, pass, arm: "a".into(), arm_index: 0, arm_parts: vec![] });
        let turns: Vec<StepView> = (0..)
            .zip([12e3, 10e3, 11e3])
            .map(|(i, iops)| {
                let mut step = step(i, 1, 1);
                step.role.block = block(i);
                samples::view(&step, iops, 100.0)
            })
            .collect();
        assert_eq!(indexes(&ladders(&turns)[0]), [2]);
        let rounds: Vec<StepView> = (0..)
            .zip([12e3, 10e3, 11e3])
            .map(|(i, iops)| {
                let mut step = step(i, 1, 1);
                step.role.round = Some(Round { loop_id: 1, index: i, max: 25, metric: None });
                samples::view(&step, iops, 100.0)
            })
            .collect();
        assert_eq!(indexes(&ladders(&rounds)[0]), [2]);
        assert!(ladders(&[]).is_empty());
    }

    #[test]
    fn rates_are_a_ladder_of_their_own_without_a_knee() {
        let steps: Vec<StepView> = (0..)
            .zip([5e3, 10e3, 20e3])
            .map(|(i, iops)| {
                let mut step = step(i, 1, 8 << i);
                step.load.rate = Some(Rate { iops, process: RateProcess::Fixed });
                samples::view(&step, iops.min(12e3), 100.0)
            })
            .collect();
        let [ladder] = &ladders(&steps)[..] else { panic!("one ladder") };
        assert_eq!((ladder.axis, ladder.points[2].at, ladder.knee), (LadderAxis::Rate, 20e3, None));
        assert!(ladder.points.iter().all(|p| p.efficiency.is_none()) && !ladder.may_bend);
    }

    #[test]
    fn a_ladder_carries_the_median_error_of_what_was_predicted_for_it() {
        let mut steps = depths(&[10e3, 20e3, 40e3]);
        for (step, error) in steps.iter_mut().zip([3.0, -5.0, 20.0]) {
            let iops_error_pct = Some(error);
            step.predicted =
                Some(PredictedView { iops: 1.0, lat_ns_mean: 1.0, iops_error_pct, lat_error_pct: None, made: None });
        }
        assert_eq!(ladders(&steps)[0].iops_error_pct_median, Some(5.0));
    }
}
