//! A piece that holds its range: what it reads, what it computes, what it writes.

use crate::system::code;
use std::ops::Range;

use fathom_raid::{Cover, Layout, Level, MemberSet, Method, RowPiece, RowWrite, field};

use super::member::{MemberIo, Owner, Work};
use super::{Array, Backend, Piece};

/// What a piece is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// A write to a row of RAID 5 or 6.
    Write(RowPiece),
    /// Bytes `begin..end` of a lost column, from what is left of the row.
    Rebuild { row: u64, column: u32, begin: u64, end: u64 },
    /// A write to both copies of a part of a chunk.
    Mirror { offset: u64, len: u32 },
    /// A row of the member that is rebuilt beside the load, from byte `at` of its chunk on.
    Restore { row: u64, member: u32, at: u64 },
}

impl Task {
    /// The range that it holds. With parity in the offsets of members, so that all columns of a row meet; of copies in the
    /// offsets of the array.
    pub(super) fn range(&self, layout: &Layout) -> Range<u64> {
        let in_row = |row: u64, cover: Cover| {
            let from = row * layout.chunk_bytes();
            from + cover.begin..from + cover.end
        };
        match *self {
            Task::Write(piece) => in_row(piece.row, RowWrite::new(*layout, piece, MemberSet::EMPTY).hull()),
            Task::Rebuild { row, begin, end, .. } => in_row(row, Cover { begin, end }),
            Task::Mirror { offset, len } => offset..offset + u64::from(len),
            // All of the chunk for as long as it takes: a row is on the member, or it is not.
            Task::Restore { row, member, .. } if layout.level() == Level::Raid10 => {
                let offset = layout.mirrored_at(row, member);
                offset..offset + layout.chunk_bytes()
            }
            Task::Restore { row, .. } => in_row(row, Cover { begin: 0, end: layout.chunk_bytes() }),
        }
    }
}

/// One of the places where pieces are worked on.
#[derive(Clone, Copy)]
pub(super) struct Stripe {
    /// `None`: nothing, or the array was told to forget it.
    pub(super) piece: Option<Piece>,
    /// What its row was without when it began.
    pub(super) lost: MemberSet,
    /// Member I/Os that are not back.
    pub(super) pending: u32,
    pub(super) writes: bool,
    method: Method,
    /// First failure that is no loss of a member, and whose it is.
    error: i32,
    culprit: u32,
    /// A member was lost while it was read.
    again: bool,
}

impl Stripe {
    pub(super) const IDLE: Stripe = Stripe {
        piece: None,
        lost: MemberSet::EMPTY,
        pending: 0,
        writes: false,
        method: Method::FullStripe,
        error: 0,
        culprit: 0,
        again: false,
    };
}

/// Bytes of each column that a piece of a row covers: column, first byte, past the last.
pub(super) fn columns_of(layout: &Layout, piece: RowPiece) -> impl Iterator<Item = (u32, u64, u64)> + use<> {
    let chunk = layout.chunk_bytes();
    (piece.begin / chunk..piece.end.div_ceil(chunk)).map(move |column| {
        let from = column * chunk;
        (column as u32, piece.begin.max(from) - from, piece.end.min(from + chunk) - from)
    })
}

