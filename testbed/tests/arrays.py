"""Arrays over drives whose limit is known: what a level can give is then arithmetic."""

from bed import expect
from bed.guest import Guest
from bed.loads import damage, io, raid5_of, refused_io
from bed.machines import SIX_SLOW, SLOW_IOPS, TWO_SOCKETS
from bed.suite import full, limit, on, restored, timed

EACH = SLOW_IOPS
MEMBERS = 6
# Member I/Os for each small write: two copies; old data and parity read, both written; the same with two parities.
COST = {"raid0": 1, "raid10": 2, "raid5": 4, "raid6": 6}

# mdadm's words for the levels. RAID 0 has nothing to bring in line, and takes no word about it.
REDUNDANT = "--bitmap none --assume-clean"
LEVELS_OF_MD = (("raid0", "0"), ("raid10", f"10 --layout n2 {REDUNDANT}"), ("raid5", f"5 {REDUNDANT}"), ("raid6", f"6 {REDUNDANT}"))


# The guest has no program by which the kernel could load them when they are asked for.
DRIVER = "modprobe -a md_mod raid0 raid10 raid456"


def nothing_of_md(guest: Guest, devices: list[str]) -> None:
    expect.equal(guest.ok("ls /sys/block | grep ^md; true"), "", "arrays that stayed")
    for device in devices:
        expect.equal(guest.run(f"mdadm --examine {device}").status, 1, f"a superblock on {device}")


@on(SIX_SLOW)
@timed
@limit(180, "ten steps of 3 s over throttled drives, next to the guests of other workers")
def a_level_over_members_of_known_iops_has_the_ceiling_that_arithmetic_gives(guest: Guest) -> None:
    devices = [guest.device(f"TBM{i}") for i in range(MEMBERS)]
    targets = " ".join(f"--target {device} --destroy TBM{i}" for i, device in enumerate(devices))
    # The first second has the throttles' stored-up burst in it.
    length = "--set runtime=1500ms --set ramp_time=1200ms --set bs=4k --set numjobs=1 --set iodepth=64"
    parts = "--only members --only small"
    document = guest.fathom_json(f"run raid {targets} {parts} {length} --quiet --json")
    steps = {step["index"]: step for step in document["steps"]}
    alone = [step for step in document["steps"] if len(step["targets"]) == MEMBERS and step["pattern"] == "random"]
    expect.equal(len(alone), 2, "steps of the members alone")
    for step in alone:
        expect.within(step["iops"], EACH * MEMBERS, 0.03, step["label"])
    seen = {}
    for array in document["arrays"]:
        step = steps[array["step"]]
        cost = 1 if step["read_pct"] == 100 else COST[array["level"]]
        expect.equal(round(array["member_reads"] + array["member_writes"], 2), cost, f"member I/Os of {step['label']}")
        expect.within(array["ceiling_iops"], EACH * MEMBERS / cost, 0.03, f"ceiling of {step['label']}")
        # What is left out of an array's own measure are places that are busier than others for a while.
        assert 0.85 < step["iops"] / array["ceiling_iops"] < 1.05, f"{step['label']}: {step['iops']} of {array['ceiling_iops']}"
        seen[array["level"], step["read_pct"]] = step["iops"]
    expect.equal(sorted(seen), sorted((level, share) for level in COST for share in (0, 100)), "what was measured")
    headline = document["verdict"][0]["brief"]["headline"]
    # Intervals of short steps are wide, and the headline then says so before the levels.
    assert "members allow" in str(headline) and ": raid10 " in str(headline), headline


