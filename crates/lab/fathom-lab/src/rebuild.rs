//! `fathom rebuild`: a member of an array in user space is written anew from the others.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use fathom_engine::Rebuilt;
use fathom_host::{Binding, Bindings, Permit, Root};
use fathom_plan::{EngineName, Knobs, Step, TargetId};
use fathom_record::{Progress, RunControl, StepFailure};

use crate::conduct::{ConductError, ConductOptions, permission};
use crate::site::TargetError;

/// Why nothing, or not everything, was rebuilt.
#[derive(Debug)]
pub enum RebuildError {
    /// A member cannot be had.
    Target(TargetError),
    /// Refused before anything was written, or failed.
    Step(StepFailure),
    /// As before a run.
    Conduct(ConductError),
}

impl From<TargetError> for RebuildError {
    fn from(error: TargetError) -> RebuildError {
        RebuildError::Target(error)
    }
}

/// Rebuilds the first missing member of `array` onto `onto`, or with nothing missing its parities and second copies.
/// `options`: what may be overwritten or destroyed; nothing else of it is used.
///
/// # Errors
/// [`RebuildError`].
pub fn rebuild_array(
    array: &TargetId,
    onto: Option<&TargetId>,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Rebuilt, RebuildError> {
    let is_whole = match array.user_space_array().transpose().map_err(TargetError::Array)? {
        Some(named) => named.missing().is_empty(),
        None => false,
    };
    let permission = permission(options, None).map_err(|e| RebuildError::Conduct(e.into()))?;
    let permit = Permit {
        destroy: &permission.destroy,
        overwrite: permission.overwrite,
        protected: &permission.protected,
        is_own: &|_| false,
        own_data: false,
    };
    let bind = |target: &TargetId, writes: bool| {
        let path = PathBuf::from(target.as_str());
        if !path.exists() {
            return Err(TargetError::MustExist { target: target.clone() });
        }
        Binding::existing(&Root::live(), target.clone(), &path, writes, &permit).map_err(TargetError::Guard)
    };
    let members = array.opened().into_iter().map(|member| bind(&member, onto.is_none() && is_whole));
    let bindings: Bindings = members.chain(onto.map(|onto| bind(onto, true))).collect::<Result<_, _>>()?;
    let mut control = RunControl { stop, on_progress, precise_enough: &|_, _| false };
    let mut run = |direct| fathom_engine::rebuild(&step_on(array, direct), onto, &bindings, &mut control);
    // Around the page cache where that can be had, so that what is rebuilt is read from the medium.
    let rebuilt = match run(true) {
        Err(StepFailure::Refused { .. }) => run(false),
        other => other,
    };
    rebuilt.map_err(RebuildError::Step)
}

/// The step whose target the array is; only how it is opened matters.
fn step_on(array: &TargetId, direct: bool) -> Step {
    let knobs = Knobs::default();
    let step = knobs.build(0, "rebuild", std::slice::from_ref(array), &mut Vec::new());
    let mut step = step.unwrap_or_else(|_| unreachable!("the defaults of the knobs are a step"));
    step.engine.name = EngineName::Psync;
    step.workload.direct = direct;
    step
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;
    use std::path::Path;

    use super::*;

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
}
