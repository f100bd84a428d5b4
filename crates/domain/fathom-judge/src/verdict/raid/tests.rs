use fathom_language::english;
use fathom_plan::{BlockSize, OpMix, Pattern, Step, TargetId};
use fathom_record::{ArrayMember, ArrayRecord};

use super::*;
use crate::samples;

const MEMBERS: [&str; 4] = ["/a", "/b", "/c", "/d"];

fn step(index: u32, targets: &[&str], mix: OpMix, bytes: u32) -> Step {
    let mut step: Step = samples::step();
    step.index = index;
    step.targets = targets.iter().map(|name| TargetId::new(*name)).collect();
    step.workload.mix = mix;
    step.workload.block_sizes = vec![BlockSize { bytes, share_pct: 100 }];
    step
}

fn small(index: u32, targets: &[&str], mix: OpMix, iops: f64) -> StepView {
    samples::view(&step(index, targets, mix, 4096), iops, 100.0)
}

/// So many member reads and writes of `bytes` for each of 1000 I/Os of the load.
fn on_array(mut view: StepView, (reads, writes): (u64, u64), bytes: u64, whole: bool) -> StepView {
    let ios = 1000;
    let (of_reads, of_writes) = if view.read_pct == 100 { (ios, 0) } else { (0, ios) };
    let count = array_of(&view).expect("an array").members().len() as u64;
    let target = TargetId::new(view.targets[0].as_str());
    let members = array_of(&view).expect("an array").members().to_vec();
    let member = |target: Option<TargetId>| ArrayMember {
        target,
        reads: ios * reads / count,
        writes: ios * writes / count,
        read_bytes: ios * reads / count * bytes,
        written_bytes: ios * writes / count * bytes,
        failed_errno: None,
    };
    view.arrays = vec![ArrayRecord {
        target,
        reads: of_reads,
        writes: of_writes,
        degraded_reads: 0,
        member_reads_for_writes: if of_writes > 0 { ios * reads } else { 0 },
        full_stripe_writes: if whole { of_writes } else { 0 },
        reconstruct_writes: 0,
        modify_writes: if whole { 0 } else { of_writes },
        recover_writes: 0,
        load_bytes: ios * bytes,
        rebuild: None,
        members: members.into_iter().map(member).collect(),
    }];
    view
}

/// Members of 100k reads and 25k writes each, of 4 in all.
fn members() -> Vec<StepView> {
    vec![
        small(0, &MEMBERS[..1], OpMix::READ, 100e3),
        small(1, &MEMBERS[..1], OpMix::WRITE, 25e3),
        small(2, &MEMBERS, OpMix::READ, 400e3),
        small(3, &MEMBERS, OpMix::WRITE, 100e3),
    ]
}

fn answer(steps: &[StepView]) -> (String, Vec<String>, Vec<String>) {
    let verdict = verdicts(&Message::verbatim("?"), steps, 7).remove(0);
    let (headline, rows) = samples::first_look(&verdict);
    (headline, rows, samples::words(&verdict.evidence))
}

#[test]
fn each_level_is_told_by_its_share_of_what_the_members_allow() {
    let mut steps = members();
    let of = |index, level: &str, iops| small(index, &[&format!("{level}:64k:/a,/b,/c,/d")], OpMix::WRITE, iops);
    steps.push(on_array(of(4, "raid0", 99e3), (0, 1), 4096, false));
    // One of many loads on the level: the greatest stands for it.
    steps.push(on_array(of(5, "raid5", 9e3), (2, 2), 4096, false));
    steps.push(on_array(of(6, "raid5", 30e3), (2, 2), 4096, false));
    steps.push(on_array(of(7, "raid10", 50e3), (0, 2), 4096, false));
    let (headline, rows, evidence) = answer(&steps);
    // Two reads and two writes take 2 / 400k + 2 / 100k s of all members: 40k.
    assert_eq!(
        headline,
        "4k random writes, of what the members allow: raid10 100 %, raid5 75 %, raid0 99 %; raid5: limit not known."
    );
    assert_eq!(
        rows,
        ["raid10: writes 50.0k/s (100 %)", "raid5: writes 30.0k/s (75 %)", "raid0: writes 99.0k/s (99 %)"]
    );
    let all = evidence.join("\n");
    assert!(all.contains("4 members at once give 400k IOPS") && all.contains("4.00x"), "{all}");
    assert!(!all.contains("They share"), "{all}");
    assert!(all.contains("2 member reads and 2 member writes"), "{all}");
    assert!(all.contains("By the number of member I/Os alone it would be 25.0k"), "{all}");
}

