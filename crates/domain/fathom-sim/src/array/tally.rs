//! What an array counts of its load and of its members, for the record.

use fathom_raid::Method;
use fathom_record::{ArrayMember, RebuildIos};

use super::plan::{Part, RaidPlan};
use crate::load::{READ, WRITE};
use crate::machine::Array;

/// Counts from the first I/O on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) degraded_reads: u64,
    pub(crate) reads_for_writes: u64,
    /// Parts of writes by [`Method`]: full stripe, reconstruct, modify, recover.
    pub(crate) methods: [u64; 4],
    pub(crate) members: Vec<ArrayMember>,
    /// Bytes of the load, read and written.
    pub(crate) load_bytes: u64,
    /// What of the members' commands the rebuild was.
    pub(crate) rebuild: RebuildIos,
}

impl Tally {
    pub(super) fn new(spec: &Array) -> Tally {
        Tally { members: vec![ArrayMember::default(); spec.members.len()], ..Tally::default() }
    }

    /// An I/O of the load that moves so many bytes.
    pub(super) fn count(&mut self, op: u8, moved_bytes: u64) {
        self.load_bytes += moved_bytes;
        self.reads += u64::from(op == READ);
        self.writes += u64::from(op == WRITE);
    }

    /// What becomes of one.
    pub(super) fn note(&mut self, op: u8, plan: &RaidPlan) {
        self.degraded_reads += u64::from(plan.lost_reads);
        if op == WRITE {
            self.reads_for_writes += plan.first.len() as u64;
        }
        for method in &plan.methods {
            self.methods[match method {
                Method::FullStripe => 0,
                Method::Reconstruct => 1,
                Method::Modify => 2,
                Method::Recover => 3,
            }] += 1;
        }
    }

    /// A command to a member, of the load or of a rebuild.
    pub(super) fn command(&mut self, part: &Part, is_of_rebuild: bool) {
        if is_of_rebuild {
            let (reads, writes) = (u64::from(part.op == READ), u64::from(part.op == WRITE));
            self.rebuild.reads += reads;
            self.rebuild.writes += writes;
            self.rebuild.read_bytes += reads * u64::from(part.bytes);
            self.rebuild.written_bytes += writes * u64::from(part.bytes);
        }
        let member = &mut self.members[part.member];
        if part.op == READ {
            member.reads += 1;
            member.read_bytes += u64::from(part.bytes);
        } else if part.op == WRITE {
            member.writes += 1;
            member.written_bytes += u64::from(part.bytes);
        }
    }
}
