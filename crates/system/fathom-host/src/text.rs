//! A text that the kernel makes anew for each reading.

use std::fs::File;
use std::path::PathBuf;

use fathom_message::msg;

use crate::root::ProbeError;
use crate::system::FileExt as _;

/// A kernel file kept open.
pub(crate) struct OpenText {
    pub(crate) path: PathBuf,
    file: File,
}

impl OpenText {
    pub(crate) fn open(path: PathBuf) -> Result<Self, ProbeError> {
        let file = File::open(&path).map_err(ProbeError::read(&path))?;
        Ok(OpenText { path, file })
    }

    /// The whole text from the start; the kernel makes it again for a read at offset 0.
    pub(crate) fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> Result<&'b str, ProbeError> {
        const CHUNK_BYTES: usize = 16 * 1024;
        let mut length = 0;
        loop {
            if buffer.len() < length + CHUNK_BYTES {
                buffer.resize(length + CHUNK_BYTES, 0);
            }
            match self.file.read_at(&mut buffer[length..], length as u64).map_err(ProbeError::read(&self.path))? {
                0 => break,
                n => length += n,
            }
        }
        std::str::from_utf8(&buffer[..length]).map_err(|_| ProbeError::parse(&self.path, msg!("probe-not-text")))
    }
}
