//! A device file from a run: the parameters of its reads and writes, and the bandwidths it reached.

use std::fmt::Write as _;

use fathom_plan::{OpMix, Pattern, Phase};

use crate::attribution::Observation;
use crate::cost::cost_model;
use crate::fit::{Fit, Point, fit};

/// Block size that the parameters hold for.
const BLOCK_BYTES: u32 = 4096;
/// From this block size on, a rate is the bandwidth.
const LARGE_BLOCK_BYTES: u32 = 65_536;

/// A device fitted to a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedDevice {
    /// Reads of 4 KiB.
    pub read: Fit,
    /// Writes of 4 KiB, where the run has a ladder of them.
    pub write: Option<Fit>,
    /// Most bytes read per second in order.
    pub seq_read_bytes_per_s: Option<f64>,
    /// Most bytes written per second in order.
    pub seq_write_bytes_per_s: Option<f64>,
    /// Host time per I/O that was taken off the latencies.
    pub host_ns: f64,
}

/// Fits one device to the measured steps of a run. `None` without random reads of 4 KiB at two depths.
#[must_use]
pub fn fit_device(all: &[Observation]) -> Option<FittedDevice> {
    let read_points = ladder(all, OpMix::READ);
    let read = fit(&read_points)?;
    let write = fit(&ladder(all, OpMix::WRITE));
    let best = |mix: OpMix| {
        let large = all.iter().filter(|o| o.step().workload.mix == mix && is_large_sequential(o));
        large.map(per_target_bytes).reduce(f64::max)
    };
    let costs = all.iter().filter_map(|o| cost_model(o.host()?, o.ios())).map(|c| c.thread_ns + c.irq_ns);
    Some(FittedDevice {
        read,
        write,
        seq_read_bytes_per_s: best(OpMix::READ),
        seq_write_bytes_per_s: best(OpMix::WRITE),
        // The cheapest I/O is the one that waited least for anything of the host.
        host_ns: costs.reduce(f64::min).unwrap_or(0.0),
    })
}

/// Points per target of the random ladder of a mix. Loads with several threads count by what they have in flight.
fn ladder(all: &[Observation], mix: OpMix) -> Vec<Point> {
    let random = |o: &&Observation| {
        let step = o.step();
        let w = &step.workload;
        step.phase == Phase::Measure
            && step.load.rate.is_none()
            && w.direct
            && w.mix == mix
            && matches!(w.pattern, Pattern::Random | Pattern::RandomRepeat)
            && w.block_bytes_max() == BLOCK_BYTES
            && o.iops() > 0.0
    };
    all.iter()
        .filter(random)
        .map(|o| {
            let targets = o.step().targets.len() as u32;
            Point { in_flight: o.in_flight() / targets, iops: o.iops() / f64::from(targets) }
        })
        .collect()
}

fn is_large_sequential(o: &Observation) -> bool {
    matches!(o.step().workload.pattern, Pattern::Sequential)
        && o.step().workload.block_bytes_max() >= LARGE_BLOCK_BYTES
        && o.step().workload.direct
}

fn per_target_bytes(o: &Observation) -> f64 {
    o.iops() * f64::from(o.step().workload.block_bytes_max()) / o.step().targets.len() as f64
}

impl FittedDevice {
    /// The device as a file in the catalogue's form; without `year` its source has none.
    #[must_use]
    pub fn to_toml(&self, id: &str, model: &str, source_id: &str, source_title: &str, year: Option<u16>) -> String {
        let mut out = String::new();
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let residual = |f: &Fit| format!("{:.1} %", f.residual * 100.0);
        let write = self.write.map_or("no writes".to_owned(), |w| format!("writes to {}", residual(&w)));
        let note = format!("fitted: reads to {} (root mean square), {write}", residual(&self.read));
        let _ = write!(
            out,
            "# A device fitted by `fathom fit`; use it with --device FILE.\n\n[[source]]\nid = {}\ntitle = {}\n\
             publisher = \"Fathom\"\n{}\n[[device]]\nid = {}\nmodel = {}\nsource = [{0}]\n",
            quoted(source_id),
            quoted(source_title),
            year.map_or_else(String::new, |y| format!("year = {y}\n")),
            quoted(id),
            quoted(model)
        );
        let mut put = |key: &str, value: f64| {
            let _ = writeln!(out, "{key} = {value:.0}");
        };
        put("rand_read_4k_iops", self.read.model.iops_max());
        if let Some(w) = self.write {
            put("rand_write_4k_iops", w.model.iops_max());
        }
        for (key, rate) in
            [("seq_read_bytes_per_s", self.seq_read_bytes_per_s), ("seq_write_bytes_per_s", self.seq_write_bytes_per_s)]
        {
            if let Some(rate) = rate {
                put(key, rate);
            }
        }
        let _ = writeln!(out, "note = {}\n\n[device.sim]", quoted(&note));
        let fixed = |f: &Fit| (f.model.fixed_ns - f.model.stage_ns - self.host_ns).max(0.0);
        let mut put = |key: &str, value: f64| {
            let _ = writeln!(out, "{key} = {value:.0}");
        };
        put("controller_ns", self.read.model.stage_ns.max(1.0));
        put("fixed_ns", fixed(&self.read));
        put("units", self.read.model.units.round().max(1.0));
        put("read_ns", self.read.model.unit_ns.max(1.0));
        if let Some(w) = self.write {
            put("controller_write_ns", w.model.stage_ns.max(1.0));
            put("fixed_write_ns", fixed(&w));
            put("write_units", w.model.units.round().max(1.0));
            put("program_ns", w.model.unit_ns.max(1.0));
            // Writes were fitted like reads: waiting for units of their own.
            out.push_str("in_place = true\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed::OpModel;
    use crate::{Catalogue, DeviceModel};

    #[test]
    fn the_file_of_a_fitted_device_predicts_what_was_fitted() {
        let model = OpModel { units: 20.0, unit_ns: 70_000.0, fixed_ns: 14_000.0, stage_ns: 4_000.0 };
        let fitted = FittedDevice {
            read: Fit { model, residual: 0.01 },
            write: Some(Fit { model: OpModel { units: 3.0, unit_ns: 30_000.0, ..model }, residual: 0.02 }),
            seq_read_bytes_per_s: Some(2e9),
            seq_write_bytes_per_s: None,
            host_ns: 2_000.0,
        };
        let text = fitted.to_toml("my-ssd", "a \"quoted\" model", "run-7", "run 7 of quick", Some(2026));
        let all = Catalogue::parse(&[("my-ssd.toml", &text)]).expect("is sound");
        let device = DeviceModel::of(all.device("my-ssd").expect("is there")).expect("is known");
        for n in [1, 4, 16, 64] {
            let mut read = device.read;
            read.fixed_ns += 2_000.0;
            assert!((read.at(n).iops / model.at(n).iops - 1.0).abs() < 0.01, "N {n}");
        }
        assert_eq!(device.write.map(|w| w.units), Some(3.0));
        assert_eq!(all.source("run-7").expect("is there").year, Some(2026));
        let undated = fitted.to_toml("my-ssd", "a model", "run-7", "run 7 of quick", None);
        let all = Catalogue::parse(&[("my-ssd.toml", &undated)]).expect("is sound");
        assert_eq!(all.source("run-7").expect("is there").year, None, "no year is made up");
    }
}
