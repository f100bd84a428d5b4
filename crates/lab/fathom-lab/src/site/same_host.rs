//! Whether this is still the machine, with the drives, on which a run began; the drives may be numbered otherwise.

use std::path::PathBuf;

use fathom_host::{BlockDevice, DriveIdentity, HostFacts, ProbeError, Root, TargetFacts, drive_identities};
use fathom_inspect::clean;
use fathom_message::{Message, Quantity, msg};
use fathom_plan::TargetId;
use serde::Deserialize;

use super::drives::DrivesToday;
use crate::machine::identities_in;

/// Memory as the kernel counts it moves a little from boot to boot.
const MEMORY_SHARE: f64 = 0.01;

/// A machine: facts about it and the targets of a run, and which drive is which.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) facts: &'a HostFacts,
    /// `None` of a run that keeps no serial numbers.
    pub(super) drives: Option<&'a [DriveIdentity]>,
}

/// Where the drives of a run are today, or why that cannot be said.
pub(crate) type DrivesOfRun = Result<Result<DrivesToday, Vec<Message>>, ProbeError>;

/// Whether this is still the machine on which a run began, stored as `host`, and where its drives are today; else all that
/// differs. Opens nothing.
///
/// # Errors
/// [`ProbeError`] when this machine cannot be looked at.
pub(crate) fn same_host(host: &serde_json::Value) -> DrivesOfRun {
    let facts = match facts_from(host) {
        Ok(facts) => facts,
        Err(why) => return Ok(Err(vec![why])),
    };
    let drives = identities_in(host);
    let then = Seen { facts: &facts, drives: drives.as_deref() };
    compared(then, &drive_identities(&Root::live()), &facts_at)
}

/// Where the drives of a run whose machine is stored as `host` are today, here or wherever they are; else those that are
/// not here. Opens nothing.
///
/// # Errors
/// As [`same_host`].
pub(crate) fn same_drives(host: &serde_json::Value) -> DrivesOfRun {
    let facts = match facts_from(host) {
        Ok(facts) => facts,
        Err(why) => return Ok(Err(vec![why])),
    };
    let drives = identities_in(host);
    let paths: Vec<(TargetId, PathBuf)> = facts.targets.iter().map(|t| (t.target(), PathBuf::from(&t.path))).collect();
    let (by_old_paths, drives_now) = (facts_at(&paths)?, drive_identities(&Root::live()));
    let then = Seen { facts: &facts, drives: drives.as_deref() };
    let now = Seen { facts: &by_old_paths, drives: Some(&drives_now) };
    Ok(DrivesToday::find(then, now))
}

fn facts_from(host: &serde_json::Value) -> Result<HostFacts, Message> {
    HostFacts::deserialize(host).map_err(|e| msg!("host-facts-unreadable", error = e.to_string()))
}

/// Looks at targets by paths on this machine.
type FactsAt<'a> = dyn Fn(&[(TargetId, PathBuf)]) -> Result<HostFacts, ProbeError> + 'a;

/// The drives of `then` as they are numbered now, or all that differs. `facts_at` looks at this machine and paths on it.
fn compared(then: Seen<'_>, drives_now: &[DriveIdentity], facts_at: &FactsAt<'_>) -> DrivesOfRun {
    let targets: Vec<TargetId> = then.facts.targets.iter().map(TargetFacts::target).collect();
    let old: Vec<(TargetId, PathBuf)> =
        then.facts.targets.iter().map(|t| (t.target(), PathBuf::from(&t.path))).collect();
    let by_old_paths = facts_at(&old)?;
    let mut differences = of_machine(then.facts, &by_old_paths);
    let today = DrivesToday::find(then, Seen { facts: &by_old_paths, drives: Some(drives_now) });
    match &today {
        Ok(today) => {
            let moved = |(target, path): (TargetId, PathBuf)| match today.has_moved(&target) {
                true => (target.clone(), today.path_of(&target)),
                false => (target, path),
            };
            let now = facts_at(&old.into_iter().map(moved).collect::<Vec<_>>())?;
            differences.extend(of_targets(then, Seen { facts: &now, drives: Some(drives_now) }, &targets));
        }
        Err(lost) => differences.extend(lost.iter().cloned()),
    }
    Ok(today.ok().filter(|_| differences.is_empty()).ok_or(differences))
}

/// This machine, and what is behind the paths. A file that is not there counts as its folder: where its file system is
/// not mounted, that is another drive.
fn facts_at(paths: &[(TargetId, PathBuf)]) -> Result<HostFacts, ProbeError> {
    HostFacts::collect(&Root::live(), paths)
}

