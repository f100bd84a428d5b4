//! The loop measured against itself: io_uring NOPs with and without everything the hot loop does.

mod nvme;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use fathom_host::Bindings;
use fathom_message::msg;
use fathom_plan::{EngineName, EngineSpec, Op, Step};
use fathom_record::StepFailure;
use io_uring::opcode;

use crate::backend::libaio::Libaio;
use crate::backend::nop::NopRing;
use crate::backend::psync::Psync;
use crate::backend::uring::Uring;
use crate::backend::{Backend, Io, SubmitStamp, Unready, no_detail, refused};
use crate::buffer::Area;
use crate::clock::{Clock, thread_cpu_ns};
use crate::hot::Plain;
use crate::offsets::Span;
use crate::overhead::bare_hot;
use crate::rig::Rig;
use crate::shared::{Shared, Window};
use crate::target::{Target, engine_on_target, target_message};
use crate::worker::Part;

pub use nvme::{DriverCost, bench_driver};

/// What one bench of a loop gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopRate {
    /// I/Os completed.
    pub ios: u64,
    /// Over this time.
    pub elapsed_ns: u64,
    /// CPU time of the thread meanwhile. The loops never sleep, so on a shared CPU this is the fairer divisor.
    pub cpu_ns: u64,
}

impl LoopRate {
    /// I/Os per second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.ios as f64 / (self.elapsed_ns.max(1) as f64 / 1e9)
    }

    /// I/Os per second of CPU time.
    #[must_use]
    pub fn iops_per_core(&self) -> f64 {
        self.ios as f64 / (self.cpu_ns.max(1) as f64 / 1e9)
    }
}

/// io_uring NOPs on the calling thread for `duration`, `queue_depth` in flight, `batch` per submission.
///
/// With `record_latency` they go through the real hot loop: random offsets, slots, every latency in a histogram.
/// Without, through a bare loop that only submits and reaps: the kernel's own limit.
///
/// # Errors
/// [`StepFailure::Refused`] when the depth is out of range or the kernel refuses io_uring.
pub fn bench_nop(
    queue_depth: u32,
    batch: u32,
    duration: Duration,
    record_latency: bool,
) -> Result<LoopRate, StepFailure> {
    if queue_depth == 0 || queue_depth > crate::check::QUEUE_DEPTH_MAX || batch == 0 {
        let why = msg!("engine-nop-bench-range", max = crate::check::QUEUE_DEPTH_MAX);
        return Err(refused(msg!("engine-nop-bench"), why, msg!("engine-nop-bench-range-help")));
    }
    let batch = batch.min(queue_depth);
    let ring = NopRing::new(queue_depth, EngineSpec::default())?;
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let rate = if record_latency {
        through_hot_loop(queue_depth, batch, duration_ns, ring)
    } else {
        bare(queue_depth, batch, duration_ns, ring)
    };
    rate.map_err(|error| StepFailure::failed(msg!("engine-nop-bench"), &error, no_detail()))
}

/// Reads of the first target of `step` through its engine by a bare loop: no latencies, no permutation, no slots. What
/// a step of the same load reaches of this is what measuring costs.
///
/// # Errors
/// [`StepFailure`] as for the step itself; engines that only this loop would need are refused.
pub fn bench_bare_reads(step: &Step, bindings: &Bindings, duration: Duration) -> Result<LoopRate, StepFailure> {
    let id = &step.targets[0];
    let target = Arc::new(Target::examine(bindings, id, step)?);
    let part = Part { member: 0, thread: 0, span: target.span, extent: target.extent, target: target.clone() };
    let depth = if step.engine.name.is_synchronous() { 1 } else { step.load.queue_depth };
    let batch = step.load.batch_submit.unwrap_or(crate::check::BATCH_DEFAULT).min(depth);
    let failed = |error: std::io::Error| StepFailure::failed(target_message(id), &error, no_detail());
    let area = Area::new(depth as usize, step.workload.block_bytes_max() as usize).map_err(failed)?;
    let load = BareLoad { depth, batch, span: target.span, duration_ns: duration.as_nanos() as u64 };
    match step.engine.name {
        EngineName::Psync => bare_reads(Rig::new(area, |_| target.open().map(|fd| Psync::engine(vec![fd])))?, load),
        EngineName::Libaio => bare_reads(Rig::new(area, |_| Libaio::new(vec![target.open()?], depth))?, load),
        EngineName::IoUring => {
            let mut rig = Rig::new(area, |area| Uring::new(vec![target.open()?], depth, step.engine, area))?;
            match Uring::look(&mut rig, &[part], step.engine, &|| false) {
                Ok(()) | Err(Unready::Stopped) => {}
                Err(Unready::Failed(failure)) => return Err(failure),
            }
            bare_reads(rig, load)
        }
        other => {
            let what = engine_on_target(other, id);
            return Err(refused(what, msg!("engine-no-bare-loop"), msg!("engine-no-bare-loop-help")));
        }
    }
    .map_err(failed)
}

