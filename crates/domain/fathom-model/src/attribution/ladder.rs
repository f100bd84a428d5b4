//! All steps of a workload explained together: what more in flight could still bring, with its probability.
//!
//! The curve is `X(n) = C u / (1 + u^k)^(1/k)` with `u = (n / n*)^a`: for `a = 1` it is `n / R` as long as nothing queues, `C` when the
//! plateau is reached, and between them a knee that `k` makes soft (1: `n / (R + n / C)`) or sharp. `a` below one is a device whose
//! latency grows with depth long before something caps it. Posterior weights are summed over a grid of `n*`, `k`, `a` and the spread that steps have beside their own intervals; `C` has a flat prior in the logarithm and
//! is integrated exactly. So noise widens the answer and a step is never judged by its nearest neighbour alone.

/// One step as the curve sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rung {
    /// I/Os in flight over all threads and targets.
    pub(crate) in_flight: f64,
    /// I/Os per second.
    pub(crate) iops: f64,
    /// Standard error of them, as a share.
    pub(crate) relative_error: f64,
}

/// A curve of the grid, and how probable it is beside the others.
#[derive(Clone, Copy, Debug)]
struct Curve {
    weight: f64,
    knee_in_flight: f64,
    sharpness: f64,
    exponent: f64,
}

impl Curve {
    fn share_of_plateau(&self, in_flight: f64) -> f64 {
        share_of_plateau((in_flight / self.knee_in_flight).powf(self.exponent), self.sharpness)
    }
}

/// What the steps leave of the grid.
#[derive(Clone, Debug)]
pub(crate) struct LadderFit {
    curves: Vec<Curve>,
}

/// Sharpness of the knee: a queue whose service varies much, to a device that serves so many at once and no more.
const SHARPNESS: [f64; 5] = [1.0, 1.5, 2.0, 4.0, 12.0];
/// How IOPS grow with depth below the knee, and how common that is.
const EXPONENT: [(f64, f64); 3] = [(1.0, 0.8), (0.8, 0.1), (0.6, 0.1)];
/// What steps differ by beside their own intervals, relative standard deviation, and how common that is: one step is one
/// draw of a host and a device whose state changes between steps.
const SPREAD: [(f64, f64); 6] = [(0.003, 0.1), (0.01, 0.25), (0.03, 0.3), (0.07, 0.2), (0.15, 0.1), (0.3, 0.05)];
/// Places of the knee: so many for each doubling, from this share of the shallowest step to this multiple of the deepest.
const KNEES_PER_DOUBLING: f64 = 4.0;
const KNEE_BELOW: f64 = 1.0 / 16.0;
const KNEE_ABOVE: f64 = 64.0;
/// Curves less probable than this share of the most probable one are forgotten.
const WEIGHT_MIN: f64 = 1e-6;

/// Share of the plateau that is reached: IOPS over `C`.
fn share_of_plateau(u: f64, sharpness: f64) -> f64 {
    // Written so that neither a huge nor a tiny `u` overflows.
    (1.0 + u.powf(-sharpness)).powf(-1.0 / sharpness)
}

impl LadderFit {
    /// Explains the steps; `None` where they do not differ in what they had in flight.
    pub(crate) fn of(rungs: &[Rung]) -> Option<LadderFit> {
        let rungs = &pooled(rungs)[..];
        let depths = || rungs.iter().map(|r| r.in_flight);
        let (low, high) = (depths().fold(f64::INFINITY, f64::min), depths().fold(0.0, f64::max));
        if rungs.iter().any(|r| r.iops <= 0.0 || r.in_flight <= 0.0) || low >= high {
            return None;
        }
        let (first, last) = (low * KNEE_BELOW, high * KNEE_ABOVE);
        let steps = ((last / first).log2() * KNEES_PER_DOUBLING).ceil();
        let mut curves = Vec::new();
        for i in 0..=steps as u32 {
            let knee_in_flight = first * (last / first).powf(f64::from(i) / steps);
            for (sharpness, (exponent, common)) in SHARPNESS.into_iter().flat_map(|k| EXPONENT.map(|a| (k, a))) {
                let curve = Curve { weight: 0.0, knee_in_flight, sharpness, exponent };
                let residual = |r: &Rung| r.iops.ln() - curve.share_of_plateau(r.in_flight).ln();
                let residuals: Vec<f64> = rungs.iter().map(residual).collect();
                for (spread, prior) in SPREAD {
                    let weight = (prior * common).ln() + log_evidence(rungs, &residuals, spread);
                    curves.push(Curve { weight, ..curve });
                }
            }
        }
        let most = curves.iter().map(|c| c.weight).fold(f64::NEG_INFINITY, f64::max);
        curves.iter_mut().for_each(|c| c.weight = (c.weight - most).exp());
        curves.retain(|c| c.weight >= WEIGHT_MIN);
        let sum: f64 = curves.iter().map(|c| c.weight).sum();
        curves.iter_mut().for_each(|c| c.weight /= sum);
        Some(LadderFit { curves })
    }

