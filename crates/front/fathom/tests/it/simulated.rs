//! Studies and single steps on simulated machines, with the real program.

use std::fs;

use crate::cli::Place;
use serde_json::Value;

/// A drive of its own on a small host, as a file.
const MACHINE: &str = r#"[machine]
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
read = "10us"
write = "10us"

[[drive]]
name = "ssd"
count = 2
device = "quick-ssd"
link = { gen = 4, lanes = 4 }
"#;

fn steps(document: &Value) -> &Vec<Value> {
    document["steps"].as_array().expect("steps")
}

/// Everything that a step measured, without its place on the calendar.
fn figures(document: &Value) -> Vec<Value> {
    let mut out = steps(document).clone();
    for step in &mut out {
        step["started"] = Value::Null;
        step["run_offset_s"] = Value::Null;
    }
    out
}

#[test]
fn a_study_runs_in_virtual_time_says_so_and_can_be_repeated_without_the_file() {
    let place = Place::new();
    let file = place.file("bench.toml");
    fs::write(&file, MACHINE).expect("a file");
    let before = place.listing();
    let first = place.json("run quick --target sim:bench.toml --set runtime=200ms", 0);
    assert!(steps(&first).len() >= 10);
    for step in steps(&first) {
        assert_eq!(step["state"], "measured", "{step}");
        assert_eq!(step["errors"], 0);
        assert_eq!(step["clock"]["source"].as_str().unwrap_or("virtual"), "virtual");
    }
    assert!(
        first["verdict"][0]["caveats"][0].as_str().expect("a caveat").starts_with("SIMULATED on machine bench.toml")
    );
    assert_eq!(first["run"]["plan"]["machine"]["name"], "bench.toml");
    assert_eq!(first["host"]["simulated"]["title"], "a test bench");
    assert_eq!(first["host"]["cores"], 8);
    assert_eq!(place.listing(), before, "no file is made and none is left");
    // One unit answers in 10 us, the rest of the way takes 1 us in the controller, 2 us fixed, and the host's share.
    let one = steps(&first).iter().find(|s| s["op"] == "randread" && s["queue_depth"] == 1).expect("QD 1");
    let mean_us = one["lat_ns"]["mean"].as_f64().expect("a mean") / 1e3;
    assert!((14.0..18.0).contains(&mean_us), "{mean_us}");

    let shown = place.run("show last");
    shown.expect(0, &[]);
    assert!(shown.out.contains("SIMULATED"), "{}", shown.out);

    // The run keeps the machine: it can be repeated without the file, and gives the same to the last digit.
    fs::remove_file(&file).expect("removed");
    let again = place.json("run --like last", 0);
    assert_eq!(figures(&again), figures(&first));
}

#[test]
fn one_step_on_a_part_of_a_machine_given_by_name_or_file() {
    let place = Place::new();
    fs::write(place.file("bench.toml"), MACHINE).expect("a file");
    let io = "--rw randread --iodepth 16 --runtime 100ms";
    let named = place.step(&format!("io --target sim:bench.toml/ssd-1 {io}"));
    for words in ["--machine bench.toml --target ssd-1", "--machine sim:bench.toml --target sim:bench.toml/ssd-1"] {
        let step = place.step(&format!("io {words} {io}"));
        assert_eq!((&step["ios"], &step["targets"]), (&named["ios"], &named["targets"]), "{words}");
    }
    // Without a target the machine's own default, here the group of both.
    let both = place.step(&format!("io --machine bench.toml {io}"));
    assert_eq!(both["devices"], 2);
    let ratio = both["iops"].as_f64().expect("iops") / named["iops"].as_f64().expect("iops");
    assert!((ratio - 2.0).abs() < 0.02, "{ratio}");
    let said = place.run(&format!("io --target sim:speed/nvme-3 {io} --details"));
    said.expect(0, &[]);
    for words in ["Trust: simulated", "SIMULATED on machine speed"] {
        assert!(said.out.contains(words), "{}", said.out);
    }
    // Writes need no consent: there is nothing to destroy.
    let written = place.step("io --target sim:speed/nvme-3 --rw randwrite --iodepth 4 --runtime 50ms");
    assert!(written["ios"].as_u64().expect("ios") > 1_000);
}

#[test]
fn a_study_that_writes_needs_no_consent_and_groups_are_told_apart() {
    let place = Place::new();
    fs::write(place.file("bench.toml"), MACHINE).expect("a file");
    let plan = "[study]\nname = \"both\"\nquestion = \"Are they alike?\"\n\n[defaults]\nengine = \"io_uring\"\nruntime = \"50ms\"\n\n[[ladder]]\nrw = [\"randwrite\", \"randread\"]\niodepth = [1, 8]\n";
    fs::write(place.file("both.toml"), plan).expect("a file");
    let groups = "--group A=sim:bench.toml/ssd-0 --group B=sim:bench.toml/ssd-1,sim:bench.toml/ssd-0";
    let document = place.json(&format!("run both.toml {groups}"), 0);
    assert_eq!(steps(&document).len(), 8);
    let iops = |group: &str, op: &str| {
        let of = steps(&document).iter().find(|s| s["group"] == group && s["op"] == op && s["queue_depth"] == 8);
        of.and_then(|s| s["iops"].as_f64()).expect("a step")
    };
    for op in ["randwrite", "randread"] {
        assert!((iops("B", op) / iops("A", op) - 2.0).abs() < 0.05, "{op}: {} {}", iops("A", op), iops("B", op));
    }
}

