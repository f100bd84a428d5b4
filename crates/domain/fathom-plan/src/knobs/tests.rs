use insta::assert_snapshot;

use super::*;
use crate::knobs;
use crate::plan::Plan;
use crate::role::NewFile;
use crate::step::{OpMix, Step, TargetId};
use crate::words::{knob_words, lines};

fn knobs_of(pairs: &[(&str, &str)]) -> Result<Knobs, KnobError> {
    let mut knobs = Knobs::new();
    pairs.iter().try_for_each(|(k, v)| knobs.set(k, v))?;
    Ok(knobs)
}

fn io(pairs: &[(&str, &str)]) -> Result<Plan, KnobError> {
    Plan::from_io(&knobs_of(pairs)?, vec![TargetId::new("f")], "fathom io")
}

fn step(pairs: &[(&str, &str)]) -> Step {
    io(pairs).unwrap_or_else(|e| panic!("{e}")).steps.remove(0)
}

fn error(pairs: &[(&str, &str)]) -> String {
    knob_words(&io(pairs).expect_err("these knobs are wrong"))
}

#[test]
fn the_ways_of_batching_are_the_batches_that_they_name() {
    let of = |word: &str| {
        let load = step(&[("iodepth", "16"), ("batching", word)]).load;
        (load.batch_submit, load.batch_complete_min)
    };
    assert_eq!(of("adaptive"), (None, None));
    assert_eq!(of("single"), (Some(1), Some(1)));
    assert_eq!(of("whole"), (Some(16), Some(1)), "capped by the depth");
    assert_eq!(of("t/io_uring"), (Some(16), Some(16)));
}

#[test]
fn each_example_of_the_table_is_valid_and_each_name_is_unique() {
    let mut seen = std::collections::HashSet::new();
    for spec in knobs::knobs() {
        for name in std::iter::once(&spec.name).chain(spec.aliases) {
            assert!(seen.insert(*name), "{name} stands twice");
            Knobs::new().set(name, spec.example).unwrap_or_else(|e| panic!("{name}={}: {e}", spec.example));
        }
    }
    assert_eq!(knob("iodepth-batch-submit").map(|k| k.name), Some("iodepth_batch_submit"));
}

#[test]
fn flags_are_unique_and_a_default_is_what_holds_without_the_flag() {
    let mut seen = std::collections::HashSet::new();
    for (spec, flag) in knobs::knobs().filter_map(|k| Some((k, k.flag?))) {
        for word in std::iter::once(&flag.long).chain(flag.aliases) {
            assert!(seen.insert(*word), "--{word} stands twice");
        }
        assert!(!flag.is_bare || spec.kind == Kind::Switch, "--{} takes no value", flag.long);
        // fathom io has a fixed length, and knobs of no effect need another.
        if let Some(default) = flag.default.filter(|_| !["runtime", "rwmixread", "rate_process"].contains(&spec.name)) {
            assert_eq!(step(&[(spec.name, default)]), step(&[]), "--{} {default}", flag.long);
        }
    }
}

#[test]
fn no_knobs_make_fathoms_default_step() {
    let step = step(&[]);
    assert_eq!(step.label, "4k random read T1 QD1");
    assert!(step.workload.direct && step.engine.fixed_buffers && step.engine.fixed_files);
    assert_eq!((step.length.floor_ns, step.length.budget_ns), (2_000_000_000, 10_000_000_000));
}

