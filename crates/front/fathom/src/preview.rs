//! What a plan is about to do: its steps without their repetitions, its time, its bytes, what happens to each target.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_host::{Refusal, Root, whole_device_of};
use fathom_lab::FileToMake;
use fathom_plan::{Phase, Plan, Step, TargetId, loop_message};
use fathom_units::{format_bytes, format_duration_ns};

use crate::terminal::say;

/// A bound on the time of a pass that is no estimate of it.
const LONG_NS: u64 = 7 * 86_400_000_000_000;

/// A step, or those that repeat it.
struct Row<'a> {
    first: &'a Step,
    label: String,
    count: usize,
    floor_ns: u64,
    budget_ns: u64,
}

/// A line for each step; rounds of a loop, turns of a comparison and parts of a pass are one line.
pub(crate) fn steps(plan: &Plan) -> String {
    let rows = rows(plan);
    let groups = groups(plan).len() > 1;
    let label = |row: &Row<'_>| match groups {
        true => format!("{}: {}", row.first.group, row.label),
        false => row.label.clone(),
    };
    let width = rows.iter().map(|r| label(r).chars().count()).max().unwrap_or(0).clamp(20, 56);
    let mut text = format!(
        " {:>4}  {:<width$} {:<16} {:<9} {:<9} {:>10} {:>10}\n",
        "step", "load", "times", "engine", "placement", "at least", "at most"
    );
    for row in rows {
        let time = |ns: u64| if ns >= LONG_NS { "its pass".to_owned() } else { format_duration_ns(ns) };
        text.push_str(&format!(
            " {:>4}  {:<width$} {:<16} {:<9} {:<9} {:>10} {:>10}\n",
            row.first.index,
            label(&row),
            times(&row),
            row.first.engine.name.as_str(),
            row.first.placement.kind().as_str(),
            time(row.floor_ns),
            time(row.budget_ns),
        ));
    }
    text
}

fn rows(plan: &Plan) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for step in &plan.steps {
        let label = base_label(step);
        let length = step.length;
        let (floor_ns, budget_ns) = (length.ramp_ns + length.floor_ns, length.ramp_ns.saturating_add(length.budget_ns));
        let same = |row: &Row<'_>| {
            let (a, b) = (&row.first.role, &step.role);
            let ties = |r: &fathom_plan::Role| {
                (r.round.map(|r| r.loop_id), r.part.map(|p| p.of), r.block.as_ref().map(|b| (b.cell, b.arm_index)))
            };
            let repeats = b.round.is_some() || b.part.is_some() || b.block.is_some();
            repeats
                && ties(a) == ties(b)
                && row.label == label
                && row.first.group == step.group
                && row.first.phase == step.phase
        };
        // A part belongs to the pass before it, not to an earlier one.
        let adjoining = step.role.part.is_some_and(|p| p.index > 0);
        let found = match adjoining {
            true => rows.last_mut().filter(|r| same(r)),
            false if step.role.part.is_some() => None,
            false => rows.iter_mut().find(|r| same(r)),
        };
        match found {
            Some(row) => {
                row.count += 1;
                row.budget_ns = row.budget_ns.saturating_add(budget_ns);
                let spared = step.role.round.is_some_and(|r| r.index >= ROUNDS_JUDGED);
                row.floor_ns = row.floor_ns.saturating_add(if spared { 0 } else { floor_ns });
            }
            None => rows.push(Row { first: step, label, count: 1, floor_ns, budget_ns }),
        }
    }
    rows
}

/// Rounds before a loop can be called steady.
const ROUNDS_JUDGED: u32 = 5;

/// The label without the number of its round or part.
fn base_label(step: &Step) -> String {
    loop_message(step).map_or_else(|| step.label.clone(), |title| say(&title))
}

fn times(row: &Row<'_>) -> String {
    let role = &row.first.role;
    match (role.round, role.part, &role.block) {
        (Some(round), _, _) if row.count as u32 > ROUNDS_JUDGED => format!("{ROUNDS_JUDGED} to {} rounds", round.max),
        (Some(_), _, _) => format!("{} rounds", row.count),
        (_, Some(_), _) => format!("{} parts", row.count),
        (_, _, Some(_)) => format!("{} in turns", row.count),
        _ => String::new(),
    }
}

/// The groups of the plan with their targets, in order.
pub(crate) fn groups(plan: &Plan) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for step in &plan.steps {
        let paths = step.targets.iter().map(fathom_plan::TargetId::as_str);
        match groups.iter_mut().find(|(name, _)| *name == step.group) {
            Some((_, known)) => {
                for path in paths {
                    if !known.contains(&path) {
                        known.push(path);
                    }
                }
            }
            None => groups.push((&step.group, paths.collect())),
        }
    }
    for (_, known) in &mut groups {
        // Arrays over what is named already are no more targets.
        let named = known.clone();
        let is_new = |path: &&str| {
            let target = TargetId::new(*path);
            target.array().is_none() || target.opened().iter().any(|member| !named.contains(&member.as_str()))
        };
        known.retain(is_new);
    }
    groups
}

