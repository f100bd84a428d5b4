//! Steps that fio runs: on the targets that are bound for them, under the same sampler as Fathom's own.

use std::io;
use std::path::PathBuf;

use fathom_fio::{FioRun, run_by_fio};
use fathom_host::{Access, HostSampler, OpenFlags, Root, whole_device_of};
use fathom_plan::{FioPlace, Step, TargetId};
use fathom_record::{RunControl, StepFailure, StepRecord};

use super::SiteControl;
use super::in_files::has_room;
use super::measure::probe_failure;
use super::real::RealSite;

/// What a file takes beside its data, at most: its own block and that of its name.
const BYTES_BESIDE_A_FILE: u64 = 8 << 10;

/// fio's engine that takes the character device of an NVMe namespace and no other.
const PASSTHROUGH: &str = "io_uring_cmd";

impl RealSite {
    /// Runs steps at once by one call of fio; a record for each, in their order.
    ///
    /// # Errors
    /// [`StepFailure`], which is that of all.
    pub(super) fn measure_by_fio(
        &mut self,
        steps: &[Step],
        control: &mut SiteControl<'_>,
    ) -> Result<Vec<StepRecord>, StepFailure> {
        let root = Root::live();
        let mut names = Vec::new();
        for step in steps {
            names.extend(self.devices_of(step).into_iter().map(|d| d.name));
            let job = step.role.by_fio.as_ref();
            if let Some(FioPlace::Folder { files, bytes }) = job.map(|job| &job.place) {
                let folder = self.folder_of(step);
                let beside_bytes = files.saturating_mul(BYTES_BESIDE_A_FILE);
                has_room(step, &folder, *files, bytes.saturating_add(beside_bytes))?;
                names.extend(whole_device_of(&root, &folder).ok().map(|device| device.name));
            }
        }
        names.sort_unstable();
        names.dedup();
        let sampler = HostSampler::new(&root, names).map_err(|e| probe_failure(&e))?;
        let is_passing = |step: &Step| step.role.by_fio.as_ref().is_some_and(|job| job.ioengine == PASSTHROUGH);
        let passes = steps.iter().all(is_passing);
        let open = |target: &TargetId, writes: bool| {
            let not_bound = || io::Error::from(io::ErrorKind::NotFound);
            let binding = self.bound.bindings.get(target).ok_or_else(not_bound)?;
            // Commands are passed through the character device of the namespace, whatever it is called by.
            let character = passes.then(|| binding.as_character_device(&root)).transpose().map_err(io::Error::other)?;
            let binding = character.flatten().unwrap_or_else(|| binding.clone());
            binding.open(Access { writes, flags: OpenFlags::NONBLOCK }).map_err(io::Error::other)
        };
        let folder_of = |target: &TargetId| self.path_of(target);
        let run = FioRun { steps, open: &open, folder_of: &folder_of, sampler };
        let mut fio_control =
            RunControl { stop: control.stop, on_progress: control.on_progress, precise_enough: &|_, _| false };
        let mut records = run_by_fio(run, &mut fio_control)?;
        let is_stopped = fio_control.stopped();
        for (step, record) in steps.iter().zip(&mut records) {
            self.complete(step, record, is_stopped).map_err(|e| probe_failure(&e))?;
        }
        Ok(records)
    }

    fn folder_of(&self, step: &Step) -> PathBuf {
        step.targets.first().map_or_else(|| PathBuf::from("."), |target| self.path_of(target))
    }
}
