//! What a PCIe link carries: lanes, coding, packets.

use std::fmt;

use fathom_pcie::{LINK_LAYER_SHARE, lane_rate, read_wire};
use serde::{Deserialize, Serialize};

/// The size that `usable` means: large reads.
const LARGE_READ_BYTES: u32 = 128 << 10;
/// What nearly all hosts settle on, used where the configuration space is closed to us.
pub const MAX_PAYLOAD_ASSUMED_BYTES: u32 = 256;

/// Generation and width of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinkRate {
    /// PCIe generation, 1 to 6.
    pub generation: u8,
    /// Lanes, 1 to 32.
    pub width: u8,
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gen{} x{}", self.generation, self.width)
    }
}

impl LinkRate {
    /// From sysfs: `16.0 GT/s PCIe` and `4`; `None` for `Unknown` or a link that is down (width 0).
    pub(crate) fn parse(speed: &str, width: &str) -> Option<LinkRate> {
        let giga_transfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
        let generation = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0].iter().position(|g| (g - giga_transfers).abs() < 0.1)?;
        // 255 is the kernel's word for unknown.
        let width = width.trim().parse().ok().filter(|w| (1..=32).contains(w))?;
        Some(LinkRate { generation: generation as u8 + 1, width })
    }

    /// The better link that both ends can do.
    #[must_use]
    pub fn common(self, other: LinkRate) -> LinkRate {
        LinkRate { generation: self.generation.min(other.generation), width: self.width.min(other.width) }
    }

    /// Whether generation or width is below `other`'s.
    #[must_use]
    pub fn is_below(self, other: LinkRate) -> bool {
        self.generation < other.generation || self.width < other.width
    }

    /// Bytes per second and direction after line coding (docs/METHODS.md, section 8).
    #[must_use]
    pub fn coded_bytes_per_s(self) -> f64 {
        // A generation newer than those that are known is taken for the newest.
        let lane = lane_rate(u32::from(self.generation).clamp(1, 6)).expect("generations 1 to 6 are known");
        lane * f64::from(self.width)
    }

    /// Bytes of data per second that reads of `io_bytes` can move through the link, with packets of at most
    /// `max_payload_bytes`: coded rate x data / (data + packets + the I/O's own messages), less 3 % for the link layer.
    #[must_use]
    pub fn read_bytes_per_s(self, max_payload_bytes: u32, io_bytes: u32) -> f64 {
        let wire = read_wire(u64::from(io_bytes), u64::from(max_payload_bytes)).up;
        self.coded_bytes_per_s() * f64::from(io_bytes) / wire as f64 * LINK_LAYER_SHARE
    }

    /// Bytes of data per second for large reads (128 KiB).
    #[must_use]
    pub fn usable_bytes_per_s(self, max_payload_bytes: u32) -> f64 {
        self.read_bytes_per_s(max_payload_bytes, LARGE_READ_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(generation: u8, width: u8) -> LinkRate {
        LinkRate { generation, width }
    }

    #[test]
    fn speeds_are_read_in_all_the_kernels_spellings() {
        for (speed, width, want) in [
            ("16.0 GT/s PCIe", "4", Some(rate(4, 4))),
            ("8 GT/s", "16", Some(rate(3, 16))),
            ("2.5 GT/s PCIe", "1\n", Some(rate(1, 1))),
            ("32.0 GT/s PCIe", "8", Some(rate(5, 8))),
            ("Unknown", "4", None),
            ("Unknown speed", "0", None),
            ("16.0 GT/s PCIe", "0", None),
            ("16.0 GT/s PCIe", "255", None),
            ("", "", None),
        ] {
            assert_eq!(LinkRate::parse(speed, width), want, "{speed} {width}");
        }
    }

    #[test]
    fn large_reads_match_the_table_of_the_methods() {
        for (link, payload, want) in
            [(rate(3, 4), 128, 3.22), (rate(3, 4), 256, 3.49), (rate(3, 4), 512, 3.65), (rate(3, 8), 256, 6.98)]
                .into_iter()
                .chain([(rate(4, 4), 256, 6.98), (rate(5, 4), 256, 13.96)])
        {
            let got = link.usable_bytes_per_s(payload) / 1e9;
            assert!((got - want).abs() < 0.006, "{link} {payload}: {got}");
        }
    }

    #[test]
    fn small_reads_match_the_table_of_the_methods() {
        for (link, payload, want) in
            [(rate(3, 4), 128, 771e3), (rate(3, 4), 256, 836e3), (rate(3, 4), 512, 872e3), (rate(4, 4), 256, 1.67e6)]
        {
            let got = link.read_bytes_per_s(payload, 4096) / 4096.0;
            assert!((got / want - 1.0).abs() < 0.002, "{link} {payload}: {got}");
        }
    }

    #[test]
    fn the_common_link_takes_the_lesser_of_each() {
        let common = rate(4, 4).common(rate(3, 16));
        assert_eq!(common, rate(3, 4));
        assert!(common.is_below(rate(4, 4)) && !rate(4, 4).is_below(common));
        assert_eq!(rate(5, 4).to_string(), "Gen5 x4");
    }

    proptest! {
        #[test]
        fn a_better_link_never_carries_less(g in 1_u8..6, w in 1_u8..16, mps in 7_u32..12) {
            let usable = |g, w| rate(g, w).usable_bytes_per_s(1 << mps);
            prop_assert!(usable(g + 1, w) > usable(g, w));
            prop_assert!(usable(g, w + 1) > usable(g, w));
            prop_assert!(usable(g, w) < rate(g, w).coded_bytes_per_s());
        }
    }
}
