//! The sampler on a large machine: 256 CPUs, 24 drives, 128 threads of its own, as a tree of files.

use fathom_host::HostSampler;

use crate::machines::{Machine, two_sockets_24_drives};

const CPUS: u64 = 256;
const DRIVES: u64 = 24;
const THREADS: u64 = 128;

fn stat_text(ticks: u64) -> String {
    let all = [ticks, 0, ticks, ticks * 8, 0, 0, ticks / 4, 0, 0, 0].map(|n| n.to_string()).join(" ");
    let cpus: String = (0..CPUS).map(|cpu| format!("cpu{cpu} {all}\n")).collect();
    // The kernel lists a count for each interrupt number.
    let intr = "0 ".repeat(2048);
    format!("cpu  {all}\n{cpus}intr {} {intr}\nctxt {}\nprocesses 1\n", ticks * 10, ticks * 20)
}

fn add_counters(machine: &Machine) {
    machine.file("proc/stat", &stat_text(1000));
    let disks: String =
        (0..DRIVES).map(|d| format!(" 259 {d} nvme{d}n1 10 0 80 5 20 0 160 6 0 40 50 3 0 0 0 0 0\n")).collect();
    machine.file("proc/diskstats", &disks);
    for thread in 0..THREADS {
        let home = format!("proc/self/task/{}", 7000 + thread);
        let stat = format!("7 (fathom-w{thread}) S 1 7 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 0 0 0\n");
        machine.file(&format!("{home}/stat"), &stat).file(&format!("{home}/schedstat"), "1000 2000 3\n");
    }
}

/// `FATHOM_KEEP_MACHINE=FOLDER` leaves the tree there, for `make bench`.
#[test]
fn the_sampler_sees_every_cpu_drive_and_thread_of_a_large_machine() {
    let machine = two_sockets_24_drives();
    add_counters(&machine);
    let disks: Vec<String> = (0..DRIVES).map(|d| format!("nvme{d}n1")).collect();
    if let Some(folder) = std::env::var_os("FATHOM_KEEP_MACHINE") {
        let copied = std::process::Command::new("cp").arg("-a").arg(machine.root().join("")).arg(folder).status();
        assert!(copied.is_ok_and(|s| s.success()), "cp -a");
    }
    let mut sampler = HostSampler::new(&machine.root(), disks).expect("opens");
    sampler.begin().expect("begins");
    machine.file("proc/stat", &stat_text(1100));
    sampler.interval().expect("an interval");
    let delta = sampler.finish(1_000_000_000).expect("finishes");
    let lengths = (delta.cpus.len(), delta.disks.len(), delta.vectors.len(), delta.drives.len(), delta.threads.len());
    assert_eq!(lengths, (CPUS as usize, DRIVES as usize, 24 * 64, DRIVES as usize, THREADS as usize));
    assert_eq!((delta.cpu_series.cpus.len(), delta.core_of.len()), (CPUS as usize, CPUS as usize));
    assert!(delta.cpus.iter().all(|(_, time)| time.user_ns > 0 && time.softirq_ns > 0));
    assert!(delta.drives.iter().all(|d| d.samples.len() >= 2), "a look at the start and one at the end");
}
