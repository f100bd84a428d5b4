//! The answer on a terminal: a sentence, a small table, the trust it deserves, one command; all else on request.

use fathom_judge::document::{ArrayView, Brief, BriefRow, Document, Trust, Verdict};
use fathom_message::{Quantity, msg};

use crate::terminal::{fill, say};

/// Rows shown before the details: with the sentence, the trust and the command they make six lines.
const ROWS_SHOWN: usize = 3;
/// Columns of the narrowest terminal that a row fits in.
const ROW_MAX: usize = 80;
/// Longer cells stand out of their column.
const CELL_MAX: usize = 44;

/// The first look at a run; with `details` everything that it rests on.
pub(crate) fn answer(document: &Document, details: bool) -> String {
    let mut text = String::new();
    // Sides of a comparison have a question in common; answers to another one are among the details.
    let asked = document.verdict.first().map(|v| &v.question);
    for (at, verdict) in document.verdict.iter().filter(|v| Some(&v.question) == asked).enumerate() {
        text.push_str(&fill(&say(&verdict.brief.headline), ""));
        // What is asked first is answered with its table; of other sides a sentence says which to unfold.
        if at == 0 {
            let most = if details { Brief::ROWS_MAX } else { ROWS_SHOWN };
            text.push_str(&rows(&verdict.brief.rows, most, verdict.brief.rows.len()));
        }
    }
    if let Some(trust) = &document.trust {
        text.push_str(&fill(&trust_line(trust), ""));
    }
    if let Some(brief) = document.verdict.first().map(|v| &v.brief) {
        text.push_str(&next_of(brief));
    }
    if details {
        text.push_str(&document.verdict.iter().map(evidence).collect::<String>());
        text.push_str(&rebuilds(document));
    }
    text
}

/// What each rebuild beside a load did at its limit, and the latency and the rate that it left the load.
fn rebuilds(document: &Document) -> String {
    let row = |array: &ArrayView| {
        let rebuild = array.rebuild?;
        let step = document.steps.iter().find(|step| step.index == array.step)?;
        let limit = match rebuild.asked_bytes_per_s {
            Some(asked) => msg!("rebuilds-limit", limit = Quantity::bytes_per_s(asked as f64)),
            None => msg!("rebuilds-no-limit"),
        };
        let ns = |ns: Option<u64>| {
            ns.map_or_else(|| msg!("rebuilds-unknown"), |ns| msg!("rebuilds-ns", ns = Quantity::ns(ns as f64)))
        };
        let times = match rebuild.rate_ratio {
            Some(ratio) => msg!("rebuilds-times", times = Quantity::times(ratio)),
            None => msg!("rebuilds-unknown"),
        };
        let speed = Quantity::bytes_per_s(rebuild.bytes_per_s);
        let speed = match rebuild.ended_first {
            true => msg!("rebuilds-speed-ended", speed = speed),
            false => msg!("rebuilds-speed", speed = speed),
        };
        let name = msg!("rebuilds-name", level = array.level.clone(), load = array.load.clone());
        let load = format!("T{} QD{}", step.threads, step.queue_depth);
        let cells = [name, limit, speed, ns(rebuild.p99_ns), ns(rebuild.whole_p99_ns), times];
        let mut cells: Vec<String> = cells.iter().map(say).collect();
        cells.insert(1, load);
        Some(cells)
    };
    let rows: Vec<Vec<String>> = document.arrays.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let titles = [
        msg!("rebuilds-head-load"),
        msg!("rebuilds-head-depth"),
        msg!("rebuilds-head-limit"),
        msg!("rebuilds-head-speed"),
        msg!("rebuilds-head-p99"),
        msg!("rebuilds-head-whole-p99"),
        msg!("rebuilds-head-rate"),
    ];
    let titles = titles.iter().map(say).collect();
    let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    format!("\n{}{}", fill(&say(&msg!("rebuilds-title")), ""), table(&lines, 0))
}

