//! Files that Fathom makes as targets. Each carries a mark beside its data (an extended attribute, a stream of NTFS), and the
//! lab holds the same: a file is Fathom's when both agree, whatever its name. On a file system that keeps no such notes the
//! mark is a block of its own behind the measured bytes. The mark also says how long the file is, which inode it was made in
//! and when that was born, so that neither a copy nor a file that was rewritten is taken for it. It does not name the file
//! system's device: that number changes with every mount and boot.

use crate::system::FileExt as _;
use crate::system::{AsFd as _, OwnedFd};
use crate::system::{Errno, files, outputs};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::system::files::{AtFlags, Mode, OFlags};
use serde::de::Unexpected;
use serde::{Deserialize, Serialize};

use crate::databases::open_pinned;
use crate::extents::unwritten_share;
use crate::guard::WriteConsent;
use crate::node::{Identity, Node, pin};
use crate::output_file::Note;
use crate::root::Root;
use crate::system::calls::{self, random_bytes};
use crate::system::locks;
use crate::writing;

/// Length of the block that says whose the file is, where the file system keeps no notes beside the data.
pub const MARK_BYTES: u64 = 4096;
/// Length of the mark.
const SAID_BYTES: usize = 56;
/// Its first bytes.
const MAGIC: &[u8; 16] = b"FATHOM-TARGET-2\0";
/// The same of older versions, whose block says nothing of the inode.
const MAGIC_WITHOUT_INODE: &[u8; 16] = b"FATHOM-TARGET-1\0";
/// Placeholder for a birth time that the file system does not report.
const BIRTH_UNKNOWN: i64 = i64::MIN;

/// The identity of a file that Fathom made: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileMark([u8; 16]);

impl FileMark {
    /// One that no other file has.
    ///
    /// # Errors
    /// The kernel gives no random bits.
    pub fn new() -> io::Result<FileMark> {
        Ok(FileMark(random_bytes()?))
    }

    /// The mark of an open file, if it has one.
    pub(crate) fn read(file: &File) -> Option<Marked> {
        let length = file.metadata().ok()?.len();
        if let Some(note) = outputs::note(file, Note::Target, SAID_BYTES).and_then(|note| note.try_into().ok()) {
            return FileMark::said(&note, file).filter(|marked| marked.bytes == length);
        }
        let at = length.checked_sub(MARK_BYTES)?;
        let mut block = [0; SAID_BYTES];
        file.read_exact_at(&mut block, at).ok()?;
        FileMark::said(&block, file).filter(|marked| mark_at(marked.bytes) == at)
    }

    fn said(said: &[u8; SAID_BYTES], file: &File) -> Option<Marked> {
        let number = |at: usize| u64::from_le_bytes(said[at..at + 8].try_into().expect("8 bytes"));
        let place = match &said[..16] {
            magic if magic == MAGIC => {
                let (inode, birth) = birth_of(file).ok()?;
                let (inode_then, birth_then) = (number(40), number(48) as i64);
                let is_same_birth = birth_then == birth || birth_then == BIRTH_UNKNOWN || birth == BIRTH_UNKNOWN;
                if inode == inode_then && is_same_birth { MarkPlace::Original } else { MarkPlace::Copy }
            }
            magic if magic == MAGIC_WITHOUT_INODE => MarkPlace::Unknown,
            _ => return None,
        };
        let mark = FileMark(said[16..32].try_into().expect("16 bytes"));
        Some(Marked { mark, bytes: number(32), place })
    }

    /// Gives a file its length and its mark.
    fn write(self, file: &File, bytes: u64) -> io::Result<()> {
        let (inode, birth) = birth_of(file)?;
        let mut said = [0; SAID_BYTES];
        said[..16].copy_from_slice(MAGIC);
        said[16..32].copy_from_slice(&self.0);
        said[32..40].copy_from_slice(&bytes.to_le_bytes());
        said[40..48].copy_from_slice(&inode.to_le_bytes());
        said[48..56].copy_from_slice(&birth.to_le_bytes());
        file.set_len(bytes)?;
        match outputs::set_note(file, Note::Target, &said) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => FileMark::write_block(file, bytes, &said)?,
            set => set?,
        }
        file.sync_all()
    }

    fn write_block(file: &File, bytes: u64, said: &[u8; SAID_BYTES]) -> io::Result<()> {
        let mut block = vec![0; MARK_BYTES as usize];
        block[..SAID_BYTES].copy_from_slice(said);
        file.set_len(file_bytes(bytes))?;
        file.write_all_at(&block, mark_at(bytes))
    }
}

