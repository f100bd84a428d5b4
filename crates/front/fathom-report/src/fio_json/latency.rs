//! Latencies in fio's form: `slat_ns`, `clat_ns`, `lat_ns`, and the shares in `latency_ns`, `latency_us`, `latency_ms`.

use fathom_hist::Histogram;
use fathom_record::{Latency, QuotedLatency};

use super::shape::{self, Object};
use crate::fio_bins::{FIO_BINS, bin_counts, ns_of_bin};

/// Default list of fio, percent.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// What to print besides the moments.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// json+: the bins.
    pub(super) bins: bool,
    /// Whether quantiles mean anything (not at an unsustainable rate).
    pub(super) distribution: bool,
}

/// Fio's object for one kind of latency.
pub(super) fn latency(of: &Latency, detail: Detail) -> shape::Latency {
    match of {
        Latency::Samples(histogram) => from_samples(histogram, detail),
        Latency::Quoted(quoted) => from_quoted(quoted, detail),
    }
}

/// Number of I/Os behind the figures.
pub(super) fn sample_count(of: &Latency) -> u64 {
    match of {
        Latency::Samples(histogram) => histogram.count(),
        Latency::Quoted(quoted) => quoted.count,
    }
}

fn from_samples(histogram: &Histogram, detail: Detail) -> shape::Latency {
    let n = histogram.count();
    let has_any = n > 0 && detail.distribution;
    let percentile = has_any.then(|| {
        let value = |percent: &f64| Some((percent_key(*percent), histogram.quantile(percent / 100.0)?));
        Object(PERCENTILES.iter().filter_map(value).collect())
    });
    let bins = (has_any && detail.bins).then(|| {
        let counts = bin_counts(histogram).into_iter().enumerate();
        Object(counts.filter(|(_, count)| *count > 0).map(|(bin, count)| (ns_of_bin(bin).to_string(), count)).collect())
    });
    shape::Latency {
        min: histogram.min_ns().unwrap_or(0),
        max: histogram.max_ns().unwrap_or(0),
        mean: histogram.mean_ns().unwrap_or(0.0),
        stddev: histogram.stddev_ns().unwrap_or(0.0),
        n,
        percentile,
        bins,
        fathom_note: None,
    }
}

fn from_quoted(quoted: &QuotedLatency, detail: Detail) -> shape::Latency {
    let percentile = (!quoted.quantiles.is_empty() && detail.distribution)
        .then(|| Object(quoted.quantiles.iter().map(|(q, ns)| (percent_key(q * 100.0), *ns)).collect()));
    shape::Latency {
        min: quoted.min_ns,
        max: quoted.max_ns,
        mean: quoted.mean_ns,
        stddev: quoted.stddev_ns,
        n: quoted.count,
        percentile,
        bins: None,
        fathom_note: None,
    }
}

fn percent_key(percent: f64) -> String {
    format!("{percent:.6}")
}

/// Shares of I/Os by latency, percent: `latency_ns`, `latency_us`, `latency_ms`.
pub(super) struct Shares {
    pub(super) ns: Object<f64>,
    pub(super) us: Object<f64>,
    pub(super) ms: Object<f64>,
}

/// fio's upper bounds within a unit; the lower bound is the one before, that of the first is 0 ns, 1 us, 1 ms.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Shares over all given histograms; all 0 when there is none.
pub(super) fn shares<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Shares {
    let mut counts = vec![0_u64; FIO_BINS];
    for histogram in histograms {
        for (sum, count) in counts.iter_mut().zip(bin_counts(histogram)) {
            *sum += count;
        }
    }
    let total: u64 = counts.iter().sum();
    let share_below = |ns: u64| {
        let below: u64 = (0..FIO_BINS).take_while(|bin| ns_of_bin(*bin) < ns).map(|bin| counts[bin]).sum();
        if total == 0 { 0.0 } else { below as f64 * 100.0 / total as f64 }
    };
    let ladder = |unit_ns: u64, first_ns: u64| {
        let mut low = share_below(first_ns);
        let mut rungs = Vec::with_capacity(BOUNDS.len() + 2);
        for bound in BOUNDS {
            let high = share_below(bound * unit_ns);
            rungs.push((bound.to_string(), high - low));
            low = high;
        }
        rungs
    };
    let mut ms = ladder(1_000_000, 1_000_000);
    let (below_1s, below_2s) = (share_below(1_000_000_000), share_below(2_000_000_000));
    ms.push(("2000".to_owned(), below_2s - below_1s));
    ms.push((">=2000".to_owned(), if total == 0 { 0.0 } else { 100.0 - below_2s }));
    Shares { ns: Object(ladder(1, 0)), us: Object(ladder(1000, 1000)), ms: Object(ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_all_units_add_up_to_everything() {
        let mut histogram = Histogram::new();
        for ns in [1, 3, 900, 1500, 15_000, 80_000, 999_000, 1_500_000, 900_000_000, 1_500_000_000, 5_000_000_000] {
            histogram.record(ns);
        }
        let shares = shares(std::iter::once(&histogram));
        let sum: f64 = [&shares.ns, &shares.us, &shares.ms].iter().flat_map(|o| &o.0).map(|(_, share)| share).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{sum}");
        let of = |object: &Object<f64>, key: &str| object.0.iter().find(|(k, _)| k == key).expect("a rung").1;
        assert!((of(&shares.ns, "2") - 100.0 / 11.0).abs() < 1e-9);
        assert!((of(&shares.us, "2") - 100.0 / 11.0).abs() < 1e-9);
        assert!((of(&shares.us, "100") - 100.0 / 11.0).abs() < 1e-9);
        assert!((of(&shares.ms, ">=2000") - 100.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn every_percentile_of_fio_is_there_for_scripts_that_look_for_it() {
        let mut histogram = Histogram::new();
        histogram.record(1000);
        let printed = from_samples(&histogram, Detail { bins: false, distribution: true });
        let keys: Vec<String> = printed.percentile.expect("samples").0.into_iter().map(|(key, _)| key).collect();
        assert_eq!((keys.len(), keys.contains(&"99.000000".to_owned())), (PERCENTILES.len(), true));
    }

    #[test]
    fn nothing_of_the_distribution_is_printed_when_it_means_nothing() {
        let mut histogram = Histogram::new();
        histogram.record_n(5000, 1_000_000);
        let printed = from_samples(&histogram, Detail { bins: true, distribution: false });
        assert!(printed.percentile.is_none() && printed.bins.is_none());
    }
}
