//! Study files: TOML that reads like the test description of an article.
//!
//! `[study]` holds `name` and `question` (and `settle = true`: use the remaining time for probes; `skip_lacking = true`: skip steps that the machine cannot run), `[defaults]` knobs, each `[[ladder]]` knobs of which any may be a list: the
//! ladder is their product. The first key of a ladder is the outermost loop and the last the innermost, unless
//! `order = ["rw", "iodepth"]` (outermost first) says otherwise. `interleave = "placement"` runs each cell of the
//! other knobs as A B B A over that knob, so that drift cancels. `target` names a file or device, or a list of them.
//! `groups = "targets"` in `[study]` makes each target a group of its own, so that every cell is measured on one after the other.
//! `outermost = "read_pct"` in `[study]` runs all ladders at the first value of that knob, then all at the second.
//! `blocks = 3` repeats that A B B A three times. A table `runtime = { min = "2s", max = "10s" }` stops between the two
//! once the interval is narrow.
//!
//! `precondition` and the other knobs of its group put conditioning steps before the steps that need them (see `condition`).
//! `rounds = 25` with `track = { metric = "iops", read_pct = 0, bs = "4k" }` makes the whole ladder one round of a loop
//! that is repeated until the tracked cell is steady. `name = "iops"` names a ladder so that `--only iops` can pick it.
//! Several `[[ladder.stream]]` in a ladder are loads that run at once in each of its cells: each has a `name`, knobs of its own
//! (lists are loops inside the ladder's), and its own `target` if it says one; all else is the ladder's.
//! `rate_iops = "75%"` is a share of the highest IOPS that a closed loop of the same work gave before; where no ladder has
//! one, it is put before the step (see `share`).

mod builtin;
mod cells;
mod outermost;
mod text;

use std::ops::Range;

use fathom_message::{Arg, Join, Message, Say, msg};
use fathom_units::{advice, did_you_mean};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::array::ArrayNameError;
use crate::condition::{ROUNDS_MAX, ROUNDS_MIN, with_conditioning};
use crate::error::{FaultKind, SourceError};
use crate::knobs::{self, KnobError, Knobs};
use crate::label::tell_apart;
use crate::plan::{Plan, StudyHead};
use crate::role::{Metric, Precondition};
use crate::share::with_bases;
use crate::step::{EngineName, Step, TargetId};
use crate::stream::{gathered, name_streams};

pub(crate) use builtin::{IO, is_shipped};
pub use builtin::{builtin_studies, question_message, study_by_name};
use cells::{Axis, Ladder, LadderValue, StreamSpec, Track, Versus};
use outermost::Outermost;
use text::{Source, scalar_text, sorted_entries, string_list};

/// Most blocks of an interleaved ladder.
const BLOCKS_MAX: u32 = 1_000;
/// What a study of arrays is described with where no target is named.
const DESCRIBED_MEMBERS: [&str; 4] = ["a", "b", "c", "d"];
/// Most steps that one plan may hold.
pub const STEPS_MAX: usize = 10_000;

/// What the command line adds to a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--target`, all judged as one group; replaces the file's own.
    pub targets: Vec<String>,
    /// `--group NAME=T,T`: each cell is measured for one group after the other.
    pub groups: Vec<(String, Vec<String>)>,
    /// `--set key=value`, in order; a value `[1, 2, 4]` is a list.
    pub set: Vec<(String, String)>,
    /// `--only NAME`: these ladders alone; empty: all.
    pub only: Vec<String>,
    /// Drives may leave the kernel (`--allow-unbind`): ladders of engine nvme take part, which otherwise need to be named.
    pub may_unbind: bool,
    /// `--versus key=value`: each cell also with this knob or setting of the host, in interleaved blocks.
    pub versus: Option<(String, String)>,
    /// Words that `--versus` may name beside knobs: the settings that the host can change.
    pub host_settings: Vec<String>,
    /// Only to be described: a study that needs `--versus` is then read without it.
    pub describe: bool,
}

/// A default or override that applies to all cells.
#[derive(Clone, Debug)]
struct Setting {
    key: String,
    value: String,
    /// Of key and value in the file; `None` for `--set`.
    spans: Option<(Range<usize>, Range<usize>)>,
}

