//! Machines and steps for the tests of this crate.

use std::sync::atomic::AtomicBool;

use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineSpec, Load, OpMix, Pattern, Phase, Placement, Region, Role, RunLength,
    Step, TargetId, Workload,
};
use fathom_record::{RunControl, Runner, StepFailure, StepRecord};

use crate::machine::{
    Device, Drive, EngineCosts, Ftl, Host, InterruptPolicy, Link, Machine, Media, Nand, Service, Xpoint,
};
use crate::runner::{SimRunner, Truth};

pub(crate) const US: u64 = 1_000_000;

/// A host without any cost.
pub(crate) fn host(sockets: u32, cores_per_socket: u32, threads_per_core: u32) -> Host {
    Host {
        cpu_model: "test".to_owned(),
        os: "test".to_owned(),
        sockets,
        cores_per_socket,
        threads_per_core,
        smt_speed_pct: 80,
        memory_bytes: 1 << 34,
        copy_bytes_per_s: 10_000_000_000,
        remote_ps: 0,
        interrupts: InterruptPolicy::Submitter,
        engines: vec![("default".to_owned(), EngineCosts::default())],
    }
}

/// A device whose only server is `units` of media.
pub(crate) fn bare_device(units: u32, service: Service) -> Device {
    Device {
        name: "bare".to_owned(),
        capacity_bytes: 1 << 40,
        command_read_ps: 0,
        command_write_ps: 0,
        read_bytes_per_s: 0,
        write_bytes_per_s: 0,
        fixed_ps: 0,
        outstanding_max: 0,
        queues: 0,
        coalesce: None,
        read_tail: Vec::new(),
        write_tail: Vec::new(),
        media: Media::Xpoint(Xpoint { units, unit_bytes: 4096, read: service, write: service }),
    }
}

/// The P3700 of the prototype in the methods: controller, 40 dies.
pub(crate) fn nand_device() -> Device {
    Device {
        name: "nand".to_owned(),
        capacity_bytes: 800_000_000_000,
        command_read_ps: 2_150_000,
        command_write_ps: 2_150_000,
        fixed_ps: 3 * US,
        media: Media::Nand(Nand {
            dies: 40,
            channels: 0,
            channel_bytes_per_s: 0,
            page_bytes: 4096,
            read: Service::uniform(70 * US, 20),
            program: Service::uniform(1300 * US, 10),
            program_bytes: 32_768,
            erase_ps: 3_000 * US,
            block_bytes: 8 << 20,
            buffer_bytes: 8 << 20,
            ack_ps: 8 * US,
            spare_pct: 28.0,
            suspend_ps: Some(100 * US),
            map_miss_permille: 0,
            read_ahead_ps: 0,
            ftl: Ftl::MeanField,
        }),
        ..bare_device(1, Service::fixed(0))
    }
}

/// A link without limit.
pub(crate) const WIDE: Link = Link::Rate { bytes_per_s: 1_000_000_000_000_000, command_bytes: 0 };

/// A machine of `count` drives on one wide link each.
pub(crate) fn machine(host: Host, device: &Device, count: usize) -> Machine {
    let drive = |i: usize| Drive {
        name: format!("d{i}"),
        group: "d".to_owned(),
        device: device.clone(),
        link: WIDE,
        upstream: None,
        socket: 0,
        rest_filled_pct: 100,
    };
    Machine {
        name: "test".to_owned(),
        title: "test".to_owned(),
        sources: vec!["made for the test".to_owned()],
        host,
        links: Vec::new(),
        drives: (0..count).map(drive).collect(),
        arrays: Vec::new(),
        md: crate::machine::Md::default(),
        user_space: crate::machine::UserSpace::default(),
        faults: Vec::new(),
        default_target: "d".to_owned(),
    }
}

/// 4 KiB random reads of `target` for `runtime_ns`.
pub(crate) fn step(target: &str, threads: u32, queue_depth: u32, runtime_ns: u64) -> Step {
    Step {
        index: 0,
        label: "test".into(),
        phase: Phase::Measure,
        group: "test".into(),
        targets: vec![TargetId::new(target.to_owned())],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load::closed(threads, queue_depth),
        engine: EngineSpec::default(),
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Cores,
        length: RunLength::fixed(0, runtime_ns),
        seed: 1,
        role: Role::default(),
    }
}

/// Runs a step; the record and the truth.
pub(crate) fn run(machine: &Machine, step: &Step) -> Result<(StepRecord, Truth), StepFailure> {
    let mut runner = SimRunner::new(machine.clone(), 0);
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    let record = runner.run(step, &mut control)?;
    Ok((record, runner.truth().expect("there was a run").clone()))
}

/// I/Os per second of a step.
pub(crate) fn iops(machine: &Machine, step: &Step) -> f64 {
    let (record, _) = run(machine, step).expect("the step runs");
    record.ios() as f64 / (record.runtime_ns as f64 / 1e9)
}

/// Mean latency of a step, microseconds.
pub(crate) fn mean_us(record: &StepRecord) -> f64 {
    record.lat_merged().and_then(|h| h.mean_ns()).expect("there are samples") / 1e3
}
