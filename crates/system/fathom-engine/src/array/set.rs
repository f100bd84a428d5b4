//! An array as one thread has it: what is left of it, and what was done to its members.

use fathom_host::FailedMembers;
use fathom_plan::TargetId;
use fathom_raid::{Layout, MemberSet, Method};
use fathom_record::{ArrayMember, ArrayRecord, RebuildFailure};

use super::beside::Rebuilding;
use crate::backend::array::{MemberIo, Work};

/// An array as one thread has it: which members are left, and what was done to them.
#[derive(Debug)]
pub(crate) struct Set {
    layout: Layout,
    /// `[member]`: its part of the backend below.
    parts: Vec<Option<u16>>,
    names: Vec<Option<TargetId>>,
    lost: MemberSet,
    failed: FailedMembers,
    rebuild: Option<Rebuilding>,
    /// `[member]`: reads under way, where copies are chosen by them.
    pub(crate) pending: Vec<u32>,
    pub(crate) counts: Counts,
}

impl Set {
    pub(crate) fn new(
        id: &TargetId,
        layout: Layout,
        parts: Vec<Option<u16>>,
        names: Vec<Option<TargetId>>,
        lost: MemberSet,
        failed: FailedMembers,
        rebuild: Option<Rebuilding>,
    ) -> Set {
        let members = names.iter().map(|name| ArrayMember { target: name.clone(), ..ArrayMember::default() }).collect();
        let counts = Counts(ArrayRecord {
            target: id.clone(),
            reads: 0,
            writes: 0,
            degraded_reads: 0,
            member_reads_for_writes: 0,
            full_stripe_writes: 0,
            reconstruct_writes: 0,
            modify_writes: 0,
            recover_writes: 0,
            load_bytes: 0,
            rebuild: None,
            members,
        });
        Set { layout, pending: vec![0; parts.len()], parts, names, lost, failed, rebuild, counts }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Members that are lost in all rows.
    pub(crate) fn lost(&self) -> MemberSet {
        self.lost
    }

    /// Members that a row cannot be read from, for whom holds no range of it.
    #[inline]
    pub(crate) fn lost_at(&self, row: u64) -> MemberSet {
        match &self.rebuild {
            None => self.lost,
            Some(rebuild) => rebuild.lost_at(row, self.lost),
        }
    }

    /// The same for whom holds a range of the row.
    #[inline]
    pub(crate) fn lost_held(&self, row: u64) -> MemberSet {
        match &self.rebuild {
            None => self.lost,
            Some(rebuild) => rebuild.lost_held(row, self.lost),
        }
    }

    /// The rebuild of a member beside the load, as far as it is that of this thread.
    #[inline]
    pub(crate) fn rebuild(&mut self) -> Option<&mut Rebuilding> {
        self.rebuild.as_mut()
    }

    /// The same, to look at.
    pub(crate) fn rebuild_view(&self) -> Option<&Rebuilding> {
        self.rebuild.as_ref()
    }

    /// Past the last byte that is used of a member, where one is rebuilt.
    pub(crate) fn end_of_members(&self) -> u64 {
        self.rebuild.as_ref().map_or(u64::MAX, Rebuilding::member_bytes)
    }

    /// Whether the member is the one that is rebuilt: nothing is lost with it.
    pub(crate) fn is_rebuilt(&self, member: u32) -> bool {
        self.rebuild.as_ref().is_some_and(|rebuild| rebuild.member() == member)
    }

    /// The part of the backend below that a member is.
    #[inline]
    pub(crate) fn part_of(&self, member: u32) -> u16 {
        self.parts[member as usize].unwrap_or_else(|| unreachable!("nothing is sent to a member that is missing"))
    }

    pub(crate) fn members_left(&self) -> Vec<u32> {
        (0..self.layout.members()).filter(|member| !self.lost.has(*member)).collect()
    }

    /// A member failed: goes on without it, if the level can. False: it cannot, and the failure is the load's.
    #[cold]
    pub(crate) fn lose(&mut self, member: u32, errno: i32, now_ns: u64) -> bool {
        if self.lost.has(member) {
            return true;
        }
        let lost = self.lost.with(member);
        let with_unfinished = self.rebuild.as_ref().map_or(lost, |rebuild| rebuild.with_unfinished(lost));
        if !self.layout.survives(with_unfinished) {
            return false;
        }
        self.lost = lost;
        if let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| rebuild.member() == member) {
            rebuild.fail(RebuildFailure { member, errno }, now_ns);
        }
        self.counts.0.members[member as usize].failed_errno = Some(errno);
        if let Some(name) = &self.names[member as usize] {
            self.failed.note(name);
        }
        true
    }

    /// Takes over what other threads lost.
    pub(crate) fn refresh(&mut self) {
        let is_failed = |at: u32| self.names[at as usize].as_ref().is_some_and(|name| self.failed.has(name));
        let lost = (0..self.layout.members()).filter(|at| is_failed(*at)).fold(self.lost, MemberSet::with);
        let with_unfinished = self.rebuild.as_ref().map_or(lost, |rebuild| rebuild.with_unfinished(lost));
        if self.layout.survives(with_unfinished) {
            self.lost = lost;
        }
    }

    pub(crate) fn record(&self, now_ns: u64) -> ArrayRecord {
        let rebuild = self.rebuild.as_ref().map(|rebuild| rebuild.record(now_ns));
        ArrayRecord { rebuild, ..self.counts.0.clone() }
    }

    /// Counts a member I/O.
    #[inline]
    pub(crate) fn count(&mut self, io: &MemberIo) {
        self.counts.add(io);
        if io.for_rebuild
            && let Some(rebuild) = &mut self.rebuild
        {
            rebuild.count(io.work == Work::Write, io.len.into());
        }
    }
}

/// What is counted of an array.
#[derive(Debug)]
pub(crate) struct Counts(ArrayRecord);

impl std::ops::Deref for Counts {
    type Target = ArrayRecord;

    fn deref(&self) -> &ArrayRecord {
        &self.0
    }
}

impl std::ops::DerefMut for Counts {
    fn deref_mut(&mut self) -> &mut ArrayRecord {
        &mut self.0
    }
}

impl Counts {
    /// Counts a member I/O.
    #[inline]
    fn add(&mut self, io: &MemberIo) {
        let member = &mut self.0.members[io.member as usize];
        match io.work {
            Work::Read => {
                member.reads += 1;
                member.read_bytes += u64::from(io.len);
                self.0.member_reads_for_writes += u64::from(io.for_write);
            }
            Work::Write => {
                member.writes += 1;
                member.written_bytes += u64::from(io.len);
            }
            Work::Sync(_) => {}
        }
    }

    /// Counts how a part of a write is done.
    #[inline]
    pub(crate) fn count_method(&mut self, method: Method) {
        *match method {
            Method::FullStripe => &mut self.0.full_stripe_writes,
            Method::Reconstruct => &mut self.0.reconstruct_writes,
            Method::Modify => &mut self.0.modify_writes,
            Method::Recover => &mut self.0.recover_writes,
        } += 1;
    }
}
