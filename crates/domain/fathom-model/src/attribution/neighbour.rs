//! What a neighbouring step showed: the probe that decides a limit.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::{EngineName, Mode};

/// What a neighbouring step has other than the step that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeChange {
    /// More I/Os in flight.
    MoreInFlight {
        /// In flight there, over all threads and targets.
        in_flight: u32,
    },
    /// Fewer I/Os in flight.
    FewerInFlight {
        /// In flight there, over all threads and targets.
        in_flight: u32,
    },
    /// More threads.
    MoreThreads {
        /// Threads of each target there.
        threads: u32,
    },
    /// Another engine, or another mode of it.
    OtherEngine {
        /// The engine there.
        engine: EngineName,
        /// Its mode there.
        mode: Mode,
    },
    /// Fewer targets; the gain is per target.
    FewerTargets {
        /// Targets there.
        targets: u32,
    },
    /// Another block size; the gain is in bytes per second.
    OtherBlock {
        /// Largest block there.
        block_bytes: u32,
    },
    /// A shallower step measured again; the gain is over what it gave first.
    Repeated {
        /// In flight there, over all threads and targets.
        in_flight: u32,
    },
    /// Another drive of the same model on a faster link.
    FasterLink,
}

/// A neighbouring step and what it gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeResult {
    /// Index of that step in the run; `None` where no step was the probe.
    pub step_index: Option<u32>,
    /// What it has other than the step that is judged.
    pub change: ProbeChange,
    /// What it gave over what the step that is judged gave, a multiple; with its interval where the steps have one.
    pub gain: Quantity,
}

impl ProbeResult {
    /// In a sentence. The interval of the gain is shown where `shows_interval`.
    #[must_use]
    pub fn message(&self, shows_interval: bool) -> Message {
        let gain = if shows_interval { self.gain } else { self.gain.with_ci95(None) };
        match self.change {
            ProbeChange::MoreInFlight { in_flight } => {
                msg!("limit-probe-more-in-flight", in_flight = in_flight, gain = gain)
            }
            ProbeChange::FewerInFlight { in_flight } => {
                msg!("limit-probe-fewer-in-flight", in_flight = in_flight, growth = inverse(gain))
            }
            ProbeChange::MoreThreads { threads } => msg!("limit-probe-more-threads", threads = threads, gain = gain),
            ProbeChange::OtherEngine { engine, mode } => {
                msg!("limit-probe-other-engine", engine = engine.as_str(), mode = mode.as_str(), gain = gain)
            }
            ProbeChange::FewerTargets { targets } => msg!("limit-probe-fewer-targets", targets = targets, gain = gain),
            ProbeChange::OtherBlock { block_bytes } => {
                msg!("limit-probe-other-block", block = Quantity::block(u64::from(block_bytes)), gain = gain)
            }
            ProbeChange::Repeated { in_flight } => msg!("limit-probe-repeated", in_flight = in_flight, gain = gain),
            ProbeChange::FasterLink => msg!("limit-probe-faster-link", gain = gain),
        }
    }
}

/// The multiple the other way round.
pub(super) fn inverse(gain: Quantity) -> Quantity {
    Quantity::times(1.0 / gain.value).with_ci95(gain.ci95.map(|[low, high]| [1.0 / high, 1.0 / low]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

    #[test]
    fn a_probe_says_what_it_changed_and_gave_and_its_interval_only_where_that_matters() {
        let gain = Quantity::times(0.8).with_ci95(Some([0.4, 1.6]));
        let of = |change| ProbeResult { step_index: Some(3), change, gain };
        let deeper = of(ProbeChange::MoreInFlight { in_flight: 16 });
        assert_eq!(english(&deeper.message(false)), "16 in flight gave 0.80x the IOPS.");
        assert_eq!(english(&deeper.message(true)), "16 in flight gave 0.80x the IOPS (95 % interval 0.40x to 1.60x).");
        let shallower = of(ProbeChange::FewerInFlight { in_flight: 4 });
        let expected = "The IOPS are 1.25x those at 4 in flight (95 % interval 0.62x to 2.50x).";
        assert_eq!(english(&shallower.message(true)), expected);
        let engine = of(ProbeChange::OtherEngine { engine: EngineName::IoUring, mode: Mode::Iopoll });
        assert_eq!(english(&engine.message(false)), "io_uring iopoll gave 0.80x the IOPS.");
    }
}
