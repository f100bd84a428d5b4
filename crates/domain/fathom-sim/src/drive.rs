//! A drive at work: link, controller, data paths and media, each a server; what it counts.

use std::collections::VecDeque;

use fathom_pcie::{WireBytes, packet_bytes_per_s, read_wire, write_wire};
use fathom_random::Rng;

use crate::load::{OPS, READ, TRIM, WRITE};
use crate::machine::{Device, Drive, Link, Memory, Xpoint};
use crate::nand::{NandState, ONE_Q16, draw};
use crate::pipe::{PartWork, Pipe, transfer_ps};

/// What one command of a size and operation costs at each stage. Computed once per step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageCosts {
    pub(crate) bytes: u32,
    pub(crate) wire: [u64; 2],
    down_ps: u64,
    up_ps: u64,
    command_ps: u64,
    path_ps: u64,
    channel_ps: u64,
    pages: u32,
}

/// Down and up, as indices of [`StageCosts::wire`].
pub(crate) const DOWN: usize = 0;
/// See [`DOWN`].
pub(crate) const UP: usize = 1;

/// What holds the data.
#[derive(Debug)]
pub(crate) enum MediaState {
    Nand(Box<NandState>),
    Xpoint { spec: Xpoint, units: Vec<Pipe> },
    Memory { spec: Memory, units: Vec<Pipe>, random_writes: bool },
}

/// Where a command goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The media are done with it at this time.
    Media(u64),
    /// Its mapping entry is there at this time; then it reads its data.
    Map(u64),
}

/// A drive at work.
#[derive(Debug)]
pub(crate) struct DriveState {
    pub(crate) name: String,
    pub(crate) upstream: Option<usize>,
    pub(crate) fixed_ps: u64,
    pub(crate) coalesce: Option<(u32, u64)>,
    pub(crate) media: MediaState,
    device: Device,
    link: Link,
    /// `[class][op]`
    costs: Vec<[StageCosts; OPS]>,
    down: Pipe,
    up: Pipe,
    command: Pipe,
    read_path: Pipe,
    write_path: Pipe,
    channels: Vec<Pipe>,
    /// Lock of the driver that all threads of the target share.
    pub(crate) lock: Pipe,
    /// Time factor of media and controller, 1/65536.
    slow_q16: u64,
    read_ahead_ps: u64,
    rng: Rng,
    /// Commands inside, and those that wait because there are too many.
    active: u32,
    pub(crate) waiting: VecDeque<u32>,
    pub(crate) count: DriveCount,
}

/// What the kernel would count, and what the laws are checked with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriveCount {
    pub(crate) ios: [u64; OPS],
    pub(crate) bytes: [u64; OPS],
    pub(crate) arrived: u64,
    pub(crate) left: u64,
    pub(crate) busy_ps: u64,
    /// Integral of the commands inside over time.
    pub(crate) area_ps: u128,
    /// Sum over the commands that left of their time inside.
    pub(crate) residence_ps: u128,
    last_ps: u64,
}

impl DriveCount {
    #[inline]
    fn advance(&mut self, now_ps: u64) {
        let inside = self.arrived - self.left;
        let step = now_ps - self.last_ps;
        self.last_ps = now_ps;
        self.area_ps += u128::from(step) * u128::from(inside);
        if inside > 0 {
            self.busy_ps += step;
        }
    }

    /// When it last counted.
    pub(crate) fn last_ps(&self) -> u64 {
        self.last_ps
    }

    /// Counts up to `now_ps`.
    pub(crate) fn at(&self, now_ps: u64) -> DriveCount {
        let mut count = *self;
        count.advance(now_ps.max(self.last_ps));
        count
    }
}

