//! Whole files: made, looked at and removed, one at a time.

use crate::system::code;
use fathom_host::system::FileExt as _;
use std::fs::File;
use std::io;

use fathom_host::ThreadFolder;
use fathom_plan::{FileLoad, Op, StatBy, SyncKind};
use fathom_record::FeatureUse;

use super::Io;
use super::call::{Call, Synchronous};
use super::psync;

/// System calls on the names of files.
pub(crate) struct Files {
    /// `[part]`
    folders: Vec<Folder>,
}

/// The files of a thread in the folder of one target.
pub(crate) struct Folder {
    folder: ThreadFolder,
    load: FileLoad,
    /// Whether files are made durable: the last one then stays open until that is done.
    syncs: bool,
    last: Option<File>,
}

impl Folder {
    /// Works on the files of `folder`.
    pub(crate) fn new(folder: ThreadFolder, load: FileLoad, syncs: bool) -> Folder {
        Folder { folder, load, syncs, last: None }
    }

    fn create(&mut self, number: u64, data: &[u8]) -> io::Result<()> {
        let file = self.folder.create(number)?;
        if !data.is_empty() {
            file.write_all_at(data, 0)?;
        }
        self.last = Some(file).filter(|_| self.syncs);
        Ok(())
    }

    /// The file that an I/O at this offset is.
    fn number(&self, offset: u64) -> u64 {
        offset / u64::from(self.load.moved_bytes().max(1))
    }

    /// Removes the file of an I/O; `len`, or a negative errno.
    pub(crate) fn remove(&self, offset: u64, len: u32) -> i32 {
        answer(&self.folder.remove(self.number(offset)), len)
    }
}

/// `len`, or a negative errno.
fn answer<T>(done: &io::Result<T>, len: u32) -> i32 {
    match done {
        Ok(_) => len as i32,
        Err(error) => -error.raw_os_error().unwrap_or(code::EIO),
    }
}

impl Files {
    /// The engine that works in `folders`.
    pub(crate) fn engine(folders: Vec<Folder>) -> Synchronous<Files> {
        Synchronous::new(Files { folders })
    }
}

impl Call for Files {
    #[inline(always)]
    fn call(&mut self, io: &Io) -> i32 {
        let folder = &mut self.folders[usize::from(io.part)];
        let number = folder.number(io.offset);
        match io.op {
            Op::Write => {
                let bytes = folder.load.bytes_per_file as usize;
                // SAFETY: the worker hands over a buffer of at least `len` bytes that nobody else uses until the slot is reaped,
                // and a file that is made is as long as that, or empty.
                let data = unsafe { std::slice::from_raw_parts(io.buffer.cast_const(), bytes) };
                answer(&folder.create(number, data), io.len)
            }
            Op::Read => match folder.load.stat_by {
                StatBy::Path => answer(&folder.folder.stat_by_path(number), io.len),
                StatBy::Folder => answer(&folder.folder.stat(number), io.len),
            },
            Op::Trim | Op::Sync => folder.remove(io.offset, io.len),
        }
    }

    fn sync(&mut self, part: u16, kind: SyncKind) -> i32 {
        match self.folders[usize::from(part)].last.take() {
            Some(file) => psync::sync(&file, kind),
            None => 0,
        }
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}
