//! Programs that Fathom runs beside itself: they end when it does.

use std::io;
use std::process::{Child, Command};

use super::calls::{self as sys, Signal};
use crate::root::Root;
use crate::tasks::children_of;

/// The program gets SIGINT when the thread that starts it ends, whatever ends it: also SIGKILL of this process.
///
/// # Errors
/// None on Linux.
pub fn die_with_parent(command: &mut Command) -> io::Result<()> {
    sys::interrupt_with_parent(command);
    Ok(())
}

/// Asks a program to end, as Ctrl-C does. One that is gone is left alone.
pub fn interrupt(child: &Child) {
    sys::signal(child.id(), Signal::Interrupt);
}

/// Ends a program and all that it started, also those that made sessions of their own. Ones that are gone are left alone.
pub fn kill_with_children(child: &mut Child) {
    let root = Root::live();
    let mut found = vec![child.id()];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        // One that stands still starts no further ones, and gives no number of an ended one to another.
        sys::signal(pid, Signal::Stop);
        found.extend(children_of(&root, pid));
    }
    found.iter().rev().for_each(|pid| sys::signal(*pid, Signal::Kill));
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_child_in_a_session_of_its_own_ends_with_the_program_that_started_it() {
        let mut shell = Command::new("sh")
            .args(["-c", "setsid sh -c 'echo $$; sleep 100' & wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut pid = String::new();
        let mut out = BufReader::new(shell.stdout.take().expect("its words"));
        out.read_line(&mut pid).expect("the child's number");
        kill_with_children(&mut shell);
        assert!(!shell.wait().expect("ended").success());
        // The pipe ends when the last of them is gone.
        assert_eq!(out.read_line(&mut String::new()).expect("read"), 0);
        // A process closes its files a moment before it is one that has ended.
        let begun = Instant::now();
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            if stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ") {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{stat}");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
