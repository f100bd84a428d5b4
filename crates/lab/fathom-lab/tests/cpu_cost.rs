//! The split of the CPU cost of real steps adds up to what /proc/stat says of the same window, and pollers are charged.

#![allow(clippy::print_stderr)] // Skipped parts say why.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions};
use fathom_host::{Binding, Bindings, HostSampler, Permit, Root};
use fathom_model::{CpuCost, cpu_cost};
use fathom_plan::{Knobs, Step, TargetId};
use fathom_record::{HostDelta, RunControl, Runner, StepRecord};

/// The unit in which user programs get CPU time.
const TICK_NS: u64 = 10_000_000;
const FILE_BYTES: usize = 64 << 20;

/// A reading of the first line of /proc/stat, which the sampler does not look at.
#[derive(Clone, Copy)]
struct Reading {
    at: Instant,
    /// Idle, iowait and steal time of all CPUs, which the kernel measures to the microsecond.
    not_busy_ns: u64,
}

impl Reading {
    fn now() -> Reading {
        let text = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let all = text.lines().next().and_then(|l| l.strip_prefix("cpu ")).expect("the line of all CPUs");
        let ticks: Vec<u64> = all.split_ascii_whitespace().map(|n| n.parse().expect("ticks")).collect();
        Reading { at: Instant::now(), not_busy_ns: [3, 4, 7].iter().map(|kind| ticks[*kind]).sum::<u64>() * TICK_NS }
    }

    /// Busy time of all CPUs since then: the time in which they were not idle.
    fn busy_ns_since(self) -> u64 {
        let now = Reading::now();
        let all_ns = (now.at - self.at).as_nanos() as u64 * cpus();
        all_ns.saturating_sub(now.not_busy_ns - self.not_busy_ns)
    }
}

fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

/// Fathom's sampler with a reading of our own at both ends of its window.
struct Both {
    sampler: HostSampler,
    first: Reading,
    busy_ns: Arc<Mutex<u64>>,
}

impl HostProbe for Both {
    fn begin(&mut self) {
        self.sampler.begin().expect("begins");
        self.first = Reading::now();
    }

    fn interval(&mut self) {
        self.sampler.interval().expect("an interval");
    }

    fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
        *self.busy_ns.lock().expect("no panic") = self.first.busy_ns_since();
        Some(self.sampler.finish(window_ns).expect("finishes"))
    }
}

fn step(target: &Path, engine: &str, mode: &str) -> Step {
    let mut knobs = Knobs::new();
    let settings = [
        ("rw", "randread"),
        ("bs", "4k"),
        ("ioengine", engine),
        ("mode", mode),
        ("iodepth", "8"),
        ("size", "64m"),
        ("runtime", "700ms"),
        ("ramp_time", "100ms"),
    ];
    for (key, value) in settings {
        knobs.set(key, value).unwrap_or_else(|e| panic!("{key}={value}: {e:?}"));
    }
    let target = TargetId::new(target.to_str().expect("UTF-8").to_owned());
    knobs.build(0, engine, &[target], &mut Vec::new()).expect("a step")
}

/// The record, and the busy time of the same window by our own reading.
fn measured(step: &Step) -> (StepRecord, u64) {
    let busy = Arc::new(Mutex::new(0));
    let sampler = HostSampler::new(&Root::live(), Vec::new()).expect("a sampler");
    let probe = Both { sampler, first: Reading::now(), busy_ns: busy.clone() };
    let permit = Permit { overwrite: true, ..Permit::NOTHING };
    let bind = |id: &TargetId| {
        let path = Path::new(id.as_str());
        let writes = step.workload.mix.is_destructive();
        Binding::existing(&Root::live(), id.clone(), path, writes, &permit).expect("the test's own")
    };
    let bindings: Bindings = step.targets.iter().filter(|id| !id.is_null()).map(bind).collect();
    let mut runner =
        HostRunner::new(HostRunnerOptions { bindings, probe: Some(Box::new(probe)), ..HostRunnerOptions::default() });
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    let record = runner.run(step, &mut control).expect("a record");
    let busy_ns = *busy.lock().expect("no panic");
    (record, busy_ns)
}

