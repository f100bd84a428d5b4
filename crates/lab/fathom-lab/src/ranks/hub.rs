//! Rank 0's view of the other ranks: what they answered, how far they are, and whether they still live.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::clock_ns;
use fathom_host::HostName;
use fathom_message::{Message, msg};
use fathom_record::{LostRank, Progress, RankClock, RankMachine, StepFailure};

use super::Link;
use super::clocks::Asked;
use super::gather::Gathering;
use super::order::{Answer, Order, RankDone, Refused, frame, unframe};

/// Between two looks for answers.
const LOOK: Duration = Duration::from_micros(50);
/// The same while ranks measure.
const LONG_LOOK: Duration = Duration::from_millis(2);
/// How long a rank may take for what it says nothing in between: to look at its targets, to set its workers up, to get its
/// last I/O back. The engine gives up a worker after a minute.
pub(super) const PATIENCE: Duration = Duration::from_secs(75);
/// How long ranks may take to hand over what they have once the user stopped. A launcher that was told to stop kills after
/// a second.
const STOP_PATIENCE: Duration = Duration::from_millis(600);
/// How often the others are told that rank 0 lives: each time that it looks while it measures, four times a second.
const ALIVE: Duration = Duration::from_millis(200);
/// A rank that has less of its window left may be at its end by now, when it says nothing.
pub(super) const WINDOW_END_NS: u64 = 1_000_000_000;
/// How often a clock is asked at least; at most, while its bound is wider than one that is good.
const ASKED_MIN: u64 = 8;
const ASKED_MAX: u64 = 64;
const GOOD_BOUND_NS: u64 = 50_000;
/// Lead of the start, and how many times the worst bound of a clock comes on top: the word must be there before, also where
/// the network is slow and loses it once, which TCP mends after some 200 ms.
const LEAD_NS: u64 = 100_000_000;
const LEAD_BOUNDS: u64 = 40;

/// How a rank's step ended, with its record as it came.
pub(super) type Ended = Result<(RankDone, Vec<u8>), RankFailure>;

/// Why a rank has no record.
#[derive(Clone, Debug)]
pub(super) struct RankFailure {
    pub(super) failure: StepFailure,
    /// It failed only because the ranks were not to begin.
    pub(super) waited: bool,
}

/// Another rank.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) rank: u32,
    pub(super) host: HostName,
    pub(super) machine: Option<RankMachine>,
    pub(super) clock: RankClock,
    /// How its step ended, until that is taken.
    pub(super) ended: Option<Ended>,
    pub(super) has_ended: bool,
    /// A setting that could not be put back.
    pub(super) setting: Option<Refused>,
    /// Why it is taken for lost.
    pub(super) lost: Option<Message>,
    /// Whether it takes part in the step; else it waits for the next.
    pub(super) takes_part: bool,
    heard: Instant,
    answer: Option<Answer>,
    ready: bool,
    progress: Option<Progress>,
    pong: Option<(u64, u64)>,
}

impl Peer {
    /// What is known of it, once it is lost.
    pub(super) fn as_lost(&self) -> Option<LostRank> {
        let bytes_done = self.progress.as_ref().map_or(0, |p| p.bytes_done);
        Some(LostRank { rank: self.rank, host: self.host.name.clone(), why: self.lost.clone()?, bytes_done })
    }

    /// Silence allowed at present: `silence` within a window, else at least `patience`.
    fn allowed_silence(&self, silence: Duration, patience: Duration) -> Duration {
        match &self.progress {
            Some(p) if p.activity.is_none() && p.remaining_ns > WINDOW_END_NS => silence,
            _ => patience.max(silence),
        }
    }
}

/// The other ranks.
#[derive(Debug)]
pub(super) struct Hub {
    link: Rc<dyn Link>,
    pub(super) peers: Vec<Peer>,
    pub(super) joined: bool,
    /// Silence allowed outside a window: [`PATIENCE`], except in tests.
    pub(super) patience: Duration,
    /// When the others were last told that rank 0 lives.
    told: Instant,
}

