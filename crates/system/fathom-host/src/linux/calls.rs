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

/// Binds the calling thread to one CPU (sched_setaffinity(2)).
pub(crate) fn bind_thread(cpu: u32) -> io::Result<()> {
    // As many words as the CPU needs: `cpu_set_t` ends at 1024.
    let mut mask = vec![0_u64; cpu as usize / 64 + 1];
    mask[cpu as usize / 64] = 1 << (cpu % 64);
    // SAFETY: the kernel reads as many bytes of the mask as are passed, which lives past the call; the thread is this one.
    let done = unsafe { libc::sched_setaffinity(0, mem::size_of_val(&mask[..]), mask.as_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Those of `cpus` that threads of this process may be bound to, whatever its affinity is now.
pub(crate) fn bindable_cpus(cpus: &[u32]) -> Vec<u32> {
    // In a thread of its own, so that nobody else's affinity changes.
    let tried = std::thread::scope(|scope| {
        let tried = scope.spawn(|| cpus.iter().copied().filter(|cpu| bind_thread(*cpu).is_ok()).collect());
        tried.join()
    });
    tried.unwrap_or_default()
}

/// Lets this process have so many open files, or as many as it may; how many it can have then (RLIMIT_NOFILE).
///
/// # Errors
/// As the operating system says.
pub fn allow_open_files(files: u64) -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the structure that it is given.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if limit.rlim_cur >= files || limit.rlim_cur >= limit.rlim_max {
        return Ok(limit.rlim_cur);
    }
    limit.rlim_cur = files.min(limit.rlim_max);
    // SAFETY: the call reads the structure that it is given.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(limit.rlim_cur)
}

/// Has the kernel send SIGINT to the program once the thread that starts it is gone (PR_SET_PDEATHSIG). Its writes to a pipe
/// that nobody reads any more then fail: by SIGPIPE it would end before it has ended what it started itself.
pub(crate) fn interrupt_with_parent(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    let ask = || {
        // SAFETY: both take no pointer here, and may be called between fork and exec.
        let is_done = unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN) != libc::SIG_ERR
                && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGINT, 0, 0, 0) == 0
        };
        if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes two system calls that are safe after fork, and allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// What [`signal`] sends.
#[derive(Clone, Copy)]
pub(crate) enum Signal {
    Interrupt,
    Stop,
    Kill,
}

/// To a process that nobody has waited for yet, so that its number is still its own.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let number = match signal {
        Signal::Interrupt => libc::SIGINT,
        Signal::Stop => libc::SIGSTOP,
        Signal::Kill => libc::SIGKILL,
    };
    // SAFETY: kill takes no pointer.
    unsafe { libc::kill(pid.cast_signed(), number) };
}

/// CPU time of the calling thread, nanoseconds (CLOCK_THREAD_CPUTIME_ID).
#[must_use]
pub fn thread_cpu_ns() -> u64 {
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

/// The user as whom files are made.
#[must_use]
pub fn user_id() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Bytes of a page of memory.
#[must_use]
pub fn page_bytes() -> u64 {
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

/// Gives a file space for its first `length_bytes` bytes, as fallocate(2) does. `Unsupported` where its file system cannot.
pub(crate) fn allocate(file: &File, length_bytes: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length_bytes)?)
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

/// `BLKGETDISKSEQ` of linux/fs.h: _IOR(0x12, 128, __u64).
const BLKGETDISKSEQ: libc::Ioctl = 0x8008_1280_u32 as libc::Ioctl;

/// The kernel's count of disks when the block device behind `file` appeared; `None` before Linux 5.15 and for what is no
/// block device.
pub(crate) fn disk_sequence(file: &File) -> Option<u64> {
    let mut sequence = 0_u64;
    // SAFETY: the ioctl fills one integer of the size it is declared with; the descriptor is open.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), BLKGETDISKSEQ, &raw mut sequence) } == 0;
    done.then_some(sequence)
}

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    names: [u8; 128],
    key: [u8; 32],
    init: [u64; 2],
}

