//! Opening targets, and refusing clearly what cannot be run on them.

use crate::system::code;
use crate::system::{AsFd as _, OwnedFd, targets};
use std::fs::File;
use std::io;
use std::sync::Arc;

use fathom_host::{Access, Binding, Bindings, OpenError, OpenFlags, Root, TargetKind, ThreadFolder};
use fathom_message::{Message, Say as _, msg};
use fathom_nvme::driver::DrivenNamespace;
use fathom_nvme::{AdminCommand, Device, IoCommand, io_command};
use fathom_plan::{EngineName, Step, TargetId, WriteThrough};
use fathom_record::StepFailure;

use crate::array::{self, ArrayOf};
use crate::backend::{array::Array, call::Synchronous, errno, files::Folder, nvme, psync::Psync, refused};
use crate::crew::bound;
use crate::files::{folder_of, not_alone};
use crate::offsets::Span;
use crate::sequence::Extent;

/// Size of the `null` target when the plan names none.
const NULL_BYTES: u64 = 1 << 40;
/// Smallest block any target takes.
const SECTOR_BYTES: u64 = 512;
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
    pub(crate) id: TargetId,
    pub(crate) kind: TargetKind,
    /// Blocks of the step's region.
    pub(crate) span: Span,
    /// Bytes of the step's region.
    pub(crate) extent: Extent,
    /// For character devices of NVMe.
    pub(crate) namespace: Option<Namespace>,
    /// Of an array in user space.
    array: Option<Arc<ArrayOf>>,
    binding: Binding,
    writes: bool,
    direct: bool,
    write_through: WriteThrough,
}

impl Target {
    /// Opens and checks what `id` is today, for `step`.
    ///
    /// # Errors
    /// A refusal that names the reason and the way out.
    pub(crate) fn examine(bindings: &Bindings, id: &TargetId, step: &Step) -> Result<Self, StepFailure> {
        let binding = bound(bindings, id)?;
        let is_folder = binding.kind() == TargetKind::Folder;
        match step.workload.order.files {
            Some(load) if is_folder && step.engine.name == EngineName::Files => {
                // A block is a file, and each thread has all of its own.
                let unit_bytes = u64::from(load.moved_bytes().max(1));
                let len_bytes = u64::from(load.files_per_thread) * unit_bytes;
                return Ok(Target {
                    span: Span { first_offset_bytes: 0, count: load.files_per_thread.into(), unit_bytes },
                    extent: Extent { begin_bytes: 0, len_bytes, end_of_target_bytes: len_bytes },
                    ..Target::bare(&binding, step)
                });
            }
            None if !is_folder && step.engine.name != EngineName::Files => {}
            _ => return Err(not_alone(step, id)),
        }
        let (mut target, size_bytes, logical_bytes) = if binding.kind() == TargetKind::Array {
            let (array, logical_bytes) = ArrayOf::examine(id, bindings, step)?;
            let size_bytes = array.capacity_bytes();
            (Target { array: Some(Arc::new(array)), ..Target::bare(&binding, step) }, size_bytes, logical_bytes)
        } else {
            Target::opened(&binding, step)?
        };
        (target.span, target.extent) = span_of(id, step, size_bytes, logical_bytes)?;
        Ok(target)
    }

    fn bare(binding: &Binding, step: &Step) -> Target {
        let workload = &step.workload;
        Target {
            id: binding.target().clone(),
            kind: binding.kind(),
            span: Span { first_offset_bytes: 0, count: 0, unit_bytes: u64::from(workload.block_bytes_max()) },
            extent: Extent { begin_bytes: 0, len_bytes: 0, end_of_target_bytes: 0 },
            namespace: None,
            array: None,
            binding: binding.clone(),
            writes: step.writes_to(binding.target()),
            direct: workload.direct,
            write_through: workload.durability.write_through,
        }
    }

