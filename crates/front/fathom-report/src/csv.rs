//! One row per step, for spreadsheets: RFC 4180 with a header whose names carry the units.
//!
//! Empty means: not measured, not applicable, or too few samples for that quantile.

use fathom_judge::document::{CpuView, DirectionView, Document, LatencyView, StepView};
use fathom_language::english;
use fathom_plan::LoadPart;

/// A column: its name and how to read it from a step.
type Column = (&'static str, fn(&StepView) -> String);

/// The table of a run's steps. Lines end in CR LF, fields with `,`, `"` or a line break are quoted.
#[must_use]
pub fn csv(doc: &Document) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for step in &doc.steps {
        push_row(&mut out, COLUMNS.iter().map(|(_, read)| read(step)));
    }
    out
}

fn push_row(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push_str("\r\n");
}

const COLUMNS: &[Column] = &[
    ("step", |s| s.index.to_string()),
    ("label", |s| s.label.clone()),
    ("phase", |s| s.phase.as_str().to_owned()),
    ("group", |s| s.group.clone()),
    ("targets", |s| s.targets.join(" ")),
    ("state", |s| s.state.to_string()),
    ("reason", |s| or_empty(s.reason.as_ref().map(english))),
    ("engine", engine),
    ("mode", |s| s.mode.as_str().to_owned()),
    ("placement", |s| s.placement.as_str().to_owned()),
    ("cpus", |s| s.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")),
    ("op", |s| s.op.to_string()),
    ("read_pct", |s| s.read_pct.to_string()),
    ("pattern", |s| s.pattern.to_string()),
    ("block_size_bytes", |s| s.block_size_bytes.to_string()),
    ("direct", |s| if_known(s, LoadPart::Direct, s.direct.to_string())),
    ("footprint_bytes", |s| or_empty(s.footprint_bytes)),
    ("threads_per_target", |s| if_known(s, LoadPart::Threads, s.threads.to_string())),
    ("queue_depth_per_thread", |s| if_known(s, LoadPart::Depth, s.queue_depth.to_string())),
    ("devices", |s| s.devices.to_string()),
    ("rate_iops", |s| or_empty(s.rate_iops)),
    ("started_utc", |s| or_empty(s.started.as_ref())),
    ("runtime_s", |s| s.runtime_s.to_string()),
    ("ios", |s| s.ios.to_string()),
    ("errors", |s| s.errors.to_string()),
    ("iops", |s| s.iops.to_string()),
    ("iops_ci95_low", |s| or_empty(s.iops_ci95.map(|c| c[0]))),
    ("iops_ci95_high", |s| or_empty(s.iops_ci95.map(|c| c[1]))),
    ("bytes_per_s", |s| s.bytes_per_s.to_string()),
    ("lat_samples", |s| lat(s, |l| l.samples)),
    ("lat_mean_ns", |s| lat(s, |l| l.mean)),
    ("lat_stddev_ns", |s| lat(s, |l| l.stddev)),
    ("lat_min_ns", |s| lat(s, |l| l.min)),
    ("lat_p50_ns", |s| lat_quantile(s, |l| l.p50)),
    ("lat_p90_ns", |s| lat_quantile(s, |l| l.p90)),
    ("lat_p95_ns", |s| lat_quantile(s, |l| l.p95)),
    ("lat_p99_ns", |s| lat_quantile(s, |l| l.p99)),
    ("lat_p99.9_ns", |s| lat_quantile(s, |l| l.p99_9)),
    ("lat_p99.99_ns", |s| lat_quantile(s, |l| l.p99_99)),
    ("lat_p99.999_ns", |s| lat_quantile(s, |l| l.p99_999)),
    ("lat_max_ns", |s| lat(s, |l| l.max)),
    ("lat_p99_ci95_low_ns", |s| p99_ci(s, 0)),
    ("lat_p99_ci95_high_ns", |s| p99_ci(s, 1)),
    ("slat_mean_ns", |s| or_empty(s.slat_ns.as_ref().map(|l| l.mean))),
    ("clat_mean_ns", |s| or_empty(s.clat_ns.as_ref().map(|l| l.mean))),
    ("clat_p50_ns", |s| or_empty(s.clat_ns.as_ref().and_then(|l| l.p50))),
    ("clat_p99_ns", |s| or_empty(s.clat_ns.as_ref().and_then(|l| l.p99))),
    ("service_mean_ns", |s| or_empty(s.service_ns.as_ref().map(|l| l.mean))),
    ("service_p99_ns", |s| or_empty(s.service_ns.as_ref().and_then(|l| l.p99))),
    ("read_iops", |s| direction(s.read.as_ref(), |d| d.iops)),
    ("read_bytes_per_s", |s| direction(s.read.as_ref(), |d| d.bytes_per_s)),
    ("read_lat_mean_ns", |s| direction_lat(s.read.as_ref(), |l| Some(l.mean))),
    ("read_lat_p99_ns", |s| direction_lat(s.read.as_ref(), |l| l.p99)),
    ("write_iops", |s| direction(s.write.as_ref(), |d| d.iops)),
    ("write_bytes_per_s", |s| direction(s.write.as_ref(), |d| d.bytes_per_s)),
    ("write_lat_mean_ns", |s| direction_lat(s.write.as_ref(), |l| Some(l.mean))),
    ("write_lat_p99_ns", |s| direction_lat(s.write.as_ref(), |l| l.p99)),
    ("syncs_per_s", |s| direction(s.syncs.as_ref(), |d| d.iops)),
    ("sync_lat_mean_ns", |s| direction_lat(s.syncs.as_ref(), |l| Some(l.mean))),
    ("sync_lat_p99_ns", |s| direction_lat(s.syncs.as_ref(), |l| l.p99)),
    ("trim_iops", |s| direction(s.trim.as_ref(), |d| d.iops)),
    ("busy_cores", |s| cpu(s, |c| c.busy_cores)),
    ("user_ns_per_io", |s| cost(s, |c| c.user_ns_per_io)),
    ("system_ns_per_io", |s| cost(s, |c| c.system_ns_per_io)),
    ("irq_ns_per_io", |s| cost(s, |c| c.irq_ns_per_io)),
    ("kernel_worker_ns_per_io", |s| cost(s, |c| c.kernel_worker_ns_per_io)),
    ("interrupts_per_io", |s| cpu(s, |c| c.interrupts_per_io)),
    ("context_switches_per_io", |s| cpu(s, |c| c.context_switches_per_io)),
    ("iops_per_core", |s| or_empty(s.cpu.as_ref().and_then(|c| c.iops_per_core))),
    ("busy_physical_cores", |s| cpu(s, |c| c.busy_physical_cores)),
    ("iops_per_physical_core", |s| or_empty(s.cpu.as_ref().and_then(|c| c.iops_per_physical_core))),
    ("limit", |s| s.limit.name.as_str().to_owned()),
    ("limit_confidence", |s| s.limit.confidence.as_str().to_owned()),
    ("limit_probability", |s| or_empty(s.limit.probability)),
    ("steady", |s| or_empty(s.steady.as_ref().map(|v| v.reached))),
    ("warnings", |s| s.warning_texts.iter().map(english).collect::<Vec<_>>().join("; ")),
];

/// The engine in the words of the program that measured; empty where an import does not say.
fn engine(step: &StepView) -> String {
    let known = step.role.imported.engine.clone().unwrap_or_else(|| step.engine.as_str().to_owned());
    if_known(step, LoadPart::Engine, known)
}

/// `value`; empty where an import does not say this part of the load.
fn if_known(step: &StepView, part: LoadPart, value: String) -> String {
    if step.role.is_unknown(part) { String::new() } else { value }
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

fn lat<T: ToString>(step: &StepView, read: fn(&LatencyView) -> T) -> String {
    or_empty(step.lat_ns.as_ref().map(read))
}

fn lat_quantile(step: &StepView, read: fn(&LatencyView) -> Option<u64>) -> String {
    or_empty(step.lat_ns.as_ref().and_then(read))
}

fn p99_ci(step: &StepView, side: usize) -> String {
    or_empty(step.lat_ns.as_ref().and_then(|l| l.ci95.get("p99")).map(|ci| ci[side]))
}

fn direction<T: ToString>(view: Option<&DirectionView>, read: fn(&DirectionView) -> T) -> String {
    or_empty(view.map(read))
}

fn direction_lat<T: ToString>(view: Option<&DirectionView>, read: fn(&LatencyView) -> Option<T>) -> String {
    or_empty(view.and_then(|d| d.lat_ns.as_ref()).and_then(read))
}

/// CPU time per I/O of a kind; empty where the sum of the kinds is not known.
fn cost(step: &StepView, read: fn(&CpuView) -> f64) -> String {
    or_empty(step.cpu.as_ref().filter(|cpu| cpu.ns_per_io.is_some()).map(read))
}

fn cpu<T: ToString>(step: &StepView, read: fn(&CpuView) -> T) -> String {
    or_empty(step.cpu.as_ref().map(read))
}
