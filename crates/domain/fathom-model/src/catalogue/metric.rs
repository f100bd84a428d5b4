//! What published figures count: the catalogue's names, with the units they were printed in, and the names and units of
//! everything that is read from it.

use std::fmt;

use fathom_message::Unit;
use serde::{Deserialize, Deserializer, Serialize};

macro_rules! metrics {
    ($($(#[$meta:meta])* $variant:ident: $printed:literal x $factor:literal => $word:literal, $unit:ident;)+) => {
        /// What a published figure is. Files of the catalogue name it in the unit it was printed in; read from them, the
        /// value is in [`PublishedMetric::unit`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum PublishedMetric {
            $($(#[$meta])* #[serde(rename = $word)] $variant,)+
        }

        impl PublishedMetric {
            /// All, in the order in which they are written down.
            pub const ALL: &'static [PublishedMetric] = &[$(PublishedMetric::$variant),+];

            /// The word of the JSON contract.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(PublishedMetric::$variant => $word,)+ }
            }

            /// The word in the files of the catalogue.
            #[must_use]
            pub const fn printed_as(self) -> &'static str {
                match self { $(PublishedMetric::$variant => $printed,)+ }
            }

            /// Unit of a value that was read.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self { $(PublishedMetric::$variant => Unit::$unit,)+ }
            }

            /// What a value in a file is multiplied with to be in that unit.
            #[must_use]
            pub const fn factor(self) -> f64 {
                match self { $(PublishedMetric::$variant => $factor,)+ }
            }
        }
    };
}

metrics! {
    /// I/Os per second.
    Iops: "iops" x 1.0 => "iops", Iops;
    /// I/Os per second and busy core.
    IopsPerCore: "iops_per_core" x 1.0 => "iops_per_core", IopsPerCore;
    /// Bytes per second.
    BytesPerS: "bandwidth_bytes_per_s" x 1.0 => "bytes_per_s", BytesPerS;
    /// The same, printed in a unit that is in doubt.
    BytesPerSAsPrinted: "bandwidth_as_printed_mb" x 1e6 => "bytes_per_s_as_printed", BytesPerS;
    /// The same of a whole column.
    BytesPerSColumnAsPrinted: "bandwidth_column_as_printed" x 1e6 => "bytes_per_s_column_as_printed", BytesPerS;
    /// Mean latency.
    LatMeanNs: "latency_us_mean" x 1e3 => "lat_mean_ns", Ns;
    /// A latency that is called typical.
    LatTypicalNs: "latency_us_typical" x 1e3 => "lat_typical_ns", Ns;
    /// Median of the latency.
    LatP50Ns: "latency_us_p50" x 1e3 => "lat_p50_ns", Ns;
    /// 99th percentile of the latency.
    LatP99Ns: "latency_us_p99" x 1e3 => "lat_p99_ns", Ns;
    /// 99.99th percentile of the latency.
    LatP99_99Ns: "latency_us_p99_99" x 1e3 => "lat_p99.99_ns", Ns;
    /// 99.999th percentile of the latency.
    LatP99_999Ns: "latency_us_p99_999" x 1e3 => "lat_p99.999_ns", Ns;
    /// Busy share of all CPUs.
    CpuPct: "cpu_pct" x 1.0 => "cpu_pct", Pct;
    /// Busy share of the CPUs that the load itself had.
    CpuPctJob: "cpu_pct_job" x 1.0 => "cpu_pct_job", Pct;
    /// Busy share of the least busy core.
    CpuPctCoreMin: "cpu_pct_core_min" x 1.0 => "cpu_pct_core_min", Pct;
    /// Busy share of the busiest core.
    CpuPctCoreMax: "cpu_pct_core_max" x 1.0 => "cpu_pct_core_max", Pct;
    /// Busy cores.
    CoresBusy: "cores_busy" x 1.0 => "cores_busy", Cores;
    /// Cores given to the load.
    CoresUsed: "cores_used" x 1.0 => "cores_used", Cores;
    /// Cores for a million I/Os per second.
    CoresFor1mIops: "cores_for_1m_iops" x 1.0 => "cores_for_1m_iops", Cores;
    /// Cores for each drive.
    CoresPerDevice: "cores_per_device" x 1.0 => "cores_per_device", Cores;
    /// Cores of a machine.
    CoresTotal: "cores_total" x 1.0 => "cores_total", Cores;
    /// Cores of a processor.
    CoresPerCpu: "cores_per_cpu" x 1.0 => "cores_per_cpu", Cores;
    /// Dies of a processor.
    CcdCount: "ccd_count" x 1.0 => "ccd_count", Count;
    /// NUMA nodes of a socket.
    NumaNodesPerSocket: "numa_nodes_per_socket" x 1.0 => "numa_nodes_per_socket", Count;
    /// Channels to memory.
    MemoryChannels: "memory_channels" x 1.0 => "memory_channels", Count;
    /// PCI Express lanes.
    PcieLanes: "pcie_lanes" x 1.0 => "pcie_lanes", Count;
    /// Drives.
    Devices: "devices" x 1.0 => "devices", Count;
    /// Drives from which on more add nothing.
    DevicesAtPlateau: "devices_at_plateau" x 1.0 => "devices_at_plateau", Count;
    /// Controllers.
    Controllers: "controllers" x 1.0 => "controllers", Count;
    /// Threads.
    Threads: "threads" x 1.0 => "threads", Count;
    /// I/Os in flight for each drive.
    OutstandingPerDevice: "outstanding_per_device" x 1.0 => "outstanding_per_device", Count;
    /// Queue depth at which two curves cross.
    CrossoverQueueDepth: "crossover_queue_depth" x 1.0 => "crossover_queue_depth", Count;
    /// I/Os of the members for each write of the host.
    WritePenalty: "write_penalty" x 1.0 => "write_penalty", Count;
    /// One figure over another.
    Ratio: "ratio" x 1.0 => "ratio", Times;
    /// Transactions per second.
    Tps: "tps" x 1.0 => "tps", PerS;
    /// The most of them.
    TpsPeak: "tps_peak" x 1.0 => "tps_peak", PerS;
    /// Transactions in a minute.
    Tpm: "tpm" x 1.0 => "tpm", Count;
    /// The most of them.
    TpmPeak: "tpm_peak" x 1.0 => "tpm_peak", Count;
    /// Electrical power.
    PowerW: "power_w" x 1.0 => "power_w", Watts;
    /// Clock.
    FrequencyHz: "frequency_hz" x 1.0 => "frequency_hz", Hertz;
    /// Length of a run.
    RunS: "run_seconds" x 1.0 => "run_s", S;
    /// Size of a drive.
    CapacityBytes: "capacity_bytes" x 1.0 => "capacity_bytes", Bytes;
    /// Memory of a controller.
    CacheBytes: "cache_bytes" x 1.0 => "cache_bytes", Bytes;
    /// Main memory.
    MemoryBytes: "memory_bytes" x 1.0 => "memory_bytes", Bytes;
    /// Data that is worked on.
    DataBytes: "data_bytes" x 1.0 => "data_bytes", Bytes;
    /// Share of a drive that is worked on.
    FootprintPct: "footprint_pct" x 1.0 => "footprint_pct", Pct;
    /// Media beyond the size of the drive.
    OverprovisioningPct: "overprovisioning_pct" x 1.0 => "overprovisioning_pct", Pct;
}

