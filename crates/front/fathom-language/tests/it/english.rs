//! No sentence for people stands in a crate below the front: what they read is a message, and its words are here.

use std::path::Path;

use crate::source::{EVERYWHERE, Literal};

/// Crates whose sentences are messages: all of base, domain, system and lab, and the importers.
const CONVERTED: &[&str] = &[
    // base
    "fathom-message",
    "fathom-units",
    "fathom-hist",
    "fathom-pcie",
    "fathom-random",
    "fathom-trace",
    "fathom-raid",
    // domain
    "fathom-plan",
    "fathom-orders",
    "fathom-record",
    "fathom-stats",
    "fathom-model",
    "fathom-judge",
    "fathom-sim",
    // system
    "fathom-nvme",
    "fathom-host",
    "fathom-inspect",
    "fathom-engine",
    "fathom-fio",
    "fathom-oltp",
    // lab
    "fathom-store",
    "fathom-lab",
    // front: what is stored with a run; fio's own formats, beside it, are English
    "fathom-report/src/import",
];

/// Why the name of a step or of a side may stand in a crate below the front.
const NAME: &str = "stored and exported, the same in every language; beside it stands its message";

/// Why a page of NVMe may stand there.
const PAGE: &str = "named as in the specification, which is English";

/// Literals of three words and more that are no sentence for people: file, literal, why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("fathom-plan/src/label.rs", " at {} % of max", NAME),
    ("fathom-plan/src/label.rs", "fixed buffers only", NAME),
    ("fathom-plan/src/label.rs", "fixed files only", NAME),
    ("fathom-plan/src/label.rs", "pinned to siblings", NAME),
    ("fathom-plan/src/role.rs", "{key} as in the study", NAME),
    ("fathom-nvme/src/command.rs", "Active Namespace List", PAGE),
    ("fathom-nvme/src/command.rs", "Allocated Namespace List", PAGE),
    ("fathom-nvme/src/command.rs", "OCP SMART log", PAGE),
    ("fathom-nvme/src/command.rs", "Sanitize Status log", PAGE),
    ("fathom-nvme/src/ocp.rs", "OCP SMART log", PAGE),
    ("fathom-host/src/linux/stat.rs", "cpuN, intr, ctxt", "how lines of /proc/stat begin"),
    ("fathom-host/src/writing.rs", "not a regular file", "stands for an errno, whose texts are English too"),
    ("fathom-store/src/read.rs", "{SUMMARY} ORDER BY id", "SQL"),
    ("fathom-judge/src/verdict/brief.rs", "fathom run --like {run} --explain", "a command as typed"),
    ("fathom-judge/src/verdict/brief.rs", "fathom run --like {run} --time-budget 15m", "a command as typed"),
    (
        "fathom-judge/src/oltp.rs",
        "derived from TPC-C, not comparable to published TPC-C results",
        "the line that the rules of fair use want, in every language",
    ),
    ("fathom-judge/src/compare/first_look.rs", "fathom run --like {}", "a command as typed"),
    ("fathom-judge/src/compare/first_look.rs", "fathom compare {} -o compare.html", "a command as typed"),
    ("fathom-fio/src/text.rs", " at line {line} column {column}", "how serde ends its errors"),
    (
        "fathom-host/src/own_folder.rs",
        "fathom's own folder: inode {} on device {}\\n",
        "a mark in a file, read by Fathom",
    ),
    ("fathom-oltp/src/postgres.rs", "COPY {} FROM STDIN (FORMAT binary)", "SQL"),
    ("fathom-host/src/user_space/status.rs", "Max locked memory", "a line of /proc/self/limits"),
    ("fathom-host/src/memory_left.rs", "Max address space", "a line of /proc/self/limits"),
    ("fathom-nvme/src/driver/controller.rs", "Set Features, Number of Queues", PAGE),
    ("fathom-nvme/src/driver/controller.rs", "Doorbell Buffer Config", PAGE),
    ("fathom-nvme/src/driver/controller.rs", "Create I/O Completion Queue", PAGE),
    ("fathom-nvme/src/driver/controller.rs", "Create I/O Submission Queue", PAGE),
    ("fathom-nvme/src/driver/controller.rs", "Delete I/O Submission Queue", PAGE),
    ("fathom-nvme/src/driver/controller.rs", "Delete I/O Completion Queue", PAGE),
];

/// So many words in one literal make a sentence.
const WORDS: usize = 3;

