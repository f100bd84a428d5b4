//! Engines behind one contract. The hot loop is compiled once per engine: no virtual call per I/O.

pub(crate) mod array;
pub(crate) mod call;
pub(crate) mod files;
#[cfg(target_os = "linux")]
mod first_read;
#[cfg(target_os = "linux")]
pub(crate) mod libaio;
#[cfg(target_os = "linux")]
pub(crate) mod mmap;
#[cfg(all(feature = "bench", target_os = "linux"))]
pub(crate) mod nop;
pub(crate) mod null;
pub(crate) mod nvme;
#[cfg(target_os = "linux")]
#[path = "../linux/psync.rs"]
pub(crate) mod psync;
#[cfg(windows)]
#[path = "../windows/psync.rs"]
pub(crate) mod psync;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
pub(crate) mod uring;
#[cfg(target_os = "linux")]
pub(crate) mod uring_cmd;

use crate::system::code;
use std::io;

use fathom_message::Message;
use fathom_plan::{Op, SyncKind};
use fathom_record::{ArrayRecord, FeatureUse, Polling, StepFailure};

/// Marks a failure out of [`Backend::reap`] that is no errno: the low 15 bits are then the status the drive gave.
pub(crate) const NVME_STATUS: i32 = 1 << 16;

/// One I/O as handed to an engine. The buffer belongs to the kernel from `push` until the slot comes out of `reap`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    /// Slot of the worker; comes back with the result.
    pub(crate) slot: u32,
    /// Which of the thread's targets it is on.
    pub(crate) part: u16,
    /// Read or write; trims by [`Backend::push_trim`], syncs by [`Backend::push_sync`].
    pub(crate) op: Op,
    /// Bytes.
    pub(crate) len: u32,
    /// Byte offset in the target.
    pub(crate) offset: u64,
    /// Buffer of at least `len` bytes.
    pub(crate) buffer: *mut u8,
}

/// What the kernel is told of an I/O beyond what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its priority (linux/ioprio.h); 0: that of the thread.
    pub(crate) priority: u16,
    /// Flags of pwritev2(2).
    pub(crate) flags: u32,
}

/// When an engine can tell submission from completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubmitStamp {
    /// Never: the call returns when the I/O is done.
    Never,
    /// Always: submission is a call of its own.
    Always,
    /// Only in batches that are split for it: normally one call submits and waits.
    Sampled,
}

/// A way to do I/O. One thread owns it. At most `queue_depth` I/Os are pushed and not yet reaped.
pub(crate) trait Backend {
    /// What it knows about submission.
    const SUBMIT_STAMP: SubmitStamp;

    /// Takes an I/O; it may start now or at the next `submit`.
    fn push(&mut self, io: &Io);

    /// Gives the next I/O, which is that of `slot`, what it is told beyond others. A load calls it before each of its I/Os
    /// or before none. Engines that have no such thing are refused with the plan.
    fn mark(&mut self, _slot: u32, _mark: Mark) {}

    /// As `push`, of a sync of a whole target; it moves 0 bytes.
    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind);

    /// Whether it starts trims of a part; each is a system call of the thread's own otherwise.
    #[inline(always)]
    fn takes_trims(&self, _part: u16) -> bool {
        false
    }

    /// As `push`, of a trim on a part whose trims it takes. It has no buffer and moves the bytes that it trims.
    fn push_trim(&mut self, io: &Io) {
        unreachable!("part {} has a trimmer", io.part)
    }

    /// Starts what was pushed, without waiting.
    ///
    /// # Errors
    /// Only what no later call can heal; a refused I/O comes out of `reap` with its errno.
    fn submit(&mut self) -> io::Result<()>;

    /// Starts what was pushed and waits for `min` completions, or `timeout_ns`.
    ///
    /// # Errors
    /// As `submit`.
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()>;

    /// Hands out every finished I/O: slot and bytes moved, or a negative errno. Never blocks.
    fn reap(&mut self, done: impl FnMut(u32, i32));

    /// I/Os that the kernel still works on: their buffers and the targets' descriptors are in use.
    fn in_flight(&self) -> u32;

    /// Forgets what was pushed and not handed to the kernel yet: it will never start.
    fn discard(&mut self);

    /// Lets completions appear, without waiting for any and without starting anything.
    ///
    /// # Errors
    /// As `submit`.
    fn poll(&mut self) -> io::Result<()>;

    /// Calls that started I/O so far.
    fn submit_calls(&self) -> u64;

    /// What was asked for and what came of it.
    fn features(&self) -> Vec<FeatureUse>;

    /// How much of its time the thread only looked for completions, for engines that poll in the thread itself.
    fn polling(&self) -> Option<Polling> {
        None
    }

    /// Whether it has work of its own beside the load's.
    #[inline(always)]
    fn works_beside(&self) -> bool {
        false
    }

    /// Goes on with work of its own until then, or until there is none, while the load has nothing in flight.
    ///
    /// # Errors
    /// As `submit`.
    fn work_until(&mut self, _until_ns: u64) -> io::Result<()> {
        Ok(())
    }

    /// What arrays did on their members.
    fn arrays(&self) -> Vec<ArrayRecord> {
        Vec::new()
    }
}

/// A refusal: what, why, and the way out.
pub(crate) fn refused(what: Message, why: Message, help: Message) -> StepFailure {
    StepFailure::Refused { what, why, help }
}

/// Why a worker never got to its window.
pub(crate) enum Unready {
    /// It could not be set up.
    Failed(StepFailure),
    /// The step was stopped meanwhile.
    Stopped,
}

impl From<StepFailure> for Unready {
    fn from(failure: StepFailure) -> Unready {
        Unready::Failed(failure)
    }
}

/// The detail of a feature of which nothing more is to be said.
pub(crate) fn no_detail() -> Message {
    Message::verbatim("")
}

/// What the operating system says.
pub(crate) fn os_words(error: &io::Error) -> Message {
    Message::verbatim(error.to_string())
}

/// errno of the last failed call.
pub(crate) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(code::EIO)
}
