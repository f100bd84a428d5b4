//! A load that changes with time: stages of an open loop, each with its length and its rate, constant or rising evenly.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::knobs::print_duration;

/// Most stages of a step.
pub(crate) const STAGES_MAX: usize = 1_000;
/// Lengths are multiples of this, the shortest interval of a record of a second and more.
pub const STAGE_UNIT_NS: u64 = 100_000_000;
const MILLION: f64 = 1e6;

/// One stage. Its rates are shares of the step's rate, so that a step whose rate is a share of a closed loop has stages as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stage {
    /// A multiple of [`STAGE_UNIT_NS`].
    pub length_ns: u64,
    /// Rate at its beginning, in millionths of the step's rate; 0: nothing is due.
    pub from_ppm: u64,
    /// Rate at its end; between them it changes evenly.
    pub to_ppm: u64,
}

impl Stage {
    /// Rate at its beginning over the step's.
    #[must_use]
    pub fn from(&self) -> f64 {
        self.from_ppm as f64 / MILLION
    }

    /// Rate at its end over the step's.
    #[must_use]
    pub fn to(&self) -> f64 {
        self.to_ppm as f64 / MILLION
    }

    /// Rates at its beginning and its end where the step's is `rate`, in the same unit, to six digits.
    #[must_use]
    pub fn rates(&self, rate: f64) -> [f64; 2] {
        [self.from(), self.to()].map(|share| rounded(share * rate))
    }

    /// I/Os due in it, where the step's rate is one a second.
    #[must_use]
    pub fn ios(&self) -> f64 {
        (self.from() + self.to()) / 2.0 * self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.length_ns as f64 / 1e9
    }

    /// When `ios` of it are due, in seconds from its beginning: the root of `from t + (to - from) t^2 / 2 T = ios`.
    fn due_s(&self, ios: f64) -> f64 {
        let (length, rise) = (self.seconds(), (self.to() - self.from()) / self.seconds());
        // In this form nothing cancels, whether the rate rises, falls or stays.
        let root = (self.from() * self.from() + 2.0 * rise * ios).max(0.0).sqrt();
        let due = if ios > 0.0 { 2.0 * ios / (self.from() + root) } else { 0.0 };
        due.clamp(0.0, length)
    }
}

/// Stages with rates in the unit that they were asked for in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AskedStages {
    /// Length, rate at the beginning, rate at the end.
    pub(crate) stages: Vec<(u64, f64, f64)>,
    /// Whether rates are percent of what a closed loop gave; else I/Os per second.
    pub(crate) is_share: bool,
}

impl AskedStages {
    /// Length of all.
    pub(crate) fn length_ns(&self) -> u64 {
        self.stages.iter().map(|(length, ..)| length).sum()
    }

    /// Mean rate over all of the time.
    pub(crate) fn mean(&self) -> f64 {
        let ios: f64 = self.stages.iter().map(|(length, from, to)| *length as f64 * (from + to) / 2.0).sum();
        ios / self.length_ns().max(1) as f64
    }

    /// The stages of a step with the rate `rate`, in the unit that they were asked for in.
    pub(crate) fn stages(&self, rate: f64) -> Vec<Stage> {
        let ppm = |asked: f64| (asked / rate * MILLION).round() as u64;
        let of = |&(length_ns, from, to): &(u64, f64, f64)| Stage { length_ns, from_ppm: ppm(from), to_ppm: ppm(to) };
        self.stages.iter().map(of).collect()
    }
}

/// As the knob is written: `10s@5k, 2s@40k, 5s@0, 10s@5k-40k`.
pub(crate) struct Written<'a> {
    pub(crate) stages: &'a [Stage],
    /// Rate of the step, in I/Os per second or in percent.
    pub(crate) rate: f64,
    pub(crate) is_share: bool,
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.is_share { "%" } else { "" };
        for (at, stage) in self.stages.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let [from, to] = stage.rates(self.rate);
            write!(f, "{comma}{}@{from}{unit}", print_duration(stage.length_ns))?;
            if from != to {
                write!(f, "-{to}{unit}")?;
            }
        }
        Ok(())
    }
}

