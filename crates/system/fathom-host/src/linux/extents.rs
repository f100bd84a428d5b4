//! What lies behind a file's blocks: FIEMAP, SEEK_HOLE and mincore(2).

use std::fs::File;
use std::io;

use super::{calls as sys, code};
use crate::extents::ExtentSource;

/// Bytes of `[start, end)` that were written, and which interface says so.
pub(crate) fn written_bytes(file: &File, start: u64, end: u64) -> io::Result<(u64, ExtentSource)> {
    match written_by_fiemap(file, start, end) {
        Ok(bytes) => Ok((bytes, ExtentSource::Fiemap)),
        Err(error) if matches!(error.raw_os_error(), Some(code::EOPNOTSUPP | code::ENOTTY | code::EINVAL)) => {
            Ok((written_by_seeking(file, start, end)?, ExtentSource::SeekHole))
        }
        Err(error) => Err(error),
    }
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

pub(crate) fn written_by_seeking(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let (mut at, mut written) = (start, 0);
    while at < end {
        let Some(data) = sys::seek_extent(file, at, code::SEEK_DATA)?.filter(|&d| d < end) else { break };
        let hole = sys::seek_extent(file, data, code::SEEK_HOLE)?.unwrap_or(end).min(end);
        written += hole - data;
        at = hole;
    }
    Ok(written)
}

/// Bytes of the first `length_bytes` that are in the page cache, in whole pages.
pub(crate) fn cached_bytes(file: &File, length_bytes: u64) -> io::Result<u64> {
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
