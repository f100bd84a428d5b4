//! Where `/proc`, `/sys` and `/dev` are looked for, and the two ways a look can fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of the kernel could not be read or understood.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It is missing or unreadable.
    #[error("cannot read {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// It does not look as the kernel documents it.
    #[error("cannot understand {path:?}: {what}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
}

impl ProbeError {
    /// Binds an I/O error to the file it came from; for `map_err`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> ProbeError + '_ {
        move |source| ProbeError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn parse(path: &Path, what: impl Into<String>) -> ProbeError {
        ProbeError::Parse { path: path.to_owned(), what: what.into() }
    }
}

/// The folder that stands for `/`: the live machine, or a captured tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    base: PathBuf,
}

impl Default for Root {
    fn default() -> Self {
        Root::live()
    }
}

impl Root {
    /// This machine.
    #[must_use]
    pub fn live() -> Self {
        Root::new("/")
    }

    /// A captured tree with `proc`, `sys` and `dev` below `base`.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Root { base: base.into() }
    }

    /// Whether this is the running machine rather than a tree of files.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.base == Path::new("/")
    }

    /// Path of `relative` (no leading slash) below this root.
    #[must_use]
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.base.join(relative)
    }

    /// Whole text of a file.
    ///
    /// # Errors
    /// [`ProbeError::Read`].
    pub fn read(&self, relative: impl AsRef<Path>) -> Result<String, ProbeError> {
        let path = self.join(relative);
        fs::read_to_string(&path).map_err(ProbeError::read(&path))
    }
}

/// Text of an attribute without surrounding blanks; `None` when it is missing, unreadable or empty. For optional
/// attributes only: most of sysfs depends on driver and kernel version, so absence is an answer.
pub(crate) fn attribute(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// An optional attribute as a number.
pub(crate) fn number(path: &Path) -> Option<u64> {
    attribute(path)?.parse().ok()
}

/// A required attribute as a number.
pub(crate) fn required_number(path: &Path) -> Result<u64, ProbeError> {
    let text = fs::read_to_string(path).map_err(ProbeError::read(path))?;
    text.trim().parse().map_err(|_| ProbeError::parse(path, format!("expected a number, found {:?}", text.trim())))
}

/// Names in a folder, sorted; empty when the folder is missing.
pub(crate) fn names_in(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
pub(crate) mod tree {
    //! Hand-built trees for tests.

    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::Root;

    /// A temporary root to be filled file by file.
    pub(crate) struct Tree {
        dir: tempfile::TempDir,
    }

    impl Tree {
        pub(crate) fn new() -> Self {
            // The tree of a large server has 20 000 files: in memory they are made twenty times faster than on a disk.
            let in_memory = tempfile::tempdir_in("/dev/shm");
            Tree { dir: in_memory.or_else(|_| tempfile::tempdir()).expect("temp dir") }
        }

        pub(crate) fn root(&self) -> Root {
            Root::new(self.dir.path())
        }

        pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
            let full = self.dir.path().join(path);
            std::fs::create_dir_all(full.parent().expect("parent")).expect("folders");
            std::fs::write(full, content).expect("file");
            self
        }

        pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
            let full = self.dir.path().join(path);
            std::fs::create_dir_all(full.parent().expect("parent")).expect("folders");
            symlink(Path::new(target), full).expect("link");
            self
        }

        pub(crate) fn folder(&self, path: &str) -> &Self {
            std::fs::create_dir_all(self.dir.path().join(path)).expect("folders");
            self
        }

        /// A whole disk in sysfs with the attributes every block device has.
        pub(crate) fn disk(&self, name: &str, number: &str, sectors: u64, bus: &str) -> &Self {
            let home = format!("sys/devices/{bus}/block/{name}");
            self.file(&format!("{home}/dev"), format!("{number}\n"))
                .file(&format!("{home}/size"), format!("{sectors}\n"))
                .file(&format!("{home}/ro"), "0\n")
                .file(&format!("{home}/queue/logical_block_size"), "512\n")
                .file(&format!("{home}/queue/physical_block_size"), "4096\n")
                .file(&format!("{home}/queue/rotational"), "0\n")
                .file(&format!("{home}/queue/scheduler"), "[none] mq-deadline\n")
                .file(&format!("{home}/queue/nr_requests"), "256\n")
                .file(&format!("{home}/queue/write_cache"), "write back\n")
                .file(&format!("{home}/queue/io_poll"), "0\n")
                .folder(&format!("{home}/holders"))
                .folder(&format!("{home}/slaves"))
                .link(&format!("sys/dev/block/{number}"), &format!("../../devices/{bus}/block/{name}"))
                .link(&format!("sys/block/{name}"), &format!("../devices/{bus}/block/{name}"))
                .link(&format!("sys/class/block/{name}"), &format!("../../devices/{bus}/block/{name}"))
        }

        /// A partition of a disk made by [`Tree::disk`].
        pub(crate) fn partition(&self, disk: &str, bus: &str, name: &str, number: &str) -> &Self {
            let home = format!("sys/devices/{bus}/block/{disk}/{name}");
            self.file(&format!("{home}/dev"), format!("{number}\n"))
                .file(&format!("{home}/partition"), "1\n")
                .file(&format!("{home}/size"), "2048\n")
                .folder(&format!("{home}/holders"))
                .link(&format!("sys/dev/block/{number}"), &format!("../../devices/{bus}/block/{disk}/{name}"))
                .link(&format!("sys/class/block/{name}"), &format!("../../devices/{bus}/block/{disk}/{name}"))
        }
    }
}
