//! Times a run of 1,000 steps with 50 intervals each: commit, load step by step, load whole.
//!
//! `cargo run --release -p fathom-store --example thousand_steps`
#![allow(clippy::print_stdout, reason = "an example talks")]

#[path = "../tests/it/samples/mod.rs"]
mod samples;

use std::time::Instant;

use fathom_store::{Lab, StoreError};

const STEPS: u32 = 1000;
const INTERVALS: u64 = 50;
const SAMPLES: u64 = 2000;

fn main() -> Result<(), StoreError> {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut lab = Lab::open(&dir.path().join("fathom.db"))?;
    let plan = samples::plan(STEPS);
    let run = lab.begin_run(&samples::new_run(&plan))?;
    let record = samples::record(INTERVALS, SAMPLES);
    let start = Instant::now();
    for step in &plan.steps {
        lab.commit_step(run, step, Ok(&record))?;
    }
    let bytes = std::fs::metadata(lab.path()).expect("there").len();
    println!("commit       {:?}, {} MB", start.elapsed(), bytes / 1_000_000);
    let start = Instant::now();
    let mut intervals = 0;
    for step in lab.steps(run)? {
        intervals += step?.outcome.map_or(0, |r| r.intervals.len());
    }
    println!("step by step {:?}, {intervals} intervals", start.elapsed());
    let start = Instant::now();
    let loaded = lab.load_run(run)?;
    println!("whole        {:?}, {} steps", start.elapsed(), loaded.steps.len());
    Ok(())
}
