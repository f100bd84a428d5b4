//! CPU time of the whole host per I/O, with its interval.

use fathom_stats::mean_ci;

use crate::document::{CpuView, StepView};

/// CPU time of the whole host per I/O, ns; `None` without host counters, or where other work drowns it.
pub(crate) fn cpu_ns_per_io(step: &StepView) -> Option<f64> {
    step.cpu.as_ref()?.ns_per_io
}

/// CPUs that other work kept busy, before the steps or during them, whichever is more: the median of the steps. `None` without
/// host counters.
pub(crate) fn other_busy_cores<'a>(steps: impl IntoIterator<Item = &'a StepView>) -> Option<f64> {
    let of = |cpu: &CpuView| cpu.other_programs_cores.unwrap_or(0.0).max(cpu.baseline_busy_cores);
    let mut all: Vec<f64> =
        steps.into_iter().filter_map(|step| step.cpu.as_ref()).filter(|cpu| cpu.cpus_online > 0).map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// 95 % interval of the CPU time per I/O, from its values interval by interval; `None` with too few of them.
pub(crate) fn cpu_per_io_ci95(step: &StepView) -> Option<(f64, f64)> {
    let cpu = step.cpu.as_ref()?;
    let busy = step.series.cpu_busy.iter().map(|cpus| cpus.iter().map(|busy| f64::from(*busy)).sum::<f64>());
    let others = cpu.other_programs_cores.unwrap_or(cpu.baseline_busy_cores);
    let costs: Vec<f64> = busy
        .zip(&step.series.iops)
        .filter(|(_, iops)| **iops > 0.0)
        .map(|(busy, iops)| (busy - others).max(0.0) / iops)
        .collect();
    let estimate = mean_ci(&costs);
    let (value, half) = (cpu_ns_per_io(step)?, estimate.rel_half_width()?);
    Some((value * (1.0 - half), value * (1.0 + half)))
}
