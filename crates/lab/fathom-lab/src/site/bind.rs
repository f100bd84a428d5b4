//! From the names in a plan to what they are on this machine: what is there is judged, what is not is made.

use fathom_host::system::FileTypeExt as _;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use fathom_host::{
    Access, Binding, Bindings, FileMark, OpenFlags, OwnArrayError, OwnFile, Permit, Root, TargetKind, check_new_file,
    file_bytes, free_bytes, marked_files_in, refuse_path, whole_device_of,
};
use fathom_message::{Message, msg};
use fathom_nvme::driver::DrivenNamespace;
use fathom_plan::{NewFile, Part, Pattern, Phase, Plan, Step, TargetId};
use fathom_store::MadeFile;

use super::{Permission, TargetError};

/// Size of a file Fathom creates when neither plan nor user says one.
pub const FILE_BYTES_DEFAULT: u64 = 1 << 30;
/// Space that must stay free beside a new file: a full file system disturbs others.
pub(super) const SPARE_BYTES: u64 = 64 << 20;
/// Names tried for a test file while runs beside this one take them.
const NAMES_MAX: u32 = 16;
/// A file that takes what is free ends at a whole unit of this size.
const FILL_UNIT_BYTES: u64 = 1 << 20;

/// What the plan does with one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    end_bytes: u64,
    pub(super) writes: bool,
    sized: bool,
    /// What a file is made of when no step gives a size; for a member of an array its share.
    make_bytes: Option<u64>,
    /// It is a member of an array.
    pub(super) in_array: bool,
    /// It is a member of an array of Linux md.
    by_md: bool,
    /// It is not to be made.
    must_exist: bool,
    /// A file of no given size takes what is free.
    fills_space: bool,
    /// Filled by a step of the plan, not by us beforehand.
    pub(super) filled_by_step: bool,
    /// State of its file before the first step that uses it; `None`: of no step yet.
    new_file: Option<NewFile>,
}

/// What the plan does with each target; with the members of an array in its place.
///
/// # Errors
/// [`TargetError::NullTarget`], [`TargetError::Array`], [`TargetError::ArrayByFio`].
pub(super) fn uses(plan: &Plan) -> Result<BTreeMap<TargetId, Use>, TargetError> {
    let mut uses: BTreeMap<TargetId, Use> = BTreeMap::new();
    for step in &plan.steps {
        for target in &step.targets {
            if !step.opens_targets() {
                continue;
            }
            if target.is_null() {
                return Err(TargetError::NullTarget { engine: step.engine.name.as_str() });
            }
            let region = step.workload.region;
            let others = u64::from(step.load.threads.saturating_sub(1));
            let later_bytes = step.workload.order.thread_offset_bytes.unwrap_or(0).saturating_mul(others);
            let end_bytes =
                region.offset_bytes.saturating_add(region.size_bytes.unwrap_or(0)).saturating_add(later_bytes);
            let array = target.array().transpose().map_err(TargetError::Array)?;
            if array.is_some() && step.role.by_fio.is_some() {
                return Err(TargetError::ArrayByFio { target: target.clone() });
            }
            for opened in target.opened() {
                let writes = step.writes_to(&opened);
                let entry = uses.entry(opened).or_default();
                let share = |bytes: u64| array.as_ref().map_or(bytes, |array| array.layout().member_bytes(bytes));
                entry.end_bytes = entry.end_bytes.max(share(end_bytes));
                entry.must_exist |= step.role.must_exist;
                entry.fills_space |= step.role.fills_space;
                entry.new_file.get_or_insert(step.role.new_file);
                entry.sized |= region.size_bytes.is_some();
                if array.is_some() {
                    entry.make_bytes = entry.make_bytes.max(Some(share(end_bytes + FILE_BYTES_DEFAULT)));
                    entry.in_array = true;
                }
                entry.by_md |= target.md_array().is_some();
                entry.writes |= writes;
                entry.filled_by_step |= matches!(step.phase, Phase::Fill | Phase::Precondition | Phase::Purge);
            }
        }
    }
    Ok(uses)
}

impl Use {
    /// State of the file, if it is made, before the first step that uses it. Arrays are written through the array.
    pub(super) fn new_file(&self) -> NewFile {
        match self.new_file.filter(|_| !self.in_array).unwrap_or_default() {
            // A file that takes all free space gets it as it is written.
            NewFile::Allocated if self.fills_space => NewFile::Sparse,
            state => state,
        }
    }