#[test]
fn a_first_look_is_short_with_all_levels_and_with_several_chunks_and_a_ceiling_that_is_exceeded_is_said_to_be_none() {
    let mut steps = members();
    let of = |index, array: &str, iops| small(index, &[&format!("{array}:/a,/b,/c,/d")], OpMix::WRITE, iops);
    steps.push(on_array(of(4, "raid0:64k", 120e3), (0, 1), 4096, false));
    steps.push(on_array(of(5, "raid5:64k", 30e3), (2, 2), 4096, false));
    steps.push(on_array(of(6, "raid6:64k", 20e3), (1, 3), 4096, false));
    steps.push(on_array(of(7, "raid10:64k", 50e3), (0, 2), 4096, false));
    let words = |headline: &str| headline.split_whitespace().count();
    let (headline, rows, _) = answer(&steps);
    assert!(words(&headline) <= 25 && headline.ends_with("raid6: limit not known."), "{headline}");
    assert_eq!(rows.len(), 4);
    let said = english(&verdicts(&Message::verbatim("?"), &steps, 7)[0].answer);
    let exceeded = "raid0 gave 120k IOPS ±0.5 %, at least all that its members gave alone (100k IOPS ±0.5 %). Alone the \
                    members were not at their limit";
    assert!(said.contains(exceeded), "{said}");
    assert!(headline.contains("raid0 ≥100 %"), "{headline}");
    assert!(rows.contains(&"raid0: writes 120k/s (members alone 100k/s ±0.5 %)".to_owned()), "{rows:?}");
    steps.push(on_array(of(8, "raid5:16k", 35e3), (2, 2), 4096, false));
    steps.push(on_array(of(9, "raid10:16k", 49e3), (0, 2), 4096, false));
    let (headline, rows, _) = answer(&steps);
    assert_eq!(
        headline,
        "4k random writes, of what the members allow: raid10 64k 100 %, raid5 16k 88 %, raid6 64k 65 %."
    );
    assert!(words(&headline) <= 25 && rows.len() == 6, "{rows:?}");
}

#[test]
fn a_share_without_an_interval_is_no_loss() {
    let mut steps = members();
    let mut array = small(4, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, 20e3);
    array.iops_ci95 = None;
    steps.push(on_array(array, (2, 2), 4096, false));
    assert_eq!(answer(&steps).0, "4k random writes, of what the members allow: raid5 50 %.");
}

#[test]
fn shares_that_are_known_roughly_are_told_with_their_width() {
    let mut steps = members();
    let mut array = small(4, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, 30e3);
    array.iops_ci95 = Some([15e3, 45e3]);
    steps.push(on_array(array, (2, 2), 4096, false));
    assert_eq!(answer(&steps).0, "4k random writes, of what the members allow (±51 % or less): raid5 75 %.");
}

#[test]
fn members_that_share_a_drive_are_said_to() {
    let mut steps = members();
    steps[2].iops = 110e3;
    steps[2].iops_ci95 = Some([109e3, 111e3]);
    let array = small(4, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, 9e3);
    steps.push(on_array(array, (2, 2), 4096, false));
    let (_, _, evidence) = answer(&steps);
    assert!(evidence[0].contains("They share what limits them"), "{evidence:?}");
    assert!(!evidence[1].contains("They share"), "{evidence:?}");
}

#[test]
fn whole_stripes_and_lost_members_are_told_beside_what_they_are_held_against() {
    let mut steps = members();
    let sequential = |index, bytes, iops| {
        let mut step = step(index, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, bytes);
        step.workload.pattern = Pattern::Sequential;
        samples::view(&step, iops, 100.0)
    };
    let mut alone = step(4, &MEMBERS, OpMix::WRITE, 65536);
    alone.workload.pattern = Pattern::Sequential;
    steps.push(samples::view(&alone, 40e3, 100.0));
    steps.push(on_array(sequential(5, 65536, 4e3), (2, 2), 65536, false));
    // Three chunks and their parity: four member writes as long as those of the members alone.
    steps.push(on_array(sequential(6, 3 * 65536, 9.9e3), (0, 4), 65536, true));
    let random = |index, target: &str, iops| on_array(small(index, &[target], OpMix::READ, iops), (1, 0), 4096, false);
    steps.push(random(7, "raid5:64k:/a,/b,/c,/d", 400e3));
    steps.push(random(8, "raid5:64k:/a,/b,/c,missing", 200e3));
    let (_, _, evidence) = answer(&steps);
    let all = evidence.join("\n");
    assert!(all.contains("9.90k ±0.5 %, 99 % of the 10.0k"), "the ceiling of whole stripes: {all}");
    assert!(all.contains("for the parity of a part 2 member reads come before each write"), "{all}");
    assert!(all.contains("raid5 without 1: 200k IOPS") && all.contains("50 % of what all members give"), "{all}");
    // Fewer members that give more are no share of the whole.
    let last = steps.len() - 1;
    steps[last] = random(8, "raid5:64k:/a,/b,/c,missing", 440e3);
    let all = answer(&steps).2.join("\n");
    assert!(all.contains("1.10x ±0.7 % the rate of the whole array") && !all.contains("110 %"), "{all}");
}

#[test]
fn without_an_array_the_members_are_answered_as_any_load() {
    let (headline, ..) = answer(&members());
    assert!(headline.contains("400k IOPS"), "{headline}");
    let none = verdicts(&Message::verbatim("?"), &[], 7).remove(0);
    assert!(english(&none.brief.headline).contains("Nothing"), "{}", english(&none.brief.headline));
}

#[test]
fn what_md_gives_is_told_first_and_held_against_the_same_level_without_it() {
    let mut steps = members();
    steps.push(on_array(small(4, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, 40e3), (2, 2), 4096, false));
    steps.push(on_array(small(5, &["md-raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, 30e3), (2, 2), 4096, false));
    let (headline, rows, evidence) = answer(&steps);
    assert!(headline.starts_with("4k random writes, of what the members allow: md-raid5 75 %"), "{headline}");
    assert!(rows.len() == 2 && rows[1].contains("md-raid5"), "{rows:?}");
    let evidence = evidence.join("\n");
    assert!(evidence.contains("md-raid5: 30.0k") && evidence.contains("what raid5 gives in user space"), "{evidence}");
}
