//! Whole runs against what theory and data sheets say.

use fathom_plan::{OpMix, Rate, RateProcess, Step};

use crate::machine::{EngineCosts, Link, Service};
use crate::testing::{US, bare_device, host, iops, machine, mean_us, nand_device, run, step};

const MS: u64 = 1_000_000;

/// Exact mean-value analysis of `n` customers over `units` equal servers behind a delay (methods, 3.3).
fn mva(n: u32, units: f64, service_us: f64, delay_us: f64) -> f64 {
    let (mut queue, mut x) = (0.0, 0.0);
    for customers in 1..=n {
        let wait = service_us * (1.0 + queue / units);
        x = f64::from(customers) / (delay_us + wait);
        queue = x * wait;
    }
    x * 1e6
}

#[test]
fn exponential_units_give_the_throughput_of_mean_value_analysis() {
    let m = machine(host(1, 4, 1), &bare_device(8, Service::exponential(50 * US)), 1);
    for depth in [1, 4, 16, 64] {
        let (got, expected) = (iops(&m, &step("d0", 1, depth, 2_000 * MS)), mva(depth, 8.0, 50.0, 0.0));
        assert!((got / expected - 1.0).abs() < 0.015, "QD {depth}: {got} against {expected}");
    }
}

fn open(rate_iops: f64, process: RateProcess) -> Step {
    let mut s = step("d0", 1, 4096, 20_000 * MS);
    s.load.rate = Some(Rate { iops: rate_iops, process });
    s.length.ramp_ns = 100 * MS;
    s
}

#[test]
fn poisson_arrivals_at_one_server_wait_as_queueing_theory_says() {
    for (service, waits_in_services) in [(Service::exponential(50 * US), 1.0), (Service::fixed(50 * US), 0.5)] {
        let m = machine(host(1, 1, 1), &bare_device(1, service), 1);
        for load in [0.3, 0.7] {
            let (record, truth) = run(&m, &open(load / 50e-6, RateProcess::Poisson)).unwrap();
            let expected = 50.0 * (1.0 + waits_in_services * load / (1.0 - load));
            let got = mean_us(&record);
            assert!((got / expected - 1.0).abs() < 0.03, "{service:?} at {load}: {got} against {expected}");
            let units = truth.utilisation.iter().find(|u| u.part == "d0 units").unwrap();
            assert!((units.busy_share - load).abs() < 0.01, "{units:?}");
        }
    }
}

#[test]
fn the_laws_hold_exactly_on_every_kind_of_load() {
    let mut h = host(2, 4, 2);
    h.engines[0].1 = EngineCosts {
        user_ps: 300_000,
        submit_ps: 1_200_000,
        complete_ps: 700_000,
        interrupt_ps: 800_000,
        wake_ps: 1_500_000,
        wake_delay_ps: 2_000_000,
        ..EngineCosts::default()
    };
    let mut m = machine(h, &nand_device(), 3);
    m.drives[0].link = Link::Pcie { generation: 3, lanes: 4, mps_bytes: 256 };
    let mut mixed = step("d", 3, 16, 50 * MS);
    mixed.workload.mix = OpMix { read_pct: 70, write_pct: 25, trim_pct: 5 };
    mixed.length.ramp_ns = 7 * MS;
    let mut open = step("d0", 2, 64, 50 * MS);
    open.load.rate = Some(Rate { iops: 50_000.0, process: RateProcess::Poisson });
    for s in [step("d0", 1, 1, 20 * MS), step("d0", 16, 64, 50 * MS), mixed, open] {
        let (record, truth) = run(&m, &s).unwrap();
        assert!(truth.laws.largest() == 0.0, "{:?}", truth.laws);
        let law = fathom_stats::littles_law(&record).unwrap();
        assert!(law.error_pct.abs() < 1e-9, "{law:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_seed_another() {
    let m = machine(host(1, 4, 2), &nand_device(), 2);
    let mut s = step("d", 2, 8, 20 * MS);
    s.workload.mix = OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 };
    let first = run(&m, &s).unwrap();
    assert_eq!(first, run(&m, &s).unwrap());
    s.seed = 2;
    assert_ne!(first.0, run(&m, &s).unwrap().0);
}

#[test]
fn more_depth_never_reads_less_and_two_drives_read_twice_as_much() {
    let m = machine(host(1, 8, 1), &nand_device(), 2);
    let mut before = 0.0;
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let x = iops(&m, &step("d0", 1, depth, 200 * MS));
        assert!(x >= before * 0.999, "QD {depth}: {x} after {before}");
        before = x;
    }
    for depth in [1, 16, 128] {
        let ratio = iops(&m, &step("d", 1, depth, 200 * MS)) / iops(&m, &step("d0", 1, depth, 200 * MS));
        assert!((ratio / 2.0 - 1.0).abs() < 0.01, "QD {depth}: {ratio}");
    }
}

#[test]
fn a_link_gives_what_its_packets_leave() {
    for (generation, lanes, mps_bytes, expected) in
        [(3, 4, 128, 771e3), (3, 4, 256, 836e3), (3, 4, 512, 872e3), (4, 4, 256, 1.67e6), (5, 4, 256, 3.34e6)]
    {
        let mut m = machine(host(1, 8, 1), &bare_device(256, Service::fixed(10 * US)), 1);
        m.drives[0].link = Link::Pcie { generation, lanes, mps_bytes };
        let got = iops(&m, &step("d0", 8, 64, 100 * MS));
        assert!((got / expected - 1.0).abs() < 0.01, "gen{generation}x{lanes} mps {mps_bytes}: {got}");
    }
}
