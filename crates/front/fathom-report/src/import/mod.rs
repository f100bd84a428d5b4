//! Takes in results that were measured elsewhere: fio's JSON (json, json+, client_stats), Fathom's own documents, the table of
//! `spdk_nvme_perf` and the JSON of `bdevperf`.
//!
//! Where fio's file has bins (json+), the latencies become samples again; where it has only figures, they stay quoted.

mod fathom;

use fathom_fio::{find_document, import_bdevperf, import_fio, import_perf, is_bdevperf, is_perf_table};
use fathom_message::msg;
use serde_json::Value;

pub use fathom_fio::{ImportError, Imported};

/// Takes in a file of any known kind. `file_name` is used in messages only.
///
/// # Errors
/// [`ImportError`] with the place in the file; nothing is half imported.
pub fn import_json(text: &str, file_name: &str) -> Result<Imported, ImportError> {
    if is_perf_table(text) {
        return import_perf(text, file_name);
    }
    let found = find_document(text, file_name)?;
    let has = |key: &str| found.value.get(key).is_some();
    if has("fathom") && has("schema") && has("steps") {
        fathom::import(&found, file_name)
    } else if has("fio version") || has("jobs") || has("client_stats") {
        import_fio(&found, file_name)
    } else if is_bdevperf(&found.value) {
        import_bdevperf(&found, file_name)
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