/// Content of a file's mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    pub(crate) mark: FileMark,
    /// Measured bytes.
    pub(crate) bytes: u64,
    pub(crate) place: MarkPlace,
}

/// Relation of a mark to the file that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkPlace {
    /// The mark was written for this file.
    Original,
    /// The file is a copy of the marked file, so it belongs to a user.
    Copy,
    /// An older version wrote the mark and did not note the inode.
    Unknown,
}

/// Inode of an open file, and when it was born in nanoseconds since 1970, or [`BIRTH_UNKNOWN`].
fn birth_of(file: &File) -> io::Result<(u64, i64)> {
    let inode = files::fstat(file)?.st_ino;
    Ok((inode, calls::birth_ns(file).unwrap_or(BIRTH_UNKNOWN)))
}

/// Where the mark of a file with so many measured bytes begins: at the next whole block, so that direct I/O and the mark
/// never share one.
fn mark_at(bytes: u64) -> u64 {
    bytes.next_multiple_of(MARK_BYTES)
}

/// Most bytes that a file takes whose measured part has `bytes`.
#[must_use]
pub fn file_bytes(bytes: u64) -> u64 {
    mark_at(bytes).saturating_add(MARK_BYTES)
}

impl fmt::Display for FileMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAMark;

impl FromStr for FileMark {
    type Err = NotAMark;

    fn from_str(text: &str) -> Result<FileMark, NotAMark> {
        let digits = text.as_bytes();
        if digits.len() != 32 || !text.is_ascii() {
            return Err(NotAMark);
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| NotAMark)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NotAMark)?;
        }
        Ok(FileMark(bytes))
    }
}

impl Serialize for FileMark {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FileMark {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FileMark, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|NotAMark| serde::de::Error::invalid_value(Unexpected::Str(&text), &"FileMark"))
    }
}

/// A file that Fathom made, locked while this lives, so that nobody takes it for one that was left behind.
#[derive(Debug)]
pub struct OwnFile {
    folder: OwnedFd,
    name: OsString,
    path: PathBuf,
    file: File,
    mark: FileMark,
    bytes: u64,
}

impl OwnFile {
    /// Makes the file, of `bytes` measured bytes, with its mark.
    ///
    /// # Errors
    /// As open(2): `AlreadyExists` where anything has the name, also a symlink; as ftruncate(2) and write(2).
    pub fn create(path: &Path, bytes: u64, mark: FileMark) -> io::Result<OwnFile> {
        let (folder, name) = folder_of(path)?;
        // It gets its name with its mark: a process that is killed before leaves nothing.
        let unnamed = writing::create_unnamed(folder.as_fd())?;
        let has_name = unnamed.is_none();
        let file = unnamed.map_or_else(|| writing::create_at(folder.as_fd(), &name), Ok)?;
        let own = OwnFile { folder, name, path: path.to_owned(), file, mark, bytes };
        let named = || if has_name { Ok(()) } else { writing::name_at(&own.file, own.folder.as_fd(), &own.name) };
        let made = locks::lock(&own.file).and_then(|()| mark.write(&own.file, bytes)).and_then(|()| named());
        match made {
            Ok(()) => Ok(own),
            Err(error) => {
                own.remove()?;
                Err(error)
            }
        }
    }

