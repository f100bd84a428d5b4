//! `fathom-mpi` under another version, for the test that ranks of several versions do not measure together.

#[path = "../src/link.rs"]
mod link;

use std::process::ExitCode;
use std::rc::Rc;

use mpi::Threading;

use link::MpiLink;

fn main() -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return ExitCode::FAILURE;
    };
    let link = Rc::new(MpiLink::new(universe.world()));
    ExitCode::from(fathom::main_of_ranks(link, std::env::args_os(), "0.0.0-other").code)
}
