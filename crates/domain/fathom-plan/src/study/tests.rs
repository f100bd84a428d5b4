use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use fathom_language::english;

use crate::step::{Mode, Pattern, Phase, Placement, RateProcess};
use crate::words::{lines, source_words};

fn on_file() -> Overrides {
    Overrides { targets: vec!["f".to_owned()], ..Overrides::default() }
}

fn with_set(pairs: &[(&str, &str)]) -> Overrides {
    Overrides { set: pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(), ..on_file() }
}

fn plan(text: &str) -> Plan {
    parse_study(text, "plan.toml", &on_file()).unwrap_or_else(|e| panic!("{e}"))
}

fn labels(plan: &Plan) -> String {
    plan.steps.iter().map(|s| format!("{} {}", s.index, s.label)).collect::<Vec<_>>().join("\n")
}

fn error(text: &str) -> String {
    format!("error: {}", source_words(&parse_study(text, "plan.toml", &on_file()).expect_err("this plan is wrong")))
}

fn set_error(key: &str, value: &str) -> String {
    let overrides = with_set(&[(key, value)]);
    format!("error: {}", source_words(&parse_study("", "plan.toml", &overrides).expect_err("this override is wrong")))
}

const PINNING: &str = r#"
[study]
name = "pinning"
question = "Does binding threads to cores help, and until which queue depth?"

[defaults]
engine = "io_uring"
bs = "4k"
runtime = "30s"

[[ladder]]
rw = ["randread", "randwrite"]
iodepth = [1, 128]
placement = ["unpinned", "cores"]
interleave = "placement"

[[ladder]]
rw = "read"
bs = "64k"
load = ["1x8", "16x2"]
"#;

