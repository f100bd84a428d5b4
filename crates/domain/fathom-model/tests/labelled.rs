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

/// An answer said with less leaves room for another.
const SAID_FROM: f64 = 0.6;

/// How the answers fared.
#[derive(Default)]
struct Score {
    matrix: BTreeMap<(LimitName, LimitName), u32>,
    all: u32,
    right: u32,
    unknown: u32,
    /// Wrong, and said with less than `SAID_FROM`.
    likely: u32,
    /// Said with nine in ten or more, and how many of them were wrong.
    sure: u32,
    sure_wrong: Vec<String>,
}

#[test]
fn at_least_95_of_100_labelled_cases_are_named_right_and_most_others_are_unknown_or_likely() {
    let mut score = Score::default();
    for truth in drawn() {
        for seed in 0..CASES_PER_NAME {
            let answer = cases::answer(truth, seed);
            *score.matrix.entry((truth, answer.name)).or_default() += 1;
            score.all += 1;
            let probability = answer.probability.unwrap_or(0.0);
            let is_right = answer.name == truth;
            score.right += u32::from(is_right);
            score.unknown += u32::from(!is_right && answer.name == LimitName::Unknown);
            score.likely += u32::from(!is_right && answer.name != LimitName::Unknown && probability < SAID_FROM);
            score.sure += u32::from(probability >= Confidence::CONFIRMED_FROM);
            if !is_right && probability >= Confidence::CONFIRMED_FROM {
                score.sure_wrong.push(format!("{truth:?} seed {seed}: {}", answer.sentence()));
            }
        }
    }
    keep(&score);
    let Score { all, right, unknown, likely, sure, ref sure_wrong, .. } = score;
    assert!(all >= 300);
    assert!(f64::from(right) >= 0.95 * f64::from(all), "{right} of {all}; sure but wrong: {sure_wrong:#?}");
    assert!(sure_wrong.len() as f64 <= 0.02 * f64::from(sure), "{sure} sure: {sure_wrong:#?}");
    let wrong = all - right - unknown - likely;
    // What is said with 60 to 90 % may be wrong now and then: that is what it says.
    assert!(wrong <= all / 50, "{wrong} wrong, {unknown} unknown, {likely} likely: {sure_wrong:#?}");
}

/// The names that cases are drawn for. Whether the flush, the network, the server or its client hold most of the time is
/// arithmetic on the record itself: cases drawn for them would repeat the rule.
fn drawn() -> impl Iterator<Item = LimitName> {
    answers().filter(|name| *name != LimitName::Flush)
}

/// The names that can be the answer where all files are on this host.
fn answers() -> impl Iterator<Item = LimitName> {
    let others = [LimitName::Network, LimitName::Server, LimitName::Client];
    LimitName::ALL.into_iter().filter(move |name| !others.contains(name))
}

/// Writes the matrix, or compares it with what is written.
fn keep(score: &Score) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/ATTRIBUTION.md");
    let text = page(score);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, &text).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("docs/ATTRIBUTION.md is there");
    assert_eq!(kept, text, "docs/ATTRIBUTION.md is not what the test finds: FATHOM_BLESS=1 writes it again");
}

fn page(score: &Score) -> String {
    let Score { matrix, all, right, unknown, likely, sure, sure_wrong } = score;
    let mut text = String::from(
        "# Attribution: how often it is right\n\n\
         Made by `cargo test -p fathom-model --test labelled` (`FATHOM_BLESS=1` writes it again): seeded machines of operational\n\
         terms, where one part lies at least 20 % below the next, with noise on IOPS and counters and with probes missing at\n\
         random. Rows are the truth, columns the answer.\n\n| truth |",
    );
    for name in answers() {
        text.push_str(&format!(" {} |", name.as_str()));
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(answers().count()));
    for truth in drawn() {
        text.push_str(&format!("\n| **{}** |", truth.as_str()));
        for answer in answers() {
            match matrix.get(&(truth, answer)) {
                Some(n) => text.push_str(&format!(" {n} |")),
                None => text.push_str(" |"),
            }
        }
    }
    let share = f64::from(*right) / f64::from(*all) * 100.0;
    let wrong = all - right - unknown - likely;
    text.push_str(&format!(
        "\n\n{right} of {all} right ({share:.1} %), {unknown} unknown, {likely} said with less than {:.0} %, {wrong} wrong.\n\
         Said with {:.0} % or more: {sure}, {} of them wrong.\n",
        SAID_FROM * 100.0,
        Confidence::CONFIRMED_FROM * 100.0,
        sure_wrong.len()
    ));
    text
}
