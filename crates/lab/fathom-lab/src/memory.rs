//! What memory moves on the host of a run: measured once per lab and host, then taken over from run to run.

use fathom_judge::compare::host_identity;
use fathom_store::{Lab, StoreError};
use serde_json::Value;

/// Runs looked at for an earlier figure, the newest first.
const RUNS_MAX: usize = 20;
/// Where it stands in the facts of a host.
const PLACE: &str = "/inventory/processors";
const NAME: &str = "memory_bytes_per_s";

/// The facts of a host with the figure of an earlier run of the lab on it, else with what `measure` gives. Facts without an
/// inventory stay as they are.
///
/// # Errors
/// [`StoreError`] when the lab cannot be read.
pub(crate) fn with_memory_rate(
    lab: &Lab,
    host_json: String,
    measure: impl FnOnce() -> Option<u64>,
) -> Result<String, StoreError> {
    let Ok(mut host) = serde_json::from_str::<Value>(&host_json) else { return Ok(host_json) };
    let Some(identity) = host_identity(&host) else { return Ok(host_json) };
    if host.pointer(PLACE).is_none() {
        return Ok(host_json);
    }
    let rate = earlier(lab, &identity)?.or_else(measure);
    match (host.pointer_mut(PLACE).and_then(Value::as_object_mut), rate) {
        (Some(processors), Some(rate)) => {
            processors.insert(NAME.to_owned(), rate.into());
            Ok(host.to_string())
        }
        _ => Ok(host_json),
    }
}

/// The newest figure of the lab for this host.
fn earlier(lab: &Lab, identity: &str) -> Result<Option<u64>, StoreError> {
    for run in lab.runs()?.into_iter().rev().take(RUNS_MAX) {
        // A run whose facts are lost tells nothing.
        let Ok(host) = lab.load_head(run.id).and_then(|head| lab.host_of(&head)) else { continue };
        if host_identity(&host).as_deref() == Some(identity)
            && let Some(rate) = host.pointer(PLACE).and_then(|p| p.get(NAME)).and_then(Value::as_u64)
        {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use fathom_store::NewRun;

    use super::*;
    use crate::samples;

    fn facts(cpu: &str) -> String {
        serde_json::json!({ "cpu_model": cpu, "cores": 4, "inventory": { "processors": { "sockets": 1 } } }).to_string()
    }

    fn rate_in(host_json: &str) -> Option<u64> {
        let host: Value = serde_json::from_str(host_json).expect("json");
        host.pointer("/inventory/processors/memory_bytes_per_s").and_then(Value::as_u64)
    }

    #[test]
    fn memory_is_measured_once_per_lab_and_host() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut lab = Lab::open(&dir.path().join("lab.db")).expect("made");
        let plan = samples::document(1, Value::Null, Vec::new()).run.plan;
        let first = with_memory_rate(&lab, facts("a"), || Some(12_000_000_000)).expect("reads");
        assert_eq!(rate_in(&first), Some(12_000_000_000));
        let new = NewRun {
            study: "quick",
            question: "How fast?",
            plan: &plan,
            host_json: &first,
            fathom_version: "0.1.0",
            started_unix_ns: 0,
            command_line: "fathom run quick",
            is_import: false,
        };
        lab.begin_run(&new).expect("begins");
        let again = with_memory_rate(&lab, facts("a"), || panic!("is known")).expect("reads");
        assert_eq!(rate_in(&again), Some(12_000_000_000));
        let other = with_memory_rate(&lab, facts("b"), || Some(7)).expect("reads");
        assert_eq!(rate_in(&other), Some(7));
        // Nothing to measure, and facts of no real host.
        assert_eq!(with_memory_rate(&lab, facts("c"), || None).expect("reads"), facts("c"));
        assert_eq!(with_memory_rate(&lab, "{}".to_owned(), || panic!("no host")).expect("reads"), "{}");
    }
}
