//! Opening targets, and refusing clearly what cannot be run on them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use fathom_nvme::{AdminCommand, Device, IoCommand, io_command};
use fathom_plan::{EngineName, Step};
use fathom_record::StepFailure;

use crate::backend::{errno, refused};
use crate::offsets::Span;

/// The pseudo target of the `null` engine.
pub(crate) const NULL: &str = "null";
/// Size of the `null` target when the plan names none.
const NULL_BYTES: u64 = 1 << 40;
/// Smallest block any target takes.
const SECTOR_BYTES: u64 = 512;
/// `BLKDISCARD`, linux/fs.h: _IO(0x12, 119).
const BLKDISCARD: libc::Ioctl = 0x1277;
/// `BLKSSZGET`, linux/fs.h: _IO(0x12, 104).
const BLKSSZGET: libc::Ioctl = 0x1268;
/// `BLKGETSIZE64`, linux/fs.h: _IOR(0x12, 114, size_t).
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272_u32 as libc::Ioctl;

/// What kind of thing I/O goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Null,
    File,
    Device,
    /// Character device of an NVMe namespace.
    Generic,
}

/// An NVMe namespace behind a character device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    /// Number within its controller.
    pub(crate) id: u32,
    /// Bytes per logical block, a power of two.
    pub(crate) block_bytes: u32,
    /// Whether its drive has poll queues; `None` when sysfs does not tell.
    pub(crate) can_poll: Option<bool>,
}

/// A target that was opened, looked at and found fit for the step.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) kind: TargetKind,
    /// Blocks of the step's region.
    pub(crate) span: Span,
    /// Major and minor number of the block device itself, for devices.
    pub(crate) device: Option<u64>,
    /// For character devices of NVMe.
    pub(crate) namespace: Option<Namespace>,
    writes: bool,
    direct: bool,
}

impl Target {
    /// Opens and checks `path` for `step`.
    ///
    /// # Errors
    /// A refusal that names the reason and the way out.
    pub(crate) fn examine(path: &str, step: &Step) -> Result<Self, StepFailure> {
        let is_null_engine = step.engine.name == EngineName::Null;
        if is_null_engine != (path == NULL) {
            return Err(refused(
                format!("engine {} on target {path}", step.engine.name.as_str()),
                "the engine `null` does no I/O and goes only with the target `null`",
                "use `--engine null --target null`, or a real engine on a real target",
            ));
        }
        let workload = &step.workload;
        let mut target = Target {
            path: path.to_owned(),
            kind: TargetKind::Null,
            span: Span { first_offset_bytes: 0, count: 0, unit_bytes: u64::from(workload.block_bytes_max()) },
            device: None,
            namespace: None,
            writes: workload.mix.is_destructive(),
            direct: workload.direct,
        };
        let (mut size_bytes, mut logical_bytes) = (NULL_BYTES.max(workload.region.size_bytes.unwrap_or(0)), 1);
        if !is_null_engine {
            let meta = std::fs::metadata(path).map_err(|e| open_refused(path, &e, false))?;
            target.kind = kind_of(path, &meta)?;
            fits_engine(path, target.kind, step.engine.name)?;
            target.device = (target.kind == TargetKind::Device).then(|| meta.rdev());
            let file = target.open_file()?;
            refuse_memory_file_systems(path, &file, target.direct)?;
            if target.kind == TargetKind::Generic {
                let (namespace, blocks) = namespace_of(path, &meta, &file)?;
                target.namespace = Some(namespace);
                logical_bytes = u64::from(namespace.block_bytes);
                size_bytes = blocks.saturating_mul(logical_bytes);
            } else {
                (size_bytes, logical_bytes) = target.measure(&file)?;
            }
        }
        target.span = span_of(path, step, size_bytes, logical_bytes)?;
        Ok(target)
    }

    /// A descriptor of its own: shared ones cost an atomic operation on a shared cache line per I/O.
    ///
    /// # Errors
    /// A refusal when the target cannot be opened as asked.
    pub(crate) fn open(&self) -> Result<OwnedFd, StepFailure> {
        self.open_file().map(OwnedFd::from)
    }

