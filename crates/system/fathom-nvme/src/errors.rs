//! Error Information, log page 01h.

use serde::{Deserialize, Serialize};

use crate::bytes::Page;
use crate::status::Status;

/// Length of an entry.
const ENTRY_BYTES: usize = 64;

/// One entry (Base 2.0, figure "Error Information Log Entry").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorEntry {
    /// Number of the error over the life of the controller.
    pub number: u64,
    /// Submission queue of the command.
    pub queue: u16,
    /// What the command ended with.
    pub status: Status,
    /// First logical block concerned.
    pub first_block: u64,
    /// Namespace.
    pub namespace: u32,
}

/// Entries of the log, newest first; empty slots (number 0) and a cut-off last entry are left out.
#[must_use]
pub fn error_entries(bytes: &[u8]) -> Vec<ErrorEntry> {
    let entry = |chunk: &[u8]| {
        let page = Page::<ENTRY_BYTES>::new("error log entry", chunk).ok()?;
        Some(ErrorEntry {
            number: page.u64(0),
            queue: page.u16(8),
            // Bit 0 of the field is the phase tag.
            status: Status::of(page.u16(12) >> 1),
            first_block: page.u64(16),
            namespace: page.u32(24),
        })
    };
    bytes.chunks_exact(ENTRY_BYTES).filter_map(entry).filter(|e| e.number != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_empty_slots_are_not() {
        let mut log = [0; 3 * ENTRY_BYTES + 7];
        log[0..8].copy_from_slice(&[2, 1, 0, 0, 0, 0, 0, 0]); // error 258
        log[8..10].copy_from_slice(&[3, 0]); // queue 3
        log[12..14].copy_from_slice(&[0x03, 0x05]); // phase 1, sc 81h, sct 2: unrecovered read error
        log[16..18].copy_from_slice(&[0x00, 0x20]); // block 8192
        log[24] = 1;
        let entries = error_entries(&log);
        assert_eq!(entries.len(), 1);
        let entry = entries[0];
        assert_eq!((entry.number, entry.queue, entry.first_block, entry.namespace), (258, 3, 8192, 1));
        assert_eq!((entry.status.code_type(), entry.status.code()), (2, 0x81));
    }
}
