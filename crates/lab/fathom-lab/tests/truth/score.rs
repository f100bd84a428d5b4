//! What came of the cases.

use std::collections::BTreeMap;

use fathom_model::{Confidence, LimitName};

use super::case::Judged;

/// Answers said with about the same probability.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    pub(super) said: u32,
    pub(super) right: u32,
    pub(super) probability_sum: f64,
}

/// All answers.
#[derive(Debug, Default)]
pub(super) struct Score {
    pub(super) judged: Vec<Judged>,
}

/// Lower ends of the bins of the reliability diagram, percent.
pub(super) const BINS_FROM_PCT: [u32; 7] = [0, 50, 60, 70, 80, 90, 95];

pub(super) fn is_right(j: &Judged) -> bool {
    j.right.names.contains(&j.said)
}

impl Score {
    pub(super) fn add(&mut self, judged: Vec<Judged>) {
        self.judged.extend(judged);
    }

    pub(super) fn join(&mut self, other: Score) {
        self.judged.extend(other.judged);
        self.judged.sort_by_key(|j| j.seed);
    }

    pub(super) fn steps(&self) -> u32 {
        self.judged.len() as u32
    }

    /// Answers with a probability, by bins.
    pub(super) fn bins(&self) -> Vec<Bin> {
        let mut bins = vec![Bin::default(); BINS_FROM_PCT.len()];
        for j in &self.judged {
            let Some(p) = j.probability else { continue };
            let at = BINS_FROM_PCT.iter().rposition(|from| p * 100.0 >= f64::from(*from)).unwrap_or(0);
            bins[at].said += 1;
            bins[at].right += u32::from(is_right(j));
            bins[at].probability_sum += p;
        }
        bins
    }

    /// Mean distance of what is said from how often it is right, over the bins (Naeini, Cooper, Hauskrecht 2015).
    pub(super) fn calibration_error(&self) -> f64 {
        let bins = self.bins();
        let total: u32 = bins.iter().map(|b| b.said).sum();
        bins.iter().map(|b| (b.probability_sum - f64::from(b.right)).abs()).sum::<f64>() / f64::from(total.max(1))
    }

    /// Mean of [`Score::calibration_error`] if every probability is earned: sqrt(2 / pi) of the standard deviation
    /// sqrt(n p (1 - p)) of the right answers in each bin.
    pub(super) fn calibration_error_by_chance(&self) -> f64 {
        let bins = self.bins();
        let total: u32 = bins.iter().map(|b| b.said).sum();
        let of_bin = |b: &Bin| {
            let p = b.probability_sum / f64::from(b.said.max(1));
            (std::f64::consts::FRAC_2_PI * f64::from(b.said) * p * (1.0 - p)).sqrt()
        };
        bins.iter().map(of_bin).sum::<f64>() / f64::from(total.max(1))
    }

    /// Said with 90 % or more, and how many of them were wrong.
    pub(super) fn sure(&self) -> (u32, u32) {
        let sure = self.judged.iter().filter(|j| j.probability.is_some_and(|p| p >= Confidence::CONFIRMED_FROM));
        let (mut n, mut wrong) = (0, 0);
        sure.for_each(|j| {
            n += 1;
            wrong += u32::from(!is_right(j));
        });
        (n, wrong)
    }

    /// (truth, answer) -> steps.
    pub(super) fn matrix(&self) -> BTreeMap<(LimitName, LimitName), u32> {
        let mut out = BTreeMap::new();
        for j in &self.judged {
            let truth = if is_right(j) { j.said } else { j.right.names[0] };
            *out.entry((truth, j.said)).or_default() += 1;
        }
        out
    }
}
