//! How far the closed form and the simulator are apart: the same machine and load, predicted and simulated, over machines
//! drawn at random. Neither was fitted to the other.

use std::sync::atomic::AtomicBool;

use fathom_lab::SimulatedMachine;
use fathom_model::{LimitName, Prediction, Shape, predict};
use fathom_plan::{Knobs, Step, TargetId};
use fathom_record::{RunControl, Runner as _};
use fathom_sim::{Extent, SimRunner, Utilisation};
use fathom_stats::known_within;

use super::machine::{Built, Dice, Squeezed, built};

/// Loads that are tried on each machine.
const LOADS: u64 = 4;
/// A simulated figure is known to this share of it.
const KNOWN_WITHIN: f64 = 0.005;

/// One load on one machine.
pub(super) struct Gap {
    pub(super) seed: u64,
    pub(super) load: String,
    pub(super) predicted_iops: f64,
    pub(super) simulated_iops: f64,
    /// What holds it, as the closed form says.
    pub(super) limit: LimitName,
    pub(super) kind: Kind,
    /// Part that was busiest in the simulation, and its busy share.
    pub(super) busiest: (String, f64),
}

/// Kinds of machines and loads that the closed form knows more or less of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Reads of drives.
    Reads,
    /// Writes of drives.
    Writes,
    /// Both at once.
    Mixed,
    /// An array.
    Array,
    /// All threads of a target take a lock, of which the closed form has no term.
    Lock,
}

impl Kind {
    pub(super) const ALL: [Kind; 5] = [Kind::Reads, Kind::Writes, Kind::Mixed, Kind::Array, Kind::Lock];

    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::Reads => "reads of drives",
            Kind::Writes => "writes of drives",
            Kind::Mixed => "70 % reads, 30 % writes of drives",
            Kind::Array => "arrays behind a card or md",
            Kind::Lock => "a lock that all threads of a target take (the closed form has no term for it)",
        }
    }

    fn of(built: &Built, step: &Step) -> Kind {
        match step.workload.mix.read_pct {
            _ if built.squeezed == Squeezed::Lock => Kind::Lock,
            _ if !built.machine.arrays.is_empty() => Kind::Array,
            100 => Kind::Reads,
            0 => Kind::Writes,
            _ => Kind::Mixed,
        }
    }
}

impl Gap {
    /// Predicted over simulated, less one.
    pub(super) fn relative(&self) -> f64 {
        self.predicted_iops / self.simulated_iops - 1.0
    }
}

/// The gaps of machine `seed`.
pub(super) fn gaps(seed: u64) -> Vec<Gap> {
    let mut dice = Dice::new(seed, 1);
    let mut built = built(&mut dice);
    // What is wrong with a machine is nothing that a prediction knows of.
    built.machine.faults.clear();
    let simulated = SimulatedMachine { name: "drawn".into(), text: String::new(), machine: built.machine.clone() };
    (0..LOADS).filter_map(|_| gap(seed, &built, &simulated, &mut dice)).collect()
}

fn gap(seed: u64, built: &Built, simulated: &SimulatedMachine, dice: &mut Dice) -> Option<Gap> {
    let (load, step) = step(built, dice);
    let machine = simulated.machine_model(&step)?;
    let drives = if machine.raid.is_some() { built.machine.drives.len() } else { step.targets.len() };
    let predicted = predict(&machine, &Shape::of(&step, drives as u32))?;
    let mut runner = SimRunner::new(built.machine.clone(), 0);
    runner.set_extent(Extent::UntilKnown);
    let mut control = RunControl {
        stop: &AtomicBool::new(false),
        on_progress: &mut |_| {},
        precise_enough: &|intervals, _| known_within(intervals, KNOWN_WITHIN),
    };
    let record = runner.run(&step, &mut control).expect("a drawn machine runs");
    let parts = runner.truth().map_or(&[][..], |truth| &truth.utilisation);
    if std::env::var("FATHOM_GAP_CASE").is_ok_and(|case| case == seed.to_string()) {
        show(built, &load, parts, &predicted);
    }
    let busiest = parts.iter().max_by(|a, b| a.busy_share.total_cmp(&b.busy_share));
    Some(Gap {
        seed,
        load,
        predicted_iops: predicted.iops,
        simulated_iops: record.ios() as f64 * 1e9 / record.runtime_ns.max(1) as f64,
        limit: predicted.limit,
        kind: Kind::of(built, &step),
        busiest: busiest.map_or((String::new(), 0.0), |part| (part.part.clone(), part.busy_share)),
    })
}

/// What `FATHOM_GAP_CASE=N` prints of a load: busy parts as the simulator has them, ceilings as the closed form has them.
#[expect(clippy::print_stdout, reason = "it is what was asked for")]
fn show(built: &Built, load: &str, parts: &[Utilisation], predicted: &Prediction) {
    println!("{:?} {load}: {:?}", built.squeezed, built.machine.drives[0].device);
    parts.iter().filter(|u| u.busy_share > 0.1).for_each(|u| print!("{} {:.2}, ", u.part, u.busy_share));
    predicted.ceilings.iter().for_each(|c| print!("{} {:.0}, ", c.name.as_str(), c.iops));
    println!();
}

