//! What Linux has for NVMe: ioctls to its driver, and VFIO.

pub(crate) mod passthrough;
pub(crate) mod vfio;

pub(crate) use std::os::fd::{AsFd, BorrowedFd};
