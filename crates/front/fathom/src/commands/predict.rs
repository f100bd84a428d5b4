//! `fathom predict`: ceilings and curves of a described, catalogued or inspected system, without any I/O.

use fathom_lab::SimulatedTarget;
use fathom_model::{Ceiling, CostModel, LimitName, MachineModel, Prediction, Shape, meet, predict as predict_load};
use fathom_plan::{EngineName, Goal, Knobs, Phase, Plan, ReadWrite, Step, TargetId, knob};
use fathom_units::{format_iops, format_ns, format_rate};
use serde::Serialize;

use super::predict_subject::{Subject, engine_named, path};
use super::predicted::{Load, Missing, first_look, limit_word, met};
use super::{predict_array, predict_bands, source, to_json};
use crate::args::{Args, SourceArgs};
use crate::exit::{Exit, Problem};
use crate::model_args::PredictArgs;
use crate::terminal::{result, say};

/// Depths, or threads, of the ladder that is predicted when no study is named.
const LADDER: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// What makes writes predictable.
const WRITES_HELP: &str = "give rand_write_4k_iops or seq_write_bytes_per_s in a file of your own (fathom catalogue new), or \
                           fit one from a run: fathom fit RUN -o FILE";

/// What is missing for writes, in a few words.
const WRITES_UNKNOWN: &str = "rand_write_4k_iops or seq_write_bytes_per_s";

/// Why a load is not predicted whatever is known of the drive, and the command that measures it.
#[derive(Clone, Copy, PartialEq)]
struct Unknown {
    why: &'static str,
    command: &'static str,
}

const FLUSH: Unknown = Unknown {
    why: "no data sheet says how long the drive's flush takes",
    command: "fathom io --target FILE --rw write --fdatasync 1",
};
const PAUSES: Unknown =
    Unknown { why: "no model here knows threads that pause", command: "fathom io --target FILE --set thinktime=1ms" };

impl Unknown {
    fn of(step: &Step) -> Option<Unknown> {
        match () {
            () if !step.workload.durability.is_plain() => Some(FLUSH),
            () if !step.load.pacing.is_free() => Some(PAUSES),
            () => None,
        }
    }

    fn help(self) -> String {
        format!("measure it: {}", self.command)
    }
}

/// A predicted step as `--json` prints it.
#[derive(Serialize)]
struct Row {
    label: String,
    engine: EngineName,
    op: ReadWrite,
    block_size_bytes: u32,
    threads: u32,
    queue_depth: u32,
    devices: u32,
    /// Over all threads and drives.
    in_flight: u32,
    #[serde(flatten)]
    prediction: Prediction,
}

impl Row {
    fn load(&self) -> Load<'_> {
        Load {
            label: &self.label,
            kind: (self.op, self.block_size_bytes),
            in_flight: self.in_flight,
            prediction: &self.prediction,
        }
    }
}

