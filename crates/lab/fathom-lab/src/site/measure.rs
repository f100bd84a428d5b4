//! One step on this machine: placed, watched by a sampler of the host's counters, completed and proved.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions, StreamPlan};
use fathom_host::{
    Access, Binding, BlockDevice, DeviceKind, HostSampler, Mount, OpenFlags, OwnArray, PlacementError, ProbeError,
    Root, TargetKind, Topology, allocated_bytes, mount_of, open_to_read, page_cache_bytes, poll_obstacle,
    resolve_placement, unwritten_share,
};
use fathom_judge::{derived_warnings, disproof, slow_members, target_names};
use fathom_message::{Message, Say, msg};
use fathom_plan::{EngineName, Mode, Placement, Step, TargetId};
use fathom_record::{HostDelta, Interval, Progress, RunControl, Runner as _, StepFailure, StepRecord};
use fathom_stats::AdaptiveStop;

use super::SiteControl;
use super::real::RealSite;

/// Default time for which the idle host is sampled. The kernel counts CPU time in ticks of 10 ms, so a much shorter time
/// makes the CPU time per I/O less exact.
pub const IDLE_BASELINE: Duration = Duration::from_millis(500);

impl RealSite {
    /// Runs a step that moves data.
    ///
    /// # Errors
    /// [`StepFailure`], also when the counters disprove what the step claims to be.
    pub(super) fn measure(&mut self, step: &Step, control: &mut SiteControl<'_>) -> Result<StepRecord, StepFailure> {
        let topology = Topology::read(&Root::live()).map_err(|e| probe_failure(&e))?;
        let cpus = self.cpus_for(step, &topology)?;
        let devices = self.devices_of(step);
        refuse_unpollable(step, &devices)?;
        let files = self.open_files(step);
        let cached_before = cached_bytes(&files);
        let given_before = given_bytes(&files);
        let mut names: Vec<String> = devices.into_iter().map(|d| d.name).chain(self.devices_of_folders(step)).collect();
        names.sort_unstable();
        names.dedup();
        let mut bindings = self.bound.bindings.clone();
        // Before the counters are read for the first time.
        let folders = self.folders_for(std::slice::from_ref(step), &mut bindings, control)?;
        let (step, fewer_files) = &folders.fitted(step);
        let mounts = self.mounts_of(std::slice::from_ref(step))?;
        let sampler = HostSampler::new(&Root::live(), names).map_err(|e| probe_failure(&e))?;
        let sampler = sampler.with_mounts(&Root::live(), &mounts);
        let mut runner = HostRunner::new(HostRunnerOptions {
            bindings,
            cpus,
            probe: Some(Box::new(Probe(sampler))),
            gate: self.gate.take().map(|gate| gate.0),
        });
        let stopper = AdaptiveStop::new();
        let precise_enough = |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step);
        let arrays_before = self.array_counts();
        let refused = |error| StepFailure::refused(Message::verbatim(step.label.clone()), &error);
        self.begin_rebuilds().map_err(refused)?;
        let mut arrays = std::mem::take(&mut self.md_arrays);
        let ran = {
            let on_progress = &mut *control.on_progress;
            let mut looking = |progress: &Progress| {
                arrays.iter_mut().for_each(OwnArray::look_at_rebuild);
                on_progress(progress);
            };
            let (stop, on_progress) = (control.stop, &mut looking as &mut dyn FnMut(&Progress));
            runner.run(step, &mut RunControl { stop, on_progress, precise_enough: &precise_enough })
        };
        self.md_arrays = arrays;
        self.md_arrays.iter_mut().for_each(OwnArray::look_at_rebuild);
        drop(folders);
        let mut record = ran?;
        record.warnings.extend(fewer_files.clone());
        record.arrays.extend(self.array_records(&arrays_before));
        let is_stopped = control.is_stopped();
        let given = given_before.zip(given_bytes(&files)).map(|(before, after)| after.saturating_sub(before));
        if let Some(host) = &mut record.host {
            host.allocated_bytes = given;
        }
        self.complete(step, &mut record, is_stopped).map_err(|e| probe_failure(&e))?;
        disproof(step, &record, cached_before).map_or(Ok(record), Err)
    }

    /// Runs streams at once. The host's counters are those of all of them together: a stream's own record is completed
    /// without them.
    pub(super) fn measure_streams(
        &mut self,
        streams: &[Step],
        control: &mut SiteControl<'_>,
    ) -> Vec<Result<StepRecord, StepFailure>> {
        if streams.iter().any(|s| s.engine.name == EngineName::Fio) {
            return match self.measure_by_fio(streams, control) {
                Ok(records) => records.into_iter().map(Ok).collect(),
                Err(failure) => streams.iter().map(|_| Err(failure.clone())).collect(),
            };
        }
        self.try_measure_streams(streams, control)
            .unwrap_or_else(|failure| streams.iter().map(|_| Err(failure.clone())).collect())
    }

    fn try_measure_streams(
        &mut self,
        streams: &[Step],
        control: &mut SiteControl<'_>,
    ) -> Result<Vec<Result<StepRecord, StepFailure>>, StepFailure> {
        let topology = Topology::read(&Root::live()).map_err(|e| probe_failure(&e))?;
        let mut names = Vec::new();
        for step in streams {
            let devices = self.devices_of(step);
            refuse_unpollable(step, &devices)?;
            names.extend(devices.into_iter().map(|d| d.name).chain(self.devices_of_folders(step)));
        }
        names.sort_unstable();
        names.dedup();
        let mut bindings = self.bound.bindings.clone();
        let folders = self.folders_for(streams, &mut bindings, control)?;
        let (streams, fewer_files): (Vec<Step>, Vec<_>) = streams.iter().map(|step| folders.fitted(step)).unzip();
        let mut plans = Vec::new();
        for step in &streams {
            let stopper = AdaptiveStop::new();
            let precise_enough = Box::new(move |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step));
            plans.push(StreamPlan { step, cpus: self.cpus_for(step, &topology)?, precise_enough });
        }
        let mounts = self.mounts_of(&streams)?;
        let sampler = HostSampler::new(&Root::live(), names).map_err(|e| probe_failure(&e))?;
        let sampler = sampler.with_mounts(&Root::live(), &mounts);
        let probe: Option<Box<dyn HostProbe>> = Some(Box::new(Probe(sampler)));
        let mut runner = HostRunner::new(HostRunnerOptions { bindings, probe, ..HostRunnerOptions::default() });
        let mut control =
            RunControl { stop: control.stop, on_progress: control.on_progress, precise_enough: &|_, _| false };
        let mut results = runner.run_streams(plans, &mut control);
        drop(folders);
        let is_stopped = control.stopped();
        for ((step, fewer_files), result) in streams.iter().zip(fewer_files).zip(&mut results) {
            let Ok(record) = result else { continue };
            record.warnings.extend(fewer_files);
            let host = record.host.take();
            self.complete(step, record, is_stopped).map_err(|e| probe_failure(&e))?;
            record.host = host.map(|host| self.with_baseline(host));
        }
        Ok(results)
    }

    fn with_baseline(&self, mut host: HostDelta) -> HostDelta {
        if let Some(baseline) = &self.baseline {
            host.idle_baseline = baseline.idle_baseline;
            host.idle_baseline_window_ns = baseline.idle_baseline_window_ns;
        }
        host
    }

    /// CPUs of the workers in their order. `local` and `remote` are those of the node of the targets that each drives.
    pub(super) fn cpus_for(&self, step: &Step, topology: &Topology) -> Result<Vec<u32>, StepFailure> {
        let refused = |error: &PlacementError| StepFailure::refused(Message::verbatim(step.label.clone()), error);
        let workers = step.workers();
        if !matches!(step.placement, Placement::Local | Placement::Remote) {
            return resolve_placement(topology, &step.placement, workers, None).map_err(|e| refused(&e));
        }
        let node = |target: &TargetId| {
            let mut nodes = target.opened().into_iter().map(|t| self.bound.bindings.get(&t)?.device()?.numa_node);
            let first = nodes.next().flatten();
            first.filter(|_| nodes.all(|node| node == first))
        };
        let of_targets: Vec<Option<u32>> = step.targets.iter().map(node).collect();
        let node_of = |worker: u32| {
            let mut nodes = step.targets_of(worker).into_iter().map(|target| of_targets[target as usize]);
            let first = nodes.next().flatten();
            if nodes.all(|node| node == first) { Ok(first) } else { Err(targets_of_two_nodes(step)) }
        };
        let nodes: Vec<Option<u32>> = (0..workers).map(node_of).collect::<Result<_, _>>()?;
        let mut out = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            // Threads of one node share its CPUs, each on one of its own while there are enough.
            let before = nodes[..at].iter().filter(|n| *n == node).count();
            let all = nodes.iter().filter(|n| *n == node).count() as u32;
            let cpus = resolve_placement(topology, &step.placement, all, *node).map_err(|e| refused(&e))?;
            out.push(cpus[before % cpus.len()]);
        }
        Ok(out)
    }

    /// Adds what only the site knows: baseline, cache state, and the warnings that follow.
    pub(super) fn complete(
        &mut self,
        step: &Step,
        record: &mut StepRecord,
        is_stopped: bool,
    ) -> Result<(), ProbeError> {
        if self.baseline.is_none() && !is_stopped {
            self.baseline = Some(take_baseline(self.baseline_time)?);
        }
        let files = self.open_files(step);
        let region = step.workload.region;
        record.host = record.host.take().map(|host| self.with_baseline(host));
        if let Some(host) = &mut record.host {
            host.page_cache_bytes = cached_bytes(&files);
        }
        let files_bytes: u64 = files.iter().map(|(_, len)| len).sum();
        let footprint = match region.size_bytes {
            Some(size) => Some(size * step.targets.len() as u64),
            None => (files_bytes > 0).then_some(files_bytes),
        };
        let behind_loops = self.bindings_of(step).filter_map(file_behind_loop);
        let unwritten_pct = files
            .into_iter()
            .chain(behind_loops)
            .filter_map(|(f, len)| unwritten_share(&f, region.offset_bytes, region.size_bytes.unwrap_or(len)).ok())
            .map(|u| u.pct())
            .reduce(f64::max);
        record.warnings.extend(match &self.share {
            None => derived_warnings(step, record, footprint, unwritten_pct),
            // What the host did it did for all ranks on it: their merged record is held against it.
            Some(_) => derived_warnings(step, &StepRecord { host: None, ..record.clone() }, footprint, unwritten_pct),
        });
        record.warnings.extend(slow_members(step, record));
        Ok(())
    }

    /// The file systems that the targets of `steps` lie on: files, and folders that files are made in.
    fn mounts_of(&self, steps: &[Step]) -> Result<Vec<Mount>, StepFailure> {
        let on_storage = steps.iter().filter(|step| !step.is_without_storage());
        let paths = on_storage.flat_map(|step| {
            let files = self.bindings_of(step).filter(|b| b.kind() == TargetKind::File).map(|b| b.path().to_owned());
            let is_on_files = step.workload.order.files.is_some();
            let folders = step.targets.iter().filter(move |_| is_on_files).map(|target| self.path_of(target));
            files.chain(folders).collect::<Vec<_>>()
        });
        let real = paths.filter_map(|path| path.canonicalize().ok());
        let found = real.map(|path| mount_of(&Root::live(), &path)).collect::<Result<Vec<_>, _>>();
        Ok(found.map_err(|e| probe_failure(&e))?.into_iter().flatten().collect())
    }

    /// The step's regular files with their measured lengths; devices have neither page cache of ours nor extents.
    fn open_files(&self, step: &Step) -> Vec<(File, u64)> {
        let files = self.bindings_of(step).filter(|b| b.kind() == TargetKind::File);
        let open = |binding: &Binding| {
            let file = binding.open(Access { writes: false, flags: OpenFlags::empty() }).ok()?;
            let length = file.metadata().ok()?.len();
            Some((file, binding.made_bytes().unwrap_or(length)))
        };
        files.filter_map(open).collect()
    }
}

