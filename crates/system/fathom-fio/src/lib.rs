//! fio itself: its results taken in, and its jobs run by it under Fathom's eyes. And the results of SPDK's own programs.
//!
//! fio opens no name that it is given: each target is bound, judged and opened here, and fio finds it by a link to that
//! descriptor. What it may write is what the guard allowed, whatever happens to names meanwhile. `spdk_nvme_perf` gets the
//! address of a drive that left the kernel for the step, and the number of the one namespace that was judged.

mod error;
mod import;
mod job;
mod latency;
mod options;
mod output;
mod run;
mod series;
mod spdk;
mod step;
mod text;
mod watch;

use fathom_message::Message;
use fathom_plan::{Plan, Step};
use fathom_record::StepRecord;
use serde_json::Value;

pub use error::ImportError;
pub use import::import_fio;
pub use options::size_word;
pub use run::{FioRun, run_by_fio};
pub use spdk::{SpdkRun, has_spdk, import_bdevperf, import_perf, is_bdevperf, is_perf_table, run_by_spdk};
pub use text::{Found, find_document, json_error};

/// A run measured elsewhere, ready for the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The plan as far as the file tells it.
    pub plan: Plan,
    /// Measured steps in order.
    pub steps: Vec<(Step, StepRecord)>,
    /// Wall clock at the start of the run, Unix nanoseconds; 0 when the file does not say.
    pub started_unix_ns: u64,
    /// What a reader must know about how the file was read; also what fio printed beside its JSON.
    pub notes: Vec<Message>,
    /// What the file says about the host and the program that measured.
    pub host_json: Value,
}
