//! Where steps run: this machine, a simulated one, or, in tests, a script. The conductor knows nothing of files, devices
//! or clocks beside what a site tells.

mod ahead;
mod bind;
mod by_fio;
mod by_spdk;
mod drives;
mod error;
mod in_files;
mod lay_out;
mod look;
mod md_arrays;
mod measure;
mod members;
mod purge;
mod rank_share;
mod real;
mod same_host;
#[cfg(test)]
pub(crate) mod scripted;
mod settings;
mod simulated;
mod simulation;
mod user_space;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_host::settings::SettingError;
use fathom_host::{FileMark, Permit, ProbeError, WithoutIommu};
use fathom_message::{Message, msg};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::{Progress, StepFailure, StepRecord};
use fathom_store::MadeFile;

pub use bind::FILE_BYTES_DEFAULT;
pub(crate) use drives::DrivesToday;
pub use error::TargetError;
pub(crate) use lay_out::LayOutError;
pub use look::{HostLook, look_at_host};
pub use measure::IDLE_BASELINE;
pub use members::{SimulatedMembers, SimulatedTarget, simulated_members};
pub(crate) use real::RealSite;
pub(crate) use same_host::{DrivesOfRun, same_drives, same_host};
pub use simulated::{SimulatedMachine, is_simulated, simulated_machine};
pub(crate) use simulated::{expand_simulated, simulated_caveat};
pub(crate) use simulation::{KNOWN_REL_HALF_WIDTH, SimulatedSite};
pub use user_space::TakeError;

/// What the user allows, and what is known of files that runs made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permission {
    /// Values of `--destroy`.
    pub(crate) destroy: Vec<String>,
    /// Values of `--allow-unbind`.
    pub(crate) allow_unbind: Vec<String>,
    /// Whether drives without an IOMMU may leave the kernel.
    pub(crate) without_iommu: WithoutIommu,
    /// Whether existing files with other people's data may be overwritten.
    pub(crate) overwrite: bool,
    /// Files that are made stay when the run ends.
    pub(crate) keep_files: bool,
    /// The lab, which is never written as a target.
    pub(crate) protected: Vec<PathBuf>,
    /// Marks of all files that runs of this lab made and that may still be there.
    pub(crate) own: BTreeSet<FileMark>,
    /// Those of them that nobody needs any more: what killed runs left behind.
    pub(crate) abandoned: BTreeSet<FileMark>,
}

impl Permission {
    /// Asks the guard with what is allowed for a device that the run wrote to before.
    pub(crate) fn with_device_permit<T>(&self, ask: impl FnOnce(&Permit<'_>) -> T) -> T {
        ask(&Permit {
            destroy: &self.destroy,
            overwrite: self.overwrite,
            protected: &self.protected,
            is_own: &|mark| self.own.contains(&mark),
            own_data: true,
        })
    }

    /// Asks the guard with what is allowed for a target of the plan. `own_data`: the run wrote to its drives before, so data
    /// on them that nobody recognises is its own.
    pub(crate) fn with_permit<T>(
        &self,
        plan: &Plan,
        target: &TargetId,
        own_data: bool,
        ask: impl FnOnce(&Permit<'_>) -> T,
    ) -> T {
        ask(&Permit {
            destroy: &self.destroy,
            overwrite: self.overwrite || plan.job_files.contains(target),
            protected: &self.protected,
            is_own: &|mark| self.own.contains(&mark),
            own_data,
        })
    }
}

/// The first of `files` that is not there.
pub(crate) fn files_gone(files: &[MadeFile]) -> Option<PathBuf> {
    files.iter().map(|file| &file.path).find(|path| !path.exists()).cloned()
}

/// A plan as it would be executed.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// With every region in bytes, and simulated targets by their parts.
    pub(crate) plan: Plan,
    /// Files that are to be made.
    pub(crate) files: Vec<MadeFile>,
}

/// What time it is at a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Wall clock, Unix nanoseconds.
    pub(crate) unix_ns: u64,
    /// Since the site was made, by a clock that is never set.
    pub(crate) elapsed: Duration,
}

/// Where the steps of one run are executed, from binding the targets to giving everything back.
pub(crate) trait Site {
    /// Removes what killed runs left where this plan works, if nobody needs it. Remarks, with the marks of test files.
    fn tidy(&mut self, plan: &Plan) -> Vec<(Option<FileMark>, Message)>;

    /// Folders in which steps of the plan make folders of their own.
    fn work_folders(&self, _plan: &Plan) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Looks at every target of the plan, and says how the plan would be executed. Makes, opens for writing and keeps
    /// nothing.
    ///
    /// # Errors
    /// [`TargetError`].
    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError>;

