//! Every message that a crate says has words in every language, and every word is said by some crate.

use std::collections::{BTreeMap, BTreeSet};

use fathom_language::{CATALOGUES, Language};
use fathom_message::{Message, Quantity};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, PatternElement};
use fluent_syntax::parser;

/// Ids with the names of all arguments that any place gives them.
fn said() -> BTreeMap<String, BTreeSet<String>> {
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in crate::source::rust_files(crate::source::EVERYWHERE) {
        for call in crate::source::messages_in(&file) {
            out.entry(call.id).or_default().extend(call.args);
        }
    }
    assert!(!out.is_empty(), "no message was found in the source");
    out
}

/// Ids of a language, in the order of the files.
fn worded(language: Language) -> Vec<String> {
    let mut out = Vec::new();
    for catalogue in CATALOGUES {
        let parsed = parser::parse(catalogue.text(language));
        let resource = parsed.unwrap_or_else(|(_, errors)| panic!("{language}/{}: {errors:?}", catalogue.area));
        out.extend(resource.body.iter().filter_map(|entry| match entry {
            Entry::Message(message) => Some(message.id.name.to_owned()),
            _ => None,
        }));
    }
    out
}

/// Ids that the renderer itself says.
const OWN: [&str; 4] = ["verbatim", "interval", "interval-open", "interval-wide"];

#[test]
fn every_id_has_words_in_each_language_and_no_words_are_left_over() {
    let said = said();
    for language in Language::ALL {
        let worded = worded(language);
        let once: BTreeSet<&str> = worded.iter().map(String::as_str).collect();
        assert_eq!(once.len(), worded.len(), "{language}: {:?} more than once", repeated(&worded));
        let missing: Vec<&String> = said.keys().filter(|id| !once.contains(id.as_str())).collect();
        assert!(missing.is_empty(), "{language} has no words for {missing:#?}");
        let unused: Vec<&&str> = once.iter().filter(|id| !said.contains_key(**id) && !OWN.contains(id)).collect();
        assert!(unused.is_empty(), "{language} has words for what nothing says: {unused:#?}");
    }
}

fn repeated(ids: &[String]) -> Vec<&String> {
    ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).collect()
}

/// A quantity has every form that a pattern may ask for.
fn sample(id: &str, args: &BTreeSet<String>) -> Message {
    let any = Quantity::iops(2.0).with_ci95(Some([1.0, 3.0]));
    let id: &'static str = Box::leak(id.to_owned().into_boxed_str());
    args.iter().fold(Message::new(id), |message, name| message.with(Box::leak(name.clone().into_boxed_str()), any))
}

#[test]
fn every_message_is_rendered_in_each_language() {
    let mut wrong = Vec::new();
    for (id, args) in said() {
        for language in Language::ALL {
            match language.try_say(&sample(&id, &args)) {
                Ok(text) if text.trim().is_empty() => wrong.push(format!("{language} {id}: nothing")),
                Ok(_) => {}
                Err(errors) => wrong.push(format!("{language} {id}: {errors:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Arguments without their forms: `rate-pm` is `rate`.
fn arguments(pattern: &fluent_syntax::ast::Pattern<&str>, out: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            in_expression(expression, out);
        }
    }
}

fn in_expression(expression: &Expression<&str>, out: &mut BTreeSet<String>) {
    let inline = match expression {
        Expression::Inline(inline) => inline,
        Expression::Select { selector, variants } => {
            variants.iter().for_each(|v| arguments(&v.value, out));
            selector
        }
    };
    match inline {
        InlineExpression::VariableReference { id } => {
            let name = ["-figure", "-brief-pm", "-brief", "-pm", "-ci", "-value"]
                .iter()
                .find_map(|form| id.name.strip_suffix(form));
            out.insert(name.unwrap_or(id.name).to_owned());
        }
        InlineExpression::Placeable { expression } => in_expression(expression, out),
        _ => {}
    }
}

#[test]
fn both_languages_tell_the_same_arguments() {
    let mut wrong = Vec::new();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for language in Language::ALL {
        for catalogue in CATALOGUES {
            let resource = parser::parse(catalogue.text(language)).unwrap_or_else(|(resource, _)| resource);
            for entry in &resource.body {
                let Entry::Message(message) = entry else { continue };
                let mut args = BTreeSet::new();
                message.value.iter().for_each(|pattern| arguments(pattern, &mut args));
                let id = message.id.name.to_owned();
                match known.get(&id) {
                    None => _ = known.insert(id, args),
                    Some(english) if *english != args => wrong.push(format!("{id}: {english:?} against {args:?}")),
                    Some(_) => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn chinese_words_are_chinese() {
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let same: Vec<String> = CATALOGUES
        .iter()
        .flat_map(|catalogue| {
            let english: BTreeSet<&str> = catalogue.text(Language::English).lines().collect();
            let lines = catalogue.text(Language::Chinese).lines().filter(|l| l.contains(" = ") && !l.starts_with('#'));
            lines.filter(move |l| english.contains(l) && l.matches(char::is_alphabetic).count() > 40)
        })
        .filter(|line| !line.chars().any(is_chinese))
        .map(str::to_owned)
        .collect();
    assert!(same.is_empty(), "left in English: {same:#?}");
}

/// Phrases that a reader who is no native speaker had to translate: see the style guide for what to write.
const STUMBLES: [&str; 9] = [
    "even share",
    "neighbouring step",
    "a side tell",
    "runs a side",
    "one draw",
    "go on with the run",
    "of its own for",
    "that others took",
    "not told apart",
];

#[test]
fn no_message_has_a_phrase_that_readers_stumble_over() {
    let lines = CATALOGUES.iter().flat_map(|catalogue| catalogue.text(Language::English).lines());
    let found: Vec<&str> = lines.filter(|line| STUMBLES.iter().any(|phrase| line.contains(phrase))).collect();
    assert!(found.is_empty(), "{found:#?}");
}
