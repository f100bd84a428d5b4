//! Loads that change with time: what each stage asked for and got, and bad input.

use std::fs;

use crate::cli::Place;
use serde_json::Value;

fn stages(step: &Value) -> &Vec<Value> {
    step["stages"].as_array().expect("stages")
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("no {key}: {of}"))
}

#[test]
fn each_stage_gets_what_it_asked_for_at_its_time() {
    let place = Place::new();
    let words = "io --target a.dat --size 16m --rw randread --iodepth 64 --stages 1s@300,500ms@2k,500ms@0,1s@100-500";
    let document = place.json(words, 0);
    let step = &document["steps"][0];
    let found = stages(step);
    let due = [300.0, 1_000.0, 0.0, 300.0];
    assert_eq!(found.len(), due.len());
    for (stage, due) in found.iter().zip(due) {
        // The I/O at a boundary may fall on either side, and an interval ends with what completed in it.
        assert!((number(stage, "ios") - due).abs() <= 0.05 * due + 4.0, "{stage}: {due}");
    }
    assert!((number(step, "ios") - 1_600.0).abs() <= 20.0, "{}", step["ios"]);
    assert!((number(&step["open_loop"], "intended_iops") - 1_600.0 / 3.0).abs() < 0.1, "{}", step["open_loop"]);
    assert_eq!(number(&found[1], "asked_to_iops"), 2_000.0);
    // What changes on purpose has neither one rate with an interval nor a steady state.
    assert!(step["iops_ci95"].is_null() && step["steady"].is_null(), "{}", step["iops_ci95"]);
    let shown = place.run("show last").out;
    assert!(shown.contains(" 2. 2.00k IOPS for 500 ms") && !shown.contains("has no 95 % interval"), "{shown}");
    let page = place.run("report last --output page.html");
    assert!(page.code == Some(0) && place.file("page.html").exists(), "{}", page.err);
}

#[test]
fn stages_of_a_study_are_shares_of_the_closed_loop_that_it_measures_first() {
    let place = Place::new();
    let text = "[study]\nquestion = \"What does a burst do?\"\n[defaults]\nruntime = \"500ms\"\nsize = \"16m\"\ntarget = \"a.dat\"\n\
                iodepth = 16\n[[ladder]]\n[[ladder.stage]]\nrate = \"5%\"\nfor = \"500ms\"\n[[ladder.stage]]\nrate = \"20%\"\n\
                for = \"300ms\"\n";
    fs::write(place.file("burst.toml"), text.replace("runtime = \"500ms\"\n", "")).expect("written");
    let document = place.json("run burst.toml", 0);
    let steps = document["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 2, "the closed loop comes first");
    let (closed, staged) = (number(&steps[0], "iops"), &steps[1]);
    for (stage, share) in stages(staged).iter().zip([0.05, 0.2]) {
        assert!((number(stage, "asked_from_iops") / closed - share).abs() < 0.01 * share, "{stage} of {closed}");
    }
    assert_eq!(staged["label"], "4k random read T1 QD16 in 2 stages at 5 to 20 % of max fixed");
}

#[test]
fn stages_that_cannot_be_are_refused_before_anything_is_made() {
    let place = Place::new();
    for (words, said) in [
        ("io --target a --size 1m --stages 10s", "for how long at which rate"),
        ("io --target a --size 1m --stages 50ms@5k", "multiple of 100 ms"),
        ("io --target a --size 1m --stages 1s@0", "nothing is due"),
        ("io --target a --size 1m --stages 1s@5k --runtime 3s", "exclude each other"),
        ("io --target sim:r740xd/pm1725-0 --stages 1s@5k", "keep one rate"),
    ] {
        let run = place.run(words);
        let text = format!("{}{}", run.out, run.err);
        assert!(run.code != Some(0) && text.contains(said), "{words}: {text}");
        assert!(!place.file("a").exists(), "{words}");
    }
}
