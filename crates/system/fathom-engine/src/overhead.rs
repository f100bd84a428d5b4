//! The loop's own cost: the same load on the `null` engine, once per process and load.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_plan::{BlockSize, DataPattern, OpMix, Pattern, Step};
use fathom_random::Rng;

use crate::backend::null::Null;
use crate::buffer::{Area, Buffers};
use crate::clock::{Clock, thread_cpu_ns};
use crate::data::Content;
use crate::draw::Draw;
use crate::hot::{Hot, Limits, Parts, Plain, State};
use crate::offsets::{Offsets, Span};
use crate::rig::Rig;
use crate::sequence::Sequences;
use crate::shared::{FromWorker, Shared, Window};

/// Blocks that calibration and NOP bench pretend to work on: 4 GiB of 4 KiB.
const BLOCKS: u64 = 1 << 20;
const BLOCK_BYTES: u32 = 4096;

/// Length of the calibration.
const CALIBRATION_NS: u64 = 20_000_000;

/// CPU time of the loop per I/O with `null`, nanoseconds, at the step's queue depth and batch; measured once per load.
pub(crate) fn loop_ns_per_io(step: &Step) -> f64 {
    static KNOWN: Mutex<BTreeMap<(u32, u32, u8), f64>> = Mutex::new(BTreeMap::new());
    let depth = if step.engine.name.is_synchronous() { 1 } else { step.load.queue_depth };
    let batch = step.load.batch_submit.unwrap_or(crate::check::BATCH_DEFAULT).clamp(1, depth);
    let writes = u8::from(step.workload.mix.write_pct > 0);
    let key = (depth, batch, writes);
    if let Some(&known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known;
    }
    let measured = calibrate(depth, batch, writes > 0);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key, measured);
    measured
}

fn calibrate(depth: u32, batch: u32, writes: bool) -> f64 {
    let clock = Clock::get();
    let shared = Arc::new(Shared::new(1));
    let (to_collector, _inbox) = channel();
    let bare = bare_hot(depth, batch, writes, shared.clone(), to_collector);
    let rig = bare.and_then(|(hot, area)| Ok((hot, Rig::new(area, |_| Ok::<_, io::Error>(Null::new(depth)))?)));
    let Ok((mut hot, mut rig)) = rig else { return 0.0 };
    let start_ns = clock.now();
    shared.end_by(start_ns + CALIBRATION_NS);
    let cpu_before = thread_cpu_ns();
    let window = Window { start_ns, interval_ns: u64::from(u32::MAX) };
    let ran = hot.run::<_, Plain>(&mut rig, window);
    let cpu_ns = thread_cpu_ns() - cpu_before;
    let ios = hot.state.outcome.ios;
    if ran.is_err() || ios == 0 { 0.0 } else { cpu_ns as f64 / ios as f64 }
}

/// A hot loop on no target and its buffers: 4 KiB random reads or writes over 4 GiB.
///
/// # Errors
/// When there is no memory for the buffers.
pub(crate) fn bare_hot(
    queue_depth: u32,
    batch: u32,
    writes: bool,
    shared: Arc<Shared>,
    to_collector: Sender<FromWorker>,
) -> io::Result<(Hot, Area)> {
    let span = Span { first_offset_bytes: 0, count: BLOCKS, unit_bytes: u64::from(BLOCK_BYTES) };
    let mix = if writes { OpMix::WRITE } else { OpMix::READ };
    let mut rng = Rng::new(1, 0);
    let used_ops = [!writes, writes, false, false];
    let (_spare_to, spare_tallies) = channel();
    let offsets = Offsets::new(Pattern::Random, span, 1, None).expect("no parameter to be wrong");
    let hot = Hot {
        index: 0,
        clock: Clock::get(),
        shared,
        to_collector,
        spare_tallies,
        buffers: Buffers::NONE,
        parts: Parts::new(offsets, Vec::new(), queue_depth, false),
        sequences: Sequences::default(),
        draw: Draw::new(mix, &[BlockSize { bytes: BLOCK_BYTES, share_pct: 100 }]),
        content: Content::new(DataPattern::default(), &[], 1, &mut rng),
        rng,
        trimmers: Vec::new(),
        ledgers: Vec::new(),
        arrivals: None,
        op_limits: None,
        pacer: None,
        search: None,
        marks: None,
        recorder: None,
        limits: Limits {
            queue_depth,
            batch_submit: batch,
            adaptive: false,
            batch_complete_min: 1,
            batch_complete_max: u32::MAX,
            sync: None,
            sync_at_end: false,
            syncs_stand_between: false,
        },
        used_ops,
        state: State::new(queue_depth, 1, used_ops),
    };
    Ok((hot, Area::new(queue_depth as usize, BLOCK_BYTES as usize)?))
}
