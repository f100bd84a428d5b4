use fathom_language::{Language, english};
use proptest::prelude::*;

use super::*;
use crate::study::{Overrides, builtin_studies, parse_study};

fn overrides() -> Overrides {
    Overrides {
        targets: vec!["/dev/a".to_owned(), "/dev/b".to_owned()],
        versus: Some(("read_ahead_kb".to_owned(), "64".to_owned())),
        host_settings: vec!["read_ahead_kb".to_owned()],
        ..Overrides::default()
    }
}

fn steps(text: &str, overrides: &Overrides) -> Vec<Step> {
    parse_study(text, "mine.toml", overrides).unwrap_or_else(|e| panic!("{e}\n{text}")).steps
}

/// Whether both languages say the label: in English with the words that are stored.
fn check(step: &Step) {
    let message = label_message(step);
    assert!(message.as_verbatim().is_none(), "{} has no words", step.label);
    assert_eq!(english(&message), step.label);
    let chinese = Language::Chinese.try_say(&message).unwrap_or_else(|e| panic!("{}: {e:?}", step.label));
    assert!(!chinese.contains("random") && !chinese.contains("  "), "{chinese}");
}

#[test]
fn every_label_of_the_shipped_studies_can_be_said_in_any_language() {
    for (name, text) in builtin_studies() {
        // Twice as many steps of snia are more than a plan may have, and the streams of commit have no sides.
        let versus = overrides().versus.filter(|_| !["snia", "commit"].contains(name));
        let steps = steps(text, &Overrides { versus, ..overrides() });
        assert!(!steps.is_empty(), "{name}");
        steps.iter().for_each(check);
    }
}

#[test]
fn a_label_in_chinese_has_no_english_words_but_names() {
    let text = "precondition = \"snia\"\n[[ladder]]\nrw = \"randwrite\"\nplacement = [\"cores\", \"unpinned\"]\n";
    let steps = steps(&format!("[defaults]\n{text}"), &Overrides { versus: None, ..overrides() });
    let say = |step: &Step| Language::Chinese.say(&label_message(step));
    assert_eq!(say(&steps[0]), "清除");
    assert_eq!(say(&steps[1]), "预处理 128k 顺序写，第 1/2 遍，第 1/4 部分");
    assert_eq!(say(&steps[9]), "4k 随机写 T16 QD16 第 1 轮");
    let measured: Vec<String> = steps.iter().filter(|s| s.phase == Phase::Measure).map(say).collect();
    assert_eq!(measured, ["4k 随机写 T1 QD1 绑核", "4k 随机写 T1 QD1"]);
}

#[test]
fn a_label_of_another_origin_is_said_as_it_stands() {
    let mut step = steps("", &Overrides { versus: None, ..overrides() }).remove(0);
    step.label = "4k random read T1 QD1 (screen)".to_owned();
    assert_eq!(label_message(&step), Message::verbatim("4k random read T1 QD1 (screen)"));
}

#[test]
fn a_region_that_the_run_resolves_keeps_its_label() {
    let text = "[[ladder]]\nsize = [\"20%\", \"50%\"]\n";
    let mut step = steps(text, &Overrides { versus: None, ..overrides() }).remove(0);
    assert_eq!(step.label, "4k random read T1 QD1 over 20 %");
    step.workload.region.size_bytes = Some(3 << 30);
    check(&step);
}

#[test]
fn what_two_steps_are_both_called_leaves_out_what_tells_them_apart() {
    let common = |ladder: &str| {
        let steps = steps(&format!("[[ladder]]\n{ladder}\n"), &Overrides { versus: None, ..overrides() });
        let [a, b] = &steps[..] else { panic!("{} steps", steps.len()) };
        let (text, message) = common_label(a, b)?;
        assert_eq!(english(&message), text, "{ladder}");
        Some((text, Language::Chinese.say(&message)))
    };
    for (ladder, shared, chinese) in [
        ("engine = [\"psync\", \"libaio\"]", "4k random read T1 QD1", "4k 随机读 T1 QD1"),
        ("placement = [\"unpinned\", \"cores\"]", "4k random read T1 QD1", "4k 随机读 T1 QD1"),
        ("load = [\"1x1\", \"1x8\"]\nrate_iops = \"500\"", "4k random read T1 at 500/s", "4k 随机读 T1 速率 500/s"),
        // Nothing is known of what both do: the words stand as they are stored.
        ("bs = [\"4k\", \"8k\"]", "random read T1 QD1", "random read T1 QD1"),
        ("rw = [\"read\", \"randwrite\"]", "4k T1 QD1", "4k T1 QD1"),
    ] {
        assert_eq!(common(ladder), Some((shared.to_owned(), chinese.to_owned())), "{ladder}");
    }
    let mut other = samples_of_one();
    let one = other.clone();
    other.label += " (screen)";
    assert_eq!(common_label(&one, &other), None, "a label of another origin has no words");
}

