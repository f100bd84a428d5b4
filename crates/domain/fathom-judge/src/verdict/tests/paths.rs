//! Which path for which load, and where paths cross.

use super::*;

/// Engine, threads, depth, IOPS, CPU time per I/O.
type Load = (EngineName, u32, u32, f64, f64);

fn answered(loads: &[Load]) -> Verdict {
    one("engines", &steps_of(loads), None)
}

fn steps_of(loads: &[Load]) -> Vec<StepView> {
    let mut steps = Vec::new();
    for (engine, threads, depth, iops, cpu_ns) in loads {
        let mut step = step(steps.len() as u32, 100, *threads, *depth);
        step.engine.name = *engine;
        let latency_us = f64::from(threads * depth) / iops * 1e6;
        steps.push(with_cpu(seen(&step, *iops, latency_us), *cpu_ns, 8));
    }
    steps
}

/// psync is ahead alone, io_uring with four, and a drive in user space with more; io_uring is cheaper from four on.
const LADDERS: [Load; 10] = [
    (EngineName::Psync, 1, 1, 12e3, 5_000.0),
    (EngineName::IoUring, 1, 1, 11e3, 8_000.0),
    (EngineName::Psync, 4, 1, 40e3, 5_000.0),
    (EngineName::IoUring, 1, 4, 44e3, 4_000.0),
    (EngineName::Nvme, 1, 4, 42e3, 9_000.0),
    (EngineName::Psync, 32, 1, 200e3, 5_000.0),
    (EngineName::IoUring, 1, 32, 250e3, 3_000.0),
    (EngineName::Nvme, 1, 32, 400e3, 2_500.0),
    (EngineName::IoUring, 1, 128, 300e3, 3_000.0),
    (EngineName::Nvme, 1, 128, 600e3, 1_600.0),
];

#[test]
fn the_best_path_of_each_load_is_named_and_where_paths_cross() {
    let verdict = answered(&LADDERS);
    let choice = "Which path for your load: for the most IOPS psync at 1 in flight, io_uring at 4 in flight, nvme from 32 \
                  to 128 in flight; for the least CPU per I/O psync at 1 in flight, io_uring at 4 in flight, nvme from 32 \
                  to 128 in flight.";
    let answer = english(&verdict.answer);
    assert!(answer.ends_with(choice), "{answer}");
    holds(
        &verdict,
        "Where paths cross in IOPS, 4k random reads: io_uring overtakes psync between 1 and 4 in flight, nvme overtakes \
         io_uring between 4 and 32 in flight.",
    );
    holds(
        &verdict,
        "Where paths cross in CPU per I/O, 4k random reads: io_uring becomes cheaper than psync between 1 and 4 in \
         flight, nvme becomes cheaper than psync with a thread for each between 4 and 32 in flight, nvme becomes cheaper \
         than io_uring between 4 and 32 in flight.",
    );
    let row = verdict.brief.rows.iter().find(|row| english(&row.name) == "fastest by load").expect("a row of choices");
    assert_eq!(words(&row.cells)[2], "nvme from 32 to 128 in flight");
}

#[test]
fn what_spdk_found_is_a_check_on_a_path_and_none_of_its_own() {
    let loads = [
        (EngineName::IoUring, 1, 32, 250e3, 3_000.0),
        (EngineName::Nvme, 1, 32, 400e3, 2_500.0),
        (EngineName::Spdk, 1, 32, 420e3, 2_900.0),
    ];
    let steps = steps_of(&loads);
    let verdict = one("engines", &steps, None);
    assert!(!english(&verdict.answer).contains("spdk"), "{}", english(&verdict.answer));
    let said = words(&verdict.evidence);
    let check = said.iter().find(|line| line.starts_with("By spdk_nvme_perf")).unwrap_or_else(|| panic!("{said:?}"));
    for part in [
        "nvme with 32 in flight: 420k IOPS",
        "here 400k IOPS",
        "CPU per I/O, with its start-up: 2.90 us",
        "here 2.50 us",
    ] {
        assert!(check.contains(part), "{part}: {check}");
    }
    // A path that is alone is checked, too.
    let alone = one("engines", &steps_of(&loads[1..]), None);
    assert!(words(&alone.evidence).iter().any(|line| line.starts_with("By spdk_nvme_perf")), "{:?}", alone.evidence);
    let paths = crate::verdict::paths(&steps);
    assert_eq!(paths.iter().map(|path| path.steps.clone()).collect::<Vec<_>>(), [[0, 1]]);
}

