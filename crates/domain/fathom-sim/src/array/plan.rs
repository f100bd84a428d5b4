//! From an I/O of the load to the commands of the members: layout, copies, parities, lost members.

use fathom_raid::{Layout, Level, MemberSet, Method, RowPiece, RowWrite};

use crate::load::{READ, WRITE};
use crate::machine::Array;

/// A command to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(super) member: usize,
    pub(super) offset_bytes: u64,
    pub(super) bytes: u32,
    pub(super) op: u8,
}

/// What an I/O becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RaidPlan {
    /// Reads that must come first.
    pub(super) first: Vec<Part>,
    pub(super) then: Vec<Part>,
    /// Bytes that parity is computed over.
    pub(super) xor_bytes: u64,
    /// Bytes of the members' chunks that change or are read together, row by row: what md holds stripes of its cache for.
    pub(super) height_bytes: u64,
    /// How the parities of its rows come about.
    pub(super) methods: Vec<Method>,
    /// Pieces of a read that a lost member would have served.
    pub(super) lost_reads: u32,
}

/// Knows where an array's bytes lie.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    level: Level,
    members: u64,
    chunk: u64,
    /// `None`: a single drive that a card shows as an array.
    layout: Option<Layout>,
    lost: MemberSet,
    /// Which copy serves the next read.
    turn: usize,
    /// Bytes written since parity was last written, in a stream.
    stripe_bytes: u64,
}

impl Planner {
    pub(super) fn new(spec: &Array) -> Planner {
        let members = spec.members.len() as u32;
        Planner {
            level: spec.level,
            members: u64::from(members),
            chunk: spec.chunk_bytes,
            layout: Layout::new(spec.level, members, spec.chunk_bytes).ok(),
            lost: spec.lost,
            turn: 0,
            stripe_bytes: 0,
        }
    }

    pub(super) fn has_parity(&self) -> bool {
        self.level.parities() > 0
    }

    /// Bytes of data that a write must cover to need no old content; a chunk where none is ever needed.
    pub(super) fn row_bytes(&self) -> u64 {
        self.layout.filter(|_| self.has_parity()).map_or(self.chunk, |layout| layout.stripe_bytes())
    }

    pub(super) fn plan(&mut self, op: u8, offset_bytes: u64, bytes: u32) -> RaidPlan {
        match self.layout.filter(|_| self.has_parity()) {
            None => RaidPlan { then: self.copied(op, offset_bytes, bytes), ..RaidPlan::default() },
            Some(layout) if op == WRITE => self.written(&layout, offset_bytes, u64::from(bytes)),
            Some(layout) => self.read(&layout, op, offset_bytes, u64::from(bytes)),
        }
    }

    /// A write of a stream, whose neighbours come soon: it waits for them where the array can, and parity is written once
    /// for each whole stripe. None of it needs old content.
    pub(super) fn streamed(&mut self, offset_bytes: u64, bytes: u32) -> RaidPlan {
        let Some(layout) = self.layout.filter(|_| self.has_parity()) else {
            return self.plan(WRITE, offset_bytes, bytes);
        };
        let mut then = self.read(&layout, WRITE, offset_bytes, u64::from(bytes)).then;
        self.stripe_bytes += u64::from(bytes);
        let stripe = layout.stripe_bytes();
        let height_bytes = u64::from(bytes) / u64::from(layout.data_columns());
        while self.stripe_bytes >= stripe {
            self.stripe_bytes -= stripe;
            let row = offset_bytes / stripe;
            let chunk = self.chunk as u32;
            then.extend(self.parities(&layout, row).map(|member| part(member, row * self.chunk, chunk, WRITE)));
        }
        RaidPlan { then, xor_bytes: u64::from(bytes), height_bytes, ..RaidPlan::default() }
    }

