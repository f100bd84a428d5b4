"""Engine nvme: drives driven past the kernel, in the step of a run, by queues that its threads poll."""

import json
import os
from statistics import median

from bed import bindings, expect
from bed.guest import Guest
from bed.loads import checks_hold, damage, io, refused_io
from bed.machines import TWO_SOCKETS
from bed.suite import restored

# How many times as long the loads are that must be long to prove much: CI has one hour for everything.
TIMES = int(os.environ.get("FATHOM_TESTBED_TIMES", "1"))
BLOCK_BYTES = 512
REGION_BYTES = 2 << 20


def taken(guest: Guest, target: str, words: str, serial: str = "TB0", **more: object) -> dict:
    """A step of engine nvme, which the drive leaves the kernel for."""
    return io(guest, target, f"--engine nvme {words} --allow-unbind {serial}", **more)  # type: ignore[arg-type]


def each_touched(guest: Guest, target: str, words: str, blocks: int, runtime_s: float) -> dict:
    """A step of engine nvme long enough that each block of its region has its turn, however little of a CPU it gets."""
    step: dict = {}
    for longer in (1, 2, 4, 8):
        step = taken(guest, target, words, runtime_s=longer * runtime_s)
        if step["ios"] >= blocks:
            break
    assert step["ios"] >= blocks, f"{step['ios']} I/Os of {blocks} blocks: not each was touched"
    return step


