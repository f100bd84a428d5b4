//! How far a predicted figure may lie from what is measured: intervals from the spread of what is not known.
//!
//! Each thing that is not known moves one parameter, or the figure itself, by a factor whose logarithm is normal about
//! none, wider to one side where the evidence is (a rating "up to" is missed downwards). The load is predicted anew at
//! the ends of each; the moves add in squares, as what is not known of a drive tells nothing of the host. So the cost of an
//! I/O widens no band of a load that the drive holds, and a wide one of a load that a core holds. Last, the width is
//! multiplied by how far published figures lay outside it ([`FigureScale`]).

use serde::{Deserialize, Serialize};

use fathom_message::{Message, msg};

use crate::array::RaidMaker;
use crate::device::DeviceModel;
use crate::machine::{CostModel, CostOrigin, MachineModel, Shape};
use crate::pcie::PcieLink;
use crate::predict::{Point, point};

/// Standard deviations from the middle to the end of an interval that holds half of all.
const Z_50: f64 = 0.674;
/// The same for nine in ten.
const Z_90: f64 = 1.645;

/// Intervals of a figure, which lies within each with the named probability in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureBand {
    /// Half of all.
    pub within_50: [f64; 2],
    /// Nine in ten.
    pub within_90: [f64; 2],
}

impl FigureBand {
    /// Whether a measured value lies in the wider interval.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.within_90[0] <= value && value <= self.within_90[1]
    }

    /// Width of the wider interval over the figure it is of.
    #[must_use]
    pub fn width_over(&self, figure: f64) -> f64 {
        (self.within_90[1] - self.within_90[0]) / figure
    }

    fn about(figure: f64, half: [Half; 2]) -> FigureBand {
        let ends = |h: Half| [figure * (-h.low).exp(), figure * h.high.exp()];
        let [inner, outer] = half;
        // A tail may be longer before a part is full than after.
        let outer = Half { low: outer.low.max(inner.low), high: outer.high.max(inner.high) };
        FigureBand { within_50: ends(inner), within_90: ends(outer) }
    }
}

/// Intervals of all figures of a load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bands {
    /// I/Os per second.
    pub iops: FigureBand,
    /// Bytes per second.
    pub bytes_per_s: FigureBand,
    /// Mean latency.
    pub lat_ns_mean: FigureBand,
    /// The 99th percentile.
    pub lat_ns_p99: FigureBand,
    /// Busy cores, where the cost of an I/O is known.
    pub cores_busy: Option<FigureBand>,
}

/// Something that is not known and by how much it alone moves the IOPS, nine times in ten.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unknown {
    /// What.
    pub part: UnknownPart,
    /// Factors on the IOPS, down and up.
    pub factors: [f64; 2],
}

/// What a prediction does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPart {
    /// What an I/O costs on this host: clock, kernel, mitigations.
    EngineCost,
    /// The most reads that this drive gives.
    ReadRate,
    /// The most writes that this drive sustains in the state it is in.
    WriteRate,
    /// The time of a read alone.
    ReadLatency,
    /// The time of a write alone.
    WriteLatency,
    /// How many reads the media serve at the same time.
    Media,
    /// The bytes that this drive moves.
    Bandwidth,
    /// What reads and writes do to each other.
    Mix,
    /// Payload of a packet on the links.
    Payload,
    /// What the maker of an array adds to its members.
    Array,
    /// What the closed form leaves out.
    Form,
}

impl UnknownPart {
    /// All, in the order they are printed in where they weigh the same.
    pub const ALL: [UnknownPart; 11] = [
        UnknownPart::EngineCost,
        UnknownPart::ReadRate,
        UnknownPart::WriteRate,
        UnknownPart::ReadLatency,
        UnknownPart::WriteLatency,
        UnknownPart::Media,
        UnknownPart::Bandwidth,
        UnknownPart::Mix,
        UnknownPart::Payload,
        UnknownPart::Array,
        UnknownPart::Form,
    ];

    /// As a sentence names it.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            UnknownPart::EngineCost => msg!("unknown-engine-cost"),
            UnknownPart::ReadRate => msg!("unknown-read-rate"),
            UnknownPart::WriteRate => msg!("unknown-write-rate"),
            UnknownPart::ReadLatency => msg!("unknown-read-latency"),
            UnknownPart::WriteLatency => msg!("unknown-write-latency"),
            UnknownPart::Media => msg!("unknown-media"),
            UnknownPart::Bandwidth => msg!("unknown-bandwidth"),
            UnknownPart::Mix => msg!("unknown-mix"),
            UnknownPart::Payload => msg!("unknown-payload"),
            UnknownPart::Array => msg!("unknown-array"),
            UnknownPart::Form => msg!("unknown-form"),
        }
    }
}

