"""Set-ups in a machine of the testbed: kernel modules and drives that this host has not.

Emulation says nothing of absolute speed, but a limit that was built holds there as well. What a set-up takes back here only
makes room for the next one: the machine is thrown away.
"""

from .case import ALL_CORES, BETWEEN, CORE, DEVICE, QUEUE_DEPTH, RAID, RATE, Built, Case, of
from .places import Emulated
from .undo import Undos

CONFIGFS = "/sys/kernel/config/nullb"
DELAY_MS = 20
LATENCY_NS = 5_000_000
ALLOWED_IOPS = 100
MEMBERS = ("m0", "m1", "m2", "m3")
KEY = "5a" * 64


def null_block(machine: Emulated, undo: Undos, name: str = "n0", **settings: object) -> str:
    """A null_blk device with these settings, 128 MiB unless said otherwise."""
    home = f"{CONFIGFS}/{name}"
    undo.script(f"[ ! -d {home} ] || {{ echo 0 > {home}/power; rmdir {home}; }}")
    lines = ["modprobe null_blk nr_devices=0", f"mkdir {home}"]
    # `blocksize` and the like must be set before `power`, in whatever order.
    lines += [f"echo {value} > {home}/{key}" for key, value in {"size": 128, **settings, "power": 1}.items()]
    machine.ok("\n".join(lines))
    return f"/dev/{name}"


def mapped(machine: Emulated, undo: Undos, below: str, kind: str, words: str) -> str:
    """A device-mapper device over all of `below`."""
    undo.script("dmsetup remove --noudevsync truth")
    machine.ok(
        f"modprobe dm_{kind}\n"
        f'dmsetup create truth --noudevsync --table "0 $(blockdev --getsz {below}) {kind} {words}"\n'
        "dmsetup mknodes"
    )
    return "/dev/mapper/truth"


def array(machine: Emulated, undo: Undos, level: int, **member: object) -> str:
    devices = [null_block(machine, undo, name, size=64, blocksize=4096, **member) for name in MEMBERS]
    undo.script("[ ! -b /dev/md7 ] || mdadm --stop /dev/md7")
    machine.ok(
        f"modprobe raid{level if level == 10 else 456}\n"
        f"mdadm --create /dev/md7 --run --assume-clean --bitmap=none --chunk=64 --level={level} "
        f"--raid-devices={len(devices)} {' '.join(devices)}"
    )
    return "/dev/md7"


def group(machine: Emulated, undo: Undos, setting: str, folder: str = "") -> str:
    """A control group with a setting; the words that put Fathom into it, or into a folder below it."""
    home = "/sys/fs/cgroup/truth"
    undo.script(f"[ ! -d {home}{folder} ] || rmdir {home}{folder}\n[ ! -d {home} ] || rmdir {home}")
    machine.ok(f"mkdir -p {home}{folder}; {setting.replace('GROUP', home)}")
    return f"echo $$ > {home}{folder}/cgroup.procs; exec"


def reads_allowed(machine: Emulated, undo: Undos, device: str, folder: str = "") -> str:
    name = device.removeprefix("/dev/")
    return group(machine, undo, f'echo "$(cat /sys/block/{name}/dev) riops={ALLOWED_IOPS}" > GROUP/io.max', folder)


def slow_drive(machine: Emulated, _undo: Undos) -> Built:
    return Built(machine.guest.device("TBSLOW"))


def delayed(machine: Emulated, undo: Undos) -> Built:
    drive = machine.guest.device("TB0")
    return Built(mapped(machine, undo, drive, "delay", f"{drive} 0 {DELAY_MS}"))


def encrypted(machine: Emulated, undo: Undos) -> Built:
    below = null_block(machine, undo, irqmode=0, blocksize=512, memory_backed=1)
    return Built(mapped(machine, undo, below, "crypt", f"aes-xts-plain64 {KEY} 0 {below} 0"))


