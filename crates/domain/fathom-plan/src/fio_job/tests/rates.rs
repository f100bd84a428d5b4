//! Rates of jobs, per job and direction in fio.

use super::*;
use crate::{OpRates, RateProcess};

fn load(lines: &str) -> crate::Load {
    plan(&format!("[a]\nfilename=f\nsize=1m\n{lines}")).steps[0].load
}

/// Reads and writes per second.
fn rates(lines: &str) -> Option<(Option<f64>, Option<f64>)> {
    let rates: Option<OpRates> = load(lines).op_rates;
    rates.map(|rates| (rates.read_iops, rates.write_iops))
}

#[test]
fn a_rate_is_summed_over_jobs() {
    assert_eq!(load("numjobs=2\nrw=randwrite\nrate_iops=500\n").rate.map(|rate| rate.iops), Some(1000.0));
    let mixed = load("numjobs=2\nrw=randrw\nrate_iops=700,300\nrate_process=poisson\n").rate.expect("open loop");
    assert_eq!((mixed.iops, mixed.process), (2000.0, RateProcess::Poisson));
    assert_eq!(rates("numjobs=2\nrw=randrw\nrate_iops=700,300\n"), Some((Some(1400.0), Some(600.0))));
}

#[test]
fn each_direction_has_its_own_rate_whatever_the_mix_is() {
    // As fio 3.33 runs these jobs.
    assert_eq!(rates("rw=randrw\nrate=4m,1m\n"), Some((Some(1024.0), Some(256.0))));
    assert_eq!(rates("rw=randrw\nrate=,2m\n"), Some((None, Some(512.0))));
    assert!(load("rw=randrw\nrate=,2m\n").rate.is_none(), "reads are a closed loop");
    assert_eq!(rates("rw=randrw\nrwmixread=10\nrate_iops=3000,1000\n"), Some((Some(3000.0), Some(1000.0))));
    assert_eq!(rates("rw=randrw:8\nrate_iops=500\n"), Some((Some(500.0), Some(500.0))));
    assert_eq!(rates("rw=randrw\nrate=4m,\n"), Some((Some(1024.0), None)), "an empty rate is no limit");
    assert_eq!(rates("rw=randrw\nrate=0,2m\n"), Some((None, Some(512.0))));
}

#[test]
fn a_rate_in_bytes_is_divided_by_the_sizes_of_its_direction() {
    assert_eq!(rates("rw=randrw\nbs=2k,1k\nrate=1m\n"), Some((Some(512.0), Some(1024.0))));
    assert_eq!(rates("rw=randrw\nbssplit=4k/50:12k/50,8k/100\nrate=8m\n"), Some((Some(1024.0), Some(1024.0))));
    // Sizes of 1k, 2k, 3k and 4k, each as often as the others.
    assert_eq!(load("rw=randread\nbsrange=1k-4k\nrate=5m\n").rate.map(|rate| rate.iops), Some(2048.0));
}

#[test]
fn a_direction_that_the_job_lacks_has_no_rate() {
    assert_eq!(load("rw=randread\nrate=,2m\n").rate, None);
    assert_eq!(load("rw=randrw\nrate=0\n").rate, None);
    let reads = load("rw=randrw\nrwmixread=100\nrate=4m,1m\n");
    assert_eq!((reads.rate.map(|rate| rate.iops), reads.op_rates), (Some(1024.0), None));
    // fio 3.33 keeps the rate of the writes, and trims as often.
    assert_eq!(load("rw=trimwrite\nrate_iops=10,100,50\n").rate.map(|rate| rate.iops), Some(200.0));
}

#[test]
fn what_is_no_rate_is_refused() {
    assert_snapshot!(line_error("rw=randrw\nrate_iops=fast"), @r"
    error: rate_iops: this is not a rate
      job.fio:5:11
    5 | rate_iops=fast
      |           ^^^^ e.g. rate_iops=1000, or rate_iops=700,300 for reads and writes
    ");
}