/// The file that a loop device shows from start to end: space that was never written in it is read without touching a
/// drive, just as in a file that is a target itself.
fn file_behind_loop(binding: &Binding) -> Option<(File, u64)> {
    let device = binding.device().filter(|d| binding.kind() == TargetKind::Block && d.kind == DeviceKind::Loop)?;
    let file = open_to_read(Path::new(device.slaves.first()?)).ok()?;
    let len = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    // A partition, or a window into the file, has other offsets than the file.
    (device.partition.is_none() && len == device.size_bytes).then_some((file, len))
}

/// What the page cache holds of the files; `None` without files, or where the kernel does not tell.
fn cached_bytes(files: &[(File, u64)]) -> Option<u64> {
    let cached: Option<u64> = files.iter().map(|(f, len)| page_cache_bytes(f, *len).ok()).sum();
    cached.filter(|_| !files.is_empty())
}

/// What the file systems gave to the files; `None` without files.
fn given_bytes(files: &[(File, u64)]) -> Option<u64> {
    let given: Option<u64> = files.iter().map(|(f, _)| allocated_bytes(f).ok()).sum();
    given.filter(|_| !files.is_empty())
}

/// CPU time that the host uses in `time` while Fathom does nothing.
///
/// # Errors
/// [`ProbeError`].
pub(super) fn take_baseline(time: Duration) -> Result<HostDelta, ProbeError> {
    let mut sampler = HostSampler::new(&Root::live(), Vec::new())?;
    sampler.take_baseline(time)?;
    sampler.begin()?;
    sampler.finish(1)
}

