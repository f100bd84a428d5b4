//! What a PCI Express link carries of an NVMe drive's payload.

use serde::{Deserialize, Serialize};

/// Header, sequence number, check sums and framing of a packet that carries data or a request towards the host.
const PACKET_BYTES: f64 = 24.0;
/// The same of a completion, which is how written data reaches the drive.
const COMPLETION_BYTES: f64 = 20.0;
/// Entry of a submission queue.
const SUBMISSION_BYTES: f64 = 64.0;
/// Entry of a completion queue.
const COMPLETION_QUEUE_BYTES: f64 = 16.0;
/// Data of an interrupt message.
const INTERRUPT_BYTES: f64 = 4.0;
/// Share that flow control, acknowledgements and clock compensation leave.
const LEFT_BY_CONTROL: f64 = 0.97;
/// Most bytes a drive asks of the host at once.
const READ_REQUEST_BYTES: f64 = 512.0;

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
    /// What is wrong and how it is written, as a sentence.
    pub fn parse(text: &str) -> Result<PcieLink, String> {
        let lower = text.to_ascii_lowercase();
        let parts = lower.strip_prefix("gen").unwrap_or(&lower).split_once('x');
        let numbers = parts.and_then(|(g, l)| Some((g.parse::<u8>().ok()?, l.parse::<u8>().ok()?)));
        match numbers {
            Some((_, 0)) => Err(format!("`{text}` has no lanes: write the width, e.g. gen4x4")),
            Some((generation @ 1..=6, lanes @ (1 | 2 | 4 | 8 | 12 | 16))) => Ok(PcieLink::new(generation, lanes)),
            Some((1..=6, lanes)) => Err(format!("`{text}`: a link has 1, 2, 4, 8, 12 or 16 lanes, not {lanes}")),
            Some((generation, _)) => Err(format!("`{text}`: generation {generation} is not one of 1 to 6")),
            None => Err(format!("`{text}` is not a link: write generation and lanes, e.g. gen4x4")),
        }
    }

    /// Bytes per second of one direction after line coding: 8b/10b up to generation 2, 128b/130b up to 5, flits (236 of
    /// 256 bytes) in 6. Source: PCI Express Base Specification, physical layer.
    #[must_use]
    pub fn coded_bytes_per_s(self) -> f64 {
        let giga_transfers = match self.generation {
            1 => 2.5,
            2 => 5.0,
            3 => 8.0,
            4 => 16.0,
            5 => 32.0,
            _ => 64.0,
        };
        let coding = match self.generation {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => 236.0 / 256.0,
        };
        giga_transfers * 1e9 * coding / 8.0 * f64::from(self.lanes)
    }

    /// Most reads of `block_bytes` per second: payload, completion entry, interrupt and command fetch go towards the host.
    #[must_use]
    pub fn read_iops(self, block_bytes: f64) -> f64 {
        let packets = (block_bytes / f64::from(self.max_payload_bytes)).ceil();
        let wire = block_bytes
            + packets * PACKET_BYTES
            + COMPLETION_QUEUE_BYTES
            + PACKET_BYTES
            + INTERRUPT_BYTES
            + PACKET_BYTES
            + PACKET_BYTES;
        self.usable() / wire
    }

    /// Most writes of `block_bytes` per second: payload and command go towards the drive as completions; the requests
    /// for them, the completion entry and the interrupt go the other way and never limit.
    #[must_use]
    pub fn write_iops(self, block_bytes: f64) -> f64 {
        let packets = (block_bytes / f64::from(self.max_payload_bytes)).ceil();
        let down = block_bytes + packets * COMPLETION_BYTES + SUBMISSION_BYTES + COMPLETION_BYTES;
        let requests = (block_bytes / READ_REQUEST_BYTES).ceil() + 1.0;
        let up = requests * PACKET_BYTES + COMPLETION_QUEUE_BYTES + INTERRUPT_BYTES + 2.0 * PACKET_BYTES;
        self.usable() / down.max(up)
    }

    /// Most I/Os per second of a mix; the directions are apart, so each is held to its own share.
    #[must_use]
    pub fn mixed_iops(self, read_share: f64, block_bytes: f64) -> f64 {
        let of = |share: f64, iops: f64| if share > 0.0 { iops / share } else { f64::INFINITY };
        of(read_share, self.read_iops(block_bytes)).min(of(1.0 - read_share, self.write_iops(block_bytes)))
    }

    fn usable(self) -> f64 {
        self.coded_bytes_per_s() * LEFT_BY_CONTROL
    }
}

impl std::fmt::Display for PcieLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gen{} x{}", self.generation, self.lanes)
    }
}

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
    fn catalogued_links_agree_with_the_formula() {
        for entry in crate::Catalogue::embedded().links() {
            let link = PcieLink::parse(&entry.id).expect("a link");
            assert!((link.coded_bytes_per_s() / entry.raw_bytes_per_s - 1.0).abs() < 1e-6, "{}", entry.id);
        }
    }

    #[test]
    fn a_mix_uses_both_directions() {
        let link = PcieLink::new(4, 4);
        assert!(link.mixed_iops(0.5, 4096.0) > 1.8 * link.read_iops(4096.0));
    }

    #[test]
    fn links_that_cannot_be_are_refused_with_the_reason() {
        for (text, why) in [("gen4x0", "no lanes"), ("gen9x4", "generation 9"), ("4x3", "not 3"), ("fast", "gen4x4")] {
            let message = PcieLink::parse(text).expect_err("is refused");
            assert!(message.contains(why), "{message}");
        }
        assert_eq!(PcieLink::parse("Gen3x16"), Ok(PcieLink::new(3, 16)));
    }
}
