//! One step on two sides: its figures, their effects and verdicts.

use fathom_message::{Message, Unit, msg};
use fathom_stats::{Effect, Relation, RunFigure, birge_scale};
use serde_json::Value;

use super::ledger::{Entry, Ledger, RUNS_MIN, kind_of};
use super::relation_of;
use crate::cpu_time::{cpu_ns_per_io, cpu_per_io_ci95};
use crate::document::{
    ComparedFigure, ComparedLoad, ComparedMetric, ComparedStep, Design, Merit, Speed, SpreadSource, SpreadUsed,
    StepView,
};

/// Fewest pairs whose own spread is used.
const PAIRS_MIN: usize = 3;
/// Fewest repeats of a side within a run from which, with those of the other, anything is said.
const REPEATS_MIN: usize = 2;

/// One load on one side of a comparison of runs.
#[derive(Clone, Debug)]
pub(super) struct SideRuns<'a> {
    /// `A`, `B`...
    pub(super) name: &'a str,
    /// The steps with that load of each run of the side; no run is empty.
    pub(super) runs: Vec<Vec<&'a StepView>>,
    /// What is known of the host of its first run.
    pub(super) host: &'a Value,
}

impl<'a> SideRuns<'a> {
    pub(super) fn first(&self) -> &'a StepView {
        self.runs[0][0]
    }

    fn steps(&self) -> Vec<&'a StepView> {
        self.runs.concat()
    }
}

/// A figure on both sides.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) name: ComparedFigure,
    pub(super) a: f64,
    pub(super) b: f64,
    /// Of b / a; `None` where what differs from run to run is not known.
    pub(super) effect: Option<Effect>,
    /// The spread from run to run that the effect holds; `None` for sides of one run.
    spread: Option<SpreadUsed>,
    pub(super) pairs: Vec<f64>,
}

/// What a compared step is called: as text, and for people.
pub(super) type Label = (String, Message);

/// A step on two sides.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    label: Label,
    group: String,
    load: ComparedLoad,
    side: String,
    steps_a: Vec<u32>,
    steps_b: Vec<u32>,
    paired: bool,
    has_rate: bool,
    pub(super) figures: Vec<Figure>,
    why_open: Option<Message>,
    notes: Vec<Message>,
}

impl Cell {
    /// From the legs of one step on two sides of one run; the n-th of `a` belongs to the n-th of `b`.
    pub(super) fn of_legs(label: Label, side: &str, a: &[&StepView], b: &[&StepView]) -> Cell {
        let paired = a.len() == b.len() && a.len() >= PAIRS_MIN;
        let mut figures: Vec<Figure> =
            ComparedFigure::ALL.iter().filter_map(|name| figure_of_legs(*name, a, b, paired)).collect();
        let one_draw = (a.len().min(b.len()) < REPEATS_MIN).then(|| msg!("compare-why-one-leg"));
        if one_draw.is_some() {
            figures.iter_mut().for_each(|figure| figure.effect = None);
        }
        Cell::new(label, a, (side, b), paired, figures, one_draw)
    }

    /// From the runs of one load on both sides: by their own spread where each has three, else by that of the ledger.
    pub(super) fn of_runs(label: Label, a: &SideRuns<'_>, b: &SideRuns<'_>, ledger: &Ledger) -> Cell {
        let figures = ComparedFigure::ALL.iter().filter_map(|name| figure_of_runs(*name, a, b, ledger)).collect();
        let unknown = [a, b].into_iter().find(|side| kind_of(side.host, side.first()).is_none());
        let why = match unknown {
            Some(side) => msg!("compare-why-unknown-host", side = side.name.to_owned()),
            None => msg!("compare-why-one-draw", a = a.runs.len(), b = b.runs.len(), side = b.name.to_owned()),
        };
        let few = (a.runs.len().min(b.runs.len()) < RUNS_MIN).then_some(why);
        let mut cell = Cell::new(label, &a.steps(), (b.name, &b.steps()), false, figures, few);
        // Indexes are those of the plan of a side's first run; the plans of the others may count otherwise.
        let indexes = |side: &SideRuns<'_>| side.runs[0].iter().map(|s| s.index).collect();
        (cell.steps_a, cell.steps_b) = (indexes(a), indexes(b));
        cell
    }

