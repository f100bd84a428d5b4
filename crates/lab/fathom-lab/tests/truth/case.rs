//! One case: a machine, a ladder of loads on it, and what attribution says of each of its steps.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_lab::SimulatedMachine;
use fathom_model::{DeviceModel, Limit, LimitName, Observation, OpModel, attribute};
use fathom_plan::{Knobs, Step, TargetId};
use fathom_record::{RunControl, Runner, StepRecord};
use fathom_sim::{InterruptPolicy, Media, SimRunner, Truth};

use super::machine::{Built, Dice, Squeezed, built};
use super::noise::{Noise, Series};
use super::verdict::{CpusOfStep, Right, right};

/// At least about so many I/Os are simulated in a step, and so many times what is in flight.
const IOS_PER_STEP: f64 = 6_000.0;
const TIMES_IN_FLIGHT: f64 = 30.0;
/// Most in flight per thread that a case tries.
const DEPTH_MAX: u32 = 256;

/// What attribution said of a step, and what is right.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) seed: u64,
    pub(super) label: String,
    pub(super) said: LimitName,
    pub(super) probability: Option<f64>,
    pub(super) right: Right,
    pub(super) is_hidden: bool,
    pub(super) series: Series,
    pub(super) stolen_share: f64,
    pub(super) sentence: String,
}

/// A step of a case before noise.
struct Measured {
    step: Step,
    record: StepRecord,
    truth: Truth,
    threads: u32,
    targets: usize,
    depth: u32,
    /// A user's ladder holds it; others are only there to know what more in flight would have brought.
    is_seen: bool,
}

/// Every step of case `seed`.
pub(super) fn judged(seed: u64) -> Vec<Judged> {
    let mut dice = Dice::new(seed, 0);
    let built = built(&mut dice);
    let noise = Noise::drawn(&mut dice);
    let measured = ladder(&built, &mut dice);
    // A shared link that no inventory shows: a hub of a cloud host, a fabric.
    let is_hidden = built.squeezed == Squeezed::Lock || (!built.machine.links.is_empty() && dice.chance(0.2));
    let mut simulated = SimulatedMachine { name: "drawn".into(), text: String::new(), machine: built.machine.clone() };
    if is_hidden {
        simulated.machine.links.clear();
        simulated.machine.drives.iter_mut().for_each(|d| d.upstream = None);
    }
    let rated = dice.chance(0.5).then(|| rating(&built, &mut dice));
    let seen: Vec<&Measured> = measured.iter().filter(|m| m.is_seen).collect();
    let observations: Vec<Observation> = seen
        .iter()
        .map(|m| {
            let exact = is_of_arithmetic(&m.truth);
            let record = noise.applied(m.record.clone(), busiest_cpu(&m.truth), exact, &mut dice);
            let names: Vec<String> = record.host.iter().flat_map(|h| &h.disks).map(|d| d.device.clone()).collect();
            let mut facts = simulated.step_facts(&names);
            facts.drives.iter_mut().for_each(|drive| drive.rated = rated.clone());
            Observation::of(&m.step, &record).on(Arc::new(facts))
        })
        .collect();
    let is_shown = std::env::var("FATHOM_TRUTH_CASE").is_ok_and(|case| case == seed.to_string());
    seen.iter()
        .enumerate()
        .map(|(index, m)| {
            let limit = attribute(&observations, index);
            if is_shown {
                show(&built, &noise, m, &observations[index], &limit);
            }
            let right = right(&m.truth, deeper_gain(&measured, m, &noise), &cpus(&built, m, &noise));
            Judged {
                seed,
                label: m.step.label.clone(),
                said: limit.name,
                probability: limit.probability,
                right,
                is_hidden,
                series: noise.series,
                stolen_share: noise.stolen_share,
                sentence: fathom_language::english(&limit.sentence()),
            }
        })
        .collect()
}

