//! `fathom compare` with the real program: runs against each other, the sides of one run, and wrong words.

use std::fs;

use crate::cli::Place;
use serde_json::Value;

/// Loads of the loop without I/O: alike on every machine, with enough intervals for an interval of confidence.
const PLAN: &str = r#"
[study]
name = "loop"
question = "How fast is the loop?"

[defaults]
engine = "null"
bs = "4k"
rw = "randread"
runtime = "600ms"

[[ladder]]
iodepth = [1, 8]
"#;

fn with_plan() -> Place {
    let place = Place::new();
    fs::write(place.file("loop.toml"), PLAN).expect("written");
    place
}

fn verdicts(comparison: &Value) -> Vec<&str> {
    comparison["steps"].as_array().expect("steps").iter().map(|s| s["verdict"].as_str().expect("a word")).collect()
}

#[test]
fn runs_are_set_against_each_other_and_only_a_real_loss_fails() {
    let place = with_plan();
    for _ in 0..2 {
        place.run("run loop.toml --target null -q").expect(0, &[]);
    }
    // The same twice: how fast a shared machine is differs, but never to a quarter.
    place
        .run("compare 1 2 --margin 5% --fail-if-slower 75%")
        .expect(5, &["inconclusive: 2 steps", "too few runs (A: 1, B: 1)"]);
    let same = place.json("compare 1 2", 0);
    assert_eq!((&same["kind"], &same["margin_pct"]), (&"comparison".into(), &2.0.into()));
    assert_eq!(same["steps"].as_array().map(Vec::len), Some(2));
    // Other tests may run during one of the two.
    let differences = same["environment"].as_array().expect("a list").iter();
    let of_the_host = differences.filter(|difference| difference["what"] != "CPUs busy with other work");
    assert_eq!(of_the_host.count(), 0, "one host, one plan: {same}");
    for step in same["steps"].as_array().expect("steps") {
        let ratio = step["ratio"].as_f64().expect("a ratio");
        assert!(step["ci95"].is_null() && ratio > 0.25, "{step}");
        assert_eq!(step["verdict"], "unsure", "one run is one draw");
        assert!(step["metrics"].as_array().is_some_and(|m| m.len() >= 2), "{step}");
    }

    // The same load through the page cache costs at least ten times as much as nothing at all.
    let cached = "run loop.toml --target . --set engine=psync --set iodepth=1 --set direct=0 --set size=4m -q";
    place.run(cached);
    let compared = place.json("compare 1 3", 0)["steps"][0].clone();
    assert!(compared["ratio"].as_f64().is_some_and(|r| r < 0.5), "{compared}");
    assert_eq!(compared["verdict"], "unsure", "one run is one draw, however far apart");
    let ended = place.run("compare 1 last --details --fail-if-slower 50% -o page.html");
    ended.expect(
        5,
        &["Report: page.html", "inconclusive: 1 step may be slower by more than 50 %", "fathom run --like 1"],
    );
    // Three runs a side tell it, unless the host's noise is that of a factor: then nothing may fail.
    place.run("run loop.toml --target null -q").expect(0, &[]);
    for _ in 0..2 {
        place.run(cached);
    }
    let thrice = place.json("compare 1,2,4 3,5,6", 0);
    assert_eq!(thrice["sides"][1]["runs"], serde_json::json!([3, 5, 6]));
    assert_eq!(thrice["sides"][1]["title"], "runs 3, 5, 6");
    let of_six = &thrice["steps"][0];
    assert_eq!((&of_six["spread"]["source"], &of_six["spread"]["runs"]), (&"runs".into(), &6.into()));
    let slower = of_six["verdict"] == "slower";
    assert!(slower || of_six["verdict"] == "unsure", "{of_six}");
    let judged = place.run("compare 1,2,4 3,5,6 --details --fail-if-slower 50%");
    judged.expect(
        if slower { 1 } else { 5 },
        &["by more than 50 %: 4k random read T1 QD1 (", "fathom run STUDY --versus"],
    );
    assert!(judged.out.contains("from the 6 runs compared"), "{}", judged.out);
    assert!(ended.out.starts_with("A  run 1 · loop"), "{}", ended.out);
    let (differs, answer) = (ended.out.find("What else differs"), ended.out.find("run 3 against run 1: the step"));
    assert!(differs.is_some() && differs < answer, "the environment comes first:\n{}", ended.out);
    for words in [" engine                   null ", "page cache", "engine null against psync"] {
        assert!(ended.out.contains(words), "no `{words}` in\n{}", ended.out);
    }
    let page = fs::read_to_string(place.file("page.html")).expect("the page");
    assert!(page.contains("Fathom comparison: run 1, run 3") && !page.contains("src=\"http"), "offline");
    // In the other direction it is faster, and all three at once have two sides beside the reference.
    let reversed = place.json("compare 3,5,6 1,2,4", 0);
    let least = reversed["steps"][0]["ci95"][0].as_f64();
    assert!(!slower || least > Some(1.0), "{reversed}");
    let shows_that_it_is_not = least.is_some_and(|least| least >= 0.97);
    place.run("compare 3,5,6 1,2,4 --fail-if-slower 3%").expect(if shows_that_it_is_not { 0 } else { 5 }, &[]);
    let three = place.json("compare 1 2 3", 0);
    assert_eq!(three["sides"].as_array().map(Vec::len), Some(3));
    assert_eq!(three["steps"][2]["side"], "C");
    assert_eq!(three["steps"][2]["ratio"], compared["ratio"]);
}

