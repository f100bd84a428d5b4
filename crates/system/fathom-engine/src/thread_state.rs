//! What a thread of this process that shows no sign of life is doing, as the kernel tells.

use crate::system::threads;

/// What it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// It waits in the kernel for I/O, or for a page that I/O brings.
    WaitsForIo,
    /// It waits for something else.
    Waits,
    /// It runs, or would if it were given a CPU; it had so many clock ticks of CPU time so far.
    Runs { ticks: u64 },
}

impl ThreadState {
    /// Of the thread with this number; `None` where the kernel does not tell.
    pub(crate) fn of(thread: i32) -> Option<ThreadState> {
        let (call, stat) = threads::state_texts(thread)?;
        ThreadState::parse(&call, &stat)
    }

    /// From its `syscall` and `stat` files (proc(5)).
    fn parse(call: &str, stat: &str) -> Option<ThreadState> {
        let first = call.split_ascii_whitespace().next()?;
        if first == "running" {
            // The name, in parentheses, may hold anything.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let user: u64 = fields.nth(11)?.parse().ok()?;
            let system: u64 = fields.next()?.parse().ok()?;
            return Some(ThreadState::Runs { ticks: user + system });
        }
        let number: i64 = first.parse().ok()?;
        // -1: blocked outside a call, in a page fault.
        let for_io = number == -1 || threads::is_io_call(number);
        Some(if for_io { ThreadState::WaitsForIo } else { ThreadState::Waits })
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    fn settled(thread: i32, wanted: impl Fn(ThreadState) -> bool) -> ThreadState {
        let mut seen = None;
        for _ in 0..500 {
            seen = ThreadState::of(thread);
            if seen.is_some_and(&wanted) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        seen.expect("the kernel tells")
    }

    fn my_number() -> i32 {
        threads::number()
    }

    #[test]
    fn a_thread_that_sleeps_waits_but_not_for_io() {
        let (tell, heard) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(my_number()).expect("heard");
            let _ = ended.recv();
        });
        let number = heard.recv().expect("sent");
        assert_eq!(settled(number, |s| s == ThreadState::Waits), ThreadState::Waits);
        drop(end);
        thread.join().expect("no panic");
    }

    #[test]
    fn a_thread_that_spins_runs_and_uses_cpu_time() {
        let (tell, heard) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(my_number()).expect("heard");
            while ended.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {}
        });
        let number = heard.recv().expect("sent");
        let used = |s| matches!(s, ThreadState::Runs { ticks } if ticks > 2);
        assert!(used(settled(number, used)));
        drop(end);
        thread.join().expect("no panic");
    }

    #[test]
    fn a_thread_in_a_call_of_another_kind_does_not_wait_for_io() {
        let (tell, heard) = channel();
        let (mut end, ended) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let thread = std::thread::spawn(move || {
            tell.send(my_number()).expect("heard");
            let mut ended = ended;
            let _ = ended.read(&mut [0]);
        });
        let number = heard.recv().expect("sent");
        assert_eq!(settled(number, |s| s == ThreadState::Waits), ThreadState::Waits);
        end.write_all(&[0]).expect("written");
        thread.join().expect("no panic");
    }

    #[test]
    fn calls_are_told_apart_by_their_number() {
        let stat = "7 (a) b) S 1 7 7 0 -1 64 0 0 0 0 31 11 0 0 20 0 5 0 100 1 1";
        let of = |call: &str| ThreadState::parse(call, stat);
        assert_eq!(of("running\n"), Some(ThreadState::Runs { ticks: 42 }));
        assert_eq!(of(&format!("{} 0x3 0x0\n", libc::SYS_io_uring_enter)), Some(ThreadState::WaitsForIo));
        assert_eq!(of("-1 0x7ffd 0x7f00\n"), Some(ThreadState::WaitsForIo), "a page fault");
        assert_eq!(of(&format!("{} 0x3 0x0\n", libc::SYS_futex)), Some(ThreadState::Waits));
        assert_eq!(of(""), None);
    }
}