#[test]
fn an_interrupted_run_goes_on_with_the_same_figures() {
    let place = Place::new();
    // All of the time, or it would be over before anybody could stop it.
    let words = "run quick --full --target sim:speed/nvme-0 --set runtime=1s";
    let whole = place.json(words, 0);
    let mut running = place.start(words);
    running.until("a third of the steps", |talk| talk.matches("4k random").count() >= 4);
    running.signal("INT");
    let ended = running.wait();
    if ended.code == Some(0) {
        // A machine so fast that the run was over: then there is nothing to go on with.
        crate::cli::skipped("the run ended before the signal came");
        return;
    }
    ended.expect(4, &[]);
    let resumed = place.json("run --resume last --full", 0);
    assert_eq!(figures(&resumed), figures(&whole));
}

#[test]
fn a_step_ends_once_its_figures_are_known_unless_all_of_its_time_is_asked_for() {
    let place = Place::new();
    fs::write(place.file("bench.toml"), MACHINE).expect("a file");
    let io = "io --target sim:bench.toml/ssd-0 --rw randread --iodepth 1 --runtime 3s";
    let (known, full) = (place.json(io, 0), place.json(&format!("{io} --full"), 0));
    let figure = |document: &Value, name: &str| steps(document)[0][name].as_f64().expect("a figure");
    assert!((figure(&known, "iops") / figure(&full, "iops") - 1.0).abs() < 0.005, "{known}");
    assert!(figure(&known, "runtime_s") < 1.0 && figure(&full, "runtime_s") == 3.0);
    let shortened = &steps(&known)[0]["clock"]["shortened"];
    assert_eq!((&shortened["why"], shortened["asked_ns"].as_u64()), (&"figures_known".into(), Some(3_000_000_000)));
    assert!(steps(&full)[0]["clock"]["shortened"].is_null());
    let caveat = |document: &Value| document["verdict"][0]["caveats"][0].as_str().expect("a caveat").to_owned();
    assert!(
        caveat(&known).contains("of 3 s were simulated") && !caveat(&full).contains("--full"),
        "{}",
        caveat(&known)
    );
    // What is measured takes its time.
    let refused = place.run("io --full --target real.bin --size 1m --runtime 20ms");
    refused.expect(2, &["--full simulates all the time that steps ask for, and real.bin is real", "leave --full out"]);
}

