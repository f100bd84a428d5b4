//! What a reader must know of a step beside its limit: settings and conditions that are seldom wanted.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_units::format_cpu_list;

use super::Observation;
use super::facts::DriveFacts;
use crate::pcie::PcieLink;

/// Share of all interrupt time on one CPU that means they are not spread.
const ONE_CPU_SHARE: f64 = 0.9;
/// Interrupt time below this share of a core is not worth spreading.
const IRQ_WORTH: f64 = 0.05;
/// Merged share of the device's I/Os from which a random load is not the one that was asked for.
const MERGED_SHARE: f64 = 0.02;
/// Interrupts per I/O that no polled load can have.
const POLLED_INTERRUPTS: f64 = 0.2;

/// Something noticed about a step. Shares are in [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A drive's link is slower or narrower than both its ends could.
    LinkTrainedDown {
        /// Kernel name.
        drive: String,
        /// As trained.
        link: PcieLink,
        /// As both ends could.
        possible: PcieLink,
    },
    /// A drive is so warm that it slows down.
    DriveHot {
        /// Kernel name.
        drive: String,
        /// Its warmest sensor.
        celsius: f64,
        /// From where on it slows down.
        warning_celsius: f64,
    },
    /// A fast drive has an I/O scheduler.
    Scheduler {
        /// Kernel name.
        drive: String,
        /// The scheduler in force.
        scheduler: String,
    },
    /// The kernel's clock takes a system call.
    SlowClock {
        /// The clock source in force.
        clocksource: String,
    },
    /// One CPU takes the interrupts of several workers.
    InterruptsOnOneCpu {
        /// Number of the CPU.
        cpu: u32,
        /// Its share of all interrupt time.
        share: f64,
        /// Worker threads.
        workers: u32,
    },
    /// I/Os of a random load were merged.
    Merges {
        /// Kernel name.
        disk: String,
        /// Merged share of its I/Os.
        share: f64,
    },
    /// Polled completion was asked for, but the drive has no poll queues.
    NoPollQueues,
    /// Polled completion was asked for, but interrupts came.
    InterruptsDespitePolling {
        /// Interrupts per I/O.
        per_io: f64,
    },
    /// Control groups share a drive without a fixed rate, which may hold I/O back.
    IoControl {
        /// `io.cost` or `io.latency`.
        control: String,
        /// Kernel name.
        device: String,
    },
    /// Workers run on other NUMA nodes than a drive, alone.
    RemoteNode {
        /// Kernel name.
        drive: String,
        /// The workers' CPUs.
        cpus: Vec<u32>,
    },
    /// Workers share a physical core.
    SiblingsAsCores {
        /// The CPUs of that core.
        cpus: Vec<u32>,
    },
}

impl Notice {
    /// A stable word for it. Both ways in which polling is not real have one.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Notice::LinkTrainedDown { .. } => "link_trained_down",
            Notice::DriveHot { .. } => "drive_hot",
            Notice::Scheduler { .. } => "scheduler",
            Notice::SlowClock { .. } => "slow_clock",
            Notice::InterruptsOnOneCpu { .. } => "interrupts_on_one_cpu",
            Notice::Merges { .. } => "merges",
            Notice::NoPollQueues | Notice::InterruptsDespitePolling { .. } => "poll_not_real",
            Notice::IoControl { .. } => "io_control",
            Notice::RemoteNode { .. } => "remote_node",
            Notice::SiblingsAsCores { .. } => "siblings_as_cores",
        }
    }

    /// In a sentence, with the numbers.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Notice::LinkTrainedDown { drive, link, possible } => msg!(
                "notice-link-trained-down",
                drive = drive,
                link = link.to_string(),
                possible = possible.to_string()
            ),
            Notice::DriveHot { drive, celsius, warning_celsius } => msg!(
                "notice-drive-hot",
                drive = drive,
                temperature = Quantity::new(*celsius, Unit::Celsius),
                warning = Quantity::new(*warning_celsius, Unit::Celsius)
            ),
            Notice::Scheduler { drive, scheduler } => {
                msg!("notice-scheduler", drive = drive, scheduler = scheduler)
            }
            Notice::SlowClock { clocksource } => msg!("notice-slow-clock", clocksource = clocksource),
            Notice::InterruptsOnOneCpu { cpu, share, workers } => {
                msg!("notice-interrupts-on-one-cpu", cpu = *cpu, share = Quantity::share(*share), workers = *workers)
            }
            Notice::Merges { disk, share } => {
                msg!("notice-merges", disk = disk, share = Quantity::share(*share))
            }
            Notice::NoPollQueues => msg!("notice-no-poll-queues"),
            Notice::InterruptsDespitePolling { per_io } => {
                msg!("notice-interrupts-despite-polling", interrupts = Quantity::new(*per_io, Unit::PerIo))
            }
            Notice::IoControl { control, device } => msg!("notice-io-control", control = control, device = device),
            Notice::RemoteNode { drive, cpus } => {
                msg!("notice-remote-node", drive = drive, cpus = format_cpu_list(cpus))
            }
            Notice::SiblingsAsCores { cpus } => msg!("notice-siblings-as-cores", cpus = format_cpu_list(cpus)),
        }
    }
}

