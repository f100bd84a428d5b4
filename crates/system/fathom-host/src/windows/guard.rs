//! Rules of the guard that only Windows needs: names that are devices, and who uses a file there.

use std::fs::File;
use std::os::windows::fs::MetadataExt as _;
use std::path::{Component, Path, Prefix};

use fathom_message::msg;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_OFFLINE, FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS,
};

use super::FileExt as _;
use super::calls::has_writer;
use crate::guard::{Refusal, RefusalKind, refuse};
use crate::node::Node;
use crate::root::Root;

/// Names that are devices in every folder, with any extension (Naming Files, Paths, and Namespaces).
const RESERVED: [&str; 24] = [
    "AUX", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9", "CON", "CONIN$", "CONOUT$", "LPT1",
    "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9", "NUL", "PRN",
];

/// Refuses paths by their form: drives and volumes, which are not opened on Windows yet, and names that are devices.
///
/// # Errors
/// [`Refusal`].
pub fn refuse_path(path: &Path) -> Result<(), Refusal> {
    let is_drive = match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            // `\\.\PhysicalDrive1`, `\\.\E:`.
            Prefix::DeviceNS(_) => true,
            // `\\?\GLOBALROOT\Device\Harddisk0`, `\\?\Volume{...}` without a folder; under Wine `\\?\unix\dev\sda`.
            Prefix::Verbatim(name) => {
                let name = name.to_string_lossy();
                let has_folder = path.components().any(|part| matches!(part, Component::Normal(_)));
                !(name.starts_with("Volume{") && has_folder)
            }
            // `E:` is the folder that is current on that drive, and its volume for some programs.
            Prefix::Disk(_) | Prefix::VerbatimDisk(_) => path.components().nth(1).is_none(),
            Prefix::UNC(..) | Prefix::VerbatimUNC(..) => false,
        },
        _ => false,
    };
    if is_drive {
        let message = msg!("guard-windows-drive", path = path);
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-windows-drive-help"));
    }
    let stem = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
    let stem = stem.split(['.', ':']).next().unwrap_or_default().trim_end().to_owned();
    if RESERVED.contains(&stem.as_str()) {
        let message = msg!("guard-windows-reserved", path = path, name = stem);
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-name-a-target"));
    }
    Ok(())
}

/// Nothing beyond what every name is judged by.
pub(crate) fn refuse_new_in(path: &Path, _folder: &Path) -> Result<(), Refusal> {
    refuse_path(path)
}

/// No file system of Windows has switches of the kernel for files; what a name leads to elsewhere is judged by [`refuse_path`].
pub(crate) fn refuse_kernel_file(_root: &Root, path: &Path, _real: &Path) -> Result<(), Refusal> {
    refuse_path(path)
}

/// Whoever has the file open for writing: nobody may, page files among them; and files that are not what they seem.
pub(crate) fn refuse_users(_root: &Root, path: &Path, _node: &Node, file: &File) -> Result<(), Refusal> {
    const CHANGED_ON_THE_WAY: u32 = FILE_ATTRIBUTE_COMPRESSED | FILE_ATTRIBUTE_ENCRYPTED;
    const ELSEWHERE: u32 = FILE_ATTRIBUTE_OFFLINE | FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS;
    // Under Wine devices of Linux look like files without any bytes, and have some all the same.
    let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if is_empty && file.read_at(&mut [0], 0).is_ok_and(|bytes| bytes > 0) {
        let message = msg!("guard-kind", path = path, kind = msg!("kind-block-device"));
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-name-a-target"));
    }
    if has_writer(file) != Some(false) {
        let message = msg!("guard-open-for-writing-by-somebody", path = path);
        return refuse(RefusalKind::InUse, message, msg!("guard-choose-another-file"));
    }
    let attributes = file.metadata().map_or(0, |metadata| metadata.file_attributes());
    if attributes & (CHANGED_ON_THE_WAY | ELSEWHERE) != 0 {
        let message = msg!("guard-windows-changed-on-the-way", path = path);
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-windows-changed-on-the-way-help"));
    }
    Ok(())
}
