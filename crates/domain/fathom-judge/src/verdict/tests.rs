//! Verdicts on documents made by hand, whose truth is known. The answers are compared word by word: they are what people
//! read first and pass on.

mod paths;
mod ranks;
mod sides;
mod tails;

use fathom_language::{Language, english};
use fathom_message::{Message, Quantity, msg};
use fathom_model::{Confidence, LimitName, StateChange};
use fathom_plan::{
    Block, EngineName, LabelPart, Metric, Mode, OpMix, Pattern, Placement, PlacementKind, Round, Step, TargetId,
};
use serde_json::json;

use super::verdicts;
use crate::compare::{MARGIN_PCT, compare_arms};
use crate::document::{
    Brief, CheckCause, CheckName, CheckView, Comparison, CpuView, DirectionView, LimitView, PtsView, SteadyView,
    StepState, StepView, TrackedFigure, Verdict, WhyUnsteady,
};
use crate::samples::{self, words};

fn question() -> Message {
    Message::verbatim("Does it?")
}

/// A step with this operation and load; `read_pct` 100 or 0.
fn step(index: u32, read_pct: u8, threads: u32, queue_depth: u32) -> Step {
    let mut step = samples::step();
    step.index = index;
    step.workload.mix = match read_pct {
        100 => OpMix::READ,
        share => OpMix { read_pct: share, write_pct: 100 - share, trim_pct: 0 },
    };
    step.load.threads = threads;
    step.load.queue_depth = queue_depth;
    let op = match read_pct {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        share => format!("{share}/{}", 100 - share),
    };
    step.label = format!("4k random {op} T{threads} QD{queue_depth}");
    step
}

/// Its view with the operations that it had.
fn seen(step: &Step, iops: f64, lat_us: f64) -> StepView {
    let mut view = samples::view(step, iops, lat_us);
    let direction = |share: u8| {
        (share > 0).then(|| DirectionView {
            ios: view.ios * u64::from(share) / 100,
            iops: iops * f64::from(share) / 100.0,
            bytes_per_s: iops * f64::from(share) / 100.0 * 4096.0,
            short_ios: 0,
            lat_ns: None,
        })
    };
    (view.read, view.write) = (direction(view.read_pct), direction(100 - view.read_pct));
    view
}

fn with_cpu(mut view: StepView, ns_per_io: f64, cpus: u32) -> StepView {
    let busy = view.iops * ns_per_io / 1e9;
    view.cpu = Some(CpuView {
        busy_cores: busy,
        cpus_online: cpus,
        ns_per_io: Some(ns_per_io),
        user_ns_per_io: ns_per_io / 4.0,
        system_ns_per_io: ns_per_io / 2.0,
        irq_ns_per_io: ns_per_io / 4.0,
        kernel_worker_ns_per_io: 0.0,
        interrupts_per_io: 1.0,
        context_switches_per_io: 1.0,
        busy_physical_cores: busy,
        iops_per_core: Some(1e9 / ns_per_io),
        iops_per_physical_core: None,
        baseline_busy_cores: 0.0,
        other_programs_cores: None,
        unexplained_cores: 0.0,
        steal_pct: 0.0,
        busiest_cpu: None,
    });
    // Twelve intervals whose cost wobbles by 2 %.
    for i in 0..12_u32 {
        let wobble = 1.0 + 0.02 * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        view.series.iops.push(view.iops);
        view.series.cpu_busy.push(vec![(busy * wobble) as f32]);
    }
    view
}

fn limited(mut view: StepView, name: LimitName, sentence: &str) -> StepView {
    view.limit = LimitView {
        name,
        probability: None,
        confidence: Confidence::Confirmed,
        state_change: None,
        sentence: Message::verbatim(sentence),
        evidence: Vec::new(),
        would_help: Vec::new(),
    };
    view
}

fn one(study: &str, steps: &[StepView], sides: Option<&Comparison>) -> Verdict {
    let mut all = verdicts(7, study, &question(), steps, sides, &[]);
    assert_eq!(all.len(), 1, "{all:#?}");
    is_brief(&all[0].brief);
    all.remove(0)
}

/// At most 25 words and six rows, each with something to say, in both languages.
fn is_brief(brief: &Brief) {
    let headline = english(&brief.headline);
    let count = headline.split_whitespace().count();
    assert!((1..=25).contains(&count), "{count} words: {headline}");
    assert!(brief.rows.len() <= Brief::ROWS_MAX, "{:#?}", brief.rows);
    assert!(brief.rows.iter().all(|r| !r.cells.is_empty()), "{:#?}", brief.rows);
    let all = brief.rows.iter().flat_map(|r| r.cells.iter().chain([&r.name])).chain([&brief.headline]);
    for message in all.chain(brief.next.iter().map(|next| &next.why)) {
        let said = Language::Chinese.try_say(message);
        assert!(said.is_ok(), "{message:?}: {said:?}");
    }
}

