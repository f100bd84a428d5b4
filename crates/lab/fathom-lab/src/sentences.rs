//! Words for warnings and values. Fronts print them as they are.

use fathom_record::Warning;
use fathom_units::{format_bytes, format_iops, format_ns, format_rate};

use crate::health::throttled_text;

/// A value with its unit for people: scaled to three significant digits.
pub(crate) fn scaled(value: f64, unit: &str) -> String {
    match unit {
        "iops" => format_iops(value),
        "ns" => format_ns(value),
        "bytes" => format_bytes(value as u64),
        "bytes_per_s" => format_rate(value),
        _ => format!("{value:.2} {unit}"),
    }
}

/// One sentence per warning: what, and what to do.
pub(crate) fn warning_text(warning: &Warning) -> String {
    match warning {
        Warning::EngineOverhead { share_pct } => format!(
            "Fathom's own loop and its batch stamps are up to {share_pct:.1} % of the mean latency; `--paranoid` stamps each I/O."
        ),
        Warning::FeatureMissing { feature, reason } => format!("{feature} was not in force: {reason}."),
        Warning::LittlesLaw { computed, in_flight } => format!(
            "Little's law is violated: IOPS x mean latency = {computed:.2}, but {in_flight:.2} I/Os were in flight. \
             Do not trust the latencies of this step."
        ),
        Warning::DiskstatsDisagree { device, ours, kernel } if kernel > ours => format!(
            "The kernel counted {kernel} I/Os on {device}, Fathom {ours}: another program used the device, or I/Os were split; stop that program, or measure a device that nothing else uses."
        ),
        Warning::DiskstatsDisagree { device, ours, kernel } => format!(
            "The kernel counted {kernel} I/Os on {device}, Fathom {ours}: another program used the device, or I/Os were split or merged."
        ),
        Warning::ReadsOfUnwrittenSpace { unwritten_pct } => {
            format!("{unwritten_pct:.0} % of the region was never written: such reads may not reach the media.")
        }
        Warning::PageCache { cached_bytes } => {
            format!(
                "The page cache held {} of the target: these figures are not the drive's alone.",
                scaled(*cached_bytes as f64, "bytes")
            )
        }
        Warning::SmallFootprint { footprint_bytes } => format!(
            "The footprint of {} may fit a drive's cache; a larger `--size` shows the media.",
            scaled(*footprint_bytes as f64, "bytes")
        ),
        Warning::WideInterval { half_width_pct } => {
            format!("The 95 % interval is still +-{half_width_pct:.1} % when the time was up; a longer run narrows it.")
        }
        Warning::NotSteady { drift_pct_per_minute } => {
            format!("Not steady: IOPS drifted by {drift_pct_per_minute:+.0} % a minute over the window.")
        }
        Warning::RateUnsustainable { intended_iops, achieved_iops } => format!(
            "The rate of {} IOPS is not sustainable: {} were done and the backlog grew, so latencies mean nothing and are not shown.",
            format_iops(*intended_iops),
            format_iops(*achieved_iops)
        ),
        Warning::IoErrors { count, errno } => {
            format!("{count} I/Os failed; the first: {}.", cause_of(*errno))
        }
        Warning::NoisyHost { steal_pct, baseline_busy_cores } => format!(
            "The host was noisy: {steal_pct:.1} % of the CPU time was stolen by the hypervisor and {baseline_busy_cores:.2} cores were busy before the run."
        ),
        Warning::Throttled { device, sign, celsius_max } => throttled_text(device, *sign, *celsius_max),
        Warning::Migrated { thread } => format!("Thread {thread} was pinned but seen on another CPU."),
        Warning::ClockDrift { ppm } => format!("The TSC drifted {ppm:.0} ppm against CLOCK_MONOTONIC."),
        Warning::VerifyFailed { blocks } => {
            format!("{blocks} blocks came back damaged: see the verification part of the step.")
        }
        Warning::SlowMember { target, share_pct } => {
            format!("{target} gives {share_pct:.0} % of its fellows' median: look at its temperature, link and wear.")
        }
        Warning::CutShort { done_pct } => format!(
            "The time budget ended this phase at {done_pct:.0} %: what follows stands on a drive conditioned in part."
        ),
        Warning::Interrupted => "Stopped before its length: the figures cover what ran.".to_owned(),
        Warning::Note { text } => text.clone(),
    }
}

/// An errno in words; 0 is that of a transfer that met the end of its target.
fn cause_of(errno: i32) -> String {
    if errno == 0 {
        return "less was moved than asked, as at the end of a target; a drive that was pulled has no bytes left"
            .to_owned();
    }
    std::io::Error::from_raw_os_error(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_an_errno_is_not_called_a_success() {
        let text = warning_text(&Warning::IoErrors { count: 3, errno: 0 });
        assert!(text.contains("3 I/Os failed") && text.contains("end of a target"), "{text}");
        let text = warning_text(&Warning::IoErrors { count: 1, errno: 5 });
        assert!(text.contains("(os error 5)"), "{text}");
    }
}
