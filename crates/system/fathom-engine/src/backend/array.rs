//! An array as a backend over another: RAID 0, 10, 5 and 6 on the members' descriptors. One thread owns it with all of its
//! state, so there is no lock between threads: threads that write own separate stripes (`crate::array`).
//!
//! An I/O is cut into pieces, and a piece becomes I/Os on members. Pieces that read and then write, or read what another
//! piece may be changing, hold a range of stripes ([`Ranges`]): pieces on ranges that overlap run one after the other, in the
//! order in which they came. A piece that must wait holds up those behind it.

mod member;
mod ranges;
mod restore;
mod stripe;

use std::collections::VecDeque;
use std::io;

use fathom_message::msg;
use fathom_plan::{Op, SyncKind};
use fathom_raid::{Level, Place, RowWrite};
use fathom_record::{ArrayRecord, FeatureName, FeatureUse};

use super::{Backend, Io, SubmitStamp};
use crate::array::Set;
use crate::buffer::Area;
use crate::clock::Clock;
use crate::parity::Parity;
use crate::system::code;

pub(crate) use member::{MemberIo, Work};
use member::{Owner, is_loss};
use ranges::Ranges;
pub(crate) use restore::restores_at_once;
use stripe::{Stripe, Task};

/// Most member I/Os that a thread has in flight.
const MEMBER_IOS_MAX: u32 = 4_096;

/// How many member I/Os an array of that many members has in flight at most, for the backend below.
pub(crate) fn member_depth(queue_depth: u32, members: u32) -> u32 {
    queue_depth.saturating_mul(members).clamp(1, MEMBER_IOS_MAX)
}

/// What the load asked for.
#[derive(Clone, Copy)]
struct Asked {
    /// Pieces that are not done.
    left: u32,
    /// Bytes, or 0 for a sync.
    len: u32,
    /// The first failure, a negative errno.
    error: i32,
}

/// A part of an I/O that holds a range of stripes.
#[derive(Clone, Copy)]
struct Piece {
    slot: u32,
    set: u16,
    task: Task,
    /// The load's bytes of it.
    buffer: *mut u8,
}

/// Arrays over a backend.
pub(crate) struct Array<B> {
    inner: B,
    /// `[part]`
    sets: Vec<Set>,
    parity: Parity,
    /// `[slot]`
    asked: Box<[Asked]>,
    done: VecDeque<(u32, i32)>,
    /// Member I/Os that wait for a slot of the backend below.
    ready: VecDeque<MemberIo>,
    /// `[slot of the backend below]`
    under_way: Box<[MemberIo]>,
    free: Vec<u32>,
    finished: Vec<(u32, i32)>,
    waiting: VecDeque<Piece>,
    /// Pieces are being begun: one that ends at once must not begin others from within.
    begins: bool,
    stripes: Box<[Stripe]>,
    free_stripes: Vec<u32>,
    held: Ranges,
    /// Room of each stripe for its columns and parities.
    scratch: Area,
    column_bytes: usize,
    clock: Clock,
    /// Whether a member is rebuilt beside the load and this thread still has rows of it to do.
    rebuilds: bool,
    /// Stripes of a rebuild: those behind the load's.
    free_restores: Vec<u32>,
    restore_room: Option<Area>,
    restore_bytes: u64,
}

impl<B: Backend> Array<B> {
    /// Arrays over `inner`, which takes `inner_depth` I/Os. `queue_depth`: of the load; `len_max`: longest I/O.
    ///
    /// # Errors
    /// When there is no memory for the parities.
    pub(crate) fn new(
        inner: B,
        inner_depth: u32,
        sets: Vec<Set>,
        queue_depth: u32,
        len_max: usize,
    ) -> io::Result<Array<B>> {
        let with_parity = || sets.iter().map(Set::layout).filter(|layout| layout.level().parities() > 0);
        let chunk_bytes = with_parity().map(|layout| layout.chunk_bytes() as usize).max().unwrap_or(1);
        let columns = with_parity().map(|layout| layout.members() as usize + 2).max().unwrap_or(1);
        // A write changes no more of a chunk than its own length, and whole pages keep every column aligned.
        let column_bytes = chunk_bytes.min(len_max).next_multiple_of(crate::pages::page_bytes());
        let room = |count: u32| count as usize;
        let at_once = if inner_depth == 1 { restores_at_once(&sets).min(1) } else { restores_at_once(&sets) };
        let stripes = queue_depth + at_once;
        Ok(Array {
            parity: Parity::new(),
            asked: vec![Asked { left: 0, len: 0, error: 0 }; room(queue_depth)].into_boxed_slice(),
            done: VecDeque::with_capacity(room(queue_depth)),
            ready: VecDeque::with_capacity(room(inner_depth)),
            under_way: vec![MemberIo::NONE; room(inner_depth)].into_boxed_slice(),
            free: (0..inner_depth).rev().collect(),
            finished: Vec::with_capacity(room(inner_depth)),
            waiting: VecDeque::with_capacity(room(stripes)),
            begins: false,
            stripes: vec![Stripe::IDLE; room(stripes)].into_boxed_slice(),
            free_stripes: (0..queue_depth).rev().collect(),
            held: Ranges::with_capacity(room(stripes)),
            scratch: Area::new(room(queue_depth), column_bytes * columns)?,
            column_bytes,
            clock: Clock::get(),
            rebuilds: at_once > 0,
            free_restores: (queue_depth..stripes).rev().collect(),
            restore_room: restore::room(&sets, at_once)?,
            restore_bytes: restore::unit_bytes(&sets),
            inner,
            sets,
        })
    }

