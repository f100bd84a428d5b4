//! Runs a step for real: workers, engines, buffers, offsets, clocks.
//!
//! [`HostRunner`] opens the targets, starts one thread per worker, and hands over a `StepRecord`. Each worker owns its
//! engine, buffers, random numbers and histograms; the runner's own thread only merges finished intervals, reports
//! progress and decides when the window ends.
//!
//! Latency is created -> reaped for every I/O. One clock reading serves a batch: the stamp of a reap is also the
//! creation of what is issued next, so that time never falls between two I/Os. How much that moves a stamp is measured
//! and reported (`Overhead::batch_stamp_error_ns_mean`).
#![allow(unsafe_code)]

mod array;
mod assemble;
mod atomic;
mod backend;
#[cfg(feature = "bench")]
mod bench;
mod block_format;
mod block_map;
mod buffer;
mod check;
mod clock;
mod collect;
mod crew;
mod data;
mod depth_search;
mod draw;
#[cfg(test)]
mod faults;
mod files;
mod gate;
mod hot;
mod looks;
mod member;
mod memory;
mod offsets;
mod op_rates;
mod open_loop;
mod overhead;
mod pacing;
mod pages;
mod parity;
mod permutation;
mod priority;
mod probe;
mod replay;
mod rig;
mod runner;
mod sequence;
mod service;
mod shared;
mod sprandom;
mod streams;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;
mod tally;
mod target;
mod thread_state;
mod trace;
mod uncached;
mod verify;
mod watch;
mod worker;

pub use array::{Rebuilt, rebuild};
#[cfg(feature = "bench")]
pub use bench::{DriverCost, LoopRate, bench_bare_reads, bench_driver, bench_nop};
pub use check::{BLOCK_BYTES_MAX, QUEUE_DEPTH_MAX, THREADS_MAX};
pub use crew::intervals_max;
pub use files::lay_out_files;
pub use gate::{StartGate, clock_ns};
#[cfg(feature = "bench")]
pub use parity::{ParityRate, bench_parity};
pub use probe::HostProbe;
pub use runner::{HostRunner, HostRunnerOptions};
pub use streams::{PreciseEnough, StreamPlan};
pub use system::engines::engine_here;
