//! Ctrl-C and its like, by which a user ends a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Exit, Problem};

/// Windows limits no size of files by a signal.
pub(crate) fn report_file_size_limit() {}

/// The first: finish tidily. The second: at once.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>, Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Problem::new(Exit::Failed, format!("cannot watch for signals: {e}"), ""))?;
    }
    Ok(stop)
}

/// The same for a run: it changes no settings on Windows, and what files it leaves at the second the next run removes.
pub(crate) fn watch_stop_signals(_lab: PathBuf, _is_rank: bool) -> Result<Arc<AtomicBool>, Problem> {
    stop_on_signals()
}
