//! Drives and cards of a simulated machine as prediction sees them, so that an array can be predicted from its file.

use fathom_message::msg;
use fathom_model::{CardModel, DeviceModel, OpModel, PcieLink};
use fathom_plan::SourceError;
use fathom_sim::{ArrayController, Card, Device, Drive, Link, Media, target_name, write_amplification};

use super::simulated_machine;

/// Block size that drives are rated for.
const RATED_BLOCK_BYTES: f64 = 4096.0;

/// What `sim:MACHINE/PART` holds, for prediction: one of its drives, and the card they hang on where they hang on one.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedMembers {
    /// The drive.
    pub device: DeviceModel,
    /// The card of the array.
    pub card: Option<CardModel>,
}

/// The drives of `sim:MACHINE` or `sim:MACHINE/PART`, as members of an array.
///
/// # Errors
/// [`SourceError`]: an unknown machine or part, drives of several kinds, or media that no drive model knows.
pub fn simulated_members(name: &str) -> Result<SimulatedMembers, SourceError> {
    let parsed = target_name(name);
    let simulated = simulated_machine(parsed.as_ref().map_or(name, |n| n.machine))?;
    let part = parsed.and_then(|n| n.part);
    let machine = &simulated.machine;
    let array = match part {
        Some(part) => machine.arrays.iter().find(|a| a.name == part),
        None => machine.arrays.first(),
    };
    let drives: Vec<&Drive> = match (array, part) {
        (Some(array), _) => array.members.iter().map(|i| &machine.drives[*i]).collect(),
        (None, Some(part)) => machine.drives.iter().filter(|d| d.name == part || d.group == part).collect(),
        (None, None) => machine.drives.iter().collect(),
    };
    let wrong = |message, help| SourceError::without_place("", message, Some(help));
    let Some(first) = drives.first() else {
        return Err(wrong(msg!("predict-sim-no-drive", name = name.to_owned()), msg!("predict-sim-no-drive-help")));
    };
    if drives.iter().any(|d| d.device != first.device || d.link != first.link) {
        return Err(wrong(msg!("predict-sim-unlike", name = name.to_owned()), msg!("predict-sim-no-drive-help")));
    }
    let Some(device) = drive_model(&first.device, first.link) else {
        return Err(wrong(msg!("predict-sim-memory", name = name.to_owned()), msg!("predict-sim-no-drive-help")));
    };
    let card = array.and_then(|a| match &a.controller {
        ArrayController::Card(card) => Some(card_of(&format!("sim:{}", simulated.name), card)),
        ArrayController::Md(_) => None,
    });
    Ok(SimulatedMembers { device, card })
}

/// A drive: its controller, its media in parallel, and what random writes cost it at steady state.
fn drive_model(device: &Device, link: Link) -> Option<DeviceModel> {
    let ns = |ps: u64| ps as f64 / 1e3;
    let rate = |bytes_per_s: u64| (bytes_per_s > 0).then_some(bytes_per_s as f64);
    let link_rate = match link {
        Link::Rate { bytes_per_s, .. } => rate(bytes_per_s),
        Link::Pcie { .. } => None,
    };
    let slower = |own: u64| [rate(own), link_rate].into_iter().flatten().reduce(f64::min);
    let op = |units: f64, unit_ns: f64, stage_ns: f64| OpModel {
        units,
        unit_ns,
        stage_ns,
        fixed_ns: ns(device.fixed_ps) + stage_ns,
    };
    let (read, write, written_bytes_per_s) = match &device.media {
        Media::Nand(nand) => {
            let read = op(f64::from(nand.dies), ns(nand.read.mean_ps), ns(device.command_read_ps).max(1.0));
            let programmed =
                f64::from(nand.dies) * f64::from(nand.program_bytes) * 1e12 / nand.program.mean_ps.max(1) as f64;
            let kept = programmed / write_amplification(nand.spare_pct / 100.0);
            let stage_ns = ns(device.command_write_ps).max(RATED_BLOCK_BYTES / kept * 1e9);
            // The buffer answers; what follows takes writes one after another at the rate the media sustain.
            let fixed_ns = ns(device.fixed_ps + nand.ack_ps).max(stage_ns);
            (read, OpModel { units: 1e3, unit_ns: 1.0, stage_ns, fixed_ns }, Some(programmed))
        }
        Media::Xpoint(xpoint) => {
            let units = f64::from(xpoint.units);
            let read = op(units, ns(xpoint.read.mean_ps), ns(device.command_read_ps).max(1.0));
            (read, op(units, ns(xpoint.write.mean_ps), ns(device.command_write_ps).max(1.0)), None)
        }
        Media::Memory(_) => return None,
    };
    Some(DeviceModel {
        name: device.name.clone(),
        read,
        write: Some(write),
        read_bytes_per_s: slower(device.read_bytes_per_s),
        write_bytes_per_s: [slower(device.write_bytes_per_s), written_bytes_per_s]
            .into_iter()
            .flatten()
            .reduce(f64::min),
        random_write_bytes_per_s: written_bytes_per_s.map(|_| write.iops_max() * RATED_BLOCK_BYTES),
        link: pcie(link),
        assumed: Vec::new(),
        sheet: None,
    })
}

/// A card as ceilings see it.
pub(super) fn card_of(name: &str, card: &Card) -> CardModel {
    CardModel {
        name: name.to_owned(),
        read_command_ns: time(card.command_read_ps),
        write_command_ns: time(card.command_write_ps),
        parity_update_ns: time(card.parity_ps),
        parity_bytes_per_s: (card.xor_bytes_per_s > 0).then_some(card.xor_bytes_per_s as f64),
        link: pcie(card.link),
    }
}

/// A time of a part; 0 is none.
pub(super) fn time(ps: u64) -> Option<f64> {
    (ps > 0).then_some(ps as f64 / 1e3)
}

/// A link where it is PCI Express.
pub(super) fn pcie(link: Link) -> Option<PcieLink> {
    match link {
        Link::Pcie { generation, lanes, mps_bytes } => {
            Some(PcieLink { generation: generation as u8, lanes: lanes as u8, max_payload_bytes: mps_bytes as u32 })
        }
        Link::Rate { .. } => None,
    }
}
