//! Why a part is the limit: what the counters of the step showed, with the numbers that decide.

use fathom_message::{Message, Quantity, Unit, msg};

use fathom_plan::SyncKind;

use super::facts::RateSource;
use super::name::{LimitName, StateChange};
use crate::ceilings::Ceiling;
use crate::cpu_taken::CpuTaker;
use crate::kernel_work::KernelWork;

/// What the counters of a step showed. Shares are in [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// An open loop that was kept.
    RateAsked {
        /// The rate that was asked for.
        iops: f64,
    },
    /// The load pauses between its I/Os.
    Pauses {
        /// Share of its threads' time.
        share: f64,
    },
    /// A rate that the host holds the device to.
    RateAllowed {
        /// Where it is set.
        source: RateSource,
        /// I/Os or bytes per second.
        allowed: Quantity,
        /// Where it was not quite met: why it is the limit all the same.
        wait: Option<RateWait>,
    },
    /// A cap that is not set on this host.
    RateOutside {
        /// What it lets through: I/Os or bytes per second.
        rate: Quantity,
    },
    /// A cap outside this host with an allowance for bursts, which ran out within the step.
    TokenBucket {
        /// IOPS at first.
        burst_iops: f64,
        /// IOPS after that.
        refill_iops: f64,
        /// What was left of the allowance when the step began.
        burst_ios: f64,
        /// When it ran out, seconds.
        after_s: f64,
    },
    /// The page cache answered.
    PageCache {
        /// Share of the bytes that reached the device.
        device_share: f64,
    },
    /// Most of the time of the slots went into syncs.
    Flush {
        /// By which call.
        kind: SyncKind,
        /// Share of the time of the slots that syncs held.
        share: f64,
        /// Mean time of one.
        mean_ns: f64,
        /// Mean time of a write or read beside it.
        io_mean_ns: f64,
    },
    /// All CPUs that the run may use were busy.
    AllCores {
        /// Number of CPUs.
        cpus: u32,
        /// Their mean busy share.
        busy_share: f64,
        /// CPU time of the host per I/O.
        cpu_ns_per_io: f64,
    },
    /// Others had the CPUs while the workers were ready to run.
    CpuTaken {
        /// The one that took most of the time.
        by: CpuTaker,
        /// Share of the time of an I/O.
        share: f64,
    },
    /// CPUs whose work is interrupts were busy.
    IrqCores {
        /// Number of CPUs.
        cpus: u32,
        /// The one that spends the greatest share on interrupts.
        busiest_cpu: u32,
        /// Its busy share.
        busy_share: f64,
        /// Share of that in interrupts.
        interrupt_share: f64,
    },
    /// Threads of the kernel that work for the I/O were busy.
    KernelThread {
        /// Name of the thread, or of the work queue.
        name: String,
        /// How many CPUs they could use.
        cpus: u32,
        /// Mean share of the time in which those had nothing left for them.
        busy_share: f64,
    },
    /// Writes into space that the files did not have: the file system gives it first, one write at a time.
    Allocation {
        /// Share of the written bytes that it gave space to.
        share: f64,
    },
    /// Most of the time of an I/O goes into the way to the server and back.
    Network {
        /// That time.
        way_ns: f64,
        /// All of it.
        total_ns: f64,
        /// The one over the other.
        share: f64,
    },
    /// The device that leads to the server carries all it can.
    NetworkLink {
        /// Its kernel name.
        device: String,
        /// Share of its rate.
        share: f64,
    },
    /// Most of the time of an I/O passes at the server.
    Server {
        /// That time.
        server_ns: f64,
        /// All of it.
        total_ns: f64,
        /// The one over the other.
        share: f64,
    },
    /// Most of the time of an I/O passes in the client, before it is sent and after the answer.
    Client {
        /// That time.
        client_ns: f64,
        /// All of it.
        total_ns: f64,
        /// The one over the other.
        share: f64,
    },
    /// The cores of the workers were busy.
    Cores {
        /// Worker threads.
        workers: u32,
        /// Mean share of the time in which their cores had nothing left.
        busy_share: f64,
        /// CPU time of the host per I/O.
        cpu_ns_per_io: f64,
    },
    /// The cores of workers that poll: they are always busy, so that only probes decide.
    PollingCore {
        /// CPU time of the host per I/O.
        cpu_ns_per_io: f64,
    },
    /// A link, a shared link or memory carries what it can.
    AtCeiling {
        /// The ceiling and how it was calculated.
        ceiling: Ceiling,
        /// What was moved.
        bytes_per_s: f64,
        /// IOPS over the ceiling.
        used_share: f64,
    },
    /// A drive's own link carries what it can, or the drive gives what it can.
    LinkOrDrive {
        /// The ceiling of the link and how it was calculated.
        ceiling: Ceiling,
        /// What was moved.
        bytes_per_s: f64,
        /// IOPS over the ceiling.
        used_share: f64,
    },
    /// The array gives what its arithmetic allows.
    ArrayCeiling {
        /// The ceiling and how it was calculated.
        ceiling: Ceiling,
        /// What it gave.
        iops: f64,
    },
    /// The array's write penalty.
    ArrayWrites {
        /// I/Os of its members for each write.
        member_ios_per_write: f64,
    },
    /// Targets on one device.
    SharedDevice {
        /// Number of targets.
        targets: u32,
    },
    /// Something that the drives share and that is not described.
    SharedPart,
    /// Too few in flight.
    QueueDepth {
        /// In flight over all threads and targets.
        in_flight: u32,
        /// Mean latency.
        lat_ns: f64,
    },
    /// The device.
    Device {
        /// In flight over all threads and targets.
        in_flight: u32,
        /// Mean latency.
        lat_ns: f64,
    },
    /// The drives, which give what their data sheets promise.
    AtRating {
        /// Rate that the data sheets promise for this load, I/Os per second of all drives.
        rated_iops: f64,
        /// Measured rate as a share of it.
        share: f64,
    },
    /// Of streams that run at once this one gives less than alone, and nothing that the host counts is full.
    SharedWithStreams {
        /// The other streams.
        streams: u32,
        /// What it gives, of what it gives alone.
        share: f64,
    },
    /// Beside other streams it gives what it gives alone, and this is what holds it then.
    AsAlone(Box<Cause>),
    /// A deeper step gave less than a shallower one.
    StateChanged {
        /// In flight of the shallower one.
        in_flight: u32,
        /// What the deeper one gave over the shallower one.
        gain: f64,
        /// What the shallower one gave when it was measured again, over what it gave first; `None`: it was not.
        again: Option<f64>,
    },
    /// A deeper step gave less than a shallower one, which gave the same before and after.
    LessAtDepth {
        /// In flight of the shallower one.
        in_flight: u32,
        /// What the deeper one gave over the shallower one.
        gain: f64,
    },
    /// The evidence does not say.
    Unknown(UnknownReason),
}

