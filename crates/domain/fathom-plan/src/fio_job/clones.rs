//! Threads of a step as steps of one thread each: fio reports every clone of `numjobs` by itself.

use crate::label::set_label;
use crate::step::{Placement, Spread, Step};

impl Step {
    /// One step for each thread, which does what that thread does. A step of whole files stays as it is: its threads share
    /// a folder. `section`: what fio calls all clones but the first.
    pub(super) fn clones_of_threads(self, section: &str) -> Vec<Step> {
        let workers = self.workers();
        if workers < 2 || self.workload.order.files.is_some() || self.workload.order.replay.is_some() {
            return vec![self];
        }
        let clone = |worker: u32| {
            let mut step = self.clone();
            step.targets = self.targets_of(worker).iter().map(|at| self.targets[*at as usize].clone()).collect();
            step.load.threads = 1;
            step.load.spread = if step.targets.len() == 1 { Spread::EachTarget } else { Spread::AllTargets };
            let of_each = |iops: f64| iops / f64::from(workers);
            if let Some(rate) = &mut step.load.rate {
                rate.iops = of_each(rate.iops);
            }
            if let Some(rates) = &mut step.load.op_rates {
                rates.read_iops = rates.read_iops.map(of_each);
                rates.write_iops = rates.write_iops.map(of_each);
            }
            if let Some(increment) = step.workload.order.thread_offset_bytes {
                step.workload.region.offset_bytes += increment * u64::from(worker);
                step.workload.order.thread_offset_bytes = None;
            }
            if let Placement::Cpus(cpus) = &self.placement {
                step.placement = Placement::Cpus(vec![cpus[worker as usize % cpus.len()]]);
            }
            if let Some(job) = step.role.job.as_mut().filter(|_| worker > 0) {
                section.clone_into(&mut job.name);
            }
            set_label(&mut step);
            step
        };
        (0..workers).map(clone).collect()
    }

    /// True where each thread has its own file and its own offset in that file: one step cannot say that.
    pub(super) fn has_unlike_threads(&self) -> bool {
        self.targets.len() > 1 && self.workload.order.thread_offset_bytes.is_some_and(|bytes| bytes > 0)
    }
}
