//! What an NVMe drive warns of.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

/// Bits of the critical warning (Base, SMART byte 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CriticalWarning {
    /// Spare space is below its threshold.
    pub spare_low: bool,
    /// A temperature is beyond a threshold.
    pub temperature: bool,
    /// Reliability is degraded by media or internal errors.
    pub degraded: bool,
    /// The media is read-only.
    pub read_only: bool,
    /// The backup of volatile memory has failed.
    pub backup_failed: bool,
    /// Persistent memory is unreliable or read-only.
    pub persistent_memory: bool,
}

impl CriticalWarning {
    /// From the byte of the log.
    #[must_use]
    pub fn of(byte: u8) -> Self {
        let bit = |n: u8| byte & 1 << n != 0;
        CriticalWarning {
            spare_low: bit(0),
            temperature: bit(1),
            degraded: bit(2),
            read_only: bit(3),
            backup_failed: bit(4),
            persistent_memory: bit(5),
        }
    }

    /// What is warned of, one message each; empty when nothing is.
    #[must_use]
    pub fn messages(self) -> Vec<Message> {
        let all = [
            (self.spare_low, msg!("nvme-warning-spare")),
            (self.temperature, msg!("nvme-warning-temperature")),
            (self.degraded, msg!("nvme-warning-degraded")),
            (self.read_only, msg!("nvme-warning-read-only")),
            (self.backup_failed, msg!("nvme-warning-backup")),
            (self.persistent_memory, msg!("nvme-warning-persistent-memory")),
        ];
        all.into_iter().filter_map(|(set, message)| set.then_some(message)).collect()
    }
}
