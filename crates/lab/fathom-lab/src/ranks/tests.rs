//! Ranks as threads of one process, over memory: everything but MPI.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use fathom_message::Say as _;
use fathom_plan::{Knobs, Phase, TargetId};
use fathom_store::Lab;

mod ladder;

use super::*;
use crate::conduct::{ConductError, ConductOptions, Event, RunOutcome, conduct, resume};
use crate::samples::words;

/// Messages over channels.
#[derive(Debug)]
struct MemoryLink {
    rank: u32,
    to: BTreeMap<u32, Sender<(u32, Vec<u8>)>>,
    inbox: Receiver<(u32, Vec<u8>)>,
}

impl Link for MemoryLink {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.to.len() as u32
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        // One that is gone hears nothing.
        let _ = self.to[&to].send((self.rank, bytes));
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.inbox.try_recv().ok()
    }
}

fn links(count: u32) -> Vec<MemoryLink> {
    let (to, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let to: BTreeMap<u32, _> = (0..).zip(to).collect();
    (0..).zip(inboxes).map(|(rank, inbox)| MemoryLink { rank, to: to.clone(), inbox }).collect()
}

/// The plan with the consent to overwrite its targets.
fn may_overwrite(plan: Plan) -> Plan {
    Plan { job_files: plan.steps.iter().flat_map(|step| step.targets.clone()).collect(), ..plan }
}

fn plan_on(target: &str, knobs: &[(&str, &str)]) -> Plan {
    let mut all = Knobs::new();
    for (key, value) in knobs {
        all.set(key, value).expect("a knob");
    }
    Plan::from_io_streams(vec![(all, vec![TargetId::new(target)])], "fathom io").expect("a plan")
}

const VERSION: &str = "1.0";

/// What differs on some rank.
type Changed<'a> = dyn Fn(u32, &mut Plan, &mut String) + Sync + 'a;

/// So many ranks of a lab in `dir`: rank 0 does `first`, each other one `other`.
fn by_ranks<T: Send>(
    count: u32,
    dir: &Path,
    ranks_of: impl Fn(MemoryLink) -> Ranks + Sync,
    first: impl FnOnce(&mut Lab, &ConductOptions) -> T + Send,
    other: impl Fn(&Ranks, &ConductOptions) + Sync,
) -> T {
    std::thread::scope(|scope| {
        let mut links = links(count).into_iter();
        let own = links.next().expect("one at least");
        let options = |ranks: &Ranks| ConductOptions {
            journal_dir: dir.join("journal"),
            lab_path: dir.join("lab.db"),
            ranks: Some(ranks.clone()),
            ..ConductOptions::default()
        };
        let (ranks_of, other) = (&ranks_of, &other);
        for link in links {
            scope.spawn(move || {
                let ranks = ranks_of(link);
                other(&ranks, &options(&ranks));
            });
        }
        let ranks = ranks_of(own);
        let mut lab = Lab::open(&dir.join("lab.db")).expect("a lab");
        let done = first(&mut lab, &options(&ranks));
        ranks.end();
        done
    })
}

const PATIENT: Duration = Duration::from_secs(5);

/// Conducts `plan` by so many ranks; the outcome of rank 0.
fn conducted(
    count: u32,
    plan: &Plan,
    dir: &Path,
    targets_are: TargetsAre,
    changed: &Changed<'_>,
) -> Result<RunOutcome, ConductError> {
    let own = |rank: u32| {
        let (mut plan, mut version) = (plan.clone(), VERSION.to_owned());
        changed(rank, &mut plan, &mut version);
        (plan, version)
    };
    let ranks_of = |link: MemoryLink| {
        let (_, version) = own(link.rank);
        Ranks::new(Rc::new(link), targets_are, PATIENT, &version)
    };
    let first = |lab: &mut Lab, options: &ConductOptions| {
        conduct(lab, &own(0).0, options, &AtomicBool::new(false), &mut |_| {})
    };
    by_ranks(count, dir, ranks_of, first, |ranks, options| {
        serve(ranks, Some(&own(ranks.rank()).0), options, &AtomicBool::new(false)).expect("it serves");
    })
}

/// Conducts a plan of several steps by so many ranks, and stops it once the first step ended.
fn stopped(count: u32, plan: &Plan, dir: &Path) -> RunOutcome {
    let ranks_of = |link: MemoryLink| Ranks::new(Rc::new(link), TargetsAre::PerRank, PATIENT, VERSION);
    let first = |lab: &mut Lab, options: &ConductOptions| {
        let stop = AtomicBool::new(false);
        let mut on_event = |event: Event<'_>| {
            if matches!(event, Event::StepEnded(_)) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        conduct(lab, plan, options, &stop, &mut on_event).expect("measured")
    };
    by_ranks(count, dir, ranks_of, first, |ranks, options| {
        serve(ranks, Some(plan), options, &AtomicBool::new(false)).expect("it serves");
    })
}

/// Goes on with run 1; `named`: the run as each rank names it. Workers of other tests in this process take a copy of its
/// descriptors for a moment, and with it the claim on a file of the run that was stopped: that is waited for.
fn gone_on(count: u32, dir: &Path, named: fn(u32) -> &'static str) -> Result<RunOutcome, ConductError> {
    let ranks_of = |link: MemoryLink| {
        let run = named(link.rank);
        Ranks::new(Rc::new(link), TargetsAre::PerRank, PATIENT, VERSION).going_on_with(run)
    };
    let first = |lab: &mut Lab, options: &ConductOptions| {
        let run = lab.runs().expect("runs")[0].id;
        resume(lab, run, options, &AtomicBool::new(false), &mut |_| {})
    };
    let begun = std::time::Instant::now();
    loop {
        let outcome = by_ranks(count, dir, ranks_of, first, |ranks, options| {
            serve(ranks, None, options, &AtomicBool::new(false)).expect("it serves");
        });
        let is_claimed = |error: &ConductError| words(&[error.message()]).concat().contains("would block");
        if begun.elapsed() > PATIENT || !outcome.as_ref().is_err_and(is_claimed) {
            return outcome;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Files are written, and then read.
fn written_and_read(target: &Path) -> Plan {
    let target = target.display().to_string();
    let mut plan = plan_on(&target, &[("rw", "write"), ("size", "1m"), ("loops", "1"), ("runtime", "60s")]);
    plan.steps[0].phase = Phase::Precondition;
    let mut read = plan_on(&target, &[("rw", "randread"), ("size", "1m"), ("runtime", "200ms")]).steps.remove(0);
    read.index = 1;
    plan.steps.push(read);
    plan
}

#[test]
fn a_run_goes_on_with_fewer_ranks_on_the_files_of_before() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let outcome = stopped(3, &written_and_read(&target), dir.path());
    assert!(outcome.interrupted);
    let files = || {
        let names = std::fs::read_dir(&target).expect("reads").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let of_rank = |rank: u32| format!("fathom-test-rank{rank}.data");
    assert_eq!(files(), [of_rank(0), of_rank(1), of_rank(2)], "each rank's is kept for the rest of the run");
    // More ranks than before, or ranks that were asked for something else.
    let said = refusal(gone_on(4, dir.path(), |_| "1"));
    assert_eq!(said, "run 1 was begun with 3 ranks and cannot go on with 4");
    let said = refusal(gone_on(2, dir.path(), |rank| if rank == 1 { "2" } else { "1" }));
    assert!(said.starts_with("rank 1 on ") && said.contains("its plan is another"), "{said}");
    let outcome = gone_on(2, dir.path(), |_| "1").expect("goes on");
    let ranks = |step: usize| outcome.document.steps[step].ranks.as_ref().map(|ranks| ranks.ranks.len());
    assert_eq!((outcome.document.steps.len(), ranks(0), ranks(1)), (2, Some(3), Some(2)));
    assert_eq!(files(), [of_rank(2)], "nobody can remove the file of a host that is not there");
}

#[test]
fn a_run_does_not_go_on_without_what_a_rank_had_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    stopped(2, &written_and_read(&target), dir.path());
    std::fs::remove_file(target.join("fathom-test-rank1.data")).expect("it is there");
    let said = refusal(gone_on(2, dir.path(), |_| "1"));
    let gone = format!("{}:{}/fathom-test-rank1.data", this_host().name, target.display());
    assert!(said.starts_with("run 1 cannot go on: ") && said.contains(&gone), "{said}");
    // One rank has all that it needs.
    let outcome = gone_on(1, dir.path(), |_| "1").expect("goes on");
    assert_eq!(outcome.document.steps.len(), 2);
}

fn refusal(outcome: Result<RunOutcome, ConductError>) -> String {
    words(&[outcome.expect_err("refused").message()]).remove(0)
}

#[test]
fn ranks_measure_together_and_leave_one_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let knobs = [("rw", "randwrite"), ("size", "1m"), ("runtime", "300ms")];
    let plan = plan_on(&target.display().to_string(), &knobs);
    let outcome = conducted(3, &plan, dir.path(), TargetsAre::PerRank, &|_, _, _| {}).expect("measured");
    let step = &outcome.document.steps[0];
    let ranks = step.ranks.as_ref().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(ranks.ranks.iter().map(|rank| rank.ios).sum::<u64>(), step.ios);
    assert_eq!(step.workers.len(), 3);
    assert_eq!(outcome.document.run.plan.ranks.map(|ranks| ranks.count), Some(3));
    // Threads of one process have one clock: what is said of it is known to be wrong by what it shows.
    for rank in &ranks.ranks {
        assert!(rank.clock.offset_ns.unsigned_abs() <= rank.clock.bound_ns, "{:?}", rank.clock);
    }
    assert!(std::fs::read_dir(&target).expect("reads").next().is_none(), "each removed its own file");
}

#[test]
fn a_shared_file_is_cut_in_regions() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("shared");
    let file = std::fs::File::create(&target).expect("a file");
    file.set_len(3 << 20).expect("its length");
    drop(file); // The guard writes to no file that somebody writes to.
    // One pass of each rank over its own region writes each block of the file once.
    let knobs = [("rw", "write"), ("bs", "64k"), ("loops", "1"), ("runtime", "60s")];
    let plan = may_overwrite(plan_on(&target.display().to_string(), &knobs));
    let outcome = conducted(3, &plan, dir.path(), TargetsAre::Partitioned, &|_, _, _| {}).expect("measured");
    let ranks = outcome.document.steps[0].ranks.clone().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|rank| rank.bytes).collect::<Vec<_>>(), [1 << 20; 3]);
}

