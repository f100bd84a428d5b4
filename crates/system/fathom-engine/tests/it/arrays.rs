//! Arrays in user space over files, through every engine that they work over.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions};
use fathom_host::{Binding, Bindings, Permit, Root};
use fathom_language::english;
use fathom_plan::{EngineName, Load, OpMix, Pattern, Spread, Step, TargetId, Verify};
use fathom_record::{HostDelta, StepFailure, StepRecord, Warning};

use crate::support::{run_by, step_on};

const ENGINES: [EngineName; 3] = [EngineName::Psync, EngineName::Libaio, EngineName::IoUring];
const MEMBER_BYTES: u64 = 256 << 10;
const CHUNK: u64 = 16 << 10;

/// Files of zeros, of which P and Q are zero as well.
struct Members {
    dir: tempfile::TempDir,
    count: usize,
}

impl Members {
    fn new(count: usize) -> Members {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        let members = Members { dir, count };
        (0..count).for_each(|member| members.fill(member, 0, MEMBER_BYTES));
        members
    }

    fn path(&self, member: usize) -> PathBuf {
        self.dir.path().join(format!("m{member}"))
    }

    fn fill(&self, member: usize, byte: u8, bytes: u64) {
        let file = File::create(self.path(member)).expect("a file");
        file.write_all_at(&vec![byte; bytes as usize], 0).expect("room");
    }

    /// `level:16k:...` without the members of `lost`.
    fn array(&self, level: &str, lost: &[usize]) -> TargetId {
        let name = |member| match lost.contains(&member) {
            true => "missing".to_owned(),
            false => self.path(member).to_string_lossy().into_owned(),
        };
        TargetId::new(format!("{level}:{CHUNK}:{}", (0..self.count).map(name).collect::<Vec<_>>().join(",")))
    }

    fn step(&self, target: &TargetId, engine: EngineName) -> Step {
        let mut step = step_on(Path::new(target.as_str()), engine);
        step.workload.direct = crate::support::direct_works(&self.path(0));
        step.length.passes = Some(1);
        step
    }
}

fn bindings(step: &Step) -> Bindings {
    let permit = Permit { overwrite: true, ..Permit::NOTHING };
    let opened = step.targets.iter().flat_map(TargetId::opened);
    let bind = |id: TargetId| {
        let path = PathBuf::from(id.as_str());
        let writes = step.writes_to(&id);
        Binding::existing(&Root::live(), id, &path, writes, &permit).expect("the test's own file")
    };
    opened.map(bind).collect()
}

fn run(step: &Step) -> Result<StepRecord, StepFailure> {
    run_with(step, bindings(step), None)
}

fn run_with(step: &Step, bindings: Bindings, probe: Option<Box<dyn HostProbe>>) -> Result<StepRecord, StepFailure> {
    run_by(&mut HostRunner::new(HostRunnerOptions { bindings, probe, ..HostRunnerOptions::default() }), step)
}

/// Runs it, and has everything that was checked found right.
fn verified(step: &Step) -> StepRecord {
    let record = run(step).unwrap_or_else(|e| panic!("{e:?}"));
    check(&record);
    record
}

fn check(record: &StepRecord) {
    assert_eq!(record.errors(), 0, "{:?}", record.failures);
    let report = record.verify.as_ref().expect("a report");
    assert!(report.blocks_checked > 0, "nothing was checked");
    assert!(report.examples.is_empty(), "{:?}", report.examples.iter().map(english).collect::<Vec<_>>());
}

fn writing(mut step: Step, bytes: u32) -> Step {
    step.workload.mix = OpMix::WRITE;
    step.workload.block_sizes[0].bytes = bytes;
    step.workload.verify = Some(Verify::Crc32c);
    step
}

fn reading(mut step: Step, bytes: u32) -> Step {
    step.workload.block_sizes[0].bytes = bytes;
    step.workload.verify = Some(Verify::Crc32c);
    step
}

/// Each loss that the level makes up for, of one and of two members.
fn losses(level: &str, count: usize) -> Vec<Vec<usize>> {
    let one = (0..count).map(|a| vec![a]);
    let two = (0..count).flat_map(|b| (0..b).map(move |a| vec![a, b]));
    let name = |lost: &[usize]| {
        let members = (0..count).map(|m| if lost.contains(&m) { "missing".to_owned() } else { format!("/m{m}") });
        TargetId::new(format!("{level}:16k:{}", members.collect::<Vec<_>>().join(",")))
    };
    one.chain(two).filter(|lost| matches!(name(lost).array(), Some(Ok(_)))).collect()
}

