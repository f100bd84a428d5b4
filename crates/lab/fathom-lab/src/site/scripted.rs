//! A site that does what a script says, so that the conductor is tested without files, devices or clocks.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fathom_host::settings::SettingError;
use fathom_host::{FileMark, ProbeError};
use fathom_message::{Message, msg};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::{IoFailure, Progress, StepFailure, StepRecord, Warning};
use fathom_store::MadeFile;

use super::{DrivesToday, LayOutError, Looked, Moment, Permission, Site, SiteControl, SiteError, TargetError};

/// What a step does. Each takes as long as the step is long, unless it says otherwise.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Measures so many I/Os in each second.
    Measure(u64),
    /// The same, in a record changed by hand.
    MeasureAnd(u64, fn(&mut StepRecord)),
    /// The same, and ends once its figure is known: after a second.
    Early(u64),
    /// Takes as long again as it measures.
    Overrun(u64),
    /// Is refused.
    Refuse,
    /// Begins and fails.
    Fail,
    /// The user stops in its middle.
    StopDuring(u64),
    /// The user stops at its end: the record is whole.
    StopAfter(u64),
    /// A setting cannot be put back.
    LoseSetting,
}

/// What was asked of the site, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Tidy,
    Look,
    HostJson,
    Bind { begun: bool, files: usize },
    Prepare,
    Run(u32, u64),
    Recall(u32),
    Restore,
    KeepFiles,
    Release,
}

/// The site. Made with [`ScriptedSite::new`] and changed by its fields.
pub(crate) struct ScriptedSite {
    /// For the next steps; when it is empty each step measures 1,000 I/Os a second.
    pub(crate) acts: VecDeque<Act>,
    /// Asked so far.
    pub(crate) calls: Vec<Call>,
    /// Why looking fails.
    pub(crate) look: Option<TargetError>,
    /// Why binding fails.
    pub(crate) bind: Option<TargetError>,
    /// Why the machine cannot be looked at.
    pub(crate) host: Option<ProbeError>,
    /// Why preparing fails.
    pub(crate) prepare: Option<SiteError>,
    /// Whether the user stops while it prepares.
    pub(crate) stop_in_prepare: bool,
    /// Whether earlier steps cannot be taken note of.
    pub(crate) cannot_recall: bool,
    /// Whether settings cannot be put back at the end.
    pub(crate) cannot_restore: bool,
    /// Files that it makes.
    pub(crate) files: Vec<MadeFile>,
    /// Where drives are that changed their names.
    pub(crate) today: DrivesToday,
    /// Marks that tidying removes.
    pub(crate) tidied: Vec<FileMark>,
    /// Whether time passes.
    pub(crate) is_in_real_time: bool,
    permission: Permission,
    elapsed: Duration,
}

impl ScriptedSite {
    pub(crate) fn new(acts: impl IntoIterator<Item = Act>) -> ScriptedSite {
        ScriptedSite {
            acts: acts.into_iter().collect(),
            calls: Vec::new(),
            look: None,
            bind: None,
            host: None,
            prepare: None,
            stop_in_prepare: false,
            cannot_recall: false,
            cannot_restore: false,
            files: Vec::new(),
            today: DrivesToday::default(),
            tidied: Vec::new(),
            is_in_real_time: true,
            permission: Permission::default(),
            elapsed: Duration::ZERO,
        }
    }

    /// With a file of its own, which is made for a target.
    pub(crate) fn with_file(mut self, target: &str, path: PathBuf, is_kept: bool) -> ScriptedSite {
        let mark = FileMark::new().expect("random bits");
        self.files.push(MadeFile { target: TargetId::new(target), path, bytes: 1 << 20, mark, is_kept });
        self.permission.keep_files |= is_kept;
        self
    }

    /// Indexes of the steps that were run, in order.
    pub(crate) fn ran(&self) -> Vec<u32> {
        let index = |call: &Call| if let Call::Run(index, _) = call { Some(*index) } else { None };
        self.calls.iter().filter_map(index).collect()
    }
}

fn setting_lost() -> SettingError {
    SettingError::Journal { path: PathBuf::from("journal"), source: std::io::ErrorKind::StorageFull.into() }
}

impl Site for ScriptedSite {
    fn tidy(&mut self, _plan: &Plan) -> Vec<(Option<FileMark>, Message)> {
        self.calls.push(Call::Tidy);
        let path = "left behind";
        self.tidied.iter().map(|mark| (Some(*mark), msg!("target-leftover-removed", path = path))).collect()
    }

    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError> {
        self.calls.push(Call::Look);
        self.look.take().map_or_else(|| Ok(Looked { plan: plan.clone(), files: self.files.clone() }), Err)
    }

    fn to_make_again(&mut self, _plan: &Plan, files: &[MadeFile], _begun: bool) -> Result<Vec<MadeFile>, TargetError> {
        let is_known = |file: &&MadeFile| files.iter().any(|f| f.target == file.target);
        Ok(self.files.iter().filter(|file| !is_known(file)).cloned().collect())
    }

    fn drives_today(&self) -> DrivesToday {
        self.today.clone()
    }

    fn host_json(&mut self, _plan: &Plan) -> Result<String, ProbeError> {
        self.calls.push(Call::HostJson);
        self.host.take().map_or_else(|| Ok("{}".to_owned()), Err)
    }

