//! What the guard would say to the writes of a plan, for a dry run.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_host::{Refusal, Root, check_write_target};
use fathom_plan::{Plan, Step, TargetId};
use fathom_store::Lab;

use super::{ConductError, ConductOptions, permission};

/// The targets of the plan that are there, are written, and would be refused, each with the first reason. `begun`: as in
/// `ResumedPlan`. Touches nothing.
///
/// # Errors
/// The lab cannot be read.
pub fn refused_writes(
    plan: &Plan,
    options: &ConductOptions,
    lab: Option<&Lab>,
    begun: bool,
) -> Result<BTreeMap<TargetId, Refusal>, ConductError> {
    let permission = permission(options, lab)?;
    let mut refused = BTreeMap::new();
    for target in plan.steps.iter().flat_map(Step::written) {
        let path = Path::new(target.as_str());
        // In a directory a file is made; what is not there is made, or simulated.
        if refused.contains_key(&target) || path.is_dir() || !path.exists() {
            continue;
        }
        let answer =
            permission.with_permit(plan, &target, begun, |permit| check_write_target(&Root::live(), path, permit));
        if let Err(refusal) = answer {
            refused.insert(target, refusal);
        }
    }
    Ok(refused)
}
