//! Cristian's method: a clock is asked, and the answer is taken to be of the middle of the time that it took. It may be of
//! any moment between, so half of that time bounds the error.

use fathom_record::RankClock;

/// The best of the answers so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    best: Option<RankClock>,
}

impl Asked {
    /// Takes an answer: `theirs` was read between `sent_ns` and `received_ns` of our clock.
    pub(super) fn take(&mut self, sent_ns: u64, theirs_ns: u64, received_ns: u64) {
        let way_ns = received_ns.saturating_sub(sent_ns);
        let middle_ns = sent_ns + way_ns / 2;
        let offset_ns = i64::try_from(i128::from(theirs_ns) - i128::from(middle_ns)).unwrap_or(i64::MAX);
        let found = RankClock { offset_ns, bound_ns: way_ns.div_ceil(2) };
        if self.best.is_none_or(|best| found.bound_ns < best.bound_ns) {
            self.best = Some(found);
        }
    }

    /// The clock, once it answered.
    pub(super) fn clock(self) -> Option<RankClock> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However long either way takes, the true offset is within the bound.
        #[test]
        fn the_true_offset_is_within_the_bound(
            offset in -(1i64 << 50)..1 << 50,
            ways in proptest::collection::vec((0u64..1 << 24, 0u64..1 << 24), 1..20),
        ) {
            let mut asked = Asked::default();
            let mut now = 1u64 << 52;
            let mut shortest = u64::MAX;
            for (there, back) in ways {
                let theirs = (now + there).checked_add_signed(offset).expect("in range");
                asked.take(now, theirs, now + there + back);
                shortest = shortest.min(there + back);
                now += there + back + 1000;
            }
            let clock = asked.clock().expect("it answered");
            prop_assert!(clock.offset_ns.abs_diff(offset) <= clock.bound_ns);
            prop_assert_eq!(clock.bound_ns, shortest.div_ceil(2));
        }
    }
}
