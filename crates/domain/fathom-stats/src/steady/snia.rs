//! The steady state of the SNIA performance test specification (PTS), over rounds.

use fathom_message::{Message, msg};

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

/// Steady state after SNIA PTS over all rounds of a test: the specification's determination table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SniaDetermination {
    /// Whether some window of five was steady within the rounds allowed.
    pub reached: bool,
    /// First and last round of the window, counted from 1: the first that was steady, else the last looked at.
    pub rounds: (u32, u32),
    /// The window.
    pub window: SniaWindow,
    /// Value of the window's line at round 0, so that y = intercept + slope x round.
    pub intercept: f64,
    /// Slope of the least-squares line over all rounds, percent of their mean per round: what a window of five, which
    /// a drive that loses 2 % a round passes for ever, cannot see.
    pub drift_pct_per_round: f64,
    /// First round (from 1) after the window at which the last five were not steady any more; `None` when steady
    /// state lasted, was not reached, or nothing ran after it.
    pub left_at_round: Option<u32>,
}

impl SniaDetermination {
    /// The line of the window as people read it: `y = 10234 - 12.3 x`, x being the round.
    #[must_use]
    pub fn line(&self) -> String {
        let slope = self.window.slope;
        format!("y = {:.6} {} {:.4} x", Short(self.intercept), if slope < 0.0 { '-' } else { '+' }, Short(slope.abs()))
    }

    /// The rounds of the window that was steady, or that steady state was not achieved.
    #[must_use]
    pub fn message(&self) -> Message {
        match (self.reached, self.rounds) {
            (true, (first, last)) => msg!("stats-snia-rounds", first = first, last = last),
            (false, _) => msg!("stats-snia-not-achieved"),
        }
    }
}

/// A number with so many significant digits as the precision says, never in powers of ten.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(4) as i32;
        let before = if self.0 == 0.0 { 1 } else { self.0.abs().log10().floor() as i32 + 1 };
        let decimals = (digits - before).clamp(0, 12) as usize;
        write!(f, "{:.decimals$}", self.0)
    }
}

/// Steady state after SNIA PTS of a test whose tracked variable was `rounds`, looked at after each round from the fifth
/// to `rounds_max` ([`SNIA_ROUNDS_MAX`] in the specification); `None` for fewer than five rounds.
#[must_use]
pub fn snia_determination(rounds: &[f64], rounds_max: usize) -> Option<SniaDetermination> {
    let at_most = rounds.len().min(rounds_max.max(WINDOW));
    let is_steady_at = |end: usize| snia_window(&rounds[..end]).is_some_and(|w| w.reached);
    let found = (WINDOW..=at_most).find(|end| is_steady_at(*end));
    let end = found.unwrap_or(at_most);
    let window = snia_window(rounds.get(..end)?)?;
    // The line goes through the middle of the window: its third round.
    let intercept = window.average - window.slope * (end - 2) as f64;
    let left = found.and_then(|end| (end + 1..=rounds.len()).find(|later| !is_steady_at(*later)));
    Some(SniaDetermination {
        reached: found.is_some(),
        rounds: ((end - WINDOW + 1) as u32, end as u32),
        window,
        intercept,
        drift_pct_per_round: least_squares_slope(rounds) / mean(rounds) * 100.0,
        left_at_round: left.map(|r| r as u32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

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

    #[test]
    fn the_table_names_the_first_steady_window_and_its_line() {
        let rounds = [900.0, 300.0, 104.0, 102.0, 100.0, 98.0, 96.0, 96.0];
        let table = snia_determination(&rounds, SNIA_ROUNDS_MAX).unwrap();
        assert_eq!((table.reached, table.rounds), (true, (3, 7)));
        assert_eq!(english(&table.message()), "rounds 3..7");
        assert_eq!((table.window.average, table.window.range, table.window.slope), (100.0, 8.0, -2.0));
        assert_eq!(table.intercept, 110.0, "104 at round 3");
        assert_eq!(table.line(), "y = 110.000 - 2.000 x");
        assert_eq!(table.left_at_round, None);
    }

    #[test]
    fn not_achieved_is_a_result_with_the_last_window() {
        let rounds: Vec<f64> = (0..30).map(|i| if i % 2 == 0 { 100.0 } else { 60.0 }).collect();
        let table = snia_determination(&rounds, SNIA_ROUNDS_MAX).unwrap();
        assert_eq!((table.reached, table.rounds), (false, (21, 25)));
        assert_eq!(english(&table.message()), "NOT ACHIEVED");
        assert_eq!(snia_determination(&rounds[..4], SNIA_ROUNDS_MAX), None);
    }

    #[test]
    fn a_window_beyond_the_last_allowed_round_does_not_count() {
        let rounds: Vec<f64> = (0..40).map(|i| if i < 24 { 1000.0 * 0.9_f64.powi(i) } else { 80.0 }).collect();
        assert!(!snia_determination(&rounds, SNIA_ROUNDS_MAX).unwrap().reached);
        assert!(snia_determination(&rounds, 40).unwrap().reached);
    }

    #[test]
    fn leaving_the_steady_state_is_noticed() {
        let mut rounds = vec![100.0; 12];
        rounds[9] = 50.0;
        let table = snia_determination(&rounds, SNIA_ROUNDS_MAX).unwrap();
        assert_eq!((table.rounds, table.left_at_round), ((1, 5), Some(10)));
    }

    #[test]
    fn numbers_of_the_line_are_short_and_plain() {
        let text = |x: f64| format!("{:.4}", Short(x));
        assert_eq!(
            [text(0.0), text(0.001_234_5), text(12.345), text(98_765.4)],
            ["0.000", "0.001234", "12.35", "98765"]
        );
    }
}