/// A rate that was not quite met, while I/Os waited above the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateWait {
    /// Share of the allowed rate that was reached.
    pub reached_share: f64,
    /// Latency over the time that the device itself took.
    pub lat_over_device: f64,
}

/// Why no part can be named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnknownReason {
    /// No I/O completed.
    NoIo,
    /// No counter is at its limit, and no neighbouring step decides.
    NoSignature,
    /// A later step with no more in flight gave more.
    LessGaveMore,
    /// A deeper queue gave little more, but its threads held it.
    DeeperHeldByThreads,
    /// The shallower step was held by its threads.
    ShallowerHeldByThreads,
    /// Few of the I/Os in flight are at the device: the others wait for something above it.
    WaitsAboveDevice,
    /// Most of the time of an I/O passes at the server or in the client, which counts nothing that would tell.
    ServerOrClient {
        /// That share.
        share: f64,
    },
    /// A stream beside others that was not measured alone, and nothing that the host counts is full.
    NotAlone,
    /// A stream that gives what it gives alone, of which it is not known what holds it then.
    AsAlone,
    /// A stream that gives less than alone, on several devices of which some are others'.
    SharedAmongStreams {
        /// The other streams.
        streams: u32,
        /// What it gives, of what it gives alone.
        share: f64,
    },
}

