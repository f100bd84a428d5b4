//! Writes down what a thread does, for a replay. It belongs to the loops that stamp each I/O; plain loads know nothing of it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use fathom_host::create_new_file;
use fathom_message::{Message, msg};
use fathom_plan::{Op, Phase, SyncKind};
use fathom_record::StepFailure;
use fathom_trace::{TraceEntry, TraceOp, TraceWriter, is_one_word};

use crate::backend::{os_words, refused};
use crate::clock::Clock;
use crate::system::threads::unpin;
use crate::target::target_message;
use crate::worker::WorkerPlan;

/// Entries that are handed over at once, and how many such batches may wait for the file: 65,536 entries, 2 MiB.
const BATCH: usize = 4_096;
const BATCHES: usize = 16;
const OUT_BYTES: usize = 1 << 20;

/// What a thread did, on its way to a file.
pub(crate) struct Recorder {
    path: PathBuf,
    batch: Vec<TraceEntry>,
    /// `None` once the trace is at its end.
    batches: Option<SyncSender<Vec<TraceEntry>>>,
    spare: Receiver<Vec<TraceEntry>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    begun_ns: u64,
    last_ns: u64,
    has_entries: bool,
}

impl Recorder {
    /// Makes the file for the thread of `plan`, where the step asks for a trace. Steps beside the measured ones have none.
    ///
    /// # Errors
    /// A name that a trace cannot hold, and whatever keeps a new file from being made.
    pub(crate) fn begin(plan: &WorkerPlan) -> Result<Option<Recorder>, StepFailure> {
        let asked = plan.step.role.trace_to.as_ref().filter(|_| plan.step.phase == Phase::Measure);
        let Some(path) = asked.map(|path| path_of(path, plan.index, plan.workers)) else { return Ok(None) };
        if let Some(part) = plan.parts.iter().find(|part| !is_one_word(part.target.id.as_str())) {
            let what = target_message(&part.target.id);
            return Err(refused(what, msg!("engine-trace-name"), msg!("engine-trace-name-help")));
        }
        let failed = |error: &io::Error| refused(what(&path), os_words(error), msg!("engine-trace-help"));
        let file = create_new_file(&path).map_err(|e| failed(&e))?;
        let names = plan.parts.iter().map(|part| part.target.id.as_str().to_owned()).collect();
        let (batches, full) = sync_channel(BATCHES);
        let (give_back, spare) = channel();
        let writer = std::thread::Builder::new().name("fathom-trace".to_owned());
        let writer = writer.spawn(move || {
            // Not on the CPU of the loop that it writes for.
            unpin();
            write_down(file, names, &full, &give_back)
        });
        let begun_ns = Clock::get().now();
        Ok(Some(Recorder {
            batch: Vec::with_capacity(BATCH),
            batches: Some(batches),
            spare,
            writer: Some(writer.map_err(|e| failed(&e))?),
            begun_ns,
            last_ns: begun_ns,
            has_entries: false,
            path,
        }))
    }

    /// Notes an I/O that begins now.
    pub(crate) fn note(
        &mut self,
        now_ns: u64,
        part: u16,
        op: Op,
        sync: SyncKind,
        (offset_bytes, len_bytes): (u64, u32),
    ) {
        let op = match (op, sync) {
            (Op::Read, _) => TraceOp::Read,
            (Op::Write, _) => TraceOp::Write,
            (Op::Trim, _) => TraceOp::Trim,
            (Op::Sync, SyncKind::Fsync) => TraceOp::Sync,
            (Op::Sync, SyncKind::Fdatasync) => TraceOp::DataSync,
        };
        self.last_ns = self.last_ns.max(now_ns);
        let at_ns = self.last_ns - self.begun_ns;
        self.batch.push(TraceEntry { at_ns, file: part.into(), op, offset_bytes, len_bytes });
        if self.batch.len() == BATCH {
            self.hand_over();
        }
    }

    /// Waits where the file is slower than the load: what was done is never left out.
    #[cold]
    fn hand_over(&mut self) {
        let empty = self.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        let full = std::mem::replace(&mut self.batch, empty);
        self.has_entries = true;
        // One that failed has ended; the end of the trace tells why.
        let _ = self.batches.as_ref().map(|batches| batches.send(full));
    }

    /// Writes the rest; the file is whole then.
    ///
    /// # Errors
    /// What the file was not written for.
    pub(crate) fn end(mut self) -> Result<(), StepFailure> {
        self.hand_over();
        self.batches = None;
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let written = writer.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        written.map_err(|e| StepFailure::failed(what(&self.path), &e, msg!("engine-trace-help")))
    }
}

impl Drop for Recorder {
    /// A thread that never began leaves no file.
    fn drop(&mut self) {
        self.batches = None;
        if !self.has_entries {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Threads have a file each, as fio asks of its jobs; a thread alone has that which was named.
fn path_of(path: &str, thread: u32, threads: u32) -> PathBuf {
    if threads == 1 { Path::new(path).to_owned() } else { PathBuf::from(format!("{path}.{thread}")) }
}

fn what(path: &Path) -> Message {
    msg!("engine-trace", path = path)
}

fn write_down(
    file: File,
    names: Vec<String>,
    full: &Receiver<Vec<TraceEntry>>,
    give_back: &Sender<Vec<TraceEntry>>,
) -> io::Result<()> {
    let mut trace = TraceWriter::begin(BufWriter::with_capacity(OUT_BYTES, file), names)?;
    for mut batch in full {
        batch.iter().try_for_each(|entry| trace.entry(entry))?;
        batch.clear();
        // The thread may be gone already.
        let _ = give_back.send(batch);
    }
    trace.end().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_a_file_each() {
        assert_eq!(path_of("log", 0, 1), Path::new("log"));
        assert_eq!(path_of("log", 3, 4), Path::new("log.3"));
    }
}
