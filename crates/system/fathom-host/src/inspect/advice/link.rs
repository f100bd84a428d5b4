//! Rules about PCIe links.

use fathom_units::format_significant;

use super::{Advice, Context, by_words, note, warning};
use crate::inspect::pcie::{Hop, PciFunction, PciKind};
use crate::inspect::{Drive, LinkRate};

/// Above this the sum of the drives is more than the uplink's by more than rounding.
const OVERSUBSCRIBED: f64 = 1.05;
/// A drive that gets less than this share of its port's link, and says it can no better, is not believed: some
/// controllers report the trained link as their capability, and no NVMe drive made for servers has it so small.
const DOUBTFUL_SHARE: f64 = 0.2;

fn gb_per_s(bytes: f64) -> String {
    format!("{} GB/s", format_significant(bytes / 1e9))
}

/// A link on the way to a drive.
struct DriveLink<'a> {
    /// The drive, or the switch whose upper link it is.
    name: String,
    function: &'a PciFunction,
    hop: &'a Hop,
    /// Best of the nearest port above that tells.
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
                let name = if is_drive { drive.device.name.clone() } else { format!("switch {}", function.address) };
                links.push(DriveLink { name, function, hop, port_max });
            }
            if matches!(function.kind, PciKind::RootPort | PciKind::SwitchDownstream) {
                port_max = function.link_max.or(port_max);
            }
        }
    }
    links
}

/// A link runs below what both its ends can do.
pub(super) fn trained_down(context: &Context<'_>) -> Vec<Advice> {
    let found = drive_links(context).into_iter().filter_map(|DriveLink { name, function, hop, port_max }| {
        let doubtful =
            |best: &LinkRate| function.is_storage() && hop.usable_bytes_per_s < hop.usable_at(*best) * DOUBTFUL_SHARE;
        let (best, why) = if hop.is_trained_down() {
            (hop.possible(), "both ends can do")
        } else {
            (port_max.filter(doubtful)?, "the drive claims no better, but the port above it can do")
        };
        let reason =
            format!("the link runs at {} ({} usable); {why} {best}", hop.current, gb_per_s(hop.usable_bytes_per_s));
        let effect = format!("large transfers up to {}", gb_per_s(hop.usable_at(best)));
        let advice = warning("link.trained-down", reason, effect)
            .remedy("reseat the drive, check riser and cable, then the firmware's link settings for the slot");
        Some((name, advice))
    });
    by_words(found)
}

/// The slot's best is below the drive's best.
pub(super) fn slot_limits(context: &Context<'_>) -> Vec<Advice> {
    let found = drive_links(context).into_iter().filter_map(|DriveLink { name, hop, .. }| {
        let (device, port) = (hop.device_max?, hop.port_max?);
        if hop.is_trained_down() || !port.common(device).is_below(device) {
            return None;
        }
        let reason = format!("it can do {device}, its port {port}; the link runs at {}", hop.current);
        let effect = format!(
            "in a slot that suits it {} instead of {} for large transfers, if it is that fast",
            gb_per_s(hop.usable_at(device)),
            gb_per_s(hop.usable_bytes_per_s)
        );
        Some((name, note("link.slot", reason, effect)))
    });
    by_words(found)
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
        let reason = format!(
            "{} links below carry {} together, the uplink {}: {} to 1",
            u.links_below,
            gb_per_s(u.down_bytes_per_s),
            gb_per_s(u.up_bytes_per_s),
            format_significant(u.oversubscription)
        );
        let effect =
            format!("all its drives together stop at {}; one or a few are not held back", gb_per_s(u.up_bytes_per_s));
        (format!("switch {}", u.switch), warning("pcie.uplink-oversubscribed", reason, effect))
    });
    by_words(found)
}

#[cfg(test)]
mod tests {
    use crate::inspect::advice::Subject;
    use crate::inspect::advice::testing::{ids, ids_for, the};
    use crate::inspect::machines::{Link, Machine};

    fn one_drive(current: Link, drive: Link, port: Link) -> Machine {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, current, drive, port);
        machine
    }

    #[test]
    fn a_link_below_both_its_ends_is_trained_down() {
        let machine = one_drive((3, 2), (4, 4), (4, 4));
        let advice = the(&machine, "link.trained-down");
        assert!(advice.reason.contains("Gen3 x2 (1.75 GB/s usable)"), "{advice:?}");
        assert!(advice.effect.contains("6.98 GB/s"), "{advice:?}");
        assert_eq!(advice.subjects, ["nvme0n1"]);
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
        let advice = the(&one_drive((1, 1), (1, 1), (4, 4)), "link.trained-down");
        assert!(advice.reason.contains("claims no better"), "{advice:?}");
    }

    #[test]
    fn a_switch_that_does_not_tell_its_best_leaves_the_judgement_to_the_port_above() {
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (1, 1), 1);
        machine.file("sys/bus/pci/devices/0000:12:04.0/max_link_speed", "Unknown\n");
        assert!(the(&machine, "link.trained-down").reason.ends_with("can do Gen4 x16"));
    }

    #[test]
    fn a_slot_below_the_drive_is_noted_and_an_equal_one_is_not() {
        let advice = the(&one_drive((3, 4), (4, 4), (3, 16)), "link.slot");
        assert!(advice.effect.contains("6.98 GB/s instead of 3.49 GB/s"), "{advice:?}");
        assert!(!ids(&one_drive((3, 4), (3, 4), (3, 4))).contains(&"link.slot".to_owned()));
    }

    #[test]
    fn six_drives_behind_a_sixteenth_lane_switch_oversubscribe_it_and_four_do_not() {
        let mut machine = Machine::server(1, 4, 1);
        machine.switch_with_drives("0000:10", 0, (4, 16), (4, 4), 6);
        let advice = the(&machine, "pcie.uplink-oversubscribed");
        assert!(advice.reason.contains("1.50 to 1"), "{advice:?}");
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
