//! A message: an id with named arguments.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::arg::Arg;

/// The id of what is said as it stands: names, a user's own words, sentences of labs written before messages were typed.
pub const VERBATIM: &str = "verbatim";
/// The one argument of [`VERBATIM`].
const TEXT: &str = "text";

/// What is said: an id with named arguments. Made by [`crate::msg!`]; the front has the words for each id.
///
/// `Display` shows id and arguments, for logs and for programmers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
// What the viewer reads has sentences where this has messages.
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct Message {
    id: Cow<'static, str>,
    args: Vec<(Cow<'static, str>, Arg)>,
}

impl Message {
    /// A message without arguments. Code says `msg!`, so that a test finds every id.
    #[must_use]
    pub const fn new(id: &'static str) -> Message {
        Message { id: Cow::Borrowed(id), args: Vec::new() }
    }

    /// What needs no words of ours: a name, or what somebody else said.
    #[must_use]
    pub fn verbatim(text: impl Into<String>) -> Message {
        Message::new(VERBATIM).with(TEXT, text.into())
    }

    /// The same with one argument more.
    #[must_use]
    pub fn with(mut self, name: &'static str, arg: impl Into<Arg>) -> Message {
        self.args.push((Cow::Borrowed(name), arg.into()));
        self
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The arguments by name, in the order they were given.
    pub fn args(&self) -> impl Iterator<Item = (&str, &Arg)> {
        self.args.iter().map(|(name, arg)| (&**name, arg))
    }

    /// The argument of this name.
    #[must_use]
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args().find(|(n, _)| *n == name).map(|(_, arg)| arg)
    }

    /// The same with every text in it, at any depth, put through `change`: to make what strangers say safe to print.
    #[must_use]
    pub fn map_texts(mut self, change: &dyn Fn(&str) -> String) -> Message {
        for (_, arg) in &mut self.args {
            match arg {
                Arg::Text(text) => *text = Cow::Owned(change(text)),
                Arg::Message(message) => {
                    let inside = std::mem::replace(&mut **message, Message::new(VERBATIM));
                    **message = inside.map_texts(change);
                }
                Arg::List { items, .. } => {
                    *items = std::mem::take(items).into_iter().map(|item| item.map_texts(change)).collect();
                }
                Arg::Count(_) | Arg::Quantity(_) => {}
            }
        }
        self
    }

    /// The text of a message that needs no words of ours.
    #[must_use]
    pub fn as_verbatim(&self) -> Option<&str> {
        match self.arg(TEXT) {
            Some(Arg::Text(text)) if self.id == VERBATIM => Some(text),
            _ => None,
        }
    }

    /// Whether this message, or one inside it, has the id: for tests. What code decides by stands typed beside the message.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        let inside = |arg: &Arg| match arg {
            Arg::Message(message) => message.holds(id),
            Arg::List { items, .. } => items.iter().any(|m| m.holds(id)),
            Arg::Text(_) | Arg::Count(_) | Arg::Quantity(_) => false,
        };
        self.id == id || self.args.iter().any(|(_, arg)| inside(arg))
    }
}

/// A message with its arguments: `msg!("guard-mounted", path = path, mount = mount)`. The id is a literal.
#[macro_export]
macro_rules! msg {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::Message::new($id)$(.with(stringify!($name), $value))*
    };
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.as_verbatim() {
            return f.write_str(text);
        }
        f.write_str(&self.id)?;
        for (at, (name, arg)) in self.args.iter().enumerate() {
            write!(f, "{}{name}={arg}", if at == 0 { "(" } else { ", " })?;
        }
        if self.args.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Text(text) => f.write_str(text),
            Arg::Count(count) => count.fmt(f),
            Arg::Quantity(q) => {
                write!(f, "{} {}", q.value, q.unit.as_str())?;
                q.ci95.map_or(Ok(()), |[low, high]| write!(f, " [{low}, {high}]"))
            }
            Arg::Message(message) => message.fmt(f),
            Arg::List { items, .. } => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

/// The stored shape of a message that has words of ours.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    args: Cow<'a, [(Cow<'static, str>, Arg)]>,
}

/// A verbatim message is stored as its text, so that what was stored as text before is one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    Text(String),
    Message(Stored<'static>),
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_verbatim() {
            Some(text) => serializer.serialize_str(text),
            None => Stored { id: Cow::Borrowed(&self.id), args: Cow::Borrowed(&self.args) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => Message::verbatim(text),
            Either::Message(Stored { id, args }) => {
                Message { id: Cow::Owned(id.into_owned()), args: args.into_owned() }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Join;
    use crate::unit::{Quantity, Unit};

    fn sample() -> Message {
        let inner = msg!("limit-core", cpu = 3_u32);
        let list = Arg::list([inner.clone(), Message::verbatim("nvme0n1")], Join::And);
        let iops = Quantity::iops(1000.5).with_ci95(Some([900.0, 1100.0]));
        msg!("sample", path = "/dev/sdb", inner = inner, list = list, iops = iops)
    }

    #[test]
    fn what_is_stored_comes_back() {
        for message in [sample(), Message::verbatim("as it was"), Message::new("bare")] {
            let text = serde_json::to_string(&message).expect("serializes");
            assert_eq!(serde_json::from_str::<Message>(&text).expect("reads"), message, "{text}");
        }
    }

    #[test]
    fn a_stored_text_is_said_as_it_stands() {
        let old: Message = serde_json::from_str("\"no buffers registered\"").expect("reads");
        assert_eq!(old.as_verbatim(), Some("no buffers registered"));
        assert_eq!(serde_json::to_string(&old).expect("serializes"), "\"no buffers registered\"");
    }

    #[test]
    fn display_shows_id_and_arguments_and_finds_what_is_inside() {
        let shown = sample().to_string();
        assert_eq!(
            shown,
            "sample(path=/dev/sdb, inner=limit-core(cpu=3), list=[limit-core(cpu=3), nvme0n1], \
             iops=1000.5 iops [900, 1100])"
        );
        assert!(sample().holds("limit-core") && !sample().holds("limit-device"));
    }

    #[test]
    fn texts_are_changed_at_every_depth_and_nothing_else() {
        let loud = sample().map_texts(&|text| text.to_uppercase());
        assert_eq!(
            loud.to_string(),
            "sample(path=/DEV/SDB, inner=limit-core(cpu=3), list=[limit-core(cpu=3), NVME0N1], \
             iops=1000.5 iops [900, 1100])"
        );
    }

    #[test]
    fn every_unit_is_written_as_in_the_contract() {
        for unit in Unit::ALL {
            assert_eq!(serde_json::to_value(unit).expect("serializes"), unit.as_str());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives(text in ".*", name in "[a-z]{1,8}") {
            let message = Message::new("any").with("text", text.clone()).with("name", name);
            let stored = serde_json::to_string(&message).expect("serializes");
            proptest::prop_assert_eq!(serde_json::from_str::<Message>(&stored).expect("reads"), message);
        }
    }
}
