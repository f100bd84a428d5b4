//! A simulated machine, its drives and cards as prediction sees them: what its file says, in the terms of the closed form.

use fathom_message::msg;
use fathom_model::{
    CardModel, CostModel, CostOrigin, DeviceModel, MachineModel, MemberWork, OpModel, PcieLink, Shape, member_work,
};
use fathom_plan::{EngineName, EngineSpec, Mode, SourceError, Step, TargetId};
use fathom_sim::{
    Array, ArrayController, Card, Device, Drive, InterruptPolicy, Link, Machine, Media, target_name,
    write_amplification,
};

use super::{SimulatedMachine, TargetError, simulated_machine};

/// Block size that drives are rated for.
const RATED_BLOCK_BYTES: f64 = 4096.0;
/// Blocks beyond it the model of a drive lays over several units by itself.
const PAGE_BYTES: f64 = 16_384.0;

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
        ArrayController::Md(_) | ArrayController::UserSpace(_) => None,
    });
    Ok(SimulatedMembers { device, card })
}

/// A part of a simulated machine that loads are predicted for.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedTarget {
    machine: SimulatedMachine,
    targets: Vec<TargetId>,
    drives: u32,
}

impl SimulatedTarget {
    /// What `sim:MACHINE` or `sim:MACHINE/PART` names.
    ///
    /// # Errors
    /// [`TargetError`]: an unknown machine or part, drives of several kinds, or media that no drive model knows.
    pub fn new(name: &str) -> Result<SimulatedTarget, TargetError> {
        let parsed = target_name(name);
        let machine = simulated_machine(parsed.as_ref().map_or(name, |n| n.machine))?;
        let targets = machine.targets_of(name)?.into_iter().map(TargetId::new).collect();
        let mut found = SimulatedTarget { machine, targets, drives: 0 };
        let drives = found.machine.drives_of(&found.targets);
        let is_unlike = |d: &&Drive| d.device != drives[0].device || d.link != drives[0].link;
        let is_memory = |d: &&Drive| matches!(d.device.media, Media::Memory(_));
        let wrong = match () {
            () if drives.iter().any(is_unlike) => Some(msg!("predict-sim-unlike", name = name.to_owned())),
            () if drives.iter().any(is_memory) => Some(msg!("predict-sim-memory", name = name.to_owned())),
            () => None,
        };
        if let Some(message) = wrong {
            return Err(SourceError::without_place("", message, Some(msg!("predict-sim-no-drive-help"))).into());
        }
        found.drives = drives.len() as u32;
        Ok(found)
    }

    /// Drives behind it, members of an array among them.
    #[must_use]
    pub fn drives(&self) -> u32 {
        self.drives
    }

    /// The machine as prediction sees it under a load like `step` on this target.
    #[must_use]
    pub fn machine_model(&self, step: &Step) -> Option<MachineModel> {
        self.machine.machine_model(&Step { targets: self.targets.clone(), ..step.clone() })
    }
}

impl SimulatedMachine {
    /// The machine as prediction sees it under `step`; `None` where its drives differ, or are of a kind that no drive model
    /// knows.
    #[must_use]
    pub fn machine_model(&self, step: &Step) -> Option<MachineModel> {
        let drives = self.drives_of(&self.expanded(step).ok()?);
        let first = *drives.first()?;
        if drives.iter().any(|d| d.device != first.device || d.link != first.link) {
            return None;
        }
        let names: Vec<String> = drives.iter().map(|d| d.name.clone()).collect();
        let mut cost = cost(&self.machine, &step.engine);
        let array = match &step.targets[..] {
            [one] => self.array_behind(one),
            _ => None,
        };
        if let Some(array) = &array {
            cost.thread_ns += self.array_work_ns(array, step);
        }
        let mut device = drive_model(&first.device, first.link)?;
        let idle_ns = idle_ns(&self.machine, &step.engine);
        let block_bytes = Shape::of(step, drives.len() as u32).block_bytes;
        // In place of what the model of a drive adds for larger blocks, by the rate that they are held to.
        let added_ns =
            |rate: Option<f64>| rate.map_or(0.0, |rate| (block_bytes - RATED_BLOCK_BYTES) / rate * 1e9).max(0.0);
        // Larger blocks lie on several units at once; from a page on the model of a drive counts them itself.
        if let Media::Xpoint(xpoint) = &first.device.media {
            let pieces = (block_bytes.min(PAGE_BYTES) / f64::from(xpoint.unit_bytes)).max(1.0);
            let share = |op: &mut OpModel| op.units = (op.units / pieces).max(1.0);
            share(&mut device.read);
            device.write.iter_mut().for_each(share);
        }
        let carried = |share: f64, path: u64| idle_ns + carried_ns(first, share, path, block_bytes);
        device.read.fixed_ns += carried(1.0, first.device.read_bytes_per_s) - added_ns(device.read_bytes_per_s);
        if let Some(write) = &mut device.write {
            write.fixed_ns += carried(0.0, first.device.write_bytes_per_s) - added_ns(device.write_bytes_per_s);
        }
        let on_one_cpu = matches!(self.machine.host.interrupts, InterruptPolicy::OneCpu(_)) && cost.irq_ns > 0.0;
        Some(MachineModel {
            device: Some(device),
            cost: Some(cost),
            irq_cores: on_one_cpu.then_some(1),
            raid: array.map(|array| self.raid_model(&array)),
            ..self.step_facts(&names).machine
        })
    }

