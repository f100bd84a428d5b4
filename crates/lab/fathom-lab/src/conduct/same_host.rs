//! Whether this is still the machine, with the drives, on which a run began.

use fathom_host::{HostFacts, TargetFacts};

/// Memory as the kernel counts it moves a little from boot to boot.
const MEMORY_SHARE: f64 = 0.01;

/// What differs, as sentences; empty: the run may go on.
pub(crate) fn differences(then: &HostFacts, now: &HostFacts) -> Vec<String> {
    let mut out = Vec::new();
    let mut differs = |what: &str, then: &str, now: &str| {
        if then != now {
            out.push(format!("{what} was {then} and is {now}"));
        }
    };
    differs("the processor", &then.cpu_model, &now.cpu_model);
    differs("the number of CPUs", &then.topology.cpus.len().to_string(), &now.topology.cpus.len().to_string());
    differs("the kernel", &then.kernel, &now.kernel);
    let moved = (now.memory_bytes as f64 / then.memory_bytes.max(1) as f64 - 1.0).abs();
    if moved > MEMORY_SHARE {
        differs("main memory in bytes", &then.memory_bytes.to_string(), &now.memory_bytes.to_string());
    }
    for target in &then.targets {
        let Some(found) = now.targets.iter().find(|t| t.path == target.path) else { continue };
        differs(&format!("the drive behind {}", target.path), &drive(target), &drive(found));
    }
    out
}

/// Model, serial number and size: names may change from boot to boot, these do not.
fn drive(target: &TargetFacts) -> String {
    let Some(device) = &target.device else { return "none".to_owned() };
    let text = |t: &Option<String>| t.as_deref().unwrap_or("unknown").to_owned();
    // Without a serial number the name is all there is.
    let name = if device.serial.is_none() { format!("{} ", device.name) } else { String::new() };
    format!("{name}model {}, serial {}, {} bytes", text(&device.model), text(&device.serial), device.size_bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fathom_host::Root;

    use super::*;

    #[test]
    fn the_same_machine_is_the_same_and_each_change_is_named() {
        let here = Path::new(".");
        let then = HostFacts::collect(&Root::live(), &[here]).expect("this is a Linux machine");
        assert_eq!(differences(&then, &then), Vec::<String>::new());
        let mut now = then.clone();
        now.kernel = "7.0".to_owned();
        now.memory_bytes = then.memory_bytes / 2;
        let said = differences(&then, &now);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("the kernel was ") && said[0].ends_with("and is 7.0"), "{said:?}");
        now = then.clone();
        now.memory_bytes += 4096;
        assert!(differences(&then, &now).is_empty(), "a page more is no other machine");
        let Some(device) = now.targets[0].device.as_mut() else { return };
        device.size_bytes += 512;
        assert_eq!(differences(&then, &now).len(), 1);
    }
}
