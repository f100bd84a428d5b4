//! Arrays in user space from the command line: members are made and removed, judged one by one, refused by name, rebuilt.

use std::fs;

use crate::cli::{Place, warns};

const MIB: u64 = 1 << 20;

/// Members in the folder of the place.
fn array(place: &Place, level: &str, names: &[&str]) -> String {
    let name = |name: &&str| match *name {
        "missing" => "missing".to_owned(),
        other => place.file(other).display().to_string(),
    };
    format!("{level}:64k:{}", names.iter().map(name).collect::<Vec<_>>().join(","))
}

fn zeros(place: &Place, names: &[&str]) {
    for name in names {
        fs::write(place.file(name), vec![0; MIB as usize]).expect("room");
    }
}

#[test]
fn members_that_are_not_there_are_made_and_removed_again() {
    let place = Place::new();
    let target = array(&place, "raid5", &["a", "b", "c", "d"]);
    let load = "--rw randwrite --bs 4k --iodepth 4 --engine psync --size 3m --set loops=1 --verify crc32c";
    let step = place.json(&format!("io --target {target} {load}"), 0)["steps"][0].clone();
    let array = &step["arrays"][0];
    assert_eq!((array["writes"].as_u64(), step["ios"].as_u64()), (Some(768), Some(768)), "{array}");
    assert_eq!(array["member_reads_for_writes"].as_u64(), Some(2 * 768));
    let written: u64 = array["members"].as_array().expect("members").iter().filter_map(|m| m["writes"].as_u64()).sum();
    assert_eq!(written, 2 * 768);
    assert!(!warns(&step, "verify_failed") && !warns(&step, "diskstats_disagree"), "{}", step["warnings"]);
    assert_eq!(place.listing().into_iter().map(|(name, _)| name).filter(|name| name.len() == 1).count(), 0);
}

#[test]
fn what_is_wrong_with_an_array_is_said_and_nothing_is_made() {
    let place = Place::new();
    zeros(&place, &["a", "b", "c"]);
    let before = place.listing();
    let load = "--rw randwrite --bs 4k --size 1m --runtime 1";
    for (target, said) in [
        (array(&place, "raid5", &["a", "b"]), "needs 3 members"),
        (array(&place, "raid7", &["a", "b", "c"]), "no array of level raid7"),
        (array(&place, "raid5", &["a", "b", "a"]), "twice"),
        (array(&place, "raid5", &["a", "b", "new"]), "some are there and others are not"),
        (array(&place, "raid5", &["a", "missing", "missing"]), "cannot do without"),
        (array(&place, "raid5", &["a", "b", "c"]).replace("64k", "48k"), "48k is no chunk"),
    ] {
        let ended = place.run(&format!("io --target {target} {load} --overwrite"));
        assert_ne!(ended.code, Some(0), "{target}");
        assert!(ended.err.contains(said) && ended.err.contains("help:"), "{target}: {}", ended.err);
    }
    assert_eq!(place.listing(), before);
}

#[test]
fn each_member_is_judged_before_it_is_written() {
    let place = Place::new();
    zeros(&place, &["a", "b"]);
    fs::write(place.file("c"), vec![7; MIB as usize]).expect("room");
    let target = array(&place, "raid5", &["a", "b", "c"]);
    let ended = place.run(&format!("io --target {target} --rw randwrite --bs 4k --size 1m --runtime 1"));
    assert_ne!(ended.code, Some(0));
    let shown = place.run(&format!("plan quick --target {target}"));
    let of = |name: &str| {
        let path = place.file(name).display().to_string();
        shown.out.lines().find(|line| line.trim_start().starts_with(&path)).map(str::to_owned).unwrap_or_default()
    };
    assert!(of("c").contains("would be refused"), "{}", shown.out);
    assert_eq!(fs::read(place.file("a")).expect("reads"), vec![0; MIB as usize], "no member was written");
    assert_eq!(fs::read(place.file("c")).expect("reads"), vec![7; MIB as usize]);
}

