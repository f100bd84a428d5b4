//! How I/O is issued.

use fathom_message::msg;

use super::super::spec::{Fio, Flag, Kind, KnobSpec, knob};
use super::super::{CPU_MAX, parse, value};
use crate::step::{Mode, Step};

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "ioengine",
        Kind::Word,
        "io_uring",
        msg!("knob-ioengine"),
        |k, v| {
            let (engine, note) = parse::parse_engine(v)?;
            k.engine = Some(engine);
            k.remark(note);
            Ok(())
        },
        |s| Some(s.engine.name.as_str().to_owned()),
    )
    .aliases(&["engine"])
    .fio(Fio::SAME.value(fio_engine))
    .flag(Flag::new("engine").aliases(&["ioengine"]).default("io_uring")),
    knob(
        "mode",
        Kind::Word,
        "iopoll",
        msg!("knob-mode"),
        |k, v| {
            k.mode = Some(parse::parse_mode(v)?);
            Ok(())
        },
        |s| (s.engine.mode != Mode::Interrupt).then(|| s.engine.mode.as_str().to_owned()),
    )
    .flag(Flag::new("mode").default("interrupt")),
    knob("hipri", Kind::Switch, "1", msg!("knob-hipri"), |k, v| k.polled(v, Mode::Iopoll), |_| None)
        .fio(Fio::SAME.bare(|s| is_in(s, Mode::Iopoll))),
    knob("sqthread_poll", Kind::Switch, "1", msg!("knob-sqthread-poll"), |k, v| k.polled(v, Mode::Sqpoll), |_| None)
        .fio(Fio::SAME.bare(|s| is_in(s, Mode::Sqpoll))),
    knob(
        "sqthread_poll_cpu",
        Kind::Number,
        "2",
        msg!("knob-sqthread-poll-cpu"),
        |k, v| {
            k.sqpoll_cpu = Some(value::bounded(v, 0, CPU_MAX)?);
            Ok(())
        },
        |s| s.engine.sqpoll_cpu.map(|cpu| cpu.to_string()),
    )
    .aliases(&["sqpoll_cpu"])
    .fio(Fio::SAME),
    knob(
        "fixedbufs",
        Kind::Switch,
        "1",
        msg!("knob-fixedbufs"),
        |k, v| {
            k.fixed_buffers = Some(value::flag(v)?);
            Ok(())
        },
        |s| registration(s, s.engine.fixed_buffers),
    )
    .aliases(&["fixed_buffers"])
    .fio(Fio::SAME.bare(|s| s.engine.name.is_uring() && s.engine.fixed_buffers)),
    knob(
        "registerfiles",
        Kind::Switch,
        "1",
        msg!("knob-registerfiles"),
        |k, v| {
            k.fixed_files = Some(value::flag(v)?);
            Ok(())
        },
        |s| registration(s, s.engine.fixed_files),
    )
    .aliases(&["fixed_files"])
    .fio(Fio::SAME.bare(|s| s.engine.name.is_uring() && s.engine.fixed_files)),
    knob(
        "paranoid",
        Kind::Switch,
        "1",
        msg!("knob-paranoid"),
        |k, v| {
            k.paranoid = Some(value::flag(v)?);
            Ok(())
        },
        |s| s.engine.paranoid.then(|| "1".to_owned()),
    )
    .flag(Flag::new("paranoid").bare()),
];

fn is_in(step: &Step, mode: Mode) -> bool {
    step.engine.name.is_uring() && step.engine.mode == mode
}

fn registration(step: &Step, on: bool) -> Option<String> {
    step.engine.name.is_uring().then(|| u8::from(on).to_string())
}

/// fio has an engine for each of the operations on files.
fn fio_engine(step: &Step) -> Option<String> {
    let word = step.workload.order.files.map_or(step.engine.name.as_str(), |files| files.op.read_write().as_str());
    Some(word.to_owned())
}
