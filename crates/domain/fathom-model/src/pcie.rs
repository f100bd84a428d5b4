//! What a PCI Express link carries of an NVMe drive's payload.

use fathom_message::{Message, Say, msg, say_error};
use fathom_pcie::{LINK_LAYER_SHARE, lane_rate, read_wire, write_wire};
use serde::{Deserialize, Serialize};

/// A PCI Express link as trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcieLink {
    /// 1 to 6.
    pub generation: u8,
    /// Lanes.
    pub lanes: u8,
    /// Most payload bytes of a packet.
    pub max_payload_bytes: u32,
}

impl PcieLink {
    /// A link with the usual payload of 256 bytes.
    #[must_use]
    pub fn new(generation: u8, lanes: u8) -> PcieLink {
        PcieLink { generation, lanes, max_payload_bytes: 256 }
    }

    /// Reads `gen4x4`, `4x4` or `gen3x16`.
    ///
    /// # Errors
    /// No generation and lanes, or ones that do not exist.
    pub fn parse(text: &str) -> Result<PcieLink, PcieLinkError> {
        let lower = text.to_ascii_lowercase();
        let parts = lower.strip_prefix("gen").unwrap_or(&lower).split_once('x');
        let numbers = parts.and_then(|(g, l)| Some((g.parse::<u8>().ok()?, l.parse::<u8>().ok()?)));
        let problem = match numbers {
            Some((_, 0)) => PcieLinkProblem::NoLanes,
            Some((generation @ 1..=6, lanes @ (1 | 2 | 4 | 8 | 12 | 16))) => {
                return Ok(PcieLink::new(generation, lanes));
            }
            Some((1..=6, lanes)) => PcieLinkProblem::Lanes(lanes),
            Some((generation, _)) => PcieLinkProblem::Generation(generation),
            None => PcieLinkProblem::Malformed,
        };
        Err(PcieLinkError { text: text.to_owned(), problem })
    }

    /// Bytes per second of one direction after line coding.
    #[must_use]
    pub fn coded_bytes_per_s(self) -> f64 {
        // A generation newer than those that are known is taken for the newest.
        let lane = lane_rate(u32::from(self.generation).clamp(1, 6)).expect("generations 1 to 6 are known");
        lane * f64::from(self.lanes)
    }

    /// Most reads of `block_bytes` per second: payload, completion entry, interrupt and command fetch go towards the host.
    #[must_use]
    pub fn read_iops(self, block_bytes: f64) -> f64 {
        self.usable() / read_wire(block_bytes.round() as u64, u64::from(self.max_payload_bytes)).up as f64
    }

    /// Most writes of `block_bytes` per second: payload, command and doorbells go towards the drive; the requests for
    /// them, the completion entry and the interrupt go the other way and never limit.
    #[must_use]
    pub fn write_iops(self, block_bytes: f64) -> f64 {
        let wire = write_wire(block_bytes.round() as u64, u64::from(self.max_payload_bytes));
        self.usable() / wire.down.max(wire.up) as f64
    }

    /// Most I/Os per second of a mix; the directions are apart, so each is held to its own share.
    #[must_use]
    pub fn mixed_iops(self, read_share: f64, block_bytes: f64) -> f64 {
        let of = |share: f64, iops: f64| if share > 0.0 { iops / share } else { f64::INFINITY };
        of(read_share, self.read_iops(block_bytes)).min(of(1.0 - read_share, self.write_iops(block_bytes)))
    }

    fn usable(self) -> f64 {
        self.coded_bytes_per_s() * LINK_LAYER_SHARE
    }
}

impl std::fmt::Display for PcieLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gen{} x{}", self.generation, self.lanes)
    }
}

/// A text that is no link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcieLinkError {
    /// The text that was given.
    pub text: String,
    /// What is wrong with it.
    pub problem: PcieLinkProblem,
}

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PcieLinkProblem {
    /// It has no generation and lanes.
    Malformed,
    /// It has zero lanes.
    NoLanes,
    /// No link has so many lanes.
    Lanes(u8),
    /// There is no such generation.
    Generation(u8),
}

impl Say for PcieLinkError {
    fn message(&self) -> Message {
        match self.problem {
            PcieLinkProblem::Malformed => msg!("predict-link-malformed", text = &self.text),
            PcieLinkProblem::NoLanes => msg!("predict-link-no-lanes", text = &self.text),
            PcieLinkProblem::Lanes(lanes) => msg!("predict-link-lanes", text = &self.text, lanes = lanes),
            PcieLinkProblem::Generation(generation) => {
                msg!("predict-link-generation", text = &self.text, generation = generation)
            }
        }
    }

    fn help(&self) -> Option<Message> {
        Some(msg!("predict-link-help"))
    }
}

say_error!(PcieLinkError);

#[cfg(test)]
mod tests {
    use super::*;

    /// Link, payload, reads of 4 KiB per second, bytes per second of 128 KiB reads: computed by hand.
    const TABLE: [(u8, u8, u32, f64, f64); 6] = [
        (3, 4, 128, 771e3, 3.22e9),
        (3, 4, 256, 836e3, 3.49e9),
        (3, 4, 512, 872e3, 3.65e9),
        (3, 8, 256, 1.67e6, 6.98e9),
        (4, 4, 256, 1.67e6, 6.98e9),
        (5, 4, 256, 3.34e6, 13.96e9),
    ];

    #[test]
    fn the_table_of_links_holds_within_one_percent() {
        for (generation, lanes, max_payload_bytes, iops, rate) in TABLE {
            let link = PcieLink { generation, lanes, max_payload_bytes };
            assert!((link.read_iops(4096.0) / iops - 1.0).abs() < 0.01, "{link} {max_payload_bytes}");
            let large = link.read_iops(131_072.0) * 131_072.0;
            assert!((large / rate - 1.0).abs() < 0.01, "{link} {max_payload_bytes}: {large}");
        }
    }

    #[test]
    fn lane_rates_after_coding_are_those_of_the_specification() {
        for (generation, mega) in [(1, 250.0), (2, 500.0), (3, 984.6), (4, 1969.2), (5, 3938.5), (6, 7375.0)] {
            let rate = PcieLink::new(generation, 1).coded_bytes_per_s() / 1e6;
            assert!((rate / mega - 1.0).abs() < 0.001, "Gen{generation}: {rate}");
        }
    }

    #[test]
    fn writes_are_held_by_what_goes_towards_the_drive() {
        // By hand: 0.97 x 7.877e9 / 4556.
        let writes = PcieLink::new(4, 4).write_iops(4096.0);
        assert!((writes / 1.677e6 - 1.0).abs() < 0.001, "{writes}");
    }

    #[test]
    fn a_mix_uses_both_directions() {
        let link = PcieLink::new(4, 4);
        assert!(link.mixed_iops(0.5, 4096.0) > 1.8 * link.read_iops(4096.0));
    }

    #[test]
    fn links_that_cannot_be_are_refused_with_the_reason() {
        for (text, problem) in [
            ("gen4x0", PcieLinkProblem::NoLanes),
            ("gen9x4", PcieLinkProblem::Generation(9)),
            ("4x3", PcieLinkProblem::Lanes(3)),
            ("fast", PcieLinkProblem::Malformed),
        ] {
            let error = PcieLink::parse(text).expect_err("is refused");
            assert_eq!(error, PcieLinkError { text: text.to_owned(), problem });
        }
        assert_eq!(PcieLink::parse("Gen3x16"), Ok(PcieLink::new(3, 16)));
    }
}
