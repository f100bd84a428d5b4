//! Against a script that takes the options of `spdk_nvme_perf` and prints what it prints (`stand_in.sh`): SPDK itself is in no
//! package, and was not run.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_host::{HostSampler, Root};
use fathom_plan::{EngineName, Overrides, parse_study, with_spdk_beside};
use fathom_record::Latency;

use super::*;

const ADDRESS: &str = "0000:21:00.0";

fn step(load: &str) -> Step {
    let study = format!(
        "[study]\nname = 'x'\nquestion = 'x'\n[defaults]\nruntime = '1s'\nprecondition = 'none'\n[[ladder]]\nengine = 'nvme'\n{load}"
    );
    let overrides = Overrides { targets: vec![ADDRESS.to_owned()], may_unbind: true, ..Overrides::default() };
    let plan = with_spdk_beside(&parse_study(&study, "x.toml", &overrides).expect("a plan"));
    plan.steps.into_iter().find(|step| step.engine.name == EngineName::Spdk).expect("a twin")
}

fn stand_in() -> Command {
    let mut command = Command::new("sh");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spdk/run/stand_in.sh"));
    command
}

/// What becomes of a call with these variables, which has so long after its time and after a request to end.
fn ran(
    step: &Step,
    cpus: &[u32],
    variables: &[(&str, &str)],
    seconds: u64,
    stop: &AtomicBool,
) -> Result<StepRecord, StepFailure> {
    let mut command = stand_in();
    command.args(arguments(step, ADDRESS, 1, cpus)).envs(variables.iter().copied());
    // What hangs is waited for in vain; what ends may take its time on a busy host.
    let hangs = variables.iter().any(|(name, _)| *name == "STAND_IN_HANGS");
    let call = Call {
        sampler: HostSampler::new(&Root::live(), Vec::new()).expect("counters"),
        warm_up: Duration::ZERO,
        deadline: Some(Duration::from_secs(seconds)),
        stop_grace: Duration::from_millis(if hangs { 300 } else { 60_000 }),
    };
    let mut on_progress = |progress: &Progress| assert!(progress.activity.is_some(), "a rate that nobody said");
    let mut control = RunControl { stop, on_progress: &mut on_progress, precise_enough: &|_, _| false };
    watched(call, command, step, ADDRESS, cpus, &mut control)
}

fn ended() -> Ended {
    let status = std::process::ExitStatus::default();
    Ended { status, is_stopped: false, is_late: false, stderr: String::new(), host: None }
}

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn a_step_is_told_in_the_words_of_spdk_nvme_perf() {
    let mut reads = step("rw = 'randread'\nbs = '8k'\niodepth = 16\nnumjobs = 2\n");
    let words = arguments(&reads, ADDRESS, 1, &[0, 2]).join(" ");
    assert_eq!(words, "-q 16 -o 8192 -w randread -t 1 -c 0x5 -r trtype:PCIe traddr:0000:21:00.0 ns:1 -LL");
    // Its time is in whole seconds, and never none.
    for (ns, seconds) in [(1, 1), (1_000_000_000, 1), (2_280_000_000, 3)] {
        reads.length.budget_ns = ns;
        assert_eq!(super::seconds(&reads), seconds);
    }
    assert!(arguments(&step("rw = 'write'\nbs = '128k'\n"), ADDRESS, 3, &[7]).contains(&"write".to_owned()));
    let masks =
        [(&[0][..], "0x1"), (&[1, 6], "0x42"), (&[63], "0x8000000000000000"), (&[64, 3], "0x10000000000000008")];
    for (cpus, mask) in masks {
        assert_eq!(core_mask(cpus), mask);
    }
}

#[test]
fn what_it_measured_is_a_record_with_each_latency() {
    let step = step("rw = 'randread'\niodepth = 4\nnumjobs = 2\n");
    let record = ran(&step, &[0, 2], &[], 60, &never()).unwrap_or_else(|e| panic!("{e:?}"));
    let [reads] = &record.directions[..] else { panic!("reads alone") };
    assert_eq!((reads.op, reads.ios, reads.bytes), (Op::Read, 80_852, 80_852 * 4096));
    assert_eq!(record.runtime_ns, 1_000_000_000);
    let Latency::Samples(lat) = &reads.lat else { panic!("each I/O") };
    assert_eq!((lat.count(), lat.min_ns(), lat.max_ns()), (80_852, Some(60_160), Some(512_500)));
    let median = lat.quantile(0.5).expect("enough");
    assert!((71_000..72_000).contains(&median), "{median}");
    assert!(record.host.is_some(), "it ran under the sampler");
    let said: Vec<&str> = record
        .warnings
        .iter()
        .filter_map(|w| match w {
            Warning::Note { text } => Some(text.id()),
            _ => None,
        })
        .collect();
    assert!(said.contains(&"spdk-run-by"), "{said:?}");
    let writes = super::tests::step("rw = 'randwrite'\n");
    let record = ran(&writes, &[1], &[], 60, &never()).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(record.directions[0].op, Op::Write);
}

