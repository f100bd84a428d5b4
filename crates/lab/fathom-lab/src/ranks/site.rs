//! All ranks as one site: what the conductor asks of it, every rank is asked, and their records become one.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_engine::{StartGate, clock_ns, intervals_max};
use fathom_host::settings::SettingError;
use fathom_host::{FileMark, ProbeError};
use fathom_message::{Message, msg};
use fathom_plan::{Plan, Step, TargetsAre, spread_over_hosts};
use fathom_record::{CPU_ROWS_MAX, LostRank, Progress, RankMachine, StepFailure, StepRecord};
use fathom_store::MadeFile;

use super::gate::Start;
use super::gather::Gathering;
use super::hub::{Hub, Peer, RankFailure};
use super::order::{Answer, Order, RankDone, Refused, WrittenDrive, files_of_rank};
use super::{Ranks, this_host, this_machine};
use crate::site::{
    DrivesToday, LayOutError, Looked, Moment, RealSite, Site, SiteControl, SiteError, TargetError, files_gone,
};

/// All ranks, seen from rank 0, which is one of them.
#[derive(Debug)]
pub(crate) struct RanksSite {
    local: RealSite,
    ranks: Ranks,
    /// Marks that every rank is told of.
    own: Vec<FileMark>,
    abandoned: Vec<FileMark>,
    /// The files that this rank makes.
    files: Vec<MadeFile>,
    /// Steps so far.
    number: u64,
    /// The host of this rank.
    machine: Option<RankMachine>,
}

/// Waits for all ranks.
struct HubGate {
    hub: Rc<RefCell<Hub>>,
    number: u64,
    start: Rc<Start>,
}

impl StartGate for HubGate {
    fn begin_ns(&mut self, stop: &AtomicBool) -> Option<u64> {
        let begin_ns = self.hub.borrow_mut().start(self.number, stop);
        self.start.waited.set(begin_ns.is_none());
        begin_ns
    }

    fn began(&mut self, window_start_ns: u64) {
        self.start.window_ns.set(Some(window_start_ns));
    }
}

impl RanksSite {
    pub(crate) fn new(local: RealSite, ranks: &Ranks) -> RanksSite {
        let (own, abandoned) = local.marks();
        let local = local.of_rank(0);
        RanksSite { local, ranks: ranks.clone(), own, abandoned, files: Vec::new(), number: 0, machine: this_machine() }
    }

    /// Compares versions and plans, and tells the ranks what they must know. Once for all sites of a run.
    fn join(&mut self, plan: &Plan) -> Result<(), TargetError> {
        let mut hub = self.ranks.hub.borrow_mut();
        if hub.joined {
            return Ok(());
        }
        let ((), answers) = hub.ask(&Order::Join, |_| ()).map_err(lost_target)?;
        let hash = self.ranks.hash_of(Some(plan));
        for (peer, answer) in hub.peers.iter_mut().zip(answers) {
            let (version, plan_hash, host) = match answer {
                Answer::Joined { version, plan_hash, host, machine } => {
                    peer.machine = machine;
                    (version, plan_hash, host)
                }
                Answer::Unable { host, refused } => return Err(on_rank(peer.rank, &host.name, refused)),
                _ => continue,
            };
            peer.host = host;
            let (rank, host) = (peer.rank, peer.host.name.clone());
            if version != self.ranks.version {
                let why = msg!("ranks-version", version = version, own = self.ranks.version.clone());
                return Err(TargetError::OnRank { rank, host, why, help: msg!("ranks-version-help") });
            }
            if plan_hash != hash {
                return Err(TargetError::OnRank { rank, host, why: msg!("ranks-plan"), help: msg!("ranks-plan-help") });
            }
        }
        let mut seen = vec![this_host().boot_id];
        let cpus = |machine: &Option<RankMachine>| machine.as_ref().map_or(0, |machine| machine.cpus);
        let mut end_cpu = cpus(&self.machine);
        for peer in &hub.peers {
            let sets = !seen.contains(&peer.host.boot_id);
            if sets {
                seen.push(peer.host.boot_id.clone());
                end_cpu = end_cpu.saturating_add(cpus(&peer.machine));
            }
            let (own, abandoned, cpu_rows) =
                (self.own.clone(), self.abandoned.clone(), sets && end_cpu <= CPU_ROWS_MAX);
            hub.tell_one(peer.rank, &Order::Permit { own, abandoned, sets, cpu_rows });
        }
        hub.joined = true;
        Ok(())
    }