#[test]
fn rounds_and_parts_share_the_title_of_their_loop_or_pass() {
    let text = "[defaults]\nprecondition = \"snia\"\n[[ladder]]\nrw = \"randwrite\"\n";
    let steps = steps(text, &Overrides { versus: None, ..overrides() });
    let titles: BTreeSet<String> = steps.iter().filter_map(loop_message).map(|m| english(&m)).collect();
    let expected = [
        "4k random write T16 QD16",
        "precondition 128k sequential write, pass 1 of 2",
        "precondition 128k sequential write, pass 2 of 2",
    ];
    assert_eq!(titles, expected.map(str::to_owned).into());
    let measured = steps.iter().find(|s| s.phase == Phase::Measure).expect("is there");
    assert_eq!(loop_message(measured), None);
}

#[test]
fn a_workload_is_a_label_without_its_load() {
    let ladder = "[[ladder]]\nload = [\"2x1\", \"2x8\"]\nengine = [\"psync\", \"libaio\"]\nrate_iops = \"500\"\n";
    let steps = steps(ladder, &Overrides { versus: None, ..overrides() });
    assert_eq!(english(&workload_message(&steps[0])), "4k random read at 500/s psync");
    let mut other = samples_of_one();
    other.label = "mine T1 QD1".to_owned();
    assert_eq!(english(&workload_message(&other)), "mine T1 QD1");
}

fn samples_of_one() -> Step {
    steps("", &Overrides { versus: None, ..overrides() }).remove(0)
}

/// Two values of each knob that a label speaks of, and of one that it does not.
const KNOBS: &[(&str, &str)] = &[
    ("rw", r#"["randread", "write"]"#),
    ("rw", r#"["randrw", "randtrim", "trimwrite"]"#),
    ("read_pct", "[100, 70]"),
    ("bs", r#"["512", "128k"]"#),
    ("bssplit", r#"["4k/60:64k/40", "8k"]"#),
    ("load", r#"["1x8", "4x2"]"#),
    ("engine", r#"["libaio", "psync", "io_uring"]"#),
    ("mode", r#"["interrupt", "iopoll", "sqpoll"]"#),
    ("fixedbufs", "[1, 0]"),
    ("registerfiles", "[0, 1]"),
    ("placement", r#"["unpinned", "cores", "smt", "local", "remote", "0-3,8"]"#),
    ("devices", "[1, 2]"),
    ("ranks", "[1, 4]"),
    ("direct", "[1, 0]"),
    ("compress_pct", "[0, 50]"),
    ("dedupe_pct", "[30, 0]"),
    ("size", r#"["1g", "3000000", "20%"]"#),
    ("offset", r#"[0, "1m"]"#),
    ("verify", r#"["none", "crc32c"]"#),
    ("rate_iops", r#"["20k", "333.3", "75%"]"#),
    ("rate_process", r#"["fixed", "poisson"]"#),
    ("random_distribution", r#"["random", "zipf:1.2", "hotspot:90/10"]"#),
    ("norandommap", "[0, 1]"),
    ("iodepth_batch_submit", "[1, 8]"),
    ("iodepth_batch_complete_min", "[1, 2]"),
    ("iodepth_batch_complete_max", "[1, 4]"),
    ("new_files", r#"["written", "allocated", "sparse"]"#),
    ("precondition", r#"["none", "same", "snia", "quick"]"#),
    ("purge", r#"["0", "format"]"#),
    ("randseed", "[1, 2]"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_words_of_any_step_are_its_stored_label(
        chosen in prop::collection::btree_map(0..KNOBS.len(), any::<bool>(), 1..6),
        rounds in any::<bool>(),
    ) {
        let mut text = "[[ladder]]\n".to_owned();
        let mut named = std::collections::BTreeSet::new();
        for (index, whole) in chosen {
            let (key, values) = KNOBS[index];
            if named.insert(key) {
                let first = values.trim_matches(['[', ']']).split(", ").next().unwrap_or_default();
                text += &format!("{key} = {}\n", if whole { values } else { first });
            }
        }
        if rounds {
            text += "rounds = 5\ntrack = { metric = \"iops\" }\n";
        }
        let overrides = Overrides { versus: None, ..overrides() };
        // Combinations that cannot be are refused by name, which other tests look at.
        if let Ok(plan) = parse_study(&text, "mine.toml", &overrides) {
            plan.steps.iter().for_each(check);
        }
    }
}
