//! Other processes of this machine: whether one still is the one it was.
#![allow(unsafe_code)]

use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{FILETIME, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading as threads;

/// What tells the starts of this machine apart: nothing is needed, since processes are known by the time of day of their start.
#[must_use]
pub fn boot_id() -> String {
    String::new()
}

/// When a process was started, in units of 100 ns since 1601. `None` when there is no such process, or it has ended.
#[must_use]
pub fn started_ticks(pid: u32) -> Option<u64> {
    let rights = threads::PROCESS_QUERY_LIMITED_INFORMATION | threads::PROCESS_SYNCHRONIZE;
    // SAFETY: takes numbers; the handle that it gives is nobody else's.
    let process = unsafe {
        let handle = threads::OpenProcess(rights, 0, pid);
        if handle.is_null() {
            return None;
        }
        OwnedHandle::from_raw_handle(handle)
    };
    let mut times = [FILETIME::default(); 4];
    let [made, ended, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the four structures outlive the call, which fills them.
    let is_alive = unsafe {
        let handle = process.as_raw_handle();
        threads::WaitForSingleObject(handle, 0) == WAIT_TIMEOUT
            && threads::GetProcessTimes(handle, &raw mut *made, &raw mut *ended, &raw mut *kernel, &raw mut *user) != 0
    };
    is_alive.then(|| u64::from(times[0].dwHighDateTime) << 32 | u64::from(times[0].dwLowDateTime))
}

/// Who holds locks on a database: Windows tells it to nobody who does not close the files.
#[must_use]
pub fn lock_holders(_path: &Path) -> Vec<(u32, Option<String>)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_one_that_ended_does_not() {
        let this = started_ticks(std::process::id()).expect("alive");
        assert_eq!(started_ticks(std::process::id()), Some(this));
        assert_eq!(started_ticks(u32::MAX - 3), None);
    }
}
