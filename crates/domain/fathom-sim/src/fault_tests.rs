//! Each fault changes what it should, and leaves the rest.

use fathom_plan::OpMix;
use fathom_record::StepRecord;

use crate::machine::{EngineCosts, Fault, FaultKind, Link, Machine, Service};
use crate::testing::{US, bare_device, host, iops, machine, mean_us, nand_device, run, step};

const MS: u64 = 1_000_000;
const MS_PS: u64 = 1_000 * US;

/// The machine with a fault on its first drive, from the beginning to the end.
fn with(m: &Machine, kind: FaultKind) -> Machine {
    let mut m = m.clone();
    m.faults = vec![Fault { kind, drive: Some("d0".to_owned()), from_ps: 0, until_ps: u64::MAX }];
    m
}

fn record(m: &Machine, threads: u32, depth: u32) -> StepRecord {
    run(m, &step("d0", threads, depth, 200 * MS)).unwrap().0
}

fn quantile_us(record: &StepRecord, q: f64) -> f64 {
    record.lat_merged().unwrap().quantile(q).unwrap() as f64 / 1e3
}

fn flash(drives: usize) -> Machine {
    machine(host(1, 8, 1), &nand_device(), drives)
}

#[test]
fn a_throttled_drive_gives_its_share_and_its_neighbour_all() {
    let well = flash(2);
    let hot = with(&well, FaultKind::Throttle { speed_pct: 40 });
    let ratio = |part| iops(&hot, &step(part, 4, 64, 200 * MS)) / iops(&well, &step(part, 4, 64, 200 * MS));
    assert!((ratio("d0") - 0.4).abs() < 0.01, "{}", ratio("d0"));
    assert_eq!(ratio("d1"), 1.0);
}

#[test]
fn a_throttle_begins_and_ends_when_it_says() {
    let mut m = with(&flash(1), FaultKind::Throttle { speed_pct: 50 });
    (m.faults[0].from_ps, m.faults[0].until_ps) = (300 * MS_PS, 600 * MS_PS);
    let (record, _) = run(&m, &step("d0", 4, 64, 1_000 * MS)).unwrap();
    let rates: Vec<u64> = record.intervals.iter().map(|i| i.directions.iter().map(|d| d.ios).sum()).collect();
    let ratio = |n: usize| rates[n] as f64 / rates[1] as f64;
    assert_eq!(rates.len(), 10);
    assert!((ratio(4) - 0.5).abs() < 0.01 && (ratio(5) - 0.5).abs() < 0.01, "{rates:?}");
    assert!((ratio(2) - 1.0).abs() < 0.01 && (ratio(8) - 1.0).abs() < 0.01, "{rates:?}");
}

#[test]
fn a_drifting_drive_loses_its_share_per_minute() {
    let m = with(&flash(1), FaultKind::Drift { loss_pct: 60.0 });
    let (record, _) = run(&m, &step("d0", 4, 64, 20_000 * MS)).unwrap();
    let rates: Vec<u64> = record.intervals.iter().map(|i| i.directions.iter().map(|d| d.ios).sum()).collect();
    let tenth = rates.len() / 10;
    let sum = |part: &[u64]| part.iter().sum::<u64>() as f64;
    // 60 % a minute are 18 % over the 18 s between the middles of the first and last tenth.
    let left = sum(&rates[9 * tenth..10 * tenth]) / sum(&rates[..tenth]);
    assert!((left - 0.82).abs() < 0.02, "{left}");
}

#[test]
fn a_slow_die_is_met_by_its_share_of_the_reads_only() {
    let well = flash(1);
    let ill = with(&well, FaultKind::SlowDie { die: 3, factor: 20 });
    let (a, b) = (record(&well, 1, 1), record(&ill, 1, 1));
    // One read of 40 takes 20 times as long.
    assert!((quantile_us(&b, 0.5) / quantile_us(&a, 0.5) - 1.0).abs() < 0.02);
    let (p99, tr_us) = (quantile_us(&b, 0.99), 70.0);
    assert!(p99 > 15.0 * tr_us && p99 < 25.0 * tr_us, "{p99}");
    let added_us = 19.0 * tr_us / 40.0;
    assert!(((mean_us(&b) - mean_us(&a)) / added_us - 1.0).abs() < 0.15, "{} {}", mean_us(&a), mean_us(&b));
}

