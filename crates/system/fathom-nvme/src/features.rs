//! Features: settings a controller has now.

use serde::{Deserialize, Serialize};

/// Feature identifiers (Base 2.0, figure "Feature Identifiers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeatureId {
    /// Power Management: the power state.
    PowerManagement = 0x02,
    /// Volatile Write Cache.
    WriteCache = 0x06,
    /// Number of Queues.
    QueueCount = 0x07,
    /// Interrupt Coalescing.
    Coalescing = 0x08,
    /// Autonomous Power State Transition.
    AutonomousTransition = 0x0c,
    /// Host Controlled Thermal Management.
    ThermalManagement = 0x10,
}

impl FeatureId {
    /// Those that Fathom asks a drive for.
    pub const ALL: [FeatureId; 6] = [
        FeatureId::PowerManagement,
        FeatureId::WriteCache,
        FeatureId::QueueCount,
        FeatureId::Coalescing,
        FeatureId::AutonomousTransition,
        FeatureId::ThermalManagement,
    ];
}

/// Interrupt coalescing (Base, feature 08h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// Completions that are waited for at most; 1: an interrupt for each.
    pub completions: u16,
    /// Longest wait, microseconds; 0: no wait.
    pub wait_us: u32,
}

/// Whether it holds interrupts back at all.
impl Coalescing {
    /// Completions wait for others.
    #[must_use]
    pub fn is_on(self) -> bool {
        self.completions > 1 && self.wait_us > 0
    }
}

/// Decodes feature 08h.
#[must_use]
pub fn coalescing(value: u32) -> Coalescing {
    Coalescing { completions: (value & 0xff) as u16 + 1, wait_us: (value >> 8 & 0xff) * 100 }
}

/// Decodes feature 06h.
#[must_use]
pub fn write_cache_enabled(value: u32) -> bool {
    value & 1 != 0
}

/// Decodes feature 07h: submission and completion queues for I/O that the controller granted.
#[must_use]
pub fn queue_counts(value: u32) -> (u32, u32) {
    ((value & 0xffff) + 1, (value >> 16) + 1)
}

/// Host controlled thermal management (Base, feature 10h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalManagement {
    /// It slows down lightly from here on; `None`: off.
    pub light_celsius: Option<i32>,
    /// It slows down heavily from here on; `None`: off.
    pub heavy_celsius: Option<i32>,
}

/// Decodes feature 10h.
#[must_use]
pub fn thermal_management(value: u32) -> ThermalManagement {
    let celsius = |kelvin: u32| (kelvin != 0).then(|| kelvin as i32 - 273);
    ThermalManagement { light_celsius: celsius(value >> 16), heavy_celsius: celsius(value & 0xffff) }
}

/// The step from one power state to a deeper one after idle time (Base, feature 0Ch).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutonomousTransition {
    /// From this state ...
    pub from: u8,
    /// ... to this one ...
    pub to: u8,
    /// ... after so long without I/O, milliseconds.
    pub idle_ms: u32,
}

/// Decodes the table of feature 0Ch: the transitions that are in force. Cut-off tables give what they hold.
#[must_use]
pub fn autonomous_transitions(table: &[u8]) -> Vec<AutonomousTransition> {
    let entry = |(from, bytes): (usize, &[u8])| {
        let word = u32::from_le_bytes(bytes.first_chunk().copied()?);
        let idle_ms = word >> 8;
        (idle_ms != 0).then_some(AutonomousTransition { from: from as u8, to: (word >> 3 & 0x1f) as u8, idle_ms })
    };
    table.chunks_exact(8).take(32).enumerate().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coalescing_counts_completions_from_one_and_time_in_tenths_of_a_millisecond() {
        let set = coalescing(0x0a07);
        assert_eq!((set.completions, set.wait_us, set.is_on()), (8, 1000, true));
        assert!(!coalescing(0).is_on());
        assert!(!coalescing(0x0007).is_on(), "a threshold without time never waits");
    }

    #[test]
    fn queues_are_counted_from_one_in_each_half() {
        assert_eq!(queue_counts(0x001f_003f), (64, 32));
    }

    #[test]
    fn thermal_management_is_in_kelvin_with_the_light_threshold_on_top() {
        let set = thermal_management(353 << 16 | 358);
        assert_eq!((set.light_celsius, set.heavy_celsius), (Some(80), Some(85)));
        assert_eq!(thermal_management(0).light_celsius, None);
    }

    #[test]
    fn transitions_name_the_state_they_start_from_by_their_place() {
        let mut table = [0; 256];
        table[8..12].copy_from_slice(&(100_u32 << 8 | 3 << 3).to_le_bytes());
        let expected = AutonomousTransition { from: 1, to: 3, idle_ms: 100 };
        assert_eq!(autonomous_transitions(&table), [expected]);
        assert_eq!(autonomous_transitions(&table[..11]), []);
    }
}
