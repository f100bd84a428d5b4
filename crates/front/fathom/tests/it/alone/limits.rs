//! What limited a step, on real I/O whose limit is known because the test made it: named right each time.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// Rate that a control group allows: far below what any disk gives at this depth.
const ALLOWED_IOPS: u32 = 400;

/// Most times that a load is judged again because other programs used the CPUs.
const NOISY_TRIES: u32 = 5;

/// The measured step of a load by hand, and its probes, each between two repeats of that step.
fn explained(place: &Place, words: &str) -> (Value, Vec<Value>) {
    split(&place.json(&format!("io {words} --explain"), 0))
}

fn split(document: &Value) -> (Value, Vec<Value>) {
    let steps = document["steps"].as_array().expect("steps");
    let (measured, beside): (Vec<&Value>, Vec<&Value>) = steps.iter().partition(|s| s["phase"] == "measure");
    assert_eq!(measured.len(), 1, "one load by hand");
    let (probes, repeats): (Vec<&Value>, Vec<&Value>) =
        beside.into_iter().partition(|s| s["role"]["turn"]["is_probe"] == true);
    assert_eq!(probes.len(), repeats.len(), "A B B A");
    assert!(repeats.iter().all(|r| r["phase"] == "probe" && r["queue_depth"] == measured[0]["queue_depth"]));
    assert!(
        probes.iter().all(|p| p["phase"] == "probe" && p["label"].as_str().is_some_and(|l| l.contains("(probe: ")))
    );
    (measured[0].clone(), probes.into_iter().cloned().collect())
}

/// The limit has this name, at least one number stands behind it, and it says what would help.
fn is(step: &Value, name: &str) {
    let limit = &step["limit"];
    assert_eq!(limit["name"], name, "{}", serde_json::to_string_pretty(limit).unwrap_or_default());
    assert!(limit["evidence"].as_array().is_some_and(|e| !e.is_empty()), "{limit}");
    assert!(limit["would_help"].as_array().is_some_and(|h| !h.is_empty()), "{limit}");
}

/// A file of random bytes, on the disk and not in the page cache.
fn file(place: &Place, name: &str, mebibytes: usize) -> PathBuf {
    let path = place.file(name);
    let mut out = fs::File::create(&path).expect("a file");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..mebibytes {
        let block: Vec<u8> = (0..1 << 17)
            .flat_map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_le_bytes()
            })
            .collect();
        out.write_all(&block).expect("space on the disk");
    }
    out.sync_all().expect("is written");
    path
}

#[test]
fn a_loop_without_io_on_one_cpu_is_bound_by_its_core() {
    let place = Place::new();
    let (step, probes) = explained(&place, "--target null --engine null --cpus 0 --iodepth 8 --runtime 1s");
    is(&step, "core");
    // Confirmed where a second core was free to show it; the claim stands on the counters alone otherwise.
    assert!(["confirmed", "likely"].contains(&step["limit"]["confidence"].as_str().expect("a word")));
    for probe in &probes {
        assert!(probe["threads"].as_u64() > Some(1) || probe["queue_depth"].as_u64() > Some(8), "{}", probe["label"]);
    }
    let two = std::thread::available_parallelism().map_or(1, usize::from) > 1;
    assert!(!two || probes.iter().any(|p| p["threads"] == 2), "more threads are tried");
}

#[test]
fn one_io_at_a_time_is_bound_by_the_queue_depth_and_a_deeper_queue_confirms_it() {
    let place = Place::new();
    file(&place, "data", 64);
    // Other programs may leave the limit unknown once, and are then said to be there; not every time.
    let mut tries = 0;
    let (printed, step, probes) = loop {
        let printed = place.run("io --target data --rw randread --iodepth 1 --runtime 1s --explain --details");
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        let (step, probes) = split(&place.json("show last", 0));
        tries += 1;
        if tries == NOISY_TRIES || step["limit"]["name"] != "unknown" || !crate::cli::warns(&step, "noisy_host") {
            break (printed, step, probes);
        }
    };
    let sentence = step["limit"]["sentence"].as_str().expect("a sentence");
    for part in [sentence, " in flight gave ", "(probe: QD2)"] {
        assert!(printed.out.contains(part), "no `{part}` in\n{}", printed.out);
    }
    // A host whose CPUs others use may blur the first probe; then a much deeper one was tried as well.
    let tried = |depth: u32| probes.iter().any(|p| p["queue_depth"] == depth);
    let sure = step["limit"]["confidence"] == "confirmed";
    assert!(tried(2) && (sure || tried(8)), "{sentence}");
    is(&step, "queue_depth");
    assert!(printed.out.contains("would help: more I/Os in flight"), "{}", printed.out);
}

