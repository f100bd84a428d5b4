//! From knobs to loads whose I/Os are whole files.

use fathom_message::{Message, Quantity, msg};
use fathom_units::advice;

use super::build::conflict;
use super::value::{bounded, fault_help, shorten};
use super::{BLOCK_BYTES_MAX, Fault, KnobError, Knobs, push_note};
use crate::file_ops::{FileLoad, FileOp, StatBy};
use crate::file_service::{BLOCK_FILES_MAX, BlockFiles, FileService, ServiceChoice};
use crate::read_write::ReadWrite;
use crate::step::EngineName;

/// Files of each thread unless it is said: enough for some seconds on a fast file system.
pub(super) const FILES_DEFAULT: u32 = 100_000;
/// What the files of a thread that moves blocks hold together unless it is said.
const FILES_BYTES_DEFAULT: u64 = 1 << 30;

/// fio's `file_service_type`: a word, and behind a colon the I/Os on a file before the next.
pub(super) fn parse_file_service(text: &str) -> Result<(ServiceChoice, u32), Fault> {
    const WORDS: [&str; 4] = ["roundrobin", "random", "sequential", "zipf:1.2"];
    let text = text.trim();
    let (word, factor) = text.split_once(':').map_or((text, None), |(word, factor)| (word, Some(factor)));
    let ios = || factor.map_or(Ok(1), |factor| bounded(factor, 1, u32::MAX));
    match word {
        "roundrobin" => Ok((ServiceChoice::RoundRobin, ios()?)),
        "random" => Ok((ServiceChoice::Random, ios()?)),
        // As in fio its factor changes nothing.
        "sequential" => Ok((ServiceChoice::Sequential, ios().map(|_| 1)?)),
        "zipf" => {
            let theta = factor.unwrap_or("1.1").parse::<f64>().ok().map(|theta| (theta * 1e3).round());
            let theta = theta.filter(|theta| (1.0..=1e5).contains(theta));
            let theta = theta.ok_or_else(|| fault_help(msg!("knob-service-theta"), msg!("knob-service-theta-help")))?;
            Ok((ServiceChoice::Zipf { theta_thousandths: theta as u32 }, 1))
        }
        "pareto" | "gauss" => {
            Err(fault_help(msg!("knob-service-lacks", word = word.to_owned()), msg!("knob-service-lacks-help")))
        }
        other => Err(fault_help(msg!("knob-unknown-service", text = shorten(other)), advice(other, &WORDS))),
    }
}

/// How files are named that are looked at.
pub(super) fn parse_stat_by(text: &str) -> Result<StatBy, Fault> {
    let words = StatBy::ALL.map(StatBy::as_str);
    let found = StatBy::ALL.into_iter().find(|by| by.as_str() == text.trim());
    found.ok_or_else(|| fault_help(msg!("knob-unknown-stat-by", text = shorten(text)), advice(text, &words)))
}

impl Knobs {
    /// The engine: loads of files have one of their own, and no other load has that.
    pub(super) fn engine_name(&self) -> Result<EngineName, KnobError> {
        let rw = self.rw.unwrap_or(ReadWrite::RandRead);
        match (rw.file_op(), self.engine) {
            (Some(_), None | Some(EngineName::Files)) => Ok(EngineName::Files),
            (Some(_), Some(other)) => {
                let message = msg!("knob-files-by-engine", rw = rw.as_str(), engine = other.as_str());
                Err(conflict("ioengine", message, msg!("knob-files-by-engine-help")))
            }
            (None, Some(EngineName::Files)) => {
                let message = msg!("knob-files-engine-alone", rw = rw.as_str());
                Err(conflict("ioengine", message, msg!("knob-files-engine-alone-help")))
            }
            (None, engine) => Ok(engine.unwrap_or(EngineName::IoUring)),
        }
    }

