//! The report as one HTML file: the viewer built from `web/`, the document packed inside, and a static page for readers
//! without scripts. The viewer replaces the static page; nothing is asked from the network.

mod columns;
mod packed;
mod static_page;

use std::fmt::{self, Display, Write as _};
use std::io;

use fathom_judge::document::{Comparison, Document};
use fathom_lab::reproduce::Reproduction;
use fathom_language::{Language, steers_terminal};
use fathom_message::{Arg, Join, msg};
use serde::Serialize;
use serde_json::Value;

use crate::words::{Sentences, add_article_texts, in_words, sentences};
use static_page::{Words, static_comparison, static_page, static_reproduction};

/// The viewer with its three slots; `build.rs` has checked that each is there once.
const VIEWER: &str = include_str!(env!("FATHOM_VIEWER"));

const TITLE: &str = "<title>Fathom</title>";
const STATIC: &str = "<!--fathom-static-->";
const DOCUMENT: &str = "<!--fathom-document-->";

/// Writes the report of `doc`: one file that needs nothing else. It opens in `language`; the reader may change it.
///
/// # Errors
/// Whatever `out` fails with.
pub fn render_html(doc: &Document, language: Language, out: &mut dyn io::Write) -> io::Result<()> {
    let content = Content::of(doc, language)?;
    let words = content.words();
    let title = words.say(&msg!("report-run-title", run = doc.run.id.to_string(), study = &doc.run.study));
    write_page(&title, &static_page(doc, &words), &content, out)
}

/// Writes the report of a comparison, as [`render_html`] does that of a run.
///
/// # Errors
/// Whatever `out` fails with.
pub fn render_comparison(comparison: &Comparison, language: Language, out: &mut dyn io::Write) -> io::Result<()> {
    let content = Content::of(comparison, language)?;
    let words = content.words();
    let sides = Arg::list(comparison.sides.iter().map(|side| side.title.clone()), Join::Comma);
    let title = words.say(&msg!("report-comparison-title", sides = sides));
    write_page(&title, &static_comparison(comparison, &words), &content, out)
}

/// Writes the report of the articles redone, as [`render_html`] does that of a run.
///
/// # Errors
/// Whatever `out` fails with.
pub fn render_reproduction(reproduction: &Reproduction, language: Language, out: &mut dyn io::Write) -> io::Result<()> {
    let mut content = Content::of(reproduction, language)?;
    add_article_texts(&mut content.sentences);
    let words = content.words();
    let title = words.say(&msg!("report-reproduction-title"));
    write_page(&title, &static_reproduction(reproduction, &words), &content, out)
}

/// A document in English with its sentences in the other languages.
#[derive(Serialize)]
struct Content {
    #[serde(flatten)]
    document: Value,
    lang: Language,
    sentences: Sentences,
}

impl Content {
    fn of(value: &impl Serialize, language: Language) -> io::Result<Content> {
        let mut document = in_words(value, Language::English)?;
        let mut sentences = sentences(value, &document)?;
        each_text(&mut document, &harmless);
        for known in sentences.values_mut() {
            *known = std::mem::take(known).iter().map(|(text, other)| (harmless(text), harmless(other))).collect();
        }
        packed::trim(&mut document);
        columns::by_column(&mut document);
        Ok(Content { document, lang: language, sentences })
    }

    fn words(&self) -> Words<'_> {
        Words::of(self.lang, &self.sentences)
    }
}

fn write_page(title: &str, page: &str, content: &Content, out: &mut dyn io::Write) -> io::Result<()> {
    let (head, rest) = VIEWER.split_once(TITLE).expect("build.rs saw the slot of the title");
    let (before, rest) = rest.split_once(STATIC).expect("build.rs saw the slot of the static page");
    let (between, tail) = rest.split_once(DOCUMENT).expect("build.rs saw the slot of the document");
    write!(out, "{head}<title>{}</title>{before}", Escaped(title))?;
    out.write_all(page.as_bytes())?;
    out.write_all(between.as_bytes())?;
    packed::write(content, out)?;
    out.write_all(tail.as_bytes())
}

/// Names come from files, drives and other programs: what would steer a terminal turns the text of a page round as well.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if steers_terminal(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Puts what `changed` makes of it in place of every text; the names of fields stay.
fn each_text(value: &mut Value, changed: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = changed(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, changed)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, changed)),
        _ => {}
    }
}

