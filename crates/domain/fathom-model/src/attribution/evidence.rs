//! The numbers behind a limit, each with what it is and its unit.

use fathom_message::{Message, Quantity, Unit, msg};
use serde::{Deserialize, Serialize};

use super::Observation;

/// What a number of the evidence is. In JSON the word stands under `name`, what belongs to it (a CPU, a count) beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum EvidenceName {
    /// I/Os per second of the step.
    Iops,
    /// Mean latency.
    MeanLatency,
    /// Mean number of I/Os in flight.
    MeanInFlight,
    /// CPU time of the whole host per I/O.
    CpuPerIo,
    /// Share of the I/Os in flight that the kernel counts at the devices.
    AtDevice,
    /// Mean busy share of the CPUs that the run may use.
    AllowedCpusBusy,
    /// Share of the host's busy CPU time that is this run's.
    OwnShareOfBusy,
    /// Busy share of one CPU.
    CpuBusy {
        /// Number of the CPU.
        cpu: u32,
    },
    /// Share of the busy time of one CPU that interrupts took.
    CpuInterrupts {
        /// Number of the CPU.
        cpu: u32,
    },
    /// Share of the CPUs that kernel threads could use which they took or waited for.
    KernelThreadsBusy,
    /// Share of the written bytes that the file system gave space to.
    AllocatedShare,
    /// Mean busy share of the worker threads.
    WorkersBusy,
    /// Share of the time that the worker threads waited for a CPU.
    WorkersWaited,
    /// Share of the worker threads' time that others took.
    CpuTaken,
    /// IOPS with more threads over those of the step.
    GainOfThreads {
        /// Threads there.
        threads: u32,
    },
    /// IOPS with more in flight over those of the step.
    GainOfDepth {
        /// In flight there.
        in_flight: u32,
    },
    /// IOPS of the step over those with fewer in flight.
    GrowthOfDepth {
        /// In flight there.
        in_flight: u32,
    },
    /// IOPS of the same load measured again over those it gave first.
    GainOfRepeat {
        /// In flight there.
        in_flight: u32,
    },
    /// IOPS per target with fewer targets over those of the step.
    GainPerTarget {
        /// Targets there.
        targets: u32,
    },
    /// Share of the bytes that reached the device.
    BytesAtDevice,
    /// Bytes of the targets in the page cache.
    PageCacheBytes,
    /// Rate that was asked for.
    IntendedRate,
    /// Rate that the host allows: I/Os or bytes per second.
    AllowedRate,
    /// Standard deviation of the intervals' IOPS over their mean.
    IntervalSpread,
    /// What independent latencies would make it.
    ExpectedIntervalSpread,
    /// Latency over the time that the device itself took.
    LatencyOverDevice,
    /// The ceiling of the part.
    Ceiling,
    /// Share of the ceiling that is used.
    CeilingUsed,
    /// What the drives are rated at over what their links carry.
    RatedOverLink,
    /// The ceiling of the array.
    ArrayCeiling,
    /// I/Os of the members for each write of the host.
    MemberIosPerWrite,
    /// Reads of the members while the host only wrote.
    MemberReads,
    /// What the way to the server and back takes: a TCP connection to its port.
    NetworkWay,
    /// Mean time from sending a call to its answer, as the client counts it: network and server.
    RpcRoundTrip,
    /// Mean time of a call, as the client counts it.
    RpcExecute,
    /// Share of the calls that were sent again.
    RpcSentAgain,
    /// Share of the time of an I/O on the network.
    NetworkShare,
    /// Share of it at the server.
    ServerShare,
    /// Share of it in the client.
    ClientShare,
    /// Share of the rate of the device that leads to the server.
    NetworkLinkUsed,
    /// What a stream gives beside others, of what it gives alone.
    ShareOfAlone,
    /// These shares of all streams of a set together: 1 where one thing that all share is full.
    SumOfShares,
}

