//! Modules of the kernel that are loaded when something of them is asked for.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::root::Root;

/// Loads a module, unless what it brings is there. Whether it came, `brings` says.
pub(crate) fn load(root: &Root, name: &str, brings: &Path) {
    if brings.exists() || !root.is_live() {
        return;
    }
    // By its place and not by PATH: this runs as root.
    let places = ["/usr/sbin/modprobe", "/sbin/modprobe", "/usr/bin/modprobe", "/bin/modprobe"];
    let Some(program) = places.into_iter().find(|p| Path::new(p).exists()) else { return };
    let _ = Command::new(program).arg(name).env_clear().stdout(Stdio::null()).stderr(Stdio::null()).status();
}