#[test]
fn machines_are_listed_and_shown() {
    let place = Place::new();
    let list = place.json("machines", 0);
    let names: Vec<&str> =
        list["machines"].as_array().expect("machines").iter().filter_map(|m| m["name"].as_str()).collect();
    assert!(names.contains(&"speed"), "{names:?}");
    for name in &names {
        let machine = place.json(&format!("machines show {name}"), 0);
        assert_eq!(machine["name"], *name);
        assert!(!machine["drives"].as_array().expect("drives").is_empty());
        assert!(machine["text"].as_str().expect("a text").contains("[machine]"));
    }
    let shown = place.run("machines show speed");
    shown.expect(0, &[]);
    assert!(shown.out.contains("24 x gen4-1m"), "{}", shown.out);
    // What is printed is a machine file.
    let text = place.json("machines show speed", 0)["text"].as_str().expect("a text").to_owned();
    fs::write(place.file("copy.toml"), text).expect("a file");
    let copy = place.step("io --target sim:copy.toml/nvme-0 --runtime 20ms --iodepth 8");
    let original = place.step("io --target sim:speed/nvme-0 --runtime 20ms --iodepth 8");
    assert_eq!(copy["ios"], original["ios"]);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_place_and_the_remedy() {
    let place = Place::new();
    let io = "--runtime 20ms";
    fs::write(place.file("bench.toml"), MACHINE).expect("a file");
    for (old, new, said) in [
        ("cores = 8", "cores = 8\nremote = \"-1us\"", ["bad.toml:7:", "negative"]),
        ("fixed = \"2us\"", "fixed = 2", ["bad.toml:18:", "needs a unit"]),
        ("lanes = 4", "lanes = 0", ["bad.toml:30:27", "from 1 to 32"]),
        ("submit =", "sumbit =", ["bad.toml:10:1", "did you mean `submit`?"]),
    ] {
        fs::write(place.file("bad.toml"), MACHINE.replacen(old, new, 1)).expect("a file");
        place.run(&format!("io --target sim:bad.toml {io}")).expect(2, &said);
        place.run("machines show bad.toml").expect(2, &said);
    }
    let circle = "[[link]]\nname = \"a\"\ngen = 3\nlanes = 8\nupstream = \"b\"\n\n[[link]]\nname = \"b\"\ngen = 3\nlanes = 8\nupstream = \"a\"\n";
    fs::write(place.file("bad.toml"), format!("{MACHINE}\n{circle}")).expect("a file");
    place.run(&format!("io --machine bad.toml {io}")).expect(2, &["bad.toml:36:12", "circle"]);
    for (words, said) in [
        ("io --target sim:sped", ["no simulated machine `sped`", "did you mean `speed`?"]),
        ("io --target sim:speed/nvme-77", ["has no `nvme-77`", "did you mean `nvme-7`?"]),
        ("io --target sim:none.toml", ["cannot read machine file none.toml", "No such file"]),
        ("run quick --machine sped", ["no simulated machine `sped`", "did you mean `speed`?"]),
        ("io --target sim:speed --target .", ["not on the same machine", "fathom compare"]),
        ("io --target sim:speed --target sim:bench.toml", ["not on the same machine", "fathom compare"]),
        ("io --target sim:speed --size 9t", ["sim:speed/nvme-0 has 3840000000000 bytes", "--size 3840000000000"]),
        ("machines show sped", ["no simulated machine `sped`", "did you mean `speed`?"]),
    ] {
        place.run(words).expect(2, &said);
    }
    assert!(!place.lab().exists(), "a bad machine leaves no lab");
    // What a simulated drive cannot do is refused as a step, and said.
    let document = place.json("io --target sim:speed --verify crc32c --rw randwrite --runtime 20ms", 1);
    assert_eq!(steps(&document)[0]["state"], "refused");
    assert!(steps(&document)[0]["reason"].as_str().expect("a reason").contains("verify on a simulated drive"));
}

#[test]
fn a_limit_that_later_steps_change_is_told_after_the_table() {
    let place = Place::new();
    let ladder = "[defaults]\nrw=\"randread\"\nbs=\"4k\"\nruntime=\"50ms\"\n[[ladder]]\niodepth=[32,1,8,128,256]\n";
    fs::write(place.file("ladder.toml"), ladder).expect("written");
    let ran = place.run("run ladder.toml --target sim:speed/nvme-1");
    ran.expect(0, &[]);
    let line = ran.err.lines().find(|l| l.starts_with("limited by, with all steps known: ")).unwrap_or_default();
    let named: Vec<&str> = line.split([',', ';']).filter_map(|p| p.rsplit(" for ").next()).map(str::trim).collect();
    let document = place.json("show last", 0);
    let mut changed = 0;
    for step in document["steps"].as_array().expect("steps") {
        let (label, name) =
            (step["label"].as_str().expect("a label"), step["limit"]["name"].as_str().expect("a limit"));
        let row = ran.err.lines().find(|l| l.starts_with(&format!(" {label} "))).expect("its row");
        let agrees = row.trim_end_matches(['~', '!', ' ']).ends_with(&name.replace('_', " "));
        assert_eq!(named.contains(&label), !agrees, "{row}\n{name}\n{line}");
        changed += u32::from(!agrees);
    }
    assert!(changed > 0, "the ladder is one whose limits change:\n{}", ran.err);
}

#[test]
fn the_studies_of_arrays_run_on_a_simulated_machine_and_name_what_the_level_loses() {
    let place = Place::new();
    let machine = MACHINE.to_owned() + "\n[md]\nremap = \"0.5us\"\nstripe = \"20us\"\nxor_rate = \"10 GB/s\"\n";
    let machine = machine.replace("count = 2", "count = 4");
    let file = place.file("arrays.toml");
    fs::write(&file, machine).expect("a file");
    let target = format!("sim:{}", file.display());
    let only = "--only members --only small --set bs=4k";
    let raid = place.json(&format!("run raid --target {target} {only}"), 0);
    let step = |document: &Value, label: &str| {
        steps(document).iter().find(|s| s["label"].as_str().is_some_and(|l| l.contains(label))).cloned()
    };
    let five = step(&raid, "random write on raid5:64k x4").expect("a step");
    let array = &five["arrays"][0];
    let per = |key: &str| array[key].as_f64().expect("counted");
    assert!((per("member_reads_for_writes") / per("writes") - 2.0).abs() < 0.05, "{array}");
    let views = raid["verdict"][0]["evidence"].to_string();
    assert!(views.contains("at least all that the members gave alone"), "{views}");
    // md's one thread, at 20 us a stripe, gives no more than 50k, and is named.
    let md = place.json(&format!("run md --target {target} {only} --set array=md-raid5"), 0);
    let bound = step(&md, "random write on md-raid5:64k x4").expect("a step");
    let iops = bound["iops"].as_f64().expect("a figure");
    assert!(iops < 51e3 && iops > 47e3, "{iops}");
    assert_eq!(bound["limit"]["name"], "kernel_thread", "{}", bound["limit"]);
    let rebuilt = "--only rebuild --set array=md-raid5 --set rebuild=50m --set bs=4k";
    let rebuilding = place.json(&format!("run md --target {target} {rebuilt}"), 0);
    let rate = &steps(&rebuilding)[0]["arrays"][0]["rebuild"];
    let speed = rate["done_bytes"].as_f64().expect("bytes") * 1e9 / rate["took_ns"].as_f64().expect("time");
    assert!((speed / (50.0 * 1048576.0) - 1.0).abs() < 0.05, "{rate}");
}