impl EvidenceName {
    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EvidenceName::Iops => "iops",
            EvidenceName::MeanLatency => "mean_latency",
            EvidenceName::MeanInFlight => "mean_in_flight",
            EvidenceName::CpuPerIo => "cpu_per_io",
            EvidenceName::AtDevice => "at_device",
            EvidenceName::AllowedCpusBusy => "allowed_cpus_busy",
            EvidenceName::OwnShareOfBusy => "own_share_of_busy",
            EvidenceName::CpuBusy { .. } => "cpu_busy",
            EvidenceName::CpuInterrupts { .. } => "cpu_interrupts",
            EvidenceName::KernelThreadsBusy => "kernel_threads_busy",
            EvidenceName::AllocatedShare => "allocated_share",
            EvidenceName::WorkersBusy => "workers_busy",
            EvidenceName::WorkersWaited => "workers_waited",
            EvidenceName::CpuTaken => "cpu_taken",
            EvidenceName::GainOfThreads { .. } => "gain_of_threads",
            EvidenceName::GainOfDepth { .. } => "gain_of_depth",
            EvidenceName::GrowthOfDepth { .. } => "growth_of_depth",
            EvidenceName::GainOfRepeat { .. } => "gain_of_repeat",
            EvidenceName::GainPerTarget { .. } => "gain_per_target",
            EvidenceName::BytesAtDevice => "bytes_at_device",
            EvidenceName::PageCacheBytes => "page_cache_bytes",
            EvidenceName::IntendedRate => "intended_rate",
            EvidenceName::AllowedRate => "allowed_rate",
            EvidenceName::IntervalSpread => "interval_spread",
            EvidenceName::ExpectedIntervalSpread => "expected_interval_spread",
            EvidenceName::LatencyOverDevice => "latency_over_device",
            EvidenceName::Ceiling => "ceiling",
            EvidenceName::CeilingUsed => "ceiling_used",
            EvidenceName::RatedOverLink => "rated_over_link",
            EvidenceName::ArrayCeiling => "array_ceiling",
            EvidenceName::MemberIosPerWrite => "member_ios_per_write",
            EvidenceName::MemberReads => "member_reads",
            EvidenceName::NetworkWay => "network_way",
            EvidenceName::RpcRoundTrip => "rpc_round_trip",
            EvidenceName::RpcExecute => "rpc_execute",
            EvidenceName::RpcSentAgain => "rpc_sent_again",
            EvidenceName::NetworkShare => "network_share",
            EvidenceName::ServerShare => "server_share",
            EvidenceName::ClientShare => "client_share",
            EvidenceName::NetworkLinkUsed => "network_link_used",
            EvidenceName::ShareOfAlone => "share_of_alone",
            EvidenceName::SumOfShares => "sum_of_shares",
        }
    }

    /// What the number is, for people.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            EvidenceName::Iops => msg!("evidence-iops"),
            EvidenceName::MeanLatency => msg!("evidence-mean-latency"),
            EvidenceName::MeanInFlight => msg!("evidence-mean-in-flight"),
            EvidenceName::CpuPerIo => msg!("evidence-cpu-per-io"),
            EvidenceName::AtDevice => msg!("evidence-at-device"),
            EvidenceName::AllowedCpusBusy => msg!("evidence-allowed-cpus-busy"),
            EvidenceName::OwnShareOfBusy => msg!("evidence-own-share-of-busy"),
            EvidenceName::CpuBusy { cpu } => msg!("evidence-cpu-busy", cpu = cpu),
            EvidenceName::CpuInterrupts { cpu } => msg!("evidence-cpu-interrupts", cpu = cpu),
            EvidenceName::KernelThreadsBusy => msg!("evidence-kernel-threads-busy"),
            EvidenceName::AllocatedShare => msg!("evidence-allocated-share"),
            EvidenceName::WorkersBusy => msg!("evidence-workers-busy"),
            EvidenceName::WorkersWaited => msg!("evidence-workers-waited"),
            EvidenceName::CpuTaken => msg!("evidence-cpu-taken"),
            EvidenceName::GainOfThreads { threads } => msg!("evidence-gain-of-threads", threads = threads),
            EvidenceName::GainOfDepth { in_flight } => msg!("evidence-gain-of-depth", in_flight = in_flight),
            EvidenceName::GrowthOfDepth { in_flight } => msg!("evidence-growth-of-depth", in_flight = in_flight),
            EvidenceName::GainOfRepeat { in_flight } => msg!("evidence-gain-of-repeat", in_flight = in_flight),
            EvidenceName::GainPerTarget { targets } => msg!("evidence-gain-per-target", targets = targets),
            EvidenceName::BytesAtDevice => msg!("evidence-bytes-at-device"),
            EvidenceName::PageCacheBytes => msg!("evidence-page-cache-bytes"),
            EvidenceName::IntendedRate => msg!("evidence-intended-rate"),
            EvidenceName::AllowedRate => msg!("evidence-allowed-rate"),
            EvidenceName::IntervalSpread => msg!("evidence-interval-spread"),
            EvidenceName::ExpectedIntervalSpread => msg!("evidence-expected-interval-spread"),
            EvidenceName::LatencyOverDevice => msg!("evidence-latency-over-device"),
            EvidenceName::Ceiling => msg!("evidence-ceiling"),
            EvidenceName::CeilingUsed => msg!("evidence-ceiling-used"),
            EvidenceName::RatedOverLink => msg!("evidence-rated-over-link"),
            EvidenceName::ArrayCeiling => msg!("evidence-array-ceiling"),
            EvidenceName::MemberIosPerWrite => msg!("evidence-member-ios-per-write"),
            EvidenceName::MemberReads => msg!("evidence-member-reads"),
            EvidenceName::NetworkWay => msg!("evidence-network-way"),
            EvidenceName::RpcRoundTrip => msg!("evidence-rpc-round-trip"),
            EvidenceName::RpcExecute => msg!("evidence-rpc-execute"),
            EvidenceName::RpcSentAgain => msg!("evidence-rpc-sent-again"),
            EvidenceName::NetworkShare => msg!("evidence-network-share"),
            EvidenceName::ServerShare => msg!("evidence-server-share"),
            EvidenceName::ClientShare => msg!("evidence-client-share"),
            EvidenceName::NetworkLinkUsed => msg!("evidence-network-link-used"),
            EvidenceName::ShareOfAlone => msg!("evidence-share-of-alone"),
            EvidenceName::SumOfShares => msg!("evidence-sum-of-shares"),
        }
    }
}

