"""Threads run where the placement says."""

from bed import expect
from bed.guest import Guest
from bed.loads import io
from bed.machines import ONE_SOCKET, THREE_NODES, TWO_SOCKETS
from bed.suite import full, on


def cpus_of(step: dict) -> list[int]:
    """The CPUs of the step's threads, one each, proved: where each was allowed is where alone it was seen."""
    for worker in step["workers"]:
        expect.equal(worker["cpus_seen"], worker["cpus_allowed"], f"CPUs of thread {worker['index']}")
        expect.equal(len(worker["cpus_seen"]), 1, f"number of CPUs of thread {worker['index']}")
    cpus = sorted(worker["cpus_seen"][0] for worker in step["workers"])
    expect.equal(sorted(step["cpus"]), cpus, "CPUs of the step")
    return cpus


def placed(guest: Guest, serial: str, placement: str, threads: int) -> list[int]:
    step = io(guest, guest.device(serial), f"--placement {placement} --threads {threads}")
    expect.equal(step["placement"], placement, "placement")
    return cpus_of(step)


@on(TWO_SOCKETS, THREE_NODES)
@full("details of placement; the safety tier tests a list of CPUs")
def cores_puts_one_thread_on_each_core(guest: Guest) -> None:
    machine = guest.machine
    cores = machine.sockets * machine.cores
    cpus = placed(guest, "TB0", "cores", cores)
    expect.equal(sorted(cpu // machine.threads for cpu in cpus), list(range(cores)), "cores")


@on(TWO_SOCKETS, THREE_NODES)
@full("details of placement; the safety tier tests a list of CPUs")
def smt_fills_both_siblings_of_a_core_first(guest: Guest) -> None:
    cpus = placed(guest, "TB0", "smt", 2)
    expect.equal(cpus[1], cpus[0] + 1, "sibling")
    expect.equal(cpus[0] % 2, 0, "first of the siblings")


@on(TWO_SOCKETS, THREE_NODES)
@full("details of placement; the safety tier tests a list of CPUs")
def local_and_remote_are_the_drives_node_and_the_others(guest: Guest) -> None:
    machine = guest.machine
    for drive in machine.drives[:3:2]:
        node = machine.node_of(drive.port)
        home = set(machine.cpus_of_node(node))
        local, remote = (placed(guest, drive.serial, word, 2) for word in ("local", "remote"))
        far = io(guest, guest.device(drive.serial), "--placement remote --threads 2")
        assert any("NUMA" in text for text in far["warning_texts"]), f"not said that they are remote: {far['warning_texts']}"
        assert set(local) <= home, f"local to {drive.serial} of node {node}: {local}"
        assert not set(remote) & home, f"remote to {drive.serial} of node {node}: {remote}"


@on(TWO_SOCKETS)
def a_list_of_cpus_is_kept_to(guest: Guest) -> None:
    step = io(guest, guest.device("TB0"), "--cpus 1,6 --threads 2")
    expect.equal(cpus_of(step), [1, 6], "CPUs")


@on(ONE_SOCKET)
def a_placement_this_machine_cannot_give_is_refused_by_name(guest: Guest) -> None:
    device = guest.device("TB0")
    for words, reason in (("--placement smt", "SMT"), ("--placement remote", "node"), ("--cpus 3", "CPU 3")):
        step = io(guest, device, words, status=1)
        expect.equal(step["state"], "refused", words)
        expect.contains(step["reason"], reason, words)


@on(TWO_SOCKETS)
@full("details of placement; the safety tier tests a list of CPUs")
def a_cpu_that_was_taken_offline_is_refused(guest: Guest) -> None:
    guest.ok("echo 0 > /sys/devices/system/cpu/cpu5/online")
    try:
        step = io(guest, guest.device("TB0"), "--cpus 5", status=1)
        expect.equal(step["state"], "refused", "state")
        expect.contains(step["reason"], "CPU 5", "reason")
        cpus = guest.fathom_json("inspect --json")["inventory"]["processors"]["topology"]["cpus"]
        expect.equal([c["id"] for c in cpus], [0, 1, 2, 3, 4, 6, 7], "CPUs online")
    finally:
        guest.ok("echo 1 > /sys/devices/system/cpu/cpu5/online")
