//! Finds the built viewer. It is made by npm beforehand, never from here: a compiler run must not download anything.
#![allow(clippy::print_stdout, reason = "printing is how a build script talks to cargo")]

use std::path::Path;

/// Must stand in the viewer exactly once; `html.rs` cuts there.
const SLOTS: [&str; 3] = ["<title>Fathom</title>", "<!--fathom-static-->", "<!--fathom-document-->"];

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web/dist/viewer.html");
    println!("cargo::rerun-if-changed={}", path.display());
    match std::fs::read_to_string(&path) {
        Ok(viewer) => {
            for slot in SLOTS {
                let found = viewer.matches(slot).count();
                if found != 1 {
                    println!(
                        "cargo::error=web/dist/viewer.html holds `{slot}` {found} times instead of once: run make viewer"
                    );
                }
            }
            println!("cargo::rustc-env=FATHOM_VIEWER={}", path.display());
        }
        Err(error) => {
            println!("cargo::error=the report viewer web/dist/viewer.html cannot be read ({error}): run make viewer");
        }
    }
}
