//! In which order a thread serves its targets, where the load asks for one.

use fathom_message::Message;
use fathom_plan::{FileService, Pattern, ServiceChoice};
use fathom_random::Rng;

use crate::offsets::Repeating;

/// How the next target is chosen among those in service.
enum Choice {
    InTurns,
    Random,
    /// Drawn among all; one that is not in service gives way to the next that is.
    Drawn(Repeating),
}

/// The targets of a thread, as they come and go.
pub(crate) struct Service {
    choice: Choice,
    /// I/Os on a target before the next is chosen.
    ios: u32,
    /// Those with something left to do, the next to come in behind those in service.
    waiting: Vec<u16>,
    /// So many are in service at a time.
    window: usize,
    /// All targets.
    count: u64,
    /// Position of the target in service, and the I/Os that are left to it.
    at: usize,
    left: u32,
    /// `[part]`: what a pass over it takes, and how much of it was done; empty where all are in service.
    pass: Box<[u64]>,
    done: Box<[u64]>,
}

impl Service {
    /// Of targets of which a pass takes so much each, in whatever unit [`Service::served`] is told. `None`: they take turns, one
    /// I/O each, which needs no more than a counter.
    ///
    /// # Errors
    /// Why, when the parameters make no sense.
    pub(crate) fn new(asked: FileService, pass: Vec<u64>) -> Result<Option<Service>, Message> {
        let count = pass.len();
        let one_by_one = asked.choice == ServiceChoice::Sequential;
        let open = if one_by_one { Some(1) } else { asked.open_files.map(|files| files as usize) };
        let window = open.unwrap_or(count).clamp(1, count.max(1));
        let is_narrow = window < count;
        let choice = match asked.choice {
            ServiceChoice::RoundRobin | ServiceChoice::Sequential => Choice::InTurns,
            ServiceChoice::Random => Choice::Random,
            ServiceChoice::Zipf { theta_thousandths } => {
                let theta = f64::from(theta_thousandths) / 1e3;
                match Repeating::of(Pattern::Zipf { theta }, count as u64)? {
                    Some(repeating) => Choice::Drawn(repeating),
                    None => Choice::Random,
                }
            }
        };
        if !is_narrow && asked.ios <= 1 && matches!(choice, Choice::InTurns) {
            return Ok(None);
        }
        Ok(Some(Service {
            choice,
            ios: if one_by_one { u32::MAX } else { asked.ios.max(1) },
            waiting: (0..count).map(|part| part as u16).collect(),
            window,
            count: count as u64,
            at: window - 1,
            left: 0,
            done: if is_narrow { vec![0; count].into_boxed_slice() } else { Box::default() },
            pass: if is_narrow { pass.into_boxed_slice() } else { Box::default() },
        }))
    }

