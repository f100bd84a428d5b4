//! A drive past the system's driver: Windows has no VFIO, so no function is ever had there.

use std::io;
use std::os::windows::io::OwnedHandle;
use std::path::PathBuf;
use std::ptr::NonNull;

use fathom_message::{Message, msg};

use crate::driver::{DriverError, PciFunction};

/// How a device reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By addresses that an IOMMU looks up: nothing but what was mapped.
    ByIommu,
    /// By physical addresses: all memory of the machine.
    Physical,
}

/// The files of VFIO, as Linux has them.
#[derive(Debug)]
pub struct VfioFiles {
    /// `/dev/vfio/vfio`.
    pub container: OwnedHandle,
    /// That of the group.
    pub group: OwnedHandle,
    /// Where that is.
    pub group_path: PathBuf,
}

impl VfioFiles {
    /// Where the container would be.
    pub const CONTAINER: &str = "/dev/vfio/vfio";
}

/// A function in the hands of this process: none.
#[derive(Debug)]
pub enum VfioFunction {}

impl VfioFunction {
    /// Opens none.
    ///
    /// # Errors
    /// Always [`DriverError::NoIommu`].
    pub fn open(
        _address: &str,
        _numa_node: Option<u32>,
        _reach: Reach,
        _files: VfioFiles,
    ) -> Result<VfioFunction, DriverError> {
        Err(DriverError::NoIommu)
    }
}

// SAFETY: there is no value of the type.
unsafe impl PciFunction for VfioFunction {
    fn registers(&self) -> (NonNull<u8>, usize) {
        match *self {}
    }

    unsafe fn map(&self, _at: NonNull<u8>, _bytes: usize) -> io::Result<u64> {
        match *self {}
    }

    fn unmap(&self, _address: u64, _bytes: usize) {
        match *self {}
    }

    fn is_wanted_back(&self) -> bool {
        match *self {}
    }

    fn cut_off(&self) -> io::Result<()> {
        match *self {}
    }
}

/// What to do where the system refused a call.
pub(crate) fn help(_source: &io::Error) -> Message {
    msg!("nvme-not-on-windows")
}