    /// What `binding` stands for, looked at but without its region; with its size and logical block in bytes.
    ///
    /// # Errors
    /// As [`Target::examine`].
    pub(crate) fn opened(binding: &Binding, step: &Step) -> Result<(Target, u64, u64), StepFailure> {
        let binding = &by_the_node_of(step.engine.name, binding)?;
        let (id, kind) = (binding.target(), binding.kind());
        let is_null_engine = step.engine.name == EngineName::Null;
        if is_null_engine != (kind == TargetKind::Null) {
            return Err(refused(
                engine_on_target(step.engine.name, id),
                msg!("engine-null-alone"),
                msg!("engine-null-alone-help"),
            ));
        }
        let workload = &step.workload;
        let mut target = Target::bare(binding, step);
        let (mut size_bytes, mut logical_bytes) = (NULL_BYTES.max(workload.region.size_bytes.unwrap_or(0)), 1);
        if !is_null_engine {
            fits_engine(id, kind, step.engine.name)?;
            if let Some(driven) = binding.driven() {
                if target.writes && binding.consent().is_none() {
                    let refusal = OpenError::NoConsent { path: binding.path().to_owned() };
                    return Err(open_refused(id, &refusal, false));
                }
                return Ok((target, driven.size_bytes(), u64::from(driven.block_bytes())));
            }
            let file = target.open_file(OpenFlags::empty())?;
            refuse_memory_file_systems(id, &file, target.direct)?;
            if kind == TargetKind::Generic {
                let (namespace, blocks) = target.namespace(&file)?;
                target.namespace = Some(namespace);
                logical_bytes = u64::from(namespace.block_bytes);
                size_bytes = blocks.saturating_mul(logical_bytes);
            } else {
                (size_bytes, logical_bytes) = target.measure(&file)?;
            }
        }
        Ok((target, size_bytes, logical_bytes))
    }

    /// The array in user space that it is.
    pub(crate) fn array(&self) -> Option<&ArrayOf> {
        self.array.as_deref()
    }

    /// The namespace that it is, where this process drives the drive by itself.
    pub(crate) fn driven(&self) -> Option<&DrivenNamespace> {
        self.binding.driven()
    }

    /// A descriptor of its own: shared ones cost an atomic operation on a shared cache line per I/O. What was bound is
    /// compared with what is opened, each time.
    ///
    /// # Errors
    /// A refusal when the target cannot be opened as asked, or is another than was bound.
    pub(crate) fn open(&self) -> Result<OwnedFd, StepFailure> {
        self.open_with(OpenFlags::empty())
    }

    /// The same with further flags of the system.
    ///
    /// # Errors
    /// As [`Target::open`].
    pub(crate) fn open_with(&self, flags: OpenFlags) -> Result<OwnedFd, StepFailure> {
        self.open_file(flags).map(OwnedFd::from)
    }

    /// Empties the target's page cache: dirty pages are written first, since only clean ones can go.
    ///
    /// # Errors
    /// The reason, as reported by the operating system; devices need CAP_SYS_ADMIN.
    pub(crate) fn drop_cache(&self) -> Result<(), Message> {
        if let Some(array) = &self.array {
            return array.targets().try_for_each(Target::drop_cache);
        }
        if self.kind == TargetKind::UserSpace {
            return Ok(());
        }
        let file = self.open_file(OpenFlags::empty()).map_err(|failure| failure.parts().1)?;
        let dropped = match self.kind {
            TargetKind::File => targets::drop_file_cache(&file),
            TargetKind::Block => targets::drop_device_cache(&file),
            TargetKind::Generic | TargetKind::Null | TargetKind::Array | TargetKind::Folder | TargetKind::UserSpace => {
                Ok(())
            }
        };
        dropped.map_err(|error| Message::verbatim(error.to_string()))
    }

    /// The folder called `name` in a target that is one.
    ///
    /// # Errors
    /// As the operating system says.
    pub(crate) fn thread_folder(&self, name: &str) -> io::Result<ThreadFolder> {
        self.binding.thread_folder(name)
    }

    /// Whether its I/O goes around the page cache by O_DIRECT.
    #[cfg_attr(windows, allow(dead_code, reason = "asked by engines of Linux alone"))]
    pub(crate) fn is_direct(&self) -> bool {
        self.direct && matches!(self.kind, TargetKind::File | TargetKind::Block | TargetKind::Array)
    }

    fn open_file(&self, extra: OpenFlags) -> Result<File, StepFailure> {
        // A character device of NVMe has no page cache to go around, and refuses the flag.
        let direct =
            if self.direct && self.kind != TargetKind::Generic { OpenFlags::DIRECT } else { OpenFlags::empty() };
        let durable = match self.write_through {
            WriteThrough::None => OpenFlags::empty(),
            WriteThrough::Dsync => OpenFlags::DSYNC,
            WriteThrough::Sync => OpenFlags::SYNC,
        };
        let open =
            |extra: OpenFlags| self.binding.open(Access { writes: self.writes, flags: direct | durable | extra });
        // Reads that look at a file's times cost more; only its owner may ask for others.
        match open(extra | targets::WITHOUT_TIMES) {
            Err(OpenError::Io { source, .. }) if source.raw_os_error() == Some(code::EPERM) => open(extra),
            other => other,
        }
        .map_err(|e| open_refused(&self.id, &e, self.direct))
    }

