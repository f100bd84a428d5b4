//! Recorded I/O as a load: what a step is once its trace was read.

use std::path::Path;

use fathom_message::{Message, Quantity, Say, Unit, msg};
use fathom_trace::TraceSummary;
use serde::{Deserialize, Serialize};

use crate::label::set_label;
use crate::load::{Rate, RateProcess, Spread};
use crate::step::{BlockSize, OpMix, Pattern, Step, TargetId};

/// Direct I/O begins and ends at multiples of a drive's block, which is never smaller.
const SECTOR_BYTES: u64 = 512;
/// Speed that is none: as it was recorded.
const RECORDED_PCT: u32 = 100;

/// A trace whose I/Os a step does, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Replay {
    /// Where the trace lies.
    pub path: String,
    /// Whether each I/O begins when it did as it was recorded; else as soon as a slot is free.
    pub is_timed: bool,
    /// Speed against the recorded one, in percent.
    pub speed_pct: u32,
    /// Whether all of it goes to one target, whichever files it names; else each file has its own target.
    pub is_redirected: bool,
    /// Reads, writes and trims in it; 0 until it was read.
    pub ios: u64,
    /// Syncs in it.
    pub syncs: u64,
    /// From the first entry to the last as recorded.
    pub duration_ns: u64,
}

/// Why a trace cannot be the load of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// No read, write or trim is in it.
    Empty,
    /// It names devices by number alone.
    NoTarget {
        /// As the trace names them.
        devices: Vec<String>,
    },
    /// Neither one target nor one for each file.
    Targets {
        /// Those that were named.
        named: usize,
        /// Those of the trace.
        files: usize,
    },
    /// Direct I/O cannot begin or end where the trace does.
    Unaligned {
        /// What divides all places and lengths.
        bytes: u64,
    },
    /// What is read back was not written by this run.
    Verify,
}

impl Say for ReplayError {
    fn message(&self) -> Message {
        match self {
            ReplayError::Empty => msg!("replay-empty"),
            ReplayError::NoTarget { devices } => msg!("replay-no-target", devices = devices.join(" ")),
            ReplayError::Targets { named, files } => msg!("replay-targets", named = *named, files = *files),
            ReplayError::Unaligned { bytes } => msg!("replay-unaligned", bytes = bytes.to_string()),
            ReplayError::Verify => msg!("replay-verify"),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            ReplayError::Empty => None,
            ReplayError::NoTarget { .. } | ReplayError::Targets { .. } => Some(msg!("replay-targets-help")),
            ReplayError::Unaligned { .. } => Some(msg!("replay-unaligned-help")),
            ReplayError::Verify => Some(msg!("replay-verify-help")),
        }
    }
}

fathom_message::say_error!(ReplayError);

impl Replay {
    /// How it stands in a label.
    pub(crate) fn words(&self) -> String {
        let name = Path::new(&self.path).file_name().map_or(self.path.clone(), |n| n.to_string_lossy().into_owned());
        let speed = match (self.is_timed, self.speed_pct) {
            (false, _) => " without waits".to_owned(),
            (true, RECORDED_PCT) => String::new(),
            (true, speed) => format!(" at {speed}%"),
        };
        format!("replay of {name}{speed}")
    }

    /// When an entry is due, nanoseconds after the first.
    #[must_use]
    pub fn due_ns(&self, recorded_ns: u64) -> u64 {
        let due = u128::from(recorded_ns) * u128::from(RECORDED_PCT) / u128::from(self.speed_pct.max(1));
        u64::try_from(due).unwrap_or(u64::MAX)
    }
}

