//! The two streams: results on stdout, talk on stderr; colour only for warnings and refusals.

use std::borrow::Cow;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_language::{Language, steers_terminal};
use fathom_message::Message;

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

/// A message as the terminal says it: in English.
pub(crate) fn say(message: &Message) -> String {
    Language::English.say(message)
}

/// A line of talk. A closed stderr is no reason to stop measuring.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", sanitized(line));
}

/// Our own colours.
const COLORS: [&str; 3] = ["\x1b[33m", "\x1b[31;1m", "\x1b[0m"];

/// Names come from files, drives and other programs: what would steer a terminal is shown as a replacement character.
fn sanitized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match COLORS.iter().find(|color| rest.starts_with(**color)) {
            Some(color) => {
                out.push_str(color);
                color.len()
            }
            None => {
                out.push(if steers_terminal(c) { char::REPLACEMENT_CHARACTER } else { c });
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// Prints a result; ends the program where that fails.
pub(crate) fn result(text: &str) {
    if let Err(problem) = print_result(text) {
        print_problem(&problem);
        std::process::exit(problem.exit as i32);
    }
}

/// Prints a result. A reader that closed the pipe wants no more, as `| head`; how the program ends does not depend on it.
/// Names reach a file or another program unchanged; a terminal is protected from them.
pub(crate) fn print_result(text: &str) -> Result<(), Problem> {
    let shown = for_reader(text, std::io::stdout().is_terminal());
    stdout(|out| out.write_all(shown.as_bytes()))
}

fn for_reader(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal { Cow::Owned(sanitized(text)) } else { Cow::Borrowed(text) }
}

/// As [`result`], for what is written in pieces.
pub(crate) fn stdout(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Problem> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => {
            let message = format!("cannot write to standard output: {e}");
            Err(Problem::new(Exit::Failed, message, "what was measured is in the lab: fathom show last"))
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
    // A figure and its percent sign stay together.
    let sentence = sentence.replace(" %", "\u{a0}%");
    for word in sentence.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let word = word.replace('\u{a0}', " ");
        if line.chars().count() + word.chars().count() + 1 > WIDTH && line.trim() != "" {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("{indent}  ");
        }
        line.push_str(&word);
        line.push(' ');
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// A date for people.
pub(crate) fn date(known: Option<&str>) -> &str {
    known.unwrap_or("date unknown")
}

#[cfg(test)]
mod tests {
    use super::{fill, for_reader, sanitized};

    #[test]
    fn what_would_steer_a_terminal_is_shown() {
        assert_eq!(
            sanitized("a\x1b]0;title\x07b\u{202e}c\r\nd\te"),
            "a\u{fffd}]0;title\u{fffd}b\u{fffd}c\u{fffd}\nd\te"
        );
        assert_eq!(sanitized("\x1b[33mwarning\x1b[0m: 随机读 ±5 %"), "\x1b[33mwarning\x1b[0m: 随机读 ±5 %");
    }

    #[test]
    fn programs_get_what_a_terminal_does_not() {
        let name = "file\x1b[2J\u{202e}.csv\r\n";
        assert_eq!(for_reader(name, false), name);
        assert_eq!(for_reader(name, true), "file\u{fffd}[2J\u{fffd}.csv\u{fffd}\n");
    }

    #[test]
    fn long_sentences_are_broken_and_indented() {
        assert!(fill(&format!("{} 93 %).", "x".repeat(76)), "").ends_with("\n  93 %).\n"));
        let text = fill(&"word ".repeat(30), "  ");
        assert!(text.lines().all(|l| l.chars().count() <= 80));
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().nth(1).is_some_and(|l| l.starts_with("    word")));
        assert_eq!(text.split_whitespace().count(), 30);
    }
}
