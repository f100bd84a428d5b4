//! A member that is rebuilt beside the load: which thread rebuilds which rows, and how far each of them is.
//!
//! Nothing is locked. A thread rebuilds the rows that it alone may write, and equal parts of those that no thread writes; it
//! alone tells others how far it is, and they only read that.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_raid::MemberSet;
use fathom_record::{RebuildFailure, RebuildIos, RebuildRecord};

/// No more than this much of a limited speed is made up for after a time without progress.
const ARREARS_NS_MAX: u64 = 100_000_000;

/// How far one thread is, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Below(AtomicU64);

/// The rebuild of a member, as all threads of a step see it.
#[derive(Debug)]
pub(crate) struct Beside {
    member: u32,
    /// Over all threads; `None`: as fast as can be.
    bytes_per_s: Option<u64>,
    chunk_bytes: u64,
    /// Rows in their order and the thread that rebuilds them: each row once.
    shares: Box<[(Range<u64>, u32)]>,
    /// `[thread]`: of its rows those below this are rebuilt.
    below: Box<[Below]>,
    is_stopped: AtomicBool,
}

impl Beside {
    /// The rebuild of all `rows` of `member`. Thread i may write the rows from `cuts[i]` to `cuts[i + 1]`, and none the others.
    pub(crate) fn new(member: u32, bytes_per_s: Option<u64>, chunk_bytes: u64, rows: u64, cuts: &[u64]) -> Beside {
        let threads = cuts.len() as u64 - 1;
        let (begin, end) = (cuts[0].min(rows), cuts[cuts.len() - 1].min(rows));
        let at = |range: &Range<u64>, thread: u64| range.start + (range.end - range.start) * thread / threads;
        let mut shares = Vec::new();
        for outside in [0..begin, end..rows] {
            shares.extend((0..threads).map(|t| (at(&outside, t)..at(&outside, t + 1), t as u32)));
        }
        shares.extend((0..).zip(cuts.windows(2)).map(|(t, cut)| (cut[0].min(rows)..cut[1].min(rows), t)));
        shares.retain(|(rows, _)| !rows.is_empty());
        shares.sort_by_key(|(rows, _)| rows.start);
        let below = (0..threads).map(|_| Below::default()).collect();
        let (shares, is_stopped) = (shares.into_boxed_slice(), AtomicBool::new(false));
        Beside { member, bytes_per_s, chunk_bytes, shares, below, is_stopped }
    }

    /// Whether a row is on the member.
    pub(crate) fn is_done(&self, row: u64) -> bool {
        let at = self.shares.partition_point(|(rows, _)| rows.end <= row);
        let Some((_, thread)) = self.shares.get(at) else { return false };
        row < self.below[*thread as usize].0.load(Ordering::Acquire)
    }

    /// Whether all rows are.
    pub(crate) fn is_whole(&self) -> bool {
        self.shares.iter().all(|(rows, _)| self.is_done(rows.end - 1))
    }

    fn rows_of(&self, thread: u32) -> Vec<Range<u64>> {
        self.shares.iter().filter(|(_, of)| *of == thread).map(|(rows, _)| rows.clone()).collect()
    }

    /// All rows.
    fn rows(&self) -> u64 {
        self.shares.last().map_or(0, |(rows, _)| rows.end)
    }
}

/// The part of a rebuild that one thread does, or only what it sees of it.
#[derive(Debug)]
pub(crate) struct Rebuilding {
    shared: Arc<Beside>,
    /// `None`: others rebuild.
    thread: Option<u32>,
    /// Its rows that are not begun in full, in their order.
    own: Vec<Range<u64>>,
    /// Where the rest of its rows begins: all of its rows below were asked for.
    asked: u64,
    /// All of its rows below hold their range, or held it.
    begun: u64,
    under_way: Vec<u64>,
    /// Rows that were asked for and are not on the member.
    open: u64,
    done_rows: u64,
    due_ns: u64,
    begun_ns: Option<u64>,
    ended_ns: Option<u64>,
    ios: RebuildIos,
    failure: Option<RebuildFailure>,
}

impl Rebuilding {
    /// The part of `thread`; without one, what the others do.
    pub(crate) fn new(shared: Arc<Beside>, thread: Option<u32>) -> Rebuilding {
        let own = thread.map(|thread| shared.rows_of(thread)).unwrap_or_default();
        let asked = own.first().map_or(0, |rows| rows.start);
        Rebuilding {
            shared,
            thread,
            own,
            asked,
            begun: asked,
            under_way: Vec::new(),
            open: 0,
            done_rows: 0,
            due_ns: 0,
            begun_ns: None,
            ended_ns: None,
            ios: RebuildIos::default(),
            failure: None,
        }
    }

    /// The member that is rebuilt.
    pub(crate) fn member(&self) -> u32 {
        self.shared.member
    }

