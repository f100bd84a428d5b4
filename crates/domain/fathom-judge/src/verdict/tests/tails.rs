//! Tails and the goals for them.

use fathom_plan::{LatencyGoal, Rate, RateProcess};
use fathom_record::OpenLoop;

use super::*;
use crate::document::{ComparedFigure, GoalView};

#[test]
fn qos_says_where_the_tail_grows() {
    let ladder = [(1, 10e3, 100.0), (4, 38e3, 105.0), (16, 120e3, 133.0), (64, 160e3, 400.0), (128, 160e3, 800.0)];
    let steps: Vec<StepView> =
        (0..).zip(ladder).map(|(i, (depth, iops, lat))| seen(&step(i, 100, 1, depth), iops, lat)).collect();
    let verdict = one("qos", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "4k random reads: p99 200 us (95 % interval 195 us to 205 us) at QD 1, below twice that up to QD 16 (120k IOPS). It grows to 800 us (95 % interval 780 us to 820 us) at QD 64, and 1.60 ms (95 % interval 1.56 ms to 1.64 ms) at QD 128."
    );
    holds(&verdict, "4k random reads: from QD 16 to QD 64 IOPS change by +33.3 % and p99 by +200.8 %.");
    assert_eq!(verdict.figures.len(), 2);
}

#[test]
fn qos_with_rates_says_which_rate_meets_which_latency() {
    let rates = [(20e3, 90.0, true), (40e3, 120.0, true), (80e3, 600.0, true), (100e3, 0.0, false)];
    let steps: Vec<StepView> = (0..)
        .zip(rates)
        .map(|(i, (iops, lat, held))| {
            let mut step = step(i, 100, 1, 1);
            step.load.rate = Some(Rate { iops, process: RateProcess::Poisson });
            let mut view = seen(&step, iops, lat);
            view.open_loop = Some(OpenLoop {
                intended_iops: iops,
                submit_delay_ns_mean_halves: [0.0, 0.0],
                backlog_end_ios: 0,
                unsustainable: !held,
            });
            if !held {
                view.lat_ns = None;
            }
            view
        })
        .collect();
    let verdict = one("qos", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "4k random reads: the highest rate held is 80.0k IOPS, with a response p99 of 1.20 ms (95 % interval 1.17 ms to 1.23 ms). At 100k IOPS requests pile up, so that no latency belongs to it."
    );
    holds(
        &verdict,
        "4k random reads: p99 stays within 200 us up to 20.0k IOPS, within 500 us up to 40.0k IOPS, within 2.00 ms up to 80.0k IOPS.",
    );
}

/// A load with a goal for its p99; at a rate when one is given, which may not be held.
fn with_goal(index: u32, depth: u32, rate: Option<f64>, iops: f64, lat_us: Option<f64>) -> StepView {
    let mut step = step(index, 100, 1, depth);
    step.role.latency_goal = Some(LatencyGoal { mean_ns: None, p99_ns: Some(1_000_000) });
    step.load.rate = rate.map(|iops| Rate { iops, process: RateProcess::Poisson });
    let mut view = seen(&step, iops, lat_us.unwrap_or(1.0));
    view.open_loop = rate.map(|intended_iops| OpenLoop {
        intended_iops,
        submit_delay_ns_mean_halves: [0.0, 0.0],
        backlog_end_ios: 0,
        unsustainable: lat_us.is_none(),
    });
    if lat_us.is_none() {
        view.lat_ns = None;
    }
    view
}

#[test]
fn a_rate_keeps_a_goal_only_where_every_lower_one_is_known_to() {
    let rates = [(20e3, 90.0), (40e3, 6_000.0), (80e3, 600.0)];
    let mut steps: Vec<StepView> =
        (0..).zip(rates).map(|(i, (iops, lat))| with_goal(i, 1, Some(iops), iops, Some(lat))).collect();
    let [_, study] = on_goal(&steps);
    holds(&study, "4k random reads: p99 stays within 200 us up to 20.0k IOPS, within 20.0 ms up to 80.0k IOPS.");
    steps[0].lat_ns.as_mut().expect("a latency").ci95.clear();
    let [_, study] = on_goal(&steps);
    holds(&study, "4k random reads: no rate is known to keep p99 within 100 ms.");
}

/// The verdict on the goal and that of the study.
fn on_goal(steps: &[StepView]) -> [Verdict; 2] {
    verdicts(7, "qos", &question(), steps, None, &[]).try_into().expect("two verdicts")
}

