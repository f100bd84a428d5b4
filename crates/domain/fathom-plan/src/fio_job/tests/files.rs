//! Jobs of whole files: fio's filecreate, filestat and filedelete.

use super::*;
use crate::file_ops::{FileLoad, FileOp};

const CREATE: &str = "[global]\ncreate_on_open=1\nnrfiles=30\nioengine=filecreate\nfallocate=none\nfilesize=4k\nopenfiles=1\n\
                      directory=/data\n[t0]\n[t1]\n[t2]\n";

fn load(step: &Step) -> FileLoad {
    step.workload.order.files.expect("a load of files")
}

#[test]
fn equal_jobs_in_one_folder_are_threads_of_one_step() {
    let plan = plan(CREATE);
    let [step] = &plan.steps[..] else { panic!("{} steps", plan.steps.len()) };
    // fio writes nothing to the files that it makes.
    assert_eq!(load(step), FileLoad { op: FileOp::Create, files_per_thread: 30, bytes_per_file: 0 });
    assert_eq!((paths(step), step.workers(), step.engine.name), (vec!["/data"], 3, EngineName::Files));
    assert_eq!((step.workload.mix, step.length.passes), (OpMix::WRITE, Some(1)));
    assert!(!step.opens_targets() && !step.is_without_storage() && !step.workload.direct);
    assert_eq!(step.label, "filecreate T3 QD1");
}

#[test]
fn files_that_are_looked_at_and_removed_have_their_size() {
    for (op, mix) in [(FileOp::Stat, OpMix::READ), (FileOp::Delete, OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 })]
    {
        let word = op.read_write();
        let text = format!("[a]\nioengine={word}\nnrfiles=7\nfilesize=4k\nnumjobs=2\nstat_type=statx\n");
        let plan = plan(&text);
        let step = &plan.steps[0];
        assert_eq!(load(step), FileLoad { op, files_per_thread: 7, bytes_per_file: 4096 });
        assert_eq!((step.workload.mix, step.workload.read_write(), step.workers()), (mix, word, 2));
        assert_eq!(paths(step), ["."]);
    }
}

#[test]
fn folders_are_targets_beside_each_other_when_each_has_as_many_jobs() {
    let two = "[global]\nioengine=filecreate\nnrfiles=5\n[a]\ndirectory=/a\n[b]\ndirectory=/b\n";
    let plan = plan(two);
    assert_eq!((paths(&plan.steps[0]), plan.steps[0].workers()), (vec!["/a", "/b"], 2));
    let said = error(&format!("{two}[c]\ndirectory=/b\n"));
    assert!(said.contains("more work in one folder"), "{said}");
    let said = error("[a]\nioengine=filecreate\nfilename=f\n");
    assert!(said.contains("job.fio:3") && said.contains("directory"), "{said}");
}

#[test]
fn jobs_of_blocks_still_have_one_file_each() {
    let said = error("[a]\nioengine=filecreate\nnrfiles=5\n[b]\nstonewall\nrw=read\nsize=1m\nnrfiles=4\n");
    assert!(said.contains("nrfiles") && said.contains("job.fio:8"), "{said}");
}

#[test]
fn a_job_of_files_is_read_back_as_it_is_written() {
    for text in [CREATE, "[a]\nioengine=filestat\nnrfiles=7\nfilesize=8k\ndirectory=/data\nruntime=3\n"] {
        let first = plan(text);
        let written = job_text(&first.steps[0]);
        let again = plan(&written);
        let of = |plan: &Plan| {
            let step = &plan.steps[0];
            (step.workload.clone(), step.load, step.targets.clone(), step.engine)
        };
        assert_eq!(of(&again), of(&first), "{written}");
        assert!(!written.contains("rw=") && written.contains("openfiles=1"), "{written}");
    }
}