impl Setting {
    /// A loop over its one value.
    fn into_axis(self) -> Axis {
        let values = vec![LadderValue { text: self.value, span: 0..0 }];
        Axis { key: self.key, key_span: None, values }
    }
}

/// Reads a study file.
///
/// # Errors
/// Anything that is not supported, with its line and column: TOML syntax, unknown keys (with the nearest word),
/// bad values, contradictions, no target at all.
pub fn parse_study(text: &str, file_name: &str, overrides: &Overrides) -> Result<Plan, SourceError> {
    let read = |text: &str| read_study(text, file_name, overrides);
    // Whether a value is right may be up to one that was left out; whether a key is known is not.
    let is_unknown_key = |error: &SourceError| error.place.line > 0 && error.fault == FaultKind::UnknownKey;
    read(text).map_err(|e| match e.place.line {
        0 => e,
        _ => e.with_others_of_toml(text, &|rest| read(rest).err(), is_unknown_key),
    })
}

fn read_study(text: &str, file_name: &str, overrides: &Overrides) -> Result<Plan, SourceError> {
    let source = Source { file: file_name, text };
    let root = DeTable::parse(text).map_err(|e| source.toml_error(&e))?;
    let root = root.get_ref();
    for (key, _) in sorted_entries(root) {
        if !["study", "defaults", "ladder"].contains(&key.get_ref().as_ref()) {
            return Err(source.unknown_key(key, ["study", "defaults", "ladder"]));
        }
    }
    let Head { study, outermost, needs_members, is_group_each } = read_head(&source, root, overrides)?;
    let described;
    let overrides = match overrides.describe && needs_members {
        true => {
            let targets = DESCRIBED_MEMBERS.map(str::to_owned).to_vec();
            described = Overrides { targets, groups: Vec::new(), ..overrides.clone() };
            &described
        }
        false => overrides,
    };
    let mut notes = Vec::new();
    let (defaults, default_targets) = read_defaults(&source, root)?;
    let (scalars, lists) = read_overrides(overrides, &mut notes)?;
    let versus = overrides.versus.as_ref().map(|v| read_versus(v, overrides)).transpose()?;
    let mut unfolded = cells::Unfolded::default();
    let ladders = read_ladders(&source, root)?;
    // Where some ladders are of arrays, the others are of their members, whatever level is asked for.
    let is_kept = |key: &str| ["array", "missing"].contains(&key) && ladders.iter().any(|ladder| ladder.names(key));
    let (kept, scalars): (Vec<Setting>, Vec<Setting>) = scalars.into_iter().partition(|s| is_kept(&s.key));
    let (kept_lists, lists): (Vec<Axis>, Vec<Axis>) = lists.into_iter().partition(|axis| is_kept(&axis.key));
    let kept: Vec<Axis> = kept.into_iter().map(Setting::into_axis).chain(kept_lists).collect();
    let mut ladders = only(ladders, overrides)?;
    for ladder in &mut ladders {
        ladder.override_axes(&scalars, &lists, &kept);
    }
    if let Some(outermost) = outermost {
        ladders = outermost.arrange(&source, ladders)?;
    }
    for mut ladder in ladders {
        if let Some(versus) = &versus {
            if !ladder.streams.is_empty() {
                let shown = format!("--versus {}={}", versus.key, versus.value);
                let help = msg!("study-streams-in-turns-help");
                return Err(SourceError::without_place(&shown, msg!("study-streams-in-turns"), Some(help)));
            }
            ladder.add_versus(versus)?;
        }
        let targets = ladder.targets.take().unwrap_or_else(|| default_targets.clone());
        let groups =
            groups(&targets, overrides, is_group_each).map_err(|e| source.knob_error(&e, ladder.span.clone()))?;
        let replaces_targets = !overrides.targets.is_empty() || !overrides.groups.is_empty();
        let job =
            cells::Job { source: &source, defaults: &defaults, overrides: &scalars, groups: &groups, replaces_targets };
        job.unfold(&ladder, &mut unfolded, &mut notes)?;
    }
    if let Some(why) = unfolded.left_out.filter(|_| unfolded.planned.iter().all(|p| p.arrangement.level.is_none())) {
        let help = match why {
            ArrayNameError::TooFewMembers { .. } => Some(msg!("study-needs-members-help")),
            _ => why.help(),
        };
        return Err(SourceError::without_place("", why.message(), help));
    }
    let mut planned = with_bases(&unfolded.planned, &mut notes);
    if planned.iter().any(|p| p.conditions.method == Precondition::Quick) {
        knobs::push_note(&mut notes, msg!("study-quick-precondition"));
    }
    tell_apart(planned.iter_mut().map(|p| &mut p.step));
    name_streams(planned.iter_mut().map(|p| &mut p.step));
    let mut steps = gathered(with_conditioning(planned));
    if steps.len() > STEPS_MAX {
        let message = msg!("study-too-many-steps-conditioned", steps = steps.len(), max = STEPS_MAX);
        let help = msg!("study-too-many-steps-conditioned-help");
        return Err(SourceError::without_place(file_name, message, Some(help)));
    }
    for (index, step) in (0u32..).zip(steps.iter_mut()) {
        step.index = index;
        step.seed = step.seed.wrapping_add(u64::from(index));
    }
    Ok(Plan { study, source: text.to_owned(), steps, notes, job_files: Vec::new(), machine: None, ranks: None })
}

