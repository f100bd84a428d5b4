//! The parts of records that are put together one by one: threads, failures, shares of targets, what a reader must know.

use fathom_plan::TargetId;

use crate::record::{QuotedLatency, StepRecord, VerifyReport};

/// Findings of a verification that are kept at most.
const EXAMPLES_MAX: usize = 5;

/// The parts so far; what is an average over a window stands as an area under it.
#[derive(Debug, Default)]
pub(super) struct Parts {
    whole: StepRecord,
    in_flight_area: Option<f64>,
    occupied_area: Option<f64>,
    ios: u64,
    delays: [f64; 2],
    records: u32,
}

impl Parts {
    /// Adds what a record has beside its I/Os; `own_ios`: how many those were.
    pub(super) fn add(&mut self, record: StepRecord, own_ios: u64) {
        let first = self.records == 0;
        self.records += 1;
        let runtime = record.runtime_ns as f64;
        let area = |sum: Option<f64>, mean: Option<f64>| {
            if first { mean.map(|m| m * runtime) } else { Some(sum? + mean? * runtime) }
        };
        self.in_flight_area = area(self.in_flight_area, record.in_flight_mean);
        self.occupied_area = area(self.occupied_area, record.occupied_mean);
        let whole = &mut self.whole;
        whole.setup_ns = whole.setup_ns.max(record.setup_ns);
        whole.age_ns = match (first, whole.age_ns, record.age_ns) {
            (true, _, age) => age,
            (false, Some(a), Some(b)) => Some([0, 1].map(|half| a[half].saturating_add(b[half]))),
            (false, ..) => None,
        };
        let threads = whole.threads.len() as u32;
        whole.threads.extend(record.threads.into_iter().map(|mut thread| {
            thread.index = thread.index.saturating_add(threads);
            thread
        }));
        for feature in record.features {
            // Threads have other numbers by now: what holds for some of a rank's holds for some of the step's.
            let shifted: Vec<u32> = feature.threads.iter().map(|thread| thread.saturating_add(threads)).collect();
            let same = whole
                .features
                .iter_mut()
                .find(|f| (&f.name, f.state, &f.detail) == (&feature.name, feature.state, &feature.detail));
            match same {
                Some(known) if shifted.is_empty() => known.threads.clear(),
                Some(known) if !known.threads.is_empty() => known.threads.extend(shifted),
                Some(_) => {}
                None => whole.features.push(crate::FeatureUse { threads: shifted, ..feature }),
            }
        }
        for failure in record.failures {
            let same = whole
                .failures
                .iter_mut()
                .find(|f| (f.op, f.errno, &f.drive_status) == (failure.op, failure.errno, &failure.drive_status));
            match same {
                Some(known) => known.count = known.count.saturating_add(failure.count),
                None => whole.failures.push(failure),
            }
        }
        for target in record.targets {
            match whole.targets.iter_mut().find(|t| t.target == target.target) {
                Some(known) => {
                    known.ios = known.ios.saturating_add(target.ios);
                    known.bytes = known.bytes.saturating_add(target.bytes);
                    known.errors = known.errors.saturating_add(target.errors);
                    known.lat = match (&known.lat, &target.lat) {
                        (Some(a), Some(b)) => Some(pooled(a, b)),
                        (a, b) => a.clone().or(b.clone()),
                    };
                }
                None => whole.targets.push(target),
            }
        }
        for array in record.arrays {
            match whole.arrays.iter_mut().find(|a| a.target == array.target) {
                Some(known) => known.add(&array),
                None => whole.arrays.push(array),
            }
        }
        whole.purges.extend(record.purges);
        for warning in record.warnings {
            if !whole.warnings.contains(&warning) {
                whole.warnings.push(warning);
            }
        }
        match (&mut whole.verify, record.verify) {
            (Some(whole), Some(part)) => add_verified(whole, part),
            (none, part) => *none = none.take().or(part),
        }
        // The costliest loop and the worst clock are what a reader must know.
        match (&mut whole.overhead, record.overhead) {
            (Some(whole), Some(part)) => {
                let share = own_ios as f64 / self.ios.saturating_add(own_ios).max(1) as f64;
                let mean = |a: f64, b: f64| a * (1.0 - share) + b * share;
                whole.loop_ns_per_io = mean(whole.loop_ns_per_io, part.loop_ns_per_io);
                whole.batch_stamp_error_ns_mean = mean(whole.batch_stamp_error_ns_mean, part.batch_stamp_error_ns_mean);
                whole.ios_per_submit = mean(whole.ios_per_submit, part.ios_per_submit);
            }
            (none, part) => *none = none.take().or(part),
        }
        match (&mut whole.clock, record.clock) {
            (Some(whole), Some(part)) if part.drift_ppm.abs() > whole.drift_ppm.abs() => *whole = part,
            (Some(_), _) => {}
            (none, part) => *none = part,
        }
        if let Some(part) = record.open_loop {
            let weight = own_ios as f64;
            for (sum, mean) in self.delays.iter_mut().zip(part.submit_delay_ns_mean_halves) {
                *sum += mean * weight;
            }
            match &mut whole.open_loop {
                Some(whole) => {
                    whole.intended_iops += part.intended_iops;
                    whole.backlog_end_ios = whole.backlog_end_ios.saturating_add(part.backlog_end_ios);
                    whole.unsustainable |= part.unsustainable;
                }
                none => *none = Some(part),
            }
        }
        self.ios = self.ios.saturating_add(own_ios);
    }