def encrypted_on_one_cpu(machine: Emulated, undo: Undos) -> Built:
    below = null_block(machine, undo, irqmode=0, blocksize=512, memory_backed=1)
    return Built(mapped(machine, undo, below, "crypt", f"aes-xts-plain64 {KEY} 0 {below} 0 1 same_cpu_crypt"))


def raid5_in_memory(machine: Emulated, undo: Undos) -> Built:
    return Built(array(machine, undo, 5, irqmode=0, memory_backed=1), words="--destroy md7:data")


def raid5_of_slow_members(machine: Emulated, undo: Undos) -> Built:
    return Built(array(machine, undo, 5, irqmode=0, memory_backed=1, mbps=2), words="--destroy md7:data")


def raid10_of_slow_members(machine: Emulated, undo: Undos) -> Built:
    one_at_a_time = {"irqmode": 2, "completion_nsec": LATENCY_NS, "submit_queues": 1, "hw_queue_depth": 1}
    return Built(array(machine, undo, 10, memory_backed=1, **one_at_a_time))


def allowed(machine: Emulated, undo: Undos) -> Built:
    drive = machine.guest.device("TB1")
    return Built(drive, prefix=reads_allowed(machine, undo, drive))


def allowed_above(machine: Emulated, undo: Undos) -> Built:
    drive = machine.guest.device("TB1")
    return Built(drive, prefix=reads_allowed(machine, undo, drive, "/inner"))


def of_known_latency(machine: Emulated, undo: Undos) -> Built:
    return Built(null_block(machine, undo, irqmode=2, completion_nsec=LATENCY_NS))


def four_at_a_time(machine: Emulated, undo: Undos) -> Built:
    settings = {"irqmode": 2, "completion_nsec": LATENCY_NS, "submit_queues": 1, "hw_queue_depth": 4}
    return Built(null_block(machine, undo, **settings))


def of_known_bandwidth(machine: Emulated, undo: Undos) -> Built:
    return Built(null_block(machine, undo, irqmode=0, mbps=2))


def at_once(machine: Emulated, undo: Undos) -> Built:
    return Built(null_block(machine, undo, irqmode=0, submit_queues=8))


def at_once_with_a_quota(machine: Emulated, undo: Undos) -> Built:
    device = null_block(machine, undo, irqmode=0, submit_queues=8)
    return Built(device, prefix=group(machine, undo, "echo 25000 100000 > GROUP/cpu.max"))


SLOW = of(DEVICE, RATE)
# The first second has the throttle's stored-up burst in it.
AFTER_THE_BURST = {"ramp_time": "1s"}


def _case(name: str, why: str, build, steps, knobs: dict[str, object] | None = None) -> Case:
    return Case(name, why, build, steps, knobs or {}, machine="two-sockets")


