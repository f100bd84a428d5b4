"""NVMe commands handed to the driver past the block layer, and what drives say of themselves."""

import json

from bed import expect
from bed.guest import Guest
from bed.loads import checks_of_a_pass_hold, damage, io, polling_spares_interrupts, refused_io
from bed.machines import ONE_SOCKET, THREE_NODES, TWO_SOCKETS
from bed.suite import full, on, restored, timed

# Written or read once; the runtime is the limit of a load that hangs.
REGION = "--bs 16k --size 512k --set loops=1 --verify crc32c"
BLOCKS = (512 << 10) // (16 << 10)
READ_S = 30.0


@restored(TWO_SOCKETS, "TB0")
def what_the_block_device_wrote_is_read_through_passthrough_and_the_other_way_round(guest: Guest) -> None:
    block, character = guest.device("TB0"), guest.passthrough("TB0")
    through = "--engine io_uring_cmd --iodepth 4"
    written = io(guest, block, f"--rw write {REGION} --iodepth 4 --destroy TB0", runtime_s=READ_S)
    assert written["ios"] >= BLOCKS, f"only {written['ios']} of {BLOCKS} blocks were written"
    for mode in ("interrupt", "iopoll"):
        # Each block names the byte it belongs to, and carries a checksum.
        step = io(guest, character, f"--rw read {REGION} {through} --mode {mode}", runtime_s=READ_S)
        expect.equal((step["engine"], step["mode"], step["errors"]), ("io_uring_cmd", mode, 0), "step")
        # The blocks of the ramp and of the last moment are checked, but not counted as I/Os.
        assert step["verify"]["blocks_checked"] >= step["ios"] >= BLOCKS, (step["verify"], step["ios"])
        expect.equal(damage(step), 0, f"damaged blocks, mode {mode}")
        checks_of_a_pass_hold(step)
    # The proof that damage would have been seen.
    guest.ok(f"dd if=/dev/zero of={block} bs=512 seek=40 count=1 oflag=direct conv=notrunc 2>/dev/null")
    step = io(guest, character, f"--rw read {REGION} {through}", status=1, runtime_s=READ_S)
    assert step["verify"]["torn"] + step["verify"]["corrupt"] > 0, step["verify"]
    expect.equal(damage(step), step["verify"]["torn"] + step["verify"]["corrupt"], "damaged blocks")

    for consent, word in (("", "--destroy TB0"), ("--destroy TB0", "--destroy TB0:data")):
        said = refused_io(guest, character, f"--rw write {REGION} {through} {consent}")
        expect.contains(said, f"{word}\n", f"refusal with {consent!r}")
    written = io(guest, character, f"--rw write {REGION} {through} --destroy TB0:data", runtime_s=READ_S)
    assert written["ios"] >= BLOCKS and damage(written) == 0, (written["ios"], written["verify"])
    step = io(guest, block, f"--rw read {REGION} --iodepth 4", runtime_s=READ_S)
    assert step["verify"]["blocks_checked"] >= BLOCKS, step["verify"]
    expect.equal(damage(step), 0, "damaged blocks")
    # A file system keeps its drive from being written through the other door as well.
    guest.ok(f"/sbin/mke2fs -q -t ext4 {block} && mount -t ext4 {block} /mnt", timeout_s=300)
    expect.contains(refused_io(guest, character, f"--rw write {REGION} {through} --destroy TB0:data"), "/mnt", "refusal")


@on(TWO_SOCKETS, THREE_NODES)
@full("the same on another machine", THREE_NODES)
def polled_passthrough_raises_no_interrupt_and_other_passthrough_does(guest: Guest) -> None:
    # The engine reads one block beforehand, to learn what the kernel takes; that too is polled.
    polling_spares_interrupts(guest, guest.passthrough("TB1"), "--engine io_uring_cmd")


@on(ONE_SOCKET)
@full("the refusal and the read are tested on block devices")
def passthrough_reads_a_drive_under_multipath_and_is_not_polled_without_poll_queues(guest: Guest) -> None:
    device = guest.passthrough("TB0")
    # The head of the paths has a character device of its own, beside those of the paths.
    for target in (device, guest.device("TB0")):
        step = io(guest, target, "--engine io_uring_cmd --iodepth 4")
        assert step["errors"] == 0 and step["ios"] > 0, (target, step["errors"], step["ios"])
    step = io(guest, device, "--engine io_uring_cmd --mode iopoll", status=1)
    expect.equal(step["state"], "refused", "state")
    expect.contains(step["reason"], "poll queues", "reason")
    expect.contains(step["help"], "poll_queues", "remedy")


