//! Whether buffered I/O on a target can leave nothing in the page cache (RWF_DONTCACHE).

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use fathom_message::msg;
use fathom_record::StepFailure;

use crate::backend::{os_words, refused};
use crate::priority::RWF_DONTCACHE;
use crate::target::{Target, target_message};

/// Sees that `target` takes such I/O, by a read of its first byte.
///
/// # Errors
/// A refusal that names the target, with what the kernel says.
pub(crate) fn check(target: &Target) -> Result<(), StepFailure> {
    let fd = target.open()?;
    read_uncached(&fd).map_err(|error| {
        let why = match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => msg!("engine-no-uncached"),
            _ => os_words(&error),
        };
        refused(target_message(&target.id), why, msg!("engine-no-uncached-help"))
    })
}

fn read_uncached(fd: &impl AsFd) -> io::Result<()> {
    let mut byte = 0_u8;
    let part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: the kernel writes at most the one byte that the vector names, which lives past the call.
    let read = unsafe { libc::preadv2(fd.as_fd().as_raw_fd(), &raw const part, 1, 0, RWF_DONTCACHE as i32) };
    if read < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_has_no_page_cache_to_leave() -> io::Result<()> {
        let (reader, _writer) = io::pipe()?;
        assert!(read_uncached(&reader).is_err());
        Ok(())
    }
}
