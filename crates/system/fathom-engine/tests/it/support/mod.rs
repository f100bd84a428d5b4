//! What the tests of the engine have in common: a step, its targets bound as a run binds them, and its run.
#![allow(dead_code)]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions};
use fathom_host::{Binding, Bindings, Permit, Refusal, Root};
use fathom_nvme::driver::fake::{BLOCK_BYTES, Behaviour, Data, FakeDrive};
use fathom_nvme::driver::{DrivenNamespace, Driver};
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, Load, OpMix, Pattern, Phase, Placement, Region,
    RunLength, Step, TargetId, Workload,
};
use fathom_record::{RunControl, Runner as _, StepFailure, StepRecord};

pub(crate) mod devices;

pub(crate) const BLOCK: u64 = 4096;

/// A file of zeros in the build's own directory: that one lies on a disk, where O_DIRECT works.
pub(crate) struct Bench {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Bench {
    pub(crate) fn new(size_bytes: u64) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        let path = dir.path().join("target");
        let file = File::create(&path).expect("a file");
        // Real zeros: holes are read without the disk.
        file.write_all_at(&vec![0; size_bytes as usize], 0).expect("room for the file");
        file.sync_all().expect("a disk that works");
        Bench { _dir: dir, path }
    }

    pub(crate) fn step(&self, engine: EngineName) -> Step {
        let mut step = step_on(&self.path, engine);
        step.workload.direct = direct_works(&self.path);
        step
    }

    pub(crate) fn block(&self, index: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        File::open(&self.path).and_then(|f| f.read_exact_at(&mut block, index * BLOCK)).expect("a readable block");
        block
    }
}

pub(crate) fn direct_works(path: &Path) -> bool {
    let mut step = step_on(path, EngineName::Psync);
    step.length.passes = Some(1);
    !matches!(run(&step), Err(StepFailure::Refused { .. }))
}

/// Random 4k reads by one thread, eight in flight, for a minute at most.
pub(crate) fn step_on(path: &Path, engine: EngineName) -> Step {
    Step {
        index: 0,
        label: "test".to_owned(),
        phase: Phase::Measure,
        group: "A".to_owned(),
        targets: vec![TargetId::new(path.to_string_lossy().into_owned())],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: BLOCK as u32, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load::closed(1, 8),
        engine: EngineSpec { name: engine, ..EngineSpec::default() },
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length: RunLength::fixed(0, 60_000_000_000),
        seed: 17,
        role: fathom_plan::Role::default(),
    }
}

/// The step's targets as they are now; a test may write to its own files.
pub(crate) fn bindings(step: &Step) -> Result<Bindings, Refusal> {
    let permit = Permit { overwrite: true, ..Permit::NOTHING };
    let writes = step.workload.mix.is_destructive();
    let named = step.targets.iter().filter(|id| !id.is_null());
    let bind = |id: &TargetId| {
        let binding = Binding::existing(&Root::live(), id.clone(), Path::new(id.as_str()), writes, &permit)?;
        Ok(if step.engine.name == EngineName::Nvme { on_fake_drive(&binding) } else { binding })
    };
    named.map(bind).collect()
}

/// The same blocks behind a controller in memory.
fn on_fake_drive(file: &Binding) -> Binding {
    let data = File::options().read(true).write(true).open(file.path()).expect("the test's own file");
    let blocks = data.metadata().expect("a file").len() / BLOCK_BYTES as u64;
    let drive = FakeDrive::by_itself(Behaviour { blocks, data: Data::File(Arc::new(data)), ..Behaviour::default() });
    let driver = Driver::start(drive).expect("a sound controller");
    file.in_user_space(DrivenNamespace::of(driver, 1).expect("a namespace"))
}

/// A runner for the step's targets.
pub(crate) fn runner(step: &Step, probe: Option<Box<dyn HostProbe>>) -> HostRunner {
    let bindings = bindings(step).expect("the test's own file");
    HostRunner::new(HostRunnerOptions { bindings, probe, ..HostRunnerOptions::default() })
}

pub(crate) fn run(step: &Step) -> Result<StepRecord, StepFailure> {
    run_by(&mut runner(step, None), step)
}

pub(crate) fn run_by(runner: &mut HostRunner, step: &Step) -> Result<StepRecord, StepFailure> {
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    runner.run(step, &mut control)
}
