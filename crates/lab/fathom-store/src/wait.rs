//! Waiting for another process's lock on the lab while a measurement is at stake.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fathom_message::{Message, msg};

use crate::owner::lock_holders;

/// Time after which the holder of the lock is reported.
pub(crate) const TOLD_AFTER: Duration = Duration::from_secs(5);
/// Longest wait of a commit: the step may have taken hours to measure.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// Longest wait of a run that the user stopped: most locks are held for less.
const WAIT_OF_STOPPED: Duration = Duration::from_secs(1);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

thread_local! {
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Callbacks for lock waits of this thread.
pub(crate) struct Waiting {
    path: PathBuf,
    notice: Box<dyn Fn(Message)>,
    is_stopped: Box<dyn Fn() -> bool>,
    begun: Instant,
    is_told: bool,
}

impl Waiting {
    pub(crate) fn new(path: &Path, notice: Box<dyn Fn(Message)>, is_stopped: Box<dyn Fn() -> bool>) -> Waiting {
        Waiting { path: path.to_owned(), notice, is_stopped, begun: Instant::now(), is_told: false }
    }

    /// True: try again. `tries`: so far in this wait.
    fn goes_on(&mut self, tries: i32) -> bool {
        if tries == 0 {
            (self.begun, self.is_told) = (Instant::now(), false);
        }
        let waited = self.begun.elapsed();
        if waited >= TOLD_AFTER && !self.is_told {
            self.is_told = true;
            (self.notice)(msg!("lab-waits", path = &self.path, holder = lock_holders(&self.path)));
        }
        waited < if (self.is_stopped)() { WAIT_OF_STOPPED } else { WAIT_MAX }
    }
}

pub(crate) fn set(waiting: Waiting) {
    WAITING.with_borrow_mut(|current| *current = Some(waiting));
}

/// SQLite's busy handler. True: try again.
pub(crate) fn wait(tries: i32) -> bool {
    let goes_on = WAITING.with_borrow_mut(|waiting| match waiting {
        Some(waiting) => waiting.goes_on(tries),
        None => u32::try_from(tries).is_ok_and(|tries| BETWEEN_TRIES * tries < WAIT_MAX),
    });
    if goes_on {
        thread::sleep(BETWEEN_TRIES);
    }
    goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_wait_begins_with_the_wait() {
        let told = std::rc::Rc::new(std::cell::Cell::new(0));
        let counted = told.clone();
        let notice = move |_| counted.set(counted.get() + 1);
        let mut waiting = Waiting::new(Path::new("/lab"), Box::new(notice), Box::new(|| false));
        let long_ago = Instant::now().checked_sub(2 * WAIT_MAX).unwrap_or_else(Instant::now);
        waiting.begun = long_ago;
        assert!(waiting.goes_on(0), "a run that measured for hours waits as long as any");
        assert_eq!(told.get(), 0);
        waiting.begun = long_ago;
        assert!(!waiting.goes_on(1) && !waiting.goes_on(2));
        assert_eq!(told.get(), 1, "the holder is named once");
    }
}
