//! Rates of single operations: `rate_iops=10k,3k`.

use fathom_message::msg;

use super::value::{fault_help, rate_iops, shorten};
use super::{Fault, Knobs, RATE_IOPS_MAX};
use crate::io_order::SizeRange;
use crate::load::OpRates;
use crate::step::{Op, OpMix};

/// Rates of reads, writes and trims; `None`: no limit.
pub(super) type RateOfOps = [Option<f64>; 3];

/// The arrivals that the knobs ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AskedRates {
    /// I/Os per second of an open loop.
    pub(super) iops: Option<f64>,
    /// Rates of single operations.
    pub(super) of_ops: Option<OpRates>,
}

/// `10k,3k`: rates of reads, writes and trims. The last one is repeated, as in fio; an empty one or 0 is no limit.
pub(super) fn parse_op_rates(text: &str) -> Result<RateOfOps, Fault> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(fault_help(msg!("knob-rates-of-three", text = shorten(text)), msg!("knob-rates-of-three-help")));
    }
    let of = |part: &&str| match part.parse::<f64>() {
        _ if part.is_empty() => Ok(None),
        Ok(0.0) => Ok(None),
        _ if part.ends_with('%') => {
            Err(fault_help(msg!("knob-share-of-op", text = shorten(part)), msg!("knob-rates-of-three-help")))
        }
        _ => rate_iops(part, RATE_IOPS_MAX).map(Some),
    };
    let rates: Vec<Option<f64>> = parts.iter().map(of).collect::<Result<_, _>>()?;
    Ok([0, 1, 2].map(|op| rates[op.min(rates.len() - 1)]))
}

/// The text that [`parse_op_rates`] reads as these rates of reads and writes.
pub(super) fn op_rates_text(rates: OpRates, print: impl Fn(f64) -> String) -> String {
    [rates.read_iops, rates.write_iops].map(|iops| iops.map_or("0".to_owned(), &print)).join(",")
}

impl Knobs {
    /// Mean bytes of an operation's I/Os: of its block sizes by their shares, or of its range.
    pub(crate) fn mean_block_bytes(&self, op: Op) -> f64 {
        if let Some(range) = self.size_range {
            return SizeRange { unaligned: self.bs_unaligned == Some(true), ..range }.mean_bytes();
        }
        let writes = self.write_sizes.as_ref().or(self.block_sizes.as_ref());
        let sizes = match op {
            Op::Write => writes,
            Op::Trim => self.trim_sizes.as_ref().or(writes),
            Op::Read | Op::Sync => self.block_sizes.as_ref(),
        };
        let Some(sizes) = sizes else { return 4096.0 };
        sizes.iter().map(|b| f64::from(b.bytes) * f64::from(b.share_pct) / 100.0).sum()
    }

    /// Sets `rate_iops` to rates of single operations.
    pub(super) fn rate_ops(&mut self, text: &str) -> Result<(), Fault> {
        (self.rate_iops, self.rate_share_pct) = (None, None);
        self.rate_of_ops = Some(parse_op_rates(text)?);
        Ok(())
    }

    /// True if `rate_iops` is set to I/Os per second.
    pub(super) fn has_rate_iops(&self) -> bool {
        self.rate_iops.is_some() || self.rate_of_ops.is_some_and(|rates| rates.iter().any(Option::is_some))
    }

    /// Rates for the operations that the mix has.
    pub(super) fn asked_rates(&self, mix: OpMix) -> AskedRates {
        let Some([reads, writes, trims]) = self.rate_of_ops else {
            return AskedRates { iops: self.rate_iops.or(self.stages_iops()), of_ops: None };
        };
        let iops = match (mix.read_pct, mix.write_pct, mix.trim_pct) {
            (_, 0, 0) => reads,
            (0, _, 0) => writes,
            (0, 0, _) => trims,
            // A write for each trim: as in fio, the rate of the writes decides.
            (0, _, _) => writes.map(|writes| 2.0 * writes),
            _ => {
                let process = self.rate_process();
                let rates = OpRates { read_iops: reads, write_iops: writes, process };
                let of_ops = Some(rates).filter(|_| reads.is_some() || writes.is_some());
                return AskedRates { iops: rates.sum_iops(), of_ops };
            }
        };
        AskedRates { iops, of_ops: None }
    }
}

