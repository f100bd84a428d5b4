//! `reproduce`: the articles' studies on their simulated platforms, published figures beside predicted ones.

use std::fmt::Write as _;
use std::time::Instant;

use fathom_lab::reproduce::{FigureRow, Parameter, ReproduceError, Reproduction, Summary, Window, cells_of, reproduce};
use fathom_language::figure;
use fathom_message::{Quantity, Unit};
use fathom_model::Catalogue;
use fathom_units::format_rate;

use super::output::{Output, write_reproduction};
use super::{left_out, to_json};
use crate::args::Args;
use crate::exit::{Exit, Problem};
use crate::model_args::ReproduceArgs;
use crate::system::signals::stop_on_signals;
use crate::terminal::{result, say, talk};

/// `fathom reproduce`.
pub(crate) fn reproduce_articles(args: &Args, options: &ReproduceArgs) -> Result<Exit, Problem> {
    let mut cells = cells_of(&options.article)?;
    if options.forward {
        return left_out::print_forward(options.shown.json);
    }
    if options.left_out {
        return left_out::print(&cells, options.shown.json);
    }
    if options.shown.output.is_none() && !options.shown.json {
        // The table needs none of the pictures, which are two steps in three.
        cells.pictures.clear();
    }
    let output = options.shown.destination();
    output.map_or(Ok(()), Output::check)?;
    let stop = stop_on_signals()?;
    let window = Window { seed: options.seed, ..Window::default() };
    let begun = Instant::now();
    let table = reproduce(&cells, &Catalogue::embedded(), window, &stop, &mut |_, _| {})?;
    if let Some(output) = output {
        write_reproduction(&table, args.lang, output)?;
        talk(&format!("Report: {}", output.path.display()));
    }
    result(&if options.shown.json { to_json(&table) } else { text(&table, options.parameters) });
    if !options.shown.quiet {
        let steps =
            cells.cells.len() + cells.pictures.iter().flat_map(|p| &p.series).map(|s| s.points.len()).sum::<usize>();
        talk(&format!("{steps} simulated steps in {:.1} s", begun.elapsed().as_secs_f64()));
    }
    Ok(if table.summary.unexplained == 0 { Exit::Done } else { Exit::Failed })
}

impl From<ReproduceError> for Problem {
    fn from(error: ReproduceError) -> Self {
        let exit = match error {
            ReproduceError::UnknownArticle { .. } => Exit::Usage,
            ReproduceError::Cell(_) => Exit::Failed,
            ReproduceError::Interrupted => Exit::Interrupted,
        };
        Problem::of(exit, &error)
    }
}

fn text(table: &Reproduction, parameters: bool) -> String {
    let mut out = String::new();
    for article in &table.articles {
        let _ = writeln!(out, "{} · {}: {}", article.id, article.publisher, article.title);
        let _ =
            writeln!(out, "on {}", article.machines.iter().map(|m| format!("sim:{m}")).collect::<Vec<_>>().join(", "));
        let _ = writeln!(out, "    {:<44} {:>20} {:>11} {:>9}", "figure", "published", "predicted", "error");
        for row in table.figures.iter().filter(|r| r.article == article.id) {
            let _ = writeln!(out, "{}", line(row));
        }
        out.push('\n');
    }
    out.push_str(
        "   f a parameter was fitted to a figure of this step · ! contradicts the article's own figures\n   \
         . not counted: not a measured rate, mean latency or CPU use · + a condition is assumed\n",
    );
    out.push_str(&remarks(table));
    out.push_str(&summary(&table.summary));
    out.push_str(&if parameters { fitted(&table.parameters) } else { String::new() });
    if !parameters {
        let _ = writeln!(out, "{} fitted parameters: fathom reproduce --parameters", table.parameters.len());
    }
    out
}

fn line(row: &FigureRow) -> String {
    let mark = match row {
        r if r.contradiction.is_some() => '!',
        r if !r.counted => '.',
        r if r.fitted => 'f',
        _ => ' ',
    };
    let assumed = if row.assumed.is_some() { '+' } else { ' ' };
    let published = match row.published_max {
        Some(max) => format!("{} to {}", shown(row, row.published), shown(row, max)),
        None => format!("{} {}", row.relation.sign(), shown(row, row.published)).trim_start().to_owned(),
    };
    let predicted = row.predicted.map_or_else(|| "-".to_owned(), |p| shown(row, p));
    let error = row.error_pct.map_or_else(|| "-".to_owned(), |e| format!("{e:+.1} %"));
    format!(" {mark}{assumed} {:<44} {published:>20} {predicted:>11} {error:>9}", row.id)
}

fn shown(row: &FigureRow, value: f64) -> String {
    // A rate in binary units as well would not fit the column.
    match row.unit {
        Unit::BytesPerS => format_rate(value).split(" (").next().unwrap_or_default().to_owned(),
        unit => figure(&Quantity::new(value, unit)),
    }
}

/// Contradictions, reasons and assumptions; a text that several figures share stands once.
fn remarks(table: &Reproduction) -> String {
    let contradictions = table.figures.iter().filter_map(|r| Some((&r.id, say(r.contradiction.as_ref()?))));
    let reasons = table.figures.iter().filter_map(|r| Some((&r.id, r.reason.clone()?)));
    let assumptions = table.figures.iter().filter_map(|r| Some((&r.id, r.assumed.clone()?)));
    section("Contradict the article's own figures", contradictions)
        + &section("Reasons", reasons)
        + &section("Assumed, as the article does not say", assumptions)
}

fn section<'a>(title: &str, rows: impl Iterator<Item = (&'a String, String)>) -> String {
    let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
    for (id, text) in rows {
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, ids)) => ids.push(id),
            None => texts.push((text, vec![id])),
        }
    }
    if texts.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{title}\n");
    for (text, ids) in texts {
        let _ = writeln!(out, "   {}\n      {text}", ids.join(", "));
    }
    out
}

fn summary(s: &Summary) -> String {
    let share = |part: u32, of: u32| if of == 0 { 0.0 } else { 100.0 * f64::from(part) / f64::from(of) };
    format!(
        "\n{} of {} measured, self-consistent figures are within 10 % ({:.1} %); {} beyond 25 %, {} of them without a \
         reason.\n{} of {} that nothing was fitted to are within 15 % ({:.1} %).\n{} contradict themselves and {} have no \
         step: not counted.\n",
        s.within_10_pct,
        s.figures,
        share(s.within_10_pct, s.figures),
        s.beyond_25_pct,
        s.unexplained,
        s.held_out_within_15_pct,
        s.held_out,
        share(s.held_out_within_15_pct, s.held_out),
        s.contradicted,
        s.without_prediction,
    )
}

fn fitted(parameters: &[Parameter]) -> String {
    let mut out = "\nFitted parameters\n".to_owned();
    for p in parameters {
        let _ = writeln!(out, "   {}: {} = {}", p.machines.join(", "), p.parameter, p.value);
        let _ = writeln!(out, "      fitted to {}", p.fitted_to.join(", "));
    }
    out
}
