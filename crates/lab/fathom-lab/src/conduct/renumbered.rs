//! Drives that the kernel numbers otherwise than when the run began. Plan and steps keep the names they had, so that
//! groups, pairs and figures by target stay whole; what touches the machine goes by the names of today.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use fathom_host::inspect::clean;
use fathom_host::{BlockDevice, DriveIdentity, TargetFacts};
use fathom_plan::{Plan, Step, Target};
use fathom_record::{FeatureUse, StepFailure, StepRecord, Warning};

use super::same_host::{Seen, behind, described, part_of};
use crate::machine::end_of;

/// A target under its two names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moved {
    then: String,
    now: String,
    /// End of the drive's serial number: notes are kept in records, which are passed on.
    serial_end: String,
}

/// Names of a run's drives, then and now; empty when they are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renumbered {
    targets: Vec<Moved>,
    /// Kernel names of drives and of what interrupts for them: from today's to the ones of then.
    names_then: BTreeMap<String, String>,
}

impl Renumbered {
    /// Looks for the drives of `then` that their paths lead to no longer; `now` holds what is behind those paths now.
    ///
    /// # Errors
    /// For each drive that is not here, or not to be told from others, a sentence.
    pub(super) fn find(then: Seen<'_>, now: Seen<'_>) -> Result<Renumbered, Vec<String>> {
        let (Some(drives_then), Some(drives_now)) = (then.drives, now.drives) else { return Ok(Renumbered::default()) };
        let mut found = Renumbered { targets: Vec::new(), names_then: names_then(drives_then, drives_now) };
        let mut lost = Vec::new();
        for target in &then.facts.targets {
            // What has no serial number cannot be looked for.
            let Some((device, drive)) = target.device.as_ref().and_then(|d| Some((d, then.identity(d)?))) else {
                continue;
            };
            let device_now = now.target(&target.path).and_then(|t| t.device.as_ref());
            let still_there = device_now.and_then(|d| now.identity(d)).is_some_and(|d| d.is_same(drive));
            // A file is where its path leads, on whatever drive.
            if still_there || !is_node(target) {
                continue;
            }
            match only_match(drive, drives_then, drives_now) {
                Ok(today) => found.targets.push(Moved {
                    then: target.path.clone(),
                    now: path_today(&target.path, device, &today.name),
                    serial_end: end_of(&clean(&drive.serial)),
                }),
                Err(why) => lost.push(format!(
                    "the drive behind {} was {}; {why}, and {}",
                    target.path,
                    behind(then, target),
                    match now.target(&target.path).filter(|t| t.device.is_some()) {
                        Some(other) => format!("{} is now {}", target.path, behind(now, other)),
                        None => format!("there is no {}", target.path),
                    }
                )),
            }
        }
        if lost.is_empty() { Ok(found) } else { Err(lost) }
    }