    /// The plan with the ranks that take part in each step, once the hosts are known.
    fn with_parts(&self, plan: &Plan) -> Plan {
        let hub = self.ranks.hub.borrow();
        let others = hub.peers.iter().map(|peer| peer.host.boot_id.clone());
        let hosts: Vec<String> = std::iter::once(this_host().boot_id).chain(others).collect();
        let mut plan = plan.clone();
        for part in plan.steps.iter_mut().filter_map(|step| step.role.ranks.as_mut()) {
            part.ranks = spread_over_hosts(&hosts, part.count);
        }
        plan
    }

    /// Asks every rank while this one does the same. What a rank refuses is refused by its name.
    fn ask<T>(
        &mut self,
        order: &Order,
        own: impl FnOnce(&mut RealSite) -> Result<T, TargetError>,
    ) -> Result<(T, Vec<Answer>), TargetError> {
        let hub = self.ranks.hub.clone();
        let mut hub = hub.borrow_mut();
        let (own, answers) = hub.ask(order, |_| own(&mut self.local)).map_err(lost_target)?;
        Ok((not_refused(&hub, own, &answers)?, answers))
    }

    /// The files that ranks would make, beside those of this one; `answers` to [`Order::Look`] or [`Order::Again`].
    fn files_of_all(
        &self,
        plan: &Plan,
        own: Vec<MadeFile>,
        answers: Vec<Answer>,
    ) -> Result<Vec<MadeFile>, TargetError> {
        let mut files = own;
        let mut seen = vec![(0, this_host().name, self.local.written().to_vec())];
        let hub = self.ranks.hub.borrow();
        for (peer, answer) in hub.peers.iter().zip(answers) {
            if let Answer::Looked(Ok(theirs)) = answer {
                files.extend(theirs.files.into_iter().map(|file| file.noted(peer.rank)));
                seen.push((peer.rank, peer.host.name.clone(), theirs.written));
            }
        }
        self.refuse_overlap(plan, &seen)?;
        Ok(files)
    }

    /// Refuses what ranks would write over each other.
    fn refuse_overlap(&self, plan: &Plan, seen: &[(u32, String, Vec<WrittenDrive>)]) -> Result<(), TargetError> {
        let are = plan.ranks.map(|ranks| ranks.targets_are).unwrap_or_default();
        if are == TargetsAre::Partitioned {
            return Ok(());
        }
        for (at, (rank, host, written)) in seen.iter().enumerate() {
            let others = seen[..at].iter().flat_map(|(_, other, drives)| drives.iter().map(move |d| (other, d)));
            for (other, drive) in others {
                if let Some(own) = written.iter().find(|own| own.is_same(drive)) {
                    let why = msg!("ranks-same-drive", path = own.path.clone(), other = other.clone());
                    let (rank, host, help) = (*rank, host.clone(), msg!("ranks-same-drive-help"));
                    return Err(TargetError::OnRank { rank, host, why, help });
                }
            }
        }
        Ok(())
    }

    /// The hosts of the ranks that take part in the step, each once.
    fn machines(&self, hub: &Hub) -> Vec<RankMachine> {
        let own = self.machine.iter().map(|machine| (this_host().boot_id, machine));
        let others = hub.parts().filter_map(|peer| Some((peer.host.boot_id.clone(), peer.machine.as_ref()?)));
        let mut seen = Vec::new();
        let mut machines = Vec::new();
        for (id, machine) in own.chain(others) {
            if !seen.contains(&id) {
                seen.push(id);
                machines.push(machine.clone());
            }
        }
        machines
    }
}

/// What this rank has, unless another refuses. What all refuse is said once, as of one process.
fn not_refused<T>(hub: &Hub, own: Result<T, TargetError>, answers: &[Answer]) -> Result<T, TargetError> {
    let refused = hub.peers.iter().zip(answers).find_map(|(peer, answer)| match answer {
        Answer::Looked(Err(refused)) | Answer::Bound(Err(refused)) => {
            Some(on_rank(peer.rank, &peer.host.name, refused.clone()))
        }
        _ => None,
    });
    let own = own?;
    refused.map_or(Ok(own), Err)
}

fn on_rank(rank: u32, host: &str, refused: Refused) -> TargetError {
    let help = refused.help.unwrap_or_else(|| Message::verbatim(""));
    TargetError::OnRank { rank, host: host.to_owned(), why: refused.why, help }
}

fn lost_target(lost: LostRank) -> TargetError {
    TargetError::OnRank { rank: lost.rank, host: lost.host, why: lost.why, help: msg!("ranks-lost-help") }
}

fn setting_on(host: &str, refused: Refused) -> SettingError {
    SettingError::OnHost { host: host.to_owned(), why: refused.why, help: refused.help }
}

