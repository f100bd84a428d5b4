//! The PCIe tree: root complexes, ports, switches, endpoints, and the link of every hop.

use std::collections::BTreeMap;

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use crate::link::{LinkRate, MAX_PAYLOAD_ASSUMED_BYTES};
use crate::look::{Look, Why, is_pci_address, is_root_complex};
use crate::part::Part;

/// What a PCI function is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PciKind {
    /// A port of the processor or chipset.
    RootPort,
    /// A switch's port towards the processor.
    SwitchUpstream,
    /// A switch's port towards a device.
    SwitchDownstream,
    /// A bridge of another sort.
    Bridge,
    /// A device.
    Endpoint,
}

/// The link between a port and the function below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// As trained.
    pub current: LinkRate,
    /// What the function below can do.
    pub device_max: Option<LinkRate>,
    /// What the port above can do.
    pub port_max: Option<LinkRate>,
    /// Largest payload per packet.
    pub max_payload_bytes: u32,
    /// Whether that was read; otherwise the usual 256 is assumed.
    pub max_payload_known: bool,
    /// Bytes per second for large reads after coding and packets.
    pub usable_bytes_per_s: f64,
}

impl Hop {
    /// The best link both ends can do, as far as they say.
    #[must_use]
    pub fn possible(&self) -> LinkRate {
        match (self.device_max, self.port_max) {
            (Some(a), Some(b)) => a.common(b),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.current,
        }
    }

    /// Whether both ends can do better than they do.
    #[must_use]
    pub fn is_trained_down(&self) -> bool {
        self.current.is_below(self.possible())
    }

    /// Usable bytes per second if the link ran at `rate`.
    #[must_use]
    pub fn usable_at(&self, rate: LinkRate) -> f64 {
        rate.usable_bytes_per_s(self.max_payload_bytes)
    }
}

/// A PCI function and what is below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PciFunction {
    /// `0000:3b:00.0`.
    pub address: String,
    /// Its place in the tree.
    pub kind: PciKind,
    /// Class code, six hexadecimal digits: `010802`.
    pub class: String,
    /// What the class is.
    pub class_name: Message,
    /// Vendor, four hexadecimal digits.
    pub vendor_id: String,
    /// Device, four hexadecimal digits.
    pub device_id: String,
    /// Kernel driver bound to it.
    pub driver: Option<String>,
    /// NUMA node.
    pub numa_node: Option<u32>,
    /// Domain type of its IOMMU group: `DMA` (strict), `DMA-FQ` (lazy), `identity`.
    pub iommu: Option<String>,
    /// Best link of this function: towards the processor for devices, towards the device for ports.
    pub link_max: Option<LinkRate>,
    /// The link to the port above; `None` for ports of the processor and functions inside it.
    pub hop: Option<Hop>,
    /// Functions below.
    pub children: Vec<PciFunction>,
}

impl PciFunction {
    /// This function and all below it, parents first.
    pub fn walk(&self) -> impl Iterator<Item = &PciFunction> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            stack.extend(next.children.iter().rev());
            Some(next)
        })
    }

    /// An NVMe controller.
    #[must_use]
    pub fn is_nvme(&self) -> bool {
        self.class.starts_with("0108")
    }

    /// Mass storage of any sort.
    #[must_use]
    pub fn is_storage(&self) -> bool {
        self.class.starts_with("01")
    }
}

/// A root complex: where a part of the processor's lanes begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RootComplex {
    /// `pci0000:3a`.
    pub name: String,
    /// NUMA node of its ports.
    pub numa_node: Option<u32>,
    /// Its functions.
    pub functions: Vec<PciFunction>,
}

/// All root complexes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pcie {
    /// In order of their buses.
    pub complexes: Vec<RootComplex>,
}

impl Pcie {
    /// Every function, parents first.
    pub fn functions(&self) -> impl Iterator<Item = &PciFunction> {
        self.complexes.iter().flat_map(|c| &c.functions).flat_map(PciFunction::walk)
    }

    /// The function at an address.
    #[must_use]
    pub fn find(&self, address: &str) -> Option<&PciFunction> {
        self.functions().find(|f| f.address == address)
    }

