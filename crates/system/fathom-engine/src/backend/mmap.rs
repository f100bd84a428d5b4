//! A mapped file, copied by the CPU; a write is done when msync returns.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Once;

use fathom_message::msg;
use fathom_plan::{EngineName, Op, SyncKind};
use fathom_record::{FeatureName, FeatureUse, StepFailure};

use super::call::{Call, Synchronous};
use super::psync::sync;
use super::{Io, errno, refused};
use crate::pages::{page_bytes, pages_around};
use crate::target::engine_on_target;
use crate::worker::Part;

thread_local! {
    /// Mapping that this thread copies from or to: begin and end address, and the first address that faulted in the current I/O (0: none).
    static GUARDED: [Cell<usize>; 3] = const { [Cell::new(0), Cell::new(0), Cell::new(0)] };
}

/// A page beyond the end of a file that shrank raises SIGBUS. Puts an empty page there, so that the copy goes on, and
/// leaves a note for the engine. Async-signal-safe: one system call and thread-local cells without destructors.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a SA_SIGINFO handler.
    let at = unsafe { (*info).si_addr() } as usize;
    let ours = GUARDED.with(|[begin, end, fault]| {
        let ours = (begin.get()..end.get()).contains(&at);
        if ours && fault.get() == 0 {
            fault.set(at);
        }
        ours
    });
    let page_bytes = page_bytes();
    let page = at & !(page_bytes - 1);
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    // SAFETY: the page lies in this thread's mapping, which the engine maps again before the next I/O.
    if ours && unsafe { libc::mmap(page as *mut _, page_bytes, protection, flags, -1, 0) } != libc::MAP_FAILED {
        return;
    }
    // SAFETY: restores the default, so that a fault that is not ours ends the process as it would without us.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

fn guard_against_bus_errors() {
    static ONCE: Once = Once::new();
    // Asked for here, so that the handler finds it known.
    page_bytes();
    ONCE.call_once(|| {
        // SAFETY: the action is fully initialised and the handler is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// The worker's parts of its targets, mapped.
pub(crate) struct Mmap {
    /// `[part]`
    mappings: Vec<Mapping>,
}

/// The worker's part of one target, mapped.
struct Mapping {
    base: *mut u8,
    len: usize,
    /// Byte of the target that `base` shows.
    first_offset: u64,
    fd: OwnedFd,
}

impl Mmap {
    /// The engine that works on the blocks of `parts`, mapped.
    ///
    /// # Errors
    /// When a target cannot be opened or the kernel refuses the mapping.
    pub(crate) fn engine(parts: &[Part]) -> Result<Synchronous<Mmap>, StepFailure> {
        guard_against_bus_errors();
        let mappings = parts.iter().map(Mapping::of).collect::<Result<_, _>>()?;
        Ok(Synchronous::new(Mmap { mappings }))
    }
}

impl Mapping {
    fn of(part: &Part) -> Result<Mapping, StepFailure> {
        let (span, fd) = (part.span, part.target.open()?);
        let end = span.first_offset_bytes + span.count * span.unit_bytes;
        let (first_offset, end) = pages_around(span.first_offset_bytes, end, page_bytes());
        let mut mapped = Mapping { base: std::ptr::null_mut(), len: (end - first_offset) as usize, first_offset, fd };
        let at = mapped.map(std::ptr::null_mut(), 0, mapped.len);
        if at == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            let why = msg!("engine-mmap-failed", bytes = mapped.len, error = error);
            return Err(refused(
                engine_on_target(EngineName::Mmap, &part.target.id),
                why,
                msg!("engine-mmap-failed-help"),
            ));
        }
        mapped.base = at.cast();
        Ok(mapped)
    }

    fn map(&self, at: *mut libc::c_void, from: u64, len: usize) -> *mut libc::c_void {
        let fixed = if at.is_null() { 0 } else { libc::MAP_FIXED };
        let offset = (self.first_offset + from) as i64;
        // SAFETY: the address is the kernel's choice, or lies in our own mapping. A read-only descriptor is mapped
        // for reading only.
        unsafe {
            let access = libc::fcntl(self.fd.as_raw_fd(), libc::F_GETFL) & libc::O_ACCMODE;
            let write = if access == libc::O_RDWR { libc::PROT_WRITE } else { 0 };
            libc::mmap(at, len, libc::PROT_READ | write, libc::MAP_SHARED | fixed, self.fd.as_raw_fd(), offset)
        }
    }

    fn copy(&mut self, io: &Io) -> i32 {
        let from = io.offset - self.first_offset;
        assert!(from + u64::from(io.len) <= self.len as u64, "an I/O outside the mapping");
        GUARDED.with(|[begin, end, fault]| {
            begin.set(self.base as usize);
            end.set(self.base as usize + self.len);
            fault.set(0);
        });
        // SAFETY: the range lies within the mapping (asserted), the buffer has `len` bytes, and they do not overlap.
        let synced = unsafe {
            let at = self.base.add(from as usize);
            if io.op == Op::Read {
                std::ptr::copy_nonoverlapping(at, io.buffer, io.len as usize);
                0
            } else {
                std::ptr::copy_nonoverlapping(io.buffer, at, io.len as usize);
                let (begin, _) = pages_around(from, from, page_bytes());
                let end = from + u64::from(io.len);
                libc::msync(self.base.add(begin as usize).cast(), (end - begin) as usize, libc::MS_SYNC)
            }
        };
        let sync_errno = if synced == 0 { 0 } else { errno() };
        // The fault happens inside the copy, in a handler the compiler knows nothing of.
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        let fault = GUARDED.with(|[_, _, fault]| fault.get());
        if fault != 0 {
            return self.recover(io, from);
        }
        if sync_errno == 0 { io.len as i32 } else { -sync_errno }
    }

    /// Puts the file back where the handler put empty pages, and says what the I/O came to.
    #[cold]
    fn recover(&mut self, io: &Io, from: u64) -> i32 {
        let (begin, end) = pages_around(from, from + u64::from(io.len), page_bytes());
        let len = end - begin;
        // SAFETY: the range is part of our mapping.
        let at = unsafe { self.base.add(begin as usize) };
        if self.map(at.cast(), begin, len as usize) == libc::MAP_FAILED {
            return -errno();
        }
        // SAFETY: an all-zero stat is valid, and it outlives the call.
        let size = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(self.fd.as_raw_fd(), &raw mut stat) == 0 { stat.st_size as u64 } else { u64::MAX }
        };
        // Beyond the end of the file: what pread and pwrite would have moved. Elsewhere: the medium failed.
        if size < io.offset + u64::from(io.len) && io.op == Op::Read {
            return size.saturating_sub(io.offset) as i32;
        }
        -libc::EIO
    }
}

impl Call for Mmap {
    #[inline(always)]
    fn call(&mut self, io: &Io) -> i32 {
        self.mappings[usize::from(io.part)].copy(io)
    }

    fn sync(&mut self, part: u16, kind: SyncKind) -> i32 {
        sync(&self.mappings[usize::from(part)].fd, kind)
    }

    fn features(&self) -> Vec<FeatureUse> {
        vec![FeatureUse::used(FeatureName::Msync, msg!("engine-msync"))]
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        GUARDED.with(|[begin, end, _]| {
            begin.set(0);
            end.set(0);
        });
        if !self.base.is_null() {
            // SAFETY: base and length are those of the mapping, which nobody else unmaps.
            unsafe { libc::munmap(self.base.cast(), self.len) };
        }
    }
}
