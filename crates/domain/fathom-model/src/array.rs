//! Arrays over drives: what an I/O of the load costs each member, and the ceilings that follow.
//!
//! Member I/Os are counted over all places where an I/O may lie (`fathom-raid` says which members a write reads and writes),
//! so that degraded arrays, few members and large blocks need no rule of their own. The member that is busiest bounds the
//! array: the others wait for it.

use fathom_message::{Quantity, Unit, msg};
use serde::{Deserialize, Serialize};

use crate::attribution::LimitName;
use crate::catalogue::Controller;
use crate::ceilings::{Ceiling, block, bytes, iops, moved};
use crate::device::DeviceModel;
use crate::machine::{MachineModel, RaidLevel, Shape};
use crate::pcie::PcieLink;

mod md;
mod work;

pub use work::{MemberWork, member_work};

/// Bytes on one member before the next follows, where nobody said: what the cards of the catalogue were tested with.
const CHUNK_BYTES: u64 = 64 << 10;

/// An array over the drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaidModel {
    /// Level.
    pub level: RaidLevel,
    /// Bytes on one member before the next follows.
    pub chunk_bytes: u64,
    /// Members with those that are missing; `None`: as many as there are drives.
    pub members: Option<u32>,
    /// Members that are lost, each of another pair where members come in pairs.
    pub missing: u32,
    /// Who does its work.
    pub maker: RaidMaker,
}

/// Who does an array's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaidMaker {
    /// Fathom itself: each write as it comes.
    UserSpace,
    /// Linux md.
    Md(MdModel),
    /// A RAID card.
    Card(CardModel),
}

/// What bounds an array of Linux md. Empty parts are unknown and bound nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MdModel {
    /// Time of a thread of the array per stripe (4 KiB of each member) that is written, levels 5 and 6.
    pub stripe_ns: Option<f64>,
    /// Time per stripe under the lock that all its threads take.
    #[serde(default)]
    pub lock_ns: Option<f64>,
    /// Threads that handle stripes; 0: the one.
    #[serde(default)]
    pub threads: u32,
    /// Stripes of its cache.
    #[serde(default)]
    pub stripe_cache: Option<u32>,
    /// Bytes per second that a thread computes parity over.
    #[serde(default)]
    pub parity_bytes_per_s: Option<f64>,
}

impl MdModel {
    /// One whose thread takes so long for a stripe.
    #[must_use]
    pub fn of_stripe(stripe_ns: Option<f64>) -> MdModel {
        MdModel { stripe_ns, ..MdModel::default() }
    }
}

/// What bounds a RAID card. Empty parts are unknown and bound nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardModel {
    /// What it is.
    pub name: String,
    /// Time per read command.
    pub read_command_ns: Option<f64>,
    /// Time per write command.
    pub write_command_ns: Option<f64>,
    /// Time per write that must update parity in place.
    pub parity_update_ns: Option<f64>,
    /// Bytes per second that parity is computed over.
    pub parity_bytes_per_s: Option<f64>,
    /// Its link to the host.
    pub link: Option<PcieLink>,
    /// Bytes per second of the memory of a write-back cache, which a write crosses on its way in and with each command of the
    /// members on its way out.
    #[serde(default)]
    pub memory_bytes_per_s: Option<f64>,
    /// Bytes of its write-back cache; `None`: it has none, or writes through.
    #[serde(default)]
    pub cache_bytes: Option<u64>,
}

