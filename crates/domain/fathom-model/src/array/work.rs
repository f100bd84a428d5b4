//! What an I/O of the load costs each member of an array, counted over all places where it may lie.

use fathom_raid::{Layout, Level, MEMBERS_MAX, MemberSet, Method, RowPiece, RowWrite};

use super::RaidModel;
use crate::device::DeviceModel;
use crate::machine::{RaidLevel, Shape};

/// Places that are counted of a load whose blocks are no whole part of a chunk.
const PLACES_MAX: u64 = 16_384;

/// What an I/O of the load costs one member, on average over all places where it may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberWork {
    /// Reads.
    pub reads: f64,
    /// Writes.
    pub writes: f64,
    /// Bytes.
    pub read_bytes: f64,
    /// Bytes.
    pub written_bytes: f64,
}

impl MemberWork {
    fn read(&mut self, bytes: u64) {
        self.reads += 1.0;
        self.read_bytes += bytes as f64;
    }

    fn write(&mut self, bytes: u64) {
        self.writes += 1.0;
        self.written_bytes += bytes as f64;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: MemberWork) -> MemberWork {
        MemberWork {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
        }
    }

    pub(super) fn times(self, share: f64) -> MemberWork {
        MemberWork {
            reads: self.reads * share,
            writes: self.writes * share,
            read_bytes: self.read_bytes * share,
            written_bytes: self.written_bytes * share,
        }
    }

    /// Bytes of each of its I/Os.
    pub(super) fn block_bytes(&self) -> f64 {
        (self.read_bytes + self.written_bytes) / (self.reads + self.writes)
    }

    /// How long it keeps a drive busy; `None` when what it takes is unknown. In order, bytes alone count.
    pub(super) fn device_ns(&self, device: &DeviceModel, sequential: bool) -> Option<f64> {
        let part = |count: f64, moved: f64, read_share: f64| {
            if count <= 0.0 {
                return Some(0.0);
            }
            let by_rate_ns = device.bandwidth_iops(read_share, moved, sequential).map(|x| 1e9 / x);
            if sequential {
                return by_rate_ns;
            }
            Some((count * 1e9 / device.command_iops(read_share)?).max(by_rate_ns.unwrap_or(0.0)))
        };
        Some(part(self.reads, self.read_bytes, 1.0)? + part(self.writes, self.written_bytes, 0.0)?)
    }
}

/// What an I/O of the load costs each member, in their order. `None` when there is no such array: too few members, or
/// more of them lost than it survives.
#[must_use]
pub fn member_work(raid: &RaidModel, shape: &Shape) -> Option<Vec<MemberWork>> {
    let n = raid.members_over(shape.drives);
    let lost = lost(raid, n)?;
    let of = |is_read: bool| -> Option<Vec<MemberWork>> {
        let asked = (shape.block_bytes as u64).max(1);
        if raid.level == RaidLevel::Raid1 {
            return Some(mirror(n, lost, is_read, asked));
        }
        let layout = layout(raid, n)?;
        // What comes in order fills its stripes in a cache, where there is one.
        // Reads go as they come.
        let whole = if shape.sequential && raid.merges() && !is_read { layout.stripe_bytes() } else { 1 };
        let size = asked.next_multiple_of(whole);
        let work = averaged(&layout, lost, is_read, size);
        Some(work.into_iter().map(|w| w.times(asked as f64 / size as f64)).collect())
    };
    let mut all = vec![MemberWork::default(); n as usize];
    for (is_read, share) in [(true, shape.read_share), (false, 1.0 - shape.read_share)] {
        if share > 0.0 {
            all = all.into_iter().zip(of(is_read)?).map(|(sum, w)| sum.plus(w.times(share))).collect();
        }
    }
    Some(all)
}

fn layout(raid: &RaidModel, members: u32) -> Option<Layout> {
    let level = match raid.level {
        RaidLevel::Raid0 => Level::Raid0,
        RaidLevel::Raid5 => Level::Raid5,
        RaidLevel::Raid6 => Level::Raid6,
        RaidLevel::Raid10 => Level::Raid10,
        RaidLevel::Raid1 => return None,
    };
    Layout::new(level, members, raid.chunk_bytes).ok()
}

/// The members that are missing: the first of each pair where they come in pairs, else the first ones.
fn lost(raid: &RaidModel, members: u32) -> Option<MemberSet> {
    if members > MEMBERS_MAX || raid.missing > raid.level.lost_max(members) {
        return None;
    }
    let step = if raid.level == RaidLevel::Raid10 { 2 } else { 1 };
    Some((0..raid.missing).map(|i| i * step).collect())
}

