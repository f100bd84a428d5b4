//! Which part of the system limited a step: signature in the counters, then a neighbouring step as the probe.
//!
//! Signatures follow the attribution table of docs/METHODS.md. The ladder itself serves as the set of probes: a step
//! with the same workload and a deeper queue, or with more threads, shows what relieving that part does.

use fathom_plan::{EngineName, Step};
use fathom_record::{HostDelta, OpenLoop, StepRecord};
use fathom_units::{format_iops, format_ns};
use serde::Serialize;

use crate::cost::{cpu_cost, thread_busy_shares};

/// A worker thread this busy is the limit of its own rate.
const THREAD_SATURATED: f64 = 0.92;
/// CPUs this busy on average leave nothing to other work.
const CPUS_SATURATED: f64 = 0.90;
/// CPUs that others keep busy are not the run's own limit: this share of the busy time must be the run's.
const OWN_SHARE_MIN: f64 = 0.75;
/// Doubling the queue depth must raise IOPS by this factor before depth is called the limit.
const DEPTH_HELPS_PER_DOUBLING: f64 = 1.25;
/// Doubling the queue depth that raises IOPS by less than this shows a saturated device.
const DEPTH_USELESS_PER_DOUBLING: f64 = 1.10;
/// Share of our I/Os that must reach the device before its figures are called the device's.
const DEVICE_SHARE_MIN: f64 = 0.5;

/// Part of the system that can be the limit. Names as in the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Too few I/Os in flight to use the device.
    QueueDepth,
    /// The device itself.
    Device,
    /// One core, or one core per thread.
    Core,
    /// All CPUs the run may use.
    AllCores,
    /// The cores that take the interrupts.
    IrqCore,
    /// A drive's own PCI Express link.
    Link,
    /// A link that several drives share.
    Uplink,
    /// The array: its write penalty, or its card.
    Raid,
    /// Memory bandwidth.
    Memory,
    /// The page cache answered instead of the device.
    PageCache,
    /// The arrival rate that was asked for.
    Rate,
    /// The database that makes the load.
    Database,
    /// The evidence does not say.
    Unknown,
}

impl LimitName {
    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LimitName::QueueDepth => "queue_depth",
            LimitName::Device => "device",
            LimitName::Core => "core",
            LimitName::AllCores => "all_cores",
            LimitName::IrqCore => "irq_core",
            LimitName::Link => "link",
            LimitName::Uplink => "uplink",
            LimitName::Raid => "raid",
            LimitName::Memory => "memory",
            LimitName::Database => "database",
            LimitName::PageCache => "page_cache",
            LimitName::Rate => "rate",
            LimitName::Unknown => "unknown",
        }
    }
}

/// How sure the attribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Signature and probe.
    Confirmed,
    /// Signature only.
    Likely,
    /// Neither.
    Unknown,
}

/// A number behind the claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
}

/// The limit of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Which part.
    pub name: LimitName,
    /// How sure.
    pub confidence: Confidence,
    /// In words, with the numbers that decide.
    pub sentence: String,
    /// The numbers.
    pub evidence: Vec<Evidence>,
}

/// A measured step as the attribution sees it: small, so that a run of a thousand steps is judged at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    step: Step,
    ios: u64,
    bytes: u64,
    runtime_ns: u64,
    mean_lat_ns: Option<f64>,
    in_flight_mean: Option<f64>,
    open_loop: Option<OpenLoop>,
    host: Option<HostDelta>,
}

impl Observation {
    /// What counts of a record.
    #[must_use]
    pub fn of(step: &Step, record: &StepRecord) -> Observation {
        Observation {
            step: step.clone(),
            ios: record.ios(),
            bytes: record.bytes(),
            runtime_ns: record.runtime_ns,
            mean_lat_ns: record.lat_merged().and_then(|h| h.mean_ns()),
            in_flight_mean: record.in_flight_mean,
            open_loop: record.open_loop.clone(),
            host: record.host.clone(),
        }
    }

    fn iops(&self) -> f64 {
        match self.runtime_ns {
            0 => 0.0,
            ns => self.ios as f64 * 1e9 / ns as f64,
        }
    }

