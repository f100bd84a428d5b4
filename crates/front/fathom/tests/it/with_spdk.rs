//! `--cross-check spdk`, as far as it goes without a drive of NVMe; the whole way is in the testbed. SPDK itself was not run.

use crate::cli::Place;
use serde_json::Value;

const STUDY: &str = "run engines --only user-space --cross-check spdk";

#[test]
fn a_cross_check_by_spdk_of_nothing_is_refused() {
    let place = Place::new();
    // Without a drive that may leave the kernel the study has no load of engine nvme.
    let run = place.run("run engines --cross-check spdk --target . --set size=4m");
    run.expect(2, &["no load of this plan is one that spdk_nvme_perf can do", "--allow-unbind", "fathom plan"]);
    // What it cannot do is said of the first load.
    let run = place.run(&format!("{STUDY} --target . --set size=4m"));
    run.expect(2, &["QD1", "works on the whole of a drive"]);
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn a_file_is_no_drive_for_spdk() {
    let place = Place::new();
    std::fs::write(place.file("data"), vec![1; 1 << 20]).expect("written");
    place.run(&format!("{STUDY} --target data --allow-unbind S1")).expect(3, &["data", "NVMe"]);
    assert_eq!(place.listing().len(), 1, "{:?}", place.listing());
}

#[test]
fn a_simulated_drive_is_none_for_spdk_either() {
    let place = Place::new();
    let run = place.run(&format!("{STUDY} --machine sim:r640-h730p --target raid10 --set iodepth=[1,32] --json"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}", run.err));
    let steps = document["steps"].as_array().expect("steps");
    let twins: Vec<&Value> = steps.iter().filter(|step| step["engine"] == "spdk").collect();
    assert_eq!(twins.len() * 2, steps.len(), "{steps:?}");
    for twin in twins {
        assert!(twin["label"].as_str().is_some_and(|label| label.ends_with("nvme by spdk")), "{}", twin["label"]);
        assert_eq!(twin["state"], "refused");
        assert!(twin["reason"].as_str().is_some_and(|why| why.contains("not in a simulated one")), "{twin}");
    }
}
