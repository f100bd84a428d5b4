//! Arrivals of an open loop: when each I/O is due, whether or not the target keeps up.

use fathom_plan::RateProcess;
use fathom_random::Rng;

use crate::clock::Clock;
use crate::shared::OpenSummary;

/// A sleep ends so early; the rest is spun, because a wake-up takes about this long.
const SPIN_NS: u64 = 30_000;
/// Longest sleep in one piece, so that a stop is noticed.
const NAP_NS_MAX: u64 = 50_000_000;

/// The schedule of one worker.
pub(crate) struct Arrivals {
    gap_ns: f64,
    process: RateProcess,
    first_due_ns: u64,
    /// Fractions of a nanosecond matter: a rounded gap would change the rate.
    next_due_ns: f64,
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
            counting: false,
            interval: 0,
            delays: vec![(0, 0); intervals + 1],
        }
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
        self.next_due_ns += match self.process {
            RateProcess::Fixed => self.gap_ns,
            RateProcess::Poisson => self.gap_ns * exponential(rng),
            // The trace says it: see `due`.
            RateProcess::Recorded => 0.0,
        };
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
        let late_ns = (end_ns as f64 - self.next_due_ns).max(0.0);
        let backlog_ios = if late_ns > 0.0 { (late_ns / self.gap_ns) as u64 + 1 } else { 0 };
        OpenSummary { delay_ns: [sum(&self.delays[..half]), sum(&self.delays[half..used])], backlog_ios }
    }
}

/// Lets short sleeps of the calling thread end on time; the default slack is 50 us.
pub(crate) fn sharpen_timers() {
    // SAFETY: sets a property of the calling thread; no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Exponential with mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    // 53 bits into (0, 1]: the logarithm of zero must not happen.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_draws_have_mean_one() {
        let mut rng = Rng::new(1, 0);
        let mean = (0..200_000).map(|_| exponential(&mut rng)).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }

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
