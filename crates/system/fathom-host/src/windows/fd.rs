//! Open files by the names that code of both systems uses.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt as _;
use std::os::windows::io::{AsHandle, AsRawHandle, RawHandle};

pub use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};

/// What is open, lent.
pub trait AsFd {
    /// The handle, lent.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}

impl AsFd for OwnedFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}

impl AsFd for BorrowedFd<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        *self
    }
}

impl<T: AsFd> AsFd for &T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (*self).as_fd()
    }
}

/// What is open, as calls of the system take it.
pub trait AsRawFd {
    /// The handle.
    fn as_raw_fd(&self) -> RawHandle;
}

impl<T: AsRawHandle> AsRawFd for T {
    fn as_raw_fd(&self) -> RawHandle {
        self.as_raw_handle()
    }
}

/// Reads and writes at a place of a file. Unlike on Linux they move the position of the handle, which nothing here relies on.
pub trait FileExt {
    /// Reads at a place; how many bytes there were.
    ///
    /// # Errors
    /// As ReadFile.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at a place; how many bytes were taken.
    ///
    /// # Errors
    /// As WriteFile.
    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize>;

    /// Fills the whole buffer.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before; as ReadFile.
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => {
                    buffer = &mut buffer[bytes..];
                    offset += bytes as u64;
                }
            }
        }
        Ok(())
    }

    /// Writes the whole buffer.
    ///
    /// # Errors
    /// `WriteZero` where nothing is taken any more; as WriteFile.
    fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.write_at(buffer, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => {
                    buffer = &buffer[bytes..];
                    offset += bytes as u64;
                }
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.seek_read(buffer, offset)
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        self.seek_write(buffer, offset)
    }
}

/// Kinds of files that Windows does not show among those of a folder.
pub trait FileTypeExt {
    /// Never: drives are no files of a folder.
    fn is_block_device(&self) -> bool {
        false
    }

    /// Never.
    fn is_char_device(&self) -> bool {
        false
    }

    /// Never: pipes are no files of a folder.
    fn is_fifo(&self) -> bool {
        false
    }

    /// Never.
    fn is_socket(&self) -> bool {
        false
    }
}

impl FileTypeExt for std::fs::FileType {}
