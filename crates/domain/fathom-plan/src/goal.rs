//! Goals as people write them: `iops>=10M, p99<=500us`.

use std::ops::Range;

use fathom_message::{Message, Say, msg};
use fathom_units::{advice, parse_duration_ns, parse_iops};
use serde::{Deserialize, Serialize};

use crate::error::SourceError;
use crate::knobs::print_duration;

const WORDS: [&str; 4] = ["iops", "bw", "lat", "p99"];

/// What is wanted of a system. `None`: not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Goal {
    /// At least this many I/Os per second.
    pub iops: Option<f64>,
    /// At least this many bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Mean latency at most.
    pub lat_ns_mean: Option<f64>,
    /// 99th percentile at most.
    pub lat_ns_p99: Option<f64>,
}

/// The latencies that a load must not exceed: a [`Goal`] of such terms alone. `None`: not asked; one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencyGoal {
    /// Mean at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub mean_ns: Option<u64>,
    /// 99th percentile at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub p99_ns: Option<u64>,
}

impl Goal {
    /// Reads terms separated by commas: `iops>=`, `bw>=` (bytes per second, `20GB/s`), `lat<=` (mean), `p99<=`.
    ///
    /// # Errors
    /// The column of a term that is not understood, is the wrong way round or has no unit.
    pub fn parse(text: &str) -> Result<Goal, SourceError> {
        let mut goal = Goal::default();
        let mut at = 0;
        for part in text.split(',') {
            let start = at + part.len() - part.trim_start().len();
            term(text, start..start + part.trim().len(), &mut goal)?;
            at += part.len() + 1;
        }
        Ok(goal)
    }
}

impl LatencyGoal {
    /// As it is typed: `lat<=200us,p99<=1ms`.
    pub(crate) fn text(&self) -> String {
        let term = |word: &str, ns: Option<u64>| ns.map(|ns| format!("{word}<={}", print_duration(ns)));
        [term("lat", self.mean_ns), term("p99", self.p99_ns)].into_iter().flatten().collect::<Vec<_>>().join(",")
    }

    /// The latencies of `goal`; `None` when it asks for a rate, or for nothing.
    #[must_use]
    pub fn of(goal: &Goal) -> Option<LatencyGoal> {
        // They were read from whole nanoseconds.
        let whole = |ns: Option<f64>| ns.map(|ns| ns as u64);
        let of = LatencyGoal { mean_ns: whole(goal.lat_ns_mean), p99_ns: whole(goal.lat_ns_p99) };
        let asks_rate = goal.iops.is_some() || goal.bytes_per_s.is_some();
        (!asks_rate && (of.mean_ns.is_some() || of.p99_ns.is_some())).then_some(of)
    }
}

fn term(text: &str, span: Range<usize>, goal: &mut Goal) -> Result<(), SourceError> {
    let part = &text[span.clone()];
    let fail = |span: Range<usize>, message: Message, help: Message| {
        Err(SourceError::at("--goal", text, span, message, Some(help)))
    };
    let owned = |text: &str| text.to_owned();
    let Some((word, at_least, value)) = split(part) else {
        return fail(span, msg!("goal-malformed", text = owned(part)), msg!("goal-malformed-help"));
    };
    let (word, value) = (word.trim(), value.trim());
    let value_span = span.end - value.len()..span.end;
    let wrong_way = |help| fail(span.clone(), msg!("goal-wrong-way", text = owned(part)), help);
    match word {
        "iops" | "bw" if !at_least => return wrong_way(msg!("goal-rate-help")),
        "lat" | "p99" if at_least => return wrong_way(msg!("goal-latency-help")),
        "iops" => match parse_iops(value) {
            Ok(x) if x > 0.0 => goal.iops = Some(x),
            Ok(_) => return fail(value_span, msg!("goal-of-nothing"), msg!("goal-iops-help")),
            Err(e) => return fail(value_span, e.message(), msg!("goal-iops-help")),
        },
        "bw" => match bandwidth(value) {
            Ok(x) => goal.bytes_per_s = Some(x),
            Err(message) => return fail(value_span, message, msg!("goal-bw-help")),
        },
        "lat" | "p99" => {
            if value.chars().all(|c| c.is_ascii_digit() || c == '.') {
                return fail(
                    value_span,
                    msg!("goal-without-unit", text = owned(value)),
                    msg!("goal-without-unit-help"),
                );
            }
            match parse_duration_ns(value) {
                Ok(ns) if ns > 0 && word == "lat" => goal.lat_ns_mean = Some(ns as f64),
                Ok(ns) if ns > 0 => goal.lat_ns_p99 = Some(ns as f64),
                Ok(_) => return fail(value_span, msg!("goal-no-time"), msg!("goal-time-help")),
                Err(e) => return fail(value_span, e.message(), msg!("goal-time-help")),
            }
        }
        _ => {
            let word_span = span.start..span.start + word.len();
            return fail(word_span, msg!("goal-unknown", word = owned(word)), advice(word, &WORDS));
        }
    }
    Ok(())
}

