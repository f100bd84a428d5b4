//! Runs that were killed or stopped go on where they were: nothing is lost, nothing is measured twice, settings are put
//! back, and another drive is refused.

use std::fs;
use std::time::Duration;

use crate::cli::machine::{LoopDevice, Mounted, Zram, tool};
use crate::cli::{Place, contract, listing_of};
use rusqlite::Connection;
use serde_json::{Value, json};

/// All phases: a purge, two sequential passes, five rounds to settle, and four cells, for reads and then for writes.
const PHASES: &str = r#"
[study]
name = "phases"
question = "Does it go on?"
[defaults]
engine = "libaio"
bs = "4k"
size = "256m"
runtime = "150ms"
precondition = "snia"
settle_load = "2x4"
settle_rounds = 5
settle_time = "150ms"
[[ladder]]
rw = ["randread", "randwrite"]
iodepth = [1, 4]
"#;

/// The steps of the plan: a run adds probes where the host was busy, which differ from run to run.
fn steps(document: &Value) -> Vec<Value> {
    let all = document["steps"].as_array().expect("steps");
    all.iter().filter(|step| step["phase"] != "probe").cloned().collect()
}

/// What the plan of the run wants to be done.
fn planned(document: &Value) -> Vec<Value> {
    document["run"]["plan"]["steps"].as_array().expect("the plan's steps").clone()
}

fn named(steps: &[Value]) -> Vec<(u64, String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    steps.iter().map(|s| (s["index"].as_u64().expect("an index"), text(&s["label"]), text(&s["phase"]))).collect()
}

/// Number of steps that run 1 has committed.
fn committed(place: &Place) -> usize {
    steps(&place.json("show 1", 0)).len()
}

#[test]
fn a_run_killed_in_every_phase_goes_on_and_ends_with_the_steps_of_an_undisturbed_one() {
    let place = Place::new();
    fs::write(place.file("phases.toml"), PHASES).expect("written");
    place.run("run phases.toml --target whole --quiet").expect(0, &[]);
    let whole = steps(&place.json("show 1", 0));
    place.run("rm 1").expect(0, &[]);

    // Said on stderr when the step before the one to be killed has ended, and the phase that is killed.
    let kills = [
        ("killed before its first step", " · run ", "purge"),
        ("in the first pass", "purge", "precondition"),
        ("between the passes", "pass 1 of 2, part 4 of 4", "precondition"),
        ("in the first round", "pass 2 of 2, part 4 of 4", "settle"),
        ("in the first cell", "steady after", "measure"),
        ("between two cells", "4k random read T1 QD1 ", "measure"),
        ("in the second purge or its passes", "4k random read T1 QD4 ", ""),
        ("in the second loop", "pass 2 of 2, part 4 of 4", "settle"),
        ("in the last cells", "4k random write T1 QD1 ", "measure"),
    ];
    let mut before: Vec<Value> = Vec::new();
    let mut phases = Vec::new();
    for (at, (what, said, phase)) in kills.into_iter().enumerate() {
        let words = if at == 0 { "run phases.toml --target data" } else { "run --resume 2" };
        let mut running = place.start(words);
        let said_since_steps = |talk: &str| match said {
            " · run " => talk.contains(said),
            // The head of the table and notes come before the first step of this process.
            _ => talk.lines().skip_while(|l| !l.contains(" · run ")).any(|l| l.contains(said)),
        };
        running.until(what, said_since_steps);
        std::thread::sleep(Duration::from_millis(30));
        running.signal("KILL");
        let ended = running.wait();
        assert_eq!(ended.code, None, "{what}: killed, not ended: {}", ended.err);

        let document = place.json("show 2", 0);
        assert_eq!(document["run"]["state"], "interrupted", "{what}");
        let now = steps(&document);
        assert!(now.len() >= before.len(), "{what}: steps were lost");
        assert!(now.iter().zip(&before).all(|(a, b)| a["ios"] == b["ios"] && a["index"] == b["index"]), "{what}");
        let next = planned(&document).get(now.len()).map(|s| s["phase"].clone()).expect("steps are left");
        assert!(phase.is_empty() || next == phase, "{what}: {next} was next");
        phases.push(next.as_str().expect("a phase").to_owned());
        before = now;
    }
    for phase in ["purge", "precondition", "settle", "measure"] {
        assert!(phases.iter().any(|p| p == phase), "never killed in {phase}: {phases:?}");
    }
    assert!(place.file("data").exists(), "what was conditioned stays for the rest of the run");
    let ended = place.run("run --resume 2");
    ended.expect(0, &[]);
    let document = place.json("show 2", 0);
    assert_eq!(document["run"]["state"], "finished");
    let all = steps(&document);
    assert_eq!(named(&all), named(&whole), "the same steps as undisturbed, each once");
    assert!(all.iter().zip(&before).all(|(a, b)| a["ios"] == b["ios"]), "what was measured before stays as it was");
    assert!(!place.file("data").exists(), "the file that the run made is removed at its end");
    assert!(!document["verdict"].as_array().expect("verdicts").is_empty());
    let measured = Value::Array(all.into_iter().filter(|s| s["phase"] == "measure").collect());
    let mut only_measured = document;
    only_measured["steps"] = measured;
    contract::holds(&only_measured);
    // A finished run is not gone on with.
    place.run("run --resume 2").expect(1, &["run 2 is finished"]);
}

