"""A running guest: start, commands, saved state, drives, end."""

import base64
import ctypes
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from . import images, machines, notes, packages, paths
from .agent import Agent, Answer
from .errors import GuestLost
from .machines import Drive, Machine
from .qmp import Qmp, QmpError

# Emulation on a busy host is slow: a time-out says that something hangs, not that it is late.
BOOT_TIMEOUT_S = 120.0
# A restored guest answers within seconds, or never: its emulated CPUs spin.
RESTORE_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 180.0
PR_SET_PDEATHSIG = 1
# Looked up here: a process that was just forked from a program with threads must not load a library.
PRCTL = ctypes.CDLL(None).prctl
BOOTS_MAX = 5
CLOCK_ASKS = 3
CLOCK_CHECK_S = 1.0
CLOCK_TOLERANCE = 0.02

# QEMU processes that end with this program; true once no more may start.
_running: set[subprocess.Popen] = set()
_is_ending = False
_running_lock = threading.Lock()


def end_all() -> None:
    """Ends every guest of this program and lets no other start."""
    global _is_ending
    with _running_lock:
        _is_ending = True
        for process in _running:
            process.kill()


@dataclass
class Guest:
    """A guest and the connections to it."""

    machine: Machine
    pid: int
    folder: Path
    sockets: Path
    process: subprocess.Popen | None = None
    agent: Agent | None = None
    drives: list[Drive] = field(default_factory=list)
    # Variables of every script in the guest.
    environment: dict[str, str] = field(default_factory=dict)
    # True under `test --all`: tests run their long lists.
    every: bool = False

    @staticmethod
    def boot(machine: Machine, stays: bool = False) -> "Guest":
        """Starts a machine with its drives. `stays`: lives on when this program ends."""
        guest = _booted(machine, machine.drives, stays)
        with _ended_on_error(guest):
            guest.attach()
        return guest

    @staticmethod
    def restore(machine: Machine, drives: tuple[Drive, ...], stays: bool = False) -> "Guest":
        """Starts a machine from its saved state (saving it first, if needed) and plugs `drives` in."""
        bare = machine.without_drives()
        saved = saved_state(bare)
        guest = _start(bare, ["-incoming", f"exec:cat {shlex.quote(str(saved))}"], (), stays)
        with _ended_on_error(guest):
            guest.go_on()
            guest.attach(RESTORE_TIMEOUT_S)
            guest.machine = machine
            for drive in drives:
                guest.plug(drive)
            guest.wait_for_drives()
        return guest

    def go_on(self) -> None:
        """Lets a restored guest run: it was saved at a stop."""
        qmp = self.qmp()
        end = time.monotonic() + 60
        while (state := qmp.command("query-status")["status"]) == "inmigrate" and time.monotonic() < end:
            time.sleep(0.05)
        if state != "paused":
            raise GuestLost(f"the saved guest is {state} instead of paused")
        qmp.command("cont")
        qmp.close()

    def attach(self, timeout_s: float = BOOT_TIMEOUT_S) -> None:
        """Connects to the agent and gives the guest its time and the program under test."""
        self.connect(timeout_s)
        self.ok(
            f"date -s @{int(time.time())} >/dev/null\n"
            "grep -q ' /fathom ' /proc/mounts && exit\n"
            "disk=$(grep -lx fathom /sys/block/vd*/serial); disk=${disk#/sys/block/}\n"
            "blockdev --flushbufs /dev/${disk%/serial} && mount -t ext4 -o ro /dev/${disk%/serial} /fathom"
        )
        self.wait_for_drives()

    def connect(self, timeout_s: float = BOOT_TIMEOUT_S) -> None:
        """Waits until the agent answers."""
        if self.agent is not None:
            self.agent.close()
        self.agent = Agent(self.sockets / "agent")
        try:
            self.agent.wait_until_ready(timeout_s)
        except GuestLost as lost:
            raise GuestLost(f"{lost}; its console ends:\n{self.console_end()}") from lost

    def clock_rates(self) -> tuple[float, float]:
        """How fast the guest's clock runs, 1 being right: at least and at most, as far as a second of it tells."""
        first_asked, first, first_answered = self._uptime()
        time.sleep(CLOCK_CHECK_S)
        last_asked, last, last_answered = self._uptime()
        # The guest's own figure is cut to hundredths.
        least, most = last - first - 0.01, last - first + 0.01
        return least / (last_answered - first_asked), most / (last_asked - first_answered)

    def _uptime(self) -> tuple[float, float, float]:
        """This host's clock, the guest's, this host's again: of several answers the quickest."""
        answers = []
        for _ in range(CLOCK_ASKS):
            asked = time.monotonic()
            uptime = float(self.ok("cat /proc/uptime").split()[0])
            answers.append((asked, uptime, time.monotonic()))
        return min(answers, key=lambda answer: answer[2] - answer[0])

    def run(self, script: str, timeout_s: float = COMMAND_TIMEOUT_S) -> Answer:
        """Runs a shell script in the guest."""
        assert self.agent is not None, "attach() comes first"
        script = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.environment.items()) + script
        try:
            return self.agent.run(script, timeout_s)
        except TimeoutError:
            raise GuestLost(f"no end after {timeout_s:.0f} s: {script}\n{self.console_end()}") from None

    def ok(self, script: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        """Runs a script that must succeed; returns its output without the last newline."""
        answer = self.run(script, timeout_s)
        if answer.status != 0:
            raise AssertionError(f"status {answer.status} of: {script}\n{answer.out[-2000:]}{answer.err[-2000:]}")
        return answer.out.rstrip("\n")

    def fetch(self, path: str) -> bytes:
        """Content of a file of the guest."""
        return base64.b64decode(self.ok(f"base64 {shlex.quote(path)}"))

    def fathom(self, words: str, status: int = 0, prefix: str = "") -> Answer:
        """Runs Fathom, which must end with `status`. `prefix`: what the shell does before."""
        answer = self.run(f"{prefix} fathom {words}")
        if answer.status != status:
            said = f"{answer.out[-3000:]}\n{answer.err[-3000:]}"
            raise AssertionError(f"fathom {words}\nended with {answer.status} instead of {status}:\n{said}")
        return answer

    def fathom_json(self, words: str, status: int = 0, prefix: str = "") -> dict:
        """As `fathom`, for commands that print JSON alone."""
        answer = self.fathom(words, status, prefix)
        try:
            return json.loads(answer.out)
        except ValueError as error:
            raise AssertionError(f"fathom {words}: no JSON ({error}):\n{answer.out[-2000:]}\n{answer.err}") from error

    def device(self, serial: str) -> str:
        """Path of the block device of a drive. Its number differs from boot to boot, its serial does not."""
        script = f'for c in /sys/class/nvme/*; do [ "$(echo $(cat $c/serial))" = {serial} ] && ls $c; done'
        name = self.ok(script + "; true").split()
        # With native multipath the head, nvme0n1, is not below the controller, which has nvme0c0n1 alone.
        found = sorted(n for n in name if n.startswith("nvme") and "n" in n[4:])
        if not found:
            raise AssertionError(f"no drive {serial} in the guest")
        head = found[0]
        if "c" in head[4:]:
            head = head[: head.index("c", 4)] + head[head.index("n", 4) :]
        return f"/dev/{head}"

    def qmp(self) -> Qmp:
        """A new connection to QEMU's monitor."""
        return Qmp(self.sockets / "qmp")

    def plug(self, drive: Drive) -> None:
        """Adds a drive while the guest runs."""
        qmp = self.qmp()
        if drive.iops_max is not None:
            limits = {"iops-total": drive.iops_max}
            qmp.command("object-add", qom_type="throttle-group", id=f"limit-{drive.serial}", limits=limits)
        nodes = machines.block_node(drive, image_of(self.folder, drive))
        for node in nodes:
            qmp.raw({"execute": "blockdev-add", "arguments": node})
        qmp.raw({"execute": "device_add", "arguments": machines.drive_device(drive, nodes[-1]["node-name"])})
        qmp.close()
        self.drives.append(drive)

    def pull(self, drive: Drive) -> None:
        """Removes a drive without asking the guest's programs."""
        qmp = self.qmp()
        qmp.command("device_del", id=drive.id)
        qmp.close()
        self.drives.remove(drive)

    def replug(self, drive: Drive) -> None:
        """Puts a drive that was pulled back into its port, with what is on it."""
        node = machines.block_node(drive, self.image(drive.serial))[-1]["node-name"]
        qmp = self.qmp()
        end = time.monotonic() + 60
        while True:
            try:
                qmp.raw({"execute": "device_add", "arguments": machines.drive_device(drive, node)})
                break
            except QmpError:
                # The name of a pulled device is free when the guest has let go of it.
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
        qmp.close()
        self.drives.append(drive)

    def lose_power(self) -> None:
        """Ends QEMU at once and boots the machine again with the drives it had and what was on them.

        Writes that a drive had acknowledged are kept: the page cache of this host does not lose power.
        """
        if self.agent is not None:
            self.agent.close()
        self._kill()
        again = _booted(self.machine, tuple(self.drives), stays=False, folder=self.folder)
        shutil.rmtree(self.sockets, ignore_errors=True)
        self.pid, self.process, self.sockets = again.pid, again.process, again.sockets
        self.attach()

    def passthrough(self, serial: str) -> str:
        """Path of the character device of a drive."""
        return self.device(serial).replace("/dev/nvme", "/dev/ng")

    def wait_for_drives(self, timeout_s: float = 60.0) -> None:
        """Until every drive has its block device. A kernel that does not bring them up is a guest lost."""
        script = (
            f'end=$(($(date +%s) + {int(timeout_s)})); '
            f'until [ "$(grep -l live /sys/class/nvme/*/state 2>/dev/null | wc -l)" = {len(self.drives)} ] '
            f'&& [ "$(ls -d /dev/nvme*n1 2>/dev/null | wc -l)" = {len(self.drives)} ]; do '
            "[ $(date +%s) -lt $end ] || { ls /dev/nvme*; cat /sys/class/nvme/*/state; dmesg | tail; exit 1; }; "
            "sleep 0.1; done"
        )
        answer = self.run(script, timeout_s + 30)
        if answer.status != 0:
            raise GuestLost(f"the kernel did not bring up its drives in {timeout_s:.0f} s:\n{answer.out[-2000:]}{answer.err[-2000:]}")

    def image(self, serial: str) -> Path:
        """The file behind a drive."""
        return self.folder / f"{serial}.raw"

    def console_end(self) -> str:
        lines = (self.folder / "console.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-15:])

    def down(self) -> None:
        """Ends QEMU at once and removes what it left."""
        if self.agent is not None:
            self.agent.close()
        self._kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def kill(self) -> None:
        """Ends QEMU at once, from any thread. Commands in the guest then fail with `GuestLost`."""
        if self.process is not None:
            self.process.kill()

    def _kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with _running_lock:
                _running.discard(self.process)
            return
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def image_of(folder: Path, drive: Drive) -> Path:
    """The image of a drive; when there is none yet an empty one, whose blocks take room when they are written."""
    image = folder / f"{drive.serial}.raw"
    with image.open("ab") as file:
        file.truncate(drive.size_bytes)
    return image


def state_file(machine: Machine) -> Path:
    """Where the saved state of a machine lies; its name changes with everything it depends on."""
    words = [images.state_key(), *machines.arguments(machine), machines.kernel_line(machine)]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    return paths.IMAGES / f"{machine.name}-{digest}.state"


def saved_state(machine: Machine) -> Path:
    """The saved state of a machine without drives, which is made first if there is none. One worker makes it."""
    with paths.locked(f"state-{machine.name}"):
        saved = state_file(machine)
        return saved if saved.exists() else _save(machine)


def save(machine: Machine) -> Path:
    """Boots a machine without drives and keeps its state: a guest with NVMe drives cannot be saved."""
    with paths.locked(f"state-{machine.name}"):
        return _save(machine.without_drives())


def _save(bare: Machine) -> Path:
    target = state_file(bare)
    for old in paths.IMAGES.glob(f"{bare.name}-*.state"):
        old.unlink()
    guest = _booted(bare, (), stays=False)
    try:
        qmp = guest.qmp()
        qmp.command("stop")
        part = target.with_suffix(".part")
        qmp.command("migrate", uri=f"exec:cat > {shlex.quote(str(part))}")
        while (state := qmp.command("query-migrate").get("status")) != "completed":
            if state in ("failed", "cancelled"):
                raise GuestLost(f"the guest could not be saved: {state}")
            time.sleep(0.1)
        part.rename(target)
    finally:
        guest.down()
    return target


@contextmanager
def _ended_on_error(guest: Guest) -> Iterator[None]:
    """Ends a guest that nobody gets: the CPUs of one that hangs spin, which slows the other guests down."""
    try:
        yield
    except BaseException:
        guest.down()
        raise


def _booted(machine: Machine, drives: tuple[Drive, ...], stays: bool, folder: Path | None = None) -> Guest:
    """A guest that answers and whose clock is right.

    Its kernel measures the TSC once, against a timer that this host emulates. On a host with more to do than it has
    CPUs for, that goes wrong by any factor, and then every second in the guest is a lie.
    """
    for _ in range(BOOTS_MAX):
        guest = _start(machine, [], drives, stays, folder)
        with _ended_on_error(guest):
            guest.connect()
            least, most = guest.clock_rates()
        if least <= 1 + CLOCK_TOLERANCE and most >= 1 - CLOCK_TOLERANCE:
            guest.agent.close()
            guest.agent = None
            return guest
        notes.note(f"{machine.name} booted with a clock that runs {least:.2f} to {most:.2f} times as fast: again")
        if folder is None:
            guest.down()
        else:
            guest.agent.close()
            guest._kill()
    raise GuestLost(f"{machine.name} got no right clock in {BOOTS_MAX} boots: this host has too much else to do")


def _start(
    machine: Machine, extra: list[str], drives: tuple[Drive, ...], stays: bool, folder: Path | None = None
) -> Guest:
    paths.RUNS.mkdir(parents=True, exist_ok=True)
    folder = folder or Path(tempfile.mkdtemp(prefix=f"{machine.name}-", dir=paths.RUNS))
    # Names of sockets may be 107 bytes long, and the project may lie deep.
    sockets = Path(tempfile.mkdtemp(prefix="fathom-testbed-"))
    host = packages.tree("host") / "usr"
    libraries = host / "lib/x86_64-linux-gnu"
    command = [host / "bin/qemu-system-x86_64", "-L", host / "share/qemu", "-L", host / "share/seabios"]
    command += machines.arguments(machine)
    command += ["-kernel", images.kernel(), "-initrd", images.INITRD, "-append", machines.kernel_line(machine)]
    for name, image in (("tools", images.TOOLS), ("fathom", images.fathom())):
        command += ["-drive", f"file={image},if=none,id={name},format=raw,readonly=on"]
        command += ["-device", f"virtio-blk-pci,bus=pcie.0,drive={name},serial={name}"]
    command += ["-device", "virtio-serial-pci,bus=pcie.0"]
    command += ["-chardev", f"socket,path={sockets / 'agent'},server=on,wait=off,id=agent"]
    command += ["-device", "virtserialport,chardev=agent,name=fathom.agent"]
    command += ["-qmp", f"unix:{sockets / 'qmp'},server=on,wait=off"]
    command += ["-chardev", f"file,id=console,path={folder / 'console.log'}", "-serial", "chardev:console"]
    for drive in drives:
        command += _drive_arguments(drive, folder)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{libraries}:{host.parent / 'lib/x86_64-linux-gnu'}",
        "QEMU_MODULE_DIR": str(libraries / "qemu"),
    }
    with (folder / "qemu.log").open("wb") as log, _running_lock:
        if _is_ending:
            raise GuestLost("the run ends: no guest starts")
        process = subprocess.Popen(
            [*map(str, command), *extra],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C reaches this program only, which ends the guests itself.
            start_new_session=True,
            preexec_fn=None if stays else _end_with_parent,
        )
        if not stays:
            _running.add(process)
    guest = Guest(machine, process.pid, folder, sockets, process, drives=list(drives))
    end = time.monotonic() + 30
    while not (sockets / "qmp").exists() or not (sockets / "agent").exists():
        if process.poll() is not None or time.monotonic() > end:
            said = (folder / "qemu.log").read_text(errors="replace")
            guest.down()
            raise GuestLost(f"QEMU did not start: {said}")
        time.sleep(0.02)
    return guest


def _end_with_parent() -> None:
    """Ends QEMU with the thread that started it. A worker's guests end before its thread does."""
    PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)


def _drive_arguments(drive: Drive, folder: Path) -> list[str]:
    out = []
    if drive.iops_max is not None:
        limit = {"qom-type": "throttle-group", "id": f"limit-{drive.serial}", "limits": {"iops-total": drive.iops_max}}
        out += ["-object", json.dumps(limit)]
    nodes = machines.block_node(drive, image_of(folder, drive))
    for node in nodes:
        out += ["-blockdev", json.dumps(node)]
    return [*out, "-device", json.dumps(machines.drive_device(drive, nodes[-1]["node-name"]))]