impl Cause {
    /// The part that it makes the limit.
    #[must_use]
    pub fn name(&self) -> LimitName {
        match self {
            Cause::RateAsked { .. }
            | Cause::Pauses { .. }
            | Cause::RateAllowed { .. }
            | Cause::RateOutside { .. }
            | Cause::TokenBucket { .. } => LimitName::Rate,
            Cause::PageCache { .. } => LimitName::PageCache,
            Cause::Flush { .. } => LimitName::Flush,
            Cause::AllCores { .. } => LimitName::AllCores,
            Cause::CpuTaken { .. } => LimitName::CpuTaken,
            Cause::IrqCores { .. } => LimitName::IrqCore,
            Cause::KernelThread { .. } => LimitName::KernelThread,
            Cause::Allocation { .. } => LimitName::FileSystem,
            Cause::Network { .. } | Cause::NetworkLink { .. } => LimitName::Network,
            Cause::Server { .. } => LimitName::Server,
            Cause::Client { .. } => LimitName::Client,
            Cause::Cores { .. } | Cause::PollingCore { .. } => LimitName::Core,
            Cause::AtCeiling { ceiling, .. } | Cause::LinkOrDrive { ceiling, .. } => ceiling.name,
            Cause::ArrayCeiling { .. } | Cause::ArrayWrites { .. } => LimitName::Raid,
            Cause::SharedPart => LimitName::Uplink,
            Cause::QueueDepth { .. } => LimitName::QueueDepth,
            Cause::SharedDevice { .. }
            | Cause::Device { .. }
            | Cause::AtRating { .. }
            | Cause::SharedWithStreams { .. } => LimitName::Device,
            Cause::AsAlone(cause) => cause.name(),
            Cause::StateChanged { .. } | Cause::LessAtDepth { .. } | Cause::Unknown(_) => LimitName::Unknown,
        }
    }

    /// How the device changed, where a step that was measured again proves it; a deeper step that gave less alone may be
    /// what the depth does.
    #[must_use]
    pub fn state_change(&self) -> Option<StateChange> {
        match self {
            Cause::StateChanged { again: Some(again), .. } if *again < 1.0 => Some(StateChange::Slower),
            Cause::StateChanged { again: Some(_), .. } => Some(StateChange::Faster),
            _ => None,
        }
    }

