//! All ranks as one site: what the conductor asks of it, every rank is asked, and their records become one.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_engine::{StartGate, clock_ns};
use fathom_host::settings::SettingError;
use fathom_host::{FileMark, ProbeError};
use fathom_judge::derived_warnings;
use fathom_message::{Message, Say as _, msg};
use fathom_plan::{Plan, Step, TargetsAre};
use fathom_record::{
    LostRank, Progress, RankClock, RankHead, RankMachine, RankMerger, StepFailure, StepRecord, Warning,
};
use fathom_store::MadeFile;

use super::gate::Start;
use super::hub::{Hub, RankFailure};
use super::notes::note;
use super::order::{Answer, Order, RankDone, Refused, WrittenDrive, unpacked_record};
use super::{Ranks, plan_hash, this_host, this_machine};
use crate::site::{DrivesToday, LayOutError, Looked, Moment, RealSite, Site, SiteControl, SiteError, TargetError};

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
        let hash = plan_hash(plan);
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
        for peer in &hub.peers {
            let sets = !seen.contains(&peer.host.boot_id);
            seen.push(peer.host.boot_id.clone());
            let (own, abandoned) = (self.own.clone(), self.abandoned.clone());
            hub.tell_one(peer.rank, &Order::Permit { own, abandoned, sets });
        }
        hub.joined = true;
        Ok(())
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
        for (peer, answer) in hub.peers.iter().zip(&answers) {
            let refused = match answer {
                Answer::Looked(Err(refused)) | Answer::Bound(Err(refused)) => refused.clone(),
                _ => continue,
            };
            // What all ranks refuse is said once, as of one process.
            return Err(own.err().unwrap_or_else(|| on_rank(peer.rank, &peer.host.name, refused)));
        }
        Ok((own?, answers))
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

    /// The hosts of all ranks, each once.
    fn machines(&self, hub: &Hub) -> Vec<RankMachine> {
        let own = self.machine.iter().map(|machine| (this_host().boot_id, machine));
        let others = hub.peers.iter().filter_map(|peer| Some((peer.host.boot_id.clone(), peer.machine.as_ref()?)));
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

    /// One record of what the ranks handed over.
    fn merge(
        &mut self,
        step: &Step,
        own: Result<(RankDone, StepRecord), RankFailure>,
    ) -> Result<StepRecord, StepFailure> {
        let mut hub = self.ranks.hub.borrow_mut();
        let this = this_host();
        let head = |rank: u32, host: &fathom_host::HostName, clock: RankClock, done: &RankDone| RankHead {
            rank,
            host: host.name.clone(),
            host_id: host.boot_id.clone(),
            clock,
            window_start_ns: done.window_start_ns,
            runtime_ns: done.runtime_ns,
        };
        let mut heads = Vec::new();
        let mut lost: Vec<LostRank> = hub.peers.iter().filter_map(super::hub::Peer::as_lost).collect();
        let mut failures: Vec<(u32, String, RankFailure)> = Vec::new();
        match &own {
            Ok((done, _)) => heads.push(head(0, &this, RankClock::default(), done)),
            Err(failure) => failures.push((0, this.name.clone(), failure.clone())),
        }
        for peer in &hub.peers {
            match &peer.ended {
                Some(Ok((done, _))) => heads.push(head(peer.rank, &peer.host, peer.clock, done)),
                Some(Err(failure)) => failures.push((peer.rank, peer.host.name.clone(), failure.clone())),
                None => {}
            }
        }
        if heads.is_empty() {
            return Err(why_none(step, failures, lost));
        }
        lost.extend(failures.into_iter().map(|(rank, host, failure)| LostRank {
            rank,
            host,
            why: failure.failure.message(),
            bytes_done: 0,
        }));
        lost.sort_by_key(|rank| rank.rank);
        let interval_ns = own.as_ref().ok().and_then(|(_, record)| Some(record.intervals.first()?.length_ns));
        let mut merger: Option<RankMerger> = interval_ns.map(|ns| RankMerger::new(heads.clone(), ns));
        let mut add = |rank: u32, record: StepRecord| {
            let ns = record.intervals.first().map_or(1, |interval| interval.length_ns);
            merger.get_or_insert_with(|| RankMerger::new(heads.clone(), ns)).add(rank, record);
        };
        if let Ok((_, record)) = own {
            add(0, record);
        }
        for peer in &mut hub.peers {
            // One record at a time is unpacked: together they may be more than memory holds.
            let Some(Ok((_, packed))) = peer.ended.take() else { continue };
            match unpacked_record(&packed) {
                Some(record) => add(peer.rank, record),
                None => lost.push(LostRank {
                    rank: peer.rank,
                    host: peer.host.name.clone(),
                    why: msg!("ranks-record-unreadable"),
                    bytes_done: 0,
                }),
            }
        }
        let machines = self.machines(&hub);
        let is_lost = hub.peers.iter().any(|peer| peer.lost.is_some());
        let merged = merger.and_then(|merger| merger.finish(lost.clone()));
        let mut record = merged.ok_or_else(|| why_none(step, Vec::new(), lost))?;
        let derived = derived_warnings(step, &record, None, None);
        let new = derived.into_iter().filter(|warning| !record.warnings.contains(warning)).collect::<Vec<_>>();
        record.warnings.extend(new);
        if let Some(ranks) = &mut record.ranks {
            ranks.machines = machines;
        }
        note(&mut record);
        if is_lost && !record.warnings.contains(&Warning::Interrupted) {
            record.warnings.push(Warning::Interrupted);
        }
        Ok(record)
    }
}