/// By how much published figures lie farther out than the spread of what is not known says, by kind of figure: the factor
/// on the width of a band that makes nine in ten of them lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureScale {
    /// Rates and latencies, which Little's law ties to each other.
    pub rate: f64,
    /// Cores.
    pub cores: f64,
}

impl FigureScale {
    /// No factor.
    pub const ONE: FigureScale = FigureScale { rate: 1.0, cores: 1.0 };
    /// From all articles (`fathom reproduce --left-out` prints what they ask for; a test holds the two together).
    pub const PUBLISHED: FigureScale = FigureScale { rate: 1.30, cores: 1.49 };
}

/// Standard deviation of the logarithm, of factors below one and above.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    down: f64,
    up: f64,
}

const fn spread(down: f64, up: f64) -> Spread {
    Spread { down, up }
}

/// What the maker of a card adds, down and up, on the logarithm. Of 12 figures behind cards, each predicted without its own
/// fits, published / predicted is 0.49 to 1.07 (recomputed in a test of the lab).
pub const CARD_SPREAD: [f64; 2] = [0.43, 0.06];

/// Published costs of an I/O through libaio, each from another article and host: 3.6 us times 1.8 (the geometric mean of
/// one article's three), 5.0 and 1.46. Their logarithms have this standard deviation.
const COST_ELSEWHERE: Spread = spread(0.66, 0.66);
/// A cost counted on this host moves with what else runs there.
const COST_MEASURED: Spread = spread(0.05, 0.05);
/// What no rating or fit says at all.
const FORM: Spread = spread(0.06, 0.06);
/// p99 beside the mean: the closed form knows means, tails come from what it leaves out.
const FORM_P99: Spread = spread(0.25, 0.5);
/// Of an I/O that nobody published a cost of it is known that it costs something: as much as through `io_uring`, seldom
/// twice that.
const COST_OF_ANY_NS: f64 = 2_309.0;

/// How well one thing is known of a load on a machine; `None`: it takes no part.
fn spread_of(part: UnknownPart, machine: &MachineModel, shape: &Shape) -> Option<Spread> {
    let device = machine.device.as_ref()?;
    let sheet = device.sheet;
    let up_to = sheet.is_some_and(|s| s.is_up_to);
    let (reads, writes) = (shape.read_share > 0.0, shape.read_share < 1.0);
    // Of a model that was fitted, to a simulated drive or a measured one, the drive at hand is another sample.
    let known = |is_fitted: fn(&crate::device::DataSheet) -> bool, rated: Option<f64>, spreads: [Spread; 3]| {
        let [fitted, on_sheet, absent] = spreads;
        match sheet {
            None => fitted,
            Some(s) if is_fitted(&s) => fitted,
            Some(_) if rated.is_some() => on_sheet,
            Some(_) => absent,
        }
    };
    let of = |get: fn(&crate::device::DataSheet) -> Option<f64>| sheet.as_ref().and_then(get);
    let sample = spread(0.05, 0.05);
    let found = match part {
        UnknownPart::EngineCost => match machine.cost.as_ref().map(|c| &c.origin) {
            Some(CostOrigin::Measured | CostOrigin::Described) => COST_MEASURED,
            Some(CostOrigin::Published { .. }) | None => COST_ELSEWHERE,
        },
        UnknownPart::ReadRate if reads => {
            let rated = if up_to { spread(0.20, 0.03) } else { spread(0.10, 0.07) };
            known(|s| s.is_read_fitted, of(|s| s.read_iops), [sample, rated, spread(0.6, 0.2)])
        }
        UnknownPart::WriteRate if writes => {
            let rated = if up_to { spread(0.60, 0.05) } else { spread(0.20, 0.20) };
            known(|s| s.is_write_fitted, of(|s| s.write_iops), [sample, rated, spread(1.2, 0.1)])
        }
        UnknownPart::ReadLatency if reads => {
            known(|s| s.is_read_fitted, of(|s| s.read_ns), [sample, spread(0.10, 0.15), spread(0.25, 0.25)])
        }
        UnknownPart::WriteLatency if writes => {
            known(|s| s.is_write_fitted, of(|s| s.write_ns), [sample, spread(0.25, 0.25), spread(0.45, 0.45)])
        }
        // No sheet says it.
        UnknownPart::Media if reads => {
            known(|s| s.is_read_fitted, None, [spread(0.1, 0.1), spread(0.5, 0.5), spread(0.5, 0.5)])
        }
        UnknownPart::Bandwidth => {
            let of_part = if reads { of(|s| s.read_bytes_per_s) } else { of(|s| s.write_bytes_per_s) };
            let rated = if up_to { spread(0.12, 0.03) } else { spread(0.07, 0.05) };
            known(|_| false, of_part, [sample, rated, spread(0.3, 0.3)])
        }
        UnknownPart::Mix if reads && writes => {
            if device.random_write_bytes_per_s.is_some() {
                spread(0.30, 0.15)
            } else {
                spread(0.12, 0.08)
            }
        }
        UnknownPart::Payload => spread(1.0, 1.0),
        UnknownPart::Array => match machine.raid.as_ref().map(|r| &r.maker) {
            None => return None,
            Some(RaidMaker::Card(_)) => spread(CARD_SPREAD[0], CARD_SPREAD[1]),
            // Nothing is published over catalogued drives.
            Some(RaidMaker::Md(_) | RaidMaker::UserSpace) => spread(0.6, 0.1),
        },
        UnknownPart::Form => FORM,
        _ => return None,
    };
    Some(found)
}

