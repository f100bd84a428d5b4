//! What a message is about: names, counts, quantities and other messages.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::unit::Quantity;

/// How the messages of a list stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// `a, b, c`.
    #[default]
    Comma,
    /// `a, b and c`.
    And,
    /// `a, b or c`.
    Or,
    /// Clauses: `a; b; c`.
    Semicolon,
    /// Figures side by side: `a · b · c`.
    Dot,
    /// Sentences, one after the other.
    Sentences,
    /// Words of one expression: `a b c`.
    Space,
}

/// An argument of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// The same in every language: a path, a name, a command, a word of the command line, what an operating system says.
    Text(Cow<'static, str>),
    /// How many: decides between singular and plural.
    Count(u64),
    /// A figure with its unit.
    Quantity(Quantity),
    /// A part of the sentence that has words of its own.
    Message(Box<Message>),
    /// Several of them.
    List {
        /// In their order.
        items: Vec<Message>,
        /// How they stand together.
        join: Join,
    },
}

impl Arg {
    /// Several messages.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Message>, join: Join) -> Arg {
        Arg::List { items: items.into_iter().collect(), join }
    }

    /// Several names.
    #[must_use]
    pub fn names<T: Into<String>>(names: impl IntoIterator<Item = T>, join: Join) -> Arg {
        Arg::list(names.into_iter().map(|name| Message::verbatim(name.into())), join)
    }
}

macro_rules! from {
    ($($type:ty => |$value:ident| $arg:expr;)*) => {
        $(impl From<$type> for Arg {
            fn from($value: $type) -> Arg {
                $arg
            }
        })*
    };
}

from! {
    &'static str => |text| Arg::Text(Cow::Borrowed(text));
    String => |text| Arg::Text(Cow::Owned(text));
    &String => |text| Arg::Text(Cow::Owned(text.clone()));
    Cow<'static, str> => |text| Arg::Text(text);
    &Path => |path| Arg::Text(Cow::Owned(path.display().to_string()));
    &PathBuf => |path| Arg::from(path.as_path());
    PathBuf => |path| Arg::from(path.as_path());
    std::path::Display<'_> => |path| Arg::Text(Cow::Owned(path.to_string()));
    std::io::Error => |error| Arg::Text(Cow::Owned(error.to_string()));
    &std::io::Error => |error| Arg::Text(Cow::Owned(error.to_string()));
    u8 => |n| Arg::Count(n.into());
    u16 => |n| Arg::Count(n.into());
    u32 => |n| Arg::Count(n.into());
    u64 => |n| Arg::Count(n);
    usize => |n| Arg::Count(n as u64);
    Quantity => |quantity| Arg::Quantity(quantity);
    Message => |message| Arg::Message(Box::new(message));
    &Message => |message| Arg::Message(Box::new(message.clone()));
    Vec<Message> => |items| Arg::list(items, Join::Comma);
}
