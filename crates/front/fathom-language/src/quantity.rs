//! Figures as people read them.

use fathom_message::{Quantity, Unit};
use fathom_units::{
    format_block, format_bytes, format_duration_ns, format_iops, format_ns, format_rate, format_rate_decimal,
    format_significant,
};

/// From this ratio on a multiple says more than a percentage.
const MANIFOLD: f64 = 10.0;
/// From this ratio on the end of an interval says only that there are too few figures.
const UNBOUNDED: f64 = 100.0;

/// The figure with its unit: `84.7k IOPS`, `641 us`, `97 %`.
#[must_use]
pub fn with_unit(quantity: &Quantity) -> String {
    let figure = figure(quantity);
    match quantity.unit {
        Unit::Iops => format!("{figure} IOPS"),
        Unit::NsPerIo => format!("{figure} per I/O"),
        Unit::IopsPerCore => format!("{figure} IOPS"),
        Unit::Cores => format!("{figure} cores"),
        Unit::PctPerMinute => format!("{figure} % a minute"),
        Unit::Celsius => format!("{figure} °C"),
        Unit::Ppm => format!("{figure} ppm"),
        Unit::Watts => format!("{figure} W"),
        Unit::S => format!("{figure} s"),
        Unit::PerS => format!("{figure}/s"),
        Unit::PerIo => format!("{figure} per I/O"),
        // Their figures have the unit in them.
        Unit::BytesPerS
        | Unit::Bytes
        | Unit::BlockBytes
        | Unit::Ns
        | Unit::DurationNs
        | Unit::Pct
        | Unit::ChangePct
        | Unit::Change
        | Unit::Times
        | Unit::Count
        | Unit::Hertz => figure,
    }
}

/// As [`with_unit`], where room is short: a bandwidth is said in decimal units alone.
#[must_use]
pub(crate) fn briefly(quantity: &Quantity) -> String {
    match quantity.unit {
        Unit::BytesPerS => format_rate_decimal(quantity.value),
        _ => with_unit(quantity),
    }
}

/// The figure alone, where its unit can stand apart: `84.7k`, but `641 us`.
#[must_use]
pub fn figure(quantity: &Quantity) -> String {
    let value = quantity.value;
    match quantity.unit {
        Unit::Iops | Unit::IopsPerCore | Unit::PerS => format_iops(value),
        Unit::BytesPerS => format_rate(value),
        Unit::Bytes => format_bytes(whole(value)),
        Unit::BlockBytes => format_block(whole(value)),
        Unit::Ns | Unit::NsPerIo => format_ns(value),
        Unit::DurationNs => format_duration_ns(whole(value)),
        Unit::Pct => format!("{} %", pct_digits(value)),
        Unit::ChangePct => format!("{value:+.1} %"),
        Unit::Change => change_words(value),
        Unit::Times => format!("{}x", times_digits(value)),
        Unit::PctPerMinute => format!("{value:+.0}"),
        Unit::Cores | Unit::PerIo => format!("{value:.2}"),
        Unit::Celsius | Unit::Ppm => format!("{value:.0}"),
        Unit::Count | Unit::S | Unit::Watts => plain(value),
        Unit::Hertz => hertz(value),
    }
}

/// Half of an interval, over its figure, that would be said as 0.0 %.
const NARROWEST: f64 = 0.0005;

/// ` ±5.0 %` of the figure; nothing where there is no interval, or one too narrow to be seen (simulated machines), or so
/// wide that its ends are said instead (`is_wide`).
#[must_use]
pub fn plus_minus(quantity: &Quantity) -> String {
    match quantity.ci95 {
        Some([low, high]) if quantity.value > 0.0 && !is_wide(quantity) => {
            let half = (high - low) / 2.0 / quantity.value;
            match half {
                _ if half < NARROWEST => String::new(),
                _ => format!(" ±{:.1} %", half * 100.0),
            }
        }
        _ => String::new(),
    }
}

/// As [`plus_minus`], where room is short: an interval wider than its figure says only that.
pub(crate) fn brief_plus_minus(quantity: &Quantity) -> String {
    if is_wide(quantity) { " ±>100 %".to_owned() } else { plus_minus(quantity) }
}

/// Whether the interval is wider than the figure: a share of it says nothing, its ends do.
#[must_use]
pub(crate) fn is_wide(quantity: &Quantity) -> bool {
    quantity.ci95.is_some_and(|[low, high]| quantity.value > 0.0 && (high - low) / 2.0 > quantity.value)
}

/// Both ends of the interval, the unit with the upper one; `None` where there is none, or both read the same.
#[must_use]
pub fn interval_words(quantity: &Quantity) -> Option<(String, String)> {
    let [low, high] = quantity.ci95?;
    if quantity.unit == Unit::Change {
        let (low, high) = change_interval([low, high]);
        return (high.trim_end_matches(" %") != low).then_some((low, high));
    }
    let end = |value| Quantity::new(value, quantity.unit);
    let (low, high) = (end(low), end(high));
    let low_words = if quantity.unit == Unit::BytesPerS { briefly(&low) } else { figure(&low) };
    (figure(&low) != figure(&high)).then(|| (low_words, briefly(&high)))
}

