//! A machine of operational terms that yields records: an obvious model, apart from the one under test.

use std::sync::Arc;

use fathom_hist::Histogram;
use fathom_model::{MachineModel, Observation, StepFacts};
use fathom_plan::{Knobs, Op, Step, TargetId};
use fathom_record::{
    CpuTime, Direction, DiskDelta, HostDelta, KernelThreadCpu, Latency, OpenLoop, StepRecord, ThreadCpu, ThreadRecord,
};

const WINDOW_NS: u64 = 2_000_000_000;
/// The kernel counts CPU time in ticks.
const TICK_NS: u64 = 10_000_000;

/// SplitMix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// 1 with a spread of about `sd`, from twelve uniforms.
    fn noise(&mut self, sd: f64) -> f64 {
        1.0 + sd * ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0)
    }
}

/// The terms of a machine. Rates per second; infinite where a part cannot limit.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) cpus: u32,
    /// One I/O alone.
    pub(crate) alone_ns: f64,
    /// Time until a worker that is ready has a CPU, because other programs without end run on all of them; 0 on an idle host.
    pub(crate) wait_for_cpu_ns: f64,
    /// One drive.
    pub(crate) drive_iops: f64,
    /// All drives over what they share.
    pub(crate) shared_iops: f64,
    /// One drive's link.
    pub(crate) link_iops: f64,
    /// Memory, or the array.
    pub(crate) whole_iops: f64,
    pub(crate) thread_ns: f64,
    pub(crate) irq_ns: f64,
    /// CPUs that take interrupts.
    pub(crate) irq_cpus: u32,
    /// A kernel thread that all I/Os pass through, one after the other: it is what `whole_iops` stands for.
    pub(crate) kernel_thread: Option<&'static str>,
    /// Share of the written bytes that the file system gives space to.
    pub(crate) allocated_share: Option<f64>,
    /// What the host allows.
    pub(crate) allowed_iops: f64,
    /// Member I/Os per I/O.
    pub(crate) amplification: f64,
    /// Share of the bytes that reach the drives.
    pub(crate) device_share: f64,
    pub(crate) facts: StepFacts,
}

/// A load on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) drives: u32,
    pub(crate) threads: u32,
    pub(crate) depth: u32,
    pub(crate) write: bool,
    pub(crate) buffered: bool,
    pub(crate) rate: Option<f64>,
}

impl World {
    pub(crate) fn idle(cpus: u32) -> World {
        World {
            cpus,
            alone_ns: 80_000.0,
            wait_for_cpu_ns: 0.0,
            drive_iops: f64::INFINITY,
            shared_iops: f64::INFINITY,
            link_iops: f64::INFINITY,
            whole_iops: f64::INFINITY,
            thread_ns: 10.0,
            irq_ns: 1.0,
            irq_cpus: cpus,
            kernel_thread: None,
            allocated_share: None,
            allowed_iops: f64::INFINITY,
            amplification: 1.0,
            device_share: 1.0,
            facts: StepFacts {
                machine: MachineModel::named("a labelled machine"),
                drives: Vec::new(),
                rate_limits: Vec::new(),
                io_controls: Vec::new(),
                is_guest: false,
                clocksource: Some("tsc".into()),
                siblings: Vec::new(),
            },
        }
    }

    /// Every term under a load: depth, drives, links, shared, whole, threads, all CPUs, interrupts, allowed.
    pub(crate) fn terms(&self, load: Load) -> [f64; 9] {
        let drives = f64::from(load.drives);
        let threads = f64::from(load.drives * load.threads);
        [
            threads * f64::from(load.depth) * 1e9 / (self.alone_ns + self.wait_for_cpu_ns),
            drives * self.drive_iops,
            drives * self.link_iops,
            self.shared_iops,
            self.whole_iops,
            threads.min(f64::from(self.cpus)) * 1e9 / self.thread_ns,
            f64::from(self.cpus) * 1e9 / (self.thread_ns + self.irq_ns),
            f64::from(self.irq_cpus) * 1e9 / self.irq_ns,
            self.allowed_iops,
        ]
    }

    /// Share of an I/O's time in which its worker waits for a CPU.
    fn waited_share(&self) -> f64 {
        self.wait_for_cpu_ns / (self.alone_ns + self.wait_for_cpu_ns)
    }

    /// IOPS: the terms melt into each other near a knee, as queues make them do.
    fn iops(&self, load: Load) -> f64 {
        let sum: f64 = self.terms(load).iter().map(|t| t.powi(-8)).sum();
        let x = sum.powf(-1.0 / 8.0);
        load.rate.map_or(x, |r| r.min(x))
    }

    /// What a step on this machine shows.
    pub(crate) fn observe(&self, load: Load, dice: &mut Dice) -> Observation {
        let iops = self.iops(load) * dice.noise(0.025);
        let step = step(load);
        let record = self.record(load, iops, dice);
        Observation::of(&step, &record).on(Arc::new(self.facts.clone()))
    }

