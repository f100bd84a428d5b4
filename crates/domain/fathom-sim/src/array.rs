//! Arrays: from one I/O to the commands of its members, parity and cache included.

use std::collections::VecDeque;

use fathom_raid::Level;

use crate::drive::{DOWN, UP, wire_of};
use crate::load::{READ, TRIM, WRITE};
use crate::machine::{Array, ArrayController};
use crate::pipe::{PartWork, Pipe, transfer_ps};
use crate::world::{Io, NONE, Stage, World};

/// Commands per member that a write-back cache keeps under way: beyond, it is full for those who wait.
const FLUSH_DEPTH: usize = 32;

/// An array at work.
#[derive(Debug)]
pub(crate) struct ArrayState {
    pub(crate) spec: Array,
    sequential: bool,
    down: Pipe,
    up: Pipe,
    command: Pipe,
    cache: Pipe,
    /// In-place parity updates of a card, or the one thread of md.
    parity: Pipe,
    xor: Pipe,
    /// Bytes written since parity was last written, in a sequential stream.
    stripe_bytes: u64,
    mirror: u64,
    flushing: usize,
    waiting: VecDeque<u32>,
    pub(crate) coalesce: Option<(u32, u64)>,
}

/// A command to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    member: usize,
    offset_bytes: u64,
    bytes: u32,
    op: u8,
}

/// What an I/O becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RaidPlan {
    /// Reads that must come first.
    first: Vec<Part>,
    then: Vec<Part>,
    /// Bytes that parity is computed over.
    xor_bytes: u64,
}

impl ArrayState {
    pub(crate) fn new(spec: &Array, sequential: bool) -> Self {
        let coalesce = match &spec.controller {
            ArrayController::Card(card) => card.coalesce,
            ArrayController::Md(_) => None,
        };
        ArrayState {
            spec: spec.clone(),
            sequential,
            down: Pipe::default(),
            up: Pipe::default(),
            command: Pipe::default(),
            cache: Pipe::default(),
            parity: Pipe::default(),
            xor: Pipe::default(),
            stripe_bytes: 0,
            mirror: 0,
            flushing: 0,
            waiting: VecDeque::new(),
            coalesce,
        }
    }

    /// Work of md's thread.
    pub(crate) fn md_thread_ps(&self) -> u64 {
        match self.spec.controller {
            ArrayController::Md(_) => self.parity.work_ps() + self.xor.work_ps(),
            ArrayController::Card(_) => 0,
        }
    }

    /// Servers with their work, as [`crate::drive::DriveState::parts`].
    pub(crate) fn parts(&self) -> Vec<PartWork> {
        [
            ("link down", &self.down),
            ("link up", &self.up),
            ("controller", &self.command),
            ("cache", &self.cache),
            ("parity update", &self.parity),
            ("parity computation", &self.xor),
        ]
        .map(|(name, pipe)| PartWork::of(name, std::slice::from_ref(pipe)))
        .to_vec()
    }

    /// The member and its address of a chunk.
    fn locate(&self, chunk: u64, within: u64) -> (usize, u64) {
        let n = self.spec.members.len() as u64;
        let size = self.spec.chunk_bytes;
        match self.spec.level {
            Level::Raid0 => ((chunk % n) as usize, chunk / n * size + within),
            Level::Raid10 => ((chunk % (n / 2) * 2) as usize, chunk / (n / 2) * size + within),
            Level::Raid5 | Level::Raid6 => {
                let data = self.spec.data_members() as u64;
                let stripe = chunk / data;
                (((self.first_parity(stripe) + (n - data) + chunk % data) % n) as usize, stripe * size + within)
            }
        }
    }

    /// Parity turns from stripe to stripe.
    fn first_parity(&self, stripe: u64) -> u64 {
        let n = self.spec.members.len() as u64;
        n - 1 - stripe % n
    }

