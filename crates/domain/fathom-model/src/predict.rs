//! What a load will give, before it runs: the closed network of one drive, times the drives, under all ceilings.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::Goal;
use fathom_raid::MEMBERS_MAX;
use serde::Serialize;

use crate::array::{self, ArrayPart, ArrayPrediction};
use crate::attribution::LimitName;
use crate::band::{Bands, FigureScale, Unknown, bands};
use crate::baseline::{Baseline, baseline};
use crate::ceilings::{Ceiling, alone_ns, ceilings, transfer_ns};
use crate::closed::Operating;
use crate::machine::{MachineModel, Shape};
use crate::waiting::closed_loop;

/// A predicted step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency.
    pub lat_ns_mean: f64,
    /// Estimate of the 99th percentile: the closed form knows means.
    pub lat_ns_p99: f64,
    /// The ceiling that holds it.
    pub limit: LimitName,
    /// Busy cores, where the cost of an I/O is known.
    pub cores_busy: Option<f64>,
    /// I/Os in flight at which more depth starts to buy only latency: `N* = R0 * X_max`.
    pub knee_in_flight: f64,
    /// What an array makes of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayPrediction>,
    /// How far each figure may lie from what is measured.
    pub bands: Bands,
    /// What widens the band of the IOPS, most first.
    pub unknowns: Vec<Unknown>,
    /// What arithmetic on the ratings gives; `None` where nothing is rated.
    pub baseline: Option<Baseline>,
    /// All ceilings, lowest first.
    pub ceilings: Vec<Ceiling>,
}

/// Predicts a load, with bands as wide as published figures ask for. `None` when neither the drive nor the cost of its
/// writes is known, or there is no such array.
#[must_use]
pub fn predict(machine: &MachineModel, shape: &Shape) -> Option<Prediction> {
    predict_scaled(machine, shape, FigureScale::PUBLISHED)
}

/// [`predict`], with bands as wide as `scale` says.
#[must_use]
pub fn predict_scaled(machine: &MachineModel, shape: &Shape, scale: FigureScale) -> Option<Prediction> {
    let at = point(machine, shape)?;
    let (bands, unknowns) = bands(machine, shape, &at, scale);
    Some(Prediction {
        iops: at.iops,
        bytes_per_s: at.iops * shape.block_bytes,
        lat_ns_mean: at.lat_ns_mean,
        lat_ns_p99: at.lat_ns_p99,
        limit: at.limit,
        cores_busy: at.cores_busy,
        knee_in_flight: at.knee_in_flight,
        array: at.array,
        bands,
        unknowns,
        baseline: baseline(machine, shape),
        ceilings: at.ceilings,
    })
}

/// The middle of a prediction.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) iops: f64,
    pub(crate) lat_ns_mean: f64,
    pub(crate) lat_ns_p99: f64,
    pub(crate) limit: LimitName,
    pub(crate) cores_busy: Option<f64>,
    pub(crate) knee_in_flight: f64,
    pub(crate) array: Option<ArrayPrediction>,
    pub(crate) ceilings: Vec<Ceiling>,
}

/// What a load gives if everything is as it is taken to be.
pub(crate) fn point(machine: &MachineModel, shape: &Shape) -> Option<Point> {
    let all = ceilings(machine, shape);
    let device = machine.device.as_ref()?;
    let alone = alone_ns(machine, shape)?;
    let cap = all.iter().find(|c| c.name != LimitName::QueueDepth)?;
    let free = match &machine.raid {
        Some(_) => array_point(shape, alone, cap.iops),
        None => {
            let mut op = device.mixed(shape.read_share, shape.block_bytes, shape.sequential)?;
            op.fixed_ns += machine.cost.as_ref().map_or(0.0, |c| c.thread_ns + c.irq_ns) + transfer_ns(machine, shape);
            closed_loop(op, &all, shape)
        }
    };
    let capped = free.iops.min(cap.iops);
    let stretch = free.iops / capped;
    let lat_ns_mean = free.lat_ns_mean * if shape.rate_iops.is_some() { 1.0 } else { stretch };
    let depth_bound = free.iops < 0.9 * cap.iops;
    let array = match &machine.raid {
        Some(_) => Some(array::predicted(machine, shape, cap.part.filter(|_| !depth_bound))?),
        None => None,
    };
    Some(Point {
        iops: capped,
        lat_ns_mean,
        // What waits for a ceiling waits its turn, which adds to every I/O alike.
        lat_ns_p99: free.lat_ns_p99 + (lat_ns_mean - free.lat_ns_mean),
        limit: if depth_bound { LimitName::QueueDepth } else { cap.name },
        cores_busy: machine.cost.as_ref().map(|c| capped * (c.thread_ns + c.irq_ns) / 1e9),
        knee_in_flight: alone * cap.iops / 1e9,
        array,
        ceilings: all,
    })
}

