//! What limited a step: the limit, the ceilings, the links.

use fathom_message::{Message, Unit};
use fathom_model::{Confidence, EvidenceName, LimitName, StateChange};
use serde::{Deserialize, Deserializer, Serialize};

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
    /// How the device changed since the step that this one is set against, where measuring that step again proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub state_change: Option<StateChange>,
    /// One sentence.
    pub sentence: Message,
    /// The numbers behind it.
    #[serde(deserialize_with = "known_evidence")]
    pub evidence: Vec<EvidenceView>,
    /// What would help, and by how much; may be empty.
    #[serde(default)]
    pub would_help: Vec<Message>,
}

/// Documents of schema 1 name their evidence in sentences, and others may know names that this version does not: a limit is
/// judged anew where it is read, so that their numbers are of no use.
fn known_evidence<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<EvidenceView>, D::Error> {
    let all = Vec::<serde_json::Value>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

/// A number behind a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceView {
    /// What it is: a word, and beside it what belongs to it (`cpu`, `in_flight`...).
    #[serde(flatten)]
    pub name: EvidenceName,
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