    /// What Fathom must know of the namespace behind a character device, and its size in blocks.
    fn namespace(&self, file: &File) -> Result<(Namespace, u64), StepFailure> {
        let refuse = |why: Message, help: Message| refused(target_message(&self.id), why, help);
        let said = |error: &dyn std::fmt::Display| Message::verbatim(error.to_string());
        let id = Device::namespace_of(file.as_fd())
            .map_err(|_| refuse(msg!("engine-no-namespace"), msg!("engine-no-namespace-help")))?;
        let device = file.try_clone().map(|file| Device::of(file, self.binding.path()));
        let device = device.map_err(|e| refuse(said(&e), msg!("engine-as-root")))?;
        let asked = device.admin(&AdminCommand::identify_namespace(id));
        let (page, _) = asked.map_err(|e| refuse(said(&e), msg!("engine-as-root")))?;
        let described =
            fathom_nvme::Namespace::decode(&page).map_err(|e| refuse(said(&e), msg!("engine-by-block-device")))?;
        let Some(block_bytes) = described.block_bytes() else {
            return Err(refuse(msg!("engine-namespace-contradicts"), msg!("engine-by-block-device")));
        };
        if described.metadata_bytes() != 0 {
            let why = msg!("engine-metadata", bytes = u64::from(described.metadata_bytes()));
            return Err(refuse(why, msg!("engine-metadata-help")));
        }
        let can_poll = self.binding.device_number().and_then(targets::can_poll);
        Ok((Namespace { id, block_bytes, can_poll }, described.size_blocks))
    }

    /// Size and logical block size in bytes.
    fn measure(&self, file: &File) -> Result<(u64, u64), StepFailure> {
        let failed = |error: io::Error| {
            let what = msg!("engine-reading-size", target = self.id.as_str().to_owned());
            StepFailure::failed(what, &error, msg!("engine-reading-size-help"))
        };
        if self.kind == TargetKind::File {
            let length = file.metadata().map_err(failed)?.len();
            // What follows in a file that Fathom made says whose it is.
            let size = self.binding.made_bytes().map_or(length, |made| made.min(length));
            return Ok((size, if self.direct { targets::file_alignment(file).unwrap_or(SECTOR_BYTES) } else { 1 }));
        }
        let (size, logical) = targets::device_bytes(file).map_err(failed)?;
        Ok((size, if self.direct { logical } else { 1 }))
    }
}

/// A namespace that was named by its block device is reached through its character device where commands are passed to it.
fn by_the_node_of(engine: EngineName, binding: &Binding) -> Result<Binding, StepFailure> {
    if engine != EngineName::IoUringCmd {
        return Ok(binding.clone());
    }
    match binding.as_character_device(&Root::live()) {
        Ok(character) => Ok(character.unwrap_or_else(|| binding.clone())),
        Err(error) => Err(StepFailure::refused(engine_on_target(engine, binding.target()), &error)),
    }
}

/// Passthrough goes with character devices of NVMe, and nothing else does.
fn fits_engine(id: &TargetId, kind: TargetKind, engine: EngineName) -> Result<(), StepFailure> {
    let what = engine_on_target(engine, id);
    match (kind == TargetKind::UserSpace, engine == EngineName::Nvme) {
        (true, false) => return Err(refused(what, msg!("engine-drive-taken"), msg!("engine-drive-taken-help"))),
        (false, true) => return Err(refused(what, msg!("engine-nvme-kind"), msg!("engine-nvme-kind-help"))),
        _ => {}
    }
    match (kind == TargetKind::Generic, engine == EngineName::IoUringCmd) {
        (true, false) => Err(refused(what, msg!("engine-character-device"), msg!("engine-character-device-help"))),
        (false, true) => Err(refused(what, msg!("engine-passthrough-kind"), msg!("engine-passthrough-kind-help"))),
        _ => Ok(()),
    }
}

/// `engine libaio on target /dev/sdb`.
pub(crate) fn engine_on_target(engine: EngineName, id: &TargetId) -> Message {
    msg!("engine-on-target", engine = engine.as_str(), target = id.as_str().to_owned())
}

/// `target /dev/sdb`.
pub(crate) fn target_message(id: &TargetId) -> Message {
    msg!("engine-target", target = id.as_str().to_owned())
}

