//! Trims next to fio: `trimwrite` trims a block and then writes it, in fio's order.

use std::fs;
use std::process::Command;

use crate::cli::machine::LoopDevice;
use crate::cli::{Place, skipped};
use crate::fio_order::counts;
use serde_json::Value;

const DEVICE_BYTES: usize = 4 << 20;

/// Operations, places and lengths of an iolog.
fn ios(log: &str) -> Vec<String> {
    let words = |line: &str| line.split(' ').skip(2).collect::<Vec<_>>().join(" ");
    log.lines().map(words).filter(|io| io.starts_with("trim") || io.starts_with("write")).collect()
}

/// Counts and iolog of a job on the device in fio; `None`: fio is absent.
fn of_fio(place: &Place, job: &str) -> Option<(Value, Vec<String>)> {
    let folder = place.beside("theirs");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("job.fio"), job).expect("written");
    let output = Command::new("fio").args(["--output-format=json", "job.fio"]).current_dir(&folder).output();
    let Ok(output) = output else {
        skipped("fio is absent");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = serde_json::from_str(&text[text.find('{').unwrap_or(0)..]).expect("fio's JSON");
    let log = fs::read_to_string(folder.join("log")).expect("an iolog");
    fs::remove_file(folder.join("log")).expect("removed");
    Some((result, ios(&log)))
}

fn of_fathom(place: &Place, device: &LoopDevice, job: &str) -> (Value, Vec<String>) {
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run(&format!("fio --destroy {}:data --output-format=json job.fio", device.name()));
    assert_eq!(run.code, Some(0), "{job}\n{}", run.err);
    assert!(!run.err.contains("half and half"), "{}", run.err);
    let log = fs::read_to_string(place.file("log")).expect("an iolog");
    fs::remove_file(place.file("log")).expect("removed");
    (serde_json::from_str(&run.out).expect("JSON"), ios(&log))
}

#[test]
fn trimwrite_has_the_counts_and_the_order_of_fio() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; DEVICE_BYTES]) else { return };
    for words in [
        "rw=trimwrite\nioengine=libaio\niodepth=8",
        "rw=trimwrite\nioengine=io_uring\niodepth=4\nloops=2\noffset=64k",
        "rw=trimwrite\nioengine=psync\nnumber_ios=10",
        "rw=trimwrite\nioengine=psync\nio_size=128k",
        "rw=trimwrite\nioengine=psync\nio_size=400k\nrate_iops=10,500,50",
        "rw=randtrimwrite\nioengine=libaio\niodepth=8\nloops=2",
        "rw=randtrimwrite\nioengine=psync\nnumber_ios=10",
    ] {
        let job =
            format!("[a]\nfilename={}\nthread\ndirect=1\nsize=256k\nbs=8k\nwrite_iolog=log\n{words}\n", device.path);
        let Some((theirs, their_ios)) = of_fio(&place, &job) else { return };
        let (ours, our_ios) = of_fathom(&place, &device, &job);
        assert_eq!(counts(&ours), counts(&theirs), "{words}");
        if words.starts_with("rw=trim") {
            assert_eq!(our_ios, their_ios, "{words}");
            continue;
        }
        // Both draw places of their own.
        for pair in our_ios.chunks(2) {
            assert_eq!(pair[0].strip_prefix("trim"), pair[1].strip_prefix("write"), "{words}");
        }
    }
}

#[test]
fn trimwrite_writes_all_that_it_trims_whatever_the_sizes_are() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; DEVICE_BYTES]) else { return };
    for rw in ["trimwrite", "randtrimwrite"] {
        let job = format!(
            "[a]\nfilename={}\nthread\ndirect=1\nioengine=libaio\niodepth=4\nsize=256k\nbssplit=4k/60:8k/10:16k/30\n\
             write_iolog=log\nrw={rw}\n",
            device.path
        );
        let (ours, our_ios) = of_fathom(&place, &device, &job);
        let moved = counts(&ours);
        let of = |wanted: &str| moved.iter().find(|(name, ..)| name == wanted).map(|(_, ios, bytes)| (*ios, *bytes));
        assert_eq!(of("a trim"), of("a write"), "{rw}");
        assert_eq!(of("a trim").map(|(_, bytes)| bytes), Some(256 << 10), "{rw}");
        for pair in our_ios.chunks(2) {
            assert_eq!(pair[0].strip_prefix("trim"), pair[1].strip_prefix("write"), "{rw}");
        }
    }
    fs::write(
        place.file("sizes.fio"),
        format!("[a]\nfilename={}\nsize=256k\nrw=trimwrite\nbs=4k,8k,16k\n", device.path),
    )
    .expect("written");
    let run = place.run(&format!("fio --destroy {}:data sizes.fio", device.name()));
    assert!(run.code != Some(0) && run.err.contains("give writes and trims the same sizes"), "{}", run.err);
}
