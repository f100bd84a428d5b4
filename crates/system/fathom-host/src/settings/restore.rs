//! What programs that died or ended on purpose left changed, and bringing it back.

use std::fs;
use std::path::Path;

use fathom_message::{Message, msg};
use serde::Serialize;

use super::error::kept_as;
use super::found::{Found, Journals, boot_id, lock_folder};
use super::line::{Entry, Line, append};
use super::{PciDriver, Setting, SettingError};
use crate::root::Root;
use crate::writing;

/// Which journals to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those of programs that died.
    Abandoned,
    /// Also those whose changes were meant to stay.
    All,
}

/// A change that is still in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingChange {
    /// The setting.
    pub setting: Setting,
    /// Value before.
    pub from: String,
    /// Value that Fathom set.
    pub to: String,
}

/// A journal with changes in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Process that made them.
    pub pid: u32,
    /// What it did.
    pub command: String,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// They were meant to stay after its end.
    pub kept: bool,
    /// It still runs.
    pub alive: bool,
    /// In the order they were made.
    pub changes: Vec<PendingChange>,
}

/// Why an old value was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// The machine was booted since: the kernel has forgotten the change.
    OtherBoot,
    /// The device, CPU or interrupt is gone.
    Gone,
    /// Another device or interrupt has the name now.
    OtherDevice,
}

impl Dropped {
    /// What a journal says of a change that somebody else undid.
    pub(super) const CHANGED_SINCE: &str = "changed_since";

    /// The word of journals and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Dropped::OtherBoot => "other_boot",
            Dropped::Gone => "gone",
            Dropped::OtherDevice => "other_device",
        }
    }

    /// Why, for people.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            Dropped::OtherBoot => msg!("setting-dropped-other-boot"),
            Dropped::Gone => msg!("setting-dropped-gone"),
            Dropped::OtherDevice => msg!("setting-dropped-other-device"),
        }
    }
}

/// What became of one change.
#[derive(Debug)]
pub enum Outcome {
    /// The old value is in force.
    Restored,
    /// There is nothing to bring back.
    Dropped(Dropped),
    /// It could not be brought back; it stays in the journal unless somebody else changed it.
    Failed(SettingError),
}

/// One change that was looked at.
#[derive(Debug)]
pub struct Restored {
    /// The setting.
    pub setting: Setting,
    /// Value before Fathom.
    pub from: String,
    /// Value that Fathom set.
    pub to: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Changes in force, and journals that cannot be read.
#[derive(Debug, Default)]
pub struct Listing {
    /// Journals with changes in force, oldest first; also those of programs that run.
    pub pending: Vec<Pending>,
    /// What is wrong with journals that are damaged or none; what can be read of them is among the others.
    pub damaged: Vec<SettingError>,
}

/// What was brought back, and journals that could not be followed.
#[derive(Debug, Default)]
pub struct Restoration {
    /// Setting by setting, the last change first.
    pub settings: Vec<Restored>,
    /// What is wrong with journals that are damaged or none. They kept nobody from the others.
    pub damaged: Vec<SettingError>,
}

/// Changes in force that the journals in `dir` know of; nothing when there is no such folder.
#[must_use]
pub fn pending(dir: &Path) -> Listing {
    let Journals { found, unreadable } = Journals::read(dir);
    let mut listing = Listing { pending: Vec::new(), damaged: unreadable };
    for journal in found {
        listing.damaged.extend(journal.damage);
        let open = journal.open.into_values();
        let changes: Vec<PendingChange> =
            open.filter_map(|e| Some(PendingChange { setting: e.setting, from: e.from, to: e.to? })).collect();
        if !changes.is_empty() {
            listing.pending.push(Pending {
                pid: journal.owner.pid,
                command: journal.owner.command,
                started_unix_ns: journal.owner.started_unix_ns,
                kept: journal.owner.kept,
                alive: journal.alive,
                changes,
            });
        }
    }
    listing
}

/// A drive that the kernel let go of for Fathom, as its journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BoundDrive {
    /// Address of its PCI function.
    pub address: String,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// What took it.
    pub command: String,
    /// Process that did.
    pub pid: u32,
    /// That process still runs, and will give it back.
    pub alive: bool,
    /// It was meant to stay after the end of that process.
    pub kept: bool,
}

impl BoundDrive {
    /// The setting that was changed, as far as it is of interest to people.
    pub(crate) fn driver(&self) -> PciDriver {
        PciDriver {
            address: self.address.clone(),
            serial: self.serial.clone(),
            model: self.model.clone(),
            override_before: None,
            namespaces: 0,
        }
    }
}

/// The drives that journals in `dir` know to be taken from the kernel.
#[must_use]
pub fn bound_drives(dir: &Path) -> Vec<BoundDrive> {
    let of = |journal: Pending| {
        let Pending { pid, command, kept, alive, changes, .. } = journal;
        let bound = move |change: PendingChange| match change.setting {
            Setting::PciDriver(driver) => Some(BoundDrive {
                address: driver.address,
                serial: driver.serial,
                model: driver.model,
                command: command.clone(),
                pid,
                alive,
                kept,
            }),
            _ => None,
        };
        changes.into_iter().filter_map(bound)
    };
    pending(dir).pending.into_iter().flat_map(of).collect()
}

