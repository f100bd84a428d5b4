//! Arrays: from one I/O to the commands of its members, parity and cache included.

use std::collections::{BTreeMap, VecDeque};

use fathom_random::Rng;

use crate::drive::{DOWN, UP, wire_of};
use crate::load::{READ, TRIM, WRITE};
use crate::machine::{Array, ArrayController};
use crate::pipe::{PartWork, Pipe, transfer_ps};
use crate::world::{Io, NONE, Stage, World};

mod cache;
mod md;
mod plan;
mod rebuild;
mod tally;
mod user_space;

use cache::WriteCache;
use md::{BITMAP_WRITE_BYTES, MdState};
use plan::{Part, Planner, RaidPlan};
use rebuild::RebuildState;
use tally::Tally;

/// Rows per member that a write-back cache writes back at once.
const FLUSH_DEPTH: usize = 32;
/// Most blocks of a cache that are followed one by one where the load is far larger than it.
const FOLLOWED_BLOCKS: u64 = 1 << 19;
/// A load so many times the size of a cache is far larger.
const FAR_LARGER: u64 = 64;

/// An array at work.
#[derive(Debug)]
pub(crate) struct ArrayState {
    pub(crate) spec: Array,
    planner: Planner,
    sequential: bool,
    down: Pipe,
    up: Pipe,
    command: Pipe,
    memory: Pipe,
    /// In-place parity updates of a card.
    parity: Pipe,
    xor: Pipe,
    cache: Option<WriteCache>,
    /// Rows that the cache writes back now.
    flushing: usize,
    /// Writes that wait for room in it.
    waiting: VecDeque<u32>,
    md: Option<MdState>,
    /// Plans of I/Os that wait for stripes or for the bitmap.
    parked: BTreeMap<u32, RaidPlan>,
    rebuild: Option<RebuildState>,
    rebuild_alarm: u32,
    member_bytes: u64,
    pub(crate) tally: Tally,
    pub(crate) coalesce: Option<(u32, u64)>,
}

/// What an array does behind the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BehindKind {
    /// A row of a cache is written back.
    Flush = 0,
    /// A row of a lost member is made new.
    Rebuild = 1,
    /// Bits are written to all members.
    Bitmap = 2,
}

/// Commands of an I/O that are still to come, and what they need before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Due {
    first: Vec<Part>,
    then: Vec<Part>,
    height_bytes: u64,
    xor_bytes: u64,
    /// Reads of the first round.
    reads: u32,
}

impl Due {
    /// How many commands.
    pub(crate) fn commands(&self) -> usize {
        self.first.len() + self.then.len()
    }
}

/// Rounds that are still to come: `[slot]`.
pub(crate) type Rounds = BTreeMap<u32, Due>;

impl ArrayState {
    /// `block_bytes`: what no I/O of the load is cut smaller than; `member_bytes`: what each member holds.
    pub(crate) fn new(spec: &Array, sequential: bool, block_bytes: u64, member_bytes: u64) -> Self {
        let planner = Planner::new(spec);
        let (coalesce, cache) = match &spec.controller {
            ArrayController::Card(card) => {
                let cache = WriteCache::new(card.cache_bytes, block_bytes, planner.row_bytes());
                (card.coalesce, (card.cache_bytes > 0).then_some(cache))
            }
            ArrayController::Md(_) | ArrayController::UserSpace(_) => (None, None),
        };
        let md = match &spec.controller {
            ArrayController::Md(md) => Some(MdState::new(md)),
            ArrayController::Card(_) | ArrayController::UserSpace(_) => None,
        };
        ArrayState {
            planner,
            sequential,
            down: Pipe::default(),
            up: Pipe::default(),
            command: Pipe::default(),
            memory: Pipe::default(),
            parity: Pipe::default(),
            xor: Pipe::default(),
            cache,
            flushing: 0,
            waiting: VecDeque::new(),
            md,
            parked: BTreeMap::new(),
            rebuild: RebuildState::of(spec, member_bytes),
            rebuild_alarm: 0,
            member_bytes,
            tally: Tally::new(spec),
            coalesce,
            spec: spec.clone(),
        }
    }

    /// Work of md's threads.
    pub(crate) fn md_thread_ps(&self) -> u64 {
        self.md.as_ref().map_or(0, MdState::work_ps)
    }

