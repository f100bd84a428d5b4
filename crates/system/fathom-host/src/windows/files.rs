//! Opening, looking at, renaming and removing files and folders, by the names and with the promises of Linux's calls that
//! this crate relies on: through a handle of the folder, never through a link unless asked, nothing replaced unseen.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io;
use std::mem::{offset_of, size_of};
use std::ops::BitOr;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem as nt;
use windows_sys::Win32::Foundation as of;
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::fd::AsFd;

/// How something is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OFlags(u32);

impl OFlags {
    /// To read. The same as nothing, as on Linux.
    pub const RDONLY: OFlags = OFlags(0);
    /// To write alone.
    pub const WRONLY: OFlags = OFlags(1);
    /// To read and write.
    pub const RDWR: OFlags = OFlags(1 << 1);
    /// Makes it where it is not there.
    pub const CREATE: OFlags = OFlags(1 << 2);
    /// With `CREATE`: fails where it is there.
    pub const EXCL: OFlags = OFlags(1 << 3);
    /// Never through a link at its end.
    pub const NOFOLLOW: OFlags = OFlags(1 << 4);
    /// Has no meaning here: nothing waits.
    pub const NONBLOCK: OFlags = OFlags(0);
    /// Has no meaning here: no handle is inherited.
    pub const CLOEXEC: OFlags = OFlags(0);
    /// Cut to nothing.
    pub const TRUNC: OFlags = OFlags(1 << 5);
    /// Each write goes to the end.
    pub const APPEND: OFlags = OFlags(1 << 6);
    /// Neither to read nor to write, only to be looked at.
    pub const PATH: OFlags = OFlags(1 << 7);
    /// Must be a folder.
    pub const DIRECTORY: OFlags = OFlags(1 << 8);
    /// Past the cache of Windows.
    pub const DIRECT: OFlags = OFlags(1 << 9);
    /// Each write reaches the medium before it ends, with what leads to it.
    pub const SYNC: OFlags = OFlags(1 << 10);
    /// The same: Windows knows no difference.
    pub const DSYNC: OFlags = OFlags(1 << 10);
    /// I/O ends later, at a completion port.
    pub const OVERLAPPED: OFlags = OFlags(1 << 11);

    /// None.
    #[must_use]
    pub const fn empty() -> OFlags {
        OFlags(0)
    }

    /// Whether all of `other` are among them.
    #[must_use]
    pub const fn contains(self, other: OFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn union(self, other: OFlags) -> OFlags {
        OFlags(self.0 | other.0)
    }

    /// Adds or takes away.
    pub fn set(&mut self, flags: OFlags, is_set: bool) {
        self.0 = if is_set { self.0 | flags.0 } else { self.0 & !flags.0 };
    }

    fn has(self, flag: OFlags) -> bool {
        self.0 & flag.0 != 0
    }
}

impl BitOr for OFlags {
    type Output = OFlags;

    fn bitor(self, other: OFlags) -> OFlags {
        self.union(other)
    }
}

impl std::ops::BitOrAssign for OFlags {
    fn bitor_assign(&mut self, other: OFlags) {
        *self = *self | other;
    }
}

/// Rights by the letters of Linux: Windows gives new files those of their folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode;

impl Mode {
    /// The user may read.
    pub(crate) const RUSR: Mode = Mode;
    /// The user may write.
    pub(crate) const WUSR: Mode = Mode;
    /// The user may do everything.
    pub(crate) const RWXU: Mode = Mode;

    /// None.
    #[must_use]
    pub(crate) const fn empty() -> Mode {
        Mode
    }

    /// Both.
    #[must_use]
    pub(crate) const fn union(self, _other: Mode) -> Mode {
        Mode
    }
}

/// Why a call failed, as Windows numbers it; what comes by two numbers has one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(u32);

impl Errno {
    /// There is none.
    pub(crate) const NOENT: Errno = Errno(of::ERROR_FILE_NOT_FOUND);
    /// Something is there.
    pub(crate) const EXIST: Errno = Errno(of::ERROR_FILE_EXISTS);
    /// A link that is not to be followed.
    pub(crate) const LOOP: Errno = Errno(of::ERROR_CANT_RESOLVE_FILENAME);
    /// There is no such device.
    pub(crate) const NXIO: Errno = Errno(of::ERROR_DEV_NOT_EXIST);
    /// The call makes no sense here.
    pub(crate) const INVAL: Errno = Errno(of::ERROR_INVALID_PARAMETER);