impl DriveState {
    /// `media` is made by the caller, who knows what was written before.
    pub(crate) fn new(drive: &Drive, link: Link, media: MediaState, sequential: bool, seed: u64, entity: u64) -> Self {
        let channels = match &media {
            MediaState::Nand(nand) => nand.spec().channels,
            MediaState::Xpoint { .. } | MediaState::Memory { .. } => 0,
        };
        let read_ahead_ps = match &media {
            MediaState::Nand(nand) if sequential => nand.spec().read_ahead_ps,
            _ => 0,
        };
        DriveState {
            name: drive.name.clone(),
            upstream: drive.upstream,
            fixed_ps: drive.device.fixed_ps,
            coalesce: drive.device.coalesce,
            media,
            device: drive.device.clone(),
            link,
            costs: Vec::new(),
            down: Pipe::default(),
            up: Pipe::default(),
            command: Pipe::default(),
            read_path: Pipe::default(),
            write_path: Pipe::default(),
            channels: vec![Pipe::default(); channels as usize],
            lock: Pipe::default(),
            slow_q16: ONE_Q16,
            read_ahead_ps,
            rng: Rng::new(seed, entity),
            active: 0,
            waiting: VecDeque::new(),
            count: DriveCount::default(),
        }
    }

    /// Makes the costs of a size known as `class`; classes come in order.
    pub(crate) fn add_class(&mut self, bytes: u32) {
        let costs = [READ, WRITE, TRIM].map(|op| self.costs_of(op, bytes));
        self.costs.push(costs);
    }

    fn costs_of(&self, op: u8, bytes: u32) -> StageCosts {
        let moved = if op == TRIM { 0 } else { u64::from(bytes) };
        let (wire, rate) = wire_of(self.link, op, moved);
        let device = &self.device;
        let (command_ps, path_rate) = match op {
            READ => (device.command_read_ps, device.read_bytes_per_s),
            _ => (device.command_write_ps, device.write_bytes_per_s),
        };
        let (page_bytes, channel_rate) = match &self.media {
            MediaState::Nand(nand) => (nand.spec().page_bytes, nand.spec().channel_bytes_per_s),
            MediaState::Xpoint { spec, .. } => (spec.unit_bytes, 0),
            MediaState::Memory { spec, .. } => (spec.unit_bytes, 0),
        };
        StageCosts {
            bytes,
            wire: [wire.down, wire.up],
            down_ps: transfer_ps(wire.down, rate),
            up_ps: transfer_ps(wire.up, rate),
            command_ps,
            path_ps: transfer_ps(moved, path_rate),
            channel_ps: transfer_ps(moved.min(u64::from(page_bytes)), channel_rate),
            pages: moved.div_ceil(u64::from(page_bytes)) as u32,
        }
    }

    /// Costs of a command.
    #[inline(always)]
    pub(crate) fn costs(&self, class: u16, op: u8) -> &StageCosts {
        &self.costs[class as usize][op as usize]
    }

    /// Sets the speed of media and controller, percent of the usual.
    pub(crate) fn set_speed_pct(&mut self, pct: f64) {
        self.slow_q16 = (ONE_Q16 as f64 * 100.0 / pct.max(0.01)) as u64;
    }

