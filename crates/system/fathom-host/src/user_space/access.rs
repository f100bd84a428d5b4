//! Whether this user may open a group of VFIO, and if not, who may.

use std::path::Path;

use serde::Serialize;

use crate::root::Root;
use crate::system::calls::owner_of;

/// What the node of a group allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "access", rename_all = "snake_case")]
pub enum GroupAccess {
    /// This user may open it.
    Allowed,
    /// Others may.
    Denied(NodeOwner),
    /// It is not there.
    Missing,
}

/// To whom a node belongs, and what they may do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeOwner {
    /// Name of its user, else the number.
    pub user: String,
    /// Name of its group, else the number.
    pub group: String,
    /// As `ls` writes the last nine letters of it: `rw-rw----`.
    pub mode: String,
}

impl GroupAccess {
    /// Of the node at `path`, which has no `root` before it.
    #[must_use]
    pub fn of(root: &Root, path: &Path) -> GroupAccess {
        let path = root.join(path.strip_prefix("/").unwrap_or(path));
        let Some(owner) = owner_of(&path) else { return GroupAccess::Missing };
        if owner.is_open_to_us {
            return GroupAccess::Allowed;
        }
        GroupAccess::Denied(NodeOwner {
            user: name_of(root, "etc/passwd", owner.user),
            group: name_of(root, "etc/group", owner.group),
            mode: letters(owner.mode),
        })
    }
}

/// The name of a number in /etc/passwd or /etc/group: both have it third.
fn name_of(root: &Root, file: &str, id: u32) -> String {
    let text = root.read(file).unwrap_or_default();
    let name = |line: &str| {
        let mut words = line.split(':');
        let name = words.next()?;
        (words.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    };
    text.lines().find_map(name).unwrap_or_else(|| id.to_string())
}

fn letters(mode: u32) -> String {
    let letter = |at: u32| if mode >> (8 - at) & 1 == 1 { char::from(b"rwx"[at as usize % 3]) } else { '-' };
    (0..9).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn a_node_says_whose_it_is_by_name_where_there_is_one() {
        let tree = Tree::new();
        tree.file("etc/group", "root:x:0:\nkvm:x:108:me\n").file("dev/vfio/7", "");
        assert_eq!(name_of(&tree.root(), "etc/group", 108), "kvm");
        assert_eq!(name_of(&tree.root(), "etc/group", 10), "10");
        assert_eq!(name_of(&tree.root(), "etc/passwd", 0), "0");
        assert_eq!(
            (letters(0o020_660), letters(0o600), letters(0o755)),
            ("rw-rw----".into(), "rw-------".into(), "rwxr-xr-x".into())
        );
        assert_eq!(GroupAccess::of(&tree.root(), Path::new("/dev/vfio/7")), GroupAccess::Allowed);
        assert_eq!(GroupAccess::of(&tree.root(), Path::new("/dev/vfio/8")), GroupAccess::Missing);
    }
}
