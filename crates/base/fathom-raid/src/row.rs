//! What a write to a row of RAID 5 or 6 reads and writes.

use crate::layout::{Layout, MemberSet, RowPiece};

/// Bytes `begin..end` of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// First byte.
    pub begin: u64,
    /// Past the last byte.
    pub end: u64,
}

impl Cover {
    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end - self.begin
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.begin == self.end
    }
}

/// How the new parities come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From the new data alone: nothing is read.
    FullStripe,
    /// From the new data and the data of the row that is not written, which is read.
    Reconstruct,
    /// From the old parities and the difference between old and new data.
    Modify,
    /// A lost member takes part: all that is left of the row is read, and what is lost computed.
    Recover,
}

/// A write within one row, and what members are lost. Its columns are those of the data, `0..data_columns`.
#[derive(Clone, Copy, Debug)]
pub struct RowWrite {
    layout: Layout,
    piece: RowPiece,
    /// Lost data columns, and whether P and Q are.
    lost_columns: u64,
    lost_p: bool,
    lost_q: bool,
}

impl RowWrite {
    /// The write of `piece` on an array without the members of `lost`.
    #[must_use]
    pub fn new(layout: Layout, piece: RowPiece, lost: MemberSet) -> RowWrite {
        let is_lost = |member: Option<u32>| member.is_some_and(|m| lost.has(m));
        let columns = 0..layout.data_columns();
        let lost_columns = if lost.is_empty() {
            0
        } else {
            columns.filter(|c| lost.has(layout.data_member(piece.row, *c))).fold(0, |set, c| set | 1 << c)
        };
        let (lost_p, lost_q) = (is_lost(layout.p_member(piece.row)), is_lost(layout.q_member(piece.row)));
        RowWrite { layout, piece, lost_columns, lost_p, lost_q }
    }

    /// The write in parts of which each changes one connected stretch of the parities: two chunks that are written at the
    /// end of the first and at the beginning of the second are two parts. No part is longer in a chunk than as a whole.
    pub fn parts(layout: &Layout, piece: RowPiece) -> impl Iterator<Item = RowPiece> + use<> {
        let chunk = layout.chunk_bytes();
        let (first, last) = (piece.begin / chunk, (piece.end - 1) / chunk);
        let border = last * chunk;
        let is_split = last == first + 1 && piece.end - border < piece.begin - first * chunk;
        let parts = if is_split {
            [Some(RowPiece { end: border, ..piece }), Some(RowPiece { begin: border, ..piece })]
        } else {
            [Some(piece), None]
        };
        parts.into_iter().flatten()
    }

    /// The piece.
    #[must_use]
    pub fn piece(&self) -> RowPiece {
        self.piece
    }

    /// Whether a data column is lost.
    #[must_use]
    pub fn is_lost(&self, column: u32) -> bool {
        self.lost_columns >> column & 1 == 1
    }

    /// Bytes of a column that are written.
    #[must_use]
    pub fn cover(&self, column: u32) -> Option<Cover> {
        let chunk = self.layout.chunk_bytes();
        let from = u64::from(column) * chunk;
        let begin = self.piece.begin.max(from);
        let end = self.piece.end.min(from + chunk);
        (begin < end).then(|| Cover { begin: begin - from, end: end - from })
    }

    /// Bytes of the parities that change: from the first to the last that is written in any column.
    #[must_use]
    pub fn hull(&self) -> Cover {
        let chunk = self.layout.chunk_bytes();
        let (first, last) = (self.piece.begin / chunk, (self.piece.end - 1) / chunk);
        if first == last {
            return Cover { begin: self.piece.begin - first * chunk, end: self.piece.end - first * chunk };
        }
        Cover { begin: 0, end: chunk }
    }

    /// What is to be read of a column to know all of the hull after the write: what the write leaves as it is. At most one
    /// stretch for a write in [`RowWrite::parts`], except where it lies within one column, whose hull it is.
    #[must_use]
    pub fn rest(&self, column: u32) -> Option<Cover> {
        let hull = self.hull();
        let rest = match self.cover(column) {
            None => hull,
            Some(cover) if cover.begin > hull.begin => Cover { begin: hull.begin, end: cover.begin },
            Some(cover) => Cover { begin: cover.end, end: hull.end },
        };
        (!rest.is_empty()).then_some(rest)
    }

    fn columns(&self) -> std::ops::Range<u32> {
        0..self.layout.data_columns()
    }

    fn parities_left(&self) -> u32 {
        self.layout.level().parities() - u32::from(self.lost_p) - u32::from(self.lost_q)
    }

    /// Members that the write writes: those of its columns and the parities, but for what is lost.
    #[must_use]
    pub fn writes(&self) -> u32 {
        let columns = self.columns().filter(|c| self.cover(*c).is_some() && !self.is_lost(*c)).count() as u32;
        columns + self.parities_left()
    }

    /// Members that the write reads by a method; `None` where it cannot be had.
    #[must_use]
    pub fn reads(&self, method: Method) -> Option<u32> {
        let count = |which: &dyn Fn(u32) -> bool| self.columns().filter(|c| which(*c)).count() as u32;
        match method {
            Method::FullStripe => self.columns().all(|c| self.rest(c).is_none()).then_some(0),
            Method::Reconstruct => {
                let is_known = self.columns().all(|c| !self.is_lost(c) || self.rest(c).is_none());
                is_known.then(|| count(&|c| self.rest(c).is_some()))
            }
            Method::Modify => {
                let is_known = self.columns().all(|c| !self.is_lost(c) || self.cover(c).is_none());
                // Without a parity to change there is nothing to read.
                let left = self.parities_left();
                is_known.then(|| if left == 0 { 0 } else { count(&|c| self.cover(c).is_some()) + left })
            }
            Method::Recover => {
                let lost = self.lost_columns.count_ones();
                (lost <= self.parities_left()).then(|| count(&|c| !self.is_lost(c)) + self.parities_left())
            }
        }
    }

