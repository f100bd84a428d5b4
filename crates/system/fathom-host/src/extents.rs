//! What lies behind a file's blocks: whether they were ever written, and whether the page cache holds them.

use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};

use crate::system::extents::{cached_bytes, written_bytes};

/// Which kernel interface gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtentSource {
    /// FIEMAP: knows allocated but unwritten extents.
    Fiemap,
    /// SEEK_HOLE: knows holes only; preallocated space may count as written.
    SeekHole,
    /// FSCTL_QUERY_FILE_REGIONS of Windows: knows how far a file was written.
    FileRegions,
}

/// Space of a region that reads as zeroes without touching the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unwritten {
    /// Bytes looked at: the region, cut at the end of the file.
    pub region_bytes: u64,
    /// Bytes of it in holes and unwritten extents.
    pub unwritten_bytes: u64,
    /// How it was found out.
    pub source: ExtentSource,
}

impl Unwritten {
    /// Share of the region, percent; 0 for an empty region.
    #[must_use]
    pub fn pct(&self) -> f64 {
        if self.region_bytes == 0 { 0.0 } else { 100.0 * self.unwritten_bytes as f64 / self.region_bytes as f64 }
    }
}

/// How much of `[offset_bytes, offset_bytes + length_bytes)` of a regular file was never written.
///
/// Uses FIEMAP, and SEEK_HOLE on file systems without it (the answer says which). Data still waiting in the page
/// cache is written out first, since delayed space has no extents yet. Block devices keep no such record: ask only for
/// regular files.
///
/// # Errors
/// As ioctl(2) and lseek(2); on Windows as DeviceIoControl, and many file systems do not tell.
pub fn unwritten_share(file: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<Unwritten> {
    let end = file.metadata()?.len().min(offset_bytes.saturating_add(length_bytes));
    let region_bytes = end.saturating_sub(offset_bytes);
    let (written_bytes, source) = written_bytes(file, offset_bytes, end)?;
    Ok(Unwritten { region_bytes, unwritten_bytes: region_bytes - written_bytes, source })
}

/// Bytes of a regular file's or block device's first `length_bytes` that are in the page cache, in whole pages
/// (mincore(2)).
///
/// Since Linux 5.2 only the owner of a file, or one who may write it, gets the truth; to others every page is reported
/// as cached.
///
/// # Errors
/// As mmap(2) and mincore(2); `Unsupported` on Windows, which tells no program.
pub fn page_cache_bytes(file: &File, length_bytes: u64) -> io::Result<u64> {
    cached_bytes(file, length_bytes)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::extents::written_by_seeking;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    fn sparse_file() -> File {
        let mut file = tempfile::tempfile().expect("temp file");
        file.set_len(8 * MIB).expect("sized");
        file.seek(SeekFrom::Start(2 * MIB)).expect("seek");
        file.write_all(&vec![7u8; MIB as usize]).expect("write");
        file
    }

    #[test]
    fn a_hole_counts_as_unwritten_and_written_data_does_not() {
        let file = sparse_file();
        let check = |offset, length, want_region, want_unwritten| {
            let found = unwritten_share(&file, offset, length).expect("maps");
            assert_eq!((found.region_bytes, found.unwritten_bytes), (want_region, want_unwritten));
        };
        check(0, 8 * MIB, 8 * MIB, 7 * MIB);
        check(2 * MIB, MIB, MIB, 0);
        check(MIB, 3 * MIB / 2, 3 * MIB / 2, MIB);
        check(0, u64::MAX, 8 * MIB, 7 * MIB);
        check(9 * MIB, MIB, 0, 0);
        assert_eq!(unwritten_share(&file, 0, 8 * MIB).expect("maps").pct(), 87.5);
    }

    #[test]
    fn seeking_agrees_with_fiemap_on_holes() {
        let file = sparse_file();
        assert_eq!(written_by_seeking(&file, 0, 8 * MIB).expect("seeks"), MIB);
        assert_eq!(written_by_seeking(&file, 5 * MIB / 2, 8 * MIB).expect("seeks"), MIB / 2);
    }

    #[test]
    fn many_extents_need_several_calls_and_all_count() {
        let file = tempfile::tempfile().expect("temp file");
        file.set_len(600 * 8192).expect("sized");
        for i in 0..300u64 {
            file.write_all_at(&[1u8; 4096], i * 16384).expect("write");
        }
        let found = unwritten_share(&file, 0, u64::MAX).expect("maps");
        assert_eq!(found.region_bytes - found.unwritten_bytes, 300 * 4096);
    }

    #[test]
    fn what_was_just_written_is_in_the_page_cache_and_a_hole_is_not() {
        let file = sparse_file();
        let cached = page_cache_bytes(&file, 8 * MIB).expect("asks");
        assert_eq!(cached, MIB);
        assert_eq!(page_cache_bytes(&file, 0).expect("asks"), 0);
    }
}
