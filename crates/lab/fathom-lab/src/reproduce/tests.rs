use super::*;

fn short() -> Window {
    Window { ramp_ms: 10, runtime_ms: 30, seed: 1 }
}

#[test]
fn an_unknown_article_names_the_nearest() {
    let error = cells_of("perc11-nvme-riad").unwrap_err();
    let ReproduceError::UnknownArticle { help, .. } = error else { panic!("{error}") };
    assert_eq!(help, "did you mean `perc11-nvme-raid`?");
}

#[test]
fn every_measured_figure_of_the_articles_has_a_step_or_a_reason_for_having_none() {
    let (cells, catalogue) = (Cells::embedded(), Catalogue::embedded());
    let mapped: Vec<&String> =
        cells.cells.iter().flat_map(|c| &c.figures).chain(cells.left_out.iter().map(|r| &r.figure)).collect();
    let metrics = ["iops", "bandwidth_bytes_per_s", "latency_us_mean", "cpu_pct", "iops_per_core"];
    for article in cells.articles() {
        for figure in catalogue.figures_of(article) {
            let counts = figure.kind == "measured" && metrics.contains(&figure.metric.as_str());
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
