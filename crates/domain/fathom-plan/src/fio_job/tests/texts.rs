//! Several texts, defaults, names of files and of results, numbers of the machine.

use std::io;

use super::*;

/// A machine with a device, a file to include, 8 CPUs.
struct Machine;

impl FioHost for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "SIZE").then(|| "64k".to_owned())
    }

    fn included(&self, path: &str) -> io::Result<String> {
        match path {
            "common.inc" | "jobs/near.inc" => Ok("bs=8k\nrw=write\n".to_owned()),
            "round.inc" => Ok("include round.inc\n".to_owned()),
            "section.inc" => Ok("[a]\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_special(&self, path: &str) -> bool {
        path == "/dev/zero"
    }

    fn number(&self, of: HostNumber) -> Option<u64> {
        (of == HostNumber::Cpus).then_some(8)
    }
}

fn read(texts: &[FioText]) -> Result<Plan, SourceError> {
    let reading = FioReading { reports_each_job: true, ..FioReading::default() };
    parse_fio(texts, "fio", &reading, &Machine)
}

fn file(name: &str, text: &str) -> FioText {
    FioText::File { name: name.to_owned(), text: text.to_owned() }
}

fn plan_of(text: &str) -> Plan {
    read(&[file("jobs/a.fio", text)]).unwrap_or_else(|e| panic!("{e}"))
}

fn fault_of(text: &str) -> SourceError {
    read(&[file("jobs/a.fio", text)]).expect_err("this job is wrong")
}

fn targets(step: &Step) -> Vec<&str> {
    step.targets.iter().map(TargetId::as_str).collect()
}

#[test]
fn files_of_all_filenames_add_up() {
    let plan = plan_of("[global]\nfilename=a\nsize=64k\n[j]\nfilename=b:c\nfilename=d\n[k]\nrw=write\n");
    assert_eq!(targets(&plan.steps[0]), ["a", "b", "c", "d"]);
    assert_eq!(targets(&plan.steps[1]), ["a"]);
    // nrfiles says how many of them, unless it stands before the first.
    let plan = plan_of("[global]\nfilename=a:b:c\nsize=64k\n[j]\nnrfiles=2\n[k]\nnrfiles=9\n");
    assert_eq!((targets(&plan.steps[0]), targets(&plan.steps[1])), (vec!["a", "b"], vec!["a", "b", "c"]));
}

#[test]
fn a_further_file_begins_anew_and_waits() {
    let one = file("one.fio", "[global]\nbs=8k\n[a]\nsize=64k\n");
    let two = file("two.fio", "[b]\nsize=64k\n[c]\nsize=64k\n");
    let words = vec![FioWord { key: "rw".to_owned(), value: Some("write".to_owned()) }];
    let plan = read(&[FioText::CommandLine(words), one, two]).unwrap_or_else(|e| panic!("{e}"));
    let seen: Vec<_> = plan
        .steps
        .iter()
        .map(|s| {
            let job = s.role.job.as_ref().expect("of fio");
            (
                job.name.as_str(),
                job.group,
                s.workload.block_bytes_max(),
                s.workload.mix.write_pct,
                s.role.stream.is_some(),
            )
        })
        .collect();
    assert_eq!(seen, [("a", 0, 8192, 100, false), ("b", 1, 4096, 0, true), ("c", 1, 4096, 0, true)]);
}

#[test]
fn the_section_names_the_file_and_name_the_result() {
    let plan = plan_of("[global]\nname=all\nsize=64k\n[a]\nname=result\n[b]\nwait_for=result\n");
    let named: Vec<_> =
        plan.steps.iter().map(|s| (s.role.job.as_ref().expect("of fio").name.as_str(), targets(s))).collect();
    assert_eq!(named, [("result", vec!["a.0.0"]), ("b", vec!["b.0.0"])]);
}

#[test]
fn a_section_that_is_a_device_works_on_it() {
    let plan = plan_of("[/dev/zero]\nsize=64k\nnumjobs=2\n");
    assert_eq!(plan.steps.iter().map(targets).collect::<Vec<_>>(), [["/dev/zero"], ["/dev/zero"]]);
    assert!(plan.job_files.is_empty());
}

#[test]
fn every_clone_is_a_step_unless_it_reports_with_its_group() {
    let text = "[a]\nsize=64k\nnumjobs=3\noffset_increment=64k\nfilename=f\nrate_iops=100\ncpus_allowed=0,1\n";
    let plan = plan_of(text);
    let seen: Vec<_> =
        plan.steps.iter().map(|s| (s.workload.region.offset_bytes, s.load.rate.expect("a rate").iops)).collect();
    assert_eq!(seen, [(0, 100.0), (65_536, 100.0), (131_072, 100.0)]);
    assert_eq!(plan_of(&format!("{text}group_reporting\n")).steps.len(), 1);
    let alike = plan_of("[global]\nsize=64k\n[nvme0]\nfilename=a\n[nvme1]\nfilename=b\n");
    assert_eq!(alike.steps.iter().map(targets).collect::<Vec<_>>(), [["a"], ["b"]]);
    let own = plan_of("[a]\nsize=64k\nnumjobs=2\nnrfiles=2\n");
    assert_eq!(own.steps.iter().map(targets).collect::<Vec<_>>(), [["a.0.0", "a.0.1"], ["a.1.0", "a.1.1"]]);
}

#[test]
fn names_follow_a_format() {
    let plan = plan_of("[a]\nsize=64k\nnrfiles=2\nfilename_format=$filenum/$jobname-$jobnum\n");
    assert_eq!(targets(&plan.steps[0]), ["0/a-0", "1/a-0"]);
    assert_eq!(fault_of("[a]\nsize=64k\nnrfiles=2\nfilename_format=$jobname\n").message.id(), "fio-format-repeats");
}

#[test]
fn files_are_included_and_values_computed() {
    for text in ["[a]\ninclude common.inc\n", "[a]\ninclude near.inc\n"] {
        let step = &plan_of(&format!("{text}size=$ncpus*8k\n")).steps[0];
        let workload = &step.workload;
        assert_eq!((workload.block_bytes_max(), workload.mix.write_pct), (8192, 100), "{text}");
        assert_eq!(workload.region.size_bytes, Some(65_536));
    }
    assert_eq!(plan_of("[a]\nsize=(4*16k)\n").steps[0].workload.region.size_bytes, Some(65_536));
    for (text, id) in [
        ("[a]\ninclude round.inc\n", "fio-include-circle"),
        ("[a]\ninclude section.inc\n", "fio-include-section"),
        ("[a]\ninclude none.inc\n", "fio-include-unread"),
        ("[a]\ninclude\n", "fio-include"),
        ("[a]\nsize=$mb_memory\n", "fio-unset-variable"),
        ("[a]\nsize=(4*\n", "fio-arithmetic"),
    ] {
        assert_eq!(fault_of(text).message.id(), id, "{text}");
    }
    let fault = fault_of("[a]\nsize=64k\ninclude section.inc\n");
    assert_eq!((fault.place.file.as_str(), fault.place.line), ("section.inc", 1));
}

#[test]
fn of_two_contrary_keys_the_later_counts() {
    let step = |text: &str| {
        plan_of(&format!("[global]\nrwmixread=70\ndirect=1\n[a]\nsize=64k\nrw=randrw\n{text}")).steps.remove(0)
    };
    assert_eq!(step("rwmixwrite=40\n").workload.mix.read_pct, 60);
    assert!(!step("buffered=1\n").workload.direct && step("buffered=0\n").workload.direct);
}

#[test]
fn a_value_that_leaves_an_operation_open_keeps_what_was_said_of_it() {
    let plan = plan_of("[global]\nbs=8k\n[a]\nsize=64k\nrw=read\nbs=,2k\n");
    assert_eq!(plan.steps[0].workload.block_sizes[0].bytes, 8192);
}

#[test]
fn what_is_off_changes_nothing() {
    for line in [
        "nice=0",
        "mem=malloc",
        "lockfile=none",
        "fadvise_hint=1",
        "verify_state_save=0",
        "create_only=0",
        "file_append=0",
        "trim_percentage=0",
        "unlink_each_loop=0",
        "write_hint=none",
        "filename_format=$jobname.$jobnum.$filenum",
    ] {
        assert!(read(&[file("a.fio", &format!("[a]\nsize=64k\n{line}\n"))]).is_ok(), "{line}");
    }
    assert_eq!(fault_of("[a]\nnice=5\n").message.id(), "fio-not-supported");
}

#[test]
fn an_engine_that_fathom_lacks_is_named_once_a_section() {
    let fault = fault_of("[a]\nioengine=rbd\nclientname=admin\npool=p\n[b]\nioengine=rbd\nrbdname=r\n");
    assert_eq!((fault.message.id(), fault.others.len()), ("fio-engine-not-built-in", 1));
    let fault = fault_of("[global]\nioengine=rbd\n[a]\npool=p\n[b]\n");
    assert_eq!((fault.message.id(), fault.others.len()), ("fio-engine-not-built-in", 0));
}

#[test]
fn more_jobs_than_fio_runs_are_refused_by_their_number() {
    let text: String = (0..10_000).map(|at| format!("[s{at}]\nsize=64k\n")).collect();
    let fault = read(&[file("a.fio", &text)]).expect_err("too many jobs");
    assert_eq!(fault.message.id(), "fio-too-many-jobs");
    let fault = read(&[file("a.fio", "[a]\nsize=64k\nnumjobs=5000\n")]).expect_err("too many jobs");
    assert!(
        ["knob-out-of-range", "what-and-why", "fio-too-many-jobs"].contains(&fault.message.id()),
        "{}",
        fault.message.id()
    );
}