#[test]
fn a_ladder_unfolds_in_the_order_of_its_keys_and_interleaves_abba() {
    let plan = plan(PINNING);
    assert_eq!(plan.study.name, "pinning");
    assert_snapshot!(labels(&plan), @r"
    0 4k random read T1 QD1
    1 4k random read T1 QD1 pinned
    2 4k random read T1 QD1 pinned
    3 4k random read T1 QD1
    4 4k random read T1 QD128
    5 4k random read T1 QD128 pinned
    6 4k random read T1 QD128 pinned
    7 4k random read T1 QD128
    8 4k random write T1 QD1
    9 4k random write T1 QD1 pinned
    10 4k random write T1 QD1 pinned
    11 4k random write T1 QD1
    12 4k random write T1 QD128
    13 4k random write T1 QD128 pinned
    14 4k random write T1 QD128 pinned
    15 4k random write T1 QD128
    16 64k sequential read T1 QD8
    17 64k sequential read T16 QD2
    ");
    assert!(plan.steps.iter().all(|s| s.length == crate::RunLength::fixed(0, 30_000_000_000)));
    let seeds: std::collections::HashSet<u64> = plan.steps.iter().map(|s| s.seed).collect();
    assert_eq!(seeds.len(), plan.steps.len(), "each step draws its own offsets");
}

#[test]
fn order_names_the_outermost_loop_first() {
    let text = "[[ladder]]\niodepth=[1,2]\nrw=[\"read\",\"write\"]\norder=[\"rw\",\"iodepth\"]\n";
    assert_snapshot!(labels(&plan(text)), @r"
    0 4k sequential read T1 QD1
    1 4k sequential read T1 QD2
    2 4k sequential write T1 QD1
    3 4k sequential write T1 QD2
    ");
    let other = text.replace("order=[\"rw\",\"iodepth\"]\n", "");
    assert_snapshot!(labels(&plan(&other)), @r"
    0 4k sequential read T1 QD1
    1 4k sequential write T1 QD1
    2 4k sequential read T1 QD2
    3 4k sequential write T1 QD2
    ");
}

#[test]
fn errors_point_at_the_place() {
    assert_snapshot!(error("\n\n[[ladder]]\nio_depth = [1, 2, 4]\n"), @r"
    error: unknown key `io_depth`
      plan.toml:4:1
    4 | io_depth = [1, 2, 4]
      | ^^^^^^^^ did you mean `iodepth`?
    ");
    assert_snapshot!(error("[defaults]\nengine = \"iouring\"\n"), @r#"
    error: engine: unknown engine `iouring`
      plan.toml:2:10
    2 | engine = "iouring"
      |          ^^^^^^^^^
      help: did you mean `io_uring`? engines are io_uring, io_uring_cmd, nvme, libaio, psync, mmap, iocp, null
    "#);
    assert_snapshot!(error("[[ladder]]\niodepth = [1, 2, 0]\n"), @r"
    error: iodepth: `0` is out of range; it must be 1 to 4096
      plan.toml:2:18
    2 | iodepth = [1, 2, 0]
      |                  ^
    ");
    assert_snapshot!(error("[[ladder]]\niodepth = 1_000_000_000\n"), @r"
    error: iodepth: `1000000000` is out of range; it must be 1 to 4096
      plan.toml:2:11
    2 | iodepth = 1_000_000_000
      |           ^^^^^^^^^^^^^
    ");
    assert_snapshot!(error("[defaults]\nruntime = \"0s\"\n"), @r#"
    error: runtime: a runtime of 0 measures nothing
      plan.toml:2:11
    2 | runtime = "0s"
      |           ^^^^ e.g. 30s, or 2s..10s for floor..budget, or auto
    "#);
    assert_snapshot!(error("[defaults]\nruntime = { min = \"2s\", maximum = \"9s\" }\n"), @r#"
    error: unknown key `maximum`
      plan.toml:2:25
    2 | runtime = { min = "2s", maximum = "9s" }
      |                         ^^^^^^^ valid: min, max
    "#);
    assert_snapshot!(error("[defaults]\nbs = \"4q\"\n"), @r#"
    error: bs: `4q` is not a size: unknown unit `q`
      plan.toml:2:6
    2 | bs = "4q"
      |      ^^^^
      help: did you mean `b`? write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g
    "#);
    assert_snapshot!(error("[defaults]\nbs = 1000\n"), @r"
    error: bs: 1000 bytes are not a multiple of 512
      plan.toml:2:6
    2 | bs = 1000
      |      ^^^^ whole sectors, e.g. 4k; through the page cache (direct=0) any size
    ");
    assert_snapshot!(error("[defaults]\nread_pct = 101\n"), @r"
    error: read_pct: 101 percent is more than the whole; it must be 0 to 100
      plan.toml:2:12
    2 | read_pct = 101
      |            ^^^
    ");
    assert_snapshot!(error("[defaluts]\nbs = \"4k\"\n"), @r"
    error: unknown key `defaluts`
      plan.toml:1:2
    1 | [defaluts]
      |  ^^^^^^^^ did you mean `defaults`?
    ");
    assert_snapshot!(error("[defaults]\nbs = \"4k\n"), @r#"
    error: this is not valid TOML: invalid basic string, expected `"`
      plan.toml:2:9
    2 | bs = "4k
      |         ^
    "#);
    assert_snapshot!(error("[study]\nquestoin = \"x\"\n"), @r#"
    error: unknown key `questoin`
      plan.toml:2:1
    2 | questoin = "x"
      | ^^^^^^^^ did you mean `question`?
    "#);
    assert_snapshot!(error("[defaults]\niodepth = [1, 2]\n"), @r"
    error: a list is a ladder's: defaults hold single values
      plan.toml:2:11
    2 | iodepth = [1, 2]
      |           ^^^^^^ move it into a [[ladder]]
    ");
    assert_snapshot!(error("[defaults]\nprecondition = \"smae\"\n"), @r#"
    error: precondition: unknown way to condition `smae`
      plan.toml:2:16
    2 | precondition = "smae"
      |                ^^^^^^ did you mean `same`?
    "#);
}

#[test]
fn contradictions_point_at_the_knob_that_makes_them() {
    assert_snapshot!(
        error("[defaults]\nmode = \"iopoll\"\n[[ladder]]\nengine = [\"io_uring\", \"psync\"]\n"), @r#"
    error: engine psync has no mode iopoll
      plan.toml:2:8
    2 | mode = "iopoll"
      |        ^^^^^^^^ modes iopoll and sqpoll (fio: hipri, sqthread_poll) need engine io_uring or io_uring_cmd
    "#);
    assert_snapshot!(error("[[ladder]]\nengine = [\"psync\", \"mmap\"]\ndirect = true\n"), @r"
    error: engine mmap goes through the page cache (or DAX); it has no O_DIRECT
      plan.toml:3:10
    3 | direct = true
      |          ^^^^ remove direct, or set direct=0
    ");
    assert_snapshot!(error("[[ladder]]\nbs = \"1m\"\nsize = [\"2m\", \"512k\"]\n"), @r#"
    error: size 512k is below one block of 1m
      plan.toml:3:15
    3 | size = ["2m", "512k"]
      |               ^^^^^^ raise size, or lower bs
    "#);
    assert_snapshot!(error("[[ladder]]\nrw = \"read\"\ninterleave = \"placement\"\n"), @r#"
    error: `placement` is not a knob of this ladder, or is named twice
      plan.toml:3:14
    3 | interleave = "placement"
      |              ^^^^^^^^^^^ name each knob of the ladder once
    "#);
}

#[test]
fn overrides_are_named_when_they_are_wrong() {
    assert_snapshot!(set_error("io_depth", "4"), @r"
    error: unknown key `io_depth`
      in --set io_depth=4
      help: did you mean `iodepth`?
    ");
    assert_snapshot!(set_error("iodepth", "0"), @r"
    error: iodepth: `0` is out of range; it must be 1 to 4096
      in --set iodepth=0
    ");
    assert_snapshot!(set_error("iodepth", "[1, zwei]"), @r"
    error: this is not valid TOML: string values must be quoted, expected literal string
      in --set iodepth=[1, zwei]
      help: a list looks like iodepth=[1, 2, 4]
    ");
    assert_snapshot!(set_error("mode", "iopol"), @r"
    error: mode: unknown mode `iopol`
      in --set mode=iopol
      help: did you mean `iopoll`?
    ");
    assert_snapshot!(set_error("target", "x"), @r"
    error: targets are not a knob
      in --set target=x
      help: use --target, or --group NAME=TARGET,TARGET
    ");
}

#[test]
fn an_override_replaces_the_ladders_own_values() {
    let run = |set| {
        let overrides = with_set(set);
        parse_study("[[ladder]]\nrw=[\"read\",\"write\"]\niodepth=[1,2,4]\n", "p.toml", &overrides).expect("valid")
    };
    assert_snapshot!(labels(&run(&[("iodepth", "8")])), @r"
    0 4k sequential read T1 QD8
    1 4k sequential write T1 QD8
    ");
    assert_snapshot!(labels(&run(&[("qd", "[16, 32]"), ("rw", "randread")])), @r"
    0 4k random read T1 QD16
    1 4k random read T1 QD32
    ");
    let by_load = run(&[("load", "2x2")]);
    assert_snapshot!(labels(&by_load), @r"
    0 4k sequential read T2 QD2
    1 4k sequential write T2 QD2
    ");
    assert_snapshot!(lines(&by_load.notes), @r"
    --set load=2x2
    cells of a ladder that equal another cell of it are run once: 4 left out
    ");
}

#[test]
fn a_synchronous_engine_runs_a_queue_depth_ladder_once_and_says_so() {
    let plan = parse_study("[[ladder]]\niodepth=[1,8]\n", "p.toml", &with_set(&[("engine", "psync")])).expect("valid");
    assert_eq!(labels(&plan), "0 4k random read T1 QD1");
    assert_snapshot!(lines(&plan.notes), @r"
    --set engine=psync
    psync has one I/O in flight per thread: iodepth=8 runs as QD1 (raise numjobs instead)
    cells of a ladder that equal another cell of it are run once: 1 left out
    ");
}

#[test]
fn groups_take_turns_in_each_cell() {
    let groups = vec![("old".to_owned(), vec!["a".to_owned()]), ("new".to_owned(), vec!["b".into(), "c".into()])];
    let overrides = Overrides { groups, ..Overrides::default() };
    let plan = parse_study("[[ladder]]\niodepth=[1,2]\n", "p.toml", &overrides).expect("valid");
    let order: Vec<(&str, u32, usize)> =
        plan.steps.iter().map(|s| (s.group.as_str(), s.load.queue_depth, s.targets.len())).collect();
    assert_eq!(order, [("old", 1, 1), ("new", 1, 2), ("old", 2, 1), ("new", 2, 2)]);
}

#[test]
fn a_target_may_stand_in_the_file_and_the_command_line_wins() {
    let text = "[defaults]\ntarget = [\"x\", \"y\"]\n[[ladder]]\n[[ladder]]\nbs=\"8k\"\ntarget = \"z\"\n";
    let of = |o: &Overrides| -> Vec<Vec<String>> {
        let plan = parse_study(text, "p.toml", o).expect("valid");
        plan.steps.iter().map(|s| s.targets.iter().map(|t| t.as_str().to_owned()).collect()).collect()
    };
    assert_eq!(of(&Overrides::default()), [vec!["x", "y"], vec!["z"]]);
    assert_eq!(of(&on_file()), [["f"], ["f"]]);
    let none = parse_study("", "p.toml", &Overrides::default()).expect_err("no target");
    assert_eq!(english(&none.message), "no target is named");
}

#[test]
fn steps_differ_in_their_labels_only_by_what_differs() {
    let text = r#"
[[ladder]]
engine = ["io_uring", "psync"]
direct = [true, false]
[[ladder]]
mode = ["iopoll", "sqpoll"]
random_distribution = ["zipf:1.2", "hotspot:90/10"]
rw = "randrw"
read_pct = 70
bssplit = "4k/60:64k/40"
"#;
    let plan = plan(text);
    assert_snapshot!(labels(&plan), @r"
    0 4k random read T1 QD1 io_uring
    1 4k random read T1 QD1 io_uring buffered
    2 4k random read T1 QD1 psync
    3 4k random read T1 QD1 psync buffered
    4 4k/60:64k/40 zipf 1.2 70/30 T1 QD1 io_uring iopoll
    5 4k/60:64k/40 hotspot 90/10 70/30 T1 QD1 io_uring iopoll
    6 4k/60:64k/40 zipf 1.2 70/30 T1 QD1 io_uring sqpoll
    7 4k/60:64k/40 hotspot 90/10 70/30 T1 QD1 io_uring sqpoll
    ");
    assert_eq!(plan.steps[4].engine.mode, Mode::Iopoll);
    assert_eq!(plan.steps[5].workload.pattern, Pattern::Hotspot { access_pct: 90, space_pct: 10 });
    assert_eq!(plan.steps[0].placement, Placement::Unpinned);
}

#[test]
fn a_ladder_beyond_the_bound_is_refused_before_it_is_built() {
    let list = (1..=200).map(|n: i32| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("[[ladder]]\niodepth=[{list}]\nnumjobs=[{list}]\nrandseed=[{list}]\n");
    assert!(error(&text).contains("more than 10000 steps"));
}

#[test]
fn quick_takes_about_a_minute_and_has_sixteen_steps() {
    let text = study_by_name("quick").expect("shipped");
    let plan = parse_study(text, "quick.toml", &on_file()).expect("valid");
    assert_snapshot!(labels(&plan), @r"
    0 4k random read T1 QD1
    1 4k random read T1 QD2
    2 4k random read T1 QD4
    3 4k random read T1 QD8
    4 4k random read T1 QD16
    5 4k random read T1 QD32
    6 4k random read T1 QD64
    7 4k random read T4 QD32
    8 4k random write T1 QD1
    9 4k random write T1 QD4
    10 4k random write T1 QD16
    11 4k random write T1 QD32
    12 128k sequential read T1 QD4
    13 128k sequential read T1 QD16
    14 128k sequential write T1 QD4
    15 128k sequential write T1 QD16
    ");
    let seconds = plan.time_budget_ns().expect("timed") as f64 / 1e9;
    assert!((50.0..=65.0).contains(&seconds), "{seconds} s");
    assert!(plan.notes.is_empty(), "{:?}", plan.notes);
}

#[test]
fn every_shipped_study_can_be_read_and_bears_its_own_name() {
    for (name, text) in builtin_studies() {
        let overrides = Overrides { describe: true, ..on_file() };
        let plan = parse_study(text, "x.toml", &overrides).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(plan.study.name, *name);
        assert!(plan.study.question.ends_with('?'));
    }
    assert_snapshot!(source_words(&study_by_name("quikc").expect_err("misspelt")), @r"
    no study is called `quikc`
      help: did you mean `quick`?
    ");
    assert_snapshot!(source_words(&study_by_name("watermelon").expect_err("unknown")), @r"
    no study is called `watermelon`
      help: shipped studies: quick, baseline, pinning, qos, enterprise, scaling, engines, tune, snia, commit, files, surface, raid, md; a plan of your own ends in .toml or .fio
    ");
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,200}") {
        let _ = parse_study(&text, "f", &on_file());
    }

    #[test]
    fn no_almost_valid_study_makes_the_parser_panic(
        lines in proptest::collection::vec(
            "\\[\\[ladder\\]\\]|\\[defaults\\]|(rw|bs|iodepth|load|runtime|order|interleave|target|engine|size) = \
              (\"[a-z0-9:/x.]{0,8}\"|[0-9]{1,12}|\\[[0-9, ]{0,10}\\]|true|\\{min=1,max=2\\}|\\[\"rw\"\\])", 0..8),
    ) {
        let _ = parse_study(&lines.join("\n"), "f", &on_file());
    }

    #[test]
    fn a_ladder_of_distinct_values_is_the_product_of_its_lists(
        depths in proptest::collection::btree_set(1u32..4096, 1..6),
        threads in proptest::collection::btree_set(1u32..64, 1..6),
    ) {
        let text = format!("[[ladder]]\nnumjobs={:?}\niodepth={:?}\n",
            threads.iter().collect::<Vec<_>>(), depths.iter().collect::<Vec<_>>());
        let steps = plan(&text).steps;
        let expected: Vec<(u32, u32)> =
            threads.iter().flat_map(|t| depths.iter().map(move |d| (*t, *d))).collect();
        let got: Vec<(u32, u32)> = steps.iter().map(|s| (s.load.threads, s.load.queue_depth)).collect();
        prop_assert_eq!(got, expected);
    }
}

/// Labels of the steps that measure, and the notes.
fn measured(plan: &Plan) -> (Vec<&str>, Vec<String>) {
    let steps = plan.steps.iter().filter(|s| s.phase == Phase::Measure);
    (steps.map(|s| s.label.as_str()).collect(), plan.notes.iter().map(english).collect())
}

#[test]
fn a_share_of_the_most_takes_it_from_a_ladder_before_or_from_a_closed_loop_put_before_it() {
    let depth = "[[ladder]]\nname = \"depth\"\niodepth = [1, 8]\n";
    let rate = "[[ladder]]\nname = \"rate\"\niodepth = [4, 16]\nrate_iops = [\"50%\", \"120%\"]\n";
    let whole = plan(&format!("{depth}{rate}"));
    let (labels, notes) = measured(&whole);
    assert_eq!(
        labels,
        [
            "4k random read T1 QD1",
            "4k random read T1 QD8",
            "4k random read T1 QD4 at 50 % of max fixed",
            "4k random read T1 QD4 at 120 % of max fixed",
            "4k random read T1 QD16 at 50 % of max fixed",
            "4k random read T1 QD16 at 120 % of max fixed",
        ]
    );
    assert!(notes.is_empty(), "{notes:?}");
    let share = whole.steps[3].role.rate_share.expect("a share");
    assert_eq!((share.pct, share.process, whole.steps[3].load.rate), (120, RateProcess::Fixed, None));
    assert!(whole.steps[..2].iter().all(|s| s.role.rate_share.is_none()));
    // Alone it brings its base with it, at its own heaviest load.
    for alone in [plan(rate), plan(&format!("{rate}{depth}"))] {
        let (labels, notes) = measured(&alone);
        assert_eq!(labels[0], "4k random read T1 QD16");
        assert_eq!(labels[1], "4k random read T1 QD4 at 50 % of max fixed");
        assert!(labels[1..5].iter().all(|l| l.contains("% of max")), "{labels:?}");
        assert_eq!(notes, ["4k random read T1 QD16: measured first, because later rates are shares of its IOPS"]);
    }
    // Every group and every workload has its own.
    let overrides = Overrides {
        groups: vec![("a".into(), vec!["x".into()]), ("b".into(), vec!["y".into()])],
        ..Overrides::default()
    };
    let text = "[[ladder]]\nrw = [\"randread\", \"randwrite\"]\nrate_iops = \"50%\"\n";
    let plan = parse_study(text, "plan.toml", &overrides).expect("is sound");
    assert_eq!(plan.steps.iter().filter(|s| !s.is_open_loop()).count(), 4);
}

#[test]
fn shares_that_cannot_be_are_pointed_at() {
    assert_snapshot!(error("[[ladder]]\nrate_iops = [\"50%\", \"0%\"]\n"), @r#"
    error: rate_iops: `0%` is out of range; it must be 1% to 200%
      plan.toml:2:21
    2 | rate_iops = ["50%", "0%"]
      |                     ^^^^ a whole percentage of the highest IOPS in a closed loop, e.g. 75%
    "#);
    for (value, message) in [
        ("201%", "`201%` is out of range; it must be 1% to 200%"),
        ("7.5%", "`7.5` is not a whole number"),
        ("-5%", "`-5` is negative"),
        ("%", "`` is not a whole number"),
        ("99999999999999999999999%", "does not fit in 64 bits"),
    ] {
        let said = error(&format!("[[ladder]]\nrate_iops = \"{value}\"\n"));
        assert!(said.contains(message) && said.contains("e.g. 75%"), "{value}: {said}");
    }
    // The later value counts, whichever kind it is.
    let of = |value| {
        parse_study("[defaults]\nrate_iops = \"50%\"\n", "p.toml", &with_set(&[("rate_iops", value)]))
            .expect("is sound")
    };
    assert_eq!(of("2k").steps[0].load.rate.map(|r| r.iops), Some(2_000.0));
    assert_eq!(of("2k").steps[0].role.rate_share, None);
    assert_eq!(of("20%").steps.last().and_then(|s| s.role.rate_share).map(|s| s.pct), Some(20));
}

#[test]
fn an_outermost_knob_runs_every_ladder_at_one_value_before_the_next() {
    let text = "[study]\nname = \"two\"\noutermost = \"read_pct\"\n[defaults]\nrw = \"randrw\"\nprecondition = \"quick\"\n\
                [[ladder]]\nname = \"a\"\nread_pct = [100, 0]\niodepth = [1, 2]\n\
                [[ladder]]\nname = \"b\"\nread_pct = [0, 30, 100]\niodepth = 8\n";
    let whole = plan(text);
    assert_eq!(
        measured(&whole).0,
        [
            "4k random read T1 QD1",
            "4k random read T1 QD2",
            "4k random read T1 QD8",
            "4k random write T1 QD1",
            "4k random write T1 QD2",
            "4k random write T1 QD8",
            "4k random 30/70 T1 QD8",
        ]
    );
    let settled = |plan: &Plan| plan.steps.iter().filter(|s| s.role.round.is_some_and(|r| r.index == 0)).count();
    assert_eq!(settled(&whole), 3, "each workload is conditioned once");
    assert_eq!(settled(&plan(&text.replace("outermost = \"read_pct\"\n", ""))), 4, "reads twice");
    let one = parse_study(text, "two.toml", &with_set(&[("read_pct", "0")])).expect("is sound");
    assert_eq!(measured(&one).0, ["4k random write T1 QD1", "4k random write T1 QD2", "4k random write T1 QD8"]);
    let only = Overrides { only: vec!["b".into()], ..on_file() };
    assert_eq!(measured(&parse_study(text, "two.toml", &only).expect("is sound")).0.len(), 3);
}

#[test]
fn an_outermost_knob_that_would_tear_a_ladder_apart_is_refused() {
    let study = |ladder: &str| format!("[study]\noutermost = \"iodepth\"\n[[ladder]]\niodepth = [1, 2]\n{ladder}");
    assert_snapshot!(error(&study("interleave = \"iodepth\"\n")), @r#"
    error: `iodepth` cannot be outermost of a ladder with rounds, or that interleaves it
      plan.toml:2:13
    2 | outermost = "iodepth"
      |             ^^^^^^^^^ leave `outermost` out
    "#);
    let rounds = error(&study("rounds = 5\ntrack = { metric = \"iops\" }\n"));
    assert!(rounds.contains("cannot be outermost"), "{rounds}");
    assert!(error("[study]\noutermost = \"io_depth\"\n").contains("did you mean `iodepth`?"));
    assert!(error("[study]\noutermost = 3\n").contains("the name of a knob is expected here"));
}

#[test]
fn the_question_of_each_shipped_study_has_words_and_those_of_others_stand_as_they_are() {
    for (name, text) in builtin_studies() {
        let overrides = Overrides { describe: true, ..on_file() };
        let plan = parse_study(text, &format!("{name}.toml"), &overrides).unwrap_or_else(|e| panic!("{e}"));
        let words = question_message(name).unwrap_or_else(|| panic!("{name} has no words"));
        assert_eq!(english(&words), plan.study.question, "{name}");
        assert_eq!(plan.study.question_message(), words);
    }
    assert_eq!(question_message("mine"), None);
    let own = |name: &str, question: &str| {
        let head = StudyHead::new(name, question);
        english(&head.question_message())
    };
    assert_eq!(own("mine", "Why?"), "Why?");
    assert_eq!(own("quick", "Why?"), "Why?", "a copy that asks something else");
    assert_eq!(own("io", ""), "What does this one load give?");
    assert_eq!(own("oltp", ""), "What does this give?");
}

#[test]
fn several_loads_at_once_are_asked_for_as_several_unless_somebody_asked_otherwise() {
    let asked = |loads: usize, name: &str, question: &str| {
        let load = |_| (Knobs::new(), vec![TargetId::new("f")]);
        let mut plan = Plan::from_io_streams((0..loads).map(load).collect(), "").expect("loads");
        if !name.is_empty() {
            plan.study = StudyHead::new(name, question);
        }
        english(&plan.question_message())
    };
    assert_eq!(asked(1, "", ""), "What does this one load give?");
    assert_eq!(asked(2, "", ""), "What do these loads give at once?");
    assert_eq!(asked(2, "oltp", ""), "What do these loads give at once?");
    assert_eq!(asked(2, "oltp", "Is it enough?"), "Is it enough?");
    assert_eq!(asked(2, "quick", ""), "How fast is this, and what stops it?");
}

#[test]
fn the_sides_of_a_comparison_have_names_and_words() {
    let versus = |key: &str, value: &str| {
        let versus = Some((key.to_owned(), value.to_owned()));
        let overrides = Overrides { versus, host_settings: vec!["scheduler".to_owned()], ..on_file() };
        let plan = parse_study("", "plan.toml", &overrides).unwrap_or_else(|e| panic!("{e}"));
        let mut sides: Vec<String> = plan
            .steps
            .iter()
            .filter_map(|s| s.role.block.as_ref())
            .inspect(|block| assert_eq!(english(&block.arm_message()), block.arm))
            .map(|block| fathom_language::Language::Chinese.say(&block.arm_message()))
            .collect();
        sides.sort();
        sides.dedup();
        sides
    };
    assert_eq!(versus("scheduler", "none"), ["scheduler 保持原样", "scheduler=none"]);
    assert_eq!(versus("engine", "libaio"), ["engine 保持 study 原设", "engine=libaio"]);
}

const STREAMS: &str = r#"
[defaults]
target = "data.dat"
runtime = "2s"
size = "64m"
[[ladder]]
iodepth = [1, 16]
[[ladder.stream]]
name = "reads"
rw = "randread"
[[ladder.stream]]
name = "log"
rw = "write"
fdatasync = 1
iodepth = 1
rate_iops = [100, 1000]
target = "log.dat"
"#;

fn of_streams(text: &str) -> Plan {
    parse_study(text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_streams_of_a_ladder_run_at_once_in_each_of_its_cells() {
    let plan = of_streams(STREAMS);
    let of = |s: &Step| {
        let stream = s.role.stream.as_ref().expect("a stream");
        (stream.set, stream.name.clone(), s.load.queue_depth, s.load.rate.map(|r| r.iops), s.targets[0].to_string())
    };
    let cells: Vec<_> = plan.steps.iter().map(of).collect();
    let cell = |set: u32, depth: u32, rate: f64| {
        [
            (set, "reads".to_owned(), depth, None, "data.dat".to_owned()),
            (set, "log".to_owned(), 1, Some(rate), "log.dat".to_owned()),
        ]
    };
    assert_eq!(cells, [cell(0, 1, 100.0), cell(1, 1, 1000.0), cell(2, 16, 100.0), cell(3, 16, 1000.0)].concat());
    assert_eq!(plan.steps[1].label, "log: 4k sequential write + fdatasync T1 QD1 at 100/s fixed");
    assert_eq!(plan.time_budget_ns(), Some(8_000_000_000), "streams take the time of one");
    // A target of the command line is that of all loads.
    let on_one = super::parse_study(STREAMS, "s.toml", &on_file()).unwrap_or_else(|e| panic!("{e}"));
    assert!(on_one.steps.iter().all(|s| s.targets[0].as_str() == "f"));
}

#[test]
fn what_conditions_a_later_stream_comes_before_all_of_its_set() {
    let text = STREAMS.replace("rate_iops = [100, 1000]", "precondition = \"quick\"");
    let plan = of_streams(&text);
    let first = plan.steps.iter().position(|s| s.role.stream.is_some()).expect("streams");
    assert!(first > 0 && plan.steps[..first].iter().all(|s| s.phase != Phase::Measure));
    assert!(crate::slices(&plan.steps[first..]).all(|set| set.len() == 2 || set[0].role.stream.is_none()));
    assert!(plan.steps.iter().enumerate().all(|(at, s)| s.index as usize == at));
}

#[test]
fn streams_that_cannot_be_are_refused_with_their_line() {
    let error = |change: (&str, &str)| {
        let text = STREAMS.replace(change.0, change.1);
        source_words(&parse_study(&text, "s.toml", &Overrides::default()).expect_err("this plan is wrong"))
    };
    for (change, said) in [
        (("name = \"log\"", "name = \"reads\""), "each stream has a name of its own"),
        (("[100, 1000]", "\"50%\""), "stream log has a rate that is a share"),
        (("fdatasync = 1", "fdatasinc = 1"), "fdatasync"),
        (("iodepth = [1, 16]", "iodepth = [1, 16]\ninterleave = \"iodepth\""), "neither with interleave"),
        (("rw = \"write\"", "rw = \"read\""), "fdatasync makes writes durable, and there are none"),
    ] {
        let text = error(change);
        assert!(text.contains(said) && text.contains("s.toml:"), "{text}");
    }
}

fn raid(members: usize, set: &[(&str, &str)]) -> Result<Plan, SourceError> {
    let targets = ["a", "b", "c", "d"].into_iter().take(members).map(str::to_owned).collect();
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let overrides = Overrides { targets, set, ..Overrides::default() };
    parse_study(study_by_name("raid").expect("shipped"), "raid.toml", &overrides)
}

/// What arrays the steps of a part are on, each once; members are as many as they are.
fn on(plan: &Plan, part: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for step in plan.steps.iter().filter(|s| s.role.test.as_deref() == Some(part)) {
        let words = step.targets[0].array_words().unwrap_or_else(|| format!("{} members", step.targets.len()));
        if !out.contains(&words) {
            out.push(words);
        }
    }
    out
}

#[test]
fn levels_losses_and_chunks_are_asked_of_the_arrays_and_the_members_stay_members() {
    let plan = raid(4, &[("array", "[\"raid10\", \"raid5\"]"), ("chunk", "16k")]).expect("a plan");
    assert_eq!((on(&plan, "one"), on(&plan, "members")), (vec!["1 members".to_owned()], vec!["4 members".to_owned()]));
    assert_eq!(on(&plan, "small"), ["on raid10:16k x4", "on raid5:16k x4"]);
    assert_eq!(on(&plan, "degraded"), ["on raid10:16k x4 without 1", "on raid5:16k x4 without 1"]);
    let plan = raid(4, &[("array", "raid6"), ("missing", "2")]).expect("a plan");
    assert_eq!(on(&plan, "members"), ["4 members"]);
    assert_eq!(
        (on(&plan, "mixed"), on(&plan, "degraded")),
        (vec!["on raid6:64k x4".into()], vec!["on raid6:64k x4 without 2".into()])
    );
    // What a loss or a number of members leaves no level for is left out by name; the rest is done.
    let plan = raid(4, &[("missing", "2")]).expect("a plan");
    assert_eq!(on(&plan, "small").len(), 4);
    assert_eq!(on(&plan, "degraded"), ["on raid6:64k x4 without 2"]);
    let notes: Vec<String> = plan.notes.iter().map(english).collect();
    assert!(
        notes.iter().any(|note| note == "left out: raid5 cannot do without the members that are missing: 2"),
        "{notes:?}"
    );
    let plan = raid(3, &[]).expect("a plan");
    assert_eq!(on(&plan, "small"), ["on raid0:64k x3", "on raid10:64k x3", "on raid5:64k x3"]);
    let plan = raid(4, &[("chunk", "[\"16k\", \"64k\"]")]).expect("a plan");
    assert_eq!(on(&plan, "members"), ["4 members"]);
    assert_eq!(on(&plan, "small").len(), 8);
}

#[test]
fn no_array_at_all_is_an_error_that_says_what_to_name() {
    for (members, set) in [(1, &[][..]), (3, &[("array", "raid6")])] {
        let said = source_words(&raid(members, set).expect_err("too few"));
        assert!(said.contains("members, and") && said.contains("name each member"), "{said}");
    }
}
