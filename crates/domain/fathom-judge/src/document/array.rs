//! Arrays against what their members allow.

use fathom_message::Message;
use serde::{Deserialize, Serialize};

/// A step on an array in user space, beside what its members gave without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ArrayView {
    /// Index of the step.
    pub step: u32,
    /// What was done, wherever: `4k random writes`, `sequential writes of whole stripes`. The same on every level.
    pub load: Message,
    /// `raid5`.
    pub level: String,
    /// Bytes of a chunk.
    pub chunk_bytes: u64,
    /// Members, with those that are missing.
    pub members: u32,
    /// Members that were missing.
    pub missing: u32,
    /// Member reads for one I/O of the load, as the array counted them.
    pub member_reads: f64,
    /// Member writes for one I/O of the load.
    pub member_writes: f64,
    /// Share of each member in the I/Os of all, percent, in their order; 0 for one that is missing.
    pub member_shares_pct: Vec<f64>,
    /// The most that the members allow, I/Os of the load per second; `None` where such I/Os were not measured on all of them at
    /// once, or a member was missing.
    pub ceiling_iops: Option<f64>,
    /// Its 95 % interval.
    pub ceiling_ci95: Option<[f64; 2]>,
    /// The same by the number of member I/Os alone, as if a read took as long as a write; `None` for reads.
    pub bare_iops: Option<f64>,
    /// Bytes that all members together wrote, by a rebuild too, for each byte of the load; `None` where that is not known.
    #[serde(default)]
    pub written_per_byte: Option<f64>,
    /// What was rebuilt of a member meanwhile, and what the load paid for it.
    #[serde(default)]
    pub rebuild: Option<RebuildView>,
}

/// A member that was rebuilt beside the load of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RebuildView {
    /// Bytes of the member a second that it was held to; `None`: it went as fast as it could.
    pub asked_bytes_per_s: Option<u64>,
    /// Bytes of the member that were rebuilt a second.
    pub bytes_per_s: f64,
    /// Seconds that the whole member takes at this speed; `None`: nothing was done.
    pub whole_s: Option<f64>,
    /// It was at its end before the load was: the figures of the load are of both.
    pub ended_first: bool,
    /// 99th percentile of the load's latency meanwhile, ns.
    pub p99_ns: Option<u64>,
    /// The step of the same load on the whole array; `None` where that was not measured.
    pub whole_step: Option<u32>,
    /// Its 99th percentile, ns.
    pub whole_p99_ns: Option<u64>,
    /// The rate of the load meanwhile over that on the whole array.
    pub rate_ratio: Option<f64>,
}
