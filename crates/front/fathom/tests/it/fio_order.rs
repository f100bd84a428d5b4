//! Order, sizes, ends and pauses of fio's jobs: as many I/Os, bytes and syncs as fio itself makes of the same file.

use std::fs;
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// What fio makes of the job, in a folder of its own.
pub(crate) fn fio(place: &Place, job: &str) -> Option<Value> {
    let folder = place.beside("theirs");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("job.fio"), job).expect("written");
    let output = Command::new("fio").args(["--output-format=json", "job.fio"]).current_dir(&folder).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(serde_json::from_str(&text[text.find('{')?..]).expect("fio's JSON"))
}

pub(crate) fn fathom(place: &Place, job: &str) -> Value {
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("fio --overwrite --output-format=json job.fio");
    assert_eq!(run.code, Some(0), "{job}\n{}", run.err);
    serde_json::from_str(&run.out).expect("JSON")
}

/// I/Os and bytes of each job and direction.
pub(crate) fn counts(result: &Value) -> Vec<(String, u64, u64)> {
    let mut counts = Vec::new();
    for job in result["jobs"].as_array().expect("jobs") {
        for direction in ["read", "write", "trim"] {
            let number = |key: &str| job[direction][key].as_u64().unwrap_or(0);
            let name = format!("{} {direction}", job["jobname"].as_str().unwrap_or_default());
            counts.push((name, number("total_ios"), number("io_bytes")));
        }
    }
    counts
}

/// Finite jobs, each of words that Fathom took from fio: the counts are the same to the last I/O.
const FINITE: [&str; 10] = [
    // A stride forwards, and backwards from the end.
    "[a]\nrw=read:-8k\nbs=4k\nsize=1m\nfilename=f\n[b]\nstonewall\nrw=write:12k\nbs=4k\nsize=1m\nfilename=g\n",
    // So many bytes and I/Os, below and above the size.
    "[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=300k\nfilename=f\n[b]\nstonewall\nrw=write\nbs=8k\nsize=512k\nio_size=1200k\n\
     filename=f\n[c]\nstonewall\nrw=randwrite\nnumber_ios=77\nloops=2\nbs=4k\nsize=1m\nfilename=g\n",
    // Zones with gaps between them.
    "[a]\nrw=read\nbs=4k\nsize=2m\nzonemode=strided\nzonesize=64k\nzoneskip=192k\nfilename=f\n",
    // Jobs of one file that each go over all of it, and each over a part.
    "[a]\nrw=write\nbs=4k\nsize=256k\nnumjobs=3\nfilename=f\ngroup_reporting\n[b]\nstonewall\nrw=read\nbs=4k\nsize=256k\n\
     numjobs=3\noffset_increment=256k\nfilename=f\ngroup_reporting\nnew_group\n",
    // Places by zones and at multiples of less than a block; each block of a range of one size.
    "[a]\nrw=randread\nbs=4k\nsize=2m\nnorandommap\nrandom_distribution=zoned:50/5:30/15:20/80\nfilename=f\n[b]\nstonewall\n\
     rw=randread\nbs=8k\nblockalign=4k\nnorandommap\nsize=1m\nfilename=f\n[c]\nstonewall\nrw=randwrite\nbsrange=4k-4k\nsize=1m\n\
     filename=g\n",
    // Runs behind random places, and a file larger than what is moved.
    "[a]\nrw=randread:8\nbs=4k\nsize=1m\nfilename=f\n[b]\nstonewall\nrw=read\nbs=4k\nsize=512k\nfilesize=2m\nfilename=g\n",
    // One job after the other without a stonewall, with pauses, and content of one's own.
    "[a]\nrw=write\nbs=4k\nsize=256k\nbuffer_pattern=0xdeadbeef\nfilename=f\n[b]\nwait_for=a\nrw=read\nbs=4k\nsize=256k\n\
     thinktime=500\nthinktime_blocks=8\nfilename=f\n",
    // The engine without I/O, with a list of its own for each direction.
    "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=40m\nnorandommap\n[b]\nstonewall\nioengine=null\nrw=write\nbs=4k,16k\nsize=8m\n",
    // Sixteen files in one thread, and files of each job, in several orders.
    "[a]\nrw=randread\nbs=4k\nsize=1m\nnrfiles=16\nioengine=libaio\niodepth=8\n[b]\nstonewall\nrw=write\nbs=4k\nsize=512k\nnrfiles=8\n\
     numjobs=2\ngroup_reporting\nfile_service_type=random:4\n[c]\nstonewall\nnew_group\nrw=read\nbs=8k\nfilesize=64k\nnrfiles=4\n\
     size=128k\nfile_service_type=sequential\n",
    // So much of all files together.
    "[a]\nrw=randwrite\nbs=4k\nsize=512k\nnrfiles=4\nio_size=1200k\n[b]\nstonewall\nrw=randread\nbs=4k\nsize=512k\nnrfiles=4\n\
     number_ios=77\nfile_service_type=roundrobin:8\n[c]\nstonewall\nrw=read:8k\nbs=4k\nsize=256k\nnrfiles=4\nopenfiles=2\n",
];

