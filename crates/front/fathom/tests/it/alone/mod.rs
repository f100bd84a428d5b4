//! Tests whose result depends on time or on an idle host, and tests that change a setting of the whole machine. The runner
//! starts them last, one at a time, and allows one retry.

mod busy_host;
mod cost;
mod fio_shares;
mod io_uring_off;
mod limits;
mod stopping;
