//! From knobs to order, sizes per operation and pacing of a step.

use fathom_message::msg;

use super::build::conflict;
use super::{Distribution, KnobError, Knobs, SpRandomKnobs, ZoneKnobs};
use crate::io_order::{BlockList, IoOrder, Runs, SizeRange, SpRandom, StridedZones};
use crate::pacing::{Flow, LatencyTarget, Pacing, Think};
use crate::read_write::ReadWrite;
use crate::step::{BlockSize, OpMix};

/// Each depth is tried for so long where it is not told.
const LATENCY_WINDOW_NS: u64 = 1_000_000_000;

/// Sizes of reads, writes and trims.
pub(super) struct Sizes {
    /// Those of the first operation that the mix has.
    pub(super) first: Vec<BlockSize>,
    /// Those of writes and trims where they differ from the first.
    writes: Option<Vec<BlockSize>>,
    trims: Option<Vec<BlockSize>>,
}

impl Sizes {
    /// One size for all operations.
    pub(super) fn of_one(bytes: u32) -> Sizes {
        Sizes { first: vec![BlockSize { bytes, share_pct: 100 }], writes: None, trims: None }
    }
}

impl Knobs {
    /// Sizes for the operations that the mix has.
    pub(super) fn sizes(&self, mix: OpMix) -> Sizes {
        let fallback = || vec![BlockSize { bytes: 4096, share_pct: 100 }];
        let range = self.size_range.map(|range| vec![BlockSize { bytes: range.max_bytes, share_pct: 100 }]);
        let reads = range.or_else(|| self.block_sizes.clone()).unwrap_or_else(fallback);
        let writes = self.write_sizes.clone().unwrap_or_else(|| reads.clone());
        let trims = self.trim_sizes.clone().unwrap_or_else(|| writes.clone());
        let first = match (mix.read_pct, mix.write_pct) {
            (0, 0) => trims.clone(),
            (0, _) => writes.clone(),
            _ => reads,
        };
        let unlike = |sizes: Vec<BlockSize>, pct: u8| Some(sizes).filter(|sizes| pct > 0 && *sizes != first);
        Sizes { writes: unlike(writes, mix.write_pct), trims: unlike(trims, mix.trim_pct), first }
    }

    /// The order beyond the pattern.
    pub(super) fn order(&self, rw: ReadWrite, sizes: Sizes) -> Result<IoOrder, KnobError> {
        let is_random = !rw.is_sequential();
        let range = self.size_range.filter(|range| range.min_bytes < range.max_bytes);
        let range = range.map(|range| SizeRange { unaligned: self.bs_unaligned == Some(true), ..range });
        let smallest = sizes.first.iter().map(|size| size.bytes).min().unwrap_or(0);
        let smallest = range.map_or(smallest, |range| range.min_bytes);
        let is_one_size = sizes.first.len() == 1 && sizes.writes.is_none() && sizes.trims.is_none() && range.is_none();
        let align_bytes = self.align_bytes.filter(|bytes| is_random && !(is_one_size && *bytes == smallest));
        let same_for_all = sizes.writes.is_none() && sizes.trims.is_none();
        let packed = (self.packed && !is_one_size && same_for_all && (self.align_bytes.is_none() || !is_random))
            .then_some(smallest);
        // Multiples of the largest block are what a split has anyway.
        let largest = sizes.first.iter().map(|size| size.bytes).max();
        let align_bytes = align_bytes.filter(|bytes| !(same_for_all && range.is_none() && Some(*bytes) == largest));
        let (zones, list) = match &self.distribution {
            Some(Distribution::Zones(zones)) if is_random => (zones.clone(), None),
            Some(Distribution::List(blocks)) if is_random => {
                (Vec::new(), Some(BlockList { blocks: blocks.clone(), advances: self.list_advances == Some(true) }))
            }
            _ => (Vec::new(), None),
        };
        let trims_first = rw.trims() && rw.writes();
        if trims_first && sizes.trims.is_some() {
            return Err(conflict("bs", msg!("knob-trimwrite-sizes"), msg!("knob-trimwrite-sizes-help")));
        }
        let sprandom = self.sprandom(rw, is_one_size)?;
        let runs = self.modifier.filter(|ios| is_random && *ios > 1);
        Ok(IoOrder {
            // Set by a job of fio alone, once its trace is read.
            replay: None,
            files: self.files(rw)?,
            stride_bytes: self.modifier.filter(|_| !is_random).unwrap_or(0),
            runs: runs.map(|ios| Runs { ios: ios as u32, in_place: self.runs_in_place == Some(true) }),
            random_pct: self.random_pct.filter(|pct| is_random && *pct < 100),
            align_bytes: align_bytes.or(packed),
            write_sizes: sizes.writes,
            trim_sizes: sizes.trims,
            trims_first,
            range,
            zones,
            list,
            strided: self.strided()?,
            sprandom,
            pass_bytes: self.pass_bytes,
            pass_ios: self.pass_ios,
            thread_offset_bytes: self.thread_offset_bytes,
            service: self.service(),
        })
    }

