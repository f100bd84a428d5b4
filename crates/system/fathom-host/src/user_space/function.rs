//! PCI functions that are NVMe controllers, and the IOMMU groups they are in
//! (Documentation/ABI/testing/sysfs-bus-pci, sysfs-kernel-iommu_groups).

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::guard::{address_of, drives_behind, head_of};
use crate::root::{Root, attribute, names_in};
use crate::settings::{VFIO_DRIVER, driver_of, group_node, override_of};

/// Mass storage, non-volatile memory (PCI Code and ID Assignment 1.1, 1.2): the last byte tells NVMe from others, and
/// drives with an administrative interface alone (03h) have no I/O.
const NVME_IO: u32 = 0x01_0802;
/// Mass storage, non-volatile memory, whatever the interface.
const NVME_CLASS: u32 = 0x01_0800;
/// A PCI-to-PCI bridge.
const BRIDGE_CLASS: u32 = 0x06_0400;
/// Holds functions for nobody: the kernel lets groups be used with it in them (drivers/vfio, vfio_driver_allowed).
const STUB_DRIVER: &str = "pci-stub";

/// A PCI function that is an NVMe controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NvmeFunction {
    /// E.g. `0000:5e:00.0`.
    pub address: String,
    /// Driver in force; `None`: nobody has it.
    pub driver: Option<String>,
    /// The one driver that the function is for, if one was named.
    pub driver_override: Option<String>,
    /// The kernel's name of the controller, e.g. `nvme0`, while its driver has it.
    pub controller: Option<String>,
    /// Serial number, as long as the kernel's driver has it.
    pub serial: Option<String>,
    /// Model, as long as the kernel's driver has it.
    pub model: Option<String>,
    /// NUMA node it is attached to.
    pub numa_node: Option<u32>,
    /// The functions that an IOMMU cannot tell apart from it, with it; `None`: no IOMMU guards memory from it.
    pub group: Option<IommuGroup>,
}

/// Functions that an IOMMU cannot tell apart: they go to one program together, or to none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IommuGroup {
    /// Its number.
    pub number: u32,
    /// Node through which a program holds it, e.g. `/dev/vfio/12`; it is there while `vfio-pci` has a function of it.
    pub node: PathBuf,
    /// VFIO made it up, because there is no IOMMU: the drive can write to any memory.
    pub without_iommu: bool,
    /// All others in it, bridges too.
    pub others: Vec<GroupMember>,
}

/// Another function of an IOMMU group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupMember {
    /// Its address.
    pub address: String,
    /// Class code, e.g. `0x010802`.
    pub class: String,
    /// Its driver, if one has it.
    pub driver: Option<String>,
    /// Whether it keeps the group from a program: it works for the kernel and is no bridge.
    pub blocks: bool,
}

impl NvmeFunction {
    /// All of the machine below `root`, by address.
    #[must_use]
    pub fn all(root: &Root) -> Vec<NvmeFunction> {
        let addresses = root.names("sys/bus/pci/devices");
        addresses.iter().filter_map(|address| NvmeFunction::at(root, address).ok().flatten()).collect()
    }

    /// The one at this address; `Ok(None)`: there is another kind of function, whose class is no error of the machine's.
    ///
    /// # Errors
    /// `()`: there is no function.
    #[allow(clippy::result_unit_err)]
    pub fn at(root: &Root, address: &str) -> Result<Option<NvmeFunction>, ()> {
        let home = home(root, address);
        let class = class_of(&home).ok_or(())?;
        if class != NVME_IO && class & 0xff_ff00 != NVME_CLASS {
            return Ok(None);
        }
        let controller = names_in(&home.join("nvme")).into_iter().next();
        let of_controller = |name: &str| attribute(&home.join("nvme").join(controller.as_deref()?).join(name));
        Ok(Some(NvmeFunction {
            driver: driver_of(&home),
            driver_override: override_of(&home),
            serial: of_controller("serial"),
            model: of_controller("model"),
            numa_node: attribute(&home.join("numa_node")).and_then(|text| text.parse().ok()),
            group: IommuGroup::of(root, address),
            address: address.to_owned(),
            controller,
        }))
    }

