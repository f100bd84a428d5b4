//! Simulated I/Os per second of wall time: `cargo run --release -p fathom-sim --example speed [DRIVES] [VIRTUAL_SECONDS]`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fathom_plan::{Knobs, Plan, TargetId};
use fathom_record::{RunControl, Runner};
use fathom_sim::{SimRunner, builtin_machine};

fn main() {
    let mut args = std::env::args().skip(1);
    let drives: u32 = args.next().map_or(1, |a| a.parse().expect("DRIVES is a number"));
    let seconds: String = args.next().unwrap_or_else(|| "1".to_owned());
    let machine = builtin_machine("speed").expect("it is shipped");
    for (threads, depth) in [("1", "1"), ("1", "32"), ("8", "32")] {
        let mut knobs = Knobs::new();
        for (key, value) in
            [("numjobs", threads), ("iodepth", depth), ("ioengine", "io_uring"), ("runtime", &format!("{seconds}s"))]
        {
            knobs.set(key, value).expect("these are knobs");
        }
        let targets = (0..drives).map(|d| TargetId::new(format!("sim:speed/nvme-{d}"))).collect();
        let plan = Plan::from_io(&knobs, targets, "speed").expect("this is a plan");
        let mut runner = SimRunner::new(machine.clone(), 0);
        let stop = AtomicBool::new(false);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        let begun = Instant::now();
        let record = runner.run(&plan.steps[0], &mut control).expect("it runs");
        let wall = begun.elapsed().as_secs_f64();
        let truth = runner.truth().expect("it ran");
        println!(
            "{drives} drives T{threads} QD{depth}: {} I/Os in {wall:.2} s = {:.2} M/s, {:.1} events per I/O, {:.0} IOPS virtual",
            record.ios(),
            record.ios() as f64 / wall / 1e6,
            truth.events as f64 / record.ios() as f64,
            record.ios() as f64 / (record.runtime_ns as f64 / 1e9),
        );
    }
}