impl Hub {
    pub(super) fn new(link: Rc<dyn Link>) -> Hub {
        let peer = |rank| Peer {
            rank,
            host: HostName::default(),
            machine: None,
            clock: RankClock::default(),
            ended: None,
            has_ended: false,
            setting: None,
            lost: None,
            takes_part: true,
            heard: Instant::now(),
            answer: None,
            ready: false,
            progress: None,
            pong: None,
        };
        let peers = if link.rank() == 0 { (1..link.size()).map(peer).collect() } else { Vec::new() };
        Hub { link, peers, joined: false, patience: PATIENCE, told: Instant::now() }
    }

    /// Hands an order to every rank that is not lost.
    pub(super) fn tell(&self, order: &Order) {
        self.peers.iter().filter(|peer| peer.lost.is_none()).for_each(|peer| self.tell_one(peer.rank, order));
    }

    pub(super) fn tell_one(&self, rank: u32, order: &Order) {
        self.link.send(rank, frame(order, &[]));
    }

    /// Takes what came, and lets the others know that this rank lives.
    pub(super) fn poll(&mut self) {
        if self.joined && self.told.elapsed() > ALIVE {
            self.told = Instant::now();
            self.tell(&Order::Alive);
        }
        while let Some((from, mut bytes)) = self.link.receive() {
            let received_ns = clock_ns();
            let Some(peer) = self.peers.iter_mut().find(|peer| peer.rank == from) else { continue };
            peer.heard = Instant::now();
            match unframe::<Answer>(&bytes) {
                Some((Answer::Pong { clock_ns, .. }, _)) => peer.pong = Some((clock_ns, received_ns)),
                Some((Answer::Ready { .. }, _)) => peer.ready = true,
                Some((Answer::Beat(progress), _)) => peer.progress = Some(progress),
                Some((Answer::Done { outcome, waited, .. }, record)) => {
                    let begin = bytes.len() - record.len();
                    bytes.drain(..begin);
                    let ended = outcome.map(|done| (done, bytes));
                    peer.ended = Some(ended.map_err(|failure| RankFailure { failure, waited }));
                    peer.has_ended = true;
                }
                Some((Answer::SettingLost(refused), _)) => peer.setting = Some(refused),
                Some((Answer::Left { silence_ns }, _)) => {
                    let time = fathom_message::Quantity::duration_ns(silence_ns);
                    peer.lost.get_or_insert_with(|| msg!("ranks-left", time = time));
                }
                Some((answer, _)) => peer.answer = Some(answer),
                // Another version says who it is in words of its own.
                None => peer.answer = Some(unknown_version()),
            }
        }
    }

    /// Asks every rank, and gives the answers in the order of the ranks. `meanwhile` runs on this rank once all are asked.
    ///
    /// # Errors
    /// The first rank that does not answer.
    pub(super) fn ask<T>(
        &mut self,
        order: &Order,
        meanwhile: impl FnOnce(&mut Hub) -> T,
    ) -> Result<(T, Vec<Answer>), LostRank> {
        let (own, answers) = self.ask_living(order, meanwhile);
        match self.peers.iter().find_map(Peer::as_lost) {
            Some(lost) => Err(lost),
            None => Ok((own, answers)),
        }
    }

    /// As [`Hub::ask`], with an order of its own for each rank.
    pub(super) fn ask_each<T>(
        &mut self,
        order_for: impl Fn(u32) -> Order,
        meanwhile: impl FnOnce(&mut Hub) -> T,
    ) -> Result<(T, Vec<Answer>), LostRank> {
        self.forget_answers();
        self.peers.iter().for_each(|peer| self.tell_one(peer.rank, &order_for(peer.rank)));
        let (own, answers) = self.answers(meanwhile);
        match self.peers.iter().find_map(Peer::as_lost) {
            Some(lost) => Err(lost),
            None => Ok((own, answers)),
        }
    }

