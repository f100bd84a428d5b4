//! Makes the record of a step from what the workers and the collector left.

use std::sync::Arc;

use fathom_hist::Histogram;
use fathom_message::{Message, Quantity, Say as _, msg};
use fathom_nvme::Status;
use fathom_plan::{Op, RateProcess, Step, stages_mean};
use fathom_record::{
    ArrayMember, ArrayRecord, Direction, FeatureState, FeatureUse, IoFailure, Latency, OpenLoop, Overhead, StepRecord,
    ThreadRecord, VerifyReport, Warning,
};
use fathom_units::format_cpu_list;

use crate::backend::NVME_STATUS;
use crate::clock::{Clock, ClockPair};
use crate::shared::WorkerSummary;
use crate::tally::{ALL_OPS, merge_failures, op_index};
use crate::watch::Finished;
use crate::worker::WorkerPlan;

/// An open loop that reaches less than this share of its rate while its backlog grows is not sustainable.
const SUSTAINED_SHARE: f64 = 0.99;

/// Everything a record is made of.
pub(crate) struct Pieces {
    pub(crate) begun_ns: u64,
    pub(crate) begun_pair: ClockPair,
    pub(crate) loop_ns_per_io: f64,
    pub(crate) notes: Vec<Message>,
    pub(crate) finished: Finished,
}

impl Pieces {
    fn summaries(&self) -> impl Iterator<Item = &WorkerSummary> {
        self.finished.summaries.iter().flatten().map(|summary| &**summary)
    }
}

/// The record.
pub(crate) fn assemble(step: &Step, clock: &Clock, mut pieces: Pieces) -> StepRecord {
    let verify = pieces.finished.verify.take();
    let mut directions = directions(step, &pieces);
    let syncs = directions.iter().position(|d| d.op == Op::Sync).map(|at| directions.remove(at));
    let mut record = StepRecord {
        started_unix_ns: pieces.finished.started_unix_ns,
        runtime_ns: pieces.finished.runtime_ns,
        setup_ns: setup_ns(&pieces),
        directions,
        syncs,
        threads: threads(&pieces),
        failures: Vec::new(),
        host: pieces.finished.host.take(),
        clock: Some(clock.describe(pieces.begun_pair)),
        overhead: Some(overhead(step, &pieces)),
        in_flight_mean: mean_over_window(&pieces, |s| s.in_flight_area),
        occupied_mean: mean_over_window(&pieces, |s| s.occupied_area),
        age_ns: age_ns(&pieces),
        verify: verify.or_else(|| step.workload.verify.filter(|v| v.checks()).map(|_| VerifyReport::default())),
        open_loop: None,
        targets: std::mem::take(&mut pieces.finished.targets),
        arrays: arrays(&pieces),
        purges: Vec::new(),
        ranks: None,
        warnings: Vec::new(),
        intervals: Vec::new(),
        features: features(&pieces),
    };
    record.intervals = std::mem::take(&mut pieces.finished.intervals);
    count_moved_bytes(step, &mut record);
    for summary in pieces.summaries() {
        merge_failures(&mut record.failures, &summary.failures);
    }
    record.failures.iter_mut().for_each(decode_status);
    record.open_loop = open_loop(step, &pieces, record.ios());
    record.warnings = warnings(&pieces, step, &record);
    record
}

/// An I/O on a file as a whole moves what the file is written with: its length says nothing.
fn count_moved_bytes(step: &Step, record: &mut StepRecord) {
    if step.workload.order.files.is_some_and(|files| files.moved_bytes() == 0) {
        record.directions.iter_mut().for_each(|d| d.bytes = 0);
        record.intervals.iter_mut().flat_map(|i| &mut i.directions).for_each(|d| d.bytes = 0);
        record.targets.iter_mut().for_each(|t| t.bytes = 0);
    }
}

