//! Rates of single operations, in an open loop (each arrives at its own rate) and in a closed one (one has a limit).

use fathom_plan::{Op, OpRates, RateProcess};
use fathom_random::Rng;

/// I/Os of one operation at a rate of their own.
#[derive(Clone, Copy, Debug)]
struct Stream {
    op: Op,
    gap_ns: f64,
    /// Fractions of a nanosecond matter: a rounded gap would change the rate.
    next_due_ns: f64,
}

impl Stream {
    /// Stream of one of `workers` threads; `None`: the operation has no rate. Threads take turns, so that the sum of their
    /// equal gaps is again a sequence of equal gaps.
    fn new(rates: OpRates, op: Op, (index, workers): (u32, u32), now_ns: u64) -> Option<Stream> {
        let iops = rates.of(op)?;
        let next_due_ns = now_ns as f64 + 1e9 / iops * f64::from(index);
        Some(Stream { op, gap_ns: 1e9 * f64::from(workers) / iops, next_due_ns })
    }

    fn take(&mut self, process: RateProcess, rng: &mut Rng) {
        self.next_due_ns += self.gap_ns * gap(process, rng);
    }
}

/// Length of the next gap, where the mean is 1.
#[inline(always)]
pub(crate) fn gap(process: RateProcess, rng: &mut Rng) -> f64 {
    match process {
        RateProcess::Fixed => 1.0,
        RateProcess::Poisson => exponential(rng),
        // The trace says it: see `Arrivals::due`.
        RateProcess::Recorded => 0.0,
    }
}

/// Exponential with mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    // 53 bits into (0, 1]: the logarithm of zero must not happen.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    -uniform.ln()
}

/// Reads and writes of an open loop that arrive each at their own rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpStreams {
    reads: Stream,
    writes: Stream,
}

impl OpStreams {
    /// Streams of thread `index` of `workers`, from `now_ns` on; `None`: an operation has no rate.
    pub(crate) fn new(rates: OpRates, index: u32, workers: u32, now_ns: u64) -> Option<OpStreams> {
        let of = |op| Stream::new(rates, op, (index, workers), now_ns);
        let (reads, mut writes) = (of(Op::Read)?, of(Op::Write)?);
        // Rates that divide each other would make a read and a write due at the same time again and again.
        writes.next_due_ns += 0.5e9 / rates.sum_iops()?;
        Some(OpStreams { reads, writes })
    }

    /// The operation that is due next, and when.
    pub(crate) fn next(&self) -> (Op, f64) {
        let stream = if self.reads.next_due_ns <= self.writes.next_due_ns { self.reads } else { self.writes };
        (stream.op, stream.next_due_ns)
    }

    /// The operation that is due next starts.
    pub(crate) fn take(&mut self, process: RateProcess, rng: &mut Rng) {
        match self.next().0 {
            Op::Read => self.reads.take(process, rng),
            _ => self.writes.take(process, rng),
        }
    }

    /// I/Os that were due by `end_ns` and did not start.
    pub(crate) fn backlog_ios(&self, end_ns: f64) -> u64 {
        [self.reads, self.writes].iter().map(|stream| backlog_ios(end_ns - stream.next_due_ns, stream.gap_ns)).sum()
    }
}

/// I/Os that are due within `late_ns`, the first of them at once.
pub(crate) fn backlog_ios(late_ns: f64, gap_ns: f64) -> u64 {
    if late_ns > 0.0 { (late_ns / gap_ns) as u64 + 1 } else { 0 }
}

/// The limits of a closed loop, in which a read that is ahead of its rate becomes a write, and a write a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpLimits {
    reads: Option<Stream>,
    writes: Option<Stream>,
    process: RateProcess,
}

impl OpLimits {
    /// Limits of thread `index` of `workers`, from `now_ns` on.
    pub(crate) fn new(rates: OpRates, index: u32, workers: u32, now_ns: u64) -> OpLimits {
        let of = |op| Stream::new(rates, op, (index, workers), now_ns);
        OpLimits { reads: of(Op::Read), writes: of(Op::Write), process: rates.process }
    }

