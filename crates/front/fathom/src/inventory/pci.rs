//! The PCIe tree and the lane ledger.

use fathom_language::english;
use fathom_units::format_significant;

use super::branch::Branch;
use super::parts::{drive_lines, plural};
use fathom_inspect::{Hop, PciFunction, PciKind};
use fathom_inspect::{Inventory, LaneUser, NodeLanes};

pub(super) fn gb_per_s(bytes: f64) -> String {
    format!("{} GB/s", format_significant(bytes / 1e9))
}

/// Addresses without domain 0000, as lspci writes them.
fn short(address: &str) -> &str {
    address.strip_prefix("0000:").unwrap_or(address)
}

fn node_words(node: Option<u32>) -> String {
    node.map_or(String::new(), |n| format!("node {n}"))
}

/// All complexes that have something to show.
pub(super) fn tree(inventory: &Inventory) -> Option<Branch> {
    let mut complexes = Vec::new();
    for complex in &inventory.pcie.complexes {
        let (shown, hidden): (Vec<_>, Vec<_>) = complex.functions.iter().partition(|f| is_shown(f));
        let empty = hidden.iter().filter(|f| f.kind == PciKind::RootPort).count();
        let mut children: Vec<Branch> = shown.into_iter().map(|f| function(inventory, f)).collect();
        if children.is_empty() && empty == 0 {
            continue;
        }
        if empty > 0 {
            children.push(Branch::line(format!("{empty} empty {}", if empty == 1 { "port" } else { "ports" })));
        }
        complexes.push(Branch::new(vec![complex.name.clone(), node_words(complex.numa_node)]).with(children));
    }
    let assumed = inventory.pcie.functions().filter_map(|f| f.hop.as_ref()).any(|h| !h.max_payload_known);
    let payload = if assumed { "usable: large reads, payload of 256 bytes assumed" } else { "usable: large reads" };
    (!complexes.is_empty()).then(|| Branch::line(format!("PCIe ({payload})")).with(complexes))
}

/// Storage, network, display, accelerators, and what leads to them.
fn is_shown(function: &PciFunction) -> bool {
    function.walk().any(|f| ["01", "02", "03", "12"].iter().any(|c| f.class.starts_with(c)))
}

fn function(inventory: &Inventory, function: &PciFunction) -> Branch {
    let drives: Vec<_> =
        inventory.drives.iter().filter(|d| d.pci_address.as_ref() == Some(&function.address)).collect();
    let what = match function.kind {
        PciKind::RootPort => "port".to_owned(),
        PciKind::SwitchUpstream => format!("switch {}:{}", function.vendor_id, function.device_id),
        PciKind::SwitchDownstream => "switch port".to_owned(),
        PciKind::Bridge => "bridge".to_owned(),
        PciKind::Endpoint => endpoint(function, &drives),
    };
    // A port that leads to one device shares its line; the device's link describes the port.
    if let (PciKind::RootPort | PciKind::SwitchDownstream, [only]) = (function.kind, &function.children[..])
        && only.hop.is_some()
    {
        let mut line = self::function(inventory, only);
        line.parts[0] = format!("{} → {}", short(&function.address), line.parts[0]);
        return line;
    }
    let mut parts = vec![format!("{} {what}", short(&function.address))];
    if let Some(hop) = &function.hop {
        parts.extend(link(hop));
    } else if matches!(function.kind, PciKind::RootPort | PciKind::SwitchDownstream) {
        parts.extend(function.link_max.map(|max| format!("up to {max}")));
    }
    let mut children: Vec<Branch> =
        function.children.iter().filter(|c| is_shown(c)).map(|c| self::function(inventory, c)).collect();
    children.extend(drives.into_iter().map(|d| drive_lines(inventory, d)));
    let empty = function.children.iter().filter(|c| c.kind == PciKind::SwitchDownstream && !is_shown(c)).count();
    if empty > 0 {
        children.push(Branch::line(format!("{empty} empty switch ports")));
    }
    Branch::new(parts).with(children)
}

fn endpoint(function: &PciFunction, drives: &[&fathom_inspect::Drive]) -> String {
    // A hypervisor's drives have a class of their own making; vendor and device say more.
    let class = if drives.is_empty() || function.is_nvme() {
        english(&function.class_name)
    } else {
        format!("{} {}:{}", english(&function.class_name), function.vendor_id, function.device_id)
    };
    match function.driver.as_deref() {
        Some("nvme") | None => class,
        Some(driver) => format!("{class} ({driver})"),
    }
}

/// `Gen4 x4 (6.98 GB/s usable) of Gen5 x4`, and what is wrong with it.
fn link(hop: &Hop) -> Vec<String> {
    let mut text = format!("{} ({} usable)", hop.current, gb_per_s(hop.usable_bytes_per_s));
    if let Some(max) = hop.device_max.filter(|max| hop.current.is_below(*max)) {
        text.push_str(&format!(" of {max}"));
    }
    let mark = if hop.is_trained_down() {
        Some("▼ trained down".to_owned())
    } else {
        let slot = hop.port_max.zip(hop.device_max).filter(|(port, device)| port.common(*device).is_below(*device));
        slot.map(|(port, _)| format!("△ the port can do {port}"))
    };
    std::iter::once(text).chain(mark).collect()
}

/// Lanes by node, ports that are alike shown once; then the switches.
pub(super) fn lanes(inventory: &Inventory) -> Option<Branch> {
    let ledger = &inventory.lanes;
    let mut children: Vec<Branch> = ledger.nodes.iter().map(node_lanes).collect();
    for uplink in &ledger.uplinks {
        children.push(Branch::new(vec![
            format!("switch {}", short(&uplink.switch)),
            format!("uplink {}", gb_per_s(uplink.up_bytes_per_s)),
            format!("{} below {}", plural(uplink.links_below, "link"), gb_per_s(uplink.down_bytes_per_s)),
            format!("{} to 1", format_significant(uplink.oversubscription)),
        ]));
    }
    (!children.is_empty()).then(|| Branch::line("Lanes").with(children))
}

fn node_lanes(node: &NodeLanes) -> Branch {
    let mut groups: Vec<(&LaneUser, u32)> = Vec::new();
    let alike =
        |a: &LaneUser, b: &LaneUser| (&a.used_by, a.lanes_max, a.lanes_used) == (&b.used_by, b.lanes_max, b.lanes_used);
    for user in &node.users {
        match groups.iter_mut().find(|(known, _)| alike(known, user)) {
            Some((_, count)) => *count += 1,
            None => groups.push((user, 1)),
        }
    }
    let lines = groups.into_iter().map(|(user, count)| {
        let times = if count > 1 { format!("{count} ports ") } else { String::new() };
        let width = match (user.lanes_used, user.lanes_max) {
            (0, max) => format!("x{max}"),
            (used, max) if used == max => format!("x{max}"),
            (used, max) => format!("x{used} of x{max}"),
        };
        let drives = if user.drive_lanes > user.lanes_used {
            format!("{} drive lanes behind {}", user.drive_lanes, user.lanes_used)
        } else {
            String::new()
        };
        Branch::new(vec![format!("{times}{width}"), english(&user.used_by), drives])
    });
    let name = node.numa_node.map_or("node not reported".to_owned(), |n| format!("node {n}"));
    Branch::new(vec![
        name,
        format!("{} of {} visible lanes in use", node.lanes_used, node.lanes_max),
        format!("{} lead to drives", node.lanes_for_drives),
    ])
    .with(lines.collect())
}
