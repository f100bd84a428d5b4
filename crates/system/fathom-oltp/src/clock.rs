//! Where the time of a thread goes: on a CPU, ready for one, or waiting for something else.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use fathom_host::thread_cpu_ns;

use crate::database::Part;

/// The clocks of the thread that made it.
pub(crate) struct ThreadClock {
    /// `None` where the kernel does not tell how long threads are ready.
    schedstat: Option<File>,
    at: Instant,
    cpu_ns: u64,
    queued_ns: u64,
}

impl ThreadClock {
    /// Starts now. Counts nothing of use in another thread.
    pub(crate) fn start() -> ThreadClock {
        let mut clock = ThreadClock {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            at: Instant::now(),
            cpu_ns: 0,
            queued_ns: 0,
        };
        clock.lap();
        clock
    }

    /// What passed since the start or the last lap.
    pub(crate) fn lap(&mut self) -> Part {
        let (at, cpu_ns, queued_ns) = (Instant::now(), thread_cpu_ns(), self.queued_ns());
        let part = Part {
            wall_ns: u64::try_from(at.duration_since(self.at).as_nanos()).unwrap_or(u64::MAX),
            cpu_ns: cpu_ns.saturating_sub(self.cpu_ns),
            queued_ns: queued_ns.saturating_sub(self.queued_ns),
        };
        (self.at, self.cpu_ns, self.queued_ns) = (at, cpu_ns, queued_ns);
        part
    }

    /// The second number of schedstat: time ready without a CPU, since the thread began.
    fn queued_ns(&self) -> u64 {
        let mut buffer = [0; 96];
        let read = self.schedstat.as_ref().and_then(|file| file.read_at(&mut buffer, 0).ok());
        let text = read.and_then(|length| std::str::from_utf8(&buffer[..length]).ok()).unwrap_or_default();
        text.split_ascii_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn work_is_on_a_cpu_and_sleep_is_neither_on_one_nor_ready() {
        let mut clock = ThreadClock::start();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(40) {
            std::hint::spin_loop();
        }
        let work = clock.lap();
        std::thread::sleep(Duration::from_millis(40));
        let sleep = clock.lap();
        assert!(work.wall_ns >= 40_000_000 && sleep.wall_ns >= 40_000_000);
        // Whatever else this machine does: spinning waits for nothing but a CPU.
        assert!(work.waited_ns() < work.wall_ns / 4, "{work:?}");
        assert!(sleep.cpu_ns < 5_000_000 && sleep.waited_ns() > 30_000_000, "{sleep:?}");
    }
}
