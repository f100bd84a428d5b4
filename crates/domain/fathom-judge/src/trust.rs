//! One verdict on the trust that the figures of a run deserve, its main reasons, and what would mend the worst.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_plan::Phase;
use fathom_record::Warning;
use serde_json::Value;

use crate::cpu_time::other_busy_cores;
use crate::document::{CheckCause, CheckName, StepState, StepView, Trust, TrustLevel};
use crate::verdict::is_goal_undecided;

/// Reasons that are said; the others stand with their steps.
const REASONS_MAX: usize = 2;
/// Share of the CPUs busy with other work, from which on figures are lower bounds, and from which on they are doubted.
const BUSY: [f64; 2] = [0.10, 0.40];
/// Share of the CPU time taken by the hypervisor, percent.
const STOLEN_PCT: [f64; 2] = [2.0, 15.0];
/// Half width of the median interval over its figure.
const HALF_WIDTH: [f64; 2] = [0.05, 0.25];
/// Share of the steps that something speaks against, from which on it speaks against the run.
const STEPS: [f64; 2] = [0.10, 0.40];
/// A mend of more hours is no advice.
const LONGER_MAX_S: f64 = 4.0 * 3600.0;

/// Something that speaks against the figures.
struct Reason {
    level: TrustLevel,
    /// How far beyond its threshold, to order reasons of one level.
    weight: f64,
    what: Message,
    mend: Option<Message>,
}

/// Verdict on the trust that the figures of these steps deserve. `missing`: further steps of the plan that a run which stopped early did
/// not come to.
#[must_use]
pub fn trust(steps: &[StepView], missing: usize, is_simulated: bool) -> Trust {
    if is_simulated {
        return Trust { level: TrustLevel::Simulated, reasons: vec![msg!("trust-simulated")], mend: None };
    }
    let measured: Vec<&StepView> = steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0).collect();
    if measured.is_empty() {
        return Trust { level: TrustLevel::Poor, reasons: vec![msg!("verdict-nothing-measured")], mend: None };
    }
    let mut reasons: Vec<Reason> =
        [busy(&measured), stolen(&measured), width(&measured)].into_iter().flatten().collect();
    reasons.extend(of_checks(&measured));
    reasons.extend(of_warnings(&measured));
    reasons.extend(unsteady(&measured));
    reasons.extend(undecided_goals(&measured));
    reasons.extend(not_run(steps));
    reasons.extend(not_reached(measured.len(), missing));
    reasons.sort_by(|a, b| b.level.cmp(&a.level).then(b.weight.total_cmp(&a.weight)));
    let level = reasons.first().map_or(TrustLevel::Good, |r| r.level);
    reasons.truncate(REASONS_MAX);
    let mend = mend(&reasons, level);
    Trust { level, reasons: reasons.into_iter().map(|r| r.what).chain(window(&measured)).collect(), mend }
}

/// What ran the program in the place of the system it was made for, by the facts of a host: figures of such a run say nothing
/// of any machine.
#[must_use]
pub fn stand_in(host: &Value) -> Option<&str> {
    host.get("stand_in")?.as_str()
}

/// How far figures can be trusted that are `stand_in`'s own: not at all.
#[must_use]
pub fn trust_of_stand_in(stand_in: &str) -> Trust {
    let reasons = vec![msg!("trust-stand-in", system = stand_in.to_owned())];
    Trust { level: TrustLevel::NotMeasured, reasons, mend: Some(msg!("trust-stand-in-mend")) }
}

/// Trust in the figures of an import: none is judged, because the file says nothing of the host.
#[must_use]
pub fn trust_of_import() -> Trust {
    Trust { level: TrustLevel::NotJudged, reasons: Vec::new(), mend: None }
}

/// What the intervals are of, where the windows are too short for those of a long run.
fn window(steps: &[&StepView]) -> Option<Message> {
    let is_blind = |s: &&&StepView| s.iops_ci95.is_some() && s.iops_ci95_blind_beyond_s.is_some();
    let length_s = median(steps.iter().filter(is_blind).map(|s| s.runtime_s))?;
    Some(msg!("trust-window", window = Quantity::new(length_s * 1e9, Unit::DurationNs)))
}

