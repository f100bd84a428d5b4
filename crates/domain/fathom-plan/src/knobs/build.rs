//! From knobs to a step: defaults, bounds and combinations that cannot be.

use fathom_message::{Message, Quantity, msg};

use super::order::Sizes;
use super::parse::RUNTIME_AUTO;
use super::{
    BUFFER_BYTES_MAX, DedupeKnobs, Distribution, IOPS_PRECISION, KnobError, Knobs, P99_PRECISION, RUNTIME_MAX_NS,
};
use crate::arrange::Arrangement;
use crate::durability::{Durability, SyncEvery, SyncKind, WriteThrough};
use crate::io_order::IoOrder;
use crate::label::set_label;
use crate::pacing::Pacing;
use crate::plan::RunLength;
use crate::ranks::TakePart;
use crate::rate_pair::RatePair;
use crate::read_write::ReadWrite;
use crate::role::{NewFile, RateShare, Role};
use crate::stage::{AskedStages, Stage};
use crate::step::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, Mode, OpMix, Pattern, Phase, Placement, Rate, RateProcess,
    Region, Repeats, Step, TargetId, Verify, Workload,
};

/// Share of the region that fio's working set of repeated blocks has where it is not told.
const FIO_WORKING_SET_PCT: u8 = 5;

/// Adds `note` unless it is there already.
pub(crate) fn push_note(notes: &mut Vec<Message>, note: Message) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

pub(super) fn conflict(key: &str, message: Message, help: Message) -> KnobError {
    KnobError { key: key.to_owned(), unknown_key: false, message, help: Some(help) }
}

impl Knobs {
    /// Makes the step that the knobs describe. What was read otherwise than written is added to `notes`.
    ///
    /// # Errors
    /// No target, or knobs that contradict each other; `key` names the one to change.
    pub fn build(
        &self,
        index: u32,
        group: &str,
        targets: &[TargetId],
        notes: &mut Vec<Message>,
    ) -> Result<Step, KnobError> {
        if targets.is_empty() {
            return Err(conflict("target", msg!("knob-no-target"), msg!("knob-no-target-help")));
        }
        for note in &self.notes {
            push_note(notes, note.clone());
        }
        let engine = self.engine_spec(notes)?;
        let arrangement = self.arrangement();
        let sized = arrangement.block_bytes(targets)?.map(|bytes| {
            let block_sizes = Some(vec![BlockSize { bytes, share_pct: 100 }]);
            Knobs { block_sizes, ..self.clone() }
        });
        let mut workload = sized.as_ref().unwrap_or(self).workload(engine, notes)?;
        let rate_pair = self.rate_pair(&workload)?;
        self.check_stages()?;
        if let Some(pair) = rate_pair {
            workload.mix = pair.mix();
        }
        let load = self.load(engine, &workload, notes)?;
        if let Some(mix) = load.op_rates.and_then(|rates| rates.mix()) {
            workload.mix = mix;
        }
        let new_file = self.new_file(&workload, notes);
        let mut step = Step {
            index,
            label: String::new(),
            phase: Phase::Measure,
            group: group.to_owned(),
            targets: Vec::new(),
            workload,
            load,
            engine,
            placement: self.placement.clone().unwrap_or(Placement::Unpinned),
            memory: self.memory.clone().unwrap_or_default(),
            length: self.length(),
            // Each step of a plan draws other offsets, or a drive's cache would remember the step before.
            seed: self.seed.unwrap_or(1).wrapping_add(u64::from(index)),
            role: Role {
                devices: self.devices,
                ranks: self.ranks.map(TakePart::of),
                footprint_pct: self.footprint_pct,
                offset_pct: self.offset_pct,
                pass_pct: self.pass_pct,
                rate_share: self.rate_share_pct().map(|pct| RateShare { pct, process: self.rate_process() }),
                stages: self.stages(),
                rate_pair,
                latency_goal: self.latency_goal,
                trace_to: self.trace_to.clone(),
                new_file,
                ..Role::default()
            },
        };
        if step.workload.order.files.is_some() {
            // Each file is worked on once.
            step.length.passes = Some(1);
        }
        // Fewer targets than asked are kept as they are: the run refuses the step by name.
        arrangement.put_on(&mut step, targets)?;
        if step.targets_of(0).len() == 1 && step.workload.order.service.take().is_some() {
            push_note(notes, msg!("knob-service-of-one"));
        }
        set_label(&mut step);
        Ok(step)
    }

