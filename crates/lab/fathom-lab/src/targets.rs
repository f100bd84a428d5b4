//! From the names in a plan to files and devices that can be measured: creates files, checks space, removes them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_host::{
    BlockDevice, OWN_FILE_PREFIX, OWN_FILE_SUFFIX, Refusal, Root, WriteConsent, check_write_target, free_bytes,
};
use fathom_host::{is_own_file_name, mount_of, whole_device_of};
use fathom_plan::{EngineName, MadeFile, Part, Phase, Plan, SourceError, Step};

use crate::conduct::Renumbered;
use crate::simulated::SimulatedMachine;

/// Size of a file Fathom creates when neither plan nor user says one.
pub const FILE_BYTES_DEFAULT: u64 = 1 << 30;
/// Space that must stay free beside a new file: a full file system disturbs others.
const SPARE_BYTES: u64 = 64 << 20;

/// Why a target cannot be measured. Nothing was written when this is returned.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The name leads nowhere.
    #[error("target {path} does not exist, and neither does its directory")]
    Missing {
        /// As given.
        path: String,
    },
    /// A pattern or serial number that names nothing.
    #[error("target {name} names nothing here")]
    NoMatch {
        /// As given.
        name: String,
        /// What to do.
        help: String,
    },
    /// Not a file, directory or block device.
    #[error("target {path} is {kind}; Fathom measures regular files, directories, block devices and NVMe namespaces")]
    Kind {
        /// As given.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// The disk is too full.
    #[error("{path} needs {need_bytes} bytes and its file system has {free_bytes} free")]
    NoSpace {
        /// Where.
        path: String,
        /// How much.
        need_bytes: u64,
        /// How much there is.
        free_bytes: u64,
    },
    /// The file is there but smaller than the region.
    #[error("target {path} has {have_bytes} bytes and the plan touches {need_bytes}")]
    TooSmall {
        /// Which.
        path: String,
        /// Size.
        have_bytes: u64,
        /// End of the region.
        need_bytes: u64,
    },
    /// An existing file would be overwritten by a study that promises not to.
    #[error("{path} exists and this study writes")]
    WouldOverwrite {
        /// Which.
        path: String,
    },
    /// Two programs, one file.
    #[error("cannot prepare {path}: {source}")]
    Io {
        /// Which.
        path: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The guard said no.
    #[error("{0}")]
    Guard(Refusal),
    /// A simulated machine, or a part of one, that cannot be had.
    #[error(transparent)]
    Machine(Box<SourceError>),
    /// What a run has is on one machine.
    #[error("{simulated} and {other} are not on the same machine")]
    Mixed {
        /// The simulated machine.
        simulated: String,
        /// The other one, or a real target.
        other: String,
    },
    /// A name that only one engine understands.
    #[error("target `null` has no data: it goes with engine null, not {engine}")]
    NullTarget {
        /// Engine asked.
        engine: &'static str,
    },
}

impl TargetError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            TargetError::Missing { .. } => {
                "name an existing file, a directory to make a test file in, or a block device".into()
            }
            TargetError::NoMatch { help, .. } => help.clone(),
            TargetError::Kind { .. } => "use the block device (for example /dev/nvme0n1) or a file".into(),
            TargetError::NoSpace { free_bytes, .. } => {
                let fits = free_bytes.saturating_sub(SPARE_BYTES) / (1 << 20);
                format!("free some space, or ask for less: --size {fits}m")
            }
            TargetError::TooSmall { path, have_bytes, .. } if path.starts_with("sim:") => {
                format!("ask for less: --size {have_bytes}")
            }
            TargetError::TooSmall { have_bytes, .. } => {
                format!("ask for less: --size {have_bytes}, or let Fathom create a new file")
            }
            TargetError::WouldOverwrite { .. } => {
                "name its directory: Fathom makes a file of its own there and removes it".into()
            }
            TargetError::Io { source, .. } if source.raw_os_error() == Some(libc_errno::EROFS) => {
                "the file system is read-only: name a directory on a writable one".into()
            }
            TargetError::Io { .. } => "check that you may write there".into(),
            TargetError::Guard(refusal) => refusal.help.clone(),
            // Its text carries the remedy.
            TargetError::Machine(_) => String::new(),
            TargetError::Mixed { .. } => {
                "give each its own run, and put them side by side with: fathom compare RUN RUN".into()
            }
            TargetError::NullTarget { .. } => "name a file or device with --target, or use --engine null".into(),
        }
    }
}

/// Values of errno that decide a help text; the crate needs nothing else of libc.
mod libc_errno {
    pub(super) const EROFS: i32 = 30;
}

