//! This machine as a site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fathom_engine::{StartGate, engine_here};
use fathom_fio::has_spdk;
use fathom_host::settings::{SettingError, changes_for};
use fathom_host::{
    Binding, FileMark, HostFacts, OwnArray, ProbeError, Root, TargetKind, allow_open_files, device_by_name, free_bytes,
};
use fathom_message::{Message, msg};
use fathom_plan::{EngineName, FioPlace, NewFile, Phase, Plan, Step, TargetId};
use fathom_record::{FeatureUse, HostDelta, RunControl, StepFailure, StepRecord, Warning};
use fathom_store::MadeFile;

use super::bind::{
    Bound, Seen, Use, bytes_of_target, capacity_bytes, look_at, make_or_adopt, remove_abandoned, uses, with_regions,
};
use super::drives::DrivesToday;
use super::in_files::remove_left_folders;
use super::lay_out::lay_out;
use super::measure::{IDLE_BASELINE, take_baseline};
use super::rank_share::RankShare;
use super::settings::Settings;
use super::user_space::{TakenDrive, block_device_of, bound_by_hand, check_drives};
use super::{Looked, Moment, Permission, Site, SiteControl, SiteError, TargetError, purge};
use crate::conduct::{ConductOptions, is_cut};
use crate::machine::host_json;

/// New files that are written by one step: each is a target of it.
const FILES_AT_ONCE: usize = 64;
/// Open files of this process beside its targets: the lab, the sampler's sources, rings.
const OPEN_BESIDE_TARGETS: u64 = 256;

/// This machine, for one run.
#[derive(Debug)]
pub(crate) struct RealSite {
    pub(super) permission: Permission,
    /// Where the drives of a run that goes on are today.
    pub(super) today: DrivesToday,
    pub(super) bound: Bound,
    /// Targets at the last look, pinned but not claimed: the targets that are bound must be the same.
    looked_at: BTreeMap<TargetId, Binding>,
    /// Arrays of Linux md that are there for the step.
    pub(super) md_arrays: Vec<OwnArray>,
    /// Drives that are in user space for the step.
    pub(super) taken: Vec<TakenDrive>,
    pub(super) settings: Settings,
    /// Idle CPU time and its window, once taken.
    pub(super) baseline: Option<HostDelta>,
    /// Time for which the idle host is sampled.
    pub(super) baseline_time: Duration,
    /// What this rank has of the targets, where several run the plan.
    pub(super) share: Option<RankShare>,
    /// Says when the next step begins; without it as soon as it can.
    pub(super) gate: Option<StartOfStep>,
    made: Instant,
}

/// A gate, for the sites that are printed in tests.
pub(super) struct StartOfStep(pub(super) Box<dyn StartGate>);

impl std::fmt::Debug for StartOfStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StartOfStep")
    }
}

impl RealSite {
    /// A site with nothing bound.
    pub(crate) fn new(permission: Permission, today: DrivesToday, options: &ConductOptions) -> RealSite {
        RealSite {
            permission,
            today,
            bound: Bound::default(),
            looked_at: BTreeMap::new(),
            md_arrays: Vec::new(),
            taken: Vec::new(),
            settings: Settings::new(&options.journal_dir, &options.command_line),
            baseline: None,
            baseline_time: options.idle_baseline.unwrap_or(IDLE_BASELINE),
            share: None,
            gate: None,
            made: Instant::now(),
        }
    }

    /// Where a target is today.
    pub(super) fn path_of(&self, target: &TargetId) -> PathBuf {
        // What several drives are behind is refused before it is opened (`check_drives`).
        let path = block_device_of(target).ok().flatten().unwrap_or_else(|| self.today.path_of(target));
        self.own_path(target, path)
    }

    /// The next step begins when `gate` says.
    pub(crate) fn set_gate(&mut self, gate: Box<dyn StartGate>) {
        self.gate = Some(StartOfStep(gate));
    }