#[test]
fn a_latency_goal_is_answered_by_the_upper_ends_before_the_study() {
    // The sample's p99 is twice the mean, its interval 2.5 % to either side.
    let steps = [
        with_goal(0, 1, None, 10e3, Some(100.0)),
        with_goal(1, 16, None, 80e3, Some(480.0)),
        with_goal(2, 64, None, 100e3, Some(490.0)),
        with_goal(3, 64, Some(25e3), 25e3, Some(200.0)),
        with_goal(4, 64, Some(75e3), 75e3, Some(400.0)),
        with_goal(5, 64, Some(90e3), 90e3, Some(600.0)),
    ];
    let [goal, study] = on_goal(&steps);
    assert_eq!(english(&goal.question), "Which is the highest load with p99 <= 1.00 ms?");
    assert_eq!(
        english(&goal.answer),
        "For 4k random reads, the highest offered rate that meets it is 75.0k IOPS with p99 800 us (95 % interval 780 us to 820 us), the first that misses it 90.0k IOPS with p99 1.20 ms (95 % interval 1.17 ms to 1.23 ms). For 4k random reads, the deepest closed loop that meets it is QD 16 (80.0k IOPS) with p99 960 us (95 % interval 936 us to 984 us), and none misses it. Of 3 such loads 1 is inconclusive."
    );
    holds(
        &goal,
        "4k random reads, upper end of the interval of p99: QD 1 205 us · QD 16 984 us · QD 64 1.00 ms · 25.0k IOPS 410 us · 75.0k IOPS 820 us · 90.0k IOPS 1.23 ms.",
    );
    assert_eq!((goal.figures.len(), goal.figures[0].step), (1, 4));
    assert_eq!(goal.figures[0].ci95, steps[4].iops_ci95);
    assert_eq!(study.question, question());
}

#[test]
fn a_goal_is_missed_by_a_rate_that_is_not_held_and_unproved_without_an_interval() {
    let mut unproved = with_goal(1, 64, Some(50e3), 50e3, Some(100.0));
    unproved.lat_ns.as_mut().expect("a latency").ci95.clear();
    let steps =
        [with_goal(0, 64, Some(25e3), 25e3, Some(100.0)), unproved.clone(), with_goal(2, 64, Some(90e3), 80e3, None)];
    assert_eq!(
        english(&on_goal(&[steps[0].clone(), steps[2].clone()])[0].answer),
        "For 4k random reads, the highest offered rate that meets it is 25.0k IOPS with p99 200 us (95 % interval 195 us to 205 us), the first that misses it 90.0k IOPS, which was not held."
    );
    assert_eq!(
        english(&on_goal(&steps[1..])[0].answer),
        "For 4k random reads, no offered rate is known to meet it, the first that misses it is 90.0k IOPS, which was not held. Of 2 such loads 1 is inconclusive."
    );
    for p99 in [Some(1_200_000), None] {
        unproved.lat_ns.as_mut().expect("a latency").p99 = p99;
        assert_eq!(
            english(&on_goal(&[unproved.clone()])[0].answer),
            "For 4k random reads, no offered rate was measured long enough to decide.",
            "{p99:?} without an interval proves nothing"
        );
    }
    let all = on_goal(&steps[..1]);
    assert_eq!(
        english(&all[0].answer),
        "For 4k random reads, the highest offered rate that meets it is 25.0k IOPS with p99 200 us (95 % interval 195 us to 205 us), and none misses it."
    );
}

#[test]
fn a_load_that_met_the_goal_only_once_does_not_meet_it_and_the_mean_is_a_goal_too() {
    let steps = [
        with_goal(0, 1, None, 10e3, Some(100.0)),
        with_goal(1, 4, None, 30e3, Some(130.0)),
        with_goal(2, 4, None, 30e3, Some(700.0)),
    ];
    let best = |steps: &[StepView]| on_goal(steps)[0].figures.first().map(|f| f.step);
    assert_eq!((best(&steps), best(&steps[..2])), (Some(0), Some(1)));
    let mut steps = steps[..2].to_vec();
    for step in &mut steps {
        step.role.latency_goal = Some(LatencyGoal { mean_ns: Some(120_000), p99_ns: Some(1_000_000) });
        step.lat_ns.as_mut().expect("a latency").ci95.insert("mean".into(), [100_000, 101_000]);
    }
    steps[1].lat_ns.as_mut().expect("a latency").ci95.insert("mean".into(), [129_000, 131_000]);
    let [goal, _] = on_goal(&steps);
    assert_eq!(english(&goal.question), "Which is the highest load with mean <= 120 us and p99 <= 1.00 ms?");
    assert_eq!(goal.figures[0].step, 0, "{}", english(&goal.answer));
    // Where nothing was measured the study says so.
    assert_eq!(verdicts(7, "qos", &question(), &[], None, &[]).len(), 1);
}

