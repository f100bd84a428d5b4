//! Reports, exports and imports. All files are one binary: it links once.

mod article_phrases;
mod export;
mod fio_plot;
mod import;
mod import_unsaid;
mod support;
mod viewer_types;
