//! What a target is asked through its descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use fathom_host::OpenFlags;

use crate::priority::RWF_DONTCACHE;

/// Reads leave the times of a file alone.
pub(crate) const WITHOUT_TIMES: OpenFlags = OpenFlags::NOATIME;
/// linux/stat.h
const STATX_WRITE_ATOMIC: u32 = 0x0001_0000;
/// Size of `struct statx`, and where in it the least and the largest atomic write stand; its mask stands first.
const STATX_BYTES: usize = 256;
const UNIT_MIN_AT: usize = 0xa8;
const UNIT_MAX_AT: usize = 0xac;
/// `BLKDISCARD`, linux/fs.h: _IO(0x12, 119).
const BLKDISCARD: libc::Ioctl = 0x1277;
/// `BLKSSZGET`, linux/fs.h: _IO(0x12, 104).
const BLKSSZGET: libc::Ioctl = 0x1268;
/// `BLKFLSBUF`, linux/fs.h: _IO(0x12, 97).
const BLKFLSBUF: libc::Ioctl = 0x1261;
/// `BLKGETSIZE64`, linux/fs.h: _IOR(0x12, 114, size_t).
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272_u32 as libc::Ioctl;

/// Empties a file's page cache: dirty pages are written first, since only clean ones can go.
///
/// # Errors
/// As fdatasync(2) and posix_fadvise(2).
pub(crate) fn drop_file_cache(file: &File) -> io::Result<()> {
    file.sync_data()?;
    // SAFETY: takes a descriptor and numbers; length 0 means to the end.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// The same of a block device.
///
/// # Errors
/// As ioctl(2): it wants CAP_SYS_ADMIN.
pub(crate) fn drop_device_cache(file: &File) -> io::Result<()> {
    // SAFETY: takes a descriptor alone.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Size and logical block of a block device, bytes.
///
/// # Errors
/// As ioctl(2).
pub(crate) fn device_bytes(file: &File) -> io::Result<(u64, u64)> {
    let (mut size, mut logical) = (0_u64, 0_u32);
    // SAFETY: both ioctls fill one integer of the size they are declared with.
    let done = unsafe {
        libc::ioctl(file.as_raw_fd(), BLKGETSIZE64, &raw mut size) == 0
            && libc::ioctl(file.as_raw_fd(), BLKSSZGET, &raw mut logical) == 0
    };
    if done { Ok((size, u64::from(logical))) } else { Err(io::Error::last_os_error()) }
}

/// Whether the drive behind the character device `number` has poll queues, as its block device tells.
pub(crate) fn can_poll(number: u64) -> Option<bool> {
    let number = format!("{}:{}", libc::major(number), libc::minor(number));
    let home = std::fs::canonicalize(format!("/sys/dev/char/{number}")).ok()?;
    let name = home.file_name()?.to_str()?.strip_prefix("ng")?.to_owned();
    let text = std::fs::read_to_string(format!("/sys/class/block/nvme{name}/queue/io_poll")).ok()?;
    Some(text.trim() == "1")
}

/// Whether a file lives in memory alone (tmpfs, ramfs).
pub(crate) fn is_in_memory(file: &File) -> bool {
    // Of 32 bits each; how wide the field is that holds them differs between C libraries.
    const TMPFS_MAGIC: u32 = libc::TMPFS_MAGIC as u32;
    const RAMFS_MAGIC: u32 = 0x8584_58f6;
    // SAFETY: an all-zero statfs is a valid value of that plain structure.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `stat` outlives the call.
    let done = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut stat) } == 0;
    let magic = stat.f_type as u32;
    done && (magic == TMPFS_MAGIC || magic == RAMFS_MAGIC)
}

/// Alignment that direct I/O on a file needs, from statx; `None` where the kernel does not tell.
pub(crate) fn file_alignment(file: &File) -> Option<u64> {
    // SAFETY: an all-zero statx is a valid value of that plain structure.
    let mut stat: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: an empty path with AT_EMPTY_PATH means the descriptor itself; `stat` outlives the call.
    let done = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, &raw mut stat) == 0
    };
    let known = done && stat.stx_mask & libc::STATX_DIOALIGN != 0 && stat.stx_dio_offset_align != 0;
    known.then(|| u64::from(stat.stx_dio_offset_align))
}

/// Discards blocks of a device; whether that was done, else the reason is the last error.
pub(crate) fn discard(fd: &OwnedFd, offset: u64, len: u32) -> bool {
    let range = [offset, u64::from(len)];
    // SAFETY: the ioctl reads a range of two integers that outlives the call.
    unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD, range.as_ptr()) == 0 }
}

/// Makes a hole in a file; as [`discard`].
pub(crate) fn punch(fd: &OwnedFd, offset: u64, len: u32) -> bool {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the call takes integers only.
    unsafe { libc::fallocate(fd.as_raw_fd(), mode, offset as i64, i64::from(len)) == 0 }
}

/// Lets go of what the page cache holds, as far as the kernel follows the advice.
pub(crate) fn leave_cache(fd: &OwnedFd) {
    // SAFETY: both calls take integers only.
    unsafe {
        libc::fdatasync(fd.as_raw_fd());
        libc::posix_fadvise(fd.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
    }
}

/// Bytes read into the front of `buffer`; 0 at the end.
///
/// # Errors
/// As pread(2).
pub(crate) fn read_at(fd: &OwnedFd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    // SAFETY: `buffer` is writable for its length.
    let moved = unsafe { libc::pread(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset as i64) };
    usize::try_from(moved).map_err(|_| io::Error::last_os_error())
}

/// Least and largest atomic write of a target; `None`: the kernel does not tell.
pub(crate) fn atomic_bytes(fd: &impl AsFd) -> Option<(u32, u32)> {
    let mut stat = [0_u8; STATX_BYTES];
    // SAFETY: the path is an empty string with its end, and the buffer has the size of `struct statx`; any alignment will do
    // for the kernel.
    let done = unsafe {
        let fd = fd.as_fd().as_raw_fd();
        libc::syscall(libc::SYS_statx, fd, c"".as_ptr(), libc::AT_EMPTY_PATH, STATX_WRITE_ATOMIC, stat.as_mut_ptr())
    };
    let word = |at: usize| u32::from_ne_bytes([stat[at], stat[at + 1], stat[at + 2], stat[at + 3]]);
    let is_told = done == 0 && word(0) & STATX_WRITE_ATOMIC != 0;
    is_told.then(|| (word(UNIT_MIN_AT), word(UNIT_MAX_AT)))
}

/// Reads a byte without leaving anything in the page cache.
///
/// # Errors
/// As preadv2(2).
pub(crate) fn read_uncached(fd: &impl AsFd) -> io::Result<()> {
    let mut byte = 0_u8;
    let part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: the kernel writes at most the one byte that the vector names, which lives past the call.
    let read = unsafe { libc::preadv2(fd.as_fd().as_raw_fd(), &raw const part, 1, 0, RWF_DONTCACHE as i32) };
    if read < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
