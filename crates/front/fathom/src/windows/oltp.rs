//! `fathom oltp`: not on Windows yet, and said so.

use crate::args::{Args, OltpArgs};
use crate::exit::{Exit, Problem};

/// `fathom oltp`.
pub(crate) fn oltp(_args: &Args, _options: &OltpArgs) -> Result<Exit, Problem> {
    Err(Problem::new(
        Exit::Refused,
        "order entry does not run on Windows yet",
        "run it on Linux; on Windows HammerDB has a load derived from TPC-C for SQL Server",
    ))
}
