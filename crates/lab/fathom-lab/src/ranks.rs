//! A run on several processes at once, on one host or many. Rank 0 plans, stores and reports; every rank, 0 among them,
//! binds its own targets, has its own guard judge them and runs its share at a site of its own.
//!
//! Between the ranks go [`order`]s and answers over a [`Link`]: MPI in the program for it, memory in tests.

mod clocks;
mod gate;
mod gather;
mod hub;
mod member;
mod notes;
mod order;
mod packed;
mod site;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use fathom_host::{HostFacts, HostName, Root, host_name};
use fathom_message::Message;
use fathom_plan::{Plan, RanksPlan, TargetsAre};
use fathom_record::RankMachine;

use hub::Hub;
pub use member::serve;
pub(crate) use order::WrittenDrive;
pub use packed::{PackedError, Unpacker, packed_record};
pub(crate) use site::RanksSite;

/// How long a rank may say nothing within a window, unless the user says otherwise: it says something four times a second.
pub const SILENCE: Duration = Duration::from_secs(10);

/// What carries bytes between ranks. Used from one thread.
pub trait Link: Debug {
    /// Number of this process, from 0.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Hands bytes to another rank, which gets them whole and in order. Does not wait for it.
    fn send(&self, to: u32, bytes: Vec<u8>);

    /// The next bytes from any rank, with its number, if there are some already.
    fn receive(&self) -> Option<(u32, Vec<u8>)>;
}

/// The ranks as one of them sees them.
#[derive(Clone, Debug)]
pub struct Ranks {
    link: Rc<dyn Link>,
    targets_are: TargetsAre,
    version: String,
    silence: Duration,
    /// Silence allowed outside a window: [`hub::PATIENCE`], except in tests.
    patience: Duration,
    /// Which run they go on with, as every rank was told.
    goes_on: Option<String>,
    /// Rank 0's view of the others.
    hub: Rc<RefCell<Hub>>,
    /// Of another rank: whether it lost sight of rank 0.
    cut_off: Rc<Cell<bool>>,
}

impl Ranks {
    /// Those that `link` joins; `version`: of this program.
    #[must_use]
    pub fn new(link: Rc<dyn Link>, targets_are: TargetsAre, silence: Duration, version: &str) -> Ranks {
        let hub = Rc::new(RefCell::new(Hub::new(link.clone())));
        Ranks {
            link,
            targets_are,
            version: version.to_owned(),
            silence,
            patience: hub::PATIENCE,
            goes_on: None,
            hub,
            cut_off: Rc::default(),
        }
    }

    /// The same, to go on with a run: `run` as the user names it, which must be what all ranks were told.
    #[must_use]
    pub fn going_on_with(self, run: &str) -> Ranks {
        Ranks { goes_on: Some(run.to_owned()), ..self }
    }

    /// The same, with another patience outside windows.
    #[cfg(test)]
    fn with_patience(self, patience: Duration) -> Ranks {
        self.hub.borrow_mut().patience = patience;
        Ranks { patience, ..self }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.link.size()
    }

    /// Number of this process.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.link.rank()
    }

    /// The plan as these ranks run it.
    #[must_use]
    pub fn plan(&self, plan: &Plan) -> Plan {
        let ranks = RanksPlan { count: self.link.size(), targets_are: self.targets_are };
        Plan { ranks: Some(ranks), ..plan.clone() }
    }

    /// What tells whether ranks were asked for the same: a hash of the plan, or of the run that they go on with.
    fn hash_of(&self, plan: Option<&Plan>) -> u64 {
        match (&self.goes_on, plan) {
            (None, Some(plan)) => hash(&serde_json::to_string(plan).expect("a plan is plain data")),
            (goes_on, _) => hash(goes_on.as_deref().unwrap_or_default()),
        }
    }

    /// Says that this rank cannot begin; by another rank than 0.
    pub fn unable(&self, why: Message, help: Option<Message>) {
        self.link.send(
            0,
            order::frame(&order::Answer::Unable { host: this_host(), refused: order::Refused { why, help } }, &[]),
        );
    }

    /// Whether this rank, another than 0, was cut off from rank 0 while it measured.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off.get()
    }

    /// Lets the other ranks end; by rank 0, after its last run. Whether one of them is lost and cannot end by itself.
    pub fn end(&self) -> bool {
        self.hub.borrow_mut().end()
    }
}

/// What this host should have in common with others of a load; `None` where its kernel does not tell.
fn this_machine() -> Option<RankMachine> {
    let facts = HostFacts::collect(&Root::live(), &[]).ok()?;
    Some(RankMachine {
        host: this_host().name,
        cpu_model: facts.cpu_model,
        cpus: facts.topology.cpus.len() as u32,
        memory_bytes: facts.memory_bytes,
        kernel: facts.kernel,
        governor: facts.governor,
        clocksource: facts.clocksource,
    })
}

/// The host of this process.
fn this_host() -> HostName {
    host_name(&Root::live())
}

/// A number that two texts share only if they are the same (FNV-1a, 64 bits).
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
