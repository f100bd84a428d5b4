//! A run as fio 3.33 prints it for people (`--output-format=normal`). Lines for what Fathom does not keep are left out.

use std::fmt::Write as _;

use fathom_judge::document::Document;
use fathom_plan::Step;
use fathom_record::StepRecord;

use super::shape::{Direction, FioDocument, Job, Latency, Object};

/// Percentiles in a line.
const IN_A_LINE: usize = 4;

/// The run as text in fio's form.
#[must_use]
pub fn fio_normal_text(doc: &Document, records: &[(Step, StepRecord)]) -> String {
    render(&super::document(doc, records, false))
}

fn render(document: &FioDocument) -> String {
    let mut text = format!("{}\n", document.fio_version);
    for job in &document.jobs {
        text.push_str(&job_text(job, &document.time));
    }
    let mut groups: Vec<u32> = document.jobs.iter().map(|job| job.groupid).collect();
    groups.dedup();
    for group in groups {
        let jobs: Vec<&Job> = document.jobs.iter().filter(|job| job.groupid == group).collect();
        text.push_str(&format!("\nRun status group {group} (all jobs):\n"));
        for (name, of) in OPERATIONS {
            text.push_str(&group_line(name, jobs.iter().filter_map(|job| of(job).as_ref())));
        }
    }
    text
}

type Of = fn(&Job) -> &Option<Direction>;

const OPERATIONS: [(&str, Of); 4] =
    [("READ", |j| &j.read), ("WRITE", |j| &j.write), ("TRIM", |j| &j.trim), ("MIXED", |j| &j.mixed)];

fn job_text(job: &Job, time: &str) -> String {
    let mut text =
        format!("\n{}: (groupid={}, jobs={}): err={:2}: {time}\n", job.jobname, job.groupid, job.jobs, job.error);
    for (name, of) in OPERATIONS {
        text.push_str(&of(job).as_ref().map_or_else(String::new, |d| direction_text(name, d)));
    }
    if job.sync.total_ios > 0 {
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        text.push_str(&latency_text("sync", &job.sync.lat_ns));
        text.push_str(&percentiles_text("sync", &job.sync.lat_ns));
    }
    let _infallible = writeln!(
        text,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf
    );
    text
}

fn direction_text(name: &str, d: &Direction) -> String {
    if d.total_ios == 0 {
        return String::new();
    }
    let bytes_per_s = d.bw_bytes as f64;
    let mut text = format!(
        "  {}: IOPS={}, BW={} ({})({}/{}msec){}\n",
        name.to_lowercase(),
        count(d.iops),
        rate_binary(bytes_per_s),
        rate_decimal(bytes_per_s),
        binary(d.io_bytes as f64),
        d.runtime,
        if name == "WRITE" { "; 0 zone resets" } else { "" }
    );
    for (name, lat) in [("slat", &d.slat_ns), ("clat", &d.clat_ns), (" lat", &d.lat_ns)] {
        text.push_str(&latency_text(name, lat));
    }
    text.push_str(&percentiles_text("clat", &d.clat_ns));
    if d.bw_samples > 0 {
        let _infallible = writeln!(
            text,
            "   bw (  KiB/s): min={:5}, max={:5}, per={:.2}%, avg={:.2}, stdev={:.2}, samples={}",
            d.bw_min, d.bw_max, d.bw_agg, d.bw_mean, d.bw_dev, d.bw_samples
        );
        let _infallible = writeln!(
            text,
            "   iops        : min={:5}, max={:5}, avg={:.2}, stdev={:.2}, samples={}",
            d.iops_min, d.iops_max, d.iops_mean, d.iops_stddev, d.iops_samples
        );
    }
    text
}

/// The unit that fio chooses: one up where the smallest, the largest and the deviation are all large enough in it
/// (`nsec_to_usec` and `nsec_to_msec` of its stat.c).
fn unit(lat: &Latency) -> (&'static str, f64) {
    let is_above = |least: u64, most: u64, deviation: f64| lat.min > least && lat.max > most && lat.stddev > deviation;
    match () {
        () if is_above(2_000_000, 99_999_999, 1e6) => ("msec", 1e6),
        () if is_above(2_000, 99_999, 1e3) => ("usec", 1e3),
        () => ("nsec", 1.0),
    }
}

/// The unit of percentiles: one up where the smallest and the largest of them are large enough in it.
fn unit_of_percentiles(percentiles: &[(String, u64)]) -> (&'static str, f64) {
    let least = percentiles.iter().map(|(_, ns)| *ns).min().unwrap_or(0);
    let most = percentiles.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    match () {
        () if least > 2_000_000 && most > 99_999_999 => ("msec", 1e6),
        () if least > 2_000 && most > 99_999 => ("usec", 1e3),
        () => ("nsec", 1.0),
    }
}

fn latency_text(name: &str, lat: &Latency) -> String {
    if lat.n == 0 {
        return String::new();
    }
    let (unit, ns) = unit(lat);
    let whole = |value: u64| num2str(value / ns as u64, 6, 1000, &DECIMAL);
    format!(
        "    {name} ({unit}): min={}, max={}, avg={:.2}, stdev={:.2}\n",
        whole(lat.min),
        whole(lat.max),
        lat.mean / ns,
        lat.stddev / ns
    )
}