    /// State of files that are made for the load. What is read must have been written.
    fn new_file(&self, workload: &Workload, notes: &mut Vec<Message>) -> NewFile {
        let asked = self.new_files.unwrap_or_default();
        if workload.mix.write_pct == 100 && workload.order.files.is_none() {
            return asked;
        }
        if !asked.is_default() {
            push_note(notes, msg!("knob-new-files-are-read", word = asked.as_str()));
        }
        NewFile::Written
    }

    /// What is made of the targets.
    pub(crate) fn arrangement(&self) -> Arrangement {
        Arrangement { devices: self.devices, files: self.block_files(), ..self.arrangement }
    }

    fn engine_spec(&self, notes: &mut Vec<Message>) -> Result<EngineSpec, KnobError> {
        let name = self.engine_name()?;
        let mode = self.mode.unwrap_or(Mode::Interrupt);
        let uring = name.is_uring();
        if mode != Mode::Interrupt && !uring {
            let message = msg!("knob-engine-without-mode", engine = name.as_str(), mode = mode.as_str());
            return Err(conflict("mode", message, msg!("knob-engine-without-mode-help")));
        }
        let sqpoll_cpu = self.sqpoll_cpu.filter(|_| mode == Mode::Sqpoll);
        if sqpoll_cpu != self.sqpoll_cpu {
            push_note(notes, msg!("knob-no-sqpoll-cpu", mode = mode.as_str()));
        }
        Ok(EngineSpec {
            name,
            mode,
            fixed_buffers: uring && self.fixed_buffers.unwrap_or(true),
            fixed_files: uring && self.fixed_files.unwrap_or(true),
            sqpoll_cpu,
            paranoid: self.paranoid.unwrap_or(false),
        })
    }

    fn workload(&self, engine: EngineSpec, notes: &mut Vec<Message>) -> Result<Workload, KnobError> {
        let rw = self.rw.unwrap_or(ReadWrite::RandRead);
        let mmap = engine.name == EngineName::Mmap;
        if mmap && self.direct == Some(true) {
            return Err(conflict("direct", msg!("knob-mmap-direct"), msg!("knob-mmap-direct-help")));
        }
        // Passthrough has no page cache to go through; fio's jobs say nothing, or direct=0.
        let is_buffered = mmap || engine.name == EngineName::Files;
        let direct = self.direct.unwrap_or(!is_buffered) || engine.name.is_past_block_layer();
        if engine.mode == Mode::Iopoll && !direct {
            return Err(conflict("direct", msg!("knob-iopoll-buffered"), msg!("knob-iopoll-buffered-help")));
        }
        let mix = self.mix(rw, notes)?;
        let sizes = match self.files(rw)? {
            // A block is a file.
            Some(files) => Sizes::of_one(files.moved_bytes().max(1)),
            None => self.sizes(mix),
        };
        let block_sizes = sizes.first.clone();
        let order = self.order(rw, sizes)?;
        let size_bytes = self.region_bytes(notes)?;
        let region = Region { offset_bytes: self.offset_bytes.unwrap_or(0), size_bytes };
        let every_size = || block_sizes.iter().chain(order.write_sizes.iter().chain(&order.trim_sizes).flatten());
        check_region(region, every_size(), direct)?;
        if direct || self.verify.flatten().is_some() {
            check_sectors(every_size(), &order)?;
        }
        if self.paranoid == Some(true) && engine.name.is_synchronous() {
            push_note(notes, msg!("knob-paranoid-synchronous"));
        }
        Ok(Workload {
            mix,
            pattern: self.pattern(rw, notes),
            block_sizes,
            region,
            data: self.data(),
            fill: self.fill.clone().unwrap_or_default(),
            verify: self.verification(mix),
            direct,
            drop_cache: self.drop_cache.unwrap_or(false)
                && !direct
                && !matches!(engine.name, EngineName::Null | EngineName::Files),
            priorities: self.priority.build(engine, mix, direct)?,
            durability: self.durability(engine, mix, direct)?,
            order,
        })
    }

    fn data(&self) -> DataPattern {
        let dedupe_pct = self.dedupe_pct.unwrap_or(0);
        let repeats = match self.dedupe {
            DedupeKnobs { has_set: Some(true), region_pct, is_shared } if dedupe_pct > 0 => Repeats::WorkingSet {
                region_pct: region_pct.unwrap_or(FIO_WORKING_SET_PCT),
                is_shared: is_shared.unwrap_or(false),
            },
            _ => Repeats::Few,
        };
        DataPattern { compress_pct: self.compress_pct.unwrap_or(0), dedupe_pct, repeats }
    }

