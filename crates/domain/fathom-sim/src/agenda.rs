//! What happens next: events in the order of (time, sequence), so that ties are first in, first out and the order is
//! total. Two structures with the same order; [`Heap`] is the one in use, chosen by measurement.

/// A queue of events.
pub(crate) trait Agenda {
    /// Plans event `slot` for `time_ps`.
    fn push(&mut self, time_ps: u64, slot: u32);
    /// Takes the earliest event.
    fn pop(&mut self) -> Option<(u64, u32)>;
    /// Undoes the last `pop`, after which nothing was pushed: the event keeps its place among equals.
    fn put_back(&mut self);
}

/// Slots are numbers of 24 bits; 40 bits of sequence last for 10^12 events.
pub(crate) const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// Children of a node: four keys of 16 bytes are one cache line.
const ARITY: usize = 4;

/// Implicit 4-ary heap of 16-byte keys. A popped root stays open until the next push fills it: most events plan one
/// successor, and then one sift does for both.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    keys: Vec<u128>,
    sequence: u64,
    root_is_open: bool,
}

fn key(time_ps: u64, sequence: u64, slot: u32) -> u128 {
    (u128::from(time_ps) << 64) | u128::from((sequence << SLOT_BITS) | u64::from(slot))
}

fn time_and_slot(key: u128) -> (u64, u32) {
    ((key >> 64) as u64, (key as u64 & SLOT_MASK) as u32)
}

impl Heap {
    /// An empty agenda with room for `capacity` events.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Heap { keys: Vec::with_capacity(capacity), sequence: 0, root_is_open: false }
    }

    #[inline]
    fn sift_down_from_root(&mut self, moved: u128) {
        let len = self.keys.len();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            if first >= len {
                break;
            }
            let children = &self.keys[first..len.min(first + ARITY)];
            let mut least = children[0];
            let mut at = 0;
            for (i, &child) in children.iter().enumerate().skip(1) {
                if child < least {
                    least = child;
                    at = i;
                }
            }
            if moved <= least {
                break;
            }
            self.keys[hole] = least;
            hole = first + at;
        }
        self.keys[hole] = moved;
    }

    #[inline]
    fn sift_up_from_end(&mut self, moved: u128) {
        let mut hole = self.keys.len();
        self.keys.push(moved);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.keys[parent] <= moved {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = moved;
    }

    #[inline]
    fn close_root(&mut self) {
        if self.root_is_open {
            self.root_is_open = false;
            let last = self.keys.pop().expect("an open root is a key");
            if !self.keys.is_empty() {
                self.sift_down_from_root(last);
            }
        }
    }
}

impl Agenda for Heap {
    #[inline]
    fn push(&mut self, time_ps: u64, slot: u32) {
        let new = key(time_ps, self.sequence, slot);
        self.sequence += 1;
        if self.root_is_open {
            self.root_is_open = false;
            self.sift_down_from_root(new);
        } else {
            self.sift_up_from_end(new);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, u32)> {
        self.close_root();
        let first = *self.keys.first()?;
        self.root_is_open = true;
        Some(time_and_slot(first))
    }

    fn put_back(&mut self) {
        self.root_is_open = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Slow and obviously right.
    #[derive(Default)]
    struct Sorted(BTreeSet<(u64, u64, u32)>, u64, Option<(u64, u64, u32)>);

    impl Agenda for Sorted {
        fn push(&mut self, time_ps: u64, slot: u32) {
            self.0.insert((time_ps, self.1, slot));
            self.1 += 1;
        }

        fn pop(&mut self) -> Option<(u64, u32)> {
            self.2 = self.0.pop_first();
            self.2.map(|(time, _, slot)| (time, slot))
        }

        fn put_back(&mut self) {
            self.0.extend(self.2);
        }
    }

    /// Plans `gaps[0]` events, then replaces each popped one by 0, 1 or 2 later ones, until nothing is left.
    fn order(agenda: &mut dyn Agenda, gaps: &[(u64, u8)]) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        for (i, (gap, _)) in gaps.iter().take(20).enumerate() {
            agenda.push(*gap, i as u32);
        }
        let mut rest = gaps.iter().skip(20);
        while let Some(first) = agenda.pop() {
            agenda.put_back();
            let (time, slot) = agenda.pop().expect("it was put back");
            assert_eq!((time, slot), first);
            out.push((time, slot));
            if let Some((gap, successors)) = rest.next() {
                for s in 0..successors % 3 {
                    agenda.push(time + gap, (slot * 2 + u32::from(s)) & 0xFFFF);
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sorted_set(
            gaps in prop::collection::vec((prop_oneof![0_u64..4, 0_u64..3_000_000, Just(0_u64)], any::<u8>()), 1..300)
        ) {
            let expected = order(&mut Sorted::default(), &gaps);
            prop_assert_eq!(order(&mut Heap::default(), &gaps), expected);
        }
    }
}