fn comes_back_with_each_loss(engine: EngineName, level: &str, full_stripe: u32) {
    let members = Members::new(6);
    let whole = members.array(level, &[]);
    for bytes in [4096, full_stripe] {
        verified(&writing(members.step(&whole, engine), bytes));
        let losses = losses(level, 6);
        assert_eq!(
            losses.len(),
            match level {
                "raid5" => 6,
                "raid6" => 6 + 15,
                _ => 6 + 12,
            }
        );
        for lost in losses {
            verified(&reading(members.step(&members.array(level, &lost), engine), bytes));
        }
    }
}

#[test]
fn what_psync_wrote_comes_back_with_each_loss() {
    comes_back_with_each_loss(EngineName::Psync, "raid5", 80 << 10);
    comes_back_with_each_loss(EngineName::Psync, "raid10", 48 << 10);
}

#[test]
fn what_libaio_wrote_comes_back_with_each_loss() {
    comes_back_with_each_loss(EngineName::Libaio, "raid6", 64 << 10);
    comes_back_with_each_loss(EngineName::Libaio, "raid10", 48 << 10);
}

#[test]
fn what_io_uring_wrote_comes_back_with_each_loss() {
    comes_back_with_each_loss(EngineName::IoUring, "raid6", 64 << 10);
    comes_back_with_each_loss(EngineName::IoUring, "raid5", 80 << 10);
}

#[test]
fn stripes_without_redundancy_verify() {
    for engine in ENGINES {
        let members = Members::new(2);
        verified(&writing(members.step(&members.array("raid0", &[]), engine), 24 << 10));
    }
}

#[test]
fn the_record_has_the_ios_of_each_member() {
    for (level, count, reads, writes) in
        [("raid0", 4, 0.0, 1.0), ("raid10", 4, 0.0, 2.0), ("raid5", 5, 2.0, 2.0), ("raid6", 8, 3.0, 3.0)]
    {
        let members = Members::new(count);
        let record = verified(&writing(members.step(&members.array(level, &[]), EngineName::Libaio), 4096));
        let [array] = &record.arrays[..] else { panic!("{:?}", record.arrays) };
        assert_eq!(array.writes, record.ios(), "one pass: all of it is in the window");
        assert_eq!(array.write_cost(), Some((reads, writes)), "{level}");
        assert!(array.members.iter().all(|m| m.writes > 0 && m.written_bytes == m.writes * 4096));
    }
}

#[test]
fn full_stripes_read_nothing() {
    let members = Members::new(6);
    let record = verified(&writing(members.step(&members.array("raid6", &[]), EngineName::IoUring), 64 << 10));
    let array = &record.arrays[0];
    assert_eq!((array.full_stripe_writes, array.write_cost()), (array.writes, Some((0.0, 6.0))));
}

#[test]
fn threads_that_write_have_stripes_of_their_own() {
    for (level, bytes) in [("raid5", 4096), ("raid6", 24 << 10), ("raid10", 8192)] {
        let members = Members::new(6);
        let mut step = writing(members.step(&members.array(level, &[]), EngineName::Libaio), bytes);
        step.load = Load::closed(3, 4);
        let record = verified(&step);
        assert_eq!(record.threads.iter().filter(|t| t.ios > 0).count(), 3);
        for lost in 0..6 {
            verified(&reading(members.step(&members.array(level, &[lost]), EngineName::Libaio), bytes));
        }
    }
}

#[test]
fn reads_and_writes_at_once_without_a_member_verify() {
    for engine in ENGINES {
        let members = Members::new(5);
        let mut step = writing(members.step(&members.array("raid5", &[3]), engine), 4096);
        step.workload.mix = OpMix { read_pct: 50, write_pct: 50, trim_pct: 0 };
        step.length.passes = Some(4);
        let record = verified(&step);
        assert!(record.arrays[0].degraded_reads > 0 && record.arrays[0].is_degraded());
        let notes: Vec<String> = notes(&record);
        assert!(notes.iter().any(|note| note.contains("ran without 1 of its members")), "{notes:?}");
    }
}

fn notes(record: &StepRecord) -> Vec<String> {
    let text = |warning: &Warning| match warning {
        Warning::Note { text } => Some(english(text)),
        _ => None,
    };
    record.warnings.iter().filter_map(text).collect()
}

/// Cuts a member to nothing as the window begins: what is read of it is not there any more.
struct Cut(PathBuf);

impl HostProbe for Cut {
    fn prepare(&mut self) {}

