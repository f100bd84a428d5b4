//! `/proc/self/mountstats`: what NFS clients count of their calls (net/sunrpc/stats.c, fs/nfs/super.c of the kernel).

use fathom_record::RpcDelta;

use crate::mount::unescape;

/// Nanoseconds of the unit that the kernel counts these times in.
const MS: u64 = 1_000_000;

/// Counters of one mount since it was mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MountCounters {
    /// Sums, kind by kind; also those of which there was none.
    pub(super) rpcs: Vec<RpcDelta>,
    /// Times that a connection was made, over all transports.
    pub(super) connects: u64,
}

/// The counters of the file system at `mount_point`; `None` where the text has none. Of several mounts at one place the
/// last hides the others.
pub(super) fn parse(text: &str, mount_point: &str) -> Option<MountCounters> {
    let mut found = None;
    let mut is_in = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            is_in = mounted_on(rest).is_some_and(|point| point == mount_point);
            if is_in {
                // A mount of another kind has this line alone.
                found = rest.contains(" statvers=").then(MountCounters::default);
            }
        } else if let Some(counters) = found.as_mut().filter(|_| is_in) {
            take_line(counters, line.trim());
        }
    }
    found
}

/// `SERVER:/PATH mounted on /mnt with fstype nfs4 statvers=1.1`: blanks in names are escaped.
fn mounted_on(rest: &str) -> Option<String> {
    let words: Vec<&str> = rest.split(' ').collect();
    let at = words.windows(2).position(|pair| pair == ["mounted", "on"])?;
    words.get(at + 2).map(|point| unescape(point))
}

fn take_line(counters: &mut MountCounters, line: &str) {
    let Some((name, numbers)) = line.split_once(':') else { return };
    if name == "xprt" {
        // `tcp PORT BINDS CONNECTS ...`; UDP connects to nobody.
        let mut words = numbers.split_whitespace();
        let is_connected = words.next().is_some_and(|kind| matches!(kind, "tcp" | "rdma"));
        let connects = words.nth(2).filter(|_| is_connected).and_then(|number| number.parse::<u64>().ok());
        counters.connects = counters.connects.saturating_add(connects.unwrap_or(0));
        return;
    }
    // Operations alone are in capitals; older kernels count no errors behind the eight times and bytes.
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') {
        return;
    }
    let numbers: Result<Vec<u64>, _> = numbers.split_whitespace().map(str::parse).collect();
    let Ok([calls, transmissions, timeouts, sent_bytes, received_bytes, queue, round_trip, execute, ..]) =
        numbers.as_deref()
    else {
        return;
    };
    counters.rpcs.push(RpcDelta {
        name: name.to_owned(),
        calls: *calls,
        transmissions: *transmissions,
        timeouts: *timeouts,
        sent_bytes: *sent_bytes,
        received_bytes: *received_bytes,
        queue_ns: queue.saturating_mul(MS),
        round_trip_ns: round_trip.saturating_mul(MS),
        execute_ns: execute.saturating_mul(MS),
    });
}

