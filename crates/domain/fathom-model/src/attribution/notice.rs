//! What a reader must know of a step beside its limit: settings and conditions that are seldom wanted.

use fathom_units::{format_cpu_list, format_pct};
use serde::Serialize;

use super::Observation;

/// Share of all interrupt time on one CPU that means they are not spread.
const ONE_CPU_SHARE: f64 = 0.9;
/// Interrupt time below this share of a core is not worth spreading.
const IRQ_WORTH: f64 = 0.05;
/// Merged share of the device's I/Os from which a random load is not the one that was asked for.
const MERGED_SHARE: f64 = 0.02;
/// Interrupts per I/O that no polled load can have.
const POLLED_INTERRUPTS: f64 = 0.2;

/// Something noticed about a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Notice {
    /// `link_trained_down`, `drive_hot`, `poll_not_real`, `interrupts_on_one_cpu`, `scheduler`, `merges`,
    /// `siblings_as_cores`, `slow_clock`.
    pub name: &'static str,
    /// In words, with the numbers.
    pub sentence: String,
}

/// What is noticed about a step.
#[must_use]
pub fn notices(this: &Observation) -> Vec<Notice> {
    let mut out = Vec::new();
    let mut say = |name: &'static str, sentence: String| out.push(Notice { name, sentence });
    interrupts(this, &mut say);
    merges(this, &mut say);
    polling(this, &mut say);
    let Some(facts) = &this.facts else { return out };
    for drive in &facts.drives {
        if let (Some(now), Some(can)) = (drive.link, drive.link_possible)
            && now.coded_bytes_per_s() < can.coded_bytes_per_s()
        {
            say("link_trained_down", format!("{} is linked by {now} although both ends could {can}", drive.name));
        }
        if let Some((now, Some(warning))) = drive.temperature_celsius
            && now >= warning
        {
            say("drive_hot", format!("{} is at {now:.0} °C and slows down from {warning:.0} °C on", drive.name));
        }
        if let Some(scheduler) = drive.scheduler.as_deref().filter(|s| *s != "none") {
            let why = "which costs CPU and reorders; fast drives are measured with `none`";
            say("scheduler", format!("{} has the I/O scheduler {scheduler}, {why}", drive.name));
        }
    }
    if let Some(source) =
        facts.clocksource.as_deref().filter(|c| !matches!(*c, "tsc" | "kvm-clock" | "arch_sys_counter"))
    {
        say("slow_clock", format!("the kernel's clock source is {source}, which takes a system call per reading"));
    }
    siblings(this, &mut say);
    out
}

fn interrupts(this: &Observation, say: &mut impl FnMut(&'static str, String)) {
    let Some(host) = &this.host else { return };
    let irq = |t: &fathom_record::CpuTime| t.irq_ns + t.softirq_ns;
    let total: u64 = host.cpus.iter().map(|(_, t)| irq(t)).sum();
    let Some((cpu, most)) = host.cpus.iter().map(|(c, t)| (*c, irq(t))).max_by_key(|(_, ns)| *ns) else { return };
    let worth = most as f64 >= IRQ_WORTH * host.window_ns as f64;
    let workers = this.threads();
    if host.cpus.len() > 1 && workers > 1 && worth && most as f64 >= ONE_CPU_SHARE * total as f64 {
        let share = most as f64 / total as f64 * 100.0;
        say(
            "interrupts_on_one_cpu",
            format!("CPU {cpu} takes {} of all interrupt time, for {workers} workers", format_pct(share)),
        );
    }
}

fn merges(this: &Observation, say: &mut impl FnMut(&'static str, String)) {
    let Some(host) = &this.host else { return };
    let sequential = matches!(this.step.workload.pattern, fathom_plan::Pattern::Sequential);
    for disk in &host.disks {
        let merged = disk.read_merges + disk.write_merges;
        let share = merged as f64 / (merged + disk.read_ios + disk.write_ios).max(1) as f64;
        if !sequential && this.step.workload.direct && share >= MERGED_SHARE {
            say("merges", format!("{} of the I/Os were merged on {}", format_pct(share * 100.0), disk.device));
        }
    }
}

fn polling(this: &Observation, say: &mut impl FnMut(&'static str, String)) {
    if this.step.engine.mode != fathom_plan::Mode::Iopoll {
        return;
    }
    let per_io = this.host.as_ref().map(|h| h.interrupts as f64 / this.ios.max(1) as f64);
    let queues = this.facts.iter().flat_map(|f| &f.drives).filter_map(|d| d.poll_queues).min();
    if queues == Some(0) {
        say("poll_not_real", "polled completion was asked for, but the drive has no poll queues".to_owned());
    } else if let Some(per_io) = per_io.filter(|x| *x >= POLLED_INTERRUPTS) {
        say("poll_not_real", format!("polled completion was asked for, but {per_io:.2} interrupts came per I/O"));
    }
}

fn siblings(this: &Observation, say: &mut impl FnMut(&'static str, String)) {
    let Some(facts) = &this.facts else { return };
    if this.step.placement == fathom_plan::Placement::Smt {
        return;
    }
    let shared = facts.siblings.iter().find(|core| core.iter().filter(|c| this.worker_cpus.contains(c)).count() > 1);
    if let Some(core) = shared {
        say("siblings_as_cores", format!("workers run on CPUs {}, which are one physical core", format_cpu_list(core)));
    }
}
