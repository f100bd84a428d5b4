//! Record to HTML, CSV, JSON, fio's JSON and logs, and fio's JSON back in: formats, never computes.

mod csv;
mod fio_bins;
mod fio_json;
mod fio_log;
mod hlog;
pub mod html;
pub mod import;
mod json;
mod oltp_page;
mod words;

pub use csv::csv;
pub use fio_bins::{FIO_BINS, bin_counts, bin_of_ns, ns_of_bin};
pub use fio_json::{fio_json, fio_json_files, fio_json_text, fio_normal_text, fio_terse_text};
pub use fio_log::fio_logs;
pub use hlog::{HlogError, hlog};
pub use json::json;
pub use oltp_page::oltp_page;
pub use words::in_words;
