//! Where `/proc`, `/sys` and `/dev` are looked for, and the two ways a look can fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fathom_message::{Message, Say, msg, say_error};

use crate::system::LIVE;

/// A file of the kernel could not be read or understood.
#[derive(Debug)]
pub enum ProbeError {
    /// It is missing or unreadable.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// It does not look as the kernel documents it.
    Parse {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: Message,
    },
}

impl Say for ProbeError {
    fn message(&self) -> Message {
        match self {
            ProbeError::Read { path, source } => msg!("probe-unreadable", path = path, source = source),
            ProbeError::Parse { path, what } => msg!("probe-not-understood", path = path, what = what),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(msg!("probe-help"))
    }
}

say_error!(ProbeError);

impl ProbeError {
    /// Binds an I/O error to the file it came from; for `map_err`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> ProbeError + '_ {
        move |source| ProbeError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn parse(path: &Path, what: Message) -> ProbeError {
        ProbeError::Parse { path: path.to_owned(), what }
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
        Root::new(LIVE)
    }

    /// A captured tree with `proc`, `sys` and `dev` below `base`.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Root { base: base.into() }
    }

    /// Whether this is the running machine rather than a tree of files.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.base == Path::new(LIVE)
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

impl Root {
    /// Text of an optional attribute without surrounding blanks; `None` when it is missing, unreadable or empty.
    #[must_use]
    pub fn attribute(&self, relative: impl AsRef<Path>) -> Option<String> {
        attribute(&self.join(relative))
    }

    /// Names in a folder, sorted; empty when the folder is missing.
    #[must_use]
    pub fn names(&self, relative: impl AsRef<Path>) -> Vec<String> {
        names_in(&self.join(relative))
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
    text.trim().parse().map_err(|_| ProbeError::parse(path, msg!("probe-no-number", text = text.trim().to_owned())))
}

/// Names in a folder, sorted; empty when the folder is missing.
pub(crate) fn names_in(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(any(test, feature = "testing"))]
pub(crate) mod tree;
