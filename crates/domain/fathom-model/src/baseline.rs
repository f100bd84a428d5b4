//! What anyone reckons on the back of an envelope from a data sheet: the yardstick that a prediction must beat.
//!
//! Rating x drives, the link's rate, depth / latency (as rated, else as usual for the media), the write penalty of the
//! level: the lowest is the answer. No queueing, no packets on the wire, no host, and nothing that a model was fitted to.

use serde::Serialize;

use crate::device::DataSheet;
use crate::machine::{MachineModel, Shape};

/// Block size of ratings in I/Os per second.
const RATED_BLOCK_BYTES: f64 = 4096.0;

/// What arithmetic on ratings gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency: by Little's law where the depth fills the drives, else as rated.
    pub lat_ns_mean: f64,
    /// Busy cores: the published cost of an I/O times their number.
    pub cores_busy: Option<f64>,
}

/// The baseline of a load; `None` where no rating says anything of it.
#[must_use]
pub fn baseline(machine: &MachineModel, shape: &Shape) -> Option<Baseline> {
    let device = machine.device.as_ref()?;
    let sheet = device.sheet.unwrap_or_else(|| DataSheet::of_model(device));
    let drives = f64::from(shape.drives.max(1));
    let penalty = machine.raid.as_ref().map_or(1.0, |raid| raid.level.write_penalty(shape.drives));
    let weighted = |read: Option<f64>, write: Option<f64>| weighted(shape.read_share, read, write);
    let mut rates = Vec::new();
    // Ratings in I/Os are of small blocks in random order, ratings in bytes of large ones: each bounds what it is of.
    let per_block = (shape.block_bytes / RATED_BLOCK_BYTES).max(1.0);
    if !shape.sequential {
        let each_s = |x: Option<f64>| x.map(|x| per_block / x);
        let time_s = weighted(each_s(sheet.read_iops), each_s(sheet.write_iops).map(|s| s * penalty));
        rates.extend(time_s.map(|s| drives / s));
    }
    let each_s = |x: Option<f64>| x.map(|x| shape.block_bytes / x);
    let written = if shape.sequential { 1.0 } else { penalty };
    let moved_s = weighted(each_s(sheet.read_bytes_per_s), each_s(sheet.write_bytes_per_s).map(|s| s * written));
    rates.extend(moved_s.map(|s| drives / s));
    let own = machine.links.first().copied().or(device.link);
    rates.extend(own.map(|link| drives * link.coded_bytes_per_s() / shape.block_bytes));
    rates.extend(machine.uplinks.iter().map(|up| up.link.coded_bytes_per_s() / shape.block_bytes));
    // Where no latency is rated anyone takes the usual one of the media.
    let latency_ns = weighted(Some(sheet.read_or_usual_ns()), Some(sheet.write_or_usual_ns()));
    rates.extend(latency_ns.map(|ns| f64::from(shape.in_flight) * 1e9 / ns));
    rates.extend(shape.rate_iops);
    let iops = rates.into_iter().reduce(f64::min)?;
    let cost_ns = machine.cost.as_ref().map(|cost| cost.thread_ns + cost.irq_ns);
    Some(Baseline {
        iops,
        bytes_per_s: iops * shape.block_bytes,
        lat_ns_mean: match shape.rate_iops {
            Some(_) => latency_ns.unwrap_or(1e9 / iops),
            None => f64::from(shape.in_flight) * 1e9 / iops,
        },
        cores_busy: cost_ns.map(|ns| iops * ns / 1e9),
    })
}

/// Time of a mix; `None` where a part that it has is not rated.
fn weighted(read_share: f64, read: Option<f64>, write: Option<f64>) -> Option<f64> {
    let part = |share: f64, time: Option<f64>| if share > 0.0 { time.map(|t| share * t) } else { Some(0.0) };
    Some(part(read_share, read)? + part(1.0 - read_share, write)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;
    use crate::array::RaidModel;
    use crate::device::DeviceModel;
    use crate::machine::RaidLevel;

    fn machine(id: &str) -> MachineModel {
        let all = Catalogue::embedded();
        let device = DeviceModel::of(all.device(id).expect("is there")).expect("is known");
        MachineModel { device: Some(device), ..MachineModel::named("m") }
    }

    fn shape(read_share: f64, block_bytes: f64, drives: u32, in_flight: u32) -> Shape {
        Shape {
            read_share,
            block_bytes,
            sequential: false,
            drives,
            threads: 1,
            in_flight,
            siblings_first: false,
            buffered: false,
            rate_iops: None,
        }
    }

    fn iops(m: &MachineModel, s: &Shape) -> f64 {
        baseline(m, s).expect("is rated").iops
    }

    /// 700 000 reads and 82 us by the data sheet.
    #[test]
    fn it_is_the_envelopes_arithmetic() {
        let m = machine("p5510-3840");
        assert!((iops(&m, &shape(1.0, 4096.0, 1, 1)) / (1e9 / 82e3) - 1.0).abs() < 1e-9);
        assert!((iops(&m, &shape(1.0, 4096.0, 3, 3_000)) / 2.1e6 - 1.0).abs() < 1e-9);
        let point = baseline(&m, &shape(1.0, 4096.0, 1, 8)).expect("is rated");
        assert!((point.iops * point.lat_ns_mean / 1e9 - 8.0).abs() < 1e-9);
        let writes = shape(0.0, 4096.0, 4, 4096);
        let array = MachineModel { raid: Some(RaidModel::of(RaidLevel::Raid5)), ..m.clone() };
        assert!((iops(&m, &writes) / iops(&array, &writes) - 4.0).abs() < 1e-9);
        let large = Shape { sequential: true, ..shape(1.0, 131_072.0, 1, 64) };
        assert!(iops(&m, &large) * 131_072.0 <= 7.9e9, "no more than the link");
    }

    /// What a model was fitted to is not on the data sheet.
    #[test]
    fn fitted_parameters_take_no_part() {
        let mut m = machine("p3700");
        let before = iops(&m, &shape(1.0, 4096.0, 1, 128));
        m.device.as_mut().expect("is there").read.stage_ns *= 2.0;
        assert!((iops(&m, &shape(1.0, 4096.0, 1, 128)) - before).abs() < 1e-9);
    }
}
