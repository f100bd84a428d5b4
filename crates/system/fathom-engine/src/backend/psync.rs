//! pread and pwrite, one at a time.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use fathom_plan::Op;
use fathom_record::FeatureUse;

use super::{Backend, Io, SubmitStamp};
use crate::raw_call;

/// Does the I/O inside `push`.
pub(crate) struct Psync {
    fd: OwnedFd,
    done: Option<(u32, i32)>,
    calls: u64,
}

impl Psync {
    /// Works on `fd`.
    pub(crate) fn new(fd: OwnedFd) -> Self {
        Psync { fd, done: None, calls: 0 }
    }
}

impl Backend for Psync {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Never;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        let fd = self.fd.as_raw_fd();
        let call = if io.op == Op::Read { libc::SYS_pread64 } else { libc::SYS_pwrite64 };
        // SAFETY: the worker hands over a buffer of at least `len` bytes that nobody else uses until the slot is reaped.
        let moved = unsafe {
            raw_call::call(call, [fd as usize, io.buffer as usize, io.len as usize, io.offset as usize, 0, 0])
        };
        self.calls += 1;
        debug_assert!(self.done.is_none(), "a synchronous engine has one I/O in flight");
        self.done = Some((io.slot, moved as i32));
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, _min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        if let Some((slot, result)) = self.done.take() {
            done(slot, result);
        }
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}
