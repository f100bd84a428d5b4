//! Words of fio's command line and of its job files as people copy them from forums, vendors and scripts.

use serde_json::Value;

use crate::cli::Place;

fn jobs(place: &Place, words: &str) -> Vec<Value> {
    let run = place.run(&format!("fio --overwrite --output-format=json {words}"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let result: Value = serde_json::from_str(&run.out).expect("JSON");
    result["jobs"].as_array().expect("jobs").clone()
}

fn write(place: &Place, name: &str, text: &str) {
    std::fs::write(place.file(name), text).expect("a file");
}

/// Output of a run that succeeds.
fn out(place: &Place, words: &str) -> String {
    let run = place.run(words);
    assert_eq!(run.code, Some(0), "{words}: {}", run.err);
    run.out
}

/// Name, group, reads and writes of each entry.
fn seen(jobs: &[Value]) -> Vec<(&str, u64, u64, u64)> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let of = |job: &'_ Value| {
        (number(&job["groupid"]), number(&job["read"]["total_ios"]), number(&job["write"]["total_ios"]))
    };
    jobs.iter()
        .map(|job| {
            let (group, reads, writes) = of(job);
            (job["jobname"].as_str().expect("a name"), group, reads, writes)
        })
        .collect()
}

#[test]
fn options_with_one_dash_are_taken() {
    let place = Place::new();
    let words = "-direct=0 -iodepth=4 -rw=randread -ioengine=libaio -bs=4k -size=64k -numjobs=1 -group_reporting -filename=f \
                 -name=t";
    assert_eq!(seen(&jobs(&place, words)), [("t", 0, 16, 0)]);
    assert!(out(&place, "fio -v").starts_with("fio-3."));
}

#[test]
fn defaults_of_a_further_job_file_start_anew_and_its_jobs_wait() {
    let place = Place::new();
    write(&place, "one.fio", "[global]\nbs=8k\nrw=write\n[a]\nsize=64k\n");
    write(&place, "two.fio", "[b]\nsize=64k\nrw=write\n");
    assert_eq!(seen(&jobs(&place, "one.fio two.fio")), [("a", 0, 0, 8), ("b", 1, 0, 16)]);
}

#[test]
fn every_job_and_clone_is_an_entry_unless_its_group_is_one() {
    let place = Place::new();
    write(&place, "each.fio", "[global]\nrw=read\nsize=64k\n[a]\n[b]\nnumjobs=2\n");
    assert_eq!(seen(&jobs(&place, "each.fio")), [("a", 0, 16, 0), ("b", 0, 16, 0), ("b", 0, 16, 0)]);
    write(
        &place,
        "group.fio",
        "[global]\nrw=read\nsize=64k\ngroup_reporting\n[a]\n[b]\nnumjobs=2\nbs=8k\n[c]\nnew_group\n",
    );
    assert_eq!(seen(&jobs(&place, "group.fio")), [("a", 0, 32, 0), ("c", 1, 16, 0)]);
    let text = out(&place, "fio --overwrite group.fio");
    assert!(text.contains("a: (groupid=0, jobs=3): err= 0"), "{text}");
    let line = out(&place, "fio --overwrite --minimal group.fio");
    let fields: Vec<usize> = line.lines().map(|line| line.split(';').count()).collect();
    // Without disks at the end.
    assert!(fields.len() == 2 && fields.iter().all(|fields| *fields >= 121), "{line}");
}

#[test]
fn a_section_that_is_a_device_is_judged_as_the_device() {
    let place = Place::new();
    write(&place, "dev.fio", "[/dev/zero]\nrw=read\nsize=64k\n");
    let run = place.run("fio dev.fio");
    assert!(run.code == Some(2) && run.err.contains("/dev/zero") && !run.err.contains("zero.0.0"), "{}", run.err);
}

#[test]
fn an_engine_that_is_missing_is_named() {
    let place = Place::new();
    write(&place, "rbd.fio", "[global]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname=test\nrw=randwrite\n[a]\n");
    let run = place.run("fio rbd.fio");
    run.expect(2, &["ioengine=rbd is not built in"]);
    assert!(!run.err.contains("unknown key"), "{}", run.err);
}

#[test]
fn questions_are_answered_without_a_run() {
    let place = Place::new();
    write(&place, "j.fio", "[global]\nbs=8k\n[a]\nrw=write\ngroup_reporting\n");
    let shown = out(&place, "fio --showcmd j.fio");
    assert_eq!(shown, "fio --bs=8k --name=a --rw=write --group_reporting\n");
    assert!(out(&place, "fio --enghelp").contains("\tlibaio\n"));
    place.run("fio --enghelp=rbd").expect(2, &["ioengine=rbd is not built in"]);
    assert!(out(&place, "fio --cmdhelp=readwrite").contains("alias"));
    assert!(!place.file("a.0.0").exists());
    place.run("fio --parse-only --aux-path=/tmp j.fio").expect(0, &[]);
}

#[test]
fn files_have_the_size_that_fio_gives_them() {
    let place = Place::new();
    jobs(&place, "--name=a --rw=write --size=100k --nrfiles=3 --bs=4k");
    let sizes = ["a.0.0", "a.0.1", "a.0.2"].map(|name| std::fs::metadata(place.file(name)).expect("a file").len());
    assert_eq!(sizes, [34_133; 3]);
}

#[test]
fn shares_of_a_file_are_exact() {
    let place = Place::new();
    std::fs::write(place.file("f"), vec![7; 4 << 20]).expect("a file");
    let read = |words: &str| {
        jobs(&place, &format!("--name=a --rw=read --bs=64k --filename=f {words}"))[0]["read"]["io_bytes"].clone()
    };
    assert_eq!(read("--size=50%"), 2 << 20);
    assert_eq!(read("--offset=25%"), 3 << 20);
    assert_eq!(read("--io_size=50%"), 2 << 20);
}