/// Why no rank has a record: the first failure that is not that of a rank which waited for another.
fn why_none(step: &Step, failures: Vec<(u32, String, RankFailure)>, lost: Vec<LostRank>) -> StepFailure {
    let named = |rank: u32, host: String, why: &Message| msg!("ranks-on", rank = rank, host = host, why = why);
    if let Some((rank, host, failed)) = failures.into_iter().find(|(.., failed)| !failed.waited) {
        return match failed.failure {
            StepFailure::Refused { what, why, help } => {
                StepFailure::Refused { what, why: named(rank, host, &why), help }
            }
            StepFailure::Failed { what, why, help } => StepFailure::Failed { what, why: named(rank, host, &why), help },
        };
    }
    let what = Message::verbatim(step.label.clone());
    match lost.into_iter().next() {
        Some(LostRank { rank, host, why, .. }) => {
            StepFailure::Failed { what, why: named(rank, host, &why), help: msg!("ranks-lost-help") }
        }
        None => StepFailure::Refused { what, why: msg!("engine-rank-beside"), help: msg!("engine-rank-beside-help") },
    }
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

    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError> {
        self.join(plan)?;
        let looked = self.local.look(plan)?;
        self.files = looked.files.clone();
        let own = (0, this_host().name, self.local.written().to_vec());
        let ((), answers) = self.ask(&Order::Look(looked.plan.clone()), |_| Ok(()))?;
        let mut files = looked.files;
        let mut seen = vec![own];
        let peers: Vec<(u32, String)> =
            self.ranks.hub.borrow().peers.iter().map(|peer| (peer.rank, peer.host.name.clone())).collect();
        for ((rank, host), answer) in peers.into_iter().zip(answers) {
            if let Answer::Looked(Ok(theirs)) = answer {
                files.extend(theirs.files.into_iter().map(|file| file.noted(rank)));
                seen.push((rank, host, theirs.written));
            }
        }
        self.refuse_overlap(&looked.plan, &seen)?;
        Ok(Looked { plan: looked.plan, files })
    }

    fn to_make_again(&mut self, _: &Plan, _: &[MadeFile], _: bool) -> Result<Vec<MadeFile>, TargetError> {
        // The command line refuses to go on with a run of ranks.
        Ok(Vec::new())
    }

    fn drives_today(&self) -> DrivesToday {
        DrivesToday::default()
    }

    fn host_json(&mut self, plan: &Plan) -> Result<String, ProbeError> {
        self.local.host_json(plan)
    }

    fn bind(&mut self, plan: &Plan, _: &[MadeFile], begun: bool) -> Result<Vec<Message>, TargetError> {
        let files = self.files.clone();
        let (mut notes, answers) = self.ask(&Order::Bind(plan.clone()), |local| local.bind(plan, &files, begun))?;
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
            self.local.prepare(plan, &mut SiteControl { stop: control.stop, on_progress: &mut shown })
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
        hub.borrow_mut().begin_step();
        hub.borrow().tell(&Order::Run { number, step: Box::new(step.clone()) });
        let start = Rc::new(Start::default());
        self.local.set_gate(Box::new(HubGate { hub: hub.clone(), number, start: start.clone() }));
        let asked_ns = clock_ns();
        let (stop, silence) = (control.stop, self.ranks.silence);
        let own = {
            let on_progress = &mut *control.on_progress;
            let mut shown = |progress: &Progress| {
                let mut hub = hub.borrow_mut();
                hub.poll();
                if hub.find_lost(silence, |peer| peer.ended.is_none()) && !stop.swap(true, Ordering::Relaxed) {
                    hub.tell(&Order::Stop);
                }
                on_progress(&hub.progress(Some(progress)).unwrap_or_else(|| progress.clone()));
            };
            self.local.run(step, &mut SiteControl { stop, on_progress: &mut shown })?
        };
        if own.is_err() {
            // Those that wait for the start would wait for ever; those that began go on to their end.
            hub.borrow().tell(&Order::Abandon { number });
        }
        hub.borrow_mut().wait_for_ends(silence, stop, control.on_progress);
        if let Some(peer) = hub.borrow_mut().peers.iter_mut().find(|peer| peer.setting.is_some()) {
            let refused = peer.setting.take().expect("it was found by it");
            return Err(setting_on(&peer.host.name, refused));
        }
        let own = own.map(|record| {
            let window_start_ns = start.window_ns.get().unwrap_or(asked_ns);
            (RankDone { window_start_ns, runtime_ns: record.runtime_ns }, record)
        });
        let waited = start.waited.get();
        Ok(self.merge(step, own.map_err(|failure| RankFailure { failure, waited })))
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
