//! fio's iolog: a text with a line per action.

use std::io::BufRead;

use crate::{Times, TraceEntry, TraceError, TraceFault, TraceFormat, TraceOp};

/// fio leaves out shorter waits of version 2.
const WAIT_MIN_US: u64 = 100;
/// Longest line that is an entry: a path and three numbers.
const LINE_BYTES_MAX: u64 = 8192;

pub(crate) struct Iolog<R> {
    input: R,
    has_times: bool,
    line: u64,
    text: String,
    files: Vec<String>,
    times: Times,
    /// Waits so far, of version 2.
    waited_ns: u64,
}

impl<R: BufRead> Iolog<R> {
    pub(crate) fn begin(input: R) -> Result<Iolog<R>, TraceError> {
        let mut iolog = Iolog {
            input,
            has_times: false,
            line: 0,
            text: String::new(),
            files: Vec::new(),
            times: Times::default(),
            waited_ns: 0,
        };
        if !iolog.read_line().map_err(|_| TraceError::NoTrace)? {
            return Err(TraceError::NoTrace);
        }
        let found = iolog.text.trim().strip_prefix("fio version ").and_then(|rest| rest.strip_suffix(" iolog"));
        iolog.has_times = match found {
            Some("2") => false,
            Some("3") => true,
            Some(found) => return Err(TraceError::Version { found: found.to_owned() }),
            None => return Err(TraceError::NoTrace),
        };
        Ok(iolog)
    }

    pub(crate) fn format(&self) -> TraceFormat {
        if self.has_times { TraceFormat::Iolog3 } else { TraceFormat::Iolog2 }
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    pub(crate) fn next_entry(&mut self) -> Result<Option<TraceEntry>, TraceError> {
        while self.read_line()? {
            let text = std::mem::take(&mut self.text);
            let entry = self.entry_of(&text);
            self.text = text;
            match entry {
                Ok(None) => {}
                Ok(entry) => return Ok(entry),
                Err(fault) => return Err(TraceError::Entry { number: self.line, fault }),
            }
        }
        Ok(None)
    }

    /// Whether there is one more.
    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.text.clear();
        self.line += 1;
        let mut limited = std::io::Read::take(&mut self.input, LINE_BYTES_MAX);
        let length = limited.read_line(&mut self.text).map_err(TraceError::from_io)?;
        if length as u64 == LINE_BYTES_MAX {
            return Err(TraceError::Entry { number: self.line, fault: TraceFault::Words });
        }
        Ok(length > 0)
    }

    /// The I/O of a line; `None` for one that opens, closes, adds or waits.
    fn entry_of(&mut self, text: &str) -> Result<Option<TraceEntry>, TraceFault> {
        let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.is_empty() {
            return Ok(None);
        }
        let at_ns = match self.has_times {
            true => number(words.remove(0))?.saturating_mul(1_000),
            false => self.waited_ns,
        };
        let (name, action, place) = match words[..] {
            [name, action] => (name, action, None),
            [name, action, offset, length] => (name, action, Some((number(offset)?, number(length)?))),
            _ => return Err(TraceFault::Words),
        };
        let op = match (action, place) {
            ("add", None) => {
                if !self.files.iter().any(|file| file == name) {
                    self.files.push(name.to_owned());
                }
                return Ok(None);
            }
            ("open" | "close", None) => return self.file(name).map(|_| None),
            ("wait", Some((us, _))) if !self.has_times => {
                self.waited_ns += if us < WAIT_MIN_US { 0 } else { us.saturating_mul(1_000) };
                return Ok(None);
            }
            ("read", Some(_)) => TraceOp::Read,
            ("write", Some(_)) => TraceOp::Write,
            ("trim", Some(_)) => TraceOp::Trim,
            ("sync", Some(_)) => TraceOp::Sync,
            ("datasync", Some(_)) => TraceOp::DataSync,
            _ => return Err(TraceFault::Action { text: action.to_owned() }),
        };
        let file = self.file(name)?;
        let at_ns = self.times.since_first(at_ns);
        let is_sync = matches!(op, TraceOp::Sync | TraceOp::DataSync);
        let (offset_bytes, len) = place.filter(|_| !is_sync).unwrap_or_default();
        let len_bytes = u32::try_from(len).map_err(|_| TraceFault::Long)?;
        if len_bytes == 0 && !is_sync {
            return Err(TraceFault::Empty);
        }
        Ok(Some(TraceEntry { at_ns, file, op, offset_bytes, len_bytes }))
    }

