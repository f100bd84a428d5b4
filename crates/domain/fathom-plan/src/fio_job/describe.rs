//! Answers to fio's `--showcmd`, `--cmdhelp` and `--enghelp`, and the table of its keys.

use fathom_message::Message;

use super::ini::{FioText, Section, Source};
use super::keys::{self, Treatment};
use super::{FioHost, foreign};
use crate::error::SourceError;
use crate::step::EngineName;

/// Treatment of a fio key.
#[derive(Clone, Debug, PartialEq)]
pub enum FioKeyUse {
    /// Done as fio does it.
    AsFio,
    /// Taken, without effect; with the reason.
    Noted(Message),
    /// Refused: reason, remedy, and the values that are accepted since they change nothing.
    Refused {
        /// Reason.
        why: Message,
        /// Remedy.
        help: Message,
        /// Values that are taken.
        accepted: &'static [&'static str],
    },
}

/// A key of fio.
#[derive(Clone, Debug, PartialEq)]
pub struct FioKeyInfo {
    /// fio's first name.
    pub name: &'static str,
    /// fio's other names.
    pub aliases: &'static [&'static str],
    /// Treatment of the key.
    pub is: FioKeyUse,
    /// Meaning, where it is a knob of Fathom too.
    pub help: Option<Message>,
}

/// All keys of fio 3.33 and those of later versions that Fathom takes, by name.
#[must_use]
pub fn fio_keys() -> Vec<FioKeyInfo> {
    let knobs = keys::fio_knobs().map(|(knob, fio)| (knob.name, fio.aliases, Some(knob.help.clone())));
    let others = keys::other_keys().map(|(name, aliases)| (name, aliases, None));
    let mut all: Vec<FioKeyInfo> = knobs
        .chain(others)
        .map(|(name, aliases, help)| {
            let is = match keys::treatment(name) {
                Some(Treatment::Noted(why)) => FioKeyUse::Noted(why.clone()),
                Some(Treatment::Refused(why, remedy, accepted)) => FioKeyUse::Refused {
                    why: why.clone(),
                    help: remedy.clone(),
                    accepted: keys::harmless_values(name).unwrap_or(accepted),
                },
                Some(Treatment::Knob | Treatment::Own) | None => FioKeyUse::AsFio,
            };
            FioKeyInfo { name, aliases, is, help }
        })
        .collect();
    all.sort_by_key(|key| key.name);
    all
}

/// Keys of single engines.
const OF_ENGINES: [(EngineName, &[&str]); 4] = [
    (
        EngineName::IoUring,
        &["hipri", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored"],
    ),
    (
        EngineName::IoUringCmd,
        &["cmd_type", "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu"],
    ),
    (EngineName::Libaio, &["userspace_reap"]),
    (EngineName::Files, &[]),
];

/// Engines of fio that Fathom has, in its words.
#[must_use]
pub fn fio_engines() -> Vec<&'static str> {
    foreign::all_engines().filter(|name| !foreign::is_engine_of_fio(name)).collect()
}

/// Keys that `engine` alone has; `None`: Fathom has no such engine.
#[must_use]
pub fn fio_engine_keys(engine: &str) -> Option<&'static [&'static str]> {
    if !fio_engines().contains(&engine) {
        return None;
    }
    let of = OF_ENGINES.iter().find(|(name, _)| name.as_str() == engine);
    Some(of.map_or(&[][..], |(_, keys)| keys))
}

/// The job files as a command line of fio. `only`: sections to show; empty: all.
///
/// # Errors
/// Lines that are neither section nor key, includes that cannot be read, variables that are not set.
pub fn fio_shown_command(texts: &[FioText], only: &[String], host: &dyn FioHost) -> Result<String, SourceError> {
    let (_, sections) = Source::read(texts, host)?;
    let is_shown = |section: &&Section| {
        section.file.is_some() && (only.is_empty() || section.is_global() || only.contains(&section.name))
    };
    let mut words = vec!["fio".to_owned()];
    for section in sections.iter().filter(is_shown) {
        if !section.is_global() {
            words.push(format!("--name={}", section.name));
        }
        words.extend(section.entries.iter().map(|entry| match &entry.value {
            Some(value) => format!("--{}={value}", entry.key),
            None => format!("--{}", entry.key),
        }));
    }
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use fathom_language::english;

    use super::super::host::UnseenHost;
    use super::*;

    #[test]
    fn a_job_file_is_shown_as_a_command_line() {
        let text = "[global]\nbs=8k\n[a]\nrw=write\ngroup_reporting\n[b]\nname=c\n".to_owned();
        let texts = [FioText::File { name: "j.fio".to_owned(), text }];
        let shown = fio_shown_command(&texts, &[], &UnseenHost(&|_| None)).expect("a job file");
        assert_eq!(shown, "fio --bs=8k --name=a --rw=write --group_reporting --name=b --name=c");
    }

    /// The table of docs/FIO.md.
    fn table() -> String {
        let mut text = "| key | also | Fathom |\n| --- | --- | --- |\n".to_owned();
        for key in fio_keys() {
            let aliases = key.aliases.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            let values = |accepted: &[&str]| accepted.iter().map(|v| format!("`{v}`")).collect::<Vec<_>>().join(", ");
            let becomes = match &key.is {
                FioKeyUse::AsFio => "as fio".to_owned(),
                FioKeyUse::Noted(why) => format!("noted: {}", english(why)),
                FioKeyUse::Refused { why, accepted: [], .. } => format!("refused: {}", english(why)),
                FioKeyUse::Refused { why, accepted, .. } => {
                    format!("refused, except {}: {}", values(accepted), english(why))
                }
            };
            text += &format!("| `{}` | {aliases} | {} |\n", key.name, becomes.replace('|', "\\|"));
        }
        text
    }

    /// `FATHOM_BLESS=1` writes the table again.
    #[test]
    fn the_document_has_every_key() {
        const BEGIN: &str = "<!-- keys of fio: made by a test -->\n\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/FIO.md");
        let kept = std::fs::read_to_string(path).expect("the document");
        let (before, rest) = kept.split_once(BEGIN).expect("the place of the table");
        let end = rest.find("\n\n").map_or(rest.len(), |at| at + 1);
        let now = format!("{before}{BEGIN}{}{}", table(), &rest[end..]);
        if std::env::var_os("FATHOM_BLESS").is_some() {
            std::fs::write(path, &now).expect("written");
        } else {
            assert!(kept == now, "docs/FIO.md has another table of keys: run this test with FATHOM_BLESS=1");
        }
    }

    #[test]
    fn each_key_says_what_becomes_of_it() {
        let keys = fio_keys();
        let of = |name: &str| &keys.iter().find(|key| key.name == name).expect("a key").is;
        assert_eq!(*of("bs"), FioKeyUse::AsFio);
        assert!(matches!(of("thread"), FioKeyUse::Noted(_)));
        assert!(matches!(of("nice"), FioKeyUse::Refused { accepted, .. } if accepted.contains(&"0")));
        assert!(fio_engines().contains(&"libaio") && fio_engine_keys("rbd").is_none());
    }
}
