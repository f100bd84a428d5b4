//! Jobs that replay a trace.

use fathom_trace::TraceSummary;

use super::*;
use crate::{OpMix, RateProcess, ReplayError, Spread};

fn plan_of(text: &str) -> Plan {
    parse_fio_job(text, "job.fio", &env).unwrap_or_else(|e| panic!("{e}"))
}

fn found() -> TraceSummary {
    TraceSummary {
        files: vec!["/a".to_owned(), "/b".to_owned()],
        ends_bytes: vec![8192, 1 << 20],
        reads: 30,
        writes: 10,
        trims: 0,
        syncs: 2,
        longest_bytes: 16384,
        aligned_bytes: 4096,
        duration_ns: 2_000_000_000,
    }
}

#[test]
fn a_step_is_what_its_trace_asks_for() {
    let mut step =
        plan_of("[r]\nread_iolog=/t/log\nioengine=libaio\niodepth=8\nreplay_time_scale=200\n").steps.remove(0);
    assert!(step.targets.is_empty(), "no file is made before the trace is read");
    step.set_replay(&found(), false).expect("a load");
    assert_eq!(paths(&step), ["/a", "/b"]);
    assert_eq!(step.workload.mix, OpMix { read_pct: 75, write_pct: 25, trim_pct: 0 });
    assert_eq!((step.workload.region.size_bytes, step.workload.block_bytes_max()), (Some(1 << 20), 16384));
    let rate = step.load.rate.expect("recorded times");
    assert_eq!((rate.iops, rate.process), (40.0, RateProcess::Recorded));
    assert_eq!((step.load.spread, step.workers(), step.length.passes), (Spread::AllTargets, 1, Some(1)));
    assert_eq!(step.label, "<=16k replay of log at 200% 75/25 T1 on all 2 QD8");
}

#[test]
fn all_of_a_trace_goes_to_one_target_or_each_file_to_its_own() {
    let set = |job: &str, names_devices: bool| {
        let mut step = plan_of(job).steps.remove(0);
        step.set_replay(&found(), names_devices).map(|_| {
            let redirected = step.workload.order.replay.as_ref().is_some_and(|r| r.is_redirected);
            (paths(&step).iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(), redirected)
        })
    };
    let one = (vec!["/dev/x".to_owned()], true);
    assert_eq!(set("[r]\nread_iolog=log\nreplay_redirect=/dev/x\n", true), Ok(one.clone()));
    assert_eq!(set("[r]\nread_iolog=log\nfilename=/dev/x\n", true), Ok(one));
    let each = (vec!["/x".to_owned(), "/y".to_owned()], false);
    assert_eq!(set("[r]\nread_iolog=log\nfilename=/x:/y\n", true), Ok(each));
    let three = set("[r]\nread_iolog=log\nfilename=/x:/y:/z\n", false);
    assert_eq!(three, Err(ReplayError::Targets { named: 3, files: 2 }));
    // A number of a device is no name: today it may be another drive's.
    assert!(matches!(set("[r]\nread_iolog=log\n", true), Err(ReplayError::NoTarget { .. })));
}

#[test]
fn what_cannot_be_replayed_as_it_is_asked_for_is_refused() {
    let set = |job: &str, found: &TraceSummary| plan_of(job).steps.remove(0).set_replay(found, false).map(|_| ());
    let odd = TraceSummary { aligned_bytes: 100, ..found() };
    assert_eq!(set("[r]\nread_iolog=log\ndirect=1\n", &odd), Err(ReplayError::Unaligned { bytes: 100 }));
    assert_eq!(set("[r]\nread_iolog=log\n", &odd), Ok(()));
    assert_eq!(set("[r]\nread_iolog=log\n", &TraceSummary::default()), Err(ReplayError::Empty));
    for job in [
        "[r]\nread_iolog=log\nnumjobs=2\n",
        "[r]\nread_iolog=a:b\n",
        "[r]\nread_iolog=-\n",
        "[r]\nread_iolog=log\nrate_iops=100\n",
        "[r]\nread_iolog=log\nreplay_time_scale=0\n",
        "[r]\nreplay_no_stall\nsize=1m\n",
        "[r]\nsize=1m\nwrite_iolog=\n",
    ] {
        assert!(parse_fio_job(job, "job.fio", &env).is_err(), "{job}");
    }
}

#[test]
fn a_replay_is_written_back_in_fios_words() {
    for job in [
        "[r]\nread_iolog=/t/log\niodepth=4\nioengine=libaio\nreplay_redirect=/dev/x\nreplay_no_stall=1\n",
        "[r]\nread_iolog=/t/log\nfilename=/x:/y\nreplay_time_scale=50\n",
    ] {
        let mut plan = plan_of(job);
        plan.steps[0].set_replay(&found(), false).expect("a load");
        let written = fio_job_text(&plan.steps, &|message| format!("{message:?}"));
        let mut again = plan_of(&written);
        again.steps[0].set_replay(&found(), false).expect("a load");
        let (first, second) = (&plan.steps[0], &again.steps[0]);
        assert_eq!(
            (&first.workload, &first.load, &first.targets),
            (&second.workload, &second.load, &second.targets),
            "{written}"
        );
    }
}
