//! The languages, and what a message is in one.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use fathom_message::{Arg, Join, Message, Quantity};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use serde::{Deserialize, Serialize};

use crate::catalogue::CATALOGUES;
use crate::quantity::{brief_plus_minus, briefly, figure, is_wide, plus_minus, with_unit};

/// A language that Fathom speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

type Bundle = FluentBundle<FluentResource>;

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English));
static CHINESE: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::Chinese));

fn bundle(language: Language) -> Bundle {
    let id = language.code().parse().expect("our codes are language identifiers");
    let mut bundle = FluentBundle::new_concurrent(vec![id]);
    // Marks around arguments are for right-to-left text; a terminal would show them.
    bundle.set_use_isolating(false);
    for catalogue in CATALOGUES {
        let text = catalogue.text(language).to_owned();
        // Whatever part can be read is used; a test refuses catalogues with errors or repeated ids.
        let resource = FluentResource::try_new(text).unwrap_or_else(|(readable, _)| readable);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// Code as on the command line and in the page.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// The message in this language. One without words yet is shown as its id with the arguments.
    #[must_use]
    pub fn say(self, message: &Message) -> String {
        self.try_say(message).unwrap_or_else(|_| message.to_string())
    }

    /// The message in this language.
    ///
    /// # Errors
    /// What is wrong with the words of this id, or that there are none.
    pub fn try_say(self, message: &Message) -> Result<String, Vec<FluentError>> {
        if let Some(text) = message.as_verbatim() {
            return Ok(text.to_owned());
        }
        let bundle = self.bundle();
        let pattern = bundle.get_message(message.id()).and_then(|m| m.value()).ok_or_else(Vec::new)?;
        let mut args = FluentArgs::new();
        for (name, arg) in message.args() {
            self.add(&mut args, name, arg)?;
        }
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, Some(&args), &mut errors).into_owned();
        if errors.is_empty() { Ok(text) } else { Err(errors) }
    }

    fn add(self, args: &mut FluentArgs<'_>, name: &str, arg: &Arg) -> Result<(), Vec<FluentError>> {
        let value = match arg {
            Arg::Text(text) => FluentValue::from(text.to_string()),
            Arg::Count(count) => FluentValue::from(*count),
            Arg::Message(message) => FluentValue::from(self.try_say(message)?),
            Arg::List { items, join } => {
                let items: Result<Vec<String>, _> = items.iter().map(|m| self.try_say(m)).collect();
                FluentValue::from(self.joined(&items?, *join))
            }
            Arg::Quantity(quantity) => {
                args.set(format!("{name}-figure"), figure(quantity));
                args.set(format!("{name}-brief"), briefly(quantity));
                args.set(format!("{name}-pm"), self.plus_minus(quantity)?);
                args.set(format!("{name}-brief-pm"), brief_plus_minus(quantity));
                args.set(format!("{name}-ci"), self.interval(quantity)?);
                args.set(format!("{name}-value"), quantity.value);
                FluentValue::from(with_unit(quantity))
            }
        };
        args.set(name.to_owned(), value);
        Ok(())
    }

    /// ` ±5.0 %`; of an interval wider than its figure both ends, and where they bound nothing that it is inconclusive.
    fn plus_minus(self, quantity: &Quantity) -> Result<String, Vec<FluentError>> {
        if !is_wide(quantity) {
            return Ok(plus_minus(quantity));
        }
        match crate::quantity::interval_words(quantity).filter(|_| quantity.ci95.is_some_and(is_bounded)) {
            Some((low, high)) => self.try_say(&Message::new("interval-wide").with("low", low).with("high", high)),
            None => self.try_say(&Message::new("interval-open")),
        }
    }

    /// ` (95 % interval 80.5k to 88.9k IOPS)`; nothing where there is none.
    fn interval(self, quantity: &Quantity) -> Result<String, Vec<FluentError>> {
        let Some(words) = crate::quantity::interval_words(quantity) else { return Ok(String::new()) };
        self.try_say(&Message::new("interval").with("low", words.0).with("high", words.1))
    }

    /// Several texts as one.
    #[must_use]
    pub fn joined(self, items: &[String], join: Join) -> String {
        let is_english = self == Language::English;
        let of = |english: &'static str, chinese: &'static str| if is_english { english } else { chinese };
        let (between, last) = match join {
            Join::Comma => (of(", ", "、"), of(", ", "、")),
            Join::And => (of(", ", "、"), of(" and ", "和")),
            Join::Or => (of(", ", "、"), of(" or ", "或")),
            Join::Semicolon => (of("; ", "；"), of("; ", "；")),
            Join::Dot => (" · ", " · "),
            Join::Sentences => (of(" ", ""), of(" ", "")),
            Join::Space => (" ", " "),
        };
        match items {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., end] => [&first.join(between), last, end].concat(),
        }
    }

    fn bundle(self) -> &'static Bundle {
        match self {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A language that Fathom does not speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanguage(pub String);

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no language `{}`: name en or zh", self.0)
    }
}

