//! Notes on files that Fathom wrote or made: streams of their own beside the data, as NTFS keeps them.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

use super::files;
use crate::output_file::Note;
use crate::writing;

fn stream_of(file: &File, note: Note) -> io::Result<PathBuf> {
    let mut path = files::final_path(file)?.into_os_string();
    path.push(match note {
        Note::Output => ":fathom.output",
        Note::Target => ":fathom.target",
    });
    Ok(path.into())
}

/// New files have the rights of their folder already.
pub(crate) fn open_to_others(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Sets a note of Fathom on a file.
///
/// # Errors
/// `Unsupported` where the file system keeps no such notes; as opening and writing a file.
pub(crate) fn set_note(file: &File, note: Note, value: &[u8]) -> io::Result<()> {
    if !files::has_streams(file)? {
        return Err(io::ErrorKind::Unsupported.into());
    }
    writing::stream(&stream_of(file, note)?)?.write_all(value)
}

/// The value of a note, at most as long as `room`; `None` without one.
pub(crate) fn note(file: &File, note: Note, room: usize) -> Option<Vec<u8>> {
    let stream = File::open(stream_of(file, note).ok()?).ok()?;
    let mut value = Vec::new();
    stream.take(room as u64).read_to_end(&mut value).ok()?;
    Some(value)
}