@on(SIX_SLOW)
@timed
@full("a long table of levels; the test of Fathom's own arrays covers the arithmetic")
def linux_md_over_members_of_known_iops_is_held_against_arithmetic_and_leaves_nothing(guest: Guest) -> None:
    guest.ok(DRIVER, timeout_s=300)
    devices = [guest.device(f"TBM{i}") for i in range(MEMBERS)]
    targets = " ".join(f"--target {device} --destroy TBM{i}:data" for i, device in enumerate(devices))
    length = "--set runtime=1500ms --set ramp_time=1200ms --set numjobs=1 --set iodepth=64 --set bs=4k"
    document = guest.fathom_json(f"run md {targets} --only members --only small {length} --quiet --json")
    steps = {step["index"]: step for step in document["steps"]}
    seen = {}
    for array in document["arrays"]:
        step = steps[array["step"]]
        if step["read_pct"] == 100:
            continue
        label, level = step["label"], array["level"].removeprefix("md-")
        # md gathers what lies in its stripe cache: it may need a little less, never more.
        expect.within(array["member_reads"] + array["member_writes"], COST[level], 0.05, f"member I/Os of {label}")
        expect.within(array["ceiling_iops"], EACH * MEMBERS / COST[level], 0.06, f"ceiling of {label}")
        seen[array["level"]] = step["iops"] / array["ceiling_iops"]
    expect.equal(sorted(seen), sorted(f"{maker}{level}" for maker in ("", "md-") for level in COST), "what was measured")
    assert all(0.8 < share < 1.1 for share in seen.values()), seen
    verdict = document["verdict"][0]
    headline = str(verdict["brief"]["headline"])
    assert "members allow" in headline and ": md-raid10 " in headline, headline
    nothing_of_md(guest, devices)


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
@limit(90, "arrays are made six times, and the kernel measures its checksums for each")
def what_linux_md_wrote_fathom_reads_and_no_ending_leaves_an_array(guest: Guest) -> None:
    guest.ok(DRIVER, timeout_s=300)
    serials = ("TB0", "TB1", "TB2")
    devices = [guest.device(serial) for serial in serials]
    members = ",".join(devices)
    consent = " ".join(f"--destroy {serial}:data" for serial in serials)
    load = "--bs 64k --size 8m --set loops=1 --verify crc32c --engine libaio --iodepth 4"
    for level in ("raid0", "raid10", "raid5") if guest.every else ("raid5",):
        written = io(guest, f"md-{level}:64k:{members}", f"--rw write {load} {consent}", runtime_s=60)
        expect.equal((written["errors"], written["arrays"][0]["writes"] > 0), (0, True), f"writes on md-{level}")
        nothing_of_md(guest, devices)
        read = io(guest, f"{level}:64k:{members}", f"--rw read {load}", runtime_s=60)
        expect.equal((read["verify"]["blocks_checked"], damage(read)), (8 * 16, 0), f"blocks of {level} that Fathom reads")
    said = refused_io(guest, f"md-raid5:64k:{members}", "--rw randread")
    assert "--destroy" in said, said
    begin = f"fathom io --target md-raid5:64k:{members} --rw randwrite --bs 4k --iodepth 4 --runtime 60s {consent} --quiet"
    wait = "for i in $(seq 600); do grep -q active /proc/mdstat && break; sleep 0.1; done; sleep 0.5"
    for ending in ("INT", "KILL"):
        guest.ok(f"{begin} >/run/log 2>&1 & pid=$!\n{wait}\ngrep -q md_fathom /proc/mdstat; kill -{ending} $pid; wait $pid; true")
        if ending == "KILL":
            assert "md_fathom" in guest.ok("cat /proc/mdstat"), "the array of the killed run"
            restored_now = guest.fathom("restore").out
            assert "md_fathom" in restored_now, restored_now
        nothing_of_md(guest, devices)
    # The members are free again.
    io(guest, devices[0], f"--rw randwrite --iodepth 4 --size 4m {consent}")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
@timed
@full("rebuilds take minutes")
def a_member_that_linux_md_rebuilds_beside_the_load_holds_what_it_should(guest: Guest) -> None:
    guest.ok(DRIVER, timeout_s=300)
    serials = ("TB0", "TB1", "TB2")
    first, second, late = (guest.device(serial) for serial in serials)
    consent = " ".join(f"--destroy {serial}:data" for serial in serials)
    load = "--bs 64k --size 8m --set loops=1 --verify crc32c --engine libaio --iodepth 4"
    io(guest, f"md-raid5:64k:{first},{second},{late}", f"--rw write {load} {consent}", runtime_s=60)
    io(guest, late, f"--rw write --bs 64k --size 8m --set loops=1 --iodepth 4 {consent}", runtime_s=60)
    # At 2 MiB/s beside a load of its own.
    slow = io(guest, f"md-raid5:64k:{first},{second},2m+{late}", f"--rw randread --iodepth 1 {consent}", runtime_s=6)
    rebuild = slow["arrays"][0]["rebuild"]
    expect.within(rebuild["done_bytes"] * 1e9 / rebuild["took_ns"], 2 << 20, 0.4, "speed of the rebuild")
    # The kernel's count of what was written to the member, which nothing else writes.
    expect.within(slow["arrays"][0]["members"][2]["written_bytes"], rebuild["done_bytes"], 0.4, "bytes written to the member")
    expect.equal([w["kind"] for w in slow["warnings"] if w["kind"].startswith("array_")], [], "warnings of what was asked for")
    nothing_of_md(guest, [first, second, late])
    for _ in range(8):
        fast = io(guest, f"md-raid5:64k:{first},{second},full+{late}", f"--rw randread --iodepth 1 --set rate_iops=5 {consent}", runtime_s=40)
        rebuild = fast["arrays"][0]["rebuild"]
        if rebuild["done_bytes"] == rebuild["member_bytes"]:
            break
    expect.equal(rebuild["done_bytes"], rebuild["member_bytes"], "bytes rebuilt")
    read = io(guest, f"raid5:64k:missing,{second},{late}", f"--rw read {load}", runtime_s=60)
    expect.equal((read["verify"]["blocks_checked"], damage(read)), (8 * 16, 0), "blocks read with the rebuilt member")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2", "TBSLOW")
