//! Whether the drive behind a PCI function is idle, so that the kernel may let go of it. Nothing is written to it for that:
//! what is on it needs no word, but what uses it refuses.

use std::fs::File;

use super::claim::claim_alone;
use super::device::{parts_of, refuse_in_use, refuse_writers};
use super::uses::Uses;
use super::{Refusal, node_of};
use crate::disk::BlockDevice;
use crate::root::Root;

/// Judges the block devices of a drive, and claims them while the files live.
///
/// # Errors
/// [`Refusal`] with the first reason found.
pub(crate) fn claim_idle(root: &Root, drives: &[BlockDevice]) -> Result<Vec<File>, Refusal> {
    let uses = Uses::read(root)?;
    drives.iter().map(|drive| claim_one(root, &uses, drive)).collect()
}

fn claim_one(root: &Root, uses: &Uses, device: &BlockDevice) -> Result<File, Refusal> {
    let parts = parts_of(root, device);
    refuse_in_use(root, uses, device, &parts)?;
    let node = node_of(root, &device.dev_path)?;
    refuse_writers(root, device, &parts, &node)?;
    claim_alone(device, &node)
}
