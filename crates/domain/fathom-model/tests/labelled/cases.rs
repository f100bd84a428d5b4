//! Cases of each limit: a machine whose wanted term is the lowest by a clear margin, a ladder on it, its attribution.

use fathom_model::{
    DeviceModel, Limit, LimitName, Observation, OpModel, PcieLink, RaidLevel, RaidModel, RateLimit, RateSource,
    UplinkModel, UplinkPlace, attribute,
};

use crate::world::{Dice, Load, World};

/// The next term must lie this much above the lowest.
const MARGIN: f64 = 1.25;

/// What attribution says of case `seed` of a limit.
pub(crate) fn answer(truth: LimitName, seed: u64) -> Limit {
    let number = crate::answers().position(|name| name == truth).expect("a name that cases are drawn for") as u64;
    let mut dice = Dice(seed ^ ((number + 1) << 32));
    if truth == LimitName::Unknown {
        // A single step of some depth on an idle host: nothing tells depth from device.
        let (world, load) = clear_case(LimitName::Device, &mut dice);
        let alone = world.observe(Load { depth: load.depth.max(4), ..load }, &mut dice);
        return attribute(&[alone], 0);
    }
    let (world, load) = clear_case(truth, &mut dice);
    attribute(&ladder(&world, load, &mut dice), 0)
}

/// The step and its neighbours, some of which are missing.
fn ladder(world: &World, load: Load, dice: &mut Dice) -> Vec<Observation> {
    let mut all = vec![world.observe(load, dice)];
    let deeper = Load { depth: load.depth * 2, ..load };
    let more = Load { threads: load.threads * 2, ..load };
    let shallower = Load { depth: load.depth / 2, ..load };
    let fewer = Load { drives: load.drives / 2, ..load };
    // Without the deeper step or the shallower one a ladder does not exist.
    let has_deeper = dice.chance(0.85);
    if has_deeper {
        all.push(world.observe(deeper, dice));
    }
    if shallower.depth > 0 && (!has_deeper || dice.chance(0.8)) {
        all.push(world.observe(shallower, dice));
    }
    if dice.chance(0.6) {
        all.push(world.observe(more, dice));
    }
    if fewer.drives > 0 && dice.chance(0.7) {
        all.push(world.observe(fewer, dice));
    }
    all
}

/// Draws until the wanted term is the lowest by the margin.
fn clear_case(truth: LimitName, dice: &mut Dice) -> (World, Load) {
    for _ in 0..10_000 {
        let (world, load) = draw(truth, dice);
        let terms = world.terms(load);
        let wanted = match truth {
            LimitName::QueueDepth | LimitName::CpuTaken => 0,
            LimitName::Device => 1,
            LimitName::Link => 2,
            LimitName::Uplink => 3,
            LimitName::Memory | LimitName::Raid | LimitName::FileSystem | LimitName::KernelThread => 4,
            LimitName::Core => 5,
            LimitName::AllCores => 6,
            LimitName::IrqCore => 7,
            // Set from outside: whatever else holds it, the label is what was asked.
            _ => 8,
        };
        if truth == LimitName::PageCache || load.rate.is_some_and(|r| terms.iter().all(|t| *t > MARGIN * r)) {
            return (world, load);
        }
        let others =
            terms.iter().enumerate().filter(|(i, _)| *i != wanted).map(|(_, t)| *t).fold(f64::INFINITY, f64::min);
        if load.rate.is_none() && others > MARGIN * terms[wanted] {
            return (world, load);
        }
    }
    panic!("no clear case of {truth:?}");
}

/// A random machine and load in which the wanted part can be the lowest.
fn draw(truth: LimitName, dice: &mut Dice) -> (World, Load) {
    let mut world = World::idle(dice.pick(&[2, 4, 8, 16, 32]));
    world.alone_ns = dice.between(9_000.0, 110_000.0);
    world.thread_ns = dice.between(1_500.0, 5_000.0);
    world.irq_ns = dice.between(200.0, 1_500.0);
    world.drive_iops = dice.between(80e3, 1.5e6);
    let drives = dice.pick(&[1, 1, 2, 4, 8]);
    let mut load = Load {
        drives,
        threads: dice.pick(&[1, 1, 2, 4]),
        depth: dice.pick(&[1, 2, 4, 8, 16, 32, 64, 128]),
        write: false,
        buffered: false,
        rate: None,
    };
    // Every machine has links; that they seldom limit is the point.
    let link = PcieLink::new(dice.pick(&[3, 4, 5]), 4);
    world.link_iops = link.read_iops(4096.0);
    world.facts.machine.links = vec![link];
    match truth {
        LimitName::Link => narrow_link(&mut world, dice),
        LimitName::Uplink => shared_link(&mut world, &mut load, dice),
        LimitName::Raid => array(&mut world, &mut load, dice),
        LimitName::Memory => memory(&mut world, dice),
        LimitName::IrqCore => world.irq_cpus = 1,
        LimitName::CpuTaken => world.wait_for_cpu_ns = world.alone_ns * dice.between(MARGIN, 30.0),
        // Other programs take some of the time, and yet less than the drive.
        LimitName::QueueDepth if dice.chance(0.3) => world.wait_for_cpu_ns = world.alone_ns * dice.between(0.05, 0.6),
        LimitName::AllCores => load.threads = dice.pick(&[4, 8, 16]),
        LimitName::PageCache => {
            load.buffered = true;
            world.device_share = 0.3 * dice.unit();
            world.alone_ns = dice.between(800.0, 3_000.0);
        }
        LimitName::KernelThread => kernel_thread(&mut world, dice),
        LimitName::FileSystem => unwritten_file(&mut world, &mut load, dice),
        LimitName::Rate => rate(&mut world, &mut load, dice),
        _ => {}
    }
    (world, load)
}

