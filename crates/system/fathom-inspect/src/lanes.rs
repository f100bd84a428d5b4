//! The lane ledger: who holds the processor's lanes, and how much a switch promises over what its uplink carries.

use fathom_message::{Arg, Join, Message, msg};
use serde::{Deserialize, Serialize};

use crate::pcie::{PciFunction, PciKind, Pcie};

/// A port of the processor and what it is used for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneUser {
    /// The port.
    pub port: String,
    /// Lanes the port has.
    pub lanes_max: u32,
    /// Lanes in use; 0 when nothing is plugged in.
    pub lanes_used: u32,
    /// What is attached to it: a switch with four NVMe drives.
    pub used_by: Message,
    /// Lanes its drives could use if each had its own, through a switch or not.
    pub drive_lanes: u32,
}

/// The lanes of one NUMA node; sockets and nodes are the same unless the firmware splits sockets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLanes {
    /// Node; `None` where the firmware does not say.
    pub numa_node: Option<u32>,
    /// Lanes of all visible ports. Ports the firmware hides are not counted.
    pub lanes_max: u32,
    /// Lanes in use.
    pub lanes_used: u32,
    /// Of those, lanes that lead to drives.
    pub lanes_for_drives: u32,
    /// Port by port.
    pub users: Vec<LaneUser>,
}

/// A switch's upper link against the sum of its lower ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uplink {
    /// The switch's upper port.
    pub switch: String,
    /// Usable bytes per second of the upper link.
    pub up_bytes_per_s: f64,
    /// Sum of the usable bytes per second of the links below that are in use.
    pub down_bytes_per_s: f64,
    /// Links below in use.
    pub links_below: u32,
    /// `down / up`: above 1 the drives together can do more than the uplink carries.
    pub oversubscription: f64,
}

/// Lanes per node and switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneLedger {
    /// By node.
    pub nodes: Vec<NodeLanes>,
    /// By switch.
    pub uplinks: Vec<Uplink>,
}

impl LaneLedger {
    /// Adds up the tree.
    #[must_use]
    pub fn of(pcie: &Pcie) -> LaneLedger {
        let mut nodes: Vec<NodeLanes> = Vec::new();
        for complex in &pcie.complexes {
            for port in complex.functions.iter().filter(|f| f.kind == PciKind::RootPort) {
                let Some(user) = user_of(port) else { continue };
                let node = port.numa_node.or(complex.numa_node);
                let index = nodes.iter().position(|n| n.numa_node == node).unwrap_or_else(|| {
                    nodes.push(NodeLanes {
                        numa_node: node,
                        lanes_max: 0,
                        lanes_used: 0,
                        lanes_for_drives: 0,
                        users: Vec::new(),
                    });
                    nodes.len() - 1
                });
                let sum = &mut nodes[index];
                sum.lanes_max += user.lanes_max;
                sum.lanes_used += user.lanes_used;
                sum.lanes_for_drives += if user.drive_lanes > 0 { user.lanes_used } else { 0 };
                sum.users.push(user);
            }
        }
        nodes.sort_by_key(|n| n.numa_node);
        let uplinks = pcie.functions().filter(|f| f.kind == PciKind::SwitchUpstream).filter_map(uplink_of).collect();
        LaneLedger { nodes, uplinks }
    }
}

fn user_of(port: &PciFunction) -> Option<LaneUser> {
    let lanes_max = u32::from(port.link_max?.width);
    // Functions of one device share the link.
    let lanes_used = port.children.iter().find_map(|c| c.hop.as_ref()).map_or(0, |h| u32::from(h.current.width));
    let drives = port.walk().filter(|f| f.is_storage());
    let drive_lanes = drives.filter_map(|f| f.hop.as_ref()).map(|h| u32::from(h.current.width)).sum();
    Some(LaneUser { port: port.address.clone(), lanes_max, lanes_used, used_by: use_of(port), drive_lanes })
}

/// An NVMe drive, a switch with four of them, two network cards, nothing.
fn use_of(port: &PciFunction) -> Message {
    let mut kinds: Vec<(&Message, u32)> = Vec::new();
    for endpoint in port.walk().filter(|f| f.kind == PciKind::Endpoint) {
        match kinds.iter_mut().find(|(name, _)| *name == &endpoint.class_name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&endpoint.class_name, 1)),
        }
    }
    let one = |(name, count): &(&Message, u32)| match *count {
        1 => (*name).clone(),
        count => msg!("lanes-several", count = count, what = *name),
    };
    let list = Arg::list(kinds.iter().map(one), Join::Comma);
    let is_switch = port.children.iter().any(|c| c.kind == PciKind::SwitchUpstream);
    match (is_switch, &kinds[..]) {
        (true, []) => msg!("lanes-empty-switch"),
        (true, _) => msg!("lanes-switch-with", list = list),
        (false, []) => msg!("lanes-empty"),
        (false, [only]) => one(only),
        (false, _) => msg!("lanes-list", list = list),
    }
}

fn uplink_of(switch: &PciFunction) -> Option<Uplink> {
    let up_bytes_per_s = switch.hop.as_ref()?.usable_bytes_per_s;
    let ports = switch.children.iter().filter(|c| c.kind == PciKind::SwitchDownstream);
    let below: Vec<f64> =
        ports.filter_map(|p| p.children.iter().find_map(|c| c.hop.as_ref())).map(|h| h.usable_bytes_per_s).collect();
    let down_bytes_per_s: f64 = below.iter().sum();
    Some(Uplink {
        switch: switch.address.clone(),
        up_bytes_per_s,
        down_bytes_per_s,
        links_below: below.len() as u32,
        oversubscription: down_bytes_per_s / up_bytes_per_s,
    })
}
