//! A phrasebook: English sentences with holes, and the same in another language.
//!
//! An entry `"{a} was {b}: {c}" = "{a} {b}：{c}"` fits every sentence that has its fixed words in their order. What a hole
//! holds is translated in turn, as a sentence or word of its own; names and numbers stand as they are. A hole whose name
//! ends in `_` holds one word, and no colon after it; one that ends in `#` begins with a digit. Of all entries that fit, the
//! one with the most fixed words is taken. A text of several sentences is translated sentence by sentence; a text that no
//! entry fits, item by item where it is a list. Clauses that a semicolon parts, or items that a dot does, are such a list
//! wherever an entry would have to hold what parts them in a hole and every part is known for sure.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Deeper than this no sentence of ours is nested.
const DEPTH_MAX: usize = 6;

/// A piece of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Fixed(String),
    Hole(String),
}

/// An entry with holes.
#[derive(Clone, Debug)]
struct Entry {
    from: Vec<Piece>,
    to: Vec<Piece>,
    /// Bytes of fixed words: the more, the surer the fit.
    weight: usize,
    /// The longest of them: a text without it cannot fit.
    longest: String,
}

/// What stands between the items of a list, and between those of the translation.
const LISTS: [(&str, &str); 5] = [("; it ", "；"), ("; ", "；"), (" · ", " · "), (", ", "，"), (" and ", " 和 ")];

/// What parts clauses and items, each of which may stand alone.
const CLAUSES: [(&str, &str); 3] = [("; it ", "；"), ("; ", "；"), (" · ", " · ")];

/// An entry with fewer bytes of fixed words than this, such as `{label}: {why}`, says little of what a clause is.
const CLAUSE_WEIGHT_MIN: usize = 8;

/// Entries from English into one language.
#[derive(Clone, Debug, Default)]
pub struct Phrasebook {
    whole: HashMap<String, String>,
    entries: Vec<Entry>,
}

/// Why a text is no phrasebook.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    /// The text is no TOML table of strings.
    #[error("not a table of sentences: {0}")]
    Toml(String),
    /// The two sides of an entry have different holes.
    #[error("`{from}` and `{to}` do not have the same holes")]
    Holes {
        /// English.
        from: String,
        /// The other language.
        to: String,
    },
    /// Two holes touch, or there is no fixed word: the entry would fit anything.
    #[error("`{0}`: two holes touch, or there is nothing but a hole")]
    Loose(String),
}

