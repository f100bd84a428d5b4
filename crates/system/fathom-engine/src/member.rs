//! Each target's share of a step over several targets.

use std::sync::Arc;

use fathom_hist::Histogram;
use fathom_plan::TargetId;
use fathom_record::{QuotedLatency, TargetRecord};

use crate::hot::MEASURE_PARTS_EVERY;
use crate::shared::WorkerSummary;
use crate::tally::{PartTally, SYNC, Tallies};
use crate::worker::WorkerPlan;

/// Quantiles kept of a target; a quantile with fewer than 100 samples beyond it is left out, of which each may stand for several.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
const BEYOND_MIN: f64 = 100.0 * MEASURE_PARTS_EVERY as f64;

/// What one target's workers sent so far.
#[derive(Default)]
pub(crate) struct Member {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    lat: Histogram,
}

impl Member {
    /// Adds one interval of a worker that drives several targets: its part of it.
    pub(crate) fn add_part(&mut self, tally: &PartTally) {
        self.ios += tally.ios;
        self.bytes += tally.bytes;
        if let Some(lat) = &tally.lat {
            self.lat.merge(lat);
        }
    }

    /// Adds one interval of a worker of its own.
    pub(crate) fn add(&mut self, tallies: &Tallies) {
        for op in &tallies.ops[..SYNC] {
            self.ios += op.ios;
            self.bytes += op.bytes;
            if let Some(lat) = &op.lat {
                self.lat.merge(lat);
            }
        }
    }

    fn latency(&self) -> Option<QuotedLatency> {
        let count = self.lat.count();
        let quantiles = QUANTILES.into_iter().filter(|q| count as f64 * (1.0 - q) >= BEYOND_MIN);
        Some(QuotedLatency {
            count,
            mean_ns: self.lat.mean_ns()?,
            stddev_ns: self.lat.stddev_ns()?,
            min_ns: self.lat.min_ns()?,
            max_ns: self.lat.max_ns()?,
            quantiles: quantiles.filter_map(|q| Some((q, self.lat.quantile(q)?))).collect(),
        })
    }
}

/// The targets' records, in the order of the step; none for a single target, whose share is the whole.
pub(crate) fn records(
    targets: &[TargetId],
    members: &[Member],
    plans: &[Arc<WorkerPlan>],
    summaries: &[Option<Box<WorkerSummary>>],
) -> Vec<TargetRecord> {
    if members.len() < 2 {
        return Vec::new();
    }
    let mut errors = vec![0; members.len()];
    for (plan, summary) in plans.iter().zip(summaries) {
        let counted = summary.iter().flat_map(|summary| &summary.errors);
        plan.parts.iter().zip(counted).for_each(|(part, count)| errors[part.member] += count);
    }
    let record = |((target, member), errors): ((&TargetId, &Member), u64)| TargetRecord {
        target: target.clone(),
        ios: member.ios,
        bytes: member.bytes,
        errors,
        lat: member.latency(),
    };
    targets.iter().zip(members).zip(errors).map(record).collect()
}
