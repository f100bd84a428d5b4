//! Jobs that fio itself runs.

use super::*;
use crate::by_fio::FioPlace;

fn read(text: &str) -> Result<Plan, SourceError> {
    let text = FioText::File { name: "job.fio".to_owned(), text: text.to_owned() };
    let reading = FioReading { with_fio: true, ..FioReading::default() };
    parse_fio(&[text], "job.fio", &reading, &UnseenHost(&env))
}

fn by_fio(text: &str) -> Plan {
    read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> String {
    source_words(&read(text).expect_err("not given to fio"))
}

#[test]
fn what_fathom_can_run_it_runs_itself_and_what_runs_at_once_with_another_goes_with_it() {
    let text = "[global]\nsize=1m\nfilename=f\n[own]\nrw=read\n[theirs]\nstonewall\nioengine=posixaio\nrw=read\n\
                [beside]\nrw=randread\n";
    let plan = by_fio(text);
    let engines: Vec<EngineName> = plan.steps.iter().map(|s| s.engine.name).collect();
    assert_eq!(engines, [EngineName::Psync, EngineName::Fio, EngineName::Fio]);
    assert_eq!(plan.steps[1].label, "theirs: 4k sequential read T1 QD1 posixaio by fio");
    assert_eq!(plan.steps[2].role.stream.as_ref().map(|s| s.of), Some(2));
}

#[test]
fn fio_is_given_the_keys_but_for_those_that_name_files_or_order_jobs() {
    let text = "[global]\ngroup_reporting\n[a]\nioengine=posixaio\nrw=randread\nbs=8k\nsize=${SIZE}\nnumjobs=2\n\
                directory=/data\nstonewall\nfsync_on_close=1\ncmdprio_percentage=10\n";
    let plan = read(&text.replace("${SIZE}", "4m"));
    let step = &plan.unwrap_or_else(|e| panic!("{e}")).steps[0];
    let job = step.role.by_fio.as_ref().expect("a job of fio's");
    assert_eq!(
        job.lines,
        [
            "bs=8k",
            "cmdprio_percentage=10",
            "fsync_on_close=1",
            "ioengine=posixaio",
            "numjobs=2",
            "rw=randread",
            "size=4m"
        ]
    );
    assert_eq!(job.place, FioPlace::OwnFiles { files_per_job: 1 });
    assert_eq!(paths(step), ["/data/a.0.0", "/data/a.1.0"]);
}

#[test]
fn fio_writes_no_logs_beside_the_record() {
    let plan = by_fio("[a]\nioengine=posixaio\nrw=read\nsize=1m\nfilename=f\nwrite_lat_log=/etc/x\nlog_avg_msec=500\n");
    let job = plan.steps[0].role.by_fio.as_ref().expect("a job of fio's");
    assert_eq!(job.lines, ["ioengine=posixaio", "log_avg_msec=500", "rw=read", "size=1m"]);
    assert!(lines(&plan.notes).contains("write_lat_log"), "{}", lines(&plan.notes));
}

#[test]
fn what_fio_would_touch_beyond_the_named_files_is_refused_by_its_line() {
    for (line, said) in [
        ("exec_prerun=rm -rf /", "it runs a program"),
        ("ioscheduler=none", "would not be put back"),
        ("opendir=/home", "files that nothing here can guard"),
        ("read_iolog=trace", "files that nothing here can guard"),
        ("iomem=mmap:/dev/sda", "files that nothing here can guard"),
        ("ioengine=exec", "is not known"),
        ("ioengine=libblkio", "is not known"),
        ("libblkio_path=/dev/sda", "unknown key"),
        ("no_such_word=1", "unknown key"),
        ("write_iolog=/etc/passwd", "files that nothing here can guard"),
        ("verify_dump=1", "files that nothing here can guard"),
        ("verify_state_save=1", "files that nothing here can guard"),
        ("profile=tiobench", "files that nothing here can guard"),
        ("protocol=unix", "files that nothing here can guard"),
        ("ioengine=external:/tmp/e.so", "is not known"),
        ("unlink_each_loop=1", "files that nothing here can guard"),
    ] {
        let engine = if line.starts_with("ioengine") { "" } else { "ioengine=posixaio\n" };
        let text = format!("[a]\n{engine}rw=read\nsize=1m\nfilename=f\n{line}\n");
        let error = refused(&text);
        let number = text.lines().position(|l| l == line).expect("a line") + 1;
        assert!(error.contains(said) && error.contains(&format!("job.fio:{number}:")), "{line}: {error}");
    }
    assert!(refused("[a]\nioengine=rbd\nrw=write\nsize=1m\n").contains("storage elsewhere"));
    assert!(read("[a]\nioengine=rbd\nrw=read\nsize=1m\n").is_ok());
}

#[test]
fn engines_of_folders_and_of_no_storage_are_told_from_those_of_files() {
    let plan = by_fio("[a]\nioengine=dircreate\ndirectory=/data\nnrfiles=100\nfilesize=4k\nnumjobs=3\n");
    let job = plan.steps[0].role.by_fio.as_ref().expect("a job of fio's");
    assert_eq!(job.place, FioPlace::Folder { files: 300, bytes: 300 * 4096 });
    assert_eq!((paths(&plan.steps[0]), plan.steps[0].opens_targets()), (vec!["/data"], false));
    assert_eq!(plan.steps[0].label, "dircreate by fio T3 QD1");
    // What allocates and cuts off changes a file, whatever the direction is called.
    let plan = by_fio("[a]\nioengine=falloc\nrw=read\nsize=1m\nfilename=f\n");
    assert!(plan.steps[0].opens_targets() && plan.steps[0].workload.mix.is_destructive(), "{:?}", plan.steps[0]);
    let plan = by_fio("[a]\nioengine=cpuio\ncpuload=50\nruntime=2\ntime_based\n");
    let step = &plan.steps[0];
    assert!(step.is_without_storage() && !step.workload.mix.is_destructive(), "{step:?}");
}

#[test]
fn a_job_that_fio_runs_is_written_back_in_its_own_words() {
    let text = "[a]\nioengine=posixaio\nrw=randread\nsize=4m\ndirectory=/data\nnumjobs=2\nfsync_on_close=1\n\
                [b]\nstonewall\nioengine=dircreate\ndirectory=/data\nnrfiles=10\nfilesize=4k\n\
                [c]\nstonewall\nioengine=cpuio\ncpuload=50\nruntime=2\ntime_based\n\
                [d]\nstonewall\nioengine=posixaio\nrw=read\nfilename=/data/x:/data/y\nsize=1m\n";
    let plan = by_fio(text);
    let written = fio_job_text(&plan.steps, &|message| format!("{message:?}"));
    let again = by_fio(&written);
    let places = |plan: &Plan| -> Vec<_> { plan.steps.iter().map(|s| s.role.by_fio.clone()).collect() };
    assert_eq!(places(&again), places(&plan), "{written}");
    assert!(written.contains("directory=/data") && written.contains("filename=/data/x:/data/y"), "{written}");
    let command = fio_command(&plan.steps[2]);
    assert_eq!(command, "fio --name=fathom --cpuload=50 --ioengine=cpuio --runtime=2 --time_based");
}