    /// Extents of one row, dirty in a cache, together. Of two ways the one with fewer member I/Os: each as a write of its own,
    /// or the row's stretch made new from what is dirty and what is read of the rest.
    pub(super) fn gathered(&mut self, extents: &[(u64, u64)]) -> RaidPlan {
        let mut each = RaidPlan::default();
        for (offset, bytes) in extents {
            let plan = self.plan(WRITE, *offset, *bytes as u32);
            each.first.extend(plan.first);
            each.then.extend(plan.then);
            each.xor_bytes += plan.xor_bytes;
            each.height_bytes += plan.height_bytes;
            each.methods.extend(plan.methods);
        }
        let Some(layout) = self.layout.filter(|_| self.has_parity() && extents.len() > 1 && self.lost.is_empty())
        else {
            return each;
        };
        let (chunk, stripe) = (self.chunk, layout.stripe_bytes());
        let row = extents[0].0 / stripe;
        let pieces = || {
            extents.iter().flat_map(|(offset, bytes)| {
                let piece = RowPiece { row, begin: offset % stripe, end: offset % stripe + bytes };
                let write = RowWrite::new(layout, piece, MemberSet::EMPTY);
                (0..layout.data_columns()).filter_map(move |column| Some((column, write.cover(column)?)))
            })
        };
        let begin = pieces().map(|(_, cover)| cover.begin).min().unwrap_or(0);
        let end = pieces().map(|(_, cover)| cover.end).max().unwrap_or(chunk);
        let (at, height) = (row * chunk + begin, (end - begin) as u32);
        let mut whole = RaidPlan::default();
        for column in 0..layout.data_columns() {
            let held: u64 = pieces().filter(|(c, _)| *c == column).map(|(_, cover)| cover.len()).sum();
            let member = layout.data_member(row, column);
            if held < u64::from(height) {
                whole.first.push(part(member, at, height, READ));
            }
            if held > 0 {
                whole.then.push(part(member, at, height, WRITE));
            }
        }
        whole.then.extend(self.parities(&layout, row).map(|member| part(member, at, height, WRITE)));
        let count = |plan: &RaidPlan| plan.first.len() + plan.then.len();
        if count(&whole) >= count(&each) {
            return each;
        }
        whole.xor_bytes = u64::from(height) * u64::from(layout.data_columns());
        whole.height_bytes = u64::from(height);
        whole.methods = vec![if whole.first.is_empty() { Method::FullStripe } else { Method::Reconstruct }];
        whole
    }

    /// A row of a lost member made new: what is read of the others, and what is written to it.
    pub(super) fn rebuilt(&self, row: u64, member: u32) -> RaidPlan {
        let (offset, bytes) = (row * self.chunk, self.chunk as u32);
        let others = (0..self.members as u32).filter(|m| *m != member && !self.lost.has(*m));
        let reads: Vec<Part> = match self.layout.filter(|_| self.has_parity()) {
            // As many as there are data columns give all others; Q is read only where it must be.
            Some(layout) => {
                let q = layout.q_member(row);
                let mut all: Vec<u32> = others.collect();
                all.sort_by_key(|m| Some(*m) == q);
                all.truncate(layout.data_columns() as usize);
                all.into_iter().map(|m| part(m, offset, bytes, READ)).collect()
            }
            None => {
                // Chunk k is at the positions 2k and 2k + 1 of all chunks in rows.
                let twin = (row * self.members + u64::from(member)) ^ 1;
                let (row, member) = (twin / self.members, (twin % self.members) as u32);
                if self.lost.has(member) { Vec::new() } else { vec![part(member, row * self.chunk, bytes, READ)] }
            }
        };
        RaidPlan {
            xor_bytes: if self.has_parity() { reads.len() as u64 * self.chunk } else { 0 },
            first: reads,
            then: vec![part(member, offset, bytes, WRITE)],
            height_bytes: self.chunk,
            ..RaidPlan::default()
        }
    }

    /// Stripes with or without second copies. A read goes to the copies in turn.
    fn copied(&mut self, op: u8, offset_bytes: u64, bytes: u32) -> Vec<Part> {
        let (mut at, end) = (offset_bytes, offset_bytes + u64::from(bytes));
        let mut out = Vec::with_capacity(2);
        while at < end {
            let next = (at / self.chunk + 1) * self.chunk;
            let moved = (end.min(next) - at) as u32;
            match self.layout.filter(|_| self.level == Level::Raid10) {
                None => {
                    let (chunk, within) = (at / self.chunk, at % self.chunk);
                    let member = (chunk % self.members) as u32;
                    out.push(part(member, chunk / self.members * self.chunk + within, moved, op));
                }
                Some(layout) => {
                    let copies = layout.copies(at);
                    let mut left = copies.iter().filter(|place| !self.lost.has(place.member));
                    if op == READ {
                        self.turn += 1;
                        let both = left.clone().count() == 2;
                        let place = if both { &copies[self.turn % 2] } else { left.next().unwrap_or(&copies[0]) };
                        out.push(part(place.member, place.offset, moved, op));
                    } else {
                        out.extend(left.map(|place| part(place.member, place.offset, moved, op)));
                    }
                }
            }
            at = next;
        }
        out
    }

