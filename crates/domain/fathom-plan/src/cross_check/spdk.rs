//! Twins of steps of engine `nvme` for `spdk_nvme_perf`, as far as it has words for their loads.

use fathom_message::{Message, msg};

use super::{is_alone, named, with_twins};
use crate::load::Spread;
use crate::plan::Plan;
use crate::step::{EngineName, OpMix, Pattern, Step};

/// Puts a twin behind each measured step of engine `nvme` that `spdk_nvme_perf` can do as well, on the same drive. Of those
/// that it cannot a note of the plan says why.
#[must_use]
pub fn with_spdk_beside(plan: &Plan) -> Plan {
    let mut out = with_twins(plan, twin_of);
    for step in plan.steps.iter().filter(|step| is_own(step)) {
        let note = |why| msg!("cross-check-left-out", step = step.label.clone(), why = why);
        out.notes.extend(obstacle(step).map(note));
    }
    out
}

fn is_own(step: &Step) -> bool {
    step.engine.name == EngineName::Nvme && is_alone(step)
}

fn twin_of(step: &Step) -> Option<Step> {
    if !is_own(step) || obstacle(step).is_some() {
        return None;
    }
    let mut twin = step.clone();
    twin.engine.name = EngineName::Spdk;
    // What it does while it warms up it does not tell apart from the rest for those who watch it.
    Some(named(twin, 0))
}

/// Why `spdk_nvme_perf` cannot do what the step does: it keeps a number of commands of one kind and size in flight, anywhere
/// on a namespace, from each of its cores.
fn obstacle(step: &Step) -> Option<Message> {
    let work = &step.workload;
    let is_one_drive = matches!(&step.targets[..], [target] if target.array().is_none());
    if !is_one_drive || step.load.spread != Spread::EachTarget {
        return Some(msg!("cross-check-spdk-drives"));
    }
    if work.mix != OpMix::READ && work.mix != OpMix::WRITE {
        return Some(msg!("cross-check-spdk-mix"));
    }
    if work.block_sizes.len() != 1 {
        return Some(msg!("cross-check-spdk-sizes"));
    }
    let has_pattern = match work.pattern {
        Pattern::Random | Pattern::RandomRepeat => true,
        // Each of its cores begins at the start.
        Pattern::Sequential => step.load.threads == 1,
        Pattern::Zipf { .. } | Pattern::Hotspot { .. } | Pattern::Unknown => false,
    };
    if !has_pattern || !work.order.is_plain() {
        return Some(msg!("cross-check-spdk-pattern"));
    }
    if work.region.offset_bytes > 0 || work.region.size_bytes.is_some() || step.role.footprint_pct.is_some() {
        return Some(msg!("cross-check-spdk-region"));
    }
    let is_free = !step.load.has_rates() && step.load.pacing.is_free() && step.length.passes.is_none();
    let is_plain = work.verify.is_none() && work.durability == crate::Durability::default();
    (!is_free || !is_plain).then(|| msg!("cross-check-spdk-plain"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Phase;
    use crate::study::{Overrides, parse_study};

    fn beside(ladder: &str) -> (Plan, Plan) {
        let study = format!(
            "[study]\nname = 'x'\nquestion = 'x'\n[defaults]\nruntime = {{ min = '3s', max = '15s' }}\nramp_time = '1s'\n\
             precondition = 'none'\n{ladder}"
        );
        let overrides =
            Overrides { targets: vec!["/dev/nvme0n1".to_owned()], may_unbind: true, ..Overrides::default() };
        let plan = parse_study(&study, "x.toml", &overrides).expect("a plan");
        let beside = with_spdk_beside(&plan);
        (plan, beside)
    }

    fn twins(plan: &Plan) -> Vec<&Step> {
        plan.steps.iter().filter(|step| step.engine.name == EngineName::Spdk).collect()
    }

    #[test]
    fn loads_of_engine_nvme_have_a_twin_behind_them_that_does_the_same() {
        let (plan, beside) = beside(
            "[[ladder]]\nrw = ['randread', 'randwrite']\nengine = ['nvme', 'io_uring']\nbs = '8k'\niodepth = 16\nnumjobs = 2\n",
        );
        let twins = twins(&beside);
        assert_eq!((plan.steps.len() + 2, twins.len(), beside.notes.len()), (beside.steps.len(), 2, plan.notes.len()));
        for twin in twins {
            let own = &beside.steps[twin.index as usize - 1];
            assert_eq!((own.engine.name, own.phase), (EngineName::Nvme, Phase::Measure));
            assert_eq!((&own.targets, &own.workload, &own.load), (&twin.targets, &twin.workload, &twin.load));
            assert_eq!((twin.length.ramp_ns, twin.length.budget_ns), (0, own.length.floor_ns));
            assert!(twin.label.ends_with("nvme by spdk"), "{}", twin.label);
        }
        assert!(beside.steps.iter().enumerate().all(|(index, step)| step.index as usize == index));
        assert_eq!(with_spdk_beside(&beside).steps.len(), beside.steps.len() + 2, "a twin has none of its own");
    }

    #[test]
    fn what_spdk_has_no_word_for_is_left_out_by_name() {
        let loads = [
            ("rw = 'randrw'", "cross-check-spdk-mix"),
            ("rw = 'randtrim'", "cross-check-spdk-mix"),
            ("bssplit = '4k/50:8k/50'", "cross-check-spdk-sizes"),
            ("random_distribution = 'zipf:1.2'", "cross-check-spdk-pattern"),
            ("rw = 'read'\nnumjobs = 2", "cross-check-spdk-pattern"),
            ("size = '1m'", "cross-check-spdk-region"),
            ("rate_iops = 1000", "cross-check-spdk-plain"),
            ("verify = 'crc32c'", "cross-check-spdk-plain"),
            ("rw = 'randwrite'\nfsync = 8", "cross-check-spdk-plain"),
        ];
        for (load, why) in loads {
            let read = if load.contains("rw = ") { "" } else { "rw = 'randread'\n" };
            let (plan, beside) = beside(&format!("[[ladder]]\nengine = 'nvme'\n{read}{load}\n"));
            assert!(twins(&beside).is_empty(), "{load}");
            let said: Vec<&str> = beside.notes[plan.notes.len()..].iter().map(Message::id).collect();
            let measured = plan.steps.iter().filter(|step| step.phase == Phase::Measure).count();
            assert_eq!(said, vec!["cross-check-left-out"; measured], "{load}");
            let step = plan.steps.iter().find(|step| step.phase == Phase::Measure).expect("a load");
            assert_eq!(obstacle(step).expect("left out").id(), why, "{load}");
        }
        let (_, sequential) = beside("[[ladder]]\nengine = 'nvme'\nrw = 'read'\nbs = '128k'\n");
        assert_eq!(twins(&sequential).len(), 1);
    }
}
