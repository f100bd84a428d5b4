"""Loads by Fathom in the guest, and the kernel's own counts around them."""

from . import expect
from .guest import Guest


def io(guest: Guest, target: str, words: str, status: int = 0, runtime_s: float = 0.5, prefix: str = "") -> dict:
    """One step by `fathom io`; returns its part of the document. `prefix`: shell words before the command."""
    words = f"io --target {target} --runtime {runtime_s:g}s {words} --quiet --json"
    return step_of(guest.fathom_json(words, status, prefix=prefix))


def step_of(document: dict) -> dict:
    """The only step of a run."""
    steps = document["steps"]
    assert len(steps) == 1, f"{len(steps)} steps instead of one"
    return steps[0]


def refused_io(guest: Guest, target: str, words: str, status: int = 3) -> str:
    """A load that is refused before the first step; returns what was said."""
    return guest.fathom(f"io --target {target} --runtime 1s {words} --quiet --json", status).err


def until_row(log: str, text: str) -> str:
    """Shell words that wait, two minutes at most, for a step's row in what a run prints; it is there once the step is
    committed. Asked from outside, or of the lab, an emulated machine would need longer than a step takes."""
    return f"for i in $(seq 1200); do grep -q '{text}' {log} && break; sleep 0.1; done"


def raid5_of(guest: Guest, devices: list[str]) -> None:
    """Makes /dev/md0, a RAID 5 of Linux md in chunks of 64 KiB, of drives that are taken to be in line already."""
    guest.ok(
        "set -e\nmodprobe -a md_mod raid456\n"
        f"mdadm --create /dev/md0 --run --level 5 --chunk 64 --raid-devices {len(devices)} --assume-clean --bitmap none "
        f"{' '.join(devices)}",
        timeout_s=300,
    )


def queue_interrupts(guest: Guest, device: str) -> int:
    """Interrupts since boot of the I/O queues of the drive behind `/dev/nvmeXn1` or `/dev/ngXn1`; the admin queue apart."""
    controller = device.removeprefix("/dev/").replace("ng", "nvme").removesuffix("n1")
    total = 0
    for line in guest.ok("cat /proc/interrupts").splitlines():
        words = line.split()
        name = words[-1]
        if name.startswith(f"{controller}q") and name != f"{controller}q0":
            total += sum(int(word) for word in words[1 : 1 + guest.machine.cpus])
    return total


def damage(step: dict) -> int:
    """Blocks that a step with verification found damaged in any way."""
    return sum(step["verify"][kind] for kind in ("torn", "misplaced", "stale", "corrupt", "foreign"))


def checks_hold(step: dict, *without: str) -> None:
    """Every law that could be checked held. `without`: names of checks that do not apply."""
    broken = [check["sentence"] for check in step["checks"] if check["ok"] is False and check["name"] not in without]
    assert not broken, broken


def checks_of_a_pass_hold(step: dict) -> None:
    """Checks of a load with `loops=1`. Its queue drains at the end of the region, so the mean depth is below the depth asked for."""
    checks_hold(step, "littles_law")


def is_proved(step: dict, name: str) -> None:
    """The check `name` was made, and held."""
    found = {check["name"]: check for check in step["checks"]}
    assert name in found and found[name]["ok"] is True, found.get(name, sorted(found))


def polling_spares_interrupts(guest: Guest, device: str, engine: str) -> None:
    """Polled reads through `engine` raise no interrupt and others do, by the kernel's count and by Fathom's own proof."""
    before = queue_interrupts(guest, device)
    polled = io(guest, device, f"{engine} --mode iopoll --iodepth 4")
    between = queue_interrupts(guest, device)
    driven = io(guest, device, f"{engine} --mode interrupt --iodepth 4")
    after = queue_interrupts(guest, device)
    assert polled["ios"] > 20 and driven["ios"] > 20, (polled["ios"], driven["ios"])
    # Before a thread measures it reads a block by preadv2, which kernels since 6.0 do not poll; a passthrough command it
    # reads by its ring.
    looks = 0 if "io_uring_cmd" in engine else 1
    assert between - before <= looks, f"{between - before} interrupts of {polled['ios']} polled reads, {looks} expected"
    # Under emulation one interrupt may bring several completions.
    assert (after - between) * 20 > driven["ios"], f"{after - between} interrupts for {driven['ios']} reads"
    for step in (polled, driven):
        checks_hold(step)
    is_proved(polled, "polled")
