//! Where one thread makes, looks at and removes files: a folder within one of Fathom's own. Its files go by their numbers,
//! so that no name is made up twice, and all goes through descriptors: whatever path leads elsewhere meanwhile, nothing
//! outside is touched.

use crate::system::{AsFd, BorrowedFd, OwnedFd};
use crate::system::{Errno, files};
use std::ffi::OsStr;
use std::fs::File;
use std::io;

use crate::system::files::{AtFlags, Mode, OFlags};

use crate::writing;

/// A folder of one thread.
#[derive(Debug)]
pub struct ThreadFolder(OwnedFd);

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
    /// The one called `name` within `own`; it is made unless it is there.
    ///
    /// # Errors
    /// As mkdirat(2) and openat(2).
    pub fn within(own: BorrowedFd<'_>, name: &str) -> io::Result<ThreadFolder> {
        match files::mkdirat(own, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(ThreadFolder(files::openat(own, name, flags, Mode::empty())?))
    }

    /// Makes file `number`.
    ///
    /// # Errors
    /// `AlreadyExists` where it is there; as openat(2).
    pub fn create(&self, number: u64) -> io::Result<File> {
        writing::create_at(self.0.as_fd(), FileName::of(number).as_os_str())
    }

    /// Looks at file `number`; its bytes.
    ///
    /// # Errors
    /// As fstatat(2).
    pub fn stat(&self, number: u64) -> io::Result<u64> {
        let name = FileName::of(number);
        let found = files::statat(&self.0, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(found.st_size.cast_unsigned())
    }

    /// Removes file `number`.
    ///
    /// # Errors
    /// As unlinkat(2).
    pub fn remove(&self, number: u64) -> io::Result<()> {
        Ok(files::unlinkat(&self.0, FileName::of(number).as_os_str(), AtFlags::empty())?)
    }

    /// Writes out what the file system still holds in memory.
    ///
    /// # Errors
    /// As syncfs(2).
    pub fn write_out(&self) -> io::Result<()> {
        crate::system::calls::write_out(self.0.as_fd())
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
        let folder = ThreadFolder::within(own.as_fd(), "t3").expect("made");
        folder.create(42).expect("made").write_all(b"12345").expect("written");
        assert_eq!(folder.create(42).expect_err("there already").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(ThreadFolder::within(own.as_fd(), "t3").expect("found").stat(42).expect("there"), 5);
        assert!(own.path().join("t3/f0000000042").is_file());
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
        assert!(ThreadFolder::within(own.as_fd(), "t0").is_err());
    }
}