fn holds(verdict: &Verdict, sentence: &str) {
    let evidence = words(&verdict.evidence);
    assert!(evidence.iter().any(|e| e == sentence), "no `{sentence}` in {evidence:#?}");
}

const PLACED: [&str; 2] = ["placement=unpinned", "placement=cores"];

/// Two steps that the device holds are one level, said of the shallower one and all that is deeper, whichever gave more.
#[test]
fn the_headline_is_the_plateau_and_says_from_where_it_holds() {
    let answer = |at_64: f64, at_128: f64, last: LimitName| {
        let of =
            |index, threads, depth, iops, name| limited(seen(&step(index, 100, threads, depth), iops, 100.0), name, "");
        let steps = [
            of(0, 1, 1, 14e3, LimitName::QueueDepth),
            of(1, 1, 64, at_64, LimitName::Device),
            of(2, 4, 32, at_128, last),
        ];
        english(&one("quick", &steps, None).answer)
    };
    for (at_64, at_128) in [(71e3, 70e3), (70e3, 71e3)] {
        let said = answer(at_64, at_128, LimitName::Device);
        assert!(
            said.starts_with("This storage gives 70.5k IOPS")
                && said.contains("at T1 QD64 and more. The limit is the device."),
            "{said}"
        );
    }
    let rising = answer(70e3, 90e3, LimitName::QueueDepth);
    assert!(rising.starts_with("This storage gives 90.0k IOPS") && rising.contains("at T4 QD32. "), "{rising}");
}

/// The greatest step of a rising ladder has one interval, in the headline and in the table of steps.
#[test]
fn the_headline_has_the_interval_of_the_step_that_it_names() {
    let of = |index, depth, iops, name| limited(seen(&step(index, 100, 1, depth), iops, 100.0), name, "");
    let mut steps = vec![of(0, 1, 14e3, LimitName::QueueDepth), of(1, 64, 90e3, LimitName::Device)];
    steps[1].iops_ci95 = Some([63e3, 117e3]);
    let verdict = one("quick", &steps, None);
    for text in [english(&verdict.brief.headline), english(&verdict.answer)] {
        assert!(text.contains("90.0k IOPS ±30"), "{text}");
    }
    holds(&verdict, "4k random reads: 90.0k IOPS ±30.0 % at T1 QD64, mean latency 100 us, p99 200 us ±2.5 %. ");
}

/// What was tried beyond the best step is not left out of what would help.
#[test]
fn more_in_flight_helps_for_sure_only_where_nothing_deeper_was_tried() {
    let help = |deeper: Option<f64>| {
        let of =
            |index, depth, iops| limited(seen(&step(index, 100, 1, depth), iops, 100.0), LimitName::QueueDepth, "");
        let mut steps = vec![of(0, 1, 14e3), of(1, 64, 73e3)];
        steps.extend(deeper.map(|iops| of(2, 128, iops)));
        words(&one("quick", &steps, None).would_help).join(" ")
    };
    let rising = help(None);
    assert!(rising.contains("64 was the most tried and IOPS still grew"), "{rising}");
    let open = help(Some(69e3));
    assert!(open.contains("perhaps more in flight, though 128 gave no more here"), "{open}");
    assert!(!open.contains("still grew"), "{open}");
}

#[test]
fn enterprise_names_the_winner_at_each_load() {
    let mut steps = Vec::new();
    for (group, one_by_one, heavy) in [("pmem", 95e3, 900e3), ("optane", 41e3, 1_710e3), ("tlc", 20e3, 900.5e3)] {
        for (threads, depth, iops) in [(1, 1, one_by_one), (16, 16, heavy)] {
            let mut step = step(steps.len() as u32, 100, threads, depth);
            step.group = group.into();
            step.label += &format!(" {group}");
            steps.push(seen(&step, iops, f64::from(threads * depth) / iops * 1e6));
        }
    }
    steps[5].steady = Some(steadiness(false));
    steps[0].steady = Some(steadiness(true));
    let verdict = one("enterprise", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "pmem gives the most at 1 of 2 loads, by up to +131.7 % (95 % interval +130.1 to +133.4 %) for 4k random reads at T1 QD1; optane gives the most at 1 of 2 loads (1 of them not steady), by up to +89.9 % (95 % interval +88.6 to +91.2 %) for 4k random reads at T16 QD16. Lowest mean latency: pmem at 1 and optane at 1. 1 of 2 judged steps were steady."
    );
    assert!(words(&verdict.caveats).iter().any(|c| c.contains("4k random read T16 QD16 tlc")), "{:?}", verdict.caveats);
    holds(&verdict, "4k random reads: T1 QD1 pmem +131.7 %, T16 QD16 optane +89.9 % (not steady).");
    assert!(words(&verdict.evidence)[1].starts_with(
        "4k random reads at T1 QD1: pmem 95.0k IOPS ±0.5 %, latency mean 10.5 us, max 211 us, standard deviation 3.16 us;"
    ));
    let alone: Vec<StepView> = steps[2..4].to_vec();
    assert_eq!(
        english(&one("enterprise", &alone, None).answer),
        "41.0k IOPS ±0.5 % for 4k random reads at T1 QD1, mean latency 24.4 us. 1.71M IOPS ±0.5 % for 4k random reads at T16 QD16, mean latency 150 us. Whether it was steady is not known: the steps were too short."
    );
}