    fn of(code: u32) -> Errno {
        match code {
            of::ERROR_PATH_NOT_FOUND => Errno::NOENT,
            of::ERROR_ALREADY_EXISTS => Errno::EXIST,
            other => Errno(other),
        }
    }

    fn last() -> Errno {
        // SAFETY: takes nothing and reads a number of this thread.
        Errno::of(unsafe { of::GetLastError() })
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.0.cast_signed())
    }
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileType {
    /// A regular file.
    RegularFile,
    /// A folder.
    Directory,
    /// A symbolic link, a junction, or another reparse point that leads elsewhere.
    Symlink,
    /// A pipe.
    Fifo,
    /// A socket: never told apart from a pipe.
    #[allow(dead_code, reason = "a kind of Linux, which code of both systems names")]
    Socket,
    /// A console, a port, `NUL`.
    CharacterDevice,
    /// A drive or a volume opened as such.
    BlockDevice,
    /// What Windows does not say.
    #[allow(dead_code, reason = "a kind of Linux, which code of both systems names")]
    Unknown,
}

impl FileType {
    /// What `st_mode` of [`Stat`] says.
    #[must_use]
    pub(crate) fn from_raw_mode(mode: FileType) -> FileType {
        mode
    }
}

/// What Windows says of something open.
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// What it is.
    pub(crate) st_mode: FileType,
    /// Serial number of its volume.
    pub(crate) st_dev: u64,
    /// Its number on that volume.
    pub(crate) st_ino: u64,
    /// Number of a device: none here.
    pub(crate) st_rdev: u64,
    /// Bytes.
    pub(crate) st_size: i64,
}

/// What links lead to is not looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtFlags(bool);

impl AtFlags {
    /// A link itself.
    pub(crate) const SYMLINK_NOFOLLOW: AtFlags = AtFlags(true);

    /// None.
    #[must_use]
    pub(crate) const fn empty() -> AtFlags {
        AtFlags(false)
    }
}

/// Whether a rename may replace something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RenameFlags(bool);

impl RenameFlags {
    /// Nothing is replaced.
    pub(crate) const NOREPLACE: RenameFlags = RenameFlags(true);

    /// None.
    #[must_use]
    pub(crate) const fn empty() -> RenameFlags {
        RenameFlags(false)
    }
}

/// Rights, disposition and options of a call that opens.
struct Wanted {
    access: u32,
    disposition: u32,
    options: u32,
}

impl Wanted {
    fn of(flags: OFlags) -> Wanted {
        use OFlags as How;
        let access = if flags.has(OFlags::PATH) {
            fs::FILE_READ_ATTRIBUTES
        } else if flags.has(OFlags::APPEND) {
            fs::FILE_APPEND_DATA | fs::FILE_READ_ATTRIBUTES
        } else if flags.has(How::RDWR) {
            fs::FILE_GENERIC_READ | fs::FILE_GENERIC_WRITE
        } else if flags.has(How::WRONLY) {
            fs::FILE_GENERIC_WRITE
        } else {
            fs::FILE_GENERIC_READ
        };
        let disposition = match (flags.has(OFlags::CREATE), flags.has(OFlags::EXCL), flags.has(OFlags::TRUNC)) {
            (true, true, _) => nt::FILE_CREATE,
            (true, false, _) => nt::FILE_OPEN_IF,
            (false, _, true) => nt::FILE_OVERWRITE,
            (false, _, false) => nt::FILE_OPEN,
        };
        let mut options = nt::FILE_OPEN_FOR_BACKUP_INTENT;
        let mut add = |is_wanted: bool, option: u32| options |= if is_wanted { option } else { 0 };
        add(!flags.has(OFlags::OVERLAPPED), nt::FILE_SYNCHRONOUS_IO_NONALERT);
        add(flags.has(OFlags::NOFOLLOW), nt::FILE_OPEN_REPARSE_POINT);
        add(flags.has(OFlags::DIRECTORY), nt::FILE_DIRECTORY_FILE);
        add(flags.has(OFlags::DIRECT), nt::FILE_NO_INTERMEDIATE_BUFFERING);
        add(flags.has(OFlags::SYNC), nt::FILE_WRITE_THROUGH);
        Wanted { access: access | fs::SYNCHRONIZE, disposition, options }
    }
}

