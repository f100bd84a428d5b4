//! Texts in both languages, and the rules that the source keeps. All files are one binary: it links once.

mod catalogues;
mod documents;
mod english;
mod layers;
mod source;
