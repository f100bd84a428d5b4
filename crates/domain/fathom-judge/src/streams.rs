//! What streams that ran at once did together.

use fathom_plan::{Phase, Step};
use fathom_record::{HostDelta, StepRecord};

use crate::document::{StreamSetView, StreamView};
use crate::view::cpu_view;

/// Sums of the sets of streams of a run, gathered stream by stream in the order of the plan.
#[derive(Clone, Debug, Default)]
pub struct StreamSets(Vec<Sum>);

#[derive(Clone, Debug)]
struct Sum {
    set: u32,
    streams: Vec<StreamView>,
    ios: u64,
    runtime_ns: u64,
    /// What the host did; of streams of one length.
    host: Option<HostDelta>,
    /// Whether every stream ran as long as the host was sampled.
    same_window: bool,
}

impl StreamSets {
    /// Takes note of a measured stream; of steps that stand alone nothing.
    pub fn see(&mut self, step: &Step, record: &StepRecord) {
        let Some(stream) = step.role.stream.as_ref().filter(|_| step.phase == Phase::Measure) else { return };
        if self.0.last().is_none_or(|last| last.set != stream.set) {
            let of = Sum { set: stream.set, streams: Vec::new(), ios: 0, runtime_ns: 0, host: None, same_window: true };
            self.0.push(of);
        }
        let Some(sum) = self.0.last_mut() else { return };
        let seconds = record.runtime_ns as f64 / 1e9;
        let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let (iops, bytes_per_s) = (per_s(record.ios()), per_s(record.bytes()));
        sum.streams.push(StreamView { step: step.index, name: stream.name.clone(), iops, bytes_per_s });
        sum.ios += record.ios();
        sum.runtime_ns = sum.runtime_ns.max(record.runtime_ns);
        sum.same_window &= record.host.is_some();
        if sum.host.is_none() {
            sum.host.clone_from(&record.host);
        }
    }

    /// The sums. Rates add up; CPU time per I/O is that of all I/Os, and unknown where the streams did not run equally long.
    #[must_use]
    pub fn finish(self) -> Vec<StreamSetView> {
        let view = |sum: Sum| {
            let iops = sum.streams.iter().map(|s| s.iops).sum();
            let host = sum.host.filter(|_| sum.same_window);
            StreamSetView {
                set: sum.set,
                iops,
                bytes_per_s: sum.streams.iter().map(|s| s.bytes_per_s).sum(),
                runtime_s: sum.runtime_ns as f64 / 1e9,
                cpu: host.and_then(|host| cpu_view(&host, sum.ios, iops)),
                streams: sum.streams,
            }
        };
        self.0.into_iter().map(view).collect()
    }
}
