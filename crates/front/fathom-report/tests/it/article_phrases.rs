//! The page of the articles redone speaks every language of the report: what their files say has its Chinese.

use std::collections::BTreeSet;

use fathom_lab::reproduce::Cells;

#[test]
fn every_text_about_the_articles_has_its_chinese_and_no_other_has() {
    let cells = Cells::embedded();
    let titles = cells.pictures.iter().map(|p| &p.title);
    let conditions = cells.cells.iter().filter_map(|c| c.assumed.as_ref());
    let reasons = cells.reasons.iter().chain(&cells.left_out).map(|r| &r.why);
    let texts: BTreeSet<String> = titles.chain(conditions).chain(reasons).cloned().collect();
    assert!(texts.len() > 30, "{texts:?}");

    let table: toml::Table = include_str!("../../src/articles.zh.toml").parse().expect("a table");
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    assert!(table.values().all(|chinese| chinese.as_str().is_some_and(is_chinese)));
    assert_eq!(table.keys().cloned().collect::<BTreeSet<_>>(), texts);
}
