//! Arrays of user space: the thread that submits does all of it, each command of a member as an I/O of its own.

use super::Due;
use super::plan::RaidPlan;
use crate::cpu::Job;
use crate::machine::ArrayController;
use crate::pipe::transfer_ps;
use crate::world::{Io, Stage, World};

impl World {
    /// Core time of a thread for `submitted` and `taken` commands of members, and for parity over so many bytes.
    fn own_work_ps(&self, io: &Io, submitted: u64, taken: u64, xor_bytes: u64) -> u64 {
        let thread = &self.threads[io.thread as usize];
        let costs = thread.lane(io.lane).costs;
        let interrupt_ps = if thread.polled { 0 } else { costs.interrupt_ps };
        let rate = match &self.arrays[io.drive as usize].spec.controller {
            ArrayController::UserSpace(own) => own.xor_bytes_per_s,
            ArrayController::Card(_) | ArrayController::Md(_) => 0,
        };
        submitted * costs.submit_ps + taken * (costs.complete_ps + interrupt_ps) + transfer_ps(xor_bytes, rate)
    }

    /// The first round; the submission of its first command is the I/O's own.
    pub(super) fn submit_parts(&mut self, now: u64, slot: u32, plan: RaidPlan) {
        let io = self.ios[slot as usize];
        let is_one = plan.first.is_empty();
        let commands = if is_one { plan.then.len() } else { plan.first.len() } as u64;
        let xor_bytes = if is_one { plan.xor_bytes } else { 0 };
        let work_ps = self.own_work_ps(&io, commands.saturating_sub(1), 0, xor_bytes);
        if work_ps == 0 && is_one {
            self.send(now, slot, &plan.then);
            return;
        }
        let (height_bytes, reads) = (plan.height_bytes, plan.first.len() as u32);
        let (first, then) = (plan.first, plan.then);
        self.plans.insert(slot, Due { first, then, height_bytes, xor_bytes: plan.xor_bytes, reads });
        self.work_on_array(now, slot, work_ps);
    }

    fn work_on_array(&mut self, now: u64, slot: u32, work_ps: u64) {
        self.ios[slot as usize].arrived_ps = work_ps;
        self.enqueue_thread(now, slot, Job::Array);
    }

    /// The first round is done: its completions, the parity, and the submission of the second.
    pub(super) fn take_parts(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let due = &self.plans[&slot];
        // Of a read that was computed, the last completion is the I/O's own.
        let taken = u64::from(due.reads) - u64::from(due.then.is_empty());
        let work_ps = self.own_work_ps(&io, due.then.len() as u64, taken, due.xor_bytes);
        self.work_on_array(now, slot, work_ps);
    }

    /// The last round is done; the completion of its last command is the I/O's own.
    pub(super) fn reap_parts(&mut self, now: u64, slot: u32) {
        let io = self.ios[slot as usize];
        let work_ps = self.own_work_ps(&io, 0, io.arrived_ps.saturating_sub(1), 0);
        if work_ps == 0 {
            self.plan(now, slot, Stage::Home);
            return;
        }
        self.ios[slot as usize].round = 2;
        self.work_on_array(now, slot, work_ps);
    }

    /// The thread has done its part of the work on an array.
    pub(crate) fn array_worked(&mut self, now: u64, slot: u32) {
        if self.ios[slot as usize].round == 2 {
            self.plan(now, slot, Stage::Home);
            return;
        }
        let due = self.plans.get_mut(&slot).expect("an I/O under way has a round");
        if !due.first.is_empty() {
            let first = std::mem::take(&mut due.first);
            self.send(now, slot, &first);
            return;
        }
        let due = self.plans.remove(&slot).expect("it was there");
        if due.then.is_empty() {
            self.plan(now, slot, Stage::Home);
        } else {
            self.send(now, slot, &due.then);
        }
    }
}
