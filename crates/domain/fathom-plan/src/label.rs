//! Labels of steps, for people: `4k random read T1 QD32`, plus what tells steps of one plan apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::step::{EngineName, Mode, Pattern, Placement, Step};
use fathom_units::format_block;

/// Workload and load in words.
pub(crate) fn label(step: &Step) -> String {
    let mut text = format!("{} {} T{} QD{}", blocks(step), operations(step), step.load.threads, step.load.queue_depth);
    match (step.role.rate_share, step.load.rate) {
        // A name that stays when the rate is known, so that runs can be set side by side.
        (Some(share), _) => text += &format!(" at {} % of max", share.pct),
        (None, Some(rate)) => text += &format!(" at {}/s", rate.iops),
        (None, None) => {}
    }
    text
}

fn blocks(step: &Step) -> String {
    let sizes = &step.workload.block_sizes;
    if sizes.len() == 1 {
        return format_block(u64::from(sizes[0].bytes));
    }
    let parts: Vec<String> =
        sizes.iter().map(|b| format!("{}/{}", format_block(u64::from(b.bytes)), b.share_pct)).collect();
    parts.join(":")
}

fn operations(step: &Step) -> String {
    let order = match step.workload.pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Random => "random".to_owned(),
        Pattern::RandomRepeat => "random (repeating)".to_owned(),
        Pattern::Zipf { theta } => format!("zipf {theta}"),
        Pattern::Hotspot { access_pct, space_pct } => format!("hotspot {access_pct}/{space_pct}"),
    };
    let m = step.workload.mix;
    let operation = match (m.read_pct, m.write_pct, m.trim_pct) {
        (100, _, _) => "read".to_owned(),
        (_, 100, _) => "write".to_owned(),
        (_, _, 100) => "trim".to_owned(),
        (read, write, 0) => format!("{read}/{write}"),
        (0, write, trim) => format!("write {write}/trim {trim}"),
        (read, write, trim) => format!("read {read}/write {write}/trim {trim}"),
    };
    format!("{order} {operation}")
}

/// Appends to each label what differs between the steps of a plan and the label does not yet say.
pub(crate) fn tell_apart<'s>(steps: impl Iterator<Item = &'s mut Step>) {
    let mut steps: Vec<&mut Step> = steps.collect();
    let traits: [fn(&Step) -> String; 11] =
        [engine, mode, fixed, placement, devices, direct, data, region, verify, process, settings];
    let suffixes: Vec<String> = {
        let varying = traits.iter().filter(|t| steps.iter().any(|s| t(s) != t(steps[0])));
        let varying: Vec<_> = varying.collect();
        steps
            .iter()
            .map(|s| varying.iter().map(|t| t(s)).filter(|w| !w.is_empty()).map(|w| format!(" {w}")).collect())
            .collect()
    };
    for (step, suffix) in steps.iter_mut().zip(suffixes) {
        step.label += &suffix;
    }
    // Batching is no part of a load's name, but for steps that differ in nothing else.
    let mut batching: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for step in &steps {
        batching.entry(step.label.clone()).or_default().insert(batches(step));
    }
    for step in steps.into_iter().filter(|s| !batches(s).is_empty()) {
        if batching[&step.label].len() > 1 {
            step.label = format!("{} {}", step.label, batches(step));
        }
    }
}

fn engine(step: &Step) -> String {
    step.engine.name.as_str().to_owned()
}

fn mode(step: &Step) -> String {
    match step.engine.mode {
        Mode::Interrupt => String::new(),
        polled @ (Mode::Iopoll | Mode::Sqpoll) => polled.as_str().to_owned(),
    }
}

fn fixed(step: &Step) -> String {
    match (step.engine.name, step.engine.fixed_buffers, step.engine.fixed_files) {
        (EngineName::IoUring | EngineName::IoUringCmd, false, false) => "unregistered".to_owned(),
        (EngineName::IoUring | EngineName::IoUringCmd, true, false) => "fixed buffers only".to_owned(),
        (EngineName::IoUring | EngineName::IoUringCmd, false, true) => "fixed files only".to_owned(),
        _ => String::new(),
    }
}

fn batches(step: &Step) -> String {
    let word = |name: &str, n: Option<u32>| n.map(|n| format!("{name} {n}"));
    let words = [word("submits by", step.load.batch_submit), word("waits for", step.load.batch_complete_min)];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn placement(step: &Step) -> String {
    match &step.placement {
        Placement::Unpinned => String::new(),
        Placement::Cores => "pinned".to_owned(),
        Placement::Smt => "pinned to siblings".to_owned(),
        Placement::Local => "local".to_owned(),
        Placement::Remote => "remote".to_owned(),
        Placement::Cpus(cpus) => {
            let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("cpus {}", list.join(","))
        }
    }
}

fn direct(step: &Step) -> String {
    if step.workload.direct { String::new() } else { "buffered".to_owned() }
}

fn data(step: &Step) -> String {
    let data = step.workload.data;
    match (data.compress_pct, data.dedupe_pct) {
        (0, 0) => String::new(),
        (compress, 0) => format!("compressible {compress} %"),
        (0, dedupe) => format!("dedupe {dedupe} %"),
        (compress, dedupe) => format!("compressible {compress} % dedupe {dedupe} %"),
    }
}

fn region(step: &Step) -> String {
    let region = step.workload.region;
    let size = match (region.size_bytes, step.role.footprint_pct) {
        (Some(bytes), _) => format!("over {}", format_block(bytes)),
        (None, Some(pct)) => format!("over {pct} %"),
        (None, None) => String::new(),
    };
    match region.offset_bytes {
        0 => size,
        offset => format!("{size} from {}", format_block(offset)).trim_start().to_owned(),
    }
}

fn verify(step: &Step) -> String {
    step.workload.verify.map_or(String::new(), |_| "verified".to_owned())
}

fn devices(step: &Step) -> String {
    match step.role.devices {
        None => String::new(),
        Some(1) => "1 drive".to_owned(),
        Some(n) => format!("{n} drives"),
    }
}

fn settings(step: &Step) -> String {
    let words = step.role.settings.iter().map(|s| format!("{}={}", s.name, s.value));
    words.collect::<Vec<_>>().join(" ")
}

fn process(step: &Step) -> String {
    let process = step.load.rate.map(|r| r.process).or(step.role.rate_share.map(|s| s.process));
    process.map_or(String::new(), |p| format!("{p:?}").to_lowercase())
}