impl Site for RanksSite {
    fn tidy(&mut self, plan: &Plan) -> Vec<(Option<FileMark>, Message)> {
        // Who does not join is said by the look that follows.
        if self.join(plan).is_err() {
            return Vec::new();
        }
        let hub = self.ranks.hub.clone();
        let (mut removed, answers) = hub.borrow_mut().ask_living(&Order::Tidy(plan.clone()), |_| self.local.tidy(plan));
        for answer in answers {
            if let Answer::Tidied(more) = answer {
                removed.extend(more);
            }
        }
        removed
    }

    /// Those of rank 0: the paths of other hosts say nothing here.
    fn work_folders(&self, plan: &Plan) -> Vec<PathBuf> {
        self.local.work_folders(plan)
    }

    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError> {
        self.join(plan)?;
        let looked = self.local.look(&self.with_parts(plan))?;
        self.files = looked.files.clone();
        let ((), answers) = self.ask(&Order::Look(looked.plan.clone()), |_| Ok(()))?;
        let files = self.files_of_all(&looked.plan, looked.files, answers)?;
        Ok(Looked { plan: looked.plan, files })
    }

    fn gone(&mut self, plan: &Plan, files: &[MadeFile]) -> Result<Option<PathBuf>, TargetError> {
        self.join(plan)?;
        if let Some(path) = files_gone(&files_of_rank(plan, files, 0)) {
            return Ok(Some(path));
        }
        let mut hub = self.ranks.hub.borrow_mut();
        let order = |rank| Order::Gone(files_of_rank(plan, files, rank).iter().map(Into::into).collect());
        let ((), answers) = hub.ask_each(order, |_| ()).map_err(lost_target)?;
        let named = |(peer, answer): (&Peer, Answer)| match answer {
            Answer::Gone(Some(path)) => Some(PathBuf::from(format!("{}:{}", peer.host.name, path.display()))),
            _ => None,
        };
        Ok(hub.peers.iter().zip(answers).find_map(named))
    }

    fn to_make_again(&mut self, plan: &Plan, files: &[MadeFile], begun: bool) -> Result<Vec<MadeFile>, TargetError> {
        self.join(plan)?;
        let own = files_of_rank(plan, files, 0);
        let hub = self.ranks.hub.clone();
        let order = |rank| {
            let files = files_of_rank(plan, files, rank).iter().map(Into::into).collect();
            Order::Again { plan: plan.clone(), files, begun }
        };
        let asked = hub.borrow_mut().ask_each(order, |_| self.local.to_make_again(plan, &own, begun));
        let (again, answers) = asked.map_err(lost_target)?;
        let again = not_refused(&hub.borrow(), again, &answers)?;
        self.files = own.into_iter().chain(again.iter().cloned()).collect();
        self.files_of_all(plan, again, answers)
    }

    fn drives_today(&self) -> DrivesToday {
        self.local.drives_today()
    }

    fn host_json(&mut self, plan: &Plan) -> Result<String, ProbeError> {
        self.local.host_json(plan)
    }

