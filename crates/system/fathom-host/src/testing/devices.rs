//! What several modules' tests need of this machine: loop devices of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file of its own, detached when dropped.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
    pub(crate) image: tempfile::NamedTempFile,
}

impl LoopDevice {
    /// Over 4 MiB of zeroes; `None`, with the reason printed, where loop devices cannot be had (no root, no tool).
    pub(crate) fn blank() -> Option<LoopDevice> {
        LoopDevice::of(4 << 20, &[])
    }

    /// Over an image of `size_bytes`, with further options of losetup.
    pub(crate) fn of(size_bytes: u64, options: &[&str]) -> Option<LoopDevice> {
        let image = tempfile::NamedTempFile::new().expect("temp file");
        image.as_file().set_len(size_bytes).expect("sized");
        LoopDevice::over(image, options)
    }

    /// Over a file that has its content already.
    pub(crate) fn over(image: tempfile::NamedTempFile, options: &[&str]) -> Option<LoopDevice> {
        let output = Command::new("losetup").args(["--find", "--show"]).args(options).arg(image.path()).output();
        match output {
            Ok(output) if output.status.success() => {
                let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
                Some(LoopDevice { path, image })
            }
            other => {
                skip(&format!("no loop device: {other:?}"));
                None
            }
        }
    }

    /// Kernel name, e.g. `loop3`.
    pub(crate) fn name(&self) -> String {
        name_of(&self.path)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let status = Command::new("losetup").arg("--detach").arg(&self.path).status();
        assert!(status.is_ok_and(|s| s.success()), "cannot detach {:?}", self.path);
    }
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Says why a test could not look at this machine.
#[allow(clippy::print_stderr)]
pub(crate) fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// A permit of `--destroy` values alone.
pub(crate) fn destroying(destroy: &[String]) -> crate::Permit<'_> {
    crate::Permit { destroy, ..crate::Permit::NOTHING }
}
