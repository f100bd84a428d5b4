//! Reading, checking and writing one setting. The only place of this crate that opens a kernel file for writing.

use std::io::{self, Write as _};
use std::path::PathBuf;

use fathom_message::{Arg, Join, Message, msg};
use fathom_units::{format_cpu_list, parse_cpu_list};

use super::coalescing;
use super::md_array::{MdArray, error_of};
use super::pci_driver::{KERNEL_DRIVER, PciDriver, VFIO_DRIVER};
use super::{ArrayAttribute, QueueAttribute, Setting, SettingError};
use crate::root::{Root, attribute, names_in};
use crate::writing;

/// The speed of a resync is that of the host.
const SYSTEM: &str = "system";

impl Setting {
    /// Its file.
    pub(super) fn path(&self, root: &Root) -> PathBuf {
        const CPU: &str = "sys/devices/system/cpu";
        match self {
            Setting::Queue { device, attribute } => {
                root.join("sys/class/block").join(device).join("queue").join(attribute.as_str())
            }
            Setting::SchedulerParameter { device, parameter } => {
                root.join("sys/class/block").join(device).join("queue/iosched").join(parameter)
            }
            Setting::Array { device, attribute } => {
                root.join("sys/class/block").join(device).join("md").join(attribute.as_str())
            }
            Setting::MdArray(array) => array.home(root),
            Setting::Governor { cpu } => root.join(format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor")),
            Setting::EnergyPreference { cpu } => {
                root.join(format!("{CPU}/cpu{cpu}/cpufreq/energy_performance_preference"))
            }
            Setting::IdleDisable { cpu, state } => root.join(format!("{CPU}/cpu{cpu}/cpuidle/state{state}/disable")),
            Setting::Smt => root.join(format!("{CPU}/smt/control")),
            Setting::IrqAffinity { irq } => root.join(format!("proc/irq/{irq}/smp_affinity_list")),
            Setting::PciDriver(driver) => driver.home(root),
            Setting::Hugepages { node: Some(node), page_kib } => {
                root.join(format!("sys/devices/system/node/node{node}/hugepages/hugepages-{page_kib}kB/nr_hugepages"))
            }
            Setting::Hugepages { node: None, page_kib } => {
                root.join(format!("sys/kernel/mm/hugepages/hugepages-{page_kib}kB/nr_hugepages"))
            }
            Setting::Coalescing { controller } => coalescing::node(root, controller),
            Setting::VfioWithoutIommu => root.join("sys/module/vfio/parameters/enable_unsafe_noiommu_mode"),
        }
    }

    /// What distinguishes the device from a later one of the same name: the kernel's count of disks, the user of an interrupt.
    pub(super) fn identity(&self, root: &Root) -> Option<String> {
        match self {
            Setting::Queue { device, .. }
            | Setting::SchedulerParameter { device, .. }
            | Setting::Array { device, .. } => attribute(&root.join("sys/class/block").join(device).join("diskseq")),
            Setting::IrqAffinity { irq } => {
                let home = root.join(format!("proc/irq/{irq}"));
                let users: Vec<String> = names_in(&home).into_iter().filter(|n| home.join(n).is_dir()).collect();
                (!users.is_empty()).then(|| users.join(","))
            }
            Setting::PciDriver(driver) => driver.identity(root),
            Setting::Coalescing { controller } => coalescing::identity(root, controller),
            // Its members tell it from others of its name.
            Setting::MdArray(_)
            | Setting::Governor { .. }
            | Setting::EnergyPreference { .. }
            | Setting::IdleDisable { .. }
            | Setting::Hugepages { .. }
            | Setting::VfioWithoutIommu
            | Setting::Smt => None,
        }
    }

    /// Settings that the kernel changes on its own when this one changes: a new scheduler resets the depth of the
    /// queue, bfq turns write-back throttling off, and the parameters of the old scheduler are gone.
    pub(super) fn dependents(&self, root: &Root) -> Vec<Setting> {
        match self {
            Setting::Queue { device, attribute: QueueAttribute::Scheduler } => {
                let of_queue = [QueueAttribute::NrRequests, QueueAttribute::WbtLatUsec]
                    .map(|attribute| Setting::Queue { device: device.clone(), attribute });
                let home = root.join("sys/class/block").join(device).join("queue/iosched");
                let of_scheduler = names_in(&home).into_iter();
                let of_scheduler =
                    of_scheduler.map(|parameter| Setting::SchedulerParameter { device: device.clone(), parameter });
                of_queue.into_iter().chain(of_scheduler).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Value in force, in the form that can be written back.
    ///
    /// # Errors
    /// [`SettingError::Missing`] where the kernel does not offer it, [`SettingError::Read`] where it may not be read.
    pub fn read(&self, root: &Root) -> Result<String, SettingError> {
        if let Setting::MdArray(array) = self {
            return Ok(array.read(root).to_owned());
        }
        if let Setting::PciDriver(driver) = self {
            let missing = || SettingError::Missing { what: self.message(), path: self.path(root) };
            return driver.read(root).ok_or_else(missing);
        }
        if let Setting::Coalescing { controller } = self {
            return coalescing::read(root, controller, self);
        }
        let text = self.text(root)?;
        Ok(match self {
            Setting::Queue { attribute: QueueAttribute::Scheduler, .. } => bracketed(&text).to_owned(),
            // `200000 (system)`, `5000 (local)`: the first goes on to follow the host's own.
            Setting::Array { .. } => match text.split_once(' ') {
                Some((_, "(system)")) => SYSTEM.to_owned(),
                Some((number, "(local)")) => number.to_owned(),
                _ => text,
            },
            _ => text,
        })
    }

    fn text(&self, root: &Root) -> Result<String, SettingError> {
        let path = self.path(root);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(SettingError::Missing { what: self.message(), path })
            }
            Err(source) => Err(SettingError::Read { setting: self.clone(), source }),
        }
    }

    /// Whether two values mean the same.
    #[must_use]
    pub fn same(&self, a: &str, b: &str) -> bool {
        match self {
            Setting::IrqAffinity { .. } => {
                let set = |text: &str| {
                    let mut cpus = parse_cpu_list(text).unwrap_or_default();
                    cpus.sort_unstable();
                    cpus
                };
                set(a) == set(b)
            }
            _ => a == b,
        }
    }

    /// Checks a value against what the kernel offers and gives it in the kernel's own form.
    ///
    /// # Errors
    /// [`SettingError::Value`] with what the setting takes.
    pub fn checked(&self, root: &Root, value: &str) -> Result<String, SettingError> {
        let value = value.trim();
        let among = |offered: &[&str]| match offered.contains(&value) {
            true => Ok(value.to_owned()),
            false => {
                let names = Arg::names(offered.iter().copied(), Join::Comma);
                self.refuse(value, msg!("setting-takes", values = names))
            }
        };
        let listed = |file: &str| {
            let offered = attribute(&self.path(root).with_file_name(file)).unwrap_or_default();
            among(&offered.split_whitespace().collect::<Vec<_>>())
        };
        match self {
            Setting::Queue { attribute, .. } => match attribute {
                QueueAttribute::Scheduler => {
                    let text = self.text(root)?;
                    among(&text.split_whitespace().map(|w| w.trim_matches(['[', ']'])).collect::<Vec<_>>())
                }
                QueueAttribute::Nomerges | QueueAttribute::RqAffinity => among(&["0", "1", "2"]),
                QueueAttribute::Iostats | QueueAttribute::IoPoll | QueueAttribute::AddRandom => among(&["0", "1"]),
                QueueAttribute::WriteCache => among(&["write back", "write through"]),
                QueueAttribute::NrRequests | QueueAttribute::MaxSectorsKb => self.number(value, 1),
                QueueAttribute::ReadAheadKb | QueueAttribute::WbtLatUsec => self.number(value, 0),
                QueueAttribute::IoPollDelay => self.number(value, -1),
            },
            // Only what was read there is brought back.
            Setting::SchedulerParameter { .. } => Ok(value.to_owned()),
            Setting::Array { attribute, .. } => match attribute {
                speed if speed.is_speed() && value == SYSTEM => Ok(value.to_owned()),
                ArrayAttribute::GroupThreadCnt => self.number(value, 0),
                // The kernel has 17 stripes at least, for a resync and a write beside it.
                ArrayAttribute::StripeCacheSize => self.number(value, 17),
                ArrayAttribute::SyncSpeedMin | ArrayAttribute::SyncSpeedMax => self.number(value, 1),
            },
            Setting::MdArray(_) => among(&[MdArray::NONE, MdArray::ACTIVE]),
            Setting::Governor { .. } => listed("scaling_available_governors"),
            Setting::EnergyPreference { .. } => listed("energy_performance_available_preferences"),
            Setting::IdleDisable { .. } => among(&["0", "1"]),
            Setting::Smt => match self.read(root)?.as_str() {
                "on" | "off" => among(&["on", "off"]),
                other => self.refuse(value, msg!("setting-smt-state", state = other.to_owned())),
            },
            Setting::IrqAffinity { .. } => match parse_cpu_list(value) {
                Ok(cpus) => Ok(format_cpu_list(&cpus)),
                Err(_) => self.refuse(value, msg!("setting-takes-cpus")),
            },
            Setting::PciDriver(_) => among(&[KERNEL_DRIVER, VFIO_DRIVER]),
            Setting::Hugepages { .. } => self.number(value, 0),
            Setting::Coalescing { .. } => match coalescing::parsed(value) {
                Some(set) => Ok(coalescing::text_of(set)),
                None => self.refuse(value, msg!("setting-takes-coalescing")),
            },
            Setting::VfioWithoutIommu => among(&["N", "Y"]),
        }
    }

    fn number(&self, value: &str, least: i64) -> Result<String, SettingError> {
        match value.parse::<i64>() {
            Ok(number) if number >= least && number <= i64::from(u32::MAX) => Ok(number.to_string()),
            _ => self.refuse(value, msg!("setting-takes-number", least = least.to_string())),
        }
    }

    fn refuse(&self, value: &str, takes: Message) -> Result<String, SettingError> {
        Err(SettingError::Value { what: self.message(), value: value.to_owned(), takes })
    }

    /// Writes without looking; whoever calls has journalled it.
    pub(super) fn write(&self, root: &Root, value: &str) -> Result<(), SettingError> {
        if let Setting::MdArray(array) = self {
            return array.write(root, value).map_err(|source| error_of(self, value, source));
        }
        if let Setting::PciDriver(driver) = self {
            return driver.write(root, value);
        }
        if let Setting::Coalescing { controller } = self {
            return coalescing::write(root, controller, self, value);
        }
        let path = self.path(root);
        // One write call: the kernel takes each as a whole value.
        let write = || writing::attribute(&path)?.write_all(value.as_bytes());
        write().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SettingError::Missing { what: self.message(), path: path.clone() },
            _ => SettingError::Write { setting: self.clone(), value: value.to_owned(), source },
        })
    }