    fn begin(&mut self) {
        File::options().write(true).open(&self.0).and_then(|file| file.set_len(0)).expect("the test's own file");
    }

    fn interval(&mut self) {}

    fn finish(&mut self, _window_ns: u64) -> Option<HostDelta> {
        None
    }
}

#[test]
fn a_member_that_fails_is_named_and_stays_out_for_the_rest_of_the_run() {
    let members = Members::new(4);
    let array = members.array("raid5", &[]);
    let written = writing(members.step(&array, EngineName::IoUring), 4096);
    let bound = bindings(&written);
    check(&run_with(&written, bound.clone(), None).expect("a record"));
    let mut read = reading(members.step(&array, EngineName::IoUring), 4096);
    read.length.passes = Some(20);
    let record = run_with(&read, bound.clone(), Some(Box::new(Cut(members.path(2))))).expect("a record");
    check(&record);
    let lost = |warning: &&Warning| {
        matches!(warning, Warning::MemberLost { member, errno, .. }
            if member.as_str() == members.path(2).to_string_lossy() && *errno == libc::EIO)
    };
    assert_eq!(record.warnings.iter().filter(lost).count(), 1, "{:?}", record.warnings);
    let array = &record.arrays[0];
    assert_eq!(array.members[2].failed_errno, Some(libc::EIO));
    assert!(array.degraded_reads > 0);
    // What it holds is out of date: the next step of the run does without it.
    let again = run_with(&read, bound, None).expect("a record");
    check(&again);
    assert_eq!((again.arrays[0].members[2].reads, again.arrays[0].is_degraded()), (0, true));
}

/// `array` with a member that is rebuilt beside the load.
fn rebuilding(array: &TargetId, members: &Members, member: usize, speed: &str) -> TargetId {
    let name = members.path(member).to_string_lossy().into_owned();
    TargetId::new(array.as_str().replace(&name, &format!("{speed}+{name}")))
}

/// Rebuilds a member beside reads and another beside writes of two threads, and reads everything with each other member away.
fn a_rebuilt_member_stands_in_for_any_other(level: &str, engine: EngineName, bytes: u32) {
    let members = Members::new(5);
    let whole = members.array(level, &[]);
    verified(&writing(members.step(&whole, engine), bytes));
    for (mix, member) in [(OpMix::READ, 1), (OpMix::WRITE, 3)] {
        members.fill(member, 0x5a, MEMBER_BYTES);
        let mut beside = writing(members.step(&rebuilding(&whole, &members, member, "full"), engine), bytes);
        beside.workload.mix = mix;
        beside.load = Load::closed(2, 4);
        beside.length.passes = Some(40);
        let record = verified(&beside);
        let array = &record.arrays[0];
        let rebuild = array.rebuild.expect("a rebuild");
        assert!(rebuild.is_whole() && rebuild.failure.is_none(), "{level}: {rebuild:?}");
        let ios = rebuild.ios.expect("counted");
        assert_eq!(ios.written_bytes, MEMBER_BYTES, "each byte of it once");
        if mix == OpMix::READ {
            assert_eq!(array.members.iter().map(|m| m.written_bytes).sum::<u64>(), MEMBER_BYTES);
        }
        for lost in (0..5).filter(|lost| *lost != member) {
            verified(&reading(members.step(&members.array(level, &[lost]), engine), bytes));
        }
    }
}

#[test]
fn a_rebuilt_member_of_raid_10_stands_in_for_any_other() {
    a_rebuilt_member_stands_in_for_any_other("raid10", EngineName::Psync, 8192);
}

#[test]
fn a_rebuilt_member_of_raid_5_stands_in_for_any_other() {
    a_rebuilt_member_stands_in_for_any_other("raid5", EngineName::Libaio, 4096);
}

#[test]
fn a_rebuilt_member_of_raid_6_stands_in_for_any_other() {
    a_rebuilt_member_stands_in_for_any_other("raid6", EngineName::IoUring, 24 << 10);
}

