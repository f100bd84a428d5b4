//! Files that Fathom writes for people: reports, exports, fitted devices, captures. Written beside their place and renamed
//! into it when they are whole; never to a device, never through a symlink, and over another's file only by `--force`.

use crate::system::{AsFd as _, OwnedFd};
use crate::system::{Errno, files, outputs};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::system::files::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use fathom_message::{Message, Say, msg, say_error};

use crate::databases::{is_name_of_database, is_of_database};
use crate::guard::is_lab;
use crate::own_file::FileMark;
use crate::writing;

/// Note that Fathom keeps next to a file's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// It wrote the file for people, and may replace it.
    Output,
    /// It made the file as a target; the value says which.
    Target,
}

/// Why an output was not written. What stood there stands as it did.
#[derive(Debug)]
pub enum OutputError {
    /// Something else than a regular file has the name.
    Kind {
        /// Its path.
        path: PathBuf,
        /// Kind of file that it is.
        kind: Message,
    },
    /// A file of somebody else has the name.
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// It is the lab, or another lab.
    Lab {
        /// Its path.
        path: PathBuf,
    },
    /// The system refuses.
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

impl Say for OutputError {
    fn message(&self) -> Message {
        match self {
            OutputError::Kind { path, kind } => msg!("guard-kind", path = path, kind = kind),
            OutputError::Exists { path } => msg!("output-exists", path = path),
            OutputError::Lab { path } => msg!("guard-lab", path = path),
            OutputError::Io { path, source } => msg!("output-failed", path = path, source = source),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            OutputError::Exists { .. } => msg!("output-exists-help"),
            OutputError::Kind { .. } | OutputError::Lab { .. } | OutputError::Io { .. } => msg!("output-help"),
        })
    }
}

say_error!(OutputError);

/// Writes a file whole or not at all. A file that Fathom wrote before is replaced; another's only with `force`.
///
/// # Errors
/// [`OutputError`]; what `write` fails with is [`OutputError::Io`].
pub fn write_output(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let io = |source| OutputError::Io { path: path.to_owned(), source };
    let (folder, name) = open_folder(path).map_err(io)?;
    let before = look(path, &folder, &name, force)?;
    let mut temporary = OsString::from(".");
    temporary.push(&name);
    temporary.push(format!(".{}", FileMark::new().map_err(io)?));
    let file = writing::create_at(folder.as_fd(), &temporary).map_err(io)?;
    let done = fill(&file, write).map_err(io).and_then(|()| {
        // What appeared meanwhile is not replaced unseen.
        let flags = if before { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        if before {
            look(path, &folder, &name, force)?;
        }
        match files::renameat_with(&folder, &temporary, &folder, &name, flags) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(OutputError::Exists { path: path.to_owned() }),
            // Some file systems know no flags of renameat2; the name was free a moment ago.
            Err(Errno::INVAL) if !before => {
                let flags = RenameFlags::empty();
                files::renameat_with(&folder, &temporary, &folder, &name, flags).map_err(|e| io(e.into()))
            }
            Err(error) => Err(io(error.into())),
        }
    });
    if done.is_err() {
        // The cause is reported; a temporary file that stays has a name of its own.
        let _ = files::unlinkat(&folder, &temporary, AtFlags::empty());
    }
    done
}

/// A new file, which only the user may read; not through a symlink at its end.
///
/// # Errors
/// As open(2): `AlreadyExists` where anything has the name.
pub fn create_new_file(path: &Path) -> io::Result<File> {
    let (folder, name) = open_folder(path)?;
    writing::create_at(folder.as_fd(), &name)
}

/// Looks whether [`write_output`] may write there: before work begins whose result would be lost.
///
/// # Errors
/// [`OutputError`].
pub fn check_output(path: &Path, force: bool) -> Result<(), OutputError> {
    let (folder, name) = open_folder(path).map_err(|source| OutputError::Io { path: path.to_owned(), source })?;
    look(path, &folder, &name, force).map(|_| ())
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()?;
    drop(out);
    outputs::open_to_others(file)?;
    // Without a place for the mark (some network file systems) the next one asks for `--force`.
    let _ = outputs::set_note(file, Note::Output, b"1");
    file.sync_data()
}

/// Whether something has the name that may be replaced.
fn look(path: &Path, folder: &OwnedFd, name: &OsStr, force: bool) -> Result<bool, OutputError> {
    let io = |source| OutputError::Io { path: path.to_owned(), source };
    if is_name_of_database(&files::fstat(folder).map_err(|e| io(e.into()))?, name) {
        return Err(OutputError::Lab { path: path.to_owned() });
    }
    let stat = match files::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(io(error.into())),
    };
    if let Some(kind) = other_kind(&stat) {
        return Err(OutputError::Kind { path: path.to_owned(), kind });
    }
    if is_of_database(stat.st_dev, stat.st_ino) {
        return Err(OutputError::Lab { path: path.to_owned() });
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = files::openat(folder, name, flags, Mode::empty()).map(File::from);
    // A file that may not even be read is somebody else's.
    let Ok(file) = file else { return Err(OutputError::Exists { path: path.to_owned() }) };
    if is_lab(&file).unwrap_or(true) {
        return Err(OutputError::Lab { path: path.to_owned() });
    }
    if outputs::note(&file, Note::Output, 8).is_some() || force || stat.st_size == 0 {
        Ok(true)
    } else {
        Err(OutputError::Exists { path: path.to_owned() })
    }
}