#[test]
fn a_storm_of_cleaning_shows_in_the_tail_and_not_in_the_median() {
    let storm = FaultKind::GcStorm { period_ps: 20 * MS_PS, length_ps: MS_PS, dies_pct: 50 };
    let (a, b) = (record(&flash(1), 1, 4), record(&with(&flash(1), storm), 1, 4));
    assert!((quantile_us(&b, 0.5) / quantile_us(&a, 0.5) - 1.0).abs() < 0.03);
    assert!(quantile_us(&b, 0.999) > 5.0 * quantile_us(&a, 0.999), "{}", quantile_us(&b, 0.999));
}

#[test]
fn a_link_trained_down_halves_what_the_link_bounds_and_nothing_else() {
    let mut m = machine(host(1, 16, 1), &bare_device(256, Service::fixed(10 * US)), 1);
    m.drives[0].link = Link::Pcie { generation: 4, lanes: 4, mps_bytes: 256 };
    let down = with(&m, FaultKind::LinkTrainedDown { generation: 4, lanes: 2 });
    let ratio = |t, q| iops(&down, &step("d0", t, q, 50 * MS)) / iops(&m, &step("d0", t, q, 50 * MS));
    assert!((ratio(8, 64) - 0.5).abs() < 0.01, "{}", ratio(8, 64));
    assert!(ratio(1, 1) > 0.9, "{}", ratio(1, 1));
}

#[test]
fn interrupts_on_one_cpu_bound_the_rate_at_that_cpu() {
    let mut h = host(1, 16, 1);
    h.engines[0].1 = EngineCosts { submit_ps: US, complete_ps: 2 * US, ..EngineCosts::default() };
    let m = machine(h, &bare_device(512, Service::fixed(20 * US)), 1);
    let one = with(&m, FaultKind::InterruptsOnOneCpu { cpu: 15 });
    let (free, bound) = (record(&m, 8, 32), record(&one, 8, 32));
    let cpus_of = |r: &StepRecord| {
        let host = r.host.as_ref().unwrap();
        host.vectors.iter().filter(|v| v.count > 0).flat_map(|v| &v.by_cpu).map(|(cpu, _)| *cpu).collect::<Vec<_>>()
    };
    assert!(cpus_of(&free).len() >= 8, "{:?}", cpus_of(&free));
    assert!(cpus_of(&bound).iter().all(|cpu| *cpu == 15));
    let rate = bound.ios() as f64 / 0.2;
    // Half of a completion is work of the CPU that is interrupted: 1 us.
    assert!((rate / 1e6 - 1.0).abs() < 0.01 && rate < 0.6 * free.ios() as f64 / 0.2, "{rate}");
    let busy = bound.host.as_ref().unwrap().cpus[15].1.softirq_ns as f64 / 0.2e9;
    assert!(busy > 0.98, "{busy}");
}

#[test]
fn cache_hits_never_reach_the_drive_and_are_seen_as_such() {
    let m = with(&flash(1), FaultKind::PageCacheHits { hit_pct: 60 });
    let r = record(&m, 1, 1);
    let host = r.host.as_ref().unwrap();
    let on_drive = host.disks[0].read_ios as f64 / r.ios() as f64;
    assert!((on_drive - 0.4).abs() < 0.02, "{on_drive}");
    assert!(host.page_cache_bytes.unwrap() > r.bytes() / 2);
    assert!(quantile_us(&r, 0.5) < 20.0 && quantile_us(&r, 0.9) > 60.0);
    assert_eq!(record(&flash(1), 1, 1).host.unwrap().page_cache_bytes, None);
}

#[test]
fn faults_of_one_drive_slow_the_group_to_what_both_give() {
    let well = flash(2);
    let hot = with(&well, FaultKind::Throttle { speed_pct: 25 });
    let mut mixed = step("d", 4, 32, 200 * MS);
    mixed.workload.mix = OpMix { read_pct: 100, write_pct: 0, trim_pct: 0 };
    let (record, _) = run(&hot, &mixed).unwrap();
    let (slow, fast) = (record.targets[0].ios as f64, record.targets[1].ios as f64);
    assert!((slow / fast - 0.25).abs() < 0.02, "{slow} {fast}");
}
