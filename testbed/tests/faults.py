"""Drives that fail, vanish, or hold what must not be overwritten."""

import hashlib
import os
import time
from pathlib import Path

from bed import expect
from bed.guest import Guest
from bed.loads import io, raid5_of, refused_io, until_row
from bed.machines import TWO_SOCKETS
from bed.suite import on, restored

BLOCK = 64 << 10


def digest(guest: Guest, *serials: str) -> list[str]:
    """Content of the drives, as this host sees their images."""
    guest.ok("sync")
    return [content(guest.image(serial)) for serial in serials]


def content(image: Path) -> str:
    """Digest of the blocks of an image that are not zero, and their offsets. Holes are not read."""
    found = hashlib.sha256()
    with image.open("rb") as file:
        end, at = os.fstat(file.fileno()).st_size, 0
        while at < end:
            try:
                data = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # Only a hole follows.
                break
            at = os.lseek(file.fileno(), data, os.SEEK_HOLE)
            first = data // BLOCK * BLOCK
            file.seek(first)
            for offset in range(first, at, BLOCK):
                block = file.read(BLOCK)
                if block.strip(b"\0"):
                    found.update(b"%d:" % offset + block)
            at = (at + BLOCK - 1) // BLOCK * BLOCK
    return found.hexdigest()


@on(TWO_SOCKETS)
def a_media_error_is_reported_with_its_place_and_leaves_other_blocks_alone(guest: Guest) -> None:
    device = guest.device("TBBAD")
    bad_bytes = 8192 * 512
    step = io(guest, device, f"--rw read --bs 4k --offset {bad_bytes - 16384} --size 32k", status=1)
    assert step["errors"] > 0 and step["ios"] > 0, (step["errors"], step["ios"])
    places = {failure["first_offset_bytes"] for failure in step["failures"]}
    expect.equal(places, {bad_bytes}, "place of the failures")
    expect.equal({failure["op"] for failure in step["failures"]}, {"read"}, "operation that failed")
    assert any("failed" in text for text in step["warning_texts"]), step["warning_texts"]
    good = io(guest, device, f"--rw read --bs 4k --offset {bad_bytes + 4096} --size 1m")
    expect.equal(good["errors"], 0, "errors elsewhere")


@restored(TWO_SOCKETS, "TB0", "TB2")
def a_drive_pulled_under_load_fails_its_step_and_keeps_the_run(guest: Guest) -> None:
    device = guest.device("TB2")
    guest.ok(
        f"(fathom io --target {device} --runtime 20s --iodepth 4 --json --quiet > /run/pulled.json 2> /run/pulled.err; "
        "echo $? > /run/pulled.status) > /dev/null 2>&1 &"
    )
    time.sleep(3)
    guest.pull(next(d for d in guest.drives if d.serial == "TB2"))
    guest.ok("until [ -s /run/pulled.status ]; do sleep 0.2; done", timeout_s=240)
    said = guest.ok("cat /run/pulled.err")
    expect.equal(guest.ok("cat /run/pulled.status"), "1", f"exit status, with {said}")
    shown = guest.fathom_json("show last --json")
    step = shown["steps"][0]
    assert step["state"] == "failed" or step["errors"] > 0, step["state"]
    shown = " ".join([said, step["reason"] or "", step["help"] or "", *step["warning_texts"]])
    # A drive that is going answers with an error; when it has gone, the target has no bytes left.
    assert any(words in shown for words in (device, "I/O error", "No such device", "end of a target")), shown
    # The other drive and the lab are as good as before.
    expect.equal(io(guest, guest.device("TB0"), "")["errors"], 0, "errors of the other drive")
    expect.equal(len(guest.fathom_json("list --json")["runs"]), 2, "runs kept")


@restored(TWO_SOCKETS, "TB0")
def a_drive_that_comes_back_is_measured_again(guest: Guest) -> None:
    drive = guest.drives[0]
    guest.pull(drive)
    guest.ok("until ! ls /dev/nvme*n1 > /dev/null 2>&1; do sleep 0.2; done", timeout_s=60)
    expect.equal([d for d in guest.fathom_json("inspect --json")["inventory"]["drives"] if d["serial"] == "TB0"], [], "drive")
    guest.replug(drive)
    guest.wait_for_drives()
    expect.equal(io(guest, guest.device("TB0"), "")["errors"], 0, "errors")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
