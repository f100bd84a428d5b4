//! Pauses and shares between the I/Os of a thread: fio's `thinktime` and `flow`.

use serde::{Deserialize, Serialize};

/// What holds a thread back beside its queue depth and its rate. The default holds nothing back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Pacing {
    /// Pauses between I/Os.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub think: Option<Think>,
    /// Share of the I/Os among the loads that run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub flow: Option<Flow>,
    /// A latency to which each thread keeps by the depth of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub target: Option<LatencyTarget>,
}

/// Each thread searches the deepest queue, up to that of its load, at which so many I/Os keep to a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencyTarget {
    /// What the latency is to be at most.
    pub lat_ns: u64,
    /// Each depth is tried for so long.
    pub window_ns: u64,
    /// So many of a million I/Os are to keep to it.
    pub within_ppm: u32,
    /// Whether the load goes on once the depth is found, and follows the latency, rather than ending after one more window.
    pub runs_on: bool,
}

/// A pause of a thread after so many I/Os, begun when none of them is in flight any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Think {
    /// Length of a pause.
    pub pause_ns: u64,
    /// Part of it that keeps the CPU busy.
    pub spin_ns: u64,
    /// I/Os from one pause to the next, at least 1.
    pub ios: u32,
}

/// A thread starts an I/O only while its part of all I/Os of the group is not above its weight's part of all weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Flow {
    /// Which group, among the loads that run at once.
    pub id: u32,
    /// Weight of each thread, at least 1.
    pub weight: u32,
    /// Wait before the next look when it is above its part, with nothing in flight; 0: looks again at once.
    pub sleep_ns: u64,
}

impl Pacing {
    /// Whether nothing is held back.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Pacing::default()
    }

    /// In words for a label, the same in every language; `None` where nothing is held back.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let think = self.think.map(|think| match think.ios {
            1 => format!("thinktime {}", crate::knobs::print_duration(think.pause_ns)),
            n => format!("thinktime {}/{n}", crate::knobs::print_duration(think.pause_ns)),
        });
        let flow = self.flow.map(|flow| format!("flow {}", flow.weight));
        let target = self.target.map(|target| {
            let lat = crate::knobs::print_duration(target.lat_ns);
            format!("latency_target {lat} {}%", f64::from(target.within_ppm) / 1e4)
        });
        let words: Vec<String> = think.into_iter().chain(flow).chain(target).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}
