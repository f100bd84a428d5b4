//! What measured figures have and simulated ones have not: runs that differ, series with memory, storms, stolen time.

use fathom_record::{HostDelta, StepRecord};

use super::machine::Dice;

/// A CPU this busy has no rest.
const CPU_FULL: f64 = 0.95;

/// Relative standard deviation of what a full link carries from run to run.
const WOBBLE_OF_ARITHMETIC: f64 = 0.003;

/// Noise of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// What steps differ by, relative standard deviation.
    pub(super) wobble: f64,
    pub(super) series: Series,
    /// Relative standard deviation of an interval.
    pub(super) interval_spread: f64,
    /// Share of every CPU that the hypervisor takes.
    pub(super) stolen_share: f64,
}

/// How the intervals of a step hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    Independent,
    /// First-order autoregressive, coefficient 0.9.
    Remembering,
    /// Two levels that take turns.
    TwoLevels,
    /// Little most of the time, and now and then hardly anything.
    Storms,
}

impl Noise {
    pub(super) fn drawn(dice: &mut Dice) -> Noise {
        let series = dice.pick(&[Series::Independent, Series::Remembering, Series::TwoLevels, Series::Storms]);
        Noise {
            wobble: dice.pick(&[0.003, 0.01, 0.03, 0.08]),
            series,
            interval_spread: dice.pick(&[0.005, 0.02, 0.06]),
            stolen_share: dice.pick(&[0.0, 0.0, 0.05, 0.15, 0.3]),
        }
    }

    /// What the hypervisor takes is missing where a CPU was needed: the factor on IOPS, and the busy share that is seen.
    pub(super) fn slowed(&self, busiest_cpu_share: f64) -> f64 {
        (1.0 / (busiest_cpu_share / (1.0 - self.stolen_share)).max(1.0)).min(1.0)
    }

    /// The record as it would have been measured on a machine whose busiest CPU was so busy. `is_of_arithmetic`: a link
    /// or a card holds it, which carries the same every time.
    pub(super) fn applied(
        &self,
        mut record: StepRecord,
        busiest_cpu_share: f64,
        is_of_arithmetic: bool,
        dice: &mut Dice,
    ) -> StepRecord {
        let slowed = self.slowed(busiest_cpu_share);
        let wobble = if is_of_arithmetic { WOBBLE_OF_ARITHMETIC } else { self.wobble };
        let whole = slowed * (wobble * dice.normal()).exp();
        let factors = self.factors(record.intervals.len(), dice);
        let mean = factors.iter().sum::<f64>() / factors.len().max(1) as f64;
        let scaled = |n: u64, factor: f64| (n as f64 * factor).round() as u64;
        for (interval, factor) in record.intervals.iter_mut().zip(&factors) {
            for direction in &mut interval.directions {
                direction.ios = scaled(direction.ios, whole * factor);
                direction.bytes = scaled(direction.bytes, whole * factor);
            }
        }
        let all = whole * mean;
        for direction in &mut record.directions {
            direction.ios = scaled(direction.ios, all);
            direction.bytes = scaled(direction.bytes, all);
        }
        if let Some(host) = &mut record.host {
            // Where a CPU is the limit, steps differ by what an I/O costs it, and it has no rest in any of them.
            let is_full = busiest_cpu_share / (1.0 - self.stolen_share) >= CPU_FULL;
            self.host(host, all, if is_full { slowed } else { all });
        }
        record
    }

    fn factors(&self, n: usize, dice: &mut Dice) -> Vec<f64> {
        let mut last = dice.normal();
        let mut level = 1.0;
        let innovation = (1.0_f64 - 0.9 * 0.9).sqrt();
        let mut factor = || match self.series {
            Series::Independent => 1.0 + self.interval_spread * dice.normal(),
            Series::Remembering => {
                last = 0.9 * last + innovation * dice.normal();
                1.0 + 2.0 * self.interval_spread * last
            }
            Series::TwoLevels => {
                if dice.chance(0.15) {
                    level = 2.0 - level;
                }
                level = if level >= 1.0 { 1.0 + 2.0 * self.interval_spread } else { 1.0 - 2.0 * self.interval_spread };
                level + 0.3 * self.interval_spread * dice.normal()
            }
            Series::Storms if dice.chance(0.05) => 0.3,
            Series::Storms => 1.0 + 0.3 * self.interval_spread * dice.normal(),
        };
        (0..n).map(|_| factor().max(0.0)).collect()
    }

    /// `factor` on what the I/Os caused, `cpu_factor` on the time of CPUs.
    fn host(&self, host: &mut HostDelta, factor: f64, cpu_factor: f64) {
        let times = |ns: &mut u64, factor: f64| *ns = (*ns as f64 * factor).round() as u64;
        let on_cpu = |ns: &mut u64| times(ns, cpu_factor);
        let scaled = |n: &mut u64| times(n, factor);
        let window_ns = host.window_ns;
        for (_, time) in &mut host.cpus {
            [&mut time.user_ns, &mut time.system_ns, &mut time.softirq_ns, &mut time.irq_ns]
                .into_iter()
                .for_each(on_cpu);
            let left_ns = window_ns.saturating_sub(time.busy_ns());
            // Time is stolen from a CPU that wants to run.
            let stolen = time.busy_ns() as f64 * self.stolen_share / (1.0 - self.stolen_share);
            time.steal_ns = (stolen as u64).min(left_ns);
            time.idle_ns = left_ns - time.steal_ns;
        }
        for thread in &mut host.threads {
            on_cpu(&mut thread.user_ns);
            on_cpu(&mut thread.system_ns);
            // A thread that is ready while its CPU is away waits for it.
            let wanted_ns = thread.user_ns + thread.system_ns;
            let share = self.stolen_share / (1.0 - self.stolen_share);
            thread.waited_ns = ((wanted_ns as f64 * share) as u64).min(window_ns.saturating_sub(wanted_ns));
        }
        for disk in &mut host.disks {
            [&mut disk.read_ios, &mut disk.read_bytes, &mut disk.write_ios, &mut disk.write_bytes]
                .into_iter()
                .for_each(scaled);
        }
        scaled(&mut host.interrupts);
        scaled(&mut host.context_switches);
    }
}