    /// Takes over what other threads found out about members.
    pub(crate) fn refresh(&mut self) {
        self.sets.iter_mut().for_each(Set::refresh);
    }

    fn read(&mut self, io: &Io) {
        let set = &mut self.sets[usize::from(io.part)];
        set.counts.reads += 1;
        set.counts.load_bytes += u64::from(io.len);
        let layout = set.layout();
        match layout.level() {
            Level::Raid10 => {
                for (offset, len, buffer) in chunks(io, layout.chunk_bytes()) {
                    self.read_copy(io.slot, io.part, offset, len, buffer);
                }
            }
            _ => {
                let mut buffer = io.buffer;
                for piece in layout.rows(io.offset, u64::from(io.len)) {
                    for (column, begin, end) in stripe::columns_of(&layout, piece) {
                        self.read_column(io.slot, io.part, (piece.row, column, begin, end), buffer);
                        buffer = buffer.wrapping_add((end - begin) as usize);
                    }
                }
            }
        }
    }

    /// Reads bytes `begin..end` of a column: from its member, or from what is left when that is lost.
    fn read_column(&mut self, slot: u32, part: u16, place: (u64, u32, u64, u64), buffer: *mut u8) {
        let (row, column, begin, end) = place;
        let set = &self.sets[usize::from(part)];
        let member = set.layout().data_member(row, column);
        self.asked[slot as usize].left += 1;
        if set.lost_at(row).has(member) && set.layout().level().parities() > 0 {
            self.sets[usize::from(part)].counts.degraded_reads += 1;
            let task = Task::Rebuild { row, column, begin, end };
            return self.hold(Piece { slot, set: part, task, buffer });
        }
        let offset = row * set.layout().chunk_bytes() + begin;
        let io = MemberIo { member, offset, len: (end - begin) as u32, buffer, ..MemberIo::of(Work::Read, part) };
        self.ready.push_back(MemberIo { owner: Owner::Asked(slot), ..io });
    }

    /// Reads from the copy with fewer I/Os under way that is not lost.
    fn read_copy(&mut self, slot: u32, part: u16, offset: u64, len: u32, buffer: *mut u8) {
        self.asked[slot as usize].left += 1;
        let set = &mut self.sets[usize::from(part)];
        let (copies, chunk_bytes) = (set.layout().copies(offset), set.layout().chunk_bytes());
        let is_lost = |place: &Place| set.lost_at(place.offset / chunk_bytes).has(place.member);
        let are_lost = copies.iter().any(is_lost);
        let alive = copies.into_iter().filter(|place| !is_lost(place));
        let Some(place) = alive.min_by_key(|place| set.pending[place.member as usize]) else {
            return self.piece_done(slot, -code::EIO);
        };
        let io = MemberIo { member: place.member, offset: place.offset, len, buffer, ..MemberIo::of(Work::Read, part) };
        set.pending[place.member as usize] += 1;
        set.counts.degraded_reads += u64::from(are_lost);
        self.ready.push_back(MemberIo { owner: Owner::Asked(slot), ..io });
    }

