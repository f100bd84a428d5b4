//! Every shipped study from its command to its verdict, on small files and in a short time.

use std::fs;
use std::time::{Duration, Instant};

use crate::cli::machine::{LoopDevice, Zram};
use crate::cli::{Place, contract};
use serde_json::Value;

fn steps(document: &Value) -> &Vec<Value> {
    document["steps"].as_array().expect("steps")
}

/// Runs a study; it must end within its budget, with a verdict and every step of its plan that was not spared.
fn study(place: &Place, words: &str, budget_s: u64) -> Value {
    let begun = Instant::now();
    let ended = place.run(&format!("run {words} --time-budget {budget_s}s --json"));
    let took = begun.elapsed();
    // A step that cannot be had here is refused by name, and the run says so with its exit code.
    assert!(matches!(ended.code, Some(0 | 1)), "{words}\n{}", ended.err);
    let document = ended.json();
    let refused = steps(&document).iter().filter(|s| s["state"] == "refused").count();
    assert_eq!(ended.code == Some(1), refused > 0, "{words}\n{}", ended.err);
    // What is around the steps on a busy machine is not part of the promise, a hang is.
    assert!(took < Duration::from_secs(2 * budget_s + 10), "{words} took {took:?}");
    assert_eq!(document["run"]["state"], "finished", "{words}");
    holds(&document);
    document
}

fn holds(document: &Value) {
    let verdicts = document["verdict"].as_array().expect("verdicts");
    assert!(!verdicts.is_empty() && verdicts.iter().all(|v| v["answer"].as_str().is_some_and(|a| a.len() > 20)));
    let planned = document["run"]["plan"]["steps"].as_array().expect("the plan");
    let ended: Vec<u64> = steps(document).iter().map(|s| s["index"].as_u64().expect("an index")).collect();
    let mut once = ended.clone();
    once.dedup();
    assert_eq!(once, ended, "each step once, in order");
    for step in planned {
        let spared = step["role"]["round"]["index"].as_u64().is_some_and(|round| round >= 5);
        let index = step["index"].as_u64().expect("an index");
        assert!(spared || ended.contains(&index), "{} is missing", step["label"]);
    }
    let mut measured = document.clone();
    measured["steps"] =
        steps(document).iter().filter(|s| s["phase"] == "measure" && s["state"] == "measured").cloned().collect();
    let mut with_cpu = measured.clone();
    // A step shorter than a few ticks of the kernel's clock may have no CPU time to tell.
    with_cpu["steps"] = steps(&measured).iter().filter(|s| !s["cpu"].is_null()).cloned().collect();
    contract::holds(&with_cpu);
    // On a disk that others keep busy a step of a tenth of a second may see nothing completed; most see something.
    let silent = steps(&measured).iter().filter(|s| s["ios"] == 0).count();
    assert!(silent * 2 <= steps(&measured).len(), "{silent} of {} steps without an I/O", steps(&measured).len());
}

fn count(document: &Value, phase: &str) -> usize {
    steps(document).iter().filter(|s| s["phase"] == phase).count()
}

/// Each workload has four rates after its closed loops; the rates of a search follow.
fn rates_are_shares_of_the_closed_loops(qos: &Value) {
    for read_pct in [100, 70, 0] {
        let of = |test: &str| -> Vec<&Value> {
            steps(qos)
                .iter()
                .filter(|s| s["read_pct"] == read_pct && s["phase"] == "measure" && s["role"]["test"] == test)
                .collect()
        };
        let (depth, rate) = (of("depth"), of("rate"));
        assert!(depth.len() == 5 && (4..=12).contains(&rate.len()), "{read_pct} % reads: {}", rate.len());
        assert!(depth.iter().all(|s| s["index"].as_u64() < rate[0]["index"].as_u64()));
        let most = depth.iter().filter_map(|s| s["iops"].as_f64()).fold(0.0, f64::max);
        for (step, pct) in rate.iter().zip([25.0, 50.0, 75.0, 90.0]) {
            let iops = step["rate_iops"].as_f64().expect("a rate");
            assert!((iops / most * 100.0 / pct - 1.0).abs() < 1e-9, "{}: {iops} of {most}", step["label"]);
        }
    }
}

