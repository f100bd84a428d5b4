//! Reads the JSON document of a run on standard input and writes its report to standard output.
//! The browser tests use it to see what the binary would write.

use std::io::{self, BufWriter, Write};

use fathom_lab::document::Document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let doc: Document = serde_json::from_reader(io::stdin().lock())?;
    let mut out = BufWriter::new(io::stdout().lock());
    fathom_report::html::render_html(&doc, &mut out)?;
    out.flush()?;
    Ok(())
}
