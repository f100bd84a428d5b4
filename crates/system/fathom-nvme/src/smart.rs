//! SMART / Health Information, log page 02h.

use fathom_record::CriticalWarning;
use serde::{Deserialize, Serialize};

use crate::bytes::{Page, ShortPage, celsius};

/// Bytes behind one data unit: a thousand blocks of 512 bytes (Base, Data Units Read).
const DATA_UNIT_BYTES: u64 = 512_000;

/// Health of a drive (Base 2.0, figure "SMART / Health Information Log"). Counters run over the life of the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmartLog {
    /// The byte of critical warnings.
    pub critical_warning: u8,
    /// Composite temperature.
    pub celsius: Option<i32>,
    /// Spare space left, percent.
    pub spare_pct: u8,
    /// Spare space below which it warns, percent.
    pub spare_threshold_pct: u8,
    /// Life used as the maker estimates, percent; may pass 100, 255 is the most it says.
    pub used_pct: u8,
    /// Bytes hosts read, to a thousand blocks of 512 bytes.
    pub host_read_bytes: u64,
    /// Bytes hosts wrote, to a thousand blocks of 512 bytes.
    pub host_written_bytes: u64,
    /// Read commands.
    pub host_reads: u64,
    /// Write commands.
    pub host_writes: u64,
    /// Minutes it was busy with I/O.
    pub busy_minutes: u64,
    /// Power cycles.
    pub power_cycles: u64,
    /// Hours it was on.
    pub power_on_hours: u64,
    /// Power was lost without a shutdown.
    pub unsafe_shutdowns: u64,
    /// Data that could not be recovered.
    pub media_errors: u64,
    /// Entries ever made in the error log.
    pub error_entries: u64,
    /// Minutes at or above the warning temperature.
    pub warning_minutes: u32,
    /// Minutes at or above the critical temperature.
    pub critical_minutes: u32,
    /// Temperature of each sensor that exists.
    pub sensors_celsius: Vec<i32>,
    /// Times the controller slowed down lightly and heavily because of thermal management.
    pub throttle_transitions: [u32; 2],
    /// Seconds it was slowed down lightly and heavily.
    pub throttle_seconds: [u32; 2],
}

impl SmartLog {
    /// Decodes the log.
    ///
    /// # Errors
    /// [`ShortPage`] below 512 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ShortPage> {
        let page = Page::<512>::new("SMART log", bytes)?;
        Ok(SmartLog {
            critical_warning: page.u8(0),
            celsius: celsius(page.u16(1)),
            spare_pct: page.u8(3),
            spare_threshold_pct: page.u8(4),
            used_pct: page.u8(5),
            host_read_bytes: page.u128(32).saturating_mul(DATA_UNIT_BYTES),
            host_written_bytes: page.u128(48).saturating_mul(DATA_UNIT_BYTES),
            host_reads: page.u128(64),
            host_writes: page.u128(80),
            busy_minutes: page.u128(96),
            power_cycles: page.u128(112),
            power_on_hours: page.u128(128),
            unsafe_shutdowns: page.u128(144),
            media_errors: page.u128(160),
            error_entries: page.u128(176),
            warning_minutes: page.u32(192),
            critical_minutes: page.u32(196),
            sensors_celsius: (0..8).filter_map(|sensor| celsius(page.u16(200 + 2 * sensor))).collect(),
            throttle_transitions: [page.u32(216), page.u32(220)],
            throttle_seconds: [page.u32(224), page.u32(228)],
        })
    }

    /// The critical warnings, bit by bit.
    #[must_use]
    pub fn warnings(&self) -> CriticalWarning {
        CriticalWarning::of(self.critical_warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use fathom_message::Say as _;

    /// Every field holds a number of its own, at the place the specification's table gives it.
    fn log() -> [u8; 512] {
        let mut page = [0; 512];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &[0b0000_0110]); // temperature and reliability
        put(1, &[0x43, 0x01]); // 323 K = 50 C; the field is not aligned
        put(3, &[97, 10, 104]); // spare, threshold, used: estimates may pass 100 %
        put(32, &[0xe8, 0x03, 0, 0, 0, 0, 0, 0]); // 1000 units read
        put(48, &[0xd0, 0x07, 0, 0, 0, 0, 0, 0]); // 2000 units written
        put(64, &[3]);
        put(80, &[4]);
        put(96, &[5]);
        put(112, &[6]);
        put(128, &[7]);
        put(144, &[8]);
        put(160, &[9]);
        put(176, &[10]);
        put(192, &[11, 0, 0, 0, 12, 0, 0, 0]);
        put(200, &[0x43, 0x01, 0, 0, 0x4d, 0x01]); // sensor 1: 50 C, no sensor 2, sensor 3: 60 C
        put(216, &[13, 0, 0, 0, 14, 0, 0, 0, 15, 0, 0, 0, 16, 0, 0, 0]);
        page
    }

    #[test]
    fn every_field_of_the_smart_log_is_read_at_its_place() {
        let log = SmartLog::decode(&log()).expect("long enough");
        assert_eq!((log.celsius, log.spare_pct, log.spare_threshold_pct, log.used_pct), (Some(50), 97, 10, 104));
        assert_eq!((log.host_read_bytes, log.host_written_bytes), (512_000_000, 1_024_000_000));
        assert_eq!((log.host_reads, log.host_writes, log.busy_minutes), (3, 4, 5));
        assert_eq!((log.power_cycles, log.power_on_hours, log.unsafe_shutdowns), (6, 7, 8));
        assert_eq!((log.media_errors, log.error_entries), (9, 10));
        assert_eq!((log.warning_minutes, log.critical_minutes), (11, 12));
        assert_eq!(log.sensors_celsius, [50, 60]);
        assert_eq!((log.throttle_transitions, log.throttle_seconds), ([13, 14], [15, 16]));
        assert_eq!(log.warnings().messages().len(), 2);
        assert!(log.warnings().temperature && log.warnings().degraded && !log.warnings().read_only);
    }

    #[test]
    fn counters_beyond_64_bits_read_as_the_most_they_hold() {
        let mut page = log();
        page[48..64].fill(0xff);
        assert_eq!(SmartLog::decode(&page).expect("long enough").host_written_bytes, u64::MAX);
    }

    #[test]
    fn a_drive_without_thermometer_has_no_temperature() {
        let mut page = log();
        page[1..3].fill(0);
        assert_eq!(SmartLog::decode(&page).expect("long enough").celsius, None);
    }

    #[test]
    fn a_short_log_is_refused_by_name() {
        let error = SmartLog::decode(&log()[..511]).expect_err("one byte is missing");
        assert_eq!(english(&error.message()), "SMART log has 511 bytes, 512 are needed");
    }
}
