//! Probes that took turns with the step they explain (A B B A): the gain is that of the block, whatever drifted since.

use fathom_plan::{Step, Turn};

use super::Observation;
use super::depth::{ERROR_WITHOUT_INTERVAL, HALF_WIDTH_ERRORS};
use super::observation::Levelled;

/// Puts the probes of each block on the level of the step that they explain: the rate of that step times what the block's
/// probes gave over its own repeats. The first probe then stands for the block, and the other steps of it are no
/// neighbours. A block that was stopped before its first probe says nothing.
pub fn level_turns(all: &mut [Observation]) {
    let mut blocks: Vec<Turn> = all.iter().filter_map(|o| o.step.role.turn).collect();
    blocks.sort_unstable_by_key(|turn| turn.block);
    blocks.dedup_by_key(|turn| turn.block);
    for block in blocks {
        let level = level_of(all, block);
        let mut is_first = true;
        for o in all.iter_mut().filter(|o| is_in(&o.step, block)) {
            let stands = is_first && o.step.role.turn.is_some_and(|turn| turn.is_probe) && o.ios > 0;
            is_first &= !stands;
            o.is_folded = !stands;
            o.levelled = level.filter(|_| stands);
        }
    }
}

fn is_in(step: &Step, block: Turn) -> bool {
    step.role.turn.is_some_and(|turn| turn.block == block.block)
}

/// IOPS of a block's probe on the level of the step that it explains, and half the width of their 95 % interval as a share.
fn level_of(all: &[Observation], block: Turn) -> Option<Levelled> {
    let explained = all.iter().find(|o| o.step.index == block.explains && o.step.role.turn.is_none())?;
    let of = |is_probe: bool| {
        let part = |o: &&Observation| is_in(&o.step, block) && o.step.role.turn.is_some_and(|t| t.is_probe == is_probe);
        mean(all.iter().filter(part).filter(|o| o.ios > 0))
    };
    let ((base, base_error), (probe, probe_error)) = (of(false)?, of(true)?);
    Some(Levelled { iops: explained.measured_iops() * probe / base, rel_half_width: base_error.hypot(probe_error) })
}

/// Mean IOPS of steps, and half the width of its interval as a share; `None` of none.
fn mean<'a>(steps: impl Iterator<Item = &'a Observation>) -> Option<(f64, f64)> {
    let half = |o: &Observation| o.iops_rel_half_width.unwrap_or(HALF_WIDTH_ERRORS * ERROR_WITHOUT_INTERVAL);
    let (rates, squares): (Vec<f64>, Vec<f64>) = steps.map(|o| (o.measured_iops(), half(o).powi(2))).unzip();
    let n = rates.len() as f64;
    (n > 0.0).then(|| (rates.iter().sum::<f64>() / n, squares.iter().sum::<f64>().sqrt() / n))
}