    /// The functions from the processor's port down to `address`; empty when it is not there.
    #[must_use]
    pub fn path_to(&self, address: &str) -> Vec<&PciFunction> {
        fn down<'a>(functions: &'a [PciFunction], address: &str) -> Option<Vec<&'a PciFunction>> {
            functions.iter().find_map(|f| {
                let mut path = if f.address == address { Vec::new() } else { down(&f.children, address)? };
                path.insert(0, f);
                Some(path)
            })
        }
        self.complexes.iter().find_map(|c| down(&c.functions, address)).unwrap_or_default()
    }

    pub(crate) fn read(look: &Look<'_>) -> Pcie {
        let mut flat: BTreeMap<String, Flat> = BTreeMap::new();
        for address in look.names("sys/bus/pci/devices") {
            if !is_pci_address(&address) {
                continue;
            }
            let home = format!("sys/bus/pci/devices/{address}");
            match look.real(&home) {
                Some(real) => drop(flat.insert(address.clone(), Flat::read(look, &home, &real, &address))),
                None => look.miss(Part::PciFunctions, Why::Unreadable, &home, msg!("missing-link-leads-nowhere")),
            }
        }
        assemble(&flat)
    }
}

/// A function before it found its place in the tree.
struct Flat {
    function: PciFunction,
    complex: String,
    parent: Option<String>,
    current: Option<LinkRate>,
    port_type: Option<u8>,
    max_payload_bytes: Option<u32>,
}

impl Flat {
    fn read(look: &Look<'_>, home: &str, real: &str, address: &str) -> Flat {
        let get = |name: &str| look.word(&format!("{home}/{name}"), Part::PciFunction);
        let hex = |name: &str| get(name).map(|t| t.trim_start_matches("0x").to_owned()).unwrap_or_default();
        let link =
            |which: &str| LinkRate::parse(&get(&format!("{which}_link_speed"))?, &get(&format!("{which}_link_width"))?);
        let config = Config::read(look, &format!("{home}/config"));
        let group = look.link_name(&format!("{home}/iommu_group"));
        let class = hex("class");
        let components: Vec<&str> = real.split('/').collect();
        let complex = components.iter().rposition(|c| is_root_complex(c));
        let below = complex.map_or(&[][..], |at| &components[at + 1..]);
        let parent = below.iter().rev().skip(1).find(|c| is_pci_address(c));
        Flat {
            function: PciFunction {
                address: address.to_owned(),
                kind: PciKind::Endpoint,
                class_name: class_name(&class),
                class,
                vendor_id: hex("vendor"),
                device_id: hex("device"),
                driver: look.link_name(&format!("{home}/driver")),
                numa_node: look.node(&format!("{home}/numa_node")),
                iommu: group.and_then(|g| look.word(&format!("sys/kernel/iommu_groups/{g}/type"), Part::IommuDomain)),
                link_max: link("max"),
                hop: None,
                children: Vec::new(),
            },
            complex: complex.map_or_else(|| "?".to_owned(), |at| components[at].to_owned()),
            parent: parent.map(|p| (*p).to_owned()),
            current: link("current"),
            port_type: config.port_type,
            max_payload_bytes: config.max_payload_bytes,
        }
    }
}

/// What the PCI Express capability (id 0x10) of the configuration space says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Config {
    port_type: Option<u8>,
    max_payload_bytes: Option<u32>,
}

impl Config {
    fn read(look: &Look<'_>, path: &str) -> Config {
        let Some(bytes) = look.bytes(path, Part::PciConfiguration) else { return Config::default() };
        if bytes.len() == 64 {
            // The kernel shows others than root the first 64 bytes only.
            look.miss(Part::PciPayload, Why::NeedsRoot, path, msg!("missing-only-64-bytes"));
        }
        Config::parse(&bytes)
    }

    /// Walks the list of capabilities (PCI Local Bus Specification 3.0, 6.7); PCI Express Base Specification 7.5.3:
    /// bits 7:4 of the capability register are the port type, bits 7:5 of device control the payload as 128 << n.
    fn parse(bytes: &[u8]) -> Config {
        let at = |i: usize| bytes.get(i).copied();
        let mut next = if at(6).is_some_and(|status| status & 0x10 != 0) { at(0x34) } else { None };
        // At most 48 capabilities fit into the 192 bytes after the header: a longer list runs in a circle.
        for _ in 0..48 {
            let Some(offset) = next.map(|n| usize::from(n & 0xfc)).filter(|o| *o >= 0x40) else { break };
            if at(offset) == Some(0x10) {
                return Config {
                    port_type: at(offset + 2).map(|b| b >> 4),
                    max_payload_bytes: at(offset + 8).map(|b| 128_u32 << (b >> 5)).filter(|b| *b <= 4096),
                };
            }
            next = at(offset + 1);
        }
        Config::default()
    }
}

fn assemble(flat: &BTreeMap<String, Flat>) -> Pcie {
    let mut complexes: BTreeMap<&str, RootComplex> = BTreeMap::new();
    for (address, one) in flat {
        if one.parent.as_ref().is_some_and(|p| flat.contains_key(p)) {
            continue;
        }
        let function = build(flat, address, None, 0);
        let complex = complexes.entry(&one.complex).or_insert_with(|| RootComplex {
            name: one.complex.clone(),
            numa_node: None,
            functions: Vec::new(),
        });
        complex.numa_node = complex.numa_node.or(function.numa_node);
        complex.functions.push(function);
    }
    Pcie { complexes: complexes.into_values().collect() }
}

