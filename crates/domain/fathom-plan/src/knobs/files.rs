//! From knobs to loads whose I/Os are whole files.

use fathom_message::msg;

use super::build::conflict;
use super::{KnobError, Knobs};
use crate::file_ops::FileLoad;
use crate::read_write::ReadWrite;
use crate::step::EngineName;

/// Files of each thread unless it is said: enough for some seconds on a fast file system.
pub(super) const FILES_DEFAULT: u32 = 100_000;

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
        let first = |given: &[(&'static str, bool)]| given.iter().find(|(_, is)| *is).map(|(key, _)| *key);
        let Some(op) = rw.file_op() else {
            let is_several = self.files_per_thread.is_some_and(|files| files > 1);
            let given =
                first(&[("nrfiles", is_several), ("filesize", self.bytes_per_file.is_some_and(|bytes| bytes > 0))]);
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
        ]);
        if let Some(key) = given {
            let message = msg!("knob-blocks-of-files", key = key, rw = rw.as_str());
            return Err(conflict(key, message, msg!("knob-blocks-of-files-help")));
        }
        Ok(Some(FileLoad {
            op,
            files_per_thread: self.files_per_thread.unwrap_or(FILES_DEFAULT),
            bytes_per_file: self.bytes_per_file.unwrap_or(0),
        }))
    }
}
