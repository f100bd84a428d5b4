use fathom_language::english;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::knobs::Knobs;
use crate::step::{EngineName, Mode, OpMix, Pattern, Placement, Spread, TargetId};
use crate::words::{lines, source_words};

mod files;
mod foreign;
mod kernel;
mod rates;
mod replay;
mod texts;
mod written;

fn env(name: &str) -> Option<String> {
    (name == "DIR").then(|| "/data".to_owned())
}

fn plan(text: &str) -> Plan {
    parse_fio_job(text, "jobs/oltp.fio", &env).unwrap_or_else(|e| panic!("{e}"))
}

fn error(text: &str) -> String {
    format!("error: {}", source_words(&parse_fio_job(text, "job.fio", &env).expect_err("this job is wrong")))
}

/// The error of one more line in a job that is right.
fn line_error(line: &str) -> String {
    error(&format!("[a]\nfilename=f\nsize=1m\n{line}\n"))
}

fn job_text(step: &Step) -> String {
    fio_job_text(std::slice::from_ref(step), &english)
}

fn paths(step: &Step) -> Vec<&str> {
    step.targets.iter().map(TargetId::as_str).collect()
}

const USUAL: &str = "\
; a usual job
[global]
ioengine=io_uring
direct=1
bs=8k
size=2g
runtime=30   # seconds
time_based
group_reporting
[warm]
rw=randrw
rwmixread=70
iodepth=16
numjobs=4
filename=${DIR}/f
fixedbufs
registerfiles=1
iodepth_batch_submit=8
iodepth_batch_complete_min=2
random_distribution=zipf:1.1
randseed=9
ramp_time=500ms
[global]
bs=128k
[seq]
stonewall
filename=/dev/nvme0n1
readwrite=read
iodepth=8
";

#[test]
fn a_usual_job_becomes_the_steps_it_names() {
    let plan = plan(USUAL);
    assert_eq!((plan.study.name.as_str(), plan.steps.len()), ("oltp", 2));
    let warm = &plan.steps[0];
    assert_eq!(warm.label, "8k zipf 1.1 70/30 T4 QD16");
    assert_eq!(paths(warm), ["/data/f"]);
    assert_eq!(warm.workload.mix, OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 });
    assert_eq!((warm.load.batch_submit, warm.load.batch_complete_min), (Some(8), Some(2)));
    assert!(warm.engine.fixed_buffers && warm.engine.fixed_files && warm.workload.direct);
    assert_eq!(warm.workload.region.size_bytes, Some(2 << 30));
    assert_eq!(warm.length, crate::RunLength::fixed(500_000_000, 30_000_000_000));
    assert_eq!(warm.seed, 9);
    let seq = &plan.steps[1];
    assert_eq!((seq.workload.block_sizes[0].bytes, seq.workload.pattern), (131_072, Pattern::Sequential));
    assert!(!seq.engine.fixed_buffers, "a section's keys are its own");
    assert_snapshot!(lines(&plan.notes), @"group_reporting: the threads of a step are always reported together");
}

#[test]
fn rwmixread_and_rwmixwrite_both_set_the_share_of_reads() {
    let mix = |keys: &str| plan(&format!("[a]\nfilename=f\nsize=1m\nrw=randrw\n{keys}")).steps[0].workload.mix;
    let shares = |keys: &str| (mix(keys).read_pct, mix(keys).write_pct);
    assert_eq!(shares(""), (50, 50));
    assert_eq!(shares("rwmixread=80\n"), (80, 20));
    assert_eq!(shares("rwmixwrite=30\n"), (70, 30));
    assert_eq!(shares("rwmixwrite=0\n"), (100, 0));
}

