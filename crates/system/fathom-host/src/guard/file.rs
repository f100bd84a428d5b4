//! Whether a regular file may be written: by its inode, for any number of names may lead to it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use fathom_message::msg;
use rustix::fs::OFlags;

use super::exports::exports;
use super::uses::Uses;
use super::writers::lasting_writer;
use super::{Permit, Refusal, RefusalKind, WriteConsent, refuse, unreachable};
use crate::mount::mount_of;
use crate::node::Node;
use crate::own_file::FileMark;
use crate::root::Root;
use crate::sys;

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

pub(super) fn check_new_file(root: &Root, path: &Path) -> Result<(), Refusal> {
    // A link to nowhere would make the file somewhere else than named.
    if fs::symlink_metadata(path).is_ok() {
        let message = msg!("guard-dangling-symlink", path = path);
        return refuse(RefusalKind::Unreachable, message, msg!("guard-dangling-symlink-help"));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).or_else(|error| unreachable(folder, &error))?;
    if path.file_name().is_none() {
        let message = msg!("guard-not-a-file-name", path = path);
        return refuse(RefusalKind::NotWritableKind, message, msg!("guard-name-a-target"));
    }
    // A mistyped device would otherwise become a file that fills the memory behind /dev.
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        let message = msg!("guard-no-such-device", path = path);
        return refuse(RefusalKind::Missing, message, msg!("guard-no-such-device-help"));
    }
    refuse_kernel_file(root, path, &folder)
}

/// Refuses files of the kernel, files that anything uses, the lab, and files with other people's data.
pub(super) fn check_file(root: &Root, path: &Path, node: Node, permit: &Permit<'_>) -> Result<WriteConsent, Refusal> {
    let real = fs::canonicalize(path).or_else(|error| unreachable(path, &error))?;
    refuse_kernel_file(root, path, &real)?;
    let file = match node.open_to_read(OFlags::NONBLOCK) {
        Ok(file) => file,
        Err(error) => {
            let message = msg!("guard-unreadable", path = path, error = fathom_message::Say::message(&error));
            return refuse(RefusalKind::Unreachable, message, msg!("guard-unreachable-help"));
        }
    };
    refuse_lab(root, path, &node, &file, permit)?;
    let uses = Uses::read(root)?;
    refuse_kernel_users(root, path, &node, &uses)?;
    refuse_writers(root, path, &node, &file)?;
    refuse_foreign_data(path, &file, permit)?;
    Ok(WriteConsent::to_file(real, Arc::new(node)))
}

/// Files that are switches of the kernel look like regular, empty ones.
fn refuse_kernel_file(root: &Root, path: &Path, real: &Path) -> Result<(), Refusal> {
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

/// Swap space, loop devices and what this machine offers to others.
fn refuse_kernel_users(root: &Root, path: &Path, node: &Node, uses: &Uses) -> Result<(), Refusal> {
    let is_it = |name: &str| {
        let there = Node::at(root, &root.join(name.trim_start_matches('/')));
        there.is_ok_and(|there| there.identity() == node.identity())
    };
    if uses.swaps.iter().any(|s| is_it(&s.path)) {
        return refuse(RefusalKind::Swap, msg!("guard-swap-file", path = path), msg!("guard-choose-another-file"));
    }
    if let Some(user) = uses.loops.iter().find(|l| l.shows_file(node.identity()) || is_it(&l.backing)) {
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

/// The lab and what belongs to it, by inode; any other lab by what it begins with.
fn refuse_lab(root: &Root, path: &Path, node: &Node, file: &File, permit: &Permit<'_>) -> Result<(), Refusal> {
    let is_protected =
        permit.protected.iter().any(|p| Node::at(root, p).is_ok_and(|p| p.identity() == node.identity()));
    if is_protected || is_lab(file).unwrap_or(false) {
        return refuse(RefusalKind::Lab, msg!("guard-lab", path = path), msg!("guard-choose-another-file"));
    }
    Ok(())
}

/// Whether the file begins as an SQLite database with the application id of Fathom's labs (sqlite.org/fileformat2).
pub(crate) fn is_lab(file: &File) -> io::Result<bool> {
    let mut head = [0; 72];
    match file.read_exact_at(&mut head, 0) {
        Ok(()) => Ok(head.starts_with(b"SQLite format 3\0") && head[68..72] == *b"FATM"),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn refuse_foreign_data(path: &Path, file: &File, permit: &Permit<'_>) -> Result<(), Refusal> {
    let length = file.metadata().or_else(|error| unreachable(path, &error))?.len();
    let is_own = FileMark::read(file).is_some_and(|(mark, _)| (permit.is_own)(mark));
    if permit.overwrite || is_own || !holds_data(file, length) {
        return Ok(());
    }
    refuse(
        RefusalKind::ForeignFile,
        msg!("guard-foreign-file", path = path, size = fathom_message::Quantity::bytes(length)),
        msg!("guard-foreign-file-help"),
    )
}

/// A file that is empty or has holes alone has nothing to lose.
fn holds_data(file: &File, length: u64) -> bool {
    match sys::seek_extent(file, 0, libc::SEEK_DATA) {
        Ok(at) => at.is_some_and(|at| at < length),
        Err(_) => length > 0,
    }
}
