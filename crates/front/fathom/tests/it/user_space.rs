//! `fathom nvme` on whatever machine this is: it looks, and takes nothing.

use crate::cli::Place;

#[test]
fn the_status_is_told_on_any_machine() {
    let place = Place::new();
    place.run("nvme status").expect(0, &[]);
    let status = place.json("nvme status", 0);
    let of_kernel = |drive: &&serde_json::Value| drive["driver"] == "nvme";
    for drive in status["drives"].as_array().expect("drives").iter().filter(of_kernel) {
        assert!(drive["address"].is_string() && drive["can_bind"].is_boolean(), "{drive}");
        assert_eq!(drive["can_bind"] == true, drive["why"].is_null(), "{drive}");
    }
    assert!(status["hugepages"].is_array() && status["vfio_loaded"].is_boolean(), "{status}");
}

#[test]
fn what_is_no_drive_of_this_machine_is_neither_taken_nor_given_back() {
    let place = Place::new();
    for verb in ["bind", "unbind"] {
        place
            .run(&format!("nvme {verb} NO-SUCH-SERIAL"))
            .expect(2, &["no NVMe drive NO-SUCH-SERIAL", "fathom nvme status"]);
        place.run(&format!("nvme {verb} ffff:ff:1f.7")).expect(2, &["no PCI device ffff:ff:1f.7"]);
    }
    place.run("nvme bind").expect(2, &["DRIVE"]);
    place.run("restore --list").expect(0, &[]);
    assert!(!place.beside("journal").exists(), "nothing was begun");
}