/// What the arrays did, over all threads.
fn arrays(pieces: &Pieces) -> Vec<ArrayRecord> {
    let mut rows: Vec<ArrayRecord> = Vec::new();
    for array in pieces.summaries().flat_map(|summary| &summary.arrays) {
        match rows.iter_mut().find(|row| row.target == array.target) {
            Some(row) => row.add(array),
            None => rows.push(array.clone()),
        }
    }
    rows
}

/// The features of all workers: one row where they agree, and where they do not one for each outcome, with the threads it
/// holds for.
fn features(pieces: &Pieces) -> Vec<FeatureUse> {
    let mut rows: Vec<FeatureUse> = Vec::new();
    let numbered = pieces.finished.plans.iter().zip(&pieces.finished.summaries);
    let numbered = numbered.filter_map(|(plan, summary)| Some((plan.index, summary.as_ref()?)));
    for (thread, summary) in numbered {
        for feature in &summary.features {
            let same = |row: &&mut FeatureUse| {
                (&row.name, row.state, &row.detail) == (&feature.name, feature.state, &feature.detail)
            };
            match rows.iter_mut().find(same) {
                Some(row) => row.threads.push(thread),
                None => rows.push(FeatureUse { threads: vec![thread], ..feature.clone() }),
            }
        }
    }
    let reported = pieces.summaries().count();
    rows.iter_mut().filter(|row| row.threads.len() == reported).for_each(|row| row.threads.clear());
    rows
}

/// Tells a status of the drive from an errno.
fn decode_status(failure: &mut IoFailure) {
    if failure.errno & NVME_STATUS != 0 {
        let status = Status::of((failure.errno & !NVME_STATUS) as u16);
        failure.errno = status.errno();
        failure.drive_status = Some(status.message());
    }
}

fn setup_ns(pieces: &Pieces) -> u64 {
    let first = pieces.summaries().filter_map(|s| s.first_submit_ns).min();
    first.unwrap_or(pieces.finished.start_ns).saturating_sub(pieces.begun_ns)
}

fn directions(step: &Step, pieces: &Pieces) -> Vec<Direction> {
    let synchronous = step.engine.name.is_synchronous();
    let mut directions = Vec::new();
    for op in ALL_OPS {
        let (mut ios, mut bytes, mut lat) = (0, 0, Histogram::new());
        for d in
            pieces.finished.intervals.iter().flat_map(|i| i.directions.iter().chain(&i.syncs)).filter(|d| d.op == op)
        {
            ios += d.ios;
            bytes += d.bytes;
            lat.merge(&d.lat);
        }
        if ios == 0 {
            continue;
        }
        let totals = || pieces.summaries().map(|s| &s.totals[op_index(op)]);
        // The call of a synchronous engine begins when the I/O is created: submitted and created are one moment.
        let clat = if synchronous { Some(Latency::Samples(lat.clone())) } else { merged(totals().map(|t| &t.clat)) };
        directions.push(Direction {
            op,
            ios,
            bytes,
            short_ios: totals().map(|t| t.short_ios).sum(),
            lat: Latency::Samples(lat),
            slat: merged(totals().map(|t| &t.slat)),
            clat,
            service: merged(totals().map(|t| &t.service)),
        });
    }
    directions
}

fn merged<'a>(parts: impl Iterator<Item = &'a Option<Histogram>>) -> Option<Latency> {
    let mut whole: Option<Histogram> = None;
    for part in parts.flatten() {
        match &mut whole {
            None => whole = Some(part.clone()),
            Some(whole) => whole.merge(part),
        }
    }
    whole.map(Latency::Samples)
}

