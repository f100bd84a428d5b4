//! Streams: steps that run at once, each with its own workload, load, engine, placement and targets.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use crate::label::set_label;
use crate::role::LabelPart;
use crate::step::{Phase, Step};
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

/// Whose work a step does without the streams beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Alone {
    /// Index of the stream's step.
    pub step: u32,
    /// The stream's name.
    pub name: String,
}

/// What a stream does, once more and alone, as a step beside the plan. `None` for a step that is no stream.
#[must_use]
pub fn alone(stream: &Step, index: u32) -> Option<Step> {
    let name = stream.role.stream.as_ref()?.name.clone();
    let mut step = stream.clone();
    (step.index, step.phase) = (index, Phase::Probe);
    step.role.stream = None;
    step.length.delay_ns = 0;
    step.role.alone = Some(Alone { step: stream.index, name });
    set_label(&mut step);
    Some(step)
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

/// Puts the names of streams into their labels, before all else.
pub(crate) fn name_streams<'s>(steps: impl Iterator<Item = &'s mut Step>) {
    for step in steps.filter(|s| s.role.stream.is_some()) {
        step.role.label_parts.push(LabelPart::Stream);
        set_label(step);
    }
}

/// Every step that stands alone, and of each set of streams the one that takes longest: what a plan's time is counted by.
pub fn timed(steps: &[Step]) -> impl Iterator<Item = &Step> {
    slices(steps)
        .filter_map(|at_once| at_once.iter().max_by_key(|s| s.length.delay_ns + s.length.ramp_ns + s.length.budget_ns))
}

/// Puts what conditions the targets of a set's later streams before all of them.
pub(crate) fn gathered(steps: Vec<Step>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    // The set that is not complete yet: its number, where it begins, how many of its streams are still to come.
    let mut open: Option<(u32, usize, u32)> = None;
    for step in steps {
        match (&step.role.stream, &mut open) {
            (Some(stream), Some((set, _, missing))) if stream.set == *set => *missing -= 1,
            (Some(stream), _) => open = Some((stream.set, out.len(), stream.of - 1)),
            (None, Some((_, begin, missing))) if *missing > 0 => {
                out.insert(*begin, step);
                *begin += 1;
                continue;
            }
            (None, _) => {}
        }
        out.push(step);
    }
    out
}

/// The steps in the order they run: what runs at once stands in one slice.
pub fn slices(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.chunk_by(|a, b| a.role.stream.as_ref().zip(b.role.stream.as_ref()).is_some_and(|(a, b)| a.set == b.set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Knobs, Plan};

    fn load(words: &[(&str, &str)], target: &str) -> (Knobs, Vec<TargetId>) {
        let mut knobs = Knobs::new();
        words.iter().for_each(|(key, value)| knobs.set(key, value).expect("a knob"));
        (knobs, vec![TargetId::new(target)])
    }

    #[test]
    fn loads_by_hand_are_streams_of_one_set_and_the_longest_is_the_time_of_all() {
        let loads = vec![
            load(&[("runtime", "4s")], "f"),
            load(&[("runtime", "9s"), ("rw", "write"), ("precondition", "quick"), ("size", "1m")], "g"),
        ];
        let plan = Plan::from_io_streams(loads, "fathom io").expect("a plan");
        let (before, streams): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(|s| s.role.stream.is_none());
        assert!(!before.is_empty() && before.iter().all(|s| s.phase != Phase::Measure), "conditioning comes first");
        assert_eq!(streams.len(), 2);
        assert_eq!(streams[0].label, "A: 4k random read T1 QD1");
        assert_ne!(streams[0].seed, streams[1].seed);
        assert_eq!(slices(&plan.steps).last().map(<[Step]>::len), Some(2));
        let timed: Vec<u64> = timed(&plan.steps).map(|s| s.length.budget_ns).collect();
        assert_eq!((timed.len(), timed.last()), (before.len() + 1, Some(&9_000_000_000)));
        let many = Plan::from_io_streams((0..30).map(|_| load(&[], "f")).collect(), "fathom io").expect("a plan");
        let names: Vec<&str> = many.steps.iter().filter_map(|s| Some(s.role.stream.as_ref()?.name.as_str())).collect();
        assert_eq!((names.len(), names[25], names[26]), (30, "Z", "A2"), "no load is left out");
        let one = Plan::from_io_streams(vec![load(&[], "f")], "fathom io").expect("a plan");
        assert_eq!((one.steps.len(), &one.steps[0].role.stream), (1, &None));
    }

    #[test]
    fn a_stream_alone_is_the_same_load_beside_the_plan() {
        let loads = vec![load(&[("iodepth", "8")], "f"), load(&[("rw", "write")], "g")];
        let plan = Plan::from_io_streams(loads, "fathom io").expect("a plan");
        let alone = alone(&plan.steps[0], 7).expect("a stream");
        assert_eq!(
            (alone.index, alone.phase, alone.label.as_str()),
            (7, Phase::Probe, "A alone: 4k random read T1 QD8")
        );
        assert_eq!(
            (&alone.workload, &alone.load, &alone.role.stream),
            (&plan.steps[0].workload, &plan.steps[0].load, &None)
        );
        assert_eq!(super::alone(&alone, 8), None);
    }

    #[test]
    fn a_time_budget_is_shared_by_sets_not_by_streams() {
        let loads = vec![load(&[("runtime", "10s")], "f"), load(&[("runtime", "10s"), ("rw", "write")], "g")];
        let mut plan = Plan::from_io_streams(loads, "fathom io").expect("a plan");
        plan.scale_to_time_budget(5_100_000_000).expect("time enough");
        assert!(plan.steps.iter().all(|s| s.length.budget_ns == 5_000_000_000), "{:?}", plan.steps);
        assert_eq!(plan.time_budget_ns(), Some(5_000_000_000));
    }
}
