//! How often the 95 % interval of the mean holds the truth, over series as storage makes them.
//!
//! The truth is the long-run mean of the process, known in closed form, never that of the sample; of an interval that is
//! said to be of its window alone it is the mean of the window without its noise. A short table runs with the tests;
//! the full one, `cargo test --release -p fathom-stats full_table -- --ignored --nocapture`, is docs/COVERAGE.md.

use crate::batch::mean;
use crate::testing::{Random, ar1, intervals_with, step_of, tell};
use crate::{AdaptiveStop, Recurrence, Scope, iops_estimate, mean_ci};

const SECOND_NS: u64 = 1_000_000_000;
const LEVEL: f64 = 10_000.0;

/// One draw of a process.
struct Draw {
    series: Vec<f64>,
    /// Long-run mean of the process.
    truth: f64,
    /// Mean of the window itself without its noise.
    present: f64,
    window_s: f64,
}

struct Process {
    name: String,
    draw: Box<dyn Fn(&mut Random) -> Draw>,
}

fn process(name: String, draw: impl Fn(&mut Random) -> Draw + 'static) -> Process {
    Process { name, draw: Box::new(draw) }
}

/// Noise of 2 to 3 % around one level, with a memory.
fn correlated(phi: f64, points: usize) -> Process {
    process(format!("AR(1) {phi}, {points} intervals"), move |random| Draw {
        series: ar1(random, phi, points).iter().map(|x| LEVEL * (1.0 + 0.03 * x)).collect(),
        truth: LEVEL,
        present: LEVEL,
        window_s: points as f64,
    })
}

/// Two levels; each is left after a time without memory, `high` and `low` intervals on average.
fn bimodal(high: f64, low: f64, share: f64, points: usize) -> Process {
    process(format!("two levels 1 : {share}, {high} and {low} intervals each, {points} intervals"), move |random| {
        let mut is_low = random.uniform() < low / (high + low);
        let noise = ar1(random, 0.2, points);
        let mut levels = 0.0;
        let at = |is_low: bool| LEVEL * if is_low { share } else { 1.0 };
        let mut series = Vec::with_capacity(points);
        for x in noise {
            levels += at(is_low);
            series.push(at(is_low) * (1.0 + 0.02 * x));
            if random.uniform() < 1.0 / if is_low { low } else { high } {
                is_low = !is_low;
            }
        }
        let truth = LEVEL * (high + low * share) / (high + low);
        Draw { series, truth, present: levels / points as f64, window_s: points as f64 }
    })
}

/// A storm takes `depth` of the throughput for `length_s`, every `period_s`: by the clock give or take a fifth, or at
/// times without memory. Parts of an interval count as such.
#[derive(Clone, Copy)]
pub(crate) struct Storms {
    pub(crate) period_s: f64,
    pub(crate) length_s: f64,
    pub(crate) depth: f64,
    pub(crate) by_clock: bool,
}

impl Storms {
    fn mean(&self) -> f64 {
        LEVEL * (1.0 - self.depth * self.length_s / self.period_s)
    }

    /// Rate interval by interval, and what it would be without noise, from a moment long after the first storm.
    fn draw(&self, random: &mut Random, interval_s: f64, points: usize) -> (Vec<f64>, Vec<f64>) {
        let end = interval_s * points as f64;
        let mut lost = vec![0.0_f64; points];
        let mut at = -self.period_s * (50.0 + random.uniform());
        while at < end {
            let first = (at / interval_s).floor().max(0.0) as usize;
            for (i, lost) in lost.iter_mut().enumerate().skip(first) {
                let from = i as f64 * interval_s;
                let overlap = (at + self.length_s).min(from + interval_s) - at.max(from);
                if overlap <= 0.0 {
                    break;
                }
                *lost += overlap / interval_s;
            }
            at += if self.by_clock {
                self.period_s * (0.8 + 0.4 * random.uniform())
            } else {
                self.length_s - (self.period_s - self.length_s) * random.uniform().ln()
            };
        }
        let noise = ar1(random, 0.3, points);
        let levels: Vec<f64> = lost.iter().map(|lost| LEVEL * (1.0 - self.depth * lost.min(1.0))).collect();
        (noise.iter().zip(&levels).map(|(x, level)| level * (1.0 + 0.02 * x)).collect(), levels)
    }

