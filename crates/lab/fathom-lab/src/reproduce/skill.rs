//! How much better than arithmetic predictions are: errors, coverage and width of bands, and the quantile score.

use std::collections::BTreeMap;

use fathom_model::catalogue::PublishedMetric;
use fathom_model::{FigureBand, FigureScale};
use serde::Serialize;

/// Share of figures that the wide band is meant to hold.
const HELD: f64 = 0.9;

/// What a figure counts, as far as errors of one kind are of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// I/Os and bytes per second.
    Rate,
    /// Mean latency.
    Latency,
    /// 99th percentile of the latency.
    Tail,
    /// Cores, and I/Os per core.
    Cores,
}

impl ScoreKind {
    /// All, in the order they are printed.
    pub const ALL: [ScoreKind; 4] = [ScoreKind::Rate, ScoreKind::Latency, ScoreKind::Tail, ScoreKind::Cores];

    /// The kind of a metric; `None`: it is not predicted.
    #[must_use]
    pub fn of(metric: PublishedMetric) -> Option<ScoreKind> {
        match metric {
            PublishedMetric::Iops | PublishedMetric::BytesPerS => Some(ScoreKind::Rate),
            PublishedMetric::LatMeanNs => Some(ScoreKind::Latency),
            PublishedMetric::LatP99Ns => Some(ScoreKind::Tail),
            PublishedMetric::CpuPct | PublishedMetric::CoresBusy | PublishedMetric::IopsPerCore => {
                Some(ScoreKind::Cores)
            }
            _ => None,
        }
    }

    fn scale(self, scale: &FigureScale) -> f64 {
        match self {
            ScoreKind::Rate | ScoreKind::Latency | ScoreKind::Tail => scale.rate,
            ScoreKind::Cores => scale.cores,
        }
    }
}

/// A published figure beside what was predicted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The step it is of: figures of one step tell less than as many of several.
    pub step: String,
    /// What it counts.
    pub kind: ScoreKind,
    /// Where a range is published, its end nearest to the prediction.
    pub published: f64,
    /// The end nearest to what arithmetic gives, which is judged as kindly.
    pub published_for_baseline: f64,
    /// What was predicted.
    pub predicted: f64,
    /// What arithmetic gives; `None`: it says nothing of such a figure.
    pub baseline: Option<f64>,
    /// How far it may lie.
    pub band: FigureBand,
}

impl Scored {
    /// Predicted / published - 1, percent.
    #[must_use]
    pub fn error_pct(&self) -> f64 {
        100.0 * (self.predicted / self.published - 1.0)
    }

    /// Baseline / published - 1, percent.
    #[must_use]
    pub fn baseline_error_pct(&self) -> Option<f64> {
        self.baseline.map(|b| 100.0 * (b / self.published_for_baseline - 1.0))
    }

    /// By what factor the wide band would have to be wider, on the logarithm, to end at the figure.
    fn needs(&self) -> f64 {
        let [low, high] = self.band.within_90;
        let off = (self.published / self.predicted).ln();
        let half = if off < 0.0 { (self.predicted / low).ln() } else { (high / self.predicted).ln() };
        if half > 0.0 { off.abs() / half } else { f64::INFINITY }
    }

    /// Continuous ranked probability score on the natural logarithm, by the quantiles that the bands give: twice the mean
    /// pinball loss. Of a figure without a band it is the size of the error.
    fn crps(&self) -> f64 {
        let ([q05, q95], [q25, q75]) = (self.band.within_90, self.band.within_50);
        let quantiles = [(0.05, q05), (0.25, q25), (0.5, self.predicted), (0.75, q75), (0.95, q95)];
        let loss = |(p, q): (f64, f64)| {
            let off = (self.published / q).ln();
            if off >= 0.0 { p * off } else { (p - 1.0) * off }
        };
        2.0 * quantiles.into_iter().map(loss).sum::<f64>() / quantiles.len() as f64
    }
}

