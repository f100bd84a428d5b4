//! MPI as what carries the messages of ranks.
#![allow(unsafe_code)] // What MPI reads must outlive the call that hands it over.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;

use fathom::Link;
use mpi::Rank;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination as _, MatchedReceiveVec as _, Source as _};

/// The ranks of a communicator.
pub(crate) struct MpiLink {
    world: SimpleCommunicator,
    /// What was handed to MPI and may still be read by it, oldest first.
    sent: RefCell<VecDeque<Sent>>,
}

/// A message on its way: MPI reads it until the request is complete.
struct Sent {
    request: Request<'static, [u8], StaticScope>,
    bytes: *mut [u8],
}

impl MpiLink {
    pub(crate) fn new(world: SimpleCommunicator) -> MpiLink {
        MpiLink { world, sent: RefCell::default() }
    }

    /// Frees the messages that are out. One to a rank that is gone stays for as long as this process lives.
    fn reap(&self) {
        let mut sent = self.sent.borrow_mut();
        for _ in 0..sent.len() {
            let Some(Sent { request, bytes }) = sent.pop_front() else { return };
            match request.test() {
                // SAFETY: `bytes` came from `Box::into_raw` in `send`, is freed here alone, and MPI, the only one that had
                // a reference to it, is done with it: the request is complete.
                Ok(_) => drop(unsafe { Box::from_raw(bytes) }),
                Err(request) => sent.push_back(Sent { request, bytes }),
            }
        }
    }
}

impl Drop for MpiLink {
    fn drop(&mut self) {
        // A request that is dropped before it is complete ends the program: MPI still reads the message.
        for Sent { request, .. } in self.sent.get_mut().drain(..) {
            std::mem::forget(request);
        }
    }
}

impl Link for MpiLink {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        self.reap();
        let Ok(to) = Rank::try_from(to) else { return };
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: the allocation lives until `reap` frees it, which it does once the request is complete, and nobody
        // writes to it.
        let message: &'static [u8] = unsafe { &*bytes };
        let request = self.world.process_at_rank(to).immediate_send(StaticScope, message);
        self.sent.borrow_mut().push_back(Sent { request, bytes });
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.reap();
        let (bytes, status) = self.world.any_process().immediate_matched_probe()?.matched_receive_vec();
        Some((status.source_rank().unsigned_abs(), bytes))
    }
}

impl fmt::Debug for MpiLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiLink({} of {})", self.world.rank(), self.world.size())
    }
}
