//! Takes in results that were measured elsewhere: fio's JSON (json, json+, client_stats), Fathom's own documents, the table of
//! `spdk_nvme_perf` and the JSON of `bdevperf`.
//!
//! Where fio's file has bins (json+), the latencies become samples again; where it has only figures, they stay quoted.

mod fathom;

use fathom_fio::{Found, find_document, import_bdevperf, import_fio, import_perf, is_bdevperf, is_perf_table};
use fathom_message::msg;
use fathom_plan::Step;
use serde_json::{Value, json};

pub use fathom_fio::{ImportError, Imported};

/// Takes in a file of any known kind. `file_name` is used in messages only.
///
/// # Errors
/// [`ImportError`] with the place in the file; nothing is half imported.
pub fn import_json(text: &str, file_name: &str) -> Result<Imported, ImportError> {
    if is_perf_table(text) {
        return import_perf(text, file_name);
    }
    let found = find_document(text, file_name)?;
    let Some(elements) = found.value.as_array() else { return import_one(&found, file_name) };
    let is_result = |value: &Value| kind_of(value).is_some_and(|kind| kind != Kind::Fathom);
    if let Some(other) = elements.iter().find(|value| !is_result(value)) {
        return Err(foreign_json(other, file_name));
    }
    let mut all: Option<Imported> = None;
    for (i, element) in elements.iter().enumerate() {
        let part = import_one(&Found::of(element.clone()), &format!("{file_name}[{i}]"))?;
        all = Some(match all {
            None => part,
            Some(all) => joined(all, part),
        });
    }
    let mut all = all.ok_or_else(|| foreign_json(&found.value, file_name))?;
    all.notes.extend(found.notes(file_name));
    all.plan.notes.clone_from(&all.notes);
    Ok(all)
}

/// Programs that write a JSON document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fathom,
    Fio,
    Bdevperf,
}

fn kind_of(value: &Value) -> Option<Kind> {
    let has = |key: &str| value.get(key).is_some();
    if has("fathom") && has("schema") && has("steps") {
        Some(Kind::Fathom)
    } else if has("fio version") || has("jobs") || has("client_stats") {
        Some(Kind::Fio)
    } else {
        is_bdevperf(value).then_some(Kind::Bdevperf)
    }
}

fn import_one(found: &Found, file: &str) -> Result<Imported, ImportError> {
    match kind_of(&found.value) {
        Some(Kind::Fio) => import_fio(found, file),
        Some(kind) => {
            found.is_alone(file)?;
            if kind == Kind::Fathom { fathom::import(found, file) } else { import_bdevperf(found, file) }
        }
        None => Err(foreign_json(&found.value, file)),
    }
}

/// Two results as one run: the steps of `b` follow those of `a`.
fn joined(mut a: Imported, b: Imported) -> Imported {
    let first = a.steps.len() as u32;
    a.steps.extend(b.steps.into_iter().map(|(step, record)| (Step { index: step.index + first, ..step }, record)));
    a.plan.steps = a.steps.iter().map(|(step, _)| step.clone()).collect();
    a.plan.source = format!("{}\n{}", a.plan.source, b.plan.source);
    // The run began with the first of them; it has no date unless all have one.
    a.started_unix_ns = a.started_unix_ns.min(b.started_unix_ns);
    a.notes.extend(b.notes);
    if a.host_json.get("results").is_none() {
        a.host_json = json!({ "results": [a.host_json] });
    }
    if let Some(Value::Array(results)) = a.host_json.get_mut("results") {
        results.push(b.host_json);
    }
    a
}

fn foreign_json(value: &Value, file: &str) -> ImportError {
    let keys: Vec<&str> = value.as_object().map(|o| o.keys().map(String::as_str).take(5).collect()).unwrap_or_default();
    let looks_like =
        if keys.is_empty() { msg!("import-empty-object") } else { msg!("import-foreign-json", keys = keys.join(", ")) };
    ImportError::WrongKind { file: file.to_owned(), looks_like, help: msg!("import-reads") }
}
