//! Fathom's own JSON document: figures as they were printed, with the plan and the counters; samples are not in it.

use fathom_judge::document::{DirectionView, Document, LatencyView, SCHEMA, StepView};
use fathom_message::msg;
use fathom_plan::{Op, Phase, Step};
use fathom_record::{Direction, Latency, QuotedLatency, StepRecord, Warning};
use jiff::Timestamp;
use serde_json::Value;

use super::{ImportError, Imported};
use fathom_fio::{Found, json_error};

const NS_PER_S: f64 = 1e9;

pub(super) fn import(found: &Found, file: &str) -> Result<Imported, ImportError> {
    let schema = found.value.get("schema").and_then(Value::as_u64).unwrap_or(0);
    if schema > u64::from(SCHEMA) {
        return Err(ImportError::NewerFathom { file: file.to_owned(), found: schema, known: SCHEMA });
    }
    let doc: Document = serde_json::from_str(&found.clean).map_err(|error| json_error(&error, file))?;
    let run = doc.run.id.to_string();
    let mut notes = vec![msg!("import-fathom-run", file = file.to_owned(), run = run, version = doc.fathom.clone())];
    notes.extend(found.notes(file));
    let mut steps = Vec::new();
    for view in &doc.steps {
        if let Some(reason) = &view.reason {
            let (index, label) = (view.index.to_string(), &view.label);
            notes.push(msg!("import-fathom-step", index = index, label = label.clone(), reason = reason.clone()));
            continue;
        }
        // A probe was no step of the plan: the run added it, and the document does not hold what it was asked.
        if view.phase == Phase::Probe {
            notes.push(msg!("import-fathom-probe", index = view.index.to_string(), label = view.label.clone()));
            continue;
        }
        let step = doc.run.plan.steps.iter().find(|step| step.index == view.index);
        let step: Step = step.cloned().ok_or_else(|| ImportError::Content {
            file: file.to_owned(),
            place: "run.plan.steps".to_owned(),
            what: msg!("import-fathom-no-step", index = view.index.to_string()),
            help: Some(msg!("import-fathom-no-step-help")),
        })?;
        steps.push((step, record(view)));
    }
    let started_unix_ns = unix_ns(doc.run.started.as_ref());
    Ok(Imported { plan: doc.run.plan, steps, started_unix_ns, notes, host_json: doc.host })
}

fn unix_ns(rfc3339: Option<&String>) -> u64 {
    let stamp = rfc3339.and_then(|text| text.parse::<Timestamp>().ok());
    stamp.and_then(|t| u64::try_from(t.as_nanosecond()).ok()).unwrap_or(0)
}

fn record(view: &StepView) -> StepRecord {
    let mut warnings = view.warnings.clone();
    let views = [(Op::Read, &view.read), (Op::Write, &view.write), (Op::Trim, &view.trim)];
    let mut directions: Vec<Direction> =
        views.into_iter().filter_map(|(op, v)| Some(direction(op, v.as_ref()?, view.runtime_s))).collect();
    if let [only] = directions.as_mut_slice() {
        add_curve(&mut only.lat, view);
        only.slat = view.slat_ns.as_ref().map(quoted);
        only.clat = view.clat_ns.as_ref().map(quoted);
        only.service = view.service_ns.as_ref().map(quoted);
    } else if view.slat_ns.is_some() || view.clat_ns.is_some() || view.service_ns.is_some() {
        warnings.push(Warning::Note { text: msg!("import-fathom-mixed") });
    }
    warnings.push(Warning::Note { text: msg!("import-fathom-quoted") });
    StepRecord {
        started_unix_ns: unix_ns(view.started.as_ref()),
        runtime_ns: (view.runtime_s * NS_PER_S).round() as u64,
        setup_ns: (view.setup_ms * 1e6).round() as u64,
        directions,
        threads: view.workers.clone(),
        failures: view.failures.clone(),
        host: view.host_delta.clone(),
        features: view.features.clone(),
        clock: view.clock.clone(),
        overhead: view.overhead.clone(),
        verify: view.verify.clone(),
        open_loop: view.open_loop.clone(),
        warnings,
        ..StepRecord::default()
    }
}

fn direction(op: Op, view: &DirectionView, runtime_s: f64) -> Direction {
    Direction {
        op,
        ios: view.ios,
        bytes: (view.bytes_per_s * runtime_s).round() as u64,
        short_ios: view.short_ios,
        lat: view.lat_ns.as_ref().map_or_else(|| Latency::Quoted(QuotedLatency::default()), quoted),
        slat: None,
        clat: None,
        service: None,
    }
}

fn quoted(view: &LatencyView) -> Latency {
    let named = [
        (0.5, view.p50),
        (0.9, view.p90),
        (0.95, view.p95),
        (0.99, view.p99),
        (0.999, view.p99_9),
        (0.9999, view.p99_99),
        (0.99999, view.p99_999),
    ];
    Latency::Quoted(QuotedLatency {
        count: view.samples,
        mean_ns: view.mean,
        stddev_ns: view.stddev,
        min_ns: view.min,
        max_ns: view.max,
        quantiles: named.into_iter().filter_map(|(q, ns)| Some((q, ns?))).collect(),
    })
}

/// The percentile curve of a step with one operation is that operation's: more quantiles than the table has.
fn add_curve(lat: &mut Latency, view: &StepView) {
    let Latency::Quoted(quoted) = lat else { return };
    for point in &view.percentile_curve {
        if point.q > 0.0 && point.q < 1.0 && !quoted.quantiles.iter().any(|(q, _)| (q - point.q).abs() < 1e-9) {
            quoted.quantiles.push((point.q, point.ns));
        }
    }
    quoted.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
}