#[test]
fn baseline_ends_with_a_verdict() {
    let place = Place::new();
    let baseline = study(&place, "baseline --target . --set size=64m", 9);
    assert_eq!(count(&baseline, "measure"), 40);
    assert!(steps(&baseline).iter().all(|s| s["engine"] == "libaio" && s["placement"] == "unpinned"));
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn engines_ends_with_a_verdict() {
    let place = Place::new();
    let engines = study(&place, "engines --target . --set size=64m", 8);
    assert_eq!(count(&engines, "measure"), 30);
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn qos_ends_with_a_verdict() {
    let place = Place::new();
    let qos = study(&place, "qos --target . --set size=64m --set latency_goal=p99<=1s", 12);
    assert_eq!((count(&qos, "fill"), count(&qos, "settle")), (4, 15));
    // The rates of the plan, and those of the search for the highest one that keeps the goal.
    assert!((27..=27 + 3 * 8).contains(&count(&qos, "measure")), "{}", count(&qos, "measure"));
    rates_are_shares_of_the_closed_loops(&qos);
    let answers: Vec<&str> =
        qos["verdict"].as_array().expect("verdicts").iter().filter_map(|v| v["answer"].as_str()).collect();
    assert!(
        answers.len() == 2 && answers[0].contains("offered rate") && answers[0].contains("closed loop"),
        "{answers:?}"
    );
    assert!(answers[1].contains("highest rate held") || answers[1].contains("none of the rates"), "{answers:?}");
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn pinning_measures_both_placements_in_turns_and_compares_them() {
    let place = Place::new();
    let document = study(&place, "pinning --only sequential --target . --set size=64m", 10);
    assert_eq!(count(&document, "measure"), 2 * 4 * 2 * 2);
    let pairs = document["comparison"]["steps"].as_array().expect("a comparison");
    assert_eq!(pairs.len(), 8);
    let pinned = |s: &&Value| s["phase"] == "measure" && s["placement"] == "cores";
    for step in steps(&document).iter().filter(pinned) {
        assert!(!step["cpus"].as_array().expect("CPUs").is_empty(), "{}", step["label"]);
        assert_eq!(step["role"]["block"]["arm"], "placement=cores");
    }
}

#[test]
fn enterprise_sums_each_group_and_conditions_each_workload_once() {
    let place = Place::new();
    let words = "enterprise --only 4k --group left=a,b --group right=c,d --set size=32m";
    let document = study(&place, words, 14);
    for group in ["left", "right"] {
        let of = |phase: &str| {
            steps(&document).iter().filter(|s| s["group"] == group && s["phase"] == phase).collect::<Vec<_>>()
        };
        assert_eq!((of("measure").len(), of("fill").len(), of("settle").len()), (4, 4, 10), "{group}");
        for step in of("measure") {
            assert_eq!(step["devices"], 2);
            let each = step["by_target"].as_array().expect("a figure for each target");
            let sum: u64 = each.iter().map(|t| t["ios"].as_u64().expect("ios")).sum();
            assert_eq!((each.len(), Some(sum)), (2, step["ios"].as_u64()), "{}", step["label"]);
        }
    }
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn scaling_skips_what_this_machine_lacks() {
    let place = Place::new();
    let document = study(&place, "scaling --target a --target b --set size=64m", 5);
    assert_eq!(count(&document, "measure"), 14);
    let drives = |n: u64| steps(&document).iter().find(|s| s["role"]["devices"] == n && s["threads"] == 8);
    assert_eq!(drives(2).expect("two drives")["state"], "measured");
    let four = drives(4).expect("four drives");
    assert_eq!(four["state"], "skipped");
    assert!(four["reason"].as_str().is_some_and(|r| r.contains("wants 4 drives")), "{}", four["reason"]);
}

#[test]
fn tune_compares_a_knob_in_turns_and_needs_one() {
    let place = Place::new();
    place.run("run tune --target .").expect(2, &["none is named", "--versus"]);
    let document = study(&place, "tune --target . --set size=64m --versus engine=libaio", 12);
    assert_eq!(count(&document, "measure"), 4 * 12);
    assert_eq!(document["comparison"]["steps"].as_array().map(Vec::len), Some(4));
}

#[test]
fn snia_repeats_its_rounds_until_steady_and_shows_the_table() {
    let place = Place::new();
    let document = study(&place, "snia-latency --target . --set size=32m", 14);
    assert_eq!((count(&document, "purge"), count(&document, "precondition")), (1, 8));
    assert!(count(&document, "measure") >= 5 * 9);
    let tracked = |s: &&Value| s["role"]["round"]["metric"] == "lat_mean";
    let last = steps(&document).iter().rfind(tracked).expect("a tracked cell");
    assert_eq!((last["op"].as_str(), last["block_size_bytes"].as_u64()), (Some("randwrite"), Some(4096)));
    let pts = &last["steady"]["pts"];
    assert_eq!(pts["window"], serde_json::json!([1, 5]), "{pts}");
    assert!(pts["line"].as_str().is_some(), "{pts}");
}

#[test]
fn a_target_conditioned_for_a_workload_is_not_conditioned_again_within_the_run() {
    let place = Place::new();
    let text = "[defaults]\nprecondition=\"same\"\nsettle_rounds=5\nsettle_time=\"120ms\"\nsettle_load=\"1x4\"\nsize=\"32m\"\n\
                runtime=\"120ms\"\n[[ladder]]\nrw=\"randwrite\"\niodepth=[1,2,4]\n[[ladder]]\nrw=\"randwrite\"\nnumjobs=2\n";
    fs::write(place.file("same.toml"), text).expect("written");
    let document = place.json("run same.toml --target .", 0);
    assert_eq!((count(&document, "fill"), count(&document, "settle"), count(&document, "measure")), (4, 5, 4));
    let loops = |s: &Value| s["role"]["conditioning"]["loop_id"].clone();
    let measured = steps(&document).iter().filter(|s| s["phase"] == "measure");
    assert!(measured.map(loops).all(|id| id == 0), "all stand on the one loop");
    let again = place.json("run --like 1", 0);
    // A ladder that falls has its best step measured again, beside the plan.
    let planned = |s: &&Value| s["phase"] != "probe";
    let regions = |document: &Value| -> Vec<Value> {
        steps(document).iter().filter(planned).map(|s| s["footprint_bytes"].clone()).collect()
    };
    assert_eq!(regions(&again), regions(&document), "done again, each part is as large as before");
}

#[test]
fn a_run_that_is_done_again_on_other_targets_keeps_them_apart_as_its_steps_did() {
    let place = Place::new();
    fs::write(
        place.file("own.toml"),
        "[defaults]\nsize=\"8m\"\nruntime=\"100ms\"\n[[ladder]]\nrw=\"randread\"\niodepth=[1,2]\n",
    )
    .expect("written");
    let names = |document: &Value| -> Vec<Vec<String>> {
        let file = |t: &Value| t.as_str().expect("a path").rsplit('/').next().expect("a name").to_owned();
        let of = |s: &Value| s["targets"].as_array().expect("targets").iter().map(file).collect();
        steps(document).iter().map(of).collect()
    };
    let first = place.json("run own.toml --group pair=a,b --group one=c", 0);
    assert_eq!(names(&first), [vec!["a", "b"], vec!["c"], vec!["a", "b"], vec!["c"]]);
    let again = place.json("run --like 1 --target x --target y --target z", 0);
    assert_eq!(names(&again), [vec!["x", "y"], vec!["z"], vec!["x", "y"], vec!["z"]]);
    place
        .run("run --like 1 --target x --target y")
        .expect(2, &["2 targets cannot stand for the 3", "in this order: a, b, c"]);
    // Where all steps share one list, any other list will do.
    place.json("run own.toml --target a --target b", 0);
    assert_eq!(names(&place.json("run --like last --target z", 0)), [["z"], ["z"]]);
}

/// Bytes of the content of a device that are not zero.
fn nonzero(path: &str) -> usize {
    fs::read(path).expect("readable").iter().filter(|b| **b != 0).count()
}

const PURGED: &str = "[defaults]\nruntime=\"100ms\"\npurge=true\n[[ladder]]\nrw=\"randread\"\n";

#[test]
fn a_purge_empties_a_device_that_can_discard() {
    let place = Place::new();
    fs::write(place.file("purged.toml"), PURGED).expect("written");
    if let Some(zram) = Zram::new("32M") {
        fs::write(zram.path(), vec![7_u8; 32 << 20]).expect("written");
        purges(&place, &zram.path(), &zram.name());
    }
    if let Some(device) = LoopDevice::new(&place, &vec![7_u8; 32 << 20]) {
        purges(&place, &device.path, device.name());
        let read = &place.json("show last", 0)["steps"][1];
        let said = read["warning_texts"].to_string();
        assert!(said.contains("100 % of the region was never written"), "the file behind it is a hole now: {said}");
    }
}

fn purges(place: &Place, path: &str, name: &str) {
    assert!(nonzero(path) > 1 << 20);
    let words = format!("run purged.toml --target {path}");
    place.run(&words).expect(3, &["would be overwritten"]);
    assert!(nonzero(path) > 1 << 20, "{path}: refused, and nothing was purged");
    let planned = place.run(&format!("plan purged.toml --target {path}"));
    assert!(planned.out.contains(path) && planned.out.contains("would be refused"), "{}", planned.out);
    // It carries what nobody recognises: that has to be said.
    let allow = format!("--destroy {name}:data");
    place.run(&format!("{words} --destroy {name}")).expect(3, &["carries data that nobody recognises", &allow]);
    let ended = place.run(&format!("{words} {allow}"));
    ended.expect(0, &["purge", "every block discarded", "(it is no NVMe drive)"]);
    assert!(ended.err.contains(&format!("{path}: its content is destroyed")), "{}", ended.err);
    assert_eq!(nonzero(path), 0, "{path} is empty");
    let document = place.json("show last", 0);
    let purge = &document["steps"][0]["purges"][0];
    assert_eq!((purge["method"].as_str(), purge["bytes"].as_u64()), (Some("discard"), Some(32 << 20)), "{purge}");
}

#[test]
fn a_purge_by_a_means_that_the_target_lacks_is_declared_absent_and_changes_nothing() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![7_u8; 32 << 20]) else { return };
    for means in ["format", "sanitize"] {
        fs::write(place.file("by.toml"), PURGED.replace("true", &format!("\"{means}\""))).expect("written");
        let document = place.json(&format!("run by.toml --target {} --destroy {}:data", device.path, device.name()), 0);
        let purge = &document["steps"][0];
        assert_eq!(purge["label"], format!("purge by {means}"));
        assert_eq!(purge["purges"][0]["method"], "absent", "{purge}");
        let said = purge["warning_texts"].to_string();
        assert!(said.contains("was not purged: it is no NVMe drive"), "{said}");
        assert_eq!(nonzero(&device.path), 32 << 20, "{means}: nothing was changed");
    }
}

#[test]
fn plan_says_before_anything_happens_what_is_written_how_long_it_takes_and_what_is_destroyed() {
    let place = Place::new();
    let planned = place.run("plan enterprise --group left=a,b --group right=c,d --set size=32m");
    planned.expect(0, &[]);
    for words in ["128 MiB", "as much as the targets take in", "5 to 25 rounds", "left", "right", "is made and removed"]
    {
        assert!(planned.out.contains(words), "no `{words}` in\n{}", planned.out);
    }
    assert!(planned.out.lines().count() < 80, "rounds and passes are one line each:\n{}", planned.out);
    assert!(place.listing().is_empty() && !place.lab().exists(), "nothing happened");
    let reads = place.run("plan engines --target .");
    assert!(reads.out.contains("written: 1 GiB\n"), "only its file is laid out: {}", reads.out);
}

#[test]
fn plan_says_of_an_existing_file_what_the_run_would_do() {
    let place = Place::new();
    fs::write(place.file("writes.toml"), "[defaults]\nruntime=\"100ms\"\nsize=\"1m\"\n[[ladder]]\nrw=\"randwrite\"\n")
        .expect("written");
    fs::write(place.file("ledger"), vec![7; 1 << 20]).expect("written");
    let planned = |words: &str| {
        let planned = place.run(&format!("plan writes.toml {words}"));
        planned.expect(0, &[]);
        planned.out
    };
    let refused = " ledger: would be refused: ledger exists and was not created by Fathom";
    let overwritten = " ledger: this existing file is overwritten in place and kept\n";
    let (careful, allowed) = (planned("--target ledger"), planned("--target ledger --overwrite"));
    assert!(careful.contains(refused) && careful.contains("--overwrite"), "{careful}");
    assert!(allowed.contains(overwritten) && !allowed.contains("refused"), "{allowed}");
    assert_eq!(fs::read(place.file("ledger")).expect("there"), vec![7; 1 << 20], "nothing happened");
    // The run does as was said.
    place.run("run writes.toml --target ledger").expect(3, &["was not created by Fathom"]);
    // A file of this lab needs no permission, nor does one without data; the lab itself is never written.
    place.run("run writes.toml --target own --keep -q").expect(0, &[]);
    assert!(planned("--target own").contains(" own: this existing file is overwritten in place and kept\n"));
    let lab = place.lab().to_string_lossy().into_owned();
    let of_lab = planned(&format!("--target {lab} --overwrite"));
    assert!(of_lab.contains(&format!(" {lab}: would be refused: ")), "{of_lab}");
    let read = place.run("plan engines --target ledger --set size=64k");
    assert!(read.out.contains(" ledger: read only\n"), "{}", read.out);
}
