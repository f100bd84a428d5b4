//! A message as the text of a column: what is said as it stands is that text, any other message is its JSON.

use fathom_message::Message;

/// The text of the column.
pub(crate) fn message_to_column(message: &Message) -> String {
    match message.as_verbatim() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(message).expect("names and figures are JSON"),
    }
}

/// What the column holds; labs of earlier versions hold sentences.
pub(crate) fn message_from_column(text: String) -> Message {
    let stored = if text.starts_with('{') { serde_json::from_str(&text).ok() } else { None };
    stored.unwrap_or_else(|| Message::verbatim(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_message::{Quantity, msg};

    #[test]
    fn a_message_comes_back_from_its_column() {
        let nested = msg!("what-and-why", what = Message::verbatim("engine null"), why = "/dev/sdb");
        let figure = msg!("unit-error", text = "4q", what = Quantity::iops(84_700.0).with_ci95(Some([1.5, 2.5])));
        for message in [nested, figure, msg!("unit-size"), Message::verbatim("as it was"), Message::verbatim("")] {
            assert_eq!(message_from_column(message_to_column(&message)), message);
        }
    }

    #[test]
    fn a_sentence_is_stored_and_read_as_it_stands() {
        for text in ["no buffers registered", "", "{ is no message", "{}", "{\"id\": 1}", "\"quoted\"", "3"] {
            assert_eq!(message_to_column(&Message::verbatim(text)), text);
            assert_eq!(message_from_column(text.to_owned()).as_verbatim(), Some(text));
        }
    }
}