    /// `why_open`: why nothing is said where there is no effect.
    fn new(
        label: Label,
        a: &[&StepView],
        (side, b): (&str, &[&StepView]),
        paired: bool,
        figures: Vec<Figure>,
        why_open: Option<Message>,
    ) -> Cell {
        let mut notes = Vec::new();
        for (side, steps) in [("A", a), (side, b)] {
            if steps.iter().any(|s| s.is_unsteady()) {
                notes.push(msg!("compare-note-unsteady", side = side.to_owned()));
            }
            if steps.iter().any(|s| s.errors > 0) {
                notes.push(msg!("compare-note-failed-ios", side = side.to_owned()));
            }
        }
        if a.iter().chain(b).any(|s| s.iops > 0.0 && s.iops_ci95.is_none()) {
            notes.push(msg!("compare-note-no-interval"));
        }
        Cell {
            label,
            group: a[0].group.clone(),
            load: ComparedLoad::of(a[0]),
            side: side.to_owned(),
            steps_a: a.iter().map(|s| s.index).collect(),
            steps_b: b.iter().map(|s| s.index).collect(),
            paired,
            has_rate: a[0].rate_iops.is_some(),
            figures,
            why_open,
            notes,
        }
    }

    pub(super) fn is_paired(&self) -> bool {
        self.paired
    }

    /// Adds something that a reader must know.
    pub(super) fn note(&mut self, note: Message) {
        self.notes.push(note);
    }

    /// Which figure decides.
    fn decides(&self) -> ComparedFigure {
        if self.has_rate { ComparedFigure::LatMean } else { ComparedFigure::Iops }
    }

    /// The figure that decides: IOPS, or the mean latency where the rate was given.
    pub(super) fn headline(&self) -> Option<&Figure> {
        self.figures.iter().find(|f| f.name == self.decides())
    }

    /// Adds the spread from run to run to every figure.
    pub(super) fn widen(&mut self, spread: f64) {
        for figure in &mut self.figures {
            figure.effect = figure.effect.map(|e| e.with_spread(spread));
        }
    }

    /// The verdicts; `p_adjusted` belongs to `figures`, one each.
    pub(super) fn conclude(self, p_adjusted: &[f64], margin_pct: f64) -> ComparedStep {
        let metrics: Vec<ComparedMetric> =
            self.figures.iter().zip(p_adjusted).map(|(f, p)| metric(f, *p, margin_pct)).collect();
        let headline = self.headline();
        let p = headline.and_then(|h| self.figures.iter().position(|f| f.name == h.name)).map(|i| p_adjusted[i]);
        // Speed goes with IOPS and against latency.
        let speed = headline.and_then(|h| h.effect).map(|e| if self.has_rate { e.inverse() } else { e });
        let ratio = match (speed, headline) {
            (Some(speed), _) => Some(speed.ratio()),
            (None, Some(h)) => Some(if self.has_rate { h.a / h.b } else { h.b / h.a }),
            (None, None) => None,
        };
        let verdict: Speed = relation_of(speed.as_ref(), p.unwrap_or(1.0), margin_pct).into();
        let inconclusive = (verdict == Speed::Inconclusive).then(|| match speed {
            Some(_) => msg!("compare-why-interval"),
            None => self.why_open.clone().unwrap_or_else(|| msg!("compare-note-no-interval")),
        });
        ComparedStep {
            verdict,
            inconclusive,
            spread: headline.and_then(|h| h.spread),
            metric: self.decides(),
            label: self.label.0,
            label_message: self.label.1,
            group: self.group,
            load: self.load,
            side: self.side,
            steps_a: self.steps_a,
            steps_b: self.steps_b,
            design: if self.paired { Design::Paired } else { Design::Unpaired },
            ratio,
            ci95: speed.map(|e| e.ci95().into()),
            p_value: speed.map(|e| e.p_value()),
            p_adjusted: speed.and(p),
            metrics,
            notes: self.notes,
        }
    }
}