/// What mends the worst of what is said. Wide intervals are what the others come to, so that another cause is mended first;
/// of any other worst reason nobody can tell what the mend of a lesser one would change.
fn mend(said: &[Reason], worst: TrustLevel) -> Option<Message> {
    let is_width = |reason: &Reason| reason.weight == 0.0;
    let only_width = said.iter().filter(|r| r.level == worst).all(is_width);
    let causes = said.iter().filter(|r| !is_width(r) && (only_width || r.level == worst));
    causes.chain(said.iter().filter(|r| r.level == worst)).find_map(|r| r.mend.clone())
}

/// What a value says by its two thresholds; `None` below the first.
fn graded(value: f64, [usable, poor]: [f64; 2], what: Message, mend: Option<Message>) -> Option<Reason> {
    let level = if value >= poor { TrustLevel::Poor } else { TrustLevel::Usable };
    (value >= usable).then(|| Reason { level, weight: value / usable, what, mend })
}

/// The value in the middle of those that are known.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

fn busy(steps: &[&StepView]) -> Option<Reason> {
    let known = || steps.iter().filter_map(|s| s.cpu.as_ref()).filter(|c| c.cpus_online > 0);
    let cpus = known().map(|c| c.cpus_online).max()?;
    let cores = other_busy_cores(steps.iter().copied())?;
    let mend = Some(msg!("trust-mend-idle", all = turns(steps)));
    let what = msg!("trust-busy", cores = Quantity::cores(cores), cpus = cpus);
    graded(cores / f64::from(cpus), BUSY, what, mend.clone()).or_else(|| {
        let share = |step: &StepView| other_busy_cores([step]).map_or(0.0, |cores| cores / f64::from(cpus));
        let busy = steps.iter().filter(|step| share(step) >= BUSY[0]).count();
        let what = msg!("trust-busy-steps", count = busy, all = steps.len());
        graded(busy as f64 / steps.len() as f64, STEPS, what, mend)
    })
}

fn stolen(steps: &[&StepView]) -> Option<Reason> {
    let share = median(steps.iter().filter_map(|s| s.cpu.as_ref()).map(|c| c.steal_pct))?;
    graded(share, STOLEN_PCT, msg!("trust-stolen", share = Quantity::pct(share)), Some(msg!("trust-mend-stolen")))
}

fn half_width(step: &StepView) -> Option<f64> {
    let [low, high] = step.iops_ci95?;
    (step.iops > 0.0).then(|| (high - low) / 2.0 / step.iops)
}

/// Intervals that are wide, or that are missing where there was something to judge. They are what the other reasons come to:
/// those are said first, and mended first.
fn width(steps: &[&StepView]) -> Option<Reason> {
    let judged: Vec<&&StepView> =
        // A rate that changes on purpose has none.
        steps.iter().filter(|s| s.stages.is_empty() && (s.iops_ci95.is_some() || s.iops_ci95_why_none.is_some())).collect();
    let missing = judged.iter().filter(|s| s.iops_ci95.is_none()).count();
    if judged.is_empty() {
        return None;
    }
    if missing * 2 > judged.len() {
        let needs_s: f64 =
            judged.iter().filter_map(|s| Some((s.iops_ci95_needs_s? - s.runtime_s).max(0.0) / at_once(s))).sum();
        let none = graded(
            1.0,
            STEPS,
            msg!("trust-no-intervals", count = missing, all = judged.len()),
            longer(needs_s, turns(steps)),
        )?;
        return Some(Reason { weight: 0.0, ..none });
    }
    let half = median(judged.iter().filter_map(|s| half_width(s)))?;
    // An interval narrows with the square root of the time.
    let total_s: f64 = judged.iter().map(|s| s.runtime_s / at_once(s)).sum();
    let needs_s = total_s * ((half / HALF_WIDTH[0]).powi(2) - 1.0);
    // A share of what it is wider than says nothing.
    let what = if half > 1.0 { msg!("trust-wider") } else { msg!("trust-wide", half = Quantity::share(half)) };
    let wide = graded(half, HALF_WIDTH, what, longer(needs_s, turns(steps)))?;
    Some(Reason { weight: 0.0, ..wide })
}

