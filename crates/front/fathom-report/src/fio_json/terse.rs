//! A run as fio 3.33 prints it for spreadsheets (`--minimal`, `--output-format=terse`): a line of fields for each job.
//!
//! Source of the order of fields: `show_thread_status_terse_all` and `show_ddir_status_terse` of fio's stat.c.

use std::fmt::Write as _;

use fathom_judge::document::Document;
use fathom_plan::Step;
use fathom_record::StepRecord;

use super::shape::{Direction, Disk, FioDocument, Job, Latency, Object};

/// Percentiles that a line has room for.
const PERCENTILES: usize = 20;
const NS_PER_US: u64 = 1000;

/// The run as lines of fields; `version`: 2 to 5.
#[must_use]
pub fn fio_terse_text(doc: &Document, records: &[(Step, StepRecord)], version: u8) -> String {
    let document = super::document(doc, records, false);
    document.jobs.iter().map(|job| line(&document, job, version)).collect()
}

fn line(document: &FioDocument, job: &Job, version: u8) -> String {
    let mut line = match version {
        2 => format!("2;{};{};{}", job.jobname, job.groupid, job.error),
        _ => format!("{version};{};{};{};{}", document.fio_version, job.jobname, job.groupid, job.error),
    };
    // Version 3 has no trims, and a mix that is one figure stands alone.
    let directions = match &job.mixed {
        Some(mixed) => vec![Some(mixed)],
        None if version == 3 => vec![job.read.as_ref(), job.write.as_ref()],
        None => vec![job.read.as_ref(), job.write.as_ref(), job.trim.as_ref()],
    };
    let none = Direction::default();
    for direction in directions {
        direction_fields(&mut line, direction.unwrap_or(&none), version);
    }
    let _infallible = write!(line, ";{:.6}%;{:.6}%;{};{};{}", job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf);
    for (_, share) in &job.iodepth_level.0 {
        let _infallible = write!(line, ";{share:.1}%");
    }
    // Latencies below 1 us count in the first field, as in fio.
    let below_us: f64 = job.latency_ns.0.iter().map(|(_, share)| share).sum();
    for (at, (_, share)) in job.latency_us.0.iter().chain(&job.latency_ms.0).enumerate() {
        let share = if at == 0 { share + below_us } else { *share };
        let _infallible = write!(line, ";{share:.2}%");
    }
    if version > 2 {
        document.disk_util.iter().for_each(|disk| disk_fields(&mut line, disk));
    }
    line.push('\n');
    line
}

fn direction_fields(line: &mut String, d: &Direction, version: u8) {
    let _infallible = write!(line, ";{};{};{};{}", d.io_bytes >> 10, d.bw, d.iops as u64, d.runtime);
    latency_fields(line, &d.slat_ns);
    latency_fields(line, &d.clat_ns);
    let percentiles = d.clat_ns.percentile.as_ref().map_or(&[][..], |Object(percentiles)| percentiles);
    for at in 0..PERCENTILES {
        let _infallible = match percentiles.get(at) {
            Some((percent, ns)) => write!(line, ";{percent}%={}", ns / NS_PER_US),
            None => write!(line, ";0%=0"),
        };
    }
    latency_fields(line, &d.lat_ns);
    let (bw_min, bw_max, agg, mean, dev) = (d.bw_min, d.bw_max, d.bw_agg, d.bw_mean, d.bw_dev);
    let _infallible = write!(line, ";{bw_min};{bw_max};{agg:.6}%;{mean:.6};{dev:.6}");
    if version == 5 {
        let _infallible = write!(line, ";{};{};{}", d.bw_samples, d.iops_min, d.iops_max);
        let _infallible = write!(line, ";{:.6};{:.6};{}", d.iops_mean, d.iops_stddev, d.iops_samples);
    }
}

/// Microseconds: smallest, largest, mean, deviation.
fn latency_fields(line: &mut String, lat: &Latency) {
    let us = |ns: f64| ns / NS_PER_US as f64;
    let (least, most) = (lat.min / NS_PER_US, lat.max / NS_PER_US);
    let _infallible = write!(line, ";{least};{most};{:.6};{:.6}", us(lat.mean), us(lat.stddev));
}

fn disk_fields(line: &mut String, disk: &Disk) {
    let Disk { name, read_ios, write_ios, read_merges, write_merges, read_ticks, write_ticks, in_queue, util } = disk;
    let _infallible = write!(
        line,
        ";{name};{read_ios};{write_ios};{read_merges};{write_merges};{read_ticks};{write_ticks};{in_queue};{util:.2}%"
    );
}
