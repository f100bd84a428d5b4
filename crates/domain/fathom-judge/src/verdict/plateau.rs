//! What a kind of load gives: the level of the steps that reach it, not the luckiest of them.

use fathom_message::{Message, Quantity, msg};
use fathom_model::LimitName;
use fathom_stats::plateau;

use super::kind::Loads;
use super::parts::{is_bandwidth, load, rate};
use crate::document::StepView;

/// The most that a kind of load gives.
pub(super) struct Most<'a> {
    /// IOPS or bytes per second, with an interval that holds although the steps were chosen by what they gave.
    pub(super) rate: Quantity,
    /// The step whose limit is the answer: of those on the plateau the one with most IOPS.
    pub(super) best: &'a StepView,
    /// Of those on the plateau the one with the fewest in flight.
    first: &'a StepView,
    /// Whether others on it have more in flight.
    has_deeper: bool,
}

fn in_flight(step: &StepView) -> u32 {
    step.threads * step.queue_depth
}

impl<'a> Most<'a> {
    /// Closed loops with an interval are taken together where the same part holds them; while more in flight still gives
    /// more there is no plateau, and the greatest step stands alone with its own interval.
    pub(super) fn of(kind: &Loads<'a>) -> Most<'a> {
        let best = kind.best();
        let alone = Most { rate: rate(best), best, first: best, has_deeper: false };
        let is_tried =
            |s: &&StepView| s.rate_iops.is_none() && s.placement == best.placement && s.engine == best.engine;
        let tried: Vec<&StepView> = kind.steps.iter().copied().filter(is_tried).collect();
        // A load alone was not chosen, and has its own interval.
        if best.rate_iops.is_some() || tried.len() == 1 || tried.iter().any(|s| s.iops_ci95.is_none()) {
            return alone;
        }
        let of_best = |s: &StepView| s.index == best.index || s.limit.name == best.limit.name;
        let rises = best.limit.name == LimitName::QueueDepth;
        // A step that another part holds is tried, but not on the plateau: it counts as lying below.
        let figure = |s: &&StepView| match s.iops_ci95 {
            Some([low, high]) if of_best(s) && (!rises || s.index == best.index) => (s.iops, (low, high)),
            _ => (0.0, (0.0, 0.0)),
        };
        let figures: Vec<_> = tried.iter().map(figure).collect();
        // A step that stands alone exceeds all others by more than chance: it has its own interval, as in every table.
        let Some(found) = plateau(&figures).filter(|found| found.members.len() > 1) else { return alone };
        let bytes_per_io = best.bytes_per_s / best.iops.max(1e-9);
        let (low, high) = found.ci95;
        let rate = match is_bandwidth(best) {
            // In virtual time steps of one level do not lie apart by chance: they have no spread but their own.
            _ if best.is_simulated() => rate(best),
            true => Quantity::bytes_per_s(found.value * bytes_per_io)
                .with_ci95(Some([low * bytes_per_io, high * bytes_per_io])),
            false => Quantity::iops(found.value).with_ci95(Some([low, high])),
        };
        let first = found.members.iter().map(|i| tried[*i]).min_by_key(|s| in_flight(s)).unwrap_or(best);
        let has_deeper = found.members.iter().any(|i| in_flight(tried[*i]) > in_flight(first));
        Most { rate, best, first, has_deeper }
    }

    /// Of those on the plateau the one with the fewest in flight.
    pub(super) fn first(&self) -> &'a StepView {
        self.first
    }

    /// `T1 QD32`, or `T1 QD32 and more`.
    pub(super) fn load(&self) -> Message {
        match self.has_deeper {
            false => load(self.first),
            true => msg!("verdict-from-load", load = load(self.first)),
        }
    }
}
