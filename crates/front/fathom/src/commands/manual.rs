//! `completions` and `manual`.

use std::path::Path;

use super::Output;
use crate::args::Shell;
use crate::exit::{Exit, Problem};
use crate::manual;
use crate::terminal::{result, talk};

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Problem> {
    result(&manual::completions(shell));
    Ok(Exit::Done)
}

/// Writes the pages of the manual; none where one of them may not be written.
pub(crate) fn manual(directory: &Path, force: bool) -> Result<Exit, Problem> {
    if !directory.is_dir() {
        let message = format!("{} is not a directory", directory.display());
        return Err(Problem::usage(message, "name an existing one; each page becomes a file in it"));
    }
    let pages: Vec<_> = manual::pages().into_iter().map(|(name, text)| (directory.join(name), text)).collect();
    for (path, _) in &pages {
        Output { path, force }.check()?;
    }
    for (path, text) in &pages {
        Output { path, force }.write(|out| out.write_all(text.as_bytes()))?;
    }
    talk(&format!("{} pages written to {}", pages.len(), directory.display()));
    Ok(Exit::Done)
}
