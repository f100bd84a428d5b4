//! From a ladder to its steps: the ordered product of its knobs.

use std::ops::Range;

use fathom_message::{Message, Say, msg};

use super::text::Source;
use super::{Group, STEPS_MAX, Setting};
use crate::array::ArrayNameError;
use crate::condition::Planned;
use crate::error::SourceError;
use crate::knobs::{KnobError, Knobs, knob, push_note};
use crate::label::set_label;
use crate::role::{ArmPart, Block, HostSetting, LabelPart, Metric, Round};
use crate::step::{Step, TargetId};
use crate::stream::at_once;

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

/// The figure that must become steady over rounds, and the values of the cell it is taken from.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) metric: Metric,
    pub(super) cell: Vec<(String, String)>,
}

/// `--versus`: each cell also with this knob or setting.
#[derive(Clone, Debug)]
pub(super) struct Versus {
    pub(super) key: String,
    pub(super) value: String,
}

/// A load of a ladder whose loads run at once.
#[derive(Clone, Debug)]
pub(super) struct StreamSpec {
    pub(super) span: Range<usize>,
    pub(super) name: String,
    /// Knobs of this stream alone; those with several values are loops inside the ladder's.
    pub(super) axes: Vec<Axis>,
    /// Its own targets; the ladder's where there are none.
    pub(super) targets: Option<Vec<String>>,
}

/// Blocks of a comparison that does not say how many: six pairs, the fewest that give an interval.
const VERSUS_BLOCKS: u32 = 3;

/// Axes, outermost loop first.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    pub(super) span: Range<usize>,
    pub(super) name: Option<String>,
    pub(super) axes: Vec<Axis>,
    /// So many of the last axes are run forwards, then backwards.
    pub(super) interleaved: usize,
    /// How often forwards and backwards.
    pub(super) blocks: Option<u32>,
    pub(super) versus: Option<Versus>,
    /// Most rounds of the whole ladder.
    pub(super) rounds: Option<u32>,
    pub(super) track: Option<Track>,
    pub(super) targets: Option<Vec<String>>,
    /// Loads that run at once in each cell; empty: each cell is one step.
    pub(super) streams: Vec<StreamSpec>,
}

impl Ladder {
    pub(super) fn single(span: Range<usize>) -> Self {
        Ladder {
            span,
            name: None,
            axes: Vec::new(),
            interleaved: 0,
            blocks: None,
            versus: None,
            rounds: None,
            track: None,
            targets: None,
            streams: Vec::new(),
        }
    }

    /// Whether one of its loops gives the knob `key` that value alone.
    pub(super) fn is_all(&self, key: &str, value: &str) -> bool {
        let is_that = |axis: &&Axis| axis.key == key;
        self.axes.iter().find(is_that).is_some_and(|axis| axis.values.iter().all(|of| of.text == value))
    }

    /// Whether one of its loops is over that knob.
    pub(super) fn names(&self, key: &str) -> bool {
        let name = |key: &str| knob(key).map(|k| k.name);
        self.axes.iter().any(|axis| name(&axis.key) == name(key))
    }

