//! Alarms: what happens at a time of its own. Arrivals of open loops, coalesced interrupts, and faults.

use crate::agenda::Agenda;
use crate::drive::MediaState;
use crate::machine::{Fault, FaultKind};
use crate::world::{ALARM_BASE, Place, World};

/// How often a drift is updated.
const DRIFT_STEP_PS: u64 = 100_000_000_000;

/// What rings.
#[derive(Clone, Debug)]
pub(crate) enum Alarm {
    /// The next arrival of this thread is due.
    Due(u32),
    /// Held completions of this thread have waited long enough.
    Coalesced(u32),
    /// More of a lost member of this array may be made new.
    Rebuild(u16),
    /// A fault begins on these drives, goes on, or ends.
    Fault { fault: Fault, drives: Vec<usize>, begun: bool },
}

impl World {
    /// Alarms of the threads come first: `[thread]` for arrivals, then `[thread]` for coalescing.
    pub(crate) fn thread_alarms(threads: u32) -> Vec<Alarm> {
        (0..threads).map(Alarm::Due).chain((0..threads).map(Alarm::Coalesced)).collect()
    }

    pub(crate) fn set_due_alarm(&mut self, thread: u32, at_ps: u64) {
        self.agenda.push(at_ps, ALARM_BASE + thread);
    }

    fn set_coalesced_alarm(&mut self, thread: u32, at_ps: u64) {
        let threads = self.threads.len() as u32;
        self.agenda.push(at_ps, ALARM_BASE + threads + thread);
    }

    /// Plans the beginning of a fault.
    pub(crate) fn add_fault(&mut self, fault: &Fault, drives: Vec<usize>) {
        let index = self.alarms.len() as u32;
        let at = fault.from_ps;
        self.alarms.push(Alarm::Fault { fault: fault.clone(), drives, begun: false });
        self.agenda.push(at, ALARM_BASE + index);
    }

    pub(crate) fn alarm(&mut self, now: u64, index: u32) {
        match self.alarms[index as usize].clone() {
            Alarm::Due(thread) => self.arrival_due(now, thread),
            Alarm::Coalesced(thread) => {
                if now >= self.threads[thread as usize].held_until_ps {
                    self.release_held(now, thread as usize);
                }
            }
            Alarm::Rebuild(array) => self.rebuild_due(now, array),
            Alarm::Fault { fault, drives, begun } => {
                if let Some(next) = self.fault_step(now, &fault, &drives, begun) {
                    if let Alarm::Fault { begun, .. } = &mut self.alarms[index as usize] {
                        *begun = true;
                    }
                    self.agenda.push(next, ALARM_BASE + index);
                }
            }
        }
    }

    /// Begins, carries on or ends a fault; returns when it must be looked at again.
    fn fault_step(&mut self, now: u64, fault: &Fault, drives: &[usize], begun: bool) -> Option<u64> {
        let over = now >= fault.until_ps;
        let again = |at: u64| Some(at.min(fault.until_ps));
        match fault.kind {
            FaultKind::Throttle { speed_pct } => {
                let speed = if over { 100.0 } else { f64::from(speed_pct) };
                drives.iter().for_each(|d| self.drives[*d].set_speed_pct(speed));
                (!over && fault.until_ps < u64::MAX).then_some(fault.until_ps)
            }
            FaultKind::Drift { loss_pct } => {
                if over {
                    return None;
                }
                let minutes = (now - fault.from_ps) as f64 / 60e12;
                let speed = (100.0 - loss_pct * minutes).max(1.0);
                drives.iter().for_each(|d| self.drives[*d].set_speed_pct(speed));
                again(now + DRIFT_STEP_PS)
            }
            FaultKind::SlowDie { die, factor } => {
                let slow = (!over).then_some((die, u64::from(factor)));
                for d in drives {
                    if let MediaState::Nand(nand) = &mut self.drives[*d].media {
                        nand.set_slow_die(slow);
                    }
                }
                (!over && !begun && fault.until_ps < u64::MAX).then_some(fault.until_ps)
            }
            FaultKind::GcStorm { period_ps, length_ps, dies_pct } => {
                if over {
                    return None;
                }
                for d in drives {
                    if let MediaState::Nand(nand) = &mut self.drives[*d].media {
                        let count = (nand.spec().dies * dies_pct).div_ceil(100);
                        nand.block_dies(count, now + length_ps);
                    }
                }
                again(now + period_ps)
            }
            // These hold for the whole step and were built in.
            FaultKind::LinkTrainedDown { .. }
            | FaultKind::InterruptsOnOneCpu { .. }
            | FaultKind::PageCacheHits { .. } => None,
        }
    }

    /// Limits of interrupt coalescing for an I/O.
    #[inline]
    pub(crate) fn coalescing(&self, slot: u32) -> Option<(u32, u64)> {
        let io = &self.ios[slot as usize];
        match self.threads[io.thread as usize].lane(io.lane).place {
            Place::Drive(d) => self.drives[d as usize].coalesce,
            Place::Array(a) => self.arrays[a as usize].coalesce,
            Place::Nowhere => None,
        }
    }

    /// Holds a completion back until there are enough or the first has waited long enough.
    pub(crate) fn hold(&mut self, now: u64, slot: u32, (ios, time_ps): (u32, u64)) {
        let thread = self.ios[slot as usize].thread;
        let state = &mut self.threads[thread as usize];
        state.held.push(slot);
        if state.held.len() as u32 >= ios {
            self.release_held(now, thread as usize);
        } else if state.held.len() == 1 {
            state.held_until_ps = now + time_ps;
            self.set_coalesced_alarm(thread, now + time_ps);
        }
    }

    fn release_held(&mut self, now: u64, thread: usize) {
        let held = std::mem::take(&mut self.threads[thread].held);
        for (i, slot) in held.into_iter().enumerate() {
            self.interrupt(now, slot, i > 0);
        }
    }
}
