//! Ctrl-C and SIGTERM end a run within one second, as promised.

use std::time::{Duration, Instant};

use crate::cli::{Place, contract, warns};

#[test]
fn int_and_term_end_at_once_keep_what_was_measured_and_tidy_up() {
    for (signal, engine) in [("INT", "io_uring"), ("TERM", "io_uring"), ("INT", "psync"), ("TERM", "libaio")] {
        let place = Place::new();
        let words = format!("io --target . --rw randrw --engine {engine} --iodepth 8 --size 16m --runtime 60s");
        let mut running = place.start(&words);
        running.until("its run", |talk| talk.contains("run 1"));
        // Into the measured window: the file is laid out by then, however slow the disk.
        std::thread::sleep(Duration::from_millis(1500));
        let begun = Instant::now();
        running.signal(signal);
        let ended = running.wait();
        let took = begun.elapsed();
        ended.expect(4, &[]);
        // One second is promised; the rest is for ending the process and for a busy host.
        assert!(took < Duration::from_millis(1500), "{signal} {engine}: {took:?}");
        assert!(place.listing().is_empty(), "{signal} {engine}: {:?}", place.listing());
        let document = place.json("show 1", 0);
        assert_eq!(document["run"]["state"], "interrupted");
        let step = &document["steps"][0];
        assert!(step["ios"].as_u64() > Some(0), "{signal} {engine}: the part that was measured is kept");
        assert!(step["runtime_s"].as_f64() < Some(30.0), "its length is what it was, not what was asked");
        assert!(warns(step, "interrupted") || step["warnings"].to_string().contains("stopped"), "{}", step["warnings"]);
        contract::holds(&document);
    }
}
