//! Bands of predicted loads, what widens them, and what arithmetic says, for `predict --details`.

use fathom_model::{FigureBand, Unknown};
use fathom_units::{format_iops, format_ns};

use super::predicted::Load;
use crate::terminal::say;

/// How far the figures may lie, beside what arithmetic on the ratings gives.
pub(super) fn table(loads: &[Load<'_>], width: usize) -> String {
    let mut text = format!(
        "\n {:<width$} {:>17} {:>19} {:>19} {:>13} {:>10}\n",
        "bands of 90 %", "IOPS", "mean", "p99", "cores", "arithmetic"
    );
    for load in loads {
        let b = &load.prediction.bands;
        let ends = |band: &FigureBand, shown: &dyn Fn(f64) -> String| {
            format!("{} to {}", shown(band.within_90[0]), shown(band.within_90[1]))
        };
        text.push_str(&format!(
            " {:<width$} {:>17} {:>19} {:>19} {:>13} {:>10}\n",
            load.label,
            ends(&b.iops, &format_iops),
            ends(&b.lat_ns_mean, &format_ns),
            ends(&b.lat_ns_p99, &format_ns),
            b.cores_busy.as_ref().map_or("-".to_owned(), |band| ends(band, &|c| format!("{c:.1}"))),
            load.prediction.baseline.map_or("-".to_owned(), |b| format_iops(b.iops)),
        ));
    }
    text
}

/// What widens the band of the IOPS, most first, each with what it alone does.
pub(super) fn unknowns(all: &[Unknown]) -> String {
    all.iter()
        .map(|u| {
            let [down, up] = u.factors;
            format!(" not known: {}: x {down:.2} to {up:.2}\n", say(&u.part.message()))
        })
        .collect()
}
