//! What Windows has for NVMe. Its driver takes commands by `IOCTL_STORAGE_PROTOCOL_COMMAND` and `IOCTL_STORAGE_QUERY_PROPERTY`,
//! which Fathom does not send yet; a drive past the driver needs VFIO, which Windows has not. Both are refused by name.

pub(crate) mod passthrough;
pub(crate) mod vfio;

pub(crate) use std::os::windows::io::{AsHandle, BorrowedHandle as BorrowedFd};

/// The name by which both systems' code borrows what is open.
pub(crate) trait AsFd {
    /// What is open, borrowed.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl<T: AsHandle> AsFd for T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}
