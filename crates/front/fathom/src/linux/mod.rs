//! What the command line needs of Linux itself.

pub(crate) mod signals;

use std::path::PathBuf;

/// Folder for the data of the user's programs, from his environment.
pub(crate) fn user_data(set: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    set("HOME").map(|home| home.join(".local/share"))
}

/// Whether this is the user who may do everything.
pub(crate) fn is_root() -> bool {
    fathom_host::user_id() == 0
}
