//! Whether mode, placement and O_DIRECT were real: a step that the counters disprove fails.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_plan::{Mode, Placement, Step, label_message};
use fathom_record::{FeatureName, FeatureState, HostDelta, StepFailure, StepRecord, ThreadRecord};
use fathom_units::format_cpu_list;

use crate::document::{CheckName, CheckView};

/// Interrupts above this share of the polled I/Os are more than stray ones.
const STRAY_SHARE: f64 = 0.01;
/// Pages of a file that O_DIRECT leaves in the cache at most, beside a hundredth of what was moved.
const STRAY_CACHE_BYTES: u64 = 1 << 20;
/// A kernel thread's time is counted in ticks of up to 10 ms; a shorter window may have none of them.
const SQPOLL_WINDOW_MIN_NS: u64 = 200_000_000;

/// The failure of a step whose mode, placement or O_DIRECT was not what it claims to be; `cached_before_bytes` is what
/// the page cache held of its files before it, where that is known.
#[must_use]
pub fn disproof(step: &Step, record: &StepRecord, cached_before_bytes: Option<u64>) -> Option<StepFailure> {
    let disproved = |proof: &CheckView| proof.ok == Some(false);
    let mode = || {
        let help = match step.engine.mode {
            Mode::Iopoll => msg!("proof-iopoll-help"),
            _ => msg!("proof-sqpoll-help"),
        };
        let failed = mode_proof(step, record).filter(disproved)?;
        let what = msg!("step-mode-on", mode = step.engine.mode.as_str(), targets = target_names(step));
        Some((what, failed.sentence, help))
    };
    let placement = || {
        let failed = pinned(step, record).filter(disproved)?;
        Some((placement_of(step), failed.sentence, msg!("proof-placement-help")))
    };
    let direct = || {
        let sentence = went_through_the_cache(step, record, cached_before_bytes?)?;
        Some((msg!("proof-direct", targets = target_names(step)), sentence, msg!("proof-direct-help")))
    };
    let (what, why, help) = mode().or_else(placement).or_else(direct)?;
    Some(StepFailure::Failed { what: msg!("proof-not-in-force", what = what), why, help })
}

/// What the counters say about the mode, the registered buffers and the placement, where the step asks for any.
pub(crate) fn proofs(step: &Step, record: &StepRecord) -> Vec<CheckView> {
    [mode_proof(step, record), fixed_buffers(record), pinned(step, record)].into_iter().flatten().collect()
}

/// The step's targets by name.
#[must_use]
pub fn target_names(step: &Step) -> Arg {
    Arg::names(step.targets.iter().map(ToString::to_string), Join::Comma)
}

fn mode_proof(step: &Step, record: &StepRecord) -> Option<CheckView> {
    let host = record.host.as_ref()?;
    match step.engine.mode {
        Mode::Interrupt => None,
        Mode::Iopoll => Some(polled(host, record.ios())),
        Mode::Sqpoll => Some(submitted_by_poller(host)),
    }
}

/// Whether the kernel took the buffers. When it did not the step goes on without them, as with every feature of the
/// ring, and says so: most machines let an ordinary user register little memory.
fn fixed_buffers(record: &StepRecord) -> Option<CheckView> {
    let feature = record
        .features
        .iter()
        .filter(|f| f.name == FeatureName::FixedBuffers && f.state != FeatureState::NotAsked)
        .min_by_key(|f| f.is_used())?;
    let sentence = match feature.is_used() {
        true => msg!("check-buffers-accepted", detail = &feature.detail),
        false => msg!("check-buffers-refused", detail = &feature.detail),
    };
    Some(CheckView { name: CheckName::FixedBuffers, ok: Some(feature.is_used()), sentence, cause: None })
}