#[test]
fn groups_are_apart_only_beyond_chance_and_without_intervals_that_is_not_known() {
    let mut steps = Vec::new();
    for (group, iops) in [("one", [100e3, 100e3, 100e3]), ("two", [100.2e3, 150e3, 150e3])] {
        for (depth, iops) in [1, 2, 4].into_iter().zip(iops) {
            let mut step = step(steps.len() as u32, 100, 1, depth);
            step.group = group.into();
            let mut view = seen(&step, iops, f64::from(depth) / iops * 1e6);
            if depth == 4 {
                view.iops_ci95 = None;
            }
            steps.push(view);
        }
    }
    let found: Vec<(Vec<u32>, Option<bool>)> =
        crate::groups(&steps).into_iter().map(|load| (load.steps, load.are_apart)).collect();
    assert_eq!(found, [(vec![0, 3], Some(false)), (vec![1, 4], Some(true)), (vec![2, 5], None)]);
    assert!(crate::groups(&steps[..3]).is_empty(), "one group has none to differ from");
}

#[test]
fn the_lowest_latency_is_named_only_where_it_differs() {
    let mut steps = Vec::new();
    // At the first load alike within their intervals, at the second apart, at the third without any.
    for (group, lat_us) in [("one", [100.0, 200.0, 300.0]), ("two", [100.2, 150.0, 400.0])] {
        for (depth, lat_us) in [1, 2, 4].into_iter().zip(lat_us) {
            let mut step = step(steps.len() as u32, 100, 1, depth);
            step.group = group.into();
            let mut view = seen(&step, 1e6 * f64::from(depth) / lat_us, lat_us);
            if depth == 4 {
                view.iops_ci95 = None;
            }
            steps.push(view);
        }
    }
    let answer = english(&one("enterprise", &steps, None).answer);
    assert!(answer.contains(" Lowest mean latency: two at 1. "), "{answer}");
}

fn steadiness(reached: bool) -> SteadyView {
    SteadyView {
        reached,
        why: (!reached).then_some(WhyUnsteady::Drifts),
        rounds: 30,
        warmup_intervals: 0,
        drift_pct_per_minute: Some(0.0),
        drift_ci95: None,
        pts: None,
        own: None,
        series: Vec::new(),
    }
}

#[test]
fn scaling_names_the_knee_its_cause_and_the_law() {
    let mut steps: Vec<StepView> = Vec::new();
    for (drives, iops) in [(1, 420e3), (2, 838e3), (4, 1_670e3), (8, 2_000e3), (16, 2_010e3)] {
        let mut step = step(steps.len() as u32, 100, 8, 32);
        step.targets = (0..drives).map(|d| TargetId::new(format!("/dev/d{d}"))).collect();
        let view = with_cpu(seen(&step, iops, 100.0), 4_000.0, 64);
        steps.push(limited(
            view,
            if drives > 4 { LimitName::Uplink } else { LimitName::Device },
            "The uplink carries 7.8 of 7.9 GB/s.",
        ));
    }
    let verdict = one("scaling", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "With drives, 4k random reads scale linearly to 4 and no further: 8 give 60 % (95 % interval 59 % to 60 %) of the ideal (2.00M IOPS ±0.5 %). The most is 2.01M IOPS ±0.5 %, with 16. At 8: The limit is the shared link."
    );
    holds(
        &verdict,
        "4k random reads by drives: 1: 420k IOPS ±0.5 % (100 %, 250k per busy core) · 2: 838k IOPS ±0.5 % (99.8 %, 250k per busy core) · 4: 1.67M IOPS ±0.5 % (99.4 %, 250k per busy core) · 8: 2.00M IOPS ±0.5 % (60 %, 250k per busy core) · 16: 2.01M IOPS ±0.5 % (30 %, 250k per busy core).",
    );
    holds(
        &verdict,
        "4k random reads by drives, fitted to the universal scalability law over 1 to 16: contention 0, coherence 0.0106, most at 10 with 2.22M IOPS, falling beyond; the points lie 5.6 % off it, so take it as a rough one.",
    );
    holds(&verdict, "At the knee of 4k random reads by drives: The uplink carries 7.8 of 7.9 GB/s.");
    let straight = one("scaling", &steps[..3], None);
    assert_eq!(
        english(&straight.answer),
        "With drives, 4k random reads scale linearly to 4: 1.67M IOPS ±0.5 %, 99.4 % (95 % interval 99 % to 100.1 %) of 4 times the first. Growth did not end in the measured range. At 4: The limit is the device."
    );
    // Files may share a drive.
    for step in &mut steps {
        step.targets = (0..step.targets.len()).map(|i| format!("data/f{i}")).collect();
    }
    assert!(
        english(&one("scaling", &steps, None).answer)
            .starts_with("With files, 4k random reads scale linearly to 4 and no further:")
    );
}