#[test]
fn a_stopped_run_measures_the_step_again_that_it_was_stopped_in() {
    let place = Place::new();
    let text = PHASES.replace("\"snia\"", "\"none\"").replace("150ms", "1s").replace("256m", "32m");
    fs::write(place.file("four.toml"), text).expect("written");
    let mut running = place.start("run four.toml --target .");
    running.until("its second step", |talk| talk.contains("4k random read T1 QD1 "));
    std::thread::sleep(Duration::from_millis(300));
    running.signal("INT");
    running.wait().expect(4, &[]);
    let stopped = steps(&place.json("show 1", 0));
    assert_eq!(stopped.len(), 2, "the step that was stopped is kept");
    assert!(stopped[1]["runtime_s"].as_f64() < Some(0.9), "{}", stopped[1]["runtime_s"]);
    place.run("run --resume 1").expect(0, &[]);
    let all = steps(&place.json("show 1", 0));
    assert_eq!((all.len(), &all[0]["ios"]), (4, &stopped[0]["ios"]));
    assert!(all[1]["runtime_s"].as_f64() > Some(0.9), "measured again, whole: {}", all[1]["runtime_s"]);
    assert!(place.listing().iter().all(|(name, _)| name == "four.toml"), "{:?}", place.listing());
}

/// A pair of rates that keeps its goal for sure, a step to be killed in, and pairs that ask for less.
const PAIRS: &str = r#"
[study]
name = "pairs"
question = "What is decided already?"
[defaults]
engine = "libaio"
bs = "4k"
size = "32m"
iodepth = 4
runtime = "500ms"
precondition = "none"
[[ladder]]
latency_goal = "lat<=1h"
read_rate = ["2%"]
write_rate = ["2%"]
[[ladder]]
rw = "randread"
iodepth = 2
runtime = "2s"
[[ladder]]
latency_goal = "lat<=1h"
read_rate = ["0%", "1%", "2%"]
write_rate = ["0%", "1%", "2%"]
"#;

#[test]
fn a_killed_run_remembers_what_its_pairs_of_rates_decide() {
    let place = Place::new();
    fs::write(place.file("pairs.toml"), PAIRS).expect("written");
    let mut running = place.start("run pairs.toml --target .");
    running.until("the pair", |talk| talk.lines().any(|l| l.contains("reads 2 % + writes 2 %") && l.contains("rate")));
    running.signal("KILL");
    running.wait();
    assert_eq!(committed(&place), 3, "the most of each, and the pair");
    place.run("run --resume 1").expect(0, &[]);
    let document = place.json("show 1", 0);
    assert_eq!(
        document["surfaces"][0]["pairs"].as_array().map(Vec::len),
        Some(1),
        "it speaks for all that ask for less"
    );
    assert_eq!((steps(&document).len(), planned(&document).len()), (4, 11));
}

#[test]
fn a_conditioned_file_that_is_gone_is_refused() {
    let place = Place::new();
    fs::write(place.file("phases.toml"), PHASES.replace("256m", "32m")).expect("written");
    let mut running = place.start("run phases.toml --target data");
    running.until("its first pass", |talk| talk.contains("part 1 of 4"));
    running.signal("KILL");
    running.wait();
    let before = committed(&place);
    fs::remove_file(place.file("data")).expect("removed");
    place.run("run --resume 1").expect(3, &["run 1 cannot go on", "data", "is gone", "--like"]);
    assert_eq!(committed(&place), before, "nothing was added");
    assert_eq!(place.json("show 1", 0)["run"]["state"], "interrupted");
}