/// Word, whether it is `>=`, value. People also write `>` and `<`: of a measured figure they mean the same.
fn split(part: &str) -> Option<(&str, bool, &str)> {
    let at = |sign: &str, at_least: bool| part.split_once(sign).map(|(word, value)| (word, at_least, value));
    at(">=", true)
        .or_else(|| at("<=", false))
        .or_else(|| at(">", true))
        .or_else(|| at("<", false))
        .filter(|(_, _, v)| !v.trim().is_empty())
}

/// Bytes per second with a unit: `20GB/s`, `500 MiB/s`.
fn bandwidth(value: &str) -> Result<f64, Message> {
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let number: f64 = number.parse().map_err(|_| msg!("goal-not-a-bandwidth", text = value.to_owned()))?;
    let factor = match unit.trim() {
        "" => return Err(msg!("goal-without-unit", text = value.to_owned())),
        "B/s" => 1.0,
        "kB/s" | "KB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "TB/s" => 1e12,
        "KiB/s" => 1024.0,
        "MiB/s" => 1_048_576.0,
        "GiB/s" => 1_073_741_824.0,
        other => return Err(msg!("goal-unknown-unit", unit = other.to_owned())),
    };
    if number > 0.0 { Ok(number * factor) } else { Err(msg!("goal-of-nothing")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::source_words;

    #[test]
    fn goals_are_read_as_written() {
        let goal = Goal::parse("iops>=10M, p99<=500us").expect("a goal");
        assert_eq!((goal.iops, goal.lat_ns_p99), (Some(10e6), Some(500_000.0)));
        let goal = Goal::parse("bw >= 20GB/s,lat<=1ms").expect("a goal");
        assert_eq!((goal.bytes_per_s, goal.lat_ns_mean), (Some(20e9), Some(1e6)));
        let goal = Goal::parse("iops>10M, p99 < 500us").expect("a goal");
        assert_eq!((goal.iops, goal.lat_ns_p99), (Some(10e6), Some(500_000.0)));
    }

    #[test]
    fn a_latency_goal_has_latencies_and_no_rate() {
        let of = |text| LatencyGoal::of(&Goal::parse(text).expect("a goal"));
        assert_eq!(of("p99<=1ms"), Some(LatencyGoal { mean_ns: None, p99_ns: Some(1_000_000) }));
        assert_eq!(of("lat<=200us, p99<=1ms").and_then(|g| g.mean_ns), Some(200_000));
        assert_eq!((of("iops>=10k, p99<=1ms"), of("bw>=1GB/s")), (None, None));
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, message, column) in [
            ("iops>=10M, p99<=500", "`500` has no unit", 17),
            ("iops<=10M", "wrong way round", 1),
            ("ipos>=10M", "did you mean `iops`?", 1),
            ("bw>=20", "`20` has no unit", 5),
            ("iops=10M", "is not a goal", 1),
            ("p99<=", "is not a goal", 1),
        ] {
            let error = Goal::parse(text).expect_err(text);
            assert_eq!((error.place.line, error.place.column), (1, column), "{text}: {error}");
            assert!(source_words(&error).contains(message), "{error}");
        }
    }
}