#[test]
fn a_missing_member_is_rebuilt_and_the_array_reads_the_same() {
    let place = Place::new();
    zeros(&place, &["a", "b", "c", "d"]);
    let whole = array(&place, "raid6", &["a", "b", "c", "d"]);
    let load = "--bs 4k --iodepth 8 --engine libaio --size 2m --set loops=1 --verify crc32c";
    place.json(&format!("io --target {whole} --rw randwrite {load} --overwrite"), 0);
    let old = fs::read(place.file("b")).expect("reads");
    fs::remove_file(place.file("b")).expect("goes");
    let degraded = array(&place, "raid6", &["a", "missing", "c", "d"]);
    let step = place.json(&format!("io --target {degraded} --rw randread {load}"), 0)["steps"][0].clone();
    assert!(step["arrays"][0]["degraded_reads"].as_u64().is_some_and(|reads| reads > 0), "{}", step["arrays"]);
    assert!(!warns(&step, "verify_failed"));
    zeros(&place, &["new"]);
    let onto = place.file("new").display().to_string();
    let ended = place.run(&format!("rebuild {degraded} --onto {onto} --overwrite"));
    ended.expect(0, &[]);
    assert!(ended.out.contains("Rebuilt the missing member"), "{}", ended.out);
    assert!(fs::read(place.file("new")).expect("reads") == old);
    let ended = place.run(&format!("rebuild {degraded}"));
    assert!(ended.code != Some(0) && ended.err.contains("--onto"), "{}", ended.err);
}

#[test]
fn a_member_is_rebuilt_beside_a_load_that_only_reads_with_its_consent_alone() {
    let place = Place::new();
    zeros(&place, &["a", "b"]);
    fs::write(place.file("c"), vec![7; MIB as usize]).expect("room");
    let target = array(&place, "raid5", &["a", "b", "c"]);
    let c = place.file("c").display().to_string();
    let rebuilt = |speed: &str| target.replace(&c, &format!("{speed}+{c}"));
    let job = format!("[x]\nrw=randread\nbs=4k\nfilename={}\n", rebuilt("full").replace(':', "\\:"));
    fs::write(place.file("x.fio"), job).expect("written");
    let effect = |options: &str, name: &str| {
        let path = place.file(name).display().to_string();
        let shown = place.run(&format!("plan x.fio {options}"));
        shown.out.lines().find(|line| line.trim_start().starts_with(&path)).map(str::to_owned).unwrap_or_default()
    };
    assert!(
        effect("", "a").contains("read only") && effect("", "c").contains("would be refused"),
        "{}",
        effect("", "c")
    );
    assert!(effect("--overwrite", "c").contains("overwritten in place"), "{}", effect("--overwrite", "c"));
    assert!(place.run("plan x.fio").out.contains("written: what is rebuilt of members"));
    let load = "--rw randread --bs 4k --iodepth 4 --engine libaio";
    let ended = place.run(&format!("io --target {} {load} --runtime 1", rebuilt("full")));
    assert!(ended.code != Some(0) && ended.err.contains("--overwrite"), "{}", ended.err);
    assert_eq!(fs::read(place.file("c")).expect("reads"), vec![7; MIB as usize], "without consent it stays as it was");

    // The other members need no consent: they are only read.
    let step =
        place.json(&format!("io --target {} {load} --runtime 2 --overwrite", rebuilt("full")), 0)["steps"][0].clone();
    let array = &step["arrays"][0];
    let written = |at: usize| array["members"][at]["written_bytes"].as_u64();
    assert_eq!((written(0), written(1), written(2)), (Some(0), Some(0), Some(MIB)), "{array}");
    assert_eq!((&array["rebuild"]["done_bytes"], array["writes"].as_u64()), (&MIB.into(), Some(0)), "{array}");
    assert_eq!(fs::read(place.file("c")).expect("reads"), vec![0; MIB as usize], "of zeros the parity is zero");

    // What was not done by an end that comes early is said.
    fs::write(place.file("c"), vec![7; MIB as usize]).expect("room");
    let running = place.start(&format!("io --target {} {load} --runtime 60 --overwrite", rebuilt("64k")));
    // Two rows, of which the first is done when the second is asked for.
    let rebuilt_rows = || {
        let held = fs::read(place.file("c")).expect("reads");
        held.chunks(64 << 10).filter(|row| row.iter().all(|byte| *byte == 0)).count()
    };
    let begun = std::time::Instant::now();
    while rebuilt_rows() < 2 {
        assert!(begun.elapsed().as_secs() < 50, "nothing is rebuilt");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal("INT");
    running.wait().expect(4, &[]);
    let step = place.json("show last", 0)["steps"][0].clone();
    let rebuild = &step["arrays"][0]["rebuild"];
    let done = rebuild["done_bytes"].as_u64().expect("a count");
    assert!((1..MIB).contains(&done) && rebuild["asked_bytes_per_s"] == 65_536, "{rebuild}");
    let held = fs::read(place.file("c")).expect("reads");
    let rows = held.chunks(64 << 10).filter(|row| row.iter().all(|byte| *byte == 0)).count() as u64;
    assert!(rows * (64 << 10) >= done && held.ends_with(&[7]), "{rows} rows, {done} bytes");
    assert!(step["warnings"].to_string().contains("later steps of this run"), "{}", step["warnings"]);
}

#[test]
fn a_job_that_fio_runs_has_no_arrays() {
    let place = Place::new();
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        return crate::cli::skipped("fio is not installed");
    }
    zeros(&place, &["a", "b", "c"]);
    let escaped = array(&place, "raid5", &["a", "b", "c"]).replace(':', "\\:");
    let job = format!("[x]\nioengine=posixaio\nrw=randread\nbs=4k\nsize=1m\nfilename={escaped}\n");
    fs::write(place.file("x.fio"), job).expect("a file");
    let ended = place.run("run x.fio --with-fio");
    assert_ne!(ended.code, Some(0));
    assert!(ended.err.contains("is an array in user space, and fio runs this job"), "{}", ended.err);
}

