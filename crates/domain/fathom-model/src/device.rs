//! A drive as the prediction sees it: from fitted parameters where there are any, else from ratings.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::SourceError;
use serde::{Deserialize, Serialize};

use crate::catalogue::Device;
use crate::closed::OpModel;
use crate::pcie::PcieLink;

/// Block size of the ratings.
const RATED_BLOCK_BYTES: f64 = 4096.0;
/// Reading a page of NAND and moving it out, unloaded, where no latency is rated: between the 82 us of a TLC drive of
/// 2020 and the 78 us of an MLC drive of 2014 (catalogue: p5510-3840, at17-p3700-read-qd1-lat-mean).
const NAND_READ_NS: f64 = 80_000.0;
/// Acknowledgement of a buffered write where none is rated (catalogue: p3700, p4500-4t say 13 to 20 us).
const NAND_WRITE_NS: f64 = 20_000.0;
/// Access of 3D XPoint where none is rated.
const XPOINT_NS: f64 = 9_000.0;
/// Share of an unloaded NAND read that is the media's.
const NAND_UNIT_SHARE: f64 = 0.78;
/// Share of an unloaded 3D XPoint access that is the media's.
const XPOINT_UNIT_SHARE: f64 = 0.5;
/// Blocks that sequential rates are measured with.
const LARGE_BLOCK_BYTES: f64 = 131_072.0;
/// Payload of the packets of a drive that reads faster than packets of 256 bytes allow.
const LARGE_PAYLOAD_BYTES: u32 = 512;
/// Media of a drive give this much more than its controller, where nothing else is known.
const MEDIA_OVER_CONTROLLER: f64 = 2.0;

/// A drive for prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceModel {
    /// What it is.
    pub name: String,
    /// Reads of 4 KiB.
    pub read: OpModel,
    /// Writes of 4 KiB at steady state; `None` when nothing is known of them.
    pub write: Option<OpModel>,
    /// Most bytes read per second.
    pub read_bytes_per_s: Option<f64>,
    /// Most bytes written per second.
    pub write_bytes_per_s: Option<f64>,
    /// Most bytes written per second in random order, where flash moves old data to make room for new; `None`: nothing is
    /// moved, or nothing is known of it.
    #[serde(default)]
    pub random_write_bytes_per_s: Option<f64>,
    /// Its own link.
    pub link: Option<PcieLink>,
    /// Values that no source gives, and what is assumed instead.
    pub assumed: Vec<Message>,
    /// What the data sheet says; `None`: the model is no data sheet's but of a simulated or measured drive.
    #[serde(default)]
    pub sheet: Option<DataSheet>,
}

/// What a data sheet says of a drive. What a model was fitted to is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSheet {
    /// Random reads of 4 KiB per second.
    pub read_iops: Option<f64>,
    /// Random writes of 4 KiB per second.
    pub write_iops: Option<f64>,
    /// Bytes read in order per second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written in order per second.
    pub write_bytes_per_s: Option<f64>,
    /// A read alone.
    pub read_ns: Option<f64>,
    /// A write alone.
    pub write_ns: Option<f64>,
    /// Media is 3D XPoint.
    pub is_xpoint: bool,
    /// Rates are worded "up to": bounds from above.
    pub is_up_to: bool,
    /// Reads of the model were fitted to published figures.
    pub is_read_fitted: bool,
    /// Writes of the model were fitted to published figures.
    pub is_write_fitted: bool,
}

impl DataSheet {
    fn of(device: &Device) -> DataSheet {
        let sim = device.sim.clone().unwrap_or_default();
        let ns = |us: Option<f64>| us.map(|us| us * 1e3);
        DataSheet {
            read_iops: device.rand_read_4k_iops,
            write_iops: device.rand_write_4k_iops,
            read_bytes_per_s: device.seq_read_bytes_per_s,
            write_bytes_per_s: device.seq_write_bytes_per_s,
            read_ns: ns(rated_read_us(device)),
            write_ns: ns(rated_write_us(device)),
            is_xpoint: is_xpoint(device),
            is_up_to: device.up_to,
            is_read_fitted: sim.controller_ns.is_some() && sim.read_ns.is_some(),
            is_write_fitted: sim.controller_write_ns.is_some() && sim.fixed_write_ns.is_some(),
        }
    }

    /// A read alone, as usual for the media where none is rated.
    pub(crate) fn read_or_usual_ns(&self) -> f64 {
        self.read_ns.unwrap_or(if self.is_xpoint { XPOINT_NS } else { NAND_READ_NS })
    }

    /// A write alone, as usual for the media where none is rated.
    pub(crate) fn write_or_usual_ns(&self) -> f64 {
        self.write_ns.unwrap_or(if self.is_xpoint { XPOINT_NS } else { NAND_WRITE_NS })
    }