#[test]
fn a_ladder_bends_only_where_its_interval_says_so() {
    let answer = |second: f64, half: f64| {
        let mut steps: Vec<StepView> = Vec::new();
        for (threads, iops) in [(1, 100e3), (2, second)] {
            steps.push(with_cpu(seen(&step(steps.len() as u32, 100, threads, 32), iops, 100.0), 4_000.0, 64));
        }
        steps[1].iops_ci95 = Some([second * (1.0 - half), second * (1.0 + half)]);
        let verdict = one("scaling", &steps, None);
        // The sentence that everybody reads says no more than the whole answer.
        let (answer, headline) = (english(&verdict.answer), english(&verdict.brief.headline));
        assert_eq!(answer.contains("inconclusive"), headline.contains("may scale"), "{answer} {headline}");
        answer
    };
    assert!(
        answer(170e3, 0.005).contains("fall below linear from the start: 2 give 85 % (95 % interval 84 % to 86 %)")
    );
    assert!(answer(195e3, 0.005).contains("scale linearly to 2: "));
    for inconclusive in [answer(178e3, 0.05), answer(182e3, 0.05)] {
        assert!(
            inconclusive.contains("whether 4k random reads scale linearly to 2 is inconclusive: "),
            "{inconclusive}"
        );
    }
}

/// A ladder over threads for one drive and for two, pinned and not, and one over drives: six rows, six names.
#[test]
fn ladders_of_one_load_are_named_by_what_differs_between_them() {
    let mut steps: Vec<StepView> = Vec::new();
    for (placement, depth) in [(Placement::Unpinned, 32), (Placement::Cores, 32), (Placement::Unpinned, 8)] {
        for drives in [1_u32, 2] {
            for threads in [1_u32, 2, 4] {
                let mut step = step(steps.len() as u32, 100, threads, depth);
                step.placement = placement.clone();
                step.targets = (0..drives).map(|d| TargetId::new(format!("/dev/d{d}"))).collect();
                let iops = f64::from(drives * threads.min(2)) * 100e3;
                let limit = if threads > 2 { LimitName::Core } else { LimitName::QueueDepth };
                steps.push(limited(with_cpu(seen(&step, iops, 100.0), 4_000.0, 64), limit, ""));
            }
        }
    }
    let verdict = one("scaling", &steps, None);
    let names: Vec<String> = verdict.brief.rows.iter().map(|row| english(&row.name)).collect();
    let mut once = names.clone();
    once.sort();
    once.dedup();
    assert_eq!((once.len(), names.len()), (6, 6), "{names:?}");
    assert!(names[0] == "4k random reads (T1 QD32 unpinned)", "{names:?}");
    let threads: Vec<StepView> = steps.iter().filter(|step| step.devices == 1).cloned().collect();
    let verdict = one("scaling", &threads, None);
    let rows: Vec<String> = verdict.brief.rows.iter().map(|row| english(&row.name)).collect();
    assert_eq!(rows, ["4k random reads (QD32)", "4k random reads, cores", "4k random reads (QD8)"]);
    // Each row has where linear growth ends, and what stops it.
    for row in &verdict.brief.rows {
        let cells = words(&row.cells).join(" · ");
        assert!(cells.ends_with("linear to 2: its cores"), "{cells}");
    }
    let answer = english(&verdict.answer);
    assert!(
        answer.contains("scale linearly to 2 and no further: 4 give") && answer.contains("At 4: The limit"),
        "{answer}"
    );
    // Over drives and over threads the same load is two ladders.
    let both: Vec<StepView> = steps.into_iter().take(6).filter(|step| step.devices == 1 || step.threads == 4).collect();
    let verdict = one("scaling", &both, None);
    let rows: Vec<String> = verdict.brief.rows.iter().map(|row| english(&row.name)).collect();
    assert_eq!(rows, ["4k random reads by drives", "4k random reads by threads"]);
}