/// For programmers: what cannot be, and what a compiler or a derive reads.
const FOR_PROGRAMMERS: [&str; 10] = [
    "#",
    "expect",
    "panic!",
    "unreachable!",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "debug_assert_eq!",
    "debug_assert_ne!",
];

/// Words of letters between blanks; punctuation at their ends does not count.
fn words(text: &str) -> usize {
    let text = text.replace("\\n", " ");
    let is_word = |token: &&str| {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '{' && c != '}');
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "'’-".contains(c))
    };
    text.split_whitespace().filter(is_word).count()
}

fn is_sql(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "PRAGMA", "WITH", "ATTACH", "VACUUM"]
        .contains(&first)
}

fn is_sentence(literal: &Literal) -> bool {
    let for_programmers = literal.inside.iter().any(|caller| FOR_PROGRAMMERS.contains(&caller.as_str()));
    !for_programmers && !is_sql(&literal.text) && words(&literal.text) >= WORDS
}

/// Whether the file belongs to one of the crates or folders.
fn is_of(path: &Path, folders: &[&str]) -> bool {
    let path = path.to_string_lossy();
    folders.iter().any(|folder| path.contains(&format!("/{folder}/")))
}

/// From the crate's folder on.
fn shown(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    let start = names.iter().rposition(|name| name.starts_with("fathom-")).unwrap_or(0);
    names[start..].join("/")
}

#[test]
fn no_crate_below_the_front_holds_an_english_sentence() {
    let files = crate::source::rust_files(EVERYWHERE);
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut found = Vec::new();
    for file in files.iter().filter(|f| is_of(&f.path, CONVERTED)) {
        for literal in crate::source::literals_in(file).iter().filter(|l| is_sentence(l)) {
            let known = EXCEPTIONS.iter().position(|(at, text, _)| file.path.ends_with(at) && literal.text == *text);
            match known {
                Some(index) => used[index] = true,
                None => found.push(format!("{}: {:?}", shown(&file.path), literal.text)),
            }
        }
    }
    assert!(found.is_empty(), "make these messages, with words in both catalogues: {found:#?}");
    let stale: Vec<_> = EXCEPTIONS.iter().zip(&used).filter(|(_, used)| !**used).map(|(e, _)| e).collect();
    assert!(stale.is_empty(), "these exceptions are in no file any more: {stale:#?}");
}

/// How code would read a message's meaning back out of it.
const READ_BACK: [&str; 5] = [".holds(\"", ".id() ==", ".id() !=", ".id().starts_with(", "match message.id()"];

#[test]
fn no_meaning_is_read_out_of_a_message() {
    let files = crate::source::rust_files(EVERYWHERE);
    let reads = |file: &&crate::source::Source| READ_BACK.iter().any(|call| file.text.contains(call));
    let found: Vec<String> = files.iter().filter(reads).map(|file| shown(&file.path)).collect();
    assert!(found.is_empty(), "a field or an enum beside the message says what these look for: {found:#?}");
}

#[test]
fn every_converted_crate_is_found() {
    let files = crate::source::rust_files(EVERYWHERE);
    for name in CONVERTED {
        assert!(files.iter().any(|f| is_of(&f.path, &[name])), "{name} is no crate");
    }
}

#[test]
fn a_sentence_is_told_from_words_formats_and_what_is_for_programmers() {
    let sentences = |text: &str| {
        let source = crate::source::Source { path: "x.rs".into(), text: text.to_owned() };
        crate::source::literals_in(&source).iter().filter(|l| is_sentence(l)).count()
    };
    assert_eq!(sentences(r#"fault("this is wrong")"#), 1);
    assert_eq!(sentences(r#"format!("{path}: a file\nof {bytes} bytes")"#), 1);
    assert_eq!(sentences(r##"let x = r#"one more sentence"#;"##), 1);
    assert_eq!(sentences(r#"x.expect("a list is never empty"); assert!(x, "is {x} and not {y}")"#), 0);
    assert_eq!(sentences(r#"#[error("in an attribute it stands")] x("psync libaio")"#), 0);
    assert_eq!(sentences(r#"query("SELECT a FROM b WHERE c"); print("{a} {b} {c} {d}")"#), 0);
    assert_eq!(sentences(r#"at(32, b"bluestore block device")"#), 0);
    assert_eq!(sentences(r#"x.expect("this does not count"); y("but this one does")"#), 1);
}