    /// As [`Hub::ask`], of the ranks that are not lost.
    pub(super) fn ask_living<T>(&mut self, order: &Order, meanwhile: impl FnOnce(&mut Hub) -> T) -> (T, Vec<Answer>) {
        self.forget_answers();
        self.tell(order);
        self.answers(meanwhile)
    }

    fn forget_answers(&mut self) {
        for peer in &mut self.peers {
            // One that cannot begin said so before it was asked.
            peer.answer.take_if(|answer| !matches!(answer, Answer::Unable { .. }));
            peer.progress = None;
        }
    }

    /// Waits for the answers of all that are not lost.
    fn answers<T>(&mut self, meanwhile: impl FnOnce(&mut Hub) -> T) -> (T, Vec<Answer>) {
        let own = meanwhile(self);
        self.peers.iter_mut().for_each(|peer| peer.heard = Instant::now());
        let waits = |peer: &Peer| peer.answer.is_none() && peer.lost.is_none();
        loop {
            self.poll();
            self.find_lost(self.patience, waits);
            if !self.peers.iter().any(waits) {
                return (own, self.peers.iter_mut().filter_map(|peer| peer.answer.take()).collect());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Takes the ranks for lost that `waits_for` holds of and that said nothing for too long; whether any is lost.
    pub(super) fn find_lost(&mut self, silence: Duration, waits_for: impl Fn(&Peer) -> bool) -> bool {
        let patience = self.patience;
        for peer in &mut self.peers {
            let silent = peer.heard.elapsed();
            if peer.lost.is_none() && waits_for(peer) && silent > peer.allowed_silence(silence, patience) {
                let time = fathom_message::Quantity::duration_ns(silent.as_nanos() as u64);
                peer.lost = Some(msg!("ranks-silent", time = time));
            }
        }
        self.peers.iter().any(|peer| peer.lost.is_some())
    }

    /// Forgets the last step; `takes_part`: whether a rank is one of those of the next.
    pub(super) fn begin_step(&mut self, takes_part: impl Fn(u32) -> bool) {
        for peer in &mut self.peers {
            peer.takes_part = takes_part(peer.rank);
            (peer.ended, peer.setting, peer.progress) = (None, None, None);
            (peer.has_ended, peer.ready, peer.heard) = (false, false, Instant::now());
        }
    }

    /// The ranks that take part in the step.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().filter(|peer| peer.takes_part)
    }

    /// Says something to the ranks that take part in the step.
    pub(super) fn tell_parts(&self, order: &Order) {
        self.parts().filter(|peer| peer.lost.is_none()).for_each(|peer| self.tell_one(peer.rank, order));
    }

    /// Waits until the workers of all ranks are ready, compares the clocks, and says when all begin; by this rank's clock.
    /// `None`: one of them cannot, or the user wants to stop, and none begins.
    pub(super) fn start(&mut self, number: u64, stop: &AtomicBool) -> Option<u64> {
        loop {
            self.poll();
            let gone = self.parts().any(|peer| peer.has_ended || peer.setting.is_some());
            let lost = self.find_lost(self.patience, |peer| peer.takes_part && !peer.ready);
            if gone || lost || stop.load(Ordering::Relaxed) {
                self.tell_parts(&Order::Abandon { number });
                return None;
            }
            if self.parts().all(|peer| peer.ready) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        for at in 0..self.peers.len() {
            if self.peers[at].takes_part {
                self.compare_clock(at);
            }
        }
        let worst_ns = self.parts().map(|peer| peer.clock.bound_ns).max().unwrap_or(0);
        let begin_ns = clock_ns() + LEAD_NS + LEAD_BOUNDS * worst_ns;
        for peer in self.parts().filter(|peer| peer.lost.is_none()) {
            let theirs = begin_ns.saturating_add_signed(peer.clock.offset_ns);
            self.tell_one(peer.rank, &Order::Start { number, begin_ns: theirs });
        }
        Some(begin_ns)
    }

    fn compare_clock(&mut self, at: usize) {
        let rank = self.peers[at].rank;
        let mut asked = Asked::default();
        let is_good = |asked: Asked| asked.clock().is_some_and(|clock| clock.bound_ns <= GOOD_BOUND_NS);
        for number in 0..ASKED_MAX {
            if number >= ASKED_MIN && is_good(asked) {
                break;
            }
            self.peers[at].pong = None;
            let sent_ns = clock_ns();
            self.tell_one(rank, &Order::Ping { number });
            let asked_at = Instant::now();
            loop {
                self.poll();
                if self.peers[at].lost.is_some() {
                    return;
                }
                if let Some((theirs_ns, received_ns)) = self.peers[at].pong {
                    asked.take(sent_ns, theirs_ns, received_ns);
                    break;
                }
                if asked_at.elapsed() > self.patience {
                    self.peers[at].lost = Some(msg!("ranks-clock-silent"));
                    return;
                }
                std::thread::yield_now();
            }
        }
        self.peers[at].clock = asked.clock().unwrap_or_default();
    }

    /// Waits until every rank handed over how its step ended, or is lost, and gathers what they hand over.
    pub(super) fn wait_for_ends(
        &mut self,
        gathering: &mut Gathering,
        silence: Duration,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(&Progress),
    ) {
        let mut shown = Instant::now();
        let mut stopped: Option<Instant> = None;
        let waits = |peer: &Peer| peer.takes_part && !peer.has_ended && peer.setting.is_none() && peer.lost.is_none();
        loop {
            self.poll();
            gathering.take(&mut self.peers);
            if stop.load(Ordering::Relaxed) {
                let since = *stopped.get_or_insert_with(Instant::now);
                if since.elapsed() > STOP_PATIENCE {
                    self.peers.iter_mut().filter(|peer| waits(peer)).for_each(|p| p.lost = Some(msg!("ranks-no-end")));
                }
            }
            if self.find_lost(silence, waits) {
                stop.store(true, Ordering::Relaxed);
                self.tell(&Order::Stop);
            }
            if !self.peers.iter().any(waits) {
                return;
            }
            if shown.elapsed() > Duration::from_millis(250) {
                shown = Instant::now();
                if let Some(progress) = self.progress(None) {
                    on_progress(&progress);
                }
            }
            // The others may still measure: they are not to be disturbed.
            std::thread::sleep(LONG_LOOK);
        }
    }

    /// All ranks together, with what this one sees of itself.
    pub(super) fn progress(&self, own: Option<&Progress>) -> Option<Progress> {
        let all = || own.into_iter().chain(self.peers.iter().filter_map(|peer| peer.progress.as_ref()));
        all().next()?;
        Some(Progress {
            elapsed_ns: all().map(|p| p.elapsed_ns).max().unwrap_or(0),
            remaining_ns: all().map(|p| p.remaining_ns).max().unwrap_or(0),
            iops: all().map(|p| p.iops).sum(),
            bytes_per_s: all().map(|p| p.bytes_per_s).sum(),
            bytes_done: all().map(|p| p.bytes_done).sum(),
            p99_ns: all().filter_map(|p| p.p99_ns).max(),
            activity: all().find_map(|p| p.activity.clone()),
        })
    }

    /// Lets the others end; whether one of them is lost.
    pub(super) fn end(&mut self) -> bool {
        self.tell(&Order::End);
        self.peers.iter().any(|peer| peer.lost.is_some())
    }
}

/// Stands for what cannot be read: no version has this name.
fn unknown_version() -> Answer {
    Answer::Joined { version: String::new(), plan_hash: 0, host: HostName::default(), machine: None }
}
