//! What differs between runs besides their figures.

use std::collections::BTreeMap;

use fathom_message::{Message, Quantity, msg};
use serde_json::Value;

use crate::cpu_time::other_busy_cores;
use crate::document::{Area, Difference, Document, StepView};

/// Facts of the host, by their key in the document.
const HOST: [(&str, Message); 10] = [
    ("kernel", msg!("compare-kernel")),
    ("cpu_model", msg!("compare-cpu")),
    ("cores", msg!("compare-cores")),
    ("packages", msg!("compare-sockets")),
    ("numa_nodes", msg!("compare-numa-nodes")),
    ("memory_bytes", msg!("compare-memory")),
    ("governor", msg!("compare-governor")),
    ("clocksource", msg!("compare-clock-source")),
    ("hypervisor", msg!("compare-hypervisor")),
    ("mitigations", msg!("compare-mitigations")),
];
/// Facts of the device below a target.
const DEVICE: [(&str, Message); 13] = [
    ("model", msg!("compare-drive")),
    ("serial", msg!("compare-serial")),
    ("firmware", msg!("compare-firmware")),
    ("size_bytes", msg!("compare-size")),
    ("transport", msg!("compare-transport")),
    ("scheduler", msg!("compare-scheduler")),
    ("nr_requests", msg!("compare-nr-requests")),
    ("hw_queues", msg!("compare-hw-queues")),
    ("poll_queues", msg!("compare-poll-queues")),
    ("write_cache", msg!("compare-write-cache")),
    ("logical_block_bytes", msg!("compare-logical-block")),
    ("numa_node", msg!("compare-numa-node")),
    ("io_poll", msg!("compare-polling")),
];

/// Other work that differs by so many CPUs is a difference between runs.
const BUSY_APART: f64 = 0.25;

/// Facts of the file system of a target.
const MOUNT: [&str; 2] = ["/mount/fs_type", "/mount/options"];

/// Everything known that differs, host first. `matched`: a step of the first run and the same of another, as pairs.
pub(super) fn differences(runs: &[&Document], matched: &[(&StepView, &StepView)]) -> Vec<Difference> {
    let mut out = Vec::new();
    let mut add = |area: Area, what: &Message, values: Vec<Option<Message>>| {
        if values.iter().any(|v| *v != values[0]) {
            out.push(Difference { area, what: what.clone(), values });
        }
    };
    for (key, what) in HOST {
        add(Area::Host, &what, runs.iter().map(|r| text(r.host.get(key))).collect());
    }
    let busy: Vec<Option<f64>> = runs.iter().map(|run| other_busy_cores(&run.steps)).collect();
    let known: Vec<f64> = busy.iter().flatten().copied().collect();
    let range = known.iter().copied().fold(0.0, f64::max) - known.iter().copied().fold(f64::INFINITY, f64::min);
    if known.len() == runs.len() && range >= BUSY_APART {
        let cores = |cores: &f64| msg!("compare-busy-cores", cores = Quantity::cores(*cores));
        add(Area::Host, &msg!("compare-other-work"), busy.iter().map(|busy| busy.as_ref().map(cores)).collect());
    }
    let settings: Vec<BTreeMap<Setting, String>> = runs.iter().map(|r| settings(&r.host)).collect();
    let mut names: Vec<&Setting> = settings.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    // An older run that stored no settings does not differ in each of them.
    if settings.iter().all(|s| !s.is_empty()) {
        for name in names {
            let what = msg!("compare-setting", name = name.1.clone(), of = name.0.clone());
            add(Area::Host, &what, settings.iter().map(|s| s.get(name).map(Message::verbatim)).collect());
        }
    }
    let most = runs.iter().map(|r| targets(&r.host).len()).max().unwrap_or(0);
    for index in 0..most {
        let of = |run: &Document, pointer: &str| targets(&run.host).get(index).and_then(|t| text(t.pointer(pointer)));
        let named = |what: Message| match most {
            1 => what,
            _ => msg!("compare-of-target", what = what, target = index + 1),
        };
        for (key, what) in DEVICE {
            add(Area::Target, &named(what), runs.iter().map(|r| of(r, &format!("/device/{key}"))).collect());
        }
        add(Area::Target, &named(msg!("compare-file-system")), runs.iter().map(|r| of(r, MOUNT[0])).collect());
        add(Area::Target, &named(msg!("compare-mount-options")), runs.iter().map(|r| of(r, MOUNT[1])).collect());
    }
    add(Area::Program, &Message::verbatim("fathom"), runs.iter().map(|r| Some(Message::verbatim(&r.fathom))).collect());
    add(Area::Plan, &msg!("compare-study"), runs.iter().map(|r| Some(Message::verbatim(&r.run.study))).collect());
    if runs.len() == 2 {
        for (what, of) in STEP {
            if let Some((a, b)) = matched.iter().map(|(a, b)| (of(a), of(b))).find(|(a, b)| a != b) {
                add(Area::Plan, &what, vec![Some(a), Some(b)]);
            }
        }
    }
    out
}

