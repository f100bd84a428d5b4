//! The two streams: results on stdout, talk on stderr; colour only for warnings and refusals.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::Color;
use crate::exit::{Exit, Problem};

static COLOR: AtomicBool = AtomicBool::new(false);

/// Decides once whether talk is coloured: `--color`, then `NO_COLOR`, then whether stderr is a terminal.
pub(crate) fn init(color: Color) {
    let on = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::io::stderr().is_terminal(),
    };
    COLOR.store(on, Ordering::Relaxed);
}

fn paint(code: &str, text: &str) -> String {
    if COLOR.load(Ordering::Relaxed) { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A warning's word, coloured if the terminal likes it.
pub(crate) fn warning_word() -> String {
    paint("33", "warning")
}

/// A line of talk. A closed stderr is no reason to stop measuring.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Results. A reader that closed the pipe ends the program quietly, as `| head` expects.
pub(crate) fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => {
            let message = format!("cannot write to standard output: {e}");
            print_problem(&Problem::new(Exit::Failed, message, "what was measured is in the lab: fathom show last"));
            std::process::exit(Exit::Failed as i32);
        }
    }
}

/// Prints an error with its help.
pub(crate) fn print_problem(problem: &Problem) {
    talk(&format!("{}: {}", paint("31;1", "error"), problem.message));
    if let Some(help) = &problem.help {
        talk(&format!("  help: {help}"));
    }
}

/// Breaks a sentence into lines of 80 characters; following lines are indented.
pub(crate) fn fill(sentence: &str, indent: &str) -> String {
    const WIDTH: usize = 80;
    let mut out = String::new();
    let mut line = indent.to_owned();
    for word in sentence.split_whitespace() {
        if line.chars().count() + word.chars().count() + 1 > WIDTH && line.trim() != "" {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("{indent}  ");
        }
        line.push_str(word);
        line.push(' ');
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn long_sentences_are_broken_and_indented() {
        let text = fill(&"word ".repeat(30), "  ");
        assert!(text.lines().all(|l| l.chars().count() <= 80));
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().nth(1).is_some_and(|l| l.starts_with("    word")));
        assert_eq!(text.split_whitespace().count(), 30);
    }
}
