//! Streams: steps that run at once. Each has its own thread that watches it, as if it were alone; they share when they
//! begin and, where their length is left to their precision, when they end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use fathom_host::Bindings;
use fathom_message::{Message, msg};
use fathom_plan::Step;
use fathom_record::{Interval, Progress, RunControl, StepFailure, StepRecord};

use crate::clock::Clock;
use crate::pacing::FlowGroup;
use crate::probe::HostProbe;
use crate::runner::Started;
use crate::shared::Window;

/// How often the thread that asked for the streams looks at the stop flag.
const TICK: Duration = Duration::from_millis(20);
/// From the moment that all workers of all streams are ready to their beginning: time to get the sampler ready.
const LEAD_NS: u64 = 30_000_000;
/// The common end lies so far ahead at least that every stream hears of it before.
const END_LEAD_NS: u64 = 60_000_000;
/// Windows whose lengths differ by less than this share are one: the host's counters hold for both.
const SAME_WINDOW: f64 = 0.02;

/// Judges whether the figures of a stream are precise enough to stop.
pub type PreciseEnough<'a> = dyn Fn(&[Interval], &Step) -> bool + Send + 'a;

/// One stream, ready to be run.
pub struct StreamPlan<'a> {
    /// What it does.
    pub step: &'a Step,
    /// CPUs of its threads, round robin; empty: all.
    pub cpus: Vec<u32>,
    /// As [`RunControl::precise_enough`], for this stream.
    pub precise_enough: Box<PreciseEnough<'a>>,
}

/// What streams that run at once know of each other.
#[derive(Debug)]
struct Meeting {
    gate: Mutex<Gate>,
    changed: Condvar,
    /// `[stream]`: its figures are precise enough.
    precise: Vec<AtomicBool>,
    /// When all of them end; 0: not known yet.
    end_ns: AtomicU64,
    /// A stream failed, or the user wants to stop: all of them end.
    stop: AtomicBool,
    /// `[stream]`: another one that is done ends it.
    is_ended: Vec<AtomicBool>,
    /// Those that share their I/Os, by the number of the group.
    flows: Mutex<BTreeMap<u32, Arc<FlowGroup>>>,
}

/// Who arrived at the start.
#[derive(Debug, Default)]
struct Gate {
    ready: usize,
    ended: usize,
    left: bool,
    begin_ns: Option<u64>,
}

/// One stream's place among those that run with it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    meeting: Arc<Meeting>,
    index: usize,
}

