//! Rates of jobs next to fio: each direction keeps its own, whatever the mix is.

use crate::cli::{Place, skipped};
use crate::fio_order::{counts, fathom, fio};

/// I/Os of reads and of writes in fio and in Fathom; `None`: fio is absent.
fn ios(job: &str) -> Option<[[f64; 2]; 2]> {
    let place = Place::new();
    let Some(theirs) = fio(&place, job) else {
        skipped("fio is absent");
        return None;
    };
    let of = |result| {
        let counts = counts(&result);
        ["a read", "a write"].map(|wanted| {
            let found = counts.iter().find(|(name, ..)| name == wanted);
            found.map_or(0.0, |(_, ios, _)| *ios as f64)
        })
    };
    Some([of(theirs), of(fathom(&place, job))])
}

#[test]
fn two_rates_set_the_share_of_each_direction() {
    // As many I/Os as the file has blocks: how long they take does not matter.
    for (words, reads_of_each_write) in [
        ("rate=1600k,400k", 4.0),
        ("rwmixread=10\nrate_iops=500,150", 10.0 / 3.0),
        ("rwmixread=90\nrate_iops=300,300\nioengine=libaio\niodepth=4", 1.0),
        ("bs=2k,1k\nrate=500k", 0.5),
    ] {
        let job = format!("[a]\nrw=randrw\nbs=4k\nsize=2m\nnorandommap\n{words}\nfilename=f\n");
        let Some(tools) = ios(&job) else { return };
        for [reads, writes] in tools {
            let share = reads / writes;
            assert!((share / reads_of_each_write - 1.0).abs() < 0.1, "{words}: {tools:?}");
        }
    }
}

#[test]
fn one_rate_limits_its_direction_and_the_other_is_free() {
    let runs = [("rate=,800k", 1), ("rate_iops=200,0", 0), ("rate_iops=,100\nnumjobs=2\ngroup_reporting", 1)];
    for (words, limited) in runs {
        let job = format!("[a]\nrw=randrw\nbs=4k\nsize=2m\ntime_based\nruntime=1\n{words}\nfilename=f\n");
        let Some(tools) = ios(&job) else { return };
        for ios in tools {
            // Of a host that is busy, fewer.
            assert!((100.0..=205.0).contains(&ios[limited]), "{words}: {tools:?}");
            assert!(ios[1 - limited] > 2.0 * ios[limited], "{words}: {tools:?}");
        }
    }
}

#[test]
fn rates_of_one_operation_each_are_a_knob_too() {
    let place = Place::new();
    let load = "io --target f --rw randrw --size 16m --rate 10k,3k --set number_ios=1300 --set loops=1 --runtime 60s";
    let step = place.step(load);
    assert_eq!((step["read"]["ios"].as_u64(), step["write"]["ios"].as_u64()), (Some(1000), Some(300)));
    let label = step["label"].as_str().expect("a label");
    assert!(label.ends_with("at 10000 reads/s + 3000 writes/s"), "{label}");
}
