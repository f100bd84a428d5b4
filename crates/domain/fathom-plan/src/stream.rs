//! Streams: steps that run at once, each with its own workload, load, engine, placement and targets.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use crate::label::set_label;
use crate::role::LabelPart;
use crate::step::Step;
use crate::target::TargetId;

/// A step's place among those that run at once with it. They follow each other in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stream {
    /// Number of the set, unique in the plan.
    pub set: u32,
    /// From 0.
    pub index: u32,
    /// Number of streams in the set, at least 2.
    pub of: u32,
    /// What the user calls it: the section of a job file, a letter.
    pub name: String,
}

/// Why steps cannot run at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StreamError {
    /// The stream that cannot run beside the others, counted from 0.
    pub(crate) stream: usize,
    pub(crate) message: Message,
    pub(crate) help: Message,
}

/// Ties steps into a set of streams. They warm up equally long: the longest of them says for how long. One step alone
/// stays as it is.
///
/// # Errors
/// A stream that writes what another one verifies.
pub(crate) fn at_once(set: u32, streams: Vec<(String, Step)>) -> Result<Vec<Step>, StreamError> {
    let of = streams.len() as u32;
    if let Some(error) = (0..streams.len()).find_map(|at| spoils_verification(&streams, at)) {
        return Err(error);
    }
    let ramp_ns = streams.iter().map(|(_, s)| s.length.ramp_ns).max().unwrap_or(0);
    let tied = (0..).zip(streams).map(|(index, (name, mut step))| {
        if of > 1 {
            step.role.stream = Some(Stream { set, index, of, name });
            step.length.ramp_ns = ramp_ns;
        }
        step
    });
    Ok(tied.collect())
}

/// The error of a stream that writes to a target which another one verifies.
fn spoils_verification(streams: &[(String, Step)], at: usize) -> Option<StreamError> {
    let (writer, step) = &streams[at];
    let writes = |target: &&TargetId| step.workload.mix.is_destructive() && step.targets.contains(target);
    let others = streams.iter().enumerate().filter(|(i, (_, other))| *i != at && other.workload.verify.is_some());
    others.into_iter().find_map(|(_, (verifier, other))| {
        let target = other.targets.iter().find(writes)?.as_str().to_owned();
        Some(StreamError {
            stream: at,
            message: msg!("stream-verify-shared", writer = writer, target = target, verifier = verifier),
            help: msg!("stream-verify-shared-help"),
        })
    })
}

/// Puts the names of streams into their labels, behind all else.
pub(crate) fn name_streams(steps: &mut [Step]) {
    for step in steps.iter_mut().filter(|s| s.role.stream.is_some()) {
        step.role.label_parts.push(LabelPart::Stream);
        set_label(step);
    }
}

/// Every step that stands alone, and of each set of streams the one that takes longest: what a plan's time is counted by.
pub fn timed(steps: &[Step]) -> impl Iterator<Item = &Step> {
    slices(steps).filter_map(|at_once| at_once.iter().max_by_key(|s| s.length.ramp_ns + s.length.budget_ns))
}

/// The steps in the order they run: what runs at once stands in one slice.
pub fn slices(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.chunk_by(|a, b| a.role.stream.as_ref().zip(b.role.stream.as_ref()).is_some_and(|(a, b)| a.set == b.set))
}
