//! Laws that every record must keep.

use fathom_record::{Direction, Latency, StepRecord};

/// Little's law applied to a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawCheck {
    /// IOPS x mean latency, corrected for the ends of the window: what must have been asked for on average.
    pub computed: f64,
    /// The depth that was asked for, counted independently of the latencies; in records of versions whose latencies leave
    /// out what a slot waits, the I/Os in flight.
    pub depth: f64,
    /// How far the first lies from the second, percent.
    pub error_pct: f64,
}

/// Little's law, N = X R (Little 1961), against the depth that was asked for.
///
/// In a closed loop a slot is either with the engine or waits for its next submission, and the latency counts both: so the
/// mean latency times the rate is the depth, whatever the device saw of it. In an open loop only started I/Os hold a slot,
/// and the law is held by their service time. `None` when the record has no such count, no time or no I/Os, or when I/Os
/// failed (they held a slot, but have no latency).
///
/// The law holds for a window exactly when the time that slots were held before it is taken off and that of slots still
/// held at its end is added; without these ages it is inexact by about one queue's worth of I/Os.
#[must_use]
pub fn littles_law(record: &StepRecord) -> Option<LawCheck> {
    let depth = record.occupied_mean.or(record.in_flight_mean).filter(|n| *n > 0.0)?;
    if record.runtime_ns == 0 || record.ios() == 0 || record.errors() > 0 {
        return None;
    }
    let time_held_ns: f64 = record.directions.iter().chain(&record.syncs).map(time_held_ns).sum::<Option<f64>>()?;
    let [before_ns, at_end_ns] = record.age_ns.unwrap_or_default();
    let computed = (time_held_ns - before_ns as f64 + at_end_ns as f64) / record.runtime_ns as f64;
    Some(LawCheck { computed, depth, error_pct: (computed / depth - 1.0) * 100.0 })
}

/// Sum of the latencies of one operation; its histogram may hold a part of the I/Os only.
fn time_held_ns(direction: &Direction) -> Option<f64> {
    let mean_ns = match direction.service.as_ref().unwrap_or(&direction.lat) {
        Latency::Samples(hist) => hist.mean_ns()?,
        Latency::Quoted(quoted) => quoted.mean_ns,
    };
    Some(direction.ios as f64 * mean_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_hist::Histogram;
    use fathom_plan::Op;
    use fathom_record::QuotedLatency;

    fn record(in_flight_mean: Option<f64>, lat: Latency) -> StepRecord {
        let read =
            Direction { op: Op::Read, ios: 1000, bytes: 0, short_ios: 0, lat, slat: None, clat: None, service: None };
        StepRecord {
            syncs: None,
            started_unix_ns: 0,
            runtime_ns: 1_000_000,
            setup_ns: 0,
            directions: vec![read],
            intervals: vec![],
            threads: vec![],
            failures: vec![],
            host: None,
            features: vec![],
            clock: None,
            overhead: None,
            in_flight_mean,
            occupied_mean: None,
            age_ns: None,
            verify: None,
            open_loop: None,
            targets: Vec::new(),
            arrays: Vec::new(),
            purges: Vec::new(),
            ranks: None,
            warnings: vec![],
        }
    }

    fn lat(ns: u64) -> Latency {
        let mut h = Histogram::new();
        h.record_n(ns, 1000);
        Latency::Samples(h)
    }

    #[test]
    fn rate_times_latency_is_the_depth() {
        let law = littles_law(&record(Some(4.0), lat(4000))).unwrap();
        assert_eq!((law.computed, law.depth, law.error_pct), (4.0, 4.0, 0.0));
        let off = littles_law(&record(Some(4.0), lat(5000))).unwrap();
        assert_eq!(off.error_pct, 25.0);
    }

    #[test]
    fn a_latency_that_leaves_out_waiting_breaks_the_law_however_little_was_in_flight() {
        let mut starved = record(Some(4.0), lat(4000));
        starved.occupied_mean = Some(8.0);
        assert_eq!(littles_law(&starved).unwrap().error_pct, -50.0);
    }

    #[test]
    fn an_open_loop_is_judged_by_its_service_time() {
        let mut open = record(Some(4.0), lat(90_000));
        open.directions[0].service = Some(lat(4000));
        assert_eq!(littles_law(&open).unwrap().error_pct, 0.0);
    }

    #[test]
    fn quoted_latencies_count_too_and_missing_data_is_no_verdict() {
        let quoted = QuotedLatency { count: 1000, mean_ns: 2000.0, ..QuotedLatency::default() };
        assert_eq!(littles_law(&record(Some(2.0), Latency::Quoted(quoted))).unwrap().error_pct, 0.0);
        assert_eq!(littles_law(&record(None, lat(1))), None);
        assert_eq!(littles_law(&record(Some(0.0), lat(1))), None);
        let mut no_time = record(Some(1.0), lat(1));
        no_time.runtime_ns = 0;
        assert_eq!(littles_law(&no_time), None);
    }
}