    /// Probability that more in flight than `in_flight` can bring no more than the factor `gain`.
    pub(crate) fn probability_of_less_than(&self, gain: f64, in_flight: f64) -> f64 {
        self.curves
            .iter()
            .filter(|c| c.share_of_plateau(in_flight) * gain >= 1.0)
            .map(|c| c.weight)
            .sum::<f64>()
            .min(1.0)
    }
}

/// Steps of one depth as one: a run that measures each depth many times is explained as fast as one that does so once.
fn pooled(rungs: &[Rung]) -> Vec<Rung> {
    let mut depths: Vec<(f64, Vec<&Rung>)> = Vec::new();
    for rung in rungs {
        match depths.iter_mut().find(|(in_flight, _)| *in_flight == rung.in_flight) {
            Some((_, same)) => same.push(rung),
            None => depths.push((rung.in_flight, vec![rung])),
        }
    }
    let one = |(in_flight, same): (f64, Vec<&Rung>)| {
        let n = same.len() as f64;
        let iops = (same.iter().map(|r| r.iops.ln()).sum::<f64>() / n).exp();
        let relative_error = same.iter().map(|r| r.relative_error.powi(2)).sum::<f64>().sqrt() / n;
        Rung { in_flight, iops, relative_error }
    };
    depths.into_iter().map(one).collect()
}

/// Logarithm of the probability of the steps under a curve's shape, `C` integrated over a flat prior in its logarithm;
/// `residuals`: logarithms of what each step gave over the shape.
fn log_evidence(rungs: &[Rung], residuals: &[f64], spread: f64) -> f64 {
    let (mut precision, mut sum, mut squares, mut log_norm) = (0.0, 0.0, 0.0, 0.0);
    for (rung, residual) in rungs.iter().zip(residuals) {
        let variance = rung.relative_error.powi(2) + spread.powi(2);
        precision += 1.0 / variance;
        sum += residual / variance;
        squares += residual * residual / variance;
        log_norm -= 0.5 * variance.ln();
    }
    log_norm - 0.5 * precision.ln() - 0.5 * (squares - sum * sum / precision)
}

#[cfg(test)]
mod tests {
    use fathom_random::Rng;

    use super::*;

    fn normal(rng: &mut Rng) -> f64 {
        let uniform = |rng: &mut Rng| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        (-2.0 * uniform(rng).max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * uniform(rng)).cos()
    }

    fn ladder(depths: &[u32], of: impl Fn(f64) -> f64, relative_error: f64) -> Vec<Rung> {
        let rung = |&n: &u32| Rung { in_flight: f64::from(n), iops: of(f64::from(n)), relative_error };
        depths.iter().map(rung).collect()
    }

    #[test]
    fn a_clean_ladder_is_explained_with_certainty_and_a_single_depth_not_at_all() {
        // 100 us each, and 16 at once.
        let sharp = |n: f64| (n.min(16.0)) / 100e-6;
        let fit = LadderFit::of(&ladder(&[1, 2, 4, 8, 16, 32, 64, 128], sharp, 0.005)).expect("explained");
        assert!(fit.probability_of_less_than(1.1, 4.0) < 0.01);
        assert!(fit.probability_of_less_than(1.1, 64.0) > 0.99);
        assert!(LadderFit::of(&ladder(&[8, 8], sharp, 0.005)).is_none());
        assert!(LadderFit::of(&[]).is_none());
    }

