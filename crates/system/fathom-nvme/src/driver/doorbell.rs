//! Doorbells: how a controller learns that a queue moved.

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

use super::memory::DmaMemory;
use super::registers::{Bar, DOORBELLS};

/// Doorbells in memory that the controller looks at by itself (Base 2.0, section 5.8 "Doorbell Buffer Config"): the
/// register is written only where the controller says that it sleeps.
pub(crate) struct ShadowDoorbells {
    /// The value the host would write, per doorbell.
    pub(crate) doorbells: DmaMemory,
    /// From which value on the controller wants to be told.
    pub(crate) events: DmaMemory,
}

/// One doorbell. Whoever has it is the only one that rings it.
pub(crate) struct Doorbell {
    register: NonNull<u32>,
    shadow: Option<Shadow>,
}

struct Shadow {
    doorbell: NonNull<u32>,
    event: NonNull<u32>,
    rung: u32,
}

// SAFETY: addresses of registers and of shared memory that outlive it (`Driver` holds both); accesses are volatile.
unsafe impl Send for Doorbell {}

/// Which doorbell of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Submission Queue Tail.
    Tail = 0,
    /// Completion Queue Head.
    Head = 1,
}

impl Doorbell {
    /// That of queue `number` (0: the admin queue).
    pub(crate) fn new(
        bar: Bar,
        stride_bytes: usize,
        number: u16,
        which: Which,
        shadow: Option<&ShadowDoorbells>,
    ) -> Self {
        let index = 2 * usize::from(number) + which as usize;
        let in_memory = |shadow: &ShadowDoorbells| Shadow {
            doorbell: shadow.doorbells.place(index * stride_bytes / 4),
            event: shadow.events.place(index * stride_bytes / 4),
            rung: 0,
        };
        Doorbell { register: bar.place(DOORBELLS + index * stride_bytes), shadow: shadow.map(in_memory) }
    }

    /// Whether the doorbells of queue `number` lie within the registers.
    pub(crate) fn fits(bar: Bar, stride_bytes: usize, number: u16) -> bool {
        DOORBELLS + (2 * usize::from(number) + 2) * stride_bytes <= bar.len_bytes()
    }

    #[inline(always)]
    pub(crate) fn ring(&mut self, value: u32) {
        if let Some(shadow) = &mut self.shadow {
            // SAFETY: in memory that the driver holds; volatile, since the device reads and writes it.
            let event = unsafe {
                shadow.doorbell.write_volatile(value);
                // The controller must see the value, or this thread the controller's wish, or both.
                fence(Ordering::SeqCst);
                shadow.event.read_volatile()
            };
            let rung = std::mem::replace(&mut shadow.rung, value);
            if !is_wanted(event, value, rung) {
                return;
            }
        }
        self.ring_register(value);
    }

    pub(crate) fn ring_register(&mut self, value: u32) {
        // SAFETY: a register within the mapped window (`Bar::place`).
        unsafe { self.register.write_volatile(value) };
    }
}

/// Whether `event` lies in what was passed when the doorbell went from `rung` to `value`, all modulo 2^16 (as virtio's
/// `vring_need_event`, which the specification follows).
fn is_wanted(event: u32, value: u32, rung: u32) -> bool {
    let (event, value, rung) = (event as u16, value as u16, rung as u16);
    value.wrapping_sub(event).wrapping_sub(1) < value.wrapping_sub(rung)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Counted one by one, as a host would that rings for each step.
        #[test]
        fn a_doorbell_is_wanted_when_the_event_was_passed(event: u16, rung: u16, by in 0_u16..2000) {
            let value = rung.wrapping_add(by);
            let passed = (0..by).any(|step| rung.wrapping_add(step) == event);
            prop_assert_eq!(is_wanted(event.into(), value.into(), rung.into()), passed);
        }
    }
}