def a_drive_is_written_with_its_serial_number_and_only_then(guest: Guest) -> None:
    device = guest.device("TB1")
    write = "--rw randwrite --bs 4k --size 4m"
    before = digest(guest, "TB0", "TB1", "TB2")
    for consent in ("", "--destroy TB0", "--destroy tb1", "--destroy TB", f"--destroy {device}"):
        expect.contains(refused_io(guest, device, f"{write} {consent}"), ["--destroy TB1"], f"refusal with {consent!r}")
    expect.equal(digest(guest, "TB0", "TB1", "TB2"), before, "drives after refusals")
    step = io(guest, device, f"{write} --destroy TB1")
    assert step["errors"] == 0 and step["ios"] > 0, step
    after = digest(guest, "TB0", "TB1", "TB2")
    expect.equal([a != b for a, b in zip(after, before, strict=True)], [False, True, False], "drives that changed")
    # What is on it now nobody recognises, and its loss has to be allowed by name.
    for consent in ("--destroy TB1", "--destroy TB1:ext", "--destroy TB1 --destroy TB0:data", "--destroy TB1 --overwrite"):
        expect.contains(refused_io(guest, device, f"{write} {consent}"), "--destroy TB1:data\n", f"refusal with {consent!r}")
    expect.equal(digest(guest, "TB0", "TB1", "TB2"), after, "drives after refusals to lose data")
    assert io(guest, device, "--rw randwrite --bs 4k --offset 4m --size 4m --destroy TB1:data")["ios"] > 0
    last = digest(guest, "TB0", "TB1", "TB2")
    expect.equal([a != b for a, b in zip(last, after, strict=True)], [False, True, False], "drives that changed again")


@restored(TWO_SOCKETS, "TB0", "TB1")
def a_symlink_that_is_switched_to_another_drive_during_a_run_leads_no_step_there(guest: Guest) -> None:
    link = "/dev/disk/by-id/nvme-own"
    lines = ('[study]\nname = "own"\nquestion = "What happens?"\n[[ladder]]', 'rw = "randwrite"', 'size = "16m"')
    text = "\n".join([*lines, "iodepth = [1, 2, 3, 4]", 'runtime = "1s"'])
    guest.ok(
        f"mkdir -p /dev/disk/by-id; cat > /run/own.toml <<'END'\n{text}\nEND\n"
        f"dd if=/dev/urandom of={guest.device('TB1')} bs=1M count=4 conv=fsync 2>/dev/null"
    )
    for path_of, more, consent in (
        (guest.device, "", "TB0"),
        (guest.passthrough, "--set engine=io_uring_cmd", "TB0:data"),
    ):
        own, other = path_of("TB0"), path_of("TB1")
        # A run of the same seed writes the same data to the same places.
        guest.ok(f"dd if=/dev/zero of={guest.device('TB0')} bs=1M count=16 conv=fsync 2>/dev/null")
        before = digest(guest, "TB0", "TB1")
        guest.ok(f"ln -sfn {own} {link}")
        # Switched once the first step is committed: while the second runs, or before it begins.
        guest.ok(
            f"fathom run /run/own.toml --target {link} --destroy {consent} {more} > /run/own.log 2>&1 & pid=$!\n"
            f"{until_row('/run/own.log', 'T1 QD')}; ln -sfn {other} {link}; wait $pid; true"
        )
        after = digest(guest, "TB0", "TB1")
        log = guest.ok("cat /run/own.log")
        expect.equal([a != b for a, b in zip(after, before, strict=True)], [True, False], f"drives that changed\n{log}\n")
        steps = guest.fathom_json("show last --json")["steps"]
        states = [step["state"] for step in steps]
        expect.equal((states[0], states[2:]), ("measured", ["refused"] * 2), f"states\n{log}\n")
        for step in steps[2:]:
            expect.contains(f"{step['reason']} {step['help']}", [link, "leads to another"], "refusal")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