/// A drive of its own, in virtual time: what a run gives is known, and nothing differs from run to run.
fn bench(read_us: u32) -> String {
    format!(
        r#"[machine]
title = "a test bench"

[host]
sockets = 1
cores = 8

[engine.default]
user = "0.2us"
submit = "1us"
complete = "0.5us"
interrupt = "0.5us"

[[device]]
name = "quick-ssd"
capacity = "64 GB"
command = "1us"
fixed = "2us"

[device.xpoint]
units = 8
unit = "4 KiB"
read = "{read_us}us"
write = "10us"

[[drive]]
name = "ssd"
device = "quick-ssd"
link = {{ gen = 4, lanes = 4 }}
"#
    )
}

#[test]
fn one_run_a_side_is_inconclusive_until_other_runs_tell_how_far_runs_differ() {
    let place = Place::new();
    let run = |read_us: u32| {
        fs::write(place.file("bench.toml"), bench(read_us)).expect("a machine");
        let io = "--rw randread --iodepth 4 --runtime 1500ms";
        place.run(&format!("io --target sim:bench.toml {io} -q")).expect(0, &[]);
    };
    // Runs 1 and 2: the drive answers in 10 and in 12 us.
    run(10);
    run(12);
    let ended = place.run("compare 1 2 --details --fail-if-slower 5%");
    ended.expect(5, &["inconclusive: 1 step may be slower by more than 5 %", "A: 1, B: 1", "three runs per side"]);
    assert!(ended.out.contains("the step is inconclusive. Inconclusive: too few runs"), "{}", ended.out);
    let step = place.json("compare 1 2", 0)["steps"][0].clone();
    assert_eq!((&step["verdict"], &step["ci95"], &step["spread"]), (&"unsure".into(), &Value::Null, &Value::Null));
    assert!(step["inconclusive"].as_str().is_some_and(|why| why.contains("too few runs")), "{step}");
    assert!(step["ratio"].as_f64().is_some_and(|r| r < 0.93), "{step}");

    // Three a side tell it by themselves: slower, and the same as another three.
    for read_us in [10, 10, 12, 12, 10, 10, 10] {
        run(read_us);
    }
    let ended = place.run("compare 1,3,4 2,5,6 --details --fail-if-slower 5%");
    ended.expect(1, &["1 step is slower by more than 5 %: 4k random read T1 QD4 ("]);
    assert!(ended.out.contains("from the 6 runs compared"), "{}", ended.out);
    place.run("compare 1,3,4 7,8,9 --fail-if-slower 5%").expect(0, &[]);

    // Now the lab holds enough of this load on this host for one run a side.
    let ended = place.run("compare 1 2 --details --fail-if-slower 5%");
    ended.expect(1, &["1 step is slower by more than 5 %"]);
    assert!(ended.out.contains("from 7 runs of this kind of load on this host"), "{}", ended.out);
    let known = place.json("compare 1 2", 0)["steps"][0]["spread"].clone();
    assert_eq!((&known["source"], &known["runs"]), (&"ledger".into(), &7.into()));
    let ended = place.run("compare 1 3 --details --fail-if-slower 5%");
    ended.expect(0, &[]);
    assert!(ended.out.contains("the step is the same within 2 %"), "{}", ended.out);

    // A result of another program does not say where it was measured, whatever the lab holds.
    place.run("export 2 --format fio-json -o fio.json").expect(0, &[]);
    place.run("import fio.json").expect(0, &[]);
    let ended = place.run("compare 1 10 --fail-if-slower 5%");
    ended.expect(5, &["inconclusive: 1 step", "B does not say on which host it was measured"]);
}