    /// Whether it takes one more command now.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.device.outstanding_max == 0 || self.active < self.device.outstanding_max
    }

    /// Counts a command in.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now_ps: u64) {
        self.count.advance(now_ps);
        self.count.arrived += 1;
    }

    /// Takes a command from the link into controller and media; what is written has come in over `upstream_ps` until
    /// `now_ps`.
    #[inline]
    pub(crate) fn enter(&mut self, now_ps: u64, upstream_ps: u64, op: u8, class: u16, offset_bytes: u64) -> Next {
        self.active += 1;
        let costs = self.costs[class as usize][op as usize];
        let slow = self.slow_q16;
        let at_controller = self.down.follow(now_ps, upstream_ps, costs.down_ps);
        let t = self.command.reserve(at_controller, (costs.command_ps * slow) >> 16);
        match op {
            READ => self.read(t, offset_bytes, &costs),
            WRITE => Next::Media(self.write(t, offset_bytes, &costs)),
            _ => Next::Media(t),
        }
    }

    #[inline]
    fn read(&mut self, t: u64, offset_bytes: u64, costs: &StageCosts) -> Next {
        let slow = self.slow_q16;
        let late = rare(&self.device.read_tail, &mut self.rng);
        match &mut self.media {
            MediaState::Nand(nand) => {
                let miss = nand.spec().map_miss_permille;
                if miss > 0 && self.rng.below(1000) < u64::from(miss) {
                    return Next::Map(nand.read_map(t, slow, &mut self.rng));
                }
                let done = nand.read(t, offset_bytes, costs.pages, slow, &mut self.rng);
                Next::Media(t.max(done.saturating_sub(self.read_ahead_ps)) + late)
            }
            MediaState::Xpoint { spec, units } => Next::Media(
                xpoint(units, spec.unit_bytes, spec.read, t, offset_bytes, costs.pages, slow, &mut self.rng) + late,
            ),
            MediaState::Memory { .. } => Next::Media(t),
        }
    }

    /// Reads data whose mapping entry has just arrived.
    pub(crate) fn read_mapped(&mut self, now_ps: u64, class: u16, offset_bytes: u64) -> u64 {
        let costs = self.costs[class as usize][READ as usize];
        let slow = self.slow_q16;
        match &mut self.media {
            MediaState::Nand(nand) => nand.read(now_ps, offset_bytes, costs.pages, slow, &mut self.rng),
            MediaState::Xpoint { .. } | MediaState::Memory { .. } => now_ps,
        }
    }

    fn write(&mut self, t: u64, offset_bytes: u64, costs: &StageCosts) -> u64 {
        let slow = self.slow_q16;
        let t = self.write_path.follow(t, costs.down_ps, (costs.path_ps * slow) >> 16);
        let late = rare(&self.device.write_tail, &mut self.rng);
        late + match &mut self.media {
            MediaState::Nand(nand) => {
                let ack = nand.spec().ack_ps;
                nand.write(t, offset_bytes, u64::from(costs.bytes), slow, &mut self.rng) + ack
            }
            MediaState::Xpoint { spec, units } => {
                xpoint(units, spec.unit_bytes, spec.write, t, offset_bytes, costs.pages, slow, &mut self.rng)
            }
            MediaState::Memory { .. } => t,
        }
    }

    /// The media are done: over the channel, if it is modelled; returns when.
    #[inline(always)]
    pub(crate) fn channel(&mut self, now_ps: u64, op: u8, class: u16, offset_bytes: u64) -> Option<u64> {
        if op != READ || self.channels.is_empty() {
            return None;
        }
        let costs = self.costs[class as usize][op as usize];
        let MediaState::Nand(nand) = &self.media else { return None };
        let dies = u64::from(nand.spec().dies);
        let first = offset_bytes / u64::from(nand.spec().page_bytes);
        let count = self.channels.len() as u64;
        let slow = self.slow_q16;
        let mut done = now_ps;
        for page in 0..u64::from(costs.pages) {
            let channel = ((first + page) % dies % count) as usize;
            done = done.max(self.channels[channel].reserve(now_ps, (costs.channel_ps * slow) >> 16));
        }
        Some(done)
    }

    /// How long its own link takes a command's data towards the host.
    #[inline(always)]
    pub(crate) fn up_ps(&self, op: u8, class: u16) -> u64 {
        self.costs(class, op).up_ps
    }

    /// Data path and link towards the host; returns when the command is past the drive's own link.
    #[inline]
    pub(crate) fn leave(&mut self, now_ps: u64, op: u8, class: u16) -> u64 {
        let costs = self.costs[class as usize][op as usize];
        if op == READ {
            let path_ps = (costs.path_ps * self.slow_q16) >> 16;
            let t = self.read_path.reserve(now_ps, path_ps);
            self.up.follow(t, path_ps, costs.up_ps)
        } else {
            self.up.slip_in(now_ps, costs.up_ps)
        }
    }

    /// Counts a command out; `arrived_ps` is when it was counted in.
    #[inline]
    pub(crate) fn depart(&mut self, now_ps: u64, arrived_ps: u64, op: u8, bytes: u32) {
        self.count.advance(now_ps);
        self.count.left += 1;
        self.count.ios[op as usize] += 1;
        self.count.bytes[op as usize] += u64::from(bytes);
        self.count.residence_ps += u128::from(now_ps - arrived_ps);
        self.active -= 1;
    }

    /// Time that the CPU spends on an access of memory that begins at `now_ps`.
    pub(crate) fn access(&mut self, now_ps: u64, op: u8, class: u16, offset_bytes: u64) -> u64 {
        let costs = self.costs[class as usize][op as usize];
        let MediaState::Memory { spec, units, random_writes } = &mut self.media else { return 0 };
        let (latency_ps, rate) = match op {
            READ => (spec.read_ps, spec.read_bytes_per_s),
            _ if *random_writes => (spec.write_ps, spec.random_write_bytes_per_s),
            _ => (spec.write_ps, spec.write_bytes_per_s),
        };
        self.active += 1;
        let count = units.len() as u64;
        let first = offset_bytes / u64::from(spec.unit_bytes);
        let share_ps = transfer_ps(u64::from(spec.unit_bytes).min(u64::from(costs.bytes)), rate / count);
        let mut done = now_ps;
        for unit in 0..u64::from(costs.pages.max(1)) {
            let pipe = &mut units[((first + unit) % count) as usize];
            done = done.max(pipe.reserve(now_ps, (share_ps * self.slow_q16) >> 16));
        }
        done.max(now_ps + ((latency_ps * self.slow_q16) >> 16)) - now_ps
    }

    /// What its servers have done.
    pub(crate) fn parts(&self) -> Vec<PartWork> {
        let one = |name, pipe: &Pipe| PartWork::of(name, std::slice::from_ref(pipe));
        let mut out = vec![
            one("link down", &self.down),
            one("link up", &self.up),
            one("controller", &self.command),
            one("read path", &self.read_path),
            one("write path", &self.write_path),
            one("driver lock", &self.lock),
            PartWork::of("channels", &self.channels),
        ];
        out.push(match &self.media {
            MediaState::Nand(nand) => PartWork {
                name: "dies",
                servers: u64::from(nand.spec().dies),
                work_ps: nand.work_ps(),
                // Reads go before programs: no time line of one server.
                laws: Vec::new(),
            },
            MediaState::Xpoint { units, .. } => PartWork::of("units", units),
            MediaState::Memory { units, .. } => PartWork::of("modules", units),
        });
        out.retain(|part| part.servers > 0);
        out
    }
}