    fn bind(&mut self, plan: &Plan, _: &[MadeFile], begun: bool) -> Result<Vec<Message>, TargetError> {
        let files = self.files.clone();
        let (mut notes, answers) =
            self.ask(&Order::Bind { plan: plan.clone(), begun }, |local| local.bind(plan, &files, begun))?;
        for answer in answers {
            if let Answer::Bound(Ok(more)) = answer {
                notes.extend(more.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
            }
        }
        Ok(notes)
    }

    fn prepare(&mut self, plan: &Plan, control: &mut SiteControl<'_>) -> Result<(), SiteError> {
        let hub = self.ranks.hub.clone();
        let asked = hub.borrow_mut().ask(&Order::Prepare(plan.clone()), |hub| {
            let on_progress = &mut *control.on_progress;
            let mut shown = |progress: &Progress| {
                hub.poll();
                on_progress(&hub.progress(Some(progress)).unwrap_or_else(|| progress.clone()));
            };
            self.local.prepare(plan, &mut SiteControl::new(control.stop, &mut shown))
        });
        let failed = |rank: u32, host: &str, refused: Refused| {
            let help = refused.help.unwrap_or_else(|| Message::verbatim(""));
            let why = msg!("ranks-on", rank = rank, host = host.to_owned(), why = refused.why);
            SiteError::LayOut(LayOutError { path: host.to_owned(), why, help })
        };
        let (own, answers) = asked.map_err(|lost| {
            failed(lost.rank, &lost.host, Refused { why: lost.why, help: Some(msg!("ranks-lost-help")) })
        })?;
        own?;
        let hub = hub.borrow();
        let refused = hub.peers.iter().zip(answers).find_map(|(peer, answer)| match answer {
            Answer::Prepared(Err(refused)) => Some(failed(peer.rank, &peer.host.name, refused)),
            _ => None,
        });
        refused.map_or(Ok(()), Err)
    }

    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError> {
        self.number += 1;
        let (number, hub) = (self.number, self.ranks.hub.clone());
        let step = &together(step);
        // Those that do not take part hear nothing of it.
        hub.borrow_mut().begin_step(|rank| step.role.ranks.as_ref().is_none_or(|of| of.has(rank)));
        hub.borrow().tell_parts(&Order::Run { number, step: Box::new(step.clone()) });
        let start = Rc::new(Start::default());
        self.local.set_gate(Box::new(HubGate { hub: hub.clone(), number, start: start.clone() }));
        let asked_ns = clock_ns();
        let (stop, silence) = (control.stop, self.ranks.silence);
        let own = {
            let on_progress = &mut *control.on_progress;
            let mut shown = |progress: &Progress| {
                let mut hub = hub.borrow_mut();
                hub.poll();
                if hub.find_lost(silence, |peer| peer.takes_part && !peer.has_ended)
                    && !stop.swap(true, Ordering::Relaxed)
                {
                    hub.tell(&Order::Stop);
                }
                on_progress(&hub.progress(Some(progress)).unwrap_or_else(|| progress.clone()));
            };
            self.local.run(step, &mut SiteControl::new(stop, &mut shown))?
        };
        if own.is_err() {
            // Those that wait for the start would wait for ever; those that began go on to their end.
            hub.borrow().tell_parts(&Order::Abandon { number });
        }
        let own = own.map(|record| {
            let window_start_ns = start.window_ns.get().unwrap_or(asked_ns);
            (RankDone { window_start_ns, runtime_ns: record.runtime_ns }, record)
        });
        let waited = start.waited.get();
        let own = own.map_err(|failure| RankFailure { failure, waited });
        let mut gathering = Gathering::new(&this_host(), intervals_max(step), own);
        hub.borrow_mut().wait_for_ends(&mut gathering, silence, stop, control.on_progress);
        if let Some(peer) = hub.borrow_mut().peers.iter_mut().find(|peer| peer.setting.is_some()) {
            let refused = peer.setting.take().expect("it was found by it");
            return Err(setting_on(&peer.host.name, refused));
        }
        let mut hub = hub.borrow_mut();
        let machines = self.machines(&hub);
        Ok(gathering.finish(step, &mut hub.peers, machines))
    }

    fn run_streams(
        &mut self,
        streams: &[Step],
        _: &mut SiteControl<'_>,
    ) -> Result<Vec<Result<StepRecord, StepFailure>>, SettingError> {
        let refused = |step: &Step| {
            Err(StepFailure::Refused {
                what: Message::verbatim(step.label.clone()),
                why: msg!("ranks-streams"),
                help: msg!("ranks-streams-help"),
            })
        };
        Ok(streams.iter().map(refused).collect())
    }

    fn recall(&mut self, _: &Step, _: &StepRecord, _: &AtomicBool) -> Result<(), StepFailure> {
        Ok(())
    }

    fn restore(&mut self) -> Result<(), SettingError> {
        let hub = self.ranks.hub.clone();
        // What a lost rank changed is in the journal of its host.
        let (own, answers) = hub.borrow_mut().ask_living(&Order::Restore, |_| self.local.restore());
        own?;
        let hub = hub.borrow();
        let living = hub.peers.iter().filter(|peer| peer.lost.is_none());
        for (peer, answer) in living.zip(answers) {
            if let Answer::Restored(Err(refused)) = answer {
                return Err(setting_on(&peer.host.name, refused));
            }
        }
        Ok(())
    }

    fn keep_files(&mut self) {
        self.ranks.hub.borrow().tell(&Order::KeepFiles);
        self.local.keep_files();
    }

    fn release(&mut self) -> Vec<FileMark> {
        let hub = self.ranks.hub.clone();
        let (mut removed, answers) = hub.borrow_mut().ask_living(&Order::Release, |_| self.local.release());
        for answer in answers {
            if let Answer::Released(more) = answer {
                removed.extend(more);
            }
        }
        removed
    }

    fn now(&self) -> Moment {
        self.local.now()
    }

    fn is_in_real_time(&self) -> bool {
        true
    }
}

/// The step as ranks run it that end together: a time that is left to their precision would end at another one on each.
fn together(step: &Step) -> Step {
    let mut step = step.clone();
    step.length.floor_ns = step.length.budget_ns;
    step
}
