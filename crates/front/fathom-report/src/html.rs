//! The report as one HTML file.
