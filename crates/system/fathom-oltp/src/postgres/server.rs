//! A server of this run's own: found, made and started in its folder, ended and gone with it.

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fathom_host::child::{die_with_parent, interrupt};
use fathom_host::user_id;
use postgres::Config;

use super::Postgres;
use crate::database::{Doing, OltpError};

/// The user of the server and of its one database.
const USER: &str = "fathom";
/// Recovery after a crash reads the whole log of up to a gigabyte.
const START_MAX: Duration = Duration::from_secs(120);
const STOP_MAX: Duration = Duration::from_secs(60);
/// Where Debian has the binaries of each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Users that a server of root's is run as, as it refuses to be root itself.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
const PAGE_BYTES: u64 = 8_192;
/// A socket's path has to fit 107 bytes, name included.
const SOCKET_PATH_MAX: usize = 85;

/// A server that runs as long as this value lives.
#[derive(Debug)]
pub struct PostgresServer {
    child: Child,
    folder: PathBuf,
}

/// Whether a folder of a run holds a server's data.
#[must_use]
pub fn is_postgres_folder(folder: &Path) -> bool {
    folder.join("data/PG_VERSION").exists()
}

impl PostgresServer {
    /// Starts a server in `folder`, which is this program's own; makes its data where there are none. `cache_bytes`:
    /// shared_buffers; `connections`: as many as the run needs.
    ///
    /// # Errors
    /// [`OltpError`]: no binaries, or what they answer.
    pub fn start(folder: &Path, cache_bytes: u64, connections: u32) -> Result<PostgresServer, OltpError> {
        let binaries = binaries()?;
        let owner = owner()?;
        let data = folder.join("data");
        let socket = folder.join("s");
        if socket.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(OltpError::SocketPath { path: socket.display().to_string() });
        }
        if !is_postgres_folder(folder) {
            make_folders(folder, &[&data, &socket], owner)?;
            let mut initdb = Command::new(binaries.join("initdb"));
            initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER, "-D"]);
            let made = as_owner(initdb.arg(&data), owner).output().map_err(system(&binaries))?;
            if !made.status.success() {
                return Err(refused(String::from_utf8_lossy(&made.stderr).trim().to_owned()));
            }
        }
        end_of_the_last(&data, &socket)?;
        let mut command = Command::new(binaries.join("postgres"));
        command.arg("-D").arg(&data);
        for setting in [
            "listen_addresses=".to_owned(),
            format!("unix_socket_directories={}", socket.display()),
            format!("shared_buffers={}kB", (cache_bytes / 1024).max(128)),
            format!("max_connections={}", connections.saturating_add(20)),
            "track_io_timing=on".to_owned(),
            "log_min_messages=fatal".to_owned(),
        ] {
            command.arg("-c").arg(setting);
        }
        as_owner(&mut command, owner).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // SIGINT is its word for a fast end; it comes also when this program is killed.
        die_with_parent(&mut command).map_err(system(&binaries))?;
        let child = command.spawn().map_err(system(&binaries))?;
        let mut server = PostgresServer { child, folder: folder.to_owned() };
        server.wait_until_it_answers()?;
        Ok(server)
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The largest files with data, `most` of them, each with a page at least.
    #[must_use]
    pub fn largest_files(&self, most: usize) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.folder.join("data/base")).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
        let mut sized: Vec<(u64, PathBuf)> = files
            .filter_map(|file| Some((file.metadata().ok().filter(std::fs::Metadata::is_file)?.len(), file.path())))
            .filter(|(bytes, _)| *bytes >= PAGE_BYTES)
            .collect();
        sized.sort_by(|a, b| b.cmp(a));
        sized.into_iter().take(most).map(|(_, path)| path).collect()
    }

    /// The database on it.
    ///
    /// # Errors
    /// [`OltpError`]: nobody answers.
    pub fn database(&self) -> Result<Postgres, OltpError> {
        let mut config = Config::new();
        config.host_path(self.folder.join("s")).user(USER).dbname("postgres");
        Postgres::new(config, self.folder.display().to_string())
    }

    fn wait_until_it_answers(&mut self) -> Result<(), OltpError> {
        let start = Instant::now();
        loop {
            let Err(answer) = self.database() else { return Ok(()) };
            if let Ok(Some(status)) = self.child.try_wait() {
                let mut said = String::new();
                if let Some(mut stderr) = self.child.stderr.take() {
                    let _lost = stderr.read_to_string(&mut said);
                }
                return Err(refused(format!("{status}: {}", said.trim())));
            }
            if start.elapsed() > START_MAX {
                return Err(answer);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        interrupt(&self.child);
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > STOP_MAX {
                fathom_host::child::kill_with_children(&mut self.child);
                let _gone = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Waits until no process of an earlier server is left in the folder, and removes what says that there is one: a killed one
/// leaves that, and its number may be another's by now, or that of a child nobody waits for. The folder's lock is ours, so
/// nobody starts one meanwhile.
fn end_of_the_last(data: &Path, socket: &Path) -> Result<(), OltpError> {
    let data = fs::canonicalize(data).unwrap_or_else(|_| data.to_owned());
    let is_used = || {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok()).any(|folder| folder == data)
    };
    let start = Instant::now();
    while is_used() {
        if start.elapsed() > STOP_MAX {
            return Err(OltpError::StillRuns { path: data.display().to_string() });
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let left = [data.join("postmaster.pid"), socket.join(".s.PGSQL.5432"), socket.join(".s.PGSQL.5432.lock")];
    left.iter().try_for_each(|path| match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(system(path)(error)),
        _ => Ok(()),
    })
}

/// The folder with the binaries of the newest version.
fn binaries() -> Result<PathBuf, OltpError> {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let of_debian = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder)| folder.join("initdb").exists())
        .max();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
    };
    of_debian.map(|(_, folder)| folder).or_else(on_path).ok_or(OltpError::NoServer)
}

/// Whom the server has to run as; `None`: as whoever runs this.
fn owner() -> Result<Option<(u32, u32)>, OltpError> {
    if user_id() != 0 {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd").map_err(system(Path::new("/etc/passwd")))?;
    let find = |name: &str| {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut words = line.split(':').skip(2);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let found = UNPRIVILEGED.into_iter().find_map(find);
    found.map(Some).ok_or(OltpError::NoUser)
}

fn as_owner(command: &mut Command, owner: Option<(u32, u32)>) -> &mut Command {
    // A folder that its user may enter: the one we stand in may be ours alone.
    command.current_dir("/");
    match owner {
        Some((user, group)) => command.uid(user).gid(group),
        None => command,
    }
}

/// Folders within ours that belong to the server's user; ours can be passed through, not read.
fn make_folders(folder: &Path, within: &[&Path], owner: Option<(u32, u32)>) -> Result<(), OltpError> {
    for path in within {
        fs::create_dir(path).map_err(system(path))?;
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(system(path))?;
        if let Some((user, group)) = owner {
            chown(path, Some(user), Some(group)).map_err(system(path))?;
        }
    }
    if owner.is_some() {
        fs::set_permissions(folder, Permissions::from_mode(0o711)).map_err(system(folder))?;
    }
    Ok(())
}

fn refused(answer: String) -> OltpError {
    OltpError::Database { doing: Doing::Open, answer }
}

fn system(path: &Path) -> impl Fn(std::io::Error) -> OltpError + '_ {
    move |source| OltpError::System { path: path.display().to_string(), source }
}
