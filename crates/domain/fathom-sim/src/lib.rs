//! Machines and drives in virtual time: [`SimRunner`] runs a step on a [`Machine`] and yields the same record as a real
//! one, in microseconds of wall time per millisecond.
//!
//! Pure: no clock, file or thread. Time is whole picoseconds, order is (time, sequence), random numbers come from named
//! streams of the step's seed: the same machine, step and seed give the same record, bit by bit, on every platform.
//!
//! A [`Device`] (the parameters of a kind of drive: dies, tR, controller time, rates) is read from a `[[device]]` table.
//! The shipped ones are in `machines/devices.toml` of this crate; a machine file may hold its own, and a fitted device
//! is such a table. The catalogue of ratings and sources is not needed here: a device names its entry there.

mod agenda;
mod amplification;
mod array;
#[cfg(test)]
mod array_tests;
mod assemble;
mod build;
mod cpu;
mod drive;
mod exponential;
#[cfg(test)]
mod extent_tests;
mod fault;
#[cfg(test)]
mod fault_tests;
mod file;
mod ftl;
mod laws;
mod load;
mod machine;
mod meter;
mod named;
mod nand;
mod pipe;
mod placement;
mod runner;
mod snapshot;
#[cfg(test)]
mod spread_tests;
mod target;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod validation;
mod window;
mod world;

pub use amplification::write_amplification;
pub use fathom_raid::{Level, MemberSet};
pub use file::{builtin_devices, builtin_machine, builtin_machines, parse_devices, parse_machine, self_contained};
pub use laws::{LAW_ERROR_MAX, LawErrors, Utilisation};
pub use machine::{
    Array, ArrayController, Card, Device, Drive, EngineCosts, Fault, FaultKind, Ftl, Host, InterruptPolicy, Link,
    Machine, Md, Media, MemberRebuild, Memory, Nand, Service, SharedLink, UserSpace, Xpoint,
};
pub use runner::{SimRunner, Truth};
pub use target::{TargetName, target_name};
pub use window::Extent;
