"""Whole runs: purged drives, power cuts, captures."""

from bed import expect
from bed.guest import Guest
from bed.loads import io, until_row
from bed.machines import ONE_SOCKET, THREE_NODES, TWO_SOCKETS
from bed.suite import full, on, restored


def plan(guest: Guest, path: str, *lines: str) -> None:
    """Writes a study into the guest."""
    text = "\n".join(['[study]\nname = "own"\nquestion = "What happens?"', "[[ladder]]", *lines])
    guest.ok(f"cat > {path} <<'END'\n{text}\nEND")


def purged(guest: Guest, device: str, means: str, *, empties: bool) -> dict:
    """Runs a study that purges TB1 by `means` and reads after; the report of the purge."""
    engine = "io_uring_cmd" if "/ng" in device else "io_uring"
    io(guest, device, f"--rw write --bs 64k --size 8m --set loops=1 --iodepth 4 --engine {engine} --destroy TB1", runtime_s=60)
    image = guest.image("TB1")
    before = image.stat().st_blocks
    assert before * 512 >= 1 << 20, f"{before} sectors were written"
    lines = (f"purge = {means}", f'engine = "{engine}"', 'rw = "randread"', 'runtime = "300ms"', 'ramp_time = "0s"')
    plan(guest, "/run/own.toml", *lines)
    said = guest.fathom("run /run/own.toml --target serial:TB1 --quiet --json", status=3).err
    expect.contains(said, "no --destroy names it", "refusal")
    # What the load above wrote is data that nobody recognises: no purge without a word for it.
    again = f"run /run/own.toml --target {device} --quiet --json --destroy"
    said = guest.fathom(f"{again} TB1", status=3).err
    expect.contains(said, ["data that nobody recognises", "--destroy TB1:data"], "refusal to lose data")
    expect.equal(image.stat().st_blocks, before, "sectors of the image after the refusals")
    document = guest.fathom_json(f"{again} TB1:data")
    purge, measured = document["steps"]
    expect.equal((purge["phase"], measured["phase"]), ("purge", "measure"), "phases")
    # QEMU gives discarded and formatted blocks back to this host.
    expect.equal(image.stat().st_blocks, 0 if empties else before, "sectors of the image after the purge")
    expect.equal(measured["errors"], 0, "errors of the reads after the purge")
    [report] = purge["purges"]
    expect.equal(len(purge["warning_texts"]), 1 if report["method"] == "absent" else 0, "warnings of the purge")
    return report


@restored(TWO_SOCKETS, "TB1")
def a_drive_is_formatted_before_it_is_measured_and_discarded_on_demand(guest: Guest) -> None:
    block, character = guest.device("TB1"), guest.passthrough("TB1")
    size = 256 << 20
    ways = (
        (block, "true", "nvme_format", "block format unchanged (512 B blocks)"),
        (character, '"discard"', "discard", "every block discarded"),
        (character, '"format"', "nvme_format", "erasure of user data"),
        (block, '"discard"', "discard", "every block discarded"),
    )
    for device, means, method, words in ways if guest.every else ways[:2]:
        report = purged(guest, device, means, empties=True)
        expect.equal((report["method"], report["bytes"]), (method, size), f"purge {means} of {device}")
        expect.contains(report["detail"], words, f"purge {means} of {device}")


@restored(TWO_SOCKETS, "TB1")
@full("a long plan; the purge tests cover the guard")
def a_drive_is_conditioned_through_passthrough(guest: Guest) -> None:
    settle = ("settle_rounds = 5", 'settle_time = "200ms"', 'settle_load = "1x4"')
    load = ('engine = "io_uring_cmd"', 'rw = "randwrite"', 'size = "4m"', 'runtime = "500ms"')
    plan(guest, "/run/own.toml", 'precondition = "snia"', *settle, *load)
    device = guest.passthrough("TB1")
    document = guest.fathom_json(f"run /run/own.toml --target {device} --destroy TB1 --quiet --json")
    phases = [step["phase"] for step in document["steps"]]
    expect.equal(phases, ["purge"] + ["precondition"] * 8 + ["settle"] * 5 + ["measure"], "phases")
    expect.equal({step["engine"] for step in document["steps"][1:]}, {"io_uring_cmd"}, "engines")
    expect.equal([step["errors"] for step in document["steps"]], [0] * 15, "errors")
    written = sum(step["ios"] * step["block_size_bytes"] for step in document["steps"] if step["phase"] == "precondition")
    expect.equal(written, 2 * (4 << 20), "bytes written before: the region twice over")


