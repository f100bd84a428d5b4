//! Data verification: what a worker wrote where, and whether it comes back.
//!
//! Each thread owns its part of the region, so it alone knows the last write of every block. The ledger has four bytes
//! per block: how often it was written, which size of the split was written last, and whether it is now uncertain.

use std::io;

use fathom_message::msg;
use fathom_plan::{Op, Step};
use fathom_record::{StepFailure, VerifyReport};

use crate::backend::refused;
use crate::block_format::{BLOCK_BYTES_MIN, Expected, Finding, judge, length_in, seal};
use crate::buffer::Area;
use crate::offsets::Span;
use crate::shared::Shared;
use crate::target::ReadBack;
use crate::worker::{Part, WorkerPlan};

/// Findings that are reported one by one.
const EXAMPLES_MAX: usize = 8;
/// Written blocks this close are read back with one call ...
const GAP_BYTES_MAX: u64 = 64 << 10;
/// ... of at most this length (or one block).
const CALL_BYTES_MAX: u64 = 1 << 20;
/// Sizes of a split that a ledger entry can name.
const SIZES_MAX: usize = 16;

/// One ledger entry: bits 0..24 generation, 24..28 size, 28 uncertain, 29 a write is in flight.
#[derive(Clone, Copy, Default)]
struct Entry(u32);

impl Entry {
    const GENERATION: u32 = (1 << 24) - 1;
    const UNCERTAIN: u32 = 1 << 28;
    const WRITING: u32 = 1 << 29;

    fn generation(self) -> u32 {
        self.0 & Self::GENERATION
    }

    fn size(self) -> usize {
        (self.0 >> 24) as usize & (SIZES_MAX - 1)
    }

    /// Whether the block can be held against this entry.
    fn is_settled(self) -> bool {
        self.generation() > 0 && self.0 & (Self::UNCERTAIN | Self::WRITING) == 0
    }

    /// The next write begins. Two at once leave the outcome open: the kernel may order them either way.
    fn begin_write(self, size: usize) -> Entry {
        let overlap = if self.0 & Self::WRITING != 0 { Self::UNCERTAIN } else { 0 };
        let generation = (self.generation() + 1) & Self::GENERATION;
        Entry(generation.max(1) | (size as u32) << 24 | Self::WRITING | overlap)
    }

    fn end_write(self, ok: bool) -> Entry {
        let failed = if ok { 0 } else { Self::UNCERTAIN };
        Entry(self.0 & !Self::WRITING | failed)
    }
}

/// What a slot's I/O is about.
#[derive(Clone, Copy, Default)]
struct InFlight {
    unit: u64,
    /// Generation of the write, or of the block when the read began; 0: not to be checked against it.
    generation: u32,
    check: bool,
}

/// A worker's ledger.
pub(crate) struct Ledger {
    span: Span,
    seed: u64,
    sizes: Vec<u32>,
    entries: Vec<Entry>,
    in_flight: Box<[InFlight]>,
    writes: bool,
    /// Other threads write to the same blocks: which write was the last is not known.
    is_shared: bool,
    source: ReadBack,
    report: VerifyReport,
}

impl Ledger {
    /// A ledger for each target of the worker when the step asks for verification.
    ///
    /// # Errors
    /// When the workload cannot be verified.
    pub(crate) fn for_step(plan: &WorkerPlan, step: &Step) -> Result<Vec<Self>, StepFailure> {
        if step.workload.verify.is_none() {
            return Ok(Vec::new());
        }
        let what = || msg!("engine-verify");
        let sizes: Vec<u32> = step.workload.block_sizes.iter().map(|b| b.bytes).collect();
        if sizes.iter().any(|bytes| *bytes < BLOCK_BYTES_MIN || bytes % BLOCK_BYTES_MIN != 0) || sizes.len() > SIZES_MAX
        {
            let why = msg!("engine-verify-blocks", multiple = BLOCK_BYTES_MIN, sizes = SIZES_MAX);
            return Err(refused(what(), why, msg!("engine-verify-blocks-help")));
        }
        if step.workload.mix.trim_pct > 0 || step.engine.name == fathom_plan::EngineName::Null {
            return Err(refused(what(), msg!("engine-verify-trims"), msg!("engine-verify-trims-help")));
        }
        if !has_units(plan, step) {
            return Err(refused(what(), msg!("engine-verify-order"), msg!("engine-verify-order-help")));
        }
        let writes = step.workload.mix.write_pct > 0;
        let ledger = |part: &Part| {
            let entries = if writes { vec![Entry::default(); part.span.count as usize] } else { Vec::new() };
            Ok(Ledger {
                span: part.span,
                seed: step.seed,
                sizes: sizes.clone(),
                entries,
                in_flight: vec![InFlight::default(); plan.limits.queue_depth as usize].into_boxed_slice(),
                writes,
                is_shared: step.workload.order.thread_offset_bytes.is_some() && step.load.threads > 1,
                source: ReadBack::new(&part.target)?,
                report: VerifyReport::default(),
            })
        };
        plan.parts.iter().map(ledger).collect()
    }