/// Scores of some figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Skill {
    /// Figures.
    pub figures: u32,
    /// Of them those that no other of the same step fixes: a rate, its bytes and its mean latency are one.
    pub effective: u32,
    /// Steps.
    pub steps: u32,
    /// Median size of the error.
    pub error_pct_median: f64,
    /// The same of arithmetic, over the figures that it says something of.
    pub baseline_error_pct_median: Option<f64>,
    /// The same two by step: the mean size over its figures.
    pub step_error_pct_median: f64,
    /// Of arithmetic.
    pub baseline_step_error_pct_median: Option<f64>,
    /// Share of figures inside the band of 50 %.
    pub within_50_pct: f64,
    /// Share of figures inside the band of 90 %.
    pub within_90_pct: f64,
    /// Median width of the band of 90 % over the prediction.
    pub width_pct_median: f64,
    /// Mean continuous ranked probability score on the logarithm.
    pub crps: f64,
    /// The same of arithmetic, which has no band.
    pub baseline_crps: Option<f64>,
    /// 1 - score / that of arithmetic, percent, over the figures that both are of: above 0 is better.
    pub skill_pct: Option<f64>,
}

impl Skill {
    /// Of all these figures; `None` without any.
    #[must_use]
    pub fn of(all: &[&Scored]) -> Option<Skill> {
        let count = all.len() as f64;
        let share = |holds: &dyn Fn(&Scored) -> bool| 100.0 * all.iter().filter(|s| holds(s)).count() as f64 / count;
        let mut ties: Vec<(&str, bool, ScoreKind)> = Vec::new();
        let mut by_step: BTreeMap<&str, Vec<&Scored>> = BTreeMap::new();
        for s in all {
            by_step.entry(&s.step).or_default().push(s);
            // By Little's law the mean latency of a closed loop is its rate once more.
            let is_tied = matches!(s.kind, ScoreKind::Rate | ScoreKind::Latency);
            let tie = (s.step.as_str(), is_tied, if is_tied { ScoreKind::Rate } else { s.kind });
            if !ties.contains(&tie) {
                ties.push(tie);
            }
        }
        let both: Vec<&Scored> = all.iter().copied().filter(|s| s.baseline.is_some()).collect();
        let mean = |of: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = of.collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let baseline_crps =
            mean(&mut both.iter().filter_map(|s| Some((s.published_for_baseline / s.baseline?).ln().abs())));
        let crps_of_both = mean(&mut both.iter().map(|s| s.crps()));
        let steps_of = |error: &dyn Fn(&Scored) -> Option<f64>| {
            median(by_step.values().filter_map(|of| mean(&mut of.iter().filter_map(|s| error(s)).map(f64::abs))))
        };
        Some(Skill {
            figures: all.len() as u32,
            effective: ties.len() as u32,
            steps: by_step.len() as u32,
            error_pct_median: median(all.iter().map(|s| s.error_pct().abs()))?,
            baseline_error_pct_median: median(all.iter().filter_map(|s| s.baseline_error_pct()).map(f64::abs)),
            step_error_pct_median: steps_of(&|s| Some(s.error_pct()))?,
            baseline_step_error_pct_median: steps_of(&Scored::baseline_error_pct),
            within_50_pct: share(&|s| s.band.within_50[0] <= s.published && s.published <= s.band.within_50[1]),
            within_90_pct: share(&|s| s.band.holds(s.published)),
            width_pct_median: median(all.iter().map(|s| 100.0 * s.band.width_over(s.predicted)))?,
            crps: mean(&mut all.iter().map(|s| s.crps()))?,
            baseline_crps,
            skill_pct: crps_of_both.zip(baseline_crps).filter(|(_, b)| *b > 0.0).map(|(a, b)| 100.0 * (1.0 - a / b)),
        })
    }
}