pub(crate) fn predict(all: &Args, options: &PredictArgs) -> Result<Exit, Problem> {
    let count = options.members.or(options.count).unwrap_or(1);
    if count == 0 {
        let key = if options.members.is_some() { "--members" } else { "--count" };
        return Err(Problem::usage(format!("{key} 0: no drives give no I/O"), "at least 1"));
    }
    let subject = Subject::new(options, count)?;
    let count = subject.simulated.as_ref().map_or(count, SimulatedTarget::drives);
    if let Some(text) = &options.goal {
        return answer(options, &subject, text);
    }
    let machine = &subject.machine;
    let mut rows = Vec::new();
    // One load by each engine.
    let mut engines: Vec<Step> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut unknown: Vec<(String, Unknown)> = Vec::new();
    // The drives of an array are one target.
    let targets = if machine.raid.is_some() { 1 } else { count };
    // A share is one of what was predicted of the closed loops before it.
    let mut predicted: Vec<(Step, f64)> = Vec::new();
    for step in steps(all, options, targets)? {
        let step = step.with_rate_of(predicted.iter().map(|(step, iops)| (step, *iops)));
        if let Some(what) = Unknown::of(&step) {
            unknown.push((step.label.clone(), what));
            continue;
        }
        let drives = if machine.raid.is_some() { count } else { step.targets.len() as u32 };
        let shape = Shape::of(&step, drives);
        let Some(prediction) = predict_load(&subject.machine_for(&step)?, &shape) else {
            left_out.push(step.label.clone());
            continue;
        };
        predicted.push((step.clone(), prediction.iops));
        if !engines.iter().any(|s| (s.engine.name, s.engine.mode) == (step.engine.name, step.engine.mode)) {
            engines.push(step.clone());
        }
        rows.push(Row {
            label: step.label.clone(),
            engine: step.engine.name,
            op: step.workload.read_write(),
            block_size_bytes: step.workload.block_bytes_max(),
            threads: step.load.threads,
            queue_depth: step.load.queue_depth,
            devices: drives,
            in_flight: step.in_flight_max(),
            prediction,
        });
    }
    if let Some((label, what)) = unknown.first().filter(|_| rows.is_empty() && left_out.is_empty()) {
        return Err(Problem::usage(format!("{label}: {}", what.why), what.help()));
    }
    if rows.is_empty() {
        let what = left_out.first().map_or_else(String::new, |label| format!("{label}: "));
        return Err(Problem::usage(format!("{what}nothing is known of the drive's writes"), WRITES_HELP));
    }
    if options.json {
        let value = serde_json::json!({
            "fathom": env!("CARGO_PKG_VERSION"), "schema": 1, "machine": machine, "assumed": subject.assumed, "steps": rows,
            "not_predicted": left_out.iter().chain(unknown.iter().map(|(label, _)| label)).collect::<Vec<_>>(),
        });
        result(&to_json(&value));
        return Ok(Exit::Done);
    }
    let loads = loads_of(&rows);
    let missing = match (left_out.len(), &unknown[..]) {
        (0, []) => None,
        (0, [(_, first), ..]) => Some(Missing { loads: unknown.len(), command: first.command, why: first.why }),
        (loads, more) => {
            Some(Missing { loads: loads + more.len(), command: "fathom catalogue new", why: WRITES_UNKNOWN })
        }
    };
    let assumed = subject.assumptions(&engines)?.len();
    let mut text = first_look(&subject.drives(count), &loads, assumed, missing.as_ref(), options.details);
    if !options.details {
        result(&text);
        return Ok(Exit::Done);
    }
    text.push('\n');
    text.push_str(&table(&subject, &engines, &rows, count)?);
    if !left_out.is_empty() {
        text.push_str(&format!(
            "not predicted, for nothing is known of the drive's writes: {}\n  help: {WRITES_HELP}\n",
            left_out.join(", ")
        ));
    }
    for what in [FLUSH, PAUSES] {
        let labels: Vec<&str> = unknown.iter().filter(|(_, of)| *of == what).map(|(label, _)| label.as_str()).collect();
        if !labels.is_empty() {
            text.push_str(&format!(
                "not predicted, for {}: {}\n  help: {}\n",
                what.why,
                labels.join(", "),
                what.help()
            ));
        }
    }
    result(&text);
    Ok(Exit::Done)
}

fn loads_of(rows: &[Row]) -> Vec<Load<'_>> {
    rows.iter().map(Row::load).collect()
}

/// Steps of the study, or of a ladder: in depth, or in threads where an engine has one I/O in flight for each.
fn steps(all: &Args, options: &PredictArgs, targets: u32) -> Result<Vec<Step>, Problem> {
    let targets: Vec<String> = (0..targets).map(|i| format!("drive{i}")).collect();
    if let Some(study) = &options.study {
        let engine = engine_named(options).map(|name| format!("engine={name}"));
        let source = SourceArgs {
            study: Some(study.clone()),
            target: targets,
            set: options.set.iter().cloned().chain(engine).collect(),
            knobs: options.knobs.of(),
            ..SourceArgs::default()
        };
        let plan = source::read(all, &source, false)?;
        return Ok(plan.steps.into_iter().filter(|s| s.phase == Phase::Measure).collect());
    }
    let set = load_knobs(options)?;
    let one = by_hand(&set, &targets)?;
    let axis = if one.engine.name.is_synchronous() { "numjobs" } else { "iodepth" };
    let is_named = |key: &str| set.iter().any(|(k, _)| knob(k).is_some_and(|spec| spec.name == key));
    // `load` names threads and depth at once.
    if is_named(axis) || is_named("load") {
        return Ok(vec![one]);
    }
    let at = |count: &u32| {
        let count = count.to_string();
        let rung: Vec<(&str, &str)> = set.iter().copied().chain([(axis, count.as_str())]).collect();
        by_hand(&rung, &targets)
    };
    LADDER.iter().map(at).collect()
}

