//! Seeded randomness and intervals for tests.

use fathom_hist::Histogram;
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineSpec, Load, Op, OpMix, Pattern, Phase, Placement, Region, RunLength,
    Step, TargetId, Workload,
};
use fathom_record::{DirectionInterval, Interval};

/// Prints a rate that a test found; seen with `--nocapture`.
#[allow(clippy::print_stdout, reason = "tests of rates print what they found")]
pub(crate) fn tell(line: &str) {
    println!("{line}");
}

/// SplitMix64: same numbers for ever.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box-Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Stationary first-order autoregression of unit variance and mean zero.
pub(crate) fn ar1(random: &mut Random, phi: f64, points: usize) -> Vec<f64> {
    let mut x = random.normal();
    (0..points)
        .map(|_| {
            x = phi * x + (1.0 - phi * phi).sqrt() * random.normal();
            x
        })
        .collect()
}

/// Intervals of 100 ms with reads of the given latencies.
pub(crate) fn intervals_of(latencies: &[Vec<u64>]) -> Vec<Interval> {
    let mut intervals = Vec::new();
    refill(&mut intervals, latencies);
    intervals
}

/// As [`intervals_of`], into the histograms of earlier intervals: a new histogram costs a page fault per 4 KiB.
pub(crate) fn refill(intervals: &mut Vec<Interval>, latencies: &[Vec<u64>]) {
    let length_ns = 100_000_000;
    let empty = |i: usize| {
        let read = DirectionInterval { op: Op::Read, ios: 0, bytes: 0, lat: Histogram::new() };
        Interval { start_ns: i as u64 * length_ns, length_ns, directions: vec![read], syncs: None }
    };
    intervals.truncate(latencies.len());
    intervals.extend((intervals.len()..latencies.len()).map(empty));
    for (interval, samples) in intervals.iter_mut().zip(latencies) {
        let read = &mut interval.directions[0];
        read.lat.clear();
        samples.iter().for_each(|ns| read.lat.record(*ns));
        (read.ios, read.bytes) = (read.lat.count(), read.lat.count() * 4096);
    }
}

/// Intervals of 100 ms with these numbers of reads, each of 80 us.
pub(crate) fn intervals_with(ios: &[u64]) -> Vec<Interval> {
    let mut intervals = intervals_of(&vec![Vec::new(); ios.len()]);
    for (interval, n) in intervals.iter_mut().zip(ios) {
        let read = &mut interval.directions[0];
        read.ios = *n;
        read.bytes = n * 4096;
        read.lat.record_n(80_000, *n);
    }
    intervals
}

/// A random read step that may run between floor and budget.
pub(crate) fn step_of(floor_ns: u64, budget_ns: u64) -> Step {
    Step {
        index: 0,
        label: "4k random read T1 QD1".into(),
        phase: Phase::Measure,
        group: String::new(),
        targets: vec![TargetId::new("null")],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load::closed(1, 1),
        engine: EngineSpec::default(),
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length: RunLength { budget_ns, ..RunLength::fixed(0, floor_ns) },
        seed: 1,
        role: fathom_plan::Role::default(),
    }
}
