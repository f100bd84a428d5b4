//! Hand-built trees for tests, of this crate and of those that read trees through it.

use std::path::Path;

use crate::root::Root;

/// A temporary root to be filled file by file.
pub struct Tree {
    dir: tempfile::TempDir,
}

impl Default for Tree {
    fn default() -> Self {
        Tree::new()
    }
}

impl Tree {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        // The tree of a large server has 20 000 files: in memory they are made twenty times faster than on a disk.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        Tree { dir: in_memory.or_else(|_| tempfile::tempdir()).expect("temp dir") }
    }

    /// To be read through.
    #[must_use]
    pub fn root(&self) -> Root {
        Root::new(self.dir.path())
    }

    /// Writes a file, with the folders above it.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let full = self.dir.path().join(path);
        std::fs::create_dir_all(full.parent().expect("parent")).expect("folders");
        std::fs::write(full, content).expect("file");
        self
    }

    /// Makes a symlink.
    pub fn link(&self, path: &str, target: &str) -> &Self {
        let full = self.dir.path().join(path);
        std::fs::create_dir_all(full.parent().expect("parent")).expect("folders");
        crate::make_link(Path::new(target), &full).expect("link");
        self
    }

    /// Makes a folder.
    pub fn folder(&self, path: &str) -> &Self {
        std::fs::create_dir_all(self.dir.path().join(path)).expect("folders");
        self
    }

    /// A whole disk in sysfs with the attributes every block device has.
    pub fn disk(&self, name: &str, number: &str, sectors: u64, bus: &str) -> &Self {
        let home = format!("sys/devices/{bus}/block/{name}");
        self.file(&format!("{home}/dev"), format!("{number}\n"))
            .file(&format!("{home}/size"), format!("{sectors}\n"))
            .file(&format!("{home}/ro"), "0\n")
            .file(&format!("{home}/queue/logical_block_size"), "512\n")
            .file(&format!("{home}/queue/physical_block_size"), "4096\n")
            .file(&format!("{home}/queue/rotational"), "0\n")
            .file(&format!("{home}/queue/scheduler"), "[none] mq-deadline\n")
            .file(&format!("{home}/queue/nr_requests"), "256\n")
            .file(&format!("{home}/queue/write_cache"), "write back\n")
            .file(&format!("{home}/queue/io_poll"), "0\n")
            .folder(&format!("{home}/holders"))
            .folder(&format!("{home}/slaves"))
            .link(&format!("sys/dev/block/{number}"), &format!("../../devices/{bus}/block/{name}"))
            .link(&format!("sys/block/{name}"), &format!("../devices/{bus}/block/{name}"))
            .link(&format!("sys/class/block/{name}"), &format!("../../devices/{bus}/block/{name}"))
    }

    /// A partition of a disk made by [`Tree::disk`].
    pub fn partition(&self, disk: &str, bus: &str, name: &str, number: &str) -> &Self {
        let home = format!("sys/devices/{bus}/block/{disk}/{name}");
        self.file(&format!("{home}/dev"), format!("{number}\n"))
            .file(&format!("{home}/partition"), "1\n")
            .file(&format!("{home}/size"), "2048\n")
            .folder(&format!("{home}/holders"))
            .link(&format!("sys/dev/block/{number}"), &format!("../../devices/{bus}/block/{disk}/{name}"))
            .link(&format!("sys/class/block/{name}"), &format!("../../devices/{bus}/block/{disk}/{name}"))
    }
}

/// Two nodes, two cores each, two siblings each: cores {0,4} {1,5} on node 0, {2,6} {3,7} on node 1.
#[must_use]
pub fn eight_cpus() -> Tree {
    let tree = Tree::new();
    let home = "sys/devices/system";
    tree.file(&format!("{home}/cpu/online"), "0-7\n")
        .file(&format!("{home}/node/node0/cpulist"), "0-1,4-5\n")
        .file(&format!("{home}/node/node1/cpulist"), "2-3,6-7\n")
        .file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
    for id in 0..8u32 {
        let core = id % 4;
        tree.file(&format!("{home}/cpu/cpu{id}/topology/thread_siblings_list"), format!("{core},{}\n", core + 4))
            .file(&format!("{home}/cpu/cpu{id}/topology/core_id"), format!("{}\n", core % 2))
            .file(&format!("{home}/cpu/cpu{id}/topology/physical_package_id"), format!("{}\n", core / 2));
    }
    tree
}
