//! Whether buffered I/O on a target can leave nothing in the page cache (RWF_DONTCACHE).

use fathom_message::msg;
use fathom_record::StepFailure;

use crate::backend::{os_words, refused};
use crate::system::code;
use crate::system::targets::read_uncached;
use crate::target::{Target, target_message};

/// Sees that `target` takes such I/O, by a read of its first byte.
///
/// # Errors
/// A refusal that names the target, with what the kernel says.
pub(crate) fn check(target: &Target) -> Result<(), StepFailure> {
    let fd = target.open()?;
    read_uncached(&fd).map_err(|error| {
        let why = match error.raw_os_error() {
            Some(code::EOPNOTSUPP) => msg!("engine-no-uncached"),
            _ => os_words(&error),
        };
        refused(target_message(&target.id), why, msg!("engine-no-uncached-help"))
    })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_pipe_has_no_page_cache_to_leave() -> io::Result<()> {
        let (reader, _writer) = io::pipe()?;
        assert!(read_uncached(&reader).is_err());
        Ok(())
    }
}
