//! From a study's name, a plan file or a fio job file to a plan.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use fathom_host::settings::SETTING_WORDS;
use fathom_host::{HostFacts, Root, open_to_read, read_text};
use fathom_lab::{expand_target, plan_again, simulated_machine};
use fathom_message::Say;
use fathom_plan::{
    FioHost, FioReading, FioText, HostNumber, Overrides, Plan, TargetId, builtin_studies, parse_fio, parse_study,
    study_by_name, with_fio_beside, with_spdk_beside,
};
use fathom_trace::{Trace, TraceError, TraceFormat, TraceSummary};
use fathom_units::parse_duration_ns;

use super::{existing_lab, run_number};
use crate::args::{Args, OtherProgram, SourceArgs};
use crate::exit::{Exit, Problem};
use crate::terminal::{say, talk};

/// Reads and scales the plan. `may_unbind`: some drive may leave the kernel.
pub(crate) fn read(all: &Args, args: &SourceArgs, may_unbind: bool) -> Result<Plan, Problem> {
    let mut plan = match (&args.study, args.like.as_ref().or(args.resume.as_ref())) {
        (Some(study), _) => from_name(args, study, may_unbind)?,
        (None, Some(run)) => from_run(all, args, run)?,
        (None, None) => unreachable!("the command line requires one of them"),
    };
    if let Some(text) = args.time_budget.as_ref().filter(|_| args.resume.is_none()) {
        let budget_ns = time_budget_ns(text)?;
        plan.scale_to_time_budget(budget_ns)
            .map_err(|e| Problem::usage(say(&e.message()), e.help().map_or(String::new(), |help| say(&help))))?;
    }
    Ok(plan)
}

/// `--time-budget` in nanoseconds.
pub(crate) fn time_budget_ns(text: &str) -> Result<u64, Problem> {
    parse_duration_ns(text).map_err(|e| Problem {
        help: Some("for example 90s or 2m".to_owned()),
        ..Problem::of_flag("--time-budget", &e)
    })
}

/// The plan of an earlier run, as it was executed; to be done again by the paths that its drives have today.
fn from_run(all: &Args, args: &SourceArgs, run: &str) -> Result<Plan, Problem> {
    let lab = existing_lab(all)?;
    let run = run_number(&lab, run)?;
    let targets = targets(args.machine.as_deref(), &args.target)?;
    let stored = lab.load_head(run)?.plan;
    if stored.steps.iter().any(|step| !step.role.imported.can_run()) {
        return Err(Problem::usage(
            format!("run {} was imported, and its file does not say all of its load", run.0),
            "give the load to fathom io or to a job file",
        ));
    }
    let (plan, notes) = match args.resume.is_some() || !targets.is_empty() {
        true => (stored, Vec::new()),
        false => plan_again(&lab, run)?,
    };
    let mut plan = plan;
    if args.time_budget.is_some() {
        // They tell how that run came to its length, which this one does not have.
        plan.notes.clear();
    }
    for note in notes {
        talk(&format!("note: {}", say(&note)));
    }
    on_targets(plan, &targets)
}

fn from_name(args: &SourceArgs, study: &str, may_unbind: bool) -> Result<Plan, Problem> {
    let mut overrides = Overrides { may_unbind, ..overrides(args, study)? };
    // `snia-iops` is the part `iops` of `snia`.
    let part = study.split_once('-').filter(|(whole, _)| builtin_studies().iter().any(|(name, _)| name == whole));
    let study = part.map_or(study, |(whole, _)| whole);
    overrides.only.extend(part.map(|(_, name)| name.to_owned()));
    let path = Path::new(study);
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let plan = match extension.as_deref() {
        Some("toml") => parse_study(&text_of(path)?, study, &overrides)?,
        Some("fio" | "job" | "ini") => {
            let text = FioText::File { name: study.to_owned(), text: text_of(path)? };
            let reading = FioReading { with_fio: args.with_fio, ..FioReading::default() };
            with_targets(fio_plan(&[text], study, &reading)?, &overrides)?
        }
        _ if path.is_file() => {
            return Err(Problem::usage(
                format!("{study} is neither a plan (.toml) nor a fio job file (.fio, .job, .ini)"),
                "give it one of these endings",
            ));
        }
        _ => parse_study(study_by_name(study)?, &format!("{study}.toml"), &overrides)?,
    };
    args.cross_check.map_or(Ok(plan.clone()), |program| with_beside(&plan, program))
}

