//! The layers of ARCHITECTURE.md hold: a crate uses what stands above it in the table and nothing else, and the pure layers
//! touch no file, process, network, environment or clock. Here because the scanner of the crates' source is here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the lowest to the highest.
const LAYERS: [&str; 5] = ["base", "domain", "system", "lab", "front"];
/// Layers without a view of the machine.
const PURE: &[&str] = &["base", "domain"];
/// Modules of `std` that lead out of a program.
const IMPURE: [&str; 7] = ["env", "fs", "net", "os", "process", "thread", "time"];
/// What is pure in them.
const PURE_PARTS: [&str; 1] = ["time::Duration"];
/// Packages that lead out of a program.
const IMPURE_PACKAGES: [&str; 10] =
    ["clap", "console", "indicatif", "io-uring", "libc", "rusqlite", "rustix", "signal-hook", "tar", "tempfile"];
/// Tests everywhere may put messages into words.
const WORDS: &str = "fathom-language";

/// A crate with its dependencies.
#[derive(Debug)]
struct Member {
    name: String,
    layer: String,
    uses: BTreeSet<String>,
    tests_use: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates in the order of the table in ARCHITECTURE.md, each with its layer.
fn table(architecture: &str) -> Vec<(String, String)> {
    let mut layer = String::new();
    let mut out = Vec::new();
    for line in architecture.lines().skip_while(|line| !line.starts_with("| layer | crate |")).skip(2) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, first, name, ..] = cells[..] else { break };
        if !first.is_empty() {
            first.clone_into(&mut layer);
        }
        if let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
            out.push((name.to_owned(), layer.clone()));
        }
    }
    out
}

/// The crates of the workspace as their manifests have them.
fn members() -> Vec<Member> {
    let mut out = Vec::new();
    for layer in LAYERS {
        for folder in fs::read_dir(root().join("crates").join(layer)).expect("a layer").flatten() {
            let path = folder.path().join("Cargo.toml");
            let manifest: toml::Table = text(&path).parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            out.push(member(layer, &manifest));
        }
    }
    out
}

fn member(layer: &str, manifest: &toml::Table) -> Member {
    let names = |table: &toml::Table, section: &str| -> Vec<String> {
        table.get(section).and_then(toml::Value::as_table).map_or(Vec::new(), |t| t.keys().cloned().collect())
    };
    let mut tables = vec![manifest];
    let by_target = manifest.get("target").and_then(toml::Value::as_table);
    tables.extend(by_target.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table));
    let all = |sections: &[&str]| {
        tables.iter().flat_map(|table| sections.iter().flat_map(|section| names(table, section))).collect()
    };
    Member {
        name: manifest["package"]["name"].as_str().expect("a name").to_owned(),
        layer: layer.to_owned(),
        uses: all(&["dependencies", "build-dependencies"]),
        tests_use: all(&["dev-dependencies"]),
    }
}

/// What a crate uses although it may not, given the order of all.
fn breaches(order: &[(String, String)], member: &Member) -> Vec<String> {
    let place = |name: &str| order.iter().position(|(known, _)| known == name);
    let Some(own) = place(&member.name) else {
        return vec![format!("{} is not in the table of ARCHITECTURE.md", member.name)];
    };
    let mut out = Vec::new();
    if order[own].1 != member.layer {
        out.push(format!("{} lies in crates/{}, and the table has it in {}", member.name, member.layer, order[own].1));
    }
    let is_ours = |name: &&String| *name == "fathom" || name.starts_with("fathom-");
    let is_above = |name: &str| place(name).is_some_and(|at| at < own);
    let wrong = member.uses.iter().filter(is_ours).filter(|name| !is_above(name));
    out.extend(wrong.map(|name| format!("{} uses {name}, which does not stand above it", member.name)));
    let is_for_tests = |name: &str| name == WORDS || name == member.name || is_above(name);
    let wrong = member.tests_use.iter().filter(is_ours).filter(|name| !is_for_tests(name));
    out.extend(wrong.map(|name| format!("tests of {} use {name}, which does not stand above it", member.name)));
    if PURE.contains(&member.layer.as_str()) {
        let wrong = member.uses.iter().filter(|name| IMPURE_PACKAGES.contains(&name.as_str()));
        out.extend(wrong.map(|name| format!("{} is pure and uses {name}", member.name)));
    }
    out
}

/// Paths below `std` that lead out of a program, as far as their second part: `fs`, `time::Instant`.
fn impure_uses(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // Blanks count between words alone.
    let mut dense = String::new();
    for piece in text.split_whitespace() {
        if dense.ends_with(is_word) && piece.starts_with(is_word) {
            dense.push(' ');
        }
        dense.push_str(piece);
    }
    let mut out = Vec::new();
    for (at, _) in dense.match_indices("std::") {
        let is_whole = !dense[..at].ends_with(is_word);
        if is_whole {
            let paths = expanded(&dense[at + "std::".len()..]);
            out.extend(paths.into_iter().filter(|path| is_impure(path)));
        }
    }
    out
}

