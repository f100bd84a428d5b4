//! Identify Controller and Identify Namespace.

use serde::{Deserialize, Serialize};

use crate::bytes::{Page, ShortPage, celsius};

/// Length of every Identify page.
const IDENTIFY_BYTES: usize = 4096;
/// Most formats a namespace lists (NVM, figure "Identify Namespace").
const FORMATS_MAX: usize = 64;
/// Most power states of a controller (Base, figure "Identify Controller").
const POWER_STATES_MAX: usize = 32;

/// What a controller says of itself (Base 2.0, figure "Identify Controller Data Structure").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Controller {
    /// PCI vendor.
    pub vendor_id: u16,
    /// Serial number; empty when it was removed from a capture.
    pub serial: String,
    /// Model.
    pub model: String,
    /// Firmware revision.
    pub firmware: String,
    /// Specification it implements: major, minor, tertiary.
    pub version: (u16, u8, u8),
    /// Largest transfer as a power of two of the smallest memory page (4 KiB on every known drive); `None`: no limit.
    pub max_transfer_pages: Option<u64>,
    /// Format NVM is implemented.
    pub can_format: bool,
    /// Namespace Management is implemented.
    pub can_manage_namespaces: bool,
    /// What Sanitize can do.
    pub sanitize: SanitizeSupport,
    /// Composite temperature from which the controller warns.
    pub warning_celsius: Option<i32>,
    /// Composite temperature from which it may stop or lose data.
    pub critical_celsius: Option<i32>,
    /// Host controlled thermal management is implemented.
    pub has_thermal_management: bool,
    /// Autonomous power state transitions are implemented.
    pub has_autonomous_transitions: bool,
    /// Capacity of all namespaces together; `None` when not reported.
    pub capacity_bytes: Option<u64>,
    /// Namespaces it can have.
    pub namespaces_max: u32,
    /// Compare is implemented.
    pub has_compare: bool,
    /// Dataset Management (trim) is implemented.
    pub has_trim: bool,
    /// Write Zeroes is implemented.
    pub has_write_zeroes: bool,
    /// Format applies to all namespaces, whichever is named.
    pub format_all_namespaces: bool,
    /// Secure erase applies to all namespaces, whichever is named.
    pub erase_all_namespaces: bool,
    /// Cryptographic erase as part of Format NVM.
    pub can_crypto_erase: bool,
    /// A volatile write cache is present.
    pub has_write_cache: bool,
    /// Power states, from 0.
    pub power_states: Vec<PowerState>,
}

/// What Sanitize can do (Base, SANICAP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizeSupport {
    /// Cryptographic erase.
    pub crypto_erase: bool,
    /// Block erase.
    pub block_erase: bool,
    /// Overwrite.
    pub overwrite: bool,
}

/// A power state (Base, figure "Power State Descriptor").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerState {
    /// Most power it takes, watts; `None` when not reported.
    pub max_watts: Option<f64>,
    /// I/O is possible in it.
    pub operational: bool,
    /// Time to enter, microseconds; 0: not reported.
    pub entry_us: u32,
    /// Time to leave, microseconds; 0: not reported.
    pub exit_us: u32,
}

impl Controller {
    /// Decodes an Identify Controller page.
    ///
    /// # Errors
    /// [`ShortPage`] below 4096 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ShortPage> {
        let page = Page::<IDENTIFY_BYTES>::new("Identify Controller", bytes)?;
        let version = page.u32(80);
        let (mdts, oacs, oncs, fna) = (page.u8(77), page.u16(256), page.u16(520), page.u8(524));
        let sanicap = page.u32(328);
        let capacity_bytes = page.u128(280);
        Ok(Controller {
            vendor_id: page.u16(0),
            serial: page.text(4, 20),
            model: page.text(24, 40),
            firmware: page.text(64, 8),
            version: ((version >> 16) as u16, (version >> 8) as u8, version as u8),
            max_transfer_pages: (mdts != 0).then(|| 1_u64.checked_shl(u32::from(mdts)).unwrap_or(u64::MAX)),
            can_format: oacs & 1 << 1 != 0,
            can_manage_namespaces: oacs & 1 << 3 != 0,
            sanitize: SanitizeSupport {
                crypto_erase: sanicap & 1 != 0,
                block_erase: sanicap & 1 << 1 != 0,
                overwrite: sanicap & 1 << 2 != 0,
            },
            warning_celsius: celsius(page.u16(266)),
            critical_celsius: celsius(page.u16(268)),
            has_thermal_management: page.u16(322) & 1 != 0,
            has_autonomous_transitions: page.u8(265) & 1 != 0,
            capacity_bytes: (capacity_bytes != 0).then_some(capacity_bytes),
            namespaces_max: page.u32(516),
            has_compare: oncs & 1 != 0,
            has_trim: oncs & 1 << 2 != 0,
            has_write_zeroes: oncs & 1 << 3 != 0,
            format_all_namespaces: fna & 1 != 0,
            erase_all_namespaces: fna & 1 << 1 != 0,
            can_crypto_erase: fna & 1 << 2 != 0,
            has_write_cache: page.u8(525) & 1 != 0,
            power_states: power_states(&page),
        })
    }

    /// Takes what identifies this one drive out of an Identify Controller page: serial number, controller GUID and the
    /// NQN, which contains the serial number on most drives.
    pub fn anonymize(bytes: &mut [u8]) {
        wipe(bytes, 4..24, b' ');
        wipe(bytes, 112..128, 0);
        wipe(bytes, 768..1024, 0);
    }
}

