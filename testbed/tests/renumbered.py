"""Runs that go on after the kernel has given two drives each other's number, as a restart may."""

import json

from bed import expect
from bed.errors import Skipped
from bed.guest import Guest
from bed.loads import checks_hold, is_proved, until_row
from bed.machines import TWO_SOCKETS
from bed.suite import full, restored

LAB = "--lab /run/lab.db"
UNBIND, BIND = "/sys/bus/pci/drivers/nvme/unbind", "/sys/bus/pci/drivers/nvme/bind"


def cut(guest: Guest, words: str, *lines: str) -> dict:
    """Runs a ladder on `words` and kills it as soon as it has committed its first step; what it had then."""
    text = "\n".join(['[study]\nname = "own"\nquestion = "What happens?"', "[[ladder]]", *lines])
    guest.ok(f"rm -f /run/lab.db*; cat > /run/own.toml <<'END'\n{text}\nEND")
    start = f"fathom {LAB} run /run/own.toml {words} > /run/cut.log 2>&1 & pid=$!"
    guest.ok(f"{start}; {until_row('/run/cut.log', 'T1 QD')}; kill -9 $pid; wait $pid; true", timeout_s=180)
    document = guest.fathom_json(f"{LAB} show last --json")
    log = guest.ok("cat /run/cut.log")
    expect.equal(document["run"]["state"], "interrupted", f"state after\n{log}\n")
    kept, planned = len(document["steps"]), len(document["run"]["plan"]["steps"])
    assert 0 < kept < planned, f"{kept} of {planned} steps were committed when the run was cut:\n{log}"
    return document


def goes_on(guest: Guest, before: dict, words: str = "") -> tuple[dict, str]:
    """Goes on with the run that was cut; its document, and what was said on the way."""
    said = guest.fathom(f"{LAB} run --resume last {words}").err
    after = guest.fathom_json(f"{LAB} show last --json")
    expect.equal(after["run"]["state"], "finished", "state")
    # A step that gave less than a shallower one is followed by a probe.
    planned = [step for step in after["steps"] if step["phase"] != "probe"]
    expect.equal(len(planned), len(after["run"]["plan"]["steps"]), "planned steps")
    kept = len(before["steps"])
    expect.equal([s["ios"] for s in after["steps"][:kept]], [s["ios"] for s in before["steps"]], "steps kept")
    expect.equal([s["errors"] for s in after["steps"]], [0] * len(after["steps"]), "errors")
    expect.equal({tuple(s["targets"]) for s in after["steps"]}, {tuple(before["steps"][0]["targets"])}, "targets")
    return after, said


def addresses(guest: Guest, *serials: str) -> dict[str, str]:
    """PCI functions of drives."""
    name = {serial: guest.device(serial).removeprefix("/dev/") for serial in serials}
    return {serial: guest.ok(f"cat /sys/block/{name[serial]}/device/address") for serial in serials}


def exchange(guest: Guest, first: str, second: str, between=lambda: None) -> None:
    """Takes two drives from their driver and gives them back in the other order. `between`: when the one is back that
    had the larger number, and the other is not."""
    before = {serial: guest.device(serial) for serial in (first, second)}
    address = addresses(guest, first, second)
    # The one that is back first gets the smaller number.
    order = sorted(before, key=before.__getitem__, reverse=True)
    for serial in order:
        controller = before[serial].removesuffix("n1")
        guest.ok(f"echo {address[serial]} > {UNBIND}; until [ ! -e {controller} ]; do sleep 0.1; done", timeout_s=60)
    guest.ok(f"echo {address[order[0]]} > {BIND}; until ls /dev/nvme*n1 > /dev/null 2>&1; do sleep 0.1; done", timeout_s=60)
    between()
    guest.ok(f"echo {address[order[1]]} > {BIND}")
    guest.wait_for_drives()
    after = {serial: guest.device(serial) for serial in (first, second)}
    if after != {first: before[second], second: before[first]}:
        raise Skipped(f"the kernel numbered the drives {after} after {before}: they did not change places")


def first_has_the_smaller_number(guest: Guest, first: str, second: str) -> None:
    """Which drive the kernel numbers first differs from boot to boot."""
    if guest.device(first) > guest.device(second):
        exchange(guest, first, second)


def sectors(guest: Guest, serial: str) -> tuple[int, int]:
    """Sectors read from and written to a drive, as the kernel counts them."""
    words = guest.ok(f"cat /sys/block/{guest.device(serial).removeprefix('/dev/')}/stat").split()
    return int(words[2]), int(words[6])


def features(step: dict) -> dict[str, str]:
    return {feature["name"]: feature["detail"] for feature in step["features"]}


