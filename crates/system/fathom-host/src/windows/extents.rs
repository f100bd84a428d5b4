//! What lies behind a file's blocks, as far as Windows tells: how much of it was ever written.

use std::fs::File;
use std::io;

use super::calls::valid_bytes;
use crate::extents::ExtentSource;

/// Bytes of `[start, end)` that were written, and which interface says so.
pub(crate) fn written_bytes(file: &File, start: u64, end: u64) -> io::Result<(u64, ExtentSource)> {
    if start >= end {
        return Ok((0, ExtentSource::FileRegions));
    }
    Ok((valid_bytes(file, start, end)?, ExtentSource::FileRegions))
}

/// Windows tells no program which parts of a file its cache holds.
pub(crate) fn cached_bytes(_file: &File, _length_bytes: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