    fn write(&mut self, io: &Io) {
        let set = &mut self.sets[usize::from(io.part)];
        set.counts.writes += 1;
        set.counts.load_bytes += u64::from(io.len);
        let layout = set.layout();
        match layout.level() {
            Level::Raid0 => {
                let mut buffer = io.buffer;
                for piece in layout.rows(io.offset, u64::from(io.len)) {
                    for (column, begin, end) in stripe::columns_of(&layout, piece) {
                        let (offset, len) = (piece.row * layout.chunk_bytes() + begin, (end - begin) as u32);
                        self.asked[io.slot as usize].left += 1;
                        let member =
                            MemberIo { member: column, offset, len, buffer, ..MemberIo::of(Work::Write, io.part) };
                        self.ready.push_back(MemberIo { owner: Owner::Asked(io.slot), ..member });
                        buffer = buffer.wrapping_add(len as usize);
                    }
                }
            }
            Level::Raid10 => {
                for (offset, len, buffer) in chunks(io, layout.chunk_bytes()) {
                    self.asked[io.slot as usize].left += 1;
                    self.hold(Piece { slot: io.slot, set: io.part, task: Task::Mirror { offset, len }, buffer });
                }
            }
            Level::Raid5 | Level::Raid6 => {
                let mut buffer = io.buffer;
                for row in layout.rows(io.offset, u64::from(io.len)) {
                    for piece in RowWrite::parts(&layout, row) {
                        self.asked[io.slot as usize].left += 1;
                        self.hold(Piece { slot: io.slot, set: io.part, task: Task::Write(piece), buffer });
                        buffer = buffer.wrapping_add((piece.end - piece.begin) as usize);
                    }
                }
            }
        }
    }

    /// Begins a piece when nothing before it waits and its range is free.
    fn hold(&mut self, piece: Piece) {
        self.waiting.push_back(piece);
        self.begin_waiting();
    }

    fn begin_waiting(&mut self) {
        if std::mem::replace(&mut self.begins, true) {
            return;
        }
        while let Some(piece) = self.waiting.front().copied() {
            let restored = match piece.task {
                Task::Restore { row, .. } => Some(row),
                _ => None,
            };
            let free = self.free_stripes.last().copied();
            let Some(stripe) = restored.map(|_| piece.slot).or(free) else { break };
            let range = piece.task.range(&self.sets[usize::from(piece.set)].layout());
            if !self.held.take(stripe, piece.set, range) {
                break;
            }
            self.waiting.pop_front();
            match restored {
                None => drop(self.free_stripes.pop()),
                Some(row) => self.sets[usize::from(piece.set)].rebuild().into_iter().for_each(|r| r.begin(row)),
            }
            self.stripes[stripe as usize].piece = Some(piece);
            self.begin_stripe(stripe);
        }
        self.begins = false;
    }

    fn piece_done(&mut self, slot: u32, error: i32) {
        let asked = &mut self.asked[slot as usize];
        if asked.error == 0 {
            asked.error = error;
        }
        asked.left -= 1;
        if asked.left == 0 {
            let result = if asked.error == 0 { asked.len as i32 } else { asked.error };
            self.done.push_back((slot, result));
        }
    }

    /// Hands member I/Os to the backend below, as many as it takes.
    fn pump(&mut self) {
        self.begin_restores();
        while let (Some(&slot), Some(io)) = (self.free.last(), self.ready.front().copied()) {
            self.free.pop();
            self.ready.pop_front();
            let set = &mut self.sets[usize::from(io.set)];
            let part = set.part_of(io.member);
            let Io { len, offset, buffer, .. } = io.rest();
            match io.work {
                Work::Sync(kind) => self.inner.push_sync(slot, part, kind),
                Work::Read => self.inner.push(&Io { slot, part, op: Op::Read, len, offset, buffer }),
                Work::Write => self.inner.push(&Io { slot, part, op: Op::Write, len, offset, buffer }),
            }
            self.under_way[slot as usize] = io;
        }
    }

    /// Takes what the backend below finished, and does what follows from it.
    fn collect(&mut self) {
        let Array { inner, finished, .. } = self;
        inner.reap(|slot, result| finished.push((slot, result)));
        for at in 0..self.finished.len() {
            let (slot, result) = self.finished[at];
            self.free.push(slot);
            let io = self.under_way[slot as usize];
            self.member_done(io, result);
        }
        self.finished.clear();
    }

    fn member_done(&mut self, mut io: MemberIo, result: i32) {
        let is_sync = matches!(io.work, Work::Sync(_));
        if result == -code::EAGAIN || result == -code::EINTR {
            return self.ready.push_back(io);
        }
        if !is_sync && result > 0 && (result as u32) < io.len - io.moved {
            io.moved += result as u32;
            return self.ready.push_back(io);
        }
        let result = if is_sync || result != 0 { result } else { -code::EIO };
        let set = &mut self.sets[usize::from(io.set)];
        set.count(&io);
        if matches!(io.work, Work::Read) && set.layout().level() == Level::Raid10 {
            set.pending[io.member as usize] -= 1;
        }
        // What cannot be written of the member that is rebuilt is no harm to the load: it is given up, whatever the reason.
        let is_refused = io.work == Work::Write && result < 0 && set.is_rebuilt(io.member);
        let is_lost = (is_loss(result) || is_refused) && !is_sync && set.lose(io.member, -result, self.clock.now());
        match io.owner {
            Owner::Stripe(stripe) => self.stripe_moved(stripe, io.member, result, is_lost),
            Owner::Asked(slot) if is_lost => self.read_again(slot, io),
            Owner::Asked(slot) => self.piece_done(slot, result.min(0)),
        }
    }

