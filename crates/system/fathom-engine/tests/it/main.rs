//! The engine on real files and devices. All files are one binary: it links once.

mod arrays;
mod cache;
mod conformance;
mod depths;
mod first_read;
mod refusals;
mod spread;
mod streams;
mod support;
mod trims;