#[test]
fn levels_of_one_run_are_told_apart_and_not_taken_for_one_ladder() {
    let place = Place::new();
    let names = ["a", "b", "c", "d"];
    let of = |level: &str| array(&place, level, &names).replace(':', "\\:");
    let section = |name: &str, file: &str| format!("[{name}]\nstonewall\nfilename={file}\n");
    let job = format!(
        "[global]\nioengine=libaio\niodepth=4\nbs=4k\nrw=randwrite\nsize=1m\n{}{}{}",
        section("five", &of("raid5")),
        section("six", &of("raid6")),
        section("ten", &of("raid10")),
    );
    fs::write(place.file("levels.fio"), job).expect("written");
    let document = place.json("run levels.fio", 0);
    let labels: Vec<&str> =
        document["steps"].as_array().expect("steps").iter().filter_map(|s| s["label"].as_str()).collect();
    assert_eq!(labels, ["raid5", "raid6", "raid10"].map(|level| format!("4k random write on {level}:64k x4 T1 QD4")));
    let cost = |at: usize| {
        let array = &document["steps"][at]["arrays"][0];
        let members = array["members"].as_array().expect("members").iter();
        let writes: u64 = members.filter_map(|m| m["writes"].as_u64()).sum();
        (array["member_reads_for_writes"].as_u64().expect("a count") / 256, writes / 256)
    };
    // RAID 6 of four has one other column: to read that is cheaper than the old data and both old parities.
    assert_eq!([cost(0), cost(1), cost(2)], [(2, 2), (1, 3), (0, 2)]);
    // Of one load on the same target there would be one ladder, with the three as repeats of its point.
    let points = |ladder: &serde_json::Value| ladder["points"].as_array().map(Vec::len);
    let ladders: Vec<_> = document["ladders"].as_array().expect("ladders").iter().map(points).collect();
    assert_eq!(ladders, [Some(1); 3]);
}