    /// A member was lost under a plain read: what it should have given comes from the others.
    fn read_again(&mut self, slot: u32, io: MemberIo) {
        let layout = self.sets[usize::from(io.set)].layout();
        let (row, begin) = (io.offset / layout.chunk_bytes(), io.offset % layout.chunk_bytes());
        self.asked[slot as usize].left -= 1;
        if layout.level() == Level::Raid10 {
            let position = row * u64::from(layout.members()) + u64::from(io.member);
            return self.read_copy(slot, io.set, position / 2 * layout.chunk_bytes() + begin, io.len, io.buffer);
        }
        let column = (0..layout.data_columns()).find(|c| layout.data_member(row, *c) == io.member);
        let column = column.unwrap_or_else(|| unreachable!("plain reads go to data alone"));
        self.read_column(slot, io.set, (row, column, begin, begin + u64::from(io.len)), io.buffer);
    }

    fn is_idle(&self) -> bool {
        self.free.len() == self.under_way.len() && self.ready.is_empty()
    }
}

/// An I/O cut at the borders of chunks: offset, bytes and buffer of each.
fn chunks(io: &Io, chunk_bytes: u64) -> impl Iterator<Item = (u64, u32, *mut u8)> + use<> {
    let (mut at, end, buffer, begin) = (io.offset, io.offset + u64::from(io.len), io.buffer, io.offset);
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let len = (chunk_bytes - at % chunk_bytes).min(end - at);
            let piece = (at, len as u32, buffer.wrapping_add((at - begin) as usize));
            at += len;
            piece
        })
    })
}

impl<B: Backend> Backend for Array<B> {
    const SUBMIT_STAMP: SubmitStamp = B::SUBMIT_STAMP;

    fn push(&mut self, io: &Io) {
        // The one that is added here keeps the I/O open until all of its pieces are known.
        self.asked[io.slot as usize] = Asked { left: 1, len: io.len, error: 0 };
        if io.op == Op::Read {
            self.read(io);
        } else {
            self.write(io);
        }
        self.piece_done(io.slot, 0);
    }

    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind) {
        self.asked[slot as usize] = Asked { left: 1, len: 0, error: 0 };
        for member in self.sets[usize::from(part)].members_left() {
            self.asked[slot as usize].left += 1;
            let io = MemberIo { member, ..MemberIo::of(Work::Sync(kind), part) };
            self.ready.push_back(MemberIo { owner: Owner::Asked(slot), ..io });
        }
        self.piece_done(slot, 0);
    }

    fn submit(&mut self) -> io::Result<()> {
        self.pump();
        self.inner.submit()
    }

    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        loop {
            self.pump();
            let waits = (self.done.len() as u32) < min && !self.is_idle();
            self.inner.submit_and_wait(u32::from(waits), timeout_ns.filter(|_| waits))?;
            self.collect();
            // One wait with a timeout: the loop looks at the clock and comes back.
            if !waits || timeout_ns.is_some() {
                break;
            }
        }
        // What follows from what was finished starts now, not when the loop comes back.
        self.pump();
        self.inner.submit()
    }

    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        self.collect();
        while let Some((slot, result)) = self.done.pop_front() {
            done(slot, result);
        }
    }

    fn in_flight(&self) -> u32 {
        self.inner.in_flight()
    }

    fn discard(&mut self) {
        // Pieces that read keep their range and never write.
        self.ready.clear();
        self.waiting.clear();
        self.rebuilds = false;
        self.stripes.iter_mut().for_each(|stripe| stripe.piece = None);
        self.inner.discard();
    }

    fn poll(&mut self) -> io::Result<()> {
        self.inner.poll()
    }

    fn submit_calls(&self) -> u64 {
        self.inner.submit_calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        let mut features = self.inner.features();
        if self.sets.iter().any(|set| set.layout().level().parities() > 0) {
            let detail = msg!("engine-array-parity", instructions = self.parity.instructions().as_str());
            features.push(FeatureUse::used(FeatureName::Parity, detail));
        }
        features
    }

    fn arrays(&self) -> Vec<ArrayRecord> {
        let now_ns = self.clock.now();
        self.sets.iter().map(|set| set.record(now_ns)).collect()
    }

    fn works_beside(&self) -> bool {
        self.rebuilds
    }

    fn work_until(&mut self, until_ns: u64) -> io::Result<()> {
        self.rebuild_until(until_ns)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
