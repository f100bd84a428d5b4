//! The page of a run of order entry: one file without scripts. Its sentences are the terminal's, in English.

use std::fmt::{self, Write as _};

use fathom_judge::oltp::{LatencyView, OltpDocument};
use fathom_model::{OltpEvidenceName, OltpLimit};
use fathom_units::{format_iops, format_ns, format_significant};

use crate::html::Escaped;

/// Width of the pictures, in their own units.
const WIDTH: f64 = 860.0;
/// Height of a core's row in the heat map.
const ROW: f64 = 14.0;
/// Height of the chart of transactions.
const CHART: f64 = 120.0;
/// More columns than this cannot be told apart: seconds are put together.
const COLUMNS_MAX: usize = 430;

/// A rate that is known to more than this share of itself makes the run a poor one.
const WIDE: f64 = 0.1;
/// Half width of an interval that the advice on a longer run aims at, as a share of the rate.
const AIM: f64 = 0.05;
/// Other programs that use more than this share of the CPUs are named.
const MANY_OTHERS: f64 = 0.35;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6570;--line:#d5dae0;--paper:#fff;--bar:#2f6f9f;--warn:#a33b00;--edge:#00000038;\
--t0:#0072b2;--t1:#7fb8d9;--t2:#cc79a7;--t3:#d9700a;--t4:#009e73;--t5:#b9c0c7}\
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa4ae;--line:#3a424b;--paper:#14181c;--bar:#6cb2e0;--warn:#ffb38a;--edge:#ffffff40}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1040px;margin:1.4rem auto;padding:0 1rem}\
h1{font-size:1.5rem;line-height:1.3;margin:.1rem 0 .6rem}h2{font-size:1.05rem;margin:1.4rem 0 .4rem}p{margin:.2rem 0}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.2rem .5rem;border-bottom:1px solid var(--line)}\
th:first-child,td:first-child{text-align:left;padding-left:0}.figures td{white-space:nowrap}svg{width:100%;display:block}\
.scroll{overflow-x:auto;background:linear-gradient(to left,var(--paper) 30%,transparent) right/32px 100%,\
linear-gradient(to left,var(--edge),transparent) right/12px 100%;background-repeat:no-repeat;background-attachment:local,scroll}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem .8rem;margin:.6rem 0}dt{color:var(--soft)}dd{margin:0;min-width:0;overflow-wrap:break-word}\
.soft{color:var(--soft)}.poor{color:var(--warn)}.option{white-space:nowrap}\
.time{display:flex;height:26px;gap:1px}.time i{min-width:0}\
ul.parts{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.4rem 0;padding:0}ul.parts i{display:inline-block;width:10px;height:10px;margin-right:6px}\
.heat{display:grid;grid-template-columns:max-content 1fr;column-gap:8px;font-size:11px;line-height:14px;color:var(--soft)}";

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
    write!(page, "<p class=\"soft\">{}: {}</p>", Escaped(&title), Escaped(document.notice))?;
    write!(page, "<h1>{}</h1>", Escaped(&headline(document)))?;
    write_session_time(page, document)?;
    let is_first = |label: &str| matches!(label, "Orders" | "Response" | "Limit");
    write!(page, "<dl>")?;
    for (label, text) in lines.iter().filter(|(label, _)| is_first(label)) {
        write!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(label), Escaped(text))?;
    }
    let (level, reasons) = trust(document);
    let class = if level == "poor" { " class=\"poor\"" } else { "" };
    write!(page, "<dt{class}>Trust</dt><dd>{level}: {}</dd>", Escaped(&reasons.join("; ")))?;
    write!(page, "<dt>Next</dt><dd>{}</dd></dl>", next(document))?;
    write_seconds(page, document)?;
    write!(page, "<h2>More about the run</h2><dl>")?;
    for (label, text) in lines.iter().filter(|(label, _)| !is_first(label)) {
        write!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(label), Escaped(text))?;
    }
    write!(page, "</dl>")?;
    write_heat(page, document)?;
    write_evidence(page, document)?;
    write_latencies(page, document)?;
    write_rules(page, document)?;
    let json = serde_json::to_string(document).unwrap_or_default().replace('<', "\\u003c");
    write!(page, "<script type=\"application/json\" id=\"fathom-oltp\">{json}</script></body></html>")
}