    /// Lets `--set` replace axes: a single value removes the axis, a list takes its place or becomes the innermost. Those of
    /// `kept` take the place of an axis alone.
    pub(super) fn override_axes(&mut self, scalars: &[Setting], lists: &[Axis], kept: &[Axis]) {
        let name = |key: &str| knob(key).map(|k| k.name);
        for scalar in scalars {
            if let Some(i) = self.axes.iter().position(|a| name(&a.key) == name(&scalar.key)) {
                self.remove(i);
            }
        }
        for own in kept {
            if let Some(i) = self.axes.iter().position(|a| name(&a.key) == name(&own.key)) {
                self.axes[i] = own.clone();
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

    /// Adds the comparison that `--versus` asks for.
    ///
    /// # Errors
    /// The ladder goes through this knob itself.
    pub(super) fn add_versus(&mut self, versus: &Versus) -> Result<(), SourceError> {
        let own = self
            .axes
            .iter()
            .find(|a| a.values.len() > 1 && knob(&a.key).map(|k| k.name) == knob(&versus.key).map(|k| k.name));
        if let Some(axis) = own.filter(|a| knob(&a.key).is_some()) {
            return Err(SourceError::without_place(
                &format!("--versus {}={}", versus.key, versus.value),
                msg!("study-versus-own-axis", key = &axis.key),
                Some(msg!("study-versus-own-axis-help", key = &axis.key)),
            ));
        }
        self.versus = Some(versus.clone());
        Ok(())
    }

    fn remove(&mut self, i: usize) {
        if i >= self.axes.len() - self.interleaved {
            self.interleaved -= 1;
        }
        self.axes.remove(i);
    }

    /// Forward and backward passes over each cell; one for a ladder without comparison.
    fn passes(&self, arms: usize, compares: bool) -> u32 {
        if arms < 2 || !compares {
            return 1;
        }
        2 * self.blocks.unwrap_or(if self.versus.is_some() { VERSUS_BLOCKS } else { 1 })
    }
}

/// What the ladders of a study have become so far.
#[derive(Debug, Default)]
pub(super) struct Unfolded {
    pub(super) planned: Vec<Planned>,
    /// Next number of an interleaved cell, and of a loop.
    next_cell: u32,
    next_loop: u32,
    /// Next number of a set of streams.
    next_set: u32,
    /// Why the first array that was left out was.
    pub(super) left_out: Option<ArrayNameError>,
}

/// One cell of a ladder.
struct Cell {
    planned: Planned,
    /// Its place in the product of the knobs.
    number: usize,
    /// What the interleaved knobs are here.
    arm: Vec<ArmPart>,
    tracked: bool,
}

/// What all ladders of a study share.
pub(super) struct Job<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) defaults: &'a [Setting],
    pub(super) overrides: &'a [Setting],
    pub(super) groups: &'a [Group],
    /// Whether the command line names the targets of all loads.
    pub(super) replaces_targets: bool,
}

impl Job<'_> {
    /// Appends the steps of `ladder`.
    pub(super) fn unfold(
        &self,
        ladder: &Ladder,
        unfolded: &mut Unfolded,
        notes: &mut Vec<Message>,
    ) -> Result<(), SourceError> {
        if !ladder.streams.is_empty() {
            return self.unfold_streams(ladder, unfolded, notes);
        }
        let cells_max = STEPS_MAX / self.groups.len();
        let counts = ladder.axes.iter().map(|a| a.values.len());
        let cells = counts.clone().try_fold(1usize, usize::checked_mul).filter(|n| *n <= cells_max);
        let Some(cells) = cells else {
            let message = msg!("study-ladder-too-long", max = STEPS_MAX);
            return Err(self.source.error(ladder.span.clone(), message, Some(msg!("study-shorten-lists"))));
        };
        let inner: usize = counts.skip(ladder.axes.len() - ladder.interleaved).product();
        let mut blocks: Vec<Vec<Cell>> = Vec::new();
        let mut block: Vec<Cell> = Vec::new();
        let mut repeated = 0usize;
        // A grid of rates may be refined by ladders after it: what stands in the plan already is not done again.
        let known: Vec<Step> =
            unfolded.planned.iter().map(|p| p.step.clone()).filter(|s| s.role.rate_pair.is_some()).collect();
        for cell in 0..cells {
            let left_out = self.left_out(ladder, cell)?;
            let is_run = !is_idle(ladder, cell) && left_out.is_none();
            if let Some(why) = left_out {
                push_note(notes, msg!("study-left-out", why = why.message()));
                unfolded.left_out.get_or_insert(why);
            }
            let made = is_run.then(|| self.build(ladder, cell, false, notes)).transpose()?;
            if let Some(made) = made.filter(|made| !known.iter().any(|step| is_same(step, &made.planned.step))) {
                if blocks.iter().flatten().chain(&block).any(|c| is_same(&c.planned.step, &made.planned.step)) {
                    repeated += 1;
                } else {
                    let other = ladder.versus.is_some().then(|| self.build(ladder, cell, true, notes)).transpose()?;
                    check_differs(ladder, &made, other.as_ref())?;
                    block.push(made);
                    block.extend(other);
                }
            }
            if (cell + 1) % inner == 0 && !block.is_empty() {
                blocks.push(std::mem::take(&mut block));
            }
        }
        if repeated > 0 {
            push_note(notes, msg!("study-equal-cells", count = repeated));
        }
        self.lay_out(ladder, &blocks, unfolded)
    }

