//! From the names in a plan to files and devices that can be measured: creates files, checks space, removes them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_host::{
    BlockDevice, OWN_FILE_PREFIX, OWN_FILE_SUFFIX, Refusal, Root, WriteConsent, check_write_target, free_bytes,
};
use fathom_host::{is_own_file_name, mount_of, whole_device_of};
use fathom_plan::{EngineName, Plan, Step};

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
            TargetError::Kind { .. } => "use the block device (for example /dev/nvme0n1) or a file".into(),
            TargetError::NoSpace { free_bytes, .. } => {
                let fits = free_bytes.saturating_sub(SPARE_BYTES) / (1 << 20);
                format!("free some space, or ask for less: --size {fits}m")
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
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing can be done about a failure here, and the next run in this directory tries again.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Targets made ready.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// As given -> the file or device that is opened, and the size of the file if it was made here.
    names: BTreeMap<String, (PathBuf, Option<u64>)>,
    own: Vec<OwnFile>,
    /// Claims on devices that will be written; held until the run ends.
    consents: Vec<WriteConsent>,
    /// Files to fill before the first step: path and size.
    pub(crate) to_fill: Vec<(PathBuf, u64)>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
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
}

/// Names tried for a test file while runs beside this one take them.
const NAMES_MAX: u32 = 16;

/// What the plan does with one target.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    end_bytes: u64,
    writes: bool,
    sized: bool,
}

/// Checks every target of the plan and creates the files it needs. Writes nothing to devices.
///
/// # Errors
/// [`TargetError`], before anything was written.
pub(crate) fn prepare(plan: &Plan, permission: &Permission<'_>) -> Result<Prepared, TargetError> {
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
        }
    }
    let mut prepared = Prepared::default();
    for (name, used) in uses {
        prepared.add(name, used, permission)?;
    }
    Ok(prepared)
}

impl Prepared {
    /// The plan as it is executed: with the files that are opened, and the sizes of those that were made.
    pub(crate) fn executed(&self, plan: &Plan) -> Plan {
        let mut out = plan.clone();
        for step in &mut out.steps {
            for target in &mut step.targets {
                let Some((path, made_bytes)) = self.names.get(&target.path) else { continue };
                target.path = path.to_string_lossy().into_owned();
                let region = &mut step.workload.region;
                region.size_bytes = region.size_bytes.or(made_bytes.map(|made| made - region.offset_bytes));
            }
        }
        out
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
                self.names.insert(name.to_owned(), (path.to_owned(), None));
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
                self.names.insert(name.to_owned(), (path.to_owned(), None));
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
        self.names.insert(name.to_owned(), (file.clone(), Some(size_bytes)));
        self.to_fill.push((file.clone(), size_bytes));
        self.own.push(OwnFile { path: file, _lock: handle, keep: permission.keep });
        Ok(())
    }
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
