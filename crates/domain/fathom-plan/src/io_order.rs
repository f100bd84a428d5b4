//! What fio's words say of the order and the sizes of I/Os beyond a pattern: strides, zones, lists, mixes of sizes per
//! direction, and ends after so many bytes or I/Os.

use serde::{Deserialize, Serialize};

use crate::file_ops::FileLoad;
use crate::file_service::FileService;
use crate::replay::Replay;
use crate::step::BlockSize;

// As serde asks.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// Order and sizes of a thread's I/Os beyond mix, pattern and block sizes. The default adds nothing to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct IoOrder {
    /// Bytes between the end of an I/O and the next of a sequential pattern (`rw=read:8k`); negative goes backwards.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub stride_bytes: i64,
    /// I/Os between two new places of a random pattern (`rw=randread:8`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub runs: Option<Runs>,
    /// Share of I/Os of a random pattern at random places, in percent; the rest follow the I/O before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub random_pct: Option<u8>,
    /// Random places are multiples of it from the start of the region, and sequential I/Os begin where the last one ended;
    /// `None`: of the largest block, or of an operation's smallest where something else of this order is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub align_bytes: Option<u32>,
    /// Sizes of writes, where they differ from those of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub write_sizes: Option<Vec<BlockSize>>,
    /// Sizes of trims, where they differ from those of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub trim_sizes: Option<Vec<BlockSize>>,
    /// A write of the same block follows each trim (`rw=trimwrite`). Limits of bytes and I/Os count the trims alone, and are so
    /// many of each.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub trims_first: bool,
    /// Sizes are drawn from a range in place of the block sizes, of which there is one then: the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub range: Option<SizeRange>,
    /// Zones of a random pattern, from the start of the region on; empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub zones: Vec<AccessZone>,
    /// Blocks of a random pattern by a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub list: Option<BlockList>,
    /// Zones that I/O goes through one after the other, with gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub strided: Option<StridedZones>,
    /// Bytes that a thread moves in one pass; `None`: as many as its region has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub pass_bytes: Option<u64>,
    /// I/Os of a thread in one pass at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub pass_ios: Option<u64>,
    /// Each thread has a region as large as the step's, that of thread i so many bytes later i times; `None`: threads of a
    /// sequential pattern divide the region.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub thread_offset_bytes: Option<u64>,
    /// Random writes come in the places that bring a drive to the state of long random writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub sprandom: Option<SpRandom>,
    /// I/Os come from a trace: nothing else of the order counts then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub replay: Option<Replay>,
    /// I/Os are whole files, each worked on once: nothing else of the order counts then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub files: Option<FileLoad>,
    /// Which of its targets a thread's next I/O goes to; `None`: each has a share of the depth, or where it does not divide they
    /// take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub service: Option<FileService>,
}

/// fio's `sprandom`: a pass writes the physical capacity of a drive once, so that its erase blocks are as valid as random
/// writes leave them in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SpRandom {
    /// Parts of the capacity that are written one after the other, at least 1.
    pub regions: u32,
    /// Capacity that the drive has beyond what it shows, in parts of a million of that.
    pub spare_ppm: u32,
}

/// I/Os that follow each new place of a random pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Runs {
    /// I/Os from one new place to the next, at least 2.
    pub ios: u32,
    /// Whether the others go to the place itself once more, rather than behind the I/O before.
    pub in_place: bool,
}

/// Sizes from `min_bytes` to `max_bytes`: multiples of the least one, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SizeRange {
    /// Smallest size, above 0.
    pub min_bytes: u32,
    /// Largest size.
    pub max_bytes: u32,
    /// Whether sizes are bytes that need not be multiples of the smallest.
    pub unaligned: bool,
}

impl SizeRange {
    /// Mean of the sizes as fio draws them: as far above the smallest as the largest is long, cut at the largest.
    #[must_use]
    pub fn mean_bytes(self) -> f64 {
        let (min, max) = (f64::from(self.min_bytes), f64::from(self.max_bytes));
        if self.unaligned {
            return min + (max - min) * (max + min) / (2.0 * max);
        }
        // Each whole multiple of the smallest has a share of `min / max`; the largest has the rest.
        let multiples = (max / min).floor();
        min * min / max * multiples * (multiples + 1.0) / 2.0 + max - multiples * min
    }
}