/// By its name in a folder that is open, or, with no name, what `within` itself stands for; a whole path where nothing is open.
fn opened(within: Option<&dyn AsFd>, name: &[u16], wanted: &Wanted) -> Result<OwnedHandle, Errno> {
    let bytes = u16::try_from(size_of_val(name)).map_err(|_| Errno(of::ERROR_FILENAME_EXCED_RANGE))?;
    let text = of::UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: within.map_or(std::ptr::null_mut(), |folder| folder.as_fd().as_raw_handle()),
        ObjectName: &raw const text,
        Attributes: of::OBJ_CASE_INSENSITIVE,
        ..OBJECT_ATTRIBUTES::default()
    };
    let mut handle = std::ptr::null_mut();
    let mut status = IO_STATUS_BLOCK::default();
    let share = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;
    // SAFETY: all structures outlive the call, and the name is read for as many bytes as it has.
    let done = unsafe {
        nt::NtCreateFile(
            &raw mut handle,
            wanted.access,
            &raw const attributes,
            &raw mut status,
            std::ptr::null(),
            fs::FILE_ATTRIBUTE_NORMAL,
            share,
            wanted.disposition,
            wanted.options,
            std::ptr::null(),
            0,
        )
    };
    if done < 0 {
        // SAFETY: takes a number.
        return Err(Errno::of(unsafe { of::RtlNtStatusToDosError(done) }));
    }
    // SAFETY: a handle just made, which nobody else has.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// A path as the kernel names it: `\??\C:\folder\file`.