    fn sprandom(&self, rw: ReadWrite, is_one_size: bool) -> Result<Option<SpRandom>, KnobError> {
        let SpRandomKnobs { is_on: Some(true), regions, spare_ppm } = self.sprandom else { return Ok(None) };
        let is_alone = self.distribution.is_none()
            && self.modifier.is_none()
            && self.random_pct.is_none()
            && self.zoned == ZoneKnobs::default()
            && self.threads.unwrap_or(1) == 1;
        if rw != ReadWrite::RandWrite || !is_one_size || !is_alone {
            return Err(conflict("sprandom", msg!("knob-sprandom-of-others"), msg!("knob-sprandom-of-others-help")));
        }
        // As fio has them.
        Ok(Some(SpRandom { regions: regions.unwrap_or(100), spare_ppm: spare_ppm.unwrap_or(150_000) }))
    }

    fn strided(&self) -> Result<Option<StridedZones>, KnobError> {
        let zoned = self.zoned;
        if zoned.strided != Some(true) {
            let alone = zoned.zone_bytes.or(zoned.range_bytes).or(zoned.skip_bytes).is_some();
            // fio takes a zone size alone for strided zones; so would a reader of the job.
            if !alone || zoned.strided == Some(false) {
                return Ok(None);
            }
        }
        let Some(zone_bytes) = zoned.zone_bytes.or(zoned.range_bytes).filter(|bytes| *bytes > 0) else {
            return Err(conflict("zonesize", msg!("knob-no-zone-size"), msg!("knob-no-zone-size-help")));
        };
        let range_bytes = zoned.range_bytes.unwrap_or(zone_bytes);
        Ok(Some(StridedZones { zone_bytes, range_bytes, skip_bytes: zoned.skip_bytes.unwrap_or(0) }))
    }

    /// What holds threads back.
    pub(super) fn pacing(&self) -> Result<Pacing, KnobError> {
        let think = self.think.pause_ns.filter(|ns| *ns > 0).map(|pause_ns| Think {
            pause_ns,
            spin_ns: self.think.spin_ns.unwrap_or(0).min(pause_ns),
            ios: self.think.ios.unwrap_or(1),
        });
        let of_think = [
            ("thinktime_spin", self.think.spin_ns.is_some_and(|ns| ns > 0)),
            ("thinktime_blocks", self.think.ios.is_some()),
        ];
        if let Some((key, _)) = of_think.into_iter().find(|(_, is_set)| *is_set && think.is_none()) {
            return Err(conflict(key, msg!("knob-without-think", key = key), msg!("knob-without-think-help")));
        }
        let flow = self.flow.weight.filter(|weight| *weight > 0).map(|weight| Flow {
            id: self.flow.id.unwrap_or(0),
            weight,
            sleep_ns: self.flow.sleep_ns.unwrap_or(0),
        });
        if think.is_some() && (self.has_rate_iops() || self.rate_share_pct.is_some()) {
            return Err(conflict("thinktime", msg!("knob-thinktime-and-rate"), msg!("knob-thinktime-and-rate-help")));
        }
        let asked = self.latency_target;
        let target = asked.lat_ns.filter(|ns| *ns > 0).map(|lat_ns| LatencyTarget {
            lat_ns,
            window_ns: asked.window_ns.unwrap_or(LATENCY_WINDOW_NS),
            within_ppm: asked.within_ppm.unwrap_or(1_000_000),
            runs_on: asked.runs_on.unwrap_or(false),
        });
        let has_rate = self.has_rate_iops() || self.stages_iops().is_some() || self.rate_share_pct.is_some();
        if target.is_some() && has_rate {
            let help = msg!("knob-latency-target-and-rate-help");
            return Err(conflict("latency_target", msg!("knob-latency-target-and-rate"), help));
        }
        Ok(Pacing { think, flow, target })
    }
}