    /// In a sentence: `The device is the limit (86 %): ...`.
    #[must_use]
    pub fn message(&self, probability: Option<f64>) -> Message {
        let limit = word(probability);
        let share = Quantity::share;
        match self {
            Cause::RateAsked { iops } => msg!("limit-rate-asked", rate = Quantity::iops(*iops)),
            Cause::Pauses { share } => msg!("limit-pauses", share = Quantity::share(*share)),
            Cause::RateAllowed { source, allowed, wait: None } => {
                msg!("limit-rate-allowed", limit = limit, source = source.message(), allowed = *allowed)
            }
            Cause::RateAllowed { source, allowed, wait: Some(wait) } => msg!(
                "limit-rate-allowed-not-met",
                limit = limit,
                source = source.message(),
                allowed = *allowed,
                reached = share(wait.reached_share),
                wait = Quantity::times(wait.lat_over_device)
            ),
            Cause::RateOutside { rate } => msg!("limit-rate-outside", limit = limit, rate = *rate),
            Cause::TokenBucket { burst_iops, refill_iops, burst_ios, after_s } => msg!(
                "limit-token-bucket",
                limit = limit,
                first = Quantity::iops(*burst_iops),
                refill = Quantity::iops(*refill_iops),
                burst = Quantity::new(*burst_ios, Unit::Count),
                after = Quantity::ns(*after_s * 1e9)
            ),
            Cause::PageCache { device_share } => msg!("limit-page-cache", share = share(*device_share)),
            Cause::Flush { kind, share: of_time, mean_ns, io_mean_ns } => msg!(
                "limit-flush",
                call = kind.as_str(),
                share = share(*of_time),
                mean = Quantity::ns(*mean_ns),
                io = Quantity::ns(*io_mean_ns)
            ),
            Cause::AllCores { cpus, busy_share, cpu_ns_per_io } => {
                let (busy, cost) = (share(*busy_share), Quantity::ns(*cpu_ns_per_io));
                msg!("limit-all-cores", limit = limit, cpus = *cpus, busy = busy, cost = cost)
            }
            Cause::CpuTaken { by, share: lost } => {
                let share = share(*lost);
                match by {
                    CpuTaker::Programs => msg!("limit-cpu-taken-programs", limit = limit, share = share),
                    CpuTaker::Hypervisor => msg!("limit-cpu-taken-hypervisor", limit = limit, share = share),
                    CpuTaker::Quota => msg!("limit-cpu-taken-quota", limit = limit, share = share),
                }
            }
            Cause::IrqCores { cpus, busiest_cpu: cpu, busy_share, interrupt_share } => {
                let (busy, interrupts) = (share(*busy_share), share(*interrupt_share));
                msg!("limit-irq-cores", limit = limit, cpus = *cpus, cpu = *cpu, busy = busy, interrupts = interrupts)
            }
            Cause::KernelThread { name, cpus, busy_share } => msg!(
                "limit-kernel-thread",
                limit = limit,
                name = name,
                cpus = *cpus,
                busy = share(*busy_share),
                work = KernelWork::of(name).map_or_else(|| Message::verbatim(""), KernelWork::message)
            ),
            Cause::Allocation { share: allocated } => {
                msg!("limit-allocation", limit = limit, share = share(*allocated))
            }
            Cause::Network { way_ns, total_ns, share: of_time } => {
                let (way, total) = (Quantity::ns(*way_ns), Quantity::ns(*total_ns));
                msg!("limit-network", limit = limit, way = way, total = total, share = share(*of_time))
            }
            Cause::NetworkLink { device, share: used } => {
                msg!("limit-network-link", limit = limit, device = device, share = share(*used))
            }
            Cause::Server { server_ns, total_ns, share: of_time } => {
                let (time, total) = (Quantity::ns(*server_ns), Quantity::ns(*total_ns));
                msg!("limit-server", limit = limit, time = time, total = total, share = share(*of_time))
            }
            Cause::Client { client_ns, total_ns, share: of_time } => {
                let (time, total) = (Quantity::ns(*client_ns), Quantity::ns(*total_ns));
                msg!("limit-client", limit = limit, time = time, total = total, share = share(*of_time))
            }
            Cause::Cores { workers, busy_share, cpu_ns_per_io } => {
                let (busy, cost) = (share(*busy_share), Quantity::ns(*cpu_ns_per_io));
                msg!("limit-cores", limit = limit, workers = *workers, busy = busy, cost = cost)
            }
            Cause::PollingCore { cpu_ns_per_io } => {
                msg!("limit-polling-core", limit = limit, cost = Quantity::ns(*cpu_ns_per_io))
            }
            Cause::AtCeiling { ceiling, bytes_per_s, used_share } => {
                let (rate, used, how) = (Quantity::bytes_per_s(*bytes_per_s), share(*used_share), &ceiling.sentence);
                match ceiling.name {
                    LimitName::Link => msg!("limit-link", limit = limit, rate = rate, used = used, ceiling = how),
                    LimitName::Uplink => msg!("limit-uplink", limit = limit, rate = rate, used = used, ceiling = how),
                    _ => msg!("limit-memory", limit = limit, rate = rate, used = used, ceiling = how),
                }
            }
            Cause::LinkOrDrive { ceiling, bytes_per_s, used_share } => {
                let (rate, used, how) = (Quantity::bytes_per_s(*bytes_per_s), share(*used_share), &ceiling.sentence);
                msg!("limit-link-or-drive", limit = limit, rate = rate, used = used, ceiling = how)
            }
            Cause::ArrayCeiling { ceiling, iops } => {
                let (used, iops) = (share(iops / ceiling.iops), Quantity::iops(*iops));
                msg!("limit-array", limit = limit, iops = iops, used = used, ceiling = &ceiling.sentence)
            }
            Cause::ArrayWrites { member_ios_per_write } => {
                let ios = Quantity::new(*member_ios_per_write, Unit::Count);
                msg!("limit-array-writes", limit = limit, ios = ios)
            }
            Cause::SharedDevice { targets } => msg!("limit-shared-device", limit = limit, targets = *targets),
            Cause::SharedPart => msg!("limit-shared-part", limit = limit),
            Cause::QueueDepth { in_flight, lat_ns } => {
                msg!("limit-queue-depth", limit = limit, in_flight = *in_flight, latency = Quantity::ns(*lat_ns))
            }
            Cause::Device { in_flight, lat_ns } => {
                msg!("limit-device", limit = limit, in_flight = *in_flight, latency = Quantity::ns(*lat_ns))
            }
            Cause::AtRating { rated_iops, share: of_rated } => {
                msg!("limit-at-rating", limit = limit, share = share(*of_rated), rate = Quantity::iops(*rated_iops))
            }
            Cause::SharedWithStreams { streams, share: of_alone } => {
                msg!("limit-shared-with-streams", limit = limit, streams = *streams, share = Quantity::times(*of_alone))
            }
            Cause::AsAlone(cause) => msg!("limit-as-alone", cause = cause.message(probability)),
            Cause::LessAtDepth { in_flight, gain } => {
                msg!("limit-less-at-depth", in_flight = *in_flight, gain = Quantity::times(*gain))
            }
            Cause::StateChanged { in_flight, gain, again } => {
                let (from, gain) = (*in_flight, Quantity::times(*gain));
                let times = |again: &f64| Quantity::times(*again);
                match again {
                    None => msg!("limit-state-may-have-changed", in_flight = from, gain = gain),
                    Some(again) if *again < 1.0 => {
                        msg!("limit-state-changed-slower", in_flight = from, gain = gain, again = times(again))
                    }
                    Some(again) => {
                        msg!("limit-state-changed-faster", in_flight = from, gain = gain, again = times(again))
                    }
                }
            }
            Cause::Unknown(reason) => reason.message(),
        }
    }
}

