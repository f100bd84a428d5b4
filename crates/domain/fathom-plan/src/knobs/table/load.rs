//! How much is asked at once, and from which CPUs.

use fathom_message::msg;
use fathom_units::format_cpu_list;

use super::super::rates::op_rates_text;
use super::super::spec::{Fio, Flag, Kind, KnobSpec, knob};
use super::super::{QUEUE_DEPTH_MAX, RATE_IOPS_MAX, THREADS_MAX, parse, value};
use crate::stage::Written;
use crate::step::{Placement, Rate, RateProcess, Step};

/// fio's batch for a step that names none: Fathom then submits one by one to all but the fastest devices.
const FIO_BATCH_DEFAULT: u32 = 1;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "numjobs",
        Kind::Number,
        "4",
        msg!("knob-numjobs"),
        |k, v| {
            k.threads = Some(value::bounded(v, 1, THREADS_MAX)?);
            Ok(())
        },
        |s| Some(s.load.threads.to_string()),
    )
    .aliases(&["threads"])
    .fio(Fio::SAME.with_others())
    .flag(Flag::new("threads").aliases(&["numjobs"]).default("1")),
    knob(
        "spread",
        Kind::Word,
        "targets",
        msg!("knob-spread"),
        |k, v| {
            k.spread = Some(parse::parse_spread(v)?);
            Ok(())
        },
        |s| Some(s.load.spread).filter(|spread| !spread.is_default()).map(|spread| spread.as_str().to_owned()),
    )
    .flag(Flag::new("spread").default("each_target")),
    knob(
        "iodepth",
        Kind::Number,
        "32",
        msg!("knob-iodepth"),
        |k, v| {
            k.queue_depth = Some(value::bounded(v, 1, QUEUE_DEPTH_MAX)?);
            Ok(())
        },
        |s| Some(s.load.queue_depth.to_string()),
    )
    .aliases(&["queue_depth", "qd"])
    .fio(Fio::SAME.with_others())
    .flag(Flag::new("iodepth").default("1")),
    knob(
        "load",
        Kind::Word,
        "4x32",
        msg!("knob-load"),
        |k, v| {
            let (threads, depth) = parse::parse_load(v)?;
            k.threads = Some(threads);
            k.queue_depth = Some(depth);
            Ok(())
        },
        // numjobs and iodepth say it.
        |_| None,
    ),
    knob(
        "iodepth_batch_submit",
        Kind::Number,
        "16",
        msg!("knob-iodepth-batch-submit"),
        |k, v| {
            k.batch_submit = Some(value::bounded(v, 1, QUEUE_DEPTH_MAX)?);
            Ok(())
        },
        |s| s.load.batch_submit.map(|n| n.to_string()),
    )
    .aliases(&["iodepth_batch"])
    .fio(Fio::SAME.aliases(&["iodepth_batch"]).value(|s| {
        is_asynchronous(s).then(|| s.load.batch_submit.unwrap_or(FIO_BATCH_DEFAULT).min(s.load.queue_depth).to_string())
    })),
    knob(
        "iodepth_batch_complete_min",
        Kind::Number,
        "1",
        msg!("knob-iodepth-batch-complete-min"),
        |k, v| {
            k.batch_complete_min = Some(value::bounded(v, 0, QUEUE_DEPTH_MAX)?);
            Ok(())
        },
        |s| s.load.batch_complete_min.map(|n| n.to_string()),
    )
    .aliases(&["iodepth_batch_complete"])
    .fio(
        Fio::SAME
            .aliases(&["iodepth_batch_complete"])
            .value(|s| is_asynchronous(s).then(|| s.load.batch_complete_min.unwrap_or(1).to_string())),
    ),
    knob(
        "iodepth_batch_complete_max",
        Kind::Number,
        "16",
        msg!("knob-iodepth-batch-complete-max"),
        |k, v| {
            k.batch_complete_max = Some(value::bounded(v, 0, QUEUE_DEPTH_MAX)?);
            Ok(())
        },
        |s| s.load.batch_complete_max.map(|n| n.to_string()),
    )
    // Fathom reaps all that is ready; fio reaps no more than the least without this.
    .fio(
        Fio::SAME
            .value(|s| is_asynchronous(s).then(|| s.load.batch_complete_max.unwrap_or(s.load.queue_depth).to_string())),
    ),
    knob(
        "batching",
        Kind::Word,
        "t/io_uring",
        msg!("knob-batching"),
        |k, v| {
            (k.batch_submit, k.batch_complete_min) = parse::parse_batching(v)?;
            Ok(())
        },
        // The two above say it.
        |_| None,
    )
    .flag(Flag::new("batching").default("adaptive")),
    knob(
        "rate_iops",
        Kind::Rate,
        "20k",
        msg!("knob-rate-iops"),
        |k, v| {
            if v.contains(',') {
                return k.rate_ops(v);
            }
            k.rate_of_ops = None;
            let is_share = v.trim().ends_with('%');
            k.rate_iops = if is_share { None } else { Some(value::rate_iops(v, RATE_IOPS_MAX)?) };
            k.rate_share_pct = if is_share { Some(parse::parse_rate_share(v)?) } else { None };
            Ok(())
        },
        |s| match s.role.rate_share {
            // The stages say it.
            _ if !s.role.stages.is_empty() => None,
            Some(share) => Some(format!("{}%", share.pct)),
            None => match s.load.op_rates {
                Some(rates) => Some(op_rates_text(rates, |iops| iops.to_string())),
                None => s.load.rate.map(|rate| rate.iops.to_string()),
            },
        },
    )
    .aliases(&["rate"])
    .fio(Fio::SAME.with_others().value(fio_rates))
    .flag(Flag::new("rate").aliases(&["rate_iops"])),
    knob(
        "stages",
        Kind::Word,
        "10s@5k,2s@40k,10s@5k",
        msg!("knob-stages"),
        |k, v| {
            k.stages = Some(parse::parse_stages(v)?);
            Ok(())
        },
        |s| {
            let share = s.role.rate_share.map(|share| f64::from(share.pct));
            let rate = share.or(s.load.rate.map(|rate| rate.iops))?;
            let written = Written { stages: &s.role.stages, rate, is_share: share.is_some() };
            (!s.role.stages.is_empty()).then(|| written.to_string())
        },
    )
    .flag(Flag::new("stages")),
    knob(
        "read_rate",
        Kind::Rate,
        "40%",
        msg!("knob-read-rate"),
        |k, v| {
            k.read_rate_pct = Some(parse::parse_pair_share(v)?);
            Ok(())
        },
        |s| s.role.rate_pair.map(|pair| format!("{}%", pair.read_pct)),
    ),
    knob(
        "write_rate",
        Kind::Rate,
        "20%",
        msg!("knob-write-rate"),
        |k, v| {
            k.write_rate_pct = Some(parse::parse_pair_share(v)?);
            Ok(())
        },
        |s| s.role.rate_pair.map(|pair| format!("{}%", pair.write_pct)),
    ),
    knob(
        "rate_process",
        Kind::Word,
        "poisson",
        msg!("knob-rate-process"),
        |k, v| {
            k.rate_process = Some(parse::parse_rate_process(v)?);
            Ok(())
        },
        |s| {
            let process = s.role.rate_share.map(|share| share.process);
            process.or(s.load.process()).map(|process| process.as_str().to_owned())
        },
    )
    .fio(Fio::SAME.with_others().value(|s| {
        s.load.process().map(|process| match process {
            RateProcess::Fixed | RateProcess::Recorded => "linear".to_owned(),
            RateProcess::Poisson => "poisson".to_owned(),
        })
    }))
    .flag(Flag::new("rate-process").aliases(&["rate_process"]).default("fixed")),
    knob(
        "placement",
        Kind::Word,
        "cores",
        msg!("knob-placement"),
        |k, v| {
            let placement = parse::parse_placement(v)?;
            k.place(placement);
            Ok(())
        },
        |s| s.placement.word().filter(|_| s.placement != Placement::Unpinned).map(str::to_owned),
    )
    .flag(Flag::new("placement").default("unpinned")),
    knob(
        "cpus_allowed",
        Kind::Cpus,
        "0-3,8",
        msg!("knob-cpus-allowed"),
        |k, v| {
            let cpus = value::cpu_list(v)?;
            k.place(Placement::Cpus(cpus));
            Ok(())
        },
        |s| match &s.placement {
            Placement::Cpus(cpus) => Some(format_cpu_list(cpus)),
            _ => None,
        },
    )
    .aliases(&["cpus"])
    .fio(Fio::SAME)
    .flag(Flag::new("cpus").aliases(&["cpus_allowed"])),
    knob(
        "numa_cpu_nodes",
        Kind::Cpus,
        "0-1",
        msg!("knob-numa-cpu-nodes"),
        |k, v| {
            // fio's word for whatever there is.
            if v.trim() != "all" {
                k.place(Placement::Nodes { nodes: parse::parse_nodes(v)? });
            }
            Ok(())
        },
        |s| match &s.placement {
            Placement::Nodes { nodes } => Some(format_cpu_list(nodes)),
            _ => None,
        },
    )
    .fio(Fio::SAME),
    knob(
        "numa_mem_policy",
        Kind::Word,
        "bind:0",
        msg!("knob-numa-mem-policy"),
        |k, v| {
            k.memory = Some(parse::parse_memory_policy(v)?);
            Ok(())
        },
        |s| s.memory.words(),
    )
    .fio(Fio::SAME),
];

fn is_asynchronous(step: &Step) -> bool {
    !step.engine.name.is_synchronous()
}

/// fio's rate is per job and direction, at least 1.
fn fio_rates(step: &Step) -> Option<String> {
    let per_job = |iops: f64| format!("{:.0}", (iops / f64::from(step.workers())).round().max(1.0));
    match step.load.op_rates {
        Some(rates) => Some(op_rates_text(rates, per_job)),
        None => step.load.rate.map(|rate| fio_rate(step, rate)),
    }
}

fn fio_rate(step: &Step, rate: Rate) -> String {
    let jobs = f64::from(step.workers());
    let m = step.workload.mix;
    let of = |pct: u8| {
        let iops = (rate.iops / jobs * f64::from(pct) / 100.0).round().max(1.0);
        if pct == 0 { String::new() } else { format!("{iops:.0}") }
    };
    if [m.read_pct, m.write_pct, m.trim_pct].contains(&100) {
        return of(100);
    }
    format!("{},{},{}", of(m.read_pct), of(m.write_pct), of(m.trim_pct)).trim_end_matches(',').to_owned()
}