    fn record(&self, load: Load, iops: f64, dice: &mut Dice) -> StepRecord {
        let ios = (iops * WINDOW_NS as f64 / 1e9) as u64;
        let n = load.drives * load.threads * load.depth;
        let mut lat = Histogram::new();
        let mean_ns = if load.rate.is_some() { self.alone_ns } else { f64::from(n) * 1e9 / iops };
        lat.record_n(mean_ns as u64, ios);
        let op = if load.write { Op::Write } else { Op::Read };
        let direction = Direction {
            op,
            ios,
            bytes: ios * 4096,
            short_ios: 0,
            lat: Latency::Samples(lat),
            slat: None,
            clat: None,
            service: None,
        };
        StepRecord {
            runtime_ns: WINDOW_NS,
            directions: vec![direction],
            host: Some(self.host(load, ios, dice)),
            threads: Vec::<ThreadRecord>::new(),
            in_flight_mean: Some(f64::from(n)),
            open_loop: load.rate.map(|rate| OpenLoop {
                intended_iops: rate,
                submit_delay_ns_mean_halves: [100.0, 100.0],
                backlog_end_ios: 0,
                unsustainable: false,
            }),
            ..StepRecord::default()
        }
    }

    fn host(&self, load: Load, ios: u64, dice: &mut Dice) -> HostDelta {
        let workers = load.drives * load.threads;
        let ticks = |ns: f64| (ns.max(0.0) / TICK_NS as f64).round() as u64 * TICK_NS;
        let window = WINDOW_NS as f64;
        let own_ns = ios as f64 * self.thread_ns;
        let irq_ns = ios as f64 * self.irq_ns;
        let mut cpus = Vec::new();
        for cpu in 0..self.cpus {
            // Threads beyond the CPUs share them evenly.
            let hosted = (0..workers).filter(|w| w % self.cpus == cpu).count() as f64;
            let user = (own_ns * hosted / f64::from(workers)).min(window) * dice.noise(0.02);
            let irq = if cpu >= self.cpus - self.irq_cpus { irq_ns / f64::from(self.irq_cpus) } else { 0.0 };
            let irq = (irq * dice.noise(0.02)).min(window);
            let user = user.min(window - irq);
            let has_endless_program = self.wait_for_cpu_ns > 0.0;
            let background = if has_endless_program { window } else { window * 0.01 * dice.unit() };
            let busy = ticks(user) + ticks(irq);
            let time = CpuTime {
                user_ns: ticks(user),
                system_ns: ticks(background.min(window - busy as f64)),
                softirq_ns: ticks(irq),
                ..CpuTime::default()
            };
            cpus.push((cpu, CpuTime { idle_ns: WINDOW_NS.saturating_sub(time.busy_ns()), ..time }));
        }
        let each_ns = (own_ns / f64::from(workers)).min(window) * dice.noise(0.02);
        let threads = (0..workers).map(|i| ThreadCpu {
            name: format!("fathom-w{i}"),
            kernel: false,
            user_ns: ticks(each_ns.min(window)),
            system_ns: 0,
            waited_ns: (window - each_ns).min(window * self.waited_share()) as u64,
        });
        let threads = threads.collect();
        let kernel_threads = self.kernel_thread.iter().map(|name| {
            let busy = (ios as f64 * 1e9 / self.whole_iops).min(window) * dice.noise(0.01);
            let busy_ns = busy.min(window) as u64;
            KernelThreadCpu { name: (*name).to_owned(), threads: 1, busy_ns, waited_ns: 0 }
        });
        let kernel_threads = kernel_threads.collect();
        let seen = (ios as f64 * self.device_share * self.amplification) as u64;
        let (read_ios, write_ios) = match (load.write, self.amplification > 1.9) {
            (true, true) => (seen / 2, seen / 2),
            (true, false) => (0, seen),
            (false, _) => (seen, 0),
        };
        let disk = DiskDelta {
            device: "some".into(),
            read_ios,
            read_bytes: read_ios * 4096,
            write_ios,
            write_bytes: write_ios * 4096,
            busy_ns: WINDOW_NS,
            weighted_ns: (f64::from(workers * load.depth) * window * (1.0 - self.waited_share())) as u64,
            ..DiskDelta::default()
        };
        HostDelta {
            window_ns: WINDOW_NS,
            cpus,
            threads,
            kernel_threads,
            interrupts: ios,
            disks: vec![disk],
            page_cache_bytes: load.buffered.then_some(1 << 30),
            allocated_bytes: self.allocated_share.map(|share| (share * ios as f64 * 4096.0) as u64),
            ..HostDelta::default()
        }
    }
}

/// A step as a plan would make it.
fn step(load: Load) -> Step {
    let mut knobs = Knobs::new();
    let rw = if load.write { "randwrite" } else { "randread" };
    let mut set =
        vec![("rw", rw.to_owned()), ("numjobs", load.threads.to_string()), ("iodepth", load.depth.to_string())];
    if load.buffered {
        set.push(("direct", "0".into()));
    }
    if let Some(rate) = load.rate {
        set.push(("rate_iops", format!("{rate:.0}")));
    }
    for (key, value) in set {
        knobs.set(key, &value).expect("a valid knob");
    }
    let targets: Vec<TargetId> = (0..load.drives).map(|i| TargetId::new(format!("/dev/some{i}"))).collect();
    knobs.build(0, "A", &targets, &mut Vec::new()).expect("a valid step")
}
