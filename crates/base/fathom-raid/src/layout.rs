//! Where the bytes of an array lie on its members.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most members: a set of them is 64 bits.
pub const MEMBERS_MAX: u32 = 64;
/// Smallest chunk: the largest logical block of a drive, so that no block is cut.
const CHUNK_BYTES_MIN: u64 = 4 << 10;
/// Largest chunk.
const CHUNK_BYTES_MAX: u64 = 64 << 20;

/// How an array spreads and protects its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Stripes, no redundancy.
    Raid0,
    /// Stripes of which each chunk is on two members (`near=2`).
    Raid10,
    /// Stripes with one parity.
    Raid5,
    /// Stripes with two parities.
    Raid6,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 4] = [Level::Raid0, Level::Raid10, Level::Raid5, Level::Raid6];

    /// The word: `raid5`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Raid0 => "raid0",
            Level::Raid10 => "raid10",
            Level::Raid5 => "raid5",
            Level::Raid6 => "raid6",
        }
    }

    /// The level of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// Fewest members.
    #[must_use]
    pub fn members_min(self) -> u32 {
        match self {
            Level::Raid0 | Level::Raid10 => 2,
            Level::Raid5 => 3,
            Level::Raid6 => 4,
        }
    }

    /// Members of a row that hold parity.
    #[must_use]
    pub fn parities(self) -> u32 {
        match self {
            Level::Raid0 | Level::Raid10 => 0,
            Level::Raid5 => 1,
            Level::Raid6 => 2,
        }
    }

    /// Whether it survives the loss of a member.
    #[must_use]
    pub fn is_redundant(self) -> bool {
        self != Level::Raid0
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why there is no such layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The level needs more members.
    TooFewMembers {
        /// How many it needs.
        min: u32,
    },
    /// More members than [`MEMBERS_MAX`].
    TooManyMembers,
    /// The chunk is no power of two from 4 KiB to 64 MiB.
    Chunk,
}

/// A set of members by their positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberSet(u64);

impl MemberSet {
    /// No member.
    pub const EMPTY: MemberSet = MemberSet(0);

    /// The set with the bits of `bits`, bit i for member i.
    #[must_use]
    pub fn from_bits(bits: u64) -> MemberSet {
        MemberSet(bits)
    }

    /// Bit i for member i.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether the member is in it.
    #[must_use]
    pub fn has(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    /// The set with the member.
    #[must_use]
    pub fn with(self, member: u32) -> MemberSet {
        MemberSet(self.0 | 1 << member)
    }

    /// How many it holds.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<u32> for MemberSet {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> MemberSet {
        members.into_iter().fold(MemberSet::EMPTY, MemberSet::with)
    }
}

/// A byte on a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Position of the member.
    pub member: u32,
    /// Byte offset in it.
    pub offset: u64,
}

/// The part of an I/O that lies in one row of an array: bytes `begin..end` of the row's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPiece {
    /// Number of the row.
    pub row: u64,
    /// First byte of the row's data.
    pub begin: u64,
    /// Past its last byte.
    pub end: u64,
}

/// The layout of an array. A row is one chunk of each member at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    level: Level,
    members: u32,
    chunk_bytes: u64,
}

