//! Drives that the kernel numbers otherwise than when the run began. Plan, steps and records speak of targets by their
//! names in the plan; here stands the path of each today.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_host::{BlockDevice, DriveIdentity, TargetFacts};
use fathom_inspect::clean;
use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::{FeatureName, FeatureUse, StepFailure, StepRecord, Warning};

use super::same_host::{Seen, behind, described, part_of};
use crate::machine::end_of;

/// A target whose drive has another path than its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moved {
    target: TargetId,
    path: PathBuf,
    /// End of the drive's serial number: notes are kept in records, which are passed on.
    serial_end: String,
}

/// Where the drives of a run are today; empty when they are where their names lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DrivesToday {
    moved: Vec<Moved>,
    /// Kernel names of drives and of what interrupts for them: from today's to the ones of then.
    names_then: BTreeMap<String, String>,
}

impl DrivesToday {
    /// Looks for the drives of `then` that their paths lead to no longer; `now` holds what is behind those paths now.
    ///
    /// # Errors
    /// For each drive that is not here, or cannot be told apart from others, why.
    pub(super) fn find(then: Seen<'_>, now: Seen<'_>) -> Result<DrivesToday, Vec<Message>> {
        let (Some(drives_then), Some(drives_now)) = (then.drives, now.drives) else {
            return Ok(DrivesToday::default());
        };
        let mut found = DrivesToday { moved: Vec::new(), names_then: names_then(drives_then, drives_now) };
        let mut lost = Vec::new();
        for facts in &then.facts.targets {
            // What has no serial number cannot be looked for.
            let Some((device, drive)) = facts.device.as_ref().and_then(|d| Some((d, then.identity(d)?))) else {
                continue;
            };
            let device_now = now.target(&facts.target()).and_then(|t| t.device.as_ref());
            let is_present = device_now.and_then(|d| now.identity(d)).is_some_and(|d| d.is_same(drive));
            // A file is where its path leads, on whatever drive.
            if is_present || !is_node(facts) {
                continue;
            }
            match only_match(drive, drives_then, drives_now) {
                Ok(today) => found.moved.push(Moved {
                    target: facts.target(),
                    path: path_today(&facts.path, device, &today.name),
                    serial_end: end_of(&clean(&drive.serial)),
                }),
                Err(why) => {
                    let (path, was) = (facts.path.clone(), behind(then, facts));
                    lost.push(match now.target(&facts.target()).filter(|t| t.device.is_some()) {
                        Some(other) => {
                            msg!("drive-lost-replaced", path = path, was = was, why = why, is = behind(now, other))
                        }
                        None => msg!("drive-lost", path = path, was = was, why = why),
                    });
                }
            }
        }
        if lost.is_empty() { Ok(found) } else { Err(lost) }
    }

    /// One drive that has another path now.
    #[cfg(test)]
    pub(crate) fn one(target: &str, path: &str) -> DrivesToday {
        let moved = Moved { target: TargetId::new(target), path: PathBuf::from(path), serial_end: "P0FG".to_owned() };
        DrivesToday { moved: vec![moved], names_then: BTreeMap::new() }
    }

    /// A line for each target that has another path now.
    pub(crate) fn notes(&self) -> Vec<Message> {
        self.moved.iter().map(note).collect()
    }

    /// The path of a target today.
    pub(crate) fn path_of(&self, target: &TargetId) -> PathBuf {
        let moved = self.moved.iter().find(|m| m.target == *target);
        moved.map_or_else(|| PathBuf::from(target.as_str()), |m| m.path.clone())
    }

    /// Whether a target has another path than its name.
    pub(super) fn has_moved(&self, target: &TargetId) -> bool {
        self.moved.iter().any(|m| m.target == *target)
    }

    /// The plan with its targets by the paths of today: for people to read, or for another run on the same drives.
    pub(crate) fn renamed(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for target in plan.steps.iter_mut().flat_map(|s| &mut s.targets) {
            *target = match target.array() {
                Some(Ok(array)) => array.renamed(|member| self.path_of(member).to_string_lossy().into_owned()),
                _ => TargetId::new(self.path_of(target).to_string_lossy()),
            };
        }
        plan
    }