    fn bind(&mut self, _plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<Message>, TargetError> {
        self.calls.push(Call::Bind { begun, files: files.len() });
        self.files = files.to_vec();
        self.bind.take().map_or_else(|| Ok(vec![msg!("target-overwritten", path = "a file")]), Err)
    }

    fn prepare(&mut self, _plan: &Plan, control: &mut SiteControl<'_>) -> Result<(), SiteError> {
        self.calls.push(Call::Prepare);
        if self.stop_in_prepare {
            control.stop.store(true, Ordering::Relaxed);
        }
        self.prepare.take().map_or(Ok(()), Err)
    }

    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError> {
        self.calls.push(Call::Run(step.index, step.length.budget_ns));
        let act = self.acts.pop_front().unwrap_or(Act::Measure(1_000));
        let seconds = (step.length.budget_ns / 1_000_000_000).max(1);
        let of = |rate: u64, seconds: u64| {
            let mut record = crate::samples::record(&vec![rate; seconds as usize]);
            record.runtime_ns = step.length.budget_ns.min(record.runtime_ns);
            record
        };
        let mut took = Duration::from_nanos(step.length.ramp_ns + step.length.budget_ns);
        let progress = Progress {
            elapsed_ns: 0,
            remaining_ns: step.length.budget_ns,
            iops: 0.0,
            bytes_per_s: 0.0,
            bytes_done: 0,
            p99_ns: None,
            activity: None,
        };
        (control.on_progress)(&progress);
        let result = match act {
            Act::Measure(rate) => Ok(of(rate, seconds)),
            Act::MeasureAnd(rate, change) => {
                let mut record = of(rate, seconds);
                change(&mut record);
                Ok(record)
            }
            Act::Early(rate) => {
                took = Duration::from_secs(1);
                Ok(of(rate, 1))
            }
            Act::Overrun(rate) => {
                took *= 2;
                Ok(of(rate, seconds))
            }
            Act::Refuse => {
                took = Duration::ZERO;
                let what = Message::verbatim(step.label.clone());
                Err(StepFailure::Refused { what, why: msg!("open-changed-help"), help: msg!("target-io-help") })
            }
            Act::Fail => {
                let error = std::io::Error::from_raw_os_error(5);
                let what = Message::verbatim(step.label.clone());
                Err(StepFailure::failed(what, &error, msg!("target-io-help")))
            }
            Act::StopDuring(rate) => {
                took /= 2;
                control.stop.store(true, Ordering::Relaxed);
                let mut record = of(rate, 1);
                record.warnings.push(Warning::Interrupted);
                Ok(record)
            }
            Act::StopAfter(rate) => {
                control.stop.store(true, Ordering::Relaxed);
                Ok(of(rate, seconds))
            }
            Act::LoseSetting => return Err(setting_lost()),
        };
        self.elapsed += took;
        Ok(result)
    }

    fn run_streams(
        &mut self,
        streams: &[Step],
        control: &mut SiteControl<'_>,
    ) -> Result<Vec<Result<StepRecord, StepFailure>>, SettingError> {
        let (begun, mut ended) = (self.elapsed, self.elapsed);
        let mut results = Vec::new();
        for stream in streams {
            self.elapsed = begun;
            results.push(self.run(stream, control)?);
            ended = ended.max(self.elapsed);
        }
        self.elapsed = ended;
        Ok(results)
    }

    fn recall(&mut self, step: &Step, _record: &StepRecord, _stop: &AtomicBool) -> Result<(), StepFailure> {
        self.calls.push(Call::Recall(step.index));
        match self.cannot_recall {
            false => Ok(()),
            true => Err(StepFailure::Refused {
                what: Message::verbatim(step.label.clone()),
                why: msg!("drive-serial-not-here"),
                help: Message::verbatim(""),
            }),
        }
    }

    fn restore(&mut self) -> Result<(), SettingError> {
        self.calls.push(Call::Restore);
        if self.cannot_restore { Err(setting_lost()) } else { Ok(()) }
    }

    fn keep_files(&mut self) {
        self.calls.push(Call::KeepFiles);
        self.permission.keep_files = true;
    }

    fn release(&mut self) -> Vec<FileMark> {
        self.calls.push(Call::Release);
        if self.permission.keep_files { Vec::new() } else { self.files.iter().map(|f| f.mark).collect() }
    }

    fn now(&self) -> Moment {
        Moment { unix_ns: self.elapsed.as_nanos() as u64 + 1, elapsed: self.elapsed }
    }

    fn is_in_real_time(&self) -> bool {
        self.is_in_real_time
    }
}

/// Why laying out fails.
pub(crate) fn cannot_lay_out() -> SiteError {
    let (path, why, help) = ("file".to_owned(), Message::verbatim("no space"), msg!("layout-no-space-help"));
    SiteError::LayOut(LayOutError { path, why, help })
}

/// I/Os that failed.
pub(crate) fn with_io_errors(record: &mut StepRecord) {
    record.failures.push(IoFailure {
        op: fathom_plan::Op::Read,
        errno: 5,
        drive_status: None,
        count: 3,
        first_offset_bytes: 0,
    });
}
