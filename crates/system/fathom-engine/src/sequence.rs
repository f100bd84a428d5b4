//! The I/Os of a thread whose order or sizes are more than a pattern: strides, zones, lists, mixes of sizes, ends after so
//! many bytes or I/Os. They come in the places and with the ends that fio gives them.
//!
//! It is slower than the plain draws, so it is used in the loop with stamps alone.

mod parts;

use fathom_message::Message;
use fathom_plan::{IoOrder, Op, OpMix, Pattern, Step, SyncKind, Workload, ZoneSpace};
use fathom_random::Rng;

use crate::block_map::BlockMap;
use crate::draw::{Draw, Lengths};
use crate::offsets::Repeating;
use crate::permutation::Permutation;
use crate::sprandom::{SpRandomPlaces, physical_bytes};
use crate::tally::op_index;

pub(crate) use parts::Sequences;

/// Operations that have places.
const OPS: usize = 3;

/// The bytes that a thread works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// First byte of its region.
    pub(crate) begin_bytes: u64,
    /// Length of its region.
    pub(crate) len_bytes: u64,
    /// End of the target.
    pub(crate) end_of_target_bytes: u64,
}

/// One I/O to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Blocks of the largest size before it in the region.
    pub(crate) unit: u64,
    /// Of a sync: which one.
    pub(crate) sync: SyncKind,
}

/// How a random place is found.
enum Place {
    /// Each unit once a pass; all I/Os are as long as a unit.
    Permuted(Permutation),
    /// Each block once a pass, where sizes differ.
    Mapped(BlockMap),
    /// Some come again, so that a drive gets into the state of long random writes.
    Conditioning(Box<SpRandomPlaces>),
    /// Blocks may come again; without zones they are drawn among so many.
    Repeating(Repeating, u64),
}

/// The sequence of one thread.
pub(crate) struct IoSequence {
    order: IoOrder,
    draw: Draw,
    lengths: [Lengths; OPS],
    align_bytes: [u64; OPS],
    /// Bytes per bit of the map.
    bit_bytes: u64,
    is_random: bool,
    /// `None` for a sequential pattern.
    place: Option<Place>,
    extent: Extent,
    unit_bytes: u64,
    /// Where places count from: the begin of the region, or of the zone it is in.
    base_bytes: u64,
    /// Bytes moved in this zone.
    zone_bytes: u64,
    /// End of the last I/O of each operation, and where it began.
    last_end: [u64; OPS],
    last_begin: [Option<u64>; OPS],
    issues: [u64; OPS],
    run_left: u32,
    is_timed: bool,
    /// The write of the block that was trimmed last.
    write_due: Option<Next>,
    pass: Limits,
    passes: u64,
    passes_max: u64,
    in_pass: Limits,
    total: Limits,
}

/// Bytes and I/Os.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    bytes: u64,
    ios: u64,
}

fn bytes_of_pass(order: &IoOrder, extent: Extent, block_bytes: u64) -> u64 {
    match order.sprandom {
        Some(spec) => physical_bytes(extent.len_bytes, spec.spare_ppm, block_bytes),
        None => order.pass_bytes.unwrap_or(extent.len_bytes),
    }
}

impl IoSequence {
    /// The sequence of a thread of `step` on `extent`; `None` where its pattern says it all.
    ///
    /// # Errors
    /// Why, when the pattern's parameters make no sense.
    pub(crate) fn new(step: &Step, extent: Extent, seed: u64) -> Result<Option<Self>, Message> {
        let workload = &step.workload;
        let order = &workload.order;
        if order.follows_pattern() {
            return Ok(None);
        }
        let lengths = lengths(workload);
        let align_bytes = [0, 1, 2].map(|op: usize| order.align_bytes.map_or(lengths[op].min_bytes(), u64::from));
        let is_random = workload.pattern != Pattern::Sequential;
        let passes_max = step.length.passes.map_or(u64::MAX, u64::from);
        let mut sequence = IoSequence {
            // A write follows each trim without being drawn.
            draw: Draw::new(if order.trims_first { OpMix::TRIM } else { workload.mix }, &workload.block_sizes),
            bit_bytes: align_bytes
                .iter()
                .copied()
                .chain(lengths.iter().map(Lengths::min_bytes))
                .min()
                .unwrap_or(1)
                .max(1),
            lengths,
            align_bytes,
            is_random,
            place: None,
            extent,
            unit_bytes: u64::from(workload.block_bytes_max()),
            base_bytes: extent.begin_bytes,
            zone_bytes: 0,
            last_end: [extent.begin_bytes; OPS],
            last_begin: [None; OPS],
            issues: [0; OPS],
            run_left: order.runs.map_or(1, |runs| runs.ios),
            is_timed: step.length.passes.is_none(),
            write_due: None,
            pass: Limits {
                bytes: bytes_of_pass(order, extent, u64::from(workload.block_bytes_max())),
                ios: order.pass_ios.unwrap_or(u64::MAX),
            },
            passes: 0,
            passes_max,
            in_pass: Limits::default(),
            total: Limits::default(),
            order: order.clone(),
        };
        if is_random {
            sequence.place = Some(sequence.place_of(workload, seed)?);
        }
        Ok(Some(sequence))
    }

