//! Figures of order entry from records made by hand.

use fathom_model::OltpEvidenceName;
use fathom_orders::Audit;
use fathom_record::{CpuTime, DiskDelta, HostDelta, OltpKind, OltpSecond, SessionTime};

use super::*;

const SECONDS: u64 = 150;

/// A run of one session, 100 new orders a second of 230 transactions, 40 % of its time in commits.
fn record() -> OltpRecord {
    let mut kinds: [OltpKind; 5] = Default::default();
    for (kind, per_s) in kinds.iter_mut().zip([101, 100, 10, 10, 9]) {
        kind.done = per_s * SECONDS;
        kind.latency.record_n(4_000_000, kind.done);
    }
    kinds[0].rolled_back = SECONDS;
    let second = |at: u64| OltpSecond { new_orders: if at < 60 { 90 } else { 100 }, transactions: 230 };
    let window_ns = SECONDS * 1_000_000_000;
    let disk = DiskDelta { device: "nvme0n1".into(), read_ios: 230 * SECONDS * 2, ..DiskDelta::default() };
    OltpRecord {
        sessions: 1,
        warehouses: 3,
        seed: 1,
        home: Home::Fixed,
        ramp_ns: 0,
        measured_ns: window_ns,
        kinds,
        seconds: (0..SECONDS).map(second).collect(),
        time: SessionTime {
            all_ns: window_ns,
            on_cpu_ns: window_ns / 2,
            for_log_ns: window_ns / 10 * 4,
            ..SessionTime::default()
        },
        audit: Audit::default(),
        allowed_cpus: vec![3],
        host: HostDelta {
            window_ns,
            cpus: vec![(2, CpuTime::default()), (3, CpuTime::default())],
            cpu_busy_by_interval: vec![vec![0.1, 0.9]; SECONDS as usize],
            disks: vec![disk],
            ..HostDelta::default()
        },
        fetched_bytes: None,
        server: None,
        database_bytes: 1,
        is_stopped: false,
    }
}

fn run<'a>(record: &'a OltpRecord, probes: &'a [(bool, f64)]) -> OltpRun<'a> {
    OltpRun {
        engine: "postgresql",
        version: "15",
        has_one_writer: false,
        settings: Vec::new(),
        page_bytes: 8_192,
        load: None,
        record,
        probes,
        calibration: Some(CalibrationView {
            block_bytes: 8192,
            points: vec![CalibrationPointView { in_flight: 8, iops: 4_600.0, mean_ns: 1e6 }],
        }),
        search: &[],
        open_loop: &[],
        broken_after_load: None,
        broken_after_run: Vec::new(),
    }
}

#[test]
fn rates_are_of_committed_orders_and_minutes_are_whole() {
    let record = record();
    let document = oltp_document(&run(&record, &[]));
    assert!((document.tps - 230.0).abs() < 1e-9 && (document.tpm.mean - 13_800.0).abs() < 1e-9);
    assert!((document.nopm.mean - 6_000.0).abs() < 1e-9, "what is rolled back is no order: {}", document.nopm.mean);
    assert_eq!((document.nopm.worst_minute, document.nopm.best_minute), (Some(5_400.0), Some(6_000.0)));
    assert!((document.verdict.sessions_in_flight - 0.92).abs() < 0.01, "{}", document.verdict.sessions_in_flight);
    let device = document.device.expect("a device");
    assert!((device.reads_per_transaction - 2.0).abs() < 1e-9);
    assert_eq!(document.verdict.is_cached, Some(false));
    assert_eq!(document.verdict.reads_a_transaction_could_make, Some(20.0));
    let used = document.verdict.evidence.iter().find(|e| e.name == OltpEvidenceName::ReadsUsed).expect("calibrated");
    assert!((used.number - 0.1).abs() < 1e-9 && used.speaks_for.is_empty(), "460 of 4600 reads a second");
    assert_eq!(document.cpus.others_cores, None, "a server that nobody watched may be what uses them");
    let embedded = oltp_document(&OltpRun { has_one_writer: true, ..run(&record, &[]) });
    assert!(embedded.cpus.others_cores.is_some_and(|cores| (cores - 0.9).abs() < 1e-6));
    assert!((document.cpus.busy - 0.9).abs() < 1e-6, "CPUs that the run may not use do not count");
}

#[test]
fn reads_of_others_do_not_make_a_cached_database_one_of_storage() {
    let record = OltpRecord { fetched_bytes: Some(0), ..record() };
    let document = oltp_document(&run(&record, &[]));
    assert_eq!((document.own_page_reads_per_transaction, document.verdict.is_cached), (Some(0.0), Some(true)));
    let reads = document.verdict.evidence.iter().find(|e| e.name == OltpEvidenceName::DeviceReads).expect("told");
    assert_eq!((reads.number, &reads.speaks_for[..]), (0.0, &[][..]));
    let record = OltpRecord { fetched_bytes: Some(230 * SECONDS * 3 * 8_192), ..record };
    let own = oltp_document(&run(&record, &[])).own_page_reads_per_transaction;
    assert!(own.is_some_and(|own| (own - 3.0).abs() < 0.01), "{own:?}");
}

#[test]
fn a_percentile_without_a_hundred_samples_beyond_it_is_not_said() {
    let document = oltp_document(&run(&record(), &[]));
    let latency = &document.transactions[2].latency;
    // 1500 samples: 15 beyond p99.
    assert!(latency.p90_ns.is_some() && latency.p99_ns.is_none() && latency.p9999_ns.is_none());
    assert!(document.transactions[0].commit.is_none(), "a server does not tell them apart");
}

#[test]
fn a_rate_that_is_not_done_is_not_sustained_and_chance_is_no_failure() {
    let record = record();
    // 230 a second were done for 150 s: 34 500, whose chance is 186 either way.
    let of = |asked: f64| open_loop_view(&(0.8, asked, record.clone())).is_sustained;
    assert!(of(230.0) && of(233.0) && !of(240.0));
}

#[test]
fn the_gain_of_commits_that_do_not_wait_is_that_of_pairs() {
    let gain = |probes: &[(bool, f64)]| {
        let record = record();
        let document = oltp_document(&run(&record, probes));
        document.verdict.evidence.iter().find(|e| e.name == OltpEvidenceName::RelaxedCommits).map(|e| e.number)
    };
    assert_eq!(gain(&[]), None);
    let pairs = [(true, 100.0), (false, 190.0), (false, 210.0), (true, 100.0)];
    assert!(gain(&pairs).is_some_and(|gain| (gain - 2.0).abs() < 0.01), "{:?}", gain(&pairs));
    assert_eq!(relaxed_gain(&pairs), Some((1.9, 2.1)), "each pair by itself, so that drift cancels");
}
