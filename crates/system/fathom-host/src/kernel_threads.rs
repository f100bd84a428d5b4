//! CPU time of the kernel's own threads, by what they work for.
//!
//! A kernel has from sixty to some thousands of them, nearly all asleep. So they are listed at the start and a few times
//! more, one small file each, with pauses that keep the cost below half a percent of a CPU; only what used a CPU is kept.
//! A worker of a work queue (`kworker/u4:1-kcryptd/253:0`) serves several queues in turn and bears the name of the
//! one it works for or worked for last: its time since the look before is that queue's.

use crate::system::FileExt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::{Duration, Instant};

use fathom_record::KernelThreadCpu;

use crate::procfs::{TaskStat, parse_task};
use crate::root::{Root, names_in};

/// Shortest pause between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(500);
/// A pause is this many times as long as the look before it took.
const PAUSE_OVER_LOOK: u32 = 200;
/// What used a smaller share of a CPU is left out.
const KEPT_SHARE: f64 = 0.01;
/// A thread with this share of a CPU counts as one of those that do the work of its group.
const WORKING_SHARE: f64 = 0.1;

/// Time of one thread since the kernel made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    run_ns: u64,
    waited_ns: u64,
}

/// What the threads of one name used in the window.
#[derive(Default)]
struct Used {
    waited_ns: u64,
    /// Run time by thread.
    run_ns: BTreeMap<u32, u64>,
}

/// Follows all kernel threads over a window.
pub(crate) struct KernelThreadWatch {
    root: Root,
    tick_ns: u64,
    buffer: Vec<u8>,
    /// Kernel threads with their times at the look before.
    threads: BTreeMap<u32, Times>,
    /// Processes that are no kernel threads.
    others: BTreeSet<u32>,
    used: BTreeMap<String, Used>,
    begun: Instant,
    next_look: Instant,
}

impl KernelThreadWatch {
    pub(crate) fn new(root: Root, tick_ns: u64) -> Self {
        let now = Instant::now();
        KernelThreadWatch {
            root,
            tick_ns,
            buffer: vec![0; 1024],
            threads: BTreeMap::new(),
            others: BTreeSet::new(),
            used: BTreeMap::new(),
            begun: now,
            next_look: now,
        }
    }

    /// Forgets all threads and lists them: the part that takes long, a process more than any later look.
    pub(crate) fn restart(&mut self) {
        self.threads.clear();
        self.others.clear();
        self.list(true);
    }

    /// Takes what all threads have used so far as the start of the window. One that begins later counts from 0.
    pub(crate) fn mark_start(&mut self) {
        self.used.clear();
        let begun = Instant::now();
        if !self.threads.is_empty() {
            self.list(true);
            self.look();
            self.used.clear();
        }
        (self.begun, self.next_look) = (Instant::now(), pause_after(begun));
    }

    /// Looks if it is time to.
    pub(crate) fn sample(&mut self) {
        let now = Instant::now();
        if now >= self.next_look && !self.threads.is_empty() {
            self.list(false);
            self.look();
            self.next_look = pause_after(now);
        }
    }

    /// Looks for the last time: what was used since the start, as in a window of `window_ns`. Names without worth are
    /// left out.
    pub(crate) fn finish(&mut self, window_ns: u64) -> Vec<KernelThreadCpu> {
        if self.threads.is_empty() {
            return Vec::new();
        }
        self.list(false);
        self.look();
        self.taken(self.begun.elapsed().as_nanos().max(1) as f64, window_ns)
    }

    /// What was used in `own_ns` between the first look and the last, as in a window of `window_ns`.
    fn taken(&mut self, own_ns: f64, window_ns: u64) -> Vec<KernelThreadCpu> {
        let scale = window_ns as f64 / own_ns;
        let of = |(name, used): (String, Used)| {
            let run_ns: u64 = used.run_ns.values().sum();
            let works = |ns: &&u64| **ns as f64 >= WORKING_SHARE * own_ns;
            (run_ns as f64 >= KEPT_SHARE * own_ns).then(|| KernelThreadCpu {
                name,
                threads: used.run_ns.values().filter(works).count().max(1) as u32,
                busy_ns: (run_ns as f64 * scale) as u64,
                waited_ns: (used.waited_ns as f64 * scale) as u64,
            })
        };
        std::mem::take(&mut self.used).into_iter().filter_map(of).collect()
    }