    /// Takes over a file that an earlier process made: only where the file says that it is the one with `mark`.
    ///
    /// # Errors
    /// `NotFound` where there is none; `InvalidData` where the file is another; `WouldBlock` where a process uses it.
    pub fn adopt(path: &Path, mark: FileMark) -> io::Result<OwnFile> {
        let (folder, name) = folder_of(path)?;
        let file = writing::open_regular(path)?;
        match FileMark::read(&file) {
            Some(Marked { mark: found, bytes, place }) if found == mark && place != MarkPlace::Copy => {
                if !locks::try_lock(&file) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let own = OwnFile { folder, name, path: path.to_owned(), file, mark, bytes };
                if own.is_in_place()? { Ok(own) } else { Err(io::ErrorKind::NotFound.into()) }
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Reserves the space of its measured bytes without writing to it.
    ///
    /// # Errors
    /// As fallocate(2), e.g. `StorageFull`. A file system that cannot reserve space is no error.
    pub fn allocate(&self) -> io::Result<()> {
        match calls::allocate(&self.file, self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
            other => other,
        }
    }

    /// Its path when it was made or taken over.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose it is.
    #[must_use]
    pub fn mark(&self) -> FileMark {
        self.mark
    }

    /// Measured bytes, without the mark.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether every measured byte was written once; not where that cannot be found out.
    #[must_use]
    pub fn is_written(&self) -> bool {
        unwritten_share(&self.file, 0, self.bytes).is_ok_and(|share| share.unwritten_bytes == 0)
    }

    /// Permission to write to it: it is Fathom's own.
    ///
    /// # Errors
    /// Its name leads to something else already.
    pub fn consent(&self, root: &Root) -> io::Result<WriteConsent> {
        let node = Node::at_itself(root, &self.path)?;
        let stat = files::fstat(&self.file)?;
        if *node.identity() != (Identity::File { device: stat.st_dev, inode: stat.st_ino }) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(WriteConsent::to_file(self.path.clone(), Arc::new(node)))
    }

    /// Whether its name still leads to it.
    fn is_in_place(&self) -> io::Result<bool> {
        let own = files::fstat(&self.file)?;
        match files::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes it; whatever else has taken its name stays.
    ///
    /// # Errors
    /// As unlink(2).
    pub fn remove(self) -> io::Result<()> {
        if self.is_in_place()? {
            files::unlinkat(&self.folder, &self.name, AtFlags::empty())?;
        }
        Ok(())
    }
}

/// The folder of a path, open, and the name in it.
fn folder_of(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let name = path.file_name().map(OsStr::to_owned).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((files::open(folder, flags, Mode::empty())?, name))
}

/// Files in a folder that carry a mark, with it and their measured bytes. Nothing is followed or waited for; what cannot
/// be read is left out.
#[must_use]
pub fn marked_files_in(folder: &Path) -> Vec<(PathBuf, FileMark, u64)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let marked = |path: PathBuf| {
        let pin = File::from(pin(&path, false).ok()?);
        pin.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let file = File::from(open_pinned(pin.as_fd(), OFlags::NONBLOCK).ok()?);
        let Marked { mark, bytes, .. } = FileMark::read(&file)?;
        Some((path, mark, bytes))
    };
    let mut found: Vec<_> = entries.flatten().filter_map(|e| marked(e.path())).collect();
    found.sort();
    found
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn mark() -> FileMark {
        FileMark::new().expect("random bits")
    }

    #[test]
    fn a_file_is_known_by_its_mark_and_not_by_its_name() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("any name");
        let (mine, other) = (mark(), mark());
        drop(OwnFile::create(&path, MIB + 1, mine).expect("made"));
        assert_eq!(std::fs::metadata(&path).expect("there").len(), MIB + 1, "as long as it is measured");
        assert_eq!(OwnFile::adopt(&path, other).expect_err("another's").kind(), io::ErrorKind::InvalidData);
        let file = OwnFile::adopt(&path, mine).expect("is mine");
        assert_eq!(file.bytes(), MIB + 1);
        assert_eq!(OwnFile::adopt(&path, mine).expect_err("in use").kind(), io::ErrorKind::WouldBlock);
        assert_eq!(marked_files_in(dir.path()), [(path.clone(), mine, MIB + 1)]);
        file.remove().expect("removed");
        assert!(!path.exists());
    }

    /// The same file with its mark in a block, as on a file system that keeps no notes beside the data.
    fn with_block(path: &Path, change: impl Fn(&mut [u8; SAID_BYTES])) -> File {
        let file = File::options().read(true).write(true).open(path).expect("opens");
        let mut said: [u8; SAID_BYTES] =
            outputs::note(&file, Note::Target, SAID_BYTES).expect("a note").try_into().expect("56 bytes");
        change(&mut said);
        let bytes = u64::from_le_bytes(said[32..40].try_into().expect("8 bytes"));
        rustix::fs::fremovexattr(&file, "user.fathom.target").expect("removed");
        FileMark::write_block(&file, bytes, &said).expect("written");
        file
    }

    #[test]
    fn a_file_system_without_notes_has_the_mark_behind_the_data() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, copy, mine) = (dir.path().join("old"), dir.path().join("copy"), mark());
        drop(OwnFile::create(&path, MIB, mine).expect("made"));
        drop(with_block(&path, |_| ()));
        std::fs::copy(&path, &copy).expect("copied");
        assert_eq!(OwnFile::adopt(&copy, mine).expect_err("a copy").kind(), io::ErrorKind::InvalidData);
        assert_eq!(OwnFile::adopt(&path, mine).expect("is mine").bytes(), MIB);
        let file = File::options().write(true).open(&path).expect("opens");
        file.write_all_at(MAGIC_WITHOUT_INODE, MIB).expect("written");
        assert_eq!(OwnFile::adopt(&path, mine).expect("is mine").bytes(), MIB);
        let file = File::open(&path).expect("opens");
        assert_eq!(FileMark::read(&file).map(|marked| marked.place), Some(MarkPlace::Unknown));
    }

