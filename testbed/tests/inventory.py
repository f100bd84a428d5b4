"""`fathom inspect` against what was configured."""

from bed import expect
from bed.guest import Guest
from bed.machines import ONE_SOCKET, THREE_NODES, TWO_SOCKETS
from bed.suite import on

RATES = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4}
ALL = (TWO_SOCKETS, ONE_SOCKET, THREE_NODES)


def inventory(guest: Guest) -> dict:
    return guest.fathom_json("inspect --json")["inventory"]


def drives_by_serial(guest: Guest) -> dict[str, dict]:
    return {drive["serial"]: drive for drive in inventory(guest)["drives"]}


@on(*ALL)
def sockets_siblings_and_nodes_are_those_configured(guest: Guest) -> None:
    machine, processors = guest.machine, inventory(guest)["processors"]
    expect.equal(processors["sockets"], machine.sockets, "sockets")
    expect.equal(processors["cores"], machine.sockets * machine.cores, "cores")
    cpus = processors["topology"]["cpus"]
    expect.equal([c["id"] for c in cpus], list(range(machine.cpus)), "CPUs")
    for cpu in cpus:
        first = cpu["id"] // machine.threads * machine.threads
        expect.equal(cpu["siblings"], list(range(first, first + machine.threads)), f"siblings of CPU {cpu['id']}")
        expect.equal(cpu["package"], cpu["id"] // (machine.cores * machine.threads), f"socket of CPU {cpu['id']}")
        node = cpu["id"] // (machine.cpus // machine.nodes)
        expect.equal(cpu["node"], node, f"node of CPU {cpu['id']}")
    nodes = processors["nodes"]
    expect.equal([n["id"] for n in nodes], list(range(machine.nodes)), "nodes")
    for node in nodes:
        distances = [10 if other == node["id"] else 21 for other in range(machine.nodes)]
        expect.equal(node["distances"], distances, f"distances of node {node['id']}")
    expect.equal(processors["smt"], "on" if machine.threads > 1 else "none", "SMT")
    expect.equal(processors["clocksource"], "tsc", "clock source")


@on(*ALL)
def each_drive_has_its_node_size_and_queues(guest: Guest) -> None:
    machine, found = guest.machine, drives_by_serial(guest)
    for drive in machine.drives:
        seen = found[drive.serial]
        expect.equal(seen["numa_node"], machine.node_of(drive.port), f"node of {drive.serial}")
        expect.equal(seen["size_bytes"], drive.size_bytes, f"size of {drive.serial}")
        expect.equal(seen["model"], "QEMU NVMe Ctrl", f"model of {drive.serial}")
        expect.equal(seen["logical_block_bytes"], 512, f"block of {drive.serial}")
        queues = min(machine.cpus, drive.queue_pairs or machine.cpus)
        # The kernel lists the queues that are polled with the others.
        expect.equal(seen["hw_queues"], queues + machine.poll_queues, f"queues of {drive.serial}")
        expect.equal(len(seen["hw_queue_cpus"]), queues + machine.poll_queues, f"CPUs of the queues of {drive.serial}")
        expect.equal(seen["poll_queues"], machine.poll_queues, f"poll queues of {drive.serial}")
        expect.equal(seen["io_poll"], machine.poll_queues > 0, f"polling on {drive.serial}")


@on(*ALL)
def each_queue_has_a_vector_and_the_vectors_cover_all_cpus(guest: Guest) -> None:
    machine, document = guest.machine, inventory(guest)
    serials = {drive["serial"]: drive["interrupt_device"] for drive in document["drives"]}
    for drive in machine.drives:
        device = serials[drive.serial]
        vectors = [v for v in document["interrupts"]["vectors"] if v["device"] == device and v["queue"]]
        queues = min(machine.cpus, drive.queue_pairs or machine.cpus)
        expect.equal(sorted(v["queue"] for v in vectors), list(range(1, queues + 1)), f"vectors of {drive.serial}")
        expect.equal(cpus_of(v["affinity"] for v in vectors), list(range(machine.cpus)), f"CPUs of {drive.serial}")


def cpus_of(lists) -> list[int]:
    """All CPUs of CPU lists such as `0-1,4`."""
    out = []
    for part in ",".join(lists).split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return sorted(out)


def functions_with_parents(complexes: list[dict]) -> dict[str, list[dict]]:
    """By address: the function and everything above it, nearest first."""
    out: dict[str, list[dict]] = {}

    def walk(function: dict, above: list[dict]) -> None:
        out[function["address"]] = [function, *above]
        for child in function["children"]:
            walk(child, [function, *above])

    for complex_ in complexes:
        for function in complex_["functions"]:
            walk(function, [])
    return out


@on(*ALL)
def each_drive_hangs_below_its_port_with_the_ports_best_link(guest: Guest) -> None:
    machine, document = guest.machine, inventory(guest)
    above = functions_with_parents(document["pcie"]["complexes"])
    addresses = {drive["serial"]: drive["pci_address"] for drive in document["drives"]}
    for drive in machine.drives:
        path = above[addresses[drive.serial]]
        switch = next((s for s in machine.switches if drive.port in s.downstream), None)
        kinds = ["endpoint", "switch_downstream", "switch_upstream", "root_port"] if switch else ["endpoint", "root_port"]
        expect.equal([f["kind"] for f in path], kinds, f"way to {drive.serial}")
        port = next(p for p in machine.ports if p.name == (switch.port if switch else drive.port))
        best = path[-1]["link_max"]
        expect.equal((best["generation"], best["width"]), (RATES[f"{port.speed_gts:.1f}"], port.width), f"port of {drive.serial}")
    switches = {f["address"] for path in above.values() for f in path if f["kind"] == "switch_upstream"}
    expect.equal(len(switches), len(machine.switches), "switches")


@on(*ALL)
def a_drive_at_gen1_x1_below_a_much_better_port_has_trained_down(guest: Guest) -> None:
    machine, document = guest.machine, guest.fathom_json("inspect --json")
    advised = [a for a in document["advice"] if a["id"] == "link.trained-down"]
    subjects = sorted(name for advice in advised for name in advice["subjects"])
    # Every emulated drive runs at Gen1 x1 and claims no better. Below a Gen2 x1 port that is no reason to doubt it.
    modest = {p.name for p in machine.ports if p.speed_gts * p.width <= 5}
    doubted = {d.serial for d in machine.drives if d.port not in modest}
    names = sorted(d["name"] for d in document["inventory"]["drives"] if d["serial"] in doubted)
    expect.equal(subjects, names, "drives that trained down")


@on(TWO_SOCKETS, THREE_NODES)
def a_drive_of_another_node_is_found_for_the_cpus_named(guest: Guest) -> None:
    machine = guest.machine
    first_of_node = {machine.node_of(drive.port): drive for drive in reversed(machine.drives)}
    for drive in machine.drives if guest.every else first_of_node.values():
        name = guest.device(drive.serial).removeprefix("/dev/")
        home = machine.node_of(drive.port)
        for node in range(machine.nodes):
            cpus = machine.cpus_of_node(node)
            document = guest.fathom_json(f"inspect --json --target {name} --cpus {cpus[0]}-{cpus[-1]}")
            is_advised = any(a["id"] == "numa.remote-drive" for a in document["advice"])
            expect.equal(is_advised, node != home, f"{drive.serial} of node {home} advised as remote for node {node}")


@on(ONE_SOCKET)
def drives_without_poll_queues_and_with_few_queues_are_reported(guest: Guest) -> None:
    document = guest.fathom_json("inspect --json")
    by_id: dict[str, list[str]] = {}
    for advice in document["advice"]:
        by_id.setdefault(advice["id"], []).extend(advice["subjects"])
    names = {d["serial"]: d["name"] for d in document["inventory"]["drives"]}
    expect.equal(sorted(by_id["queues.no-poll"]), sorted([names["TB0"], names["TB1"]]), "no poll queues")
    assert names["TB1"] in by_id["queues.fewer-than-cores"], by_id
    assert names["TB0"] not in by_id["queues.fewer-than-cores"], by_id


@on(*ALL)
def the_tree_for_people_names_every_drive_and_the_machine(guest: Guest) -> None:
    text = guest.fathom("inspect --details").out
    expect.contains(text, [f"serial {drive.serial}" for drive in guest.machine.drives], "inspect")
    expect.contains(text, "virtual machine (QEMU)", "inspect")


@on(ONE_SOCKET)
def a_fix_is_shown_first_made_with_yes_and_undone(guest: Guest) -> None:
    name = guest.device("TB0").removeprefix("/dev/")
    file = f"/sys/block/{name}/queue/scheduler"

    def scheduler() -> str:
        return guest.ok(f"cat {file}").split("[")[1].split("]")[0]

    guest.ok(f"echo mq-deadline > {file}")
    fix = f"inspect --target {name} --fix disk.scheduler"
    expect.contains(guest.fathom(fix).out, ["mq-deadline -> none", "Nothing was changed", "--yes"], "what would change")
    expect.equal(scheduler(), "mq-deadline", "scheduler after it was shown")
    expect.contains(guest.fathom(f"{fix} --yes").out, ["mq-deadline -> none", "fathom restore"], "what was changed")
    expect.equal(scheduler(), "none", "scheduler after a yes")
    expect.contains(guest.fathom(fix).out, "There is nothing to change", "fix of what is right")
    guest.fathom("restore")
    expect.equal(scheduler(), "mq-deadline", "scheduler after restore")
