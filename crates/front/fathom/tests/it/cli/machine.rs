//! Devices and file systems made for one test, and taken away when it ends. Only root can make them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Place, skipped};

/// Whether this test may mount and make devices; says so when not.
pub(crate) fn is_root(what: &str) -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    if !root {
        skipped(&format!("{what} needs root"));
    }
    root
}

/// Runs a command; its standard output, or `None` when it is absent or fails (and says so).
pub(crate) fn tool(program: &str, args: &[&str]) -> Option<String> {
    match Command::new(program).args(args).output() {
        Ok(o) if o.status.success() => Some(String::from_utf8_lossy(&o.stdout).trim().to_owned()),
        Ok(o) => {
            skipped(&format!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&o.stderr).trim()));
            None
        }
        Err(e) => {
            skipped(&format!("{program}: {e}"));
            None
        }
    }
}

/// A mounted file system; unmounted when dropped.
pub(crate) struct Mounted {
    pub(crate) path: PathBuf,
}

impl Mounted {
    pub(crate) fn new(place: &Place, name: &str, args: &[&str]) -> Option<Mounted> {
        let path = place.beside(name);
        fs::create_dir(&path).expect("a mount point");
        let path_text = path.to_str().expect("UTF-8");
        tool("mount", &[args, &[path_text]].concat())?;
        Some(Mounted { path })
    }

    /// A small ext4 in a file: a device and a file system that nobody else uses.
    pub(crate) fn ext4(place: &Place, name: &str, size_bytes: u64, mount_options: &str) -> Option<Mounted> {
        if !is_root("a file system of its own") {
            return None;
        }
        let image = place.beside(&format!("{name}.img"));
        fs::File::create(&image).and_then(|f| f.set_len(size_bytes)).expect("an image");
        let image_text = image.to_str().expect("UTF-8");
        // Nothing may write to it but the test: no journal, nothing left for later.
        let quiet = ["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=0", image_text];
        tool("mkfs.ext4", &quiet)?;
        Mounted::new(place, name, &["-o", &format!("loop,noatime,{mount_options}"), image_text])
    }

    pub(crate) fn tmpfs(place: &Place, name: &str) -> Option<Mounted> {
        if !is_root("a tmpfs") {
            return None;
        }
        Mounted::new(place, name, &["-t", "tmpfs", "-o", "size=256m", "tmpfs"])
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let path = self.path.to_str().expect("UTF-8");
        if tool("umount", &[path]).is_none() {
            // Lazily rather than never: what still uses it ends with the test.
            tool("umount", &["-l", path]);
        }
    }
}

/// A loop device over a file; detached when dropped.
pub(crate) struct LoopDevice {
    /// `/dev/loopN`.
    pub(crate) path: String,
    pub(crate) image: PathBuf,
}

impl LoopDevice {
    pub(crate) fn new(place: &Place, content: &[u8]) -> Option<LoopDevice> {
        if !is_root("a loop device") {
            return None;
        }
        let image = place.beside("device.img");
        fs::write(&image, content).expect("an image");
        let path = tool("losetup", &["-f", "--show", image.to_str().expect("UTF-8")])?;
        Some(LoopDevice { path, image })
    }

    /// What `--destroy` calls it.
    pub(crate) fn name(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        tool("losetup", &["-d", &self.path]);
    }
}

/// Partition 1 of a loop device; taken from the kernel when dropped. Declare it after its device.
pub(crate) struct Partition {
    /// `/dev/loopNp1`.
    pub(crate) path: String,
    device: String,
}

impl Partition {
    /// An MBR partition table with one Linux partition from 1 MiB on, `size_bytes` long.
    pub(crate) fn table(size_bytes: usize) -> [u8; 512] {
        let mut sector = [0; 512];
        sector[450] = 0x83;
        sector[454..458].copy_from_slice(&2048_u32.to_le_bytes());
        sector[458..462].copy_from_slice(&((size_bytes / 512) as u32).to_le_bytes());
        (sector[510], sector[511]) = (0x55, 0xAA);
        sector
    }

    /// Makes the kernel know the partitions of a device that carries a table.
    pub(crate) fn of(device: &LoopDevice) -> Option<Partition> {
        tool("partx", &["-a", &device.path])?;
        let partition = Partition { path: format!("{}p1", device.path), device: device.path.clone() };
        if !Path::new(&partition.path).exists() {
            skipped(&format!("{} did not appear", partition.path));
            return None;
        }
        Some(partition)
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        tool("partx", &["-d", &self.device]);
    }
}

/// A swap file in use; switched off when dropped.
pub(crate) struct SwapFile(PathBuf);

impl SwapFile {
    pub(crate) fn new(path: &Path, size_bytes: usize) -> Option<SwapFile> {
        fs::write(path, vec![0; size_bytes]).expect("a file");
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("permissions");
        let text = path.to_str().expect("UTF-8");
        tool("mkswap", &[text])?;
        // Of the lowest priority: nothing is swapped to it but in need.
        tool("swapon", &["-p", "0", text])?;
        Some(SwapFile(path.to_owned()))
    }
}

impl Drop for SwapFile {
    fn drop(&mut self) {
        tool("swapoff", &[self.0.to_str().expect("UTF-8")]);
    }
}

/// A fresh zram device; removed when dropped.
pub(crate) struct Zram {
    number: String,
}

impl Zram {
    pub(crate) fn new(size: &str) -> Option<Zram> {
        if !is_root("a zram device") {
            return None;
        }
        let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
            skipped("this kernel has no zram");
            return None;
        };
        let zram = Zram { number: number.trim().to_owned() };
        fs::write(format!("/sys/block/{}/disksize", zram.name()), size).expect("a size");
        Some(zram)
    }

    pub(crate) fn name(&self) -> String {
        format!("zram{}", self.number)
    }

    pub(crate) fn path(&self) -> String {
        format!("/dev/{}", self.name())
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // The kernel says "busy" for a moment after the last close.
        for _ in 0..100 {
            if fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        skipped(&format!("{} could not be removed", self.name()));
    }
}

/// Whether a tmpfs is mounted at `path`.
pub(crate) fn is_tmpfs(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let path = path.to_string_lossy();
    mounts.lines().any(|l| {
        let mut words = l.split(' ').skip(1);
        words.next() == Some(&*path) && words.next() == Some("tmpfs")
    })
}