/// The function at `address` with all below it. `depth` bounds the recursion in a tree that is not the kernel's.
fn build(flat: &BTreeMap<String, Flat>, address: &str, above: Option<(&Flat, PciKind)>, depth: u32) -> PciFunction {
    let one = &flat[address];
    let mut function = one.function.clone();
    let below: Vec<&String> =
        flat.iter().filter(|(_, f)| f.parent.as_deref() == Some(address)).map(|(a, _)| a).collect();
    function.kind = kind_of(one, above.map(|(_, kind)| kind));
    function.hop = above.and_then(|(port, kind)| hop_between(port, kind, one));
    if depth < 32 {
        function.children = below.iter().map(|a| build(flat, a, Some((one, function.kind)), depth + 1)).collect();
    }
    function
}

/// The configuration space says; without it, the place in the tree does: ports of the processor are at the top, below
/// a port that leads down comes a switch's upper port, below that its lower ports.
fn kind_of(one: &Flat, above: Option<PciKind>) -> PciKind {
    let has_link = one.function.link_max.is_some() || one.current.is_some();
    match one.port_type {
        Some(4) => return PciKind::RootPort,
        Some(5) => return PciKind::SwitchUpstream,
        Some(6) => return PciKind::SwitchDownstream,
        Some(7 | 8) => return PciKind::Bridge,
        Some(_) => return PciKind::Endpoint,
        None => {}
    }
    if !one.function.class.starts_with("0604") {
        return PciKind::Endpoint;
    }
    match above {
        _ if !has_link => PciKind::Bridge,
        None => PciKind::RootPort,
        Some(PciKind::RootPort | PciKind::SwitchDownstream) => PciKind::SwitchUpstream,
        Some(PciKind::SwitchUpstream) => PciKind::SwitchDownstream,
        Some(PciKind::Bridge | PciKind::Endpoint) => PciKind::Bridge,
    }
}

/// There is no link between a switch's own ports: its inside is not PCIe.
fn hop_between(port: &Flat, port_kind: PciKind, device: &Flat) -> Option<Hop> {
    if !matches!(port_kind, PciKind::RootPort | PciKind::SwitchDownstream) {
        return None;
    }
    let current = device.current.or(port.current)?;
    // Both ends of a link agree on the payload; the smaller one rules if the firmware left them apart.
    let known = [port.max_payload_bytes, device.max_payload_bytes].into_iter().flatten().min();
    let max_payload_bytes = known.unwrap_or(MAX_PAYLOAD_ASSUMED_BYTES);
    Some(Hop {
        current,
        device_max: device.function.link_max,
        port_max: port.function.link_max,
        max_payload_bytes,
        max_payload_known: known.is_some(),
        usable_bytes_per_s: current.usable_bytes_per_s(max_payload_bytes),
    })
}