    fn in_flight(&self) -> u32 {
        let per_thread = if self.step.engine.name.is_synchronous() { 1 } else { self.step.load.queue_depth };
        per_thread * self.step.load.threads * self.step.targets.len() as u32
    }
}

/// Names the limit of `all[index]`; the other observations serve as probes.
///
/// # Panics
/// When `index` is out of range.
#[must_use]
pub fn attribute(all: &[Observation], index: usize) -> Limit {
    let this = &all[index];
    if this.ios == 0 {
        return unknown("no I/O completed", Vec::new());
    }
    rate_limit(this)
        .or_else(|| page_cache_limit(this))
        .or_else(|| cpu_limit(all, this))
        .or_else(|| depth_or_device(all, this))
        .unwrap_or_else(|| {
            unknown("no counter stands at its limit and no neighbouring step tells more", base_evidence(this))
        })
}

fn unknown(why: &str, evidence: Vec<Evidence>) -> Limit {
    Limit {
        name: LimitName::Unknown,
        confidence: Confidence::Unknown,
        sentence: format!("Limit unknown: {why}."),
        evidence,
    }
}

fn evidence(name: &str, value: f64, unit: &'static str) -> Evidence {
    Evidence { name: name.to_owned(), value, unit }
}

fn base_evidence(this: &Observation) -> Vec<Evidence> {
    let mut out = vec![evidence("iops", this.iops(), "iops")];
    if let Some(lat) = this.mean_lat_ns {
        out.push(evidence("mean latency", lat, "ns"));
    }
    if let Some(n) = this.in_flight_mean {
        out.push(evidence("mean in flight", n, "ios"));
    }
    out
}

