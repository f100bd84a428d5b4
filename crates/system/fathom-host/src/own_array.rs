//! Arrays of Linux md that a run makes over drives that it may write, and takes away.
//!
//! The members' claims end just before md has them and begin again right after: in between each device is held against
//! what it was when it was judged. What an array is made of stands in the journal before it is made.

use std::io;
use std::time::{Duration, Instant};

use fathom_message::{Message, Say, msg, say_error};
use fathom_plan::{ArrayTarget, TargetId};
use fathom_record::{ArrayMember, ArrayRecord, DiskDelta, RebuildRecord};

use crate::binding::{Binding, TargetKind};
use crate::disk::number_of;
use crate::guard::WriteConsent;
use crate::node::{Node, OpenError};
use crate::procfs::{DiskCounters, parse_diskstats};
use crate::root::{ProbeError, Root};
use crate::settings::{Applied, Change, Journal, MdArray, Setting, SettingError};

/// Why an array was not made or not taken away.
#[derive(Debug)]
pub enum OwnArrayError {
    /// A member that is no block device that may be written.
    Member {
        /// Its name.
        member: TargetId,
    },
    /// The kernel or the journal refused.
    Setting(SettingError),
    /// A member is another device by now, or somebody else has it.
    Open(OpenError),
    /// The array cannot be opened.
    Array {
        /// The array.
        target: TargetId,
        /// What the system answered.
        source: io::Error,
    },
}

impl Say for OwnArrayError {
    fn message(&self) -> Message {
        match self {
            OwnArrayError::Member { member } => msg!("md-array-member", member = member.as_str().to_owned()),
            OwnArrayError::Setting(error) => error.message(),
            OwnArrayError::Open(error) => error.message(),
            OwnArrayError::Array { target, source } => {
                msg!("md-array-closed", target = target.as_str().to_owned(), source = source)
            }
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            OwnArrayError::Member { .. } => Some(msg!("md-array-member-help")),
            OwnArrayError::Setting(error) => error.help(),
            OwnArrayError::Open(_) => Some(msg!("open-changed-help")),
            OwnArrayError::Array { .. } => Some(msg!("setting-see-kernel-log")),
        }
    }
}
say_error!(OwnArrayError);

/// An array that was not made.
#[derive(Debug)]
pub struct NotMade {
    /// Why.
    pub why: OwnArrayError,
    /// Its members as they were, those that could be claimed again.
    pub members: Vec<Binding>,
}

/// An array of Linux md of this process. Dropping it takes it away; an error then waits in [`Journal::failures`].
#[derive(Debug)]
pub struct OwnArray {
    root: Root,
    target: TargetId,
    spec: MdArray,
    members: Vec<Option<Binding>>,
    applied: Applied,
    /// The rebuild that was begun.
    rebuild: Option<RebuildUnderWay>,
}

/// A rebuild that was begun, and how far it was when it was last looked at.
#[derive(Clone, Copy, Debug)]
struct RebuildUnderWay {
    asked_bytes_per_s: Option<u64>,
    begun: Instant,
    seen_bytes: u64,
    took: Duration,
    is_done: bool,
}

impl OwnArray {
    /// Makes `array`, which `target` names, over what its members are; they come back from [`OwnArray::remove`].
    /// `member_bytes`: what is used of each.
    ///
    /// # Errors
    /// [`NotMade`].
    pub fn make(
        root: &Root,
        journal: &Journal,
        target: &TargetId,
        array: &ArrayTarget,
        members: Vec<Option<Binding>>,
        member_bytes: u64,
    ) -> Result<OwnArray, NotMade> {
        let numbers = match numbers_of(&members) {
            Ok(numbers) => numbers,
            Err(why) => return Err(NotMade { why, members: members.into_iter().flatten().collect() }),
        };
        let layout = array.layout();
        let spec = MdArray {
            device: MdArray::free_name(root),
            level: layout.level(),
            chunk_bytes: layout.chunk_bytes(),
            members: numbers,
            member_bytes: member_bytes / layout.chunk_bytes() * layout.chunk_bytes(),
            late: array.rebuild().map(|rebuild| rebuild.member),
        };
        let members: Vec<Option<Binding>> = members.into_iter().map(|m| m.map(Binding::parked)).collect();
        let change = Change { setting: Setting::MdArray(spec.clone()), value: MdArray::ACTIVE.to_owned() };
        let made = journal.apply(&change).map_err(OwnArrayError::Setting);
        // md has them now. Was one replaced while nobody did? Where it was, dropping what was applied undoes it.
        match made.and_then(|applied| still_the_same(root, &members).map(|()| applied)) {
            Ok(applied) => {
                Ok(OwnArray { root: root.clone(), target: target.clone(), spec, members, applied, rebuild: None })
            }
            Err(why) => {
                let back = members.into_iter().flatten().filter_map(|member| member.claimed_again().ok());
                Err(NotMade { why, members: back.collect() })
            }
        }
    }

    /// Its name in the plan.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// What I/O goes to, claimed. It must be gone before the array is removed.
    ///
    /// # Errors
    /// [`OwnArrayError`].
    pub fn binding(&self) -> Result<Binding, OwnArrayError> {
        let fail = |source| OwnArrayError::Array { target: self.target.clone(), source };
        let consent = WriteConsent::to_own_array(&self.root, &self.spec.device).map_err(OwnArrayError::Open)?;
        Binding::to_write(&self.root, self.target.clone(), consent).map_err(fail)
    }

