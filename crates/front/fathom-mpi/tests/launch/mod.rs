//! Starts ranks with mpirun and looks at their processes.

mod hosts;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) use hosts::{Namespaces, SlowLink};

/// Nothing here takes longer on a machine that has other work, too.
const PATIENCE: Duration = Duration::from_secs(90);

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_fathom-mpi");

/// Ranks to be started.
pub(crate) struct Run {
    program: PathBuf,
    dir: PathBuf,
    mpi: Vec<OsString>,
    words: Vec<OsString>,
    beside: Vec<OsString>,
}

/// How they ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The one step of the document that was printed.
    pub(crate) fn step(&self) -> serde_json::Value {
        let document: serde_json::Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr));
        document["steps"][0].clone()
    }
}

impl Run {
    /// So many ranks on this host, with a lab in `dir`.
    pub(crate) fn new(dir: &Path, count: u32) -> Run {
        let mut mpi: Vec<OsString> = ["--allow-run-as-root", "--oversubscribe", "-n"].map(Into::into).to_vec();
        mpi.push(count.to_string().into());
        Run { program: PROGRAM.into(), dir: dir.to_owned(), mpi, words: Vec::new(), beside: Vec::new() }
    }

    /// More words of the command line.
    pub(crate) fn words(mut self, words: &[&str]) -> Run {
        self.words.extend(words.iter().map(Into::into));
        self
    }

    /// One more.
    pub(crate) fn word(mut self, word: &Path) -> Run {
        self.words.push(word.into());
        self
    }

    /// One more rank, with other words.
    pub(crate) fn beside(self, words: &[&str]) -> Run {
        self.program_beside(PROGRAM.as_ref(), words)
    }

    /// One more rank, of another program.
    pub(crate) fn program_beside(mut self, program: &Path, words: &[&str]) -> Run {
        self.program = program.to_owned();
        self.beside = words.iter().map(Into::into).collect();
        self
    }

    /// On these hosts.
    pub(crate) fn on(mut self, hosts: &Namespaces) -> Run {
        let only = [
            ("plm_rsh_agent", hosts.agent()),
            ("oob_tcp_if_include", hosts.net()),
            ("btl_tcp_if_include", hosts.net()),
        ];
        for (key, value) in only {
            self.mpi.extend(["--mca".into(), key.into(), value.into()]);
        }
        self.mpi.extend(["--mca", "btl", "tcp,self", "--hostfile"].map(Into::into));
        self.mpi.push(hosts.hostfile().into());
        for name in ["FATHOM_LAB", "FATHOM_IDLE_BASELINE", "XDG_STATE_HOME", "HOME"] {
            self.mpi.extend(["-x".into(), name.into()]);
        }
        self
    }

    /// Starts them.
    pub(crate) fn start(self) -> Running {
        let mut command = Command::new("mpirun");
        command.args(&self.mpi).arg(PROGRAM).args(&self.words);
        if !self.beside.is_empty() {
            command.args([":", "-n", "1"]).arg(&self.program).args(&self.beside);
        }
        command.env("FATHOM_LAB", self.dir.join("lab.db")).env("XDG_STATE_HOME", self.dir.join("state"));
        command.env("FATHOM_IDLE_BASELINE", "50ms");
        command.env("HOME", &self.dir).env("TMPDIR", "/tmp");
        let (out, err) = (self.dir.join("stdout"), self.dir.join("stderr"));
        let file = |path: &Path| Stdio::from(fs::File::create(path).expect("a file"));
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        Running { child: command.spawn().expect("mpirun starts"), dir: self.dir }
    }

    /// Starts them and waits for their end.
    pub(crate) fn run(self) -> Ended {
        self.start().wait()
    }
}

/// Ranks under way.
pub(crate) struct Running {
    child: Child,
    dir: PathBuf,
}

impl Running {
    /// Process of mpirun.
    pub(crate) fn launcher(&self) -> u32 {
        self.child.id()
    }

    /// Processes of the ranks, in the order of their numbers.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for entry in fs::read_dir("/proc").expect("proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
            let values: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
            let value = |name: &str| values.iter().find_map(|v| v.strip_prefix(name.as_bytes()));
            let is_ours = value("FATHOM_LAB=") == Some(self.dir.join("lab.db").as_os_str().as_encoded_bytes());
            let rank = value("OMPI_COMM_WORLD_RANK=").and_then(|rank| std::str::from_utf8(rank).ok()?.parse().ok());
            found.extend(rank.filter(|_| is_ours).map(|rank| (rank, pid)));
        }
        found.sort_unstable();
        found.into_iter().map(|(_, pid)| pid).collect()
    }

    /// Waits until workers of every rank are at work, and a moment longer.
    pub(crate) fn wait_until_measuring(&self) {
        let begun = Instant::now();
        let works = |pid: &u32| {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            let ticks = |task: &fs::DirEntry| {
                let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
                let number = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
                number(11) + number(12)
            };
            tasks.into_iter().any(|task| ticks(&task) > 5 && name(task).starts_with("fathom-w"))
        };
        while begun.elapsed() < PATIENCE {
            let ranks = self.ranks();
            if !ranks.is_empty() && ranks.iter().all(works) {
                return std::thread::sleep(Duration::from_millis(600));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("they do not measure: {}", fs::read_to_string(self.dir.join("stderr")).unwrap_or_default());
    }

    /// Waits for their end.
    pub(crate) fn wait(mut self) -> Ended {
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status.code().unwrap_or(-1);
            }
            if begun.elapsed() > PATIENCE {
                self.ranks().into_iter().chain([self.child.id()]).for_each(|pid| signal("KILL", pid));
                panic!("they do not end: {}", fs::read_to_string(self.dir.join("stderr")).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = |name: &str| fs::read_to_string(self.dir.join(name)).expect("text");
        Ended { code, stdout: text("stdout"), stderr: text("stderr") }
    }
}

/// Runs the program without mpirun, with the environment of another launcher.
pub(crate) fn alone(dir: &Path, words: &[&str], environment: &[(&str, &str)]) -> Ended {
    let mut command = Command::new(PROGRAM);
    command.args(words).envs(environment.iter().copied());
    command.env("FATHOM_LAB", dir.join("lab.db")).env("XDG_STATE_HOME", dir.join("state")).env("HOME", dir);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ended { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Sends a signal to one process.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()) || name == "KILL", "the process takes a signal");
}

/// Whether a process is there and no zombie. One that is killed takes a moment to go.
pub(crate) fn is_alive(pid: u32) -> bool {
    let is_there = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next()).is_some_and(|state| state != 'Z')
    };
    let begun = Instant::now();
    while is_there() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_there()
}

/// The last run of the lab in `dir`.
pub(crate) fn show(dir: &Path) -> serde_json::Value {
    shown(dir).expect("a run")
}

/// The same, if there is one by now.
pub(crate) fn shown(dir: &Path) -> Option<serde_json::Value> {
    let shown = Command::new(PROGRAM).args(["show", "last", "--json", "--lab"]).arg(dir.join("lab.db")).output();
    serde_json::from_slice(&shown.expect("it runs").stdout).ok()
}