    /// Finds threads that began since the last time; `is_before`: what they used so far lies before the window.
    fn list(&mut self, is_before: bool) {
        let numbers: BTreeSet<u32> = names_in(&self.root.join("proc")).iter().filter_map(|n| n.parse().ok()).collect();
        // The number of a process that ended may be given again.
        self.others.retain(|pid| numbers.contains(pid));
        self.threads.retain(|pid, _| numbers.contains(pid));
        for pid in numbers {
            if self.others.contains(&pid) || self.threads.contains_key(&pid) {
                continue;
            }
            match self.stat(pid).map(|seen| seen.is_kernel) {
                Some(true) => {
                    let last = if is_before { self.times(pid).unwrap_or_default() } else { Times::default() };
                    self.threads.insert(pid, last);
                }
                Some(false) => {
                    self.others.insert(pid);
                }
                None => {}
            }
        }
    }

    /// Adds what each thread used since the look before to its name.
    fn look(&mut self) {
        let pids: Vec<u32> = self.threads.keys().copied().collect();
        for pid in pids {
            let Some(now) = self.times(pid) else { continue };
            let Some(last) = self.threads.insert(pid, now).filter(|last| now != *last) else { continue };
            let Some(name) = self.stat(pid).map(|seen| group_of(seen.name).to_owned()) else { continue };
            let used = self.used.entry(name).or_default();
            used.waited_ns += now.waited_ns.saturating_sub(last.waited_ns);
            *used.run_ns.entry(pid).or_default() += now.run_ns.saturating_sub(last.run_ns);
        }
    }

    /// Times by the scheduler, to the nanosecond; in ticks where the kernel keeps no scheduler statistics.
    fn times(&mut self, pid: u32) -> Option<Times> {
        let text = self.text(pid, "schedstat").unwrap_or_default();
        let mut words = text.split_ascii_whitespace().map_while(|w| w.parse().ok());
        if let (Some(run_ns @ 1..), Some(waited_ns)) = (words.next(), words.next()) {
            return Some(Times { run_ns, waited_ns });
        }
        let seen = self.stat(pid)?;
        Some(Times { run_ns: seen.user_ns + seen.system_ns, waited_ns: 0 })
    }

    fn stat(&mut self, pid: u32) -> Option<TaskStat<'_>> {
        let tick_ns = self.tick_ns;
        parse_task(self.text(pid, "stat")?, tick_ns)
    }

    /// A file of a process; `None` for one that ended.
    fn text(&mut self, pid: u32, file: &str) -> Option<&str> {
        let file = File::open(self.root.join(format!("proc/{pid}/{file}"))).ok()?;
        let length = file.read_at(&mut self.buffer, 0).ok()?;
        std::str::from_utf8(&self.buffer[..length]).ok()
    }
}

/// When the next look is due after one that began at `begun` and ends now.
fn pause_after(begun: Instant) -> Instant {
    Instant::now() + PAUSE_MIN.max(begun.elapsed() * PAUSE_OVER_LOOK)
}