    /// Each target with what it is, or the file that is to be made for it; but not those with one of `files`.
    /// `own_data`: as in [`RealSite::look_at`].
    fn seen(
        &mut self,
        plan: &Plan,
        files: &[MadeFile],
        own_data: bool,
    ) -> Result<BTreeMap<TargetId, Seen>, TargetError> {
        let mut out = BTreeMap::new();
        self.looked_at.clear();
        for (target, used) in uses(plan)? {
            if !files.iter().any(|file| file.target == target) {
                let seen = self.look_at(plan, &target, used, own_data)?;
                // A drive that this process drives has no path, and a copy of its binding would keep the drive open.
                if let Seen::There(binding) = &seen
                    && binding.kind() != TargetKind::UserSpace
                {
                    self.looked_at.insert(target.clone(), binding.without_claim());
                }
                out.insert(target, seen);
            }
        }
        self.check_space(&out)?;
        Ok(out)
    }

    /// `own_data`: the run wrote to its drives before, so data on them that nobody recognises is its own.
    fn look_at(&self, plan: &Plan, target: &TargetId, used: Use, own_data: bool) -> Result<Seen, TargetError> {
        let path = self.own_file(self.path_of(target));
        if let Some(address) = bound_by_hand(target) {
            let bound = self.bind_bound(target, &address, used.writes).map_err(TargetError::Taken)?;
            return Ok(Seen::There(Box::new(bound)));
        }
        self.permission.with_permit(plan, target, own_data, |permit| look_at(target, &path, used, permit))
    }

    /// What a target is, which is a device; with the permission of this run, on data of its own.
    pub(super) fn look_at_device(&self, target: &TargetId, used: Use) -> Result<Binding, TargetError> {
        let path = self.path_of(target);
        match self.permission.with_device_permit(|permit| look_at(target, &path, used, permit))? {
            Seen::There(binding) => Ok(*binding),
            Seen::ToMake { path, .. } => Err(TargetError::Io { path, source: std::io::ErrorKind::NotFound.into() }),
        }
    }

    /// Notes for values of `--destroy` that match no device this run writes to. None for ranks, whose targets differ, and for
    /// drives in user space, which the kernel does not list.
    fn useless_consents(&self) -> Vec<Message> {
        let is_unknown = |binding: &Binding| binding.kind() == TargetKind::UserSpace;
        if self.share.is_some() || self.bound.bindings.iter().any(is_unknown) {
            return Vec::new();
        }
        let consents: Vec<_> = self.bound.bindings.iter().filter_map(Binding::consent).collect();
        let is_useless = |value: &&String| !consents.iter().any(|consent| consent.is_by(value));
        let useless = self.permission.destroy.iter().filter(is_useless);
        useless.map(|value| msg!("target-useless-consent", value = value.clone())).collect()
    }

    /// Several new files share what is free on their file system.
    fn check_space(&self, seen: &BTreeMap<TargetId, Seen>) -> Result<(), TargetError> {
        let mut needed: BTreeMap<&Path, u64> = BTreeMap::new();
        for seen in seen.values() {
            let Seen::ToMake { path, bytes } = seen else { continue };
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let need = needed.entry(folder).or_default();
            *need = need.saturating_add(fathom_host::file_bytes(*bytes));
        }
        for (folder, bytes) in needed {
            let free = free_bytes(folder).map_err(|source| TargetError::Io { path: folder.to_owned(), source })?;
            let need_bytes = bytes.saturating_add(super::bind::SPARE_BYTES);
            if free < need_bytes {
                return Err(TargetError::NoSpace { path: folder.to_owned(), need_bytes, free_bytes: free });
            }
        }
        Ok(())
    }

