//! Health of the drives over a step: figures and series for the report, and the warning when heat was in play.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_record::{CriticalWarning, DriveSeries, Interval, StepRecord, ThrottleSign, Warning};

use crate::document::{DriveHealthView, HealthSampleView};

/// Views of all drives that reported something.
pub(crate) fn drive_health(record: &StepRecord) -> Vec<DriveHealthView> {
    record.host.iter().flat_map(|host| &host.drives).filter_map(drive_view).collect()
}

fn drive_view(series: &DriveSeries) -> Option<DriveHealthView> {
    let (first, last) = (series.samples.first()?, series.samples.last()?);
    let warned = series.samples.iter().filter_map(|s| s.critical_warning).fold(0, |all, byte| all | byte);
    let since = |now: Option<u64>, first: Option<u64>| now?.checked_sub(first?);
    let samples = series.samples.iter().zip(series.hot_samples()).map(|(sample, hot)| HealthSampleView {
        at_s: sample.at_ns as f64 / 1e9,
        celsius: sample.celsius,
        hot,
        host_written_bytes: since(sample.host_written_bytes, first.host_written_bytes),
        nand_written_bytes: since(sample.nand_written_bytes, first.nand_written_bytes),
    });
    Some(DriveHealthView {
        device: series.device.clone(),
        source: series.source,
        celsius_first: first.celsius,
        celsius_last: last.celsius,
        celsius_max: series.celsius_max(),
        warning_celsius: series.warning_celsius,
        critical_celsius: series.critical_celsius,
        host_written_bytes: series.host_written_bytes(),
        nand_written_bytes: series.nand_written_bytes(),
        write_amplification: series.write_amplification(),
        throttled: series.throttle_sign(),
        critical_warnings: CriticalWarning::of(warned).messages(),
        samples: samples.collect(),
    })
}

/// Which intervals to mark as hot: those that a hot look at one of the drives may speak for, from the look before it
/// (since when it may have been so) to the look after it. Empty without any look.
pub(crate) fn hot_intervals(drives: &[DriveSeries], intervals: &[Interval]) -> Vec<bool> {
    if drives.iter().all(|d| d.samples.is_empty()) {
        return Vec::new();
    }
    let spans: Vec<(u64, u64)> = drives.iter().flat_map(hot_spans).collect();
    let is_hot = |i: &Interval| spans.iter().any(|(from, to)| *from < i.start_ns + i.length_ns && i.start_ns < *to);
    intervals.iter().map(is_hot).collect()
}

fn hot_spans(series: &DriveSeries) -> Vec<(u64, u64)> {
    let at = |i: usize| series.samples.get(i).map(|s| s.at_ns);
    let hot = series.hot_samples().into_iter().enumerate().filter(|(_, hot)| *hot);
    hot.map(|(i, _)| (i.checked_sub(1).and_then(at).unwrap_or(0), at(i + 1).unwrap_or(u64::MAX))).collect()
}

/// A warning for each drive that heat slowed down, or that said it would.
pub(crate) fn heat_warnings(record: &StepRecord) -> Vec<Warning> {
    let warning = |series: &DriveSeries| {
        let (device, celsius_max) = (series.device.clone(), series.celsius_max());
        series.throttle_sign().map(|sign| Warning::Throttled { device, sign, celsius_max })
    };
    record.host.iter().flat_map(|host| &host.drives).filter_map(warning).collect()
}

/// What is said of [`Warning::Throttled`].
pub(crate) fn throttled_message(device: &str, sign: ThrottleSign, celsius_max: Option<f64>) -> Message {
    let device = device.to_owned();
    let what = match sign {
        ThrottleSign::Level => msg!("heat-level", device = device),
        ThrottleSign::Transition => msg!("heat-transition", device = device),
        ThrottleSign::CriticalWarning => msg!("heat-critical-warning", device = device),
        ThrottleSign::WarningTemperature => msg!("heat-warning-temperature", device = device),
    };
    let celsius = celsius_max.map(|c| Quantity::new(c, Unit::Celsius));
    let what = match celsius {
        Some(celsius) => msg!("heat-at", what = what, celsius = celsius),
        None => what,
    };
    msg!("warning-throttled", what = what)
}

#[cfg(test)]
mod tests {
    use fathom_record::{DriveSample, HealthSource};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn sample(at_ns: u64, celsius: f64, host_written_bytes: u64) -> DriveSample {
        DriveSample {
            at_ns,
            celsius: Some(celsius),
            critical_warning: Some(0),
            host_written_bytes: Some(host_written_bytes),
            nand_written_bytes: Some(host_written_bytes * 3),
            ..DriveSample::default()
        }
    }

    fn series(samples: Vec<DriveSample>) -> DriveSeries {
        DriveSeries {
            device: "nvme0n1".into(),
            source: HealthSource::Nvme,
            warning_celsius: Some(70.0),
            critical_celsius: None,
            samples,
        }
    }

    #[test]
    fn a_view_counts_from_the_first_look_and_marks_the_hot_ones() {
        let mut hot = sample(2_000_000_000, 71.0, 300 << 20);
        hot.critical_warning = Some(0b100);
        let view = drive_view(&series(vec![sample(0, 40.0, 100 << 20), hot])).expect("two looks");
        assert_eq!((view.celsius_first, view.celsius_last, view.celsius_max), (Some(40.0), Some(71.0), Some(71.0)));
        assert_eq!((view.host_written_bytes, view.write_amplification), (Some(200 << 20), Some(3.0)));
        assert_eq!(view.samples.iter().map(|s| s.hot).collect::<Vec<_>>(), [false, true]);
        assert_eq!(view.samples[1].nand_written_bytes, Some(600 << 20));
        assert_eq!(view.critical_warnings, [fathom_message::msg!("nvme-warning-degraded")]);
        assert_eq!(view.throttled, Some(ThrottleSign::WarningTemperature));
    }

    #[test]
    fn intervals_are_marked_from_the_look_before_a_hot_one_to_the_look_after() {
        let looks = |celsius: [f64; 5]| series((0..).zip(celsius).map(|(s, c)| sample(s * SECOND_NS, c, 0)).collect());
        let interval = |tenth: u64| Interval {
            start_ns: tenth * SECOND_NS / 2,
            length_ns: SECOND_NS / 2,
            directions: Vec::new(),
            syncs: None,
        };
        let intervals: Vec<Interval> = (0..10).map(interval).collect();
        let cool = looks([40.0, 41.0, 42.0, 41.0, 40.0]);
        assert_eq!(hot_intervals(std::slice::from_ref(&cool), &intervals), [false; 10]);
        // Hot at second 2: from second 1 to second 3.
        let hot = looks([40.0, 60.0, 75.0, 60.0, 40.0]);
        let marked: Vec<usize> = hot_intervals(&[cool.clone(), hot], &intervals)
            .into_iter()
            .enumerate()
            .filter_map(|(i, hot)| hot.then_some(i))
            .collect();
        assert_eq!(marked, [2, 3, 4, 5]);
        // Hot at the last look: to the end.
        assert!(hot_intervals(&[looks([40.0, 40.0, 40.0, 40.0, 80.0])], &intervals)[9]);
        assert_eq!(hot_intervals(&[], &intervals), Vec::<bool>::new());
    }

    #[test]
    fn the_sentence_names_the_drive_the_sign_and_the_temperature() {
        let text = fathom_language::english(&throttled_message("nvme0n1", ThrottleSign::Transition, Some(81.6)));
        assert!(text.starts_with("nvme0n1 began to slow down because of heat within the step at up to 82 \u{b0}C"));
        assert_eq!(drive_view(&series(Vec::new())), None);
    }
}