/// Gives steps their index, their own seed and labels that tell them apart.
pub(crate) fn number(steps: &mut [Step]) {
    for (index, step) in (0u32..).zip(steps.iter_mut()) {
        step.index = index;
        step.seed = step.seed.wrapping_add(u64::from(index));
    }
    tell_apart(steps.iter_mut());
}

/// The ladders that `--only` names, or all.
fn only(ladders: Vec<Ladder>, overrides: &Overrides) -> Result<Vec<Ladder>, SourceError> {
    let names: Vec<&str> = ladders.iter().filter_map(|l| l.name.as_deref()).collect();
    if let Some(unknown) = overrides.only.iter().find(|o| !names.contains(&o.as_str())) {
        let help = if names.is_empty() { msg!("study-parts-without-names") } else { advice(unknown, &names) };
        let message = msg!("study-no-such-part", part = unknown);
        return Err(SourceError::without_place(&format!("--only {unknown}"), message, Some(help)));
    }
    if overrides.only.is_empty() {
        let past_kernel = |ladder: &Ladder| ladder.is_all("engine", EngineName::Nvme.as_str());
        return Ok(ladders.into_iter().filter(|ladder| overrides.may_unbind || !past_kernel(ladder)).collect());
    }
    Ok(ladders.into_iter().filter(|l| l.name.as_ref().is_some_and(|n| overrides.only.contains(n))).collect())
}

/// `--versus`: a knob, or else a setting of the host.
fn read_versus((key, value): &(String, String), overrides: &Overrides) -> Result<Versus, SourceError> {
    let shown = format!("--versus {key}={value}");
    if is_target(key) {
        let help = msg!("study-compare-groups");
        return Err(SourceError::without_place(&shown, msg!("study-target-is-no-knob"), Some(help)));
    }
    if knobs::knob(key).is_some() {
        let fail = |e: KnobError| SourceError::without_place(&shown, e.message, e.help);
        Knobs::new().set(key, value).map_err(fail)?;
    } else if !overrides.host_settings.contains(key) {
        let words: Vec<&str> = knobs::all_words().map(|w| w as &str).collect();
        let words = words.into_iter().chain(overrides.host_settings.iter().map(String::as_str));
        let all = || msg!("study-host-settings", settings = setting_names(overrides));
        let help = did_you_mean(key, words).unwrap_or_else(all);
        return Err(SourceError::without_place(&shown, msg!("study-unknown-side", key = key), Some(help)));
    }
    Ok(Versus { key: key.clone(), value: value.clone() })
}

fn setting_names(overrides: &Overrides) -> Arg {
    Arg::names(overrides.host_settings.iter().map(String::as_str), Join::Comma)
}

/// What stands under `[study]`.
struct Head {
    study: StudyHead,
    outermost: Option<Outermost>,
    /// Whether arrays are made of the targets, so that one is not enough.
    needs_members: bool,
    /// Whether each target is a group of its own.
    is_group_each: bool,
}

