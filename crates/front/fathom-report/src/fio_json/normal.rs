//! A run as fio 3.33 prints it for people (`--output-format=normal`). Lines for what Fathom does not keep are left out.

use std::fmt::Write as _;

use fathom_judge::document::Document;
use fathom_plan::Step;
use fathom_record::StepRecord;

use super::shape::{Direction, FioDocument, Job, Latency, Object};

/// Percentiles in a line.
const IN_A_LINE: usize = 4;
const KIB: f64 = 1024.0;

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
    let mut text = format!("\n{}: (groupid={}, jobs=1): err={:2}: {time}\n", job.jobname, job.groupid, job.error);
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
        "  {}: IOPS={}, BW={} ({})({}/{}msec)\n",
        name.to_lowercase(),
        count(d.iops),
        rate_binary(bytes_per_s),
        rate_decimal(bytes_per_s),
        binary(d.io_bytes as f64),
        d.runtime
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

/// The unit that fio would choose: the largest in which the mean and the smallest are whole numbers of thousands.
fn unit(lat: &Latency) -> (&'static str, f64) {
    match lat.min {
        min if min > 2_000_000 && lat.mean > 99_999_000.0 => ("msec", 1e6),
        min if min > 2_000 && lat.mean > 99_999.0 => ("usec", 1e3),
        _ => ("nsec", 1.0),
    }
}

fn latency_text(name: &str, lat: &Latency) -> String {
    if lat.n == 0 {
        return String::new();
    }
    let (unit, ns) = unit(lat);
    let whole = |value: u64| (value as f64 / ns).round();
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
    let (unit, ns) = unit(lat);
    let mut text = format!("    {name} percentiles ({unit}):\n");
    let cell = |(quantile, value): &(String, u64)| {
        format!("{:>5.2}th=[{:>5}]", quantile.parse::<f64>().unwrap_or(0.0), (*value as f64 / ns).round())
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
        scaled(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB"]),
        times.clone().min().unwrap_or(0),
        times.max().unwrap_or(0)
    )
}

/// `75.6k`, `812`.
fn count(n: f64) -> String {
    scaled(n, 1000.0, &["", "k", "M", "G"])
}

fn binary(bytes: f64) -> String {
    scaled(bytes, KIB, &["B", "KiB", "MiB", "GiB", "TiB"])
}

fn rate_binary(bytes_per_s: f64) -> String {
    format!("{}/s", binary(bytes_per_s))
}

fn rate_decimal(bytes_per_s: f64) -> String {
    format!("{}/s", scaled(bytes_per_s, 1000.0, &["B", "kB", "MB", "GB", "TB"]))
}

/// Three digits or more, as fio prints numbers.
fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut at = 0;
    while value >= step && at + 1 < units.len() {
        value /= step;
        at += 1;
    }
    let digits = match value {
        _ if at == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{}", units[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_fio_writes_them() {
        assert_eq!((count(75_612.0), count(812.4), count(1_230_000.0)), ("75.6k".into(), "812".into(), "1.23M".into()));
        assert_eq!((binary(1_549_000_000.0), rate_binary(309_700_000.0)), ("1.44GiB".into(), "295MiB/s".into()));
        assert_eq!(rate_decimal(309_700_000.0), "310MB/s");
    }
}
