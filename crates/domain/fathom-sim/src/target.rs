//! Names of simulated targets: `sim:MACHINE`, `sim:MACHINE/PART`, where MACHINE is a shipped one or a file.

use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::TargetId;
use fathom_units::did_you_mean;

use crate::machine::{Array, Machine};
use crate::world::Place;

/// What a name says, before the machine is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetName<'a> {
    /// Shipped machine, or path of a file that ends in `.toml`.
    pub machine: &'a str,
    /// Drive, array or group of it; `None`: the machine's default.
    pub part: Option<&'a str>,
}

/// A target and the place in the machine that it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) id: TargetId,
    pub(crate) place: Place,
}

/// Reads `sim:NAME`, `sim:NAME/PART`, `sim:FILE.toml` or `sim:FILE.toml/PART`; `None` for other targets.
#[must_use]
pub fn target_name(path: &str) -> Option<TargetName<'_>> {
    let rest = path.strip_prefix("sim:")?;
    let end_of_file = rest.find(".toml").map(|at| at + ".toml".len());
    let split = match end_of_file {
        Some(end) => end,
        None => rest.find('/').unwrap_or(rest.len()),
    };
    let (machine, part) = rest.split_at(split);
    Some(TargetName { machine, part: part.strip_prefix('/').filter(|p| !p.is_empty()) })
}

impl Machine {
    /// All names that can follow `sim:MACHINE/`: drives, groups of drives, arrays.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let mut names: Vec<String> = self.arrays.iter().map(|a| a.name.clone()).collect();
        for drive in &self.drives {
            if !names.contains(&drive.group) {
                names.push(drive.group.clone());
            }
            if !names.contains(&drive.name) {
                names.push(drive.name.clone());
            }
        }
        names
    }

    /// Names of the drives or the array that a part of the machine means; `None` means its default target.
    ///
    /// # Errors
    /// When there is no such part; with the nearest name, or all.
    pub fn members_of(&self, part: Option<&str>) -> Result<Vec<String>, Message> {
        let part = part.unwrap_or(&self.default_target);
        if self.arrays.iter().any(|a| a.name == part) {
            return Ok(vec![part.to_owned()]);
        }
        let drives: Vec<String> =
            self.drives.iter().filter(|d| d.name == part || d.group == part).map(|d| d.name.clone()).collect();
        if drives.is_empty() {
            let parts = self.parts();
            let hint = did_you_mean(part, &parts)
                .unwrap_or_else(|| msg!("sim-parts-of-machine", parts = Arg::names(parts, Join::Comma)));
            return Err(msg!("sim-no-such-part", machine = &self.name, part = part.to_owned(), hint = hint));
        }
        Ok(drives)
    }

    /// User capacity of a drive or array by its name; `None` when there is no such.
    #[must_use]
    pub fn capacity_bytes_of(&self, name: &str) -> Option<u64> {
        self.place_of(name).map(|place| self.capacity_of(place))
    }

    /// User capacity of a place.
    pub(crate) fn capacity_of(&self, place: Place) -> u64 {
        match place {
            Place::Drive(d) => self.drives[d as usize].device.capacity_bytes,
            Place::Array(a) => self.array_bytes(&self.arrays[a as usize]),
            Place::Nowhere => 1 << 40,
        }
    }

    /// User capacity of an array over its drives.
    #[must_use]
    pub fn array_bytes(&self, array: &Array) -> u64 {
        let smallest = array.members.iter().map(|m| self.drives[*m].device.capacity_bytes).min();
        let chunks = smallest.unwrap_or(0) / array.chunk_bytes;
        chunks * array.chunk_bytes * array.data_members() as u64
    }

    pub(crate) fn place_of(&self, name: &str) -> Option<Place> {
        if let Some(array) = self.arrays.iter().position(|a| a.name == name) {
            return Some(Place::Array(array as u16));
        }
        self.drives.iter().position(|d| d.name == name).map(|drive| Place::Drive(drive as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_machines_files_and_parts_differ() {
        let name = |machine, part| Some(TargetName { machine, part });
        assert_eq!(target_name("sim:epyc"), name("epyc", None));
        assert_eq!(target_name("sim:epyc/nvme3"), name("epyc", Some("nvme3")));
        assert_eq!(target_name("sim:a/b.toml"), name("a/b.toml", None));
        assert_eq!(target_name("sim:/a/b.toml/nvme0"), name("/a/b.toml", Some("nvme0")));
        assert_eq!(target_name("/dev/nvme0n1"), None);
    }
}
