//! `fathom rebuild`: a member of an array in user space is written anew from the others.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use fathom_engine::Rebuilt;
use fathom_host::{Binding, Bindings, Permit, Root};
use fathom_plan::{EngineName, Knobs, Step, TargetId};
use fathom_record::{Progress, RunControl, StepFailure};

use crate::conduct::{ConductError, ConductOptions, permission};
use crate::site::TargetError;

/// Why nothing, or not everything, was rebuilt.
#[derive(Debug)]
pub enum RebuildError {
    /// A member cannot be had.
    Target(TargetError),
    /// Refused before anything was written, or failed.
    Step(StepFailure),
    /// As before a run.
    Conduct(ConductError),
}

impl From<TargetError> for RebuildError {
    fn from(error: TargetError) -> RebuildError {
        RebuildError::Target(error)
    }
}

/// Rebuilds the first missing member of `array` onto `onto`, or with nothing missing its parities and second copies.
/// `options`: what may be overwritten or destroyed; nothing else of it is used.
///
/// # Errors
/// [`RebuildError`].
pub fn rebuild_array(
    array: &TargetId,
    onto: Option<&TargetId>,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Rebuilt, RebuildError> {
    let is_whole = match array.user_space_array().transpose().map_err(TargetError::Array)? {
        Some(named) => named.missing().is_empty(),
        None => false,
    };
    let permission = permission(options, None).map_err(|e| RebuildError::Conduct(e.into()))?;
    let permit = Permit {
        destroy: &permission.destroy,
        overwrite: permission.overwrite,
        protected: &permission.protected,
        is_own: &|_| false,
        own_data: false,
    };
    let bind = |target: &TargetId, writes: bool| {
        let path = PathBuf::from(target.as_str());
        if !path.exists() {
            return Err(TargetError::MustExist { target: target.clone() });
        }
        Binding::existing(&Root::live(), target.clone(), &path, writes, &permit).map_err(TargetError::Guard)
    };
    let members = array.opened().into_iter().map(|member| bind(&member, onto.is_none() && is_whole));
    let bindings: Bindings = members.chain(onto.map(|onto| bind(onto, true))).collect::<Result<_, _>>()?;
    let mut control = RunControl { stop, on_progress, precise_enough: &|_, _| false };
    let mut run = |direct| fathom_engine::rebuild(&step_on(array, direct), onto, &bindings, &mut control);
    // Around the page cache where that can be had, so that what is rebuilt is read from the medium.
    let rebuilt = match run(true) {
        Err(StepFailure::Refused { .. }) => run(false),
        other => other,
    };
    rebuilt.map_err(RebuildError::Step)
}

/// The step whose target the array is; only how it is opened matters.
fn step_on(array: &TargetId, direct: bool) -> Step {
    let knobs = Knobs::default();
    let step = knobs.build(0, "rebuild", std::slice::from_ref(array), &mut Vec::new());
    let mut step = step.unwrap_or_else(|_| unreachable!("the defaults of the knobs are a step"));
    step.engine.name = EngineName::Psync;
    step.workload.direct = direct;
    step
}
