//! Machines at random: one part is squeezed, the next stands at a margin above it, the others further away.

use fathom_model::PcieLink;
use fathom_random::Rng;
use fathom_sim::{
    Array, ArrayController, Card, Device, Drive, EngineCosts, Fault, FaultKind, Ftl, Host, InterruptPolicy, Level,
    Link, Machine, Md, Media, Nand, Service, SharedLink,
};

/// Random numbers in the shapes that cases need.
pub(super) struct Dice(Rng);

impl Dice {
    pub(super) fn new(seed: u64, entity: u64) -> Dice {
        Dice(Rng::new(seed, entity))
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(super) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Log-uniform in [low, high).
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize]
    }

    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal (Box and Muller 1958).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().max(1e-300).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Parts that a case can squeeze. What then holds a step is found out from the run, not from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Squeezed {
    Dies,
    Controller,
    ReadPath,
    OwnLink,
    SharedLink,
    Cores,
    InterruptCore,
    CardCommands,
    ArrayThread,
    /// A lock that all threads of a target take: no counter of a CPU or a device shows it.
    Lock,
}

impl Squeezed {
    const ALL: [Squeezed; 10] = [
        Squeezed::Dies,
        Squeezed::Controller,
        Squeezed::ReadPath,
        Squeezed::OwnLink,
        Squeezed::SharedLink,
        Squeezed::Cores,
        Squeezed::InterruptCore,
        Squeezed::CardCommands,
        Squeezed::ArrayThread,
        Squeezed::Lock,
    ];
}

/// A machine and what a load on it needs to know.
pub(super) struct Built {
    pub(super) machine: Machine,
    pub(super) squeezed: Squeezed,
    pub(super) targets: Vec<String>,
    pub(super) block_bytes: u32,
    pub(super) is_write: bool,
    pub(super) threads: u32,
    /// About what the whole gives at most, so that a window can be chosen.
    pub(super) about_iops: f64,
}

/// Capacities of the parts for the whole load, I/Os per second.
struct Capacities {
    squeezed: Squeezed,
    least: f64,
    next: Squeezed,
    margin: f64,
}

impl Capacities {
    fn of(&self, part: Squeezed, dice: &mut Dice) -> f64 {
        if part == self.squeezed {
            self.least
        } else if part == self.next {
            self.least * self.margin
        } else {
            self.least * self.margin * dice.uniform(1.2, 6.0)
        }
    }
}

const PS: f64 = 1e12;

