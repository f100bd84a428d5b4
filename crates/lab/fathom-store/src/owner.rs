//! Which process a running run belongs to, and who holds a lock.

use std::path::Path;
use std::process;

use fathom_host::processes::{self, boot_id, started_ticks};
use fathom_message::{Arg, Join, Message, msg};

/// The process at work on a run. The number alone says little, since it is used again: start time and boot go with it.
///
/// Processes of another PID namespace (a container) cannot be seen; their runs look interrupted from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    /// When it was started, as its system counts.
    pub(crate) started_ticks: u64,
    pub(crate) boot_id: String,
}

impl Owner {
    /// This process.
    pub(crate) fn this() -> Owner {
        let pid = process::id();
        Owner { pid, started_ticks: started_ticks(pid).unwrap_or(0), boot_id: boot_id() }
    }

    /// Whether that very process still lives.
    pub(crate) fn is_alive(&self) -> bool {
        self.boot_id == boot_id() && started_ticks(self.pid) == Some(self.started_ticks)
    }
}

/// Who holds locks on the lab or the files SQLite keeps beside it.
pub(crate) fn lock_holders(path: &Path) -> Message {
    let holders = processes::lock_holders(path);
    if holders.is_empty() {
        return msg!("lab-another-process");
    }
    let named = holders.into_iter().map(|(pid, name)| match name {
        Some(name) => msg!("lab-process-named", pid = pid, name = name),
        None => msg!("lab-process", pid = pid),
    });
    msg!("several", list = Arg::list(named, Join::Comma))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_reused_number_or_an_older_boot_does_not() {
        let this = Owner::this();
        assert!(this.is_alive());
        assert!(!Owner { started_ticks: this.started_ticks + 1, ..this.clone() }.is_alive());
        assert!(!Owner { boot_id: "another".to_owned(), ..this }.is_alive());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_dead_even_before_it_is_reaped() {
        let mut child = process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let pid = child.id();
        let owner = Owner { pid, started_ticks: started_ticks(pid).expect("alive"), boot_id: boot_id() };
        assert!(owner.is_alive());
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert!(!owner.is_alive());
    }
}