/// The plan with what another program does beside it.
fn with_beside(plan: &Plan, program: OtherProgram) -> Result<Plan, Problem> {
    let (beside, none, help) = match program {
        OtherProgram::Fio => (
            with_fio_beside(plan),
            "--cross-check fio: no load of this plan is one that fio can do beside ours",
            "it does reads of one target in a closed loop, through psync, libaio, io_uring or io_uring_cmd: fathom plan \
             shows what this one has",
        ),
        OtherProgram::Spdk => (
            with_spdk_beside(plan),
            "--cross-check spdk: no load of this plan is one that spdk_nvme_perf can do beside ours",
            "it does reads or writes of one size on the whole of a drive, beside engine nvme, which takes --allow-unbind \
             SERIAL: fathom plan shows what this one has",
        ),
    };
    if beside.steps.len() == plan.steps.len() {
        let left_out = beside.notes.get(plan.notes.len()).map(|note| format!("; {}", say(note)));
        return Err(Problem::usage(format!("{none}{}", left_out.unwrap_or_default()), help));
    }
    Ok(beside)
}

/// The machine that Fathom runs on, as job files see it.
pub(crate) struct ThisMachine;

impl FioHost for ThisMachine {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn included(&self, path: &str) -> std::io::Result<String> {
        read_text(Path::new(path))
    }

    fn is_special(&self, path: &str) -> bool {
        // fio looks at the name itself, not at what a link leads to.
        Path::new(path).symlink_metadata().is_ok_and(|meta| !meta.is_file())
    }

    fn number(&self, of: HostNumber) -> Option<u64> {
        let facts = || HostFacts::collect(&Root::live(), &[]).ok();
        match of {
            HostNumber::Cpus => facts().map(|facts| facts.topology.cpus.len() as u64),
            HostNumber::PageBytes => Some(fathom_host::page_bytes()),
            HostNumber::MemoryMib => facts().map(|facts| facts.memory_bytes >> 20),
        }
    }
}

/// The plan of fio's jobs. Where Fathom cannot run them and the installed fio can, the error says so.
pub(crate) fn fio_plan(texts: &[FioText], name: &str, reading: &FioReading<'_>) -> Result<Plan, Problem> {
    let read = |with_fio| parse_fio(texts, name, &FioReading { with_fio, ..*reading }, &ThisMachine);
    let plan = read(reading.with_fio).map_err(|error| {
        let problem = Problem::from(error);
        if reading.with_fio || read(true).is_err() {
            return problem;
        }
        Problem { help: Some("or let the installed fio run it: --with-fio".to_owned()), ..problem }
    })?;
    with_traces(plan)
}

/// A trace so large is read for a while.
const LONG_TRACE_BYTES: u64 = 256 << 20;

/// Looks through the traces that the steps replay: what they touch has to be known before anything is judged.
fn with_traces(mut plan: Plan) -> Result<Plan, Problem> {
    for step in &mut plan.steps {
        let Some(replay) = &mut step.workload.order.replay else { continue };
        let failed = |path: &str, error: &dyn Say| {
            let message = format!("{path}: {}", say(&error.message()));
            Problem::usage(message, error.help().as_ref().map(say).unwrap_or_default())
        };
        let cannot = |path: &str, error: std::io::Error| failed(path, &TraceError::Io(error));
        // It is found again from any folder.
        let path = fs::canonicalize(&replay.path).map_err(|e| cannot(&replay.path, e))?;
        replay.path = path.display().to_string();
        let path = replay.path.clone();
        let meta = fs::metadata(&path).map_err(|e| cannot(&path, e))?;
        if !meta.is_file() {
            return Err(cannot(&path, std::io::ErrorKind::InvalidInput.into()));
        }
        if meta.len() > LONG_TRACE_BYTES {
            talk(&format!("reading {path} ({})", fathom_units::format_bytes(meta.len())));
        }
        let file = open_to_read(Path::new(&path)).map_err(|e| cannot(&path, e))?;
        let trace = Trace::begin(BufReader::with_capacity(1 << 20, file)).map_err(|e| failed(&path, &e))?;
        let names_devices = trace.format() == TraceFormat::Blktrace;
        let found = TraceSummary::of(trace).map_err(|e| failed(&path, &e))?;
        plan.notes.push(step.set_replay(&found, names_devices).map_err(|e| failed(&path, &e))?);
    }
    Ok(plan)
}

/// A fio job says everything itself; only its targets can be replaced.
fn with_targets(plan: Plan, overrides: &Overrides) -> Result<Plan, Problem> {
    if !overrides.set.is_empty() || !overrides.groups.is_empty() {
        return Err(Problem::usage(
            "--set, knobs such as --size, and --group do not go with a fio job file",
            "change the job file; only --target replaces its filename",
        ));
    }
    on_targets(plan, &overrides.targets)
}

