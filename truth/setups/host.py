"""Set-ups on this host. They need root, fio, zram, loop devices and control groups (version 1) for block I/O."""

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .case import (
    ALL_CORES, BETWEEN, CORE, CPU_TAKEN, DEVICE, FILE_SYSTEM, FLUSH, KERNEL_THREAD, MEMORY, PAGE_CACHE, QUEUE_DEPTH, RATE, Built, Case,
    NotBuilt, of,
)  # fmt: skip
from .places import Host
from .undo import Undos

CPUS = sorted(os.sched_getaffinity(0))
DISK_FILE_MIB = 1024
SMALL_FILE_MIB = 64
ZRAM_MIB = 128
BLKIO = Path("/sys/fs/cgroup/blkio")
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
# Far below what any disk of today gives one reader.
ALLOWED_IOPS = 500
ALLOWED_MIB = 8
ASKED_IOPS = 200
# A limit of CPU time: this share of one CPU.
CPU_QUOTA_PCT = 25
SMALL_QUOTA_PCT = 10
# Programs without end take most of a load's time where fio's rate falls to this share beside them, and hardly any above the
# second.
TAKES_MOST_BELOW, TAKES_LITTLE_ABOVE = 0.35, 0.8
# A program of this niceness gets the CPU before one of niceness 0.
URGENT = -15
# A program that starts so long after Fathom starts when Fathom has looked at the idle host.
AFTER_THE_BASELINE_S = 1.0
# fio's own figures decide whether a disk is one on which depth helps first and then no more.
FIO_S = 1.5
RISES_MIN = 1.5
FLAT_MAX = 1.1
CPU_MAX = 0.8
# Noise may hide a plateau from one look.
LOOKS_MAX = 3


def made_file(host: Host, name: str, mib: int) -> str:
    """A file of random data on the disk, made once and removed at the end."""
    path = f"{host.folder}/{name}"
    if path not in host.made:
        host.undo.script(f"rm -f {shlex.quote(path)}")
        host.ok(f"dd if=/dev/urandom of={shlex.quote(path)} bs=1M count={mib} conv=fsync status=none")
        host.made[path] = True
    return path


def disk_file(host: Host) -> str:
    return made_file(host, "disk.dat", DISK_FILE_MIB)


def disk_number(folder: str) -> str:
    """`major:minor` of the whole disk below a folder."""
    device = os.stat(folder).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    node = Path("/sys/dev/block") / number
    if not node.exists():
        raise NotBuilt(f"{folder} lies on no block device")
    whole = node.resolve().parent if (node / "partition").exists() else node
    return (whole / "dev").read_text().strip()


@dataclass(frozen=True)
class Fio:
    """What fio measured. `cpu_share`: of one CPU, all its jobs."""

    iops: float
    cpu_share: float


