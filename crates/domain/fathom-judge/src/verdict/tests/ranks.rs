//! Scaling over hosts, whatever the study is.

use fathom_plan::TakePart;
use fathom_record::{RankRecord, RanksRecord};

use super::*;

fn rank(rank: u32, host: String) -> RankRecord {
    RankRecord {
        rank,
        host,
        clock: fathom_record::RankClock::default(),
        start_ns: 0,
        runtime_ns: 1,
        ios: 1,
        bytes: 1,
        errors: 0,
        counted_ios: 1,
        counted_bytes: 1,
        lat: None,
        interval_ios: Vec::new(),
        interval_bytes: Vec::new(),
        cpu: None,
        first_cpu: None,
    }
}

/// Reads by 1, 2, 4 and 8 ranks, so many to a host, that a client's link stops at 8.
fn by_ranks(ranks_a_host: u32) -> Vec<StepView> {
    let mut steps = Vec::new();
    for (index, (count, iops)) in (0..).zip([(1, 100e3), (2, 199e3), (4, 396e3), (8, 520e3)]) {
        let mut step = step(index, 100, 2, 32);
        step.role.ranks = Some(TakePart { count, ranks: (0..count).collect() });
        let mut view = seen(&step, iops, 100.0);
        let ranks = (0..count).map(|at| rank(at, format!("node{}", at / ranks_a_host))).collect();
        view.ranks = Some(RanksRecord { ranks, ..RanksRecord::default() });
        let is_full = count == 8;
        let (name, why) = match is_full {
            true => (LimitName::Network, "eth0 carries 97 % of what it can."),
            false => (LimitName::QueueDepth, "More in flight brings more."),
        };
        steps.push(limited(view, name, why));
    }
    steps
}

#[test]
fn a_ladder_over_ranks_is_answered_before_the_question_of_the_study() {
    let steps = by_ranks(1);
    let found = verdicts(7, "io", &Message::verbatim("?"), &steps, None, &[]);
    let [hosts, own] = &found[..] else { panic!("{found:?}") };
    assert_eq!(english(&hosts.question), "Does it grow with hosts, and what stops it?");
    assert_eq!(english(&own.question), "?");
    assert_eq!(
        english(&hosts.answer),
        "With hosts, 4k random reads scale linearly to 4 and no further: 8 give 65 % of the ideal (520k IOPS ±0.5 %). The most is 520k IOPS ±0.5 %, with 8. At 8: The limit is the network."
    );
    holds(hosts, "At the knee of 4k random reads by hosts: eth0 carries 97 % of what it can.");
    // In the study that asks for scaling it is the one answer.
    let scaling = verdicts(7, "scaling", &Message::verbatim("?"), &steps, None, &[]);
    assert_eq!(scaling.len(), 1);
    assert!(english(&scaling[0].answer).starts_with("With hosts, 4k random reads scale linearly to 4 and no further:"));
}

#[test]
fn several_ranks_of_a_host_are_no_hosts() {
    let found = verdicts(7, "io", &Message::verbatim("?"), &by_ranks(2), None, &[]);
    assert!(english(&found[0].answer).starts_with("With ranks, 4k random reads scale linearly to 4 and no further:"));
}

#[test]
fn all_ranks_of_a_run_at_once_are_no_ladder() {
    let found = verdicts(7, "io", &Message::verbatim("?"), &by_ranks(1)[3..], None, &[]);
    assert_eq!(found.len(), 1);
}