impl Layout {
    /// An array of `members` in chunks of `chunk_bytes`.
    ///
    /// # Errors
    /// [`LayoutError`].
    pub fn new(level: Level, members: u32, chunk_bytes: u64) -> Result<Layout, LayoutError> {
        if members < level.members_min() {
            return Err(LayoutError::TooFewMembers { min: level.members_min() });
        }
        if members > MEMBERS_MAX {
            return Err(LayoutError::TooManyMembers);
        }
        if !chunk_bytes.is_power_of_two() || !(CHUNK_BYTES_MIN..=CHUNK_BYTES_MAX).contains(&chunk_bytes) {
            return Err(LayoutError::Chunk);
        }
        Ok(Layout { level, members, chunk_bytes })
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Members, with those that are lost.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Bytes of a chunk, a power of two.
    #[must_use]
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Members of a row that hold data. Of RAID 10, whose rows may begin with half a pair, all of them.
    #[must_use]
    pub fn data_columns(&self) -> u32 {
        self.members - self.level.parities()
    }

    /// Bytes of data that a write must cover, from a multiple of it on, to need no old content: a full stripe. Of RAID 0
    /// and 10, where no write needs any, the chunks of one row.
    #[must_use]
    pub fn stripe_bytes(&self) -> u64 {
        match self.level {
            // Two rows of an odd number of members hold a whole number of pairs.
            Level::Raid10 if self.members % 2 == 1 => u64::from(self.members) * self.chunk_bytes,
            Level::Raid10 => u64::from(self.members / 2) * self.chunk_bytes,
            _ => u64::from(self.data_columns()) * self.chunk_bytes,
        }
    }

    /// Bytes of the array when each member gives `member_bytes`; what is less than a chunk is not used.
    #[must_use]
    pub fn capacity_bytes(&self, member_bytes: u64) -> u64 {
        let rows = member_bytes / self.chunk_bytes;
        let chunks = match self.level {
            Level::Raid10 => rows * u64::from(self.members) / 2,
            _ => rows * u64::from(self.data_columns()),
        };
        chunks * self.chunk_bytes
    }

    /// Bytes that each member must give for an array of `array_bytes`.
    #[must_use]
    pub fn member_bytes(&self, array_bytes: u64) -> u64 {
        let chunks = array_bytes.div_ceil(self.chunk_bytes);
        let rows = match self.level {
            Level::Raid10 => (chunks * 2).div_ceil(u64::from(self.members)),
            _ => chunks.div_ceil(u64::from(self.data_columns())),
        };
        rows * self.chunk_bytes
    }

    /// Whether the array can be read and written without the members of `lost`.
    #[must_use]
    pub fn survives(&self, lost: MemberSet) -> bool {
        match self.level {
            Level::Raid0 => lost.is_empty(),
            Level::Raid5 | Level::Raid6 => lost.count() <= self.level.parities(),
            // Each chunk is on two members that follow each other. Of an even number the pairs are fixed.
            Level::Raid10 => (0..self.members)
                .filter(|first| self.members % 2 == 1 || first % 2 == 0)
                .all(|first| !(lost.has(first) && lost.has((first + 1) % self.members))),
        }
    }

    /// Member that holds P of a row (`left-symmetric`: it moves from the last member to the first).
    #[must_use]
    pub fn p_member(&self, row: u64) -> Option<u32> {
        (self.level.parities() > 0).then(|| self.members - 1 - (row % u64::from(self.members)) as u32)
    }

    /// Member that holds Q of a row: the one after P.
    #[must_use]
    pub fn q_member(&self, row: u64) -> Option<u32> {
        let p = self.p_member(row).filter(|_| self.level == Level::Raid6)?;
        Some((p + 1) % self.members)
    }

    /// Member that holds a data column of a row: with parity, the first is the one after the last parity. Not for RAID 10.
    #[must_use]
    pub fn data_member(&self, row: u64, column: u32) -> u32 {
        match self.q_member(row).or(self.p_member(row)) {
            Some(last_parity) => (last_parity + 1 + column) % self.members,
            None => column,
        }
    }

    /// The two copies of a byte of a RAID 10: chunk k is at the positions 2k and 2k + 1 of all chunks in rows.
    #[must_use]
    pub fn copies(&self, offset: u64) -> [Place; 2] {
        let (chunk, within) = (offset / self.chunk_bytes, offset % self.chunk_bytes);
        [0, 1].map(|copy| {
            let position = chunk * 2 + copy;
            let (row, member) = (position / u64::from(self.members), position % u64::from(self.members));
            Place { member: member as u32, offset: row * self.chunk_bytes + within }
        })
    }

    /// Byte offset in the array of the chunk of which a member of a RAID 10 holds a copy in a row; it may lie beyond the end.
    #[must_use]
    pub fn mirrored_at(&self, row: u64, member: u32) -> u64 {
        (row * u64::from(self.members) + u64::from(member)) / 2 * self.chunk_bytes
    }

    /// Rows of a stripe: a whole number of pairs of an odd number of mirrored members takes two.
    #[must_use]
    pub fn rows_of_stripe(&self) -> u64 {
        1 + u64::from(self.level == Level::Raid10 && self.members % 2 == 1)
    }

    /// An I/O cut at the borders of rows. Not for RAID 10, which is cut at chunks.
    pub fn rows(&self, offset: u64, len: u64) -> impl Iterator<Item = RowPiece> + use<> {
        let row_bytes = self.stripe_bytes();
        let end = offset + len;
        let mut at = offset;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (row, begin) = (at / row_bytes, at % row_bytes);
                let piece = RowPiece { row, begin, end: (begin + end - at).min(row_bytes) };
                at += piece.end - piece.begin;
                piece
            })
        })
    }

    /// Number of the row that a byte lies in. Not for RAID 10.
    #[must_use]
    pub fn row_of(&self, offset: u64) -> u64 {
        offset / self.stripe_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    const CHUNK: u64 = 4 << 10;

    fn layout(level: Level, members: u32) -> Layout {
        Layout::new(level, members, CHUNK).expect("a layout")
    }

    /// The table of a level as md's documentation draws it: a line for each row, `D0 D1 P`.
    fn drawn(layout: &Layout, rows: u64) -> Vec<String> {
        let cell = |row: u64, member: u32| match member {
            m if layout.p_member(row) == Some(m) => "P".to_owned(),
            m if layout.q_member(row) == Some(m) => "Q".to_owned(),
            m => {
                let columns = layout.data_columns();
                let column = (0..columns).find(|c| layout.data_member(row, *c) == m).expect("a column");
                (row * u64::from(columns) + u64::from(column)).to_string()
            }
        };
        (0..rows).map(|row| (0..layout.members()).map(|m| cell(row, m)).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn raid_5_is_left_symmetric_as_md_draws_it() {
        // man md: left-symmetric, the default of mdadm.
        let expected = ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11", "12 13 14 P"];
        assert_eq!(drawn(&layout(Level::Raid5, 4), 5), expected);
    }

    #[test]
    fn raid_6_is_left_symmetric_as_md_lays_it() {
        // raid5_compute_sector, ALGORITHM_LEFT_SYMMETRIC of level 6: pd = n-1 - row % n, qd = pd+1, data from pd+2.
        let expected = ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10"];
        assert_eq!(drawn(&layout(Level::Raid6, 5), 4), expected);
    }

    #[test]
    fn raid_10_has_near_copies_also_over_an_odd_number_of_members() {
        let at = |members: u32, chunk: u64| {
            layout(Level::Raid10, members).copies(chunk * CHUNK + 5).map(|p| (p.member, p.offset))
        };
        assert_eq!(at(4, 0), [(0, 5), (1, 5)]);
        assert_eq!(at(4, 3), [(2, CHUNK + 5), (3, CHUNK + 5)]);
        // man md: of 3 members, A1 A1 A2 / A2 A3 A3.
        assert_eq!(at(3, 1), [(2, 5), (0, CHUNK + 5)]);
        assert_eq!(at(3, 2), [(1, CHUNK + 5), (2, CHUNK + 5)]);
    }

    #[test]
    fn what_cannot_be_laid_out_says_why() {
        assert_eq!(Layout::new(Level::Raid6, 3, CHUNK), Err(LayoutError::TooFewMembers { min: 4 }));
        assert_eq!(Layout::new(Level::Raid5, 65, CHUNK), Err(LayoutError::TooManyMembers));
        for chunk in [0, 512, 3 << 12, 128 << 20] {
            assert_eq!(Layout::new(Level::Raid0, 2, chunk), Err(LayoutError::Chunk));
        }
    }

    #[test]
    fn an_array_survives_what_its_level_promises() {
        let lost = |members: &[u32]| members.iter().copied().collect::<MemberSet>();
        assert!(!layout(Level::Raid0, 4).survives(lost(&[2])));
        assert!(layout(Level::Raid5, 4).survives(lost(&[2])) && !layout(Level::Raid5, 4).survives(lost(&[1, 2])));
        assert!(layout(Level::Raid6, 4).survives(lost(&[0, 3])) && !layout(Level::Raid6, 4).survives(lost(&[0, 1, 3])));
        let mirrors = layout(Level::Raid10, 4);
        assert!(mirrors.survives(lost(&[0, 2])) && mirrors.survives(lost(&[1, 2])));
        assert!(!mirrors.survives(lost(&[2, 3])));
        // Over an odd number each two neighbours share a chunk somewhere.
        assert!(!layout(Level::Raid10, 3).survives(lost(&[0, 2])));
    }

    proptest! {
        #[test]
        fn each_byte_has_a_place_of_its_own_and_fits(level in 0_usize..4, members in 4_u32..9, rows in 1_u64..20) {
            let layout = layout(Level::ALL[level], members);
            let member_bytes = rows * CHUNK;
            let capacity = layout.capacity_bytes(member_bytes);
            let mut places = BTreeSet::new();
            for chunk in 0..capacity / CHUNK {
                let offset = chunk * CHUNK;
                if layout.level() == Level::Raid10 {
                    let [a, b] = layout.copies(offset);
                    prop_assert!(a.member != b.member);
                    prop_assert!([a, b].iter().all(|p| layout.mirrored_at(p.offset / CHUNK, p.member) == offset));
                    prop_assert!(places.insert((a.member, a.offset)) && places.insert((b.member, b.offset)));
                } else {
                    let piece = layout.rows(offset, CHUNK).next().expect("a piece");
                    let member = layout.data_member(piece.row, (piece.begin / CHUNK) as u32);
                    prop_assert!(Some(member) != layout.p_member(piece.row) && Some(member) != layout.q_member(piece.row));
                    prop_assert!(places.insert((member, piece.row * CHUNK)));
                }
            }
            prop_assert!(places.iter().all(|(member, offset)| *member < members && offset + CHUNK <= member_bytes));
            prop_assert!(layout.member_bytes(capacity) <= member_bytes);
            prop_assert!(layout.capacity_bytes(layout.member_bytes(capacity)) >= capacity);
        }

        #[test]
        fn pieces_of_rows_cover_an_io_once(members in 4_u32..9, offset in 0_u64..1 << 20, len in 1_u64..1 << 20) {
            let layout = layout(Level::Raid6, members);
            let mut at = offset;
            for piece in layout.rows(offset, len) {
                prop_assert_eq!(piece.row * layout.stripe_bytes() + piece.begin, at);
                prop_assert!(piece.begin < piece.end && piece.end <= layout.stripe_bytes());
                at += piece.end - piece.begin;
            }
            prop_assert_eq!(at, offset + len);
        }
    }
}
