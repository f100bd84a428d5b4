//! What drives said of their health while a step ran.

use serde::{Deserialize, Serialize};

/// Write amplification is given from this much written on: drives count what hosts wrote in units of 512,000 bytes, and
/// write their own notes beside it.
const AMPLIFICATION_BYTES_MIN: u64 = 64 << 20;

/// Who was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum HealthSource {
    /// The drive itself, by its SMART log. Needs root.
    Nvme,
    /// The kernel's hwmon sensor: temperature alone.
    Hwmon,
}

/// One look. `None`: the source does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DriveSample {
    /// Since the start of the measured window.
    pub at_ns: u64,
    /// Composite temperature.
    pub celsius: Option<f64>,
    /// Byte of critical warnings (NVMe SMART byte 0).
    pub critical_warning: Option<u8>,
    /// Bytes hosts wrote over the drive's life.
    pub host_written_bytes: Option<u64>,
    /// Bytes written to the media over the drive's life.
    pub nand_written_bytes: Option<u64>,
    /// Times the drive began to slow down because of heat, lightly and heavily, over its life.
    pub throttle_transitions: Option<[u32; 2]>,
    /// How much it is slowed down now; 0: not (OCP).
    pub throttle_level: Option<u8>,
    /// Minutes at or above the warning temperature over its life.
    pub warning_minutes: Option<u32>,
}

/// Looks at one drive through a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DriveSeries {
    /// Kernel name, e.g. `nvme0n1`.
    pub device: String,
    /// Who was asked.
    pub source: HealthSource,
    /// Temperature from which it warns.
    pub warning_celsius: Option<f64>,
    /// Temperature from which it may stop.
    pub critical_celsius: Option<f64>,
    /// In the order of time; the first before or at the start of the window, the last at or after its end.
    pub samples: Vec<DriveSample>,
}

/// Why a drive counts as slowed down by heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ThrottleSign {
    /// It says that it is slowed down.
    Level,
    /// It began to slow down within the step.
    Transition,
    /// It warns of its temperature.
    CriticalWarning,
    /// Its temperature reached the one from which it warns.
    WarningTemperature,
}

impl DriveSeries {
    /// Difference of a counter from the first look to the last.
    fn rise(&self, of: impl Fn(&DriveSample) -> Option<u64>) -> Option<u64> {
        let [first, .., last] = &self.samples[..] else { return None };
        of(last)?.checked_sub(of(first)?)
    }

    /// Bytes hosts wrote while the step ran, to 512,000.
    #[must_use]
    pub fn host_written_bytes(&self) -> Option<u64> {
        self.rise(|s| s.host_written_bytes)
    }

    /// Bytes written to the media while the step ran.
    #[must_use]
    pub fn nand_written_bytes(&self) -> Option<u64> {
        self.rise(|s| s.nand_written_bytes)
    }

