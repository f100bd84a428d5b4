//! Record to HTML, CSV, JSON, fio's JSON and logs, and fio's JSON back in: formats, never computes.

pub mod html;