    /// Bytes of a lost member that were made new.
    pub(crate) fn rebuilt_bytes(&self) -> u64 {
        self.rebuild.as_ref().map_or(0, |rebuild| rebuild.done_rows * self.spec.chunk_bytes)
    }

    /// Bytes that each member holds.
    pub(crate) fn member_bytes(&self) -> u64 {
        self.member_bytes
    }

    /// Servers with their work, as [`crate::drive::DriveState::parts`].
    pub(crate) fn parts(&self) -> Vec<PartWork> {
        let one = |name, pipe: &Pipe| PartWork::of(name, std::slice::from_ref(pipe));
        if let Some(md) = &self.md {
            return vec![PartWork::of("md thread", &md.threads), one("md lock", &md.lock)];
        }
        [
            ("link down", &self.down),
            ("link up", &self.up),
            ("controller", &self.command),
            ("cache memory", &self.memory),
            ("parity update", &self.parity),
            ("parity computation", &self.xor),
        ]
        .map(|(name, pipe)| one(name, pipe))
        .to_vec()
    }

    fn plan(&mut self, op: u8, offset_bytes: u64, bytes: u32) -> RaidPlan {
        // Whoever can wait for the rest of a stream does; what Fathom spreads itself goes as it comes.
        let gathers = !matches!(self.spec.controller, ArrayController::UserSpace(_));
        if op == WRITE && self.sequential && gathers {
            self.planner.streamed(offset_bytes, bytes)
        } else {
            self.planner.plan(op, offset_bytes, bytes)
        }
    }
}

impl World {
    /// An I/O for an array leaves the host.
    pub(crate) fn enter_array(&mut self, now: u64, slot: u32, array: u16) {
        let io = &mut self.ios[slot as usize];
        io.drive = array;
        io.parent = NONE;
        io.round = 0;
        let (op, bytes) = (io.op, u64::from(self.sizes[io.class as usize]));
        let moved = if op == TRIM { 0 } else { bytes };
        let state = &mut self.arrays[array as usize];
        state.tally.count(op, moved);
        let ArrayController::Card(card) = state.spec.controller.clone() else {
            if state.md.is_some() {
                self.plan(now, slot, Stage::Array);
            } else {
                self.at_array(now, slot);
            }
            return;
        };
        let (wire, rate) = wire_of(card.link, op, moved);
        let upstream = card.upstream.map(|link| self.down_uplinks(now, link, [wire.down, wire.up][DOWN]));
        let (t, upstream_ps) = upstream.unwrap_or((now, 0));
        let state = &mut self.arrays[array as usize];
        let t = state.down.follow(t, upstream_ps, transfer_ps(wire.down, rate));
        let command_ps = if op == READ { card.command_read_ps } else { card.command_write_ps };
        let t = state.command.reserve(t, command_ps);
        // A cache that keeps writes takes them in; what it does not keep passes by it.
        let crosses = state.cache.is_none() || op == WRITE;
        let at = if crosses { state.memory.reserve(t, transfer_ps(moved, card.cache_bytes_per_s)) } else { t };
        self.plan(at, slot, Stage::Array);
    }

    /// An I/O reaches the array's controller.
    pub(crate) fn at_array(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let bytes = self.sizes[io.class as usize];
        let state = &mut self.arrays[io.drive as usize];
        if let Some(cache) = &mut state.cache {
            if io.op == WRITE {
                self.keep(now, slot);
                return;
            }
            if io.op == READ && cache.holds(io.offset_bytes, u64::from(bytes)) {
                self.array_back(now, slot);
                return;
            }
        }
        let plan = state.plan(io.op, io.offset_bytes, bytes);
        state.tally.note(io.op, &plan);
        let is_admitted = match &mut state.md {
            // Reads that lose nothing pass by the stripe cache.
            Some(md) if state.planner.has_parity() && (io.op == WRITE || !plan.first.is_empty()) => {
                md.take(slot, plan.height_bytes)
            }
            _ => true,
        };
        if is_admitted {
            self.past_stripes(now, slot, plan);
        } else {
            state.parked.insert(slot, plan);
            self.ios[slot as usize].stage = Stage::Waiting;
        }
    }

