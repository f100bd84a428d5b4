//! CPU time of the whole host per I/O, with its interval.

use fathom_stats::mean_ci;

use crate::document::StepView;

/// CPU time of the whole host per I/O, ns; `None` without host counters, or where other work drowns it.
pub(crate) fn cpu_ns_per_io(step: &StepView) -> Option<f64> {
    step.cpu.as_ref()?.ns_per_io
}

/// 95 % interval of the CPU time per I/O, from its values interval by interval; `None` with too few of them.
pub(crate) fn cpu_per_io_ci95(step: &StepView) -> Option<(f64, f64)> {
    let cpu = step.cpu.as_ref()?;
    let busy = step.series.cpu_busy.iter().map(|cpus| cpus.iter().map(|busy| f64::from(*busy)).sum::<f64>());
    let costs: Vec<f64> = busy
        .zip(&step.series.iops)
        .filter(|(_, iops)| **iops > 0.0)
        .map(|(busy, iops)| (busy - cpu.baseline_busy_cores).max(0.0) / iops)
        .collect();
    let estimate = mean_ci(&costs);
    let (value, half) = (cpu_ns_per_io(step)?, estimate.rel_half_width()?);
    Some((value * (1.0 - half), value * (1.0 + half)))
}