/// A closed loop slows down with the drive and keeps the goal; the same rate, offered by a service, does not.
#[test]
fn a_closed_loop_is_no_answer_where_offered_rates_were_measured() {
    let closed = with_goal(0, 64, None, 62.9e3, Some(450.0));
    let missed = with_goal(1, 128, Some(20.3e3), 20.3e3, Some(1_715.0));
    let near = with_goal(2, 128, Some(10e3), 10e3, Some(500.0));
    let said = |steps: &[StepView]| {
        let [goal, _] = on_goal(steps);
        let brief = goal.brief;
        let cells: Vec<String> = brief.rows[0].cells.iter().map(english).collect();
        (english(&brief.headline), cells.join(" | "))
    };
    let steps = [closed.clone(), missed.clone(), near];
    assert_eq!(crate::goals(&steps)[0].kept_step, None);
    assert_eq!(
        said(&steps),
        (
            "No offered rate was shown to keep p99 <= 1.00 ms: 1 missed it, 1 were too short to tell.".to_owned(),
            "missed at 20.3k/s | 1 too short to tell | closed loop 62.9k/s".to_owned()
        )
    );
    let kept = with_goal(3, 128, Some(5e3), 5e3, Some(250.0));
    let after_a_miss = with_goal(4, 128, Some(30e3), 30e3, Some(250.0));
    let (headline, cells) = said(&[closed.clone(), missed, kept, after_a_miss]);
    assert_eq!(headline, "5.00k IOPS of 4k random reads, offered as an open loop, keep p99 <= 1.00 ms (99 %).");
    assert_eq!(cells, "5.00k/s offered | missed at 20.3k/s | closed loop 62.9k/s");
    let (headline, _) = said(&[closed]);
    assert_eq!(headline, "62.9k IOPS ±0.5 % of 4k random reads in a closed loop keep p99 <= 1.00 ms, at QD 64.");
}

#[test]
fn what_the_picture_shades_is_what_the_answer_says_latency_by_latency() {
    let steps = [
        with_goal(0, 1, None, 10e3, Some(100.0)),
        with_goal(1, 4, None, 30e3, Some(130.0)),
        // The same load again, whose interval holds the goal: it is not known to keep it.
        with_goal(2, 4, None, 30e3, Some(495.0)),
        with_goal(3, 16, None, 80e3, Some(900.0)),
    ];
    let p99 =
        |steps: Vec<u32>, kept_step| GoalView { figure: ComparedFigure::LatP99, most_ns: 1_000_000, steps, kept_step };
    assert_eq!(crate::goals(&steps), [p99(vec![0, 1, 2, 3], Some(0))]);
    assert_eq!(crate::goals(&steps[..2]), [p99(vec![0, 1], Some(1))]);
    assert_eq!(crate::goals(&steps[2..]), [p99(vec![2, 3], None)]);
    // A rate that was offered goes before a closed loop that gave more.
    let offered = [steps[1].clone(), with_goal(4, 64, Some(20e3), 20e3, Some(200.0))];
    assert_eq!(crate::goals(&offered), [p99(vec![1, 4], Some(4))]);
    let mut both = steps[..2].to_vec();
    for (step, mean_ns) in both.iter_mut().zip([[99_000, 101_000], [129_000, 131_000]]) {
        step.role.latency_goal = Some(LatencyGoal { mean_ns: Some(120_000), p99_ns: Some(1_000_000) });
        step.lat_ns.as_mut().expect("a latency").ci95.insert("mean".into(), mean_ns);
    }
    let mean = GoalView { figure: ComparedFigure::LatMean, most_ns: 120_000, steps: vec![0, 1], kept_step: Some(0) };
    assert_eq!(crate::goals(&both), [mean, p99(vec![0, 1], Some(1))]);
    both.iter_mut().for_each(|s| s.role.latency_goal = None);
    assert!(crate::goals(&both).is_empty());
}
