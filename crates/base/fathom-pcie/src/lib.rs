//! PCI Express on the wire: lane rates after coding, and the bytes that one NVMe command moves in each direction.
//!
//! Overheads after Intel AN 456 and AN 829: a transaction-layer packet carries 24 bytes besides its payload (12 or 16 of
//! header, framing, sequence number, link CRC), a completion 20. Docs: docs/METHODS.md, section 8.

/// Bytes of a packet beside its payload.
const PACKET_OVERHEAD_BYTES: u64 = 24;
/// Bytes of a completion packet beside its payload.
const COMPLETION_OVERHEAD_BYTES: u64 = 20;
/// A submission queue entry.
const SQE_BYTES: u64 = 64;
/// A completion queue entry.
const CQE_BYTES: u64 = 16;
/// An MSI-X message or a doorbell.
const DWORD_BYTES: u64 = 4;
/// Most bytes that the device asks for in one read request (MRRS).
const READ_REQUEST_BYTES: u64 = 512;
/// Share of the rate left by data-link packets and skip sets, percent.
const LINK_LAYER_PCT: u64 = 97;
/// The same as a share of 1.
pub const LINK_LAYER_SHARE: f64 = LINK_LAYER_PCT as f64 / 100.0;

/// Bytes of one command on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireBytes {
    /// Host to device.
    pub down: u64,
    /// Device to host.
    pub up: u64,
}

/// Bytes per second of one lane in one direction after line coding, before packets: 8b/10b up to generation 2, 128b/130b
/// up to 5, flits of 256 bytes, 236 of them for packets, in 6; `None` for a generation that is not 1 to 6. PCIe base
/// specifications 1.0 to 6.0, physical layer.
#[must_use]
pub fn lane_rate(generation: u32) -> Option<f64> {
    Some(match generation {
        1 => 250e6,
        2 => 500e6,
        3 => 8e9 * 128.0 / 130.0 / 8.0,
        4 => 16e9 * 128.0 / 130.0 / 8.0,
        5 => 32e9 * 128.0 / 130.0 / 8.0,
        6 => 64e9 * 236.0 / 256.0 / 8.0,
        _ => return None,
    })
}

/// The same in whole bytes, for a clock that counts in whole numbers: cut to whole blocks of the code, so up to 1e-8 less.
#[must_use]
pub fn lane_bytes_per_s(generation: u32) -> Option<u64> {
    Some(match generation {
        1 => 250_000_000,
        2 => 500_000_000,
        3 => 8_000_000_000 / 130 * 128 / 8,
        4 => 16_000_000_000 / 130 * 128 / 8,
        5 => 32_000_000_000 / 130 * 128 / 8,
        6 => 64_000_000_000 / 256 * 236 / 8,
        _ => return None,
    })
}

/// Whole bytes per second that packets can use: lanes times rate, less 3 % for the link layer; `None` as [`lane_rate`].
#[must_use]
pub fn packet_bytes_per_s(generation: u32, lanes: u32) -> Option<u64> {
    lane_bytes_per_s(generation).map(|lane| lane * u64::from(lanes) * LINK_LAYER_PCT / 100)
}

/// A command that carries `bytes` to the host, with at most `mps_bytes` of data in a packet.
#[must_use]
pub fn read_wire(bytes: u64, mps_bytes: u64) -> WireBytes {
    let command = command_wire();
    WireBytes { down: command.down, up: command.up + bytes + bytes.div_ceil(mps_bytes.max(1)) * PACKET_OVERHEAD_BYTES }
}

/// A command that carries `bytes` to the device, which reads them from the host's memory.
#[must_use]
pub fn write_wire(bytes: u64, mps_bytes: u64) -> WireBytes {
    let command = command_wire();
    WireBytes {
        down: command.down + bytes + bytes.div_ceil(mps_bytes.max(1)) * COMPLETION_OVERHEAD_BYTES,
        up: command.up + bytes.div_ceil(READ_REQUEST_BYTES) * PACKET_OVERHEAD_BYTES,
    }
}

/// What every command moves: doorbells and the entry down; its fetch request, completion entry and interrupt up.
fn command_wire() -> WireBytes {
    WireBytes {
        down: SQE_BYTES + COMPLETION_OVERHEAD_BYTES + 2 * (DWORD_BYTES + PACKET_OVERHEAD_BYTES),
        up: PACKET_OVERHEAD_BYTES + CQE_BYTES + PACKET_OVERHEAD_BYTES + DWORD_BYTES + PACKET_OVERHEAD_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads per second that the wire allows.
    fn reads_max(generation: u32, lanes: u32, mps: u64, bytes: u64) -> f64 {
        packet_bytes_per_s(generation, lanes).unwrap() as f64 / read_wire(bytes, mps).up as f64
    }

    #[test]
    fn link_ceilings_are_those_of_the_methods_table() {
        for (generation, lanes, mps, iops_4k, gb_per_s_128k) in [
            (3, 4, 128, 771e3, 3.22),
            (3, 4, 256, 836e3, 3.49),
            (3, 4, 512, 872e3, 3.65),
            (4, 4, 256, 1.67e6, 6.98),
            (3, 8, 256, 1.67e6, 6.98),
            (5, 4, 256, 3.34e6, 13.96),
        ] {
            let iops = reads_max(generation, lanes, mps, 4096);
            let rate = reads_max(generation, lanes, mps, 131_072) * 131_072.0 / 1e9;
            assert!((iops / iops_4k - 1.0).abs() < 0.01, "gen{generation}x{lanes} mps {mps}: {iops}");
            assert!((rate / gb_per_s_128k - 1.0).abs() < 0.01, "gen{generation}x{lanes} mps {mps}: {rate}");
        }
    }

    #[test]
    fn whole_bytes_are_those_of_the_exact_rate() {
        for generation in 0..9 {
            match (lane_rate(generation), lane_bytes_per_s(generation)) {
                (Some(exact), Some(whole)) => {
                    let off = exact - whole as f64;
                    assert!((0.0..1e-8 * exact).contains(&off), "generation {generation}: {exact} {whole}");
                }
                (None, None) => assert!(!(1..=6).contains(&generation)),
                other => panic!("generation {generation}: {other:?}"),
            }
        }
    }

    #[test]
    fn writes_move_their_data_down() {
        let wire = write_wire(4096, 256);
        // By hand: 16 completions, the command's entry and two doorbells; 8 requests, its fetch, its completion entry and
        // its interrupt.
        assert_eq!(wire, WireBytes { down: 4096 + 16 * 20 + 84 + 56, up: 8 * 24 + 24 + 40 + 28 });
        assert_eq!(lane_bytes_per_s(7), None);
    }
}