fn wipe(bytes: &mut [u8], range: std::ops::Range<usize>, with: u8) {
    if let Some(part) = bytes.get_mut(range) {
        part.fill(with);
    }
}

fn power_states(page: &Page<'_, IDENTIFY_BYTES>) -> Vec<PowerState> {
    let last = usize::from(page.u8(263)).min(POWER_STATES_MAX - 1);
    let state = |index: usize| {
        let at = 2048 + 32 * index;
        let (power, flags) = (page.u16(at), page.u8(at + 3));
        let unit_watts = if flags & 1 != 0 { 0.0001 } else { 0.01 };
        PowerState {
            max_watts: (power != 0).then(|| f64::from(power) * unit_watts),
            operational: flags & 2 == 0,
            entry_us: page.u32(at + 4),
            exit_us: page.u32(at + 8),
        }
    };
    (0..=last).map(state).collect()
}

/// A way to format a namespace (NVM, figure "LBA Format Data Structure").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbaFormat {
    /// Bytes of data per logical block; `None` when the controller does not offer the format.
    pub data_bytes: Option<u32>,
    /// Bytes of metadata per logical block.
    pub metadata_bytes: u16,
    /// 0 best, 1 better, 2 good, 3 degraded.
    pub relative_performance: u8,
}

/// What a namespace says of itself (NVM 1.0, figure "Identify Namespace Data Structure").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// Size in logical blocks.
    pub size_blocks: u64,
    /// Blocks that may be allocated at once.
    pub capacity_blocks: u64,
    /// Blocks allocated now.
    pub used_blocks: u64,
    /// Formats it can have.
    pub formats: Vec<LbaFormat>,
    /// Index of the format it has.
    pub format: usize,
    /// Metadata lies behind each block's data rather than in a buffer of its own.
    pub metadata_inline: bool,
    /// Type of end-to-end protection; 0: none.
    pub protection_type: u8,
    /// Protection information lies in the first bytes of the metadata rather than the last.
    #[serde(default)]
    pub protection_first: bool,
    /// Percent of a format under way that are left; `None` when the drive does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format_remaining_pct: Option<u8>,
    /// Preferred write granularity in logical blocks; `None` when not reported.
    pub write_granularity_blocks: Option<u32>,
    /// I/O that crosses a multiple of this many logical blocks is slower; `None` when not reported.
    pub optimal_boundary_blocks: Option<u16>,
}

impl Namespace {
    /// Decodes an Identify Namespace page.
    ///
    /// # Errors
    /// [`ShortPage`] below 4096 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ShortPage> {
        let page = Page::<IDENTIFY_BYTES>::new("Identify Namespace", bytes)?;
        let listed = (usize::from(page.u8(25)) + 1).min(FORMATS_MAX);
        let formatted = page.u8(26);
        let high = if listed > 16 { usize::from(formatted >> 5 & 0b11) << 4 } else { 0 };
        let granularity = page.u16(64);
        let boundary = page.u16(46);
        Ok(Namespace {
            size_blocks: page.u64(0),
            capacity_blocks: page.u64(8),
            used_blocks: page.u64(16),
            formats: (0..listed).map(|index| format(page.u32(128 + 4 * index))).collect(),
            format: high | usize::from(formatted & 0xf),
            metadata_inline: formatted & 1 << 4 != 0,
            protection_type: page.u8(29) & 0b111,
            protection_first: page.u8(29) & 1 << 3 != 0,
            format_remaining_pct: (page.u8(32) & 1 << 7 != 0).then_some(page.u8(32) & 0x7f),
            // Byte 24 bit 4 says that the field is meant.
            write_granularity_blocks: (page.u8(24) & 1 << 4 != 0).then(|| u32::from(granularity) + 1),
            optimal_boundary_blocks: (boundary != 0).then_some(boundary),
        })
    }

    /// Bytes of data per logical block; `None` when the page contradicts itself.
    #[must_use]
    pub fn block_bytes(&self) -> Option<u32> {
        self.formats.get(self.format)?.data_bytes
    }

    /// Bytes of metadata per logical block of the format it has.
    #[must_use]
    pub fn metadata_bytes(&self) -> u16 {
        self.formats.get(self.format).map_or(0, |format| format.metadata_bytes)
    }

    /// Takes the identifiers of this one namespace (NGUID, EUI64) out of an Identify Namespace page.
    pub fn anonymize(bytes: &mut [u8]) {
        wipe(bytes, 104..128, 0);
    }
}

fn format(word: u32) -> LbaFormat {
    let exponent = word >> 16 & 0xff;
    // Below 512 bytes the specification knows no block; 0 marks a format that is not offered.
    let data_bytes = (9..32).contains(&exponent).then(|| 1 << exponent);
    LbaFormat { data_bytes, metadata_bytes: word as u16, relative_performance: (word >> 24 & 0b11) as u8 }
}

#[cfg(test)]
pub(crate) mod tests;
