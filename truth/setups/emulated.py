"""Set-ups in a machine of the testbed: kernel modules and drives that this host has not.

Emulation says nothing of absolute speed, but a limit that was built holds there as well. What a set-up takes back here only
makes room for the next one: the machine is thrown away.
"""

from .case import ALL_CORES, BETWEEN, CORE, DEVICE, KERNEL_THREAD, QUEUE_DEPTH, RAID, RATE, Built, Case, NotBuilt, of
from .places import Emulated
from .undo import Undos

CONFIGFS = "/sys/kernel/config/nullb"
DELAY_MS = 20
LATENCY_NS = 5_000_000
ALLOWED_IOPS = 100
MEMBERS = ("m0", "m1", "m2", "m3")
KEY = "5a" * 64
# A CPU of the machine that this host has no time for loses ticks, and its kernel's counts of CPU time are then wrong.
COUNTED_MIN = 0.9
TICKS_PER_S = 100


def null_block(machine: Emulated, undo: Undos, name: str = "n0", **settings: object) -> str:
    """A null_blk device with these settings, 128 MiB unless said otherwise."""
    home = f"{CONFIGFS}/{name}"
    undo.script(f"[ ! -d {home} ] || {{ echo 0 > {home}/power; rmdir {home}; }}")
    lines = ["modprobe null_blk nr_devices=0", f"mkdir {home}"]
    # `blocksize` and the like must be set before `power`, in whatever order.
    lines += [f"echo {value} > {home}/{key}" for key, value in {"size": 128, **settings, "power": 1}.items()]
    machine.ok("\n".join(lines))
    return f"/dev/{name}"


def cpu_time_is_counted(machine: Emulated, cpu: int, looks: int = 3) -> None:
    """Holds the truth of set-ups whose limit is a CPU: a loop that never waits must show as one in the kernel's counts. A
    host that is busy for a moment is looked at again."""
    words = machine.ok(
        f"look() {{ grep '^cpu{cpu} ' /proc/stat | cut -d' ' -f2,4,7,8; cut -d' ' -f1 /proc/uptime; }}\n"
        f"taskset {1 << cpu:x} sh -c 'while :; do :; done' & loop=$!\n"
        "sleep 0.5; look; sleep 2; look; kill $loop"
    ).split()
    (busy, at), (busy_later, later) = ((sum(map(int, w[:4])) / TICKS_PER_S, float(w[4])) for w in (words[:5], words[5:]))
    counted = (busy_later - busy) / (later - at)
    if counted < COUNTED_MIN and looks > 1:
        cpu_time_is_counted(machine, cpu, looks - 1)
    elif counted < COUNTED_MIN:
        raise NotBuilt(f"the host is too busy: the machine's kernel counted {counted:.0%} of a loop that never waits")


def mapped(machine: Emulated, undo: Undos, below: str, kind: str, words: str, modules: str = "") -> str:
    """A device-mapper device over all of `below`. `modules`: more than its own that the kernel needs for it."""
    undo.script("[ ! -e /dev/mapper/truth ] || dmsetup remove --noudevsync truth")
    machine.ok(
        f"modprobe -a dm_{kind} {modules}\n"
        f'dmsetup create truth --noudevsync --table "0 $(blockdev --getsz {below}) {kind} {words}"\n'
        "dmsetup mknodes"
    )
    return "/dev/mapper/truth"


def memory_disks(machine: Emulated, undo: Undos, count: int) -> list[str]:
    """Disks of memory: the thread that asks copies, and nothing below it waits."""
    undo.script("rmmod brd")
    machine.ok(f"modprobe brd rd_nr={count} rd_size={64 << 10}")
    return [f"/dev/ram{number}" for number in range(count)]


def slow_disks(machine: Emulated, undo: Undos) -> list[str]:
    """Disks of 200 I/Os a second each, whatever is asked."""
    one_at_a_time = {"irqmode": 2, "completion_nsec": LATENCY_NS, "submit_queues": 1, "hw_queue_depth": 1}
    settings = {"size": 64, "blocksize": 4096, "memory_backed": 1, **one_at_a_time}
    return [null_block(machine, undo, name, **settings) for name in MEMBERS]


def array(machine: Emulated, undo: Undos, level: int, devices: list[str]) -> str:
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
    cpu_time_is_counted(machine, 1)
    (below,) = memory_disks(machine, undo, 1)
    words = f"aes-xts-plain64 {KEY} 0 {below} 0 1 same_cpu_crypt"
    return Built(mapped(machine, undo, below, "crypt", words, "xts ecb"))


def raid5_in_memory(machine: Emulated, undo: Undos) -> Built:
    cpu_time_is_counted(machine, 1)
    return Built(array(machine, undo, 5, memory_disks(machine, undo, len(MEMBERS))), words="--destroy md7:data")


def raid5_of_slow_members(machine: Emulated, undo: Undos) -> Built:
    return Built(array(machine, undo, 5, slow_disks(machine, undo)), words="--destroy md7:data")


def raid10_of_slow_members(machine: Emulated, undo: Undos) -> Built:
    return Built(array(machine, undo, 10, slow_disks(machine, undo)))


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
    cpu_time_is_counted(machine, 1)
    return Built(null_block(machine, undo, irqmode=0, submit_queues=8))


def at_once_with_a_quota(machine: Emulated, undo: Undos) -> Built:
    cpu_time_is_counted(machine, 1)
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
        "dm-crypt over memory, all on one CPU",
        "The thread is pinned to CPU 1, same_cpu_crypt decrypts where it was asked, and nothing below waits: one CPU does all.",
        encrypted,
        {"1x8": of(CORE, KERNEL_THREAD), "1x64": of(CORE, KERNEL_THREAD)},
        # The kernel threads of io_uring would submit from other CPUs.
        {"engine": "libaio", "cpus_allowed": "1"},
    ),
    _case(
        "RAID 5 in memory, small writes",
        "Members that take no time: the array's one kernel thread, the CPUs, or what each write costs in member I/Os.",
        raid5_in_memory,
        {"1x1": BETWEEN, "1x16": BETWEEN, "1x64": of(RAID, CORE, ALL_CORES, KERNEL_THREAD)},
        {"rw": "randwrite"},
    ),
    _case(
        "RAID 5 of slow members, small writes",
        "Each member serves one I/O at a time in 5 ms, and each write takes two reads and two writes of them.",
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
