//! Systems by their data sheets, and what the closed form predicts of a load on one.

use fathom_message::{Message, Say as _, msg};
use fathom_model::catalogue::{Device, PublishedMetric};
use fathom_model::{
    Baseline, Catalogue, Description, FigureBand, FigureScale, MachineModel, Prediction, RaidLevel, RaidMaker,
    RaidModel, Shape, described, predict_scaled,
};
use serde::Deserialize;

use super::cells::LoadCell;
use super::run::Window;

/// A system in names of the catalogue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct System {
    /// What steps call it: a target, or a name of its own.
    pub(super) target: String,
    /// Its drives.
    pub(super) device: String,
    /// How many of them.
    #[serde(default = "one")]
    pub(super) count: u32,
    /// Threads over all drives, where it is not as many for each of them.
    pub(super) threads: Option<u32>,
    /// Physical cores.
    pub(super) cores: Option<u32>,
    /// Cost of an I/O, a name of the catalogue.
    pub(super) engine: Option<String>,
    /// Processor whose clock scales the cost.
    pub(super) cpu: Option<String>,
    /// Level of an array over the drives.
    pub(super) raid: Option<String>,
    /// Card that makes it.
    pub(super) card: Option<String>,
}

fn one() -> u32 {
    1
}

/// A load as it was predicted.
#[derive(Clone, Debug)]
pub(super) struct Foretold {
    pub(super) prediction: Prediction,
    /// Name of the step.
    pub(super) label: String,
    cores: Option<u32>,
    /// Cores that its threads were given.
    given: f64,
}

impl System {
    /// The machine, without anything that figures of the publication `without` told.
    pub(super) fn machine(&self, all: &Catalogue, without: Option<&str>) -> Result<MachineModel, Message> {
        let device = all.device(&self.device).map_err(|e| e.message)?;
        let catalogue = match without.filter(|of| is_fitted_to(device, of, all)) {
            Some(_) => &without_fits(all, device),
            None => all,
        };
        let raid = self.raid.as_deref().map(|level| self.array(level, all, without)).transpose()?;
        let what = Description {
            device: Some(self.device.clone()),
            count: self.count,
            engine: self.engine.clone(),
            cpu: self.cpu.clone(),
            cores: self.cores,
            raid,
            ..Description::default()
        };
        described(MachineModel::named(self.target.clone()), &what, catalogue).map_err(|e| e.message)
    }

    fn array(&self, level: &str, all: &Catalogue, without: Option<&str>) -> Result<RaidModel, Message> {
        let whole = RaidModel::of(RaidLevel::parse(level).map_err(|e| e.message())?);
        let Some(name) = &self.card else { return Ok(whole) };
        let card = all.controllers().iter().find(|c| c.id == *name);
        let card = card.ok_or_else(|| msg!("predict-drive-unknown"))?;
        let known = fathom_model::CardModel::of(card);
        // What the article measured of its card is not on a sheet; the card's link is.
        let maker = match without.is_some_and(|of| card.source.iter().any(|s| s == of)) {
            true => {
                let bare = fathom_model::CardModel::named(known.name.clone());
                let link = card.pcie_gen.zip(card.pcie_lanes).map(|(g, l)| fathom_model::PcieLink::new(g, l));
                fathom_model::CardModel { link, ..bare }
            }
            false => known,
        };
        Ok(RaidModel { maker: RaidMaker::Card(maker), ..whole })
    }

    /// What is predicted of a load on `machine`; `None`: nothing is known of its drives, or of their writes.
    pub(super) fn foretell(
        &self,
        machine: &MachineModel,
        load: &LoadCell,
        scale: FigureScale,
    ) -> Result<Option<Foretold>, Message> {
        let targets = if machine.raid.is_some() { 1 } else { self.count };
        let parts: Vec<String> = (0..targets).map(|i| format!("drive{i}")).collect();
        let step = load.step(&parts, Window::default()).map_err(|e| e.message)?;
        let of_step = Shape::of(&step, self.count);
        let shape = Shape { threads: self.threads.unwrap_or(of_step.threads), ..of_step };
        Ok(predict_scaled(machine, &shape, scale).map(|prediction| Foretold {
            prediction,
            label: step.label.clone(),
            cores: machine.cores,
            given: super::run::cores_given(load, f64::from(shape.threads)),
        }))
    }
}

impl Foretold {
    /// The value in a metric of the catalogue.
    pub(super) fn metric(&self, metric: PublishedMetric) -> Option<f64> {
        let p = &self.prediction;
        match metric {
            PublishedMetric::LatP99Ns => Some(p.lat_ns_p99),
            _ => self.of(metric, p.iops, p.bytes_per_s, p.lat_ns_mean, p.cores_busy),
        }
    }

    /// The same by arithmetic, which says nothing of tails.
    pub(super) fn baseline(&self, metric: PublishedMetric) -> Option<f64> {
        let Baseline { iops, bytes_per_s, lat_ns_mean, cores_busy } = self.prediction.baseline?;
        self.of(metric, iops, bytes_per_s, lat_ns_mean, cores_busy)
    }

    /// How far the value may lie from what is measured.
    pub(super) fn band(&self, metric: PublishedMetric) -> Option<FigureBand> {
        let b = &self.prediction.bands;
        let times = |band: FigureBand, by: f64| FigureBand {
            within_50: band.within_50.map(|x| x * by),
            within_90: band.within_90.map(|x| x * by),
        };
        match metric {
            PublishedMetric::Iops => Some(b.iops),
            PublishedMetric::BytesPerS => Some(b.bytes_per_s),
            PublishedMetric::LatMeanNs => Some(b.lat_ns_mean),
            PublishedMetric::LatP99Ns => Some(b.lat_ns_p99),
            PublishedMetric::CoresBusy => b.cores_busy,
            PublishedMetric::CpuPct => Some(times(b.cores_busy?, 100.0 / f64::from(self.cores?))),
            PublishedMetric::IopsPerCore => Some(times(b.iops, 1.0 / self.given)),
            _ => None,
        }
    }

    fn of(&self, metric: PublishedMetric, iops: f64, bytes: f64, mean_ns: f64, cores: Option<f64>) -> Option<f64> {
        match metric {
            PublishedMetric::Iops => Some(iops),
            PublishedMetric::BytesPerS => Some(bytes),
            PublishedMetric::LatMeanNs => Some(mean_ns),
            PublishedMetric::CoresBusy => cores,
            PublishedMetric::CpuPct => Some(100.0 * cores? / f64::from(self.cores?)),
            PublishedMetric::IopsPerCore => Some(iops / self.given),
            _ => None,
        }
    }
}

/// Whether parameters of a device were fitted to figures of a publication.
fn is_fitted_to(device: &Device, publication: &str, all: &Catalogue) -> bool {
    let fitted = device.sim.iter().flat_map(|sim| &sim.fitted_to);
    fitted.filter_map(|id| all.figure(id).ok()).any(|figure| figure.source == publication)
}

/// The catalogue with the ratings of one device in place of what was fitted.
fn without_fits(all: &Catalogue, device: &Device) -> Catalogue {
    all.clone().with_device(Device { sim: None, ..device.clone() })
}
