//! The page without scripts: verdict and all steps, so that the report can be read anywhere.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use fathom_lab::compare::{ComparedStep, Comparison};
use fathom_lab::document::{Document, LatencyView, StepView};
use fathom_lab::reproduce::{FigureRow, Reproduction};
use fathom_units::{format_iops, format_ns, format_rate, format_significant};

use super::Escaped;
use crate::language::{Language, Phrasebook};

/// The sentences of a document, and the words of the page itself, in one language.
pub(super) struct Words<'a> {
    known: Option<&'a BTreeMap<&'a str, String>>,
    book: Option<&'static Phrasebook>,
}

impl<'a> Words<'a> {
    /// The words for `language` out of all translations.
    pub(super) fn of(language: Language, all: &'a BTreeMap<&'static str, BTreeMap<&'a str, String>>) -> Words<'a> {
        Words { known: all.get(language.code()), book: language.phrasebook() }
    }

    /// A word of the page itself in its language.
    pub(super) fn own(&self, word: &str) -> String {
        self.book.and_then(|book| book.translate(word)).unwrap_or_else(|| word.to_owned())
    }

    /// The sentence in the language of the page; as it stands where there is no other.
    fn say<'s>(&'s self, sentence: &'s str) -> &'s str {
        self.known.and_then(|known| known.get(sentence)).map_or(sentence, String::as_str)
    }
}

/// Verdict, figures and all steps without any script.
pub(super) fn static_page(doc: &Document, words: &Words<'_>) -> String {
    let mut page = String::new();
    write_static(doc, words, &mut page).expect("a String takes everything");
    page
}

fn write_static(doc: &Document, words: &Words<'_>, page: &mut String) -> fmt::Result {
    write!(page, "<main><section>")?;
    for verdict in &doc.verdict {
        let (question, answer) = (words.say(&verdict.question), words.say(&verdict.answer));
        write!(page, "<p class=\"question\">{}</p><h1>{}</h1>", Escaped(question), Escaped(answer))?;
        write_list(page, words, verdict.evidence.iter().chain(&verdict.would_help).chain(&verdict.caveats))?;
    }
    if doc.verdict.is_empty() {
        write!(page, "<h1>{}</h1>", Escaped(words.say(&doc.run.question)))?;
    }
    write!(
        page,
        "<p class=\"static-facts\">{} · {} · {} · {} · {}</p></section>",
        Escaped(&words.own(&format!("Fathom run {}: {}", doc.run.id, doc.run.study))),
        Escaped(&doc.run.started),
        Escaped(&words.own(&doc.run.state)),
        words.own(&format!("{} steps", doc.steps.len())),
        Escaped(&doc.run.command)
    )?;
    write!(page, "<section><h2>{}</h2><div class=\"scroll\"><table><thead><tr>", words.own("All steps"))?;
    for (name, class) in COLUMNS {
        write!(page, "<th scope=\"col\" class=\"{class}\">{}</th>", words.own(name))?;
    }
    write!(page, "</tr></thead><tbody>")?;
    for step in &doc.steps {
        write_row(page, words, step)?;
    }
    write!(page, "</tbody></table></div></section></main>")
}

const COLUMNS: [(&str, &str); 11] = [
    ("Step", ""),
    ("T", "num"),
    ("QD", "num"),
    ("IOPS", "num"),
    ("±95 %", "num"),
    ("MB/s (MiB/s)", "num"),
    ("mean", "num"),
    ("p50", "num"),
    ("p99", "num"),
    ("p99.9", "num"),
    ("limited by", ""),
];

fn write_list<'a>(page: &mut String, words: &Words<'_>, items: impl Iterator<Item = &'a String>) -> fmt::Result {
    write!(page, "<ul>")?;
    for item in items {
        write!(page, "<li>{}</li>", Escaped(words.say(item)))?;
    }
    write!(page, "</ul>")
}

fn write_row(page: &mut String, words: &Words<'_>, step: &StepView) -> fmt::Result {
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td>",
        Escaped(words.say(&step.label)),
        step.threads,
        step.queue_depth
    )?;
    if let Some(reason) = &step.reason {
        return write!(
            page,
            "<td colspan=\"8\">{}: {} {}</td></tr>",
            Escaped(&words.own(&step.state)),
            Escaped(words.say(reason)),
            Escaped(words.say(step.help.as_deref().unwrap_or_default()))
        );
    }
    let lat = step.lat_ns.as_ref();
    let cells = [
        format_iops(step.iops),
        step.iops_ci95.map_or_else(String::new, |ci| half_width(ci, step.iops)),
        format_rate(step.bytes_per_s),
        lat.map_or_else(String::new, |l| format_ns(l.mean)),
        quantile(words, lat, "p50", |l| l.p50),
        quantile(words, lat, "p99", |l| l.p99),
        quantile(words, lat, "p99.9", |l| l.p99_9),
    ];
    for cell in cells {
        write!(page, "<td class=\"num\">{}</td>", Escaped(&cell))?;
    }
    write!(page, "<td>{}</td></tr>", Escaped(&limit_word(words, &step.limit.name)))
}

/// `±0.41 %`; empty for a rate of 0.
fn half_width(ci: [f64; 2], mean: f64) -> String {
    if mean > 0.0 { format!("±{} %", format_significant((ci[1] - ci[0]) / 2.0 / mean * 100.0)) } else { String::new() }
}

/// The quantile, or what it would take to know it.
fn quantile(
    words: &Words<'_>,
    lat: Option<&LatencyView>,
    name: &str,
    of: impl Fn(&LatencyView) -> Option<u64>,
) -> String {
    let Some(lat) = lat else { return String::new() };
    match (of(lat), lat.needs.get(name)) {
        (Some(ns), _) => format_ns(ns as f64),
        (None, Some(need)) => words.own(&format!("needs {} s more", format_significant(need.seconds))),
        (None, None) => String::new(),
    }
}