#[test]
fn what_differs_or_is_refused_is_said_with_its_rank() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan_on("null", &[("engine", "null"), ("runtime", "100ms")]);
    let other = |rank: u32, _: &mut Plan, version: &mut String| {
        if rank == 1 {
            *version = "0.9".to_owned();
        }
    };
    let said = refusal(conducted(2, &plan, dir.path(), TargetsAre::PerRank, &other));
    assert!(said.starts_with("rank 1 on ") && said.ends_with("it is Fathom 0.9, and rank 0 is 1.0"), "{said}");
    let other = |rank: u32, plan: &mut Plan, _: &mut String| {
        if rank == 2 {
            plan.steps[0].load.queue_depth += 1;
        }
    };
    let said = refusal(conducted(3, &plan, dir.path(), TargetsAre::PerRank, &other));
    assert!(said.starts_with("rank 2 on ") && said.contains("its plan is another"), "{said}");
    // Rank 1 has no folder of its own.
    std::fs::create_dir(dir.path().join("0")).expect("a folder");
    let target = dir.path().join("{rank}/file");
    let plan = plan_on(&target.display().to_string(), &[("rw", "write"), ("size", "1m"), ("runtime", "100ms")]);
    let said = refusal(conducted(2, &plan, dir.path(), TargetsAre::PerRank, &|_, _, _| {}));
    assert!(said.starts_with("rank 1 on "), "{said}");
    let absent = dir.path().join("absent").display().to_string();
    let plan = plan_on(&absent, &[("rw", "write"), ("size", "1m"), ("runtime", "100ms")]);
    let said = refusal(conducted(2, &plan, dir.path(), TargetsAre::Shared, &|_, _, _| {}));
    assert!(said.contains("none of the ranks"), "{said}");
    assert!(!Path::new(&absent).exists());
}