fn open_refused(id: &TargetId, error: &OpenError, direct: bool) -> StepFailure {
    let what = target_message(id);
    let OpenError::Io { source, .. } = error else {
        return refused(what, error.message(), error.help().unwrap_or_else(|| msg!("open-failed-help")));
    };
    let (why, help) = match source.raw_os_error() {
        Some(code::EINVAL) if direct => (msg!("engine-no-direct-io"), msg!("engine-no-direct-io-help")),
        Some(code::ENOENT) => (msg!("engine-no-such-target"), msg!("engine-no-such-target-help")),
        Some(code::EACCES | code::EPERM) => {
            (msg!("engine-may-not-open", error = source), msg!("engine-may-not-open-help"))
        }
        Some(code::EROFS) => (msg!("engine-read-only-file-system"), msg!("engine-read-only-file-system-help")),
        Some(code::ENXIO | code::ENODEV | code::ENOMEDIUM) => {
            (msg!("engine-device-gone", error = source), msg!("engine-device-gone-help"))
        }
        _ => (msg!("engine-cannot-open", error = source), msg!("engine-cannot-open-help")),
    };
    refused(what, why, help)
}

/// tmpfs takes O_DIRECT since Linux 6.6 and then works in memory all the same: the figure would be a lie.
fn refuse_memory_file_systems(id: &TargetId, file: &File, direct: bool) -> Result<(), StepFailure> {
    // A device node may well live on a tmpfs; its data does not.
    let is_file = file.metadata().is_ok_and(|m| m.is_file());
    if direct && is_file && targets::is_in_memory(file) {
        return Err(refused(target_message(id), msg!("engine-tmpfs"), msg!("engine-tmpfs-help")));
    }
    Ok(())
}

/// Blocks of the step's region on a target of `size_bytes`.
fn span_of(id: &TargetId, step: &Step, size_bytes: u64, logical_bytes: u64) -> Result<(Span, Extent), StepFailure> {
    let workload = &step.workload;
    for size in workload.all_sizes() {
        if !u64::from(size.bytes).is_multiple_of(logical_bytes) {
            return Err(refused(
                target_message(id),
                msg!("engine-block-not-a-multiple", block = u64::from(size.bytes), logical = logical_bytes),
                msg!("engine-block-not-a-multiple-help", logical = logical_bytes),
            ));
        }
    }
    let unit_bytes = u64::from(workload.block_bytes_max());
    let region = workload.region;
    // Units begin at multiples of a block, unless the order of I/Os says otherwise or the offset is that of a job of fio.
    let begin = if workload.order.follows_pattern() && step.role.job.is_none() {
        region.offset_bytes.checked_next_multiple_of(unit_bytes).unwrap_or(u64::MAX)
    } else {
        region.offset_bytes
    };
    let end = match region.size_bytes {
        Some(size) => region.offset_bytes.saturating_add(size),
        None => size_bytes,
    };
    if end > size_bytes {
        return Err(refused(
            target_message(id),
            msg!("engine-region-too-large", end = end, size = size_bytes),
            msg!("engine-region-too-large-help"),
        ));
    }
    let count = end.saturating_sub(begin) / unit_bytes;
    if count == 0 {
        return Err(refused(
            target_message(id),
            msg!("engine-region-too-small", size = end.saturating_sub(begin), block = unit_bytes),
            msg!("engine-region-too-small-help"),
        ));
    }
    let extent = Extent { begin_bytes: begin, len_bytes: end - begin, end_of_target_bytes: size_bytes };
    Ok((Span { first_offset_bytes: begin, count, unit_bytes }, extent))
}

/// Discards blocks, by a system call of its own in every engine.
pub(crate) enum Trimmer {
    /// The `null` target: nothing to discard.
    Null,
    File(OwnedFd),
    Device(OwnedFd),
    Generic(OwnedFd, Namespace),
    /// The engine takes them itself, or the drive takes none.
    ByEngine,
    /// Files are removed as a whole.
    Folder(Box<Folder>),
}

