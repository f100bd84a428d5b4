//! Whether a regular file may be written: by its inode, for any number of names may lead to it.

use crate::system::FileExt as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::system::files::{self, OFlags};
use fathom_message::msg;

use super::{Permit, Refusal, RefusalKind, WriteConsent, refuse, unreachable};
use crate::databases::{is_name_of_database, is_of_database};
use crate::node::{Identity, Node};
use crate::own_file::{FileMark, MarkPlace};
use crate::root::Root;
use crate::system::guard::{refuse_kernel_file, refuse_new_in, refuse_users};

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
    let is_own_lab = path.file_name().zip(files::stat(&folder).ok()).is_some_and(|(n, f)| is_name_of_database(&f, n));
    if is_own_lab {
        return refuse_lab(path);
    }
    refuse_new_in(path, &folder)?;
    refuse_kernel_file(root, path, &folder)
}

/// Refuses files of the kernel, files that anything uses, the lab, and other people's files unless they are empty.
pub(super) fn check_file(root: &Root, path: &Path, node: Node, permit: &Permit<'_>) -> Result<WriteConsent, Refusal> {
    let real = fs::canonicalize(path).or_else(|error| unreachable(path, &error))?;
    refuse_kernel_file(root, path, &real)?;
    refuse_own_lab(root, path, &node, permit)?;
    let file = match node.open_to_read(OFlags::NONBLOCK) {
        Ok(file) => file,
        Err(error) => {
            let message = msg!("guard-unreadable", path = path, error = fathom_message::Say::message(&error));
            return refuse(RefusalKind::Unreachable, message, msg!("guard-unreachable-help"));
        }
    };
    if is_lab(&file).unwrap_or(false) {
        return refuse_lab(path);
    }
    refuse_users(root, path, &node, &file)?;
    refuse_foreign_data(path, &file, permit)?;
    Ok(WriteConsent::to_file(real, Arc::new(node)))
}

/// Refuses the lab and what belongs to it, by inode: before it is opened, which would drop the locks of this process.
fn refuse_own_lab(root: &Root, path: &Path, node: &Node, permit: &Permit<'_>) -> Result<(), Refusal> {
    let is_protected =
        permit.protected.iter().any(|p| Node::at(root, p).is_ok_and(|p| p.identity() == node.identity()));
    let is_open = matches!(node.identity(), Identity::File { device, inode } if is_of_database(*device, *inode));
    if is_protected || is_open { refuse_lab(path) } else { Ok(()) }
}

fn refuse_lab<T>(path: &Path) -> Result<T, Refusal> {
    refuse(RefusalKind::Lab, msg!("guard-lab", path = path), msg!("guard-choose-another-file"))
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
    let marked = FileMark::read(file).filter(|marked| marked.place == MarkPlace::Original);
    let is_own = marked.is_some_and(|marked| (permit.is_own)(marked.mark));
    // A file of holes alone is somebody's as well: the disk of a virtual machine, a database that is about to grow.
    if permit.overwrite || is_own || length == 0 {
        return Ok(());
    }
    refuse(
        RefusalKind::ForeignFile,
        msg!("guard-foreign-file", path = path, size = fathom_message::Quantity::bytes(length)),
        msg!("guard-foreign-file-help"),
    )
}