    /// The first of the `files` that a run made which is not there any more.
    ///
    /// # Errors
    /// [`TargetError`] where it cannot be looked for.
    fn gone(&mut self, _plan: &Plan, files: &[MadeFile]) -> Result<Option<PathBuf>, TargetError> {
        Ok(files_gone(files))
    }

    /// Files that a run which goes on needs beside `files`, those it made before and that may still be there. `begun`: as
    /// in [`Site::bind`]. Makes, opens for writing and keeps nothing.
    ///
    /// # Errors
    /// [`TargetError`].
    fn to_make_again(&mut self, plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<MadeFile>, TargetError>;

    /// Where the drives of the run are today.
    fn drives_today(&self) -> DrivesToday {
        DrivesToday::default()
    }

    /// The machine and what is behind the targets, as the run keeps it.
    ///
    /// # Errors
    /// [`ProbeError`] when the machine cannot be looked at.
    fn host_json(&mut self, plan: &Plan) -> Result<String, ProbeError>;

    /// Measures what memory moves, for a tenth of a second; `None` where that is not known or not worth the time.
    fn memory_bytes_per_s(&mut self, _plan: &Plan) -> Option<u64> {
        None
    }

    /// Binds the targets of an executed plan: judges and claims what is there, makes the `files`, or takes over those
    /// that the run made before. `begun`: steps of the run ended already, so that the files hold their data. Remarks for
    /// the user.
    ///
    /// # Errors
    /// [`TargetError`], before anything was written.
    fn bind(&mut self, plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<Message>, TargetError>;

    /// What must be before the first step: new files are laid out, the idle machine is sampled.
    ///
    /// # Errors
    /// [`SiteError`]; a stop is none.
    fn prepare(&mut self, plan: &Plan, control: &mut SiteControl<'_>) -> Result<(), SiteError>;

    /// Is told what probably comes next, in its order, before each step: a site may begin with it. It may come otherwise, or
    /// not at all.
    fn expect(&mut self, _coming: &mut dyn Iterator<Item = Step>) {}

    /// Runs a step of the plan under the settings that it wants.
    ///
    /// # Errors
    /// The outer one: a setting could not be put back, and the run must not go on. The inner one: the step yields no
    /// record.
    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError>;

    /// Runs streams of the plan at once. A record or a failure for each, in their order.
    ///
    /// # Errors
    /// As [`Site::run`].
    fn run_streams(
        &mut self,
        streams: &[Step],
        _control: &mut SiteControl<'_>,
    ) -> Result<Vec<Result<StepRecord, StepFailure>>, SettingError> {
        let refused = |step: &Step| {
            Err(StepFailure::Refused {
                what: Message::verbatim(step.label.clone()),
                why: msg!("step-streams-simulated"),
                help: msg!("step-streams-simulated-help"),
            })
        };
        Ok(streams.iter().map(refused).collect())
    }

    /// Takes note of a step that ended before this process took over.
    ///
    /// # Errors
    /// The site cannot come into the state that the step left.
    fn recall(&mut self, step: &Step, record: &StepRecord, stop: &AtomicBool) -> Result<(), StepFailure>;

    /// Puts every setting back that steps changed.
    ///
    /// # Errors
    /// What could not be put back stays in the journal.
    fn restore(&mut self) -> Result<(), SettingError>;

    /// Leaves the files that were made in place when the site goes, for the run to go on with.
    fn keep_files(&mut self);

    /// Gives everything back: files that are not kept are removed. Their marks.
    fn release(&mut self) -> Vec<FileMark>;

    /// What time it is.
    fn now(&self) -> Moment;

    /// Whether steps take as long as they measure; in virtual time they do not, and a budget of time says nothing.
    fn is_in_real_time(&self) -> bool;

    /// Whether steps end as soon as their figures are known, however long they were to run at least.
    fn ends_when_known(&self) -> bool {
        false
    }
}

/// What a site is given besides what to do.
pub(crate) struct SiteControl<'a> {
    /// Set when the user wants to stop.
    pub(crate) stop: &'a AtomicBool,
    /// Called a few times a second.
    pub(crate) on_progress: &'a mut dyn FnMut(&Progress),
    /// Longest time that making files for a step may take; `None`: as long as it takes.
    pub(crate) making_within: Option<Duration>,
}

impl<'a> SiteControl<'a> {
    /// Without a limit of time.
    pub(crate) fn new(stop: &'a AtomicBool, on_progress: &'a mut dyn FnMut(&Progress)) -> SiteControl<'a> {
        SiteControl { stop, on_progress, making_within: None }
    }

    /// Whether the user wants to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Why a site could not get ready for the first step.
#[derive(Debug)]
pub(crate) enum SiteError {
    /// A new file could not be filled.
    LayOut(LayOutError),
    /// The machine cannot be sampled.
    Probe(ProbeError),
}