/// The classes that matter to storage (PCI Code and ID Assignment Specification 1.11).
fn class_name(class: &str) -> Message {
    match (class.get(..2).unwrap_or(""), class.get(..4).unwrap_or("")) {
        (_, "0101") => msg!("pci-ide"),
        (_, "0104") => msg!("pci-raid"),
        (_, "0106") => msg!("pci-sata"),
        (_, "0107") => msg!("pci-sas"),
        (_, "0108") => msg!("pci-nvme"),
        ("01", _) => msg!("pci-storage"),
        (_, "0200") => msg!("pci-ethernet"),
        (_, "0207") => msg!("pci-infiniband"),
        ("02", _) => msg!("pci-network"),
        ("03", _) => msg!("pci-display"),
        ("05", _) => msg!("pci-memory"),
        (_, "0600") => msg!("pci-host-bridge"),
        (_, "0604") => msg!("pci-bridge"),
        ("06", _) => msg!("pci-other-bridge"),
        (_, "0c03") => msg!("pci-usb"),
        (_, "0806") => msg!("pci-iommu"),
        ("12", _) => msg!("pci-accelerator"),
        ("08", _) => msg!("pci-system"),
        _ => msg!("pci-other"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::Root;
    use fathom_host::testing::Tree;

    /// A configuration space with the PCIe capability at 0x80 behind another one.
    pub(crate) fn config(port_type: u8, payload_code: u8) -> Vec<u8> {
        let mut bytes = vec![0; 256];
        bytes[6] = 0x10;
        bytes[0x34] = 0x40;
        (bytes[0x40], bytes[0x41]) = (0x01, 0x80);
        (bytes[0x80], bytes[0x82], bytes[0x88]) = (0x10, port_type << 4 | 2, payload_code << 5);
        bytes
    }

    fn add(tree: &Tree, path: &str, class: &str, current: &str, max: &str) {
        let address = path.rsplit('/').next().expect("address");
        let home = format!("sys/devices/{path}");
        let link = |which: &str, text: &str| {
            if let Some((speed, width)) = text.split_once(' ') {
                tree.file(&format!("{home}/{which}_link_speed"), format!("{speed} GT/s PCIe\n"))
                    .file(&format!("{home}/{which}_link_width"), format!("{width}\n"));
            }
        };
        tree.file(&format!("{home}/class"), format!("0x{class}\n")).file(&format!("{home}/vendor"), "0x144d\n");
        tree.link(&format!("sys/bus/pci/devices/{address}"), &format!("../../../devices/{path}"));
        link("current", current);
        link("max", max);
    }

    fn switch() -> Tree {
        let tree = Tree::new();
        let port = "pci0000:3a/0000:3a:00.0";
        add(&tree, port, "060400", "8.0 16", "8.0 16");
        add(&tree, &format!("{port}/0000:3b:00.0"), "060400", "8.0 16", "8.0 16");
        for (slot, bus) in [("04", "3d"), ("05", "3e")] {
            let down = format!("{port}/0000:3b:00.0/0000:3c:{slot}.0");
            add(&tree, &down, "060400", "8.0 4", "8.0 4");
            add(&tree, &format!("{down}/0000:{bus}:00.0"), "010802", "8.0 2", "16.0 4");
        }
        tree
    }

    fn read(root: &Root) -> Pcie {
        Pcie::read(&Look::new(root))
    }

    #[test]
    fn a_switch_is_found_without_its_configuration_space() {
        let pcie = read(&switch().root());
        let kinds: Vec<_> = pcie.functions().map(|f| (f.address.as_str(), f.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("0000:3a:00.0", PciKind::RootPort),
                ("0000:3b:00.0", PciKind::SwitchUpstream),
                ("0000:3c:04.0", PciKind::SwitchDownstream),
                ("0000:3d:00.0", PciKind::Endpoint),
                ("0000:3c:05.0", PciKind::SwitchDownstream),
                ("0000:3e:00.0", PciKind::Endpoint),
            ]
        );
        assert_eq!(pcie.path_to("0000:3e:00.0").len(), 4);
        assert!(pcie.path_to("0000:99:00.0").is_empty());
    }

    #[test]
    fn each_link_knows_both_its_ends() {
        let pcie = read(&switch().root());
        let hop = pcie.find("0000:3d:00.0").and_then(|f| f.hop.clone()).expect("a link");
        assert_eq!((hop.current.to_string().as_str(), hop.possible().to_string().as_str()), ("Gen3 x2", "Gen3 x4"));
        assert!(hop.is_trained_down() && !hop.max_payload_known);
        assert!((hop.usable_at(hop.possible()) / hop.usable_bytes_per_s - 2.0).abs() < 1e-9);
        assert!(pcie.find("0000:3c:04.0").expect("there").hop.is_none(), "the inside of a switch is no link");
        assert!(!pcie.find("0000:3b:00.0").and_then(|f| f.hop.clone()).expect("a link").is_trained_down());
    }

    #[test]
    fn the_configuration_space_gives_kind_and_payload() {
        let tree = switch();
        tree.file("sys/devices/pci0000:3a/0000:3a:00.0/config", config(4, 2))
            .file("sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/config", config(5, 1));
        let pcie = read(&tree.root());
        let hop = pcie.find("0000:3b:00.0").and_then(|f| f.hop.clone()).expect("a link");
        assert_eq!((hop.max_payload_bytes, hop.max_payload_known), (256, true));
        assert_eq!(Config::parse(&config(4, 2)), Config { port_type: Some(4), max_payload_bytes: Some(512) });
    }

    #[test]
    fn a_list_of_capabilities_that_runs_in_a_circle_ends() {
        let mut bytes = config(4, 0);
        bytes[0x41] = 0x40;
        assert_eq!(Config::parse(&bytes), Config::default());
        assert_eq!(Config::parse(&[]), Config::default());
        assert_eq!(Config::parse(&[0xff; 256]), Config::default());
    }

    #[test]
    fn a_closed_configuration_space_is_noted_with_what_root_would_add() {
        let tree = switch();
        tree.file("sys/devices/pci0000:3a/0000:3a:00.0/config", [0; 64]);
        let root = tree.root();
        let look = Look::new(&root);
        Pcie::read(&look);
        let missing = look.into_missing();
        assert!(missing.iter().any(|m| m.why == Why::NeedsRoot && m.what.id() == "part-pci-payload"), "{missing:?}");
    }
}
