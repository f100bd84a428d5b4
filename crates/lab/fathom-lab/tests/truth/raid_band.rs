//! The band of what a card adds, recomputed from the published figures that it is from: `scripts/raid_band.py` prints the same.

use fathom_lab::simulated_members;
use fathom_model::{CARD_SPREAD, MachineModel, RaidLevel, RaidMaker, RaidModel, Shape, predict};
use fathom_sim::builtin_machines;

/// A 90 % band ends at so many deviations.
const Z90: f64 = 1.645;

/// A published figure, the load behind it, and the value of the machine file that was fitted to it, fitted anew without it.
struct Published {
    machine: &'static str,
    level: RaidLevel,
    read_share: f64,
    block_bytes: f64,
    sequential: bool,
    /// I/Os or, of sequential loads and the floor of 8k reads, bytes a second.
    figure: f64,
    anew: Option<(&'static str, String)>,
}

fn published() -> Vec<Published> {
    let parity = |other_iops: f64| Some(("parity = \"5.20us\"", format!("parity = \"{:.2}us\"", 1e6 / other_iops)));
    let xor = |other_iops: f64, bytes: f64| {
        Some((
            "xor_rate = \"3.80 GB/s\"",
            format!("xor_rate = \"{:.2} GB/s\"", other_iops * 0.3 * bytes * 8192.0 / 1e9),
        ))
    };
    let of = |level, read_share, block_bytes, sequential, figure, anew| Published {
        machine: "r650-h755n",
        level,
        read_share,
        block_bytes,
        sequential,
        figure,
        anew,
    };
    use RaidLevel::{Raid5, Raid6, Raid10};
    vec![
        of(Raid10, 1.0, 4096.0, false, 3.55e6, None),
        of(Raid5, 1.0, 4096.0, false, 3.5e6, None),
        of(Raid10, 0.0, 4096.0, false, 917e3, None),
        of(Raid5, 0.0, 4096.0, false, 186e3, parity(198e3)),
        of(Raid6, 0.0, 4096.0, false, 198e3, parity(186e3)),
        of(Raid10, 0.7, 8192.0, false, 1.05e6, None),
        of(Raid5, 0.7, 8192.0, false, 500e3, xor(400e3, 4.0)),
        of(Raid6, 0.7, 8192.0, false, 400e3, xor(500e3, 3.0)),
        of(Raid5, 1.0, 8192.0, false, 14e9 / 8192.0, None),
        of(Raid10, 0.0, 65_536.0, true, 5.908e9 / 65_536.0, None),
        of(Raid5, 1.0, 65_536.0, true, 14.8e9 / 65_536.0, None),
        Published { machine: "r640-h730p", ..of(Raid10, 1.0, 4096.0, false, 500e3, None) },
    ]
}

/// Published over predicted.
fn ratio(published: &Published, folder: &std::path::Path) -> f64 {
    let (_, text) = builtin_machines().iter().find(|(name, _)| *name == published.machine).expect("is shipped");
    let text = match &published.anew {
        Some((fitted, anew)) => {
            assert!(text.contains(fitted), "{} holds no {fitted}: fit the values of this test anew", published.machine);
            text.replace(fitted, anew)
        }
        None => (*text).to_owned(),
    };
    let file = folder.join(format!("{}.toml", published.machine));
    std::fs::write(&file, text).expect("the folder is there");
    let members = simulated_members(&format!("sim:{}", file.display())).expect("a machine");
    let count = if published.machine == "r650-h755n" { 8 } else { 10 };
    let maker = RaidMaker::Card(members.card.expect("they hang on a card"));
    let raid = RaidModel { maker, ..RaidModel::of(published.level) };
    let machine = MachineModel { device: Some(members.device), raid: Some(raid), ..MachineModel::unknown() };
    let shape = Shape {
        read_share: published.read_share,
        block_bytes: published.block_bytes,
        sequential: published.sequential,
        drives: count,
        threads: 64,
        in_flight: 64 * 64,
        siblings_first: false,
        buffered: false,
        rate_iops: None,
    };
    published.figure / predict(&machine, &shape).expect("is known").iops
}

#[test]
fn the_band_of_cards_is_that_of_the_published_figures_each_without_its_own_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let ratios: Vec<f64> = published().iter().map(|p| ratio(p, folder.path())).collect();
    let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(*r), high.max(*r)));
    let [down, up] = CARD_SPREAD;
    assert!(
        (low.ln() + down * Z90).abs() < 0.02,
        "published / predicted from {low:.3}, the band from {:.3}",
        (-down * Z90).exp()
    );
    // Above, nothing but the formulas' own spread: no figure lies beyond it.
    assert!(high <= (up * Z90).exp() && high > 1.0, "published / predicted to {high:.3}: {ratios:?}");
}
