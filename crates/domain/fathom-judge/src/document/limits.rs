//! What limited a step: the limit, the ceilings, the links.

use fathom_message::{Message, Unit};
use fathom_model::{Confidence, LimitName};
use serde::{Deserialize, Serialize};

/// What limited a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LimitView {
    /// Which part.
    pub name: LimitName,
    /// How probable it is that this part and no other holds the step; `None` where none is named, and in documents of
    /// versions before.
    #[serde(default)]
    pub probability: Option<f64>,
    /// The same in a word.
    pub confidence: Confidence,
    /// One sentence.
    pub sentence: Message,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceView>,
    /// What would help, and by how much; may be empty.
    #[serde(default)]
    pub would_help: Vec<Message>,
}

/// A number behind a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceView {
    /// What it is, a word.
    pub name: String,
    /// The same for people.
    #[serde(default = "super::step::without_words")]
    pub label: Message,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// The most a part of the system could give under the step's load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CeilingView {
    /// Which part.
    pub name: LimitName,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second, where that is what the part is limited in.
    pub bytes_per_s: Option<f64>,
    /// How it was computed, with its numbers.
    pub sentence: Message,
}

/// What a PCIe link carried during a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinkLoad {
    /// PCI function at its lower end.
    pub address: String,
    /// As trained: `Gen4 x4`.
    pub link: String,
    /// What one direction can carry after coding and packets.
    pub usable_bytes_per_s: f64,
    /// Towards the processor.
    pub read_bytes_per_s: f64,
    /// Towards the drives.
    pub write_bytes_per_s: f64,
    /// The larger of the two over `usable_bytes_per_s`, in [0, 1].
    pub load_share: f64,
}