@restored(TWO_SOCKETS, "TB1")
def a_drive_that_cannot_sanitize_is_left_as_it_was_and_says_so(guest: Guest) -> None:
    report = purged(guest, guest.device("TB1"), '"sanitize"', empties=False)
    expect.equal((report["method"], report["bytes"]), ("absent", 0), "purge")
    expect.contains(report["detail"], "the drive does not support Sanitize", "purge")


@restored(ONE_SOCKET, "TB0")
def a_drive_under_multipath_is_formatted_by_its_head(guest: Guest) -> None:
    plan(guest, "/run/own.toml", "purge = true", 'rw = "randread"', 'runtime = "500ms"')
    io(guest, guest.device("TB0"), "--rw write --bs 64k --size 8m --iodepth 4 --destroy TB0")
    document = guest.fathom_json("run /run/own.toml --target serial:TB0 --destroy TB0:data --quiet --json")
    expect.equal(document["steps"][0]["purges"][0]["method"], "nvme_format", "purge")
    expect.equal(guest.image("TB0").stat().st_blocks, 0, "sectors of the image after the purge")


@restored(TWO_SOCKETS, "TB0")
def a_run_cut_by_a_power_loss_goes_on_where_it_was(guest: Guest) -> None:
    # The lab is kept on the drive that is read: with one drive its number stays, with two they may change places.
    drive = guest.device("TB0")
    guest.ok(f"/sbin/mke2fs -q -t ext4 {drive} && mount -t ext4 {drive} /mnt", timeout_s=300)
    plan(guest, "/mnt/own.toml", 'rw = "randread"', "iodepth = [1, 2, 3, 4]", 'runtime = "1500ms"')
    fathom = "fathom --lab /mnt/lab.db"
    guest.ok(f"{fathom} run /mnt/own.toml --target serial:TB0 > /run/log 2>&1 & {until_row('/run/log', 'T1 QD2')}", 180)
    guest.lose_power()
    guest.ok(f"mount -t ext4 {guest.device('TB0')} /mnt")
    before = guest.fathom_json("--lab /mnt/lab.db show last --json")
    assert 2 <= len(before["steps"]) < 4, len(before["steps"])
    assert before["run"]["state"] != "finished", before["run"]["state"]
    after = guest.fathom_json("--lab /mnt/lab.db run --resume last --quiet --json")
    expect.equal((after["run"]["id"], after["run"]["state"]), (before["run"]["id"], "finished"), "run")
    expect.equal([step["queue_depth"] for step in after["steps"]], [1, 2, 3, 4], "depths")
    kept, now = ([step["ios"] for step in document["steps"]][: len(before["steps"])] for document in (before, after))
    expect.equal(now, kept, "steps kept")
    expect.equal([step["errors"] for step in after["steps"]], [0] * 4, "errors")


@on(TWO_SOCKETS, ONE_SOCKET, THREE_NODES)
@full("captures of each machine; the safety tier has one", TWO_SOCKETS, THREE_NODES)
def a_capture_shows_the_same_machine_elsewhere(guest: Guest) -> None:
    guest.ok("rm -f /run/capture.tar")
    guest.fathom("inspect --capture /run/capture.tar --with-serials")
    there, here = (guest.fathom_json(f"inspect --json {words}") for words in ("--root /run/capture.tar", ""))
    for part in ("processors", "pcie", "lanes", "arrays", "kernel"):
        expect.equal(there["inventory"][part], here["inventory"][part], part)
    for name in ("serial", "controllers", "hw_queue_cpus", "numa_node"):
        seen = [{d["name"]: d[name] for d in document["inventory"]["drives"]} for document in (there, here)]
        expect.equal(seen[0], seen[1], name)
    expect.equal([a["id"] for a in there["advice"]], [a["id"] for a in here["advice"]], "advice")
    guest.ok("rm /run/capture.tar; fathom inspect --capture /run/capture.tar > /dev/null")
    content = guest.fetch("/run/capture.tar")
    for drive in guest.machine.drives:
        assert drive.serial.encode() not in content, f"{drive.serial} is in a capture without serial numbers"
    guest.ok("rm /run/capture.tar")