fn step(built: &Built, dice: &mut Dice) -> (String, Step) {
    let mixes: &[&str] = if built.is_write { &["randwrite"] } else { &["randread", "randread", "randwrite", "randrw"] };
    let (rw, depth) = (dice.pick(mixes), dice.pick(&[1_u32, 4, 16, 64, 256]));
    let bs = if dice.chance(0.5) { built.block_bytes } else { dice.pick(&[4096, 16_384, 65_536]) };
    let threads = dice.pick(&[1, 1, 2, 4]);
    let mut knobs = Knobs::new();
    let set = [
        ("rw", rw.to_owned()),
        ("rwmixread", "70".to_owned()),
        ("bs", bs.to_string()),
        ("numjobs", threads.to_string()),
        ("iodepth", depth.to_string()),
        ("runtime", "60s".to_owned()),
        ("placement", "cores".to_owned()),
    ];
    for (key, value) in set.iter().filter(|(key, _)| *key != "rwmixread" || rw == "randrw") {
        knobs.set(key, value).expect("a valid knob");
    }
    let targets: Vec<_> = built.targets.iter().map(TargetId::new).collect();
    let step = knobs.build(0, "A", &targets, &mut Vec::new()).expect("a valid step");
    (format!("{rw} {}k {threads}x{depth} on {}", bs / 1024, targets.len()), step)
}

/// The share of the gaps that is asked for, from the smallest on: 0.5 is the median. NaN without any.
pub(super) fn quantile(gaps: &[&Gap], share: f64) -> f64 {
    let mut all: Vec<f64> = gaps.iter().map(|gap| gap.relative().abs()).collect();
    all.sort_by(f64::total_cmp);
    all.get(((all.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}

/// docs/GAPS.md.
pub(super) fn page(gaps: &[Gap], cases: u64) -> String {
    let known: Vec<&Gap> = gaps.iter().filter(|gap| gap.kind != Kind::Lock).collect();
    let pct = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut text = format!(
        "# Gaps: how far prediction and simulation are apart\n\n\
         Made by `make gaps`: {cases} simulated machines drawn at random, {LOADS} loads on each; the closed form of \
         `fathom predict`\nfrom the machine's own description against the simulator, IOPS. Neither is fitted to the other. \
         Goal: median 5 %, 95 % of the\ngaps within 20 %. Without locks: median {}, 95 % within {}.\n\n\
         | what | loads | median | 90 % within | 95 % within | worst | where |\n|---|---|---|---|---|---|---|\n",
        pct(quantile(&known, 0.5)),
        pct(quantile(&known, 0.95)),
    );
    let mut row = |what: &str, of: &[&Gap]| {
        let Some(worst) = of.iter().max_by(|a, b| a.relative().abs().total_cmp(&b.relative().abs())) else { return };
        text.push_str(&format!(
            "| {what} | {} | {} | {} | {} | {:+.0} % | {}, held by {} |\n",
            of.len(),
            pct(quantile(of, 0.5)),
            pct(quantile(of, 0.9)),
            pct(quantile(of, 0.95)),
            100.0 * worst.relative(),
            worst.load,
            worst.limit.as_str(),
        ));
    };
    for kind in Kind::ALL {
        row(kind.words(), &gaps.iter().filter(|gap| gap.kind == kind).collect::<Vec<_>>());
    }
    let mut limits: Vec<LimitName> = Vec::new();
    known.iter().for_each(|gap| {
        if !limits.contains(&gap.limit) {
            limits.push(gap.limit);
        }
    });
    limits.sort_by_key(|limit| limit.as_str());
    for limit in limits {
        let of: Vec<&Gap> = known.iter().copied().filter(|gap| gap.limit == limit).collect();
        row(&format!("held by {}", limit.as_str()), &of);
    }
    text.push_str(
        "\nWhat the closed form has no term for, and what is left therefore: a CPU that takes all interrupts and drives a worker \
         beside it;\nreads and writes of a mix are taken to share one stage, though one may wait for the controller and the other \
         for dies; the\nold data and the old parity of a write meet other I/Os at two members, and the later of both counts; a \
         link that a card's\nmembers share.\n",
    );
    text
}

/// A line for each, the widest last.
pub(super) fn rows(gaps: &[Gap]) -> String {
    let mut all: Vec<&Gap> = gaps.iter().collect();
    all.sort_by(|a, b| a.relative().abs().total_cmp(&b.relative().abs()));
    let row = |gap: &&Gap| {
        format!(
            "{:+.3} {:?} {} {} {}: {:.0} predicted, {:.0} simulated, {} {:.2}\n",
            gap.relative(),
            gap.kind,
            gap.seed,
            gap.load,
            gap.limit.as_str(),
            gap.predicted_iops,
            gap.simulated_iops,
            gap.busiest.0,
            gap.busiest.1
        )
    };
    all.iter().map(row).collect()
}
