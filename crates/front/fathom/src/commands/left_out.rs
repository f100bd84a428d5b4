//! `reproduce --left-out`: the articles predicted without their own figures, and what that is worth beside arithmetic.

use std::fmt::Write as _;

use fathom_lab::reproduce::{Cells, Forward, LeftOut, ScoreKind, Skill, forward, left_out};
use fathom_language::figure;
use fathom_message::Quantity;
use fathom_model::{Catalogue, FigureBand};
use fathom_units::format_rate;

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::terminal::result;

/// Prints the table, or JSON alone.
pub(super) fn print(cells: &Cells, json: bool) -> Result<Exit, Problem> {
    let table = left_out(cells, &Catalogue::embedded())?;
    result(&if json { to_json(&table) } else { text(&table) });
    Ok(Exit::Done)
}

/// Prints the score of what was foretold, or JSON alone.
pub(super) fn print_forward(json: bool) -> Result<Exit, Problem> {
    let table = forward()?;
    result(&if json { to_json(&table) } else { forward_text(&table) });
    Ok(Exit::Done)
}

fn forward_text(table: &Forward) -> String {
    let mut out = String::new();
    let mut system = "";
    for row in &table.figures {
        if row.system != system {
            system = &row.system;
            let _ = writeln!(out, "\n{system}, foretold from its data sheet");
            let _ = writeln!(
                out,
                "   {:<22} {:<12} {:>10} {:>10} {:>10} {:>23}",
                "load", "figure", "published", "arithmetic", "foretold", "band of 90 %"
            );
        }
        let shown = |x: f64| value(row.metric.unit(), x);
        let mark = if row.is_inside { ' ' } else { '!' };
        let baseline = row.baseline.map_or_else(|| "-".to_owned(), shown);
        let _ = writeln!(
            out,
            " {mark} {:<22} {:<12} {:>10} {baseline:>10} {:>10} {:>23}",
            row.load,
            row.metric.as_str(),
            shown(row.published),
            shown(row.predicted),
            ends(&row.band, shown)
        );
    }
    out.push_str("\n ! the figure lies outside its band\n");
    for row in table.figures.iter().filter(|r| !r.is_inside) {
        if let Some(why) = &row.why {
            let _ = writeln!(out, "   {} {}: {why}", row.system, row.load);
        }
    }
    out.push('\n');
    let groups = table.by_system.iter().map(|(name, skill)| (name.as_str(), skill));
    out.push_str(&skill_table(table.skill.as_ref(), &table.by_kind, groups));
    let _ = writeln!(out, "{} loads were foretold; addresses of the figures: --json.", table.foretold);
    out
}

fn text(table: &LeftOut) -> String {
    let mut out = String::new();
    let mut article = "";
    for row in &table.figures {
        if row.article != article {
            article = &row.article;
            let _ = writeln!(out, "\n{article}, predicted without it");
            let _ = writeln!(
                out,
                "   {:<40} {:>10} {:>10} {:>10} {:>23}",
                "figure", "published", "arithmetic", "predicted", "band of 90 %"
            );
        }
        let shown = |x: f64| value(row.metric.unit(), x);
        let mark = if row.is_inside { ' ' } else { '!' };
        let baseline = row.baseline.map_or_else(|| "-".to_owned(), shown);
        let _ = writeln!(
            out,
            " {mark} {:<40} {:>10} {baseline:>10} {:>10} {:>23}",
            row.id,
            shown(row.published),
            shown(row.predicted),
            ends(&row.band, shown)
        );
    }
    out.push_str("\n ! the figure lies outside its band\n\n");
    out.push_str(&skill_table(
        table.skill.as_ref(),
        &table.by_kind,
        table.by_article.iter().map(|(name, skill)| (name.as_str(), skill)),
    ));
    let _ = writeln!(
        out,
        "{} figures have no prediction: nothing on a data sheet tells of them.",
        table.without_prediction
    );
    let s = table.scale;
    let _ = writeln!(
        out,
        "Widths that nine in ten of all figures ask for, over those of what is not known: rates and latencies x {:.2}, \
         cores x {:.2}.",
        s.rate, s.cores
    );
    out
}

/// `1.2M to 1.9M`.
pub(super) fn ends(band: &FigureBand, shown: impl Fn(f64) -> String) -> String {
    format!("{} to {}", shown(band.within_90[0]), shown(band.within_90[1]))
}

/// A figure as a column holds it.
pub(super) fn value(unit: fathom_message::Unit, x: f64) -> String {
    match unit {
        fathom_message::Unit::BytesPerS => format_rate(x).split(" (").next().unwrap_or_default().to_owned(),
        unit => figure(&Quantity::new(x, unit)),
    }
}

/// What a kind of figure is called.
fn name(kind: ScoreKind) -> &'static str {
    match kind {
        ScoreKind::Rate => "rates",
        ScoreKind::Latency => "mean latency",
        ScoreKind::Tail => "p99",
        ScoreKind::Cores => "cores",
    }
}

/// Scores of all, by kind, and by group.
pub(super) fn skill_table<'a>(
    all: Option<&'a Skill>,
    kinds: &'a [(ScoreKind, Skill)],
    groups: impl Iterator<Item = (&'a str, &'a Skill)>,
) -> String {
    let Some(all) = all else { return "no figures\n".to_owned() };
    let mut out = format!(
        " {:<28} {:>7} {:>9} {:>17} {:>15} {:>7} {:>7}\n {:<28} {:>7} {:>9} {:>17} {:>15} {:>7} {:>7}\n",
        "",
        "",
        "",
        "median error",
        "in band of",
        "",
        "",
        "",
        "figures",
        "effective",
        "(arithmetic)",
        "50 % 90 %",
        "width",
        "skill"
    );
    let rows =
        std::iter::once(("all", all)).chain(kinds.iter().map(|(kind, skill)| (name(*kind), skill))).chain(groups);
    for (name, s) in rows {
        let pct = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.1}"));
        let error = format!("{:.1} % ({})", s.error_pct_median, pct(s.baseline_error_pct_median));
        let held = format!("{:.0} % {:.0} %", s.within_50_pct, s.within_90_pct);
        let _ = writeln!(
            out,
            " {name:<28} {:>7} {:>9} {error:>17} {held:>15} {:>6.0}% {:>6}%",
            s.figures,
            s.effective,
            s.width_pct_median,
            s.skill_pct.map_or_else(|| "-".to_owned(), |x| format!("{x:.0}"))
        );
    }
    let _ = writeln!(
        out,
        "By step ({}): median error {:.1} %, arithmetic {}.",
        all.steps,
        all.step_error_pct_median,
        all.baseline_step_error_pct_median.map_or_else(|| "says nothing".to_owned(), |x| format!("{x:.1} %"))
    );
    out.push_str(
        "Effective: figures that no other of their step fixes (a rate, its bytes and its mean latency are one).\n\
         Skill: 1 - score / that of arithmetic, by the ranked probability score on the logarithm; above 0 is better.\n",
    );
    out
}
