//! What Linux md does for each I/O of a parity level: its threads, their lock, the stripes of its cache.

use fathom_message::{Quantity, msg};

use super::{ArrayPart, MdModel, RaidModel, iops, needs_old_content, of_part, work, write_cost};
use crate::attribution::LimitName;
use crate::ceilings::Ceiling;
use crate::machine::{MachineModel, RaidLevel, Shape};

/// Height of a stripe of its cache (drivers/md/raid5.c).
const STRIPE_BYTES: f64 = 4096.0;

/// The ceilings that it sets.
pub(super) fn ceilings(machine: &MachineModel, raid: &RaidModel, md: &MdModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    if !matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6) {
        return;
    }
    let Some(stripes) = Stripes::of(raid, shape).filter(|stripes| stripes.per_io > 0.0) else { return };
    threads(md, &stripes, all);
    cache(machine, raid, md, shape, &stripes, all);
}

/// Stripes that an I/O of the load goes through; reads that lose nothing pass by them.
struct Stripes {
    per_io: f64,
    /// Bytes that parity is computed over.
    xor_bytes: f64,
    /// Share of the I/Os that hold any.
    share: f64,
}

impl Stripes {
    fn of(raid: &RaidModel, shape: &Shape) -> Option<Stripes> {
        let members = raid.members_over(shape.drives);
        let parities = if raid.level == RaidLevel::Raid6 { 2 } else { 1 };
        let data = f64::from(members.checked_sub(parities)?.max(1));
        let chunk = raid.chunk_bytes as f64;
        let (reads, writes) = (shape.read_share, 1.0 - shape.read_share);
        // Bytes of a member from the first that changes to the last; a stream brings whole stripes.
        let height = match shape.sequential {
            true => shape.block_bytes / data,
            false if shape.block_bytes <= chunk => shape.block_bytes,
            false => chunk * (shape.block_bytes / (chunk * data)).max(1.0),
        };
        let lost = f64::from(raid.missing) / f64::from(members);
        let lost_reads = reads * if shape.sequential { 0.0 } else { lost };
        let cost = if writes > 0.0 { write_cost(raid, shape)? } else { work::MemberWork::default() };
        let computed = lost_reads * height * (data + f64::from(parities) - 1.0);
        // Less than a stripe is one as well, but for a stream, whose parts share it.
        let count = if shape.sequential { height / STRIPE_BYTES } else { (height / STRIPE_BYTES).max(1.0) };
        Some(Stripes {
            per_io: (writes + lost_reads) * count,
            xor_bytes: writes * (cost.read_bytes + shape.block_bytes) + computed,
            share: writes + lost_reads,
        })
    }
}

fn threads(md: &MdModel, stripes: &Stripes, all: &mut Vec<Ceiling>) {
    let parity_ns = md.parity_bytes_per_s.map_or(0.0, |rate| stripes.xor_bytes / rate * 1e9);
    let stripe_ns = md.stripe_ns.unwrap_or(0.0);
    let ns = stripes.per_io * stripe_ns + if stripe_ns > 0.0 { parity_ns } else { 0.0 };
    if ns > 0.0 {
        let count = f64::from(md.threads.max(1));
        let how = if md.threads > 1 {
            msg!("ceiling-md-threads", threads = md.threads, time = Quantity::ns(ns / stripes.share))
        } else {
            msg!("ceiling-md-thread", time = Quantity::ns(ns / stripes.share))
        };
        let ceiling = iops(LimitName::KernelThread, count * 1e9 / ns, how).of_servers(count);
        all.push(of_part(ArrayPart::MdThread, ceiling));
    }
    let locked_ns = stripes.per_io * md.lock_ns.unwrap_or(0.0);
    if locked_ns > 0.0 {
        let how = msg!("ceiling-md-lock", time = Quantity::ns(locked_ns / stripes.share));
        all.push(of_part(ArrayPart::MdThread, iops(LimitName::KernelThread, 1e9 / locked_ns, how).of_servers(1.0)));
    }
}

/// Little's law: no more writes are under way than there are stripes for, each as long as its reads and writes take alone.
fn cache(
    machine: &MachineModel,
    raid: &RaidModel,
    md: &MdModel,
    shape: &Shape,
    stripes: &Stripes,
    all: &mut Vec<Ceiling>,
) {
    let (Some(count), Some(device)) = (md.stripe_cache, machine.device.as_ref()) else { return };
    let alone = |read_share: f64| device.mixed(read_share, shape.block_bytes, shape.sequential).map(|op| op.alone_ns());
    let Some(written_ns) = alone(0.0) else { return };
    let old_ns = if needs_old_content(raid, shape) { alone(1.0).unwrap_or(0.0) } else { 0.0 };
    let held_ns = written_ns + old_ns + md.stripe_ns.unwrap_or(0.0) + md.lock_ns.unwrap_or(0.0);
    if held_ns > 0.0 {
        let x = f64::from(count) * 1e9 / (stripes.per_io * held_ns);
        let how = msg!("ceiling-md-stripes", stripes = count, time = Quantity::ns(held_ns));
        all.push(of_part(ArrayPart::StripeCache, iops(LimitName::Raid, x, how)));
    }
}
