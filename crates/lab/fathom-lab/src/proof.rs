//! Whether a mode was real: what cannot be polled is refused beforehand, and what was not polled fails afterwards.

use fathom_host::{BlockDevice, Root, poll_obstacle};
use fathom_plan::{Mode, Step};
use fathom_record::{HostDelta, StepFailure, StepRecord};

use crate::document::CheckView;

/// Interrupts above this share of the polled I/Os are more than stray ones.
const STRAY_SHARE: f64 = 0.01;
/// A kernel thread's time is counted in ticks of up to 10 ms; a shorter window may have none of them.
const SQPOLL_WINDOW_MIN_NS: u64 = 200_000_000;

/// Refuses to poll a device that cannot be polled. Some kernels would run the I/O by interrupt and say nothing.
///
/// # Errors
/// [`StepFailure::Refused`] with the device and the remedy.
pub(crate) fn refuse_unpollable(step: &Step, devices: &[BlockDevice]) -> Result<(), StepFailure> {
    if step.engine.mode != Mode::Iopoll {
        return Ok(());
    }
    let root = Root::live();
    match devices.iter().find_map(|d| poll_obstacle(&root, d)) {
        None => Ok(()),
        Some(obstacle) => Err(StepFailure::Refused {
            what: format!("mode iopoll on {}", names(step)),
            why: obstacle.to_string(),
            help: obstacle.help().to_owned(),
        }),
    }
}

/// The failure of a step whose mode was not what it claims to be.
pub(crate) fn disproof(step: &Step, record: &StepRecord) -> Option<StepFailure> {
    let failed = proofs(step, record).into_iter().find(|p| p.ok == Some(false))?;
    let help = match step.engine.mode {
        Mode::Iopoll => "use mode interrupt, or a target the kernel polls: the drive itself, or a file on ext4 or xfs",
        _ => "use mode interrupt or iopoll",
    };
    Some(StepFailure::Failed {
        what: format!("mode {} on {} was not in force", step.engine.mode.as_str(), names(step)),
        source: std::io::Error::other(failed.sentence),
        help: help.to_owned(),
    })
}

/// What the kernel's counters say about the mode; nothing for mode interrupt.
pub(crate) fn proofs(step: &Step, record: &StepRecord) -> Vec<CheckView> {
    let Some(host) = &record.host else { return Vec::new() };
    match step.engine.mode {
        Mode::Interrupt => Vec::new(),
        Mode::Iopoll => vec![polled(host, record.ios())],
        Mode::Sqpoll => vec![submitted_by_poller(host)],
    }
}

fn polled(host: &HostDelta, ios: u64) -> CheckView {
    let name = "polled".to_owned();
    let queues: Vec<_> = host.vectors.iter().filter(|v| v.queue.is_some()).collect();
    if queues.is_empty() {
        let sentence = "the kernel shows no interrupts of the drive's queues, so polling is not proved".to_owned();
        return CheckView { name, ok: None, sentence };
    }
    let interrupts: u64 = queues.iter().map(|v| v.count).sum();
    let by_kernel: u64 = host.disks.iter().map(|d| d.read_ios + d.write_ios + d.discard_ios).sum();
    // Other programs may use the drive as well, and theirs is completed by interrupt.
    let foreign = by_kernel.saturating_sub(ios);
    let ok = interrupts as f64 <= foreign as f64 + ios as f64 * STRAY_SHARE;
    let others = if foreign > 0 { format!(", and others did {foreign} I/Os on the drive") } else { String::new() };
    let sentence = format!("{interrupts} interrupts of the drive's queues for {ios} polled I/Os{others}");
    CheckView { name, ok: Some(ok), sentence }
}

fn submitted_by_poller(host: &HostDelta) -> CheckView {
    let name = "submitted_by_poller".to_owned();
    let pollers: Vec<_> = host.threads.iter().filter(|t| t.kernel && t.name.starts_with("iou-sqp")).collect();
    let busy_ns: u64 = pollers.iter().map(|t| t.user_ns + t.system_ns).sum();
    let can_tell = !pollers.is_empty() && host.window_ns >= SQPOLL_WINDOW_MIN_NS;
    let sentence = match (pollers.is_empty(), can_tell) {
        (true, _) => "the kernel shows no polling thread of this process".to_owned(),
        (false, false) => "the window is too short to see the polling thread's time".to_owned(),
        (false, true) => format!("the kernel's polling threads (iou-sqp) ran for {} ms", busy_ns / 1_000_000),
    };
    CheckView { name, ok: can_tell.then_some(busy_ns > 0), sentence }
}

fn names(step: &Step) -> String {
    step.targets.iter().map(|t| t.path.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use fathom_record::{DiskDelta, ThreadCpu, VectorDelta};

    use super::*;

    fn vector(queue: Option<u32>, count: u64) -> VectorDelta {
        VectorDelta { irq: 30, device: "nvme0".to_owned(), queue, count, by_cpu: vec![(0, count)] }
    }

    fn host(vectors: Vec<VectorDelta>, kernel_ios: u64) -> HostDelta {
        let disk = DiskDelta {
            device: "nvme0n1".to_owned(),
            read_ios: kernel_ios,
            read_bytes: 0,
            read_merges: 0,
            write_ios: 0,
            write_bytes: 0,
            write_merges: 0,
            discard_ios: 0,
            busy_ns: 0,
            weighted_ns: 0,
        };
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
        assert!(shared.sentence.contains("others did 1000 I/Os"), "{}", shared.sentence);
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