fn read_head(source: &Source<'_>, root: &DeTable<'_>, overrides: &Overrides) -> Result<Head, SourceError> {
    let stem = source.file.rsplit('/').next().unwrap_or(source.file);
    let mut head = StudyHead::new(stem.strip_suffix(".toml").unwrap_or(stem), "");
    let (mut outermost, mut needs_members, mut is_group_each) = (None, false, false);
    let Some(table) = source.table(root, "study")? else {
        return Ok(Head { study: head, outermost, needs_members, is_group_each });
    };
    for (key, value) in sorted_entries(table) {
        let field = match key.get_ref().as_ref() {
            "name" => &mut head.name,
            "question" => &mut head.question,
            "needs" => {
                needs_members = check_need(source, value, overrides)?;
                continue;
            }
            switch @ ("settle" | "skip_lacking") => {
                let Some(is_on) = value.get_ref().as_bool() else {
                    return Err(source.error(
                        value.span(),
                        msg!("study-switch-expected", name = switch.to_owned()),
                        None,
                    ));
                };
                let place = if switch == "settle" { &mut head.settle } else { &mut head.skip_lacking };
                *place = is_on;
                continue;
            }
            "outermost" => {
                outermost = Some(outermost::read(source, value)?);
                continue;
            }
            "groups" => {
                if value.get_ref().as_str() != Some("targets") {
                    return Err(source.error(value.span(), msg!("study-groups-expected"), None));
                }
                is_group_each = true;
                continue;
            }
            _ => {
                return Err(source
                    .unknown_key(key, ["name", "question", "needs", "settle", "skip_lacking", "outermost", "groups"]));
            }
        };
        let text = value.get_ref().as_str().map(str::trim).filter(|t| !t.is_empty());
        *field = text.ok_or_else(|| source.error(value.span(), msg!("study-text-expected"), None))?.to_owned();
    }
    Ok(Head { study: head, outermost, needs_members, is_group_each })
}

/// `needs = "versus"`: the study compares what the user names; `needs = "members"`: it makes arrays of the targets, which is
/// what is answered.
fn check_need(source: &Source<'_>, value: &Spanned<DeValue<'_>>, overrides: &Overrides) -> Result<bool, SourceError> {
    match value.get_ref().as_str() {
        Some("members") => return Ok(true),
        Some("versus") => {}
        _ => return Err(source.error(value.span(), msg!("study-unknown-need"), None)),
    }
    if overrides.versus.is_some() || overrides.describe {
        return Ok(false);
    }
    let help = match overrides.host_settings.is_empty() {
        true => msg!("study-needs-versus-help"),
        false => msg!("study-needs-versus-or-setting-help", settings = setting_names(overrides)),
    };
    Err(SourceError::without_place("", msg!("study-needs-versus"), Some(help)))
}

type Defaults = (Vec<Setting>, Vec<String>);

fn read_defaults(source: &Source<'_>, root: &DeTable<'_>) -> Result<Defaults, SourceError> {
    let (mut settings, mut targets) = (Vec::new(), Vec::new());
    let Some(table) = source.table(root, "defaults")? else {
        return Ok((settings, targets));
    };
    for (key, value) in sorted_entries(table) {
        if is_target(key.get_ref()) {
            targets = string_list(source, value)?;
            continue;
        }
        source.check_knob(key, ["target"])?;
        if value.get_ref().is_array() {
            let help = Some(msg!("study-list-in-defaults-help"));
            return Err(source.error(value.span(), msg!("study-list-in-defaults"), help));
        }
        let setting = Setting {
            key: key.get_ref().to_string(),
            value: scalar_text(source, key.get_ref(), value)?,
            spans: Some((key.span(), value.span())),
        };
        Knobs::new().set(&setting.key, &setting.value).map_err(|e| source.knob_error(&e, value.span()))?;
        settings.push(setting);
    }
    Ok((settings, targets))
}

fn read_ladders(source: &Source<'_>, root: &DeTable<'_>) -> Result<Vec<Ladder>, SourceError> {
    let Some((_, value)) = sorted_entries(root).into_iter().find(|(k, _)| k.get_ref() == "ladder") else {
        // A study without a ladder is one step made of its defaults.
        return Ok(vec![Ladder::single(0..0)]);
    };
    let not_ladder = || source.error(value.span(), msg!("study-not-a-ladder"), None);
    let tables = value.get_ref().as_array().ok_or_else(not_ladder)?;
    tables.iter().map(|t| read_ladder(source, t.get_ref().as_table().ok_or_else(not_ladder)?, t.span())).collect()
}

