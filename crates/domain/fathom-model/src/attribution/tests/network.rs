//! Files on other hosts.

use fathom_record::{NetworkDelta, NetworkKind, NetworkLinkDelta, RoundTrips, RpcDelta};

use super::*;

const MS: u64 = 1_000_000;

/// A thousand reads of 10 ms each on a mount that counts them so: milliseconds in the client's queue, to the answer, and
/// the way there and back.
fn limit_of(rpc_ms: Option<(u64, u64)>, way_ms: Option<u64>, link: Option<(u64, u64)>, busy: f64) -> Limit {
    let (mut step, mut record) = observed(1, 10, 1000, busy);
    step.workload.direct = true;
    let rpc = |(queue, answer): (u64, u64)| RpcDelta {
        name: "READ".to_owned(),
        calls: 1000,
        transmissions: 1020,
        queue_ns: 1000 * queue * MS,
        round_trip_ns: 1000 * answer * MS,
        execute_ns: 1000 * (queue + answer) * MS,
        ..RpcDelta::default()
    };
    let trips = |ms| RoundTrips { count: 3, failed: 0, min_ns: ms * MS, median_ns: ms * MS };
    let host = record.host.as_mut().expect("has a host");
    host.disks.clear();
    host.network = vec![NetworkDelta {
        mount_point: "/mnt".to_owned(),
        kind: NetworkKind::Nfs,
        rpcs: rpc_ms.map(rpc).into_iter().collect(),
        reconnects: None,
        round_trips: way_ms.map(trips),
        link: link.map(|(bits_per_s, received_bytes)| NetworkLinkDelta {
            device: "eth0".to_owned(),
            bits_per_s: Some(bits_per_s),
            received_bytes,
            sent_bytes: 0,
        }),
        tcp_retransmissions: None,
    }];
    attribute(&with(&[(step, record)], 0.02), 0)
}

#[test]
fn the_part_where_most_of_the_time_goes_is_the_limit() {
    let network = limit_of(Some((1, 9)), Some(7), None, 0.1);
    assert_eq!((network.name, network.probability), (LimitName::Network, Some(0.7)));
    let said = english(&network.sentence());
    assert!(said.contains("the way to the server and back is 7.00 ms (70 %)"), "{said}");
    let share = |limit: &Limit, name| limit.evidence.iter().find(|e| e.name == name).map(|e| e.quantity.value);
    assert_eq!(share(&network, EvidenceName::ServerShare), Some(20.0));
    assert_eq!(share(&network, EvidenceName::RpcSentAgain), Some(2.0));
    let server = limit_of(Some((1, 9)), Some(1), None, 0.1);
    assert_eq!((server.name, server.probability), (LimitName::Server, Some(0.8)));
    let client = limit_of(Some((8, 2)), Some(1), None, 0.1);
    assert_eq!((client.name, client.probability), (LimitName::Client, Some(0.8)));
    assert!([&network, &server, &client].iter().all(|limit| !limit.would_help.is_empty()));
}

#[test]
fn a_client_whose_core_is_full_is_held_by_the_core() {
    assert_eq!(limit_of(Some((8, 2)), Some(1), None, 0.99).name, LimitName::Core);
}

#[test]
fn without_counts_of_the_client_only_the_network_is_told() {
    assert_eq!(limit_of(None, Some(8), None, 0.1).name, LimitName::Network);
    let other = limit_of(None, Some(1), None, 0.1);
    assert!(
        matches!(other.cause, Cause::Unknown(UnknownReason::ServerOrClient { share }) if share == 0.9),
        "{other:?}"
    );
}

#[test]
fn a_full_link_is_the_network_whatever_the_times() {
    let limit = limit_of(Some((8, 2)), Some(1), Some((1_000_000_000, 119_000_000)), 0.1);
    assert!(matches!(&limit.cause, Cause::NetworkLink { device, .. } if device == "eth0"), "{limit:?}");
    assert_eq!(limit_of(Some((8, 2)), Some(1), Some((10_000_000_000, 119_000_000)), 0.1).name, LimitName::Client);
}

#[test]
fn a_server_that_cannot_be_asked_leaves_it_to_the_host() {
    assert!(!matches!(limit_of(Some((1, 9)), None, None, 0.1).name, LimitName::Network | LimitName::Server));
}
