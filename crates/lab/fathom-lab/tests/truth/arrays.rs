//! Arrays drawn at random, whole and degraded, by every maker: the closed form against the simulator, busy as they can be.

use std::sync::atomic::AtomicBool;

use fathom_lab::SimulatedMachine;
use fathom_model::{Shape, predict};
use fathom_plan::{Knobs, TargetId};
use fathom_record::{RunControl, Runner as _};
use fathom_sim::{Extent, SimRunner, parse_machine};
use fathom_stats::known_within;

use super::machine::Dice;

/// Loads that are tried on each array.
pub(super) const LOADS: u64 = 3;
/// A simulated figure is known to this share of it.
const KNOWN_WITHIN: f64 = 0.005;

/// One load on one array.
pub(super) struct ArrayGap {
    pub(super) what: String,
    pub(super) maker: &'static str,
    pub(super) is_degraded: bool,
    pub(super) predicted_iops: f64,
    pub(super) simulated_iops: f64,
    /// What binds it, as the closed form says.
    pub(super) limit: String,
}

impl ArrayGap {
    /// Predicted over simulated, less one.
    pub(super) fn relative(&self) -> f64 {
        self.predicted_iops / self.simulated_iops - 1.0
    }
}

/// The gaps of array `seed`.
pub(super) fn gaps(seed: u64) -> Vec<ArrayGap> {
    let mut dice = Dice::new(seed, 7);
    let (level, least, lost_max) = dice.pick(&[("raid0", 2, 0), ("raid10", 4, 1), ("raid5", 4, 1), ("raid6", 5, 2)]);
    let members = least + dice.pick(&[0_u32, 1, 2, 4]);
    let members = if level == "raid10" { members / 2 * 2 } else { members };
    let missing = if lost_max > 0 && dice.chance(0.4) { dice.pick(&[1, lost_max]) } else { 0 };
    let maker = dice.pick(&["card", "cached card", "md", "user space"]);
    let text = machine(&mut dice, maker, level, members, missing);
    let machine = parse_machine(&text, "drawn.toml").unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let simulated = SimulatedMachine { name: "drawn".into(), text, machine };
    (0..LOADS)
        .filter_map(|_| {
            let (rw, bs) = (dice.pick(&["randread", "randwrite", "randrw"]), dice.pick(&["4k", "4k", "8k", "16k"]));
            let mut knobs = Knobs::new();
            let depth = dice.pick(&["32", "64"]);
            let mut set = vec![("rw", rw), ("bs", bs), ("numjobs", "8"), ("iodepth", depth), ("runtime", "60s")];
            set.extend([("placement", "cores"), ("engine", "io_uring")]);
            if rw == "randrw" {
                set.push(("rwmixread", "70"));
            }
            set.iter().for_each(|(key, value)| knobs.set(key, value).expect("a valid knob"));
            let step = knobs.build(0, "A", &[TargetId::new("sim:drawn/a")], &mut Vec::new()).expect("a valid step");
            let model = simulated.machine_model(&step)?;
            let predicted = predict(&model, &Shape::of(&step, members))?;
            let mut runner = SimRunner::new(simulated.machine.clone(), 0);
            runner.set_extent(Extent::UntilKnown);
            let mut control = RunControl {
                stop: &AtomicBool::new(false),
                on_progress: &mut |_| {},
                precise_enough: &|intervals, _| known_within(intervals, KNOWN_WITHIN),
            };
            let record = runner.run(&step, &mut control).expect("a drawn array runs");
            let part = predicted.array.and_then(|a| a.part).map(fathom_model::ArrayPart::as_str);
            Some(ArrayGap {
                what: format!("{seed}: {maker} {level} of {members} without {missing}, {rw} {bs} QD {depth}"),
                maker,
                is_degraded: missing > 0,
                predicted_iops: predicted.iops,
                simulated_iops: record.ios() as f64 * 1e9 / record.runtime_ns.max(1) as f64,
                limit: part.unwrap_or(predicted.limit.as_str()).to_owned(),
            })
        })
        .collect()
}

fn machine(dice: &mut Dice, maker: &str, level: &str, members: u32, missing: u32) -> String {
    let us = |t: f64| format!("{t:.2}us");
    let made = match maker {
        "md" => {
            let (stripe, threads) = (us(dice.between(1.0, 20.0)), dice.pick(&[1, 1, 4]));
            let (cache, lock) = (dice.pick(&[256, 4096]), us(dice.pick(&[0.0, 0.5])));
            format!(
                "[array.md]\nstripe = \"{stripe}\"\nlock = \"{lock}\"\nthreads = {threads}\nstripe_cache = {cache}\nxor_rate = \"10 GB/s\""
            )
        }
        "user space" => "[array.user_space]\nsplit = \"0.7us\"\nxor_rate = \"10 GB/s\"".to_owned(),
        _ => {
            let cache = if maker == "card" { "" } else { "cache = \"1 GiB\"\ncache_rate = \"20 GB/s\"" };
            let (command, parity) = (us(dice.between(0.2, 2.0)), us(dice.between(1.0, 8.0)));
            format!(
                "[array.card]\nlink = {{ gen = 4, lanes = 8, mps = \"512B\" }}\ncommand = \"{command}\"\nparity = \"{parity}\"\nxor_rate = \"10 GB/s\"\nfixed = \"8us\"\nqueues = 64\n{cache}"
            )
        }
    };
    // In pairs the first of each is lost.
    let step = if level == "raid10" { 2 } else { 1 };
    let lost: Vec<String> = (0..missing).map(|i| (i * step).to_string()).collect();
    let lost = if lost.is_empty() { String::new() } else { format!("missing = [{}]", lost.join(", ")) };
    let (read, write) = (us(dice.between(20.0, 90.0)), us(dice.between(10.0, 60.0)));
    let units = dice.pick(&[4, 8, 16]);
    format!(
        r#"
[machine]
name = "drawn"
[host]
sockets = 1
cores = 16
[engine.default]
user = "0.5us"
submit = "1us"
complete = "0.6us"
interrupt = "0.4us"
[[device]]
name = "x"
capacity = "512 GiB"
command = "1us"
fixed = "5us"
queues = 64
[device.xpoint]
units = {units}
unit = "4 KiB"
read = "{read}"
read_spread = "20%"
write = "{write}"
write_spread = "20%"
[[drive]]
name = "d"
count = {members}
device = "x"
link = {{ gen = 4, lanes = 4, mps = "256B" }}
[[array]]
name = "a"
level = "{level}"
members = ["d"]
chunk = "64 KiB"
{lost}
{made}
"#
    )
}