    /// Pieces of an I/O that lie on one member each.
    fn pieces(&self, offset_bytes: u64, bytes: u32, op: u8) -> Vec<Part> {
        let size = self.spec.chunk_bytes;
        let (mut at, end) = (offset_bytes, offset_bytes + u64::from(bytes));
        let mut out = Vec::with_capacity(1);
        while at < end {
            let next = (at / size + 1) * size;
            let (member, offset) = self.locate(at / size, at % size);
            out.push(Part { member, offset_bytes: offset, bytes: (end.min(next) - at) as u32, op });
            at = next;
        }
        out
    }

    fn plan(&mut self, op: u8, offset_bytes: u64, bytes: u32) -> RaidPlan {
        let mut then = self.pieces(offset_bytes, bytes, op);
        match (self.spec.level, op) {
            (Level::Raid10, READ) => {
                for part in &mut then {
                    self.mirror += 1;
                    part.member += (self.mirror % 2) as usize;
                }
            }
            (Level::Raid10, _) => {
                let twins: Vec<Part> = then.iter().map(|p| Part { member: p.member + 1, ..*p }).collect();
                then.extend(twins);
            }
            (Level::Raid5 | Level::Raid6, WRITE) => return self.parity_plan(offset_bytes, bytes, then),
            _ => {}
        }
        RaidPlan { first: Vec::new(), then, xor_bytes: 0 }
    }

    /// Writes under parity: whole stripes as they are, parts of one by the cheaper of two ways.
    fn parity_plan(&mut self, offset_bytes: u64, bytes: u32, data: Vec<Part>) -> RaidPlan {
        let n = self.spec.members.len();
        let parities = self.spec.level.parities() as usize;
        let chunk = self.spec.chunk_bytes;
        let stripe_data = chunk * (n - parities) as u64;
        let parity_parts = |state: &Self, stripe: u64, within: u64, bytes: u32, op: u8| -> Vec<Part> {
            let (first, offset_bytes) = (state.first_parity(stripe), stripe * chunk + within);
            (0..parities as u64)
                .map(|p| Part { member: ((first + p) % n as u64) as usize, offset_bytes, bytes, op })
                .collect()
        };
        let stripe = offset_bytes / stripe_data;
        if self.sequential || (offset_bytes.is_multiple_of(stripe_data) && u64::from(bytes).is_multiple_of(stripe_data))
        {
            // A stream fills its stripes in cache before they are written: parity is written once per stripe.
            self.stripe_bytes += u64::from(bytes);
            let mut then = data;
            while self.stripe_bytes >= stripe_data {
                self.stripe_bytes -= stripe_data;
                then.extend(parity_parts(self, stripe, 0, chunk as u32, WRITE));
            }
            return RaidPlan { first: Vec::new(), then, xor_bytes: u64::from(bytes) };
        }
        let touched = data.len();
        let piece = data.iter().map(|p| p.bytes).max().unwrap_or(bytes);
        // Parity lies beside the data that it is of.
        let within = data.iter().map(|p| p.offset_bytes % chunk).min().unwrap_or(0);
        let untouched = n - parities - touched.min(n - parities);
        let mut then = data.clone();
        then.extend(parity_parts(self, stripe, within, piece, WRITE));
        let first = if untouched < touched + parities {
            // Reconstruct: read the chunks that do not change.
            let inside = offset_bytes % chunk;
            let changed: Vec<usize> = data.iter().map(|p| p.member).collect();
            let first_chunk = stripe * (n - parities) as u64;
            (first_chunk..first_chunk + (n - parities) as u64)
                .map(|c| self.locate(c, inside % chunk))
                .filter(|(member, _)| !changed.contains(member))
                .map(|(member, offset_bytes)| Part { member, offset_bytes, bytes: piece, op: READ })
                .collect()
        } else {
            // Modify: read the old data and the old parity.
            let mut reads: Vec<Part> = data.iter().map(|p| Part { op: READ, ..*p }).collect();
            reads.extend(parity_parts(self, stripe, within, piece, READ));
            reads
        };
        let xor_bytes = (first.len() + touched) as u64 * u64::from(piece);
        RaidPlan { first, then, xor_bytes }
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
        let controller = self.arrays[array as usize].spec.controller.clone();
        let at = match controller {
            ArrayController::Card(card) => {
                let (wire, rate) = wire_of(card.link, op, moved);
                let upstream = card.upstream.map(|link| self.down_uplinks(now, link, [wire.down, wire.up][DOWN]));
                let (t, upstream_ps) = upstream.unwrap_or((now, 0));
                let state = &mut self.arrays[array as usize];
                let t = state.down.follow(t, upstream_ps, transfer_ps(wire.down, rate));
                let command_ps = if op == READ { card.command_read_ps } else { card.command_write_ps };
                let t = state.command.reserve(t, command_ps);
                state.cache.reserve(t, transfer_ps(moved, card.cache_bytes_per_s))
            }
            ArrayController::Md(_) => now,
        };
        self.plan(at, slot, Stage::Array);
    }

