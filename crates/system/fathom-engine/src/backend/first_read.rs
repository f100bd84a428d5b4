//! The first reads of a ring: how the kernel gets a thread's I/O to the device, learnt before anything is measured.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use fathom_plan::EngineSpec;

use super::ring::setup_refused;
use super::uring::Uring;
use super::{Backend, Unready};
use crate::offsets::Span;
use crate::rig::Rig;

/// Places that are tried before it is said that none can be submitted to without blocking.
const PLACES: u64 = 5;

/// How the I/O of a thread gets to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Submission {
    /// By the thread's own call.
    Inline,
    /// By a worker thread of the kernel, because the call would block at each of so many places.
    ByWorker { probes: u64 },
}

/// Reads `len` bytes at an offset of a part, alone: bytes moved, or a negative errno. Comes back when the step is stopped, however
/// long the device takes to answer.
pub(super) fn read_once<B: Backend>(
    rig: &mut Rig<B>,
    at: (u16, u64),
    len: u32,
    spec: EngineSpec,
    stopped: &dyn Fn() -> bool,
) -> Result<i32, Unready> {
    let answer = rig.read_alone(at, len, stopped).map_err(|error| setup_refused(&error, spec, 1))?;
    answer.ok_or(Unready::Stopped)
}

/// How direct I/O on `span` of a part gets to the device. The first block was read before.
///
/// The kernel first tries to submit without blocking. That fails on a device that cannot (a worker thread then does each
/// I/O), but also at a place with dirty pages or whose extents are not in memory: a read before cures those. So one place
/// where it works shows that the device can, while a failure shows nothing yet.
pub(super) fn submission(
    rig: &mut Rig<Uring>,
    part: u16,
    span: Span,
    spec: EngineSpec,
    stopped: &dyn Fn() -> bool,
) -> Result<Submission, Unready> {
    let len = rig.area.slot_bytes();
    for place in 0..PLACES {
        let offset = span.first_offset_bytes + span.count * place / PLACES * span.unit_bytes;
        if place > 0 {
            read_once(rig, (part, offset), len as u32, spec, stopped)?;
        }
        let Rig { backend, area } = &mut *rig;
        match read_without_blocking(backend.target(part), area.bytes_mut(0, len), offset) {
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => {}
            // The file or device knows no such reads at all.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL)) => {
                return Ok(Submission::ByWorker { probes: place + 1 });
            }
            // Read, or failed for a reason of its own, which the I/O of the step will meet and count.
            _ => return Ok(Submission::Inline),
        }
    }
    Ok(Submission::ByWorker { probes: PLACES })
}

/// Bytes read; EAGAIN when the call would have to wait for anything but the device itself.
fn read_without_blocking(fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: one piece that is writable for its length until the call returns.
    let moved = unsafe { libc::preadv2(fd.as_raw_fd(), &raw const piece, 1, offset as i64, libc::RWF_NOWAIT) };
    usize::try_from(moved).map_err(|_| io::Error::last_os_error())
}