    /// Takes it away, and gives its members back as they were.
    ///
    /// # Errors
    /// [`OwnArrayError`]; an array that stayed is in the journal.
    pub fn remove(self) -> Result<Vec<Binding>, OwnArrayError> {
        self.applied.restore().map_err(OwnArrayError::Setting)?;
        self.members.into_iter().flatten().map(|m| m.claimed_again().map_err(OwnArrayError::Open)).collect()
    }

    /// Begins to rebuild the member that is to be, if one is, at so many bytes of it a second.
    ///
    /// # Errors
    /// [`OwnArrayError::Array`].
    pub fn begin_rebuild(&mut self, bytes_per_s: Option<u64>) -> Result<(), OwnArrayError> {
        if self.spec.late.is_none() {
            return Ok(());
        }
        let fail = |source| OwnArrayError::Array { target: self.target.clone(), source };
        let begun = Instant::now();
        self.spec.rebuild(&self.root, bytes_per_s).map_err(fail)?;
        let (seen_bytes, took) = (0, Duration::ZERO);
        self.rebuild =
            Some(RebuildUnderWay { asked_bytes_per_s: bytes_per_s, begun, seen_bytes, took, is_done: false });
        Ok(())
    }

    /// Looks how far the rebuild is: often enough, and its end is known.
    pub fn look_at_rebuild(&mut self) {
        let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| !rebuild.is_done) else { return };
        rebuild.took = rebuild.begun.elapsed();
        match self.spec.rebuilt_bytes(&self.root) {
            Some(bytes) => rebuild.seen_bytes = bytes,
            // Nothing under way after something was: it is whole.
            None if rebuild.seen_bytes > 0 => (rebuild.seen_bytes, rebuild.is_done) = (self.spec.member_bytes, true),
            None => {}
        }
    }

    /// The kernel's counts of the array and its members now.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub fn counts(&self) -> Result<MdCounts, ProbeError> {
        let device_of =
            |member: &Binding| member.device().map(|d| d.partition.clone().unwrap_or_else(|| d.name.clone()));
        let members = self.members.iter().flatten().filter_map(device_of);
        let names: Vec<String> = std::iter::once(self.spec.device.clone()).chain(members).collect();
        let path = self.root.join("proc/diskstats");
        let text = std::fs::read_to_string(&path).map_err(|source| ProbeError::Read { path: path.clone(), source })?;
        let mut counters = Vec::new();
        parse_diskstats(&path, &text, &names, &mut counters)?;
        Ok(MdCounts { names, counters })
    }

    /// What the array did on its members between two readings.
    #[must_use]
    pub fn record(&self, before: &MdCounts, after: &MdCounts) -> ArrayRecord {
        let deltas: Vec<DiskDelta> =
            (0..after.names.len()).map(|at| after.counters[at].since(&before.counters[at], &after.names[at])).collect();
        let (array, members) = (&deltas[0], &deltas[1..]);
        let mut counted = members.iter();
        let members: Vec<ArrayMember> = self
            .members
            .iter()
            .map(|member| match (member, member.as_ref().and_then(|_| counted.next())) {
                (Some(member), Some(delta)) => ArrayMember {
                    target: Some(member.target().clone()),
                    reads: delta.read_ios,
                    writes: delta.write_ios,
                    read_bytes: delta.read_bytes,
                    written_bytes: delta.write_bytes,
                    failed_errno: None,
                },
                _ => ArrayMember::default(),
            })
            .collect();
        let member_reads: u64 = members.iter().map(|m| m.reads).sum();
        ArrayRecord {
            target: self.target.clone(),
            reads: array.read_ios,
            writes: array.write_ios,
            degraded_reads: 0,
            // A read of a whole array is one of a member each; md does not say which are for writes.
            member_reads_for_writes: member_reads.saturating_sub(array.read_ios),
            full_stripe_writes: 0,
            reconstruct_writes: 0,
            modify_writes: 0,
            recover_writes: 0,
            load_bytes: array.read_bytes + array.write_bytes,
            members,
            rebuild: self.rebuild.map(|rebuild| RebuildRecord {
                asked_bytes_per_s: rebuild.asked_bytes_per_s,
                done_bytes: rebuild.seen_bytes,
                member_bytes: self.spec.member_bytes,
                took_ns: rebuild.took.as_nanos() as u64,
                ios: None,
                failure: None,
            }),
        }
    }
}

/// Device numbers of the members by their places.
fn numbers_of(members: &[Option<Binding>]) -> Result<Vec<Option<String>>, OwnArrayError> {
    let number = |member: &Binding| {
        let is_fit = member.kind() == TargetKind::Block && member.consent().is_some();
        let number = member.device_number().filter(|_| is_fit).map(number_of);
        number.ok_or_else(|| OwnArrayError::Member { member: member.target().clone() })
    };
    members.iter().map(|member| member.as_ref().map(number).transpose()).collect()
}

fn still_the_same(root: &Root, members: &[Option<Binding>]) -> Result<(), OwnArrayError> {
    for member in members.iter().flatten() {
        let now = Node::at(root, member.path());
        let now = now.map_err(|source| OwnArrayError::Array { target: member.target().clone(), source })?;
        let judged = member.consent().and_then(WriteConsent::node);
        if judged.is_none_or(|judged| judged.identity() != now.identity()) {
            return Err(OwnArrayError::Member { member: member.target().clone() });
        }
    }
    Ok(())
}

/// The kernel's counts of an array and its members at one time.
#[derive(Clone, Debug)]
pub struct MdCounts {
    names: Vec<String>,
    counters: Vec<DiskCounters>,
}