    /// An I/O reaches the array's controller.
    pub(crate) fn at_array(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let array = io.drive;
        let members = self.arrays[array as usize].spec.members.len();
        let state = &mut self.arrays[array as usize];
        let write_back =
            matches!(&state.spec.controller, ArrayController::Card(card) if card.cache_bytes > 0) && io.op == WRITE;
        if !write_back {
            self.execute(now, slot);
        } else if state.flushing < members * FLUSH_DEPTH {
            self.flush(now, slot);
        } else {
            state.waiting.push_back(slot);
            self.ios[slot as usize].stage = Stage::Waiting;
        }
    }

    /// Answers a write from the cache and carries it out behind the answer.
    fn flush(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        self.arrays[io.drive as usize].flushing += 1;
        let behind = self.take_slot(Io { thread: NONE, ..io });
        self.ios[behind as usize].in_flight = false;
        self.execute(now, behind);
        self.array_back(now, slot);
    }

    /// Sends the commands of an I/O to the members.
    fn execute(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let bytes = self.sizes[io.class as usize];
        let plan = self.arrays[io.drive as usize].plan(io.op, io.offset_bytes, bytes);
        self.counters.commands_planned += (plan.first.len() + plan.then.len()) as u64;
        let has_parity = plan.xor_bytes > 0;
        let state = &mut self.ios[slot as usize];
        state.arrived_ps = plan.xor_bytes;
        if plan.first.is_empty() {
            state.round = 1;
            if has_parity {
                self.plans.insert(slot, plan.then);
                self.compute_parity(now, slot, false);
            } else {
                self.send(now, slot, &plan.then);
            }
        } else {
            self.plans.insert(slot, plan.then);
            self.send(now, slot, &plan.first);
        }
    }