    /// The files that are to be made, each with its mark.
    fn files_to_make(&self, seen: &BTreeMap<TargetId, Seen>) -> Result<Vec<MadeFile>, TargetError> {
        let mut files = Vec::new();
        for (target, seen) in seen {
            let Seen::ToMake { path, bytes } = seen else { continue };
            let mark = FileMark::new().map_err(|source| TargetError::Io { path: path.clone(), source })?;
            let is_kept = self.permission.keep_files;
            files.push(MadeFile { target: target.clone(), path: path.clone(), bytes: *bytes, mark, is_kept });
        }
        Ok(files)
    }

    /// The step's targets as they are bound.
    pub(super) fn bindings_of<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = &'a Binding> {
        // An array of md is bound itself while it is there; its members are md's.
        let bound = |target: &'a TargetId| match self.bound.bindings.get(target) {
            Some(binding) if target.md_array().is_some() => vec![binding],
            _ => target.opened().iter().filter_map(|target| self.bound.bindings.get(target)).collect(),
        };
        step.targets.iter().flat_map(bound)
    }

    /// The whole devices below the step's targets as they are now, without repeats; the `null` engine has none.
    pub(super) fn devices_of(&self, step: &Step) -> Vec<fathom_host::BlockDevice> {
        if step.is_without_storage() {
            return Vec::new();
        }
        // A drive in user space is no device of the kernel's: another may have its name meanwhile.
        let with_kernel = self.bindings_of(step).filter(|binding| binding.kind() != TargetKind::UserSpace);
        let mut names: Vec<&str> = with_kernel.filter_map(|b| Some(b.device()?.name.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        // A setting may have changed since they were bound.
        names.into_iter().filter_map(|name| device_by_name(&Root::live(), name).ok()).collect()
    }
}

impl Site for RealSite {
    fn tidy(&mut self, plan: &Plan) -> Vec<(Option<FileMark>, Message)> {
        let opened = plan.steps.iter().flat_map(|s| &s.targets).flat_map(TargetId::opened);
        let folders = opened.map(|t| self.path_of(&t)).filter(|p| p.is_dir());
        let mut folders: Vec<PathBuf> = folders.collect();
        folders.sort();
        folders.dedup();
        let files = folders.iter().flat_map(|folder| remove_abandoned(folder, &self.permission));
        let mut removed: Vec<_> = files.map(|(mark, remark)| (Some(mark), remark)).collect();
        let left = remove_left_folders(plan, &|target| self.path_of(target));
        removed.extend(left.iter().map(|path| (None, msg!("target-leftover-removed", path = path))));
        removed
    }

    fn work_folders(&self, plan: &Plan) -> Vec<PathBuf> {
        let is_in_folder = |step: &&Step| {
            let by_fio = step.role.by_fio.as_ref().is_some_and(|job| matches!(job.place, FioPlace::Folder { .. }));
            by_fio || step.workload.order.files.is_some()
        };
        let targets = plan.steps.iter().filter(is_in_folder).flat_map(|step| &step.targets);
        let links = plan.steps.iter().any(|step| step.role.by_fio.is_some()).then(std::env::temp_dir);
        targets.map(|target| self.path_of(target)).chain(links).collect()
    }

    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError> {
        let plan = &with_engines_here(plan);
        check_drives(plan, &self.permission, &|target| self.path_of(target))?;
        let seen = self.seen(plan, &[], false)?;
        check_settings(plan, &seen)?;
        self.note_share(plan, &seen)?;
        let bytes_of = |target: &TargetId| match seen.get(target) {
            Some(Seen::ToMake { bytes, .. }) => Ok((*bytes, true)),
            Some(Seen::There(binding)) => capacity_bytes(binding).map(|bytes| (bytes, false)),
            None => Ok((u64::MAX, false)),
        };
        for array in arrays_of(plan) {
            bytes_of_target(&array, &bytes_of)?;
        }
        let looked = self.with_whole_regions(with_regions(plan, &bytes_of)?, &seen)?;
        Ok(Looked { plan: looked, files: self.files_to_make(&seen)? })
    }

    fn to_make_again(&mut self, plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<MadeFile>, TargetError> {
        let seen = self.seen(plan, files, begun)?;
        self.note_share(plan, &seen)?;
        self.files_to_make(&seen)
    }

    fn drives_today(&self) -> DrivesToday {
        self.today.clone()
    }

    fn host_json(&mut self, plan: &Plan) -> Result<String, ProbeError> {
        let mut targets: Vec<TargetId> =
            plan.steps.iter().flat_map(|s| &s.targets).flat_map(TargetId::opened).collect();
        targets.sort();
        targets.dedup();
        let paths: Vec<(TargetId, PathBuf)> = targets
            .into_iter()
            // Of a drive that is bound the kernel knows nothing.
            .filter(|target| !target.is_null() && bound_by_hand(target).is_none())
            .map(|target| (target.clone(), self.path_of(&target)))
            .collect();
        let facts = HostFacts::collect(&Root::live(), &paths)?;
        Ok(host_json(&Root::live(), &facts))
    }

    fn memory_bytes_per_s(&mut self, plan: &Plan) -> Option<u64> {
        // One step by hand starts at once.
        (plan.steps.len() > 1).then(|| fathom_host::memory_bytes_per_s(&Root::live())).flatten()
    }

    fn bind(&mut self, plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<Message>, TargetError> {
        let root = Root::live();
        let mut notes = self.today.notes();
        check_drives(plan, &self.permission, &|target| self.path_of(target))?;
        // Into its place at once: files that were made before an error are known, and given back.
        self.bound = Bound::default();
        let looked_at = std::mem::take(&mut self.looked_at);
        let mut unfilled = Vec::new();
        let uses = uses(plan)?;
        allow_open(uses.len())?;
        for (target, used) in uses {
            let Some(file) = files.iter().find(|f| f.target == target) else {
                match self.look_at(plan, &target, used, begun)? {
                    Seen::There(binding) => {
                        if let Some(before) = looked_at.get(&target) {
                            binding.check_unchanged(before).map_err(TargetError::Open)?;
                        }
                        if binding.consent().is_some_and(|consent| consent.device().is_none()) {
                            notes.push(msg!("target-overwritten", path = binding.path()));
                        }
                        let by_hand = |s: &&Step| s.role.job.is_none() && s.targets.contains(&target);
                        if let Some(step) = plan.steps.iter().filter(by_hand).find(|s| !s.role.new_file.is_default()) {
                            let word = step.role.new_file.as_str();
                            notes.push(msg!("target-no-new-file", word = word, path = binding.path()));
                        }
                        self.bound.bindings.add(*binding);
                    }
                    Seen::ToMake { path, .. } => {
                        return Err(TargetError::Io { path, source: std::io::ErrorKind::NotFound.into() });
                    }
                }
                continue;
            };
            let (own, is_adopted) = make_or_adopt(file)?;
            // A kill while it was laid out leaves holes.
            let is_filled =
                used.filled_by_step || !used.new_file().is_default() || is_adopted && begun && own.is_written();
            let consent = own.consent(&root);
            let is_begun = is_adopted && begun;
            if used.new_file() == NewFile::Allocated
                && !is_begun
                && let Err(error) = own.allocate()
            {
                // As fio, which goes on: each write then gets its space itself.
                let why = error.to_string();
                notes.push(msg!("target-not-allocated", path = file.path.clone(), why = why));
            }
            self.bound.own.push(own);
            let io = |source| TargetError::Io { path: file.path.clone(), source };
            let binding = Binding::to_write(&root, target.clone(), consent.map_err(io)?).map_err(io)?;
            self.bound.bindings.add(binding.with_made_bytes(file.bytes));
            if !is_filled && !used.in_array {
                self.bound.to_fill.push(target.clone());
            }
            unfilled.extend((!is_filled).then_some(target));
        }
        // Through the array: so its parities and copies are right from the start.
        for array in arrays_of(plan).filter(|array| array.opened().iter().any(|member| unfilled.contains(member))) {
            let held = |member: &TargetId| match self.bound.bindings.get(member) {
                Some(binding) => Ok((capacity_bytes(binding)?, binding.made_bytes().is_some())),
                None => Ok((u64::MAX, false)),
            };
            let (bytes, _) = bytes_of_target(&array, &held)?;
            self.bound.bindings.add(Binding::array(array.clone()).with_made_bytes(bytes));
            self.bound.to_fill.push(array);
        }
        notes.extend(self.useless_consents());
        Ok(notes)
    }

    fn prepare(&mut self, plan: &Plan, control: &mut SiteControl<'_>) -> Result<(), SiteError> {
        let unfilled = std::mem::take(&mut self.bound.to_fill);
        let unfilled: Vec<&Binding> = unfilled.iter().filter_map(|target| self.bound.bindings.get(target)).collect();
        for alike in unfilled.chunk_by(|a, b| is_laid_out_with(a, b)).flat_map(|alike| alike.chunks(FILES_AT_ONCE)) {
            lay_out(alike, &self.bound.bindings, plan, control).map_err(SiteError::LayOut)?;
        }
        // One step by hand starts at once and takes its baseline afterwards; a study can afford to wait first, and ranks must:
        // after a step each would see what the others still do.
        if (plan.steps.len() > 1 || plan.ranks.is_some()) && !control.is_stopped() {
            self.baseline = Some(take_baseline(self.baseline_time).map_err(SiteError::Probe)?);
        }
        Ok(())
    }

    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError> {
        if let Err(failure) = self.arrays_for(&[step])? {
            return Ok(Err(self.today.explain(step, failure)));
        }
        // No drive leaves the kernel for a program that is not there.
        if step.engine.name == EngineName::Spdk
            && let Err(failure) = has_spdk(step)
        {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.drives_for(&[step])? {
            return Ok(Err(self.today.explain(step, failure)));
        }
        let in_force = match self.settings_for(step)? {
            Ok(in_force) => in_force,
            Err(failure) => return Ok(Err(failure)),
        };
        let result = self.run_step(step, control).map(|mut record| {
            record.features.extend(in_force);
            self.today.name_as_then(step, &mut record);
            record
        });
        Ok(result.map_err(|failure| self.today.explain(step, failure)))
    }

    fn run_streams(
        &mut self,
        streams: &[Step],
        control: &mut SiteControl<'_>,
    ) -> Result<Vec<Result<StepRecord, StepFailure>>, SettingError> {
        if let Err(failure) = self.arrays_for(&streams.iter().collect::<Vec<_>>())? {
            return Ok(streams.iter().map(|_| Err(failure.clone())).collect());
        }
        if let Err(failure) = self.drives_for(&streams.iter().collect::<Vec<_>>())? {
            return Ok(streams.iter().map(|_| Err(failure.clone())).collect());
        }
        // Settings are the host's, not a stream's: all streams of a set are planned with the same.
        let in_force = match self.settings_for(&streams[0])? {
            Ok(in_force) => in_force,
            Err(failure) => return Ok(streams.iter().map(|_| Err(failure.clone())).collect()),
        };
        let mut results = self.measure_streams(streams, control);
        for (step, result) in streams.iter().zip(&mut results) {
            match result {
                Ok(record) => {
                    record.features.extend(in_force.iter().cloned());
                    self.today.name_as_then(step, record);
                }
                Err(failure) => *failure = self.today.explain(step, failure.clone()),
            }
        }
        Ok(results)
    }

    fn recall(&mut self, _step: &Step, _record: &StepRecord, _stop: &AtomicBool) -> Result<(), StepFailure> {
        // Files and drives keep what was done to them.
        Ok(())
    }

    fn restore(&mut self) -> Result<(), SettingError> {
        // Nor is a drive that somebody else has.
        let _ = self.give_drives_back()?;
        // A member that somebody else has by now is no setting of ours.
        let _ = self.remove_arrays()?;
        self.settings.restore()
    }

    fn keep_files(&mut self) {
        self.permission.keep_files = true;
    }

    fn release(&mut self) -> Vec<FileMark> {
        // What stays is in the journal.
        let _ = self.give_drives_back();
        let _ = self.remove_arrays();
        self.bound.bindings = fathom_host::Bindings::default();
        let own = std::mem::take(&mut self.bound.own);
        if self.permission.keep_files {
            return Vec::new();
        }
        let removed = own.into_iter().filter_map(|file| {
            let mark = file.mark();
            // One that cannot be removed is known to the lab, and the next run in its folder tries again.
            file.remove().ok().map(|()| mark)
        });
        removed.collect()
    }

    fn now(&self) -> Moment {
        let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        Moment { unix_ns, elapsed: self.made.elapsed() }
    }

    fn is_in_real_time(&self) -> bool {
        true
    }
}

impl Drop for RealSite {
    /// Whatever ended the run: files that are not kept go, settings are put back by their own owner.
    fn drop(&mut self) {
        self.release();
    }
}

impl RealSite {
    /// Puts the settings of a step in force. The outer error ends the run.
    fn settings_for(&mut self, step: &Step) -> Result<Result<Vec<FeatureUse>, StepFailure>, SettingError> {
        let devices: Vec<String> = match step.role.settings.is_empty() {
            true => Vec::new(),
            false => self.devices_of(step).into_iter().map(|d| d.name).collect(),
        };
        let ensured = self.settings.ensure(&step.role.settings, &devices)?;
        Ok(ensured.map_err(|failure| self.today.explain(step, failure)))
    }

    fn run_step(&mut self, step: &Step, control: &mut SiteControl<'_>) -> Result<StepRecord, StepFailure> {
        let step = &self.own_step(step).ok_or_else(|| StepFailure::Refused {
            what: Message::verbatim(step.label.clone()),
            why: msg!("ranks-no-block"),
            help: msg!("ranks-no-block-help"),
        })?;
        if step.phase == Phase::Purge {
            let now = self.now().unix_ns;
            let mut control =
                RunControl { stop: control.stop, on_progress: control.on_progress, precise_enough: &|_, _| false };
            return purge::purge(step, &self.bound.bindings, &mut control, now);
        }
        if step.engine.name == EngineName::Fio {
            let mut records = self.measure_by_fio(std::slice::from_ref(step), control)?;
            return Ok(records.remove(0));
        }
        if step.engine.name == EngineName::Spdk {
            return self.measure_by_spdk(step, control);
        }
        let Some(total_bytes) = super::lay_out::bytes_to_write(step) else { return self.measure(step, control) };
        let on_progress = &mut *control.on_progress;
        let mut in_bytes = |p: &fathom_record::Progress| on_progress(&super::lay_out::in_bytes(p, total_bytes));
        let mut record = self.measure(step, &mut SiteControl::new(control.stop, &mut in_bytes))?;
        let done_pct = record.bytes() as f64 / total_bytes as f64 * 100.0;
        if done_pct < 99.5 && !is_cut(&record) && record.errors() == 0 {
            record.warnings.push(Warning::CutShort { done_pct });
        }
        Ok(record)
    }
}

/// The plan with the engines that this system has for what it asks.
fn with_engines_here(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.steps.iter_mut().for_each(|step| step.engine = engine_here(step.engine));
    plan
}

/// Lets so many targets be open at once: each has a file, its folder and its consent, and a thread one of its own.
fn allow_open(targets: usize) -> Result<(), TargetError> {
    let need = OPEN_BESIDE_TARGETS + 4 * targets as u64;
    match allow_open_files(need) {
        Ok(limit) if limit < need => Err(TargetError::TooManyOpen { need, limit }),
        // Whether more are needed is seen when they are opened.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether two files can be written by one step.
fn is_laid_out_with(a: &Binding, b: &Binding) -> bool {
    let is_file = |binding: &Binding| binding.kind() == TargetKind::File;
    is_file(a) && is_file(b) && a.made_bytes() == b.made_bytes()
}

/// The arrays of a plan, each once: as they are while no member of theirs is rebuilt.
fn arrays_of(plan: &Plan) -> impl Iterator<Item = TargetId> + use<> {
    let named = plan.steps.iter().flat_map(|s| &s.targets).filter_map(|target| match target.array()? {
        Ok(array) => Some(array.at_rest().target()),
        Err(_) => Some(target.clone()),
    });
    named.collect::<BTreeSet<TargetId>>().into_iter()
}

/// Whether every setting that steps want can be had, before the first of them runs.
fn check_settings(plan: &Plan, seen: &BTreeMap<TargetId, Seen>) -> Result<(), TargetError> {
    let root = Root::live();
    // An array of md is not there yet: what it takes is seen when it is.
    let on_md = |step: &Step| step.targets.iter().any(|target| target.md_array().is_some());
    for step in plan.steps.iter().filter(|s| !s.role.settings.is_empty() && !on_md(s)) {
        let device = |target: &TargetId| match seen.get(target)? {
            Seen::There(binding) => binding.device().map(|d| d.name.clone()),
            Seen::ToMake { path, .. } => fathom_host::whole_device_of(&root, path).ok().map(|d| d.name),
        };
        let opened: Vec<TargetId> = step.targets.iter().flat_map(TargetId::opened).collect();
        let mut devices: Vec<String> = opened.iter().filter_map(device).collect();
        devices.sort();
        devices.dedup();
        for setting in &step.role.settings {
            let wanted = format!("{}={}", setting.name, setting.value);
            let changes = changes_for(&root, &wanted, &devices);
            let checked = changes.and_then(|changes| {
                changes.iter().try_for_each(|change| change.setting.checked(&root, &change.value).map(|_| ()))
            });
            checked.map_err(TargetError::Setting)?;
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use fathom_host::OpenError;
    use fathom_plan::{OpMix, StudyHead};

    use super::*;

    /// Binds a target after `swap`, which runs between the look at the target and its opening.
    fn bound_after(read_pct: u8, swap: impl FnOnce(&Path, &Path)) -> Result<Vec<Message>, TargetError> {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, other) = (folder.path().join("named"), folder.path().join("other"));
        fs::write(&target, vec![1; 1 << 20]).expect("a file");
        fs::write(&other, vec![2; 1 << 20]).expect("a file");
        let mut step = crate::samples::step();
        step.targets = vec![TargetId::new(target.to_string_lossy())];
        step.workload.mix = OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 };
        step.workload.region.size_bytes = Some(1 << 20);
        let plan = Plan {
            study: StudyHead::new("own", "?"),
            source: String::new(),
            steps: vec![step],
            notes: Vec::new(),
            job_files: Vec::new(),
            machine: None,
            ranks: None,
        };
        let permission = Permission { overwrite: true, ..Permission::default() };
        let mut site = RealSite::new(permission, DrivesToday::default(), &ConductOptions::default());
        let looked = site.look(&plan).expect("is there");
        swap(&target, &other);
        site.bind(&looked.plan, &looked.files, false)
    }

    #[test]
    fn what_was_looked_at_is_what_is_opened() {
        for read_pct in [0, 100] {
            assert!(bound_after(read_pct, |_, _| {}).is_ok());
            let by_link = bound_after(read_pct, |target, other| {
                fs::remove_file(target).and_then(|()| symlink(other, target)).expect("a link");
            });
            assert!(matches!(by_link, Err(TargetError::Open(OpenError::Changed { .. }))), "{by_link:?}");
            let by_name = bound_after(read_pct, |target, other| fs::rename(other, target).expect("renamed"));
            assert!(matches!(by_name, Err(TargetError::Open(OpenError::Changed { .. }))), "{by_name:?}");
        }
    }
}
