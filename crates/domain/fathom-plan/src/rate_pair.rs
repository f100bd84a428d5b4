//! Reads at one rate beside writes at another: a cell of the surface that both rates span.
//!
//! Both arrive after one Poisson process whose I/Os are reads or writes by chance: by thinning (Kingman, "Poisson Processes",
//! section 2.1) that is the same as two processes of their own, so that one step does what two streams would.

use serde::{Deserialize, Serialize};

use crate::share::rate_base;
use crate::step::{OpMix, Rate, RateProcess, Step};

/// Rates relative to the most that a closed loop of reads alone, and one of writes alone, gave before in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RatePair {
    /// Reads, in percent of the most reads per second.
    pub read_pct: u16,
    /// Writes, in percent of the most writes per second.
    pub write_pct: u16,
}

impl RatePair {
    /// What the step does until both rates are known: reads, writes, or as many of each.
    pub(crate) fn mix(self) -> OpMix {
        match (self.read_pct, self.write_pct) {
            (_, 0) => OpMix::READ,
            (0, _) => OpMix::WRITE,
            _ => OpMix { read_pct: 50, write_pct: 50, trim_pct: 0 },
        }
    }

    /// The loads of which the rates are shares.
    pub(crate) fn bases(self) -> impl Iterator<Item = OpMix> {
        let wanted = [(self.read_pct, OpMix::READ), (self.write_pct, OpMix::WRITE)];
        wanted.into_iter().filter(|(pct, _)| *pct > 0).map(|(_, mix)| mix)
    }

    /// Rate and mix of `step` by what `earlier` steps gave; `None` while one of them is not known. Mixes go by whole
    /// percent: what is rarer than half a percent is done at one, and the record tells what was done.
    pub(crate) fn rates(self, step: &Step, earlier: &[(&Step, f64)]) -> Option<(Rate, OpMix)> {
        let of = |pct: u16, mix: OpMix| match pct {
            0 => Some(0.0),
            _ => {
                let (_, most) = rate_base(&of_mix(step, mix), earlier.iter().copied())?;
                Some(most * f64::from(pct) / 100.0)
            }
        };
        let (reads, writes) = (of(self.read_pct, OpMix::READ)?, of(self.write_pct, OpMix::WRITE)?);
        let iops = reads + writes;
        let read_pct = match (reads > 0.0, writes > 0.0) {
            (_, false) => 100,
            (false, _) => 0,
            _ => (100.0 * reads / iops).round().clamp(1.0, 99.0) as u8,
        };
        let mix = OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 };
        Some((Rate { iops, process: RateProcess::Poisson }, mix))
    }
}

/// The step with another mix, as its bases are compared with it.
pub(crate) fn of_mix(step: &Step, mix: OpMix) -> Step {
    let mut step = step.clone();
    step.workload.mix = mix;
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::Knobs;
    use crate::step::TargetId;

    fn step(words: &[(&str, &str)]) -> Step {
        let mut knobs = Knobs::new();
        words.iter().for_each(|(key, value)| knobs.set(key, value).expect("a knob"));
        knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new()).expect("a step")
    }

    #[test]
    fn rate_and_mix_are_shares_of_the_most_reads_and_writes_alone() {
        let most = [(step(&[("iodepth", "64")]), 60e3), (step(&[("rw", "randwrite"), ("iodepth", "64")]), 20e3)];
        let earlier = || most.iter().map(|(s, iops)| (s, *iops));
        let cell = |read: &str, write: &str| step(&[("read_rate", read), ("write_rate", write)]);
        let of = |read: &str, write: &str| {
            let step = cell(read, write).with_rate_of(earlier());
            (step.load.rate.map(|r| r.iops), step.workload.mix.read_pct)
        };
        assert_eq!(of("50%", "50%"), (Some(40e3), 75));
        assert_eq!(of("100%", "0%"), (Some(60e3), 100));
        assert_eq!(of("0%", "25%"), (Some(5e3), 0));
        assert_eq!(of("100%", "1%").1, 99, "never none of what was asked for");
        let unknown = cell("50%", "50%").with_rate_of(earlier().take(1));
        assert!(unknown.load.rate.is_none() && unknown.lacks_rate() && unknown.is_open_loop());
        assert_eq!(cell("50%", "50%").label, "4k random reads 50 % + writes 50 % T1 QD1");
        assert_eq!(cell("50%", "50%").with_rate_of(earlier()).label, cell("50%", "50%").label);
    }

    #[test]
    fn a_pair_of_nothing_or_beside_another_rate_is_refused() {
        for words in [
            &[("read_rate", "0%"), ("write_rate", "0%")][..],
            &[("read_rate", "50%"), ("rate_iops", "1000")],
            &[("read_rate", "50%"), ("rw", "randtrim")],
            &[("read_rate", "50%"), ("write_rate", "50%"), ("verify", "crc32c")],
        ] {
            let mut knobs = Knobs::new();
            words.iter().for_each(|(key, value)| knobs.set(key, value).expect("a knob"));
            assert!(knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new()).is_err(), "{words:?}");
        }
    }
}
