//! The page of the articles redone speaks every language of the report: its titles, conditions and reasons are in the
//! phrasebook.

use std::collections::BTreeSet;

use fathom_lab::reproduce::Cells;
use fathom_report::language::Language;

#[test]
fn every_text_about_the_articles_has_its_chinese() {
    let cells = Cells::embedded();
    let titles = cells.pictures.iter().map(|p| &p.title);
    let conditions = cells.cells.iter().filter_map(|c| c.assumed.as_ref());
    let reasons = cells.reasons.iter().chain(&cells.left_out).map(|r| &r.why);
    let texts: BTreeSet<&String> = titles.chain(conditions).chain(reasons).collect();
    assert!(texts.len() > 30, "{texts:?}");

    let book = Language::Chinese.phrasebook().expect("Chinese has a phrasebook");
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let missing: Vec<_> = texts.into_iter().filter(|t| !book.translate(t).is_some_and(|c| is_chinese(&c))).collect();
    assert!(missing.is_empty(), "not in zh.toml: {missing:#?}");

    let law = "bytes per I/O: 3.3e9/420000 against 8192 should give 8192, the ratio is 0.959";
    assert_eq!(
        book.translate(law).as_deref(),
        Some("每 I/O 字节数：3.3e9/420000（相对 8192） 应得 8192，实际之比为 0.959")
    );
}
