//! From TOML to the catalogue, with every entry held to a known source.

use std::collections::{BTreeMap, BTreeSet};

use fathom_message::{Message, msg};
use fathom_plan::{FaultKind, SourceError};
use serde::Deserialize;

use super::hardware::{Controller, Cpu, Device, EngineCost, LinkEntry};
use super::metric::{self, PublishedMetric};
use super::published::{Check, Claim, Conditions, Figure, Platform, Source};
use super::words::{FigureKind, FigureRelation};
use super::{Catalogue, did_you_mean};

/// A file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    source: Vec<Source>,
    #[serde(default)]
    device: Vec<Device>,
    #[serde(default)]
    controller: Vec<Controller>,
    #[serde(default)]
    cpu: Vec<Cpu>,
    #[serde(default)]
    link: Vec<LinkEntry>,
    #[serde(default)]
    engine: Vec<EngineCost>,
    #[serde(default)]
    platform: Vec<Platform>,
    #[serde(default)]
    measurement: Vec<Measurement>,
    #[serde(default)]
    check: Vec<Check>,
    #[serde(default)]
    claim: Vec<Claim>,
}

/// Figures that share their conditions.
#[derive(Deserialize)]
struct Measurement {
    source: String,
    #[serde(flatten)]
    conditions: Conditions,
    figure: Vec<WrittenFigure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFigure {
    id: String,
    kind: FigureKind,
    #[serde(deserialize_with = "metric::from_file")]
    metric: PublishedMetric,
    value: f64,
    value_max: Option<f64>,
    #[serde(default)]
    relation: FigureRelation,
    #[serde(default)]
    approx: bool,
    unit_printed: Option<String>,
    #[serde(default)]
    corrected: bool,
    literal: Option<String>,
    verified: Option<String>,
    quote: Option<String>,
    note: Option<String>,
}

pub(super) fn parse(files: &[(&str, &str)]) -> Result<Catalogue, SourceError> {
    let mut all = Catalogue::default();
    let mut names = BTreeMap::new();
    let mut wanted = Vec::new();
    for (name, text) in files {
        let file: File = toml::from_str(text).map_err(|e| toml_error(name, text, &e))?;
        take(&mut all, file, &Origin { name, text }, &mut names, &mut wanted)?;
    }
    for want in &wanted {
        if !all.sources.iter().any(|s| s.id == want.source) {
            let near = fathom_units::nearest(&want.source, all.sources.iter().map(|s| s.id.as_str()));
            let help = near.map_or_else(|| msg!("catalogue-source-unknown-help"), did_you_mean);
            let message = msg!("catalogue-source-unknown", entry = &want.id, source = &want.source);
            return Err(want.place.error(&want.id, message, help));
        }
    }
    link_checks(&mut all)?;
    Ok(all)
}

/// Where an entry was written.
#[derive(Clone, Copy)]
struct Origin<'a> {
    name: &'a str,
    text: &'a str,
}

impl Origin<'_> {
    /// An error at the line that gives an entry its name.
    fn error(&self, id: &str, message: Message, help: Message) -> SourceError {
        let needle = format!("id = \"{id}\"");
        match self.text.find(&needle) {
            Some(at) => SourceError::at(self.name, self.text, at..at + needle.len(), message, Some(help)),
            None => SourceError::without_place(self.name, message, Some(help)),
        }
    }
}

struct Want<'a> {
    place: Origin<'a>,
    id: String,
    source: String,
}

fn take<'a>(
    all: &mut Catalogue,
    file: File,
    origin: &Origin<'a>,
    names: &mut BTreeMap<String, String>,
    wanted: &mut Vec<Want<'a>>,
) -> Result<(), SourceError> {
    let mut claim_name = |id: &str| match names.insert(id.to_owned(), origin.name.to_owned()) {
        None => Ok(()),
        Some(other) => {
            let message = msg!("catalogue-name-twice", name = id.to_owned());
            Err(origin.error(id, message, msg!("catalogue-name-twice-help", file = other)))
        }
    };
    let mut want = |id: &str, sources: &[String]| {
        if sources.is_empty() {
            let message = msg!("catalogue-no-source", entry = id.to_owned());
            return Err(origin.error(id, message, msg!("catalogue-no-source-help")));
        }
        wanted.extend(sources.iter().map(|s| Want { place: *origin, id: id.to_owned(), source: s.clone() }));
        Ok(())
    };
    for s in &file.source {
        claim_name(&s.id)?;
        if s.title.trim().is_empty() || s.publisher.trim().is_empty() {
            let message = msg!("catalogue-source-empty", source = &s.id);
            return Err(origin.error(&s.id, message, msg!("catalogue-source-empty-help")));
        }
    }
    for (id, sources) in file.device.iter().map(|e| (&e.id, &e.source)) {
        claim_name(id)?;
        want(id, sources)?;
    }
    for (id, sources) in file.controller.iter().map(|e| (&e.id, &e.source)) {
        claim_name(id)?;
        want(id, sources)?;
    }
    for (id, sources) in file.cpu.iter().map(|e| (&e.id, &e.source)) {
        claim_name(id)?;
        want(id, sources)?;
    }
    for (id, sources) in file.link.iter().map(|e| (&e.id, &e.source)) {
        claim_name(id)?;
        want(id, sources)?;
    }
    let singles =
        file.engine.iter().map(|e| (&e.id, &e.source)).chain(file.platform.iter().map(|e| (&e.id, &e.source)));
    for (id, source) in singles {
        claim_name(id)?;
        want(id, std::slice::from_ref(source))?;
    }
    for claim in &file.claim {
        want(&claim.id, std::slice::from_ref(&claim.source))?;
    }
    for measurement in file.measurement {
        for written in measurement.figure {
            claim_name(&written.id)?;
            want(&written.id, std::slice::from_ref(&measurement.source))?;
            all.figures.push(figure(written, &measurement.source, &measurement.conditions));
        }
    }
    all.sources.extend(file.source);
    all.devices.extend(file.device);
    all.controllers.extend(file.controller);
    all.cpus.extend(file.cpu);
    all.links.extend(file.link);
    all.engines.extend(file.engine);
    all.platforms.extend(file.platform);
    all.checks.extend(file.check);
    all.claims.extend(file.claim);
    Ok(())
}

