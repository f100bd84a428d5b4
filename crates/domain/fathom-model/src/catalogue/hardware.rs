//! Entries of hardware: rated values as the makers print them, and model parameters where they were fitted.

use serde::{Deserialize, Serialize};

/// Rated values of a drive or module. Absent: not seen in the source, not zero. `*_iops` at the block size in the name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "a rated value is what its key says, unit last")]
pub struct Device {
    /// Name.
    pub id: String,
    /// Maker and model.
    pub model: String,
    /// Publications.
    pub source: Vec<String>,
    pub form: Option<String>,
    pub interface: Option<String>,
    pub pcie_gen: Option<u8>,
    pub pcie_lanes: Option<u8>,
    pub capacity_bytes: Option<u64>,
    #[serde(default)]
    pub capacity_bytes_list: Vec<u64>,
    pub rand_read_4k_iops: Option<f64>,
    pub rand_write_4k_iops: Option<f64>,
    pub rand_mixed_70_30_4k_iops: Option<f64>,
    pub rand_read_8k_iops: Option<f64>,
    pub rand_write_8k_iops: Option<f64>,
    pub rating_queue_depth: Option<u32>,
    pub seq_read_bytes_per_s: Option<f64>,
    pub seq_write_bytes_per_s: Option<f64>,
    pub seq_block_bytes: Option<u32>,
    pub lat_typical_read_us: Option<f64>,
    pub lat_typical_write_us: Option<f64>,
    pub lat_typical_read_us_max: Option<f64>,
    pub lat_typical_write_us_max: Option<f64>,
    pub lat_rand_read_us: Option<f64>,
    pub lat_rand_write_us: Option<f64>,
    pub lat_seq_read_us: Option<f64>,
    pub lat_seq_write_us: Option<f64>,
    /// By queue depth, e.g. `qd1`.
    #[serde(default)]
    pub lat_read_p99_999_us: std::collections::BTreeMap<String, f64>,
    /// By queue depth, e.g. `qd1`.
    #[serde(default)]
    pub lat_write_p99_999_us: std::collections::BTreeMap<String, f64>,
    pub endurance_dwpd: Option<f64>,
    pub endurance_years: Option<f64>,
    pub endurance_bytes: Option<u64>,
    pub endurance_capacity_bytes: Option<u64>,
    pub power_active_w: Option<f64>,
    pub power_active_read_w: Option<f64>,
    pub power_active_write_w: Option<f64>,
    pub power_idle_w: Option<f64>,
    pub media: Option<String>,
    pub controller: Option<String>,
    pub note: Option<String>,
    /// Rates are worded "up to": bounds from above, which widen what is predicted downwards.
    #[serde(default)]
    pub up_to: bool,
    /// Parameters of the queueing model and the simulator, where fitted.
    pub sim: Option<DeviceSim>,
}

/// Parameters of a drive's inside: a controller that takes commands one by one, then media units in parallel, then what
/// waits for nothing. Used by the closed-form prediction and by the simulator. Absent: derived from the ratings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceSim {
    /// Controller time per read command of up to 4 KiB: 1 / this is the most reads per second.
    pub controller_ns: Option<u64>,
    /// Controller time per write command; default as `controller_ns`.
    pub controller_write_ns: Option<u64>,
    /// Part of a read's time that queues for nothing.
    pub fixed_ns: Option<u64>,
    /// Part of a write's time that queues for nothing: the acknowledgement from the write buffer.
    pub fixed_write_ns: Option<u64>,
    /// Media units that work at the same time: dies or planes.
    pub units: Option<u32>,
    /// Time of a unit for a read of up to 4 KiB.
    pub read_ns: Option<u64>,
    /// Half width of the spread of `read_ns`, percent of it.
    pub read_spread_pct: Option<u64>,
    /// Time of a unit for a page program; for media written in place, for 4 KiB.
    pub program_ns: Option<u64>,
    /// Units that take writes at the same time, where they differ from those of reads: then writes wait for them.
    pub write_units: Option<u32>,
    /// Bytes that one program writes.
    pub program_bytes: Option<u64>,
    /// Time of a unit for an erase.
    pub erase_ns: Option<u64>,
    /// Media is written in place: no garbage collection, writes wait for the media like reads.
    #[serde(default)]
    pub in_place: bool,
    /// Channels that units share.
    pub channels: Option<u32>,
    /// Time on the channel for 4 KiB.
    pub channel_ns: Option<u64>,
    /// Write buffer.
    pub buffer_bytes: Option<u64>,
    /// Media of the drive, with the spare; spare = raw / user - 1.
    pub raw_bytes: Option<u64>,
    /// Most the drive reads, all units together.
    pub read_bytes_per_s: Option<f64>,
    /// Most the media programs, all units together, before write amplification.
    pub program_bytes_per_s: Option<f64>,
    /// Published figures that the parameters were fitted to.
    #[serde(default)]
    pub fitted_to: Vec<String>,
    /// Where the rest comes from.
    pub note: Option<String>,
}

