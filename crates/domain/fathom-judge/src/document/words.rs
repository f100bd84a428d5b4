//! Words of the document that the plan, the record and the model have no type for. Each is written once, beside its
//! variant.

use std::fmt;

use fathom_plan::Metric;
use fathom_stats::{Relation, Unsteady};
use serde::{Deserialize, Serialize};

/// An enum whose variants are words of the JSON contract.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum $name {
            $($(#[$of_variant])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All, in the order in which they are written down.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word of the JSON contract.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What became of a step.
    StepState {
        /// It ran here.
        Measured = "measured",
        /// It was not begun.
        Refused = "refused",
        /// It was not begun, because the machine lacks what it measures, and the study goes on without it.
        Skipped = "skipped",
        /// It was begun and did not end well.
        Failed = "failed",
        /// Its figures were quoted from a file.
        Imported = "imported",
    }
}

words! {
    /// Why a step is not called steady.
    WhyUnsteady {
        /// Range or slope of the rounds beyond the specification's limits.
        NotAchieved = "not_achieved",
        /// Warm-up takes more than half of the window.
        WarmUpTooLong = "warm_up_too_long",
        /// The beginning differs from the second half.
        BeginningDiffers = "beginning_differs",
        /// The level changes.
        LevelChanges = "level_changes",
        /// It drifts.
        Drifts = "drifts",
        /// Too noisy or too short to say.
        Inconclusive = "cannot_tell",
    }
}

words! {
    /// What is tracked over the rounds of a step.
    TrackedFigure {
        /// I/Os per second.
        Iops = "iops",
        /// Bytes per second.
        BytesPerS = "bytes_per_s",
        /// Mean latency.
        LatMeanNs = "lat_mean_ns",
    }
}

words! {
    /// A law that must hold, or a claim of the step that the counters prove.
    CheckName {
        /// IOPS x mean latency = in flight.
        LittlesLaw = "littles_law",
        /// Bytes = I/Os x block size.
        Bytes = "bytes",
        /// The kernel counted the same.
        Diskstats = "diskstats",
        /// No page in memory answered for the device. No law: it limits what a figure stands for.
        PageCache = "page_cache",
        /// Completions were polled.
        Polled = "polled",
        /// A kernel thread submitted.
        SubmittedByPoller = "submitted_by_poller",
        /// The kernel took the buffers.
        FixedBuffers = "fixed_buffers",
        /// Bound threads stayed where they were bound.
        Pinned = "pinned",
    }
}

words! {
    /// What likely broke a check.
    CheckCause {
        /// Something else used the device too: it did more than this step asked for.
        OtherLoad = "other_load",
    }
}

words! {
    /// A figure that comparisons set side by side.
    ComparedFigure {
        /// I/Os per second.
        Iops = "iops",
        /// Mean latency.
        LatMean = "lat_mean",
        /// 99th percentile of the latency.
        LatP99 = "lat_p99",
        /// CPU time of the whole host per I/O.
        CpuPerIo = "cpu_per_io",
    }
}

words! {
    /// How two sides were measured.
    Design {
        /// In interleaved blocks.
        Paired = "paired",
        /// Apart.
        Unpaired = "unpaired",
    }
}

words! {
    /// Which runs tell the spread from run to run.
    SpreadSource {
        /// The runs compared: three or more a side.
        Runs = "runs",
        /// Runs of this kind of load on this host that the lab holds.
        Ledger = "ledger",
    }
}

words! {
    /// Verdict on the speed of a side against the reference.
    Speed {
        /// Beyond doubt and by more than the margin.
        Faster = "faster",
        /// The other way round.
        Slower = "slower",
        /// Within the margin for sure.
        Same = "same",
        /// Neither can be said.
        Inconclusive = "unsure",
    }
}

words! {
    /// Verdict on one figure of a side against that of the reference.
    Merit {
        /// Beyond doubt and by more than the margin.
        Better = "better",
        /// The other way round.
        Worse = "worse",
        /// Within the margin for sure.
        Same = "same",
        /// Neither can be said.
        Inconclusive = "unsure",
    }
}

words! {
    /// What a difference between runs belongs to.
    Area {
        /// The machine.
        Host = "host",
        /// A drive, an array, a file system.
        Target = "target",
        /// The version of Fathom.
        Program = "program",
        /// What was asked for.
        Plan = "plan",
    }
}

words! {
    /// Tells a comparison from a run's document.
    ComparisonKind {
        /// The one word.
        Comparison = "comparison",
    }
}

words! {
    /// What a ladder has more and more of.
    LadderAxis {
        /// I/Os in flight per thread, closed loop.
        QueueDepth = "queue_depth",
        /// I/Os asked for per second, open loop.
        Rate = "rate",
        /// Threads per target.
        Threads = "threads",
        /// Targets.
        Devices = "devices",
        /// Processes that take part at once, on one host or many.
        Ranks = "ranks",
    }
}

impl From<Unsteady> for WhyUnsteady {
    fn from(why: Unsteady) -> WhyUnsteady {
        match why {
            Unsteady::WarmUpTooLong => WhyUnsteady::WarmUpTooLong,
            Unsteady::BeginningDiffers => WhyUnsteady::BeginningDiffers,
            Unsteady::LevelChanges => WhyUnsteady::LevelChanges,
            Unsteady::Drifts => WhyUnsteady::Drifts,
            Unsteady::Inconclusive => WhyUnsteady::Inconclusive,
        }
    }
}

impl From<Metric> for TrackedFigure {
    fn from(metric: Metric) -> TrackedFigure {
        match metric {
            Metric::Iops => TrackedFigure::Iops,
            Metric::BytesPerS => TrackedFigure::BytesPerS,
            Metric::LatMean => TrackedFigure::LatMeanNs,
        }
    }
}

impl From<Relation> for Speed {
    fn from(relation: Relation) -> Speed {
        match relation {
            Relation::Higher => Speed::Faster,
            Relation::Lower => Speed::Slower,
            Relation::Same => Speed::Same,
            Relation::Inconclusive => Speed::Inconclusive,
        }
    }
}

/// A pattern as its word: `random`, `zipf:1.2`.
pub(super) mod pattern_word {
    use fathom_plan::Pattern;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::document) fn serialize<S: Serializer>(pattern: &Pattern, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(pattern)
    }

    pub(in crate::document) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Pattern, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_written_and_read_back_as_itself() {
        for state in StepState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(serde_json::from_value::<StepState>(state.as_str().into()).unwrap(), *state);
        }
        assert_eq!(format!("{:>9}|", StepState::Failed), "   failed|");
        assert!(serde_json::from_value::<Speed>("better".into()).is_err(), "the words of one enum are not another's");
    }
}
