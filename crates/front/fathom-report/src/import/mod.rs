//! Takes in results that were measured elsewhere: fio's JSON (json, json+, client_stats) and Fathom's own documents.
//!
//! Where fio's file has bins (json+), the latencies become samples again; where it has only figures, they stay quoted.

mod error;
mod fathom;
mod fio;
mod fio_latency;
mod fio_options;
mod fio_step;
mod text;

use fathom_message::{Message, msg};
use fathom_plan::{Plan, Step};
use fathom_record::StepRecord;
use serde_json::Value;

pub use error::ImportError;

/// A run measured elsewhere, ready for the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The plan as far as the file tells it.
    pub plan: Plan,
    /// Measured steps in order.
    pub steps: Vec<(Step, StepRecord)>,
    /// Wall clock at the start of the run, Unix nanoseconds; 0 when the file does not say.
    pub started_unix_ns: u64,
    /// What a reader must know about how the file was read; also what fio printed beside its JSON.
    pub notes: Vec<Message>,
    /// What the file says about the host and the program that measured.
    pub host_json: Value,
}

/// Takes in a file of any known kind. `file_name` is used in messages only.
///
/// # Errors
/// [`ImportError`] with the place in the file; nothing is half imported.
pub fn import_json(text: &str, file_name: &str) -> Result<Imported, ImportError> {
    let found = text::find_document(text, file_name)?;
    let has = |key: &str| found.value.get(key).is_some();
    if has("fathom") && has("schema") && has("steps") {
        fathom::import(&found, file_name)
    } else if has("fio version") || has("jobs") || has("client_stats") {
        fio::import(&found, file_name)
    } else {
        Err(foreign_json(&found.value, file_name))
    }
}

fn foreign_json(value: &Value, file: &str) -> ImportError {
    let keys: Vec<&str> = value.as_object().map(|o| o.keys().map(String::as_str).take(5).collect()).unwrap_or_default();
    let looks_like =
        if keys.is_empty() { msg!("import-empty-object") } else { msg!("import-foreign-json", keys = keys.join(", ")) };
    ImportError::WrongKind { file: file.to_owned(), looks_like, help: msg!("import-reads") }
}