@on(TWO_SOCKETS)
@full("refused reads only; no data at risk")
def passthrough_asks_for_the_right_kind_of_device(guest: Guest) -> None:
    character = guest.passthrough("TB0")
    for device, engine, other in (("/dev/vda", "io_uring_cmd", "/dev/ng"), (character, "io_uring", "/dev/nvme")):
        step = io(guest, device, f"--engine {engine} --size 1m", status=1)
        expect.equal(step["state"], "refused", f"{engine} on {device}")
        expect.contains(f"{step['reason']} {step['help']}", other, f"{engine} on {device}")


@restored(TWO_SOCKETS, "TB0", "TB1")
def passthrough_finds_the_character_device_of_a_block_device(guest: Guest) -> None:
    block, character = guest.device("TB1"), guest.passthrough("TB1")
    through = "--engine io_uring_cmd --iodepth 4"
    # The consent is that to the block device, and so are the reasons against it.
    expect.contains(refused_io(guest, block, f"--rw write {REGION} {through}"), "--destroy TB1", "without consent")
    guest.ok(f"/sbin/mke2fs -q -t ext4 {block} && mount -t ext4 {block} /mnt", timeout_s=300)
    expect.contains(refused_io(guest, block, f"--rw write {REGION} {through} --destroy TB1:ext"), "/mnt", "mounted")
    guest.ok(f"umount /mnt; /sbin/wipefs -qa {block} 2>/dev/null || dd if=/dev/zero of={block} bs=64k count=1 conv=fsync 2>/dev/null")
    # By what it is, not by what it is called: the character device of another drive under the name is none.
    node = guest.ok(f"stat -c '%t %T' {guest.passthrough('TB0')}").split()
    numbers = f"{int(node[0], 16)} {int(node[1], 16)}"
    guest.ok(f"mv {character} /dev/own && mknod {character} c {numbers}")
    step = io(guest, block, f"--rw read {through}", status=1)
    guest.ok(f"mv -f /dev/own {character}")
    expect.contains(step["reason"], "not the character device", "another drive's")
    guest.ok(f"mv {character} /dev/own")
    step = io(guest, block, f"--rw read {through}", status=1)
    guest.ok(f"mv -f /dev/own {character}")
    expect.equal(step["state"], "refused", "without the node")


@restored(TWO_SOCKETS, "TB1")
@full("all paths in one run; another test checks the bytes of both doors")
def passthrough_by_the_block_device_is_a_path_like_the_others(guest: Guest) -> None:
    block = guest.device("TB1")
    through = "--engine io_uring_cmd --iodepth 4"
    written = io(guest, block, f"--rw write {REGION} {through} --destroy TB1", runtime_s=READ_S)
    assert written["ios"] >= BLOCKS and damage(written) == 0, (written["ios"], written["verify"])
    for mode in ("interrupt", "iopoll"):
        step = io(guest, block, f"--rw read {REGION} {through} --mode {mode}", runtime_s=READ_S)
        expect.equal((step["engine"], step["mode"], step["errors"], damage(step)), ("io_uring_cmd", mode, 0, 0), "step")
        assert step["verify"]["blocks_checked"] >= step["ios"] >= BLOCKS, (step["verify"], step["ios"])
        checks_of_a_pass_hold(step)
    step = io(guest, block, f"--rw read {REGION} --engine io_uring --iodepth 4", runtime_s=READ_S)
    expect.equal(damage(step), 0, "what the block device reads")
    # Beside the other paths, on one drive, in one run.
    parts = " ".join(f"--only {name}" for name in ("latency", "passthrough"))
    document = guest.fathom_json(f"run engines --target {block} {parts} --time-budget 12s --quiet --json")
    paths = {(s["engine"], s["mode"]) for s in document["steps"] if s["phase"] == "measure" and s["ios"] > 0}
    wanted = {("psync", "interrupt"), ("libaio", "interrupt"), ("io_uring", "interrupt")}
    wanted |= {("io_uring_cmd", "interrupt"), ("io_uring_cmd", "iopoll")}
    expect.equal(paths, wanted, "paths beside each other")


def controller(guest: Guest, serial: str) -> dict:
    """What the drive's controller said of itself over its admin queue."""
    drives = guest.fathom_json("inspect --json")["inventory"]["drives"]
    return next(d for d in drives if d["serial"] == serial)["controllers"][0]["admin"]


