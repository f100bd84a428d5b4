//! The command line of Fathom, for the program of that name and for the one whose processes work together through MPI.

mod answer;
mod args;
mod commands;
mod comparison;
mod exit;
mod explanation;
mod idle;
mod inventory;
mod knob_flags;
mod launcher;
mod manual;
mod model_args;
mod nvme_args;
#[cfg(target_os = "linux")]
mod oltp_answer;
mod preview;
mod progress;
mod ranks;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;
mod table;
mod terminal;

use clap::Parser;

pub use fathom_lab::Link;
pub use launcher::refuse_foreign_launcher;
pub use ranks::{Ended, main_of_ranks};

/// `fathom`: parses the command line, does what it says, and says how that ended.
#[must_use]
pub fn main() -> std::process::ExitCode {
    let args = args::Args::parse();
    terminal::init(args.color);
    match commands::dispatch(&args) {
        Ok(exit) => exit.into(),
        Err(problem) => {
            terminal::print_problem(&problem);
            problem.exit.into()
        }
    }
}
