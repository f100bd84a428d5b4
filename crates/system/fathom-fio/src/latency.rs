//! Latencies of an fio file: bins become samples, figures stay quoted.

use fathom_hist::Histogram;
use fathom_record::{Latency, QuotedLatency};
use serde_json::{Map, Value};

/// Longest latency, and most I/Os, that the lab can hold; what a file has beyond is no measurement.
const LARGEST: u64 = i64::MAX as u64;

/// `slat_ns`, `clat_ns` or `lat_ns` of a direction with `ios` I/Os; `None` when fio did not record it. Before 3.18 fio
/// did not write the number of samples: each I/O has one, unless all figures are 0.
pub(crate) fn parse(object: &Map<String, Value>, ios: u64) -> Option<Latency> {
    let is_recorded = || object.get("max").and_then(Value::as_f64).is_some_and(|max| max > 0.0);
    let count = match object.get("N") {
        Some(count) => count.as_u64(),
        None => Some(ios).filter(|_| is_recorded()),
    };
    let count = count.filter(|n| (1..=LARGEST).contains(n))?;
    let float = |key: &str| object.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let [min_ns, max_ns] = ["min", "max"].map(|key| (float(key) as u64).min(LARGEST));
    if let Some(bins) = object.get("bins").and_then(Value::as_object).filter(|bins| !bins.is_empty()) {
        return from_bins(bins, min_ns, max_ns).map(Latency::Samples);
    }
    let mut quantiles = percentiles(object);
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mean_ns, stddev_ns) = (float("mean"), float("stddev"));
    Some(Latency::Quoted(QuotedLatency { count, mean_ns, stddev_ns, min_ns, max_ns, quantiles }))
}

/// Whether more than the moments is known.
pub(crate) fn has_distribution(latency: &Latency) -> bool {
    match latency {
        Latency::Samples(_) => true,
        Latency::Quoted(quoted) => !quoted.quantiles.is_empty(),
    }
}

/// Samples behind a latency.
pub(crate) fn count(latency: &Latency) -> u64 {
    match latency {
        Latency::Samples(histogram) => histogram.count(),
        Latency::Quoted(quoted) => quoted.count,
    }
}

fn percentiles(object: &Map<String, Value>) -> Vec<(f64, u64)> {
    let listed = object.get("percentile").and_then(Value::as_object).into_iter().flatten();
    let parsed = listed.filter_map(|(key, ns)| Some((key.parse::<f64>().ok()? / 100.0, ns.as_u64()?.min(LARGEST))));
    parsed.filter(|(q, _)| *q > 0.0 && *q < 1.0).collect()
}

fn from_bins(bins: &Map<String, Value>, min_ns: u64, max_ns: u64) -> Option<Histogram> {
    let pairs = bins.iter().filter_map(|(ns, count)| Some((ns.parse().ok()?, count.as_u64()?))).collect();
    samples(pairs, min_ns, max_ns)
}

/// Samples of bins: nanoseconds, and how many. One of the lowest and one of the highest bin are known exactly: the minimum
/// and the maximum. `None`: more than the lab can hold.
pub(crate) fn samples(mut pairs: Vec<(u64, u64)>, min_ns: u64, max_ns: u64) -> Option<Histogram> {
    pairs.retain(|(_, count)| *count > 0);
    pairs.sort_unstable();
    let total = pairs.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count))?;
    if total > LARGEST {
        return None;
    }
    let max_ns = max_ns.max(min_ns);
    let mut histogram = Histogram::new();
    let last = pairs.len().saturating_sub(1);
    for (i, (ns, count)) in pairs.into_iter().enumerate() {
        let mut rest = count;
        if i == 0 {
            histogram.record(min_ns);
            rest -= 1;
        }
        if i == last && rest > 0 {
            histogram.record(max_ns);
            rest -= 1;
        }
        histogram.record_n(ns.clamp(min_ns, max_ns), rest);
    }
    Some(histogram)
}

/// Two parts of the same load as one. Quantiles of quoted figures cannot be merged and are dropped; the result then
/// says so by having none.
pub(crate) fn merge(a: Latency, b: &Latency) -> Latency {
    match (a, b) {
        (Latency::Samples(mut into), Latency::Samples(from)) => {
            into.merge(from);
            Latency::Samples(into)
        }
        (a, b) => Latency::Quoted(merge_quoted(&quoted(&a), &quoted(b))),
    }
}

