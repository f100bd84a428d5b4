//! Arrays at work: caches by size, md's thread, stripes and bitmap, user space, lost and rebuilt members.

use fathom_plan::{OpMix, Pattern, Region, Step, TargetId};
use fathom_record::StepRecord;

use crate::file::parse_machine;
use crate::machine::Machine;
use crate::runner::Truth;
use crate::testing::{iops, mean_us, run, step};

/// Six drives of 100k reads or writes a second each, one at a time; and what `more` says.
fn six(more: &str) -> Machine {
    let text = format!(
        r#"
[machine]
name = "m"
[host]
sockets = 1
cores = 16
[engine.default]
user = "0.5us"
submit = "0.5us"
complete = "0.5us"
interrupt = "0.5us"
[[device]]
name = "x"
capacity = "64 GiB"
[device.xpoint]
units = 1
unit = "4 KiB"
read = "10us"
write = "10us"
[[drive]]
name = "d"
count = 6
device = "x"
link = {{ rate = "100 GB/s" }}
{more}
"#
    );
    parse_machine(&text, "m.toml").unwrap_or_else(|e| panic!("{e:?}"))
}

fn card(level: &str, more: &str) -> Machine {
    six(&format!(
        "[[array]]\nname = \"a\"\nlevel = \"{level}\"\nmembers = [\"d\"]\n[array.card]\nlink = {{ rate = \"100 GB/s\" }}\nfixed = \"5us\"\n{more}\n"
    ))
}

fn named(level: &str, members: &[&str]) -> String {
    let names: Vec<String> = members
        .iter()
        .map(|m| match m.rsplit_once('+') {
            _ if *m == "missing" => (*m).to_owned(),
            Some((speed, member)) => format!("{speed}+sim:m/{member}"),
            None => format!("sim:m/{m}"),
        })
        .collect();
    format!("{level}:64k:{}", names.join(","))
}

const ALL: [&str; 6] = ["d-0", "d-1", "d-2", "d-3", "d-4", "d-5"];

fn writes(target: &str, threads: u32, depth: u32, ms: u64) -> Step {
    let mut step = step(target, threads, depth, ms * 1_000_000);
    step.length.ramp_ns = 20_000_000;
    step.workload.mix = OpMix::WRITE;
    step
}

fn done(machine: &Machine, step: &Step) -> (f64, StepRecord, Truth) {
    let (record, truth) = run(machine, step).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(truth.laws.largest() < 1e-9, "{:?}", truth.laws);
    (record.ios() as f64 / (record.runtime_ns as f64 / 1e9), record, truth)
}

#[track_caller]
fn is_near(got: f64, expected: f64, within: f64) {
    assert!((got / expected - 1.0).abs() < within, "{got:.0}, {expected:.0} expected");
}

#[test]
fn a_cache_answers_a_load_that_the_members_keep_up_with_and_is_no_faster_than_they_once_it_is_full() {
    let (with, without) = (card("raid10", "cache = \"64 MiB\""), card("raid10", ""));
    let (_, record, _) = done(&with, &writes("a", 1, 1, 50));
    let (_, waited, _) = done(&without, &writes("a", 1, 1, 50));
    // 10 us of the member are behind the answer.
    assert!((mean_us(&waited) - mean_us(&record) - 10.0).abs() < 1.5, "{} {}", mean_us(&waited), mean_us(&record));
    // Six members of 100k, two copies: 300k, with the cache and without.
    for machine in [&with, &without] {
        is_near(iops(machine, &writes("a", 8, 64, 100)), 300e3, 0.03);
    }
}

