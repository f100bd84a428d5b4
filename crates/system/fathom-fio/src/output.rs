//! Parts what fio prints, as it comes, into its JSON documents and its messages.

/// Collects the lines of fio's standard output.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    rest: String,
    open: Option<String>,
    /// Lines outside of any document, and messages within.
    pub(crate) messages: Vec<String>,
}

impl Documents {
    /// Takes more text; the documents that are complete with it.
    pub(crate) fn take(&mut self, more: &str) -> Vec<String> {
        self.rest.push_str(more);
        let mut complete = Vec::new();
        while let Some(end) = self.rest.find('\n') {
            let line: String = self.rest.drain(..=end).collect();
            match (&mut self.open, line.trim_end()) {
                (None, "{") => self.open = Some(line),
                (None, "") => {}
                (None, message) => self.messages.push(message.to_owned()),
                (Some(_), message) if message.starts_with("fio:") => self.messages.push(message.to_owned()),
                (Some(text), end) => {
                    let is_end = end == "}";
                    text.push_str(&line);
                    if is_end {
                        complete.extend(self.open.take());
                    }
                }
            }
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_parted_wherever_the_text_is_cut() {
        let text = "note: x\n{\n  \"a\" : {\n  }\nfio: said\n}\n{\n  \"b\" : 1\n}\n";
        for cut in 1..text.len() {
            let mut documents = Documents::default();
            let mut found = documents.take(&text[..cut]);
            found.extend(documents.take(&text[cut..]));
            assert_eq!(found, ["{\n  \"a\" : {\n  }\n}\n", "{\n  \"b\" : 1\n}\n"]);
            assert_eq!(documents.messages, ["note: x", "fio: said"]);
        }
    }
}