    /// A line for each target that has another name now.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.targets.iter().map(note).collect()
    }

    /// The path of a target today.
    pub(super) fn path_now<'p>(&'p self, then: &'p str) -> &'p str {
        self.targets.iter().find(|m| m.then == then).map_or(then, |m| &m.now)
    }

    /// The step with the paths of today.
    pub(super) fn step_now<'s>(&self, step: &'s Step) -> Cow<'s, Step> {
        if self.moved_of(step).next().is_none() {
            return Cow::Borrowed(step);
        }
        let mut today = step.clone();
        for target in &mut today.targets {
            *target = Target { path: self.path_now(&target.path).to_owned() };
        }
        Cow::Owned(today)
    }

    /// The plan with the paths of today.
    pub(crate) fn plan_now(&self, plan: &Plan) -> Plan {
        Plan { steps: plan.steps.iter().map(|s| self.step_now(s).into_owned()).collect(), ..plan.clone() }
    }

    /// Gives a record of the step as run today the names of the plan and of the machine that is stored with the run, and
    /// notes the difference in it.
    pub(super) fn name_as_then(&self, step: &Step, record: &mut StepRecord) {
        if *self == Renumbered::default() {
            return;
        }
        let target = |name: &mut String| {
            if let Some(moved) = self.moved_of(step).find(|m| m.now == *name) {
                name.clone_from(&moved.then);
            }
        };
        let device = |name: &mut String| {
            if let Some(then) = self.names_then.get(name) {
                name.clone_from(then);
            }
        };
        record.targets.iter_mut().for_each(|t| target(&mut t.target));
        record.threads.iter_mut().for_each(|t| target(&mut t.target));
        record.purges.iter_mut().for_each(|p| target(&mut p.target));
        if let Some(host) = &mut record.host {
            host.disks.iter_mut().for_each(|d| device(&mut d.device));
            host.drives.iter_mut().for_each(|d| device(&mut d.device));
            host.vectors.iter_mut().for_each(|v| device(&mut v.device));
        }
        for warning in &mut record.warnings {
            match warning {
                Warning::SlowMember { target: name, .. } => target(name),
                Warning::Throttled { device: name, .. } => device(name),
                Warning::DiskstatsDisagree { device: names, .. } => {
                    let mut all: Vec<String> = names.split(", ").map(str::to_owned).collect();
                    all.iter_mut().for_each(device);
                    *names = all.join(", ");
                }
                _ => {}
            }
        }
        record.features.extend(self.moved_of(step).map(|m| FeatureUse {
            name: format!("path of {}", m.then),
            used: true,
            detail: format!("{} now, serial {}", m.now, m.serial_end),
        }));
    }

    /// Adds to the failure of a step, which speaks of the paths of today, what they are in the plan.
    pub(super) fn explain(&self, step: &Step, failure: StepFailure) -> StepFailure {
        let notes: Vec<String> = self.moved_of(step).map(note).collect();
        if notes.is_empty() {
            return failure;
        }
        let with = |why: String| format!("{why}; {}", notes.join("; "));
        match failure {
            StepFailure::Refused { what, why, help } => StepFailure::Refused { what, why: with(why), help },
            StepFailure::Failed { what, source, help } => {
                StepFailure::Failed { what, source: std::io::Error::other(with(source.to_string())), help }
            }
        }
    }

    fn moved_of<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = &'a Moved> {
        self.targets.iter().filter(|m| step.targets.iter().any(|t| t.path == m.then))
    }
}

fn note(moved: &Moved) -> String {
    format!("{} of the run is {} now (serial {})", moved.then, moved.now, moved.serial_end)
}

/// Whether the target is a device itself rather than a file on one.
fn is_node(target: &TargetFacts) -> bool {
    // A link from elsewhere to a device has the file system of the device nodes.
    target.mount.as_ref().is_none_or(|m| m.fs_type == "devtmpfs")
}

/// The same drive today, if exactly one is.
fn only_match<'a>(
    drive: &DriveIdentity,
    drives_then: &[DriveIdentity],
    drives_now: &'a [DriveIdentity],
) -> Result<&'a DriveIdentity, String> {
    let alike: Vec<&DriveIdentity> = drives_now.iter().filter(|d| d.is_same(drive)).collect();
    let alike_then = drives_then.iter().filter(|d| d.is_same(drive)).count();
    match alike[..] {
        [one] if alike_then == 1 => Ok(one),
        [] => Err(match drives_now.iter().find(|d| d.serial == drive.serial) {
            Some(other) => format!("with this serial number there is {}: {}", other.name, described(other)),
            None => "no drive with this serial number is here".to_owned(),
        }),
        [_] => Err(format!("when the run began {alike_then} drives had this serial number, model and size")),
        _ => {
            let names: Vec<&str> = alike.iter().map(|d| d.name.as_str()).collect();
            Err(format!("{} have this serial number, model and size and cannot be told apart", names.join(" and ")))
        }
    }
}

/// The path of a device that is called `name_now` by now, in the form in which `path` named it: the character device of
/// an NVMe namespace, a partition, or the whole.
fn path_today(path: &str, device: &BlockDevice, name_now: &str) -> String {
    let generic = |name: &str| name.strip_prefix("nvme").map(|number| format!("ng{number}"));
    let file = Path::new(path).file_name().map(|f| f.to_string_lossy().into_owned());
    if let (true, Some(now)) = (file.is_some() && file == generic(&device.name), generic(name_now)) {
        return format!("/dev/{now}");
    }
    // A "/" in a node's name is written "!" in sysfs.
    format!("/dev/{}{}", name_now.replace('!', "/"), part_of(device))
}

/// For every drive that has another name now, and for what interrupts for it: today's name and the one of then.
fn names_then(drives_then: &[DriveIdentity], drives_now: &[DriveIdentity]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for then in drives_then {
        if drives_now.iter().any(|d| d.name == then.name && d.is_same(then)) {
            continue;
        }
        let Ok(now) = only_match(then, drives_then, drives_now) else { continue };
        names.insert(now.name.clone(), then.name.clone());
        if let (Some(now), Some(then)) = (&now.interrupt_device, &then.interrupt_device) {
            names.insert(now.clone(), then.clone());
        }
    }
    names
}
