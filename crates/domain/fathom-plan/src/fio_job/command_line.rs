//! fio's command line: options that make jobs, and those that say what to do with them.

use fathom_message::{Message, Say, msg, say_error};

use super::keys;

/// An option of a job: `--bs=4k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioWord {
    /// Without dashes.
    pub key: String,
    /// `None`: the key stands alone.
    pub value: Option<String>,
}

/// What a command line of fio asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioCommandLine {
    /// Options that make jobs, in their order.
    pub jobs: Vec<FioWord>,
    /// Job files that are named, in their order; `-` is the standard input.
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
    /// Question that is answered instead of a run.
    pub question: Option<FioQuestion>,
}

/// A question about fio itself or about jobs; nothing is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FioQuestion {
    /// `--version`.
    Version,
    /// `--help`.
    Help,
    /// `--showcmd`: the job files as a command line.
    Command,
    /// `--enghelp`: the engines, or the options of one.
    Engines(Option<String>),
    /// `--cmdhelp`: the options of jobs, or one of them.
    Options(Option<String>),
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
    /// A line of fields for each job, of this version.
    Terse(u8),
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

/// Position of the value of a program option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    None,
    /// Behind `=` alone.
    Optional,
    /// Behind `=`, or as the next word.
    Needed,
}

use Value::{Needed, Optional};

/// Options of the program, with fio's letter for some.
const OPTIONS: [(&str, Value, char); 40] = [
    ("output", Needed, 'o'),
    ("output-format", Needed, 'F'),
    ("section", Needed, 'x'),
    ("parse-only", Value::None, 'P'),
    ("readonly", Value::None, 'r'),
    ("version", Value::None, 'v'),
    ("help", Value::None, 'h'),
    ("showcmd", Value::None, 's'),
    ("enghelp", Optional, 'i'),
    ("cmdhelp", Optional, 'c'),
    ("minimal", Value::None, 'm'),
    ("append-terse", Optional, 'f'),
    ("terse-version", Needed, 'V'),
    // Progress display and memory of fio; Fathom has its own.
    ("eta", Needed, 'e'),
    ("eta-newline", Needed, 'E'),
    ("eta-interval", Needed, 'O'),
    ("max-jobs", Needed, 'j'),
    ("alloc-size", Needed, 'a'),
    ("warnings-fatal", Value::None, 'w'),
    // Folder for the state of an interrupted verification.
    ("aux-path", Needed, 'K'),
    // Refused.
    ("bandwidth-log", Value::None, 'b'),
    ("latency-log", Needed, 'l'),
    ("status-interval", Needed, 'L'),
    ("idle-prof", Needed, 'I'),
    ("client", Needed, 'C'),
    ("server", Optional, 'S'),
    ("remote-config", Needed, 'R'),
    ("daemonize", Needed, 'D'),
    ("trigger", Needed, 'H'),
    ("trigger-file", Needed, 'W'),
    ("trigger-timeout", Needed, 'B'),
    ("trigger-remote", Needed, 'J'),
    ("merge-blktrace-only", Value::None, 'A'),
    ("inflate-log", Needed, 'X'),
    ("profile", Needed, 'p'),
    ("debug", Needed, 'd'),
    ("cpuclock-test", Value::None, 'T'),
    ("crctest", Optional, 'G'),
    ("memcpytest", Optional, 'M'),
    ("server-internal", Needed, 'N'),
];

/// Those of them that Fathom cannot do.
const REFUSED: [&str; 20] = [
    "bandwidth-log",
    "latency-log",
    "status-interval",
    "idle-prof",
    "client",
    "server",
    "remote-config",
    "daemonize",
    "trigger",
    "trigger-file",
    "trigger-timeout",
    "trigger-remote",
    "merge-blktrace-only",
    "inflate-log",
    "profile",
    "debug",
    "cpuclock-test",
    "crctest",
    "memcpytest",
    "server-internal",
];