/// A wait as long as this hangs.
const HANGS_AFTER: Duration = Duration::from_secs(20);

/// A way to make the link of a rank in the thread of the rank.
type MakeLink = fn(MemoryLink) -> Rc<dyn Link>;

/// Conducts a step of `runtime` by three ranks, each with its own kind of link and silence. One rank gets lost.
fn conducted_with_a_loss(ranks: [(MakeLink, Duration); 3], runtime: &str) -> RunOutcome {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = &plan_on("null", &[("engine", "null"), ("runtime", runtime)]);
    let dir = dir.path();
    let options = |ranks: &Ranks| ConductOptions {
        journal_dir: dir.join("journal"),
        lab_path: dir.join("lab.db"),
        ranks: Some(ranks.clone()),
        ..ConductOptions::default()
    };
    let ranks_of = |link: MemoryLink| {
        let (make, silence) = ranks[link.rank as usize];
        Ranks::new(make(link), TargetsAre::PerRank, silence, VERSION).with_patience(HANGS_AFTER)
    };
    let (ranks_of, options) = (&ranks_of, &options);
    std::thread::scope(|scope| {
        let mut links = links(3).into_iter();
        let first = links.next().expect("3");
        for link in links {
            scope.spawn(move || {
                let ranks = ranks_of(link);
                serve(&ranks, Some(plan), &options(&ranks), &AtomicBool::new(false)).expect("it serves");
            });
        }
        let ranks = ranks_of(first);
        let options = options(&ranks);
        let mut lab = Lab::open(&options.lab_path).expect("a lab");
        let outcome = conduct(&mut lab, plan, &options, &AtomicBool::new(false), &mut |_| {}).expect("kept");
        assert!(ranks.end(), "one is lost");
        // A lost rank gets no orders from the hub: the test ends it.
        (1..3).for_each(|rank| ranks.link.send(rank, order::frame(&order::Order::End, &[])));
        outcome
    })
}

