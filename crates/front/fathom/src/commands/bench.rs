//! `bench-nop` and `bench-bare`: what the kernel can do, with and without our recording.

use std::time::Duration;

use fathom_plan::{KnobError, Knobs, Target};

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::terminal::result;

/// Legs of each kind; they alternate, so that a slow second hits both.
const LEGS: u32 = 2;

/// Runs both legs and prints their rates as JSON.
pub(crate) fn nop(iodepth: u32, batch: u32, seconds: f64) -> Result<Exit, Problem> {
    let duration = duration_of(seconds)?;
    let leg = |record: bool| {
        // By CPU time: on a shared machine wall time would measure the neighbours.
        fathom_engine::bench_nop(iodepth, batch, duration / LEGS, record)
            .map(|rate| rate.iops_per_core())
            .map_err(|e| Problem::new(Exit::Failed, e.to_string(), "io_uring must be allowed here"))
    };
    let (mut recorded, mut bare) = (0.0, 0.0);
    for _ in 0..LEGS {
        recorded += leg(true)? / f64::from(LEGS);
        bare += leg(false)? / f64::from(LEGS);
    }
    result(&to_json(&serde_json::json!({ "recorded_iops": recorded, "bare_iops": bare })));
    Ok(Exit::Done)
}

/// Runs the bare loop and prints its rate as JSON.
pub(crate) fn bare(target: &str, engine: &str, iodepth: &str, seconds: f64) -> Result<Exit, Problem> {
    let usage = |e: KnobError| Problem::usage(e.message.clone(), e.help.clone().unwrap_or_default());
    let mut knobs = Knobs::new();
    for (key, value) in [("rw", "randread"), ("bs", "4k"), ("ioengine", engine), ("iodepth", iodepth)] {
        knobs.set(key, value).map_err(usage)?;
    }
    let step = knobs.build(0, "bare", vec![Target { path: target.to_owned() }], &mut Vec::new()).map_err(usage)?;
    let rate = fathom_engine::bench_bare_reads(&step, duration_of(seconds)?)
        .map_err(|e| Problem::new(Exit::Failed, e.to_string(), "see fathom io with the same target and engine"))?;
    result(&to_json(&serde_json::json!({ "iops": rate.iops() })));
    Ok(Exit::Done)
}

fn duration_of(seconds: f64) -> Result<Duration, Problem> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|d| !d.is_zero())
        .ok_or_else(|| Problem::usage(format!("--seconds {seconds} is no time"), "give a few seconds, for example 1"))
}
