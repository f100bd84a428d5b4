//! How fast this machine's memory is: all CPUs copy at once for a moment.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::memory_left::memory_left;
use crate::root::Root;

/// How long it is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// All buffers together, so that no cache holds them.
const BYTES_MIN: u64 = 512 << 20;
/// The buffer of a thread is no smaller, however many there are.
const BYTES_EACH_MIN: u64 = 16 << 20;
/// No more than this share of the memory that is free is taken.
const FREE_SHARE: u64 = 8;
/// Bytes copied between two looks at the clock.
const CHUNK_BYTES: usize = 1 << 20;
/// A copy reads each byte and writes it.
const CROSSINGS_OF_COPY: u64 = 2;

/// Bytes per second that memory moves, reads and writes counted singly, with a copying thread on every CPU that this process
/// may use. Takes about 0.1 s and the time to touch the buffers. `None` where too little memory is free to tell memory from
/// caches.
#[must_use]
pub fn memory_bytes_per_s(root: &Root) -> Option<u64> {
    let free_bytes = memory_left(root)?.bytes;
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = (BYTES_MIN / threads as u64).max(BYTES_EACH_MIN);
    if each * threads as u64 > free_bytes / FREE_SHARE {
        return None;
    }
    let start = Barrier::new(threads);
    let one = || copied_per_s(usize::try_from(each).ok()?, &start);
    let rates: Vec<Option<f64>> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let sum: f64 = rates.into_iter().collect::<Option<Vec<f64>>>()?.iter().sum();
    Some((sum * CROSSINGS_OF_COPY as f64) as u64)
}

/// Bytes per second that one thread copies from one half of its buffer to the other while the others do the same.
fn copied_per_s(bytes: usize, start: &Barrier) -> Option<f64> {
    let half = bytes / 2 / CHUNK_BYTES * CHUNK_BYTES;
    // Not zero, so that every page is one of its own.
    let from = vec![1_u8; half];
    let mut to = vec![2_u8; half];
    start.wait();
    let begun = Instant::now();
    let (mut at, mut copied) = (0, 0_u64);
    while begun.elapsed() < WINDOW {
        let next = at + CHUNK_BYTES;
        to[at..next].copy_from_slice(std::hint::black_box(&from[at..next]));
        std::hint::black_box(&mut to);
        copied += CHUNK_BYTES as u64;
        at = if next == half { 0 } else { next };
    }
    let seconds = begun.elapsed().as_secs_f64();
    (copied > 0).then(|| copied as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn memory_is_measured_in_a_moment_and_not_where_too_little_is_free() {
        let tree = Tree::new();
        tree.file("proc/meminfo", "MemTotal: 9999999999 kB\nMemAvailable: 1048576 kB\n");
        assert_eq!(memory_bytes_per_s(&tree.root()), None);
        tree.file("proc/meminfo", "MemAvailable:  9999999999 kB\n");
        let begun = Instant::now();
        let rate = memory_bytes_per_s(&tree.root()).expect("measured");
        // No memory of a machine that runs this is slower than a drive, and none as fast as a register.
        assert!((100_000_000..100_000_000_000_000).contains(&rate), "{rate}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
