//! A machine and a load, reduced to what bounds their I/O.

use fathom_message::{Message, Quantity, Say, Unit, msg, say_error};
use fathom_plan::{Pattern, Placement, RateProcess, Step};
use serde::{Deserialize, Serialize};

use crate::array::RaidModel;
use crate::device::DeviceModel;
use crate::pcie::PcieLink;

/// RAID level of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaidLevel {
    /// Stripes.
    Raid0,
    /// Each member holds everything.
    Raid1,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
    /// Stripes over mirrors.
    Raid10,
}

impl RaidLevel {
    /// Member I/Os that a small random write is said to cost, whatever they are: 1, 2, 4 or 6.
    #[must_use]
    pub fn write_penalty(self, members: u32) -> f64 {
        match self {
            RaidLevel::Raid0 => 1.0,
            RaidLevel::Raid1 => f64::from(members),
            RaidLevel::Raid10 => 2.0,
            RaidLevel::Raid5 => 4.0,
            RaidLevel::Raid6 => 6.0,
        }
    }

    /// Members that may be lost, in the best case, without a byte that is lost with them.
    #[must_use]
    pub fn lost_max(self, members: u32) -> u32 {
        match self {
            RaidLevel::Raid0 => 0,
            RaidLevel::Raid1 => members - 1,
            RaidLevel::Raid10 => members / 2,
            RaidLevel::Raid5 => 1,
            RaidLevel::Raid6 => 2,
        }
    }

    /// Fewest members that make an array of this level.
    #[must_use]
    pub fn members_min(self) -> u32 {
        match self {
            RaidLevel::Raid0 | RaidLevel::Raid1 => 2,
            RaidLevel::Raid5 => 3,
            RaidLevel::Raid6 | RaidLevel::Raid10 => 4,
        }
    }

    /// As engineers write it: `RAID 10`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RaidLevel::Raid0 => "RAID 0",
            RaidLevel::Raid1 => "RAID 1",
            RaidLevel::Raid5 => "RAID 5",
            RaidLevel::Raid6 => "RAID 6",
            RaidLevel::Raid10 => "RAID 10",
        }
    }

    /// Reads `0`, `raid5`, `RAID 10`.
    ///
    /// # Errors
    /// There is no such level.
    pub fn parse(text: &str) -> Result<RaidLevel, RaidLevelError> {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        match digits.as_str() {
            "0" => Ok(RaidLevel::Raid0),
            "1" => Ok(RaidLevel::Raid1),
            "5" => Ok(RaidLevel::Raid5),
            "6" => Ok(RaidLevel::Raid6),
            "10" => Ok(RaidLevel::Raid10),
            _ => Err(RaidLevelError(text.to_owned())),
        }
    }
}

/// A text that is no RAID level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaidLevelError(pub String);

impl Say for RaidLevelError {
    fn message(&self) -> Message {
        msg!("predict-raid-level", text = &self.0)
    }

    fn help(&self) -> Option<Message> {
        Some(msg!("predict-raid-level-help"))
    }
}

say_error!(RaidLevelError);

/// Core time of one I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostModel {
    /// On the thread's own core: submission, completion, the loop.
    pub thread_ns: f64,
    /// In interrupts, on whichever core takes them.
    pub irq_ns: f64,
    /// Where the numbers come from.
    pub origin: CostOrigin,
}

/// Where the core time of an I/O comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostOrigin {
    /// The counters of a step.
    Measured,
    /// The file of a simulated machine.
    Described,
    /// A publication.
    Published {
        /// The program that made the load.
        program: String,
        /// The publication.
        source: String,
        /// Clock that it was measured at, and the one that it was scaled to; `None`: not scaled.
        scaled_hz: Option<(u64, u64)>,
    },
}

impl CostOrigin {
    /// As a sentence names it.
    #[must_use]
    pub fn message(&self) -> Message {
        let hertz = |hz: u64| Quantity::new(hz as f64, Unit::Hertz);
        match self {
            CostOrigin::Measured => msg!("ceiling-cost-measured"),
            CostOrigin::Described => msg!("ceiling-cost-described"),
            CostOrigin::Published { program, source, scaled_hz: None } => {
                msg!("ceiling-cost-published", program = program, source = source)
            }
            CostOrigin::Published { program, source, scaled_hz: Some((from, to)) } => {
                msg!("ceiling-cost-scaled", program = program, source = source, from = hertz(*from), to = hertz(*to))
            }
        }
    }
}

