//! A PCI address as a target: every drive behind it is judged.

use std::fs;
use std::path::{Path, PathBuf};

use fathom_message::msg;

use super::device::check_devices;
use super::{Permit, Refusal, RefusalKind, WriteConsent, node_of, refuse};
use crate::disk::{BlockDevice, device_by_name};
use crate::root::{Root, names_in};

/// `0000:41:00.0` of `0000:41:00.0` or `41:00.0`, in lower case; `None` when it is no address.
pub(crate) fn address_of(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let full = if text.matches(':').count() == 1 { format!("0000:{text}") } else { text };
    let (bus, function) = full.rsplit_once('.')?;
    let hex = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit());
    // Drives behind Intel's VMD have domains of five digits.
    let domain_is_sound = |domain: &str| (4..=8).contains(&domain.len()) && hex(domain, domain.len());
    let parts: Vec<&str> = bus.split(':').collect();
    let sound = matches!(parts[..], [domain, bus, slot] if domain_is_sound(domain) && hex(bus, 2) && hex(slot, 2));
    (sound && matches!(function.as_bytes(), [b'0'..=b'7'])).then_some(full)
}

/// Whether the text is an address in the form of the kernel.
pub(crate) fn is_pci_address(text: &str) -> bool {
    address_of(text).is_some_and(|address| address == text)
}

/// Consent to all drives behind a PCI function; `path` is the address as it was given.
pub(super) fn check_pci(root: &Root, path: &Path, address: &str, permit: &Permit<'_>) -> Result<WriteConsent, Refusal> {
    let home = root.join("sys/bus/pci/devices").join(address);
    let address = address.to_owned();
    if !home.exists() {
        let message = msg!("guard-no-pci-device", address = address);
        return refuse(RefusalKind::Unreachable, message, msg!("guard-no-pci-device-help"));
    }
    let drives = drives_behind(root, &address);
    if drives.is_empty() {
        let driver = fs::read_link(home.join("driver")).ok();
        let driver = driver.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        let message = match driver {
            Some(driver) => msg!("guard-no-drive-behind-pci", address = address, driver = driver),
            None => msg!("guard-no-driver-of-pci", address = address),
        };
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-no-drive-behind-pci-help"));
    }
    let with_nodes: Result<Vec<_>, Refusal> =
        drives.into_iter().map(|d| node_of(root, &d.dev_path).map(|node| (d, node))).collect();
    check_devices(root, path.to_owned(), None, with_nodes?, permit)
}

/// Whole block devices whose place in sysfs leads through the function. The hidden paths of NVMe multipath
/// (`nvme0c1n1`) stand for the namespace they lead to (`nvme0n1`).
pub(crate) fn drives_behind(root: &Root, address: &str) -> Vec<BlockDevice> {
    let mut drives: Vec<BlockDevice> = Vec::new();
    let is_behind = |home: &PathBuf| home.components().any(|c| c.as_os_str() == address);
    // Hidden paths have no block device of their own, only a folder below their controller.
    let hidden = names_in(&root.join("sys/bus/pci/devices").join(address).join("nvme"))
        .into_iter()
        .flat_map(|controller| names_in(&root.join("sys/class/nvme").join(controller)));
    let shown = names_in(&root.join("sys/block"))
        .into_iter()
        .filter(|name| fs::canonicalize(root.join("sys/block").join(name)).is_ok_and(|home| is_behind(&home)));
    for name in shown.chain(hidden.filter_map(|name| head_of(&name))) {
        if let Ok(drive) = device_by_name(root, &name)
            && !drives.iter().any(|d| d.name == drive.name)
        {
            drives.push(drive);
        }
    }
    drives
}

/// `nvme0n1` of the path `nvme0c1n1`.
pub(crate) fn head_of(name: &str) -> Option<String> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (_, namespace) = rest.split_once('n')?;
    Some(format!("nvme{subsystem}n{namespace}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_other_names() {
        for (text, want) in [
            ("0000:41:00.0", Some("0000:41:00.0")),
            ("41:00.7", Some("0000:41:00.7")),
            ("10000:E1:00.0", Some("10000:e1:00.0")),
            ("0000:AF:1f.2", Some("0000:af:1f.2")),
            ("0000:41:00.8", None),
            ("0000:41:00", None),
            ("nvme0n1", None),
            ("./0000:41:00.0", None),
            ("0000:4g:00.0", None),
        ] {
            assert_eq!(address_of(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn hidden_paths_lead_to_their_namespace() {
        assert_eq!(head_of("nvme0c1n1").as_deref(), Some("nvme0n1"));
        assert_eq!(head_of("nvme12c3n4").as_deref(), Some("nvme12n4"));
        assert_eq!(head_of("nvme0n1"), None);
        assert_eq!(head_of("power"), None);
    }
}
