//! The search for the deepest queue that keeps to a latency, as fio searches it (`latency_target`): the depth doubles while
//! windows of time keep to it, and is bisected once one did not.

use fathom_message::{Quantity, msg};
use fathom_plan::LatencyTarget;
use fathom_record::{FeatureName, FeatureState, FeatureUse};

/// All I/Os, in parts of a million.
const WHOLE_PPM: u64 = 1_000_000;
/// Windows in a row that keep to the latency one below a depth that did not, before that depth is tried again.
const STABLE_WINDOWS: u32 = 3;

/// How far the search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Searching,
    /// One more window at the depth that was found.
    Last,
    Over,
}

/// The search of one thread.
#[derive(Clone, Debug)]
pub(crate) struct DepthSearch {
    target: LatencyTarget,
    depth_max: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable_windows: u32,
    /// Whether a depth did not keep to it: below it the depth is bisected.
    has_failed: bool,
    /// When the window began; `None`: with the next I/O.
    since_ns: Option<u64>,
    ios: u64,
    late_ios: u64,
    /// Nothing starts before all that was begun at a higher depth came back.
    is_draining: bool,
    stage: Stage,
    /// Whether not even one I/O at a time keeps to it.
    is_missed: bool,
}

impl DepthSearch {
    /// A search from 1 to `depth_max`.
    pub(crate) fn new(target: LatencyTarget, depth_max: u32) -> Self {
        DepthSearch {
            target,
            depth_max,
            depth: 1,
            low: 1,
            high: depth_max,
            stable_windows: 0,
            has_failed: false,
            since_ns: None,
            ios: 0,
            late_ios: 0,
            is_draining: false,
            stage: Stage::Searching,
            is_missed: false,
        }
    }

    /// Whether one more I/O may start while so many are in flight.
    pub(crate) fn starts(&mut self, now: u64, in_flight: u32) -> bool {
        self.is_draining &= in_flight > 0;
        if self.only_waits(in_flight) {
            return false;
        }
        self.since_ns.get_or_insert(now);
        true
    }

    /// Whether completions are all that can happen next.
    pub(crate) fn only_waits(&self, in_flight: u32) -> bool {
        self.is_draining || in_flight >= self.depth
    }

    /// Whether the depth was found, and its last window is over.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// An I/O came back.
    pub(crate) fn completed(&mut self, now: u64, lat_ns: u64) {
        let Some(since_ns) = self.since_ns.filter(|_| !self.is_draining) else { return };
        self.ios += 1;
        self.late_ios += u64::from(lat_ns > self.target.lat_ns);
        let within_ppm = u64::from(self.target.within_ppm);
        // Where every I/O is to keep to it, one that did not says enough.
        if within_ppm == WHOLE_PPM && self.late_ios > 0 {
            self.lower();
        } else if now.saturating_sub(since_ns) >= self.target.window_ns {
            match self.late_ios * WHOLE_PPM <= self.ios * (WHOLE_PPM - within_ppm) {
                true => self.raise(),
                false => self.lower(),
            }
        }
    }

    fn new_window(&mut self) {
        (self.since_ns, self.ios, self.late_ios) = (None, 0, 0);
    }

    fn lower(&mut self) {
        self.new_window();
        if self.depth == 1 {
            self.is_missed = true;
            if !self.target.runs_on {
                self.stage = Stage::Over;
            }
            return;
        }
        self.high = self.depth;
        self.has_failed = true;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low).max(1);
        self.stable_windows = 0;
        self.is_draining = true;
        self.stage = Stage::Searching;
    }

    fn raise(&mut self) {
        self.new_window();
        let kept = self.depth;
        self.low = kept;
        self.is_missed = false;
        if self.has_failed && kept + 1 == self.high {
            self.stable_windows += 1;
            if self.stable_windows >= STABLE_WINDOWS {
                self.high += 1;
                self.stable_windows = 0;
            }
        }
        let next = if self.has_failed { u32::midpoint(kept, self.high) } else { kept.saturating_mul(2) };
        self.depth = next.min(self.depth_max);
        if self.depth != kept || self.target.runs_on {
            return;
        }
        self.is_draining = true;
        self.stage = if self.stage == Stage::Last { Stage::Over } else { Stage::Last };
    }

    /// What was found.
    pub(crate) fn found(&self) -> FeatureUse {
        let share = Quantity::pct(f64::from(self.target.within_ppm) / 1e4);
        let lat = Quantity::duration_ns(self.target.lat_ns);
        let (state, detail) = if self.is_missed {
            (FeatureState::Unavailable, msg!("engine-depth-missed", share = share, lat = lat))
        } else if self.stage == Stage::Searching && !self.target.runs_on {
            let depth = self.low;
            (FeatureState::Unavailable, msg!("engine-depth-unfinished", depth = depth, share = share, lat = lat))
        } else {
            (FeatureState::Used, msg!("engine-depth-found", depth = self.low, share = share, lat = lat))
        };
        FeatureUse::new(FeatureName::DepthSearch, state, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, proptest};

    /// A device on which each I/O takes as long as there are I/Os in flight; until the search is over, or 1000 windows.
    fn search(limit: u32, depth_max: u32, runs_on: bool) -> (DepthSearch, u32) {
        let target =
            LatencyTarget { lat_ns: u64::from(limit) * 1_000, window_ns: 1_000_000, within_ppm: 999_000, runs_on };
        let mut search = DepthSearch::new(target, depth_max);
        let (mut now, mut in_flight, mut deepest) = (1_u64, 0_u32, 0_u32);
        for _ in 0..200_000 {
            while search.starts(now, in_flight) {
                in_flight += 1;
            }
            deepest = deepest.max(in_flight);
            now += 1_000;
            search.completed(now, u64::from(in_flight) * 1_000);
            in_flight -= 1;
            if search.is_over() {
                break;
            }
        }
        (search, deepest)
    }

    proptest! {
        #[test]
        fn the_deepest_queue_that_keeps_to_the_latency_is_found(limit in 1_u32..200, depth_max in 1_u32..129) {
            let (search, deepest) = search(limit, depth_max, false);
            prop_assert!(search.is_over(), "{:?}", search);
            prop_assert!(deepest <= depth_max);
            // fio's bisection ends beside the deepest or on it.
            let wanted = limit.min(depth_max);
            prop_assert!(search.low <= wanted && search.low + 1 >= wanted, "{:?} for {}", search, wanted);
            prop_assert!(search.found().state == FeatureState::Used);
        }
    }

    #[test]
    fn what_no_depth_keeps_to_is_told_and_ends_the_search() {
        let (missed, _) = search(0, 16, false);
        assert!(missed.is_over() && missed.found().state == FeatureState::Unavailable);
        let (on, _) = search(8, 16, true);
        assert!(!on.is_over() && (7..=9).contains(&on.depth), "{on:?}");
    }
}