#[test]
fn nothing_is_said_of_loads_whose_intervals_overlap_or_are_not_there() {
    let mut steps = steps_of(&LADDERS);
    // Alone and with four they are not told apart: neither a best path nor a crossing before 32.
    for index in [0, 1, 2, 3, 4] {
        steps[index].iops_ci95 = Some([1e3, 100e3]);
    }
    // Without an interval nothing is known, however large the figure.
    steps[9].iops_ci95 = None;
    let verdict = one("engines", &steps, None);
    let answer = english(&verdict.answer);
    assert!(answer.contains("for the most IOPS nvme at 32 in flight; for the least CPU"), "{answer}");
    assert!(words(&verdict.evidence).iter().all(|line| !line.contains("cross in IOPS")), "{:?}", verdict.evidence);
    steps.iter_mut().for_each(|step| (step.iops_ci95, step.cpu) = (None, None));
    let verdict = one("engines", &steps, None);
    assert!(!english(&verdict.answer).contains("Which path"), "{}", english(&verdict.answer));
    assert!(words(&verdict.evidence).iter().all(|line| !line.contains("cross")), "{:?}", verdict.evidence);
    assert!(verdict.brief.rows.iter().all(|row| english(&row.name) != "fastest by load"));
}

/// The fastest path, the cheapest, and the best of every engine that was measured, one of them at another depth alone.
#[test]
fn a_first_look_names_the_fastest_and_the_cheapest_path_and_the_best_of_each_engine() {
    let loads = [
        (EngineName::Psync, 32, 1, 200e3, 9_000.0),
        (EngineName::Libaio, 1, 32, 240e3, 4_000.0),
        (EngineName::IoUring, 1, 32, 250e3, 2_000.0),
        (EngineName::Nvme, 1, 32, 400e3, 2_500.0),
        (EngineName::Mmap, 64, 1, 90e3, 9_000.0),
    ];
    let rows_of = |verdict: &Verdict| -> Vec<(String, String)> {
        verdict.brief.rows.iter().map(|row| (english(&row.name), words(&row.cells).join(" | "))).collect()
    };
    let row = |name: &str, cells: &str| (name.to_owned(), cells.to_owned());
    let mut steps = steps_of(&loads);
    let verdict = one("engines", &steps, None);
    assert_eq!(
        english(&verdict.brief.headline),
        "nvme is fastest with 32 I/Os in flight: 400k IOPS ±0.5 %; cheapest is io_uring, 2.00 us of CPU per I/O."
    );
    let rows = rows_of(&verdict);
    assert_eq!(
        rows[..3],
        [
            row("fastest", "nvme | 400k IOPS ±0.5 % | CPU/IO 2.50 us ±2.4 %"),
            row("cheapest", "io_uring | 250k IOPS ±0.5 % | CPU/IO 2.00 us ±2.4 %"),
            row(
                "best of each",
                "nvme 400k ±0.5 % | io_uring 250k ±0.5 % | libaio 240k ±0.5 % | psync 200k ±0.5 % | mmap 90.0k ±0.5 % with \
                 64 in flight"
            ),
        ]
    );
    // Intervals that overlap decide nothing: all paths that may be the fastest are named.
    steps[2].iops_ci95 = Some([150e3, 350e3]);
    steps[3].iops = 260e3;
    steps[3].iops_ci95 = Some([200e3, 320e3]);
    let verdict = one("engines", &steps, None);
    let headline = english(&verdict.brief.headline);
    assert!(
        headline.starts_with(
            "nvme (260k ±23.1 %) or one of io_uring, libaio is fastest with 32 I/Os (inconclusive); cheapest is"
        ),
        "{headline}"
    );
    assert_eq!(rows_of(&verdict)[0], row("fastest", "inconclusive: nvme 260k ±23.1 % or io_uring 250k ±40.0 %"));
    // A slower path without an interval is a rival, too, and the row agrees with the headline.
    steps[3].iops_ci95 = Some([259e3, 261e3]);
    steps[2].iops_ci95 = Some([199e3, 201e3]);
    steps[2].iops = 200e3;
    for step in steps.iter_mut().filter(|step| step.engine == fathom_plan::EngineName::Libaio) {
        step.iops = 190e3;
        step.iops_ci95 = None;
    }
    let verdict = one("engines", &steps, None);
    let headline = english(&verdict.brief.headline);
    assert!(headline.starts_with("nvme (260k ±0.4 %) or libaio is fastest"), "{headline}");
    assert_eq!(rows_of(&verdict)[0], row("fastest", "inconclusive: nvme 260k ±0.4 % or libaio 190k"));
    steps.iter_mut().for_each(|step| step.cpu = None);
    let verdict = one("engines", &steps, None);
    assert!(rows_of(&verdict).iter().all(|(name, _)| name != "cheapest"));
}