fn threads(pieces: &Pieces) -> Vec<ThreadRecord> {
    let row = |(plan, summary): (&Arc<WorkerPlan>, &Option<Box<WorkerSummary>>)| {
        let summary = summary.as_ref();
        ThreadRecord {
            index: plan.index,
            targets: plan.parts.iter().map(|part| part.target.id.clone()).collect(),
            cpus_allowed: plan.cpus.clone(),
            cpus_seen: summary.map_or_else(Vec::new, |s| s.cpus_seen.clone()),
            migrations: summary.and_then(|s| s.migrations),
            paused_ns: summary.map_or(0, |s| s.paused_ns),
            ios: summary.map_or(0, |s| s.ios),
            passes: summary.map_or(0, |s| s.passes),
            in_flight_max: summary.map_or(0, |s| s.in_flight_max),
            polling: summary.and_then(|s| s.polling),
        }
    };
    pieces.finished.plans.iter().zip(&pieces.finished.summaries).map(row).collect()
}

fn overhead(step: &Step, pieces: &Pieces) -> Overhead {
    let (mut error, mut errors, mut ios, mut calls) = (0, 0, 0, 0);
    for summary in pieces.summaries() {
        error += summary.stamp_error_ns.0;
        errors += summary.stamp_error_ns.1;
        ios += summary.submitted.0;
        calls += summary.submitted.1;
    }
    let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
    Overhead {
        loop_ns_per_io: pieces.loop_ns_per_io,
        batch_stamp_error_ns_mean: if step.engine.paranoid { 0.0 } else { mean(error, errors) },
        ios_per_submit: mean(ios, calls),
    }
}

/// `None` when a worker was left behind: what it had in flight is unknown.
fn mean_over_window(pieces: &Pieces, area: fn(&WorkerSummary) -> u128) -> Option<f64> {
    if pieces.finished.abandoned > 0 {
        return None;
    }
    let area: u128 = pieces.summaries().map(area).sum();
    Some(area as f64 / pieces.finished.runtime_ns as f64)
}

/// As `mean_over_window`: unknown when a worker was left behind.
fn age_ns(pieces: &Pieces) -> Option<[u64; 2]> {
    let ages: Option<Vec<[u64; 2]>> = pieces.finished.summaries.iter().map(|s| s.as_ref().map(|s| s.age_ns)).collect();
    Some(ages?.iter().fold([0, 0], |sum, age| [sum[0] + age[0], sum[1] + age[1]]))
}

fn open_loop(step: &Step, pieces: &Pieces, ios: u64) -> Option<OpenLoop> {
    let rate = step.load.rate?;
    let mut halves = [(0, 0); 2];
    let mut backlog_end_ios = 0;
    for open in pieces.summaries().filter_map(|s| s.open) {
        for (into, from) in halves.iter_mut().zip(open.delay_ns) {
            into.0 += from.0;
            into.1 += from.1;
        }
        backlog_end_ios += open.backlog_ios;
    }
    let delay = halves.map(|(sum, n): (u64, u64)| if n == 0 { 0.0 } else { sum as f64 / n as f64 });
    let achieved = ios as f64 / (pieces.finished.runtime_ns as f64 / 1e9);
    let grows = delay[1] > delay[0];
    Some(OpenLoop {
        intended_iops: rate.iops * stages_mean(&step.role.stages),
        submit_delay_ns_mean_halves: delay,
        backlog_end_ios,
        unsustainable: grows && backlog_end_ios > 0 && achieved < SUSTAINED_SHARE * rate.iops,
    })
}