impl Step {
    /// Makes the step what its trace asks for: targets, sizes, shares, region and rate. Targets that the step has already
    /// were named by the user; without any the files of the trace are the targets. Says what was found.
    ///
    /// # Errors
    /// [`ReplayError`].
    ///
    /// # Panics
    /// Without a replay in the step.
    pub fn set_replay(&mut self, found: &TraceSummary, names_devices: bool) -> Result<Message, ReplayError> {
        let mut replay = self.workload.order.replay.clone().expect("a step that replays");
        if found.ios() == 0 {
            return Err(ReplayError::Empty);
        }
        if self.workload.verify.is_some() {
            return Err(ReplayError::Verify);
        }
        let aligned = found.aligned_bytes;
        if self.workload.direct && !aligned.is_multiple_of(SECTOR_BYTES) {
            return Err(ReplayError::Unaligned { bytes: aligned });
        }
        replay.is_redirected = false;
        match self.targets.len() {
            0 if names_devices => return Err(ReplayError::NoTarget { devices: found.files.clone() }),
            0 => self.targets = found.files.iter().map(|name| TargetId::new(name.clone())).collect(),
            1 => replay.is_redirected = true,
            named if named == found.files.len() => {}
            named => return Err(ReplayError::Targets { named, files: found.files.len() }),
        }
        replay.ios = found.ios();
        replay.syncs = found.syncs;
        replay.duration_ns = found.duration_ns;
        replay.is_timed &= found.duration_ns > 0;
        let mean_iops = found.ios() as f64 * 1e9 / replay.due_ns(found.duration_ns).max(1) as f64;
        self.load.rate = replay.is_timed.then_some(Rate { iops: mean_iops, process: RateProcess::Recorded });
        self.load.threads = 1;
        self.load.spread = if self.targets.len() > 1 { Spread::AllTargets } else { Spread::EachTarget };
        let workload = &mut self.workload;
        workload.mix = mix_of(found);
        workload.pattern = Pattern::RandomRepeat;
        let unit_bytes = found.longest_bytes.max(SECTOR_BYTES as u32);
        workload.block_sizes = vec![BlockSize { bytes: unit_bytes, share_pct: 100 }];
        workload.region.offset_bytes = 0;
        let end = found.ends_bytes.iter().copied().max().unwrap_or(0);
        workload.region.size_bytes = Some(end.max(unit_bytes.into()).next_multiple_of(SECTOR_BYTES));
        workload.order.replay = Some(replay);
        self.length.passes = Some(1);
        set_label(self);
        Ok(msg!(
            "replay-found",
            ios = found.ios().to_string(),
            reads = found.reads.to_string(),
            writes = found.writes.to_string(),
            trims = found.trims.to_string(),
            syncs = found.syncs.to_string(),
            time = Quantity::new(found.duration_ns as f64, Unit::Ns),
        ))
    }
}

/// Shares in whole percent; what is there at all is never 0: a single write is what a guard must know of.
fn mix_of(found: &TraceSummary) -> OpMix {
    let total = found.ios().max(1) as f64;
    let share = |count: u64| match count {
        0 => 0,
        _ => ((count as f64 * 100.0 / total).round() as u8).clamp(1, 98),
    };
    let (mut parts, counts) =
        ([share(found.reads), share(found.writes), share(found.trims)], [found.reads, found.writes, found.trims]);
    // The largest takes what rounding left.
    let largest = (0..parts.len()).max_by_key(|i| counts[*i]).unwrap_or(0);
    let others: u8 = parts.iter().enumerate().filter(|(i, _)| *i != largest).map(|(_, part)| *part).sum();
    parts[largest] = 100 - others;
    OpMix { read_pct: parts[0], write_pct: parts[1], trim_pct: parts[2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_write_among_a_million_reads_is_still_a_write() {
        let found = TraceSummary { reads: 1_000_000, writes: 1, trims: 0, ..TraceSummary::default() };
        assert_eq!(mix_of(&found), OpMix { read_pct: 99, write_pct: 1, trim_pct: 0 });
        let found = TraceSummary { reads: 0, writes: 5, trims: 0, ..TraceSummary::default() };
        assert_eq!(mix_of(&found), OpMix { read_pct: 0, write_pct: 100, trim_pct: 0 });
        let found = TraceSummary { reads: 1, writes: 1, trims: 1_000, ..TraceSummary::default() };
        assert_eq!(mix_of(&found), OpMix { read_pct: 1, write_pct: 1, trim_pct: 98 });
    }

    #[test]
    fn twice_the_speed_is_half_the_time() {
        let replay = Replay {
            path: "/traces/a.log".to_owned(),
            is_timed: true,
            speed_pct: 200,
            is_redirected: false,
            ios: 0,
            syncs: 0,
            duration_ns: 0,
        };
        assert_eq!((replay.due_ns(1_000), replay.words()), (500, "replay of a.log at 200%".to_owned()));
    }
}