/// How many steps share their time with this one, itself among them.
fn at_once(step: &StepView) -> f64 {
    step.role.stream.as_ref().map_or(1.0, |stream| f64::from(stream.of))
}

/// How many steps run one after the other: streams at once count once.
fn turns(steps: &[&StepView]) -> usize {
    steps.iter().map(|s| 1.0 / at_once(s)).sum::<f64>().round() as usize
}

/// `run 6 min longer`; `None` where that is no advice.
fn longer(seconds: f64, all: usize) -> Option<Message> {
    let is_advice = seconds > 0.0 && seconds <= LONGER_MAX_S;
    is_advice.then(|| msg!("trust-mend-longer", all = all, time = Quantity::new(seconds * 1e9, Unit::DurationNs)))
}

fn of_checks(steps: &[&StepView]) -> Vec<Reason> {
    let count = |is_meant: &dyn Fn(CheckName, Option<CheckCause>) -> bool| {
        let has = |s: &&&StepView| s.checks.iter().any(|c| c.ok == Some(false) && is_meant(c.name, c.cause));
        steps.iter().filter(has).count()
    };
    let others = count(&|_, cause| cause == Some(CheckCause::OtherLoad));
    let cached = count(&|name, _| name == CheckName::PageCache);
    let laws = count(&|name, cause| name != CheckName::PageCache && cause != Some(CheckCause::OtherLoad));
    let all = steps.len();
    let share = |n: usize| n as f64 / all as f64;
    let reason = |n: usize, what: Message, mend: Message| {
        (n > 0).then(|| graded(share(n).max(STEPS[0]), STEPS, what, Some(mend)))
    };
    [
        reason(others, msg!("trust-other-load", count = others, all = all), msg!("trust-mend-other-load")),
        reason(cached, msg!("trust-page-cache", count = cached, all = all), msg!("trust-mend-direct")),
        reason(laws, msg!("trust-check-failed", count = laws, all = all), msg!("trust-mend-checks")),
    ]
    .into_iter()
    .flatten()
    .flatten()
    .collect()
}

fn of_warnings(steps: &[&StepView]) -> Vec<Reason> {
    let count = |is_meant: &dyn Fn(&Warning) -> bool| steps.iter().filter(|s| s.warnings.iter().any(is_meant)).count();
    let all = steps.len();
    let hot = count(&|w| matches!(w, Warning::Throttled { .. }));
    let holes = count(&|w| matches!(w, Warning::ReadsOfUnwrittenSpace { .. }));
    let failed = count(&|w| matches!(w, Warning::IoErrors { .. } | Warning::VerifyFailed { .. }));
    let reason = |n: usize, least: f64, what: Message, mend: Message| {
        let share = (n as f64 / all as f64).max(least);
        (n > 0).then(|| graded(share, STEPS, what, Some(mend)))
    };
    [
        // One failed I/O is one too many.
        reason(failed, STEPS[1], msg!("trust-errors", count = failed, all = all), msg!("trust-mend-errors")),
        reason(hot, STEPS[0], msg!("trust-hot", count = hot, all = all), msg!("trust-mend-hot")),
        reason(holes, STEPS[0], msg!("trust-holes", count = holes, all = all), msg!("trust-mend-holes")),
    ]
    .into_iter()
    .flatten()
    .flatten()
    .collect()
}

fn unsteady(steps: &[&StepView]) -> Option<Reason> {
    let unsteady: Vec<&&StepView> = steps.iter().filter(|s| s.is_unsteady()).collect();
    // Writes bring a drive to its steady state. A file shares its drive with others, and reads bring nothing about.
    let is_drive = |name: &String| name.starts_with("/dev/") || name.starts_with("serial:");
    let by_writes = unsteady.iter().any(|s| s.read_pct < 100 && s.targets.iter().any(is_drive));
    let mend = if by_writes { msg!("trust-mend-unsteady") } else { msg!("trust-mend-longer-steps") };
    let (count, all) = (unsteady.len(), steps.len());
    graded(count as f64 / all as f64, STEPS, msg!("trust-unsteady", count = count, all = all), Some(mend))
}

