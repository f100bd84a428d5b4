//! Few-parameter fit of a drive to measured points: least squares on the logarithm of IOPS.

use serde::Serialize;

use crate::closed::OpModel;

/// A measured point of one kind of I/O on one drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// I/Os in flight.
    pub(crate) in_flight: u32,
    /// I/Os per second.
    pub(crate) iops: f64,
}

/// A fitted kind of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The model.
    pub model: OpModel,
    /// Root mean square of `ln(predicted / measured)`.
    pub residual: f64,
}

/// Units tried.
const UNITS: [f64; 16] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0];
/// Shares of the unloaded latency that are the unit's.
const SHARES: [f64; 12] = [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];
/// Factors on the unloaded latency and on the highest rate, so that no single point is met exactly.
const FACTORS: [f64; 5] = [0.9, 0.95, 1.0, 1.05, 1.1];

/// Fits units, their time, the fixed time and the stage to points of a ladder in depth. `None` with fewer than two
/// different depths, or a rate of zero.
#[must_use]
pub(crate) fn fit(points: &[Point]) -> Option<Fit> {
    let lowest = points.iter().min_by_key(|p| p.in_flight)?;
    let highest = points.iter().map(|p| p.iops).fold(0.0, f64::max);
    let deepest = points.iter().map(|p| p.in_flight).max()?;
    if deepest == lowest.in_flight || points.iter().any(|p| p.iops <= 0.0 || p.in_flight == 0) {
        return None;
    }
    // The shallowest point's latency is the unloaded one as long as its depth is 1.
    let alone_ns = f64::from(lowest.in_flight) * 1e9 / lowest.iops;
    let mut best: Option<Fit> = None;
    for units in UNITS {
        for share in SHARES {
            for stretch in FACTORS {
                for cap in FACTORS.iter().chain([&f64::INFINITY]) {
                    let model = OpModel {
                        units,
                        unit_ns: alone_ns * stretch * share,
                        fixed_ns: alone_ns * stretch * (1.0 - share),
                        stage_ns: 1e9 / (highest * cap),
                    };
                    let residual = residual(&model, points, deepest);
                    if best.is_none_or(|b| residual < b.residual) {
                        best = Some(Fit { model, residual });
                    }
                }
            }
        }
    }
    best.map(|found| refine(found, points, deepest))
}

/// Moves one parameter at a time by ever smaller factors as long as that helps.
fn refine(mut best: Fit, points: &[Point], deepest: u32) -> Fit {
    for factor in [1.05, 1.02, 1.01, 1.005] {
        for _ in 0..20 {
            let before = best.residual;
            for which in 0..4 {
                for by in [factor, 1.0 / factor] {
                    let mut model = best.model;
                    match which {
                        0 => model.units = (model.units * by).max(1.0),
                        1 => model.unit_ns *= by,
                        2 => model.fixed_ns *= by,
                        _ => model.stage_ns *= by,
                    }
                    let residual = residual(&model, points, deepest);
                    if residual < best.residual {
                        best = Fit { model, residual };
                    }
                }
            }
            if best.residual >= before * 0.999 {
                break;
            }
        }
    }
    best
}

fn residual(model: &OpModel, points: &[Point], deepest: u32) -> f64 {
    let curve = model.curve(deepest);
    let sum: f64 = points.iter().map(|p| (curve[p.in_flight as usize - 1].iops / p.iops).ln().powi(2)).sum();
    (sum / points.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(model: &OpModel, depths: &[u32]) -> Vec<Point> {
        depths.iter().map(|n| Point { in_flight: *n, iops: model.at(*n).iops }).collect()
    }

    #[test]
    fn a_ladder_of_the_model_itself_is_met_and_holds_between_its_points() {
        let truth = OpModel { units: 20.0, unit_ns: 70_000.0, fixed_ns: 12_000.0, stage_ns: 4_000.0 };
        let found = fit(&points(&truth, &[1, 2, 4, 8, 16, 32, 64, 128])).expect("is fitted");
        assert!(found.residual < 0.01, "{found:?}");
        for n in [3, 6, 12, 24, 48, 96] {
            let error = found.model.at(n).iops / truth.at(n).iops - 1.0;
            assert!(error.abs() < 0.05, "N {n}: {error:+.3}");
        }
    }

    #[test]
    fn three_points_predict_the_rest_of_a_ladder() {
        let truth = OpModel { units: 8.0, unit_ns: 90_000.0, fixed_ns: 20_000.0, stage_ns: 14_000.0 };
        let found = fit(&points(&truth, &[1, 8, 64])).expect("is fitted");
        for n in [2, 4, 16, 32] {
            let error = found.model.at(n).iops / truth.at(n).iops - 1.0;
            assert!(error.abs() < 0.15, "N {n}: {error:+.3}");
        }
    }

    #[test]
    fn one_depth_is_no_ladder() {
        assert_eq!(fit(&[Point { in_flight: 4, iops: 1e3 }]), None);
        assert_eq!(fit(&[Point { in_flight: 1, iops: 0.0 }, Point { in_flight: 2, iops: 1e3 }]), None);
    }
}