    /// The operation that starts at `now_ns` where the mix asks for `asked`. One operation has no limit and is never ahead,
    /// so that nothing waits.
    pub(crate) fn choose(&mut self, asked: Op, now_ns: u64, rng: &mut Rng) -> Op {
        let (stream, other) = match asked {
            Op::Read => (&mut self.reads, Op::Write),
            _ => (&mut self.writes, Op::Read),
        };
        match stream {
            None => asked,
            Some(stream) if stream.next_due_ns > now_ns as f64 => other,
            Some(stream) => {
                stream.take(self.process, rng);
                asked
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn rates(read_iops: Option<f64>, write_iops: Option<f64>, process: RateProcess) -> OpRates {
        OpRates { read_iops, write_iops, process }
    }

    /// Operations and times of all threads by `end_ns`, in order.
    fn due(rates: OpRates, workers: u32, end_ns: f64) -> Vec<(f64, Op)> {
        let mut due = Vec::new();
        for index in 0..workers {
            let mut streams = OpStreams::new(rates, index, workers, 0).expect("both have rates");
            let mut rng = Rng::new(5, u64::from(index));
            while streams.next().1 < end_ns {
                let (op, at_ns) = streams.next();
                due.push((at_ns, op));
                streams.take(rates.process, &mut rng);
            }
        }
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        due
    }

    fn count(due: &[(f64, Op)], op: Op) -> usize {
        due.iter().filter(|(_, of)| *of == op).count()
    }

    #[test]
    fn exponential_draws_have_mean_one() {
        let mut rng = Rng::new(1, 0);
        let mean = (0..200_000).map(|_| exponential(&mut rng)).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn rates_are_kept_exactly_and_not_to_whole_percents() {
        let due = due(rates(Some(10_000.0), Some(3_000.0), RateProcess::Fixed), 3, 10e9);
        assert_eq!((count(&due, Op::Read), count(&due, Op::Write)), (100_000, 30_000));
    }

    #[test]
    fn poisson_arrivals_of_each_operation_keep_its_rate() {
        let due = due(rates(Some(20_000.0), Some(1_000.0), RateProcess::Poisson), 2, 10e9);
        let counts = [count(&due, Op::Read), count(&due, Op::Write)];
        assert!(counts[0].abs_diff(200_000) < 2_000 && counts[1].abs_diff(10_000) < 400, "{counts:?}");
    }

    #[test]
    fn what_did_not_start_is_the_backlog_of_both() {
        let streams = OpStreams::new(rates(Some(1_000.0), Some(100.0), RateProcess::Fixed), 0, 1, 0).expect("both");
        assert!(streams.backlog_ios(1e9).abs_diff(1_100) <= 2, "{}", streams.backlog_ios(1e9));
        assert_eq!(streams.backlog_ios(0.0), 0);
    }

    /// fio 3.33, `rate_ddir` of io_u.c, with the times of its `usec_for_io` in fractions of a nanosecond; a direction without a
    /// rate is due at 0.
    struct Fio {
        gap_ns: [Option<f64>; 2],
        issued: [f64; 2],
    }

    impl Fio {
        fn next_io_time(&self, direction: usize) -> f64 {
            self.gap_ns[direction].map_or(0.0, |gap_ns| gap_ns * self.issued[direction])
        }

        fn choose(&mut self, direction: usize, now_ns: u64) -> usize {
            let chosen = if self.next_io_time(direction) <= now_ns as f64 {
                direction
            } else {
                assert!(self.next_io_time(1 - direction) <= now_ns as f64, "fio would sleep");
                1 - direction
            };
            self.issued[chosen] += 1.0;
            chosen
        }
    }

    proptest! {
        #[test]
        fn arrivals_are_those_of_two_schedules_put_together(
            reads in 1_u32..5_000, writes in 1_u32..5_000, workers in 1_u32..5,
        ) {
            let (read_iops, write_iops) = (f64::from(reads), f64::from(writes));
            let end_ns = 1e9;
            let due = due(rates(Some(read_iops), Some(write_iops), RateProcess::Fixed), workers, end_ns);
            let shift_ns = 0.5e9 / (read_iops + write_iops);
            let mut reference: Vec<(f64, Op)> = Vec::new();
            for (op, iops, first_ns) in [(Op::Read, read_iops, 0.0), (Op::Write, write_iops, shift_ns)] {
                let times = (0_u32..).map(|k| first_ns + 1e9 / iops * f64::from(k));
                reference.extend(times.take_while(|at| *at < end_ns).map(|at| (at, op)));
            }
            reference.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Sums of fractions may differ at the very end.
            prop_assert!(due.len().abs_diff(reference.len()) <= 2 * workers as usize);
            for (ours, theirs) in due.iter().zip(&reference) {
                prop_assert!((ours.0 - theirs.0).abs() < 10.0, "{ours:?} {theirs:?}");
            }
            for op in [Op::Read, Op::Write] {
                prop_assert!(count(&due, op).abs_diff(count(&reference, op)) <= workers as usize);
            }
        }

        #[test]
        fn a_limited_operation_is_chosen_as_fio_chooses(
            iops in 10.0_f64..50_000.0,
            limits_reads: bool,
            read_pct in 0_u64..=100,
            service_ns in 1_000_u64..200_000,
            seed: u64,
        ) {
            let of = |is_limited: bool| is_limited.then_some(iops);
            let mut ours =
                OpLimits::new(rates(of(limits_reads), of(!limits_reads), RateProcess::Fixed), 0, 1, 0);
            let gap_ns = |is_limited: bool| is_limited.then_some(1e9 / iops);
            let mut fio = Fio { gap_ns: [gap_ns(limits_reads), gap_ns(!limits_reads)], issued: [0.0; 2] };
            let (mut rng, mut gaps) = (Rng::new(seed, 0), Rng::new(seed, 1));
            let (mut now_ns, mut limited) = (0_u64, 0_u64);
            for _ in 0..2_000 {
                let asked = if rng.below(100) < read_pct { Op::Read } else { Op::Write };
                // The schedule of fio is a product, ours a sum: a time in between tells them apart in nothing.
                now_ns += 1 + rng.below(2 * service_ns);
                let chosen = ours.choose(asked, now_ns, &mut gaps);
                let theirs = fio.choose(asked as usize, now_ns);
                prop_assert_eq!(chosen as usize, theirs);
                limited += u64::from((chosen == Op::Read) == limits_reads);
                prop_assert!(limited as f64 <= now_ns as f64 / 1e9 * iops + 1.0);
            }
        }
    }

    #[test]
    fn threads_share_a_limit() {
        let limited = |workers: u32| -> u32 {
            let of_thread = |index| {
                let limits = rates(None, Some(1_000.0), RateProcess::Poisson);
                let (mut limits, mut rng) = (OpLimits::new(limits, index, workers, 0), Rng::new(9, u64::from(index)));
                let at = |k: u64| k * 10_000;
                (0..200_000).filter(|k| limits.choose(Op::Write, at(*k), &mut rng) == Op::Write).count() as u32
            };
            (0..workers).map(of_thread).sum()
        };
        // Two seconds.
        for workers in [1, 4] {
            assert!(limited(workers).abs_diff(2_000) < 200, "{workers}: {}", limited(workers));
        }
    }
}
