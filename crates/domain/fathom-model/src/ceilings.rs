//! The most each part of a machine could give under a load: the storage roofline. The lowest is the claim.

use fathom_message::{Message, Quantity, msg};
use serde::Serialize;

use crate::array::{self, ArrayPart};
use crate::attribution::LimitName;
use crate::machine::{MachineModel, Shape};
use crate::pcie::PcieLink;

/// The most a part could give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// Which part.
    pub name: LimitName,
    /// I/Os per second of the whole load.
    pub iops: f64,
    /// Bytes per second, where that is what the part is limited in.
    pub bytes_per_s: Option<f64>,
    /// Which part of an array it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<ArrayPart>,
    /// How it was calculated, with its numbers.
    pub sentence: Message,
    /// How many of its kind work side by side, each for some of the I/Os; `None`: nothing queues for it beyond what the
    /// model of the drive knows.
    #[serde(skip)]
    pub(crate) servers: Option<f64>,
}

impl Ceiling {
    /// So many work side by side, for whom I/Os queue.
    pub(crate) fn of_servers(self, servers: f64) -> Ceiling {
        Ceiling { servers: Some(servers.max(1.0)), ..self }
    }
}

/// All ceilings that the machine's description allows, lowest first.
#[must_use]
pub fn ceilings(machine: &MachineModel, shape: &Shape) -> Vec<Ceiling> {
    let mut all = Vec::new();
    if let Some(rate) = shape.rate_iops {
        all.push(iops(LimitName::Rate, rate, msg!("ceiling-rate", rate = Quantity::iops(rate))));
    }
    depth(machine, shape, &mut all);
    drives(machine, shape, &mut all);
    links(machine, shape, &mut all);
    cores(machine, shape, &mut all);
    if let Some(raid) = &machine.raid {
        array::ceilings(machine, raid, shape, &mut all);
    }
    if let Some(rate) = machine.memory_bytes_per_s {
        // Direct I/O crosses memory once by DMA, or as a copy from memory to memory twice; a copy through the page cache
        // reads and writes it once more.
        let crossings = if machine.is_ram_disk { 2_u32 } else { 1 } + if shape.buffered { 2 } else { 0 };
        let x = rate / (f64::from(crossings) * shape.block_bytes);
        let rate = Quantity::bytes_per_s(rate);
        let how = msg!("ceiling-memory", rate = rate, crossings = crossings, block = block(shape));
        all.push(bytes(LimitName::Memory, x, shape, how));
    }
    all.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    all
}

/// Latency of one I/O alone on this machine, host time included; `None` when the drive is unknown.
#[must_use]
pub(crate) fn alone_ns(machine: &MachineModel, shape: &Shape) -> Option<f64> {
    let device = machine.device.as_ref()?;
    let host_ns = machine.cost.as_ref().map_or(0.0, |c| c.thread_ns + c.irq_ns);
    let host_ns = host_ns + transfer_ns(machine, shape);
    let op = |share: f64| device.mixed(share, shape.block_bytes, shape.sequential).map(|o| o.alone_ns());
    let Some(raid) = machine.raid.as_ref().filter(|_| !shape.sequential) else {
        return Some(op(shape.read_share)? + host_ns);
    };
    // A small write of a parity level waits for its reads, then for its writes.
    let needs_old = array::needs_old_content(raid, shape);
    let read_ns = op(1.0)?;
    let write_ns = if shape.read_share < 1.0 { op(0.0)? + if needs_old { read_ns } else { 0.0 } } else { 0.0 };
    Some(shape.read_share * read_ns + (1.0 - shape.read_share) * write_ns + host_ns)
}