fn figure(written: WrittenFigure, source: &str, conditions: &Conditions) -> Figure {
    Figure {
        id: written.id,
        source: source.to_owned(),
        conditions: conditions.clone(),
        kind: written.kind,
        metric: written.metric,
        value: written.value * written.metric.factor(),
        value_max: written.value_max.map(|value| value * written.metric.factor()),
        relation: written.relation,
        approx: written.approx,
        unit_printed: written.unit_printed,
        corrected: written.corrected,
        literal: written.literal,
        verified: written.verified,
        quote: written.quote,
        note: written.note,
        checks: Vec::new(),
        doubted_by: Vec::new(),
    }
}

/// Notes in each figure the checks that use it.
fn link_checks(all: &mut Catalogue) -> Result<(), SourceError> {
    let mut ids = BTreeSet::new();
    for check in &all.checks {
        if !ids.insert(check.id.as_str()) {
            return Err(SourceError::without_place("", msg!("catalogue-check-twice", check = &check.id), None));
        }
        for (id, doubts) in check.figures.iter().map(|f| (f, false)).chain(check.doubtful.iter().map(|f| (f, true))) {
            let Some(figure) = all.figures.iter_mut().find(|f| f.id == *id) else {
                let message = msg!("catalogue-check-without-figure", check = &check.id, figure = id);
                return Err(SourceError::without_place("", message, None));
            };
            let list = if doubts { &mut figure.doubted_by } else { &mut figure.checks };
            list.push(check.id.clone());
        }
    }
    Ok(())
}

/// What the reader of TOML says, at its place. It offers no more than a text; the faults that people make have messages of
/// their own.
fn toml_error(name: &str, text: &str, error: &toml::de::Error) -> SourceError {
    let raw = error.message();
    let quoted: Vec<&str> = raw.split('`').skip(1).step_by(2).collect();
    let ((message, help), kind) = match &quoted[..] {
        [key, known @ ..] if raw.starts_with("unknown field") => (unknown_key(key, known), FaultKind::UnknownKey),
        [key] if raw.starts_with("missing field") => {
            ((msg!("catalogue-key-missing", key = (*key).to_owned()), None), FaultKind::MissingKey)
        }
        _ => ((msg!("catalogue-toml", problem = raw.lines().next().unwrap_or(raw).to_owned()), None), FaultKind::Other),
    };
    let error = match error.span() {
        Some(span) => SourceError::at(name, text, span, message, help),
        None => SourceError::without_place(name, message, help),
    };
    error.of_kind(kind)
}

/// A key that is not known; where only its unit is missing, that is what is said.
fn unknown_key(key: &str, known: &[&str]) -> (Message, Option<Message>) {
    const UNITS: [&str; 9] = ["ns", "us", "bytes", "bytes_per_s", "iops", "pct", "hz", "w", "4k_iops"];
    let is_with_unit = |k: &&&str| {
        k.strip_prefix(key).and_then(|rest| rest.strip_prefix('_')).is_some_and(|unit| UNITS.contains(&unit))
    };
    let owned = key.to_owned();
    if let Some(with_unit) = known.iter().find(is_with_unit) {
        let help = msg!("catalogue-key-without-unit-help", key = (*with_unit).to_owned());
        return (msg!("catalogue-key-without-unit", key = owned), Some(help));
    }
    let near = fathom_units::nearest(key, known.iter().copied());
    (msg!("catalogue-key-unknown", key = owned), near.map(did_you_mean))
}