#[test]
fn siblings_are_set_against_cores_of_their_own() {
    let mut steps = Vec::new();
    for (placement, threads, iops) in [
        (Placement::Cores, 1, 255e3),
        (Placement::Cores, 2, 508e3),
        (Placement::Cores, 4, 1_015e3),
        (Placement::Smt, 2, 320e3),
        (Placement::Smt, 4, 640e3),
    ] {
        let mut step = step(steps.len() as u32, 100, threads, 32);
        step.placement = placement;
        steps.push(seen(&step, iops, 100.0));
    }
    let verdict = one("scaling", &steps, None);
    holds(
        &verdict,
        "2 threads on both siblings of 1 core give less than on cores of their own: -37.0 % (95 % interval -37.5 to -36.6 %).",
    );
    assert!(
        english(&verdict.answer).starts_with("With threads, 4k random reads spread over cores scale linearly to 4")
    );
}

#[test]
fn engines_names_the_cheapest_and_the_fastest() {
    let mut steps = Vec::new();
    for (engine, mode, threads, depth, iops, cpu_ns) in [
        (EngineName::Psync, Mode::Interrupt, 1, 1, 12e3, 9_000.0),
        (EngineName::IoUring, Mode::Interrupt, 1, 1, 12.5e3, 8_000.0),
        (EngineName::Psync, Mode::Interrupt, 32, 1, 200e3, 9_000.0),
        (EngineName::Libaio, Mode::Interrupt, 1, 32, 240e3, 4_000.0),
        (EngineName::IoUring, Mode::Interrupt, 1, 32, 250e3, 3_000.0),
        (EngineName::IoUring, Mode::Iopoll, 1, 32, 251e3, 2_000.0),
    ] {
        let mut step = step(steps.len() as u32, 100, threads, depth);
        step.engine.name = engine;
        step.engine.mode = mode;
        steps.push(with_cpu(seen(&step, iops, f64::from(threads * depth) / iops * 1e6), cpu_ns, 8));
    }
    let mut refused = samples::view(&step(6, 100, 1, 32), 0.0, 0.0);
    refused.ios = 0;
    refused.state = StepState::Refused;
    refused.reason = Some(Message::verbatim("no such device: the target is a file"));
    steps.push(refused);
    let verdict = one("engines", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "With 32 I/Os in flight, io_uring iopoll gives 251k IOPS ±0.5 % and io_uring the same within 2 %: +0.4 % (95 % interval -0.3 to +1.1 %). The cheapest is io_uring iopoll with 2.00 us (95 % interval 1.95 us to 2.05 us) of CPU per I/O, 33 % less than io_uring; psync with 32 threads costs 4.50x as much. One at a time, io_uring has the lowest latency: mean 80.0 us against 83.3 us of psync, -4.0 % (95 % interval -4.7 to -3.3 %). Which path for your load: for the most IOPS io_uring at 1 in flight; for the least CPU per I/O io_uring at 1 in flight, io_uring iopoll at 32 in flight."
    );
    holds(
        &verdict,
        "CPU per I/O of 4k random reads, 32 in flight: io_uring iopoll 2.00 us (95 % interval 1.95 us to 2.05 us) · io_uring 3.00 us (95 % interval 2.93 us to 3.07 us) · libaio 4.00 us (95 % interval 3.91 us to 4.09 us) · psync with 32 threads 9.00 us (95 % interval 8.79 us to 9.21 us).",
    );
    assert!(words(&verdict.caveats).iter().any(|c| c.contains("was refused: no such device")), "{:?}", verdict.caveats);
    assert_eq!(
        english(&one("engines", &steps[..1], None).answer),
        "Only one path could be measured: psync with 12.0k IOPS ±0.5 %."
    );
}

