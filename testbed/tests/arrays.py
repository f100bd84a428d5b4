"""Arrays over drives whose limit is known: what a level can give is then arithmetic."""

from bed import expect
from bed.guest import Guest
from bed.loads import damage, io, raid5_of
from bed.machines import SIX_SLOW, TWO_SOCKETS
from bed.suite import on, restored

# IOPS that QEMU lets each drive have, and how many there are.
EACH = 150
MEMBERS = 6
# Member I/Os for each small write: two copies; old data and parity read, both written; the same with two parities.
COST = {"raid0": 1, "raid10": 2, "raid5": 4, "raid6": 6}

# mdadm's words for the levels. RAID 0 has nothing to bring in line, and takes no word about it.
REDUNDANT = "--bitmap none --assume-clean"
LEVELS_OF_MD = (("raid0", "0"), ("raid10", f"10 --layout n2 {REDUNDANT}"), ("raid5", f"5 {REDUNDANT}"), ("raid6", f"6 {REDUNDANT}"))


@on(SIX_SLOW)
def a_level_over_members_of_known_iops_has_the_ceiling_that_arithmetic_gives(guest: Guest) -> None:
    devices = [guest.device(f"TBM{i}") for i in range(MEMBERS)]
    targets = " ".join(f"--target {device} --destroy TBM{i}" for i, device in enumerate(devices))
    # The first second has the throttles' stored-up burst in it.
    length = "--set runtime=4 --set ramp_time=1500ms --set bs=4k --set numjobs=1 --set iodepth=64"
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
    assert "members allow: raid10 " in str(headline), headline


@restored(TWO_SOCKETS, "TB0", "TB1", "TB2", "TBSLOW")
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