    /// The target of the next I/O; `None` once all are at their end.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<u16> {
        if self.left == 0 {
            let width = self.width();
            if width == 0 {
                return None;
            }
            self.left = self.ios;
            self.at = match &self.choice {
                Choice::InTurns => (self.at + 1) % width,
                Choice::Random => rng.below(width as u64) as usize,
                Choice::Drawn(repeating) => {
                    let drawn = repeating.draw(self.count, rng);
                    let behind = |part: u16| (u64::from(part) + self.count - drawn) % self.count;
                    (0..width).min_by_key(|at| behind(self.waiting[*at])).unwrap_or(0)
                }
            };
        }
        self.waiting.get(self.at).copied()
    }

    /// The target took an I/O of so much.
    pub(crate) fn served(&mut self, amount: u64) {
        self.left -= 1;
        let Some(part) = self.waiting.get(self.at).copied().filter(|_| !self.pass.is_empty()) else { return };
        let done = &mut self.done[usize::from(part)];
        *done += amount;
        if *done >= self.pass[usize::from(part)] {
            *done = 0;
            self.leave();
            self.waiting.push(part);
        }
    }

    /// The target has nothing left to do.
    pub(crate) fn ended(&mut self) {
        self.leave();
    }

    fn leave(&mut self) {
        self.waiting.remove(self.at);
        self.left = 0;
        // The turn goes on with the one behind it.
        let width = self.width().max(1);
        self.at = (self.at + width - 1) % width;
    }

    fn width(&self) -> usize {
        self.window.min(self.waiting.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use proptest::strategy::{Just, Strategy as _};

    use super::*;

    fn served_by(choice: ServiceChoice, ios: u32, open_files: Option<u32>, pass: &[u64]) -> Option<Service> {
        Service::new(FileService { choice, ios, open_files }, pass.to_vec()).expect("sound parameters")
    }

    /// The targets in the order of their I/Os, each with so many to do.
    fn order(mut service: Service, todo: &[u64], seed: u64) -> Vec<u16> {
        let (mut todo, mut rng, mut order) = (todo.to_vec(), Rng::new(seed, 0), Vec::new());
        while let Some(part) = service.next(&mut rng) {
            let left = &mut todo[usize::from(part)];
            if *left == 0 {
                service.ended();
                continue;
            }
            *left -= 1;
            order.push(part);
            service.served(1);
        }
        order
    }

    /// As fio does it: a list of targets, gone round in turns of so many I/Os.
    fn in_turns(todo: &[u64], ios: u64) -> Vec<u16> {
        let (mut todo, mut order) = (todo.to_vec(), Vec::new());
        while todo.iter().any(|left| *left > 0) {
            for (part, left) in todo.iter_mut().enumerate() {
                let turn = ios.min(*left);
                order.extend((0..turn).map(|_| part as u16));
                *left -= turn;
            }
        }
        order
    }

    proptest! {
        #[test]
        fn each_target_is_served_to_its_end_in_whatever_order(
            todo in proptest::collection::vec(0_u64..30, 1..12),
            choice in proptest::sample::select(vec![
                ServiceChoice::RoundRobin, ServiceChoice::Random, ServiceChoice::Sequential,
                ServiceChoice::Zipf { theta_thousandths: 1200 },
            ]),
            ios in 1_u32..6, open in 0_u32..5, seed in any::<u64>(),
        ) {
            let Some(service) = served_by(choice, ios, Some(open).filter(|n| *n > 0), &todo) else { return Ok(()) };
            let order = order(service, &todo, seed);
            for (part, todo) in todo.iter().enumerate() {
                prop_assert_eq!(order.iter().filter(|p| usize::from(**p) == part).count() as u64, *todo);
            }
        }

        #[test]
        fn turns_are_those_of_a_round(todo in proptest::collection::vec(1_u64..30, 2..9), ios in 2_u32..6) {
            let service = served_by(ServiceChoice::RoundRobin, ios, None, &todo).expect("beyond a counter");
            prop_assert_eq!(order(service, &todo, 1), in_turns(&todo, ios.into()));
        }

        #[test]
        fn one_after_the_other_goes_through_each_to_the_end(todo in proptest::collection::vec(1_u64..30, 2..9)) {
            let service = served_by(ServiceChoice::Sequential, 1, None, &todo).expect("beyond a counter");
            prop_assert_eq!(order(service, &todo, 1), in_turns(&todo, u64::MAX));
        }

        #[test]
        fn no_more_than_so_many_are_begun_and_not_done(
            (count, open) in (2_usize..10).prop_flat_map(|count| (Just(count), 1_u32..count as u32)),
            choice in proptest::sample::select(vec![ServiceChoice::RoundRobin, ServiceChoice::Random]),
            seed in any::<u64>(),
        ) {
            let todo = vec![7_u64; count];
            let service = served_by(choice, 1, Some(open), &todo).expect("beyond a counter");
            let (order, mut done) = (order(service, &todo, seed), vec![0_u64; count]);
            for part in order {
                done[usize::from(part)] += 1;
                prop_assert!(done.iter().filter(|done| (1..7).contains(*done)).count() <= open as usize);
            }
        }
    }

    #[test]
    fn random_shares_are_equal_and_those_of_zipf_are_not() {
        let counts = |choice| {
            let mut service = served_by(choice, 4, None, &[1; 16]).expect("beyond a counter");
            let (mut rng, mut counts) = (Rng::new(3, 0), [0_u32; 16]);
            for _ in 0..64_000 {
                counts[usize::from(service.next(&mut rng).expect("endless"))] += 1;
                service.served(1);
            }
            counts
        };
        let random = counts(ServiceChoice::Random);
        assert!(random.iter().all(|count| (3_400..4_600).contains(count)), "{random:?}");
        let skewed = counts(ServiceChoice::Zipf { theta_thousandths: 1_200 });
        assert!(skewed.iter().max() > Some(&18_000), "{skewed:?}");
    }

    #[test]
    fn endless_targets_come_in_again_once_each_had_its_pass() {
        let mut service = served_by(ServiceChoice::Sequential, 1, None, &[2, 3]).expect("beyond a counter");
        let mut rng = Rng::new(1, 0);
        let mut next = || {
            let part = service.next(&mut rng);
            service.served(1);
            part.expect("endless")
        };
        assert_eq!((0..10).map(|_| next()).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 0, 0, 1, 1, 1]);
    }
}