#[test]
fn a_silent_job_keeps_fios_defaults() {
    let plan = plan("[job]\nfilename=f\nsize=1m\n");
    let step = &plan.steps[0];
    assert_eq!(step.label, "4k sequential read T1 QD1");
    assert_eq!((step.engine.name, step.workload.direct), (EngineName::Psync, false));
    assert_eq!(step.length.passes, Some(1));
    assert_snapshot!(lines(&plan.notes), @r"
    fio's defaults apply where the job says nothing: rw=read bs=4k ioengine=psync iodepth=1 direct=0
    without time_based a job ends after its size (however long that takes), as in fio
    ");
}

#[test]
fn unknown_keys_and_engines_name_the_nearest() {
    assert_snapshot!(error("[global]\niodpeth=4\n[a]\n"), @r"
    error: unknown key `iodpeth`
      job.fio:2:1
    2 | iodpeth=4
      | ^^^^^^^ did you mean `iodepth`?
    ");
    assert_snapshot!(line_error("ioengine=posixaio"), @r"
    error: ioengine=posixaio is not built in
      job.fio:4:10
    4 | ioengine=posixaio
      |          ^^^^^^^^ use libaio, io_uring, psync or mmap
    ");
    assert_snapshot!(line_error("ioengine=iouring"), @r"
    error: ioengine=iouring is not supported: Fathom has no such engine
      job.fio:4:10
    4 | ioengine=iouring
      |          ^^^^^^^
      help: did you mean `io_uring`? engines are io_uring, io_uring_cmd, nvme, libaio, psync, mmap, iocp, null
    ");
    assert_snapshot!(line_error("rw=randraed"), @r"
    error: rw: unknown workload `randraed`
      job.fio:4:4
    4 | rw=randraed
      |    ^^^^^^^^ did you mean `randread`?
    ");
    assert_snapshot!(line_error("bs=4q"), @r"
    error: bs: `4q` is not a size: unknown unit `q`
      job.fio:4:4
    4 | bs=4q
      |    ^^
      help: did you mean `b`? write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g
    ");
    assert_snapshot!(line_error("iodepth=0"), @r"
    error: iodepth: `0` is out of range; it must be 1 to 4096
      job.fio:4:9
    4 | iodepth=0
      |         ^
    ");
    assert_snapshot!(line_error("iodepth=1000000000"), @r"
    error: iodepth: `1000000000` is out of range; it must be 1 to 4096
      job.fio:4:9
    4 | iodepth=1000000000
      |         ^^^^^^^^^^
    ");
}

#[test]
fn keys_that_are_not_supported_are_refused_by_name() {
    assert_snapshot!(line_error("write_hint=short"), @r"
    error: fio's `write_hint` is not supported: Fathom has no equivalent
      job.fio:4:1
    4 | write_hint=short
      | ^^^^^^^^^^ remove it, or run this job with fio
    ");
    assert_snapshot!(line_error("thinktime=100\nthinktime_iotime=5"), @r"
    error: fio's `thinktime_iotime` is not supported: pauses are counted by I/Os, not by time
      job.fio:5:1
    5 | thinktime_iotime=5
      | ^^^^^^^^^^^^^^^^ use thinktime_blocks
    ");
    assert_snapshot!(line_error("zonemode=zbd"), @r"
    error: zonemode: zonemode=zbd is not supported
      job.fio:4:10
    4 | zonemode=zbd
      |          ^^^ none and strided are; for zoned drives run this job with fio
    ");
    assert_snapshot!(line_error("random_distribution=pareto:0.9"), @r"
    error: random_distribution: fio's distribution `pareto` is not supported
      job.fio:4:21
    4 | random_distribution=pareto:0.9
      |                     ^^^^^^^^^^ use zipf:THETA or hotspot:ACCESS/SPACE (percent), e.g. hotspot:90/10
    ");
    assert_snapshot!(line_error("rw=randread:-8"), @r"
    error: rw: the sequence modifier in `randread:-8` is not a number
      job.fio:4:4
    4 | rw=randread:-8
      |    ^^^^^^^^^^^ write bytes between sequential I/Os (read:8k, read:-8k) or I/Os per random offset (randread:8)
    ");
    assert_snapshot!(line_error("random_distribution=zoned:50/5:30/15"), @r"
    error: random_distribution: the shares in `50/5:30/15` do not add up to 100
      job.fio:4:21
    4 | random_distribution=zoned:50/5:30/15
      |                     ^^^^^^^^^^^^^^^^
      help: percent of the I/Os and of the space, each 100 in all: zoned:50/5:30/15:20/80
    ");
    assert_snapshot!(line_error("thinktime=5\nrate_iops=100"), @r"
    error: thinktime and a rate cannot both hold: arrivals do not wait for pauses
      job.fio:4:11
    4 | thinktime=5
      |           ^ leave out one of them
    ");
    assert_snapshot!(line_error("size=120%"), @r"
    error: size: 120 percent is more than the whole; it must be 0 to 100
      job.fio:4:6
    4 | size=120%
      |      ^^^^
    ");
    assert_snapshot!(line_error("verify=md6"), @r"
    error: verify: verification by `md6` is not supported
      job.fio:4:8
    4 | verify=md6
      |        ^^^ valid: crc32c, none
    ");
    assert_snapshot!(line_error("ioengine=psync\nhipri"), @r"
    error: engine psync has no mode iopoll
      job.fio:5:1
    5 | hipri
      | ^^^^^ modes iopoll and sqpoll (fio: hipri, sqthread_poll) need engine io_uring or io_uring_cmd
    ");
    assert!(parse_fio_job("[a]\nfilename=f\nthinktime=0\nnrfiles=1\n", "f", &env).is_ok(), "off is off");
}

#[test]
fn texts_that_are_no_job_file_say_where() {
    assert_snapshot!(error(""), @r"
    error: the job file holds no job
      job.fio:1:1
    1 | 
      | ^ add a section, e.g. [job], besides [global]
    ");
    assert_snapshot!(error("[global]\nbs=4k\n"), @r"
    error: the job file holds no job
      job.fio:1:1
    1 | [global]
      | ^ add a section, e.g. [job], besides [global]
    ");
    assert_snapshot!(error("bs=4k\n[a]\n"), @r"
    error: a key stands before the first section
      job.fio:1:1
    1 | bs=4k
      | ^^^^^ begin with [global]
    ");
    assert_snapshot!(error("[a\nbs=4k\n"), @r"
    error: a section is written [name]
      job.fio:1:1
    1 | [a
      | ^^ close it with `]`, one per line
    ");
    assert_snapshot!(error("[a]\nbs=\n"), @r"
    error: a key and a value belong around `=`
      job.fio:2:1
    2 | bs=
      | ^^^ e.g. iodepth=32
    ");
    assert_snapshot!(error("[a]\nbs\n"), @r"
    error: `bs` needs a value
      job.fio:2:1
    2 | bs
      | ^^ write bs=...
    ");
    assert_snapshot!(error("[a]\nfilename=${NOWHERE}/f\n"), @r"
    error: the variable `NOWHERE` is not set
      job.fio:2:10
    2 | filename=${NOWHERE}/f
      |          ^^^^^^^^^^^^ run it as NOWHERE=... fathom run ...
    ");
    assert_snapshot!(error("[a]\nnumjobs=$ncpus\n"), @r"
    error: the variable `$ncpus` is not set
      job.fio:2:9
    2 | numjobs=$ncpus
      |         ^^^^^^ this number of the machine is not known; write the number itself
    ");
    assert_snapshot!(error("[a]\ninclude other.fio\n"), @r"
    error: cannot read the included file other.fio: entity not found
      job.fio:2:1
    2 | include other.fio
      | ^^^^^^^^^^^^^^^^^ give its path from the current folder, or from the folder of this file
    ");
    assert_snapshot!(error("[a]\nfilename=f\ntime_based\n"), @r"
    error: time_based needs a runtime
      job.fio:3:1
    3 | time_based
      | ^^^^^^^^^^ add runtime=30s
    ");
}

#[test]
fn sections_that_differ_are_streams_until_a_stonewall() {
    let text = "[global]\nsize=1m\n[a]\nfilename=f\nrw=read\nramp_time=1s\n[b]\nfilename=g\nrw=write\n[b2]\nfilename=h\nrw=write\n\
                [c]\nstonewall\nfilename=f\nrw=randread\n";
    let plan = plan(text);
    let streams: Vec<_> =
        plan.steps.iter().map(|s| s.role.stream.as_ref().map(|s| (s.set, s.index, s.of, s.name.as_str()))).collect();
    assert_eq!(streams, [Some((0, 0, 2, "a")), Some((0, 1, 2, "b")), None]);
    // Equal sections are one stream over several targets; all of a set warm up as long.
    assert_eq!((paths(&plan.steps[1]), plan.steps[1].length.ramp_ns), (vec!["g", "h"], 1_000_000_000));
    let labels: Vec<&str> = plan.steps.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels[..2], ["a: 4k sequential read T1 QD1", "b: 4k sequential write T1 QD1 fresh file"]);
    assert!(plan.steps.iter().all(|s| crate::label_message(s).as_verbatim().is_none()), "labels of our own");
    // Written as a job file and read again they run at once as before.
    let again = parse_fio_job(&fio_job_text(&plan.steps, &english), "job.fio", &env).unwrap_or_else(|e| panic!("{e}"));
    let sets = |plan: &Plan| plan.steps.iter().map(|s| s.role.stream.as_ref().map(|s| s.set)).collect::<Vec<_>>();
    assert_eq!(sets(&again), sets(&plan));
}

#[test]
fn a_stream_that_writes_what_another_one_verifies_is_refused_by_its_line() {
    let text = "[a]\nfilename=f\nrw=randwrite\nverify=crc32c\n[b]\nfilename=f\nrw=write\n";
    assert_snapshot!(error(text), @r"
    error: stream b writes f, which stream a verifies
      job.fio:5:1
    5 | [b]
      | ^^^ give each of them a target of its own, or leave out verify
    ");
}

#[test]
fn equal_sections_over_different_files_are_one_step() {
    let plan =
        plan("[global]\nrw=randread\nioengine=libaio\niodepth=8\nrate_iops=1k\n[a]\nfilename=f\n[b]\nfilename=g\n");
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(paths(&plan.steps[0]), ["f", "g"]);
    assert_eq!(plan.steps[0].load.rate.map(|r| r.iops), Some(2048.0), "fio's 1k is 1024, for each of two jobs");
}

#[test]
fn a_job_of_several_files_goes_round_them() {
    let of = |jobs: u32, depth: u32| {
        let text = format!(
            "[a]\nfilename=f:/dev/a\\:b\ndirectory=/d\nioengine=libaio\nnumjobs={jobs}\niodepth={depth}\nsize=2m\n"
        );
        plan(&text).steps.remove(0)
    };
    let step = of(2, 8);
    assert_eq!((step.load.threads, step.load.queue_depth, step.load.spread), (2, 8, Spread::AllTargets));
    assert_eq!(paths(&step), ["/d/f", "/dev/a:b"]);
    assert_eq!(step.workload.region.size_bytes, Some(1 << 20), "fio divides the size by the files");
    assert_eq!((of(1, 3).load.threads, of(1, 3).load.queue_depth, of(1, 3).workers()), (1, 3, 1));
    let two = plan("[a]\nfilename=f:g\nsize=1m\n[b]\nfilename=h:i\nsize=1m\n");
    assert_eq!(two.steps.iter().map(paths).collect::<Vec<_>>(), [["f", "g"], ["h", "i"]], "each goes round its own");
}

#[test]
fn jobs_without_a_filename_have_a_file_each() {
    let step = plan("[db]\ndirectory=/d\nnumjobs=2\nsize=1m\nrw=randwrite\n").steps.remove(0);
    assert_eq!(paths(&step), ["/d/db.0.0", "/d/db.1.0"]);
    assert_eq!((step.load.threads, step.workload.region.size_bytes), (1, Some(1 << 20)));
}

#[test]
fn the_unit_trap_of_fio_is_pointed_out() {
    let plan = plan("[a]\nfilename=f\nsize=1m\nbs=4KiB\n");
    assert_eq!(plan.steps[0].workload.block_sizes[0].bytes, 4000);
    assert!(
        lines(&plan.notes).lines().any(|n| n.starts_with("bs=4KiB: fio reads KiB as 1000 bytes")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn bandwidths_delays_and_the_last_flush_are_those_of_fio() {
    let step = |lines: &str| plan(&format!("[a]\nfilename=f\nsize=1m\n{lines}")).steps.remove(0);
    let rate = |lines: &str| step(lines).load.rate.map(|rate| rate.iops);
    assert_eq!(rate("rate=1m\n"), Some(256.0));
    assert_eq!(rate("rate=1m\nrw=randrw\nbs=8k\nnumjobs=2\n"), Some(512.0), "of each direction and job");
    assert_eq!(rate("rate=1m\nbssplit=4k/50:12k/50\nrw=randread\n"), Some(128.0));
    assert_eq!(rate("rate=512k\nbs=1m\n"), Some(0.5), "less than one a second is kept");
    assert_eq!(step("startdelay=2\n").length.delay_ns, 2_000_000_000);
    let durability = |lines: &str| step(lines).workload.durability;
    assert!(durability("rw=write\nend_fsync=1\n").at_end && durability("rw=write\nfsync_on_close=1\n").at_end);
    assert!(durability("rw=read\nend_fsync=1\n").is_plain(), "nothing was written");
    assert_eq!(step("rw=write\nend_fsync=1\n").label, "4k sequential write + end_fsync T1 QD1");
    assert_eq!(plan("[a]\nfilename=f\nfilesize=2m\n").steps[0].workload.region.size_bytes, Some(2 << 20));
    let part = plan("[a]\nfilename=f\nsize=1m\nfilesize=2m\n").steps.remove(0);
    assert_eq!((part.workload.region.size_bytes, part.workload.order.pass_bytes), (Some(2 << 20), Some(1 << 20)));
    assert_snapshot!(line_error("filesize=2m-4m"), @r"
    error: fio's `filesize` is not supported: the file is as large as its region
      job.fio:4:10
    4 | filesize=2m-4m
      |          ^^^^^ use size
    ");
    assert_snapshot!(line_error("rate=1m\nrate_iops=5"), @r"
    error: rate and rate_iops cannot both hold
      job.fio:4:6
    4 | rate=1m
      |      ^^ leave out one of them
    ");
}

#[test]
fn passes_follow_loops_and_io_size() {
    let passes = |lines: &str| plan(&format!("[a]\nfilename=f\nsize=1m\n{lines}")).steps[0].length.passes;
    assert_eq!(passes("loops=3\n"), Some(3));
    assert_eq!(passes("io_size=4m\n"), Some(4));
    assert_eq!(passes("runtime=5\n"), Some(1));
    assert_eq!(passes("runtime=5\ntime_based=1\n"), None);
    // Where offsets may repeat, a pass is as many I/Os as the region has blocks.
    assert_eq!(passes("rw=randread\nnorandommap\nloops=2\n"), Some(2));
    assert_eq!(passes("rw=randread\nrandom_distribution=zipf:1.2\n"), Some(1));
}

#[test]
fn orders_beyond_a_pattern_are_those_of_fio_and_are_written_back() {
    let job = "[a]\nfilename=/dev/x\nrw=randrw:4\nbssplit=4k/60:8k/40,16k\nblockalign=4k\nrw_sequencer=identical\n\
               random_distribution=zoned:50/5:30/15:20/\nthinktime=500\nthinktime_blocks=3\nflow=2\nnumber_ios=100\n\
               percentage_random=80\nbuffer_pattern=0xdeadbeef\n";
    let step = plan(job).steps.remove(0);
    let order = &step.workload.order;
    assert_eq!(order.runs, Some(crate::Runs { ios: 4, in_place: true }));
    assert_eq!(order.write_sizes.as_deref().map(|sizes| sizes[0].bytes), Some(16 << 10));
    assert_eq!((order.align_bytes, order.random_pct, order.pass_ios), (Some(4096), Some(80), Some(100)));
    assert_eq!(order.zones.iter().map(|zone| zone.space.pct()).collect::<Vec<_>>(), [5, 15, 80]);
    let pacing = step.load.pacing;
    assert_eq!(pacing.think.map(|think| (think.pause_ns, think.ios)), Some((500_000, 3)));
    assert_eq!(pacing.flow.map(|flow| flow.weight), Some(2));
    assert_eq!(step.workload.fill, [0xde, 0xad, 0xbe, 0xef]);
    let back = plan(&job_text(&step)).steps.remove(0);
    assert_eq!((&back.workload, &back.load.pacing), (&step.workload, &step.load.pacing), "{}", job_text(&step));
    let strided =
        plan("[a]\nfilename=/dev/x\nrw=read:-8k\nzonemode=strided\nzonesize=1m\nzoneskip=2m\nbsrange=4k-16k\n");
    let step = &strided.steps[0];
    assert_eq!(
        (step.workload.order.stride_bytes, step.workload.order.range.map(|r| r.max_bytes)),
        (-8192, Some(16_384))
    );
    assert_eq!(
        step.workload.order.strided.map(|z| (z.zone_bytes, z.range_bytes, z.skip_bytes)),
        Some((1 << 20, 1 << 20, 2 << 20))
    );
    assert_eq!(plan(&job_text(step)).steps[0].workload, step.workload);
}

/// As fio: both are refused there, too.
#[test]
fn no_section_waits_for_itself_or_for_several_of_one_name() {
    assert_snapshot!(error("[global]\nfilename=f\n[a]\nrw=read\n[a]\nwait_for=a\nrw=write\n"), @r"
    error: a job cannot wait for itself
      job.fio:6:10
    6 | wait_for=a
      |          ^ name an earlier section
    ");
    assert_snapshot!(error("[global]\nfilename=f\n[a]\nrw=read\n[a]\nrw=read\nbs=8k\n[b]\nwait_for=a\n"), @r"
    error: several sections before this one are called a
      job.fio:9:10
    9 | wait_for=a
      |          ^ give each a name of its own
    ");
    let alike = plan("[global]\nfilename=f\nsize=1m\n[a]\nrw=read\n[a]\nrw=write\n[b]\nstonewall\nrw=read\n");
    assert_eq!(alike.steps.len(), 3, "nobody waits for them");
}

#[test]
fn jobs_wait_end_each_other_and_are_left_out_where_they_never_run() {
    let job = "[global]\nfilename=/dev/x\nsize=1m\n[a]\nrw=read\n[b]\nwait_for=a\nrw=write\nexit_what=all\nnumber_ios=9\n\
               [c]\nwait_for=a\nrw=randwrite\n[d]\nstonewall\nrw=read\n";
    let plan = plan(job);
    let names: Vec<_> =
        plan.steps.iter().map(|s| (s.role.job.as_ref().map_or("", |job| &job.name), s.role.stream.is_some())).collect();
    assert_eq!(names, [("a", false), ("b", true), ("c", true)]);
    assert_eq!(plan.steps[1].role.ends.as_ref().map(|ends| ends.streams.clone()), Some(vec![1]));
    assert!(plan.notes.iter().any(|note| note.id() == "fio-never-runs"));
    assert_snapshot!(error("[a]\nfilename=f\nrw=read\n[b]\nfilename=f\nrw=write\n[c]\nfilename=f\nwait_for=a\n"), @r"
    error: a runs beside b: waiting for one of them alone is not supported
      job.fio:9:10
    9 | wait_for=a
      |          ^ let b have a stonewall or a wait_for too, or use startdelay
    ");
    assert_snapshot!(error("[a]\nfilename=f\nwait_for=b\n"), @r"
    error: no section before this one is called b
      job.fio:3:10
    3 | wait_for=b
      |          ^ name an earlier section
    ");
}
