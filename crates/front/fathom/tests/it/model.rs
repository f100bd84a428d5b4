//! `catalogue`, `predict`, `fit`, `run --predict`: what is known before measuring, and how near it came.

use std::fs;

use crate::cli::Place;
use serde_json::Value;

/// A short ladder on a file of its own.
const LADDER: &str = "[study]\nname = \"ladder\"\nquestion = \"How does it grow?\"\n\
    [defaults]\nsize = \"64m\"\nruntime = \"400ms\"\nramp_time = \"100ms\"\n\
    [[ladder]]\nrw = \"randread\"\nbs = \"4k\"\niodepth = [1, 2, 4, 8, 16]\n";

fn rows(document: &Value) -> &Vec<Value> {
    document["steps"].as_array().expect("steps")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn the_catalogue_shows_every_entry_with_its_source_and_names_the_nearest() {
    let place = Place::new();
    let list = place.run("catalogue list");
    assert_eq!(list.code, Some(0), "{}", list.err);
    for name in ["p4800x-375", "h755n", "epyc-8004-64", "io_uring", "r740xd", "published results"] {
        assert!(list.out.contains(name), "no {name} in\n{}", list.out);
    }
    let shown = place.run("catalogue show p4800x-375");
    assert!(shown.out.contains("source: ") && shown.out.contains("550000\n"), "{}", shown.out);
    let entry = place.json("catalogue show gen4x4", 0);
    assert!(entry["sources"].as_array().is_some_and(|s| !s.is_empty()), "{entry}");
    place.run("catalogue show p48x0-375").expect(2, &["did you mean `p4800x-375`?"]);
}

#[test]
fn a_ladder_of_a_catalogued_drive_obeys_little_and_its_ceilings() {
    let place = Place::new();
    let document = place.json("predict --device p5510-3840 --count 2 --set numjobs=4", 0);
    let mut last = 0.0;
    for row in rows(&document) {
        let (iops, lat_ns) = (number(&row["iops"]), number(&row["lat_ns_mean"]));
        let in_flight = number(&row["threads"]) * number(&row["queue_depth"]) * number(&row["devices"]);
        assert!((iops * lat_ns / 1e9 / in_flight - 1.0).abs() < 1e-9, "Little's law: {row}");
        assert!(iops >= last, "more depth gives no less: {row}");
        last = iops;
        let ceilings: Vec<f64> =
            row["ceilings"].as_array().expect("ceilings").iter().map(|c| number(&c["iops"])).collect();
        assert!(ceilings.is_sorted() && iops <= ceilings[0] * (1.0 + 1e-9), "{row}");
    }
    assert!((last / 1.4e6 - 1.0).abs() < 1e-6, "two drives of 700 000: {last}");
    let text = place.run("predict quick --device p5510-3840 --details").out;
    for part in ["4k random read T1 QD64", "ceilings at", "knee:", "cores needed", "assumed:"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let array = place.json("predict --device p5510-3840 --count 8 --raid 5 --set rw=randwrite", 0);
    let deepest = rows(&array).last().expect("steps");
    assert_eq!((&deepest["limit"], &deepest["devices"]), (&"core".into(), &8.into()), "one array is one target");
}

/// Members of the catalogue or of a machine file, by md, in user space and behind a card: what binds is named.
#[test]
fn an_array_is_predicted_before_it_is_bought() {
    let place = Place::new();
    let step = |words: &str| {
        let load = "--rw randwrite --bs 4k --numjobs 64 --iodepth 64";
        rows(&place.json(&format!("predict {words} {load}"), 0))[0].clone()
    };
    let card = step("--device sim:r650-h755n --raid 6 --members 8");
    assert_eq!((&card["array"]["part"], &card["array"]["member_reads"]), (&"card".into(), &3.0.into()), "{card}");
    let [low, high] = [0, 1].map(|i| number(&card["bands"]["iops"]["within_90"][i]));
    assert!(2.0 * low < number(&card["iops"]) && number(&card["iops"]) < high, "{card}");
    let own = step("--device p4500-4t --raid 10 --members 8 --by h755n");
    let (part, counted) = (&own["array"]["part"], number(&own["array"]["counted_iops"]));
    assert_eq!((part, counted.round()), (&"member".into(), 250e3), "8 x 62 500 / 2: {own}");
    let md = step("--device p4500-4t --raid 5 --members 8 --by md --md-write 10us");
    assert_eq!((&md["array"]["part"], number(&md["iops"]).round()), (&"md_thread".into(), 100e3), "{md}");
    assert_eq!(md["unknowns"][0]["part"], "array", "nothing is published of md over catalogued drives: {md}");
    let (whole, degraded) = (
        step("--device p4500-4t --raid 5 --members 8 --by user-space"),
        step("--device p4500-4t --raid 5 --members 8 --by user-space --missing 1"),
    );
    assert!(number(&degraded["array"]["member_reads"]) > number(&whole["array"]["member_reads"]));
    let text = place.run("predict --device sim:r650-h755n --raid 5 --members 8 --rw randwrite --details").out;
    for part in
        ["RAID 5 of 8 x nvme-mu-3200", "by card sim:r650-h755n", "by counting", "bands of 90 %", "what the maker"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn a_goal_is_answered_with_drives_cores_and_lanes_or_the_ceiling_that_forbids_it() {
    let place = Place::new();
    let asked = |goal: &str, more: &str, code: i32| {
        // The goal holds no blanks, since words are separated by them.
        place.json(&format!("predict --device p5510-3840 --goal {goal} {more}"), code)
    };
    let met = asked("iops>=10M,p99<=500us", "", 0);
    let answer = &met["answer"];
    assert_eq!((&answer["drives"], &answer["cores"], &answer["lanes"]), (&15.into(), &24.into(), &60.into()), "{met}");
    assert!(number(&answer["prediction"]["iops"]) >= 10e6);
    assert!(number(&answer["prediction"]["lat_ns_p99"]) <= 500_000.0);
    for (goal, more, ceiling, help) in [
        ("iops>=10M", "--cores 8", "all_cores", "help: more --cores"),
        ("p99<=50us", "", "device", "help: another --device"),
        ("p99<=50us", "--count 4", "device", "help: another --device"),
        ("iops>=10M", "--count 4", "device", "help: another number of drives meets it"),
        ("iops>=10M", "--uplink gen3x16", "uplink", "help: a faster or wider --uplink"),
    ] {
        let forbidden = asked(goal, more, 1);
        assert_eq!(forbidden["forbidden"]["limit"], ceiling, "{goal} {more}: {forbidden}");
        let refused = place.run(&format!("predict --device p5510-3840 --goal {goal} {more}"));
        refused.expect(1, &["cannot be met", &ceiling.replace('_', " "), help]);
    }
}

#[test]
fn bad_input_is_refused_with_the_place_and_the_remedy() {
    let place = Place::new();
    let own = place.file("own.toml");
    std::fs::write(&own, "[[device]]\nid = \"x\"\nmodel = \"m\"\nrand_read_4k_iops = 1000\n").expect("a file");
    for (words, parts) in [
        ("predict", &["nothing is known of the drive", "--device"][..]),
        ("predict --device p5510-3841", &["did you mean `p5510-3840`?"]),
        ("predict --device p5510-3840 --engine iouring", &["did you mean `io_uring`?"]),
        ("predict --device p5510-3840 --goal p99<=500", &["has no unit", "--goal:1:6"]),
        ("predict --device p5510-3840 --goal ipos>=1M", &["did you mean `iops`?"]),
        ("predict --device p5510-3840 --link gen9x4", &["generation 9", "help: ", "--link gen4x4"]),
        ("predict --device p5510-3840 --link gen4x0", &["no lanes"]),
        ("predict --device p5510-3840 --raid 7", &["is not a RAID level", "help: ", "--raid 10"]),
        ("predict --device p5510-3840 --raid 5 --count 2", &["--count 3"]),
        ("predict --device p5510-3840 --raid 5 --members 2", &["--members 3"]),
        ("predict --device p5510-3840 --raid 5 --members 65", &["at most 64"]),
        ("predict --device p5510-3840 --raid 5 --members 0", &["--members 0"]),
        ("predict --device p5510-3840 --raid 5 --missing 2 --goal iops>=1k", &["--missing 1"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --missing 2", &["--missing 1"]),
        ("predict --device p5510-3840 --raid 0 --members 8 --missing 1", &["leave out --missing"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --chunk 48k", &["no power of two", "--chunk 64k"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --by h755m", &["did you mean `h755n`?"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --by h740p", &["nothing is published"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --by h755n --md-write 9us", &["of md alone"]),
        ("predict --device p5510-3840 --raid 5 --members 8 --md-write 9x", &["--md-write", "10us"]),
        ("predict --device sim:r650-h755n/nvme9 --raid 5 --members 8", &["no drive or array of that name"]),
        ("predict --device p5510-3840 --members 8", &["--raid"]),
        ("predict --device p5510-3840 --count 0", &["at least 1"]),
        ("predict --device missing.toml", &["cannot read missing.toml", "fathom fit"]),
        ("predict --device own.toml", &["own.toml", "source"]),
        ("predict quik --device p5510-3840", &["did you mean `quick`?"]),
    ] {
        place.run(words).expect(2, parts);
    }
    place.run("fit last").expect(1, &["there is no lab"]);
}

#[test]
fn all_faults_of_a_file_are_named_at_once() {
    let place = Place::new();
    let template = place.run("catalogue new").out;
    let device = template.replace("rand_read_4k_iops", "rand_raed_4k_iops").replace("model = ", "modell = ");
    fs::write(place.file("device.toml"), device).expect("a file");
    let faults = ["`rand_raed_4k_iops`", "did you mean `rand_read_4k_iops`?", "`modell`", "did you mean `model`?"];
    place.run("predict --device device.toml").expect(2, &faults);
    let machine = place.run("machines dump epyc-8004").out;
    let machine = machine.replace("smt_speed", "smt_sped").replace("memory = ", "memroy = ");
    fs::write(place.file("machine.toml"), machine).expect("a file");
    place.run("machines show machine.toml").expect(2, &["`smt_sped`", "`memroy`", "machine.toml:"]);
    // A value may be wrong because of another that is; a key is unknown or is not.
    let plan = "[study]\nname = \"x\"\nquestion = \"y?\"\n[[ladder]]\nrww = \"read\"\nbs = \"4q\"\nsizee = \"1g\"\n";
    fs::write(place.file("plan.toml"), plan).expect("a file");
    let ended = place.run("plan plan.toml");
    ended.expect(2, &["plan.toml:5:1", "did you mean `rw`?", "plan.toml:7:1", "did you mean `size`?"]);
    assert_eq!(ended.err.matches("error: ").count(), 2, "{}", ended.err);
    fs::write(place.file("job.fio"), "[a]\nrw=read\nfilename=x\niodpeth=3\nblokcsize=4k\n").expect("a job");
    place.run("plan job.fio").expect(2, &["job.fio:4:1", "`iodepth`", "job.fio:5:1", "`blocksize`"]);
}

#[test]
fn a_prediction_takes_the_words_of_io_and_the_engine_of_its_load() {
    let place = Place::new();
    let predict = |words: &str| place.json(&format!("predict {words} --device p5510-3840"), 0);
    // One I/O in flight for each thread: the ladder is of threads.
    let psync = predict("--engine psync");
    assert!(rows(&psync).iter().all(|row| row["queue_depth"] == 1 && row["engine"] == "psync"), "{psync}");
    assert_eq!(rows(&psync).last().map(|row| &row["threads"]), Some(&256.into()));
    let one = predict("--iodepth 8 --size 1g --direct 1 --runtime 5s --bs 16k --engine libaio");
    assert_eq!(
        (rows(&one).len(), &rows(&one)[0]["engine"], &rows(&one)[0]["block_size_bytes"]),
        (1, &"libaio".into(), &16384.into())
    );
    // `load` names both axes: no ladder is put over it.
    let both = predict("--set load=4x8");
    let asked: Vec<_> = rows(&both).iter().map(|row| (row["threads"].clone(), row["queue_depth"].clone())).collect();
    assert_eq!(asked, [(4.into(), 8.into())], "{both}");
    fs::write(place.file("job.fio"), "[a]\nioengine=libaio\nrw=randread\nfilename=x\nsize=1g\ndirect=1\niodepth=256\n")
        .expect("a job");
    let job = predict("job.fio");
    // 279k of one core through libaio, 433k through io_uring (catalogue/engines.toml).
    assert_eq!((&rows(&job)[0]["engine"], &rows(&job)[0]["limit"]), (&"libaio".into(), &"core".into()));
    assert!((number(&rows(&job)[0]["iops"]) - 279_000.0).abs() < 1_000.0, "{job}");
    let engines = place.run("predict engines --device p5510-3840 --details").out;
    for words in ["libaio: 3.58 us", "io_uring: 2.31 us", "no core limits io_uring sqpoll"] {
        assert!(engines.contains(words), "no `{words}` in\n{engines}");
    }
}

/// One run serves them all: it was predicted before it was measured, and a drive is fitted to it.
#[test]
fn a_run_is_predicted_before_it_is_measured_and_a_drive_is_fitted_to_it() {
    let place = Place::new();
    std::fs::write(place.file("ladder.toml"), LADDER).expect("a file");
    let document = place.json("run ladder.toml --target . --predict", 0);
    crate::cli::contract::holds(&document);
    assert_eq!(rows(&document).len(), 5, "screens are no steps of the run");
    let mut errors = Vec::new();
    for step in rows(&document) {
        let predicted = &step["predicted"];
        let error = (number(&predicted["iops"]) / number(&step["iops"]) - 1.0) * 100.0;
        assert!((number(&predicted["iops_error_pct"]) - error).abs() < 1e-9, "{predicted}");
        assert!(predicted["made"].as_str() <= step["started"].as_str(), "{predicted} before {}", step["started"]);
        errors.push(error.abs());
    }
    errors.sort_by(f64::total_cmp);
    let prediction = &document["prediction"];
    assert!((number(&prediction["iops_error_pct_median"]) - errors[2]).abs() < 1e-9, "{prediction}");
    assert!(prediction["screens"].as_array().is_some_and(|s| (2..=3).contains(&s.len())), "{prediction}");
    let shown = place.run("show last").out;
    assert!(shown.contains("Median error of predicted IOPS over 5 steps"), "{shown}");

    place.run("fit last -o my-ssd.toml").expect(0, &["fathom predict --device my-ssd.toml"]);
    let predicted = place.json("predict ladder.toml --device my-ssd.toml", 0);
    for (predicted, measured) in rows(&predicted).iter().zip(rows(&document)) {
        let ratio = number(&predicted["iops"]) / number(&measured["iops"]);
        // The fit met these very points; what is left is the noise of a ladder of a few tenths of a second.
        assert!((0.33..3.0).contains(&ratio), "{}: {ratio}", predicted["label"]);
    }
    place.run("fit last --name other").expect(0, &[]);
}

#[test]
fn what_is_known_of_a_drive_is_predicted_and_the_missing_key_named() {
    let place = Place::new();
    let brief = place.run("predict quick --device p5800x").out;
    assert!(brief.contains("6 loads are not predicted: rand_write_4k_iops"), "{brief}");
    let ended = place.run("predict quick --device p5800x --details");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for part in
        ["4k random read T1 QD1 ", "not predicted, for nothing is known of the drive's writes: ", "rand_write_4k_iops"]
    {
        assert!(ended.out.contains(part), "{part}\n{}", ended.out);
    }
    let document = place.json("predict quick --device p5800x", 0);
    assert_eq!(document["steps"].as_array().map(Vec::len), Some(10), "{document}");
    assert_eq!(document["not_predicted"].as_array().map(Vec::len), Some(6), "{document}");
    let none = place.run("predict --device p5800x --set rw=randwrite");
    assert!(none.code == Some(2) && none.err.contains("seq_write_bytes_per_s"), "{}", none.err);
    let unrated = place.run("predict quick --device p4610");
    assert!(unrated.code == Some(2) && unrated.err.contains("rand_read_4k_iops"), "{}", unrated.err);
}

#[test]
fn templates_are_files_that_work_as_they_are() {
    let place = Place::new();
    let device = place.run("catalogue new");
    fs::write(place.file("my-ssd.toml"), &device.out).expect("written");
    let text = place.run("predict quick --device my-ssd.toml --details");
    assert!(text.code == Some(0) && text.out.contains("1.00M"), "{}{}", text.out, text.err);
    let machine = place.run("machines dump r740xd");
    fs::write(place.file("mine.toml"), &machine.out).expect("written");
    let shown = place.run("machines show mine.toml");
    assert!(shown.code == Some(0) && shown.out.contains("pm1725"), "{}{}", shown.out, shown.err);
    let unknown = place.run("machines dump r740xe");
    assert!(unknown.code == Some(2) && unknown.err.contains("r740xd"), "{}", unknown.err);
}

#[test]
fn a_simulated_machine_is_predicted_from_its_own_file_and_does_what_was_predicted() {
    let place = Place::new();
    let load = "--target sim:r740xd/pm1725-0 --iodepth";
    for depth in [1, 32] {
        let predicted = place.json(&format!("predict {load} {depth}"), 0)["steps"][0]["iops"].as_f64().expect("a rate");
        let simulated = place.step(&format!("io {load} {depth} --runtime 200ms"))["iops"].as_f64().expect("a rate");
        assert!((predicted / simulated - 1.0).abs() < 0.15, "{depth}: {predicted} {simulated}");
    }
    let both = place.run("predict --target sim:r740xd/pm1725-0 --device p5510-3840");
    both.expect(2, &["--device and sim:r740xd/pm1725-0", "leave --device out"]);
    place.run("predict --target sim:intel-8380/pmem").expect(2, &["is memory, which no formula of a drive knows"]);
}
