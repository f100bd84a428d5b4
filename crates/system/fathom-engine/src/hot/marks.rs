//! The edges of windows and intervals: what a loop does there is rare beside its I/Os.

use super::{Hot, Outcome, Variant};
use crate::shared::FromWorker;
use crate::system::threads;
use crate::tally::Tallies;

impl Hot {
    /// The window began, an interval ended, or the deadline passed, between `before` and `now`; `submit_calls` so far.
    #[cold]
    pub(super) fn cross_mark<V: Variant>(&mut self, before: u64, now: u64, submit_calls: u64) {
        let deadline = self.shared.deadline_ns();
        let mut from = before;
        if !self.state.counting && now >= self.state.window.start_ns && self.state.window.start_ns < deadline {
            self.begin_window(now, submit_calls);
            from = before.max(self.state.window.start_ns);
            self.state.outcome.age_ns[0] = self.state.age_of_occupied_ns::<V>(from);
        }
        if !self.state.counting {
            return;
        }
        let counted_ns = now.min(deadline).saturating_sub(from);
        self.state.advance::<V>(counted_ns);
        if now >= deadline {
            self.state.outcome.age_ns[1] = self.state.age_of_occupied_ns::<V>(deadline);
            self.state.counting = false;
            return;
        }
        if now >= self.state.next_mark_ns {
            self.send_tallies();
            self.note_cpu();
            self.next_interval(now);
        }
    }

    /// The ramp is over: forget what it counted.
    pub(super) fn begin_window(&mut self, now: u64, submit_calls: u64) {
        let state = &mut self.state;
        state.calls_before = submit_calls;
        state.counting = true;
        state.tallies.clear();
        state.failures.clear();
        let first_submit_ns = state.outcome.first_submit_ns;
        state.outcome = Outcome { first_submit_ns, in_flight_max: state.in_flight, ..Outcome::default() };
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin_window();
        }
        self.next_interval(now);
        self.note_cpu();
    }

    pub(super) fn next_interval(&mut self, now: u64) {
        let window = self.state.window;
        let interval = (now - window.start_ns) / window.interval_ns;
        self.state.tallies.interval = u32::try_from(interval).unwrap_or(u32::MAX);
        self.state.next_mark_ns = window.start_ns + (interval + 1) * window.interval_ns;
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin_interval(interval);
        }
    }

    /// Sends the interval to the collector and takes an empty one in its place.
    pub(super) fn send_tallies(&mut self) {
        let empty = match self.spare_tallies.try_recv() {
            Ok(mut tallies) => {
                tallies.clear();
                tallies
            }
            Err(_) => Tallies::new(self.parts.count(), self.used_ops),
        };
        let full = std::mem::replace(&mut self.state.tallies, empty);
        self.state.outcome.ios += full.ios();
        // The collector lives until all workers are gone, unless the step was abandoned.
        let _ = self.to_collector.send(FromWorker::Interval { worker: self.index, tallies: full });
    }

    pub(super) fn note_cpu(&mut self) {
        let cpu = threads::current_cpu();
        let seen = &mut self.state.outcome.cpus_seen;
        if let Some(cpu) = cpu
            && let Err(at) = seen.binary_search(&cpu)
        {
            seen.insert(at, cpu);
        }
    }
}
