//! Predictions before measurement: a ladder is screened for a few seconds, predicted, and only then measured.
//!
//! Each ladder is screened right before its first step and not all at the start: what a shared host gives changes.

use fathom_message::{Say as _, msg};
use fathom_model::{Observation, predict_steps, same_ladder, screen_steps};
use fathom_plan::{Phase, Step};
use fathom_record::{LadderPrediction, PredictedStep, ScreenedStep};

use super::steps::Conductor;
use super::{ConductError, Event, OnEvent, is_cut};

impl Conductor<'_> {
    /// Predicts the ladder of the first step: all that differ from it in their load only, up to the next step that
    /// conditions the targets, unless they were predicted before. Open loops are not predicted: their rate is given, or
    /// known only when they begin. The prediction is on the disk when this returns.
    ///
    /// # Errors
    /// [`ConductError`]. A screen that fails is not an error: what it would have shown is not predicted.
    pub(super) fn predict_ladder(
        &mut self,
        from_here: &[Step],
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), ConductError> {
        let due = |s: &&Step| !s.is_open_loop() && !self.past.predicted.contains(&s.index);
        let Some(first) = from_here.first().filter(due) else { return Ok(()) };
        let measured = from_here.iter().take_while(|s| s.phase == Phase::Measure).filter(|s| same_ladder(s, first));
        let segment: Vec<Step> = measured.filter(due).cloned().collect();
        self.past.predicted.extend(segment.iter().map(|s| s.index));
        let screens = screen_steps(&segment);
        on_event(Event::Note(&msg!("run-screening", screens = screens.len(), steps = segment.len())));
        let mut seen: Vec<Observation> = Vec::new();
        for screen in &screens {
            if self.stopped() {
                return Ok(());
            }
            let settings = self.run_step(screen, &mut |_| ())?;
            match settings {
                Ok(record) if is_cut(&record) => return Ok(()),
                Ok(record) => seen.push(Observation::of(screen, &record)),
                Err(failure) => {
                    let (label, why) = (screen.label.clone(), failure.message());
                    on_event(Event::Note(&msg!("run-screen-failed", step = label, why = why)));
                }
            }
        }
        let prediction = prediction_of(&seen, &segment, self.site.now().unix_ns);
        if prediction.steps.is_empty() {
            on_event(Event::Note(&msg!("run-nothing-predicted")));
            return Ok(());
        }
        self.lab.store_prediction(self.run, &prediction)?;
        on_event(Event::Predicted(&segment, &prediction));
        Ok(())
    }
}

fn prediction_of(seen: &[Observation], segment: &[Step], made_unix_ns: u64) -> LadderPrediction {
    let predicted = segment.iter().zip(predict_steps(seen, segment));
    let steps = predicted.filter_map(|(step, prediction)| {
        let prediction = prediction.filter(|p| p.iops.is_finite() && p.lat_ns_mean.is_finite())?;
        Some(PredictedStep { index: step.index, iops: prediction.iops, lat_mean_ns: prediction.lat_ns_mean })
    });
    let screens = seen.iter().filter(|o| o.iops() > 0.0).map(|o| ScreenedStep {
        label: o.step().label.clone(),
        in_flight: o.in_flight(),
        iops: o.iops(),
        lat_mean_ns: f64::from(o.in_flight()) * 1e9 / o.iops(),
    });
    LadderPrediction { made_unix_ns, screens: screens.collect(), steps: steps.collect() }
}