#[test]
fn another_drive_under_the_same_name_is_refused() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![1; 32 << 20]) else { return };
    fs::write(place.file("reads.toml"), "[defaults]\nruntime=\"300ms\"\n[[ladder]]\niodepth=[1,2,4,8]\n")
        .expect("written");
    let mut running = place.start(&format!("run reads.toml --target {}", device.path));
    running.until("its first step", |talk| talk.contains("4k random read T1 QD1 "));
    running.signal("KILL");
    running.wait();
    let before = committed(&place);
    let other = place.beside("other.img");
    fs::write(&other, vec![1; 48 << 20]).expect("an image");
    tool("losetup", &["-d", &device.path]).expect("detached");
    tool("losetup", &[&device.path, other.to_str().expect("UTF-8")]).expect("attached");
    let words = ["run 1 cannot go on here", "the drive behind", "33554432 bytes", "50331648 bytes", "--like"];
    place.run("run --resume 1").expect(3, &words);
    assert_eq!(committed(&place), before, "nothing was added");
    // The drive of before is back: the run goes on.
    tool("losetup", &["-d", &device.path]).expect("detached");
    tool("losetup", &[&device.path, device.image.to_str().expect("UTF-8")]).expect("attached");
    place.run("run --resume 1").expect(0, &[]);
    assert_eq!(committed(&place), 4);
}

/// The machine that run 1 keeps, put in place of what it kept; what it kept.
fn kept_machine(place: &Place, instead: Option<&Value>) -> Value {
    let lab = Connection::open(place.lab()).expect("a lab");
    let text: String = lab.query_row("SELECT host_json FROM run WHERE id = 1", [], |row| row.get(0)).expect("run 1");
    if let Some(host) = instead {
        lab.execute("UPDATE run SET host_json = ?1 WHERE id = 1", [host.to_string()]).expect("changed");
    }
    serde_json::from_str(&text).expect("json")
}

#[test]
fn a_run_that_began_on_another_machine_is_refused_with_all_that_differs_and_loses_nothing() {
    let place = Place::new();
    fs::write(place.file("reads.toml"), "[defaults]\nruntime=\"300ms\"\nsize=\"32m\"\n[[ladder]]\niodepth=[1,2,4,8]\n")
        .expect("written");
    let mut running = place.start("run reads.toml --target data");
    running.until("its first step", |talk| talk.contains("4k random read T1 QD1 "));
    running.signal("KILL");
    running.wait();
    let before = steps(&place.json("show 1", 0));
    let here = kept_machine(&place, None);
    let mut elsewhere = here.clone();
    elsewhere["cpu_model"] = json!("Slow CPU 1");
    elsewhere["kernel"] = json!("2.6.32-1-other");
    elsewhere["memory_bytes"] = json!(1 << 20);
    elsewhere["topology"]["cpus"] = json!([]);
    kept_machine(&place, Some(&elsewhere));
    let kernel = format!("the kernel was 2.6.32-1-other and is {}", here["kernel"].as_str().expect("a release"));
    let memory = "main memory was 1 MiB and is ".to_owned();
    let cpus = format!("the number of CPUs was 0 and is {}", here["topology"]["cpus"].as_array().map_or(0, Vec::len));
    let words = ["run 1 cannot go on here", "the processor was Slow CPU 1 and is ", &kernel, &memory, &cpus, "--like"];
    place.run("run --resume 1").expect(3, &words);
    let document = place.json("show 1", 0);
    assert_eq!(document["run"]["state"], "interrupted", "it can still go on");
    assert_eq!(steps(&document), before, "no step was lost or added");
    assert!(place.file("data").exists(), "its file is kept");

    kept_machine(&place, Some(&here));
    place.run("run --resume 1").expect(0, &[]);
    let document = place.json("show 1", 0);
    let all = steps(&document);
    assert_eq!(all.len(), 4);
    assert!(all.iter().zip(&before).all(|(a, b)| a["ios"] == b["ios"]), "what was measured before stays");
    // Serial numbers that the lab keeps for this are in no document.
    assert!(here["identities"].is_array(), "{here}");
    assert_eq!(document["host"]["identities"], Value::Null);
}