    /// Appends the sets of streams of `ladder`: one for each cell and group. What a stream says itself counts more than the
    /// ladder, the defaults and `--set`.
    fn unfold_streams(
        &self,
        ladder: &Ladder,
        unfolded: &mut Unfolded,
        notes: &mut Vec<Message>,
    ) -> Result<(), SourceError> {
        let of_ladder = ladder.axes.iter().map(|axis| (None, axis));
        let own = ladder.streams.iter().enumerate().flat_map(|(at, s)| s.axes.iter().map(move |axis| (Some(at), axis)));
        let axes: Vec<(Option<usize>, &Axis)> = of_ladder.chain(own).collect();
        let cells_max = STEPS_MAX / (self.groups.len() * ladder.streams.len());
        let counts = axes.iter().map(|(_, axis)| axis.values.len());
        let Some(cells) = counts.clone().try_fold(1usize, usize::checked_mul).filter(|n| *n <= cells_max) else {
            let message = msg!("study-ladder-too-long", max = STEPS_MAX);
            return Err(self.source.error(ladder.span.clone(), message, Some(msg!("study-shorten-lists"))));
        };
        for cell in 0..cells {
            let chosen = chosen(axes.iter().map(|(_, axis)| *axis), cell);
            for (group, targets) in self.groups {
                let mut streams = Vec::new();
                let mut made_by = Vec::new();
                for (at, spec) in ladder.streams.iter().enumerate() {
                    let mut knobs = Knobs::new();
                    let values = |of: Option<usize>| {
                        let here = axes.iter().zip(&chosen).filter(move |((owner, _), _)| *owner == of);
                        here.map(|((_, axis), i)| (axis.key.as_str(), axis.values[*i].text.as_str()))
                    };
                    let set = |s: &Setting| (s.key.clone(), s.value.clone());
                    let all = (self.defaults.iter().map(set))
                        .chain(values(None).map(|(k, v)| (k.to_owned(), v.to_owned())))
                        .chain(self.overrides.iter().map(set))
                        .chain(values(Some(at)).map(|(k, v)| (k.to_owned(), v.to_owned())));
                    let blame = |e: &KnobError| self.source.knob_error(e, spec.span.clone());
                    for (key, value) in all {
                        knobs.set(&key, &value).map_err(|e| blame(&e))?;
                    }
                    let own = spec.targets.as_ref().filter(|_| !self.replaces_targets);
                    let targets = own.map_or_else(
                        || targets.clone(),
                        |own| own.iter().map(|path| TargetId::new(path.clone())).collect(),
                    );
                    let mut step = knobs.build(0, group, &targets, notes).map_err(|e| blame(&e))?;
                    if step.role.rate_share.is_some() {
                        let message = msg!("study-stream-share", name = &spec.name);
                        return Err(self.source.error(
                            spec.span.clone(),
                            message,
                            Some(msg!("study-stream-share-help")),
                        ));
                    }
                    step.role.test.clone_from(&ladder.name);
                    streams.push((spec.name.clone(), step));
                    made_by.push((knobs, targets));
                }
                let tied = at_once(unfolded.next_set, streams)
                    .map_err(|e| self.source.error(ladder.streams[e.stream].span.clone(), e.message, Some(e.help)))?;
                unfolded.next_set += 1;
                let made = tied.into_iter().zip(made_by);
                unfolded.planned.extend(made.map(|(step, (knobs, targets))| Planned::new(step, &knobs, targets)));
            }
        }
        self.check_count(ladder, unfolded)
    }

    /// Puts the blocks into the plan: once, or once per round.
    fn lay_out(&self, ladder: &Ladder, blocks: &[Vec<Cell>], unfolded: &mut Unfolded) -> Result<(), SourceError> {
        let Some(max) = ladder.rounds else {
            for block in blocks {
                self.flush(ladder, block, None, unfolded)?;
                self.check_count(ladder, unfolded)?;
            }
            return Ok(());
        };
        // Groups have their own loops, one after the other: one may be steady long before another.
        for group in 0..self.groups.len() {
            let loop_id = unfolded.next_loop;
            unfolded.next_loop += 1;
            for index in 0..max {
                for block in blocks {
                    let round = Round { loop_id, index, max, metric: None };
                    self.flush(ladder, block, Some((group, round)), unfolded)?;
                }
                self.check_count(ladder, unfolded)?;
            }
        }
        Ok(())
    }

