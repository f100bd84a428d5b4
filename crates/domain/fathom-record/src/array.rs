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
    /// Bytes that the load read of the array and wrote to it.
    #[serde(default)]
    pub load_bytes: u64,
    /// What was rebuilt of a member meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildRecord>,
}

/// A member that was rebuilt while a step ran, from before its first I/O to after its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What of the members' I/Os the rebuild was; `None` of Linux md, which does not tell it from the load's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<RebuildIos>,
    /// Why it ended before its end, if a member failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RebuildFailure>,
}

/// I/Os on members by which a member is rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RebuildIos {
    /// I/Os.
    pub reads: u64,
    /// Bytes.
    pub read_bytes: u64,
    /// I/Os.
    pub writes: u64,
    /// Bytes.
    pub written_bytes: u64,
}

/// The member by which a rebuild came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RebuildFailure {
    /// Its place.
    pub member: u32,
    /// errno.
    pub errno: i32,
}

impl RebuildRecord {
    /// Bytes of the member a second.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.done_bytes as f64 * 1e9 / self.took_ns.max(1) as f64
    }

    /// Whether all of the member is rebuilt.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.done_bytes >= self.member_bytes
    }

    /// Adds what another thread rebuilt of the same member.
    fn add(&mut self, other: &RebuildRecord) {
        self.done_bytes = self.done_bytes.saturating_add(other.done_bytes);
        self.took_ns = self.took_ns.max(other.took_ns);
        self.failure = self.failure.or(other.failure);
        if let (Some(ios), Some(more)) = (&mut self.ios, other.ios) {
            ios.reads = ios.reads.saturating_add(more.reads);
            ios.read_bytes = ios.read_bytes.saturating_add(more.read_bytes);
            ios.writes = ios.writes.saturating_add(more.writes);
            ios.written_bytes = ios.written_bytes.saturating_add(more.written_bytes);
        }
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
    /// Member reads that the load cost; of Linux md with those of a rebuild.
    #[must_use]
    pub fn member_reads(&self) -> u64 {
        self.members.iter().map(|m| m.reads).sum::<u64>() - self.rebuild_ios().reads
    }

    /// Member writes that the load cost; of Linux md with those of a rebuild.
    #[must_use]
    pub fn member_writes(&self) -> u64 {
        self.members.iter().map(|m| m.writes).sum::<u64>() - self.rebuild_ios().writes
    }

    /// The I/Os of a rebuild, where they are known.
    fn rebuild_ios(&self) -> RebuildIos {
        self.rebuild.and_then(|rebuild| rebuild.ios).unwrap_or_default()
    }

    /// Bytes that were written to the members, by a rebuild too, for each byte of the load; `None` without one.
    #[must_use]
    pub fn written_per_byte(&self) -> Option<f64> {
        let written: u64 = self.members.iter().map(|m| m.written_bytes).sum();
        (self.load_bytes > 0).then(|| written as f64 / self.load_bytes as f64)
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
        self.reads = self.reads.saturating_add(other.reads);
        self.writes = self.writes.saturating_add(other.writes);
        self.degraded_reads = self.degraded_reads.saturating_add(other.degraded_reads);
        self.member_reads_for_writes = self.member_reads_for_writes.saturating_add(other.member_reads_for_writes);
        self.full_stripe_writes = self.full_stripe_writes.saturating_add(other.full_stripe_writes);
        self.reconstruct_writes = self.reconstruct_writes.saturating_add(other.reconstruct_writes);
        self.modify_writes = self.modify_writes.saturating_add(other.modify_writes);
        self.recover_writes = self.recover_writes.saturating_add(other.recover_writes);
        self.load_bytes = self.load_bytes.saturating_add(other.load_bytes);
        if let (Some(rebuild), Some(more)) = (&mut self.rebuild, &other.rebuild) {
            rebuild.add(more);
        }
        for (member, more) in self.members.iter_mut().zip(&other.members) {
            member.reads = member.reads.saturating_add(more.reads);
            member.writes = member.writes.saturating_add(more.writes);
            member.read_bytes = member.read_bytes.saturating_add(more.read_bytes);
            member.written_bytes = member.written_bytes.saturating_add(more.written_bytes);
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
            load_bytes: writes * 4096,
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
        assert_eq!((record(0, 0, None).write_cost(), record(0, 0, None).written_per_byte()), (None, None));
    }

    #[test]
    fn a_rebuild_is_no_cost_of_the_load_but_among_the_bytes_that_are_written() {
        let ios = RebuildIos { reads: 4, read_bytes: 4 << 16, writes: 4, written_bytes: 4 << 16 };
        let of_thread = RebuildRecord {
            done_bytes: 4 << 16,
            member_bytes: 8 << 16,
            took_ns: 7,
            ios: Some(ios),
            ..RebuildRecord::default()
        };
        let mut sum = record(10, 14, None);
        sum.members[0].reads = 34;
        sum.rebuild = Some(of_thread);
        let other = ArrayRecord { rebuild: Some(RebuildRecord { took_ns: 9, ..of_thread }), ..sum.clone() };
        sum.add(&other);
        let rebuild = sum.rebuild.expect("one");
        assert_eq!((rebuild.done_bytes, rebuild.took_ns, rebuild.is_whole()), (8 << 16, 9, true));
        assert_eq!((sum.member_reads(), sum.member_writes()), (68 - 8, 56 - 8));
        assert_eq!(sum.written_per_byte(), Some(56.0 / 20.0));
    }
}
