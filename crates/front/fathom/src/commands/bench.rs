//! `bench-nop`: what the kernel's ring can do, with and without our recording.

use std::time::Duration;

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::terminal::result;

/// Legs of each kind; they alternate, so that a slow second hits both.
const LEGS: u32 = 2;

/// Runs both legs and prints their rates as JSON.
pub(crate) fn nop(iodepth: u32, batch: u32, seconds: f64) -> Result<Exit, Problem> {
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero()).ok_or_else(|| {
        Problem::usage(format!("--seconds {seconds} is no time"), "give a few seconds, for example 1")
    })?;
    let leg = |record: bool| {
        fathom_engine::bench_nop(iodepth, batch, duration / LEGS, record)
            .map(|rate| rate.iops())
            .map_err(|e| Problem::new(Exit::Failed, format!("io_uring NOP: {e}"), "io_uring must be allowed here"))
    };
    let (mut recorded, mut bare) = (0.0, 0.0);
    for _ in 0..LEGS {
        recorded += leg(true)? / f64::from(LEGS);
        bare += leg(false)? / f64::from(LEGS);
    }
    result(&to_json(&serde_json::json!({ "recorded_iops": recorded, "bare_iops": bare })));
    Ok(Exit::Done)
}
