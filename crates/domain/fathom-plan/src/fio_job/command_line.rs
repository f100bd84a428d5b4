//! fio's command line: options that make jobs become a job file, the others say what to do with it.

use std::fmt::Write as _;

use fathom_message::{Message, Say, msg, say_error};

use super::keys;

/// What a command line of fio asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioCommandLine {
    /// The jobs of the command line as the text of a job file; empty without any.
    pub jobs: String,
    /// Job files that are named, in their order.
    pub files: Vec<String>,
    /// Sections to run; empty: all.
    pub sections: Vec<String>,
    /// Formats of the result, at least one.
    pub formats: Vec<FioFormat>,
    /// File for the result; `None`: standard output.
    pub output: Option<String>,
    /// Whether only the jobs are checked.
    pub is_parse_only: bool,
    /// Whether nothing may be written to targets.
    pub is_read_only: bool,
    /// Whether only the version is asked for.
    pub is_version: bool,
}

/// A format of fio's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFormat {
    /// Text for people.
    Normal,
    /// JSON.
    Json,
    /// JSON with the bins of histograms.
    JsonPlus,
}

/// A command line that cannot be done as fio would.
#[derive(Clone, Debug, PartialEq)]
pub struct FioCommandError {
    message: Message,
    help: Message,
}

impl Say for FioCommandError {
    fn message(&self) -> Message {
        self.message.clone()
    }

    fn help(&self) -> Option<Message> {
        Some(self.help.clone())
    }
}

say_error!(FioCommandError);

/// Options of fio's that say how it goes about its work, not what the jobs are. True: they take a value.
const HARMLESS: [(&str, bool); 9] = [
    ("eta", true),
    ("eta-newline", true),
    ("eta-interval", true),
    ("status-interval", true),
    ("max-jobs", true),
    ("alloc-size", true),
    ("warnings-fatal", false),
    ("thread", false),
    ("terse-version", true),
];

/// Options that Fathom cannot do.
const REFUSED: [&str; 16] = [
    "bandwidth-log",
    "latency-log",
    "client",
    "server",
    "remote-config",
    "daemonize",
    "minimal",
    "append-terse",
    "idle-prof",
    "trigger",
    "trigger-file",
    "trigger-timeout",
    "merge-blktrace-only",
    "inflate-log",
    "profile",
    "debug",
];

/// Reads the words behind `fio`.
///
/// # Errors
/// Options that Fathom cannot do, by their names, and options without the value that they need. Keys of jobs are judged with
/// the job file.
pub fn fio_command_line(words: &[String]) -> Result<FioCommandLine, FioCommandError> {
    let mut line = FioCommandLine::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else {
            line.files.push(word.clone());
            continue;
        };
        let (key, mut value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let of_program = own_option(key);
        let needs_value = of_program.unwrap_or_else(|| !keys::is_flag(keys::canonical(key)));
        if value.is_none() && needs_value {
            value = Some(words.next().ok_or_else(|| without_value(key))?.clone());
        }
        match of_program {
            Some(_) => take(&mut line, key, value.as_deref().unwrap_or_default())?,
            None => add_key(&mut line.jobs, key, value.as_deref())?,
        }
    }
    if line.formats.is_empty() {
        line.formats.push(FioFormat::Normal);
    }
    Ok(line)
}

/// Whether an option of the program, not of a job, takes a value; `None` for keys of jobs.
fn own_option(key: &str) -> Option<bool> {
    match key {
        "output" | "output-format" | "section" => Some(true),
        "parse-only" | "readonly" | "version" => Some(false),
        _ if REFUSED.contains(&key) => Some(false),
        _ => HARMLESS.iter().find(|(name, _)| *name == key).map(|(_, takes_value)| *takes_value),
    }
}

fn take(line: &mut FioCommandLine, key: &str, value: &str) -> Result<(), FioCommandError> {
    match key {
        "output" => line.output = Some(value.to_owned()),
        "output-format" => {
            for format in value.split(',') {
                line.formats.push(match format {
                    "normal" => FioFormat::Normal,
                    "json" => FioFormat::Json,
                    "json+" => FioFormat::JsonPlus,
                    other => return Err(unknown_format(other)),
                });
            }
        }
        "section" => line.sections.push(value.to_owned()),
        "parse-only" => line.is_parse_only = true,
        "readonly" => line.is_read_only = true,
        "version" => line.is_version = true,
        _ if REFUSED.contains(&key) => {
            return Err(FioCommandError {
                message: msg!("fio-command-refused", option = format!("--{key}")),
                help: msg!("fio-command-refused-help"),
            });
        }
        _ => {}
    }
    Ok(())
}

/// A line of the job file; `--name` begins a section, and what stands before the first is for all.
fn add_key(jobs: &mut String, key: &str, value: Option<&str>) -> Result<(), FioCommandError> {
    if let Some(text) = value.filter(|text| text.contains([';', '#', '\n'])) {
        return Err(FioCommandError {
            message: msg!("fio-command-character", key = format!("--{key}"), text = text.to_owned()),
            help: msg!("fio-command-character-help"),
        });
    }
    match (key, value) {
        ("name", Some(name)) => {
            let _infallible = writeln!(jobs, "[{name}]");
        }
        (key, value) => {
            if jobs.is_empty() {
                jobs.push_str("[global]\n");
            }
            let _infallible = match value {
                Some(value) => writeln!(jobs, "{key}={value}"),
                None => writeln!(jobs, "{key}"),
            };
        }
    }
    Ok(())
}

fn without_value(key: &str) -> FioCommandError {
    FioCommandError {
        message: msg!("fio-needs-a-value", key = format!("--{key}")),
        help: msg!("fio-needs-a-value-help", key = format!("--{key}")),
    }
}

fn unknown_format(format: &str) -> FioCommandError {
    FioCommandError {
        message: msg!("fio-command-format", format = format.to_owned()),
        help: msg!("fio-command-format-help"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<FioCommandLine, FioCommandError> {
        fio_command_line(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_become_a_job_file_as_fio_reads_them() {
        let line = read(
            "--direct=1 --name=a --rw randread --time_based --runtime=5 --name b --fdatasync=1 --output-format=json+ \
             --output out.json --eta=never --section=a more.fio",
        )
        .expect("a command line");
        assert_eq!(line.jobs, "[global]\ndirect=1\n[a]\nrw=randread\ntime_based\nruntime=5\n[b]\nfdatasync=1\n");
        assert_eq!((line.files, line.sections), (vec!["more.fio".to_owned()], vec!["a".to_owned()]));
        assert_eq!((line.formats, line.output.as_deref()), (vec![FioFormat::JsonPlus], Some("out.json")));
        let plain = read("--parse-only job.fio").expect("a command line");
        assert_eq!((plain.is_parse_only, plain.formats, plain.jobs.as_str()), (true, vec![FioFormat::Normal], ""));
    }

    #[test]
    fn what_fathom_cannot_do_is_refused_by_name() {
        for (words, id) in [
            ("--client=host job.fio", "fio-command-refused"),
            ("--bandwidth-log --name=a", "fio-command-refused"),
            ("--name=a --output-format=terse", "fio-command-format"),
            ("--name=a --bs", "fio-needs-a-value"),
            ("--name=a --filename=a#b", "fio-command-character"),
        ] {
            assert_eq!(read(words).expect_err(words).message().id(), id, "{words}");
        }
    }
}
