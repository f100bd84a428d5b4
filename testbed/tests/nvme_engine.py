"""Engine nvme: drives driven past the kernel, in the step of a run, by queues that its threads poll."""

import base64
import json
from pathlib import Path
from statistics import median

from bed import bindings, expect
from bed.guest import Guest
from bed.loads import checks_hold, checks_of_a_pass_hold, damage, io, refused_io
from bed.machines import TWO_SOCKETS
from bed.notes import note
from bed.suite import full, limit, restored, timed

# Runtime of loads that end by themselves: a load that takes longer hangs.
HANGS_S = 60
BLOCK_BYTES = 512
REGION_BYTES = 2 << 20
BLOCKS = REGION_BYTES // BLOCK_BYTES
STAND_IN = Path(__file__).parents[2] / "crates/system/fathom-fio/src/spdk/run/stand_in.sh"


def taken(guest: Guest, target: str, words: str, serial: str = "TB0", **more: object) -> dict:
    """A step of engine nvme, which the drive leaves the kernel for."""
    return io(guest, target, f"--engine nvme {words} --allow-unbind {serial}", **more)  # type: ignore[arg-type]


def each_checked(step: dict, what: str) -> dict:
    """A step that covered each block of the region once, without an error or damage."""
    expect.equal((step["errors"], damage(step)), (0, 0), what)
    expect.equal(step["verify"]["blocks_checked"], BLOCKS, f"blocks checked: {what}")
    checks_of_a_pass_hold(step)
    return step