def members_of_an_array_and_mounted_drives_are_never_written(guest: Guest) -> None:
    first, second, third = (guest.device(serial) for serial in ("TB0", "TB1", "TB2"))
    guest.ok(
        "set -e\nmodprobe -a md_mod raid1\n"
        f"mdadm --create /dev/md0 --run --level 1 --raid-devices 2 --assume-clean --bitmap none {first} {second}\n"
        # The kernel would go on writing a table for minutes otherwise.
        f"/sbin/mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=0 {third}\nmount -t ext4 {third} /mnt\nsync\nsleep 1",
        timeout_s=300,
    )
    before = digest(guest, "TB0", "TB1", "TB2")
    for serial, device, reason in (("TB0", first, "md0"), ("TB1", second, "md0"), ("TB2", third, "/mnt")):
        said = refused_io(guest, device, f"--rw randwrite --destroy {serial}")
        expect.contains(said, reason, f"refusal of {serial}")
        said = refused_io(guest, device, f"--rw randtrim --destroy {serial}")
        expect.contains(said, reason, f"refusal to trim {serial}")
    expect.equal(digest(guest, "TB0", "TB1", "TB2"), before, "drives after refusals")


@restored(TWO_SOCKETS, "TB0", "TB1")
def a_volume_group_and_a_signature_left_behind_are_never_written(guest: Guest) -> None:
    first, second = (guest.device(serial) for serial in ("TB0", "TB1"))
    guest.ok(
        "set -e\nmodprobe dm_mod\n"
        f"pvcreate -q {first}\nvgcreate -q group {first}\nlvcreate -q -n volume -L 64M group\n"
        f"/sbin/mke2fs -q -t ext4 {second}",
        timeout_s=300,
    )
    before = digest(guest, "TB0", "TB1")
    said = refused_io(guest, first, "--rw randwrite --destroy TB0")
    assert "dm-0" in said or "group" in said or "LVM" in said, said
    expect.contains(refused_io(guest, second, "--rw randwrite --destroy TB1"), "file system", "refusal")
    expect.equal(digest(guest, "TB0", "TB1"), before, "drives after refusals")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
def an_array_is_seen_with_its_members_and_measured_but_not_polled(guest: Guest) -> None:
    devices = [guest.device(serial) for serial in ("TB0", "TB1", "TB2")]
    raid5_of(guest, devices)
    inventory = guest.fathom_json("inspect --json")["inventory"]
    array = next(a for a in inventory["arrays"] if a["name"] == "md0")
    expect.equal((array["level"], array["chunk_bytes"], array["degraded"]), ("raid5", 65536, 0), "array")
    members = sorted((m["name"], m["state"]) for m in array["members"])
    expect.equal(members, sorted((d.removeprefix("/dev/"), "in_sync") for d in devices), "members")
    expect.equal(io(guest, "/dev/md0", "--iodepth 4")["errors"], 0, "errors")
    step = io(guest, "/dev/md0", "--mode iopoll", status=1)
    expect.equal(step["state"], "refused", "state")
    expect.contains(step["reason"], "md", "reason")
    guest.ok(f"mdadm --fail /dev/md0 {devices[1]}")
    array = next(a for a in guest.fathom_json("inspect --json")["inventory"]["arrays"] if a["name"] == "md0")
    expect.equal(array["degraded"], 1, "members missing")


@restored(TWO_SOCKETS, "TB0")
def a_drive_bound_again_without_poll_queues_is_not_polled(guest: Guest) -> None:
    address = guest.ok("basename $(readlink -f /sys/class/nvme/nvme*/device)")
    guest.ok(
        "set -e\necho 0 > /sys/module/nvme/parameters/poll_queues\n"
        f"echo {address} > /sys/bus/pci/drivers/nvme/unbind\necho {address} > /sys/bus/pci/drivers/nvme/bind"
    )
    guest.wait_for_drives()
    step = io(guest, guest.device("TB0"), "--mode iopoll", status=1)
    expect.equal(step["state"], "refused", "state")
    expect.contains(step["reason"], "no poll queues", "reason")
    expect.contains(step["help"], "nvme.poll_queues", "remedy")