    /// The drives of an array as a model; `None` where they differ.
    pub(super) fn member_model(&self, array: &Array) -> Option<DeviceModel> {
        let drives: Vec<&Drive> = array.members.iter().map(|member| &self.machine.drives[*member]).collect();
        let first = *drives.first()?;
        let is_alike = drives.iter().all(|d| d.device == first.device && d.link == first.link);
        if is_alike { drive_model(&first.device, first.link) } else { None }
    }

    /// Core time that an array adds to an I/O of the load on the thread that submits it: of user space, each command of a
    /// member beyond the first, and the parity; of md, finding the members.
    fn array_work_ns(&self, array: &Array, step: &Step) -> f64 {
        let own = match &array.controller {
            ArrayController::UserSpace(own) => own,
            ArrayController::Md(md) => return md.remap_ps as f64 / 1e3,
            ArrayController::Card(_) => return 0.0,
        };
        let costs = self.machine.host.costs(step.engine.name.as_str(), step.engine.mode.as_str());
        let shape = Shape::of(step, array.members.len() as u32);
        let of = |read_share: f64| -> MemberWork {
            let work = member_work(&self.raid_model(array), &Shape { read_share, ..shape }).unwrap_or_default();
            work.into_iter().fold(MemberWork::default(), MemberWork::plus)
        };
        let (reads, writes) = (of(1.0), of(0.0));
        let share = shape.read_share;
        let commands = share * (reads.reads + reads.writes) + (1.0 - share) * (writes.reads + writes.writes);
        let interrupt_ps = if is_polled(&step.engine) { 0 } else { costs.interrupt_ps };
        let each_ns = (costs.submit_ps + costs.complete_ps + interrupt_ps) as f64 / 1e3;
        // Reads that find their data compute nothing.
        let has_parity = array.level.parities() > 0;
        let written = if has_parity { writes.read_bytes + shape.block_bytes } else { 0.0 };
        let computed = if has_parity { reads.read_bytes - shape.block_bytes } else { 0.0 };
        let xor_bytes = (1.0 - share) * written + share * computed.max(0.0);
        let xor_ns = if own.xor_bytes_per_s > 0 { xor_bytes / own.xor_bytes_per_s as f64 * 1e9 } else { 0.0 };
        own.split_ps as f64 / 1e3 + (commands - 1.0).max(0.0) * each_ns + xor_ns
    }

    /// Drives behind targets that are drives and arrays, in their order.
    fn drives_of(&self, targets: &[TargetId]) -> Vec<&Drive> {
        let machine = &self.machine;
        let members = |part: &str| match machine.arrays.iter().find(|array| array.name == part) {
            Some(array) => array.members.iter().map(|member| &machine.drives[*member]).collect(),
            None => machine.drives.iter().filter(|drive| drive.name == part).collect::<Vec<_>>(),
        };
        let behind = |target: &TargetId| match machine.array_of(target) {
            Some(array) => {
                array.map_or_else(|_| Vec::new(), |a| a.members.iter().map(|m| &machine.drives[*m]).collect())
            }
            None => target_name(target.as_str()).and_then(|name| name.part).map_or_else(Vec::new, members),
        };
        targets.iter().flat_map(behind).collect()
    }
}

/// What an I/O takes longer whose thread sleeps: it is woken, on a CPU that must begin.
fn idle_ns(machine: &Machine, engine: &EngineSpec) -> f64 {
    let costs = machine.host.costs(engine.name.as_str(), engine.mode.as_str());
    if is_polled(engine) {
        return 0.0;
    }
    let interrupt = match machine.host.interrupts {
        InterruptPolicy::Submitter => 0,
        InterruptPolicy::OneCpu(_) => costs.interrupt_ps + costs.wake_delay_ps,
    };
    (costs.wake_ps + costs.wake_delay_ps + interrupt) as f64 / 1e3
}

fn is_polled(engine: &EngineSpec) -> bool {
    engine.mode == Mode::Iopoll || engine.name == EngineName::Null
}

