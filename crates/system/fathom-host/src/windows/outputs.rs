//! How a file that Fathom wrote for people is known again: by a stream of its own beside the file's data, as NTFS keeps them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::files;
use crate::writing;

/// Name of the stream.
const STREAM: &str = ":fathom.output";

fn stream_of(file: &File) -> io::Result<PathBuf> {
    let mut path = files::final_path(file)?.into_os_string();
    path.push(STREAM);
    Ok(path.into())
}

/// New files have the rights of their folder already.
pub(crate) fn open_to_others(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Marks it as one that Fathom wrote.
pub(crate) fn mark(file: &File) -> io::Result<()> {
    if !files::has_streams(file)? {
        return Err(io::ErrorKind::Unsupported.into());
    }
    writing::stream(&stream_of(file)?)?.write_all(b"1")
}

/// Whether Fathom wrote it.
pub(crate) fn is_marked(file: &File) -> bool {
    stream_of(file).is_ok_and(|stream| File::open(stream).is_ok())
}