/// Offered loads that were shown neither to keep their latency goal nor to miss it.
fn undecided_goals(steps: &[&StepView]) -> Option<Reason> {
    let offered = || steps.iter().filter(|s| s.rate_iops.is_some() && s.role.latency_goal.is_some());
    let (undecided, all) = (offered().filter(|s| is_goal_undecided(s)).count(), offered().count());
    let what = msg!("trust-goals-undecided", count = undecided, all = all);
    graded(undecided as f64 / all.max(1) as f64, STEPS, what, Some(msg!("trust-mend-longer-steps")))
}

fn not_run(steps: &[StepView]) -> Option<Reason> {
    let planned = || steps.iter().filter(|s| s.phase == Phase::Measure);
    let bad = planned().filter(|s| matches!(s.state, StepState::Refused | StepState::Failed)).count();
    let all = planned().count();
    let what = msg!("trust-not-run", count = bad, all = all);
    (bad > 0).then(|| graded((bad as f64 / all as f64).max(STEPS[0]), STEPS, what, None)).flatten()
}

/// Steps that a run which stopped early did not come to.
fn not_reached(measured: usize, missing: usize) -> Option<Reason> {
    let all = measured + missing;
    let what = msg!("trust-not-reached", count = missing, all = all);
    (missing > 0)
        .then(|| graded((missing as f64 / all as f64).max(STEPS[0]), STEPS, what, Some(msg!("trust-mend-resume"))))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{CheckView, CpuView, SteadyView, WhyUnsteady};
    use crate::samples;
    use fathom_language::english;

    fn step(half: f64) -> StepView {
        let mut view = crate::step_view(&samples::step(), Ok(&samples::record(&[1_000; 10])));
        view.iops = 1_000.0;
        view.iops_ci95 = Some([1_000.0 * (1.0 - half), 1_000.0 * (1.0 + half)]);
        view.iops_ci95_why_none = None;
        view.iops_ci95_blind_beyond_s = None;
        view.runtime_s = 10.0;
        view.warnings.clear();
        view.checks.clear();
        view.steady = None;
        view.cpu = None;
        view
    }

    fn on_host(mut view: StepView, baseline_busy_cores: f64, steal_pct: f64) -> StepView {
        let cpu = CpuView {
            busy_cores: 0.5,
            cpus_online: 2,
            ns_per_io: Some(3.0),
            user_ns_per_io: 1.0,
            system_ns_per_io: 1.0,
            irq_ns_per_io: 1.0,
            kernel_worker_ns_per_io: 0.0,
            interrupts_per_io: 1.0,
            context_switches_per_io: 1.0,
            iops_per_core: None,
            busy_physical_cores: 0.5,
            iops_per_physical_core: None,
            baseline_busy_cores,
            other_programs_cores: None,
            unexplained_cores: 0.0,
            steal_pct,
            busiest_cpu: None,
        };
        view.cpu = Some(cpu);
        view
    }

    fn said(trust: &Trust) -> (TrustLevel, Vec<String>, Option<String>) {
        (trust.level, trust.reasons.iter().map(english).collect(), trust.mend.as_ref().map(english))
    }

    #[test]
    fn a_run_that_stopped_early_is_not_trusted_as_a_whole_one_is() {
        let steps = [step(0.02), step(0.02)];
        let (level, reasons, mend) = said(&trust(&steps, 14, false));
        assert_eq!((level, reasons), (TrustLevel::Poor, vec!["14 of 16 steps did not run".to_owned()]));
        assert_eq!(mend.as_deref(), Some("resume the run (fathom run --resume)"));
    }

    #[test]
    fn narrow_intervals_on_a_quiet_host_are_good() {
        let steps: Vec<StepView> = (0..4).map(|_| on_host(step(0.02), 0.05, 0.1)).collect();
        assert_eq!(said(&trust(&steps, 0, false)), (TrustLevel::Good, vec![], None));
        let simulated = trust(&steps, 0, true);
        assert_eq!((simulated.level, simulated.reasons.len()), (TrustLevel::Simulated, 1));
        assert_eq!(trust(&[], 0, false).level, TrustLevel::Poor);
    }

    #[test]
    fn of_short_windows_is_said_what_their_intervals_are_of() {
        let mut short = step(0.02);
        short.iops_ci95_blind_beyond_s = Some(short.runtime_s / 3.0);
        let (level, reasons, mend) = said(&trust(&[short.clone(), short.clone(), step(0.02)], 0, false));
        assert_eq!((level, mend), (TrustLevel::Good, None));
        assert_eq!(reasons, ["intervals are of 10 s windows, not of the long run (--runtime 3m)"]);
        let known = |b: f64| matches!(fathom_stats::Scope::of(b), fathom_stats::Scope::LongRun);
        assert!(known(180.0) && !known(179.0), "the time that is advised");
        short.iops_ci95 = None;
        assert!(window(&[&short]).is_none(), "nothing is said of intervals that are not there");
    }

    #[test]
    fn a_busy_host_is_named_with_what_it_took_and_what_mends_it() {
        let steps = [on_host(step(0.02), 1.9, 0.0), on_host(step(0.02), 1.9, 0.0)];
        let (level, reasons, mend) = said(&trust(&steps, 0, false));
        assert_eq!(level, TrustLevel::Poor);
        assert_eq!(reasons, ["other programs kept 1.90 of 2 CPUs busy: rates are lower bounds"]);
        assert_eq!(mend.as_deref(), Some("stop other work, or add --wait-idle"));
        // Its intervals are wide because of it. A load by hand does not wait.
        let (_, reasons, mend) = said(&trust(&[on_host(step(0.6), 1.9, 0.0)], 0, false));
        assert!(reasons[0].starts_with("other programs") && reasons[1].contains("wide"), "{reasons:?}");
        assert_eq!(mend.as_deref(), Some("stop other work"));
        let mut none = on_host(step(0.6), 1.9, 0.0);
        (none.iops_ci95, none.iops_ci95_why_none) = (None, Some(msg!("trust-hot")));
        let (_, reasons, mend) = said(&trust(&[none], 0, false));
        assert!(reasons[0].starts_with("other programs") && reasons[1].contains("no 95 % interval"), "{reasons:?}");
        assert_eq!(mend.as_deref(), Some("stop other work"));
        let (level, reasons, _) = said(&trust(&[on_host(step(0.02), 0.3, 4.0)], 0, false));
        assert_eq!((level, reasons.len()), (TrustLevel::Usable, 2));
        // A program that runs during one of three steps.
        let mut some = [(); 3].map(|()| on_host(step(0.02), 0.0, 0.0));
        some[1] = on_host(step(0.02), 1.0, 0.0);
        let (level, reasons, _) = said(&trust(&some, 0, false));
        assert_eq!(
            (level, reasons),
            (TrustLevel::Usable, vec!["other programs kept CPUs busy in 1 of 3 steps".to_owned()])
        );
        // Hours of measuring do not mend what a quiet host would.
        let (level, reasons, mend) = said(&trust(&[on_host(step(0.6), 0.5, 0.0)], 0, false));
        assert!(level == TrustLevel::Poor && reasons[0].contains("wide"), "{reasons:?}");
        assert_eq!(mend.as_deref(), Some("stop other work"));
    }

    #[test]
    fn wide_intervals_say_how_much_longer_they_need() {
        // Twice as wide as wanted needs four times as long: 60 s more.
        let steps = [step(0.10), step(0.10)];
        let (level, reasons, mend) = said(&trust(&steps, 0, false));
        assert_eq!((level, reasons), (TrustLevel::Usable, vec!["95 % intervals are ±10 % wide".to_owned()]));
        assert_eq!(mend.as_deref(), Some("run 1 min 00 s longer (--time-budget)"));
        assert_eq!(trust(&[step(0.4)], 0, false).level, TrustLevel::Poor);
        assert_eq!(said(&trust(&[step(1.2)], 0, false)).1, ["95 % intervals are wider than the figures"]);
    }

    #[test]
    fn one_step_is_not_one_of_one_and_only_a_drive_is_written_to_steady_state() {
        let unsteady = |target: &str, read_pct: u8| {
            let mut view = step(0.02);
            view.steady = Some(SteadyView {
                reached: false,
                why: Some(WhyUnsteady::Drifts),
                rounds: 0,
                warmup_intervals: 0,
                drift_pct_per_minute: None,
                drift_ci95: None,
                pts: None,
                own: None,
                series: Vec::new(),
            });
            (view.targets, view.read_pct) = (vec![target.to_owned()], read_pct);
            view
        };
        let (_, reasons, mend) = said(&trust(&[unsteady("data", 0)], 0, false));
        assert_eq!(
            (reasons, mend.as_deref()),
            (vec!["the step was not steady".to_owned()], Some("give each step more time (--runtime 1m)"))
        );
        let (_, reasons, mend) = said(&trust(&[unsteady("/dev/nvme0n1", 0), unsteady("/dev/nvme0n1", 100)], 0, false));
        assert_eq!(reasons, ["2 of 2 steps were not steady"]);
        assert!(mend.is_some_and(|m| m.contains("fathom run snia")));
        let (_, _, mend) = said(&trust(&[unsteady("/dev/nvme0n1", 100)], 0, false));
        assert!(mend.is_some_and(|m| m.contains("--runtime")));
        // A load by hand has no time budget, nor have two at once.
        let (_, _, mend) = said(&trust(&[step(0.10)], 0, false));
        assert_eq!(mend.as_deref(), Some("measure 30 s longer (--runtime)"));
        let stream = |index| {
            let mut view = step(0.10);
            view.role.stream = Some(fathom_plan::Stream { set: 0, index, of: 2, name: "s".to_owned() });
            view
        };
        let (_, _, mend) = said(&trust(&[stream(0), stream(1)], 0, false));
        assert_eq!(mend.as_deref(), Some("measure 30 s longer (--runtime)"));
    }

    #[test]
    fn offered_loads_that_decide_nothing_about_the_goal_are_counted() {
        let offered = |p99_ns: [u64; 2]| {
            let mut view = step(0.02);
            view.rate_iops = Some(1_000.0);
            view.role.latency_goal = Some(fathom_plan::LatencyGoal { mean_ns: None, p99_ns: Some(1_000_000) });
            let mut latency = samples::latency(1_000, 100.0);
            latency.p99 = Some(p99_ns[0].midpoint(p99_ns[1]));
            latency.ci95.insert("p99".to_owned(), p99_ns);
            view.lat_ns = Some(latency);
            view
        };
        let (kept, open) = (offered([300_000, 400_000]), offered([300_000, 4_000_000]));
        assert_eq!(said(&trust(&[kept.clone(), kept.clone()], 0, false)).0, TrustLevel::Good);
        let (level, reasons, mend) = said(&trust(&[kept, open.clone(), open], 0, false));
        let reason = "2 of 3 offered loads were too short to show whether they keep the goal";
        assert_eq!((level, reasons), (TrustLevel::Poor, vec![reason.to_owned()]));
        assert_eq!(mend.as_deref(), Some("give each step more time (--runtime 1m)"));
    }

    #[test]
    fn the_worst_two_reasons_are_said_and_a_failed_io_outweighs_all() {
        let mut failed = on_host(step(0.3), 0.5, 4.0);
        failed.warnings.push(Warning::IoErrors { count: 1, errno: 5 });
        let mut checked = step(0.02);
        let law = CheckView { name: CheckName::LittlesLaw, ok: Some(false), sentence: msg!("trust-hot"), cause: None };
        checked.checks.push(law);
        let many: Vec<StepView> = std::iter::once(failed).chain((0..3).map(|_| checked.clone())).collect();
        let trust = trust(&many, 0, false);
        let (level, reasons, _) = said(&trust);
        assert_eq!((level, reasons.len()), (TrustLevel::Poor, 2));
        assert!(reasons.iter().any(|r| r.starts_with("I/Os failed")), "{reasons:?}");
    }

    #[test]
    fn what_ran_where_another_program_stood_in_for_the_system_is_no_measurement() {
        let host = serde_json::json!({"cores": 2, "stand_in": "Wine 8.0"});
        assert_eq!(stand_in(&host), Some("Wine 8.0"));
        assert_eq!(stand_in(&serde_json::json!({"cores": 2})), None);
        let trust = trust_of_stand_in("Wine 8.0");
        assert_eq!(trust.level, TrustLevel::NotMeasured);
        assert!(trust.reasons[0].to_string().contains("Wine 8.0"));
    }
}
