//! Jobs that replay a trace: `read_iolog` and what belongs to it.

use fathom_message::msg;

use super::job::{Reader, flag};
use super::units::fio_file_names;
use crate::error::SourceError;
use crate::replay::Replay;
use crate::step::{Step, TargetId};

/// Keys that say what a trace says itself.
const SAID_BY_THE_TRACE: [&str; 10] =
    ["rate", "rate_iops", "fsync", "fdatasync", "thinktime", "flow", "io_size", "number_ios", "time_based", "loops"];
/// Highest speed that is taken, in percent.
const SPEED_MAX_PCT: u32 = 100_000;

impl Reader<'_, '_> {
    /// Makes a step of `sections` equal sections one that replays, where the job says so. Its trace is still to be read
    /// ([`Step::set_replay`]).
    pub(super) fn replay(&mut self, sections: usize, step: &mut Step) -> Result<(), SourceError> {
        let Some(text) = self.value("read_iolog").map(str::to_owned) else {
            return match ["replay_no_stall", "replay_time_scale", "replay_redirect"]
                .iter()
                .find(|k| self.keys.contains_key(**k))
            {
                Some(key) => Err(self.error(key, msg!("fio-trace-missing"), msg!("fio-trace-missing-help"))),
                None => Ok(()),
            };
        };
        if let Some(key) = SAID_BY_THE_TRACE.iter().find(|key| self.keys.contains_key(*key)) {
            return Err(self.error(key, msg!("fio-trace-says", key = *key), msg!("fio-remove")));
        }
        let names = fio_file_names(&text);
        let [path] = &names[..] else {
            return Err(self.error("read_iolog", msg!("fio-trace-one"), msg!("fio-trace-one-help")));
        };
        if path == "-" || sections > 1 || self.value("numjobs").is_some_and(|jobs| jobs != "1") {
            return Err(self.error("read_iolog", msg!("fio-trace-one"), msg!("fio-trace-one-help")));
        }
        step.targets = match (self.value("replay_redirect"), self.value("filename")) {
            (Some(to), _) => vec![TargetId::new(to)],
            // Named as the job's files already.
            (None, Some(_)) => std::mem::take(&mut step.targets),
            (None, None) => Vec::new(),
        };
        step.workload.order = crate::io_order::IoOrder {
            replay: Some(Replay {
                path: path.clone(),
                is_timed: !flag(self.source, self.keys, "replay_no_stall", false)?,
                speed_pct: self.number_or("replay_time_scale", 100, SPEED_MAX_PCT)?,
                is_redirected: false,
                ios: 0,
                syncs: 0,
                duration_ns: 0,
            }),
            ..crate::io_order::IoOrder::default()
        };
        Ok(())
    }
}
