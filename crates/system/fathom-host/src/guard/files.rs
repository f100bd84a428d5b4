//! The guard on real files: who uses them, whose they are; after each refusal not a byte has changed.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_language::english;
use rustix::fs::{FileType, Mode};

use super::*;
use crate::own_file::OwnFile;
use crate::testing::{LoopDevice, skip};

const DATA: &[u8] = b"somebody's ledger";

fn everything() -> Permit<'static> {
    Permit { overwrite: true, ..Permit::NOTHING }
}

fn ask(path: &Path, permit: &Permit<'_>) -> Result<WriteConsent, Refusal> {
    check_write_target(&Root::live(), path, permit)
}

fn ledger(dir: &tempfile::TempDir) -> PathBuf {
    let path = dir.path().join("ledger");
    fs::write(&path, DATA).expect("file");
    path
}

/// Refused whatever the user allows, with a remedy, and nothing changed.
fn refused(path: &Path, bytes: impl Fn() -> Vec<u8>, kind: RefusalKind, id: &str) {
    let before = bytes();
    let refusal = ask(path, &everything()).expect_err("refused");
    assert_eq!((refusal.kind, refusal.message.id()), (kind, id), "{refusal}");
    assert!(!english(&refusal.help).is_empty());
    assert!(bytes() == before, "{refusal}: it was changed");
}

#[test]
fn other_peoples_files_need_their_word_unless_they_are_empty() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = ledger(&dir);
    let refusal = ask(&path, &Permit::NOTHING).expect_err("foreign");
    assert_eq!(refusal.kind, RefusalKind::ForeignFile);
    assert!(english(&refusal.help).contains("--overwrite"));
    let consent = ask(&path, &everything()).expect("allowed");
    assert!(matches!(consent.node().map(|n| n.identity()), Some(crate::node::Identity::File { .. })));
    let (empty, holes) = (dir.path().join("empty"), dir.path().join("holes"));
    fs::write(&empty, "").expect("file");
    File::create(&holes).and_then(|f| f.set_len(1 << 20)).expect("file");
    assert!(ask(&empty, &Permit::NOTHING).is_ok());
    assert_eq!(ask(&holes, &Permit::NOTHING).expect_err("is somebody's").kind, RefusalKind::ForeignFile);
    assert_eq!(fs::read(&path).expect("reads"), DATA);
}

#[test]
fn a_file_of_fathom_is_known_by_its_mark_in_this_lab_and_by_no_name() {
    let dir = tempfile::tempdir().expect("temp dir");
    let named_like_one = dir.path().join("fathom-test.data");
    fs::write(&named_like_one, DATA).expect("file");
    assert_eq!(ask(&named_like_one, &Permit::NOTHING).expect_err("foreign").kind, RefusalKind::ForeignFile);
    let (path, mark) = (dir.path().join("kept"), FileMark::new().expect("random"));
    drop(OwnFile::create(&path, 1 << 20, mark).expect("made"));
    let known = |m: FileMark| m == mark;
    assert!(ask(&path, &Permit { is_own: &known, ..Permit::NOTHING }).is_ok());
    assert_eq!(ask(&path, &Permit::NOTHING).expect_err("another lab's").kind, RefusalKind::ForeignFile);
    let copy = dir.path().join("copy");
    fs::copy(&path, &copy).expect("copied");
    let permit = Permit { is_own: &known, ..Permit::NOTHING };
    assert_eq!(ask(&copy, &permit).expect_err("a copy is somebody's").kind, RefusalKind::ForeignFile);
    assert_eq!(OwnFile::adopt(&copy, mark).expect_err("nor is it removed").kind(), std::io::ErrorKind::InvalidData);
    fs::rename(&path, &copy).expect("moved");
    assert!(ask(&copy, &permit).is_ok(), "its name is not what makes it Fathom's");
    let old = fs::OpenOptions::new().write(true).open(&copy).expect("opens");
    old.write_all_at(b"FATHOM-TARGET-1\0", 1 << 20).expect("written");
    drop(old);
    let refused = ask(&copy, &permit).expect_err("a mark without an inode may be a copy's");
    assert_eq!(refused.kind, RefusalKind::ForeignFile);
}