/// Half widths on the logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Half {
    low: f64,
    high: f64,
}

impl Half {
    /// With the moves of one more unknown.
    fn and(self, moves: [f64; 2]) -> Half {
        let [a, b] = moves;
        let (low, high) = (a.min(b).min(0.0), a.max(b).max(0.0));
        Half { low: self.low.hypot(low), high: self.high.hypot(high) }
    }

    fn times(self, factor: f64) -> Half {
        Half { low: self.low * factor, high: self.high * factor }
    }
}

/// The figures of a load on a logarithmic scale: IOPS, mean, p99, cores.
type Logs = [f64; 4];

fn logs(p: &Point) -> Logs {
    [p.iops.ln(), p.lat_ns_mean.ln(), p.lat_ns_p99.ln(), p.cores_busy.map_or(0.0, |c| c.max(f64::MIN_POSITIVE).ln())]
}

/// The bands about a predicted load, and what widens them, most first.
pub(crate) fn bands(machine: &MachineModel, shape: &Shape, at: &Point, scale: FigureScale) -> (Bands, Vec<Unknown>) {
    let middle = logs(at);
    let mut halves = [[Half::default(); 2]; 4];
    let mut unknowns = Vec::new();
    for part in UnknownPart::ALL {
        let Some(spread) = spread_of(part, machine, shape) else { continue };
        let mut factors = [1.0, 1.0];
        for (level, z) in [Z_50, Z_90].into_iter().enumerate() {
            let moved =
                |z: f64| moved(part, machine, shape, at, spread, z).map_or([0.0; 4], |logs| minus(logs, middle));
            let (down, up) = (moved(-z), moved(z));
            for (figure, half) in halves.iter_mut().enumerate() {
                half[level] = half[level].and([down[figure], up[figure]]);
            }
            factors = [down[0].min(up[0]).min(0.0).exp(), down[0].max(up[0]).max(0.0).exp()];
        }
        unknowns.push(Unknown { part, factors });
    }
    unknowns.retain(|u| u.part != UnknownPart::Form && u.factors[1] / u.factors[0] > 1.02);
    unknowns.sort_by(|a, b| (b.factors[1] / b.factors[0]).total_cmp(&(a.factors[1] / a.factors[0])));
    // A rate that is asked for is not exceeded.
    let about = |figure: f64, half: [Half; 2], by: f64| FigureBand::about(figure, half.map(|h| h.times(by)));
    let iops = about(at.iops, halves[0], scale.rate);
    let iops = shape.rate_iops.map_or(iops, |rate| capped(iops, rate));
    let bytes = |ends: [f64; 2]| ends.map(|x| x * shape.block_bytes);
    let all = Bands {
        iops,
        bytes_per_s: FigureBand { within_50: bytes(iops.within_50), within_90: bytes(iops.within_90) },
        lat_ns_mean: about(at.lat_ns_mean, halves[1], scale.rate),
        lat_ns_p99: about(at.lat_ns_p99, halves[2], scale.rate),
        cores_busy: at.cores_busy.map(|cores| about(cores, halves[3], scale.cores)),
    };
    (all, unknowns)
}

