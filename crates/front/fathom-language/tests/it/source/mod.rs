//! Reads the source of the crates: which messages are said, and which string literals stand in it.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of all layers.
pub(crate) const EVERYWHERE: &[&str] = &["base", "domain", "system", "lab", "front"];

/// A place that says a message.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) args: Vec<String>,
}

/// A file without its comments and its test modules.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Production files of the crates in these layers: no tests, examples or benches.
pub(crate) fn rust_files(layers: &[&str]) -> Vec<Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut out = Vec::new();
    for layer in layers {
        for member in fs::read_dir(crates.join(layer)).expect("a layer").flatten() {
            collect(&member.path().join("src"), &mut out);
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

fn collect(folder: &Path, out: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test(&path) {
            let text = fs::read_to_string(&path).expect("UTF-8");
            out.push(Source { text: without_tests(&without_comments(&text)), path });
        }
    }
}

/// Modules that are compiled for tests alone: the file that declares them says so before `mod`.
fn is_test(path: &Path) -> bool {
    let Some(parent) = path.parent() else { return false };
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if stem == "mod" { parent.file_name().map(|n| n.to_string_lossy().into_owned()) } else { Some(stem) };
    let Some(name) = name else { return false };
    let home = if path.ends_with("mod.rs") { parent.parent().unwrap_or(parent) } else { parent };
    // A module below a module for tests is one as well.
    if home.ends_with("tests") || home.components().any(|c| c.as_os_str() == "tests") {
        return true;
    }
    let declared = format!("mod {name};");
    let beside = home.with_extension("rs");
    ["lib.rs", "main.rs", "mod.rs"].iter().map(|f| home.join(f)).chain([beside]).any(|file| {
        fs::read_to_string(file)
            .is_ok_and(|text| text.find(&declared).is_some_and(|at| is_declared_for_tests(&text[..at])))
    })
}

/// Whether what stands before `mod name;` keeps the module to tests, of its own crate or of others.
fn is_declared_for_tests(before: &str) -> bool {
    let mut before = before.trim_end();
    for marker in ["pub(crate)", "pub", "#[doc(hidden)]"] {
        before = before.strip_suffix(marker).unwrap_or(before).trim_end();
    }
    ["#[cfg(test)]", "#[cfg(any(test, feature = \"testing\"))]"].iter().any(|cfg| before.ends_with(cfg))
}

/// The text with every comment and doc comment blanked. Strings stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |at| at + 2)..];
        } else if let Some(length) = literal_length(rest) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Bytes of the string or character literal that `text` begins with.
fn literal_length(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('r') {
        let marks = rest.len() - rest.trim_start_matches('#').len();
        let body = rest[marks..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(marks));
        return Some(1 + marks + 1 + body.find(&end)? + end.len());
    }
    if let Some(rest) = text.strip_prefix('\'') {
        // A lifetime is no literal.
        let first = rest.chars().next()?;
        let end = if first == '\\' { text[3..].find('\'').map(|at| at + 3)? } else { 1 + first.len_utf8() };
        return text[end..].starts_with('\'').then_some(end + 1);
    }
    let body = text.strip_prefix('"')?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The text without what follows `#[cfg(test)]` up to the end of the item.
fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        rest = &rest[item_length(rest)..];
    }
    out + rest
}

/// Bytes up to the end of the item that `text` begins with: its `;` or its closing brace.
fn item_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(length) = literal_length(rest) {
            at += length;
            continue;
        }
        let c = rest.chars().next().expect("not at the end");
        at += c.len_utf8();
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth -= 1;
                if depth == 0 && c == '}' {
                    return at;
                }
            }
            ';' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Every `msg!` of the file.
pub(crate) fn messages_in(source: &Source) -> Vec<Call> {
    let mut out = Vec::new();
    for (at, _) in source.text.match_indices("msg!(") {
        let inside = source.text[at + "msg!(".len()..].trim_start();
        let Some(length) = literal_length(inside) else { continue };
        let id = inside[1..length - 1].to_owned();
        out.push(Call { id, args: argument_names(&inside[length..]) });
    }
    out
}

/// Names before `=` at the depth of the macro's own arguments.
fn argument_names(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut depth, mut at, mut begins) = (0, 0, false);
    while at < text.len() {
        let rest = &text[at..];
        if let Some(length) = literal_length(rest) {
            at += length;
            begins = false;
            continue;
        }
        let c = rest.chars().next().expect("not at the end");
        match c {
            ',' if depth == 0 => begins = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            c if begins && (c.is_alphabetic() || c == '_') => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let after = rest[length..].trim_start();
                if after.starts_with('=') && !after.starts_with("==") {
                    out.push(rest[..length].to_owned());
                }
                at += length;
                begins = false;
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    out
}

/// A string literal and what it stands in.
pub(crate) struct Literal {
    /// Without its quotes; escapes as written.
    pub(crate) text: String,
    /// What is called or marked around it, from the outside in: `expect`, `panic!`, `#`; empty for bare brackets.
    pub(crate) inside: Vec<String>,
}

/// String literals of the file, in their order, without those of bytes.
pub(crate) fn literals_in(source: &Source) -> Vec<Literal> {
    let text = &source.text;
    let (mut out, mut inside) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(length) = literal_length(rest) {
            // Bytes are for machines; their `b` stands before the literal.
            if !rest.starts_with('\'') && !text[..at].ends_with('b') {
                let quote = rest.find('"').expect("a string has a quote");
                // A raw string has as many marks behind its quote as before it, and an `r`.
                let body = &rest[quote + 1..length - 1 - quote.saturating_sub(1)];
                out.push(Literal { text: body.to_owned(), inside: inside.clone() });
            }
            at += length;
            continue;
        }
        let c = rest.chars().next().expect("not at the end");
        match c {
            '(' | '[' | '{' => inside.push(caller(&text[..at])),
            ')' | ']' | '}' => drop(inside.pop()),
            _ => {}
        }
        at += c.len_utf8();
    }
    out
}

/// The word that an opening bracket follows, with its `!`; `#` for an attribute.
fn caller(before: &str) -> String {
    let name = before.trim_end_matches('!');
    if before.ends_with('#') || before.ends_with("#!") {
        return "#".to_owned();
    }
    let start = name.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    before[start..].to_owned()
}
