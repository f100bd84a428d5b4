//! CPU time of threads while they come and go: our own and io_uring's.

use crate::system::FileExt;
use std::collections::BTreeMap;
use std::fs::File;

use fathom_record::ThreadCpu;

use crate::procfs::{TaskStat, parse_task};
use crate::root::{Root, names_in};

/// A thread while it is watched, and after its end with its last figures.
struct Task {
    name: String,
    kernel: bool,
    file: File,
    /// Its `schedstat`; kernels without scheduler statistics have none.
    schedstat: Option<File>,
    user_ns_first: u64,
    system_ns_first: u64,
    waited_ns_first: u64,
    user_ns_last: u64,
    system_ns_last: u64,
    waited_ns_last: u64,
}

impl Task {
    fn update(&mut self, seen: &TaskStat<'_>) {
        self.user_ns_last = seen.user_ns;
        self.system_ns_last = seen.system_ns;
        // A worker sets its name shortly after it starts.
        if self.name != seen.name {
            seen.name.clone_into(&mut self.name);
            self.kernel = self.kernel || works_for_the_ring(seen.name);
        }
    }

    fn time(&self) -> ThreadCpu {
        ThreadCpu {
            name: self.name.clone(),
            kernel: self.kernel,
            user_ns: self.user_ns_last.saturating_sub(self.user_ns_first),
            system_ns: self.system_ns_last.saturating_sub(self.system_ns_first),
            waited_ns: self.waited_ns_last.saturating_sub(self.waited_ns_first),
        }
    }

    /// Reads how long the thread has waited for a CPU so far; what cannot be read stays as it was.
    fn read_waited(&mut self, buffer: &mut [u8]) {
        let Some(file) = &self.schedstat else { return };
        let length = file.read_at(buffer, 0).unwrap_or(0);
        if let Some(ns) = waited_ns(&String::from_utf8_lossy(&buffer[..length])) {
            self.waited_ns_last = ns;
        }
    }
}

/// The second word of a thread's `schedstat`: time spent ready but not running (kernel documentation, sched-stats).
fn waited_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Follows the threads that work for a step.
pub(crate) struct TaskWatch {
    root: Root,
    tick_ns: u64,
    buffer: Vec<u8>,
    /// Another process whose threads are watched, and those of all that it starts.
    followed: Option<u32>,
    alive: BTreeMap<u32, Task>,
    /// Moved out of `alive`, because their numbers may be used again.
    ended: Vec<ThreadCpu>,
}

impl TaskWatch {
    pub(crate) fn new(root: Root, tick_ns: u64) -> Self {
        TaskWatch { root, tick_ns, buffer: vec![0; 1024], followed: None, alive: BTreeMap::new(), ended: Vec::new() }
    }

    /// Forgets all threads.
    pub(crate) fn restart(&mut self) {
        self.alive.clear();
        self.ended.clear();
        self.followed = None;
    }

    pub(crate) fn follow(&mut self, pid: u32) {
        self.followed = Some(pid);
    }

    /// Takes the figures of all threads there are now as the start of the window. One that begins later counts from 0.
    pub(crate) fn mark_start(&mut self) {
        self.sample();
        for task in self.alive.values_mut() {
            task.user_ns_first = task.user_ns_last;
            task.system_ns_first = task.system_ns_last;
            task.waited_ns_first = task.waited_ns_last;
        }
    }

    /// Starts watching new threads of this process and refreshes the figures of the known ones.
    pub(crate) fn sample(&mut self) {
        let processes = std::iter::once("self".to_owned()).chain(self.followed_tree());
        for process in processes.collect::<Vec<_>>() {
            for name in names_in(&self.root.join(format!("proc/{process}/task"))) {
                if let Ok(tid) = name.parse::<u32>()
                    && !self.alive.contains_key(&tid)
                {
                    self.watch(tid, &format!("proc/{process}/task/{tid}/stat"));
                }
            }
        }
        let (buffer, ended, tick_ns) = (&mut self.buffer, &mut self.ended, self.tick_ns);
        self.alive.retain(|_, task| {
            // An ended thread gives an error or no text.
            let length = task.file.read_at(buffer, 0).unwrap_or(0);
            let text = String::from_utf8_lossy(&buffer[..length]);
            match parse_task(&text, tick_ns) {
                Some(seen) => {
                    task.update(&seen);
                    task.read_waited(buffer);
                    true
                }
                None => {
                    ended.push(task.time());
                    false
                }
            }
        });
    }

    /// The process that is followed and all below it.
    fn followed_tree(&self) -> Vec<String> {
        let mut found: Vec<u32> = self.followed.into_iter().collect();
        let mut next = 0;
        while let Some(pid) = found.get(next).copied() {
            next += 1;
            found.extend(children_of(&self.root, pid));
        }
        found.iter().map(u32::to_string).collect()
    }

    /// Time of every thread seen since the start of the window.
    pub(crate) fn times(&self) -> Vec<ThreadCpu> {
        self.ended.iter().cloned().chain(self.alive.values().map(Task::time)).collect()
    }

    /// Opens a thread's `stat`. A thread that ended in between has no figures and is left out.
    fn watch(&mut self, tid: u32, stat: &str) {
        let Ok(file) = File::open(self.root.join(stat)) else { return };
        let task = Task {
            name: String::new(),
            kernel: false,
            file,
            schedstat: File::open(self.root.join(stat.replace("/stat", "/schedstat"))).ok(),
            user_ns_first: 0,
            system_ns_first: 0,
            waited_ns_first: 0,
            user_ns_last: 0,
            system_ns_last: 0,
            waited_ns_last: 0,
        };
        self.alive.insert(tid, task);
    }
}

/// The processes that the threads of a process started, as the kernel lists them.
pub(crate) fn children_of(root: &Root, pid: u32) -> Vec<u32> {
    let threads = names_in(&root.join(format!("proc/{pid}/task")));
    let of = |tid: &String| std::fs::read_to_string(root.join(format!("proc/{pid}/task/{tid}/children")));
    let texts = threads.iter().filter_map(|tid| of(tid).ok());
    texts
        .flat_map(|text| text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Whether a thread of our own process was made by io_uring: its poller or its workers.
fn works_for_the_ring(name: &str) -> bool {
    name.starts_with("iou-sqp-") || name.starts_with("iou-wrk-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_a_cpu_is_the_second_word_of_schedstat() {
        assert_eq!(waited_ns("60531521 1234567 78\n"), Some(1_234_567));
        assert_eq!(waited_ns(""), None);
    }

    #[test]
    fn threads_of_another_process_and_of_those_it_starts_are_followed_until_they_end() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 100 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut pid = String::new();
        let out = shell.stdout.take().expect("its words");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut pid).expect("the child's number");
        let mut watch = TaskWatch::new(Root::live(), 10_000_000);
        let names = |watch: &TaskWatch| -> Vec<String> { watch.times().into_iter().map(|t| t.name).collect() };
        watch.sample();
        assert!(!names(&watch).contains(&"sh".to_owned()), "nobody asked for it");
        watch.follow(shell.id());
        watch.sample();
        let seen = names(&watch);
        assert!(seen.contains(&"sh".to_owned()), "{seen:?}");
        assert!(watch.alive.contains_key(&pid.trim().parse().expect("a number")), "{seen:?}");
        let killed = std::process::Command::new("kill").arg(pid.trim()).status().expect("kill");
        assert!(killed.success() && shell.wait().is_ok());
        watch.sample();
        assert!(names(&watch).contains(&"sh".to_owned()), "what it took until its end is kept");
        assert!(watch.followed_tree().len() <= 1, "{:?}", watch.followed_tree());
    }
}
