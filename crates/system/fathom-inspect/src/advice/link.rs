//! Rules about PCIe links.

use fathom_message::{Message, Quantity, msg};

use super::{Advice, Context, merged, named, note, warning};
use crate::pcie::{Hop, PciFunction, PciKind};
use crate::{Drive, LinkRate};

/// Above this the sum of the drives is more than the uplink's by more than rounding.
const OVERSUBSCRIBED: f64 = 1.05;
/// A drive that gets less than this share of its port's link, and says it can no better, is not believed: some
/// controllers report the trained link as their capability, and no NVMe drive made for servers has it so small.
const DOUBTFUL_SHARE: f64 = 0.2;

/// A link on the way to a drive.
struct DriveLink<'a> {
    /// The drive, or the switch whose upper link it is.
    name: Message,
    function: &'a PciFunction,
    hop: &'a Hop,
    /// Best of the nearest port above that reports it.
    port_max: Option<LinkRate>,
}

/// Every link that leads to a drive, each once.
fn drive_links<'a>(context: &Context<'a>) -> Vec<DriveLink<'a>> {
    let pcie = &context.inventory.pcie;
    let mut seen: Vec<&str> = Vec::new();
    let mut links = Vec::new();
    for drive in &context.drives {
        let mut port_max = None;
        for function in drive.pci_address.as_deref().map(|a| pcie.path_to(a)).unwrap_or_default() {
            if let Some(hop) = function.hop.as_ref().filter(|_| !seen.contains(&function.address.as_str())) {
                seen.push(&function.address);
                let is_drive = Some(&function.address) == drive.pci_address.as_ref();
                let name = if is_drive { named(drive) } else { switch(&function.address) };
                links.push(DriveLink { name, function, hop, port_max });
            }
            if matches!(function.kind, PciKind::RootPort | PciKind::SwitchDownstream) {
                port_max = function.link_max.or(port_max);
            }
        }
    }
    links
}

fn switch(address: &str) -> Message {
    msg!("advice-of-switch", address = address.to_owned())
}

/// A link runs below what both its ends can do.
pub(super) fn trained_down(context: &Context<'_>) -> Vec<Advice> {
    let found = drive_links(context).into_iter().filter_map(|DriveLink { name, function, hop, port_max }| {
        let doubtful =
            |best: &LinkRate| function.is_storage() && hop.usable_bytes_per_s < hop.usable_at(*best) * DOUBTFUL_SHARE;
        let (link, rate) = (hop.current.to_string(), Quantity::bytes_per_s(hop.usable_bytes_per_s));
        let (best, reason) = if hop.is_trained_down() {
            let best = hop.possible();
            (best, msg!("advice-trained-down", link = link, rate = rate, best = best.to_string()))
        } else {
            let best = port_max.filter(doubtful)?;
            (best, msg!("advice-trained-down-doubtful", link = link, rate = rate, best = best.to_string()))
        };
        let effect = msg!("advice-trained-down-effect", rate = Quantity::bytes_per_s(hop.usable_at(best)));
        let advice = warning("link.trained-down", reason, effect);
        Some((name, advice.remedy(msg!("advice-trained-down-remedy"))))
    });
    merged(found)
}

/// The slot's best is below the drive's best.
pub(super) fn slot_limits(context: &Context<'_>) -> Vec<Advice> {
    let found = drive_links(context).into_iter().filter_map(|DriveLink { name, hop, .. }| {
        let (device, port) = (hop.device_max?, hop.port_max?);
        if hop.is_trained_down() || !port.common(device).is_below(device) {
            return None;
        }
        let (device_link, port_link, link) = (device.to_string(), port.to_string(), hop.current.to_string());
        let reason = msg!("advice-slot", device = device_link, port = port_link, link = link);
        let (better, now) = (hop.usable_at(device), hop.usable_bytes_per_s);
        let (better, now) = (Quantity::bytes_per_s(better), Quantity::bytes_per_s(now));
        Some((name, note("link.slot", reason, msg!("advice-slot-effect", better = better, now = now))))
    });
    merged(found)
}

