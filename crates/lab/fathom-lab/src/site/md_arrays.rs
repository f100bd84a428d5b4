//! Arrays of Linux md that steps are on: made before the first step that needs one, taken away before the next that does not.

use fathom_host::settings::SettingError;
use fathom_host::{MdCounts, OpenError, OwnArray, OwnArrayError, Root};
use fathom_message::Message;
use fathom_plan::{Step, TargetId};
use fathom_record::{ArrayRecord, StepFailure};

use super::TargetError;
use super::bind::{bytes_of_target, capacity_bytes};
use super::real::RealSite;

impl RealSite {
    /// Makes the arrays of these steps, which run at once, and no others. The outer error ends the run: an array that
    /// is not wanted any more stayed.
    pub(super) fn arrays_for(&mut self, steps: &[&Step]) -> Result<Result<(), StepFailure>, SettingError> {
        let opening = steps.iter().filter(|step| step.opens_targets());
        let mut wanted: Vec<&TargetId> =
            opening.flat_map(|step| &step.targets).filter(|t| t.md_array().is_some()).collect();
        wanted.sort();
        wanted.dedup();
        // A rebuild begins with its step.
        let is_rebuilt = |target: &&TargetId| target.md_array().is_some_and(|array| array.rebuild().is_some());
        if self.md_arrays.iter().map(OwnArray::target).eq(wanted.iter().copied()) && !wanted.iter().any(is_rebuilt) {
            return Ok(Ok(()));
        }
        let what = || Message::verbatim(steps.first().map(|step| step.label.clone()).unwrap_or_default());
        if let Err(failure) = self.remove_arrays()? {
            return Ok(Err(StepFailure::refused(what(), &failure)));
        }
        for target in wanted {
            if let Err(failure) = self.make_array(target) {
                // One that was made and cannot be opened is none.
                let _ = self.remove_arrays()?;
                return Ok(Err(StepFailure::refused(what(), &failure)));
            }
        }
        Ok(Ok(()))
    }

    fn make_array(&mut self, target: &TargetId) -> Result<(), OwnArrayError> {
        let Some(array) = target.md_array() else { return Ok(()) };
        let closed = |source| OwnArrayError::Array { target: target.clone(), source };
        let held = |member: &TargetId| match self.bound.bindings.get(member) {
            Some(binding) => Ok((capacity_bytes(binding)?, false)),
            None => Ok((0, false)),
        };
        let (bytes, _) = bytes_of_target(target, &held).map_err(|error| match error {
            TargetError::Io { source, .. } | TargetError::Open(OpenError::Io { source, .. }) => closed(source),
            // Sizes were judged when the run began.
            other => closed(std::io::Error::other(other)),
        })?;
        let member_bytes = array.layout().member_bytes(bytes);
        let bindings = &mut self.bound.bindings;
        let members = array.members().iter().map(|member| member.as_ref().and_then(|member| bindings.take(member)));
        let members = members.collect();
        let made = OwnArray::make(&Root::live(), self.settings.journal(), target, &array, members, member_bytes);
        let made = match made {
            Ok(made) => made,
            Err(failed) => {
                failed.members.into_iter().for_each(|member| self.bound.bindings.add(member));
                return Err(failed.why);
            }
        };
        let binding = made.binding();
        self.md_arrays.push(made);
        self.bound.bindings.add(binding?);
        Ok(())
    }

    /// Takes all of them away. The outer error: one stayed, and is in the journal.
    pub(super) fn remove_arrays(&mut self) -> Result<Result<(), OwnArrayError>, SettingError> {
        if self.md_arrays.is_empty() {
            return Ok(Ok(()));
        }
        // Settings of an array go with it.
        self.settings.restore()?;
        let mut result = Ok(());
        while let Some(array) = self.md_arrays.pop() {
            // Its claim would keep the kernel from taking it away.
            self.bound.bindings.take(array.target());
            match array.remove() {
                Ok(members) => members.into_iter().for_each(|member| self.bound.bindings.add(member)),
                Err(OwnArrayError::Setting(error)) => return Err(error),
                Err(other) => result = Err(other),
            }
        }
        Ok(result)
    }

    /// Begins the rebuilds that steps on the arrays that are there ask for.
    pub(super) fn begin_rebuilds(&mut self) -> Result<(), OwnArrayError> {
        for array in &mut self.md_arrays {
            let asked = array.target().md_array();
            if let Some(rebuild) = asked.as_ref().and_then(|array| array.rebuild()) {
                array.begin_rebuild(rebuild.bytes_per_s)?;
            }
        }
        Ok(())
    }

    /// The kernel's counts of the arrays that are there.
    pub(super) fn array_counts(&self) -> Vec<Option<MdCounts>> {
        self.md_arrays.iter().map(|array| array.counts().ok()).collect()
    }

    /// What the arrays of a step did since; none where the kernel did not tell.
    pub(super) fn array_records(&self, before: &[Option<MdCounts>]) -> Vec<ArrayRecord> {
        let counted = self.md_arrays.iter().zip(before).filter_map(|(array, before)| {
            let after = array.counts().ok()?;
            Some(array.record(before.as_ref()?, &after))
        });
        counted.collect()
    }
}
