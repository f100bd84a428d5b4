//! Files on other hosts: how the time of an I/O divides among this host, the way to the server and the server itself. Where
//! most of it goes is what holds the load: what waits, waits in front of the part that is full.

use fathom_message::Quantity;
use fathom_record::{NetworkDelta, RpcDelta};

use super::cause::{Cause, UnknownReason};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::{LimitName, Observation};

/// A link that carries this share of its rate is full: headers, and pauses between frames, are not counted as bytes.
const LINK_FULL: f64 = 0.9;

/// Mean times of an I/O, or of a call to the server.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// All of it.
    total_ns: f64,
    /// On the network, there and back.
    network_ns: f64,
    /// At the server; `None`: not told apart from this host.
    server_ns: Option<f64>,
}

/// The limit of a step whose files are on another host; `None` for others, and where nothing tells. `on_host`: what holds it
/// by the counters of this host.
pub(super) fn limit(this: &Observation, on_host: impl FnOnce() -> Option<Limit>) -> Option<Limit> {
    let host = this.host.as_ref()?;
    let mounts = &host.network;
    if mounts.is_empty() {
        return None;
    }
    let mut evidence = base_evidence(this);
    let calls = mounts.iter().filter_map(NetworkDelta::data_calls).reduce(|sum, calls| sum.plus(&calls));
    let way_ns = way_ns(mounts);
    evidence.extend(numbers(way_ns, calls.as_ref()));
    if let Some((device, share)) = full_link(mounts, host.window_ns) {
        evidence.push(Evidence::new(EvidenceName::NetworkLinkUsed, Quantity::share(share)));
        return Some(Limit::found(Cause::NetworkLink { device, share }, false, evidence));
    }
    let times = times(this, way_ns?, calls.as_ref(), mounts)?;
    let share = |ns: f64| ns / times.total_ns.max(1.0);
    let network = share(times.network_ns);
    evidence.push(Evidence::new(EvidenceName::NetworkShare, Quantity::share(network)));
    let Some(server_ns) = times.server_ns else {
        let cause = Cause::Network { way_ns: times.network_ns, total_ns: times.total_ns, share: network };
        let reason = UnknownReason::ServerOrClient { share: 1.0 - network };
        return Some(match network >= 0.5 {
            true => Limit::probable(cause, network, evidence),
            false => on_host().filter(is_of_cpus).unwrap_or_else(|| Limit::unknown(reason, evidence)),
        });
    };
    let server = share(server_ns);
    let client_ns = (times.total_ns - times.network_ns - server_ns).max(0.0);
    let client = share(client_ns);
    evidence.push(Evidence::new(EvidenceName::ServerShare, Quantity::share(server)));
    evidence.push(Evidence::new(EvidenceName::ClientShare, Quantity::share(client)));
    let total_ns = times.total_ns;
    Some(if network >= server.max(client) {
        Limit::probable(Cause::Network { way_ns: times.network_ns, total_ns, share: network }, network, evidence)
    } else if server >= client {
        Limit::probable(Cause::Server { server_ns, total_ns, share: server }, server, evidence)
    } else {
        // What the client waits for may be its CPUs.
        on_host()
            .filter(is_of_cpus)
            .unwrap_or_else(|| Limit::probable(Cause::Client { client_ns, total_ns, share: client }, client, evidence))
    })
}

fn is_of_cpus(limit: &Limit) -> bool {
    matches!(limit.name, LimitName::Core | LimitName::AllCores | LimitName::IrqCore | LimitName::KernelThread)
}

/// What the way takes, over all mounts whose server answered.
fn way_ns(mounts: &[NetworkDelta]) -> Option<f64> {
    let trips = mounts.iter().filter_map(|mount| mount.round_trips.filter(|trips| trips.count > 0));
    let (n, ns) = trips.fold((0.0, 0.0), |(n, ns), trips| (n + 1.0, ns + trips.median_ns as f64));
    (n > 0.0).then(|| ns / n)
}

fn times(this: &Observation, way_ns: f64, calls: Option<&RpcDelta>, mounts: &[NetworkDelta]) -> Option<Times> {
    let lat_ns = this.mean_lat_ns.filter(|_| this.step.workload.direct);
    let Some(calls) = calls else {
        // What the page cache takes, goes to the server at another time.
        let total_ns = lat_ns?;
        return Some(Times { total_ns, network_ns: way_ns.min(total_ns), server_ns: None });
    };
    let mean = |sum: u64| sum as f64 / calls.calls as f64;
    let round_trip_ns = mean(calls.round_trip_ns);
    let total_ns = lat_ns.unwrap_or(0.0).max(mean(calls.execute_ns)).max(round_trip_ns);
    let bits = 8.0 * mean(calls.sent_bytes.max(calls.received_bytes));
    let slowest = mounts.iter().filter_map(|mount| mount.link.as_ref()?.bits_per_s).min();
    let transfer_ns = slowest.map_or(0.0, |bits_per_s| bits * 1e9 / bits_per_s as f64);
    let network_ns = (way_ns + transfer_ns).min(round_trip_ns);
    Some(Times { total_ns, network_ns, server_ns: Some(round_trip_ns - network_ns) })
}

/// The device that carries all it can, in the direction that is fuller, and its share.
fn full_link(mounts: &[NetworkDelta], window_ns: u64) -> Option<(String, f64)> {
    let links = mounts.iter().filter_map(|mount| mount.link.as_ref());
    let used = links.filter_map(|link| {
        let bits = 8.0 * link.received_bytes.max(link.sent_bytes) as f64;
        let share = bits * 1e9 / window_ns.max(1) as f64 / link.bits_per_s? as f64;
        Some((link.device.clone(), share))
    });
    used.filter(|(_, share)| *share >= LINK_FULL).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn numbers(way_ns: Option<f64>, calls: Option<&RpcDelta>) -> Vec<Evidence> {
    let mut out = Vec::new();
    out.extend(way_ns.map(|ns| Evidence::new(EvidenceName::NetworkWay, Quantity::ns(ns))));
    if let Some(calls) = calls {
        let mean = |sum: u64| sum as f64 / calls.calls as f64;
        out.push(Evidence::new(EvidenceName::RpcRoundTrip, Quantity::ns(mean(calls.round_trip_ns))));
        out.push(Evidence::new(EvidenceName::RpcExecute, Quantity::ns(mean(calls.execute_ns))));
        out.push(Evidence::new(EvidenceName::RpcSentAgain, Quantity::share(mean(calls.retransmissions()))));
    }
    out
}
