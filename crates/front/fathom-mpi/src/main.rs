//! `fathom-mpi`: started by mpirun or srun, its processes do `io` and `run` together.

mod link;

use std::process::ExitCode;
use std::rc::Rc;

use mpi::Threading;
use mpi::traits::Communicator as _;

use link::MpiLink;

fn main() -> ExitCode {
    // After a second signal the program is replaced by itself with this word: what it restores needs no other rank.
    if std::env::args().any(|word| word == "restore") {
        return fathom::main();
    }
    // Workers do not call MPI: their thread's runner does.
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let library = mpi::environment::library_version().unwrap_or_default();
    if let Some(ended) = fathom::refuse_foreign_launcher(world.size().unsigned_abs(), &library) {
        return ExitCode::from(ended.code);
    }
    let ended = {
        let link = Rc::new(MpiLink::new(universe.world()));
        fathom::main_of_ranks(link, std::env::args_os(), env!("CARGO_PKG_VERSION"))
    };
    if ended.lost {
        // A rank that hangs would let the others wait for ever where MPI ends.
        world.abort(i32::from(ended.code));
    }
    ExitCode::from(ended.code)
}
