//! `fathom catalogue`: what is known before measuring, each with its source.

use fathom_model::Catalogue;
use fathom_model::catalogue::{Entry, Source};

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::model_args::{CatalogueAction, CatalogueArgs};
use crate::terminal::result;

/// A device file with every key that a prediction uses.
pub(crate) const TEMPLATE: &str = include_str!("device_template.toml");

pub(crate) fn catalogue(options: &CatalogueArgs) -> Result<Exit, Problem> {
    let all = Catalogue::embedded();
    match &options.action {
        CatalogueAction::List { json: true } => result(&to_json(&all)),
        CatalogueAction::List { json: false } => result(&list(&all)),
        CatalogueAction::New => result(TEMPLATE),
        CatalogueAction::Show { name, json } => {
            let entry = all.entry(name)?;
            result(&if *json { to_json(&shown(&all, entry)) } else { text(&all, entry) });
        }
    }
    Ok(Exit::Done)
}

fn list(all: &Catalogue) -> String {
    let mut out = String::new();
    let mut section = |title: &str, rows: Vec<(&str, String)>| {
        out.push_str(&format!("{title}\n"));
        for (id, what) in rows {
            out.push_str(&format!("  {id:<20} {what}\n"));
        }
    };
    section("devices", all.devices().iter().map(|e| (&e.id[..], e.model.clone())).collect());
    section("controllers", all.controllers().iter().map(|e| (&e.id[..], e.model.clone())).collect());
    section("processors", all.cpus().iter().map(|e| (&e.id[..], e.model.clone())).collect());
    let cost = |e: &fathom_model::catalogue::EngineCost| {
        format!("{} per I/O of 4 KiB, {}", fathom_units::format_ns(e.ns_per_io), e.program)
    };
    section("engine costs", all.engines().iter().map(|e| (&e.id[..], cost(e))).collect());
    section("platforms", all.platforms().iter().map(|e| (&e.id[..], e.server.clone())).collect());
    let figures = |s: &Source| {
        let n = all.figures_of(&s.id).count();
        let doubtful = all.figures_of(&s.id).filter(|f| !f.self_consistent()).count();
        let doubt = if doubtful > 0 { format!(", {doubtful} in doubt") } else { String::new() };
        format!("{n} figures{doubt}: {}", s.title)
    };
    let published = all.sources().iter().filter(|s| all.figures_of(&s.id).next().is_some());
    section("published results", published.map(|s| (&s.id[..], figures(s))).collect());
    out.push_str(&format!(
        "links gen3x1 to gen5x16; {} published figures, each by its name: fathom catalogue show NAME\n",
        all.figures().len()
    ));
    out
}

/// An entry as JSON, with its sources written out; a source brings its figures.
fn shown(all: &Catalogue, entry: Entry<'_>) -> serde_json::Value {
    let mut value = serde_json::to_value(entry).expect("entries are plain data");
    let sources: Vec<&Source> = sources(all, entry);
    value["sources"] = serde_json::to_value(sources).expect("sources are plain data");
    if let Entry::Source(source) = entry {
        let figures: Vec<_> = all.figures_of(&source.id).collect();
        value["figures"] = serde_json::to_value(figures).expect("figures are plain data");
    }
    if let Entry::Figure(figure) = entry {
        value["self_consistent"] = figure.self_consistent().into();
        value["unit"] = figure.metric.unit().as_str().into();
    }
    value
}

fn sources<'a>(all: &'a Catalogue, entry: Entry<'_>) -> Vec<&'a Source> {
    let ids: Vec<&String> = match entry {
        Entry::Device(e) => e.source.iter().collect(),
        Entry::Controller(e) => e.source.iter().collect(),
        Entry::Cpu(e) => e.source.iter().collect(),
        Entry::Link(e) => e.source.iter().collect(),
        Entry::Engine(e) => vec![&e.source],
        Entry::Platform(e) => vec![&e.source],
        Entry::Figure(e) => vec![&e.source],
        Entry::Source(e) => vec![&e.id],
    };
    ids.into_iter().filter_map(|id| all.source(id).ok()).collect()
}

fn text(all: &Catalogue, entry: Entry<'_>) -> String {
    let value = serde_json::to_value(entry).expect("entries are plain data");
    let mut out = String::new();
    lines(&value, "", &mut out);
    if let Entry::Figure(figure) = entry {
        out.push_str(&format!("{:<28} {}\n", "unit", figure.metric.unit().as_str()));
        out.push_str(&format!("{:<28} {}\n", "self consistent", figure.self_consistent()));
        for check in all.checks().iter().filter(|c| c.figures.contains(&figure.id)) {
            out.push_str(&format!(
                "check {}: {} gives {:.4} of {}, {}\n",
                check.law, check.formula, check.ratio, check.expected, check.verdict
            ));
        }
    }
    if let Entry::Source(source) = entry {
        for f in all.figures_of(&source.id) {
            let doubt = if f.self_consistent() { "" } else { "  in doubt" };
            out.push_str(&format!("  {:<48} {} {} {}{doubt}\n", f.id, f.relation, f.value, f.metric));
        }
    }
    for s in sources(all, entry) {
        let year = s.year.map_or(String::new(), |y| format!(", {y}"));
        let url = s.url.as_deref().map_or(String::new(), |u| format!(", {u}"));
        out.push_str(&format!("source: {}: {}{year}{url}\n", s.publisher, s.title));
    }
    out
}

/// Keys and values of a JSON object, one a line, absent ones left out.
fn lines(value: &serde_json::Value, prefix: &str, out: &mut String) {
    let serde_json::Value::Object(map) = value else { return };
    for (key, value) in map {
        let name = format!("{prefix}{}", key.replace('_', " "));
        match value {
            serde_json::Value::Null | serde_json::Value::Bool(false) => {}
            serde_json::Value::Array(list) if list.is_empty() => {}
            serde_json::Value::Object(inner) if inner.is_empty() => {}
            serde_json::Value::Object(_) => lines(value, &format!("{name} "), out),
            serde_json::Value::String(text) => out.push_str(&format!("{name:<28} {text}\n")),
            serde_json::Value::Array(list) => {
                let words: Vec<String> =
                    list.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
                out.push_str(&format!("{name:<28} {}\n", words.join(", ")));
            }
            other => {
                let whole = other.as_f64().filter(|x| x.fract() == 0.0);
                let text = whole.map_or_else(|| other.to_string(), |x| format!("{x:.0}"));
                out.push_str(&format!("{name:<28} {text}\n"));
            }
        }
    }
}