impl MountCounters {
    /// What was counted since `first`, kind by kind where there was any. Counters of a mount that was made anew meanwhile
    /// began at zero.
    pub(super) fn since(&self, first: &MountCounters) -> (Vec<RpcDelta>, u64) {
        let changed = self.rpcs.iter().filter_map(|now| {
            let before = first.rpcs.iter().find(|rpc| rpc.name == now.name).cloned().unwrap_or_default();
            let less = |of: fn(&RpcDelta) -> u64| of(now).checked_sub(of(&before)).unwrap_or(of(now));
            let delta = RpcDelta {
                name: now.name.clone(),
                calls: less(|rpc| rpc.calls),
                transmissions: less(|rpc| rpc.transmissions),
                timeouts: less(|rpc| rpc.timeouts),
                sent_bytes: less(|rpc| rpc.sent_bytes),
                received_bytes: less(|rpc| rpc.received_bytes),
                queue_ns: less(|rpc| rpc.queue_ns),
                round_trip_ns: less(|rpc| rpc.round_trip_ns),
                execute_ns: less(|rpc| rpc.execute_ns),
            };
            (delta.calls > 0 || delta.transmissions > 0).then_some(delta)
        });
        (changed.collect(), self.connects.checked_sub(first.connects).unwrap_or(self.connects))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Linux 6.1 prints it, two transports on the second mount; the last line of the operations as kernels before 5.3.
    const TEXT: &str = "device rootfs mounted on / with fstype rootfs\n\
        device /dev/vda mounted on / with fstype ext4\n\
        device 10.0.0.1:/export mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n\
        \topts:\trw,vers=4.2,rsize=262144,wsize=262144,namlen=255,hard,proto=tcp,timeo=600,retrans=2,addr=10.0.0.1\n\
        \tage:\t57\n\
        \timpl_id:\tname='',domain='',date='0,0'\n\
        \tcaps:\tcaps=0xfffbc0b7,wtmult=512,dtsize=262144,bsize=0,namlen=255\n\
        \tnfsv4:\tbm0=0xfdffafff,bm1=0xf9be3e,bm2=0x60800,acl=0x3,sessions,pnfs=not configured,lease_time=90\n\
        \tsec:\tflavor=1,pseudoflavor=1\n\
        \tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 \n\
        \tbytes:\t0 0 4096000 0 4096000 0 0 0 \n\
        \tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
        \txprt:\ttcp 0 0 2 0 11 1034 1033 0 2090 0 2 17 1022\n\
        \txprt:\ttcp 0 0 1 0 11 4 4 0 4 0 2 0 0\n\
        \tper-op statistics\n\
        \t        NULL: 1 1 0 44 24 0 5 5 0\n\
        \t        READ: 1000 1003 2 208000 4196000 12 5500 5600 0\n\
        \t       WRITE: 0 0 0 0 0 0 0 0 0\n\
        \t READ_PLUS: 3 3 0 30 40 0 15 15\n\
        device proc mounted on /proc with fstype proc\n";

    #[test]
    fn counters_are_those_of_the_mount() {
        let counters = parse(TEXT, "/mnt/a b").expect("found");
        assert_eq!(counters.connects, 3);
        let names: Vec<&str> = counters.rpcs.iter().map(|rpc| rpc.name.as_str()).collect();
        assert_eq!(names, ["NULL", "READ", "WRITE", "READ_PLUS"]);
        let read = &counters.rpcs[1];
        assert_eq!((read.calls, read.retransmissions(), read.timeouts), (1000, 3, 2));
        assert_eq!((read.sent_bytes, read.received_bytes), (208_000, 4_196_000));
        assert_eq!((read.queue_ns, read.round_trip_ns, read.execute_ns), (12 * MS, 5500 * MS, 5600 * MS));
        assert_eq!((parse(TEXT, "/"), parse(TEXT, "/mnt")), (None, None));
        // What nobody called for is no part of a difference.
        let (changed, connects) = counters.since(&MountCounters::default());
        assert_eq!((changed.len(), connects), (3, 3));
    }

    #[test]
    fn a_mount_that_was_made_anew_counts_from_zero() {
        let first = parse(TEXT, "/mnt/a b").expect("found");
        let mut now = first.clone();
        now.rpcs[1].calls = 5;
        assert_eq!(now.since(&first).0[0].calls, 5);
    }

    fn printed(rpcs: &[RpcDelta]) -> String {
        let line = |rpc: &RpcDelta| {
            let RpcDelta { name, calls, transmissions, timeouts, sent_bytes, received_bytes, .. } = rpc;
            let times = [rpc.queue_ns / MS, rpc.round_trip_ns / MS, rpc.execute_ns / MS].map(|ms| ms.to_string());
            let times = times.join(" ");
            format!("\t{name:>12}: {calls} {transmissions} {timeouts} {sent_bytes} {received_bytes} {times} 0\n")
        };
        let head = "device s:/x mounted on /m with fstype nfs statvers=1.1\n\tper-op statistics\n";
        head.to_owned() + &rpcs.iter().map(line).collect::<String>()
    }

    fn rpc() -> impl Strategy<Value = RpcDelta> {
        ("[A-Z][A-Z_]{2,10}", proptest::array::uniform8(0u64..1 << 40)).prop_map(|(name, n)| RpcDelta {
            name,
            calls: n[0],
            transmissions: n[1],
            timeouts: n[2],
            sent_bytes: n[3],
            received_bytes: n[4],
            queue_ns: n[5] * 1000 / MS * MS,
            round_trip_ns: n[6] * 1000 / MS * MS,
            execute_ns: n[7] * 1000 / MS * MS,
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read(rpcs in proptest::collection::vec(rpc(), 0..8)) {
            prop_assert_eq!(parse(&printed(&rpcs), "/m").expect("found").rpcs, rpcs);
        }

        #[test]
        fn no_text_is_too_odd(text in "[device /mounted on nfs statvers=A-Z0-9:\\t\\n\\\\]{0,200}", point in "/[a-z]{0,3}") {
            let _ = parse(&text, &point);
        }
    }
}
