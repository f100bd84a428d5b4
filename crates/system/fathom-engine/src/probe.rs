//! The engine's view of whoever samples the host's counters.

use fathom_record::HostDelta;

/// Samples the host while a step runs. All methods are called from the runner's thread.
pub trait HostProbe {
    /// The measured window begins.
    fn begin(&mut self);

    /// An interval of the window ended.
    fn interval(&mut self);

    /// The window of `window_ns` ended; the worker threads still exist. `None` when nothing could be sampled.
    fn finish(&mut self, window_ns: u64) -> Option<HostDelta>;
}
