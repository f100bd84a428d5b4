//! Signals by which a user or the system ends a run.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Problem};
use crate::terminal::talk;

/// First SIGINT or SIGTERM: finish tidily. Second: the kernel's default, at once.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>, Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| cannot_watch(&e))?;
    }
    Ok(stop)
}

/// A write beyond the limit of a file's size (`ulimit -f`) fails and is reported; by default the kernel ends the process.
pub(crate) fn report_file_size_limit() {
    // Without a handler everything works but the report.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

fn cannot_watch(error: &std::io::Error) -> Problem {
    Problem::new(Exit::Failed, format!("cannot watch for signals: {error}"), "")
}

/// The first signal that ends a program: finish tidily. A second: at once, yet settings are restored and test files
/// removed. Terminals that are closed send several SIGHUP, which count as one.
pub(crate) fn watch_stop_signals(lab: PathBuf, is_rank: bool) -> Result<Arc<AtomicBool>, Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT, SIGHUP]).map_err(|e| cannot_watch(&e))?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                if seen.swap(true, Ordering::Relaxed) && signal != SIGHUP {
                    exit_at_once(&lab, is_rank);
                }
            }
        })
        .map_err(|e| cannot_watch(&e))?;
    Ok(stop)
}

/// Replaces this process, whose workers may hang in the kernel or in long I/O, by one that only restores.
fn exit_at_once(lab: &Path, is_rank: bool) {
    if !is_rank {
        talk("\nstopped at once");
    }
    let mut restore = Command::new("/proc/self/exe");
    restore.arg("--lab").arg(lab).args(["restore", "--interrupted"]);
    if is_rank {
        // The result of all ranks is printed by one of them, and may be on its way already.
        restore.stdout(Stdio::null());
    }
    let error = restore.exec();
    talk(&format!("cannot restore: {error}\n  help: fathom restore"));
    std::process::exit(Exit::Interrupted as i32);
}