#[test]
fn the_sides_of_one_run_are_compared_and_its_verdict_says_so() {
    let place = with_plan();
    let short = "--target null --set runtime=100ms --set iodepth=1";
    let ended = place.run(&format!("run loop.toml {short} --versus rate_iops=2k -q"));
    ended.expect(0, &[]);
    assert!(
        ended.out.starts_with("No: `rate_iops=2k` is slower at the one load measured"),
        "the run's own verdict answers: {}",
        ended.out
    );
    let ended = place.run("compare 1 --details --fail-if-slower 3%");
    ended.expect(1, &["1 step is slower by more than 3 %: ", "help: measured in turns", "fathom show 1"]);
    assert!(ended.out.contains("rate_iops=2k of run 1"), "{}", ended.out);
    assert!(ended.out.contains("measured in one run, in turns"), "{}", ended.out);
    let sides = place.json("compare last", 0);
    assert_eq!((verdicts(&sides), &sides["steps"][0]["design"]), (vec!["slower"], &"paired".into()));
    assert_eq!(sides["steps"][0]["metrics"][0]["pairs"].as_array().map(Vec::len), Some(6));
    assert!(place.run("show 1").out.contains("rate_iops"), "the run shows its comparison");
}

#[test]
fn wrong_words_say_what_to_do() {
    let place = with_plan();
    place.run("compare 1 2").expect(1, &["error: ", "lab.db"]);
    place.run("run loop.toml --target null --set runtime=100ms -q").expect(0, &[]);
    place.run("io --engine null --target null --bs 64k --rw write --runtime 100ms -q").expect(0, &[]);
    let table: &[(&str, &[&str])] = &[
        ("compare", &["RUN"]),
        ("compare 1 7", &["no run 7", "help:"]),
        ("compare 1 one", &["`one` is not a run", "fathom list"]),
        ("compare 1 1", &["run 1 is named twice", "help:"]),
        ("compare 2 last", &["run 2 is named twice"]),
        ("compare 1,2 2", &["run 2 is named twice"]),
        ("compare 1,,2 1", &["`` is not a run", "fathom list"]),
        ("compare 1", &["run 1 has one side only", "no run before it", "--versus KEY=VALUE"]),
        ("compare 1 2", &["no step of run 2 does what a step of run 1 did", "--like"]),
        ("compare 1 2 --margin wide", &["--margin", "`wide` is not a percentage", "for example 3%"]),
        ("compare 1 2 --margin 2x", &["unknown unit `x`", "for example 3%"]),
        ("compare 1 2 --margin 100%", &["--margin", "below 100"]),
        ("compare 1 2 --fail-if-slower never", &["--fail-if-slower", "`never` is not a percentage"]),
        ("compare 1 2 --fail-if-slower 1%", &["within the margin of 2%", "--margin 1%"]),
        ("compare 1 2 --fail-if-slowr 1%", &["--fail-if-slowr", "'--fail-if-slower'"]),
    ];
    for (words, said) in table {
        let ended = place.run(words);
        ended.expect(2, said);
        assert_eq!(ended.out, "", "{words}: nothing on stdout");
    }
}
