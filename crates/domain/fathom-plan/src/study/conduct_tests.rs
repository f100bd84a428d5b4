//! Tests of what a plan does around its measurements: conditioning, loops, interleaved comparison, time budget.

use fathom_language::english;
use insta::assert_snapshot;

use super::*;
use crate::role::{Precondition, PurgeMeans};
use crate::step::Phase;
use crate::words::{lines, source_words};

fn plan_on(text: &str, targets: &[&str]) -> Plan {
    let overrides = Overrides { targets: targets.iter().map(|t| (*t).to_owned()).collect(), ..Overrides::default() };
    parse_study(text, "p.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn versus(text: &str, key: &str, value: &str) -> Result<Plan, SourceError> {
    let overrides = Overrides {
        targets: vec!["f".to_owned()],
        versus: Some((key.to_owned(), value.to_owned())),
        host_settings: vec!["scheduler".to_owned(), "nr_requests".to_owned()],
        ..Overrides::default()
    };
    parse_study(text, "p.toml", &overrides)
}

/// Phase and label of each step; of a loop its first and last round.
fn outline(plan: &Plan) -> String {
    let shown = plan.steps.iter().filter(|s| s.role.round.is_none_or(|r| r.index == 0 || r.index + 1 == r.max));
    shown.map(|s| format!("{:?} {} {}", s.phase, s.group, s.label)).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_workload_is_conditioned_once_with_itself() {
    let text = "[defaults]\nprecondition=\"same\"\nsettle_rounds=5\n[[ladder]]\nrw=[\"randread\",\"randwrite\"]\niodepth=[1,4]\n";
    let plan = plan_on(text, &["f"]);
    assert_snapshot!(outline(&plan), @r"
    Fill A fill, part 1 of 4
    Fill A fill, part 2 of 4
    Fill A fill, part 3 of 4
    Fill A fill, part 4 of 4
    Settle A 4k random read T16 QD16 round 1
    Settle A 4k random read T16 QD16 round 5
    Measure A 4k random read T1 QD1
    Measure A 4k random read T1 QD4
    Settle A 4k random write T16 QD16 round 1
    Settle A 4k random write T16 QD16 round 5
    Measure A 4k random write T1 QD1
    Measure A 4k random write T1 QD4
    ");
    let loops: Vec<Option<u32>> =
        plan.steps.iter().filter(|s| s.phase == Phase::Measure).map(|s| s.role.conditioning.unwrap().loop_id).collect();
    assert_eq!(loops, [Some(0), Some(0), Some(1), Some(1)]);
    let settle = plan.steps.iter().find(|s| s.phase == Phase::Settle).expect("a settle step");
    assert_eq!((settle.load.threads, settle.load.queue_depth), (16, 16));
    assert!(plan.steps.iter().zip(0..).all(|(s, i)| s.index == i));
}

#[test]
fn a_workload_that_writes_ends_the_state_of_another() {
    let text = "[defaults]\nsettle_rounds=5\n[[ladder]]\nprecondition=\"same\"\n[[ladder]]\nrw=\"randwrite\"\n[[ladder]]\nprecondition=\"same\"\niodepth=2\n";
    let plan = plan_on(text, &["f"]);
    let loops = plan.steps.iter().filter_map(|s| s.role.round).filter(|r| r.index == 0).count();
    assert_eq!(loops, 2, "{}", outline(&plan));
    let fills = plan.steps.iter().filter(|s| s.phase == Phase::Fill).count();
    assert_eq!(fills, 4, "filled once, in four parts");
    let reads_only = plan_on(&text.replace("randwrite", "randread"), &["f"]);
    assert_eq!(reads_only.steps.iter().filter_map(|s| s.role.round).filter(|r| r.index == 0).count(), 1);
}

#[test]
fn snia_purges_and_writes_twice_over_and_quick_says_that_it_is() {
    let of = |method: &str| {
        plan_on(&format!("precondition=\"{method}\"").replace("pre", "[defaults]\nsettle_rounds=5\npre"), &["f"])
    };
    assert_snapshot!(outline(&of("snia")), @r"
    Purge A purge
    Precondition A precondition 128k sequential write, pass 1 of 2, part 1 of 4
    Precondition A precondition 128k sequential write, pass 1 of 2, part 2 of 4
    Precondition A precondition 128k sequential write, pass 1 of 2, part 3 of 4
    Precondition A precondition 128k sequential write, pass 1 of 2, part 4 of 4
    Precondition A precondition 128k sequential write, pass 2 of 2, part 1 of 4
    Precondition A precondition 128k sequential write, pass 2 of 2, part 2 of 4
    Precondition A precondition 128k sequential write, pass 2 of 2, part 3 of 4
    Precondition A precondition 128k sequential write, pass 2 of 2, part 4 of 4
    Settle A 4k random read T16 QD16 round 1
    Settle A 4k random read T16 QD16 round 5
    Measure A 4k random read T1 QD1
    ");
    assert_snapshot!(outline(&of("quick")), @r"
    Fill A fill, part 1 of 4
    Fill A fill, part 2 of 4
    Fill A fill, part 3 of 4
    Fill A fill, part 4 of 4
    Settle A 4k random read T16 QD16 quick round 1
    Settle A 4k random read T16 QD16 quick round 5
    Measure A 4k random read T1 QD1
    ");
    assert_eq!(of("quick").steps.last().unwrap().role.conditioning.unwrap().method, Precondition::Quick);
    assert_eq!(of("none").steps.len(), 1);
}

#[test]
fn a_purge_names_its_means_and_a_misspelt_one_is_refused() {
    let means = |value: &str| {
        let plan = plan_on(&format!("[[ladder]]\npurge={value}\n"), &["f"]);
        plan.steps.first().filter(|s| s.phase == Phase::Purge).map(|s| (s.role.purge, s.label.clone()))
    };
    let of = |means: PurgeMeans, label: &str| Some((Some(means), label.to_owned()));
    assert_eq!(means("true"), of(PurgeMeans::Best, "purge"));
    assert_eq!(means("\"best\""), of(PurgeMeans::Best, "purge"));
    assert_eq!(means("\"format\""), of(PurgeMeans::Format, "purge by format"));
    assert_eq!(means("\"discard\""), of(PurgeMeans::Discard, "purge by discard"));
    assert_eq!(means("false"), None);
    let own = plan_on("[[ladder]]\nprecondition=\"snia\"\npurge=\"sanitize\"\nsettle_rounds=5\n", &["f"]);
    assert_eq!(own.steps[0].role.purge, Some(PurgeMeans::Sanitize), "said in so many words");
    let wrong = parse_study("[[ladder]]\npurge=\"formt\"\n", "p.toml", &Overrides::default()).unwrap_err();
    assert!(source_words(&wrong).contains("unknown way to purge `formt`"), "{}", wrong.message);
    assert!(wrong.help.as_ref().map(english).unwrap_or_default().contains("format"), "{:?}", wrong.help);
}

#[test]
fn all_drives_of_a_group_are_conditioned_together_before_subsets_are_measured() {
    let text = "[[ladder]]\nprecondition=\"same\"\nsettle_rounds=5\ndevices=[1,2,3]\n";
    let plan = plan_on(text, &["a", "b"]);
    let settle = plan.steps.iter().find(|s| s.phase == Phase::Settle).expect("a settle step");
    assert_eq!(settle.targets.len(), 2);
    let measured: Vec<(Option<u32>, usize)> =
        plan.steps.iter().filter(|s| s.phase == Phase::Measure).map(|s| (s.role.devices, s.targets.len())).collect();
    assert_eq!(measured, [(Some(1), 1), (Some(2), 2), (Some(3), 2)], "the run refuses the last by name");
    assert_eq!(plan.steps.iter().filter_map(|s| s.role.round).filter(|r| r.index == 0).count(), 1);
}

#[test]
fn rounds_repeat_the_ladder_and_one_cell_is_tracked() {
    let text = "[[ladder]]\nrw=\"randrw\"\nread_pct=[100,0]\nbs=[\"8k\",\"4k\"]\nrounds=5\nprecondition=\"snia\"\n\
                track={metric=\"iops\",read_pct=0,bs=\"4k\"}\n";
    let plan = plan_on(text, &["f"]);
    assert_eq!(plan.steps.len(), 1 + 8 + 5 * 4, "purge, twice over in four parts, five rounds of four cells");
    let tracked: Vec<&str> = plan
        .steps
        .iter()
        .filter(|s| s.role.round.is_some_and(|r| r.metric.is_some()))
        .map(|s| s.label.as_str())
        .collect();
    assert_eq!(tracked.len(), 5);
    assert_eq!(tracked[4], "4k random write T1 QD1 round 5");
    let measured = plan.steps.last().expect("steps");
    assert_eq!(measured.role.conditioning.unwrap().loop_id, measured.role.round.map(|r| r.loop_id));
    let wrong =
        |line: &str| parse_study(&format!("{text}{line}"), "p.toml", &Overrides::default()).unwrap_err().message;
    assert_eq!(english(&wrong("")), "no target is named");
    let unknown = text.replace("bs=\"4k\"}", "bs=\"2k\"}");
    let error = parse_study(&unknown, "p.toml", &Overrides::default()).expect_err("no such cell");
    assert_eq!(english(&error.message), "bs = 2k is not a cell of this ladder");
    let untracked = parse_study("[[ladder]]\nrounds=5\n", "p.toml", &Overrides::default()).expect_err("no track");
    assert!(english(&untracked.message).starts_with("rounds need to know"));
}

#[test]
fn blocks_repeat_forwards_and_backwards_and_name_their_arms() {
    let text = "[[ladder]]\niodepth=[1,2]\nplacement=[\"unpinned\",\"cores\"]\ninterleave=\"placement\"\nblocks=2\n";
    let plan = plan_on(text, &["f"]);
    let blocks: Vec<(u32, u32, &str)> =
        plan.steps.iter().filter_map(|s| s.role.block.as_ref()).map(|b| (b.cell, b.pass, b.arm.as_str())).collect();
    let (a, b) = ("placement=unpinned", "placement=cores");
    let of = |cell| {
        [(cell, 0, a), (cell, 0, b), (cell, 1, b), (cell, 1, a), (cell, 2, a), (cell, 2, b), (cell, 3, b), (cell, 3, a)]
    };
    assert_eq!(blocks, [of(0), of(1)].concat());
}

#[test]
fn versus_pairs_each_cell_with_a_knob_or_a_setting() {
    let text = "[[ladder]]\niodepth=[1,2]\n";
    let by_setting = versus(text, "scheduler", "none").expect("valid");
    assert_eq!(by_setting.steps.len(), 2 * 2 * 6, "six pairs a cell");
    let first: Vec<(&str, usize)> = by_setting.steps[..2]
        .iter()
        .map(|s| (s.role.block.as_ref().unwrap().arm.as_str(), s.role.settings.len()))
        .collect();
    assert_eq!(first, [("scheduler as found", 0), ("scheduler=none", 1)]);
    assert_eq!(by_setting.steps[1].label, "4k random read T1 QD1 scheduler=none");
    let by_knob = versus(text, "engine", "libaio").expect("valid");
    assert_eq!(by_knob.steps[1].engine.name, crate::EngineName::Libaio);
    assert_eq!(by_knob.steps[0].role.block.as_ref().unwrap().arm, "engine as in the study");
    assert_snapshot!(source_words(&versus(text, "schedular", "none").unwrap_err()), @r"
    `schedular` is neither a knob nor a setting of the host
      in --versus schedular=none
      help: did you mean `scheduler`?
    ");
    assert_snapshot!(source_words(&versus(text, "engine", "io_uring").unwrap_err()), @r"
    this changes nothing: both sides would be the same
      in --versus engine=io_uring
      help: give the value that the study does not have already
    ");
    assert_snapshot!(source_words(&versus(text, "iodepth", "4").unwrap_err()), @r"
    the study goes through several values of iodepth itself
      in --versus iodepth=4
      help: give it one value first: --set iodepth=VALUE
    ");
    let none = parse_study("[study]\nneeds=\"versus\"\n", "p.toml", &Overrides::default()).expect_err("none named");
    assert_eq!(english(&none.message), "this study compares a setting, and none is named");
}

#[test]
fn only_picks_ladders_by_name() {
    let text = "[[ladder]]\nname=\"a\"\n[[ladder]]\nname=\"b\"\niodepth=7\n";
    let of = |only: &str| {
        let overrides =
            Overrides { targets: vec!["f".to_owned()], only: vec![only.to_owned()], ..Overrides::default() };
        parse_study(text, "p.toml", &overrides)
    };
    let plan = of("b").expect("valid");
    assert_eq!((plan.steps.len(), plan.steps[0].load.queue_depth), (1, 7));
    assert_eq!(plan.steps[0].role.test.as_deref(), Some("b"));
    assert_eq!(english(&of("c").unwrap_err().message), "this study has no part called `c`");
}

#[test]
fn a_time_budget_takes_rounds_first_and_says_what_it_costs() {
    let text = study_by_name("enterprise").expect("shipped");
    let groups = vec![("x".to_owned(), vec!["a".into(), "b".into()]), ("y".to_owned(), vec!["c".into(), "d".into()])];
    let overrides = Overrides { groups, ..Overrides::default() };
    let mut plan = parse_study(text, "enterprise.toml", &overrides).expect("valid");
    let measured = |p: &Plan| p.steps.iter().filter(|s| s.phase == Phase::Measure).count();
    let before = measured(&plan);
    assert_eq!(before, 48, "4 + 16 + 4 cells for two groups");
    plan.scale_to_time_budget(120_000_000_000).expect("fits");
    assert_eq!(measured(&plan), before, "no cell is lost");
    assert!(plan.steps.iter().filter_map(|s| s.role.round).all(|r| r.max == 5 && r.index < 5));
    assert!(plan.time_budget_ns().expect("timed") <= 120_000_000_000);
    assert!(plan.steps.iter().zip(0..).all(|(s, i)| s.index == i));
    assert!(lines(&plan.notes).contains("5 rounds instead of 25"), "{:?}", plan.notes);
    let time = |conditions: bool| -> u64 {
        let which = plan.steps.iter().filter(|s| (s.phase != Phase::Measure) == conditions);
        which.map(|s| s.length.ramp_ns + s.length.budget_ns).sum()
    };
    assert!(time(true) < time(false), "most of a short run measures: {} against {}", time(true), time(false));
    let mut again = plan.clone();
    assert!(again.scale_to_time_budget(1_000_000_000).is_err());
    assert_eq!(again, plan);
}

#[test]
fn what_a_plan_writes_is_bytes_where_they_are_known_and_time_elsewhere() {
    let text = "[defaults]\nprecondition=\"same\"\nsettle_rounds=5\nsize=\"64m\"\nruntime=\"10s\"\n\
                [[ladder]]\nrw=[\"randread\",\"randwrite\"]\n";
    let writes = plan_on(text, &["f", "g"]).writes();
    assert_eq!(writes.bytes_max, 2 * (64 << 20), "two files are filled once");
    assert_eq!(writes.open_ns, (5 * 60 + 10) * 1_000_000_000, "five rounds and the measured writes");
    assert!(!writes.passes_over_unknown && !writes.is_nothing());
    let whole = plan_on(&text.replace("size=\"64m\"\n", ""), &["f"]).writes();
    assert!(whole.passes_over_unknown && whole.bytes_max == 0);
    assert!(plan_on("[[ladder]]\nrw=\"randread\"\n", &["f"]).writes().is_nothing());
}

#[test]
fn what_tells_the_sides_of_a_comparison_apart_stands_in_their_labels() {
    let plan = versus("[[ladder]]\niodepth=8\n", "iodepth_batch_submit", "1").expect("valid");
    let labels: Vec<&str> = plan.steps[..2].iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["4k random read T1 QD8", "4k random read T1 QD8 submits by 1"]);
}
