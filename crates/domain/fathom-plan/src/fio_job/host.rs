//! Answers that a job file needs from the machine it runs on.

use std::io;

/// Machine on which a job file is read. The plan itself opens nothing.
pub trait FioHost {
    /// Value of the environment variable `name`.
    fn variable(&self, name: &str) -> Option<String>;

    /// Text of an included file.
    ///
    /// # Errors
    /// The file cannot be read.
    fn included(&self, path: &str) -> io::Result<String>;

    /// True for a path that exists and is no regular file: fio takes a section of such a name for the device itself.
    fn is_special(&self, path: &str) -> bool;

    /// Value of one of fio's own words; `None`: unknown.
    fn number(&self, of: HostNumber) -> Option<u64>;
}

/// Words that fio replaces by a number of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNumber {
    /// `$ncpus`: configured CPUs.
    Cpus,
    /// `$pagesize`: bytes of a page.
    PageBytes,
    /// `$mb_memory`: memory in MiB.
    MemoryMib,
}

impl HostNumber {
    /// All of them, with fio's words.
    pub(super) const WORDS: [(&'static str, HostNumber); 3] =
        [("$ncpus", HostNumber::Cpus), ("$pagesize", HostNumber::PageBytes), ("$mb_memory", HostNumber::MemoryMib)];
}

/// Machine with known environment variables only: no files, devices or CPU count.
pub struct UnseenHost<'e>(pub &'e dyn Fn(&str) -> Option<String>);

impl FioHost for UnseenHost<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    fn included(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_special(&self, _: &str) -> bool {
        false
    }

    fn number(&self, _: HostNumber) -> Option<u64> {
        None
    }
}