/// What a division into millionths leaves of a figure: six digits.
fn rounded(figure: f64) -> f64 {
    if figure == 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(figure.log10().floor() as i32 - 5);
    let rounded = (figure / unit).round();
    // Units above one are whole, those below one come from a division by a whole number: nothing is added to the digits.
    if unit >= 1.0 { rounded * unit } else { rounded / (1.0 / unit).round() }
}

/// Mean rate of the stages over the step's.
#[must_use]
pub fn stages_mean(stages: &[Stage]) -> f64 {
    let seconds: f64 = stages.iter().map(Stage::seconds).sum();
    if seconds > 0.0 { stages.iter().map(Stage::ios).sum::<f64>() / seconds } else { 1.0 }
}

/// When the I/Os of a load with stages are due: the schedule of a process of one I/O a second, stretched so that its rate is
/// that of the stages (time change of a point process; Lewis and Shedler 1979). What comes before the first stage has the
/// rate of its beginning, what comes behind the last that of its end.
#[derive(Clone, Debug)]
pub struct Staged {
    /// With the I/Os and the time, in seconds, before each.
    stages: Vec<(Stage, f64, f64)>,
    /// I/Os and seconds of all of them.
    all: (f64, f64),
    at: usize,
}

impl Staged {
    /// `None` where there are no stages.
    #[must_use]
    pub fn new(stages: &[Stage]) -> Option<Staged> {
        let mut all = (0.0, 0.0);
        let mut placed = Vec::with_capacity(stages.len());
        for stage in stages {
            placed.push((*stage, all.0, all.1));
            all = (all.0 + stage.ios(), all.1 + stage.seconds());
        }
        (!placed.is_empty()).then_some(Staged { stages: placed, all, at: 0 })
    }

    /// When the process has come so far, in seconds from the beginning of the first stage. `ios`: of a step's rate of one a
    /// second, never fewer than at the call before; negative before the first stage.
    pub fn due_s(&mut self, ios: f64) -> f64 {
        if ios < 0.0 {
            let first = self.stages[0].0.from();
            return if first > 0.0 { ios / first } else { ios };
        }
        while self.at + 1 < self.stages.len() && ios >= self.stages[self.at + 1].1 {
            self.at += 1;
        }
        let (stage, ios_before, s_before) = self.stages[self.at];
        if ios >= self.all.0 {
            let last = stage.to();
            let beyond = ios - self.all.0;
            return self.all.1 + if last > 0.0 { beyond / last } else { beyond };
        }
        s_before + stage.due_s(ios - ios_before)
    }
}