/// The knobs that the user gave, before them what they have unless given.
fn load_knobs(options: &PredictArgs) -> Result<Vec<(&str, &str)>, Problem> {
    let set = options.set.iter().map(|s| source::pair("--set", s)).collect::<Result<Vec<_>, _>>()?;
    let engine = engine_named(options).map(|name| ("engine", name));
    Ok([("rw", "randread"), ("bs", "4k")].into_iter().chain(engine).chain(options.knobs.iter()).chain(set).collect())
}

/// The step that these knobs describe.
pub(super) fn by_hand(set: &[(&str, &str)], targets: &[String]) -> Result<Step, Problem> {
    let mut knobs = Knobs::new();
    for (key, value) in set {
        knobs.set(key, value).map_err(Problem::from)?;
    }
    let targets = targets.iter().map(|path| TargetId::new(path.clone())).collect();
    let plan = Plan::from_io(&knobs, targets, "predict").map_err(Problem::from)?;
    Ok(plan.steps.into_iter().find(|s| s.phase == Phase::Measure).expect("a plan of one load measures it"))
}

fn heading(subject: &Subject, engines: &[Step], count: u32) -> Result<String, Problem> {
    let machine = &subject.machine;
    let mut text = format!(
        "prediction · {}{}",
        subject.drives(count),
        machine.name.as_ref().map_or_else(String::new, |name| format!(" · {name}"))
    );
    let cost = |cost: &CostModel| {
        format!("{} of core time per I/O ({})", format_ns(cost.thread_ns + cost.irq_ns), say(&cost.origin.message()))
    };
    if let Some(named) = machine.cost.as_ref().filter(|_| subject.simulated.is_none()) {
        text.push_str(&format!(" · {}", cost(named)));
    }
    text.push('\n');
    for step in engines.iter().filter(|_| !subject.is_cost_named) {
        if let Some(known) = subject.machine_for(step)?.cost {
            text.push_str(&format!("{}: {}\n", path(&step.engine), cost(&known)));
        }
    }
    for what in subject.assumptions(engines)? {
        text.push_str(&format!("assumed: {what}\n"));
    }
    Ok(text)
}

fn table(subject: &Subject, engines: &[Step], rows: &[Row], count: u32) -> Result<String, Problem> {
    let mut text = heading(subject, engines, count)?;
    let width = rows.iter().map(|r| r.label.chars().count()).max().unwrap_or(0).max(30);
    text.push_str(&format!(
        "\n {:<width$} {:>8} {:>22} {:>9} {:>9} {:>6}  limit\n",
        "load", "IOPS", "bandwidth", "mean", "p99 ~", "cores"
    ));
    for row in rows {
        let p = &row.prediction;
        text.push_str(&format!(
            " {:<width$} {:>8} {:>22} {:>9} {:>9} {:>6}  {}\n",
            row.label,
            format_iops(p.iops),
            format_rate(p.bytes_per_s),
            format_ns(p.lat_ns_mean),
            format_ns(p.lat_ns_p99),
            p.cores_busy.map_or("-".to_owned(), |c| format!("{c:.1}")),
            limit_word(p)
        ));
    }
    if let Some(most) = rows.iter().max_by(|a, b| a.prediction.iops.total_cmp(&b.prediction.iops)) {
        text.push_str(&predict_bands::table(&loads_of(rows), width));
        text.push_str(&predict_bands::unknowns(&most.prediction.unknowns));
        text.push_str(&format!("\nceilings at {}, lowest first\n", most.label));
        text.push_str(&ceilings(&most.prediction.ceilings));
        text.push_str(&most.prediction.array.as_ref().map_or_else(String::new, predict_array::counted));
        text.push_str(&format!("knee: {:.0} in flight over all drives", most.prediction.knee_in_flight));
        if let Some(cores) = most.prediction.cores_busy {
            text.push_str(&format!("; cores needed: {:.0}", cores.ceil().max(1.0)));
        }
        text.push('\n');
    }
    Ok(text)
}

