//! How much reading beside how much writing keeps the latency? Pairs of rates, and the edge of those that keep it.

use fathom_message::{Message, Quantity, Unit, msg};

use super::brief::{brief, report, row};
use super::goal::{Outcome, goal_words, outcome, terms};
use super::is_of_reference;
use super::kind::Kind;
use super::parts::{figure, measured, nothing_measured, p99, sentences, verdict};
use crate::document::{BriefRow, PairOutcome, PairView, StepView, SurfaceView, Verdict};

/// A latency so many times below or beyond the goal is far off it.
const FAR: f64 = 2.0;
/// So many kept pairs of more make a missed one of less a chance.
const OVERRULED_BY: usize = 2;
/// Rows of the edge.
const ROWS_MAX: usize = 6;

/// What a pair of rates does with the goal of its step; without a goal, whether the rates are kept up with.
fn pair_outcome(step: &StepView) -> PairOutcome {
    let terms = step.role.latency_goal.map(terms).unwrap_or_default();
    match outcome(&terms, step) {
        _ if step.ios == 0 => PairOutcome::Unknown,
        Outcome::Meets => PairOutcome::Kept,
        Outcome::Misses => PairOutcome::Missed,
        Outcome::NotHeld => PairOutcome::NotHeld,
        Outcome::Unknown => PairOutcome::Unknown,
    }
}

/// Whether a pair keeps the goal, for the choice of what to measure next; `None` where its latency lies near the goal. A latency
/// without an interval will do when it is far off: what is said of the edge needs the interval, what is measured does not.
#[must_use]
pub fn keeps_by_far(step: &StepView) -> Option<bool> {
    match pair_outcome(step) {
        PairOutcome::Kept => Some(true),
        PairOutcome::Missed | PairOutcome::NotHeld => Some(false),
        PairOutcome::Unknown => {
            let terms = step.role.latency_goal.map(terms).filter(|_| step.ios > 0)?;
            let ratios: Vec<f64> = terms.iter().map(|term| term.over_goal(step)).collect::<Option<_>>()?;
            let worst = ratios.into_iter().fold(0.0, f64::max);
            if worst <= 1.0 / FAR { Some(true) } else { (worst >= FAR).then_some(false) }
        }
    }
}

/// Offered reads and writes per second.
fn rates(step: &StepView) -> Option<(f64, f64)> {
    let (iops, share) = (step.rate_iops?, f64::from(step.read_pct) / 100.0);
    step.role.rate_pair.map(|_| (iops * share, iops * (1.0 - share)))
}

/// The pairs of each group, and which of them are the edge.
#[must_use]
pub fn surfaces(steps: &[StepView]) -> Vec<SurfaceView> {
    let pairs: Vec<&StepView> =
        measured(steps).into_iter().filter(|s| rates(s).is_some() && is_of_reference(s)).collect();
    let mut groups: Vec<&str> = Vec::new();
    for step in &pairs {
        if !groups.contains(&step.group.as_str()) {
            groups.push(&step.group);
        }
    }
    let of_group = |group: &str| {
        let of: Vec<&StepView> = pairs.iter().copied().filter(|s| s.group == group).collect();
        let pair = |step: &&StepView| {
            let (reads_per_s, writes_per_s) = rates(step)?;
            Some(PairView { step: step.index, reads_per_s, writes_per_s, outcome: pair_outcome(step) })
        };
        let pairs: Vec<PairView> = of.iter().filter_map(pair).collect();
        let edge = edge(&pairs);
        SurfaceView { group: group.to_owned(), goal: of.first().and_then(|s| s.role.latency_goal), pairs, edge }
    };
    groups.into_iter().map(of_group).collect()
}