/// Half of the interval of the new orders, as a share of their rate.
fn spread(document: &OltpDocument) -> Option<f64> {
    document.nopm.ci95.filter(|_| document.nopm.mean > 0.0).map(|[low, high]| (high - low) / 2.0 / document.nopm.mean)
}

/// The answer in one sentence.
fn headline(document: &OltpDocument) -> String {
    let known = spread(document).map_or(String::new(), |share| format!(" ±{:.0} %", share * 100.0));
    let limit = match document.verdict.limit {
        Some(OltpLimit::Cpu) => "limited by the CPU",
        Some(OltpLimit::CpuTaken) => "limited by CPU time that other programs use",
        Some(OltpLimit::Storage) => "limited by reads from the drive",
        Some(OltpLimit::LogFlush) => "limited by the flush of the log at each commit",
        Some(OltpLimit::Locks) => "limited by locks between sessions",
        None => "limit not determined",
    };
    format!("{}{known} new orders per minute, {limit}.", format_iops(document.nopm.mean))
}

/// Trust that the figures deserve, with the reasons.
fn trust(document: &OltpDocument) -> (&'static str, Vec<String>) {
    let (spread, seconds) = (spread(document), document.drive.measured_s);
    let mut faults = Vec::new();
    let taken = document.cpus.others_cores.filter(|cores| *cores > document.cpus.allowed as f64 * MANY_OTHERS);
    faults.extend(taken.map(|cores| format!("other programs used {cores:.1} of {} CPUs", document.cpus.allowed)));
    if !document.consistency.broken_after_run.is_empty() {
        faults.push("the database is inconsistent after the run".to_owned());
    }
    if document.drive.is_stopped {
        faults.push("the run ended early".to_owned());
    }
    let level = if !faults.is_empty() || spread.is_none_or(|share| share > WIDE) { "poor" } else { "usable" };
    faults.push(match spread {
        Some(share) => format!("the rate is known to ±{:.1} % over {seconds:.0} s", share * 100.0),
        None => format!("{seconds:.0} s are too short or too uneven for an interval"),
    });
    (level, faults)
}

/// Advice: a longer run where the rate is not known well, else the remedy for the limit.
fn next(document: &OltpDocument) -> String {
    let longer = |seconds: f64| {
        format!("run longer: <span class=\"option\">--runtime {:.0}s</span>", (seconds / 10.0).ceil() * 10.0)
    };
    let seconds = document.drive.measured_s;
    match (spread(document), document.verdict.limit) {
        (None, _) | (_, None) => longer(4.0 * seconds),
        // An interval narrows with the square root of the time.
        (Some(share), _) if share > WIDE => {
            format!("{} narrows the interval to about ±{:.0} %", longer(seconds * (share / AIM).powi(2)), AIM * 100.0)
        }
        (_, Some(OltpLimit::Cpu)) if document.database.has_one_writer => {
            "use a faster core: one session writes at a time".to_owned()
        }
        (_, Some(OltpLimit::Cpu)) => "use more or faster CPUs".to_owned(),
        (_, Some(OltpLimit::CpuTaken)) => "stop the other programs and repeat the run".to_owned(),
        (_, Some(OltpLimit::Storage)) => "use a faster drive, or give the database a larger cache".to_owned(),
        (_, Some(OltpLimit::LogFlush)) => {
            let relaxed = document.verdict.evidence.iter().find(|piece| piece.name == OltpEvidenceName::RelaxedCommits);
            let gain = relaxed.map_or(String::new(), |piece| format!(": at most {:.2}x", piece.number));
            format!("use a drive with faster flushes{gain}")
        }
        (_, Some(OltpLimit::Locks)) => "use more warehouses, so that fewer sessions share their rows".to_owned(),
    }
}

