//! Machine files: what they mean, and where a bad one is wrong.

use fathom_language::english;

use super::*;

/// A small machine with everything that a file can hold once.
const WHOLE: &str = r#"[machine]
name = "bench"
title = "two drives below a switch, and an array of them"
source = ["made for the test"]
default = "data"

[host]
cpu = "any"
sockets = 2
cores = 4
smt = 2
smt_speed = "80%"

[engine.default]
user = "0.2us"
submit = "1us"

[engine."io_uring:iopoll"]
submit = "0.5us"

[[link]]
name = "root"
gen = 3
lanes = 16

[[link]]
name = "switch"
gen = 3
lanes = 8
upstream = "root"

[[device]]
name = "own"
capacity = "100 GB"
command = "1us"
fixed = "2us"

[device.xpoint]
units = 7
unit = "4 KiB"
read = "4.6us"
write = "5us"

[[drive]]
name = "nvme"
count = 2
device = "own"
link = { gen = 4, lanes = 4, mps = "256B" }
upstream = "switch"
socket = 1

[[array]]
name = "data"
level = "raid0"
members = ["nvme"]
chunk = "128 KiB"
md = { remap = "0.1us" }

[[fault]]
kind = "throttle"
drive = "nvme-1"
speed = "40%"
from = "1s"
"#;

fn error(text: &str) -> SourceError {
    parse_machine(text, "bench.toml").expect_err("this file is bad")
}

/// The whole file with one line replaced: the error, with the line's number as it is in the file.
fn with(old: &str, new: &str) -> (SourceError, usize) {
    let at = WHOLE.find(old).unwrap_or_else(|| panic!("`{old}` is in the file"));
    let line = WHOLE[..at].matches('\n').count() + 1;
    (error(&WHOLE.replacen(old, new, 1)), line)
}

#[test]
fn a_file_means_what_it_says() {
    let m = parse_machine(WHOLE, "dir/bench.toml").unwrap();
    assert_eq!((m.host.cores(), m.host.cpus(), m.default_target.as_str()), (8, 16, "data"));
    assert_eq!(m.parts(), ["data", "nvme", "nvme-0", "nvme-1"]);
    assert_eq!(m.links[1].upstream, Some(0));
    assert_eq!(m.drives[1].upstream, Some(1));
    assert_eq!(m.drives[0].link, Link::Pcie { generation: 4, lanes: 4, mps_bytes: 256 });
    assert_eq!(m.capacity_bytes_of("data"), Some(2 * (100_000_000_000 / 131_072 * 131_072)));
    assert_eq!(m.faults[0].kind, FaultKind::Throttle { speed_pct: 40 });
    assert_eq!(m.faults[0].from_ps, 1_000_000_000_000);
    // A mode takes from its engine, and that from the default, what it does not say itself.
    assert_eq!(m.host.costs("io_uring", "iopoll").submit_ps, 500_000);
    assert_eq!(m.host.costs("io_uring", "iopoll").user_ps, 200_000);
    assert_eq!(m.host.costs("libaio", "interrupt").submit_ps, 1_000_000);
}

#[test]
fn every_bad_value_is_shown_with_its_line_column_and_remedy() {
    let cases: &[(&str, &str, &str, &str)] = &[
        // old, new, message, help
        ("upstream = \"root\"", "upstream = \"rot\"", "there is no link `rot`", "did you mean `root`?"),
        ("lanes = 8", "lanes = 0", "a whole number from 1 to 32", ""),
        ("gen = 4", "gen = 9", "a whole number from 1 to 6", ""),
        ("read = \"4.6us\"", "read = \"-4.6us\"", "a time cannot be negative", ""),
        ("read = \"4.6us\"", "read = 4.6", "a time needs a unit", ""),
        ("capacity = \"100 GB\"", "capacity = 100", "a size needs a unit", ""),
        ("speed = \"40%\"", "speed = 40", "a share needs a unit", ""),
        ("device = \"own\"", "device = \"onw\"", "there is no device `onw`", "did you mean `own`?"),
        ("level = \"raid0\"", "level = \"raid7\"", "`raid7` is not known here", "did you mean `raid"),
        ("level = \"raid0\"", "level = \"raid5\"", "2 members are not enough", ""),
        ("members = [\"nvme\"]", "members = [\"nvm\"]", "there is no drive `nvm`", "did you mean `nvme"),
        ("kind = \"throttle\"", "kind = \"trottle\"", "`trottle` is not known here", "did you mean `throttle`?"),
        ("drive = \"nvme-1\"", "drive = \"nvme-7\"", "has no `nvme-7`", ""),
        ("default = \"data\"", "default = \"date\"", "has no `date`", ""),
        ("smt_speed", "smt_sped", "unknown key `smt_sped`", "did you mean `smt_speed`?"),
        ("socket = 1", "socket = 2", "a whole number from 0 to 1", ""),
        ("mps = \"256B\"", "mps = \"300B\"", "the largest payload is one of", ""),
        ("sockets = 2", "sockets = \"two\"", "a whole number from 1 to 16", ""),
        ("title = \"two", "title = two", "not valid TOML", ""),
    ];
    for (old, new, message, help) in cases {
        let (error, line) = with(old, new);
        assert!(english(&error.message).contains(message), "{new}: {}", error.message);
        assert_eq!(error.place.line, line, "{new}: {error}");
        assert!(error.place.column >= 1 && error.place.file == "bench.toml", "{new}: {error}");
        assert!(english(&error.help.unwrap_or(error.message)).contains(help), "{new}");
    }
}

#[test]
fn links_in_a_circle_are_refused_at_the_line_that_closes_it() {
    let text = WHOLE.replacen("lanes = 16", "lanes = 16\nupstream = \"switch\"", 1);
    let error = error(&text);
    assert!(english(&error.message).contains("circle"), "{error}");
    assert_eq!(error.place.source_line, "upstream = \"switch\"");
    assert!(error.place.column > 1, "{error}");
}

#[test]
fn what_is_missing_is_named() {
    for (gone, message) in [
        (
            "[engine.default]\nuser = \"0.2us\"\nsubmit = \"1us\"\n\n[engine.\"io_uring:iopoll\"]\nsubmit = \"0.5us\"\n",
            "[engine.default]",
        ),
        ("capacity = \"100 GB\"\n", "`capacity` is missing"),
        ("units = 7\n", "`units` is missing"),
        ("cores = 4\n", "`cores` is missing"),
        ("level = \"raid0\"\n", "`level` is missing"),
        ("speed = \"40%\"\n", "`speed` is missing"),
    ] {
        let error = error(&WHOLE.replacen(gone, "", 1));
        assert!(english(&error.message).contains(message), "without {gone}: {error}");
    }
    assert!(english(&error("").message).contains("[machine]"));
}

#[test]
fn every_shipped_machine_is_read_has_a_source_and_a_default() {
    for (name, _) in builtin_machines() {
        let m = builtin_machine(name).unwrap();
        assert_eq!(m.name, *name);
        assert!(!m.sources.is_empty() && !m.title.is_empty(), "{name}");
        assert!(!m.members_of(None).unwrap().is_empty(), "{name}");
    }
    let near = builtin_machine("sped").unwrap_err();
    assert_eq!(near.help.as_ref().map(english).as_deref(), Some("did you mean `speed`?"));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(at in 0usize..WHOLE.len(), length in 0usize..40, put in "[ -~\n]{0,12}") {
        let (start, end) = (at, (at + length).min(WHOLE.len()));
        let text = format!("{}{put}{}", &WHOLE[..start], &WHOLE[end..]);
        let _ = parse_machine(&text, "bench.toml");
    }
}