#[test]
fn what_is_written_over_in_the_cache_never_reaches_the_members() {
    // A region of which the cache holds a half, a fifth of it on its way to the members: two writes of five meet a dirty block.
    let machine = card("raid0", "cache = \"32 MiB\"");
    let mut load = writes("a", 8, 64, 200);
    load.length.ramp_ns = 100_000_000;
    load.workload.region = Region { offset_bytes: 0, size_bytes: Some(64 << 20) };
    let (got, _, _) = done(&machine, &load);
    is_near(got, 600e3 / 0.6, 0.1);
    // All of it fits: the members have little to do, and it is as fast as the threads are.
    load.workload.region.size_bytes = Some(16 << 20);
    let (all, record, _) = done(&machine, &load);
    assert!(all > 2.0 * got, "{all} {got}");
    let disks = &record.host.as_ref().expect("counted").disks;
    let written: u64 = disks.iter().map(|d| d.write_ios).sum();
    assert!((written as f64) < 0.5 * record.ios() as f64, "{written} {}", record.ios());
}

#[test]
fn a_stream_through_a_cache_is_written_back_in_whole_stripes() {
    let machine = card("raid5", "cache = \"64 MiB\"");
    let mut load = writes("a", 4, 16, 100);
    load.workload.pattern = Pattern::Sequential;
    load.workload.block_sizes[0].bytes = 16_384;
    let (got, record, _) = done(&machine, &load);
    let disks = &record.host.as_ref().expect("counted").disks;
    let sum = |of: fn(&fathom_record::DiskDelta) -> u64| disks.iter().map(of).sum::<u64>() as f64;
    assert_eq!(sum(|d| d.read_ios), 0.0, "no old content is needed");
    is_near(sum(|d| d.write_bytes), record.ios() as f64 * 16_384.0 * 1.2, 0.05);
    // Six members of 409.6 MB/s, five sixths of it data.
    is_near(got * 16_384.0, 6.0 * 409.6e6 * 5.0 / 6.0, 0.05);
}

#[test]
fn the_memory_of_a_cache_is_crossed_by_each_write_and_each_copy() {
    let machine = card("raid10", "cache = \"64 MiB\"\ncache_rate = \"1 GB/s\"");
    let mut load = writes("a", 4, 16, 100);
    load.workload.pattern = Pattern::Sequential;
    load.workload.block_sizes[0].bytes = 65_536;
    // In once, out twice.
    is_near(iops(&machine, &load) * 65_536.0, 1e9 / 3.0, 0.03);
    load.workload.mix = OpMix::READ;
    assert!(iops(&machine, &load) * 65_536.0 > 1.5e9, "reads pass by it");
}

#[test]
fn one_thread_of_md_bounds_the_writes_of_an_array_and_more_threads_less_so() {
    let md = |more: &str| six(&format!("[md]\nremap = \"0us\"\nstripe = \"20us\"\nxor_rate = \"0 B/s\"\n{more}"));
    let target = named("md-raid5", &ALL);
    let (got, record, truth) = done(&md(""), &writes(&target, 8, 32, 100));
    is_near(got, 50e3, 0.02);
    let host = record.host.expect("counted");
    assert!(
        host.threads.iter().any(|t| t.name.ends_with("_raid5") && t.system_ns as f64 > 0.95 * host.window_ns as f64)
    );
    let busy = truth.utilisation.iter().find(|u| u.part.ends_with("md thread")).expect("a part");
    assert!(busy.busy_share > 0.95, "{busy:?}");
    // Four threads leave it to the members: 600k member I/Os, four for each write.
    let (four, _, _) = done(&md("threads = 4"), &writes(&target, 8, 32, 100));
    is_near(four, 150e3, 0.08);
    // A lock that all of them take bounds them again.
    let (locked, _, _) = done(&md("threads = 4\nlock = \"10us\""), &writes(&target, 8, 32, 100));
    is_near(locked, 100e3, 0.02);
}

#[test]
fn a_full_stripe_cache_makes_writes_wait_and_reads_do_not() {
    let md = |stripes: u32| six(&format!("[md]\nstripe = \"1us\"\nstripe_cache = {stripes}"));
    let target = named("md-raid5", &ALL);
    let of = |machine: &Machine, load: &Step| iops(machine, load);
    let (few, many) = (of(&md(17), &writes(&target, 8, 32, 100)), of(&md(4096), &writes(&target, 8, 32, 100)));
    assert!(few < 0.9 * many, "{few} {many}");
    let reads = step(&target, 8, 32, 100_000_000);
    is_near(of(&md(17), &reads), of(&md(4096), &reads), 0.001);
}

