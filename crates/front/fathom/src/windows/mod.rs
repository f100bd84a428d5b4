//! What the command line needs of Windows itself.

pub(crate) mod signals;

use std::path::PathBuf;

/// Folder for the data of the user's programs on this machine, from his environment.
pub(crate) fn user_data(set: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    set("LOCALAPPDATA")
}

/// Windows has no user whose data lie elsewhere.
pub(crate) fn is_root() -> bool {
    false
}
