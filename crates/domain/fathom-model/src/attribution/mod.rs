//! Which part of the system limited a step, with the probability that it is this part and no other.
//!
//! What is set from outside (a rate, the page cache) or measured (memory) is known. Everything else is weighed together
//! in `posterior`: the whole ladder speaks for depth or a plateau, counters and probes for the part that holds it.

mod beside;
mod cap;
mod cause;
mod cpu;
mod depth;
mod evidence;
mod facts;
mod file_system;
mod help;
mod kernel_thread;
mod ladder;
mod limit;
mod link;
mod memory;
mod name;
mod neighbour;
mod network;
mod notice;
mod observation;
mod pace;
mod path;
mod posterior;
mod probe;
mod rating;
mod seen;
mod settle;
mod state;
mod taken;
mod turns;

pub use beside::attribute_streams;
pub use cause::{Cause, RateWait, UnknownReason};
pub use evidence::{Evidence, EvidenceName};
pub use facts::{DriveFacts, RateLimit, RateSource, StepFacts};
pub use limit::{Caveat, Limit};
pub use name::{Confidence, LimitName, StateChange};
pub use neighbour::{ProbeChange, ProbeResult};
pub use notice::{Notice, notices};
pub use observation::Observation;
pub use probe::{Probe, missing_probes};
pub use settle::{NextStep, next_step};
pub use state::step_to_repeat;
pub use turns::level_turns;

use evidence::base_evidence;
use seen::Seen;

/// Names the limit of `all[index]`; the other observations serve as probes.
///
/// # Panics
/// When `index` is out of range.
#[must_use]
pub fn attribute(all: &[Observation], index: usize) -> Limit {
    judge(&Seen::new(all), index)
}

/// Names the limits of all steps of a run, in their order: what many of them rest on is worked out once.
#[must_use]
pub fn attribute_all(all: &[Observation]) -> Vec<Limit> {
    let seen = Seen::new(all);
    (0..all.len()).map(|index| judge(&seen, index)).collect()
}

fn judge(all: &Seen<'_>, index: usize) -> Limit {
    let this = &all[index];
    if this.ios == 0 {
        return Limit::unknown(UnknownReason::NoIo, Vec::new());
    }
    let mut limit = pace::rate_asked(this)
        .or_else(|| pace::pauses(this))
        .or_else(|| taken::limit(this))
        .or_else(|| pace::page_cache(this))
        .or_else(|| pace::flush(this))
        .or_else(|| pace::rate_allowed(all, this))
        .or_else(|| memory::limit(all, this))
        .or_else(|| network::limit(this, || posterior::limit(all, this)))
        .or_else(|| posterior::limit(all, this))
        .unwrap_or_else(|| Limit::unknown(UnknownReason::NoSignature, base_evidence(this)));
    limit = taken::widened(limit, this);
    if limit.would_help.is_empty() {
        limit.would_help = help::would_help(all, this, limit.name);
    }
    limit
}

#[cfg(test)]
mod tests;
