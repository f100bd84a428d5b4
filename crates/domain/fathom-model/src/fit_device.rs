//! A device file from a run: the parameters of its reads and writes, and the bandwidths it reached.

use std::fmt::Write as _;

use fathom_message::{Message, Quantity, msg};
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
            && !step.load.has_rates()
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

/// What a device file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFile<'a> {
    /// Name of the device.
    pub id: &'a str,
    /// Maker and model.
    pub model: &'a str,
    /// Name of its source: the run.
    pub source_id: &'a str,
    /// Title of its source.
    pub source_title: &'a str,
    /// Year of its source, where known.
    pub year: Option<u16>,
}

impl FittedDevice {
    /// The device as a file in the catalogue's form. `say` puts the note and the comment into words.
    #[must_use]
    pub fn to_toml(&self, file: &DeviceFile<'_>, say: impl Fn(&Message) -> String) -> String {
        let mut out = format!("# {}\n\n[[source]]\n", say(&msg!("fit-file-comment")));
        put_text(&mut out, "id", file.source_id);
        put_text(&mut out, "title", file.source_title);
        put_text(&mut out, "publisher", "Fathom");
        if let Some(year) = file.year {
            put(&mut out, "year", f64::from(year));
        }
        out.push_str("\n[[device]]\n");
        put_text(&mut out, "id", file.id);
        put_text(&mut out, "model", file.model);
        let sources = toml::Value::from(vec![file.source_id]);
        let _ = writeln!(out, "source = {sources}");
        put(&mut out, "rand_read_4k_iops", self.read.model.iops_max());
        if let Some(w) = self.write {
            put(&mut out, "rand_write_4k_iops", w.model.iops_max());
        }
        if let Some(rate) = self.seq_read_bytes_per_s {
            put(&mut out, "seq_read_bytes_per_s", rate);
        }
        if let Some(rate) = self.seq_write_bytes_per_s {
            put(&mut out, "seq_write_bytes_per_s", rate);
        }
        put_text(&mut out, "note", &say(&self.note()));
        self.put_parameters(&mut out);
        out
    }

    fn put_parameters(&self, out: &mut String) {
        let fixed = |f: &Fit| (f.model.fixed_ns - f.model.stage_ns - self.host_ns).max(0.0);
        out.push_str("\n[device.sim]\n");
        put(out, "controller_ns", self.read.model.stage_ns.max(1.0));
        put(out, "fixed_ns", fixed(&self.read));
        put(out, "units", self.read.model.units.round().max(1.0));
        put(out, "read_ns", self.read.model.unit_ns.max(1.0));
        if let Some(w) = self.write {
            put(out, "controller_write_ns", w.model.stage_ns.max(1.0));
            put(out, "fixed_write_ns", fixed(&w));
            put(out, "write_units", w.model.units.round().max(1.0));
            put(out, "program_ns", w.model.unit_ns.max(1.0));
            // Writes were fitted like reads: waiting for units of their own.
            out.push_str("in_place = true\n");
        }
    }

    /// How well the points are met.
    fn note(&self) -> Message {
        let residual = |f: Fit| Quantity::share(f.residual);
        match self.write {
            Some(write) => msg!("fit-note", reads = residual(self.read), writes = residual(write)),
            None => msg!("fit-note-reads-only", reads = residual(self.read)),
        }
    }
}

fn put(out: &mut String, key: &str, value: f64) {
    let _ = writeln!(out, "{key} = {value:.0}");
}

fn put_text(out: &mut String, key: &str, text: &str) {
    let _ = writeln!(out, "{key} = {}", toml::Value::from(text));
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
        let file = DeviceFile {
            id: "my-ssd",
            model: "a \"quoted\" model",
            source_id: "run-7",
            source_title: "run 7 of quick",
            year: Some(2026),
        };
        let text = fitted.to_toml(&file, fathom_language::english);
        let all = Catalogue::parse(&[("my-ssd.toml", &text)]).expect("is sound");
        let device = DeviceModel::of(all.device("my-ssd").expect("is there")).expect("is known");
        for n in [1, 4, 16, 64] {
            let mut read = device.read;
            read.fixed_ns += 2_000.0;
            assert!((read.at(n).iops / model.at(n).iops - 1.0).abs() < 0.01, "N {n}");
        }
        assert_eq!(device.write.map(|w| w.units), Some(3.0));
        assert_eq!(all.source("run-7").expect("is there").year, Some(2026));
        let undated = fitted.to_toml(&DeviceFile { year: None, ..file }, fathom_language::english);
        let all = Catalogue::parse(&[("my-ssd.toml", &undated)]).expect("is sound");
        assert_eq!(all.source("run-7").expect("is there").year, None, "no year is made up");
    }
}
