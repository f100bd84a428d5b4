//! Sizes, rates, durations, CPU lists and percentile names: parsed from what people write, printed for people.
//!
//! Sizes are binary as in fio (`4k` = `4KiB` = `4KB` = 4096 bytes), rates of I/Os decimal (`20k` = 20 000 per second),
//! rates of bytes are printed both ways. Printed figures have three significant digits.

mod cpulist;
mod duration;
mod error;
mod iops;
mod nearest;
mod number;
mod percentage;
mod percentile;
mod print;
mod size;

pub use cpulist::{format_cpu_list, parse_cpu_list, parse_cpu_map};
pub use duration::{format_duration_ns, parse_duration_ns};
pub use error::UnitError;
pub use iops::{format_iops, parse_iops};
pub use nearest::{advice, did_you_mean, nearest};
pub use percentage::parse_pct;
pub use percentile::{PERCENTILES, parse_percentile, percentile_name};
pub use print::{format_ns, format_pct, format_significant};
pub use size::{format_block, format_bytes, format_rate, format_rate_decimal, parse_size};