const _: () = assert!(mem::size_of::<LoopInfo>() == 232);

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;

/// What a loop device shows: device number of the file system and inode, and the device number of the file itself where
/// it is a device. The numbers are those of stat(2). `None` for one that shows nothing.
pub(crate) fn loop_backing(file: &File) -> Option<(u64, u64, u64)> {
    // SAFETY: an all-zero loop_info64 is a valid value of that plain structure.
    let mut info: LoopInfo = unsafe { mem::zeroed() };
    // SAFETY: the kernel fills the structure, laid out as linux/loop.h says (its size is asserted above).
    let done = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) } == 0;
    done.then_some((info.device, info.inode, info.rdevice))
}

/// Whether somebody has the file open for writing: the kernel grants a read lease only where nobody has. `None` where
/// leases cannot be had (another user's file, a network file system). `file` is open for reading alone.
pub(crate) fn has_writer(file: &File) -> Option<bool> {
    // SAFETY: takes no pointer. Somebody who opens the file in the moment between would have SIGIO sent, whose default is
    // to end the process; nothing in this program waits for it.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
    // SAFETY: takes no pointer; the descriptor is open.
    let granted = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) } == 0;
    if granted {
        // SAFETY: as above.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
        return Some(false);
    }
    (io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then_some(true)
}

/// Makes a folder that only the user may look into.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Whether what stands at a path belongs to a user.
pub(crate) fn is_of_user(path: &Path, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == user)
}

/// Whose a node is, and what may be done with it.
pub(crate) struct Owner {
    /// Number of its user.
    pub(crate) user: u32,
    /// Number of its group.
    pub(crate) group: u32,
    /// Its mode.
    pub(crate) mode: u32,
    /// Whether this user may read and write it.
    pub(crate) is_open_to_us: bool,
}

/// Of the node at a path; `None` where there is none.
pub(crate) fn owner_of(path: &Path) -> Option<Owner> {
    use rustix::fs::Access;
    let stat = rustix::fs::stat(path).ok()?;
    let is_open_to_us = rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).is_ok();
    Some(Owner { user: stat.st_uid, group: stat.st_gid, mode: stat.st_mode, is_open_to_us })
}

/// Random bits of the kernel.
pub(crate) fn random_bytes() -> io::Result<[u8; 16]> {
    use std::io::Read as _;
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// When the inode of an open file was made, in nanoseconds since 1970; `None` where the file system does not tell.
pub(crate) fn birth_ns(file: &File) -> Option<i64> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let stat = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let is_told = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let birth = stat.stx_btime;
    is_told.then(|| birth.tv_sec.saturating_mul(1_000_000_000).saturating_add(i64::from(birth.tv_nsec)))
}

/// Writes out what the file system of a folder still holds in memory.
pub(crate) fn write_out(folder: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Files an unprivileged user may still make in the file system of `path`; `None` where it sets no limit.
pub(crate) fn free_files(path: &Path) -> io::Result<Option<u64>> {
    let stat = rustix::fs::statvfs(path)?;
    Ok((stat.f_files > 0).then_some(stat.f_favail))
}

/// Bytes that a file takes on its file system, less than its length where it has holes.
///
/// # Errors
/// As fstat(2).
pub fn allocated_bytes(file: &File) -> io::Result<u64> {
    /// `st_blocks` counts in these, whatever the file system's blocks are.
    const STAT_BLOCK_BYTES: u64 = 512;
    use std::os::unix::fs::MetadataExt as _;
    Ok(file.metadata()?.blocks() * STAT_BLOCK_BYTES)
}

/// Makes a symlink at `link`, where nothing is.
///
/// # Errors
/// As symlink(2).
pub fn make_link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Makes a symlink at `link` to what is open, not to what has its name by then.
///
/// # Errors
/// As symlink(2).
pub fn link_to_open(file: &File, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()), link)
}