impl std::error::Error for UnknownLanguage {}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Language::ALL.into_iter().find(|l| l.code() == text);
        found.ok_or_else(|| UnknownLanguage(text.to_owned()))
    }
}

/// Ends farther apart than this many times bound nothing.
const BOUNDED_MAX: f64 = 30.0;

/// Whether the ends of a wide interval are worth saying.
fn is_bounded([low, high]: [f64; 2]) -> bool {
    low > 0.0 && high < BOUNDED_MAX * low
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_figure_with_a_wide_interval_has_its_ends_or_is_inconclusive() {
        let said = |language: Language, low, high| {
            let rate = Quantity::iops(100e3).with_ci95(Some([low, high]));
            let said = language.say(&Message::new("verdict-only-path").with("path", "mmap").with("rate", rate));
            let cell = language.say(&Message::new("brief-cell-rate").with("rate", rate));
            let at = said.find("100k").expect("the figure");
            (said[at..].trim_end_matches(['.', '。']).to_owned(), cell)
        };
        let both = |sentence: &str, cell: &str| (sentence.to_owned(), cell.to_owned());
        // A cell of the small table has no room for both ends.
        let open = "100k IOPS ±>100 %";
        assert_eq!(said(Language::English, 90e3, 110e3), both("100k IOPS ±10.0 %", "100k IOPS ±10.0 %"));
        assert_eq!(said(Language::English, 20e3, 400e3), both("100k IOPS (20.0k to 400k IOPS)", open));
        for low in [-20e3, 1e3] {
            assert_eq!(said(Language::English, low, 400e3), both("100k IOPS (inconclusive)", open));
        }
        assert_eq!(said(Language::Chinese, 20e3, 400e3), both("100k IOPS（20.0k 至 400k IOPS）", open));
    }

    use super::*;
    use fathom_message::msg;

    #[test]
    fn languages_are_named_by_their_codes_and_others_refused() {
        for language in Language::ALL {
            assert_eq!(language.code().parse(), Ok(language));
        }
        let error = "fr".parse::<Language>().expect_err("is not spoken");
        assert!(error.to_string().contains("en or zh"));
    }

    #[test]
    fn lists_are_joined_as_each_language_does() {
        let items: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(Language::English.joined(&items, Join::And), "a, b and c");
        assert_eq!(Language::Chinese.joined(&items, Join::And), "a、b和c");
        assert_eq!(Language::English.joined(&items[..1], Join::Or), "a");
        assert_eq!(Language::English.joined(&[], Join::Dot), "");
    }

    #[test]
    fn an_interval_has_words_in_both_languages() {
        let iops = Quantity::iops(84_700.0).with_ci95(Some([80_500.0, 88_900.0]));
        assert_eq!(Language::English.interval(&iops).expect("has words"), " (95 % interval 80.5k to 88.9k IOPS)");
        assert_eq!(Language::Chinese.interval(&iops).expect("has words"), "（95 % 区间 80.5k 至 88.9k IOPS）");
        assert_eq!(Language::Chinese.interval(&Quantity::iops(1.0)).expect("is empty"), "");
    }

    #[test]
    fn what_has_no_words_shows_its_id_and_what_is_verbatim_itself() {
        let unknown = msg!("no-such-id", n = 3_u32);
        assert_eq!(Language::English.say(&unknown), "no-such-id(n=3)");
        assert_eq!(Language::Chinese.say(&Message::verbatim("nvme0n1")), "nvme0n1");
    }
}