    #[test]
    fn a_file_that_was_rewritten_or_copied_with_its_mark_is_a_users() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, copy, mine) = (dir.path().join("file"), dir.path().join("copy"), mark());
        drop(OwnFile::create(&path, MIB, mine).expect("made"));
        let said = outputs::note(&File::open(&path).expect("opens"), Note::Target, SAID_BYTES).expect("a note");
        std::fs::copy(&path, &copy).expect("copied");
        let copied = File::options().write(true).open(&copy).expect("opens");
        outputs::set_note(&copied, Note::Target, &said).expect("as cp -a does");
        assert_eq!(OwnFile::adopt(&copy, mine).expect_err("a copy").kind(), io::ErrorKind::InvalidData);
        std::fs::write(&path, "theirs now").expect("rewritten");
        assert_eq!(OwnFile::adopt(&path, mine).expect_err("another length").kind(), io::ErrorKind::InvalidData);
    }

    /// A copy may get the inode that the file had: a backup that is restored after the file was removed.
    #[test]
    fn a_copy_with_the_inode_of_the_file_is_known_by_its_birth() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, mine) = (dir.path().join("copy"), mark());
        drop(OwnFile::create(&path, MIB, mine).expect("made"));
        let file = File::open(&path).expect("opens");
        let said = outputs::note(&file, Note::Target, SAID_BYTES).expect("a note");
        let (inode, birth) = birth_of(&file).expect("a file");
        let place = |inode: u64, birth: i64| {
            let mut other = said.clone();
            other[40..48].copy_from_slice(&inode.to_le_bytes());
            other[48..56].copy_from_slice(&birth.to_le_bytes());
            outputs::set_note(&file, Note::Target, &other).expect("set");
            FileMark::read(&file).map(|marked| marked.place)
        };
        let is_told = birth != BIRTH_UNKNOWN;
        assert_eq!(place(inode, birth), Some(MarkPlace::Original));
        assert_eq!(place(inode, BIRTH_UNKNOWN), Some(MarkPlace::Original));
        let another = if is_told { MarkPlace::Copy } else { MarkPlace::Original };
        assert_eq!(place(inode, birth.wrapping_sub(1)), Some(another));
        assert_eq!(place(inode + 1, birth), Some(MarkPlace::Copy));
    }

    /// A process that is killed while it makes a file leaves none without a mark, which nobody would know for Fathom's.
    #[test]
    fn a_file_has_its_mark_as_soon_as_it_has_its_name() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("file");
        let ended = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let is_unmarked = || File::open(&path).is_ok_and(|file| FileMark::read(&file).is_none());
                let mut unmarked = 0;
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    unmarked += u32::from(is_unmarked());
                }
                unmarked
            });
            for _ in 0..50 {
                OwnFile::create(&path, MIB, mark()).and_then(OwnFile::remove).expect("made and removed");
            }
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(watcher.join().expect("no panic"), 0);
        });
    }

    #[test]
    fn what_has_the_name_of_a_file_is_not_removed_with_it() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, aside) = (dir.path().join("fathom-test.data"), dir.path().join("aside"));
        let own = OwnFile::create(&path, MIB, mark()).expect("made");
        std::fs::rename(&path, &aside).expect("renamed");
        std::fs::write(&path, "theirs").expect("file");
        assert!(own.consent(&Root::live()).is_err(), "another file has its name");
        own.remove().expect("nothing to do");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "theirs");
        assert!(aside.exists(), "nobody asked for a file of this name to go");
    }

    #[test]
    fn a_name_that_is_taken_by_anything_is_not_written() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, other) = (dir.path().join("a"), dir.path().join("other"));
        std::os::unix::fs::symlink(&other, &path).expect("link");
        assert_eq!(OwnFile::create(&path, MIB, mark()).expect_err("a link").kind(), io::ErrorKind::AlreadyExists);
        assert!(!other.exists());
    }

    #[test]
    fn a_disk_that_is_full_leaves_no_file() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("huge");
        assert!(OwnFile::create(&path, i64::MAX as u64 - 4 * MARK_BYTES, mark()).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn marks_are_written_and_read_as_text() {
        let mine = mark();
        assert_eq!(mine.to_string().parse(), Ok(mine));
        let text = serde_json::to_string(&mine).expect("serializes");
        assert_eq!(serde_json::from_str::<FileMark>(&text).expect("reads"), mine);
        for text in ["", "00", "zz000000000000000000000000000000", "äääääääääääääääääääääääääääääääää"]
        {
            assert_eq!(text.parse::<FileMark>(), Err(NotAMark));
        }
    }
}