#[test]
fn finite_jobs_have_the_counts_of_fio() {
    for job in FINITE {
        let place = Place::new();
        let Some(theirs) = fio(&place, job) else { return skipped("fio is absent") };
        assert_eq!(counts(&fathom(&place, job)), counts(&theirs), "{job}");
    }
}

#[test]
fn splits_move_the_bytes_of_fio_one_behind_the_other() {
    // How many I/Os it takes depends on what is drawn.
    let job = "[a]\nrw=write\nbssplit=512/4:1k/6:4k/67:8k/13:64k/10\nsize=16m\nfilename=f\n";
    let place = Place::new();
    let Some(theirs) = fio(&place, job) else { return skipped("fio is absent") };
    let (ours, theirs) = (counts(&fathom(&place, job)), counts(&theirs));
    let [ours, theirs] =
        [&ours, &theirs].map(|all| all.iter().find(|(name, ..)| name == "a write").cloned().expect("writes"));
    assert!(ours.2.abs_diff(theirs.2) <= 64 << 10, "{ours:?} {theirs:?}");
    assert!((ours.1 as f64 / theirs.1 as f64 - 1.0).abs() < 0.15, "{ours:?} {theirs:?}");
}

#[test]
fn what_is_written_is_the_pattern_and_verified_blocks_are_read_back_by_the_next_job() {
    let place = Place::new();
    fathom(&place, "[a]\nrw=randwrite\nbs=4k\nsize=64k\nbuffer_pattern=\"ab\"\nfilename=f\n");
    assert_eq!(fs::read(place.file("f")).expect("a file")[..64 << 10], *b"ab".repeat(32 << 10));
    let job = "[global]\nverify=meta\nverify_pattern=0xaa555aa5\nverify_interval=512\nbs=64k\nsize=1m\nfilename=g\n[w]\nrw=write\n\
               do_verify=0\n[r]\nstonewall\nrw=read\ndo_verify=1\n";
    let result = fathom(&place, job);
    assert_eq!(counts(&result).iter().map(|(_, ios, _)| ios).sum::<u64>(), 32);
    let mut bytes = fs::read(place.file("g")).expect("a file");
    assert_eq!(&bytes[1024..1028], [0xaa, 0x55, 0x5a, 0xa5]);
    bytes[70_000] ^= 1;
    fs::write(place.file("g"), bytes).expect("written");
    fs::write(place.file("r.fio"), "[r]\nrw=read\nverify=meta\nbs=64k\nsize=1m\nfilename=g\n").expect("written");
    let run = place.run("run r.fio --json");
    assert!(run.out.contains("\"corrupt\":1") || run.out.contains("\"corrupt\": 1"), "{}", run.out);
}

#[test]
fn the_first_job_that_ends_stops_the_others_with_exitall() {
    let place = Place::new();
    // Without exitall, `long` reads for a minute.
    let job = "[short]\nrw=read\nbs=4k\nsize=256k\nthinktime=2000\nfilename=f\nexitall\n[long]\nrw=randread\nbs=4k\nsize=8m\n\
               time_based\nruntime=60\nfilename=f\n";
    let begun = std::time::Instant::now();
    let result = fathom(&place, job);
    assert!(begun.elapsed().as_secs() < 30);
    assert_eq!(result["jobs"][0]["read"]["total_ios"], 64);
    assert!(result["jobs"][1]["read"]["total_ios"].as_u64() > Some(0));
}

#[test]
fn a_file_that_must_exist_is_not_made() {
    let place = Place::new();
    fs::write(place.file("job.fio"), "[a]\nrw=read\nsize=64k\nfilename=absent\nallow_file_create=0\n")
        .expect("written");
    let run = place.run("fio job.fio");
    assert!(
        run.code != Some(0) && run.err.contains("allow_file_create=0") && !place.file("absent").exists(),
        "{}",
        run.err
    );
}
