//! What to measure: workload, load, placement, ladder, and the [`Step`]s they unfold into.
//!
//! Pure: reads no file, clock or environment. Texts (study files, fio job files) and seeds are arguments.

mod plan;
mod step;

pub use plan::{Plan, RunLength, StudyHead};
pub use step::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, Mode, Op, OpMix, Pattern, Phase, Placement, Rate,
    RateProcess, Region, Step, Target, Verify, Workload,
};
