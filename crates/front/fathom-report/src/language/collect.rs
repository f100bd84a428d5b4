//! Which texts of a document are sentences for people: those a phrasebook must know.

use fathom_lab::compare::Comparison;
use fathom_lab::document::{Document, StepView, Verdict};
use fathom_lab::reproduce::Reproduction;

/// Every sentence of a run, with repetitions.
pub(crate) fn document_sentences(doc: &Document) -> Vec<&str> {
    let mut out = vec![doc.run.question.as_str()];
    out.extend(doc.run.plan.notes.iter().map(String::as_str));
    doc.verdict.iter().for_each(|v| verdict(v, &mut out));
    doc.steps.iter().for_each(|s| step(s, &mut out));
    for advice in doc.host["advice"].as_array().into_iter().flatten() {
        out.extend(["reason", "effect", "remedy"].iter().filter_map(|key| advice[*key].as_str()));
    }
    if let Some(c) = &doc.comparison {
        out.extend(comparison_sentences(c));
    }
    out
}

/// Every sentence of the articles redone, with repetitions.
pub(crate) fn reproduction_sentences(r: &Reproduction) -> Vec<&str> {
    let mut out: Vec<&str> = r.pictures.iter().map(|p| p.title.as_str()).collect();
    for row in &r.figures {
        let texts = [&row.step, &row.assumed, &row.reason, &row.contradiction];
        out.extend(texts.into_iter().flatten().map(String::as_str));
    }
    out
}

/// Every sentence of a comparison, with repetitions.
pub(crate) fn comparison_sentences(c: &Comparison) -> Vec<&str> {
    let mut out = vec![c.answer.as_str()];
    out.extend(c.sides.iter().map(|side| side.title.as_str()));
    out.extend(c.caveats.iter().chain(c.environment.iter().map(|d| &d.what)).map(String::as_str));
    for step in &c.steps {
        out.push(&step.label);
        out.extend(step.notes.iter().map(String::as_str));
    }
    for alone in &c.unmatched {
        out.extend([alone.label.as_str(), alone.why.as_str()]);
    }
    out
}

fn verdict<'a>(v: &'a Verdict, out: &mut Vec<&'a str>) {
    out.extend([v.question.as_str(), v.answer.as_str()]);
    out.extend(v.evidence.iter().chain(&v.would_help).chain(&v.caveats).map(String::as_str));
    out.extend(v.figures.iter().flat_map(|f| [f.name.as_str(), f.load.as_str()]));
}

fn step<'a>(s: &'a StepView, out: &mut Vec<&'a str>) {
    out.push(&s.label);
    // Loops are named by their step without the number of the round.
    out.extend(s.label.rsplit_once(" round ").map(|(loop_name, _)| loop_name));
    out.extend(s.reason.iter().chain(&s.help).map(String::as_str));
    out.push(&s.limit.sentence);
    out.extend(s.limit.evidence.iter().map(|e| e.name.as_str()));
    out.extend(s.limit.would_help.iter().map(String::as_str));
    out.extend(s.ceilings.iter().map(|c| c.sentence.as_str()));
    out.extend(s.checks.iter().map(|c| c.sentence.as_str()));
    out.extend(s.warning_texts.iter().map(String::as_str));
    if let Some(steady) = &s.steady {
        out.extend(steady.own.iter().map(|o| o.sentence.as_str()));
        out.extend(steady.pts.iter().map(|p| p.determination.as_str()));
    }
}
