//! What this machine offers to others as block storage: NVMe over Fabrics (nvmet) and SCSI targets (target core, SCST).

use std::path::Path;

use crate::root::{Root, attribute, names_in};

/// A file or device that is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// Path of the file or device.
    pub(crate) path: String,
    /// What exports it: `nvmet nqn.2014-08.org.example, namespace 1`.
    pub(crate) name: String,
}

/// All exports that the kernel's configuration shows.
pub(crate) fn exports(root: &Root) -> Vec<Export> {
    let mut out = nvmet(&root.join("sys/kernel/config/nvmet/subsystems"));
    out.extend(target_core(&root.join("sys/kernel/config/target/core")));
    out.extend(scst(&root.join("sys/kernel/scst_tgt/devices")));
    out
}

/// `subsystems/NQN/namespaces/ID/device_path` of Documentation/nvme; namespaces that are not enabled count as well: they
/// may be at the next moment.
fn nvmet(home: &Path) -> Vec<Export> {
    let of = |nqn: &String| {
        let namespaces = home.join(nqn).join("namespaces");
        let nqn = nqn.clone();
        names_in(&namespaces).into_iter().filter_map(move |id| {
            let path = attribute(&namespaces.join(&id).join("device_path")).filter(|p| p != "(null)")?;
            Some(Export { path, name: format!("nvmet {nqn} namespace {id}") })
        })
    };
    names_in(home).iter().flat_map(of).collect()
}

/// `core/HBA/NAME/udev_path`, and `File: PATH` in the text of `info` where that is not set.
fn target_core(home: &Path) -> Vec<Export> {
    let mut out = Vec::new();
    for hba in names_in(home) {
        for name in names_in(&home.join(&hba)) {
            let store = home.join(&hba).join(&name);
            let info = attribute(&store.join("info")).unwrap_or_default();
            let stated =
                info.split_once("File: ").and_then(|(_, rest)| rest.split_whitespace().next()).map(str::to_owned);
            for path in attribute(&store.join("udev_path")).into_iter().chain(stated) {
                out.push(Export { path, name: format!("target core {hba}/{name}") });
            }
        }
    }
    out
}

/// `devices/NAME/filename`, with a remark after the path.
fn scst(home: &Path) -> Vec<Export> {
    let of = |name: String| {
        let text = attribute(&home.join(&name).join("filename"))?;
        Some(Export { path: text.lines().next()?.to_owned(), name: format!("SCST {name}") })
    };
    names_in(home).into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn files_and_devices_behind_targets_are_found() {
        let tree = Tree::new();
        let config = "sys/kernel/config";
        tree.file(&format!("{config}/nvmet/subsystems/nqn.x/namespaces/1/device_path"), "/srv/a.img\n")
            .file(&format!("{config}/nvmet/subsystems/nqn.x/namespaces/2/device_path"), "(null)\n")
            .file(&format!("{config}/target/core/iblock_0/disk/udev_path"), "/dev/sdb\n")
            .file(&format!("{config}/target/core/fileio_1/img/info"), "Status: ACTIVATED  File: /srv/b.img  Size: 1\n")
            .file("sys/kernel/scst_tgt/devices/d/filename", "/srv/c.img\n[key]\n");
        let found = exports(&tree.root());
        let paths: Vec<&str> = found.iter().map(|e| e.path.as_str()).collect();
        assert_eq!(paths, ["/srv/a.img", "/srv/b.img", "/dev/sdb", "/srv/c.img"]);
        assert_eq!(found[0].name, "nvmet nqn.x namespace 1");
    }
}
