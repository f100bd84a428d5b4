//! Predictions beside what was measured: their errors per step, and the median over the run.

use fathom_message::{Message, Quantity, msg};
use fathom_record::LadderPrediction;

use crate::document::{Brief, BriefRow, PredictedView, PredictionView, ScreenView, StepView};
use crate::rfc3339::rfc3339;

/// Writes the predictions to their steps; the summary of all, `None` when nothing was predicted.
pub fn set_predicted(steps: &mut [StepView], predictions: &[LadderPrediction]) -> Option<PredictionView> {
    let first = predictions.first()?;
    for prediction in predictions {
        for predicted in &prediction.steps {
            let Some(view) = steps.iter_mut().find(|s| s.index == predicted.index) else { continue };
            let lat_ns = view.lat_ns.as_ref().map(|l| l.mean);
            view.predicted = Some(PredictedView {
                iops: predicted.iops,
                lat_ns_mean: predicted.lat_mean_ns,
                iops_error_pct: error_pct(predicted.iops, (view.ios > 0).then_some(view.iops)),
                lat_error_pct: error_pct(predicted.lat_mean_ns, lat_ns),
                made: Some(rfc3339(prediction.made_unix_ns)),
            });
        }
    }
    let all = || steps.iter().filter_map(|s| s.predicted.as_ref());
    let screens = predictions.iter().flat_map(|p| &p.screens).map(|s| ScreenView {
        label: s.label.clone(),
        in_flight: s.in_flight,
        iops: s.iops,
        lat_ns_mean: s.lat_mean_ns,
    });
    Some(PredictionView {
        made: rfc3339(first.made_unix_ns),
        screens: screens.collect(),
        steps: all().filter(|p| p.iops_error_pct.is_some()).count() as u32,
        iops_error_pct_median: median_of_sizes(all().filter_map(|p| p.iops_error_pct)),
        lat_error_pct_median: median_of_sizes(all().filter_map(|p| p.lat_error_pct)),
    })
}

/// Rows of the answer before that of the prediction: a terminal shows three before the details.
const ROWS_BEFORE: usize = 2;

/// Puts into the answer how near the prediction came, which is what was asked of it.
pub fn add_prediction(brief: &mut Brief, prediction: &PredictionView, steps: &[StepView]) {
    let row = BriefRow { name: msg!("brief-row-predicted"), cells: prediction_cells(prediction, steps) };
    brief.rows.insert(brief.rows.len().min(ROWS_BEFORE), row);
    brief.rows.truncate(Brief::ROWS_MAX);
}

/// The median error of IOPS, and the step that was farthest from its prediction.
fn prediction_cells(prediction: &PredictionView, steps: &[StepView]) -> Vec<Message> {
    let Some(error_pct) = prediction.iops_error_pct_median else { return vec![msg!("brief-cell-predicted-none")] };
    let known = steps.iter().filter_map(|s| Some((s, s.predicted.as_ref()?)));
    let farthest = known
        .filter_map(|(step, predicted)| Some((step, predicted.iops_error_pct?)))
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let of_farthest = farthest.map(|(step, error_pct)| {
        msg!(
            "brief-cell-predicted-farthest",
            steps = prediction.steps,
            load = step.label_message.clone(),
            error = Quantity::change(1.0 + error_pct / 100.0)
        )
    });
    let error =
        msg!("brief-cell-predicted", steps = prediction.steps, iops = Quantity::pct((error_pct * 10.0).round() / 10.0));
    std::iter::once(error).chain(of_farthest).collect()
}

/// Predicted / measured - 1 in percent.
fn error_pct(predicted: f64, measured: Option<f64>) -> Option<f64> {
    measured.filter(|m| *m > 0.0).map(|m| (predicted / m - 1.0) * 100.0)
}

pub(crate) fn median_of_sizes(errors: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sizes: Vec<f64> = errors.map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let middle = sizes.len() / 2;
    match sizes.len() {
        0 => None,
        n if n % 2 == 1 => Some(sizes[middle]),
        _ => Some(sizes[middle - 1].midpoint(sizes[middle])),
    }
}

#[cfg(test)]
mod tests {
    use fathom_record::PredictedStep;

    use super::*;
    use crate::samples::{record, step};
    use crate::view::step_view;

    #[test]
    fn errors_are_predicted_over_measured_and_their_median_is_of_sizes() {
        let mut steps: Vec<StepView> = [1000, 2000, 4000]
            .into_iter()
            .zip(0..)
            .map(|(ios, index)| {
                let mut view = step_view(&step(), Ok(&record(&[ios])));
                view.index = index;
                view
            })
            .collect();
        let step = |index, iops| PredictedStep { index, iops, lat_mean_ns: 80_000.0 };
        let prediction = LadderPrediction {
            made_unix_ns: 0,
            screens: Vec::new(),
            steps: vec![step(0, 1100.0), step(1, 1000.0), step(2, 4040.0), step(7, 1.0)],
        };
        let summary = set_predicted(&mut steps, &[prediction]).expect("a prediction");
        let errors: Vec<i64> = steps
            .iter()
            .map(|s| s.predicted.as_ref().and_then(|p| p.iops_error_pct).expect("measured").round() as i64)
            .collect();
        assert_eq!(errors, [10, -50, 1]);
        assert_eq!(summary.iops_error_pct_median.map(|x| x.round() as i64), Some(10));
        assert_eq!((summary.steps, summary.made.as_str()), (3, "1970-01-01T00:00:00Z"));
        // The row stands among those that a terminal shows, and the table keeps its size.
        let rows =
            |count| (0..count).map(|i| BriefRow { name: Message::verbatim(format!("row {i}")), cells: Vec::new() });
        for (before, place) in [(1, 1), (2, 2), (Brief::ROWS_MAX, 2)] {
            let mut brief = Brief { rows: rows(before).collect(), ..Brief::default() };
            add_prediction(&mut brief, &summary, &steps);
            assert_eq!(brief.rows.len(), (before + 1).min(Brief::ROWS_MAX));
            let said: Vec<String> = brief.rows[place].cells.iter().map(fathom_language::english).collect();
            assert_eq!(said[0], "median error 10 %");
            assert!(said[1].starts_with("worst -50.0 % at "), "{said:?}");
        }
        let none = PredictionView { iops_error_pct_median: None, ..summary };
        assert_eq!(prediction_cells(&none, &steps), [msg!("brief-cell-predicted-none")]);
    }

    #[test]
    fn a_run_without_predictions_has_none() {
        assert_eq!(set_predicted(&mut [], &[]), None);
        assert_eq!(median_of_sizes([3.0, -1.0].into_iter()), Some(2.0));
    }
}