    /// A read under parity; also where the data of a write or a trim lie.
    fn read(&self, layout: &Layout, op: u8, offset_bytes: u64, bytes: u64) -> RaidPlan {
        let mut plan = RaidPlan::default();
        let mut parts = Vec::with_capacity(1);
        for piece in layout.rows(offset_bytes, bytes) {
            let row = RowWrite::new(*layout, piece, self.lost);
            let columns = || 0..layout.data_columns();
            let hit = columns().filter(|c| row.is_lost(*c) && row.cover(*c).is_some()).count() as u32;
            let at = piece.row * self.chunk;
            if hit == 0 || op != READ {
                parts.extend(columns().filter(|c| !row.is_lost(*c)).filter_map(|column| {
                    let cover = row.cover(column)?;
                    Some(part(layout.data_member(piece.row, column), at + cover.begin, cover.len() as u32, op))
                }));
                continue;
            }
            let hull = row.hull();
            let height = hull.len() as u32;
            let missing = columns().filter(|c| row.is_lost(*c)).count();
            let data = columns().filter(|c| !row.is_lost(*c)).map(|c| layout.data_member(piece.row, c));
            let parities = self.parities(layout, piece.row).take(missing);
            let reads: Vec<Part> =
                data.chain(parities).map(|member| part(member, at + hull.begin, height, READ)).collect();
            plan.xor_bytes += reads.len() as u64 * hull.len();
            plan.height_bytes += hull.len();
            plan.lost_reads += hit;
            parts.extend(reads);
        }
        // What is computed is computed when all of it is there.
        if plan.lost_reads > 0 {
            plan.first = parts;
        } else {
            plan.then = parts;
        }
        plan
    }

    /// A write under parity, row by row in the way of the fewest member I/Os.
    fn written(&self, layout: &Layout, offset_bytes: u64, bytes: u64) -> RaidPlan {
        let mut plan = RaidPlan::default();
        let pieces = layout.rows(offset_bytes, bytes).flat_map(|piece| RowWrite::parts(layout, piece));
        for piece in pieces {
            let row = RowWrite::new(*layout, piece, self.lost);
            let Some((method, reads)) = row.cheapest() else { continue };
            let (hull, at) = (row.hull(), piece.row * self.chunk);
            let mut read_bytes = 0;
            let mut read = |plan: &mut RaidPlan, member: u32, begin: u64, len: u64| {
                read_bytes += len;
                plan.first.push(part(member, at + begin, len as u32, READ));
            };
            for column in (0..layout.data_columns()).filter(|c| !row.is_lost(*c)) {
                let member = layout.data_member(piece.row, column);
                let cover = row.cover(column);
                let old = match method {
                    Method::FullStripe => None,
                    Method::Reconstruct => row.rest(column),
                    Method::Modify => cover.filter(|_| reads > 0),
                    Method::Recover => Some(hull),
                };
                if let Some(old) = old {
                    read(&mut plan, member, old.begin, old.len());
                }
                if let Some(new) = cover {
                    plan.then.push(part(member, at + new.begin, new.len() as u32, WRITE));
                }
            }
            for member in self.parities(layout, piece.row) {
                if matches!(method, Method::Modify | Method::Recover) {
                    read(&mut plan, member, hull.begin, hull.len());
                }
                plan.then.push(part(member, at + hull.begin, hull.len() as u32, WRITE));
            }
            plan.xor_bytes += read_bytes + (piece.end - piece.begin);
            plan.height_bytes += hull.len();
            plan.methods.push(method);
        }
        plan
    }

    /// Members that hold parities of a row and are not lost.
    fn parities(&self, layout: &Layout, row: u64) -> impl Iterator<Item = u32> + use<> {
        let lost = self.lost;
        [layout.p_member(row), layout.q_member(row)].into_iter().flatten().filter(move |m| !lost.has(*m))
    }
}

