"""Machines to emulate: what is in them, as values, and QEMU's words for it."""

from dataclasses import dataclass, replace
from pathlib import Path

MIB = 1 << 20
# First bus of the host bridge of each NUMA node. QEMU gives a node to devices behind such a bridge only.
FIRST_BUS = 32


@dataclass(frozen=True)
class Port:
    """A root port: `node` is the NUMA node of its host bridge, None for a machine without nodes."""

    name: str
    node: int | None
    speed_gts: int
    width: int
    slot: int


@dataclass(frozen=True)
class Switch:
    """A PCIe switch on `port` with as many downstream ports as `downstream` names."""

    port: str
    downstream: tuple[str, ...]
    first_slot: int


@dataclass(frozen=True)
class Drive:
    """An NVMe drive in a port. `bad_sectors`: reads of these 512-byte sectors fail with a media error."""

    serial: str
    port: str
    size_bytes: int = 256 * MIB
    iops_max: int | None = None
    bad_sectors: tuple[int, ...] = ()
    # QEMU's limit of I/O queue pairs of the drive; 64 unless given.
    queue_pairs: int | None = None

    @property
    def id(self) -> str:
        """QEMU's name of the device."""
        return f"nv-{self.serial}"


@dataclass(frozen=True)
class Machine:
    """A machine with its description; CPUs are dealt to `nodes` NUMA nodes evenly and in order."""

    name: str
    description: str
    sockets: int
    cores: int
    threads: int
    ports: tuple[Port, ...]
    drives: tuple[Drive, ...]
    nodes: int = 1
    switches: tuple[Switch, ...] = ()
    poll_queues: int = 2
    memory_mib: int = 2048
    # Throttled drives keep the machine mostly idle: its tests run in addition to those of the other workers.
    is_light: bool = False
    kernel_options: tuple[str, ...] = ()

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads

    def cpus_of_node(self, node: int) -> range:
        each = self.cpus // self.nodes
        return range(node * each, (node + 1) * each)

    def node_of(self, port: str) -> int | None:
        """NUMA node of a port of any kind."""
        for switch in self.switches:
            if port in switch.downstream:
                port = switch.port
        return next(p.node for p in self.ports if p.name == port)

    def without_drives(self) -> "Machine":
        return replace(self, drives=())


def arguments(machine: Machine) -> list[str]:
    """The part of QEMU's command line that describes the machine without its drives."""
    out = ["-machine", "q35,hpet=off,vmport=off,kernel-irqchip=split", "-accel", "tcg,thread=multi"]
    # Linux does not show the emulated CPU's own caches and topology for QEMU's own vendor strings.
    out += ["-cpu", "max,vendor=GenuineIntel,family=6,model=85,stepping=4", "-m", str(machine.memory_mib)]
    topology = f"sockets={machine.sockets},cores={machine.cores},threads={machine.threads}"
    out += ["-smp", f"{machine.cpus},{topology}"]
    if machine.nodes > 1:
        out += _nodes(machine)
    out += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    out += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
    bridges = sorted({port.node for port in machine.ports if port.node is not None})
    for node in bridges:
        out += ["-device", f"pxb-pcie,id=pxb{node},bus=pcie.0,bus_nr={FIRST_BUS * (node + 1)},numa_node={node}"]
    for port in machine.ports:
        bus = "pcie.0" if port.node is None else f"pxb{port.node}"
        link = f"x-speed={port.speed_gts},x-width={port.width}"
        out += ["-device", f"pcie-root-port,id={port.name},bus={bus},chassis={port.slot},slot={port.slot},{link}"]
    for index, switch in enumerate(machine.switches):
        out += ["-device", f"x3130-upstream,id=sw{index},bus={switch.port}"]
        for number, name in enumerate(switch.downstream):
            slot = switch.first_slot + number
            out += ["-device", f"xio3130-downstream,id={name},bus=sw{index},chassis={slot},slot={slot}"]
    return out


def _nodes(machine: Machine) -> list[str]:
    out = []
    each = machine.memory_mib // machine.nodes
    for node in range(machine.nodes):
        cpus = machine.cpus_of_node(node)
        out += ["-object", f"memory-backend-ram,id=m{node},size={each}M"]
        out += ["-numa", f"node,nodeid={node},cpus={cpus[0]}-{cpus[-1]},memdev=m{node}"]
    for first in range(machine.nodes):
        for second in range(machine.nodes):
            if first != second:
                out += ["-numa", f"dist,src={first},dst={second},val=21"]
    return out


def kernel_line(machine: Machine) -> str:
    # The TSC is sound under emulation, but Linux would choose a clock that costs a port access per look.
    words = "console=ttyS0 panic=-1 mitigations=off no_timer_check nokaslr random.trust_cpu=on quiet loglevel=4"
    words += " tsc=reliable clocksource=tsc iommu=pt"
    words += f" nvme.poll_queues={machine.poll_queues}"
    return " ".join([words, *machine.kernel_options])


