//! Machine files as a run keeps them.

use fathom_plan::SourceError;

use super::builtin::DEVICES;
use super::table::{Source, Table};
use super::{parse, parse_devices};
use crate::machine::Machine;

/// Beginning of a device in a file of devices.
const DEVICE_HEAD: &str = "[[device]]";

/// The file of `machine` with the shipped devices that it uses: this text means the same to every version of the
/// program, whatever ships with it.
///
/// # Errors
/// When `text` is no TOML.
pub fn self_contained(text: &str, machine: &Machine) -> Result<String, SourceError> {
    let own = own_devices(text)?;
    let mut out = text.trim_end().to_owned();
    out.push('\n');
    for block in DEVICES.split(DEVICE_HEAD).skip(1) {
        let block = format!("{DEVICE_HEAD}{block}");
        let Ok([device]) = <[_; 1]>::try_from(parse_devices(&block, "devices.toml")?) else { continue };
        let used = machine.drives.iter().any(|d| d.device.name == device.name);
        if used && !own.contains(&device.name) {
            out.push('\n');
            out.push_str(block.trim_end());
            out.push('\n');
        }
    }
    Ok(out)
}

/// Names of the devices that a machine file holds itself.
fn own_devices(text: &str) -> Result<Vec<String>, SourceError> {
    let document = parse(text, "")?;
    let root = Table::new(Source { file: "", text }, document.get_ref(), 0..0);
    root.tables("device")?.iter().map(|device| Ok(device.need("name")?.text()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{builtin_machine, builtin_machines, read_machine};

    #[test]
    fn a_kept_machine_is_the_same_without_the_shipped_devices() {
        for (name, text) in builtin_machines() {
            let machine = builtin_machine(name).unwrap();
            let kept = self_contained(text, &machine).unwrap();
            assert_eq!(read_machine(&kept, &format!("{name}.toml"), &[]).unwrap(), machine);
            assert_eq!(self_contained(&kept, &machine).unwrap(), kept);
        }
    }
}
