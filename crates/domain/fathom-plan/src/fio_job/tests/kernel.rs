//! Words of fio's own examples that tell the kernel or the drive more than what is read and written.

use super::*;
use crate::memory::MemoryPolicy;
use crate::pacing::LatencyTarget;
use crate::priority::{Priority, PriorityClass, PriorityShare};
use crate::step::{Repeats, Workload};

fn workload(lines: &str) -> Workload {
    plan(&format!("[a]\nfilename=f\nsize=8m\n{lines}")).steps.remove(0).workload
}

/// The first line of the error of more lines in a job, and the line of the job that it names.
fn refused(lines: &str) -> (String, usize) {
    let said = line_error(lines);
    let line = said.split("job.fio:").nth(1).and_then(|rest| rest.split(':').next()?.parse().ok());
    (said.lines().next().unwrap_or_default().to_owned(), line.unwrap_or(0))
}

const fn priority(class: PriorityClass, level: u8, hint: u16) -> Priority {
    Priority { class, level, hint }
}

fn share(bytes: Option<u32>, share_pct: u8, priority: Priority) -> PriorityShare {
    PriorityShare { bytes, share_pct, priority }
}

#[test]
fn priorities_of_threads_and_of_shares_of_their_io_are_those_of_fio() {
    let of = |lines: &str| workload(&format!("ioengine=libaio\niodepth=8\n{lines}")).priorities;
    let plain = of("rw=randread\nprioclass=3\ncmdprio_percentage=20\ncmdprio_class=1\n");
    assert_eq!(plain.thread, Some(priority(PriorityClass::Idle, 0, 0)));
    assert_eq!(plain.reads, [share(None, 20, priority(PriorityClass::Realtime, 0, 0))]);
    assert!(plain.writes.is_empty(), "{plain:?}");
    let split = of("rw=randrw\nprioclass=2\nprio=7\nbssplit=64k/40:1024k/60,1024k/100\n\
                    cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0\n");
    assert_eq!(split.thread, Some(priority(PriorityClass::BestEffort, 7, 0)));
    let rest = share(Some(65_536), 75, priority(PriorityClass::Idle, 2, 0));
    assert_eq!(split.reads, [share(Some(65_536), 25, priority(PriorityClass::Realtime, 1, 0)), rest]);
    assert!(split.writes.is_empty());
    // Without a class of their own: the one that other words say, or the first.
    let simple = of("rw=randrw\ncmdprio_bssplit=4k/100:8k/0,4k/10\ncmdprio=3\n");
    assert_eq!(simple.reads, [share(Some(4096), 100, priority(PriorityClass::Realtime, 3, 0))]);
    assert_eq!(simple.writes, [share(Some(4096), 10, priority(PriorityClass::Realtime, 3, 0))]);
    assert_eq!(simple.words().as_deref(), Some("reads 100% of 4k rt/3 writes 10% of 4k rt/3"));
    let hints = of("rw=randread\nbssplit=1M/40:2M/60\ncmdprio_bssplit=1M/10/2/0/1:1M/90/2/0/0:2M/10/2/0/3\n");
    assert_eq!(hints.reads[0], share(Some(1 << 20), 10, priority(PriorityClass::BestEffort, 0, 1)));
}

#[test]
fn priorities_that_cannot_be_are_refused_with_their_line() {
    assert_eq!(refused("cmdprio_percentage=20"), ("error: with psync no single I/O has a priority".into(), 4));
    let both = "cmdprio_percentage and cmdprio_bssplit both give single I/Os a priority";
    assert_eq!(refused("ioengine=libaio\ncmdprio_percentage=20\ncmdprio_bssplit=4k/10"), (format!("error: {both}"), 6));
    let above = "the shares with a priority of their own add up to more than 100 % of the I/Os of one size";
    assert_eq!(refused("ioengine=libaio\ncmdprio_bssplit=4k/60/1/0:4k/50/2/0"), (format!("error: {above}"), 5));
    assert_eq!(refused("prioclass=5"), ("error: prioclass: `5` is not a priority class".into(), 4));
    let (message, line) = refused("ioengine=libaio\ncmdprio_bssplit=4k/10/1");
    assert_eq!((message.as_str(), line), ("error: cmdprio_bssplit: `4k/10/1` is not a share with a priority", 5));
}

#[test]
fn nodes_repeats_latencies_and_conditioning_are_those_of_fio() {
    let numa = plan("[a]\nfilename=f\nsize=8m\nnuma_cpu_nodes=0-1\nnuma_mem_policy=interleave:0-1\n").steps.remove(0);
    assert_eq!(numa.placement, Placement::Nodes { nodes: vec![0, 1] });
    assert_eq!(numa.memory, MemoryPolicy::Interleave { nodes: vec![0, 1] });
    let data = workload(
        "rw=write\ndedupe_mode=working_set\ndedupe_global=1\ndedupe_percentage=50\ndedupe_working_set_percentage=30\n",
    );
    assert_eq!(data.data.repeats, Repeats::WorkingSet { region_pct: 30, is_shared: true });
    let step = plan(
        "[a]\nfilename=f\nsize=8m\nioengine=libaio\niodepth=128\nlatency_target=500000\nlatency_window=5000000\n\
         latency_percentile=99.9\n",
    );
    let target = LatencyTarget { lat_ns: 500_000_000, window_ns: 5_000_000_000, within_ppm: 999_000, runs_on: false };
    assert_eq!(step.steps[0].load.pacing.target, Some(target));
    assert_eq!(step.steps[0].label, "4k sequential read latency_target 500ms 99.9% T1 QD128");
    let spr = workload("rw=randwrite\nbs=4k\nnorandommap\nsprandom=1\nspr_op=0.2\nspr_num_regions=10\n").order.sprandom;
    assert_eq!(spr.map(|spec| (spec.regions, spec.spare_ppm)), Some((10, 200_000)));
    let others = "error: sprandom is a load of random writes of one size by one thread, in places of its own";
    assert_eq!(refused("sprandom=1\nrw=write"), (others.into(), 4));
    let engine = "error: atomic writes go around the page cache, by io_uring or libaio";
    assert_eq!(refused("atomic=1\nrw=write"), (engine.into(), 4));
    let fill = plan("[a]\nfilename=f\nrw=write\nfill_device=1\n");
    assert!(fill.steps[0].role.fills_space && fill.steps[0].workload.region.size_bytes.is_none());
    assert!(!plan("[a]\nfilename=f\nsize=1m\nrw=write\nfill_device=1\n").steps[0].role.fills_space);
}