    /// The method of the fewest member I/Os, and how many it reads; `None` when more is lost than the parities make up
    /// for. Of equals the one that computes less.
    #[must_use]
    pub fn cheapest(&self) -> Option<(Method, u32)> {
        let all = [Method::FullStripe, Method::Reconstruct, Method::Modify, Method::Recover];
        let possible = all.into_iter().filter_map(|method| Some((method, self.reads(method)?)));
        if self.lost_columns.count_ones() > self.parities_left() {
            return None;
        }
        possible.min_by_key(|(_, reads)| *reads)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::layout::Level;

    const K: u64 = 1 << 10;

    fn write(level: Level, members: u32, begin: u64, len: u64, lost: &[u32]) -> RowWrite {
        let layout = Layout::new(level, members, 64 * K).expect("a layout");
        let piece = RowPiece { row: 0, begin, end: begin + len };
        RowWrite::new(layout, piece, lost.iter().copied().collect())
    }

    /// Reads and writes of the cheapest way.
    fn cost(write: &RowWrite) -> (Method, u32, u32) {
        let (method, reads) = write.cheapest().expect("a way");
        (method, reads, write.writes())
    }

    #[test]
    fn a_small_write_costs_four_and_six_member_ios() {
        assert_eq!(cost(&write(Level::Raid5, 6, 0, 4 * K, &[])), (Method::Modify, 2, 2));
        assert_eq!(cost(&write(Level::Raid6, 8, 0, 4 * K, &[])), (Method::Modify, 3, 3));
        // Of six members three other columns are read either way.
        assert_eq!(cost(&write(Level::Raid6, 6, 0, 4 * K, &[])), (Method::Reconstruct, 3, 3));
        // Of three members the other column is fewer than old data and old parity.
        assert_eq!(cost(&write(Level::Raid5, 3, 0, 4 * K, &[])), (Method::Reconstruct, 1, 2));
    }

    #[test]
    fn a_full_stripe_reads_nothing_and_most_of_one_reads_the_rest() {
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 256 * K, &[])), (Method::FullStripe, 0, 5));
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 192 * K, &[])), (Method::Reconstruct, 1, 4));
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 128 * K, &[])), (Method::Reconstruct, 2, 3));
    }

    #[test]
    fn a_lost_member_changes_what_can_be_read() {
        // Row 0 of five members of RAID 5: columns 0 to 3 are members 0 to 3, P is member 4.
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 4 * K, &[4])), (Method::Modify, 0, 1), "P is lost: data alone");
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 4 * K, &[2])), (Method::Modify, 2, 2), "another column is lost");
        // The column itself is lost: it lives on in the parity alone, made from the new data and the other columns.
        assert_eq!(cost(&write(Level::Raid5, 5, 0, 4 * K, &[0])), (Method::Reconstruct, 3, 1));
        // Of a row that is written from within a lost column the old beginning is only in the parity.
        assert_eq!(cost(&write(Level::Raid5, 5, 32 * K, 160 * K, &[0])), (Method::Recover, 4, 3));
        assert!(write(Level::Raid5, 5, 0, 4 * K, &[0, 1]).cheapest().is_none());
    }

    #[test]
    fn two_ends_of_neighbouring_chunks_are_two_parts() {
        let layout = Layout::new(Level::Raid5, 5, 64 * K).expect("a layout");
        let piece = RowPiece { row: 7, begin: 60 * K, end: 68 * K };
        let parts: Vec<RowPiece> = RowWrite::parts(&layout, piece).collect();
        assert_eq!(parts, [RowPiece { end: 64 * K, ..piece }, RowPiece { begin: 64 * K, ..piece }]);
        let wide = RowPiece { row: 7, begin: 60 * K, end: 130 * K };
        assert_eq!(RowWrite::parts(&layout, wide).collect::<Vec<_>>(), [wide]);
    }

    proptest! {
        #[test]
        fn cover_and_rest_make_the_hull(begin in 0_u64..256, len in 1_u64..256) {
            let end = (begin + len).min(256);
            let layout = Layout::new(Level::Raid5, 5, 64 * K).expect("a layout");
            let whole = RowPiece { row: 0, begin: begin * K, end: end * K };
            let mut written = 0;
            for part in RowWrite::parts(&layout, whole) {
                let write = RowWrite::new(layout, part, MemberSet::EMPTY);
                let hull = write.hull();
                prop_assert!(hull.len() <= (end - begin) * K, "a hull is no longer than the write");
                for column in 0..4 {
                    let len = |cover: Option<Cover>| cover.map_or(0, |c| c.len());
                    written += len(write.cover(column));
                    prop_assert_eq!(len(write.cover(column)) + len(write.rest(column)), hull.len());
                }
            }
            prop_assert_eq!(written, (end - begin) * K);
        }

        #[test]
        fn there_is_a_way_for_each_loss_that_the_parities_make_up_for(
            members in 4_u32..9, begin in 0_u64..400, len in 1_u64..400, a in 0_u32..9, b in 0_u32..9, row in 0_u64..20,
        ) {
            let layout = Layout::new(Level::Raid6, members, 64 * K).expect("a layout");
            let row_k = layout.stripe_bytes() / K;
            let (begin, lost) = (begin % row_k, [a % members, b % members].into_iter().collect());
            let piece = RowPiece { row, begin: begin * K, end: (begin + len).min(row_k) * K };
            for part in RowWrite::parts(&layout, piece) {
                let (_, reads) = RowWrite::new(layout, part, lost).cheapest().expect("a way");
                prop_assert!(reads < members);
            }
        }
    }
}
