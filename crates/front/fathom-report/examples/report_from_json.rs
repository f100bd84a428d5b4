//! Reads the JSON document of a run or of a comparison on standard input and writes its report to standard output.
//! The browser tests use it to see what the binary would write. An argument names the language: `en` or `zh`.

use std::io::{self, BufWriter, Write};

use fathom_judge::document::{Comparison, Document};
use fathom_judge::{groups, ladders, loops};
use fathom_language::Language;
use fathom_report::html::{render_comparison, render_html};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let language: Language = std::env::args().nth(1).map_or(Ok(Language::English), |code| code.parse())?;
    let text = io::read_to_string(io::stdin().lock())?;
    let mut out = BufWriter::new(io::stdout().lock());
    match serde_json::from_str::<Comparison>(&text) {
        Ok(comparison) => render_comparison(&comparison, language, &mut out)?,
        Err(_) => {
            let read: Document = serde_json::from_str(&text)?;
            // As the lab derives them; the tests change steps and write none.
            let document = Document {
                ladders: ladders(&read.steps),
                loops: loops(&read.steps),
                groups: groups(&read.steps),
                ..read
            };
            render_html(&document, language, &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}