/// A file that Fathom created; removed when dropped unless it is to be kept.
#[derive(Debug)]
struct OwnFile {
    path: PathBuf,
    /// Holds the lock that marks the file as in use, so that a later run knows a leftover from a live one.
    _lock: File,
    keep: bool,
    /// Made by the run before it was interrupted, not by this process.
    adopted: bool,
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing can be done about a failure here, and the next run in this directory tries again.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What is opened for a name.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    /// Size of the file, if it is made here.
    made_bytes: Option<u64>,
}

/// Targets made ready.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// By the name as given.
    names: BTreeMap<String, Opened>,
    own: Vec<OwnFile>,
    /// Claims on devices that will be written; held until the run ends.
    consents: Vec<WriteConsent>,
    /// Files to fill before the first step: path and size.
    pub(crate) to_fill: Vec<(PathBuf, u64)>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    /// The machine whose parts the targets are, if they are simulated: then there is nothing else here.
    pub(crate) simulated: Option<SimulatedMachine>,
    /// Targets that have other names now than in the plan of the run.
    pub(crate) renumbered: Renumbered,
}

/// What the caller allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permission<'a> {
    /// Serial numbers named by `--destroy`.
    pub(crate) destroy: &'a [String],
    /// Leave created files in place.
    pub(crate) keep: bool,
    /// Only look: make no file and keep no claim.
    pub(crate) look_only: bool,
    /// Whether an existing file may be overwritten because the user named it and a load that writes.
    pub(crate) overwrite_files: bool,
    /// Files that the run made before it was interrupted: taken over when they are still there.
    pub(crate) made: &'a [MadeFile],
}

/// Names tried for a test file while runs beside this one take them.
const NAMES_MAX: u32 = 16;

/// What the plan does with one target.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    end_bytes: u64,
    writes: bool,
    sized: bool,
    /// Filled by a step of the plan, not by us beforehand.
    filled_by_step: bool,
}

/// Checks every target of the plan and creates the files it needs. Writes nothing to devices.
///
/// # Errors
/// [`TargetError`], before anything was written.
pub(crate) fn prepare(plan: &Plan, permission: &Permission<'_>) -> Result<Prepared, TargetError> {
    if let Some(simulated) = SimulatedMachine::of_plan(plan)? {
        simulated.check_regions(plan)?;
        return Ok(Prepared { simulated: Some(simulated), ..Prepared::default() });
    }
    let mut uses: BTreeMap<&str, Use> = BTreeMap::new();
    for step in &plan.steps {
        for target in &step.targets {
            if target.path == "null" && step.engine.name != EngineName::Null {
                return Err(TargetError::NullTarget { engine: step.engine.name.as_str() });
            }
            if step.engine.name == EngineName::Null {
                continue;
            }
            let entry = uses.entry(&target.path).or_default();
            let region = step.workload.region;
            entry.end_bytes = entry.end_bytes.max(region.offset_bytes + region.size_bytes.unwrap_or(0));
            entry.sized |= region.size_bytes.is_some();
            entry.writes |= step.workload.mix.is_destructive();
            entry.filled_by_step |= matches!(step.phase, Phase::Fill | Phase::Precondition | Phase::Purge);
        }
    }
    let mut prepared = Prepared::default();
    for (name, used) in uses {
        prepared.add(name, used, permission)?;
    }
    Ok(prepared)
}

impl Prepared {
    /// The plan as it is executed: with the files that are opened, the sizes of those that are made, and every region
    /// that was a share or a part in bytes.
    ///
    /// # Errors
    /// [`TargetError::Io`] when the capacity of a target cannot be read.
    pub(crate) fn executed(&self, plan: &Plan) -> Result<Plan, TargetError> {
        let mut out = plan.clone();
        for step in &mut out.steps {
            if let Some(simulated) = &self.simulated {
                step.targets = simulated.expanded(step)?;
            }
            self.resolve_region(step)?;
            for target in &mut step.targets {
                let Some(opened) = self.names.get(&target.path) else { continue };
                target.path = opened.path.to_string_lossy().into_owned();
            }
        }
        let made = |opened: &Opened| {
            Some(MadeFile { path: opened.path.to_string_lossy().into_owned(), bytes: opened.made_bytes? })
        };
        out.machine = self.simulated.as_ref().map(SimulatedMachine::to_kept);
        out.files = self.names.values().filter_map(made).collect();
        Ok(out)
    }

