//! What relieving a limit takes, and what it would bring.

use fathom_message::{Message, Quantity, msg};

use super::{LimitName, Observation};
use crate::ceilings::Ceiling;

/// What would help, up to the next ceiling where one is known.
pub(super) fn would_help(this: &Observation, name: LimitName) -> Vec<Message> {
    let mut out = remedies(name);
    if let (Some(first), Some(next)) = (out.first_mut(), next_ceiling(this, name)) {
        *first = msg!(
            "help-up-to",
            help = &*first,
            iops = Quantity::iops(next.iops),
            gain = Quantity::times(next.iops / this.iops()),
            next = next.name.message()
        );
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
        LimitName::IrqCore => vec![msg!("help-spread-interrupts"), msg!("help-poll-queues")],
        LimitName::FileSystem => vec![msg!("help-write-it-once"), msg!("help-block-device")],
        LimitName::Raid => vec![msg!("help-full-stripes"), msg!("help-less-penalty")],
        LimitName::Memory => vec![msg!("help-direct-crosses-once"), msg!("help-memory-channels")],
        LimitName::PageCache => vec![msg!("help-see-the-drive")],
        LimitName::Flush => vec![msg!("help-group-commit"), msg!("help-protected-cache")],
        LimitName::Network => vec![msg!("help-hide-the-way"), msg!("help-larger-transfers")],
        LimitName::Server => vec![msg!("help-look-at-server")],
        LimitName::Client => vec![msg!("help-client-connections")],
        LimitName::Rate => vec![msg!("help-higher-rate")],
        // What relieves a kernel thread depends on what it does.
        LimitName::KernelThread | LimitName::Unknown => Vec::new(),
    }
}

/// The lowest ceiling of another part that lies clearly above what was measured.
fn next_ceiling(this: &Observation, name: LimitName) -> Option<Ceiling> {
    let all = this.ceilings();
    all.iter().find(|c| c.name != name && c.name != LimitName::QueueDepth && c.iops > 1.05 * this.iops()).cloned()
}
