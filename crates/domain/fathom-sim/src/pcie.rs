//! PCI Express on the wire: lane rates after coding, and the bytes that one NVMe command moves in each direction.
//!
//! Overheads after Intel AN 456 and AN 829: a transaction-layer packet carries 24 bytes besides its payload (12 or 16 of
//! header, framing, sequence number, link CRC), a completion 20. Docs: docs/METHODS.md, section on the simulator.

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

/// Bytes of one command on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireBytes {
    /// Host to device.
    pub(crate) down: u64,
    /// Device to host.
    pub(crate) up: u64,
}

/// Bytes per second of one lane in one direction after line coding, before packets. PCIe base specifications 1.0 to 6.0.
pub(crate) fn lane_bytes_per_s(generation: u32) -> Option<u64> {
    Some(match generation {
        1 => 250_000_000,
        2 => 500_000_000,
        3 => 8_000_000_000 / 130 * 128 / 8,
        4 => 16_000_000_000 / 130 * 128 / 8,
        5 => 32_000_000_000 / 130 * 128 / 8,
        // PAM4 and flits of 256 bytes, 236 of them for packets.
        6 => 64_000_000_000 / 256 * 236 / 8,
        _ => return None,
    })
}

/// Bytes per second that packets can use: lanes times rate, less 3 % for the link layer.
pub(crate) fn packet_bytes_per_s(generation: u32, lanes: u32) -> Option<u64> {
    lane_bytes_per_s(generation).map(|lane| lane * u64::from(lanes) * LINK_LAYER_PCT / 100)
}

/// A command that carries `bytes` to the host.
pub(crate) fn read_wire(bytes: u64, mps_bytes: u64) -> WireBytes {
    let command = command_wire();
    WireBytes { down: command.down, up: command.up + bytes + bytes.div_ceil(mps_bytes) * PACKET_OVERHEAD_BYTES }
}

/// A command that carries `bytes` to the device, which reads them from the host's memory.
pub(crate) fn write_wire(bytes: u64, mps_bytes: u64) -> WireBytes {
    let command = command_wire();
    WireBytes {
        down: command.down + bytes + bytes.div_ceil(mps_bytes) * COMPLETION_OVERHEAD_BYTES,
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
    fn writes_move_their_data_down() {
        let wire = write_wire(4096, 256);
        assert!(wire.down > 4096 && wire.up < 400, "{wire:?}");
        assert_eq!(lane_bytes_per_s(7), None);
    }
}