    /// What a sheet of a drive with this model would say: the yardstick of drives that have none.
    pub(crate) fn of_model(model: &DeviceModel) -> DataSheet {
        DataSheet {
            read_iops: Some(model.read.iops_max()),
            write_iops: model.write.map(|w| w.iops_max()),
            read_bytes_per_s: model.read_bytes_per_s,
            write_bytes_per_s: model.write_bytes_per_s,
            read_ns: Some(model.read.alone_ns()),
            write_ns: model.write.map(|w| w.alone_ns()),
            ..DataSheet::default()
        }
    }
}

fn rated_read_us(device: &Device) -> Option<f64> {
    device.lat_rand_read_us.or(device.lat_typical_read_us).or(device.lat_typical_read_us_max)
}

fn rated_write_us(device: &Device) -> Option<f64> {
    device.lat_rand_write_us.or(device.lat_typical_write_us)
}

impl DeviceModel {
    /// The model of a catalogued device.
    ///
    /// # Errors
    /// Neither parameters nor ratings of its reads are known.
    pub fn of(device: &Device) -> Result<DeviceModel, SourceError> {
        let mut assumed = Vec::new();
        let Some(read) = read_model(device, &mut assumed) else {
            return Err(SourceError::without_place(
                "",
                msg!("predict-device-not-rated", device = &device.id),
                Some(msg!("predict-device-not-rated-help")),
            ));
        };
        let write = write_model(device, &read, &mut assumed);
        let link = link_of(device, &mut assumed);
        if device.up_to {
            assumed.push(msg!("predict-assumed-up-to"));
        }
        let sim_read = device.sim.as_ref().and_then(|s| s.read_bytes_per_s);
        Ok(DeviceModel {
            name: device.model.clone(),
            read,
            write,
            read_bytes_per_s: sim_read.or(device.seq_read_bytes_per_s),
            write_bytes_per_s: device.seq_write_bytes_per_s,
            random_write_bytes_per_s: write.filter(|_| !is_in_place(device)).map(|w| w.iops_max() * RATED_BLOCK_BYTES),
            link,
            assumed,
            sheet: Some(DataSheet::of(device)),
        })
    }

    /// The queueing model of a mix: times weighted by the shares. `None` when its writes are asked for and unknown.
    #[must_use]
    pub fn mixed(&self, read_share: f64, block_bytes: f64, sequential: bool) -> Option<OpModel> {
        let read = at_block(self.read, self.read_bytes_per_s, self.read_bytes_per_s, block_bytes, sequential);
        if read_share >= 1.0 {
            return Some(read);
        }
        let kept = self.written_bytes_per_s(sequential);
        let write = at_block(self.write?, self.write_bytes_per_s, kept, block_bytes, sequential);
        let mean = |r: f64, w: f64| read_share * r + (1.0 - read_share) * w;
        Some(OpModel {
            units: if read_share > 0.0 { read.units } else { write.units },
            unit_ns: mean(read.unit_ns, write.unit_ns),
            stage_ns: mean(read.stage_ns, write.stage_ns),
            fixed_ns: mean(read.fixed_ns, write.fixed_ns),
        })
    }

    /// Most I/Os per second of a mix by command rate alone: `1 / (f_r / X_R + f_w / X_W)`.
    #[must_use]
    pub fn command_iops(&self, read_share: f64) -> Option<f64> {
        if read_share >= 1.0 {
            return Some(self.read.iops_max());
        }
        Some(1.0 / (read_share / self.read.iops_max() + (1.0 - read_share) / self.write?.iops_max()))
    }

    /// Most bytes written per second: in random order flash moves old data for every byte, whatever the size of the I/O.
    fn written_bytes_per_s(&self, sequential: bool) -> Option<f64> {
        let random = self.random_write_bytes_per_s.filter(|_| !sequential);
        self.write_bytes_per_s.into_iter().chain(random).reduce(f64::min)
    }

    /// Most I/Os per second of a mix by bandwidth alone; `None` without a rating.
    #[must_use]
    pub fn bandwidth_iops(&self, read_share: f64, block_bytes: f64, sequential: bool) -> Option<f64> {
        let part = |share: f64, rate: Option<f64>| match rate {
            _ if share <= 0.0 => Some(0.0),
            rate => rate.map(|r| share * block_bytes / r),
        };
        let s =
            part(read_share, self.read_bytes_per_s)? + part(1.0 - read_share, self.written_bytes_per_s(sequential))?;
        Some(1.0 / s)
    }
}