fn read_ladder(source: &Source<'_>, table: &DeTable<'_>, span: Range<usize>) -> Result<Ladder, SourceError> {
    const OWN_KEYS: [&str; 9] =
        ["target", "order", "interleave", "blocks", "rounds", "track", "name", "stream", "stage"];
    let mut ladder = Ladder::single(span);
    let mut order = None;
    let mut interleave = None;
    let mut track = None;
    for (key, value) in sorted_entries(table) {
        match key.get_ref().as_ref() {
            name if is_target(name) => ladder.targets = Some(string_list(source, value)?),
            "order" => order = Some(value),
            "interleave" => interleave = Some(value),
            "blocks" => ladder.blocks = Some(whole(source, value, 1, BLOCKS_MAX)?),
            "rounds" => ladder.rounds = Some(whole(source, value, ROUNDS_MIN, ROUNDS_MAX)?),
            "track" => track = Some(value),
            "name" => ladder.name = string_list(source, value)?.into_iter().next(),
            "stream" => ladder.streams = read_streams(source, value)?,
            "stage" => ladder.axes.push(read_stages(source, key.span(), value)?),
            _ => {
                source.check_knob(key, OWN_KEYS)?;
                ladder.axes.push(read_axis(source, key.get_ref(), key.span(), value)?);
            }
        }
    }
    if let Some(value) = order {
        let mut sorted = Vec::new();
        for word in axis_names(source, value)? {
            sorted.push(take_axis(source, &mut ladder.axes, &word, value)?);
        }
        // Knobs that `order` leaves out stay innermost, in the order of the file.
        sorted.append(&mut ladder.axes);
        ladder.axes = sorted;
    }
    if let Some(value) = interleave {
        for word in axis_names(source, value)? {
            let axis = take_axis(source, &mut ladder.axes, &word, value)?;
            ladder.axes.push(axis);
            ladder.interleaved += 1;
        }
    }
    if !ladder.streams.is_empty() && (ladder.interleaved > 0 || ladder.rounds.is_some()) {
        return Err(source.error(
            ladder.span,
            msg!("study-streams-in-turns"),
            Some(msg!("study-streams-in-turns-help")),
        ));
    }
    ladder.track = track.map(|value| read_track(source, value, &ladder.axes)).transpose()?;
    if let (Some(_), None) = (ladder.rounds, &ladder.track) {
        let help = msg!("study-rounds-without-track-help");
        return Err(source.error(ladder.span, msg!("study-rounds-without-track"), Some(help)));
    }
    Ok(ladder)
}

/// `[[ladder.stage]]` with `rate` and `for`: the knob `stages`, a table a stage.
fn read_stages(source: &Source<'_>, key_span: Range<usize>, value: &Spanned<DeValue<'_>>) -> Result<Axis, SourceError> {
    let bad = |span| source.error(span, msg!("study-not-stages"), Some(msg!("study-not-stages-help")));
    let tables = value.get_ref().as_array().ok_or_else(|| bad(value.span()))?;
    let mut stages = Vec::new();
    for table in tables {
        let (mut length, mut rate) = (None, None);
        for (key, value) in sorted_entries(table.get_ref().as_table().ok_or_else(|| bad(table.span()))?) {
            match key.get_ref().as_ref() {
                "for" => length = Some(scalar_text(source, "for", value)?),
                "rate" => rate = Some(scalar_text(source, "rate", value)?),
                _ => return Err(bad(key.span())),
            }
        }
        let (Some(length), Some(rate)) = (length, rate) else { return Err(bad(table.span())) };
        stages.push(format!("{length}@{rate}"));
    }
    let values = vec![LadderValue { text: stages.join(","), span: value.span() }];
    Ok(Axis { key: "stages".to_owned(), key_span: Some(key_span), values })
}