impl<B: Backend> Array<B> {
    /// Begins what the stripe's piece is about, from its start.
    pub(super) fn begin_stripe(&mut self, stripe: u32) {
        let Some(piece) = self.stripes[stripe as usize].piece else { return };
        let set = &mut self.sets[usize::from(piece.set)];
        let layout = set.layout();
        let lost = match piece.task {
            Task::Write(RowPiece { row, .. }) | Task::Rebuild { row, .. } => set.lost_held(row),
            // Its copies may lie in two rows: each is asked for by itself.
            Task::Mirror { .. } => set.lost(),
            Task::Restore { member, .. } => set.lost().with(member),
        };
        self.stripes[stripe as usize] = Stripe { piece: Some(piece), lost, ..Stripe::IDLE };
        match piece.task {
            Task::Mirror { offset, len } => {
                self.stripes[stripe as usize].writes = true;
                for place in layout.copies(offset) {
                    let set = &self.sets[usize::from(piece.set)];
                    if !set.lost_held(place.offset / layout.chunk_bytes()).has(place.member) {
                        self.of_stripe(stripe, Work::Write, place.member, (place.offset, len), piece.buffer);
                    }
                }
            }
            Task::Restore { row, member, at } => return self.begin_restore(stripe, row, member, at),
            Task::Rebuild { row, begin, end, .. } => {
                if !layout.survives(lost) {
                    return self.end_stripe(stripe, -code::EIO);
                }
                self.read_all_left(stripe, row, Cover { begin, end });
            }
            Task::Write(part) => {
                let write = RowWrite::new(layout, part, lost);
                let Some((method, _)) = write.cheapest() else { return self.end_stripe(stripe, -code::EIO) };
                set.counts.count_method(method);
                self.stripes[stripe as usize].method = method;
                self.read_old(stripe, &write, method);
            }
        }
        if self.stripes[stripe as usize].pending == 0 {
            self.stripe_ready(stripe);
        }
    }

    fn read_old(&mut self, stripe: u32, write: &RowWrite, method: Method) {
        let Some(piece) = self.stripes[stripe as usize].piece else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        let (row, hull) = (write.piece().row, write.hull());
        let from = row * layout.chunk_bytes();
        let wanted = |column: u32| match method {
            Method::Reconstruct => write.rest(column),
            Method::Modify => write.cover(column),
            Method::FullStripe | Method::Recover => None,
        };
        if method == Method::Recover {
            return self.read_all_left(stripe, row, hull);
        }
        if write.reads(method) == Some(0) {
            return;
        }
        for column in 0..layout.data_columns() {
            let Some(cover) = wanted(column) else { continue };
            let to = self.column(stripe, column).wrapping_add((cover.begin - hull.begin) as usize);
            let member = layout.data_member(row, column);
            self.of_stripe(stripe, Work::Read, member, (from + cover.begin, cover.len() as u32), to);
        }
        if method == Method::Modify {
            self.each_parity(stripe, row, hull, Work::Read);
        }
    }

    /// Reads a stretch of everything that is left of a row.
    fn read_all_left(&mut self, stripe: u32, row: u64, hull: Cover) {
        self.read_columns_left(stripe, row, hull);
        self.each_parity(stripe, row, hull, Work::Read);
    }

    /// Reads a stretch of all data that is left of a row.
    pub(super) fn read_columns_left(&mut self, stripe: u32, row: u64, hull: Cover) {
        let Stripe { piece: Some(piece), lost, .. } = self.stripes[stripe as usize] else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        for column in 0..layout.data_columns() {
            let (member, to) = (layout.data_member(row, column), self.column(stripe, column));
            if !lost.has(member) {
                let place = (row * layout.chunk_bytes() + hull.begin, hull.len() as u32);
                self.of_stripe(stripe, Work::Read, member, place, to);
            }
        }
    }

    /// Reads or writes a stretch of the parities that are left.
    fn each_parity(&mut self, stripe: u32, row: u64, hull: Cover, work: Work) {
        let Stripe { piece: Some(piece), lost, .. } = self.stripes[stripe as usize] else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        let parities = [layout.p_member(row), layout.q_member(row)];
        for (at, member) in (0..).zip(parities) {
            let Some(member) = member.filter(|member| !lost.has(*member)) else { continue };
            let buffer = self.column(stripe, layout.data_columns() + at);
            let place = (row * layout.chunk_bytes() + hull.begin, hull.len() as u32);
            self.of_stripe(stripe, work, member, place, buffer);
        }
    }

    pub(super) fn of_stripe(
        &mut self,
        stripe: u32,
        work: Work,
        member: u32,
        (offset, len): (u64, u32),
        buffer: *mut u8,
    ) {
        let Some(piece) = self.stripes[stripe as usize].piece else { return };
        self.stripes[stripe as usize].pending += 1;
        let for_rebuild = matches!(piece.task, Task::Restore { .. });
        let for_write = !for_rebuild && !matches!(piece.task, Task::Rebuild { .. });
        let io = MemberIo { member, offset, len, buffer, for_write, for_rebuild, ..MemberIo::of(work, piece.set) };
        self.ready.push_back(MemberIo { owner: Owner::Stripe(stripe), ..io });
    }

