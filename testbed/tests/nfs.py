"""Files that the guest's own kernel serves over NFS and mounts over its loopback device: a server whose drive is known."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from bed import expect
from bed.guest import Guest
from bed.loads import checks_hold, io
from bed.machines import SIX_SLOW
from bed.suite import full, restored, timed

SERVED = "/mnt/served"
MOUNTED = "/mnt/nfs"
# Of linux/nfsd/export.h: any port, no check of the path to a file, and the root of NFSv4.
INSECURE_PORT, NO_SUBTREE_CHECK, IS_ROOT = 0x2, 0x400, 0x2000

# nfsd asks rpc.mountd through these files who may see what; here the answers are there before it asks. They never expire.
SERVE = rf"""
set -e
modprobe -a nfsd nfsv4
ifconfig lo 127.0.0.1 up
mkdir -p {SERVED} {MOUNTED}
/sbin/mke2fs -q -F -t ext4 DEVICE
mount -t ext4 DEVICE {SERVED}
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 > /proc/fs/nfsd/nfsv4leasetime
echo 10 > /proc/fs/nfsd/nfsv4gracetime
echo 'nfsd 127.0.0.1 2147483647 guest' > /proc/net/rpc/auth.unix.ip/channel
echo 'guest {SERVED} 2147483647 {INSECURE_PORT | NO_SUBTREE_CHECK | IS_ROOT} 65534 65534 0' > /proc/net/rpc/nfsd.export/channel
printf 'guest 1 \\x00000000 2147483647 {SERVED}\n' > /proc/net/rpc/nfsd.fh/channel
echo '-2 -3 +4' > /proc/fs/nfsd/versions
echo 4 > /proc/fs/nfsd/threads
mount -t nfs4 -o vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ {MOUNTED}
dd if=/dev/urandom of={SERVED}/file bs=1M count=16
sync
"""
END = f"umount -f {MOUNTED}; echo 0 > /proc/fs/nfsd/threads; umount /proc/fs/nfsd; umount {SERVED}"


@contextmanager
def served(guest: Guest, serial: str) -> Iterator[str]:
    """A file of 16 MiB on that drive, by its name over NFS."""
    guest.ok(SERVE.replace("DEVICE", guest.device(serial)), timeout_s=300)
    try:
        yield f"{MOUNTED}/file"
    finally:
        guest.run(END)


def calls(guest: Guest, name: str) -> int:
    """Calls of one kind since the mount, by the kernel."""
    text = guest.ok("cat /proc/self/mountstats")
    found = re.search(rf"^\s*{name}: (\d+) ", text[text.index(f"mounted on {MOUNTED} ") :], re.MULTILINE)
    assert found is not None, text
    return int(found[1])


def counted(step: dict, name: str) -> dict:
    """Calls of one kind in the window of a step."""
    mounts = step["host_delta"]["network"]
    expect.equal([(m["kind"], m["mount_point"]) for m in mounts], [("nfs", MOUNTED)], "mounts below the step")
    return next(rpc for rpc in mounts[0]["rpcs"] if rpc["name"] == name)


def evidence(step: dict, name: str) -> float:
    found = {number["name"]: number["value"] for number in step["limit"]["evidence"]}
    assert name in found, f"no {name} among {sorted(found)}"
    return found[name]


@restored(SIX_SLOW, "TBM0")
def files_over_nfs_are_described_and_their_calls_are_the_kernels(guest: Guest) -> None:
    with served(guest, "TBM0") as file:
        mounts = guest.fathom_json("inspect --json")["inventory"]["network_file_systems"]
        expect.equal([(m["mount_point"], m["fs_type"], m["server"]) for m in mounts], [(MOUNTED, "nfs4", "127.0.0.1")], "mounts")
        expect.contains(mounts[0]["options"], ["vers=4.2", "proto=tcp", "sec=sys"], "options")
        expect.equal(mounts[0]["link"]["device"], "lo", "device that leads to the server")
        # All of the file is in the server's cache now: its drive is not asked.
        guest.ok(f"cat {SERVED}/file > /dev/null", timeout_s=300)
        before = calls(guest, "READ")
        step = io(guest, file, "--rw randread --bs 64k --engine psync --set loops=1", runtime_s=300)
        made = calls(guest, "READ") - before
        expect.equal(step["ios"], 256, "blocks of 64 KiB, each once")
        reads = counted(step, "READ")
        # A read of its own before the window is all that Fathom does beside the load.
        assert step["ios"] <= reads["calls"] <= made <= step["ios"] + 2, (step["ios"], reads, made)
        assert reads["received_bytes"] >= 256 << 16, reads
        # Times of an I/O: its call is a part of it, and the way to the server of that.
        call_ns = reads["execute_ns"] / reads["calls"]
        assert 0 < reads["round_trip_ns"] <= reads["execute_ns"], reads
        # The kernel counts whole milliseconds.
        assert call_ns <= step["lat_ns"]["mean"] + 1e6, (call_ns, step["lat_ns"]["mean"])
        assert step["limit"]["name"] in ("server", "network", "client", "core", "all_cores"), step["limit"]
        shares = sum(evidence(step, f"{part}_share") for part in ("server", "network", "client"))
        assert 99 < shares < 101, step["limit"]
        checks_hold(step)


@restored(SIX_SLOW, "TBM0")
@timed
@full("a comparison of times")
def a_server_whose_drive_is_throttled_is_named_as_the_limit(guest: Guest) -> None:
    with served(guest, "TBM0") as file:
        # What the server has in its cache needs no drive: there its drive is all that has the file.
        guest.ok("echo 3 > /proc/sys/vm/drop_caches")
        step = io(guest, file, "--rw randread --bs 4k --engine libaio --iodepth 8", runtime_s=3)
        assert step["ios"] > 50, step["ios"]
        expect.equal(step["limit"]["name"], "server", f"limit ({step['limit']['sentence']})")
        assert evidence(step, "server_share") > 50, step["limit"]
        # The drive gives 300 reads a second: eight reads in flight wait about 27 ms.
        reads = counted(step, "READ")
        assert reads["round_trip_ns"] / reads["calls"] > 10e6, reads
        assert step["iops"] < 600, step["iops"]