    /// What names the drive in `--allow-unbind`: the serial number, or the address where it has none.
    #[must_use]
    pub fn consent_name(&self) -> &str {
        self.serial.as_deref().unwrap_or(&self.address)
    }

    /// Whether `vfio-pci` has it, so that a program may.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.driver.as_deref() == Some(VFIO_DRIVER)
    }

    /// Address of the function that an address, a serial number, or the name or node of a block or character device of the
    /// drive means.
    #[must_use]
    pub fn address_of(root: &Root, text: &str) -> Option<String> {
        if let Some(address) = address_of(text) {
            return Some(address);
        }
        let name = text.strip_prefix("/dev/").unwrap_or(text);
        let block = name.strip_prefix("ng").map_or_else(|| name.to_owned(), |rest| format!("nvme{rest}"));
        let is_named = |function: &NvmeFunction| {
            let is_of = |drive: &crate::disk::BlockDevice| {
                drive.name == block || block.strip_prefix(&drive.name).is_some_and(is_partition)
            };
            function.serial.as_deref() == Some(text)
                || function.controller.as_deref() == Some(name)
                || drives_behind(root, &function.address).iter().any(is_of)
        };
        NvmeFunction::all(root).into_iter().find(is_named).map(|function| function.address)
    }

    /// Another controller that leads to a namespace of this one, with the namespace: taking one away would leave its blocks to
    /// the kernel.
    pub(super) fn shared_with(&self, root: &Root) -> Option<(String, String)> {
        let controllers = names_in(&root.join("sys/class/nvme"));
        let paths_of = |controller: &String| names_in(&root.join("sys/class/nvme").join(controller));
        let own = self.controller.clone()?;
        let heads: Vec<String> = paths_of(&own).iter().filter_map(|name| head_of(name)).collect();
        controllers.into_iter().filter(|other| *other != own).find_map(|other| {
            let shared = paths_of(&other).iter().filter_map(|name| head_of(name)).find(|head| heads.contains(head))?;
            Some((other, shared))
        })
    }
}

/// `p3` of `nvme0n1p3`.
fn is_partition(rest: &str) -> bool {
    rest.strip_prefix('p').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

impl IommuGroup {
    /// The group of a function, if an IOMMU, or VFIO without one, put it into one.
    pub(super) fn of(root: &Root, address: &str) -> Option<IommuGroup> {
        let home = home(root, address);
        let number = fs::read_link(home.join("iommu_group")).ok()?.file_name()?.to_str()?.parse().ok()?;
        let node = group_node(root, &home)?;
        let members = names_in(&home.join("iommu_group/devices"));
        let others = members.into_iter().filter(|member| member != address).map(|member| GroupMember::at(root, member));
        let name = node.file_name()?.to_string_lossy();
        Some(IommuGroup {
            number,
            without_iommu: name.starts_with("noiommu-"),
            node: Path::new("/dev/vfio").join(&*name),
            others: others.collect(),
        })
    }

    /// Those that keep it from a program.
    pub fn blockers(&self) -> impl Iterator<Item = &GroupMember> {
        self.others.iter().filter(|other| other.blocks)
    }
}

impl GroupMember {
    fn at(root: &Root, address: String) -> GroupMember {
        let home = home(root, &address);
        let class = class_of(&home).unwrap_or(0);
        let driver = driver_of(&home);
        let is_harmless = driver.as_deref().is_none_or(|driver| driver == VFIO_DRIVER || driver == STUB_DRIVER);
        let is_bridge = class & 0xff_ff00 == BRIDGE_CLASS;
        GroupMember { address, class: format!("0x{class:06x}"), driver, blocks: !is_harmless && !is_bridge }
    }
}

fn home(root: &Root, address: &str) -> PathBuf {
    root.join("sys/bus/pci/devices").join(address)
}

fn class_of(home: &Path) -> Option<u32> {
    let text = attribute(&home.join("class"))?;
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}
