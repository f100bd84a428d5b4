//! The I/Os of a trace, read ahead of the loop by a thread of their own.
//!
//! A trace may be larger than memory, and a read of its file may wait for the very drive that is measured: so a bounded number
//! of entries lies ready.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::vec::IntoIter;

use fathom_host::open_to_read;
use fathom_message::{Message, Say as _, msg};
use fathom_plan::{Op, Replay, SyncKind};
use fathom_record::StepFailure;
use fathom_trace::{Trace, TraceEntry, TraceError, TraceOp};

use crate::backend::refused;
use crate::sequence::{Extent, Next};
use crate::system::threads::unpin;

/// Entries that are handed over at once, and how many such batches lie ready: 8192 entries, 256 KiB.
const BATCH: usize = 1024;
const BATCHES: usize = 8;

type Batch = Result<Vec<TraceEntry>, TraceError>;

/// What is left of a trace.
pub(crate) struct Replayed {
    replay: Replay,
    batches: Receiver<Batch>,
    batch: IntoIter<TraceEntry>,
    /// The entry that comes next.
    ahead: Option<TraceEntry>,
    /// Where each target may be touched.
    extents: Vec<Extent>,
    longest_bytes: u32,
    ios: u64,
    fault: Option<Message>,
}

impl Replayed {
    /// Begins to read the trace. `extents`: of the targets, in their order; `longest_bytes`: room for one I/O.
    pub(crate) fn begin(replay: &Replay, extents: Vec<Extent>, longest_bytes: u32) -> Result<Replayed, StepFailure> {
        let failed = |why: Message| refused(what(replay), why, msg!("engine-replay-help"));
        let file =
            open_to_read(Path::new(&replay.path)).map_err(|e| failed(msg!("trace-unread", error = e.to_string())))?;
        let trace = Trace::begin(BufReader::with_capacity(1 << 20, file)).map_err(|e| failed(e.message()))?;
        let (sender, batches) = sync_channel(BATCHES);
        let reader = std::thread::Builder::new().name("fathom-trace".to_owned());
        let begun = reader.spawn(move || {
            // Not on the CPU of the loop that it reads for.
            unpin();
            read_ahead(trace, &sender);
        });
        begun.map_err(|e| failed(msg!("trace-unread", error = e.to_string())))?;
        let mut replayed = Replayed {
            replay: replay.clone(),
            batches,
            batch: Vec::new().into_iter(),
            ahead: None,
            extents,
            longest_bytes,
            ios: 0,
            fault: None,
        };
        replayed.look_ahead();
        Ok(replayed)
    }

    /// The next I/O and its target; `None` at the end, and once something is wrong.
    pub(crate) fn next(&mut self) -> Option<(u16, Next)> {
        let entry = self.ahead.take()?;
        self.look_ahead();
        let part = if self.replay.is_redirected { 0 } else { entry.file as usize };
        let end = entry.offset_bytes.saturating_add(entry.len_bytes.into());
        let (op, sync) = match entry.op {
            TraceOp::Read => (Op::Read, SyncKind::Fsync),
            TraceOp::Write => (Op::Write, SyncKind::Fsync),
            TraceOp::Trim => (Op::Trim, SyncKind::Fsync),
            TraceOp::Sync => (Op::Sync, SyncKind::Fsync),
            TraceOp::DataSync => (Op::Sync, SyncKind::Fdatasync),
        };
        // The file may be another one than that which was judged: what it says is not trusted.
        let fits = self.extents.get(part).is_some_and(|e| end <= e.begin_bytes + e.len_bytes)
            && (op == Op::Trim || entry.len_bytes <= self.longest_bytes);
        self.ios += u64::from(op != Op::Sync);
        if !fits || self.ios > self.replay.ios {
            return self.end_as_changed();
        }
        Some((part as u16, Next { op, offset: entry.offset_bytes, len: entry.len_bytes, unit: 0, sync }))
    }