impl Staged {
    /// How far the process has come `seconds` after the beginning of the first stage: the inverse of [`Staged::due_s`], but
    /// for gaps, in which it stands still.
    #[must_use]
    pub fn ios_at(&self, seconds: f64) -> f64 {
        if seconds < 0.0 {
            return seconds * self.stages[0].0.from();
        }
        let at = self.stages.partition_point(|(_, _, before)| *before <= seconds).max(1) - 1;
        let (stage, ios_before, s_before) = self.stages[at];
        let length = stage.seconds();
        let inside = (seconds - s_before).min(length);
        let beyond = (seconds - s_before - length).max(0.0);
        let rise = (stage.to() - stage.from()) / length;
        ios_before + stage.from() * inside + rise * inside * inside / 2.0 + stage.to() * beyond
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stages(asked: &[(u64, f64, f64)]) -> Vec<Stage> {
        let stages = asked.iter().map(|(s, from, to)| (s * 1_000_000_000, *from, *to)).collect();
        let asked = AskedStages { stages, is_share: false };
        asked.stages(asked.mean())
    }

    #[test]
    fn a_constant_rate_is_due_evenly() {
        let mut one = Staged::new(&stages(&[(10, 5.0, 5.0)])).expect("a stage");
        for ios in [-2.0, 0.0, 1.0, 9.5, 12.0] {
            assert!((one.due_s(ios) - ios).abs() < 1e-9, "{ios}");
        }
        assert!(Staged::new(&[]).is_none());
    }

    #[test]
    fn bursts_and_gaps_are_where_they_were_asked_for() {
        // 10 s at 1, 2 s at 10, 5 s of nothing, 3 s at 1: 33 I/Os in 20 s, a mean of 1.65.
        let mut all =
            Staged::new(&stages(&[(10, 1.0, 1.0), (2, 10.0, 10.0), (5, 0.0, 0.0), (3, 1.0, 1.0)])).expect("stages");
        let mean = 33.0 / 20.0;
        for (nth, due) in [(0.0, 0.0), (5.0, 5.0), (10.0, 10.0), (20.0, 11.0), (30.01, 17.01), (31.5, 18.5)] {
            let got = all.due_s(nth / mean);
            assert!((got - due).abs() < 1e-4, "I/O {nth}: due at {got}");
        }
    }

    #[test]
    fn it_is_written_as_it_was_asked_for() {
        let stages = stages(&[(10, 5_000.0, 5_000.0), (2, 5_000.0, 40_000.0), (5, 0.0, 0.0)]);
        let mean = (10.0 * 5_000.0 + 2.0 * 22_500.0) / 17.0;
        let written = Written { stages: &stages, rate: mean, is_share: false }.to_string();
        assert_eq!(written, "10s@5000,2s@5000-40000,5s@0");
    }

    proptest! {
        /// Against the integral of the rate, summed up in small steps.
        #[test]
        fn due_times_are_those_of_the_integral(
            asked in proptest::collection::vec((1_u64..5, 0.0..50.0_f64, 0.0..50.0_f64), 1..6),
            share in 0.0..1.0_f64,
        ) {
            prop_assume!(asked.iter().any(|(_, from, to)| from + to > 1.0));
            let stages = stages(&asked);
            let total: f64 = stages.iter().map(Stage::ios).sum();
            let wanted = total * share;
            let due = Staged::new(&stages).expect("stages").due_s(wanted);
            let (mut ios, mut begin) = (0.0, 0.0);
            for stage in &stages {
                let steps = 20_000;
                for i in 0..steps {
                    let (a, b) = (f64::from(i) / f64::from(steps), f64::from(i + 1) / f64::from(steps));
                    let time = begin + (a + b) / 2.0 * stage.seconds();
                    if time < due {
                        ios += (stage.from() + (stage.to() - stage.from()) * (a + b) / 2.0) * stage.seconds() / f64::from(steps);
                    }
                }
                begin += stage.seconds();
            }
            prop_assert!((ios - wanted).abs() <= 2e-3 * total.max(1.0), "{ios} {wanted}");
        }

        #[test]
        fn how_far_it_has_come_is_the_inverse_of_when_it_is_due(
            asked in proptest::collection::vec((1_u64..5, 1.0..50.0_f64, 0.0..50.0_f64), 1..6),
            share in 0.0..1.0_f64,
        ) {
            let stages = stages(&asked);
            let wanted = share * stages.iter().map(Stage::ios).sum::<f64>();
            let mut staged = Staged::new(&stages).expect("stages");
            let due = staged.due_s(wanted);
            prop_assert!((staged.ios_at(due) - wanted).abs() < 1e-6, "{wanted} {}", staged.ios_at(due));
        }

        #[test]
        fn due_times_never_go_back(asked in proptest::collection::vec((1_u64..5, 0.0..9.0_f64, 0.0..9.0_f64), 1..8)) {
            prop_assume!(asked.iter().any(|(_, from, to)| from + to > 1.0));
            let stages = stages(&asked);
            let total: f64 = stages.iter().map(Stage::ios).sum();
            let mut all = Staged::new(&stages).expect("stages");
            let due: Vec<f64> = (-20..200).map(|i| all.due_s(total * f64::from(i) / 150.0)).collect();
            prop_assert!(due.windows(2).all(|w| w[0] <= w[1] + 1e-9), "{due:?}");
        }
    }
}