    /// The files that `rw` works on; `None`: it moves blocks.
    pub(super) fn files(&self, rw: ReadWrite) -> Result<Option<FileLoad>, KnobError> {
        if self.stat_by.is_some() && rw.file_op() != Some(FileOp::Stat) {
            return Err(conflict("stat_by", msg!("knob-stat-by", rw = rw.as_str()), msg!("knob-stat-by-help")));
        }
        let first = |given: &[(&'static str, bool)]| given.iter().find(|(_, is)| *is).map(|(key, _)| *key);
        let Some(op) = rw.file_op() else {
            let is_sized = self.bytes_per_file.is_some_and(|bytes| bytes > 0);
            let given = first(&[("filesize", is_sized && self.block_files().is_none())]);
            return match given {
                None => Ok(None),
                Some(key) => {
                    let message = msg!("knob-files-of-blocks", key = key, rw = rw.as_str());
                    Err(conflict(key, message, msg!("knob-files-of-blocks-help")))
                }
            };
        };
        // What says where in a file I/O goes says nothing of files as a whole.
        let given = first(&[
            ("bs", self.block_sizes.is_some() || self.size_range.is_some()),
            ("size", self.size_bytes.is_some() || self.footprint_pct.is_some()),
            ("offset", self.offset_bytes.is_some_and(|bytes| bytes > 0)),
            ("direct", self.direct == Some(true)),
            ("verify", self.verify.flatten().is_some()),
            ("read_pct", self.read_pct.is_some()),
            ("loops", self.passes.is_some_and(|passes| passes > 1)),
            ("random_distribution", self.distribution.is_some()),
            ("io_size", self.pass_bytes.is_some()),
            ("number_ios", self.pass_ios.is_some()),
            ("zonesize", self.zoned.zone_bytes.is_some()),
            ("end_fsync", self.sync_at_end == Some(true)),
            ("file_service_type", self.service.order.is_some()),
            ("openfiles", self.service.open_files.is_some()),
            ("write_iolog", self.trace_to.is_some()),
        ]);
        if let Some(key) = given {
            let message = msg!("knob-blocks-of-files", key = key, rw = rw.as_str());
            return Err(conflict(key, message, msg!("knob-blocks-of-files-help")));
        }
        let bytes = self.bytes_per_file.unwrap_or(0);
        let Some(bytes_per_file) = u32::try_from(bytes).ok().filter(|bytes| *bytes <= BLOCK_BYTES_MAX) else {
            let (bytes, max) = (Quantity::block(bytes), Quantity::block(BLOCK_BYTES_MAX.into()));
            let message = msg!("knob-whole-file-too-long", bytes = bytes, max = max);
            return Err(conflict("filesize", message, msg!("knob-whole-file-too-long-help")));
        };
        let files_per_thread = self.files_per_thread.unwrap_or(FILES_DEFAULT);
        let stat_by = match op {
            FileOp::Stat => self.stat_by.unwrap_or(StatBy::Path),
            FileOp::Create | FileOp::Delete => StatBy::default(),
        };
        Ok(Some(FileLoad { op, files_per_thread, bytes_per_file, stat_by }))
    }

    /// The files of a load that moves blocks of several; `None`: its targets are what they are named.
    pub(super) fn block_files(&self) -> Option<BlockFiles> {
        let moves_blocks = self.rw.unwrap_or(ReadWrite::RandRead).file_op().is_none();
        let files = self.files_per_thread.filter(|files| *files > 1 && moves_blocks)?;
        Some(BlockFiles { files, threads: self.threads.unwrap_or(1), spread: self.spread.unwrap_or_default() })
    }

    /// Bytes of each target that are touched; of several files, as in fio, `size` is that of all that a thread has.
    pub(super) fn region_bytes(&self, notes: &mut Vec<Message>) -> Result<Option<u64>, KnobError> {
        // More than a step can have are refused where they are named.
        let files = self.block_files().filter(|files| files.files <= BLOCK_FILES_MAX);
        let Some(files) = files else { return Ok(self.size_bytes) };
        let each = self.bytes_per_file.filter(|bytes| *bytes > 0);
        match (each, self.size_bytes) {
            (Some(_), Some(_)) => {
                Err(conflict("filesize", msg!("knob-size-and-filesize"), msg!("knob-size-and-filesize-help")))
            }
            (Some(each), None) => Ok(Some(each)),
            (None, size) => {
                let size = size.unwrap_or(FILES_BYTES_DEFAULT);
                let each = self.share_of_file(size, files.files, notes);
                if each == 0 {
                    let message = msg!("knob-files-below-block", size = Quantity::block(size), files = files.files);
                    return Err(conflict("size", message, msg!("knob-files-below-block-help")));
                }
                Ok(Some(each))
            }
        }
    }

    /// Whole blocks of a size that so many files share equally.
    pub(crate) fn share_of_file(&self, size_bytes: u64, files: u32, notes: &mut Vec<Message>) -> u64 {
        let block = u64::from(self.smallest_block()).max(1);
        let each = size_bytes / u64::from(files) / block * block;
        if each * u64::from(files) != size_bytes {
            let (size, each) = (Quantity::block(size_bytes), Quantity::block(each));
            push_note(notes, msg!("knob-size-shared-unevenly", size = size, files = files, each = each));
        }
        each
    }

    fn smallest_block(&self) -> u32 {
        let sizes = [&self.block_sizes, &self.write_sizes, &self.trim_sizes];
        let of_sizes = sizes.into_iter().flatten().flatten().map(|size| size.bytes).min();
        self.size_range.map(|range| range.min_bytes).or(of_sizes).unwrap_or(4096)
    }

    /// Which of its targets a thread's next I/O goes to.
    pub(super) fn service(&self) -> Option<FileService> {
        let open_files = self.service.open_files;
        let asked = self.service.order.map(|(choice, ios)| FileService { choice, ios, open_files });
        asked.or_else(|| open_files.map(|_| FileService { open_files, ..FileService::IN_TURNS }))
    }
}
