//! The loop measured against itself: io_uring NOPs with and without everything the hot loop does.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fathom_plan::{BlockSize, DataPattern, EngineSpec, OpMix, Pattern};
use fathom_record::StepFailure;
use io_uring::opcode;

use crate::backend::refused;
use crate::backend::uring::NopRing;
use crate::buffer::Area;
use crate::clock::{Clock, thread_cpu_ns};
use crate::data::Content;
use crate::draw::Draw;
use crate::hot::{Hot, Limits, State};
use crate::offsets::{Offsets, Span};
use crate::rng::Rng;
use crate::shared::{Message, Shared, Window};
use crate::tally::ops_of;

/// Blocks that calibration and NOP bench pretend to work on: 4 GiB of 4 KiB.
const BLOCKS: u64 = 1 << 20;
const BLOCK_BYTES: u32 = 4096;

/// What one NOP bench gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NopRate {
    /// NOPs completed.
    pub ios: u64,
    /// Over this time.
    pub elapsed_ns: u64,
    /// CPU time of the thread meanwhile. The loops never sleep, so on a shared CPU this is the fairer divisor.
    pub cpu_ns: u64,
}

impl NopRate {
    /// NOPs per second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.ios as f64 / (self.elapsed_ns.max(1) as f64 / 1e9)
    }

    /// NOPs per second of CPU time.
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
) -> Result<NopRate, StepFailure> {
    if queue_depth == 0 || queue_depth > crate::check::QUEUE_DEPTH_MAX || batch == 0 {
        let why = format!("queue depth must be 1 to {}, the batch at least 1", crate::check::QUEUE_DEPTH_MAX);
        return Err(refused(format!("NOP bench with queue depth {queue_depth}, batch {batch}"), why, "choose others"));
    }
    let batch = batch.min(queue_depth);
    let ring = NopRing::new(queue_depth, EngineSpec::default())?;
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let rate = if record_latency {
        through_hot_loop(queue_depth, batch, duration_ns, ring)
    } else {
        bare(queue_depth, batch, duration_ns, ring)
    };
    rate.map_err(|source| StepFailure::Failed { what: "NOP bench".to_owned(), source, help: String::new() })
}

fn through_hot_loop(queue_depth: u32, batch: u32, duration_ns: u64, mut ring: NopRing) -> io::Result<NopRate> {
    let clock = Clock::get();
    let shared = Arc::new(Shared::new());
    let (to_collector, _inbox) = channel();
    let mut hot = bare_hot(queue_depth, batch, false, shared.clone(), to_collector)?;
    let start_ns = clock.now();
    shared.end_by(start_ns.saturating_add(duration_ns));
    let cpu_before_ns = thread_cpu_ns();
    hot.run::<_, false, false>(&mut ring, Window { start_ns, interval_ns: 100_000_000 })?;
    let cpu_ns = thread_cpu_ns() - cpu_before_ns;
    Ok(NopRate { ios: hot.state.outcome.ios, elapsed_ns: duration_ns, cpu_ns })
}

fn bare(queue_depth: u32, batch: u32, duration_ns: u64, mut ring: NopRing) -> io::Result<NopRate> {
    let clock = Clock::get();
    let nop = opcode::Nop::new().build();
    let (start_ns, cpu_before_ns) = (clock.now(), thread_cpu_ns());
    let (mut in_flight, mut ios) = (0, 0_u64);
    loop {
        let count = batch.min(queue_depth - in_flight);
        for _ in 0..count {
            ring.push_entry(&nop);
        }
        in_flight += count;
        // Wait only when no more can be submitted, as the hot loop does.
        ring.submit_and_wait_for(u32::from(in_flight == queue_depth))?;
        let done = ring.count_done();
        in_flight -= done;
        ios += u64::from(done);
        let elapsed_ns = clock.now() - start_ns;
        if elapsed_ns >= duration_ns {
            return Ok(NopRate { ios, elapsed_ns, cpu_ns: thread_cpu_ns() - cpu_before_ns });
        }
    }
}

/// A hot loop on no target: 4 KiB random reads or writes over 4 GiB.
///
/// # Errors
/// When there is no memory for the buffers.
pub(crate) fn bare_hot(
    queue_depth: u32,
    batch: u32,
    writes: bool,
    shared: Arc<Shared>,
    to_collector: Sender<Message>,
) -> io::Result<Hot> {
    let span = Span { first_offset_bytes: 0, count: BLOCKS, unit_bytes: u64::from(BLOCK_BYTES) };
    let mix = if writes { OpMix::WRITE } else { OpMix::READ };
    let mut rng = Rng::new(1, 0);
    let used_ops = ops_of(mix);
    let (_spare_to, spare_tallies) = channel();
    Ok(Hot {
        index: 0,
        clock: Clock::get(),
        shared,
        to_collector,
        spare_tallies,
        area: Area::new(queue_depth as usize, BLOCK_BYTES as usize)?,
        offsets: Offsets::new(Pattern::Random, span, 1, None).map_err(io::Error::other)?,
        draw: Draw::new(mix, &[BlockSize { bytes: BLOCK_BYTES, share_pct: 100 }]),
        content: Content::new(DataPattern { compress_pct: 0, dedupe_pct: 0 }, 1, &mut rng),
        rng,
        trimmer: None,
        ledger: None,
        arrivals: None,
        limits: Limits { queue_depth, batch_submit: batch, batch_complete_min: 1 },
        used_ops,
        state: State::new(queue_depth, used_ops),
    })
}