    fn process(self, interval_s: f64, window_s: f64) -> Process {
        let spacing = if self.by_clock { "every" } else { "at random, on average every" };
        let Storms { period_s, length_s, depth, .. } = self;
        let name = format!(
            "storms of {length_s} s (-{} %) {spacing} {period_s} s, {window_s} s in intervals of {interval_s} s",
            depth * 100.0
        );
        let points = (window_s / interval_s).round() as usize;
        process(name, move |random| {
            let (series, levels) = self.draw(random, interval_s, points);
            Draw { series, truth: self.mean(), present: mean(&levels), window_s }
        })
    }
}

/// A straight change by `share` over the window; the "truth" is the mean of the line, which no longer run would give.
fn drifting(share: f64, points: usize) -> Process {
    process(format!("drift of {} % over {points} intervals", share * 100.0), move |random| {
        let noise = ar1(random, 0.3, points);
        let at = |i: usize| LEVEL * (1.0 + share * ((i as f64 + 0.5) / points as f64 - 0.5));
        let series = noise.iter().enumerate().map(|(i, x)| at(i) * (1.0 + 0.02 * x)).collect();
        Draw { series, truth: LEVEL, present: LEVEL, window_s: points as f64 }
    })
}

/// What became of the intervals of one process.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) draws: usize,
    /// Intervals said to be of the long run, and how many held its mean.
    pub(crate) long_run: (usize, usize),
    /// Intervals said to be of the window alone, how many held its mean, and how many that of the long run.
    pub(crate) window: (usize, usize, usize),
    half_widths: Vec<f64>,
}

impl Tally {
    pub(crate) fn take(&mut self, ci95: Option<(f64, f64)>, scope: Scope, truth: f64, present: f64) {
        self.draws += 1;
        let Some((low, high)) = ci95 else { return };
        let holds = |x: f64| usize::from((low..=high).contains(&x));
        self.half_widths.push((high - low) / (high + low));
        match scope {
            Scope::LongRun => self.long_run = (self.long_run.0 + 1, self.long_run.1 + holds(truth)),
            Scope::Window { .. } => {
                let (all, held, held_truth) = self.window;
                self.window = (all + 1, held + holds(present), held_truth + holds(truth));
            }
        }
    }

    /// At least 90 % of the intervals of each kind hold what they say.
    pub(crate) fn holds(&self) -> bool {
        let enough = |all: usize, held: usize| 10 * held >= 9 * all;
        enough(self.long_run.0, self.long_run.1) && enough(self.window.0, self.window.1)
    }

    /// Whether there are intervals of a kind, and so few that their share is a matter of chance.
    fn has_few(&self) -> bool {
        [self.long_run.0, self.window.0].iter().any(|n| (1..60).contains(n))
    }

    pub(crate) fn row(&mut self, name: &str) -> String {
        self.half_widths.sort_unstable_by(f64::total_cmp);
        let pct = |part: usize, all: usize| {
            if all == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / all as f64) }
        };
        let width = self.half_widths.get(self.half_widths.len() / 2);
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            pct(self.long_run.0, self.draws),
            pct(self.long_run.1, self.long_run.0),
            pct(self.window.0, self.draws),
            pct(self.window.1, self.window.0),
            pct(self.window.2, self.window.0),
            width.map_or("-".into(), |w| format!("{:.1}", 100.0 * w)),
        )
    }
}

/// As many draws as asked for, and up to ten times as many where few intervals are printed.
fn tally(process: &Process, draws: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..10 * draws {
        if seed >= draws && !tally.has_few() {
            break;
        }
        let draw = (process.draw)(&mut Random::new(seed * 7919 + 13));
        tally.take(mean_ci(&draw.series).ci95, Scope::of(draw.window_s), draw.truth, draw.present);
    }
    tally
}

fn storms(period_s: f64, length_s: f64, depth: f64) -> [Storms; 2] {
    [true, false].map(|by_clock| Storms { period_s, length_s, depth, by_clock })
}