/// An option by its name.
enum Named {
    OfProgram(&'static str, Value),
    OfJob(String),
}

/// Reads the words behind `fio`, as getopt_long_only(3) does for fio: one dash or two, the beginning of a name where only one
/// option begins so, files between options.
///
/// # Errors
/// Options that Fathom cannot do, by their names; options without the value that they need, or with one that they do not
/// take. Keys of jobs are judged with the job file.
pub fn fio_command_line(words: &[String]) -> Result<FioCommandLine, FioCommandError> {
    let mut line = FioCommandLine::default();
    let mut terse_version = 3;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            line.files.extend(words.by_ref().cloned());
            break;
        }
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            line.files.push(word.clone());
            continue;
        };
        let (option, has_one_dash) = match option.strip_prefix('-') {
            Some(option) => (option, false),
            None => (option, true),
        };
        let (key, mut value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let named = named(key, has_one_dash);
        let takes = match &named {
            Named::OfProgram(_, takes) => *takes,
            Named::OfJob(key) if keys::stands_alone(key) => Optional,
            Named::OfJob(_) => Needed,
        };
        match (takes, &value) {
            (Needed, None) => value = Some(words.next().ok_or_else(|| without_value(key))?.clone()),
            (Value::None, Some(value)) => return Err(with_value(key, value)),
            _ => {}
        }
        match named {
            Named::OfProgram("terse-version", _) => terse_version = version_of_terse(value.as_deref())?,
            Named::OfProgram(name, _) => take(&mut line, name, value)?,
            Named::OfJob(key) => line.jobs.push(FioWord { key, value }),
        }
    }
    if line.formats.is_empty() {
        line.formats.push(FioFormat::Normal);
    }
    let of_version = |format: &FioFormat| match format {
        FioFormat::Terse(_) => FioFormat::Terse(terse_version),
        other => *other,
    };
    line.formats = line.formats.iter().map(of_version).collect();
    Ok(line)
}

/// The option of this name: as it is, else the only one that begins so, else the letter behind one dash. A key that nobody
/// knows is judged with the job.
fn named(key: &str, has_one_dash: bool) -> Named {
    let of_program =
        |name: &str| OPTIONS.iter().find(|(option, ..)| *option == name).map(|(name, takes, _)| (*name, *takes));
    if let Some((name, takes)) = of_program(key) {
        return Named::OfProgram(name, takes);
    }
    if !keys::all_words().any(|word| word == key) {
        let mut begun: Vec<&str> = OPTIONS.iter().map(|(name, ..)| *name).chain(keys::all_words()).collect();
        begun.retain(|name| name.starts_with(key));
        match (&begun[..], OPTIONS.iter().find(|(_, _, letter)| has_one_dash && key.chars().eq([*letter]))) {
            ([only], _) => {
                return of_program(only)
                    .map_or_else(|| Named::OfJob((*only).to_owned()), |(name, takes)| Named::OfProgram(name, takes));
            }
            (_, Some((name, takes, _))) => return Named::OfProgram(name, *takes),
            _ => {}
        }
    }
    Named::OfJob(key.to_owned())
}

fn take(line: &mut FioCommandLine, name: &str, value: Option<String>) -> Result<(), FioCommandError> {
    match (name, value) {
        ("output", value) => line.output = value,
        ("output-format", Some(value)) => {
            line.formats.clear();
            for format in value.split(',') {
                line.formats.push(match format {
                    "normal" => FioFormat::Normal,
                    "json" => FioFormat::Json,
                    "json+" => FioFormat::JsonPlus,
                    "terse" | "minimal" => FioFormat::Terse(3),
                    other => return Err(unknown_format(other)),
                });
            }
        }
        ("minimal", _) => line.formats = vec![FioFormat::Terse(3)],
        ("append-terse", _) => {
            if line.formats.is_empty() {
                line.formats.push(FioFormat::Normal);
            }
            line.formats.push(FioFormat::Terse(3));
        }
        ("section", value) => line.sections.extend(value),
        ("parse-only", _) => line.is_parse_only = true,
        ("readonly", _) => line.is_read_only = true,
        ("version", _) => line.question = Some(FioQuestion::Version),
        ("help", _) => line.question = Some(FioQuestion::Help),
        ("showcmd", _) => line.question = Some(FioQuestion::Command),
        ("enghelp", value) => line.question = Some(FioQuestion::Engines(value)),
        ("cmdhelp", value) => line.question = Some(FioQuestion::Options(value)),
        _ if REFUSED.contains(&name) => {
            return Err(FioCommandError {
                message: msg!("fio-command-refused", option = format!("--{name}")),
                help: msg!("fio-command-refused-help"),
            });
        }
        _ => {}
    }
    Ok(())
}

