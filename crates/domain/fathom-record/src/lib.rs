//! What one step yields: counters, intervals, histograms, host samples, warnings; and the runner trait.
//!
//! Real and simulated steps go through the same [`Runner`] with the same `Step` in and the same [`StepRecord`] out.

mod array;
mod critical_warning;
mod feature;
mod feature_name;
mod health;
mod host;
mod merge;
mod network;
mod oltp;
mod prediction;
mod ranks;
mod record;
mod run_state;
mod runner;
mod warning;
mod wire;

pub use array::{ArrayMember, ArrayRecord, RebuildFailure, RebuildIos, RebuildRecord};
pub use critical_warning::CriticalWarning;
pub use feature::{FeatureState, FeatureUse};
pub use feature_name::FeatureName;
pub use health::{DriveSample, DriveSeries, HealthSource, ThrottleSign};
pub use host::{
    CpuSeries, CpuShares, CpuTime, DiskDelta, FlushDelta, HostDelta, KernelThreadCpu, MdState, MdSync, ProgramsCpu,
    ThreadCpu, VectorDelta, WriteCache,
};
pub use merge::{CPU_ROWS_MAX, Elsewhere, RankHead, RankMerger};
pub use network::{NetworkDelta, NetworkKind, NetworkLinkDelta, RoundTrips, RpcDelta};
pub use oltp::{BrokenCondition, LoadRecord, OltpKind, OltpRecord, OltpSecond, ServerCounters, SessionTime};
pub use prediction::{LadderPrediction, PredictedStep, ScreenedStep};
pub use ranks::{
    LostRank, MachineTrait, RankClock, RankMachine, RankRecord, RanksRecord, STRAGGLER_SHARE, ValueOnHosts,
    machine_differences,
};
pub use record::{
    ClockUse, Direction, DirectionInterval, Interval, IoFailure, Latency, OpenLoop, Overhead, Polling, PurgeMethod,
    PurgeReport, QuotedLatency, ShortenedWindow, StepRecord, TargetRecord, ThreadRecord, VerifyReport, WhyShortened,
};
pub use run_state::RunState;
pub use runner::{Progress, RunControl, Runner, StepFailure};
pub use warning::Warning;
