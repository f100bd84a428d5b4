//! The words of every message, in each language: Fluent catalogues in `messages/en` and `messages/zh`, one file per area.
//!
//! Crates below the front say a [`Message`]; here it becomes a sentence. In a pattern stands
//! `{ $rate }` for an argument as people read it (`84.7k IOPS`), and for a quantity also
//! `{ $rate-figure }` (`84.7k`), `{ $rate-brief }` and `{ $rate-brief-pm }` (where room is short: a bandwidth without its binary twin, ` ±>100 %` for both ends), `{ $rate-pm }` (` ±5.0 %`, with the space; nothing where there is no interval),
//! `{ $rate-ci }` (` (95 % interval 80.5k to 88.9k IOPS)`) and `{ $rate-value }` (the bare number).

mod catalogue;
mod language;
mod pointed;
mod quantity;
mod steering;

pub use catalogue::{CATALOGUES, Catalogue};
pub use language::{Language, UnknownLanguage};
pub use quantity::{change_words, figure, interval_words, plus_minus, with_unit};
pub use steering::steers_terminal;

use fathom_message::Message;

/// The message in English: for tests of the crates that say it.
#[must_use]
pub fn english(message: &Message) -> String {
    Language::English.say(message)
}