fn metric(figure: &Figure, p_adjusted: f64, margin_pct: f64) -> ComparedMetric {
    let more_is_better = figure.name == ComparedFigure::Iops;
    let verdict = match (relation_of(figure.effect.as_ref(), p_adjusted, margin_pct), more_is_better) {
        (Relation::Higher, true) | (Relation::Lower, false) => Merit::Better,
        (Relation::Lower, true) | (Relation::Higher, false) => Merit::Worse,
        (Relation::Same, _) => Merit::Same,
        (Relation::Inconclusive, _) => Merit::Inconclusive,
    };
    ComparedMetric {
        name: figure.name,
        unit: match figure.name {
            ComparedFigure::Iops => Unit::Iops,
            ComparedFigure::CpuPerIo => Unit::NsPerIo,
            ComparedFigure::LatMean | ComparedFigure::LatP99 => Unit::Ns,
        },
        more_is_better,
        a: figure.a,
        b: figure.b,
        ratio: figure.effect.map_or(figure.b / figure.a, |e| e.ratio()),
        ci95: figure.effect.map(|e| e.ci95().into()),
        verdict,
        pairs: figure.pairs.clone(),
    }
}

/// How the figure `name` of `b` stands to that of `a`, each one load with its repeats within one run that were not
/// measured in turns; `None` when a side has no usable figure.
pub(crate) fn effect(name: ComparedFigure, a: &[&StepView], b: &[&StepView]) -> Option<Effect> {
    figure_of_legs(name, a, b, false)?.effect
}

/// `None` when a side does not have the figure.
fn figure_of_legs(name: ComparedFigure, a: &[&StepView], b: &[&StepView], paired: bool) -> Option<Figure> {
    let values = |steps: &[&StepView]| steps.iter().map(|s| Some(known(name, s)?.0)).collect::<Option<Vec<f64>>>();
    let (of_a, of_b) = (values(a)?, values(b)?);
    let effect = if paired {
        Effect::paired(&of_a, &of_b)
    } else if a.len().min(b.len()) >= PAIRS_MIN {
        Effect::of_runs(&of_a, &of_b)
    } else {
        pooled(name, a, b)
    };
    let pairs = if paired { of_a.iter().zip(&of_b).map(|(a, b)| b / a).collect() } else { Vec::new() };
    Some(Figure { name, a: mean(&of_a), b: mean(&of_b), effect, spread: None, pairs })
}

/// `None` when a run of a side does not have the figure.
fn figure_of_runs(name: ComparedFigure, a: &SideRuns<'_>, b: &SideRuns<'_>, ledger: &Ledger) -> Option<Figure> {
    let of = |side: &SideRuns<'_>| side.runs.iter().map(|r| run_figure(name, r)).collect::<Option<Vec<RunFigure>>>();
    let (of_a, of_b) = (of(a)?, of(b)?);
    let found = match of_a.len().min(of_b.len()) >= RUNS_MIN {
        true => by_own_spread(&of_a, &of_b),
        false => by_ledger(name, (a, &of_a), (b, &of_b), ledger),
    };
    let (effect, spread) = found.unzip();
    let level = |side: &SideRuns<'_>| {
        let of_run =
            |run: &Vec<&StepView>| mean(&run.iter().filter_map(|s| Some(known(name, s)?.0)).collect::<Vec<f64>>());
        mean(&side.runs.iter().map(of_run).collect::<Vec<f64>>())
    };
    Some(Figure { name, a: level(a), b: level(b), effect, spread, pairs: Vec::new() })
}

fn by_own_spread(a: &[RunFigure], b: &[RunFigure]) -> Option<(Effect, SpreadUsed)> {
    let effect = Effect::of_own_spread(a, b)?;
    // Of one run, so that it can be held against that of other comparisons.
    let per_run = effect.error / (1.0 / a.len() as f64 + 1.0 / b.len() as f64).sqrt();
    let runs = (a.len() + b.len()) as u32;
    Some((effect, SpreadUsed { source: SpreadSource::Runs, pct: per_run * 100.0, runs, freedom: effect.freedom }))
}

