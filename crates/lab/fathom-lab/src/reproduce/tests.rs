use std::collections::BTreeSet;

use fathom_model::catalogue::{FigureKind, PublishedMetric};
use fathom_sim::{builtin_machine, builtin_machines};

use super::*;

fn short() -> Window {
    Window { ramp_ms: 10, runtime_ms: 30, seed: 1 }
}

#[test]
fn an_unknown_article_names_the_nearest() {
    let error = cells_of("perc11-nvme-riad").unwrap_err();
    let ReproduceError::UnknownArticle { help, .. } = error else { panic!("{error}") };
    assert_eq!(help, msg!("did-you-mean", near = "perc11-nvme-raid"));
}

/// Without the pictures, which need twice as many steps.
fn table_of_all() -> Reproduction {
    let mut cells = Cells::embedded();
    cells.pictures.clear();
    reproduce(&cells, &Catalogue::embedded(), short(), &AtomicBool::new(false), &mut |_, _| {}).unwrap()
}

#[test]
fn the_articles_are_reproduced_as_far_as_the_project_claims() {
    let table = table_of_all();
    let sum = table.summary;
    let far: Vec<_> = table
        .figures
        .iter()
        .filter(|r| r.counted && r.contradiction.is_none() && r.error_pct.is_some_and(|e| e.abs() > 10.0))
        .map(|r| format!("{} {:+.1} %", r.id, r.error_pct.unwrap_or_default()))
        .collect();
    assert!(sum.figures >= 75 && sum.held_out >= 25, "{sum:?}");
    assert!(100 * sum.within_10_pct >= 85 * sum.figures, "{sum:?}, beyond 10 %: {far:?}");
    assert!(100 * sum.held_out_within_15_pct >= 60 * sum.held_out, "{sum:?}, beyond 10 %: {far:?}");
    assert_eq!(sum.unexplained, 0, "{far:?}");

    let contradicted: Vec<_> = table.figures.iter().filter(|r| r.contradiction.is_some()).map(|r| &r.id[..]).collect();
    assert_eq!(contradicted, ["oracle-randread-1ssd-bw", "oracle-randread-4ssd-bw"]);
    let mixed = table.figures.iter().find(|r| r.id == "h755n-r10-8k-mixed").unwrap();
    let beyond = mixed.predicted.unwrap() / mixed.published_max.unwrap() - 1.0;
    assert!((mixed.error_pct.unwrap() - 100.0 * beyond).abs() < 1e-9, "a range is missed by its nearer end: {mixed:?}");
    assert_eq!((mixed.fitted, mixed.published), (false, 1e6));
    let latency = table.figures.iter().find(|r| r.id == "sr-16t16q-4k-read-lat-pmem").unwrap();
    assert!(latency.fitted, "Little's law binds it to the fitted rate of the same step");
}

#[test]
fn no_parameter_exists_for_one_step_alone() {
    let (cells, catalogue) = (Cells::embedded(), Catalogue::embedded());
    for parameter in &cells.parameters {
        let mut steps = BTreeSet::new();
        for id in &parameter.fitted_to {
            assert!(catalogue.figure(id).is_ok(), "{}: no figure {id}", parameter.parameter);
            let cell = cells.cells.iter().position(|c| c.figures.contains(id));
            steps.insert(cell.map_or_else(|| id.clone(), |index| index.to_string()));
        }
        assert!(steps.len() >= 2, "{}: {:?} is one step", parameter.parameter, parameter.fitted_to);
    }
}

#[test]
fn fitted_parameters_have_the_listed_values_in_the_machine_files() {
    let text = |name: &str| builtin_machines().iter().find(|(known, _)| *known == name).expect("shipped").1;
    for p in &Cells::embedded().parameters {
        for name in &p.machines {
            let machine = builtin_machine(name).unwrap();
            let memory = p.parameter.starts_with("engine memory");
            let costs = machine.host.costs(if memory { "memory" } else { "libaio" }, "interrupt");
            let thread_us = (costs.user_ps + costs.submit_ps + costs.complete_ps) as f64 / 1e6;
            if p.parameter.contains("factor on the usual cost") {
                let (cost_us, usual_us) =
                    if memory { (thread_us, 2.8) } else { (thread_us + costs.interrupt_ps as f64 / 1e6, 3.6) };
                let factor: f64 = p.value.parse().unwrap();
                assert!((cost_us / usual_us - factor).abs() < 0.005, "{name}: {cost_us} us, {}", p.value);
            } else if p.parameter.contains("share of the rated rates") {
                assert!(text(name).contains(&format!("{} of eight times", p.value.replace('%', " %"))), "{name}");
            } else {
                assert!(text(name).contains(&format!("= \"{}\"", p.value)), "{name}: {} {}", p.parameter, p.value);
            }
        }
    }
}

#[test]
fn every_measured_figure_of_the_articles_has_a_step_or_a_reason_for_having_none() {
    let (cells, catalogue) = (Cells::embedded(), Catalogue::embedded());
    let mapped: Vec<&String> =
        cells.cells.iter().flat_map(|c| &c.figures).chain(cells.left_out.iter().map(|r| &r.figure)).collect();
    let metrics = [
        PublishedMetric::Iops,
        PublishedMetric::BytesPerS,
        PublishedMetric::LatMeanNs,
        PublishedMetric::CpuPct,
        PublishedMetric::IopsPerCore,
    ];
    for article in cells.articles() {
        for figure in catalogue.figures_of(article) {
            let counts = figure.kind == FigureKind::Measured && metrics.contains(&figure.metric);
            assert!(!counts || mapped.contains(&&figure.id), "{} has neither", figure.id);
        }
    }
}

#[test]
fn the_order_of_steps_does_not_change_what_they_give() {
    let mut cells = cells_of("r740xd-oracle").unwrap();
    let stop = AtomicBool::new(false);
    let run = |cells: &Cells| {
        let table = reproduce(cells, &Catalogue::embedded(), short(), &stop, &mut |_, _| {}).unwrap();
        let mut predicted: Vec<_> = table.figures.into_iter().map(|f| (f.id, f.predicted)).collect();
        predicted.sort_by(|a, b| a.0.cmp(&b.0));
        predicted
    };
    let forwards = run(&cells);
    cells.cells.reverse();
    assert_eq!(forwards, run(&cells));
}

#[test]
fn a_stop_ends_the_reproduction() {
    let stop = AtomicBool::new(true);
    let cells = cells_of("r740xd-oracle").unwrap();
    let error = reproduce(&cells, &Catalogue::embedded(), short(), &stop, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, ReproduceError::Interrupted), "{error}");
}
