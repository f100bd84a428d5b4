//! The page of a run of order entry: one file without scripts. Its sentences are the terminal's, in English.

use std::fmt::{self, Write as _};

use fathom_judge::oltp::{LatencyView, OltpDocument};
use fathom_units::{format_ns, format_significant};

use crate::html::Escaped;

/// Width of the pictures, in their own units.
const WIDTH: f64 = 860.0;
/// Height of a core's row in the heat map.
const ROW: f64 = 14.0;
/// Height of the chart of transactions.
const CHART: f64 = 120.0;
/// More columns than this cannot be told apart: seconds are put together.
const COLUMNS_MAX: usize = 430;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6570;--line:#d5dae0;--paper:#fff;--bar:#2f6f9f}\
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa4ae;--line:#3a424b;--paper:#14181c;--bar:#6cb2e0}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:900px;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin:0 0 .2rem}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}p{margin:.2rem 0}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.2rem .5rem;border-bottom:1px solid var(--line)}\
th:first-child,td:first-child{text-align:left}svg{width:100%;height:auto;display:block}\
.scroll{overflow-x:auto}dl{display:grid;grid-template-columns:6rem 1fr;gap:.3rem .8rem}dt{color:var(--soft)}dd{margin:0}\
.soft{color:var(--soft)}text{fill:var(--soft);font-size:11px}";

/// The page as HTML. `lines`: the answer, each with its label.
#[must_use]
pub fn oltp_page(document: &OltpDocument, lines: &[(&str, String)]) -> String {
    let mut page = String::new();
    write_page(&mut page, document, lines).expect("a String takes everything");
    page
}

fn write_page(page: &mut String, document: &OltpDocument, lines: &[(&str, String)]) -> fmt::Result {
    let database = &document.database;
    let title = format!("Order entry on {} {}", database.engine, database.version);
    write!(page, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>", Escaped(&title))?;
    write!(
        page,
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{STYLE}</style></head><body>"
    )?;
    write!(page, "<h1>{}</h1><p class=\"soft\">{}</p><dl>", Escaped(&title), Escaped(document.notice))?;
    for (label, text) in lines {
        write!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(label), Escaped(text))?;
    }
    write!(page, "</dl>")?;
    write_seconds(page, document)?;
    write_heat(page, document)?;
    write_evidence(page, document)?;
    write_latencies(page, document)?;
    write_rules(page, document)?;
    let json = serde_json::to_string(document).unwrap_or_default().replace('<', "\\u003c");
    write!(page, "<script type=\"application/json\" id=\"fathom-oltp\">{json}</script></body></html>")
}

/// Seconds put together so that the columns can be told apart: means of each.
fn columns(values: &[f64]) -> Vec<f64> {
    let each = values.len().div_ceil(COLUMNS_MAX).max(1);
    values.chunks(each).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect()
}

fn write_seconds(page: &mut String, document: &OltpDocument) -> fmt::Result {
    let rates = columns(&document.seconds.iter().map(|second| second[1] as f64).collect::<Vec<_>>());
    let Some(most) = rates.iter().copied().reduce(f64::max).filter(|most| *most > 0.0) else { return Ok(()) };
    let step = WIDTH / rates.len() as f64;
    write!(page, "<h2>Transactions a second</h2><svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" ", CHART + 16.0)?;
    write!(page, "aria-label=\"transactions a second over {:.0} s, at most {most:.0}\">", document.drive.measured_s)?;
    for (at, rate) in rates.iter().enumerate() {
        let height = rate / most * CHART;
        let (x, y) = (at as f64 * step, CHART - height);
        write!(
            page,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"var(--bar)\"/>",
            step * 0.92
        )?;
    }
    write!(page, "<text x=\"0\" y=\"10\">{}</text>", format_significant(most))?;
    let end = format!("{:.0} s", document.drive.measured_s);
    write!(page, "<text x=\"{WIDTH}\" y=\"{:.0}\" text-anchor=\"end\">{end}</text></svg>", CHART + 13.0)
}

fn write_heat(page: &mut String, document: &OltpDocument) -> fmt::Result {
    let cpus = &document.cpus;
    if cpus.heat_pct.is_empty() {
        return Ok(());
    }
    let height = ROW * cpus.cpus.len() as f64;
    write!(
        page,
        "<h2>CPUs over time</h2><p class=\"soft\">A row for each CPU, a column for each moment: the darker, the busier.</p>"
    )?;
    write!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"busy share of each CPU over time\" id=\"heat\">"
    )?;
    const LEFT: f64 = 48.0;
    for (row, number) in cpus.cpus.iter().enumerate() {
        let y = row as f64 * ROW;
        let busy: Vec<f64> =
            cpus.heat_pct.iter().map(|second| f64::from(second.get(row).copied().unwrap_or(0))).collect();
        let busy = columns(&busy);
        let step = (WIDTH - LEFT) / busy.len() as f64;
        write!(page, "<text x=\"0\" y=\"{:.1}\">CPU {number}</text>", y + ROW - 3.0)?;
        for (at, share) in busy.iter().enumerate() {
            let (x, opacity) = (LEFT + at as f64 * step, 0.04 + share / 100.0 * 0.96);
            write!(page, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" ", step + 0.1, ROW - 1.0)?;
            write!(
                page,
                "fill=\"var(--bar)\" fill-opacity=\"{opacity:.2}\"><title>CPU {number}: {share:.0} %</title></rect>"
            )?;
        }
    }
    write!(page, "</svg>")
}

