//! The clocks of Windows.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

pub(crate) use fathom_host::thread_cpu_ns;

/// What a record calls the clock that counts without gaps.
pub(crate) const MONOTONIC_NAME: &str = "performance_counter";

/// QueryPerformanceCounter, nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    let frequency = *FREQUENCY.get_or_init(|| {
        let mut frequency = 0_i64;
        // SAFETY: the number outlives the call, which fills it and cannot fail since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut frequency) };
        frequency.max(1).cast_unsigned()
    });
    let mut count = 0_i64;
    // SAFETY: as above.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    let count = count.max(0).cast_unsigned();
    // In two parts, so that a long uptime does not overflow.
    count / frequency * 1_000_000_000 + count % frequency * 1_000_000_000 / frequency
}

/// Wall clock, Unix nanoseconds.
pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether the system itself keeps time by the processor's counter: Windows does not say, so its own clock stamps.
pub(crate) fn is_tsc_trusted() -> bool {
    false
}
