//! From a ladder to its steps: the ordered product of its knobs.

use std::ops::Range;

use super::text::Source;
use super::{Group, STEPS_MAX, Setting};
use crate::error::SourceError;
use crate::knobs::{KnobError, Knobs, knob, push_note};
use crate::step::Step;

/// One value of an axis.
#[derive(Clone, Debug)]
pub(super) struct LadderValue {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// A knob and the values it takes, at least one.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: String,
    /// `None`: from `--set`; the spans of the values then mean nothing.
    pub(super) key_span: Option<Range<usize>>,
    pub(super) values: Vec<LadderValue>,
}

/// Axes, outermost loop first.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    pub(super) span: Range<usize>,
    pub(super) axes: Vec<Axis>,
    /// So many of the last axes are run forwards, then backwards.
    pub(super) interleaved: usize,
    pub(super) targets: Option<Vec<String>>,
}

impl Ladder {
    pub(super) fn single(span: Range<usize>) -> Self {
        Ladder { span, axes: Vec::new(), interleaved: 0, targets: None }
    }

    /// Lets `--set` replace axes: a single value removes the axis, a list takes its place or becomes the innermost.
    pub(super) fn override_axes(&mut self, scalars: &[Setting], lists: &[Axis]) {
        let name = |key: &str| knob(key).map(|k| k.name);
        for scalar in scalars {
            if let Some(i) = self.axes.iter().position(|a| name(&a.key) == name(&scalar.key)) {
                self.remove(i);
            }
        }
        for list in lists {
            match self.axes.iter().position(|a| name(&a.key) == name(&list.key)) {
                Some(i) => self.axes[i] = list.clone(),
                // Inside the loops of the file, but outside the interleaved ones.
                None => self.axes.insert(self.axes.len() - self.interleaved, list.clone()),
            }
        }
    }

    fn remove(&mut self, i: usize) {
        if i >= self.axes.len() - self.interleaved {
            self.interleaved -= 1;
        }
        self.axes.remove(i);
    }
}

/// What all ladders of a study share.
pub(super) struct Job<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) defaults: &'a [Setting],
    pub(super) overrides: &'a [Setting],
    pub(super) groups: &'a [Group],
}

impl Job<'_> {
    /// Appends the steps of `ladder` to `steps`.
    pub(super) fn unfold(
        &self,
        ladder: &Ladder,
        steps: &mut Vec<Step>,
        notes: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        let cells_max = STEPS_MAX / self.groups.len();
        let counts = ladder.axes.iter().map(|a| a.values.len());
        let cells = counts.clone().try_fold(1usize, usize::checked_mul).filter(|n| *n <= cells_max);
        let Some(cells) = cells else {
            let message = format!("this ladder has more than {STEPS_MAX} steps");
            return Err(self.source.error(ladder.span.clone(), &message, Some("shorten its lists")));
        };
        let inner: usize = counts.skip(ladder.axes.len() - ladder.interleaved).product();
        let first = steps.len();
        let mut repeated = 0usize;
        let mut block: Vec<Step> = Vec::new();
        for cell in 0..cells {
            let step = self.build(ladder, cell, notes)?;
            if is_known(&steps[first..], &step) || is_known(&block, &step) {
                repeated += 1;
            } else {
                block.push(step);
            }
            if (cell + 1) % inner == 0 {
                self.flush(&mut block, ladder.interleaved > 0 && inner > 1, steps);
                self.check_count(ladder, steps)?;
            }
        }
        if repeated > 0 {
            push_note(
                notes,
                format!("cells of a ladder that equal another cell of it are run once: {repeated} left out"),
            );
        }
        Ok(())
    }

    fn check_count(&self, ladder: &Ladder, steps: &[Step]) -> Result<(), SourceError> {
        if steps.len() <= STEPS_MAX {
            return Ok(());
        }
        let message = format!("the plan has more than {STEPS_MAX} steps");
        Err(self.source.error(ladder.span.clone(), &message, Some("shorten the lists of its ladders")))
    }

    /// Moves a block of cells into the plan, forwards and (interleaved) backwards, each for all groups.
    fn flush(&self, block: &mut Vec<Step>, interleaved: bool, steps: &mut Vec<Step>) {
        let mut order: Vec<&Step> = block.iter().collect();
        if interleaved {
            order.extend(block.iter().rev());
        }
        for step in order {
            for (group, targets) in self.groups {
                steps.push(Step { group: group.clone(), targets: targets.clone(), ..step.clone() });
            }
        }
        block.clear();
    }

    /// The step of cell number `cell`, the last axis counting fastest.
    fn build(&self, ladder: &Ladder, cell: usize, notes: &mut Vec<String>) -> Result<Step, SourceError> {
        let mut chosen = vec![0; ladder.axes.len()];
        let mut rest = cell;
        for (i, axis) in ladder.axes.iter().enumerate().rev() {
            chosen[i] = rest % axis.values.len();
            rest /= axis.values.len();
        }
        let mut knobs = Knobs::new();
        let blame = |e: &KnobError| self.blame(ladder, &chosen, e);
        for setting in self.defaults {
            knobs.set(&setting.key, &setting.value).map_err(|e| blame(&e))?;
        }
        for (axis, i) in ladder.axes.iter().zip(&chosen) {
            knobs.set(&axis.key, &axis.values[*i].text).map_err(|e| blame(&e))?;
        }
        for setting in self.overrides {
            knobs.set(&setting.key, &setting.value).map_err(|e| blame(&e))?;
        }
        let (group, targets) = &self.groups[0];
        knobs.build(0, group, targets.clone(), notes).map_err(|e| blame(&e))
    }

    /// The place of the knob at fault: as set last, or the ladder when nobody set it.
    fn blame(&self, ladder: &Ladder, chosen: &[usize], error: &KnobError) -> SourceError {
        let same = |key: &str| knob(key).map(|k| k.name) == knob(&error.key).map(|k| k.name);
        if let Some(s) = self.overrides.iter().rfind(|s| same(&s.key)) {
            let origin = format!("--set {}={}", s.key, s.value);
            return SourceError::without_place(&origin, error.message.clone(), error.help.clone());
        }
        let axis = ladder.axes.iter().zip(chosen).find(|(a, _)| same(&a.key));
        let span = match axis {
            Some((Axis { key, key_span: None, values }, i)) => {
                let origin = format!("--set {key}={}", values[*i].text);
                return SourceError::without_place(&origin, error.message.clone(), error.help.clone());
            }
            Some((axis, i)) => Some(axis.values[*i].span.clone()),
            None => self.defaults.iter().rfind(|s| same(&s.key)).and_then(|s| s.spans.clone()).map(|(_, value)| value),
        };
        self.source.knob_error(error, span.unwrap_or_else(|| ladder.span.clone()))
    }
}

/// Whether a step that does the same is there already.
fn is_known(steps: &[Step], step: &Step) -> bool {
    steps.iter().any(|s| {
        s.label == step.label
            && s.workload == step.workload
            && s.load == step.load
            && s.engine == step.engine
            && s.placement == step.placement
            && s.length == step.length
    })
}