    /// Why the array of a cell is left out: a group has too few members for it, or too many of them are missing.
    fn left_out(&self, ladder: &Ladder, cell: usize) -> Result<Option<ArrayNameError>, SourceError> {
        use ArrayNameError::{TooFewMembers, TooManyMissing};
        let arrangement = self.knobs(ladder, &chosen(ladder.axes.iter(), cell))?.arrangement();
        let wrong = |(_, targets): &Group| arrangement.array(targets)?.err();
        let lacks = |wrong: &ArrayNameError| matches!(wrong, TooFewMembers { .. } | TooManyMissing { .. });
        Ok(self.groups.iter().filter_map(wrong).find(lacks))
    }

    fn check_count(&self, ladder: &Ladder, unfolded: &Unfolded) -> Result<(), SourceError> {
        if unfolded.planned.len() <= STEPS_MAX {
            return Ok(());
        }
        let message = msg!("study-too-many-steps", max = STEPS_MAX);
        Err(self.source.error(ladder.span.clone(), message, Some(msg!("study-shorten-lists"))))
    }

    /// Moves a block of cells into the plan, forwards and (interleaved) backwards, each for all groups or for one.
    fn flush(
        &self,
        ladder: &Ladder,
        block: &[Cell],
        only: Option<(usize, Round)>,
        unfolded: &mut Unfolded,
    ) -> Result<(), SourceError> {
        let passes = ladder.passes(block.len(), ladder.interleaved > 0 || ladder.versus.is_some());
        let first_cell = unfolded.next_cell;
        for pass in 0..passes {
            let forwards: Vec<usize> = (0..block.len()).collect();
            let order: Vec<usize> = if pass % 2 == 0 { forwards } else { forwards.into_iter().rev().collect() };
            for at in order {
                for (group, (name, targets)) in self.groups.iter().enumerate() {
                    if only.is_some_and(|(one, _)| one != group) {
                        continue;
                    }
                    let mut planned = block[at].planned.clone();
                    planned
                        .put_on(name, targets)
                        .map_err(|e| self.blame(ladder, &chosen(ladder.axes.iter(), block[at].number), &e))?;
                    if passes > 1 {
                        let cell = first_cell + group as u32;
                        planned.step.role.block = Some(Block::new(cell, pass, at as u32, block[at].arm.clone()));
                    }
                    if let (Some((_, round)), Some(track)) = (only, &ladder.track) {
                        let metric = block[at].tracked.then_some(track.metric);
                        planned.step.role.round = Some(Round { metric, ..round });
                        planned.step.role.label_parts.push(LabelPart::Round);
                        set_label(&mut planned.step);
                    }
                    unfolded.planned.push(planned);
                }
            }
        }
        if passes > 1 {
            unfolded.next_cell += self.groups.len() as u32;
        }
        Ok(())
    }

    /// The cell of that number, the last axis counting fastest; with what `--versus` says, or without.
    fn build(
        &self,
        ladder: &Ladder,
        cell: usize,
        with_versus: bool,
        notes: &mut Vec<Message>,
    ) -> Result<Cell, SourceError> {
        let chosen = chosen(ladder.axes.iter(), cell);
        let mut knobs = self.knobs(ladder, &chosen)?;
        let blame = |e: &KnobError| self.blame(ladder, &chosen, e);
        let versus = ladder.versus.as_ref().filter(|_| with_versus);
        if let Some(versus) = versus.filter(|v| knob(&v.key).is_some()) {
            knobs.set(&versus.key, &versus.value).map_err(|e| blame(&e))?;
        }
        let (group, targets) = &self.groups[0];
        let mut step = knobs.build(0, group, targets, notes).map_err(|e| blame(&e))?;
        step.role.test.clone_from(&ladder.name);
        if let Some(versus) = versus.filter(|v| knob(&v.key).is_none()) {
            step.role.settings.push(HostSetting { name: versus.key.clone(), value: versus.value.clone() });
        }
        let arm = arm(ladder, &chosen, with_versus);
        let tracked = ladder.track.as_ref().is_some_and(|t| is_tracked(t, ladder, &chosen));
        Ok(Cell { planned: Planned::new(step, &knobs, targets.clone()), number: cell, arm, tracked })
    }