/// A 4 KiB model at another block size: larger blocks are held to the bandwidth that media sustain, and take as long as the way
/// to them or their buffer; blocks in order need no wait for the media, which is read ahead or buffered.
fn at_block(op: OpModel, way: Option<f64>, kept: Option<f64>, block_bytes: f64, sequential: bool) -> OpModel {
    let mut out = op;
    if let Some(rate) = kept {
        out.stage_ns = op.stage_ns.max(block_bytes / rate * 1e9);
    }
    if let Some(rate) = way {
        out.fixed_ns += ((block_bytes - RATED_BLOCK_BYTES) / rate * 1e9).max(0.0);
    }
    if sequential {
        // A page holds several blocks in order, so that a unit is asked less often than once per I/O.
        let per_page = (16_384.0 / block_bytes).max(1.0);
        out.unit_ns /= per_page;
    }
    // One I/O larger than a page keeps several units busy at once, each for its page: no longer, only more of them.
    let pages = (block_bytes / 16_384.0).max(1.0);
    out.units = (op.units / pages).max(1.0);
    // The stage is what bounds large blocks; units must not bound them twice.
    out.units = out.units.max(out.unit_ns / out.stage_ns);
    out
}

/// The drive's own link. No data sheet says how much its packets hold: the usual 256 bytes, unless its own rate of reads needs
/// larger ones.
fn link_of(device: &Device, assumed: &mut Vec<Message>) -> Option<PcieLink> {
    let (generation, lanes) = device.pcie_gen.zip(device.pcie_lanes)?;
    let usual = PcieLink::new(generation, lanes);
    let rated = device.seq_read_bytes_per_s.unwrap_or(0.0);
    if rated <= usual.read_iops(LARGE_BLOCK_BYTES) * LARGE_BLOCK_BYTES {
        return Some(usual);
    }
    assumed.push(msg!(
        "predict-assumed-payload",
        payload = Quantity::bytes(u64::from(LARGE_PAYLOAD_BYTES)),
        rate = Quantity::bytes_per_s(rated)
    ));
    Some(PcieLink { max_payload_bytes: LARGE_PAYLOAD_BYTES, ..usual })
}

fn is_xpoint(device: &Device) -> bool {
    device.media.as_deref().is_some_and(|m| m.contains("XPoint"))
}

/// Whether a write changes the media where the data lie.
fn is_in_place(device: &Device) -> bool {
    device.sim.as_ref().is_some_and(|sim| sim.in_place) || is_xpoint(device)
}

fn read_model(device: &Device, assumed: &mut Vec<Message>) -> Option<OpModel> {
    let sim = device.sim.clone().unwrap_or_default();
    let rated = device.rand_read_4k_iops.or_else(|| {
        let rate = sim.read_bytes_per_s.or(device.seq_read_bytes_per_s)?;
        if sim.controller_ns.is_none() {
            assumed.push(msg!("predict-assumed-read-iops"));
        }
        Some(rate / RATED_BLOCK_BYTES)
    });
    let stage_ns = sim.controller_ns.map(|ns| ns as f64).or(rated.map(|x| 1e9 / x))?;
    let rated_lat = rated_read_us(device);
    let (share, default_ns) =
        if is_xpoint(device) { (XPOINT_UNIT_SHARE, XPOINT_NS) } else { (NAND_UNIT_SHARE, NAND_READ_NS) };
    let alone_ns = rated_lat.map_or_else(
        || {
            if sim.read_ns.is_none() {
                assumed.push(msg!("predict-assumed-read-latency", latency = Quantity::ns(default_ns)));
            }
            default_ns
        },
        |us| us * 1e3,
    );
    let unit_ns = sim.read_ns.map_or(alone_ns * share, |ns| ns as f64);
    let fixed_ns = sim
        .fixed_ns
        .map_or((alone_ns - unit_ns).max(stage_ns), |ns| ns as f64 + sim.channel_ns.unwrap_or(0) as f64 + stage_ns);
    let units = sim.units.map_or_else(
        || {
            assumed.push(msg!("predict-assumed-media"));
            (MEDIA_OVER_CONTROLLER * unit_ns / stage_ns).ceil().max(1.0)
        },
        f64::from,
    );
    Some(OpModel { units, unit_ns, stage_ns, fixed_ns })
}