/// The kept pairs that no other kept one exceeds in both rates, from the fewest writes on; their steps. A pair that was missed
/// although it asks for less of both takes the ones above it out: the edge lies below it. When two that ask for more were kept,
/// it was the miss that was chance.
fn edge(pairs: &[PairView]) -> Vec<u32> {
    let is_within = |a: &PairView, b: &PairView| a.reads_per_s <= b.reads_per_s && a.writes_per_s <= b.writes_per_s;
    let all_kept: Vec<&PairView> = pairs.iter().filter(|p| p.outcome == PairOutcome::Kept).collect();
    let is_overruled = |missed: &PairView| all_kept.iter().filter(|p| is_within(missed, p)).count() >= OVERRULED_BY;
    let missed = pairs.iter().filter(|p| matches!(p.outcome, PairOutcome::Missed | PairOutcome::NotHeld));
    let missed: Vec<&PairView> = missed.filter(|p| !is_overruled(p)).collect();
    let kept = all_kept.iter().copied().filter(|p| !missed.iter().any(|missed| is_within(missed, p)));
    let kept: Vec<&PairView> = kept.collect();
    let mut edge: Vec<&PairView> = kept
        .iter()
        .copied()
        .filter(|p| !kept.iter().any(|other| other.step != p.step && is_within(p, other) && !is_within(other, p)))
        .collect();
    edge.sort_by(|a, b| a.writes_per_s.total_cmp(&b.writes_per_s).then(a.step.cmp(&b.step)));
    edge.into_iter().map(|p| p.step).collect()
}

/// An answer for each group.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let surfaces = surfaces(steps);
    if surfaces.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    surfaces.iter().map(|surface| of_surface(question, surface, steps, run)).collect()
}

fn of_surface(question: &Message, surface: &SurfaceView, steps: &[StepView], run: i64) -> Verdict {
    let find = |index: &u32| steps.iter().find(|s| s.index == *index);
    let edge: Vec<&StepView> = surface.edge.iter().filter_map(find).collect();
    let balanced = balanced(&edge);
    let headline = headline(surface, &edge, balanced);
    let rows = spread_out(&edge, ROWS_MAX).into_iter().filter_map(edge_row);
    let brief = brief(headline.clone(), rows, Some(report(run)));
    let mut figures = Vec::new();
    // Of one beside none of the other the rows tell.
    let both = balanced.and_then(|s| Some((s, rates(s).filter(|(reads, writes)| *reads > 0.0 && *writes > 0.0)?)));
    if let Some((step, (reads, writes))) = both {
        figures.push(figure(msg!("verdict-figure-pair-reads"), per_s(reads), step));
        figures.push(figure(msg!("verdict-figure-pair-writes"), per_s(writes), step));
    }
    let count = |wanted: &[PairOutcome]| surface.pairs.iter().filter(|p| wanted.contains(&p.outcome)).count();
    let counted = msg!(
        "verdict-pairs-counted",
        all = surface.pairs.len(),
        kept = count(&[PairOutcome::Kept]),
        missed = count(&[PairOutcome::Missed]),
        behind = count(&[PairOutcome::NotHeld]),
        unknown = count(&[PairOutcome::Unknown])
    );
    let evidence = vec![counted, msg!("verdict-pairs-speak")];
    verdict(question, brief, sentences([headline]), evidence, figures, steps)
}

fn per_s(rate: f64) -> Quantity {
    Quantity::new(rate, Unit::PerS)
}

/// The pair of the edge that leaves the most of both: whose lesser share of the most of each is greatest.
fn balanced<'a>(edge: &[&'a StepView]) -> Option<&'a StepView> {
    let share = |s: &StepView| s.role.rate_pair.map_or(0, |pair| pair.read_pct.min(pair.write_pct));
    let sum = |s: &StepView| s.role.rate_pair.map_or(0, |pair| pair.read_pct + pair.write_pct);
    edge.iter().copied().max_by_key(|s| (share(s), sum(s)))
}

fn headline(surface: &SurfaceView, edge: &[&StepView], balanced: Option<&StepView>) -> Message {
    let goal = surface.goal.map(goal_words);
    let both = balanced.and_then(|s| Some((s, rates(s)?))).filter(|(_, (reads, writes))| *reads > 0.0 && *writes > 0.0);
    match (both, goal) {
        (Some((step, (reads, writes))), goal) => {
            let (reads, writes) = (per_s(reads), per_s(writes));
            // The limit of an offered load is its rate, which the sentence has.
            let place = Kind::of(step).place_message();
            match goal {
                Some(goal) => msg!("brief-surface", reads = reads, writes = writes, place = place, goal = goal),
                None => msg!("brief-surface-held", reads = reads, writes = writes, place = place),
            }
        }
        (None, Some(goal)) if edge.is_empty() => msg!("brief-surface-missed", goal = goal),
        (None, Some(goal)) => msg!("brief-surface-alone", goal = goal),
        (None, None) => msg!("brief-surface-none"),
    }
}