    /// Gives what the kernel counted during a step the names of the machine that is stored with the run, and notes the
    /// difference.
    pub(super) fn name_as_then(&self, step: &Step, record: &mut StepRecord) {
        let device = |name: &mut String| {
            if let Some(then) = self.names_then.get(name) {
                name.clone_from(then);
            }
        };
        if let Some(host) = &mut record.host {
            host.disks.iter_mut().for_each(|d| device(&mut d.device));
            host.drives.iter_mut().for_each(|d| device(&mut d.device));
            host.vectors.iter_mut().for_each(|v| device(&mut v.device));
        }
        for warning in &mut record.warnings {
            match warning {
                Warning::Throttled { device: name, .. } => device(name),
                Warning::DiskstatsDisagree { devices, .. } => devices.iter_mut().for_each(device),
                _ => {}
            }
        }
        record.features.extend(self.moved_of(step).map(|m| {
            let detail = msg!("drive-path-now", path = &m.path, serial = m.serial_end.clone());
            FeatureUse::used(FeatureName::Path(m.target.to_string()), detail)
        }));
    }

    /// Adds to the failure of a step, which speaks of targets by their names in the plan, where they are today.
    pub(super) fn explain(&self, step: &Step, failure: StepFailure) -> StepFailure {
        let notes: Vec<Message> = self.moved_of(step).map(note).collect();
        if notes.is_empty() {
            return failure;
        }
        let with_notes =
            |what: Message| msg!("several", list = Arg::list(std::iter::once(what).chain(notes), Join::Semicolon));
        match failure {
            StepFailure::Refused { what, why, help } => StepFailure::Refused { what, why: with_notes(why), help },
            StepFailure::Failed { what, why, help } => StepFailure::Failed { what: with_notes(what), why, help },
        }
    }

    fn moved_of<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = &'a Moved> {
        self.moved.iter().filter(|m| step.targets.iter().any(|t| t.opened().contains(&m.target)))
    }
}

fn note(moved: &Moved) -> Message {
    let (target, serial) = (moved.target.as_str().to_owned(), moved.serial_end.clone());
    msg!("drive-is-now", target = target, path = &moved.path, serial = serial)
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
) -> Result<&'a DriveIdentity, Message> {
    let alike: Vec<&DriveIdentity> = drives_now.iter().filter(|d| d.is_same(drive)).collect();
    let alike_then = drives_then.iter().filter(|d| d.is_same(drive)).count();
    match alike[..] {
        [one] if alike_then == 1 => Ok(one),
        [] => Err(match drives_now.iter().find(|d| d.serial == drive.serial) {
            Some(other) => msg!("drive-other-of-serial", name = &other.name, drive = described(other)),
            None => msg!("drive-serial-not-here"),
        }),
        [_] => Err(msg!("drive-ambiguous-then", count = alike_then)),
        _ => {
            let names = Arg::names(alike.iter().map(|d| d.name.clone()), Join::And);
            Err(msg!("drive-ambiguous", names = names))
        }
    }
}

/// The path of a device that is called `name_now` by now, in the form in which `path` named it: the character device of
/// an NVMe namespace, a partition, or the whole.
fn path_today(path: &str, device: &BlockDevice, name_now: &str) -> PathBuf {
    let generic = |name: &str| name.strip_prefix("nvme").map(|number| format!("ng{number}"));
    let file = Path::new(path).file_name().map(|f| f.to_string_lossy().into_owned());
    if let (true, Some(now)) = (file.is_some() && file == generic(&device.name), generic(name_now)) {
        return Path::new("/dev").join(now);
    }
    // A "/" in a node's name is written "!" in sysfs.
    PathBuf::from(format!("/dev/{}{}", name_now.replace('!', "/"), part_of(device)))
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
