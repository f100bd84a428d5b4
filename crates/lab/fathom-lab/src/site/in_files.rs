//! Steps that make, look at and remove whole files: the folders that are made for them, and whether there is room.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_engine::lay_out_files;
use fathom_host::{
    Binding, Bindings, FILES_FOLDER_PREFIX, OwnFolder, Root, check_new_file, device_of, free_bytes, free_files,
    whole_device_of,
};
use fathom_message::{Message, Quantity, msg};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::{Progress, StepFailure, Warning};

use super::SiteControl;
use super::bind::SPARE_BYTES;
use super::real::RealSite;

/// What a file takes beside its data, where inodes are not made beforehand: its inode, twice, and its name.
const BYTES_BESIDE_A_FILE: u64 = 1 << 10;
/// A file's data takes whole blocks of the file system; few have larger ones.
const FILE_BLOCK_BYTES: u64 = 4 << 10;

/// The folders of a step, which go with this.
#[derive(Debug, Default)]
pub(super) struct Folders {
    own: Vec<OwnFolder>,
    targets: Vec<TargetId>,
    /// Index of each step that needs files, with the files created per thread.
    files_per_thread: Vec<(u32, u32)>,
}

impl Folders {
    /// The step as it can be run in these folders, and a warning if it has fewer files than it asked for.
    pub(super) fn fitted(&self, step: &Step) -> (Step, Option<Warning>) {
        let made = self.files_per_thread.iter().find(|(index, _)| *index == step.index).map(|(_, made)| *made);
        let mut fitted = step.clone();
        match (&mut fitted.workload.order.files, made) {
            (Some(load), Some(made)) if made < load.files_per_thread => {
                let asked = std::mem::replace(&mut load.files_per_thread, made).to_string();
                let text = msg!("lab-files-fewer", made = made.to_string(), asked = asked);
                (fitted, Some(Warning::Note { text }))
            }
            _ => (fitted, None),
        }
    }
}

/// Files to be made in a folder, and what they hold.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    files: u64,
    bytes: u64,
}

impl RealSite {
    /// Makes a folder in each target of those of `steps` that work on files, and adds it to `bindings`; with the files
    /// that must be there. Nothing is made where there is no room for all of it.
    ///
    /// # Errors
    /// No folder, no right, no room.
    pub(super) fn folders_for(
        &self,
        steps: &[Step],
        bindings: &mut Bindings,
        control: &mut SiteControl<'_>,
    ) -> Result<Folders, StepFailure> {
        let on_files: Vec<&Step> = steps.iter().filter(|step| step.workload.order.files.is_some()).collect();
        for step in &on_files {
            for target in &step.targets {
                let folder = self.path_of(target);
                if !folder.is_dir() {
                    let help = msg!("lab-files-folder-help");
                    let why = msg!("lab-files-folder", path = folder.display().to_string());
                    return Err(StepFailure::Refused { what: label_of(step), why, help });
                }
            }
        }
        self.has_room_for_files(&on_files)?;
        let mut folders = Folders::default();
        for step in &on_files {
            for target in &step.targets {
                // Streams have one folder of a target for all of them.
                if folders.targets.contains(target) {
                    continue;
                }
                let path = self.path_of(target);
                let own = OwnFolder::create(&path, FILES_FOLDER_PREFIX)
                    .map_err(|e| StepFailure::failed(label_of(step), &e, msg!("lab-files-place-help")))?;
                bindings.add(Binding::folder(&Root::live(), target.clone(), &own));
                folders.own.push(own);
                folders.targets.push(target.clone());
            }
            let begun = Instant::now();
            let within = control.making_within;
            let mut go_on = |made: u32| {
                (control.on_progress)(&making_files(step, made, begun.elapsed()));
                !control.is_stopped()
            };
            let made = lay_out_files(step, bindings, &mut go_on, within)?;
            // A stopped step also has fewer files, but needs no warning about the time budget.
            if made > 0 && control.making_within.is_some() {
                folders.files_per_thread.push((step.index, made));
            }
        }
        Ok(folders)
    }

    /// Refuses files that their file systems have no room for, all steps and targets together.
    fn has_room_for_files(&self, steps: &[&Step]) -> Result<(), StepFailure> {
        let mut needs: BTreeMap<u64, (PathBuf, Need)> = BTreeMap::new();
        for step in steps {
            let Some(load) = step.workload.order.files else { continue };
            let data_bytes = u64::from(load.bytes_per_file).next_multiple_of(FILE_BLOCK_BYTES);
            for (target, threads) in step.targets.iter().zip(step.workers_by_target()) {
                let path = self.path_of(target);
                let device = device_of(&path).map_err(|e| not_seen(step, &e))?;
                let need = &mut needs.entry(device).or_insert_with(|| (path, Need::default())).1;
                let files = u64::from(load.files_per_thread).saturating_mul(threads.len() as u64);
                need.files = need.files.saturating_add(files);
                need.bytes = need.bytes.saturating_add(files.saturating_mul(data_bytes + BYTES_BESIDE_A_FILE));
            }
        }
        let Some(step) = steps.first() else { return Ok(()) };
        needs.values().try_for_each(|(folder, need)| has_room(step, folder, need.files, need.bytes))
    }