/// Bar of the time of the sessions: its largest part shows the limit.
fn write_session_time(page: &mut String, document: &OltpDocument) -> fmt::Result {
    let time = &document.session_time;
    let turn = if document.database.has_one_writer { "waiting for the turn to write" } else { "waiting for locks" };
    let known = [
        ("on a CPU", time.on_cpu),
        ("ready, waiting for a CPU", time.for_cpu),
        (turn, time.for_turn),
        ("in commits", time.for_log),
        ("waiting for data", time.for_data),
    ];
    let rest = (1.0 - known.iter().map(|(_, share)| share).sum::<f64>()).max(0.0);
    let parts = known.into_iter().chain([("other", rest)]).enumerate().filter(|(_, (_, share))| *share >= 0.005);
    let parts: Vec<_> = parts.collect();
    write!(
        page,
        "<h2>Time of the sessions</h2><div class=\"time\" role=\"img\" aria-label=\"shares of the sessions' time\">"
    )?;
    for (tone, (_, share)) in &parts {
        write!(page, "<i style=\"flex:{share:.4} 0 0;background:var(--t{tone})\"></i>")?;
    }
    write!(page, "</div><ul class=\"parts\">")?;
    for (tone, (name, share)) in &parts {
        write!(page, "<li><i style=\"background:var(--t{tone})\"></i>{name} {:.0} %</li>", share * 100.0)?;
    }
    write!(page, "</ul>")
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
    write!(
        page,
        "<h2>Transactions per second</h2><svg viewBox=\"0 0 {WIDTH} {CHART}\" height=\"{CHART}\" preserveAspectRatio=\"none\" role=\"img\" "
    )?;
    write!(page, "aria-label=\"transactions per second over {:.0} s, at most {most:.0}\">", document.drive.measured_s)?;
    for (at, rate) in rates.iter().enumerate() {
        let height = rate / most * CHART;
        let (x, y) = (at as f64 * step, CHART - height);
        write!(
            page,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"var(--bar)\"/>",
            step * 0.92
        )?;
    }
    write!(
        page,
        "</svg><p class=\"soft\">0 to {:.0} s; the axis begins at 0 and ends at {}.</p>",
        document.drive.measured_s,
        format_significant(most)
    )
}

fn write_heat(page: &mut String, document: &OltpDocument) -> fmt::Result {
    let cpus = &document.cpus;
    if cpus.heat_pct.is_empty() {
        return Ok(());
    }
    let height = ROW * cpus.cpus.len() as f64;
    write!(
        page,
        "<h2>CPUs over time</h2><p class=\"soft\">A row for each CPU, a column for each second: a darker field is busier.</p>"
    )?;
    write!(page, "<div class=\"heat\"><div>")?;
    for number in &cpus.cpus {
        write!(page, "<div>CPU {number}</div>")?;
    }
    write!(
        page,
        "</div><svg viewBox=\"0 0 {WIDTH} {height:.0}\" height=\"{height:.0}\" preserveAspectRatio=\"none\" role=\"img\" "
    )?;
    write!(page, "aria-label=\"busy share of each CPU over time\" id=\"heat\">")?;
    for (row, number) in cpus.cpus.iter().enumerate() {
        let y = row as f64 * ROW;
        let busy: Vec<f64> =
            cpus.heat_pct.iter().map(|second| f64::from(second.get(row).copied().unwrap_or(0))).collect();
        let busy = columns(&busy);
        let step = WIDTH / busy.len() as f64;
        for (at, share) in busy.iter().enumerate() {
            let (x, opacity) = (at as f64 * step, 0.04 + share / 100.0 * 0.96);
            write!(page, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" ", step + 0.1, ROW - 1.0)?;
            write!(
                page,
                "fill=\"var(--bar)\" fill-opacity=\"{opacity:.2}\"><title>CPU {number}: {share:.0} %</title></rect>"
            )?;
        }
    }
    write!(page, "</svg></div>")
}

fn write_evidence(page: &mut String, document: &OltpDocument) -> fmt::Result {
    write!(
        page,
        "<h2>Evidence</h2><div class=\"scroll\"><table><tr><th>measure</th><th>value</th><th>supports</th><th>contradicts</th></tr>"
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
        "<h2>Response times</h2><div class=\"scroll\"><table class=\"figures\"><tr><th>transaction</th><th>done</th><th>mean</th><th>p50</th>"
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
        "<h2>Inputs compared with the bounds of clause 9.2</h2><div class=\"scroll\"><table class=\"figures\"><tr><th>share</th><th>found</th>"
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
