//! What to measure: workload, load, placement, ladder, and the [`Step`]s they unfold into.
//!
//! Pure: reads no file, clock or environment. Texts (study files, fio job files) and seeds are arguments.

mod budget;
mod condition;
mod error;
mod fio_job;
mod goal;
mod knobs;
mod label;
mod plan;
mod role;
mod share;
mod step;
mod study;
mod word;

pub use budget::{PlannedWrites, STEP_NS_MIN, TimeBudgetError};
pub use condition::{ROUNDS_MAX, ROUNDS_MIN};
pub use error::SourceError;
pub use fio_job::{fio_command, fio_job_text, parse_fio_job};
pub use goal::{Goal, LatencyGoal};
pub use knobs::{
    BLOCK_BYTES_MAX, BUFFER_BYTES_MAX, CPU_MAX, DEVICES_MAX, KNOBS, KnobError, KnobSpec, Knobs, PASSES_MAX,
    QUEUE_DEPTH_MAX, RATE_IOPS_MAX, RATE_SHARE_PCT_MAX, REGION_BYTES_MAX, RUNTIME_MAX_NS, THREADS_MAX, knob,
};
pub use plan::{MachineText, MadeFile, Plan, RunLength, StudyHead};
pub use role::{Block, Conditioning, HostSetting, Metric, Part, Precondition, PurgeMeans, RateShare, Role, Round};
pub use share::rate_base;
pub use step::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, Mode, Op, OpMix, Pattern, Phase, Placement, Rate,
    RateProcess, Region, Step, Target, Verify, Workload,
};
pub use study::{Overrides, STEPS_MAX, builtin_studies, parse_study, study_by_name};
