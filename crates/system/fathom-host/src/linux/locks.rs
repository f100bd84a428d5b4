//! Locks by which a process says that a file is in use: flock(2), which ends with the last descriptor of the file.

use std::fs::File;
use std::io;

/// Locks a file for this process alone; waits for others.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    file.lock()
}

/// The same without waiting; whether it was free.
pub(crate) fn try_lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Whether nobody has locked it: a lock that others may have as well was had.
pub(crate) fn try_lock_shared(file: &File) -> bool {
    file.try_lock_shared().is_ok()
}
