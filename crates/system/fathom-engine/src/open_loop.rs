//! Arrivals of an open loop: when each I/O is due, whether or not the target keeps up.

use fathom_plan::{Op, RateProcess, Staged};
use fathom_random::Rng;

use crate::clock::Clock;
use crate::op_rates::{OpStreams, backlog_ios, gap};
use crate::shared::OpenSummary;

/// A sleep ends so early; the rest is spun, because a wake-up takes about this long.
const SPIN_NS: u64 = 30_000;
/// Longest sleep in one piece, so that a stop is noticed.
const NAP_NS_MAX: u64 = 50_000_000;

/// Where a schedule is whose rate changes.
struct InStages {
    staged: Staged,
    /// When the first stage begins.
    begin_ns: u64,
    /// How far the process has come, in seconds at the step's rate.
    passed_s: f64,
}

impl InStages {
    fn due_ns(&mut self) -> f64 {
        self.begin_ns as f64 + self.staged.due_s(self.passed_s) * 1e9
    }
}

/// The schedule of one worker.
pub(crate) struct Arrivals {
    gap_ns: f64,
    process: RateProcess,
    first_due_ns: u64,
    /// Fractions of a nanosecond matter: a rounded gap would change the rate.
    next_due_ns: f64,
    /// `None`: the rate stays.
    stages: Option<InStages>,
    /// `None`: one rate for all operations, of which the mix draws.
    streams: Option<OpStreams>,
    counting: bool,
    interval: usize,
    /// Sum and number of submit delays, `[interval]`.
    delays: Vec<(u64, u64)>,
}

impl Arrivals {
    /// `iops` of this worker, the first due at `first_due_ns`; room for `intervals` intervals.
    pub(crate) fn new(iops: f64, process: RateProcess, first_due_ns: u64, intervals: usize) -> Self {
        assert!(iops > 0.0, "a rate of nothing");
        Arrivals {
            gap_ns: 1e9 / iops,
            process,
            first_due_ns,
            next_due_ns: first_due_ns as f64,
            stages: None,
            streams: None,
            counting: false,
            interval: 0,
            delays: vec![(0, 0); intervals + 1],
        }
    }

    /// The same with a rate that changes from `begin_ns` on, and from `now` on is that of the beginning; `turn_ns`: how long
    /// after other workers this one is due at the step's rate.
    pub(crate) fn in_stages(mut self, staged: Staged, now: u64, begin_ns: u64, turn_ns: f64) -> Self {
        let lead_s = begin_ns.saturating_sub(now) as f64 / 1e9;
        let mut stages = InStages { passed_s: staged.ios_at(-lead_s) + turn_ns / 1e9, staged, begin_ns };
        self.next_due_ns = stages.due_ns();
        self.stages = Some(stages);
        self
    }

    /// The same with a rate for each operation.
    pub(crate) fn of_ops(mut self, streams: OpStreams) -> Self {
        self.next_due_ns = streams.next().1;
        self.streams = Some(streams);
        self
    }

    /// The operation that is due next; `None`: the mix says which.
    #[inline(always)]
    pub(crate) fn next_op(&self) -> Option<Op> {
        self.streams.map(|streams| streams.next().0)
    }

    /// When the next I/O is due.
    #[inline(always)]
    pub(crate) fn next_due_ns(&self) -> u64 {
        self.next_due_ns as u64
    }

    /// The due I/O starts at `now`.
    #[inline(always)]
    pub(crate) fn take(&mut self, rng: &mut Rng, now: u64) {
        if self.counting
            && let Some(delay) = self.delays.get_mut(self.interval)
        {
            delay.0 += now.saturating_sub(self.next_due_ns as u64);
            delay.1 += 1;
        }
        if let Some(streams) = &mut self.streams {
            streams.take(self.process, rng);
            self.next_due_ns = streams.next().1;
            return;
        }
        let gap_ns = self.gap_ns * gap(self.process, rng);
        match &mut self.stages {
            None => self.next_due_ns += gap_ns,
            Some(stages) => {
                stages.passed_s += gap_ns / 1e9;
                self.next_due_ns = stages.due_ns();
            }
        }
    }

    /// The next I/O is due so long after the first.
    pub(crate) fn due(&mut self, after_first_ns: u64) {
        self.next_due_ns = (self.first_due_ns + after_first_ns) as f64;
    }

    /// Completions to wait for, and how long, while slots are free.
    #[inline(always)]
    pub(crate) fn patience(&self, now: u64) -> (u32, Option<u64>) {
        let left = self.next_due_ns().saturating_sub(now);
        if left <= SPIN_NS { (0, None) } else { (1, Some((left - SPIN_NS).min(NAP_NS_MAX))) }
    }