impl Phrasebook {
    /// Reads a TOML table `"English" = "other language"`, in sections or not.
    ///
    /// # Errors
    /// An error that names the first entry that cannot work.
    pub fn parse(text: &str) -> Result<Phrasebook, PhraseError> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| PhraseError::Toml(e.to_string()))?;
        let mut book = Phrasebook::default();
        book.add(&table)?;
        book.entries.sort_by_key(|e| std::cmp::Reverse(e.weight));
        Ok(book)
    }

    /// The shipped phrasebook of simplified Chinese.
    pub(crate) fn chinese() -> &'static Phrasebook {
        static BOOK: LazyLock<Phrasebook> =
            LazyLock::new(|| Phrasebook::parse(include_str!("zh.toml")).expect("a test reads the shipped phrasebook"));
        &BOOK
    }

    fn add(&mut self, table: &toml::Table) -> Result<(), PhraseError> {
        for (from, value) in table {
            match value {
                toml::Value::Table(section) => self.add(section)?,
                toml::Value::String(to) => self.add_entry(from, to)?,
                _ => return Err(PhraseError::Toml(format!("`{from}` is not a text"))),
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, from: &str, to: &str) -> Result<(), PhraseError> {
        let (source, target) = (pieces(from), pieces(to));
        if holes(&source).is_empty() && holes(&target).is_empty() {
            self.whole.insert(from.to_owned(), to.to_owned());
            return Ok(());
        }
        if holes(&source) != holes(&target) {
            return Err(PhraseError::Holes { from: from.to_owned(), to: to.to_owned() });
        }
        let touching = source.windows(2).any(|w| matches!(w, [Piece::Hole(_), Piece::Hole(_)]));
        let fixed = || source.iter().filter_map(|p| if let Piece::Fixed(t) = p { Some(t.as_str()) } else { None });
        let weight = fixed().map(str::len).sum();
        let longest = fixed().max_by_key(|t| t.len()).unwrap_or_default().to_owned();
        if touching || weight == 0 {
            return Err(PhraseError::Loose(from.to_owned()));
        }
        self.entries.push(Entry { from: source, to: target, weight, longest });
        Ok(())
    }

    /// The sentence in the other language; `None` when no entry fits.
    #[must_use]
    pub fn translate(&self, sentence: &str) -> Option<String> {
        self.find(sentence, 0)
    }

    fn find(&self, text: &str, depth: usize) -> Option<String> {
        if let Some(known) = self.whole.get(text) {
            return Some(known.clone());
        }
        if depth == DEPTH_MAX {
            return None;
        }
        let sentences = sentences(text);
        if sentences.len() > 1 {
            return self.each(&sentences, "", depth);
        }
        self.fitting(text, 0, depth).or_else(|| self.without_stop(text, 0, depth)).or_else(|| self.list(text, depth))
    }

    /// A text whose full stop is all that keeps it from being known.
    fn without_stop(&self, text: &str, weight_min: usize, depth: usize) -> Option<String> {
        let bare = text.strip_suffix('.').filter(|t| !t.ends_with('.'))?;
        let known = self.whole.get(bare).cloned().or_else(|| self.fitting(bare, weight_min, depth))?;
        Some(format!("{known}。"))
    }

    /// The translation by the surest entry that fits the text, or the text as it stands at the beginning of a sentence.
    fn fitting(&self, text: &str, weight_min: usize, depth: usize) -> Option<String> {
        let upper = upper_first(text);
        if let Some(known) = upper.as_ref().and_then(|upper| self.whole.get(upper)) {
            return Some(known.clone());
        }
        // Only the first letter differs, so the rest tells which entries need a closer look.
        let rest = text.get(1..).unwrap_or_default();
        let may = |e: &&Entry| {
            (weight_min..text.len()).contains(&e.weight)
                && (text.contains(&e.longest) || rest.contains(e.longest.get(1..).unwrap_or_default()))
        };
        self.entries.iter().filter(may).find_map(|entry| {
            [Some(text), upper.as_deref()].into_iter().flatten().find_map(|text| {
                let mut held = Vec::new();
                fits(&entry.from, text, &mut held).then(|| {
                    let parted = CLAUSES.iter().find(|(between, _)| held.iter().any(|(_, h)| h.contains(between)));
                    let apart = parted.and_then(|(between, joined)| self.clauses(text, between, joined, depth));
                    apart.unwrap_or_else(|| self.fill(entry, &held, depth))
                })
            })
        })
    }

    /// A text part by part, when all of them are known for sure.
    fn clauses(&self, text: &str, between: &str, joined: &str, depth: usize) -> Option<String> {
        let depth = depth + 1;
        let known = |part: &str| {
            self.whole
                .get(part)
                .cloned()
                .or_else(|| self.fitting(part, CLAUSE_WEIGHT_MIN, depth))
                .or_else(|| self.without_stop(part, CLAUSE_WEIGHT_MIN, depth))
        };
        Some(text.split(between).map(known).collect::<Option<Vec<_>>>()?.join(joined))
    }

    /// A list item by item, when at least one of them is known.
    fn list(&self, text: &str, depth: usize) -> Option<String> {
        LISTS.iter().find_map(|(between, joined)| {
            let items: Vec<&str> = text.split(between).collect();
            if items.len() > 1 { self.each(&items, joined, depth) } else { None }
        })
    }

    fn each(&self, parts: &[&str], joined: &str, depth: usize) -> Option<String> {
        let found: Vec<Option<String>> = parts.iter().map(|part| self.find(part, depth + 1)).collect();
        found.iter().any(Option::is_some).then(|| {
            let words = found.into_iter().zip(parts).map(|(known, own)| known.unwrap_or_else(|| (*own).to_owned()));
            words.collect::<Vec<_>>().join(joined)
        })
    }

    fn fill(&self, entry: &Entry, held: &[(&str, &str)], depth: usize) -> String {
        let mut out = String::new();
        for piece in &entry.to {
            match piece {
                Piece::Fixed(text) => out.push_str(text),
                Piece::Hole(name) => {
                    let (_, text) = held.iter().find(|(n, _)| n == name).expect("both sides have the same holes");
                    out.push_str(&self.find(text, depth + 1).unwrap_or_else(|| (*text).to_owned()));
                }
            }
        }
        out
    }
}

/// Cuts a text after each full stop that another sentence follows.
fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(". ") {
        let next = text[at + 2..].chars().next();
        // Loads begin with their block size; a number's own point has no space behind it.
        if next.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit() || c == '`') {
            out.push(&text[from..=at]);
            from = at + 2;
        }
    }
    out.push(&text[from..]);
    out
}

/// The text as it stands at the beginning of a sentence; `None` where it does already.
fn upper_first(text: &str) -> Option<String> {
    let first = text.chars().next().filter(char::is_ascii_lowercase)?;
    Some(format!("{}{}", first.to_ascii_uppercase(), &text[1..]))
}

/// Whether a hole may hold this text.
fn holds(name: &str, text: &str) -> bool {
    let one_word = name.ends_with('_');
    let number = name.ends_with('#');
    !text.is_empty()
        && (!one_word || !(text.contains(' ') || text.ends_with(':')))
        && (!number || text.starts_with(|c: char| c.is_ascii_digit()))
}

/// Cuts `a {b} c` into its pieces.
fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        if !before.is_empty() {
            out.push(Piece::Fixed(before.to_owned()));
        }
        out.push(Piece::Hole(name.to_owned()));
        rest = tail;
    }
    if !rest.is_empty() {
        out.push(Piece::Fixed(rest.to_owned()));
    }
    out
}