fn capped(band: FigureBand, most: f64) -> FigureBand {
    let cap = |ends: [f64; 2]| ends.map(|x| x.min(most));
    FigureBand { within_50: cap(band.within_50), within_90: cap(band.within_90) }
}

fn minus(a: Logs, b: Logs) -> Logs {
    std::array::from_fn(|i| a[i] - b[i])
}

/// The figures where one thing lies `z` standard deviations above what is taken for it, below for a negative one.
fn moved(part: UnknownPart, machine: &MachineModel, shape: &Shape, at: &Point, by: Spread, z: f64) -> Option<Logs> {
    let x = if z < 0.0 { z * by.down } else { z * by.up };
    let factor = x.exp();
    let of_figures = |rate: f64, p99: f64, cores: f64| {
        let [iops, mean, tail, busy] = logs(at);
        Some([iops + rate, mean - rate, tail - rate + p99, busy + rate + cores])
    };
    let device = |change: &dyn Fn(&mut DeviceModel)| {
        let mut machine = machine.clone();
        change(machine.device.as_mut()?);
        point(&machine, shape).map(|p| logs(&p))
    };
    match part {
        UnknownPart::EngineCost => {
            let mut machine = machine.clone();
            let cost = machine.cost.take();
            machine.cost = match cost {
                Some(cost) => {
                    Some(CostModel { thread_ns: cost.thread_ns * factor, irq_ns: cost.irq_ns * factor, ..cost })
                }
                None if z > 0.0 => {
                    let thread_ns = COST_OF_ANY_NS * factor;
                    Some(CostModel { thread_ns, irq_ns: 0.0, origin: CostOrigin::Measured })
                }
                None => None,
            };
            let has_cores = at.cores_busy.is_some();
            point(&machine, shape).map(|p| logs(&Point { cores_busy: p.cores_busy.filter(|_| has_cores), ..p }))
        }
        UnknownPart::ReadRate => device(&|d| d.read.stage_ns /= factor),
        UnknownPart::WriteRate => device(&|d| {
            if let Some(write) = &mut d.write {
                write.stage_ns /= factor;
            }
            d.random_write_bytes_per_s = d.random_write_bytes_per_s.map(|rate| rate * factor);
        }),
        UnknownPart::ReadLatency => device(&|d| {
            d.read.unit_ns *= factor;
            d.read.fixed_ns *= factor;
            // As many reads at once as before: what is not known is how long one takes.
        }),
        UnknownPart::WriteLatency => device(&|d| {
            if let Some(write) = &mut d.write {
                write.unit_ns *= factor;
                write.fixed_ns *= factor;
            }
        }),
        UnknownPart::Media => device(&|d| d.read.units = (d.read.units * factor).max(1.0)),
        UnknownPart::Bandwidth => device(&|d| {
            d.read_bytes_per_s = d.read_bytes_per_s.map(|rate| rate * factor);
            d.write_bytes_per_s = d.write_bytes_per_s.map(|rate| rate * factor);
        }),
        UnknownPart::Payload => {
            let mut machine = machine.clone();
            // Half as much is common (128 bytes), twice as much rare; of the inner half it is what is usual.
            let payload = |link: &mut PcieLink| {
                link.max_payload_bytes = match z {
                    z if z <= -Z_90 => (link.max_payload_bytes / 2).max(128),
                    z if z >= Z_90 => (link.max_payload_bytes * 2).min(512),
                    _ => link.max_payload_bytes,
                };
            };
            machine.links.iter_mut().for_each(payload);
            machine.uplinks.iter_mut().for_each(|up| payload(&mut up.link));
            if let Some(link) = machine.device.as_mut().and_then(|d| d.link.as_mut()) {
                payload(link);
            }
            point(&machine, shape).map(|p| logs(&p))
        }
        UnknownPart::Mix | UnknownPart::Array => of_figures(x, 0.0, 0.0),
        UnknownPart::Form => {
            let tail = if z < 0.0 { z * FORM_P99.down } else { z * FORM_P99.up };
            of_figures(x, tail, 0.0)
        }
    }
}

#[cfg(test)]
mod tests;
