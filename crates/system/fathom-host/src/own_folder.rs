//! Folders that Fathom makes for files of another's making: what fio lays out, what a database keeps. Each carries a mark
//! and a lock, so that what a killed call leaves is found and removed, and nothing else ever is.

use crate::system::calls::{is_of_user, make_private_folder};
use crate::system::files;
use crate::system::{AsFd, BorrowedFd, OwnedFd, locks};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::system::files::{FileType, Mode, OFlags, Stat};

use crate::output_file::create_new_file;
use crate::sys;

const LOCK_NAME: &str = ".in-use";

/// Names of folders with the files of a study begin so.
pub const FILES_FOLDER_PREFIX: &str = "fathom-files-";
/// Names of folders for fio begin so.
pub const FIO_FOLDER_PREFIX: &str = "fathom-fio-";
/// Names of folders with a database begin so.
pub const DATABASE_FOLDER_PREFIX: &str = "fathom-oltp-";
/// All of them.
pub const OWN_FOLDER_PREFIXES: [&str; 3] = [FILES_FOLDER_PREFIX, FIO_FOLDER_PREFIX, DATABASE_FOLDER_PREFIX];

/// A folder of this call's own, for its user alone; removed with all that is in it when the value is dropped.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    /// The folder itself, wherever its path leads to.
    pin: Arc<OwnedFd>,
    /// Held as long as the folder is in use.
    lock: Option<File>,
    is_kept: bool,
}

impl OwnFolder {
    /// Makes one in `within`; its name begins with `prefix`.
    ///
    /// # Errors
    /// What the system says: no folder, no right, no space.
    pub fn create(within: &Path, prefix: &str) -> io::Result<OwnFolder> {
        let path = new_folder(within, prefix)?;
        let pin = pinned(&path).inspect_err(|_| drop(fs::remove_dir(&path)))?;
        // From here on a failure removes what was made.
        let mut folder = OwnFolder { path, pin, lock: None, is_kept: false };
        let mut lock = create_new_file(&folder.path.join(LOCK_NAME))?;
        locks::lock(&lock)?;
        lock.write_all(mark_of(&files::lstat(&folder.path)?).as_bytes())?;
        folder.lock = Some(lock);
        Ok(folder)
    }

    /// Takes over a folder that a call left, on purpose or killed. It is kept at the end.
    ///
    /// # Errors
    /// `InvalidInput` where the folder bears no mark of Fathom, or one of another folder; `WouldBlock` while a call uses it.
    pub fn take_over(path: &Path) -> io::Result<OwnFolder> {
        let path = fs::canonicalize(path)?;
        let lock = marked_lock(&path)?.ok_or(io::ErrorKind::InvalidInput)?;
        if !locks::try_lock(&lock) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let pin = pinned(&path)?;
        Ok(OwnFolder { path, pin, lock: Some(lock), is_kept: true })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, for what works in it.
    #[must_use]
    pub fn pin(&self) -> Arc<OwnedFd> {
        self.pin.clone()
    }

    /// Leaves it where it is.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes folders of killed calls of the same user in `within`: nobody holds their lock any more. What cannot be removed
    /// now is tried again at the next call. Gives the paths of those that are gone.
    #[must_use]
    pub fn remove_abandoned(within: &Path, prefix: &str) -> Vec<PathBuf> {
        let user = sys::user_id();
        let abandoned = marked_in(within, prefix, user).into_iter().filter(|(_, lock)| locks::try_lock(lock));
        abandoned.filter_map(|(path, _lock)| fs::remove_dir_all(&path).ok().map(|()| path)).collect()
    }

    /// Removes a folder that no call uses.
    ///
    /// # Errors
    /// `InvalidInput` where the folder bears no mark of Fathom; `WouldBlock` while a call uses it; as unlink(2).
    pub fn remove_unused(path: &Path) -> io::Result<()> {
        let lock = marked_lock(path)?.ok_or(io::ErrorKind::InvalidInput)?;
        if !locks::try_lock(&lock) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        fs::remove_dir_all(path)
    }

    /// True if `within` holds a folder of this user, in use or not, whose name begins with one of `prefixes`.
    #[must_use]
    pub fn is_any_in(within: &Path, prefixes: &[&str]) -> bool {
        let user = sys::user_id();
        prefixes.iter().any(|prefix| !marked_in(within, prefix, user).is_empty())
    }

    /// Folders in `within` that no call uses: of killed calls, or kept.
    #[must_use]
    pub fn unused_in(within: &Path, prefix: &str) -> Vec<PathBuf> {
        let user = sys::user_id();
        let folders = marked_in(within, prefix, user);
        folders.into_iter().filter(|(_, lock)| locks::try_lock(lock)).map(|(path, _)| path).collect()
    }
}

impl AsFd for OwnFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pin.as_fd()
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // The next call removes what could not be removed now.
            let _kept = fs::remove_dir_all(&self.path);
        }
    }
}