    fn open_file(&self) -> Result<File, StepFailure> {
        let open = |extra: i32| {
            // A character device of NVMe has no page cache to go around, and refuses the flag.
            let direct = if self.direct && self.kind != TargetKind::Generic { libc::O_DIRECT } else { 0 };
            OpenOptions::new().read(true).write(self.writes).custom_flags(direct | extra).open(&self.path)
        };
        // Without O_NOATIME each read looks at the inode's times; only the owner may ask for that.
        match open(libc::O_NOATIME) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => open(0),
            other => other,
        }
        .map_err(|e| open_refused(&self.path, &e, self.direct))
    }

    /// Size and logical block size in bytes.
    fn measure(&self, file: &File) -> Result<(u64, u64), StepFailure> {
        let failed = |source| StepFailure::Failed {
            what: format!("reading the size of {}", self.path),
            source,
            help: "look whether the drive still answers: `fathom inspect` and the kernel's log (dmesg)".to_owned(),
        };
        if self.kind == TargetKind::File {
            let size = file.metadata().map_err(failed)?.len();
            return Ok((size, if self.direct { file_alignment(file) } else { 1 }));
        }
        let (mut size, mut logical) = (0_u64, 0_i32);
        // SAFETY: both ioctls fill one integer of the size they are declared with.
        let done = unsafe {
            libc::ioctl(file.as_raw_fd(), BLKGETSIZE64, &raw mut size) == 0
                && libc::ioctl(file.as_raw_fd(), BLKSSZGET, &raw mut logical) == 0
        };
        if !done {
            return Err(failed(io::Error::last_os_error()));
        }
        Ok((size, if self.direct { u64::try_from(logical).unwrap_or(SECTOR_BYTES) } else { 1 }))
    }
}

fn kind_of(path: &str, meta: &std::fs::Metadata) -> Result<TargetKind, StepFailure> {
    let what = format!("target {path}");
    let kind = meta.file_type();
    if kind.is_file() {
        Ok(TargetKind::File)
    } else if kind.is_block_device() {
        Ok(TargetKind::Device)
    } else if kind.is_char_device() {
        Ok(TargetKind::Generic)
    } else if kind.is_dir() {
        Err(refused(what, "it is a directory", "name a file in it; Fathom lays it out when a size is given"))
    } else {
        Err(refused(what, "it is neither a regular file nor a block device", "name a file or a block device"))
    }
}

/// Passthrough goes with character devices of NVMe, and nothing else does.
fn fits_engine(path: &str, kind: TargetKind, engine: EngineName) -> Result<(), StepFailure> {
    let what = format!("engine {} on target {path}", engine.as_str());
    match (kind == TargetKind::Generic, engine == EngineName::IoUringCmd) {
        (true, false) => Err(refused(
            what,
            "it is a character device",
            "name the block device (/dev/nvme0n1), or use `--engine io_uring_cmd` on the character device of an NVMe \
             namespace (/dev/ng0n1)",
        )),
        (false, true) => Err(refused(
            what,
            "passthrough needs the character device of an NVMe namespace",
            "name it (/dev/ng0n1 beside /dev/nvme0n1), or use `--engine io_uring`",
        )),
        _ => Ok(()),
    }
}

/// The way around what a character device cannot do.
const BY_BLOCK_DEVICE: &str = "name the block device (/dev/nvme0n1) and use `--engine io_uring`";

/// What Fathom must know of the namespace behind a character device, and its size in blocks.
fn namespace_of(path: &str, meta: &std::fs::Metadata, file: &File) -> Result<(Namespace, u64), StepFailure> {
    let what = format!("target {path}");
    let id = Device::namespace_of(file.as_fd()).map_err(|_| {
        refused(&what, "it is no character device of an NVMe namespace", "name one (/dev/ng0n1), see `fathom inspect`")
    })?;
    let asked = Device::open(Path::new(path)).and_then(|device| device.admin(&AdminCommand::identify_namespace(id)));
    let (page, _) = asked.map_err(|e| refused(&what, e.to_string(), "run as root"))?;
    let described =
        fathom_nvme::Namespace::decode(&page).map_err(|e| refused(&what, e.to_string(), BY_BLOCK_DEVICE))?;
    let Some(block_bytes) = described.block_bytes() else {
        return Err(refused(what, "the drive describes its format in a way that contradicts itself", "use io_uring"));
    };
    if described.metadata_bytes() != 0 {
        return Err(refused(
            what,
            format!("its format has {} bytes of metadata per block", described.metadata_bytes()),
            "use `--engine io_uring` on the block device, or a format without metadata",
        ));
    }
    let number = format!("{}:{}", libc::major(meta.rdev()), libc::minor(meta.rdev()));
    Ok((Namespace { id, block_bytes, can_poll: can_poll(&number) }, described.size_blocks))
}