impl Trimmer {
    /// Trims `target` for thread `worker` of the step, through a descriptor of its own.
    ///
    /// # Errors
    /// When the target cannot be opened.
    pub(crate) fn new(step: &Step, target: &Target, worker: u32) -> Result<Self, StepFailure> {
        Ok(match target.kind {
            TargetKind::Null => Trimmer::Null,
            TargetKind::UserSpace => match target.driven() {
                Some(driven) if driven.driver().described().has_trim => Trimmer::ByEngine,
                _ => {
                    let help = msg!("engine-no-trim-help");
                    return Err(refused(target_message(&target.id), msg!("engine-no-trim"), help));
                }
            },
            TargetKind::Array => {
                let help = msg!("engine-array-trim-help");
                return Err(refused(target_message(&target.id), msg!("engine-array-trim"), help));
            }
            TargetKind::Folder => Trimmer::Folder(Box::new(folder_of(step, target, worker)?)),
            TargetKind::File => Trimmer::File(target.open()?),
            TargetKind::Block => Trimmer::Device(target.open()?),
            TargetKind::Generic => match target.namespace {
                Some(namespace) => Trimmer::Generic(target.open()?, namespace),
                None => {
                    return Err(refused(
                        target_message(&target.id),
                        msg!("engine-not-identified"),
                        msg!("engine-by-block-device"),
                    ));
                }
            },
        })
    }

    /// Bytes trimmed, or a negative errno.
    pub(crate) fn trim(&self, offset: u64, len: u32) -> i32 {
        let failed = match self {
            Trimmer::Folder(folder) => return folder.remove(offset, len),
            Trimmer::Null | Trimmer::ByEngine => false,
            Trimmer::Generic(fd, namespace) => {
                let command = IoCommand::Deallocate {
                    first_block: offset / u64::from(namespace.block_bytes),
                    blocks: len / namespace.block_bytes,
                };
                return match io_command(fd.as_fd(), namespace.id, command, &mut []) {
                    Ok(()) => len as i32,
                    Err(error) => -error.raw_os_error().unwrap_or(code::EIO),
                };
            }
            Trimmer::Device(fd) => !targets::discard(fd, offset, len),
            Trimmer::File(fd) => !targets::punch(fd, offset, len),
        };
        if failed { -errno() } else { len as i32 }
    }
}

/// Reads a target back outside the measurement, in one I/O at a time.
pub(crate) struct ReadBack(Source);

enum Source {
    One { fd: OwnedFd, namespace: Option<Namespace> },
    Array { array: Box<Array<Synchronous<Psync>>>, members: Vec<OwnedFd> },
    Driven(Box<nvme::Reader>),
}

impl ReadBack {
    /// Most bytes that are read of an array at once, unless a block is longer.
    const ARRAY_BYTES_MAX: usize = 1 << 20;
    /// Most bytes per NVMe command: every known drive takes so many.
    const COMMAND_BYTES_MAX: usize = 64 << 10;

    /// Reads `target` through a descriptor of its own.
    ///
    /// # Errors
    /// When the target cannot be opened.
    pub(crate) fn new(target: &Target) -> Result<Self, StepFailure> {
        if target.driven().is_some() {
            return Ok(ReadBack(Source::Driven(Box::new(nvme::Reader::new(target)?))));
        }
        Ok(ReadBack(match target.array() {
            None => Source::One { fd: target.open()?, namespace: target.namespace },
            Some(array) => Source::Array {
                array: Box::new(array::read_back(
                    target,
                    array,
                    Self::ARRAY_BYTES_MAX.max(target.span.unit_bytes as usize),
                )?),
                members: array.targets().map(Target::open).collect::<Result<_, _>>()?,
            },
        }))
    }

    /// Lets go of what the page cache holds, so that what follows is read from the medium, as far as the kernel follows
    /// the advice.
    pub(crate) fn leave_page_cache(&self) {
        let fds = match &self.0 {
            Source::One { fd, .. } => std::slice::from_ref(fd),
            Source::Array { members, .. } => members,
            Source::Driven(_) => return,
        };
        fds.iter().for_each(targets::leave_cache);
    }

    /// Bytes read into the front of `buffer`; 0 at the end.
    ///
    /// # Errors
    /// As `pread`.
    pub(crate) fn read_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (fd, namespace) = match &mut self.0 {
            Source::Array { array, .. } => return array::read_alone(array, buffer, offset),
            Source::Driven(reader) => return reader.read_at(buffer, offset),
            Source::One { fd, namespace } => (fd, *namespace),
        };
        let Some(namespace) = namespace else {
            return targets::read_at(fd, buffer, offset);
        };
        let block_bytes = u64::from(namespace.block_bytes);
        let len = buffer.len().min(Self::COMMAND_BYTES_MAX);
        let command = IoCommand::Read { first_block: offset / block_bytes, blocks: (len as u64 / block_bytes) as u32 };
        io_command(fd.as_fd(), namespace.id, command, &mut buffer[..len]).map(|()| len)
    }
}
