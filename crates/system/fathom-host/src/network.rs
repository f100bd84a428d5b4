//! File systems whose files lie on other hosts: which mounts are some, where their server is and which device leads there.

mod mountstats;
mod route;
mod watch;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use fathom_record::NetworkKind;
use serde::{Deserialize, Serialize};

use crate::mount::Mount;
use crate::root::{Root, attribute};
pub(crate) use watch::NetworkWatch;

/// What a mount of a network file system says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkMount {
    /// What it is.
    pub kind: NetworkKind,
    /// The server as the mount names it: a host's name or address. Empty where the mount has none.
    pub server: String,
    /// Its address, where the mount says it or the name is one.
    pub address: Option<IpAddr>,
    /// TCP port of its service; `None`: it has no one port, or is reached in another way.
    pub port: Option<u16>,
}

impl NetworkMount {
    /// What `mount` says; `None` for a file system of this host.
    #[must_use]
    pub fn of(mount: &Mount) -> Option<NetworkMount> {
        let kind = NetworkKind::of_type(&mount.fs_type)?;
        let option = |key: &str| {
            mount.options.split(',').find_map(|option| option.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
        };
        let server = server_of(kind, &mount.source);
        // NFS and SMB say which address their names became.
        let address = option("addr").unwrap_or_else(|| server.clone()).parse().ok();
        let is_tcp = option("proto").is_none_or(|proto| proto.starts_with("tcp"));
        let said = option("port").and_then(|port| port.parse().ok()).filter(|port| *port != 0);
        let port = said.or(usual_port(kind)).filter(|_| is_tcp && !server.is_empty());
        Some(NetworkMount { kind, server, address, port })
    }

    /// Where to connect to. Asks the host's resolver for a name that the mount gives no address of.
    pub(crate) fn socket(&self) -> Option<SocketAddr> {
        let port = self.port?;
        match self.address {
            Some(address) => Some(SocketAddr::new(address, port)),
            None => (self.server.as_str(), port).to_socket_addrs().ok()?.next(),
        }
    }
}

/// `server:/path`, `[fe80::1]:/path`, `//server/share`, `user@server:`, `10.0.0.1@tcp:/fs`.
fn server_of(kind: NetworkKind, source: &str) -> String {
    let host = match kind {
        NetworkKind::Smb => source.trim_start_matches('/').split('/').next().unwrap_or(""),
        NetworkKind::Sshfs => host_before_path(source.rsplit_once('@').map_or(source, |(_, host)| host)),
        NetworkKind::Lustre => source.split(['@', ':', ',']).next().unwrap_or(""),
        NetworkKind::Nfs | NetworkKind::Ceph | NetworkKind::Gluster | NetworkKind::Orangefs => {
            // Several monitors or servers may be named: the first stands for all.
            host_before_path(source).split(',').next().unwrap_or("")
        }
        NetworkKind::Gpfs | NetworkKind::Beegfs | NetworkKind::NineP => "",
    };
    host.trim_matches(['[', ']']).to_owned()
}

/// What stands before the colon of a path; addresses of IPv6 are in brackets.
fn host_before_path(source: &str) -> &str {
    if source.starts_with('[') {
        return source.split_once(']').map_or("", |(host, _)| host);
    }
    source.split_once(':').map_or("", |(host, _)| host)
}

fn usual_port(kind: NetworkKind) -> Option<u16> {
    match kind {
        NetworkKind::Nfs => Some(2049),
        NetworkKind::Smb => Some(445),
        NetworkKind::Sshfs => Some(22),
        NetworkKind::Ceph => Some(6789),
        NetworkKind::Gluster => Some(24_007),
        NetworkKind::Lustre => Some(988),
        NetworkKind::Orangefs => Some(3334),
        NetworkKind::Gpfs | NetworkKind::Beegfs | NetworkKind::NineP => None,
    }
}

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkLink {
    /// Kernel name.
    pub device: String,
    /// Bits per second in each direction, as its driver says; `None`: it does not, as in most guests.
    pub bits_per_s: Option<u64>,
    /// Bytes that fit in a frame.
    pub mtu_bytes: Option<u64>,
}

/// The device that leads to `address`; `None` where the routes do not tell.
#[must_use]
pub fn network_link(root: &Root, address: IpAddr) -> Option<NetworkLink> {
    let device = route::device_to(root, address)?;
    let home = root.join(format!("sys/class/net/{device}"));
    // Unknown speeds are -1.
    let megabits = attribute(&home.join("speed")).and_then(|text| text.parse::<u64>().ok()).filter(|n| *n > 0);
    Some(NetworkLink {
        bits_per_s: megabits.map(|n| n.saturating_mul(1_000_000)),
        mtu_bytes: attribute(&home.join("mtu")).and_then(|text| text.parse().ok()),
        device,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    fn mount(fs_type: &str, source: &str, options: &str) -> Mount {
        Mount {
            mount_point: "/mnt".into(),
            fs_type: fs_type.to_owned(),
            source: source.to_owned(),
            device_number: "0:50".to_owned(),
            options: options.to_owned(),
            read_only: false,
        }
    }

    fn said(fs_type: &str, source: &str, options: &str) -> (String, Option<String>, Option<u16>) {
        let NetworkMount { server, address, port, .. } =
            NetworkMount::of(&mount(fs_type, source, options)).expect("a network file system");
        (server, address.map(|a| a.to_string()), port)
    }

    #[test]
    fn a_mount_names_its_server() {
        let is = |server: &str, address: Option<&str>, port| (server.to_owned(), address.map(str::to_owned), port);
        let cases = [
            (
                said("nfs4", "nas:/export", "rw,vers=4.2,proto=tcp,addr=10.0.0.7"),
                is("nas", Some("10.0.0.7"), Some(2049)),
            ),
            (said("nfs", "10.0.0.7:/e", "rw,proto=tcp,port=20049"), is("10.0.0.7", Some("10.0.0.7"), Some(20_049))),
            (said("nfs4", "[fd00::1]:/e", "rw,port=0"), is("fd00::1", Some("fd00::1"), Some(2049))),
            (said("nfs4", "nas:/e", "rw,proto=rdma,addr=10.0.0.7"), is("nas", Some("10.0.0.7"), None)),
            (said("cifs", "//nas/share", "rw,addr=10.0.0.7"), is("nas", Some("10.0.0.7"), Some(445))),
            (said("fuse.sshfs", "me@nas:/data", "rw"), is("nas", None, Some(22))),
            (said("fuse.sshfs", "nas:", "rw"), is("nas", None, Some(22))),
            (said("ceph", "10.0.0.1:6789,10.0.0.2:6789:/", "rw"), is("10.0.0.1", Some("10.0.0.1"), Some(6789))),
            (said("lustre", "10.0.0.1@tcp:/scratch", "rw"), is("10.0.0.1", Some("10.0.0.1"), Some(988))),
            (said("gpfs", "/dev/gpfs0", "rw"), is("", None, None)),
            (said("9p", "share", "rw,trans=virtio"), is("", None, None)),
        ];
        for (said, expected) in cases {
            assert_eq!(said, expected);
        }
        assert_eq!(NetworkMount::of(&mount("xfs", "/dev/sda1", "rw")), None);
    }

    #[test]
    fn a_link_is_described_and_an_unknown_speed_is_none() {
        let tree = Tree::new();
        let routes = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
            eth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        tree.file("proc/net/route", routes)
            .file("sys/class/net/eth1/speed", "25000\n")
            .file("sys/class/net/eth1/mtu", "9000\n");
        let link = |root: &Root| network_link(root, "10.0.0.7".parse().expect("an address"));
        let found = link(&tree.root()).expect("a route");
        assert_eq!(
            (found.device.as_str(), found.bits_per_s, found.mtu_bytes),
            ("eth1", Some(25_000_000_000), Some(9000))
        );
        tree.file("sys/class/net/eth1/speed", "-1\n");
        assert_eq!(link(&tree.root()).expect("a route").bits_per_s, None);
    }
}