@restored(TWO_SOCKETS, "TB0", "TB1")
@full("reads only; the safety tier tests the run that writes")
def a_run_goes_on_with_its_own_drive_when_two_drives_changed_places(guest: Guest) -> None:
    ladder = ('rw = "randread"', "iodepth = [1, 2, 3, 4]", 'runtime = "1s"')
    # As a block device, polled; then, with the drives where they were at first, as a character device. That one is not
    # polled: kernel 6.1 faulted in bio_poll when a process was killed that polled passthrough commands.
    for path_of, more in ((guest.device, 'mode = "iopoll"'), (guest.passthrough, 'engine = "io_uring_cmd"')):
        path = path_of("TB0")
        before = cut(guest, f"--target {path}", *ladder, more)
        exchange(guest, "TB0", "TB1")
        now = path_of("TB0")
        counted = {serial: sectors(guest, serial) for serial in ("TB0", "TB1")}
        after, said = goes_on(guest, before)
        expect.contains(said, f"{path} of the run is {now} now (serial TB0)", "note")
        expect.equal(sectors(guest, "TB1"), counted["TB1"], "sectors of the drive that has the number now")
        later = after["steps"][len(before["steps"]) :]
        read = sectors(guest, "TB0")[0] - counted["TB0"][0]
        if path_of == guest.device:
            # Passthrough commands go past the kernel's counters.
            assert read * 512 >= sum(s["ios"] for s in later) * 4096, f"{read} sectors for {[s['ios'] for s in later]}"
        for step in after["steps"][: len(before["steps"])]:
            assert f"path of {path}" not in features(step), f"a step from before knows of it: {step['features']}"
        name = guest.device("TB1").removeprefix("/dev/")
        for step in later:
            expect.equal(features(step).get(f"path of {path}"), f"{now} now, serial TB0", "feature")
            # The machine that the run keeps knows the drive by the name it had.
            expect.equal([d["device"] for d in step["host_delta"]["disks"]], [name], "device of the counters")
            checks_hold(step)
            if path_of == guest.device:
                is_proved(step, "polled")


@restored(TWO_SOCKETS, "TB0", "TB1")
def a_run_that_writes_goes_on_on_its_own_drive_and_never_touches_the_other(guest: Guest) -> None:
    first_has_the_smaller_number(guest, "TB0", "TB1")
    path = guest.device("TB0")
    ladder = ('rw = "randwrite"', 'size = "16m"', "iodepth = [1, 2, 3, 4]", 'runtime = "1s"')
    before = cut(guest, "--target serial:TB0 --destroy TB0", *ladder)
    resume = f"{LAB} run --resume last --quiet --json"

    def while_it_is_away() -> None:
        said = guest.fathom(f"{resume} --destroy TB0 --destroy TB1", status=3).err
        expect.contains(said, ["cannot go on here", f"the drive behind {path} was", "serial TB0", "no drive with"], "refusal")
        there = guest.device("TB1")
        expect.contains(said, f"{path} is now model QEMU NVMe Ctrl, serial TB1" if there == path else f"there is no {path}", "now")

    exchange(guest, "TB0", "TB1", while_it_is_away)
    written = sectors(guest, "TB0")[1]
    planned = guest.fathom(f"{LAB} plan --resume last --destroy TB0").out
    expect.contains(planned, [f"{path} of the run is {guest.device('TB0')} now (serial TB0)"], "plan")
    expect.contains(planned, f"{guest.device('TB0')}: its content is destroyed (QEMU NVMe Ctrl, serial TB0", "plan")
    for consent in ("", "--destroy TB1"):
        said = guest.fathom(f"{resume} {consent}", status=3).err
        expect.contains(said, [guest.device("TB0"), "--destroy TB0"], f"refusal with {consent!r}")
    expect.equal(sectors(guest, "TB0")[1], written, "sectors written without consent")
    after, said = goes_on(guest, before, "--destroy TB0")
    expect.contains(said, [f"{guest.device('TB0')}: its content is destroyed", "serial TB0"], "warning")
    since = sum(step["ios"] for step in after["steps"][len(before["steps"]) :])
    assert (sectors(guest, "TB0")[1] - written) * 512 >= since * 4096, f"{written} sectors before, {since} I/Os after"
    # Its image never got a block.
    expect.equal((sectors(guest, "TB1")[1], guest.image("TB1").stat().st_blocks), (0, 0), "writes to the other drive")
    assert guest.image("TB0").stat().st_blocks > 0, "nothing came to the drive"


