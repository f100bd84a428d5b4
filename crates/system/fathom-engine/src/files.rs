//! Loads of whole files: what must be there before they begin.

use fathom_host::system::FileExt as _;
use std::io;

use fathom_host::{Bindings, ThreadFolder};
use fathom_message::msg;
use fathom_plan::{FileLoad, Step, TargetId};
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

/// Files between two looks at whether the user wants it to end.
const FILES_PER_LOOK: u32 = 256;

/// Makes the files that the step looks at or removes, each thread's in its own folder of each target, and has the file
/// system write them out, so that none of that falls into the measurement. A step that makes files needs none.
///
/// # Errors
/// When a file cannot be made.
pub fn lay_out_files(step: &Step, bindings: &Bindings, is_stopped: &dyn Fn() -> bool) -> Result<(), StepFailure> {
    let Some(load) = step.workload.order.files.filter(|load| load.op.needs_files()) else { return Ok(()) };
    for worker in 0..step.workers() {
        for at in step.targets_of(worker) {
            let target = &step.targets[at as usize];
            let failed = |error: &io::Error| {
                let what = msg!("engine-making-files", target = target.as_str().to_owned());
                StepFailure::failed(what, error, msg!("engine-making-files-help"))
            };
            let folder = bound(bindings, target)?.thread_folder(&name_of(step, worker)).map_err(|e| failed(&e))?;
            if !make_files(&folder, load, is_stopped).map_err(|e| failed(&e))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// False: it was stopped.
fn make_files(folder: &ThreadFolder, load: FileLoad, is_stopped: &dyn Fn() -> bool) -> io::Result<bool> {
    // Not zeros, which a file system may leave out.
    let data = vec![0x5a; load.bytes_per_file as usize];
    for number in 0..load.files_per_thread {
        if number.is_multiple_of(FILES_PER_LOOK) && is_stopped() {
            return Ok(false);
        }
        let file = folder.create(u64::from(number))?;
        if !data.is_empty() {
            file.write_all_at(&data, 0)?;
        }
    }
    folder.write_out()?;
    Ok(true)
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
    let folder = target.thread_folder(&name_of(step, worker)).map_err(|error| {
        let what = msg!("engine-making-files", target = target.id.as_str().to_owned());
        StepFailure::failed(what, &error, msg!("engine-making-files-help"))
    })?;
    Ok(Folder::new(folder, load, step.workload.durability.sync.is_some()))
}

/// The engine of files goes with folders and with loads of files, and neither without it.
pub(crate) fn not_alone(step: &Step, id: &TargetId) -> StepFailure {
    refused(engine_on_target(step.engine.name, id), msg!("engine-files-alone"), msg!("engine-files-alone-help"))
}