#[test]
fn the_study_holds_each_level_against_its_members_and_counts_what_its_writes_cost_them() {
    let place = Place::new();
    // Three members: enough for all levels but RAID 6, which is left out by name.
    let members = ["a", "b", "c"].map(|name| format!("--target {}", place.file(name).display())).join(" ");
    let short = "--set size=16m --set numjobs=2 --set runtime=300ms --set ramp_time=0";
    let document = place.json(&format!("run raid {members} {short}"), 0);
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let notes = document["run"]["plan"]["notes"].to_string();
    assert!(notes.contains("raid6"), "{notes}");
    let arrays = list(&document["arrays"]);
    let of = |level: &str, block: u64, write: bool, missing: u64| {
        let step = |array: &serde_json::Value| &document["steps"][array["step"].as_u64().expect("an index") as usize];
        let found = arrays.iter().find(|array| {
            let step = step(array);
            array["level"] == level
                && array["missing"].as_u64() == Some(missing)
                && step["block_size_bytes"].as_u64() == Some(block)
                && step["read_pct"].as_u64() == Some(if write { 0 } else { 100 })
                && step["threads"].as_u64() == Some(2)
        });
        found.unwrap_or_else(|| panic!("{level} {block} {write} {missing}: {arrays:?}")).clone()
    };
    let cost = |array: &serde_json::Value| {
        (array["member_reads"].as_f64().expect("a count"), array["member_writes"].as_f64().expect("a count"))
    };
    assert_eq!(cost(&of("raid0", 4096, true, 0)), (0.0, 1.0));
    assert_eq!(cost(&of("raid10", 4096, true, 0)), (0.0, 2.0));
    // Of three members the other column is read, instead of the old data and the old parity.
    assert_eq!(cost(&of("raid5", 4096, true, 0)), (1.0, 2.0));
    assert_eq!(cost(&of("raid5", 131_072, true, 0)), (0.0, 3.0), "a stripe of two chunks and their parity");
    for array in [of("raid0", 4096, false, 0), of("raid5", 4096, true, 0), of("raid5", 131_072, true, 0)] {
        assert!(array["ceiling_iops"].as_f64().is_some_and(|iops| iops > 0.0), "{array}");
    }
    let shares: Vec<f64> =
        list(&of("raid5", 4096, true, 0)["member_shares_pct"]).iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(shares.len() == 3 && (shares.iter().sum::<f64>() - 100.0).abs() < 1e-6, "{shares:?}");
    let degraded = of("raid5", 4096, false, 1);
    assert!(degraded["ceiling_iops"].is_null() && cost(&degraded).0 > 1.0, "{degraded}");
    assert!(!arrays.iter().any(|array| array["level"] == "raid6"));
    let brief = document["verdict"][0]["brief"].to_string();
    // Intervals of short steps are wide, and the headline then says so.
    assert!(brief.contains("4k random writes, of what the members allow") && brief.contains(": raid10 "), "{brief}");
    assert_eq!(place.listing().into_iter().map(|(name, _)| name).filter(|name| name.len() == 1).count(), 0);
}

#[test]
fn a_study_of_arrays_without_members_says_what_to_name() {
    let place = Place::new();
    for (arguments, said) in [
        (format!("run raid --target {}", place.file("a").display()), "raid0 needs 2 members"),
        (format!("run raid --target {} --set array=raid5", place.file("a").display()), "needs 3 members"),
        (format!("io --target {} --set array=raid7", place.file("a").display()), "no array of level raid7"),
    ] {
        let ended = place.run(&arguments);
        assert_ne!(ended.code, Some(0), "{arguments}");
        assert!(ended.err.contains(said) && ended.err.contains("help:"), "{arguments}: {}", ended.err);
    }
    let described = place.run("studies raid");
    described.expect(0, &[]);
    assert!(described.out.contains("raid6:64k x4"), "{}", described.out);
}