/// What a data sheet would say of the drives: the rate of large reads, to a few percent.
fn rating(built: &Built, dice: &mut Dice) -> DeviceModel {
    let device = &built.machine.drives[0].device;
    let Media::Nand(nand) = &device.media else { unreachable!("drawn drives are flash") };
    let dies = f64::from(nand.dies) * f64::from(nand.page_bytes) * 1e12 / nand.read.mean_ps as f64;
    let path = if device.read_bytes_per_s > 0 { device.read_bytes_per_s as f64 } else { f64::INFINITY };
    let read = OpModel {
        units: f64::from(nand.dies),
        unit_ns: nand.read.mean_ps as f64 / 1e3,
        stage_ns: device.command_read_ps as f64 / 1e3,
        fixed_ns: device.fixed_ps as f64 / 1e3,
    };
    DeviceModel {
        name: "drawn".into(),
        read,
        write: None,
        read_bytes_per_s: Some(dies.min(path) * dice.uniform(0.97, 1.05)),
        write_bytes_per_s: None,
        random_write_bytes_per_s: None,
        link: None,
        assumed: Vec::new(),
        sheet: None,
    }
}

/// What `FATHOM_TRUTH_CASE=N` prints of a step: busy parts as the simulator has them, evidence as the product has it.
#[expect(clippy::print_stdout, reason = "it is what was asked for")]
fn show(built: &Built, noise: &Noise, m: &Measured, seen: &Observation, limit: &Limit) {
    println!("{:?} {noise:?} drives {} links {:?}", built.squeezed, built.machine.drives.len(), built.machine.links);
    println!("{} x {} targets: {:.0} IOPS, seen as {:.0}", m.step.label, m.targets, iops(m), seen.iops());
    let busy = m.truth.utilisation.iter().filter(|u| u.busy_share > 0.3);
    busy.for_each(|u| print!("{} {:.2}, ", u.part, u.busy_share));
    let disks = m.record.host.iter().flat_map(|h| &h.disks);
    let at_drives = disks.map(|d| d.weighted_ns).sum::<u64>() as f64 / m.record.runtime_ns.max(1) as f64;
    m.record.host.iter().flat_map(|h| h.threads.iter().map(move |t| (t, h.window_ns))).for_each(|(t, window_ns)| {
        print!("{} {:.2}, ", t.name, (t.user_ns + t.system_ns) as f64 / window_ns as f64);
    });
    seen.ceilings().iter().for_each(|c| print!("{} {:.0}, ", c.name.as_str(), c.iops));
    println!("at the drives {at_drives:.1} of {}", seen.in_flight());
    println!("  {}", fathom_language::english(&limit.sentence()));
    limit.evidence.iter().for_each(|e| print!("{} {:.3}, ", e.name.as_str(), e.quantity.value));
    println!();
}

/// Depths as users choose them, and beside them more threads or fewer drives.
fn ladder(built: &Built, dice: &mut Dice) -> Vec<Measured> {
    let mut depths: Vec<u32> = (0..=8).map(|i| 1 << i).filter(|_| dice.chance(0.55)).collect();
    if depths.len() < 2 {
        depths = vec![1, 8, 64];
    }
    let deepest = depths[depths.len() - 1];
    let all = built.targets.len();
    let mut rows: Vec<(u32, usize, u32, bool)> = depths.iter().map(|d| (built.threads, all, *d, true)).collect();
    rows.push((built.threads, all, (deepest * 4).min(4 * DEPTH_MAX), false));
    if dice.chance(0.6) {
        rows.push((built.threads * 2, all, deepest, true));
        rows.push((built.threads * 2, all, (deepest * 4).min(4 * DEPTH_MAX), false));
    }
    if all > 1 && dice.chance(0.6) {
        rows.push((built.threads, all / 2, deepest, true));
        rows.push((built.threads, all / 2, (deepest * 4).min(4 * DEPTH_MAX), false));
    }
    rows.into_iter()
        .enumerate()
        .map(|(index, (threads, targets, depth, is_seen))| {
            let step = step(built, index as u32, threads, &built.targets[..targets], depth);
            let mut runner = SimRunner::new(built.machine.clone(), 0);
            let mut control =
                RunControl { stop: &AtomicBool::new(false), on_progress: &mut |_| {}, precise_enough: &|_, _| false };
            let record = runner.run(&step, &mut control).expect("a drawn machine runs");
            let truth = runner.truth().expect("it ran").clone();
            Measured { step, record, truth, threads, targets, depth, is_seen }
        })
        .collect()
}