/// An array's point: the bounds of operational analysis, `min(N / R0, X_max)`.
fn array_point(shape: &Shape, alone_ns: f64, cap: f64) -> Operating {
    let iops = (f64::from(shape.in_flight) * 1e9 / alone_ns).min(cap);
    let lat_ns_mean = f64::from(shape.in_flight) * 1e9 / iops;
    Operating { iops, lat_ns_mean, lat_ns_p99: lat_ns_mean * 1.5 }
}

/// What meets a goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Drives.
    pub drives: u32,
    /// I/Os in flight on each.
    pub in_flight_per_drive: u32,
    /// Cores, where the cost of an I/O is known.
    pub cores: Option<u32>,
    /// Lanes that the drives take.
    pub lanes: Option<u32>,
    /// Bytes per second that links above the drives must carry.
    pub bytes_per_s: f64,
    /// What it then gives.
    pub prediction: Prediction,
}

/// Why no system of this kind meets a goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forbidden {
    /// The ceiling that forbids it.
    pub limit: LimitName,
    /// Why, with the numbers.
    pub sentence: Message,
}

/// Drives that a search goes up to.
const DRIVES_MAX: u32 = 4096;
/// I/Os in flight on a drive that a search goes up to.
const DEPTH_MAX: u32 = 1024;

/// The fewest drives, and the least depth on them, that meet a goal. `drives` fixes their number.
///
/// # Errors
/// Which ceiling forbids it.
pub fn meet(machine: &MachineModel, shape: &Shape, goal: &Goal, drives: Option<u32>) -> Result<Answer, Forbidden> {
    let wanted = goal.iops.unwrap_or(0.0).max(goal.bytes_per_s.unwrap_or(0.0) / shape.block_bytes);
    let fixed_cores = machine.cores;
    let cost_ns = machine.cost.as_ref().map(|c| c.thread_ns + c.irq_ns);
    let per_core = cost_ns.map(|ns| 1e9 * machine.smt_gain / ns);
    // Threads are as many as the rate needs: their number is part of the answer, not of the question.
    let threads = per_core.map_or(1, |x| (wanted / x).ceil().max(1.0) as u32);
    if let (Some(cores), Some(ns), Some(x)) = (fixed_cores, cost_ns, per_core)
        && f64::from(cores) * x < wanted
    {
        let sentence = msg!(
            "predict-too-few-cores",
            cores = cores,
            given = Quantity::iops(f64::from(cores) * x),
            cost = Quantity::ns(ns),
            wanted = Quantity::iops(wanted),
            needed = threads
        );
        return Err(Forbidden { limit: LimitName::AllCores, sentence });
    }
    let at = |drives: u32, depth: u32| {
        let threads = threads.max(shape.threads);
        point(&with_drives(machine, shape, drives), &Shape { drives, threads, in_flight: drives * depth, ..*shape })
    };
    // Bands are for the answer alone: a search asks thousands of points.
    let whole = |drives: u32, depth: u32| {
        let threads = threads.max(shape.threads);
        predict(&with_drives(machine, shape, drives), &Shape { drives, threads, in_flight: drives * depth, ..*shape })
    };
    let slow = |p: &Point| {
        goal.lat_ns_mean.is_some_and(|max| p.lat_ns_mean > max) || goal.lat_ns_p99.is_some_and(|max| p.lat_ns_p99 > max)
    };
    let unknown = || Forbidden { limit: LimitName::Unknown, sentence: msg!("predict-drive-unknown") };
    let (fewest, most) = counts_of(machine);
    let alone = at(drives.unwrap_or(fewest), 1).ok_or_else(unknown)?;
    if slow(&alone) {
        let ns = Quantity::ns;
        let sentence = match goal.lat_ns_mean.filter(|max| alone.lat_ns_mean > *max) {
            Some(max) => msg!("predict-alone-too-slow-mean", latency = ns(alone.lat_ns_mean), wanted = ns(max)),
            None => {
                let max = goal.lat_ns_p99.unwrap_or(0.0);
                msg!("predict-alone-too-slow-p99", latency = ns(alone.lat_ns_p99), wanted = ns(max))
            }
        };
        return Err(Forbidden { limit: LimitName::Device, sentence });
    }
    let mut best = alone;
    let counts = drives.map_or(fewest..=most, |n| n..=n);
    for n in counts {
        // Rate and latency both grow with the depth: the deepest within the goal gives most, the first that gives enough is the
        // answer.
        let deepest = first_depth(|depth| Ok(slow(&at(n, depth).ok_or_else(unknown)?)))? - 1;
        if deepest > 0 {
            let gives = |depth| Ok(at(n, depth).ok_or_else(unknown)?.iops >= wanted * (1.0 - 1e-9));
            let p = at(n, deepest).ok_or_else(unknown)?;
            if gives(deepest)? {
                let depth = first_depth(gives)?;
                return Ok(answer(machine, n, depth, whole(n, depth).ok_or_else(unknown)?));
            }
            if p.iops > best.iops {
                best = p;
            }
        }
        // Drives that no longer add are held by something else.
        let is_of_members =
            best.array.is_some_and(|a| matches!(a.part, Some(ArrayPart::Member | ArrayPart::MemberLink)));
        let grows = is_of_members || matches!(best.limit, LimitName::Device | LimitName::QueueDepth | LimitName::Link);
        if n > fewest && !grows {
            break;
        }
        // A larger step where the goal is far: the answer lies past wanted / best per drive.
        let per_drive = best.iops / f64::from(n);
        if drives.is_none() && wanted / per_drive > f64::from(DRIVES_MAX) {
            break;
        }
    }
    let cap = best.ceilings.iter().find(|c| c.name == best.limit).or(best.ceilings.first());
    let cap = cap.expect("a prediction has at least the ceiling that caps it");
    let sentence = msg!(
        "predict-most-within-goal",
        iops = Quantity::iops(best.iops),
        wanted = Quantity::iops(wanted),
        ceiling = &cap.sentence
    );
    Err(Forbidden { limit: best.limit, sentence })
}

