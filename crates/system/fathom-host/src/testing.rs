//! What tests need: trees built by hand and, within this crate, loop devices of this machine.

pub use crate::root::tree::{Tree, eight_cpus};

#[cfg(test)]
mod devices;
#[cfg(test)]
pub(crate) use devices::{LoopDevice, destroying, name_of, skip};