#[test]
fn paths_on_the_front_are_beaten_by_none_in_both_rate_and_cost() {
    let path = |index, engine, threads, depth, iops, cpu_ns| {
        let mut step = step(index, 100, threads, depth);
        step.engine.name = engine;
        with_cpu(seen(&step, iops, 100.0), cpu_ns, 8)
    };
    let mut steps = vec![
        path(0, EngineName::Psync, 32, 1, 300e3, 9_000.0),
        path(1, EngineName::IoUring, 1, 32, 250e3, 3_000.0),
        // Dearer than io_uring and slower.
        path(2, EngineName::Libaio, 1, 32, 240e3, 4_000.0),
        path(3, EngineName::Mmap, 32, 1, 200e3, 2_000.0),
        // Another number in flight, with one path alone.
        path(4, EngineName::IoUring, 1, 64, 400e3, 1_000.0),
    ];
    let judged = |steps: &[StepView]| crate::paths(steps).into_iter().map(|p| (p.steps, p.front)).collect::<Vec<_>>();
    assert_eq!(judged(&steps), [(vec![0, 1, 2, 3], vec![3, 1, 0])]);
    // As cheap as another and slower: beaten. Without a cost: no part of the front.
    steps[3] = path(3, EngineName::Mmap, 32, 1, 249e3, 3_000.0);
    steps[0].cpu = None;
    assert_eq!(judged(&steps), [(vec![0, 1, 2, 3], vec![1])]);
    // Bound threads are another load, and so is another group.
    steps[2].placement = PlacementKind::Cores;
    steps[3].group = "other".to_owned();
    assert_eq!(judged(&steps), [(vec![0, 1], vec![1])]);
    assert!(judged(&steps[4..]).is_empty());
}

#[test]
fn paths_whose_intervals_overlap_are_not_called_cheapest_or_soonest() {
    let mut steps = Vec::new();
    for (engine, threads, depth, iops, cpu_ns) in [
        (EngineName::Psync, 1, 1, 12e3, 9_000.0),
        (EngineName::IoUring, 1, 1, 12.01e3, 8_000.0),
        (EngineName::Libaio, 1, 32, 240e3, 4_020.0),
        (EngineName::IoUring, 1, 32, 250e3, 4_000.0),
    ] {
        let mut step = step(steps.len() as u32, 100, threads, depth);
        step.engine.name = engine;
        steps.push(with_cpu(seen(&step, iops, f64::from(threads * depth) / iops * 1e6), cpu_ns, 8));
    }
    let answer = english(&one("engines", &steps, None).answer);
    assert!(
        answer.contains("Which is cheapest is inconclusive: io_uring costs 4.00 us (95 % interval 3.91 us to 4.09 us) of CPU per I/O and libaio 4.02 us"),
        "{answer}"
    );
    assert!(
        answer.contains("One at a time, io_uring and psync have the same latency within 2 %: mean 83.3 us and 83.3 us, -0.1 % (95 % interval -0.8 to +0.6 %)."),
        "{answer}"
    );
    steps[3].iops_ci95 = None;
    let answer = english(&one("engines", &steps, None).answer);
    assert!(answer.contains("io_uring gives 250k IOPS, +4.2 % (no interval) over libaio."), "{answer}");
}

#[test]
fn paths_differ_by_what_their_plans_register_whatever_their_labels_say() {
    let mut steps = Vec::new();
    for (fixed_buffers, fixed_files, iops) in [(true, true, 260e3), (false, false, 240e3), (true, false, 250e3)] {
        let mut step = step(steps.len() as u32, 100, 1, 32);
        (step.engine.fixed_buffers, step.engine.fixed_files) = (fixed_buffers, fixed_files);
        step.role.label_parts = vec![LabelPart::Registration];
        step.label = "a label of somebody's own".to_owned();
        steps.push(seen(&step, iops, 32.0 / iops * 1e6));
    }
    let speeds = "4k random reads, 32 in flight: io_uring 260k IOPS ±0.5 % (+8.3 %) · \
                  io_uring fixed buffers only 250k IOPS ±0.5 % (+4.2 %) · io_uring unregistered 240k IOPS ±0.5 %.";
    holds(&one("engines", &steps, None), speeds);
    // Where no label says so, all steps register the same.
    steps.iter_mut().for_each(|s| s.role.label_parts.clear());
    let answer = english(&one("engines", &steps, None).answer);
    assert!(answer.starts_with("Only one path could be measured: io_uring with 260k IOPS"), "{answer}");
}