/// Refuses to poll a device that cannot be polled. Some kernels would run the I/O by interrupt and say nothing.
fn refuse_unpollable(step: &Step, devices: &[BlockDevice]) -> Result<(), StepFailure> {
    if step.engine.mode != Mode::Iopoll {
        return Ok(());
    }
    let root = Root::live();
    match devices.iter().find_map(|d| poll_obstacle(&root, d)) {
        None => Ok(()),
        Some(obstacle) => Err(StepFailure::refused(
            msg!("step-mode-on", mode = step.engine.mode.as_str(), targets = target_names(step)),
            &obstacle,
        )),
    }
}

struct Probe(HostSampler);

impl HostProbe for Probe {
    // The trait has no errors: a sample that cannot be had leaves `finish` without a result, and the record says so.
    fn prepare(&mut self) {
        self.0.prepare();
    }

    fn begin(&mut self) {
        let _ = self.0.begin_prepared();
    }

    fn interval(&mut self) {
        let _ = self.0.interval();
    }

    fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
        self.0.finish(window_ns).ok()
    }
}

/// The failure of a step on a host whose counters cannot be read.
pub(super) fn probe_failure(error: &ProbeError) -> StepFailure {
    StepFailure::Failed { what: msg!("step-not-sampled"), why: error.message(), help: msg!("probe-help") }
}

fn targets_of_two_nodes(step: &Step) -> StepFailure {
    StepFailure::Refused {
        what: Message::verbatim(step.label.clone()),
        why: msg!("lab-thread-of-two-nodes", placement = step.placement.kind().as_str()),
        help: msg!("lab-thread-of-two-nodes-help"),
    }
}