/// At most so many of the edge, its ends among them.
fn spread_out<'a>(edge: &[&'a StepView], most: usize) -> Vec<&'a StepView> {
    if edge.len() <= most {
        return edge.to_vec();
    }
    (0..most).map(|i| edge[(i * (edge.len() - 1) + (most - 1) / 2) / (most - 1)]).collect()
}

fn edge_row(step: &StepView) -> Option<BriefRow> {
    let (reads, writes) = rates(step)?;
    let name = if writes > 0.0 { msg!("brief-writes-at", rate = per_s(writes)) } else { msg!("brief-no-writes") };
    let with = if reads > 0.0 { msg!("brief-reads-at", rate = per_s(reads)) } else { msg!("brief-no-reads") };
    let tail = step.lat_ns.as_ref().and_then(p99).map(|p99| msg!("brief-cell-p99", p99 = p99));
    Some(row(name, [Some(with), tail].into_iter().flatten()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(step: u32, reads: f64, writes: f64, outcome: PairOutcome) -> PairView {
        PairView { step, reads_per_s: reads, writes_per_s: writes, outcome }
    }

    #[test]
    fn the_edge_is_what_no_kept_pair_exceeds_and_nothing_missed_lies_below() {
        use PairOutcome::{Kept, Missed, NotHeld, Unknown};
        let pairs = [
            pair(0, 10.0, 0.0, Kept),
            pair(1, 50.0, 0.0, Kept),
            pair(2, 30.0, 10.0, Kept),
            pair(3, 20.0, 10.0, Kept),
            pair(4, 10.0, 20.0, Kept),
            pair(5, 50.0, 20.0, Missed),
            pair(6, 0.0, 25.0, Unknown),
            pair(7, 0.0, 30.0, NotHeld),
        ];
        assert_eq!(edge(&pairs), [1, 2, 4]);
        // Once more at less, and missed: what lies beyond it was luck.
        let mut noisy = pairs.to_vec();
        noisy.push(pair(8, 25.0, 5.0, Missed));
        assert_eq!(edge(&noisy), [1, 3, 4]);
        // A hiccup under a light load does not take away what was kept under heavier ones.
        noisy.push(pair(9, 5.0, 5.0, Missed));
        assert_eq!(edge(&noisy), [1, 3, 4]);
        assert_eq!(edge(&[]), [] as [u32; 0]);
    }

    #[test]
    fn of_a_long_edge_both_ends_are_told() {
        let views: Vec<StepView> = (0..15).map(|i| crate::samples::view(&fathom_sample(i), 1e3, 100.0)).collect();
        let edge: Vec<&StepView> = views.iter().collect();
        let told: Vec<u32> = spread_out(&edge, 6).iter().map(|s| s.index).collect();
        assert_eq!((told.len(), told[0], told[5]), (6, 0, 14));
        assert!(told.windows(2).all(|w| w[0] < w[1]), "{told:?}");
    }

    /// The headline names its figures offered load, and the load itself.
    #[test]
    fn the_headline_says_that_its_limits_are_offered_rates_and_at_which_load() {
        let mut step = fathom_sample(0);
        step.workload.mix = fathom_plan::OpMix { read_pct: 60, write_pct: 40, trim_pct: 0 };
        step.load.rate = Some(fathom_plan::Rate { iops: 100e3, process: fathom_plan::RateProcess::Poisson });
        step.role.rate_pair = Some(fathom_plan::RatePair { read_pct: 60, write_pct: 40 });
        let view = crate::samples::view(&step, 100e3, 100.0);
        let headline = |goal: Option<fathom_plan::LatencyGoal>| {
            let surface = SurfaceView { group: "A".to_owned(), goal, pairs: Vec::new(), edge: vec![0] };
            fathom_language::english(&headline(&surface, &[&view], Some(&view)))
        };
        let held = headline(None);
        assert_eq!(
            held,
            "An offered load of 60.0k/s reads with 40.0k/s writes (4k random) is completed without backlog."
        );
        let goal = fathom_plan::LatencyGoal { mean_ns: None, p99_ns: Some(2_000_000) };
        let kept = headline(Some(goal));
        assert!(kept.contains("An offered load of 60.0k/s reads") && kept.contains("keeps p99 <= 2.00 ms"), "{kept}");
        assert!(kept.split_whitespace().count() <= 25, "{kept}");
    }

    fn fathom_sample(index: u32) -> fathom_plan::Step {
        fathom_plan::Step { index, ..crate::samples::step() }
    }
}