/// The loads of a ladder that run at once.
fn read_streams(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<StreamSpec>, SourceError> {
    let bad = || source.error(value.span(), msg!("study-not-streams"), Some(msg!("study-not-streams-help")));
    let tables = value.get_ref().as_array().ok_or_else(bad)?;
    let mut streams: Vec<StreamSpec> = Vec::new();
    for table in tables {
        let span = table.span();
        let mut stream = StreamSpec { span: span.clone(), name: String::new(), axes: Vec::new(), targets: None };
        for (key, value) in sorted_entries(table.get_ref().as_table().ok_or_else(bad)?) {
            match key.get_ref().as_ref() {
                name if is_target(name) => stream.targets = Some(string_list(source, value)?),
                "name" => stream.name = string_list(source, value)?.into_iter().next().unwrap_or_default(),
                _ => {
                    source.check_knob(key, ["target", "name"])?;
                    stream.axes.push(read_axis(source, key.get_ref(), key.span(), value)?);
                }
            }
        }
        if stream.name.is_empty() || streams.iter().any(|other| other.name == stream.name) {
            return Err(source.error(span, msg!("study-stream-name"), Some(msg!("study-stream-name-help"))));
        }
        streams.push(stream);
    }
    match streams.len() {
        0 | 1 => Err(bad()),
        _ => Ok(streams),
    }
}

/// `{ metric = "iops", read_pct = 0, bs = "4k" }`: the figure, and the values that single out the cell.
fn read_track(source: &Source<'_>, value: &Spanned<DeValue<'_>>, axes: &[Axis]) -> Result<Track, SourceError> {
    const METRICS: [Metric; 3] = [Metric::Iops, Metric::BytesPerS, Metric::LatMean];
    let bad = || source.error(value.span(), msg!("study-track-is-a-table"), Some(msg!("study-track-is-a-table-help")));
    let table = value.get_ref().as_table().ok_or_else(bad)?;
    let mut track = Track { metric: Metric::Iops, cell: Vec::new() };
    for (key, value) in sorted_entries(table) {
        let name = key.get_ref().as_ref();
        let text = scalar_text(source, name, value)?;
        if name == "metric" {
            let words = METRICS.map(Metric::as_str);
            let found = METRICS.into_iter().find(|m| m.as_str() == text);
            let unknown = || msg!("study-unknown-figure", figure = &text);
            track.metric = found.ok_or_else(|| source.error(value.span(), unknown(), Some(advice(&text, &words))))?;
            continue;
        }
        let axis = axes.iter().find(|a| knobs::knob(&a.key).map(|k| k.name) == knobs::knob(name).map(|k| k.name));
        let known = axis.is_some_and(|a| a.values.iter().any(|v| v.text == text));
        if !known {
            let message = msg!("study-no-such-cell", key = name.to_owned(), value = text);
            return Err(source.error(value.span(), message, Some(msg!("study-no-such-cell-help"))));
        }
        track.cell.push((axis.map_or_else(String::new, |a| a.key.clone()), text));
    }
    Ok(track)
}

/// A whole number in `min..=max`.
fn whole(source: &Source<'_>, value: &Spanned<DeValue<'_>>, min: u32, max: u32) -> Result<u32, SourceError> {
    let number = value.get_ref().as_integer().and_then(|i| i.as_str().parse::<u32>().ok());
    number
        .filter(|n| (min..=max).contains(n))
        .ok_or_else(|| source.error(value.span(), msg!("study-whole-expected", min = min, max = max), None))
}

fn axis_names(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, SourceError> {
    string_list(source, value)
}

fn take_axis(
    source: &Source<'_>,
    axes: &mut Vec<Axis>,
    word: &str,
    at: &Spanned<DeValue<'_>>,
) -> Result<Axis, SourceError> {
    let found = axes.iter().position(|a| knobs::knob(&a.key).map(|k| k.name) == knobs::knob(word).map(|k| k.name));
    match found {
        Some(i) => Ok(axes.remove(i)),
        None => Err(source.error(
            at.span(),
            msg!("study-no-knob-of-ladder", word = word.to_owned()),
            Some(msg!("study-no-knob-of-ladder-help")),
        )),
    }
}

fn read_axis(
    source: &Source<'_>,
    key: &str,
    key_span: Range<usize>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Axis, SourceError> {
    let mut values = Vec::new();
    let single = std::slice::from_ref(value);
    let items = value.get_ref().as_array().map_or_else(|| single.iter().collect(), |a| a.iter().collect::<Vec<_>>());
    if items.is_empty() {
        return Err(source.error(value.span(), msg!("study-empty-list"), Some(msg!("study-empty-list-help"))));
    }
    for item in items {
        let text = scalar_text(source, key, item)?;
        Knobs::new().set(key, &text).map_err(|e| source.knob_error(&e, item.span()))?;
        values.push(LadderValue { text, span: item.span() });
    }
    Ok(Axis { key: key.to_owned(), key_span: Some(key_span), values })
}

type ReadOverrides = (Vec<Setting>, Vec<Axis>);

fn read_overrides(overrides: &Overrides, notes: &mut Vec<Message>) -> Result<ReadOverrides, SourceError> {
    let (mut scalars, mut lists) = (Vec::new(), Vec::new());
    for (key, value) in &overrides.set {
        let shown = format!("--set {key}={value}");
        let fail = |e: &KnobError| SourceError::without_place(&shown, e.message.clone(), e.help.clone());
        if is_target(key) {
            let help = msg!("study-set-target-help");
            return Err(SourceError::without_place(&shown, msg!("study-target-is-no-knob"), Some(help)));
        }
        if value.trim_start().starts_with('[') {
            lists.push(list_override(key, value, &shown)?);
        } else {
            Knobs::new().set(key, value).map_err(|e| fail(&e))?;
            scalars.push(Setting { key: key.clone(), value: value.clone(), spans: None });
        }
        knobs::push_note(notes, Message::verbatim(shown));
    }
    Ok((scalars, lists))
}

/// `--set iodepth=[1, 2, 4]`: a list in TOML.
fn list_override(key: &str, value: &str, shown: &str) -> Result<Axis, SourceError> {
    let text = format!("x = {value}");
    let source = Source { file: shown, text: &text };
    let table = DeTable::parse(&text).map_err(|e| {
        let message = msg!("invalid-toml", why = e.message().replace('\n', ", "));
        SourceError::without_place(shown, message, Some(msg!("study-list-help")))
    })?;
    let entry = sorted_entries(table.get_ref()).into_iter().next();
    let (_, value) = entry.ok_or_else(|| SourceError::without_place(shown, msg!("study-empty-list"), None))?;
    if knobs::knob(key).is_none() {
        let e = knobs::unknown_key(key, knobs::all_words());
        return Err(SourceError::without_place(shown, e.message, e.help));
    }
    let mut axis =
        read_axis(&source, key, 0..0, value).map_err(|e| SourceError::without_place(shown, e.message, e.help))?;
    axis.key_span = None;
    Ok(axis)
}

fn is_target(key: &str) -> bool {
    matches!(key, "target" | "targets" | "filename")
}

/// A group's name and its targets.
type Group = (String, Vec<TargetId>);

/// The groups of a ladder; `is_group_each`: each target is one, where the command line names none.
fn groups(targets: &[String], overrides: &Overrides, is_group_each: bool) -> Result<Vec<Group>, KnobError> {
    let bad = |message: Message, help: Message| {
        Err(KnobError { key: "target".to_owned(), unknown_key: false, message, help: Some(help) })
    };
    let make = |paths: &[String]| paths.iter().map(|path| TargetId::new(path.clone())).collect::<Vec<_>>();
    if !overrides.groups.is_empty() {
        if !overrides.targets.is_empty() {
            return bad(msg!("study-target-and-group"), msg!("study-target-and-group-help"));
        }
        let mut groups: Vec<Group> = Vec::new();
        for (name, paths) in &overrides.groups {
            if paths.is_empty() || groups.iter().any(|(n, _)| n == name) {
                return bad(msg!("study-bad-group", group = name), msg!("study-bad-group-help"));
            }
            groups.push((name.clone(), make(paths)));
        }
        return Ok(groups);
    }
    let paths = if overrides.targets.is_empty() { targets } else { &overrides.targets };
    if paths.is_empty() {
        return bad(msg!("knob-no-target"), msg!("study-no-target-help"));
    }
    if is_group_each && paths.len() > 1 {
        let named = |path: &String| (group_name(path, paths), make(std::slice::from_ref(path)));
        return Ok(paths.iter().map(named).collect());
    }
    Ok(vec![("A".to_owned(), make(paths))])
}

/// What a target is called beside the others: the last part of its path where that tells it apart, else all of it.
fn group_name(path: &str, paths: &[String]) -> String {
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let own = last(path);
    let is_own = paths.iter().filter(|other| last(other) == own).count() == 1;
    if is_own && !own.is_empty() { own } else { path.to_owned() }
}

#[cfg(test)]
mod conduct_tests;
#[cfg(test)]
mod tests;