    /// Sleeps until shortly before the next arrival, then spins; in pieces, so that the caller sees marks pass.
    pub(crate) fn wait(&self, clock: &Clock, deadline_ns: u64, now: u64) -> u64 {
        let due = self.next_due_ns().min(deadline_ns);
        let left = due.saturating_sub(now);
        if left > SPIN_NS {
            std::thread::sleep(std::time::Duration::from_nanos((left - SPIN_NS).min(NAP_NS_MAX)));
            return clock.now();
        }
        let mut now = clock.now();
        while now < due {
            std::hint::spin_loop();
            now = clock.now();
        }
        now
    }

    /// The ramp is over.
    pub(crate) fn begin_window(&mut self) {
        self.counting = true;
        self.delays.fill((0, 0));
    }

    /// Delays are summed per interval from here on.
    pub(crate) fn begin_interval(&mut self, interval: u64) {
        self.interval = usize::try_from(interval).unwrap_or(usize::MAX);
    }

    /// What came of it by the end of the window.
    pub(crate) fn summary(&self, end_ns: u64) -> OpenSummary {
        let used = self.delays.iter().rposition(|d| d.1 > 0).map_or(0, |last| last + 1);
        let half = used.div_ceil(2);
        let sum = |part: &[(u64, u64)]| part.iter().fold((0, 0), |acc, d| (acc.0 + d.0, acc.1 + d.1));
        let late_ns = match &self.stages {
            None => end_ns as f64 - self.next_due_ns,
            // In time at the step's rate, as the gaps are.
            Some(s) => (s.staged.ios_at((end_ns as f64 - s.begin_ns as f64) / 1e9) - s.passed_s) * 1e9,
        };
        let backlog_ios = match self.streams {
            None => backlog_ios(late_ns, self.gap_ns),
            Some(streams) => streams.backlog_ios(end_ns as f64),
        };
        OpenSummary { delay_ns: [sum(&self.delays[..half]), sum(&self.delays[half..used])], backlog_ios }
    }
}

pub(crate) use crate::system::threads::sharpen_timers;

#[cfg(test)]
mod tests {
    use fathom_plan::Stage;

    use super::*;

    #[test]
    fn both_processes_keep_the_rate() {
        for process in [RateProcess::Fixed, RateProcess::Poisson] {
            let mut arrivals = Arrivals::new(30_000.0, process, 0, 1);
            let mut rng = Rng::new(4, 0);
            let mut count = 0_u32;
            while arrivals.next_due_ns() < 10_000_000_000 {
                arrivals.take(&mut rng, 0);
                count += 1;
            }
            assert!((297_000..303_000).contains(&count), "{process:?}: {count}");
        }
    }

    #[test]
    fn stages_begin_with_the_window_and_leave_the_backlog_that_is_left() {
        // A second at 1,000 a second, then one at 3,000: 2,000 on average; two workers.
        let stage = |from_ppm| Stage { length_ns: 1_000_000_000, from_ppm, to_ppm: from_ppm };
        let stages = [stage(500_000), stage(1_500_000)];
        let worker = |turn: f64| {
            let staged = Staged::new(&stages).expect("stages");
            Arrivals::new(1_000.0, RateProcess::Fixed, 0, 10).in_stages(staged, 0, 500_000_000, turn * 500_000.0)
        };
        let mut due: Vec<u64> = Vec::new();
        for turn in [0.0, 1.0] {
            let (mut arrivals, mut rng) = (worker(turn), Rng::new(4, 0));
            while arrivals.next_due_ns() < 2_500_000_000 {
                due.push(arrivals.next_due_ns());
                arrivals.take(&mut rng, 0);
            }
        }
        let within =
            |from_ms: u64, to_ms: u64| due.iter().filter(|ns| (from_ms..to_ms).contains(&(**ns / 1_000_000))).count();
        let counts = [within(0, 500), within(500, 1_500), within(1_500, 2_500)];
        for (got, asked) in counts.iter().zip([500, 1_000, 3_000]) {
            assert!(got.abs_diff(asked) <= 2, "{counts:?}");
        }
        due.sort_unstable();
        assert!(due.windows(2).all(|w| w[1] - w[0] > 300_000), "workers take turns");
        // Nothing was started of what was due by the end of the first stage: half of it is this worker's.
        assert!(worker(0.0).summary(1_500_000_000).backlog_ios.abs_diff(750) <= 2);
    }

    #[test]
    fn a_growing_backlog_shows_in_the_halves_and_at_the_end() {
        let mut arrivals = Arrivals::new(1_000.0, RateProcess::Fixed, 0, 10);
        let mut rng = Rng::new(4, 0);
        arrivals.begin_window();
        // Half the rate is served: I/O i is due at i ms and starts at 2 i ms.
        for i in 0..5_000_u64 {
            arrivals.begin_interval(2 * i / 1_000);
            arrivals.take(&mut rng, 2 * i * 1_000_000);
        }
        let summary = arrivals.summary(10_000_000_000);
        let mean = summary.delay_ns.map(|(sum, n)| sum / n);
        assert!(mean[1] > 2 * mean[0], "{mean:?}");
        assert!(summary.backlog_ios.abs_diff(5_000) <= 1, "{}", summary.backlog_ios);
    }
}
