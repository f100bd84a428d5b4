//! The targets that a thread drives: to which of them a slot's next I/O goes, and where in it.

use fathom_random::Rng;

use super::Variant;
use crate::offsets::Offsets;
use crate::service::Service;

/// A sequence of offsets for each part of a target that a thread drives.
pub(crate) struct Parts {
    first: Offsets,
    others: Box<[Offsets]>,
    /// `[slot]`: the part that its I/Os go to, unless they take turns.
    homes: Box<[u16]>,
    /// Where slots have no homes: the part whose turn it is.
    turn: Option<u16>,
    /// Where the load asks for another order.
    service: Option<Box<Service>>,
}

impl Parts {
    /// The parts of a thread of `queue_depth` slots, at least one.
    ///
    /// Where the depth is a multiple of the parts, each has its share of the slots, so that a slow target leaves the others
    /// their depth. Otherwise, and with arrivals, which come to the thread and not to a slot, the parts take turns.
    pub(crate) fn new(first: Offsets, others: Vec<Offsets>, queue_depth: u32, is_open: bool) -> Self {
        let parts = 1 + others.len() as u32;
        let has_homes = parts == 1 || (queue_depth.is_multiple_of(parts) && !is_open);
        // Slots of a part lie together: what is submitted together is then of few targets.
        let homes = (0..queue_depth).map(|slot| (u64::from(slot) * u64::from(parts) / u64::from(queue_depth)) as u16);
        Parts {
            first,
            others: others.into_boxed_slice(),
            homes: homes.collect(),
            turn: if has_homes { None } else { Some(0) },
            service: None,
        }
    }

    /// The same in turns, or in the order of a service.
    pub(crate) fn served(self, service: Option<Service>) -> Self {
        Parts { turn: Some(0), service: service.map(Box::new), ..self }
    }

    /// Number of parts.
    pub(crate) fn count(&self) -> usize {
        1 + self.others.len()
    }

    #[inline(always)]
    fn offsets(&mut self, part: u16) -> &mut Offsets {
        if part == 0 { &mut self.first } else { &mut self.others[usize::from(part) - 1] }
    }

    /// The part and the unit in it of the next I/O of `slot`; `None` when the passes over all parts are done.
    #[inline(always)]
    pub(crate) fn next<V: Variant>(&mut self, slot: u32, rng: &mut Rng) -> Option<(u16, u64)> {
        if !V::MANY {
            return Some((0, self.first.next(rng)?));
        }
        let part = match self.turn {
            Some(_) if self.service.is_some() => return self.next_served(rng),
            Some(_) => self.take_turn(),
            None => self.homes[slot as usize],
        };
        match self.offsets(part).next(rng) {
            Some(unit) => Some((part, unit)),
            None => self.next_elsewhere(part, slot, rng),
        }
    }

    fn take_turn(&mut self) -> u16 {
        let part = self.turn.unwrap_or(0);
        self.turn = Some(if usize::from(part) + 1 == self.count() { 0 } else { part + 1 });
        part
    }

    #[cold]
    fn next_served(&mut self, rng: &mut Rng) -> Option<(u16, u64)> {
        loop {
            let part = self.service.as_mut()?.next(rng)?;
            let unit = self.offsets(part).next(rng);
            let service = self.service.as_mut()?;
            match unit {
                Some(unit) => {
                    service.served(1);
                    return Some((part, unit));
                }
                None => service.ended(),
            }
        }
    }

    /// The passes over `done` are over: the slot goes on with another part.
    #[cold]
    fn next_elsewhere(&mut self, done: u16, slot: u32, rng: &mut Rng) -> Option<(u16, u64)> {
        let count = self.count();
        (1..count).find_map(|step| {
            let part = ((usize::from(done) + step) % count) as u16;
            let unit = self.offsets(part).next(rng)?;
            self.homes[slot as usize] = part;
            Some((part, unit))
        })
    }

    /// Byte offset of a unit of a part.
    #[inline(always)]
    pub(crate) fn offset_of<V: Variant>(&mut self, part: u16, unit: u64) -> u64 {
        if V::MANY { self.offsets(part).offset_of(unit) } else { self.first.offset_of(unit) }
    }

    /// Full passes so far over all parts.
    pub(crate) fn passes(&self) -> u64 {
        self.others.iter().map(Offsets::passes).fold(self.first.passes(), u64::min)
    }
}

#[cfg(test)]
mod tests {
    use fathom_plan::Pattern;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::super::Closed;
    use super::*;
    use crate::offsets::Span;

    fn parts(counts: &[u64], depth: u32, passes: Option<u32>, is_open: bool) -> Parts {
        let mut offsets = counts.iter().map(|&count| {
            let span = Span { first_offset_bytes: 0, count, unit_bytes: 512 };
            Offsets::new(Pattern::Sequential, span, 1, passes).expect("no parameter to be wrong")
        });
        Parts::new(offsets.next().expect("a part"), offsets.collect(), depth, is_open)
    }

    proptest! {
        #[test]
        fn passes_touch_every_block_of_every_part(
            counts in proptest::collection::vec(1_u64..40, 1..7), depth in 1_u32..20, is_open in proptest::bool::ANY,
        ) {
            let mut parts = parts(&counts, depth, Some(2), is_open);
            let mut rng = Rng::new(1, 0);
            let mut seen: Vec<Vec<u32>> = counts.iter().map(|&count| vec![0; count as usize]).collect();
            let mut slot = 0;
            while let Some((part, unit)) = parts.next::<Closed>(slot, &mut rng) {
                seen[usize::from(part)][unit as usize] += 1;
                slot = (slot + 1) % depth;
            }
            prop_assert!(seen.iter().flatten().all(|times| *times == 2));
            prop_assert_eq!(parts.passes(), 2);
        }

        #[test]
        fn parts_get_equal_shares_of_the_depth(count in 1_usize..9, depth in 1_u32..40) {
            let mut parts = parts(&vec![1_000; count], depth, None, false);
            let mut rng = Rng::new(1, 0);
            let mut in_flight = vec![0_u32; count];
            for slot in 0..depth {
                let (part, _) = parts.next::<Closed>(slot, &mut rng).expect("endless");
                in_flight[usize::from(part)] += 1;
            }
            let (least, most) = (in_flight.iter().min().unwrap(), in_flight.iter().max().unwrap());
            prop_assert!(most - least <= 1);
        }
    }

    #[test]
    fn slots_keep_their_target_where_the_depth_divides() {
        let mut parts = parts(&[100, 100], 4, None, false);
        let mut rng = Rng::new(1, 0);
        // Slot 0 comes back again and again, because the other target is slow: it stays with its own.
        let of_first: Vec<u16> = (0..10).map(|_| parts.next::<Closed>(0, &mut rng).expect("endless").0).collect();
        assert_eq!(of_first, [0; 10]);
        assert_eq!(parts.next::<Closed>(2, &mut rng).expect("endless").0, 1);
    }
}