/// What links that are narrower than the drive's own add to an I/O alone. Data pass on while they come in: the narrowest of
/// all counts, and the drive's own is in what is known of the drive. Nothing where its own link is not known.
pub(crate) fn transfer_ns(machine: &MachineModel, shape: &Shape) -> f64 {
    let Some((device, own)) = machine.device.as_ref().and_then(|device| Some((device, device.link?))) else {
        return 0.0;
    };
    let on = |link: &PcieLink| {
        let each_ns = |share: f64| 1e9 / link.mixed_iops(share, shape.block_bytes);
        shape.read_share * each_ns(1.0) + (1.0 - shape.read_share) * each_ns(0.0)
    };
    let path_ns = device.bandwidth_iops(shape.read_share, shape.block_bytes, shape.sequential).map_or(0.0, |x| 1e9 / x);
    let others = machine.links.iter().chain(machine.uplinks.iter().map(|up| &up.link)).map(on);
    (others.fold(0.0, f64::max) - on(&own).max(path_ns)).max(0.0)
}

pub(crate) fn iops(name: LimitName, iops: f64, sentence: Message) -> Ceiling {
    Ceiling { name, iops, bytes_per_s: None, part: None, sentence, servers: None }
}

pub(crate) fn bytes(name: LimitName, iops: f64, shape: &Shape, sentence: Message) -> Ceiling {
    Ceiling { name, iops, bytes_per_s: Some(iops * shape.block_bytes), part: None, sentence, servers: None }
}

pub(crate) fn block(shape: &Shape) -> Quantity {
    Quantity::block(shape.block_bytes as u64)
}

/// What a number of I/Os per second moves.
pub(crate) fn moved(iops: f64, shape: &Shape) -> Quantity {
    Quantity::bytes_per_s(iops * shape.block_bytes)
}

fn depth(machine: &MachineModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    if let Some(ns) = alone_ns(machine, shape) {
        let x = f64::from(shape.in_flight) * 1e9 / ns;
        let how = msg!("ceiling-queue-depth", in_flight = shape.in_flight, latency = Quantity::ns(ns));
        all.push(iops(LimitName::QueueDepth, x, how));
    }
}

fn drives(machine: &MachineModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    let Some(device) = machine.device.as_ref().filter(|_| machine.raid.is_none()) else { return };
    let n = f64::from(shape.drives);
    let reads = Quantity::share(shape.read_share);
    if let Some(each) = device.command_iops(shape.read_share) {
        let how = msg!("ceiling-device-commands", drives = shape.drives, each = Quantity::iops(each), reads = reads);
        all.push(iops(LimitName::Device, n * each, how));
    }
    if let Some(each) = device.bandwidth_iops(shape.read_share, shape.block_bytes, shape.sequential) {
        let how = msg!(
            "ceiling-device-bandwidth",
            drives = shape.drives,
            each = moved(each, shape),
            reads = reads,
            block = block(shape)
        );
        all.push(bytes(LimitName::Device, n * each, shape, how));
    }
}

fn links(machine: &MachineModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    let own = machine.device.as_ref().and_then(|d| d.link);
    let links = if machine.links.is_empty() { own.into_iter().collect() } else { machine.links.clone() };
    // I/Os are spread evenly, so the slowest link holds all drives to its pace. Members behind a parity level carry more
    // than the host asks; their term is in the array's.
    let slowest = links.iter().map(|l| (l.mixed_iops(shape.read_share, shape.block_bytes), l));
    if let Some((each, link)) = slowest.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| machine.raid.is_none()) {
        let how = msg!(
            "ceiling-link",
            link = link.to_string(),
            rate = moved(each, shape),
            block = block(shape),
            payload = Quantity::bytes(u64::from(link.max_payload_bytes))
        );
        let of_all = bytes(LimitName::Link, each * f64::from(shape.drives), shape, how);
        all.push(of_all.of_servers(f64::from(shape.drives)));
    }
    for up in machine.uplinks.iter().filter(|u| u.drives > 0 && machine.raid.is_none()) {
        let x =
            up.link.mixed_iops(shape.read_share, shape.block_bytes) * f64::from(shape.drives) / f64::from(up.drives);
        let how = msg!("ceiling-uplink", drives = up.drives, uplink = up.place.message(), link = up.link.to_string());
        all.push(bytes(LimitName::Uplink, x, shape, how).of_servers(1.0));
    }
}

