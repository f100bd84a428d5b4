//! `fathom fio` with jobs that run at the same time: CPU time of each job, and their shares of the drives.

use crate::cli::Place;
use crate::fio_order::fathom;
use serde_json::Value;

#[test]
fn jobs_that_run_at_once_have_their_own_cpu_time_and_share_the_drives() {
    let place = Place::new();
    let words = "fio --size=8m --bs=4k --runtime=1 --time_based --ioengine=psync --rw=randread --direct=1 \
                 --output-format=json --name=a --name=b --rw=randwrite";
    let run = place.run(words);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let result: Value = serde_json::from_str(&run.out).expect("JSON");
    for job in result["jobs"].as_array().expect("jobs") {
        let share = job["usr_cpu"].as_f64().unwrap_or(0.0) + job["sys_cpu"].as_f64().unwrap_or(0.0);
        assert!(share > 0.0 && share <= 105.0, "{} took {share} %", job["jobname"]);
    }
    // The kernel's counts are those of both, once.
    let disks = result["disk_util"].as_array().expect("drives");
    let ios = |disk: &Value| disk["read_ios"].as_u64().unwrap_or(0) + disk["write_ios"].as_u64().unwrap_or(0);
    let counted: u64 = disks.iter().map(ios).sum();
    let done: u64 = (0..2)
        .map(|at| &result["jobs"][at])
        .map(|job| job["read"]["total_ios"].as_u64().unwrap_or(0) + job["write"]["total_ios"].as_u64().unwrap_or(0))
        .sum();
    assert!(disks.is_empty() || counted < done + done / 2 + 1000, "{counted} of {done}");
}

#[test]
fn jobs_with_flow_keep_their_ratio() {
    let place = Place::new();
    let job = "[global]\nsize=8m\nbs=4k\ntime_based\nruntime=2\nfilename=f\nnorandommap\nrw=randread\n[one]\nflow=1\n[eight]\nflow=8\n";
    let result = fathom(&place, job);
    let ios = |at: usize| result["jobs"][at]["read"]["total_ios"].as_u64().expect("reads") as f64;
    let ratio = ios(1) / ios(0);
    assert!((7.0..9.0).contains(&ratio), "{ratio}");
}