pub(super) fn built(dice: &mut Dice) -> Built {
    let squeezed = dice.pick(&Squeezed::ALL);
    let is_array = matches!(squeezed, Squeezed::CardCommands | Squeezed::ArrayThread);
    let others: Vec<Squeezed> = Squeezed::ALL
        .into_iter()
        .filter(|p| *p != squeezed && !matches!(p, Squeezed::CardCommands | Squeezed::ArrayThread | Squeezed::Lock))
        .collect();
    let next = dice.pick(&others);
    let drives = match squeezed {
        Squeezed::SharedLink => dice.pick(&[2, 4]),
        _ if is_array => 4,
        _ => dice.pick(&[1, 1, 2, 4]),
    };
    let block_bytes = dice.pick(&[4096, 4096, 16_384, 65_536]);
    let block = f64::from(block_bytes);
    // Links come in sizes, so the link is drawn first and the capacities follow it where it is the squeezed one.
    let (generation, lanes) = dice.pick(&[(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]);
    let narrow = PcieLink::new(generation, lanes);
    let least = match squeezed {
        Squeezed::OwnLink => narrow.read_iops(block) * f64::from(drives),
        Squeezed::SharedLink => narrow.read_iops(block),
        _ => dice.between(30e3, 200e3) * (4096.0 / block).sqrt(),
    };
    let capacities = Capacities { squeezed, least, next, margin: dice.uniform(1.0, 2.0) };
    let wide = |iops: f64| wider(iops, block);
    let own = match squeezed {
        Squeezed::OwnLink => pcie(generation, lanes),
        _ => wide(capacities.of(Squeezed::OwnLink, dice) / f64::from(drives)),
    };
    let has_uplink = matches!(squeezed, Squeezed::SharedLink) || next == Squeezed::SharedLink || dice.chance(0.3);
    let shared = has_uplink && drives > 1;
    let uplink = match squeezed {
        Squeezed::SharedLink => pcie(generation, lanes),
        _ => wide(capacities.of(Squeezed::SharedLink, dice)),
    };
    let is_write = squeezed == Squeezed::ArrayThread;
    let cores = dice.pick(&[2, 4, 8]);
    let targets = if is_array { 1 } else { drives };
    let threads = dice.pick(&[1, 1, 2]);
    let workers = f64::from((threads * targets).min(cores));
    let host = host(&capacities, cores, workers, dice);
    let device = device(&capacities, f64::from(drives), block, dice);
    let drive = |index: u32| Drive {
        name: format!("nvme-{index}"),
        group: "nvme".into(),
        device: device.clone(),
        link: own,
        upstream: shared.then_some(0),
        socket: 0,
        rest_filled_pct: 100,
    };
    let mut machine = Machine {
        name: "drawn".into(),
        title: "a machine drawn at random".into(),
        sources: Vec::new(),
        host,
        links: if shared {
            vec![SharedLink { name: "slot1".into(), link: uplink, upstream: None }]
        } else {
            Vec::new()
        },
        drives: (0..drives).map(drive).collect(),
        arrays: Vec::new(),
        md: Md::default(),
        user_space: fathom_sim::UserSpace::default(),
        faults: faults(dice),
        default_target: "nvme".into(),
    };
    let targets = if is_array {
        machine.arrays = vec![array(&capacities, drives, dice)];
        vec!["sim:drawn/array".into()]
    } else {
        (0..drives).map(|i| format!("sim:drawn/nvme-{i}")).collect()
    };
    Built { machine, squeezed, targets, block_bytes, is_write, threads, about_iops: least }
}

fn pcie(generation: u8, lanes: u8) -> Link {
    Link::Pcie { generation: u32::from(generation), lanes: u32::from(lanes), mps_bytes: 256 }
}

/// The narrowest link that carries so much.
fn wider(iops: f64, block: f64) -> Link {
    let sizes = [(1, 1), (1, 2), (2, 2), (3, 2), (3, 4), (4, 4), (4, 8), (4, 16), (5, 16)];
    let fits = |(g, l): &(u8, u8)| PcieLink::new(*g, *l).read_iops(block) >= iops;
    let (generation, lanes) = sizes.into_iter().find(fits).unwrap_or((5, 16));
    pcie(generation, lanes)
}

fn host(capacities: &Capacities, cores: u32, workers: f64, dice: &mut Dice) -> Host {
    let per_worker_ps = PS * workers / capacities.of(Squeezed::Cores, dice);
    let interrupt_ps = PS / capacities.of(Squeezed::InterruptCore, dice);
    let one_cpu = capacities.squeezed == Squeezed::InterruptCore || capacities.next == Squeezed::InterruptCore;
    // Interrupts that come back to the submitter are work of its core.
    let interrupt_ps = if one_cpu { interrupt_ps } else { 0.2 * per_worker_ps };
    let own_ps = if one_cpu { per_worker_ps } else { 0.8 * per_worker_ps };
    let serial_ps = if capacities.squeezed == Squeezed::Lock { PS / capacities.least } else { 0.0 };
    let costs = EngineCosts {
        user_ps: (0.2 * own_ps) as u64,
        submit_ps: (0.5 * own_ps) as u64,
        complete_ps: (0.3 * own_ps) as u64,
        interrupt_ps: interrupt_ps as u64,
        wake_ps: 0,
        wake_delay_ps: 1_000_000,
        migrate_ps: 0,
        sharing_ps: 0,
        serial_ps: serial_ps as u64,
    };
    Host {
        cpu_model: "any".into(),
        os: "Linux".into(),
        sockets: 1,
        cores_per_socket: cores,
        threads_per_core: 1,
        smt_speed_pct: 100,
        memory_bytes: 64 << 30,
        copy_bytes_per_s: 10_000_000_000,
        remote_ps: 0,
        interrupts: if one_cpu { InterruptPolicy::OneCpu(cores - 1) } else { InterruptPolicy::Submitter },
        engines: vec![("default".into(), costs)],
    }
}

fn device(capacities: &Capacities, drives: f64, block: f64, dice: &mut Dice) -> Device {
    let each = |part: Squeezed, dice: &mut Dice| capacities.of(part, dice) / drives;
    let dies = dice.pick(&[4_u32, 8, 16, 32, 64]);
    // A block wider than a page occupies several dies at once.
    let pages = (block / 16_384.0).max(1.0);
    let read_ps = PS * f64::from(dies) / each(Squeezed::Dies, dice) / pages;
    let command_ps = (PS / each(Squeezed::Controller, dice)) as u64;
    Device {
        name: "drawn".into(),
        capacity_bytes: 256 << 30,
        command_read_ps: command_ps,
        command_write_ps: command_ps,
        read_bytes_per_s: (each(Squeezed::ReadPath, dice) * block) as u64,
        write_bytes_per_s: 0,
        fixed_ps: (dice.between(1e-6, 40e-6) * PS) as u64,
        outstanding_max: 0,
        queues: 64,
        coalesce: None,
        read_tail: Vec::new(),
        write_tail: Vec::new(),
        media: Media::Nand(Nand {
            dies,
            channels: 0,
            channel_bytes_per_s: 0,
            page_bytes: 16_384,
            read: Service::uniform(read_ps as u64, 20),
            program: Service::uniform(300_000_000, 10),
            program_bytes: 64 << 10,
            erase_ps: 3_000_000_000,
            block_bytes: 24 << 20,
            buffer_bytes: 64 << 20,
            ack_ps: 6_000_000,
            spare_pct: 28.0,
            suspend_ps: Some(50_000_000),
            map_miss_permille: 0,
            read_ahead_ps: 60_000_000,
            ftl: Ftl::MeanField,
        }),
    }
}

fn array(capacities: &Capacities, drives: u32, dice: &mut Dice) -> Array {
    let (level, controller) = if capacities.squeezed == Squeezed::ArrayThread {
        let stripe_ps = (PS / capacities.least) as u64;
        let md = Md { remap_ps: 100_000, stripe_ps, lock_ps: 0, xor_bytes_per_s: 20_000_000_000, ..Md::default() };
        let md = Md { stripe_cache: 32_768, ..md };
        (Level::Raid5, ArrayController::Md(md))
    } else {
        let card = Card {
            link: pcie(4, 16),
            upstream: None,
            socket: 0,
            command_read_ps: (PS / capacities.least) as u64,
            command_write_ps: (PS / capacities.least) as u64,
            parity_ps: 0,
            xor_bytes_per_s: 20_000_000_000,
            cache_bytes_per_s: 0,
            cache_bytes: 0,
            fixed_ps: 5_000_000,
            queues: 64,
            coalesce: None,
        };
        (dice.pick(&[Level::Raid0, Level::Raid10]), ArrayController::Card(card))
    };
    let members = (0..drives as usize).collect();
    Array {
        name: "array".into(),
        level,
        members,
        lost: fathom_sim::MemberSet::EMPTY,
        rebuild: None,
        chunk_bytes: 64 << 10,
        controller,
    }
}

/// Now and then something is wrong that a user does not know of.
fn faults(dice: &mut Dice) -> Vec<Fault> {
    if !dice.chance(0.15) {
        return Vec::new();
    }
    let kind = match dice.pick(&[0, 1, 2]) {
        0 => FaultKind::SlowDie { die: 0, factor: 3 },
        1 => FaultKind::GcStorm { period_ps: 5_000_000_000, length_ps: 500_000_000, dies_pct: 50 },
        _ => FaultKind::PageCacheHits { hit_pct: dice.pick(&[80, 95]) },
    };
    vec![Fault { kind, drive: None, from_ps: 0, until_ps: u64::MAX }]
}
