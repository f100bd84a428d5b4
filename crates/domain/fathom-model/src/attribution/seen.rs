//! The steps that are judged together, and what is worked out once for many of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use super::Observation;
use super::ladder::{LadderFit, Rung};

/// A rung, bit by bit.
type RungBits = [u64; 3];

/// All steps of a run. A curve is fitted once for all the steps that it explains: a run of a thousand has a few dozen.
pub(super) struct Seen<'a> {
    all: &'a [Observation],
    fits: RefCell<HashMap<Vec<RungBits>, Option<Rc<LadderFit>>>>,
}

impl<'a> Seen<'a> {
    pub(super) fn new(all: &'a [Observation]) -> Seen<'a> {
        Seen { all, fits: RefCell::default() }
    }

    /// The curves that explain these steps; `None` where they do not differ in what they had in flight.
    pub(super) fn fit(&self, rungs: &[Rung]) -> Option<Rc<LadderFit>> {
        let key = rungs.iter().map(|r| [r.in_flight, r.iops, r.relative_error].map(f64::to_bits)).collect();
        let mut fits = self.fits.borrow_mut();
        fits.entry(key).or_insert_with(|| LadderFit::of(rungs).map(Rc::new)).clone()
    }

    /// How many curves were fitted.
    #[cfg(test)]
    pub(super) fn fitted(&self) -> usize {
        self.fits.borrow().len()
    }
}

impl Deref for Seen<'_> {
    type Target = [Observation];

    fn deref(&self) -> &[Observation] {
        self.all
    }
}
