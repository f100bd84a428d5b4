//! Steps and records for tests, and messages as people read them.

use fathom_message::Message;

pub(crate) use fathom_judge::samples::{document, record, step};

/// As people read them.
pub(crate) fn words<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<String> {
    messages.into_iter().map(fathom_language::english).collect()
}