fn percentiles_text(name: &str, lat: &Latency) -> String {
    let Some(Object(percentiles)) = lat.percentile.as_ref().filter(|Object(of)| !of.is_empty()) else {
        return String::new();
    };
    let (unit, ns) = unit_of_percentiles(percentiles);
    let mut text = format!("    {name} percentiles ({unit}):\n");
    let cell = |(quantile, value): &(String, u64)| {
        format!("{:>5.2}th=[{:>5}]", quantile.parse::<f64>().unwrap_or(0.0), value / ns as u64)
    };
    for line in percentiles.chunks(IN_A_LINE) {
        let cells: Vec<String> = line.iter().map(cell).collect();
        let _infallible = writeln!(text, "     | {}", cells.join(", "));
    }
    text
}

fn group_line<'a>(name: &str, directions: impl Iterator<Item = &'a Direction>) -> String {
    let directions: Vec<&Direction> = directions.filter(|d| d.total_ios > 0).collect();
    if directions.is_empty() {
        return String::new();
    }
    let rates: Vec<f64> = directions.iter().map(|d| d.bw_bytes as f64).collect();
    let (least, most) =
        (rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max));
    let sum: f64 = rates.iter().sum();
    let bytes = directions.iter().map(|d| d.io_bytes).sum::<u64>() as f64;
    let times = directions.iter().map(|d| d.runtime);
    format!(
        "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
        rate_binary(sum),
        rate_decimal(sum),
        rate_binary(least),
        rate_binary(most),
        rate_decimal(least),
        rate_decimal(most),
        binary(bytes),
        decimal(bytes),
        times.clone().min().unwrap_or(0),
        times.max().unwrap_or(0)
    )
}

/// `75.6k`, `812`.
fn count(n: f64) -> String {
    num2str(n as u64, FIGURES, 1000, &DECIMAL)
}

fn binary(bytes: f64) -> String {
    let text = num2str(bytes as u64, FIGURES, 1024, &["", "Ki", "Mi", "Gi", "Ti", "Pi"]);
    format!("{text}B")
}

fn decimal(bytes: f64) -> String {
    format!("{}B", num2str(bytes as u64, FIGURES, 1000, &DECIMAL))
}

fn rate_binary(bytes_per_s: f64) -> String {
    format!("{}/s", binary(bytes_per_s))
}

fn rate_decimal(bytes_per_s: f64) -> String {
    format!("{}/s", decimal(bytes_per_s))
}

/// Figures that fio prints by default (`significant_figures`).
const FIGURES: usize = 4;
const DECIMAL: [&str; 6] = ["", "k", "M", "G", "T", "P"];

/// A number in at most `figures` characters before its unit, the point among them, as fio's num2str.c: divided by `step`
/// until its whole part fits, then with the decimals that fit.
fn num2str(mut number: u64, figures: usize, step: u64, units: &[&str]) -> String {
    let digits = |number: u64| number.to_string().len();
    let (mut unit, mut rest) = (0, None);
    while digits(number) > figures && unit + 1 < units.len() {
        rest = Some(number % step);
        number /= step;
        unit += 1;
    }
    let Some(rest) = rest else { return format!("{number}{}", units[unit]) };
    let decimals = figures - digits(number);
    if decimals <= 1 {
        return format!("{}{}", number + u64::from(rest >= step / 2), units[unit]);
    }
    let fraction = format!("{:.*}", decimals - 1, rest as f64 / step as f64);
    let carry = u64::from(fraction.starts_with('1'));
    format!("{}.{}{}", number + carry, &fraction[2..], units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_fio_writes_them() {
        assert_eq!((count(75_612.0), count(812.4), count(1_230_000.0)), ("75.6k".into(), "812".into(), "1230k".into()));
        assert_eq!((binary(1_549_000_000.0), rate_binary(309_700_000.0)), ("1477MiB".into(), "295MiB/s".into()));
        assert_eq!(rate_decimal(309_700_000.0), "310MB/s");
        assert_eq!(
            (binary(65536.0), binary(131_072.0), count(9999.0)),
            ("64.0KiB".into(), "128KiB".into(), "9999".into())
        );
        assert_eq!(num2str(4_176_703, 6, 1000, &DECIMAL), "4176.7k");
    }

    #[test]
    fn latencies_have_the_unit_that_fio_chooses() {
        let lat = |min, max, mean, stddev| Latency { min, max, mean, stddev, n: 9, ..Latency::default() };
        let line = latency_text(" lat", &lat(12_859, 4_176_703, 82_433.0, 102_005.0));
        assert_eq!(line, "     lat (usec): min=12, max=4176, avg=82.43, stdev=102.00\n");
        assert_eq!(unit(&lat(1_913, 4_176_703, 82_433.0, 102_005.0)).0, "nsec", "a small minimum");
        assert_eq!(unit(&lat(12_859, 4_176_703, 82_433.0, 900.0)).0, "nsec", "a small deviation");
        assert_eq!(unit(&lat(3_000_000, 200_000_000, 8e7, 2e6)).0, "msec");
    }
}