fn write_model(device: &Device, read: &OpModel, assumed: &mut Vec<Message>) -> Option<OpModel> {
    let sim = device.sim.clone().unwrap_or_default();
    let rated = device.rand_write_4k_iops.or_else(|| {
        let rate = device.seq_write_bytes_per_s?;
        if sim.controller_write_ns.is_none() {
            assumed.push(msg!("predict-assumed-write-iops"));
        }
        Some(rate / RATED_BLOCK_BYTES)
    });
    let stage_ns = sim.controller_write_ns.map(|ns| ns as f64).or(rated.map(|x| 1e9 / x))?;
    if is_in_place(device) {
        let unit_ns = sim.program_ns.map_or(read.unit_ns, |ns| ns as f64);
        let fixed_ns = sim.fixed_write_ns.map_or(read.fixed_ns, |ns| ns as f64 + stage_ns);
        let units = sim.write_units.map_or(read.units, f64::from);
        return Some(OpModel { units, unit_ns, stage_ns, fixed_ns });
    }
    let rated_lat = rated_write_us(device);
    let alone_ns = sim.fixed_write_ns.map(|ns| ns as f64).or(rated_lat.map(|us| us * 1e3)).unwrap_or_else(|| {
        assumed.push(msg!("predict-assumed-write-latency", latency = Quantity::ns(NAND_WRITE_NS)));
        NAND_WRITE_NS
    });
    // The buffer answers at once; what follows takes writes one after another at the rate the media sustain.
    let fixed_ns = (alone_ns - 1.0).max(stage_ns);
    Some(OpModel { units: 1e3, unit_ns: 1.0, stage_ns, fixed_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    fn model(id: &str) -> DeviceModel {
        DeviceModel::of(Catalogue::embedded().device(id).expect("is there")).expect("has ratings")
    }

    /// Published points, and the host's own time per I/O at one thread of that test.
    #[test]
    fn fitted_drives_meet_their_published_points() {
        let all = Catalogue::embedded();
        let anchors = [
            ("p4800x-375", 1_000.0, "at17-p4800x-read-qd1-iops", 0.06),
            ("p4800x-375", 1_000.0, "at17-p4800x-read-qd16-iops", 0.06),
            ("p3700", 2_600.0, "at17-p3700-read-qd1-iops", 0.06),
            ("p3700", 2_600.0, "at17-p3700-read-qd16-iops", 0.10),
            ("p3700", 2_600.0, "p3700-ws2016-randread-max", 0.06),
            ("m9100", 2_600.0, "at17-m9100-read-qd1-iops", 0.10),
            ("m9100", 2_600.0, "at17-m9100-read-qd16-iops", 0.10),
        ];
        for (device, host_ns, figure, tolerance) in anchors {
            let figure = all.figure(figure).expect("is there");
            let mut op = model(device).read;
            op.fixed_ns += host_ns;
            let predicted = op.at(figure.conditions.outstanding.expect("stated")).iops;
            let error = predicted / figure.value - 1.0;
            assert!(error.abs() < tolerance, "{}: {predicted:.0} against {}: {error:+.3}", figure.id, figure.value);
        }
    }

    #[test]
    fn ratings_are_the_asymptotes_of_an_unfitted_drive() {
        let drive = model("p5510-3840");
        assert!((drive.read.iops_max() / 700_000.0 - 1.0).abs() < 1e-9);
        assert!((drive.read.alone_ns() / 82_000.0 - 1.0).abs() < 0.03, "{:?}", drive.read);
        let seq = drive.mixed(1.0, 131_072.0, true).expect("reads").iops_max() * 131_072.0;
        assert!((seq / 6.5e9 - 1.0).abs() < 1e-6, "{seq}");
    }

    #[test]
    fn a_mix_lies_between_its_parts() {
        let drive = model("p3700");
        let x = |share| drive.command_iops(share).expect("known");
        assert!(x(0.0) < x(0.7) && x(0.7) < x(1.0));
        assert!((1.0 / x(0.5) - (0.5 / x(0.0) + 0.5 / x(1.0))).abs() < 1e-12);
    }

    #[test]
    fn a_drive_without_any_figure_is_refused() {
        let all = Catalogue::embedded();
        let fitted = all.device("m9100").expect("is there");
        assert!(DeviceModel::of(fitted).is_ok(), "its parameters were fitted");
        let bare = all.device("dell-nvme-mu-3200").expect("is there");
        assert_eq!(DeviceModel::of(bare).expect_err("nothing is known").message.id(), "predict-device-not-rated");
    }

    #[test]
    fn a_rate_that_needs_larger_packets_says_so() {
        let like = |rate: f64| {
            let mut device = Catalogue::embedded().device("p5510-3840").expect("is there").clone();
            device.seq_read_bytes_per_s = Some(rate);
            let model = DeviceModel::of(&device).expect("is known");
            let said = model.assumed.iter().any(|m| m.id() == "predict-assumed-payload");
            (model.link.expect("has one").max_payload_bytes, said)
        };
        assert_eq!((like(6.9e9), like(7.2e9)), ((256, false), (512, true)));
    }

    #[test]
    fn what_no_source_gives_is_assumed_and_said() {
        let bare = Device { id: "d".into(), seq_read_bytes_per_s: Some(2e9), ..Device::default() };
        let assumed = DeviceModel::of(&bare).expect("has a bandwidth").assumed;
        let ids: Vec<&str> = assumed.iter().map(Message::id).collect();
        assert_eq!(ids, ["predict-assumed-read-iops", "predict-assumed-read-latency", "predict-assumed-media"]);
    }
}
