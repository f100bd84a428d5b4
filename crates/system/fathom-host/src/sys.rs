//! The system calls of this crate, each behind a safe function. The only module with `unsafe`.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// CPU time of the calling thread, nanoseconds (CLOCK_THREAD_CPUTIME_ID).
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; the clock id exists on every Linux since 2.6.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0, "CLOCK_THREAD_CPUTIME_ID is always readable");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Length of one tick of /proc, nanoseconds: 1 s / USER_HZ.
pub(crate) fn tick_ns() -> u64 {
    // SAFETY: sysconf takes no pointer.
    let hz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    assert!(hz > 0, "USER_HZ is positive");
    1_000_000_000 / hz as u64
}

/// Bytes a page has.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: sysconf takes no pointer.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    assert!(bytes > 0, "the page size is positive");
    bytes as u64
}

/// Bytes an unprivileged user may still write to the file system of `path` (statvfs).
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain old data, for which all zeroes is a valid value.
    let mut fs: libc::statvfs = unsafe { mem::zeroed() };
    // SAFETY: `name` ends with NUL and outlives the call; `fs` is valid for writes.
    if unsafe { libc::statvfs(name.as_ptr(), &raw mut fs) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(fs.f_bavail * fs.f_frsize)
}

/// Position of the next hole (`SEEK_HOLE`) or data (`SEEK_DATA`) from `from`; `None` when there is no more.
pub(crate) fn seek_extent(file: &File, from: u64, whence: libc::c_int) -> io::Result<Option<u64>> {
    // SAFETY: lseek takes no pointer and the descriptor is open for as long as `file` lives.
    let at = unsafe { libc::lseek(file.as_raw_fd(), from as libc::off_t, whence) };
    if at >= 0 {
        return Ok(Some(at as u64));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        error => Err(error),
    }
}

/// Extents one FIEMAP call brings back: 56 bytes each, so a call stays under 8 KiB.
const FIEMAP_EXTENTS_MAX: usize = 128;

/// `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct FiemapExtent {
    pub(crate) logical: u64,
    pub(crate) physical: u64,
    pub(crate) length: u64,
    reserved64: [u64; 2],
    pub(crate) flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` of linux/fiemap.h with room for extents.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [FiemapExtent; FIEMAP_EXTENTS_MAX],
}

const _: () = assert!(mem::size_of::<FiemapExtent>() == 56);
const _: () = assert!(mem::offset_of!(Fiemap, extents) == 32);

/// `FS_IOC_FIEMAP` = _IOWR('f', 11, struct fiemap) with a 32-byte header; same on every architecture Fathom builds for.
const FS_IOC_FIEMAP: u64 = 0xC020_660B;
/// Write delayed allocations out before mapping, so that what was just written counts as written.
const FIEMAP_FLAG_SYNC: u32 = 1;
/// The last extent of the file.
pub(crate) const FIEMAP_EXTENT_LAST: u32 = 0x1;
/// Allocated, but reads give zeroes without touching the device.
pub(crate) const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;

/// The next extents of `file` from `start`, at most [`FIEMAP_EXTENTS_MAX`] of them.
pub(crate) fn fiemap(file: &File, start: u64, length: u64) -> io::Result<Vec<FiemapExtent>> {
    let mut map = Box::new(Fiemap {
        start,
        length,
        flags: FIEMAP_FLAG_SYNC,
        mapped_extents: 0,
        extent_count: FIEMAP_EXTENTS_MAX as u32,
        reserved: 0,
        extents: [FiemapExtent::default(); FIEMAP_EXTENTS_MAX],
    });
    // SAFETY: the kernel writes the header and at most `extent_count` extents, for which `map` has room; `map` is
    // laid out as linux/fiemap.h says (asserted above) and outlives the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut *map) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = (map.mapped_extents as usize).min(FIEMAP_EXTENTS_MAX);
    Ok(map.extents[..mapped].to_vec())
}

/// Pages of `file` in `[offset, offset + length)` that are in the page cache (mincore(2)). `offset` is a multiple of
/// the page size and the range lies within the file; `flags` is scratch space that is reused.
pub(crate) fn resident_pages(file: &File, offset: u64, length: u64, flags: &mut Vec<u8>) -> io::Result<u64> {
    assert!(length > 0, "an empty range cannot be mapped");
    flags.clear();
    flags.resize(length.div_ceil(page_bytes()) as usize, 0);
    // SAFETY: a fresh mapping chosen by the kernel; it is never read through, only asked about.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length as usize,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is the mapping just made; `flags` has one byte per page of it.
    let asked = unsafe { libc::mincore(address, length as usize, flags.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: exactly the mapping made above, which nobody else knows of.
    let unmapped = unsafe { libc::munmap(address, length as usize) };
    assert_eq!(unmapped, 0, "a mapping just made can be removed");
    if asked != 0 {
        return Err(error);
    }
    Ok(flags.iter().filter(|&&page| page & 1 != 0).count() as u64)
}
