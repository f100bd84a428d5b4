//! What to measure: workload, load, placement, ladder, and the [`Step`]s they unfold into.
//!
//! Pure: reads no file, clock or environment. Texts (study files, fio job files) and seeds are arguments.

mod arrange;
mod array;
mod budget;
mod by_fio;
mod condition;
mod cross_check;
mod durability;
mod error;
mod file_ops;
mod file_service;
mod fio_job;
mod goal;
mod imported;
mod io_order;
mod knobs;
mod label;
mod load;
mod memory;
mod pacing;
mod plan;
mod priority;
mod ranks;
mod rate_pair;
mod read_write;
mod replay;
mod role;
mod share;
mod stage;
mod step;
mod stream;
mod study;
mod target;
#[cfg(test)]
mod words;

pub use array::{ArrayMaker, ArrayNameError, ArrayTarget, MadeLevel, Rebuild};
pub use budget::{PlannedWrites, STEP_NS_MIN, TimeBudgetError};
pub use by_fio::{FioJob, FioPlace};
pub use condition::{ROUNDS_MAX, ROUNDS_MIN};
pub use cross_check::{with_fio_beside, with_spdk_beside};
pub use durability::{Durability, SyncEvery, SyncKind, WriteThrough};
pub use error::{FaultKind, SourceError};
pub use file_ops::{FileLoad, FileOp, StatBy};
pub use file_service::{BLOCK_FILES_MAX, FileService, ServiceChoice};
pub use fio_job::{
    FioCommandError, FioCommandLine, FioFormat, FioHost, FioKeyInfo, FioKeyUse, FioKnobs, FioQuestion, FioReading,
    FioText, FioWord, HostNumber, UnseenHost, fio_bytes, fio_command, fio_command_line, fio_engine_keys, fio_engines,
    fio_file_name, fio_file_names, fio_job_text, fio_keys, fio_options, fio_rates, fio_remarks, fio_shown_command,
    knobs_from_fio, parse_fio, parse_fio_job,
};
pub use goal::{Goal, LatencyGoal};
pub use imported::{ImportedLoad, LoadPart};
pub use io_order::{AccessZone, BlockList, IoOrder, Runs, SizeRange, SpRandom, StridedZones, ZoneSpace};
pub use knobs::{
    BLOCK_BYTES_MAX, BUFFER_BYTES_MAX, CPU_MAX, DEVICES_MAX, Flag, Kind, KnobError, KnobGroup, KnobSpec, Knobs,
    PASSES_MAX, QUEUE_DEPTH_MAX, RANKS_MAX, RATE_IOPS_MAX, RATE_SHARE_PCT_MAX, REGION_BYTES_MAX, RUNTIME_MAX_NS,
    THREADS_MAX, knob, knob_groups, knobs,
};
pub use label::{
    common_label, file_words, label_message, load_words, load_words_of, loop_message, set_label, workload_message,
};
pub use load::{Load, OpRates, Rate, RateProcess, Spread};
pub use memory::MemoryPolicy;
pub use pacing::{Flow, LatencyTarget, Pacing, Think};
pub use plan::{MachineText, Plan, RunLength, StudyHead};
pub use priority::{PRIORITY_HINT_MAX, PRIORITY_LEVEL_MAX, Priorities, Priority, PriorityClass, PriorityShare};
pub use ranks::{RanksPlan, TakePart, TargetsAre, name_for_rank, region_of_rank, spread_over_hosts};
pub use rate_pair::RatePair;
pub use read_write::ReadWrite;
pub use replay::{Replay, ReplayError};
pub use role::{
    ArmPart, Block, Conditioning, Ends, FioEntry, HostSetting, LabelPart, Metric, NewFile, Part, Precondition,
    PurgeMeans, RateShare, Role, Round, Turn,
};
pub use share::rate_base;
pub use stage::{STAGE_UNIT_NS, Stage, Staged, stages_mean};
pub use step::{
    BlockSize, DataPattern, EngineName, EngineSpec, Mode, Op, OpMix, Pattern, PatternError, Phase, Placement,
    PlacementKind, Region, Repeats, Step, Verify, Workload,
};
pub use stream::{Alone, Stream, alone, slices, timed};
pub use study::{Overrides, STEPS_MAX, builtin_studies, parse_study, question_message, study_by_name};
pub use target::TargetId;
