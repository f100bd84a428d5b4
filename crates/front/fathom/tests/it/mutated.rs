//! Parsers of what people and other programs write: whatever is put into them, they answer or refuse. 10,000 inputs each with
//! FATHOM_TEST_ALL=1, a few hundred otherwise; both are the same each time.

use std::fs;
use std::io::{BufReader, Cursor};
use std::path::PathBuf;

use fathom_inspect::machines::{fixture, fixture_names};
use fathom_inspect::{Inventory, Subject, advise, capture, unpack};
use fathom_plan::{
    FioReading, FioText, Overrides, UnseenHost, builtin_studies, fio_command_line, parse_fio, parse_fio_job,
    parse_study,
};
use fathom_random::Rng;
use fathom_random::mutate::{each_mutated, mutated};
use fathom_report::import::import_json;
use fathom_sim::{builtin_machines, parse_devices, parse_machine};
use fathom_trace::{Trace, TraceSummary};

const SEED: u64 = 44;

fn cases(few: u64) -> u64 {
    if std::env::var("FATHOM_TEST_ALL").is_ok_and(|value| value == "1") { 10_000 } else { few }
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn files(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths.iter().map(|path| fs::read(path).expect("reads")).collect()
}

#[test]
fn job_files() {
    let jobs = texts(&[
        "[global]\nfilename=/data/f:/data/g\nsize=64m\ndirect=1\nrw=randrw\nrwmixread=70\n[a]\nbs=4k,8k\niodepth=32\n\
         [b]\nstonewall\nbssplit=4k/60:64k/40\nrate=4m,1m\n[c]\nwait_for=a\nrate_iops=10k,5k\nrw=write\nfsync=1\n",
        "[a]\nfilename=f\nsize=50%\noffset=25%\nrandom_distribution=zoned:50/5:30/15:20/\nthinktime=500\nnumjobs=4\n\
         [a]\nfilename=g\nrw=trimwrite\nnumber_ios=100\nloops=2\nverify=crc32c\n",
        "; checked\n[x]\nioengine=libaio\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2,1024k/0\nlatency_target=500000\n\
         latency_window=5s\nlatency_percentile=99.9\nread_iolog=t\nreplay_redirect=f\nss=iops:5%\nss_dur=10s\n",
        "[m]\nioengine=filecreate\nnrfiles=30\nfilesize=4k\nopenfiles=1\n[n]\nioengine=io_uring_cmd\ncmd_type=nvme\n\
         filename=/dev/ng0n1\nfdp=1\nexitall\ncpus_allowed=0-3,8\ncpus_allowed_policy=split\nnuma_cpu_nodes=0\n",
    ]);
    each_mutated("job files", SEED, cases(400), &jobs, |job| {
        let _ = parse_fio_job(&String::from_utf8_lossy(job), "job.fio", &|_| None);
    });
}

#[test]
fn command_lines_of_fio() {
    let lines = texts(&[
        "--direct=1 --name=a --rw randread --time_based --runtime=5 --name b --fdatasync=1 --output-format=json+ --output o",
        "--eta=never --section=a more.fio --readonly --parse-only --filename=/f --size=10% --bs=4k,8k --version",
    ]);
    each_mutated("command lines", SEED, cases(400), &lines, |line| {
        let line = String::from_utf8_lossy(line);
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if let Ok(line) = fio_command_line(&words) {
            let host = UnseenHost(&|_| None);
            let _ = parse_fio(&[FioText::CommandLine(line.jobs)], "fio", &FioReading::default(), &host);
        }
    });
}

#[test]
fn plans() {
    let mut plans: Vec<Vec<u8>> = builtin_studies().iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
    plans.extend(texts(&[
        "[[ladder]]\nrw = \"randread\"\niodepth = [1, 2]\nruntime = { min = \"1s\", max = \"2s\" }\n",
    ]));
    let overrides = Overrides { targets: vec!["/f".into()], ..Overrides::default() };
    each_mutated("plans", SEED, cases(200), &plans, |plan| {
        let _ = parse_study(&String::from_utf8_lossy(plan), "plan.toml", &overrides);
    });
}

#[test]
fn machines_and_drives() {
    let mut machines: Vec<Vec<u8>> = builtin_machines().iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
    machines.extend(files("catalogue/devices", "toml"));
    each_mutated("machines", SEED, cases(400), &machines, |machine| {
        let text = String::from_utf8_lossy(machine);
        let _ = (parse_machine(&text, "machine.toml"), parse_devices(&text, "devices.toml"));
    });
}

#[test]
fn results_of_other_programs() {
    let mut results = files("crates/front/fathom-report/fixtures", "json");
    // Whole documents are mostly bins: the shorter ones are taken apart more thoroughly.
    results.sort_by_key(Vec::len);
    results.truncate(4);
    results.extend(texts(&[
        "========================================================\n\
         \x20                                                             Latency(us)\n\
         Device Information                     :       IOPS      MiB/s    Average        min        max\n\
         PCIE (0000:81:00.0) NSID 1 from core  0:  543211.10    2121.92      58.90      11.23    1021.23\n\
         ========================================================\n\
         Total                                  :  543211.10    2121.92      58.90      11.23    1021.23\n",
        "{\"results\":[{\"job\":\"Nvme0n1\",\"core_mask\":\"0x1\",\"workload\":\"randread\",\"queue_depth\":128,\
         \"io_size\":4096,\"runtime\":10.0,\"iops\":1.5e5,\"mibps\":585.9,\"avg_latency_us\":850.1}]}",
    ]));
    each_mutated("results", SEED, cases(200), &results, |result| {
        let _ = import_json(&String::from_utf8_lossy(result), "result.json");
    });
}

/// Records of blktrace: 48 bytes each, as blktrace_api.h has them.
fn blktrace() -> Vec<u8> {
    let record = |at: u64, action: u32| {
        let mut out = Vec::new();
        out.extend(0x6561_7407_u32.to_le_bytes());
        out.extend((at as u32).to_le_bytes());
        out.extend((at * 1_000).to_le_bytes());
        out.extend((at * 8).to_le_bytes());
        [4096, action, 7, 0x0010_3000, 0].iter().for_each(|number: &u32| out.extend(number.to_le_bytes()));
        out.extend([0; 4]);
        out
    };
    // Queued reads and writes, and one that is complete.
    (1..40).flat_map(|at| record(at, if at % 3 == 0 { 0x0002_0001 } else { 0x0001_0001 | (at as u32 & 8) })).collect()
}

#[test]
fn traces() {
    let mut traces = texts(&[
        "fio version 2 iolog\n/data/f add\n/data/f open\n/data/f read 0 4096\n/data/f wait 100 0\n/data/f write 4096 8192\n\
         /data/f sync 0 0\n/data/f trim 0 4096\n/data/f close\n",
        "fio version 3 iolog\n0 /data/f add\n1 /data/f open\n15 /data/f read 0 4096\n20 /data/f datasync 0 0\n99 /data/f close\n",
    ]);
    traces.push(blktrace());
    each_mutated("traces", SEED, cases(1_000), &traces, |trace| {
        if let Ok(trace) = Trace::begin(BufReader::new(trace)) {
            let _ = TraceSummary::of(trace);
        }
    });
}

#[test]
fn captures_of_machines() {
    let mut seeds = Vec::new();
    for name in fixture_names() {
        let mut archive = Vec::new();
        capture(&fixture(name).root(), &mut archive, true).expect("captured");
        seeds.push(archive);
    }
    seeds.sort_by_key(Vec::len);
    each_mutated("captures", SEED, cases(60), &seeds[..3], |archive| {
        if let Ok(captured) = unpack(Cursor::new(archive)) {
            let _ = advise(&Inventory::read(&captured.root()), &Subject::default());
        }
    });
}

/// Files of a machine: what a kernel, or a hypervisor that plays one, may show.
#[test]
fn files_of_the_kernel() {
    for (number, name) in (0..).zip(fixture_names()) {
        let tree = fixture(name);
        let mut folders = vec![tree.root().join("")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let kind = entry.file_type().expect("a kind");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    files.push(entry.path());
                }
            }
        }
        files.sort();
        for case in 0..cases(140) / 7 {
            let mut rng = Rng::new(SEED + number, case);
            let changed: Vec<(&PathBuf, Vec<u8>)> = (0..=rng.below(4))
                .map(|_| &files[rng.below(files.len() as u64) as usize])
                .map(|path| (path, fs::read(path).expect("reads")))
                .collect();
            for (path, before) in &changed {
                fs::write(path, mutated(&mut rng, std::slice::from_ref(before))).expect("written");
            }
            let looked = std::panic::catch_unwind(|| advise(&Inventory::read(&tree.root()), &Subject::default()).len());
            if looked.is_err() {
                let now: Vec<_> = changed.iter().map(|(path, _)| (path, fs::read(path))).collect();
                panic!("{name}, seed {SEED}, case {case}: {now:?}");
            }
            changed.iter().rev().for_each(|(path, before)| fs::write(path, before).expect("written"));
        }
    }
}
