//! A member that is made new beside the load: row by row, at a limit or as fast as it can be.

use crate::agenda::Agenda;
use crate::array::BehindKind;
use crate::fault::Alarm;
use crate::machine::Array;
use crate::pipe::transfer_ps;
use crate::world::{ALARM_BASE, World};

/// Bytes of the member that are under way at once.
const WINDOW_BYTES: u64 = 1 << 20;

/// How far it is.
#[derive(Debug)]
pub(super) struct RebuildState {
    member: u32,
    bytes_per_s: Option<u64>,
    next_row: u64,
    rows: u64,
    under_way: u64,
    window: u64,
    /// Its alarm is set for a time that is still to come.
    is_waiting: bool,
    pub(super) done_rows: u64,
}

impl RebuildState {
    /// Of an array whose members hold `member_bytes` each.
    pub(super) fn of(spec: &Array, member_bytes: u64) -> Option<RebuildState> {
        let asked = spec.rebuild?;
        Some(RebuildState {
            member: asked.member,
            bytes_per_s: asked.bytes_per_s,
            next_row: 0,
            rows: member_bytes / spec.chunk_bytes,
            under_way: 0,
            window: (WINDOW_BYTES / spec.chunk_bytes).max(1),
            is_waiting: false,
            done_rows: 0,
        })
    }
}

impl World {
    /// Rebuilds begin with the load.
    pub(crate) fn start_rebuilds(&mut self) {
        for array in 0..self.arrays.len() {
            if self.arrays[array].rebuild.is_some() {
                let index = self.alarms.len() as u32;
                self.alarms.push(Alarm::Rebuild(array as u16));
                self.arrays[array].rebuild_alarm = index;
                self.agenda.push(0, ALARM_BASE + index);
            }
        }
    }

    pub(crate) fn rebuild_due(&mut self, now: u64, array: u16) {
        if let Some(state) = &mut self.arrays[array as usize].rebuild {
            state.is_waiting = false;
        }
        self.rebuild_on(now, array);
    }

    /// Begins as many rows as may be under way now.
    pub(super) fn rebuild_on(&mut self, now: u64, array: u16) {
        loop {
            let state = &mut self.arrays[array as usize];
            let (alarm, chunk) = (state.rebuild_alarm, state.spec.chunk_bytes);
            let Some(rebuild) = &mut state.rebuild else { return };
            if rebuild.under_way >= rebuild.window || rebuild.next_row >= rebuild.rows || rebuild.is_waiting {
                return;
            }
            let due = rebuild.bytes_per_s.map_or(0, |rate| transfer_ps(rebuild.next_row * chunk, rate));
            if due > now {
                rebuild.is_waiting = true;
                self.agenda.push(due, ALARM_BASE + alarm);
                return;
            }
            let (row, member) = (rebuild.next_row, rebuild.member);
            rebuild.next_row += 1;
            rebuild.under_way += 1;
            let plan = state.planner.rebuilt(row, member);
            let slot = self.behind(array, BehindKind::Rebuild, chunk);
            self.carry_out(now, slot, plan);
        }
    }

    pub(super) fn row_rebuilt(&mut self, now: u64, array: u16) {
        if let Some(rebuild) = &mut self.arrays[array as usize].rebuild {
            rebuild.under_way -= 1;
            rebuild.done_rows += 1;
        }
        self.rebuild_on(now, array);
    }
}