/// What differs beside the drives.
fn of_machine(then: &HostFacts, now: &HostFacts) -> Vec<Message> {
    let mut out = Vec::new();
    if then.cpu_model != now.cpu_model {
        out.push(msg!("host-other-processor", was = then.cpu_model.clone(), is = now.cpu_model.clone()));
    }
    let (cpus_then, cpus_now) = (then.topology.cpus.len(), now.topology.cpus.len());
    if cpus_then != cpus_now {
        out.push(msg!("host-other-cpus", was = cpus_then, is = cpus_now));
    }
    if then.kernel != now.kernel {
        out.push(msg!("host-other-kernel", was = then.kernel.clone(), is = now.kernel.clone()));
    }
    let moved = (now.memory_bytes as f64 / then.memory_bytes.max(1) as f64 - 1.0).abs();
    if moved > MEMORY_SHARE {
        let (was, is) = (Quantity::bytes(then.memory_bytes), Quantity::bytes(now.memory_bytes));
        out.push(msg!("host-other-memory", was = was, is = is));
    }
    out
}

/// Targets that lead to something else than they did.
fn of_targets(then: Seen<'_>, now: Seen<'_>, targets: &[TargetId]) -> Vec<Message> {
    let mut out = Vec::new();
    for target in targets {
        let (Some(was), Some(is)) = (then.target(target), now.target(target)) else { continue };
        if !is_same(then, was, now, is) {
            let path = was.path.clone();
            out.push(msg!("drive-is-another", path = path, was = behind(then, was), is = behind(now, is)));
        }
    }
    out
}

fn is_same(then: Seen<'_>, target: &TargetFacts, now: Seen<'_>, found: &TargetFacts) -> bool {
    let (Some(a), Some(b)) = (&target.device, &found.device) else { return target.device == found.device };
    if part_of(a) != part_of(b) {
        return false;
    }
    match then.drives {
        Some(_) if then.identity(a).is_some() || now.identity(b).is_some() => {
            then.identity(a).zip(now.identity(b)).is_some_and(|(a, b)| a.is_same(b))
        }
        // Without serial numbers the name is all there is; runs without identities keep the ends of serial numbers.
        _ => marks(a) == marks(b),
    }
}

/// What a device is known by where its identity is not.
fn marks(device: &BlockDevice) -> (Option<&str>, Option<&str>, Option<&str>, u64) {
    let name = device.serial.is_none().then_some(device.name.as_str());
    (name, device.model.as_deref(), device.serial.as_deref(), device.size_bytes)
}

impl<'a> Seen<'a> {
    /// The identity of a device by the name it had in these facts.
    pub(super) fn identity(self, device: &BlockDevice) -> Option<&'a DriveIdentity> {
        self.drives?.iter().find(|d| d.name == device.name)
    }

    /// Facts about a target.
    pub(super) fn target(self, target: &TargetId) -> Option<&'a TargetFacts> {
        self.facts.targets.iter().find(|t| t.target() == *target)
    }
}

/// What of a whole device is meant: `p2` of `nvme0n1p2`; empty for all of it.
pub(super) fn part_of(device: &BlockDevice) -> &str {
    device.partition.as_deref().map_or("", |part| part.strip_prefix(device.name.as_str()).unwrap_or(part))
}

/// Model, serial number and size of what is behind a target: names may change from boot to boot, these do not.
pub(super) fn behind(seen: Seen<'_>, target: &TargetFacts) -> Message {
    let Some(device) = &target.device else { return msg!("drive-none") };
    let drive = match seen.identity(device) {
        Some(drive) => described(drive),
        None => {
            let text =
                |t: &Option<String>| t.as_deref().map_or_else(|| msg!("unknown"), |t| Message::verbatim(clean(t)));
            let size = device.size_bytes;
            match device.serial {
                Some(_) => {
                    msg!("drive-described", model = text(&device.model), serial = text(&device.serial), size = size)
                }
                // Without a serial number the name is all there is.
                None => {
                    msg!("drive-without-serial", name = &device.name, model = text(&device.model), size = size)
                }
            }
        }
    };
    match part_of(device) {
        "" => drive,
        part => msg!("drive-part", part = part.to_owned(), drive = drive),
    }
}

/// A drive in words.
pub(super) fn described(drive: &DriveIdentity) -> Message {
    let model = drive.model.as_deref().map_or_else(|| msg!("unknown"), |model| Message::verbatim(clean(model)));
    let (serial, size) = (clean(&drive.serial), drive.size_bytes);
    match drive.namespace.filter(|n| *n != 1) {
        Some(namespace) => {
            msg!("drive-described-namespace", model = model, serial = serial, namespace = namespace, size = size)
        }
        None => msg!("drive-described", model = model, serial = serial, size = size),
    }
}

#[cfg(test)]
mod tests;