/// What a thread works for: the work queue of a worker, else its own name.
fn group_of(name: &str) -> &str {
    let Some(worker) = name.strip_prefix("kworker/") else { return name };
    // `u4:1-queue` idle, `u4:1+queue` at work, `R-queue` its rescuer, `0:1H` of a kernel that does not tell.
    worker.split_once(['-', '+']).map_or("kworker", |(_, queue)| queue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;
    use crate::sys;

    /// Flags of a kernel thread: PF_KTHREAD and PF_NOFREEZE.
    const KERNEL: u32 = 0x0020_8040;

    fn thread(tree: &Tree, pid: u32, name: &str, flags: u32, run_ms: u64, waited_ms: u64) {
        let stat = format!("{pid} ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 0 {} 0 0 20 0 1 0 0 0 0\n", run_ms / 10);
        let schedstat = format!("{} {} 9\n", run_ms * 1_000_000, waited_ms * 1_000_000);
        tree.file(&format!("proc/{pid}/stat"), stat).file(&format!("proc/{pid}/schedstat"), schedstat);
    }

    fn watch(tree: &Tree) -> KernelThreadWatch {
        let mut watch = KernelThreadWatch::new(tree.root(), sys::tick_ns());
        watch.restart();
        watch.mark_start();
        watch
    }

    /// The end of a window that was one second long.
    fn finish(mut watch: KernelThreadWatch) -> Vec<KernelThreadCpu> {
        watch.list(false);
        watch.look();
        watch.taken(1e9, 1_000_000_000)
    }

    fn used(name: &str, threads: u32, busy_ms: u64, waited_ms: u64) -> KernelThreadCpu {
        let ns = |ms: u64| ms * 1_000_000;
        KernelThreadCpu { name: name.to_owned(), threads, busy_ns: ns(busy_ms), waited_ns: ns(waited_ms) }
    }

    #[test]
    fn threads_that_used_a_cpu_are_kept_by_what_they_work_for() {
        let tree = Tree::new();
        thread(&tree, 300, "md0_raid5", KERNEL, 100, 5);
        thread(&tree, 301, "kworker/0:1-events", KERNEL, 100, 0);
        thread(&tree, 302, "kworker/1:1-kcryptd/253:0", KERNEL, 100, 0);
        thread(&tree, 303, "ksmd", KERNEL, 100, 0);
        thread(&tree, 400, "md9_raid5", 0, 100, 0);
        let watch = watch(&tree);
        thread(&tree, 300, "md0_raid5", KERNEL, 1_050, 45);
        thread(&tree, 301, "kworker/0:1+kcryptd/253:0", KERNEL, 500, 20);
        thread(&tree, 302, "kworker/1:1-kcryptd/253:0", KERNEL, 700, 10);
        // Half a percent of a CPU, and a program that only bears such a name.
        thread(&tree, 303, "ksmd", KERNEL, 105, 0);
        thread(&tree, 400, "md9_raid5", 0, 900, 0);
        // Born inside the window.
        thread(&tree, 500, "kworker/u4:9-loop0", KERNEL, 200, 0);
        let expected = [used("kcryptd/253:0", 2, 1_000, 30), used("loop0", 1, 200, 0), used("md0_raid5", 1, 950, 40)];
        assert_eq!(finish(watch), expected);
    }

    #[test]
    fn a_worker_that_turns_to_another_queue_leaves_its_time_with_the_first() {
        let tree = Tree::new();
        thread(&tree, 301, "kworker/0:1-events", KERNEL, 100, 0);
        let mut watch = watch(&tree);
        thread(&tree, 301, "kworker/0:1+loop0", KERNEL, 500, 0);
        watch.next_look = Instant::now();
        watch.sample();
        thread(&tree, 301, "kworker/0:1+kcryptd/253:0", KERNEL, 700, 0);
        assert_eq!(finish(watch), [used("kcryptd/253:0", 1, 200, 0), used("loop0", 1, 400, 0)]);
    }

    #[test]
    fn looks_are_far_apart_and_ticks_serve_where_there_are_no_statistics() {
        let tree = Tree::new();
        thread(&tree, 300, "loop0", KERNEL, 100, 0);
        tree.file("proc/300/schedstat", "0 0 0\n");
        let mut watch = watch(&tree);
        thread(&tree, 300, "loop0", KERNEL, 500, 0);
        tree.file("proc/300/schedstat", "0 0 0\n");
        watch.sample();
        assert!(watch.used.is_empty(), "it is too early for a look");
        assert!(watch.next_look >= Instant::now() + PAUSE_MIN / 2);
        let ticks = 50 * sys::tick_ns() - 10 * sys::tick_ns();
        assert_eq!(finish(watch)[0].busy_ns, ticks);
    }

    /// A look at a thread costs as much as reading so many files at most; it reads two.
    const FILES_MAX: u64 = 20;

    #[test]
    fn the_live_kernel_has_threads_and_a_look_at_them_is_cheap() {
        let mut watch = KernelThreadWatch::new(Root::live(), sys::tick_ns());
        watch.restart();
        // A container may show none.
        let count = watch.threads.len() as u64;
        let cost_ns = |work: &mut dyn FnMut()| {
            let before = sys::thread_cpu_ns();
            work();
            sys::thread_cpu_ns() - before
        };
        // The same number of files of this process, however fast the host is.
        let reads_ns = cost_ns(&mut || {
            for _ in 0..count.max(1) {
                std::fs::read_to_string("/proc/self/stat").expect("this process has one");
            }
        });
        let look_ns = cost_ns(&mut || watch.mark_start());
        assert!(look_ns < FILES_MAX * reads_ns, "{look_ns} ns, and {reads_ns} ns for a file of each of {count}");
        assert!(watch.finish(1).len() as u64 <= count);
    }
}
