//! Block devices of a test's own, where this machine has them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_host::{Binding, Bindings, Permit, Root};
use fathom_plan::TargetId;

use super::Bench;

/// A device that goes with its test.
pub(crate) enum Device {
    Loop { path: PathBuf, _image: Bench },
    Zram { path: PathBuf, number: String },
}

impl Device {
    /// A loop device over a file of zeros; `None` where there is no tool or no right to it.
    pub(crate) fn new_loop(size_bytes: u64) -> Option<Device> {
        let image = Bench::new(size_bytes);
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&image.path).output().ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        output.status.success().then_some(Device::Loop { path, _image: image })
    }

    /// Memory behind a block device that cannot be submitted to without blocking; `None` where the kernel has none.
    pub(crate) fn new_zram(size_bytes: u64) -> Option<Device> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").ok()?.trim().to_owned();
        let device = Device::Zram { path: PathBuf::from(format!("/dev/zram{number}")), number: number.clone() };
        fs::write(format!("/sys/block/zram{number}/disksize"), size_bytes.to_string()).ok()?;
        Some(device)
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Device::Loop { path, .. } | Device::Zram { path, .. } => path,
        }
    }

    /// Bound for writing, once: what is written looks like data that is in the way of a second consent.
    pub(crate) fn bound(&self) -> Bindings {
        let destroy = [self.path().file_name().expect("a device").to_string_lossy().into_owned()];
        let permit = Permit { destroy: &destroy, overwrite: false, ..Permit::NOTHING };
        let id = TargetId::new(self.path().to_string_lossy().into_owned());
        let binding = Binding::existing(&Root::live(), id, self.path(), true, &permit);
        [binding.expect("the test's own device")].into_iter().collect()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let released = match self {
            Device::Loop { path, .. } => {
                Command::new("losetup").arg("--detach").arg(&*path).status().is_ok_and(|s| s.success())
            }
            // The kernel closes the file of a ring a little after the ring.
            Device::Zram { number, .. } => (0..250).any(|_| {
                std::thread::sleep(Duration::from_millis(20));
                fs::write(format!("/sys/block/zram{number}/reset"), "1").is_ok()
                    && fs::write("/sys/class/zram-control/hot_remove", &*number).is_ok()
            }),
        };
        assert!(released || std::thread::panicking(), "{} stays", self.path().display());
    }
}
