//! Blocks of many files: the files that threads have of their own, and in which order a thread serves them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::load::Spread;
use crate::step::{Step, TargetId};

/// Most files of a step that moves blocks: each is a target, with a row of the record.
pub const BLOCK_FILES_MAX: u32 = 1_024;

/// Which of its targets a thread's next I/O goes to, as fio's `file_service_type` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileService {
    /// How the next target is chosen.
    pub choice: ServiceChoice,
    /// I/Os on a target before the next is chosen, at least 1; without meaning where each is served to its end.
    pub ios: u32,
    /// Served among so many at a time: the next comes in when one is done with. `None`: among all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub open_files: Option<u32>,
}

/// How a thread chooses among its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ServiceChoice {
    /// In turns.
    RoundRobin,
    /// At random.
    Random,
    /// One after the other, each to the end of its pass.
    Sequential,
    /// At random, some more often than others.
    Zipf {
        /// Exponent in thousandths, above 0.
        theta_thousandths: u32,
    },
}

impl FileService {
    /// In turns, I/O by I/O: fio's default.
    pub const IN_TURNS: FileService = FileService { choice: ServiceChoice::RoundRobin, ios: 1, open_files: None };
}

impl fmt::Display for FileService {
    /// fio's word: `roundrobin`, `random:4`, `zipf:1.2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.choice {
            ServiceChoice::RoundRobin => f.write_str("roundrobin")?,
            ServiceChoice::Random => f.write_str("random")?,
            ServiceChoice::Sequential => return f.write_str("sequential"),
            ServiceChoice::Zipf { theta_thousandths } => {
                return write!(f, "zipf:{}", f64::from(theta_thousandths) / 1e3);
            }
        }
        if self.ios > 1 { write!(f, ":{}", self.ios) } else { Ok(()) }
    }
}

/// Files that are made in the folders that a step's targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockFiles {
    /// In each folder: of each thread, or of all of them where they share their targets.
    pub(crate) files: u32,
    /// Threads of each folder, as the load asks for them.
    pub(crate) threads: u32,
    /// Which of the files a thread has.
    pub(crate) spread: Spread,
}

impl BlockFiles {
    /// Files over so many folders.
    pub(crate) fn count(self, folders: u32) -> u64 {
        u64::from(self.files) * u64::from(self.owners()) * u64::from(folders)
    }

    /// Threads of a folder that have files of their own.
    fn owners(self) -> u32 {
        if self.spread == Spread::EachTarget { self.threads } else { 1 }
    }

    /// Puts the step on the files, named as fio names those of a job called `fathom`.
    pub(crate) fn put_on(self, step: &mut Step) {
        let folders = std::mem::take(&mut step.targets);
        let owners = self.owners();
        step.load.threads = self.threads;
        step.load.spread = self.spread;
        if self.spread == Spread::EachTarget {
            // Dealt out, each thread gets those that bear its number.
            step.load.threads = self.threads * folders.len() as u32;
            step.load.spread = Spread::Targets;
        }
        for file in 0..self.files {
            for folder in &folders {
                step.targets.extend((0..owners).map(|thread| file_in(folder, thread, file)));
            }
        }
    }
}

fn file_in(folder: &TargetId, thread: u32, file: u32) -> TargetId {
    if folder.is_null() {
        return TargetId::new(TargetId::NULL);
    }
    TargetId::new(format!("{}/fathom.{thread}.{file}", folder.as_str().trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::{KnobError, Knobs};

    fn step(words: &[(&str, &str)], folders: &[&str]) -> Result<Step, KnobError> {
        let mut knobs = Knobs::new();
        words.iter().try_for_each(|(key, value)| knobs.set(key, value))?;
        let targets: Vec<TargetId> = folders.iter().map(|name| TargetId::new(*name)).collect();
        knobs.build(0, "A", &targets, &mut Vec::new())
    }

    fn files_of(step: &Step, worker: u32) -> Vec<&str> {
        step.targets_of(worker).iter().map(|at| step.targets[*at as usize].as_str()).collect()
    }

    #[test]
    fn each_thread_has_files_of_its_own_as_a_job_of_fio_has() {
        let made = step(&[("nrfiles", "3"), ("threads", "2"), ("size", "96k")], &["/a", "/b/"]).expect("fits");
        assert_eq!((made.targets.len(), made.workers()), (12, 4));
        assert_eq!(files_of(&made, 0), ["/a/fathom.0.0", "/a/fathom.0.1", "/a/fathom.0.2"]);
        assert_eq!(files_of(&made, 3), ["/b/fathom.1.0", "/b/fathom.1.1", "/b/fathom.1.2"]);
        // As in fio a thread's size is that of all its files.
        assert_eq!(made.workload.region.size_bytes, Some(32 << 10));
        let sized = step(&[("nrfiles", "3"), ("filesize", "64k")], &["/a"]).expect("fits");
        assert_eq!(sized.workload.region.size_bytes, Some(64 << 10));
    }

    #[test]
    fn threads_share_the_files_where_they_share_their_targets() {
        for (spread, of_first) in [("targets", 2), ("all_targets", 4)] {
            let words = [("nrfiles", "4"), ("threads", "2"), ("spread", spread)];
            let made = step(&words, &["/a"]).expect("fits");
            assert_eq!((made.targets.len(), made.workers(), files_of(&made, 0).len()), (4, 2, of_first), "{spread}");
        }
    }

    #[test]
    fn words_of_service_read_back_and_say_nothing_where_a_thread_has_one_target() {
        for word in ["roundrobin", "roundrobin:8", "random", "random:4", "sequential", "zipf:1.2"] {
            let made = step(&[("nrfiles", "4"), ("file_service_type", word), ("openfiles", "2")], &["/a"]).expect(word);
            let service = made.workload.order.service.expect("served");
            assert_eq!((service.to_string().as_str(), service.open_files), (word, Some(2)));
            let alone = step(&[("file_service_type", word)], &["/a"]).expect(word);
            assert_eq!(alone.workload.order.service, None);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_the_knob() {
        for (words, key) in [
            (&[("nrfiles", "1000000")][..], "nrfiles"),
            (&[("nrfiles", "2"), ("size", "4k"), ("filesize", "4k")], "filesize"),
            (&[("nrfiles", "4"), ("size", "8k")], "size"),
            (&[("filesize", "4k")], "filesize"),
            (&[("nrfiles", "2"), ("array", "raid0")], "nrfiles"),
            (&[("nrfiles", "2"), ("file_service_type", "gauss")], "file_service_type"),
            (&[("nrfiles", "2"), ("file_service_type", "random:0")], "file_service_type"),
            (&[("nrfiles", "2"), ("file_service_type", "zipf:0")], "file_service_type"),
            (&[("rw", "filestat"), ("file_service_type", "random")], "file_service_type"),
        ] {
            let error = step(words, &["/a", "/b"]).expect_err("is wrong");
            assert_eq!(error.key, key, "{words:?}");
        }
    }
}
