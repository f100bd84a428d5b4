//! `bench-nop` and `bench-bare`: what the kernel can do, with and without our recording. `bench-sampler`: our own cost.

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_host::inspect::Inventory;
use fathom_host::{HostSampler, ProbeError, Root};
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

/// Samples all drives of the machine below `root` once a second and prints the CPU time that took as JSON.
pub(crate) fn sampler(root: Option<&Path>, seconds: u32) -> Result<Exit, Problem> {
    let failed = |e: ProbeError| Problem::new(Exit::Failed, e.to_string(), "--root names a folder with proc and sys");
    let root = root.map_or_else(Root::live, Root::new);
    let drives: Vec<String> = Inventory::read(&root).drives.into_iter().map(|d| d.device.name).collect();
    let mut sampler = HostSampler::new(&root, drives).map_err(failed)?;
    let begun = Instant::now();
    sampler.begin().map_err(failed)?;
    for _ in 0..seconds.max(1) {
        std::thread::sleep(Duration::from_secs(1));
        sampler.interval().map_err(failed)?;
    }
    let window_ns = begun.elapsed().as_nanos() as u64;
    let delta = sampler.finish(window_ns).map_err(failed)?;
    result(&to_json(&serde_json::json!({
        "cpus": delta.cpus.len(), "drives": delta.disks.len(), "vectors": delta.vectors.len(),
        "threads": delta.threads.len(), "drives_watched": delta.drives.len(),
        "window_ns": window_ns, "sampler_ns": delta.sampler_ns,
        "share_of_core_pct": delta.sampler_ns as f64 / window_ns as f64 * 100.0,
    })));
    Ok(Exit::Done)
}

fn duration_of(seconds: f64) -> Result<Duration, Problem> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|d| !d.is_zero())
        .ok_or_else(|| Problem::usage(format!("--seconds {seconds} is no time"), "give a few seconds, for example 1"))
}
