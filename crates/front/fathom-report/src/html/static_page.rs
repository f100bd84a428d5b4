//! The page without scripts: verdict and all steps, so that the report can be read anywhere.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use fathom_judge::document::{
    Brief, ComparedFigure, ComparedStep, Comparison, Document, LatencyView, Speed, StepState, StepView,
};
use fathom_lab::reproduce::{FigureRow, Reproduction};
use fathom_language::{Language, with_unit};
use fathom_message::{Message, Quantity, Unit, msg};
use fathom_model::LimitName;
use fathom_plan::LoadPart;
use fathom_record::RunState;
use fathom_units::{format_iops, format_ns, format_rate, format_significant};

use super::Escaped;
use crate::words::Sentences;

/// Messages in the language of the page; texts that are names, or data of an article, by the sentences of its document.
pub(super) struct Words<'a> {
    language: Language,
    known: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Words<'a> {
    /// The words for `language`.
    pub(super) fn of(language: Language, sentences: &'a Sentences) -> Words<'a> {
        Words { language, known: sentences.get(language.code()) }
    }

    /// The message in the language of the page.
    pub(super) fn say(&self, message: &Message) -> String {
        message.as_verbatim().map_or_else(|| self.language.say(message), |text| self.text(text).to_owned())
    }

    /// Colon between a word and its explanation.
    fn colon(&self) -> &'static str {
        match self.language {
            Language::English => ": ",
            Language::Chinese => "：",
        }
    }

    /// The text in the language of the page; as it stands where there is no other.
    fn text<'s>(&'s self, text: &'s str) -> &'s str {
        self.known.and_then(|known| known.get(text)).map_or(text, String::as_str)
    }
}

/// Verdict, figures and all steps without any script.
pub(super) fn static_page(doc: &Document, words: &Words<'_>) -> String {
    let mut page = String::new();
    write_static(doc, words, &mut page).expect("a String takes everything");
    page
}

/// The small table of an answer.
fn write_brief(page: &mut String, brief: &Brief, words: &Words<'_>) -> fmt::Result {
    write!(page, "<table class=\"brief\">")?;
    for row in &brief.rows {
        write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(&words.say(&row.name)))?;
        for cell in &row.cells {
            write!(page, "<td>{}</td>", Escaped(&words.say(cell)))?;
        }
        write!(page, "</tr>")?;
    }
    write!(page, "</table>")
}

fn write_static(doc: &Document, words: &Words<'_>, page: &mut String) -> fmt::Result {
    write!(page, "<main><section>")?;
    for verdict in &doc.verdict {
        let (question, answer) = (words.say(&verdict.question), words.say(&verdict.answer));
        let headline = words.say(&verdict.brief.headline);
        // Documents of older versions have the answer in full alone.
        let first = if headline.is_empty() { &answer } else { &headline };
        write!(page, "<p class=\"question\">{}</p><h1>{}</h1>", Escaped(&question), Escaped(first))?;
        if !headline.is_empty() {
            write_brief(page, &verdict.brief, words)?;
            write!(page, "<p>{}</p>", Escaped(&answer))?;
        }
        let items = verdict.evidence.iter().chain(&verdict.would_help).chain(&verdict.caveats);
        write_list(page, items.map(|item| words.say(item)))?;
    }
    if let Some(trust) = &doc.trust {
        let reasons: Vec<String> = trust.reasons.iter().map(|reason| words.say(reason)).collect();
        let (label, level) = (words.say(&msg!("report-trust")), words.say(&trust.level.message()));
        let separator = if reasons.is_empty() { "" } else { words.colon() };
        write!(page, "<p><b>{label}</b> {level}{separator}{}</p>", Escaped(&reasons.join("; ")))?;
    }
    if doc.verdict.is_empty() {
        write!(page, "<h1>{}</h1>", Escaped(&words.say(&doc.run.question)))?;
    }
    let date = doc.run.started.clone().unwrap_or_else(|| words.say(&msg!("report-date-unknown")));
    write!(
        page,
        "<p class=\"static-facts\">{} · {} · {} · {} · {}</p></section>",
        Escaped(&words.say(&msg!("report-run-title", run = doc.run.id.to_string(), study = &doc.run.study))),
        Escaped(&date),
        Escaped(&words.say(&run_state_message(doc.run.state))),
        Escaped(&words.say(&msg!("report-steps", steps = doc.steps.len()))),
        Escaped(&doc.run.command)
    )?;
    write!(page, "<section><h2>{}</h2><div class=\"scroll\"><table><thead><tr>", words.say(&msg!("report-all-steps")))?;
    write_heads(page, words, &columns())?;
    write!(page, "</tr></thead><tbody>")?;
    for step in &doc.steps {
        write_row(page, words, step)?;
    }
    write!(page, "</tbody></table></div></section></main>")
}