/// Rounds of a test that looks at its writes; the window is rounds 3 to 7.
fn rounds(test: &str, reached: bool) -> Vec<StepView> {
    let mut steps = Vec::new();
    for (index, factor) in (0..7).zip([1.8, 1.3, 1.01, 1.0, 0.99, 1.0, 1.0]) {
        for (read_pct, iops) in [(100, 540e3), (0, 182e3)] {
            let mut step = step(steps.len() as u32, read_pct, 4, 32);
            step.role.test = Some(test.into());
            let metric = (read_pct == 0).then_some(Metric::Iops);
            step.role.round = Some(Round { loop_id: 1, index, max: 25, metric });
            let mut view = seen(&step, iops * factor, 500.0);
            view.steady = Some(SteadyView {
                pts: Some(PtsView {
                    variable: TrackedFigure::Iops,
                    reached,
                    window: Some([3, 7]),
                    average: 182e3,
                    range_allowed: 36.4e3,
                    range: 3.64e3,
                    excursion_allowed: 18.2e3,
                    excursion: 0.7e3,
                    slope: -182.0,
                    intercept: 183e3,
                    line: "y = 183000 - 182 x".into(),
                    determination: if reached {
                        Message::verbatim("rounds 3..7")
                    } else {
                        Message::verbatim("NOT ACHIEVED")
                    },
                    drift_pct_per_round: -6.0,
                }),
                ..steadiness(reached)
            });
            steps.push(view);
        }
    }
    steps
}

#[test]
fn snia_says_in_which_round_it_was_steady_and_prints_the_table() {
    let verdict = one("snia", &rounds("iops", true), None);
    assert_eq!(
        english(&verdict.answer),
        "IOPS test: steady after 7 of at most 25 rounds; over rounds 3 to 7 4k random writes 182k IOPS ±0.9 %, 4k random reads 540k IOPS ±0.9 %. Steady means (SNIA PTS): over five rounds in a row the figure stays within 20 % of its average, and its trend within 10 %."
    );
    holds(
        &verdict,
        "IOPS test: rounds 3..7; average 182k IOPS, range 2 % of it (20 % allowed), slope over the window 0.4 % (10 % allowed), y = 183000 - 182 x.",
    );
    holds(&verdict, "IOPS test, 4k: reads 540k IOPS ±0.9 % · writes 182k IOPS ±0.9 %.");
    // Rounds are named as such, with the most that there could be.
    let headline = english(&verdict.brief.headline);
    assert!(headline.contains("steady after 7 of at most 25 rounds"), "{headline}");
    assert_eq!(words(&verdict.brief.rows[0].cells)[0], "steady after 7 of at most 25 rounds");
    let not = one("snia", &rounds("iops", false), None);
    assert_eq!(words(&not.brief.rows[0].cells)[0], "not steady after 7 of at most 25 rounds");
    assert!(
        english(&not.answer)
            .starts_with("IOPS test: not steady after 7 of at most 25 rounds; the last five rounds give"),
        "{}",
        english(&not.answer)
    );
    let writes: Vec<StepView> = rounds("wsat", true).into_iter().filter(|s| s.read_pct == 0).collect();
    assert_eq!(
        english(&one("snia", &writes, None).answer),
        "Write saturation: steady after 7 of at most 25 rounds; over rounds 3 to 7 4k random writes 182k IOPS ±0.9 %. It began with 328k IOPS and ended with 182k IOPS (-44.4 %) after 169 GiB written. Steady means (SNIA PTS): over five rounds in a row the figure stays within 20 % of its average, and its trend within 10 %."
    );
}

#[test]
fn a_loop_names_the_workload_that_it_looks_at_and_what_each_gave_over_the_window() {
    let [of] = &crate::loops(&rounds("iops", true))[..] else { panic!("one loop") };
    assert_eq!((of.tracked, of.rounds, of.test.as_deref()), (Some(1), 7, Some("iops")));
    let cells: Vec<(u32, f64)> = of.cells.iter().map(|c| (c.step, c.mean.round())).collect();
    assert_eq!(cells, [(4, 540e3), (5, 182e3)], "from round 3 on");
    assert!(of.cells[0].ci95.is_some());
}

#[test]
fn baseline_says_what_the_plain_path_gives_and_costs() {
    let mut steps = Vec::new();
    for (threads, depth, iops) in [(1, 1, 41e3), (1, 32, 183e3), (8, 1, 320e3), (8, 32, 540e3)] {
        let mut step = step(steps.len() as u32, 100, threads, depth);
        step.engine.name = EngineName::Libaio;
        let view = with_cpu(seen(&step, iops, f64::from(threads * depth) / iops * 1e6), 5_000.0, 8);
        steps.push(limited(view, LimitName::Device, "The drive gives no more."));
    }
    let verdict = one("baseline", &steps, None);
    assert_eq!(
        english(&verdict.answer),
        "This is the plain path: libaio, interrupts, nothing pinned or tuned. 4k random reads: 41.0k IOPS ±0.5 % one at a time (mean latency 24.4 us) and 540k IOPS ±0.5 % at most, at T8 QD32. One busy core carries 200k IOPS. The limit is the device."
    );
    holds(&verdict, "4k random reads: 8 threads against 1: QD 1 7.80x ±0.7 %, QD 32 2.95x ±0.7 %.");
    steps[0].iops_ci95 = Some([0.0, 400e3]);
    holds(
        &one("baseline", &steps, None),
        "4k random reads: 8 threads against 1: QD 1 7.80x (inconclusive), QD 32 2.95x ±0.7 %.",
    );
    steps[0].placement = PlacementKind::Cores;
    assert!(english(&one("baseline", &steps, None).answer).starts_with("This is not the plain path any more"));
}

