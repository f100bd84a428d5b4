//! The limit of a step: which part, how sure, why, and what would help.

use fathom_message::{Arg, Join, Message, Quantity, msg};

use super::cause::{Cause, UnknownReason};
use super::evidence::Evidence;
use super::name::{Confidence, LimitName};
use super::neighbour::ProbeResult;
use crate::cpu_taken::CpuTaker;

/// What weakens a limit, or belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Caveat {
    /// The intervals of the step and its probe leave room for another answer, so that it is no more than likely.
    Noise,
    /// Others had the CPUs while the workers were ready to run.
    CpuTaken {
        /// The one that took most of the time.
        by: CpuTaker,
        /// Share of the workers' time, in [0, 1].
        share: f64,
    },
}

impl Caveat {
    /// In a sentence.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            Caveat::Noise => msg!("limit-caveat-noise"),
            Caveat::CpuTaken { by, share } => {
                let share = Quantity::share(share);
                match by {
                    CpuTaker::Programs => msg!("limit-caveat-cpu-taken-programs", share = share),
                    CpuTaker::Hypervisor => msg!("limit-caveat-cpu-taken-hypervisor", share = share),
                    CpuTaker::Quota => msg!("limit-caveat-cpu-taken-quota", share = share),
                }
            }
        }
    }
}

/// A part whose counters show it at its limit, and a step that relieved it and gave more.
const SIGNATURE_AND_PROBE: f64 = 0.95;
/// A part whose counters show it at its limit.
const SIGNATURE_ALONE: f64 = 0.75;

/// Nothing that is inferred is certain.
const PROBABILITY_MAX: f64 = 0.99;

/// The limit of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Which part.
    pub name: LimitName,
    /// How probable it is that this part and no other holds the step; `None` where none is named.
    pub probability: Option<f64>,
    /// The same in a word.
    pub confidence: Confidence,
    /// What the counters of the step showed.
    pub cause: Cause,
    /// Neighbouring steps that decided; empty where the counters alone speak.
    pub probes: Vec<ProbeResult>,
    /// What weakens it.
    pub caveats: Vec<Caveat>,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// What would help, and by how much.
    pub would_help: Vec<Message>,
}

impl Limit {
    /// `is_confirmed`: a neighbouring step that relieved the part moved the result.
    pub(super) fn found(cause: Cause, is_confirmed: bool, evidence: Vec<Evidence>) -> Limit {
        Limit::probable(cause, if is_confirmed { SIGNATURE_AND_PROBE } else { SIGNATURE_ALONE }, evidence)
    }

    pub(super) fn probable(cause: Cause, probability: f64, evidence: Vec<Evidence>) -> Limit {
        Limit::new(cause, Some(probability.min(PROBABILITY_MAX)), evidence)
    }

    /// The same with another probability.
    pub(super) fn said_with(mut self, probability: f64) -> Limit {
        self.probability = Some(probability.min(PROBABILITY_MAX));
        self.confidence = Confidence::of(self.probability);
        self
    }

    pub(super) fn unknown(reason: UnknownReason, evidence: Vec<Evidence>) -> Limit {
        Limit::new(Cause::Unknown(reason), None, evidence)
    }

    /// Something was seen that leaves the limit open.
    pub(super) fn undecided(cause: Cause, evidence: Vec<Evidence>) -> Limit {
        Limit::new(cause, None, evidence)
    }

    fn new(cause: Cause, probability: Option<f64>, evidence: Vec<Evidence>) -> Limit {
        let (probes, caveats, would_help) = (Vec::new(), Vec::new(), Vec::new());
        let confidence = Confidence::of(probability);
        Limit { name: cause.name(), probability, confidence, cause, probes, caveats, evidence, would_help }
    }

    pub(super) fn with_probes(mut self, probes: impl IntoIterator<Item = ProbeResult>) -> Limit {
        self.probes.extend(probes);
        self
    }

    pub(super) fn with_caveats(mut self, caveats: impl IntoIterator<Item = Caveat>) -> Limit {
        self.caveats.extend(caveats);
        self
    }

    /// Whether it is no more than likely because the intervals of the step and its probe leave room for another answer.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        self.caveats.contains(&Caveat::Noise)
    }

    /// Cause, caveats and probes in sentences, with the numbers that decide.
    #[must_use]
    pub fn sentence(&self) -> Message {
        let mut parts = vec![self.cause.message(self.probability)];
        // Noise is about the probes, so it follows them.
        let (noise, others): (Vec<&Caveat>, Vec<&Caveat>) = self.caveats.iter().partition(|c| **c == Caveat::Noise);
        parts.extend(others.iter().map(|caveat| caveat.message()));
        parts.extend(self.probes.iter().map(|probe| probe.message(self.is_noisy())));
        parts.extend(noise.iter().map(|caveat| caveat.message()));
        match parts.len() {
            1 => parts.remove(0),
            _ => msg!("several-sentences", list = Arg::list(parts, Join::Sentences)),
        }
    }
}
