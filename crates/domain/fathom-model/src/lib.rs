//! What a record means and what to expect before it: catalogue, CPU cost per I/O, and which part limited a step.
//!
//! Pure. A limit is *confirmed* when its signature stands in the counters and a neighbouring step of the ladder, which
//! relieved that part, moved the result; *likely* with the signature alone; otherwise *unknown*.

mod attribution;
pub mod catalogue;
mod ceilings;
mod closed;
mod cost;
mod describe;
mod device;
mod fit;
mod fit_device;
mod machine;
mod pcie;
mod predict;
mod screen;

pub use attribution::{
    Confidence, DatabaseLoad, DriveFacts, Evidence, Limit, LimitName, Notice, Observation, Probe, RateLimit, StepFacts,
    attribute, attribute_database, missing_probes, notices,
};
pub use catalogue::Catalogue;
pub use ceilings::{Ceiling, alone_ns, ceilings};
pub use closed::{OpModel, Operating};
pub use cost::{CpuCost, cost_model, cpu_cost, thread_busy_shares};
pub use describe::{Description, described};
pub use device::DeviceModel;
pub use fit::{Fit, Point, fit};
pub use fit_device::{FittedDevice, fit_device};
pub use machine::{CostModel, MachineModel, RaidLevel, RaidModel, Shape, UplinkModel};
pub use pcie::PcieLink;
pub use predict::{Answer, Forbidden, Prediction, meet, predict};
pub use screen::{Predicted, predict_steps, same_ladder, screen_steps};
