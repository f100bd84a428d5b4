//! Extended attributes of files that Fathom wrote or made, and who may read outputs.

use std::fs::File;
use std::io;

use rustix::fs::{Mode, XattrFlags};

use crate::output_file::Note;
use crate::root::Root;

/// Like any file a program makes: readable as the user's umask says.
pub(crate) fn open_to_others(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_bits_truncate(0o666 & !umask()))?)
}

/// Sets a note of Fathom on a file.
///
/// # Errors
/// `Unsupported` where the file system keeps no such notes; as fsetxattr(2).
pub(crate) fn set_note(file: &File, note: Note, value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(file, attribute(note), value, XattrFlags::empty())?)
}

/// The value of a note, at most as long as `room`; `None` without one.
pub(crate) fn note(file: &File, note: Note, room: usize) -> Option<Vec<u8>> {
    let mut value = vec![0; room];
    let length = rustix::fs::fgetxattr(file, attribute(note), &mut value).ok()?;
    value.truncate(length);
    Some(value)
}

fn attribute(note: Note) -> &'static str {
    match note {
        Note::Output => "user.fathom.output",
        Note::Target => "user.fathom.target",
    }
}

/// From /proc, because umask(2) can only be read by changing it for all threads.
fn umask() -> u32 {
    let status = Root::live().read("proc/self/status").unwrap_or_default();
    let text = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    text.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o077)
}