@restored(TWO_SOCKETS, "TB0", "TB1")
def user_space_reads_and_writes_what_the_kernel_reads_back(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    where, device = bindings.address(guest, "TB0"), guest.device("TB0")
    expect.contains(refused_io(guest, device, "--engine nvme"), "--allow-unbind TB0", "without a word for it")
    writes = f"--rw randwrite --bs {BLOCK_BYTES} --size {REGION_BYTES} --engine nvme --allow-unbind TB0"
    expect.contains(refused_io(guest, device, writes), "--destroy TB0", "writes without a word for them")
    region = f"--bs {BLOCK_BYTES} --size {REGION_BYTES} --verify crc32c"
    blocks = REGION_BYTES // BLOCK_BYTES
    ios = 0
    consent = "--destroy TB0"
    for depth, threads in ((1, 1), (8, 2), (64, 4), (256, 4), (256, 1)):
        load = f"--iodepth {depth} --numjobs {threads}"
        for rw in ("randwrite", "randread"):
            runtime_s = TIMES * (3 if depth == 1 else 1.5)
            step = each_touched(guest, device, f"--rw {rw} {region} {load} {consent}", blocks, runtime_s)
            expect.equal((step["engine"], step["errors"], damage(step)), ("nvme", 0, 0), f"{rw} {load}")
            assert step["verify"]["blocks_checked"] > 0.95 * blocks, step["verify"]
            checks_hold(step)
            ios += step["ios"]
            consent = "--destroy TB0:data"
    # The drive is the kernel's again, under its name, and holds what it was given.
    bindings.is_as_it_was(guest, "TB0", where)
    step = io(guest, guest.device("TB0"), f"--rw randread {region} --engine io_uring --iodepth 32", runtime_s=3)
    expect.equal((step["errors"], damage(step)), (0, 0), "what the kernel reads")
    assert step["verify"]["blocks_checked"] > 0.95 * blocks, step["verify"]
    # What the kernel writes is read past it, by the address of the drive as well.
    io(guest, guest.device("TB0"), f"--rw write {region} --engine io_uring --iodepth 32 --destroy TB0:data", runtime_s=3)
    step = taken(guest, where, f"--rw randread {region} --iodepth 32", runtime_s=3)
    expect.equal((step["errors"], damage(step)), (0, 0), "what it wrote")
    assert step["verify"]["blocks_checked"] > 0.95 * blocks, step["verify"]
    print(f"        {ios} I/Os of 512 bytes past the kernel, each verified", flush=True)
    # Large blocks go by lists of pages, syncs and trims by commands of their own; several drives by one thread.
    step = taken(guest, device, f"--rw rw --bs 256k --size 16m --iodepth 8 --fdatasync 4 --verify crc32c {consent}", runtime_s=2)
    expect.equal((step["errors"], damage(step)), (0, 0), "blocks of 256k")
    assert step["syncs"]["ios"] > 0, step["syncs"]
    step = taken(guest, device, f"--rw randtrim --bs 64k --size 16m --iodepth 8 {consent}", runtime_s=1)
    assert step["errors"] == 0 and step["trim"]["ios"] > 0, step["trim"]
    both = f"{device} --target {guest.device('TB1')} --spread targets --allow-unbind TB1"
    step = taken(guest, both, "--rw randread --bs 4k --iodepth 8 --numjobs 1", runtime_s=2)
    checks_hold(step)
    unequal = [text for text in step["warning_texts"] if "of its group" in text]
    assert not unequal, f"one thread on two drives: {unequal}"
    expect.contains(json.dumps(taken(guest, device, "--rw read --bs 4m", status=1)), "more than one command", "4 MiB")


@restored(TWO_SOCKETS, "TB0")
def user_space_says_of_a_drive_what_the_kernel_says(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    device = guest.device("TB0")
    for what, command in (("controller", "id-ctrl"), ("namespace", "id-ns")):
        guest.ok(f"nvme {command} {device} -b > /run/{what} && test $(wc -c < /run/{what}) = 4096")
    told = json.loads(guest.ok(f"nvme id-ctrl {device} -o json"))
    described = json.loads(guest.ok(f"nvme id-ns {device} -o json"))
    guest.fathom("nvme bind TB0")
    # All fields: every byte of both pages.
    guest.ok("fathom nvme identify TB0 --raw | cmp - /run/controller")
    guest.ok("fathom nvme identify TB0 --raw --namespace 1 | cmp - /run/namespace")
    said = guest.fathom_json("nvme identify TB0")
    controller, namespace = said["controller"], said["namespaces"][0]["namespace"]
    pairs = {
        "sn": controller["serial"], "mn": controller["model"], "fr": controller["firmware"], "vid": controller["vendor_id"],
        "nn": controller["namespaces_max"],
    }  # fmt: skip
    for name, value in pairs.items():
        expect.equal(told[name].strip() if isinstance(told[name], str) else told[name], value, name)
    expect.equal(1 << told["mdts"], controller["max_transfer_pages"], "mdts")
    expect.equal(described["nsze"], namespace["size_blocks"], "nsze")
    expect.equal(said["transfer_bytes_max"], 4096 << told["mdts"], "transfers")
    # By its address a run reads it; what is on it was judged by nobody, so that it writes nothing.
    load = "--engine nvme --bs 4k --iodepth 8"
    step = io(guest, said["address"], f"--rw randread {load}")
    assert step["ios"] > 100 and step["errors"] == 0, step["ios"]
    expect.contains(refused_io(guest, said["address"], f"--rw randwrite {load} --destroy TB0"), "unbind", "a write")
    expect.equal(bindings.driver(guest, said["address"]), "vfio-pci", "the driver afterwards")
    guest.fathom("nvme unbind TB0")
    expect.contains(guest.fathom("nvme identify TB0", 3).err, "not bound", "a drive that is not bound")


def memory_of(step: dict) -> str:
    """Where the drive found the buffers of a step."""
    return next(feature["detail"] for feature in step["features"] if feature["name"] == "drive_memory")


@restored(TWO_SOCKETS, "TB0", "TB2")
def user_space_has_its_buffers_on_large_pages_of_the_drives_node(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    load = "--rw randread --bs 4k --size 1m --iodepth 32 --verify crc32c"
    for serial, node in (("TB0", 0), ("TB2", 1)):
        device, words = guest.device(serial), f"{load} --destroy {serial}"
        io(guest, device, f"--rw write --bs 4k --size 1m --iodepth 8 --verify crc32c --destroy {serial}", runtime_s=1)
        step = taken(guest, device, words, serial, runtime_s=1)
        expect.contains(memory_of(step), "4 KiB", f"{serial}: no large pages are set aside")
        pages = f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB"
        guest.ok(f"echo 4 > {pages}/nr_hugepages; test $(cat {pages}/free_hugepages) = 4")
        step = taken(guest, device, words, serial, runtime_s=1)
        expect.contains(memory_of(step), f"2 MiB on NUMA node {node}", f"{serial}: with large pages")
        expect.equal((step["errors"], damage(step)), (0, 0), f"{serial}: what is read by them")
        expect.equal(guest.ok(f"cat {pages}/free_hugepages; echo 0 > {pages}/nr_hugepages"), "4", "pages after it")


@restored(TWO_SOCKETS, "TB0", "TB1")
def user_space_is_a_path_for_studies_of_drives_and_of_placement(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    drives = " ".join(f"--target {guest.device(serial)} --allow-unbind {serial}" for serial in ("TB0", "TB1"))
    sets = "--set engine=nvme --set numjobs=1 --set devices=[1,2] --set spread=targets"
    run = f"run scaling --only drives {drives} {sets} --time-budget 8s --quiet --json"
    document = guest.fathom_json(run)
    steps = [s for s in document["steps"] if s["phase"] == "measure"]
    expect.equal([(s["engine"], s["devices"], s["threads"], s["state"]) for s in steps],
                 [("nvme", 1, 1, "measured"), ("nvme", 2, 1, "measured")], "one thread on one drive and on two")
    assert all(s["errors"] == 0 and s["ios"] > 100 for s in steps), steps
    one = f"--target {guest.device('TB0')} --allow-unbind TB0"
    sets = "--set engine=nvme --set rw=randread --set iodepth=8 --set precondition=none --set runtime=500ms --set ramp_time=0"
    document = guest.fathom_json(f"run pinning --only depth {one} {sets} --quiet --json")
    steps = [s for s in document["steps"] if s["phase"] == "measure"]
    assert {s["engine"] for s in steps} == {"nvme"} and {s["placement"] for s in steps} == {"unpinned", "cores"}, steps
    assert all(s["errors"] == 0 and s["ios"] > 10 for s in steps) and document["comparison"]["steps"], "the sides"


@restored(TWO_SOCKETS, "TB0")
def user_space_gives_a_drive_back_after_ctrl_c_and_restore_after_kill_9(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    where, device = bindings.address(guest, "TB0"), guest.device("TB0")
    load = f"fathom io --target {device} --engine nvme --rw randread --bs 4k --iodepth 8 --runtime 100s --allow-unbind TB0 --quiet"
    until_taken = f"until [ ! -e {device} ]; do sleep 0.1; done; sleep 2"
    guest.ok(f"{load} >/run/log 2>&1 & pid=$!; {until_taken}; kill -INT $pid; wait $pid; true", timeout_s=120)
    bindings.is_as_it_was(guest, "TB0", where)
    guest.ok(f"{load} >/run/log 2>&1 & pid=$!; {until_taken}; kill -9 $pid; wait $pid; true", timeout_s=120)
    expect.equal(bindings.driver(guest, where), "vfio-pci", "driver after kill -9")
    expect.contains(guest.fathom("restore").out, "vfio-pci -> nvme", "what restore says")
    bindings.is_as_it_was(guest, "TB0", where)


@restored(TWO_SOCKETS, "TB2")
def user_space_names_a_drive_that_is_removed_under_load(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    device = guest.device("TB2")
    words = f"io --target {device} --engine nvme --rw randread --bs 4k --iodepth 8 --runtime 100s --allow-unbind TB2 --quiet --json"
    guest.ok(f"fathom {words} > /run/out 2> /run/err & echo $! > /run/pid; until [ ! -e {device} ]; do sleep 0.1; done; sleep 2")
    guest.pull(next(d for d in guest.drives if d.serial == "TB2"))
    # It ends by itself, well before its time.
    guest.ok("for i in $(seq 300); do [ -e /proc/$(cat /run/pid) ] || break; sleep 0.1; done; ! [ -e /proc/$(cat /run/pid) ]", timeout_s=60)
    said = guest.ok("cat /run/out /run/err")
    assert "removing the drive" in said or "no longer answers" in said, said[-2000:]
    assert not guest.ok("ls /sys/class/nvme | xargs -I{} cat /sys/class/nvme/{}/serial | grep TB2 || true"), "the drive is still there"


@restored(TWO_SOCKETS, "TB0")
def user_space_answers_sooner_than_every_path_of_the_kernel(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    device = guest.device("TB0")

    def step(engine: str, depth: int) -> dict:
        load = f"--engine {engine} --rw randread --bs 4k --iodepth {depth} --cpus 0 --allow-unbind TB0"
        return io(guest, guest.passthrough("TB0") if "cmd" in engine else device, load, runtime_s=1.5)

    polled = ("io_uring --mode iopoll", "io_uring_cmd --mode iopoll")
    kernel = ("psync", "libaio", "io_uring", "io_uring_cmd", *polled)
    sooner: dict[str, list[float]] = {engine: [] for engine in kernel}
    rates: dict[str, list[float]] = {"io_uring": [], "psync": []}
    for _ in range(3):
        # Beside each other in time, for the host is shared.
        ring, ours = step("io_uring", 32), step("nvme", 32)
        rates["io_uring"].append(ours["iops"] / ring["iops"])
        alone = step("nvme", 1)
        for engine in kernel:
            other = step(engine, 1)
            sooner[engine].append(other["lat_ns"]["p50"] / alone["lat_ns"]["p50"])
            if engine == "psync":
                rates["psync"].append(alone["iops"] / other["iops"])
    middle = {engine: median(values) for engine, values in sooner.items()}
    shown = [f"than {engine} {value:.2f}x" for engine, value in middle.items()]
    # A thread that polls loses its turns to whatever else the host does, which the rates show and a median does not: how many
    # times those of the kernel's paths they are is said, not asked.
    shown += [f"rate of {engine} {median(values):.2f}x" for engine, values in rates.items()]
    print(f"        sooner {', '.join(shown)}", flush=True)
    assert min(middle.values()) > 1.0, sooner