    /// A member I/O of the stripe came back.
    pub(super) fn stripe_moved(&mut self, stripe: u32, member: u32, result: i32, is_lost: bool) {
        let state = &mut self.stripes[stripe as usize];
        if state.piece.is_none() {
            return;
        }
        state.pending -= 1;
        if is_lost {
            // All other writes of the stripe are done: what the lost member should have is in the parities.
            state.again |= !state.writes;
        } else if result < 0 && state.error == 0 {
            (state.error, state.culprit) = (result, member);
        }
        if state.pending > 0 {
            return;
        }
        match *state {
            Stripe { piece: Some(Piece { task: Task::Restore { .. }, set, .. }), error, culprit, .. } if error < 0 => {
                self.restore_failed(stripe, set, culprit, -error);
            }
            Stripe { error, .. } if error < 0 => self.end_stripe(stripe, error),
            Stripe { again: true, .. } => self.begin_stripe(stripe),
            Stripe { piece: Some(Piece { task: Task::Restore { .. }, .. }), writes: true, .. } => self.go_on(stripe),
            Stripe { writes: true, .. } => self.end_stripe(stripe, 0),
            _ => self.stripe_ready(stripe),
        }
    }

    /// All that was to be read is there.
    fn stripe_ready(&mut self, stripe: u32) {
        let Stripe { piece: Some(piece), lost, .. } = self.stripes[stripe as usize] else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        match piece.task {
            // Without a copy left nothing was written.
            Task::Mirror { .. } => self.end_stripe(stripe, -code::EIO),
            Task::Restore { row, member, at } => self.write_restored(stripe, row, member, at),
            Task::Rebuild { row, column, begin, end } => {
                let len = (end - begin) as usize;
                self.recover(stripe, row, len);
                // SAFETY: the load's buffer has room for the piece, and belongs to the backend until the I/O is reaped.
                unsafe { std::ptr::copy_nonoverlapping(self.column(stripe, column), piece.buffer, len) };
                self.end_stripe(stripe, 0);
            }
            Task::Write(part) => {
                let write = RowWrite::new(layout, part, lost);
                self.compute(stripe, &write, piece.buffer);
                self.stripes[stripe as usize].writes = true;
                let mut data = piece.buffer;
                for (column, begin, end) in columns_of(&layout, part) {
                    if !write.is_lost(column) {
                        let member = layout.data_member(part.row, column);
                        let place = (part.row * layout.chunk_bytes() + begin, (end - begin) as u32);
                        self.of_stripe(stripe, Work::Write, member, place, data);
                    }
                    data = data.wrapping_add((end - begin) as usize);
                }
                self.each_parity(stripe, part.row, write.hull(), Work::Write);
            }
        }
    }

    /// The new parities, into the room of the stripe for them.
    fn compute(&mut self, stripe: u32, write: &RowWrite, new: *const u8) {
        let Some(piece) = self.stripes[stripe as usize].piece else { return };
        let set = &self.sets[usize::from(piece.set)];
        let (layout, method) = (set.layout(), self.stripes[stripe as usize].method);
        let (columns, row, hull) = (layout.data_columns(), write.piece().row, write.hull());
        let len = hull.len() as usize;
        let has_q = layout.q_member(row).is_some();
        let (p, q) = (self.column(stripe, columns), self.column(stripe, columns + 1));
        if method == Method::Modify {
            let mut new = new;
            for (column, begin, end) in columns_of(&layout, write.piece()) {
                let (at, len) = ((begin - hull.begin) as usize, (end - begin) as usize);
                let old = self.column(stripe, column).wrapping_add(at);
                let q = has_q.then(|| (q.wrapping_add(at), column));
                // SAFETY: old data and parities are in the stripe's own room, the new data in the load's buffer, each for
                // the bytes of this column. A parity that is lost was not read: what becomes of it is not written.
                unsafe { self.parity.modify((old, new), len, Some(p.wrapping_add(at)), q) };
                new = new.wrapping_add(len);
            }
            return;
        }
        if method == Method::Recover {
            self.recover(stripe, row, len);
        }
        let mut sources = [std::ptr::null::<u8>(); fathom_raid::MEMBERS_MAX as usize];
        for column in 0..columns {
            sources[column as usize] = self.column(stripe, column);
        }
        let mut new = new;
        for (column, begin, end) in columns_of(&layout, write.piece()) {
            let (at, bytes) = ((begin - hull.begin) as usize, (end - begin) as usize);
            if bytes == len {
                sources[column as usize] = new;
            } else {
                let to = self.column(stripe, column).wrapping_add(at);
                // SAFETY: the load's bytes of this column, into the stripe's own room at the same place of the hull.
                unsafe { std::ptr::copy_nonoverlapping(new, to, bytes) };
            }
            new = new.wrapping_add(bytes);
        }
        // SAFETY: each source holds the hull: the stripe's room, or the load's buffer where that covers it.
        unsafe { self.parity.generate(&sources[..columns as usize], len, p, has_q.then_some(q)) };
    }