#[test]
fn later_steps_do_without_a_member_whose_rebuild_came_to_no_end_until_it_does() {
    let members = Members::new(4);
    let whole = members.array("raid5", &[]);
    let step = |target: &TargetId| reading(members.step(target, EngineName::IoUring), 4096);
    let written = writing(members.step(&whole, EngineName::IoUring), 4096);
    // All members may be written, by the steps that only read as well.
    let bound = bindings(&written);
    check(&run_with(&written, bound.clone(), None).expect("a record"));
    members.fill(2, 0x5a, MEMBER_BYTES);
    let slow = run_with(&step(&rebuilding(&whole, &members, 2, "1k")), bound.clone(), None).expect("a record");
    check(&slow);
    let rebuild = slow.arrays[0].rebuild.expect("a rebuild");
    assert!(!rebuild.is_whole() && rebuild.asked_bytes_per_s == Some(1024), "{rebuild:?}");
    assert!(notes(&slow).iter().any(|note| note.contains("later steps of this run")), "{:?}", notes(&slow));
    let without = run_with(&step(&whole), bound.clone(), None).expect("a record");
    check(&without);
    assert_eq!((without.arrays[0].members[2].reads, without.arrays[0].is_degraded()), (0, true));
    let mut fast = step(&rebuilding(&whole, &members, 2, "full"));
    fast.length.passes = Some(40);
    let fast = run_with(&fast, bound.clone(), None).expect("a record");
    assert!(fast.arrays[0].rebuild.is_some_and(|rebuild| rebuild.is_whole()));
    let again = run_with(&step(&whole), bound, None).expect("a record");
    check(&again);
    assert!(again.arrays[0].members[2].reads > 0 && !again.arrays[0].is_degraded());
}

#[test]
fn a_load_that_only_reads_rebuilds_no_member_that_it_may_not_write() {
    let members = Members::new(4);
    let whole = members.array("raid5", &[]);
    let bound = bindings(&members.step(&whole, EngineName::Psync));
    let step = members.step(&rebuilding(&whole, &members, 2, "full"), EngineName::Psync);
    let before = std::fs::read(members.path(2)).expect("reads");
    let said = refusal(&step, bound);
    assert!(said.contains("m2"), "{said}");
    assert_eq!(std::fs::read(members.path(2)).expect("reads"), before);
}

fn refusal(step: &Step, bindings: Bindings) -> String {
    match run_with(step, bindings, None) {
        Err(failure) => {
            let (what, why, help) = failure.parts();
            format!("{}: {}; {}", english(&what), english(&why), english(&help))
        }
        Ok(_) => panic!("it ran"),
    }
}

#[test]
fn what_an_array_cannot_do_is_refused_by_name() {
    let members = Members::new(6);
    let array = members.array("raid5", &[]);
    let refused = |change: &dyn Fn(&mut Step)| {
        let mut step = writing(members.step(&array, EngineName::Libaio), 4096);
        step.workload.verify = None;
        let bound = bindings(&step);
        change(&mut step);
        refusal(&step, bound)
    };
    let said = refused(&|step| step.engine.name = EngineName::Mmap);
    assert!(said.contains("work over psync, libaio and io_uring"), "{said}");
    let said = refused(&|step| step.workload.mix = OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 });
    assert!(said.contains("pass no trims"), "{said}");
    let said = refused(&|step| {
        step.load.threads = 2;
        step.workload.order.thread_offset_bytes = Some(4096);
    });
    assert!(said.contains("the same stripes"), "{said}");
    let said = refused(&|step| {
        step.targets.push(TargetId::new(members.path(0).to_string_lossy()));
        step.load.spread = Spread::AllTargets;
    });
    assert!(said.contains("all arrays or none"), "{said}");
    let said = refused(&|step| step.targets.push(members.array("raid6", &[])));
    assert!(said.contains("belongs to another array"), "{said}");
    let said = refused(&|step| step.load.threads = 64);
    assert!(said.contains("64"), "more threads than stripes: {said}");
}

#[test]
fn one_file_by_two_names_is_no_two_members() {
    let members = Members::new(2);
    let twin = members.dir.path().join("twin");
    std::fs::hard_link(members.path(0), &twin).expect("a link");
    let name = format!("raid10:16k:{},{}", members.path(0).display(), twin.display());
    let step = members.step(&TargetId::new(name), EngineName::Psync);
    let said = refusal(&step, bindings(&step));
    assert!(said.contains("are the same file or drive"), "{said}");
}

#[test]
fn of_members_of_different_sizes_the_smallest_decides() {
    let members = Members::new(3);
    members.fill(1, 0, MEMBER_BYTES / 2 + 5 * 512);
    let mut step = members.step(&members.array("raid5", &[]), EngineName::Psync);
    step.workload.pattern = Pattern::Sequential;
    let record = run(&step).expect("a record");
    assert_eq!(record.bytes(), MEMBER_BYTES / 2 * 2, "whole chunks of the smallest, two of them data");
    assert!(notes(&record).iter().any(|note| note.contains("different sizes")), "{:?}", notes(&record));
}