/// The plan on other targets, if any: all of them in every step where its steps share one list, else each in the place of
/// the one that the plan names as that number. Steps on other lists than the rest, as groups and numbers of drives
/// make them, stay apart.
fn on_targets(mut plan: Plan, paths: &[String]) -> Result<Plan, Problem> {
    if paths.is_empty() {
        return Ok(plan);
    }
    let mut named: Vec<TargetId> = Vec::new();
    for target in plan.steps.iter().flat_map(|s| &s.targets) {
        if !named.contains(target) {
            named.push(target.clone());
        }
    }
    let targets: Vec<TargetId> = paths.iter().map(|path| TargetId::new(path.clone())).collect();
    let share_one_list = plan.steps.iter().all(|s| s.targets.len() == named.len());
    if !share_one_list && targets.len() != named.len() {
        let names: Vec<&str> = named.iter().map(fathom_plan::TargetId::as_str).collect();
        return Err(Problem::usage(
            format!(
                "{} targets cannot stand for the {} that the steps of this plan share out",
                targets.len(),
                names.len()
            ),
            format!("give --target once for each, in this order: {}", names.join(", ")),
        ));
    }
    for step in &mut plan.steps {
        if share_one_list {
            step.targets.clone_from(&targets);
            continue;
        }
        for target in &mut step.targets {
            let place = named.iter().position(|n| n == target);
            target.clone_from(&targets[place.expect("every target of a step was collected above")]);
        }
    }
    Ok(plan)
}

fn overrides(args: &SourceArgs, study: &str) -> Result<Overrides, Problem> {
    let mut targets = if args.machine.is_some() && args.target.is_empty() && !args.group.is_empty() {
        Vec::new()
    } else {
        targets(args.machine.as_deref(), &args.target)?
    };
    let groups = args
        .group
        .iter()
        .map(|g| match pair("--group", g)? {
            (name, list) if !name.is_empty() && !list.is_empty() => {
                let list: Vec<String> = list.split(',').map(str::to_owned).collect();
                Ok((name.to_owned(), self::targets(args.machine.as_deref(), &list)?))
            }
            _ => Err(Problem::usage(format!("--group {g} names no targets"), "write NAME=TARGET,TARGET")),
        })
        .collect::<Result<Vec<(String, Vec<String>)>, Problem>>()?;
    let pairs = args.set.iter().map(|s| pair("--set", s)).collect::<Result<Vec<_>, _>>()?;
    let set = args.knobs.iter().chain(pairs).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let named_in_file = Path::new(study).extension().is_some();
    if targets.is_empty() && groups.is_empty() && !named_in_file {
        targets.push(".".to_owned());
    }
    let versus = args.versus.as_deref().map(|v| pair("--versus", v)).transpose()?;
    Ok(Overrides {
        targets,
        groups,
        set,
        only: args.only.clone(),
        may_unbind: false,
        versus: versus.map(|(k, v)| (k.to_owned(), v.to_owned())),
        host_settings: SETTING_WORDS.iter().map(|word| (*word).to_owned()).collect(),
        describe: false,
    })
}

/// Targets as typed; with a simulated machine they are its parts, and without any its default.
pub(crate) fn targets(machine: Option<&str>, typed: &[String]) -> Result<Vec<String>, Problem> {
    let Some(machine) = machine else { return expanded(typed) };
    // Here, so that a bad file is reported before a bad part.
    let machine = simulated_machine(machine)?.name;
    let part = |typed: &String| {
        let rest = typed.strip_prefix("sim:").unwrap_or(typed);
        match rest.strip_prefix(machine.as_str()) {
            Some(part) if part.is_empty() || part.starts_with('/') => format!("sim:{machine}{part}"),
            _ => format!("sim:{machine}/{rest}"),
        }
    };
    match typed {
        [] => expanded(&[format!("sim:{machine}")]),
        some => expanded(&some.iter().map(part).collect::<Vec<_>>()),
    }
}

/// Patterns and serial numbers as the targets that they name.
fn expanded(targets: &[String]) -> Result<Vec<String>, Problem> {
    let mut out: Vec<String> = Vec::new();
    for target in targets {
        for name in expand_target(&Root::live(), target)? {
            if !out.contains(&name) {
                out.push(name);
            }
        }
    }
    Ok(out)
}

/// Splits `KEY=VALUE`.
pub(crate) fn pair<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), Problem> {
    text.split_once('=')
        .map(|(k, v)| (k.trim(), v.trim()))
        .ok_or_else(|| Problem::usage(format!("{flag} {text} has no `=`"), format!("write {flag} KEY=VALUE")))
}

pub(super) fn text_of(path: &Path) -> Result<String, Problem> {
    read_text(path).map_err(|e| {
        Problem::new(
            Exit::Usage,
            format!("cannot read {}: {e}", path.display()),
            "fathom studies lists what is built in",
        )
    })
}
