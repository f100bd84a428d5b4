//! What the driver of NVMe in user space costs: commands written and completions taken, against a controller in memory
//! whose own work is not counted.

use std::io;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use fathom_nvme::driver::fake::{BLOCK_BYTES, Behaviour, Data, FakeDrive, Running};
use fathom_nvme::driver::{Driver, DriverError, QueuePair};

use crate::buffer::Area;

const LEN: u32 = 4096;

/// What the driver costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverCost {
    /// Reads that were carried out.
    pub ios: u64,
    /// Time of one in the driver, nanoseconds: the median over rounds, which a thread that lost its turn in one does not
    /// change.
    pub ns_per_io: f64,
}

/// Reads of 4k through the driver for `duration`, `depth` in flight. The controller completes all of a round between two looks at the clock.
///
/// # Errors
/// [`DriverError`], also where there is no memory.
pub fn bench_driver(depth: u32, duration: Duration) -> Result<DriverCost, DriverError> {
    let slots = depth.max(1);
    let behaviour = Behaviour { data: Data::Nowhere, ..Behaviour::default() };
    let drive = FakeDrive::new(behaviour.clone());
    let running = Running::of(drive.clone());
    let driver = Driver::start(drive.clone())?;
    let memory = |source: io::Error| DriverError::Memory { bytes: u64::from(slots * LEN), source };
    let area = Area::new(slots as usize, LEN as usize).map_err(memory)?;
    let base = NonNull::new(area.slot(0)).unwrap_or_else(|| unreachable!("a mapping is not at 0"));
    // SAFETY: the area is whole pages, outlives the pair, and nobody else touches it.
    let mut pair = unsafe { QueuePair::new(&driver, slots, base, LEN as usize, area.len_bytes()) }?;
    // From here on this thread does the controller's work itself.
    drop(running);
    let per_io = u64::from(LEN) / BLOCK_BYTES as u64;
    let blocks = behaviour.blocks / per_io;
    let (mut ios, mut at, mut rounds_ns) = (0, 1_u64, Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < duration {
        let from = Instant::now();
        for slot in 0..slots {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            pair.read(slot, 1, (at >> 33) % blocks * per_io, LEN, BLOCK_BYTES.trailing_zeros());
        }
        pair.submit();
        let submitting = from.elapsed();
        drive.tick();
        let from = Instant::now();
        pair.reap(|_, result| ios += u64::from(result.is_ok()))?;
        rounds_ns.push((submitting + from.elapsed()).as_nanos() as u64);
    }
    // The end asks the controller for the queues.
    let _running = Running::of(drive);
    drop(pair);
    drop(driver);
    rounds_ns.sort_unstable();
    let middle = rounds_ns.get(rounds_ns.len() / 2).copied().unwrap_or(0);
    Ok(DriverCost { ios, ns_per_io: middle as f64 / f64::from(slots) })
}
