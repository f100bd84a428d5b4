//! Jobs of fio that tell the kernel more than what is read and written: they run, with as many I/Os as fio makes, and what
//! this machine lacks is refused by name.

use std::fs;
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// I/Os and bytes of each job of fio's JSON, over all directions.
fn counts(result: &Value) -> Vec<(u64, u64)> {
    let of_job = |job: &Value| {
        let number = |direction: &str, key: &str| job[direction][key].as_u64().unwrap_or(0);
        let sum = |key: &str| ["read", "write", "trim"].iter().map(|direction| number(direction, key)).sum();
        (sum("total_ios"), sum("io_bytes"))
    };
    result["jobs"].as_array().expect("jobs").iter().map(of_job).collect()
}

fn fathom(place: &Place, job: &str) -> Value {
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("fio --overwrite --output-format=json job.fio");
    assert_eq!(run.code, Some(0), "{job}\n{}", run.err);
    serde_json::from_str(&run.out).expect("JSON")
}

/// Finite jobs of words that change no counts; without the class that needs a privilege.
const FINITE: [&str; 4] = [
    "[a]\nioengine=libaio\niodepth=8\nrw=randread\nbs=16k\nsize=1m\nfilename=f\nprioclass=3\ncmdprio_percentage=20\n\
     cmdprio_class=2\ncmdprio=1\n",
    "[a]\nioengine=io_uring\niodepth=4\nrw=randrw\nbs=4k\nsize=1m\nfilename=f\nprio=5\n\
     cmdprio_bssplit=4k/30/2/1:4k/20/3/0,4k/0\n",
    "[a]\nrw=write\nbs=4k\nsize=512k\nfilename=f\nbuffer_compress_percentage=50\ndedupe_mode=working_set\n\
     dedupe_percentage=50\ndedupe_working_set_percentage=20\n",
    "[a]\nioengine=libaio\niodepth=16\nrw=randread\nbs=4k\nsize=1m\nfilename=f\nlatency_target=10000000\n\
     latency_window=50000000\nlatency_percentile=99.9\n",
];

#[test]
fn finite_jobs_have_the_counts_of_fio() {
    for job in FINITE {
        let place = Place::new();
        let folder = place.beside("theirs");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("job.fio"), job).expect("written");
        let ran = Command::new("fio").args(["--output-format=json", "job.fio"]).current_dir(&folder).output();
        let Ok(output) = ran else { return skipped("fio is absent") };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some(begin) = text.find('{') else { return skipped("the fio here does not know the words") };
        let theirs: Value = serde_json::from_str(&text[begin..]).expect("fio's JSON");
        let sum = |all: &Value| counts(all).iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        assert_eq!(sum(&fathom(&place, job)), sum(&theirs), "{job}");
    }
}

#[test]
fn the_deepest_queue_that_keeps_to_a_latency_ends_the_load_before_its_time() {
    let place = Place::new();
    let job = "[a]\nioengine=null\niodepth=8\nrw=randread\nbs=4k\nsize=1g\nnorandommap\ntime_based\nruntime=60\n\
               latency_target=10000000\nlatency_window=20000\nlatency_percentile=90\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let begun = std::time::Instant::now();
    let run = place.run("run job.fio --json");
    assert!(begun.elapsed().as_secs() < 30, "it was not ended");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    let features = document["steps"][0]["features"].as_array().expect("features");
    let found = features.iter().find(|feature| feature["name"] == "depth_search").expect("the search");
    assert!(found.to_string().contains('8'), "{found}");
}

#[test]
fn a_drive_is_conditioned_by_its_capacity_and_what_it_has_to_spare() {
    let place = Place::new();
    let job = "[a]\nioengine=libaio\niodepth=8\nrw=randwrite\nbs=4k\nsize=8m\nfilename=f\nnorandommap=1\nsprandom=1\n\
               spr_op=0.25\nspr_num_regions=10\n";
    let (ios, bytes) = counts(&fathom(&place, job))[0];
    // A file of 2048 blocks and a quarter more; what is written again is drawn.
    assert_eq!(bytes, ios * 4096);
    assert!((2_200..=2_560).contains(&ios), "{ios}");
}

#[test]
fn nodes_and_atomic_writes_that_are_not_there_are_refused_by_name() {
    let place = Place::new();
    let refused = |words: &str, wanted: &str| {
        fs::write(place.file("job.fio"), format!("[a]\nrw=write\nbs=4k\nsize=64k\nfilename=f\n{words}"))
            .expect("written");
        let run = place.run("fio --overwrite job.fio");
        let said = format!("{}{}", run.out, run.err);
        assert!(run.code != Some(0) && said.contains(wanted), "{words}\n{said}");
    };
    refused("numa_cpu_nodes=0,900\n", "NUMA node 900");
    refused("numa_mem_policy=interleave:0,900\n", "NUMA node 900");
    refused("numa_mem_policy=some\n", "numa_mem_policy");
    refused("ioengine=libaio\ndirect=1\nverify=crc32c\natomic=1\nnumjobs=2\ngroup_reporting\nbs=3k\n", "atomic writes");
    refused("ioengine=psync\nuncached=1\n", "io_uring or libaio");
    refused("ioengine=io_uring\ndirect=1\nuncached=1\n", "io_uring or libaio");
    // Whether there is such I/O is the kernel's and the file system's affair.
    for engine in ["io_uring", "libaio"] {
        let job = format!("[a]\nrw=randrw\nbs=4k\nsize=64k\nfilename=f\nioengine={engine}\nuncached=1\n");
        fs::write(place.file("job.fio"), job).expect("written");
        let run = place.run("fio --overwrite --output-format=json job.fio");
        let said = format!("{}{}", run.out, run.err);
        assert!(run.code == Some(0) || said.contains("RWF_DONTCACHE"), "{engine}\n{said}");
    }
    // The node of this machine's memory will do.
    fathom(&place, "[a]\nrw=write\nbs=4k\nsize=64k\nfilename=f\nnuma_cpu_nodes=0\nnuma_mem_policy=bind:0\n");
}
