//! Predictions beside what was measured: their errors per step, and the median over the run.

use fathom_record::LadderPrediction;

use crate::document::{PredictedView, PredictionView, ScreenView, StepView};
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
    }

    #[test]
    fn a_run_without_predictions_has_none() {
        assert_eq!(set_predicted(&mut [], &[]), None);
        assert_eq!(median_of_sizes([3.0, -1.0].into_iter()), Some(2.0));
    }
}