/// A part of the region and its share of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AccessZone {
    /// Share of the I/Os in percent; the zones' shares add up to 100.
    pub access_pct: u8,
    /// How large it is.
    pub space: ZoneSpace,
}

/// How large an access zone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ZoneSpace {
    /// Percent of the region; all zones have such shares then, and they add up to 100.
    Pct(u8),
    /// Bytes; `None`: the rest of the region.
    Bytes(Option<u64>),
}

impl ZoneSpace {
    /// Percent of the region; 0 for a size in bytes.
    #[must_use]
    pub fn pct(self) -> u32 {
        match self {
            ZoneSpace::Pct(pct) => pct.into(),
            ZoneSpace::Bytes(_) => 0,
        }
    }
}

/// Blocks by their numbers, over and over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockList {
    /// Numbers of blocks from the start of the region; not empty.
    pub blocks: Vec<u64>,
    /// Whether each round through the list begins as many blocks later as the list is long.
    pub advances: bool,
}

/// fio's `zonemode=strided`: so many bytes in a zone, then on to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StridedZones {
    /// Bytes moved in a zone before the next one.
    pub zone_bytes: u64,
    /// Length of a zone.
    pub range_bytes: u64,
    /// Bytes between the end of a zone and the next.
    pub skip_bytes: u64,
}

impl IoOrder {
    /// Whether it adds nothing to the pattern.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == IoOrder::default()
    }

    /// Whether places and sizes of a thread are those of the pattern alone, wherever its region lies.
    #[must_use]
    pub fn follows_pattern(&self) -> bool {
        IoOrder { thread_offset_bytes: None, files: None, service: None, ..self.clone() }.is_plain()
    }

    /// In fio's words, as it stands behind the pattern in a label; `None` where nothing is worth a word.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        if let Some(replay) = &self.replay {
            return Some(replay.words());
        }
        let mut words = Vec::new();
        if self.stride_bytes != 0 {
            words.push(signed_size(self.stride_bytes));
        }
        if let Some(runs) = self.runs {
            words.push(format!("x{}{}", runs.ios, if runs.in_place { " identical" } else { "" }));
        }
        if let Some(pct) = self.random_pct {
            words.push(format!("{pct}%"));
        }
        if !self.zones.is_empty() {
            words.push(zones_word(&self.zones));
        }
        if let Some(list) = &self.list {
            words.push(format!("sequence:{}", numbers(&list.blocks)));
        }
        if let Some(spec) = self.sprandom {
            words.push(format!("sprandom {}%", f64::from(spec.spare_ppm) / 1e4));
        }
        if self.strided.is_some() {
            words.push("strided".to_owned());
        }
        if let Some(range) = self.range {
            let size = |bytes: u32| fathom_units::format_block(bytes.into());
            words.push(format!("{}-{}", size(range.min_bytes), size(range.max_bytes)));
        }
        // Turns are what anybody expects.
        if let Some(service) = self.service.filter(|service| *service != FileService::IN_TURNS) {
            let open = service.open_files.map_or(String::new(), |files| format!(" {files} open"));
            words.push(format!("files {service}{open}"));
        }
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// `+8k`, `-8k`.
pub(crate) fn signed_size(bytes: i64) -> String {
    let sign = if bytes < 0 { '-' } else { '+' };
    format!("{sign}{}", fathom_units::format_block(bytes.unsigned_abs()))
}

/// `2,0,1`.
pub(crate) fn numbers(blocks: &[u64]) -> String {
    blocks.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// fio's word for zones: `zoned:50/5:30/15:20/80`, `zoned_abs:60/1g:40/0`.
pub(crate) fn zones_word(zones: &[AccessZone]) -> String {
    let kind = if zones.iter().any(|z| matches!(z.space, ZoneSpace::Bytes(_))) { "zoned_abs" } else { "zoned" };
    let space = |space| match space {
        ZoneSpace::Pct(pct) => pct.to_string(),
        ZoneSpace::Bytes(bytes) => bytes.map_or(String::new(), fathom_units::format_block),
    };
    let parts: Vec<String> = zones.iter().map(|z| format!("{}/{}", z.access_pct, space(z.space))).collect();
    format!("{kind}:{}", parts.join(":"))
}
