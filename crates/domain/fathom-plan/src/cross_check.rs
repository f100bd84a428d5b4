//! The same loads by another program that is installed, beside ours: whether it finds the same on this machine.

mod spdk;

pub use self::spdk::with_spdk_beside;

use crate::by_fio::{FioJob, FioPlace};
use crate::fio_job::fio_options;
use crate::label::set_label;
use crate::load::Spread;
use crate::plan::{Plan, RunLength};
use crate::role::LabelPart;
use crate::step::{EngineName, Phase, Step};
use crate::study::number;

/// Options that say where a job stands, and for how long it runs: the call of fio says both.
const SAID_BY_THE_CALL: [&str; 5] = ["group_reporting", "runtime", "ramp_time", "time_based", "name"];

/// Puts a twin behind each measured step that reads one target in a closed loop through an engine which fio has too: fio
/// runs it, on the target that was bound for the step. Others stay alone.
#[must_use]
pub fn with_fio_beside(plan: &Plan) -> Plan {
    with_twins(plan, twin_of)
}

fn with_twins(plan: &Plan, twin_of: impl Fn(&Step) -> Option<Step>) -> Plan {
    let mut out = plan.clone();
    out.steps = plan.steps.iter().flat_map(|step| [Some(step.clone()), twin_of(step)].into_iter().flatten()).collect();
    if out.steps.len() > plan.steps.len() {
        number(&mut out.steps);
    }
    out
}

/// Whether a step is measured by itself: no side of a comparison, none of several at once, under no setting.
fn is_alone(step: &Step) -> bool {
    let role = &step.role;
    let is_tied = role.stream.is_some() || role.block.is_some() || !role.settings.is_empty();
    step.phase == Phase::Measure && !is_tied && role.by_fio.is_none()
}

/// Says by its label that another program runs it, for so long: none of them ends when a figure is known well enough.
fn named(mut twin: Step, ramp_ns: u64) -> Step {
    twin.length = RunLength::fixed(ramp_ns, twin.length.floor_ns.min(twin.length.budget_ns));
    if !twin.role.label_parts.contains(&LabelPart::Engine) {
        twin.role.label_parts.push(LabelPart::Engine);
    }
    set_label(&mut twin);
    twin
}

fn twin_of(step: &Step) -> Option<Step> {
    let has_fio = matches!(
        step.engine.name,
        EngineName::Psync | EngineName::Libaio | EngineName::IoUring | EngineName::IoUringCmd
    );
    let [target] = &step.targets[..] else { return None };
    let is_plain = step.workload.mix.read_pct == 100
        && step.workload.verify.is_none()
        && step.workload.order.is_plain()
        && !step.load.has_rates()
        && step.load.spread == Spread::EachTarget
        && target.array().is_none();
    if !has_fio || !is_alone(step) || !is_plain {
        return None;
    }
    let mut twin = step.clone();
    let lines = fio_options(step).into_iter().filter(|(key, _)| !SAID_BY_THE_CALL.contains(key));
    let lines = lines.map(|(key, value)| if value.is_empty() { key.to_owned() } else { format!("{key}={value}") });
    let ioengine = step.engine.name.as_str().to_owned();
    twin.role.by_fio = Some(FioJob { ioengine, lines: lines.collect(), place: FioPlace::All });
    twin.engine.name = EngineName::Fio;
    Some(named(twin, step.length.ramp_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Overrides, parse_study};

    const STUDY: &str = "[study]\nname = 'x'\nquestion = 'x'\n[defaults]\nsize = '1m'\nruntime = { min = '3s', max = '15s' }\n\
                         [[ladder]]\nrw = ['randread', 'randwrite']\nengine = ['psync', 'mmap', 'io_uring']\n";

    #[test]
    fn reads_that_fio_can_do_as_well_have_a_twin_behind_them() {
        let overrides = Overrides { targets: vec!["a".to_owned()], ..Overrides::default() };
        let plan = parse_study(STUDY, "x.toml", &overrides).expect("a plan");
        let beside = with_fio_beside(&plan);
        let measured = |plan: &Plan| plan.steps.iter().filter(|s| s.phase == Phase::Measure).count();
        assert_eq!((measured(&plan), measured(&beside)), (6, 8));
        let twins: Vec<&Step> = beside.steps.iter().filter(|s| s.role.by_fio.is_some()).collect();
        for (twin, engine) in twins.iter().zip(["psync", "io_uring"]) {
            let job = twin.role.by_fio.as_ref().expect("a twin");
            assert_eq!((job.ioengine.as_str(), twin.engine.name), (engine, EngineName::Fio));
            assert!(
                job.lines.contains(&"rw=randread".to_owned()) && job.lines.contains(&"size=1m".to_owned()),
                "{job:?}"
            );
            assert!(job.options().all(|(key, _)| !SAID_BY_THE_CALL.contains(&key) && key != "filename"), "{job:?}");
            assert!(twin.label.contains(&format!("{engine} by fio")), "{}", twin.label);
            let own = &beside.steps[twin.index as usize - 1];
            assert_eq!((own.engine.name.as_str(), own.load.queue_depth), (engine, twin.load.queue_depth));
            assert_eq!((twin.length.budget_ns, twin.length.floor_ns), (own.length.floor_ns, own.length.floor_ns));
        }
        assert!(beside.steps.iter().enumerate().all(|(index, step)| step.index as usize == index));
        // What fio runs has no twin.
        let by_fio: Vec<Step> = twins.into_iter().cloned().collect();
        assert_eq!(measured(&with_fio_beside(&Plan { steps: by_fio, ..plan })), 2);
    }
}