#[test]
fn ctrl_c_ends_it_with_the_figures_so_far() {
    let mut step = step("rw = 'randread'\n");
    step.length.budget_ns = 600_000_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let stop = never();
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !std::fs::read_to_string(&log).unwrap_or_default().contains("running") {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::SeqCst);
        });
        ran(&step, &[0], &[("STAND_IN_LOG", &log.display().to_string())], 660, &stop)
    });
    let record = record.unwrap_or_else(|e| panic!("{e:?}"));
    assert!(record.warnings.contains(&Warning::Interrupted) && record.ios() > 0, "{:?}", record.warnings);
    assert!(record.runtime_ns < 600_000_000_000, "{}", record.runtime_ns);
    // Before it has figures there are none.
    let ended = Ended { is_stopped: true, ..ended() };
    let failure =
        super::record(&step, ADDRESS, &[0], "Initializing NVMe Controllers\n", &ended).expect_err("no figures");
    assert!(matches!(&failure, StepFailure::Failed { why, .. } if why.id() == "spdk-run-stopped"), "{failure:?}");
}

#[test]
fn one_that_hangs_is_ended() {
    let step = step("rw = 'randread'\n");
    let failure = ran(&step, &[0], &[("STAND_IN_HANGS", "1")], 1, &never()).expect_err("ended");
    let StepFailure::Failed { why, .. } = failure else { panic!("{failure:?}") };
    assert_eq!(why.id(), "spdk-run-late");
}

#[test]
fn what_it_cannot_do_is_said_in_its_words() {
    let step = step("rw = 'randread'\n");
    let why = |variables: &[(&str, &str)]| match ran(&step, &[0], variables, 60, &never()) {
        Err(StepFailure::Failed { why, help, .. }) => (why, help),
        other => panic!("{other:?}"),
    };
    let (old, help) = why(&[("STAND_IN_OLD", "1")]);
    assert_eq!((old.id(), help.id()), ("spdk-run-failed", "spdk-run-failed-help"));
    assert!(fathom_language::english(&old).contains("invalid option -- 'L'"), "{}", fathom_language::english(&old));
    let (gone, _) = why(&[("STAND_IN_DRIVE", "1")]);
    assert_eq!(gone.id(), "spdk-run-failed");
}

#[test]
fn commands_that_failed_are_counted() {
    let record = ran(&step("rw = 'randread'\n"), &[0], &[("STAND_IN_FAILS", "1")], 60, &never());
    let record = record.unwrap_or_else(|e| panic!("{e:?}"));
    assert!(record.warnings.contains(&Warning::IoErrors { count: 1, errno: 0 }), "{:?}", record.warnings);
}

#[test]
fn figures_of_another_load_are_no_result() {
    let step = step("rw = 'randread'\nnumjobs = 2\n");
    let text = |cpus: &[u32]| {
        let output = stand_in().args(arguments(&step, ADDRESS, 1, cpus)).output().expect("sh");
        String::from_utf8(output.stdout).expect("text")
    };
    let id = |text: &str| match record(&step, ADDRESS, &[0, 1], text, &ended()) {
        Err(StepFailure::Failed { why, .. }) => why.id().to_owned(),
        other => panic!("{other:?}"),
    };
    let good = text(&[0, 1]);
    record(&step, ADDRESS, &[0, 1], &good, &ended()).expect("its own");
    assert_eq!(id(&good.replace("21:00.0", "22:00.0")), "spdk-run-other-load");
    assert_eq!(id(&text(&[0, 1, 2])), "spdk-run-other-load");
    let mut large = step.clone();
    large.workload.block_sizes[0].bytes = 8192;
    let failure = record(&large, ADDRESS, &[0, 1], &good, &ended()).expect_err("blocks of another size");
    assert!(
        matches!(&failure, StepFailure::Failed { why, .. } if why.id() == "import-spdk-other-command"),
        "{failure:?}"
    );
    // Without the histogram it is not known for how long it ran.
    let cut = good.split("Latency histogram").next().expect("a start");
    assert_eq!(id(cut), "spdk-run-no-table");
    assert_eq!(id(""), "spdk-run-failed");
}
