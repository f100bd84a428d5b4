//! Ladders that were measured, on a disk, a loop device and a RAM disk, judged as a stored run is: whatever a real device
//! and a busy host do to its figures, no step is held by the device that a later one exceeds beyond both intervals.
//!
//! `ladders.db.gz` is a lab made by `scripts/record_ladders.sh`, which renews it.

use std::fs::File;
use std::process::{Command, Stdio};

use fathom_judge::document::{Document, StepView};
use fathom_lab::document_of;
use fathom_model::LimitName;
use fathom_store::Lab;

const LADDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/ladders.db.gz");

/// What steps of the same differ by from one time to the next, beside their intervals, as a share of the figure.
const FROM_TIME_TO_TIME: f64 = 0.04;

/// Half the width that the attribution takes a step without an interval to have, as a share.
const WITHOUT_INTERVAL: f64 = 0.098;

fn recorded() -> Vec<Document> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fathom.db");
    let file = File::create(&path).expect("a file");
    let status = Command::new("gzip").args(["-dc", LADDERS]).stdout(Stdio::from(file)).status().expect("gzip runs");
    assert!(status.success());
    let lab = Lab::open_existing(&path).expect("a lab");
    let runs = lab.runs().expect("its runs");
    runs.iter().map(|run| document_of(&lab, run.id).expect("judged")).collect()
}

fn in_flight(step: &StepView) -> u32 {
    step.threads * step.queue_depth * step.devices
}

/// Whether `other` gave more, with the whole of its interval beyond that of `step`. A step of no more in flight is the same
/// work at another time: what such steps differ by is then no sign of anything.
fn exceeds(other: &StepView, step: &StepView) -> bool {
    let half_width = |s: &StepView| s.iops_ci95.map_or(WITHOUT_INTERVAL, |[low, high]| (high - low) / 2.0 / s.iops);
    let (theirs, ours) = (half_width(other), half_width(step));
    let apart = if in_flight(other) > in_flight(step) { 0.0 } else { FROM_TIME_TO_TIME };
    other.iops * (1.0 - theirs.hypot(apart)) > step.iops * (1.0 + ours.hypot(apart))
}

#[test]
fn no_recorded_step_is_held_by_a_device_that_a_later_one_exceeds() {
    let documents = recorded();
    assert!(documents.len() >= 7, "{} ladders", documents.len());
    let (mut exceeded, mut of_device) = (0, 0);
    for document in &documents {
        // Each run is one ladder of one workload.
        let steps: Vec<&StepView> = document.steps.iter().filter(|s| s.ios > 0).collect();
        assert!(steps.len() >= 5, "{}", document.run.command);
        for (at, step) in steps.iter().enumerate() {
            let limit = &step.limit;
            assert!(limit.probability.is_none_or(|p| (0.0..=1.0).contains(&p)), "{:?}", limit.probability);
            let by = steps[at + 1..].iter().find(|later| exceeds(later, step));
            let is_device = limit.name == LimitName::Device;
            exceeded += u32::from(by.is_some());
            of_device += u32::from(is_device);
            let shown = |s: &StepView| format!("{} on {:?}: {:.0} {:?}", s.label, s.targets, s.iops, s.iops_ci95);
            assert!(
                !is_device || by.is_none(),
                "{}\n{}\n{}",
                limit.sentence,
                shown(step),
                by.map_or(String::new(), |s| shown(s))
            );
        }
    }
    // The recordings put the rule to the test: both sides of it occur.
    assert!(exceeded >= 10 && of_device >= 5, "{exceeded} exceeded, {of_device} held by the device");
}
