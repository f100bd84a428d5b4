//! What rank 0 pays for many ranks: their records, of simulated machines, wait packed as they came, and are merged one by
//! one. Prints the time of the merge and the memory it took; part of `make bench`.
//!
//! thousand_ranks [RANKS] [SECONDS]
#![allow(clippy::print_stdout)] // What is measured is told.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fathom_lab::{packed_record, unpacked_record};
use fathom_plan::{Knobs, Plan, TargetId};
use fathom_record::{RankClock, RankHead, RankMerger, RunControl, Runner as _, StepRecord};
use fathom_sim::{SimRunner, builtin_machine};

/// Records that differ; each stands for many ranks.
const KINDS: u32 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let ranks: u32 = words.next().map_or(Ok(1000), |word| word.parse())?;
    let seconds: u64 = words.next().map_or(Ok(10), |word| word.parse())?;
    let kinds: Vec<Vec<u8>> = (0..KINDS)
        .map(|seed| Ok(packed_record(&simulated(seed, seconds)?)))
        .collect::<Result<_, Box<dyn std::error::Error>>>()?;
    let before = resident_bytes("VmRSS:")?;
    let waiting: Vec<Vec<u8>> = (0..ranks).map(|rank| kinds[(rank % KINDS) as usize].clone()).collect();
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
    let mut merger: Option<RankMerger> = None;
    for (rank, packed) in (0..ranks).zip(waiting) {
        let record = unpacked_record(&packed).ok_or("a record that was packed here can be read")?;
        let interval_ns = record.intervals.first().map_or(1, |interval| interval.length_ns);
        let heads = || (0..ranks).map(head).collect();
        merger.get_or_insert_with(|| RankMerger::new(heads(), interval_ns)).add(rank, record);
    }
    let whole = merger.and_then(|merger| merger.finish(Vec::new())).ok_or("there were ranks")?;
    let took = begun.elapsed();
    let peak = resident_bytes("VmHWM:")?;
    println!(
        "rank 0 with {ranks} simulated ranks, steps of {seconds} s: {} I/Os merged in {:.2} s; memory {:.0} MiB more at most, \
         {:.1} MiB of it records that wait",
        whole.ios(),
        took.as_secs_f64(),
        (peak.saturating_sub(before)) as f64 / f64::from(1 << 20),
        waiting_bytes as f64 / f64::from(1 << 20),
    );
    Ok(())
}

/// What a rank on a simulated machine hands over.
fn simulated(seed: u32, seconds: u64) -> Result<StepRecord, Box<dyn std::error::Error>> {
    let machine = builtin_machine("speed").map_err(|error| format!("{error:?}"))?;
    let mut knobs = Knobs::new();
    let runtime = format!("{seconds}s");
    for (key, value) in
        [("rw", "randread"), ("iodepth", "8"), ("numjobs", "2"), ("runtime", &runtime), ("seed", &seed.to_string())]
    {
        knobs.set(key, value).map_err(|error| format!("{error:?}"))?;
    }
    let plan = Plan::from_io_streams(vec![(knobs, vec![TargetId::new("sim:speed")])], "fathom io")
        .map_err(|e| format!("{e:?}"))?;
    let mut runner = SimRunner::new(machine, 0);
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    runner.run(&plan.steps[0], &mut control).map_err(|error| format!("{error:?}").into())
}

/// A line of /proc/self/status.
fn resident_bytes(key: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)).ok_or("the kernel tells of memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
