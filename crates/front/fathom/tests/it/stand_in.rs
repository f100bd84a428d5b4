//! Runs that another program than the system itself ran (Wine): their figures are shown for what they are, and nothing takes them
//! for measurements.

use crate::cli::Place;

#[test]
fn what_wine_ran_is_stamped_and_neither_compared_nor_fitted() {
    let place = Place::new();
    for _ in 0..2 {
        place.run("run quick --quiet --time-budget 12s --target sim:r740xd/pm1725-0").expect(0, &[]);
    }
    let lab = rusqlite::Connection::open(place.lab()).expect("the lab");
    // As a run under Wine keeps it.
    let stamped = "UPDATE run SET host_json = json_set(host_json, '$.stand_in', 'Wine 8.0') WHERE id = 2";
    assert_eq!(lab.execute(stamped, []).expect("stamped"), 1);
    drop(lab);
    let document = place.json("show 2", 0);
    assert_eq!(document["trust"]["level"], "not_measured");
    let caveats = document["verdict"][0]["caveats"].to_string();
    assert!(caveats.contains("Wine 8.0"), "{caveats}");
    for command in ["compare 1 2", "compare 2", "fit 2"] {
        place.run(command).expect(3, &["Wine 8.0", "its figures are no measurements"]);
    }
    assert_ne!(place.json("show 1", 0)["trust"]["level"], "not_measured");
}