CASES = [
    _case(
        "drive of 1000 IOPS",
        "QEMU lets 1000 I/Os a second through, from outside the machine: the drive, or the rate it is held to.",
        slow_drive,
        {"1x4": SLOW, "1x16": SLOW, "1x64": SLOW},
        AFTER_THE_BURST,
    ),
    _case(
        "drive of 1000 IOPS, polled",
        "The same by poll queues: a thread that polls is always busy and not the limit for that.",
        slow_drive,
        {"1x4": SLOW, "1x16": SLOW, "1x64": SLOW},
        {**AFTER_THE_BURST, "mode": "iopoll"},
    ),
    _case(
        "drive of 1000 IOPS, threads on the other node",
        "The same from the CPUs of the node that the drive is not on.",
        slow_drive,
        {"1x4": SLOW, "1x16": SLOW, "4x16": SLOW},
        {**AFTER_THE_BURST, "placement": "remote"},
    ),
    _case(
        f"dm-delay of {DELAY_MS} ms",
        "Every read takes 20 ms however many there are: IOPS are what is in flight, over 20 ms.",
        delayed,
        {"1x1": of(QUEUE_DEPTH), "1x2": of(QUEUE_DEPTH), "1x4": of(QUEUE_DEPTH), "1x8": of(QUEUE_DEPTH)},
    ),
    _case(
        "null_blk of 5 ms",
        "Every read takes 5 ms, and the device has 64 places.",
        of_known_latency,
        {"1x1": of(QUEUE_DEPTH), "1x2": of(QUEUE_DEPTH), "1x4": of(QUEUE_DEPTH), "1x8": of(QUEUE_DEPTH)},
    ),
    _case(
        "null_blk of 5 ms, four at a time",
        "Every read takes 5 ms, and the device has 4 places: 800 IOPS, however many wait for them.",
        four_at_a_time,
        {"1x1": of(QUEUE_DEPTH), "1x2": of(QUEUE_DEPTH), "1x4": BETWEEN, "1x16": of(DEVICE), "1x64": of(DEVICE)},
    ),
    _case(
        "null_blk of 2 MiB/s",
        "The device itself takes 512 blocks of 4 KiB a second.",
        of_known_bandwidth,
        {"1x4": SLOW, "1x16": SLOW, "1x64": SLOW},
    ),
    _case(
        "null_blk without latency, one thread",
        "Each read is done when it is made: the thread never waits.",
        at_once,
        {"1x1": of(CORE), "1x32": of(CORE)},
    ),
    _case(
        "null_blk without latency, a thread for each CPU",
        "As many threads as CPUs, none of which ever waits.",
        at_once,
        {"8x1": of(ALL_CORES), "8x32": of(ALL_CORES)},
    ),
    _case(
        "null_blk without latency, a quarter of a CPU allowed",
        "The control group gives 25 ms of CPU time in 100 ms, and nothing else is needed.",
        at_once_with_a_quota,
        {"1x1": of(CORE, ALL_CORES, RATE), "1x32": of(CORE, ALL_CORES, RATE)},
    ),
    _case(
        f"io.max of {ALLOWED_IOPS} reads a second",
        "The control group lets through far less than the drive gives at QD 1.",
        allowed,
        {"1x1": of(RATE), "1x4": of(RATE), "1x16": of(RATE)},
    ),
    _case(
        f"io.max of {ALLOWED_IOPS} reads a second, in the group above",
        "The same, set on the parent of the group that the program is in.",
        allowed_above,
        {"1x1": of(RATE), "1x4": of(RATE), "1x16": of(RATE)},
    ),
    _case(
        "dm-crypt over memory",
        "Below the encryption nothing takes time: the kernel's threads that decrypt and the one that asks hold it.",
        encrypted,
        {"1x1": BETWEEN, "1x8": BETWEEN, "1x64": of(CORE, ALL_CORES)},
    ),
    _case(
        "dm-crypt over memory, all on one CPU",
        "The thread is pinned to CPU 1, and same_cpu_crypt decrypts where it was asked: one CPU does all.",
        encrypted_on_one_cpu,
        {"1x8": of(CORE), "1x64": of(CORE)},
        {"cpus_allowed": "1"},
    ),
    _case(
        "RAID 5 in memory, small writes",
        "Members that take no time: the array's one kernel thread, the CPUs, or what each write costs in member I/Os.",
        raid5_in_memory,
        {"1x1": BETWEEN, "1x16": BETWEEN, "1x64": of(RAID, CORE, ALL_CORES)},
        {"rw": "randwrite"},
    ),
    _case(
        "RAID 5 of slow members, small writes",
        "Each member takes 512 I/Os a second, each write two reads and two writes of them.",
        raid5_of_slow_members,
        {"1x16": of(RAID, DEVICE, RATE), "1x64": of(RAID, DEVICE, RATE)},
        {"rw": "randwrite"},
    ),
    _case(
        "RAID 10 of slow members, reads",
        "Each member serves one read at a time in 5 ms: one in flight leaves three idle, and 64 keep all four busy.",
        raid10_of_slow_members,
        {"1x1": of(QUEUE_DEPTH), "1x4": BETWEEN, "1x16": BETWEEN, "1x64": of(DEVICE, RAID)},
    ),
]