    /// The whole devices below the folders that a step works in.
    pub(super) fn devices_of_folders(&self, step: &Step) -> Vec<String> {
        if step.workload.order.files.is_none() {
            return Vec::new();
        }
        let device = |path: PathBuf| whole_device_of(&Root::live(), &path).ok();
        step.targets.iter().filter_map(|target| Some(device(self.path_of(target))?.name)).collect()
    }
}

/// Removes what killed calls of the same user left in a folder that steps of `plan` work in; its paths.
pub(super) fn remove_left_folders(plan: &Plan, path_of: &dyn Fn(&TargetId) -> PathBuf) -> Vec<PathBuf> {
    let on_files = plan.steps.iter().filter(|step| step.workload.order.files.is_some());
    let mut folders: Vec<PathBuf> = on_files.flat_map(|step| &step.targets).map(path_of).collect();
    folders.sort();
    folders.dedup();
    folders.iter().flat_map(|folder| OwnFolder::remove_abandoned(folder, FILES_FOLDER_PREFIX)).collect()
}

fn label_of(step: &Step) -> Message {
    Message::verbatim(step.label.clone())
}

fn not_seen(step: &Step, error: &io::Error) -> StepFailure {
    StepFailure::failed(label_of(step), error, msg!("lab-files-place-help"))
}

/// Refuses files, which take so many bytes with all that belongs to them, that the file system has no room for.
pub(super) fn has_room(step: &Step, folder: &Path, files: u64, bytes: u64) -> Result<(), StepFailure> {
    let refused = |why, help| Err(StepFailure::Refused { what: label_of(step), why, help });
    check_new_file(&Root::live(), &folder.join("fathom-files"))
        .map_err(|e| StepFailure::refused(label_of(step), &e))?;
    let need_bytes = bytes.saturating_add(SPARE_BYTES);
    let have_bytes = free_bytes(folder).map_err(|e| not_seen(step, &e))?;
    if have_bytes < need_bytes {
        let (need, have) = (Quantity::bytes(need_bytes), Quantity::bytes(have_bytes));
        return refused(msg!("fio-run-no-space", need = need, have = have), msg!("fio-run-no-space-help"));
    }
    match free_files(folder).map_err(|e| not_seen(step, &e))? {
        Some(have) if have < files => {
            let why = msg!("fio-run-no-files", need = files.to_string(), have = have.to_string());
            refused(why, msg!("fio-run-no-files-help"))
        }
        _ => Ok(()),
    }
}

/// Progress of making the files of a step: of each thread `made` files in `elapsed`. The time left follows from that rate.
fn making_files(step: &Step, made: u32, elapsed: Duration) -> Progress {
    let all = step.workload.order.files.map_or(0, |load| load.files_per_thread);
    let elapsed_ns = elapsed.as_nanos() as u64;
    let each_ns = (made > 0).then(|| elapsed_ns as f64 / f64::from(made));
    let making_ns = each_ns.map_or(u64::MAX, |each| (f64::from(all.saturating_sub(made)) * each) as u64);
    Progress {
        elapsed_ns: 0,
        remaining_ns: making_ns.saturating_add(step.length.ramp_ns + step.length.budget_ns),
        iops: 0.0,
        bytes_per_s: 0.0,
        bytes_done: 0,
        p99_ns: None,
        activity: Some(msg!("activity-making-files", done = made, total = all)),
    }
}

#[cfg(test)]
mod tests {
    use fathom_plan::Knobs;

    use super::*;

    #[test]
    fn the_time_left_of_making_files_follows_from_their_rate() {
        let mut knobs = Knobs::new();
        for (key, value) in [("rw", "filestat"), ("nrfiles", "1000"), ("runtime", "10s")] {
            knobs.set(key, value).expect("a knob");
        }
        let plan = Plan::from_io(&knobs, vec![TargetId::new("/f")], "").expect("a plan");
        let left = |made: u32| making_files(&plan.steps[0], made, Duration::from_secs(6)).remaining_ns;
        assert_eq!(left(0), u64::MAX, "not known yet");
        let measured_ns = plan.steps[0].length.ramp_ns + plan.steps[0].length.budget_ns;
        assert_eq!(left(250), 18_000_000_000 + measured_ns);
    }
}
