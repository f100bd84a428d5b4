//! Log-linear latency histogram of nanoseconds: record, merge, quantile, encode.
//!
//! Each octave has 128 equal buckets, so a value read back from its bucket's middle is off by at most 1/256
//! ([`REL_ERROR_MAX`]). Values below 256 ns are exact. Values up to 2^42 ns (73 minutes) keep that bound; longer ones
//! share one top bucket, while minimum, maximum, mean and count stay exact for every value.
//!
//! ```
//! use fathom_hist::Histogram;
//!
//! let mut h = Histogram::new();
//! for ns in [100, 200, 300, 80_000] {
//!     h.record(ns);
//! }
//! assert_eq!(h.quantile(0.5), Some(200));
//! assert_eq!(h.max_ns(), Some(80_000));
//! ```

mod codec;
mod histogram;
mod layout;

pub use codec::{Contradiction, DecodeError};
pub use histogram::{Bucket, Histogram};
pub use layout::{REL_ERROR_MAX, TOP_NS};