#[test]
fn the_bits_of_a_bitmap_are_written_before_what_they_stand_for() {
    let md = |more: &str| six(&format!("[md]\nstripe = \"1us\"\n{more}"));
    let target = named("md-raid5", &ALL);
    let mut load = writes(&target, 1, 1, 50);
    let plain = iops(&md(""), &load);
    // Of so many bits hardly one is set when it is met.
    let (got, record, _) = done(&md("bitmap = \"64 KiB\""), &load);
    assert!(got < 0.8 * plain, "{got} {plain}");
    let array = &record.arrays[0];
    let per_write = array.member_writes() as f64 / array.writes as f64;
    assert!((per_write - 8.0).abs() < 0.2, "two and a bit on six members: {per_write}");
    // One bit is set once.
    load.workload.region.size_bytes = Some(64 << 20);
    is_near(iops(&md("bitmap = \"64 MiB\""), &load), plain, 0.01);
}

#[test]
fn member_ios_of_named_arrays_are_one_two_four_and_six() {
    let machine = six("");
    for (level, members, reads, written) in
        [("raid0", 6, 0.0, 1.0), ("raid10", 6, 0.0, 2.0), ("raid5", 6, 2.0, 2.0), ("raid6", 6, 3.0, 3.0)]
    {
        for maker in ["", "md-"] {
            let target = named(&format!("{maker}{level}"), &ALL[..members]);
            let (_, record, _) = done(&machine, &writes(&target, 1, 4, 20));
            let array = &record.arrays[0];
            let cost = array.write_cost().expect("it wrote");
            assert!((cost.0 - reads).abs() < 0.05 && (cost.1 - written).abs() < 0.05, "{target}: {cost:?}");
            assert_eq!(array.target, TargetId::new(target.as_str()));
            assert!(!array.is_degraded());
        }
    }
}

#[test]
fn an_array_of_user_space_costs_the_submitting_core_each_member_io_and_the_parity() {
    // Drives far faster than one core.
    let fast = |own: &str| {
        let mut machine = six(own);
        for drive in &mut machine.drives {
            if let crate::machine::Media::Xpoint(x) = &mut drive.device.media {
                x.read.mean_ps = 100_000;
                x.write.mean_ps = 100_000;
            }
        }
        machine
    };
    let own = "[user_space]\nsplit = \"1us\"\nxor_rate = \"4096 MB/s\"";
    let (got, record, truth) = done(&fast(own), &writes(&named("raid5", &ALL), 1, 64, 20));
    // user 0.5, split 1, 4 x (submit 0.5 + complete 0.5), parity over 12 KiB at 4.096 GB/s: 3; some completions share interrupts.
    assert!(got < 1e6 / 8.5 && got > 1e6 / 10.6, "{got}");
    assert!(truth.utilisation.iter().any(|u| u.part == "cpu 0" && u.busy_share > 0.98));
    assert!(record.host.expect("counted").threads.iter().all(|t| !t.kernel), "no thread of its own");
    let (plain, _, _) = done(&fast(own), &writes(&named("raid0", &ALL), 1, 64, 20));
    assert!(plain > 2.5 * got, "{plain}");
}

#[test]
fn reads_of_a_lost_member_come_from_the_others() {
    let machine = six("");
    let of = |members: &[&str]| {
        done(&machine, &{
            let mut load = step(&named("md-raid5", members), 8, 32, 100_000_000);
            load.length.ramp_ns = 20_000_000;
            load
        })
    };
    let (whole, _, _) = of(&ALL);
    is_near(whole, 600e3, 0.05);
    let (degraded, record, _) = of(&["d-0", "d-1", "missing", "d-3", "d-4", "d-5"]);
    // Each read costs 5/6 + 1/6 x 5 = 1.67 reads over five members.
    is_near(degraded, 500e3 / (10.0 / 6.0), 0.07);
    let array = &record.arrays[0];
    is_near(array.degraded_reads as f64 / array.reads as f64, 1.0 / 6.0, 0.05);
    assert!(array.is_degraded() && array.members[2].target.is_none() && array.members[2].reads == 0);
}

