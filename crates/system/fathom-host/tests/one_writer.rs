//! One file of the program opens for writing: whoever else wants to write needs a consent, or a free name for a new file.

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

/// Lines in which the words mean something else.
const ALLOWED: [&str; 1] = ["OwnFile::create"];

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

#[test]
fn one_file_alone_opens_for_writing() {
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
            let is_code = !line.trim_start().starts_with("//") && !ALLOWED.iter().any(|word| line.contains(word));
            is_code && OPENING.iter().any(|word| line.contains(word))
        };
        let lines = code.lines().enumerate().filter(|(_, line)| opens(line));
        let place = |number: usize| format!("{}:{}", path.strip_prefix(&root).expect("below").display(), number + 1);
        found.extend(lines.map(|(number, _)| place(number)));
    }
    let (writer, others): (Vec<&String>, Vec<&String>) = found.iter().partition(|place| place.starts_with(WRITER));
    assert!(!writer.is_empty(), "the test finds nothing any more");
    assert!(others.is_empty(), "these open for writing beside {WRITER}: {others:?}");
}
