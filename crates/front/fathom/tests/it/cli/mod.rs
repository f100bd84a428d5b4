//! Runs the real program in a place of its own.
#![allow(dead_code)] // Each test binary uses a part of it.
#![allow(clippy::print_stderr)] // Skipped tests say why.

pub(crate) mod contract;
pub(crate) mod machine;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A run that takes longer hangs; no test asks for more than a few seconds.
const HANG: Duration = Duration::from_secs(120);

/// A directory on a real disk with a lab and a working directory of its own.
pub(crate) struct Place {
    dir: TempDir,
    outputs: AtomicU32,
    /// Where other programs are looked for; `None`: as here.
    pub(crate) path: Option<PathBuf>,
}

/// How the program ended.
pub(crate) struct Ended {
    /// As typed, for messages.
    pub(crate) command: String,
    /// `None`: killed by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program while it runs; killed when dropped.
pub(crate) struct Running {
    child: Child,
    command: String,
    out: PathBuf,
    err: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        fs::create_dir(dir.path().join("work")).expect("a working directory");
        Place { dir, outputs: AtomicU32::new(0), path: None }
    }

    /// The directory that commands run in; `.` of the targets.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A file in the working directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// A file beside the working directory.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn lab(&self) -> PathBuf {
        self.beside("lab.db")
    }

    /// Starts `fathom` with words separated by blanks.
    pub(crate) fn start(&self, words: &str) -> Running {
        self.start_at(words, &self.work())
    }

    pub(crate) fn start_at(&self, words: &str, directory: &Path) -> Running {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let (out, err) = (self.beside(&format!("out-{number}")), self.beside(&format!("err-{number}")));
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        command.args(words.split_ascii_whitespace()).current_dir(directory).env("NO_COLOR", "1");
        command.env("FATHOM_LAB", self.lab()).env("HOME", self.dir.path()).env_remove("XDG_DATA_HOME");
        command.env("FATHOM_JOURNAL", self.beside("journal")).env("FATHOM_IDLE_BASELINE", "50ms");
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).expect("a file for stdout"));
        command.stderr(File::create(&err).expect("a file for stderr"));
        let child = command.spawn().expect("fathom starts");
        Running { child, command: words.to_owned(), out, err }
    }

    /// Runs `fathom` to its end.
    pub(crate) fn run(&self, words: &str) -> Ended {
        self.start(words).wait()
    }

    /// Runs with `--json`; the exit code must be as said, and stdout one JSON document and nothing else.
    pub(crate) fn json(&self, words: &str, code: i32) -> Value {
        let ended = self.run(&format!("{words} --json"));
        assert_eq!(ended.code, Some(code), "{}\n{}", ended.command, ended.err);
        ended.json()
    }

    /// The only step of a run that must succeed.
    pub(crate) fn step(&self, words: &str) -> Value {
        let document = self.json(words, 0);
        let steps = document["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), 1, "{words}");
        steps[0].clone()
    }

    /// Everything in the working directory with its size, sorted.
    pub(crate) fn listing(&self) -> Vec<(String, u64)> {
        listing_of(&self.work())
    }
}

/// Everything in a directory with its size, sorted.
pub(crate) fn listing_of(directory: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(directory).expect("a directory").map(|e| e.expect("an entry"));
    let mut all: Vec<(String, u64)> = entries
        .filter(|e| e.file_name() != "lost+found")
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.metadata().map_or(0, |m| m.len())))
        .collect();
    all.sort();
    all
}

impl Ended {
    /// Standard output as one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("stdout of {} is not JSON alone: {e}\n{}", self.command, self.out))
    }

    /// Exit code, and words that stderr must hold.
    pub(crate) fn expect(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "fathom {}\nstdout: {}\nstderr: {}", self.command, self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "fathom {}: no `{word}` in\n{}", self.command, self.err);
        }
    }
}

impl Running {
    /// Sends a signal by its name, e.g. `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status();
        assert!(status.expect("sh").success(), "kill -{name}");
    }

    /// What it has said on stderr so far.
    pub(crate) fn talk(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits until `done` holds; panics when the program ends or hangs before.
    pub(crate) fn until(&mut self, what: &str, mut done: impl FnMut(&str) -> bool) {
        let begun = Instant::now();
        while !done(&self.talk()) {
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none(), "{} ended before {what}:\n{}", self.command, self.talk());
            assert!(begun.elapsed() < HANG, "{} never came to {what}", self.command);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    pub(crate) fn wait(mut self) -> Ended {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if begun.elapsed() > HANG => panic!("{} hangs:\n{}", self.command, self.talk()),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let read = |path: &Path| fs::read_to_string(path).expect("UTF-8 output");
        Ended { command: self.command.clone(), code: status.code(), out: read(&self.out), err: read(&self.err) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says why a test did not run.
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// A law of a step by name.
pub(crate) fn check<'a>(step: &'a Value, name: &str) -> Option<&'a Value> {
    step["checks"].as_array()?.iter().find(|c| c["name"] == name)
}

/// Whether a step carries a warning of this kind.
pub(crate) fn warns(step: &Value, kind: &str) -> bool {
    step["warnings"].as_array().is_some_and(|w| w.iter().any(|w| w["kind"] == kind))
}

/// Bytes moved by a step, from its rate and length.
pub(crate) fn bytes_of(step: &Value) -> u64 {
    let bytes = step["bytes_per_s"].as_f64().expect("a rate") * step["runtime_s"].as_f64().expect("a length");
    bytes.round() as u64
}

/// The document that the page of a report holds, deflated and in base64.
pub(crate) fn packed_document(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"fathom-document\">").expect("a page holds its document");
    let packed = rest.split_once("</script>").expect("the element ends").0;
    let deflated = base64::read::DecoderReader::new(packed.as_bytes(), &base64::engine::general_purpose::STANDARD);
    serde_json::from_reader(flate2::read::ZlibDecoder::new(deflated)).expect("deflated JSON in base64")
}
