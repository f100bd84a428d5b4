use fathom_plan::{StatBy, Step, SyncEvery, SyncKind};

use super::*;
use crate::samples;

/// Files of 4 KiB that one thread makes in a file system, so many a second.
fn made(index: u32, group: &str, is_synced: bool, iops: f64) -> StepView {
    let mut step: Step = samples::step();
    step.index = index;
    group.clone_into(&mut step.group);
    step.workload.order.files =
        Some(FileLoad { op: FileOp::Create, files_per_thread: 1000, bytes_per_file: 4096, stat_by: StatBy::Folder });
    step.workload.durability.sync = is_synced.then_some(SyncEvery { kind: SyncKind::Fsync, writes: 1 });
    samples::view(&step, iops, 1e6 / iops)
}

fn answer(steps: &[StepView]) -> (String, Vec<String>) {
    samples::first_look(&verdicts(&Message::verbatim("?"), steps, 7).remove(0))
}

#[test]
fn the_faster_file_system_is_named_and_what_fsync_costs_on_each() {
    let steps = [
        made(0, "ext4", false, 90e3),
        made(1, "xfs", false, 80e3),
        made(2, "ext4", true, 1e3),
        made(3, "xfs", true, 2e3),
    ];
    let (headline, rows) = answer(&steps);
    assert!(headline.contains("xfs") && headline.contains("+100"), "{headline}");
    let cost = rows.iter().find(|row| row.starts_with("an fsync")).expect("a row of costs");
    assert!(cost.contains("ext4 90") && cost.contains("xfs 40"), "{cost}");
}

#[test]
fn file_systems_that_give_the_same_are_not_ranked() {
    let (headline, rows) = answer(&[made(0, "ext4", true, 1000.0), made(1, "xfs", true, 1001.0)]);
    assert!(headline.contains("none is faster beyond doubt"), "{headline}");
    assert!(rows.iter().all(|row| !row.starts_with("an fsync")), "nothing to hold it against: {rows:?}");
}

#[test]
fn one_file_system_is_answered_alone() {
    let (headline, rows) = answer(&[made(0, "A", false, 90e3), made(1, "A", true, 1e3)]);
    assert!(headline.starts_with("1.00k/s"), "{headline}");
    assert!(rows.iter().all(|row| !row.contains("A ")), "a lone file system needs no name: {rows:?}");
}

#[test]
fn a_rate_without_an_interval_is_said_to_have_none() {
    let mut steps = [made(0, "A", false, 90e3), made(1, "A", true, 1e3)];
    steps[1].iops_ci95 = None;
    let (headline, _) = answer(&steps);
    assert!(
        headline.starts_with("About 1.00k/s of") && headline.contains("(no interval), limit not known"),
        "{headline}"
    );
    let names = |steps: &[StepView]| {
        samples::words(verdicts(&Message::verbatim("?"), steps, 7)[0].figures.iter().map(|f| &f.name))
    };
    assert_eq!(names(&steps), ["files per second", "cost of fsync"]);
}

/// The probability of a limit is not to be taken for a share of the time.
#[test]
fn the_probability_of_a_limit_is_called_that() {
    let mut steps = [made(0, "A", false, 90e3), made(1, "A", true, 1e3)];
    (steps[1].limit.name, steps[1].limit.probability) = (LimitName::Flush, Some(0.95));
    let (headline, rows) = answer(&steps);
    assert!(headline.ends_with("limited by the flush between the writes (probability 95 %)."), "{headline}");
    assert!(rows.contains(&"limited by: flush (probability 95 %)".to_owned()), "{rows:?}");
}

/// A ratio that is known to a factor alone has its ends, and none of them below nothing.
#[test]
fn a_wide_ratio_is_a_range() {
    let mut steps = [made(0, "A", false, 47.5e3), made(1, "A", true, 1e3)];
    let (_, rows) = answer(&steps);
    assert!(rows.contains(&"an fsync per file: 47.5x ±0.7 % as long".to_owned()), "{rows:?}");
    steps[0].iops_ci95 = Some([47.5e3 * 0.25, 47.5e3 * 1.75]);
    let verdict = verdicts(&Message::verbatim("?"), &steps, 7).remove(0);
    let (_, rows) = samples::first_look(&verdict);
    let cost = rows.iter().find(|row| row.starts_with("an fsync per file")).expect("a row of costs");
    assert!(!cost.contains('±') && cost.contains("x to ") && cost.ends_with("x as long"), "{cost}");
    let said = fathom_language::english(&verdict.answer);
    assert!(said.contains("x to ") && said.contains("as long on A (95 % interval)"), "{said}");
    let [low, high] = verdict.figures.last().and_then(|cost| cost.ci95).expect("an interval");
    assert!(low > 10.0 && low < 47.5 && high > 47.5, "{low} to {high}");
}

#[test]
fn no_files_are_no_answer() {
    let verdict = verdicts(&Message::verbatim("?"), &[samples::view(&samples::step(), 50_000.0, 20.0)], 7).remove(0);
    assert!(verdict.figures.is_empty());
}
