//! The start of a step on a rank: its workers are ready, and it waits for rank 0 to say when.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::{StartGate, clock_ns};

use super::Link;
use super::order::{Answer, Order, frame, unframe};

/// Between two looks for an order. Short where a clock may be asked: what an answer waits widens the bound.
const LOOK: Duration = Duration::from_micros(20);

/// A rank's side of the link: orders that are for later are kept in their order.
#[derive(Debug)]
pub(super) struct Post {
    link: Rc<dyn Link>,
    later: RefCell<VecDeque<Order>>,
    /// When something came from rank 0 last.
    heard: Cell<Instant>,
}

impl Post {
    pub(super) fn new(link: Rc<dyn Link>) -> Post {
        Post { link, later: RefCell::default(), heard: Cell::new(Instant::now()) }
    }

    pub(super) fn answer(&self, answer: &Answer, payload: &[u8]) {
        self.link.send(0, frame(answer, payload));
    }

    /// The next order, if there is one.
    pub(super) fn next(&self) -> Option<Order> {
        self.later.borrow_mut().pop_front().or_else(|| self.fresh())
    }

    /// How long nothing came from rank 0.
    pub(super) fn silence(&self) -> Duration {
        self.heard.get().elapsed()
    }

    /// Looks for what cannot wait while a step runs: the end of the run.
    pub(super) fn look(&self, stop: &AtomicBool) {
        while let Some(order) = self.fresh() {
            match order {
                Order::Stop => stop.store(true, Ordering::Relaxed),
                order => self.later.borrow_mut().push_back(order),
            }
        }
    }

    /// The next order that came over the link; a question for the clock is answered at once.
    fn fresh(&self) -> Option<Order> {
        loop {
            let (from, bytes) = self.link.receive()?;
            self.heard.set(Instant::now());
            let order = unframe::<Order>(&bytes).filter(|_| from == 0);
            match order {
                Some((Order::Ping { number }, _)) => {
                    self.answer(&Answer::Pong { number, clock_ns: clock_ns() }, &[]);
                }
                Some((Order::Alive, _)) => {}
                Some((order, _)) => return Some(order),
                // Nobody else speaks here.
                None => {}
            }
        }
    }
}

/// How the start of a step went.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// When the window began, by this rank's clock.
    pub(super) window_ns: Cell<Option<u64>>,
    /// The workers were ready, and the ranks were not to begin.
    pub(super) waited: Cell<bool>,
}

/// Waits for rank 0's word.
pub(super) struct RankGate {
    pub(super) post: Rc<Post>,
    pub(super) number: u64,
    /// Silence of rank 0 after which the rank stops waiting.
    pub(super) patience: Duration,
    /// How the start went.
    pub(super) start: Rc<Start>,
}

impl StartGate for RankGate {
    fn begin_ns(&mut self, stop: &AtomicBool) -> Option<u64> {
        self.post.answer(&Answer::Ready { number: self.number }, &[]);
        while !stop.load(Ordering::Relaxed) {
            match self.post.fresh() {
                Some(Order::Start { number, begin_ns }) if number == self.number => return Some(begin_ns),
                Some(Order::Abandon { number }) if number == self.number => break,
                Some(Order::Stop) => stop.store(true, Ordering::Relaxed),
                Some(order) => self.post.later.borrow_mut().push_back(order),
                None if self.post.silence() > self.patience => break,
                None => std::thread::sleep(LOOK),
            }
        }
        self.start.waited.set(true);
        None
    }

    fn began(&mut self, window_start_ns: u64) {
        self.start.window_ns.set(Some(window_start_ns));
    }
}