/// Bytes on a link, and its rate.
pub(crate) fn wire_of(link: Link, op: u8, bytes: u64) -> (WireBytes, u64) {
    match link {
        Link::Pcie { generation, lanes, mps_bytes } => {
            let wire = if op == READ { read_wire(bytes, mps_bytes) } else { write_wire(bytes, mps_bytes) };
            (wire, packet_bytes_per_s(generation, lanes).expect("the generation was checked"))
        }
        Link::Rate { bytes_per_s, command_bytes } => {
            let (down, up) = if op == READ { (0, bytes) } else { (bytes, 0) };
            (WireBytes { down: down + command_bytes, up: up + command_bytes }, bytes_per_s)
        }
    }
}

/// A rare delay, usually none.
#[inline(always)]
fn rare(tail: &[(u32, u64)], rng: &mut Rng) -> u64 {
    if tail.is_empty() {
        return 0;
    }
    let at = rng.below(1_000_000_000);
    let mut end = 0;
    for &(per_billion, delay_ps) in tail {
        end += u64::from(per_billion);
        if at < end {
            return delay_ps;
        }
    }
    0
}

#[expect(clippy::too_many_arguments, reason = "one access, all of whose figures the caller holds")]
#[inline]
fn xpoint(
    units: &mut [Pipe],
    unit_bytes: u32,
    service: crate::machine::Service,
    now_ps: u64,
    offset_bytes: u64,
    pages: u32,
    slow_q16: u64,
    rng: &mut Rng,
) -> u64 {
    let count = units.len() as u64;
    let mut unit = offset_bytes / u64::from(unit_bytes) % count;
    let mut done = now_ps;
    for _ in 0..pages {
        done = done.max(units[unit as usize].reserve(now_ps, draw(service, slow_q16, rng)));
        unit = if unit + 1 == count { 0 } else { unit + 1 };
    }
    done
}
