//! One file of the program opens for writing: whoever else wants to write needs a consent, or a free name for a new file.
//! One opens what a user names to be read.

use std::fs;
use std::path::{Path, PathBuf};

const WRITER: &str = "crates/system/fathom-host/src/writing.rs";

/// What opens, makes or fills a file.
const OPENING: [&str; 12] = [
    "write(true)",
    "append(true)",
    "truncate(true)",
    "create(true)",
    "create_new(",
    "File::create",
    "fs::write(",
    "fs::copy(",
    "OFlags::WRONLY",
    "OFlags::RDWR",
    "O_WRONLY",
    "O_RDWR |",
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            sources(&entry, out);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(entry);
        }
    }
}

/// Modules that are built for tests alone, by the paths that their files may have.
fn test_files(path: &Path, text: &str) -> Vec<PathBuf> {
    let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name");
    let home = path.parent().expect("a folder");
    let home = if matches!(stem, "mod" | "lib" | "main") { home.to_owned() } else { home.join(stem) };
    let mut out = Vec::new();
    let mut is_for_tests = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(any(test") {
            is_for_tests = true;
        } else if !line.starts_with("#[") {
            let name = line.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
            out.extend(
                name.filter(|_| is_for_tests).into_iter().flat_map(|n| [home.join(format!("{n}.rs")), home.join(n)]),
            );
            is_for_tests = false;
        }
    }
    out
}

/// Lines of the program's code that hold one of `words` and none of `except`, as `path:line`.
fn places_of(words: &[&str], except: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the root");
    let mut files = Vec::new();
    for layer in ["base", "domain", "system", "lab", "front"] {
        for entry in fs::read_dir(root.join("crates").join(layer)).expect("a layer").flatten() {
            let src = entry.path().join("src");
            if src.is_dir() {
                sources(&src, &mut files);
            }
        }
    }
    assert!(files.len() > 200, "{} files", files.len());
    let texts: Vec<(PathBuf, String)> =
        files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect();
    let for_tests: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| test_files(path, text)).collect();
    let mut found = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| !for_tests.iter().any(|test| path.starts_with(test))) {
        let code = text.split("#[cfg(test)]\nmod tests {").next().expect("the beginning");
        let opens = |line: &str| {
            let is_code = !line.trim_start().starts_with("//") && !except.iter().any(|word| line.contains(word));
            is_code && words.iter().any(|word| line.contains(word))
        };
        let lines = code.lines().enumerate().filter(|(_, line)| opens(line));
        let place = |number: usize| format!("{}:{}", path.strip_prefix(&root).expect("below").display(), number + 1);
        found.extend(lines.map(|(number, _)| place(number)));
    }
    found
}

#[test]
fn one_file_alone_opens_for_writing() {
    let found = places_of(&OPENING, &["OwnFile::create"]);
    let (writer, others): (Vec<&String>, Vec<&String>) = found.iter().partition(|place| place.starts_with(WRITER));
    assert!(!writer.is_empty(), "the test finds nothing any more");
    assert!(others.is_empty(), "these open for writing beside {WRITER}: {others:?}");
}

/// Calls that open a file to read it.
const READING: [&str; 5] = ["File::open(", "fs::read(", "fs::read_to_string(", "OpenOptions::new", "files::open("];

/// Words of a line that opens a file of the kernel.
const FIXED: [&str; 6] = ["\"/proc/", "\"/sys/", "\"/dev/", "\"/etc/", "root.join(", "home.join("];

/// Source files that open paths no user chooses, and what those paths lead to.
const READERS: [(&str, &str); 20] = [
    ("system/fathom-host/src/databases.rs", "what was compared, where /proc is missing"),
    ("system/fathom-host/src/node.rs", "pins: closing an O_PATH descriptor drops no lock"),
    ("system/fathom-host/src/writing.rs", "new files, journals and attributes"),
    ("system/fathom-host/src/linux/mod.rs", "what is pinned, behind open_pinned"),
    ("system/fathom-host/src/own_file.rs", "folders"),
    ("system/fathom-host/src/own_folder.rs", "folders and their lock files"),
    ("system/fathom-host/src/output_file.rs", "folders, and what was compared"),
    ("system/fathom-host/src/settings/found.rs", "journals"),
    ("system/fathom-host/src/settings/journal.rs", "the folder of journals"),
    ("system/fathom-host/src/settings/value.rs", "attributes in sysfs"),
    ("system/fathom-host/src/own_array.rs", "attributes in sysfs"),
    ("system/fathom-host/src/root.rs", "attributes in sysfs and procfs"),
    ("system/fathom-host/src/text.rs", "attributes in sysfs and procfs"),
    ("system/fathom-host/src/guard.rs", "an array that this process made"),
    ("system/fathom-host/src/guard/writers.rs", "attributes in procfs"),
    ("system/fathom-inspect/src/capture.rs", "attributes in sysfs and procfs"),
    ("system/fathom-inspect/src/look.rs", "attributes in sysfs and procfs"),
    ("system/fathom-host/src/windows/outputs.rs", "a stream beside an output of Fathom"),
    ("system/fathom-nvme/src/pages.rs", "pages of a capture, by fixed names"),
    ("system/fathom-nvme/src/linux/passthrough.rs", "the node of a drive"),
];

/// Closing any descriptor of the lab drops its locks: files that a user or a folder names are opened by
/// `fathom_host::open_to_read` alone, which knows the lab.
#[test]
fn files_that_a_user_names_are_opened_in_one_place() {
    let found = places_of(&READING, &FIXED);
    let is_in = |place: &str, path: &str| place.starts_with(&format!("crates/{path}:"));
    let is_known = |place: &String| READERS.iter().any(|(path, _)| is_in(place, path));
    let others: Vec<&String> = found.iter().filter(|place| !is_known(place)).collect();
    assert!(others.is_empty(), "open these by fathom_host::open_to_read, or say here why none is the lab: {others:#?}");
    for (path, _) in READERS {
        assert!(found.iter().any(|place| is_in(place, path)), "{path} opens nothing any more");
    }
}

/// Both register the database before they open it.
#[test]
fn databases_are_opened_where_they_are_registered() {
    let found = places_of(&["Connection::open"], &[]);
    let known = ["crates/lab/fathom-store/src/lab.rs:", "crates/system/fathom-oltp/src/sqlite.rs:"];
    assert_eq!(found.len(), known.len(), "{found:?}");
    assert!(found.iter().all(|place| known.iter().any(|path| place.starts_with(path))), "{found:?}");
}
