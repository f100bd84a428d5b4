//! For how long, how precisely, with which seed.

use fathom_message::msg;

use super::super::spec::{Fio, Flag, Kind, KnobSpec, knob};
use super::super::{IOPS_PRECISION, P99_PRECISION, PASSES_MAX, RUNTIME_MAX_NS, parse, print_duration, value};
use crate::step::Step;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "ramp_time",
        Kind::Time,
        "1s",
        msg!("knob-ramp-time"),
        |k, v| {
            k.ramp_ns = Some(value::duration_ns(v, RUNTIME_MAX_NS)?);
            Ok(())
        },
        |s| Some(s.length.ramp_ns).filter(|ns| *ns > 0).map(print_duration),
    )
    .aliases(&["ramp"])
    .fio(Fio::SAME.value(|s| Some(s.length.ramp_ns).filter(|ns| *ns > 0).map(fio_time)))
    .flag(Flag::new("ramp-time").aliases(&["ramp_time"]).default("0")),
    knob(
        "runtime",
        Kind::Time,
        "30s",
        msg!("knob-runtime"),
        |k, v| {
            k.runtime = Some(parse::parse_runtime(v)?);
            Ok(())
        },
        |s| is_timed(s).then(|| span(s)),
    )
    .fio(Fio::SAME.aliases(&["timeout"]).with_others().value(|s| is_timed(s).then(|| fio_time(s.length.budget_ns))))
    .flag(Flag::new("runtime").default("5s")),
    knob(
        "loops",
        Kind::Number,
        "1",
        msg!("knob-loops"),
        |k, v| {
            k.passes = Some(value::bounded(v, 1, PASSES_MAX)?);
            Ok(())
        },
        |s| s.length.passes.map(|n| n.to_string()),
    )
    .aliases(&["passes"])
    // fio makes one pass unless it goes by time.
    .fio(Fio::SAME.with_others().value(|s| s.length.passes.filter(|n| *n > 1).map(|n| n.to_string()))),
    knob(
        "iops_precision",
        Kind::Percent,
        "1%",
        msg!("knob-iops-precision"),
        |k, v| {
            k.iops_precision = Some(value::share(v)?);
            Ok(())
        },
        |s| Some(s.length.iops_rel_half_width).filter(|share| *share != IOPS_PRECISION).map(|share| share.to_string()),
    )
    .aliases(&["precision"]),
    knob(
        "p99_precision",
        Kind::Percent,
        "5%",
        msg!("knob-p99-precision"),
        |k, v| {
            k.p99_precision = Some(value::share(v)?);
            Ok(())
        },
        |s| Some(s.length.p99_rel_half_width).filter(|share| *share != P99_PRECISION).map(|share| share.to_string()),
    ),
    knob(
        "latency_goal",
        Kind::Word,
        "p99<=1ms",
        msg!("knob-latency-goal"),
        |k, v| {
            k.latency_goal = Some(parse::parse_latency_goal(v)?);
            Ok(())
        },
        |s| s.role.latency_goal.map(|goal| goal.text()),
    ),
    knob(
        "randseed",
        Kind::Number,
        "1",
        msg!("knob-randseed"),
        |k, v| {
            k.seed = Some(value::whole(v)?);
            Ok(())
        },
        |s| Some(s.seed.to_string()),
    )
    .aliases(&["seed"])
    .fio(Fio::SAME)
    .flag(Flag::new("seed").aliases(&["randseed"]).default("1")),
    knob(
        "write_iolog",
        Kind::Word,
        "trace.log",
        msg!("knob-write-iolog"),
        |k, v| {
            let path = v.trim();
            if path.is_empty() {
                return Err(value::fault_help(msg!("knob-no-trace-name"), msg!("knob-no-trace-name-help")));
            }
            k.trace_to = Some(path.to_owned());
            Ok(())
        },
        |s| s.role.trace_to.clone(),
    )
    .fio(Fio::SAME),
];

/// Whether a time ends the step, not its passes alone.
fn is_timed(step: &Step) -> bool {
    step.length.budget_ns < RUNTIME_MAX_NS || step.length.passes.is_none()
}

fn span(step: &Step) -> String {
    let (floor, budget) = (print_duration(step.length.floor_ns), print_duration(step.length.budget_ns));
    if floor == budget { budget } else { format!("{floor}..{budget}") }
}

/// fio counts in microseconds.
fn fio_time(ns: u64) -> String {
    print_duration(ns.div_ceil(1_000) * 1_000)
}
