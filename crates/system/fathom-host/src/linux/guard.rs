//! Rules of the guard that only Linux needs: its files that are switches, and who uses a file there.

use std::fs::File;
use std::path::Path;

use fathom_message::msg;

use super::calls as sys;
use crate::guard::exports::exports;
use crate::guard::uses::{Loop, Uses};
use crate::guard::writers::lasting_writer;
use crate::guard::{Refusal, RefusalKind, refuse};
use crate::mount::mount_of;
use crate::node::{Identity, Node};
use crate::root::Root;

/// File systems whose files are switches of the kernel and look like regular, empty ones.
const KERNEL: [&str; 15] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "configfs",
    "securityfs",
    "selinuxfs",
    "efivarfs",
    "bpf",
    "pstore",
    "devtmpfs",
    "binfmt_misc",
    "nsfs",
];

/// A path says nothing on Linux: what it leads to is looked at.
///
/// # Errors
/// None.
pub fn refuse_path(_path: &Path) -> Result<(), Refusal> {
    Ok(())
}

/// A mistyped device would otherwise become a file that fills the memory behind /dev.
pub(crate) fn refuse_new_in(path: &Path, folder: &Path) -> Result<(), Refusal> {
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        let message = msg!("guard-no-such-device", path = path);
        return refuse(RefusalKind::Missing, message, msg!("guard-no-such-device-help"));
    }
    Ok(())
}

/// Files that are switches of the kernel look like regular, empty ones.
pub(crate) fn refuse_kernel_file(root: &Root, path: &Path, real: &Path) -> Result<(), Refusal> {
    let mount = mount_of(root, real).ok().flatten();
    match mount.filter(|m| KERNEL.contains(&&*m.fs_type)) {
        None => Ok(()),
        Some(mount) => refuse(
            RefusalKind::NotWritableKind,
            msg!("guard-kernel-file", path = path, fs = mount.fs_type),
            msg!("guard-name-a-target"),
        ),
    }
}

/// Whoever uses the file: the kernel, or a process that has it open for writing.
pub(crate) fn refuse_users(root: &Root, path: &Path, node: &Node, file: &File) -> Result<(), Refusal> {
    refuse_kernel_users(root, path, node, &Uses::read(root)?)?;
    refuse_writers(root, path, node, file)
}

/// Swap space, loop devices and what this machine offers to others.
fn refuse_kernel_users(root: &Root, path: &Path, node: &Node, uses: &Uses) -> Result<(), Refusal> {
    let is_it = |name: &str| {
        let there = Node::at(root, &root.join(name.trim_start_matches('/')));
        there.is_ok_and(|there| there.identity() == node.identity())
    };
    if uses.swaps.iter().any(|s| is_it(&s.path)) {
        return refuse(RefusalKind::Swap, msg!("guard-swap-file", path = path), msg!("guard-choose-another-file"));
    }
    // By inode: any number of names may lead to it.
    let shows =
        |l: &Loop| l.shows.is_some_and(|(device, inode, _)| *node.identity() == Identity::File { device, inode });
    if let Some(user) = uses.loops.iter().find(|l| shows(l) || is_it(&l.backing)) {
        let device = format!("/dev/{}", user.name);
        return refuse(
            RefusalKind::Held,
            msg!("guard-file-behind-loop", path = path, device = device.clone()),
            msg!("guard-file-behind-loop-help", device = device),
        );
    }
    if let Some(export) = exports(root).iter().find(|e| is_it(&e.path)) {
        return refuse(
            RefusalKind::Exported,
            msg!("guard-exported", path = path, export = export.name.clone()),
            msg!("guard-exported-help"),
        );
    }
    Ok(())
}

/// Any process that has the file open or mapped for writing: a running virtual machine, a database, a copy under way.
fn refuse_writers(root: &Root, path: &Path, node: &Node, file: &File) -> Result<(), Refusal> {
    // Where the kernel grants a lease nobody has it open for writing, whether that process can be seen from here or not.
    let has_writer = if root.is_live() { sys::has_writer(file) } else { None };
    if has_writer == Some(false) {
        return Ok(());
    }
    if let Some(writer) = lasting_writer(root, |writers| writers.of(node.identity())) {
        return refuse(
            RefusalKind::InUse,
            msg!("guard-open-for-writing", path = path, program = writer.program, pid = writer.pid),
            msg!("guard-open-for-writing-help", pid = writer.pid),
        );
    }
    if has_writer == Some(true) && !ends_soon(file) {
        return refuse(
            RefusalKind::InUse,
            msg!("guard-open-for-writing-by-somebody", path = path),
            msg!("guard-choose-another-file"),
        );
    }
    Ok(())
}

/// Whether the file is let go within a moment: the kernel closes what a ring of io_uring held only after its process ended.
fn ends_soon(file: &File) -> bool {
    const LOOKS: u32 = 20;
    (0..LOOKS).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        sys::has_writer(file) == Some(false)
    })
}