fn step(built: &Built, index: u32, threads: u32, targets: &[String], depth: u32) -> Step {
    let in_flight = f64::from(threads * depth) * targets.len() as f64;
    let window_s = IOS_PER_STEP.max(TIMES_IN_FLIGHT * in_flight) / built.about_iops;
    let mut knobs = Knobs::new();
    let set = [
        ("rw", if built.is_write { "randwrite" } else { "randread" }.to_owned()),
        ("bs", built.block_bytes.to_string()),
        ("numjobs", threads.to_string()),
        ("iodepth", depth.to_string()),
        ("runtime", format!("{}us", (window_s * 1e6) as u64)),
        ("ramp_time", format!("{}us", (window_s * 3e5) as u64)),
        ("placement", "cores".to_owned()),
    ];
    for (key, value) in set {
        knobs.set(key, &value).expect("a valid knob");
    }
    let targets: Vec<_> = targets.iter().map(TargetId::new).collect();
    knobs.build(index, "A", &targets, &mut Vec::new()).expect("a valid step")
}

fn iops(m: &Measured) -> f64 {
    m.record.ios() as f64 * 1e9 / m.record.runtime_ns.max(1) as f64
}

fn busiest_cpu(truth: &Truth) -> f64 {
    let cpus = truth.utilisation.iter().filter(|u| u.part.starts_with("cpu "));
    cpus.map(|u| u.busy_share).fold(0.0, f64::max)
}

/// Whether what is full is a link or a card.
fn is_of_arithmetic(truth: &Truth) -> bool {
    let full = truth.utilisation.iter().filter(|u| u.busy_share >= 0.97);
    full.filter(|u| !u.part.starts_with("cpu"))
        .any(|u| u.part.ends_with(" up") || u.part.ends_with(" down") || u.part.starts_with("array"))
}

/// The most that a deeper step of the same threads and targets gave over this one, without noise.
fn deeper_gain(all: &[Measured], this: &Measured, noise: &Noise) -> f64 {
    let given = |m: &Measured| iops(m) * noise.slowed(busiest_cpu(&m.truth));
    let is_deeper = |m: &&Measured| m.threads == this.threads && m.targets == this.targets && m.depth > this.depth;
    all.iter().filter(is_deeper).map(given).fold(0.0, f64::max) / given(this)
}

fn cpus(built: &Built, m: &Measured, noise: &Noise) -> CpusOfStep {
    let host = m.record.host.as_ref();
    let at_device: u64 = host.iter().flat_map(|h| &h.disks).map(|d| d.read_bytes + d.write_bytes).sum();
    let cached = host.and_then(|h| h.page_cache_bytes).is_some();
    let share = at_device as f64 / m.record.bytes().max(1) as f64;
    let at_drives_ns: u64 = host.iter().flat_map(|h| &h.disks).map(|d| d.weighted_ns).sum();
    let window_ns = host.map_or(1, |h| h.window_ns);
    let in_flight = m.threads * m.depth * m.targets as u32;
    let md = host.iter().flat_map(|h| &h.threads).filter(|t| t.name.starts_with("md"));
    let md_ns: u64 = md.map(|t| t.system_ns).max().unwrap_or(0);
    let mut workers: Vec<u32> = m.record.threads.iter().flat_map(|t| t.cpus_seen.iter().copied()).collect();
    workers.sort_unstable();
    workers.dedup();
    CpusOfStep {
        workers,
        interrupts: match built.machine.host.interrupts {
            InterruptPolicy::OneCpu(cpu) => Some(cpu),
            InterruptPolicy::Submitter => None,
        },
        all: built.machine.host.cpus(),
        stolen_share: noise.stolen_share,
        cached_share: if cached { 1.0 - share } else { 0.0 },
        is_at_drives: at_drives_ns as f64 >= 0.5 * f64::from(in_flight) * window_ns as f64,
        array_thread_share: md_ns as f64 / host.map_or(1, |h| h.window_ns.max(1)) as f64,
        has_write_penalty: built.squeezed == Squeezed::ArrayThread,
    }
}
