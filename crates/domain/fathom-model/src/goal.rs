//! Goals as people write them: `iops>=10M, p99<=500us`.

use std::ops::Range;

use fathom_plan::SourceError;
use fathom_units::{nearest, parse_duration_ns, parse_iops};

use crate::predict::Goal;

const WORDS: [&str; 4] = ["iops", "bw", "lat", "p99"];

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

fn term(text: &str, span: Range<usize>, goal: &mut Goal) -> Result<(), SourceError> {
    let part = &text[span.clone()];
    let fail = |span: Range<usize>, message: String, help: &str| {
        Err(SourceError::at("--goal", text, span, message, Some(help.to_owned())))
    };
    let Some((word, at_least, value)) = split(part) else {
        return fail(span, format!("`{part}` is not a goal"), "write for example iops>=10M, p99<=500us");
    };
    let (word, value) = (word.trim(), value.trim());
    let value_span = span.end - value.len()..span.end;
    let wrong_way = if at_least { "a latency is held with <=" } else { "a rate is reached with >=" };
    match word {
        "iops" | "bw" if !at_least => return fail(span, format!("`{part}` is the wrong way round"), wrong_way),
        "lat" | "p99" if at_least => return fail(span, format!("`{part}` is the wrong way round"), wrong_way),
        "iops" => match parse_iops(value) {
            Ok(x) if x > 0.0 => goal.iops = Some(x),
            Ok(_) => return fail(value_span, "a goal of no I/O is met by anything".into(), "for example 10M"),
            Err(e) => return fail(value_span, e.to_string(), "for example 10M or 500k"),
        },
        "bw" => match bandwidth(value) {
            Ok(x) => goal.bytes_per_s = Some(x),
            Err(message) => return fail(value_span, message, "for example 20GB/s or 10GiB/s"),
        },
        "lat" | "p99" => {
            if value.chars().all(|c| c.is_ascii_digit() || c == '.') {
                return fail(value_span, format!("`{value}` has no unit"), "write us, ms or s behind it");
            }
            match parse_duration_ns(value) {
                Ok(ns) if ns > 0 && word == "lat" => goal.lat_ns_mean = Some(ns as f64),
                Ok(ns) if ns > 0 => goal.lat_ns_p99 = Some(ns as f64),
                Ok(_) => return fail(value_span, "no I/O takes no time".into(), "for example 500us"),
                Err(e) => return fail(value_span, e.to_string(), "for example 500us"),
            }
        }
        _ => {
            let word_span = span.start..span.start + word.len();
            let help = nearest(word, WORDS)
                .map_or("goals are iops, bw, lat, p99".to_owned(), |n| format!("did you mean `{n}`?"));
            return fail(word_span, format!("`{word}` cannot be a goal"), &help);
        }
    }
    Ok(())
}

/// Word, whether it is `>=`, value.
fn split(part: &str) -> Option<(&str, bool, &str)> {
    part.split_once(">=")
        .map(|(w, v)| (w, true, v))
        .or_else(|| part.split_once("<=").map(|(w, v)| (w, false, v)))
        .filter(|(_, _, v)| !v.trim().is_empty())
}

/// Bytes per second with a unit: `20GB/s`, `500 MiB/s`.
fn bandwidth(value: &str) -> Result<f64, String> {
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let number: f64 = number.parse().map_err(|_| format!("`{value}` is not a number with a unit"))?;
    let factor = match unit.trim() {
        "" => return Err(format!("`{value}` has no unit")),
        "B/s" => 1.0,
        "kB/s" | "KB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "TB/s" => 1e12,
        "KiB/s" => 1024.0,
        "MiB/s" => 1_048_576.0,
        "GiB/s" => 1_073_741_824.0,
        other => return Err(format!("`{other}` is not a unit of bandwidth")),
    };
    if number > 0.0 { Ok(number * factor) } else { Err("a goal of no bytes is met by anything".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_as_written() {
        let goal = Goal::parse("iops>=10M, p99<=500us").expect("a goal");
        assert_eq!((goal.iops, goal.lat_ns_p99), (Some(10e6), Some(500_000.0)));
        let goal = Goal::parse("bw >= 20GB/s,lat<=1ms").expect("a goal");
        assert_eq!((goal.bytes_per_s, goal.lat_ns_mean), (Some(20e9), Some(1e6)));
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
            assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
