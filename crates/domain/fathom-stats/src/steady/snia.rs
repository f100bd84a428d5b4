//! The steady state of the SNIA performance test specification (PTS), over rounds.

use super::drift::least_squares_slope;
use crate::batch::mean;

/// Rounds after which the specification gives up.
pub const SNIA_ROUNDS_MAX: usize = 25;

/// Rounds of the measurement window.
const WINDOW: usize = 5;
const RANGE_MAX: f64 = 0.20;
const SLOPE_MAX: f64 = 0.10;

/// The last five rounds as the specification's steady state determination table shows them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SniaWindow {
    /// Mean of the window.
    pub average: f64,
    /// Largest minus smallest.
    pub range: f64,
    /// Largest range allowed: 20 % of the average.
    pub range_allowed: f64,
    /// Slope of the least-squares line per round.
    pub slope: f64,
    /// Its rise or fall over the window: |slope| x 4.
    pub excursion: f64,
    /// Largest excursion allowed: 10 % of the average.
    pub excursion_allowed: f64,
    /// Whether both hold.
    pub reached: bool,
}

/// Steady state after SNIA PTS on the last five of `rounds`; `None` for fewer.
///
/// Both (a) range <= 20 % of the average and (b) |slope| x 4 <= 10 % of it. A series that keeps losing 2 % a round
/// passes: show the drift beside it.
#[must_use]
pub fn snia_window(rounds: &[f64]) -> Option<SniaWindow> {
    let window = &rounds[rounds.len().checked_sub(WINDOW)?..];
    let average = mean(window);
    let range =
        window.iter().fold(f64::NEG_INFINITY, |m, y| m.max(*y)) - window.iter().fold(f64::INFINITY, |m, y| m.min(*y));
    let slope = least_squares_slope(window);
    let excursion = slope.abs() * (WINDOW - 1) as f64;
    let (range_allowed, excursion_allowed) = (RANGE_MAX * average, SLOPE_MAX * average);
    let reached = average > 0.0 && range <= range_allowed && excursion <= excursion_allowed;
    Some(SniaWindow { average, range, range_allowed, slope, excursion, excursion_allowed, reached })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(rounds: &[f64]) -> bool {
        snia_window(rounds).unwrap().reached
    }

    #[test]
    fn five_rounds_are_needed_and_the_last_five_count() {
        assert_eq!(snia_window(&[100.0; 4]), None);
        assert!(reached(&[900.0, 300.0, 100.0, 101.0, 99.0, 100.0, 100.0]));
        assert!(!reached(&[900.0, 300.0, 100.0, 101.0, 99.0, 100.0]));
    }

    #[test]
    fn range_and_slope_are_judged_apart() {
        assert!(reached(&[90.0, 110.0, 100.0, 110.0, 90.0]), "range 20 %, no slope");
        assert!(!reached(&[89.0, 111.0, 100.0, 111.0, 89.0]), "range 22 %, no slope");
        assert!(!reached(&[94.0, 97.0, 100.0, 103.0, 106.0]), "range 12 %, slope 12 %");
        assert!(reached(&[96.0, 98.0, 100.0, 102.0, 104.0]), "slope 8 %");
        assert!(!reached(&[0.0; 5]), "a dead drive is not steady");
    }

    #[test]
    fn a_drive_that_sinks_two_percent_a_round_passes_and_two_and_a_half_do_not() {
        let sinking = |loss: f64| -> Vec<f64> { (0..20).map(|i| 1000.0 * (1.0 - loss).powi(i)).collect() };
        assert!(reached(&sinking(0.020)));
        assert!(!reached(&sinking(0.026)));
    }
}