fn all_processes() -> Vec<Process> {
    let mut out = Vec::new();
    for phi in [0.0, 0.3, 0.5, 0.7, 0.9, 0.95] {
        out.extend([10, 15, 20, 30, 60, 100, 300].map(|points| correlated(phi, points)));
    }
    for (high, low, share) in [(2.0, 2.0, 0.6), (5.0, 5.0, 0.6), (20.0, 20.0, 0.6), (50.0, 10.0, 0.5), (30.0, 1.0, 0.3)]
    {
        out.extend([10, 30, 60, 100, 300].map(|points| bimodal(high, low, share, points)));
    }
    for (period_s, length_s, depth) in
        [(5.0, 0.5, 0.5), (5.0, 2.0, 0.5), (10.0, 1.0, 0.6), (20.0, 2.0, 0.6), (60.0, 3.0, 0.7)]
    {
        for storms in storms(period_s, length_s, depth) {
            out.extend([3.0, 10.0, 30.0].map(|window_s| storms.process(0.1, window_s)));
            out.extend([60.0, 180.0, 300.0].map(|window_s| storms.process(1.0, window_s)));
        }
    }
    // Fine intervals: memory and storms both reach over many of them.
    out.extend(storms(0.5, 0.1, 0.5).map(|storms| storms.process(0.01, 3.0)));
    for share in [0.02, 0.05, 0.2] {
        out.extend([10, 30, 100, 300].map(|points| drifting(share, points)));
    }
    out
}

#[test]
fn intervals_hold_the_truth_in_nine_of_ten_windows_or_are_not_printed() {
    let mut processes: Vec<Process> = Vec::new();
    for phi in [0.0, 0.5, 0.9, 0.95] {
        processes.extend([10, 20, 60].map(|points| correlated(phi, points)));
    }
    processes.extend([10, 30, 100].map(|points| bimodal(20.0, 20.0, 0.6, points)));
    processes.extend([30, 100].map(|points| bimodal(30.0, 1.0, 0.3, points)));
    for storms in storms(5.0, 0.5, 0.5).into_iter().chain(storms(20.0, 2.0, 0.6)) {
        processes.extend([10.0, 30.0].map(|window_s| storms.process(0.1, window_s)));
    }
    for process in &processes {
        let mut tally = tally(process, 200);
        tell(&tally.row(&process.name));
        assert!(tally.holds(), "{}", tally.row(&process.name));
    }
}

#[test]
fn a_drift_has_no_interval_once_it_can_be_told_from_noise() {
    for (share, points, printed_most) in [(0.05, 100, 0.1), (0.2, 30, 0.01), (0.02, 300, 0.5)] {
        let tally = tally(&drifting(share, points), 200);
        let printed = (tally.long_run.0 + tally.window.0) as f64 / tally.draws as f64;
        assert!(printed <= printed_most, "{share} over {points}: {printed}");
    }
}

#[test]
fn without_counting_storms_the_intervals_would_not_hold() {
    // Proves that the table can fail: plain Student's t over the same windows.
    let storms = Storms { period_s: 10.0, length_s: 1.0, depth: 0.6, by_clock: false };
    let process = storms.process(0.1, 30.0);
    let mut tally = Tally::default();
    for seed in 0..200 {
        let draw = (process.draw)(&mut Random::new(seed));
        let n = draw.series.len() as f64;
        let (value, half) = (mean(&draw.series), 1.96 * (crate::batch::variance(&draw.series) / n).sqrt());
        tally.take(Some((value - half, value + half)), Scope::LongRun, draw.truth, draw.present);
    }
    assert!(!tally.holds(), "{}", tally.row(&process.name));
}