    /// `record` with these parts; `is_cut`: it holds a part of the ranks' windows, for which averages over them do not hold.
    pub(super) fn finish(self, record: StepRecord, is_cut: bool) -> StepRecord {
        let runtime = record.runtime_ns.max(1) as f64;
        let mean = |area: Option<f64>| area.filter(|_| !is_cut).map(|area| area / runtime);
        let mut whole = StepRecord {
            in_flight_mean: mean(self.in_flight_area),
            occupied_mean: mean(self.occupied_area),
            age_ns: self.whole.age_ns.filter(|_| !is_cut),
            setup_ns: self.whole.setup_ns,
            threads: self.whole.threads,
            failures: self.whole.failures,
            features: self.whole.features,
            clock: self.whole.clock,
            overhead: self.whole.overhead,
            verify: self.whole.verify,
            open_loop: self.whole.open_loop,
            targets: self.whole.targets,
            arrays: self.whole.arrays,
            purges: self.whole.purges,
            warnings: self.whole.warnings,
            ..record
        };
        if let Some(open) = &mut whole.open_loop {
            open.submit_delay_ns_mean_halves = self.delays.map(|sum| sum / self.ios.max(1) as f64);
        }
        whole.targets.sort_by_key(|t| first_place(&whole.threads, &t.target));
        whole
    }
}

/// Where the first thread that works on a target stands.
fn first_place(threads: &[crate::ThreadRecord], target: &TargetId) -> usize {
    threads.iter().flat_map(|t| &t.targets).position(|t| t == target).unwrap_or(usize::MAX)
}

fn add_verified(whole: &mut VerifyReport, part: VerifyReport) {
    whole.blocks_checked = whole.blocks_checked.saturating_add(part.blocks_checked);
    whole.torn = whole.torn.saturating_add(part.torn);
    whole.misplaced = whole.misplaced.saturating_add(part.misplaced);
    whole.stale = whole.stale.saturating_add(part.stale);
    whole.corrupt = whole.corrupt.saturating_add(part.corrupt);
    whole.foreign = whole.foreign.saturating_add(part.foreign);
    let room = EXAMPLES_MAX.saturating_sub(whole.examples.len());
    whole.examples.extend(part.examples.into_iter().take(room));
}

/// Latencies of which figures alone are known, together. Quantiles of the whole do not follow from those of its parts.
pub(super) fn pooled(a: &QuotedLatency, b: &QuotedLatency) -> QuotedLatency {
    match (a.count, b.count) {
        (_, 0) => return a.clone(),
        (0, _) => return b.clone(),
        _ => {}
    }
    let (na, nb) = (a.count as f64, b.count as f64);
    let mean_ns = (a.mean_ns * na + b.mean_ns * nb) / (na + nb);
    let square = |n: f64, own: &QuotedLatency| n * (own.stddev_ns.powi(2) + (own.mean_ns - mean_ns).powi(2));
    QuotedLatency {
        count: a.count.saturating_add(b.count),
        mean_ns,
        stddev_ns: ((square(na, a) + square(nb, b)) / (na + nb)).sqrt(),
        min_ns: a.min_ns.min(b.min_ns),
        max_ns: a.max_ns.max(b.max_ns),
        quantiles: Vec::new(),
    }
}
