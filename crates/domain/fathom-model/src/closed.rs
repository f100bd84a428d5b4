//! Closed network of a drive: a delay, equal media units, and one stage that caps the rate.
//!
//! Exact mean value analysis of `N` I/Os over `M` units of exponential service `S` behind a delay `Z` (Reiser & Lavenberg
//! 1980; balanced closed network, Lazowska et al. 1984, ch. 6 and 20), capped by the slowest stage that takes one I/O at
//! a time. Holds for uniform random addresses, one class, no caches.

use serde::{Deserialize, Serialize};

/// How a drive serves one kind of I/O. Times in nanoseconds per I/O.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpModel {
    /// Units that work at the same time.
    pub units: f64,
    /// Time of a unit.
    pub unit_ns: f64,
    /// Time of the stage that takes one I/O at a time; 1 / this is the most per second.
    pub stage_ns: f64,
    /// Time that queues for nothing, that of the stage included.
    pub fixed_ns: f64,
}

/// Throughput and latency at some number in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operating {
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_ns_mean: f64,
    /// Estimate of the 99th percentile: the wait in a unit is exponential, that before the single stage is not.
    pub lat_ns_p99: f64,
}

impl OpModel {
    /// Latency of one I/O alone.
    #[must_use]
    pub fn alone_ns(&self) -> f64 {
        self.fixed_ns + self.unit_ns
    }

    /// Most I/Os per second with any number in flight.
    #[must_use]
    pub fn iops_max(&self) -> f64 {
        (1e9 / self.stage_ns).min(self.units * 1e9 / self.unit_ns)
    }

    /// The operating point with `n` I/Os in flight.
    #[must_use]
    pub fn at(&self, n: u32) -> Operating {
        self.curve(n).pop().unwrap_or(Operating { iops: 0.0, lat_ns_mean: 0.0, lat_ns_p99: 0.0 })
    }

    /// The operating points with 1 to `n_max` I/Os in flight.
    #[must_use]
    pub fn curve(&self, n_max: u32) -> Vec<Operating> {
        let mut queue = 0.0;
        let mut points = Vec::with_capacity(n_max as usize);
        for n in 1..=n_max {
            let n = f64::from(n);
            let unit_wait_ns = self.unit_ns * (1.0 + queue / self.units);
            let free_ns = self.fixed_ns + unit_wait_ns;
            let per_ns = n / free_ns;
            queue = per_ns * unit_wait_ns;
            let capped_per_ns = per_ns.min(1.0 / self.stage_ns);
            let lat_ns = n / capped_per_ns;
            // Units idle while the stage is the limit: what waits there waits its turn, not by chance.
            let unit_ns = if capped_per_ns < per_ns { self.unit_ns } else { unit_wait_ns };
            points.push(Operating {
                iops: capped_per_ns * 1e9,
                lat_ns_mean: lat_ns,
                lat_ns_p99: self.p99(lat_ns, unit_ns),
            });
        }
        points
    }

    /// Of an exponential wait the 99th percentile is 4.6 means; the share of the unit's time that is wait has that tail.
    fn p99(&self, lat_ns: f64, unit_wait_ns: f64) -> f64 {
        let waiting_share = (unit_wait_ns - self.unit_ns) / unit_wait_ns;
        let service_spread = 1.15;
        let unit_p99 = unit_wait_ns * (service_spread + (100f64.ln() - service_spread) * waiting_share);
        lat_ns - unit_wait_ns + unit_p99
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The balanced network without delay has the closed form `X = N / (N + M - 1) * M / S`.
    #[test]
    fn without_delay_it_is_the_balanced_closed_form() {
        let model = OpModel { units: 8.0, unit_ns: 80_000.0, stage_ns: 1.0, fixed_ns: 0.0 };
        for (i, point) in model.curve(64).iter().enumerate() {
            let n = i as f64 + 1.0;
            let expected = n / (n + 7.0) * 8.0 / 80e-6;
            assert!((point.iops / expected - 1.0).abs() < 1e-12, "N {n}");
        }
    }

    #[test]
    fn littles_law_and_the_asymptotes_hold_at_every_point() {
        let model = OpModel { units: 40.0, unit_ns: 60_000.0, stage_ns: 2_150.0, fixed_ns: 16_000.0 };
        for (i, p) in model.curve(256).iter().enumerate() {
            let n = i as f64 + 1.0;
            assert!((p.iops * p.lat_ns_mean / 1e9 - n).abs() < 1e-9);
            assert!(p.iops <= model.iops_max() * (1.0 + 1e-12) && p.lat_ns_mean >= model.alone_ns() * (1.0 - 1e-12));
            assert!(p.lat_ns_p99 > p.lat_ns_mean);
        }
    }
}