fn warnings(pieces: &Pieces, step: &Step, record: &StepRecord) -> Vec<Warning> {
    let note = |text: Message| Warning::Note { text };
    let mut warnings: Vec<Warning> = pieces.notes.iter().cloned().map(note).collect();
    if pieces.finished.stopped {
        warnings.push(Warning::Interrupted);
    }
    if pieces.finished.abandoned > 0 {
        warnings.push(note(msg!("engine-left-behind", threads = pieces.finished.abandoned)));
    }
    if let Some(first) = record.failures.first() {
        warnings.push(Warning::IoErrors { count: record.errors(), errno: first.errno });
    }
    for failure in &record.failures {
        if let Some(status) = &failure.drive_status {
            let offset = failure.first_offset_bytes;
            warnings.push(note(msg!("engine-drive-answered", status = status, offset = offset)));
        }
    }
    if pieces.summaries().any(|s| s.gave_up) {
        warnings.push(note(msg!("engine-gave-up")));
    }
    for feature in record.features.iter().filter(|f| f.state == FeatureState::Unavailable) {
        let reason = match &feature.threads[..] {
            [] => feature.detail.clone(),
            some => msg!("engine-on-threads", threads = format_cpu_list(some), reason = &feature.detail),
        };
        warnings.push(Warning::FeatureMissing { feature: feature.name.clone(), reason });
    }
    if let Some(open) = record.open_loop.as_ref().filter(|open| open.unsustainable) {
        let achieved_iops = record.ios() as f64 / (record.runtime_ns as f64 / 1e9);
        warnings.push(Warning::RateUnsustainable { intended_iops: open.intended_iops, achieved_iops });
    }
    warnings.extend(late_replay(step, record));
    if let Some(report) = &record.verify {
        let blocks = report.torn + report.misplaced + report.stale + report.corrupt + report.foreign;
        if blocks > 0 {
            warnings.push(Warning::VerifyFailed { blocks });
        }
    }
    for array in &record.arrays {
        warnings.extend(array.members.iter().filter_map(|member| lost(array, member)));
        warnings.extend(not_rebuilt(array).map(note));
    }
    if let Some(migrated) = migrated(record) {
        warnings.push(migrated);
    }
    warnings
}

/// A trace that was not kept up with by more than this share of the mean time between two of its I/Os.
const LATE_SHARE: f64 = 0.1;

fn late_replay(step: &Step, record: &StepRecord) -> Option<Warning> {
    let rate = step.load.rate.filter(|rate| rate.process == RateProcess::Recorded)?;
    let gap_ns = 1e9 / rate.iops;
    let late_ns = record.open_loop.as_ref()?.submit_delay_ns_mean_halves.into_iter().fold(0.0, f64::max);
    (late_ns > LATE_SHARE * gap_ns).then_some(Warning::ReplayLate { late_ns, gap_ns })
}

/// The member that an array lost.
fn lost(array: &ArrayRecord, member: &ArrayMember) -> Option<Warning> {
    let (name, errno) = member.target.as_ref().zip(member.failed_errno)?;
    Some(Warning::MemberLost { array: array.target.clone(), member: name.clone(), errno })
}

/// That the rebuild of a member came to no end, and why where a member failed.
fn not_rebuilt(array: &ArrayRecord) -> Option<Message> {
    let rebuild = array.rebuild.filter(|rebuild| !rebuild.is_whole())?;
    let (at_rest, name) = (array.target.array()?.ok()?, array.target.as_str().to_owned());
    let rebuilt = at_rest.rebuild().map(|rebuild| rebuild.member)?;
    let name_of = |at: u32| array.members.get(at as usize)?.target.as_ref().map(|member| member.as_str().to_owned());
    match rebuild.failure {
        // Its own failure is the loss of the member.
        Some(failure) if failure.member == rebuilt => None,
        Some(failure) => {
            let error = std::io::Error::from_raw_os_error(failure.errno);
            Some(msg!("engine-array-rebuild-failed", array = name, member = name_of(failure.member)?, error = error))
        }
        None => {
            let done = 100.0 * rebuild.done_bytes as f64 / rebuild.member_bytes.max(1) as f64;
            let done = Quantity::pct(done.floor());
            Some(msg!("engine-array-unfinished", array = name, member = name_of(rebuilt)?, done = done))
        }
    }
}

fn migrated(record: &StepRecord) -> Option<Warning> {
    let strayed =
        |t: &&ThreadRecord| !t.cpus_allowed.is_empty() && t.cpus_seen.iter().any(|cpu| !t.cpus_allowed.contains(cpu));
    record.threads.iter().find(strayed).map(|t| Warning::Migrated { thread: t.index })
}