/// A number behind the claim. In JSON: `name`, what belongs to it, `value`, `unit` and, where there is one, `ci95`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was counted or computed.
    #[serde(flatten)]
    pub name: EvidenceName,
    /// How much, of what.
    #[serde(flatten)]
    pub quantity: Quantity,
}

impl Evidence {
    pub(super) fn new(name: EvidenceName, quantity: Quantity) -> Evidence {
        Evidence { name, quantity }
    }
}

/// What every limit shows.
pub(super) fn base_evidence(this: &Observation) -> Vec<Evidence> {
    let mut out = vec![Evidence::new(EvidenceName::Iops, Quantity::iops(this.iops()))];
    if let Some(lat_ns) = this.mean_lat_ns {
        out.push(Evidence::new(EvidenceName::MeanLatency, Quantity::ns(lat_ns)));
    }
    if let Some(n) = this.in_flight_mean {
        out.push(Evidence::new(EvidenceName::MeanInFlight, Quantity::new(n, Unit::Count)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_flat_in_json_under_its_word_and_comes_back() {
        let gain = Quantity::times(1.8).with_ci95(Some([1.7, 1.9]));
        let evidence = Evidence::new(EvidenceName::GainOfThreads { threads: 8 }, gain);
        let json = serde_json::to_value(evidence).expect("serializes");
        let expected = serde_json::json!({
            "name": "gain_of_threads", "threads": 8, "value": 1.8, "unit": "times", "ci95": [1.7, 1.9]
        });
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Evidence>(json).expect("reads"), evidence);
        let plain = serde_json::to_value(Evidence::new(EvidenceName::AllowedRate, Quantity::bytes_per_s(1e9)));
        let expected = serde_json::json!({ "name": "allowed_rate", "value": 1e9, "unit": "bytes_per_s" });
        assert_eq!(plain.expect("serializes"), expected);
    }

    #[test]
    fn words_of_the_contract_are_those_of_the_json() {
        let (cpu, threads, in_flight, targets) = (3, 8, 64, 2);
        let all = [
            EvidenceName::Iops,
            EvidenceName::MeanLatency,
            EvidenceName::MeanInFlight,
            EvidenceName::CpuPerIo,
            EvidenceName::AtDevice,
            EvidenceName::AllowedCpusBusy,
            EvidenceName::OwnShareOfBusy,
            EvidenceName::CpuBusy { cpu },
            EvidenceName::CpuInterrupts { cpu },
            EvidenceName::KernelThreadsBusy,
            EvidenceName::AllocatedShare,
            EvidenceName::WorkersBusy,
            EvidenceName::WorkersWaited,
            EvidenceName::CpuTaken,
            EvidenceName::GainOfThreads { threads },
            EvidenceName::GainOfDepth { in_flight },
            EvidenceName::GrowthOfDepth { in_flight },
            EvidenceName::GainOfRepeat { in_flight },
            EvidenceName::GainPerTarget { targets },
            EvidenceName::BytesAtDevice,
            EvidenceName::PageCacheBytes,
            EvidenceName::IntendedRate,
            EvidenceName::AllowedRate,
            EvidenceName::IntervalSpread,
            EvidenceName::ExpectedIntervalSpread,
            EvidenceName::LatencyOverDevice,
            EvidenceName::Ceiling,
            EvidenceName::CeilingUsed,
            EvidenceName::RatedOverLink,
            EvidenceName::ArrayCeiling,
            EvidenceName::MemberIosPerWrite,
            EvidenceName::MemberReads,
            EvidenceName::NetworkWay,
            EvidenceName::RpcRoundTrip,
            EvidenceName::RpcExecute,
            EvidenceName::RpcSentAgain,
            EvidenceName::NetworkShare,
            EvidenceName::ServerShare,
            EvidenceName::ClientShare,
            EvidenceName::NetworkLinkUsed,
            EvidenceName::ShareOfAlone,
            EvidenceName::SumOfShares,
        ];
        for name in all {
            assert_eq!(serde_json::to_value(name).expect("serializes")["name"], name.as_str());
        }
    }
}
