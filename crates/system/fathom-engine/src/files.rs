//! Loads of whole files: what must be there before they begin.

use fathom_host::system::FileExt as _;
use std::io;
use std::time::{Duration, Instant};

use fathom_host::{Bindings, ThreadFolder};
use fathom_message::msg;
use fathom_plan::{Step, TargetId};
use fathom_record::StepFailure;

use crate::backend::files::Folder;
use crate::backend::refused;
use crate::crew::bound;
use crate::target::{Target, engine_on_target};
use crate::worker::WorkerPlan;

/// What the folder of a thread is called: streams that run at once share the folder of a target.
fn name_of(step: &Step, worker: u32) -> String {
    match &step.role.stream {
        None => format!("t{worker}"),
        Some(stream) => format!("s{}t{worker}", stream.index),
    }
}

/// Files between two looks at the time and at whether the user wants it to end.
const FILES_PER_LOOK: u32 = 256;

/// Makes the files that the step looks at or removes, each thread's in its own folder of each target, and has the file
/// system write them out, so that none of that falls into the measurement. A step that makes files needs none.
///
/// `within`: the longest time that this may take. Fewer files are made where it is not enough, at least one for each thread
/// and target, and as many in each folder. Returns files per thread and target, 0 for a step that needs none. `go_on`: called
/// with the files made so far per thread and target; `false` ends it early.
///
/// # Errors
/// When a file cannot be made.
pub fn lay_out_files(
    step: &Step,
    bindings: &Bindings,
    go_on: &mut dyn FnMut(u32) -> bool,
    within: Option<Duration>,
) -> Result<u32, StepFailure> {
    let Some(load) = step.workload.order.files.filter(|load| load.op.needs_files()) else { return Ok(0) };
    let until = within.map(|within| Instant::now() + within);
    let mut folders = Vec::new();
    for worker in 0..step.workers() {
        for at in step.targets_of(worker) {
            let target = &step.targets[at as usize];
            let folder = bound(bindings, target)?.thread_folder(&name_of(step, worker));
            folders.push((target, folder.map_err(|error| not_made(target, &error))?));
        }
    }
    // Not zeros, which a file system may leave out.
    let data = vec![0x5a; load.bytes_per_file as usize];
    let mut made = 0;
    while made < load.files_per_thread && go_on(made) && (made == 0 || until.is_none_or(|end| Instant::now() < end)) {
        // The first file alone: a slow file system is known after it.
        let up_to = if made == 0 { 1 } else { load.files_per_thread.min(made + FILES_PER_LOOK) };
        for (target, folder) in &folders {
            (made..up_to).try_for_each(|number| make_file(folder, number, &data)).map_err(|e| not_made(target, &e))?;
            // What is not written out yet would take its time after the limit.
            if until.is_some() || up_to == load.files_per_thread {
                folder.write_out().map_err(|e| not_made(target, &e))?;
            }
        }
        made = up_to;
    }
    Ok(made)
}

fn make_file(folder: &ThreadFolder, number: u32, data: &[u8]) -> io::Result<()> {
    let file = folder.create(u64::from(number))?;
    if data.is_empty() { Ok(()) } else { file.write_all_at(data, 0) }
}

fn not_made(target: &TargetId, error: &io::Error) -> StepFailure {
    let what = msg!("engine-making-files", target = target.as_str().to_owned());
    StepFailure::failed(what, error, msg!("engine-making-files-help"))
}

/// The files of a thread on its targets, in their order.
///
/// # Errors
/// When the folder of the thread cannot be opened.
pub(crate) fn folders_of(plan: &WorkerPlan) -> Result<Vec<Folder>, StepFailure> {
    plan.parts.iter().map(|part| folder_of(&plan.step, &part.target, plan.index)).collect()
}

/// The files of thread `worker` on a target.
///
/// # Errors
/// When its folder cannot be opened.
pub(crate) fn folder_of(step: &Step, target: &Target, worker: u32) -> Result<Folder, StepFailure> {
    let Some(load) = step.workload.order.files else { return Err(not_alone(step, &target.id)) };
    let folder = target.thread_folder(&name_of(step, worker)).map_err(|error| not_made(&target.id, &error))?;
    Ok(Folder::new(folder, load, step.workload.durability.sync.is_some()))
}

/// The engine of files goes with folders and with loads of files, and neither without it.
pub(crate) fn not_alone(step: &Step, id: &TargetId) -> StepFailure {
    refused(engine_on_target(step.engine.name, id), msg!("engine-files-alone"), msg!("engine-files-alone-help"))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use fathom_host::{Binding, FILES_FOLDER_PREFIX, OwnFolder, Root};
    use fathom_plan::{Knobs, Plan};

    use super::*;

    /// Files that were made for each of two threads, and those that are there.
    fn made(files: &str, within: Option<Duration>) -> (u32, [usize; 2]) {
        let place = tempfile::tempdir().expect("a folder");
        let own = OwnFolder::create(place.path(), FILES_FOLDER_PREFIX).expect("a folder");
        let target = TargetId::new(place.path().to_string_lossy());
        let mut knobs = Knobs::new();
        for (key, value) in [("rw", "filestat"), ("filesize", "4k"), ("numjobs", "2"), ("nrfiles", files)] {
            knobs.set(key, value).expect("a knob");
        }
        let plan = Plan::from_io(&knobs, vec![target.clone()], "").expect("a plan");
        let bindings: Bindings = std::iter::once(Binding::folder(&Root::live(), target, &own)).collect();
        let made = lay_out_files(&plan.steps[0], &bindings, &mut |_| true, within).expect("made");
        let there = ["t0", "t1"].map(|name| std::fs::read_dir(own.path().join(name)).expect("a folder").count());
        (made, there)
    }

    #[test]
    fn no_more_files_are_made_than_there_is_time_for_and_as_many_for_each_thread() {
        assert_eq!(made("300", None), (300, [300, 300]));
        assert_eq!(made("300", Some(Duration::ZERO)), (1, [1, 1]));
        let (some, there) = made("10000000", Some(Duration::from_millis(20)));
        assert!(some < 10_000_000 && there == [some as usize; 2], "{some} {there:?}");
    }
}
