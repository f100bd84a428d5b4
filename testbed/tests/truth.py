"""Devices whose truth is known: throttled, delayed, limited, made of memory."""

from bed import expect
from bed.guest import Guest
from bed.loads import checks_hold, damage, io, refused_io
from bed.machines import TWO_SOCKETS
from bed.suite import full, on, timed


@on(TWO_SOCKETS)
@timed
def a_drive_of_1000_iops_is_measured_as_one(guest: Guest) -> None:
    device = guest.device("TBSLOW")
    loads = ("--iodepth 16", "--iodepth 1", "--iodepth 4 --threads 2 --engine libaio")
    for words in loads if guest.every else loads[:1]:
        # The first second has the throttle's stored-up burst in it.
        step = io(guest, device, f"{words} --ramp_time 1s", runtime_s=2)
        expect.within(step["iops"], 1000, 0.10, f"IOPS with {words}")
        checks_hold(step)


@on(TWO_SOCKETS)
@timed
@full("a comparison of rates; the safety tier has one throttled drive")
def a_ceiling_changed_while_the_guest_runs_is_followed(guest: Guest) -> None:
    qmp = guest.qmp()
    qmp.command("qom-set", path="/objects/limit-TBSLOW", property="limits", value={"iops-total": 250})
    try:
        step = io(guest, guest.device("TBSLOW"), "--iodepth 4 --ramp_time 1s", runtime_s=3)
        expect.within(step["iops"], 250, 0.10, "IOPS")
    finally:
        qmp.command("qom-set", path="/objects/limit-TBSLOW", property="limits", value={"iops-total": 1000})
        qmp.close()


@on(TWO_SOCKETS)
@timed
@full("a comparison of times")
def a_delay_of_20_ms_is_found_in_the_latency(guest: Guest) -> None:
    device = guest.device("TB0")
    guest.ok(
        "modprobe dm_delay\n"
        f'dmsetup create slow --noudevsync --table "0 $(blockdev --getsz {device}) delay {device} 0 20"\n'
        "dmsetup mknodes"
    )
    try:
        step = io(guest, "/dev/mapper/slow", "", runtime_s=3)
        # The delay counts in ticks of 4 ms from the one that has begun, and timers fire on ticks; one that a busy host delayed
        # begins late.
        assert 12e6 <= step["lat_ns"]["min"] <= step["lat_ns"]["mean"] <= 45e6, step["lat_ns"]
        inventory = guest.fathom_json("inspect --json")["inventory"]
        array = next(a for a in inventory["arrays"] if a["kind"] != "part")
        expect.equal([m["name"] for m in array["members"]], [device.removeprefix("/dev/")], "what is below")
    finally:
        guest.ok("dmsetup remove --noudevsync slow")


@on(TWO_SOCKETS)
@timed
@full("a comparison of rates; the safety tier has one throttled drive")
def a_limit_of_the_control_group_is_reported_and_measured(guest: Guest) -> None:
    device = guest.device("TB1")
    name = device.removeprefix("/dev/")
    guest.ok(f'mkdir /sys/fs/cgroup/slow; echo "$(cat /sys/block/{name}/dev) riops=200" > /sys/fs/cgroup/slow/io.max')
    inside = "echo $$ > /sys/fs/cgroup/slow/cgroup.procs; exec"
    try:
        document = guest.fathom_json("inspect --json", prefix=inside)
        limits = document["inventory"]["limits"]["io_max"]
        expect.equal([(l["device"], l["read_iops"]) for l in limits], [(name, 200)], "limit")
        assert any(a["id"] == "limit.cgroup-io" and name in a["subjects"] for a in document["advice"])
        step = io(guest, device, "--iodepth 4 --ramp_time 1s", runtime_s=3, prefix=inside)
        expect.within(step["iops"], 200, 0.15, "IOPS")
    finally:
        guest.ok("rmdir /sys/fs/cgroup/slow")


NULL_BLK = "/sys/kernel/config/nullb/fathom0"


def null_blk(guest: Guest, **settings: object) -> None:
    lines = [f"echo {value} > {NULL_BLK}/{name}" for name, value in {"size": 256, **settings, "power": 1}.items()]
    # `blocksize` and the like must be set before `power`, in whatever order.
    guest.ok("\n".join(["set -e", "modprobe null_blk nr_devices=0", f"mkdir {NULL_BLK}", *lines]))


def end_null_blk(guest: Guest) -> None:
    guest.ok(f"echo 0 > {NULL_BLK}/power; rmdir {NULL_BLK}; rmmod null_blk")


@on(TWO_SOCKETS)
def a_null_block_device_is_read_polled_and_written_with_consent(guest: Guest) -> None:
    null_blk(guest, blocksize=4096, submit_queues=4, poll_queues=2, memory_backed=1)
    try:
        drive = next(
            d for d in guest.fathom_json("inspect --json")["inventory"]["drives"] if d["name"] == "fathom0"
        )
        expect.equal((drive["logical_block_bytes"], drive["io_poll"]), (4096, True), "block and polling")
        for words in ("--iodepth 8", "--mode iopoll --iodepth 8", "--engine libaio --iodepth 8"):
            step = io(guest, "/dev/fathom0", words)
            expect.equal(step["errors"], 0, f"errors with {words}")
            checks_hold(step)
        expect.contains(refused_io(guest, "/dev/fathom0", "--rw randwrite"), "--destroy fathom0", "refusal")
        step = io(guest, "/dev/fathom0", "--rw randrw --verify crc32c --destroy fathom0 --iodepth 4 --size 16m")
        expect.equal(step["errors"], 0, "errors")
        assert step["verify"]["blocks_checked"] > 0, step["verify"]
        expect.equal(damage(step), 0, "damaged blocks")
    finally:
        end_null_blk(guest)


@on(TWO_SOCKETS)
@timed
@full("a comparison of times")
def a_null_block_device_of_known_latency_is_measured_as_such(guest: Guest) -> None:
    null_blk(guest, irqmode=2, completion_nsec=5_000_000)
    try:
        step = io(guest, "/dev/fathom0", "", runtime_s=2)
        # The quickest one: others wait for this host as well when it is busy.
        assert 5e6 <= step["lat_ns"]["min"] <= 7.5e6, step["lat_ns"]
    finally:
        end_null_blk(guest)