    /// Writes and reads back.
    pub(super) fn write_checked(&self, root: &Root, value: &str) -> Result<(), SettingError> {
        self.write(root, value)?;
        let found = self.read(root)?;
        if self.same(&found, value) {
            return Ok(());
        }
        Err(SettingError::NotTaken { setting: self.clone(), wanted: value.to_owned(), found })
    }

    /// Whether the names in it stay inside their folders: a journal is a file that others may have written.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Setting::Queue { device, .. } | Setting::Array { device, .. } => {
                !device.is_empty() && !device.contains(['/', '\0']) && device != ".."
            }
            Setting::SchedulerParameter { device, parameter } => {
                [device, parameter].iter().all(|n| !n.is_empty() && !n.contains(['/', '\0']) && !n.starts_with('.'))
            }
            Setting::Coalescing { controller } => {
                controller.strip_prefix("nvme").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            }
            Setting::MdArray(array) => array.is_sound(),
            Setting::PciDriver(driver) => driver.is_sound(),
            _ => true,
        }
    }

    /// Whether a journal may ask for that value to be brought back: arrays are taken away by it, never made, and drives go
    /// to the kernel's driver alone.
    pub(super) fn may_come_back_as(&self, value: &str) -> bool {
        match self {
            Setting::MdArray(_) => value == MdArray::NONE,
            Setting::PciDriver(_) => value == KERNEL_DRIVER,
            _ => true,
        }
    }

    /// Whether the value is one that only an interrupted change leaves.
    pub(super) fn is_half_way(&self, value: &str) -> bool {
        matches!(self, Setting::PciDriver(_)) && PciDriver::is_half_way(value)
    }
}

/// `mq-deadline` of `none [mq-deadline] kyber`; the whole text when nothing is bracketed.
fn bracketed(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}
