use proptest::prelude::*;

use super::*;
use crate::Catalogue;
use crate::array::{CardModel, RaidModel};
use crate::machine::RaidLevel;
use crate::predict::{predict, predict_scaled};

fn machine(id: &str, cost_ns: f64) -> MachineModel {
    let all = Catalogue::embedded();
    let device = DeviceModel::of(all.device(id).expect("is there")).expect("is known");
    let origin = CostOrigin::Published { program: "fio".into(), source: "some".into(), scaled_hz: None };
    let cost = CostModel { thread_ns: cost_ns, irq_ns: 0.0, origin };
    MachineModel { device: Some(device), cost: Some(cost), ..MachineModel::named("m") }
}

fn shape(read_share: f64, threads: u32, in_flight: u32) -> Shape {
    Shape {
        read_share,
        block_bytes: 4096.0,
        sequential: false,
        drives: 1,
        threads,
        in_flight,
        siblings_first: false,
        buffered: false,
        rate_iops: None,
    }
}

fn parts(m: &MachineModel, s: &Shape) -> Vec<UnknownPart> {
    predict(m, s).expect("is known").unknowns.iter().map(|u| u.part).collect()
}

fn width(m: &MachineModel, s: &Shape) -> f64 {
    let p = predict(m, s).expect("is known");
    p.bands.iops.width_over(p.iops)
}

#[test]
fn what_does_not_bind_widens_nothing() {
    let m = machine("p5510-3840", 2_000.0);
    let (of_drive, of_core) = (shape(1.0, 16, 512), shape(1.0, 1, 512));
    assert!(!parts(&m, &of_drive).contains(&UnknownPart::EngineCost), "{:?}", parts(&m, &of_drive));
    assert_eq!(parts(&m, &of_core)[0], UnknownPart::EngineCost);
    assert!(width(&m, &of_core) > 2.0 * width(&m, &of_drive));
    let alone = shape(1.0, 1, 1);
    assert_eq!(parts(&m, &alone)[0], UnknownPart::ReadLatency, "{:?}", parts(&m, &alone));
}

#[test]
fn what_is_not_rated_and_what_is_rated_up_to_widen_the_band() {
    let m = machine("p5510-3840", 500.0);
    let with = |change: fn(&mut crate::device::DataSheet)| {
        let mut m = m.clone();
        change(m.device.as_mut().and_then(|d| d.sheet.as_mut()).expect("is a data sheet's"));
        m
    };
    let (deep, alone, writes) = (shape(1.0, 8, 512), shape(1.0, 1, 1), shape(0.0, 8, 64));
    assert!(width(&with(|s| s.is_up_to = true), &deep) > 1.1 * width(&m, &deep));
    assert!(width(&with(|s| s.read_ns = None), &alone) > 1.2 * width(&m, &alone));
    let (rated, unrated) = (with(|s| s.write_iops = Some(130e3)), with(|s| s.write_iops = None));
    assert!(width(&unrated, &writes) > 1.25 * width(&rated, &writes));
    let up_to = predict(&with(|s| s.is_up_to = true), &deep).expect("is known");
    let [low, high] = up_to.bands.iops.within_90;
    assert!(up_to.iops / low > 1.2 * high / up_to.iops, "an upper bound is missed downwards");
}

#[test]
fn an_array_has_the_same_bands_as_a_drive_and_wider() {
    let m = machine("p5510-3840", 500.0);
    let card = CardModel { parity_update_ns: Some(5_200.0), ..CardModel::named("card") };
    let of = |maker| MachineModel { raid: Some(RaidModel { maker, ..RaidModel::of(RaidLevel::Raid5) }), ..m.clone() };
    let writes = Shape { drives: 8, ..shape(0.0, 8, 4096) };
    let behind_card = predict(&of(RaidMaker::Card(card)), &writes).expect("is known");
    let [low, high] = behind_card.bands.iops.within_90;
    assert!(behind_card.iops / low > 1.9 && high / behind_card.iops < 1.7, "{low} {high} of {}", behind_card.iops);
    assert!(
        width(&of(RaidMaker::Md(crate::array::MdModel::default())), &writes)
            > behind_card.bands.iops.width_over(behind_card.iops)
    );
}

#[test]
fn a_rate_that_is_asked_for_is_not_exceeded() {
    let m = machine("p5510-3840", 2_000.0);
    let p = predict(&m, &Shape { rate_iops: Some(1e3), ..shape(1.0, 1, 16) }).expect("is known");
    assert!(p.bands.iops.within_90[1] <= 1e3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn bands_lie_about_their_figure_and_within_each_other(
        share in prop::sample::select(vec![0.0, 0.3, 0.7, 1.0]),
        threads in 1_u32..32,
        depth in 1_u32..64,
        drives in 1_u32..8,
        block in prop::sample::select(vec![512.0, 4096.0, 16_384.0, 131_072.0]),
        sequential: bool,
        cost_ns in 100.0..8_000.0_f64,
        wider in 1.0..4.0_f64,
    ) {
        let m = machine("p5510-3840", cost_ns);
        let s = Shape { drives, block_bytes: block, sequential, ..shape(share, threads, threads * depth) };
        let p = predict(&m, &s).expect("is known");
        let b = p.bands;
        let cores = b.cores_busy.zip(p.cores_busy);
        let all = [(b.iops, p.iops), (b.bytes_per_s, p.bytes_per_s), (b.lat_ns_mean, p.lat_ns_mean), (b.lat_ns_p99, p.lat_ns_p99)];
        for (band, figure) in all.into_iter().chain(cores) {
            let ([low, high], [inner_low, inner_high]) = (band.within_90, band.within_50);
            prop_assert!(low > 0.0 && high.is_finite());
            prop_assert!(low <= inner_low * (1.0 + 1e-9) && inner_low <= figure * (1.0 + 1e-9), "{band:?} of {figure}");
            prop_assert!(figure <= inner_high * (1.0 + 1e-9) && inner_high <= high * (1.0 + 1e-9), "{band:?} of {figure}");
        }
        let published = FigureScale::PUBLISHED;
        let scale = FigureScale { rate: wider * published.rate, ..published };
        let scaled = predict_scaled(&m, &s, scale).expect("is known");
        prop_assert!(scaled.bands.iops.width_over(scaled.iops) >= p.bands.iops.width_over(p.iops) * (1.0 - 1e-9));
        prop_assert_eq!(scaled.bands.cores_busy, p.bands.cores_busy);
    }
}