#[derive(Clone, Copy)]
struct BareLoad {
    depth: u32,
    batch: u32,
    span: Span,
    duration_ns: u64,
}

fn bare_reads<B: Backend>(mut rig: Rig<B>, load: BareLoad) -> io::Result<LoopRate> {
    let clock = Clock::get();
    let (start_ns, cpu_before_ns) = (clock.now(), thread_cpu_ns());
    let mut free: Vec<u32> = (0..load.depth).collect();
    let (mut ios, mut state, mut bad) = (0_u64, 1_u64, None);
    let Rig { backend, area } = &mut rig;
    loop {
        for _ in 0..load.batch.min(free.len() as u32) {
            let Some(slot) = free.pop() else { break };
            // Marsaglia's xorshift64: as cheap as random offsets get.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let unit = ((u128::from(state) * u128::from(load.span.count)) >> 64) as u64;
            let offset = load.span.first_offset_bytes + unit * load.span.unit_bytes;
            let len = load.span.unit_bytes as u32;
            backend.push(&Io { slot, part: 0, op: Op::Read, len, offset, buffer: area.slot(slot) });
            if B::SUBMIT_STAMP == SubmitStamp::Never {
                break;
            }
        }
        backend.submit_and_wait(u32::from(free.is_empty()), None)?;
        backend.reap(|slot, result| {
            ios += 1;
            bad = bad.or((result < 0).then_some(-result));
            free.push(slot);
        });
        // A synchronous engine comes here for every I/O, and looks at the clock for a few of them only.
        if ios & 0xff < u64::from(load.batch) {
            let elapsed_ns = clock.now() - start_ns;
            if let Some(errno) = bad {
                return Err(io::Error::from_raw_os_error(errno));
            }
            if elapsed_ns >= load.duration_ns {
                break;
            }
        }
    }
    let (elapsed_ns, cpu_ns) = (clock.now() - start_ns, thread_cpu_ns() - cpu_before_ns);
    while free.len() < load.depth as usize {
        backend.submit_and_wait(1, None)?;
        backend.reap(|slot, _| free.push(slot));
    }
    Ok(LoopRate { ios, elapsed_ns, cpu_ns })
}

fn through_hot_loop(queue_depth: u32, batch: u32, duration_ns: u64, ring: NopRing) -> io::Result<LoopRate> {
    let clock = Clock::get();
    let shared = Arc::new(Shared::new(1));
    let (to_collector, _inbox) = channel();
    let (mut hot, area) = bare_hot(queue_depth, batch, false, shared.clone(), to_collector)?;
    let mut rig = Rig::new(area, |_| Ok::<_, io::Error>(ring))?;
    let start_ns = clock.now();
    shared.end_by(start_ns.saturating_add(duration_ns));
    let cpu_before_ns = thread_cpu_ns();
    hot.run::<_, Plain>(&mut rig, Window { start_ns, interval_ns: 100_000_000 })?;
    let cpu_ns = thread_cpu_ns() - cpu_before_ns;
    Ok(LoopRate { ios: hot.state.outcome.ios, elapsed_ns: duration_ns, cpu_ns })
}

fn bare(queue_depth: u32, batch: u32, duration_ns: u64, mut ring: NopRing) -> io::Result<LoopRate> {
    let clock = Clock::get();
    let nop = opcode::Nop::new().build();
    let (start_ns, cpu_before_ns) = (clock.now(), thread_cpu_ns());
    let (mut in_flight, mut ios) = (0, 0_u64);
    loop {
        let count = batch.min(queue_depth - in_flight);
        for _ in 0..count {
            ring.push_entry(&nop)?;
        }
        in_flight += count;
        // Wait only when no more can be submitted, as the hot loop does.
        ring.submit_and_wait_for(u32::from(in_flight == queue_depth))?;
        let done = ring.count_done();
        in_flight -= done;
        ios += u64::from(done);
        let elapsed_ns = clock.now() - start_ns;
        if elapsed_ns >= duration_ns {
            return Ok(LoopRate { ios, elapsed_ns, cpu_ns: thread_cpu_ns() - cpu_before_ns });
        }
    }
}
