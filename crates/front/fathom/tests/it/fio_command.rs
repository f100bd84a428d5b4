//! `fathom fio`: fio's command line in, fio's results out, for people and for the programs that call fio.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// A command of fio's as KDiskMark builds it, on a small file.
const WORDS: &str = "--output-format=json --ioengine=libaio --direct=1 --randrepeat=0 --refill_buffers --end_fsync=1 \
                     --rwmixread=70 --filename=mark.dat --name=randrw4k --loops=1 --size=2m --bs=4k --rw=randrw --iodepth=8 \
                     --numjobs=1 --name=scan --stonewall --loops=2 --size=2m --bs=64k --rw=read --iodepth=4";

fn fio(place: &Place, words: &str) -> Option<Value> {
    let output = Command::new("fio").args(words.split_whitespace()).current_dir(place.work()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(serde_json::from_str(&text[text.find('{')?..]).expect("fio's JSON"))
}

#[test]
fn the_result_has_the_jobs_and_the_counts_of_fio() {
    let place = Place::new();
    let Some(theirs) = fio(&place, WORDS) else { return skipped("fio is absent") };
    let run = place.run(&format!("fio --overwrite {WORDS}"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.err, "", "programs that call fio take words on stderr for a failure");
    let ours: Value = serde_json::from_str(&run.out).expect("JSON");
    for at in 0..2 {
        let (a, b) = (&theirs["jobs"][at], &ours["jobs"][at]);
        assert_eq!((&a["jobname"], &a["error"]), (&b["jobname"], &b["error"]));
        let sum =
            |job: &Value| ["read", "write"].map(|d| job[d]["total_ios"].as_u64().unwrap_or(0)).iter().sum::<u64>();
        assert_eq!(sum(a), sum(b), "{}", a["jobname"]);
        for key in a["read"].as_object().expect("an object").keys() {
            assert!(b["read"].get(key).is_some(), "no {key}");
        }
    }
    // As fio does, it leaves its file, and takes it again without being asked.
    assert!(place.file("mark.dat").exists());
    let again = place.run("fio --name=own --rw=write --bs=4k --size=64k");
    assert_eq!((again.code, place.file("own.0.0").exists()), (Some(0), true), "{}", again.err);
    assert_eq!(place.run("fio --name=own --rw=write --bs=4k --size=64k").code, Some(0));
    assert!(
        again.out.contains("own: (groupid=0, jobs=1): err= 0") && again.out.contains("WRITE: bw="),
        "{}",
        again.out
    );
}

#[test]
fn a_result_of_fio_is_replaced_and_nothing_else() {
    let place = Place::new();
    let job = "fio --name=a --rw=read --size=64k --filename=a.dat --output=out";
    let out = place.file("out");
    for thesis in ["my thesis", "{\"chapter\": 1}", &"fio is fast. ".repeat(9_000)] {
        fs::write(&out, thesis).expect("written");
        place.run(job).expect(3, &["out exists and was not written by Fathom", "remove out, or name another file"]);
        assert_eq!(fs::read_to_string(&out).expect("there"), *thesis);
    }
    // Copies bear no mark of Fathom, as results of fio do not.
    for format in ["json", "json+", "normal"] {
        fs::write(&out, "").expect("written");
        place.run(&format!("{job} --output-format={format}")).expect(0, &[]);
        let text = fs::read_to_string(&out).expect("there");
        fs::remove_file(&out).expect("removed");
        fs::write(&out, text).expect("written");
        place.run(job).expect(0, &[]);
    }
    if let Some(fio) = Command::new("fio").arg("--version").output().ok().filter(|run| run.status.success()) {
        for format in ["json", "normal", "terse"] {
            fs::remove_file(&out).expect("removed");
            let words = format!("--name=a --rw=read --size=64k --filename=a.dat --output=out --output-format={format}");
            let ran = Command::new("fio").args(words.split_whitespace()).current_dir(place.work()).output();
            assert!(ran.expect("fio runs").status.success(), "{}", String::from_utf8_lossy(&fio.stdout));
            place.run(job).expect(0, &[]);
        }
    }
}

#[test]
fn sections_formats_files_and_refusals_are_those_of_fio() {
    let place = Place::new();
    let job = "[global]\nsize=64k\nbs=4k\n[a]\nrw=write\nfilename=a.dat\n[b]\nstonewall\nrw=write\nfilename=b.dat\n";
    fs::write(place.file("two.fio"), job).expect("written");
    let run = place.run("fio two.fio --section=b --output-format=json+ --output=result.json");
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
    let result: Value =
        serde_json::from_str(&fs::read_to_string(place.file("result.json")).expect("a file")).expect("JSON");
    assert_eq!(result["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!((&result["jobs"][0]["jobname"], place.file("a.dat").exists()), (&"b".into(), false));
    assert!(result["jobs"][0]["write"]["clat_ns"]["bins"].is_object(), "json+ has bins");
    for (words, said) in [
        ("fio --client=host two.fio", "--client is not supported"),
        ("fio two.fio --section=c", "there are a, b"),
        ("fio two.fio --readonly", "a job writes"),
        ("fio --name=x --rw=read --output-format=xml", "xml is not supported"),
        ("fio --name=x --bsize=4k --rw=read --filename=a", "bsize"),
        ("fio --name=x --rw=write --size=64k --filename=two.fio", "--overwrite"),
    ] {
        let run = place.run(words);
        assert!(run.code != Some(0) && run.err.contains(said), "{words}: {}", run.err);
    }
    assert_eq!(place.run("fio --parse-only two.fio").code, Some(0));
    assert!(place.run("fio --version").out.starts_with("fio-3."));
    assert!(!place.file("a.dat").exists(), "nothing was made");
}

/// fio-plot's bench-fio runs fio by its name, reads its version, and takes its JSON; fio-plot draws it.
#[test]
fn bench_fio_runs_it_in_the_place_of_fio() {
    let Ok(plot) = std::env::var("FATHOM_FIO_PLOT") else { return skipped("FATHOM_FIO_PLOT names no fio-plot") };
    let bench = Path::new(&plot).with_file_name("bench-fio");
    let place = Place::new();
    let folder = place.beside("bin");
    fs::create_dir_all(&folder).expect("a folder");
    let shim = folder.join("fio");
    let (fathom, lab) = (env!("CARGO_BIN_EXE_fathom"), place.lab());
    let text = format!("#!/bin/sh\nexec '{fathom}' --lab '{}' fio --overwrite \"$@\"\n", lab.display());
    fs::write(&shim, text).expect("written");
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("set");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let words = "--target . --type directory --mode randread --size 4m --runtime 1 --time-based --iodepth 1 4 --numjobs 1 \
                 --output results --quiet";
    let ran = Command::new(bench).args(words.split_whitespace()).env("PATH", path).current_dir(place.work()).output();
    let ran = ran.expect("bench-fio runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let found = Command::new("find").args(["results", "-name", "randread-*.json"]).current_dir(place.work()).output();
    let found = String::from_utf8_lossy(&found.expect("find").stdout).lines().count();
    assert_eq!(found, 2, "{said}");
}