impl PublishedMetric {
    /// By the word of the JSON contract.
    #[must_use]
    pub fn from_word(word: &str) -> Option<PublishedMetric> {
        PublishedMetric::ALL.iter().copied().find(|metric| metric.as_str() == word)
    }

    /// By the word in the files of the catalogue.
    #[must_use]
    pub fn from_printed(word: &str) -> Option<PublishedMetric> {
        PublishedMetric::ALL.iter().copied().find(|metric| metric.printed_as() == word)
    }
}

impl<'de> Deserialize<'de> for PublishedMetric {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PublishedMetric, D::Error> {
        let word = String::deserialize(from)?;
        PublishedMetric::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("no metric `{word}`")))
    }
}

impl fmt::Display for PublishedMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// As the files of the catalogue write it.
pub(super) fn from_file<'de, D: Deserializer<'de>>(from: D) -> Result<PublishedMetric, D::Error> {
    let word = String::deserialize(from)?;
    PublishedMetric::from_printed(&word).ok_or_else(|| serde::de::Error::custom(format!("no metric `{word}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_known_by_both_of_its_words_and_each_word_is_that_of_one() {
        for metric in PublishedMetric::ALL {
            assert_eq!(PublishedMetric::from_word(metric.as_str()), Some(*metric));
            assert_eq!(PublishedMetric::from_printed(metric.printed_as()), Some(*metric));
            assert_eq!(serde_json::to_value(metric).expect("a word"), metric.as_str());
        }
    }

    #[test]
    fn times_and_rates_are_named_with_the_unit_they_are_in() {
        for metric in PublishedMetric::ALL {
            let word = metric.as_str();
            assert_eq!(metric.unit() == Unit::Ns, word.ends_with("_ns"), "{word}");
            assert_eq!(metric.unit() == Unit::BytesPerS, word.contains("bytes_per_s"), "{word}");
            assert_eq!(metric.unit() == Unit::Pct, word.contains("_pct"), "{word}");
            assert_eq!(metric.unit() == Unit::Bytes, word.ends_with("_bytes"), "{word}");
        }
    }
}
