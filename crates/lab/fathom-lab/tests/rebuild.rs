//! A member of an array in user space is written anew from the others.
//!
//! In a process of its own: the workers of a run take a copy of the descriptor table, and with it whatever file another
//! test has open for writing at that moment, which the guard then rightly finds in use.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use fathom_engine::Rebuilt;
use fathom_lab::{ConductOptions, RebuildError, TargetError, rebuild_array};
use fathom_plan::TargetId;
use fathom_record::StepFailure;

const MEMBER_BYTES: u64 = 96 << 10;

fn name(level: &str, folder: &Path, members: usize, missing: &[usize]) -> TargetId {
    let one = |at: usize| match missing.contains(&at) {
        true => "missing".to_owned(),
        false => folder.join(format!("m{at}")).to_string_lossy().into_owned(),
    };
    TargetId::new(format!("{level}:8k:{}", (0..members).map(one).collect::<Vec<_>>().join(",")))
}

fn rebuilt(array: &TargetId, onto: Option<&Path>) -> Result<Rebuilt, RebuildError> {
    let options = ConductOptions { overwrite: true, ..ConductOptions::default() };
    let onto = onto.map(|path| TargetId::new(path.to_string_lossy()));
    rebuild_array(array, onto.as_ref(), &options, &AtomicBool::new(false), &mut |_| {})
}

/// Random data in all members, and redundancy that fits it.
fn array_of(level: &str, members: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = fathom_random::Rng::new(5, members as u64);
    for member in 0..members {
        let bytes: Vec<u8> = (0..MEMBER_BYTES).map(|_| rng.next_u64() as u8).collect();
        fs::write(folder.path().join(format!("m{member}")), bytes).expect("room");
    }
    let whole = name(level, folder.path(), members, &[]);
    let done = rebuilt(&whole, None).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(done.written_bytes > 0 && !done.is_stopped);
    folder
}

#[test]
fn a_lost_member_is_rebuilt_byte_for_byte_onto_a_new_one() {
    for (level, members) in [("raid5", 4), ("raid6", 5), ("raid10", 4), ("raid10", 5)] {
        let folder = array_of(level, members);
        for lost in 0..members {
            let new = folder.path().join("new");
            fs::File::create(&new).and_then(|file| file.set_len(MEMBER_BYTES)).expect("room");
            let done = rebuilt(&name(level, folder.path(), members, &[lost]), Some(&new));
            assert_eq!(done.unwrap_or_else(|e| panic!("{e:?}")).written_bytes, MEMBER_BYTES, "{level} {lost}");
            let old = fs::read(folder.path().join(format!("m{lost}"))).expect("reads");
            assert!(fs::read(&new).expect("reads") == old, "{level} member {lost}");
        }
    }
}

#[test]
fn of_two_lost_members_the_first_is_rebuilt() {
    let folder = array_of("raid6", 5);
    let new = folder.path().join("new");
    fs::File::create(&new).and_then(|file| file.set_len(MEMBER_BYTES)).expect("room");
    rebuilt(&name("raid6", folder.path(), 5, &[1, 3]), Some(&new)).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(fs::read(&new).expect("reads") == fs::read(folder.path().join("m1")).expect("reads"));
}

#[test]
fn what_cannot_be_rebuilt_is_refused_and_nothing_is_written() {
    let folder = array_of("raid5", 3);
    let m0 = folder.path().join("m0");
    let small = folder.path().join("small");
    fs::File::create(&small).and_then(|file| file.write_all_at(&[0; 4096], 0)).expect("room");
    let (whole, one) = (name("raid5", folder.path(), 3, &[]), name("raid5", folder.path(), 3, &[2]));
    let before = fs::read(&m0).expect("reads");
    for (array, onto, id) in [
        (&whole, Some(&small), "rebuild-nothing-missing"),
        (&one, None, "rebuild-onto-what"),
        (&one, Some(&m0), "rebuild-onto-member"),
        (&one, Some(&small), "rebuild-too-small"),
    ] {
        let Err(RebuildError::Step(failure)) = rebuilt(array, onto.map(std::path::PathBuf::as_path)) else {
            panic!("{id} was not refused")
        };
        assert_eq!(failure.parts().1.id(), id);
    }
    let gone = folder.path().join("gone");
    assert!(matches!(rebuilt(&one, Some(&gone)), Err(RebuildError::Target(TargetError::MustExist { .. }))));
    let striped = name("raid0", folder.path(), 3, &[]);
    assert!(matches!(rebuilt(&striped, None), Err(RebuildError::Step(StepFailure::Refused { .. }))));
    assert!(fs::read(&m0).expect("reads") == before);
}