#[test]
fn a_rank_that_says_nothing_ends_the_step_by_name() {
    let silence = Duration::from_secs(1);
    let mute: MakeLink = |link| Rc::new(MuteLink { link, beats: Cell::new(0) });
    // Rank 1 waits for rank 0 as long as a busy host may need.
    let ranks: [(MakeLink, Duration); 3] =
        [(|link| Rc::new(link), silence), (|link| Rc::new(link), HANGS_AFTER), (mute, silence)];
    let outcome = conducted_with_a_loss(ranks, "20s");
    let step = &outcome.document.steps[0];
    let ranks = step.ranks.as_ref().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(ranks.lost.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [2]);
    assert!(step.ios > 0 && step.runtime_s < 19.0, "what was measured is kept: {} s", step.runtime_s);
    assert!(outcome.interrupted);
    let said = words(&step.warning_texts);
    assert!(said.iter().any(|text| text.contains("rank 2 on ") && text.contains("nothing was heard")), "{said:?}");
}

/// The rank ends its step, hands over its record and says that it leaves. Rank 0 does not wait for it.
#[test]
fn a_rank_that_is_cut_off_is_lost_as_soon_as_it_leaves() {
    let deaf: MakeLink = |link| Rc::new(DeafLink { link, is_deaf: Cell::new(false) });
    let ranks: [(MakeLink, Duration); 3] =
        [(|link| Rc::new(link), HANGS_AFTER), (deaf, Duration::from_millis(300)), (|link| Rc::new(link), HANGS_AFTER)];
    let begun = std::time::Instant::now();
    let outcome = conducted_with_a_loss(ranks, "20s");
    assert!(begun.elapsed() < HANGS_AFTER, "rank 0 waited for a rank that had left");
    let step = &outcome.document.steps[0];
    let ranks = step.ranks.as_ref().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1, 2], "{:?}", ranks.lost);
    assert!(step.ios > 0 && step.runtime_s < 19.0, "the others stop too: {} s", step.runtime_s);
    assert!(outcome.interrupted);
}

/// A rank that hears nothing once it measures.
#[derive(Debug)]
struct DeafLink {
    link: MemoryLink,
    is_deaf: Cell<bool>,
}

impl Link for DeafLink {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn size(&self) -> u32 {
        self.link.size()
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        if matches!(order::unframe(&bytes), Some((order::Answer::Beat(_), _))) {
            self.is_deaf.set(true);
        }
        self.link.send(to, bytes);
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.link.receive().filter(|_| !self.is_deaf.get())
    }
}

/// A rank that is heard until its window is half a second old.
#[derive(Debug)]
struct MuteLink {
    link: MemoryLink,
    beats: Cell<u32>,
}

impl Link for MuteLink {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn size(&self) -> u32 {
        self.link.size()
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        if matches!(order::unframe(&bytes), Some((order::Answer::Beat(_), _))) {
            self.beats.set(self.beats.get() + 1);
        }
        if self.beats.get() < 3 {
            self.link.send(to, bytes);
        }
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.link.receive()
    }
}
