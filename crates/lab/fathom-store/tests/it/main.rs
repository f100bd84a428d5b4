//! The store on real files. All files are one binary: it links once.

mod kill;
mod round_trip;
mod samples;
