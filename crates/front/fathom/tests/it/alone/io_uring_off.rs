//! A system where io_uring is switched off. The switch applies to the whole machine, so nothing else may run.

use std::fs;

use crate::cli::machine::is_root;
use crate::cli::{Place, skipped};

const SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

/// io_uring switched off until dropped.
struct SwitchedOff {
    before: String,
}

impl SwitchedOff {
    fn new() -> Option<SwitchedOff> {
        if !is_root("switching io_uring off") {
            return None;
        }
        let before = fs::read_to_string(SWITCH).ok();
        let off = before.map(|before| SwitchedOff { before });
        if off.is_none() || fs::write(SWITCH, "2").is_err() {
            skipped("this kernel has no switch for io_uring");
            return None;
        }
        off
    }
}

impl Drop for SwitchedOff {
    fn drop(&mut self) {
        fs::write(SWITCH, self.before.trim()).expect("the switch stands as before");
    }
}

#[test]
fn io_uring_that_is_switched_off_is_said_by_name_and_other_engines_work() {
    let place = Place::new();
    let Some(off) = SwitchedOff::new() else { return };
    let refused = place.run("io --target . --engine io_uring --size 16m --runtime 200ms");
    let other = place.run("io --target . --engine libaio --size 16m --runtime 200ms");
    let study = place.run("run quick --target . --set size=16m --time-budget 2s --set engine=psync");
    drop(off);

    refused.expect(1, &[]);
    let said = format!("{}{}", refused.out, refused.err);
    for word in ["io_uring", "kernel.io_uring_disabled", "help:", "libaio"] {
        assert!(said.contains(word), "no `{word}` in {said}");
    }
    other.expect(0, &[]);
    study.expect(0, &[]);
    assert!(place.listing().is_empty());
    let kept = &place.json("show 1", 0)["steps"][0];
    assert_eq!(kept["state"], "refused", "what was refused is a result");
}