fn part(member: u32, offset_bytes: u64, bytes: u32, op: u8) -> Part {
    Part { member: member as usize, offset_bytes, bytes, op }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::machine::ArrayController;

    const CHUNK: u64 = 65_536;

    fn planner(level: Level, members: usize, lost: &[u32]) -> Planner {
        let spec = Array {
            name: "a".into(),
            level,
            members: (0..members).collect(),
            lost: lost.iter().copied().collect(),
            rebuild: None,
            chunk_bytes: CHUNK,
            controller: ArrayController::UserSpace(crate::machine::UserSpace::default()),
        };
        Planner::new(&spec)
    }

    #[test]
    fn small_writes_cost_what_the_textbook_says() {
        for (level, reads, writes) in
            [(Level::Raid0, 0, 1), (Level::Raid10, 0, 2), (Level::Raid5, 2, 2), (Level::Raid6, 3, 3)]
        {
            let plan = planner(level, 8, &[]).plan(WRITE, 12_345 * 4096, 4096);
            assert_eq!((plan.first.len(), plan.then.len()), (reads, writes), "{level:?}");
            let members: BTreeSet<usize> = plan.then.iter().map(|p| p.member).collect();
            assert_eq!(members.len(), writes, "{level:?}: each on a member of its own");
        }
    }

    #[test]
    fn parity_lies_beside_the_data_that_it_is_of() {
        for (level, at) in [(Level::Raid5, 0), (Level::Raid5, 5 * CHUNK + 12_288), (Level::Raid6, 3 * CHUNK + 61_440)] {
            let plan = planner(level, 8, &[]).plan(WRITE, at, 4096);
            let places: BTreeSet<u64> = plan.first.iter().chain(&plan.then).map(|p| p.offset_bytes).collect();
            assert_eq!(places.len(), 1, "{level:?} at {at}: {places:?}");
            assert_eq!(places.first().map(|p| p % CHUNK), Some(at % CHUNK));
        }
    }

    #[test]
    fn a_whole_stripe_needs_no_reads() {
        let mut five = planner(Level::Raid5, 5, &[]);
        let plan = five.plan(WRITE, 4 * CHUNK * 3, 4 * CHUNK as u32);
        assert!(plan.first.is_empty());
        assert_eq!((plan.then.len(), plan.methods), (5, vec![Method::FullStripe]));
        // Most of a stripe is cheaper to complete than to modify.
        let plan = five.plan(WRITE, 4 * CHUNK * 3, 3 * CHUNK as u32);
        assert_eq!((plan.first.len(), plan.then.len()), (1, 4));
    }

    #[test]
    fn a_stream_writes_parity_once_per_stripe() {
        let mut six = planner(Level::Raid6, 8, &[]);
        let parts: usize = (0..16 * 6).map(|i| six.streamed(i * 4096, 4096).then.len()).sum();
        assert_eq!(parts, 16 * 6 + 2);
    }

    #[test]
    fn a_lost_column_is_read_from_all_others_and_written_into_the_parity_alone() {
        // Row 0 of five members: columns 0 to 3 are members 0 to 3, P is member 4.
        let mut five = planner(Level::Raid5, 5, &[1]);
        let plan = five.plan(READ, CHUNK, 4096);
        assert_eq!((plan.first.len(), plan.then.len(), plan.lost_reads, plan.xor_bytes), (4, 0, 1, 4 * 4096));
        assert_eq!(five.plan(READ, 0, 4096).then.len(), 1);
        let plan = five.plan(WRITE, CHUNK, 4096);
        assert_eq!((plan.first.len(), plan.then.len()), (3, 1));
        let mut ten = planner(Level::Raid10, 4, &[0]);
        assert!((0..4).all(|_| ten.plan(READ, 0, 4096).then[0].member == 1));
        assert_eq!(ten.plan(WRITE, 0, 4096).then.len(), 1);
    }

    #[test]
    fn a_rebuilt_row_reads_as_many_members_as_hold_data() {
        for (level, members, reads) in [(Level::Raid5, 5, 4), (Level::Raid6, 8, 6), (Level::Raid10, 4, 1)] {
            let plan = planner(level, members, &[0]).rebuilt(3, 0);
            assert_eq!((plan.first.len(), plan.then.len()), (reads, 1), "{level:?}");
            assert!(plan.first.iter().all(|p| p.member != 0 && p.offset_bytes == 3 * CHUNK));
        }
    }

    #[test]
    fn what_a_cache_gathered_of_a_row_is_written_together_where_that_is_less() {
        let mut five = planner(Level::Raid5, 5, &[]);
        // The same 4k of all four columns: a whole stripe of 4k, no reads.
        let same: Vec<(u64, u64)> = (0..4).map(|c| (c * CHUNK + 8192, 4096)).collect();
        let plan = five.gathered(&same);
        assert_eq!((plan.first.len(), plan.then.len(), plan.methods.len()), (0, 5, 1));
        // One alone is what it is without a cache.
        assert_eq!(five.gathered(&same[..1]), five.plan(WRITE, 8192, 4096));
    }

    proptest! {
        #[test]
        fn no_two_chunks_share_a_place(
            level in prop_oneof![Just(Level::Raid0), Just(Level::Raid10), Just(Level::Raid5), Just(Level::Raid6)],
            pairs in 2_usize..6,
        ) {
            let mut state = planner(level, pairs * 2, &[]);
            let places: BTreeSet<_> = (0..500)
                .map(|c| state.plan(crate::load::TRIM, c * CHUNK, 4096).then[0])
                .map(|part| (part.member, part.offset_bytes))
                .collect();
            prop_assert_eq!(places.len(), 500);
            prop_assert!(places.iter().all(|(member, _)| *member < pairs * 2));
        }
    }
}
