use fathom_message::Message;
use fathom_plan::{OpMix, Pattern, Step, SyncEvery};
use fathom_record::{DiskDelta, FlushDelta, HostDelta};

use super::*;
use crate::document::DirectionView;
use crate::samples;

/// A log by one writer: so many commits a second, with this many flushes and writes of the drive for each, of these
/// microseconds per flush.
struct Log {
    every: u32,
    iops: f64,
    flushes: f64,
    flush_us: f64,
    writes: f64,
    cache: Option<WriteCache>,
}

fn write_step(index: u32) -> Step {
    let mut step = samples::step();
    step.index = index;
    step.workload.mix = OpMix::WRITE;
    step.workload.pattern = Pattern::Sequential;
    step
}

fn view(step: &Step, iops: f64, lat_us: f64) -> StepView {
    let mut view = samples::view(step, iops, lat_us);
    let written = DirectionView { ios: view.ios, iops, bytes_per_s: iops * 4096.0, short_ios: 0, lat_ns: None };
    (view.read, view.write) = (None, Some(written));
    view
}

fn log(index: u32, log: &Log) -> StepView {
    let mut step = write_step(index);
    step.workload.durability.sync = Some(SyncEvery { kind: SyncKind::Fdatasync, writes: log.every });
    let mut view = view(&step, log.iops, 10.0);
    let commits = view.ios as f64;
    let flushes = (commits * log.flushes) as u64;
    let disk = DiskDelta {
        device: "nvme0n1".to_owned(),
        write_ios: (commits * log.writes) as u64,
        flushes: Some(FlushDelta { ios: flushes, time_ns: (flushes as f64 * log.flush_us * 1e3) as u64 }),
        write_cache: log.cache,
        ..DiskDelta::default()
    };
    view.host_delta = Some(HostDelta { disks: vec![disk], ..HostDelta::default() });
    view
}

fn answer(steps: &[StepView]) -> (String, Vec<String>) {
    samples::first_look(&verdicts(&Message::verbatim("?"), steps, 7).remove(0))
}

/// A plain write of 20 us beside logs.
fn with_plain(logs: &[Log]) -> Vec<StepView> {
    let plain = view(&write_step(0), 50_000.0, 20.0);
    std::iter::once(plain).chain((1..).zip(logs).map(|(index, of)| log(index, of))).collect()
}

const VOLATILE: Option<WriteCache> = Some(WriteCache::Back);

#[test]
fn a_slow_flush_is_named() {
    let one = Log { every: 1, iops: 500.0, flushes: 1.0, flush_us: 1_900.0, writes: 1.0, cache: VOLATILE };
    let many =
        Log { every: 512, iops: 20_000.0, flushes: 1.0 / 512.0, flush_us: 9_000.0, writes: 1.0, cache: VOLATILE };
    let (headline, rows) = answer(&with_plain(&[one, many]));
    assert!(headline.contains("the drive's flush takes 95 %"), "{headline}");
    assert!(headline.contains("2.00 ms each"), "{headline}");
    let drive = rows.last().expect("rows");
    assert!(drive.contains("volatile, flushed: 1.00x a commit, 1.90 ms each"), "{drive}");
}

#[test]
fn a_volatile_cache_whose_flush_costs_no_more_than_a_write_is_doubted() {
    let one = Log { every: 1, iops: 20_000.0, flushes: 1.0, flush_us: 25.0, writes: 1.0, cache: VOLATILE };
    let many = Log { every: 512, iops: 40_000.0, flushes: 1.0 / 512.0, flush_us: 26.0, writes: 1.0, cache: VOLATILE };
    let (_, rows) = answer(&with_plain(&[one, many]));
    let drive = rows.last().expect("rows");
    assert!(drive.contains("protected, or not flushed"), "{drive}");
    // The same flush that grows with what is to be written out does something.
    let one = Log { every: 1, iops: 20_000.0, flushes: 1.0, flush_us: 25.0, writes: 1.0, cache: VOLATILE };
    let many = Log { every: 512, iops: 40_000.0, flushes: 1.0 / 512.0, flush_us: 900.0, writes: 1.0, cache: VOLATILE };
    let (_, rows) = answer(&with_plain(&[one, many]));
    assert!(rows.last().expect("rows").contains("volatile, flushed"), "{rows:?}");
}

#[test]
fn a_drive_without_volatile_cache_is_told_apart() {
    let log =
        Log { every: 1, iops: 25_000.0, flushes: 0.0, flush_us: 0.0, writes: 1.0, cache: Some(WriteCache::Through) };
    let (headline, rows) = answer(&with_plain(&[log]));
    assert!(rows.last().expect("rows").contains("no volatile write cache"), "{rows:?}");
    assert!(headline.contains("writes take 50 %") || headline.contains("no part takes more than half"), "{headline}");
}

#[test]
fn what_neither_flush_nor_writes_explain_is_the_hosts() {
    let log = Log { every: 1, iops: 400.0, flushes: 1.0, flush_us: 40.0, writes: 2.6, cache: VOLATILE };
    let (headline, _) = answer(&with_plain(&[log]));
    assert!(headline.contains("the host takes 96 %"), "{headline}");
}

/// A sync after each record, of this mean time, while the record itself takes 3 us.
fn with_syncs(mut view: StepView, mean_us: f64) -> StepView {
    let syncs = view.ios;
    view.lat_ns = Some(samples::latency(syncs, 3.0));
    view.syncs = Some(DirectionView {
        ios: syncs,
        iops: view.iops,
        bytes_per_s: 0.0,
        short_ios: 0,
        lat_ns: Some(samples::latency(syncs, mean_us)),
    });
    view
}

/// The table of steps calls such a log limited by its flush, which is the sync; the answer says what most of it is for.
#[test]
fn the_share_of_writes_is_said_to_be_in_the_sync_that_limits_the_step() {
    let one = Log { every: 1, iops: 10_500.0, flushes: 1.0, flush_us: 30.4, writes: 2.0, cache: VOLATILE };
    let mut steps = with_plain(&[one]);
    // Two plain writes take longer than the flush leaves: the share is one figure in all texts.
    steps[0].lat_ns = Some(samples::latency(1000, 73.0));
    steps[1] = with_syncs(steps[1].clone(), 90.0);
    let verdict = verdicts(&Message::verbatim("?"), &steps, 7).remove(0);
    let (headline, _) = samples::first_look(&verdict);
    assert!(headline.ends_with("the sync takes 97 %, mostly for the drive's writes (68 %)."), "{headline}");
    let said = samples::words(&verdict.evidence).join("\n");
    assert!(said.contains("97 % of the thread's time, so the limit is named flush"), "{said}");
    assert!(said.contains("the writes take all the rest: 68 % of a commit") && !said.contains("100 %"), "{said}");
    // Syncs that hold less than half of the time do not limit the step, and the answer does not name them.
    steps[1] = with_syncs(steps[1].clone(), 2.0);
    let (headline, _) = answer(&steps);
    assert!(headline.ends_with("the drive's writes take 68 %."), "{headline}");
}

#[test]
fn no_log_is_no_answer() {
    let verdict = verdicts(&Message::verbatim("?"), &[view(&write_step(0), 50_000.0, 20.0)], 7).remove(0);
    assert!(verdict.brief.rows.is_empty() && verdict.figures.is_empty());
}