def block_node(drive: Drive, image: Path) -> list[dict]:
    """The QMP arguments that build the back end of `drive`, in order; the last one is what the drive stands on."""
    nodes: list[dict] = [{"driver": "file", "filename": str(image), "node-name": f"file-{drive.serial}", "discard": "unmap"}]
    if drive.bad_sectors:
        errors = [{"event": "none", "iotype": "read", "errno": 5, "sector": sector} for sector in drive.bad_sectors]
        node = {"driver": "blkdebug", "image": nodes[-1]["node-name"], "node-name": f"errors-{drive.serial}"}
        nodes.append({**node, "inject-error": errors})
    if drive.iops_max is not None:
        node = {"driver": "throttle", "file": nodes[-1]["node-name"], "node-name": f"slow-{drive.serial}"}
        nodes.append({**node, "throttle-group": f"limit-{drive.serial}"})
    return nodes


def drive_device(drive: Drive, node: str) -> dict:
    """The device itself, as QMP's device_add and the command line take it."""
    device = {"driver": "nvme", "id": drive.id, "serial": drive.serial, "bus": drive.port, "drive": node}
    if drive.queue_pairs is not None:
        device["max_ioqpairs"] = drive.queue_pairs
    return device


# IOPS that QEMU lets each drive of `six-slow` have.
SLOW_IOPS = 300

# The machine most tests share.
TWO_SOCKETS = Machine(
    name="two-sockets",
    description="two sockets of two cores with two threads, a node per socket; two drives on ports of node 0, three behind a "
    "switch of node 1; two poll queues",
    sockets=2,
    cores=2,
    threads=2,
    nodes=2,
    ports=(Port("rp0", 0, 16, 4, 1), Port("rp1", 0, 8, 2, 2), Port("rp2", 1, 16, 16, 3)),
    switches=(Switch("rp2", ("dp0", "dp1", "dp2"), 4),),
    drives=(
        Drive("TB0", "rp0"),
        Drive("TB1", "rp1"),
        Drive("TB2", "dp0"),
        Drive("TBSLOW", "dp1", iops_max=1000),
        Drive("TBBAD", "dp2", bad_sectors=(8192,)),
    ),
    kernel_options=("nvme_core.multipath=N",),
)

ONE_SOCKET = Machine(
    name="one-socket",
    description="one socket without SMT, no nodes, no poll queues; drives under the native multipath layer of Linux, one with "
    "fewer queues than there are CPUs",
    sockets=1,
    cores=3,
    threads=1,
    ports=(Port("rp0", None, 8, 8, 1), Port("rp1", None, 5, 1, 2)),
    drives=(Drive("TB0", "rp0"), Drive("TB1", "rp1", queue_pairs=2)),
    poll_queues=0,
    memory_mib=1024,
    kernel_options=("nvme_core.multipath=Y",),
)

THREE_NODES = Machine(
    name="three-nodes",
    description="three sockets of one core with two threads, three nodes; switches on two of them, a drive on a port of the third; one "
    "poll queue",
    sockets=3,
    cores=1,
    threads=2,
    nodes=3,
    ports=(Port("rp0", 0, 16, 8, 1), Port("rp1", 2, 8, 4, 2), Port("rp2", 1, 16, 2, 3)),
    switches=(Switch("rp0", ("dp0", "dp1"), 4), Switch("rp1", ("dp2",), 6)),
    drives=(Drive("TB0", "dp0"), Drive("TB1", "dp1"), Drive("TB2", "dp2"), Drive("TB3", "rp2", size_bytes=512 * MIB)),
    poll_queues=1,
    memory_mib=1536,
    kernel_options=("nvme_core.multipath=N",),
)

SIX_SLOW = Machine(
    name="six-slow",
    description=f"one socket of two cores; six drives behind a switch, each throttled to {SLOW_IOPS} IOPS: members of arrays whose limit is known",
    sockets=1,
    cores=2,
    threads=1,
    ports=(Port("rp0", None, 16, 4, 1),),
    switches=(Switch("rp0", tuple(f"dp{i}" for i in range(6)), 4),),
    drives=tuple(Drive(f"TBM{i}", f"dp{i}", size_bytes=64 * MIB, iops_max=SLOW_IOPS) for i in range(6)),
    poll_queues=0,
    memory_mib=1024,
    is_light=True,
    kernel_options=("nvme_core.multipath=N",),
)

MACHINES = {machine.name: machine for machine in (TWO_SOCKETS, ONE_SOCKET, THREE_NODES, SIX_SLOW)}