fn mirror(members: u32, lost: MemberSet, is_read: bool, size: u64) -> Vec<MemberWork> {
    let left = f64::from(members - lost.count());
    let of = |member: u32| {
        let mut work = MemberWork::default();
        match (lost.has(member), is_read) {
            (true, _) => return work,
            (false, true) => work.read(size),
            (false, false) => work.write(size),
        }
        work.times(if is_read { 1.0 / left } else { 1.0 })
    };
    (0..members).map(of).collect()
}

/// The mean over all places of a block of `size`, until they repeat.
fn averaged(layout: &Layout, lost: MemberSet, is_read: bool, size: u64) -> Vec<MemberWork> {
    let chunk = layout.chunk_bytes();
    let round = layout.stripe_bytes() * u64::from(layout.members());
    // Blocks within one chunk are all alike.
    let step = if chunk.is_multiple_of(size) { chunk } else { size };
    let places = (round / gcd(round, step)).min(PLACES_MAX);
    let mut all = vec![MemberWork::default(); layout.members() as usize];
    for place in 0..places {
        let at = place * step;
        match layout.level() {
            Level::Raid0 | Level::Raid10 => copied(layout, lost, is_read, at, size, &mut all),
            Level::Raid5 | Level::Raid6 if is_read => {
                layout.rows(at, size).for_each(|piece| read_row(layout, lost, piece, &mut all));
            }
            Level::Raid5 | Level::Raid6 => {
                let parts = layout.rows(at, size).flat_map(|piece| RowWrite::parts(layout, piece));
                parts.for_each(|piece| write_row(layout, lost, piece, &mut all));
            }
        }
    }
    all.into_iter().map(|w| w.times(1.0 / places as f64)).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// An I/O of stripes, with or without second copies. A read goes to both copies in turn.
fn copied(layout: &Layout, lost: MemberSet, is_read: bool, at: u64, size: u64, all: &mut [MemberWork]) {
    let chunk = layout.chunk_bytes();
    let mut from = at;
    while from < at + size {
        let end = (from / chunk + 1) * chunk;
        let moved = end.min(at + size) - from;
        let holders: Vec<u32> = match layout.level() {
            Level::Raid10 => layout.copies(from).iter().map(|p| p.member).filter(|m| !lost.has(*m)).collect(),
            _ => vec![(from / chunk % u64::from(layout.members())) as u32],
        };
        for member in &holders {
            let mut work = MemberWork::default();
            if is_read {
                work.read(moved);
                work = work.times(1.0 / holders.len() as f64);
            } else {
                work.write(moved);
            }
            all[*member as usize] = all[*member as usize].plus(work);
        }
        from = end;
    }
}

/// A read within one row: what is lost of it is computed from as many columns and parities as hold data.
fn read_row(layout: &Layout, lost: MemberSet, piece: RowPiece, all: &mut [MemberWork]) {
    let row = RowWrite::new(*layout, piece, lost);
    let columns = 0..layout.data_columns();
    let is_hit = columns.clone().any(|c| row.is_lost(c) && row.cover(c).is_some());
    let hull = row.hull().len();
    for column in columns.clone().filter(|c| !row.is_lost(*c)) {
        let moved = if is_hit { Some(hull) } else { row.cover(column).map(|cover| cover.len()) };
        if let Some(moved) = moved {
            all[layout.data_member(piece.row, column) as usize].read(moved);
        }
    }
    if is_hit {
        let missing = columns.filter(|c| row.is_lost(*c)).count();
        parities(layout, lost, piece.row).take(missing).for_each(|m| all[m as usize].read(hull));
    }
}

/// A write within one row, in the way of the fewest member I/Os.
fn write_row(layout: &Layout, lost: MemberSet, piece: RowPiece, all: &mut [MemberWork]) {
    let row = RowWrite::new(*layout, piece, lost);
    let Some((method, reads)) = row.cheapest() else { return };
    let hull = row.hull().len();
    for column in (0..layout.data_columns()).filter(|c| !row.is_lost(*c)) {
        let work = &mut all[layout.data_member(piece.row, column) as usize];
        let cover = row.cover(column).map(|cover| cover.len());
        let read = match method {
            Method::FullStripe => None,
            Method::Reconstruct => row.rest(column).map(|rest| rest.len()),
            Method::Modify => cover.filter(|_| reads > 0),
            Method::Recover => Some(hull),
        };
        read.into_iter().for_each(|moved| work.read(moved));
        cover.into_iter().for_each(|moved| work.write(moved));
    }
    for member in parities(layout, lost, piece.row) {
        let work = &mut all[member as usize];
        if matches!(method, Method::Modify | Method::Recover) {
            work.read(hull);
        }
        work.write(hull);
    }
}

/// Members that hold parities of a row and are not lost.
fn parities(layout: &Layout, lost: MemberSet, row: u64) -> impl Iterator<Item = u32> {
    [layout.p_member(row), layout.q_member(row)].into_iter().flatten().filter(move |m| !lost.has(*m))
}
