//! Vectors in the form that the sources of SPDK print (examples/nvme/perf/perf.c, `print_performance`; bdevperf.c,
//! `performance_dump_job_json`).

use proptest::prelude::*;

use super::*;
use crate::text::find_document;

const PERF: &str = "\
$ sudo ./build/bin/spdk_nvme_perf -q 32 -o 4096 -w randread -t 10 -L -r 'trtype:PCIe traddr:0000:04:00.0'
Initializing NVMe Controllers
Attached to NVMe Controller at 0000:04:00.0 [8086:0a54]
Associating PCIE (0000:04:00.0) NSID 1 with lcore 0
Initialization complete. Launching workers.
========================================================
                                                                            Latency(us)
Device Information                     :       IOPS      MiB/s    Average        min        max
PCIE (0000:04:00.0) NSID 1 from core  0:  251230.30     981.37     127.33      10.96    4210.20
========================================================
Total                                  :  251230.30     981.37     127.33      10.96    4210.20

Summary latency data for PCIE (0000:04:00.0) NSID 1                  from core 0:
=================================================================================
  1.00000% :    72.192us
 50.00000% :   125.952us
 99.00000% :   189.440us
 99.90000% :   243.712us

";

#[test]
fn the_table_of_spdk_nvme_perf_becomes_a_step_with_its_load_and_quantiles() {
    assert!(is_perf_table(PERF) && !is_perf_table("Latency(us)") && !is_perf_table("{}"));
    let imported = import_perf(PERF, "perf.txt").expect("reads");
    let [(step, record)] = &imported.steps[..] else { panic!("one step") };
    assert_eq!(step.label, "spdk_nvme_perf: 4k randread T1 QD32");
    assert_eq!((step.engine.name, step.load.threads, step.load.queue_depth), (EngineName::Nvme, 1, 32));
    assert_eq!(step.targets[0].as_str(), "0000:04:00.0");
    assert!(step.workload.direct);
    let [reads] = &record.directions[..] else { panic!("reads alone") };
    assert_eq!((reads.op, reads.ios, reads.bytes), (Op::Read, 2_512_303, 2_512_303 * 4096));
    assert_eq!(record.runtime_ns, 10_000_000_000);
    let Latency::Quoted(lat) = &reads.lat else { panic!("figures") };
    assert_eq!((lat.min_ns, lat.max_ns, lat.mean_ns.round()), (10_960, 4_210_200, 127_330.0));
    assert_eq!(lat.quantiles, [(0.01, 72_192), (0.5, 125_952), (0.99, 189_440), (0.999, 243_712)]);
    assert!(imported.plan.source.starts_with("./build/bin/spdk_nvme_perf -q 32"));
}

#[test]
fn rows_of_several_drives_and_cores_are_one_load() {
    let text = "\
spdk_nvme_perf --io-depth=8 -o4096 --io-pattern write -t 2 -c 0x3
                                         Latency(us)
Device Information                     :       IOPS      MiB/s    Average        min        max
PCIE (0000:04:00.0) NSID 1 from core  0:    1000.00       3.91     100.00      10.00     400.00
PCIE (0000:05:00.0) NSID 1 from core  1:    3000.00      11.72     200.00      20.00     300.00
";
    let imported = import_perf(text, "perf.txt").expect("reads");
    let (step, record) = &imported.steps[0];
    assert_eq!((step.targets.len(), step.load.threads, step.load.queue_depth), (2, 1, 8));
    let writes = &record.directions[0];
    assert_eq!((writes.op, writes.ios), (Op::Write, 8_000));
    let Latency::Quoted(lat) = &writes.lat else { panic!("figures") };
    assert_eq!((lat.mean_ns, lat.min_ns, lat.max_ns), (175_000.0, 10_000, 400_000));
}

