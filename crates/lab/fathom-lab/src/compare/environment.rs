//! What differs between runs besides their figures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::Difference;
use crate::document::{Document, StepView};

/// Facts of the host, by their key in the document: the words of people beside it.
const HOST: [(&str, &str); 10] = [
    ("kernel", "kernel"),
    ("cpu_model", "CPU"),
    ("cores", "physical cores"),
    ("packages", "sockets"),
    ("numa_nodes", "NUMA nodes"),
    ("memory_bytes", "memory, bytes"),
    ("governor", "frequency governor"),
    ("clocksource", "clock source"),
    ("hypervisor", "hypervisor"),
    ("mitigations", "CPU mitigations"),
];
/// Facts of the device below a target.
const DEVICE: [(&str, &str); 13] = [
    ("model", "drive"),
    ("serial", "serial number"),
    ("firmware", "firmware"),
    ("size_bytes", "size, bytes"),
    ("transport", "transport"),
    ("scheduler", "scheduler"),
    ("nr_requests", "nr_requests"),
    ("hw_queues", "hardware queues"),
    ("poll_queues", "poll queues"),
    ("write_cache", "write cache"),
    ("logical_block_bytes", "logical block, bytes"),
    ("numa_node", "NUMA node"),
    ("io_poll", "polling"),
];

/// Everything known that differs, host first. `matched`: a step of the first run and the same of another, as pairs.
pub(super) fn differences(runs: &[&Document], matched: &[(&StepView, &StepView)]) -> Vec<Difference> {
    let mut out = Vec::new();
    let mut add = |area: &str, what: &str, values: Vec<Option<String>>| {
        if values.iter().any(|v| *v != values[0]) {
            out.push(Difference { area: area.to_owned(), what: what.to_owned(), values });
        }
    };
    for (key, what) in HOST {
        add("host", what, runs.iter().map(|r| text(r.host.get(key))).collect());
    }
    let settings: Vec<BTreeMap<String, String>> = runs.iter().map(|r| settings(r)).collect();
    let mut names: Vec<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    // An older run that stored no settings does not differ in each of them.
    if settings.iter().all(|s| !s.is_empty()) {
        for name in names {
            add("host", name, settings.iter().map(|s| s.get(name).cloned()).collect());
        }
    }
    let most = runs.iter().map(|r| targets(r).len()).max().unwrap_or(0);
    for index in 0..most {
        let of = |run: &Document, pointer: &str| targets(run).get(index).and_then(|t| text(t.pointer(pointer)));
        let named = |what: &str| if most > 1 { format!("{what} of target {}", index + 1) } else { what.to_owned() };
        for (key, what) in DEVICE {
            add("target", &named(what), runs.iter().map(|r| of(r, &format!("/device/{key}"))).collect());
        }
        add("target", &named("file system"), runs.iter().map(|r| of(r, "/mount/fs_type")).collect());
        add("target", &named("mount options"), runs.iter().map(|r| of(r, "/mount/options")).collect());
    }
    add("program", "fathom", runs.iter().map(|r| Some(r.fathom.clone())).collect());
    add("plan", "study", runs.iter().map(|r| Some(r.run.study.clone())).collect());
    if runs.len() == 2 {
        for (what, of) in STEP {
            if let Some((a, b)) = matched.iter().map(|(a, b)| (of(a), of(b))).find(|(a, b)| a != b) {
                add("plan", what, vec![Some(a), Some(b)]);
            }
        }
    }
    out
}

/// Names a fact of a step.
type Fact = fn(&StepView) -> String;

/// What two steps that do the same may still differ in.
const STEP: [(&str, Fact); 6] = [
    ("engine", |s| s.engine.clone()),
    ("mode", |s| s.mode.clone()),
    ("placement", |s| s.placement.clone()),
    ("page cache", |s| if s.direct { "bypassed" } else { "used" }.to_owned()),
    ("bytes touched", |s| s.footprint_bytes.map_or_else(|| "all".to_owned(), |b| b.to_string())),
    ("precondition", |s| s.role.conditioning.map_or("none", |c| c.method.as_str()).to_owned()),
];

fn targets(run: &Document) -> &[Value] {
    run.host.get("targets").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Settings as the inventory found them, `nr_requests of nvme0n1` -> `1023`.
fn settings(run: &Document) -> BTreeMap<String, String> {
    let list = run.host.pointer("/inventory/settings").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|s| {
            let part = |key: &str| s.get(key).and_then(Value::as_str);
            Some((format!("{} of {}", part("name")?, part("of")?), part("value")?.to_owned()))
        })
        .collect()
}

/// A fact as text; `None` for what is not known.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(s) => Some(s.clone()),
        other => Some(other.to_string()),
    }
}
