//! A kernel made of a thread that writes into the buffers late. Run these under Miri too, which sees every access to memory
//! that is no more:
//! `make miri`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use fathom_record::FeatureUse;

use super::*;
use crate::backend::SubmitStamp;

const SLOT_BYTES: usize = 4096;

/// A buffer that the kernel of a test writes to.
struct Address(*mut u8);

// SAFETY: nobody else looks at the buffer before the kernel is done with it.
unsafe impl Send for Address {}

/// What the kernel did.
#[derive(Default)]
struct Kernel {
    may_finish: AtomicBool,
    done: AtomicU32,
    started: AtomicU32,
    closed: AtomicBool,
}

struct Late {
    kernel: Arc<Kernel>,
    staged: Vec<Io>,
    /// Slots whose completion was not reaped.
    in_flight: u32,
    reaped: u32,
    poll_fails: bool,
}

impl Late {
    fn new(kernel: &Arc<Kernel>) -> Late {
        let kernel = kernel.clone();
        Late { kernel, staged: Vec::new(), in_flight: 0, reaped: 0, poll_fails: false }
    }
}

impl Backend for Late {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Always;

    fn push(&mut self, io: &Io) {
        self.staged.push(*io);
    }

    fn push_sync(&mut self, _slot: u32, _part: u16, _kind: fathom_plan::SyncKind) {
        unreachable!("these tests read and write");
    }

    fn submit(&mut self) -> io::Result<()> {
        for io in self.staged.drain(..) {
            self.in_flight += 1;
            let (kernel, at) = (self.kernel.clone(), Address(io.buffer));
            kernel.started.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let at = at;
                while !kernel.may_finish.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                // SAFETY: what the test is about: the buffer must be there, however late this is.
                unsafe { at.0.write_bytes(0xAB, SLOT_BYTES) };
                kernel.done.fetch_add(1, Ordering::SeqCst);
            });
        }
        Ok(())
    }

    fn submit_and_wait(&mut self, _min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()
    }

    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        while self.reaped < self.kernel.done.load(Ordering::SeqCst) {
            self.reaped += 1;
            self.in_flight -= 1;
            done(0, SLOT_BYTES as i32);
        }
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn discard(&mut self) {
        self.staged.clear();
    }

    fn poll(&mut self) -> io::Result<()> {
        if self.poll_fails { Err(io::Error::from_raw_os_error(crate::faults::FAILURE)) } else { Ok(()) }
    }

    fn submit_calls(&self) -> u64 {
        0
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        // As with a ring: what is in flight goes on.
        self.kernel.closed.store(true, Ordering::SeqCst);
    }
}

fn rig_with(kernel: &Arc<Kernel>, started: u32) -> Rig<Late> {
    let area = Area::new(4, SLOT_BYTES).expect("memory");
    let mut rig = Rig::new(area, |_| Ok::<_, io::Error>(Late::new(kernel))).expect("no error");
    for slot in 0..started {
        let buffer = rig.area.slot(slot);
        rig.backend.push(&Io { slot, part: 0, op: Op::Read, len: SLOT_BYTES as u32, offset: 0, buffer });
    }
    rig.backend.submit().expect("a thread");
    rig
}

/// Lets the kernel finish after some time.
fn finish_after(kernel: &Arc<Kernel>, time: Duration) -> JoinHandle<()> {
    let kernel = kernel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        kernel.may_finish.store(true, Ordering::SeqCst);
    })
}

fn wait_until_done(kernel: &Kernel, count: u32) {
    while kernel.done.load(Ordering::SeqCst) < count {
        std::thread::yield_now();
    }
}

#[test]
fn the_end_of_a_rig_waits_for_what_is_in_flight() {
    let kernel = Arc::new(Kernel::default());
    let rig = rig_with(&kernel, 3);
    let finisher = finish_after(&kernel, Duration::from_millis(20));
    drop(rig);
    assert_eq!(kernel.done.load(Ordering::SeqCst), 3, "the memory went before the I/O came back");
    assert!(kernel.closed.load(Ordering::SeqCst), "everything came back: nothing is kept");
    finisher.join().expect("no panic");
}

#[test]
fn buffers_of_io_that_does_not_come_back_are_never_freed() {
    let kernel = Arc::new(Kernel::default());
    let rig = rig_with(&kernel, 2);
    let at = Address(rig.area.slot(1));
    drop(rig);
    assert!(!kernel.closed.load(Ordering::SeqCst), "ring and descriptor stay as well");
    kernel.may_finish.store(true, Ordering::SeqCst);
    wait_until_done(&kernel, 2);
    // SAFETY: the memory was leaked, and the kernel is done with it.
    let last = unsafe { at.0.add(SLOT_BYTES - 1).read() };
    assert_eq!(last, 0xAB);
}

#[test]
fn buffers_of_an_engine_that_fails_while_io_is_in_flight_are_never_freed() {
    let kernel = Arc::new(Kernel::default());
    let mut rig = rig_with(&kernel, 1);
    rig.backend.poll_fails = true;
    drop(rig);
    assert!(!kernel.closed.load(Ordering::SeqCst));
    kernel.may_finish.store(true, Ordering::SeqCst);
    wait_until_done(&kernel, 1);
}

#[test]
fn a_panic_between_submission_and_reaping_keeps_the_buffers_too() {
    let kernel = Arc::new(Kernel::default());
    let theirs = kernel.clone();
    let panicked = std::thread::spawn(move || {
        let _rig = rig_with(&theirs, 2);
        let _finisher = finish_after(&theirs, Duration::from_millis(20));
        panic!("injected: between submission and reaping");
    })
    .join();
    assert!(panicked.is_err());
    wait_until_done(&kernel, 2);
}

#[test]
fn what_was_pushed_and_not_submitted_never_starts() {
    let kernel = Arc::new(Kernel::default());
    let mut rig = rig_with(&kernel, 1);
    let buffer = rig.area.slot(1);
    rig.backend.push(&Io { slot: 1, part: 0, op: Op::Write, len: 512, offset: 0, buffer });
    kernel.may_finish.store(true, Ordering::SeqCst);
    drop(rig);
    assert_eq!(kernel.started.load(Ordering::SeqCst), 1);
}

#[test]
fn a_read_that_gets_no_answer_is_given_up_when_asked() {
    let kernel = Arc::new(Kernel::default());
    let mut rig = rig_with(&kernel, 0);
    let begun = Instant::now();
    let gives_up = || begun.elapsed() > Duration::from_millis(30);
    assert_eq!(rig.read_alone((0, 0), 4096, &gives_up).expect("no error"), None);
    kernel.may_finish.store(true, Ordering::SeqCst);
    drop(rig);
    assert_eq!(kernel.done.load(Ordering::SeqCst), 1);
}
