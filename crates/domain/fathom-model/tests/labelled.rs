//! Attribution against cases whose truth is known: machines of operational terms, with noise.
//!
//! The matrix of truths and answers is kept in `docs/ATTRIBUTION.md`; write it again with `FATHOM_BLESS=1`.

#[path = "labelled/cases.rs"]
mod cases;
#[path = "labelled/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::path::Path;

use fathom_model::{Confidence, LimitName};

/// Cases for each name of a limit.
const CASES_PER_NAME: u64 = 30;

#[test]
fn at_least_95_of_100_labelled_cases_are_named_right_and_most_others_are_unknown() {
    let mut matrix: BTreeMap<(LimitName, LimitName), u32> = BTreeMap::new();
    let (mut right, mut unknown, mut all, mut confirmed_wrong) = (0, 0, 0, Vec::new());
    for truth in LimitName::ALL {
        for seed in 0..CASES_PER_NAME {
            let answer = cases::answer(truth, seed);
            *matrix.entry((truth, answer.name)).or_default() += 1;
            all += 1;
            if answer.name == truth {
                right += 1;
            } else if answer.name == LimitName::Unknown {
                unknown += 1;
            } else if answer.confidence == Confidence::Confirmed {
                confirmed_wrong.push(format!("{truth:?} seed {seed}: {}", answer.sentence()));
            }
        }
    }
    keep(&matrix, right, unknown, all);
    assert!(all >= 300);
    assert!(f64::from(right) >= 0.95 * f64::from(all), "{right} of {all}; confirmed but wrong: {confirmed_wrong:#?}");
    let wrong = all - right - unknown;
    assert!(wrong <= unknown.max(all / 100), "{wrong} wrong, {unknown} unknown: {confirmed_wrong:#?}");
}

/// Writes the matrix, or compares it with what is written.
fn keep(matrix: &BTreeMap<(LimitName, LimitName), u32>, right: u32, unknown: u32, all: u32) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/ATTRIBUTION.md");
    let text = page(matrix, right, unknown, all);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, &text).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("docs/ATTRIBUTION.md is there");
    assert_eq!(kept, text, "docs/ATTRIBUTION.md is not what the test finds: FATHOM_BLESS=1 writes it again");
}

fn page(matrix: &BTreeMap<(LimitName, LimitName), u32>, right: u32, unknown: u32, all: u32) -> String {
    let mut text = String::from(
        "# Attribution: how often it is right\n\n\
         Made by `cargo test -p fathom-model --test labelled` (`FATHOM_BLESS=1` writes it again): seeded machines of operational\n\
         terms, where one part lies at least 20 % below the next, with noise on IOPS and counters and with probes missing at\n\
         random. Rows are the truth, columns the answer.\n\n| truth |",
    );
    for name in LimitName::ALL {
        text.push_str(&format!(" {} |", name.as_str()));
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(LimitName::ALL.len()));
    for truth in LimitName::ALL {
        text.push_str(&format!("\n| **{}** |", truth.as_str()));
        for answer in LimitName::ALL {
            match matrix.get(&(truth, answer)) {
                Some(n) => text.push_str(&format!(" {n} |")),
                None => text.push_str(" |"),
            }
        }
    }
    let share = f64::from(right) / f64::from(all) * 100.0;
    let wrong = all - right - unknown;
    text.push_str(&format!("\n\n{right} of {all} right ({share:.1} %), {unknown} unknown, {wrong} wrong.\n"));
    text
}
