//! Machines and devices that ship with the program.

use std::sync::LazyLock;

use fathom_message::msg;
use fathom_plan::SourceError;
use fathom_units::advice;

use super::{parse_devices, read_machine};
use crate::machine::{Device, Machine};

pub(super) const DEVICES: &str = include_str!("../../machines/devices.toml");

/// Name and file of each shipped machine.
const MACHINES: &[(&str, &str)] = &[
    ("r830-ws2016", include_str!("../../machines/r830-ws2016.toml")),
    ("r830-ws2012r2", include_str!("../../machines/r830-ws2012r2.toml")),
    ("r830-linux", include_str!("../../machines/r830-linux.toml")),
    ("r740xd", include_str!("../../machines/r740xd.toml")),
    ("intel-8380", include_str!("../../machines/intel-8380.toml")),
    ("epyc-8004", include_str!("../../machines/epyc-8004.toml")),
    ("r650-h755n", include_str!("../../machines/r650-h755n.toml")),
    ("r640-h730p", include_str!("../../machines/r640-h730p.toml")),
    ("speed", include_str!("../../machines/speed.toml")),
];

static SHIPPED_DEVICES: LazyLock<Vec<Device>> =
    LazyLock::new(|| parse_devices(DEVICES, "devices.toml").expect("a test reads the shipped devices"));

/// The shipped devices.
#[must_use]
pub fn builtin_devices() -> &'static [Device] {
    &SHIPPED_DEVICES
}

/// Name and text of each shipped machine.
#[must_use]
pub fn builtin_machines() -> &'static [(&'static str, &'static str)] {
    MACHINES
}

/// The shipped machine of that name.
///
/// # Errors
/// When there is none, with the nearest name.
pub fn builtin_machine(name: &str) -> Result<Machine, SourceError> {
    let Some((_, text)) = MACHINES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = MACHINES.iter().map(|(known, _)| *known).collect();
        let message = msg!("sim-no-such-machine", name = name.to_owned());
        return Err(SourceError::without_place("", message, Some(advice(name, &names))));
    };
    read_machine(text, &format!("{name}.toml"), builtin_devices())
}