    /// When the next is due, nanoseconds after the first.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.ahead.map(|entry| self.replay.due_ns(entry.at_ns))
    }

    /// Whether all of it was handed out.
    pub(crate) fn is_done(&self) -> bool {
        self.ahead.is_none() && self.fault.is_none()
    }

    /// What ended it before its end.
    pub(crate) fn failure(&self) -> Option<StepFailure> {
        let why = match &self.fault {
            Some(fault) => fault.clone(),
            None if self.is_done() && self.ios < self.replay.ios => msg!("engine-replay-changed"),
            None => return None,
        };
        Some(StepFailure::Failed { what: what(&self.replay), why, help: msg!("engine-replay-help") })
    }

    fn end_as_changed(&mut self) -> Option<(u16, Next)> {
        self.fault = Some(msg!("engine-replay-changed"));
        self.ahead = None;
        None
    }

    fn look_ahead(&mut self) {
        self.ahead = self.batch.next();
        while self.ahead.is_none() {
            match self.batches.recv() {
                Ok(Ok(batch)) => {
                    self.batch = batch.into_iter();
                    self.ahead = self.batch.next();
                }
                Ok(Err(error)) => {
                    self.fault = Some(error.message());
                    return;
                }
                // The reader is at the end.
                Err(_) => return,
            }
        }
    }
}

fn what(replay: &Replay) -> Message {
    msg!("engine-replay", path = replay.path.clone())
}

/// Reads until the end, an error, or until nobody wants more.
fn read_ahead(trace: Trace<BufReader<File>>, to_loop: &SyncSender<Batch>) {
    let mut batch = Vec::with_capacity(BATCH);
    for entry in trace {
        match entry {
            Ok(entry) => batch.push(entry),
            Err(error) => {
                // What is good so far is still replayed.
                let _wanted = to_loop.send(Ok(batch)).and_then(|()| to_loop.send(Err(error)));
                return;
            }
        }
        if batch.len() == BATCH && to_loop.send(Ok(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))).is_err() {
            return;
        }
    }
    let _wanted = to_loop.send(Ok(batch));
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn replay(path: &std::path::Path, ios: u64) -> Replay {
        Replay {
            path: path.display().to_string(),
            is_timed: true,
            speed_pct: 50,
            is_redirected: false,
            ios,
            syncs: 0,
            duration_ns: 0,
        }
    }

    fn extent(len_bytes: u64) -> Extent {
        Extent { begin_bytes: 0, len_bytes, end_of_target_bytes: len_bytes }
    }

    #[test]
    fn more_entries_than_lie_ready_come_in_their_order_with_their_times() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("trace");
        let mut text = "fio version 3 iolog\n0 /a add\n0 /b add\n".to_owned();
        for i in 0..20_000_u64 {
            let _infallible = writeln!(text, "{i} /{} read {} 512", if i % 2 == 0 { 'a' } else { 'b' }, i * 512);
        }
        std::fs::write(&path, text).expect("written");
        let mut replayed =
            Replayed::begin(&replay(&path, 20_000), vec![extent(1 << 30), extent(1 << 30)], 512).expect("a trace");
        for i in 0..20_000_u64 {
            // Half the speed takes twice the time.
            assert_eq!(replayed.next_due_ns(), Some(i * 2_000));
            let (part, next) = replayed.next().expect("an entry");
            assert_eq!((part, next.offset), ((i % 2) as u16, i * 512));
        }
        assert!(replayed.next().is_none() && replayed.is_done() && replayed.failure().is_none());
    }

    #[test]
    fn a_trace_that_is_not_the_one_that_was_judged_touches_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("trace");
        let head = "fio version 3 iolog\n0 /a add\n0 /b add\n0 /a read 0 512\n";
        for line in ["1 /a write 1048576 512", "1 /b read 0 512", "1 /a read 0 1024", "1 /a peek 0 512", ""] {
            std::fs::write(&path, format!("{head}{line}\n")).expect("written");
            let mut replayed = Replayed::begin(&replay(&path, 2), vec![extent(1 << 20)], 512).expect("a trace");
            assert!(replayed.next().is_some());
            assert!(replayed.next().is_none(), "{line}");
            assert!(replayed.failure().is_some(), "{line}");
        }
    }
}