/// The record and its split; `None` if the split is not the time in which the CPUs were not idle.
fn adds_up(name: &str, step: &Step) -> Option<(StepRecord, CpuCost)> {
    let (record, busy_ns) = measured(step);
    let host = record.host.as_ref().expect("sampled");
    let cost = cpu_cost(host, record.ios()).expect("I/Os");
    let per_io = cost.user_ns_per_io + cost.system_ns_per_io + cost.irq_ns_per_io + cost.kernel_worker_ns_per_io;
    // Other programs that end meanwhile are not seen.
    let others_ns = cost.other_programs_cores.unwrap_or(0.0) * host.window_ns as f64;
    let sum_ns = per_io * record.ios() as f64 + others_ns;
    // The kernel cuts every figure to whole ticks: those of each CPU and kind, and those of all CPUs together.
    let allowed_ns = busy_ns as f64 * 0.05 + (2 * TICK_NS * cpus()) as f64 + 0.2 * others_ns;
    eprintln!("{name}: split {:.0} ms, not idle {} ms", sum_ns / 1e6, busy_ns / 1_000_000);
    let fits = busy_ns > 0 && (sum_ns - busy_ns as f64).abs() <= allowed_ns;
    fits.then_some((record, cost))
}

fn check_split(target: &Path, place: &str) {
    for (engine, mode) in
        [("psync", "interrupt"), ("libaio", "interrupt"), ("io_uring", "interrupt"), ("io_uring", "sqpoll")]
    {
        let name = format!("{engine} {mode} on {place}");
        // A program that ends during a step is missing from the split. It rarely disturbs three steps in a row.
        let (record, cost) = (0..3).find_map(|_| adds_up(&name, &step(target, engine, mode))).expect("adds up");
        let host = record.host.as_ref().expect("sampled");
        let poller_ns: u64 = host
            .threads
            .iter()
            .filter(|t| t.name.starts_with("iou-sqp"))
            .map(|t| {
                assert!(t.kernel, "{t:?}");
                t.user_ns + t.system_ns
            })
            .sum();
        if mode == "sqpoll" {
            assert!(poller_ns >= TICK_NS, "{name}: the poller ran {poller_ns} ns");
            // Interrupts that came while the poller ran count into its own time and are charged as interrupts; all is
            // given in whole ticks.
            let charged_ns = (cost.kernel_worker_ns_per_io + cost.irq_ns_per_io) * record.ios() as f64;
            assert!(
                charged_ns + (2 * TICK_NS) as f64 >= poller_ns as f64 * 0.99,
                "{name}: the poller ran {poller_ns} ns, {charged_ns} ns are charged: {cost:?}"
            );
        } else {
            assert_eq!(poller_ns, 0, "{name}");
        }
    }
}

/// A zram device of this test's own; removed when dropped.
struct Zram(String);

impl Zram {
    fn new() -> Result<Zram, std::io::Error> {
        let zram = Zram(fs::read_to_string("/sys/class/zram-control/hot_add")?.trim().to_owned());
        fs::write(format!("/sys/block/zram{}/disksize", zram.0), "64M")?;
        Ok(zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // The kernel says "busy" for a moment after the last close.
        for _ in 0..200 {
            if fs::write("/sys/class/zram-control/hot_remove", &self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        eprintln!("zram{} could not be removed", self.0);
    }
}

/// Tests that measure the whole host: they need a quiet one.
mod alone {
    use super::*;

    // One test, because the sampler counts the pollers of the whole process.
    #[test]
    fn the_split_adds_up_on_a_file_on_the_disk_and_on_a_device_in_memory() {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on a disk");
        let file = dir.path().join("fathom-cost.data");
        fs::write(&file, vec![7; FILE_BYTES]).expect("a file");
        fs::File::open(&file).and_then(|f| f.sync_all()).expect("synced");
        check_split(&file, "a file");
        match Zram::new() {
            Ok(zram) => check_split(&PathBuf::from(format!("/dev/zram{}", zram.0)), "zram"),
            Err(error) => eprintln!("skipped: no zram device can be made here: {error}"),
        }
    }
}