/// A first look alone; `all`: how many rows there would be.
pub(crate) fn brief(brief: &Brief, all: usize) -> String {
    let rows = rows(&brief.rows, ROWS_SHOWN, all);
    format!("{}{rows}{}", fill(&say(&brief.headline), ""), next_of(brief))
}

fn rows(rows: &[BriefRow], most: usize, all: usize) -> String {
    let lines: Vec<Vec<String>> =
        rows.iter().take(most).map(|r| std::iter::once(&r.name).chain(&r.cells).map(say).collect()).collect();
    table(&lines, all.saturating_sub(most))
}

/// Rows of a small table, their cells set under each other where that leaves a row within [`ROW_MAX`] columns; `more`:
/// rows that the details have besides.
pub(crate) fn table(lines: &[Vec<String>], more: usize) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    // Nothing is set under what ends its row, and a long cell takes the room that it needs without moving the others.
    let width = |column: usize| {
        let cells = lines.iter().filter(|line| line.len() > column + 1).map(|line| line[column].chars().count());
        cells.filter(|width| column == 0 || *width <= CELL_MAX).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    // The first `aligned` cells are set to the width of their column.
    let line = |cells: &Vec<String>, aligned: usize| {
        let set = cells.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at < aligned {
            true => format!("{cell:<width$}"),
            false => cell.clone(),
        });
        format!("  {}\n", set.collect::<Vec<_>>().join("  ").trim_end())
    };
    // Behind the last row stands how many more there are.
    let hints = match more {
        0 => Vec::new(),
        _ => vec![format!("  (+{more}: --details)"), format!("  (+{more} more)"), format!("  (+{more})")],
    };
    let least = hints.last().map_or(0, String::len);
    let set = |(at, cells): (usize, &Vec<String>)| {
        let room = ROW_MAX - if at + 1 == lines.len() { least } else { 0 };
        let is_whole = |line: &String| line.trim_end().chars().count() <= room;
        let whole = [columns, 1, 0].into_iter().map(|aligned| line(cells, aligned)).find(is_whole);
        // What is longer than a terminal, a reason for example, goes on in a line below.
        whole.unwrap_or_else(|| fill(&cells.join(" · "), "  "))
    };
    let mut text: String = lines.iter().enumerate().map(set).collect();
    let last = text.lines().last().map_or(0, |line| line.chars().count());
    if let Some(hint) = hints.iter().find(|hint| last + hint.len() <= ROW_MAX).or(hints.last()) {
        text.truncate(text.trim_end().len());
        text.push_str(&format!("{hint}\n"));
    }
    text
}

/// `Trust: usable: 95 % intervals are ±8.0 % wide. To mend: run 2 min longer.`
fn trust_line(trust: &Trust) -> String {
    let mut line = format!("Trust: {}", say(&trust.level.message()));
    let reasons: Vec<String> = trust.reasons.iter().map(say).collect();
    if !reasons.is_empty() {
        line.push_str(&format!("; {}", reasons.join("; ")));
    }
    if let Some(mend) = &trust.mend {
        line.push_str(&format!(". To mend: {}", say(mend)));
    }
    line
}

fn next_of(brief: &Brief) -> String {
    brief.next.as_ref().map_or_else(String::new, |command| next(&command.command, &say(&command.why)))
}

/// The command to go on with, and why.
pub(crate) fn next(command: &str, why: &str) -> String {
    let line = format!("Next: {command}  # {why}\n");
    // A command is copied whole, its reason goes on below it.
    if line.trim_end().chars().count() <= ROW_MAX { line } else { format!("Next: {command}\n  # {why}\n") }
}

/// All that an answer rests on.
fn evidence(verdict: &Verdict) -> String {
    let mut text = format!("\n{}", fill(&say(&verdict.answer), ""));
    for line in &verdict.evidence {
        text.push_str(&fill(&say(line), "  "));
    }
    for line in &verdict.would_help {
        text.push_str(&fill(&format!("Would help: {}", say(line)), ""));
    }
    for line in &verdict.caveats {
        text.push_str(&fill(&format!("Caveat: {}", say(line)), ""));
    }
    text
}