#[test]
fn a_latency_goal_stands_with_the_step_and_in_no_step_without_one() {
    let goal = step(&[("latency_goal", "lat<=200us, p99<=1ms")]).role.latency_goal.expect("a goal");
    assert_eq!((goal.mean_ns, goal.p99_ns), (Some(200_000), Some(1_000_000)));
    assert!(step(&[]).role.is_empty());
    assert_snapshot!(error(&[("latency_goal", "p99<=1")]), @r"
    latency_goal: `1` has no unit
      help: write us, ms or s behind it
    ");
    assert_snapshot!(error(&[("latency_goal", "iops>=10k,p99<=1ms")]), @r"
    latency_goal: `iops>=10k,p99<=1ms` asks for a rate, which is what the study looks for
      help: name latencies alone, e.g. p99<=1ms
    ");
    assert_snapshot!(error(&[("latency_goal", "p9<=1ms")]), @r"
    latency_goal: `p9` cannot be a goal
      help: did you mean `p99`?
    ");
}

#[test]
fn one_step_alone_has_nothing_to_be_a_share_of() {
    assert_snapshot!(error(&[("rate_iops", "75%")]), @r"
    rate_iops=75%: one step alone has no closed loop to be a share of
      help: give the rate in IOPS, e.g. 20k; a ladder may give shares
    ");
}

#[test]
fn fios_words_make_the_step_they_name() {
    let step = step(&[
        ("rw", "randrw"),
        ("rwmixwrite", "30"),
        ("bs", "8k"),
        ("iodepth", "32"),
        ("iodepth_batch", "64"),
        ("numjobs", "4"),
        ("cpus_allowed", "0,2"),
        ("rate_iops", "20k"),
        ("rate_process", "poisson"),
        ("hipri", "1"),
        ("randseed", "7"),
        ("size", "1g"),
        ("runtime", "5"),
    ]);
    assert_eq!(step.label, "8k random 70/30 T4 QD32 at 20000/s");
    assert_eq!(step.workload.mix, OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 });
    assert_eq!(step.load.batch_submit, Some(32), "capped by the depth");
    assert_eq!(step.placement, Placement::Cpus(vec![0, 2]));
    assert_eq!(step.engine.mode, Mode::Iopoll);
    assert_eq!(step.seed, 7);
    assert_eq!(step.length.floor_ns, step.length.budget_ns);
}

#[test]
fn read_pct_parts_a_mix_and_turns_no_reads_into_writes() {
    let mix = |rw, read_pct: u8| step(&[("rw", rw), ("read_pct", &read_pct.to_string())]).workload.mix;
    let parts = |pct| OpMix { read_pct: pct, write_pct: 100 - pct, trim_pct: 0 };
    for (rw, read_pct) in [("randrw", 70), ("rw", 0), ("randread", 100), ("write", 0)] {
        assert_eq!(mix(rw, read_pct), parts(read_pct));
    }
    for (rw, read_pct) in [("randread", "0"), ("read", "70"), ("randwrite", "70"), ("write", "100")] {
        let refused = error(&[("rw", rw), ("read_pct", read_pct)]);
        assert!(refused.starts_with(&format!("read_pct {read_pct} contradicts rw={rw}")), "{refused}");
    }
    let fio = io(&[("rw", "randread"), ("rwmixread", "70")]).expect("valid");
    assert_eq!(fio.steps[0].workload.mix, OpMix::READ);
    assert_eq!(lines(&fio.notes), "rwmixread and rwmixwrite have no effect with rw=randread, as in fio");
}

#[test]
fn shares_of_a_split_add_up() {
    let shares = |text| -> Vec<(u32, u8)> {
        step(&[("bssplit", text)]).workload.block_sizes.iter().map(|b| (b.bytes, b.share_pct)).collect()
    };
    assert_eq!(shares("4k/60:64k/40"), [(4096, 60), (65536, 40)]);
    assert_eq!(shares("4k/50:8k/:16k"), [(4096, 50), (8192, 25), (16384, 25)]);
    assert_snapshot!(error(&[("bssplit", "4k/60:64k/50")]), @r"
    bssplit: the shares add up to 110 % instead of 100 %
      help: write it like 4k/60:64k/40
    ");
    assert_snapshot!(error(&[("bssplit", "4k/60:4k/40")]), @r"
    bssplit: block size 4096 is named twice
      help: write it like 4k/60:64k/40
    ");
}

#[test]
fn values_beyond_sense_name_their_bound() {
    assert_snapshot!(error(&[("iodepth", "1000000000")]), @"iodepth: `1000000000` is out of range; it must be 1 to 4096");
    assert_snapshot!(error(&[("numjobs", "0")]), @"numjobs: `0` is out of range; it must be 1 to 1024");
    assert_snapshot!(error(&[("bs", "0")]), @r"
    bs: a block of 0 bytes moves nothing
      help: a multiple of 512, e.g. 4k
    ");
    assert_snapshot!(error(&[("bs", "1g")]), @"bs: `1g` is above the maximum of 64m");
    assert_snapshot!(error(&[("runtime", "1000000000")]), @"runtime: `1000000000` is above the maximum of 30 d 00 h");
    assert_snapshot!(error(&[("rate_iops", "10g")]), @"rate_iops: `10g` is above the maximum of 1.00G IOPS");
    assert_snapshot!(error(&[("cpus", "1000000000")]), @r"
    cpus: `1000000000` is not a CPU list: CPU 1000000000 is above 65535
      help: write CPU numbers and ranges separated by commas, for example 0-3,8
    ");
    assert_snapshot!(error(&[("size", "9999999999g")]), @"size: `9999999999g` is above the maximum of 1024p");
    assert_snapshot!(error(&[("load", "4096x1")]), @r"
    load: threads: `4096` is out of range; it must be 1 to 1024
      help: threads x queue depth: 4x32
    ");
    assert_snapshot!(error(&[("numjobs", "1024"), ("iodepth", "4096"), ("bs", "1m")]), @r"
    1024 threads x 4096 x 1m need 4t of buffers; the maximum is 64g
      help: lower iodepth, numjobs or bs
    ");
}

#[test]
fn wrong_words_name_the_nearest() {
    assert_snapshot!(error(&[("rw", "radnread")]), @r"
    rw: unknown workload `radnread`
      help: did you mean `randread`?
    ");
    assert_snapshot!(error(&[("engine", "libiao")]), @r"
    engine: unknown engine `libiao`
      help: did you mean `libaio`? engines are io_uring, io_uring_cmd, nvme, libaio, psync, mmap, iocp, null
    ");
    assert_snapshot!(error(&[("placement", "core")]), @r"
    placement: unknown placement `core`
      help: did you mean `cores`?
    ");
    assert_snapshot!(error(&[("random_distribution", "zpif:1.2")]), @r"
    random_distribution: unknown distribution `zpif:1.2`
      help: did you mean `zipf`?
    ");
    assert_snapshot!(error(&[("random_distribution", "pareto:0.9")]), @r"
    random_distribution: fio's distribution `pareto` is not supported
      help: use zipf:THETA or hotspot:ACCESS/SPACE (percent), e.g. hotspot:90/10
    ");
    assert_snapshot!(error(&[("runtime", "5sek")]), @r"
    runtime: `5sek` is not a duration: unknown unit `sek`
      help: did you mean `sec`? write seconds, or a number with ns, us, ms, s, m, h or d, for example 30s, 500ms or 1h30m
    ");
    assert_snapshot!(error(&[("verify", "md6")]), @r"
    verify: verification by `md6` is not supported
      help: valid: crc32c, none
    ");
    assert_snapshot!(error(&[("iodepht", "1")]), @r"
    unknown key `iodepht`
      help: did you mean `iodepth`?
    ");
    assert_snapshot!(error(&[("watermelon", "1")]), @"unknown key `watermelon`");
}

#[test]
fn contradictions_are_refused() {
    assert_snapshot!(error(&[("mode", "iopoll"), ("engine", "libaio")]), @r"
    engine libaio has no mode iopoll
      help: modes iopoll and sqpoll (fio: hipri, sqthread_poll) need engine io_uring or io_uring_cmd
    ");
    assert_snapshot!(error(&[("mode", "iopoll"), ("direct", "0")]), @r"
    mode iopoll needs O_DIRECT
      help: set direct=1, or mode=interrupt
    ");
    assert_snapshot!(error(&[("hipri", "1"), ("sqthread_poll", "1")]), @r"
    sqthread_poll: mode is already iopoll
      help: iopoll (hipri) and sqpoll (sqthread_poll) cannot be combined: choose one
    ");
    assert_snapshot!(error(&[("rate_process", "poisson")]), @r"
    rate_process has no effect without rate_iops
      help: set rate_iops, or remove it
    ");
    assert_snapshot!(error(&[("rw", "randtrim"), ("read_pct", "50")]), @r"
    a share of reads makes no sense with rw=randtrim
      help: remove it, or set rw=randrw
    ");
    assert_snapshot!(error(&[("offset", "100")]), @r"
    offset 100 is not a multiple of 512
      help: O_DIRECT needs whole sectors, e.g. 1g
    ");
    assert_snapshot!(knob_words(&Plan::from_io(&Knobs::new(), vec![], "fathom io").expect_err("no target")), @r"
    no target is named
      help: name a file or device with --target
    ");
}

#[test]
fn what_is_read_otherwise_than_written_is_noted() {
    let notes = |pairs: &[(&str, &str)]| lines(&io(pairs).expect("valid").notes);
    assert_snapshot!(notes(&[("bs", "4KB")]), @"`4KB` was read as 4096 bytes: k, m, g are powers of 1024");
    assert_snapshot!(notes(&[("placement", "cores"), ("cpus", "1")]), @"placement and cpus_allowed were both given: the later one counts");
    assert_snapshot!(notes(&[("sqthread_poll_cpu", "1")]), @"sqthread_poll_cpu has no effect in mode interrupt");
    assert_snapshot!(notes(&[("rw", "read"), ("random_distribution", "zipf:1.1")]), @"random_distribution has no effect with rw=read, as in fio");
    assert_eq!(notes(&[("bs", "4KiB"), ("placement", "cores")]), "");
}

#[test]
fn what_says_nothing_is_refused_instead_of_read_as_something() {
    for pairs in [
        &[("direct", "")][..],
        &[("cmdprio_bssplit", ":")],
        &[("cmdprio_bssplit", ",")],
        &[("thinktime_spin", "5")],
        &[("thinktime_blocks", "5")],
        &[("latency_target", "500"), ("latency_window", "0")],
    ] {
        let refused = knobs_of(pairs).and_then(|_| io(pairs)).map_err(|error| knob_words(&error));
        let key = pairs.last().expect("a pair").0;
        assert!(refused.as_ref().is_err_and(|said| said.starts_with(key) && said.contains("help: ")), "{refused:?}");
    }
}

#[test]
fn files_for_writes_alone_are_fresh_where_asked() {
    let made = |pairs: &[(&str, &str)]| io(pairs).expect("valid").steps[0].role.new_file;
    assert_eq!(made(&[("rw", "write")]), NewFile::Written);
    assert_eq!(made(&[("rw", "write"), ("new_files", "allocated")]), NewFile::Allocated);
    assert_eq!(made(&[("rw", "randwrite"), ("new_files", "sparse")]), NewFile::Sparse);
    // Data that is read must have been written.
    assert_eq!(made(&[("rw", "randrw"), ("new_files", "sparse")]), NewFile::Written);
    let notes = lines(&io(&[("new_files", "sparse")]).expect("valid").notes);
    assert_eq!(notes, "new_files=sparse has no effect: the load reads the file, which must have been written before");
    assert_snapshot!(knob_words(&knobs_of(&[("new_files", "alocated")]).expect_err("no such state")), @r"
    new_files: `alocated` is no state of a new file
      help: did you mean `allocated`?
    ");
    let fio = |words: &str| {
        let job = format!("[a]\nsize=1m\n{words}\n");
        crate::parse_fio_job(&job, "a.fio", &|_| None).expect("valid").steps[0].role.new_file
    };
    assert_eq!(fio("rw=write"), NewFile::Allocated);
    assert_eq!(fio("rw=write\noverwrite=1"), NewFile::Written);
    assert_eq!(fio("rw=randwrite:8\nfallocate=none"), NewFile::Sparse);
    assert_eq!(fio("rw=randrw"), NewFile::Written);
    assert_eq!(fio("rw=randwrite\nioengine=mmap"), NewFile::Written, "fio writes what it maps first");
    let of_jobs = |text: &str| {
        let plan = crate::parse_fio_job(text, "a.fio", &|_| None).expect("valid");
        plan.steps.iter().map(|step| step.role.new_file).collect::<Vec<_>>()
    };
    let one_file = |first: &str, second: &str| {
        of_jobs(&format!("[global]\nfilename=f\n[a]\nsize=1m\n{first}\n[b]\nstonewall\n{second}\n"))
    };
    // Only the first job finds a new file; one that reads more than it has lays it out before any job runs.
    assert_eq!(one_file("rw=write", "size=1m\nrw=write"), [NewFile::Allocated, NewFile::Written]);
    assert_eq!(one_file("rw=write", "size=1m\nrw=read"), [NewFile::Allocated, NewFile::Written]);
    assert_eq!(one_file("rw=write", "size=2m\nrw=read"), [NewFile::Written; 2]);
    assert_eq!(one_file("rw=write\nfallocate=none", "size=1m\nrw=read"), [NewFile::Written; 2]);
}

#[test]
fn passes_without_a_runtime_have_no_time() {
    let plan = io(&[("loops", "2"), ("size", "1m"), ("rw", "randwrite")]).expect("valid");
    assert_eq!(plan.time_budget_ns(), None);
    assert_eq!(plan.bytes_written_max_estimate(), Some(2 << 20));
    assert_eq!(io(&[("rw", "randwrite")]).expect("valid").bytes_written_max_estimate(), None);
    assert_eq!(io(&[]).expect("valid").bytes_written_max_estimate(), Some(0));
    let rated = io(&[("rw", "randrw"), ("rate", "100"), ("runtime", "10s")]).expect("valid");
    assert_eq!(rated.bytes_written_max_estimate(), Some(100 * 10 * 4096 / 2));
}

/// Values of each knob that a step holds, some of them defaults.
const VALUES: &[(&str, &[&str])] = &[
    ("rw", &["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "randtrimwrite"]),
    ("read_pct", &["100", "70", "0"]),
    ("bs", &["512", "4k", "1m"]),
    ("bssplit", &["4k/60:64k/40"]),
    ("norandommap", &["1", "0"]),
    ("random_distribution", &["random", "zipf:1.2", "hotspot:90/10"]),
    ("offset", &["0", "1m"]),
    ("size", &["1g", "3000000", "20%"]),
    ("devices", &["1", "2"]),
    ("ranks", &["1", "8"]),
    ("compress_pct", &["0", "50"]),
    ("dedupe_pct", &["30"]),
    ("dedupe_mode", &["working_set", "repeat"]),
    ("dedupe_working_set_percentage", &["20"]),
    ("dedupe_global", &["1"]),
    ("latency_target", &["500", "2ms"]),
    ("latency_window", &["5s"]),
    ("latency_percentile", &["99.9", "100"]),
    ("latency_run", &["1"]),
    ("sprandom", &["1"]),
    ("spr_op", &["0.21"]),
    ("atomic", &["1"]),
    ("prioclass", &["1", "idle"]),
    ("prio", &["4"]),
    ("priohint", &["2"]),
    ("cmdprio_percentage", &["20", "0,30"]),
    ("cmdprio_class", &["1", "2,3"]),
    ("cmdprio", &["5"]),
    ("cmdprio_hint", &["1,0"]),
    ("cmdprio_bssplit", &["4k/25/1/1:4k/75/3/2,1m/10", "64k/100"]),
    ("numa_cpu_nodes", &["0-1"]),
    ("numa_mem_policy", &["bind:0", "interleave:0-1", "prefer:1", "local", "default"]),
    ("verify", &["none", "crc32c"]),
    ("direct", &["1", "0"]),
    ("load", &["1x1", "4x32"]),
    ("iodepth_batch_submit", &["1", "8"]),
    ("iodepth_batch_complete_min", &["0", "2"]),
    ("iodepth_batch_complete_max", &["1", "8"]),
    ("new_files", &["written", "allocated", "sparse"]),
    ("batching", &["adaptive", "single", "whole", "t/io_uring"]),
    ("rate_iops", &["20k", "333.3", "75%"]),
    ("rate_process", &["fixed", "poisson"]),
    ("placement", &["unpinned", "cores", "smt", "local", "remote"]),
    ("cpus", &["0-3,8"]),
    ("engine", &["io_uring", "libaio", "psync", "mmap", "io_uring_cmd"]),
    ("mode", &["interrupt", "iopoll", "sqpoll"]),
    ("sqpoll_cpu", &["2"]),
    ("fixedbufs", &["1", "0"]),
    ("registerfiles", &["0"]),
    ("paranoid", &["1"]),
    ("ramp_time", &["1500ms"]),
    ("runtime", &["30s", "2s..10s", "auto"]),
    ("loops", &["3"]),
    ("iops_precision", &["2%"]),
    ("p99_precision", &["0.1"]),
    ("latency_goal", &["p99<=1ms", "lat<=200us, p99<=1ms"]),
    ("seed", &["7"]),
];

proptest::proptest! {
    #[test]
    fn the_knobs_that_a_step_gives_make_the_same_step(
        chosen in proptest::collection::btree_map(0..VALUES.len(), proptest::prelude::any::<proptest::sample::Index>(), 0..12),
    ) {
        let pairs: Vec<(&str, &str)> = chosen.into_iter().map(|(i, at)| (VALUES[i].0, *at.get(VALUES[i].1))).collect();
        let targets = || vec![TargetId::new("a"), TargetId::new("b")];
        let build = |knobs: &Knobs| knobs.build(0, "A", &targets(), &mut Vec::new());
        // Knobs that contradict each other make no step.
        if let Ok(step) = knobs_of(&pairs).and_then(|k| build(&k)) {
            let mut again = Knobs::new();
            for (knob, value) in knobs::knobs().filter_map(|k| Some((k, k.get(&step)?))) {
                again.set(knob.name, &value).unwrap_or_else(|e| panic!("{}={value}: {e}", knob.name));
            }
            let back = build(&again).unwrap_or_else(|e| panic!("{pairs:?}: {e}"));
            proptest::prop_assert_eq!(&back, &step, "{:?}", pairs);
        }
    }

    #[test]
    fn no_value_makes_a_knob_panic(i in 0..knobs::knobs().count(), value in "\\PC{0,20}|[a-z0-9:/.,x-]{0,16}") {
        let mut knobs = Knobs::new();
        let name = knobs::knobs().nth(i).map_or("", |k| k.name);
        if knobs.set(name, &value).is_ok() {
            let _ = Plan::from_io(&knobs, vec![TargetId::new("f")], "");
        }
    }

    #[test]
    fn scaling_keeps_within_the_time_and_leaves_each_step_some(
        times in proptest::collection::vec((0u64..5_000, 1u64..60_000), 1..30),
        budget_ms in 1u64..3_000_000,
    ) {
        let mut plan = io(&[]).expect("valid");
        let one = plan.steps[0].clone();
        plan.steps = times.iter().map(|(ramp, run)| {
            let length = crate::RunLength { floor_ns: run * 500_000, ..crate::RunLength::fixed(ramp * 1_000_000, run * 1_000_000) };
            Step { length, ..one.clone() }
        }).collect();
        let before = plan.clone();
        let budget_ns = budget_ms * 1_000_000;
        match plan.scale_to_time_budget(budget_ns) {
            Err(e) => {
                proptest::prop_assert_eq!(&plan, &before);
                proptest::prop_assert!(e.needed_ns > budget_ns);
            }
            Ok(()) => {
                let total = plan.time_budget_ns().expect("timed");
                proptest::prop_assert!(total <= budget_ns);
                let around_ns = 100_000_000 * times.len() as u64;
                proptest::prop_assert!(total + around_ns <= budget_ns + times.len() as u64, "time is left around the steps");
                proptest::prop_assert!(budget_ns - total - around_ns <= 5 * times.len() as u64, "rounding only");
                proptest::prop_assert!(plan.steps.iter().all(|s| s.length.floor_ns <= s.length.budget_ns && s.length.floor_ns > 0));
            }
        }
    }
}

#[test]
fn stages_say_rates_and_lengths() {
    let built = |text: &str, others: &[(&str, &str)]| {
        let mut knobs = Knobs::new();
        for (key, value) in [("stages", text)].iter().chain(others) {
            knobs.set(key, value)?;
        }
        knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new())
    };
    let step = built("10s@5k, 2s@40k,500ms@0, 10s@5k-10k", &[("iodepth", "64")]).expect("a step");
    assert_eq!(step.length.budget_ns, 22_500_000_000);
    assert_eq!(step.length.floor_ns, step.length.budget_ns, "of a fixed length");
    // (50k + 80k + 75k) I/Os in 22.5 s.
    let rate = step.load.rate.expect("an open loop").iops;
    assert!((rate - 205_000.0 / 22.5).abs() < 1e-6, "{rate}");
    assert!((crate::stages_mean(&step.role.stages) - 1.0).abs() < 1e-6);
    assert_eq!(step.label, "4k random read T1 QD64 in 4 stages at 0 to 40000/s");
    let again = (knob("stages").expect("a knob").get)(&step).expect("written");
    assert_eq!(again, "10s@5000,2s@40000,500ms@0,10s@5000-10000");
    assert_eq!(built(&again, &[("iodepth", "64")]).expect("reads it back").role.stages, step.role.stages);
    let share = built("10s@30%,2s@120%", &[]).expect("a step");
    assert_eq!((share.role.rate_share.map(|s| s.pct), share.load.rate), (Some(45), None));
    assert_eq!((knob("stages").expect("a knob").get)(&share).as_deref(), Some("10s@30%,2s@120%"));
    for (text, others, said) in [
        ("10s", &[][..], "\"knob-stage\""),
        ("10s@", &[], "stages"),
        ("50ms@5k", &[], "knob-stage-length"),
        ("0s@5k", &[], "knob-stage-length"),
        ("1s@5k,1s@50%", &[], "knob-stage-units"),
        ("1s@0,2s@0%", &[], "knob-stages-of-nothing"),
        ("1s@300%", &[], "share-out-of-range"),
        ("40d@5k", &[], "stages"),
        ("1s@5k", &[("runtime", "5s")], "knob-beside-stages"),
        ("1s@5k", &[("rate_iops", "5k")], "knob-beside-stages"),
        ("1s@5k", &[("read_rate", "5%")], "knob-pair-and-rate"),
    ] {
        let error = built(text, others).expect_err(text);
        assert!(format!("{:?}", error.message).contains(said), "{text}: {:?}", error.message);
    }
}
