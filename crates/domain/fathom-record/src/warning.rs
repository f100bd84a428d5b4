//! Warnings are values: the record carries them, the report finds the words.

use fathom_message::Message;
use fathom_plan::TargetId;
use serde::{Deserialize, Serialize};

use crate::feature_name::FeatureName;
use crate::health::ThrottleSign;
use crate::host::MdSync;

/// Something a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// Our own loop took this share of the latency or CPU time.
    EngineOverhead {
        /// Percent of the mean latency.
        share_pct: f64,
    },
    /// A feature that was asked for was not in force.
    FeatureMissing {
        /// Which.
        feature: FeatureName,
        /// The reason.
        reason: Message,
    },
    /// IOPS x mean latency is not the depth that was asked for.
    LittlesLaw {
        /// IOPS x mean latency.
        computed: f64,
        /// The depth.
        #[serde(rename = "in_flight")]
        depth: f64,
    },
    /// Kernel's count of the device disagrees with ours.
    DiskstatsDisagree {
        /// Devices.
        #[serde(alias = "device", deserialize_with = "one_or_more")]
        devices: Vec<String>,
        /// Our I/Os.
        ours: u64,
        /// Kernel's I/Os.
        kernel: u64,
    },
    /// A member of an array in user space failed, and the array went on without it.
    MemberLost {
        /// The array.
        array: TargetId,
        /// The member.
        member: TargetId,
        /// Why.
        errno: i32,
    },
    /// Linux md went over all of an array beside the load.
    ArraySyncing {
        /// Kernel name of the array.
        device: String,
        /// What it did.
        action: MdSync,
    },
    /// An array of Linux md lacked members.
    ArrayDegraded {
        /// Kernel name of the array.
        device: String,
        /// How many.
        lost: u32,
    },
    /// Reads of space that was never written.
    ReadsOfUnwrittenSpace {
        /// Share of the region that has no blocks, percent.
        unwritten_pct: f64,
    },
    /// Buffered, or the page cache held the file.
    PageCache {
        /// Bytes found cached.
        cached_bytes: u64,
    },
    /// Footprint smaller than a plausible cache.
    SmallFootprint {
        /// Bytes.
        footprint_bytes: u64,
    },
    /// The interval of IOPS is wider than asked when the budget was spent.
    WideInterval {
        /// Half width of the 95 % interval, percent of the mean.
        half_width_pct: f64,
    },
    /// Throughput drifted over the window.
    NotSteady {
        /// Percent of the mean per minute.
        drift_pct_per_minute: f64,
    },
    /// The open-loop rate was not kept.
    RateUnsustainable {
        /// Asked.
        intended_iops: f64,
        /// Got.
        achieved_iops: f64,
    },
    /// I/Os of a trace began later than they were recorded.
    ReplayLate {
        /// Mean delay from the recorded begin to the actual one.
        late_ns: f64,
        /// Mean time between two I/Os of the trace.
        gap_ns: f64,
    },
    /// I/Os failed.
    IoErrors {
        /// Number of I/Os that failed.
        count: u64,
        /// errno of the first.
        errno: i32,
    },
    /// Other work used the CPUs.
    NoisyHost {
        /// Percent stolen by the hypervisor.
        steal_pct: f64,
        /// Cores busy with other work, before the run or during the step, whichever is more.
        #[serde(alias = "baseline_busy_cores")]
        other_busy_cores: f64,
    },
    /// Heat slowed a drive down, or it warned that it would.
    Throttled {
        /// Kernel name of the drive.
        device: String,
        /// What says so.
        sign: ThrottleSign,
        /// Highest temperature seen.
        celsius_max: Option<f64>,
    },
    /// A pinned thread was seen elsewhere.
    Migrated {
        /// Thread.
        thread: u32,
    },
    /// TSC and CLOCK_MONOTONIC disagree.
    ClockDrift {
        /// Parts per million.
        ppm: f64,
    },
    /// Verification found damaged data.
    VerifyFailed {
        /// Bad blocks.
        blocks: u64,
    },
    /// One target of several is slower than the others.
    SlowMember {
        /// The target, as the plan names it.
        target: TargetId,
        /// Its IOPS as a share of the median of the targets, percent.
        share_pct: f64,
    },
    /// Conditioning that the time budget ended before it was complete.
    CutShort {
        /// Share that was done, percent.
        done_pct: f64,
    },
    /// The step was stopped before its length.
    Interrupted,
    /// A remark of an importer or an engine.
    Note {
        /// The remark.
        text: Message,
    },
}

/// A list; labs before version 3 hold the names in one text, parted by commas.
fn one_or_more<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::List(names) => names,
        Stored::Text(text) => text.split(", ").map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_older_labs_are_read_as_a_list() {
        let old = r#"{"kind":"diskstats_disagree","device":"vda, vdb","ours":1,"kernel":2}"#;
        let warning: Warning = serde_json::from_str(old).expect("reads");
        let devices = vec!["vda".to_owned(), "vdb".to_owned()];
        assert_eq!(warning, Warning::DiskstatsDisagree { devices, ours: 1, kernel: 2 });
        let text = serde_json::to_string(&warning).expect("serializes");
        assert_eq!(serde_json::from_str::<Warning>(&text).expect("reads"), warning);
    }
}