/// A RAID controller, boot card or switch card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "a rated value is what its key says, unit last")]
pub struct Controller {
    /// Name.
    pub id: String,
    /// Maker and model.
    pub model: String,
    /// Publications.
    pub source: Vec<String>,
    pub chip: Option<String>,
    pub generation: Option<String>,
    pub drives: Option<String>,
    pub pcie_gen: Option<u8>,
    pub pcie_lanes: Option<u8>,
    pub downstream: Option<String>,
    pub cache_bytes: Option<u64>,
    pub power_w: Option<f64>,
    pub chip_claimed_rand_read_iops: Option<f64>,
    pub raid5_rand_write_claimed_iops: Option<f64>,
    pub raid10_rand_write_4k_iops: Option<f64>,
    /// Lowest and highest seen.
    #[serde(default)]
    pub raid5_rand_write_4k_iops: Vec<f64>,
    /// Lowest and highest seen.
    #[serde(default)]
    pub raid6_rand_write_4k_iops: Vec<f64>,
    /// Bytes per second that parity is computed over.
    pub parity_bytes_per_s: Option<f64>,
    /// Most payload bytes of a packet on its link to the host.
    pub pcie_max_payload_bytes: Option<u32>,
    pub linux: Option<String>,
    pub note: Option<String>,
}

/// A processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "a rated value is what its key says, unit last")]
pub struct Cpu {
    /// Name.
    pub id: String,
    /// Maker and model.
    pub model: String,
    /// Publications.
    pub source: Vec<String>,
    pub cores: Option<u32>,
    pub base_hz: Option<u64>,
    pub memory_channels: Option<u32>,
    pub pcie_gen: Option<u8>,
    pub pcie_lanes: Option<u32>,
    pub tdp_w_max: Option<f64>,
    pub note: Option<String>,
}

/// A PCI Express link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// Name, e.g. `gen4x4`.
    pub id: String,
    /// Generation.
    pub pcie_gen: u8,
    /// Lanes.
    pub pcie_lanes: u8,
    /// Transfers per second and lane, in 10^9.
    pub gt_per_s: f64,
    /// Line coding.
    pub encoding: String,
    /// After coding, before packet overhead.
    pub raw_bytes_per_s: f64,
    /// Publications.
    pub source: Vec<String>,
}

/// What an I/O costs a core with some engine: 1 / IOPS of a saturated core, 4 KiB random reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineCost {
    /// Name; the plain name of an engine is what a prediction takes.
    pub id: String,
    /// Core time of one I/O.
    pub ns_per_io: f64,
    /// Clock it was measured at, where known.
    pub clock_hz: Option<u64>,
    /// Program that made the load.
    pub program: String,
    /// Publication.
    pub source: String,
    /// Published figures behind it.
    #[serde(default)]
    pub figures: Vec<String>,
    /// What a reader must know.
    pub note: Option<String>,
}