fn is_impure(path: &str) -> bool {
    let module = path.split("::").next().unwrap_or_default();
    IMPURE.contains(&module) && !PURE_PARTS.contains(&path)
}

/// The paths that `text` begins with, as far as two parts: one, or those of a group in braces.
fn expanded(text: &str) -> Vec<String> {
    if text.starts_with('{') {
        return group(text).into_iter().flat_map(expanded).collect();
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix("::") else { return vec![first.to_owned()] };
    let under = if rest.starts_with('{') { group(rest) } else { vec![rest] };
    let word = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned();
    under.into_iter().map(|part| format!("{first}::{}", word(part))).collect()
}

/// The parts of the group in braces that `text` begins with.
fn group(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut out) = (0, 1, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || c == ',' && depth == 1 {
            out.push(&text[from..at]);
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    out.retain(|part| !part.is_empty());
    out
}

#[test]
fn every_crate_uses_only_what_stands_above_it() {
    let order = table(&text(&root().join("ARCHITECTURE.md")));
    let members = members();
    let wrong: Vec<String> = members.iter().flat_map(|member| breaches(&order, member)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let layers: Vec<usize> =
        order.iter().map(|(_, layer)| LAYERS.iter().position(|l| l == layer).expect("a layer")).collect();
    assert!(layers.is_sorted(), "the table is in the order of the layers: {order:?}");
    let known: BTreeSet<&str> = members.iter().map(|m| m.name.as_str()).collect();
    let listed: BTreeSet<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(known, listed, "the table has each crate of the workspace");
}

#[test]
fn pure_crates_touch_nothing_outside() {
    let files = crate::source::rust_files(PURE);
    assert!(files.len() > 100, "{} files of pure crates were found", files.len());
    let found = |file: &crate::source::Source| {
        impure_uses(&file.text).into_iter().map(|path| (file.path.clone(), path)).collect()
    };
    let wrong: Vec<(PathBuf, String)> = files.iter().flat_map(|file| -> Vec<_> { found(file) }).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_breach_of_the_order_is_found() {
    let order = table(
        "| layer | crate | what |\n| --- | --- | --- |\n| base | `fathom-a` | x |\n| | `fathom-b` | y |\n| | | more |\n\
         | domain | `fathom-c` | z |\n\ntext | `fathom-d` |\n",
    );
    assert_eq!(order.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["fathom-a", "fathom-b", "fathom-c"]);
    let found = |layer: &str, manifest: &str| breaches(&order, &member(layer, &manifest.parse().expect("TOML")));
    let of = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
    let fine =
        of("fathom-b", "[dependencies]\nfathom-a = {}\nserde = \"1\"\n[dev-dependencies]\nfathom-language = {}\n");
    assert_eq!(found("base", &fine), Vec::<String>::new());
    for (section, said) in [
        ("dependencies", "fathom-a uses fathom-b"),
        ("build-dependencies", "fathom-a uses fathom-b"),
        ("dev-dependencies", "tests of fathom-a use fathom-b"),
        ("target.'cfg(unix)'.dependencies", "fathom-a uses fathom-b"),
    ] {
        let beside = found("base", &of("fathom-a", &format!("[{section}]\nfathom-b = {{}}\n")));
        assert!(beside.len() == 1 && beside[0].starts_with(said), "{section}: {beside:?}");
    }
    assert_eq!(found("base", &of("fathom-b", "[dependencies]\nfathom-c = {}\n")).len(), 1, "a layer that is higher");
    assert_eq!(found("domain", &of("fathom-c", "[dependencies]\nrustix = {}\n")), ["fathom-c is pure and uses rustix"]);
    assert_eq!(found("lab", &of("fathom-c", "")).len(), 1, "another folder than the table says");
    assert_eq!(found("lab", &of("fathom-new", "")).len(), 1, "a crate that the table lacks");
}

#[test]
fn a_use_of_the_system_is_found_however_it_is_written() {
    let found = |text: &str| impure_uses(text);
    assert_eq!(found("use std::fs;"), ["fs"]);
    assert_eq!(found("let x = std :: process::Command::new(\"ls\");"), ["process::Command"]);
    assert_eq!(found("use std::{fmt, collections::{BTreeMap, btree_map::Entry}, net::TcpStream};"), ["net::TcpStream"]);
    assert_eq!(found("use std::time::{Duration, Instant};"), ["time::Instant"]);
    assert_eq!(found("use std::{\n    io::{Read, Write},\n    env,\n};"), ["env"]);
    assert_eq!(found("use std::io::Read; use std::time::Duration; use mystd::fs::File;"), Vec::<String>::new());
}
