//! The one owner of what the kernel may still be using: an engine, with its ring and descriptor, and the buffers of its
//! I/O. Either everything in flight comes back before the memory is freed, or the memory is never freed.

use std::io;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use fathom_plan::Op;

use crate::backend::{Backend, Io};
use crate::buffer::Area;

/// How long the end of a rig waits for its I/O. The step has its result by then, so nobody waits for it but the thread.
const DRAIN_MAX: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(2) };
/// First and longest pause between two looks for completions.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// An engine and the buffers it works on.
pub(crate) struct Rig<B: Backend> {
    pub(crate) backend: ManuallyDrop<B>,
    pub(crate) area: ManuallyDrop<Area>,
}

/// Pauses that grow.
struct Pauses(Duration);

impl Pauses {
    fn new() -> Self {
        Pauses(PAUSES[0])
    }

    fn pause(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(PAUSES[1]);
    }
}

impl<B: Backend> Rig<B> {
    /// The engine that `make` makes for the buffers. It must not start any I/O yet.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn new<E>(area: Area, make: impl FnOnce(&Area) -> Result<B, E>) -> Result<Self, E> {
        let backend = make(&area)?;
        Ok(Rig { backend: ManuallyDrop::new(backend), area: ManuallyDrop::new(area) })
    }

    /// Reads `len` bytes at an offset of a part into slot 0, while nothing else is in flight: bytes moved, or a negative errno.
    /// `None`: `gives_up` said so before there was an answer.
    ///
    /// # Errors
    /// When the engine itself fails.
    #[cfg_attr(windows, allow(dead_code, reason = "asked by engines of Linux alone"))]
    pub(crate) fn read_alone(
        &mut self,
        (part, offset): (u16, u64),
        len: u32,
        gives_up: &dyn Fn() -> bool,
    ) -> io::Result<Option<i32>> {
        let buffer = self.area.slot(0);
        self.backend.push(&Io { slot: 0, part, op: Op::Read, len, offset, buffer });
        self.answer(gives_up)
    }

    /// Starts what was pushed, one I/O while nothing else is in flight: its result, or `None` as [`Rig::read_alone`].
    ///
    /// # Errors
    /// When the engine itself fails.
    #[cfg_attr(windows, allow(dead_code, reason = "asked by engines of Linux alone"))]
    pub(crate) fn answer(&mut self, gives_up: &dyn Fn() -> bool) -> io::Result<Option<i32>> {
        self.backend.submit()?;
        let mut pauses = Pauses::new();
        loop {
            // Not a wait with a timeout: the kernel knows none while it polls.
            self.backend.poll()?;
            let mut result = None;
            self.backend.reap(|_, moved| result = Some(moved));
            if result.is_some() || gives_up() {
                return Ok(result);
            }
            pauses.pause();
        }
    }

    /// Whether everything in flight came back within `patience`. What was not handed to the kernel yet never will be.
    fn drain(&mut self, patience: Duration) -> bool {
        self.backend.discard();
        let begun = Instant::now();
        let mut pauses = Pauses::new();
        while self.backend.in_flight() > 0 {
            if self.backend.poll().is_err() {
                return false;
            }
            self.backend.reap(|_, _| {});
            if self.backend.in_flight() == 0 {
                break;
            }
            if begun.elapsed() > patience {
                return false;
            }
            pauses.pause();
        }
        true
    }
}

impl<B: Backend> Drop for Rig<B> {
    fn drop(&mut self) {
        if !self.drain(DRAIN_MAX) {
            // The kernel may still read or write the buffers: they stay mapped for as long as the process lives, and so do
            // the ring and the descriptor.
            return;
        }
        // SAFETY: neither is used again. The engine goes first: its ring refers to the buffers.
        unsafe {
            ManuallyDrop::drop(&mut self.backend);
            ManuallyDrop::drop(&mut self.area);
        }
    }
}

#[cfg(test)]
mod tests;
