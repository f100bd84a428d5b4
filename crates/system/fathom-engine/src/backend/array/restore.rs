//! A member that is rebuilt beside the load: a few rows at a time, each of which holds its range until it is on the member.

use std::io;
use std::time::Duration;

use fathom_raid::{Cover, Level};
use fathom_record::RebuildFailure;

use super::member::Work;
use super::stripe::{Stripe, Task};
use super::{Array, Backend, Piece, Set};
use crate::array::Rebuilding;
use crate::buffer::Area;
use crate::pages::page_bytes;
use crate::parity::Parity;

/// What is read of each member at a time, at most.
const UNIT_BYTES_MAX: u64 = 256 << 10;
/// What is rebuilt at once of a member, as long as that is no fewer or more rows than these.
const AT_ONCE_BYTES: u64 = 512 << 10;
const AT_ONCE: [u64; 2] = [2, 16];
/// Longest sleep where there is nothing to do until a row is due.
const NAP_NS_MAX: u64 = 10_000_000;

/// How many rows a thread rebuilds at once; 0: no member of any of the arrays is rebuilt by it.
pub(crate) fn restores_at_once(sets: &[Set]) -> u32 {
    let unit = unit_bytes(sets);
    AT_ONCE_BYTES.checked_div(unit).map_or(0, |rows| rows.clamp(AT_ONCE[0], AT_ONCE[1]) as u32)
}

/// Bytes of a chunk that are rebuilt in one go; 0: none are.
pub(super) fn unit_bytes(sets: &[Set]) -> u64 {
    let rebuilt = sets.iter().filter(|set| set.rebuild_view().is_some_and(Rebuilding::is_own));
    rebuilt.map(|set| set.layout().chunk_bytes().min(UNIT_BYTES_MAX)).max().unwrap_or(0)
}

/// Room for so many rows.
pub(super) fn room(sets: &[Set], at_once: u32) -> io::Result<Option<Area>> {
    let columns = sets.iter().map(|set| set.layout().members() as usize + 2).max().unwrap_or(1);
    let unit = (unit_bytes(sets) as usize).next_multiple_of(page_bytes());
    (at_once > 0).then(|| Area::new(at_once as usize, unit * columns)).transpose()
}

impl<B: Backend> Array<B> {
    /// Asks for as many rows as may be under way and are due.
    pub(super) fn begin_restores(&mut self) {
        if !self.rebuilds {
            return;
        }
        let now_ns = self.clock.now();
        let mut is_over = true;
        for at in 0..self.sets.len() {
            while let Some(&stripe) = self.free_restores.last() {
                let Some(rebuild) = self.sets[at].rebuild() else { break };
                let member = rebuild.member();
                let Some(row) = rebuild.next_row(now_ns) else { break };
                self.free_restores.pop();
                let task = Task::Restore { row, member, at: 0 };
                // Its place among the stripes is known already.
                self.hold(Piece { slot: stripe, set: at as u16, task, buffer: std::ptr::null_mut() });
            }
            is_over &= self.sets[at].rebuild().is_none_or(|rebuild| rebuild.is_over());
        }
        self.rebuilds = !is_over;
    }

    /// A part of the row's chunk: what it takes is read.
    pub(super) fn begin_restore(&mut self, stripe: u32, row: u64, member: u32, at: u64) {
        let Stripe { piece: Some(piece), lost, .. } = self.stripes[stripe as usize] else { return };
        let set = &self.sets[usize::from(piece.set)];
        let layout = set.layout();
        // Given up meanwhile.
        if set.lost().has(member) || set.rebuild_view().is_none_or(Rebuilding::is_stopped) {
            return self.end_stripe(stripe, 0);
        }
        let cover = Cover { begin: at, end: (at + self.restore_bytes).min(layout.chunk_bytes()) };
        if layout.level() == Level::Raid10 {
            let copies = layout.copies(layout.mirrored_at(row, member) + at);
            let other = copies.into_iter().find(|place| place.member != member);
            let other = other.unwrap_or_else(|| unreachable!("two copies of a chunk are on two members"));
            // The last chunk of an odd number of them has no copy.
            if other.offset >= self.sets[usize::from(piece.set)].end_of_members() {
                return self.restored(stripe, piece.set, row);
            }
            let to = self.column(stripe, 0);
            // Reads of the load take the other copy meanwhile.
            self.sets[usize::from(piece.set)].pending[other.member as usize] += 1;
            return self.of_stripe(stripe, Work::Read, other.member, (other.offset, cover.len() as u32), to);
        }
        self.read_columns_left(stripe, row, cover);
        // As many parities as data is lost: the others are made of that.
        let columns = 0..layout.data_columns();
        let wanted = columns.filter(|column| lost.has(layout.data_member(row, *column))).count();
        let parities = [layout.p_member(row), layout.q_member(row)];
        let left = (0..).zip(parities).filter_map(|(at, member)| Some((at, member.filter(|m| !lost.has(*m))?)));
        for (parity, from) in left.take(wanted) {
            let buffer = self.column(stripe, layout.data_columns() + parity);
            let place = (row * layout.chunk_bytes() + cover.begin, cover.len() as u32);
            self.of_stripe(stripe, Work::Read, from, place, buffer);
        }
    }

