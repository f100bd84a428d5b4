//! The document as a page carries it: every digit that a reader can see and no more, deflated, in base64.
//!
//! A run of hours on a server of 160 CPUs is 90 MB of JSON, nearly all of it the busy share of each CPU in each interval,
//! in single precision printed to 17 digits, and twice. The export in JSON keeps all of it; the page needs what it draws.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde_json::{Number, Value};

/// Significant digits of a number with a fraction. The page shows whole I/Os per second at most: seven digits.
const DIGITS: usize = 7;

/// Decimals of the share of time in which a CPU was busy: the page shows tenths of a percent.
const SHARE_DECIMALS: i32 = 3;

/// Takes from a document what the page cannot show: digits beyond those it prints, and what stands in it twice.
pub(super) fn trim(document: &mut Value) {
    let steps = document.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let drawn = step.pointer("/series/cpu_busy").cloned();
        if let Some(counted) = step.pointer_mut("/host_delta/cpu_busy_by_interval")
            && drawn.as_ref() == Some(counted)
        {
            *counted = Value::Array(Vec::new());
        }
        if let Some(shares) = step.pointer_mut("/series/cpu_busy") {
            each_number(shares, &|share| {
                let scale = 10_f64.powi(SHARE_DECIMALS);
                (share * scale).round() / scale
            });
        }
    }
    each_number(document, &|x| format!("{x:.*e}", DIGITS - 1).parse().unwrap_or(x));
}

/// Puts what `rounded` makes of it in place of every number with a fraction; whole numbers, seeds among them, stay.
fn each_number(value: &mut Value, rounded: &impl Fn(f64) -> f64) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().map(rounded);
            // A whole number is a digit or two where `1.0` is three.
            let whole = short.filter(|x| x.fract() == 0.0 && x.abs() < 1e15);
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 1e15")]
            let short = whole.map(|x| Number::from(x as i64)).or_else(|| short.and_then(Number::from_f64));
            if let Some(short) = short {
                *number = short;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_number(item, rounded)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_number(field, rounded)),
        _ => {}
    }
}

/// Writes `content` as base64 of its deflated JSON (RFC 1950), which a browser opens with `DecompressionStream`. Nothing in
/// base64 can close an element, open a comment, or be read as HTML.
pub(super) fn write(content: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut deflated = ZlibEncoder::new(EncoderWriter::new(out, &STANDARD), Compression::best());
    serde_json::to_writer(&mut deflated, content)?;
    deflated.finish()?.finish()?;
    Ok(())
}

/// What [`write`] has written, as text.
#[cfg(test)]
pub(super) fn opened(packed: &str) -> String {
    let text = base64::read::DecoderReader::new(packed.as_bytes(), &STANDARD);
    io::read_to_string(flate2::read::ZlibDecoder::new(text)).expect("what was packed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_keeps_the_digits_that_it_shows_and_every_whole_number() {
        let seed = u64::MAX - 7;
        let mut document =
            json!({ "seed": seed, "iops": 1_234_567.891_234, "ns": 0.000_123_456_789, "none": null, "round": 3.0 });
        trim(&mut document);
        let short = json!({ "seed": seed, "iops": 1_234_568, "ns": 0.000_123_456_8, "none": null, "round": 3 });
        assert_eq!(document, short);
    }

    #[test]
    fn busy_cpus_stand_in_a_page_once_in_tenths_of_a_percent() {
        let shares = json!([[0.123_456_78_f32, 1.0, 0.0]]);
        let step = json!({ "series": { "cpu_busy": shares }, "host_delta": { "cpu_busy_by_interval": shares } });
        let mut document = json!({ "steps": [step] });
        trim(&mut document);
        assert_eq!(document["steps"][0]["series"]["cpu_busy"], json!([[0.123, 1, 0]]));
        assert_eq!(document["steps"][0]["host_delta"]["cpu_busy_by_interval"], json!([]));
    }

    #[test]
    fn what_differs_from_the_series_stays() {
        let mut document = json!({ "steps": [{ "series": { "cpu_busy": [[0.5]] }, "host_delta": { "cpu_busy_by_interval": [[0.25]] } }] });
        trim(&mut document);
        assert_eq!(document["steps"][0]["host_delta"]["cpu_busy_by_interval"], json!([[0.25]]));
    }

    #[test]
    fn an_hour_of_a_large_server_is_small() {
        // 160 CPUs over 3600 seconds: mostly idle, a few busy, none twice the same.
        let busy =
            |second: usize, cpu: usize| ((second * 131 + cpu * 17) % 97) as f32 / if cpu < 16 { 97.0 } else { 9700.0 };
        let shares: Vec<Vec<f32>> = (0..3600).map(|s| (0..160).map(|c| busy(s, c)).collect()).collect();
        let step = json!({ "series": { "cpu_busy": shares }, "host_delta": { "cpu_busy_by_interval": shares } });
        let mut document = json!({ "steps": [step] });
        let before = document.to_string().len();
        trim(&mut document);
        let mut out = Vec::new();
        write(&document, &mut out).expect("a Vec takes everything");
        assert!(out.len() * 20 < before, "{} of {before} bytes", out.len());
        assert_eq!(opened(std::str::from_utf8(&out).expect("base64")), document.to_string());
    }
}