#[test]
fn a_file_system_that_is_not_mounted_again_is_refused_and_nothing_is_made_in_its_place() {
    let place = Place::new();
    let Some(mounted) = Mounted::ext4(&place, "mnt", 192 << 20, "rw") else { return };
    fs::write(place.file("reads.toml"), "[defaults]\nruntime=\"300ms\"\nsize=\"32m\"\n[[ladder]]\niodepth=[1,2,4,8]\n")
        .expect("written");
    let folder = mounted.path.clone();
    let mut running = place.start(&format!("run reads.toml --target {}/data", folder.display()));
    running.until("its first step", |talk| talk.contains("4k random read T1 QD1 "));
    running.signal("KILL");
    running.wait();
    drop(mounted);
    let before = committed(&place);
    place
        .run("run --resume 1")
        .expect(3, &["run 1 cannot go on here", "the drive behind", "mnt/data was ", " and is "]);
    assert_eq!(committed(&place), before, "nothing was added");
    assert_eq!(listing_of(&folder), [], "no file was made on the drive that holds the empty folder");
}

/// Reads as found against a read-ahead of 64 KiB, in turns.
const TURNS: &str = "[defaults]\nruntime=\"250ms\"\n[[ladder]]\nrw=\"randread\"\niodepth=4\n";

fn read_ahead(device: &str) -> String {
    fs::read_to_string(format!("/sys/block/{device}/queue/read_ahead_kb")).expect("an attribute").trim().to_owned()
}

#[test]
fn a_setting_is_put_back_after_a_kill_after_ctrl_c_and_at_the_end() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![1; 32 << 20]) else { return };
    let name = device.name().to_owned();
    let before = read_ahead(&name);
    assert_ne!(before, "64", "the kernel's own value is another");
    fs::write(place.file("turns.toml"), TURNS).expect("written");
    let begin = format!("run turns.toml --target {} --versus read_ahead_kb=64", device.path);

    let mut running = place.start(&begin);
    running.until("the setting", |_| read_ahead(&name) == "64");
    running.signal("KILL");
    running.wait();
    assert_eq!(read_ahead(&name), "64", "nobody was left to put it back");
    let mut running = place.start("run --resume 1");
    running.until("its restore", |talk| talk.contains("left changed by a run that was killed"));
    running.until("the setting again", |talk| talk.contains(" · run 1") && read_ahead(&name) == "64");
    running.signal("INT");
    running.wait().expect(4, &[]);
    assert_eq!(read_ahead(&name), before, "put back at once after Ctrl-C");
    place.run("run --resume 1").expect(0, &[]);
    assert_eq!(read_ahead(&name), before, "put back at the end");

    let document = place.json("show 1", 0);
    let all = steps(&document);
    assert_eq!(all.len(), 12, "six pairs");
    for step in &all {
        let block = &step["role"]["block"];
        let with = block["arm_index"] == 1;
        assert_eq!(block["arm"], if with { "read_ahead_kb=64" } else { "read_ahead_kb as found" });
        let said = step["features"].to_string().contains(&format!("64 instead of {before}"));
        assert_eq!(said, with, "{}", step["features"]);
    }
    assert_eq!(document["comparison"]["steps"].as_array().map(Vec::len), Some(1), "{}", document["comparison"]);
    assert_eq!(place.run("restore").out, "Nothing to restore.\n");
}

#[test]
fn a_device_killed_while_it_is_conditioned_goes_on_with_consent_alone() {
    let place = Place::new();
    let Some(zram) = Zram::new("64M") else { return };
    fs::write(place.file("phases.toml"), PHASES.replace("size = \"256m\"\n", "")).expect("written");
    let destroy = format!("--destroy {}", zram.name());
    let mut running = place.start(&format!("run phases.toml --target {} {destroy}", zram.path()));
    running.until("its settling", |talk| talk.contains("pass 2 of 2, part 4 of 4"));
    running.signal("KILL");
    running.wait();
    place.run("run --resume 1").expect(3, &[&format!("{} would be overwritten", zram.path())]);
    // What it would do is what it does: the data on the device is the run's own, and no new consent is asked for.
    let planned_now = place.run(&format!("plan --resume 1 {destroy}"));
    planned_now.expect(0, &[]);
    assert!(planned_now.out.contains(&format!("{}: its content is destroyed", zram.path())), "{}", planned_now.out);
    assert!(
        !planned_now.out.contains("refused") && !planned_now.out.contains("could not be run"),
        "{}",
        planned_now.out
    );
    place.run(&format!("run --resume 1 {destroy}")).expect(0, &[]);
    let document = place.json("show 1", 0);
    let all = steps(&document);
    assert_eq!(all.len(), planned(&document).len(), "five rounds are the most, so none is left out");
    let purges: Vec<&Value> = all.iter().filter(|s| s["phase"] == "purge").collect();
    assert_eq!(purges.len(), 2);
    for purge in purges {
        assert_eq!(purge["state"], "measured");
        assert!(purge["features"].to_string().contains("every block discarded"), "{purge}");
    }
}
