//! The engines of Linux.

use fathom_message::msg;
use fathom_plan::{EngineName, EngineSpec};
use fathom_record::StepFailure;

use crate::array::over;
use crate::backend::files::Files;
use crate::backend::libaio::Libaio;
use crate::backend::mmap::Mmap;
use crate::backend::null::Null;
use crate::backend::nvme::Nvme;
use crate::backend::psync::Psync;
use crate::backend::uring::Uring;
use crate::backend::uring_cmd::UringCmd;
use crate::backend::{Unready, refused};
use crate::buffer::Area;
use crate::files::folders_of;
use crate::hot::Hot;
use crate::rig::Rig;
use crate::worker::{WorkerPlan, run_on};

/// The engine that does on this system what a plan asks for: on Linux the one that it names.
#[must_use]
pub fn engine_here(asked: EngineSpec) -> EngineSpec {
    asked
}

/// Sets the engine of the step up, and runs it.
///
/// # Errors
/// When it cannot be had.
pub(crate) fn run(plan: &WorkerPlan, hot: Hot, area: Area, stopped: &dyn Fn() -> bool) -> Result<(), Unready> {
    let engine = plan.step.engine;
    let (depth, parts) = (plan.limits.queue_depth, &plan.parts[..]);
    let opened = || parts.iter().map(|part| part.target.open()).collect::<Result<Vec<_>, _>>();
    match engine.name {
        EngineName::Fio | EngineName::Spdk => {
            Err(refused(msg!("engine-by-fio"), msg!("engine-by-fio-why"), msg!("engine-by-fio-help")).into())
        }
        EngineName::Iocp => Err(refused(
            msg!("engine-named", engine = engine.name.as_str()),
            msg!("engine-not-on-linux"),
            msg!("engine-not-on-linux-help"),
        )
        .into()),
        EngineName::Null => run_on(plan, hot, Rig::new(area, |_| Ok::<_, StepFailure>(Null::new(depth)))?),
        EngineName::Psync => run_on(plan, hot, Rig::new(area, |_| opened().map(Psync::engine))?),
        EngineName::Libaio => run_on(plan, hot, Rig::new(area, |_| Libaio::new(opened()?, depth))?),
        EngineName::Files => run_on(plan, hot, Rig::new(area, |_| folders_of(plan).map(Files::engine))?),
        EngineName::Mmap => run_on(plan, hot, Rig::new(area, |_| Mmap::engine(parts))?),
        EngineName::IoUring => {
            let mut rig = Rig::new(area, |area| Uring::new(opened()?, depth, engine, area))?;
            if plan.step.workload.durability.is_atomic {
                rig.backend.write_atomically();
            }
            Uring::look(&mut rig, parts, engine, stopped)?;
            if plan.step.workload.mix.trim_pct > 0 {
                Uring::look_at_trims(&mut rig, parts, engine, stopped)?;
            }
            run_on(plan, hot, rig)
        }
        EngineName::Nvme => {
            let write_through = plan.step.workload.durability.write_through;
            run_on(plan, hot, Rig::new(area, |area| Nvme::new(parts, depth, write_through, area))?)
        }
        EngineName::IoUringCmd => {
            let mut rig = Rig::new(area, |area| UringCmd::new(parts, depth, engine, area))?;
            UringCmd::look(&mut rig, parts, engine, stopped)?;
            run_on(plan, hot, rig)
        }
    }
}

/// The same on arrays in user space.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_on_arrays(plan: &WorkerPlan, hot: Hot, area: Area) -> Result<(), Unready> {
    let spec = plan.step.engine;
    let depth = plan.limits.queue_depth;
    match spec.name {
        EngineName::Psync => {
            run_on(plan, hot, Rig::new(area, |area| over(plan, area, 1, |fds, _| Ok(Psync::engine(fds))))?)
        }
        EngineName::Libaio => run_on(plan, hot, Rig::new(area, |area| over(plan, area, depth, Libaio::new))?),
        _ => {
            let plain = without_fixed_buffers(spec);
            let ring = |area: &Area| over(plan, area, depth, |fds, depth| Uring::new(fds, depth, plain, area));
            run_on(plan, hot, Rig::new(area, ring)?)
        }
    }
}

/// Members' I/Os are parts of the load's buffers and rooms for parity: no one registered buffer each.
fn without_fixed_buffers(spec: EngineSpec) -> EngineSpec {
    EngineSpec { fixed_buffers: false, ..spec }
}
