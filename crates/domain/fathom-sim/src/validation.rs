//! Whole runs against what theory and data sheets say.

use fathom_plan::{OpMix, Pattern, Rate, RateProcess, Step};

use crate::amplification::write_amplification;
use crate::machine::{EngineCosts, Ftl, Link, Media, Service};
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

/// Runs of different seeds, no two alike over the loads; theory must lie in the 95 % interval of their mean.
const SEEDS: u64 = 10;

/// Whether `expected` lies in the 95 % interval of the runs' mean. Panics when it is twice as far off, or when the
/// interval is too wide to tell anything.
fn agrees(what: &str, expected: f64, one_run: impl Fn(u64) -> f64) -> bool {
    let runs: Vec<f64> = (1..=SEEDS).map(one_run).collect();
    let (mean, interval) = fathom_stats::mean_of_rounds(&runs).unwrap();
    let (low, high) = interval.unwrap();
    let half = (high - low) / 2.0;
    assert!(half / mean < 0.03, "{what}: {low} to {high} tells nothing");
    assert!((mean - expected).abs() < 2.0 * half, "{what}: {low} to {high}, theory says {expected}");
    (low..=high).contains(&expected)
}

#[test]
fn exponential_units_give_the_throughput_of_mean_value_analysis() {
    let m = machine(host(1, 4, 1), &bare_device(8, Service::exponential(50 * US)), 1);
    let within = |depth: &u32| {
        agrees(&format!("QD {depth}"), mva(*depth, 8.0, 50.0, 0.0), |seed| {
            let mut s = step("d0", 1, *depth, 500 * MS);
            s.seed = u64::from(*depth) * 100 + seed;
            // All start at once; theory speaks of the time after that.
            s.length.ramp_ns = 50 * MS;
            iops(&m, &s)
        })
    };
    let held = [1, 2, 4, 8, 16, 32, 64].iter().filter(|depth| within(depth)).count();
    // One in twenty may lie outside by chance.
    assert!(held >= 6, "{held} of 7 within");
}

fn open(rate_iops: f64, process: RateProcess) -> Step {
    let mut s = step("d0", 1, 4096, 10_000 * MS);
    s.load.rate = Some(Rate { iops: rate_iops, process });
    s.length.ramp_ns = 100 * MS;
    s
}

