//! From a machine and a step to a world ready to run.

use std::collections::BTreeMap;

use fathom_message::{Message, msg};
use fathom_plan::{EngineName, Mode, Pattern, Phase, Step, label_message};
use fathom_random::Rng;
use fathom_record::StepFailure;

use crate::agenda::Heap;
use crate::amplification::{filling_amplification, write_amplification};
use crate::array::ArrayState;
use crate::cpu::{Arrivals, Cpu, Job, Lane, Thread};
use crate::drive::{DriveState, MediaState, wire_of};
use crate::ftl::{MapShape, PageMap};
use crate::load::{Draw, READ, Span};
use crate::machine::{
    Array, ArrayController, Drive, EngineCosts, FaultKind, Ftl, InterruptPolicy, Link, Machine, Media, Nand,
};
use crate::meter::Meter;
use crate::nand::NandState;
use crate::pipe::Pipe;
use crate::placement::cpus_for;
use crate::target::Resolved;
use crate::world::{Counters, Io, NS, Place, Uplink, World};

/// Least time of an I/O that goes nowhere.
const NULL_LOOP_PS: u64 = 50_000;

/// Drives that were purged, by name: what was written to them since, as a multiple of the user space. All others are
/// preconditioned.
pub(crate) type Fresh = BTreeMap<String, f64>;

pub(crate) fn refused(what: Message, why: Message, help: Message) -> StepFailure {
    StepFailure::Refused { what, why, help }
}

/// Builds the world of one step.
pub(crate) struct Builder<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) step: &'a Step,
    pub(crate) targets: &'a [Resolved],
    pub(crate) fresh: &'a Fresh,
    /// When the window begins.
    pub(crate) start_ns: u64,
    pub(crate) interval_ns: u64,
}