/// Number of steps, time, and bytes to be written, in a line; `made_bytes` are of files that are made for it.
/// A plan as executed says more than as read. `searches_ns`: longest time of the searches for a latency goal that follow steps; a
/// time budget contains them.
pub(crate) fn totals(plan: &Plan, made_bytes: u64, searches_ns: u64) -> String {
    let time_ns = timed_ns(plan) + searches_ns;
    let beside = match (has_passes(plan), makes_files(plan)) {
        (true, _) => " beside the passes that fill",
        (false, true) => " after the files are made",
        (false, false) => "",
    };
    let writes = plan.writes();
    let mut written = Vec::new();
    let by_steps = plan.steps.iter().any(|s| matches!(s.phase, Phase::Fill | Phase::Precondition));
    let bytes = writes.bytes_max + if by_steps { 0 } else { made_bytes };
    if bytes > 0 {
        written.push(format_bytes(bytes));
    }
    if writes.passes_over_unknown {
        written.push("whole passes over the targets".to_owned());
    }
    if writes.open_ns > 0 {
        written.push(format!("as much as the targets take in {}", format_duration_ns(writes.open_ns)));
    }
    let is_rebuilt = |target: &TargetId| matches!(target.array(), Some(Ok(array)) if array.rebuild().is_some());
    if plan.steps.iter().flat_map(|step| &step.targets).any(is_rebuilt) {
        written.push("what is rebuilt of members".to_owned());
    }
    format!(
        "{} steps · {} at most{} · written: {}\n",
        plan.steps.len(),
        format_duration_ns(time_ns),
        beside,
        if written.is_empty() { "nothing".to_owned() } else { written.join(", and ") },
    )
}

/// Whether the step ends by its time; others end only after their passes.
fn is_timed(step: &Step) -> bool {
    step.length.budget_ns < LONG_NS
}

/// Longest time of the steps that end by their time, warm-ups included.
pub(crate) fn timed_ns(plan: &Plan) -> u64 {
    plan.steps.iter().filter(|s| is_timed(s)).map(|s| s.length.ramp_ns + s.length.budget_ns).sum()
}

/// Whether there are passes over the target, which take as long as the target does.
pub(crate) fn has_passes(plan: &Plan) -> bool {
    plan.steps.iter().any(|s| !is_timed(s))
}

/// True if files are made for steps. That takes as long as the file system does.
fn makes_files(plan: &Plan) -> bool {
    let needs_files = |step: &Step| step.workload.order.files.is_some_and(|files| files.op.needs_files());
    plan.steps.iter().any(needs_files)
}

/// Longest time of a plan in short: `2 h 59 min`, with the passes that come on top of it.
pub(crate) fn time_at_most(plan: &Plan) -> String {
    format!("{}{}", format_duration_ns(timed_ns(plan)), if has_passes(plan) { " + fill" } else { "" })
}

/// What is opened for the targets of a plan, each once: of an array in user space its members.
fn opened(plan: &Plan) -> Vec<String> {
    let named = groups(plan).into_iter().flat_map(|(_, targets)| targets);
    let mut all: Vec<String> =
        named.flat_map(|name| TargetId::new(name).opened()).map(|target| target.as_str().to_owned()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a step of the plan writes to, trims or purges the target, also as a member of an array.
fn is_written(plan: &Plan, target: &str) -> bool {
    plan.steps.iter().flat_map(Step::written).any(|written| written.as_str() == target)
}

/// The block devices whose content the run destroys, a line for each.
pub(crate) fn destroyed(plan: &Plan) -> Vec<String> {
    let devices = opened(plan).into_iter().filter(|t| is_device(t) && is_written(plan, t));
    devices.map(|target| format!("{target}: its content is destroyed{}", identity(&target))).collect()
}

fn is_device(target: &str) -> bool {
    std::fs::metadata(target).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// What kind of drive it is: model, serial number, size.
fn identity(target: &str) -> String {
    let Ok(device) = whole_device_of(&Root::live(), Path::new(target)) else { return String::new() };
    let model = device.model.map(|m| format!("{m}, "));
    let serial = device.serial.map(|s| format!("serial {s}, "));
    let (model, serial) = (model.unwrap_or_default(), serial.unwrap_or_default());
    format!(" ({model}{serial}{})", format_bytes(device.size_bytes))
}

/// What happens to each target as named, a line for each. `files`: those that would be made, by the plan as executed;
/// `refused`: the targets that the guard would refuse to write.
pub(crate) fn effects(plan: &Plan, files: &[FileToMake], refused: &BTreeMap<TargetId, Refusal>) -> String {
    let effect = |target: &String| match refused.get(&TargetId::new(target.clone())) {
        Some(why) => format!(" {target}: would be refused: {} ({})\n", say(&why.message), say(&why.help)),
        None => format!(" {target}: {}\n", effect(plan, files, target)),
    };
    opened(plan).iter().map(effect).collect()
}

/// What happens to a target that is not refused.
fn effect(plan: &Plan, files: &[FileToMake], target: &str) -> String {
    let path = Path::new(target);
    let made = |inside: bool| {
        let parent = |f: &&FileToMake| f.path.parent() == Some(path);
        let file = files.iter().find(|f| if inside { parent(f) } else { f.path == path });
        file.map_or_else(String::new, |f| format!(" of {}", format_bytes(f.bytes)))
    };
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => format!("a file{} is made in this directory and removed at the end", made(true)),
        Ok(_) if !is_written(plan, target) => "read only".into(),
        Ok(m) if m.is_file() => "this existing file is overwritten in place and kept".into(),
        Ok(_) => format!("its content is destroyed{}", identity(target)),
        Err(_) if target.starts_with("sim:") => "simulated: no real device is read or written".into(),
        Err(_) if TargetId::new(target).is_null() => "no I/O at all".into(),
        Err(_) => format!("this file{} is made and removed at the end", made(false)),
    }
}
