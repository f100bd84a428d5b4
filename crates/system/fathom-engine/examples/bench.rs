//! What the kernel can do, with and without our recording, and our own cost: for `bench/side_by_side.py`.
//!
//! - `bench-nop [--iodepth 128] [--batch 32] [--seconds 1]`: io_uring NOPs by the bare loop and by the hot loop;
//! - `bench-bare --target PATH --engine NAME [--iodepth 1] [--seconds 1]`: random 4k reads by a bare loop;
//! - `bench-sampler [--root DIR] [--seconds 5]`: samples a machine once a second;
//! - `bench-nvme [--iodepth 32] [--seconds 1]`: reads through the driver of NVMe, against a controller in memory;
//! - `bench-parity [--seconds 1]`: P and Q of RAID 6 over eight columns of 64 KiB, beside a copy of memory.
//!
//! Each prints JSON.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use fathom_engine::{bench_bare_reads, bench_driver, bench_nop, bench_parity};
use fathom_host::{Binding, Bindings, HostSampler, Permit, Root};
use fathom_inspect::Inventory;
use fathom_language::english;
use fathom_message::Say;
use fathom_plan::{Knobs, TargetId};
use serde_json::{Value, json};

/// Legs of each kind; they alternate, so that a slow second hits both.
const LEGS: u32 = 2;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [command, flags @ ..] = &args[..] else {
        return Err("bench-nop, bench-bare, bench-nvme, bench-sampler or bench-parity?".into());
    };
    let flags = Flags::parse(flags)?;
    let result = match &command[..] {
        "bench-nop" => nop(&flags)?,
        "bench-bare" => bare(&flags)?,
        "bench-nvme" => nvme(&flags)?,
        "bench-sampler" => sampler(&flags)?,
        "bench-parity" => parity(&flags)?,
        other => {
            return Err(format!("{other}: bench-nop, bench-bare, bench-nvme, bench-sampler or bench-parity?").into());
        }
    };
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}

/// `--name value` or `--name=value`.
struct Flags(Vec<(String, String)>);

impl Flags {
    fn parse(words: &[String]) -> Outcome<Flags> {
        let mut words = words.iter();
        let mut flags = Vec::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| format!("{word}: not a flag"))?;
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, value),
                None => (name, &words.next().ok_or_else(|| format!("{word} without a value"))?[..]),
            };
            flags.push((name.to_owned(), value.to_owned()));
        }
        Ok(Flags(flags))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| &value[..])
    }

    fn required(&self, name: &str) -> Outcome<&str> {
        self.text(name).ok_or_else(|| format!("--{name} is missing").into())
    }

    fn number<T: FromStr>(&self, name: &str, default: T) -> Outcome<T> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("--{name} {text}: not a number").into())
    }

    fn duration(&self) -> Outcome<Duration> {
        let duration = Duration::try_from_secs_f64(self.number("seconds", 1.0)?)?;
        if duration.is_zero() { Err("--seconds: give a few, for example 1".into()) } else { Ok(duration) }
    }
}

fn said(error: &impl Say) -> Box<dyn Error> {
    english(&error.message()).into()
}

/// Both legs and their rates.
fn nop(flags: &Flags) -> Outcome<Value> {
    let (iodepth, batch) = (flags.number("iodepth", 128)?, flags.number("batch", 32)?);
    let duration = flags.duration()? / LEGS;
    // By CPU time: on a shared machine wall time would measure the neighbours.
    let leg = |record| bench_nop(iodepth, batch, duration, record).map(|rate| rate.iops_per_core());
    let (mut recorded, mut bare) = (0.0, 0.0);
    for _ in 0..LEGS {
        recorded += leg(true).map_err(|e| said(&e))? / f64::from(LEGS);
        bare += leg(false).map_err(|e| said(&e))? / f64::from(LEGS);
    }
    Ok(json!({ "recorded_iops": recorded, "bare_iops": bare }))
}

/// The rate of the bare loop.
fn bare(flags: &Flags) -> Outcome<Value> {
    let (target, engine) = (flags.required("target")?, flags.required("engine")?);
    let iodepth = flags.text("iodepth").unwrap_or("1");
    let mut knobs = Knobs::new();
    for (key, value) in [("rw", "randread"), ("bs", "4k"), ("ioengine", engine), ("iodepth", iodepth)] {
        knobs.set(key, value).map_err(|e| english(&e.message))?;
    }
    let id = TargetId::new(target.to_owned());
    let step = knobs.build(0, "bare", std::slice::from_ref(&id), &mut Vec::new()).map_err(|e| english(&e.message))?;
    let binding = Binding::existing(&Root::live(), id, Path::new(target), false, &Permit::NOTHING);
    let bindings: Bindings = [binding.map_err(|e| english(&e.message))?].into_iter().collect();
    let rate = bench_bare_reads(&step, &bindings, flags.duration()?).map_err(|e| said(&e))?;
    Ok(json!({ "iops": rate.iops() }))
}

/// GB/s of data whose P and Q one thread computes, for each set of instructions.
fn nvme(flags: &Flags) -> Outcome<Value> {
    let cost = bench_driver(flags.number("iodepth", 32)?, flags.duration()?).map_err(|e| english(&e.message()))?;
    Ok(json!({ "ios": cost.ios, "ns_per_io": cost.ns_per_io }))
}

fn parity(flags: &Flags) -> Outcome<Value> {
    let (rates, copy) = bench_parity(flags.duration()?);
    let row = |rate: &fathom_engine::ParityRate| {
        json!({
            "instructions": rate.instructions,
            "cached_gb_per_s": rate.cached_bytes_per_s / 1e9,
            "from_memory_gb_per_s": rate.memory_bytes_per_s / 1e9,
            "modify_gb_per_s": rate.modify_bytes_per_s / 1e9,
        })
    };
    let all = fathom_host::memory_bytes_per_s(&Root::live()).map(|rate| rate as f64 / 1e9);
    Ok(json!({
        "p_and_q": rates.iter().map(row).collect::<Vec<_>>(),
        "copy_by_one_thread_gb_per_s": copy / 1e9, "copy_by_all_cpus_gb_per_s": all,
    }))
}

/// The CPU time that sampling all drives of the machine below `--root` once a second takes.
fn sampler(flags: &Flags) -> Outcome<Value> {
    let root = flags.text("root").map_or_else(Root::live, |root| Root::new(Path::new(root)));
    let drives: Vec<String> = Inventory::read(&root).drives.into_iter().map(|d| d.device.name).collect();
    let mut sampler = HostSampler::new(&root, drives)?;
    let begun = Instant::now();
    sampler.begin()?;
    for _ in 0..flags.number("seconds", 5)?.max(1) {
        std::thread::sleep(Duration::from_secs(1));
        sampler.interval()?;
    }
    let window_ns = begun.elapsed().as_nanos() as u64;
    let delta = sampler.finish(window_ns)?;
    Ok(json!({
        "cpus": delta.cpus.len(), "drives": delta.disks.len(), "vectors": delta.vectors.len(),
        "threads": delta.threads.len(), "drives_watched": delta.drives.len(),
        "window_ns": window_ns, "sampler_ns": delta.sampler_ns,
        "share_of_core_pct": delta.sampler_ns as f64 / window_ns as f64 * 100.0,
    }))
}
