//! `fathom`: how fast is this storage, what limits it, and what would change that.

mod answer;
mod args;
mod commands;
mod comparison;
mod exit;
mod explanation;
mod idle;
mod inventory;
mod knob_flags;
mod manual;
mod model_args;
mod nvme_args;
mod oltp_answer;
mod preview;
mod progress;
mod table;
mod terminal;

use clap::Parser;

fn main() -> std::process::ExitCode {
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
