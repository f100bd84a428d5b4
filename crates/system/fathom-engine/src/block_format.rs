//! Self-describing blocks: a header that says what the block is, and a tag in every sector that says which write it
//! came from, so that a torn block is told from a corrupt one.
//!
//! All numbers little-endian. Header, at the start of the block:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0..8 | magic |
//! | 8..16 | seed of the step that wrote it |
//! | 16..24 | byte offset in the target |
//! | 24..28 | generation: how often that step had written there |
//! | 28..32 | length of the block |
//! | 32..36 | CRC-32C of the whole block with this field zero |
//!
//! Tag, in the last 16 bytes of every 512-byte sector: magic (4), generation (4), byte offset of the sector (8).

const HEADER_MAGIC: u64 = 0x3163_6d6f_6874_6166; // "fathomc1"
const TAG_MAGIC: u32 = 0x6761_7466; // "ftag"
const SECTOR_BYTES: usize = 512;
const TAG_BYTES: usize = 16;
const CRC_AT: usize = 32;
/// Smallest block that can describe itself.
pub(crate) const BLOCK_BYTES_MIN: u32 = SECTOR_BYTES as u32;

/// What is expected of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) offset: u64,
    /// Seed and generation, where the reader knows who wrote last.
    pub(crate) written: Option<(u64, u32)>,
}

/// What a block turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Good,
    /// Sectors of different writes.
    Torn,
    /// Good, but of another offset.
    Misplaced {
        found_offset: u64,
    },
    /// Good, but of another write.
    Stale {
        found_generation: u32,
    },
    /// Checksum wrong.
    Corrupt,
    /// Not a block of ours.
    Foreign,
}

fn u64_at(block: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"))
}

fn u32_at(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"))
}

fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

/// CRC-32C of the block as if its checksum field were zero.
fn checksum(block: &[u8]) -> u32 {
    let head = crc32c::crc32c(&block[..CRC_AT]);
    let zeros = crc32c::crc32c_append(head, &[0; 4]);
    crc32c::crc32c_append(zeros, &block[CRC_AT + 4..])
}

/// Writes header and tags into `block`, which is going to `offset`.
pub(crate) fn seal(block: &mut [u8], seed: u64, offset: u64, generation: u32) {
    assert!(block.len() >= SECTOR_BYTES, "a block too small to describe itself");
    for (i, sector) in block.chunks_exact_mut(SECTOR_BYTES).enumerate() {
        let at = SECTOR_BYTES - TAG_BYTES;
        put(sector, at, &TAG_MAGIC.to_le_bytes());
        put(sector, at + 4, &generation.to_le_bytes());
        put(sector, at + 8, &(offset + (i * SECTOR_BYTES) as u64).to_le_bytes());
    }
    put(block, 0, &HEADER_MAGIC.to_le_bytes());
    put(block, 8, &seed.to_le_bytes());
    put(block, 16, &offset.to_le_bytes());
    put(block, 24, &generation.to_le_bytes());
    put(block, 28, &(block.len() as u32).to_le_bytes());
    put(block, CRC_AT, &[0; 4]);
    let crc = checksum(block);
    put(block, CRC_AT, &crc.to_le_bytes());
}

/// Length that the header of `block` names, when there is a header; may be longer than `block`.
pub(crate) fn length_in(block: &[u8]) -> Option<usize> {
    let len = u32_at(block, 28) as usize;
    let plausible = len >= SECTOR_BYTES && len.is_multiple_of(SECTOR_BYTES);
    (u64_at(block, 0) == HEADER_MAGIC && plausible).then_some(len)
}

/// Judges `block`, read from where `expected` says.
pub(crate) fn judge(block: &[u8], expected: Expected) -> Finding {
    let is_ours = length_in(block) == Some(block.len());
    if !is_ours || u32_at(block, CRC_AT) != checksum(block) {
        return judge_broken(block, is_ours);
    }
    let found_offset = u64_at(block, 16);
    if found_offset != expected.offset {
        return Finding::Misplaced { found_offset };
    }
    let found_generation = u32_at(block, 24);
    match expected.written {
        Some(written) if written != (u64_at(block, 8), found_generation) => Finding::Stale { found_generation },
        _ => Finding::Good,
    }
}

/// The checksum fails, or there is no header: the sector tags tell torn from corrupt from foreign.
fn judge_broken(block: &[u8], has_header: bool) -> Finding {
    // Where each sector came from: `None` for one that carries no tag.
    let origin = |sector: &[u8]| {
        let at = SECTOR_BYTES - TAG_BYTES;
        (u32_at(sector, at) == TAG_MAGIC).then(|| u32_at(sector, at + 4))
    };
    let never_written = |sector: &[u8]| sector.iter().all(|&b| b == 0);
    let mut sectors = block.chunks_exact(SECTOR_BYTES);
    let tagged = sectors.clone().filter(|s| origin(s).is_some()).count();
    if tagged == 0 && !has_header {
        return Finding::Foreign;
    }
    let mut generations = sectors.clone().filter_map(origin);
    let first = generations.next();
    let differ = generations.any(|generation| Some(generation) != first);
    if differ || sectors.any(never_written) { Finding::Torn } else { Finding::Corrupt }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealed(offset: u64, generation: u32, len: usize) -> Vec<u8> {
        let mut block: Vec<u8> = (0..len).map(|i| (i * 7 + generation as usize) as u8).collect();
        seal(&mut block, 99, offset, generation);
        block
    }

    const EXPECTED: Expected = Expected { offset: 8192, written: Some((99, 3)) };

    #[test]
    fn each_kind_of_damage_has_its_name() {
        let good = sealed(8192, 3, 4096);
        assert_eq!(judge(&good, EXPECTED), Finding::Good);
        assert_eq!(judge(&sealed(4096, 3, 4096), EXPECTED), Finding::Misplaced { found_offset: 4096 });
        assert_eq!(judge(&sealed(8192, 2, 4096), EXPECTED), Finding::Stale { found_generation: 2 });
        let mut flipped = good.clone();
        flipped[1000] ^= 1;
        assert_eq!(judge(&flipped, EXPECTED), Finding::Corrupt);
        let mut torn = good.clone();
        torn[2048..].copy_from_slice(&sealed(8192, 2, 4096)[2048..]);
        assert_eq!(judge(&torn, EXPECTED), Finding::Torn);
        let mut half = good;
        half[2048..].fill(0);
        assert_eq!(judge(&half, EXPECTED), Finding::Torn);
        assert_eq!(judge(&[0; 4096], EXPECTED), Finding::Foreign);
        assert_eq!(judge(&[0xA5; 4096], EXPECTED), Finding::Foreign);
    }

    #[test]
    fn a_reader_who_does_not_know_the_writer_accepts_any_generation() {
        let expected = Expected { offset: 8192, written: None };
        assert_eq!(judge(&sealed(8192, 7, 512), expected), Finding::Good);
    }

    proptest! {
        #[test]
        fn no_single_damaged_byte_goes_unnoticed(at in 0_usize..2048, xor in 1_u8..=255) {
            let mut block = sealed(8192, 3, 2048);
            block[at] ^= xor;
            prop_assert_ne!(judge(&block, EXPECTED), Finding::Good);
        }
    }
}
