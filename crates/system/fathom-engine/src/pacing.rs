//! What holds a thread back between its I/Os: pauses, and its share among the loads that run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fathom_plan::{Flow, Think};

use crate::clock::Clock;

/// Longest sleep in one piece, so that the end of an interval or a stop is noticed.
const NAP_NS_MAX: u64 = 20_000_000;

/// I/Os and weights of all threads that share.
#[derive(Debug, Default)]
pub(crate) struct FlowGroup {
    ios: AtomicU64,
    weights: AtomicU64,
}

/// A thread's part of a group, from its first I/O to its last.
#[derive(Debug)]
pub(crate) struct FlowMember {
    group: Arc<FlowGroup>,
    flow: Flow,
    ios: u64,
    has_left: bool,
}

/// A group with the words of one load, whose threads join it.
#[derive(Clone, Debug)]
pub(crate) struct FlowOfLoad {
    group: Arc<FlowGroup>,
    flow: Flow,
}

impl FlowGroup {
    /// For the threads of a load.
    pub(crate) fn of(group: Arc<FlowGroup>, flow: Flow) -> FlowOfLoad {
        FlowOfLoad { group, flow }
    }
}

impl FlowOfLoad {
    /// One more thread. It counts from here on, so that no thread begins with too small a sum of weights.
    pub(crate) fn join(&self) -> Arc<std::sync::Mutex<Option<FlowMember>>> {
        self.group.weights.fetch_add(u64::from(self.flow.weight), Ordering::Relaxed);
        let member = FlowMember { group: self.group.clone(), flow: self.flow, ios: 0, has_left: false };
        Arc::new(std::sync::Mutex::new(Some(member)))
    }
}

impl FlowMember {
    /// Whether the thread is above its part of the I/Os.
    fn is_above(&self) -> bool {
        let all = self.group.ios.load(Ordering::Relaxed) as f64;
        let weights = self.group.weights.load(Ordering::Relaxed) as f64;
        // 0 of 0 I/Os is not above anything.
        self.ios as f64 / all > f64::from(self.flow.weight) / weights
    }

    fn take(&mut self) {
        self.ios += 1;
        self.group.ios.fetch_add(1, Ordering::Relaxed);
    }

    /// The others share what is left.
    fn leave(&mut self) {
        if !self.has_left {
            self.has_left = true;
            self.group.ios.fetch_sub(self.ios, Ordering::Relaxed);
            self.group.weights.fetch_sub(u64::from(self.flow.weight), Ordering::Relaxed);
        }
    }
}

impl Drop for FlowMember {
    fn drop(&mut self) {
        self.leave();
    }
}

/// What holds one thread back.
#[derive(Debug)]
pub(crate) struct Pacer {
    think: Option<Think>,
    flow: Option<FlowMember>,
    /// I/Os that completed since the last pause.
    since_pause: u64,
    /// Nothing is to start before everything in flight came back, and then not before this pause is over.
    hold: Hold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Free,
    /// Waits for what is in flight; the pause then takes so long, of which so much is spun.
    Draining {
        pause_ns: u64,
        spin_ns: u64,
    },
    Pausing {
        spin_until_ns: u64,
        until_ns: u64,
    },
}

impl Pacer {
    /// `None`: nothing holds the thread back.
    pub(crate) fn new(think: Option<Think>, flow: Option<FlowMember>) -> Option<Pacer> {
        let is_held = think.is_some() || flow.is_some();
        is_held.then_some(Pacer { think, flow, since_pause: 0, hold: Hold::Free })
    }

    /// An I/O completed.
    pub(crate) fn completed(&mut self) {
        self.since_pause += 1;
        if let Some(think) = self.think
            && self.hold == Hold::Free
            && self.since_pause >= u64::from(think.ios)
        {
            self.hold = Hold::Draining { pause_ns: think.pause_ns, spin_ns: think.spin_ns };
        }
    }

