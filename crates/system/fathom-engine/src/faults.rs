//! Workers that go wrong, for tests of who watches them.

use std::io;

use fathom_record::{FeatureName, FeatureUse, StepFailure};

use crate::backend::null::Null;
use crate::backend::{Backend, Io, SubmitStamp, Unready, no_detail};
use crate::rig::Rig;
use crate::worker::{Lines, WorkerPlan, run_on, set_up};

/// Number of an error that the system has.
pub(crate) const FAILURE: i32 = 9;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A panic before it is ready.
    PanicEarly,
    /// It waits for a device that never answers, and looks whether the step is stopped.
    NoAnswer,
    /// It never gets ready and looks at nothing.
    HangEarly,
    /// A panic, a hang, an endless loop, or an error of the engine after so many I/Os.
    Panic {
        after: u64,
    },
    Hang {
        after: u64,
    },
    Spin {
        after: u64,
    },
    Error {
        after: u64,
    },
    /// Other features than those of the other threads.
    OtherFeatures,
    /// Trims that take a while, and a panic if a block is written before its trim is over.
    LateTrims,
}

/// The plans with the fault in one of them.
pub(crate) fn placed(mut plans: Vec<WorkerPlan>, fault: Option<(usize, Fault)>) -> Vec<WorkerPlan> {
    if let Some((worker, fault)) = fault {
        plans[worker].fault = Some(fault);
    }
    plans
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// The body of a worker on the engine `null`, until the fault.
pub(crate) fn prepare_and_run(plan: &WorkerPlan, lines: Lines, fault: Fault) -> Result<(), Unready> {
    let shared = lines.shared.clone();
    match fault {
        Fault::PanicEarly => panic!("injected: not ready"),
        Fault::HangEarly => hang(),
        Fault::NoAnswer => {
            while !shared.is_stopped() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            return Err(Unready::Stopped);
        }
        _ => {}
    }
    let (hot, area) = set_up(plan, lines)?;
    let null = Null::new(plan.limits.queue_depth);
    run_on(plan, hot, Rig::new(area, |_| Ok::<_, StepFailure>(Faulty { null, fault, pushed: 0, trims: Vec::new() }))?)
}

/// The engine `null` until the fault.
struct Faulty {
    null: Null,
    fault: Fault,
    pushed: u64,
    /// Trims that are not over, each with the looks that it still takes.
    trims: Vec<(Io, u32)>,
}

/// Looks for completions until a late trim is over.
const LATE_LOOKS: u32 = 5;

impl Backend for Faulty {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    fn push(&mut self, io: &Io) {
        self.pushed += 1;
        let is_trimmed = self.trims.iter().any(|(trim, _)| trim.offset == io.offset);
        assert!(!is_trimmed, "block {} is written while its trim is in flight", io.offset);
        self.null.push(io);
    }

    fn takes_trims(&self, _part: u16) -> bool {
        self.fault == Fault::LateTrims
    }

    fn push_trim(&mut self, io: &Io) {
        self.trims.push((*io, LATE_LOOKS));
    }

    fn push_sync(&mut self, slot: u32, part: u16, kind: fathom_plan::SyncKind) {
        self.null.push_sync(slot, part, kind);
    }

    fn submit(&mut self) -> io::Result<()> {
        match self.fault {
            Fault::Panic { after } if self.pushed > after => panic!("injected: panic"),
            Fault::Hang { after } if self.pushed > after => hang(),
            Fault::Spin { after } if self.pushed > after => loop {
                std::hint::spin_loop();
            },
            Fault::Error { after } if self.pushed > after => Err(io::Error::from_raw_os_error(FAILURE)),
            _ => self.null.submit(),
        }
    }

    fn submit_and_wait(&mut self, _min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()
    }

    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        self.trims.iter_mut().for_each(|(_, looks)| *looks -= 1);
        for (trim, _) in self.trims.extract_if(.., |(_, looks)| *looks == 0) {
            done(trim.slot, trim.len as i32);
        }
        self.null.reap(done);
    }

    fn in_flight(&self) -> u32 {
        self.null.in_flight() + self.trims.len() as u32
    }

    fn discard(&mut self) {
        self.null.discard();
    }

    fn poll(&mut self) -> io::Result<()> {
        self.null.poll()
    }

    fn submit_calls(&self) -> u64 {
        self.null.submit_calls()
    }

    fn features(&self) -> Vec<FeatureUse> {
        match self.fault {
            Fault::OtherFeatures => vec![FeatureUse::used(FeatureName::Paranoid, no_detail())],
            _ => Vec::new(),
        }
    }
}