/// The first depth from 1 of which something holds that holds of all greater ones; one beyond the last where it holds of none.
fn first_depth(holds: impl Fn(u32) -> Result<bool, Forbidden>) -> Result<u32, Forbidden> {
    let (mut low, mut high) = (1, DEPTH_MAX + 1);
    while low < high {
        let middle = u32::midpoint(low, high);
        if holds(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(low)
}

/// The fewest and the most drives that there may be: those of an array that survives what it lacks.
fn counts_of(machine: &MachineModel) -> (u32, u32) {
    let Some(raid) = &machine.raid else { return (1, DRIVES_MAX) };
    let least = raid.level.members_min();
    let survives = (least..=MEMBERS_MAX).find(|n| raid.missing <= raid.level.lost_max(*n));
    (survives.unwrap_or(least), MEMBERS_MAX)
}

/// The machine with another number of drives: what all of the question's drives share, all of these share.
fn with_drives(machine: &MachineModel, shape: &Shape, drives: u32) -> MachineModel {
    let mut machine = machine.clone();
    for up in &mut machine.uplinks {
        up.drives = (up.drives * drives).div_ceil(shape.drives.max(1));
    }
    machine
}

fn answer(machine: &MachineModel, drives: u32, depth: u32, prediction: Prediction) -> Answer {
    let link = machine.links.first().copied().or(machine.device.as_ref().and_then(|d| d.link));
    Answer {
        drives,
        in_flight_per_drive: depth,
        cores: prediction.cores_busy.map(|busy| (busy / machine.smt_gain).ceil().max(1.0) as u32),
        lanes: link.map(|l| u32::from(l.lanes) * drives),
        bytes_per_s: prediction.bytes_per_s,
        prediction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;
    use crate::array::RaidModel;
    use crate::device::DeviceModel;
    use crate::machine::{CostModel, CostOrigin, RaidLevel, UplinkModel, UplinkPlace};
    use crate::pcie::PcieLink;

    fn machine(device: &str) -> MachineModel {
        let all = Catalogue::embedded();
        let device = DeviceModel::of(all.device(device).expect("is there")).expect("is known");
        let cost = CostModel { thread_ns: 2_000.0, irq_ns: 300.0, origin: CostOrigin::Measured };
        MachineModel { device: Some(device), cost: Some(cost), ..MachineModel::named("m") }
    }

    fn shape(drives: u32, in_flight: u32) -> Shape {
        Shape {
            read_share: 1.0,
            block_bytes: 4096.0,
            sequential: false,
            drives,
            threads: drives,
            in_flight,
            siblings_first: false,
            buffered: false,
            rate_iops: None,
        }
    }

    #[test]
    fn more_depth_never_predicts_less_and_littles_law_holds() {
        let m = machine("p5510-3840");
        let mut last = 0.0;
        for n in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            let p = predict(&m, &shape(1, n)).expect("is known");
            assert!(p.iops >= last);
            assert!((p.iops * p.lat_ns_mean / 1e9 / f64::from(n) - 1.0).abs() < 1e-9);
            last = p.iops;
        }
    }

    #[test]
    fn two_drives_give_twice_one() {
        let m = machine("p5510-3840");
        let one = predict(&m, &shape(1, 64)).expect("is known").iops;
        let two = predict(&m, &shape(2, 128)).expect("is known").iops;
        assert!((two / one - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_limit_moves_from_depth_to_the_lowest_ceiling() {
        let m = machine("p5510-3840");
        assert_eq!(predict(&m, &shape(1, 1)).expect("is known").limit, LimitName::QueueDepth);
        assert_eq!(predict(&m, &shape(1, 512)).expect("is known").limit, LimitName::Core);
        let threads = Shape { threads: 8, ..shape(1, 512) };
        assert_eq!(predict(&m, &threads).expect("is known").limit, LimitName::Device);
    }

    #[test]
    fn a_goal_is_met_with_the_fewest_drives() {
        let m = machine("p5510-3840");
        let goal = Goal { iops: Some(10e6), lat_ns_p99: Some(500_000.0), ..Goal::default() };
        let answer = meet(&m, &shape(1, 1), &goal, None).expect("can be met");
        assert_eq!(answer.drives, 15, "15 x 700 000 is the first above 10 M");
        assert!(answer.cores.is_some_and(|c| (23..=24).contains(&c)) && answer.lanes == Some(60));
        assert!(answer.prediction.iops >= 10e6 && answer.prediction.lat_ns_p99 <= 500_000.0);
    }

    /// RAID 5 gives n / (2 / X_R + 2 / X_W): each member adds to it, up to as many as an array may have.
    #[test]
    fn a_goal_for_an_array_is_met_by_members_and_never_by_an_array_that_cannot_be() {
        let of = |level, missing| MachineModel {
            raid: Some(RaidModel { missing, ..RaidModel::of(level) }),
            ..machine("p5510-3840")
        };
        let writes = Shape { read_share: 0.0, ..shape(1, 1) };
        let goal = |iops: f64| Goal { iops: Some(iops), ..Goal::default() };
        let m = of(RaidLevel::Raid5, 0);
        let answer = meet(&m, &writes, &goal(2e6), None).expect("more members give more");
        let one_less = Shape { drives: answer.drives - 1, in_flight: 4096, threads: 64, ..writes };
        assert!(answer.drives > 4 && predict(&m, &one_less).expect("is known").iops < 2e6, "{}", answer.drives);
        assert!(meet(&m, &writes, &goal(50e6), None).is_err(), "64 members are the most");
        // Of four members RAID 10 survives the loss of two, of six that of three.
        assert_eq!(meet(&of(RaidLevel::Raid10, 3), &shape(1, 1), &goal(1e3), None).expect("is met").drives, 6);
        assert!(predict(&of(RaidLevel::Raid10, 3), &shape(4, 64)).is_none(), "there is no such array");
        assert!(meet(&of(RaidLevel::Raid5, 2), &shape(1, 1), &goal(1e3), None).is_err());
    }

    #[test]
    fn a_goal_that_cannot_be_met_names_the_ceiling() {
        let m = machine("p5510-3840");
        let fast = Goal { lat_ns_p99: Some(50_000.0), ..Goal::default() };
        assert_eq!(meet(&m, &shape(1, 1), &fast, None).expect_err("NAND is slower").limit, LimitName::Device);
        let few = MachineModel { cores: Some(4), ..m.clone() };
        let many = Goal { iops: Some(10e6), ..Goal::default() };
        assert_eq!(meet(&few, &shape(1, 1), &many, None).expect_err("too few cores").limit, LimitName::AllCores);
        let fixed = meet(&m, &shape(1, 1), &many, Some(2)).expect_err("too few drives");
        assert_eq!(fixed.limit, LimitName::Device);
        assert_eq!(fixed.sentence.id(), "predict-most-within-goal");
        assert_eq!(fixed.sentence.arg("iops"), Some(&Quantity::iops(1.4e6).into()));
    }

    #[test]
    fn a_link_that_all_drives_share_forbids_what_more_drives_would_give() {
        let uplink = UplinkModel { place: UplinkPlace::Described, link: PcieLink::new(3, 16), drives: 1 };
        let m = MachineModel { uplinks: vec![uplink], ..machine("p5510-3840") };
        let many = Goal { iops: Some(10e6), ..Goal::default() };
        let why = meet(&m, &shape(1, 1), &many, None).expect_err("Gen3 x16 carries 3.3 M reads of 4k");
        assert_eq!(why.limit, LimitName::Uplink, "{}", why.sentence);
        let few = Goal { iops: Some(3e6), ..Goal::default() };
        assert_eq!(meet(&m, &shape(1, 1), &few, None).expect("fits").drives, 5);
    }
}