    #[test]
    fn noise_lowers_the_probability_and_does_not_turn_the_answer_round() {
        let sharp = |n: f64| (n.min(16.0)) / 100e-6;
        let mut rungs = ladder(&[1, 4, 16, 64, 128], sharp, 0.01);
        let quiet = LadderFit::of(&rungs).expect("explained").probability_of_less_than(1.1, 64.0);
        for (rung, factor) in rungs.iter_mut().zip([1.1, 0.85, 0.9, 1.1, 0.95]) {
            rung.iops *= factor;
        }
        let noisy = LadderFit::of(&rungs).expect("explained").probability_of_less_than(1.1, 64.0);
        assert!(noisy < quiet && noisy > 0.5, "{noisy} after {quiet}");
    }

    /// Machine repairman with `servers` that each serve one at a time, exponentially: exact, and no curve of the grid.
    fn closed_queue(servers: f64, service_s: f64, wait_s: f64) -> impl Fn(f64) -> f64 {
        move |n: f64| {
            // Schweitzer's approximation of the multi-server station, iterated to its fixed point.
            let mut queue = n / 2.0;
            for _ in 0..200 {
                let waiting = (queue * (n - 1.0) / n - (servers - 1.0)).max(0.0) / servers;
                let residence = service_s * (1.0 + waiting);
                queue = 0.5 * queue + 0.5 * n * residence / (residence + wait_s);
            }
            let waiting = (queue * (n - 1.0) / n - (servers - 1.0)).max(0.0) / servers;
            n / (service_s * (1.0 + waiting) + wait_s)
        }
    }

    /// Said 90 %: right nine times in ten. Truth is the curve before noise, of queues that are not in the family, with
    /// steps that differ by more than their intervals say.
    #[test]
    fn what_is_said_with_a_probability_is_right_so_often() {
        let mut rng = Rng::new(2026, 0);
        let uniform = |rng: &mut Rng| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (mut said, mut right, mut sure, mut sure_wrong) = ([0.0; 10], [0.0; 10], 0, 0);
        let mut counts = [0_u32; 10];
        for _ in 0..1500 {
            let servers = 2_f64.powf(uniform(&mut rng) * 7.0).round();
            let truth = closed_queue(servers, 80e-6, 40e-6 * uniform(&mut rng));
            let depths: Vec<u32> =
                [1, 2, 4, 8, 16, 32, 64, 128, 256].into_iter().filter(|_| uniform(&mut rng) < 0.7).collect();
            let wobble: f64 = [0.005, 0.02, 0.05, 0.12][(uniform(&mut rng) * 4.0) as usize];
            let error = 0.002 + 0.02 * uniform(&mut rng);
            let mut rungs = ladder(&depths, &truth, error);
            for rung in &mut rungs {
                rung.iops *= (normal(&mut rng) * wobble.hypot(error)).exp();
            }
            let Some(fit) = LadderFit::of(&rungs) else { continue };
            let plateau = truth(1e5);
            for &n in &depths {
                let p = fit.probability_of_less_than(1.1, f64::from(n));
                let is_plateau = truth(f64::from(n)) * 1.1 >= plateau;
                let (p, ok) = if p >= 0.5 { (p, is_plateau) } else { (1.0 - p, !is_plateau) };
                let bin = ((p * 10.0) as usize).min(9);
                counts[bin] += 1;
                said[bin] += p;
                right[bin] += f64::from(u8::from(ok));
                sure += u32::from(p >= 0.9);
                sure_wrong += u32::from(p >= 0.9 && !ok);
            }
        }
        let total: f64 = counts.iter().map(|&n| f64::from(n)).sum();
        let error: f64 = said.iter().zip(right).map(|(s, r)| (s - r).abs()).sum::<f64>() / total;
        assert!(error <= 0.05, "expected calibration error {error}");
        assert!(f64::from(sure_wrong) <= 0.02 * f64::from(sure), "{sure_wrong} of {sure}");
        assert!(f64::from(sure) >= 0.5 * total, "an answer is given: {sure} of {total}");
    }
}
