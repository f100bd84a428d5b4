//! Runs one step and prints its figures: for work on the hot loop.
//!
//! `spin TARGET[,TARGET...] ENGINE RW QD [RUNTIME_S] [key=value...]`, keys: cpu, batch, threads, spread, mode, bs, direct, rate, paranoid,
//! fixed, passes, ramp, verify. `spin nop QD BATCH [RUNTIME_S]` compares the NOP loops (with `--features bench`).
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "bench")]
use std::time::Duration;

#[cfg(feature = "bench")]
use fathom_engine::bench_nop;
use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::{Binding, Bindings, Permit, Root};
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, Load, Mode, OpMix, Pattern, Phase, Placement, Rate,
    RateProcess, Region, RunLength, Spread, Step, TargetId, Verify, Workload,
};
use fathom_record::{Latency, RunControl, Runner as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(feature = "bench")]
    if args.first().is_some_and(|word| word == "nop") {
        return nop(args[1].parse()?, args[2].parse()?, args.get(3).map_or(Ok(1.0), |s| s.parse())?);
    }
    let [target, engine, rw, depth, rest @ ..] = &args[..] else {
        return Err("usage: spin TARGET ENGINE RW QD [RUNTIME_S] [key=value...]".into());
    };
    let seconds: f64 = rest.first().filter(|word| !word.contains('=')).map_or(Ok(1.0), |s| s.parse())?;
    let key = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str, default: u32| key(name).map_or(Ok(default), str::parse);
    let engine = EngineName::ALL.into_iter().find(|e| e.as_str() == engine).ok_or("unknown engine")?;
    let mix = match &rw[..] {
        "randread" | "read" => OpMix::READ,
        "randwrite" | "write" => OpMix::WRITE,
        "randtrim" => OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 },
        _ => OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 },
    };
    let mode = match key("mode") {
        Some("iopoll") => Mode::Iopoll,
        Some("sqpoll") => Mode::Sqpoll,
        _ => Mode::Interrupt,
    };
    let mut length = RunLength::fixed((number("ramp", 0)?).into(), (seconds * 1e9) as u64);
    length.ramp_ns *= 1_000_000;
    length.passes = key("passes").map(str::parse).transpose()?;
    let step = Step {
        index: 0,
        label: args.join(" "),
        phase: Phase::Measure,
        group: "A".to_owned(),
        targets: target.split(',').map(TargetId::new).collect(),
        workload: Workload {
            mix,
            pattern: if rw.starts_with("rand") { Pattern::Random } else { Pattern::Sequential },
            block_sizes: vec![BlockSize { bytes: number("bs", 4096)?, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: key("verify").map(|_| Verify::Crc32c),
            direct: number("direct", 1)? == 1,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load {
            spread: match key("spread") {
                None => Spread::EachTarget,
                Some("targets") => Spread::Targets,
                Some(other) => return Err(format!("no spread: {other}").into()),
            },
            batch_submit: key("batch").map(str::parse).transpose()?,
            batch_complete_min: key("min").map(str::parse).transpose()?,
            rate: key("rate").map(str::parse).transpose()?.map(|iops| Rate { iops, process: RateProcess::Poisson }),
            op_rates: None,
            ..Load::closed(number("threads", 1)?, depth.parse()?)
        },
        engine: EngineSpec {
            name: engine,
            mode,
            fixed_buffers: number("fixed", 1)? == 1,
            fixed_files: number("fixed", 1)? == 1,
            paranoid: number("paranoid", 0)? == 1,
            ..EngineSpec::default()
        },
        memory: fathom_plan::MemoryPolicy::default(),
        placement: match key("cpu") {
            Some(cpu) => Placement::Cpus(vec![cpu.parse()?]),
            None => Placement::Unpinned,
        },
        length,
        seed: 1,
        role: fathom_plan::Role::default(),
    };
    run(&step)
}

fn run(step: &Step) -> Result<(), Box<dyn std::error::Error>> {
    let before = cpu_ns();
    let stop = AtomicBool::new(false);
    let permit = Permit { overwrite: true, ..Permit::NOTHING };
    let writes = step.workload.mix.is_destructive();
    let named = step.targets.iter().filter(|id| !id.is_null());
    let bound = named.map(|id| Binding::existing(&Root::live(), id.clone(), Path::new(id.as_str()), writes, &permit));
    let bindings = bound.collect::<Result<Bindings, _>>()?;
    let mut runner = HostRunner::new(HostRunnerOptions { bindings, ..HostRunnerOptions::default() });
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    let record = runner.run(step, &mut control)?;
    let after = cpu_ns();
    let ios = record.ios();
    let seconds = record.runtime_ns as f64 / 1e9;
    println!("{}", step.label);
    println!("  {:.0} IOPS, {ios} I/Os in {seconds:.3} s, errors {}", ios as f64 / seconds, record.errors());
    let per_io = |i: usize| (after[i] - before[i]) as f64 / ios.max(1) as f64;
    println!("  process: user {:.1} ns per I/O, system {:.1}", per_io(0), per_io(1));
    for d in &record.directions {
        for (name, lat) in [
            ("lat", Some(&d.lat)),
            ("slat", d.slat.as_ref()),
            ("clat", d.clat.as_ref()),
            ("service", d.service.as_ref()),
        ] {
            let Some(h) = lat.and_then(Latency::histogram) else { continue };
            let q = |q: f64| h.quantile(q).unwrap_or(0);
            println!(
                "  {:?} {name}: n {} mean {:.0} min {} p50 {} p99 {} p99.9 {} max {}",
                d.op,
                h.count(),
                h.mean_ns().unwrap_or(0.0),
                q(0.0),
                q(0.5),
                q(0.99),
                q(0.999),
                q(1.0)
            );
        }
    }
    let mean = record.lat_merged().and_then(|h| h.mean_ns()).unwrap_or(0.0);
    println!("  in flight {:?}, by Little's law {:.3}", record.in_flight_mean, ios as f64 / seconds * mean / 1e9);
    println!("  setup {:.1} ms, {:?}, {:?}", record.setup_ns as f64 / 1e6, record.overhead, record.clock);
    println!("  {:?}", record.threads.first());
    println!("  features {:?}", record.features.iter().map(|f| (f.name.to_string(), f.is_used())).collect::<Vec<_>>());
    println!("  {:?} {:?} {:?}\n  {:?}", record.failures, record.verify, record.open_loop, record.warnings);
    Ok(())
}

#[cfg(feature = "bench")]
fn nop(depth: u32, batch: u32, seconds: f64) -> Result<(), Box<dyn std::error::Error>> {
    for _ in 0..3 {
        let duration = Duration::from_secs_f64(seconds);
        let bare = bench_nop(depth, batch, duration, false)?.iops_per_core();
        let full = bench_nop(depth, batch, duration, true)?.iops_per_core();
        println!("bare {bare:.0}/s, hot loop {full:.0}/s, ratio {:.3}", full / bare);
    }
    Ok(())
}

/// User and system time of this process, nanoseconds, in clock ticks.
fn cpu_ns() -> [u64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0) * 10_000_000;
    [ticks(11), ticks(12)]
}
