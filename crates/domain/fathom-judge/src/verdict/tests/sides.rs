//! Verdicts on runs that measured their sides in turns: `pinning`, `tune`, and any study with `--versus`.

use super::*;

/// Cells measured in turns, six passes each: (read share, threads, depth, IOPS unpinned, ratio of the other side).
fn in_turns(arms: [&str; 2], cells: &[(u8, u32, u32, f64, f64)]) -> Vec<StepView> {
    let mut steps = Vec::new();
    for (cell, (read_pct, threads, depth, iops, ratio)) in (0..).zip(cells) {
        for pass in 0..6 {
            for (arm_index, arm) in (0..).zip(arms) {
                let mut step = step(steps.len() as u32, *read_pct, *threads, *depth);
                step.role.block = Some(Block { cell, pass, arm: arm.into(), arm_index, arm_parts: Vec::new() });
                if arm == "placement=cores" {
                    step.placement = Placement::Cores;
                    step.label += " pinned";
                }
                let wobble = 1.0 + 0.001 * f64::from((pass * 7 + arm_index * 3) % 5);
                let iops = iops * wobble * if arm_index == 1 { *ratio } else { 1.0 };
                let lat_us = f64::from(threads * depth) / iops * 1e6;
                steps.push(with_cpu(seen(&step, iops, lat_us), if arm_index == 1 { 9_000.0 } else { 12_000.0 }, 40));
            }
        }
    }
    steps
}

#[test]
fn pinning_names_the_depths_that_gain_for_reads_and_writes_apart() {
    let steps = in_turns(
        PLACED,
        &[
            (100, 1, 1, 46_067.0, 1.256),
            (100, 1, 2, 80e3, 1.12),
            (100, 1, 4, 130e3, 1.0),
            (100, 1, 8, 140e3, 1.0),
            (100, 16, 2, 500e3, 1.001),
            (0, 1, 1, 50e3, 1.2),
            (0, 1, 2, 76e3, 1.0),
            (0, 1, 4, 135e3, 0.95),
            (0, 1, 8, 130e3, 0.9),
        ],
    );
    let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
    let verdict = one("pinning", &steps, Some(&sides));
    assert_eq!(
        english(&verdict.answer),
        "Binding threads (`placement=cores`) helps 4k random reads at QD 1 to 2, by up to +25.7 % (95 % interval +25.3 to +26.0 %) at QD 1; no difference at QD 4 to 8 and 16x2. It helps 4k random writes at QD 1, by up to +20.1 % (95 % interval +19.7 to +20.4 %) at QD 1, and slows them at QD 4 to 8, by up to -10.0 % (95 % interval -10.2 to -9.7 %) at QD 8; no difference at QD 2."
    );
    holds(
        &verdict,
        "4k random reads at QD 1: 46.1k to 58.0k IOPS, +25.7 % (95 % interval +25.3 to +26.0 %); mean latency 21.7 us to 17.2 us (-20.4 %); p99 43.3 us to 34.5 us (-20.4 %); CPU per I/O 12.0 us to 9.00 us (-25.0 %); CPU of the whole machine 1.4 % to 1.3 %.",
    );
    holds(
        &verdict,
        "4k random writes: faster at QD 1, slower at QD 4 to 8, the same within 2 % at QD 2 (QD 1 +20.1 %, QD 2 +0.0 %, QD 4 -5.0 %, QD 8 -10.0 %).",
    );
    holds(&verdict, "Crossover for 4k random writes: between QD 1 (faster) and QD 4 (slower).");
    holds(&verdict, "With `placement=unpinned`, 4k random reads overtake 4k random writes between QD 1 and QD 2.");
    assert_eq!(verdict.figures.len(), 2);
    assert!((verdict.figures[0].value - 25.6).abs() < 0.5, "{:?}", verdict.figures[0]);
}

#[test]
fn reads_overtake_writes_only_where_their_intervals_are_apart() {
    let overtaking = |reads_at_4: f64, last_repeat: f64| {
        let mut steps = in_turns(
            PLACED,
            &[
                (100, 1, 1, 50e3, 1.0),
                (100, 1, 2, 76e3, 1.0),
                (100, 1, 4, reads_at_4, 1.0),
                (0, 1, 1, 55e3, 1.0),
                (0, 1, 2, 80e3, 1.0),
                (0, 1, 4, 100e3, 1.0),
            ],
        );
        // The last repeat of the reads at QD 2 is an outlier far above the writes.
        steps.iter_mut().filter(|s| s.index == 22).for_each(|s| s.iops = last_repeat);
        let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
        let evidence = one("pinning", &steps, Some(&sides)).evidence;
        words(&evidence).into_iter().filter(|e| e.contains("overtake")).collect::<Vec<_>>()
    };
    assert_eq!(overtaking(95e3, 76e3), [""; 0]);
    assert_eq!(overtaking(95e3, 92e3), [""; 0], "one repeat of six decides nothing");
    assert_eq!(overtaking(100e3, 76e3), [""; 0], "the same within the margin is not ahead");
    let between = |low| {
        [format!("With `placement=unpinned`, 4k random reads overtake 4k random writes between QD {low} and QD 4.")]
    };
    assert_eq!(overtaking(110e3, 76e3), between(2));
    assert_eq!(overtaking(110e3, 92e3), between(1), "QD 2 is inconclusive and lies in between");
}

