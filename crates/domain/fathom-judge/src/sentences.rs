//! What is said of each warning: what it is, and what to do.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_record::Warning;

use crate::health::throttled_message;

/// One sentence or two per warning.
pub(crate) fn warning_text(warning: &Warning) -> Message {
    match warning {
        Warning::FeatureMissing { feature, reason } => {
            msg!("warning-feature-missing", feature = feature.to_string(), reason = reason)
        }
        Warning::Note { text } => text.clone(),
        Warning::EngineOverhead { share_pct } => msg!("warning-engine-overhead", share = Quantity::pct(*share_pct)),
        Warning::LittlesLaw { computed, depth } => {
            msg!("warning-littles-law", computed = counted(*computed), depth = counted(*depth))
        }
        Warning::DiskstatsDisagree { devices, ours, kernel } => disagreement(devices, *ours, *kernel),
        Warning::ReadsOfUnwrittenSpace { unwritten_pct } => {
            msg!("warning-unwritten-space", share = Quantity::pct(*unwritten_pct))
        }
        Warning::PageCache { cached_bytes } => msg!("warning-page-cache", cached = Quantity::bytes(*cached_bytes)),
        Warning::SmallFootprint { footprint_bytes } => {
            msg!("warning-small-footprint", footprint = Quantity::bytes(*footprint_bytes))
        }
        Warning::WideInterval { half_width_pct } => {
            msg!("warning-wide-interval", half = Quantity::pct(*half_width_pct))
        }
        Warning::NotSteady { drift_pct_per_minute } => {
            msg!("warning-not-steady", drift = Quantity::new(*drift_pct_per_minute, Unit::PctPerMinute))
        }
        Warning::RateUnsustainable { intended_iops, achieved_iops } => msg!(
            "warning-rate-unsustainable",
            intended = Quantity::iops(*intended_iops),
            achieved = Quantity::iops(*achieved_iops)
        ),
        Warning::ReplayLate { late_ns, gap_ns } => msg!(
            "warning-replay-late",
            late = Quantity::new(*late_ns, Unit::Ns),
            gap = Quantity::new(*gap_ns, Unit::Ns)
        ),
        Warning::IoErrors { count, errno } => msg!("warning-io-errors", count = *count, cause = cause_of(*errno)),
        Warning::NoisyHost { steal_pct, other_busy_cores } => {
            msg!("warning-noisy-host", stolen = Quantity::pct(*steal_pct), cores = Quantity::cores(*other_busy_cores))
        }
        Warning::Throttled { device, sign, celsius_max } => throttled_message(device, *sign, *celsius_max),
        Warning::MemberLost { array, member, errno } => msg!(
            "warning-member-lost",
            array = array.as_str().to_owned(),
            member = member.as_str().to_owned(),
            error = std::io::Error::from_raw_os_error(*errno)
        ),
        Warning::ArraySyncing { device, action } => {
            msg!("warning-array-syncing", array = device, action = action.as_str())
        }
        Warning::ArrayDegraded { device, lost } => msg!("warning-array-degraded", array = device, count = *lost),
        Warning::Migrated { thread } => msg!("warning-migrated", thread = *thread),
        Warning::ClockDrift { ppm } => msg!("warning-clock-drift", drift = Quantity::new(*ppm, Unit::Ppm)),
        Warning::VerifyFailed { blocks } => msg!("warning-verify-failed", blocks = *blocks),
        Warning::SlowMember { target, share_pct } => {
            msg!("warning-slow-member", target = target.as_str().to_owned(), share = Quantity::pct(*share_pct))
        }
        Warning::CutShort { done_pct } => msg!("warning-cut-short", done = Quantity::pct(*done_pct)),
        Warning::Interrupted => msg!("warning-interrupted"),
    }
}

/// A mean number of things.
pub(crate) fn counted(value: f64) -> Quantity {
    Quantity::new(value, Unit::Count)
}

/// What to do is said only where the kernel counted more: less has causes of its own.
fn disagreement(devices: &[String], ours: u64, kernel: u64) -> Message {
    let devices = Arg::names(devices.iter().cloned(), Join::Comma);
    match kernel > ours {
        true => msg!("warning-diskstats-more", devices = devices, ours = ours, kernel = kernel),
        false => msg!("warning-diskstats-fewer", devices = devices, ours = ours, kernel = kernel),
    }
}

