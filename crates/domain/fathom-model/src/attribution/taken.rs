//! CPUs that others had while the workers were ready to run.

use fathom_message::Quantity;
use fathom_plan::Placement;

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::{Caveat, Limit};
use super::{LimitName, Observation};
use crate::cpu_taken::{CpuTaken, WorkerTime, cpu_taken};

/// Others that took this share of the time of an I/O or more are the limit: nothing else took more.
const MOST: f64 = 0.5;
/// From here on a step that is measured again gives the same answer.
const CLEARLY_MOST: f64 = 0.6;
/// Others that took this share of the workers' time may have changed what another part seems to be.
pub(super) const DISTURBS: f64 = 0.1;
/// The most that is said of another part then: below [`super::Confidence::CONFIRMED_FROM`].
const DISTURBED_MAX: f64 = 0.85;
/// Taken time worth a caveat.
const WORTH_CAVEAT: f64 = 0.05;
/// Workers that ran or were ready for this share of the time waited for nothing but CPUs.
const ALWAYS_READY: f64 = 0.95;

/// CPU time that was taken from the workers of a step; `None` without counters of the host.
fn of(this: &Observation) -> Option<CpuTaken> {
    Some(cpu_taken(this.host.as_ref()?, &worker_time(this)?, &cpus_of_workers(this)))
}

/// Time of the workers of a step; of a stream, without those of the other streams.
fn worker_time(this: &Observation) -> Option<WorkerTime> {
    let stream = this.step.role.stream.as_ref();
    let prefix = stream.map_or_else(|| "fathom-w".to_owned(), |stream| format!("fathom-w{}.", stream.index));
    Some(WorkerTime::of(this.host.as_ref()?, &prefix))
}

/// Share of the workers' time that was taken from them; 0 where that is not known.
pub(super) fn share(this: &Observation) -> f64 {
    of(this).map_or(0.0, |taken| taken.share)
}

fn cpus_of_workers(this: &Observation) -> Vec<u32> {
    match this.step.placement {
        Placement::Unpinned => this.allowed_cpus(),
        _ if this.worker_cpus.is_empty() => this.allowed_cpus(),
        _ => this.worker_cpus.clone(),
    }
}

/// Others that took most of the time of an I/O.
pub(super) fn limit(this: &Observation) -> Option<Limit> {
    let taken = of(this)?;
    let workers = worker_time(this)?;
    let lost = lost(this, &workers, taken);
    if lost < MOST {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::WorkersBusy, Quantity::share(workers.ran)));
    numbers.push(Evidence::new(EvidenceName::WorkersWaited, Quantity::share(workers.waited)));
    numbers.push(Evidence::new(EvidenceName::CpuTaken, Quantity::share(taken.share)));
    Some(Limit::found(Cause::CpuTaken { by: taken.by, share: lost }, lost >= CLEARLY_MOST, numbers))
}

/// Share of the time of an I/O that was lost while others had the CPUs. With one I/O per thread it is the share of the
/// thread's time. With more, what is at the device goes on meanwhile: no more was lost than I/Os waited above it.
fn lost(this: &Observation, workers: &WorkerTime, taken: CpuTaken) -> f64 {
    let is_always_ready = workers.ran + workers.waited >= ALWAYS_READY;
    let is_one_per_thread = this.in_flight() <= this.threads();
    // The kernel counts a polled I/O as at the device until its thread looks.
    if this.polls() || is_always_ready || is_one_per_thread {
        return taken.share;
    }
    if this.step.role.stream.is_some() {
        // The device counts the I/Os of all streams.
        return 0.0;
    }
    at_device(this).map_or(taken.share, |at_device| taken.share.min(1.0 - at_device))
}

/// Share of the I/Os in flight that the kernel counts at the devices, on average; `None` where it counts none.
fn at_device(this: &Observation) -> Option<f64> {
    let host = this.host.as_ref()?;
    let weighted_ns = host.disks.iter().map(|d| d.weighted_ns).sum::<u64>();
    let in_flight = this.in_flight_mean.unwrap_or_else(|| f64::from(this.in_flight()));
    let is_counted = weighted_ns > 0 && this.step.workload.direct && !this.is_null();
    is_counted.then(|| (weighted_ns as f64 / host.window_ns.max(1) as f64 / in_flight).min(1.0))
}

/// A limit with a caveat and less confidence where others took CPU time from the workers.
pub(super) fn widened(limit: Limit, this: &Observation) -> Limit {
    let Some(taken) = of(this).filter(|taken| taken.share >= WORTH_CAVEAT) else { return limit };
    if matches!(limit.name, LimitName::CpuTaken | LimitName::Rate | LimitName::Unknown) {
        return limit;
    }
    // A core that is contended is a core all the same, and bytes that never reached the device came from the page cache.
    let is_certain =
        matches!(limit.name, LimitName::Core | LimitName::AllCores | LimitName::IrqCore | LimitName::PageCache);
    let limit = match limit.probability.filter(|p| *p > DISTURBED_MAX && taken.share >= DISTURBS && !is_certain) {
        Some(_) => limit.said_with(DISTURBED_MAX),
        None => limit,
    };
    limit.with_caveats([Caveat::CpuTaken { by: taken.by, share: taken.share }])
}
