//! The report of every study in Chinese: no sentence of its answer, steps or checks is left in English, or half so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::cli::{Place, packed_document};
use serde_json::Value;

/// Sentences of a report and what its page shows for them in Chinese.
fn sentences(page: &str) -> BTreeMap<String, String> {
    serde_json::from_value(packed_document(page)["sentences"]["zh"].take()).expect("a table of sentences")
}

/// The first three words in a row that can be no name or unit, for words of names are joined by other signs.
fn english(text: &str) -> Option<String> {
    let is_word = |w: &str| w.len() > 1 && w.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = text.split(' ').map(|w| w.trim_matches([',', ';', ':', '.', '(', ')'])).collect();
    words.windows(3).find(|w| w.iter().all(|w| is_word(w))).map(|w| w.join(" "))
}

/// All sentences that a reader meets first: answers, evidence, help, caveats, limits, warnings, checks.
fn shown(document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut take = |value: &Value| match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(texts) => out.extend(texts.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => {}
    };
    for verdict in document["verdict"].as_array().expect("verdicts") {
        ["question", "answer", "evidence", "would_help", "caveats"].iter().for_each(|part| take(&verdict[part]));
    }
    for step in document["steps"].as_array().expect("steps") {
        take(&step["warning_texts"]);
        take(&step["limit"]["sentence"]);
        step["checks"].as_array().into_iter().flatten().for_each(|check| take(&check["sentence"]));
    }
    out
}

fn is_chinese_throughout(place: &Place, words: &str) {
    let document = place.json(&format!("run {words} --lang zh --output page.html"), 0);
    let page = fs::read_to_string(place.file("page.html")).expect("a page");
    let book = sentences(&page);
    let mut wrong = BTreeSet::new();
    for (known, chinese) in &book {
        wrong.extend(english(chinese).map(|left| format!("`{left}` of `{known}` is left in `{chinese}`")));
    }
    for text in shown(&document) {
        let is_missing = english(&text).is_some() && !book.contains_key(&text);
        wrong.extend(is_missing.then(|| format!("nothing for `{text}`")));
    }
    // What steps and compared steps are called has its words as well, by the label that the page looks up.
    for part in [&document["steps"], &document["comparison"]["steps"]] {
        let labels = part.as_array().into_iter().flatten().filter_map(|step| step["label"].as_str());
        let loads = labels.filter(|label| label.contains(" random ") || label.contains(" sequential "));
        wrong.extend(loads.filter(|label| !book.contains_key(*label)).map(|label| format!("nothing for `{label}`")));
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(
        wrong.is_empty(),
        "{words}: zh.toml lacks an entry, or another one fits before it:\n  {}",
        wrong.join("\n  ")
    );
    assert!(!book.is_empty(), "{words}: a report without sentences");
}

/// Runs each study in virtual time, within its budget in seconds, and checks its report.
fn chinese(studies: &[(u32, String)]) {
    let place = Place::new();
    for (budget_s, words) in studies {
        is_chinese_throughout(&place, &format!("{words} --time-budget {budget_s}s"));
    }
}

#[test]
fn the_reports_of_all_kinds_of_answers_are_chinese_throughout() {
    let one = "sim:r740xd/pm1725-0";
    chinese(&[
        (10, format!("quick --target {one} --predict")),
        (15, format!("qos --target {one} --set latency_goal=p99<=200us")),
        (10, format!("tune --target {one} --versus engine=libaio")),
        (30, format!("enterprise --group left={one} --group right=sim:r740xd/pm1725-1")),
        (12, format!("snia-latency --target {one}")),
    ]);
}

#[test]
#[ignore = "test-all: the other studies have the same kinds of answers"]
fn the_reports_of_all_other_studies_are_chinese_throughout() {
    let drive = |n: u32| format!("sim:r740xd/pm1725-{n}");
    let (one, two) = (drive(0), drive(1));
    let both = format!("--target {one} --target {two}");
    // Budgets in virtual time: what each study needs at least, and a little more.
    chinese(&[
        (10, format!("baseline --target {one}")),
        (10, format!("engines --target {one}")),
        (80, format!("pinning --target {one}")),
        (15, format!("enterprise --target {one}")),
        (10, format!("scaling {both} --set devices=[1,2]")),
        (65, format!("snia-iops --target {one}")),
        (10, format!("snia-throughput --target {one}")),
        (10, format!("snia-wsat --target {one}")),
    ]);
}
