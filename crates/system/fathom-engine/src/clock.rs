//! The clock of the stamps: the CPU's time stamp counter where it is trustworthy, CLOCK_MONOTONIC elsewhere.

use std::sync::OnceLock;
use std::time::Duration;

use fathom_record::ClockUse;

use crate::system::clock::{MONOTONIC_NAME, is_tsc_trusted};
pub(crate) use crate::system::clock::{monotonic_ns, thread_cpu_ns, unix_ns};

/// Time over which the counter is compared with CLOCK_MONOTONIC at the first use. Long enough for a few parts per
/// million, short enough to stay unnoticed in a start of 100 ms.
const CALIBRATION: Duration = Duration::from_millis(10);
/// Fraction bits of the tick-to-nanosecond factor.
const SHIFT: u32 = 32;

/// A monotonic clock in nanoseconds; copied into every worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Nanoseconds per tick, times 2^[`SHIFT`]; 0: read CLOCK_MONOTONIC instead.
    factor: u64,
    base_ticks: u64,
    base_ns: u64,
    read_cost_ns: f64,
}

impl Clock {
    /// The clock of this process, calibrated at the first call (about 10 ms).
    pub(crate) fn get() -> Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(Clock::calibrate)
    }

    fn calibrate() -> Clock {
        let mut clock = Clock { factor: 0, base_ticks: 0, base_ns: 0, read_cost_ns: 0.0 };
        if tsc_is_trustworthy() {
            let (ticks_0, ns_0) = pair();
            std::thread::sleep(CALIBRATION);
            let (ticks_1, ns_1) = pair();
            let factor = (u128::from(ns_1 - ns_0) << SHIFT) / u128::from((ticks_1 - ticks_0).max(1));
            clock.factor = u64::try_from(factor).unwrap_or(0);
            clock.base_ticks = ticks_1;
            clock.base_ns = ns_1;
        }
        clock.read_cost_ns = clock.measure_cost();
        clock
    }

    /// Now, nanoseconds on the scale of CLOCK_MONOTONIC.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        if self.factor == 0 {
            return monotonic_ns();
        }
        let ticks = ticks().wrapping_sub(self.base_ticks);
        let ns = (u128::from(ticks) * u128::from(self.factor)) >> SHIFT;
        self.base_ns.wrapping_add(ns as u64)
    }

    fn measure_cost(&self) -> f64 {
        const READINGS: u64 = 2_000;
        let begin = self.now();
        let mut last = begin;
        for _ in 0..READINGS {
            last = std::hint::black_box(self.now());
        }
        last.saturating_sub(begin) as f64 / READINGS as f64
    }

    /// What the record says about the clock, given a pair of readings taken at the start of the step.
    pub(crate) fn describe(&self, start: ClockPair) -> ClockUse {
        let end = self.pair();
        let reference = end.monotonic_ns.saturating_sub(start.monotonic_ns) as f64;
        let ours = end.clock_ns.saturating_sub(start.clock_ns) as f64;
        let drift_ppm = if self.factor == 0 || reference == 0.0 { 0.0 } else { (ours - reference) / reference * 1e6 };
        let source = if self.factor == 0 { MONOTONIC_NAME } else { "tsc" };
        ClockUse { source: source.to_owned(), read_cost_ns: self.read_cost_ns, drift_ppm, shortened: None }
    }

    /// Both clocks read together.
    pub(crate) fn pair(&self) -> ClockPair {
        let before = self.now();
        let monotonic_ns = monotonic_ns();
        let after = self.now();
        ClockPair { clock_ns: before + (after - before) / 2, monotonic_ns }
    }
}

/// A reading of the stamping clock and of CLOCK_MONOTONIC at the same moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockPair {
    clock_ns: u64,
    monotonic_ns: u64,
}

/// The kernel's own verdict counts: it watches the counter and leaves it when CPUs disagree.
fn tsc_is_trustworthy() -> bool {
    cfg!(target_arch = "x86_64") && invariant_tsc() && is_tsc_trusted()
}

#[cfg(target_arch = "x86_64")]
fn invariant_tsc() -> bool {
    use std::arch::x86_64::__cpuid;
    // CPUID leaf 0x8000_0007, EDX bit 8: the counter runs at one rate in all states (AMD APM vol. 3, Intel SDM vol. 2A).
    #[allow(unused_unsafe)]
    // SAFETY: CPUID exists on every x86-64 CPU and has no side effect on memory.
    unsafe {
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn invariant_tsc() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ticks() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 CPU; `tsc_is_trustworthy` guards its use as a clock.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ticks() -> u64 {
    0
}

/// A tick reading and CLOCK_MONOTONIC, from the tightest of a few tries.
fn pair() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..32 {
        let before = ticks();
        let ns = monotonic_ns();
        let after = ticks();
        let width = after.wrapping_sub(before);
        if width < best.0 {
            best = (width, before + width / 2, ns);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_keeps_step_with_clock_monotonic() {
        let clock = Clock::get();
        let start = clock.pair();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        let end = clock.pair();
        let ours = end.clock_ns - start.clock_ns;
        let kernel = end.monotonic_ns - start.monotonic_ns;
        assert!(ours.abs_diff(kernel) <= 2_000 + kernel / 1_000, "{ours} ns against {kernel} ns");
    }
}
