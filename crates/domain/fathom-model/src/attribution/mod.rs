//! Which part of the system limited a step: signature in the counters, then a neighbouring step as the probe.
//!
//! Signatures follow the attribution table of docs/METHODS.md. The ladder itself serves as the set of probes: a step
//! with the same workload and a deeper queue, or with more threads, shows what relieving that part does.

mod cpu;
mod database;
mod depth;
mod facts;
mod notice;
mod observation;
mod pace;
mod path;
mod probe;

use fathom_units::format_iops;
use serde::Serialize;

pub use database::{DatabaseLoad, attribute_database};
pub use facts::{DriveFacts, RateLimit, StepFacts};
pub use notice::{Notice, notices};
pub use observation::Observation;
pub use probe::{Probe, missing_probes};

use crate::ceilings::Ceiling;

/// Part of the system that can be the limit. Names as in the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Too few I/Os in flight to use the device.
    QueueDepth,
    /// The device itself.
    Device,
    /// A drive's own PCI Express link.
    Link,
    /// A link that several drives share.
    Uplink,
    /// One core, or one core per thread.
    Core,
    /// All CPUs the run may use.
    AllCores,
    /// The cores that take the interrupts.
    IrqCore,
    /// The array: its write penalty, or its card.
    Raid,
    /// Memory bandwidth.
    Memory,
    /// The page cache answered instead of the device.
    PageCache,
    /// A rate: the arrivals that were asked for, or what the host or the hypervisor allows.
    Rate,
    /// The database that makes the load.
    Database,
    /// The evidence does not say.
    Unknown,
}

impl LimitName {
    /// All names, in the order the documentation lists them.
    pub const ALL: [LimitName; 13] = [
        LimitName::QueueDepth,
        LimitName::Device,
        LimitName::Link,
        LimitName::Uplink,
        LimitName::Core,
        LimitName::AllCores,
        LimitName::IrqCore,
        LimitName::Raid,
        LimitName::Memory,
        LimitName::PageCache,
        LimitName::Rate,
        LimitName::Database,
        LimitName::Unknown,
    ];

    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LimitName::QueueDepth => "queue_depth",
            LimitName::Device => "device",
            LimitName::Link => "link",
            LimitName::Uplink => "uplink",
            LimitName::Core => "core",
            LimitName::AllCores => "all_cores",
            LimitName::IrqCore => "irq_core",
            LimitName::Raid => "raid",
            LimitName::Memory => "memory",
            LimitName::PageCache => "page_cache",
            LimitName::Rate => "rate",
            LimitName::Database => "database",
            LimitName::Unknown => "unknown",
        }
    }
}

/// How sure the attribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Signature and probe.
    Confirmed,
    /// Signature only.
    Likely,
    /// Neither.
    Unknown,
}

/// A number behind the claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
}

/// The limit of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Which part.
    pub name: LimitName,
    /// How sure.
    pub confidence: Confidence,
    /// In words, with the numbers that decide.
    pub sentence: String,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// What would help, and by how much.
    pub would_help: Vec<String>,
    /// Whether it is no more than likely because the intervals of the step and its probe leave room for another answer.
    pub is_blurred: bool,
}

/// Names the limit of `all[index]`; the other observations serve as probes.
///
/// # Panics
/// When `index` is out of range.
#[must_use]
pub fn attribute(all: &[Observation], index: usize) -> Limit {
    let this = &all[index];
    if this.ios == 0 {
        return unknown("no I/O completed", Vec::new());
    }
    let mut limit = pace::rate_asked(this)
        .or_else(|| pace::page_cache(this))
        .or_else(|| pace::rate_allowed(all, this))
        .or_else(|| cpu::limit(all, this))
        .or_else(|| path::limit(all, this))
        .or_else(|| depth::limit(all, this))
        .unwrap_or_else(|| {
            unknown("no counter stands at its limit and no neighbouring step tells more", base_evidence(this))
        });
    if limit.would_help.is_empty() {
        limit.would_help = would_help(this, limit.name);
    }
    limit
}

fn unknown(why: &str, evidence: Vec<Evidence>) -> Limit {
    Limit {
        name: LimitName::Unknown,
        confidence: Confidence::Unknown,
        sentence: format!("Limit unknown: {why}."),
        evidence,
        would_help: Vec::new(),
        is_blurred: false,
    }
}

fn found(name: LimitName, confirmed: bool, sentence: String, evidence: Vec<Evidence>) -> Limit {
    let confidence = if confirmed { Confidence::Confirmed } else { Confidence::Likely };
    Limit { name, confidence, sentence, evidence, would_help: Vec::new(), is_blurred: false }
}

fn evidence(name: &str, value: f64, unit: &'static str) -> Evidence {
    Evidence { name: name.to_owned(), value, unit }
}

fn base_evidence(this: &Observation) -> Vec<Evidence> {
    let mut out = vec![evidence("iops", this.iops(), "iops")];
    if let Some(lat) = this.mean_lat_ns {
        out.push(evidence("mean latency", lat, "ns"));
    }
    if let Some(n) = this.in_flight_mean {
        out.push(evidence("mean in flight", n, "ios"));
    }
    out
}

/// What relieving the limit would bring, up to the next ceiling where one is known.
fn would_help(this: &Observation, name: LimitName) -> Vec<String> {
    let what: &[&str] = match name {
        LimitName::QueueDepth => &["more I/Os in flight: a deeper queue or more threads"],
        LimitName::Device => &["another drive beside it", "larger blocks, where bytes count"],
        LimitName::Link => &["a slot with more lanes or a newer generation", "another drive on a link of its own"],
        LimitName::Uplink => &["drives moved to another port, so that they do not share this one"],
        LimitName::Core => {
            &["more threads on cores of their own", "a cheaper engine: io_uring, polled where the drive can"]
        }
        LimitName::AllCores => {
            &["a cheaper engine: io_uring, polled where the drive can", "larger blocks", "more cores"]
        }
        LimitName::IrqCore => &["interrupts spread over more cores", "poll queues, which need no interrupts"],
        LimitName::Raid => &["writes of full stripes", "a level with less penalty: RAID 10"],
        LimitName::Memory => &["direct I/O, which crosses memory once", "memory on more channels"],
        LimitName::PageCache => &["direct I/O, or a file several times the size of memory, to see the drive"],
        LimitName::Rate => &["a higher rate"],
        LimitName::Database | LimitName::Unknown => &[],
    };
    let mut out: Vec<String> = what.iter().map(|w| (*w).to_owned()).collect();
    if let (Some(first), Some(next)) = (out.first_mut(), next_ceiling(this, name)) {
        let gain = next.iops / this.iops();
        first.push_str(&format!(
            ": up to {} IOPS ({gain:.1} x), where {} is next",
            format_iops(next.iops),
            next.name.as_str()
        ));
    }
    out
}

/// The lowest ceiling of another part that lies clearly above what was measured.
fn next_ceiling(this: &Observation, name: LimitName) -> Option<Ceiling> {
    let all = this.ceilings();
    all.into_iter().find(|c| c.name != name && c.name != LimitName::QueueDepth && c.iops > 1.05 * this.iops())
}

#[cfg(test)]
mod tests;
