//! Which path for which load, and where one path overtakes another: from the loads that were measured alone, and only
//! where the intervals of the figures lie apart.

use std::cmp::Ordering;

use fathom_message::{Arg, Join, Message, msg};

use super::{Contest, Path, cost_of};
use crate::document::{BriefRow, StepView};
use crate::verdict::brief::row;
use crate::verdict::parts::listed;

/// Most loads that a first look names.
const CELLS_MAX: usize = 3;

/// What paths are chosen by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// The higher the better.
    Rate,
    /// CPU time per I/O: the lower the better.
    Cost,
}

impl Figure {
    const BOTH: [Figure; 2] = [Figure::Rate, Figure::Cost];

    /// Its interval, turned so that higher is better.
    fn interval(self, step: &StepView) -> Option<[f64; 2]> {
        match self {
            Figure::Rate => step.iops_ci95,
            Figure::Cost => {
                let [low, high] = cost_of(step).filter(|cost| cost.value > 0.0)?.ci95?;
                Some([-high, -low])
            }
        }
    }

    /// `Greater`: `this` is better. `None`: the intervals overlap, or one has none.
    fn order(self, this: &StepView, other: &StepView) -> Option<Ordering> {
        let ([low, high], [other_low, other_high]) = (self.interval(this)?, self.interval(other)?);
        if low > other_high {
            return Some(Ordering::Greater);
        }
        (high < other_low).then_some(Ordering::Less)
    }
}

/// A path at all its depths: of one that has a single I/O in flight per thread, whatever its threads.
fn curve_of(step: &StepView) -> Path {
    let path = Path::of(step);
    match step.engine.is_synchronous() {
        true => Path { threads: 1, ..path },
        false => path,
    }
}

/// Names the path of `step` for loads up to `in_flight`.
fn name(step: &StepView, in_flight: u32) -> Message {
    let path = curve_of(step).message();
    match step.engine.is_synchronous() && in_flight > 1 {
        true => msg!("verdict-path-pool", path = path),
        false => path,
    }
}

/// The loads of one kind at one place, from the least in flight to the most.
pub(super) struct Series<'a>(Vec<&'a Contest<'a>>);

/// A path that is better than every other that was measured, from one load to another.
struct Best<'a> {
    step: &'a StepView,
    from: u32,
    to: u32,
}

impl Best<'_> {
    fn message(&self) -> Message {
        let path = name(self.step, self.to);
        match self.from == self.to {
            true => msg!("verdict-choice-at", path = path, in_flight = self.from),
            false => msg!("verdict-choice-between", path = path, from = self.from, to = self.to),
        }
    }
}

impl<'a> Series<'a> {
    /// All of them; `contests` are sorted by what they have in flight.
    pub(super) fn all(contests: &'a [Contest<'a>]) -> Vec<Series<'a>> {
        let mut out: Vec<Series<'a>> = Vec::new();
        for contest in contests {
            match out.iter_mut().find(|series| series.0[0].is_like(contest)) {
                Some(series) => series.0.push(contest),
                None => out.push(Series(vec![contest])),
            }
        }
        out
    }

    /// Whether the load is one of them.
    pub(super) fn holds(&self, contest: &Contest<'_>) -> bool {
        self.0[0].is_like(contest)
    }

    /// Neighbouring loads with the same best path are one; loads without one part them.
    fn best(&self, figure: Figure) -> Vec<Best<'a>> {
        let mut out: Vec<Best<'a>> = Vec::new();
        let mut is_next = false;
        for contest in &self.0 {
            let is_best = |step: &&StepView| {
                let others = contest.steps.iter().filter(|other| other.index != step.index);
                others.into_iter().all(|other| figure.order(step, other) == Some(Ordering::Greater))
            };
            let Some(step) = contest.steps.iter().copied().find(is_best) else {
                is_next = false;
                continue;
            };
            match out.last_mut().filter(|last| is_next && curve_of(last.step) == curve_of(step)) {
                Some(last) => last.to = contest.in_flight,
                None => out.push(Best { step, from: contest.in_flight, to: contest.in_flight }),
            }
            is_next = true;
        }
        out
    }

    /// `Which path for your load: for the most IOPS psync at 1 in flight, nvme from 4 to 32 in flight; ...`; `None` with one
    /// load alone, and where none decides.
    pub(super) fn choice(&self) -> Option<Message> {
        if self.0.len() < 2 {
            return None;
        }
        let of_figure = |figure: Figure| {
            let best: Vec<Message> = self.best(figure).iter().map(Best::message).collect();
            let list = Arg::list(best.clone(), Join::Comma);
            (!best.is_empty()).then(|| match figure {
                Figure::Rate => msg!("verdict-choice-rate", list = list),
                Figure::Cost => msg!("verdict-choice-cost", list = list),
            })
        };
        let clauses: Vec<Message> = Figure::BOTH.into_iter().filter_map(of_figure).collect();
        (!clauses.is_empty()).then(|| msg!("verdict-choice", clauses = Arg::list(clauses, Join::Semicolon)))
    }

    /// The same in IOPS, for a first look.
    pub(super) fn row(&self) -> Option<BriefRow> {
        let best: Vec<Message> = self.best(Figure::Rate).iter().take(CELLS_MAX).map(Best::message).collect();
        (self.0.len() > 1 && !best.is_empty()).then(|| row(msg!("brief-row-choice"), best))
    }

    /// Where one path overtakes another, for each figure in which any does.
    pub(super) fn crossings(&self) -> Vec<Message> {
        let of_figure = |figure: Figure| {
            let crossings = self.crossings_in(figure);
            let (kind, list) = (self.0[0].kind.message(), listed(crossings.clone()));
            (!crossings.is_empty()).then(|| match figure {
                Figure::Rate => msg!("verdict-crossings-rate", kind = kind, list = list),
                Figure::Cost => msg!("verdict-crossings-cost", kind = kind, list = list),
            })
        };
        Figure::BOTH.into_iter().filter_map(of_figure).collect()
    }

    fn crossings_in(&self, figure: Figure) -> Vec<Message> {
        let mut curves: Vec<Path> = Vec::new();
        for step in self.0.iter().flat_map(|contest| &contest.steps) {
            if !curves.contains(&curve_of(step)) {
                curves.push(curve_of(step));
            }
        }
        let mut out = Vec::new();
        for (i, first) in curves.iter().enumerate() {
            for second in &curves[i + 1..] {
                out.extend(self.crossings_of(figure, first, second));
            }
        }
        out
    }

    fn crossings_of(&self, figure: Figure, first: &Path, second: &Path) -> Vec<Message> {
        let mut out = Vec::new();
        // The load before at which one was better, and which.
        let mut before: Option<(u32, Ordering)> = None;
        for contest in &self.0 {
            let at = |path: &Path| contest.steps.iter().copied().find(|step| curve_of(step) == *path);
            let Some((a, b)) = at(first).zip(at(second)) else { continue };
            let Some(order) = figure.order(a, b) else { continue };
            if let Some((up_to, earlier)) = before.filter(|(_, earlier)| *earlier != order) {
                let (old, new) = if earlier == Ordering::Greater { (a, b) } else { (b, a) };
                let (old, new, from) = (name(old, up_to), name(new, contest.in_flight), contest.in_flight);
                out.push(match figure {
                    Figure::Rate => {
                        msg!("verdict-crossing-rate", before = old, after = new, up_to = up_to, from = from)
                    }
                    Figure::Cost => {
                        msg!("verdict-crossing-cost", before = old, after = new, up_to = up_to, from = from)
                    }
                });
            }
            before = Some((contest.in_flight, order));
        }
        out
    }
}