    /// A read is about to be issued.
    pub(crate) fn before_read(&mut self, slot: u32, unit: u64) {
        let (check, generation) = match self.entries.get(unit as usize) {
            // Only reads: the blocks are those of an earlier step, of which only the blocks themselves tell.
            None => (true, 0),
            Some(entry) => (entry.is_settled() && !self.is_shared, entry.generation()),
        };
        self.in_flight[slot as usize] = InFlight { unit, generation, check };
    }

    /// A write is about to be issued: makes its block describe itself.
    pub(crate) fn before_write(&mut self, slot: u32, unit: u64, offset: u64, block: &mut [u8]) {
        let size = self.sizes.iter().position(|&bytes| bytes as usize == block.len()).unwrap_or(0);
        let entry = self.entries[unit as usize].begin_write(size);
        self.entries[unit as usize] = entry;
        self.in_flight[slot as usize] = InFlight { unit, generation: entry.generation(), check: false };
        seal(block, self.seed, offset, entry.generation());
    }

    /// An I/O was reaped; `ok` when it moved all its bytes.
    pub(crate) fn after(&mut self, slot: u32, op: Op, ok: bool, offset: u64, block: &[u8]) {
        let io = self.in_flight[slot as usize];
        if op == Op::Write {
            let entry = &mut self.entries[io.unit as usize];
            *entry = if entry.generation() == io.generation {
                entry.end_write(ok)
            } else {
                Entry(entry.0 | Entry::UNCERTAIN)
            };
            return;
        }
        if !io.check || !ok {
            return;
        }
        let mut written = None;
        if self.writes {
            let entry = self.entries[io.unit as usize];
            // A write that began meanwhile may or may not be seen.
            if !entry.is_settled()
                || entry.generation() != io.generation
                || self.sizes[entry.size()] as usize != block.len()
            {
                return;
            }
            written = Some((self.seed, entry.generation()));
        }
        // A shorter block at the start of what was read is complete in itself; of a longer one too little was read.
        let len = if self.writes { block.len() } else { length_in(block).unwrap_or(block.len()) };
        if len > block.len() {
            return;
        }
        self.note(&block[..len], Expected { offset, written });
    }

    fn note(&mut self, block: &[u8], expected: Expected) {
        let finding = judge(block, expected);
        let report = &mut self.report;
        report.blocks_checked += 1;
        let at = expected.offset;
        let (count, example) = match finding {
            Finding::Good => return,
            Finding::Torn => (&mut report.torn, msg!("engine-block-torn", at = at)),
            Finding::Misplaced { found_offset } => {
                (&mut report.misplaced, msg!("engine-block-misplaced", at = at, found = found_offset))
            }
            Finding::Stale { found_generation } => {
                (&mut report.stale, msg!("engine-block-stale", at = at, found = found_generation))
            }
            Finding::Corrupt => (&mut report.corrupt, msg!("engine-block-corrupt", at = at)),
            Finding::Foreign => (&mut report.foreign, msg!("engine-block-foreign", at = at)),
        };
        *count += 1;
        if report.examples.len() < EXAMPLES_MAX {
            report.examples.push(example);
        }
    }