def fio(target: str, depth: int, *words: str) -> Fio:
    """Random reads by fio, unless `words` say otherwise: a look at the disk that owes nothing to Fathom."""
    if not shutil.which("fio"):
        raise NotBuilt("fio is not here, and nothing else can say how the disk behaves")
    command = ["fio", "--name=look", f"--filename={target}", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio"]
    command += [f"--iodepth={depth}", "--time_based", f"--runtime={FIO_S}", *words, "--output-format=json"]
    text = subprocess.run(command, capture_output=True, text=True, start_new_session=True, check=True).stdout
    job = json.loads(text[text.index("{") :])["jobs"][0]
    return Fio(job["read"]["iops"] + job["write"]["iops"], (job["usr_cpu"] + job["sys_cpu"]) / 100)


def endless(niceness: int = 0, after_s: float = 0.0) -> list[str]:
    """A program that never waits. Each session is a group of its own to the scheduler, whose niceness counts where groups exist."""
    group = "/proc/self/autogroup"
    script = f"[ ! -e {group} ] || echo {niceness} >{group}; sleep {after_s}; while :; do :; done"
    return ["nice", "-n", str(niceness), "sh", "-c", script]


def beside_endless_programs(host: Host, undo: Undos, niceness: int = 0, after_s: float = 0.0) -> None:
    """One for each CPU."""
    for _ in CPUS:
        host.background(undo, endless(niceness, after_s))


def kept_beside_endless_programs(host: Host, niceness: int, target: str, depth: int, *words: str) -> float:
    """Share of its rate that fio keeps beside them. In turns, for the disk is shared."""
    alone, beside = 0.0, 0.0
    for _ in range(2):
        alone += fio(target, depth, *words).iops
        with Undos(host.take_back) as undo:
            beside_endless_programs(host, undo, niceness)
            beside += fio(target, depth, *words).iops
    return beside / alone


def disk_beside_ordinary_programs(host: Host, undo: Undos) -> Built:
    """A disk that fio gets nearly all of its rate from beside them: a thread that sleeps most of the time goes first."""
    target = disk_file(host)
    kept = kept_beside_endless_programs(host, 0, target, 1, "--ioengine=psync", "--readonly")
    if kept < TAKES_LITTLE_ABOVE:
        raise NotBuilt(f"beside programs without end fio kept {kept:.0%} of its rate")
    beside_endless_programs(host, undo)
    return Built(target)


def disk_beside_endless_programs(*words: str, depth: int = 1, niceness: int = 0, after_s: float = 0.0):
    """A disk that fio, with these words, gets most of its rate from only without them."""

    def build(host: Host, undo: Undos) -> Built:
        target = disk_file(host)
        kept = kept_beside_endless_programs(host, niceness, target, depth, *words)
        if kept > TAKES_MOST_BELOW:
            raise NotBuilt(f"beside programs without end fio kept {kept:.0%} of its rate")
        beside_endless_programs(host, undo, niceness, after_s)
        return Built(target, words="--overwrite" if WRITES <= set(words) else "")

    return build


WRITES = frozenset({"--rw=write"})
SYNCED = ("--rw=write", "--bs=2300", "--fdatasync=1", "--ioengine=psync", "--direct=0")


def depth_helps(target: str) -> None:
    """Holds the truth of a disk's first step."""
    gain = fio(target, 4).iops / fio(target, 1).iops
    if gain < RISES_MIN:
        raise NotBuilt(f"not a disk that depth helps now: by fio, QD 4 gave {gain:.2f}x QD 1")


def depth_helps_until_it_is_full(target: str) -> None:
    """Holds the truth of a disk's ladder: depth helps at first and brings nothing at last, where fio's thread has CPU time
    left."""
    depth_helps(target)
    for _ in range(LOOKS_MAX):
        full, more = fio(target, 128), fio(target, 256)
        gain = more.iops / full.iops
        if gain <= FLAT_MAX and full.cpu_share <= CPU_MAX:
            return
    seen = f"QD 256 gave {gain:.2f}x QD 128, with {full.cpu_share:.0%} of a CPU"
    raise NotBuilt(f"not a disk whose plateau is plain now: by fio, {seen}")


def disk(host: Host, _undo: Undos) -> Built:
    target = disk_file(host)
    depth_helps_until_it_is_full(target)
    return Built(target)


def disk_that_depth_helps(host: Host, _undo: Undos) -> Built:
    target = disk_file(host)
    depth_helps(target)
    return Built(target)


def disk_alone(host: Host, _undo: Undos) -> Built:
    return Built(disk_file(host))


def disk_beside_fio(host: Host, undo: Undos) -> Built:
    target = disk_file(host)
    depth_helps_until_it_is_full(target)
    # Jobs of fio that are processes leave its group, and would go on after it.
    command = ["fio", "--thread", "--name=other", f"--filename={target}", "--rw=randread", "--bs=4k", "--direct=1"]
    command += ["--ioengine=libaio", "--iodepth=64", "--time_based", "--runtime=600", "--readonly"]
    host.background(undo, command)
    return Built(target)


def capped(host: Host, undo: Undos, number: str, rule: str = f"read_iops_device {ALLOWED_IOPS}") -> str:
    """A control group that may read so much in a second from a device; the words that put Fathom into it."""
    group = BLKIO / "fathom-truth"
    file, _, value = rule.partition(" ")
    if not (BLKIO / f"blkio.throttle.{file}").exists():
        raise NotBuilt("there are no control groups (version 1) for block I/O")
    undo.script(f"[ ! -d {group} ] || rmdir {group}")
    host.ok(f"mkdir -p {group}; echo '{number} {value}' > {group}/blkio.throttle.{file}")
    return f"echo $$ > {group}/cgroup.procs; exec"


def capped_disk(host: Host, undo: Undos) -> Built:
    return Built(disk_file(host), prefix=capped(host, undo, disk_number(host.folder)))


def disk_of_few_bytes(host: Host, undo: Undos) -> Built:
    rule = f"read_bps_device {ALLOWED_MIB << 20}"
    return Built(disk_file(host), prefix=capped(host, undo, disk_number(host.folder), rule))


def loop_device(host: Host, undo: Undos, file: str, direct: bool) -> str:
    device = host.ok(f"losetup --find --show --direct-io={'on' if direct else 'off'} {shlex.quote(file)}")
    undo.script(f"losetup --detach {device}")
    return device


def capped_loop(host: Host, undo: Undos) -> Built:
    file = made_file(host, "small.dat", SMALL_FILE_MIB)
    device = loop_device(host, undo, file, direct=False)
    number = Path("/sys/block", Path(device).name, "dev").read_text().strip()
    return Built(device, prefix=capped(host, undo, number))


def loop_on_disk(host: Host, undo: Undos) -> Built:
    file = disk_file(host)
    depth_helps_until_it_is_full(file)
    return Built(loop_device(host, undo, file, direct=True))


def loop_in_memory(host: Host, undo: Undos) -> Built:
    file = made_file(host, "small.dat", SMALL_FILE_MIB)
    host.ok(f"cat {shlex.quote(file)} > /dev/null")
    return Built(loop_device(host, undo, file, direct=False))


def zram(host: Host, undo: Undos) -> Built:
    """A compressed RAM disk full of data that does not compress: each read is a copy by the CPU that asks."""
    control = Path("/sys/class/zram-control")
    if not control.exists():
        raise NotBuilt("the kernel has no zram")
    number = host.ok(f"cat {control}/hot_add")
    # The kernel says busy for a moment while a last process, or one that looks at new devices, has it open.
    undo.script(
        f"for i in $(seq 100); do echo 1 2>/dev/null > /sys/block/zram{number}/reset && break; sleep 0.1; done\n"
        f"echo {number} > {control}/hot_remove"
    )
    host.ok(
        f"echo {ZRAM_MIB}M > /sys/block/zram{number}/disksize\n"
        f"for i in $(seq 50); do [ -b /dev/zram{number} ] && break; sleep 0.1; done\n"
        f"dd if=/dev/urandom of=/dev/zram{number} bs=1M count={ZRAM_MIB} conv=fsync status=none"
    )
    return Built(f"/dev/zram{number}")


def zram_beside_a_busy_program(host: Host, undo: Undos) -> Built:
    built = zram(host, undo)
    host.background(undo, ["taskset", "-c", str(CPUS[0]), "sh", "-c", "while :; do :; done"])
    return built


def cpu_quota(host: Host, undo: Undos, percent: int) -> str:
    """A control group with so much of a CPU; the words that put Fathom into it."""
    group = CPU_GROUPS / "fathom-truth"
    if not CPU_GROUPS.is_dir():
        raise NotBuilt("there are no control groups (version 1) for CPU time")
    undo.script(f"[ ! -d {group} ] || rmdir {group}")
    host.ok(f"mkdir -p {group}; echo {percent * 1000} > {group}/cpu.cfs_quota_us")
    return f"echo $$ > {group}/cgroup.procs; exec"


def zram_with_a_quota(host: Host, undo: Undos) -> Built:
    return Built(zram(host, undo).target, prefix=cpu_quota(host, undo, CPU_QUOTA_PCT))


def disk_with_a_quota(host: Host, undo: Undos) -> Built:
    target = disk_file(host)
    needs = fio(target, 32).cpu_share
    if needs < 3 * SMALL_QUOTA_PCT / 100:
        raise NotBuilt(f"fio needs {needs:.0%} of a CPU for 32 reads in flight, so that {SMALL_QUOTA_PCT} % may do")
    return Built(target, prefix=cpu_quota(host, undo, SMALL_QUOTA_PCT))


def null(_host: Host, _undo: Undos) -> Built:
    return Built("null")


def read_file(host: Host, _undo: Undos) -> Built:
    file = made_file(host, "small.dat", SMALL_FILE_MIB)
    host.ok(f"cat {shlex.quote(file)} > /dev/null")
    return Built(file)


def file_in_tmpfs(host: Host, undo: Undos) -> Built:
    path = f"/dev/shm/fathom-truth-{os.getpid()}.dat"
    undo.script(f"rm -f {path}")
    host.ok(f"dd if=/dev/urandom of={path} bs=1M count={SMALL_FILE_MIB} status=none")
    return Built(path)


def sparse_file(host: Host, undo: Undos) -> Built:
    path = f"{host.folder}/sparse.dat"
    undo.script(f"rm -f {shlex.quote(path)}")
    host.ok(f"truncate --size {DISK_FILE_MIB}M {shlex.quote(path)}")
    return Built(path)


def unwritten_file(host: Host, undo: Undos) -> Built:
    path = f"{host.folder}/unwritten.dat"
    undo.script(f"rm -f {shlex.quote(path)}")
    # Large enough that hardly a block is written twice.
    host.ok(f"truncate --size 64G {shlex.quote(path)}")
    return Built(path, words="--overwrite")


N = len(CPUS)
# A cloud disk is a share of a device with a rate of its own: from inside, the two are one.
DISK = of(DEVICE, RATE)

CASES = [
    Case(
        "null engine, one thread",
        "No device is asked: each I/O is done when it is made, so the thread never waits and only its core holds it.",
        null,
        {"1x1": of(CORE), "1x32": of(CORE)},
        {"engine": "null", "size": "1g"},
        quick=True,
    ),
    Case(
        "null engine, a thread for each CPU",
        "As many threads as CPUs, none of which ever waits: no CPU has time left.",
        null,
        {f"{N}x1": of(ALL_CORES), f"{N}x32": of(ALL_CORES)},
        {"engine": "null", "size": "1g"},
    ),
    Case(
        "zram, one thread",
        "The read is a copy that the reading thread itself makes in the kernel: nothing to wait for, one core at work.",
        zram,
        {"1x1": of(CORE)},
        {"engine": "psync"},
        quick=True,
    ),
    Case(
        "zram, more and more threads",
        "Each thread makes its own copies: its core holds one alone, and with as many as CPUs all of them or the memory.",
        zram,
        {"1x1": of(CORE), f"{N}x1": of(ALL_CORES, MEMORY), f"{2 * N}x1": of(ALL_CORES, MEMORY)},
        {"engine": "psync"},
    ),
    Case(
        "zram by io_uring",
        "The kernel hands the copies to threads of its own, as many as there are CPUs: nothing but CPU time is needed.",
        zram,
        {"1x1": BETWEEN, "1x8": BETWEEN, "1x32": of(CORE, ALL_CORES, KERNEL_THREAD, MEMORY)},
    ),
    Case(
        "zram, threads pinned beside a busy program",
        "The threads may use one CPU, which a program without end uses as well; a copy needs nothing but that CPU.",
        zram_beside_a_busy_program,
        # The scheduler gives half of the CPU to the program, or a third.
        {"1x1": of(CORE, CPU_TAKEN), "2x1": of(CORE, CPU_TAKEN)},
        {"engine": "psync", "cpus_allowed": str(CPUS[0])},
    ),
    Case(
        f"zram, {CPU_QUOTA_PCT} % of a CPU allowed",
        "A control group gives the program a quarter of a CPU's time, and the copies take nothing else.",
        zram_with_a_quota,
        {"1x1": of(CPU_TAKEN), "2x1": of(CPU_TAKEN)},
        {"engine": "psync"},
    ),
    Case(
        "disk, deeper and deeper",
        "fio, right before, gained 1.5x and more from QD 1 to 4 and at most 1.1x from QD 128 to 256, with CPU time left.",
        disk,
        {"1x1": of(QUEUE_DEPTH), "1x4": BETWEEN, "1x16": BETWEEN, "1x64": BETWEEN, "1x256": DISK},
    ),
    Case(
        "disk, psync with one thread",
        "fio, right before, gained 1.5x and more from QD 1 to 4; a thread that waits for each read has QD 1.",
        disk_that_depth_helps,
        {"1x1": of(QUEUE_DEPTH), "4x1": BETWEEN, "16x1": BETWEEN},
        {"engine": "psync"},
    ),
    Case(
        "disk, psync beside programs without end",
        "fio, right before, kept four fifths of its rate and more beside one such program for each CPU.",
        disk_beside_ordinary_programs,
        {"1x1": of(QUEUE_DEPTH)},
        {"engine": "psync"},
    ),
    Case(
        "disk, psync beside urgent programs without end",
        "With programs that get the CPU first fio, right before, kept a third of its rate and less.",
        disk_beside_endless_programs("--ioengine=psync", "--readonly", niceness=URGENT),
        {"1x1": of(CPU_TAKEN)},
        {"engine": "psync"},
    ),
    Case(
        "disk, psync beside programs without end that begin later",
        "The same with programs that begin when Fathom has looked at the idle host.",
        disk_beside_endless_programs("--ioengine=psync", "--readonly", niceness=URGENT, after_s=AFTER_THE_BASELINE_S),
        {"1x1": of(CPU_TAKEN)},
        {"engine": "psync"},
    ),
    Case(
        "disk, synced writes beside programs without end",
        "The load of etcd's check of a disk: fio, right before, kept a third of its rate and less.",
        disk_beside_endless_programs(*SYNCED, niceness=URGENT),
        {"1x1": of(CPU_TAKEN)},
        {"engine": "psync", "rw": "write", "bs": "2300", "fdatasync": 1, "direct": 0},
        quick=True,
    ),
    Case(
        "disk, 32 in flight beside urgent programs without end",
        "fio, right before, kept a third of its rate and less: with its thread off the CPU the disk runs dry.",
        disk_beside_endless_programs("--readonly", depth=32, niceness=URGENT),
        {"1x32": of(CPU_TAKEN)},
    ),
    Case(
        "disk, sqpoll beside urgent programs without end",
        "The kernel thread that takes the I/Os needs a CPU as the workers do: fio kept a third of its rate and less.",
        disk_beside_endless_programs("--readonly", "--ioengine=io_uring", "--sqthread_poll=1", niceness=URGENT),
        {"1x1": of(CPU_TAKEN)},
        {"mode": "sqpoll"},
    ),
    Case(
        f"disk, {SMALL_QUOTA_PCT} % of a CPU allowed",
        "A control group gives the program a tenth of a CPU's time, and fio, right before, used three times as much.",
        disk_with_a_quota,
        {"1x32": of(CPU_TAKEN)},
    ),
    Case(
        "disk beside a second program",
        "fio keeps 64 reads in flight on the same disk: one more of ours is one of many, and at 256 the disk is full.",
        disk_beside_fio,
        {"1x1": of(QUEUE_DEPTH), "1x16": BETWEEN, "1x256": DISK},
    ),
    Case(
        f"disk, {ASKED_IOPS} I/Os a second asked for",
        "An open loop asks for far less than any disk gives.",
        disk_alone,
        {"1x16": of(RATE)},
        {"rate_iops": ASKED_IOPS},
        quick=True,
    ),
    Case(
        f"disk, {ALLOWED_IOPS} reads a second allowed",
        "A control group lets far fewer reads through than the disk gives at QD 1.",
        capped_disk,
        {"1x1": of(RATE), "1x8": of(RATE), "1x64": of(RATE)},
        quick=True,
    ),
    Case(
        f"disk, {ALLOWED_MIB} MiB a second allowed",
        "A control group lets fewer bytes through than one read of 64 KiB at a time would bring.",
        disk_of_few_bytes,
        {"1x1": of(RATE), "1x4": of(RATE), "1x16": of(RATE)},
        {"bs": "64k"},
    ),
    Case(
        f"loop device, {ALLOWED_IOPS} reads a second allowed",
        "A control group lets few reads through to a loop device whose file is in memory.",
        capped_loop,
        {"1x1": of(RATE), "1x8": of(RATE), "1x64": of(RATE)},
    ),
    Case(
        "loop device on the disk",
        "It hands the reads on to the disk, of which fio said the same as above; its kernel thread takes CPU time as well.",
        loop_on_disk,
        {"1x1": of(QUEUE_DEPTH), "1x16": BETWEEN, "1x256": of(DEVICE, RATE, CORE, ALL_CORES, KERNEL_THREAD)},
    ),
    Case(
        "loop device on a file in memory",
        "No drive is asked: one kernel thread copies every block out of the page cache.",
        loop_in_memory,
        {"1x1": BETWEEN, "1x16": BETWEEN, "1x128": of(CORE, ALL_CORES, KERNEL_THREAD, PAGE_CACHE)},
    ),
    Case(
        "file read again through the page cache",
        "The whole file was read right before: the page cache answers, and the thread that copies has no one to wait for.",
        read_file,
        {"1x1": of(PAGE_CACHE, CORE), "1x16": of(PAGE_CACHE, CORE)},
        {"direct": 0},
        quick=True,
    ),
    Case(
        "file in tmpfs, psync with one thread",
        "The file is memory: the thread copies, and there is no device that it could wait for.",
        file_in_tmpfs,
        {"1x1": of(PAGE_CACHE, CORE)},
        {"engine": "psync", "direct": 0},
    ),
    Case(
        "file without blocks",
        "The file system answers reads of a hole with zeros, without a device: its code on our core.",
        sparse_file,
        {"1x1": of(CORE, PAGE_CACHE, ALL_CORES), "1x32": of(CORE, PAGE_CACHE, ALL_CORES)},
        quick=True,
    ),
    Case(
        "writes into a file without blocks",
        "The same writes into a file with blocks are many times as fast: the file system finds space for each, one at a time.",
        unwritten_file,
        {"8x1": of(FILE_SYSTEM), "32x1": of(FILE_SYSTEM)},
        {"engine": "psync", "rw": "randwrite"},
        quick=True,
    ),
]