/// Whether bound threads stayed where they were bound.
fn pinned(step: &Step, record: &StepRecord) -> Option<CheckView> {
    if step.placement == Placement::Unpinned || record.threads.is_empty() {
        return None;
    }
    let strayed = |t: &&ThreadRecord| t.cpus_seen.iter().any(|cpu| !t.cpus_allowed.contains(cpu));
    let moved: Option<u64> = record.threads.iter().map(|t| t.migrations).sum();
    let seen = record.threads.iter().any(|t| !t.cpus_seen.is_empty());
    let mut cpus: Vec<u32> = record.threads.iter().flat_map(|t| t.cpus_seen.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let cpus = format_cpu_list(&cpus);
    let (ok, sentence) = match record.threads.iter().find(strayed) {
        Some(t) => {
            let (at, bound) = (format_cpu_list(&t.cpus_seen), format_cpu_list(&t.cpus_allowed));
            (Some(false), msg!("check-thread-strayed", thread = t.index, bound = bound, at = at))
        }
        None if !seen => (None, msg!("check-no-thread-seen")),
        None => match moved {
            Some(times) => (Some(times == 0), msg!("check-pinned-migrations", cpus = cpus, times = times)),
            None => (Some(true), msg!("check-pinned", cpus = cpus)),
        },
    };
    Some(CheckView { name: CheckName::Pinned, ok, sentence, cause: None })
}

/// Why O_DIRECT was not in force: the page cache took up what the step moved. Pages that were there before, and a stray
/// one (readers of metadata, the end of a file), prove nothing.
fn went_through_the_cache(step: &Step, record: &StepRecord, before_bytes: u64) -> Option<Message> {
    let after_bytes = record.host.as_ref()?.page_cache_bytes.filter(|_| step.workload.direct)?;
    let grown_bytes = after_bytes.saturating_sub(before_bytes);
    (grown_bytes > record.bytes() / 100 + STRAY_CACHE_BYTES).then(|| {
        let (moved, grown) = (Quantity::bytes(record.bytes()), Quantity::bytes(grown_bytes));
        msg!("proof-cache-grew", grown = grown, moved = moved)
    })
}

fn placement_of(step: &Step) -> Message {
    let label = label_message(step);
    match &step.placement {
        Placement::Cpus(cpus) => msg!("proof-placement-cpus", cpus = format_cpu_list(cpus), step = label),
        Placement::Nodes { nodes } => msg!("proof-placement-nodes", nodes = format_cpu_list(nodes), step = label),
        other => msg!("proof-placement", placement = other.word().unwrap_or_default(), step = label),
    }
}

fn polled(host: &HostDelta, ios: u64) -> CheckView {
    let name = CheckName::Polled;
    let queues: Vec<_> = host.vectors.iter().filter(|v| v.queue.is_some()).collect();
    if queues.is_empty() {
        let sentence = msg!("check-polling-unproved");
        return CheckView { name, ok: None, sentence, cause: None };
    }
    let interrupts: u64 = queues.iter().map(|v| v.count).sum();
    let by_kernel: u64 = host.disks.iter().map(|d| d.read_ios + d.write_ios + d.discard_ios).sum();
    // Other programs may use the drive as well, and theirs is completed by interrupt.
    let foreign = by_kernel.saturating_sub(ios);
    let ok = interrupts as f64 <= foreign as f64 + ios as f64 * STRAY_SHARE;
    let sentence = match foreign {
        0 => msg!("check-polled", interrupts = interrupts, ios = ios),
        _ => msg!("check-polled-shared", interrupts = interrupts, ios = ios, others = foreign),
    };
    CheckView { name, ok: Some(ok), sentence, cause: None }
}

fn submitted_by_poller(host: &HostDelta) -> CheckView {
    let name = CheckName::SubmittedByPoller;
    let pollers: Vec<_> = host.threads.iter().filter(|t| t.kernel && t.name.starts_with("iou-sqp")).collect();
    let busy_ns: u64 = pollers.iter().map(|t| t.user_ns + t.system_ns).sum();
    let can_tell = !pollers.is_empty() && host.window_ns >= SQPOLL_WINDOW_MIN_NS;
    let sentence = match (pollers.is_empty(), can_tell) {
        (true, _) => msg!("check-no-poller"),
        (false, false) => msg!("check-poller-window-short"),
        (false, true) => msg!("check-poller", busy = Quantity::ns(busy_ns as f64)),
    };
    CheckView { name, ok: can_tell.then_some(busy_ns > 0), sentence, cause: None }
}

#[cfg(test)]
mod tests {
    use fathom_language::english;
    use fathom_message::Say;
    use fathom_record::{DiskDelta, ThreadCpu, VectorDelta};

    use super::*;

    fn vector(queue: Option<u32>, count: u64) -> VectorDelta {
        VectorDelta { irq: 30, device: "nvme0".to_owned(), queue, count, by_cpu: vec![(0, count)] }
    }

    fn host(vectors: Vec<VectorDelta>, kernel_ios: u64) -> HostDelta {
        let disk = DiskDelta { device: "nvme0n1".to_owned(), read_ios: kernel_ios, ..DiskDelta::default() };
        HostDelta { window_ns: 1_000_000_000, disks: vec![disk], vectors, ..HostDelta::default() }
    }

    #[test]
    fn polling_is_proved_by_queues_that_stayed_silent() {
        // The admin queue is no queue of I/O.
        let silent = host(vec![vector(None, 500), vector(Some(1), 0), vector(Some(2), 3)], 1000);
        assert_eq!(polled(&silent, 1000).ok, Some(true));
        let loud = polled(&host(vec![vector(Some(1), 900)], 1000), 1000);
        assert_eq!(loud.ok, Some(false), "{}", loud.sentence);
        assert_eq!(polled(&host(Vec::new(), 1000), 1000).ok, None);
    }

    #[test]
    fn interrupts_of_other_programs_do_not_disprove_polling() {
        let shared = polled(&host(vec![vector(Some(1), 900)], 2000), 1000);
        assert_eq!(shared.ok, Some(true), "{}", shared.sentence);
        let said = english(&shared.sentence);
        assert!(said.contains("others did 1000 I/Os"), "{said}");
    }

    fn bound(cpus_seen: &[u32], migrations: Option<u64>) -> (Step, StepRecord) {
        let mut step = crate::samples::step();
        step.placement = Placement::Cpus(vec![1]);
        let mut record = crate::samples::record(&[1000]);
        record.threads = vec![ThreadRecord {
            index: 0,
            targets: vec!["file".into()],
            cpus_allowed: vec![1],
            cpus_seen: cpus_seen.to_vec(),
            migrations,
            paused_ns: 0,
            ios: 1000,
            passes: 0,
            in_flight_max: 1,
            polling: None,
        }];
        (step, record)
    }

    #[test]
    fn a_bound_thread_that_moved_fails_its_step() {
        let judge = |seen: &[u32], migrations| {
            let (step, record) = bound(seen, migrations);
            let ok = pinned(&step, &record).expect("it is bound").ok;
            (ok, disproof(&step, &record, None).map(|f| english(&f.message())))
        };
        assert_eq!(judge(&[1], Some(0)), (Some(true), None));
        assert_eq!(judge(&[1], None), (Some(true), None));
        assert_eq!(judge(&[], None).0, None);
        for (seen, migrations, word) in
            [(&[1][..], Some(2), "2 migrations"), (&[0, 1], Some(0), "bound to CPU 1 and seen on CPU 0-1")]
        {
            let (ok, failure) = judge(seen, migrations);
            assert_eq!(ok, Some(false));
            assert!(failure.is_some_and(|f| f.contains("placement on CPUs 1") && f.contains(word)), "{word}");
        }
        let (mut step, record) = bound(&[0, 1], Some(9));
        step.placement = Placement::Unpinned;
        assert_eq!(pinned(&step, &record), None);
    }

    #[test]
    fn o_direct_is_disproved_by_a_page_cache_that_took_up_what_was_moved() {
        let step = crate::samples::step();
        let mut record = crate::samples::record(&[10_000]);
        let moved = record.bytes();
        let mut cached = |before: u64, after: u64| {
            record.host = Some(HostDelta { page_cache_bytes: Some(after), ..HostDelta::default() });
            disproof(&step, &record, Some(before)).map(|f| english(&f.message()))
        };
        assert_eq!(cached(0, 4096), None, "a stray page");
        assert_eq!(cached(moved, moved), None, "what was there before");
        assert!(cached(0, moved).is_some_and(|f| f.contains("O_DIRECT on file was not in force")));
        assert_eq!(disproof(&step, &record, None).map(|f| english(&f.message())), None, "nothing known of before");
        let mut buffered = step.clone();
        buffered.workload.direct = false;
        assert_eq!(disproof(&buffered, &record, Some(0)).map(|f| english(&f.message())), None);
    }

    #[test]
    fn registered_buffers_are_proved_by_the_kernels_answer() {
        let mut record = crate::samples::record(&[1]);
        let mut judge = |state, detail: &str| {
            record.features =
                vec![fathom_record::FeatureUse::new(FeatureName::FixedBuffers, state, Message::verbatim(detail))];
            fixed_buffers(&record).map(|c| c.ok)
        };
        assert_eq!(judge(FeatureState::Used, "one piece of contiguous memory"), Some(Some(true)));
        assert_eq!(judge(FeatureState::Unavailable, "Cannot allocate memory"), Some(Some(false)));
        assert_eq!(judge(FeatureState::NotAsked, ""), None);
    }

    #[test]
    fn a_polling_thread_that_never_ran_disproves_sqpoll() {
        let thread =
            |system_ns| ThreadCpu { name: "iou-sqp-7".to_owned(), kernel: true, user_ns: 0, system_ns, waited_ns: 0 };
        let with = |threads, window_ns| HostDelta { window_ns, threads, ..HostDelta::default() };
        assert_eq!(submitted_by_poller(&with(vec![thread(0), thread(10_000_000)], 1_000_000_000)).ok, Some(true));
        assert_eq!(submitted_by_poller(&with(vec![thread(0)], 1_000_000_000)).ok, Some(false));
        assert_eq!(submitted_by_poller(&with(vec![thread(0)], 1_000_000)).ok, None);
        assert_eq!(submitted_by_poller(&with(Vec::new(), 1_000_000_000)).ok, None);
    }
}