    /// Bytes of each member that the array uses.
    pub(crate) fn member_bytes(&self) -> u64 {
        self.shared.rows() * self.shared.chunk_bytes
    }

    /// Whether this thread rebuilds at all.
    pub(crate) fn is_own(&self) -> bool {
        self.thread.is_some()
    }

    /// Whether there is nothing more for this thread to do.
    pub(crate) fn is_over(&self) -> bool {
        self.is_stopped() || self.own.is_empty() && self.open == 0
    }

    /// Whether a member failed without which no row can be rebuilt.
    pub(crate) fn is_stopped(&self) -> bool {
        self.shared.is_stopped.load(Ordering::Relaxed)
    }

    /// What is lost in a row to whom reads it without holding it.
    pub(crate) fn lost_at(&self, row: u64, lost: MemberSet) -> MemberSet {
        if self.shared.is_done(row) { lost } else { lost.with(self.shared.member) }
    }

    /// What is lost in a row to whom holds a range of it: a row of this thread that was begun is not under way any more.
    pub(crate) fn lost_held(&self, row: u64, lost: MemberSet) -> MemberSet {
        let at = self.shared.shares.partition_point(|(rows, _)| rows.end <= row);
        let is_own = self.shared.shares.get(at).is_some_and(|(_, of)| Some(*of) == self.thread);
        // One under way that is not held did not get there.
        if is_own && row < self.begun && !self.under_way.contains(&row) { lost } else { self.lost_at(row, lost) }
    }

    /// Whether members are lost without which what is not rebuilt yet cannot be.
    pub(crate) fn with_unfinished(&self, lost: MemberSet) -> MemberSet {
        if self.shared.is_whole() { lost } else { lost.with(self.shared.member) }
    }

    /// The next row to rebuild, if one is due at `now_ns`.
    pub(crate) fn next_row(&mut self, now_ns: u64) -> Option<u64> {
        if self.own.is_empty() || self.is_stopped() || now_ns < self.due_ns {
            return None;
        }
        self.begun_ns.get_or_insert(now_ns);
        if let Some(bytes_per_s) = self.shared.bytes_per_s {
            let own = (bytes_per_s / self.shared.below.len() as u64).max(1);
            let row_ns = u128::from(self.shared.chunk_bytes) * 1_000_000_000 / u128::from(own);
            self.due_ns = self.due_ns.max(now_ns.saturating_sub(ARREARS_NS_MAX)) + row_ns as u64;
        }
        let row = self.asked;
        self.asked += 1;
        self.open += 1;
        if self.asked >= self.own[0].end {
            self.own.remove(0);
            self.asked = self.own.first().map_or(self.asked, |rows| rows.start);
        }
        Some(row)
    }

    /// When the next row is due; `None`: there is none.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        (!self.own.is_empty() && !self.is_stopped()).then_some(self.due_ns)
    }

    /// A row holds its range from now on.
    pub(crate) fn begin(&mut self, row: u64) {
        self.begun = row + 1;
        self.under_way.push(row);
    }

    /// A row is on the member.
    pub(crate) fn end(&mut self, row: u64, now_ns: u64) {
        let Some(thread) = self.thread else { return };
        self.under_way.retain(|under_way| *under_way != row);
        self.done_rows += 1;
        self.open -= 1;
        let below = self.under_way.iter().copied().min().unwrap_or(self.begun);
        self.shared.below[thread as usize].0.store(below, Ordering::Release);
        if self.is_over() {
            self.ended_ns.get_or_insert(now_ns);
        }
    }

    /// It cannot go on, because of the member itself or of another: no thread does. Rows under way stay so for ever.
    #[cold]
    pub(crate) fn fail(&mut self, failure: RebuildFailure, now_ns: u64) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        self.failure.get_or_insert(failure);
        self.ended_ns.get_or_insert(now_ns);
    }

    /// Counts an I/O of the rebuild.
    pub(crate) fn count(&mut self, is_write: bool, bytes: u64) {
        let (ios, moved) = match is_write {
            true => (&mut self.ios.writes, &mut self.ios.written_bytes),
            false => (&mut self.ios.reads, &mut self.ios.read_bytes),
        };
        *ios += 1;
        *moved += bytes;
    }

    /// What came of this thread's part by `now_ns`.
    pub(crate) fn record(&self, now_ns: u64) -> RebuildRecord {
        let begun_ns = self.begun_ns.unwrap_or(now_ns);
        RebuildRecord {
            asked_bytes_per_s: self.shared.bytes_per_s,
            done_bytes: self.done_rows * self.shared.chunk_bytes,
            member_bytes: self.member_bytes(),
            took_ns: self.ended_ns.unwrap_or(now_ns).saturating_sub(begun_ns),
            ios: Some(self.ios),
            failure: self.failure,
        }
    }
}