    fn file(&self, name: &str) -> Result<u32, TraceFault> {
        let at = self.files.iter().position(|file| file == name);
        at.map(|at| at as u32).ok_or_else(|| TraceFault::File { name: name.to_owned() })
    }
}

fn number(text: &str) -> Result<u64, TraceFault> {
    text.parse().map_err(|_| TraceFault::Number { text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    fn read(text: &str) -> Result<(Vec<TraceEntry>, Vec<String>), TraceError> {
        let mut trace = Trace::begin(text.as_bytes())?;
        let entries = trace.by_ref().collect::<Result<Vec<_>, _>>()?;
        Ok((entries, trace.files().to_vec()))
    }

    #[test]
    fn entries_of_version_3_have_their_times_from_the_first_on() {
        let text = "fio version 3 iolog\n21 /a add\n22 /b add\n30 /a open\n31 /b open\n178 /a read 61440 4096\n\
                    252 /b write 774144 8192\n10403 /b datasync 0 0\n10404 /a trim 4096 4096\n45510 /a close\n";
        let (entries, files) = read(text).expect("a trace");
        let entry = |at_us: u64, file, op, offset_bytes, len_bytes| TraceEntry {
            at_ns: at_us * 1_000,
            file,
            op,
            offset_bytes,
            len_bytes,
        };
        let expected = [
            entry(0, 0, TraceOp::Read, 61440, 4096),
            entry(74, 1, TraceOp::Write, 774_144, 8192),
            entry(10_225, 1, TraceOp::DataSync, 0, 0),
            entry(10_226, 0, TraceOp::Trim, 4096, 4096),
        ];
        assert_eq!((&entries[..], &files[..]), (&expected[..], &["/a".to_owned(), "/b".to_owned()][..]));
    }

    #[test]
    fn waits_of_version_2_add_up_and_short_ones_are_left_out() {
        let text = "fio version 2 iolog\n/a add\n/a open\n/a wait 500 0\n/a read 0 512\n/a wait 99 0\n/a read 512 512\n\
                    /a wait 100 0\n/a wait 1000 0\n/a sync 0 0\n";
        let (entries, _) = read(text).expect("a trace");
        assert_eq!(entries.iter().map(|e| e.at_ns).collect::<Vec<_>>(), [0, 0, 1_100_000]);
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_line() {
        let fault = |line: &str| {
            let text = format!("fio version 3 iolog\n0 /a add\n{line}\n");
            match read(&text) {
                Err(TraceError::Entry { number: 3, fault }) => fault,
                other => panic!("{line}: {other:?}"),
            }
        };
        assert_eq!(fault("1 /a read 0"), TraceFault::Words);
        assert_eq!(fault("1 /a read x 512"), TraceFault::Number { text: "x".to_owned() });
        assert_eq!(fault("1 /a peek 0 512"), TraceFault::Action { text: "peek".to_owned() });
        assert_eq!(fault("1 /a wait 100 0"), TraceFault::Action { text: "wait".to_owned() });
        assert_eq!(fault("1 /b read 0 512"), TraceFault::File { name: "/b".to_owned() });
        assert_eq!(fault("1 /a read 0 0"), TraceFault::Empty);
        assert_eq!(fault("1 /a write 0 8589934592"), TraceFault::Long);
        assert_eq!(fault(&"x".repeat(10_000)), TraceFault::Words);
        assert!(matches!(read("fio version 1 iolog\n"), Err(TraceError::Version { found }) if found == "1"));
        for text in ["", "[job]\nrw=read\n", "\u{0}\u{1}\u{2}"] {
            assert!(matches!(read(text), Err(TraceError::NoTrace)), "{text:?}");
        }
    }

    #[test]
    fn times_that_go_back_stand_still() {
        let text = "fio version 3 iolog\n0 /a add\n100 /a read 0 512\n50 /a read 0 512\n300 /a read 0 512\n";
        let (entries, _) = read(text).expect("a trace");
        assert_eq!(entries.iter().map(|e| e.at_ns).collect::<Vec<_>>(), [0, 0, 200_000]);
    }
}