fn pinned(path: &Path) -> io::Result<Arc<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Arc::new(files::open(path, flags, Mode::empty())?))
}

fn new_folder(within: &Path, prefix: &str) -> io::Result<PathBuf> {
    let within = fs::canonicalize(within)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    for attempt in 0..100_u32 {
        let path = within.join(format!("{prefix}{:x}-{:x}", std::process::id(), now.subsec_nanos() ^ attempt));
        match make_private_folder(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// What the lock file of a folder says: a folder that is copied or only named alike has another.
fn mark_of(folder: &Stat) -> String {
    format!("fathom's own folder: inode {} on device {}\n", folder.st_ino, folder.st_dev)
}

/// The lock of a folder that bears its own mark.
fn marked_lock(path: &Path) -> io::Result<Option<File>> {
    let stat = files::lstat(path)?;
    let lock_path = path.join(LOCK_NAME);
    // Opening anything else might wait for ever.
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory
        || !fs::symlink_metadata(&lock_path).is_ok_and(|meta| meta.is_file())
    {
        return Ok(None);
    }
    let mut lock = File::open(lock_path)?;
    let mut mark = String::new();
    let is_marked = lock.read_to_string(&mut mark).is_ok() && mark == mark_of(&stat);
    Ok(is_marked.then_some(lock))
}

fn marked_in(within: &Path, prefix: &str, user: u32) -> Vec<(PathBuf, File)> {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    let named = entries.filter(|e| e.file_name().to_string_lossy().starts_with(prefix)).map(|e| e.path());
    let own = named.filter(|path| is_of_user(path, user));
    own.filter_map(|path| Some((marked_lock(&path).ok()??, path))).map(|(lock, path)| (path, lock)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "fathom-test-";

    /// As a killed call leaves it.
    fn abandoned(within: &Path) -> PathBuf {
        let mut folder = OwnFolder::create(within, PREFIX).expect("a folder");
        folder.keep();
        folder.path().to_owned()
    }

    #[test]
    fn a_folder_of_a_killed_call_is_removed_by_the_next_one_and_no_other_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let dead = abandoned(dir.path());
        let used = OwnFolder::create(dir.path(), PREFIX).expect("a folder");
        let copied = dir.path().join("fathom-test-copied");
        fs::create_dir(&copied).expect("a folder");
        fs::copy(dead.join(LOCK_NAME), copied.join(LOCK_NAME)).expect("a lock");
        fs::create_dir(dir.path().join("fathom-test-foreign")).expect("a folder");
        let user = sys::user_id();
        assert_eq!(marked_in(dir.path(), PREFIX, user + 1).len(), 0, "another user's folders were looked at");
        assert_eq!(OwnFolder::unused_in(dir.path(), PREFIX), [fs::canonicalize(&dead).expect("a folder")]);
        let gone = OwnFolder::remove_abandoned(dir.path(), PREFIX);
        assert_eq!(gone.len(), 1);
        let kind = |path: &Path| OwnFolder::remove_unused(path).expect_err("is kept").kind();
        assert_eq!((kind(used.path()), kind(&copied)), (io::ErrorKind::WouldBlock, io::ErrorKind::InvalidInput));
        assert!(OwnFolder::is_any_in(dir.path(), &[PREFIX]) && !OwnFolder::is_any_in(&copied, &[PREFIX]));
        let left = [&dead, used.path(), &copied, &dir.path().join("fathom-test-foreign")].map(Path::exists);
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn a_folder_goes_with_its_owner_and_is_taken_over_by_one_call_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = OwnFolder::create(dir.path(), PREFIX).expect("a folder");
        let path = folder.path().to_owned();
        let kind = |path: &Path| OwnFolder::take_over(path).err().map(|error| error.kind());
        assert_eq!(kind(&path), Some(io::ErrorKind::WouldBlock));
        assert_eq!(kind(dir.path()), Some(io::ErrorKind::InvalidInput));
        drop(folder);
        assert!(!path.exists());
        let left = abandoned(dir.path());
        let taken = OwnFolder::take_over(&left).expect("a folder");
        assert_eq!(kind(&left), Some(io::ErrorKind::WouldBlock));
        drop(taken);
        assert!(left.exists(), "what was taken over is not this call's to remove");
    }
}
