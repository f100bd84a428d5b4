//! From knobs to a step: defaults, bounds and combinations that cannot be.

use fathom_units::format_block;

use super::parse::{RUNTIME_AUTO, Rw};
use super::{BUFFER_BYTES_MAX, KnobError, Knobs, RUNTIME_MAX_NS};
use crate::label::label;
use crate::plan::RunLength;
use crate::role::{RateShare, Role};
use crate::step::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, Mode, OpMix, Pattern, Phase, Placement, Rate, RateProcess,
    Region, Step, Target, Workload,
};

/// Adds `note` unless it is there already.
pub(crate) fn push_note(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

fn conflict(key: &str, message: impl Into<String>, help: &str) -> KnobError {
    KnobError { key: key.to_owned(), unknown_key: false, message: message.into(), help: Some(help.to_owned()) }
}

impl Knobs {
    /// Makes the step that the knobs describe. What was read otherwise than written is told in `notes`.
    ///
    /// # Errors
    /// No target, or knobs that contradict each other; `key` names the one to change.
    pub fn build(
        &self,
        index: u32,
        group: &str,
        targets: Vec<Target>,
        notes: &mut Vec<String>,
    ) -> Result<Step, KnobError> {
        if targets.is_empty() {
            return Err(conflict("target", "no target is named", "name a file or device with --target"));
        }
        for note in &self.notes {
            push_note(notes, note.clone());
        }
        let engine = self.engine_spec(notes)?;
        let workload = self.workload(engine, notes)?;
        let load = self.load(engine, &workload, notes)?;
        // Fewer targets than asked are kept as they are: the run refuses the step by name.
        let mut targets = targets;
        targets.truncate(self.devices.map_or(usize::MAX, |n| n as usize));
        let mut step = Step {
            index,
            label: String::new(),
            phase: Phase::Measure,
            group: group.to_owned(),
            targets,
            workload,
            load,
            engine,
            placement: self.placement.clone().unwrap_or(Placement::Unpinned),
            length: self.length(),
            // Each step of a plan draws other offsets, or a drive's cache would remember the step before.
            seed: self.seed.unwrap_or(1).wrapping_add(u64::from(index)),
            role: Role {
                devices: self.devices,
                footprint_pct: self.footprint_pct,
                rate_share: self.rate_share_pct.map(|pct| RateShare { pct, process: self.rate_process() }),
                latency_goal: self.latency_goal,
                ..Role::default()
            },
        };
        step.label = label(&step);
        Ok(step)
    }

    fn engine_spec(&self, notes: &mut Vec<String>) -> Result<EngineSpec, KnobError> {
        let name = self.engine.unwrap_or(EngineName::IoUring);
        let mode = self.mode.unwrap_or(Mode::Interrupt);
        let uring = name.is_uring();
        if mode != Mode::Interrupt && !uring {
            return Err(conflict(
                "mode",
                format!("engine {} has no mode {}", name.as_str(), mode.as_str()),
                "modes iopoll and sqpoll (fio: hipri, sqthread_poll) need engine io_uring or io_uring_cmd",
            ));
        }
        let sqpoll_cpu = self.sqpoll_cpu.filter(|_| mode == Mode::Sqpoll);
        if sqpoll_cpu != self.sqpoll_cpu {
            push_note(notes, format!("sqthread_poll_cpu has no effect in mode {}", mode.as_str()));
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

    fn workload(&self, engine: EngineSpec, notes: &mut Vec<String>) -> Result<Workload, KnobError> {
        let rw = self.rw.unwrap_or(super::parse::RW[2]);
        let mmap = engine.name == EngineName::Mmap;
        if mmap && self.direct == Some(true) {
            return Err(conflict(
                "direct",
                "engine mmap goes through the page cache (or DAX); it has no O_DIRECT",
                "remove direct, or set direct=0",
            ));
        }
        // Passthrough has no page cache to go through; fio's jobs say nothing, or direct=0.
        let direct = self.direct.unwrap_or(!mmap) || engine.name == EngineName::IoUringCmd;
        if engine.mode == Mode::Iopoll && !direct {
            return Err(conflict("direct", "mode iopoll needs O_DIRECT", "set direct=1, or mode=interrupt"));
        }
        let block_sizes = self.block_sizes.clone().unwrap_or_else(|| vec![BlockSize { bytes: 4096, share_pct: 100 }]);
        let region = Region { offset_bytes: self.offset_bytes.unwrap_or(0), size_bytes: self.size_bytes };
        check_region(region, &block_sizes, direct)?;
        if self.paranoid == Some(true) && engine.name.is_synchronous() {
            push_note(notes, "paranoid: synchronous engines stamp every I/O anyway".to_owned());
        }
        Ok(Workload {
            mix: self.mix(rw, notes)?,
            pattern: self.pattern(rw, notes),
            block_sizes,
            region,
            data: DataPattern {
                compress_pct: self.compress_pct.unwrap_or(0),
                dedupe_pct: self.dedupe_pct.unwrap_or(0),
            },
            verify: self.verify.flatten(),
            direct,
        })
    }

    fn mix(&self, rw: Rw, notes: &mut Vec<String>) -> Result<OpMix, KnobError> {
        let mixed = rw.read && rw.write;
        let mut read_pct = self.read_pct;
        if read_pct.is_some() && self.read_pct_needs_mix && !mixed {
            push_note(notes, format!("rwmixread and rwmixwrite have no effect with rw={}, as in fio", rw.word));
            read_pct = None;
        }
        match read_pct {
            Some(_) if rw.trim => Err(conflict(
                "read_pct",
                format!("a share of reads makes no sense with rw={}", rw.word),
                "remove it, or set rw=randrw",
            )),
            Some(read_pct) => Ok(OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 }),
            None if mixed => Ok(OpMix { read_pct: 50, write_pct: 50, trim_pct: 0 }),
            None if rw.trim && rw.write => Ok(OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 }),
            None if rw.trim => Ok(OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 }),
            None if rw.write => Ok(OpMix::WRITE),
            None => Ok(OpMix::READ),
        }
    }

    fn pattern(&self, rw: Rw, notes: &mut Vec<String>) -> Pattern {
        let repeat = self.norandommap == Some(true);
        let skewed = self.distribution.filter(|d| !matches!(d, Pattern::Random));
        if rw.sequential {
            if skewed.is_some() {
                push_note(notes, format!("random_distribution has no effect with rw={}, as in fio", rw.word));
            }
            return Pattern::Sequential;
        }
        // A skewed draw repeats blocks by its nature; norandommap then adds nothing, in fio as here.
        skewed.unwrap_or(if repeat { Pattern::RandomRepeat } else { Pattern::Random })
    }

    fn load(&self, engine: EngineSpec, workload: &Workload, notes: &mut Vec<String>) -> Result<Load, KnobError> {
        let threads = self.threads.unwrap_or(1);
        let mut queue_depth = self.queue_depth.unwrap_or(1);
        let sync = engine.name.is_synchronous();
        if sync && queue_depth > 1 {
            let name = engine.name.as_str();
            push_note(
                notes,
                format!(
                    "{name} has one I/O in flight per thread: iodepth={queue_depth} runs as QD1 (raise numjobs instead)"
                ),
            );
            queue_depth = 1;
        }
        let buffers_bytes = u64::from(threads) * u64::from(queue_depth) * u64::from(workload.block_bytes_max());
        if buffers_bytes > BUFFER_BYTES_MAX {
            return Err(conflict(
                "iodepth",
                format!(
                    "{threads} threads x {queue_depth} x {} need {} of buffers; the bound is {}",
                    format_block(u64::from(workload.block_bytes_max())),
                    format_block(buffers_bytes),
                    format_block(BUFFER_BYTES_MAX)
                ),
                "lower iodepth, numjobs or bs",
            ));
        }
        if self.rate_process.is_some() && self.rate_iops.is_none() && self.rate_share_pct.is_none() {
            return Err(conflict(
                "rate_process",
                "rate_process has no effect without rate_iops",
                "set rate_iops, or remove it",
            ));
        }
        Ok(Load {
            threads,
            queue_depth,
            batch_submit: self.batch_submit.filter(|_| !sync).map(|b| b.min(queue_depth)),
            batch_complete_min: self.batch_complete_min.filter(|_| !sync).map(|b| b.min(queue_depth)),
            rate: self.rate_iops.map(|iops| Rate { iops, process: self.rate_process() }),
        })
    }

    fn rate_process(&self) -> RateProcess {
        self.rate_process.unwrap_or(RateProcess::Fixed)
    }

    fn length(&self) -> RunLength {
        let (floor_ns, budget_ns) = match (self.runtime, self.passes) {
            (Some(span), _) => span,
            (None, Some(_)) => (RUNTIME_MAX_NS, RUNTIME_MAX_NS),
            (None, None) => RUNTIME_AUTO,
        };
        RunLength {
            floor_ns,
            budget_ns,
            iops_rel_half_width: self.iops_precision.unwrap_or(0.01),
            p99_rel_half_width: self.p99_precision.unwrap_or(0.05),
            passes: self.passes,
            ..RunLength::fixed(self.ramp_ns.unwrap_or(0), budget_ns)
        }
    }
}

fn check_region(region: Region, block_sizes: &[BlockSize], direct: bool) -> Result<(), KnobError> {
    let block_max = block_sizes.iter().map(|b| u64::from(b.bytes)).max().unwrap_or(0);
    if let Some(size) = region.size_bytes.filter(|s| *s < block_max) {
        return Err(conflict(
            "size",
            format!("size {} is below one block of {}", format_block(size), format_block(block_max)),
            "raise size, or lower bs",
        ));
    }
    if direct && !region.offset_bytes.is_multiple_of(512) {
        return Err(conflict(
            "offset",
            format!("offset {} is not a multiple of 512", region.offset_bytes),
            "O_DIRECT needs whole sectors, e.g. 1g",
        ));
    }
    Ok(())
}
