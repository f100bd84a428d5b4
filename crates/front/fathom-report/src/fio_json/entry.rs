//! Entries of fio's `jobs`: a step each, or a group of steps with `group_reporting`.

use fathom_judge::document::{Document, StepView};
use fathom_plan::{FioEntry, Op, Step};
use fathom_record::{Direction, StepRecord};

use super::options::thread_count;

/// A step of an entry.
pub(super) struct Member<'a> {
    pub(super) step: &'a Step,
    pub(super) record: &'a StepRecord,
    /// The same step in the document.
    pub(super) view: Option<&'a StepView>,
}

/// Steps that are one entry, at least one.
pub(super) struct Entry<'a>(Vec<Member<'a>>);

/// The entries of a run, in fio's order: a job with `group_reporting` joins the entry before where that is of its group.
pub(super) fn entries<'a>(doc: &'a Document, records: &'a [(Step, StepRecord)]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (step, record) in records {
        let member = Member { step, record, view: doc.steps.iter().find(|view| view.index == step.index) };
        let group = step.role.job.as_ref().filter(|job| job.is_grouped).map(|job| job.group);
        match entries.last_mut() {
            Some(last) if group.is_some() && group == last.last_group() => last.0.push(member),
            _ => entries.push(Entry(vec![member])),
        }
    }
    entries
}

impl<'a> Entry<'a> {
    pub(super) fn members(&self) -> &[Member<'a>] {
        &self.0
    }

    /// The step whose name the entry has.
    pub(super) fn first(&self) -> &Member<'a> {
        self.0.first().expect("an entry has a step")
    }

    pub(super) fn last(&self) -> &Member<'a> {
        self.0.last().expect("an entry has a step")
    }

    fn last_group(&self) -> Option<u32> {
        self.last().step.role.job.as_ref().map(|job: &FioEntry| job.group)
    }

    /// Jobs as fio counts them: threads.
    pub(super) fn jobs(&self) -> u32 {
        self.0.iter().map(|member| thread_count(member.step)).sum()
    }

    /// Time of the measured window: the longest of its steps.
    pub(super) fn runtime_ns(&self) -> u64 {
        self.0.iter().map(|member| member.record.runtime_ns).max().unwrap_or(0)
    }

    /// One operation of all its steps.
    pub(super) fn direction(&self, op: Op) -> Option<Direction> {
        together(self.0.iter().filter_map(|member| member.record.direction(op)))
    }

    pub(super) fn syncs(&self) -> Option<Direction> {
        together(self.0.iter().filter_map(|member| member.record.syncs.as_ref()))
    }
}

fn together<'d>(mut parts: impl Iterator<Item = &'d Direction>) -> Option<Direction> {
    let mut whole = parts.next()?.clone();
    parts.for_each(|part| whole.add(part));
    Some(whole)
}