impl Place {
    /// Waits for the others. `None`: one of them cannot be run, so that none begins.
    fn arrive(&self, clock: Clock) -> Option<u64> {
        let mut gate = self.meeting.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.ready += 1;
        if gate.ready == self.meeting.precise.len() {
            gate.begin_ns = Some(clock.now() + LEAD_NS);
        }
        self.meeting.changed.notify_all();
        while gate.begin_ns.is_none() && !gate.left {
            gate = self.meeting.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        gate.begin_ns.filter(|_| !gate.left)
    }

    /// Waits until the windows of all streams are over: until then no worker goes, whose CPU time is still to be read, and
    /// nothing is read back that would disturb the others.
    pub(crate) fn wait_for_all(&self) {
        let mut gate = self.meeting.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.ended += 1;
        self.meeting.changed.notify_all();
        while gate.ended < self.meeting.precise.len() && !gate.left {
            gate = self.meeting.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that this stream yields nothing: the others neither begin nor go on.
    fn leave(&self) {
        self.meeting.gate.lock().unwrap_or_else(PoisonError::into_inner).left = true;
        self.meeting.changed.notify_all();
        self.meeting.stop.store(true, Ordering::Relaxed);
    }

    /// The group of that number.
    pub(crate) fn flow_group(&self, id: u32) -> Arc<FlowGroup> {
        let mut flows = self.meeting.flows.lock().unwrap_or_else(PoisonError::into_inner);
        flows.entry(id).or_default().clone()
    }

    /// Ends these streams.
    pub(crate) fn end_streams(&self, streams: &[u32]) {
        let ended = streams.iter().filter_map(|stream| self.meeting.is_ended.get(*stream as usize));
        ended.for_each(|ended| ended.store(true, Ordering::Relaxed));
    }

    /// Whether another stream ended this one.
    pub(crate) fn is_ended(&self) -> bool {
        self.meeting.is_ended[self.index].load(Ordering::Relaxed)
    }

    /// When the streams begin, once all arrived.
    pub(crate) fn begin_ns(&self) -> u64 {
        self.meeting.gate.lock().unwrap_or_else(PoisonError::into_inner).begin_ns.unwrap_or(0)
    }

    /// Takes note that this stream is precise enough. With the last of them the end of all is set.
    pub(crate) fn is_precise(&self, now: u64, window: Window) {
        self.meeting.precise[self.index].store(true, Ordering::Relaxed);
        if self.meeting.precise.iter().all(|precise| precise.load(Ordering::Relaxed)) {
            let whole = (now + END_LEAD_NS - window.start_ns) / window.interval_ns + 1;
            let end_ns = window.start_ns + whole * window.interval_ns;
            // The first to see it says it.
            let _ = self.meeting.end_ns.compare_exchange(0, end_ns, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// When all of them end, once that is known.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        Some(self.meeting.end_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }
}

/// Leaves for a stream whose thread ends without a record, also by a panic.
struct Attendance(Option<Place>);

impl Drop for Attendance {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            place.leave();
        }
    }
}

/// See [`crate::HostRunner::run_streams`].
pub(crate) fn run_streams(
    streams: Vec<StreamPlan<'_>>,
    bindings: &Bindings,
    probe: Option<&mut (dyn HostProbe + 'static)>,
    control: &mut RunControl<'_>,
) -> Vec<Result<StepRecord, StepFailure>> {
    let meeting = Arc::new(Meeting {
        gate: Mutex::default(),
        changed: Condvar::new(),
        precise: streams.iter().map(|_| AtomicBool::new(false)).collect(),
        end_ns: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        is_ended: streams.iter().map(|_| AtomicBool::new(false)).collect(),
        flows: Mutex::default(),
    });
    // How long passes take is not known before: a time that is given comes first.
    let rank = |step: &Step| {
        (step.length.passes.is_none(), step.length.delay_ns + step.length.ramp_ns + step.length.budget_ns)
    };
    let longest = streams.iter().enumerate().max_by_key(|(_, stream)| rank(stream.step));
    let longest = longest.map_or(0, |(at, _)| at);
    let labels: Vec<String> = streams.iter().map(|s| s.step.label.clone()).collect();
    let mut latest: Vec<Option<Progress>> = streams.iter().map(|_| None).collect();
    let (to_here, progress) = channel();
    let mut probe = probe;
    let results: Vec<Option<Result<StepRecord, StepFailure>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(streams)
            .map(|(index, stream)| {
                let place = Place { meeting: meeting.clone(), index };
                let probe = if index == longest { probe.take() } else { None };
                let to_here = to_here.clone();
                scope.spawn(move || run_stream(&stream, bindings, &place, probe, &to_here))
            })
            .collect();
        drop(to_here);
        loop {
            match progress.recv_timeout(TICK) {
                Ok((index, of_stream)) => {
                    latest[index] = Some(of_stream);
                    (control.on_progress)(&together(&latest));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if control.stopped() {
                meeting.stop.store(true, Ordering::Relaxed);
            }
        }
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let results: Vec<Result<StepRecord, StepFailure>> = results
        .into_iter()
        .zip(&labels)
        .map(|(result, label)| result.unwrap_or_else(|| Err(left_alone(label))))
        .collect();
    share_host(if results.iter().any(Result::is_err) { all_failed(results, &labels) } else { results })
}

/// One stream, on the thread that watches it. `None`: another one of them cannot be run.
fn run_stream(
    stream: &StreamPlan<'_>,
    bindings: &Bindings,
    place: &Place,
    probe: Option<&mut (dyn HostProbe + 'static)>,
    to_here: &Sender<(usize, Progress)>,
) -> Option<Result<StepRecord, StepFailure>> {
    let meeting = place.meeting.clone();
    let mut attendance = Attendance(Some(place.clone()));
    let index = place.index;
    let mut on_progress = |p: &Progress| {
        // Nobody listens any more once the thread that asked is gone.
        let _ = to_here.send((index, p.clone()));
    };
    let mut control =
        RunControl { stop: &meeting.stop, on_progress: &mut on_progress, precise_enough: &*stream.precise_enough };
    let result = (|| {
        let mut started = Started::new(stream.step, &stream.cpus, bindings, Some(place.clone()), None)?;
        started.wait_until_ready(&control)?;
        if place.arrive(Clock::get()).is_none() {
            started.abandon();
            return Ok(None);
        }
        started.finish(stream.step, &mut control, probe, None).map(Some)
    })();
    if matches!(result, Ok(Some(_))) {
        attendance.0 = None;
    }
    result.transpose()
}

/// What is to be seen of all streams together.
fn together(latest: &[Option<Progress>]) -> Progress {
    let seen = || latest.iter().flatten();
    Progress {
        elapsed_ns: seen().map(|p| p.elapsed_ns).max().unwrap_or(0),
        remaining_ns: seen().map(|p| p.remaining_ns).max().unwrap_or(0),
        iops: seen().map(|p| p.iops).sum(),
        bytes_per_s: seen().map(|p| p.bytes_per_s).sum(),
        bytes_done: seen().map(|p| p.bytes_done).sum(),
        p99_ns: seen().filter_map(|p| p.p99_ns).max(),
        activity: seen().find_map(|p| p.activity.clone()),
    }
}

/// The failure of a stream that another one of its set keeps from being run.
fn left_alone(label: &str) -> StepFailure {
    StepFailure::Refused {
        what: Message::verbatim(label.to_owned()),
        why: msg!("engine-stream-beside"),
        help: msg!("engine-stream-beside-help"),
    }
}

/// A stream that ran without those it was to run with has no figures: only the failures stay.
fn all_failed(
    results: Vec<Result<StepRecord, StepFailure>>,
    labels: &[String],
) -> Vec<Result<StepRecord, StepFailure>> {
    results.into_iter().zip(labels).map(|(result, label)| result.and_then(|_| Err(left_alone(label)))).collect()
}

/// Gives what the host did over the longest window to the streams with the same one.
fn share_host(mut results: Vec<Result<StepRecord, StepFailure>>) -> Vec<Result<StepRecord, StepFailure>> {
    let sampled = results.iter().flatten().find(|record| record.host.is_some());
    let Some((host, runtime_ns)) = sampled.map(|record| (record.host.clone(), record.runtime_ns)) else {
        return results;
    };
    for record in results.iter_mut().flatten().filter(|record| record.host.is_none()) {
        let apart_ns = record.runtime_ns.abs_diff(runtime_ns);
        if apart_ns as f64 <= SAME_WINDOW * runtime_ns as f64 {
            record.host.clone_from(&host);
        }
    }
    results
}
