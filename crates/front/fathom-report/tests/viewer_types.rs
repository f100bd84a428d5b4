//! What the viewer knows of the document is written from the Rust types.

use std::fs;
use std::path::Path;

use fathom_message::Unit;

/// Set to anything, the test writes the files instead of comparing them.
const REFRESH: &str = "FATHOM_REFRESH";

/// Every unit that the document can name, so that the viewer cannot forget one.
#[test]
fn the_viewer_knows_every_unit() {
    let words: Vec<String> = Unit::ALL.iter().map(|unit| format!("\"{}\"", unit.as_str())).collect();
    is_fresh(
        "units.ts",
        &format!(
            "/** Every unit that a document can name. */\nexport const UNITS = [\n  {},\n] as const;\n\n\
             export type Unit = (typeof UNITS)[number];\n",
            words.join(",\n  ")
        ),
    );
}

/// Compares a generated source of the viewer with what the types say now.
fn is_fresh(name: &str, text: &str) {
    let command = "FATHOM_REFRESH=1 cargo test -p fathom-report --test viewer_types";
    let text = format!("// Written from the Rust types. Refresh: {command}\n\n{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web/src/generated").join(name);
    if std::env::var_os(REFRESH).is_some() {
        fs::write(&path, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "web/src/generated/{name} is not what the Rust types say; refresh it with: {command}");
}
