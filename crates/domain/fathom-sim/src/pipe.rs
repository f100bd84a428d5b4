//! A first-in, first-out server by reservation: it only remembers when it is free again.
//!
//! Arrivals must be reserved in the order they arrive. Then finish = max(arrival, free) + service is exact and costs no
//! event. A stage whose arrivals come from several servers with backlogs of their own needs an event before it.

/// One server, by its next free time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe {
    free_ps: u64,
    work_ps: u64,
    idle_ps: u64,
    jobs: u64,
}

impl Pipe {
    /// Serves a job that arrives at `now_ps`; returns when it is done.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, now_ps: u64, service_ps: u64) -> u64 {
        let gap = now_ps.saturating_sub(self.free_ps);
        self.idle_ps += gap;
        self.free_ps += gap + service_ps;
        self.work_ps += service_ps;
        self.jobs += 1;
        self.free_ps
    }

    /// Serves data that come in over `upstream_ps` until `done_ps` and pass on meanwhile: it begins with the first of them and
    /// ends no sooner than the last.
    #[inline(always)]
    pub(crate) fn follow(&mut self, done_ps: u64, upstream_ps: u64, service_ps: u64) -> u64 {
        self.reserve(first_ps(done_ps, upstream_ps, service_ps), service_ps)
    }

    /// Serves a job so small that it slips in between others: it takes capacity but does not wait.
    #[inline(always)]
    pub(crate) fn slip_in(&mut self, now_ps: u64, service_ps: u64) -> u64 {
        self.reserve(now_ps, service_ps);
        now_ps + service_ps
    }

    /// When it has nothing to do.
    pub(crate) fn free_ps(&self) -> u64 {
        self.free_ps
    }

    /// Sum of the service times.
    pub(crate) fn work_ps(&self) -> u64 {
        self.work_ps
    }

    /// Utilisation law, U = X D: the time line (busy until free, less the gaps) against the sum of service times.
    /// Both in picoseconds; equal when the law holds.
    pub(crate) fn utilisation_law(&self) -> (u64, u64) {
        (self.free_ps - self.idle_ps, self.work_ps)
    }
}

/// What equal servers of one part have done.
#[derive(Clone, Debug)]
pub(crate) struct PartWork {
    pub(crate) name: &'static str,
    pub(crate) servers: u64,
    pub(crate) work_ps: u64,
    /// See [`Pipe::utilisation_law`].
    pub(crate) laws: Vec<(u64, u64)>,
}

impl PartWork {
    /// Sums up servers.
    pub(crate) fn of(name: &'static str, pipes: &[Pipe]) -> Self {
        PartWork {
            name,
            servers: pipes.len() as u64,
            work_ps: pipes.iter().map(Pipe::work_ps).sum(),
            laws: pipes.iter().map(Pipe::utilisation_law).collect(),
        }
    }
}

/// When a stage may begin with data that come in over `upstream_ps` until `done_ps`, so that it does not run out of them.
#[inline(always)]
pub(crate) fn first_ps(done_ps: u64, upstream_ps: u64, service_ps: u64) -> u64 {
    done_ps - upstream_ps.min(service_ps)
}

/// Picoseconds that `bytes` take at a rate, rounded up.
pub(crate) fn transfer_ps(bytes: u64, bytes_per_s: u64) -> u64 {
    if bytes_per_s == 0 {
        return 0;
    }
    u64::try_from((u128::from(bytes) * 1_000_000_000_000).div_ceil(u128::from(bytes_per_s))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_wait_for_each_other_and_gaps_are_idle() {
        let mut pipe = Pipe::default();
        assert_eq!(pipe.reserve(100, 10), 110);
        assert_eq!(pipe.reserve(105, 10), 120);
        assert_eq!(pipe.reserve(200, 5), 205);
        assert_eq!(pipe.utilisation_law(), (25, 25));
    }

    #[test]
    fn data_pass_on_while_they_come_in() {
        // Of two stages one after the other the slower counts, and a part of both that is waited for counts whole.
        assert_eq!(Pipe::default().follow(1_000, 100, 30), 1_000);
        assert_eq!(Pipe::default().follow(1_000, 100, 250), 1_150);
        let mut taken = Pipe::default();
        taken.reserve(0, 1_100);
        assert_eq!(taken.follow(1_000, 100, 250), 1_350);
    }

    #[test]
    fn a_small_job_does_not_wait_but_delays_others() {
        let mut pipe = Pipe::default();
        pipe.reserve(0, 100);
        assert_eq!(pipe.slip_in(10, 5), 15);
        assert_eq!(pipe.reserve(20, 10), 115);
    }

    #[test]
    fn transfers_round_up() {
        assert_eq!(transfer_ps(4096, 2_400_000_000), 1_706_667);
        assert_eq!(transfer_ps(1, 3), 333_333_333_334);
        assert_eq!(transfer_ps(0, 3), 0);
        assert_eq!(transfer_ps(5, 0), 0);
    }
}
