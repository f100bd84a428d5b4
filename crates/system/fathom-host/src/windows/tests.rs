//! What the parts of Windows do together; run under Wine by `make windows-test`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::files::{self, AtFlags, FileType, Mode, OFlags, RenameFlags};
use super::guard::refuse_path;
use super::machine::{Counters, stand_in};
use super::{AsFd as _, Errno, FileExt as _, calls, locks};
use crate::cpu::Topology;
use crate::guard::{Permit, RefusalKind, check_write_target};
use crate::node::{Node, OpenError};
use crate::output_file::{OutputError, write_output};
use crate::own_file::{FileMark, OwnFile, marked_files_in};
use crate::procfs::Stat;
use crate::root::Root;

#[test]
fn what_a_path_led_to_is_opened_and_nothing_that_took_its_place() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (path, aside) = (dir.path().join("a"), dir.path().join("b"));
    fs::write(&path, "mine").expect("file");
    let node = Node::at(&Root::live(), &path).expect("is there");
    node.open_to_write(OFlags::empty()).expect("unchanged").write_all(b"x").expect("writes");
    fs::rename(&path, &aside).expect("renamed");
    assert!(matches!(node.open_to_write(OFlags::empty()), Err(OpenError::Changed { is: None, .. })));
    fs::write(&path, "theirs").expect("file");
    assert!(matches!(node.open_to_write(OFlags::empty()), Err(OpenError::Changed { is: Some(_), .. })));
    assert!(matches!(node.open_to_read(OFlags::empty()), Err(OpenError::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).expect("reads"), "theirs");
    assert_eq!(fs::read_to_string(&aside).expect("reads"), "xine");
}

#[test]
fn names_in_a_folder_are_made_renamed_and_removed_once() {
    let dir = tempfile::tempdir().expect("temp dir");
    let folder = files::open(dir.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).expect("a folder");
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = fs::File::from(files::openat(&folder, "a", new, Mode::empty()).expect("made"));
    assert_eq!(files::openat(&folder, "a", new, Mode::empty()).err(), Some(Errno::EXIST));
    file.write_all_at(b"0123456789", 5).expect("written");
    let mut part = [0; 4];
    file.read_exact_at(&mut part, 8).expect("read");
    assert_eq!(&part, b"3456");
    assert!(file.read_exact_at(&mut part, 13).is_err(), "behind the end");
    let stat = files::statat(&folder, "a", AtFlags::SYMLINK_NOFOLLOW).expect("there");
    assert_eq!((stat.st_mode, stat.st_size), (FileType::RegularFile, 15));
    let own = files::fstat(&file).expect("open");
    assert_eq!((own.st_dev, own.st_ino), (stat.st_dev, stat.st_ino));
    fs::write(dir.path().join("b"), "b").expect("file");
    let blocked = files::renameat_with(&folder, "a", &folder, "b", RenameFlags::NOREPLACE);
    assert_eq!(blocked.err(), Some(Errno::EXIST));
    files::renameat_with(&folder, "a", &folder, "b", RenameFlags::empty()).expect("replaces");
    assert_eq!(files::statat(&folder, "a", AtFlags::empty()).err(), Some(Errno::NOENT));
    files::unlinkat(&folder, "b", AtFlags::empty()).expect("removed");
    drop(file);
    assert!(!dir.path().join("b").exists());
    assert_eq!(files::stat(dir.path()).expect("there").st_mode, FileType::Directory);
    assert!(folder.as_fd().try_clone_to_owned().is_ok());
}

#[test]
fn a_lock_keeps_others_from_the_lock_and_not_from_the_data() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("f");
    fs::write(&path, "data").expect("file");
    let open = || fs::File::options().read(true).write(true).open(&path).expect("opens");
    let (mine, other) = (open(), open());
    locks::lock(&mine).expect("locked");
    assert!(!locks::try_lock(&other) && !locks::try_lock_shared(&other));
    assert_eq!(fs::read_to_string(&path).expect("reads"), "data");
    other.write_all_at(b"more", 0).expect("writes");
    drop(mine);
    assert!(locks::try_lock(&other));
}

