//! CPU time of other programs: all processes but this one, those that it started, and the kernel's threads.

use std::collections::BTreeMap;
use std::time::Instant;

use fathom_record::ProgramsCpu;

use crate::procfs::{ProcessStat, parse_process};
use crate::root::{Root, names_in};

/// Follows the other programs over a window. It reads one small file for each process at the start and at the end.
pub(crate) struct ProgramWatch {
    root: Root,
    tick_ns: u64,
    /// The first reading and its end.
    first: Option<(ProgramsCpu, Instant)>,
}

impl ProgramWatch {
    pub(crate) fn new(root: Root, tick_ns: u64) -> ProgramWatch {
        ProgramWatch { root, tick_ns, first: None }
    }

    pub(crate) fn mark_start(&mut self) {
        self.first = self.used_so_far().map(|used| (used, Instant::now()));
    }

    /// CPU time in a window of `window_ns`, which lies between the start and now: reading thousands of processes takes a while.
    /// `None` where the kernel does not show all processes, and where the time of one that ended went to nobody.
    pub(crate) fn used(&self, window_ns: u64) -> Option<ProgramsCpu> {
        let (first, begun) = self.first?;
        let between_ns = begun.elapsed().as_nanos() as f64;
        let last = self.used_so_far().filter(|last| last.total_ns() >= first.total_ns())?;
        let share = (window_ns as f64 / between_ns.max(1.0)).min(1.0);
        let in_window = |first: u64, last: u64| (last.saturating_sub(first) as f64 * share) as u64;
        Some(ProgramsCpu {
            user_ns: in_window(first.user_ns, last.user_ns),
            system_ns: in_window(first.system_ns, last.system_ns),
        })
    }

    /// CPU time of the other programs since the host started, with that of their ended children: a child that ends moves
    /// its time to its parent, which leaves the sum as it was.
    fn used_so_far(&self) -> Option<ProgramsCpu> {
        let own = parse_process(&self.root.read("proc/self/stat").ok()?, self.tick_ns)?.pid;
        let pids = names_in(&self.root.join("proc")).into_iter().filter_map(|name| name.parse::<u32>().ok());
        // A process that ends between the listing and the reading is counted by its parent.
        let stat = |pid: u32| parse_process(&self.root.read(format!("proc/{pid}/stat")).ok()?, self.tick_ns);
        let all: BTreeMap<u32, ProcessStat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
        // A container that shows no threads of the kernel hides the programs of the others as well.
        if !all.values().any(|stat| stat.is_kernel) {
            return None;
        }
        let is_own = |mut pid: u32| {
            while pid != own {
                match all.get(&pid) {
                    Some(stat) if stat.parent != pid && stat.parent != 0 => pid = stat.parent,
                    _ => return false,
                }
            }
            true
        };
        let others = all.iter().filter(|(pid, stat)| !stat.is_kernel && !is_own(**pid));
        Some(others.fold(ProgramsCpu::default(), |sum, (_, stat)| ProgramsCpu {
            user_ns: sum.user_ns + stat.user_ns,
            system_ns: sum.system_ns + stat.system_ns,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    const TICK_NS: u64 = 10_000_000;
    const KERNEL: u32 = 0x0020_8040;

    /// A process with its user and system time and those of its ended children, in ticks.
    fn process(tree: &Tree, pid: u32, parent: u32, flags: u32, ticks: [u64; 4]) {
        let [user, system, child_user, child_system] = ticks;
        let stat = format!(
            "{pid} (a) b) S {parent} 0 0 0 -1 {flags} 0 0 0 0 {user} {system} {child_user} {child_system} 20\n"
        );
        tree.file(&format!("proc/{pid}/stat"), &*stat);
        if pid == 7 {
            tree.file("proc/self/stat", stat);
        }
    }

    fn host() -> Tree {
        let tree = Tree::new();
        process(&tree, 1, 0, 0, [10, 10, 0, 0]);
        process(&tree, 2, 0, KERNEL, [0, 500, 0, 0]);
        process(&tree, 7, 1, 0, [900, 0, 0, 0]);
        // A program that this one started, and another that nobody here did.
        process(&tree, 8, 7, 0, [100, 0, 0, 0]);
        process(&tree, 9, 1, 0, [50, 20, 0, 0]);
        tree
    }

    #[test]
    fn own_processes_and_threads_of_the_kernel_are_no_other_programs() {
        let tree = host();
        let mut watch = ProgramWatch::new(tree.root(), TICK_NS);
        watch.mark_start();
        process(&tree, 7, 1, 0, [990, 9, 0, 0]);
        process(&tree, 8, 7, 0, [190, 9, 0, 0]);
        process(&tree, 2, 0, KERNEL, [0, 900, 0, 0]);
        process(&tree, 9, 1, 0, [53, 21, 0, 0]);
        assert_eq!(watch.used(u64::MAX), Some(ProgramsCpu { user_ns: 3 * TICK_NS, system_ns: TICK_NS }));
    }

    #[test]
    fn programs_that_are_hidden_or_lost_are_not_known() {
        let container = Tree::new();
        process(&container, 1, 0, 0, [10, 10, 0, 0]);
        process(&container, 7, 1, 0, [900, 0, 0, 0]);
        let mut watch = ProgramWatch::new(container.root(), TICK_NS);
        watch.mark_start();
        assert_eq!(watch.used(u64::MAX), None, "no thread of the kernel is shown");
        let tree = host();
        let mut watch = ProgramWatch::new(tree.root(), TICK_NS);
        watch.mark_start();
        process(&tree, 9, 1, 0, [0, 0, 0, 0]);
        assert_eq!(watch.used(u64::MAX), None, "nobody has the time of one that ended");
    }

    #[test]
    fn a_program_that_began_and_ended_meanwhile_is_counted_by_its_parent() {
        let tree = host();
        let mut watch = ProgramWatch::new(tree.root(), TICK_NS);
        watch.mark_start();
        process(&tree, 1, 0, 0, [10, 10, 45, 5]);
        assert_eq!(watch.used(u64::MAX), Some(ProgramsCpu { user_ns: 45 * TICK_NS, system_ns: 5 * TICK_NS }));
        assert_eq!(ProgramWatch::new(Tree::new().root(), TICK_NS).used(u64::MAX), None);
    }
}