impl CardModel {
    /// A card of which nothing is known but its name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> CardModel {
        CardModel {
            name: name.into(),
            read_command_ns: None,
            write_command_ns: None,
            parity_update_ns: None,
            parity_bytes_per_s: None,
            link: None,
            memory_bytes_per_s: None,
            cache_bytes: None,
        }
    }

    /// A card of the catalogue, by what was measured on it: small writes to RAID 10 are its commands, those to RAID 5 and 6
    /// its parity updates. What is claimed bounds nothing: it was beaten.
    #[must_use]
    pub fn of(card: &Controller) -> CardModel {
        let parity: Vec<f64> =
            card.raid5_rand_write_4k_iops.iter().chain(&card.raid6_rand_write_4k_iops).copied().collect();
        let mean_log = parity.iter().map(|x| x.ln()).sum::<f64>() / parity.len().max(1) as f64;
        let link = card.pcie_gen.zip(card.pcie_lanes).map(|(generation, lanes)| PcieLink::new(generation, lanes));
        let payload = |link: PcieLink| match card.pcie_max_payload_bytes {
            Some(max_payload_bytes) => PcieLink { max_payload_bytes, ..link },
            None => link,
        };
        CardModel {
            // A mirrored write is one command of the host.
            write_command_ns: card.raid10_rand_write_4k_iops.map(|x| 1e9 / x),
            parity_update_ns: (!parity.is_empty()).then(|| 1e9 / mean_log.exp()),
            parity_bytes_per_s: card.parity_bytes_per_s,
            link: link.map(payload),
            ..CardModel::named(card.model.clone())
        }
    }

    /// Whether anything of it is known that bounds an array.
    #[must_use]
    pub fn is_known(&self) -> bool {
        *self != CardModel::named(self.name.clone())
    }
}

impl RaidModel {
    /// A whole array of this level in the usual chunks, made by md.
    #[must_use]
    pub fn of(level: RaidLevel) -> RaidModel {
        let maker = RaidMaker::Md(MdModel::default());
        RaidModel { level, chunk_bytes: CHUNK_BYTES, members: None, missing: 0, maker }
    }

    fn members_over(&self, drives: u32) -> u32 {
        self.members.unwrap_or(drives)
    }

    /// Whether writes in order are put together to whole stripes before they go to the members.
    fn merges(&self) -> bool {
        !matches!(self.maker, RaidMaker::UserSpace)
    }
}

/// Part of an array that can bind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrayPart {
    /// The members' own time.
    Member,
    /// The link of a member.
    MemberLink,
    /// What the card does for each I/O.
    Card,
    /// The card's link to the host.
    CardLink,
    /// The one thread of md, or those of its groups.
    MdThread,
    /// The stripes of md's cache.
    StripeCache,
}

impl ArrayPart {
    /// In a word or two, as a table names it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ArrayPart::Member => "members",
            ArrayPart::MemberLink => "member link",
            ArrayPart::Card => "card",
            ArrayPart::CardLink => "card link",
            ArrayPart::MdThread => "md thread",
            ArrayPart::StripeCache => "stripe cache",
        }
    }
}

/// What is predicted of an array beside its figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ArrayPrediction {
    /// The part that binds; `None`: none of the array, but the depth, the host or a rate.
    pub part: Option<ArrayPart>,
    /// Most I/Os per second by counting member I/Os as if reads and writes cost the same; `None` for loads in order.
    pub counted_iops: Option<f64>,
    /// Most I/Os per second by the members' time.
    pub member_iops: Option<f64>,
    /// Member reads of one I/O of the load.
    pub member_reads: f64,
    /// Member writes of one I/O of the load.
    pub member_writes: f64,
    /// Bytes that members write for each byte that the load writes; `None` without writes.
    pub written_per_byte: Option<f64>,
}

/// What a write of this shape costs over all members.
fn write_cost(raid: &RaidModel, shape: &Shape) -> Option<MemberWork> {
    let writes = Shape { read_share: 0.0, ..*shape };
    Some(sum(&member_work(raid, &writes)?))
}

fn sum(all: &[MemberWork]) -> MemberWork {
    all.iter().copied().fold(MemberWork::default(), MemberWork::plus)
}

/// Whether a write waits for old content.
pub(crate) fn needs_old_content(raid: &RaidModel, shape: &Shape) -> bool {
    write_cost(raid, shape).is_some_and(|cost| cost.reads > 1e-9)
}