fn by_ledger(
    name: ComparedFigure,
    (side_a, a): (&SideRuns<'_>, &[RunFigure]),
    (side_b, b): (&SideRuns<'_>, &[RunFigure]),
    ledger: &Ledger,
) -> Option<(Effect, SpreadUsed)> {
    let kinds = [side_a, side_b].map(|side| kind_of(side.host, side.first()));
    let entry = |kind: &Option<String>| kind.as_ref().and_then(|kind| ledger.entry(kind, name));
    let entries: [Entry; 2] = [entry(&kinds[0])?, entry(&kinds[1])?];
    let same = kinds[0] == kinds[1];
    let effect = Effect::of_known_spread((a, &entries[0].spread), (b, &entries[1].spread), same)?;
    let widest = entries.iter().map(|e| e.spread.deviation).fold(0.0, f64::max);
    let runs = if same { entries[0].runs } else { entries[0].runs + entries[1].runs } as u32;
    Some((effect, SpreadUsed { source: SpreadSource::Ledger, pct: widest * 100.0, runs, freedom: effect.freedom }))
}

/// A figure of one run from its repeats of a load; `None` when one lacks it.
pub(super) fn run_figure(name: ComparedFigure, repeats: &[&StepView]) -> Option<RunFigure> {
    RunFigure::of(&repeats.iter().map(|s| known(name, s)).collect::<Option<Vec<_>>>()?)
}

/// A figure of a step with its interval, if it has one; figures of zero cannot be compared.
fn known(name: ComparedFigure, step: &StepView) -> Option<(f64, Option<(f64, f64)>)> {
    let lat = step.lat_ns.as_ref();
    let of_quantile = |key: &str| lat?.ci95.get(key).map(|[lo, hi]| (*lo as f64, *hi as f64));
    let (value, ci95) = match name {
        ComparedFigure::Iops => (step.iops, step.iops_ci95.map(|[lo, hi]| (lo, hi))),
        ComparedFigure::LatMean => (lat?.mean, of_quantile("mean").or_else(|| by_littles_law(step, lat?.mean))),
        ComparedFigure::LatP99 => (lat?.p99? as f64, of_quantile("p99")),
        ComparedFigure::CpuPerIo => (cpu_ns_per_io(step)?, cpu_per_io_ci95(step)),
    };
    (value > 0.0 && value.is_finite()).then_some((value, ci95))
}

/// In a closed loop mean latency is in-flight / IOPS, so its interval is as wide, as a share, as that of IOPS.
fn by_littles_law(step: &StepView, mean_ns: f64) -> Option<(f64, f64)> {
    let [low, high] = step.iops_ci95.filter(|_| step.rate_iops.is_none() && step.iops > 0.0)?;
    let half = (high - low) / 2.0 / step.iops * mean_ns;
    Some((mean_ns - half, mean_ns + half))
}

/// From one or two repeats a side: their means, the half widths added as squares, and widened where the repeats lie
/// further apart than their own intervals allow ([`birge_scale`]): between repeats the drive or the host may have changed
/// more than it did within one.
fn pooled(name: ComparedFigure, a: &[&StepView], b: &[&StepView]) -> Option<Effect> {
    let figures = |steps: &[&StepView]| -> Option<Vec<(f64, f64)>> {
        let figure = |step: &&StepView| {
            let (value, ci95) = known(name, step)?;
            ci95.map(|(low, high)| (value, (high - low) / 2.0))
        };
        steps.iter().map(figure).collect()
    };
    let sides = [figures(a)?, figures(b)?];
    let scale = birge_scale(&sides);
    let [(a, a_ci95), (b, b_ci95)] = sides.map(|figures| {
        let n = figures.len() as f64;
        let value = figures.iter().map(|(value, _)| value).sum::<f64>() / n;
        let half = figures.iter().map(|(_, half)| half.powi(2)).sum::<f64>().sqrt() / n * scale;
        (value, (value - half, value + half))
    });
    Effect::of_figures(a, a_ci95, b, b_ci95)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
