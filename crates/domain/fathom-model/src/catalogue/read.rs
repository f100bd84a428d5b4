//! From TOML to the catalogue, with every entry held to a known source.

use std::collections::{BTreeMap, BTreeSet};

use fathom_plan::SourceError;
use serde::Deserialize;

use super::Catalogue;
use super::hardware::{Controller, Cpu, Device, EngineCost, LinkEntry};
use super::published::{Check, Claim, Conditions, Figure, Platform, Source};

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
    kind: String,
    metric: String,
    value: f64,
    value_max: Option<f64>,
    relation: Option<String>,
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
            let help = near
                .map_or("add a [[source]] with id, title and publisher".to_owned(), |n| format!("did you mean `{n}`?"));
            return Err(want.place.error(
                &want.id,
                format!("`{}` has no known source: `{}`", want.id, want.source),
                help,
            ));
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
    fn error(&self, id: &str, message: String, help: String) -> SourceError {
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
            let help = format!("it stands in {other} already: give it a name of its own");
            Err(origin.error(id, format!("the name `{id}` is used twice"), help))
        }
    };
    let mut want = |id: &str, sources: &[String]| {
        if sources.is_empty() {
            let help = "write where its values come from: source = [\"id of a [[source]]\"]".to_owned();
            return Err(origin.error(id, format!("`{id}` has no source"), help));
        }
        wanted.extend(sources.iter().map(|s| Want { place: *origin, id: id.to_owned(), source: s.clone() }));
        Ok(())
    };
    for s in &file.source {
        claim_name(&s.id)?;
        if s.title.trim().is_empty() || s.publisher.trim().is_empty() {
            return Err(origin.error(&s.id, format!("source `{}` is empty", s.id), "give title and publisher".into()));
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
        value: written.value,
        value_max: written.value_max,
        relation: written.relation.unwrap_or_else(|| "=".to_owned()),
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
            return Err(SourceError::without_place("", format!("the check `{}` is there twice", check.id), None));
        }
        for (id, doubts) in check.figures.iter().map(|f| (f, false)).chain(check.doubtful.iter().map(|f| (f, true))) {
            let Some(figure) = all.figures.iter_mut().find(|f| f.id == *id) else {
                let message = format!("the check `{}` names the figure `{id}`, which is not there", check.id);
                return Err(SourceError::without_place("", message, None));
            };
            let list = if doubts { &mut figure.doubted_by } else { &mut figure.checks };
            list.push(check.id.clone());
        }
    }
    Ok(())
}

/// serde's complaint, at its place and in our words.
pub(crate) fn toml_error(name: &str, text: &str, error: &toml::de::Error) -> SourceError {
    let raw = error.message();
    let quoted: Vec<&str> = raw.split('`').skip(1).step_by(2).collect();
    let (message, help) = match &quoted[..] {
        [field, known @ ..] if raw.starts_with("unknown field") => unknown_key(field, known),
        _ => (raw.lines().next().unwrap_or(raw).to_owned(), None),
    };
    match error.span() {
        Some(span) => SourceError::at(name, text, span, message, help),
        None => SourceError::without_place(name, message, help),
    }
}

/// A key that is not known; one whose only fault is that its unit is missing is told so.
fn unknown_key(field: &str, known: &[&str]) -> (String, Option<String>) {
    const UNITS: [&str; 9] = ["ns", "us", "bytes", "bytes_per_s", "iops", "pct", "hz", "w", "4k_iops"];
    let with_unit = |k: &&&str| {
        k.strip_prefix(field).and_then(|rest| rest.strip_prefix('_')).is_some_and(|unit| UNITS.contains(&unit))
    };
    if let Some(key) = known.iter().find(with_unit) {
        return (format!("`{field}` has no unit"), Some(format!("write `{key} = ...`")));
    }
    let near = fathom_units::nearest(field, known.iter().copied());
    (format!("unknown key `{field}`"), near.map(|n| format!("did you mean `{n}`?")))
}