/// A fact of a step.
type Fact = fn(&StepView) -> Message;

/// What two steps that do the same may still differ in.
const STEP: [(Message, Fact); 6] = [
    (msg!("compare-engine"), |s| Message::verbatim(s.engine.as_str())),
    (msg!("compare-mode"), |s| Message::verbatim(s.mode.as_str())),
    (msg!("compare-placement"), |s| Message::verbatim(s.placement.as_str())),
    (msg!("compare-page-cache"), |s| if s.direct { msg!("compare-bypassed") } else { msg!("compare-used") }),
    (msg!("compare-touched"), |s| {
        s.footprint_bytes.map_or_else(|| msg!("compare-all"), |b| Message::verbatim(b.to_string()))
    }),
    (msg!("compare-precondition"), |s| {
        s.role.conditioning.map_or_else(|| msg!("compare-none"), |c| Message::verbatim(c.method.as_str()))
    }),
];

/// All that is known of the surroundings of a run as one text: runs of the same have the same.
pub(super) fn fingerprint(host: &Value, fathom: &str) -> String {
    let known = |value: Option<&Value>| value.filter(|v| !v.is_null()).map(Value::to_string).unwrap_or_default();
    let mut parts = vec![fathom.to_owned()];
    parts.extend(HOST.iter().map(|(key, _)| known(host.get(key))));
    parts.extend(settings(host).into_iter().map(|((of, name), value)| format!("{of}.{name}={value}")));
    for target in targets(host) {
        parts.extend(DEVICE.iter().map(|(key, _)| known(target.pointer(&format!("/device/{key}")))));
        parts.extend(MOUNT.iter().map(|pointer| known(target.pointer(pointer))));
    }
    parts.join("|")
}

/// What the targets of these names are made of: model of the drive and file system.
pub(super) fn makes(host: &Value, names: &[String]) -> Vec<String> {
    let name =
        |target: &Value| target.get("target").or_else(|| target.get("path")).and_then(Value::as_str).map(str::to_owned);
    let of_target = |target: &Value| {
        ["/device/model", MOUNT[0]].map(|p| target.pointer(p).and_then(Value::as_str).unwrap_or_default().to_owned())
    };
    let known = targets(host).iter().filter(|t| name(t).is_some_and(|name| names.contains(&name)));
    let mut makes: Vec<String> = known.map(|target| of_target(target).join("/")).collect();
    makes.sort_unstable();
    makes.dedup();
    makes
}

fn targets(host: &Value) -> &[Value] {
    host.get("targets").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whose setting, and its name.
type Setting = (String, String);

/// Settings as the inventory found them, `nvme_core`, `io_timeout` -> `30`.
fn settings(host: &Value) -> BTreeMap<Setting, String> {
    let list = host.pointer("/inventory/settings").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|s| {
            let part = |key: &str| s.get(key).and_then(Value::as_str);
            Some(((part("of")?.to_owned(), part("name")?.to_owned()), part("value")?.to_owned()))
        })
        .collect()
}

/// A fact as it was found; `None` for what is not known.
fn text(value: Option<&Value>) -> Option<Message> {
    match value? {
        Value::Null => None,
        Value::String(s) => Some(Message::verbatim(s)),
        other => Some(Message::verbatim(other.to_string())),
    }
}
