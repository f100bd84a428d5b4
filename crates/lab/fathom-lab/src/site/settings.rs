//! Settings of the host that steps run under: changed through the journal, put back when the next step wants others.

use std::path::Path;

use fathom_host::Root;
use fathom_host::settings::{Applied, Change, Journal, SettingError, changes_for};
use fathom_message::{Message, msg};
use fathom_plan::HostSetting;
use fathom_record::{FeatureName, FeatureUse, StepFailure};

/// The settings in force.
#[derive(Debug)]
pub(super) struct Settings {
    journal: Journal,
    current: Vec<HostSetting>,
    devices: Vec<String>,
    applied: Option<Applied>,
}

impl Settings {
    /// None changed yet.
    pub(super) fn new(journal_dir: &Path, command: &str) -> Self {
        let journal = Journal::open(&Root::live(), journal_dir, command);
        Settings { journal, current: Vec::new(), devices: Vec::new(), applied: None }
    }

    /// Where changes of this run are written down.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Brings exactly `wanted` into force on `devices`, and says what that changed.
    ///
    /// # Errors
    /// [`StepFailure`] when a setting is not to be had: all are then as found. The outer error is one that could not be
    /// put back: the run must not go on.
    pub(super) fn ensure(
        &mut self,
        wanted: &[HostSetting],
        devices: &[String],
    ) -> Result<Result<Vec<FeatureUse>, StepFailure>, SettingError> {
        if self.current == wanted && (wanted.is_empty() || self.devices == devices) {
            return Ok(Ok(self.in_force()));
        }
        self.restore()?;
        match self.apply(wanted, devices) {
            Ok(()) => Ok(Ok(self.in_force())),
            Err(error) => {
                let asked: Vec<String> = wanted.iter().map(|s| format!("{}={}", s.name, s.value)).collect();
                Ok(Err(StepFailure::refused(Message::verbatim(asked.join(" ")), &error)))
            }
        }
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// [`SettingError`]; what could not be put back stays in the journal.
    pub(super) fn restore(&mut self) -> Result<(), SettingError> {
        self.current.clear();
        self.applied.take().map_or(Ok(()), Applied::restore)
    }

    fn apply(&mut self, wanted: &[HostSetting], devices: &[String]) -> Result<(), SettingError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let mut changes: Vec<Change> = Vec::new();
        for setting in wanted {
            changes.extend(changes_for(&Root::live(), &format!("{}={}", setting.name, setting.value), devices)?);
        }
        self.applied = Some(self.journal.apply_all(&changes)?);
        self.current = wanted.to_vec();
        self.devices = devices.to_vec();
        Ok(())
    }

    /// As features of the step: what was changed from what, or that nothing had to be.
    fn in_force(&self) -> Vec<FeatureUse> {
        let Some(applied) = &self.applied else { return Vec::new() };
        let changed = applied.done().iter().map(|done| {
            let detail = msg!("setting-instead-of", to = done.to.clone(), from = done.from.clone());
            FeatureUse::used(FeatureName::Setting(done.setting.to_string()), detail)
        });
        let mut all: Vec<FeatureUse> = changed.collect();
        if all.is_empty() {
            let name = self.current.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(" ");
            all.push(FeatureUse::used(FeatureName::Setting(name), msg!("setting-had-value")));
        }
        all
    }
}