/// What is noticed about a step.
#[must_use]
pub fn notices(this: &Observation) -> Vec<Notice> {
    let mut out = Vec::new();
    out.extend(interrupts(this));
    out.extend(merges(this));
    out.extend(polling(this));
    let Some(facts) = &this.facts else { return out };
    out.extend(facts.drives.iter().flat_map(of_drive));
    let is_slow = |source: &&String| !matches!(source.as_str(), "tsc" | "kvm-clock" | "arch_sys_counter");
    let slow = facts.clocksource.as_ref().filter(is_slow);
    out.extend(slow.map(|source| Notice::SlowClock { clocksource: source.clone() }));
    out.extend(siblings(this));
    out.extend(facts.drives.iter().filter_map(|drive| remote_node(this, drive)));
    let control =
        |(control, device): &(String, String)| Notice::IoControl { control: control.clone(), device: device.clone() };
    out.extend(facts.io_controls.iter().map(control));
    out
}

fn of_drive(drive: &DriveFacts) -> Vec<Notice> {
    let mut out = Vec::new();
    let name = || drive.name.clone();
    if let (Some(link), Some(possible)) = (drive.link, drive.link_possible)
        && link.coded_bytes_per_s() < possible.coded_bytes_per_s()
    {
        out.push(Notice::LinkTrainedDown { drive: name(), link, possible });
    }
    if let Some((celsius, Some(warning_celsius))) = drive.temperature_celsius
        && celsius >= warning_celsius
    {
        out.push(Notice::DriveHot { drive: name(), celsius, warning_celsius });
    }
    if let Some(scheduler) = drive.scheduler.as_deref().filter(|s| *s != "none") {
        out.push(Notice::Scheduler { drive: name(), scheduler: scheduler.to_owned() });
    }
    out
}

fn interrupts(this: &Observation) -> Option<Notice> {
    let host = this.host.as_ref()?;
    let irq = |t: &fathom_record::CpuTime| t.irq_ns + t.softirq_ns;
    let total: u64 = host.cpus.iter().map(|(_, t)| irq(t)).sum();
    let (cpu, most) = host.cpus.iter().map(|(c, t)| (*c, irq(t))).max_by_key(|(_, ns)| *ns)?;
    let worth = most as f64 >= IRQ_WORTH * host.window_ns as f64;
    let workers = this.threads();
    let is_one = host.cpus.len() > 1 && workers > 1 && worth && most as f64 >= ONE_CPU_SHARE * total as f64;
    is_one.then(|| Notice::InterruptsOnOneCpu { cpu, share: most as f64 / total as f64, workers })
}

fn merges(this: &Observation) -> Vec<Notice> {
    let sequential = matches!(this.step.workload.pattern, fathom_plan::Pattern::Sequential);
    let Some(host) = this.host.as_ref().filter(|_| !sequential && this.step.workload.direct) else { return Vec::new() };
    let merged = host.disks.iter().map(|disk| {
        let merged = disk.read_merges + disk.write_merges;
        let share = merged as f64 / (merged + disk.read_ios + disk.write_ios).max(1) as f64;
        (disk.device.clone(), share)
    });
    merged.filter(|(_, share)| *share >= MERGED_SHARE).map(|(disk, share)| Notice::Merges { disk, share }).collect()
}

fn polling(this: &Observation) -> Option<Notice> {
    if this.step.engine.mode != fathom_plan::Mode::Iopoll {
        return None;
    }
    let queues = this.facts.iter().flat_map(|f| &f.drives).filter_map(|d| d.poll_queues).min();
    if queues == Some(0) {
        return Some(Notice::NoPollQueues);
    }
    let per_io = this.host.as_ref().map(|h| h.interrupts as f64 / this.ios.max(1) as f64);
    per_io.filter(|x| *x >= POLLED_INTERRUPTS).map(|per_io| Notice::InterruptsDespitePolling { per_io })
}

/// Each I/O then crosses between sockets, which costs latency and shares their link.
fn remote_node(this: &Observation, drive: &DriveFacts) -> Option<Notice> {
    let cpus = &this.worker_cpus;
    let is_remote = !cpus.is_empty() && cpus.iter().all(|cpu| drive.remote_cpus.contains(cpu));
    is_remote.then(|| Notice::RemoteNode { drive: drive.name.clone(), cpus: cpus.clone() })
}

fn siblings(this: &Observation) -> Option<Notice> {
    let facts = this.facts.as_ref()?;
    if this.step.placement == fathom_plan::Placement::Smt {
        return None;
    }
    let shared = facts.siblings.iter().find(|core| core.iter().filter(|c| this.worker_cpus.contains(c)).count() > 1)?;
    Some(Notice::SiblingsAsCores { cpus: shared.clone() })
}
