//! What relieving a limit takes, and what it would bring.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::Workload;

use super::seen::Seen;
use super::{LimitName, Observation};
use crate::ceilings::Ceiling;

/// Rates that differ by less than this factor are the same for advice.
const SAME_RATE: f64 = 1.05;

/// Remedies, the first with the rate that it can reach: up to the next ceiling, and no more than a step that asked for more got.
pub(super) fn would_help(all: &Seen<'_>, this: &Observation, name: LimitName) -> Vec<Message> {
    let mut out = remedies(name);
    // The load does not decide about another slot or drive, so no step measured that.
    let most = given_to_more(all, this).filter(|_| matches!(name, LimitName::QueueDepth | LimitName::Core));
    // The programs that run instead of the load decide how much it gets.
    let next = next_ceiling(this, name).filter(|_| name != LimitName::CpuTaken);
    let (Some(first), Some(next)) = (out.first_mut(), next) else { return out };
    let reach = |iops: f64| (Quantity::iops(iops), Quantity::times(iops / this.iops()));
    match most.filter(|most| next.iops > SAME_RATE * most) {
        Some(most) if most > SAME_RATE * this.iops() => {
            let (iops, gain) = reach(most);
            *first = msg!("help-up-to-measured", help = &*first, iops = iops, gain = gain);
        }
        Some(_) => {}
        None => {
            let (iops, gain) = reach(next.iops);
            *first = msg!("help-up-to", help = &*first, iops = iops, gain = gain, next = next.name.message());
        }
    }
    out
}

fn remedies(name: LimitName) -> Vec<Message> {
    match name {
        LimitName::QueueDepth => vec![msg!("help-more-in-flight")],
        LimitName::Device => vec![msg!("help-another-drive"), msg!("help-larger-blocks-for-bytes")],
        LimitName::Link => vec![msg!("help-better-slot"), msg!("help-another-drive-on-own-link")],
        LimitName::Uplink => vec![msg!("help-other-port")],
        LimitName::Core => vec![msg!("help-more-threads"), msg!("help-cheaper-engine")],
        LimitName::AllCores => vec![msg!("help-cheaper-engine"), msg!("help-larger-blocks"), msg!("help-more-cores")],
        LimitName::CpuTaken => vec![msg!("help-stop-others"), msg!("help-cpus-of-its-own")],
        LimitName::IrqCore => vec![msg!("help-spread-interrupts"), msg!("help-poll-queues")],
        LimitName::FileSystem => vec![msg!("help-write-it-once"), msg!("help-block-device")],
        LimitName::Raid => vec![msg!("help-full-stripes"), msg!("help-less-penalty")],
        LimitName::Memory => vec![msg!("help-direct-crosses-once"), msg!("help-memory-channels")],
        LimitName::PageCache => vec![msg!("help-see-the-drive")],
        LimitName::Network => vec![msg!("help-hide-the-way"), msg!("help-larger-transfers")],
        LimitName::Server => vec![msg!("help-look-at-server")],
        LimitName::Client => vec![msg!("help-client-connections")],
        LimitName::Rate => vec![msg!("help-higher-rate")],
        // What relieves a kernel thread depends on what it does, and what relieves a sync on what the drive does meanwhile.
        LimitName::KernelThread | LimitName::Flush | LimitName::Unknown => Vec::new(),
    }
}

/// Highest rate of the steps that did the same work with more I/Os in flight or more threads; `None` without such a step.
fn given_to_more(all: &Seen<'_>, this: &Observation) -> Option<f64> {
    let asks_for_more = |o: &Observation| {
        let (other, own) = (&o.step, &this.step);
        is_same_work(&other.workload, &own.workload)
            && other.targets == own.targets
            && !other.load.has_rates()
            && (o.in_flight() > this.in_flight() || o.threads() > this.threads())
    };
    all.iter().filter(|o| o.ios > 0 && asks_for_more(o)).map(Observation::iops).reduce(f64::max)
}

/// True if both do the same I/Os at the same places. The number of files only sets how long a step takes.
fn is_same_work(a: &Workload, b: &Workload) -> bool {
    let mut a = a.clone();
    if let (Some(files), Some(other)) = (&mut a.order.files, b.order.files) {
        files.files_per_thread = other.files_per_thread;
    }
    a == *b
}

/// The lowest ceiling of another part that lies clearly above what was measured.
fn next_ceiling(this: &Observation, name: LimitName) -> Option<Ceiling> {
    let all = this.ceilings();
    all.iter().find(|c| c.name != name && c.name != LimitName::QueueDepth && c.iops > SAME_RATE * this.iops()).cloned()
}
