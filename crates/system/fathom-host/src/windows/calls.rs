//! The system calls of this crate, each behind a safe function.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation as of;
use windows_sys::Win32::Security::Authentication::Identity::RtlGenRandom;
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading as threads;

/// CPUs of a processor group: number 70 is CPU 6 of group 1.
pub(crate) const GROUP_CPUS: u32 = 64;

/// Binds the calling thread to one CPU of one group (SetThreadGroupAffinity).
pub(crate) fn bind_thread(cpu: u32) -> io::Result<()> {
    let group = u16::try_from(cpu / GROUP_CPUS).map_err(|_| io::ErrorKind::InvalidInput)?;
    let wanted = GROUP_AFFINITY { Mask: 1 << (cpu % GROUP_CPUS), Group: group, Reserved: [0; 3] };
    // SAFETY: the structure outlives the call, which reads it; the thread is this one.
    let done = unsafe {
        threads::SetThreadGroupAffinity(threads::GetCurrentThread(), &raw const wanted, std::ptr::null_mut())
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// How many files this process can have open then: Windows has no limit that is set.
///
/// # Errors
/// None.
pub fn allow_open_files(files: u64) -> io::Result<u64> {
    Ok(files)
}

/// CPU time of the calling thread, nanoseconds (GetThreadTimes): Windows counts it in ticks of some milliseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    let mut times = [of::FILETIME::default(); 4];
    let [made, ended, kernel, user] = &mut times;
    // SAFETY: the four structures outlive the call, which fills them; the thread is this one.
    let done = unsafe {
        threads::GetThreadTimes(
            threads::GetCurrentThread(),
            &raw mut *made,
            &raw mut *ended,
            &raw mut *kernel,
            &raw mut *user,
        )
    };
    assert_ne!(done, 0, "the times of this thread are always readable");
    100 * [times[2], times[3]]
        .map(|t| u64::from(t.dwHighDateTime) << 32 | u64::from(t.dwLowDateTime))
        .iter()
        .sum::<u64>()
}

/// Length of one tick of /proc, which nobody reads here: the unit of Windows, 100 ns.
pub(crate) fn tick_ns() -> u64 {
    100
}

/// Bytes of a page of memory: 4 KiB on every processor that this program is built for.
#[must_use]
pub fn page_bytes() -> u64 {
    4096
}

/// A number for the user as whom files are made: Windows has none; files are told apart by their marks alone.
#[must_use]
pub fn user_id() -> u32 {
    0
}

/// Bytes a user may still write to the volume of `path`, within his quota.
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    let mut free = 0;
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let name = wide(folder);
    // SAFETY: the name ends in a zero; the number outlives the call, which fills it.
    let done =
        unsafe { fs::GetDiskFreeSpaceExW(name.as_ptr(), &raw mut free, std::ptr::null_mut(), std::ptr::null_mut()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(free) }
}

/// Text with a zero at its end.
pub(crate) fn wide(text: impl AsRef<std::ffi::OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// `FSCTL_QUERY_FILE_REGIONS`, `FILE_REGION_USAGE_VALID_CACHED_DATA` and its structures (winioctl.h).
const QUERY_FILE_REGIONS: u32 = 0x0009_0284;
const VALID_CACHED_DATA: u32 = 1;

#[repr(C)]
struct RegionInput {
    offset: i64,
    length: i64,
    usage: u32,
}

/// `FILE_REGION_OUTPUT` with room for one `FILE_REGION_INFO`: NTFS keeps one length of valid data.
#[repr(C)]
#[derive(Default)]
struct RegionOutput {
    flags: u32,
    total: u32,
    count: u32,
    reserved: u32,
    offset: i64,
    length: i64,
    usage: u32,
    reserved_region: u32,
}

const _: () = assert!(size_of::<RegionInput>() == 24 && size_of::<RegionOutput>() == 40);

/// Bytes of `[start, end)` of a file that hold data that was written: behind them reads give zeroes without touching the device.
///
/// # Errors
/// As the file system says; many have no such length.
pub(crate) fn valid_bytes(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let input = RegionInput {
        offset: start.cast_signed(),
        length: end.saturating_sub(start).cast_signed(),
        usage: VALID_CACHED_DATA,
    };
    let (mut output, mut bytes) = (RegionOutput::default(), 0);
    // SAFETY: both structures outlive the call and are laid out as winioctl.h says; the call writes at most as many bytes as
    // the second has.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            QUERY_FILE_REGIONS,
            (&raw const input).cast(),
            size_of::<RegionInput>() as u32,
            (&raw mut output).cast(),
            size_of::<RegionOutput>() as u32,
            &raw mut bytes,
            std::ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let valid = if output.count == 0 { 0 } else { output.length.max(0).cast_unsigned() };
    Ok(valid.min(end.saturating_sub(start)))
}

/// Whether somebody has the file open for writing: Windows opens it for one who shares no writing only where nobody has.
/// `None` where that cannot be found out.
pub(crate) fn has_writer(file: &File) -> Option<bool> {
    // SAFETY: takes a handle that is open, and gives one that nobody else has.
    let handle = unsafe {
        let share = fs::FILE_SHARE_READ | fs::FILE_SHARE_DELETE;
        fs::ReOpenFile(file.as_raw_handle(), fs::FILE_GENERIC_READ, share, 0)
    };
    if handle != of::INVALID_HANDLE_VALUE {
        // SAFETY: as above.
        drop(unsafe { OwnedHandle::from_raw_handle(handle) });
        return Some(false);
    }
    let code = io::Error::last_os_error().raw_os_error().map(i32::cast_unsigned);
    (code == Some(of::ERROR_SHARING_VIOLATION)).then_some(true)
}

/// Makes a folder, with the rights of the one it is in.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Whether what stands at a path belongs to a user. Every user has a folder for temporary files of his own, and what is his
/// bears a mark: all that is there counts as his.
pub(crate) fn is_of_user(_path: &Path, _user: u32) -> bool {
    true
}

/// Whose a node of Linux is.
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

/// There are no such nodes here.
pub(crate) fn owner_of(_path: &Path) -> Option<Owner> {
    None
}

/// As Linux numbers disks: Windows gives no such number.
pub(crate) fn disk_sequence(_file: &File) -> Option<u64> {
    None
}

/// There are no loop devices here.
pub(crate) fn loop_backing(_file: &File) -> Option<(u64, u64, u64)> {
    None
}

/// Those of `cpus` that threads of this process may be bound to.
pub(crate) fn bindable_cpus(cpus: &[u32]) -> Vec<u32> {
    // In a thread of its own, so that nobody else's affinity changes.
    let tried = std::thread::scope(|scope| {
        let tried = scope.spawn(|| cpus.iter().copied().filter(|cpu| bind_thread(*cpu).is_ok()).collect());
        tried.join()
    });
    tried.unwrap_or_default()
}

/// Random bits of the system.
pub(crate) fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    // SAFETY: the call fills as many bytes as it is told of, which outlive it.
    let done = unsafe { RtlGenRandom(bytes.as_mut_ptr().cast(), bytes.len() as u32) };
    if done { Ok(bytes) } else { Err(io::ErrorKind::Other.into()) }
}

/// Not needed beside the index of a file: NTFS counts in it how often the record was used.
pub(crate) fn birth_ns(_file: &File) -> Option<i64> {
    None
}

/// Windows writes a volume out for its administrators alone.
pub(crate) fn write_out(_folder: super::BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// NTFS and ReFS set no limit.
pub(crate) fn free_files(_path: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Bytes that a file takes on its volume, less than its length where it is sparse.
///
/// # Errors
/// As GetFileInformationByHandleEx.
pub fn allocated_bytes(file: &File) -> io::Result<u64> {
    let mut found = fs::FILE_STANDARD_INFO::default();
    let bytes = size_of::<fs::FILE_STANDARD_INFO>() as u32;
    // SAFETY: the structure outlives the call, which fills as many bytes as it has.
    let done = unsafe {
        fs::GetFileInformationByHandleEx(file.as_raw_handle(), fs::FileStandardInfo, (&raw mut found).cast(), bytes)
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(found.AllocationSize.max(0).cast_unsigned()) }
}

/// Makes a symlink at `link`, where nothing is: Windows lets its administrators, and users in developer mode.
///
/// # Errors
/// As CreateSymbolicLinkW.
pub fn make_link(target: &Path, link: &Path) -> io::Result<()> {
    let leads_to_folder = link.parent().is_some_and(|folder| folder.join(target).is_dir());
    if leads_to_folder {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// Makes a symlink at `link` to the path of what is open.
///
/// # Errors
/// As CreateSymbolicLinkW.
pub fn link_to_open(file: &File, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(super::files::final_path(file)?, link)
}

/// A file has the space of its length on Windows.
pub(crate) fn allocate(_file: &File, _length_bytes: u64) -> io::Result<()> {
    Ok(())
}
