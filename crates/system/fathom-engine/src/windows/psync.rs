//! ReadFile and WriteFile at a place, one at a time.

use std::os::windows::io::AsRawHandle;

use fathom_plan::SyncKind;
use fathom_record::FeatureUse;
use windows_sys::Win32::Storage::FileSystem::FlushFileBuffers;

use super::call::{Call, Synchronous};
use super::{Io, errno};
use crate::system::OwnedFd;
use crate::system::targets::transfer_io;

/// ReadFile or WriteFile on handles.
pub(crate) struct Psync {
    /// `[part]`
    files: Vec<OwnedFd>,
}

impl Psync {
    /// The engine that works on `files`.
    pub(crate) fn engine(files: Vec<OwnedFd>) -> Synchronous<Psync> {
        Synchronous::new(Psync { files })
    }
}

/// FlushFileBuffers, whichever kind was asked for: Windows has one. 0, or a negative code.
#[cold]
pub(crate) fn sync(file: &impl AsRawHandle, _kind: SyncKind) -> i32 {
    // SAFETY: takes a handle that is open.
    let done = unsafe { FlushFileBuffers(file.as_raw_handle()) };
    if done == 0 { -errno() } else { 0 }
}

impl Call for Psync {
    #[inline(always)]
    fn call(&mut self, io: &Io) -> i32 {
        let file = self.files[usize::from(io.part)].as_raw_handle();
        // SAFETY: the worker hands over a buffer of at least `len` bytes that nobody else uses until the slot is reaped.
        unsafe { transfer_io(file, io) }
    }

    fn sync(&mut self, part: u16, kind: SyncKind) -> i32 {
        sync(&self.files[usize::from(part)], kind)
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}
