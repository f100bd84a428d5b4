//! The JSON of `fio --output-format=json+`, version 3.33, as types whose fields come in fio's order.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A JSON object with keys in the order given, which a map type would sort.
#[derive(Clone, Debug, Default)]
pub(super) struct Object<V>(pub(super) Vec<(String, V)>);

impl<V: Serialize> Serialize for Object<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
pub(super) struct FioDocument {
    #[serde(rename = "fio version")]
    pub(super) fio_version: String,
    pub(super) timestamp: i64,
    pub(super) timestamp_ms: i64,
    pub(super) time: String,
    #[serde(rename = "global options")]
    pub(super) global_options: Object<String>,
    pub(super) jobs: Vec<Job>,
    pub(super) disk_util: Vec<Disk>,
    pub(super) fathom_note: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Job {
    pub(super) jobname: String,
    pub(super) groupid: u32,
    pub(super) error: i32,
    pub(super) eta: u64,
    pub(super) elapsed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) desc: Option<String>,
    /// `None` for an import whose file does not say them: fio's defaults would be read in their place.
    #[serde(rename = "job options", skip_serializing_if = "Option::is_none")]
    pub(super) job_options: Option<Object<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trim: Option<Direction>,
    /// All directions together, in the place of the others (`unified_rw_reporting=mixed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mixed: Option<Direction>,
    pub(super) sync: Sync,
    pub(super) job_runtime: u64,
    pub(super) usr_cpu: f64,
    pub(super) sys_cpu: f64,
    pub(super) ctx: u64,
    pub(super) majf: u64,
    pub(super) minf: u64,
    pub(super) iodepth_level: Object<f64>,
    pub(super) iodepth_submit: Object<f64>,
    pub(super) iodepth_complete: Object<f64>,
    pub(super) latency_ns: Object<f64>,
    pub(super) latency_us: Object<f64>,
    pub(super) latency_ms: Object<f64>,
    pub(super) latency_depth: u32,
    pub(super) latency_target: u64,
    pub(super) latency_percentile: f64,
    pub(super) latency_window: u64,
    pub(super) fathom_note: Vec<String>,
    /// Threads of the entry, for the text for people.
    #[serde(skip)]
    pub(super) jobs: u32,
}

#[derive(Default, Serialize)]
pub(super) struct Direction {
    pub(super) io_bytes: u64,
    pub(super) io_kbytes: u64,
    pub(super) bw_bytes: u64,
    /// KiB/s.
    pub(super) bw: u64,
    pub(super) iops: f64,
    /// Milliseconds.
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    pub(super) short_ios: u64,
    pub(super) drop_ios: u64,
    pub(super) slat_ns: Latency,
    pub(super) clat_ns: Latency,
    pub(super) lat_ns: Latency,
    pub(super) bw_min: u64,
    pub(super) bw_max: u64,
    pub(super) bw_agg: f64,
    pub(super) bw_mean: f64,
    pub(super) bw_dev: f64,
    pub(super) bw_samples: u64,
    pub(super) iops_min: u64,
    pub(super) iops_max: u64,
    pub(super) iops_mean: f64,
    pub(super) iops_stddev: f64,
    pub(super) iops_samples: u64,
}

#[derive(Default, Serialize)]
pub(super) struct Latency {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) stddev: f64,
    #[serde(rename = "N")]
    pub(super) n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) percentile: Option<Object<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bins: Option<Object<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fathom_note: Option<String>,
}

#[derive(Default, Serialize)]
pub(super) struct Sync {
    pub(super) total_ios: u64,
    pub(super) lat_ns: Latency,
}

#[derive(Serialize)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) read_ios: u64,
    pub(super) write_ios: u64,
    pub(super) read_merges: u64,
    pub(super) write_merges: u64,
    pub(super) read_ticks: u64,
    pub(super) write_ticks: u64,
    /// Milliseconds.
    pub(super) in_queue: u64,
    pub(super) util: f64,
}