    /// Bytes written to the media per byte written by hosts; `None` where the drive does not tell, or too little was
    /// written to tell.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        let host = self.host_written_bytes().filter(|bytes| *bytes >= AMPLIFICATION_BYTES_MIN)?;
        Some(self.nand_written_bytes()? as f64 / host as f64)
    }

    /// Highest temperature seen.
    #[must_use]
    pub fn celsius_max(&self) -> Option<f64> {
        self.samples.iter().filter_map(|s| s.celsius).max_by(f64::total_cmp)
    }

    /// The strongest sign that heat slowed it down.
    #[must_use]
    pub fn throttle_sign(&self) -> Option<ThrottleSign> {
        let transitions = |s: &DriveSample| s.throttle_transitions.map(|t| u64::from(t[0]) + u64::from(t[1]));
        if self.samples.iter().any(|s| s.throttle_level.is_some_and(|level| level > 0)) {
            Some(ThrottleSign::Level)
        } else if self.rise(transitions).is_some_and(|n| n > 0) {
            Some(ThrottleSign::Transition)
        } else if self.samples.iter().any(DriveSample::warns_of_heat) {
            Some(ThrottleSign::CriticalWarning)
        } else if self.celsius_max().zip(self.warning_celsius).is_some_and(|(max, warning)| max >= warning) {
            Some(ThrottleSign::WarningTemperature)
        } else {
            None
        }
    }

    /// Looks during which the drive showed itself hot or slowed down, so that charts can mark them.
    #[must_use]
    pub fn hot_samples(&self) -> Vec<bool> {
        let warning = self.warning_celsius.unwrap_or(f64::INFINITY);
        let rose = |at: usize| {
            let before = at.checked_sub(1).and_then(|i| self.samples[i].throttle_transitions);
            before.zip(self.samples[at].throttle_transitions).is_some_and(|(before, now)| now != before)
        };
        let hot = |(at, s): (usize, &DriveSample)| {
            s.throttle_level.is_some_and(|level| level > 0)
                || s.warns_of_heat()
                || s.celsius.is_some_and(|c| c >= warning)
                || rose(at)
        };
        self.samples.iter().enumerate().map(hot).collect()
    }
}

impl DriveSample {
    /// Bit 1 of the critical warnings: a temperature is beyond a threshold.
    fn warns_of_heat(&self) -> bool {
        self.critical_warning.is_some_and(|byte| byte & 0b10 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(samples: Vec<DriveSample>) -> DriveSeries {
        DriveSeries {
            device: "nvme0n1".into(),
            source: HealthSource::Nvme,
            warning_celsius: Some(70.0),
            critical_celsius: Some(80.0),
            samples,
        }
    }

    fn written(host_mib: u64, nand_mib: u64) -> DriveSample {
        DriveSample {
            host_written_bytes: Some(host_mib << 20),
            nand_written_bytes: Some(nand_mib << 20),
            ..DriveSample::default()
        }
    }

    #[test]
    fn amplification_is_what_the_media_took_per_byte_of_the_host() {
        let all = series(vec![written(1000, 5000), written(1050, 5050), written(1100, 5250)]);
        assert_eq!(all.host_written_bytes(), Some(100 << 20));
        assert_eq!(all.write_amplification(), Some(2.5));
    }

    #[test]
    fn too_little_written_or_a_single_look_tells_no_amplification() {
        assert_eq!(series(vec![written(0, 0), written(63, 500)]).write_amplification(), None);
        assert_eq!(series(vec![written(0, 0)]).host_written_bytes(), None);
        let silent = DriveSample { nand_written_bytes: None, ..written(1000, 0) };
        assert_eq!(series(vec![written(0, 0), silent]).write_amplification(), None);
    }

    #[test]
    fn each_sign_of_heat_is_found_and_the_strongest_is_named() {
        let cool = DriveSample { celsius: Some(50.0), throttle_transitions: Some([3, 0]), ..DriveSample::default() };
        assert_eq!(series(vec![cool.clone(), cool.clone()]).throttle_sign(), None);
        let warm = DriveSample { celsius: Some(70.0), ..cool.clone() };
        assert_eq!(series(vec![cool.clone(), warm.clone()]).throttle_sign(), Some(ThrottleSign::WarningTemperature));
        let warns = DriveSample { critical_warning: Some(0b10), ..warm.clone() };
        assert_eq!(series(vec![cool.clone(), warns.clone()]).throttle_sign(), Some(ThrottleSign::CriticalWarning));
        let stepped = DriveSample { throttle_transitions: Some([4, 0]), ..warns };
        let all = series(vec![cool.clone(), warm, stepped.clone()]);
        assert_eq!(all.throttle_sign(), Some(ThrottleSign::Transition));
        assert_eq!(all.hot_samples(), [false, true, true]);
        let slowed = DriveSample { throttle_level: Some(1), ..cool.clone() };
        assert_eq!(series(vec![slowed, cool]).throttle_sign(), Some(ThrottleSign::Level));
    }
}
