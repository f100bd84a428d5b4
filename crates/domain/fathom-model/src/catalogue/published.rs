//! Published figures with their conditions, and the arithmetic that tells which of them can be true together.

use serde::{Deserialize, Serialize};

use super::metric::PublishedMetric;
use super::words::{FigureKind, FigureRelation, PublishedOp};

/// A publication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name that entries refer to.
    pub id: String,
    /// Title.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// Year, where known.
    pub year: Option<u16>,
    /// Where it can be read, where known.
    pub url: Option<String>,
    /// What a reader must know about it.
    pub note: Option<String>,
}

/// A machine results were published for, in the words of the publication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// Name.
    pub id: String,
    /// Publication.
    pub source: String,
    /// Server.
    pub server: String,
    /// CPU sockets.
    pub sockets: Option<u32>,
    /// Processor.
    pub cpu: Option<String>,
    /// Physical cores of one socket.
    pub cores_per_socket: Option<u32>,
    /// Physical cores of all sockets.
    pub cores_total: Option<u32>,
    /// Nominal clock.
    pub base_hz: Option<u64>,
    /// Hardware threads on or off.
    pub smt: Option<String>,
    /// Main memory.
    pub memory: Option<String>,
    /// Operating systems tested.
    #[serde(default)]
    pub os: Vec<String>,
    /// Programs that made the load.
    pub engines: Vec<String>,
    /// RAID controller.
    pub controller: Option<String>,
    /// Drives.
    pub devices: Option<String>,
    /// RAID levels tested.
    #[serde(default)]
    pub raid: Vec<String>,
    /// Driver.
    pub driver: Option<String>,
    /// Further hardware.
    pub other: Option<String>,
    /// Conditions that hold for all figures.
    pub conditions: Option<String>,
    /// Keys of this entry that the publication does not state.
    #[serde(default)]
    pub not_from_article: Vec<String>,
}

/// Under what conditions figures were obtained. Absent: not stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// What was measured, in the publication's words.
    pub subject: String,
    /// Operating system.
    pub os: Option<String>,
    /// Program that made the load.
    pub engine: Option<String>,
    /// What made the load.
    pub op: Option<PublishedOp>,
    /// Share of reads, percent.
    pub read_pct: Option<u8>,
    /// Bytes per I/O.
    pub block_size_bytes: Option<u32>,
    /// Threads per device.
    pub threads: Option<u32>,
    /// I/Os in flight per thread.
    pub queue_depth: Option<u32>,
    /// Largest depth, where a range is meant.
    pub queue_depth_max: Option<u32>,
    /// I/Os in flight over all devices.
    pub outstanding: Option<u32>,
    /// Drives.
    pub devices: Option<u32>,
    /// Cores that made the load.
    pub cores: Option<u32>,
    /// Where threads ran, and further settings.
    pub placement: Option<String>,
    /// RAID level.
    pub raid_level: Option<String>,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Name.
    pub id: String,
    /// Publication.
    pub source: String,
    /// Conditions.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// How it came about.
    pub kind: FigureKind,
    /// What is counted.
    pub metric: PublishedMetric,
    /// The value, in the unit of the metric.
    pub value: f64,
    /// Upper end, where `relation` is `between`.
    pub value_max: Option<f64>,
    /// How it is worded.
    pub relation: FigureRelation,
    /// The publication says about, nearly or over.
    pub approx: bool,
    /// Unit as printed.
    pub unit_printed: Option<String>,
    /// The text is garbled and `value` is the corrected reading.
    pub corrected: bool,
    /// The garbled text.
    pub literal: Option<String>,
    /// Evidence for the corrected reading.
    pub verified: Option<String>,
    /// Some words of the text.
    pub quote: Option<String>,
    /// What a reader must know.
    pub note: Option<String>,
    /// Checks that use the figure.
    pub checks: Vec<String>,
    /// Checks that put the figure in doubt: it contradicts another figure of the same publication, or a law.
    pub doubted_by: Vec<String>,
}

impl Figure {
    /// Whether no arithmetic on the published figures contradicts it, and its text is legible.
    #[must_use]
    pub fn self_consistent(&self) -> bool {
        self.doubted_by.is_empty() && !matches!(self.kind, FigureKind::Bogus | FigureKind::Garbled)
    }
}

/// Arithmetic on figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Name.
    pub id: String,
    /// Law that is applied.
    pub law: String,
    /// What was computed.
    pub formula: String,
    /// What the law gives.
    pub expected: f64,
    /// What the figures give.
    pub actual: f64,
    /// `actual / expected`.
    pub ratio: f64,
    /// Unit of `expected` and `actual`.
    pub unit: Option<String>,
    /// `consistent`, `inconsistent`, `marginal`, `derived`, `finding`, `exceeds rating`, `unit`, `incomplete`.
    pub verdict: String,
    /// Figures it uses.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Those of them that it puts in doubt.
    #[serde(default)]
    pub doubtful: Vec<String>,
    /// What follows.
    pub note: Option<String>,
}

/// What a publication asserts or wants to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Name.
    pub id: String,
    /// Publication.
    pub source: String,
    /// The assertion.
    pub text: String,
    /// How it stands.
    pub status: String,
    /// What would settle it.
    pub settle: Option<String>,
}
