//! The JSON contract: names and types that other programs rely on.

use serde_json::Value;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Whole,
    Number,
    Bool,
    Object,
    List,
    /// Two numbers, ascending.
    Range,
}

/// (way, kind, may be null).
type Field = (&'static str, Kind, bool);

const HEAD: &[Field] = &[
    ("fathom", Kind::Text, false),
    ("schema", Kind::Whole, false),
    ("run.id", Kind::Whole, false),
    ("run.study", Kind::Text, false),
    ("run.state", Kind::Text, false),
    ("run.started", Kind::Text, true),
    ("run.plan", Kind::Object, false),
    ("host", Kind::Object, false),
    ("verdict", Kind::List, false),
    ("steps", Kind::List, false),
];

const VERDICT: &[Field] =
    &[("question", Kind::Text, false), ("answer", Kind::Text, false), ("evidence", Kind::List, false)];

const STEP: &[Field] = &[
    ("index", Kind::Whole, false),
    ("label", Kind::Text, false),
    ("phase", Kind::Text, false),
    ("group", Kind::Text, false),
    ("targets", Kind::List, false),
    ("engine", Kind::Text, false),
    ("mode", Kind::Text, false),
    ("placement", Kind::Text, false),
    ("cpus", Kind::List, false),
    ("op", Kind::Text, false),
    ("read_pct", Kind::Whole, false),
    ("block_size_bytes", Kind::Whole, false),
    ("threads", Kind::Whole, false),
    ("queue_depth", Kind::Whole, false),
    ("devices", Kind::Whole, false),
    ("runtime_s", Kind::Number, false),
    ("ios", Kind::Whole, false),
    ("errors", Kind::Whole, false),
    ("iops", Kind::Number, false),
    // Too few intervals for an interval of confidence.
    ("iops_ci95", Kind::Range, true),
    ("bytes_per_s", Kind::Number, false),
    // An unsustainable rate has no latency; an engine may not tell slat from clat.
    ("lat_ns", Kind::Object, true),
    ("slat_ns", Kind::Object, true),
    ("clat_ns", Kind::Object, true),
    // Operations that the load does not have.
    ("read", Kind::Object, true),
    ("write", Kind::Object, true),
    ("cpu.busy_cores", Kind::Number, false),
    ("cpu.user_ns_per_io", Kind::Number, false),
    ("cpu.system_ns_per_io", Kind::Number, false),
    ("cpu.irq_ns_per_io", Kind::Number, false),
    ("cpu.interrupts_per_io", Kind::Number, false),
    ("cpu.context_switches_per_io", Kind::Number, false),
    // Less CPU time than the kernel can count.
    ("cpu.iops_per_core", Kind::Number, true),
    ("limit.name", Kind::Text, false),
    ("limit.sentence", Kind::Text, false),
    ("limit.evidence", Kind::List, false),
    // Too few intervals to say.
    ("steady", Kind::Object, true),
    // Not predicted.
    ("predicted", Kind::Object, true),
    ("warnings", Kind::List, false),
];

const LATENCY: &[Field] = &[
    ("mean", Kind::Number, false),
    ("stddev", Kind::Number, false),
    ("min", Kind::Whole, false),
    ("max", Kind::Whole, false),
    // Fewer than 100 samples beyond it.
    ("p50", Kind::Whole, true),
    ("p90", Kind::Whole, true),
    ("p95", Kind::Whole, true),
    ("p99", Kind::Whole, true),
    ("p99\\9", Kind::Whole, true),
    ("p99\\99", Kind::Whole, true),
    ("p99\\999", Kind::Whole, true),
];

const DIRECTION: &[Field] =
    &[("iops", Kind::Number, false), ("bytes_per_s", Kind::Number, false), ("lat_ns", Kind::Object, true)];

const STEADY: &[Field] = &[("reached", Kind::Bool, false), ("rounds", Kind::Whole, false)];

const EVIDENCE: &[Field] = &[("name", Kind::Text, false), ("value", Kind::Number, false), ("unit", Kind::Text, false)];

const LIMITS: &[&str] = &[
    "queue_depth",
    "device",
    "link",
    "uplink",
    "core",
    "all_cores",
    "cpu_taken",
    "irq_core",
    "kernel_thread",
    "file_system",
    "raid",
    "memory",
    "page_cache",
    "network",
    "server",
    "client",
    "rate",
    "database",
    "unknown",
];

fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Text => value.as_str().is_some_and(|s| !s.is_empty()),
        Kind::Whole => value.is_u64(),
        Kind::Number => value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0),
        Kind::Bool => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::List => value.is_array(),
        Kind::Range => value.as_array().is_some_and(|r| match r[..] {
            [ref lo, ref hi] => lo.as_f64().is_some() && lo.as_f64() <= hi.as_f64(),
            _ => false,
        }),
    }
}