/// A switch above a drive promises more below than it has above.
pub(super) fn uplink(context: &Context<'_>) -> Vec<Advice> {
    let pcie = &context.inventory.pcie;
    let leads_to = |switch: &str, drive: &Drive| {
        drive.pci_address.as_deref().is_some_and(|a| pcie.path_to(a).iter().any(|f| f.address == switch))
    };
    let over = context
        .inventory
        .lanes
        .uplinks
        .iter()
        .filter(|u| u.oversubscription > OVERSUBSCRIBED && context.drives.iter().any(|d| leads_to(&u.switch, d)));
    let found = over.map(|u| {
        let (up, down) = (Quantity::bytes_per_s(u.up_bytes_per_s), Quantity::bytes_per_s(u.down_bytes_per_s));
        let ratio = Quantity::times(u.oversubscription);
        let reason = msg!("advice-uplink", links = u.links_below, down = down, up = up, ratio = ratio);
        let advice = warning("pcie.uplink-oversubscribed", reason, msg!("advice-uplink-effect", up = up));
        (switch(&u.switch), advice)
    });
    merged(found)
}

#[cfg(test)]
mod tests {
    use crate::advice::Subject;
    use crate::advice::testing::{effect, ids, ids_for, reason, subjects};
    use crate::machines::{Link, Machine};

    fn one_drive(current: Link, drive: Link, port: Link) -> Machine {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, current, drive, port);
        machine
    }

    #[test]
    fn a_link_below_both_its_ends_is_trained_down() {
        let machine = one_drive((3, 2), (4, 4), (4, 4));
        let (reason, effect) = (reason(&machine, "link.trained-down"), effect(&machine, "link.trained-down"));
        assert!(reason.contains("Gen3 x2, 1.75 GB/s"), "{reason}");
        assert!(effect.contains("6.98 GB/s"), "{effect}");
        assert_eq!(subjects(&machine, "link.trained-down"), ["nvme0n1"]);
    }

    #[test]
    fn a_link_at_the_best_of_the_lesser_end_is_not_trained_down() {
        for (drive, port) in [((4, 4), (4, 4)), ((3, 4), (5, 4)), ((5, 4), (3, 4))] {
            let current = (drive.0.min(port.0), 4);
            assert!(!ids(&one_drive(current, drive, port)).contains(&"link.trained-down".to_owned()));
        }
    }

    #[test]
    fn a_drive_that_claims_next_to_nothing_is_not_believed() {
        let reason = reason(&one_drive((1, 1), (1, 1), (4, 4)), "link.trained-down");
        assert!(reason.contains("claims no better"), "{reason}");
    }

    #[test]
    fn a_switch_that_does_not_report_its_best_leaves_the_judgement_to_the_port_above() {
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (1, 1), 1);
        machine.file("sys/bus/pci/devices/0000:12:04.0/max_link_speed", "Unknown\n");
        assert!(reason(&machine, "link.trained-down").ends_with("supports Gen4 x16"));
    }

    #[test]
    fn a_slot_below_the_drive_is_noted_and_an_equal_one_is_not() {
        let effect = effect(&one_drive((3, 4), (4, 4), (3, 16)), "link.slot");
        assert!(effect.contains("6.98 GB/s") && effect.contains("instead of 3.49 GB/s"), "{effect}");
        assert!(!ids(&one_drive((3, 4), (3, 4), (3, 4))).contains(&"link.slot".to_owned()));
    }

    #[test]
    fn six_drives_behind_a_sixteenth_lane_switch_oversubscribe_it_and_four_do_not() {
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (4, 4), 6);
        let reason = reason(&machine, "pcie.uplink-oversubscribed");
        assert!(reason.contains("1.50x"), "{reason}");
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (4, 4), 4);
        assert!(!ids(&machine).contains(&"pcie.uplink-oversubscribed".to_owned()));
    }

    #[test]
    fn the_uplink_of_a_switch_is_no_matter_of_a_drive_that_is_not_behind_it() {
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (4, 4), 6);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        let is_said = |targets: Option<Vec<String>>| {
            let ids = ids_for(&machine, &Subject { targets, cpus: Vec::new() });
            ids.contains(&"pcie.uplink-oversubscribed".to_owned())
        };
        assert!(is_said(None) && is_said(Some(vec!["nvme0n1".into()])), "behind the switch");
        assert!(is_said(Some(vec!["nvme6n1".into(), "nvme5n1".into()])), "one of them is behind it");
        assert!(!is_said(Some(vec!["nvme6n1".into()])), "on a port of its own");
        assert!(!is_said(Some(Vec::new())), "no drive at all");
    }
}
