//! One step on two sides: its figures, their effects and verdicts.

use fathom_message::{Message, Unit, msg};
use fathom_stats::{Effect, Relation};

use super::relation_of;
use crate::cpu_time::{cpu_ns_per_io, cpu_per_io_ci95};
use crate::document::{ComparedFigure, ComparedLoad, ComparedMetric, ComparedStep, Design, Merit, StepView};

/// Fewest pairs, or runs of a side, whose own spread is used.
const REPEATS_MIN: usize = 3;

/// A figure on both sides.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) name: ComparedFigure,
    pub(super) a: f64,
    pub(super) b: f64,
    /// Of b / a.
    pub(super) effect: Option<Effect>,
    pub(super) pairs: Vec<f64>,
}

/// A step on two sides.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    label: String,
    group: String,
    load: ComparedLoad,
    side: String,
    steps_a: Vec<u32>,
    steps_b: Vec<u32>,
    paired: bool,
    has_rate: bool,
    pub(super) figures: Vec<Figure>,
    notes: Vec<Message>,
}

impl Cell {
    /// From the repeats of one step on both sides; `paired`: the n-th of `a` belongs to the n-th of `b`.
    pub(super) fn of(label: &str, side: &str, a: &[&StepView], b: &[&StepView], paired: bool) -> Cell {
        let paired = paired && a.len() == b.len() && a.len() >= REPEATS_MIN;
        let figures: Vec<Figure> = ComparedFigure::ALL.iter().filter_map(|name| figure(*name, a, b, paired)).collect();
        let mut notes = Vec::new();
        for (side, steps) in [("A", a), (side, b)] {
            if steps.iter().any(|s| s.is_unsteady()) {
                notes.push(msg!("compare-note-unsteady", side = side.to_owned()));
            }
            if steps.iter().any(|s| s.errors > 0) {
                notes.push(msg!("compare-note-failed-ios", side = side.to_owned()));
            }
        }
        if figures.iter().any(|f| f.name == ComparedFigure::Iops && f.effect.is_none()) {
            notes.push(msg!("compare-note-no-interval"));
        }
        Cell {
            label: label.to_owned(),
            group: a[0].group.clone(),
            load: ComparedLoad::of(a[0]),
            side: side.to_owned(),
            steps_a: a.iter().map(|s| s.index).collect(),
            steps_b: b.iter().map(|s| s.index).collect(),
            paired,
            has_rate: a[0].rate_iops.is_some(),
            figures,
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
        ComparedStep {
            verdict: relation_of(speed.as_ref(), p.unwrap_or(1.0), margin_pct).into(),
            metric: self.decides(),
            label: self.label,
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
        (Relation::Unsure, _) => Merit::Unsure,
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

/// How the figure `name` of `b` stands to that of `a`, each one load with its repeats that were not
/// measured in turns; `None` when a side has no usable figure.
pub(crate) fn effect(name: ComparedFigure, a: &[&StepView], b: &[&StepView]) -> Option<Effect> {
    figure(name, a, b, false)?.effect
}

/// `None` when a side does not have the figure.
fn figure(name: ComparedFigure, a: &[&StepView], b: &[&StepView], paired: bool) -> Option<Figure> {
    let values = |steps: &[&StepView]| steps.iter().map(|s| Some(known(name, s)?.0)).collect::<Option<Vec<f64>>>();
    let (of_a, of_b) = (values(a)?, values(b)?);
    let effect = if paired {
        Effect::paired(&of_a, &of_b)
    } else if a.len().min(b.len()) >= REPEATS_MIN {
        Effect::of_runs(&of_a, &of_b)
    } else {
        pooled(name, a).zip(pooled(name, b)).and_then(|((a, a_ci), (b, b_ci))| Effect::of_figures(a, a_ci, b, b_ci))
    };
    let pairs = if paired { of_a.iter().zip(&of_b).map(|(a, b)| b / a).collect() } else { Vec::new() };
    Some(Figure { name, a: mean(&of_a), b: mean(&of_b), effect, pairs })
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

/// The mean of one or two repeats, their half widths added as squares, and widened by Birge's ratio where the repeats lie
/// further apart than their own intervals allow (R. T. Birge, Phys. Rev. 40, 1932; the scale factor of the Particle Data
/// Group): between repeats the drive or the host may have changed more than it did within one.
fn pooled(name: ComparedFigure, steps: &[&StepView]) -> Option<(f64, (f64, f64))> {
    let mut figures = Vec::with_capacity(steps.len());
    for step in steps {
        let (value, ci95) = known(name, step)?;
        let (low, high) = ci95?;
        figures.push((value, (high - low) / 2.0));
    }
    let n = figures.len() as f64;
    let value = figures.iter().map(|(value, _)| value).sum::<f64>() / n;
    let half = figures.iter().map(|(_, half)| half.powi(2)).sum::<f64>().sqrt() / n;
    let half = half * birge_ratio(&figures, value);
    Some((value, (value - half, value + half)))
}

/// How much further figures, each with the half width of its 95 % interval, lie from their mean than chance would have
/// them; at least 1.
fn birge_ratio(figures: &[(f64, f64)], mean: f64) -> f64 {
    const HALF_WIDTH_SDS: f64 = 1.96;
    // A figure that did not vary at all has no width to measure its distance in.
    if figures.len() < 2 || figures.iter().any(|(_, half)| *half <= 0.0) {
        return 1.0;
    }
    let chi_square: f64 = figures.iter().map(|(value, half)| ((value - mean) / half * HALF_WIDTH_SDS).powi(2)).sum();
    (chi_square / (figures.len() - 1) as f64).sqrt().max(1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_further_apart_than_their_intervals_allow_widen_the_interval() {
        assert!((birge_ratio(&[(100.0, 2.0)], 100.0) - 1.0).abs() < 1e-12, "one has nothing to disagree with");
        assert!((birge_ratio(&[(99.0, 2.0), (101.0, 2.0)], 100.0) - 1.386).abs() < 0.001);
        assert!((birge_ratio(&[(99.9, 2.0), (100.1, 2.0)], 100.0) - 1.0).abs() < 1e-12, "never narrower");
        // 10 % apart at ±2 %: each lies 4.9 standard deviations from the mean.
        assert!((birge_ratio(&[(95.0, 2.0), (105.0, 2.0)], 100.0) - 6.93).abs() < 0.01);
    }
}