#[test]
fn a_file_of_ones_own_is_marked_found_again_and_written_by_its_consent_alone() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("own.dat");
    let mark = FileMark::new().expect("random bits");
    let own = OwnFile::create(&path, 1 << 20, mark).expect("made");
    assert_eq!(marked_files_in(dir.path()).len(), 1);
    let consent = own.consent(&Root::live()).expect("its own");
    let file = consent.open(OFlags::empty()).expect("opens");
    file.write_all_at(&[7; 4096], 4096).expect("writes");
    assert!(OwnFile::adopt(&path, mark).is_err(), "it is in use");
    own.remove().expect("removed");
    drop((file, consent));
    assert!(!path.exists());
}

#[test]
fn files_with_data_are_others_and_files_that_are_open_for_writing_are_in_use() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("theirs");
    fs::write(&path, "theirs").expect("file");
    let kind =
        |permit: &Permit<'_>| check_write_target(&Root::live(), &path, permit).map_err(|refusal| refusal.kind).err();
    assert_eq!(kind(&Permit::NOTHING), Some(RefusalKind::ForeignFile));
    let overwrites = Permit { overwrite: true, ..Permit::NOTHING };
    assert_eq!(kind(&overwrites), None);
    let writer = fs::File::options().append(true).open(&path).expect("opens");
    assert_eq!(kind(&overwrites), Some(RefusalKind::InUse));
    drop(writer);
    assert_eq!(kind(&overwrites), None);
    assert_eq!(fs::read_to_string(&path).expect("reads"), "theirs");
}

#[test]
fn drives_and_names_that_are_devices_are_refused_by_their_form() {
    for path in [
        r"\\.\PhysicalDrive0",
        r"\\.\C:",
        r"\\?\GLOBALROOT\Device\Harddisk0\Partition0",
        r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}",
        r"\\?\unix\dev\sda",
        "D:",
        "con",
        "NUL.txt",
        r"C:\folder\com1",
        r"C:\folder\Lpt9.dat",
        "aux:stream",
    ] {
        assert!(refuse_path(Path::new(path)).is_err(), "{path}");
    }
    for path in
        [r"C:\folder\fathom.dat", "fathom.dat", r"\\server\share\f.dat", r"\\?\C:\f.dat", r"D:\", "console.dat", "."]
    {
        assert!(refuse_path(Path::new(path)).is_ok(), "{path}");
    }
}

#[test]
fn an_output_is_written_whole_and_another_programs_file_stays() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("report.html");
    let write = |text: &'static str, force| write_output(&path, force, |out| out.write_all(text.as_bytes()));
    write("one", false).expect("written");
    let again = write("two", false);
    // Where the file system keeps no streams beside a file (Wine), Fathom's own file is not known again.
    assert!(matches!(again, Ok(()) | Err(OutputError::Exists { .. })), "{again:?}");
    write("three", true).expect("replaced");
    assert_eq!(fs::read_to_string(&path).expect("reads"), "three");
    let names: Vec<_> =
        fs::read_dir(dir.path()).expect("reads").map(|entry| entry.expect("reads").file_name()).collect();
    assert_eq!(names, ["report.html"], "nothing is left beside it");
}

#[test]
fn the_counters_see_a_busy_cpu_and_the_topology_has_it() {
    let root = Root::live();
    let topology = Topology::read(&root).expect("told");
    let cpu = topology.cpus.last().expect("a CPU").id;
    let mut counters = Counters::open(&root).expect("opens");
    let (mut before, mut after) = (Stat::default(), Stat::default());
    let thread = std::thread::spawn(move || {
        calls::bind_thread(cpu).expect("a CPU of this machine");
        let start = calls::thread_cpu_ns();
        // By its own time, not by the clock: other work may have the CPU meanwhile.
        while calls::thread_cpu_ns() - start < 200_000_000 {
            std::hint::spin_loop();
        }
    });
    counters.read(1, &mut before).expect("read");
    thread.join().expect("ends");
    counters.read(1, &mut after).expect("read");
    // Reading a thread's time is a system call, under Wine most of the loop.
    let used = |stat: &Stat| {
        let times = &stat.cpus.iter().find(|(id, _)| *id == cpu).expect("the same CPUs").1;
        times.user_ns + times.system_ns
    };
    assert_eq!(before.cpus.len(), topology.cpus.len());
    assert!(used(&after) - used(&before) >= 100_000_000, "{before:?} {after:?}");
    assert!(calls::bindable_cpus(&[cpu, 63 * 64 + 63]) == [cpu]);
}

#[test]
fn wine_is_told_from_windows() {
    let told = stand_in(&Root::live());
    assert!(told.is_none_or(|name| name.starts_with("Wine ")));
}
