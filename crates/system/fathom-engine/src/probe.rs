//! The engine's view of whoever samples the host's counters.

use fathom_record::HostDelta;

use crate::clock::Clock;

/// Samples the host while a step runs. All methods are called from one thread: the runner's, or of streams that run at once
/// the one that watches the longest.
pub trait HostProbe: Send {
    /// Whatever takes long and may lie some time before `begin`, which follows.
    fn prepare(&mut self) {}

    /// The measured window is about to begin: takes the first reading, and forgets what was sampled before. With a ramp
    /// both are called once before it, to learn how long they take, and again so long before the window.
    fn begin(&mut self);

    /// An interval of the window ended.
    fn interval(&mut self);

    /// The window ended, and `window_ns` passed since the last `begin`; the worker threads still exist. `None` when nothing could be sampled.
    fn finish(&mut self, window_ns: u64) -> Option<HostDelta>;
}

/// A probe that may be missing, and when it began.
pub(crate) struct Sampling<'p> {
    probe: Option<&'p mut (dyn HostProbe + 'static)>,
    clock: Clock,
    begun_ns: u64,
}

impl<'p> Sampling<'p> {
    /// Samples with `probe`, if there is one.
    pub(crate) fn new(probe: Option<&'p mut (dyn HostProbe + 'static)>, clock: Clock) -> Self {
        Sampling { probe, clock, begun_ns: 0 }
    }

    /// Gets ready to begin; how long that took, ns.
    pub(crate) fn prepare(&mut self) -> u64 {
        let Some(probe) = &mut self.probe else { return 0 };
        let called_ns = self.clock.now();
        probe.prepare();
        self.clock.now() - called_ns
    }

    /// Begins, for the last time or once more; how long that took, ns.
    pub(crate) fn begin(&mut self) -> u64 {
        let Some(probe) = &mut self.probe else { return 0 };
        let called_ns = self.clock.now();
        probe.begin();
        // The readings come last in `begin` and first in `finish`.
        self.begun_ns = self.clock.now();
        self.begun_ns - called_ns
    }

    /// An interval of the window ended.
    pub(crate) fn interval(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.interval();
        }
    }

    /// The window that began at `start_ns` ended: what was sampled, over the time that it was sampled.
    pub(crate) fn finish(self, start_ns: u64) -> Option<HostDelta> {
        let window_ns = self.clock.now().saturating_sub(self.begun_ns);
        let sampled = self.probe?.finish(window_ns)?;
        Some(HostDelta { missed_ns: self.begun_ns.saturating_sub(start_ns), ..sampled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counts;

    impl HostProbe for Counts {
        fn begin(&mut self) {}

        fn interval(&mut self) {}

        fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
            Some(HostDelta { measured_ns: window_ns, ..HostDelta::default() })
        }
    }

    #[test]
    fn what_of_the_window_was_over_before_the_first_reading_is_missed() {
        let missed = |lead_ns: i64| {
            let (clock, mut probe) = (Clock::get(), Counts);
            let mut sampling = Sampling::new(Some(&mut probe), clock);
            sampling.begin();
            let start_ns = sampling.begun_ns.checked_add_signed(lead_ns).expect("a moment");
            sampling.finish(start_ns).expect("sampled").missed_ns
        };
        assert_eq!((missed(1_000), missed(0), missed(-1_000)), (0, 0, 1_000));
    }
}
