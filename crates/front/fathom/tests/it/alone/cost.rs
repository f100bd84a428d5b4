//! What a step cost and where it ran, through the program itself: the split, cores, placements, and modes that cannot be.

use std::fs;

use crate::cli::machine::Zram;
use crate::cli::{Place, check, skipped};
use serde_json::Value;

/// CPUs this process may use, ascending.
fn usable_cpus() -> Vec<u64> {
    let status = fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).expect("a list").trim();
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        from.parse::<u64>().expect("a CPU")..=to.parse().expect("a CPU")
    };
    list.split(',').flat_map(range).collect()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} is {}", value[name]))
}

/// The parts add up to the busy cores, and rates per core are what their divisors say.
fn adds_up(step: &Value) {
    let cpu = &step["cpu"];
    let parts: f64 = ["user_ns_per_io", "system_ns_per_io", "irq_ns_per_io", "kernel_worker_ns_per_io"]
        .iter()
        .map(|name| number(cpu, name))
        .sum();
    let busy_ns = number(cpu, "busy_cores") * number(&step["host_delta"], "window_ns");
    let sum_ns = parts * number(step, "ios");
    assert!((sum_ns - busy_ns).abs() <= busy_ns * 0.01, "{sum_ns} of {busy_ns}: {cpu}");
    if cpu["ns_per_io"].is_null() {
        // Other work would be a good part of the figure: nothing is said of an I/O or a core.
        let busy = number(cpu, "busy_cores");
        let is_disturbed = number(cpu, "other_programs_cores") > 0.1 * busy;
        assert!(is_disturbed || number(cpu, "unexplained_cores") > 0.25 * busy, "{cpu}");
        assert!(cpu["iops_per_core"].is_null() && cpu["iops_per_physical_core"].is_null(), "{cpu}");
        return;
    }
    for (rate, divisor) in [("iops_per_core", "busy_cores"), ("iops_per_physical_core", "busy_physical_cores")] {
        let expected = number(step, "iops") / number(cpu, divisor);
        assert!((number(cpu, rate) / expected - 1.0).abs() < 1e-6, "{rate} by {divisor}: {cpu}");
    }
    assert!(number(cpu, "busy_physical_cores") <= number(cpu, "busy_cores") * 1.000_001);
}

/// The step is refused in these words, with the way out.
fn refused(place: &Place, line: &str, words: &[&str]) {
    let ended = place.run(&format!("{line} --quiet"));
    assert_eq!(ended.code, Some(1), "{line}: {}{}", ended.out, ended.err);
    for word in words.iter().chain(&["help:"]) {
        assert!(ended.out.contains(word), "{line}: no `{word}` in\n{}", ended.out);
    }
}

#[test]
fn the_cost_is_split_and_the_poller_charged() {
    let place = Place::new();
    let Some(zram) = Zram::new("64M") else { return };
    let words = |rest: &str| format!("io --target {} --rw randread --runtime 500ms --iodepth 8 {rest}", zram.path());
    for engine in ["psync", "libaio", "io_uring"] {
        let step = place.step(&words(&format!("--engine {engine}")));
        adds_up(&step);
        assert_eq!(check(&step, "fixed_buffers").is_some(), engine == "io_uring", "{}", step["checks"]);
    }
    let polled = place.step(&words("--engine io_uring --mode sqpoll"));
    adds_up(&polled);
    assert!(number(&polled["cpu"], "kernel_worker_ns_per_io") > 0.0, "{}", polled["cpu"]);
    let proof = check(&polled, "submitted_by_poller").expect("a proof");
    assert_eq!(proof["ok"], true, "{proof}");
    let shown = place.run("show last");
    assert!(shown.out.contains("per busy physical core") && shown.out.contains("CPUs)"), "{}", shown.out);
    // A device in memory has no poll queues.
    refused(&place, &words("--engine io_uring --mode iopoll"), &["no poll queues", "use mode interrupt"]);
}

#[test]
fn threads_run_where_they_are_bound_and_the_record_proves_it() {
    let place = Place::new();
    let cpus = usable_cpus();
    let last = *cpus.last().expect("a CPU");
    let bound = place.step(&format!("io --target . --size 16m --rw randread --runtime 400ms --placement {last}"));
    let worker = &bound["workers"][0];
    let only = serde_json::json!([last]);
    assert_eq!((&worker["cpus_allowed"], &worker["cpus_seen"], &bound["cpus"]), (&only, &only, &only));
    let proof = check(&bound, "pinned").expect("a proof");
    assert_eq!(proof["ok"], true, "{proof}");
    // Kernels without the file say nothing; one that says something says that it did not move.
    assert!(worker["migrations"].is_null() || worker["migrations"] == 0, "{worker}");

    let cores = place.step("io --target . --size 16m --rw randread --runtime 300ms --threads 2 --placement cores");
    assert_eq!(check(&cores, "pinned").expect("a proof")["ok"], true, "{}", cores["checks"]);
    assert!(cores["workers"].as_array().expect("workers").iter().all(|w| w["cpus_seen"] == w["cpus_allowed"]));

    let free = place.step("io --target . --size 16m --rw randread --runtime 300ms");
    assert!(check(&free, "pinned").is_none(), "unbound threads may go where they like");
    assert!(free["workers"][0]["cpus_seen"].as_array().is_some_and(|seen| !seen.is_empty()));
}

#[test]
fn a_placement_the_machine_cannot_give_is_refused_by_name() {
    let place = Place::new();
    let refused = |placement: &str, words: &[&str]| {
        refused(&place, &format!("io --target . --size 16m --runtime 100ms --placement {placement}"), words);
    };
    refused("4095", &["CPU 4095 is not online", "available CPUs"]);
    let topology = |file: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/topology/{file}"));
    match topology("thread_siblings_list") {
        Ok(list) if list.trim() == "0" => refused("smt", &["no SMT siblings", "placement unpinned or cores"]),
        other => skipped(&format!("placement smt can be had here, or nobody knows: {other:?}")),
    }
    if fs::metadata("/sys/devices/system/node/node1").is_err() {
        refused("local", &["placement local", "one NUMA node"]);
        refused("remote", &["placement remote", "one NUMA node"]);
    } else {
        skipped("this machine has NUMA nodes");
    }
}