#[test]
fn overtakings_are_named_by_block_size_and_group() {
    let mut steps =
        in_turns(PLACED, &[(100, 1, 1, 50e3, 1.0), (100, 1, 2, 90e3, 1.0), (0, 1, 1, 60e3, 1.0), (0, 1, 2, 80e3, 1.0)]);
    // Other writes at one of the depths are neither repeats nor rivals of these reads.
    let other_size = |s: &&mut StepView| s.read_pct == 0 && s.queue_depth == 2;
    steps.iter_mut().filter(other_size).for_each(|s| s.block_size_bytes = 8192);
    let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
    let verdict = one("pinning", &steps, Some(&sides));
    assert!(!words(&verdict.evidence).iter().any(|e| e.contains("overtake")), "{:#?}", verdict.evidence);
}

#[test]
fn pinning_without_any_effect_says_so() {
    let steps = in_turns(PLACED, &[(100, 1, 1, 50e3, 1.0), (100, 1, 8, 90e3, 1.002)]);
    let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
    let verdict = one("pinning", &steps, Some(&sides));
    assert_eq!(
        english(&verdict.answer),
        "Binding threads (`placement=cores`) makes no difference for 4k random reads: the same within 2 % at every load."
    );
    assert!(verdict.would_help.is_empty());
}

#[test]
fn interrupts_per_io_are_named_where_the_sides_differ_in_them() {
    let arms = ["interrupt_coalescing as found", "interrupt_coalescing=8/300us"];
    let figures = |gathered: f64| {
        let mut steps = in_turns(arms, &[(100, 1, 32, 50e3, 1.1)]);
        for step in steps.iter_mut().filter(|s| s.role.block.as_ref().is_some_and(|b| b.arm_index == 1)) {
            step.cpu.as_mut().expect("known").interrupts_per_io = gathered;
        }
        let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
        words(&one("tune", &steps, Some(&sides)).evidence).join(" ")
    };
    assert!(figures(0.25).contains("interrupts 1.00 per I/O to 0.25 per I/O"), "{}", figures(0.25));
    assert!(!figures(0.95).contains("interrupts"), "{}", figures(0.95));
}

#[test]
fn tune_answers_yes_no_it_depends_or_inconclusive() {
    let arms = ["scheduler as found", "scheduler=none"];
    let answer = |cells: &[(u8, u32, u32, f64, f64)]| {
        let steps = in_turns(arms, cells);
        let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
        english(&one("tune", &steps, Some(&sides)).answer)
    };
    assert_eq!(
        answer(&[(100, 1, 1, 50e3, 1.05), (0, 1, 1, 40e3, 1.0)]),
        "Yes: `scheduler=none` against `scheduler as found` is faster at 1 of 2 loads, by up to +5.1 % (95 % interval +4.8 to +5.4 %) for 4k random reads at QD 1."
    );
    assert_eq!(
        answer(&[(100, 1, 1, 50e3, 0.9)]),
        "No: `scheduler=none` against `scheduler as found` is slower at the one load measured, by up to -10.0 % (95 % interval -10.2 to -9.7 %) for 4k random reads at QD 1."
    );
    assert_eq!(
        answer(&[(100, 1, 1, 50e3, 1.1), (0, 1, 1, 40e3, 0.9)]),
        "It depends: `scheduler=none` against `scheduler as found` is faster at 1 of 2 loads, by up to +10.1 % (95 % interval +9.7 to +10.4 %) for 4k random reads at QD 1, and slower at 1 of 2 loads, by up to -10.0 % (95 % interval -10.2 to -9.7 %) for 4k random writes at QD 1."
    );
    assert_eq!(
        answer(&[(100, 1, 1, 50e3, 1.0), (0, 1, 1, 40e3, 1.001)]),
        "No: `scheduler=none` against `scheduler as found` makes no difference, the same within 2 % at all 2 loads."
    );
}

#[test]
fn another_study_with_sides_answers_both_questions() {
    let steps = in_turns(["engine as in the study", "engine=libaio"], &[(100, 1, 1, 50e3, 1.05)]);
    let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
    let all = verdicts(7, "quick", &question(), &steps, Some(&sides), &[]);
    assert_eq!(all.len(), 2);
    assert!(english(&all[0].answer).starts_with("Yes: `engine=libaio` against"), "{}", english(&all[0].answer));
    assert!(
        english(&all[1].answer).starts_with("This storage gives 50.1k IOPS"),
        "the reference alone: {}",
        english(&all[1].answer)
    );
    assert_eq!(all[1].question, question());
}

#[test]
fn a_verdict_is_said_in_chinese_as_well() {
    let chinese = |message: &Message| Language::Chinese.say(message);
    let steps = in_turns(PLACED, &[(100, 1, 1, 46_067.0, 1.256), (100, 1, 2, 80e3, 1.0)]);
    let sides = compare_arms(&samples::document(9, json!({}), steps.clone()), MARGIN_PCT).expect("two sides");
    let verdict = one("pinning", &steps, Some(&sides));
    assert_eq!(
        chinese(&verdict.answer),
        "绑核（`placement=cores`）对4k 随机读在 QD 1 时有帮助，最多 +25.7 %（95 % 区间 +25.3 至 +26.0 %）（QD 1）；在 QD 2 时没有差别。"
    );
    assert_eq!(chinese(&verdict.figures[0].name), "绑核效果，4k 随机读");
    let mut refused = samples::view(&step(0, 100, 1, 1), 0.0, 0.0);
    (refused.ios, refused.state) = (0, StepState::Refused);
    refused.reason = Some(Message::verbatim("no such device"));
    let nothing = one("quick", &[refused], None);
    assert_eq!(chinese(&nothing.answer), "没有测到任何数据：没有步骤完成 I/O。");
    assert_eq!(chinese(&nothing.caveats[0]), "4k 随机读 T1 QD1 被拒绝：no such device");
}
