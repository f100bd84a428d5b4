//! What the ranks hand over at the end of a step becomes one record while it comes in.

use fathom_host::HostName;
use fathom_judge::derived_warnings;
use fathom_message::{Message, Say as _, msg};
use fathom_plan::Step;
use fathom_record::{
    Elsewhere, LostRank, RankClock, RankHead, RankMachine, RankMerger, StepFailure, StepRecord, Warning,
};

use super::hub::{Ended, Peer, RankFailure};
use super::notes::note;
use super::order::RankDone;
use super::packed::Unpacker;

/// The record so far, and who has no part in it.
pub(super) struct Gathering {
    unpacker: Unpacker,
    merger: RankMerger,
    failures: Vec<(u32, String, RankFailure)>,
    lost: Vec<LostRank>,
    /// Peers that were looked at.
    taken: usize,
}

impl Gathering {
    /// Begins with what rank 0 itself has. `intervals_max`: how many the step should have at most.
    pub(super) fn new(
        host: &HostName,
        intervals_max: usize,
        own: Result<(RankDone, StepRecord), RankFailure>,
    ) -> Gathering {
        // The end of a step may take longer than its time.
        let intervals_max = 2 * intervals_max;
        let (unpacker, merger) = (Unpacker::new(intervals_max), RankMerger::new(intervals_max));
        let mut gathering = Gathering { unpacker, merger, failures: Vec::new(), lost: Vec::new(), taken: 0 };
        match own {
            Ok((done, mut record)) => {
                let slices = std::mem::take(&mut record.intervals);
                let head = head(0, host, RankClock::default(), &done);
                if let Err(Elsewhere) = gathering.merger.add(head, record, &slices) {
                    gathering.lose(0, host, msg!("ranks-record-elsewhere"));
                }
            }
            Err(failure) => gathering.failures.push((0, host.name.clone(), failure)),
        }
        gathering
    }

    /// Takes what came, in the order of the ranks, by which threads and CPUs are numbered: a record that comes before its
    /// turn waits packed.
    pub(super) fn take(&mut self, peers: &mut [Peer]) {
        while let Some(peer) = peers.get_mut(self.taken) {
            match peer.ended.take() {
                Some(ended) => self.add(peer, ended),
                None if peer.lost.is_some() || !peer.takes_part => {}
                None => return,
            }
            self.taken += 1;
        }
    }

    fn add(&mut self, peer: &Peer, ended: Ended) {
        let (rank, host) = (peer.rank, &peer.host);
        let (done, packed) = match ended {
            Ok(done) => done,
            Err(failure) => return self.failures.push((rank, host.name.clone(), failure)),
        };
        let why = match self.unpacker.unpack(&packed) {
            Ok((record, slices)) => match self.merger.add(head(rank, host, peer.clock, &done), record, slices) {
                Ok(()) => return,
                Err(Elsewhere) => msg!("ranks-record-elsewhere"),
            },
            Err(error) => error.message(),
        };
        self.lose(rank, host, why);
    }

    fn lose(&mut self, rank: u32, host: &HostName, why: Message) {
        self.lost.push(LostRank { rank, host: host.name.clone(), why, bytes_done: 0 });
    }

    /// One record of what the ranks handed over, once none is waited for. `machines`: their hosts.
    pub(super) fn finish(
        mut self,
        step: &Step,
        peers: &mut [Peer],
        machines: Vec<RankMachine>,
    ) -> Result<StepRecord, StepFailure> {
        self.take(peers);
        let Gathering { merger, failures, mut lost, .. } = self;
        // A rank that left after its record is lost to the next step only.
        lost.extend(peers.iter().filter(|peer| peer.takes_part && !peer.has_ended).filter_map(Peer::as_lost));
        let failed = failures.iter().map(|(rank, host, failure)| LostRank {
            rank: *rank,
            host: host.clone(),
            why: failure.failure.message(),
            bytes_done: 0,
        });
        let mut without: Vec<LostRank> = lost.iter().cloned().chain(failed).collect();
        without.sort_by_key(|rank| rank.rank);
        let mut record = merger.finish(without).ok_or_else(|| why_none(step, failures, lost))?;
        let derived = derived_warnings(step, &record, None, None);
        let new = derived.into_iter().filter(|warning| !record.warnings.contains(warning)).collect::<Vec<_>>();
        record.warnings.extend(new);
        if let Some(ranks) = &mut record.ranks {
            ranks.machines = machines;
        }
        note(&mut record);
        let is_lost = peers.iter().any(|peer| peer.lost.is_some());
        if is_lost && !record.warnings.contains(&Warning::Interrupted) {
            record.warnings.push(Warning::Interrupted);
        }
        Ok(record)
    }
}

fn head(rank: u32, host: &HostName, clock: RankClock, done: &RankDone) -> RankHead {
    RankHead {
        rank,
        host: host.name.clone(),
        host_id: host.boot_id.clone(),
        clock,
        window_start_ns: done.window_start_ns,
        runtime_ns: done.runtime_ns,
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