@restored(TWO_SOCKETS, "TB0", "TB1")
@full("reads only; the safety tier tests the run that writes")
def a_run_is_done_again_on_its_own_drives_when_two_drives_changed_places(guest: Guest) -> None:
    first_has_the_smaller_number(guest, "TB0", "TB1")
    own, other = guest.device("TB0"), guest.device("TB1")
    guest.fathom(f"{LAB} io --target {own} --size 16m --runtime 300ms --quiet")
    again = f"{LAB} run --like last --quiet --json"

    def while_it_is_away() -> None:
        said = guest.fathom(again, status=3).err
        expect.contains(said, ["cannot be repeated with its own drives", "serial TB0", "no drive with", "--target"], "refusal")

    exchange(guest, "TB0", "TB1", while_it_is_away)
    expect.equal(guest.device("TB0"), other, "path now")
    counted = sectors(guest, "TB1")
    answer = guest.fathom(again)
    expect.contains(answer.err, f"{own} of the run is {other} now (serial TB0)", "note")
    expect.equal([s["targets"] for s in json.loads(answer.out)["steps"]], [[other]], "targets")
    expect.equal(sectors(guest, "TB1"), counted, "sectors of the drive that has the number now")
    # Named by the user, a path is what it is today.
    named = guest.fathom_json(f"{again} --target {own}")
    expect.equal([s["targets"] for s in named["steps"]], [[own]], "targets")
    assert sectors(guest, "TB1") > counted, "the drive that was named was not read"


@restored(TWO_SOCKETS, "TB0", "TBSLOW")
@full("reads only; the safety tier tests the run that writes")
def a_run_over_two_drives_keeps_their_figures_apart_when_they_changed_places(guest: Guest) -> None:
    paths = [guest.device(serial) for serial in ("TB0", "TBSLOW")]
    words = "--target serial:TB0 --target serial:TBSLOW"
    # The first second has the throttle's stored-up burst in it.
    ladder = ('rw = "randread"', "iodepth = [8, 12, 16]", 'ramp_time = "1s"', 'runtime = "2s"')
    before = cut(guest, words, *ladder)
    exchange(guest, "TB0", "TBSLOW")
    after, said = goes_on(guest, before)
    expect.contains(said, [f"{paths[0]} of the run is {paths[1]} now", f"{paths[1]} of the run is {paths[0]} now"], "notes")
    for step in after["steps"]:
        by_target = {t["target"]: t["iops"] for t in step["by_target"]}
        expect.equal(list(by_target), step["targets"], "targets")
        fast, slow = (by_target[path] for path in paths)
        assert slow < 1200 and slow < fast, f"{step['label']}: {by_target}, and {paths[1]} is held to 1000 IOPS"


@restored(TWO_SOCKETS, "TB0", "TBSLOW")
@full("settings in turns")
def settings_screens_and_nodes_are_those_of_the_drive_under_its_new_number(guest: Guest) -> None:
    path = guest.device("TB0")
    ladder = ('rw = "randread"', "iodepth = [1, 2]", 'placement = "local"', 'runtime = "300ms"')
    before = cut(guest, "--target serial:TB0 --versus read_ahead_kb=64", *ladder)
    # Its own node is 0, and that of the drive that takes its number is 1.
    exchange(guest, "TB0", "TBSLOW")
    now, other = (guest.device(serial).removeprefix("/dev/") for serial in ("TB0", "TBSLOW"))
    read_ahead = [f"/sys/block/{name}/queue/read_ahead_kb" for name in (now, other)]
    found, counted = guest.ok(f"cat {' '.join(read_ahead)}"), sectors(guest, "TBSLOW")
    after, said = goes_on(guest, before, "--predict")
    expect.contains(said, "screening", "said")
    # Neither steps nor the short ones that a prediction is made from touched the other drive.
    expect.equal(sectors(guest, "TBSLOW"), counted, "sectors of the other drive")
    expect.equal(guest.ok(f"cat {' '.join(read_ahead)}"), found, "settings after the run")
    later = after["steps"][len(before["steps"]) :]
    home = set(guest.machine.cpus_of_node(0))
    for step in later:
        expect.equal(step["targets"], [path], "targets")
        assert set(step["cpus"]) <= home, f"node 0 has the CPUs {home}: {step['cpus']}"
        changed = [name for name in features(step) if "read_ahead" in name]
        if step["role"]["block"]["arm_index"] == 1:
            assert changed and all(now in name and other not in name for name in changed), step["features"]
        else:
            expect.equal(changed, [], "settings of the other arm")
    # The pairs are whole, across the restart.
    expect.equal(len(after["comparison"]["steps"]), 2, "compared")