#[cfg(test)]
mod tests {
    use fathom_message::Message;

    use super::*;
    use crate::load::RateProcess;
    use crate::step::{Step, TargetId};

    fn step(words: &[(&str, &str)]) -> Step {
        let mut knobs = Knobs::new();
        words.iter().for_each(|(key, value)| knobs.set(key, value).expect("a knob"));
        knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::<Message>::new()).expect("a step")
    }

    #[test]
    fn an_empty_rate_is_no_limit_and_the_last_is_repeated() {
        assert_eq!(parse_op_rates("10k,3k"), Ok([Some(10e3), Some(3e3), Some(3e3)]));
        assert_eq!(parse_op_rates(",2k"), Ok([None, Some(2e3), Some(2e3)]));
        assert_eq!(parse_op_rates("4k,"), Ok([Some(4e3), None, None]));
        assert_eq!(parse_op_rates("0,5,7"), Ok([None, Some(5.0), Some(7.0)]));
        for bad in ["1,2,3,4", "fast,1", "-1,2", "50%,10", "1e99,1"] {
            assert!(parse_op_rates(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn both_rates_make_an_open_loop_with_the_mix_that_they_make() {
        let step = step(&[("rw", "randrw"), ("rwmixread", "50"), ("rate_iops", "10k,3k"), ("rate_process", "poisson")]);
        let rate = step.load.rate.expect("an open loop");
        assert_eq!((rate.iops, rate.process), (13e3, RateProcess::Poisson));
        let rates = step.load.op_rates.expect("two rates");
        assert_eq!((rates.read_iops, rates.write_iops, rates.process), (Some(10e3), Some(3e3), RateProcess::Poisson));
        assert_eq!(step.workload.mix, OpMix { read_pct: 77, write_pct: 23, trim_pct: 0 });
        assert_eq!(step.label, "4k random 77/23 T1 QD1 at 10000 reads/s + 3000 writes/s");
    }

    #[test]
    fn one_rate_limits_its_operation_in_a_closed_loop() {
        let step = step(&[("rw", "randrw"), ("rwmixread", "90"), ("rate_iops", ",512")]);
        assert!(step.load.rate.is_none() && !step.is_open_loop() && step.load.has_rates());
        let rates = step.load.op_rates.expect("a limit");
        assert_eq!((rates.read_iops, rates.write_iops), (None, Some(512.0)));
        assert_eq!(step.workload.mix.read_pct, 90);
        assert_eq!(step.label, "4k random 90/10 T1 QD1, writes <= 512/s");
    }

    #[test]
    fn an_operation_alone_has_its_own_rate() {
        let rate = |words: &[(&str, &str)]| {
            let load = step(words).load;
            assert!(load.op_rates.is_none());
            load.rate.map(|rate| rate.iops)
        };
        assert_eq!(rate(&[("rw", "randread"), ("rate_iops", "10k,3k")]), Some(10e3));
        assert_eq!(rate(&[("rw", "randwrite"), ("rate_iops", "10k,3k")]), Some(3e3));
        assert_eq!(rate(&[("rw", "randtrim"), ("rate_iops", "10k,3k,1k")]), Some(1e3));
        assert_eq!(rate(&[("rw", "randread"), ("rate_iops", ",3k")]), None);
        assert_eq!(rate(&[("rw", "trimwrite"), ("rate_iops", "10k,3k,1k")]), Some(6e3));
        assert_eq!(rate(&[("rw", "randrw"), ("rate_iops", "0,0")]), None);
    }
}
