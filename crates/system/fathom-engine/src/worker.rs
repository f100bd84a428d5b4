//! A worker thread: sets itself up, waits for the start, runs the hot loop, and reads back what it wrote.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use fathom_plan::{EngineName, Step};
use fathom_random::Rng;
use fathom_record::{FeatureUse, StepFailure};

use crate::backend::libaio::Libaio;
use crate::backend::mmap::Mmap;
use crate::backend::null::Null;
use crate::backend::psync::Psync;
use crate::backend::uring::Uring;
use crate::backend::uring_cmd::UringCmd;
use crate::backend::{Backend, feature, refused};
use crate::buffer::Area;
use crate::clock::Clock;
use crate::data::Content;
use crate::draw::Draw;
use crate::hot::{Hot, Limits, State};
use crate::offsets::{Offsets, Span};
use crate::open_loop::{Arrivals, sharpen_timers};
use crate::shared::{Message, Shared, Stage, Window, WorkerSummary};
use crate::tally::{Tally, ops_of};
use crate::target::{Target, Trimmer};
use crate::verify::Ledger;

/// Everything a worker is told.
pub(crate) struct WorkerPlan {
    pub(crate) index: u32,
    /// All workers of the step.
    pub(crate) workers: u32,
    pub(crate) target: Arc<Target>,
    pub(crate) step: Arc<Step>,
    /// Blocks this worker may touch.
    pub(crate) span: Span,
    /// CPUs it is bound to; empty: all.
    pub(crate) cpus: Vec<u32>,
    pub(crate) limits: Limits,
    /// Most intervals the window can have.
    pub(crate) intervals_max: usize,
}

/// Channels of a worker.
pub(crate) struct Lines {
    pub(crate) shared: Arc<Shared>,
    pub(crate) to_collector: Sender<Message>,
    pub(crate) spare_tallies: Receiver<Box<Tally>>,
}

/// Body of the thread.
pub(crate) fn work(plan: &WorkerPlan, lines: Lines) {
    let to_collector = lines.to_collector.clone();
    if let Err(failure) = prepare_and_run(plan, lines) {
        // Nobody listens any more when the step was abandoned.
        let _ = to_collector.send(Message::Refused(failure));
    }
}

fn prepare_and_run(plan: &WorkerPlan, lines: Lines) -> Result<(), StepFailure> {
    pin(&plan.cpus)?;
    own_descriptor_table();
    let hot = set_up(plan, lines)?;
    let engine = plan.step.engine;
    let depth = plan.limits.queue_depth;
    match engine.name {
        EngineName::Null => run_on(plan, hot, Null::new(depth)),
        EngineName::Psync => run_on(plan, hot, Psync::engine(plan.target.open()?)),
        EngineName::Libaio => run_on(plan, hot, Libaio::new(plan.target.open()?, depth)?),
        EngineName::IoUring => {
            let uring = Uring::new(&plan.target, depth, engine, &hot.area)?;
            run_on(plan, hot, uring)
        }
        EngineName::IoUringCmd => {
            let commands = UringCmd::new(&plan.target, depth, engine, &hot.area)?;
            run_on(plan, hot, commands)
        }
        EngineName::Mmap => run_on(plan, hot, Mmap::engine(plan.target.open()?, &plan.target.path, plan.span)?),
    }
}

/// Gives the calling thread a descriptor table of its own. With a shared table each system call counts a reference to
/// the file up and down atomically; with its own it does not. May fail without harm.
fn own_descriptor_table() {
    // SAFETY: only this thread's view of descriptors changes. What it opens from here on it closes itself (the engine,
    // trimmer and ledger are dropped on this thread), and the copies of the others' descriptors go with the thread.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}

/// Binds the calling thread.
fn pin(cpus: &[u32]) -> Result<(), StepFailure> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; CPU_SET and the call stay within it (`cpu` is checked).
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as u32) {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if done == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(refused(
        format!("placement on CPUs {cpus:?}"),
        format!("sched_setaffinity: {error}"),
        "name CPUs that exist, are online and are allowed to this process (see `fathom inspect`)",
    ))
}

fn set_up(plan: &WorkerPlan, lines: Lines) -> Result<Hot, StepFailure> {
    let step = &plan.step;
    let workload = &step.workload;
    let depth = plan.limits.queue_depth;
    let mut rng = Rng::new(step.seed, u64::from(plan.index));
    let slot_bytes = workload.block_bytes_max() as usize;
    let mut area = Area::new(depth as usize, slot_bytes).map_err(|source| StepFailure::Failed {
        what: format!("allocating {depth} I/O buffers of {slot_bytes} bytes for thread {}", plan.index),
        source,
        help: "use fewer threads, a smaller queue depth or a smaller block size".to_owned(),
    })?;
    let offset_seed = rng.next_u64();
    let offsets = Offsets::new(workload.pattern, plan.span, offset_seed, step.length.passes)
        .map_err(|why| refused(format!("pattern of step {}", step.index), why, "choose another parameter"))?;
    let content = Content::new(workload.data, step.seed, &mut rng);
    let used_ops = ops_of(workload.mix);
    if workload.mix.write_pct > 0 {
        content.fill(&mut area, depth, &mut rng);
    }
    Ok(Hot {
        index: plan.index,
        clock: Clock::get(),
        shared: lines.shared,
        to_collector: lines.to_collector,
        spare_tallies: lines.spare_tallies,
        area,
        offsets,
        draw: Draw::new(workload.mix, &workload.block_sizes),
        rng,
        content,
        trimmer: if workload.mix.trim_pct > 0 { Some(Trimmer::new(&plan.target)?) } else { None },
        ledger: Ledger::for_step(plan, step)?,
        arrivals: None,
        limits: plan.limits,
        used_ops,
        state: State::new(depth, used_ops),
    })
}