    fn verification(&self, mix: OpMix) -> Option<Verify> {
        let verify = self.verify.flatten()?;
        match (self.checks_written, mix.write_pct) {
            (Some(false), 0) => None,
            (Some(false), _) => Some(Verify::Crc32cWritten),
            _ => Some(verify),
        }
    }

    fn durability(&self, engine: EngineSpec, mix: OpMix, direct: bool) -> Result<Durability, KnobError> {
        let every = |writes: Option<u32>, kind| writes.filter(|n| *n > 0).map(|writes| SyncEvery { kind, writes });
        let fsync = every(self.fsync_writes, SyncKind::Fsync);
        let fdatasync = every(self.fdatasync_writes, SyncKind::Fdatasync);
        if fsync.is_some() && fdatasync.is_some() {
            return Err(conflict("fdatasync", msg!("knob-two-syncs"), msg!("knob-two-syncs-help")));
        }
        let sync = fsync.or(fdatasync);
        let write_through = self.write_through.unwrap_or_default();
        if let Some(sync) = sync {
            let key = sync.kind.as_str();
            if mix.write_pct == 0 {
                return Err(conflict(
                    key,
                    msg!("knob-sync-without-writes", key = key),
                    msg!("knob-sync-without-writes-help"),
                ));
            }
            if engine.mode == Mode::Iopoll {
                return Err(conflict(key, msg!("knob-sync-polled", key = key), msg!("knob-sync-polled-help")));
            }
        }
        if write_through != WriteThrough::None {
            let key = "sync";
            if mix.write_pct == 0 {
                return Err(conflict(
                    key,
                    msg!("knob-sync-without-writes", key = key),
                    msg!("knob-sync-without-writes-help"),
                ));
            }
            // Passthrough goes past what the flag of the descriptor does; a mapping does not write through one.
            if matches!(engine.name, EngineName::IoUringCmd | EngineName::Mmap | EngineName::Null | EngineName::Files) {
                let message = msg!("knob-no-write-through", engine = engine.name.as_str());
                return Err(conflict(key, message, msg!("knob-no-write-through-help")));
            }
        }
        let is_atomic = self.is_atomic == Some(true);
        if is_atomic {
            let key = "atomic";
            if mix.write_pct == 0 {
                let help = msg!("knob-sync-without-writes-help");
                return Err(conflict(key, msg!("knob-atomic-without-writes"), help));
            }
            if !matches!(engine.name, EngineName::IoUring | EngineName::Libaio) || !direct {
                return Err(conflict(key, msg!("knob-atomic-engine"), msg!("knob-atomic-engine-help")));
            }
        }
        // As in fio, a job that only reads has nothing to make durable.
        let at_end = self.sync_at_end == Some(true) && mix.write_pct > 0;
        Ok(Durability { sync, write_through, at_end, is_atomic })
    }