fn narrow_link(world: &mut World, dice: &mut Dice) {
    let link = PcieLink::new(dice.pick(&[1, 2, 3]), dice.pick(&[1, 2, 4]));
    // What a link really carries differs from the arithmetic by a little.
    world.link_iops = link.read_iops(4096.0) * dice.between(0.95, 1.03);
    world.facts.machine.links = vec![link];
}

fn shared_link(world: &mut World, load: &mut Load, dice: &mut Dice) {
    load.drives = dice.pick(&[4, 8, 16]);
    let link = PcieLink::new(dice.pick(&[3, 4]), dice.pick(&[2, 4, 8]));
    world.shared_iops = link.read_iops(4096.0) * dice.between(0.95, 1.03);
    let uplink = UplinkModel { place: UplinkPlace::Named("a switch".into()), link, drives: load.drives };
    world.facts.machine.uplinks = vec![uplink];
}

fn memory(world: &mut World, dice: &mut Dice) {
    let rate = dice.between(0.5e9, 8e9);
    world.whole_iops = rate / 4096.0 * dice.between(0.95, 1.03);
    world.facts.machine.memory_bytes_per_s = Some(rate);
}

/// A loop device, a parity thread...: every I/O takes its time.
fn kernel_thread(world: &mut World, dice: &mut Dice) {
    world.kernel_thread = Some(dice.pick(&["md0_raid5", "loop0", "jbd2/vda1-8", "flush-254:0"]));
    world.whole_iops = 1e9 / dice.between(2_000.0, 20_000.0);
}

/// Writes into a file without blocks: each waits for its space.
fn unwritten_file(world: &mut World, load: &mut Load, dice: &mut Dice) {
    world.allocated_share = Some(dice.between(0.7, 1.0));
    world.whole_iops = 1e9 / dice.between(20_000.0, 200_000.0);
    *load = Load { drives: 1, write: true, ..*load };
}

/// An array of n members as one target, whose members' ratings are known to some percent.
fn array(world: &mut World, load: &mut Load, dice: &mut Dice) {
    *load = Load { drives: 1, write: true, ..*load };
    let members = dice.pick(&[4, 6, 8, 10]);
    let level = dice.pick(&[RaidLevel::Raid5, RaidLevel::Raid6, RaidLevel::Raid10]);
    let (read, write) = (dice.between(300e3, 1e6), dice.between(60e3, 300e3));
    let op = |iops: f64| OpModel { units: 1e3, unit_ns: 50_000.0, stage_ns: 1e9 / iops, fixed_ns: 10_000.0 };
    let (r, w) = match level {
        RaidLevel::Raid5 if members > 3 => (2.0, 2.0),
        // Of four members the rest of a row is one chunk.
        RaidLevel::Raid6 if members == 4 => (1.0, 3.0),
        RaidLevel::Raid6 => (3.0, 3.0),
        _ => (0.0, 2.0),
    };
    let whole = f64::from(members) / (r / read + w / write);
    world.whole_iops = whole * dice.between(0.9, 1.1);
    world.drive_iops = f64::INFINITY;
    world.amplification = r + w;
    let machine = &mut world.facts.machine;
    machine.raid = Some(RaidModel::of(level));
    machine.device = Some(DeviceModel {
        name: "a member".into(),
        read: op(read),
        write: Some(op(write)),
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        random_write_bytes_per_s: None,
        link: None,
        assumed: Vec::new(),
        sheet: None,
    });
    world.facts.drives = (0..members).map(|_| fathom_model::DriveFacts::default()).collect();
}

fn rate(world: &mut World, load: &mut Load, dice: &mut Dice) {
    let rate = dice.between(1_000.0, 40_000.0);
    if dice.chance(0.5) {
        load.rate = Some(rate);
        return;
    }
    world.allowed_iops = rate;
    world.facts.rate_limits = vec![RateLimit {
        source: RateSource::ControlGroup { device: "some".into() },
        read_iops: Some(rate),
        write_iops: None,
        read_bytes_per_s: None,
        write_bytes_per_s: None,
    }];
}