fn ceilings(all: &[Ceiling]) -> String {
    all.iter()
        .map(|c| {
            let part = c.part.map_or_else(|| c.name.as_str().replace('_', " "), |part| part.as_str().to_owned());
            format!(" {part:<12} {:>8}  {}\n", format_iops(c.iops), say(&c.sentence))
        })
        .collect()
}

/// What would meet a goal, or which ceiling forbids it.
fn answer(options: &PredictArgs, subject: &Subject, text: &str) -> Result<Exit, Problem> {
    let goal = Goal::parse(text)?;
    let step = by_hand(&load_knobs(options)?, &["drive".to_owned()])?;
    if let Some(what) = Unknown::of(&step) {
        return Err(Problem::usage(format!("{}: {}", step.label, what.why), what.help()));
    }
    let machine = &subject.machine_for(&step)?;
    // Its drives are the question, so everything is computed from one.
    let shape = Shape::of(&step, options.count.unwrap_or(1));
    let outcome = meet(machine, &shape, &goal, options.count);
    if options.json {
        let value = match &outcome {
            Ok(answer) => {
                serde_json::json!({ "goal": goal, "met": true, "answer": answer, "assumed": subject.assumed })
            }
            Err(why) => serde_json::json!({ "goal": goal, "met": false, "forbidden": why, "assumed": subject.assumed }),
        };
        result(&to_json(&value));
    }
    let answer = outcome.map_err(|why| {
        Problem::new(
            Exit::Failed,
            format!(
                "{text} cannot be met: {} forbids it\n  {}",
                why.limit.as_str().replace('_', " "),
                say(&why.sentence)
            ),
            goal_help(options, machine, &shape, &goal, why.limit),
        )
    })?;
    if options.json {
        return Ok(Exit::Done);
    }
    let p = &answer.prediction;
    let engines = [step];
    let mut out = met(
        text,
        &subject.drives(answer.drives),
        engines[0].workload.block_bytes_max(),
        &answer,
        subject.assumptions(&engines)?.len(),
        options.details,
    );
    if !options.details {
        result(&out);
        return Ok(Exit::Done);
    }
    out.push('\n');
    out.push_str(&heading(subject, &engines, answer.drives)?);
    out.push_str(&format!(
        "\n{text} is met by {} with {} in flight each: {} IOPS, {}, mean {}, p99 about {}\n",
        if answer.drives == 1 { "1 drive".to_owned() } else { format!("{} drives", answer.drives) },
        answer.in_flight_per_drive,
        format_iops(p.iops),
        format_rate(p.bytes_per_s),
        format_ns(p.lat_ns_mean),
        format_ns(p.lat_ns_p99)
    ));
    if let Some(cores) = answer.cores {
        out.push_str(&format!("cores: {cores}\n"));
    }
    if let Some(lanes) = answer.lanes {
        out.push_str(&format!("lanes: {lanes}; what drives share must carry {}\n", format_rate(answer.bytes_per_s)));
    }
    out.push_str("ceilings, lowest first\n");
    out.push_str(&ceilings(&p.ceilings));
    result(&out);
    Ok(Exit::Done)
}

/// What to change for a goal that `limit` forbids.
fn goal_help(
    options: &PredictArgs,
    machine: &MachineModel,
    shape: &Shape,
    goal: &Goal,
    limit: LimitName,
) -> &'static str {
    if options.count.is_some() && meet(machine, shape, goal, None).is_ok() {
        return "another number of drives meets it: leave out --count to see how many";
    }
    match limit {
        LimitName::Uplink => "a faster or wider --uplink, larger blocks (--set bs=...), or a lower goal",
        LimitName::Link => "a faster or wider --link, larger blocks (--set bs=...), or a lower goal",
        LimitName::Core | LimitName::AllCores | LimitName::IrqCore => {
            "more --cores, an --engine or --cpu that takes less time per I/O, or a lower goal"
        }
        LimitName::Raid => "another level (--raid), drives on their own, or a lower goal",
        _ => "another --device (fathom catalogue list), or a lower goal",
    }
}