    fn mix(&self, rw: ReadWrite, notes: &mut Vec<Message>) -> Result<OpMix, KnobError> {
        let mixed = rw.reads() && rw.writes();
        let mut read_pct = self.read_pct;
        if read_pct.is_some() && self.read_pct_needs_mix && !mixed {
            push_note(notes, msg!("knob-no-mix", rw = rw.as_str()));
            read_pct = None;
        }
        match read_pct {
            Some(_) if rw.trims() => {
                Err(conflict("read_pct", msg!("knob-reads-of-trim", rw = rw.as_str()), msg!("knob-reads-of-trim-help")))
            }
            Some(read_pct) if !mixed && read_pct != if rw.reads() { 100 } else { 0 } => {
                let said = msg!("knob-reads-without-mix", read_pct = read_pct.to_string(), rw = rw.as_str());
                Err(conflict("read_pct", said, msg!("knob-reads-of-trim-help")))
            }
            Some(read_pct) => Ok(OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 }),
            None if mixed => Ok(OpMix { read_pct: 50, write_pct: 50, trim_pct: 0 }),
            None if rw.trims() && rw.writes() => Ok(OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 }),
            None if rw.trims() => Ok(OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 }),
            None if rw.writes() => Ok(OpMix::WRITE),
            None => Ok(OpMix::READ),
        }
    }

    fn pattern(&self, rw: ReadWrite, notes: &mut Vec<Message>) -> Pattern {
        let repeat = self.norandommap == Some(true);
        let skewed = match &self.distribution {
            Some(Distribution::Pattern(pattern)) => Some(*pattern).filter(|d| !matches!(d, Pattern::Random)),
            // They part the region; where in a part is drawn as without them.
            Some(Distribution::Zones(_) | Distribution::List(_)) | None => None,
        };
        if rw.is_sequential() {
            if !matches!(self.distribution, None | Some(Distribution::Pattern(Pattern::Random))) {
                push_note(notes, msg!("knob-no-distribution", rw = rw.as_str()));
            }
            return Pattern::Sequential;
        }
        // A skewed draw repeats blocks by its nature; norandommap then adds nothing, in fio as here.
        skewed.unwrap_or(if repeat { Pattern::RandomRepeat } else { Pattern::Random })
    }

    fn load(&self, engine: EngineSpec, workload: &Workload, notes: &mut Vec<Message>) -> Result<Load, KnobError> {
        let threads = self.threads.unwrap_or(1);
        let mut queue_depth = self.queue_depth.unwrap_or(1);
        let sync = engine.name.is_synchronous();
        if sync && queue_depth > 1 {
            let name = engine.name.as_str();
            push_note(notes, msg!("knob-depth-of-synchronous", engine = name, depth = queue_depth));
            queue_depth = 1;
        }
        let buffers_bytes = u64::from(threads) * u64::from(queue_depth) * u64::from(workload.block_bytes_max());
        if buffers_bytes > BUFFER_BYTES_MAX {
            let message = msg!(
                "knob-buffers",
                threads = threads,
                depth = queue_depth,
                block = Quantity::block(workload.block_bytes_max().into()),
                buffers = Quantity::block(buffers_bytes),
                max = Quantity::block(BUFFER_BYTES_MAX)
            );
            return Err(conflict("iodepth", message, msg!("knob-buffers-help")));
        }
        let has_rate = self.has_rate_iops() || self.rate_share_pct.is_some() || self.stages.is_some();
        if self.rate_process.is_some() && !has_rate {
            return Err(conflict(
                "rate_process",
                msg!("knob-rate-process-alone"),
                msg!("knob-rate-process-alone-help"),
            ));
        }
        let rates = self.asked_rates(workload.mix);
        let pacing = self.pacing()?;
        if pacing.target.is_some() && workload.mix.trim_pct > 0 {
            let help = msg!("knob-latency-target-of-trims-help");
            return Err(conflict("latency_target", msg!("knob-latency-target-of-trims"), help));
        }
        Ok(Load {
            threads,
            spread: self.spread.unwrap_or_default(),
            queue_depth,
            batch_submit: self.batch_submit.filter(|_| !sync).map(|b| b.min(queue_depth)),
            batch_complete_min: self.batch_complete_min.filter(|_| !sync).map(|b| b.min(queue_depth)),
            batch_complete_max: self.batch_complete_max.filter(|_| !sync).map(|max| {
                let min = self.batch_complete_min.unwrap_or(1);
                max.max(min).clamp(1, queue_depth)
            }),
            rate: rates.iops.map(|iops| Rate { iops, process: self.rate_process() }),
            op_rates: rates.of_ops,
            pacing,
        })
    }

    fn rate_pair(&self, workload: &Workload) -> Result<Option<RatePair>, KnobError> {
        if self.read_rate_pct.is_none() && self.write_rate_pct.is_none() {
            return Ok(None);
        }
        let pair = RatePair { read_pct: self.read_rate_pct.unwrap_or(0), write_pct: self.write_rate_pct.unwrap_or(0) };
        let key = if self.read_rate_pct.is_some() { "read_rate" } else { "write_rate" };
        if pair.read_pct == 0 && pair.write_pct == 0 {
            return Err(conflict(key, msg!("knob-pair-of-nothing"), msg!("knob-pair-of-nothing-help")));
        }
        if self.has_rate_iops()
            || self.rate_share_pct.is_some()
            || self.stages.is_some()
            || self.rate_process.is_some()
            || self.read_pct.is_some()
        {
            return Err(conflict(key, msg!("knob-pair-and-rate"), msg!("knob-pair-and-rate-help")));
        }
        let is_plain = workload.mix.trim_pct == 0 && workload.verify.is_none() && workload.durability.is_plain();
        if !is_plain || !workload.order.is_plain() || self.pacing()? != Pacing::default() {
            return Err(conflict(key, msg!("knob-pair-of-others"), msg!("knob-pair-of-others-help")));
        }
        Ok(Some(pair))
    }

    /// Stages say rates and lengths themselves.
    fn check_stages(&self) -> Result<(), KnobError> {
        if self.stages.is_none() {
            return Ok(());
        }
        let others = [
            ("rate_iops", self.has_rate_iops() || self.rate_share_pct.is_some()),
            ("runtime", self.runtime.is_some()),
            ("loops", self.passes.is_some()),
            ("latency_goal", self.latency_goal.is_some()),
        ];
        match others.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => {
                Err(conflict(key, msg!("knob-beside-stages", key = key), msg!("knob-beside-stages-help", key = key)))
            }
            None => Ok(()),
        }
    }

    /// Mean rate of the stages, where that is one in I/Os per second.
    pub(super) fn stages_iops(&self) -> Option<f64> {
        self.stages.as_ref().filter(|asked| !asked.is_share).map(AskedStages::mean)
    }

    /// The share of a closed loop that the rate is; of stages their mean, to a whole percent.
    fn rate_share_pct(&self) -> Option<u16> {
        let of_stages = self.stages.as_ref().filter(|asked| asked.is_share);
        self.rate_share_pct.or(of_stages.map(|asked| asked.mean().round().max(1.0) as u16))
    }

    fn stages(&self) -> Vec<Stage> {
        let Some(asked) = &self.stages else { return Vec::new() };
        let rate = self.rate_share_pct().filter(|_| asked.is_share).map_or(asked.mean(), f64::from);
        asked.stages(rate)
    }

    pub(super) fn rate_process(&self) -> RateProcess {
        self.rate_process.unwrap_or(RateProcess::Fixed)
    }

    fn length(&self) -> RunLength {
        if let Some(asked) = &self.stages {
            return RunLength::fixed(self.ramp_ns.unwrap_or(0), asked.length_ns());
        }
        let (floor_ns, budget_ns) = match (self.runtime, self.passes) {
            (Some(span), _) => span,
            (None, Some(_)) => (RUNTIME_MAX_NS, RUNTIME_MAX_NS),
            (None, None) => RUNTIME_AUTO,
        };
        RunLength {
            floor_ns,
            budget_ns,
            iops_rel_half_width: self.iops_precision.unwrap_or(IOPS_PRECISION),
            p99_rel_half_width: self.p99_precision.unwrap_or(P99_PRECISION),
            passes: self.passes,
            ..RunLength::fixed(self.ramp_ns.unwrap_or(0), budget_ns)
        }
    }
}