/// What the operating system says of an errno; 0 is that of a transfer that met the end of its target.
fn cause_of(errno: i32) -> Message {
    match errno {
        0 => msg!("cause-short-transfer"),
        _ => Message::verbatim(std::io::Error::from_raw_os_error(errno).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::{Language, english};
    use fathom_record::{MdSync, ThrottleSign};

    #[test]
    fn a_failure_without_an_errno_is_not_called_a_success() {
        let text = english(&warning_text(&Warning::IoErrors { count: 3, errno: 0 }));
        assert!(text.contains("3 I/Os failed") && text.contains("end of a target"), "{text}");
        let text = english(&warning_text(&Warning::IoErrors { count: 1, errno: 5 }));
        assert!(text.contains("(os error 5)"), "{text}");
    }

    #[test]
    fn every_warning_has_words_for_its_figures_in_each_language() {
        let devices = || vec!["vda".to_owned(), "vdb".to_owned()];
        let throttled = |sign, celsius_max| Warning::Throttled { device: "nvme0n1".into(), sign, celsius_max };
        let warnings = [
            Warning::EngineOverhead { share_pct: 7.25 },
            Warning::FeatureMissing {
                feature: fathom_record::FeatureName::Iopoll,
                reason: msg!("cause-short-transfer"),
            },
            Warning::LittlesLaw { computed: 4.56, depth: 4.0 },
            Warning::DiskstatsDisagree { devices: devices(), ours: 100, kernel: 130 },
            Warning::DiskstatsDisagree { devices: devices(), ours: 130, kernel: 100 },
            Warning::ReadsOfUnwrittenSpace { unwritten_pct: 100.0 },
            Warning::PageCache { cached_bytes: 1 << 20 },
            Warning::SmallFootprint { footprint_bytes: 64 << 20 },
            Warning::WideInterval { half_width_pct: 6.3 },
            Warning::NotSteady { drift_pct_per_minute: -12.0 },
            Warning::RateUnsustainable { intended_iops: 20e3, achieved_iops: 15e3 },
            Warning::ReplayLate { late_ns: 3e6, gap_ns: 1e6 },
            Warning::IoErrors { count: 1, errno: 5 },
            Warning::NoisyHost { steal_pct: 2.5, other_busy_cores: 0.31 },
            throttled(ThrottleSign::Level, Some(81.6)),
            throttled(ThrottleSign::Transition, None),
            throttled(ThrottleSign::CriticalWarning, Some(70.0)),
            throttled(ThrottleSign::WarningTemperature, None),
            Warning::MemberLost { array: "raid5:64k:/a,/b,/c".into(), member: "/b".into(), errno: 5 },
            Warning::ArraySyncing { device: "md0".into(), action: MdSync::Recover },
            Warning::ArrayDegraded { device: "md0".into(), lost: 1 },
            Warning::Migrated { thread: 3 },
            Warning::ClockDrift { ppm: 120.0 },
            Warning::VerifyFailed { blocks: 1 },
            Warning::SlowMember { target: "d.bin".into(), share_pct: 62.0 },
            Warning::CutShort { done_pct: 40.0 },
            Warning::Interrupted,
            Warning::Note { text: Message::verbatim("a remark") },
        ];
        for warning in warnings {
            for language in Language::ALL {
                let said = language.try_say(&warning_text(&warning));
                assert!(said.is_ok(), "{language} {warning:?}: {said:?}");
            }
        }
    }

    #[test]
    fn figures_of_warnings_are_shown_with_their_units_and_numbers_agree() {
        let said = |warning| english(&warning_text(&warning));
        let drift = said(Warning::NotSteady { drift_pct_per_minute: -12.0 });
        assert!(drift.contains("drifted by -12 % a minute"), "{drift}");
        let rate = said(Warning::RateUnsustainable { intended_iops: 20e3, achieved_iops: 15e3 });
        assert!(rate.starts_with("The rate of 20.0k IOPS is not sustainable: 15.0k were done"), "{rate}");
        let noisy = said(Warning::NoisyHost { steal_pct: 2.5, other_busy_cores: 0.31 });
        assert!(noisy.contains("2.5 % of the CPU time") && noisy.contains("0.31 cores were busy"), "{noisy}");
        assert!(said(Warning::VerifyFailed { blocks: 1 }).starts_with("1 block came back damaged"));
        assert!(said(Warning::VerifyFailed { blocks: 2 }).starts_with("2 blocks came back damaged"));
    }
}