fn kernel_name(path: &Path) -> Result<Vec<u16>, Errno> {
    let whole = std::path::absolute(path).map_err(|_| Errno::NOENT)?;
    let text: Vec<u16> = whole.as_os_str().encode_wide().collect();
    let is = |head: &str| text.iter().copied().take(head.len()).eq(head.encode_utf16());
    let (head, rest) = if is(r"\\?\") || is(r"\\.\") {
        (r"\??\", &text[4..])
    } else if is(r"\\") {
        (r"\??\UNC\", &text[2..])
    } else {
        (r"\??\", &text[..])
    };
    Ok(head.encode_utf16().chain(rest.iter().copied()).collect())
}

/// Opens what a path leads to.
///
/// # Errors
/// [`Errno`]; `LOOP` for a link with [`OFlags::NOFOLLOW`], unless it is only looked at.
pub(crate) fn open(path: impl AsRef<Path>, flags: OFlags, _mode: Mode) -> Result<OwnedHandle, Errno> {
    not_a_link(opened(None, &kernel_name(path.as_ref())?, &Wanted::of(flags))?, flags)
}

/// The same by its name in an open folder.
///
/// # Errors
/// As [`open`].
pub(crate) fn openat(
    folder: impl AsFd,
    name: impl AsRef<OsStr>,
    flags: OFlags,
    _mode: Mode,
) -> Result<OwnedHandle, Errno> {
    let name: Vec<u16> = name.as_ref().encode_wide().collect();
    not_a_link(opened(Some(&folder), &name, &Wanted::of(flags))?, flags)
}

/// Opens once more what a handle stands for, with other rights: exactly that file, whatever its path leads to by now.
///
/// # Errors
/// [`Errno`].
pub(crate) fn reopen(pin: impl AsFd, flags: OFlags) -> Result<OwnedHandle, Errno> {
    opened(Some(&pin), &[], &Wanted::of(flags))
}

fn not_a_link(handle: OwnedHandle, flags: OFlags) -> Result<OwnedHandle, Errno> {
    let is_refused = flags.has(OFlags::NOFOLLOW) && !flags.has(OFlags::PATH);
    if is_refused && fstat(&handle)?.st_mode == FileType::Symlink { Err(Errno::LOOP) } else { Ok(handle) }
}

/// What something open is.
///
/// # Errors
/// [`Errno`].
pub(crate) fn fstat(fd: impl AsFd) -> Result<Stat, Errno> {
    let handle = fd.as_fd().as_raw_handle();
    let mut found = fs::BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure outlives the call, which fills it.
    if unsafe { fs::GetFileInformationByHandle(handle, &raw mut found) } == 0 {
        // SAFETY: takes a handle that is open.
        let kind = match unsafe { fs::GetFileType(handle) } {
            fs::FILE_TYPE_DISK => FileType::BlockDevice,
            fs::FILE_TYPE_CHAR => FileType::CharacterDevice,
            fs::FILE_TYPE_PIPE => FileType::Fifo,
            _ => return Err(Errno::last()),
        };
        return Ok(Stat { st_mode: kind, st_dev: 0, st_ino: 0, st_rdev: 0, st_size: 0 });
    }
    let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let has = |attribute: u32| found.dwFileAttributes & attribute != 0;
    Ok(Stat {
        st_mode: if has(fs::FILE_ATTRIBUTE_REPARSE_POINT) && is_link(handle) {
            FileType::Symlink
        } else if has(fs::FILE_ATTRIBUTE_DIRECTORY) {
            FileType::Directory
        } else {
            FileType::RegularFile
        },
        st_dev: u64::from(found.dwVolumeSerialNumber),
        st_ino: both(found.nFileIndexHigh, found.nFileIndexLow),
        st_rdev: 0,
        st_size: both(found.nFileSizeHigh, found.nFileSizeLow).cast_signed(),
    })
}

/// Whether a reparse point leads elsewhere (bit 29 of its tag, "name surrogate"): those of cloud and compression do not.
fn is_link(handle: of::HANDLE) -> bool {
    const NAME_SURROGATE: u32 = 1 << 29;
    let mut tag = fs::FILE_ATTRIBUTE_TAG_INFO::default();
    let bytes = size_of::<fs::FILE_ATTRIBUTE_TAG_INFO>() as u32;
    // SAFETY: the structure outlives the call, which fills as many bytes as it has.
    let done =
        unsafe { fs::GetFileInformationByHandleEx(handle, fs::FileAttributeTagInfo, (&raw mut tag).cast(), bytes) };
    done == 0 || tag.ReparseTag & NAME_SURROGATE != 0
}

/// What a path leads to.
///
/// # Errors
/// [`Errno`].
pub(crate) fn stat(path: impl AsRef<Path>) -> Result<Stat, Errno> {
    fstat(open(path, OFlags::PATH, Mode::empty())?)
}

/// What a path is itself.
///
/// # Errors
/// [`Errno`].
pub(crate) fn lstat(path: impl AsRef<Path>) -> Result<Stat, Errno> {
    fstat(open(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())?)
}

/// What a name in an open folder is.
///
/// # Errors
/// [`Errno`].
pub(crate) fn statat(folder: impl AsFd, name: impl AsRef<OsStr>, flags: AtFlags) -> Result<Stat, Errno> {
    let mut how = OFlags::PATH;
    how.set(OFlags::NOFOLLOW, flags.0);
    fstat(openat(folder, name, how, Mode::empty())?)
}

/// Makes a folder in an open one.
///
/// # Errors
/// [`Errno`]; `EXIST` where anything has the name.
pub(crate) fn mkdirat(folder: impl AsFd, name: impl AsRef<OsStr>, _mode: Mode) -> Result<(), Errno> {
    let name: Vec<u16> = name.as_ref().encode_wide().collect();
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::DIRECTORY;
    opened(Some(&folder), &name, &Wanted::of(flags)).map(drop)
}

/// Takes a name away from a file in an open folder; links are not followed.
///
/// # Errors
/// [`Errno`].
pub(crate) fn unlinkat(folder: impl AsFd, name: impl AsRef<OsStr>, _flags: AtFlags) -> Result<(), Errno> {
    let name: Vec<u16> = name.as_ref().encode_wide().collect();
    let wanted = Wanted { access: fs::DELETE | fs::SYNCHRONIZE, ..Wanted::of(OFlags::NOFOLLOW) };
    let file = opened(Some(&folder), &name, &wanted)?;
    // The name goes at once, though handles are open (Windows 10 1809 and later), else with the last of them.
    let at_once = fs::FILE_DISPOSITION_INFO_EX {
        Flags: fs::FILE_DISPOSITION_FLAG_DELETE | fs::FILE_DISPOSITION_FLAG_POSIX_SEMANTICS,
    };
    if set(&file, fs::FileDispositionInfoEx, &at_once).is_ok() {
        return Ok(());
    }
    set(&file, fs::FileDispositionInfo, &fs::FILE_DISPOSITION_INFO { DeleteFile: true })
}

fn set<T>(file: &OwnedHandle, class: fs::FILE_INFO_BY_HANDLE_CLASS, value: &T) -> Result<(), Errno> {
    // SAFETY: the structure is the one of its class, and outlives the call.
    let done = unsafe {
        fs::SetFileInformationByHandle(file.as_raw_handle(), class, (&raw const *value).cast(), size_of::<T>() as u32)
    };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// Renames within open folders.
///
/// # Errors
/// [`Errno`]; `EXIST` where something has the new name and nothing may be replaced.
pub(crate) fn renameat_with(
    from: impl AsFd,
    old: impl AsRef<OsStr>,
    to: impl AsFd,
    new: impl AsRef<OsStr>,
    flags: RenameFlags,
) -> Result<(), Errno> {
    let name: Vec<u16> = old.as_ref().encode_wide().collect();
    let wanted = Wanted { access: fs::DELETE | fs::SYNCHRONIZE, ..Wanted::of(OFlags::NOFOLLOW) };
    let file = opened(Some(&from), &name, &wanted)?;
    let mut target = final_path(&to)?.into_os_string();
    target.push("\\");
    target.push(new.as_ref());
    let target: Vec<u16> = target.encode_wide().chain([0]).collect();
    // The structure ends in a name of any length: in words of 8 bytes, so that it is aligned.
    let head = offset_of!(fs::FILE_RENAME_INFO, FileName);
    let bytes = head + size_of_val(&target[..]);
    let mut info = vec![0_u64; bytes.max(size_of::<fs::FILE_RENAME_INFO>()).div_ceil(8)];
    let at: *mut fs::FILE_RENAME_INFO = info.as_mut_ptr().cast();
    // SAFETY: the buffer has room for the structure and the name behind it, and is aligned for both.
    unsafe {
        (*at).Anonymous.ReplaceIfExists = flags != RenameFlags::NOREPLACE;
        (*at).FileNameLength = (size_of_val(&target[..]) - 2) as u32;
        let name = (&raw mut (*at).FileName).cast::<u16>();
        std::ptr::copy_nonoverlapping(target.as_ptr(), name, target.len());
    }
    // SAFETY: the buffer is a `FILE_RENAME_INFO` of so many bytes, and outlives the call.
    let done = unsafe {
        fs::SetFileInformationByHandle(file.as_raw_handle(), fs::FileRenameInfo, info.as_ptr().cast(), bytes as u32)
    };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// The path of what is open, as of now.
pub(crate) fn final_path(fd: &impl AsFd) -> Result<PathBuf, Errno> {
    let mut text = vec![0_u16; 512];
    loop {
        let room = text.len() as u32;
        // SAFETY: the call writes at most as many characters as it is told of.
        let length = unsafe {
            fs::GetFinalPathNameByHandleW(fd.as_fd().as_raw_handle(), text.as_mut_ptr(), room, fs::FILE_NAME_NORMALIZED)
        };
        match length {
            0 => return Err(Errno::last()),
            length if length < room => {
                return Ok(PathBuf::from(std::ffi::OsString::from_wide(&text[..length as usize])));
            }
            length => text.resize(length as usize + 1, 0),
        }
    }
}

/// True if the volume of an open file keeps named streams beside a file's data (FILE_NAMED_STREAMS), as NTFS does. Without it
/// a stream's name may become a file of its own.
pub(crate) fn has_streams(fd: &impl AsFd) -> Result<bool, Errno> {
    const FILE_NAMED_STREAMS: u32 = 0x0004_0000;
    let mut flags = 0_u32;
    let nothing = std::ptr::null_mut();
    // SAFETY: the call writes the flags alone; all other places are null, and their lengths 0.
    let is_told = unsafe {
        let handle = fd.as_fd().as_raw_handle();
        fs::GetVolumeInformationByHandleW(
            handle,
            nothing,
            0,
            nothing.cast(),
            nothing.cast(),
            &raw mut flags,
            nothing,
            0,
        )
    };
    if is_told == 0 { Err(Errno::last()) } else { Ok(flags & FILE_NAMED_STREAMS != 0) }
}
