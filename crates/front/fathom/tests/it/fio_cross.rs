//! Beside fio: the same job does the same I/O, files go both ways, damage is found, and exports speak fio's words.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;

use crate::cli::machine::Mounted;
use crate::cli::{Place, bytes_of, check, skipped, warns};
use serde_json::Value;

const BLOCK: u64 = 4096;
const SIZE: u64 = 32 << 20;

/// fio's JSON of a job; `None` when fio is absent (and says so).
fn fio(place: &Place, words: &[&str]) -> Option<Value> {
    let output = match Command::new("fio").args(["--output-format=json"]).args(words).current_dir(place.work()).output()
    {
        Ok(output) => output,
        Err(e) => {
            skipped(&format!("fio: {e}"));
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "fio: {}{text}", String::from_utf8_lossy(&output.stderr));
    // fio may write notes before the document.
    let json = text.find('{').map_or("", |at| &text[at..]);
    Some(serde_json::from_str(json).expect("fio's JSON"))
}

fn ios_and_bytes(job: &Value, op: &str) -> (u64, u64) {
    (job[op]["total_ios"].as_u64().expect("ios"), job[op]["io_bytes"].as_u64().expect("bytes"))
}

#[test]
fn the_same_job_file_does_the_same_io_in_both() {
    let place = Place::new();
    let job = "[global]\nioengine=libaio\ndirect=1\nsize=32m\nfilename=jobs.dat\n\
               [fill]\nrw=write\nbs=128k\niodepth=4\n\
               [reads]\nstonewall\nrw=randread\nbs=4k\niodepth=16\n\
               [scan]\nstonewall\nrw=read\nbs=64k\niodepth=2\n\
               [mixed]\nstonewall\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=8\n\
               [again]\nstonewall\nrw=randwrite\nbs=16k\nloops=2\n";
    fs::write(place.file("same.fio"), job).expect("written");
    let Some(theirs) = fio(&place, &["same.fio"]) else { return };
    let ours = place.json("run same.fio --overwrite", 0);
    let (jobs, steps) = (theirs["jobs"].as_array().expect("jobs"), ours["steps"].as_array().expect("steps"));
    assert_eq!(jobs.len(), steps.len());
    for (job, step) in jobs.iter().zip(steps) {
        let name = &job["jobname"];
        let (read, write) = (ios_and_bytes(job, "read"), ios_and_bytes(job, "write"));
        assert_eq!(step["ios"].as_u64(), Some(read.0 + write.0), "{name}");
        assert_eq!(bytes_of(step), read.1 + write.1, "{name}");
        assert_eq!(step["read"].is_null(), read.0 == 0, "{name}");
        assert_eq!(step["write"].is_null(), write.0 == 0, "{name}");
    }
}

/// Space and content of a new file, as the job leaves it: bytes it has on the disk, and bytes of it that were written.
fn new_file(place: &Place, name: &str) -> (u64, u64) {
    let file = fs::File::open(place.file(name)).expect("the job leaves its file");
    let unwritten = fathom_host::unwritten_share(&file, 0, 4 << 20).expect("the file system tells");
    (file.metadata().expect("there").blocks() * 512, unwritten.region_bytes - unwritten.unwritten_bytes)
}

#[test]
fn a_new_file_is_as_fresh_as_in_fio() {
    let place = Place::new();
    for (name, words) in [
        ("writes", "--rw=write"),
        ("laid-out", "--rw=write --overwrite=1"),
        ("sparse", "--rw=randwrite --fallocate=none"),
        ("given", "--rw=randwrite --fallocate=posix"),
        ("mixed", "--rw=randrw"),
        ("reads", "--rw=read"),
    ] {
        let job = format!("--name={name} {words} --bs=4k --size=4m --io_size=64k --ioengine=psync --end_fsync=1");
        let words: Vec<&str> = job.split_whitespace().collect();
        let Some(_) = fio(&place, &words) else { return };
        let theirs = new_file(&place, &format!("{name}.0.0"));
        fs::remove_file(place.file(&format!("{name}.0.0"))).expect("removed");
        place.run(&format!("fio {job}")).expect(0, &[]);
        let ours = new_file(&place, &format!("{name}.0.0"));
        assert_eq!(ours.1, theirs.1, "{job}: written bytes");
        // Its mark and the file system's own blocks aside.
        assert!(ours.0.abs_diff(theirs.0) <= 64 << 10, "{job}: {ours:?} {theirs:?}");
    }
}

#[test]
fn a_file_is_new_once_and_its_state_is_part_of_the_load() {
    let place = Place::new();
    let study = "[study]\nname = \"states\"\n[defaults]\nrw = \"write\"\nsize = \"1m\"\nruntime = \"100ms\"\n\
                 [[ladder]]\nnew_files = [\"written\", \"allocated\"]\n";
    fs::write(place.file("states.toml"), study).expect("written");
    let states = place.json("run states.toml --target .", 1);
    let reason = states["steps"][1]["reason"].as_str().expect("is refused");
    assert!(reason.contains("an earlier step of the run used it"), "{reason}");
    place.step("io --target . --rw write --size 1m --runtime 100ms");
    place.step("io --target . --rw write --size 1m --runtime 100ms --new_files sparse");
    place.run("compare 2 3").expect(2, &["there is nothing to compare"]);
}

#[test]
fn a_file_that_fio_wrote_is_read_in_full_and_is_foreign_to_verify() {
    let place = Place::new();
    let words =
        ["--name=w", "--filename=theirs", "--rw=write", "--bs=4k", "--size=32m", "--verify=crc32c", "--do_verify=0"];
    if fio(&place, &words).is_none() {
        return;
    }
    let before = fs::read(place.file("theirs")).expect("written");
    for rw in ["read", "randread"] {
        let load = format!("io --target theirs --rw {rw} --size 32m --iodepth 8 --set loops=1 --runtime 60s");
        let step = place.step(&load);
        assert_eq!((step["ios"].as_u64(), bytes_of(&step)), (Some(SIZE / BLOCK), SIZE), "{rw}");
        assert_eq!(step["errors"], 0);
    }
    // fio's headers are not ours, and that is said of every block rather than passed over.
    let load = "io --target theirs --rw read --size 32m --verify crc32c --set loops=1 --runtime 60s";
    let document = place.json(load, 1);
    assert_eq!(document["steps"][0]["verify"]["foreign"], SIZE / BLOCK);
    assert!(fs::read(place.file("theirs")).expect("kept") == before, "nothing is changed");
}

#[test]
fn fio_reads_what_fathom_wrote() {
    let place = Place::new();
    let step = place.step("io --target ours --rw write --size 32m --bs 64k --set loops=1 --runtime 60s --keep");
    assert_eq!(bytes_of(&step), SIZE);
    let Some(read) = fio(&place, &["--name=r", "--filename=ours", "--rw=read", "--bs=4k", "--size=32m", "--direct=1"])
    else {
        return;
    };
    assert_eq!(ios_and_bytes(&read["jobs"][0], "read"), (SIZE / BLOCK, SIZE));
    assert_eq!(read["jobs"][0]["error"], 0);
}

/// Writes a file with verify in one process; damage is done to it between processes.
fn written_file(place: &Place, engine: &str) {
    let load = format!("io --target ours --engine {engine} --rw write --verify crc32c --size 32m --iodepth 8");
    let step = place.step(&format!("{load} --set loops=1 --runtime 60s --keep"));
    assert_eq!(step["ios"].as_u64(), Some(SIZE / BLOCK));
}

fn verify_pass(engine: &str, rw: &str) -> String {
    format!(
        "io --target ours --engine {engine} --rw {rw} --verify crc32c --size 32m --iodepth 8 --set loops=1 --runtime 60s"
    )
}

#[test]
fn a_fresh_process_checks_a_written_file_and_finds_every_damage() {
    let place = Place::new();
    written_file(&place, "io_uring");
    for engine in ["io_uring", "libaio", "psync", "mmap"] {
        for rw in ["read", "randread"] {
            let step = place.step(&verify_pass(engine, rw));
            assert_eq!(step["verify"]["blocks_checked"], SIZE / BLOCK, "{engine} {rw}");
            assert!(!warns(&step, "verify_failed"));
        }
    }
    let file = fs::OpenOptions::new().read(true).write(true).open(place.file("ours")).expect("open");
    let mut block = vec![0; BLOCK as usize];
    // One bit of block 100; block 200 where 300 belongs; block 400 zeroed; the second half of 500 behind that of 501.
    file.read_exact_at(&mut block, 100 * BLOCK).expect("read");
    block[777] ^= 1;
    file.write_all_at(&block, 100 * BLOCK).expect("written");
    file.read_exact_at(&mut block, 200 * BLOCK).expect("read");
    file.write_all_at(&block, 300 * BLOCK).expect("written");
    file.write_all_at(&[0; BLOCK as usize], 400 * BLOCK).expect("written");
    file.read_exact_at(&mut block, 500 * BLOCK).expect("read");
    file.write_all_at(&block[BLOCK as usize / 2..], 501 * BLOCK + BLOCK / 2).expect("written");
    file.sync_all().expect("synced");

    for engine in ["io_uring", "libaio", "psync", "mmap"] {
        let document = place.json(&verify_pass(engine, "randread"), 1);
        let step = &document["steps"][0];
        let verify = &step["verify"];
        assert_eq!(verify["blocks_checked"], SIZE / BLOCK, "{engine}");
        assert_eq!(verify["misplaced"], 1, "{engine}: {verify}");
        assert_eq!(verify["foreign"], 1, "{engine}: {verify}");
        let broken = verify["corrupt"].as_u64().expect("a count") + verify["torn"].as_u64().expect("a count");
        assert_eq!(broken, 2, "{engine}: the changed bit and the mixed block: {verify}");
        let examples = verify["examples"].to_string();
        for block in [100, 300, 400, 501] {
            assert!(examples.contains(&format!("byte {}", block * BLOCK)), "{engine}: block {block} in {examples}");
        }
        assert!(warns(step, "verify_failed") && step["errors"] == 0, "{engine}: damage is not a failed I/O");
    }
}

#[test]
fn our_counts_are_those_of_the_kernel() {
    let place = Place::new();
    let Some(own) = Mounted::ext4(&place, "own", 256 << 20, "rw") else { return };
    for (rw, bs) in [("randread", 4096_u64), ("randwrite", 4096), ("read", 65_536), ("write", 65_536)] {
        let target = own.path.display();
        let load =
            format!("io --target {target} --rw {rw} --bs {bs} --iodepth 4 --size 32m --set loops=2 --runtime 60s");
        let step = place.step(&load);
        assert_eq!(step["ios"].as_u64(), Some(2 * SIZE / bs), "{rw}");
        assert_eq!(check(&step, "diskstats").expect("checked")["ok"], true, "{}", step["checks"]);
        let disk = &step["host_delta"]["disks"][0];
        let kernel = disk[if rw.contains("read") { "read_bytes" } else { "write_bytes" }].as_u64().expect("bytes");
        // The file system may add some blocks of its own.
        assert!(kernel.abs_diff(2 * SIZE) <= SIZE / 50, "{rw}: the kernel counted {kernel}");
    }
}

/// All ways to the leaves of a document, lists left out.
fn keys(value: &Value, way: &str, out: &mut Vec<String>) {
    if let Some(object) = value.as_object() {
        for (name, inner) in object {
            let way = format!("{way}/{name}");
            keys(inner, &way, out);
            out.push(way);
        }
    }
}

#[test]
fn an_export_has_the_keys_that_fio_has() {
    let place = Place::new();
    let words = ["--name=t", "--filename=f", "--rw=randrw", "--bs=4k", "--size=16m", "--ioengine=libaio", "--direct=1"];
    let Some(theirs) = fio(&place, &words) else { return };
    place.step("io --target . --engine libaio --rw randrw --size 16m --runtime 400ms");
    let ours = place.run("export last --format fio-json").json();
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    keys(&theirs["jobs"][0], "", &mut wanted);
    keys(&ours["jobs"][0], "", &mut found);
    // Options are what the user asked for, not a result; percentiles without enough samples are left out.
    wanted.retain(|k| !k.starts_with("/job options/") && !k.contains("/percentile/"));
    for op in ["read", "write"] {
        let percentiles = &ours["jobs"][0][op]["clat_ns"]["percentile"];
        let known = &theirs["jobs"][0][op]["clat_ns"]["percentile"];
        let listed = percentiles.as_object().expect("percentiles");
        assert!(listed.keys().all(|k| !known[k].is_null()), "{percentiles}");
    }
    let missing: Vec<&String> = wanted.iter().filter(|k| !found.contains(k)).collect();
    assert!(missing.is_empty(), "fio has, the export lacks: {missing:?}");
    for key in ["fio version", "timestamp", "time", "jobs"] {
        assert!(!ours[key].is_null(), "{key}");
    }
}

#[test]
fn results_of_fio_come_into_the_lab() {
    let place = Place::new();
    let words =
        ["--name=t", "--filename=f", "--rw=randread", "--bs=4k", "--size=16m", "--ioengine=libaio", "--direct=1"];
    // fio keeps the distribution of clat alone unless asked for that of lat; it then stands for lat, and the step says so.
    for (format, lat_percentiles) in [("json", "0"), ("json+", "0"), ("json", "1"), ("json+", "1")] {
        let asked = [&format!("--output-format={format}"), &format!("--lat_percentiles={lat_percentiles}")];
        let Some(theirs) = fio(&place, &[&words[..], &asked.map(String::as_str)].concat()) else { return };
        let kind = if lat_percentiles == "1" { "lat_ns" } else { "clat_ns" };
        fs::write(place.file("theirs.json"), theirs.to_string()).expect("written");
        let ours = place.json("import theirs.json", 0);
        let step = &ours["steps"][0];
        assert_eq!((step["ios"].as_u64(), bytes_of(step)), (Some(4096), 16 << 20), "{format}");
        let mean = theirs["jobs"][0]["read"][kind]["mean"].as_f64().expect("a mean");
        let read = step["lat_ns"]["mean"].as_f64().expect("a mean");
        assert!((read / mean - 1.0).abs() < 0.01, "{format}: {read} for {mean}");
        let said = step["warning_texts"].to_string().contains("latencies are fio's clat");
        assert_eq!(said, kind == "clat_ns", "{}", step["warning_texts"]);
        place.run("report last -o r.html").expect(0, &[]);
    }
}