    fn resolve_region(&self, step: &mut Step) -> Result<(), TargetError> {
        let opened: Vec<&Opened> = step.targets.iter().filter_map(|t| self.names.get(&t.path)).collect();
        let offset_bytes = step.workload.region.offset_bytes;
        let made = opened.iter().filter_map(|o| o.made_bytes).min();
        let conditions = matches!(step.phase, Phase::Purge | Phase::Fill | Phase::Precondition);
        if step.workload.region.size_bytes.is_none() && (conditions || step.role.footprint_pct.is_some()) {
            let capacities = match &self.simulated {
                Some(simulated) => simulated.capacities_bytes(step),
                None => opened.iter().map(|o| o.capacity_bytes()).collect::<Result<Vec<u64>, _>>()?,
            };
            // Targets of one step share one region, so the smallest decides. A file made here is the footprint itself.
            let pct = step.role.footprint_pct.filter(|_| made.is_none());
            let share = |bytes: u64| match pct {
                Some(pct) => bytes / 100 * u64::from(pct) / FOOTPRINT_UNIT_BYTES * FOOTPRINT_UNIT_BYTES,
                None => bytes,
            };
            let smallest = capacities.into_iter().min();
            step.workload.region.size_bytes = smallest.map(|c| share(c.saturating_sub(offset_bytes)));
        }
        let region = &mut step.workload.region;
        region.size_bytes = region.size_bytes.or(made.map(|made| made - offset_bytes));
        resolve_part(step);
        Ok(())
    }

    /// What the guard lets be written while the run lasts.
    pub(crate) fn consents(&self) -> &[WriteConsent] {
        &self.consents
    }

    /// Leaves the files that were made in place when the run ends.
    pub(crate) fn keep_files(&mut self) {
        for file in &mut self.own {
            file.keep = true;
        }
    }

    /// Makes the files that were taken over this run's own; `filled`: they hold data already.
    pub(crate) fn take_over(&mut self, filled: bool, keep: bool) {
        for file in self.own.iter_mut().filter(|f| f.adopted) {
            file.keep = keep;
            let path = &file.path;
            self.to_fill.retain(|(to_fill, _)| !filled || to_fill != path);
        }
    }

    fn add(&mut self, name: &str, used: Use, permission: &Permission<'_>) -> Result<(), TargetError> {
        let path = Path::new(name);
        let io = |source| TargetError::Io { path: name.to_owned(), source };
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                if !permission.look_only {
                    self.notes.extend(remove_leftovers(path));
                }
                self.create_in(path, name, used, permission)
            }
            Ok(meta) if meta.is_file() && permission.made.iter().any(|m| m.path == name) => {
                self.adopt(path, name, used, permission)
            }
            Ok(meta) if meta.is_file() => {
                if meta.len() < used.end_bytes {
                    return Err(TargetError::TooSmall {
                        path: name.to_owned(),
                        have_bytes: meta.len(),
                        need_bytes: used.end_bytes,
                    });
                }
                if used.writes {
                    if !permission.overwrite_files {
                        return Err(TargetError::WouldOverwrite { path: name.to_owned() });
                    }
                    OpenOptions::new().write(true).open(path).map_err(io)?;
                    self.notes.push(format!("{name} exists: it is overwritten in place and kept"));
                }
                self.names.insert(name.to_owned(), Opened { path: path.to_owned(), made_bytes: None });
                Ok(())
            }
            // Of character devices only those of NVMe namespaces have a block device that they can be judged by.
            Ok(meta)
                if meta.file_type().is_block_device()
                    || meta.file_type().is_char_device() && whole_device_of(&Root::live(), path).is_ok() =>
            {
                if used.writes {
                    let consent = check_write_target(&Root::live(), path, permission.destroy);
                    self.consents.push(consent.map_err(TargetError::Guard)?);
                }
                self.names.insert(name.to_owned(), Opened { path: path.to_owned(), made_bytes: None });
                Ok(())
            }
            Ok(meta) => {
                let kind =
                    if meta.file_type().is_char_device() { "a character device" } else { "neither file nor device" };
                Err(TargetError::Kind { path: name.to_owned(), kind })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                // A missing device node must not become a file beside the real ones.
                if !parent_of(path).is_dir() || holds_device_nodes(parent_of(path)) {
                    return Err(TargetError::Missing { path: name.to_owned() });
                }
                self.create(name, path.to_owned(), used, permission)
            }
            Err(e) => Err(io(e)),
        }
    }

    /// Makes the test file of a directory under its usual name, so that runs compare; under another while a run beside
    /// this one uses that.
    fn create_in(
        &mut self,
        directory: &Path,
        name: &str,
        used: Use,
        permission: &Permission<'_>,
    ) -> Result<(), TargetError> {
        let mut names =
            std::iter::once(String::new()).chain((1..NAMES_MAX).map(|i| format!("-{}-{i}", std::process::id())));
        loop {
            let Some(suffix) = names.next() else {
                let source = std::io::ErrorKind::AlreadyExists.into();
                return Err(TargetError::Io { path: directory.display().to_string(), source });
            };
            let file = directory.join(format!("{OWN_FILE_PREFIX}test{suffix}{OWN_FILE_SUFFIX}"));
            match self.create(name, file, used, permission) {
                Err(TargetError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => return other,
            }
        }
    }

    /// Takes over a file that the run made before it was interrupted. Until [`Prepared::take_over`] it is only looked at.
    fn adopt(&mut self, path: &Path, name: &str, used: Use, permission: &Permission<'_>) -> Result<(), TargetError> {
        let io = |source| TargetError::Io { path: name.to_owned(), source };
        let handle = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        handle.try_lock().map_err(|_| io(std::io::Error::other("another run uses it")))?;
        let have_bytes = handle.metadata().map_err(io)?.len();
        let made = permission.made.iter().find(|m| m.path == name).map_or(0, |m| m.bytes);
        if have_bytes < made {
            return Err(TargetError::TooSmall { path: name.to_owned(), have_bytes, need_bytes: made });
        }
        self.names.insert(name.to_owned(), Opened { path: path.to_owned(), made_bytes: Some(made) });
        if !used.filled_by_step {
            self.to_fill.push((path.to_owned(), made));
        }
        self.own.push(OwnFile { path: path.to_owned(), _lock: handle, keep: true, adopted: true });
        Ok(())
    }

    fn create(&mut self, name: &str, file: PathBuf, used: Use, permission: &Permission<'_>) -> Result<(), TargetError> {
        let io = |source| TargetError::Io { path: file.display().to_string(), source };
        let size_bytes = if used.sized { used.end_bytes } else { used.end_bytes + FILE_BYTES_DEFAULT };
        let free = free_bytes(parent_of(&file)).map_err(io)?;
        if free < size_bytes.saturating_add(SPARE_BYTES) {
            return Err(TargetError::NoSpace {
                path: file.display().to_string(),
                need_bytes: size_bytes.saturating_add(SPARE_BYTES),
                free_bytes: free,
            });
        }
        self.names.insert(name.to_owned(), Opened { path: file.clone(), made_bytes: Some(size_bytes) });
        if permission.look_only {
            return Ok(());
        }
        let handle = OpenOptions::new().read(true).write(true).create_new(true).open(&file).map_err(io)?;
        handle.lock().map_err(io)?;
        // A run beside this one may have taken the file for a leftover before the lock was there.
        if std::fs::metadata(&file).ok().map(|m| m.ino()) != Some(handle.metadata().map_err(io)?.ino()) {
            return Err(io(std::io::ErrorKind::AlreadyExists.into()));
        }
        handle.set_len(size_bytes).map_err(io)?;
        if !used.filled_by_step {
            self.to_fill.push((file.clone(), size_bytes));
        }
        self.own.push(OwnFile { path: file, _lock: handle, keep: permission.keep, adopted: false });
        Ok(())
    }
}