fn rate_limit(this: &Observation) -> Option<Limit> {
    let open = this.open_loop.as_ref()?;
    if open.unsustainable {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(evidence("intended rate", open.intended_iops, "iops"));
    Some(Limit {
        name: LimitName::Rate,
        confidence: Confidence::Confirmed,
        sentence: format!("The asked rate of {} IOPS is the limit: it was kept.", format_iops(open.intended_iops)),
        evidence: numbers,
    })
}

/// I/Os the device saw for each of ours, counting merges as seen; `None` when no device was sampled.
fn device_share(this: &Observation) -> Option<f64> {
    let host = this.host.as_ref()?;
    if host.disks.is_empty() {
        return None;
    }
    let bytes: u64 = host.disks.iter().map(|d| d.read_bytes + d.write_bytes).sum();
    Some(bytes as f64 / this.bytes.max(1) as f64)
}

fn page_cache_limit(this: &Observation) -> Option<Limit> {
    if this.step.engine.name == EngineName::Null || this.step.workload.mix.trim_pct > 0 {
        return None;
    }
    let share = device_share(this)?;
    let cached = this.host.as_ref().and_then(|h| h.page_cache_bytes).unwrap_or(0);
    // Under O_DIRECT a low share has other causes (a RAM disk that is not counted), so a cached file must be seen too.
    if share >= DEVICE_SHARE_MIN || (this.step.workload.direct && cached == 0) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(evidence("bytes that reached the device", share * 100.0, "%"));
    numbers.push(evidence("bytes in the page cache", cached as f64, "bytes"));
    Some(Limit {
        name: LimitName::PageCache,
        confidence: Confidence::Confirmed,
        sentence: format!(
            "The page cache answered: only {:.0} % of the bytes reached the device. This is memory speed, not the drive's.",
            share * 100.0
        ),
        evidence: numbers,
    })
}

fn cpu_limit(all: &[Observation], this: &Observation) -> Option<Limit> {
    let host = this.host.as_ref()?;
    let shares = thread_busy_shares(host);
    let cost = cpu_cost(host, this.ios)?;
    let cpus = host.cpus.len();
    let mut numbers = base_evidence(this);
    let per_io = cost.busy_cores * 1e9 / this.iops().max(1e-9);
    numbers.push(evidence("cpu per I/O", per_io, "ns"));
    let mean_busy = host.cpus.iter().map(|(_, t)| t.busy_ns() + t.steal_ns).sum::<u64>() as f64
        / (host.window_ns as f64 * cpus as f64);
    numbers.push(evidence("mean busy share of all CPUs", mean_busy * 100.0, "%"));
    let own_ns: u64 = host.threads.iter().map(|t| t.user_ns + t.system_ns).sum();
    let irq_ns: u64 = host.cpus.iter().map(|(_, t)| t.irq_ns + t.softirq_ns).sum();
    let busy_ns: u64 = host.cpus.iter().map(|(_, t)| t.busy_ns()).sum();
    let own_share = (own_ns + irq_ns) as f64 / busy_ns.max(1) as f64;
    numbers.push(evidence("share of the busy time that is this run's", own_share * 100.0, "%"));
    if cpus > 1 && mean_busy >= CPUS_SATURATED && own_share >= OWN_SHARE_MIN {
        return Some(Limit {
            name: LimitName::AllCores,
            confidence: Confidence::Likely,
            sentence: format!(
                "All {cpus} CPUs are the limit: {:.0} % busy at {} of CPU per I/O.",
                mean_busy * 100.0,
                format_ns(per_io)
            ),
            evidence: numbers,
        });
    }
    let mean_thread = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    if shares.is_empty() || mean_thread < THREAD_SATURATED {
        return None;
    }
    numbers.push(evidence("mean busy share of the worker threads", mean_thread * 100.0, "%"));
    let probe = probe_threads(all, this);
    if let Some((threads, gain)) = probe {
        numbers.push(evidence(&format!("IOPS with {threads} threads against this"), gain, "x"));
    }
    let who =
        if shares.len() == 1 { "One core is".to_owned() } else { format!("The {} workers' cores are", shares.len()) };
    let probe_text = match probe {
        Some((threads, gain)) if gain > 1.2 => format!(" {threads} threads gave {gain:.2} times as much."),
        _ => String::new(),
    };
    Some(Limit {
        name: LimitName::Core,
        confidence: if probe_text.is_empty() { Confidence::Likely } else { Confidence::Confirmed },
        sentence: format!(
            "{who} the limit: {:.0} % busy, {} of CPU per I/O.{probe_text}",
            mean_thread * 100.0,
            format_ns(per_io)
        ),
        evidence: numbers,
    })
}

fn depth_or_device(all: &[Observation], this: &Observation) -> Option<Limit> {
    let lat = this.mean_lat_ns?;
    let mut numbers = base_evidence(this);
    let n = this.in_flight();
    if let Some((deeper, gain)) = probe_depth(all, this, true) {
        numbers.push(evidence(&format!("IOPS at {deeper} in flight against this"), gain, "x"));
        let per_doubling = gain.powf(1.0 / (f64::from(deeper) / f64::from(n)).log2());
        if per_doubling >= DEPTH_HELPS_PER_DOUBLING {
            return Some(Limit {
                name: LimitName::QueueDepth,
                confidence: Confidence::Confirmed,
                sentence: format!(
                    "Queue depth is the limit: {n} in flight at {} each; {deeper} in flight gave {gain:.2} times as much.",
                    format_ns(lat)
                ),
                evidence: numbers,
            });
        }
        if per_doubling <= DEPTH_USELESS_PER_DOUBLING {
            return Some(device(Confidence::Confirmed, n, Some((deeper, gain)), lat, numbers));
        }
    }
    if let Some((shallower, gain)) = probe_depth(all, this, false) {
        numbers.push(evidence(&format!("IOPS here against {shallower} in flight"), 1.0 / gain, "x"));
        let per_doubling = (1.0 / gain).powf(1.0 / (f64::from(n) / f64::from(shallower)).log2());
        // The deepest step has no deeper neighbour: a flat last rung is the device's signature, without a probe beyond it.
        if per_doubling <= DEPTH_USELESS_PER_DOUBLING {
            return Some(device(Confidence::Likely, n, None, lat, numbers));
        }
        if per_doubling >= DEPTH_HELPS_PER_DOUBLING {
            return Some(Limit {
                name: LimitName::QueueDepth,
                confidence: Confidence::Likely,
                sentence: format!(
                    "Queue depth is the likely limit: {n} in flight at {} each, and IOPS still grew {:.2} times from {shallower}.",
                    format_ns(lat),
                    1.0 / gain
                ),
                evidence: numbers,
            });
        }
        return Some(Limit {
            name: LimitName::Unknown,
            confidence: Confidence::Unknown,
            sentence: "Near the knee: more depth still helps a little, and nothing in the host is saturated."
                .to_owned(),
            evidence: numbers,
        });
    }
    if n == 1 {
        return Some(Limit {
            name: LimitName::QueueDepth,
            confidence: Confidence::Likely,
            sentence: format!("Queue depth is the likely limit: one I/O at a time, {} each.", format_ns(lat)),
            evidence: numbers,
        });
    }
    None
}

fn device(confidence: Confidence, n: u32, probe: Option<(u32, f64)>, lat_ns: f64, numbers: Vec<Evidence>) -> Limit {
    let tail = match probe {
        Some((deeper, gain)) => format!("{deeper} in flight gave {gain:.2} times as much"),
        None => "the last doubling of the depth added under 10 %".to_owned(),
    };
    Limit {
        name: LimitName::Device,
        confidence,
        sentence: format!(
            "The device is the limit: {n} in flight take {} each, {tail}, and no core is saturated.",
            format_ns(lat_ns)
        ),
        evidence: numbers,
    }
}

fn same_but_load(a: &Step, b: &Step) -> bool {
    a.workload == b.workload
        && a.engine == b.engine
        && a.placement == b.placement
        && a.targets == b.targets
        && a.load.rate.is_none()
        && b.load.rate.is_none()
}

/// Nearest step that differs in I/Os in flight only: `(in flight, its IOPS / this IOPS)`.
fn probe_depth(all: &[Observation], this: &Observation, deeper: bool) -> Option<(u32, f64)> {
    let n = this.in_flight();
    all.iter()
        .filter(|o| same_but_load(&o.step, &this.step) && o.ios > 0)
        .filter(|o| if deeper { o.in_flight() > n } else { o.in_flight() < n })
        // With equal depth change prefer the same number of threads, so that one knob moved.
        .min_by_key(|o| (o.step.load.threads != this.step.load.threads, o.in_flight().abs_diff(n)))
        .map(|o| (o.in_flight(), o.iops() / this.iops()))
}

/// Step with more threads at no less depth per thread: `(threads, its IOPS / this IOPS)`.
fn probe_threads(all: &[Observation], this: &Observation) -> Option<(u32, f64)> {
    all.iter()
        .filter(|o| same_but_load(&o.step, &this.step) && o.ios > 0)
        .filter(|o| {
            o.step.load.threads > this.step.load.threads && o.step.load.queue_depth >= this.step.load.queue_depth
        })
        .min_by_key(|o| (o.step.load.queue_depth.abs_diff(this.step.load.queue_depth), o.step.load.threads))
        .map(|o| (o.step.load.threads, o.iops() / this.iops()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_hist::Histogram;
    use fathom_plan::{Knobs, Op, Target};
    use fathom_record::{CpuTime, Direction, DiskDelta, Latency, ThreadCpu};

    const SECOND_NS: u64 = 1_000_000_000;

    /// One second of 4k random reads on a host with two CPUs; `busy` is that of each worker thread.
    fn observed(threads: u32, depth: u32, ios: u64, busy: f64) -> (Step, StepRecord) {
        let mut knobs = Knobs::new();
        for (key, value) in [("numjobs", threads), ("iodepth", depth)] {
            knobs.set(key, &value.to_string()).expect("a valid knob");
        }
        let target = Target { path: "/dev/some".into() };
        let step = knobs.build(0, "A", vec![target], &mut Vec::new()).expect("a valid step");
        let mut lat = Histogram::new();
        lat.record_n(u64::from(threads * depth) * SECOND_NS / ios, ios);
        let busy_ns = (busy * SECOND_NS as f64) as u64;
        let cpus = (0..2)
            .map(|cpu| {
                let user_ns = if cpu < threads { busy_ns } else { 0 };
                (cpu, CpuTime { user_ns, idle_ns: SECOND_NS - user_ns, ..CpuTime::default() })
            })
            .collect();
        let threads = (0..threads)
            .map(|i| ThreadCpu { name: format!("fathom-w{i}"), kernel: false, user_ns: busy_ns, system_ns: 0 })
            .collect();
        let disk = DiskDelta {
            device: "some".into(),
            read_ios: ios,
            read_bytes: ios * 4096,
            read_merges: 0,
            write_ios: 0,
            write_bytes: 0,
            write_merges: 0,
            discard_ios: 0,
            busy_ns: SECOND_NS,
            weighted_ns: SECOND_NS,
        };
        let host = HostDelta { window_ns: SECOND_NS, cpus, threads, disks: vec![disk], ..HostDelta::default() };
        let read = Direction {
            op: Op::Read,
            ios,
            bytes: ios * 4096,
            short_ios: 0,
            lat: Latency::Samples(lat),
            slat: None,
            clat: None,
            service: None,
        };
        let record = StepRecord {
            started_unix_ns: 0,
            runtime_ns: SECOND_NS,
            setup_ns: 0,
            directions: vec![read],
            intervals: Vec::new(),
            threads: Vec::new(),
            failures: Vec::new(),
            host: Some(host),
            features: Vec::new(),
            clock: None,
            overhead: None,
            in_flight_mean: None,
            in_flight_age_ns: None,
            verify: None,
            open_loop: None,
            targets: Vec::new(),
            purges: Vec::new(),
            warnings: Vec::new(),
        };
        (step, record)
    }

    fn limits(steps: &[(Step, StepRecord)]) -> Vec<(LimitName, Confidence)> {
        let all: Vec<Observation> = steps.iter().map(|(step, record)| Observation::of(step, record)).collect();
        (0..all.len()).map(|i| attribute(&all, i)).map(|l| (l.name, l.confidence)).collect()
    }

    #[test]
    fn a_ladder_that_grows_then_flattens_is_depth_then_device() {
        let ladder = [
            observed(1, 1, 10_000, 0.1),
            observed(1, 2, 19_500, 0.2),
            observed(1, 4, 37_000, 0.3),
            observed(1, 8, 40_000, 0.3),
            observed(1, 16, 40_100, 0.3),
        ];
        use Confidence::{Confirmed, Likely};
        assert_eq!(
            limits(&ladder),
            [
                (LimitName::QueueDepth, Confirmed),
                (LimitName::QueueDepth, Confirmed),
                (LimitName::Device, Confirmed),
                (LimitName::Device, Confirmed),
                (LimitName::Device, Likely),
            ]
        );
    }

    #[test]
    fn a_saturated_thread_is_the_core_and_more_threads_confirm_it() {
        let steps = [observed(1, 32, 100_000, 0.99), observed(2, 32, 180_000, 0.6)];
        assert_eq!(limits(&steps)[0], (LimitName::Core, Confidence::Confirmed));
        assert_eq!(limits(&steps[..1])[0], (LimitName::Core, Confidence::Likely));
    }

    #[test]
    fn all_cpus_busy_is_all_cores() {
        assert_eq!(limits(&[observed(2, 32, 200_000, 0.99)])[0].0, LimitName::AllCores);
    }

    #[test]
    fn buffered_reads_that_miss_the_device_are_the_page_cache() {
        let (mut step, mut record) = observed(1, 1, 500_000, 0.99);
        step.workload.direct = false;
        record.host.as_mut().expect("has a host").disks[0].read_bytes = 0;
        assert_eq!(limits(&[(step, record)])[0], (LimitName::PageCache, Confidence::Confirmed));
    }

    #[test]
    fn a_rate_that_was_kept_is_the_limit_and_one_that_was_not_is_none() {
        let (step, mut record) = observed(1, 8, 1_000, 0.1);
        let open = |unsustainable| OpenLoop {
            intended_iops: 1_000.0,
            submit_delay_ns_mean_halves: [0.0, 0.0],
            backlog_end_ios: 0,
            unsustainable,
        };
        record.open_loop = Some(open(false));
        assert_eq!(limits(&[(step.clone(), record.clone())])[0].0, LimitName::Rate);
        record.open_loop = Some(open(true));
        assert_ne!(limits(&[(step, record)])[0].0, LimitName::Rate);
    }

    #[test]
    fn one_step_with_idle_cpus_and_no_neighbour_is_unknown() {
        assert_eq!(limits(&[observed(1, 8, 10_000, 0.2)])[0], (LimitName::Unknown, Confidence::Unknown));
    }

    #[test]
    fn a_step_without_io_is_unknown() {
        let (step, mut record) = observed(1, 1, 10_000, 0.1);
        record.directions.clear();
        assert_eq!(limits(&[(step, record)])[0].0, LimitName::Unknown);
    }
}
