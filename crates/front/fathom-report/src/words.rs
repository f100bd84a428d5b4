//! Values with their messages in words: what is written to JSON and into pages holds sentences, no ids.

use std::collections::BTreeMap;

use fathom_language::Language;
use fathom_message::Message;
use serde::Serialize;
use serde_json::Value;

/// A value as JSON, every message in it as a sentence of `language`; its keys stay in the order of the type.
///
/// # Errors
/// [`serde_json::Error`] when something inside has no JSON form.
pub fn in_words(value: &impl Serialize, language: Language) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(value)?;
    say_all(&mut value, language);
    Ok(value)
}

fn say_all(value: &mut Value, language: Language) {
    if let Some(text) = said(value, language) {
        *value = Value::String(text);
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| say_all(item, language)),
        Value::Object(fields) => fields.values_mut().for_each(|field| say_all(field, language)),
        _ => {}
    }
}

/// The sentence of a value that is a message: its id has words, and it has nothing but its id and arguments.
fn said(value: &Value, language: Language) -> Option<String> {
    let fields = value.as_object().filter(|fields| fields.contains_key("id"))?;
    if fields.keys().any(|key| key != "id" && key != "args") {
        return None;
    }
    let message: Message = serde_json::from_value(value.clone()).ok()?;
    language.try_say(&message).ok()
}

/// Sentences of a page in other languages than English, by code and by their English.
pub(crate) type Sentences = BTreeMap<&'static str, BTreeMap<String, String>>;

/// The sentences of `value` that read otherwise in another language, by their English.
pub(crate) fn sentences(value: &impl Serialize, english: &Value) -> Result<Sentences, serde_json::Error> {
    let mut out = Sentences::new();
    for language in Language::ALL.into_iter().filter(|language| *language != Language::English) {
        let mut known = BTreeMap::new();
        pair(english, &in_words(value, language)?, &mut known);
        out.insert(language.code(), known);
    }
    Ok(out)
}

/// Texts of the files of published articles in Chinese.
const ARTICLES_IN_CHINESE: &str = include_str!("articles.zh.toml");

/// Adds what the files of published articles say, which is data and no message.
pub(crate) fn add_article_texts(sentences: &mut Sentences) {
    sentences.entry(Language::Chinese.code()).or_default().extend(article_texts());
}

/// Texts of the files of published articles with their Chinese.
fn article_texts() -> BTreeMap<String, String> {
    toml::from_str(ARTICLES_IN_CHINESE).expect("the shipped table is read by a test")
}

/// Takes each text that differs between two forms of one value.
fn pair(english: &Value, other: &Value, out: &mut BTreeMap<String, String>) {
    match (english, other) {
        (Value::String(english), Value::String(other)) if english != other => {
            out.insert(english.clone(), other.clone());
        }
        (Value::Array(english), Value::Array(other)) => {
            english.iter().zip(other).for_each(|(english, other)| pair(english, other, out));
        }
        (Value::Object(english), Value::Object(other)) => {
            english.values().zip(other.values()).for_each(|(english, other)| pair(english, other, out));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_message::msg;
    use serde_json::json;

    fn both(message: &Message) -> [String; 2] {
        Language::ALL.map(|language| language.say(message))
    }

    #[test]
    fn messages_become_sentences_at_every_depth_and_nothing_else_changes() {
        let message = msg!("what-and-why", what = "mode iopoll", why = Message::verbatim("no poll queues"));
        let value =
            json!({ "b": [1, { "text": message }], "a": { "id": "p4800x", "name": "x" }, "c": { "id": "no-such" } });
        let words = in_words(&value, Language::English).expect("has a JSON form");
        assert_eq!(words["b"][1]["text"], "mode iopoll: no poll queues");
        assert_eq!((&words["a"], &words["c"]), (&value["a"], &value["c"]));
        let keys: Vec<&String> = words.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["b", "a", "c"], "the order of the type");
    }

    #[test]
    fn sentences_are_found_by_their_english() {
        let message = msg!("study-quick-question");
        let [english, chinese] = both(&message);
        let value = json!([message, "a name"]);
        let words = in_words(&value, Language::English).expect("has a JSON form");
        let all = sentences(&value, &words).expect("has a JSON form");
        assert_eq!(all["zh"], BTreeMap::from([(english, chinese)]));
    }
}