#[test]
fn poisson_arrivals_at_one_server_wait_as_queueing_theory_says() {
    let mut held = 0;
    for (service, waits_in_services) in [(Service::exponential(50 * US), 1.0), (Service::fixed(50 * US), 0.5)] {
        let m = machine(host(1, 1, 1), &bare_device(1, service), 1);
        for load in [0.2, 0.4, 0.6, 0.8] {
            let expected = 50.0 * (1.0 + waits_in_services * load / (1.0 - load));
            let within = agrees(&format!("{service:?} at {load}"), expected, |seed| {
                let mut s = open(load / 50e-6, RateProcess::Poisson);
                s.seed = (load * 100.0) as u64 * 100 + seed;
                let (record, truth) = run(&m, &s).unwrap();
                let units = truth.utilisation.iter().find(|u| u.part == "d0 units").unwrap();
                assert!((units.busy_share - load).abs() < 0.02, "{units:?}");
                mean_us(&record)
            });
            held += u32::from(within);
        }
    }
    assert!(held >= 7, "{held} of 8 within");
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

/// Random writes at a depth that keeps the buffer full, on a drive with this spare share, percent.
fn written(spare_pct: f64, ftl: Ftl) -> (f64, f64) {
    let mut device = nand_device();
    device.capacity_bytes = 64 << 30;
    let Media::Nand(nand) = &mut device.media else { unreachable!("it is flash") };
    nand.spare_pct = spare_pct;
    nand.ftl = ftl;
    let mut s = step("d0", 4, 64, 2_000 * MS);
    s.workload.mix = OpMix::WRITE;
    s.length.ramp_ns = 500 * MS;
    let m = machine(host(1, 8, 1), &device, 1);
    let (record, truth) = run(&m, &s).unwrap();
    (record.ios() as f64 / 2.0, truth.write_amplification[0].1)
}

#[test]
fn write_amplification_of_whole_runs_is_that_of_the_closed_form_for_every_spare_space() {
    let pages = Ftl::Pages { blocks: 512, pages_per_block: 256, greedy: false };
    for (spare_pct, published) in [(7.0, 7.8), (12.5, 4.7), (28.0, 2.5), (50.0, 1.7), (100.0, 1.26)] {
        let expected = write_amplification(spare_pct / 100.0);
        assert!((expected / published - 1.0).abs() < 0.03, "{spare_pct} %: {expected} against {published}");
        for ftl in [Ftl::MeanField, pages] {
            let (rate, got) = written(spare_pct, ftl);
            assert!((got / expected - 1.0).abs() < 0.04, "{ftl:?} {spare_pct} %: {got} against {expected}");
            // 40 dies x 32 KiB per 1.3 ms, and an erase of 3 ms for each 8 MiB: what is left for the host is their rate
            // over the amplification.
            let programs = 40.0 * 32_768.0 / (1.3e-3 + 3e-3 * 32_768.0 / 8_388_608.0);
            let bound = programs / 4096.0 / expected;
            assert!((rate / bound - 1.0).abs() < 0.06, "{ftl:?} {spare_pct} %: {rate} against {bound}");
        }
    }
}

/// FNV-1a of the figures of a record: counts, every latency of every interval, times of CPUs and drives.
fn fingerprint(record: &fathom_record::StepRecord) -> u64 {
    let mut figures: Vec<u64> = vec![record.runtime_ns, record.in_flight_mean.unwrap().to_bits()];
    for direction in record.intervals.iter().flat_map(|i| &i.directions) {
        figures.extend([direction.ios, direction.bytes, direction.lat.count()]);
        figures.extend((0..=1_000).filter_map(|q| direction.lat.quantile(f64::from(q) / 1e3)));
    }
    let host = record.host.as_ref().unwrap();
    figures.extend(host.cpus.iter().flat_map(|(_, t)| [t.user_ns, t.system_ns, t.softirq_ns, t.idle_ns]));
    figures.extend(host.cpu_busy_by_interval.iter().flatten().map(|share| u64::from(share.to_bits())));
    figures.extend(host.disks.iter().flat_map(|d| [d.read_bytes, d.write_bytes, d.busy_ns, d.weighted_ns]));
    figures.extend([host.interrupts, host.context_switches]);
    let bytes = figures.iter().flat_map(|figure| figure.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn records_are_the_same_bytes_on_every_platform() {
    // Logarithms and exponentials come from `libm`, never from the platform, and all else is exact arithmetic. These
    // numbers change only when the model does.
    let mut h = host(2, 4, 2);
    h.engines[0].1 =
        EngineCosts { user_ps: 300_000, submit_ps: 1_200_000, interrupt_ps: 800_000, ..EngineCosts::default() };
    let mut device = nand_device();
    device.read_tail = vec![(1_000_000, 900_000_000)];
    let mut m = machine(h, &device, 2);
    m.drives[0].link = Link::Pcie { generation: 3, lanes: 4, mps_bytes: 256 };
    let mut zipf = step("d", 3, 8, 20 * MS);
    zipf.workload.pattern = Pattern::Zipf { theta: 1.1 };
    zipf.workload.mix = OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 };
    let mut poisson = step("d0", 2, 64, 20 * MS);
    poisson.load.rate = Some(Rate { iops: 50_000.0, process: RateProcess::Poisson });
    let exponential = machine(host(1, 4, 1), &bare_device(8, Service::exponential(50 * US)), 1);
    let prints = [(&m, zipf), (&m, poisson), (&exponential, step("d0", 1, 16, 20 * MS))]
        .map(|(machine, step)| fingerprint(&run(machine, &step).unwrap().0));
    assert_eq!(prints, [0x66d7_ec6f_2651_b39e, 0xa735_d089_ca46_11e1, 0xa81d_f944_d329_2464], "{prints:#x?}");
}