    fn place_of(&self, workload: &Workload, seed: u64) -> Result<Place, Message> {
        let unit_bytes = self.align_bytes[0];
        let count = (0..OPS).map(|op| self.blocks(op)).min().unwrap_or(0).max(1);
        if let Some(spec) = self.order.sprandom {
            return Ok(Place::Conditioning(Box::new(SpRandomPlaces::new(spec, count, seed))));
        }
        let one_size = self.lengths.iter().all(|l| l.is_one() && l.min_bytes() == unit_bytes);
        if workload.pattern == Pattern::Random
            && one_size
            && self.order.zones.is_empty()
            && self.order.strided.is_none()
        {
            return Ok(Place::Permuted(Permutation::new(count, seed)));
        }
        match Repeating::of(workload.pattern, count)? {
            Some(repeating) => Ok(Place::Repeating(repeating, count)),
            None => Ok(Place::Mapped(BlockMap::new(self.map_span() / self.bit_bytes))),
        }
    }

    /// Bytes among which random places are drawn.
    fn map_span(&self) -> u64 {
        self.order.strided.map_or(self.extent.len_bytes, |zones| zones.range_bytes.min(self.extent.len_bytes))
    }

    /// Blocks among which an operation's places are drawn.
    fn blocks(&self, op: usize) -> u64 {
        let align_bytes = self.align_bytes[op].max(1);
        let beyond = self.lengths[op].min_bytes().saturating_sub(align_bytes);
        self.map_span().saturating_sub(beyond) / align_bytes
    }

    /// Full passes so far.
    pub(crate) fn passes(&self) -> u64 {
        self.passes
    }

    /// The next I/O, of operation `asked` where rates decide it; `None` once all that was asked for is done.
    pub(crate) fn next(&mut self, rng: &mut Rng, asked: Option<Op>) -> Option<Next> {
        if let Some(write) = self.next_write() {
            return Some(write);
        }
        // A second try after the region is begun anew; a third could not find more.
        for _ in 0..2 {
            if !self.is_timed && self.is_done() {
                self.passes += u64::from(self.passes < self.passes_max);
                return None;
            }
            let is_bounded = !self.is_timed && self.order.sprandom.is_none();
            let has_room = !is_bounded || self.in_pass.bytes < self.extent.len_bytes.max(1);
            if let Some(next) = has_room.then(|| self.find(rng, asked)).flatten() {
                self.account(next);
                self.write_due = self.order.trims_first.then_some(Next { op: Op::Write, ..next });
                return Some(next);
            }
            if !self.goes_on() {
                return None;
            }
            self.begin_pass();
        }
        None
    }

    /// The write of the block that was trimmed last, if it has not been handed out yet.
    fn next_write(&mut self) -> Option<Next> {
        let write = self.write_due.take()?;
        // As in fio, it counts where I/Os or bytes say when to go to a new place.
        self.is_new_place();
        self.zone_bytes += u64::from(write.len);
        Some(write)
    }

    /// Counts an I/O; true if the runs of the order let it go to a new place.
    fn is_new_place(&mut self) -> bool {
        let Some(runs) = self.order.runs else { return true };
        self.run_left -= 1;
        let is_new = self.run_left == 0;
        if is_new {
            self.run_left = runs.ios;
        }
        is_new
    }

    fn is_done(&self) -> bool {
        let all = |per_pass: u64| per_pass.saturating_mul(self.passes_max);
        self.total.bytes >= all(self.pass.bytes) || self.total.ios >= all(self.pass.ios)
    }