#[test]
fn a_cached_file_is_the_page_cache_and_not_the_drive() {
    let place = Place::new();
    let path = file(&place, "data", 64);
    fs::read(&path).expect("is read into the cache");
    let (step, _) = explained(&place, "--target data --rw randread --direct 0 --engine psync --runtime 1s");
    is(&step, "page_cache");
    assert_eq!(step["limit"]["confidence"], "confirmed");
}

#[test]
fn a_rate_that_was_asked_for_and_kept_is_the_limit() {
    let place = Place::new();
    file(&place, "data", 64);
    let (step, _) = explained(&place, "--target data --rw randread --rate 100 --iodepth 16 --runtime 1s");
    is(&step, "rate");
    assert_eq!(step["limit"]["confidence"], "confirmed");
}

#[test]
fn a_rate_that_a_control_group_allows_is_the_limit_and_depth_confirms_it() {
    let place = Place::new();
    let path = file(&place, "data", 64);
    let group = match Throttled::new(&path) {
        Ok(group) => group,
        Err(why) => return skipped(&why),
    };
    let ended =
        group.run(&place, "io --target data --rw randread --iodepth 8 --runtime 2s --ramp_time 300ms --explain");
    let (step, probes) = split(&ended);
    is(&step, "rate");
    assert_eq!(step["limit"]["confidence"], "confirmed", "{}", step["limit"]["sentence"]);
    let sentence = step["limit"]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains(&ALLOWED_IOPS.to_string()), "{sentence}");
    assert!(probes.iter().any(|p| p["queue_depth"] == 16));
}

/// A control group that holds the disk below a file to [`ALLOWED_IOPS`] reads per second; removed when dropped.
struct Throttled {
    group: PathBuf,
}

impl Throttled {
    /// Version 2 where its I/O controller is there, else version 1; the reason why neither could be had.
    fn new(file: &Path) -> Result<Throttled, String> {
        let device = whole_device(file)?;
        let name = format!("fathom-test-{}", std::process::id());
        let unified = Path::new("/sys/fs/cgroup");
        let group = if unified.join("cgroup.controllers").exists() {
            let controllers = fs::read_to_string(unified.join("cgroup.controllers")).unwrap_or_default();
            if !controllers.split_whitespace().any(|c| c == "io") {
                return Err("the control groups of this machine have no I/O controller".into());
            }
            fs::write(unified.join("cgroup.subtree_control"), "+io")
                .map_err(|e| format!("the I/O controller cannot be switched on: {e}"))?;
            unified.join(name)
        } else {
            unified.join("blkio").join(name)
        };
        fs::create_dir(&group).map_err(|e| format!("cannot make {}: {e}", group.display()))?;
        let made = Throttled { group };
        let set = if made.group.join("io.max").exists() {
            fs::write(made.group.join("io.max"), format!("{device} riops={ALLOWED_IOPS}"))
        } else {
            fs::write(made.group.join("blkio.throttle.read_iops_device"), format!("{device} {ALLOWED_IOPS}"))
        };
        set.map_err(|e| format!("{device} cannot be held to a rate: {e}"))?;
        Ok(made)
    }

    /// The document of a run inside the group.
    fn run(&self, place: &Place, words: &str) -> Value {
        let procs = self.group.join("cgroup.procs");
        let script = format!("echo $$ > {} && exec \"$0\" \"$@\"", procs.display());
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_fathom")])
            .args(words.split_ascii_whitespace())
            .arg("--json")
            .current_dir(place.work())
            .env("FATHOM_LAB", place.lab())
            .env("FATHOM_JOURNAL", place.beside("journal"))
            .output()
            .expect("sh starts");
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON alone")
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        // An empty group can be removed as soon as its last process has gone.
        let _ = fs::remove_dir(&self.group);
    }
}

/// `MAJ:MIN` of the whole disk below a file.
fn whole_device(file: &Path) -> Result<String, String> {
    let number = fs::metadata(file).map_err(|e| e.to_string())?.dev();
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
    let home = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .map_err(|_| format!("no disk lies below {} ({major}:{minor})", file.display()))?;
    let whole = if home.join("partition").exists() { home.parent().unwrap_or(&home).to_owned() } else { home };
    let text = fs::read_to_string(whole.join("dev")).map_err(|e| e.to_string())?;
    Ok(text.trim().to_owned())
}