#[test]
fn a_file_behind_a_loop_device_is_refused_by_every_name() {
    let Some(device) = LoopDevice::blank() else { return };
    let image = device.image.path().to_owned();
    let dir = tempfile::tempdir_in(image.parent().expect("folder")).expect("temp dir");
    let (hard, soft) = (dir.path().join("hard"), dir.path().join("soft"));
    fs::hard_link(&image, &hard).expect("hard link");
    symlink(&image, &soft).expect("symlink");
    let open = File::open(&image).expect("opens");
    let by_fd = PathBuf::from(format!("/dev/fd/{}", open.as_raw_fd()));
    for path in [&image, &hard, &soft, &by_fd] {
        refused(path, || fs::read(&image).expect("reads"), RefusalKind::Held, "guard-file-behind-loop");
    }
}

#[test]
fn a_read_only_loop_device_and_one_whose_file_was_renamed_hold_their_file() {
    let Some(device) = LoopDevice::of(4 << 20, &["--read-only"]) else { return };
    let dir = tempfile::tempdir_in(device.image.path().parent().expect("folder")).expect("temp dir");
    let moved = dir.path().join("moved");
    // The kernel's text still has the old path; the inode is the same.
    fs::hard_link(device.image.path(), &moved).expect("hard link");
    refused(&moved, || fs::read(&moved).expect("reads"), RefusalKind::Held, "guard-file-behind-loop");
}

#[test]
fn a_twin_loop_device_over_a_hard_link_is_found() {
    let Some(one) = LoopDevice::of(16 << 20, &[]) else { return };
    let dir = tempfile::tempdir_in(one.image.path().parent().expect("folder")).expect("temp dir");
    let hard = dir.path().join("hard");
    fs::hard_link(one.image.path(), &hard).expect("hard link");
    let output = Command::new("losetup").args(["--find", "--show"]).arg(&hard).output().expect("losetup ran");
    let two = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let at = dir.path().join("mnt");
    fs::create_dir(&at).expect("folder");
    let run = |program: &str, words: &[&std::ffi::OsStr]| {
        Command::new(program).args(words).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    let mounted = run("mkfs.ext4", &["-q".as_ref(), two.as_ref()]) && run("mount", &[two.as_ref(), at.as_ref()]);
    let words = [format!("{}:ext", one.name())];
    let answer = ask(&one.path, &crate::testing::destroying(&words));
    if mounted {
        assert!(run("umount", &[at.as_ref()]));
    }
    assert!(run("losetup", &["--detach".as_ref(), two.as_ref()]));
    if !mounted {
        return skip("no file system to mount");
    }
    let refusal = answer.expect_err("its file is mounted by another loop device");
    assert_eq!((refusal.kind, refusal.message.id()), (RefusalKind::Mounted, "guard-loop-shows"), "{refusal}");
}

/// A process that has the file open as the shell's descriptor 3, until dropped.
struct Holder(std::process::Child);

impl Holder {
    fn new(mode: &str, path: &Path) -> Holder {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec 3{mode}\"$0\"; echo ready; read line")])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut ready).expect("is ready");
        Holder(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("ends");
    }
}

#[test]
fn a_file_that_a_process_has_open_for_writing_is_refused_with_its_name() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = ledger(&dir);
    let holder = Holder::new("<>", &path);
    refused(&path, || fs::read(&path).expect("reads"), RefusalKind::InUse, "guard-open-for-writing");
    let refusal = ask(&path, &everything()).expect_err("in use");
    let said = english(&refusal.message);
    assert!(said.contains("sh") && said.contains(&holder.0.id().to_string()), "{said}");
    drop(holder);
    let reader = Holder::new("<", &path);
    assert!(ask(&path, &everything()).is_ok(), "whoever only reads does not hold it");
    drop(reader);
}