    /// Whether a region that has no more places is gone through once more.
    fn goes_on(&self) -> bool {
        if self.is_timed {
            return self.total.ios > 0;
        }
        if self.in_pass.ios == 0 {
            return false;
        }
        if self.passes + 1 < self.passes_max {
            return true;
        }
        if self.order.sprandom.is_some() {
            return false;
        }
        // As fio: the rest of what was asked for, unless it is less than an I/O. Where the region has no more places, both trims
        // and writes count, in fio as well.
        let counts_both = self.order.trims_first && !matches!(self.place, Some(Place::Repeating(..)));
        let moved = self.total.bytes.saturating_mul(if counts_both { 2 } else { 1 });
        let left = self.pass.bytes.saturating_mul(self.passes_max).saturating_sub(moved);
        self.order.pass_bytes.is_some() && left >= self.lengths.iter().map(Lengths::max_bytes).max().unwrap_or(0)
    }

    fn begin_pass(&mut self) {
        self.passes += u64::from(self.passes < self.passes_max);
        self.in_pass = Limits::default();
        self.base_bytes = self.extent.begin_bytes;
        self.zone_bytes = 0;
        self.last_end = [self.extent.begin_bytes; OPS];
        self.last_begin = [None; OPS];
        self.refill_places();
    }

    fn refill_places(&mut self) {
        match &mut self.place {
            Some(Place::Permuted(permutation)) => permutation.next_pass(),
            Some(Place::Mapped(map)) => map.clear(),
            Some(Place::Conditioning(places)) => places.next_pass(),
            Some(Place::Repeating(..)) | None => {}
        }
    }

    fn account(&mut self, next: Next) {
        let op = op_index(next.op);
        self.last_begin[op] = Some(next.offset);
        self.last_end[op] = next.offset + u64::from(next.len);
        self.issues[op] += 1;
        self.zone_bytes += u64::from(next.len);
        for limits in [&mut self.in_pass, &mut self.total] {
            limits.bytes += u64::from(next.len);
            limits.ios += 1;
        }
        if self.is_timed && self.in_pass.bytes >= self.extent.len_bytes {
            self.passes += 1;
            self.in_pass = Limits::default();
        }
    }

    fn find(&mut self, rng: &mut Rng, asked: Option<Op>) -> Option<Next> {
        let op = asked.unwrap_or_else(|| self.draw.op(rng));
        let at = op_index(op);
        if self.order.strided.is_some() {
            self.go_through_zones(at);
        }
        let is_new_place = self.is_new_place();
        let random =
            self.is_random && is_new_place && self.order.random_pct.is_none_or(|pct| rng.below(100) < u64::from(pct));
        let in_place = self.order.runs.is_some_and(|runs| runs.in_place) && !is_new_place;
        let place = if random {
            self.random_place(at, rng)
        } else if in_place {
            Some(self.last_begin[at].map_or(0, |begin| begin - self.base_bytes))
        } else {
            // Where no sequential place is left, a random pattern goes on at a random one.
            match self.sequential_place(at) {
                None if self.is_random => self.random_place(at, rng),
                place => place,
            }
        };
        let place = place.filter(|place| *place < self.extent.len_bytes)?;
        let offset = place + self.base_bytes;
        let end = self.extent.end_of_target_bytes;
        let fits = |len: u32| offset + u64::from(len) <= self.extent.begin_bytes + self.extent.len_bytes;
        let mut len = self.lengths[at].draw(rng, fits)?;
        if random && let Some(Place::Mapped(map)) = &mut self.place {
            let bit_bytes = self.bit_bytes;
            let free_bytes = map.touch(place / bit_bytes, u64::from(len).div_ceil(bit_bytes)) * bit_bytes;
            // A neighbour that was touched cuts it short, as in fio.
            len = len.min(u32::try_from(free_bytes).unwrap_or(u32::MAX));
        }
        (len > 0 && offset + u64::from(len) <= end).then_some(Next {
            op,
            offset,
            len,
            unit: (offset - self.extent.begin_bytes) / self.unit_bytes,
            sync: SyncKind::Fsync,
        })
    }

