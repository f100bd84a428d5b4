//! The engines of Windows.

use fathom_host::OpenFlags;
use fathom_message::msg;
use fathom_plan::{EngineName, EngineSpec, Mode};
use fathom_record::StepFailure;

use super::iocp::Iocp;
use crate::array::over;
use crate::backend::files::Files;
use crate::backend::null::Null;
use crate::backend::nvme::Nvme;
use crate::backend::psync::Psync;
use crate::backend::{Unready, refused};
use crate::buffer::Area;
use crate::files::folders_of;
use crate::hot::Hot;
use crate::rig::Rig;
use crate::worker::{WorkerPlan, run_on};

/// The engine that does on this system what a plan asks for: plans are written for both systems, and the queue of the system
/// is io_uring or libaio in one and a completion port in the other. What only a ring has (its modes) is not translated, and
/// refused by name when it is to run.
#[must_use]
pub fn engine_here(asked: EngineSpec) -> EngineSpec {
    match (asked.name, asked.mode) {
        (EngineName::IoUring | EngineName::Libaio, Mode::Interrupt) => {
            EngineSpec { name: EngineName::Iocp, fixed_buffers: false, fixed_files: false, ..asked }
        }
        _ => asked,
    }
}

/// Sets the engine of the step up, and runs it.
///
/// # Errors
/// When it cannot be had.
pub(crate) fn run(plan: &WorkerPlan, hot: Hot, area: Area, _stopped: &dyn Fn() -> bool) -> Result<(), Unready> {
    let (depth, parts) = (plan.limits.queue_depth, &plan.parts[..]);
    let opened = |flags| parts.iter().map(|part| part.target.open_with(flags)).collect::<Result<Vec<_>, _>>();
    match plan.step.engine.name {
        EngineName::Null => run_on(plan, hot, Rig::new(area, |_| Ok::<_, StepFailure>(Null::new(depth)))?),
        EngineName::Psync => run_on(plan, hot, Rig::new(area, |_| opened(OpenFlags::empty()).map(Psync::engine))?),
        EngineName::Iocp => run_on(plan, hot, Rig::new(area, |_| Iocp::new(opened(OpenFlags::OVERLAPPED)?, depth))?),
        EngineName::Files => run_on(plan, hot, Rig::new(area, |_| folders_of(plan).map(Files::engine))?),
        EngineName::Nvme => {
            let write_through = plan.step.workload.durability.write_through;
            run_on(plan, hot, Rig::new(area, |area| Nvme::new(parts, depth, write_through, area))?)
        }
        other => Err(of_linux(other).into()),
    }
}

/// The same on arrays in user space: their members are worked on one I/O at a time.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_on_arrays(plan: &WorkerPlan, hot: Hot, area: Area) -> Result<(), Unready> {
    match plan.step.engine.name {
        EngineName::Psync => {
            run_on(plan, hot, Rig::new(area, |area| over(plan, area, 1, |fds, _| Ok(Psync::engine(fds))))?)
        }
        other => Err(of_linux(other).into()),
    }
}

fn of_linux(engine: EngineName) -> StepFailure {
    refused(
        msg!("engine-named", engine = engine.as_str()),
        msg!("engine-not-on-windows"),
        msg!("engine-not-on-windows-help"),
    )
}
