//! Steps in fio's words, and read back from them.

use super::*;

fn by_knobs(pairs: &[(&str, &str)], targets: &[&str]) -> Step {
    let mut knobs = Knobs::new();
    for (key, value) in pairs {
        knobs.set(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let targets = targets.iter().map(|t| TargetId::new((*t).to_owned())).collect();
    Plan::from_io(&knobs, targets, "").unwrap_or_else(|e| panic!("{e}")).steps.remove(0)
}

#[test]
fn a_step_becomes_a_fio_command() {
    let usual = [("iodepth", "32"), ("runtime", "5s"), ("size", "2g")];
    assert_snapshot!(fio_command(&by_knobs(&usual, &["/data/a b"])), @"fio --name=fathom --filename='/data/a b' --rw=randread --bs=4k --size=2g --direct=1 --numjobs=1 --iodepth=32 --iodepth_batch_submit=1 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32 --ioengine=io_uring --fixedbufs --registerfiles --runtime=5s --randseed=1 --time_based --thread --group_reporting");
    let hard = [
        ("rw", "randrw"),
        ("read_pct", "70"),
        ("bssplit", "4k/60:64k/40"),
        ("load", "2x8"),
        ("mode", "sqpoll"),
        ("sqthread_poll_cpu", "1"),
        ("distribution", "hotspot:90/10"),
        ("rate", "1000"),
        ("rate_process", "poisson"),
        ("placement", "cores"),
        ("runtime", "1s..2500ms"),
        ("ramp_time", "1"),
        ("verify", "crc32c"),
        ("loops", "2"),
    ];
    assert_snapshot!(fio_command(&by_knobs(&hard, &["0000:5e:00.0", "g"])), @r"fio --name=global --rw=randrw --rwmixread=70 --bssplit=4k/60:64k/40 --random_distribution=zoned:90/10:10/90 --verify=crc32c --direct=1 --blockalign=64k --numjobs=2 --iodepth=8 --iodepth_batch_submit=1 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=8 --rate_iops=175,75 --rate_process=poisson --ioengine=io_uring --sqthread_poll --sqthread_poll_cpu=1 --fixedbufs --registerfiles --ramp_time=1s --runtime=2500ms --loops=2 --randseed=1 --thread --group_reporting --name=fathom-0 --filename='0000\:5e\:00.0' --name=fathom-1 --filename=g");
    assert_snapshot!(lines(&fio_remarks(&by_knobs(&hard, &["g"]))), @r"
    one thread per physical core: name the CPUs with cpus_allowed
    ended from 1s on once its intervals were narrow
    ");
    assert_snapshot!(job_text(&by_knobs(&[("engine", "null"), ("cpus", "0-2")], &["null"])), @r"
    ; 4k random read T1 QD1
    ; ended from 2s on once its intervals were narrow
    [step-0-0]
    stonewall
    filename=null
    rw=randread
    bs=4k
    size=1g
    direct=1
    numjobs=1
    iodepth=1
    iodepth_batch_submit=1
    iodepth_batch_complete_min=1
    iodepth_batch_complete_max=1
    cpus_allowed=0-2
    ioengine=null
    runtime=10s
    randseed=1
    time_based
    cpus_allowed_policy=split
    thread
    group_reporting
    ");
}

/// What a job file does not say and Fathom may choose: the batch when a step names none.
fn with_effective_batch(mut step: Step) -> Step {
    if !step.engine.name.is_synchronous() {
        step.load.batch_submit = Some(step.load.batch_submit.unwrap_or(1).min(step.load.queue_depth));
        let (min, depth) = (step.load.batch_complete_min.unwrap_or(1), step.load.queue_depth);
        step.load.batch_complete_min = Some(min);
        step.load.batch_complete_max = Some(step.load.batch_complete_max.unwrap_or(depth).max(min));
    }
    step
}

fn any_step() -> impl Strategy<Value = Step> {
    let rw = prop::sample::select(vec!["read", "write", "randread", "randwrite", "randrw", "rw", "trim", "randtrim"]);
    let bs = prop::sample::select(vec!["512", "4k", "128k", "4k/60:64k/40", "4k/1:8k/98:1m/1"]);
    let engine = prop::sample::select(vec!["io_uring", "libaio", "psync", "null", "iopoll", "sqpoll"]);
    let order = prop::sample::select(vec!["", "norandommap", "zipf:1.2", "hotspot:90/10"]);
    let load = (1u32..9, 1u32..300, prop::option::of(1u32..300), 0u8..101, prop::option::of(1u32..5));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = (1u64..(1 << 30), 0u64..1000, 1u64..5_000_000, 0u64..3_000_000, any::<u64>());
    (rw, bs, engine, order, load, flags, numbers).prop_map(|(rw, bs, engine, order, load, flags, numbers)| {
        let (threads, depth, batch, read_pct, passes) = load;
        let (fixed_buffers, fixed_files, pinned, rated) = flags;
        let (size, offset, runtime_us, ramp_us, seed) = numbers;
        let mixed = rw.contains("rw");
        let mut pairs: Vec<(&str, String)> = vec![
            ("rw", rw.to_owned()),
            (if bs.contains('/') { "bssplit" } else { "bs" }, bs.to_owned()),
            ("load", format!("{threads}x{depth}")),
            ("fixedbufs", u8::from(fixed_buffers).to_string()),
            ("registerfiles", u8::from(fixed_files).to_string()),
            ("size", (size + (1 << 20)).to_string()),
            ("offset", (offset * 512).to_string()),
            ("runtime", format!("{runtime_us}us")),
            ("ramp_time", format!("{ramp_us}us")),
            ("seed", seed.to_string()),
        ];
        match engine {
            "iopoll" | "sqpoll" => pairs.push(("mode", engine.to_owned())),
            _ => pairs.push(("engine", engine.to_owned())),
        }
        let random = rw.starts_with("rand");
        match order {
            "norandommap" if random => pairs.push(("norandommap", "1".to_owned())),
            other if random && !other.is_empty() => pairs.push(("distribution", other.to_owned())),
            _ => {}
        }
        if mixed {
            pairs.push(("rwmixread", read_pct.clamp(1, 99).to_string()));
        } else if rated {
            // Whole rates per job survive fio's integers.
            pairs.push(("rate", (u64::from(threads) * 100).to_string()));
        }
        pairs.extend(batch.map(|b| ("iodepth_batch_submit", b.to_string())));
        pairs.extend(passes.map(|p| ("loops", p.to_string())));
        if pinned {
            pairs.push(("cpus", "0-3,9".to_owned()));
        }
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(k, v)| (*k, v.as_str())).collect();
        by_knobs(&pairs, &["/dev/a:b"])
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,300}|[\\[\\]a-z=;#${}:\\\\\n]{0,200}") {
        let _ = parse_fio_job(&text, "f", &env);
    }

    #[test]
    fn no_almost_valid_job_makes_the_parser_panic(
        lines in prop::collection::vec(
            (prop::sample::select(keys::all_words().collect::<Vec<_>>()), "[0-9a-z:/,.%$\\\\-]{0,10}|[0-9]{1,20}[kmg]?"),
            0..12),
        stonewall in any::<bool>(),
    ) {
        let body: String = lines.iter().map(|(k, v)| format!("{k}={v}\n")).collect();
        let wall = if stonewall { "stonewall\n" } else { "" };
        let _ = parse_fio_job(&format!("[a]\n{body}[b]\n{wall}{body}"), "f", &env);
    }

    #[test]
    fn a_step_written_as_a_job_is_read_back_the_same(step in any_step()) {
        let text = job_text(&step);
        let back = parse_fio_job(&text, "f", &env).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let mut back = with_effective_batch(back.steps[0].clone());
        let step = with_effective_batch(step);
        as_without_fio(&mut back, &step);
        prop_assert_eq!(&back.workload, &step.workload, "{}", text);
        prop_assert_eq!(&back.load, &step.load, "{}", text);
        prop_assert_eq!(&back.engine.mode, &step.engine.mode);
        prop_assert_eq!(&back.engine, &step.engine, "{}", text);
        prop_assert_eq!(&back.placement, &step.placement);
        // fio's null engine has files by name alone.
        let is_null = step.engine.name == EngineName::Null;
        prop_assert!(is_null || back.targets == step.targets, "{:?}", back.targets);
        prop_assert_eq!(&back.seed, &step.seed);
        let passes_apply = matches!(step.workload.pattern, Pattern::Random | Pattern::Sequential);
        prop_assert!(!passes_apply || back.length == step.length, "{} {:?} {:?}", text, back.length, step.length);
    }
}

/// Takes off what fio does otherwise with the same words: its sequential I/Os of several sizes follow each other, and each of
/// its sequential jobs, and each that verifies, has a region of its own.
fn as_without_fio(back: &mut Step, step: &Step) {
    let order = &mut back.workload.order;
    if step.workload.pattern == Pattern::Sequential {
        order.align_bytes = None;
    }
    if step.load.threads > 1 && order.thread_offset_bytes.take().is_some() {
        back.workload.region.size_bytes = step.workload.region.size_bytes;
    }
}

proptest! {
    #[test]
    fn the_options_of_a_step_give_its_knobs_back(step in any_step()) {
        let options = fio_options(&step);
        let read = knobs_from_fio(options.iter().map(|(key, value)| (*key, value.as_str())));
        prop_assert_eq!(&read.faults, &Vec::new());
        let mut knobs = read.knobs;
        // What a job's other keys decide, its reader sets.
        let text = |key: &str| options.iter().find(|(k, _)| *k == key).map(|(_, value)| value.clone());
        for key in ["numjobs", "iodepth", "size"] {
            if let Some(value) = text(key) {
                knobs.set(key, &value).map_err(|e| TestCaseError::fail(e.to_string()))?;
            }
        }
        let back = knobs.build(0, "A", &step.targets, &mut Vec::new());
        let mut back = with_effective_batch(back.map_err(|e| TestCaseError::fail(e.to_string()))?);
        let step = with_effective_batch(step);
        as_without_fio(&mut back, &step);
        prop_assert_eq!(&back.workload, &step.workload, "{:?}", options);
        prop_assert_eq!((&back.engine, &back.placement, back.seed), (&step.engine, &step.placement, step.seed));
        prop_assert_eq!(back.load.batch_submit, step.load.batch_submit);
    }
}

#[test]
fn options_of_a_job_that_ran_are_read_as_fio_did_and_faults_change_nothing() {
    let read = |pairs: &[(&str, &str)]| {
        let FioKnobs { knobs, faults } = knobs_from_fio(pairs.iter().copied());
        let step = knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new()).unwrap_or_else(|e| panic!("{e}"));
        (step, faults.into_iter().map(|fault| fault.key).collect::<Vec<_>>())
    };
    let (step, faults) =
        read(&[("blocksize", "8k"), ("offset", "512KiB"), ("hipri", ""), ("ioengine", "io_uring"), ("direct", "1")]);
    assert_eq!((step.workload.block_sizes[0].bytes, step.workload.region.offset_bytes), (8192, 512_000));
    assert_eq!((step.engine.mode, faults), (Mode::Iopoll, vec![]));
    let (step, faults) = read(&[("bssplit", "4k/60:64k"), ("verify", "md6"), ("thread", "1"), ("no_such_key", "1")]);
    assert_eq!(step.workload.block_sizes[1].share_pct, 40);
    assert_eq!((step.workload.verify, faults), (None, vec!["verify".to_owned()]));
    let (step, faults) = read(&[("bs", "4KiB"), ("random_distribution", "pareto:0.9")]);
    assert_eq!(step.workload.block_sizes[0].bytes, 4000, "in units of 1000, as fio printed it");
    assert_eq!(faults, ["random_distribution"]);
}

#[test]
fn the_round_trip_covers_each_mode_and_placement() {
    let step = by_knobs(&[("mode", "iopoll"), ("cpus", "3,1")], &["f"]);
    let back = plan(&job_text(&step)).steps.remove(0);
    assert_eq!((back.engine.mode, back.placement), (Mode::Iopoll, Placement::Cpus(vec![3, 1])));
}

#[test]
fn a_passthrough_job_of_fio_is_taken_and_written_with_its_command_type() {
    let job =
        "[a]\nioengine=io_uring_cmd\ncmd_type=nvme\nfilename=/dev/ng0n1\nrw=randread\nhipri\nruntime=1\ntime_based\n";
    let step = plan(job).steps.remove(0);
    assert_eq!((step.engine.name, step.engine.mode), (EngineName::IoUringCmd, Mode::Iopoll));
    assert!(step.workload.direct, "there is no page cache to go through");
    let written = job_text(&step);
    let at = |line: &str| written.find(line).unwrap_or_else(|| panic!("no {line} in {written}"));
    // fio knows an engine's options once it knows the engine.
    assert!(at("ioengine=io_uring_cmd\n") < at("\nhipri\n").min(at("\ncmd_type=nvme\n")), "{written}");
    assert!(!written.contains("direct="), "fio's passthrough refuses it: {written}");
    assert_eq!(plan(&written).steps.remove(0).engine, step.engine);
    assert!(line_error("ioengine=io_uring_cmd\ncmd_type=scsi").contains("only NVMe commands"));
}

#[test]
fn threads_with_several_targets_are_jobs_with_several_files() {
    let step = |spread: &str, threads: &str| {
        let mut knobs = Knobs::new();
        for (key, value) in [("spread", spread), ("numjobs", threads), ("iodepth", "8"), ("size", "1m")] {
            knobs.set(key, value).expect("a knob");
        }
        let targets = ["f", "g", "h"].map(TargetId::new).to_vec();
        knobs.build(0, "A", &targets, &mut Vec::new()).expect("a step")
    };
    let files = |spread, threads| -> Vec<String> {
        let command = fio_command(&step(spread, threads));
        let words =
            command.split(' ').filter(|w| ["--filename", "--numjobs", "--size"].iter().any(|key| w.starts_with(key)));
        words.map(str::to_owned).collect()
    };
    assert_eq!(files("all_targets", "2"), ["--filename=f:g:h", "--size=1m", "--numjobs=2", "--size=3m"]);
    assert_eq!(
        files("targets", "2"),
        ["--size=1m", "--numjobs=2", "--filename=f:h", "--numjobs=1", "--size=2m", "--filename=g", "--numjobs=1"]
    );
    assert_eq!(
        files("targets", "4"),
        [
            "--size=1m",
            "--numjobs=4",
            "--filename=f",
            "--numjobs=2",
            "--filename=g",
            "--numjobs=1",
            "--filename=h",
            "--numjobs=1"
        ]
    );
    assert_eq!(step("targets", "2").label, "4k random read T2 over 3 QD8");
    // A job file gives the step back.
    let given = step("all_targets", "2");
    let text = fio_job_text(std::slice::from_ref(&given), &|message| english(message));
    let back = plan(&text).steps.remove(0);
    let load = |step: &Step| (step.load.threads, step.load.spread, step.load.queue_depth);
    assert_eq!(
        (load(&back), &back.targets, back.workload.region),
        (load(&given), &given.targets, given.workload.region)
    );
}
