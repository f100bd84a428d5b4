//! What lies behind a file's blocks: whether they were ever written, and whether the page cache holds them.

use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};

use crate::sys;

/// Which kernel interface gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtentSource {
    /// FIEMAP: knows allocated but unwritten extents.
    Fiemap,
    /// SEEK_HOLE: knows holes only; preallocated space may count as written.
    SeekHole,
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
/// As ioctl(2) and lseek(2).
pub fn unwritten_share(file: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<Unwritten> {
    let end = file.metadata()?.len().min(offset_bytes.saturating_add(length_bytes));
    let region_bytes = end.saturating_sub(offset_bytes);
    let (written_bytes, source) = match written_by_fiemap(file, offset_bytes, end) {
        Ok(bytes) => (bytes, ExtentSource::Fiemap),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EINVAL)) => {
            (written_by_seeking(file, offset_bytes, end)?, ExtentSource::SeekHole)
        }
        Err(error) => return Err(error),
    };
    Ok(Unwritten { region_bytes, unwritten_bytes: region_bytes - written_bytes, source })
}

fn written_by_fiemap(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let (mut at, mut written) = (start, 0);
    while at < end {
        let extents = sys::fiemap(file, at, end - at)?;
        let Some(last) = extents.last() else { break };
        for extent in &extents {
            // `at` also guards against counting twice an extent that spans two calls.
            let (from, to) = (extent.logical.max(at), (extent.logical + extent.length).min(end));
            if extent.flags & sys::FIEMAP_EXTENT_UNWRITTEN == 0 {
                written += to.saturating_sub(from);
            }
            at = at.max(to);
        }
        if last.flags & sys::FIEMAP_EXTENT_LAST != 0 {
            break;
        }
    }
    Ok(written)
}

fn written_by_seeking(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let (mut at, mut written) = (start, 0);
    while at < end {
        let Some(data) = sys::seek_extent(file, at, libc::SEEK_DATA)?.filter(|&d| d < end) else { break };
        let hole = sys::seek_extent(file, data, libc::SEEK_HOLE)?.unwrap_or(end).min(end);
        written += hole - data;
        at = hole;
    }
    Ok(written)
}

/// Bytes of a regular file's or block device's first `length_bytes` that are in the page cache, in whole pages
/// (mincore(2)).
///
/// Since Linux 5.2 only the owner of a file, or one who may write it, gets the truth; to others every page is reported
/// as cached.
///
/// # Errors
/// As mmap(2) and mincore(2).
pub fn page_cache_bytes(file: &File, length_bytes: u64) -> io::Result<u64> {
    /// 1 GiB at a time: 256 KiB of flags, however large the file is.
    const WINDOW_BYTES: u64 = 1 << 30;
    let (mut at, mut pages, mut flags) = (0, 0, Vec::new());
    while at < length_bytes {
        let length = WINDOW_BYTES.min(length_bytes - at);
        pages += sys::resident_pages(file, at, length, &mut flags)?;
        at += length;
    }
    Ok((pages * sys::page_bytes()).min(length_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
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
