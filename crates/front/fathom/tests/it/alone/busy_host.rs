//! A busy host is reported before a run, and `--wait-idle` waits for it.

use crate::cli::Place;

/// Threads that keep every CPU busy until it is dropped.
struct Busy(std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Busy {
    fn new() -> Busy {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        for _ in 0..std::thread::available_parallelism().map_or(2, std::num::NonZero::get) {
            let stop = std::sync::Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Busy(stop)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_busy_host_is_said_before_the_run_and_can_be_waited_for() {
    let place = Place::new();
    let busy = Busy::new();
    let plan = "run quick --target . --set size=64m --time-budget 5s";
    let ended = place.run(plan);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let (said, rest) = ended.err.split_once("quick · ").expect("the head of the run");
    assert!(said.contains("CPUs are busy with other work") && said.contains("--wait-idle"), "{said}");
    assert!(!rest.is_empty() && ended.out.contains("\nTrust: poor; "), "{}", ended.out);
    let one_line = ended.out.replace("\n  ", " ");
    assert!(one_line.contains("CPUs busy: rates are lower bounds"), "{}", ended.out);
    let waited = place.run(&format!("{plan} --wait-idle=2s"));
    drop(busy);
    assert_eq!(waited.code, Some(1), "{}", waited.err);
    assert!(
        waited.err.contains("did not become idle within 2 s") && waited.err.contains("--wait-idle=1h"),
        "{}",
        waited.err
    );
}
