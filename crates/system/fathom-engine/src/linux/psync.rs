//! pread and pwrite, one at a time.

use std::os::fd::{AsRawFd, OwnedFd};

use fathom_plan::{Op, SyncKind};
use fathom_record::FeatureUse;

use super::call::{Call, Synchronous};
use super::{Io, errno};
use crate::system::raw_call;

/// pread or pwrite on descriptors.
pub(crate) struct Psync {
    /// `[part]`
    fds: Vec<OwnedFd>,
}

impl Psync {
    /// The engine that works on `fds`.
    pub(crate) fn engine(fds: Vec<OwnedFd>) -> Synchronous<Psync> {
        Synchronous::new(Psync { fds })
    }
}

/// fsync or fdatasync; 0, or a negative errno.
#[cold]
pub(super) fn sync(file: &impl AsRawFd, kind: SyncKind) -> i32 {
    let fd = file.as_raw_fd();
    // SAFETY: both take a descriptor alone.
    let done = unsafe {
        match kind {
            SyncKind::Fsync => libc::fsync(fd),
            SyncKind::Fdatasync => libc::fdatasync(fd),
        }
    };
    if done == 0 { 0 } else { -errno() }
}

impl Call for Psync {
    #[inline(always)]
    fn call(&mut self, io: &Io) -> i32 {
        let fd = self.fds[usize::from(io.part)].as_raw_fd();
        let call = if io.op == Op::Read { libc::SYS_pread64 } else { libc::SYS_pwrite64 };
        // SAFETY: the worker hands over a buffer of at least `len` bytes that nobody else uses until the slot is reaped.
        let moved = unsafe {
            raw_call::call(call, [fd as usize, io.buffer as usize, io.len as usize, io.offset as usize, 0, 0])
        };
        moved as i32
    }

    fn sync(&mut self, part: u16, kind: SyncKind) -> i32 {
        sync(&self.fds[usize::from(part)], kind)
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}