fn cores(machine: &MachineModel, shape: &Shape, all: &mut Vec<Ceiling>) {
    let Some(cost) = &machine.cost else { return };
    let own = if shape.siblings_first { machine.smt_gain / 2.0 } else { 1.0 };
    let x = f64::from(shape.threads) * own * 1e9 / cost.thread_ns;
    let (thread, origin) = (Quantity::ns(cost.thread_ns), cost.origin.message());
    let how = msg!("ceiling-core", threads = shape.threads, cost = thread, origin = origin);
    all.push(iops(LimitName::Core, x, how).of_servers(f64::from(shape.threads)));
    if let Some(n) = machine.cores {
        let total_ns = cost.thread_ns + cost.irq_ns;
        let x = f64::from(n) * machine.smt_gain * 1e9 / total_ns;
        let (cost, gain) = (Quantity::ns(total_ns), Quantity::times(machine.smt_gain));
        let how = match machine.smt_gain > 1.0 {
            true => msg!("ceiling-all-cores-smt", cores = n, gain = gain, cost = cost),
            false => msg!("ceiling-all-cores", cores = n, cost = cost),
        };
        all.push(iops(LimitName::AllCores, x, how));
    }
    if let Some(n) = machine.irq_cores.filter(|_| cost.irq_ns > 0.0) {
        let x = f64::from(n) * 1e9 / cost.irq_ns;
        let how = msg!("ceiling-irq-cores", cores = n, cost = Quantity::ns(cost.irq_ns));
        all.push(iops(LimitName::IrqCore, x, how).of_servers(f64::from(n)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{CardModel, RaidMaker, RaidModel};
    use crate::closed::OpModel;
    use crate::device::DeviceModel;
    use crate::machine::{CostModel, CostOrigin, RaidLevel, UplinkModel, UplinkPlace};
    use crate::pcie::PcieLink;

    fn drive(read_iops: f64, write_iops: f64) -> DeviceModel {
        let op = |iops: f64| OpModel { units: 1e3, unit_ns: 80_000.0, stage_ns: 1e9 / iops, fixed_ns: 10_000.0 };
        DeviceModel {
            name: "some".into(),
            read: op(read_iops),
            write: Some(op(write_iops)),
            read_bytes_per_s: Some(7e9),
            write_bytes_per_s: Some(4e9),
            random_write_bytes_per_s: None,
            link: Some(PcieLink::new(4, 4)),
            assumed: Vec::new(),
            sheet: None,
        }
    }

    fn machine() -> MachineModel {
        MachineModel { device: Some(drive(1e6, 130e3)), cores: Some(16), ..MachineModel::named("m") }
    }

    fn shape() -> Shape {
        Shape {
            read_share: 1.0,
            block_bytes: 4096.0,
            sequential: false,
            drives: 1,
            threads: 1,
            in_flight: 256,
            siblings_first: false,
            buffered: false,
            rate_iops: None,
        }
    }

    fn lowest(machine: &MachineModel, shape: &Shape) -> (LimitName, f64) {
        let all = ceilings(machine, shape);
        (all[0].name, all[0].iops)
    }

    #[test]
    fn each_part_is_the_lowest_where_it_must_be() {
        let cost = |thread_ns, irq_ns| Some(CostModel { thread_ns, irq_ns, origin: CostOrigin::Measured });
        let m = machine();
        assert_eq!(lowest(&m, &Shape { in_flight: 1, ..shape() }).0, LimitName::QueueDepth);
        assert_eq!(lowest(&m, &shape()).0, LimitName::Device);
        let down = MachineModel { links: vec![PcieLink::new(3, 1)], ..m.clone() };
        assert_eq!(lowest(&down, &shape()).0, LimitName::Link);
        let uplinks =
            vec![UplinkModel { place: UplinkPlace::Named("switch".into()), link: PcieLink::new(3, 4), drives: 8 }];
        let shared = MachineModel { uplinks, ..m.clone() };
        assert_eq!(lowest(&shared, &Shape { drives: 8, in_flight: 2048, ..shape() }).0, LimitName::Uplink);
        let slow = MachineModel { cost: cost(3_000.0, 500.0), ..m.clone() };
        assert_eq!(lowest(&slow, &shape()).0, LimitName::Core);
        let few = MachineModel { cores: Some(2), ..slow.clone() };
        assert_eq!(lowest(&few, &Shape { threads: 16, drives: 4, in_flight: 1024, ..shape() }).0, LimitName::AllCores);
        let irq = MachineModel { cost: cost(1_500.0, 1_200.0), irq_cores: Some(1), ..m.clone() };
        assert_eq!(lowest(&irq, &Shape { threads: 8, in_flight: 512, ..shape() }).0, LimitName::IrqCore);
        let memory = MachineModel { memory_bytes_per_s: Some(1e9), ..m.clone() };
        assert_eq!(lowest(&memory, &shape()), (LimitName::Memory, 1e9 / 4096.0));
        let copied = MachineModel { is_ram_disk: true, ..memory.clone() };
        assert_eq!(lowest(&copied, &shape()), (LimitName::Memory, 0.5e9 / 4096.0));
        assert_eq!(lowest(&copied, &Shape { buffered: true, ..shape() }), (LimitName::Memory, 0.25e9 / 4096.0));
        assert_eq!(lowest(&m, &Shape { rate_iops: Some(1e3), ..shape() }), (LimitName::Rate, 1e3));
    }

    /// A drive of 1 M reads and 130 k writes: RAID 5 costs 2.26 and RAID 6 3.4 plain writes (device time).
    #[test]
    fn raid_levels_cost_device_time() {
        let x = |level| {
            let raid = Some(RaidModel::of(level));
            let m = MachineModel { raid, ..machine() };
            let s = Shape { read_share: 0.0, drives: 8, in_flight: 4096, ..shape() };
            ceilings(&m, &s).iter().find(|c| c.name == LimitName::Raid).expect("has an array").iops
        };
        let plain = x(RaidLevel::Raid0);
        assert!((plain / (8.0 * 130e3) - 1.0).abs() < 1e-9);
        assert!((plain / x(RaidLevel::Raid5) - 2.26).abs() < 0.01);
        assert!((plain / x(RaidLevel::Raid6) - 3.39).abs() < 0.01);
        assert!((plain / x(RaidLevel::Raid10) - 2.0).abs() < 1e-9);
    }

    /// 8 drives of 220 000 writes in RAID 10 give 880 000: the published 917 000 lies 4 % above the rating.
    #[test]
    fn the_published_raid_10_is_bound_by_its_drives() {
        let card = CardModel { link: Some(PcieLink::new(4, 8)), ..CardModel::named("card") };
        let raid = Some(RaidModel { maker: RaidMaker::Card(card), ..RaidModel::of(RaidLevel::Raid10) });
        let m = MachineModel { device: Some(drive(1e6, 220e3)), raid, ..MachineModel::named("r650") };
        let s = Shape { read_share: 0.0, drives: 8, in_flight: 4096, ..shape() };
        assert_eq!(lowest(&m, &s).0, LimitName::Raid);
        assert!((lowest(&m, &s).1 / 880e3 - 1.0).abs() < 1e-6);
        let reads = Shape { read_share: 1.0, ..s };
        assert_eq!(lowest(&m, &reads).0, LimitName::Link);
    }

    #[test]
    fn large_blocks_are_held_to_bandwidth() {
        let s = Shape { block_bytes: 131_072.0, ..shape() };
        let (name, x) = lowest(&machine(), &s);
        assert_eq!(name, LimitName::Link, "6.98 GB/s of the link lie just below the 7 GB/s of the drive");
        assert!((x * 131_072.0 / 6.98e9 - 1.0).abs() < 0.01);
    }
}