/// `limit (86 %)`. What never fails to hold is not said with a probability.
fn word(probability: Option<f64>) -> Message {
    match probability {
        Some(p) => msg!("limit-word-probable", probability = Quantity::share(p)),
        None => msg!("limit-word"),
    }
}

impl UnknownReason {
    fn message(self) -> Message {
        match self {
            UnknownReason::NoIo => msg!("limit-unknown-no-io"),
            UnknownReason::NoSignature => msg!("limit-unknown-no-signature"),
            UnknownReason::LessGaveMore => msg!("limit-unknown-less-gave-more"),
            UnknownReason::DeeperHeldByThreads => msg!("limit-unknown-deeper-held-by-threads"),
            UnknownReason::ShallowerHeldByThreads => msg!("limit-unknown-shallower-held-by-threads"),
            UnknownReason::WaitsAboveDevice => msg!("limit-unknown-waits-above-device"),
            UnknownReason::ServerOrClient { share } => {
                msg!("limit-unknown-server-or-client", share = Quantity::share(share))
            }
            UnknownReason::NotAlone => msg!("limit-unknown-not-alone"),
            UnknownReason::AsAlone => msg!("limit-unknown-as-alone"),
            UnknownReason::SharedAmongStreams { streams, share } => {
                msg!("limit-unknown-shared-among-streams", streams = streams, share = Quantity::times(share))
            }
        }
    }
}