/// The ratios of a comparison without any script.
pub(super) fn static_comparison(comparison: &Comparison, words: &Words<'_>) -> String {
    let mut page = String::new();
    write_comparison(comparison, words, &mut page).expect("a String takes everything");
    page
}

fn write_comparison(c: &Comparison, words: &Words<'_>, page: &mut String) -> fmt::Result {
    write!(page, "<main><section><h1>{}</h1>", Escaped(words.say(&c.answer)))?;
    write_list(page, words, c.caveats.iter())?;
    write!(page, "<h2>{}</h2><div class=\"scroll\"><table><thead><tr><th></th>", words.own("What else differs"))?;
    for side in &c.sides {
        write!(page, "<th scope=\"col\">{}</th>", Escaped(&side.title))?;
    }
    write!(page, "</tr></thead><tbody>")?;
    for difference in &c.environment {
        write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(words.say(&difference.what)))?;
        for value in &difference.values {
            write!(
                page,
                "<td>{}</td>",
                Escaped(value.as_ref().map_or_else(|| words.own("not known"), String::clone).as_str())
            )?;
        }
        write!(page, "</tr>")?;
    }
    write!(
        page,
        "</tbody></table></div></section><section><h2>{}</h2><div class=\"scroll\">",
        words.own("All compared steps")
    )?;
    write!(page, "<table><thead><tr>")?;
    for (name, class) in COMPARED {
        write!(page, "<th scope=\"col\" class=\"{class}\">{}</th>", words.own(name))?;
    }
    write!(page, "</tr></thead><tbody>")?;
    for step in &c.steps {
        write_compared(page, words, step)?;
    }
    write!(page, "</tbody></table></div></section></main>")
}

const COMPARED: [(&str, &str); 6] =
    [("Step", ""), ("side", ""), ("figure", ""), ("ratio", "num"), ("95 %", "num"), ("verdict", "")];

/// A limit as a word: by its name in the phrasebook, else with spaces.
fn limit_word(words: &Words<'_>, name: &str) -> String {
    match words.own(name) {
        same if same == name => name.replace('_', " "),
        own => own,
    }
}

/// The articles redone, without any script.
pub(super) fn static_reproduction(r: &Reproduction, words: &Words<'_>) -> String {
    let mut page = String::new();
    write_reproduction(r, words, &mut page).expect("a String takes everything");
    page
}

const REPRODUCED: [(&str, &str); 5] =
    [("figure", ""), ("published", "num"), ("predicted", "num"), ("error", "num"), ("remarks", "")];

fn write_reproduction(r: &Reproduction, words: &Words<'_>, page: &mut String) -> fmt::Result {
    let s = &r.summary;
    let answer = format!("{} of {} published figures come out within 10 %.", s.within_10_pct, s.figures);
    let held_out = format!(
        "{} of the {} figures that nothing was fitted to come out within 15 %.",
        s.held_out_within_15_pct, s.held_out
    );
    write!(page, "<main><section><p class=\"question\">{}</p>", words.own(SIMULATED))?;
    write!(page, "<h1>{}</h1><p>{}</p></section>", words.own(&answer), words.own(&held_out))?;
    write!(page, "<section><h2>{}</h2>", words.own("All figures"))?;
    for article in &r.articles {
        write!(page, "<h3>{}</h3><div class=\"scroll\"><table><thead><tr>", Escaped(&article.title))?;
        for (name, class) in REPRODUCED {
            write!(page, "<th scope=\"col\" class=\"{class}\">{}</th>", words.own(name))?;
        }
        write!(page, "</tr></thead><tbody>")?;
        for row in r.figures.iter().filter(|f| f.article == article.id) {
            write_figure(page, words, row)?;
        }
        write!(page, "</tbody></table></div>")?;
    }
    write!(page, "</section></main>")
}

/// Said before anything else on the page of the articles.
const SIMULATED: &str = "Every predicted figure was simulated in virtual time; none was measured here.";

fn write_figure(page: &mut String, words: &Words<'_>, row: &FigureRow) -> fmt::Result {
    let mut remarks = Vec::new();
    if row.fitted {
        remarks.push(words.own("fitted"));
    }
    if let Some(why) = &row.contradiction {
        remarks.push(format!("{}: {}", words.own("contradicts other figures of its article"), words.say(why)));
    }
    remarks.extend(row.reason.as_ref().map(|reason| words.say(reason).to_owned()));
    let published = match row.published_max {
        Some(max) => format!("{} – {}", format_significant(row.published), format_significant(max)),
        None => format_significant(row.published),
    };
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{} {}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>",
        Escaped(&row.id),
        Escaped(&published),
        Escaped(&row.unit),
        Escaped(&row.predicted.map_or_else(String::new, format_significant)),
        Escaped(&row.error_pct.map_or_else(String::new, |e| format!("{e:+.1} %"))),
        Escaped(&remarks.join("; "))
    )
}

fn write_compared(page: &mut String, words: &Words<'_>, step: &ComparedStep) -> fmt::Result {
    let ratio = step.ratio.map_or_else(String::new, |r| format!("{r:.3}"));
    let ci = step.ci95.map_or_else(String::new, |[lo, hi]| format!("{lo:.3} to {hi:.3}"));
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"num\">{ratio}</td><td class=\"num\">{ci}</td><td>{}</td></tr>",
        Escaped(words.say(&step.label)),
        Escaped(&step.side),
        Escaped(&words.own(&step.metric.replace('_', " "))),
        Escaped(&words.own(&step.verdict))
    )
}