/// A run of ten adaptive steps of 6 to 60 s under storms: intervals at the stop, with what the steps learn from each other
/// and without.
fn runs_under(storms: Storms, runs: u64, learns: bool) -> Tally {
    const STEPS: usize = 10;
    let mut tally = Tally::default();
    for seed in 0..runs {
        let mut random = Random::new(seed * 104_729 + 7);
        let mut learnt = Recurrence::default();
        let mut ended = Vec::new();
        for _ in 0..STEPS {
            let (series, levels) = storms.draw(&mut random, 0.1, 600);
            let ios: Vec<u64> = series.iter().map(|rate| (rate / 10.0).round() as u64).collect();
            let floor_ns = learnt.floor_ns().filter(|_| learns).unwrap_or(0);
            let step = step_of(floor_ns.clamp(6 * SECOND_NS, 60 * SECOND_NS), 60 * SECOND_NS);
            let intervals = intervals_with(&ios);
            let stop = AdaptiveStop::new();
            let end = (1..=600).find(|n| stop.may_stop(&intervals[..*n], &step)).unwrap_or(600);
            let length_ns = end as u64 * SECOND_NS / 10;
            learnt.see(&series[..end], length_ns);
            ended.push((mean_ci(&series[..end]), series[..end].to_vec(), length_ns, mean(&levels[..end])));
        }
        for (estimate, rates, length_ns, present) in ended {
            let half = estimate.rel_half_width().unwrap_or(0.0);
            let is_kept = !learns || learnt.too_short(&rates, length_ns, half).is_none();
            let scope = Scope::of(length_ns as f64 / 1e9);
            tally.take(estimate.ci95.filter(|_| is_kept), scope, storms.mean(), present);
        }
    }
    tally
}

/// Steps of AR(1) noise, stopped as soon as they are precise enough.
fn stopped(phi: f64, spread: f64, draws: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..draws {
        let noise = ar1(&mut Random::new(seed * 31 + 5), phi, 600);
        let ios: Vec<u64> = noise.iter().map(|x| (LEVEL / 10.0 * (1.0 + spread * x)).round() as u64).collect();
        let intervals = intervals_with(&ios);
        let (step, stop) = (step_of(3 * SECOND_NS, 60 * SECOND_NS), AdaptiveStop::new());
        let end = (1..=600).find(|n| stop.may_stop(&intervals[..*n], &step)).unwrap_or(600);
        tally.take(iops_estimate(&intervals[..end]).ci95, Scope::of(end as f64 / 10.0), LEVEL, LEVEL);
    }
    tally
}

#[test]
fn intervals_hold_where_a_step_stops_once_it_is_precise_enough() {
    for (phi, spread) in [(0.0, 0.03), (0.7, 0.02)] {
        let mut tally = stopped(phi, spread, 60);
        tell(&tally.row("at the stop"));
        assert!(tally.holds() && tally.long_run.0 + tally.window.0 > 40, "phi {phi}: {}", tally.row("at the stop"));
    }
}

#[test]
fn steps_that_learn_of_storms_run_longer_and_print_fewer_intervals_that_miss_them() {
    let storms = Storms { period_s: 20.0, length_s: 2.0, depth: 0.6, by_clock: false };
    let (mut with, mut without) = (runs_under(storms, 6, true), runs_under(storms, 6, false));
    tell(&with.row("with learning"));
    tell(&without.row("without learning"));
    assert!(with.holds(), "{}", with.row("with learning"));
    // Also of the long run, which they do not claim.
    let missed = |tally: &Tally| tally.window.0 - tally.window.2;
    assert!(missed(&with) * 4 <= missed(&without), "{} {}", with.row("with"), without.row("without"));
}

#[test]
#[ignore = "part of docs/COVERAGE.md: minutes"]
fn full_table_at_the_stop() {
    for (phi, spread) in [(0.0, 0.03), (0.5, 0.03), (0.7, 0.02), (0.9, 0.02), (0.95, 0.01)] {
        tell(
            &stopped(phi, spread, 300)
                .row(&format!("AR(1) {phi}, spread {} %, floor 3 s, budget 60 s", 100.0 * spread)),
        );
    }
    for (period_s, length_s, depth) in [(5.0, 0.5, 0.5), (10.0, 1.0, 0.6), (20.0, 2.0, 0.6), (60.0, 3.0, 0.7)] {
        for storms in storms(period_s, length_s, depth) {
            let spacing = if storms.by_clock { "every" } else { "at random, on average every" };
            let name = format!("ten steps of 6 to 60 s, storms of {length_s} s {spacing} {period_s} s");
            for (how, learns) in [("each step alone", false), ("learning", true)] {
                tell(&runs_under(storms, 20, learns).row(&format!("{name}: {how}")));
            }
        }
    }
}

#[test]
#[ignore = "the full table of docs/COVERAGE.md: minutes"]
fn full_table() {
    for process in all_processes() {
        let mut tally = tally(&process, 300);
        let mark = if tally.holds() { "" } else { " **below 90 %**" };
        tell(&format!("{}{mark}", tally.row(&process.name)));
    }
}
