//! Users' questions, each answered within a first look: a sentence of at most 25 words, a table, the trust, one command.

use crate::cli::{Ended, Place};

/// Lines of an answer before its details. A sentence that is broken at 80 characters counts once.
const LINES_MAX: usize = 6;
const WORDS_MAX: usize = 25;

/// The answer without the line that names the run.
fn answer(place: &Place, words: &str) -> Vec<String> {
    answer_of(words, &place.run(&format!("{words} --quiet")))
}

fn answer_of(words: &str, ended: &Ended) -> Vec<String> {
    // A study that asks for more drives than there are says so by its exit code, and answers all the same.
    assert!(matches!(ended.code, Some(0 | 1)), "{words}\n{}", ended.err);
    let mut lines = unbroken(&ended.out);
    let run = lines.pop().expect("an answer");
    assert!(run.starts_with("More: fathom show ") && run.chars().count() <= COLUMNS, "{run}");
    lines
}

/// The lines of an answer, what was broken at 80 characters put together again.
fn unbroken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("  ") {
            // What was broken goes on under its first line; rows of the table follow a whole sentence.
            Some(rest) if lines.last().is_some_and(|l| !l.starts_with(' ') && !l.ends_with('.')) => {
                let last = lines.last_mut().expect("a line before");
                // The reason of a command stands two blanks behind it.
                last.push_str(if rest.starts_with("# ") { "  " } else { " " });
                last.push_str(rest);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// The answer, held to its limits.
fn first_look(place: &Place, words: &str) -> String {
    held(place, &answer(place, words))
}

/// The lines of an answer, held to its limits.
fn held(place: &Place, lines: &[String]) -> String {
    let count = lines[0].split_whitespace().count();
    assert!(count <= WORDS_MAX, "{count} words: {}", lines[0]);
    assert!(lines.len() <= LINES_MAX, "{} lines:\n{}", lines.len(), lines.join("\n"));
    for code_name in ["all_cores", "irq_core", "queue_depth", "page_cache", "±0.0 %", "NaN"] {
        assert!(lines.iter().all(|l| !l.contains(code_name)), "{code_name}:\n{}", lines.join("\n"));
    }
    next_is_a_command(place, lines.last().expect("a last line"));
    rows_fit(lines);
    lines.join("\n")
}

/// Columns of the narrowest terminal: no row of the table is broken there or cut.
const COLUMNS: usize = 80;

fn rows_fit(lines: &[String]) {
    for row in lines.iter().filter(|line| line.starts_with("  ")) {
        assert!(row.chars().count() <= COLUMNS && !row.contains('…'), "{} columns: {row}", row.chars().count());
    }
}

/// What is proposed can be typed: a run is planned instead, which reads the same words.
fn next_is_a_command(place: &Place, line: &str) {
    let (command, why) = line.split_once("  # ").unwrap_or_else(|| panic!("no reason: {line}"));
    let words = command.strip_prefix("Next: fathom ").unwrap_or_else(|| panic!("no command: {line}"));
    let planned = words.replacen("run ", "plan ", 1).replace(" --explain", "").replace('\'', "");
    // A file that is to be named is any file.
    let planned = planned.replacen("io --target FILE", "plan quick", 1).replace(" --rw write --fdatasync 1", "");
    let ended = place.run(&planned);
    assert!(ended.code == Some(0) && !why.is_empty(), "{line}\n{planned}\n{}", ended.err);
}

const DRIVE: &str = "--target sim:epyc-8004/ssd-0";

#[test]
fn how_fast_is_this_and_what_stops_it() {
    let place = Place::new();
    insta::assert_snapshot!(first_look(&place, &format!("run quick {DRIVE} --time-budget 20s")));
    insta::assert_snapshot!(first_look(&place, "run quick --target sim:epyc-8004 --time-budget 20s"));
}

#[test]
fn does_binding_threads_help() {
    insta::assert_snapshot!(first_look(&Place::new(), &format!("run pinning {DRIVE} --time-budget 80s")));
}

#[test]
fn how_long_are_the_tails_and_which_load_keeps_a_latency() {
    let place = Place::new();
    insta::assert_snapshot!(first_look(&place, &format!("run qos {DRIVE} --time-budget 20s")));
    let goal = "run qos --set latency_goal=p99<=200us";
    insta::assert_snapshot!(first_look(&place, &format!("{goal} {DRIVE} --time-budget 20s")));
}

#[test]
fn how_much_reading_beside_how_much_writing_keeps_a_latency() {
    let place = Place::new();
    insta::assert_snapshot!(first_look(&place, &format!("run surface {DRIVE} --time-budget 2m")));
    // Each pair of the grid was measured, or is decided by one that was: by a kept or near one of more, or two missed ones of less.
    let doc = place.json("show 1", 0);
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    let pair = |step: &serde_json::Value| {
        let pair = step["role"]["rate_pair"].as_object()?;
        Some((pair["read_pct"].as_u64()?, pair["write_pct"].as_u64()?))
    };
    let is_beyond = |step: &serde_json::Value| {
        let pairs = list(&doc["surfaces"][0]["pairs"]);
        let found = pairs.iter().find(|p| p["step"] == step["index"]).expect("a pair for each step");
        match found["outcome"].as_str().expect("a word") {
            "kept" => false,
            "missed" | "not_held" => true,
            _ => step["lat_ns"]["p99"].as_f64().expect("samples") > 2e6,
        }
    };
    let measured: Vec<_> = list(&doc["steps"]).iter().filter_map(|s| Some((pair(s)?, is_beyond(s)))).collect();
    let planned: Vec<_> = list(&doc["run"]["plan"]["steps"]).iter().filter_map(pair).collect();
    assert!(planned.len() == 80 && measured.len() < 60, "{} of {}", measured.len(), planned.len());
    for (reads, writes) in planned {
        let of =
            |beyond: bool| measured.iter().filter(move |(_, is_beyond)| *is_beyond == beyond).map(|(pair, _)| *pair);
        let is_kept = of(false).any(|(r, w)| reads <= r && writes <= w);
        let is_measured = of(true).any(|pair| pair == (reads, writes));
        let missed = of(true).filter(|(r, w)| *r <= reads && *w <= writes).count();
        assert!(is_kept || is_measured || missed >= 2, "{reads} % and {writes} %: {measured:?}");
    }
}

#[test]
fn how_does_each_group_behave() {
    let groups = "--group a=sim:epyc-8004/ssd-0 --group b=sim:epyc-8004/ssd-1,sim:epyc-8004/ssd-2";
    insta::assert_snapshot!(first_look(&Place::new(), &format!("run enterprise {groups} --time-budget 60s")));
}

#[test]
fn does_it_grow_with_drives_and_threads() {
    insta::assert_snapshot!(first_look(&Place::new(), "run scaling --target sim:epyc-8004 --time-budget 20s"));
}

#[test]
fn which_io_path_is_fastest() {
    insta::assert_snapshot!(first_look(&Place::new(), &format!("run engines {DRIVE} --time-budget 20s")));
}

#[test]
fn does_this_setting_help() {
    let words = format!("run tune --versus engine=libaio {DRIVE} --time-budget 20s");
    insta::assert_snapshot!(first_look(&Place::new(), &words));
}

#[test]
fn an_answer_shown_later_names_its_own_run() {
    let place = Place::new();
    let study = |versus: &str| place.run(&format!("run tune {DRIVE} --time-budget 10s --quiet{versus}"));
    study(" --versus engine=libaio").expect(0, &[]);
    study(" --versus engine=psync").expect(0, &[]);
    let shown = place.run("show 1").out;
    assert!(shown.contains("Next: fathom report 1 "), "{shown}");
    // Scaled again, the plan is as long as it now is; what the first scaling took is no longer true.
    let again = place.run("plan --like 1 --time-budget 10m");
    assert!(again.out.contains(" · 9 min ") || again.out.contains(" · 10 min "), "{}", again.out);
    assert!(!format!("{}{}", again.out, again.err).contains("instead of the full"), "{}", again.out);
    let list = place.run("list").out;
    assert_eq!(list.matches("`engine=libaio`").count(), 1, "the answer of each run: {list}");
    assert_eq!(list.matches("`engine=psync` is slower").count(), 1, "{list}");
    // Kept, and of the run as it stands: what is removed takes its sentence with it.
    assert_eq!(place.run("list").out, list);
    place.run("rm 2").expect(0, &[]);
    assert!(!place.run("list").out.contains("psync"), "run 2 is gone");
}

#[test]
fn a_run_that_cannot_be_read_or_was_judged_by_other_rules_does_not_spoil_the_list() {
    let place = Place::new();
    for engine in ["libaio", "psync"] {
        place.run(&format!("run tune {DRIVE} --time-budget 10s --quiet --versus engine={engine}")).expect(0, &[]);
    }
    let list = place.run("list").out;
    let lab = || rusqlite::Connection::open(place.lab()).expect("a lab");
    // The sentence of another run, kept by a build of the same version that judged otherwise.
    lab()
        .execute_batch(
            "UPDATE headline SET fathom_version = '0.1.0', sentence = (SELECT sentence FROM headline WHERE run_id = 1)",
        )
        .expect("changed");
    assert_eq!(place.run("list").out, list);
    lab().execute_batch("DELETE FROM headline; UPDATE step SET step_json = '{' WHERE run_id = 1").expect("damaged");
    let ended = place.run("list");
    ended.expect(0, &[]);
    assert!(ended.out.contains("`engine=psync` is slower"), "run 2 is whole: {}", ended.out);
    assert!(ended.out.contains("no answer: ") && ended.out.contains("fathom rm 1"), "{}", ended.out);
    let runs = place.json("list", 0)["runs"].clone();
    assert!(runs[0]["answer"].is_null() && runs[0]["answer_error"].is_string(), "{runs}");
    assert!(runs[1]["answer"].is_string() && runs[1].get("answer_error").is_none(), "{runs}");
}

#[test]
fn did_it_change() {
    let place = Place::new();
    let run = |set: &str| place.run(&format!("run quick {DRIVE} --time-budget 20s --quiet{set}")).expect(0, &[]);
    run("");
    place.run("compare last").expect(2, &["run 1 has one side only", "no run before it"]);
    run(" --set engine=libaio");
    insta::assert_snapshot!(compared(&place, "compare last"));
    assert_eq!(compared(&place, "compare 1 2"), compared(&place, "compare last"), "the run before it");
    for _ in 0..5 {
        run("");
    }
    // Runs of the load before them on this host tell how far runs lie apart.
    insta::assert_snapshot!(compared(&place, "compare 6 7"));
    place.run(&format!("run tune {DRIVE} --time-budget 20s --quiet --versus engine=psync")).expect(0, &[]);
    insta::assert_snapshot!(compared(&place, "compare last"));
}

/// The first look at a comparison, held to its lines.
fn compared(place: &Place, words: &str) -> String {
    let ended = place.run(words);
    ended.expect(0, &[]);
    // A sentence that is broken at 80 characters counts once; rows of the table hold figures in columns.
    let is_broken = |line: &&str| line.starts_with("  ") && !line.contains(" to ");
    let lines = ended.out.lines().count() - ended.out.lines().filter(is_broken).count();
    assert!(lines <= LINES_MAX, "{lines} lines:\n{}", ended.out);
    assert!(ended.out.lines().any(|l| l.starts_with("Next: fathom ")), "{}", ended.out);
    let all = unbroken(&ended.out);
    rows_fit(&all);
    // Above the rows stand what differs besides, and the answer with what the reader must know of it.
    let above: Vec<&String> = all.iter().take_while(|line| !line.starts_with(' ')).collect();
    for sentence in above.iter().flat_map(|line| line.split(". ")) {
        let count = sentence.split_whitespace().count();
        assert!(count <= WORDS_MAX, "{count} words: {sentence}");
    }
    ended.out
}

/// The first look of a command that makes no run.
fn told(place: &Place, words: &str) -> String {
    let ended = place.run(words);
    ended.expect(0, &[]);
    held(place, &unbroken(&ended.out))
}

#[test]
fn what_will_it_give_before_it_is_measured() {
    let place = Place::new();
    insta::assert_snapshot!(told(&place, "predict --device p5510-3840"));
    insta::assert_snapshot!(told(&place, "predict quick --device p5510-3840"));
    // What cannot be predicted, and which figures of the drive would change that.
    insta::assert_snapshot!(told(&place, "predict quick --device p5800x"));
    let all = place.run("predict quick --device p5800x --details").out;
    assert!(all.contains("ceilings at ") && all.contains("assumed: ") && all.contains("T1 QD64"), "{all}");
    // Predicted and measured beside each other, in one row of the answer; the table by step among the details.
    let run = format!("run quick --predict {DRIVE} --time-budget 20s");
    insta::assert_snapshot!(first_look(&place, &run));
    let details = place.run(&format!("{run} --quiet --details")).out;
    assert!(details.contains("Predicted at ") && details.contains("Median error of predicted IOPS"), "{details}");
    assert!(
        details.lines().skip_while(|l| !l.starts_with("Predicted at")).all(|l| l.chars().count() <= 80),
        "{details}"
    );
}

#[test]
fn every_drive_of_the_catalogue_is_predicted_or_its_missing_key_named() {
    let place = Place::new();
    let catalogue = place.json("catalogue list", 0);
    let devices = catalogue["devices"].as_array().expect("devices");
    assert!(devices.len() > 20, "{catalogue}");
    let mut predicted = 0;
    for device in devices {
        let id = device["id"].as_str().expect("an id");
        let ended = place.run(&format!("predict quick --device {id}"));
        match ended.code {
            Some(0) => {
                held(&place, &unbroken(&ended.out));
                predicted += 1;
            }
            _ => ended.expect(2, &["rand_read_4k_iops or seq_read_bytes_per_s", "fathom catalogue new"]),
        }
    }
    assert!(predicted >= 20, "{predicted} of {}", devices.len());
}

#[test]
fn how_many_drives_cores_and_lanes_for_a_goal() {
    let place = Place::new();
    insta::assert_snapshot!(told(&place, "predict --device p5510-3840 --goal iops>=10M,p99<=500us"));
    let all = place.run("predict --device p5510-3840 --goal bw>=20GB/s --set bs=128k --details").out;
    assert!(all.contains("ceilings, lowest first") && all.contains(" is met by "), "{all}");
    // A goal that nothing meets is an answer too.
    let forbidden = place.run("predict --device p5510-3840 --goal p99<=50us");
    forbidden.expect(1, &["cannot be met", "help: "]);
    assert!(forbidden.err.lines().count() <= LINES_MAX, "{}", forbidden.err);
}

#[test]
fn why_is_it_not_faster() {
    let place = Place::new();
    let shown = unbroken(&place.run("inspect").out);
    assert!(shown.len() <= LINES_MAX && shown[0].split_whitespace().count() <= WORDS_MAX, "{shown:#?}");
    assert!(shown.iter().any(|l| l.starts_with("Machine: ")), "{shown:#?}");
    assert!(shown.last().is_some_and(|l| l.starts_with("Next: fathom inspect ")), "{shown:#?}");
    let all = place.run("inspect --details").out;
    assert!(all.contains("\nAdvice") && all.contains("\nInterrupts"), "{all}");
}

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/labs/recorded.db.gz");

/// The answer of a run as it is shown later, held to its limits.
fn shown(place: &Place, run: u32) -> String {
    let ended = place.run(&format!("show {run}"));
    ended.expect(0, &[]);
    let answer = ended.out.split("\n\n").nth(1).expect("the answer behind the head");
    held(place, &unbroken(answer))
}

/// `labs/recorded.db.gz` was made by this program on a virtual machine with two CPUs that others kept busy: `quick`, `qos`
/// with a goal, one load by hand and `commit`, each for some seconds on a file. The names of the machine are taken out.
/// A lab with the recorded runs.
fn recorded() -> Place {
    let place = Place::new();
    let lab = std::fs::File::create(place.lab()).expect("a file");
    let unpacked = std::process::Command::new("gzip").args(["-dc", RECORDED]).stdout(lab).status();
    assert!(unpacked.expect("gzip runs").success());
    place
}

#[test]
fn what_was_measured_on_a_real_disk_is_answered_as_briefly() {
    let place = recorded();
    for run in 1..=3 {
        insta::assert_snapshot!(shown(&place, run));
    }
    let details = place.run("show 1 --details").out;
    assert!(details.contains("\nWhy\n") && details.contains("Caveat: "), "{details}");
}

/// On a simulated drive a sync is refused, so the answer is of a real one.
#[test]
fn how_long_is_a_durable_commit_and_why() {
    insta::assert_snapshot!(shown(&recorded(), 4));
}

#[test]
fn what_are_the_figures_after_snia_pts() {
    let place = Place::new();
    let words = format!("run snia --only iops {DRIVE} --time-budget 60s");
    let ended = place.run(&words);
    insta::assert_snapshot!(held(&place, &answer_of(&words, &ended)));
    assert_eq!(ended.err.matches("conditioned analytically").count(), 1, "each warning is said once: {}", ended.err);
}

#[test]
fn what_does_the_plain_path_give() {
    insta::assert_snapshot!(first_look(&Place::new(), &format!("run baseline {DRIVE} --time-budget 20s")));
}

#[test]
fn details_hold_everything_that_the_answer_rests_on() {
    let place = Place::new();
    let ended = place.run(&format!("run quick {DRIVE} --time-budget 20s --quiet --details"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for part in ["Trust: simulated", "Would help: ", "Caveat: ", "One 4k random read at a time"] {
        assert!(ended.out.contains(part), "{part}\n{}", ended.out);
    }
    let shown = place.run("show --details");
    assert!(shown.code == Some(0) && shown.out.contains("Why\n"), "{}", shown.out);
}

#[test]
fn what_does_this_one_load_give() {
    let place = Place::new();
    let io = format!("io {DRIVE} --rw randread --runtime 200ms");
    insta::assert_snapshot!(first_look(&place, &format!("{io} --iodepth 32")));
    // Probes make the limit surer, not the answer longer.
    insta::assert_snapshot!(first_look(&place, &format!("{io} --explain")));
    insta::assert_snapshot!(first_look(&place, &format!("{io} --rate 90m --iodepth 4")));
    for all in [place.run(&format!("{io} --details --quiet")), place.run("show --details")] {
        for part in ["  clat ", "IOPS per busy CPU", "Trust: simulated", "Caveat: "] {
            assert!(all.out.contains(part), "{part}\n{}", all.out);
        }
    }
    let probed = place.run(&format!("{io} --explain --details --quiet")).out;
    assert!(probed.contains("would help: more I/Os in flight") && probed.contains("(probe: QD"), "{probed}");
    // Why nothing was measured, and the way out, are the answer.
    let refused = place.run("io --target . --size 16m --placement 4000 --runtime 100ms -q");
    refused.expect(1, &[]);
    assert!(refused.out.contains("help: ") && refused.out.lines().count() <= LINES_MAX, "{}", refused.out);
}

#[test]
fn without_a_command_the_first_three_are_named_with_their_time() {
    let ended = Place::new().run("");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for part in [
        "fathom run quick",
        "1 min 01 s at most",
        "fathom inspect",
        "fathom run qos --time-budget 5m",
        "4 min 55 s at most",
    ] {
        assert!(ended.out.contains(part), "{part}\n{}", ended.out);
    }
    assert!(ended.out.lines().all(|l| l.chars().count() <= 120), "{}", ended.out);
}

#[test]
fn a_study_is_explained_and_its_file_printed() {
    let place = Place::new();
    let about = place.run("studies qos");
    assert!(about.out.contains("How long are the tails") && about.out.contains("at 90 % of max"), "{}", about.out);
    let all = place.run("studies").out;
    for time in ["3 h 31 min + fill", "2 d 05 h + fill", "1 min 01 s"] {
        assert!(all.contains(time), "{time}\n{all}");
    }
    let file = place.run("studies qos --toml");
    assert!(file.out.contains("[study]") && file.out.contains("[[ladder]]"), "{}", file.out);
    let unknown = place.run("studies qoss");
    assert!(unknown.code == Some(2) && unknown.err.contains("quick, "), "{}", unknown.err);
}