    /// Computes the lost columns of a row from all that is left of it, which was read into the stripe's room.
    pub(super) fn recover(&mut self, stripe: u32, row: u64, len: usize) {
        let Stripe { piece: Some(piece), lost, .. } = self.stripes[stripe as usize] else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        let (columns, members) = (layout.data_columns(), layout.members());
        let mut gone = (0..columns).filter(|c| lost.has(layout.data_member(row, *c)));
        let (first, second) = (gone.next(), gone.next());
        let mut sources = [std::ptr::null::<u8>(); fathom_raid::MEMBERS_MAX as usize];
        for column in 0..columns {
            sources[column as usize] = self.column(stripe, column);
        }
        let at = |column: u32| self.column(stripe, column);
        let has_p = layout.p_member(row).is_some_and(|p| !lost.has(p));
        let has_q = layout.q_member(row).is_some();
        // The parities less those of what is left, which are the parities of what is lost alone.
        let (p_lost, q_lost) = (at(members), at(members + 1));
        let parity = self.parity;
        // SAFETY: every column, parity and both places behind them have room for `len` bytes of their own.
        unsafe {
            for column in [first, second].into_iter().flatten() {
                at(column).write_bytes(0, len);
            }
            parity.generate(&sources[..columns as usize], len, p_lost, has_q.then_some(q_lost));
            parity.add_times(1, at(columns), len, p_lost);
            if has_q {
                parity.add_times(1, at(columns + 1), len, q_lost);
            }
            match (first, second) {
                (None, _) => {}
                (Some(one), None) if has_p => parity.add_times(1, p_lost, len, at(one)),
                (Some(one), None) => {
                    parity.add_times(field::inverse(field::power_of_two(one)), q_lost, len, at(one));
                }
                (Some(x), Some(y)) => {
                    let (of_p, of_q) = field::two_lost(x, y);
                    parity.add_times(of_p, p_lost, len, at(x));
                    parity.add_times(of_q, q_lost, len, at(x));
                    parity.add_times(1, p_lost, len, at(y));
                    parity.add_times(1, at(x), len, at(y));
                }
            }
        }
    }

    pub(super) fn end_stripe(&mut self, stripe: u32, error: i32) {
        let Some(piece) = self.stripes[stripe as usize].piece.take() else { return };
        self.held.give_back(stripe);
        if matches!(piece.task, Task::Restore { .. }) {
            self.free_restores.push(stripe);
        } else {
            self.free_stripes.push(stripe);
            self.piece_done(piece.slot, error);
        }
        self.begin_waiting();
    }

    /// Where the stripe keeps a column; the parities follow the data.
    pub(super) fn column(&self, stripe: u32, column: u32) -> *mut u8 {
        match (&self.restore_room, stripe.checked_sub(self.asked.len() as u32)) {
            (Some(room), Some(restore)) => {
                room.slot(restore).wrapping_add(column as usize * self.restore_bytes as usize)
            }
            _ => self.scratch.slot(stripe).wrapping_add(column as usize * self.column_bytes),
        }
    }
}
