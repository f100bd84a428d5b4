//! What an array in user space did on its members.

use fathom_plan::TargetId;
use serde::{Deserialize, Serialize};

/// What one array in user space did during a step, from its first I/O to its last: with what came before the measured
/// window and after it, so that the I/Os of the load and those on members are of the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ArrayRecord {
    /// The array, as the step names it.
    pub target: TargetId,
    /// Reads of the load.
    pub reads: u64,
    /// Writes of the load.
    pub writes: u64,
    /// Parts of reads that a lost member would have served.
    pub degraded_reads: u64,
    /// Member reads that writes of the load cost.
    pub member_reads_for_writes: u64,
    /// Parts of writes, one in each row of chunks, whose parity came from new data alone.
    pub full_stripe_writes: u64,
    /// Those that read the data of the row that they left as it was.
    pub reconstruct_writes: u64,
    /// Those that read the old data and the old parity.
    pub modify_writes: u64,
    /// Those that read all that was left of the row.
    pub recover_writes: u64,
    /// The members in their order.
    pub members: Vec<ArrayMember>,
    /// What Linux md rebuilt of a member meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildRecord>,
}

/// A member that Linux md rebuilt while a step ran, from before its first I/O to after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RebuildRecord {
    /// Bytes a second that were asked for; `None`: as many as can be.
    pub asked_bytes_per_s: Option<u64>,
    /// Bytes of the member that were done.
    pub done_bytes: u64,
    /// Bytes of the member that are in the array.
    pub member_bytes: u64,
    /// How long it took: of one that ended before the step, until it was seen to have.
    pub took_ns: u64,
}

impl RebuildRecord {
    /// Bytes of the member a second.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.done_bytes as f64 * 1e9 / self.took_ns.max(1) as f64
    }

    /// Seconds until the whole member is rebuilt at this speed; `None`: nothing was done.
    #[must_use]
    pub fn whole_s(&self) -> Option<f64> {
        (self.done_bytes > 0).then(|| self.member_bytes as f64 / self.bytes_per_s())
    }
}

/// One member of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ArrayMember {
    /// Its name; `None` for one that is missing.
    pub target: Option<TargetId>,
    /// I/Os.
    pub reads: u64,
    /// I/Os.
    pub writes: u64,
    /// Bytes.
    pub read_bytes: u64,
    /// Bytes.
    pub written_bytes: u64,
    /// errno of the failure by which the array lost it during the run; what it holds is out of date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_errno: Option<i32>,
}

impl ArrayRecord {
    /// Member reads.
    #[must_use]
    pub fn member_reads(&self) -> u64 {
        self.members.iter().map(|m| m.reads).sum()
    }

    /// Member writes.
    #[must_use]
    pub fn member_writes(&self) -> u64 {
        self.members.iter().map(|m| m.writes).sum()
    }

    /// Member reads and member writes per write of the load; `None` without one.
    #[must_use]
    pub fn write_cost(&self) -> Option<(f64, f64)> {
        let per = |count: u64| count as f64 / self.writes as f64;
        (self.writes > 0).then(|| (per(self.member_reads_for_writes), per(self.member_writes())))
    }

    /// Whether a member was lost, missing, or not whole yet.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.rebuild.is_some() || self.members.iter().any(|m| m.target.is_none() || m.failed_errno.is_some())
    }

    /// Adds what another thread did on the same array.
    pub fn add(&mut self, other: &ArrayRecord) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.degraded_reads += other.degraded_reads;
        self.member_reads_for_writes += other.member_reads_for_writes;
        self.full_stripe_writes += other.full_stripe_writes;
        self.reconstruct_writes += other.reconstruct_writes;
        self.modify_writes += other.modify_writes;
        self.recover_writes += other.recover_writes;
        for (member, more) in self.members.iter_mut().zip(&other.members) {
            member.reads += more.reads;
            member.writes += more.writes;
            member.read_bytes += more.read_bytes;
            member.written_bytes += more.written_bytes;
            member.failed_errno = member.failed_errno.or(more.failed_errno);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(writes: u64, member_writes: u64, failed_errno: Option<i32>) -> ArrayRecord {
        let member = |name: &str| ArrayMember {
            target: Some(name.into()),
            writes: member_writes,
            written_bytes: member_writes * 4096,
            failed_errno,
            ..ArrayMember::default()
        };
        ArrayRecord {
            target: "raid10:64k:/a,/b".into(),
            reads: 1,
            writes,
            degraded_reads: 0,
            member_reads_for_writes: 3 * writes,
            full_stripe_writes: 0,
            reconstruct_writes: 0,
            modify_writes: 0,
            recover_writes: 0,
            rebuild: None,
            members: vec![member("/a"), member("/b")],
        }
    }

    #[test]
    fn what_threads_did_adds_up() {
        let mut sum = record(10, 10, None);
        assert!(!sum.is_degraded());
        assert_eq!(sum.write_cost(), Some((3.0, 2.0)));
        sum.add(&record(30, 30, Some(5)));
        assert_eq!((sum.reads, sum.writes, sum.member_writes()), (2, 40, 80));
        assert_eq!(sum.write_cost(), Some((3.0, 2.0)));
        assert!(sum.is_degraded());
        assert_eq!(record(0, 0, None).write_cost(), None);
    }
}
