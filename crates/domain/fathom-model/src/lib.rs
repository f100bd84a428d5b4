//! What a record means and what to expect before it: catalogue, CPU cost per I/O, and which part limited a step.
//!
//! Pure. A limit is *confirmed* when its signature is in the counters and a neighbouring step of the ladder, which
//! relieved that part, moved the result; *likely* with the signature alone; otherwise *unknown*.

mod array;
mod attribution;
mod band;
mod baseline;
pub mod catalogue;
mod ceilings;
mod closed;
mod cost;
mod cpu_taken;
mod describe;
mod device;
mod fit;
mod fit_device;
mod kernel_work;
mod machine;
mod oltp;
mod pcie;
mod predict;
mod screen;
mod waiting;

pub use attribution::{
    Cause, Caveat, Confidence, DriveFacts, Evidence, EvidenceName, Limit, LimitName, NextStep, Notice, Observation,
    Probe, ProbeChange, ProbeResult, RateLimit, RateSource, RateWait, StateChange, StepFacts, UnknownReason, attribute,
    attribute_all, attribute_streams, level_turns, missing_probes, next_step, notices, step_to_repeat,
};
pub use fathom_raid::MEMBERS_MAX as ARRAY_MEMBERS_MAX;

pub use array::{ArrayPart, ArrayPrediction, CardModel, MdModel, MemberWork, RaidMaker, RaidModel, member_work};
pub use band::{Bands, CARD_SPREAD, FigureBand, FigureScale, Unknown, UnknownPart};
pub use baseline::{Baseline, baseline};
pub use catalogue::Catalogue;
pub use ceilings::{Ceiling, ceilings};
pub use closed::{OpModel, Operating};
pub use cost::{CpuCost, cpu_cost, thread_busy_shares};
pub use cpu_taken::CpuTaker;
pub use describe::{Description, catalogued_engine, described, published_cost};
pub use device::{DataSheet, DeviceModel};
pub use fit::Fit;
pub use fit_device::{DeviceFile, FittedDevice, fit_device};
pub use machine::{CostModel, CostOrigin, MachineModel, RaidLevel, RaidLevelError, Shape, UplinkModel, UplinkPlace};
pub use oltp::{OltpEvidence, OltpEvidenceName, OltpLimit, OltpLoad, OltpVerdict, judge_oltp};
pub use pcie::{PcieLink, PcieLinkError, PcieLinkProblem};
pub use predict::{Answer, Forbidden, Prediction, meet, predict, predict_scaled};
pub use screen::{Predicted, predict_steps, same_ladder, screen_steps};