fn run_on<B: Backend>(plan: &WorkerPlan, mut hot: Hot, mut backend: B) -> Result<(), StepFailure> {
    // Before the start, which must find the thread waiting.
    let migrations_before = migrations();
    let ready = Message::Ready { features: features_of(plan, &backend) };
    if hot.to_collector.send(ready).is_err() {
        return Ok(());
    }
    let window = hot.shared.wait_stage(|stage| match stage {
        Stage::Prepare => None,
        Stage::Run(window) => Some(Some(window)),
        Stage::Release | Stage::Abandon => Some(None),
    });
    let Some(window) = window else { return Ok(()) };
    let ran = run_loop(plan, &mut hot, &mut backend, window);
    let to_collector = hot.to_collector.clone();
    let mut summary = summarise(&mut hot, ran.err());
    summary.migrations = migrations().zip(migrations_before).and_then(|(now, before)| now.checked_sub(before));
    let _ = to_collector.send(Message::Drained { worker: plan.index, summary: Box::new(summary) });
    let released = hot.shared.wait_stage(|stage| match stage {
        Stage::Prepare | Stage::Run(_) => None,
        Stage::Release => Some(true),
        Stage::Abandon => Some(false),
    });
    if released && let Some(ledger) = hot.ledger.take() {
        let report = ledger.conclude(plan, &hot.shared)?;
        let _ = to_collector.send(Message::Verified(Box::new(report)));
    }
    // The engine goes first: its ring refers to the buffers.
    drop(backend);
    drop(hot);
    Ok(())
}

/// How often the scheduler moved the calling thread to another CPU (`se.nr_migrations` of its `sched` file); `None` on
/// kernels built without that file.
fn migrations() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/sched").ok()?;
    text.lines().find_map(|line| line.strip_prefix("se.nr_migrations")?.split_once(':')?.1.trim().parse().ok())
}

fn features_of<B: Backend>(plan: &WorkerPlan, backend: &B) -> Vec<FeatureUse> {
    let mut features = backend.features();
    let spec = plan.step.engine;
    if spec.paranoid {
        features.push(feature("paranoid", true, "every I/O stamped separately, submit and wait separate"));
    }
    features
}

fn run_loop<B: Backend>(plan: &WorkerPlan, hot: &mut Hot, backend: &mut B, window: Window) -> std::io::Result<()> {
    let paranoid = plan.step.engine.paranoid;
    let Some(rate) = plan.step.load.rate else {
        return if paranoid {
            hot.run::<B, false, true>(backend, window)
        } else {
            hot.run::<B, false, false>(backend, window)
        };
    };
    sharpen_timers();
    let iops = rate.iops / f64::from(plan.workers);
    // Threads take turns: the sum of their equal gaps is again a sequence of equal gaps.
    let first_ns = hot.clock.now() + (1e9 / rate.iops * f64::from(plan.index)) as u64;
    hot.arrivals = Some(Arrivals::new(iops, rate.process, first_ns, plan.intervals_max));
    if paranoid { hot.run::<B, true, true>(backend, window) } else { hot.run::<B, true, false>(backend, window) }
}

fn summarise(hot: &mut Hot, engine_error: Option<std::io::Error>) -> WorkerSummary {
    let outcome = std::mem::take(&mut hot.state.outcome);
    let end_ns = outcome.finished_ns.min(hot.shared.deadline_ns());
    WorkerSummary {
        finished_ns: outcome.finished_ns,
        first_submit_ns: outcome.first_submit_ns,
        passes_done: outcome.passes_done,
        gave_up: outcome.gave_up,
        totals: outcome.totals,
        ios: outcome.ios,
        passes: hot.offsets.passes(),
        in_flight_max: outcome.in_flight_max,
        in_flight_area: outcome.in_flight_area,
        in_flight_age_ns: outcome.in_flight_age_ns,
        cpus_seen: outcome.cpus_seen,
        migrations: None,
        failures: outcome.failures,
        stamp_error_ns: outcome.stamp_error_ns,
        submitted: (outcome.submitted_ios, outcome.submit_calls),
        open: hot.arrivals.as_ref().map(|arrivals| arrivals.summary(end_ns)),
        engine_error,
    }
}
