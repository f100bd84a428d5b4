//! The ranges that stripes under way hold.

use std::ops::Range;

/// Ranges that do not overlap. Few: a thread has at most one for each I/O of its depth.
pub(super) struct Ranges(Vec<(u32, u16, Range<u64>)>);

impl Ranges {
    /// Room for so many.
    pub(super) fn with_capacity(count: usize) -> Ranges {
        Ranges(Vec::with_capacity(count))
    }

    /// Takes a range of an array for a stripe, if none that is held overlaps it.
    pub(super) fn take(&mut self, stripe: u32, set: u16, range: Range<u64>) -> bool {
        let is_free =
            self.0.iter().all(|(_, of, held)| *of != set || held.end <= range.start || range.end <= held.start);
        if is_free {
            self.0.push((stripe, set, range));
        }
        is_free
    }

    /// Gives back what a stripe holds.
    pub(super) fn give_back(&mut self, stripe: u32) {
        if let Some(at) = self.0.iter().position(|(holder, ..)| *holder == stripe) {
            self.0.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_wait_and_neighbours_and_other_arrays_do_not() {
        let mut held = Ranges::with_capacity(4);
        assert!(held.take(0, 0, 10..20));
        assert!(!held.take(1, 0, 19..21) && !held.take(1, 0, 5..11) && !held.take(1, 0, 12..13));
        assert!(held.take(1, 0, 20..30) && held.take(2, 0, 0..10) && held.take(3, 1, 10..20));
        held.give_back(0);
        assert!(held.take(0, 0, 12..13));
    }
}