/// A ratio as people say it: `+26.1 %`, `12.4-fold`, `below -99.9 %`.
#[must_use]
pub fn change_words(ratio: f64) -> String {
    match ratio {
        r if r >= MANIFOLD => format!("{r:.1}x"),
        r if r < 0.001 => "-99.9 %".to_owned(),
        // Not -0.0.
        r if (r - 1.0).abs() < 0.0005 => "+0.0 %".to_owned(),
        r => format!("{:+.1} %", (r - 1.0) * 100.0),
    }
}

fn change_interval([low, high]: [f64; 2]) -> (String, String) {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    match (low, high) {
        (low, high) if low >= MANIFOLD => (format!("{low:.1}x"), format!("{high:.1}x")),
        // Two pairs that disagree bound nothing from above.
        (low, high) if high > UNBOUNDED => (format!("{:+.1}", pct(low)), format!(">{:+.0} %", pct(UNBOUNDED))),
        _ => (format!("{:+.1}", pct(low)), format!("{:+.1} %", pct(high))),
    }
}

/// Whole percents in the middle, tenths near both ends, where they tell something.
fn pct_digits(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths.fract() == 0.0 || (9.95..98.95).contains(&value.abs()) {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn times_digits(value: f64) -> String {
    if value >= 9.995 { format_significant(value) } else { format!("{value:.2}") }
}

fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format_significant(value) }
}

/// `2.40 GHz`: the prefix stands with the unit.
fn hertz(value: f64) -> String {
    let (scale, unit) = match value.abs() {
        v if v >= 1e9 => (1e9, "GHz"),
        v if v >= 1e6 => (1e6, "MHz"),
        v if v >= 1e3 => (1e3, "kHz"),
        _ => (1.0, "Hz"),
    };
    format!("{} {unit}", format_significant(value / scale))
}

fn whole(value: f64) -> u64 {
    // A negative or absurd size becomes the nearest one there is.
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_scaled_and_have_their_unit() {
        for (value, unit, text) in [
            (84_700.0, Unit::Iops, "84.7k IOPS"),
            (3.1e9, Unit::BytesPerS, "3.10 GB/s (2.89 GiB/s)"),
            (4096.0, Unit::Bytes, "4 KiB"),
            (4096.0, Unit::BlockBytes, "4k"),
            (641_000.0, Unit::Ns, "641 us"),
            (90e9, Unit::DurationNs, "1 min 30 s"),
            (1_250.0, Unit::NsPerIo, "1.25 us per I/O"),
            (97.2, Unit::Pct, "97 %"),
            (99.62, Unit::Pct, "99.6 %"),
            (100.0, Unit::Pct, "100 %"),
            (0.42, Unit::Pct, "0.4 %"),
            (1.261, Unit::Change, "+26.1 %"),
            (12.4, Unit::Change, "12.4x"),
            (1.43, Unit::Times, "1.43x"),
            (24.6, Unit::Times, "24.6x"),
            (0.336, Unit::Cores, "0.34 cores"),
            (8.0, Unit::Count, "8"),
            (7.48, Unit::Count, "7.48"),
            (74.0, Unit::Celsius, "74 °C"),
            (2.4e9, Unit::Hertz, "2.40 GHz"),
            (28_750.0, Unit::PerS, "28.8k/s"),
        ] {
            assert_eq!(with_unit(&Quantity::new(value, unit)), text);
        }
    }

    #[test]
    fn an_interval_wider_than_its_figure_is_no_share_of_it() {
        let at = |low, high| Quantity::iops(100.0).with_ci95(Some([low, high]));
        assert_eq!(plus_minus(&at(95.0, 105.0)), " ±5.0 %");
        assert!(plus_minus(&at(-900.0, 900.0)).is_empty() && is_wide(&at(-900.0, 900.0)) && !is_wide(&at(95.0, 105.0)));
        assert_eq!(plus_minus(&Quantity::iops(100.0)), "");
    }

    #[test]
    fn an_interval_of_a_change_is_bounded_where_the_figures_bound_it() {
        let at = |low, high| interval_words(&Quantity::change(1.0).with_ci95(Some([low, high]))).expect("has one");
        assert_eq!(at(1.24, 1.282), ("+24.0".to_owned(), "+28.2 %".to_owned()));
        assert_eq!(change_words(0.9999), "+0.0 %");
        let narrow = Quantity::change(0.07).with_ci95(Some([0.07001, 0.07003]));
        assert_eq!(interval_words(&narrow), None, "an interval whose ends read the same says nothing");
        assert_eq!(at(11.9, 13.0), ("11.9x".to_owned(), "13.0x".to_owned()));
        assert_eq!(at(0.5, 1e6), ("-50.0".to_owned(), ">+9900 %".to_owned()));
    }
}