@full("a long table of levels; the safety tier reads what md wrote")
def what_fathom_lays_out_linux_md_reads_back(guest: Guest) -> None:
    serials = ("TB0", "TB1", "TB2", "TBSLOW")
    devices = [guest.device(serial) for serial in serials]
    consent = " ".join(f"--destroy {serial}:data" for serial in serials)
    guest.ok("modprobe -a md_mod raid0 raid10 raid456", timeout_s=300)
    # A superblock of version 1.0 lies at the end of a member, so that data begins where Fathom's does.
    for level, options in LEVELS_OF_MD:
        load = "--bs 64k --size 8m --set loops=1 --verify crc32c --engine libaio --iodepth 4"
        array = f"{level}:64k:{','.join(devices)}"
        written = io(guest, array, f"--rw write {load} {consent}", runtime_s=60)
        expect.equal(written["errors"], 0, f"errors of {level}")
        guest.ok(
            f"mdadm --create /dev/md0 --run --level {options} --chunk 64 --metadata 1.0 "
            f"--raid-devices {len(devices)} {' '.join(devices)}",
            timeout_s=300,
        )
        read = io(guest, "/dev/md0", f"--rw read {load}", runtime_s=60)
        expect.equal((read["verify"]["blocks_checked"], damage(read)), (8 * 16, 0), f"blocks of {level} that md reads, and wrong ones")
        guest.ok(f"mdadm --stop /dev/md0 && mdadm --zero-superblock {' '.join(devices)}")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
@full("settings in turns: three comparisons")
def settings_of_md_are_compared_in_turns_and_put_back(guest: Guest) -> None:
    devices = [guest.device(serial) for serial in ("TB0", "TB1", "TB2")]
    raid5_of(guest, devices)
    home = "/sys/block/md0/md"
    for name, value in (("stripe_cache_size", "1024"), ("group_thread_cnt", "2"), ("sync_speed_max", "5000")):
        before = guest.ok(f"cat {home}/{name}")
        assert value not in before, before
        loads = "--set rw=randread --set iodepth=4 --set runtime=300ms --set ramp_time=0 --set size=4m"
        document = guest.fathom_json(f"run tune --target /dev/md0 {loads} --versus {name}={value} --quiet --json")
        sides = document["comparison"]["sides"]
        assert any(f"{name}={value}" in str(side) for side in sides), sides
        changed = {str(step["role"].get("settings")) for step in document["steps"]}
        assert len(changed) == 2, changed
        expect.equal(guest.ok(f"cat {home}/{name}"), before, f"{name} afterwards")


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2")
@full("warnings only; no data at risk")
def a_resync_beside_the_load_and_a_lost_member_are_said(guest: Guest) -> None:
    devices = [guest.device(serial) for serial in ("TB0", "TB1", "TB2")]
    raid5_of(guest, devices)
    # Slow enough to last for the whole test.
    guest.ok("set -e; cd /sys/block/md0/md; echo 200 > sync_speed_max; echo 100 > sync_speed_min")

    def said() -> list[tuple[str, object]]:
        warnings = io(guest, "/dev/md0", "--iodepth 4", runtime_s=0.5)["warnings"]
        return [(w["kind"], w.get("action", w.get("lost"))) for w in warnings if w["kind"].startswith("array_")]

    expect.equal(said(), [], "warnings of an array at rest")
    guest.ok("echo check > /sys/block/md0/md/sync_action; sleep 1")
    expect.equal(said(), [("array_syncing", "check")], "warnings beside a check")
    guest.ok(f"echo idle > /sys/block/md0/md/sync_action; mdadm --fail /dev/md0 {devices[1]}")
    expect.equal(said(), [("array_degraded", 1)], "warnings of an array that lacks a member")
