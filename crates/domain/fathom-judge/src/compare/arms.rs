//! The sides of one run that measured them in turns: `placement=cores` against `unpinned`, a setting against none.

use std::collections::BTreeMap;

use fathom_message::{Message, msg};
use fathom_plan::common_label;

use super::cell::{Cell, Label};
use super::concluded;
use crate::document::{Comparison, Document, Side, StepView, Unmatched};

/// Blocks of one cell: by arm and pass.
type Arms<'a> = BTreeMap<u32, BTreeMap<u32, &'a StepView>>;

/// The sides of a run whose steps were measured in interleaved blocks, the first arm being the reference; `None` for
/// other runs. Differences up to `margin_pct` percent either way count as the same.
#[must_use]
pub fn compare_arms(document: &Document, margin_pct: f64) -> Option<Comparison> {
    let mut cells: BTreeMap<u32, Arms<'_>> = BTreeMap::new();
    let mut names: BTreeMap<u32, Message> = BTreeMap::new();
    for step in &document.steps {
        let Some(block) = &step.role.block else { continue };
        names.entry(block.arm_index).or_insert_with(|| block.arm_message());
        let arms = cells.entry(block.cell).or_default().entry(block.arm_index).or_default();
        if step.ios > 0 {
            arms.insert(block.pass, step);
        }
    }
    if names.len() < 2 {
        return None;
    }
    let (mut compared, mut unmatched) = (Vec::new(), Vec::new());
    for (cell, arms) in &cells {
        for index in names.keys().skip(1).filter(|index| arms.contains_key(index)) {
            match pairs(arms, *index) {
                Some((a, b)) => {
                    compared.push(Cell::of_legs(cell_label(document, a[0], b[0]), &side_name(*index), &a, &b));
                }
                None => unmatched.push(alone(*cell, arms, document, *index)),
            }
        }
    }
    let sides = names.into_iter().map(|(index, title)| side(document, index, title)).collect();
    Some(concluded(sides, Vec::new(), compared, unmatched, margin_pct))
}

/// The complete pairs of the reference and another arm, by pass.
fn pairs<'a>(arms: &Arms<'a>, other: u32) -> Option<(Vec<&'a StepView>, Vec<&'a StepView>)> {
    let (a, b) = (arms.get(&0)?, arms.get(&other)?);
    let both: (Vec<_>, Vec<_>) = a.iter().filter_map(|(pass, step)| Some((*step, *b.get(pass)?))).unzip();
    (!both.0.is_empty()).then_some(both)
}

/// What both arms of a cell are called, without what tells them apart.
fn cell_label(document: &Document, a: &StepView, b: &StepView) -> Label {
    let planned = |view: &StepView| document.run.plan.steps.iter().find(|s| s.index == view.index);
    let common = planned(a).zip(planned(b)).and_then(|(a, b)| common_label(a, b));
    common.unwrap_or_else(|| (a.label.clone(), a.label_message.clone()))
}

/// A cell without a complete pair of the reference and `other`.
fn alone(cell: u32, arms: &Arms<'_>, document: &Document, other: u32) -> Unmatched {
    let of_cell = |arm: u32| {
        document.steps.iter().filter(move |s| {
            s.role.block.as_ref().is_some_and(|b| b.cell == cell && b.arm_index == arm) && s.reason.is_some()
        })
    };
    let any = arms.values().flat_map(|passes| passes.values()).next().copied();
    let refused = of_cell(other).chain(of_cell(0)).next();
    let planned = || document.steps.iter().find(|s| s.role.block.as_ref().is_some_and(|b| b.cell == cell));
    let label = any.or(refused).or_else(planned).map(|s| s.label.clone()).unwrap_or_default();
    let why = refused.and_then(|s| s.reason.clone()).unwrap_or_else(|| msg!("compare-no-pair"));
    let lost = arms.get(&0).is_some_and(|a| !a.is_empty()) && of_cell(other).next().is_some();
    Unmatched { side: side_name(other), label, why, lost }
}

fn side(document: &Document, index: u32, title: Message) -> Side {
    Side {
        name: side_name(index),
        title,
        run: document.run.id,
        runs: vec![document.run.id],
        study: document.run.study.clone(),
        started: document.run.started.clone(),
        state: document.run.state,
        command: document.run.command.clone(),
    }
}

/// `A`, `B`, `C`... `Z`, then `27`, `28`...
pub(super) fn side_name(index: u32) -> String {
    let letter = u8::try_from(index).ok().and_then(|index| b'A'.checked_add(index)).filter(u8::is_ascii_uppercase);
    letter.map_or_else(|| (index + 1).to_string(), |letter| char::from(letter).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_have_letters_as_long_as_there_are_any() {
        assert_eq!([0, 1, 25, 26, 300].map(side_name), ["A", "B", "Z", "27", "301"]);
    }
}
