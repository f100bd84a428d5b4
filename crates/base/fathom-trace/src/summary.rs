//! What a trace asks for, before it is replayed.

use std::io::BufRead;

use crate::{Trace, TraceError, TraceOp};

/// A whole trace in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSummary {
    /// As [`Trace::files`], all of them.
    pub files: Vec<String>,
    /// For each file: the end of what is read, written and trimmed in it, bytes.
    pub ends_bytes: Vec<u64>,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Syncs of both kinds.
    pub syncs: u64,
    /// The longest read or write, bytes.
    pub longest_bytes: u32,
    /// A number that divides all offsets and lengths of reads and writes, bytes; 0 without any.
    pub aligned_bytes: u64,
    /// From the first entry to the last.
    pub duration_ns: u64,
}

impl TraceSummary {
    /// Reads a trace to its end.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn of<R: BufRead>(mut trace: Trace<R>) -> Result<TraceSummary, TraceError> {
        let mut summary = TraceSummary::default();
        while let Some(entry) = trace.next().transpose()? {
            let file = entry.file as usize;
            if summary.ends_bytes.len() <= file {
                summary.ends_bytes.resize(file + 1, 0);
            }
            let end = &mut summary.ends_bytes[file];
            *end = (*end).max(entry.offset_bytes.saturating_add(entry.len_bytes.into()));
            let count = match entry.op {
                TraceOp::Read => &mut summary.reads,
                TraceOp::Write => &mut summary.writes,
                TraceOp::Trim => &mut summary.trims,
                TraceOp::Sync | TraceOp::DataSync => &mut summary.syncs,
            };
            *count += 1;
            if matches!(entry.op, TraceOp::Read | TraceOp::Write) {
                summary.longest_bytes = summary.longest_bytes.max(entry.len_bytes);
                let both = common_divisor(entry.offset_bytes, entry.len_bytes.into());
                summary.aligned_bytes = common_divisor(summary.aligned_bytes, both);
            }
            summary.duration_ns = entry.at_ns;
        }
        summary.files = trace.files().to_vec();
        summary.ends_bytes.resize(summary.files.len(), 0);
        Ok(summary)
    }

    /// Entries that are I/Os, without syncs.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims
    }
}

/// Euclid; 0 leaves the other as it is.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_counted_and_measured_by_file() {
        let text = "fio version 3 iolog\n0 /a add\n0 /b add\n0 /c add\n10 /a read 8192 4096\n20 /b write 4096 12288\n\
                    30 /a sync 0 0\n40 /a trim 65536 1024\n50 /b read 0 8192\n";
        let trace = Trace::begin(text.as_bytes()).expect("a trace");
        let summary = TraceSummary::of(trace).expect("entries");
        let expected = TraceSummary {
            files: vec!["/a".to_owned(), "/b".to_owned(), "/c".to_owned()],
            ends_bytes: vec![66_560, 16_384, 0],
            reads: 2,
            writes: 1,
            trims: 1,
            syncs: 1,
            longest_bytes: 12_288,
            aligned_bytes: 4096,
            duration_ns: 40_000,
        };
        assert_eq!(summary, expected);
        assert_eq!(summary.ios(), 4);
    }
}
