//! Some of the ranks take part, and the others wait.

use std::sync::Mutex;

use fathom_judge::document::{LadderAxis, StepState, StepView};

use super::*;

/// A link of a rank that says that it is on another host.
#[derive(Debug)]
struct Elsewhere {
    link: MemoryLink,
    host: &'static str,
}

impl Link for Elsewhere {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn size(&self) -> u32 {
        self.link.size()
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        let bytes = match order::unframe(&bytes) {
            Some((order::Answer::Joined { version, plan_hash, machine, .. }, _)) => {
                let host = HostName { name: self.host.to_owned(), boot_id: self.host.to_owned() };
                order::frame(&order::Answer::Joined { version, plan_hash, host, machine }, &[])
            }
            _ => bytes,
        };
        self.link.send(to, bytes);
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.link.receive()
    }
}

/// Conducts `plan` by ranks on these hosts, `""` for this one, which is rank 0's.
fn conducted_on(hosts: &[&'static str], plan: &Plan, dir: &Path) -> RunOutcome {
    let outcome = Mutex::new(None);
    std::thread::scope(|scope| {
        for (link, host) in links(hosts.len() as u32).into_iter().zip(hosts) {
            let outcome = &outcome;
            scope.spawn(move || {
                let rank = link.rank;
                let link: Rc<dyn Link> = match *host {
                    "" => Rc::new(link),
                    host => Rc::new(Elsewhere { link, host }),
                };
                let ranks = Ranks::new(link, TargetsAre::PerRank, Duration::from_secs(5), VERSION);
                let options = ConductOptions {
                    journal_dir: dir.join("journal"),
                    lab_path: dir.join("lab.db"),
                    ranks: Some(ranks.clone()),
                    ..ConductOptions::default()
                };
                let stop = AtomicBool::new(false);
                if rank > 0 {
                    return serve(&ranks, Some(plan), &options, &stop).expect("it serves");
                }
                let mut lab = Lab::open(&options.lab_path).expect("a lab");
                let done = conduct(&mut lab, plan, &options, &stop, &mut |_| {});
                ranks.end();
                *outcome.lock().expect("whole") = Some(done);
            });
        }
    });
    outcome.into_inner().expect("whole").expect("rank 0 ended").expect("conducted")
}

fn took_part(step: &StepView) -> Vec<u32> {
    step.ranks.iter().flat_map(|of| &of.ranks).map(|rank| rank.rank).collect()
}

#[test]
fn each_step_of_a_ladder_is_by_so_many_ranks_and_more_than_there_are_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let knobs = [("rw", "randread"), ("size", "1m"), ("runtime", "200ms")];
    let plan = plan_on(&target.display().to_string(), &knobs).over_ranks(&[1, 2, 4, 8]);
    // Two ranks on each of two hosts.
    let outcome = conducted_on(&["", "", "b", "b"], &plan, dir.path());
    let steps = &outcome.document.steps;
    let [one, two, four, eight] = &steps[..] else { panic!("{} steps", steps.len()) };
    assert_eq!(took_part(one), [0]);
    assert_eq!(took_part(two), [0, 2], "one of each host");
    assert_eq!(took_part(four), [0, 1, 2, 3]);
    for step in [one, two, four] {
        let ranks = step.ranks.as_ref().expect("ranks");
        assert_eq!(ranks.ranks.iter().map(|rank| rank.ios).sum::<u64>(), step.ios, "{}", step.label);
        assert_eq!(step.workers.len(), ranks.ranks.len());
        assert!(step.ios > 0 && ranks.lost.is_empty());
        // What takes part is what the plan says of it.
        assert_eq!(step.role.ranks.as_ref().expect("ranks").ranks, took_part(step));
    }
    assert_eq!(two.ranks.as_ref().expect("ranks").machines.len(), 2);
    assert_eq!(one.ranks.as_ref().expect("ranks").machines.len(), 1, "the other host waits");
    assert!(two.label.ends_with(" 2 ranks"), "{}", two.label);
    assert_eq!(eight.state, StepState::Refused);
    let why = words(eight.reason.as_slice()).remove(0);
    assert_eq!(why, "it wants 8 ranks, and 4 run the plan");
    let ladders: Vec<_> = outcome.document.ladders.iter().filter(|l| l.axis == LadderAxis::Ranks).collect();
    let [ladder] = &ladders[..] else { panic!("{ladders:?}") };
    assert_eq!(
        ladder.points.iter().map(|point| (point.step, point.at)).collect::<Vec<_>>(),
        [(one.index, 1.0), (two.index, 2.0), (four.index, 4.0)]
    );
    assert!(std::fs::read_dir(&target).expect("reads").next().is_none(), "each removed its own file");
}

#[test]
fn those_that_take_part_share_the_whole_region() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("shared");
    let file = std::fs::File::create(&target).expect("a file");
    file.set_len(6 << 20).expect("its length");
    drop(file);
    let knobs = [("rw", "write"), ("bs", "64k"), ("loops", "1"), ("runtime", "60s")];
    let plan = may_overwrite(plan_on(&target.display().to_string(), &knobs)).over_ranks(&[2, 3]);
    let outcome = conducted(3, &plan, dir.path(), TargetsAre::Partitioned, &|_, _, _| {}).expect("measured");
    let bytes = |step: &StepView| {
        let of = step.ranks.as_ref().expect("ranks");
        of.ranks.iter().map(|rank| rank.bytes).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&outcome.document.steps[0]), [3 << 20; 2]);
    assert_eq!(bytes(&outcome.document.steps[1]), [2 << 20; 3]);
}

#[test]
fn one_process_alone_is_one_rank() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan_on("null", &[("engine", "null"), ("runtime", "100ms")]).over_ranks(&[1, 2]);
    let lab_path = dir.path().join("lab.db");
    let mut lab = Lab::open(&lab_path).expect("a lab");
    let options = ConductOptions { journal_dir: dir.path().join("journal"), lab_path, ..ConductOptions::default() };
    let outcome = conduct(&mut lab, &plan, &options, &AtomicBool::new(false), &mut |_| {}).expect("conducted");
    let [one, two] = &outcome.document.steps[..] else { panic!("two steps") };
    assert!(one.ios > 0);
    assert_eq!(two.state, StepState::Refused);
    assert_eq!(words(two.reason.as_slice()), ["it wants 2 ranks, and one process runs the plan"]);
}
