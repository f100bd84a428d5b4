//! Writes fio's iolog, version 3.

use std::io::{self, Write};

use crate::{TraceEntry, TraceOp};

/// The words of the first line.
const HEAD: [&str; 4] = ["fio", "version", "3", "iolog"];
/// fio's clock of version 3 counts in microseconds.
const NS_PER_US: u64 = 1_000;

/// A trace that is being written: version 3 of fio's iolog, which fio and Fathom replay.
pub struct TraceWriter<W> {
    out: W,
    files: Vec<String>,
    last_us: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins with the files that entries name by their positions.
    ///
    /// # Errors
    /// As `out`; `InvalidInput` for a name that a line of words cannot hold.
    pub fn begin(mut out: W, files: Vec<String>) -> io::Result<TraceWriter<W>> {
        if files.iter().any(|name| !is_one_word(name)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        writeln!(out, "{}", HEAD.join(" "))?;
        for action in ["add", "open"] {
            files.iter().try_for_each(|name| writeln!(out, "0 {name} {action}"))?;
        }
        Ok(TraceWriter { out, files, last_us: 0 })
    }

    /// One more, begun no earlier than the one before.
    ///
    /// # Errors
    /// As `out`; `InvalidInput` for a file that was not named.
    pub fn entry(&mut self, entry: &TraceEntry) -> io::Result<()> {
        let name = self.files.get(entry.file as usize).ok_or(io::ErrorKind::InvalidInput)?;
        let action = match entry.op {
            TraceOp::Read => "read",
            TraceOp::Write => "write",
            TraceOp::Trim => "trim",
            TraceOp::Sync => "sync",
            TraceOp::DataSync => "datasync",
        };
        let TraceEntry { offset_bytes, len_bytes, .. } = *entry;
        self.last_us = self.last_us.max(entry.at_ns / NS_PER_US);
        writeln!(self.out, "{} {name} {action} {offset_bytes} {len_bytes}", self.last_us)
    }

    /// Closes the files and hands back what was written to.
    ///
    /// # Errors
    /// As `out`.
    pub fn end(mut self) -> io::Result<W> {
        let at_us = self.last_us;
        self.files.iter().try_for_each(|name| writeln!(self.out, "{at_us} {name} close"))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Whether a name can stand in a trace: words are parted by white space there.
#[must_use]
pub fn is_one_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_ascii_whitespace() || c == '\0')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Trace, TraceFormat};

    fn op() -> impl Strategy<Value = TraceOp> {
        use TraceOp::{DataSync, Read, Sync, Trim, Write};
        prop::sample::select(vec![Read, Write, Trim, Sync, DataSync])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_to_the_microsecond(
            files in prop::collection::hash_set("[a-z/.:]{1,12}", 1..5),
            entries in prop::collection::vec((0_u64..10_000_000_000, any::<prop::sample::Index>(), op(), 0_u64..1 << 50, 1_u32..), 0..40),
        ) {
            let files: Vec<String> = files.into_iter().collect();
            let mut entries: Vec<TraceEntry> = entries
                .into_iter()
                .map(|(at_ns, file, op, offset, len)| {
                    let is_sync = matches!(op, TraceOp::Sync | TraceOp::DataSync);
                    let (offset_bytes, len_bytes) = if is_sync { (0, 0) } else { (offset, len) };
                    TraceEntry { at_ns, file: file.index(files.len()) as u32, op, offset_bytes, len_bytes }
                })
                .collect();
            entries.sort_by_key(|entry| entry.at_ns);
            let mut writer = TraceWriter::begin(Vec::new(), files.clone()).expect("names of one word");
            entries.iter().try_for_each(|entry| writer.entry(entry)).expect("memory");
            let bytes = writer.end().expect("memory");
            let mut trace = Trace::begin(&bytes[..]).expect("a trace");
            prop_assert_eq!(trace.format(), TraceFormat::Iolog3);
            let read: Vec<TraceEntry> = trace.by_ref().collect::<Result<_, _>>().expect("entries");
            // Times count from the first entry on, in microseconds.
            let first_us = entries.first().map_or(0, |entry| entry.at_ns / 1_000);
            for entry in &mut entries {
                entry.at_ns = (entry.at_ns / 1_000 - first_us) * 1_000;
            }
            prop_assert_eq!(&read, &entries);
            prop_assert_eq!(trace.files(), &files[..]);
        }
    }

    #[test]
    fn names_of_several_words_and_unnamed_files_are_refused() {
        for name in ["a b", "", "a\tb", "a\n"] {
            let begun = TraceWriter::begin(Vec::new(), vec![name.to_owned()]);
            assert_eq!(begun.err().map(|e| e.kind()), Some(io::ErrorKind::InvalidInput), "{name:?}");
        }
        let mut writer = TraceWriter::begin(Vec::new(), vec!["a".to_owned()]).expect("one word");
        let entry = TraceEntry { at_ns: 0, file: 1, op: TraceOp::Read, offset_bytes: 0, len_bytes: 512 };
        assert!(writer.entry(&entry).is_err());
    }
}
