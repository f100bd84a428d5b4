//! A plan: a study's question and the steps that answer it.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use crate::knobs::{IOPS_PRECISION, P99_PRECISION};
use crate::step::Step;
use crate::study::{IO, is_shipped, question_message};
use crate::target::TargetId;

// As serde asks.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// How long a step measures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunLength {
    /// Wait before the warm-up: a stream that begins after the others of its set.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub delay_ns: u64,
    /// Warm-up that is run but not counted.
    pub ramp_ns: u64,
    /// Least measured time.
    pub floor_ns: u64,
    /// Most measured time. Equal to the floor: a fixed length.
    pub budget_ns: u64,
    /// Stop between floor and budget once the 95 % interval of IOPS is within this share of it (0.01 = 1 %).
    pub iops_rel_half_width: f64,
    /// Same for p99 of latency (0.05 = 5 %).
    pub p99_rel_half_width: f64,
    /// Stop after each block was touched this many times per thread, if set (`Random` and `Sequential` only).
    pub passes: Option<u32>,
}

impl RunLength {
    /// Exactly `runtime_ns` of measurement after `ramp_ns`.
    #[must_use]
    pub fn fixed(ramp_ns: u64, runtime_ns: u64) -> Self {
        RunLength {
            delay_ns: 0,
            ramp_ns,
            floor_ns: runtime_ns,
            budget_ns: runtime_ns,
            iops_rel_half_width: IOPS_PRECISION,
            p99_rel_half_width: P99_PRECISION,
            passes: None,
        }
    }
}

/// Name, question and origin of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StudyHead {
    /// `quick`, `pinning`...; file stem for user plans; `io` for a step by hand.
    pub name: String,
    /// The question the verdict answers, in the words of the study's own file; empty where it asks none.
    pub question: String,
    /// Time that steps leave goes to probes of limits that are not settled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub settle: bool,
    /// Steps that need what this machine lacks are skipped: they are no failure of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub skip_lacking: bool,
}

impl StudyHead {
    /// A study that runs its steps and no probes beside them.
    #[must_use]
    pub fn new(name: impl Into<String>, question: impl Into<String>) -> StudyHead {
        StudyHead { name: name.into(), question: question.into(), settle: false, skip_lacking: false }
    }

    /// The question in words that the front can say in any language; one of the user's own is said as it stands.
    #[must_use]
    pub fn question_message(&self) -> Message {
        let shipped = question_message(&self.name);
        if self.question.is_empty() {
            return shipped.unwrap_or_else(|| msg!("study-no-question"));
        }
        // A copy of a shipped study that kept its name may ask something else.
        shipped.filter(|_| is_shipped(&self.name, &self.question)).unwrap_or_else(|| Message::verbatim(&self.question))
    }
}

impl Plan {
    /// The question in words that the front can say in any language; of several loads at once, where nobody asked
    /// anything else, what they give together.
    #[must_use]
    pub fn question_message(&self) -> Message {
        let is_of_one_load =
            self.study.question.is_empty() && (self.study.name == IO || question_message(&self.study.name).is_none());
        match self.steps.iter().any(|s| s.role.stream.is_some()) {
            true if is_of_one_load => msg!("study-streams-question"),
            _ => self.study.question_message(),
        }
    }
}

/// What will be done, in order. Everything that runs comes from a plan, also `fathom io`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Plan {
    /// Which study.
    pub study: StudyHead,
    /// The text it was made from (TOML, fio job file, or the command line), kept for the report.
    pub source: String,
    /// Steps in the order they run.
    pub steps: Vec<Step>,
    /// Remarks for the user about how the source was read.
    pub notes: Vec<Message>,
    /// Targets that a fio job file names by fio's own rule (`JOB.N.M` in its directory): files of the job, which it may
    /// overwrite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub job_files: Vec<TargetId>,
    /// The simulated machine that its `sim:` targets are parts of, once it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub machine: Option<MachineText>,
    /// The processes on one host or many that run it at once; `None`: one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub ranks: Option<crate::ranks::RanksPlan>,
}

/// A simulated machine as a run keeps it: with this text the run can be repeated anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MachineText {
    /// What stands between `sim:` and the part: a shipped machine's name, or the path of a file.
    pub name: String,
    /// The machine file.
    pub text: String,
}