/// Every field of the table is there, also when null, and is what it must be. `\` stands for a dot in a name.
fn hold(object: &Value, fields: &[Field], place: &str) {
    for (way, kind, nullable) in fields {
        let value = way.split('.').try_fold(object, |at, name| at.get(name.replace('\\', ".")));
        let value = value.unwrap_or_else(|| panic!("{place}: no field {way}"));
        let fine = if value.is_null() { *nullable } else { fits(value, *kind) };
        assert!(fine, "{place}: {way} must be {kind:?} (null allowed: {nullable}), is {value}");
    }
}

fn latency(value: &Value, place: &str) {
    if value.is_null() {
        return;
    }
    hold(value, LATENCY, place);
    let ladder: Vec<f64> = ["min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999", "max"]
        .iter()
        .filter_map(|name| value[name].as_f64())
        .collect();
    assert!(ladder.is_sorted(), "{place}: quantiles ascend: {ladder:?}");
}

/// The whole document keeps the contract. Steps must have been measured.
pub(crate) fn holds(document: &Value) {
    hold(document, HEAD, "document");
    let started = document["run"]["started"].as_str().expect("text");
    assert!(started.len() == 20 && started.ends_with('Z') && &started[10..11] == "T", "RFC 3339: {started}");
    for verdict in document["verdict"].as_array().expect("a list") {
        hold(verdict, VERDICT, "verdict");
    }
    for step in document["steps"].as_array().expect("a list") {
        let place = format!("step {}", step["label"]);
        // A step without I/Os, on a disk that stalled, has no CPU time per I/O.
        let has_ios = step["ios"].as_u64() > Some(0);
        let fields: Vec<Field> = STEP.iter().copied().filter(|(way, ..)| has_ios || !way.starts_with("cpu.")).collect();
        hold(step, &fields, &place);
        for name in ["lat_ns", "slat_ns", "clat_ns"] {
            latency(&step[name], &format!("{place} {name}"));
        }
        for name in ["read", "write"].into_iter().filter(|name| !step[name].is_null()) {
            hold(&step[name], DIRECTION, &format!("{place} {name}"));
            latency(&step[name]["lat_ns"], &format!("{place} {name}"));
        }
        if !step["steady"].is_null() {
            hold(&step["steady"], STEADY, &place);
        }
        for evidence in step["limit"]["evidence"].as_array().expect("a list") {
            let value = evidence["value"].as_f64().expect("a value");
            let mut positive = evidence.clone();
            positive["value"] = value.abs().into();
            hold(&positive, EVIDENCE, &place);
        }
        let limit = step["limit"]["name"].as_str().expect("text");
        assert!(LIMITS.contains(&limit), "{place}: limit {limit}");
        let (ios, runtime_s) = (step["ios"].as_f64().expect("ios"), step["runtime_s"].as_f64().expect("runtime"));
        let iops = step["iops"].as_f64().expect("iops");
        assert!((ios / runtime_s - iops).abs() <= iops * 1e-9, "{place}: {ios} I/Os in {runtime_s} s are {iops} IOPS");
    }
}
