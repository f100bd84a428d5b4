//! Counters of the world at a moment; the difference of two is what the host would have counted between them.

use crate::drive::DriveCount;
use crate::world::{Counters, World};

/// Time of a CPU by kind, picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuCount {
    pub(crate) user_ps: u64,
    pub(crate) system_ps: u64,
    pub(crate) irq_ps: u64,
}

/// Time of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadCount {
    pub(crate) user_ps: u64,
    pub(crate) system_ps: u64,
    pub(crate) poller_ps: u64,
}

/// All counters.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) at_ps: u64,
    pub(crate) cpus: Vec<CpuCount>,
    pub(crate) threads: Vec<ThreadCount>,
    pub(crate) drives: Vec<DriveCount>,
    pub(crate) md_threads_ps: Vec<u64>,
    pub(crate) counters: Counters,
    /// `[drive, nowhere, array][cpu]`
    pub(crate) vectors: Vec<Vec<u64>>,
}

impl Snapshot {
    pub(crate) fn of(world: &World, at_ps: u64) -> Self {
        Snapshot {
            at_ps,
            cpus: world
                .cpus
                .iter()
                .map(|c| CpuCount { user_ps: c.user_ps, system_ps: c.system_ps, irq_ps: c.irq_ps })
                .collect(),
            threads: world
                .threads
                .iter()
                .map(|t| ThreadCount { user_ps: t.user_ps, system_ps: t.system_ps, poller_ps: t.poller_ps })
                .collect(),
            drives: world.drives.iter().map(|d| d.count.at(at_ps)).collect(),
            md_threads_ps: world.arrays.iter().map(crate::array::ArrayState::md_thread_ps).collect(),
            counters: world.counters,
            vectors: world.vectors.clone(),
        }
    }

    /// Busy share of each CPU since an earlier snapshot.
    pub(crate) fn busy_shares_since(&self, earlier: &Snapshot) -> Vec<f32> {
        let window = (self.at_ps - earlier.at_ps).max(1) as f64;
        let busy = |c: &CpuCount| c.user_ps + c.system_ps + c.irq_ps;
        let share = |(now, then): (&CpuCount, &CpuCount)| ((busy(now) - busy(then)) as f64 / window).min(1.0) as f32;
        self.cpus.iter().zip(&earlier.cpus).map(share).collect()
    }
}
