//! Jobs of whole files: fio's filecreate, filestat and filedelete.

use super::*;
use crate::file_ops::{FileLoad, FileOp, StatBy};
use crate::file_service::FileService;

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
    assert_eq!(
        load(step),
        FileLoad { op: FileOp::Create, files_per_thread: 30, bytes_per_file: 0, stat_by: StatBy::Folder }
    );
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
        // fio looks at a file by its path.
        let stat_by = if op == FileOp::Stat { StatBy::Path } else { StatBy::Folder };
        assert_eq!(load(step), FileLoad { op, files_per_thread: 7, bytes_per_file: 4096, stat_by });
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
fn jobs_of_blocks_have_files_of_their_own_and_share_the_size_among_them() {
    let plan = plan(
        "[a]\nioengine=filecreate\nnrfiles=5\n[b]\nstonewall\nrw=read\nsize=1m\nnrfiles=4\nnumjobs=2\ndirectory=/d\n\
         [c]\nstonewall\nrw=randwrite\nfilesize=64k\nsize=96k\nnrfiles=2\nfile_service_type=random:8\nopenfiles=1\n",
    );
    let [_, b, c] = &plan.steps[..] else { panic!("three steps, not {}", plan.steps.len()) };
    assert_eq!((b.targets.len(), b.workers(), b.workload.region.size_bytes), (8, 2, Some(256 << 10)));
    let of_second: Vec<&str> = b.targets_of(1).iter().map(|at| b.targets[*at as usize].as_str()).collect();
    assert_eq!(of_second, ["/d/b.1.0", "/d/b.1.1", "/d/b.1.2", "/d/b.1.3"]);
    assert_eq!(b.workload.order.service, Some(FileService::IN_TURNS));
    // Files as large as they are said to be, of which a job moves its size.
    let service = c.workload.order.service.expect("asked for");
    assert_eq!((service.to_string().as_str(), service.open_files), ("random:8", Some(1)));
    assert_eq!((c.workload.region.size_bytes, c.workload.order.pass_bytes), (Some(64 << 10), Some(96 << 10)));
    let said = error("[a]\nrw=read\nsize=8g\nnrfiles=1000000\n");
    assert!(said.contains("1024") && said.contains("job.fio:4"), "{said}");
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