/// Brings back what journals in `dir` say, the last change first. Journals of programs that run are left to them; one
/// that is damaged is followed as far as it can be read, and then put aside.
///
/// # Errors
/// [`SettingError::Journal`] when the folder cannot be locked; failures of single settings are in the outcomes, those of
/// single journals are [`Restoration::damaged`].
pub fn restore_all(root: &Root, dir: &Path, which: Which) -> Result<Restoration, SettingError> {
    restore_those(root, dir, |journal| which == Which::All || !journal.owner.kept)
}

/// As [`restore_all`], for the journals alone that know of a driver of that PCI function; what else was changed for it (large
/// pages) stands in the same journal and comes back with it.
///
/// # Errors
/// As [`restore_all`].
pub fn restore_driver_of(root: &Root, dir: &Path, address: &str) -> Result<Restoration, SettingError> {
    let is_of = |entry: &Entry| matches!(&entry.setting, Setting::PciDriver(driver) if driver.address == address);
    restore_those(root, dir, |journal| journal.open.values().any(is_of))
}

fn restore_those(root: &Root, dir: &Path, is_meant: impl Fn(&Found) -> bool) -> Result<Restoration, SettingError> {
    let is_asked = |j: &Found| !j.alive && is_meant(j);
    // Most starts find nothing, and then need no right to write here.
    let seen = Journals::read(dir);
    if !seen.found.iter().any(is_asked) {
        return Ok(Restoration { settings: Vec::new(), damaged: seen.unreadable });
    }
    let _alone = lock_folder(dir)?;
    let Journals { found, unreadable } = Journals::read(dir);
    let (asked, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_asked);
    let mut restoration = Restoration { settings: Vec::new(), damaged: unreadable };
    for journal in asked.into_iter().rev() {
        let followed = follow(root, &journal, &others, &mut restoration.settings);
        restoration.damaged.extend(journal.damage);
        restoration.damaged.extend(followed.err());
    }
    Ok(restoration)
}

/// Brings one journal's changes back, the last first, and removes it when nothing is left of it.
fn follow(root: &Root, journal: &Found, others: &[Found], restored: &mut Vec<Restored>) -> Result<(), SettingError> {
    let fail = |source| SettingError::Journal { path: journal.path.clone(), source };
    let mut file = writing::append_existing(&journal.path).map_err(fail)?;
    let same_boot = journal.owner.boot_id.as_ref().is_none_or(|boot| *boot == boot_id(root));
    let mut left = 0;
    for (&id, entry) in journal.open.iter().rev() {
        let busy = others.iter().filter(|o| o.alive).find_map(|o| o.refuse_if_it_holds(&entry.setting, true).err());
        let result = match busy {
            Some(error) => Err(error),
            None if !same_boot => Ok(Some(Dropped::OtherBoot)),
            None => bring_back(root, entry),
        };
        let (outcome, line) = match result {
            Ok(None) => (Outcome::Restored, Some(Line::Restored { id })),
            Ok(Some(why)) => (Outcome::Dropped(why), Some(Line::Dropped { id, why: why.as_str().to_owned() })),
            Err(error @ SettingError::ChangedSince { .. }) => {
                let why = Dropped::CHANGED_SINCE.to_owned();
                (Outcome::Failed(error), Some(Line::Dropped { id, why }))
            }
            Err(error) => (Outcome::Failed(error), None),
        };
        // Dependents are listed only when they fail.
        if let Some(to) = entry.to.clone().or_else(|| matches!(outcome, Outcome::Failed(_)).then(String::new)) {
            restored.push(Restored { setting: entry.setting.clone(), from: entry.from.clone(), to, outcome });
        }
        match line {
            // Without waiting for the disk: what is lost with it is brought back once more, which changes nothing.
            Some(line) => append(&mut file, &[line]).map_err(fail)?,
            None => left += 1,
        }
    }
    match (left, &journal.damage[..]) {
        (0, []) => fs::remove_file(&journal.path).map_err(fail),
        // Lines that could not be read may say more to somebody.
        (0, _) => fs::rename(&journal.path, kept_as(&journal.path)).map_err(fail),
        (_, _) => file.sync_data().map_err(fail),
    }
}

/// Writes the old value of one change, if it is still ours to write; `Some` says why nothing was to be done.
pub(super) fn bring_back(root: &Root, entry: &Entry) -> Result<Option<Dropped>, SettingError> {
    let Entry { setting, identity, from, to, applied } = entry;
    let found = match setting.read(root) {
        Ok(found) => found,
        Err(SettingError::Missing { .. }) => return Ok(Some(Dropped::Gone)),
        Err(error) => return Err(error),
    };
    if setting.identity(root) != *identity {
        return Ok(Some(Dropped::OtherDevice));
    }
    if setting.same(&found, from) {
        return Ok(None);
    }
    match to {
        Some(set) if *applied && !setting.same(&found, set) && !setting.is_half_way(&found) => {
            Err(SettingError::ChangedSince { setting: setting.clone(), found, set: set.clone(), from: from.clone() })
        }
        _ => match setting.write_checked(root, from) {
            Ok(()) => Ok(None),
            Err(error) => match setting.read(root) {
                // The device was removed meanwhile.
                Err(SettingError::Missing { .. }) => Ok(Some(Dropped::Gone)),
                _ => Err(error),
            },
        },
    }
}
