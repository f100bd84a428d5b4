//! Files of the SQLite databases that this process opens, and the opening of every other file that a user or a folder names.
//!
//! SQLite locks its files by fcntl(2). Closing any descriptor of a file drops all locks of that kind that the process holds
//! on it: a process that reads one byte of its own database and closes the file goes on without locks, and the next process
//! that writes destroys the database. So a database is registered before SQLite opens it, and the functions here open
//! nothing that belongs to one.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::node::{file_identity, pin};
use crate::system::files::{OFlags, Stat, fstat};
use crate::system::{AsFd as _, BorrowedFd, OwnedFd, reopened};

/// Endings of the names of a database and of the files that SQLite keeps beside it (sqlite.org/tempfiles.html).
const DATABASE_SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

static DATABASES: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

/// A database with a connection open.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Registered {
    /// Absolute.
    path: PathBuf,
    /// Device and inode of the database itself, which has them under another name, too.
    identity: Option<(u64, u64)>,
}

impl Registered {
    /// True for a file of this database, given its device and inode.
    fn holds(&self, identity: (u64, u64)) -> bool {
        let is_it = |file: PathBuf| file_identity(&file).is_ok_and(|found| found == Some(identity));
        self.identity == Some(identity) || database_files(&self.path).any(is_it)
    }

    /// True for the name of a file of this database, given the folder and the name in it.
    fn is_named(&self, folder: &Stat, name: &OsStr) -> bool {
        let own_folder = self.path.parent().and_then(|own| crate::system::files::stat(own).ok());
        own_folder.is_some_and(|own| (own.st_dev, own.st_ino) == (folder.st_dev, folder.st_ino))
            && database_files(&self.path).any(|file| file.file_name() == Some(name))
    }
}

/// Keeps the files of a database from being opened by anything but SQLite. Lives as long as a connection to it.
#[derive(Debug)]
pub struct OpenDatabase(Registered);

impl OpenDatabase {
    /// Registers the database at `path`: before SQLite opens it. `path` has no symlink at its end.
    ///
    /// # Errors
    /// The current directory is not known.
    pub fn register(path: &Path) -> io::Result<OpenDatabase> {
        let path = std::path::absolute(path)?;
        let identity = file_identity(&path).ok().flatten();
        let registered = Registered { path, identity };
        databases().push(registered.clone());
        Ok(OpenDatabase(registered))
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        let mut databases = databases();
        // Another connection to it has an entry of its own.
        if let Some(at) = databases.iter().position(|registered| *registered == self.0) {
            databases.swap_remove(at);
        }
    }
}

fn databases() -> MutexGuard<'static, Vec<Registered>> {
    DATABASES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files of a database: itself, and those that SQLite makes beside it.
pub fn database_files(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    DATABASE_SUFFIXES.iter().map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// True if the file with this device and inode belongs to a registered database, under any name.
pub(crate) fn is_of_database(device: u64, inode: u64) -> bool {
    databases().iter().any(|database| database.holds((device, inode)))
}

/// True if SQLite would take a file of this name for one of a registered database.
pub(crate) fn is_name_of_database(folder: &Stat, name: &OsStr) -> bool {
    databases().iter().any(|database| database.is_named(folder, name))
}

/// Opens what `pin` (an `O_PATH` descriptor, whose closing drops no lock) stands for. `flags`: those of open(2).
///
/// # Errors
/// As open(2); `ResourceBusy` for a file of a registered database.
pub(crate) fn open_pinned(pin: BorrowedFd<'_>, flags: OFlags) -> io::Result<OwnedFd> {
    let stat = fstat(pin)?;
    if is_of_database(stat.st_dev, stat.st_ino) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    reopened(pin, flags)
}

/// Opens a file that the user names, to read it. Follows symlinks.
///
/// # Errors
/// As open(2); `ResourceBusy` for a file of a registered database.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    match open_pinned(pin(path, true)?.as_fd(), OFlags::RDONLY) {
        // A root folder without `/proc`.
        Err(error) if error.kind() == io::ErrorKind::NotFound => File::open(path),
        opened => opened.map(File::from),
    }
}

/// The text of a file that the user names.
///
/// # Errors
/// As [`open_to_read`] and read(2); `InvalidData` where it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    io::read_to_string(open_to_read(path)?)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_a_registered_database_is_opened_under_any_name() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (lab, link, beside) = (dir.path().join("lab.db"), dir.path().join("link"), dir.path().join("lab.dbx"));
        for path in database_files(&lab).chain([beside.clone()]) {
            std::fs::write(path, "text").expect("a file");
        }
        std::fs::hard_link(dir.path().join("lab.db-shm"), &link).expect("a link");
        assert_eq!(read_text(&lab).expect("not registered yet"), "text");
        let (first, second) = (OpenDatabase::register(&lab), OpenDatabase::register(&lab));
        for path in database_files(&lab).chain([link]) {
            let error = read_text(&path).expect_err("of the database");
            assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{}", path.display());
        }
        let moved = dir.path().join("moved");
        std::fs::rename(&lab, &moved).expect("renamed");
        drop(first);
        assert!(read_text(&moved).is_err(), "the second connection is still open");
        drop(second);
        assert_eq!(read_text(&moved).expect("nobody has it open"), "text");
        assert_eq!(read_text(&beside).expect("another file"), "text");
        assert_eq!(read_text(&dir.path().join("none")).expect_err("no file").kind(), io::ErrorKind::NotFound);
    }

    /// Asks whether another process could lock the first byte of the file.
    fn is_locked(path: &Path) -> bool {
        let probe = "import fcntl, sys\nf = open(sys.argv[1], 'r+b')\ntry: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)\nexcept OSError: sys.exit(3)";
        let status =
            std::process::Command::new("python3").args(["-c", probe]).arg(path).status().expect("python3 runs");
        status.code() == Some(3)
    }

    /// The reason for this module, and that it does not make the mistake itself.
    #[test]
    fn looking_at_a_database_drops_none_of_its_locks() {
        let dir = tempfile::tempdir().expect("temp dir");
        let lab = dir.path().join("lab.db");
        std::fs::write(&lab, vec![0; 8192]).expect("a file");
        let _registered = OpenDatabase::register(&lab).expect("registered");
        let held = File::options().read(true).write(true).open(&lab).expect("opens");
        rustix::fs::fcntl_lock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("locks");
        assert!(read_text(&lab).is_err() && crate::marked_files_in(dir.path()).is_empty());
        assert!(crate::OwnFile::adopt(&lab, crate::FileMark::new().expect("a mark")).is_err());
        assert!(crate::check_output(&lab, true).is_err() && crate::check_lab_file(&lab).is_ok());
        let root = crate::Root::live();
        let permit = crate::Permit { overwrite: true, ..crate::Permit::NOTHING };
        assert_eq!(crate::check_write_target(&root, &lab, &permit).expect_err("a lab").kind, crate::RefusalKind::Lab);
        assert!(crate::Node::at(&root, &lab).expect("looked at").open_to_read(OFlags::empty()).is_err());
        // Of a name that is free SQLite would make a file of the database, or remove what it finds there.
        let journal = dir.path().join("lab.db-journal");
        assert!(crate::check_output(&journal, true).is_err() && crate::check_new_file(&root, &journal).is_err());
        assert!(crate::check_new_file(&root, &dir.path().join("lab.db-other")).is_ok());
        assert!(is_locked(&lab), "the lock was dropped");
        drop(std::fs::File::open(&lab));
        assert!(!is_locked(&lab), "this system keeps the locks: the test proves nothing");
    }
}