    /// A random place, from the base on.
    fn random_place(&mut self, op: usize, rng: &mut Rng) -> Option<u64> {
        let (align_bytes, blocks) = (self.align_bytes[op], self.blocks(op));
        if let Some(list) = &self.order.list {
            let (round, at) = (self.issues[op] / list.blocks.len() as u64, self.issues[op] % list.blocks.len() as u64);
            let block = list.blocks[at as usize] + if list.advances { round * list.blocks.len() as u64 } else { 0 };
            return (block < blocks).then(|| block * align_bytes);
        }
        let (first, count) = self.part(op, blocks, rng);
        if count == 0 {
            return None;
        }
        match self.place.as_mut()? {
            Place::Permuted(permutation) => permutation.next().map(|unit| unit * align_bytes),
            Place::Conditioning(places) => places.next(rng).map(|unit| unit * align_bytes),
            Place::Repeating(repeating, all) => {
                let among = if self.order.zones.is_empty() { *all } else { count };
                Some((first + repeating.draw(among, rng)) * align_bytes)
            }
            Place::Mapped(map) => {
                let bit_bytes = self.bit_bytes;
                let drawn = (first + rng.below(count)) * align_bytes / bit_bytes;
                // A free bit may begin within a block: the block that begins next is the place then.
                let mut from = drawn;
                for _ in 0..2 {
                    let free = map.next_free(from)?;
                    let place = free * bit_bytes;
                    let aligned = place.next_multiple_of(align_bytes);
                    if aligned == place || map.next_free(aligned / bit_bytes) == Some(aligned / bit_bytes) {
                        return Some(aligned);
                    }
                    from = aligned / bit_bytes;
                }
                None
            }
        }
    }

    /// First block and number of blocks of the zone that is drawn; all of them without zones.
    fn part(&self, op: usize, blocks: u64, rng: &mut Rng) -> (u64, u64) {
        if self.order.zones.is_empty() {
            return (0, blocks);
        }
        let draw = rng.below(100);
        let (mut below, mut space_pct, mut begin_bytes) = (0, 0, 0);
        for zone in &self.order.zones {
            below += u64::from(zone.access_pct);
            match zone.space {
                ZoneSpace::Pct(pct) => {
                    if draw < below {
                        let of = |pct: u64| (u128::from(blocks) * u128::from(pct) / 100) as u64;
                        return (of(space_pct), (of(space_pct + u64::from(pct)) - of(space_pct)).max(1).min(blocks));
                    }
                    space_pct += u64::from(pct);
                }
                ZoneSpace::Bytes(bytes) => {
                    let first = (begin_bytes / self.align_bytes[op]).min(blocks);
                    if draw < below {
                        let count = bytes.map_or(u64::MAX, |bytes| bytes / self.align_bytes[op]);
                        return (first, count.min(blocks - first));
                    }
                    begin_bytes += bytes.unwrap_or(0);
                }
            }
        }
        (0, blocks)
    }

    /// The place behind the last I/O and its stride, from the base on, as fio finds it.
    fn sequential_place(&mut self, op: usize) -> Option<u64> {
        let Extent { begin_bytes, len_bytes, end_of_target_bytes: end } = self.extent;
        let stride = self.order.stride_bytes;
        let is_longer = self.order.pass_bytes.is_some_and(|bytes| bytes > len_bytes);
        let wraps = self.is_timed || is_longer && !self.order.trims_first;
        if wraps && self.last_end[op] >= begin_bytes + len_bytes {
            self.last_end[op] = self.base_bytes;
        }
        let last = self.last_end[op];
        if last >= end {
            return None;
        }
        let behind = last - self.base_bytes;
        if behind == 0 || stride == 0 {
            return Some(behind);
        }
        match behind.checked_add_signed(stride) {
            Some(place) if place < end => Some(place),
            // Forwards it begins anew, backwards at the end.
            _ if stride > 0 => Some(0),
            _ => len_bytes.checked_add_signed(stride),
        }
    }

    /// Goes on to the next zone once enough was moved in this one.
    fn go_through_zones(&mut self, op: usize) {
        let Some(zones) = self.order.strided else { return };
        if self.zone_bytes >= zones.zone_bytes {
            self.zone_bytes = 0;
            self.base_bytes += zones.range_bytes + zones.skip_bytes;
            if self.base_bytes >= self.extent.end_of_target_bytes {
                self.base_bytes = self.extent.begin_bytes;
            }
            self.last_end[op] = self.base_bytes;
        }
        if self.last_end[op] >= self.base_bytes + zones.range_bytes || self.last_end[op] < self.base_bytes {
            self.last_end[op] = self.base_bytes;
        }
        if self.zone_bytes.is_multiple_of(zones.range_bytes.max(1)) {
            self.refill_places();
        }
    }
}

/// Lengths of reads, writes and trims.
fn lengths(workload: &Workload) -> [Lengths; OPS] {
    let order = &workload.order;
    if let Some(range) = order.range {
        return [0, 1, 2].map(|_| Lengths::range(range));
    }
    let first = &workload.block_sizes;
    let writes = order.write_sizes.as_ref().unwrap_or(first);
    let trims = order.trim_sizes.as_ref().unwrap_or(writes);
    [Lengths::split(first), Lengths::split(writes), Lengths::split(trims)]
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod trim_tests;
