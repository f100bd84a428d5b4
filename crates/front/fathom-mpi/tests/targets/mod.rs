//! Files on another host: a network file system that is served in a network namespace here.

use std::path::Path;

use super::launch::{Namespaces, Run, SlowLink};

/// Two ranks read files that lie 5 ms away: what is mounted is described, and the network is named with its share.
#[test]
fn a_delay_of_5_ms_is_named_as_the_networks() {
    let Some(hosts) = Namespaces::with(1, Some(SlowLink { host: 1, delay_ms: 5, loss_pct: 0 })) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let (served, mounted) = (dir.path().join("served"), dir.path().join("mounted"));
    std::fs::create_dir(&served).expect("a folder");
    std::fs::create_dir(&mounted).expect("a folder");
    let Some(_mount) = hosts.mount(1, &served, &mounted) else { return };
    let step = read(dir.path(), &mounted);
    let mount = &step["host_delta"]["network"][0];
    assert_eq!((&mount["kind"], &mount["mount_point"]), (&"sshfs".into(), &mounted.display().to_string().into()));
    let way_ns = mount["round_trips"]["median_ns"].as_u64().expect("a way");
    assert!(way_ns >= 5_000_000, "{mount}");
    let mean_ns = step["lat_ns"]["mean"].as_f64().expect("latency");
    assert!(mean_ns >= 5e6, "{mean_ns} ns");
    let evidence = step["limit"]["evidence"].as_array().expect("evidence");
    let share = evidence.iter().find(|number| number["name"] == "network_share").expect("the network's share");
    let share = share["value"].as_f64().expect("a number");
    // Where this host is busy the server takes longer than the way, and no part is named for it.
    let named = if share >= 50.0 { "network" } else { "unknown" };
    assert_eq!(step["limit"]["name"], named, "{}", step["limit"]);
    assert_eq!(step["ranks"]["ranks"].as_array().map(Vec::len), Some(2));
}

/// What two ranks read at random from a file each.
fn read(dir: &Path, target: &Path) -> serde_json::Value {
    let words = ["io", "--rw", "randread", "--size", "256k", "--engine", "psync", "--iodepth", "1", "--runtime", "1s"];
    Run::new(dir, 2).words(&words).words(&["--json", "--quiet", "--target"]).word(target).run().step()
}