    /// It has what it needs of md's stripes: the bitmap comes next.
    fn past_stripes(&mut self, now: u64, slot: u32, plan: RaidPlan) {
        let io = self.ios[slot as usize];
        let state = &mut self.arrays[io.drive as usize];
        let waits = match &mut state.md {
            Some(md) if io.op == WRITE && state.spec.level.is_redundant() => md.waits_for_bit(slot, io.offset_bytes),
            _ => false,
        };
        if !waits {
            self.carry_out(now, slot, plan);
            return;
        }
        state.parked.insert(slot, plan);
        self.ios[slot as usize].stage = Stage::Waiting;
        self.write_bitmap(now, io.drive);
    }

    fn write_bitmap(&mut self, now: u64, array: u16) {
        let state = &mut self.arrays[array as usize];
        if !state.md.as_mut().is_some_and(MdState::begin_bitmap_write) {
            return;
        }
        let lost = state.spec.lost;
        let members = (0..state.spec.members.len()).filter(|member| !lost.has(*member as u32));
        // It lies beside the data, at the beginning of each member.
        let part = |member| Part { member, offset_bytes: 0, bytes: BITMAP_WRITE_BYTES, op: WRITE };
        let plan = RaidPlan { then: members.map(part).collect(), ..RaidPlan::default() };
        let slot = self.behind(array, BehindKind::Bitmap, u64::from(BITMAP_WRITE_BYTES));
        self.carry_out(now, slot, plan);
    }

    /// A write-back cache takes a write, or lets it wait for room.
    fn keep(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let bytes = u64::from(self.sizes[io.class as usize]);
        let state = &mut self.arrays[io.drive as usize];
        let Some(cache) = &mut state.cache else { return };
        if !state.waiting.is_empty() || !cache.put(io.offset_bytes, bytes) {
            state.waiting.push_back(slot);
            self.ios[slot as usize].stage = Stage::Waiting;
        } else {
            let begins_to_fill = cache.begins_to_fill();
            self.array_back(now, slot);
            if begins_to_fill {
                self.fill_cache(io.drive);
            }
        }
        self.write_back(now, io.drive);
    }

    /// A cache that is filled faster than it is emptied is full in the end: it is full now, of what the load writes.
    fn fill_cache(&mut self, array: u16) {
        let state = &mut self.arrays[array as usize];
        let Some(cache) = &mut state.cache else { return };
        if state.sequential {
            cache.shrink_to_used();
            return;
        }
        let Some(thread) = self.threads.iter().find(|t| t.lanes().any(|l| l.place.is_array(array))) else { return };
        let mut span =
            thread.lanes().find(|lane| lane.place.is_array(array)).map_or(thread.first.span, |lane| lane.span);
        let block = u64::from(self.sizes[0]);
        let region = span.count * block;
        if cache.capacity_bytes() < region / FAR_LARGER {
            cache.shrink_to(FOLLOWED_BLOCKS * block);
        }
        let mut rng = Rng::new(0x00ca_c4e5, u64::from(array));
        // A region smaller than the cache never fills it.
        for _ in 0..cache.capacity_bytes() / block * 4 {
            let wish = self.draw.next(&mut span, &mut rng);
            let bytes = u64::from(self.sizes[wish.class as usize]);
            if wish.op == WRITE && !cache.put(wish.offset_bytes, bytes) {
                break;
            }
        }
    }

    /// Writes back rows of a cache, as many at once as the members are kept busy with.
    fn write_back(&mut self, now: u64, array: u16) {
        loop {
            let state = &mut self.arrays[array as usize];
            if state.flushing >= state.spec.members.len() * FLUSH_DEPTH {
                return;
            }
            let wants_room = !state.waiting.is_empty();
            let Some(extents) = state.cache.as_mut().and_then(|cache| cache.next(wants_room)) else { return };
            state.flushing += 1;
            let plan = state.planner.gathered(&extents);
            state.tally.note(WRITE, &plan);
            let bytes = extents.iter().map(|(_, bytes)| bytes).sum();
            let slot = self.behind(array, BehindKind::Flush, bytes);
            self.carry_out(now, slot, plan);
        }
    }

    /// A slot for what an array does behind the load, of so many bytes.
    fn behind(&mut self, array: u16, kind: BehindKind, bytes: u64) -> u32 {
        self.take_slot(Io { drive: array, op: WRITE, created_ns: bytes, ..Io::idle(NONE, kind as u16) })
    }