/// Heads of a table: words and class of the column.
type Heads = Vec<(Message, &'static str)>;

fn columns() -> Heads {
    let name = Message::verbatim;
    vec![
        (msg!("report-column-step"), ""),
        (name("T"), "num"),
        (name("QD"), "num"),
        (name("IOPS"), "num"),
        (name("±95 %"), "num"),
        (name("MB/s (MiB/s)"), "num"),
        (msg!("report-column-mean"), "num"),
        (name("p50"), "num"),
        (name("p99"), "num"),
        (name("p99.9"), "num"),
        (msg!("report-column-limit"), ""),
    ]
}

fn write_heads(page: &mut String, words: &Words<'_>, heads: &Heads) -> fmt::Result {
    heads.iter().try_for_each(|(name, class)| {
        write!(page, "<th scope=\"col\" class=\"{class}\">{}</th>", Escaped(&words.say(name)))
    })
}

/// The label of a step in words; documents of older versions have its name alone.
fn title(words: &Words<'_>, step: &StepView) -> String {
    match step.label_message.as_verbatim() {
        Some("") => words.text(&step.label).to_owned(),
        _ => words.say(&step.label_message),
    }
}

/// The state of a run.
fn run_state_message(state: RunState) -> Message {
    match state {
        RunState::Running => msg!("report-state-running"),
        RunState::Finished => msg!("report-state-finished"),
        RunState::Interrupted => msg!("report-state-interrupted"),
        RunState::Failed => msg!("report-state-failed"),
    }
}

/// The state of a step.
fn step_state_message(state: StepState) -> Message {
    match state {
        StepState::Measured => msg!("report-state-measured"),
        StepState::Skipped => msg!("report-state-skipped"),
        StepState::Refused => msg!("report-state-refused"),
        StepState::Failed => msg!("report-state-failed"),
        StepState::Imported => msg!("report-state-imported"),
    }
}

fn write_list(page: &mut String, items: impl Iterator<Item = String>) -> fmt::Result {
    write!(page, "<ul>")?;
    for item in items {
        write!(page, "<li>{}</li>", Escaped(&item))?;
    }
    write!(page, "</ul>")
}

fn write_row(page: &mut String, words: &Words<'_>, step: &StepView) -> fmt::Result {
    let known = |value: u32, part| if step.role.is_unknown(part) { "?".to_owned() } else { value.to_string() };
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td>",
        Escaped(&title(words, step)),
        known(step.threads, LoadPart::Threads),
        known(step.queue_depth, LoadPart::Depth)
    )?;
    if let Some(reason) = &step.reason {
        return write!(
            page,
            "<td colspan=\"8\">{}: {} {}</td></tr>",
            Escaped(&words.say(&step_state_message(step.state))),
            Escaped(&words.say(reason)),
            Escaped(&step.help.as_ref().map(|help| words.say(help)).unwrap_or_default())
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
    write!(page, "<td>{}</td></tr>", Escaped(&words.say(&limit_message(step.limit.name))))
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
        (None, Some(need)) => words.say(&msg!("report-needs", time = Quantity::new(need.seconds, Unit::S))),
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
    write!(page, "<main><section>")?;
    if let Some(besides) = &c.besides {
        write!(page, "<p>{}</p>", Escaped(&words.say(besides)))?;
    }
    write!(page, "<h1>{}</h1>", Escaped(&words.say(&c.answer)))?;
    write_brief(page, &c.brief, words)?;
    write_list(page, c.caveats.iter().map(|caveat| words.say(caveat)))?;
    write!(
        page,
        "<h2>{}</h2><div class=\"scroll\"><table><thead><tr><th></th>",
        words.say(&msg!("report-differences"))
    )?;
    for side in &c.sides {
        write!(page, "<th scope=\"col\">{}</th>", Escaped(&words.say(&side.title)))?;
    }
    write!(page, "</tr></thead><tbody>")?;
    for difference in &c.environment {
        write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(&words.say(&difference.what)))?;
        for value in &difference.values {
            write!(
                page,
                "<td>{}</td>",
                Escaped(&value.as_ref().map_or_else(|| words.say(&msg!("report-not-known")), |value| words.say(value)))
            )?;
        }
        write!(page, "</tr>")?;
    }
    write!(
        page,
        "</tbody></table></div></section><section><h2>{}</h2><div class=\"scroll\">",
        words.say(&msg!("report-compared-steps"))
    )?;
    write!(page, "<table><thead><tr>")?;
    write_heads(page, words, &compared_columns())?;
    write!(page, "</tr></thead><tbody>")?;
    for step in &c.steps {
        write_compared(page, words, step)?;
    }
    write!(page, "</tbody></table></div></section></main>")
}

fn compared_columns() -> Heads {
    vec![
        (msg!("report-column-step"), ""),
        (msg!("report-column-side"), ""),
        (msg!("report-column-figure"), ""),
        (msg!("report-column-ratio"), "num"),
        (Message::verbatim("95 %"), "num"),
        (msg!("report-column-verdict"), ""),
    ]
}

/// A compared figure.
fn metric_message(metric: ComparedFigure) -> Message {
    match metric {
        ComparedFigure::LatMean => msg!("report-mean-latency"),
        other => Message::verbatim(other.as_str().replace('_', " ")),
    }
}

/// What a comparison says of a figure.
fn effect_message(verdict: Speed) -> Message {
    match verdict {
        Speed::Faster => msg!("report-faster"),
        Speed::Slower => msg!("report-slower"),
        Speed::Same => msg!("report-same"),
        Speed::Inconclusive => msg!("report-inconclusive"),
    }
}

/// A limit as a word.
fn limit_message(name: LimitName) -> Message {
    match name {
        LimitName::QueueDepth => msg!("report-limit-queue-depth"),
        LimitName::Device => msg!("report-limit-device"),
        LimitName::Link => msg!("report-limit-link"),
        LimitName::Uplink => msg!("report-limit-uplink"),
        LimitName::Core => msg!("report-limit-core"),
        LimitName::AllCores => msg!("report-limit-all-cores"),
        LimitName::CpuTaken => msg!("report-limit-cpu-taken"),
        LimitName::IrqCore => msg!("report-limit-irq-core"),
        LimitName::KernelThread => msg!("report-limit-kernel-thread"),
        LimitName::FileSystem => msg!("report-limit-file-system"),
        LimitName::Raid => msg!("report-limit-raid"),
        LimitName::Memory => msg!("report-limit-memory"),
        LimitName::PageCache => msg!("report-limit-page-cache"),
        LimitName::Flush => msg!("report-limit-flush"),
        LimitName::Network => msg!("report-limit-network"),
        LimitName::Server => msg!("report-limit-server"),
        LimitName::Client => msg!("report-limit-client"),
        LimitName::Rate => msg!("report-limit-rate"),
        LimitName::Unknown => msg!("report-limit-unknown"),
    }
}

/// The articles redone, without any script.
pub(super) fn static_reproduction(r: &Reproduction, words: &Words<'_>) -> String {
    let mut page = String::new();
    write_reproduction(r, words, &mut page).expect("a String takes everything");
    page
}

fn reproduced_columns() -> Heads {
    vec![
        (msg!("report-column-figure"), ""),
        (msg!("report-column-published"), "num"),
        (msg!("report-column-predicted"), "num"),
        (msg!("report-column-error"), "num"),
        (msg!("report-column-remarks"), ""),
    ]
}

fn write_reproduction(r: &Reproduction, words: &Words<'_>, page: &mut String) -> fmt::Result {
    let s = &r.summary;
    let answer = msg!("report-within", within = s.within_10_pct, figures = s.figures);
    let held_out = msg!("report-held-out-within", within = s.held_out_within_15_pct, figures = s.held_out);
    write!(page, "<main><section><p class=\"question\">{}</p>", words.say(&msg!("report-simulated")))?;
    write!(page, "<h1>{}</h1><p>{}</p></section>", words.say(&answer), words.say(&held_out))?;
    write!(page, "<section><h2>{}</h2>", words.say(&msg!("report-all-figures")))?;
    for article in &r.articles {
        write!(page, "<h3>{}</h3><div class=\"scroll\"><table><thead><tr>", Escaped(&article.title))?;
        write_heads(page, words, &reproduced_columns())?;
        write!(page, "</tr></thead><tbody>")?;
        for row in r.figures.iter().filter(|f| f.article == article.id) {
            write_figure(page, words, row)?;
        }
        write!(page, "</tbody></table></div>")?;
    }
    write!(page, "</section></main>")
}

fn write_figure(page: &mut String, words: &Words<'_>, row: &FigureRow) -> fmt::Result {
    let shown = |value: f64| with_unit(&Quantity::new(value, row.unit));
    let mut remarks = Vec::new();
    if row.fitted {
        remarks.push(words.say(&msg!("report-fitted")));
    }
    if let Some(why) = &row.contradiction {
        remarks.push(words.say(&msg!("report-contradicts", why = words.say(why))));
    }
    remarks.extend(row.reason.as_ref().map(|reason| words.text(reason).to_owned()));
    let published = match row.published_max {
        Some(max) => format!("{} – {}", shown(row.published), shown(max)),
        None => shown(row.published),
    };
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>",
        Escaped(&row.id),
        Escaped(&published),
        Escaped(&row.predicted.map_or_else(String::new, shown)),
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
        Escaped(words.text(&step.label)),
        Escaped(&step.side),
        Escaped(&words.say(&metric_message(step.metric))),
        Escaped(&words.say(&effect_message(step.verdict)))
    )
}