/// Around the page cache only whole sectors move, and checked blocks are made of them.
fn check_sectors<'s>(sizes: impl Iterator<Item = &'s BlockSize>, order: &IoOrder) -> Result<(), KnobError> {
    let part = |bytes: u32| Some(bytes).filter(|bytes| !bytes.is_multiple_of(512));
    let of_range = order.range.and_then(|range| if range.unaligned { Some(1) } else { part(range.min_bytes) });
    let aligned = order.align_bytes.and_then(part);
    let range_key = if order.range.is_some_and(|range| range.unaligned) { "bs_unaligned" } else { "bsrange" };
    let sizes = sizes.map(|size| size.bytes).find_map(part);
    let found = [("bs", sizes), (range_key, of_range), ("blockalign", aligned)];
    match found.into_iter().find_map(|(key, bytes)| Some((key, bytes?))) {
        None => Ok(()),
        Some((key, bytes)) => {
            let message = msg!("knob-part-of-sector", bytes = bytes.to_string());
            let message = msg!("what-and-why", what = key, why = message);
            Err(conflict(key, message, msg!("knob-part-of-sector-help")))
        }
    }
}

fn check_region<'s>(region: Region, sizes: impl Iterator<Item = &'s BlockSize>, direct: bool) -> Result<(), KnobError> {
    let block_max = sizes.map(|b| u64::from(b.bytes)).max().unwrap_or(0);
    if let Some(size) = region.size_bytes.filter(|s| *s < block_max) {
        let message = msg!("knob-size-below-block", size = Quantity::block(size), block = Quantity::block(block_max));
        return Err(conflict("size", message, msg!("knob-size-below-block-help")));
    }
    if direct && !region.offset_bytes.is_multiple_of(512) {
        let message = msg!("knob-offset-in-sector", offset = region.offset_bytes.to_string());
        return Err(conflict("offset", message, msg!("knob-offset-in-sector-help")));
    }
    Ok(())
}
