//! Who runs a step on this machine: the engine, watched by a sampler of the host's counters.
//!
//! Steps on a simulated machine never come here: [`super::simulation`] takes them as they are.

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions};
use fathom_host::{HostSampler, ProbeError, Root};
use fathom_record::{HostDelta, Runner, StepFailure};

/// The runner for a step whose threads are bound to `cpus` and whose targets lie on `devices`.
///
/// # Errors
/// [`StepFailure`] when the host cannot be sampled.
pub(super) fn runner_for(cpus: Vec<u32>, devices: Vec<String>) -> Result<Box<dyn Runner>, StepFailure> {
    let probe = Probe(HostSampler::new(&Root::live(), devices).map_err(|e| probe_failure(&e))?);
    Ok(Box::new(HostRunner::new(HostRunnerOptions { cpus, probe: Some(Box::new(probe)) })))
}

struct Probe(HostSampler);

impl HostProbe for Probe {
    // The trait has no errors: a sample that cannot be had leaves `finish` without a result, and the record says so.
    fn begin(&mut self) {
        let _ = self.0.begin();
    }

    fn interval(&mut self) {
        let _ = self.0.interval();
    }

    fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
        self.0.finish(window_ns).ok()
    }
}

/// The failure of a step on a host whose counters cannot be read.
pub(super) fn probe_failure(error: &ProbeError) -> StepFailure {
    StepFailure::Failed {
        what: "cannot sample this machine".to_owned(),
        source: std::io::Error::other(error.to_string()),
        help: "mount /proc and /sys, or run outside the sandbox that hides them".to_owned(),
    }
}
