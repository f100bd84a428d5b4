//! Ranks as threads of one process, over memory: everything but MPI.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};

use fathom_message::Say as _;
use fathom_plan::{Knobs, TargetId};
use fathom_store::Lab;

use super::*;
use crate::conduct::{ConductError, ConductOptions, RunOutcome, conduct};
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

/// Conducts `plan` by so many ranks; the outcome of rank 0.
fn conducted(
    count: u32,
    plan: &Plan,
    dir: &Path,
    targets_are: TargetsAre,
    changed: &Changed<'_>,
) -> Result<RunOutcome, ConductError> {
    let outcome = Mutex::new(None);
    std::thread::scope(|scope| {
        for link in links(count) {
            let outcome = &outcome;
            scope.spawn(move || {
                let rank = link.rank;
                let (mut plan, mut version) = (plan.clone(), VERSION.to_owned());
                changed(rank, &mut plan, &mut version);
                let ranks = Ranks::new(Rc::new(link), targets_are, Duration::from_secs(5), &version);
                let options = ConductOptions {
                    journal_dir: dir.join("journal"),
                    lab_path: dir.join("lab.db"),
                    ranks: Some(ranks.clone()),
                    ..ConductOptions::default()
                };
                let stop = AtomicBool::new(false);
                if rank > 0 {
                    return serve(&ranks, &plan, &options, &stop).expect("it serves");
                }
                let mut lab = Lab::open(&options.lab_path).expect("a lab");
                let done = conduct(&mut lab, &plan, &options, &stop, &mut |_| {});
                ranks.end();
                *outcome.lock().expect("whole") = Some(done);
            });
        }
    });
    outcome.into_inner().expect("whole").expect("rank 0 ended")
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
    let plan = plan_on(&target.display().to_string(), &knobs);
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

#[test]
fn a_rank_that_says_nothing_ends_the_step_by_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan_on("null", &[("engine", "null"), ("runtime", "4s")]);
    let mut links = links(3).into_iter();
    let outcome = std::thread::scope(|scope| {
        let (first, second, third) = (links.next().expect("3"), links.next().expect("3"), links.next().expect("3"));
        let (plan, dir) = (&plan, dir.path());
        let options = move |ranks: &Ranks| ConductOptions {
            journal_dir: dir.join("journal"),
            lab_path: dir.join("lab.db"),
            ranks: Some(ranks.clone()),
            ..ConductOptions::default()
        };
        let silence = Duration::from_millis(600);
        scope.spawn(move || {
            let ranks = Ranks::new(Rc::new(second), TargetsAre::PerRank, silence, VERSION);
            serve(&ranks, plan, &options(&ranks), &AtomicBool::new(false)).expect("it serves");
        });
        scope.spawn(move || {
            let mute = MuteLink { link: third, said: std::cell::Cell::new(0) };
            let ranks = Ranks::new(Rc::new(mute), TargetsAre::PerRank, silence, VERSION);
            serve(&ranks, plan, &options(&ranks), &AtomicBool::new(false)).expect("it serves");
        });
        let ranks = Ranks::new(Rc::new(first), TargetsAre::PerRank, silence, VERSION);
        let options = options(&ranks);
        let mut lab = Lab::open(&options.lab_path).expect("a lab");
        let outcome = conduct(&mut lab, plan, &options, &AtomicBool::new(false), &mut |_| {}).expect("kept");
        assert!(ranks.end(), "one is lost");
        // Lost ranks are told nothing: this one ends because the test does.
        ranks.link.send(2, order::frame(&order::Order::End, &[]));
        outcome
    });
    let step = &outcome.document.steps[0];
    let ranks = step.ranks.as_ref().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(ranks.lost.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [2]);
    assert!(step.ios > 0 && step.runtime_s < 3.5, "what was measured is kept: {} s", step.runtime_s);
    assert!(outcome.interrupted);
    let said = words(&step.warning_texts);
    assert!(said.iter().any(|text| text.contains("rank 2 on ") && text.contains("nothing was heard")), "{said:?}");
}

/// A rank that is heard until its window is half a second old.
#[derive(Debug)]
struct MuteLink {
    link: MemoryLink,
    said: std::cell::Cell<u32>,
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
            self.said.set(self.said.get() + 1);
        }
        if self.said.get() < 3 {
            self.link.send(to, bytes);
        }
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.link.receive()
    }
}