    /// Sends the commands of an I/O to the members, in one round or two.
    fn carry_out(&mut self, now: u64, slot: u32, plan: RaidPlan) {
        let commands = plan.first.len() + plan.then.len();
        self.counters.commands_planned += commands as u64;
        let io = &mut self.ios[slot as usize];
        let (array, is_flush) = (io.drive as usize, io.thread == NONE && io.lane == BehindKind::Flush as u16);
        io.round = 0;
        // Threads of the load submit its own commands; a rebuild has a thread of its own.
        let is_user_space =
            io.thread != NONE && matches!(self.arrays[array].spec.controller, ArrayController::UserSpace(_));
        let has_parity = plan.xor_bytes > 0 && plan.first.is_empty();
        if is_user_space {
            self.submit_parts(now, slot, plan);
        } else if !plan.first.is_empty() {
            self.ios[slot as usize].stage = Stage::Waiting;
            let reads = plan.first.len() as u32;
            let (height_bytes, xor_bytes) = (plan.height_bytes, plan.xor_bytes);
            self.plans.insert(slot, Due { first: Vec::new(), then: plan.then, height_bytes, xor_bytes, reads });
            self.send(now, slot, &plan.first);
        } else if has_parity || is_flush {
            let (height_bytes, xor_bytes) = (plan.height_bytes, plan.xor_bytes);
            self.plans.insert(slot, Due { first: Vec::new(), then: plan.then, height_bytes, xor_bytes, reads: 0 });
            self.compute_parity(now, slot);
        } else {
            self.send(now, slot, &plan.then);
        }
    }

    fn send(&mut self, now: u64, slot: u32, parts: &[Part]) {
        let io = &mut self.ios[slot as usize];
        io.parts_out = parts.len() as u16;
        io.stage = Stage::Waiting;
        // What the last round was is asked for when it is done.
        io.arrived_ps = parts.len() as u64;
        let io = *io;
        let is_of_rebuild = io.thread == NONE && io.lane == BehindKind::Rebuild as u16;
        for part in parts {
            let class = self.class_of(part.bytes);
            let array = &mut self.arrays[io.drive as usize];
            array.tally.command(part, is_of_rebuild);
            let drive = array.spec.members[part.member] as u16;
            let command = self.take_slot(Io {
                op: part.op,
                class,
                offset_bytes: part.offset_bytes,
                parent: slot,
                drive,
                in_flight: false,
                ..io
            });
            self.at_drive(now, command);
        }
    }

    /// A member is done with its part.
    pub(crate) fn part_done(&mut self, now: u64, slot: u32) {
        let parent = self.ios[slot as usize].parent;
        self.spare_ios.push(slot);
        let io = &mut self.ios[parent as usize];
        io.parts_out -= 1;
        if io.parts_out > 0 {
            return;
        }
        if self.plans.contains_key(&parent) {
            self.compute_parity(now, parent);
        } else {
            self.array_done(now, parent);
        }
    }

    fn compute_parity(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let due = &self.plans[&slot];
        let (xor_bytes, height_bytes, reads) = (due.xor_bytes, due.height_bytes, due.reads);
        let is_update = reads > 0 && !due.then.is_empty();
        let written: u64 = due.then.iter().map(|part| u64::from(part.bytes)).sum();
        let state = &mut self.arrays[io.drive as usize];
        let t = match &state.spec.controller {
            ArrayController::Card(card) => {
                let t = state.parity.reserve(now, if is_update { card.parity_ps } else { 0 });
                let t = state.xor.reserve(t, transfer_ps(xor_bytes, card.xor_bytes_per_s));
                // What a cache holds crosses its memory again on the way to the members, as old content does on its way in.
                let is_flush = io.thread == NONE && io.lane == BehindKind::Flush as u16;
                let crosses = if is_flush { written + xor_bytes.saturating_sub(io.created_ns) } else { 0 };
                state.memory.reserve(t, transfer_ps(crosses, card.cache_bytes_per_s))
            }
            ArrayController::Md(_) => {
                let md = state.md.as_mut().expect("an array of md has its state");
                if state.planner.has_parity() { md.handle(now, height_bytes, xor_bytes) } else { now }
            }
            ArrayController::UserSpace(own) if io.thread == NONE => now + transfer_ps(xor_bytes, own.xor_bytes_per_s),
            ArrayController::UserSpace(_) => {
                self.take_parts(now, slot);
                return;
            }
        };
        self.plan(t, slot, Stage::Parity);
    }