    /// Of a drive as a whole.
    pub(super) fn of_whole_device(writes: bool) -> Use {
        Use { writes, must_exist: true, ..Use::default() }
    }
}

/// A target that was looked at.
#[derive(Debug)]
pub(super) enum Seen {
    /// It is there: bound as it would be for the run.
    There(Box<Binding>),
    /// A file is to be made here, of so many measured bytes.
    ToMake { path: PathBuf, bytes: u64 },
}

/// Looks at what `path` leads to, for `target`. Only looks: claims end when the binding is dropped.
///
/// # Errors
/// [`TargetError`].
pub(super) fn look_at(target: &TargetId, path: &Path, used: Use, permit: &Permit<'_>) -> Result<Seen, TargetError> {
    let root = Root::live();
    refuse_path(path)?;
    match fs::metadata(path) {
        Ok(meta) if used.by_md && !meta.file_type().is_block_device() => {
            Err(TargetError::MdMember(OwnArrayError::Member { member: target.clone() }))
        }
        Err(error) if used.by_md && error.kind() == io::ErrorKind::NotFound => {
            Err(TargetError::MdMember(OwnArrayError::Member { member: target.clone() }))
        }
        Ok(meta) if meta.is_dir() => to_make(test_file_in(path)?, used),
        Ok(meta) if meta.is_file() || is_device(&meta, path) => {
            let binding = Binding::existing(&root, target.clone(), path, used.writes, permit)?;
            let have_bytes = capacity_bytes(&binding)?;
            if have_bytes < used.end_bytes || have_bytes == 0 {
                let need_bytes = used.end_bytes.max(1);
                return Err(TargetError::TooSmall { target: target.clone(), have_bytes, need_bytes });
            }
            Ok(Seen::There(Box::new(binding)))
        }
        Ok(meta) => Err(TargetError::Kind { target: target.clone(), kind: kind_of(&meta) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if used.must_exist {
                return Err(TargetError::MustExist { target: target.clone() });
            }
            if !folder_of(path).is_dir() {
                return Err(TargetError::Missing { target: target.clone() });
            }
            check_new_file(&root, path)?;
            to_make(path.to_owned(), used)
        }
        Err(source) => Err(TargetError::Io { path: path.to_owned(), source }),
    }
}

/// Of character devices only those of NVMe namespaces have a block device that they can be judged by.
fn is_device(meta: &fs::Metadata, path: &Path) -> bool {
    let kind = meta.file_type();
    kind.is_block_device() || kind.is_char_device() && whole_device_of(&Root::live(), path).is_ok()
}

fn kind_of(meta: &fs::Metadata) -> Message {
    let kind = meta.file_type();
    if kind.is_char_device() {
        msg!("kind-character-device")
    } else if kind.is_fifo() {
        msg!("kind-fifo")
    } else if kind.is_socket() {
        msg!("kind-socket")
    } else {
        msg!("kind-other")
    }
}

fn to_make(path: PathBuf, used: Use) -> Result<Seen, TargetError> {
    let made = used.make_bytes.unwrap_or(used.end_bytes + FILE_BYTES_DEFAULT);
    let free = free_bytes(folder_of(&path)).map_err(|source| TargetError::Io { path: path.clone(), source })?;
    let bytes = match (used.sized, used.fills_space) {
        (true, _) => used.end_bytes,
        (false, true) => space_to_fill(free).max(used.end_bytes + 1),
        (false, false) => made,
    };
    let need_bytes = file_bytes(bytes).saturating_add(SPARE_BYTES);
    if free < need_bytes {
        return Err(TargetError::NoSpace { path, need_bytes, free_bytes: free });
    }
    Ok(Seen::ToMake { path, bytes })
}

/// Bytes of a file that takes what is free: the reserve of any new file stays, and as much again for what the file system
/// keeps of a large one.
fn space_to_fill(free_bytes: u64) -> u64 {
    let taken = file_bytes(0).saturating_add(2 * SPARE_BYTES);
    free_bytes.saturating_sub(taken) / FILL_UNIT_BYTES * FILL_UNIT_BYTES
}

/// The usual name of the test file of a directory, so that runs compare; another while that one is taken.
fn test_file_in(directory: &Path) -> Result<PathBuf, TargetError> {
    let names = std::iter::once(String::new()).chain((1..NAMES_MAX).map(|i| format!("-{}-{i}", std::process::id())));
    let mut paths = names.map(|suffix| directory.join(format!("fathom-test{suffix}.data")));
    paths
        .find(|path| fs::symlink_metadata(path).is_err())
        .ok_or_else(|| TargetError::Io { path: directory.to_owned(), source: io::ErrorKind::AlreadyExists.into() })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Bytes that a target holds.
///
/// # Errors
/// It cannot be opened to be read.
pub(super) fn capacity_bytes(binding: &Binding) -> Result<u64, TargetError> {
    let io = |source| TargetError::Io { path: binding.path().to_owned(), source };
    match (binding.made_bytes(), binding.kind(), binding.device()) {
        (Some(bytes), ..) => Ok(bytes),
        (None, TargetKind::Null, _) => Ok(u64::MAX),
        (None, TargetKind::UserSpace, _) => Ok(binding.driven().map_or(0, DrivenNamespace::size_bytes)),
        // The character device of a namespace has no end to seek to; the block device that it stands for tells its size.
        (None, TargetKind::Generic, Some(device)) => Ok(device.size_bytes),
        (None, ..) => {
            let opened = binding.open(Access { writes: false, flags: OpenFlags::NONBLOCK });
            let mut file: File = opened.map_err(TargetError::Open)?;
            file.seek(SeekFrom::End(0)).map_err(io)
        }
    }
}

/// Bytes that a target holds, given those of what is opened for it; and whether all of that is made for the run.
///
/// # Errors
/// As `held`; [`TargetError::PartlyMade`].
pub(super) fn bytes_of_target(target: &TargetId, held: &BytesOf<'_>) -> Result<(u64, bool), TargetError> {
    let Some(Ok(array)) = target.array() else { return held(target) };
    let members: Vec<(u64, bool)> = target.opened().iter().map(held).collect::<Result<_, _>>()?;
    let made = members.iter().filter(|(_, is_made)| *is_made).count();
    // New members beside old ones: their parity or copies would not fit the data that is there.
    if made > 0 && made < members.len() {
        return Err(TargetError::PartlyMade { target: target.clone() });
    }
    let smallest = members.iter().map(|(bytes, _)| *bytes).min().unwrap_or(0);
    let (have_bytes, need_bytes) = (array.layout().capacity_bytes(smallest), array.layout().stripe_bytes());
    if have_bytes < need_bytes {
        return Err(TargetError::TooSmall { target: target.clone(), have_bytes, need_bytes });
    }
    Ok((have_bytes, made > 0))
}

/// Removes what killed runs of this lab left in a directory: files with a mark that the lab says nobody needs, and that
/// nobody holds. Everything else stays.
pub(super) fn remove_abandoned(directory: &Path, permission: &Permission) -> Vec<(FileMark, Message)> {
    let abandoned = marked_files_in(directory).into_iter().filter(|(_, mark, _)| permission.abandoned.contains(mark));
    let removed = abandoned.filter_map(|(path, mark, _)| {
        OwnFile::adopt(&path, mark).and_then(OwnFile::remove).ok()?;
        Some((mark, msg!("target-leftover-removed", path = &path)))
    });
    removed.collect()
}

/// Makes a file, or takes over the one that the run made before.
///
/// # Errors
/// [`TargetError::NotOurs`] where another file has its place; [`TargetError::Io`].
pub(super) fn make_or_adopt(file: &MadeFile) -> Result<(OwnFile, bool), TargetError> {
    let io = |source| TargetError::Io { path: file.path.clone(), source };
    match OwnFile::adopt(&file.path, file.mark) {
        Ok(own) => Ok((own, true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OwnFile::create(&file.path, file.bytes, file.mark).map(|own| (own, false)).map_err(io)
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(TargetError::NotOurs { path: file.path.clone() })
        }
        Err(error) => Err(io(error)),
    }
}

/// What a target holds, and whether its file is made for the run.
type BytesOf<'a> = dyn Fn(&TargetId) -> Result<(u64, bool), TargetError> + 'a;

/// The plan with every region that was a share, a part, or the whole of what is conditioned, in bytes. `bytes_of`: what a
/// target holds, and whether its file is made for the run.
///
/// # Errors
/// As `bytes_of`.
pub(super) fn with_regions(plan: &Plan, bytes_of: &BytesOf<'_>) -> Result<Plan, TargetError> {
    let mut out = plan.clone();
    for step in &mut out.steps {
        if step.opens_targets() {
            resolve_region(step, bytes_of)?;
        }
        resolve_part(step);
    }
    Ok(out)
}

fn resolve_region(step: &mut Step, bytes_of: &BytesOf<'_>) -> Result<(), TargetError> {
    let has_shares = step.role.offset_pct.is_some() || step.role.pass_pct.is_some();
    if step.workload.region.size_bytes.is_some() && !has_shares {
        return end_after_block(step, bytes_of);
    }
    let held: Vec<(u64, bool)> =
        step.targets.iter().map(|target| bytes_of_target(target, bytes_of)).collect::<Result<_, _>>()?;
    // Targets of one step share one region, so the smallest decides.
    let smallest = held.iter().map(|(bytes, _)| *bytes).min();
    let made = held.iter().filter(|(_, is_made)| *is_made).map(|(bytes, _)| *bytes).min();
    let block = u64::from(step.workload.block_bytes_min()).max(1);
    let share = |bytes: u64, pct: u8| (u128::from(bytes) * u128::from(pct) / 100) as u64;
    if let (Some(pct), Some(bytes)) = (step.role.offset_pct, smallest) {
        // A file that is made has no bytes yet, as fio counts.
        let bytes = if made.is_some() { 0 } else { bytes };
        step.workload.region.offset_bytes = share(bytes, pct).next_multiple_of(block);
    }
    let offset_bytes = step.workload.region.offset_bytes;
    let conditions = matches!(step.phase, Phase::Purge | Phase::Fill | Phase::Precondition);
    let region = &mut step.workload.region;
    if region.size_bytes.is_none() && (conditions || step.role.footprint_pct.is_some()) {
        // A file made here is the footprint itself, unless another job of fio says how large it is.
        let pct = step.role.footprint_pct.filter(|_| made.is_none() || step.role.job.is_some());
        let of = |bytes: u64| {
            let left = bytes.saturating_sub(offset_bytes);
            pct.map_or(left, |pct| share(bytes, pct).min(left) / block * block)
        };
        region.size_bytes = smallest.map(of);
    }
    region.size_bytes = region.size_bytes.or(made.map(|made| made.saturating_sub(offset_bytes)));
    if let Some(pct) = step.role.pass_pct {
        let bytes = region.size_bytes.or(smallest.map(|bytes| bytes.saturating_sub(offset_bytes)));
        step.workload.order.pass_bytes = bytes.map(|bytes| share(bytes, pct));
    }
    Ok(())
}

/// Has a sequential job of fio end after the block in which its size ends, as fio does where the file goes on.
fn end_after_block(step: &mut Step, bytes_of: &BytesOf<'_>) -> Result<(), TargetError> {
    let workload = &step.workload;
    let block = u64::from(workload.block_bytes_max());
    let is_plain = workload.pattern == Pattern::Sequential && block == u64::from(workload.block_bytes_min());
    let Some(size_bytes) = workload.region.size_bytes.filter(|bytes| bytes % block > 0) else { return Ok(()) };
    if step.role.job.is_none() || !is_plain {
        return Ok(());
    }
    let size_bytes = size_bytes.next_multiple_of(block);
    let end_bytes = workload.region.offset_bytes.saturating_add(size_bytes);
    for target in &step.targets {
        if bytes_of_target(target, bytes_of)?.0 < end_bytes {
            return Ok(());
        }
    }
    step.workload.region.size_bytes = Some(size_bytes);
    Ok(())
}

/// Cuts the region of a step that writes a part of it, and fits the block of a fill to it.
fn resolve_part(step: &mut Step) {
    let (Some(part), Some(size_bytes)) = (step.role.part, step.workload.region.size_bytes) else { return };
    // The plan of a run that is done again has its parts cut already.
    if part.is_cut {
        return;
    }
    step.role.part = Some(Part { is_cut: true, ..part });
    if step.phase == Phase::Fill {
        // The largest block that divides the region: nothing must stay unwritten at its end.
        let block = step.workload.block_bytes_max().min(1 << size_bytes.trailing_zeros().clamp(9, 26));
        for size in &mut step.workload.block_sizes {
            size.bytes = block;
        }
    }
    let block = u64::from(step.workload.block_bytes_max());
    let blocks = size_bytes / block;
    let first = blocks * u64::from(part.index) / u64::from(part.of);
    let end = (blocks * u64::from(part.index + 1) / u64::from(part.of)).max(first + 1).min(blocks);
    let first = first.min(end.saturating_sub(1));
    step.workload.region.offset_bytes += first * block;
    step.workload.region.size_bytes = Some((end - first) * block);
}

/// All bindings of a run on this machine, and the files that it made.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub(super) bindings: Bindings,
    pub(super) own: Vec<OwnFile>,
    /// Targets whose new files are to be filled before the first step.
    pub(super) to_fill: Vec<TargetId>,
}
