//! What rank 0 pays for many ranks: their records, of simulated machines, have all come before the first of them has its
//! turn, and are read and merged one by one. Prints the time of that and the memory it took; part of `make bench`.
//!
//! thousand_ranks [RANKS] [SECONDS]
#![allow(clippy::print_stdout)] // What is measured is told.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fathom_engine::intervals_max;
use fathom_lab::{Unpacker, packed_record};
use fathom_plan::{Knobs, Plan, Step, TargetId};
use fathom_record::{CPU_ROWS_MAX, RankClock, RankHead, RankMerger, RunControl, Runner as _, StepRecord};
use fathom_sim::{SimRunner, builtin_machine};

/// Records that differ; each stands for many ranks.
const KINDS: u32 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let ranks: u32 = words.next().map_or(Ok(1000), |word| word.parse())?;
    let seconds: u64 = words.next().map_or(Ok(10), |word| word.parse())?;
    let (step, records) = simulated(seconds)?;
    let cpus = records[0].host.as_ref().map_or(0, |host| host.cpus.len() as u32).max(1);
    // As a rank does that was told that nobody will see what each of its CPUs did when.
    let without_rows = |mut record: StepRecord| {
        if let Some(host) = &mut record.host {
            host.drop_cpu_rows();
        }
        record
    };
    let with_rows: Vec<Vec<u8>> = records.iter().cloned().map(packed_record).collect();
    let without: Vec<Vec<u8>> = records.into_iter().map(|record| packed_record(without_rows(record))).collect();
    let before = resident_bytes("VmRSS:")?;
    let packed = |rank: u32| if (rank + 1) * cpus <= CPU_ROWS_MAX { &with_rows } else { &without };
    let waiting: Vec<Vec<u8>> = (0..ranks).map(|rank| packed(rank)[(rank % KINDS) as usize].clone()).collect();
    let waiting_bytes: usize = waiting.iter().map(Vec::len).sum();
    let begun = Instant::now();
    let head = |rank: u32| RankHead {
        rank,
        host: format!("node{rank}"),
        host_id: rank.to_string(),
        clock: RankClock { offset_ns: i64::from(rank) * 1000, bound_ns: 5000 },
        window_start_ns: 1_000_000_000 + u64::from(rank) * 1000,
        runtime_ns: seconds * 1_000_000_000,
    };
    let (mut unpacker, mut merger) = (Unpacker::new(intervals_max(&step)), RankMerger::new(intervals_max(&step)));
    for (rank, packed) in (0..ranks).zip(waiting) {
        let (record, slices) = unpacker.unpack(&packed)?;
        merger.add(head(rank), record, slices).map_err(|elsewhere| format!("{elsewhere:?}"))?;
    }
    let whole = merger.finish(Vec::new()).ok_or("there were ranks")?;
    let took = begun.elapsed();
    let peak = resident_bytes("VmHWM:")?;
    println!(
        "rank 0 with {ranks} simulated ranks of {cpus} CPUs, steps of {seconds} s: {} I/Os merged in {:.2} s; memory {:.0} \
         MiB more at most, {:.1} MiB of it records that wait",
        whole.ios(),
        took.as_secs_f64(),
        (peak.saturating_sub(before)) as f64 / f64::from(1 << 20),
        waiting_bytes as f64 / f64::from(1 << 20),
    );
    Ok(())
}

/// What ranks on simulated machines hand over, and their step.
fn simulated(seconds: u64) -> Result<(Step, Vec<StepRecord>), Box<dyn std::error::Error>> {
    let mut steps = Vec::new();
    let mut records = Vec::new();
    for seed in 0..KINDS {
        let machine = builtin_machine("speed").map_err(|error| format!("{error:?}"))?;
        let mut knobs = Knobs::new();
        let runtime = format!("{seconds}s");
        for (key, value) in
            [("rw", "randread"), ("iodepth", "8"), ("numjobs", "2"), ("runtime", &runtime), ("seed", &seed.to_string())]
        {
            knobs.set(key, value).map_err(|error| format!("{error:?}"))?;
        }
        let mut plan = Plan::from_io_streams(vec![(knobs, vec![TargetId::new("sim:speed")])], "fathom io")
            .map_err(|e| format!("{e:?}"))?;
        let step = plan.steps.remove(0);
        let mut runner = SimRunner::new(machine, 0);
        let stop = AtomicBool::new(false);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        records.push(runner.run(&step, &mut control).map_err(|error| format!("{error:?}"))?);
        steps.push(step);
    }
    Ok((steps.remove(0), records))
}

/// A line of /proc/self/status.
fn resident_bytes(key: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)).ok_or("the kernel tells of memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
