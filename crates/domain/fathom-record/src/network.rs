//! What a mounted network file system did while a step ran: what its client counts, and what the way to its server takes.

use serde::{Deserialize, Serialize};

/// A file system whose files lie on other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NetworkKind {
    /// NFS, all versions.
    Nfs,
    /// SMB, also as CIFS.
    Smb,
    /// A directory over ssh.
    Sshfs,
    /// Ceph, by the kernel or by FUSE.
    Ceph,
    /// Gluster.
    Gluster,
    /// Lustre.
    Lustre,
    /// Storage Scale, once GPFS.
    Gpfs,
    /// BeeGFS.
    Beegfs,
    /// OrangeFS.
    Orangefs,
    /// 9P: a host's directory in its guest, most of the time.
    #[serde(rename = "9p")]
    NineP,
}

impl NetworkKind {
    /// All of them.
    pub const ALL: [NetworkKind; 10] = [
        NetworkKind::Nfs,
        NetworkKind::Smb,
        NetworkKind::Sshfs,
        NetworkKind::Ceph,
        NetworkKind::Gluster,
        NetworkKind::Lustre,
        NetworkKind::Gpfs,
        NetworkKind::Beegfs,
        NetworkKind::Orangefs,
        NetworkKind::NineP,
    ];

    /// Of a file system's type, as the kernel names it in its mounts; `None` for one on this host.
    #[must_use]
    pub fn of_type(fs_type: &str) -> Option<NetworkKind> {
        Some(match fs_type {
            "nfs" | "nfs4" => NetworkKind::Nfs,
            "cifs" | "smb3" | "smbfs" => NetworkKind::Smb,
            "fuse.sshfs" => NetworkKind::Sshfs,
            "ceph" | "fuse.ceph" | "fuse.ceph-fuse" => NetworkKind::Ceph,
            "fuse.glusterfs" | "glusterfs" => NetworkKind::Gluster,
            "lustre" => NetworkKind::Lustre,
            "gpfs" => NetworkKind::Gpfs,
            "beegfs" | "beegfs_nodev" => NetworkKind::Beegfs,
            "pvfs2" => NetworkKind::Orangefs,
            "9p" => NetworkKind::NineP,
            _ => return None,
        })
    }

    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NetworkKind::Nfs => "nfs",
            NetworkKind::Smb => "smb",
            NetworkKind::Sshfs => "sshfs",
            NetworkKind::Ceph => "ceph",
            NetworkKind::Gluster => "gluster",
            NetworkKind::Lustre => "lustre",
            NetworkKind::Gpfs => "gpfs",
            NetworkKind::Beegfs => "beegfs",
            NetworkKind::Orangefs => "orangefs",
            NetworkKind::NineP => "9p",
        }
    }
}

/// Calls of one kind that a client made to its server over the window (NFS: `/proc/self/mountstats`). Times are sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RpcDelta {
    /// As the kernel names it: `READ`, `WRITE`, `COMMIT`.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Times that they were sent: what is above the calls was sent again.
    pub transmissions: u64,
    /// Major timeouts.
    pub timeouts: u64,
    /// Bytes sent, with headers.
    pub sent_bytes: u64,
    /// Bytes received, with headers.
    pub received_bytes: u64,
    /// Time that they waited in the client before they were sent.
    pub queue_ns: u64,
    /// Time from sending to the answer: network and server.
    pub round_trip_ns: u64,
    /// Time from the call to its end: all of it.
    pub execute_ns: u64,
}

impl RpcDelta {
    /// Times that one was sent again.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        self.transmissions.saturating_sub(self.calls)
    }

    /// Both as one, which has no name.
    #[must_use]
    pub fn plus(&self, other: &RpcDelta) -> RpcDelta {
        RpcDelta {
            name: String::new(),
            calls: self.calls + other.calls,
            transmissions: self.transmissions + other.transmissions,
            timeouts: self.timeouts + other.timeouts,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            received_bytes: self.received_bytes + other.received_bytes,
            queue_ns: self.queue_ns + other.queue_ns,
            round_trip_ns: self.round_trip_ns + other.round_trip_ns,
            execute_ns: self.execute_ns + other.execute_ns,
        }
    }
}

/// What the way to the server takes, without what the server does: TCP connections to its port, asked for by Fathom once a
/// second, which the server's kernel takes or refuses by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RoundTrips {
    /// How many were answered.
    pub count: u32,
    /// How many were not.
    pub failed: u32,
    /// The quickest.
    pub min_ns: u64,
    /// The median one.
    pub median_ns: u64,
}

/// The network device that leads to the server, over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NetworkLinkDelta {
    /// Kernel name.
    pub device: String,
    /// Bits per second in each direction, as its driver says; `None`: it does not.
    pub bits_per_s: Option<u64>,
    /// Bytes received, whoever they were for.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

/// A mounted network file system that targets lie on, over the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NetworkDelta {
    /// Where it is mounted.
    pub mount_point: String,
    /// What it is.
    pub kind: NetworkKind,
    /// Calls to the server, those that were made; empty where the client does not count them.
    pub rpcs: Vec<RpcDelta>,
    /// Times that the client had to connect again; `None`: not counted.
    pub reconnects: Option<u64>,
    /// What the way to the server takes; `None`: not known where the server is.
    pub round_trips: Option<RoundTrips>,
    /// The device that leads to it; `None`: not known.
    pub link: Option<NetworkLinkDelta>,
    /// TCP segments that this host sent again, whoever they were for; `None`: not counted.
    pub tcp_retransmissions: Option<u64>,
}

impl NetworkDelta {
    /// The calls that move data, as one: mean times per call are those of its sums.
    #[must_use]
    pub fn data_calls(&self) -> Option<RpcDelta> {
        let moves = |rpc: &&RpcDelta| matches!(rpc.name.as_str(), "READ" | "WRITE" | "COMMIT");
        let sum = self.rpcs.iter().filter(moves).cloned().reduce(|sum, rpc| sum.plus(&rpc));
        sum.filter(|sum| sum.calls > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_in_the_contract() {
        for kind in NetworkKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serializes"), kind.as_str());
        }
        assert_eq!(NetworkKind::of_type("nfs4"), Some(NetworkKind::Nfs));
        assert_eq!(NetworkKind::of_type("fuse.sshfs"), Some(NetworkKind::Sshfs));
        assert_eq!(NetworkKind::of_type("ext4"), None);
    }
}