impl Opened {
    /// Bytes that the target holds, or will hold.
    fn capacity_bytes(&self) -> Result<u64, TargetError> {
        if let Some(bytes) = self.made_bytes {
            return Ok(bytes);
        }
        let io = |source| TargetError::Io { path: self.path.display().to_string(), source };
        // The character device of a namespace has no end to seek to; the block device that it stands for tells its size.
        if std::fs::metadata(&self.path).is_ok_and(|m| m.file_type().is_char_device()) {
            let device = whole_device_of(&Root::live(), &self.path);
            return device.map(|d| d.size_bytes).map_err(|error| io(std::io::Error::other(error.to_string())));
        }
        File::open(&self.path).and_then(|mut f| f.seek(SeekFrom::End(0))).map_err(io)
    }
}

/// A region that is a share of a drive ends at a whole unit of this size.
const FOOTPRINT_UNIT_BYTES: u64 = 1 << 20;

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

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a directory is on the kernel's file system of device nodes.
fn holds_device_nodes(directory: &Path) -> bool {
    let Ok(real) = directory.canonicalize() else { return false };
    matches!(mount_of(&Root::live(), &real), Ok(Some(mount)) if mount.fs_type == "devtmpfs")
}

/// Removes test files of runs that were killed: theirs is the name, and nobody holds their lock.
fn remove_leftovers(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut notes = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if !is_own_file_name(&path) {
            continue;
        }
        let unused = OpenOptions::new().write(true).open(&path).is_ok_and(|f| f.try_lock().is_ok());
        if unused && std::fs::remove_file(&path).is_ok() {
            notes.push(format!("removed {}, left behind by a run that was killed", path.display()));
        }
    }
    notes
}

/// The whole devices behind a step's targets, without repeats; file systems without one (tmpfs) have none.
pub(crate) fn devices_of(step: &Step) -> Vec<BlockDevice> {
    let root = Root::live();
    let mut out: Vec<BlockDevice> =
        step.targets.iter().filter_map(|t| whole_device_of(&root, Path::new(&t.path)).ok()).collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup_by(|a, b| a.name == b.name);
    out
}