fn other_kind(stat: &Stat) -> Option<Message> {
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return None,
        FileType::Directory => msg!("kind-folder"),
        FileType::Symlink => msg!("kind-symlink"),
        FileType::Fifo => msg!("kind-fifo"),
        FileType::Socket => msg!("kind-socket"),
        FileType::CharacterDevice => msg!("kind-character-device"),
        FileType::BlockDevice => msg!("kind-block-device"),
        FileType::Unknown => msg!("kind-other"),
    })
}

fn open_folder(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((files::open(folder, flags, Mode::empty())?, name))
}

/// Makes an empty file for a new lab, which only its user may read, and its folder where there is none. A file that is
/// there already is looked at: it must be a regular file and no symlink.
///
/// # Errors
/// [`OutputError`].
pub fn prepare_lab_file(path: &Path) -> Result<(), OutputError> {
    let io = |source| OutputError::Io { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    let (folder, name) = open_folder(path).map_err(io)?;
    match writing::create_at(folder.as_fd(), &name) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_lab_file(path),
        Err(error) => Err(io(error)),
    }
}

/// Refuses a lab that is a device, a symlink or anything else than a regular file.
///
/// # Errors
/// [`OutputError::Kind`]; [`OutputError::Io`] when there is none.
pub fn check_lab_file(path: &Path) -> Result<(), OutputError> {
    let stat = files::lstat(path).map_err(|e| OutputError::Io { path: path.to_owned(), source: e.into() })?;
    other_kind(&stat).map_or(Ok(()), |kind| Err(OutputError::Kind { path: path.to_owned(), kind }))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn written(path: &Path, force: bool, text: &str) -> Result<(), String> {
        let done = write_output(path, force, |out| out.write_all(text.as_bytes()));
        done.map_err(|e| e.message().id().to_owned())
    }

    /// In the build folder: a temporary folder may know no extended attributes.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("temp dir")
    }

    #[test]
    fn an_output_of_fathom_is_replaced_and_anothers_file_only_by_force() {
        let dir = folder();
        let (own, other) = (dir.path().join("own.html"), dir.path().join("thesis.html"));
        assert_eq!(written(&own, false, "1"), Ok(()));
        assert_eq!(written(&own, false, "22"), Ok(()));
        assert_eq!(std::fs::read_to_string(&own).expect("reads"), "22");
        std::fs::write(&other, "my thesis").expect("file");
        assert_eq!(written(&other, false, "x"), Err("output-exists".to_owned()));
        assert_eq!(std::fs::read_to_string(&other).expect("reads"), "my thesis");
        assert_eq!(written(&other, true, "x"), Ok(()));
        assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 2, "no temporary file stays");
    }

    #[test]
    fn nothing_but_regular_files_is_replaced_whatever_the_user_says() {
        let dir = folder();
        let (file, link, fifo) = (dir.path().join("a"), dir.path().join("link"), dir.path().join("fifo"));
        std::fs::write(&file, "mine").expect("file");
        symlink(&file, &link).expect("symlink");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).expect("fifo");
        for path in [&link, &fifo, &dir.path().to_owned(), &PathBuf::from("/dev/null")] {
            assert_eq!(written(path, true, "x"), Err("guard-kind".to_owned()), "{}", path.display());
        }
        assert_eq!(std::fs::read_to_string(&file).expect("reads"), "mine");
        assert_eq!(check_lab_file(&link).expect_err("symlink").message().id(), "guard-kind");
        assert_eq!(prepare_lab_file(Path::new("/dev/null")).expect_err("device").message().id(), "guard-kind");
    }

    #[test]
    fn a_lab_is_never_replaced() {
        let dir = folder();
        let lab = dir.path().join("lab.db");
        let mut head = vec![0; 4096];
        head[..16].copy_from_slice(b"SQLite format 3\0");
        head[68..72].copy_from_slice(b"FATM");
        std::fs::write(&lab, &head).expect("file");
        assert_eq!(written(&lab, true, "x"), Err("guard-lab".to_owned()));
        assert_eq!(std::fs::read(&lab).expect("reads"), head);
    }

    #[test]
    fn what_fails_half_way_leaves_what_was_there() {
        let dir = folder();
        let path = dir.path().join("report");
        assert_eq!(written(&path, false, "whole"), Ok(()));
        let failed = write_output(&path, false, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        });
        assert_eq!(failed.expect_err("fails").message().id(), "output-failed");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "whole");
        assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 1);
    }

    #[test]
    fn a_new_lab_is_its_users_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = folder();
        let path = dir.path().join("sub/lab.db");
        prepare_lab_file(&path).expect("made");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        prepare_lab_file(&path).expect("there already");
    }
}