/// What a drive's data path and link take to carry a block. Data pass on while they come in: the slower of both counts.
fn carried_ns(drive: &Drive, read_share: f64, path_bytes_per_s: u64, block_bytes: f64) -> f64 {
    let path_ns = if path_bytes_per_s > 0 { block_bytes / path_bytes_per_s as f64 * 1e9 } else { 0.0 };
    let link_ns = match drive.link {
        Link::Pcie { .. } => pcie(drive.link).map_or(0.0, |link| 1e9 / link.mixed_iops(read_share, block_bytes)),
        Link::Rate { bytes_per_s, .. } => block_bytes / bytes_per_s as f64 * 1e9,
    };
    path_ns.max(link_ns)
}

/// CPU time of an I/O on a busy thread, which neither sleeps nor is woken. Interrupts that come back to the submitter are
/// work of its core; those of a thread that polls are none. A CPU that takes all interrupts takes what has come meanwhile
/// with the one under way: what is left of an I/O there is half of its completion.
fn cost(machine: &Machine, engine: &EngineSpec) -> CostModel {
    let costs = machine.host.costs(engine.name.as_str(), engine.mode.as_str());
    let own = costs.user_ps + costs.submit_ps + costs.complete_ps;
    let polled = is_polled(engine);
    let interrupt = if polled { 0 } else { costs.interrupt_ps };
    let (thread, irq) = match machine.host.interrupts {
        InterruptPolicy::Submitter => (own + interrupt, 0),
        InterruptPolicy::OneCpu(_) => (own, if polled { 0 } else { costs.complete_ps / 2 }),
    };
    CostModel { thread_ns: thread as f64 / 1e3, irq_ns: irq as f64 / 1e3, origin: CostOrigin::Described }
}

/// Bytes per second that media give or take; `None`: no limit of their own.
#[derive(Default)]
struct MediaRates {
    read: Option<f64>,
    /// In order.
    written: Option<f64>,
    /// In random order, less what cleaning moves.
    kept: Option<f64>,
}

/// A drive: its controller, its media in parallel, and what random writes cost it at steady state.
pub(super) fn drive_model(device: &Device, link: Link) -> Option<DeviceModel> {
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
    let (read, write, media) = match &device.media {
        Media::Nand(nand) => {
            let read = op(f64::from(nand.dies), ns(nand.read.mean_ps), ns(device.command_read_ps).max(1.0));
            // A unit of cleaning is read before it is programmed; each block is erased once for what it holds.
            let erase_ns = ns(nand.erase_ps) * f64::from(nand.program_bytes) / nand.block_bytes.max(1) as f64;
            let program_ns = (ns(nand.program.mean_ps) + erase_ns).max(1e-3);
            let moved = write_amplification(nand.spare_pct / 100.0) - 1.0;
            let unit_ns = program_ns + moved * (program_ns + ns(nand.read.mean_ps));
            let of_dies = f64::from(nand.dies) * f64::from(nand.program_bytes) * 1e9;
            let kept = of_dies / unit_ns;
            let stage_ns = ns(device.command_write_ps).max(RATED_BLOCK_BYTES / kept * 1e9);
            // The buffer answers; what follows takes writes one after another at the rate the media sustain.
            let fixed_ns = ns(device.fixed_ps + nand.ack_ps + device.command_write_ps).max(stage_ns);
            let pages = f64::from(nand.dies) * f64::from(nand.page_bytes) * 1e9;
            let media = MediaRates {
                // A block larger than a page keeps several dies busy.
                read: Some(pages / ns(nand.read.mean_ps).max(1e-3)),
                written: Some(of_dies / program_ns),
                kept: Some(kept),
            };
            (read, OpModel { units: 1e3, unit_ns: 1.0, stage_ns, fixed_ns }, media)
        }
        Media::Xpoint(xpoint) => {
            let units = f64::from(xpoint.units);
            let read = op(units, ns(xpoint.read.mean_ps), ns(device.command_read_ps).max(1.0));
            let write = op(units, ns(xpoint.write.mean_ps), ns(device.command_write_ps).max(1.0));
            (read, write, MediaRates::default())
        }
        Media::Memory(_) => return None,
    };
    Some(DeviceModel {
        name: device.name.clone(),
        read,
        write: Some(write),
        read_bytes_per_s: slower(device.read_bytes_per_s).into_iter().chain(media.read).reduce(f64::min),
        write_bytes_per_s: slower(device.write_bytes_per_s).into_iter().chain(media.written).reduce(f64::min),
        random_write_bytes_per_s: media.kept,
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
        memory_bytes_per_s: (card.cache_bytes_per_s > 0).then_some(card.cache_bytes_per_s as f64),
        cache_bytes: (card.cache_bytes > 0).then_some(card.cache_bytes),
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
