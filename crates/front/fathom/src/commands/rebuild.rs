//! `fathom rebuild`: an array in user space is made whole.

use std::time::{Duration, Instant};

use fathom_lab::{ConductOptions, RebuildError, expand_target, rebuild_array};
use fathom_plan::TargetId;

use super::lab_path;
use super::restore::journal_dir;
use crate::args::{Args, RebuildArgs};
use crate::exit::{Exit, Problem};
use crate::system::signals::stop_on_signals;
use crate::terminal::{result, say, talk};

/// Time between two lines of progress.
const SHOWN_EVERY: Duration = Duration::from_secs(5);

/// Rebuilds, and says what was written.
pub(super) fn rebuild(args: &Args, options: &RebuildArgs) -> Result<Exit, Problem> {
    let names = expand_target(&fathom_host::Root::live(), &options.array)?;
    let [name] = &names[..] else {
        return Err(Problem::usage("one array is rebuilt at a time", "name it as raid5:64k:/dev/sdb,missing,/dev/sdd"));
    };
    let (array, onto) = (TargetId::new(name.clone()), options.onto.as_ref().map(|name| TargetId::new(name.clone())));
    let conduct = ConductOptions {
        destroy: options.destroy.clone(),
        overwrite: options.overwrite,
        lab_path: lab_path(args)?,
        journal_dir: journal_dir(),
        ..ConductOptions::default()
    };
    let stop = stop_on_signals()?;
    let mut shown = Instant::now();
    let mut on_progress = |progress: &fathom_record::Progress| {
        if shown.elapsed() >= SHOWN_EVERY {
            shown = Instant::now();
            let left_s = progress.remaining_ns as f64 / 1e9;
            talk(&format!("{} bytes written, about {left_s:.0} s left", progress.bytes_done));
        }
    };
    let rebuilt = rebuild_array(&array, onto.as_ref(), &conduct, &stop, &mut on_progress);
    let done = rebuilt.map_err(problem)?;
    let rate = done.written_bytes as f64 / done.elapsed.as_secs_f64().max(1e-9);
    let amount = format!("{} bytes in {:.1} s, {:.1} MB/s", done.written_bytes, done.elapsed.as_secs_f64(), rate / 1e6);
    if done.is_stopped {
        talk(&format!("stopped after {amount}: what was to be written is not whole"));
        return Ok(Exit::Interrupted);
    }
    result(&match &onto {
        Some(onto) => format!("Rebuilt the missing member onto {onto}: {amount}\n"),
        None => format!("Made the redundancy of {array} fit its data: {amount}\n"),
    });
    Ok(Exit::Done)
}

fn problem(error: RebuildError) -> Problem {
    match error {
        RebuildError::Target(error) => error.into(),
        RebuildError::Conduct(error) => error.into(),
        RebuildError::Step(failure) => {
            let (what, why, help) = failure.parts();
            Problem::new(Exit::Failed, format!("{}: {}", say(&what), say(&why)), say(&help))
        }
    }
}