    /// Reads back everything that was written and is not uncertain, and hands over the report. Ends early when stopped.
    ///
    /// # Errors
    /// When there is no memory for the buffer.
    pub(crate) fn conclude(mut self, plan: &WorkerPlan, shared: &Shared) -> Result<VerifyReport, StepFailure> {
        let unit_bytes = self.span.unit_bytes;
        let call_units = (CALL_BYTES_MAX / unit_bytes).max(1);
        let call_bytes = (call_units * unit_bytes) as usize;
        let mut buffer = Area::new(1, call_bytes).map_err(|source| {
            plan.failed(
                msg!("engine-no-buffers", count = 1_u32, bytes = call_bytes),
                &source,
                msg!("engine-no-memory-help"),
            )
        })?;
        if !plan.step.workload.direct && self.writes {
            self.source.leave_page_cache();
        }
        let mut at = 0;
        while let Some((first, end)) = self.next_run(at, call_units) {
            if shared.is_stopped() {
                break;
            }
            self.read_back(first, end, &mut buffer);
            at = end;
        }
        Ok(self.report)
    }

    /// Next units, from `at` on, to read with one call: first and end.
    fn next_run(&self, at: u64, units_max: u64) -> Option<(u64, u64)> {
        let settled = |unit: u64| self.entries[unit as usize].is_settled();
        let count = self.entries.len() as u64;
        let first = (at..count).find(|&unit| settled(unit))?;
        let gap_max = GAP_BYTES_MAX / self.span.unit_bytes;
        let mut end = first + 1;
        for unit in first + 1..count.min(first + units_max) {
            if settled(unit) {
                end = unit + 1;
            } else if unit - end >= gap_max {
                break;
            }
        }
        Some((first, end))
    }

    fn read_back(&mut self, first: u64, end: u64, buffer: &mut Area) {
        let Span { first_offset_bytes, unit_bytes, .. } = self.span;
        let offset_of = |unit: u64| first_offset_bytes + unit * unit_bytes;
        let (from, len) = (offset_of(first), ((end - first) * unit_bytes) as usize);
        let read = read_fully(&mut self.source, buffer, len, from);
        for unit in first..end {
            let entry = self.entries[unit as usize];
            if !entry.is_settled() {
                continue;
            }
            let (offset, at) = (offset_of(unit), ((unit - first) * unit_bytes) as usize);
            let bytes = self.sizes[entry.size()] as usize;
            if at + bytes > read {
                self.report.blocks_checked += 1;
                self.report.foreign += 1;
                if self.report.examples.len() < EXAMPLES_MAX {
                    self.report.examples.push(msg!("engine-block-unreadable", at = offset));
                }
                continue;
            }
            let block = buffer.bytes_mut(0, len)[at..at + bytes].to_vec();
            // Blocks that several threads write are held against themselves.
            let written = (!self.is_shared).then_some((self.seed, entry.generation()));
            self.note(&block, Expected { offset, written });
        }
    }
}

/// Whether every I/O is one unit of the ledger, whatever the order.
fn has_units(plan: &WorkerPlan, step: &Step) -> bool {
    let (order, unit_bytes) = (&step.workload.order, u64::from(step.workload.block_bytes_max()));
    if order.follows_pattern() {
        return true;
    }
    let is_whole = |bytes: u64| bytes.is_multiple_of(unit_bytes);
    let zones = order.strided.is_none_or(|z| [z.zone_bytes, z.range_bytes, z.skip_bytes].into_iter().all(is_whole));
    let one_size = step.workload.block_sizes.len() == 1 && order.write_sizes.is_none() && order.range.is_none();
    let aligned = order.align_bytes.is_none() && is_whole(order.stride_bytes.unsigned_abs());
    one_size && aligned && zones && plan.parts.iter().all(|part| is_whole(part.extent.len_bytes))
}

/// Bytes read of `len` at `offset`; fewer at an error or at the end of the file.
fn read_fully(source: &mut ReadBack, buffer: &mut Area, len: usize, offset: u64) -> usize {
    let mut done = 0;
    while done < len {
        match source.read_at(&mut buffer.bytes_mut(0, len)[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(moved) => done += moved,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    done
}

/// Adds the report of another worker.
pub(crate) fn merge(into: &mut VerifyReport, from: &VerifyReport) {
    into.blocks_checked += from.blocks_checked;
    into.torn += from.torn;
    into.misplaced += from.misplaced;
    into.stale += from.stale;
    into.corrupt += from.corrupt;
    into.foreign += from.foreign;
    let room = EXAMPLES_MAX.saturating_sub(into.examples.len());
    into.examples.extend(from.examples.iter().take(room).cloned());
}