impl Builder<'_> {
    pub(crate) fn world(&self) -> Result<World, StepFailure> {
        let step = self.step;
        self.check()?;
        let threads = self.threads()?;
        let depth = if step.engine.name.is_synchronous() { 1 } else { step.load.queue_depth };
        let mix = step.workload.mix;
        let meter = Meter::new(
            self.start_ns,
            self.interval_ns,
            [mix.read_pct > 0, mix.write_pct > 0, mix.trim_pct > 0],
            self.targets.len(),
            step.load.rate.is_some(),
        );
        let host = &self.machine.host;
        let mut world = World {
            agenda: Heap::with_capacity(threads.len() * depth as usize + 64),
            ios: Vec::new(),
            spare_ios: Vec::new(),
            cpus: (0..host.cpus()).map(|cpu| Cpu::new(host.sibling_of(cpu))).collect(),
            drives: self.drives(),
            arrays: self.arrays(),
            plans: BTreeMap::new(),
            uplinks: self.uplinks(),
            alarms: World::thread_alarms(threads.len() as u32),
            draw: Draw::new(&step.workload, step.seed),
            sizes: step.workload.block_sizes.iter().map(|b| b.bytes).collect(),
            meter,
            counters: Counters::default(),
            vectors: vec![vec![0; host.cpus() as usize]; self.machine.drives.len() + self.machine.arrays.len() + 1],
            stamp_slack_ps: 0,
            end_ns: u64::MAX,
            late_age_ns: 0,
            late_age_before_ns: 0,
            last_reaped_ns: 0,
            cache_hit_pct: self.cache_hit_pct(),
            copy_bytes_per_s: host.copy_bytes_per_s,
            smt_stretch_q16: 65_536 * 100 / u64::from(host.smt_speed_pct.clamp(1, 100)),
            idle_hint: 0,
            threads,
        };
        self.add_faults(&mut world);
        world.start_rebuilds();
        self.start(&mut world, depth);
        Ok(world)
    }

    fn check(&self) -> Result<(), StepFailure> {
        let workload = &self.step.workload;
        if workload.verify.is_some() {
            return Err(refused(msg!("sim-verify"), msg!("sim-verify-why"), msg!("sim-verify-help")));
        }
        if !workload.durability.is_plain() {
            return Err(refused(msg!("sim-durable"), msg!("sim-durable-why"), msg!("sim-durable-help")));
        }
        let is_plain = workload.order.follows_pattern() && workload.order.service.is_none();
        if !is_plain || !self.step.load.pacing.is_free() {
            return Err(refused(msg!("sim-order"), msg!("sim-order-why"), msg!("sim-order-help")));
        }
        if self.step.load.op_rates.is_some() {
            return Err(refused(msg!("sim-op-rates"), msg!("sim-op-rates-why"), msg!("sim-op-rates-help")));
        }
        if self.step.role.trace_to.is_some() {
            return Err(refused(msg!("sim-trace"), msg!("sim-trace-why"), msg!("sim-order-help")));
        }
        if !workload.priorities.is_plain() || !self.step.memory.is_inherited() {
            let what = msg!("sim-priorities");
            return Err(refused(what, msg!("sim-priorities-why"), msg!("sim-order-help")));
        }
        let end = workload.region.offset_bytes + workload.region.size_bytes.unwrap_or(0);
        for target in self.targets {
            let capacity = self.capacity_of(target.place);
            if end > capacity || workload.region.offset_bytes >= capacity {
                return Err(refused(
                    msg!("sim-target", target = target.id.as_str().to_owned()),
                    msg!("sim-too-small", has = capacity.to_string(), wants = end.to_string()),
                    msg!("sim-too-small-help", bytes = capacity.to_string()),
                ));
            }
        }
        Ok(())
    }

    /// User capacity of a place.
    pub(crate) fn capacity_of(&self, place: Place) -> u64 {
        self.machine.capacity_of(place)
    }

    /// Share of a place that the step touches.
    fn footprint(&self, place: Place) -> f64 {
        let capacity = self.capacity_of(place) as f64;
        self.step.workload.region.size_bytes.map_or(1.0, |size| (size as f64 / capacity).clamp(1e-6, 1.0))
    }

    /// The place whose I/O reaches a drive, if any target is one.
    fn place_above(&self, drive: usize) -> Option<Place> {
        self.targets.iter().map(|t| t.place).find(|place| match place {
            Place::Drive(d) => *d as usize == drive,
            Place::Array(a) => self.machine.arrays[*a as usize].members.contains(&drive),
            Place::Nowhere => false,
        })
    }

    fn drives(&self) -> Vec<DriveState> {
        let sequential = matches!(self.step.workload.pattern, Pattern::Sequential);
        let mut out = Vec::new();
        for (index, drive) in self.machine.drives.iter().enumerate() {
            let media = self.media(index, drive, sequential);
            let entity = 0x1000 + index as u64;
            let link = self.trained(drive);
            let mut state = DriveState::new(drive, link, media, sequential, self.step.seed, entity);
            self.step.workload.block_sizes.iter().for_each(|b| state.add_class(b.bytes));
            out.push(state);
        }
        out
    }

    /// The link as it came up.
    fn trained(&self, drive: &Drive) -> Link {
        let down = self.machine.faults.iter().find_map(|fault| match (fault.kind, drive.link) {
            (FaultKind::LinkTrainedDown { generation, lanes }, Link::Pcie { mps_bytes, .. })
                if affects(fault.drive.as_deref(), drive) =>
            {
                Some(Link::Pcie { generation, lanes, mps_bytes })
            }
            _ => None,
        });
        down.unwrap_or(drive.link)
    }

    fn media(&self, index: usize, drive: &Drive, sequential: bool) -> MediaState {
        match &drive.device.media {
            Media::Xpoint(spec) => {
                MediaState::Xpoint { spec: spec.clone(), units: vec![Pipe::default(); spec.units as usize] }
            }
            Media::Memory(spec) => MediaState::Memory {
                spec: spec.clone(),
                units: vec![Pipe::default(); spec.units as usize],
                random_writes: !sequential,
            },
            Media::Nand(nand) => {
                let writes = self.step.workload.mix.write_pct > 0;
                match self.place_above(index).filter(|_| writes) {
                    None => MediaState::Nand(Box::new(NandState::new(nand, 1.0, None))),
                    Some(place) => self.written_nand(index, drive, nand, place, sequential),
                }
            }
        }
    }

    fn written_nand(&self, index: usize, drive: &Drive, nand: &Nand, place: Place, sequential: bool) -> MediaState {
        let rho = spare_factor(nand, self.footprint(place), drive.rest_filled_pct);
        if let (Ftl::Pages { blocks, pages_per_block, greedy }, None) = (nand.ftl, self.fresh.get(&drive.name)) {
            let region_bytes = (drive.device.capacity_bytes as f64 * self.footprint(place)) as u64;
            let first_byte = if matches!(place, Place::Drive(_)) { self.step.workload.region.offset_bytes } else { 0 };
            let shape = MapShape { blocks, pages_per_block, greedy, rho, first_byte, region_bytes, sequential };
            let map = PageMap::preconditioned(shape, self.step.seed ^ index as u64);
            return MediaState::Nand(Box::new(NandState::new(nand, 1.0, Some(map))));
        }
        let wa = amplification(rho, sequential, self.fresh.get(&drive.name).copied());
        MediaState::Nand(Box::new(NandState::new(nand, wa, None)))
    }

    fn arrays(&self) -> Vec<ArrayState> {
        let sequential = matches!(self.step.workload.pattern, Pattern::Sequential);
        let workload = &self.step.workload;
        let aligned = workload.block_sizes.iter().map(|b| u64::from(b.bytes)).chain([workload.region.offset_bytes]);
        let cut = aligned.fold(0, gcd);
        let member_bytes = |array: &Array| {
            array.members.iter().map(|m| self.machine.drives[*m].device.capacity_bytes).min().unwrap_or(0)
        };
        let state =
            |array: &Array| ArrayState::new(array, sequential, gcd(cut, array.chunk_bytes), member_bytes(array));
        self.machine.arrays.iter().map(state).collect()
    }

    fn uplinks(&self) -> Vec<Uplink> {
        let uplink = |shared: &crate::machine::SharedLink| Uplink {
            name: shared.name.clone(),
            bytes_per_s: wire_of(shared.link, READ, 0).1,
            upstream: shared.upstream,
            down: Pipe::default(),
            up: Pipe::default(),
        };
        self.machine.links.iter().map(uplink).collect()
    }

    fn cache_hit_pct(&self) -> u64 {
        let fault = self.machine.faults.iter().find_map(|f| match f.kind {
            FaultKind::PageCacheHits { hit_pct } => Some(u64::from(hit_pct)),
            _ => None,
        });
        if let Some(pct) = fault {
            return pct;
        }
        if self.step.workload.direct || self.step.engine.name == EngineName::Null {
            return 0;
        }
        // What a cache that was emptied gathers again is not followed: reads go to the drive, as they do in a first pass.
        if self.step.workload.drop_cache {
            return 0;
        }
        // Buffered: what fits in three quarters of memory is found there.
        let footprint: u64 = self
            .targets
            .iter()
            .map(|t| self.step.workload.region.size_bytes.unwrap_or_else(|| self.capacity_of(t.place)))
            .sum();
        (self.machine.host.memory_bytes * 3 / 4 * 100 / footprint.max(1)).min(100)
    }

    fn socket_of(&self, place: Place) -> u32 {
        match place {
            Place::Drive(d) => self.machine.drives[d as usize].socket,
            Place::Array(a) => {
                let array = &self.machine.arrays[a as usize];
                match &array.controller {
                    ArrayController::Card(card) => card.socket,
                    ArrayController::Md(_) | ArrayController::UserSpace(_) => {
                        self.machine.drives[array.members[0]].socket
                    }
                }
            }
            Place::Nowhere => 0,
        }
    }

    fn threads(&self) -> Result<Vec<Thread>, StepFailure> {
        let (step, host) = (self.step, &self.machine.host);
        // A target may stand for a group of drives.
        let targets = self.targets.len() as u32;
        let count = step.load.workers(targets);
        let first_socket = self.targets.first().map_or(0, |t| self.socket_of(t.place));
        let (cpus, floating) = cpus_for(host, &step.placement, count, first_socket)
            .map_err(|why| refused(label_message(step), why, msg!("sim-placement-help")))?;
        let threads_on = step.load.workers_by_target(targets);
        let thread = |index: u32| {
            let cpu = cpus[index as usize];
            let lane = |target: u32| self.lane(target, index, &threads_on[target as usize], (cpu, floating));
            let mut lanes =
                step.load.targets_of(index, targets).into_iter().map(lane).collect::<Result<Vec<Lane>, _>>()?;
            self.check_lanes(&lanes)?;
            let has_homes = step.load.rate.is_none() && step.load.queue_depth.is_multiple_of(lanes.len() as u32);
            let poller = (step.engine.mode == Mode::Sqpoll)
                .then(|| step.engine.sqpoll_cpu.unwrap_or((cpu + count) % host.cpus()) % host.cpus());
            Ok(Thread {
                turn: if has_homes { None } else { Some(0) },
                issue_left: lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.issue_left)),
                first: lanes.remove(0),
                others: lanes,
                cpu,
                floating,
                polled: step.engine.mode == Mode::Iopoll || step.engine.name == EngineName::Null,
                poller,
                rng: Rng::new(step.seed, u64::from(index)),
                arrivals: self.arrivals(index, count),
                spare: Vec::new(),
                jobs: 0,
                wakes: 0,
                in_flight: 0,
                in_flight_max: 0,
                area_ns: 0,
                last_ns: 0,
                window_start_ns: self.start_ns,
                ios: 0,
                user_ps: 0,
                system_ps: 0,
                poller_ps: 0,
                cpus_seen: vec![cpu],
                held: Vec::new(),
                held_until_ps: 0,
            })
        };
        (0..count).map(thread).collect()
    }

    /// What thread `index`, which starts on a CPU and may float, does on a target that `threads` drive.
    fn lane(
        &self,
        target: u32,
        index: u32,
        threads: &[u32],
        (cpu, floating): (u32, bool),
    ) -> Result<Lane, StepFailure> {
        let (host, resolved) = (&self.machine.host, &self.targets[target as usize]);
        let mut costs = self.engine_costs(resolved.place);
        costs.submit_ps += costs.sharing_ps * (threads.len() as u64 - 1) + self.remap_ps(resolved.place);
        costs.user_ps += self.split_ps(resolved.place);
        let in_target = threads.iter().position(|thread| *thread == index).unwrap_or(0);
        let span = self.span(resolved, in_target as u64, threads.len() as u64)?;
        Ok(Lane {
            place: resolved.place,
            target,
            interrupt_cpu: self.interrupt_cpu(resolved.place, cpu, floating),
            costs,
            remote_ps: if host.socket_of(cpu) == self.socket_of(resolved.place) { 0 } else { host.remote_ps },
            issue_left: self.step.length.passes.map_or(u64::MAX, |passes| span.count.saturating_mul(u64::from(passes))),
            span,
        })
    }

    /// A thread's arrivals, memory accesses and held interrupts are those of one kind of target.
    fn check_lanes(&self, lanes: &[Lane]) -> Result<(), StepFailure> {
        let is_memory = |lane: &&Lane| self.is_memory(lane.place);
        let memory = lanes.iter().filter(is_memory).count();
        let coalesces = lanes.iter().any(|lane| match lane.place {
            Place::Drive(d) => self.machine.drives[d as usize].device.coalesce.is_some(),
            Place::Array(a) => match &self.machine.arrays[a as usize].controller {
                ArrayController::Card(card) => card.coalesce.is_some(),
                ArrayController::Md(_) | ArrayController::UserSpace(_) => false,
            },
            Place::Nowhere => false,
        });
        let why = match () {
            () if lanes.len() == 1 => return Ok(()),
            () if memory > 0 && memory < lanes.len() => msg!("sim-memory-beside-drives"),
            () if coalesces => msg!("sim-coalescing-of-several"),
            () => return Ok(()),
        };
        Err(refused(label_message(self.step), why, msg!("sim-one-target-each-help")))
    }

    /// Polling takes no interrupt and never sleeps, whatever the machine says of the engine. Persistent memory has a
    /// driver of its own: `[engine.memory]` where the machine has that entry.
    fn engine_costs(&self, place: Place) -> EngineCosts {
        let engine = &self.step.engine;
        let host = &self.machine.host;
        let own_driver = self.is_memory(place) && host.engines.iter().any(|(name, _)| name == "memory");
        let word = if own_driver { "memory" } else { engine.name.as_str() };
        let mut costs = host.costs(word, engine.mode.as_str());
        if engine.mode == Mode::Iopoll || engine.name == EngineName::Null {
            costs.interrupt_ps = 0;
            costs.wake_ps = 0;
            costs.wake_delay_ps = 0;
            costs.migrate_ps = 0;
        }
        if engine.name == EngineName::Null {
            // A loop without any cost would never let time pass.
            costs.user_ps = costs.user_ps.max(NULL_LOOP_PS);
        }
        costs
    }

    fn is_memory(&self, place: Place) -> bool {
        matches!(place, Place::Drive(d) if matches!(self.machine.drives[d as usize].device.media, Media::Memory(_)))
    }

    fn remap_ps(&self, place: Place) -> u64 {
        match place {
            Place::Array(a) => match &self.machine.arrays[a as usize].controller {
                ArrayController::Md(md) => md.remap_ps,
                ArrayController::Card(_) | ArrayController::UserSpace(_) => 0,
            },
            Place::Drive(_) | Place::Nowhere => 0,
        }
    }

    fn split_ps(&self, place: Place) -> u64 {
        match place {
            Place::Array(a) => match &self.machine.arrays[a as usize].controller {
                ArrayController::UserSpace(own) => own.split_ps,
                ArrayController::Card(_) | ArrayController::Md(_) => 0,
            },
            Place::Drive(_) | Place::Nowhere => 0,
        }
    }

    /// The fixed CPU of a thread's interrupts; `None`: its own.
    fn interrupt_cpu(&self, place: Place, cpu: u32, floating: bool) -> Option<u32> {
        let fault = self.machine.faults.iter().find_map(|f| match f.kind {
            FaultKind::InterruptsOnOneCpu { cpu } => Some(cpu),
            _ => None,
        });
        let policy = fault.map_or(self.machine.host.interrupts, InterruptPolicy::OneCpu);
        let cpus = self.machine.host.cpus();
        match policy {
            InterruptPolicy::OneCpu(one) => Some(one % cpus),
            InterruptPolicy::Submitter => {
                let queues = match place {
                    Place::Drive(d) => self.machine.drives[d as usize].device.queues,
                    Place::Array(a) => match &self.machine.arrays[a as usize].controller {
                        ArrayController::Card(card) => card.queues,
                        ArrayController::Md(_) | ArrayController::UserSpace(_) => cpus,
                    },
                    Place::Nowhere => cpus,
                };
                if queues == 0 || queues >= cpus || floating {
                    return None;
                }
                let queue = u64::from(cpu) * u64::from(queues) / u64::from(cpus);
                Some((queue * u64::from(cpus)).div_ceil(u64::from(queues)) as u32)
            }
        }
    }

    /// Blocks of one of `threads` threads: its part of a sequential walk, all of them otherwise.
    fn span(&self, target: &Resolved, thread: u64, threads: u64) -> Result<Span, StepFailure> {
        let workload = &self.step.workload;
        let size = workload.region.size_bytes.unwrap_or(self.capacity_of(target.place) - workload.region.offset_bytes);
        let blocks = size / u64::from(workload.block_bytes_max());
        let shared = !matches!(workload.pattern, Pattern::Sequential);
        let (first, count) = if shared { (0, blocks) } else { (blocks / threads * thread, blocks / threads) };
        if count == 0 {
            return Err(refused(
                msg!("sim-threads-on", threads = threads, target = target.id.as_str().to_owned()),
                msg!("sim-few-blocks", blocks = blocks),
                msg!("sim-few-blocks-help"),
            ));
        }
        Ok(Span { first, count, cursor: 0 })
    }

    /// # Errors
    /// A rate that changes in stages.
    pub(crate) fn check_stages(&self) -> Result<(), StepFailure> {
        if self.step.role.stages.is_empty() {
            return Ok(());
        }
        Err(refused(Message::verbatim(self.step.label.clone()), msg!("sim-stages"), msg!("sim-stages-help")))
    }

    fn arrivals(&self, index: u32, count: u32) -> Option<Arrivals> {
        let rate = self.step.load.rate?;
        let gap_ps = (1e12 * f64::from(count) / rate.iops).max(1.0) as u64;
        // Threads take turns, so that a fixed rate is fixed over all of them.
        let first_ps = gap_ps / u64::from(count) * u64::from(index);
        let rng = Rng::new(self.step.seed, 0x2000 + u64::from(index));
        Some(Arrivals::new(gap_ps, rate.process, first_ps, rng))
    }

    fn add_faults(&self, world: &mut World) {
        for fault in &self.machine.faults {
            let drives = (0..self.machine.drives.len())
                .filter(|d| affects(fault.drive.as_deref(), &self.machine.drives[*d]))
                .collect();
            world.add_fault(fault, drives);
        }
    }

    /// Gives every thread its slots and first I/Os.
    fn start(&self, world: &mut World, depth: u32) {
        for thread in 0..world.threads.len() as u32 {
            let lanes = 1 + world.threads[thread as usize].others.len() as u32;
            for slot_of_thread in 0..depth {
                // Slots of a lane lie together, as in the engine.
                let lane = u64::from(slot_of_thread) * u64::from(lanes) / u64::from(depth);
                world.ios.push(Io::idle(thread, lane as u16));
                let slot = (world.ios.len() - 1) as u32;
                let state = &mut world.threads[thread as usize];
                if state.arrivals.is_some() || state.issue_left == 0 {
                    state.spare.push(slot);
                    continue;
                }
                state.issue_left -= 1;
                let place = state.first.place;
                if world.is_memory(place) {
                    world.begin(0, slot, 0);
                } else {
                    world.enqueue_thread(0, slot, Job::Submit);
                }
            }
            if let Some(arrivals) = &world.threads[thread as usize].arrivals {
                let first = arrivals.next_due_ps;
                world.set_due_alarm(thread, first);
            }
        }
    }

    /// Purge, fill and precondition steps change what later steps find.
    pub(crate) fn is_conditioning(step: &Step) -> bool {
        matches!(step.phase, Phase::Fill | Phase::Precondition | Phase::Settle)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Spare space over the touched space: its own, and what is empty outside the region.
fn spare_factor(nand: &Nand, footprint: f64, rest_filled_pct: u32) -> f64 {
    let empty = (1.0 - footprint) * f64::from(100 - rest_filled_pct.min(100)) / 100.0;
    (nand.spare_pct / 100.0 + empty) / footprint
}

pub(crate) fn amplification(rho: f64, sequential: bool, fills: Option<f64>) -> f64 {
    let steady = if sequential { 1.0 } else { write_amplification(rho) };
    fills.map_or(steady, |fills| filling_amplification(fills, rho, steady))
}

/// Whether a fault is one of this drive: it names the drive, its group, or none.
fn affects(named: Option<&str>, drive: &Drive) -> bool {
    named.is_none_or(|name| name == drive.name || name == drive.group)
}

/// Picoseconds of nanoseconds, saturating.
pub(crate) fn ps(ns: u64) -> u64 {
    ns.saturating_mul(NS)
}
