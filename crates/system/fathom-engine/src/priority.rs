//! What the kernel is told of I/Os: which it serves first, by thread and one by one, which are atomic, and which leave nothing in
//! the page cache.

use std::io;

use fathom_message::msg;
use fathom_plan::{Op, Priorities, Priority, PriorityShare, Workload};
use fathom_random::Rng;
use fathom_record::StepFailure;

use crate::backend::{Mark, refused};
use crate::system::code;
use crate::system::threads::set_io_priority;

/// No class: what a thread has until one is set.
const NO_PRIORITY: u16 = 0;
/// linux/fs.h: buffered I/O leaves nothing in the page cache.
pub(crate) const RWF_DONTCACHE: u32 = 0x80;
/// linux/fs.h: a write reaches the medium whole or not at all.
const RWF_ATOMIC: u32 = 0x40;
/// Its draws are none of those that offsets and operations come from.
const PRIORITY_STREAM: u64 = 0x7072_696f;

/// Gives the calling thread its priority, and sees that it may use those of single I/Os.
///
/// # Errors
/// A refusal that names the priority.
pub(crate) fn take_on(priorities: &Priorities) -> Result<(), StepFailure> {
    if priorities.is_plain() {
        return Ok(());
    }
    // The kernel lets a thread give an I/O what it lets the thread have itself.
    for priority in priorities.all() {
        set_io_priority(priority.value()).map_err(|error| forbidden(priority, &error))?;
    }
    let own = priorities.thread;
    set_io_priority(own.map_or(NO_PRIORITY, Priority::value)).map_err(|error| match own {
        Some(own) => forbidden(own, &error),
        None => StepFailure::failed(msg!("engine-no-priority"), &error, msg!("engine-fault-help")),
    })
}

fn forbidden(priority: Priority, error: &io::Error) -> StepFailure {
    let help = match error.raw_os_error() {
        Some(code::EPERM) => msg!("engine-priority-forbidden-help"),
        _ => msg!("engine-priority-help"),
    };
    refused(
        msg!("engine-priority", priority = priority.words()),
        msg!("engine-call-failed", call = "ioprio_set", error = error),
        help,
    )
}

/// What the kernel is told of single I/Os: their priorities, that writes are atomic, that nothing stays in the page cache.
pub(crate) struct IoMarks {
    priorities: Priorities,
    read_flags: u32,
    write_flags: u32,
    rng: Rng,
    /// `[slot]`: what the I/O in it was given.
    of_slot: Box<[Mark]>,
}

impl IoMarks {
    /// Those of a thread with so many slots; `None`: it is told nothing.
    pub(crate) fn new(workload: &Workload, slots: u32, seed: u64, thread: u32) -> Option<Self> {
        let (priorities, is_atomic) = (&workload.priorities, workload.durability.is_atomic);
        let read_flags = if priorities.is_uncached { RWF_DONTCACHE } else { 0 };
        (priorities.are_by_io() || is_atomic || priorities.is_uncached).then(|| IoMarks {
            priorities: priorities.clone(),
            read_flags,
            write_flags: read_flags | if is_atomic { RWF_ATOMIC } else { 0 },
            rng: Rng::new(seed ^ PRIORITY_STREAM, u64::from(thread)),
            of_slot: vec![Mark::default(); slots as usize].into_boxed_slice(),
        })
    }

    /// Draws that of a new I/O.
    pub(crate) fn draw(&mut self, slot: u32, op: Op, len: u32) -> Mark {
        let flags = match op {
            Op::Read => self.read_flags,
            Op::Write => self.write_flags,
            Op::Trim | Op::Sync => 0,
        };
        let mark = Mark { priority: self.priority(op, len), flags };
        self.of_slot[slot as usize] = mark;
        mark
    }

    /// A priority; 0: that of the thread.
    fn priority(&mut self, op: Op, len: u32) -> u16 {
        let of_len = |share: &&PriorityShare| share.bytes.is_none_or(|bytes| bytes == len);
        let shares = self.priorities.of(op);
        if !shares.iter().any(|share| of_len(&share)) {
            return NO_PRIORITY;
        }
        let mut left = self.rng.below(100);
        let drawn = shares.iter().filter(of_len).find(|share| {
            let is_below = left < u64::from(share.share_pct);
            left = left.saturating_sub(share.share_pct.into());
            is_below
        });
        drawn.map_or(NO_PRIORITY, |share| share.priority.value())
    }

    /// That of the I/O in a slot.
    pub(crate) fn of(&self, slot: u32) -> Mark {
        self.of_slot[slot as usize]
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::threads::IOPRIO_WHO_PROCESS;
    use fathom_plan::PriorityClass;

    const HIGH: Priority = Priority { class: PriorityClass::Realtime, level: 1, hint: 0 };
    const LOW: Priority = Priority { class: PriorityClass::Idle, level: 2, hint: 0 };

    #[test]
    fn shares_are_those_of_the_operation_and_the_size() {
        let share = |bytes, share_pct, priority| PriorityShare { bytes, share_pct, priority };
        let priorities = Priorities {
            thread: None,
            reads: vec![share(Some(65_536), 25, HIGH), share(Some(65_536), 60, LOW)],
            writes: vec![share(None, 10, LOW)],
            is_uncached: false,
        };
        let of_slot = Box::new([Mark::default(); 4]);
        let mut drawn = IoMarks { priorities, read_flags: 0, write_flags: 0, rng: Rng::new(7, 0), of_slot };
        let mut count = |op, len, priority: u16| {
            (0..10_000_u32).filter(|i| drawn.draw(i % 4, op, len) == Mark { priority, flags: 0 }).count()
        };
        for (found, wanted) in [
            (count(Op::Read, 65_536, HIGH.value()), 2_500),
            (count(Op::Read, 65_536, LOW.value()), 6_000),
            (count(Op::Read, 4_096, NO_PRIORITY), 10_000),
            (count(Op::Write, 4_096, LOW.value()), 1_000),
            (count(Op::Trim, 4_096, NO_PRIORITY), 10_000),
        ] {
            assert!(found.abs_diff(wanted) < 250, "{found} instead of {wanted}");
        }
        drawn.write_flags = RWF_ATOMIC;
        assert_eq!(drawn.draw(1, Op::Write, 512).flags, RWF_ATOMIC);
        assert_eq!(drawn.draw(2, Op::Read, 512).flags, 0);
        assert_eq!(drawn.of(1).flags, RWF_ATOMIC);
    }

    #[test]
    fn a_thread_takes_on_its_priority_and_gives_none_to_others() {
        let own = |of: u16| {
            // SAFETY: reads the priority of the calling thread.
            let value = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0_usize) };
            assert_eq!(value, i64::from(of));
        };
        let share = PriorityShare { bytes: None, share_pct: 50, priority: LOW };
        let priorities = Priorities { thread: Some(LOW), reads: vec![share], writes: Vec::new(), is_uncached: false };
        let worker = std::thread::spawn(move || {
            take_on(&priorities).expect("idle is anybody's");
            own(LOW.value());
        });
        worker.join().expect("as asserted");
    }
}