fn version_of_terse(text: Option<&str>) -> Result<u8, FioCommandError> {
    let text = text.unwrap_or_default();
    text.parse().ok().filter(|version| (2..=5).contains(version)).ok_or_else(|| FioCommandError {
        message: msg!("fio-command-terse", text = text.to_owned()),
        help: msg!("fio-command-terse-help"),
    })
}

fn with_value(key: &str, value: &str) -> FioCommandError {
    FioCommandError {
        message: msg!("fio-command-value", key = format!("--{key}"), value = value.to_owned()),
        help: msg!("fio-command-value-help", key = format!("--{key}")),
    }
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

    fn jobs(line: &FioCommandLine) -> String {
        let word = |word: &FioWord| match &word.value {
            Some(value) => format!("{}={value}", word.key),
            None => word.key.clone(),
        };
        line.jobs.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_are_read_as_fio_reads_them() {
        let line = read(
            "--direct=1 --name=a --rw randread --time_based --runtime=5 --name b --fdatasync=1 --output-format=json+ \
             --output out.json --eta=never --section=a more.fio --direct 0",
        )
        .expect("a command line");
        let words = "direct=1 name=a rw=randread time_based runtime=5 name=b fdatasync=1 direct=0";
        assert_eq!(jobs(&line), words);
        assert_eq!((line.files, line.sections), (vec!["more.fio".to_owned()], vec!["a".to_owned()]));
        assert_eq!((line.formats, line.output.as_deref()), (vec![FioFormat::JsonPlus], Some("out.json")));
        let plain = read("--parse-only job.fio").expect("a command line");
        assert_eq!((plain.is_parse_only, plain.formats, plain.jobs), (true, vec![FioFormat::Normal], Vec::new()));
    }

    #[test]
    fn one_dash_and_beginnings_of_names_are_taken() {
        let line = read("-direct=0 -rw=randread -ioengin libaio -group_reporting - -name=t").expect("a command line");
        assert_eq!(jobs(&line), "direct=0 rw=randread ioengine=libaio group_reporting name=t");
        assert_eq!(line.files, ["-"]);
        let several = "iodep=4";
        assert_eq!(jobs(&read(&format!("--{several}")).expect("a command line")), several, "four options begin so");
        assert_eq!(read("-v").expect("a letter").question, Some(FioQuestion::Version));
        assert_eq!(read("--showc a.fio").expect("a beginning").files, ["a.fio"]);
    }

    #[test]
    fn formats_are_those_that_were_asked_for_last() {
        let formats = |words: &str| read(words).expect("a command line").formats;
        assert_eq!(formats("--minimal --terse-version=5 a.fio"), [FioFormat::Terse(5)]);
        assert_eq!(formats("--output-format=json,terse a.fio"), [FioFormat::Json, FioFormat::Terse(3)]);
        assert_eq!(formats("--append-terse a.fio"), [FioFormat::Normal, FioFormat::Terse(3)]);
    }

    #[test]
    fn what_fathom_cannot_do_is_refused_by_name() {
        for (words, id) in [
            ("--client=host job.fio", "fio-command-refused"),
            ("--idle-prof=system --name=a", "fio-command-refused"),
            ("--name=a --output-format=xml", "fio-command-format"),
            ("--name=a --bs", "fio-needs-a-value"),
            ("--name=a --terse-version=9", "fio-command-terse"),
            ("--readonly=1 job.fio", "fio-command-value"),
        ] {
            assert_eq!(read(words).expect_err(words).message().id(), id, "{words}");
        }
    }
}