    /// Parity is computed: data and parity go out.
    pub(crate) fn parity_done(&mut self, now: u64, slot: u32) {
        let due = self.plans.remove(&slot).expect("an I/O under parity has a second round");
        if due.then.is_empty() {
            // A read that was computed.
            self.array_done(now, slot);
        } else {
            self.send(now, slot, &due.then);
        }
    }

    /// All members are done.
    fn array_done(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        if io.thread == NONE {
            self.behind_done(now, slot, io);
            return;
        }
        let state = &mut self.arrays[io.drive as usize];
        if let Some(md) = &mut state.md {
            md.give_back(slot);
        } else if matches!(state.spec.controller, ArrayController::UserSpace(_)) {
            self.reap_parts(now, slot);
            return;
        }
        self.array_back(now, slot);
        while let Some(next) = self.arrays[io.drive as usize].md.as_mut().and_then(MdState::admitted) {
            let plan = self.arrays[io.drive as usize].parked.remove(&next).expect("what waits has a plan");
            self.past_stripes(now, next, plan);
        }
    }

    fn behind_done(&mut self, now: u64, slot: u32, io: Io) {
        self.spare_ios.push(slot);
        let array = io.drive;
        if io.lane == BehindKind::Rebuild as u16 {
            self.row_rebuilt(now, array);
            return;
        }
        let state = &mut self.arrays[array as usize];
        if io.lane == BehindKind::Bitmap as u16 {
            let released = state.md.as_mut().map(MdState::end_bitmap_write).unwrap_or_default();
            for next in released {
                let plan = self.arrays[array as usize].parked.remove(&next).expect("what waits has a plan");
                self.carry_out(now, next, plan);
            }
            self.write_bitmap(now, array);
            return;
        }
        state.flushing -= 1;
        if let Some(cache) = &mut state.cache {
            cache.written_back(io.created_ns);
        }
        while let Some(next) = self.arrays[array as usize].waiting.front().copied() {
            let waiting = self.ios[next as usize];
            let bytes = u64::from(self.sizes[waiting.class as usize]);
            let state = &mut self.arrays[array as usize];
            if !state.cache.as_mut().is_some_and(|cache| cache.put(waiting.offset_bytes, bytes)) {
                break;
            }
            state.waiting.pop_front();
            self.array_back(now, next);
        }
        self.write_back(now, array);
    }

    /// The answer goes to the host.
    pub(crate) fn array_back(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let bytes = u64::from(self.sizes[io.class as usize]);
        let state = &mut self.arrays[io.drive as usize];
        let home = match &state.spec.controller {
            ArrayController::Md(_) | ArrayController::UserSpace(_) => now,
            ArrayController::Card(card) => {
                let (wire, rate) = wire_of(card.link, io.op, if io.op == TRIM { 0 } else { bytes });
                let up = [wire.down, wire.up][UP];
                let service = transfer_ps(up, rate);
                let t = if io.op == READ { state.up.reserve(now, service) } else { state.up.slip_in(now, service) };
                let (fixed_ps, mut link) = (card.fixed_ps, card.upstream);
                let (mut t, mut upstream_ps) = (t, service);
                while let Some(index) = link {
                    let uplink = &mut self.uplinks[index];
                    let service = transfer_ps(up, uplink.bytes_per_s);
                    t = uplink.up.follow(t, upstream_ps, service);
                    (link, upstream_ps) = (uplink.upstream, service);
                }
                t + fixed_ps + self.threads[io.thread as usize].lane(io.lane).remote_ps
            }
        };
        self.plan(home, slot, Stage::Home);
    }

    /// Index of a size, made known to all drives if it is new.
    fn class_of(&mut self, bytes: u32) -> u16 {
        if let Some(known) = self.sizes.iter().position(|s| *s == bytes) {
            return known as u16;
        }
        self.sizes.push(bytes);
        for drive in &mut self.drives {
            drive.add_class(bytes);
        }
        (self.sizes.len() - 1) as u16
    }

    fn take_slot(&mut self, io: Io) -> u32 {
        if let Some(slot) = self.spare_ios.pop() {
            self.ios[slot as usize] = io;
            return slot;
        }
        self.ios.push(io);
        (self.ios.len() - 1) as u32
    }
}