    /// What the file and `--set` say of a cell.
    fn knobs(&self, ladder: &Ladder, chosen: &[usize]) -> Result<Knobs, SourceError> {
        let mut knobs = Knobs::new();
        let blame = |e: KnobError| self.blame(ladder, chosen, &e);
        for setting in self.defaults {
            knobs.set(&setting.key, &setting.value).map_err(blame)?;
        }
        for (axis, i) in ladder.axes.iter().zip(chosen) {
            knobs.set(&axis.key, &axis.values[*i].text).map_err(blame)?;
        }
        for setting in self.overrides {
            knobs.set(&setting.key, &setting.value).map_err(blame)?;
        }
        Ok(knobs)
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

/// Which value of each axis the cell of that number has, the last axis counting fastest.
fn chosen<'a>(axes: impl DoubleEndedIterator<Item = &'a Axis>, cell: usize) -> Vec<usize> {
    let mut rest = cell;
    let mut chosen: Vec<usize> = axes
        .rev()
        .map(|axis| {
            let at = rest % axis.values.len();
            rest /= axis.values.len();
            at
        })
        .collect();
    chosen.reverse();
    chosen
}

/// The interleaved knobs of a cell: `placement=cores`.
fn arm(ladder: &Ladder, chosen: &[usize], with_versus: bool) -> Vec<ArmPart> {
    let first = ladder.axes.len() - ladder.interleaved;
    let part = |(axis, i): (&Axis, &usize)| ArmPart::set(&axis.key, &axis.values[*i].text);
    let mut parts: Vec<ArmPart> = ladder.axes.iter().zip(chosen).skip(first).map(part).collect();
    if let Some(Versus { key, value }) = &ladder.versus {
        parts.push(match (with_versus, knob(key)) {
            (true, _) => ArmPart::set(key, value),
            (false, Some(_)) => ArmPart::AsInStudy { key: key.clone() },
            (false, None) => ArmPart::AsFound { key: key.clone() },
        });
    }
    parts
}

/// Whether the cell has all the values that `track` names.
fn is_tracked(track: &Track, ladder: &Ladder, chosen: &[usize]) -> bool {
    let has = |key: &str, text: &str| {
        let mut axes = ladder.axes.iter().zip(chosen);
        // An axis that `--set` removed has one value everywhere.
        axes.find(|(a, _)| a.key == key).is_none_or(|(axis, i)| axis.values[*i].text == text)
    };
    track.cell.iter().all(|(key, text)| has(key, text))
}

fn check_differs(ladder: &Ladder, base: &Cell, other: Option<&Cell>) -> Result<(), SourceError> {
    let (Some(versus), Some(other)) = (&ladder.versus, other) else { return Ok(()) };
    if !is_same(&base.planned.step, &other.planned.step) {
        return Ok(());
    }
    let origin = format!("--versus {}={}", versus.key, versus.value);
    Err(SourceError::without_place(&origin, msg!("study-same-sides"), Some(msg!("study-same-sides-help"))))
}

/// Whether a cell is the corner of a grid of rates at which nothing is asked for.
fn is_idle(ladder: &Ladder, cell: usize) -> bool {
    let chosen = chosen(ladder.axes.iter(), cell);
    let is_none = |name: &str| {
        let mut of =
            ladder.axes.iter().zip(&chosen).filter(|(axis, _)| knob(&axis.key).is_some_and(|k| k.name == name));
        of.any(|(axis, i)| axis.values[*i].text.trim().trim_end_matches('%').trim() == "0")
    };
    is_none("read_rate") && is_none("write_rate")
}

/// Whether two steps do the same.
fn is_same(a: &Step, b: &Step) -> bool {
    a.label == b.label
        && a.workload == b.workload
        && a.load == b.load
        && a.engine == b.engine
        && a.placement == b.placement
        && a.length == b.length
        && a.role == b.role
}
