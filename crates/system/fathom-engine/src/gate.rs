//! When a step begins that others begin with, elsewhere.

use std::sync::atomic::AtomicBool;

use crate::clock::Clock;

/// Says when a step begins whose workers are ready. Called from the runner's own thread.
pub trait StartGate {
    /// Waits until it is known when the step begins, on the scale of [`clock_ns`]; `None`: it does not begin. `stop` is set
    /// when the user wants to stop.
    fn begin_ns(&mut self, stop: &AtomicBool) -> Option<u64>;

    /// Is told when the measured window begins, on the same scale.
    fn began(&mut self, window_start_ns: u64);
}

/// The clock that stamps I/Os, now: nanoseconds on the scale of CLOCK_MONOTONIC.
#[must_use]
pub fn clock_ns() -> u64 {
    Clock::get().now()
}
