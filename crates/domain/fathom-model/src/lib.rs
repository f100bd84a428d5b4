//! What a record means: CPU cost per I/O, and which part of the system limited a step.
//!
//! Pure. A limit is *confirmed* when its signature stands in the counters and a neighbouring step of the ladder, which
//! relieved that part, moved the result; *likely* with the signature alone; otherwise *unknown*.

mod attribution;
mod cost;

pub use attribution::{Confidence, Evidence, Limit, LimitName, Observation, attribute};
pub use cost::{CpuCost, cpu_cost, thread_busy_shares};