/// The factors on the widths of bands by which nine in ten of these figures would lie in theirs, of bands at scale one: by
/// ranks, so that the next figure of their kind lies in it as often. One where there is none of a kind.
#[must_use]
pub(super) fn scale_of(all: &[&Scored]) -> FigureScale {
    let of = |kinds: &[ScoreKind]| {
        let mut needs: Vec<f64> = all.iter().filter(|s| kinds.contains(&s.kind)).map(|s| s.needs()).collect();
        needs.sort_by(f64::total_cmp);
        let rank = (HELD * (needs.len() as f64 + 1.0)).ceil() as usize;
        needs.get(rank.min(needs.len()).saturating_sub(1)).copied().unwrap_or(1.0)
    };
    FigureScale { rate: of(&[ScoreKind::Rate, ScoreKind::Latency]), cores: of(&[ScoreKind::Cores]) }
}

/// A band at scale one, as wide as `scale` says.
#[must_use]
pub(super) fn scaled(band: FigureBand, middle: f64, kind: ScoreKind, scale: &FigureScale) -> FigureBand {
    let by = kind.scale(scale);
    let ends = |ends: [f64; 2]| ends.map(|end| middle * ((end / middle).ln() * by).exp());
    FigureBand { within_50: ends(band.within_50), within_90: ends(band.within_90) }
}

/// The middle of all; `None` of none.
pub(super) fn median(all: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    match all.len() {
        0 => None,
        n if n % 2 == 1 => Some(all[middle]),
        _ => Some(all[middle - 1].midpoint(all[middle])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scored(step: &str, kind: ScoreKind, published: f64) -> Scored {
        let band = FigureBand { within_50: [95.0, 105.0], within_90: [80.0, 125.0] };
        let published_for_baseline = published;
        Scored {
            step: step.into(),
            kind,
            published,
            published_for_baseline,
            predicted: 100.0,
            baseline: Some(150.0),
            band,
        }
    }

    #[test]
    fn a_rate_and_its_mean_latency_are_one_figure_and_arithmetic_is_beaten_by_what_lies_nearer() {
        let all = [
            scored("a", ScoreKind::Rate, 100.0),
            scored("a", ScoreKind::Latency, 102.0),
            scored("a", ScoreKind::Cores, 110.0),
            scored("b", ScoreKind::Rate, 130.0),
        ];
        let skill = Skill::of(&all.iter().collect::<Vec<_>>()).expect("figures");
        assert_eq!((skill.figures, skill.effective, skill.steps), (4, 3, 2));
        assert!((skill.within_90_pct - 75.0).abs() < 1e-9 && (skill.within_50_pct - 50.0).abs() < 1e-9);
        assert!((skill.width_pct_median - 45.0).abs() < 1e-9);
        assert!(skill.error_pct_median < skill.baseline_error_pct_median.expect("known"));
        assert!(skill.skill_pct.is_some_and(|s| s > 50.0), "{skill:?}");
        assert_eq!(Skill::of(&[]), None);
    }

    proptest! {
        /// Whatever the figures are, the scale that is taken from them holds nine in ten.
        #[test]
        fn the_scale_holds_nine_in_ten_of_the_figures_it_is_of(figures in prop::collection::vec(20.0..500.0_f64, 1..60)) {
            let all: Vec<Scored> = figures.iter().map(|x| scored("s", ScoreKind::Rate, *x)).collect();
            let scale = scale_of(&all.iter().collect::<Vec<_>>());
            let held = |by: &FigureScale| {
                let inside = |s: &&Scored| scaled(s.band, s.predicted, s.kind, by).within_90;
                all.iter().filter(|s| {
                    let [low, high] = inside(s);
                    low * (1.0 - 1e-9) <= s.published && s.published <= high * (1.0 + 1e-9)
                }).count()
            };
            prop_assert!(held(&scale) as f64 >= HELD * all.len() as f64 - 1e-9);
            let narrower = FigureScale { rate: scale.rate * 0.98, ..scale };
            prop_assert!(held(&narrower) <= held(&scale));
        }
    }
}