/// I/Os per second by the time of the busiest member.
fn member_iops(device: &DeviceModel, work: &[MemberWork], shape: &Shape) -> Option<f64> {
    let times = work.iter().map(|w| w.device_ns(device, shape.sequential)).collect::<Option<Vec<f64>>>()?;
    let busiest_ns = times.into_iter().fold(0.0, f64::max);
    (busiest_ns > 0.0).then(|| 1e9 / busiest_ns)
}

/// I/Os per second by counting: members x one drive, a write for 1, 2, 4 or 6. Of loads in order nobody counts so.
fn counted_iops(device: &DeviceModel, raid: &RaidModel, shape: &Shape) -> Option<f64> {
    if shape.sequential {
        return None;
    }
    let each_ns = |share: f64| device.command_iops(share).map(|x| 1e9 / x);
    let n = raid.members_over(shape.drives);
    let writes_ns = match shape.read_share < 1.0 {
        true => (1.0 - shape.read_share) * raid.level.write_penalty(n) * each_ns(0.0)?,
        false => 0.0,
    };
    Some(f64::from(n) * 1e9 / (shape.read_share * each_ns(1.0)? + writes_ns))
}

/// What is to be said of an array beside its figures; `part`: what binds it.
pub(crate) fn predicted(machine: &MachineModel, shape: &Shape, part: Option<ArrayPart>) -> Option<ArrayPrediction> {
    let raid = machine.raid.as_ref()?;
    let work = member_work(raid, shape)?;
    let cost = sum(&work);
    let device = machine.device.as_ref();
    let asked_bytes = (1.0 - shape.read_share) * shape.block_bytes;
    Some(ArrayPrediction {
        part,
        counted_iops: device.and_then(|d| counted_iops(d, raid, shape)),
        member_iops: device.and_then(|d| member_iops(d, &work, shape)),
        member_reads: cost.reads,
        member_writes: cost.writes,
        written_per_byte: (asked_bytes > 0.0).then(|| cost.written_bytes / asked_bytes),
    })
}

/// The ceilings of an array: its members, their links, and who does its work.
pub(crate) fn ceilings(machine: &MachineModel, raid: &RaidModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    let Some(work) = member_work(raid, shape) else { return };
    members(machine, raid, shape, &work, all);
    member_links(machine, raid, shape, &work, all);
    match &raid.maker {
        RaidMaker::UserSpace => {}
        RaidMaker::Md(md) => md::ceilings(machine, raid, md, shape, all),
        RaidMaker::Card(of) => card(raid, of, shape, all),
    }
}

fn of_part(part: ArrayPart, ceiling: Ceiling) -> Ceiling {
    Ceiling { part: Some(part), ..ceiling }
}

fn members(machine: &MachineModel, raid: &RaidModel, shape: &Shape, work: &[MemberWork], all: &mut Vec<Ceiling>) {
    let Some(x) = machine.device.as_ref().and_then(|d| member_iops(d, work, shape)) else { return };
    let n = raid.members_over(shape.drives);
    let level = raid.level.name();
    let count = |x: f64| Quantity::new(x, Unit::Count);
    let cost = sum(work);
    let ceiling = if raid.missing > 0 {
        let how = msg!(
            "ceiling-raid-degraded",
            level = level,
            members = n,
            missing = raid.missing,
            reads = count(cost.reads),
            writes = count(cost.writes)
        );
        iops(LimitName::Raid, x, how)
    } else if shape.sequential {
        let per_byte = count((cost.read_bytes + cost.written_bytes) / shape.block_bytes);
        bytes(LimitName::Raid, x, shape, msg!("ceiling-raid-stripes", level = level, members = n, bytes = per_byte))
    } else {
        let write = write_cost(raid, shape).unwrap_or_default();
        let (reads, writes) = (count(write.reads), count(write.writes));
        let how = msg!("ceiling-raid-small-writes", level = level, members = n, reads = reads, writes = writes);
        iops(LimitName::Raid, x, how)
    };
    all.push(of_part(ArrayPart::Member, ceiling));
}

