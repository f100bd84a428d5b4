//! `fathom manual` writes as all of Fathom writes; what `fathom completions` prints works in a shell.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::cli::Place;

#[test]
fn pages_are_written_all_or_none_and_never_through_a_symlink() {
    let place = Place::new();
    place.run("manual nowhere").expect(2, &["nowhere is not a directory"]);
    fs::create_dir(place.file("man")).expect("a directory");
    let (link, other) = (place.file("man/fathom-run.1"), place.file("other"));
    fs::write(&other, "somebody else's").expect("a file");
    symlink(&other, &link).expect("a symlink");
    place.run("manual man --force").expect(3, &["fathom-run.1", "symlink"]);
    assert_eq!(fs::read_dir(place.file("man")).expect("a directory").count(), 1, "nothing was written");
    assert_eq!(fs::read_to_string(&other).expect("a file"), "somebody else's");
    fs::remove_file(&link).expect("a symlink");
    fs::write(&link, "somebody else's").expect("a file");
    place.run("manual man").expect(3, &["fathom-run.1"]);
    place.run("manual man --force").expect(0, &["pages written to man"]);
    let page = fs::read_to_string(&link).expect("a page");
    assert!(page.starts_with(".TH FATHOM-RUN 1 ") && page.contains(".SH SYNOPSIS"), "{page}");
    // Its own pages are replaced unasked.
    place.run("manual man").expect(0, &["pages written to man"]);
}

/// What bash would offer for the last of `words`.
fn offered(place: &Place, words: &str) -> String {
    let script = "source \"$0\"; COMP_WORDS=($1 ''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
        _fathom fathom '' \"${COMP_WORDS[COMP_CWORD - 1]}\"; echo \"${COMPREPLY[*]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).arg(place.file("fathom.bash")).arg(words).current_dir(place.work());
    let ended = bash.output().expect("bash");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).expect("text")
}

#[test]
fn bash_completes_commands_studies_and_values() {
    let place = Place::new();
    let ended = place.run("completions bash");
    ended.expect(0, &[]);
    fs::write(place.file("fathom.bash"), ended.out).expect("a file");
    let has = |words: &str, word: &str| offered(&place, words).split_whitespace().any(|other| other == word);
    for (words, word) in
        [("fathom", "run"), ("fathom run", "quick"), ("fathom io", "--iodepth"), ("fathom export --format", "csv")]
    {
        assert!(has(words, word), "`{word}` after `{words}`: {}", offered(&place, words));
    }
    assert!(!has("fathom io", "quick"), "studies where one may be named alone");
    place.run("completions tcsh").expect(2, &["bash, zsh, fish"]);
}
