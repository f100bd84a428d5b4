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
    system::signals::report_file_size_limit();
    if let Some(problem) = too_little_address_space() {
        return ended(Err(problem)).into();
    }
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => error.exit(),
        // Help, or the version.
        Err(asked) => {
            let printed = terminal::stdout(|_| asked.print()).map(|()| exit::Exit::Done);
            return ended(printed.map_err(|problem| exit::Problem { help: None, ..problem })).into();
        }
    };
    terminal::init(args.color);
    ended(commands::dispatch(&args)).into()
}

/// Address space that the program takes before it has done anything: stacks, what the allocator reserves, the lab.
const ADDRESS_SPACE_BYTES: u64 = 32 << 20;

/// With less a process is ended by a signal at any place.
fn too_little_address_space() -> Option<exit::Problem> {
    let left =
        fathom_host::address_space_left(&fathom_host::Root::live()).filter(|left| *left < ADDRESS_SPACE_BYTES)?;
    let (need, left) = (fathom_units::format_bytes(ADDRESS_SPACE_BYTES), fathom_units::format_bytes(left));
    let message = format!("needs {need} of address space, and {left} are left (ulimit -v)");
    Some(exit::Problem::new(exit::Exit::Failed, message, "raise the limit, for example with ulimit -v unlimited"))
}

fn ended(result: Result<exit::Exit, exit::Problem>) -> exit::Exit {
    result.unwrap_or_else(|problem| {
        terminal::print_problem(&problem);
        problem.exit
    })
}