@on(TWO_SOCKETS, ONE_SOCKET, THREE_NODES)
@full("the same on other machines", TWO_SOCKETS, THREE_NODES)
def drives_say_of_themselves_what_was_configured(guest: Guest) -> None:
    for drive in guest.machine.drives:
        admin = controller(guest, drive.serial)
        namespace = admin["namespaces"][0]
        block_bytes = namespace["formats"][namespace["format"]]["data_bytes"]
        expect.equal(block_bytes * namespace["size_blocks"], drive.size_bytes, f"size of {drive.serial}")
        queues = drive.queue_pairs or 64
        expect.equal(admin["queues"], [queues, queues], f"queues granted by {drive.serial}")
        # QEMU 7.2: NVMe 1.4, transfers of up to 2^7 pages, a write cache that is on, 50 degrees at all times.
        expect.equal(admin["version"], [1, 4, 0], f"version of {drive.serial}")
        expect.equal(admin["max_transfer_bytes"], 4096 << 7, f"longest transfer of {drive.serial}")
        expect.equal((admin["has_write_cache"], admin["write_cache_on"]), (True, True), f"cache of {drive.serial}")
        expect.equal((admin["has_trim"], admin["can_format"]), (True, True), f"abilities of {drive.serial}")
        smart = admin["smart"]
        expect.equal((smart["celsius"], smart["critical_warning"]), (50, 0), f"health of {drive.serial}")


@on(TWO_SOCKETS)
def health_pages_follow_the_drive(guest: Guest) -> None:
    before = controller(guest, "TB2")["smart"]
    step = io(guest, guest.device("TB2"), "--iodepth 4")
    qmp = guest.qmp()
    warning = {"path": "/machine/peripheral/nv-TB2", "property": "smart_critical_warning"}
    # Bit 2: the drive has become unreliable.
    qmp.command("qom-set", **warning, value=4)
    try:
        after = controller(guest, "TB2")["smart"]
        expect.equal(after["critical_warning"], 4, "warning")
        advice = guest.fathom_json("inspect --json")["advice"]
        name = guest.device("TB2").removeprefix("/dev/")
        assert any(a["id"] == "drive.worn" and name in a["subjects"] for a in advice), advice
    finally:
        qmp.command("qom-set", **warning, value=0)
        qmp.close()
    reads = after["host_reads"] - before["host_reads"]
    assert step["ios"] <= reads <= step["ios"] + 100, f"{reads} reads counted by the drive, {step['ios']} by Fathom"


def flushes(guest: Guest, device: str) -> int:
    """Flush requests that the kernel completed on a block device (diskstats, field 16)."""
    return int(guest.ok(f"cat /sys/block/{device.removeprefix('/dev/')}/stat").split()[15])


@restored(TWO_SOCKETS, "TB1")
def each_sync_reaches_the_drive_as_a_flush(guest: Guest) -> None:
    block, character = guest.device("TB1"), guest.passthrough("TB1")
    words = "--rw write --bs 4k --size 1m --fdatasync 1 --destroy TB1:data"
    for engine in ("psync", "libaio", "io_uring"):
        before = flushes(guest, block)
        step = io(guest, block, f"{words} --engine {engine}")
        syncs, counted = step["syncs"]["ios"], flushes(guest, block) - before
        # What was under way at the end of the window is no figure of the step.
        assert syncs > 10 and syncs <= counted <= syncs + 8, f"{engine}: {counted} flushes for {syncs} syncs"
        expect.equal(step["errors"], 0, f"errors of {engine}")
    before = flushes(guest, block)
    io(guest, block, "--rw write --bs 4k --size 1m --destroy TB1:data")
    assert flushes(guest, block) - before <= 4, "plain writes are not flushed"
    # Past the block layer nobody counts; the drive itself refuses a Flush that is not as it should be.
    step = io(guest, character, f"{words} --engine io_uring_cmd")
    expect.equal(step["errors"], 0, "errors of the NVMe Flush")
    assert 0 <= step["write"]["ios"] - step["syncs"]["ios"] <= 1 and step["syncs"]["ios"] > 10, (step["write"], step["syncs"])


@restored(TWO_SOCKETS, "TB1")
@timed
@full("a comparison of times")
def the_cache_of_a_drive_decides_what_a_commit_costs(guest: Guest) -> None:
    block = guest.device("TB1")
    cache = f"/sys/block/{block.removeprefix('/dev/')}/queue/write_cache"
    words = f"run commit --target {block} --destroy TB1:data --size 1m --time-budget 20s --set ramp_time=0 --json"

    def answer() -> tuple[str, dict]:
        document = guest.fathom_json(words)
        log = next(s for s in document["steps"] if s["label"].startswith("4k sequential write + fdatasync T1 "))
        return json.dumps(document["verdict"][0]["brief"]), log["host_delta"]["disks"][0]

    expect.contains(guest.ok(f"cat {cache}"), "write back", "the drive's cache")
    said, disk = answer()
    expect.equal(disk["write_cache"], "back", "cache")
    assert disk["flushes"]["ios"] > 0, disk
    expect.contains(said, "volatile", "the answer")
    guest.ok(f"echo 'write through' > {cache}")
    said, disk = answer()
    expect.equal((disk["write_cache"], disk["flushes"]["ios"]), ("through", 0), "a cache that needs no flush")
    expect.contains(said, "no flushes", "the answer")
