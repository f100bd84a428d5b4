//! The loop's own cost: the same load on the `null` engine, once per process and load.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use fathom_plan::Step;

use crate::backend::null::Null;
use crate::bench::bare_hot;
use crate::clock::{Clock, thread_cpu_ns};
use crate::shared::{Shared, Window};

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
    let shared = Arc::new(Shared::new());
    let (to_collector, _inbox) = channel();
    let Ok(mut hot) = bare_hot(depth, batch, writes, shared.clone(), to_collector) else { return 0.0 };
    let mut null = Null::new(depth);
    let start_ns = clock.now();
    shared.end_by(start_ns + CALIBRATION_NS);
    let cpu_before = thread_cpu_ns();
    let window = Window { start_ns, interval_ns: u64::from(u32::MAX) };
    let ran = hot.run::<_, false, false>(&mut null, window);
    let cpu_ns = thread_cpu_ns() - cpu_before;
    let ios = hot.state.outcome.ios;
    if ran.is_err() || ios == 0 { 0.0 } else { cpu_ns as f64 / ios as f64 }
}
