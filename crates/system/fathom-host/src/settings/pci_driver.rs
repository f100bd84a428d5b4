//! Which driver a PCI function has: the kernel's own, or `vfio-pci`, which hands the function to a program
//! (Documentation/ABI/testing/sysfs-bus-pci, "driver_override"; Documentation/driver-api/vfio.rst).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Setting, SettingError};
use crate::guard::{drives_behind, holder_of, is_pci_address};
use crate::root::{Root, attribute};
use crate::writing;

/// Driver of the kernel that shows namespaces as block devices.
pub(crate) const KERNEL_DRIVER: &str = "nvme";
/// Driver that hands a function to a program.
pub(crate) const VFIO_DRIVER: &str = "vfio-pci";
/// No driver, or one that the next probe would take away: nobody leaves a drive like that on purpose.
const HALF_WAY: &str = "none";
/// A controller may take the time of CAP.TO to become ready, 127.5 s at most; the driver comes at once, its namespaces after.
const NAMESPACES_WITHIN: Duration = Duration::from_secs(130);
const DRIVER_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The driver of an NVMe function, with what is needed to give it back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PciDriver {
    /// E.g. `0000:5e:00.0`.
    pub address: String,
    /// Serial number of the drive: nobody shows it while the kernel's driver has let go.
    pub serial: Option<String>,
    /// Model of the drive.
    pub model: Option<String>,
    /// Its `driver_override` before; `None`: any driver that knows the drive.
    pub override_before: Option<String>,
    /// Block devices of the drive that the kernel's driver showed.
    pub namespaces: u32,
}

impl PciDriver {
    /// Whether the names in it are names, and no ways out of their folders.
    pub(super) fn is_sound(&self) -> bool {
        let is_name = |text: &String| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        is_pci_address(&self.address) && self.override_before.as_ref().is_none_or(is_name)
    }

    pub(super) fn home(&self, root: &Root) -> PathBuf {
        home(root, &self.address)
    }

    /// What distinguishes the function from one of another drive in the same slot: the ids of its maker.
    pub(super) fn identity(&self, root: &Root) -> Option<String> {
        let home = self.home(root);
        let ids = ["vendor", "device", "subsystem_vendor", "subsystem_device"];
        let ids: Vec<String> = ids.iter().filter_map(|name| attribute(&home.join(name))).collect();
        (!ids.is_empty()).then(|| ids.join(":"))
    }

    /// The driver in force; [`HALF_WAY`] while it is neither here nor there.
    pub(super) fn read(&self, root: &Root) -> Option<String> {
        let home = self.home(root);
        if !home.exists() {
            return None;
        }
        let wanted = override_of(&home);
        let settled = |driver: &String| wanted == self.override_before || wanted.as_ref() == Some(driver);
        Some(driver_of(&home).filter(settled).unwrap_or_else(|| HALF_WAY.to_owned()))
    }

    pub(super) fn is_half_way(value: &str) -> bool {
        value == HALF_WAY
    }

    /// Gives the function to that driver. What is half done already is not done again, so that it may be killed anywhere and
    /// called once more.
    pub(super) fn write(&self, root: &Root, value: &str) -> Result<(), SettingError> {
        let setting = || Setting::PciDriver(Box::new(self.clone()));
        let fail = |source| SettingError::Write { setting: setting(), value: value.to_owned(), source };
        let home = self.home(root);
        let is_for_a_program = value == VFIO_DRIVER;
        if !is_for_a_program
            && driver_of(&home).as_deref() == Some(VFIO_DRIVER)
            && let Some((pid, program)) = group_node(root, &home).and_then(|node| holder_of(root, &node))
        {
            // The kernel would wait for that program for ever, and this one could not even be killed meanwhile.
            return Err(SettingError::InUse { setting: setting(), pid, program });
        }
        let wanted = if is_for_a_program { VFIO_DRIVER } else { self.override_before.as_deref().unwrap_or("\n") };
        put(&home.join("driver_override"), wanted).map_err(fail)?;
        if driver_of(&home).is_some_and(|driver| driver != value) {
            let unbind = home.join("driver/unbind");
            // The link leads to the driver, whose file must be no link itself.
            let unbind = fs::canonicalize(&unbind).map_err(fail)?;
            put(&unbind, &self.address).map_err(fail)?;
            wait(DRIVER_WITHIN, || driver_of(&home).is_none());
        }
        if driver_of(&home).is_none() {
            put(&root.join("sys/bus/pci/drivers_probe"), &self.address).map_err(fail)?;
            wait(DRIVER_WITHIN, || driver_of(&home).is_some());
        }
        if !is_for_a_program {
            let count = || {
                drives_behind(root, &self.address).iter().filter(|drive| has_node(root, &drive.dev_path)).count() as u32
            };
            if !wait(NAMESPACES_WITHIN, || count() >= self.namespaces || driver_of(&home).as_deref() != Some(value)) {
                let (found, wanted) = (count(), self.namespaces);
                return Err(SettingError::NamespacesGone { setting: setting(), found, wanted });
            }
        }
        Ok(())
    }
}

fn home(root: &Root, address: &str) -> PathBuf {
    root.join("sys/bus/pci/devices").join(address)
}

/// Name of the driver that has a function.
pub(crate) fn driver_of(home: &Path) -> Option<String> {
    let link = fs::read_link(home.join("driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// The one driver that a function is for, if one was named; the kernel writes `(null)` for none.
pub(crate) fn override_of(home: &Path) -> Option<String> {
    attribute(&home.join("driver_override")).filter(|text| text != "(null)")
}

/// The node through which a program holds the group of a function.
pub(crate) fn group_node(root: &Root, home: &Path) -> Option<PathBuf> {
    let link = fs::read_link(home.join("iommu_group")).ok()?;
    let number = link.file_name()?.to_str()?.to_owned();
    let is_unsafe = attribute(&home.join("iommu_group/name")).as_deref() == Some("vfio-noiommu");
    let name = if is_unsafe { format!("noiommu-{number}") } else { number };
    Some(root.join("dev/vfio").join(name))
}

fn has_node(root: &Root, path: &Path) -> bool {
    path.strip_prefix("/").is_ok_and(|below| root.join(below).exists())
}

/// One write call: the kernel takes each as a whole value.
fn put(path: &Path, value: &str) -> io::Result<()> {
    writing::attribute(path)?.write_all(value.as_bytes())
}

/// Whether it came true in that time.
pub(crate) fn wait(within: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + within;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
}
