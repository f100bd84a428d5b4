//! Whether this is still the machine, with the drives, on which a run began; the drives may be numbered otherwise.

use std::path::Path;

use fathom_host::inspect::clean;
use fathom_host::{BlockDevice, DriveIdentity, HostFacts, ProbeError, Root, TargetFacts, drive_identities};
use fathom_store::RunId;
use serde::Deserialize;

use super::ConductError;
use super::renumbered::Renumbered;
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

/// Makes sure that a run which began on the machine stored as `host` can go on here, and says which of its drives
/// the kernel numbers otherwise by now. Opens nothing.
///
/// # Errors
/// [`ConductError::OtherHost`] with all that differs; [`ConductError::Host`].
pub(super) fn same_host(run: RunId, host: &serde_json::Value) -> Result<Renumbered, ConductError> {
    let facts = facts_from(run, host)?;
    let drives = identities_in(host);
    let then = Seen { facts: &facts, drives: drives.as_deref() };
    let found = compared(then, &drive_identities(&Root::live()), &facts_at)?;
    found.map_err(|differences| ConductError::OtherHost { run, differences })
}

/// Which of the drives of a run whose machine is stored as `host` are numbered otherwise by now, here or wherever they
/// are. Opens nothing.
///
/// # Errors
/// [`ConductError::DrivesGone`] where one is not here; [`ConductError::OtherHost`] for facts that cannot be read;
/// [`ConductError::Host`].
pub(super) fn same_drives(run: RunId, host: &serde_json::Value) -> Result<Renumbered, ConductError> {
    let facts = facts_from(run, host)?;
    let drives = identities_in(host);
    let paths: Vec<&str> = facts.targets.iter().map(|t| t.path.as_str()).collect();
    let (by_old_paths, drives_now) = (facts_at(&paths)?, drive_identities(&Root::live()));
    let then = Seen { facts: &facts, drives: drives.as_deref() };
    let now = Seen { facts: &by_old_paths, drives: Some(&drives_now) };
    Renumbered::find(then, now).map_err(|lost| ConductError::DrivesGone { run, lost })
}

fn facts_from(run: RunId, host: &serde_json::Value) -> Result<HostFacts, ConductError> {
    HostFacts::deserialize(host).map_err(|e| {
        let differences = vec![format!("what it knows of its machine cannot be read ({e})")];
        ConductError::OtherHost { run, differences }
    })
}

/// The drives of `then` as they are numbered now, or all that differs. `facts_at` looks at this machine and paths on it.
fn compared(
    then: Seen<'_>,
    drives_now: &[DriveIdentity],
    facts_at: &dyn Fn(&[&str]) -> Result<HostFacts, ProbeError>,
) -> Result<Result<Renumbered, Vec<String>>, ProbeError> {
    let paths: Vec<&str> = then.facts.targets.iter().map(|t| t.path.as_str()).collect();
    let by_old_paths = facts_at(&paths)?;
    let mut differences = of_machine(then.facts, &by_old_paths);
    let renumbered = Renumbered::find(then, Seen { facts: &by_old_paths, drives: Some(drives_now) });
    match &renumbered {
        Ok(renumbered) => {
            let paths: Vec<&str> = paths.into_iter().map(|path| renumbered.path_now(path)).collect();
            let now = facts_at(&paths)?;
            differences.extend(of_targets(then, Seen { facts: &now, drives: Some(drives_now) }, renumbered));
        }
        Err(lost) => differences.extend(lost.iter().cloned()),
    }
    Ok(renumbered.ok().filter(|_| differences.is_empty()).ok_or(differences))
}

/// This machine, and what is behind the paths. A file that is not there counts as its folder: where its file system is
/// not mounted, that is another drive.
fn facts_at(paths: &[&str]) -> Result<HostFacts, ProbeError> {
    let mut paths: Vec<&Path> = paths.iter().map(Path::new).collect();
    paths.sort();
    paths.dedup();
    HostFacts::collect(&Root::live(), &paths)
}

/// What differs beside the drives, as sentences.
fn of_machine(then: &HostFacts, now: &HostFacts) -> Vec<String> {
    let mut out = Vec::new();
    let mut differs = |what: &str, then: &str, now: &str| {
        if then != now {
            out.push(format!("{what} was {then} and is {now}"));
        }
    };
    differs("the processor", &then.cpu_model, &now.cpu_model);
    differs("the number of CPUs", &then.topology.cpus.len().to_string(), &now.topology.cpus.len().to_string());
    differs("the kernel", &then.kernel, &now.kernel);
    let moved = (now.memory_bytes as f64 / then.memory_bytes.max(1) as f64 - 1.0).abs();
    if moved > MEMORY_SHARE {
        differs("main memory in bytes", &then.memory_bytes.to_string(), &now.memory_bytes.to_string());
    }
    out
}

/// Targets that lead to something else than they did, as sentences.
fn of_targets(then: Seen<'_>, now: Seen<'_>, renumbered: &Renumbered) -> Vec<String> {
    let mut out = Vec::new();
    for target in &then.facts.targets {
        let path = renumbered.path_now(&target.path);
        let Some(found) = now.facts.targets.iter().find(|t| t.path == path) else { continue };
        if !is_same(then, target, now, found) {
            let (was, is) = (behind(then, target), behind(now, found));
            out.push(format!("the drive behind {} was {was} and is {is}", target.path));
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

    /// Facts about the target of this name.
    pub(super) fn target(self, path: &str) -> Option<&'a TargetFacts> {
        self.facts.targets.iter().find(|t| t.path == path)
    }
}

/// What of a whole device is meant: `p2` of `nvme0n1p2`; empty for all of it.
pub(super) fn part_of(device: &BlockDevice) -> &str {
    device.partition.as_deref().map_or("", |part| part.strip_prefix(device.name.as_str()).unwrap_or(part))
}

/// Model, serial number and size of what is behind a target: names may change from boot to boot, these do not.
pub(super) fn behind(seen: Seen<'_>, target: &TargetFacts) -> String {
    let Some(device) = &target.device else { return "none".to_owned() };
    let part = match part_of(device) {
        "" => String::new(),
        part => format!("part {part} of "),
    };
    if let Some(drive) = seen.identity(device) {
        return format!("{part}{}", described(drive));
    }
    let text = |t: &Option<String>| t.as_deref().map_or("unknown".to_owned(), clean);
    // Without a serial number the name is all there is.
    let name = if device.serial.is_none() { format!("{} ", device.name) } else { String::new() };
    format!("{part}{name}model {}, serial {}, {} bytes", text(&device.model), text(&device.serial), device.size_bytes)
}

/// A drive in words.
pub(super) fn described(drive: &DriveIdentity) -> String {
    let model = drive.model.as_deref().map_or("unknown".to_owned(), clean);
    let namespace = drive.namespace.filter(|n| *n != 1).map_or_else(String::new, |n| format!(", namespace {n}"));
    format!("model {model}, serial {}{namespace}, {} bytes", clean(&drive.serial), drive.size_bytes)
}

#[cfg(test)]
mod tests;
