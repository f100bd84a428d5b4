//! Workers whose window is over and that do not come back.

use fathom_message::{Quantity, msg};
use fathom_plan::Mode;
use fathom_record::RunControl;

use super::{TICK, TICK_NS, Watch};
use crate::thread_state::ThreadState;

/// Looks without any sign of life, from any worker, after which one that does not even wait for its device is left behind.
/// Looks are counted, not time: a host too busy to run the workers is too busy to run the collector.
const QUIET_LOOKS: u64 = 500_000_000 / TICK_NS;
/// The same for one that waits for its device.
pub(super) const QUIET_LOOKS_MAX: u64 = 60_000_000_000 / TICK_NS;
/// Clock ticks of CPU time meanwhile that tell a thread that spins from one that got no CPU.
const SPINNING_TICKS: u64 = 10;
/// After a stop, workers whose I/O does not come back are left behind after this time.
const STOP_PATIENCE_NS: u64 = 700_000_000;

impl Watch {
    /// Waits for what is in flight when the window is over.
    pub(super) fn wait_for_stragglers(&mut self, control: &RunControl<'_>) {
        let (mut quiet, mut beats, mut before) = (0, 0, Vec::new());
        while !self.is_over() && !self.was_stopped_long_ago(control) {
            let heard = self.receive(TICK);
            let so_far = self.crew.shared.beats();
            quiet = if heard || so_far != beats { 0 } else { quiet + 1 };
            beats = so_far;
            if quiet == 1 {
                before = self.states();
            }
            if quiet < QUIET_LOOKS || self.crew.shared.is_stopped() {
                continue;
            }
            let now = self.states();
            let missing = (0..now.len()).filter(|worker| !self.ended[*worker]);
            let hung = missing.clone().find(|&worker| self.is_hung(before[worker], now[worker]));
            let silent = hung.or_else(|| missing.clone().next().filter(|_| quiet > QUIET_LOOKS_MAX));
            if let Some(worker) = silent {
                self.fall_silent(worker, msg!("engine-hung", time = Quantity::duration_ns(quiet * TICK_NS)));
            }
        }
    }

    /// `[worker]`: what those that did not end are doing.
    fn states(&self) -> Vec<Option<ThreadState>> {
        let threads = self.threads.iter().zip(&self.ended);
        threads.map(|(thread, ended)| thread.filter(|_| !ended).and_then(ThreadState::of)).collect()
    }

    /// Whether a thread that was in one state and is in another now has no device to wait for.
    fn is_hung(&self, before: Option<ThreadState>, now: Option<ThreadState>) -> bool {
        match (before, now) {
            (_, Some(ThreadState::Waits)) => true,
            // While it polls a thread waits for its device by spinning.
            (Some(ThreadState::Runs { ticks: before }), Some(ThreadState::Runs { ticks: now })) => {
                self.mode != Mode::Iopoll && now - before > SPINNING_TICKS
            }
            _ => false,
        }
    }

    /// Whether the user stopped the step so long ago that he does not wait for a device any more: what came back is the
    /// record.
    pub(super) fn was_stopped_long_ago(&mut self, control: &RunControl<'_>) -> bool {
        if !control.stopped() && !self.crew.shared.is_stopped() {
            return false;
        }
        self.crew.shared.set_stopped();
        let now = self.clock.now();
        now.saturating_sub(*self.stopped_ns.get_or_insert(now)) > STOP_PATIENCE_NS
    }
}