    /// What was read makes what the member is to hold.
    pub(super) fn write_restored(&mut self, stripe: u32, row: u64, member: u32, at: u64) {
        let Stripe { piece: Some(piece), .. } = self.stripes[stripe as usize] else { return };
        let layout = self.sets[usize::from(piece.set)].layout();
        let len = self.restore_bytes.min(layout.chunk_bytes() - at);
        let columns = layout.data_columns();
        let column = if layout.level() == Level::Raid10 {
            0
        } else {
            self.recover(stripe, row, len as usize);
            match (0..columns).find(|column| layout.data_member(row, *column) == member) {
                Some(column) => column,
                None => {
                    let sources: Vec<*const u8> = (0..columns).map(|c| self.column(stripe, c).cast_const()).collect();
                    let (p, q) = (self.column(stripe, columns), self.column(stripe, columns + 1));
                    let has_q = layout.q_member(row).is_some();
                    let parity: Parity = self.parity;
                    // SAFETY: all columns and both parities have room of their own for the part, and the columns hold it.
                    unsafe { parity.generate(&sources, len as usize, p, has_q.then_some(q)) };
                    if layout.p_member(row) == Some(member) { columns } else { columns + 1 }
                }
            }
        };
        self.stripes[stripe as usize].writes = true;
        let place = (row * layout.chunk_bytes() + at, len as u32);
        self.of_stripe(stripe, Work::Write, member, place, self.column(stripe, column));
    }

    /// A part of the chunk was written.
    pub(super) fn go_on(&mut self, stripe: u32) {
        let Stripe { piece: Some(piece), .. } = self.stripes[stripe as usize] else { return };
        let Task::Restore { row, member, at } = piece.task else { return };
        let at = at + self.restore_bytes;
        if at < self.sets[usize::from(piece.set)].layout().chunk_bytes() {
            self.stripes[stripe as usize].piece = Some(Piece { task: Task::Restore { row, member, at }, ..piece });
            return self.begin_stripe(stripe);
        }
        self.restored(stripe, piece.set, row);
    }

    fn restored(&mut self, stripe: u32, set: u16, row: u64) {
        let now_ns = self.clock.now();
        let set = &mut self.sets[usize::from(set)];
        let is_lost = set.rebuild_view().is_some_and(|rebuild| set.lost().has(rebuild.member()));
        if let Some(rebuild) = set.rebuild().filter(|_| !is_lost) {
            rebuild.end(row, now_ns);
        }
        self.end_stripe(stripe, 0);
    }

    /// A member failed without which the row cannot be made.
    #[cold]
    pub(super) fn restore_failed(&mut self, stripe: u32, set: u16, member: u32, errno: i32) {
        let now_ns = self.clock.now();
        if let Some(rebuild) = self.sets[usize::from(set)].rebuild() {
            rebuild.fail(RebuildFailure { member, errno }, now_ns);
        }
        self.end_stripe(stripe, 0);
    }

    /// Goes on with rebuilds while the load has nothing in flight.
    pub(super) fn rebuild_until(&mut self, until_ns: u64) -> io::Result<()> {
        loop {
            self.pump();
            let now_ns = self.clock.now();
            if now_ns >= until_ns || !self.rebuilds {
                return self.inner.submit();
            }
            if self.is_idle() {
                self.inner.submit()?;
                let due = self.sets.iter().filter_map(|set| set.rebuild_view()?.next_due_ns()).min();
                let wait_ns = due.unwrap_or(until_ns).min(until_ns).saturating_sub(now_ns).min(NAP_NS_MAX);
                std::thread::sleep(Duration::from_nanos(wait_ns));
                continue;
            }
            self.inner.submit_and_wait(1, Some(until_ns - now_ns))?;
            self.collect();
        }
    }
}