/// Whether the drive behind the character device `number` has poll queues, as its block device tells.
fn can_poll(number: &str) -> Option<bool> {
    let home = std::fs::canonicalize(format!("/sys/dev/char/{number}")).ok()?;
    let name = home.file_name()?.to_str()?.strip_prefix("ng")?.to_owned();
    let text = std::fs::read_to_string(format!("/sys/class/block/nvme{name}/queue/io_poll")).ok()?;
    Some(text.trim() == "1")
}

fn open_refused(path: &str, error: &io::Error, direct: bool) -> StepFailure {
    let what = format!("target {path}");
    match error.raw_os_error() {
        Some(libc::EINVAL) if direct => refused(
            what,
            "its file system does not support O_DIRECT",
            "`--direct 0` measures buffered I/O through the page cache, and the report says so",
        ),
        Some(libc::ENOENT) => {
            refused(what, "no such file or device", "check the path, or give a size to have it laid out")
        }
        Some(libc::EACCES | libc::EPERM) => {
            refused(what, format!("may not be opened: {error}"), "run as a user who may open it")
        }
        Some(libc::EROFS) => refused(what, "it is on a read-only file system", "choose a writable place, or only read"),
        Some(libc::ENXIO | libc::ENODEV | libc::ENOMEDIUM) => {
            refused(what, format!("the device is gone or has no medium: {error}"), "check `fathom inspect`")
        }
        _ => refused(what, format!("cannot be opened: {error}"), "check the path and the device"),
    }
}

/// tmpfs takes O_DIRECT since Linux 6.6 and then works in memory all the same: the figure would be a lie.
fn refuse_memory_file_systems(path: &str, file: &File, direct: bool) -> Result<(), StepFailure> {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    // SAFETY: an all-zero statfs is a valid value of that plain structure.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `stat` outlives the call.
    let done = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut stat) } == 0;
    let magic = stat.f_type;
    // A device node may well live on a tmpfs; its data does not.
    let is_file = file.metadata().is_ok_and(|m| m.is_file());
    if done && direct && is_file && (magic == libc::TMPFS_MAGIC || magic == RAMFS_MAGIC) {
        return Err(refused(
            format!("target {path}"),
            "it is on tmpfs, which has no O_DIRECT: its data is memory",
            "`--direct 0` measures buffered I/O, or choose a file on a real disk",
        ));
    }
    Ok(())
}

/// Alignment that direct I/O on a file needs, from statx; 512 where the kernel does not tell.
fn file_alignment(file: &File) -> u64 {
    // SAFETY: an all-zero statx is a valid value of that plain structure.
    let mut stat: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: an empty path with AT_EMPTY_PATH means the descriptor itself; `stat` outlives the call.
    let done = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, &raw mut stat) == 0
    };
    let told = done && stat.stx_mask & libc::STATX_DIOALIGN != 0 && stat.stx_dio_offset_align != 0;
    if told { u64::from(stat.stx_dio_offset_align) } else { SECTOR_BYTES }
}