#[test]
fn other_programs_on_the_device_are_named_apart_from_broken_laws() {
    let with = |index: u32, name: CheckName, cause: Option<CheckCause>| {
        let mut view = seen(&step(index, 100, 1, 1 << index), 10e3, 100.0);
        let check = |name: CheckName, ok, cause: Option<CheckCause>| CheckView {
            name,
            ok: Some(ok),
            sentence: fathom_message::Message::verbatim(""),
            cause,
        };
        view.checks = vec![check(CheckName::Bytes, true, None), check(name, false, cause)];
        view
    };
    let other = with(0, CheckName::Diskstats, Some(CheckCause::OtherLoad));
    let (deficit, law) = (with(1, CheckName::Diskstats, None), with(2, CheckName::LittlesLaw, None));
    let caveats = one("quick", &[other.clone(), deficit, law], None).caveats;
    assert_eq!(
        words(&caveats),
        [
            "A consistency check failed in: 4k random read T1 QD2, 4k random read T1 QD4; see the checks of each step.",
            "The device moved more than was asked for in: 4k random read T1 QD1; another program likely uses it: stop that program, or measure a device that nothing else uses.",
        ]
    );
    assert_eq!(one("quick", &[other], None).caveats.len(), 1, "no law is called broken for it");
    assert_eq!(
        words(&one("quick", &[with(0, CheckName::PageCache, None)], None).caveats),
        ["The page cache may have answered part of: 4k random read T1 QD1; these are not the drive's alone."],
    );
}

#[test]
fn a_run_without_io_is_answered_as_such_by_every_study() {
    let mut refused = samples::view(&step(0, 100, 1, 1), 0.0, 0.0);
    refused.ios = 0;
    refused.state = StepState::Refused;
    refused.reason = Some(Message::verbatim("no such device"));
    for study in ["quick", "baseline", "engines", "enterprise", "qos", "scaling", "snia", "pinning", "mine"] {
        let verdict = one(study, std::slice::from_ref(&refused), None);
        assert_eq!(english(&verdict.answer), "Nothing was measured: no step completed an I/O.", "{study}");
        assert!(words(&verdict.evidence)[0].ends_with("no such device"), "{study}: {:?}", verdict.evidence);
    }
}

#[test]
fn sequential_loads_come_last_and_are_named_by_their_bandwidth() {
    let mut sequential = step(1, 100, 1, 4);
    sequential.workload.pattern = Pattern::Sequential;
    sequential.workload.block_sizes[0].bytes = 128 << 10;
    let steps = [seen(&sequential, 25e3, 160.0), seen(&step(0, 100, 1, 4), 40e3, 100.0)];
    let verdict = one("enterprise", &steps, None);
    assert!(words(&verdict.evidence).iter().any(|e| e.contains("3.28 GB/s")), "{:?}", verdict.evidence);
}

#[test]
fn a_change_of_state_is_said_where_the_limit_says_so_whatever_its_sentence() {
    let steps = |change: Option<StateChange>, sentence: &Message| {
        let of = |index, depth, iops| seen(&step(index, 100, 1, depth), iops, 100.0);
        let mut fell = of(2, 64, 5_000.0);
        fell.limit.state_change = change;
        fell.limit.sentence = sentence.clone();
        [of(0, 1, 1_000.0), of(1, 8, 8_000.0), fell]
    };
    let said = |steps: &[StepView]| {
        let caveats = words(&one("my own", steps, None).caveats);
        caveats.iter().filter(|c| c.starts_with("Drives changed state during: ")).count()
    };
    for change in [StateChange::Slower, StateChange::Faster] {
        assert_eq!(said(&steps(Some(change), &Message::verbatim("something else"))), 1);
    }
    let sentence = msg!(
        "limit-state-changed-slower",
        in_flight = 8_u32,
        gain = Quantity::times(0.6),
        again = Quantity::times(0.6)
    );
    assert_eq!(said(&steps(None, &sentence)), 0, "nothing is read out of a sentence");
}
