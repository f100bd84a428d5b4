//! The limit of a step: which part, how sure, why, and what would help.

use fathom_message::{Arg, Join, Message, Quantity, msg};

use super::cause::{Cause, UnknownReason};
use super::evidence::Evidence;
use super::name::{Confidence, LimitName};
use super::neighbour::ProbeResult;

/// What weakens a limit, or belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Caveat {
    /// The intervals of the step and its probe leave room for another answer, so that it is no more than likely.
    Noise,
    /// Other programs kept the workers from their CPUs.
    WorkersWaited {
        /// Share of the time, in [0, 1].
        share: f64,
    },
}

impl Caveat {
    /// In a sentence.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            Caveat::Noise => msg!("limit-caveat-noise"),
            Caveat::WorkersWaited { share } => msg!("limit-caveat-workers-waited", share = Quantity::share(share)),
        }
    }
}

/// The limit of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Which part.
    pub name: LimitName,
    /// How sure.
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
    pub(super) fn found(cause: Cause, is_confirmed: bool, evidence: Vec<Evidence>) -> Limit {
        let confidence = if is_confirmed { Confidence::Confirmed } else { Confidence::Likely };
        Limit::new(cause, confidence, evidence)
    }

    pub(super) fn unknown(reason: UnknownReason, evidence: Vec<Evidence>) -> Limit {
        Limit::new(Cause::Unknown(reason), Confidence::Unknown, evidence)
    }

    fn new(cause: Cause, confidence: Confidence, evidence: Vec<Evidence>) -> Limit {
        let (probes, caveats, would_help) = (Vec::new(), Vec::new(), Vec::new());
        Limit { name: cause.name(), confidence, cause, probes, caveats, evidence, would_help }
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
        let mut parts = vec![self.cause.message(self.confidence)];
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
