//! The sequences of all targets that a thread drives.

use fathom_message::Message;
use fathom_plan::Op;
use fathom_random::Rng;
use fathom_record::StepFailure;

use super::{IoSequence, Limits, Next};
use crate::replay::Replayed;
use crate::service::Service;

/// The sequences of a thread, one for each part of a target that it drives; they take turns unless the load says otherwise.
#[derive(Default)]
pub(crate) struct Sequences {
    parts: Vec<IoSequence>,
    turn: usize,
    service: Option<Service>,
    /// What is left to all parts together, where the load says how much that is.
    left: Option<Limits>,
    /// The I/Os of all parts, of a step that replays a trace.
    replayed: Option<Box<Replayed>>,
}

impl Sequences {
    /// Of each part; none where the pattern says it all.
    ///
    /// # Errors
    /// Why, when the order in which parts are served makes no sense.
    pub(crate) fn new(parts: Vec<IoSequence>) -> Result<Sequences, Message> {
        let Some(first) = parts.first().filter(|_| parts.len() > 1) else {
            return Ok(Sequences { parts, ..Sequences::default() });
        };
        let pass = parts.iter().map(|part| part.extent.len_bytes).collect();
        let service = first.order.service.map(|service| Service::new(service, pass)).transpose()?.flatten();
        // What is asked of a thread, it does over all of its parts.
        let is_bounded = !first.is_timed && (first.order.pass_bytes.is_some() || first.order.pass_ios.is_some());
        let all = |per_pass: u64| per_pass.saturating_mul(first.passes_max);
        let bytes = if first.order.pass_bytes.is_some() { all(first.pass.bytes) } else { u64::MAX };
        let left = is_bounded.then(|| Limits { bytes, ios: all(first.pass.ios) });
        Ok(Sequences { service, left, parts, ..Sequences::default() })
    }

    /// Those of a trace.
    pub(crate) fn replayed(replayed: Replayed) -> Sequences {
        Sequences { replayed: Some(Box::new(replayed)), ..Sequences::default() }
    }

    /// When the next is due, nanoseconds after the first, where a trace says so.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.replayed.as_ref()?.next_due_ns()
    }

    /// True for a trace that was issued completely.
    pub(crate) fn is_replayed_to_its_end(&self) -> bool {
        self.replayed.as_ref().is_some_and(|replayed| replayed.is_done())
    }

    /// What ended them before their end.
    pub(crate) fn failure(&self) -> Option<StepFailure> {
        self.replayed.as_ref()?.failure()
    }

    /// True if patterns alone define the I/Os.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.replayed.is_none()
    }

    /// True if a write of the same block follows each trim.
    pub(crate) fn are_pairs(&self) -> bool {
        self.parts.first().is_some_and(|part| part.order.trims_first)
    }

    /// The next I/O, of operation `asked` where rates decide it, and its part; `None` once all parts are done.
    pub(crate) fn next(&mut self, rng: &mut Rng, asked: Option<Op>) -> Option<(u16, Next)> {
        if let Some(replayed) = &mut self.replayed {
            return replayed.next();
        }
        if self.left.is_some_and(|left| left.bytes == 0 || left.ios == 0) {
            return (0..).zip(&mut self.parts).find_map(|(part, sequence)| Some((part, sequence.next_write()?)));
        }
        let (part, next) = self.next_of_parts(rng, asked)?;
        let is_counted = !(self.are_pairs() && next.op == Op::Write);
        if let Some(left) = self.left.as_mut().filter(|_| is_counted) {
            left.bytes = left.bytes.saturating_sub(next.len.into());
            left.ios -= 1;
        }
        Some((part, next))
    }

    fn next_of_parts(&mut self, rng: &mut Rng, asked: Option<Op>) -> Option<(u16, Next)> {
        let are_pairs = self.are_pairs();
        while let Some(service) = &mut self.service {
            let part = service.next(rng)?;
            match self.parts[usize::from(part)].next(rng, asked) {
                Some(next) => {
                    // A block is done with once it is written.
                    service.served(if are_pairs && next.op == Op::Trim { 0 } else { next.len.into() });
                    return Some((part, next));
                }
                None => service.ended(),
            }
        }
        for _ in 0..self.parts.len() {
            let part = self.turn;
            self.turn = (part + 1) % self.parts.len();
            if let Some(next) = self.parts[part].next(rng, asked) {
                return Some((part as u16, next));
            }
        }
        None
    }

    /// Full passes so far over all parts; `None` without any.
    pub(crate) fn passes(&self) -> Option<u64> {
        match &self.replayed {
            Some(replayed) => Some(replayed.is_done().into()),
            None => self.parts.iter().map(IoSequence::passes).min(),
        }
    }
}
