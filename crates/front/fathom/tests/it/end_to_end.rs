//! The real program on real files: what it promises, from the command to the store and back.

use std::fs;
use std::path::PathBuf;

use crate::cli::machine::Mounted;
use crate::cli::{Place, bytes_of, check, contract, warns};
use serde_json::Value;

fn names(place: &Place) -> Vec<String> {
    place.listing().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn run_quick_answers_and_everything_else_comes_from_the_store() {
    let place = Place::new();
    let ended = place.run("run quick --target . --set size=64m --time-budget 5s --output report.html");
    ended.expect(0, &["quick ·", "4k random read T1 QD1", "Report: report.html"]);
    let first = ended.out.lines().next().expect("an answer");
    assert!(
        first.contains(" IOPS") && first.contains(" of 4k random reads at T"),
        "the answer comes first: {}",
        ended.out
    );
    for part in ["limit", "\nTrust: ", "\nNext: fathom "] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    assert!(ended.out.contains("fathom show 1"), "{}", ended.out);
    assert_eq!(names(&place), ["report.html"], "the test file is removed");

    let document = place.json("show 1", 0);
    contract::holds(&document);
    assert_eq!(document["run"]["study"], "quick");
    assert_eq!(document["run"]["state"], "finished");
    assert!(document["steps"].as_array().expect("steps").len() >= 10);
    for step in document["steps"].as_array().expect("steps") {
        assert_eq!((&step["state"], &step["errors"]), (&"measured".into(), &0.into()), "{}", step["label"]);
        assert_eq!(check(step, "littles_law").expect("checked")["ok"], true, "{}", step["checks"]);
        assert_eq!(check(step, "page_cache").expect("checked")["ok"], true, "{}", step["checks"]);
        let mean = step["lat_ns"]["mean"].as_f64().expect("a mean");
        assert!(mean > 0.0 && step["read"].is_null() != step["write"].is_null(), "{}", step["label"]);
    }

    let list = place.json("list", 0);
    assert_eq!(list["runs"][0]["id"], 1);
    place.run("list").expect(0, &[]);
    let shown = place.run("show last");
    assert!(shown.out.contains("4k random read T4 QD32") && shown.out.contains("IOPS"), "{}", shown.out);

    let first = fs::read(place.file("report.html")).expect("the report of the run");
    place.run("report 1 -o again.html").expect(0, &["again.html"]);
    let again = fs::read(place.file("again.html")).expect("the report from the store");
    assert!(first == again, "the store alone gives the same report");
    let html = String::from_utf8(again).expect("UTF-8");
    assert!(html.contains("This storage gives ") && !html.contains("src=\"http"), "offline, with the verdict");

    exports_hold(&place, &document);
    place.run("rm 1").expect(0, &["removed run 1"]);
    assert_eq!(place.json("list", 0)["runs"].as_array().map(Vec::len), Some(0));
    place.run("show 1").expect(2, &["no run 1", "help:"]);
}

/// Every export of run 1 is there, in its own form, and says the same.
fn exports_hold(place: &Place, document: &Value) {
    let steps = document["steps"].as_array().expect("steps");
    let export = |format: &str| {
        let ended = place.run(&format!("export 1 --format {format}"));
        ended.expect(0, &[]);
        ended
    };
    assert_eq!(&export("json").json(), document);
    let csv = export("csv").out;
    assert_eq!(csv.lines().count(), steps.len() + 1, "a head and a row per step");
    for format in ["fio-json", "fio-json-plus"] {
        let fio = export(format).json();
        let jobs = fio["jobs"].as_array().expect("jobs");
        assert_eq!(jobs.len(), steps.len());
        for (job, step) in jobs.iter().zip(steps) {
            let total =
                job["read"]["total_ios"].as_u64().expect("ios") + job["write"]["total_ios"].as_u64().expect("ios");
            assert_eq!(Some(total), step["ios"].as_u64());
            let used = if step["read"].is_object() { "read" } else { "write" };
            assert_eq!(job[used]["lat_ns"]["bins"].is_object(), format == "fio-json-plus");
        }
    }
    assert!(export("hlog").out.lines().count() > steps.len());
    place.run("export 1 --format json -o one.json").expect(0, &[]);
    let file: Value = serde_json::from_slice(&fs::read(place.file("one.json")).expect("written")).expect("JSON");
    assert_eq!(&file, document);
    let imported = place.json("import one.json", 0);
    let same = |a: &Value, b: &Value| {
        a["label"] == b["label"] && a["ios"] == b["ios"] && a["lat_ns"]["mean"] == b["lat_ns"]["mean"]
    };
    assert!(imported["steps"].as_array().expect("steps").iter().zip(steps).all(|(a, b)| same(a, b)));
    place.run("rm 2").expect(0, &[]);
}

/// Every load with one engine: counts agree with bytes, with the mix, and with the kernel.
fn does_every_load(engine: &str) {
    let place = Place::new();
    // On a device of its own nobody else's I/O disturbs the kernel's count.
    let own = Mounted::ext4(&place, "own", 256 << 20, "rw");
    let target = own.as_ref().map_or_else(|| place.work(), |m| m.path.clone());
    for rw in ["randread", "randwrite", "read", "write", "randrw --read-pct 70", "trim"] {
        let load = format!("--rw {rw} --engine {engine} --iodepth 4 --size 32m --runtime 250ms");
        let step = place.step(&format!("io --target {} {load}", target.display()));
        let ios = step["ios"].as_u64().expect("ios");
        assert!(ios > 0, "{load}");
        assert_eq!((&step["errors"], &step["state"]), (&0.into(), &"measured".into()), "{load}");
        assert_eq!(step["engine"], engine);
        assert_eq!(bytes_of(&step), ios * 4096, "{load}");
        let by_op = ["read", "write", "trim"].iter().filter_map(|op| step[op]["ios"].as_u64()).sum::<u64>();
        assert_eq!(by_op, ios, "{load}");
        assert_eq!(check(&step, "bytes").expect("checked")["ok"], true, "{load}");
        mix_holds(&step, rw);
        let disk = check(&step, "diskstats");
        if own.is_some() && engine != "mmap" && rw != "trim" {
            assert_eq!(disk.expect("checked")["ok"], true, "{load}: {disk:?}");
        }
    }
    assert!(crate::cli::listing_of(&target).is_empty(), "nothing is left behind");
}

#[test]
fn psync_does_every_load_and_its_counts_agree_with_the_kernel() {
    does_every_load("psync");
}

#[test]
fn libaio_does_every_load_and_its_counts_agree_with_the_kernel() {
    does_every_load("libaio");
}

#[test]
fn io_uring_does_every_load_and_its_counts_agree_with_the_kernel() {
    does_every_load("io_uring");
}

#[test]
fn mmap_does_every_load_and_its_counts_agree() {
    does_every_load("mmap");
}

/// Reads, writes and trims are the share asked for.
fn mix_holds(step: &Value, rw: &str) {
    let ios = |op: &str| step[op]["ios"].as_u64().unwrap_or(0) as f64;
    let all = ios("read") + ios("write") + ios("trim");
    let (read, write, trim) = match rw {
        "randread" | "read" => (1.0, 0.0, 0.0),
        "randwrite" | "write" => (0.0, 1.0, 0.0),
        "trim" => (0.0, 0.0, 1.0),
        _ => (0.7, 0.3, 0.0),
    };
    // Six standard deviations of a binomial draw; pure loads have no draw.
    let near = |part: f64, share: f64| (part - all * share).abs() <= 6.0 * (all * share * (1.0 - share)).sqrt();
    assert!(near(ios("read"), read) && near(ios("write"), write) && near(ios("trim"), trim), "{rw}: {step}");
}

#[test]
fn the_null_engine_does_no_io() {
    let place = Place::new();
    let step = place.step("io --target null --engine null --iodepth 32 --runtime 200ms");
    assert_eq!(bytes_of(&step), step["ios"].as_u64().expect("ios") * 4096);
    assert!(check(&step, "diskstats").is_none() && !warns(&step, "small_footprint"));
    assert!(place.listing().is_empty());
}

#[test]
fn an_open_loop_keeps_a_modest_rate() {
    let place = Place::new();
    for process in ["fixed", "poisson"] {
        let load = format!("--rate 20k --rate-process {process} --iodepth 32 --runtime 500ms --seed 7");
        let achieved = |step: &Value| step["iops"].as_f64().expect("a rate") / 20_000.0;
        // A host that lets a worker wait at the end of its window takes I/Os from it: one of some runs is let alone.
        let runs = (0..8).map(|_| place.step(&format!("io --target null --engine null {load}")));
        let kept = |step: &Value| (0.95..1.05).contains(&achieved(step)) && step["open_loop"]["unsustainable"] == false;
        let step = runs.into_iter().find(kept).unwrap_or_else(|| panic!("{process}: no run kept its rate"));
        assert!(step["lat_ns"]["p50"].is_u64() && step["service_ns"].is_object());

        let load = format!("--rate 400 --rate-process {process} --iodepth 64 --runtime 500ms --size 16m --seed 7");
        let step = place.step(&format!("io --target . {load}"));
        assert_eq!(step["rate_iops"], 400.0);
        let achieved = step["iops"].as_f64().expect("a rate") / 400.0;
        // A disk that stops for a while is found out rather than hidden.
        let declared = step["open_loop"]["unsustainable"] == true;
        assert!(achieved < 1.2 && (achieved > 0.8 || declared), "{process}: {achieved}");
    }
}

#[test]
fn an_absurd_rate_is_declared_unsustainable_and_prints_no_percentile() {
    let place = Place::new();
    let words = "io --target . --rate 900m --iodepth 4 --size 16m --runtime 300ms";
    let step = place.step(words);
    assert_eq!(step["open_loop"]["unsustainable"], true);
    assert!(warns(&step, "rate_unsustainable"), "{}", step["warnings"]);
    assert!(step["read"]["lat_ns"].is_null());
    for latency in ["lat_ns", "slat_ns", "clat_ns", "service_ns"] {
        assert!(step[latency].is_null(), "{latency}: {}", step[latency]);
    }
    assert_eq!(step["percentile_curve"].as_array().map(Vec::len), Some(0));
    let ended = place.run(words);
    ended.expect(0, &["warning:", "rate"]);
    assert!(!ended.out.contains("p50") && ended.out.contains("IOPS"), "{}", ended.out);
}

#[test]
fn what_was_written_with_verify_is_found_again() {
    let place = Place::new();
    for engine in ["psync", "libaio", "io_uring", "mmap"] {
        let load = format!("--engine {engine} --iodepth 8 --size 16m --runtime 300ms --verify crc32c");
        let start = |rw: &str| (rw.to_owned(), place.start(&format!("io --target . --rw {rw} {load} --json")));
        for (rw, running) in ["randwrite", "write", "randrw"].map(start) {
            let ended = running.wait();
            ended.expect(0, &[]);
            let verify = &ended.json()["steps"][0]["verify"];
            assert!(verify["blocks_checked"].as_u64() > Some(0), "{engine} {rw}: {verify}");
            for bad in ["torn", "misplaced", "stale", "corrupt", "foreign"] {
                assert_eq!(verify[bad], 0, "{engine} {rw}: {verify}");
            }
        }
    }
}

#[test]
fn block_size_splits_and_zipf_are_done() {
    let place = Place::new();
    let step = place.step("io --target . --bssplit 4k/50:16k/50 --iodepth 8 --size 16m --runtime 300ms");
    let (ios, bytes) = (step["ios"].as_f64().expect("ios"), bytes_of(&step) as f64);
    let large = (bytes - ios * 4096.0) / (12_288.0 * ios);
    assert!((large - 0.5).abs() < 6.0 * (0.25 / ios).sqrt(), "share of large blocks: {large}");
    assert_eq!(step["block_size_bytes"], 16_384);

    let step = place.step("io --target . --distribution zipf:1.2 --iodepth 8 --size 16m --runtime 200ms");
    assert_eq!((&step["pattern"], &step["errors"]), (&"zipf:1.2".into(), &0.into()));
    place.run("io --target . --distribution zipf:x --size 16m").expect(2, &["zipf", "help:"]);
}

/// A plan and a fio job of several sections, and how many blocks of which size one pass is.
fn written_plans(place: &Place) -> [(&'static str, PathBuf); 2] {
    let plan = r#"
        [study]
        name = "mine"
        question = "Does a plan of my own run?"
        [defaults]
        engine = "libaio"
        size = "16m"
        loops = 1
        runtime = "30s"
        [[ladder]]
        rw = ["write", "randread"]
        bs = ["4k", "16k"]
        iodepth = [1, 8]
    "#;
    let job = "[global]\nioengine=libaio\ndirect=1\nsize=16m\nfilename=jobs.dat\n[a]\nrw=write\nbs=64k\niodepth=4\n\
               [b]\nstonewall\nrw=randread\nbs=4k\niodepth=8\n[c]\nstonewall\nrw=read\nbs=16k\nnumjobs=2\n";
    let (toml, fio) = (place.file("mine.toml"), place.file("mine.fio"));
    fs::write(&toml, plan).and_then(|()| fs::write(&fio, job)).expect("written");
    [("mine.toml", toml), ("mine.fio", fio)]
}

#[test]
fn plans_and_fio_jobs_run_all_their_sections() {
    let place = Place::new();
    written_plans(&place);
    let document = place.json("run mine.toml --target .", 0);
    contract::holds(&document);
    // Where this host's noise makes a drive look changed, a run measures a step once more: as a probe.
    let steps = document["steps"].as_array().expect("steps").iter().filter(|step| step["phase"] != "probe");
    let steps: Vec<&Value> = steps.collect();
    assert_eq!(steps.len(), 8);
    for step in steps {
        let block = step["block_size_bytes"].as_u64().expect("a size");
        assert_eq!(step["ios"].as_u64(), Some((16 << 20) / block), "{}: each block once", step["label"]);
    }
    assert_eq!(document["verdict"][0]["question"], "Does a plan of my own run?");

    let document = place.json("run mine.fio", 0);
    let steps = document["steps"].as_array().expect("steps");
    let ios: Vec<u64> = steps.iter().filter_map(|s| s["ios"].as_u64()).collect();
    // Each job of a sequential load reads all of its file, as fio's do.
    assert_eq!(ios, [256, 4096, 2 * 1024]);
    assert_eq!(names(&place), ["mine.fio", "mine.toml"]);
}

#[test]
fn plan_and_studies_say_what_would_be_done_and_touch_nothing() {
    let place = Place::new();
    written_plans(&place);
    let before = place.listing();
    let ended = place.run("plan quick --target .");
    ended.expect(0, &[]);
    assert!(ended.out.contains("4k random write") && ended.out.contains("made in this directory"), "{}", ended.out);
    assert_eq!(place.json("plan mine.toml --target .", 0)["steps"].as_array().map(Vec::len), Some(8));
    assert_eq!(place.json("plan mine.fio", 0)["steps"].as_array().map(Vec::len), Some(3));
    let studies = place.json("studies", 0);
    let quick = studies["studies"].as_array().expect("a list").iter().find(|s| s["name"] == "quick").expect("quick");
    assert_eq!(quick["writes"], true);
    assert_eq!(place.listing(), before);
    assert!(!place.lab().exists(), "a dry run needs no lab");
}

#[test]
fn json_of_a_run_stands_alone_on_stdout_and_progress_goes_to_stderr() {
    let place = Place::new();
    let ended = place.run("io --target . --size 16m --runtime 200ms --json");
    ended.expect(0, &["io ·", "run 1"]);
    contract::holds(&ended.json());
    let quiet = place.run("io --target . --size 16m --runtime 200ms --json --quiet");
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    contract::holds(&quiet.json());
}

#[test]
fn several_targets_are_summed_and_files_of_the_user_are_kept() {
    let place = Place::new();
    fs::write(place.file("mine"), vec![7_u8; 16 << 20]).expect("written");
    let step = place.step("io --target mine --target new --rw randread --size 16m --runtime 200ms --iodepth 2");
    assert_eq!((&step["devices"], &step["threads"]), (&2.into(), &1.into()));
    let per_target: Vec<u64> =
        step["workers"].as_array().expect("workers").iter().filter_map(|w| w["ios"].as_u64()).collect();
    assert_eq!(per_target.len(), 2);
    assert_eq!(Some(per_target.iter().sum()), step["ios"].as_u64());
    assert_eq!(place.listing(), [("mine".to_owned(), 16 << 20)]);
    assert!(fs::read(place.file("mine")).expect("kept").iter().all(|b| *b == 7), "reads change nothing");
}

#[test]
fn runs_side_by_side_share_a_directory_and_a_lab() {
    let place = Place::new();
    let words = "io --target . --rw randrw --verify crc32c --size 16m --iodepth 4 --runtime 400ms";
    let running: Vec<_> = (0..3).map(|_| place.start(words)).collect();
    for one in running {
        one.wait().expect(0, &[]);
    }
    let runs = place.json("list", 0)["runs"].as_array().expect("runs").clone();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        assert_eq!(run["state"], "finished");
        let step = &place.json(&format!("show {}", run["id"]), 0)["steps"][0];
        assert!(!warns(step, "verify_failed") && step["errors"] == 0, "each has a file of its own");
    }
    assert!(place.listing().is_empty());
}