/// Blocks of the step's region on a target of `size_bytes`.
fn span_of(path: &str, step: &Step, size_bytes: u64, logical_bytes: u64) -> Result<Span, StepFailure> {
    let workload = &step.workload;
    let what = format!("target {path}");
    for size in &workload.block_sizes {
        if !u64::from(size.bytes).is_multiple_of(logical_bytes) {
            return Err(refused(
                what,
                format!("block size {} is not a multiple of its logical block of {logical_bytes} bytes", size.bytes),
                format!("use a multiple of {logical_bytes}, or `--direct 0` on a file"),
            ));
        }
    }
    let unit_bytes = u64::from(workload.block_bytes_max());
    let region = workload.region;
    let begin = region.offset_bytes.checked_next_multiple_of(unit_bytes).unwrap_or(u64::MAX);
    let end = match region.size_bytes {
        Some(size) => region.offset_bytes.saturating_add(size),
        None => size_bytes,
    };
    if end > size_bytes {
        return Err(refused(
            what,
            format!("the region ends at byte {end}, the target at {size_bytes}: it is too small"),
            "choose a smaller size or offset, or have a larger file laid out",
        ));
    }
    let count = end.saturating_sub(begin) / unit_bytes;
    if count == 0 {
        return Err(refused(
            what,
            format!("its region of {} bytes holds no block of {unit_bytes} bytes", end.saturating_sub(begin)),
            "choose a larger size or a smaller block size",
        ));
    }
    Ok(Span { first_offset_bytes: begin, count, unit_bytes })
}

/// Discards blocks, by a system call of its own in every engine.
pub(crate) enum Trimmer {
    /// The `null` target: nothing to discard.
    Null,
    File(OwnedFd),
    Device(OwnedFd),
    Generic(OwnedFd, Namespace),
}

impl Trimmer {
    /// Trims `target` through a descriptor of its own.
    ///
    /// # Errors
    /// When the target cannot be opened.
    pub(crate) fn new(target: &Target) -> Result<Self, StepFailure> {
        Ok(match target.kind {
            TargetKind::Null => Trimmer::Null,
            TargetKind::File => Trimmer::File(target.open()?),
            TargetKind::Device => Trimmer::Device(target.open()?),
            TargetKind::Generic => match target.namespace {
                Some(namespace) => Trimmer::Generic(target.open()?, namespace),
                None => {
                    return Err(refused(format!("trims on {}", target.path), "it was not identified", BY_BLOCK_DEVICE));
                }
            },
        })
    }

    /// Bytes trimmed, or a negative errno.
    pub(crate) fn trim(&self, offset: u64, len: u32) -> i32 {
        let failed = match self {
            Trimmer::Null => false,
            Trimmer::Generic(fd, namespace) => {
                let command = IoCommand::Deallocate {
                    first_block: offset / u64::from(namespace.block_bytes),
                    blocks: len / namespace.block_bytes,
                };
                return match io_command(fd.as_fd(), namespace.id, command, &mut []) {
                    Ok(()) => len as i32,
                    Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
                };
            }
            Trimmer::Device(fd) => {
                let range = [offset, u64::from(len)];
                // SAFETY: the ioctl reads a range of two integers that outlives the call.
                unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD, range.as_ptr()) != 0 }
            }
            Trimmer::File(fd) => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                // SAFETY: the call takes integers only.
                unsafe { libc::fallocate(fd.as_raw_fd(), mode, offset as i64, i64::from(len)) != 0 }
            }
        };
        if failed { -errno() } else { len as i32 }
    }
}

/// Reads a target back outside the measurement, in one I/O at a time.
pub(crate) struct ReadBack {
    fd: OwnedFd,
    namespace: Option<Namespace>,
}

impl ReadBack {
    /// Most bytes per NVMe command: every known drive takes so many.
    const COMMAND_BYTES_MAX: usize = 64 << 10;

    /// Reads `target` through a descriptor of its own.
    ///
    /// # Errors
    /// When the target cannot be opened.
    pub(crate) fn new(target: &Target) -> Result<Self, StepFailure> {
        Ok(ReadBack { fd: target.open()?, namespace: target.namespace })
    }

    /// The descriptor.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Bytes read into the front of `buffer`; 0 at the end.
    ///
    /// # Errors
    /// As `pread`.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Some(namespace) = self.namespace else {
            // SAFETY: `buffer` is writable for its length.
            let moved =
                unsafe { libc::pread(self.fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset as i64) };
            return usize::try_from(moved).map_err(|_| io::Error::last_os_error());
        };
        let block_bytes = u64::from(namespace.block_bytes);
        let len = buffer.len().min(Self::COMMAND_BYTES_MAX);
        let command = IoCommand::Read { first_block: offset / block_bytes, blocks: (len as u64 / block_bytes) as u32 };
        io_command(self.fd.as_fd(), namespace.id, command, &mut buffer[..len]).map(|()| len)
    }
}
