//! How a file that Fathom wrote for people is known again, and who may read it.

use std::fs::File;
use std::io;

use rustix::fs::{Mode, XattrFlags};

use crate::root::Root;

/// The extended attribute of files that Fathom wrote: these it may replace.
const ATTRIBUTE: &str = "user.fathom.output";

/// Like any file a program makes: readable as the user's umask says.
pub(crate) fn open_to_others(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_bits_truncate(0o666 & !umask()))?)
}

/// Marks it as one that Fathom wrote.
pub(crate) fn mark(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(file, ATTRIBUTE, b"1", XattrFlags::empty())?)
}

/// Whether Fathom wrote it.
pub(crate) fn is_marked(file: &File) -> bool {
    rustix::fs::fgetxattr(file, ATTRIBUTE, &mut [0_u8; 8]).is_ok()
}

/// From /proc, because umask(2) can only be read by changing it for all threads.
fn umask() -> u32 {
    let status = Root::live().read("proc/self/status").unwrap_or_default();
    let text = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    text.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o077)
}
