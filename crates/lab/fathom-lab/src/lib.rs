//! Conducts a run: targets -> steps -> store -> explanation; emits events. Reads a run back for its
//! [`Document`](fathom_judge::document::Document).

mod calibrate;
mod conduct;
mod facts;
mod links;
mod machine;
mod memory;
mod names;
mod past;
mod ranks;
mod rebuild;
pub mod reproduce;
#[cfg(test)]
mod samples;
mod site;
mod view;

pub use calibrate::{CalibrateError, CalibrationPoint, calibrate};
pub use conduct::{
    ConductError, ConductOptions, Event, FileToMake, Leftover, LeftoverState, Removal, RunOutcome, check_targets,
    conduct, delete_run, end_own_runs, executed_plan, goal_search_ns, leftovers, note_work_folder, plan_again,
    refused_writes, remove_leftovers, resume, resumed_plan,
};
pub use facts::{observations_of, step_facts};
pub use names::{expand_target, is_pattern};
pub use past::{past_runs, run_before};
pub use ranks::{Link, PackedError, Ranks, SILENCE, Unpacker, packed_record, serve};
pub use rebuild::{RebuildError, rebuild_array};
pub use site::{
    FILE_BYTES_DEFAULT, HostLook, IDLE_BASELINE, SimulatedMachine, SimulatedMembers, SimulatedTarget, TakeError,
    TargetError, is_simulated, look_at_host, simulated_machine, simulated_members,
};
pub use view::{document_of, headline_of};
