//! fio-plot (PyPI) draws what we export. Needs its path in FATHOM_FIO_PLOT.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{document, record, step};
use fathom_plan::OpMix;
use fathom_report::{fio_json_files, fio_logs};

/// fio-plot as named by the environment; says on stderr why the test is skipped when it is not.
#[allow(clippy::print_stderr)]
fn fio_plot() -> Option<PathBuf> {
    let path = std::env::var_os("FATHOM_FIO_PLOT").map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: FATHOM_FIO_PLOT does not name the program fio-plot (PyPI package fio-plot)");
    }
    path
}

/// Random reads at queue depths 1 and 8, with 1 and 2 threads, as files in a new directory.
fn exported() -> tempfile::TempDir {
    let loads = [(1, 1), (1, 8), (2, 1), (2, 8)];
    let steps: Vec<_> = loads
        .into_iter()
        .zip(0..)
        .map(|((threads, depth), index)| {
            let step = step(index, OpMix::READ, threads, depth);
            let record = record(&step, 5_000 * u64::from(threads * depth), 8);
            (step, record)
        })
        .collect();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let data = dir.path().join("data");
    std::fs::create_dir(&data).expect("room for a directory");
    for (name, text) in fio_json_files(&document(&steps), &steps, true).into_iter().chain(fio_logs(&steps)) {
        std::fs::write(data.join(name), text).expect("room for a file");
    }
    dir
}

fn draw(program: &Path, dir: &Path, kind: &[&str]) {
    let picture = dir.join("chart.png");
    let output = Command::new(program)
        .current_dir(dir)
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", dir)
        .args(["-i", "data", "-T", "exported by Fathom", "-r", "randread", "-o", "chart.png"])
        .args(kind)
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{kind:?}: {said}");
    let bytes = std::fs::read(&picture).unwrap_or_else(|e| panic!("{kind:?}: no picture ({e}): {said}"));
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{kind:?}: {} bytes: {said}", bytes.len());
    std::fs::remove_file(&picture).expect("it was there");
}

#[test]
fn fio_plot_draws_iops_and_latency_by_queue_depth() {
    let Some(program) = fio_plot() else { return };
    let dir = exported();
    draw(&program, dir.path(), &["-l", "-d", "1", "8", "-n", "1"]);
    draw(&program, dir.path(), &["-L", "-t", "iops", "-d", "1", "8", "-n", "1", "2"]);
    draw(&program, dir.path(), &["-N", "-n", "1", "2", "-d", "8"]);
}

#[test]
fn fio_plot_draws_the_latency_histogram() {
    let Some(program) = fio_plot() else { return };
    let dir = exported();
    draw(&program, dir.path(), &["-H", "-d", "8", "-n", "1"]);
}

#[test]
fn fio_plot_draws_lines_from_the_logs() {
    let Some(program) = fio_plot() else { return };
    let dir = exported();
    draw(&program, dir.path(), &["-g", "-t", "lat", "iops", "-d", "1", "8", "-n", "1"]);
}