fn write_evidence(page: &mut String, document: &OltpDocument) -> fmt::Result {
    write!(
        page,
        "<h2>Evidence</h2><div class=\"scroll\"><table><tr><th>what</th><th>number</th><th>speaks for</th><th>against</th></tr>"
    )?;
    for piece in &document.verdict.evidence {
        let (pro, con) = (words(&piece.speaks_for), words(&piece.speaks_against));
        let name = word(&piece.name);
        write!(page, "<tr><td>{}</td><td>{:.2}</td><td>{pro}</td><td>{con}</td></tr>", Escaped(&name), piece.number)?;
    }
    write!(page, "</table></div>")
}

/// A name as JSON has it, with blanks.
fn word(name: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(name).ok();
    json.and_then(|json| json.as_str().map(|text| text.replace('_', " "))).unwrap_or_default()
}

fn words(names: &[impl serde::Serialize]) -> String {
    names.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn write_latencies(page: &mut String, document: &OltpDocument) -> fmt::Result {
    write!(
        page,
        "<h2>Response times</h2><div class=\"scroll\"><table><tr><th>transaction</th><th>done</th><th>mean</th><th>p50</th>"
    )?;
    write!(page, "<th>p90</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>longest</th></tr>")?;
    for kind in &document.transactions {
        write_latency(page, kind.name, kind.done, &kind.latency)?;
        if let Some(commit) = &kind.commit {
            write_latency(page, "its commit", kind.done - kind.rolled_back, commit)?;
        }
    }
    write!(page, "</table></div>")
}

fn write_latency(page: &mut String, name: &str, count: u64, latency: &LatencyView) -> fmt::Result {
    write!(page, "<tr><td>{}</td><td>{count}</td>", Escaped(name))?;
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let figures = [
        latency.mean_ns,
        whole(latency.p50_ns),
        whole(latency.p90_ns),
        whole(latency.p99_ns),
        whole(latency.p999_ns),
        whole(latency.p9999_ns),
        whole(latency.max_ns),
    ];
    for figure in figures {
        write!(page, "<td>{}</td>", figure.map_or("–".to_owned(), format_ns))?;
    }
    write!(page, "</tr>")
}

fn write_rules(page: &mut String, document: &OltpDocument) -> fmt::Result {
    write!(
        page,
        "<h2>Inputs against the bounds of clause 9.2</h2><div class=\"scroll\"><table><tr><th>share</th><th>found</th>"
    )?;
    write!(page, "<th>least</th><th>most</th><th>of</th><th></th></tr>")?;
    for bound in &document.audit {
        let name = bound.rule.replace('_', " ");
        write!(page, "<tr><td>{name}</td><td>{:.4}</td><td>{:.4}</td>", bound.found, bound.least)?;
        write!(page, "<td>{:.4}</td><td>{}</td><td>{}</td></tr>", bound.most, bound.of, word(&bound.judgement))?;
    }
    write!(page, "</table></div><h2>Settings</h2><div class=\"scroll\"><table>")?;
    for (name, value) in &document.database.settings {
        write!(page, "<tr><td>{}</td><td>{}</td></tr>", Escaped(name), Escaped(value))?;
    }
    write!(page, "</table></div>")
}