#[test]
fn a_rebuild_goes_at_its_limit_beside_the_load_and_takes_from_it_what_it_does() {
    let machine = six("[md]\nstripe = \"0us\"\nxor_rate = \"0 B/s\"");
    let load = |rebuilt: &str| {
        let mut load = step(&named("md-raid5", &["d-0", "d-1", "d-2", "d-3", "d-4", rebuilt]), 8, 32, 200_000_000);
        load.length.ramp_ns = 20_000_000;
        load
    };
    let (slow, record, _) = done(&machine, &load("50m+d-5"));
    let rebuild = record.arrays[0].rebuild.expect("one is rebuilt");
    is_near(rebuild.bytes_per_s(), 50.0 * 1048576.0, 0.03);
    assert_eq!(rebuild.member_bytes, 64 << 30);
    is_near(rebuild.whole_s().expect("it goes on"), (64_u64 << 30) as f64 / (50.0 * 1048576.0), 0.03);
    assert!(record.arrays[0].members[5].written_bytes >= rebuild.done_bytes);
    let (none, _, _) = done(&machine, &load("missing"));
    // 12.8k reads a second of each of the five, of 100k.
    is_near(slow, none * (1.0 - 0.128), 0.04);
    let (full, record, _) = done(&machine, &load("full+d-5"));
    assert!(record.arrays[0].rebuild.expect("one is").bytes_per_s() > 2.0 * rebuild.bytes_per_s());
    assert!(full < 0.9 * slow, "{full} {slow}");
}

/// An array of user space is rebuilt by a thread of its own.
#[test]
fn a_rebuild_in_user_space_goes_at_its_limit() {
    let mut load = step(&named("raid5", &["d-0", "d-1", "d-2", "d-3", "d-4", "50m+d-5"]), 8, 32, 200_000_000);
    load.length.ramp_ns = 20_000_000;
    let (_, record, _) = done(&six(""), &load);
    is_near(record.arrays[0].rebuild.expect("one is rebuilt").bytes_per_s(), 50.0 * 1048576.0, 0.03);
}

#[test]
fn what_is_wrong_with_an_array_of_the_file_or_of_a_name_is_said() {
    let file = |more: &str| {
        let text = format!("[[array]]\nname = \"a\"\nlevel = \"raid5\"\nmembers = [\"d\"]\n{more}\n[array.md]\n");
        let six = six("");
        assert_eq!(six.arrays.len(), 0);
        std::panic::catch_unwind(|| super::array_tests::six(&text)).is_ok()
    };
    assert!(file("missing = [1]"));
    assert!(file("missing = [1]\nrebuild = \"50 MB/s\""));
    assert!(!file("missing = [1, 2]"), "two of RAID 5");
    assert!(!file("rebuild = \"full\""), "nothing to rebuild");
    assert!(!file("chunk = \"48 KiB\""), "no power of two");
    let machine = six("");
    let failure = run(&machine, &writes(&named("raid5", &["d-0", "d-1", "d-9"]), 1, 1, 10)).expect_err("no such drive");
    let fathom_record::StepFailure::Refused { why, .. } = failure else { panic!("{failure:?}") };
    assert_eq!(why.id(), "sim-member-no-drive");
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_caches_bitmaps_and_rebuilds() {
    let machine = six("[md]\nbitmap = \"16 MiB\"\nthreads = 3");
    let load = writes(&named("md-raid6", &["d-0", "d-1", "d-2", "d-3", "d-4", "full+d-5"]), 4, 8, 30);
    assert_eq!(done(&machine, &load).1, done(&machine, &load).1);
    let cached = card("raid6", "cache = \"4 MiB\"");
    let load = writes("a", 4, 32, 30);
    assert_eq!(done(&cached, &load).1, done(&cached, &load).1);
}
