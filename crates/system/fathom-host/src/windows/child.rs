//! Programs that Fathom runs beside itself. Windows ends none of them with it unless they are in a job that is made before they
//! begin, which Fathom does not do yet: so it starts none.
#![allow(unsafe_code)]

use std::io;
use std::process::{Child, Command};

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};

/// Has the program end with this one.
///
/// # Errors
/// Always `Unsupported`: it is not to be started.
pub fn die_with_parent(_command: &mut Command) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Asks a program to end, as Ctrl-Break does. One that is gone is left alone.
pub fn interrupt(child: &Child) {
    // SAFETY: takes numbers.
    unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, child.id()) };
}

/// Ends a program. One that is gone is left alone.
pub fn kill_with_children(child: &mut Child) {
    let _gone = child.kill();
}
