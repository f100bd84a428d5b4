//! Commands to drives: none is sent on Windows yet, and each says so.

use std::fs::File;
use std::io;
use std::path::Path;

use fathom_message::{Message, msg};

use super::BorrowedFd;
use crate::command::{AdminCommand, IoCommand};
use crate::status::Status;

/// How an admin command ended. Of these Windows knows the last alone, until commands are sent.
#[allow(dead_code, reason = "the answers of a system that sends commands")]
pub(crate) enum Answer {
    /// The drive's: its result, dword 0 of the completion.
    Done(u32),
    /// The drive refused.
    Refused(Status),
    /// The kernel knows no such call here.
    NotNvme,
    /// The kernel did not carry it out.
    Failed(io::Error),
}

/// Opens nothing: a drive is asked through its driver, which Fathom does not do on Windows yet.
pub(crate) fn open(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No open file of Windows is known to be a namespace.
pub(crate) fn namespace_of(_fd: BorrowedFd<'_>) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sends nothing.
pub(crate) fn admin(_file: &File, _command: &AdminCommand, _data: &mut [u8]) -> Answer {
    Answer::Failed(io::ErrorKind::Unsupported.into())
}

/// What to do about it.
pub(crate) fn help(_source: &io::Error) -> Message {
    msg!("nvme-not-on-windows")
}

/// Sends nothing.
///
/// # Errors
/// Always `Unsupported`.
pub fn io_command(_fd: BorrowedFd<'_>, _namespace: u32, _command: IoCommand, _buffer: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
