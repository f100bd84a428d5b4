//! Watches the network file systems behind the targets of a step. Opening a connection may take seconds where a packet is
//! lost, so that a thread of its own does it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fathom_record::{NetworkDelta, NetworkLinkDelta, RoundTrips};

use super::mountstats::{self, MountCounters};
use super::{NetworkLink, NetworkMount, network_link};
use crate::mount::Mount;
use crate::root::{Root, attribute};

/// Between two connections: what they cost the server is nothing beside any load.
const PERIOD: Duration = Duration::from_secs(1);
/// How long one may take. A first packet that is lost is sent again after a second.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mount that is watched.
struct Watched {
    mount_point: String,
    network: NetworkMount,
    socket: Option<SocketAddr>,
    link: Option<NetworkLink>,
    first: Counters,
}

/// What is counted of a mount, and of the host.
#[derive(Clone, Debug, Default)]
struct Counters {
    rpcs: Option<MountCounters>,
    /// Bytes received and sent by the device.
    link_bytes: Option<[u64; 2]>,
    tcp_retransmissions: Option<u64>,
}

/// How long each connection took, by the number of its mount; `None`: it was not made.
type Trips = Arc<Mutex<Vec<(usize, Option<u64>)>>>;

/// The watch over all of them.
pub(crate) struct NetworkWatch {
    root: Root,
    watched: Vec<Watched>,
    trips: Trips,
    /// Dropping it ends the thread.
    running: Option<Sender<()>>,
}

impl NetworkWatch {
    /// Over those of `mounts` that are network file systems, each once.
    pub(crate) fn new(root: &Root, mounts: &[Mount]) -> NetworkWatch {
        let mut watched: Vec<Watched> = Vec::new();
        for mount in mounts {
            let mount_point = mount.mount_point.to_string_lossy().into_owned();
            let Some(network) = NetworkMount::of(mount) else { continue };
            if watched.iter().any(|known| known.mount_point == mount_point) {
                continue;
            }
            let socket = network.socket();
            let address = socket.map(|socket| socket.ip()).or(network.address);
            let link = address.and_then(|address| network_link(root, address));
            watched.push(Watched { mount_point, network, socket, link, first: Counters::default() });
        }
        NetworkWatch { root: root.clone(), watched, trips: Trips::default(), running: None }
    }