#[test]
fn a_file_that_a_process_mapped_for_writing_is_refused() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = ledger(&dir);
    let program = "import mmap,sys\nf=open(sys.argv[1],'r+b')\nm=mmap.mmap(f.fileno(),0)\nf.close()\n\
        print('ready',flush=True)\nsys.stdin.readline()";
    let mut command = Command::new("python3");
    let child = command.args(["-c", program]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return skip("no python3") };
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut ready).expect("is ready");
    let holder = Holder(child);
    let refusal = ask(&path, &everything()).expect_err("mapped");
    assert_eq!(refusal.kind, RefusalKind::InUse, "{refusal}");
    drop(holder);
}

#[test]
fn labs_and_what_is_protected_are_refused() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (lab, journal) = (dir.path().join("lab.db"), ledger(&dir));
    let mut head = vec![0; 4096];
    head[..16].copy_from_slice(b"SQLite format 3\0");
    head[68..72].copy_from_slice(b"FATM");
    File::create(&lab).and_then(|mut f| f.write_all(&head)).expect("file");
    refused(&lab, || fs::read(&lab).expect("reads"), RefusalKind::Lab, "guard-lab");
    let alias = dir.path().join("alias");
    fs::hard_link(&journal, &alias).expect("hard link");
    let protected = [journal];
    let permit = Permit { protected: &protected, ..everything() };
    assert_eq!(ask(&alias, &permit).expect_err("protected").kind, RefusalKind::Lab);
}

#[test]
fn what_is_no_file_and_no_drive_is_refused_without_a_wait() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (fifo, socket) = (dir.path().join("fifo"), dir.path().join("socket"));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("fifo");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("socket");
    let other = |path: &str| PathBuf::from(path);
    for path in [
        fifo,
        socket,
        dir.path().to_owned(),
        other("/dev/null"),
        other("/dev/zero"),
        other("/dev/mem"),
        other("/dev/tty"),
        other("/dev/loop-control"),
        other("/proc/self/mem"),
        other("/proc/sysrq-trigger"),
        other("/proc/sys/kernel/core_pattern"),
        other("/sys/power/state"),
        other("/sys/kernel/mm/transparent_hugepage/enabled"),
    ] {
        if !path.exists() {
            skip(&format!("{} is not here", path.display()));
            continue;
        }
        let refusal = ask(&path, &everything()).expect_err("no target");
        assert_eq!(refusal.kind, RefusalKind::NotWritableKind, "{}: {refusal}", path.display());
    }
}

#[test]
fn new_files_are_made_only_where_a_folder_of_files_is() {
    let dir = tempfile::tempdir().expect("temp dir");
    let new = |path: &Path| check_new_file(&Root::live(), path).map_err(|r| r.message.id().to_owned());
    assert_eq!(new(&dir.path().join("new")), Ok(()));
    let dangling = dir.path().join("dangling");
    symlink("/no/such/place", &dangling).expect("symlink");
    assert_eq!(new(&dangling), Err("guard-dangling-symlink".to_owned()));
    assert_eq!(new(Path::new("/dev/nvme99n9")), Err("guard-no-such-device".to_owned()));
    assert_eq!(new(&dir.path().join("no/such/folder")), Err("guard-unreachable".to_owned()));
    assert_eq!(new(Path::new("/proc/new")), Err("guard-kernel-file".to_owned()));
    assert_eq!(new(Path::new("/sys/new")), Err("guard-kernel-file".to_owned()));
}

#[test]
fn a_consent_opens_what_was_judged_and_nothing_that_took_its_place() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (path, other) = (ledger(&dir), dir.path().join("other"));
    fs::write(&other, DATA).expect("file");
    let link = dir.path().join("link");
    symlink(&path, &link).expect("symlink");
    let consent = ask(&link, &everything()).expect("allowed");
    drop(consent.open(OFlags::empty()).expect("opens"));
    fs::rename(&path, dir.path().join("aside")).expect("renamed");
    symlink(&other, &path).expect("symlink");
    let error = consent.open(OFlags::empty()).expect_err("leads elsewhere");
    assert_eq!(fathom_message::Say::message(&error).id(), "open-changed");
    assert_eq!(fs::read(&other).expect("reads"), DATA);
}
