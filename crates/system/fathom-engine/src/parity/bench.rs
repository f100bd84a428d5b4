//! How fast P and Q are computed by one thread, beside how fast it copies memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::{Instructions, Parity};

/// Data columns, as of an array of ten members.
const COLUMNS: usize = 8;
/// Chunk of the benched array.
const CHUNK_BYTES: usize = 64 << 10;
/// Data of all columns where it is to come from memory: more than caches hold.
const BYTES_OF_MEMORY: usize = 512 << 20;

/// What one thread did, in bytes of data per second: what the array's user wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct ParityRate {
    /// The instructions.
    pub instructions: &'static str,
    /// P and Q of the same full stripe again and again: data in the cache, as it is right after a program made it.
    pub cached_bytes_per_s: f64,
    /// P and Q of stripes that come from memory.
    pub memory_bytes_per_s: f64,
    /// Read-modify-write: P and Q changed by a chunk, in the cache.
    pub modify_bytes_per_s: f64,
}

/// Each set of instructions that this CPU has; and bytes per second that a thread moves when it copies, each byte counted
/// once as read and once as written.
#[must_use]
pub fn bench_parity(window: Duration) -> (Vec<ParityRate>, f64) {
    let data = vec![0x5a_u8; BYTES_OF_MEMORY];
    let mut parities = vec![0_u8; 2 * CHUNK_BYTES];
    let stripe_bytes = COLUMNS * CHUNK_BYTES;
    let stripes = BYTES_OF_MEMORY / stripe_bytes;
    let (p, q) = parities.split_at_mut(CHUNK_BYTES);
    let (p, q) = (p.as_mut_ptr(), q.as_mut_ptr());
    let columns_at = |stripe: usize| -> [*const u8; COLUMNS] {
        std::array::from_fn(|column| data[stripe * stripe_bytes + column * CHUNK_BYTES..].as_ptr())
    };
    let rate = |parity: Parity, stripes: usize| {
        per_second(window, stripe_bytes, |at| {
            let columns = columns_at(at % stripes);
            // SAFETY: each column is a chunk of the data, and the parities have a chunk each.
            unsafe { parity.generate(black_box(&columns), CHUNK_BYTES, p, Some(q)) };
        })
    };
    let modify = |parity: Parity| {
        let [old, new, ..] = columns_at(0);
        per_second(window, CHUNK_BYTES, |_| {
            // SAFETY: as above.
            unsafe { parity.modify(black_box((old, new)), CHUNK_BYTES, Some(p), Some((q, 5))) };
        })
    };
    let rates = Instructions::all().into_iter().map(|instructions| {
        let parity = Parity(instructions);
        ParityRate {
            instructions: instructions.as_str(),
            cached_bytes_per_s: rate(parity, 1),
            memory_bytes_per_s: rate(parity, stripes),
            modify_bytes_per_s: modify(parity),
        }
    });
    let rates = rates.collect();
    (rates, copy_bytes_per_s(&data, window))
}

fn copy_bytes_per_s(data: &[u8], window: Duration) -> f64 {
    const PIECE: usize = 1 << 20;
    let mut to = vec![1_u8; data.len()];
    let pieces = data.len() / PIECE;
    2.0 * per_second(window, PIECE, |at| {
        let from = at % pieces * PIECE;
        to[from..from + PIECE].copy_from_slice(black_box(&data[from..from + PIECE]));
        black_box(&mut to);
    })
}

fn per_second(window: Duration, bytes: usize, mut work: impl FnMut(usize)) -> f64 {
    let begun = Instant::now();
    let mut times = 0;
    while begun.elapsed() < window {
        work(times);
        times += 1;
    }
    (times * bytes) as f64 / begun.elapsed().as_secs_f64()
}