    /// Whether an I/O may start now; if so, it counts.
    pub(crate) fn starts(&mut self) -> bool {
        if self.hold != Hold::Free {
            return false;
        }
        let Some(flow) = &mut self.flow else { return true };
        if flow.is_above() {
            if flow.flow.sleep_ns > 0 {
                self.hold = Hold::Draining { pause_ns: flow.flow.sleep_ns, spin_ns: 0 };
            }
            return false;
        }
        flow.take();
        true
    }

    /// Whether completions are all that can happen next.
    pub(crate) fn only_waits(&self) -> bool {
        self.hold != Hold::Free || self.flow.as_ref().is_some_and(FlowMember::is_above)
    }

    /// Until when the load pauses, where that is known.
    pub(crate) fn held_until_ns(&self, now_ns: u64) -> u64 {
        match self.hold {
            Hold::Pausing { until_ns, .. } => until_ns,
            Hold::Draining { pause_ns, .. } => now_ns + pause_ns,
            Hold::Free => now_ns,
        }
    }

    /// Nothing is in flight: lets some of the pause pass. True when it is over.
    pub(crate) fn pause(&mut self, clock: &Clock, deadline_ns: u64) -> bool {
        let now = clock.now();
        if let Hold::Draining { pause_ns, spin_ns } = self.hold {
            self.hold = Hold::Pausing { spin_until_ns: now + spin_ns, until_ns: now + pause_ns };
        }
        match self.hold {
            Hold::Pausing { spin_until_ns, until_ns } => {
                let end_ns = until_ns.min(deadline_ns);
                if now < spin_until_ns.min(end_ns) {
                    let piece_ns = spin_until_ns.min(end_ns).min(now + NAP_NS_MAX);
                    while clock.now() < piece_ns {
                        std::hint::spin_loop();
                    }
                } else if now < end_ns {
                    std::thread::sleep(Duration::from_nanos((end_ns - now).min(NAP_NS_MAX)));
                }
                let is_over = clock.now() >= until_ns;
                if is_over {
                    self.hold = Hold::Free;
                    self.since_pause = 0;
                }
                is_over
            }
            // Another thread's I/Os let this one go on.
            Hold::Free | Hold::Draining { .. } => {
                std::thread::yield_now();
                true
            }
        }
    }

    /// The thread starts no more: the others share what is left.
    pub(crate) fn leave(&mut self) {
        if let Some(flow) = &mut self.flow {
            flow.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_share_keep_the_ratio_of_their_weights_and_one_left_alone_goes_on() {
        let group = Arc::new(FlowGroup::default());
        let member = |weight| {
            let flow = Flow { id: 0, weight, sleep_ns: 0 };
            let joined = FlowGroup::of(group.clone(), flow).join();
            let member = joined.lock().expect("its own").take();
            Pacer::new(None, member).expect("held back")
        };
        let (mut one, mut eight) = (member(1), member(8));
        let mut started = [0_u32; 2];
        for _ in 0..10_000 {
            started[0] += u32::from(one.starts());
            started[1] += u32::from(eight.starts());
        }
        let ratio = f64::from(started[1]) / f64::from(started[0]);
        assert!((7.9..8.1).contains(&ratio), "{started:?}");
        eight.leave();
        let before = started[0];
        started[0] += (0..1_000).map(|_| u32::from(one.starts())).sum::<u32>();
        assert!(started[0] > before + 990, "{started:?}");
    }

    #[test]
    fn a_pause_begins_once_so_many_came_back_and_takes_as_long_as_asked() {
        let clock = Clock::get();
        let think = Think { pause_ns: 3_000_000, spin_ns: 1_000_000, ios: 2 };
        let mut pacer = Pacer::new(Some(think), None).expect("held back");
        assert!(pacer.starts());
        pacer.completed();
        assert!(pacer.starts(), "one more is to come back");
        pacer.completed();
        assert!(!pacer.starts() && pacer.only_waits());
        let begun = clock.now();
        while !pacer.pause(&clock, u64::MAX) {}
        assert!((3_000_000..50_000_000).contains(&(clock.now() - begun)));
        assert!(pacer.starts());
    }
}