/// Where a link lies that several drives share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UplinkPlace {
    /// Above a PCI function.
    Above {
        /// Its address.
        address: String,
    },
    /// A link with a name, as in the file of a simulated machine.
    Named(String),
    /// The one link that the drives of a described system share.
    Described,
}

impl UplinkPlace {
    /// As a sentence names it.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            UplinkPlace::Above { address } => msg!("ceiling-uplink-above", address = address),
            UplinkPlace::Named(name) => Message::verbatim(name.clone()),
            UplinkPlace::Described => msg!("ceiling-uplink-described"),
        }
    }
}

/// What drives share on their way to the processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UplinkModel {
    /// Switch port or slot.
    pub place: UplinkPlace,
    /// As trained.
    pub link: PcieLink,
    /// How many of the drives lie below it.
    pub drives: u32,
}

/// A machine as ceilings and prediction see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineModel {
    /// Its processor or product; `None` for a system that is only described.
    pub name: Option<String>,
    /// One of its equal drives; `None` when nothing is known of them.
    pub device: Option<DeviceModel>,
    /// Links of the drives as trained; empty: those of the model.
    pub links: Vec<PcieLink>,
    /// Links that several drives share.
    pub uplinks: Vec<UplinkModel>,
    /// Array over the drives.
    pub raid: Option<RaidModel>,
    /// Physical cores the load may use.
    pub cores: Option<u32>,
    /// I/Os of a core with both siblings busy, over those with one; 1 without SMT.
    pub smt_gain: f64,
    /// Core time of one I/O.
    pub cost: Option<CostModel>,
    /// Cores that the drives' interrupts reach; `None`: as many as threads run on.
    pub irq_cores: Option<u32>,
    /// Memory bandwidth.
    pub memory_bytes_per_s: Option<f64>,
    /// Whether its drives are memory themselves, so that each I/O is a copy.
    #[serde(default)]
    pub is_ram_disk: bool,
}

impl MachineModel {
    /// A machine of which nothing is known but its name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> MachineModel {
        MachineModel { name: Some(name.into()), ..MachineModel::unknown() }
    }

    /// A machine of which nothing is known yet.
    #[must_use]
    pub fn unknown() -> MachineModel {
        MachineModel {
            name: None,
            device: None,
            links: Vec::new(),
            uplinks: Vec::new(),
            raid: None,
            cores: None,
            smt_gain: 1.0,
            cost: None,
            irq_cores: None,
            memory_bytes_per_s: None,
            is_ram_disk: false,
        }
    }
}

/// A load, reduced to what bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Share of reads in [0, 1]; trims count as writes.
    pub read_share: f64,
    /// Mean bytes per I/O.
    pub block_bytes: f64,
    /// Blocks in order.
    pub sequential: bool,
    /// Drives, or members of the array.
    pub drives: u32,
    /// Threads over all drives.
    pub threads: u32,
    /// I/Os in flight over all drives.
    pub in_flight: u32,
    /// Two threads share a core where they can.
    pub siblings_first: bool,
    /// Data passes through the page cache.
    pub buffered: bool,
    /// Open loop: I/Os per second asked for.
    pub rate_iops: Option<f64>,
}

impl Shape {
    /// The load of a step on `drives` drives (the targets, or the members of an array that is the target).
    #[must_use]
    pub fn of(step: &Step, drives: u32) -> Shape {
        let blocks = &step.workload.block_sizes;
        Shape {
            read_share: f64::from(step.workload.mix.read_pct) / 100.0,
            block_bytes: blocks.iter().map(|b| f64::from(b.bytes) * f64::from(b.share_pct)).sum::<f64>() / 100.0,
            sequential: matches!(step.workload.pattern, Pattern::Sequential),
            drives,
            threads: step.workers(),
            in_flight: step.in_flight_max(),
            siblings_first: step.placement == Placement::Smt,
            buffered: !step.workload.direct,
            rate_iops: step.load.rate.map(|r| match r.process {
                RateProcess::Fixed | RateProcess::Poisson | RateProcess::Recorded => r.iops,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raid_levels_are_read_as_people_write_them_and_others_are_refused() {
        for text in ["10", "raid10", "RAID 10"] {
            assert_eq!(RaidLevel::parse(text), Ok(RaidLevel::Raid10), "{text}");
        }
        let error = RaidLevel::parse("7").expect_err("there is no such level");
        assert_eq!(error.message().id(), "predict-raid-level");
    }
}
