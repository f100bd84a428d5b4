//! Recorded I/O, entry by entry: fio's iolog (versions 2 and 3) and the binary of blktrace.
//!
//! A trace is read as a stream, since it may be larger than memory. Formats: fio's HOWTO, "Trace file format"; Linux,
//! `include/uapi/linux/blktrace_api.h`.

mod blktrace;
mod error;
mod iolog;
mod summary;
mod writer;

use std::io::BufRead;

pub use error::{TraceError, TraceFault};
pub use summary::TraceSummary;
pub use writer::{TraceWriter, is_one_word};

use blktrace::Blktrace;
use iolog::Iolog;

/// What an entry of a trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOp {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Discard.
    Trim,
    /// fsync, or the flush of a device.
    Sync,
    /// fdatasync.
    DataSync,
}

/// One I/O that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When it was begun, nanoseconds after the first; never before the entry that stands before it.
    pub at_ns: u64,
    /// Which of [`Trace::files`].
    pub file: u32,
    /// What it does.
    pub op: TraceOp,
    /// Bytes from the begin of the file; 0 for syncs.
    pub offset_bytes: u64,
    /// Bytes; 0 for syncs alone.
    pub len_bytes: u32,
}

/// In which form a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// fio's iolog, version 2: with waits.
    Iolog2,
    /// fio's iolog, version 3: with a time for each entry.
    Iolog3,
    /// The binary that `blkparse -d` writes.
    Blktrace,
}

/// A trace that is being read.
pub struct Trace<R> {
    form: Form<R>,
    has_failed: bool,
}

enum Form<R> {
    Iolog(Iolog<R>),
    Blktrace(Blktrace<R>),
}

impl<R: BufRead> Trace<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// When it is no trace, or of an unknown version.
    pub fn begin(mut input: R) -> Result<Trace<R>, TraceError> {
        let seen = input.fill_buf().map_err(TraceError::from_io)?;
        let form = match Blktrace::<R>::order_of(seen) {
            Some(order) => Form::Blktrace(Blktrace::begin(input, order)),
            None => Form::Iolog(Iolog::begin(input)?),
        };
        Ok(Trace { form, has_failed: false })
    }

    /// Its form.
    pub fn format(&self) -> TraceFormat {
        match &self.form {
            Form::Iolog(iolog) => iolog.format(),
            Form::Blktrace(_) => TraceFormat::Blktrace,
        }
    }

    /// Files and devices that entries so far name; a device of blktrace by its numbers, as in `259,0`.
    pub fn files(&self) -> &[String] {
        match &self.form {
            Form::Iolog(iolog) => iolog.files(),
            Form::Blktrace(blktrace) => blktrace.files(),
        }
    }
}

impl<R: BufRead> Iterator for Trace<R> {
    type Item = Result<TraceEntry, TraceError>;

    /// The next entry; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = match &mut self.form {
            Form::Iolog(iolog) => iolog.next_entry(),
            Form::Blktrace(blktrace) => blktrace.next_entry(),
        };
        self.has_failed = next.is_err();
        next.transpose()
    }
}

/// Times from the first entry on, none before the one that stands before it: clocks of several CPUs may cross.
#[derive(Debug, Default)]
struct Times {
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Times {
    fn since_first(&mut self, recorded_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(recorded_ns);
        self.last_ns = self.last_ns.max(recorded_ns.saturating_sub(first_ns));
        self.last_ns
    }
}