#[test]
fn a_table_without_its_command_or_with_another_is_refused() {
    let without = PERF.replace("$ sudo ./build/bin/spdk_nvme_perf", "# ran");
    let ids = |text: &str| match import_perf(text, "perf.txt").expect_err("refused") {
        ImportError::Content { place, what, help, .. } => (place, what.id().to_owned(), help.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(ids(&without), (String::new(), "import-spdk-no-command".to_owned(), true));
    assert_eq!(ids(&PERF.replace("-o 4096", "-o 8192")).1, "import-spdk-other-command");
    assert_eq!(ids(&PERF.replace("-q 32 ", "")), ("-q".to_owned(), "import-spdk-no-option".to_owned(), true));
    assert_eq!(ids(&PERF.replace("-q 32", "-q 0")).1, "import-spdk-no-figure");
    assert_eq!(ids(&PERF.replace("randread", "randrw")).1, "import-spdk-mixed");
}

const ROW: &str = "\
                                                                           Latency(us)
Device Information                     :       IOPS      MiB/s    Average        min        max
PCIE (0000:86:00.0) NSID 1 from core  0:  128000.00     500.00     499.50      20.10    1800.00
";

#[test]
fn the_command_may_have_any_path_and_the_older_name() {
    for command in [
        "# ./perf -q 64 -w randread -t 60 -c 0x1 -o 4096",
        "# sudo ./build/examples/perf -q 64 -w randread -t 60 -o 4096",
        "$ build/bin/perf -q 64 -o 4096 -w randread -t 60",
        "examples/nvme/perf/perf -q 64 -s 4096 -w randread -t 60",
        "perf stat -d spdk_nvme_perf --io-depth=64 --io-size 4096 -w randread -t 60",
    ] {
        let imported = import_perf(&format!("{command}\n{ROW}"), "x").unwrap_or_else(|e| panic!("{command}: {e}"));
        let (step, record) = &imported.steps[0];
        assert_eq!(step.label, "spdk_nvme_perf: 4k randread T1 QD64", "{command}");
        assert_eq!((record.ios(), record.runtime_ns, imported.started_unix_ns), (7_680_000, 60_000_000_000, 0));
    }
    // The perf of Linux, and what DPDK prints, are no commands.
    for other in ["$ perf record -a sleep 10", "[ DPDK EAL parameters: perf --no-shconf -c 0x1 -q 1 ]"] {
        assert!(import_perf(&format!("{other}\n{ROW}"), "x").is_err(), "{other}");
    }
}

#[test]
fn each_command_of_a_text_is_a_step() {
    let run = |depth: u32| format!("# spdk_nvme_perf -q {depth} -w randread -t 60 -o 4096\n{ROW}");
    let imported = import_perf(&(run(32) + &run(64)), "x").expect("two runs");
    let loads: Vec<(u32, u32, u64)> =
        imported.steps.iter().map(|(s, r)| (s.load.threads, s.load.queue_depth, r.ios())).collect();
    assert_eq!(loads, [(1, 32, 7_680_000), (1, 64, 7_680_000)]);
    assert_eq!(imported.plan.source.lines().count(), 2);
    let id = |text: &str| match import_perf(text, "x").expect_err("refused") {
        ImportError::Content { what, .. } => what.id().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(id(&(run(32) + ROW)), "import-spdk-two-tables");
    assert_eq!(id(&(ROW.to_owned() + &run(32))), "import-spdk-no-command");
    let cut = import_perf(&(run(32) + "# spdk_nvme_perf -q 64 -w randread -t 60 -o 4096\nfailed\n"), "x").expect("one");
    assert_eq!((cut.steps.len(), cut.notes[0].id()), (1, "import-spdk-no-table"));
}

#[test]
fn jobs_of_bdevperf_with_one_load_are_one_step() {
    let job = |name: &str, iops: f64| {
        json!({
            "job": name, "core_mask": "0x1", "workload": "randread", "status": "finished", "queue_depth": 64,
            "io_size": 4096, "runtime": 5.0, "iops": iops, "mibps": iops / 256.0, "io_failed": 0, "io_timeout": 0,
            "avg_latency_us": 80.5, "min_latency_us": 9.25, "max_latency_us": 1000.0,
        })
    };
    let text = json!({ "results": [job("Nvme0n1", 100e3), job("Nvme1n1", 90e3)], "core_count": 1 }).to_string();
    let found = find_document(&text, "b.json").expect("JSON");
    assert!(is_bdevperf(&found.value) && !is_bdevperf(&json!({ "results": [] })));
    let imported = import_bdevperf(&found, "b.json").expect("reads");
    let [(step, record)] = &imported.steps[..] else { panic!("one step") };
    assert_eq!((step.targets.len(), step.load.threads, step.load.queue_depth), (2, 1, 64));
    assert_eq!(record.directions[0].ios, 950_000);
    let failed = text.replace("\"io_failed\":0", "\"io_failed\":3");
    let imported = import_bdevperf(&find_document(&failed, "b.json").expect("JSON"), "b.json").expect("reads");
    assert!(imported.steps[0].1.warnings.contains(&Warning::IoErrors { count: 6, errno: 0 }));
    let broken = text.replace("\"iops\":100000.0", "\"iops\":\"many\"");
    let error = import_bdevperf(&find_document(&broken, "b.json").expect("JSON"), "b.json").expect_err("no number");
    assert!(matches!(&error, ImportError::Content { place, .. } if place == "results[0].iops"), "{error:?}");
}

proptest! {
    /// Whatever somebody hands in, it is read or refused.
    #[test]
    fn texts_of_any_kind_end_in_an_answer(text in "\\PC{0,60}", cut in 0_usize..1400) {
        let _ = import_perf(&text, "x");
        let mut cut = cut.min(PERF.len());
        while !PERF.is_char_boundary(cut) {
            cut -= 1;
        }
        let _ = import_perf(&format!("{}{text}", &PERF[..cut]), "x");
    }
}