    /// Begins to open connections; forgets those of the step before.
    pub(crate) fn prepare(&mut self) {
        self.running = None;
        let sockets: Vec<(usize, SocketAddr)> =
            self.watched.iter().enumerate().filter_map(|(at, watched)| Some((at, watched.socket?))).collect();
        if sockets.is_empty() {
            return;
        }
        self.trips = Trips::default();
        let (stop, stopped) = channel::<()>();
        let trips = self.trips.clone();
        let spawned = thread::Builder::new().name("fathom-network".to_owned()).spawn(move || {
            loop {
                for (at, socket) in &sockets {
                    let begun = Instant::now();
                    let answer = TcpStream::connect_timeout(socket, PATIENCE);
                    // A refusal comes from the same kernel in the same time.
                    let made = answer.map_or_else(|error| error.kind() == ErrorKind::ConnectionRefused, |_| true);
                    let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    let trip = (*at, made.then_some(took));
                    trips.lock().unwrap_or_else(PoisonError::into_inner).push(trip);
                }
                if stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        // Without the thread it is not known what the way takes, and nothing is said of it.
        self.running = spawned.ok().map(|_| stop);
    }

    /// Takes the first reading.
    pub(crate) fn mark_start(&mut self) {
        for at in 0..self.watched.len() {
            self.watched[at].first = self.read(&self.watched[at]);
        }
    }

    /// Takes the last reading, and hands over the differences.
    pub(crate) fn finish(&mut self) -> Vec<NetworkDelta> {
        let last: Vec<Counters> = self.watched.iter().map(|watched| self.read(watched)).collect();
        self.running = None;
        let trips = std::mem::take(&mut *self.trips.lock().unwrap_or_else(PoisonError::into_inner));
        let delta = |(at, (watched, last)): (usize, (&Watched, Counters))| {
            let first = &watched.first;
            let rpcs = last.rpcs.as_ref().zip(first.rpcs.as_ref()).map(|(last, first)| last.since(first));
            let (rpcs, reconnects) = rpcs.map_or((Vec::new(), None), |(rpcs, connects)| (rpcs, Some(connects)));
            let bytes = last.link_bytes.zip(first.link_bytes);
            let link = watched.link.as_ref().zip(bytes).map(|(link, (last, first))| NetworkLinkDelta {
                device: link.device.clone(),
                bits_per_s: link.bits_per_s,
                received_bytes: last[0].saturating_sub(first[0]),
                sent_bytes: last[1].saturating_sub(first[1]),
            });
            let resent = last.tcp_retransmissions.zip(first.tcp_retransmissions);
            NetworkDelta {
                mount_point: watched.mount_point.clone(),
                kind: watched.network.kind,
                rpcs,
                reconnects,
                round_trips: watched.socket.map(|_| {
                    round_trips(&trips.iter().filter(|(of, _)| *of == at).map(|(_, took)| *took).collect::<Vec<_>>())
                }),
                link,
                tcp_retransmissions: resent.map(|(last, first)| last.saturating_sub(first)),
            }
        };
        self.watched.iter().zip(last).enumerate().map(delta).collect()
    }

    fn read(&self, watched: &Watched) -> Counters {
        let text = self.root.read("proc/self/mountstats").ok();
        let counter = |device: &str, name: &str| -> Option<u64> {
            attribute(&self.root.join(format!("sys/class/net/{device}/statistics/{name}")))?.parse().ok()
        };
        let link_bytes =
            |link: &NetworkLink| Some([counter(&link.device, "rx_bytes")?, counter(&link.device, "tx_bytes")?]);
        Counters {
            rpcs: text.and_then(|text| mountstats::parse(&text, &watched.mount_point)),
            link_bytes: watched.link.as_ref().and_then(link_bytes),
            tcp_retransmissions: self.root.read("proc/net/snmp").ok().and_then(|text| tcp_retransmissions(&text)),
        }
    }
}

/// `Tcp: NAMES` and `Tcp: NUMBERS`, of which one is `RetransSegs`.
fn tcp_retransmissions(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let at = lines.next()?.split_whitespace().position(|name| name == "RetransSegs")?;
    lines.next()?.split_whitespace().nth(at)?.parse().ok()
}

fn round_trips(trips: &[Option<u64>]) -> RoundTrips {
    let mut made: Vec<u64> = trips.iter().filter_map(|took| *took).collect();
    made.sort_unstable();
    RoundTrips {
        count: made.len() as u32,
        failed: (trips.len() - made.len()) as u32,
        min_ns: made.first().copied().unwrap_or(0),
        median_ns: made.get(made.len() / 2).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::root::tree::Tree;

    fn stats(reads: u64, round_trip_ms: u64) -> String {
        format!(
            "device 127.0.0.1:/e mounted on /mnt with fstype nfs4 statvers=1.1\n\txprt:\ttcp 0 0 1 0 1 9 9 0 9 0 2 0 0\n\
             \tper-op statistics\n\t        READ: {reads} {reads} 0 1 1 0 {round_trip_ms} {round_trip_ms} 0\n"
        )
    }

    fn snmp(resent: u64) -> String {
        format!("Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 {resent} 0\n")
    }

    #[test]
    fn a_step_is_the_difference_of_two_readings_and_the_way_is_measured() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a server");
        let port = server.local_addr().expect("bound").port();
        let tree = Tree::new();
        let device = |bytes: &str| {
            tree.file("sys/class/net/lo/statistics/rx_bytes", bytes)
                .file("sys/class/net/lo/statistics/tx_bytes", "5\n");
        };
        device("100\n");
        tree.file("proc/self/mountstats", stats(10, 50)).file("proc/net/snmp", snmp(3));
        let nfs = Mount {
            mount_point: "/mnt".into(),
            fs_type: "nfs4".to_owned(),
            source: "127.0.0.1:/e".to_owned(),
            device_number: "0:50".to_owned(),
            options: format!("rw,proto=tcp,port={port},addr=127.0.0.1"),
            read_only: false,
        };
        let local = Mount { fs_type: "ext4".to_owned(), mount_point: "/".into(), ..nfs.clone() };
        let mut watch = NetworkWatch::new(&tree.root(), &[local, nfs.clone(), nfs]);
        watch.prepare();
        watch.mark_start();
        // The thread opens its first connection at once.
        let begun = Instant::now();
        while watch.trips.lock().expect("whole").is_empty() && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        device("700\n");
        tree.file("proc/self/mountstats", stats(30, 150)).file("proc/net/snmp", snmp(4));
        let all = watch.finish();
        assert_eq!(all.len(), 1);
        let calls = all[0].data_calls().expect("reads");
        assert_eq!((calls.calls, calls.round_trip_ns), (20, 100_000_000));
        assert_eq!((all[0].reconnects, all[0].tcp_retransmissions), (Some(0), Some(1)));
        assert_eq!(all[0].link.as_ref().map(|link| (link.received_bytes, link.sent_bytes)), Some((600, 0)));
        let trips = all[0].round_trips.expect("a server is known");
        assert!(trips.count > 0 && trips.min_ns > 0 && trips.min_ns <= trips.median_ns, "{trips:?}");
    }

    #[test]
    fn a_server_that_does_not_answer_is_counted_as_such() {
        let trips = round_trips(&[None, Some(30), Some(10), Some(20)]);
        assert_eq!(trips, RoundTrips { count: 3, failed: 1, min_ns: 10, median_ns: 20 });
        assert_eq!(round_trips(&[None]), RoundTrips { failed: 1, ..RoundTrips::default() });
    }
}
