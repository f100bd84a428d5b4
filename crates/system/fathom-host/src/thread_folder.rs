//! Where one thread makes, looks at and removes files: a folder within one of Fathom's own. Its files go by their numbers,
//! so that no name is made up twice, and all that is made or removed goes through descriptors: whatever path leads elsewhere
//! meanwhile, nothing outside is touched.

use crate::system::{AsFd, BorrowedFd, OwnedFd};
use crate::system::{Errno, files};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::files::{AtFlags, Mode, OFlags};

use crate::writing;

/// A folder of one thread.
#[derive(Debug)]
pub struct ThreadFolder {
    folder: OwnedFd,
    /// The whole path of the file that was looked at last by it; nothing is made or removed by a path.
    looked_at: RefCell<PathBuf>,
}

/// `f0000000042`: of one length, so that files differ in nothing but their numbers.
struct FileName([u8; 11]);

impl FileName {
    fn of(number: u64) -> FileName {
        let mut name = *b"f0000000000";
        let mut rest = number;
        for digit in name[1..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        FileName(name)
    }

    fn as_os_str(&self) -> &OsStr {
        OsStr::new(std::str::from_utf8(&self.0).expect("letters and digits"))
    }
}

impl ThreadFolder {
    /// The one called `name` within `own`, which is at `path`; it is made unless it is there.
    ///
    /// # Errors
    /// As mkdirat(2) and openat(2).
    pub fn within(own: BorrowedFd<'_>, path: &Path, name: &str) -> io::Result<ThreadFolder> {
        match files::mkdirat(own, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = files::openat(own, name, flags, Mode::empty())?;
        let first = path.join(name).join(FileName::of(0).as_os_str());
        Ok(ThreadFolder { folder, looked_at: RefCell::new(first) })
    }

    /// Makes file `number`.
    ///
    /// # Errors
    /// `AlreadyExists` where it is there; as openat(2).
    pub fn create(&self, number: u64) -> io::Result<File> {
        writing::create_at(self.folder.as_fd(), FileName::of(number).as_os_str())
    }

    /// Looks at file `number` by its name in this folder; its bytes.
    ///
    /// # Errors
    /// As fstatat(2).
    pub fn stat(&self, number: u64) -> io::Result<u64> {
        let name = FileName::of(number);
        let found = files::statat(&self.folder, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(found.st_size.cast_unsigned())
    }

    /// Looks at file `number` by its whole path, each folder of which the kernel walks through; its bytes.
    ///
    /// # Errors
    /// As stat(2).
    pub fn stat_by_path(&self, number: u64) -> io::Result<u64> {
        let mut path = self.looked_at.borrow_mut();
        path.set_file_name(FileName::of(number).as_os_str());
        Ok(std::fs::metadata(&*path)?.len())
    }

    /// Removes file `number`.
    ///
    /// # Errors
    /// As unlinkat(2).
    pub fn remove(&self, number: u64) -> io::Result<()> {
        Ok(files::unlinkat(&self.folder, FileName::of(number).as_os_str(), AtFlags::empty())?)
    }

    /// Writes out what the file system still holds in memory.
    ///
    /// # Errors
    /// As syncfs(2).
    pub fn write_out(&self) -> io::Result<()> {
        crate::system::calls::write_out(self.folder.as_fd())
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::own_folder::OwnFolder;

    #[test]
    fn files_are_made_once_looked_at_and_removed_by_their_numbers() {
        let dir = tempfile::tempdir().expect("a folder");
        let own = OwnFolder::create(dir.path(), "fathom-test-").expect("made");
        let folder = ThreadFolder::within(own.as_fd(), own.path(), "t3").expect("made");
        folder.create(42).expect("made").write_all(b"12345").expect("written");
        assert_eq!(folder.create(42).expect_err("there already").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(ThreadFolder::within(own.as_fd(), own.path(), "t3").expect("found").stat(42).expect("there"), 5);
        assert_eq!(folder.stat_by_path(42).expect("there"), 5);
        assert_eq!(folder.stat_by_path(43).expect_err("never made").kind(), io::ErrorKind::NotFound);
        assert!(own.path().join("t3/f0000000042").is_file());
        // A path is walked each time it is asked; the open folder is where it was, whatever it is called by now.
        std::fs::rename(own.path().join("t3"), own.path().join("t4")).expect("renamed");
        assert_eq!(folder.stat_by_path(42).expect_err("elsewhere").kind(), io::ErrorKind::NotFound);
        assert_eq!(folder.stat(42).expect("there"), 5);
        folder.write_out().expect("written out");
        folder.remove(42).expect("removed");
        assert_eq!(folder.stat(42).expect_err("gone").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_stands_at_a_threads_name_is_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let theirs = dir.path().join("theirs");
        std::fs::create_dir(&theirs).expect("made");
        let own = OwnFolder::create(dir.path(), "fathom-test-").expect("made");
        std::os::unix::fs::symlink(&theirs, own.path().join("t0")).expect("a link");
        assert!(ThreadFolder::within(own.as_fd(), own.path(), "t0").is_err());
    }
}
