//! What does a load that changes with time see in each stage, and how long does it take to recover?

use fathom_message::{Message, Quantity, Unit, msg};

use super::brief::{brief, rate_cell, report, row};
use super::kind::Kind;
use super::parts::{p99, sentences, verdict};
use crate::document::{BriefRow, Figure, StageView, StepView, Verdict};

/// One answer for each step whose load changes.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let staged = steps.iter().filter(|s| s.ios > 0 && s.stages.len() > 1);
    staged.map(|step| of_step(question, step, run)).collect()
}

/// Whether a step is answered here.
pub(super) fn is_staged(step: &StepView) -> bool {
    !step.stages.is_empty()
}

fn peak_iops(stage: &StageView) -> f64 {
    stage.asked_from_iops.max(stage.asked_to_iops)
}

fn of_step(question: &Message, step: &StepView, run: i64) -> Verdict {
    let heaviest = step.stages.iter().max_by(|a, b| peak_iops(a).total_cmp(&peak_iops(b)));
    let heaviest = heaviest.expect("a staged step has stages");
    let calm = step.stages.iter().filter(|s| s.lat_ns.is_some()).min_by(|a, b| peak_iops(a).total_cmp(&peak_iops(b)));
    let calm = calm.filter(|calm| peak_iops(calm) < peak_iops(heaviest));
    let longest = step.stages.iter().filter(|s| s.recovery_s.is_some()).max_by(|a, b| {
        (!a.is_recovered, a.recovery_s)
            .partial_cmp(&(!b.is_recovered, b.recovery_s))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let at_peak = gives(heaviest);
    let headline = match (calm, longest.and_then(recovery)) {
        (Some(calm), Some(recovery)) => {
            msg!("stages-headline-recovery", peak = at_peak, calm = gives(calm), recovery = recovery)
        }
        (Some(calm), None) => msg!("stages-headline", peak = at_peak, calm = gives(calm)),
        (None, Some(recovery)) => msg!("stages-headline-peak-recovery", peak = at_peak, recovery = recovery),
        (None, None) => msg!("stages-headline-peak", peak = at_peak),
    };
    let rows = step.stages.iter().zip(1..).map(|(stage, number)| stage_row(stage, number));
    let answer = sentences([msg!("stages-of", kind = Kind::of(step).message()), headline.clone()]);
    let evidence = step.stages.iter().zip(1..).map(|(stage, number)| sentence(stage, number)).collect();
    let figures = step.stages.iter().zip(1..).filter_map(|(stage, number)| figure(step, stage, number)).collect();
    verdict(question, brief(headline, rows, Some(report(run))), answer, evidence, figures, std::slice::from_ref(step))
}

/// `At 40.0k IOPS p99 is 14.2 ms`, or what was left over.
fn gives(stage: &StageView) -> Message {
    let asked = asked(stage);
    match (&stage.lat_ns, stage.is_kept) {
        (_, false) => {
            msg!("stage-not-kept", asked = asked, backlog = Quantity::new(stage.backlog_ios as f64, Unit::Count))
        }
        (Some(lat), true) => match p99(lat) {
            Some(p99) => msg!("stage-p99", asked = asked, p99 = Quantity::ns(p99.value)),
            None => msg!("stage-mean", asked = asked, mean = Quantity::ns(lat.mean)),
        },
        (None, true) => msg!("stage-nothing", asked = asked),
    }
}

/// `40.0k IOPS`, `5.00k to 40.0k IOPS`.
fn asked(stage: &StageView) -> Message {
    match stage.asked_from_iops == stage.asked_to_iops {
        true => msg!("stage-rate", rate = Quantity::iops(stage.asked_to_iops)),
        false => {
            msg!("stage-rates", from = Quantity::iops(stage.asked_from_iops), to = Quantity::iops(stage.asked_to_iops))
        }
    }
}

fn recovery(stage: &StageView) -> Option<Message> {
    let seconds = stage.recovery_s?;
    Some(match stage.is_recovered {
        true => msg!("stage-recovered", time = Quantity::ns(seconds * 1e9)),
        false => msg!("stage-not-recovered", time = Quantity::ns(seconds * 1e9)),
    })
}

fn name(stage: &StageView, number: u32) -> Message {
    msg!("stage-name", number = number, asked = asked(stage), time = Quantity::ns(stage.length_s * 1e9))
}

fn stage_row(stage: &StageView, number: u32) -> BriefRow {
    let latency = stage.lat_ns.as_ref().map(|lat| match p99(lat) {
        Some(p99) => msg!("brief-cell-p99", p99 = Quantity::ns(p99.value)),
        None => msg!("brief-cell-mean", mean = Quantity::ns(lat.mean)),
    });
    let left =
        (!stage.is_kept).then(|| msg!("stage-cell-left", ios = Quantity::new(stage.backlog_ios as f64, Unit::Count)));
    let cells = [Some(rate_cell(Quantity::iops(stage.iops))), latency, left, recovery(stage)];
    row(name(stage, number), cells.into_iter().flatten())
}

fn sentence(stage: &StageView, number: u32) -> Message {
    let parts = [gives(stage)].into_iter().chain(recovery(stage)).collect::<Vec<_>>();
    let what = fathom_message::Arg::list(parts, fathom_message::Join::Comma);
    msg!("stage-gives", name = name(stage, number), rate = Quantity::iops(stage.iops), what = what)
}

fn figure(step: &StepView, stage: &StageView, number: u32) -> Option<Figure> {
    let lat = p99(stage.lat_ns.as_ref()?)?;
    Some(Figure {
        name: msg!("stage-figure", number = number, asked = asked(stage)),
        value: lat.value,
        unit: Unit::Ns,
        ci95: lat.ci95,
        load: step.label_message.clone(),
        step: step.index,
    })
}
