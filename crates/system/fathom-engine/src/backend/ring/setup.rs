//! Setting up a ring: each flag the kernel takes, and what it says when it takes none.

use std::io;

use fathom_message::{Message, msg};
use fathom_plan::{EngineSpec, Mode, TargetId};
use fathom_record::StepFailure;
use io_uring::{IoUring, cqueue, squeue};

use crate::backend::refused;

/// Idle time after which the SQPOLL thread sleeps. Longer than any gap of a closed loop on a working device.
const SQPOLL_IDLE_MS: u32 = 1_000;
/// Set-up flags beyond the mode, each of which the kernel may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetupFlags {
    pub(super) single_issuer: bool,
    pub(super) defer_taskrun: bool,
    pub(super) coop_taskrun: bool,
    pub(super) no_sqarray: bool,
}

const NO_FLAGS: SetupFlags =
    SetupFlags { single_issuer: false, defer_taskrun: false, coop_taskrun: false, no_sqarray: false };

impl SetupFlags {
    /// Everything that makes sense with `mode`. The kernel refuses both kinds of task-run control with SQPOLL.
    pub(super) fn wanted(mode: Mode) -> Self {
        let own_task = mode != Mode::Sqpoll;
        SetupFlags { single_issuer: true, defer_taskrun: own_task, coop_taskrun: own_task, no_sqarray: true }
    }
}

/// Entries of the submission queue for `depth` I/Os in flight.
///
/// A polling kernel thread publishes the entries it took only after it started a whole batch of them, while their
/// completions may be reaped at once. So entries of one batch (at most `depth`: each was in flight when the batch began)
/// can still occupy the queue when their slots are in flight again (at most `depth`).
fn queue_entries(depth: u32, mode: Mode) -> u32 {
    if mode == Mode::Sqpoll { depth * 2 } else { depth }
}

fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    spec: EngineSpec,
    flags: SetupFlags,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    builder.setup_clamp().dontfork();
    match spec.mode {
        Mode::Interrupt => {}
        Mode::Iopoll => {
            builder.setup_iopoll();
        }
        Mode::Sqpoll => {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
            if let Some(cpu) = spec.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        }
    }
    if flags.single_issuer {
        builder.setup_single_issuer();
    }
    if flags.defer_taskrun {
        builder.setup_defer_taskrun();
    }
    if flags.coop_taskrun {
        builder.setup_coop_taskrun();
    }
    if flags.no_sqarray {
        builder.setup_no_sqarray();
    }
    builder.build(queue_entries(depth, spec.mode))
}

/// A ring with every wanted flag the kernel takes, each tried alone when the whole set is refused.
pub(super) fn build_with_fallback<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    spec: EngineSpec,
) -> io::Result<(IoUring<S, C>, SetupFlags)> {
    let wanted = SetupFlags::wanted(spec.mode);
    match build(depth, spec, wanted) {
        Ok(ring) => return Ok((ring, wanted)),
        Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
        Err(_) => {}
    }
    let takes = |flags: SetupFlags| build::<S, C>(2, spec, flags).is_ok();
    let single_issuer = takes(SetupFlags { single_issuer: true, ..NO_FLAGS });
    let flags = SetupFlags {
        single_issuer,
        // The kernel wants DEFER_TASKRUN only together with SINGLE_ISSUER.
        defer_taskrun: wanted.defer_taskrun
            && single_issuer
            && takes(SetupFlags { single_issuer: true, defer_taskrun: true, ..NO_FLAGS }),
        coop_taskrun: wanted.coop_taskrun && takes(SetupFlags { coop_taskrun: true, ..NO_FLAGS }),
        no_sqarray: takes(SetupFlags { no_sqarray: true, ..NO_FLAGS }),
    };
    build(depth, spec, flags).map(|ring| (ring, flags))
}

pub(in crate::backend) fn setup_refused(error: &io::Error, spec: EngineSpec, depth: u32) -> StepFailure {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let what = msg!("engine-ring", engine = spec.name.as_str(), mode = spec.mode.as_str(), depth = depth);
    let (why, help) = match error.raw_os_error() {
        Some(libc::EPERM) if disabled.trim() != "0" && !disabled.is_empty() => {
            let value = disabled.trim().to_owned();
            (msg!("engine-io-uring-disabled", value = value), msg!("engine-io-uring-disabled-help"))
        }
        Some(libc::EPERM | libc::EACCES) => {
            (msg!("engine-io-uring-forbidden", error = error), msg!("engine-io-uring-forbidden-help"))
        }
        Some(libc::ENOSYS) => (msg!("engine-no-io-uring"), msg!("engine-use-libaio")),
        Some(libc::ENOMEM) => (msg!("engine-ring-memory", error = error), msg!("engine-ring-memory-help")),
        _ => (msg!("engine-call-failed", call = "io_uring_setup", error = error), msg!("engine-ring-failed-help")),
    };
    refused(what, why, help)
}

/// `engine io_uring, mode iopoll, on target /dev/sdb`.
pub(in crate::backend) fn mode_on_target(spec: EngineSpec, id: &TargetId) -> Message {
    let (engine, mode) = (spec.name.as_str(), spec.mode.as_str());
    msg!("engine-mode-on-target", engine = engine, mode = mode, target = id.as_str().to_owned())
}

pub(in crate::backend) fn no_poll_queues(spec: EngineSpec, id: &TargetId) -> StepFailure {
    refused(mode_on_target(spec, id), msg!("engine-no-poll-queues"), msg!("engine-no-poll-queues-help"))
}