fn quoted(latency: &Latency) -> QuotedLatency {
    match latency {
        Latency::Quoted(quoted) => quoted.clone(),
        Latency::Samples(histogram) => QuotedLatency {
            count: histogram.count(),
            mean_ns: histogram.mean_ns().unwrap_or(0.0),
            stddev_ns: histogram.stddev_ns().unwrap_or(0.0),
            min_ns: histogram.min_ns().unwrap_or(0),
            max_ns: histogram.max_ns().unwrap_or(0),
            quantiles: Vec::new(),
        },
    }
}

/// Moments of a union of samples from the moments of its parts (law of total variance).
fn merge_quoted(a: &QuotedLatency, b: &QuotedLatency) -> QuotedLatency {
    if a.count == 0 || b.count == 0 {
        return if a.count == 0 { b.clone() } else { a.clone() };
    }
    let (weight_a, weight_b) = (a.count as f64, b.count as f64);
    let mean_ns = (a.mean_ns * weight_a + b.mean_ns * weight_b) / (weight_a + weight_b);
    let spread = |part: &QuotedLatency| part.stddev_ns.powi(2) + (part.mean_ns - mean_ns).powi(2);
    let variance = (spread(a) * weight_a + spread(b) * weight_b) / (weight_a + weight_b);
    QuotedLatency {
        count: a.count + b.count,
        mean_ns,
        stddev_ns: variance.sqrt(),
        min_ns: a.min_ns.min(b.min_ns),
        max_ns: a.max_ns.max(b.max_ns),
        quantiles: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn figures_beyond_what_can_be_measured_are_cut_or_left_out() {
        let bins = |bins: Value| json!({"min": 1, "max": 1.9e19, "mean": 2.0, "stddev": 0.0, "N": 3, "bins": bins});
        let Some(Latency::Samples(h)) = parse(&object(&bins(json!({"18446744073709551615": 3}))), 3) else {
            panic!("bins are samples")
        };
        assert_eq!((h.count(), h.max_ns()), (3, Some(LARGEST)));
        assert_eq!(parse(&object(&bins(json!({"1": u64::MAX, "2": u64::MAX}))), 3), None);
    }

    #[test]
    fn bins_keep_count_minimum_and_maximum() {
        let source = json!({"min": 780, "max": 1_450_500, "mean": 1.0, "stddev": 1.0, "N": 13,
                            "bins": {"1449984": 1, "788": 2, "65280": 10}});
        let Some(Latency::Samples(h)) = parse(&object(&source), 13) else { panic!("bins are samples") };
        assert_eq!((h.count(), h.min_ns(), h.max_ns()), (13, Some(780), Some(1_450_500)));
        assert_eq!(h.count_above(1000), 11);
    }

    #[test]
    fn one_sample_stays_one_sample() {
        let source = json!({"min": 780, "max": 780, "mean": 780.0, "stddev": 0.0, "N": 1, "bins": {"788": 1}});
        let Some(Latency::Samples(h)) = parse(&object(&source), 13) else { panic!("bins are samples") };
        assert_eq!((h.count(), h.min_ns(), h.max_ns()), (1, Some(780), Some(780)));
    }

    #[test]
    fn nothing_recorded_is_no_latency() {
        let nothing = json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0});
        assert_eq!(parse(&object(&nothing), 7), None);
        let mut counted = object(&nothing);
        counted.insert("N".to_owned(), json!(0));
        assert_eq!(parse(&counted, 7), None);
    }

    #[test]
    fn a_latency_without_its_number_of_samples_has_one_for_each_io() {
        // As fio 3.0 to 3.17 write it.
        let old =
            json!({"min": 1001, "max": 5067, "mean": 1257.5, "stddev": 512.25, "percentile": {"99.000000": 5088}});
        let Some(Latency::Quoted(quoted)) = parse(&object(&old), 64) else { panic!("figures without bins") };
        assert_eq!((quoted.count, quoted.mean_ns, quoted.quantiles), (64, 1257.5, vec![(0.99, 5088)]));
    }

    #[test]
    fn merged_moments_are_those_of_the_union() {
        let (a, b) = ([100.0_f64, 300.0], [200.0_f64, 600.0, 700.0]);
        let part = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            let quantiles = vec![(0.5, 1)];
            let (count, stddev_ns) = (values.len() as u64, variance.sqrt());
            QuotedLatency { count, mean_ns: mean, stddev_ns, min_ns: 100, max_ns: 700, quantiles }
        };
        let merged = merge_quoted(&part(&a), &part(&b));
        let whole = part(&[a.as_slice(), b.as_slice()].concat());
        assert!((merged.mean_ns - whole.mean_ns).abs() < 1e-9 && (merged.stddev_ns - whole.stddev_ns).abs() < 1e-9);
        assert!(merged.quantiles.is_empty());
    }
}
