//! What the viewer knows of the document is written from the Rust types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fathom_judge::document::{Comparison, Document};
use fathom_lab::reproduce::Reproduction;
use fathom_message::Unit;
use ts_rs::{Config, TS, TypeVisitor};

/// Set to anything, the test writes the files instead of comparing them.
const REFRESH: &str = "FATHOM_REFRESH";

/// Every unit that the document can name, so that the viewer cannot forget one.
#[test]
fn the_viewer_knows_every_unit() {
    let words: Vec<String> = Unit::ALL.iter().map(|unit| format!("\"{}\"", unit.as_str())).collect();
    is_fresh(
        "units.ts",
        &format!(
            "import type {{ Unit }} from \"./document\";\n\n\
             /** Every unit that a document can name. */\nexport const UNITS: readonly Unit[] = [\n  {},\n];\n",
            words.join(",\n  ")
        ),
    );
}

/// The documents of a run, of a comparison and of the articles redone, with all that is in them.
#[test]
fn the_viewer_knows_the_types_of_the_document() {
    let mut types = Declarations { config: Config::new().with_large_int("number"), found: BTreeMap::new() };
    types.visit::<Document>();
    types.visit::<Comparison>();
    types.visit::<Reproduction>();
    let declared: Vec<String> = types.found.into_values().collect();
    is_fresh("document.ts", &format!("import type {{ Json }} from \"../document\";\n\n{}", declared.join("\n")));
}

/// Declarations by the names of their types.
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // What has no place of its own is built in, or written out where it is used.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if self.found.contains_key(&name) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        self.found.insert(name, format!("{docs}export {}\n", T::decl(&self.config)));
        T::visit_dependencies(self);
    }
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