@restored(TWO_SOCKETS, "TB0", "TB1")
@limit(150, "twelve loads, most of them by threads that poll")
def user_space_reads_and_writes_what_the_kernel_reads_back(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    where, device = bindings.address(guest, "TB0"), guest.device("TB0")
    expect.contains(refused_io(guest, device, "--engine nvme"), "--allow-unbind TB0", "without a word for it")
    writes = f"--rw randwrite --bs {BLOCK_BYTES} --size {REGION_BYTES} --engine nvme --allow-unbind TB0"
    expect.contains(refused_io(guest, device, writes), "--destroy TB0", "writes without a word for them")
    region = f"--bs {BLOCK_BYTES} --size {REGION_BYTES} --set loops=1 --verify crc32c"
    ios = 0
    consent = "--destroy TB0"
    depths = ((1, 1), (8, 2), (64, 4), (256, 4), (256, 1)) if guest.every else ((8, 2), (256, 1))
    for depth, threads in depths:
        for rw in ("randwrite", "randread"):
            words = f"--rw {rw} {region} --iodepth {depth} --numjobs {threads}"
            step = each_checked(taken(guest, device, f"{words} {consent}", runtime_s=HANGS_S), words)
            expect.equal(step["engine"], "nvme", words)
            consent = "--destroy TB0:data"
            ios += step["ios"]
    # The drive is the kernel's again, under its name, and holds what it was given.
    bindings.is_as_it_was(guest, "TB0", where)
    kernel, deep = f"{region} --engine io_uring --iodepth 32", f"--rw randread {region} --iodepth 32"
    each_checked(io(guest, guest.device("TB0"), f"--rw randread {kernel}", runtime_s=HANGS_S), "what the kernel reads")
    # What the kernel writes is read past it, by the address of the drive as well.
    io(guest, guest.device("TB0"), f"--rw write {kernel} --destroy TB0:data", runtime_s=HANGS_S)
    each_checked(taken(guest, where, deep, runtime_s=HANGS_S), "what it wrote")
    note(f"{ios} I/Os of 512 bytes past the kernel, each verified")
    # Large blocks go by lists of pages, syncs and trims by commands of their own; several drives by one thread.
    step = taken(guest, device, f"--rw rw --bs 256k --size 16m --iodepth 8 --fdatasync 4 --verify crc32c {consent}", runtime_s=1)
    expect.equal((step["errors"], damage(step)), (0, 0), "blocks of 256k")
    assert step["syncs"]["ios"] > 0, step["syncs"]
    step = taken(guest, device, f"--rw randtrim --bs 64k --size 16m --iodepth 8 {consent}", runtime_s=1)
    assert step["errors"] == 0 and step["trim"]["ios"] > 0, step["trim"]
    both = f"{device} --target {guest.device('TB1')} --spread targets --allow-unbind TB1"
    step = taken(guest, both, "--rw randread --bs 4k --iodepth 8 --numjobs 1", runtime_s=1)
    checks_hold(step)
    unequal = [text for text in step["warning_texts"] if "of its group" in text]
    assert not unequal, f"one thread on two drives: {unequal}"
    expect.contains(json.dumps(taken(guest, device, "--rw read --bs 4m", status=1)), "more than one command", "4 MiB")


@restored(TWO_SOCKETS, "TB0")
@full("Identify field by field; no data at risk")
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


def until_bound(where: str) -> str:
    """Shell words that wait until a program may have the drive at that address."""
    return f"until [ \"$(basename $(readlink /sys/bus/pci/devices/{where}/driver || echo none))\" = vfio-pci ]; do sleep 0.1; done"


def memory_of(step: dict) -> str:
    """Where the drive found the buffers of a step."""
    return next(feature["detail"] for feature in step["features"] if feature["name"] == "drive_memory")


@restored(TWO_SOCKETS, "TB0", "TB2")
@full("placement of buffers")
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
@full("studies of placement")
def user_space_is_a_path_for_studies_of_drives_and_of_placement(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    drives = " ".join(f"--target {guest.device(serial)} --allow-unbind {serial}" for serial in ("TB0", "TB1"))
    sets = "--set engine=nvme --set numjobs=1 --set devices=[1,2] --set spread=targets"
    run = f"run scaling --only drives {drives} {sets} --time-budget 8s --quiet --json"
    document = guest.fathom_json(run)
    steps = [s for s in document["steps"] if s["phase"] == "measure"]
    expect.equal([(s["engine"], s["devices"], s["threads"], s["state"]) for s in steps],
                 [("nvme", 1, 1, "measured"), ("nvme", 2, 1, "measured")], "one thread on one drive and on two")
    assert all(s["errors"] == 0 and s["ios"] > 0 for s in steps), steps
    one = f"--target {guest.device('TB0')} --allow-unbind TB0"
    sets = "--set engine=nvme --set rw=randread --set iodepth=8 --set precondition=none --set runtime=500ms --set ramp_time=0"
    document = guest.fathom_json(f"run pinning --only depth {one} {sets} --quiet --json")
    steps = [s for s in document["steps"] if s["phase"] == "measure"]
    assert {s["engine"] for s in steps} == {"nvme"} and {s["placement"] for s in steps} == {"unpinned", "cores"}, steps
    assert all(s["errors"] == 0 and s["ios"] > 10 for s in steps) and document["comparison"]["steps"], "the sides"


@restored(TWO_SOCKETS, "TB0")
@full("a cross-check by another program, in six runs")
def user_space_hands_a_drive_to_spdk_for_a_check_and_has_it_back(guest: Guest) -> None:
    """By a script in the place of spdk_nvme_perf, which is in no package: it proves the binding, and prints what that prints."""
    guest.ok(bindings.LOADER)
    where, device = bindings.address(guest, "TB0"), guest.device("TB0")
    program = "/run/spdk/spdk_nvme_perf"
    script = base64.b64encode(STAND_IN.read_bytes()).decode()
    guest.ok(f"mkdir -p /run/spdk; echo {script} | base64 -d > {program}; chmod +x {program}")
    sets = "--set iodepth=8 --set numjobs=2 --set runtime=1s --set ramp_time=0"
    run = f"run engines --only user-space --cross-check spdk --target {device} --allow-unbind TB0 {sets} --quiet --json"
    stand_in = f"FATHOM_SPDK_NVME_PERF={program} STAND_IN_DRIVE=1 STAND_IN_LOG=/run/log"

    def steps(document: dict) -> list[dict]:
        return [s for s in document["steps"] if s["phase"] == "measure"]

    own, twin = steps(guest.fathom_json(run, 1))
    expect.equal((own["state"], twin["state"]), ("measured", "refused"), "without the program")
    expect.contains(twin["reason"], "no spdk_nvme_perf", "what is missing")
    bindings.is_as_it_was(guest, "TB0", where)
    document = guest.fathom_json(run, prefix=f"{stand_in} STAND_IN_SPINS=1")
    own, twin = steps(document)
    expect.equal((own["engine"], twin["engine"], twin["state"]), ("nvme", "spdk", "measured"), "both")
    expect.equal((twin["iops"], twin["ios"], twin["errors"]), (161706.0, 161706, 0), "what it said")
    assert 71e3 < twin["lat_ns"]["p50"] < 126e3 and twin["lat_ns"]["p99"] > 125e3, twin["lat_ns"]
    assert twin["cpu"]["ns_per_io"] > 0, twin["cpu"]
    for step in (own, twin):
        checks_hold(step)
    told = guest.ok("head -n 1 /run/log")
    assert told.startswith("-q 8 -o 4096 -w randread -t 1 -c 0x"), told
    assert told.endswith(f"-r trtype:PCIe traddr:{where} ns:1 -LL"), told
    assert bin(int(told.split()[9], 16)).count("1") == 2, f"a CPU for each thread: {told}"
    expect.contains(json.dumps(document["verdict"]), "By spdk_nvme_perf, nvme with 2 threads with 16 in flight", "evidence")
    bindings.is_as_it_was(guest, "TB0", where)
    # Writes need their own word, as ours do.
    writes = run.replace("--quiet", "--set rw=randwrite --set precondition=none --quiet")
    expect.contains(guest.fathom(writes, 3, prefix=stand_in).err, "--destroy TB0", "writes without a word for them")
    own, twin = steps(guest.fathom_json(f"{writes} --destroy TB0", prefix=stand_in))
    assert twin["state"] == "measured" and twin["write"]["ios"] == 161706 and twin["read"] is None, twin["state"]
    # What it says of itself is passed on.
    own, twin = steps(guest.fathom_json(run, 1, prefix=f"{stand_in} STAND_IN_OLD=1"))
    expect.equal((own["state"], twin["state"]), ("measured", "failed"), "one that is too old")
    expect.contains(twin["reason"], "invalid option", "what it said")
    bindings.is_as_it_was(guest, "TB0", where)
    # One that hangs and minds no Ctrl-C is ended, and the drive goes back.
    words = run.replace("--json", "")
    hanging = f"rm /run/log; {stand_in} STAND_IN_HANGS=1 fathom {words} > /run/out 2>&1 & pid=$!"
    until_told = "until [ -e /run/log ]; do sleep 0.1; done; sleep 1"
    guest.ok(f"{hanging}; {until_told}; kill -INT $pid; wait $pid; true", timeout_s=180)
    assert not guest.ok("pidof spdk_nvme_perf || true"), "it runs on"
    bindings.is_as_it_was(guest, "TB0", where)


@restored(TWO_SOCKETS, "TB0")
def user_space_gives_a_drive_back_after_ctrl_c_and_restore_after_kill_9(guest: Guest) -> None:
    guest.ok(bindings.LOADER)
    where, device = bindings.address(guest, "TB0"), guest.device("TB0")
    load = f"fathom io --target {device} --engine nvme --rw randread --bs 4k --iodepth 8 --runtime 100s --allow-unbind TB0 --quiet"
    until_taken = f"{until_bound(where)}; sleep 2"
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
    words = f"io --target {device} --engine nvme --rw randread --bs 4k --iodepth 8 --runtime 900s --allow-unbind TB2 --quiet --json"
    bound = until_bound(bindings.address(guest, "TB2"))
    # The main thread looks at the drive and sets it up. A worker that has used a second of CPU time polls its queues.
    workers = "ls -d /proc/$(cat /run/pid)/task/*/stat | grep -v task/$(cat /run/pid)/"
    ticks = f"cat $({workers}) | sed 's/.*) //' | awk '{{t = $12 + $13; if (t > m) m = t}} END {{print m + 0}}'"
    polls = f"until [ $({ticks}) -gt 100 ]; do sleep 0.2; done"
    guest.ok(f"fathom {words} > /run/out 2> /run/err & echo $! > /run/pid; {bound}; {polls}", timeout_s=300)
    guest.pull(next(d for d in guest.drives if d.serial == "TB2"))
    # It ends by itself, well before its time.
    guest.ok("for i in $(seq 900); do [ -e /proc/$(cat /run/pid) ] || break; sleep 0.1; done; ! [ -e /proc/$(cat /run/pid) ]", timeout_s=300)
    said = guest.ok("cat /run/out /run/err")
    assert "removing the drive" in said or "no longer answers" in said, said[-2000:]
    assert not guest.ok("ls /sys/class/nvme | xargs -I{} cat /sys/class/nvme/{}/serial | grep TB2 || true"), "the drive is still there"


@restored(TWO_SOCKETS, "TB0")
@timed
@full("a comparison of times")
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
    note(f"sooner {', '.join(shown)}")
    assert min(middle.values()) > 1.0, sooner