/// Members behind a parity level carry more than the load asks, and those that make up for lost ones more still.
fn member_links(machine: &MachineModel, raid: &RaidModel, shape: &Shape, work: &[MemberWork], all: &mut Vec<Ceiling>) {
    let own = machine.device.as_ref().and_then(|d| d.link);
    let links = if machine.links.is_empty() { own.into_iter().collect() } else { machine.links.clone() };
    let most = |link: &PcieLink, w: &MemberWork| {
        let ios = w.reads + w.writes;
        if ios > 0.0 { link.mixed_iops(w.reads / ios, w.block_bytes()) / ios } else { f64::INFINITY }
    };
    let each = links.iter().flat_map(|link| work.iter().map(move |w| (most(link, w), link)));
    if let Some((x, link)) = each.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(x, _)| x.is_finite()) {
        let how = msg!("ceiling-member-link", link = link.to_string(), rate = moved(x, shape), block = block(shape));
        all.push(of_part(ArrayPart::MemberLink, bytes(LimitName::Link, x, shape, how)));
    }
    // Behind a card, what members share is the card's.
    if matches!(raid.maker, RaidMaker::Card(_)) {
        return;
    }
    let cost = sum(work);
    for up in machine.uplinks.iter().filter(|u| u.drives > 0) {
        let below = cost.times(f64::from(up.drives) / f64::from(shape.drives));
        let x = most(&up.link, &below);
        let how = msg!("ceiling-uplink", drives = up.drives, uplink = up.place.message(), link = up.link.to_string());
        all.push(of_part(ArrayPart::MemberLink, bytes(LimitName::Uplink, x, shape, how)));
    }
}

fn card(raid: &RaidModel, card: &CardModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    let (reads, writes) = (shape.read_share, 1.0 - shape.read_share);
    let mut push = |ceiling: Ceiling| all.push(of_part(ArrayPart::Card, ceiling));
    let rate = |x: f64| Quantity::new(x, Unit::PerS);
    let ns = reads * card.read_command_ns.unwrap_or(0.0) + writes * card.write_command_ns.unwrap_or(0.0);
    if ns > 0.0 {
        let x = 1e9 / ns;
        push(iops(LimitName::Raid, x, msg!("ceiling-card-commands", commands = rate(x))));
    }
    if let Some(cost) = write_cost(raid, shape).filter(|_| writes > 0.0) {
        let has_parity = matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6);
        if let Some(ns) = card.parity_update_ns.filter(|_| has_parity && cost.reads > 1e-9) {
            let how = msg!("ceiling-card-parity", updates = rate(1e9 / ns));
            push(iops(LimitName::Raid, 1e9 / (writes * ns), how));
        }
        if let Some(bytes_per_s) = card.parity_bytes_per_s.filter(|_| has_parity) {
            let each = cost.read_bytes + shape.block_bytes;
            let how = msg!("ceiling-card-parity-bytes", rate = Quantity::bytes_per_s(bytes_per_s));
            push(bytes(LimitName::Raid, bytes_per_s / (writes * each), shape, how));
        }
    }
    if let (Some(rate), Some(_), Some(cost)) =
        (card.memory_bytes_per_s, card.cache_bytes, write_cost(raid, shape).filter(|_| writes > 0.0))
    {
        let each = shape.block_bytes + cost.read_bytes + cost.written_bytes;
        let how = msg!("ceiling-card-memory", rate = Quantity::bytes_per_s(rate));
        push(bytes(LimitName::Raid, rate / (writes * each), shape, how));
    }
    if let Some(link) = card.link {
        let x = link.mixed_iops(shape.read_share, shape.block_bytes);
        let how = msg!("ceiling-card-link", link = link.to_string(), rate = moved(x, shape), block = block(shape));
        all.push(of_part(ArrayPart::CardLink, bytes(LimitName::Link, x, shape, how)));
    }
}

#[cfg(test)]
mod tests;