/// Names of the holes, sorted.
fn holes(pieces: &[Piece]) -> Vec<&str> {
    let mut names: Vec<&str> =
        pieces.iter().filter_map(|p| if let Piece::Hole(name) = p { Some(name.as_str()) } else { None }).collect();
    names.sort_unstable();
    names
}

/// Whether `text` has the pieces in their order; `held` then tells what each hole holds. A hole takes as little as it can
/// and never nothing.
fn fits<'a>(pieces: &'a [Piece], text: &'a str, held: &mut Vec<(&'a str, &'a str)>) -> bool {
    match pieces {
        [] => text.is_empty(),
        [Piece::Fixed(fixed), rest @ ..] => text.strip_prefix(fixed.as_str()).is_some_and(|t| fits(rest, t, held)),
        [Piece::Hole(name)] => {
            held.push((name, text));
            holds(name, text)
        }
        [Piece::Hole(name), rest @ ..] => {
            let Some(Piece::Fixed(next)) = rest.first() else { return false };
            for (at, _) in text.match_indices(next.as_str()).filter(|(at, _)| holds(name, &text[..*at])) {
                let kept = held.len();
                held.push((name, &text[..at]));
                if fits(rest, &text[at..], held) {
                    return true;
                }
                held.truncate(kept);
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(text: &str) -> Phrasebook {
        Phrasebook::parse(text).expect("a phrasebook")
    }

    #[test]
    fn what_a_hole_holds_is_translated_in_turn_and_may_change_its_place() {
        let book = book("\"the limit is {what} at {load}\" = \"{load} 的瓶颈是{what}\"\n\"one core\" = \"单个核心\"");
        assert_eq!(book.translate("the limit is one core at T1 QD8").as_deref(), Some("T1 QD8 的瓶颈是单个核心"));
        assert_eq!(book.translate("the limit is the moon at T1").as_deref(), Some("T1 的瓶颈是the moon"));
        assert_eq!(book.translate("nothing of the sort"), None);
    }

    #[test]
    fn the_entry_with_the_most_fixed_words_is_taken() {
        let book = book("\"{a}: {b}\" = \"{a}：{b}\"\n\"{a}: more in flight; {b}\" = \"{a}：加大并发；{b}\"");
        assert_eq!(book.translate("reads: more in flight; 8").as_deref(), Some("reads：加大并发；8"));
        assert_eq!(book.translate("reads: other").as_deref(), Some("reads：other"));
    }

    #[test]
    fn a_hole_may_hold_the_words_that_follow_it() {
        let book = book("\"{a} at {b} in all\" = \"{b}/{a}\"");
        assert_eq!(book.translate("x at y at z in all").as_deref(), Some("y at z/x"));
    }

    #[test]
    fn several_sentences_are_translated_one_by_one_and_lists_item_by_item() {
        let book = book("\"One core is the limit.\" = \"瓶颈是单个核心。\"\n\"{n_} threads\" = \"{n_} 个线程\"");
        assert_eq!(book.translate("It ran. One core is the limit.").as_deref(), Some("It ran.瓶颈是单个核心。"));
        assert_eq!(book.translate("one core is the limit.").as_deref(), Some("瓶颈是单个核心。"));
        assert_eq!(book.translate("2 threads, 4 threads and more").as_deref(), Some("2 个线程，4 个线程 和 more"));
        assert_eq!(book.translate("2 threads and 4 threads.").as_deref(), Some("2 个线程 和 4 个线程。"));
        assert_eq!(book.translate("many more threads"), None, "a hole of one word holds one word");
        assert_eq!(book.translate("more: threads"), None, "and no colon after it");
    }

    #[test]
    fn clauses_are_translated_one_by_one_where_a_hole_would_hold_their_semicolon() {
        let book = book(concat!(
            "\"{a_} wins by {b} for {c}\" = \"{c}{a_}胜{b}\"\n\"{n_} are open.\" = \"{n_} 个未定。\"\n",
            "\"{a}; then {b}\" = \"{a}，而后{b}\""
        ));
        assert_eq!(book.translate("x wins by 3 for y; 2 are open.").as_deref(), Some("yx胜3；2 个未定。"));
        assert_eq!(book.translate("x wins by 3 for y; nobody knows").as_deref(), Some("y; nobody knowsx胜3"));
        assert_eq!(book.translate("this; then that").as_deref(), Some("this，而后that"), "its own semicolon");
    }

    #[test]
    fn entries_that_cannot_work_are_refused_by_name() {
        for bad in ["\"{a}\" = \"{a}\"", "\"{a}{b} x\" = \"{a}{b}\"", "\"{a} x\" = \"y\"", "\"a\" = 3"] {
            assert!(Phrasebook::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_shipped_phrasebook_is_read() {
        assert!(Phrasebook::chinese().translate("4k random read T1 QD32").is_some());
    }
}