/// Text as HTML shows it, in elements and in quoted attributes. What would steer a terminal is replaced.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ if steers_terminal(c) => f.write_char(char::REPLACEMENT_CHARACTER)?,
                _ => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// A document of `labels.len()` steps; the last one is refused when `reason` is given.
    fn document(labels: &[&str], reason: Option<&str>) -> Document {
        let steps: Vec<Value> = labels.iter().enumerate().map(|(i, label)| step(i, label)).collect();
        let mut doc = json!({
            "fathom": "0.1.0", "schema": 1, "host": {}, "steps": steps,
            "run": {
                "id": 7, "study": "quick", "question": "How fast?", "state": "finished", "started": "2026-11-21T02:03:04Z",
                "finished": null, "elapsed_s": null, "command": "fathom run quick", "fio_commands": [],
                "plan": { "study": { "name": "quick", "question": "How fast?" }, "source": "", "steps": [], "notes": [] }
            },
            "verdict": [{ "question": "How fast?", "answer": "541k reads a second.", "evidence": ["One core gives 183k."],
                "would_help": [], "caveats": [], "figures": [] }]
        });
        if let (Some(reason), Some(last)) = (reason, doc["steps"].as_array_mut().and_then(|s| s.last_mut())) {
            last["state"] = json!("refused");
            last["reason"] = json!(reason);
        }
        serde_json::from_value(doc).expect("the document has the shape of the type")
    }

    fn step(index: usize, label: &str) -> Value {
        let lat = json!({
            "samples": 20_000, "mean": 168_000.0, "stddev": 9000.0, "min": 1, "max": 900_000, "p50": 160_000, "p90": 190_000,
            "p95": 200_000, "p99": 310_000, "p99.9": null, "p99.99": null, "p99.999": null, "ci95": {},
            "needs": { "p99.9": { "ios": 80_000, "seconds": 40.0 } }
        });
        let mut step = json!({
            "index": index, "label": label, "phase": "measure", "group": "A", "targets": ["./f"], "state": "measured",
            "engine": "io_uring", "mode": "interrupt", "placement": "unpinned", "cpus": [], "op": "randread", "read_pct": 100,
            "pattern": "random", "block_size_bytes": 4096, "direct": true, "threads": 1, "queue_depth": 32, "devices": 1,
            "runtime_s": 4.0, "setup_ms": 9.0, "ios": 20_000, "errors": 0, "iops": 183_000.0, "iops_ci95": [182_000.0, 184_000.0],
            "bytes_per_s": 749_568_000.0, "lat_ns": lat
        });
        let rest = json!({
            "limit": { "name": "queue_depth", "confidence": "likely", "sentence": "", "evidence": [] }, "percentile_curve": [],
            "series": { "start_s": [], "iops": [], "p50_ns": [], "p99_ns": [], "cpu_busy": [] },
            "checks": [], "features": [], "workers": [], "failures": [], "warnings": [], "warning_texts": []
        });
        let fields = step.as_object_mut().expect("an object");
        fields.extend(rest.as_object().expect("an object").clone());
        step
    }

    fn page_of(doc: &Document) -> String {
        static_page(doc, &Words::of(Language::English, &Sentences::new()))
    }

    fn rendered(doc: &Document) -> String {
        let mut out = Vec::new();
        render_html(doc, Language::English, &mut out).expect("a Vec takes everything");
        String::from_utf8(out).expect("reports are UTF-8")
    }

    /// What a browser hands the viewer: the text of the script element that holds the document, unpacked, its steps one by one.
    fn embedded(html: &str) -> String {
        let (_, rest) = html.split_once("id=\"fathom-document\">").expect("the element is there");
        let text = packed::opened(rest.split_once("</script>").expect("the element ends").0);
        let mut document = serde_json::from_str(&text).expect("the embedded text is JSON");
        columns::by_record(&mut document);
        document.to_string()
    }

    const HOSTILE: &str = "</script><script>alert(1)</script><!-- \"'&\u{2028}\u{2029} </title>";

    #[test]
    fn the_document_in_the_page_is_the_document() {
        let doc = document(&["4k random read T1 QD32", "second"], None);
        let back: Document = serde_json::from_str(&embedded(&rendered(&doc))).expect("the embedded text is JSON");
        assert_eq!(back, doc);
    }

    #[test]
    fn hostile_labels_stay_text() {
        let mut doc = document(&[HOSTILE], Some(HOSTILE));
        doc.run.study = HOSTILE.to_owned();
        doc.verdict[0].answer = fathom_message::Message::verbatim(HOSTILE);
        let html = rendered(&doc);
        assert!(!html.contains("alert(1)</script>"));
        assert_eq!(html.matches("</script>").count(), VIEWER.matches("</script>").count());
        let back: Document = serde_json::from_str(&embedded(&html)).expect("the embedded text is JSON");
        assert_eq!(back, doc);
        assert!(html.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    }

    #[test]
    fn names_neither_steer_a_terminal_nor_turn_the_text_round() {
        let name = "a\u{1b}]0;t\u{7}\u{202e}b\u{2066}\t随机读";
        let mut doc = document(&[name], Some(name));
        doc.run.study = name.to_owned();
        let html = rendered(&doc);
        let document = embedded(&html);
        assert!(!html.chars().any(steers_terminal));
        let back: Document = serde_json::from_str(&document).expect("the embedded text is JSON");
        assert_eq!(back.run.study, "a\u{fffd}]0;t\u{fffd}\u{fffd}b\u{fffd}\t随机读");
        assert_eq!(back.steps[0].label, back.run.study);
        assert!(html.contains(&back.run.study), "on the page without scripts");
    }

    #[test]
    fn without_scripts_the_page_shows_verdict_and_steps_with_their_load() {
        let page = page_of(&document(&["4k random read", "refused one"], Some("no O_DIRECT")));
        for text in [
            "<h1>541k reads a second.</h1>",
            "One core gives 183k.",
            "183k",
            "±0.546 %",
            "750 MB/s (715 MiB/s)",
            "310 us",
        ] {
            assert!(page.contains(text), "{text} is missing in {page}");
        }
        assert!(page.contains("<td class=\"num\">1</td><td class=\"num\">32</td>"));
        assert!(page.contains("needs 40 s more"));
        assert!(page.contains("refused: no O_DIRECT"));
    }

    #[test]
    fn the_title_names_the_run() {
        assert!(rendered(&document(&["a"], None)).contains("<title>Fathom run 7: quick</title>"));
    }

    #[test]
    fn the_viewer_asks_nothing_of_the_network() {
        assert!(VIEWER.contains("default-src 'none'"));
        for tag in ["<script src", "<link rel=\"stylesheet\"", "<img", "@import"] {
            assert!(!VIEWER.contains(tag), "{tag}");
        }
    }

    proptest! {
        #[test]
        fn any_label_comes_back_from_the_page(label in "\\PC*") {
            let doc = document(&[&label], Some(&label));
            let html = rendered(&doc);
            let back: Document = serde_json::from_str(&embedded(&html)).unwrap();
            prop_assert_eq!(back, doc);
        }
    }
}