    fn send(&mut self, now: u64, slot: u32, parts: &[Part]) {
        let io = self.ios[slot as usize];
        self.ios[slot as usize].parts_out = parts.len() as u16;
        self.ios[slot as usize].stage = Stage::Waiting;
        for part in parts {
            let class = self.class_of(part.bytes);
            let drive = self.arrays[io.drive as usize].spec.members[part.member] as u16;
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
        if io.round == 0 && self.plans.contains_key(&parent) {
            io.round = 1;
            self.compute_parity(now, parent, true);
        } else {
            self.array_done(now, parent);
        }
    }

    fn compute_parity(&mut self, now: u64, slot: u32, in_place: bool) {
        let io = self.ios[slot as usize];
        let state = &mut self.arrays[io.drive as usize];
        let (update_ps, rate) = match &state.spec.controller {
            ArrayController::Card(card) => (if in_place { card.parity_ps } else { 0 }, card.xor_bytes_per_s),
            ArrayController::Md(md) => (md.stripe_ps, md.xor_bytes_per_s),
        };
        let t = state.parity.reserve(now, update_ps);
        let t = state.xor.reserve(t, transfer_ps(io.arrived_ps, rate));
        self.plan(t, slot, Stage::Parity);
    }

    /// Parity is computed: data and parity go out.
    pub(crate) fn parity_done(&mut self, now: u64, slot: u32) {
        let parts = self.plans.remove(&slot).expect("an I/O under parity has a second round");
        self.send(now, slot, &parts);
    }

    /// All members are done.
    fn array_done(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        if io.thread != NONE {
            self.array_back(now, slot);
            return;
        }
        self.spare_ios.push(slot);
        let state = &mut self.arrays[io.drive as usize];
        state.flushing -= 1;
        if let Some(next) = state.waiting.pop_front() {
            self.flush(now, next);
        }
    }

    /// The answer goes to the host.
    pub(crate) fn array_back(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let bytes = u64::from(self.sizes[io.class as usize]);
        let state = &mut self.arrays[io.drive as usize];
        let home = match &state.spec.controller {
            ArrayController::Md(_) => now,
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

/// Second rounds of I/Os under parity: `[slot]`.
pub(crate) type SecondRounds = std::collections::BTreeMap<u32, Vec<Part>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Md;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn array(level: Level, members: usize) -> ArrayState {
        let controller = ArrayController::Md(Md { remap_ps: 0, stripe_ps: 0, xor_bytes_per_s: 0 });
        let spec = Array { name: "a".into(), level, members: (0..members).collect(), chunk_bytes: 65_536, controller };
        ArrayState::new(&spec, false)
    }

    #[test]
    fn small_writes_cost_what_the_textbook_says() {
        for (level, reads, writes) in
            [(Level::Raid0, 0, 1), (Level::Raid10, 0, 2), (Level::Raid5, 2, 2), (Level::Raid6, 3, 3)]
        {
            let plan = array(level, 8).plan(WRITE, 12_345 * 4096, 4096);
            assert_eq!((plan.first.len(), plan.then.len()), (reads, writes), "{level:?}");
            let members: BTreeSet<usize> = plan.then.iter().map(|p| p.member).collect();
            assert_eq!(members.len(), writes, "{level:?}: each on a member of its own");
        }
    }

    #[test]
    fn parity_lies_beside_the_data_that_it_is_of() {
        for (level, at) in [(Level::Raid5, 0), (Level::Raid5, 5 * 65_536 + 12_288), (Level::Raid6, 3 * 65_536 + 61_440)]
        {
            let plan = array(level, 8).plan(WRITE, at, 4096);
            let places: BTreeSet<u64> = plan.first.iter().chain(&plan.then).map(|p| p.offset_bytes).collect();
            assert_eq!(places.len(), 1, "{level:?} at {at}: {places:?}");
            assert_eq!(places.first().map(|p| p % 65_536), Some(at % 65_536));
        }
    }

    #[test]
    fn a_whole_stripe_needs_no_reads() {
        let mut five = array(Level::Raid5, 5);
        let plan = five.plan(WRITE, 4 * 65_536 * 3, 4 * 65_536);
        assert!(plan.first.is_empty());
        assert_eq!(plan.then.len(), 5);
        // Most of a stripe is cheaper to complete than to modify.
        let plan = five.plan(WRITE, 4 * 65_536 * 3, 3 * 65_536);
        assert_eq!((plan.first.len(), plan.then.len()), (1, 4));
    }

    #[test]
    fn a_stream_writes_parity_once_per_stripe() {
        let mut six = array(Level::Raid6, 8);
        six.sequential = true;
        let parts: usize = (0..16 * 6).map(|i| six.plan(WRITE, i * 4096, 4096).then.len()).sum();
        assert_eq!(parts, 16 * 6 + 2);
    }

    proptest! {
        #[test]
        fn no_two_chunks_share_a_place(
            level in prop_oneof![Just(Level::Raid0), Just(Level::Raid10), Just(Level::Raid5), Just(Level::Raid6)],
            pairs in 2_usize..6,
        ) {
            let state = array(level, pairs * 2);
            let places: BTreeSet<_> = (0..500).map(|c| state.locate(c, 0)).collect();
            prop_assert_eq!(places.len(), 500);
            prop_assert!(places.iter().all(|(member, _)| *member < pairs * 2));
        }
    }
}
